//! Sources: opened and closed folders and zips.

use std::time::Duration;

use model::WarningCounts;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::migration::Migration;
use crate::values::count_or_zero;
use crate::{Result, SourceId, Store, cached_input, changes, import_report, interned, omitted_counts, rows};

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sql: "
CREATE TABLE source (
  -- never used twice: links hold it
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  zip INTEGER NOT NULL,
  format TEXT NOT NULL DEFAULT '',
  -- whether the last reading came to its end, and why not
  complete INTEGER NOT NULL DEFAULT 0,
  message TEXT,
  survey_files_read INTEGER NOT NULL DEFAULT 0,
  opened_at TEXT NOT NULL,
  -- NULL = open
  closed_at TEXT
) STRICT;
",
    },
    Migration {
        version: 8,
        sql: "
-- the process that reads it and may end over it; NULL = none
ALTER TABLE source ADD COLUMN reader TEXT;
-- whether a process ended while it read it, so that it is not read again unasked
ALTER TABLE source ADD COLUMN set_aside INTEGER NOT NULL DEFAULT 0;
",
    },
    Migration {
        version: 14,
        sql: "
-- the table that a program made of it, which is read in its place; NULL = it is read as it lies
ALTER TABLE source ADD COLUMN imported TEXT;
",
    },
];

/// SQL: the time as RFC 3339 in UTC with a constant length, so that texts sort like times.
const SQL_NOW: &str = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

/// How many closed sources are remembered.
const RECENT_SOURCES: u32 = 20;

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
    /// Whether the last reading was complete.
    pub complete: bool,
    /// Why the last reading was not complete.
    pub message: Option<String>,
    /// Whether a process ended while it read the source. Such a source is not read again until a user asks for it.
    pub set_aside: bool,
    /// Runs in it.
    pub runs: u32,
    /// Entries of its import report.
    pub warnings: u64,
    /// The same by severity.
    pub severities: WarningCounts,
    /// RFC 3339, UTC.
    pub opened_at: String,
}

/// A closed source.
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

/// Counts of what was read from a source.
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

/// The columns that [`read_source`] reads.
fn columns() -> String {
    format!(
        "id, path, name, zip, format, complete, message, opened_at,
  (SELECT count(*) FROM run WHERE run.source = source.id),
  (SELECT {} FROM warning WHERE warning.source = source.id), set_aside, {}",
        import_report::by_severity(),
        omitted_counts::unlisted_counts("not_kept.source = source.id")
    )
}

fn read_source(row: &Row<'_>) -> Result<Source> {
    let mut severities = import_report::read_counts(row, 9)?;
    severities += omitted_counts::read_counts(row, 11)?;
    Ok(Source {
        id: row.get(0)?,
        path: row.get(1)?,
        name: row.get(2)?,
        zip: row.get(3)?,
        format: row.get(4)?,
        complete: row.get(5)?,
        message: row.get(6)?,
        opened_at: row.get(7)?,
        runs: row.get(8)?,
        warnings: severities.total(),
        severities,
        set_aside: row.get(10)?,
    })
}

/// Changes a row of `source` and logs it. A missing row is an error. The statement changes only a row that differs, so
/// that reading an unchanged source again logs no change.
fn update(conn: &Connection, source: SourceId, sql: &str, value: Option<&str>) -> Result<()> {
    if conn.prepare_cached(sql)?.execute((source, value))? > 0 {
        changes::log_source(conn, source)?;
        return Ok(());
    }
    rows::address(conn, source).map(drop)
}

/// A time so long before now, as functions of time in SQLite take it.
fn time_modifier(age: Duration) -> String {
    format!("-{} seconds", age.as_secs())
}

impl Store {
    /// Opens a source, or opens a closed source again. Its number stays the same for one path. What was read before is still
    /// there, unless it was purged.
    pub fn put_source(&self, path: &str, name: &str, zip: bool) -> Result<SourceId> {
        self.write(|write| {
            let conn = &write.tx;
            let sql = format!(
                "INSERT INTO source (path, name, zip, opened_at) VALUES (?1, ?2, ?3, {SQL_NOW})
                 ON CONFLICT (path) DO UPDATE SET name = ?2, zip = ?3, closed_at = NULL,
                   imported = iif(closed_at IS NULL, imported, NULL),
                   opened_at = iif(closed_at IS NULL, opened_at, excluded.opened_at)
                 WHERE (name, zip, closed_at) IS NOT (?2, ?3, NULL)"
            );
            let changed = conn.prepare_cached(&sql)?.execute((path, name, zip))?;
            let id = conn
                .prepare_cached("SELECT id FROM source WHERE path = ?1")?
                .query_row([path], |row| row.get(0))?;
            if changed > 0 {
                changes::log_source(conn, id)?;
            }
            Ok(id)
        })
    }

