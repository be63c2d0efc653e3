//! The index: the words of each owner, the cost of indexing, and its progress.
//!
//! It has each different word once for each attempt (FTS5 without text, places and counts).

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Row};

use super::claims::{self, UnindexedEpisode};
use super::{IN_PART, INDEXED, READABLE_SOURCES, UNREADABLE, WAITS, shared_files};
use crate::migration::Migration;
use crate::values::{count_or_zero, int};
use crate::{EpisodeId, Result, SourceId, Store};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 15,
    sql: "
-- rowid = 3 * attempt.id, 3 * turn.id + 1 or 3 * episode.id + 2: the words of the transcripts and logs that belong to it
CREATE VIRTUAL TABLE text_index USING fts5
  (body, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');
CREATE TRIGGER text_of_attempt_deleted AFTER DELETE ON attempt WHEN old.artifacts IS NOT NULL BEGIN
  DELETE FROM text_index WHERE rowid = 3 * old.id;
END;
CREATE TRIGGER text_of_turn_deleted AFTER DELETE ON turn WHEN old.artifacts IS NOT NULL BEGIN
  DELETE FROM text_index WHERE rowid = 3 * old.id + 1;
END;
CREATE TRIGGER text_of_episode_deleted AFTER DELETE ON episode WHEN old.artifacts IS NOT NULL BEGIN
  DELETE FROM text_index WHERE rowid = 3 * old.id + 2;
END;
",
}];

/// The owner of transcripts and logs: an attempt, a turn, or the whole episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextOwner {
    /// `None` = the whole episode.
    pub turn: Option<u32>,
    /// `None` = the whole turn.
    pub attempt: Option<u32>,
}

/// How much of the transcripts and logs of an episode is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextCoverage {
    /// All of them.
    Whole,
    /// As much as the limits of the index allow.
    InPart,
    /// Only a part, because the source or a file cannot be read now.
    Unreadable,
}

/// The progress of indexing transcripts and logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexProgress {
    /// Whether no episode of an open source waits or failed to be read.
    pub complete: bool,
    /// Episodes whose texts are only partly indexed, because they are too large.
    pub in_part: u32,
}

/// The row of an owner in the index; `None` = there is none.
fn text_row(conn: &Connection, episode: EpisodeId, owner: TextOwner) -> Result<Option<i64>> {
    Ok(match (owner.turn, owner.attempt) {
        (None, _) => Some(3 * episode + 2),
        (Some(turn), None) => conn
            .prepare_cached("SELECT id FROM turn WHERE episode = ?1 AND number = ?2 ORDER BY id LIMIT 1")?
            .query_row((episode, turn), |row| row.get::<_, i64>(0))
            .optional()?
            .map(|id| 3 * id + 1),
        (Some(turn), Some(attempt)) => conn
            .prepare_cached(
                "SELECT attempt.id FROM turn JOIN attempt ON attempt.turn = turn.id
                 WHERE episode = ?1 AND turn.number = ?2 AND attempt.number = ?3 ORDER BY attempt.id LIMIT 1",
            )?
            .query_row((episode, turn, attempt), |row| row.get::<_, i64>(0))
            .optional()?
            .map(|id| 3 * id),
    })
}

fn read_texts_known(conn: &Connection) -> Result<IndexProgress> {
    let sql = format!(
        "SELECT count(*) = total(episode.texts = {IN_PART}), total(episode.texts = {IN_PART})
         FROM episode JOIN run ON run.id = episode.run {} WHERE episode.texts <> {INDEXED}",
        *READABLE_SOURCES
    );
    let read =
        |row: &Row<'_>| Ok(IndexProgress { complete: row.get(0)?, in_part: row.get::<_, f64>(1)? as u32 });
    Ok(conn.prepare_cached(&sql)?.query_row([], read)?)
}

