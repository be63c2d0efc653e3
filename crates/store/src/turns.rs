//! Turns and attempts: change requests, verdicts and the outcome of each test.
//!
//! Tests are compact. An attempt refers to the list of ids of its suite, which the database stores once, and has one letter
//! per test. Other fields (message, expected, actual, …) are stored as JSON: of passed tests only what describes them.

mod put;

use std::collections::HashMap;
use std::rc::Rc;

use model::{Attempt, CachedInput, Counting, Request, TestOutcome, TestResult, Turn, TurnState, Verdict};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::grader;
use crate::limits::{MESSAGE_BYTES, cut};
use crate::migration::Migration;
use crate::values::{
    end_reason, no_word, pair, parse, parse_artifacts, parse_or_default, read_timing, tokens,
};
use crate::withdrawn_filter::VALID_EPISODE;
use crate::{EpisodeId, Result, RunId, Store, StoreError};

pub(crate) use self::put::put;

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sql: "
CREATE TABLE turn (
  id INTEGER PRIMARY KEY,
  episode INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  title TEXT,
  -- the letter of its cell
  state TEXT NOT NULL,
  -- of the final attempt
  passed INTEGER,
  total INTEGER,
  attempts INTEGER NOT NULL,
  -- what was asked: a text that is kept here, or a JSON artifact
  request INTEGER REFERENCES request (id),
  request_file TEXT,
  artifacts TEXT,
  extra TEXT
) STRICT;
CREATE INDEX turn_by_episode ON turn (episode, number);
CREATE INDEX turn_by_request ON turn (request) WHERE request IS NOT NULL;

CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  turn INTEGER NOT NULL REFERENCES turn (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  end_reason TEXT,
  passed INTEGER,
  total INTEGER,
  reward REAL,
  input_tokens INTEGER,
  cached_tokens INTEGER,
  output_tokens INTEGER,
  cost_usd REAL,
  tool_calls INTEGER,
  started_at TEXT,
  finished_at TEXT,
  agent_seconds REAL,
  test_seconds REAL,
  exception_type TEXT,
  exception_message TEXT,
  artifacts TEXT,
  extra TEXT,
  -- the ids of its tests, one letter a test (p f e s), and JSON of what else is known of some
  suite INTEGER REFERENCES suite (id),
  outcomes BLOB,
  details TEXT,
  -- failing tests that are described
  failing INTEGER NOT NULL
) STRICT;
CREATE INDEX attempt_by_turn ON attempt (turn);
CREATE INDEX attempt_by_suite ON attempt (suite) WHERE suite IS NOT NULL;
",
    },
    Migration {
        version: 2,
        sql: "
-- how passed and total enter scores: share, zero, outside
ALTER TABLE attempt ADD COLUMN counting TEXT NOT NULL DEFAULT 'share';
",
    },
    Migration {
        version: 6,
        sql: "
-- steps of the agent; only the sources say how many, so all are read again
ALTER TABLE attempt ADD COLUMN steps INTEGER;
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 9,
        sql: "
-- how cached_tokens came to be part of input_tokens: included, assumed, added, added_by_run. Counts of older libraries may
-- leave them out, which only the sources say, so all are read again
ALTER TABLE attempt ADD COLUMN cached_input TEXT NOT NULL DEFAULT 'included';
CREATE INDEX attempt_cache_added ON attempt (turn) WHERE cached_input = 'added';
CREATE INDEX attempt_cache_added_by_run ON attempt (turn) WHERE cached_input = 'added_by_run';
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 18,
        sql: "
-- places of its task's verifier that the agent's tool calls name, as words with blanks between them; empty = none, NULL =
-- nothing tells. Only transcripts say it, so all sources are read again
ALTER TABLE attempt ADD COLUMN grader_places TEXT;
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 26,
        sql: "
-- passed cases are described from here on, which identifies them over turns: sources whose ids of tests are numbers are read again
UPDATE part SET stamp = NULL WHERE id IN
  (SELECT episode.part FROM episode JOIN run ON run.id = episode.run WHERE run.format <> 'table');
",
    },
];

