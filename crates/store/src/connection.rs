//! The connections: one that writes, a few that read.

use std::path::Path;

use crate::Result;

/// The library: every opened source, its runs, and what a user wrote beside them.
#[derive(Debug)]
pub struct Store {}

impl Store {
    /// Opens the library at `path`; makes it, and its folder, if it is not there. Several processes may do so at once.
    pub fn open(path: &Path) -> Result<Self> {
        let _ = path;
        todo!()
    }

    /// A library that lives as long as this value; for tests and one-off commands.
    pub fn in_memory() -> Result<Self> {
        todo!()
    }
}
