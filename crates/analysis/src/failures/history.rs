//! Over the turns of an episode: what is new and what is a regression, how long repairs take, which tests flip.
//!
//! A test is followed by its id, without the turn that the name of a suite's file may hold. Ids that are only a number
//! (`c094`) are given anew in every turn, so they are followed within a turn; over turns such a test is followed by what
//! it is described with, if that is its own.
//!
//! Which tests *passed* is known where a source lists them. Within a turn all attempts are held against the same suite:
//! there a test that failed at one attempt has passed at another whose failing tests are all described, and are others.

mod identity;
mod repair;

use model::{Attempt, Episode, TestOutcome, Verdict};
use serde::Serialize;

use self::identity::{Named, Numbers};
pub use self::repair::{Repair, RepairTimes, repair_times, turn_repairs};
use crate::survival::MAX_TURNS;

/// How a failing test stood before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// No attempt before had it, and those attempts name all their tests.
    New,
    /// It passed before, and not since.
    Regression {
        /// The last turn in which it is known to have passed.
        passed_in_turn: u32,
    },
    /// It failed when its outcome was known last.
    StillFailing {
        /// The turn in which this began.
        since_turn: u32,
        /// The last turn before in which it passed; `None` = never, or not known.
        passed_in_turn: Option<u32>,
    },
    /// Earlier turns do not say whether they had it.
    Unknown,
}

/// A failing test of an attempt and how it stood before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TestStanding {
    /// Its place in [`Attempt::tests`].
    pub test: usize,
    /// How it stood.
    #[serde(flatten)]
    pub standing: Standing,
}

/// The failing tests of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttemptStandings {
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
    /// Every failing test that is described.
    pub tests: Vec<TestStanding>,
}

/// An outcome of a test at an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
    /// Whether it passed.
    pub passed: bool,
}

/// A test whose outcome changed more than once in an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flip {
    /// Its id, as it stands where it was seen last.
    pub id: String,
    /// How often its outcome became another one.
    pub changes: u32,
    /// The first outcome, and each that differs from the one before.
    pub outcomes: Vec<Outcome>,
    /// The turns in which an outcome of it is known, as far as [`MAX_TURNS`].
    pub turns: Vec<u32>,
}

/// What the turns of an episode say about its failing tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct History {
    /// Attempts with failing tests that are described, in order.
    pub attempts: Vec<AttemptStandings>,
    /// Every stretch in which a test failed, in the order in which they begin.
    pub repairs: Vec<Repair>,
    /// Tests that changed more than once, the most changes first, then by id.
    pub flips: Vec<Flip>,
}

/// What is known of a test so far.
#[derive(Debug, Default)]
struct Known {
    id: String,
    /// Whether earlier attempts may have had it without saying so.
    hidden_before: bool,
    seen: bool,
    last_pass: Option<u32>,
    /// The place in `repairs` of the stretch in which it fails now, and the turn before it in which it passed.
    failing: Option<(usize, Option<u32>)>,
    outcomes: Vec<Outcome>,
    /// The turns in which its outcome is known, a bit each.
    turns: Vec<u64>,
    /// The last attempt that names it, counted over the episode.
    listed_at: u32,
}

/// Follows the tests of an episode through its attempts.
pub fn history(episode: &Episode) -> History {
    let mut history = History::default();
    let mut numbers = Numbers::default();
    // By the number of the test.
    let mut tests: Vec<Known> = Vec::new();
    // Whether some attempt before did not name all its tests.
    let mut hidden = false;
    // Whether tests ran in a turn before.
    let mut ran_before = false;
    let mut ordinal = 0_u32;
    for turn in &episode.turns {
        let of_turn = numbers.of_turn(turn);
        tests.resize_with(numbers.len(), Known::default);
        let mut ran_now = false;
        let hidden_before_turn = hidden;
        for (attempt, places) in turn.attempts.iter().zip(&of_turn.places) {
            ordinal = ordinal.saturating_add(1);
            if !ran(attempt) {
                continue;
            }
            ran_now = true;
            let mut standings = Vec::new();
            let mut take = |known: &mut Known, named: &Named<'_>, passed: bool, at: Option<usize>| {
                if !known.seen {
                    known.seen = true;
                    // Within a turn the suite is the same: what other attempts of it hide is no other test.
                    known.hidden_before = if named.is_followed { hidden_before_turn } else { ran_before };
                }
                let outcome = Outcome { turn: turn.number, attempt: attempt.number, passed };
                if let Some(at) = at {
                    standings.push(TestStanding { test: at, standing: known.standing(&history.repairs) });
                }
                known.take(named.id, outcome, ordinal, &mut history.repairs);
            };
            for (at, (test, place)) in attempt.tests.iter().zip(places).enumerate() {
                let named = &of_turn.named[*place];
                let known = &mut tests[named.test];
                known.listed_at = ordinal;
                match test.outcome {
                    TestOutcome::Passed => take(known, named, true, None),
                    TestOutcome::Failed | TestOutcome::Error => take(known, named, false, Some(at)),
                    TestOutcome::Skipped => {}
                }
            }
            if tells_all_failures(attempt) {
                for named in &of_turn.named {
                    let known = &mut tests[named.test];
                    if known.listed_at != ordinal {
                        take(known, named, true, None);
                    }
                }
            }
            if !standings.is_empty() {
                history.attempts.push(AttemptStandings {
                    turn: turn.number,
                    attempt: attempt.number,
                    tests: standings,
                });
            }
            hidden |= !names_all_tests(attempt);
        }
        ran_before |= ran_now;
    }
    history.flips = flips(tests.into_iter());
    history
}