/// One turn in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TurnRow {
    /// From 1.
    pub number: u32,
    /// A short name.
    pub title: Option<String>,
    /// State of its cell.
    pub state: TurnState,
    /// Tests passed at the final attempt.
    pub passed: Option<u32>,
    /// Tests run at the final attempt.
    pub total: Option<u32>,
    /// Attempts made.
    pub attempts: u32,
}

/// Failing tests at the final attempt, from the counts, else from the described tests; `None` = unknown or none.
pub(crate) fn failing_count(turn: &Turn) -> Option<u32> {
    let last = turn.attempts.last()?;
    let failing = last.counted_failing().unwrap_or_else(|| last.described_failing());
    (failing > 0).then_some(failing)
}

/// Whether no failing test of any attempt is described, so that there is nothing to search for.
pub(crate) fn has_no_failing_tests(turns: &[Turn]) -> bool {
    turns.iter().flat_map(|turn| &turn.attempts).all(|attempt| attempt.described_failing() == 0)
}

const fn letter(outcome: TestOutcome) -> u8 {
    match outcome {
        TestOutcome::Passed => b'p',
        TestOutcome::Failed => b'f',
        TestOutcome::Error => b'e',
        TestOutcome::Skipped => b's',
    }
}

fn outcome_from_letter(letter: u8) -> Result<TestOutcome> {
    Ok(match letter {
        b'p' => TestOutcome::Passed,
        b'f' => TestOutcome::Failed,
        b'e' => TestOutcome::Error,
        b's' => TestOutcome::Skipped,
        other => return Err(no_word("test outcome", &other.to_string())),
    })
}

/// The fields of a test other than its id and outcome.
#[derive(Debug, Serialize, Deserialize)]
struct Detail<'a> {
    /// Position in the suite, from 0.
    #[serde(rename = "at")]
    position: usize,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    group: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    kind: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    intent: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    scenario: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    expected: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    actual: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    message: Option<Text<'a>>,
}

type Text<'a> = std::borrow::Cow<'a, str>;

impl<'a> Detail<'a> {
    fn from_test(index: usize, test: &'a TestResult) -> Option<Self> {
        let text = |text: &'a Option<String>| text.as_deref().map(|text| cut(text, MESSAGE_BYTES));
        let detail = Self {
            position: index,
            group: text(&test.group),
            kind: text(&test.kind),
            intent: text(&test.intent),
            scenario: text(&test.scenario),
            expected: text(&test.expected),
            actual: text(&test.actual),
            message: text(&test.message),
        };
        let known = detail.group.is_some()
            || detail.kind.is_some()
            || detail.intent.is_some()
            || detail.scenario.is_some()
            || detail.expected.is_some()
            || detail.actual.is_some()
            || detail.message.is_some();
        known.then_some(detail)
    }

    fn put_into(self, tests: &mut [TestResult]) {
        let Some(test) = tests.get_mut(self.position) else { return };
        test.group = self.group.map(Text::into_owned);
        test.kind = self.kind.map(Text::into_owned);
        test.intent = self.intent.map(Text::into_owned);
        test.scenario = self.scenario.map(Text::into_owned);
        test.expected = self.expected.map(Text::into_owned);
        test.actual = self.actual.map(Text::into_owned);
        test.message = self.message.map(Text::into_owned);
    }
}

/// The turns of an episode, without their attempts.
pub(crate) fn entries(conn: &Connection, episode: EpisodeId) -> Result<Vec<TurnRow>> {
    let mut find = conn.prepare_cached(
        "SELECT number, title, state, passed, total, attempts FROM turn WHERE episode = ?1 ORDER BY number, id",
    )?;
    find.query_and_then([episode], |row| {
        let word: String = row.get(2)?;
        let state = word.chars().next().and_then(TurnState::from_letter);
        Ok(TurnRow {
            number: row.get(0)?,
            title: row.get(1)?,
            state: state.ok_or_else(|| no_word("turn state", &word))?,
            passed: row.get(3)?,
            total: row.get(4)?,
            attempts: row.get(5)?,
        })
    })?
    .collect()
}

