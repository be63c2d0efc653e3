//! Sources: the folders and zips that were opened, and those that were closed.

use std::time::Duration;

use crate::{Result, SourceId, Store};

/// An opened folder or zip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Number in the store.
    pub id: SourceId,
    /// Absolute path.
    pub path: String,
    /// Name of the folder or zip.
    pub name: String,
    /// Whether it is a zip.
    pub zip: bool,
    /// Names of the formats found in it, joined with `, `; empty before the first survey.
    pub format: String,
    /// Whether the last reading came to its end.
    pub complete: bool,
    /// Why the last reading did not.
    pub message: Option<String>,
    /// Runs in it.
    pub runs: u32,
    /// Warnings of its import.
    pub warnings: u64,
    /// RFC 3339, UTC.
    pub opened_at: String,
}

/// A source that was open before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedSource {
    /// Number in the store.
    pub id: SourceId,
    /// Absolute path.
    pub path: String,
    /// Name of the folder or zip.
    pub name: String,
    /// Whether it is a zip.
    pub zip: bool,
    /// RFC 3339, UTC.
    pub closed_at: String,
}

/// What was read from a source, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SourceCounts {
    /// Runs.
    pub runs: u32,
    /// Episodes.
    pub episodes: u32,
    /// Turns with at least one attempt.
    pub turns: u64,
    /// Known turns without an attempt.
    pub not_reached: u64,
    /// Attempts.
    pub attempts: u64,
    /// Files parsed.
    pub files_read: u64,
    /// Warnings.
    pub warnings: u64,
}

impl Store {
    /// Opens a source, or re-opens it if it was closed; its number stays the same for one path. What was read of it
    /// before is still there unless it was purged.
    pub fn put_source(&self, path: &str, name: &str, zip: bool) -> Result<SourceId> {
        todo!()
    }

    /// Notes what the source was recognised as (names of formats, joined with `, `).
    pub fn set_source_format(&self, source: SourceId, format: &str) -> Result<()> {
        todo!()
    }

    /// Notes that reading came to its end (`None`), or why it stopped before.
    pub fn set_source_read(&self, source: SourceId, stopped: Option<&str>) -> Result<()> {
        todo!()
    }

    /// The open sources, by name.
    pub fn sources(&self) -> Result<Vec<Source>> {
        todo!()
    }

    /// An open source.
    pub fn source(&self, source: SourceId) -> Result<Option<Source>> {
        todo!()
    }

    /// Closes a source. Its data stays until [`Store::purge_removed`], so that [`Store::restore_source`] is instant.
    pub fn remove_source(&self, source: SourceId) -> Result<()> {
        todo!()
    }

    /// Takes back [`Store::remove_source`]. If the data was purged meanwhile, the source is open and empty.
    pub fn restore_source(&self, source: SourceId) -> Result<()> {
        todo!()
    }

    /// Deletes what was read of sources that were closed at least `age` ago. Their paths stay in [`Store::recent`],
    /// and tags and notes of their runs stay too. Gives the number of sources purged.
    pub fn purge_removed(&self, age: Duration) -> Result<u32> {
        todo!()
    }

    /// Closed sources, latest first, at most 20.
    pub fn recent(&self) -> Result<Vec<ClosedSource>> {
        todo!()
    }

    /// What was read from a source.
    pub fn source_counts(&self, source: SourceId) -> Result<SourceCounts> {
        todo!()
    }
}
