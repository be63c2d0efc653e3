//! Work that blocks, apart from the threads of everything else.

use crate::RunError;

/// Runs blocking work on a thread for it.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RunError> + Send + 'static,
) -> Result<T, RunError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panicked) => {
            Err(RunError::Files { path: std::path::PathBuf::new(), reason: panicked.to_string() })
        }
    }
}
