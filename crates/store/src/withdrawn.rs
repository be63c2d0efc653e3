//! Withdrawn runs: a user has marked them as invalid, with a reason. They stay in the library with their mark and are left
//! out wherever runs are taken together. The mark hangs on a run's slug, so it survives re-reading, closing and purging.

use rusqlite::Connection;

use crate::schema::Migration;
use crate::{Result, Store, changes, slugs};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 11,
    sql: "
CREATE TABLE withdrawn (
  run INTEGER PRIMARY KEY REFERENCES run_slug (id) ON DELETE CASCADE,
  reason TEXT NOT NULL
) STRICT;
",
}];

/// A condition on `run`: it is not withdrawn.
pub(crate) const VALID: &str = "NOT EXISTS (SELECT 1 FROM withdrawn WHERE withdrawn.run = run.slug)";

impl Store {
    /// Marks runs as invalid for this reason, or takes the mark away (`None`). Slugs that no run ever had are passed over.
    pub fn withdraw(&self, runs: &[String], reason: Option<&str>) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            for slug in runs {
                let Some((run, source)) = slugs::find(conn, slug)? else { continue };
                mark(conn, run, reason)?;
                if let Some(source) = source {
                    changes::log_run(conn, source, run)?;
                }
            }
            Ok(())
        })
    }
}

/// Marks a run (by the id of its slug), or takes the mark away.
pub(crate) fn mark(conn: &Connection, run: i64, reason: Option<&str>) -> Result<()> {
    match reason {
        Some(reason) => conn
            .prepare_cached("INSERT OR REPLACE INTO withdrawn (run, reason) VALUES (?1, ?2)")?
            .execute((run, reason))?,
        None => conn.prepare_cached("DELETE FROM withdrawn WHERE run = ?1")?.execute([run])?,
    };
    Ok(())
}
