//! Full-text search over names, requests and failing tests.
//!
//! There are few names, so the search scans them: any part of a name finds it. Requests and failing tests are indexed by
//! words (FTS5, without a copy of the text). Indexing runs in the background, because an import must not wait for it.
//! `request.indexed` and `episode.indexed` record what is indexed.

mod failing_tests;
mod query;

use std::collections::HashSet;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::limits::cut;
use crate::migration::Migration;
use crate::turns;
use crate::{EpisodeId, Result, Store};

use self::failing_tests::{failure_hits, failure_text};

pub use self::query::{MatchRank, SearchQuery, SearchTerm, by_rank};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    sql: "
-- rowid = request.id
CREATE VIRTUAL TABLE request_index USING fts5 (body, content = '', contentless_delete = 1);
CREATE TRIGGER request_deleted AFTER DELETE ON request WHEN old.indexed BEGIN
  DELETE FROM request_index WHERE rowid = old.id;
END;

-- rowid = attempt.id: ids and messages of its failing tests
CREATE VIRTUAL TABLE failure_index USING fts5 (body, content = '', contentless_delete = 1);
CREATE TRIGGER failure_deleted AFTER DELETE ON attempt WHEN old.failing > 0 BEGIN
  DELETE FROM failure_index WHERE rowid = old.id;
END;
",
}];

/// How many hits [`Store::search`] returns by default.
const HITS: u32 = 20;

/// How many bytes of the failing tests of one attempt are indexed.
const FAILURE_BYTES: usize = 64 * 1024;

/// How many requests are indexed with one episode.
const REQUESTS_PER_EPISODE: u32 = 50;

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// A run, by model, harness, benchmark, source, tag or note.
    Run,
    /// An episode, by scenario or title.
    Episode,
    /// A change request.
    Request,
    /// A failing test, by id or message.
    Failure,
}

/// One hit of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchHit {
    /// What it is: `run`, `episode`, `request`, `failure`.
    #[ts(type = "string")]
    pub kind: MatchKind,
    /// First line.
    pub title: String,
    /// Second line; for text hits the surrounding words.
    pub detail: String,
    /// Id of the run.
    pub run: String,
    /// Id of the episode.
    pub episode: Option<String>,
    /// The turn.
    pub turn: Option<u32>,
    /// The attempt.
    pub attempt: Option<u32>,
    /// The test.
    pub test: Option<String>,
    /// How many other places have the same request or failing test (one of many runs is one hit).
    #[serde(skip)]
    pub also: u32,
    /// Whether there may be more of them than `also`, because not all were read.
    #[serde(skip)]
    pub also_is_least: bool,
    /// Whether each of these is the same turn of the same scenario in another run.
    #[serde(skip)]
    pub also_in_runs: bool,
    /// How well it matches; names match as a whole.
    #[serde(skip)]
    pub rank: MatchRank,
    /// Whether a simulated model stood in in that run.
    pub simulated: bool,
}

/// Hits of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchHits {
    /// Best first.
    pub hits: Vec<SearchHit>,
    /// Whether the text of every source is searchable yet.
    pub complete: bool,
}

/// SQL: joins open sources and slugs to `run`.
pub(crate) const OPEN_SOURCES: &str = "JOIN source ON source.id = run.source AND source.closed_at IS NULL
  JOIN run_slug ON run_slug.id = run.slug";

/// A condition that every word occurs in a text, with the words as values to bind.
fn words_condition(expression: &str, words: &[String]) -> (String, Vec<Value>) {
    let sql = vec![format!("instr({expression}, ?) > 0"); words.len()].join(" AND ");
    (sql, words.iter().cloned().map(Value::from).collect())
}

