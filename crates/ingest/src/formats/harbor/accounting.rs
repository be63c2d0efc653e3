//! What an agent's counts of tokens mean: whether `n_input_tokens` includes what came from a cache.
//!
//! Harbor asks its agents to count cached tokens in and enforces nothing. In the store input always includes them, so
//! this is decided by agent ([`AGENTS`], read in Harbor's own agents, 0.1 to 0.25), by the version of Harbor where an agent
//! changed, and by the values: more cached than input tokens, of an attempt or of a single step of its trajectory, proves
//! that the agent leaves them out. Such a proof then holds for the whole run ([`store::Store::settle_cached_input`]).

use model::{Attempt, CachedInput, Episode, Tokens, Warning};

use super::head::Head;
use crate::format_trait::Report;

/// What an agent's count of input tokens is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Input {
    /// With cached tokens.
    Included,
    /// Without them.
    Excluded,
    /// Whatever the agent's own log says, or nothing is known of the agent: taken to include them.
    #[default]
    Assumed,
}

/// When an agent counts as its row says.
#[derive(Debug, Clone, Copy)]
enum InputCondition {
    Always,
    /// With models of Anthropic.
    Anthropic,
    /// By versions of Harbor before this one.
    Before(u64, u64),
}

/// The agents of which it is known. The first row that fits counts. All others are [`Input::Assumed`]: `acp`, `cline` from
/// Harbor 0.13 on, `code-puppy`, `copilot-cli`, `eve`, `hermes`, `muse-code`, `nemo-agent`, `swe-agent`, `vibe`, and agents
/// that are not Harbor's own.
const AGENTS: &[(&str, InputCondition, Input)] = &[
    ("antigravity-cli", InputCondition::Always, Input::Included),
    ("antigravity-sdk", InputCondition::Always, Input::Included),
    ("claude-code", InputCondition::Always, Input::Included),
    ("cline", InputCondition::Before(0, 13), Input::Excluded),
    ("cline-cli", InputCondition::Before(0, 13), Input::Excluded),
    ("codex", InputCondition::Always, Input::Included),
    ("computer-1", InputCondition::Always, Input::Included),
    ("cortex-code", InputCondition::Always, Input::Included),
    ("cursor-cli", InputCondition::Always, Input::Included),
    ("devin", InputCondition::Always, Input::Included),
    ("fabric", InputCondition::Always, Input::Included),
    ("gemini-cli", InputCondition::Always, Input::Included),
    ("goose", InputCondition::Always, Input::Included),
    ("grok-build", InputCondition::Always, Input::Included),
    ("junie", InputCondition::Always, Input::Excluded),
    ("kimi-cli", InputCondition::Always, Input::Included),
    ("kimi-code", InputCondition::Always, Input::Included),
    ("langgraph", InputCondition::Always, Input::Included),
    ("mcode", InputCondition::Always, Input::Included),
    ("mimo", InputCondition::Always, Input::Included),
    ("mini-swe-agent", InputCondition::Always, Input::Included),
    ("openclaw", InputCondition::Always, Input::Included),
    ("opencode", InputCondition::Always, Input::Included),
    ("openhands", InputCondition::Always, Input::Included),
    ("openhands-sdk", InputCondition::Always, Input::Included),
    ("pi", InputCondition::Always, Input::Included),
    ("qwen-code", InputCondition::Always, Input::Included),
    ("qwen-coder", InputCondition::Always, Input::Included),
    ("rovodev-cli", InputCondition::Always, Input::Included),
    ("strands", InputCondition::Always, Input::Included),
    ("terminus-2", InputCondition::Always, Input::Included),
    ("trae-agent", InputCondition::Anthropic, Input::Excluded),
];

/// Agents that write the cost 0.0 where they know no price.
const NO_COST_IS_ZERO: [&str; 5] = ["cline", "cline-cli", "mini-swe-agent", "openhands-sdk", "swe-agent"];

/// What is known of a trial's agent before its counts are read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Agent<'a> {
    name: &'a str,
    input: Input,
}

