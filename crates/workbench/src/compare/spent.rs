//! What members used: tokens, cost, time, steps.

use analysis::cost::{cost_per_turn, pareto};
use model::{CensoringPolicy, Ending};
use store::Play;

use super::members::Pool;
use crate::api::{ComparedMember, Spent};

/// A sum over the episodes of which a number is known, with the turns that those played.
#[derive(Default)]
struct PerTurn {
    sum: f64,
    turns: u32,
    known: bool,
}

impl PerTurn {
    fn add(&mut self, value: Option<f64>, turns: u32) {
        if let Some(value) = value.filter(|v| v.is_finite()) {
            self.sum += value;
            self.turns += turns;
            self.known = true;
        }
    }

    fn total(&self) -> Option<f64> {
        self.known.then_some(self.sum)
    }

    fn rate(&self) -> Option<f64> {
        (self.known && self.turns > 0).then(|| self.sum / f64::from(self.turns))
    }
}

/// Sums and rates of a member. `plays` are those of its runs, in their order; the policy says which ends are failures.
pub(crate) fn spent(pool: &Pool, plays: &[Vec<Play>], policy: &CensoringPolicy) -> Spent {
    let (mut input, mut output) = (PerTurn::default(), PerTurn::default());
    let (mut both, mut steps, mut seconds) = (PerTurn::default(), PerTurn::default(), PerTurn::default());
    let mut dollars = PerTurn::default();
    let mut costs: Vec<(Option<f64>, u32)> = Vec::new();
    let (mut turns_played, mut turns_after_failure) = (0, 0);
    for episode in pool.episodes() {
        let turns = episode.reached_turns;
        let (i, o) = (episode.tokens.input, episode.tokens.output);
        input.add(i.map(|n| n as f64), turns);
        output.add(o.map(|n| n as f64), turns);
        both.add(i.zip(o).map(|(i, o)| i.saturating_add(o) as f64), turns);
        steps.add(episode.tool_calls.map(f64::from), turns);
        dollars.add(episode.cost_usd, turns);
        costs.push((episode.cost_usd, episode.stamina));
        turns_played += turns;
        turns_after_failure += after_failure(turns, episode.stamina, policy.ending(episode.end_reason));
    }
    for (run, plays) in pool.runs.iter().zip(plays) {
        for (episode, play) in run.episodes.iter().zip(plays) {
            seconds.add(play.agent_seconds, episode.reached_turns);
        }
    }
    let known: Vec<f64> = costs.iter().filter_map(|(cost, _)| cost.filter(|c| c.is_finite())).collect();
    let all_known = !costs.is_empty() && known.len() == costs.len();
    let cost: f64 = known.iter().sum();
    Spent {
        input_tokens: input.total().map(|n| n as u64),
        output_tokens: output.total().map(|n| n as u64),
        cost_usd: (!known.is_empty()).then_some(cost),
        cost_known: known.len() as u32,
        agent_seconds: seconds.total(),
        turns_played,
        turns_after_failure,
        steps_per_turn: steps.rate(),
        seconds_per_turn: seconds.rate(),
        cost_per_turn: dollars.rate(),
        tokens_per_turn: both.rate(),
        cost_per_survived_turn: cost_per_turn(&costs).value(),
        cost_per_episode: all_known.then(|| cost / costs.len() as f64),
        pareto: None,
    }
}

/// How many of the turns that an episode played came after its first failure: none where it ended otherwise.
fn after_failure(played: u32, stamina: u32, ending: Ending) -> u32 {
    if ending == Ending::Event { played.saturating_sub(stamina.saturating_add(1)) } else { 0 }
}

/// Marks the members on the Pareto front of mean stamina against cost per episode.
pub(crate) fn mark_pareto(members: &mut [ComparedMember]) {
    let points: Vec<(usize, (f64, f64))> = members
        .iter()
        .enumerate()
        .filter_map(|(i, m)| Some((i, (m.spent.cost_per_episode?, m.stamina.mean?))))
        .collect();
    let front = pareto(&points.iter().map(|(_, point)| *point).collect::<Vec<_>>());
    for ((i, _), on_it) in points.into_iter().zip(front) {
        members[i].spent.pareto = Some(on_it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_after_a_censored_end_come_after_no_failure() {
        // Passed 3, failed turn 4, went on to turn 10.
        assert_eq!(after_failure(10, 3, Ending::Event), 6);
        // Passed 3, was stopped from outside in turn 4, went on.
        assert_eq!(after_failure(10, 3, Ending::Censored), 0);
        assert_eq!([after_failure(4, 3, Ending::Event), after_failure(3, 3, Ending::Event)], [0, 0]);
    }
}
