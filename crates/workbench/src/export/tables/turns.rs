//! Turns over all episodes: what each was worth, and what it took.

use std::collections::{BTreeMap, HashMap};

use figures::table::{Column, Table, known, maybe};
use model::{Counting, TurnState};
use store::{EpisodeId, PlayedTurn, RunRecord, Store};

use crate::Workbench;
use crate::api::{ApiError, Member};
use crate::compare::members;
use crate::episodes::grades_turns;

/// Tests passed in 100 tests of the last attempt, as they enter scores. A pass without counts is a whole one, an end without a
/// verdict none.
pub(super) fn score(turn: &PlayedTurn, counting: Counting) -> Option<f64> {
    let has_tests = turn.total.is_some_and(|total| total > 0);
    let counted = match (counting, turn.passed, turn.total) {
        (Counting::Outside, ..) => None,
        (Counting::Zero, ..) | (_, _, Some(0)) => Some(0.0),
        (_, Some(passed), Some(total)) => Some(100.0 * f64::from(passed.min(total)) / f64::from(total)),
        (_, None, _) | (_, _, None) => None,
    };
    match turn.state() {
        TurnState::Passed | TurnState::PassedAfterRetries if turn.total == Some(0) => Some(100.0),
        TurnState::Passed | TurnState::PassedAfterRetries => counted.or(Some(100.0)),
        TurnState::Failed => counted,
        TurnState::Error => counted.or(Some(0.0)),
        TurnState::Censored | TurnState::NotReached | TurnState::NotTested => counted.filter(|_| has_tests),
    }
}

/// How the tests of the turns of a run enter its score. Where turns are scored as passed or not, no tests do, and those of a turn
/// are its own.
pub(super) struct Countings(HashMap<(EpisodeId, u32), Counting>);

impl Countings {
    pub(super) fn from_run(store: &Store, run: &RunRecord) -> Result<Self, ApiError> {
        let is_of_tests = !grades_turns(run);
        Ok(Self(if is_of_tests { store.other_countings(run.entry.id)? } else { HashMap::new() }))
    }

    pub(super) fn counting(&self, episode: EpisodeId, turn: &PlayedTurn) -> Counting {
        self.0.get(&(episode, turn.number)).copied().unwrap_or_default()
    }
}

/// A turn of a member, over its episodes.
#[derive(Default)]
struct Sum {
    reached: u32,
    passed: u32,
    after_retries: u32,
    attempts: u32,
    score: f64,
    scored: u32,
    /// Whether tests were counted of a failed turn.
    has_counted_failure: bool,
    /// Turns that failed, and nobody counted by how much.
    uncounted_failures: u32,
}

impl Sum {
    fn add(&mut self, turn: &PlayedTurn, counting: Counting) {
        let state = turn.state();
        if state == TurnState::NotReached {
            return;
        }
        self.reached += 1;
        self.passed += u32::from(matches!(state, TurnState::Passed | TurnState::PassedAfterRetries));
        self.after_retries += u32::from(state == TurnState::PassedAfterRetries);
        self.attempts += turn.attempts.len() as u32;
        let score = score(turn, counting);
        let has_failed = state == TurnState::Failed;
        self.has_counted_failure |= has_failed && score.is_some();
        self.uncounted_failures += u32::from(has_failed && score.is_none());
        if let Some(score) = score {
            self.score += score;
            self.scored += 1;
        }
    }

    /// The mean score, and over how many episodes. Where no failed turn has counted tests, those that passed, and those without a
    /// verdict, say nothing of them.
    fn mean_score(&self) -> (Option<f64>, u32) {
        if self.scored == 0 || (self.uncounted_failures > 0 && !self.has_counted_failure) {
            return (None, 0);
        }
        (Some(self.score / f64::from(self.scored)), self.scored)
    }
}

