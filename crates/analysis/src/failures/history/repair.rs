//! Times to repair: until a failing test passes again, and until a failed turn passes.

use model::{Episode, Median, Verdict};
use serde::Serialize;

use super::Outcome;
use crate::failures::is_failed;
use crate::survival::{Observation, kaplan_meier, median as half};

/// A period of attempts at which a test failed (or, for a turn, the turn).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The id of the test; empty for a whole turn.
    pub id: String,
    /// The turn of the first failure.
    pub turn: u32,
    /// The attempt of that turn.
    pub attempt: u32,
    /// Whether it passed afterwards.
    pub repaired: bool,
    /// Attempts from then up to and including the first pass; without a repair, up to the last known failure (0: one known
    /// failure).
    pub attempts: u32,
    /// Turns, counted in the same way: 0 = repaired in the same turn.
    pub turns: u32,
    /// Whether nothing could show a pass after it: the test is one of its turn only, and no later attempt of the turn shows
    /// passes, or tests ran once in the episode. How it ended is then unknown.
    #[serde(skip)]
    pub is_hidden: bool,
    /// The number in the episode of the attempt of the first failure.
    #[serde(skip)]
    pub(super) first: u32,
}

impl Repair {
    pub(super) fn begins(id: &str, outcome: Outcome, ordinal: u32) -> Self {
        Self {
            id: id.to_owned(),
            turn: outcome.turn,
            attempt: outcome.attempt,
            repaired: false,
            attempts: 0,
            turns: 0,
            is_hidden: false,
            first: ordinal,
        }
    }

    /// Adds the next outcome of the same test. `ordinal` counts the attempts of the episode.
    pub(super) fn take(&mut self, outcome: Outcome, ordinal: u32) {
        self.repaired = outcome.passed;
        self.attempts = ordinal.saturating_sub(self.first);
        self.turns = outcome.turn.saturating_sub(self.turn);
    }
}

/// Times to repair of many tests or turns. Without a repair, they are censored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RepairTimes {
    /// Periods of failing.
    pub failed: u32,
    /// Periods that ended with a pass.
    pub repaired: u32,
    /// Periods that ended with a pass in the same turn.
    pub in_same_turn: u32,
    /// Attempts by which half are repaired (Kaplan–Meier); unknown if nothing failed, or nothing was repeated.
    pub median_attempts: Median,
    /// Turns after which half are repaired, 0 = in the same turn.
    pub median_turns: Median,
}

/// The times to repair, with medians of the Kaplan–Meier estimate.
pub fn repair_times<'a>(repairs: impl IntoIterator<Item = &'a Repair>) -> RepairTimes {
    let mut times = RepairTimes::default();
    let (mut attempts, mut turns) = (Vec::new(), Vec::new());
    for repair in repairs {
        times.failed = times.failed.saturating_add(1);
        times.repaired += u32::from(repair.repaired);
        times.in_same_turn += u32::from(repair.repaired && repair.turns == 0);
        // Turns are shifted by one: a repair in the same turn takes no turn, and time starts at 1.
        if repair.repaired {
            attempts.push(Observation::failed_at(repair.attempts.max(1)));
            turns.push(Observation::failed_at(repair.turns.saturating_add(1)));
        } else {
            attempts.push(Observation::censored_after(repair.attempts));
            turns.push(Observation::censored_after(repair.turns));
        }
    }
    let median = |observations: &[Observation]| {
        let longest = observations.iter().map(|o| o.last_at_risk()).max().unwrap_or(0);
        half(&kaplan_meier(observations, longest))
    };
    times.median_attempts = median(&attempts);
    times.median_turns = median(&turns).map(|turn| turn.saturating_sub(1));
    times
}

/// The failed turns of an episode, and how many attempts they took until they passed. A turn is only repeated within itself,
/// so `turns` is always 0. An attempt that something ended before it had a verdict may begin a repair, and does not prolong
/// one: it is not known whether it would have passed.
pub fn turn_repairs(episode: &Episode) -> Vec<Repair> {
    let mut repairs = Vec::new();
    for turn in &episode.turns {
        let mut open: Option<Repair> = None;
        for (index, attempt) in turn.attempts.iter().enumerate() {
            let passed = attempt.verdict == Verdict::Passed;
            let outcome = Outcome { turn: turn.number, attempt: attempt.number, passed };
            match &mut open {
                None if is_failed(attempt) => open = Some(Repair::begins("", outcome, index as u32)),
                Some(repair) if passed || (is_failed(attempt) && attempt.verdict != Verdict::Unfinished) => {
                    repair.take(outcome, index as u32);
                }
                _ => {}
            }
        }
        repairs.extend(open);
    }
    repairs
}