impl<'a> Agent<'a> {
    /// Of a trial. `harbor` gives the version of Harbor; it is asked only where it matters.
    pub(super) fn new(head: &'a Head, mut harbor: impl FnMut() -> Option<String>) -> Self {
        let name = head.agent.as_deref().unwrap_or_default();
        let is_anthropic = || {
            let model = head.model.as_deref().unwrap_or_default().to_ascii_lowercase();
            model.contains("anthropic") || model.contains("claude")
        };
        let row = AGENTS.iter().find(|(agent, condition, _)| {
            *agent == name
                && match condition {
                    InputCondition::Always => true,
                    InputCondition::Anthropic => is_anthropic(),
                    InputCondition::Before(major, minor) => harbor()
                        .as_deref()
                        .and_then(major_and_minor)
                        .is_some_and(|version| version < (*major, *minor)),
                }
        });
        Self { name, input: row.map(|(.., input)| *input).unwrap_or_default() }
    }

    /// Its name; empty if no file says it.
    pub(super) const fn name(self) -> &'a str {
        self.name
    }

    /// Most agents write 0 for a number that their log lacks. An agent that ran uses tokens, unless it is known to have
    /// asked no model.
    pub(super) fn drop_uncounted(self, attempt: &mut Attempt) {
        let Tokens { input, cached, output } = attempt.tokens;
        let is_none = |count: Option<u64>| count.unwrap_or(0) == 0;
        if is_none(input) && is_none(cached) && is_none(output) && attempt.steps != Some(0) {
            attempt.tokens = Tokens::default();
        } else if input == Some(0) && !is_none(output) {
            // Cached tokens alone do not make it known.
            attempt.tokens.input = None;
        } else if let ("goose", Some(total), None) = (self.name, input, output) {
            // Before Harbor 0.20 what stands there is the sum of input and output.
            attempt.tokens.input = None;
            attempt.extra.insert("total_tokens".to_owned(), total.into());
        }
        if NO_COST_IS_ZERO.contains(&self.name) {
            attempt.cost_usd = attempt.cost_usd.filter(|cost| *cost > 0.0);
        }
    }

    /// Gives the tokens of an attempt the one meaning that they have in the store.
    ///
    /// `step_proves`: a step of the trajectory has more cached than input tokens.
    pub(super) fn normalize_tokens(self, attempt: &mut Attempt, step_proves: bool) {
        let tokens = attempt.tokens;
        let has_cached = tokens.cached.unwrap_or(0) > 0 && tokens.input.is_some();
        let is_proven = tokens.cache_exceeds_input() || step_proves;
        attempt.cached_input = if self.input == Input::Excluded {
            // Settled by the table, and a proof of no other run: with another version of Harbor the agent may include them.
            attempt.tokens = tokens.adding_cached();
            CachedInput::Included
        } else if is_proven {
            // Also where this attempt has nothing to add: what it proves holds for the run.
            attempt.tokens = tokens.adding_cached();
            CachedInput::Added
        } else if has_cached {
            CachedInput::Assumed
        } else {
            CachedInput::Included
        };
    }

    /// Reports once for a trial that cached tokens were added, or that it is unknown whether they are included.
    pub(super) fn warn(self, path: &str, episode: &Episode, report: &mut Report) {
        let attempts = episode.turns.iter().flat_map(|turn| &turn.attempts);
        let counts = |basis: CachedInput| {
            let mut matching_attempts = attempts.clone().filter(move |attempt| attempt.cached_input == basis);
            matching_attempts
                .find_map(|attempt| attempt.tokens.input.zip(attempt.tokens.cached.filter(|n| *n > 0)))
        };
        let name = if self.name.is_empty() { "the agent" } else { self.name };
        let added = if self.input == Input::Excluded { CachedInput::Included } else { CachedInput::Added };
        if let Some((input, cached)) = counts(added) {
            let reported = input.saturating_sub(cached);
            let message = format!(
                "Input {reported}, cached {cached}: {name} counts its input without cached tokens. They are added (input {input} here), at every attempt of the run."
            );
            report.warn(Warning::repaired(path, "tokens.cache_added", message));
        } else if self.input == Input::Assumed && counts(CachedInput::Assumed).is_some() {
            let message = format!(
                "Nothing says whether the input of {name} includes its cached tokens. It is taken to, unless an attempt of the run has more cached than input tokens."
            );
            report.warn(Warning::read_differently(path, "tokens.cache_unclear", message));
        }
    }
}

