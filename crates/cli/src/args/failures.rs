//! The arguments of `stamina failures`.

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
