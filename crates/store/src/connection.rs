//! The connections: one that writes, a few that read.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::interned::Interned;
use crate::{Result, StoreError, schema};

/// How long a write waits for another process.
const BUSY: Duration = Duration::from_secs(5);

/// Connections kept open for readers. More may exist for a moment; they are closed after use.
const READERS: usize = 4;

/// The library: every opened source, its runs, and what a user wrote beside them.
pub struct Store {
    /// `None` = in memory: there is one connection, which also reads.
    path: Option<PathBuf>,
    writer: Mutex<Writer>,
    readers: Mutex<Vec<Connection>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

struct Writer {
    conn: Connection,
    interned: Interned,
    /// `PRAGMA data_version`: changes when another connection wrote, so that `interned` can not be trusted.
    seen: i64,
}

/// A write transaction with what is known of the database meanwhile.
pub(crate) struct Write<'a> {
    pub tx: Transaction<'a>,
    pub interned: &'a mut Interned,
}

impl Store {
    /// Opens the library at `path`; makes it, and its folder, if it is not there. Several processes may do so at once.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|source| StoreError::Folder { path: path.to_path_buf(), source })?;
        }
        let conn = patiently(|| {
            let mut conn = Connection::open(path)?;
            conn.busy_timeout(BUSY)?;
            schema::check(&conn, path)?;
            set_up_writer(&conn)?;
            schema::migrate(&mut conn)?;
            Ok(conn)
        })?;
        Ok(Self::over(conn, Some(path.to_path_buf())))
    }

    /// A library that lives as long as this value; for tests and one-off commands.
    pub fn in_memory() -> Result<Self> {
        let mut conn = Connection::open_in_memory()?;
        set_up_writer(&conn)?;
        schema::migrate(&mut conn)?;
        Ok(Self::over(conn, None))
    }

    fn over(conn: Connection, path: Option<PathBuf>) -> Self {
        let writer = Writer { conn, interned: Interned::default(), seen: 0 };
        Self { path, writer: Mutex::new(writer), readers: Mutex::new(Vec::new()) }
    }

    /// Runs `f` in one write transaction; an error takes everything back.
    pub(crate) fn write<T>(&self, f: impl FnOnce(&mut Write<'_>) -> Result<T>) -> Result<T> {
        let mut writer = lock(&self.writer);
        let Writer { conn, interned, seen } = &mut *writer;
        let tx = Transaction::new(conn, TransactionBehavior::Immediate)?;
        let now: i64 = tx.pragma_query_value(None, "data_version", |row| row.get(0))?;
        if now != *seen {
            interned.forget();
            *seen = now;
        }
        let result = {
            let mut write = Write { tx, interned: &mut *interned };
            match f(&mut write) {
                Ok(value) => write.tx.commit().map(|()| value).map_err(StoreError::from),
                Err(error) => Err(error),
            }
        };
        if result.is_err() {
            // It may name rows that the transaction took with it.
            interned.forget();
        }
        result
    }

    /// Runs `f` on one unchanging snapshot.
    pub(crate) fn read<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let Some(path) = &self.path else {
            let writer = lock(&self.writer);
            let tx = writer.conn.unchecked_transaction()?;
            return f(&tx);
        };
        let pooled = lock(&self.readers).pop();
        let conn = match pooled {
            Some(conn) => conn,
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

/// A panic while the lock was held has already taken its transaction back; the connection is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set_up_writer(conn: &Connection) -> Result<()> {
    // "memory" in memory; where the file system can not do WAL, SQLite stays with a rollback journal.
    let _mode: String = conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    conn.pragma_update(None, "synchronous", "normal")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "cache_size", -32_768)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    conn.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    conn.set_prepared_statement_cache_capacity(128);
    Ok(())
}

fn open_reader(path: &Path) -> Result<Connection> {
    // Not read-only: SQLite then could not take part in WAL. `query_only` forbids writing just as well.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(BUSY)?;
    conn.pragma_update(None, "query_only", true)?;
    conn.pragma_update(None, "cache_size", -16_384)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    conn.set_prepared_statement_cache_capacity(128);
    Ok(conn)
}

/// Tries again while another process has the file for itself. SQLite's own patience does not cover the change to WAL.
fn patiently<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Err(StoreError::Busy) if begin.elapsed() < BUSY => std::thread::sleep(Duration::from_millis(10)),
            other => return other,
        }
    }
}