/// A cache of lists of test ids. The attempts of a turn mostly share one.
pub(crate) type Suites = HashMap<i64, Rc<Vec<String>>>;

/// The tests of an attempt.
pub(crate) fn tests(
    conn: &Connection,
    suites: &mut Suites,
    suite: Option<i64>,
    outcomes: &[u8],
    details: Option<&str>,
) -> Result<Vec<TestResult>> {
    let Some(suite) = suite else { return Ok(Vec::new()) };
    let ids = match suites.get(&suite) {
        Some(ids) => Rc::clone(ids),
        None => {
            let body: String = conn
                .prepare_cached("SELECT body FROM suite WHERE id = ?1")?
                .query_row([suite], |row| row.get(0))?;
            let ids = Rc::new(parse(&body)?);
            suites.insert(suite, Rc::clone(&ids));
            ids
        }
    };
    if ids.len() != outcomes.len() {
        return Err(StoreError::Damaged(format!("{} tests with {} outcomes", ids.len(), outcomes.len())));
    }
    let mut tests = ids
        .iter()
        .zip(outcomes)
        .map(|(id, letter)| Ok(TestResult::new(id.clone(), outcome_from_letter(*letter)?)))
        .collect::<Result<Vec<_>>>()?;
    for detail in parse_or_default::<Vec<Detail<'_>>>(details)? {
        detail.put_into(&mut tests);
    }
    Ok(tests)
}

/// A turn without its attempts. Its row number is the first column.
fn read_turn(row: &Row<'_>) -> Result<Turn> {
    let request = match (row.get::<_, Option<String>>(3)?, row.get::<_, Option<String>>(4)?) {
        (Some(text), _) => Some(Request::Text(text)),
        (None, Some(file)) => parse_artifacts(Some(&file))?.pop().map(Request::File),
        (None, None) => None,
    };
    Ok(Turn {
        number: row.get(1)?,
        title: row.get(2)?,
        request,
        attempts: Vec::new(),
        artifacts: parse_artifacts(row.get::<_, Option<String>>(5)?.as_deref())?,
        extra: parse_or_default(row.get::<_, Option<String>>(6)?.as_deref())?,
    })
}

fn read_attempt(conn: &Connection, suites: &mut Suites, row: &Row<'_>) -> Result<Attempt> {
    let verdict: String = row.get(1)?;
    let outcomes = row.get_ref(20)?.as_blob_or_null().map_err(rusqlite::Error::from)?.unwrap_or_default();
    let counting: String = row.get(22)?;
    let cached_input: String = row.get(24)?;
    let details = row.get_ref(21)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    Ok(Attempt {
        number: row.get(0)?,
        verdict: Verdict::parse(&verdict).ok_or_else(|| no_word("verdict", &verdict))?,
        end_reason: row.get::<_, Option<String>>(2)?.as_deref().map(end_reason).transpose()?,
        passed: row.get(3)?,
        total: row.get(4)?,
        counting: Counting::parse(&counting).ok_or_else(|| no_word("counting", &counting))?,
        reward: row.get(5)?,
        tests: tests(conn, suites, row.get(19)?, outcomes, details)?,
        tokens: tokens(row, 6)?,
        cached_input: CachedInput::parse(&cached_input)
            .ok_or_else(|| no_word("kind of cached input", &cached_input))?,
        cost_usd: row.get(9)?,
        tool_calls: row.get(10)?,
        steps: row.get(23)?,
        timing: read_timing(row, 11)?,
        exception: pair(row, 15)?,
        grader_places: row.get::<_, Option<String>>(25)?.as_deref().map(grader::places).transpose()?,
        artifacts: parse_artifacts(row.get::<_, Option<String>>(17)?.as_deref())?,
        extra: parse_or_default(row.get::<_, Option<String>>(18)?.as_deref())?,
    })
}

