//! Full-text search over transcripts and logs, which stay in their source.
//!
//! The index says which attempts hold words, and nothing else: each different word once for each attempt (FTS5 without the text,
//! without places and without counts), long words and numbers by their beginning. That is a small part of the text, and what
//! shows the place is the source itself, which is read when something is found.
//!
//! `episode.texts` says what is done. Reading the source is slow and happens without a lock; so that an episode that is
//! read again meanwhile is not taken for indexed, its row is claimed first ([`Store::begin_texts`]).

use std::collections::HashSet;
use std::hash::BuildHasher;

use rusqlite::{Connection, OptionalExtension};

use crate::schema::Migration;
use crate::search::{OPEN, episode_name};
use crate::{EpisodeId, Result, Store};

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

/// Values of `episode.texts`.
const WAITS: i64 = 0;
const INDEXED: i64 = 1;
const IS_INDEXED_NOW: i64 = 2;
const UNREADABLE: i64 = 3;

/// Letters of a word that are indexed.
const LETTERS: usize = 12;

/// Letters of a word with digits that are indexed at least; hashes and numbers are many, and few of them are looked for.
const LETTERS_WITH_DIGITS: usize = 4;

/// What transcripts and logs belong to: an attempt, a turn, or the whole episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextOwner {
    /// `None` = the whole episode.
    pub turn: Option<u32>,
    /// `None` = the whole turn.
    pub attempt: Option<u32>,
}

/// The next episode whose transcripts and logs are to be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnindexedEpisode {
    /// Number in the store.
    pub id: EpisodeId,
    /// Slug of the run.
    pub run: String,
    /// Slug of the episode.
    pub episode: String,
}

/// Where transcripts and logs may hold the words: every word is in one of them, though not always as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCandidate {
    /// Its place in the order of candidates, for [`Store::find_texts`].
    pub at: i64,
    /// Slug of the run.
    pub run: String,
    /// Slug of the episode.
    pub episode: String,
    /// The scenario.
    pub scenario: String,
    /// Name of the episode for people.
    pub title: String,
    /// What the texts belong to.
    pub owner: TextOwner,
    /// Whether a simulated model stood in in that run.
    pub simulated: bool,
}

/// The beginning of a word that is indexed. That of the beginning of a word is the beginning of that of the word.
fn indexed_part(word: &str) -> &str {
    let digit = word.chars().take(LETTERS).position(|c| c.is_ascii_digit());
    let letters = digit.map_or(LETTERS, |at| (at + 2).clamp(LETTERS_WITH_DIGITS, LETTERS));
    word.char_indices().nth(letters).map_or(word, |(end, _)| &word[..end])
}

/// Adds the indexed words of a text to those of other texts.
pub fn add_words<S: BuildHasher>(text: &str, words: &mut HashSet<String, S>) {
    let mut word = String::new();
    for piece in text.split(|c: char| !c.is_alphanumeric()) {
        if piece.is_empty() {
            continue;
        }
        word.clear();
        // More letters than are indexed change nothing.
        word.extend(piece.chars().take(2 * LETTERS).flat_map(char::to_lowercase));
        let part = indexed_part(&word);
        if !words.contains(part) {
            words.insert(part.to_owned());
        }
    }
}

/// A query that finds texts with words that begin with each of the words; `None` = there is nothing to look for.
fn query(text: &str) -> Option<String> {
    let mut words = HashSet::new();
    add_words(text, &mut words);
    let mut words: Vec<String> = words.into_iter().map(|word| format!("\"{word}\"*")).collect();
    words.sort_unstable();
    (!words.is_empty()).then(|| words.join(" AND "))
}

