//! What members used: tokens, cost, time, steps, tool calls.

use std::collections::HashMap;

use analysis::cost::{CostPerTurn, cost_per_turn, pareto};
use model::{CensoringPolicy, Ending};
use store::{EpisodeEntry, EpisodeId, EpisodeTurns, KnownSum};

use super::members::Pool;
use crate::api::{ComparedMember, KnownCounts, Spent};

/// A rate over the turns of which a number is known.
struct PerTurn {
    sum: f64,
    known_over: KnownCounts,
}

impl PerTurn {
    const fn new() -> Self {
        Self { sum: 0.0, known_over: KnownCounts { turns: 0, episodes: 0 } }
    }

    fn add(&mut self, known: KnownSum) {
        if known.turns > 0 && known.sum.is_finite() {
            self.sum += known.sum;
            self.known_over.turns += known.turns;
            self.known_over.episodes += 1;
        }
    }

    /// The rate of these turns, of so many that were played. That some of them used nothing says nothing of the others.
    fn rate(&self, played: u32) -> Option<f64> {
        let says_something = self.sum > 0.0 || self.known_over.turns >= played;
        (self.known_over.turns > 0 && says_something).then(|| self.sum / f64::from(self.known_over.turns))
    }
}

/// Steps of the turns that count for stamina, over episodes.
#[derive(Default)]
struct SurvivedSteps {
    sum: f64,
    known: u32,
    /// Episodes that survived a turn and whose steps are not known.
    unknown: u32,
}

impl SurvivedSteps {
    fn add(&mut self, steps: Option<u32>, stamina: u32) {
        match steps {
            Some(steps) => {
                self.sum += f64::from(steps);
                self.known += 1;
            }
            None => self.unknown += u32::from(stamina > 0),
        }
    }

    /// That some took no step, as those that survived no turn, says nothing of the others: their 0 alone is no mean.
    fn mean(&self) -> Option<f64> {
        let says_something = self.sum > 0.0 || self.unknown == 0;
        (self.known > 0 && says_something).then(|| self.sum / f64::from(self.known))
    }
}

/// A number of each episode, added up as far as it is known.
#[derive(Clone, Copy)]
struct Sum<T> {
    total: T,
    /// Whether it is known of a part of some episode.
    is_known: bool,
    /// Episodes of which it is wholly known.
    known: u32,
    /// Episodes in all.
    all: u32,
}

impl<T: Copy + Default + PartialOrd> Sum<T> {
    /// Of each episode its number, and whether that is of the whole episode: otherwise it is of a part.
    fn new(episodes: impl Iterator<Item = (Option<T>, bool)>, add: impl Fn(T, T) -> T) -> Self {
        let mut sum = Self { total: T::default(), is_known: false, known: 0, all: 0 };
        for (number, is_whole) in episodes {
            sum.all += 1;
            if let Some(number) = number {
                sum.total = add(sum.total, number);
                sum.is_known = true;
                sum.known += u32::from(is_whole);
            }
        }
        sum
    }

    /// Unknown where nothing is known. Episodes that asked no model used nothing: that says nothing of the others.
    fn value(self) -> Option<T> {
        let says_something = self.total > T::default() || self.known == self.all;
        (self.is_known && says_something).then_some(self.total)
    }
}

