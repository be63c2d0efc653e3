//! Sessions that go on from step to step.
//!
//! With `--resume-trajectory` an agent continues with the session of the step before, and most of Harbor's agents then read
//! the whole session again: the counts of a step are those since the start of the session, and its trajectory begins with
//! what earlier steps said. Three things together show it: the trial was run so, the trajectory of each step contains the
//! messages of the one before, and no count ever falls. Then a step has the difference.

use model::{Attempt, Tokens, Warning};

use crate::format::Report;

/// Takes earlier steps out of its counts itself.
const SUBTRACTS: &str = "hermes";
/// Agents whose counts are read off what they print, which is of one call.
const COUNT_EACH_CALL: [&str; 5] = ["copilot-cli", "cortex-code", "goose", "mimo", "opencode"];
/// Its own cost is of one call, too; only an estimate is made of the whole session.
const COST_OF_EACH_CALL: &str = "claude-code";

/// What a step's trajectory says of its session.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Prints of its messages, in order; empty without a trajectory.
    pub(super) messages: Vec<u64>,
    /// Whether its cost was estimated from the tokens.
    pub(super) cost_is_estimated: bool,
}

impl Session {
    /// Whether the messages of another one are among its own, in their order.
    fn contains(&self, other: &Self) -> bool {
        let mut own = self.messages.iter();
        other.messages.iter().all(|message| own.any(|own| own == message))
    }
}

/// Makes what was counted since the start of a session into what each step has spent. `steps` are those of a trial whose
/// agent continues with its session, in their order, with their `sessions`.
pub(super) fn settle(
    agent: &str,
    path: &str,
    steps: &mut [&mut Attempt],
    sessions: &[Session],
    report: &mut Report,
) {
    let counted = steps.iter().filter(|step| !step.tokens.is_unknown()).count();
    let prompted: Vec<usize> = (0..steps.len()).filter(|i| !sessions[*i].messages.is_empty()).collect();
    let pairs: Vec<(usize, usize, bool)> = prompted
        .windows(2)
        .map(|pair| (pair[0], pair[1], sessions[pair[1]].contains(&sessions[pair[0]])))
        .collect();
    let all_go_on = !pairs.is_empty() && pairs.iter().all(|(.., goes_on)| *goes_on);
    let tokens: Vec<Tokens> = steps.iter().map(|step| step.tokens).collect();
    let of_told: Vec<Tokens> = prompted.iter().map(|i| tokens[*i]).collect();
    let is_total = agent != SUBTRACTS && all_go_on && never_falls(&of_told);
    // From the last: each is compared with what the one before says, not with what is left of it.
    for (before, step, _) in pairs.into_iter().rev().filter(|(.., goes_on)| *goes_on) {
        let (earlier, later) = steps.split_at_mut(step);
        let (before, after) = (&*earlier[before], &mut *later[0]);
        after.steps = less(after.steps, before.steps);
        after.tool_calls = less(after.tool_calls, before.tool_calls);
    }
    // Where a step does not say a number, the next one that does is compared with the last one that did.
    let mut last = (Tokens::default(), None);
    for index in prompted.into_iter().filter(|_| is_total) {
        let step = &mut *steps[index];
        let whole = (step.tokens, step.cost_usd);
        step.tokens = Tokens {
            input: less(whole.0.input, last.0.input),
            cached: less(whole.0.cached, last.0.cached),
            output: less(whole.0.output, last.0.output),
        };
        if agent != COST_OF_EACH_CALL || sessions[index].cost_is_estimated {
            step.cost_usd = less(whole.1, last.1);
        }
        let tokens = Tokens {
            input: whole.0.input.or(last.0.input),
            cached: whole.0.cached.or(last.0.cached),
            output: whole.0.output.or(last.0.output),
        };
        last = (tokens, whole.1.or(last.1));
    }
    if is_total && counted > 1 {
        let what = "The agent continues its session from step to step, and its counts are those of the whole session: each step has the difference to the one before.";
        report.warn(Warning::read_differently(path, "tokens.session_totals", what));
    } else if counted > 1
        && !all_go_on
        && agent != SUBTRACTS
        && !COUNT_EACH_CALL.contains(&agent)
        && never_falls(&tokens)
    {
        let what = "The agent continues its session from step to step, and nothing shows whether its counts are those of a step or of the whole session. They are taken for those of a step.";
        report.warn(Warning::read_differently(path, "tokens.session_unclear", what));
    }
}

/// Whether no count is less than one before it. A count that a step does not say is none.
fn never_falls(steps: &[Tokens]) -> bool {
    let counts: [fn(&Tokens) -> Option<u64>; 3] =
        [|tokens| tokens.input, |tokens| tokens.cached, |tokens| tokens.output];
    counts.iter().all(|count| steps.iter().filter_map(count).is_sorted())
}

/// The difference, where both are known and it is one.
fn less<T: PartialOrd + std::ops::Sub<Output = T> + Copy>(whole: Option<T>, before: Option<T>) -> Option<T> {
    match (whole, before) {
        (Some(whole), Some(before)) if whole >= before => Some(whole - before),
        _ => whole,
    }
}