impl Known {
    fn standing(&self, repairs: &[Repair]) -> Standing {
        match (self.failing, self.last_pass) {
            (Some((at, passed_in_turn)), _) => match repairs.get(at) {
                Some(repair) => Standing::StillFailing { since_turn: repair.turn, passed_in_turn },
                None => Standing::Unknown,
            },
            (None, Some(passed_in_turn)) => Standing::Regression { passed_in_turn },
            (None, None) if self.hidden_before => Standing::Unknown,
            (None, None) => Standing::New,
        }
    }

    fn take(&mut self, id: &str, outcome: Outcome, ordinal: u32, repairs: &mut Vec<Repair>) {
        if self.id != id {
            id.clone_into(&mut self.id);
        }
        if outcome.turn <= MAX_TURNS {
            let word = outcome.turn as usize / 64;
            if word >= self.turns.len() {
                self.turns.resize(word + 1, 0);
            }
            self.turns[word] |= 1 << (outcome.turn % 64);
        }
        if self.outcomes.last().is_none_or(|last| last.passed != outcome.passed) {
            self.outcomes.push(outcome);
        }
        if outcome.passed {
            self.last_pass = Some(outcome.turn);
            if let Some((at, _)) = self.failing.take()
                && let Some(repair) = repairs.get_mut(at)
            {
                repair.take(outcome, ordinal);
            }
        } else if let Some((at, _)) = self.failing {
            if let Some(repair) = repairs.get_mut(at) {
                repair.take(outcome, ordinal);
            }
        } else {
            self.failing = Some((repairs.len(), self.last_pass));
            repairs.push(Repair::begins(id, outcome, ordinal));
        }
    }
}

fn flips(tests: impl Iterator<Item = Known>) -> Vec<Flip> {
    let mut flips: Vec<Flip> = tests
        .filter(|known| known.outcomes.len() > 2)
        .map(|known| Flip {
            id: known.id,
            changes: known.outcomes.len() as u32 - 1,
            turns: (0..)
                .zip(&known.turns)
                .flat_map(|(word, bits)| {
                    (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| 64 * word + bit)
                })
                .collect(),
            outcomes: known.outcomes,
        })
        .collect();
    flips.sort_by(|a, b| b.changes.cmp(&a.changes).then_with(|| a.id.cmp(&b.id)));
    flips
}

/// Whether tests ran at an attempt.
fn ran(attempt: &Attempt) -> bool {
    match attempt.verdict {
        Verdict::Passed | Verdict::Failed => true,
        Verdict::Error | Verdict::Unfinished | Verdict::NotTested => !attempt.tests.is_empty(),
    }
}

/// Whether every failing test is described, so that those which are not named did not fail.
fn tells_all_failures(attempt: &Attempt) -> bool {
    match attempt.verdict {
        Verdict::Passed => true,
        Verdict::Failed => {
            attempt.passed.is_some() && attempt.total.is_some() && attempt.failing_not_described() == 0
        }
        Verdict::Error | Verdict::Unfinished | Verdict::NotTested => false,
    }
}

/// Whether every test is named.
fn names_all_tests(attempt: &Attempt) -> bool {
    let named = attempt.tests.iter().filter(|test| test.outcome != TestOutcome::Skipped).count();
    attempt.total.is_some_and(|total| named >= total as usize)
}
