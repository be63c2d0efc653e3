//! What an import needs of a trajectory: how many steps the agent took, and the first message.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use model::Tokens;
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::Value;

use super::super::clock;
use super::super::grader::{Calls, StepMentions};
use super::super::json::Node;
use super::super::value::{self, UnusableValues};
use super::message::{Message, fingerprint_of_results};
use super::parts::tokens;

/// What an import needs of a trajectory, without holding its texts.
#[derive(Debug, Default, Deserialize)]
pub struct TrajectorySummary {
    #[serde(default)]
    steps: Steps,
    #[serde(default)]
    final_metrics: Option<Node>,
    #[serde(default)]
    continued_trajectory_ref: Option<String>,
}

/// Most steps of a trajectory: what is kept of one is a hundred times what one may take in a file.
const STEPS_CAP: usize = 200_000;

/// The steps, of bounded number, and what of them cannot be.
#[derive(Debug, Default)]
struct Steps {
    list: Vec<StepSummary>,
    unusable: UnusableValues,
}

impl<'de> Deserialize<'de> for Steps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seq;
        impl<'de> Visitor<'de> for Seq {
            type Value = Steps;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of steps")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut steps = Steps::default();
                while let Some(mut step) = list.next_element::<StepSummary>()? {
                    if steps.list.len() == STEPS_CAP {
                        return Err(serde::de::Error::custom(format!("it has more than {STEPS_CAP} steps")));
                    }
                    let time = step.timestamp.0.take().map(|time| ("timestamp", *time));
                    let calls = step.llm_call_count.odd.take().map(|calls| ("llm_call_count", *calls));
                    let odd = std::mem::take(&mut step.metrics.odd).into_iter().chain(time).chain(calls);
                    // What is repeated was reported where it stands first.
                    if step.is_copied_context != Some(true) {
                        let number = steps.list.len() + 1;
                        odd.for_each(|(key, value)| {
                            steps.unusable.add(&format!("{key} of step {number}"), &value);
                        });
                    }
                    steps.list.push(step);
                }
                Ok(steps)
            }
        }
        deserializer.deserialize_seq(Seq)
    }
}

#[derive(Debug, Deserialize)]
struct StepSummary {
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    tool_calls: Option<Calls>,
    #[serde(default)]
    is_copied_context: Option<bool>,
    #[serde(default)]
    message: Message,
    #[serde(default)]
    reasoning_content: Option<Message>,
    #[serde(default)]
    metrics: Metrics,
    #[serde(default)]
    timestamp: OddTime,
    #[serde(default)]
    llm_call_count: Count,
    #[serde(default)]
    observation: Results,
}

impl StepSummary {
    fn tokens(&self) -> Tokens {
        self.metrics.tokens
    }

    fn calls(&self) -> usize {
        self.tool_calls.as_ref().map_or(0, |calls| calls.count)
    }

    /// Whether it is a result of a tool, or another entry for which no model was called.
    fn is_tool_result(&self) -> bool {
        is_tool_result(&Entry {
            calls: self.calls(),
            model_calls: self.llm_call_count.value,
            has_model_output: self.metrics.has_output_tokens
                || self.reasoning_content.as_ref().is_some_and(|r| !r.is_empty),
            results: self.observation.count,
            all_named: self.observation.all_named,
            has_own_text: !self.message.is_empty
                && self.message.fingerprint != Some(self.observation.fingerprint),
        })
    }
}

/// What of a step's metrics matters; the rest of them is freed at once.
#[derive(Debug, Default)]
struct Metrics {
    tokens: Tokens,
    /// Whether they are those of an answer.
    has_output_tokens: bool,
    /// Those that cannot be, by name.
    odd: Vec<(&'static str, Value)>,
}

/// What stands in the place of a time and is none.
#[derive(Debug, Default)]
struct OddTime(Option<Box<Value>>);

impl<'de> Deserialize<'de> for OddTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        let is_time = node == Node::Null || node.word().is_some_and(|time| clock::micros(time).is_some());
        Ok(Self((!is_time).then(|| Box::new(node.to_value()))))
    }
}

