//! Results folders for tests: where the repository has them, and copies that a test may change.
#![allow(dead_code, reason = "each test file uses its part of it")]

use std::fs;
use std::path::{Path, PathBuf};

/// The repository's `tests/fixtures`.
pub(crate) fn fixtures() -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
    repository.join("tests/fixtures")
}

/// Copies a folder with everything in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
