//! Folders of runs as requests name them.

use std::path::PathBuf;

use crate::api::ApiError;

/// A folder as a request names it.
pub(super) fn absolute_folder(text: &str) -> Result<PathBuf, ApiError> {
    let folder = PathBuf::from(text.trim());
    if folder.is_absolute() {
        Ok(folder)
    } else {
        Err(ApiError::new("run.relative", "The folder must be an absolute path").with_path(text))
    }
}
