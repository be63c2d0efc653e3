//! Failing tests with the words of a search. The same test of a scenario is one hit for all turns, attempts and runs.

use std::collections::{HashMap, HashSet};

use model::{TestResult, description_of_test, is_numeric_id, without_turn};
use rusqlite::{Connection, Row};

use super::query::{MatchRank, SearchQuery};
use super::{MatchKind, OPEN_SOURCES, SearchHit, episode_name};
use crate::Result;
use crate::turns;

/// How many of the latest attempts with failing tests are searched for a phrase first. FTS5 looks at the places of the words in
/// each attempt that has them all, also where none has the phrase.
const PHRASE_ATTEMPTS: u32 = 40_000;

/// How many attempts are read for each hit that is wanted.
const ATTEMPTS_PER_HIT: u32 = 4;

/// The searched text of a failing test.
pub(super) fn failure_text(test: &TestResult) -> String {
    failure_fields(test).join("\n")
}

/// The texts of a failing test, each once. The message of some sources begins with what came out.
fn failure_fields(test: &TestResult) -> Vec<&str> {
    let mut texts = vec![test.id.as_str()];
    for text in [&test.group, &test.intent, &test.expected, &test.actual, &test.message] {
        let text = without_repeated_lines(text.as_deref().unwrap_or_default(), &texts);
        if !text.is_empty() {
            texts.push(text);
        }
    }
    texts
}

/// A text without its first lines, if another text consists of them.
fn without_repeated_lines<'a>(text: &'a str, others: &[&str]) -> &'a str {
    let text = text.trim();
    let rest_after = |other: &&str| {
        let rest = text.strip_prefix(other.trim())?;
        (rest.is_empty() || rest.starts_with(['\n', '\r'])).then(|| rest.trim_start())
    };
    others.iter().find_map(rest_after).unwrap_or(text)
}

/// What identifies a test among the attempts of many runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct TestKey {
    scenario: String,
    test: String,
}

/// The identity of a test over turns: its id without the turn in the name of its file; of a number, what it checks.
fn test_key(test: &TestResult, turn: u32) -> String {
    if is_numeric_id(&test.id) {
        return description_of_test(test).unwrap_or_else(|| format!("{turn}\n{}", test.id));
    }
    match test.id.split_once("::") {
        Some((file, rest)) => format!("{}::{rest}", without_turn(file)),
        None => test.id.clone(),
    }
}

/// A failing test that matches.
struct MatchingTest<'a> {
    rank: MatchRank,
    test: &'a TestResult,
    /// Whether it has any of the words as they are written in the search.
    has_words: bool,
}

/// The failing tests with every word, those with the phrase first; or else the first with the most words; or else, if the index
/// found words with other accents, the first that may have them.
fn matching_tests<'a>(tests: &'a [TestResult], query: &SearchQuery) -> Vec<MatchingTest<'a>> {
    let failing: Vec<(&'a TestResult, Vec<&'a str>)> =
        tests.iter().filter(|test| test.is_failing()).map(|test| (test, failure_fields(test))).collect();
    let mut matching: Vec<MatchingTest<'a>> = failing
        .iter()
        .map(|(test, fields)| (query.rank_in(fields), *test))
        .filter(|(rank, _)| *rank <= MatchRank::Words)
        .map(|(rank, test)| MatchingTest { rank, test, has_words: true })
        .collect();
    matching.sort_by_key(|found| found.rank);
    if !matching.is_empty() {
        return matching;
    }
    let counts = failing.iter().map(|(test, fields)| (query.count_in(fields), *test));
    let with_most = counts.rev().max_by_key(|(count, _)| *count).filter(|(count, _)| *count > 0);
    let first = if let Some((_, test)) = with_most {
        Some((test, true))
    } else {
        let accented = failing.iter().find(|(_, fields)| query.may_be_accented_in(fields));
        accented.map(|(test, _)| (*test, false))
    };
    let in_part = |(test, has_words)| MatchingTest { rank: MatchRank::Parts, test, has_words };
    first.map(in_part).into_iter().collect()
}

/// The tests found so far.
#[derive(Default)]
struct FoundTests {
    /// In the order in which they were found. One whose words have other accents has no key: it may be another test.
    hits: Vec<(Option<TestKey>, SearchHit)>,
    /// In how many attempts each test matches.
    places: HashMap<TestKey, u32>,
    /// The attempts that were read.
    attempts: HashSet<i64>,
    suites: turns::Suites,
}

