//! Texts that many rows share: lists of test ids and change requests stand once in the database.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::{Connection, OptionalExtension};

use crate::Result;
use crate::schema::Migration;

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    sql: "
-- The ids of the tests of a suite, a JSON list. Attempts refer to it and hold one letter a test.
CREATE TABLE suite (
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX suite_by_hash ON suite (hash);

-- A change request. Runs that play the same scenario share it.
CREATE TABLE request (
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  body TEXT NOT NULL,
  -- Whether the full-text search knows it.
  indexed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX request_by_hash ON request (hash);
CREATE INDEX request_to_index ON request (id) WHERE indexed = 0;
",
}];

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Table {
    Suite,
    Request,
}

/// Most bytes of text that are remembered to save looking them up.
const REMEMBERED_BYTES: usize = 32 * 1024 * 1024;

/// Rows that this process wrote or found lately.
#[derive(Debug, Default)]
pub(crate) struct Interned {
    known: HashMap<(Table, u64), (i64, Box<str>)>,
    bytes: usize,
}

impl Interned {
    /// Forgets everything, because the database changed otherwise.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.bytes = 0;
    }

    /// The row of a text; made if it is not there.
    pub(crate) fn row(&mut self, conn: &Connection, table: Table, body: &str) -> Result<i64> {
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let hash = hasher.finish();
        if let Some((id, known)) = self.known.get(&(table, hash))
            && **known == *body
        {
            return Ok(*id);
        }
        let (find, add) = match table {
            Table::Suite => (
                "SELECT id FROM suite WHERE hash = ?1 AND body = ?2",
                "INSERT INTO suite (hash, body) VALUES (?1, ?2)",
            ),
            Table::Request => (
                "SELECT id FROM request WHERE hash = ?1 AND body = ?2",
                "INSERT INTO request (hash, body) VALUES (?1, ?2)",
            ),
        };
        let values = (hash.cast_signed(), body);
        let found = conn.prepare_cached(find)?.query_row(values, |row| row.get(0)).optional()?;
        let id = match found {
            Some(id) => id,
            None => conn.prepare_cached(add)?.insert(values)?,
        };
        if self.bytes + body.len() > REMEMBERED_BYTES {
            self.forget();
        }
        if body.len() <= REMEMBERED_BYTES
            && let None = self.known.insert((table, hash), (id, body.into()))
        {
            self.bytes += body.len();
        }
        Ok(id)
    }
}

/// Deletes texts that no row refers to any more.
pub(crate) fn delete_unused(conn: &Connection) -> Result<()> {
    conn.execute(
        "DELETE FROM suite WHERE NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.suite = suite.id)",
        [],
    )?;
    conn.execute(
        "DELETE FROM request WHERE NOT EXISTS (SELECT 1 FROM turn WHERE turn.request = request.id)",
        [],
    )?;
    Ok(())
}
