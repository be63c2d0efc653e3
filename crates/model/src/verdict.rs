//! The verdict of an attempt, and the state of a turn in the episode × turn grid.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use ts_rs::TS;

/// The least reward of a passed attempt, if the source grades by reward.
///
/// It is not 1, because rewards are means of floats. The published scripts of EvoCode-Bench compare with this number.
pub const PASS_REWARD: f64 = 0.999;

/// The verdict of the tests on one attempt.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Verdict {
    /// Every test passed (reward ≥ [`PASS_REWARD`] if the source grades by reward).
    Passed,
    /// The tests ran and at least one did not pass.
    Failed,
    /// There is no verdict of tests: the build failed, the harness or the verifier raised an error, or nothing was recorded.
    Error,
    /// The attempt was still running, or was stopped from outside, when the files were read.
    #[default]
    Unfinished,
    /// The benchmark has no tests. The attempt is shown without a verdict.
    NotTested,
}

impl Verdict {
    /// The word in the database and in links.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The inverse of [`Verdict::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        word.parse().ok()
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
    /// The final attempt has no verdict of tests.
    Error,
    /// The episode ended before this turn, or has no record of it.
    NotReached,
    /// Something outside the agent stopped the episode at this turn.
    Censored,
    /// The turn has attempts, and the benchmark has no tests.
    NotTested,
}

impl TurnState {
    /// The state of a turn by the verdict of its final attempt (`None` = it has none) and its number of attempts.
    pub const fn from_last(last: Option<Verdict>, attempts: usize) -> Self {
        match last {
            None => Self::NotReached,
            Some(Verdict::Passed) if attempts > 1 => Self::PassedAfterRetries,
            Some(Verdict::Passed) => Self::Passed,
            Some(Verdict::Failed) => Self::Failed,
            Some(Verdict::Error) => Self::Error,
            Some(Verdict::Unfinished) => Self::Censored,
            Some(Verdict::NotTested) => Self::NotTested,
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_final_attempt_decides_the_state_of_a_turn() {
        for (last, attempts, state) in [
            (None, 0, TurnState::NotReached),
            (Some(Verdict::Passed), 1, TurnState::Passed),
            (Some(Verdict::Passed), 2, TurnState::PassedAfterRetries),
            (Some(Verdict::Failed), 1, TurnState::Failed),
            (Some(Verdict::Failed), 3, TurnState::Failed),
            (Some(Verdict::Error), 1, TurnState::Error),
            (Some(Verdict::Unfinished), 2, TurnState::Censored),
            (Some(Verdict::NotTested), 1, TurnState::NotTested),
        ] {
            assert_eq!(TurnState::from_last(last, attempts), state, "{last:?} {attempts}");
        }
    }
}
