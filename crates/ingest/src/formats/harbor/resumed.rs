//! Sessions that continue from step to step.
//!
//! With `--resume-trajectory` an agent continues with the session of the step before, and most of Harbor's agents then read
//! the whole session again: the counts of a step are those since the start of the session, and its trajectory begins with
//! the messages of earlier steps. Three things together show it: the trial was run so, the trajectory of each step contains the
//! messages of the one before, and no count ever falls. Then a step has the difference.
//!
//! Where a step does not state a number, the next one that does has used an unknown part of the difference: only the sum of both
//! is known. The number of the whole session then stands for all of its steps.

use model::{Attempt, Tokens, Warning};

use crate::format_trait::Report;

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

/// What all steps of a trial have spent, where that of some step is known only together with that of another one.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TrialTotals {
    /// Every count that any step says.
    pub(super) tokens: Option<Tokens>,
    /// US dollars.
    pub(super) cost_usd: Option<f64>,
}

/// A number of each step, made out of the number of its session until its end.
struct SpentPerStep<T> {
    /// Of each step by itself.
    each: Vec<Option<T>>,
    /// Of all steps; `None` = the last step does not say it, or not all steps are of one session.
    all: Option<T>,
    /// Whether a step does not say the number, and a later one does.
    has_gap: bool,
}

impl<T: PartialOrd + std::ops::Sub<Output = T> + Copy> SpentPerStep<T> {
    /// `numbers` has what each step says, `has_trajectory` whether it has a trajectory. One without says its own.
    fn new(numbers: &[Option<T>], has_trajectory: &[bool]) -> Self {
        let mut step_values = numbers.to_vec();
        let (mut last, mut is_behind_gap, mut has_gap) = (None, false, false);
        let first = has_trajectory.iter().position(|has_trajectory| *has_trajectory).unwrap_or(numbers.len());
        for ((own, number), has_trajectory) in
            step_values.iter_mut().zip(numbers).zip(has_trajectory).skip(first)
        {
            if number.is_none() {
                is_behind_gap = true;
            } else if *has_trajectory {
                *own = if is_behind_gap { None } else { difference(*number, last) };
                has_gap |= is_behind_gap;
                (last, is_behind_gap) = (*number, false);
            }
        }
        let is_of_session =
            |(number, has_trajectory): (&Option<T>, &bool)| *has_trajectory || number.is_none();
        let is_whole = first == 0
            && has_trajectory.last().is_some_and(|has_trajectory| *has_trajectory)
            && numbers.iter().zip(has_trajectory).all(is_of_session);
        Self { each: step_values, all: numbers.last().copied().flatten().filter(|_| is_whole), has_gap }
    }

    /// Whether no step says it.
    fn is_unknown(&self) -> bool {
        self.each.iter().all(Option::is_none) && !self.has_gap
    }
}

