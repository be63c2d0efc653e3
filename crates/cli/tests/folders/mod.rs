//! Results folders for tests: where the repository has them, and copies that a test may change.
#![allow(dead_code, unused_imports, reason = "each test file uses its part of it")]

use std::path::{Path, PathBuf};

pub(crate) use test_folders::copy;

/// The repository's `tests/fixtures`.
pub(crate) fn fixtures() -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
    repository.join("tests/fixtures")
}