/// The row of an owner in the index; `None` = it is not there.
fn row_of(conn: &Connection, episode: EpisodeId, owner: TextOwner) -> Result<Option<i64>> {
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

/// An episode of an open source whose texts wait.
fn waiting(conn: &Connection) -> Result<Option<UnindexedEpisode>> {
    let sql = format!(
        "SELECT episode.id, run_slug.slug, episode.slug FROM episode JOIN run ON run.id = episode.run {OPEN}
         WHERE episode.texts = {WAITS} LIMIT 1"
    );
    let mut find = conn.prepare_cached(&sql)?;
    Ok(find
        .query_row([], |row| Ok(UnindexedEpisode { id: row.get(0)?, run: row.get(1)?, episode: row.get(2)? }))
        .optional()?)
}

fn candidate(conn: &Connection, at: i64) -> Result<Option<TextCandidate>> {
    const COLUMNS: &str = "run_slug.slug, episode.slug, episode.scenario, episode.title, run.simulated";
    let (turn, from) = match at.rem_euclid(3) {
        0 => (
            "turn.number, attempt.number",
            "attempt JOIN turn ON turn.id = attempt.turn JOIN episode ON episode.id = turn.episode",
        ),
        1 => ("turn.number, NULL", "turn JOIN episode ON episode.id = turn.episode"),
        _ => ("NULL, NULL", "episode"),
    };
    let table = from.split(' ').next().unwrap_or(from);
    let sql = format!(
        "SELECT {COLUMNS}, {turn} FROM {from} JOIN run ON run.id = episode.run {OPEN} WHERE {table}.id = ?1"
    );
    let mut find = conn.prepare_cached(&sql)?;
    Ok(find
        .query_row([at.div_euclid(3)], |row| {
            let scenario: String = row.get(2)?;
            Ok(TextCandidate {
                at,
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

fn complete(conn: &Connection) -> Result<bool> {
    let sql = format!(
        "SELECT NOT EXISTS (SELECT 1 FROM episode JOIN run ON run.id = episode.run {OPEN}
           WHERE episode.texts <> {INDEXED})"
    );
    Ok(conn.prepare_cached(&sql)?.query_row([], |row| row.get(0))?)
}

impl Store {
    /// Claims an episode whose transcripts and logs are not indexed; `None` = there is none.
    pub fn begin_texts(&self) -> Result<Option<UnindexedEpisode>> {
        // Most calls find nothing to do, and must not wait for a writer to find that out.
        if self.read(waiting)?.is_none() {
            return Ok(None);
        }
        self.write(|write| {
            let Some(next) = waiting(&write.tx)? else { return Ok(None) };
            write
                .tx
                .prepare_cached("UPDATE episode SET texts = ?2 WHERE id = ?1")?
                .execute((next.id, IS_INDEXED_NOW))?;
            Ok(Some(next))
        })
    }

    /// Indexes the words of some owners of a claimed episode. Gives whether the claim still holds: if not, the episode was read
    /// again, and waits.
    pub fn put_texts(&self, episode: EpisodeId, texts: &[(TextOwner, HashSet<String>)]) -> Result<bool> {
        self.write(|write| {
            let conn = &write.tx;
            let claimed: Option<bool> = conn
                .prepare_cached("SELECT texts = ?2 FROM episode WHERE id = ?1")?
                .query_row((episode, IS_INDEXED_NOW), |row| row.get(0))
                .optional()?;
            if claimed != Some(true) {
                return Ok(false);
            }
            for (owner, words) in texts {
                let Some(row) = row_of(conn, episode, *owner)? else { continue };
                let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
                words.sort_unstable();
                conn.prepare_cached("DELETE FROM text_index WHERE rowid = ?1")?.execute([row])?;
                conn.prepare_cached("INSERT INTO text_index (rowid, body) VALUES (?1, ?2)")?
                    .execute((row, words.join(" ")))?;
            }
            Ok(true)
        })
    }

    /// Ends the claim: the episode is indexed, or some of its files could not be read.
    pub fn end_texts(&self, episode: EpisodeId, readable: bool) -> Result<()> {
        self.write(|write| {
            let now = if readable { INDEXED } else { UNREADABLE };
            write
                .tx
                .prepare_cached("UPDATE episode SET texts = ?2 WHERE id = ?1 AND texts = ?3")?
                .execute((episode, now, IS_INDEXED_NOW))?;
            Ok(())
        })
    }

    /// Lets episodes wait again that another process was indexing when it ended, and those that could not be read.
    pub fn retry_texts(&self) -> Result<()> {
        let some = self.read(|conn| {
            Ok(conn
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM episode WHERE texts > ?1)")?
                .query_row([INDEXED], |row| row.get::<_, bool>(0))?)
        })?;
        if !some {
            return Ok(());
        }
        self.write(|write| {
            write
                .tx
                .prepare_cached("UPDATE episode SET texts = ?1 WHERE texts > ?2")?
                .execute((WAITS, INDEXED))?;
            Ok(())
        })
    }

    /// Whether the transcripts and logs of every open source are indexed.
    pub fn texts_are_complete(&self) -> Result<bool> {
        self.read(complete)
    }

    /// Up to `limit` owners of texts that may hold every word, the last ones first, or those after one of them.
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

    /// Bytes that the index of transcripts and logs takes.
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

#[cfg(test)]
mod tests {
    use model::{Artifact, ArtifactKind, Attempt, Benchmark, Episode, Run, Turn, Verdict};
    use proptest::prelude::*;

    use super::*;
    use crate::PartRead;

    fn words(text: &str) -> HashSet<String> {
        let mut words = HashSet::new();
        add_words(text, &mut words);
        words
    }

    #[test]
    fn long_words_and_numbers_are_indexed_by_their_beginning() {
        for (word, part) in [
            ("timeout", "timeout"),
            ("responsibilities", "responsibili"),
            ("404", "404"),
            ("1732665600", "1732"),
            ("9f86d081884c7d65", "9f86"),
            ("turn12345", "turn12"),
        ] {
            assert_eq!(indexed_part(word), part, "{word}");
        }
        let found = words("GET /items?limit=10 → 404 Grüße_AN");
        for word in ["get", "items", "limit", "10", "404", "grüße", "an"] {
            assert!(found.contains(word), "{word} in {found:?}");
        }
    }

    proptest! {
        /// Whatever a word begins with finds it.
        #[test]
        fn the_indexed_part_of_a_beginning_begins_that_of_the_word(word in "[a-zß0-9]{1,30}", cut in 1usize..30) {
            let beginning: String = word.chars().take(cut).collect();
            prop_assert!(indexed_part(&word).starts_with(indexed_part(&beginning)));
        }
    }

    fn library(store: &Store) {
        let source = store.put_source("/data/a", "a", false).unwrap();
        let run = Run::unknown("a", Benchmark { key: "b".into(), name: "B".into() });
        store.put_runs(source, "", "harbor", &[run]).unwrap();
        put(store, source, 1);
    }

    fn put(store: &Store, source: i64, stamp: u64) {
        let mut attempt = Attempt::new(1, Verdict::Failed);
        attempt.artifacts = vec![Artifact::new(ArtifactKind::AgentLog, "agent.log")];
        let mut episode = Episode::new("e", "task");
        episode.turns = vec![Turn { attempts: vec![attempt], ..Turn::new(1) }];
        let episodes = [("a".to_owned(), episode)];
        let part = PartRead { place: "", key: "p", stamp, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
    }

    #[test]
    fn an_episode_is_found_by_the_words_of_its_texts_until_it_is_read_again() {
        let store = Store::in_memory().unwrap();
        library(&store);
        assert!(!store.texts_are_complete().unwrap());
        let owner = TextOwner { turn: Some(1), attempt: Some(1) };
        let next = store.begin_texts().unwrap().unwrap();
        assert_eq!(store.begin_texts().unwrap(), None, "it is claimed");
        assert!(store.put_texts(next.id, &[(owner, words("Traceback: no such table"))]).unwrap());
        store.end_texts(next.id, true).unwrap();
        assert!(store.texts_are_complete().unwrap());
        let found = store.find_texts("trace TABLE", None, 10).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].scenario.as_str(), found[0].owner), ("task", owner));
        assert!(store.find_texts("trace chair", None, 10).unwrap().is_empty());
        assert!(store.find_texts("trace", Some(found[0].at), 10).unwrap().is_empty());
        assert!(store.find_texts("-- ?", None, 10).unwrap().is_empty());

        put(&store, 1, 2);
        assert!(store.find_texts("trace", None, 10).unwrap().is_empty());
        assert!(!store.texts_are_complete().unwrap());
    }

    #[test]
    fn what_was_read_again_meanwhile_is_not_taken_for_indexed() {
        let store = Store::in_memory().unwrap();
        library(&store);
        let next = store.begin_texts().unwrap().unwrap();
        put(&store, 1, 2);
        let owner = TextOwner { turn: Some(1), attempt: Some(1) };
        assert!(!store.put_texts(next.id, &[(owner, words("old words"))]).unwrap());
        store.end_texts(next.id, true).unwrap();
        assert!(store.find_texts("old", None, 10).unwrap().is_empty());
        assert!(store.begin_texts().unwrap().is_some());
        store.retry_texts().unwrap();
        assert!(store.begin_texts().unwrap().is_some(), "a claim of a process that ended does not last");
    }
}
