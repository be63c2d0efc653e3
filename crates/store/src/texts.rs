//! Full-text search over transcripts and logs, which stay in their source.
//!
//! The index says which attempts hold words, and nothing else: each different word once for each attempt (FTS5 without the text,
//! without places and without counts), long words and numbers by their beginning. That is a small part of the text, and what
//! shows the place is the source itself, which is read when something is found.
//!
//! `episode.texts` says what is done. Reading the source is slow and happens without a lock; so that an episode that is
//! read again meanwhile is not taken for indexed, it is claimed first ([`Store::begin_texts`]). The claim names its process: one
//! that ended in the middle may have ended over what it read. A file that many episodes name is indexed for the first of them.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension, Row, ToSql};

use crate::schema::Migration;
use crate::search::{OPEN, episode_name};
use crate::values::{int, whole};
use crate::{EpisodeId, Result, SourceId, Store};

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
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
    },
    Migration {
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
UPDATE episode SET texts = 0 WHERE texts = 2;
",
    },
];

/// Values of `episode.texts`.
const WAITS: i64 = 0;
const INDEXED: i64 = 1;
const IS_INDEXED_NOW: i64 = 2;
const UNREADABLE: i64 = 3;
const IN_PART: i64 = 4;

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

/// An episode whose transcripts and logs are to be indexed, as [`Store::begin_texts`] claims it.
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

/// How far the transcripts and logs of an episode could be indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextsRead {
    /// All of them.
    Whole,
    /// As much as the bounds of the index allow.
    InPart,
    /// Not all: the source or a file cannot be read now.
    Unreadable,
}

/// How far the search in transcripts and logs is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextsKnown {
    /// Whether no episode of an open source waits or could not be read.
    pub complete: bool,
    /// Episodes whose texts are indexed in part only, because they are too many.
    pub in_part: u32,
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

/// Runs whose source may be read, to be joined to `run`: nothing opens the files of a source that is set aside.
static READABLE: LazyLock<String> = LazyLock::new(|| format!("{OPEN} AND source.set_aside = 0"));

