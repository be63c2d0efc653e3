//! The connections: one that writes and a few that read.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use model::lock;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::interned::InternedRows;
use crate::latest_answer::LatestAnswer;
use crate::write::Write;
use crate::{Result, RunId, StoreError, schema};

/// How long a write waits for another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Connections kept open for readers. More may exist for a moment; they are closed after use.
const READERS: usize = 4;

/// The library: every opened source, its runs, and the notes of the user.
pub struct Store {
    /// `None` = in memory: there is one connection, which also reads.
    path: Option<PathBuf>,
    /// `None` = the file cannot be written, and the pool has the only connection.
    writer: Option<Mutex<Writer>>,
    readers: Mutex<Vec<Connection>>,
    pub(crate) latest_runs_with_copies: LatestAnswer<BTreeSet<RunId>>,
    pub(crate) latest_undecided_copies: LatestAnswer<Vec<Vec<(RunId, String)>>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

struct Writer {
    conn: Connection,
    interned: InternedRows,
    /// `PRAGMA data_version`. It changes when another connection writes, which makes `interned` invalid.
    data_version: i64,
}

impl Store {
    /// Opens the library at `path`, and creates it and its folder if they are missing. Several processes may do so at once.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|source| StoreError::Folder { path: path.to_path_buf(), source })?;
        }
        let opened = retry_while_busy(|| {
            let mut conn = Connection::open(path)?;
            conn.busy_timeout(BUSY_TIMEOUT)?;
            schema::check(&conn, path)?;
            set_up_writer(&conn)?;
            schema::migrate(&mut conn)?;
            Ok(conn)
        });
        match opened {
            Ok(conn) => Ok(Self::from_connection(conn, Some(path.to_path_buf()))),
            Err(StoreError::Sqlite(error)) if is_about_writing(&error) && path.is_file() => {
                Self::open_read_only(path)
            }
            Err(error) => Err(error),
        }
    }

    /// Opens a library that cannot be written, as it was when a program last closed it properly.
    fn open_read_only(path: &Path) -> Result<Self> {
        let reader = open_unwritable(path)?;
        schema::check_current(&reader, path)?;
        Ok(Self {
            path: Some(path.to_path_buf()),
            writer: None,
            readers: Mutex::new(vec![reader]),
            latest_runs_with_copies: LatestAnswer::default(),
            latest_undecided_copies: LatestAnswer::default(),
        })
    }

    /// The path of the library; `None` = in memory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether the library can only be read.
    pub fn is_read_only(&self) -> bool {
        self.writer.is_none()
    }

    /// A library that lives as long as this value. It is for tests, which several crates have, and so it is public.
    pub fn in_memory() -> Result<Self> {
        let mut conn = Connection::open_in_memory()?;
        set_up_writer(&conn)?;
        schema::migrate(&mut conn)?;
        Ok(Self::from_connection(conn, None))
    }

    fn from_connection(conn: Connection, path: Option<PathBuf>) -> Self {
        let writer = Writer { conn, interned: InternedRows::default(), data_version: 0 };
        Self {
            path,
            writer: Some(Mutex::new(writer)),
            readers: Mutex::new(Vec::new()),
            latest_runs_with_copies: LatestAnswer::default(),
            latest_undecided_copies: LatestAnswer::default(),
        }
    }

    /// Runs `f` in one write transaction. An error rolls it back.
    pub(crate) fn write<T>(&self, f: impl FnOnce(&mut Write<'_>) -> Result<T>) -> Result<T> {
        let Some(writer) = &self.writer else {
            return Err(StoreError::ReadOnly { path: self.path.clone().unwrap_or_default() });
        };
        let mut writer = lock(writer);
        let Writer { conn, interned, data_version } = &mut *writer;
        let tx = Transaction::new(conn, TransactionBehavior::Immediate)?;
        let now: i64 = tx.pragma_query_value(None, "data_version", |row| row.get(0))?;
        if now != *data_version {
            interned.forget();
            *data_version = now;
        }
        let result = {
            let mut write = Write { tx, interned: &mut *interned };
            match f(&mut write) {
                Ok(value) => write.tx.commit().map(|()| value).map_err(StoreError::from),
                Err(error) => Err(error),
            }
        };
        if result.is_err() {
            // The cache may name rows that the rollback removed.
            interned.forget();
        }
        result
    }

    /// Runs `f` on one unchanging snapshot.
    pub(crate) fn read<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let path = match (&self.path, &self.writer) {
            (Some(path), _) => path,
            (None, Some(writer)) => {
                let writer = lock(writer);
                let tx = writer.conn.unchecked_transaction()?;
                return f(&tx);
            }
            (None, None) => return Err(StoreError::ReadOnly { path: PathBuf::new() }),
        };
        let pooled = lock(&self.readers).pop();
        let conn = match pooled {
            Some(conn) => conn,
            None if self.is_read_only() => open_unwritable(path)?,
            None => open_reader(path)?,
        };
        let result = {
            let tx = conn.unchecked_transaction()?;
            f(&tx)
        };
        let mut readers = lock(&self.readers);
        if readers.len() < READERS {
            readers.push(conn);
        }
        result
    }
}

