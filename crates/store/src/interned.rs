//! Texts that many rows share: the database stores each list of test ids and each change request once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::{Connection, OptionalExtension};

use crate::Result;
use crate::migration::Migration;
use crate::values::json;

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
enum Table {
    Suite,
    Request,
}

/// Most bytes of text in the cache of known rows.
const REMEMBERED_BYTES: usize = 32 * 1024 * 1024;

/// A cache of rows that this process wrote or found, by a hash of their parts. An import finds the same suite and the same
/// request in every run.
#[derive(Debug, Default)]
pub(crate) struct InternedRows {
    rows: HashMap<(Table, u64), InternedRow>,
    bytes: usize,
}

/// A row and its parts.
#[derive(Debug)]
struct InternedRow {
    id: i64,
    text: String,
    ends: Vec<usize>,
}

impl InternedRow {
    fn matches(&self, parts: &[&str]) -> bool {
        let mut begin = 0;
        self.ends.len() == parts.len()
            && self.ends.iter().zip(parts).all(|(end, part)| {
                let same = self.text.get(begin..*end) == Some(*part);
                begin = *end;
                same
            })
    }
}

impl InternedRows {
    /// Clears the cache, because another connection changed the database.
    pub(crate) fn forget(&mut self) {
        self.rows.clear();
        self.bytes = 0;
    }

    /// The row of a change request. A missing row is inserted.
    pub(crate) fn request(&mut self, conn: &Connection, text: &str) -> Result<i64> {
        self.row(conn, Table::Request, &[text], || Ok(Cow::Borrowed(text)))
    }

    /// The row of a list of test ids. A missing row is inserted.
    pub(crate) fn suite(&mut self, conn: &Connection, ids: &[&str]) -> Result<i64> {
        self.row(conn, Table::Suite, ids, || json(&ids).map(Cow::Owned))
    }

    fn row<'a>(
        &mut self,
        conn: &Connection,
        table: Table,
        parts: &[&str],
        body: impl FnOnce() -> Result<Cow<'a, str>>,
    ) -> Result<i64> {
        let key = (table, hash(parts));
        if let Some(row) = self.rows.get(&key)
            && row.matches(parts)
        {
            return Ok(row.id);
        }
        let id = find_or_add(conn, table, &body()?)?;
        let bytes: usize = parts.iter().map(|part| part.len() + size_of::<usize>()).sum();
        if self.bytes + bytes > REMEMBERED_BYTES {
            self.forget();
        }
        if bytes <= REMEMBERED_BYTES {
            let ends = parts.iter().scan(0, |end, part| {
                *end += part.len();
                Some(*end)
            });
            let row = InternedRow { id, text: parts.concat(), ends: ends.collect() };
            if self.rows.insert(key, row).is_none() {
                self.bytes += bytes;
            }
        }
        Ok(id)
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The row of a text in the database. Texts with the same hash are compared.
fn find_or_add(conn: &Connection, table: Table, body: &str) -> Result<i64> {
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
    let values = (hash(body).cast_signed(), body);
    let found = conn.prepare_cached(find)?.query_row(values, |row| row.get(0)).optional()?;
    match found {
        Some(id) => Ok(id),
        None => Ok(conn.prepare_cached(add)?.insert(values)?),
    }
}

/// Deletes texts without a reference.
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
