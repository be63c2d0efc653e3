//! Tests over the turns of an episode: new failures and regressions, times to repair, and tests that flip.
//!
//! A test is identified by its id, without a turn in the name of the file of its suite. Ids that are only a number (`c094`)
//! differ between turns, so they identify a test only within a turn. Over turns, the description of such a test identifies
//! it, if it is unique.
//!
//! Which tests *passed* is known if a source lists them. All attempts at a turn have the same suite. A test that failed at one
//! attempt thus passed at another one whose failing tests are all described and do not include it.

mod identity;
mod repair;
#[cfg(test)]
mod tests;

use model::{Attempt, Episode, TestOutcome, TestResult, Verdict};
use serde::Serialize;

use self::identity::{Numbers, TurnTest};
pub use self::repair::{Repair, RepairTimes, repair_times, turn_repairs};
use crate::survival::MAX_TURNS;

/// The earlier outcome of a failing test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// No earlier attempt had it, and these attempts name all their tests.
    New,
    /// It passed before, and its last known outcome is a pass.
    Regression {
        /// The last turn in which it is known to have passed.
        passed_in_turn: u32,
    },
    /// Its last known outcome is a failure.
    StillFailing {
        /// The turn of the first failure since the last pass.
        since_turn: u32,
        /// The last earlier turn in which it passed; `None` = never, or unknown.
        passed_in_turn: Option<u32>,
    },
    /// It is unknown whether earlier turns had it.
    Unknown,
}

/// A failing test of an attempt and its earlier outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TestStanding {
    /// Its index in [`Attempt::tests`].
    pub test: usize,
    /// Its earlier outcome.
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
    /// Every described failing test.
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

/// A test with more than one change of outcome in an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flip {
    /// Its last id.
    pub id: String,
    /// The number of changes of its outcome.
    pub changes: u32,
    /// The first outcome, and each that differs from the one before.
    pub outcomes: Vec<Outcome>,
    /// The turns with a known outcome, up to [`MAX_TURNS`].
    pub turns: Vec<u32>,
    /// Those of these turns of which two attempts had different outcomes.
    pub changed_within: Vec<u32>,
}

/// The history of the failing tests of an episode.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct History {
    /// Attempts with described failing tests, in order.
    pub attempts: Vec<AttemptStandings>,
    /// Every period of failing of a test, in the order of their starts.
    pub repairs: Vec<Repair>,
    /// Tests with more than one change, the most changes first, then by id.
    pub flips: Vec<Flip>,
    /// Whether a pass of a test could be seen. Where it could not, no end of a period of failing is seen. Where it could, that of
    /// some periods is hidden all the same ([`Repair::is_hidden`]).
    #[serde(skip)]
    pub passes: PassVisibility,
}

/// Whether an episode would show that a test passes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PassVisibility {
    /// It would not: attempts have tests that they do not name, or tests that no other turn can show, because their ids are
    /// only numbers; none lists another test that passed, and no turn was tried again.
    #[default]
    Hidden,
    /// Every attempt names all its tests, all are followed over turns, and none passed. A source that names failing tests only
    /// looks the same where everything fails: only other episodes of the run tell the two apart.
    NonePassed,
    /// It does: an attempt lists passed tests that are followed over turns, or, of a turn that was tried before, passed tests or
    /// all failing ones.
    Shown,
}

/// The state of a test so far.
#[derive(Debug, Default)]
struct TestState {
    id: String,
    /// Whether earlier attempts may have had it without naming it.
    hidden_before: bool,
    has_outcome: bool,
    last_pass: Option<u32>,
    /// The index in `repairs` of its present period of failing, and the turn before it in which it passed.
    failing: Option<(usize, Option<u32>)>,
    outcomes: Vec<Outcome>,
    /// The turns with a known outcome, one bit each.
    turns: Vec<u64>,
    /// The turns of which two attempts had different outcomes.
    changed_within: Vec<u32>,
    /// The number in the episode of the last attempt that names it.
    listed_at: u32,
}