impl<'de> Deserialize<'de> for Metrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        let (tokens, odd) = tokens(&node);
        Ok(Self { tokens, has_output_tokens: has_output_tokens(&node), odd })
    }
}

/// A count, or what stands in its place and is none.
#[derive(Debug, Default)]
struct Count {
    value: Option<u64>,
    odd: Option<Box<Value>>,
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        let value = node.count();
        let is_odd = value.is_none() && node != Node::Null;
        Ok(Self { value, odd: is_odd.then(|| Box::new(node.to_value())) })
    }
}

/// What decides whether an entry of the agent is a step of the agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Its own tool calls.
    pub(super) calls: usize,
    /// Calls of the model, where the entry counts them.
    pub(super) model_calls: Option<u64>,
    /// Whether it has what only a model gives: reasoning, tokens of an answer.
    pub(super) has_model_output: bool,
    /// Results of tools.
    pub(super) results: usize,
    /// Whether each result names the call that it belongs to.
    pub(super) all_named: bool,
    /// Whether its message is more than the results that it has.
    pub(super) has_own_text: bool,
}

/// Whether an entry that is listed as the agent's only holds what a tool gave. Without calls of its own, results that
/// name a call name that of an earlier entry.
pub(super) const fn is_tool_result(entry: &Entry) -> bool {
    match entry.model_calls {
        Some(0) => entry.calls == 0,
        Some(_) => false,
        None => {
            entry.calls == 0
                && entry.results > 0
                && !entry.has_model_output
                && (entry.all_named || !entry.has_own_text)
        }
    }
}

/// Whether metrics are those of an answer.
pub(super) fn has_output_tokens(metrics: &Node) -> bool {
    metrics.get("completion_tokens").and_then(Node::count).is_some_and(|n| n > 0)
}

/// What of the results of tools matters; their texts are freed at once.
#[derive(Debug, Default)]
struct Results {
    count: usize,
    all_named: bool,
    /// The fingerprint of their texts together.
    fingerprint: u64,
}

impl Results {
    fn from_node(observation: &Node) -> Self {
        let results = observation.get("results").map_or(&[][..], Node::list);
        let all_named = results.iter().all(|r| source_call_id(r).is_some());
        Self { count: results.len(), all_named, fingerprint: fingerprint_of_results(results) }
    }
}

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_node(&Node::deserialize(deserializer)?))
    }
}

/// The call that a result names.
pub(super) fn source_call_id(result: &Node) -> Option<&str> {
    result.get("source_call_id").and_then(Node::text).filter(|id| !id.is_empty())
}

impl TrajectorySummary {
    /// The agent's entries, without those that a continuation repeats from the file before.
    fn agent_entries(&self) -> impl Iterator<Item = &StepSummary> {
        self.steps
            .list
            .iter()
            .filter(|s| s.source.as_deref() == Some("agent") && s.is_copied_context != Some(true))
    }

    /// What of its steps cannot be.
    pub(crate) fn take_unusable(&mut self) -> UnusableValues {
        std::mem::take(&mut self.steps.unusable)
    }

    /// How many steps the agent took. A result of a tool is none, and neither is an entry for which no model was called,
    /// whatever tools it calls.
    pub fn agent_steps(&self) -> u32 {
        self.agent_entries().filter(|s| s.llm_call_count.value != Some(0) && !s.is_tool_result()).count()
            as u32
    }

    /// Fingerprints of the messages of all authors, without those that a continuation repeats.
    pub fn messages(&self) -> impl Iterator<Item = u64> {
        self.steps.list.iter().filter(|step| step.is_copied_context != Some(true)).map(|step| {
            let mut hasher = DefaultHasher::new();
            (step.source.as_deref(), step.message.fingerprint).hash(&mut hasher);
            hasher.finish()
        })
    }

    /// Whether the cost of the whole was estimated from its tokens, with prices of the runner.
    pub fn cost_is_estimated(&self) -> bool {
        let source =
            self.final_metrics.as_ref().and_then(|m| m.descendant(&["extra", "cost_source"])?.text());
        source == Some("litellm_estimate")
    }

