//! The arguments of `stamina failures`, which exports of failures take, too.

use workbench::api::{FailureGrouping, FailureScope};

/// How failed attempts are grouped.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum FailuresBy {
    /// By run or group
    Run,
    /// By harness
    Harness,
    /// By turn
    Turn,
    /// First attempts, second attempts, …
    Attempt,
}

/// Which failed attempts count.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum FailuresScope {
    /// All of them
    Attempts,
    /// The last one of each turn not passed
    Turns,
    /// The one that ended each episode's stamina
    First,
}

impl From<FailuresBy> for FailureGrouping {
    fn from(word: FailuresBy) -> Self {
        match word {
            FailuresBy::Run => Self::Member,
            FailuresBy::Harness => Self::Harness,
            FailuresBy::Turn => Self::Turn,
            FailuresBy::Attempt => Self::Attempt,
        }
    }
}

impl From<FailuresScope> for FailureScope {
    fn from(word: FailuresScope) -> Self {
        match word {
            FailuresScope::Attempts => Self::Attempts,
            FailuresScope::Turns => Self::Turns,
            FailuresScope::First => Self::First,
        }
    }
}
