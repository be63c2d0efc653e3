//! Comparing runs, or groups of runs.

use crate::Workbench;
use crate::api::{ApiError, CompareRequest, Comparison, DisagreementPage, DisagreementRequest};

impl Workbench {
    /// Compares runs, or groups of runs.
    pub fn compare_runs(&self, _: CompareRequest) -> Result<Comparison, ApiError> {
        Err(ApiError::new("command.not_built", "Not built yet"))
    }

    /// Turns on which members disagree.
    pub fn list_disagreements(&self, _: DisagreementRequest) -> Result<DisagreementPage, ApiError> {
        Err(ApiError::new("command.not_built", "Not built yet"))
    }
}