    /// Tool calls of the agent's entries.
    pub fn tool_calls(&self) -> u32 {
        self.agent_entries().map(|s| s.calls() as u32).sum()
    }

    /// Adds what the tool calls of the agent's entries name of a verifier's places.
    pub(crate) fn add_mentions(&self, mentions: &mut StepMentions) {
        let no_calls = Calls::default();
        for step in self.agent_entries() {
            let calls = step.tool_calls.as_ref().unwrap_or(&no_calls);
            let mut hasher = DefaultHasher::new();
            (step.message.fingerprint, calls.fingerprint).hash(&mut hasher);
            mentions.push(hasher.finish(), &calls.places);
        }
    }

    /// Whether an entry of the agent has more cached than input tokens: then the cached ones are no part of the input.
    pub fn cache_exceeds_input(&self) -> bool {
        self.agent_entries().any(|step| step.tokens().cache_exceeds_input())
    }

    /// The sum over the agent's entries.
    pub fn tokens_of_steps(&self) -> Tokens {
        self.agent_entries().fold(Tokens::default(), |sum, step| sum.plus(step.tokens()))
    }

    /// Where in `steps` the first message of the user stands.
    pub fn first_user_step(&self) -> Option<usize> {
        self.steps.list.iter().position(|s| s.source.as_deref() == Some("user"))
    }

    /// The instruction in the first message of the user, where the harness has framed it with its own words.
    pub fn instruction(&self) -> Option<&str> {
        self.steps.list.get(self.first_user_step()?)?.message.instruction.as_deref()
    }

    /// The sums that the file itself gives; `None` where it gives none or only zeros. What cannot be one is remembered.
    pub(crate) fn totals(&self, unusable: &mut UnusableValues) -> Option<(Tokens, Option<f64>)> {
        let metrics = self.final_metrics.as_ref()?;
        let mut count = |key| unusable.take(key, metrics.get(key), value::tokens);
        let tokens = Tokens {
            input: count("total_prompt_tokens"),
            cached: count("total_cached_tokens"),
            output: count("total_completion_tokens"),
        };
        // Only zeros: no program counted.
        let is_none = [tokens.input, tokens.cached, tokens.output].iter().all(|n| n.unwrap_or(0) == 0);
        let tokens = if is_none { Tokens::default() } else { tokens };
        let cost = unusable
            .take("total_cost_usd", metrics.get("total_cost_usd"), value::dollars)
            .filter(|c| *c > 0.0);
        (!tokens.is_unknown() || cost.is_some()).then_some((tokens, cost))
    }

