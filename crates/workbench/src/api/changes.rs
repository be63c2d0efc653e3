//! What has changed since: how pages follow the library.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Waits until something changes in the store or in a source's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct WaitForChanges {
    /// The last change that the caller knows.
    // words: ok: a JSON key.
    pub since: u64,
    /// Answer after so many milliseconds at the latest.
    pub timeout_ms: u32,
}

/// What changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Changes {
    /// Number of the last change.
    pub change: u64,
    /// Whether more changed than is remembered: everything must be asked for again.
    pub everything: bool,
    /// Sources whose state or runs changed; empty = nothing.
    pub sources: Vec<i64>,
    /// Ids of runs that changed.
    pub runs: Vec<String>,
}