/// Makes what was counted since the start of a session into what each step has spent, and gives what all of them have, where
/// that is more than the sum over them. `steps` are those of a trial whose agent continues with its session, in their order,
/// with their `sessions`.
pub(super) fn split_session_counts(
    agent: &str,
    path: &str,
    steps: &mut [&mut Attempt],
    sessions: &[Session],
    report: &mut Report,
) -> TrialTotals {
    let counted = steps.iter().filter(|step| !step.tokens.is_unknown()).count();
    let prompted: Vec<usize> = (0..steps.len()).filter(|i| !sessions[*i].messages.is_empty()).collect();
    let pairs: Vec<(usize, usize, bool)> = prompted
        .windows(2)
        .map(|pair| (pair[0], pair[1], sessions[pair[1]].contains(&sessions[pair[0]])))
        .collect();
    let all_go_on = !pairs.is_empty() && pairs.iter().all(|(.., goes_on)| *goes_on);
    let tokens: Vec<Tokens> = steps.iter().map(|step| step.tokens).collect();
    let prompted_tokens: Vec<Tokens> = prompted.iter().map(|i| tokens[*i]).collect();
    let is_total = agent != SUBTRACTS && all_go_on && never_falls(&prompted_tokens);
    // From the last: each is compared with what the one before says, not with what is left of it.
    for (before, step, _) in pairs.into_iter().rev().filter(|(.., goes_on)| *goes_on) {
        let (earlier, later) = steps.split_at_mut(step);
        let (previous, after) = (&*earlier[before], &mut *later[0]);
        // What it has beside a step without a trajectory is of both.
        let own = |whole, before_it| if before + 1 == step { difference(whole, before_it) } else { None };
        after.steps = own(after.steps, previous.steps);
        after.tool_calls = own(after.tool_calls, previous.tool_calls);
    }
    let whole = if is_total { split_tokens_and_cost(agent, steps, sessions) } else { TrialTotals::default() };
    if is_total && counted > 1 {
        let message = "The agent continues its session from step to step, and its counts are those of the whole session. Each step has the difference to the one before.";
        report.warn(Warning::read_differently(path, "tokens.session_totals", message));
    } else if counted > 1
        && !all_go_on
        && agent != SUBTRACTS
        && !COUNT_EACH_CALL.contains(&agent)
        && never_falls(&tokens)
    {
        let message = "The agent continues its session from step to step. Nothing shows whether its counts are those of a step or of the whole session. They are taken for those of a step.";
        report.warn(Warning::read_differently(path, "tokens.session_unclear", message));
    }
    whole
}

/// Gives each step the tokens and the cost that it has spent of those of its session.
fn split_tokens_and_cost(agent: &str, steps: &mut [&mut Attempt], sessions: &[Session]) -> TrialTotals {
    let has_trajectory: Vec<bool> = sessions.iter().map(|session| !session.messages.is_empty()).collect();
    let tokens = |count: fn(&Tokens) -> Option<u64>| {
        let numbers: Vec<Option<u64>> = steps.iter().map(|step| count(&step.tokens)).collect();
        SpentPerStep::new(&numbers, &has_trajectory)
    };
    let (input, cached, output) =
        (tokens(|tokens| tokens.input), tokens(|tokens| tokens.cached), tokens(|tokens| tokens.output));
    let costs: Vec<Option<f64>> = steps.iter().map(|step| step.cost_usd).collect();
    let is_of_session =
        |(session, has_trajectory): (&Session, &bool)| !has_trajectory || session.cost_is_estimated;
    let cost = (agent != COST_OF_EACH_CALL || sessions.iter().zip(&has_trajectory).all(is_of_session))
        .then(|| SpentPerStep::new(&costs, &has_trajectory));
    for (index, step) in steps.iter_mut().enumerate() {
        step.tokens =
            Tokens { input: input.each[index], cached: cached.each[index], output: output.each[index] };
        if let Some(cost) = &cost {
            step.cost_usd = cost.each[index];
        }
    }
    let counts = [&input, &cached, &output];
    let is_whole = counts.iter().any(|count| count.has_gap)
        && counts.iter().all(|count| count.all.is_some() || count.is_unknown());
    TrialTotals {
        tokens: is_whole.then_some(Tokens { input: input.all, cached: cached.all, output: output.all }),
        cost_usd: cost.filter(|cost| cost.has_gap).and_then(|cost| cost.all),
    }
}

/// Whether no count is less than one before it. A count that a step does not say is none.
fn never_falls(steps: &[Tokens]) -> bool {
    let counts: [fn(&Tokens) -> Option<u64>; 3] =
        [|tokens| tokens.input, |tokens| tokens.cached, |tokens| tokens.output];
    counts.iter().all(|count| steps.iter().filter_map(count).is_sorted())
}

/// The difference, where both are known and it is one.
fn difference<T: PartialOrd + std::ops::Sub<Output = T> + Copy>(
    whole: Option<T>,
    before: Option<T>,
) -> Option<T> {
    match (whole, before) {
        (Some(whole), Some(before)) if whole >= before => Some(whole - before),
        _ => whole,
    }
}
