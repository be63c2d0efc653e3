//! Wishes to a running run: a small file that the runner looks at twice a second, `.stamina/control.json`.

use serde::{Deserialize, Serialize};

/// What somebody wants of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wish {
    /// No new attempt begins while this is set; those in flight end.
    pub pause: bool,
    /// Attempts in flight are dropped (they are played again after a resume), the run ends.
    pub stop: bool,
    /// Episodes whose attempt in flight is to be ended and played again from its snapshot, each with a number that
    /// grows with every wish.
    pub retry: std::collections::BTreeMap<String, u32>,
}

/// Reads the wish; absent = none.
pub fn read(_folder: &std::path::Path) -> Wish {
    todo!()
}

/// Writes it, atomically.
pub fn write(_folder: &std::path::Path, _wish: &Wish) -> Result<(), crate::RunError> {
    todo!()
}