/// The row number of a turn, and the turn without its attempts.
const TURN_COLUMNS: &str =
    "turn.id, turn.number, turn.title, request.body, turn.request_file, turn.artifacts, turn.extra
  FROM turn LEFT JOIN request ON request.id = turn.request";

/// The columns that [`read_attempt`] reads.
const ATTEMPT_COLUMNS: &str =
    "number, verdict, end_reason, passed, total, reward, input_tokens, cached_tokens,
  output_tokens, cost_usd, tool_calls, started_at, finished_at, agent_seconds, test_seconds, exception_type,
  exception_message, artifacts, extra, suite, outcomes, details, counting, steps, cached_input, grader_places";

fn attempts(conn: &Connection, suites: &mut Suites, turn: i64) -> Result<Vec<Attempt>> {
    let sql = format!("SELECT {ATTEMPT_COLUMNS} FROM attempt WHERE turn = ?1 ORDER BY id");
    let mut find = conn.prepare_cached(&sql)?;
    let mut rows = find.query([turn])?;
    let mut attempts = Vec::new();
    while let Some(row) = rows.next()? {
        attempts.push(read_attempt(conn, suites, row)?);
    }
    Ok(attempts)
}

/// Every turn of an episode with its attempts and tests, in the order in which they were written.
pub(crate) fn read_turns(conn: &Connection, episode: EpisodeId) -> Result<Vec<Turn>> {
    let sql = format!("SELECT {TURN_COLUMNS} WHERE turn.episode = ?1 ORDER BY turn.id");
    let mut find = conn.prepare_cached(&sql)?;
    let mut rows = find.query([episode])?;
    let mut suites = Suites::new();
    let mut turns = Vec::new();
    while let Some(row) = rows.next()? {
        turns.push(Turn { attempts: attempts(conn, &mut suites, row.get(0)?)?, ..read_turn(row)? });
    }
    Ok(turns)
}

impl Store {
    /// A turn with its attempts and every test.
    pub fn turn(&self, episode: EpisodeId, number: u32) -> Result<Option<Turn>> {
        self.read(|conn| {
            let sql = format!(
                "SELECT {TURN_COLUMNS} WHERE turn.episode = ?1 AND turn.number = ?2 ORDER BY turn.id LIMIT 1"
            );
            let mut find = conn.prepare_cached(&sql)?;
            let found = find
                .query_row((episode, number), |row| Ok((row.get::<_, i64>(0)?, read_turn(row))))
                .optional()?;
            let Some((id, turn)) = found else { return Ok(None) };
            Ok(Some(Turn { attempts: attempts(conn, &mut Suites::new(), id)?, ..turn? }))
        })
    }

    /// How the tests of the final attempts at the turns of a run enter scores, by episode and number of the turn, where that
    /// is not [`Counting::Share`].
    pub fn other_countings(&self, run: RunId) -> Result<HashMap<(EpisodeId, u32), Counting>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&format!(
                "SELECT episode.id, turn.number, attempt.counting
                 FROM episode JOIN turn ON turn.episode = episode.id JOIN attempt ON attempt.turn = turn.id
                 WHERE episode.run = ?1 AND {VALID_EPISODE} AND attempt.counting <> 'share'
                   AND attempt.id = (SELECT max(id) FROM attempt AS last WHERE last.turn = turn.id)"
            ))?;
            find.query_and_then([run], |row| -> Result<((EpisodeId, u32), Counting)> {
                let word: String = row.get(2)?;
                let counting = Counting::parse(&word).ok_or_else(|| no_word("counting", &word))?;
                Ok(((row.get(0)?, row.get(1)?), counting))
            })?
            .collect()
        })
    }
}
