//! Which transcripts and logs may contain the words of a query.

use rusqlite::{Connection, OptionalExtension};

use super::READABLE_SOURCES;
use super::index::TextOwner;
use super::words::query;
use crate::search::episode_name;
use crate::{Result, Store};

/// An owner whose transcripts and logs may contain the words. They contain the indexed part of every word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCandidate {
    /// Its position in the order of candidates, for [`Store::find_texts`].
    pub position: i64,
    /// Slug of the run.
    pub run: String,
    /// Slug of the episode.
    pub episode: String,
    /// The scenario.
    pub scenario: String,
    /// Name of the episode for people.
    pub title: String,
    /// The owner of the texts.
    pub owner: TextOwner,
    /// Whether the run has a simulated model.
    pub simulated: bool,
}

fn candidate(conn: &Connection, position: i64) -> Result<Option<TextCandidate>> {
    const COLUMNS: &str = "run_slug.slug, episode.slug, episode.scenario, episode.title, run.simulated";
    let (turn, source_table) = match position.rem_euclid(3) {
        0 => (
            "turn.number, attempt.number",
            "attempt JOIN turn ON turn.id = attempt.turn JOIN episode ON episode.id = turn.episode",
        ),
        1 => ("turn.number, NULL", "turn JOIN episode ON episode.id = turn.episode"),
        _ => ("NULL, NULL", "episode"),
    };
    let table = source_table.split(' ').next().unwrap_or(source_table);
    let sql = format!(
        "SELECT {COLUMNS}, {turn} FROM {source_table} JOIN run ON run.id = episode.run {} WHERE {table}.id = ?1",
        *READABLE_SOURCES
    );
    let mut find = conn.prepare_cached(&sql)?;
    Ok(find
        .query_row([position.div_euclid(3)], |row| {
            let scenario: String = row.get(2)?;
            Ok(TextCandidate {
                position,
                run: row.get(0)?,
                episode: row.get(1)?,
                title: episode_name(scenario.clone(), row.get(3)?),
                scenario,
                simulated: row.get(4)?,
                owner: TextOwner { turn: row.get(5)?, attempt: row.get(6)? },
            })
        })
        .optional()?)
}

impl Store {
    /// Up to `limit` owners of texts that may contain every word, the last ones first; with `after`, the next ones after it.
    pub fn find_texts(&self, text: &str, after: Option<i64>, limit: u32) -> Result<Vec<TextCandidate>> {
        let Some(query) = query(text) else { return Ok(Vec::new()) };
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT rowid FROM text_index WHERE text_index MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC",
            )?;
            let mut rows = find.query((query, after.unwrap_or(i64::MAX)))?;
            let mut found = Vec::new();
            while found.len() < limit as usize
                && let Some(row) = rows.next()?
            {
                found.extend(candidate(conn, row.get(0)?)?);
            }
            Ok(found)
        })
    }
}