/// Follows the tests of an episode through its attempts.
pub fn history(episode: &Episode) -> History {
    let mut history = History::default();
    let mut numbers = Numbers::default();
    // By the number of the test.
    let mut tests: Vec<TestState> = Vec::new();
    // Whether some earlier attempt did not name all its tests.
    let mut hidden = false;
    // Whether some test is followed only within its turn.
    let mut has_unfollowed = false;
    let mut ordinal = 0_u32;
    // Attempts at which tests ran.
    let mut runs = 0_u32;
    for turn in &episode.turns {
        let turn_tests = numbers.next_turn(turn);
        tests.resize_with(numbers.len(), TestState::default);
        let mut ran_now = false;
        // The number in the episode of the last attempt of the turn that would show the pass of a test that failed before it.
        let mut last_shown = 0_u32;
        let hidden_before_turn = hidden;
        has_unfollowed |= turn_tests.tests.iter().any(|turn_test| turn_test.is_of_turn);
        for (attempt, places) in turn.attempts.iter().zip(&turn_tests.places) {
            ordinal = ordinal.saturating_add(1);
            if !ran(attempt) {
                continue;
            }
            if shows_passes(attempt, places, &turn_tests.tests, ran_now) {
                history.passes = PassVisibility::Shown;
                if ran_now {
                    last_shown = ordinal;
                }
            }
            ran_now = true;
            runs = runs.saturating_add(1);
            let mut standings = Vec::new();
            let mut take =
                |state: &mut TestState, turn_test: &TurnTest<'_>, passed: bool, index: Option<usize>| {
                    if !state.has_outcome {
                        state.has_outcome = true;
                        // Within a turn the suite is the same, so unnamed tests of other attempts are not other tests.
                        state.hidden_before = hidden_before_turn || turn_test.may_be_earlier;
                    }
                    let outcome = Outcome { turn: turn.number, attempt: attempt.number, passed };
                    if let Some(index) = index {
                        standings
                            .push(TestStanding { test: index, standing: state.standing(&history.repairs) });
                    }
                    state.take(turn_test.id, outcome, ordinal, &mut history.repairs);
                };
            for (index, (test, place)) in attempt.tests.iter().zip(places).enumerate() {
                let turn_test = &turn_tests.tests[*place];
                let state = &mut tests[turn_test.test];
                state.listed_at = ordinal;
                match test.outcome {
                    TestOutcome::Passed => take(state, turn_test, true, None),
                    TestOutcome::Failed | TestOutcome::Error => take(state, turn_test, false, Some(index)),
                    TestOutcome::Skipped => {}
                }
            }
            if tells_all_failures(attempt) {
                for turn_test in &turn_tests.tests {
                    let state = &mut tests[turn_test.test];
                    if state.listed_at != ordinal {
                        take(state, turn_test, true, None);
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
        for turn_test in turn_tests.tests.iter().filter(|turn_test| turn_test.is_of_turn) {
            if let Some((index, _)) = tests[turn_test.test].failing
                && let Some(repair) = history.repairs.get_mut(index)
            {
                repair.is_hidden = repair.first >= last_shown;
            }
        }
    }
    // Nothing ran later that could show a pass.
    if runs == 1 {
        history.repairs.iter_mut().for_each(|repair| repair.is_hidden = true);
    }
    if history.passes == PassVisibility::Hidden && !hidden && !has_unfollowed {
        history.passes = PassVisibility::NonePassed;
    }
    history.flips = flips(tests.into_iter());
    history
}

impl TestState {
    fn standing(&self, repairs: &[Repair]) -> Standing {
        match (self.failing, self.last_pass) {
            (Some((index, passed_in_turn)), _) => match repairs.get(index) {
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
        let is_known_in_turn = self.mark_turn(outcome.turn);
        if self.outcomes.last().is_none_or(|last| last.passed != outcome.passed) {
            // The outcome before, which is another one, is of an earlier attempt of this turn.
            if is_known_in_turn && self.changed_within.last() != Some(&outcome.turn) {
                self.changed_within.push(outcome.turn);
            }
            self.outcomes.push(outcome);
        }
        if outcome.passed {
            self.last_pass = Some(outcome.turn);
            if let Some((index, _)) = self.failing.take()
                && let Some(repair) = repairs.get_mut(index)
            {
                repair.take(outcome, ordinal);
            }
        } else if let Some((index, _)) = self.failing {
            if let Some(repair) = repairs.get_mut(index) {
                repair.take(outcome, ordinal);
            }
        } else {
            self.failing = Some((repairs.len(), self.last_pass));
            repairs.push(Repair::begins(id, outcome, ordinal));
        }
    }

    /// Notes that an outcome is known in a turn. Returns whether one was known in it before.
    fn mark_turn(&mut self, turn: u32) -> bool {
        if turn > MAX_TURNS {
            return false;
        }
        let (word, bit) = (turn as usize / 64, 1 << (turn % 64));
        if word >= self.turns.len() {
            self.turns.resize(word + 1, 0);
        }
        let is_known = self.turns[word] & bit != 0;
        self.turns[word] |= bit;
        is_known
    }
}

fn flips(tests: impl Iterator<Item = TestState>) -> Vec<Flip> {
    let mut flips: Vec<Flip> = tests
        .filter(|state| state.outcomes.len() > 2)
        .map(|state| Flip {
            id: state.id,
            changes: state.outcomes.len() as u32 - 1,
            turns: (0..)
                .zip(&state.turns)
                .flat_map(|(word, bits)| {
                    (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| 64 * word + bit)
                })
                .collect(),
            outcomes: state.outcomes,
            changed_within: state.changed_within,
        })
        .collect();
    flips.sort_by(|a, b| b.changes.cmp(&a.changes).then_with(|| a.id.cmp(&b.id)));
    flips
}

/// Whether an attempt shows that a test passes which failed before. One that is followed only within its turn can be seen to
/// pass at a further attempt of the turn, and nowhere else: the pass of a number in another turn is that of another test.
fn shows_passes(
    attempt: &Attempt,
    places: &[usize],
    turn_tests: &[TurnTest<'_>],
    is_tried_again: bool,
) -> bool {
    let mut passed = attempt.tests.iter().zip(places).filter(|(test, _)| test.outcome == TestOutcome::Passed);
    if is_tried_again {
        return tells_all_failures(attempt) || passed.next().is_some();
    }
    passed.any(|(_, place)| !turn_tests[*place].is_of_turn)
}

/// Whether tests ran at an attempt.
fn ran(attempt: &Attempt) -> bool {
    match attempt.verdict {
        Verdict::Passed | Verdict::Failed => true,
        Verdict::Error | Verdict::Unfinished | Verdict::NotTested => !attempt.tests.is_empty(),
    }
}

/// Whether every test that did not pass is named, so that unnamed tests passed.
fn tells_all_failures(attempt: &Attempt) -> bool {
    match (attempt.verdict, attempt.passed, attempt.total) {
        // A reward may pass an attempt with tests that failed, and some may neither have passed nor failed.
        (Verdict::Passed | Verdict::Failed, Some(passed), Some(total)) => {
            let named = attempt.tests.iter().filter(|test| test.outcome != TestOutcome::Passed).count();
            named as u64 + u64::from(passed) >= u64::from(total)
        }
        (Verdict::Passed, ..) => true,
        _ => false,
    }
}

/// Whether every test is named.
fn names_all_tests(attempt: &Attempt) -> bool {
    // Where some neither passed nor failed, skipped ones are in the total as well.
    let has_skipped_in_total = attempt.stated_failing().is_some();
    let is_in_total = |test: &&TestResult| has_skipped_in_total || test.outcome != TestOutcome::Skipped;
    let named_count = attempt.tests.iter().filter(is_in_total).count();
    attempt.total.is_some_and(|total| named_count >= total as usize)
}