    /// The table that a program made from the source at a path; `None` = the source is read directly, or is not open.
    pub fn imported_table(&self, path: &str) -> Result<Option<String>> {
        self.read(|conn| {
            let mut find =
                conn.prepare_cached("SELECT imported FROM source WHERE path = ?1 AND closed_at IS NULL")?;
            Ok(find.query_row([path], |row| row.get(0)).optional()?.flatten())
        })
    }

    /// The tables that programs made from sources that are open, or were closed less than `age` ago.
    pub fn imported_tables(&self, age: Duration) -> Result<Vec<String>> {
        self.read(|conn| {
            let mut find = conn.prepare(
                "SELECT imported FROM source WHERE imported IS NOT NULL
                   AND (closed_at IS NULL OR closed_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?1))",
            )?;
            let rows = find.query_map([time_modifier(age)], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Records the table that a program made from a source. Opening the source again after closing it deletes the record.
    pub fn set_imported(&self, source: SourceId, table: &str) -> Result<()> {
        self.write(|write| {
            update(
                &write.tx,
                source,
                "UPDATE source SET imported = ?2 WHERE id = ?1 AND imported IS NOT ?2",
                Some(table),
            )
        })
    }

    /// Records the recognized formats of a source (names, joined with `, `).
    pub fn set_source_format(&self, source: SourceId, format: &str) -> Result<()> {
        self.write(|write| {
            update(
                &write.tx,
                source,
                "UPDATE source SET format = ?2 WHERE id = ?1 AND format <> ?2",
                Some(format),
            )
        })
    }

    /// Records that the reading is complete (`None`), or why it stopped before.
    pub fn set_source_read(&self, source: SourceId, stopped: Option<&str>) -> Result<()> {
        let sql = "UPDATE source SET complete = ?2 IS NULL, message = ?2
          WHERE id = ?1 AND (complete, message) IS NOT (?2 IS NULL, ?2)";
        self.write(|write| update(&write.tx, source, sql, stopped))
    }

    /// Records which process starts to read a source. If the process ends during the reading, a later one can tell. The source
    /// is no longer set aside.
    pub fn begin_reading(&self, source: SourceId, process: &str) -> Result<()> {
        self.write(|write| {
            let sql = "UPDATE source SET reader = ?2, set_aside = 0 WHERE id = ?1";
            write.tx.prepare_cached(sql)?.execute((source, process))?;
            Ok(())
        })
    }

    /// Records that the reading of a source has ended, with or without success.
    pub fn end_reading(&self, source: SourceId) -> Result<()> {
        self.write(|write| {
            write.tx.prepare_cached("UPDATE source SET reader = NULL WHERE id = ?1")?.execute([source])?;
            Ok(())
        })
    }

    /// Records that a process reads nothing any more. Call it when the process exits properly.
    pub fn end_readings(&self, process: &str) -> Result<()> {
        self.write(|write| {
            write
                .tx
                .prepare_cached("UPDATE source SET reader = NULL WHERE reader = ?1")?
                .execute([process])?;
            Ok(())
        })
    }

    /// The sources that are being read, each with its process.
    pub fn readings(&self) -> Result<Vec<(SourceId, String)>> {
        self.read(|conn| {
            let mut find =
                conn.prepare_cached("SELECT id, reader FROM source WHERE reader IS NOT NULL ORDER BY id")?;
            let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Sets a source aside whose process ended while it read the source.
    pub fn set_aside(&self, source: SourceId) -> Result<()> {
        let sql = "UPDATE source SET set_aside = 1, reader = NULL, complete = 0, message = ?2 WHERE id = ?1";
        self.write(|write| update(&write.tx, source, sql, None))
    }

    /// The open sources, by name.
    pub fn sources(&self) -> Result<Vec<Source>> {
        self.read(|conn| {
            let sql = format!(
                "SELECT {} FROM source WHERE closed_at IS NULL ORDER BY name COLLATE NOCASE, path",
                columns()
            );
            let mut find = conn.prepare_cached(&sql)?;
            find.query_and_then([], read_source)?.collect()
        })
    }

    /// An open source.
    pub fn source(&self, source: SourceId) -> Result<Option<Source>> {
        self.read(|conn| {
            let sql = format!("SELECT {} FROM source WHERE id = ?1 AND closed_at IS NULL", columns());
            let mut find = conn.prepare_cached(&sql)?;
            find.query_and_then([source], read_source)?.next().transpose()
        })
    }

    /// Closes a source. Its data stays until [`Store::purge_removed`], so that [`Store::restore_source`] is fast.
    pub fn remove_source(&self, source: SourceId) -> Result<()> {
        let sql = format!(
            "UPDATE source SET closed_at = coalesce(?2, {SQL_NOW}) WHERE id = ?1 AND closed_at IS NULL"
        );
        self.write(|write| {
            update(&write.tx, source, &sql, None)?;
            // Only this source may have proved the meaning of the tokens of other runs.
            cached_input::settle(&write.tx)
        })
    }

    /// Reverts [`Store::remove_source`]. If the data was purged meanwhile, the source is open and empty.
    pub fn restore_source(&self, source: SourceId) -> Result<()> {
        self.write(|write| {
            update(
                &write.tx,
                source,
                "UPDATE source SET closed_at = ?2 WHERE id = ?1 AND closed_at IS NOT ?2",
                None,
            )?;
            cached_input::settle(&write.tx)
        })
    }

    /// Deletes the data of sources that were closed at least `age` ago. Their paths stay in [`Store::recent`], and the tags and
    /// notes of their runs stay too. Returns the number of purged sources.
    pub fn purge_removed(&self, age: Duration) -> Result<u32> {
        let due = "SELECT id FROM source WHERE closed_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?1) AND (
               EXISTS (SELECT 1 FROM run WHERE run.source = source.id)
               OR EXISTS (SELECT 1 FROM part WHERE part.source = source.id)
               OR EXISTS (SELECT 1 FROM warning WHERE warning.source = source.id))";
        let mut purged = 0;
        // One run per transaction, so that no other writer waits until a whole library is deleted.
        loop {
            let done = self.write(|write| {
                let conn = &write.tx;
                let Some(source) = conn
                    .prepare_cached(due)?
                    .query_row([time_modifier(age)], |row| row.get::<_, SourceId>(0))
                    .optional()?
                else {
                    return Ok(true);
                };
                let run = conn
                    .prepare_cached("SELECT id FROM run WHERE source = ?1 LIMIT 1")?
                    .query_row([source], |row| row.get(0))
                    .optional()?;
                if let Some(run) = run {
                    rows::delete(conn, run)?;
                } else {
                    conn.execute("DELETE FROM part WHERE source = ?1", [source])?;
                    conn.execute("DELETE FROM warning WHERE source = ?1", [source])?;
                    conn.execute("DELETE FROM not_kept WHERE source = ?1", [source])?;
                    conn.execute(
                        "UPDATE source SET complete = 0, message = NULL, survey_files_read = 0 WHERE id = ?1",
                        [source],
                    )?;
                    purged += 1;
                }
                Ok(false)
            })?;
            if done {
                break;
            }
        }
        self.write(|write| {
            if purged > 0 {
                interned::delete_unused(&write.tx)?;
                write.interned.forget();
            }
            // A mark that moves needs to know when its source was closed.
            write.tx.execute(
                "DELETE FROM source WHERE closed_at IS NOT NULL
                   AND NOT EXISTS (SELECT 1 FROM run WHERE run.source = source.id)
                   AND NOT EXISTS (SELECT 1 FROM run_slug WHERE run_slug.path = source.path AND
                     (run_slug.id IN (SELECT run FROM withdrawn) OR run_slug.id IN (SELECT run FROM withdrawn_episode)))
                   AND id NOT IN (SELECT id FROM source WHERE closed_at IS NOT NULL
                                  ORDER BY closed_at DESC, id DESC LIMIT ?1)",
                [RECENT_SOURCES],
            )?;
            Ok(purged)
        })
    }

    /// Closed sources, latest first, at most 20.
    pub fn recent(&self) -> Result<Vec<ClosedSource>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT id, path, name, zip, closed_at FROM source WHERE closed_at IS NOT NULL
                 ORDER BY closed_at DESC, id DESC LIMIT ?1",
            )?;
            let rows = find.query_map([RECENT_SOURCES], |row| {
                Ok(ClosedSource {
                    id: row.get(0)?,
                    path: row.get(1)?,
                    name: row.get(2)?,
                    zip: row.get(3)?,
                    closed_at: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Counts of what was read from a source.
    pub fn source_counts(&self, source: SourceId) -> Result<SourceCounts> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT
                   (SELECT count(*) FROM run WHERE source = ?1),
                   count(*), total(reached_turns), total(max(known_turns - reached_turns, 0)), total(attempts),
                   (SELECT coalesce(sum(files_read), 0) FROM part WHERE source = ?1)
                     + (SELECT survey_files_read FROM source WHERE id = ?1),
                   (SELECT count(*) FROM warning WHERE source = ?1)
                     + (SELECT coalesce(sum(notes + repairs + warnings), 0) FROM not_kept WHERE source = ?1)
                 FROM episode JOIN run ON run.id = episode.run WHERE run.source = ?1",
            )?;
            let counts = find.query_row([source], |row| {
                Ok(SourceCounts {
                    runs: row.get(0)?,
                    episodes: row.get(1)?,
                    turns: row.get::<_, f64>(2)? as u64,
                    not_reached: row.get::<_, f64>(3)? as u64,
                    attempts: row.get::<_, f64>(4)? as u64,
                    files_read: count_or_zero(row, 5)?,
                    warnings: count_or_zero(row, 6)?,
                })
            })?;
            Ok(counts)
        })
    }
}
