//! Failed attempts by class.

use crate::Workbench;
use crate::api::{ApiError, FailureCasePage, FailureCasesRequest, Failures, FailuresRequest};

impl Workbench {
    /// Failed attempts by class.
    pub fn get_failures(&self, _: FailuresRequest) -> Result<Failures, ApiError> {
        Err(ApiError::new("command.not_built", "Not built yet"))
    }

    /// The failed attempts behind a share.
    pub fn list_failure_cases(&self, _: FailureCasesRequest) -> Result<FailureCasePage, ApiError> {
        Err(ApiError::new("command.not_built", "Not built yet"))
    }
}
