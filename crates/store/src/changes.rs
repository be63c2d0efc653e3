//! The change log: how one process sees what another wrote to the same file.
//!
//! Every write adds a row in its own transaction, so a number that a reader sees belongs to a write that it sees too.
//! Only the latest change of each (source, run) is kept: the log does not grow, and no change is lost by trimming.

use rusqlite::Connection;

use crate::migration::Migration;
use crate::{Result, SourceId, Store};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    sql: "
CREATE TABLE change_log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 0 = the policy
  source INTEGER NOT NULL,
  -- run_slug.id, so that a deleted run can still be named; 0 = the source itself
  run INTEGER NOT NULL,
  UNIQUE (source, run)
) STRICT;
",
}];

/// What changed after a change number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Number of the last change.
    pub last: u64,
    /// Sources that changed, or whose runs did.
    pub sources: Vec<SourceId>,
    /// Slugs of runs that changed, were added or were deleted.
    pub runs: Vec<String>,
    /// Whether the policy changed.
    pub policy: bool,
}

/// Logs a change of a source.
pub(crate) fn log_source(conn: &Connection, source: SourceId) -> Result<i64> {
    log(conn, source, 0)
}

/// Logs a change of a run, by its row in `run_slug`. Returns the number of the change.
pub(crate) fn log_run(conn: &Connection, source: SourceId, slug: i64) -> Result<i64> {
    log(conn, source, slug)
}

/// Logs a change of the policy. Returns the number of the change.
pub(crate) fn log_policy(conn: &Connection) -> Result<i64> {
    log(conn, 0, 0)
}

fn log(conn: &Connection, source: SourceId, run: i64) -> Result<i64> {
    Ok(conn
        .prepare_cached("INSERT OR REPLACE INTO change_log (source, run) VALUES (?1, ?2)")?
        .insert((source, run))?)
}

fn last(conn: &Connection) -> Result<u64> {
    let seq: Option<i64> =
        conn.prepare_cached("SELECT max(seq) FROM change_log")?.query_row([], |row| row.get(0))?;
    Ok(seq.and_then(|seq| u64::try_from(seq).ok()).unwrap_or(0))
}

impl Store {
    /// Number of the last change; 0 in a new library.
    pub fn last_change(&self) -> Result<u64> {
        self.read(last)
    }

    /// What any process changed after the change number `number`.
    pub fn changes_since(&self, number: u64) -> Result<Changes> {
        self.read(|conn| {
            let last = last(conn)?;
            // A number above the last one belongs to another library, so everything is new.
            let number = if number > last { 0 } else { crate::values::int(number) };
            let mut changes = Changes { last, ..Changes::default() };
            let mut find = conn.prepare_cached(
                "SELECT source, slug FROM change_log LEFT JOIN run_slug ON run_slug.id = change_log.run
                 WHERE seq > ?1 ORDER BY seq",
            )?;
            let mut rows = find.query([number])?;
            while let Some(row) = rows.next()? {
                match row.get(0)? {
                    0 => changes.policy = true,
                    source if changes.sources.contains(&source) => {}
                    source => changes.sources.push(source),
                }
                changes.runs.extend(row.get::<_, Option<String>>(1)?);
            }
            Ok(changes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::log_source;
    use crate::Store;

    #[test]
    fn a_reader_sees_each_change_once() {
        let store = Store::in_memory().unwrap();
        assert_eq!(store.last_change().unwrap(), 0);
        let source = store.put_source("/data/a", "a", false).unwrap();
        let first = store.changes_since(0).unwrap();
        assert_eq!(first.sources, [source]);
        assert!(!first.policy && first.runs.is_empty());
        assert_eq!(store.changes_since(first.last).unwrap().sources, [0_i64; 0]);

        for _ in 0..2 {
            store.write(|write| log_source(&write.tx, source)).unwrap();
        }
        let second = store.changes_since(first.last).unwrap();
        assert_eq!(second.sources, [source]);
        assert_eq!(second.last, first.last + 2);
        assert_eq!(store.changes_since(second.last + 100).unwrap().sources, [source]);
    }
}
