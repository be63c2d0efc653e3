//! Which process indexes the texts of an episode.
//!
//! Reading a source is slow and happens without a lock. A process therefore claims an episode first
//! ([`Store::begin_texts`]). Reading the episode again ends the claim, so that it does not count as indexed. The claim names
//! its process, because what it read may have ended the process.

use rusqlite::{Connection, OptionalExtension, Row, ToSql};

use super::{IS_INDEXED_NOW, READABLE_SOURCES, WAITS};
use crate::migration::Migration;
use crate::{EpisodeId, Result, SourceId, Store};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 16,
    sql: "
-- which process indexes an episode; the row goes when the episode is read again
CREATE TABLE text_claim (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  episode INTEGER NOT NULL UNIQUE REFERENCES episode (id) ON DELETE CASCADE,
  process TEXT NOT NULL,
  -- whether the source is set aside if the process ends before it is done
  sets_aside INTEGER NOT NULL
) STRICT;
UPDATE episode SET texts = 0 WHERE texts = 2;
",
}];

/// A claimed episode whose transcripts and logs are not indexed yet, from [`Store::begin_texts`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnindexedEpisode {
    /// Number in the store.
    pub id: EpisodeId,
    /// Number of the claim.
    pub claim: i64,
    /// Its source.
    pub source: SourceId,
    /// Slug of the run.
    pub run: String,
    /// Slug of the episode.
    pub episode: String,
}

/// A claim of a process on the texts of an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextClaim {
    /// Number of the claim.
    pub id: i64,
    /// The source of the episode.
    pub source: SourceId,
    /// The process.
    pub process: String,
    /// Whether the source is set aside if the process ends before it is done.
    pub sets_aside: bool,
}

/// An unclaimed episode whose texts wait.
fn waiting(conn: &Connection) -> Result<Option<UnindexedEpisode>> {
    let sql = format!(
        "SELECT episode.id, run.source, run_slug.slug, episode.slug
         FROM episode JOIN run ON run.id = episode.run {} WHERE episode.texts = {WAITS} LIMIT 1",
        *READABLE_SOURCES
    );
    let read = |row: &Row<'_>| {
        Ok(UnindexedEpisode {
            id: row.get(0)?,
            claim: 0,
            source: row.get(1)?,
            run: row.get(2)?,
            episode: row.get(3)?,
        })
    };
    Ok(conn.prepare_cached(&sql)?.query_row([], read).optional()?)
}

/// Whether a claim is still valid. It is not after its episode is read again.
pub(super) fn is_held(conn: &Connection, episode: &UnindexedEpisode) -> Result<bool> {
    let mut find = conn.prepare_cached("SELECT 1 FROM text_claim WHERE id = ?1 AND episode = ?2")?;
    Ok(find.exists((episode.claim, episode.id))?)
}

/// Ends a claim whose episode is indexed.
pub(super) fn end(conn: &Connection, episode: &UnindexedEpisode) -> Result<()> {
    conn.prepare_cached("DELETE FROM text_claim WHERE id = ?1")?.execute([episode.claim])?;
    Ok(())
}

/// Ends some claims. Their episodes wait again.
fn release(conn: &Connection, column: &str, value: impl ToSql) -> Result<()> {
    conn.execute(
        &format!(
            "UPDATE episode SET texts = {WAITS} WHERE texts = {IS_INDEXED_NOW}
               AND id IN (SELECT episode FROM text_claim WHERE {column} = ?1)"
        ),
        [&value],
    )?;
    conn.execute(&format!("DELETE FROM text_claim WHERE {column} = ?1"), [&value])?;
    Ok(())
}

impl Store {
    /// Claims an episode whose transcripts and logs are not indexed; `None` = there is none. `sets_aside`: whether the source
    /// is set aside if the process ends before the end of the claim.
    pub fn begin_texts(
        &self,
        process: &str,
        sets_aside: impl FnOnce(SourceId) -> bool,
    ) -> Result<Option<UnindexedEpisode>> {
        // Most calls find nothing to do and must not wait for a writer.
        let Some(next) = self.read(waiting)? else { return Ok(None) };
        let to_set_aside = sets_aside(next.source).then_some(next.source);
        self.write(|write| {
            let conn = &write.tx;
            let Some(next) = waiting(conn)? else { return Ok(None) };
            conn.prepare_cached("UPDATE episode SET texts = ?2 WHERE id = ?1")?
                .execute((next.id, IS_INDEXED_NOW))?;
            let claim = conn
                .prepare_cached(
                    "INSERT OR REPLACE INTO text_claim (episode, process, sets_aside) VALUES (?1, ?2, ?3)",
                )?
                .insert((next.id, process, to_set_aside == Some(next.source)))?;
            Ok(Some(UnindexedEpisode { claim, ..next }))
        })
    }

    /// The claims of every process.
    pub fn text_claims(&self) -> Result<Vec<TextClaim>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT text_claim.id, run.source, process, sets_aside FROM text_claim
                   JOIN episode ON episode.id = text_claim.episode JOIN run ON run.id = episode.run ORDER BY 1",
            )?;
            let rows = find.query_map([], |row| {
                Ok(TextClaim {
                    id: row.get(0)?,
                    source: row.get(1)?,
                    process: row.get(2)?,
                    sets_aside: row.get(3)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Ends a claim of a process that has ended. Its episode waits again.
    pub fn release_texts(&self, claim: i64) -> Result<()> {
        self.write(|write| release(&write.tx, "id", claim))
    }

    /// Ends the claims of a process that exits properly. Their episodes wait again.
    pub fn release_texts_by_process(&self, process: &str) -> Result<()> {
        self.write(|write| release(&write.tx, "process", process))
    }
}