/// An episode whose texts wait, not claimed yet.
fn waiting(conn: &Connection) -> Result<Option<UnindexedEpisode>> {
    let sql = format!(
        "SELECT episode.id, run.source, run_slug.slug, episode.slug
         FROM episode JOIN run ON run.id = episode.run {} WHERE episode.texts = {WAITS} LIMIT 1",
        *READABLE
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

/// Whether a claim still holds: when its episode is read again, it does not.
fn holds(conn: &Connection, of: &UnindexedEpisode) -> Result<bool> {
    let mut find = conn.prepare_cached("SELECT 1 FROM text_claim WHERE id = ?1 AND episode = ?2")?;
    Ok(find.exists((of.claim, of.id))?)
}

/// Lets the episodes of some claims wait again, and ends the claims.
fn release(conn: &Connection, which: &str, value: impl ToSql) -> Result<()> {
    conn.execute(
        &format!(
            "UPDATE episode SET texts = {WAITS} WHERE texts = {IS_INDEXED_NOW}
               AND id IN (SELECT episode FROM text_claim WHERE {which} = ?1)"
        ),
        [&value],
    )?;
    conn.execute(&format!("DELETE FROM text_claim WHERE {which} = ?1"), [&value])?;
    Ok(())
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
        "SELECT {COLUMNS}, {turn} FROM {from} JOIN run ON run.id = episode.run {} WHERE {table}.id = ?1",
        *READABLE
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

fn known(conn: &Connection) -> Result<TextsKnown> {
    let sql = format!(
        "SELECT count(*) = total(episode.texts = {IN_PART}), total(episode.texts = {IN_PART})
         FROM episode JOIN run ON run.id = episode.run {} WHERE episode.texts <> {INDEXED}",
        *READABLE
    );
    let read =
        |row: &Row<'_>| Ok(TextsKnown { complete: row.get(0)?, in_part: row.get::<_, f64>(1)? as u32 });
    Ok(conn.prepare_cached(&sql)?.query_row([], read)?)
}

impl Store {
    /// Claims an episode whose transcripts and logs are not indexed; `None` = there is none. `sets_aside` says whether its
    /// source is to be set aside if the process ends before it is done.
    pub fn begin_texts(
        &self,
        process: &str,
        sets_aside: impl FnOnce(SourceId) -> bool,
    ) -> Result<Option<UnindexedEpisode>> {
        // Most calls find nothing to do, and must not wait for a writer to find that out.
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

    /// Which of some files are indexed for another episode of the same source.
    pub fn texts_elsewhere(&self, of: &UnindexedEpisode, files: &[u64]) -> Result<HashSet<u64>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT 1 FROM text_file WHERE source = ?1 AND file = ?2 AND episode <> ?3 AND indexed",
            )?;
            let mut found = HashSet::new();
            for file in files {
                if find.exists((of.source, file.cast_signed(), of.id))? {
                    found.insert(*file);
                }
            }
            Ok(found)
        })
    }

    /// Indexes the words of some owners of a claimed episode. Gives whether the claim still holds: if not, the episode was read
    /// again, and waits.
    pub fn put_texts(&self, of: &UnindexedEpisode, texts: &[(TextOwner, HashSet<String>)]) -> Result<bool> {
        self.write(|write| {
            let conn = &write.tx;
            if !holds(conn, of)? {
                return Ok(false);
            }
            for (owner, words) in texts {
                let Some(row) = row_of(conn, of.id, *owner)? else { continue };
                let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
                words.sort_unstable();
                conn.prepare_cached("DELETE FROM text_index WHERE rowid = ?1")?.execute([row])?;
                conn.prepare_cached("INSERT INTO text_index (rowid, body) VALUES (?1, ?2)")?
                    .execute((row, words.join(" ")))?;
            }
            Ok(true)
        })
    }

    /// Ends the claim. `cost` is what indexing took, as whoever indexes counts it; `files` are those that the episode names,
    /// with whether they are indexed for it.
    pub fn end_texts(
        &self,
        of: &UnindexedEpisode,
        read: TextsRead,
        cost: u64,
        files: &HashMap<u64, bool>,
    ) -> Result<()> {
        let now = match read {
            TextsRead::Whole => INDEXED,
            TextsRead::InPart => IN_PART,
            TextsRead::Unreadable => UNREADABLE,
        };
        self.write(|write| {
            let conn = &write.tx;
            if !holds(conn, of)? {
                return Ok(());
            }
            conn.prepare_cached("UPDATE episode SET texts = ?2, text_cost = ?3 WHERE id = ?1")?.execute((
                of.id,
                now,
                int(cost),
            ))?;
            conn.prepare_cached("DELETE FROM text_claim WHERE id = ?1")?.execute([of.claim])?;
            let mut put = conn.prepare_cached(
                "INSERT INTO text_file (source, file, episode, indexed) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET indexed = excluded.indexed",
            )?;
            for (file, indexed) in files {
                put.execute((of.source, file.cast_signed(), of.id, indexed))?;
            }
            Ok(())
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

    /// Ends a claim of a process that does not live any more; its episode waits.
    pub fn release_texts(&self, claim: i64) -> Result<()> {
        self.write(|write| release(&write.tx, "id", claim))
    }

    /// Ends the claims of a process that ends in good order; their episodes wait.
    pub fn release_texts_of(&self, process: &str) -> Result<()> {
        self.write(|write| release(&write.tx, "process", process))
    }

    /// Lets episodes wait again that could not be read, or for which the index of their source had no room.
    pub fn retry_texts(&self) -> Result<()> {
        let which = format!("texts = {UNREADABLE} OR texts = {IN_PART} AND text_cost = 0");
        let some = self.read(|conn| {
            Ok(conn.prepare_cached(&format!("SELECT 1 FROM episode WHERE {which}"))?.exists([])?)
        })?;
        if !some {
            return Ok(());
        }
        self.write(|write| {
            write.tx.execute(&format!("UPDATE episode SET texts = {WAITS} WHERE {which}"), [])?;
            Ok(())
        })
    }

    /// What indexing the texts of a source took, summed over its episodes.
    pub fn text_cost(&self, source: SourceId) -> Result<u64> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT coalesce(sum(text_cost), 0) FROM episode JOIN run ON run.id = episode.run
                 WHERE run.source = ?1",
            )?;
            Ok(find.query_row([source], |row| whole(row, 0))?)
        })
    }

    /// Leaves out the texts of a source that wait: its index has no room for more.
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

    /// Whether the transcripts and logs of every open source are indexed that is not set aside.
    pub fn texts_known(&self) -> Result<TextsKnown> {
        self.read(known)
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
        put_as(store, source, "p", stamp);
    }

    fn put_as(store: &Store, source: i64, key: &str, stamp: u64) {
        let mut attempt = Attempt::new(1, Verdict::Failed);
        attempt.artifacts = vec![Artifact::new(ArtifactKind::AgentLog, "agent.log")];
        let mut episode = Episode::new(key, "task");
        episode.turns = vec![Turn { attempts: vec![attempt], ..Turn::new(1) }];
        let episodes = [("a".to_owned(), episode)];
        let part = PartRead { place: "", key, stamp, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
    }

    const OWNER: TextOwner = TextOwner { turn: Some(1), attempt: Some(1) };

    fn claim(store: &Store) -> Option<UnindexedEpisode> {
        store.begin_texts("a process", |_| true).unwrap()
    }

    fn end(store: &Store, of: &UnindexedEpisode, read: TextsRead) {
        store.end_texts(of, read, 1, &HashMap::new()).unwrap();
    }

    #[test]
    fn an_episode_is_found_by_the_words_of_its_texts_until_it_is_read_again() {
        let store = Store::in_memory().unwrap();
        library(&store);
        assert!(!store.texts_known().unwrap().complete);
        let next = claim(&store).unwrap();
        assert_eq!(claim(&store), None, "it is claimed");
        assert!(store.put_texts(&next, &[(OWNER, words("Traceback: no such table"))]).unwrap());
        end(&store, &next, TextsRead::Whole);
        assert_eq!(store.texts_known().unwrap(), TextsKnown { complete: true, in_part: 0 });
        let found = store.find_texts("trace TABLE", None, 10).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].scenario.as_str(), found[0].owner), ("task", OWNER));
        assert!(store.find_texts("trace chair", None, 10).unwrap().is_empty());
        assert!(store.find_texts("trace", Some(found[0].at), 10).unwrap().is_empty());
        assert!(store.find_texts("-- ?", None, 10).unwrap().is_empty());

        put(&store, 1, 2);
        assert!(store.find_texts("trace", None, 10).unwrap().is_empty());
        assert!(!store.texts_known().unwrap().complete);
    }

    #[test]
    fn what_was_read_again_meanwhile_is_not_taken_for_indexed() {
        let store = Store::in_memory().unwrap();
        library(&store);
        let old = claim(&store).unwrap();
        put(&store, 1, 2);
        assert!(store.text_claims().unwrap().is_empty());
        // Nor does the claim of another process make that of this one hold again.
        let new = claim(&store).unwrap();
        assert!(!store.put_texts(&old, &[(OWNER, words("old words"))]).unwrap());
        end(&store, &old, TextsRead::Whole);
        assert!(store.find_texts("old", None, 10).unwrap().is_empty());
        assert!(store.put_texts(&new, &[(OWNER, words("new words"))]).unwrap());
    }

    #[test]
    fn the_texts_of_a_source_that_is_set_aside_are_neither_indexed_nor_found() {
        let store = Store::in_memory().unwrap();
        library(&store);
        let next = claim(&store).unwrap();
        store.put_texts(&next, &[(OWNER, words("a word"))]).unwrap();
        end(&store, &next, TextsRead::Whole);
        store.set_aside(next.source).unwrap();
        assert!(store.find_texts("word", None, 10).unwrap().is_empty());
        put(&store, 1, 2);
        assert_eq!(claim(&store), None);
        assert!(store.texts_known().unwrap().complete, "nothing is waited for");
        store.begin_reading(next.source, "a process").unwrap();
        assert!(claim(&store).is_some(), "somebody wants it");
    }

    #[test]
    fn a_claim_lasts_until_its_process_is_known_to_have_ended() {
        let store = Store::in_memory().unwrap();
        library(&store);
        let next = claim(&store).unwrap();
        store.retry_texts().unwrap();
        assert_eq!(claim(&store), None, "whoever claimed it may live");
        let claims = store.text_claims().unwrap();
        assert_eq!(
            claims,
            [TextClaim {
                id: next.claim,
                source: next.source,
                process: "a process".to_owned(),
                sets_aside: true
            }]
        );
        store.release_texts_of("another process").unwrap();
        assert_eq!(store.text_claims().unwrap(), claims);
        store.release_texts(next.claim).unwrap();
        let next = claim(&store).unwrap();
        store.release_texts_of("a process").unwrap();
        assert!(store.text_claims().unwrap().is_empty());
        assert!(!store.put_texts(&next, &[]).unwrap());
        let next = claim(&store).unwrap();
        end(&store, &next, TextsRead::Unreadable);
        assert_eq!(claim(&store), None);
        store.retry_texts().unwrap();
        let next = claim(&store).unwrap();
        end(&store, &next, TextsRead::InPart);
        store.retry_texts().unwrap();
        assert_eq!(claim(&store), None, "it would be in part again");
        assert_eq!(store.texts_known().unwrap(), TextsKnown { complete: true, in_part: 1 });
        assert_eq!(store.text_cost(next.source).unwrap(), 1);
    }

    #[test]
    fn a_source_that_takes_too_much_is_left_until_the_next_start() {
        let store = Store::in_memory().unwrap();
        library(&store);
        store.leave_texts(1).unwrap();
        assert_eq!(claim(&store), None);
        assert_eq!(store.texts_known().unwrap(), TextsKnown { complete: true, in_part: 1 });
        store.retry_texts().unwrap();
        assert!(claim(&store).is_some());
    }

    #[test]
    fn a_file_that_episodes_share_is_indexed_for_one_of_them_and_for_another_when_that_is_gone() {
        let store = Store::in_memory().unwrap();
        library(&store);
        put_as(&store, 1, "q", 1);
        let file = 1 << 63;
        let first = claim(&store).unwrap();
        assert!(store.texts_elsewhere(&first, &[file]).unwrap().is_empty());
        store.end_texts(&first, TextsRead::Whole, 1, &HashMap::from([(file, true)])).unwrap();
        let second = claim(&store).unwrap();
        assert_eq!(store.texts_elsewhere(&second, &[file, 2]).unwrap(), HashSet::from([file]));
        store.end_texts(&second, TextsRead::Whole, 1, &HashMap::from([(file, false)])).unwrap();
        assert_eq!(claim(&store), None);
        // The one that was first is gone.
        store.drop_parts(1, &[(String::new(), "q".to_owned())]).unwrap();
        let again = claim(&store).unwrap();
        assert_eq!(again.id, second.id);
        assert!(store.texts_elsewhere(&again, &[file]).unwrap().is_empty());
    }
}