/// One row a turn that any episode of a member reached.
pub(super) fn by_turn(workbench: &Workbench, shown: &[Member]) -> Result<Table, ApiError> {
    let columns = vec![
        Column::text("run", "Run"),
        Column::integer("turn", "Turn"),
        Column::integer("reached", "Reached"),
        Column::integer("passed", "Passed"),
        Column::integer("after_retries", "After retries"),
        Column::score("score", "Mean score"),
        Column::integer("score_n", "Episodes with a known score").for_machines(),
        Column::number("attempts", "Mean attempts", 2),
    ];
    let mut table = Table::new("by-turn", "Turns over all episodes", columns);
    let (mut partial, mut unknown) = (false, false);
    for pool in members::resolve(&workbench.store, shown)? {
        let mut turns: BTreeMap<u32, Sum> = BTreeMap::new();
        for run in &pool.runs {
            let countings = Countings::from_run(&workbench.store, &run.record)?;
            for play in run.episode_turns(&workbench.store)? {
                for turn in &play.turns {
                    let counting = countings.counting(play.episode, turn);
                    turns.entry(turn.number).or_default().add(turn, counting);
                }
            }
        }
        for (number, sum) in turns.into_iter().filter(|(_, sum)| sum.reached > 0) {
            let (score, scored) = sum.mean_score();
            partial |= score.is_some() && scored < sum.reached;
            unknown |= score.is_none() && sum.uncounted_failures > 0;
            table.push(vec![
                known(pool.marked()),
                known(number),
                known(sum.reached),
                known(sum.passed),
                known(sum.after_retries),
                maybe(score),
                known(scored),
                known(f64::from(sum.attempts) / f64::from(sum.reached)),
            ]);
        }
    }
    table.notes.push(
        "Over the episodes that reached a turn, also behind a failure: later turns are reached by fewer and other episodes. Score: tests passed in 100 tests of the last attempt."
            .to_owned(),
    );
    if partial {
        table
            .notes
            .push("Mean scores are over the episodes where the score of the turn is known.".to_owned());
    }
    if unknown {
        table.notes.push(
            "A mean score is unknown where turns failed and the tests of none of them are counted."
                .to_owned(),
        );
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use model::Verdict;

    use super::*;

    fn score(turn: &PlayedTurn) -> Option<f64> {
        super::score(turn, Counting::Share)
    }

    fn turn(verdicts: &[Verdict], counts: Option<(u32, u32)>) -> PlayedTurn {
        PlayedTurn {
            number: 1,
            passed: counts.map(|(passed, _)| passed),
            total: counts.map(|(_, total)| total),
            attempts: verdicts.iter().map(|verdict| (*verdict, None)).collect(),
        }
    }

    #[test]
    fn the_last_attempt_gives_the_score_and_what_is_not_known_stays_so() {
        let failed = turn(&[Verdict::Failed, Verdict::Failed], Some((30, 40)));
        assert_eq!(score(&failed), Some(75.0));
        assert_eq!(score(&turn(&[Verdict::Failed], None)), None);
        assert_eq!(score(&turn(&[Verdict::Failed], Some((0, 0)))), Some(0.0), "it is known that no test ran");
        assert_eq!(score(&turn(&[Verdict::Passed], Some((0, 0)))), Some(100.0));
        assert_eq!(score(&turn(&[Verdict::Unfinished], Some((0, 0)))), None);
        assert_eq!(score(&turn(&[Verdict::Error], None)), Some(0.0));
        assert_eq!(score(&turn(&[Verdict::Passed], None)), Some(100.0));
        assert_eq!(score(&turn(&[Verdict::Unfinished], None)), None);
        assert_eq!(score(&turn(&[], None)), None);
        let mut sum = Sum::default();
        for series in [&failed, &turn(&[Verdict::Failed, Verdict::Passed], Some((40, 40))), &turn(&[], None)]
        {
            sum.add(series, Counting::Share);
        }
        let attempt_counts = (sum.reached, sum.passed, sum.after_retries, sum.attempts, sum.scored);
        assert_eq!(attempt_counts, (2, 1, 1, 4, 2));
        assert_eq!(sum.mean_score(), (Some(87.5), 2));
    }

    #[test]
    fn a_score_counts_tests_as_the_score_of_a_run_does() {
        let counted = |verdict, counting| super::score(&turn(&[verdict], Some((3, 4))), counting);
        assert_eq!(counted(Verdict::Failed, Counting::Zero), Some(0.0));
        assert_eq!(counted(Verdict::Failed, Counting::Outside), None);
        assert_eq!(counted(Verdict::Passed, Counting::Zero), Some(0.0));
        assert_eq!(counted(Verdict::Passed, Counting::Outside), Some(100.0));
        assert_eq!(counted(Verdict::Error, Counting::Outside), Some(0.0));
    }

    #[test]
    fn a_mean_score_of_those_that_passed_is_unknown_where_others_failed() {
        let mean = |turns: &[PlayedTurn]| {
            let mut sum = Sum::default();
            for series in turns {
                sum.add(series, Counting::Share);
            }
            sum.mean_score()
        };
        let passed = || turn(&[Verdict::Passed], None);
        let failed = || turn(&[Verdict::Failed], None);
        let broken = || turn(&[Verdict::Error], None);
        assert_eq!(mean(&[passed(), failed(), failed()]), (None, 0));
        assert_eq!(mean(&[passed(), failed(), broken()]), (None, 0));
        assert_eq!(mean(&[failed()]), (None, 0));
        let half = turn(&[Verdict::Failed], Some((1, 2)));
        assert_eq!(mean(&[passed(), failed(), half]), (Some(75.0), 2));
        assert_eq!(mean(&[passed(), broken()]), (Some(50.0), 2), "nothing failed uncounted");
        assert_eq!(mean(&[passed(), passed()]), (Some(100.0), 2));
    }
}
