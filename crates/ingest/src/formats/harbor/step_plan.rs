//! What is known of a trial's steps before they are read.

/// What is known of one trial's steps before they are read.
#[derive(Debug)]
pub(super) struct StepPlan {
    /// All declared steps as far as they are known; empty: one step, or unknown.
    pub(super) names: Vec<String>,
    /// How many were planned; `None` = unknown.
    pub(super) count: Option<u32>,
}
