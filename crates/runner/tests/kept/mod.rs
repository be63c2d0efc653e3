//! What a test of lost data was doing when it failed.

use std::path::Path;

/// A folder that stays when its test fails: what was lost, if anything was, is still to be seen in it.
pub(crate) struct KeptIfFailed(tempfile::TempDir);

impl KeptIfFailed {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

#[allow(clippy::print_stderr, reason = "it belongs to what the failed test says")]
impl Drop for KeptIfFailed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.disable_cleanup(true);
            eprintln!("The folder of this try is kept: {}", self.0.path().display());
        }
    }
}
