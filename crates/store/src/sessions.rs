//! Figures of sessions of a benchmark without tests: one row per episode, so that a page of thousands reads one table.

use model::{Episode, SessionFigures};
use rusqlite::{Connection, OptionalExtension};

use crate::migration::Migration;
use crate::values::{json, parse};
use crate::withdrawn_filter::EPISODE_REASON;
use crate::{EpisodeId, Result, RunId, Store};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 14,
    sql: "
CREATE TABLE session (
  episode INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
  -- JSON: model::SessionFigures
  figures TEXT NOT NULL
) STRICT;
",
}];

/// A session of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionEntry {
    /// Stable name of the episode inside its run.
    pub slug: String,
    /// Its scenario.
    pub scenario: String,
    /// Repeat of the scenario in the run, from 1.
    pub repeat: u32,
    /// Why a user withdrew it.
    pub invalid: Option<String>,
    /// Its figures.
    pub figures: SessionFigures,
}

/// Writes the figures of an episode, if it has any.
pub(crate) fn put(conn: &Connection, id: EpisodeId, episode: &Episode) -> Result<()> {
    if let Some(figures) = &episode.session {
        conn.prepare_cached("INSERT INTO session (episode, figures) VALUES (?1, ?2)")?
            .execute((id, json(figures)?))?;
    }
    Ok(())
}

/// The figures of an episode.
pub(crate) fn figures(conn: &Connection, id: EpisodeId) -> Result<Option<SessionFigures>> {
    let text: Option<String> = conn
        .prepare_cached("SELECT figures FROM session WHERE episode = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    text.as_deref().map(parse).transpose()
}

impl Store {
    /// The sessions of a run that have figures, by slug, also withdrawn ones.
    pub fn sessions(&self, run: RunId) -> Result<Vec<SessionEntry>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&format!(
                "SELECT episode.slug, episode.scenario, episode.repeat, session.figures, {EPISODE_REASON} FROM episode
                 JOIN session ON session.episode = episode.id WHERE episode.run = ?1 ORDER BY episode.slug"
            ))?;
            find.query_and_then([run], |row| {
                Ok(SessionEntry {
                    slug: row.get(0)?,
                    scenario: row.get(1)?,
                    repeat: row.get(2)?,
                    invalid: row.get(4)?,
                    figures: parse(row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?)?,
                })
            })?
            .collect()
        })
    }
}
