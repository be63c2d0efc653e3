//! Runs a suite against a server: over HTTP, or straight against a [`World`].

use std::time::Duration;

use crate::suite::{Case, Suite};

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CaseResult {
    /// [`Case::id`].
    pub id: String,
    /// Passed or not.
    pub status: CaseStatus,
    /// For a failed one: which step, what was expected, what came; bounded in length, control characters escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Verdict of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseStatus {
    /// All steps held.
    Passed,
    /// A step did not.
    Failed,
    /// The server did not answer (refused, closed, timed out, no HTTP).
    Error,
}

/// How a suite is run over HTTP.
#[derive(Debug, Clone)]
pub struct Options {
    /// Longest wait for an answer (default 10 s).
    pub request_timeout: Duration,
    /// Largest answer that is read, in bytes (default 4 MiB).
    pub body_limit: usize,
    /// After this many cases in a row without an answer the rest is given the status error without asking (default 20).
    pub give_up_after: usize,
}

/// A server straight in this process: the fastest way, used by validation.
pub fn run_in_process(
    _world: &mut crate::reference::World,
    _suite: &Suite,
    _on_case: &mut dyn FnMut(&Case, &CaseResult) -> std::ops::ControlFlow<()>,
) {
    todo!("owned by: reference")
}

/// A server at a base URL (`http://127.0.0.1:8000`), one case after another over one kept-alive connection that is
/// opened again when the server closes it. `on_case` may end the run.
///
/// Errors: the URL is not `http://host:port`.
pub async fn run_http(
    _base: &str,
    _suite: &Suite,
    _options: &Options,
    _on_case: &mut (dyn FnMut(&Case, &CaseResult) -> std::ops::ControlFlow<()> + Send),
) -> Result<(), UrlError> {
    todo!("owned by: reference")
}

/// The address of a server that can not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url} is not an address of the form http://host:port")]
pub struct UrlError {
    /// As given.
    pub url: String,
}
