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

/// The decision tables that turn what a runner recorded into end reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DecisionTable {
    /// Every row at each of its stages, in the order of the tables.
    pub rows: Vec<DecisionRow>,
}

/// A row of a decision table at one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DecisionRow {
    /// Its name: the key of [`CensoringPolicy::rows`].
    pub row: String,
    /// Which exceptions it is about.
    pub exceptions: String,
    /// When they came.
    pub stage: String,
    /// What it gives by default, in words.
    pub rule: String,
    /// What the policy gives instead; `None` = as by default.
    pub moved_to: Option<EndReason>,
    /// Episodes in the library with an end that it decided about.
    pub episodes: u32,
}

/// Sets the censoring policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetPolicy {
    /// The new policy.
    pub policy: CensoringPolicy,
}
