//! The threads of the async work of runs.

use std::sync::OnceLock;

use crate::api::ApiError;

/// Where the async work of runs, engines and endpoints is done.
pub fn runtime() -> Result<&'static tokio::runtime::Runtime, ApiError> {
    static RUNTIME: OnceLock<Result<tokio::runtime::Runtime, String>> = OnceLock::new();
    RUNTIME
        .get_or_init(|| {
            tokio::runtime::Builder::new_multi_thread()
                .thread_name("runs")
                .enable_all()
                .build()
                .map_err(|error| error.to_string())
        })
        .as_ref()
        .map_err(|error| ApiError::new("run.runtime", format!("No threads can be started: {error}")))
}