impl Store {
    /// Indexes the words of some owners of a claimed episode. Returns whether the claim is still valid. If not, the episode was
    /// read again and waits.
    pub fn put_texts(
        &self,
        episode: &UnindexedEpisode,
        texts: &[(TextOwner, HashSet<String>)],
    ) -> Result<bool> {
        self.write(|write| {
            let conn = &write.tx;
            if !claims::is_held(conn, episode)? {
                return Ok(false);
            }
            for (owner, words) in texts {
                let Some(row) = text_row(conn, episode.id, *owner)? else { continue };
                let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
                words.sort_unstable();
                conn.prepare_cached("DELETE FROM text_index WHERE rowid = ?1")?.execute([row])?;
                conn.prepare_cached("INSERT INTO text_index (rowid, body) VALUES (?1, ?2)")?
                    .execute((row, words.join(" ")))?;
            }
            Ok(true)
        })
    }

    /// Ends the claim. `cost` is the cost of indexing in the unit of the caller. `files` are the files of the episode, each with
    /// whether it is indexed for this episode.
    pub fn end_texts(
        &self,
        episode: &UnindexedEpisode,
        read: TextCoverage,
        cost: u64,
        files: &HashMap<u64, bool>,
    ) -> Result<()> {
        let now = match read {
            TextCoverage::Whole => INDEXED,
            TextCoverage::InPart => IN_PART,
            TextCoverage::Unreadable => UNREADABLE,
        };
        self.write(|write| {
            let conn = &write.tx;
            if !claims::is_held(conn, episode)? {
                return Ok(());
            }
            conn.prepare_cached("UPDATE episode SET texts = ?2, text_cost = ?3 WHERE id = ?1")?.execute((
                episode.id,
                now,
                int(cost),
            ))?;
            claims::end(conn, episode)?;
            shared_files::put_files(conn, episode, files)
        })
    }

    /// Makes episodes wait again that could not be read, or that exceeded the size of the index of their source.
    pub fn retry_texts(&self) -> Result<()> {
        let condition = format!("texts = {UNREADABLE} OR texts = {IN_PART} AND text_cost = 0");
        let some = self.read(|conn| {
            Ok(conn.prepare_cached(&format!("SELECT 1 FROM episode WHERE {condition}"))?.exists([])?)
        })?;
        if !some {
            return Ok(());
        }
        self.write(|write| {
            write.tx.execute(&format!("UPDATE episode SET texts = {WAITS} WHERE {condition}"), [])?;
            Ok(())
        })
    }

    /// The cost of indexing the texts of a source, summed over its episodes.
    pub fn text_cost(&self, source: SourceId) -> Result<u64> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT coalesce(sum(text_cost), 0) FROM episode JOIN run ON run.id = episode.run
                 WHERE run.source = ?1",
            )?;
            Ok(find.query_row([source], |row| count_or_zero(row, 0))?)
        })
    }

    /// Skips the waiting texts of a source, because its index has reached its size limit.
    pub fn leave_texts(&self, source: SourceId) -> Result<()> {
        self.write(|write| {
            write.tx.execute(
                &format!(
                    "UPDATE episode SET texts = {IN_PART}, text_cost = 0 WHERE texts = {WAITS}
                       AND run IN (SELECT id FROM run WHERE source = ?1)"
                ),
                [source],
            )?;
            Ok(())
        })
    }

    /// Episodes of open sources that are not set aside whose transcripts and logs wait to be indexed.
    pub fn texts_waiting(&self) -> Result<u32> {
        self.read(|conn| {
            let sql = format!(
                "SELECT count(*) FROM episode JOIN run ON run.id = episode.run {} WHERE episode.texts = {WAITS}",
                *READABLE_SOURCES
            );
            Ok(conn.prepare_cached(&sql)?.query_row([], |row| row.get(0))?)
        })
    }

    /// The progress of indexing over all open sources that are not set aside.
    pub fn texts_known(&self) -> Result<IndexProgress> {
        self.read(read_texts_known)
    }

    /// The size of the index of transcripts and logs in bytes.
    pub fn text_index_bytes(&self) -> Result<u64> {
        self.read(|conn| {
            let bytes: i64 = conn.query_row(
                "SELECT (SELECT coalesce(sum(length(block)), 0) FROM text_index_data)
                   + (SELECT coalesce(sum(length(term) + 8), 0) FROM text_index_idx)
                   + (SELECT coalesce(sum(length(sz) + 8), 0) FROM text_index_docsize)",
                [],
                |row| row.get(0),
            )?;
            Ok(bytes.cast_unsigned())
        })
    }
}
