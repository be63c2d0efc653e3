//! The errors of the store.

use std::path::PathBuf;

/// An error of the store. A missing row is `None`, not an error.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database was written by a later version of the program.
    #[error(
        "The library {path} was written by a newer version of Stamina Lab (layout {found}; this version knows up to {known}). Use the newer version, or another file with --db."
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its `user_version`.
        found: i64,
        /// The latest layout that this program knows.
        known: i64,
    },
    /// The file is a database of something else, or no database.
    #[error("{path} is not a library of Stamina Lab. Choose another file; this one was left as it is.")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The folder of the database cannot be created or written.
    #[error("The library {path} cannot be opened: {source}")]
    Folder {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file or its folder cannot be written, and the operation writes.
    #[error(
        "The library {path} cannot be written, so it can only be looked at. Make the file and its folder writable, or choose another file with --db."
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Another process wrote for longer than the program waits.
    #[error("The library is in use by another program and did not become free within 5 s. Try again.")]
    Busy,
    /// A value in the database that this program never writes.
    #[error("The library holds something that cannot be read: {0}")]
    Damaged(String),
    /// There is no open source of this number.
    #[error("There is no source number {0} in the library")]
    NoSource(crate::SourceId),
    /// An error of SQLite.
    #[error("The library cannot be read or written: {0}")]
    Sqlite(rusqlite::Error),
}

impl StoreError {
    /// A stable, dotted code for callers and scripts: `store.newer`, `store.busy`, …
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Newer { .. } => "store.newer",
            Self::Foreign { .. } => "store.foreign",
            Self::Folder { .. } => "store.folder",
            Self::ReadOnly { .. } => "store.read_only",
            Self::Busy => "store.busy",
            Self::Damaged(_) => "store.damaged",
            Self::NoSource(_) => "source.not_found",
            Self::Sqlite(_) => "store.failed",
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}
