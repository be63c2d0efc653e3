//! How much of the files of a job and its trials is read.

/// Most bytes of a configuration.
pub(super) const CONFIG_CAP: u64 = 16 << 20;
/// Most bytes of a result or lock; bulk in it is skipped while parsing.
pub(super) const RESULT_CAP: u64 = 512 << 20;
/// Most continuations of a trajectory that are followed.
pub(super) const CONTINUATIONS: usize = 100;
