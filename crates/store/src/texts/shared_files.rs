//! Files of several episodes, such as the log of a whole job. Each is indexed for one of them.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::claims::UnindexedEpisode;
use crate::migration::Migration;
use crate::{Result, Store};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 16,
    sql: "
-- the files that episodes name (64 bits of name and size), and for which of the episodes each is indexed
CREATE TABLE text_file (
  source INTEGER NOT NULL,
  file INTEGER NOT NULL,
  episode INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
  indexed INTEGER NOT NULL,
  PRIMARY KEY (source, file, episode)
) STRICT, WITHOUT ROWID;
CREATE INDEX text_file_episode ON text_file (episode);
-- another one of those that name the file has to index it now
CREATE TRIGGER text_file_deleted AFTER DELETE ON text_file WHEN old.indexed BEGIN
  UPDATE episode SET texts = 0
  WHERE id = (SELECT episode FROM text_file WHERE source = old.source AND file = old.file LIMIT 1);
END;
",
}];

/// Records the files of an episode, each with whether it is indexed for this episode.
pub(super) fn put_files(
    conn: &Connection,
    episode: &UnindexedEpisode,
    files: &HashMap<u64, bool>,
) -> Result<()> {
    let mut put = conn.prepare_cached(
        "INSERT INTO text_file (source, file, episode, indexed) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET indexed = excluded.indexed",
    )?;
    for (file, indexed) in files {
        put.execute((episode.source, file.cast_signed(), episode.id, indexed))?;
    }
    Ok(())
}

impl Store {
    /// Which of some files are indexed for another episode of the same source.
    pub fn texts_elsewhere(&self, episode: &UnindexedEpisode, files: &[u64]) -> Result<HashSet<u64>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT 1 FROM text_file WHERE source = ?1 AND file = ?2 AND episode <> ?3 AND indexed",
            )?;
            let mut found = HashSet::new();
            for file in files {
                if find.exists((episode.source, file.cast_signed(), episode.id))? {
                    found.insert(*file);
                }
            }
            Ok(found)
        })
    }
}