fn run_hits(conn: &Connection, words: &[String], limit: u32) -> Result<Vec<SearchHit>> {
    let names = "run.folded || coalesce((SELECT folded FROM note WHERE note.run = run.slug), '') || char(10)
       || coalesce((SELECT group_concat(folded, char(10)) FROM tag WHERE tag.run = run.slug), '')";
    let (condition, mut values) = words_condition(names, words);
    values.push(limit.into());
    let sql = format!(
        "SELECT run_slug.slug, run.model, run.harness, run.benchmark_name, source.name, run.simulated
         FROM run {OPEN_SOURCES}
         WHERE {condition} ORDER BY run_slug.slug LIMIT ?"
    );
    let mut find = conn.prepare_cached(&sql)?;
    let rows = find.query_map(params_from_iter(values), |row| {
        let model: Option<String> = row.get(1)?;
        let harness: Option<String> = row.get(2)?;
        let (benchmark, source): (String, String) = (row.get(3)?, row.get(4)?);
        let mut names: Vec<String> = [model, harness].into_iter().flatten().collect();
        // A baseline has one name for both.
        names.dedup();
        let slug: String = row.get(0)?;
        Ok(SearchHit {
            title: if names.is_empty() { slug.clone() } else { names.join(" · ") },
            detail: format!("{benchmark} · {source}"),
            simulated: row.get(5)?,
            ..SearchHit::new(MatchKind::Run, slug)
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A scenario of many runs is one hit, and one more for each other title that it has: benchmarks may name theirs alike.
fn episode_hits(conn: &Connection, words: &[String], limit: u32) -> Result<Vec<SearchHit>> {
    let (condition, mut values) = words_condition("episode.folded", words);
    values.push(limit.into());
    // SQLite takes the other columns from the row that has the least slug.
    let sql = format!(
        "SELECT min(run_slug.slug), episode.slug, episode.scenario, episode.title, count(*) - 1, run.simulated
         FROM episode JOIN run ON run.id = episode.run {OPEN_SOURCES} WHERE {condition}
         GROUP BY episode.scenario, episode.title ORDER BY episode.scenario, episode.title LIMIT ?"
    );
    let mut find = conn.prepare_cached(&sql)?;
    let rows = find.query_map(params_from_iter(values), |row| {
        let scenario: String = row.get(2)?;
        let title: Option<String> = row.get(3)?;
        Ok(SearchHit {
            title: episode_name(scenario.clone(), title),
            detail: scenario,
            episode: row.get(1)?,
            also: row.get(4)?,
            simulated: row.get(5)?,
            ..SearchHit::new(MatchKind::Episode, row.get(0)?)
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The name of an episode: its title. A short scenario name precedes it, because titles of generated scenarios repeat.
pub fn episode_name(scenario: String, title: Option<String>) -> String {
    const SHORT_NAME_CHARS: usize = 16;
    match title {
        Some(title) if title != scenario && scenario.chars().count() <= SHORT_NAME_CHARS => {
            format!("{scenario} · {title}")
        }
        Some(title) => title,
        None => scenario,
    }
}

/// Requests with the phrase, then others, the best by BM25 first.
fn request_hits(conn: &Connection, query: &SearchQuery, limit: u32) -> Result<Vec<SearchHit>> {
    let phrase = query.match_phrase();
    // A single word is a phrase.
    let rank_of_others = if phrase.is_some() { MatchRank::Words } else { MatchRank::Phrase };
    let patterns = [(MatchRank::Phrase, phrase), (rank_of_others, query.match_all())];
    // The best texts first, then their places. The other order would read every place of every text.
    let mut best =
        conn.prepare_cached("SELECT rowid FROM request_index WHERE request_index MATCH ?1 ORDER BY rank")?;
    let sql = format!(
        "SELECT min(run_slug.slug), episode.slug, turn.number, turn.title, episode.scenario, request.body, count(*) - 1,
           run.simulated, episode.title, count(DISTINCT run.id) = count(*)
             AND count(DISTINCT episode.scenario) = 1 AND count(DISTINCT turn.number) = 1
         FROM request JOIN turn ON turn.request = request.id JOIN episode ON episode.id = turn.episode
           JOIN run ON run.id = episode.run {OPEN_SOURCES}
         WHERE request.id = ?1 HAVING count(*) > 0"
    );
    let mut places = conn.prepare_cached(&sql)?;
    let mut hits = Vec::new();
    let mut read = HashSet::new();
    for (rank, pattern) in patterns {
        let Some(pattern) = pattern else { continue };
        let mut requests = best.query([pattern])?;
        while hits.len() < limit as usize
            && let Some(row) = requests.next()?
        {
            let request: i64 = row.get(0)?;
            if !read.insert(request) {
                continue;
            }
            let found = places
                .query_row([request], |row| {
                    let turn: u32 = row.get(2)?;
                    let title: Option<String> = row.get(3)?;
                    let scenario = episode_name(row.get(4)?, row.get(8)?);
                    let body: String = row.get(5)?;
                    Ok(SearchHit {
                        title: format!("{scenario} · {}", title.unwrap_or_else(|| format!("turn {turn}"))),
                        detail: query.excerpt(&body),
                        episode: row.get(1)?,
                        turn: Some(turn),
                        also: row.get(6)?,
                        also_in_runs: row.get(9)?,
                        simulated: row.get(7)?,
                        rank,
                        ..SearchHit::new(MatchKind::Request, row.get(0)?)
                    })
                })
                .optional()?;
            hits.extend(found);
        }
    }
    Ok(hits)
}

/// Whether all text of open and closed sources is indexed.
fn is_complete(conn: &Connection) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "SELECT NOT EXISTS (SELECT 1 FROM episode WHERE indexed = 0)
               AND NOT EXISTS (SELECT 1 FROM request WHERE indexed = 0)",
        )?
        .query_row([], |row| row.get(0))?)
}

/// Indexes the failing tests of an episode.
fn index_episode(conn: &Connection, suites: &mut turns::Suites, episode: EpisodeId) -> Result<()> {
    let mut find = conn.prepare_cached(
        "SELECT attempt.id, suite, outcomes, details FROM attempt JOIN turn ON turn.id = attempt.turn
         WHERE turn.episode = ?1 AND failing > 0",
    )?;
    let mut add = conn.prepare_cached("INSERT INTO failure_index (rowid, body) VALUES (?1, ?2)")?;
    let mut rows = find.query([episode])?;
    while let Some(row) = rows.next()? {
        let outcomes: Vec<u8> = row.get(2)?;
        let details: Option<String> = row.get(3)?;
        let tests = turns::tests(conn, suites, row.get(1)?, &outcomes, details.as_deref())?;
        let mut body = String::new();
        for test in tests.iter().filter(|test| test.is_failing()) {
            body.push_str(&failure_text(test));
            body.push('\n');
            if body.len() > FAILURE_BYTES {
                break;
            }
        }
        add.execute((row.get::<_, i64>(0)?, cut(&body, FAILURE_BYTES)))?;
    }
    conn.prepare_cached("UPDATE episode SET indexed = 1 WHERE id = ?1")?.execute([episode])?;
    Ok(())
}

fn index(conn: &Connection, budget: u32) -> Result<bool> {
    let mut find = conn.prepare_cached("SELECT id FROM episode WHERE indexed = 0 LIMIT ?1")?;
    let episodes: Vec<EpisodeId> =
        find.query_map([budget], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut suites = turns::Suites::new();
    for episode in episodes {
        index_episode(conn, &mut suites, episode)?;
    }
    let mut find = conn.prepare_cached("SELECT id, body FROM request WHERE indexed = 0 LIMIT ?1")?;
    let requests: Vec<(i64, String)> = find
        .query_map([budget.saturating_mul(REQUESTS_PER_EPISODE)], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (id, body) in requests {
        conn.prepare_cached("INSERT INTO request_index (rowid, body) VALUES (?1, ?2)")?
            .execute((id, body))?;
        conn.prepare_cached("UPDATE request SET indexed = 1 WHERE id = ?1")?.execute([id])?;
    }
    Ok(!is_complete(conn)?)
}

impl SearchHit {
    fn new(kind: MatchKind, run: String) -> Self {
        Self {
            kind,
            title: String::new(),
            detail: String::new(),
            run,
            episode: None,
            turn: None,
            attempt: None,
            test: None,
            also: 0,
            also_is_least: false,
            also_in_runs: false,
            rank: MatchRank::Phrase,
            simulated: false,
        }
    }
}

impl Store {
    /// Finds names, requests and failing tests with every word, or with a phrase in quotation marks. In requests and failing
    /// tests, a word may be the start of a longer one, and those come first that have all words as a phrase. At most `limit`
    /// hits (0 = 20).
    pub fn search(&self, text: &str, limit: u32) -> Result<SearchHits> {
        let query = SearchQuery::new(text);
        let words = query.texts();
        let limit = if limit == 0 { HITS } else { limit };
        self.read(|conn| {
            let mut hits = SearchHits { hits: Vec::new(), complete: is_complete(conn)? };
            if !words.is_empty() {
                let kinds = [
                    run_hits(conn, &words, limit)?,
                    episode_hits(conn, &words, limit)?,
                    request_hits(conn, &query, limit)?,
                    failure_hits(conn, &query, limit)?,
                ];
                hits.hits = share(kinds, limit as usize);
            }
            Ok(hits)
        })
    }

    /// Indexes up to about `budget` more episodes, in one short transaction. Returns whether any are left. A background
    /// thread calls it repeatedly while no source is being read.
    pub fn index_text(&self, budget: u32) -> Result<bool> {
        // Most calls find nothing to do and must not wait for a writer.
        if self.read(is_complete)? {
            return Ok(false);
        }
        self.write(|write| index(&write.tx, budget.max(1)))
    }
}

/// At most `limit` hits, divided among the kinds. The next kinds get what one kind does not use. Runs and episodes come first;
/// requests and failing tests stand in one list, by how well they match.
fn share(kinds: [Vec<SearchHit>; 4], limit: usize) -> Vec<SearchHit> {
    let found = kinds.each_ref().map(Vec::len);
    let mut allowed = [0_usize; 4];
    let mut left = limit.min(found.iter().sum());
    while left > 0 {
        for (given, found) in allowed.iter_mut().zip(found) {
            if left > 0 && *given < found {
                *given += 1;
                left -= 1;
            }
        }
    }
    let [runs, episodes, requests, tests] = kinds;
    let ranked = |hits: Vec<SearchHit>| -> Vec<(MatchRank, SearchHit)> {
        hits.into_iter().map(|hit| (hit.rank, hit)).collect()
    };
    let texts = by_rank(vec![ranked(requests), ranked(tests)]);
    let names = runs.into_iter().take(allowed[0]).chain(episodes.into_iter().take(allowed[1]));
    names.chain(texts.into_iter().take(allowed[2] + allowed[3])).collect()
}