    /// The name of the file in the same folder that continues this one.
    pub fn continued_in(&self) -> Option<&str> {
        self.continued_trajectory_ref.as_deref().filter(|n| !n.is_empty() && !n.contains(['/', '\\']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trajectory_of_too_many_steps_is_refused_and_not_held() {
        let with_steps = |steps: usize| format!(r#"{{"steps": [{}]}}"#, vec!["{}"; steps].join(","));
        assert!(serde_json::from_str::<TrajectorySummary>(&with_steps(STEPS_CAP)).is_ok());
        let error = serde_json::from_str::<TrajectorySummary>(&with_steps(STEPS_CAP + 1)).unwrap_err();
        assert!(error.to_string().contains("more than 200000 steps"), "{error}");
    }

    #[test]
    fn the_frame_of_a_harness_is_no_part_of_the_instruction() {
        let facts = |message: &str| -> TrajectorySummary {
            let step = serde_json::json!({ "source": "user", "message": message });
            let file = serde_json::json!({ "steps": [{ "source": "agent", "message": 3 }, { "message": [{}] }, step] });
            serde_json::from_value(file).unwrap()
        };
        let framed = "You are an AI assistant.\n\nTask Description:\n# Round 1\n\nDo it.\n\n\nCurrent terminal state:\n$";
        assert_eq!(facts(framed).instruction(), Some("# Round 1\n\nDo it."));
        assert_eq!(facts("Task Description: do it").instruction(), None);
        assert_eq!(facts("").instruction(), None);
    }

    #[test]
    fn the_facts_count_calls_of_the_agent_only() {
        let facts: TrajectorySummary = serde_json::from_str(
            r#"{"steps": [{"source": "user", "message": "a"}, {"source": "agent", "tool_calls": [{}, {"a": [1]}]}, {"source": "agent", "tool_calls": null},
                {"source": "agent", "is_copied_context": true, "tool_calls": [{}]}, {"source": "system", "tool_calls": [{}]}],
                "final_metrics": {"total_prompt_tokens": 5, "total_completion_tokens": 0, "total_cost_usd": null}}"#,
        )
        .unwrap();
        assert_eq!((facts.tool_calls(), facts.agent_steps()), (2, 2));
        assert_eq!(facts.first_user_step(), Some(0));
        assert_eq!((facts.messages().count(), facts.cost_is_estimated()), (4, false));
        assert_eq!(
            facts.totals(&mut UnusableValues::default()),
            Some((Tokens { input: Some(5), cached: None, output: Some(0) }, None))
        );
    }

    #[test]
    fn values_of_steps_that_cannot_be_are_remembered_with_their_step() {
        let mut facts: TrajectorySummary = serde_json::from_str(
            r#"{"steps": [{"source": "agent", "timestamp": "2026-02-30T00:00:00Z", "metrics": {"prompt_tokens": -5, "completion_tokens": 3}},
                {"source": "agent", "timestamp": null, "metrics": {"prompt_tokens": "5", "cached_tokens": 5.5, "cost_usd": -1}},
                {"source": "agent", "is_copied_context": true, "metrics": {"prompt_tokens": -7}},
                {"source": "agent", "timestamp": "2026-01-01T00:00:00Z", "metrics": {"prompt_tokens": 8, "cost_usd": 0.5}}]}"#,
        )
        .unwrap();
        assert_eq!(
            facts.take_unusable().warning("f").unwrap().message,
            "It has prompt_tokens of step 1 -5, timestamp of step 1 \"2026-02-30T00:00:00Z\", prompt_tokens of step 2 \"5\", \
             cached_tokens of step 2 5.5, cost_usd of step 2 -1, which cannot be. What they should say is unknown."
        );
        assert_eq!(facts.tokens_of_steps(), Tokens { input: Some(8), cached: None, output: Some(3) });
    }

    #[test]
    fn numbers_of_calls_of_the_model_that_cannot_be_are_remembered_with_their_step() {
        let mut facts: TrajectorySummary = serde_json::from_str(
            r#"{"steps": [{"source": "agent", "message": "a", "llm_call_count": -1},
                {"source": "agent", "message": "b", "llm_call_count": "0"},
                {"source": "agent", "message": "c", "llm_call_count": 0.5},
                {"source": "agent", "message": "c", "llm_call_count": false, "is_copied_context": true},
                {"source": "agent", "message": "d", "llm_call_count": null}, {"source": "agent", "message": "e", "llm_call_count": 0}]}"#,
        )
        .unwrap();
        assert_eq!(
            facts.take_unusable().warning("f").unwrap().message,
            "It has llm_call_count of step 1 -1, llm_call_count of step 2 \"0\", llm_call_count of step 3 0.5, which cannot be. \
             What they should say is unknown."
        );
        // An entry of which that is unknown is a step, as one that does not say it.
        assert_eq!(facts.agent_steps(), 4);
    }

    #[test]
    fn what_the_harness_did_by_itself_is_no_step_and_its_calls_count() {
        let facts: TrajectorySummary = serde_json::from_str(
            r#"{"steps": [{"source": "agent", "llm_call_count": 1, "message": "a"},
                {"source": "agent", "llm_call_count": 0, "message": "hook", "tool_calls": [{}]}, {"source": "agent", "llm_call_count": 3, "tool_calls": [{}]}],
                "final_metrics": {"extra": {"cost_source": "litellm_estimate"}}}"#,
        )
        .unwrap();
        assert_eq!((facts.agent_steps(), facts.tool_calls(), facts.cost_is_estimated()), (2, 2, true));
    }
}
