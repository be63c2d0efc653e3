//! Why a change does not fit.

use thiserror::Error;

/// Why a change cannot be applied to a schema, in words for a person.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct Refusal {
    /// What is in the way: ``orders.total is needed by the analytic `revenue` ``.
    pub reason: String,
}

/// A refusal with this reason.
pub(super) fn refuse<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { reason: reason.into() })
}
