//! The change log: how one process sees what another wrote to the same file.

use crate::{Result, SourceId, Store};

/// What changed since a number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Number of the last change.
    pub last: u64,
    /// Sources that changed, or whose runs did.
    pub sources: Vec<SourceId>,
    /// Slugs of runs that changed, were added or were deleted.
    pub runs: Vec<String>,
    /// Whether the policy changed.
    pub policy: bool,
}

impl Store {
    /// Number of the last change; 0 in a new library.
    pub fn last_change(&self) -> Result<u64> {
        todo!()
    }

    /// What changed after the change number `since`, by whichever process.
    pub fn changes_since(&self, since: u64) -> Result<Changes> {
        todo!()
    }

    /// Logs that something about a source changed that the store does not hold (such as its being read).
    pub fn touch_source(&self, source: SourceId) -> Result<()> {
        todo!()
    }
}