/// `0.24.0`, `0.25.0rc1`
fn major_and_minor(version: &str) -> Option<(u64, u64)> {
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use model::Verdict;

    use super::*;

    /// With a step that proves that cached tokens are not in the input, if the agent's name begins with `!`.
    fn normalized(agent: &str, model: &str, harbor: &str, counts: [Option<u64>; 3]) -> (Tokens, CachedInput) {
        let (agent, step_proves) = agent.strip_prefix('!').map_or((agent, false), |agent| (agent, true));
        let head = Head { agent: Some(agent.into()), model: Some(model.into()), ..Head::default() };
        let mut attempt = Attempt::new(1, Verdict::Passed);
        let [input, cached, output] = counts;
        attempt.tokens = Tokens { input, cached, output };
        attempt.steps = Some(3);
        let agent = Agent::new(&head, || Some(harbor.to_owned()));
        agent.drop_uncounted(&mut attempt);
        agent.normalize_tokens(&mut attempt, step_proves);
        (attempt.tokens, attempt.cached_input)
    }

    #[test]
    fn agent_version_model_and_values_decide() {
        use CachedInput::{Added, Assumed, Included};
        let known_counts = |i, c, o| [Some(i), Some(c), Some(o)];
        let cases = [
            ("codex", "m", "0.25.0", known_counts(10, 4, 1), (Some(10), Assumed)),
            ("codex", "m", "0.25.0", known_counts(4, 10, 1), (Some(14), Added)),
            ("junie", "m", "0.25.0", known_counts(10, 4, 1), (Some(14), Included)),
            ("cline-cli", "m", "0.5.0", known_counts(10, 4, 1), (Some(14), Included)),
            ("cline-cli", "m", "0.5.0", known_counts(4, 10, 1), (Some(14), Included)),
            ("cline-cli", "m", "0.13.1", known_counts(4, 10, 1), (Some(14), Added)),
            ("cline-cli", "m", "0.13.1", known_counts(10, 4, 1), (Some(10), Assumed)),
            ("trae-agent", "anthropic/m", "0.25.0", known_counts(10, 4, 1), (Some(14), Included)),
            ("trae-agent", "openai/m", "0.25.0", known_counts(10, 4, 1), (Some(10), Assumed)),
            ("codex", "m", "0.25.0", known_counts(10, 0, 1), (Some(10), Included)),
            ("codex", "m", "0.25.0", [None, Some(4), Some(1)], (None, Included)),
            ("codex", "m", "0.25.0", known_counts(0, 0, 5), (None, Included)),
            ("codex", "m", "0.25.0", known_counts(0, 7, 5), (None, Included)),
            ("codex", "m", "0.25.0", known_counts(0, 0, 0), (None, Included)),
            ("!codex", "m", "0.25.0", known_counts(10, 4, 1), (Some(14), Added)),
            ("!codex", "m", "0.25.0", known_counts(10, 0, 1), (Some(10), Added)),
            ("!codex", "m", "0.25.0", [None, Some(4), Some(1)], (None, Added)),
            ("goose", "m", "0.13.0", [Some(10), None, None], (None, Included)),
        ];
        for (agent, model, harbor, counts, right) in cases {
            let (tokens, basis) = normalized(agent, model, harbor, counts);
            assert_eq!((tokens.input, basis), right, "{agent} {model} {harbor} {counts:?}");
        }
    }

    #[test]
    fn no_tokens_at_all_are_unknown_unless_the_agent_made_no_step() {
        for (steps, right) in [(None, None), (Some(3), None), (Some(0), Some(0))] {
            let head = Head { agent: Some("terminus-2".into()), ..Head::default() };
            let mut attempt = Attempt::new(1, Verdict::Passed);
            attempt.tokens = Tokens { input: Some(0), cached: Some(0), output: Some(0) };
            attempt.steps = steps;
            Agent::new(&head, || None).drop_uncounted(&mut attempt);
            assert_eq!((attempt.tokens.input, attempt.tokens.output), (right, right), "{steps:?}");
        }
    }

    #[test]
    fn a_cost_of_nothing_is_unknown_where_that_is_how_no_price_is_written() {
        for (agent, cost, right) in [
            ("mini-swe-agent", 0.0, None),
            ("cline-cli", 0.0, None),
            ("cline-cli", 0.5, Some(0.5)),
            ("claude-code", 0.0, Some(0.0)),
        ] {
            let head = Head { agent: Some(agent.into()), ..Head::default() };
            let mut attempt = Attempt::new(1, Verdict::Passed);
            attempt.cost_usd = Some(cost);
            Agent::new(&head, || None).drop_uncounted(&mut attempt);
            assert_eq!(attempt.cost_usd, right, "{agent} {cost}");
        }
    }

    #[test]
    fn the_table_names_each_agent_in_order() {
        assert!(AGENTS.is_sorted_by_key(|(agent, ..)| *agent));
    }
}
