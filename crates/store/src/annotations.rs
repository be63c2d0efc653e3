//! Tags and notes. They belong to the slug of a run, not to its row, and so survive reading again, closing and purging.

use rusqlite::Connection;

use crate::migration::Migration;
use crate::{Result, Store, changes, slugs};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    sql: "
CREATE TABLE tag (
  run INTEGER NOT NULL REFERENCES run_slug (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  -- in lower case, to look words up in
  folded TEXT NOT NULL,
  PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_by_name ON tag (tag);

CREATE TABLE note (
  run INTEGER PRIMARY KEY REFERENCES run_slug (id) ON DELETE CASCADE,
  note TEXT NOT NULL,
  folded TEXT NOT NULL
) STRICT;
",
}, Migration {
    version: 4,
    sql: "
-- tags that a run's source gave it at one time: each is given once, so that one that was taken away stays away
CREATE TABLE source_tag (
  run INTEGER NOT NULL REFERENCES run_slug (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;
",
}];

/// A tag without blanks around it, as it is stored; `None` = it is blank.
fn tidy_tag(tag: &str) -> Option<&str> {
    Some(tag.trim()).filter(|tag| !tag.is_empty())
}

fn add_tag(conn: &Connection, run: i64, tag: &str) -> Result<()> {
    conn.prepare_cached("INSERT OR IGNORE INTO tag (run, tag, folded) VALUES (?1, ?2, ?3)")?.execute((
        run,
        tag,
        tag.to_lowercase(),
    ))?;
    Ok(())
}

/// Adds the tags that the source of a run names, each only the first time. `run` is the id of its slug. Returns whether
/// there was a new tag.
pub(crate) fn take_over(conn: &Connection, run: i64, tags: &[String]) -> Result<bool> {
    let mut any = false;
    for tag in tags.iter().filter_map(|tag| tidy_tag(tag)) {
        let new = conn
            .prepare_cached("INSERT OR IGNORE INTO source_tag (run, tag) VALUES (?1, ?2)")?
            .execute((run, tag))?;
        if new > 0 {
            add_tag(conn, run, tag)?;
            any = true;
        }
    }
    Ok(any)
}

impl Store {
    /// Adds and removes tags of runs, and sets their note if one is given (an empty note deletes it). Unknown slugs and
    /// blank tags are ignored.
    pub fn annotate(
        &self,
        runs: &[String],
        add: &[String],
        remove: &[String],
        note: Option<&str>,
    ) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            for slug in runs {
                let Some((run, source)) = slugs::find(conn, slug)? else { continue };
                for tag in add.iter().filter_map(|tag| tidy_tag(tag)) {
                    add_tag(conn, run, tag)?;
                }
                for tag in remove.iter().filter_map(|tag| tidy_tag(tag)) {
                    conn.prepare_cached("DELETE FROM tag WHERE run = ?1 AND tag = ?2")?
                        .execute((run, tag))?;
                }
                match note {
                    Some(note) if note.trim().is_empty() => {
                        conn.prepare_cached("DELETE FROM note WHERE run = ?1")?.execute([run])?;
                    }
                    Some(note) => {
                        conn.prepare_cached(
                            "INSERT OR REPLACE INTO note (run, note, folded) VALUES (?1, ?2, ?3)",
                        )?
                        .execute((run, note, note.to_lowercase()))?;
                    }
                    None => {}
                }
                if let Some(source) = source {
                    changes::log_run(conn, source, run)?;
                }
            }
            Ok(())
        })
    }
}