impl FoundTests {
    /// Reads the latest attempts with a row after `after` that match. Returns whether these were all.
    fn read(
        &mut self,
        conn: &Connection,
        query: &SearchQuery,
        pattern: &str,
        after: i64,
        limit: u32,
    ) -> Result<bool> {
        let sql = format!(
            "SELECT run_slug.slug, episode.slug, turn.number, attempt.number, episode.scenario, attempt.suite,
               attempt.outcomes, attempt.details, run.simulated, attempt.id, episode.title
             FROM failure_index CROSS JOIN attempt ON attempt.id = failure_index.rowid
               JOIN turn ON turn.id = attempt.turn JOIN episode ON episode.id = turn.episode
               JOIN run ON run.id = episode.run {OPEN_SOURCES}
             WHERE failure_index MATCH ?1 AND failure_index.rowid > ?2
             ORDER BY failure_index.rowid DESC LIMIT ?3"
        );
        let mut find = conn.prepare_cached(&sql)?;
        let most = limit.saturating_mul(ATTEMPTS_PER_HIT) as usize + self.attempts.len();
        let mut rows = find.query((pattern, after, i64::try_from(most).unwrap_or(i64::MAX)))?;
        let mut read = 0;
        while let Some(row) = rows.next()? {
            read += 1;
            if self.attempts.insert(row.get(9)?) {
                self.add_attempt(conn, row, query, limit as usize)?;
            }
        }
        Ok(read < most)
    }

    /// Adds at most one hit for an attempt: of the tests that match best, the first that no other attempt gave.
    fn add_attempt(
        &mut self,
        conn: &Connection,
        row: &Row<'_>,
        query: &SearchQuery,
        limit: usize,
    ) -> Result<()> {
        let outcomes: Vec<u8> = row.get(6)?;
        let details: Option<String> = row.get(7)?;
        let tests = turns::tests(conn, &mut self.suites, row.get(5)?, &outcomes, details.as_deref())?;
        let (turn, attempt, scenario): (u32, u32, String) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let mut keys = HashSet::new();
        let mut wants_hit = self.hits.len() < limit;
        let matching = matching_tests(&tests, query);
        let best = matching.first().map(|found| found.rank);
        for found in matching {
            let key = found
                .has_words
                .then(|| TestKey { scenario: scenario.clone(), test: test_key(found.test, turn) });
            if let Some(key) = &key {
                if !keys.insert(key.clone()) {
                    continue;
                }
                *self.places.entry(key.clone()).or_default() += 1;
            }
            let is_known = || key.is_some() && self.hits.iter().any(|(known, _)| *known == key);
            if !wants_hit || Some(found.rank) != best || is_known() {
                continue;
            }
            wants_hit = false;
            let hit = SearchHit {
                title: format!("{} · {}", episode_name(scenario.clone(), row.get(10)?), found.test.id),
                detail: query.excerpt(&failure_text(found.test)),
                episode: row.get(1)?,
                turn: Some(turn),
                attempt: Some(attempt),
                test: Some(found.test.id.clone()),
                simulated: row.get(8)?,
                rank: found.rank,
                ..SearchHit::new(MatchKind::Failure, row.get(0)?)
            };
            self.hits.push((key, hit));
        }
        Ok(())
    }

    /// The hits, each with the number of its other places.
    fn into_hits(self, are_all: bool) -> Vec<SearchHit> {
        let Self { hits, places, .. } = self;
        let with_places = hits.into_iter().map(|(key, hit)| SearchHit {
            also: key.and_then(|key| places.get(&key).copied()).map_or(0, |places| places - 1),
            also_is_least: !are_all,
            ..hit
        });
        with_places.collect()
    }
}

/// The row of the index after which the latest attempts stand.
fn first_row_for_phrases(conn: &Connection) -> Result<i64> {
    Ok(conn
        .prepare_cached(
            "SELECT coalesce((SELECT id FROM failure_index_docsize ORDER BY id DESC LIMIT 1 OFFSET ?1), -1)",
        )?
        .query_row([PHRASE_ATTEMPTS], |row| row.get(0))?)
}

