//! The censoring policy, as a table that can be edited.

use model::{CensoringPolicy, EndReason, Ending};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The censoring policy with its table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PolicyTable {
    /// `default` or `custom`.
    pub name: String,
    /// The overrides.
    pub policy: CensoringPolicy,
    /// Every reason: reason, label, how it is counted, how the default counts it, episodes that ended so.
    pub rows: Vec<PolicyRow>,
}

/// One line of the policy table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PolicyRow {
    /// The reason.
    pub reason: EndReason,
    /// In words.
    pub label: String,
    /// How it is counted.
    pub ending: Ending,
    /// How the default counts it.
    pub default_ending: Ending,
    /// Whether it can be counted otherwise.
    pub editable: bool,
    /// Episodes in the library that ended so.
    pub episodes: u32,
}

/// Sets the censoring policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetPolicy {
    /// The new policy.
    pub policy: CensoringPolicy,
}
