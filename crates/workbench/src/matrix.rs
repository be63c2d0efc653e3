//! Harness × model, and the retry budget.

use crate::Workbench;
use crate::api::{ApiError, Matrix, MatrixRequest, Retries, RetriesRequest};

impl Workbench {
    /// Mean stamina by harness and model.
    pub fn get_matrix(&self, _: MatrixRequest) -> Result<Matrix, ApiError> {
        Err(ApiError::new("command.not_built", "Not built yet"))
    }

    /// Mean stamina against the retry budget.
    pub fn get_retries(&self, _: RetriesRequest) -> Result<Retries, ApiError> {
        Err(ApiError::new("command.not_built", "Not built yet"))
    }
}
