//! One file as a tree of its own.

use std::fs::File;
use std::path::Path;

use super::error::not_a_file_error;
use super::folder::Folder;
use super::{Entry, EntryKind, ReadError};

/// A file, and the folder that it is opened beneath. Nothing else in that folder can be reached.
#[derive(Debug)]
pub(super) struct SingleFile {
    folder: Folder,
    name: String,
}

impl SingleFile {
    /// Opens the file at an absolute path without links.
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(not_a_file_error());
        };
        let name =
            name.to_str().ok_or_else(|| ReadError::malformed("name.not_utf8", "The name is not UTF-8"))?;
        let single = Self { folder: Folder::open(folder)?, name: name.to_owned() };
        single.open_file(name).map(|_| single)
    }

    pub(super) fn list(&self, folder: &str) -> Vec<Entry> {
        if folder.is_empty() { self.entry(&self.name).into_iter().collect() } else { Vec::new() }
    }

    pub(super) fn entry(&self, path: &str) -> Option<Entry> {
        match path {
            "" => Some(Entry { name: String::new(), kind: EntryKind::Folder, size: 0, stamp: 0 }),
            path if path == self.name => self.folder.entry(path),
            _ => None,
        }
    }

    pub(super) fn open_file(&self, path: &str) -> Result<(File, u64), ReadError> {
        if path == self.name { self.folder.open_file(path) } else { Err(ReadError::Missing) }
    }
}
