//! What a try ended in, and what a turn looks like in the episode × turn grid.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The reward from which on an attempt is passed, where the source grades by reward.
///
/// Not 1: rewards are means of floats, and EvoCode-Bench's published scripts compare with this number.
pub const PASS_REWARD: f64 = 0.999;

/// The verdict of the tests on one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every test passed (reward ≥ [`PASS_REWARD`] where the source grades by reward).
    Passed,
    /// The tests ran and at least one did not pass.
    Failed,
    /// No test verdict exists: the build failed, the harness or the verifier raised, nothing was recorded.
    Error,
    /// The attempt was still running, or was stopped from outside, when the files were read.
    Unfinished,
    /// The benchmark has no tests: what was done is shown, and nothing judges it.
    NotTested,
}

impl Verdict {
    /// The word in the database and in links.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Unfinished => "unfinished",
            Self::NotTested => "not_tested",
        }
    }

    /// The inverse of [`Verdict::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Passed, Self::Failed, Self::Error, Self::Unfinished, Self::NotTested]
            .into_iter()
            .find(|v| v.as_str() == word)
    }
}

/// The state of one cell of the episode × turn grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    /// Passed at the first attempt.
    Passed,
    /// Passed, but not at the first attempt.
    PassedAfterRetries,
    /// The final attempt failed its tests.
    Failed,
    /// The final attempt has no test verdict.
    Error,
    /// The episode ended before this turn, or nothing about it is recorded.
    NotReached,
    /// The episode was stopped at this turn by something outside the agent.
    Censored,
    /// The turn was played in a benchmark without tests.
    NotTested,
}

impl TurnState {
    /// One letter for compact rows: `p r f e n c t`.
    pub const fn letter(self) -> char {
        match self {
            Self::Passed => 'p',
            Self::PassedAfterRetries => 'r',
            Self::Failed => 'f',
            Self::Error => 'e',
            Self::NotReached => 'n',
            Self::Censored => 'c',
            Self::NotTested => 't',
        }
    }

    /// The inverse of [`TurnState::letter`].
    pub fn from_letter(letter: char) -> Option<Self> {
        [
            Self::Passed,
            Self::PassedAfterRetries,
            Self::Failed,
            Self::Error,
            Self::NotReached,
            Self::Censored,
            Self::NotTested,
        ]
        .into_iter()
        .find(|s| s.letter() == letter)
    }

    /// Whether the turn counts as passed.
    pub const fn is_passed(self) -> bool {
        matches!(self, Self::Passed | Self::PassedAfterRetries)
    }
}