/// Bytes of a page of a new library. Larger pages than SQLite's own are half as many to write twice, and hold longer rows whole.
const PAGE_BYTES: i64 = 8192;

/// Pages in the log from which on they are copied into the library: 32 MB, or 16 of a library with pages of 4 KB. Fewer would
/// copy the pages that each part changes again and again.
const LOGGED_PAGES: i64 = 4_000;

fn set_up_writer(conn: &Connection) -> Result<()> {
    // Before anything else: an existing file keeps its pages.
    conn.pragma_update(None, "page_size", PAGE_BYTES)?;
    // It answers "memory" in memory. Without support of the file system for WAL, SQLite keeps a rollback journal.
    let _mode: String = conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    conn.pragma_update(None, "synchronous", "normal")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "cache_size", -32_768)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    conn.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    conn.pragma_update(None, "wal_autocheckpoint", LOGGED_PAGES)?;
    conn.set_prepared_statement_cache_capacity(128);
    Ok(())
}

fn open_reader(path: &Path) -> Result<Connection> {
    // A read-only connection could not use WAL. `query_only` forbids writing as well.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.pragma_update(None, "query_only", true)?;
    conn.pragma_update(None, "cache_size", -16_384)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    conn.set_prepared_statement_cache_capacity(128);
    Ok(conn)
}

/// Whether the error is that the file, or a file beside it, cannot be written or created.
fn is_about_writing(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
    matches!(error.sqlite_error_code(), Some(ReadOnly | CannotOpen | PermissionDenied))
}

/// Opens a file without permission to write. With `immutable`, SQLite does not need the files of WAL beside it, but may
/// miss what another machine writes meanwhile.
fn open_unwritable(path: &Path) -> Result<Connection> {
    let absolute = std::path::absolute(path)
        .map_err(|source| StoreError::Folder { path: path.to_path_buf(), source })?;
    // Only these characters have a meaning in a URI.
    let escaped: String = absolute
        .to_string_lossy()
        .chars()
        .map(|c| match c {
            '%' => "%25".to_owned(),
            '?' => "%3f".to_owned(),
            '#' => "%23".to_owned(),
            other => other.to_string(),
        })
        .collect();
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    conn.set_prepared_statement_cache_capacity(128);
    Ok(conn)
}

/// Retries while another process holds the file exclusively. The busy time-out of SQLite does not cover the change to WAL.
fn retry_while_busy<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Err(StoreError::Busy) if begin.elapsed() < BUSY_TIMEOUT => {
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunFilter;

    #[test]
    fn a_library_that_cannot_be_written_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a %41#?.sqlite");
        Store::open(&path).unwrap().put_source("/data/results", "results", false).unwrap();
        let store = Store::open_read_only(&path).unwrap();
        assert!(store.is_read_only());
        assert_eq!(store.sources().unwrap().len(), 1);
        assert_eq!(store.list_runs(&RunFilter::default()).unwrap().total, 0);
        let refused = store.put_source("/data/more", "more", false).unwrap_err();
        assert_eq!(refused.code(), "store.read_only");
        assert!(refused.to_string().contains("--db"), "{refused}");
        // No file is created beside it, and an older layout is refused.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let conn = Connection::open(&path).unwrap();
        conn.pragma_update(None, "user_version", 1).unwrap();
        drop(conn);
        assert_eq!(Store::open_read_only(&path).unwrap_err().code(), "store.read_only");
    }
}