/// Tests with the phrase, then others, of the latest attempts first. A rank of tens of thousands of messages that differ in a
/// number takes time and has no meaning.
pub(super) fn failure_hits(conn: &Connection, query: &SearchQuery, limit: u32) -> Result<Vec<SearchHit>> {
    let Some(all) = query.match_all() else { return Ok(Vec::new()) };
    let mut found = FoundTests::default();
    if let Some(phrase) = query.match_phrase() {
        found.read(conn, query, &phrase, first_row_for_phrases(conn)?, limit)?;
    }
    let are_all = found.hits.len() < limit as usize && found.read(conn, query, &all, -1, limit)?;
    Ok(found.into_hits(are_all))
}

#[cfg(test)]
mod tests {
    use model::TestOutcome;

    use super::*;

    fn test(id: &str, texts: [Option<&str>; 4]) -> TestResult {
        let [intent, expected, actual, message] = texts.map(|text| text.map(str::to_owned));
        TestResult { intent, expected, actual, message, ..TestResult::new(id, TestOutcome::Failed) }
    }

    #[test]
    fn what_came_out_is_in_the_text_once_although_the_message_begins_with_it() {
        let text = |message: &str| {
            let texts = [Some("unknown"), Some("1"), Some("expected=1 actual=127"), Some(message)];
            failure_text(&test("c003", texts))
        };
        let once = "c003\nunknown\n1\nexpected=1 actual=127";
        assert_eq!(text(" expected=1 actual=127\n"), once);
        assert_eq!(text("expected=1 actual=127\nscenario: a word"), format!("{once}\nscenario: a word"));
        assert_eq!(text("expected=1 actual=1270"), format!("{once}\nexpected=1 actual=1270"));
        assert_eq!(failure_text(&test("", [None, Some(""), Some("b"), None])), "\nb");
    }

    #[test]
    fn a_test_is_the_same_in_turns_that_number_it_otherwise() {
        let described = |id: &str| test(id, [Some("unknown subcommand is rejected"), None, None, None]);
        let undescribed = |id: &str| test(id, [None; 4]);
        assert_eq!(test_key(&described("c003"), 1), test_key(&described("c017"), 2));
        assert_ne!(test_key(&undescribed("c003"), 1), test_key(&undescribed("c003"), 2));
        let in_file = |turn: u32| test_key(&undescribed(&format!("suites/turn_{turn}.py::test_get")), turn);
        assert_eq!(in_file(3), in_file(14));
        assert_eq!(test_key(&undescribed("test_get"), 1), test_key(&undescribed("test_get"), 2));
        // Other digits of the path are of the test.
        let key = |id: &str, turn: u32| test_key(&undescribed(id), turn);
        assert_eq!(key("tests/test_v2.py::a", 1), key("tests/test_v2.py::a", 2));
        assert_ne!(key("tests/test_12.py::a", 2), key("tests/test_1.py::a", 2));
    }

    #[test]
    fn every_test_with_the_words_matches_and_those_with_the_phrase_come_first() {
        let failing = |id: &str, actual: &str| test(id, [None, None, Some(actual), None]);
        let found = |query: &str, tests: &[TestResult]| -> Vec<(String, MatchRank, bool)> {
            let matching = matching_tests(tests, &SearchQuery::new(query));
            matching.iter().map(|one| (one.test.id.clone(), one.rank, one.has_words)).collect()
        };
        let hit = |id: &str, rank: MatchRank| (id.to_owned(), rank, true);
        let tests = [failing("a", "a note, no such"), failing("b", "no such note"), failing("c", "no")];
        let (phrase, words) = (hit("b", MatchRank::Phrase), hit("a", MatchRank::Words));
        assert_eq!(found("such note", &tests), [phrase, words]);
        assert_eq!(found("such c", &tests), [hit("a", MatchRank::Parts)]);
        // The phrase stands in no field.
        assert!(found("\"b no\"", &tests).is_empty());
        // The index ignores accents: nothing says which test it found.
        let tests = [failing("a", "x"), failing("b", "über")];
        assert_eq!(found("uber", &tests), [("b".to_owned(), MatchRank::Parts, false)]);
        assert_eq!(found("ubér", &tests), [("a".to_owned(), MatchRank::Parts, false)]);
    }
}