/// Sums and rates of a member. `plays` are those of its runs, in their order; the policy says which ends are failures.
pub(crate) fn spent(pool: &Pool, plays: &[Vec<EpisodeTurns>], policy: &CensoringPolicy) -> Spent {
    let [mut tokens, mut tool_calls, mut steps, mut seconds, mut dollars] = [const { PerTurn::new() }; 5];
    let mut survived = SurvivedSteps::default();
    let entries: HashMap<EpisodeId, &EpisodeEntry> =
        pool.episodes().map(|episode| (episode.id, episode)).collect();
    let by_id: HashMap<EpisodeId, &EpisodeTurns> =
        plays.iter().flatten().map(|play| (play.episode, play)).collect();
    for play in plays.iter().flatten() {
        tokens.add(play.used.tokens);
        tool_calls.add(play.used.tool_calls);
        steps.add(play.used.steps);
        let stamina = entries.get(&play.episode).map_or(0, |episode| episode.stamina);
        survived.add(play.used.steps_survived, stamina);
        seconds.add(play.used.seconds);
        dollars.add(play.used.cost);
    }
    let mut costs: Vec<(Option<f64>, u32)> = Vec::new();
    let (mut turns_played, mut turns_after_failure) = (0, 0);
    for episode in pool.episodes() {
        let turns = episode.reached_turns;
        costs.push((episode.cost_usd, episode.stamina));
        turns_played += turns;
        turns_after_failure += after_failure(turns, episode.stamina, policy.ending(episode.end_reason));
    }
    let finite = |number: Option<f64>| number.filter(|number| number.is_finite());
    let tokens_of = |number: fn(&EpisodeEntry) -> Option<u64>, is_whole: fn(&EpisodeTurns) -> bool| {
        let episode_sums = pool.episodes().map(|episode| {
            let play = by_id.get(&episode.id);
            (number(episode), play.is_some_and(|play| is_whole(play)))
        });
        Sum::new(episode_sums, u64::saturating_add)
    };
    let input = tokens_of(|episode| episode.tokens.input, |play| play.input_is_whole);
    let output = tokens_of(|episode| episode.tokens.output, |play| play.output_is_whole);
    let seconds_of = |play: &EpisodeTurns| {
        let episode = entries.get(&play.episode);
        let is_whole = episode.is_some_and(|episode| play.used.seconds.turns == episode.reached_turns);
        (finite(play.agent_seconds), is_whole)
    };
    let worked = Sum::new(plays.iter().flatten().map(seconds_of), |a, b| a + b);
    // The cost of an episode is known only if that of each of its turns is.
    let cost = Sum::new(costs.iter().map(|(cost, _)| (finite(*cost), true)), |a, b| a + b);
    let all_known = !costs.is_empty() && cost.known == cost.all;
    let per_survived_turn = cost_per_turn(&costs);
    Spent {
        input_tokens: input.value(),
        input_tokens_known: input.known,
        output_tokens: output.value(),
        output_tokens_known: output.known,
        cost_usd: cost.value(),
        cost_known: cost.known,
        agent_seconds: worked.value(),
        agent_seconds_known: worked.known,
        turns_played,
        turns_after_failure,
        steps_per_turn: steps.rate(turns_played),
        steps_known: steps.known_over,
        steps_survived: survived.mean(),
        steps_survived_known: survived.known,
        tool_calls_per_turn: tool_calls.rate(turns_played),
        tool_calls_known: tool_calls.known_over,
        seconds_per_turn: seconds.rate(turns_played),
        seconds_known: seconds.known_over,
        cost_per_turn: dollars.rate(turns_played),
        cost_per_turn_known: dollars.known_over,
        tokens_per_turn: tokens.rate(turns_played),
        tokens_known: tokens.known_over,
        cost_per_survived_turn: per_survived_turn.value(),
        no_turn_survived: per_survived_turn == CostPerTurn::NoTurnSurvived,
        cost_per_episode: all_known.then(|| cost.total / f64::from(cost.all)),
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
    fn a_mean_over_those_for_whom_it_is_trivially_known_is_unknown() {
        let mean = |episodes: &[(Option<u32>, u32)]| {
            let mut survived = SurvivedSteps::default();
            for (steps, stamina) in episodes {
                survived.add(*steps, *stamina);
            }
            survived.mean()
        };
        assert_eq!(mean(&[(Some(0), 0), (None, 3), (None, 5)]), None);
        assert_eq!(mean(&[(None, 0), (None, 3)]), None);
        assert_eq!(mean(&[(Some(0), 0), (Some(0), 0)]), Some(0.0), "nobody survived a turn");
        assert_eq!(mean(&[(Some(0), 0), (Some(9), 3), (None, 5)]), Some(4.5));
    }

    #[test]
    fn a_mean_over_those_that_took_no_step_is_unknown_where_steps_of_others_are_unknown() {
        let mean = |episodes: &[(Option<u32>, u32)]| {
            let mut survived = SurvivedSteps::default();
            for (steps, stamina) in episodes {
                survived.add(*steps, *stamina);
            }
            survived.mean()
        };
        assert_eq!(mean(&[(None, 2), (Some(0), 1)]), None);
        assert_eq!(mean(&[(Some(0), 2), (Some(0), 1)]), Some(0.0), "it is known of each");
        assert_eq!(mean(&[(None, 0), (Some(0), 1)]), Some(0.0), "the other survived no turn");
    }

    #[test]
    fn a_sum_of_those_that_used_nothing_is_unknown_where_others_are_not_known() {
        let tokens = |episodes: &[Option<u64>]| {
            let sum = Sum::new(episodes.iter().map(|tokens| (*tokens, true)), u64::saturating_add);
            (sum.value(), sum.known)
        };
        assert_eq!(tokens(&[Some(0), None, None]), (None, 1));
        assert_eq!(tokens(&[Some(0), Some(0)]), (Some(0), 2), "it is known of each that it used nothing");
        assert_eq!(tokens(&[Some(0), Some(7), None]), (Some(7), 2));
        assert_eq!(tokens(&[None]), (None, 0));
        assert_eq!(tokens(&[]), (None, 0));
        let partly = |episodes: &[(Option<u64>, bool)]| {
            let sum = Sum::new(episodes.iter().copied(), u64::saturating_add);
            (sum.value(), sum.known)
        };
        assert_eq!(partly(&[(Some(5), false), (Some(7), true)]), (Some(12), 1), "a lower bound");
        assert_eq!(partly(&[(Some(5), false)]), (Some(5), 0));
        assert_eq!(partly(&[(Some(0), false)]), (None, 0), "the rest may have used some");
        let rate = |known: &[(f64, u32)], played: u32| {
            let mut rate = PerTurn::new();
            for (sum, turns) in known {
                rate.add(KnownSum { sum: *sum, turns: *turns });
            }
            rate.rate(played)
        };
        assert_eq!(rate(&[(0.0, 1)], 10), None);
        assert_eq!(rate(&[(0.0, 1)], 1), Some(0.0));
        assert_eq!(rate(&[(0.0, 1), (6.0, 2)], 10), Some(2.0));
        assert_eq!(rate(&[], 0), None);
    }

    #[test]
    fn turns_after_a_censored_end_come_after_no_failure() {
        // Passed 3, failed turn 4, went on to turn 10.
        assert_eq!(after_failure(10, 3, Ending::Event), 6);
        // Passed 3, was stopped from outside in turn 4, went on.
        assert_eq!(after_failure(10, 3, Ending::Censored), 0);
        assert_eq!([after_failure(4, 3, Ending::Event), after_failure(3, 3, Ending::Event)], [0, 0]);
    }
}
