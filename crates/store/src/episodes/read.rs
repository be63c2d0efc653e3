//! Episodes as they are read: for the grid, with their turns, and as they were written.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use model::{Artifact, EndReason, Episode, Extra, Timing, Tokens};
use rusqlite::{Connection, Row};

use super::ReportedTokens;
use crate::values::{end_reason, pair, parse, parse_artifacts, parse_or_default, read_timing, tokens};
use crate::{EpisodeId, OTHER_IDENTITY, Result, RunId, Store, TurnRow, sessions, turns, withdrawn_filter};

/// An episode for the grid, the curve and the scores.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeEntry {
    /// Number in the store.
    pub id: EpisodeId,
    /// Stable name inside its run, used in links.
    pub slug: String,
    /// Identity inside its run.
    pub key: String,
    /// Scenario.
    pub scenario: String,
    /// A name for people, if the source has one.
    pub title: Option<String>,
    /// Repeat of the scenario in the run, from 1.
    pub repeat: u32,
    /// Planned turns; `None` = the source does not record them.
    pub planned_turns: Option<u32>,
    /// The last turn known to exist: the planned number, or the highest recorded one.
    pub known_turns: u32,
    /// Consecutive turns passed from turn 1.
    pub stamina: u32,
    /// First turn not passed; `None` = every known turn was passed.
    pub failed_turn: Option<u32>,
    /// Why the observation ended ([`Episode::end`]).
    pub end_reason: EndReason,
    /// Whether an exception with an unrecognized cause ended it, which is attributed to the agent.
    pub unrecognised: bool,
    /// One letter ([`model::TurnState::letter`]) per turn, from turn 1 to `known_turns` (at most [`crate::limits::GRID_TURNS`]).
    pub cells: String,
    /// Failing tests per turn at the final attempt, as long as `cells`; `None` = unknown or none.
    pub failing: Vec<Option<u32>>,
    /// Turns passed, also after a failed turn: Σ p of EvoCode's dataset score.
    pub passed_turns: u32,
    /// Σ of the shares of tests passed ([`model::Attempt::share`]) over turns whose final attempt has one: the sum that
    /// StaminaBench's score and EvoCode's case score divide by the planned turns.
    pub ratio_sum: f64,
    /// How many turns are in `ratio_sum`. Turns of which it is known that no test ran are in it with 0.
    pub ratio_turns: u32,
    /// Turns whose final attempt passed without counts, or with 0 of 0. A pass is a share of 1.
    pub passed_without_counts: u32,
    /// Turns whose final attempt failed its tests and is not in `ratio_sum`. Their share is unknown.
    pub failed_without_counts: u32,
    /// Turns with at least one attempt.
    pub reached_turns: u32,
    /// Attempts.
    pub attempts: u32,
    /// Tokens: of the episode, else summed over its attempts.
    pub tokens: Tokens,
    /// Cost in US dollars: of the episode, else summed over its attempts; `None` = the cost of some attempt is unknown.
    pub cost_usd: Option<f64>,
    /// Tool calls, summed over the attempts with known tool calls.
    pub tool_calls: Option<u32>,
    /// When it began, as the source writes it: RFC 3339, perhaps without an offset; `None` = unknown.
    pub started_at: Option<String>,
    /// Why a user has withdrawn it; `None` = it counts.
    pub invalid: Option<String>,
}

/// An episode with its turns, without their attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeRecord {
    /// The entry of the grid.
    pub entry: EpisodeEntry,
    /// Its run.
    pub run: RunId,
    /// The turns that the source describes, in order. Later turns up to `known_turns` were not reached.
    pub turns: Vec<TurnRow>,
    /// The figures that the source reports for the episode.
    pub reported: Vec<(String, f64)>,
    /// Exception of the whole episode: type and message.
    pub exception: Option<(String, String)>,
    /// When.
    pub timing: Timing,
    /// Logs of the whole episode.
    pub artifacts: Vec<Artifact>,
    /// Unknown fields.
    pub extra: Extra,
}

/// The columns that [`read_entry`] reads.
static COLUMNS: LazyLock<String> =
    LazyLock::new(|| format!("{OWN_COLUMNS}, {}", withdrawn_filter::EPISODE_REASON));

/// The columns of the table itself among [`COLUMNS`].
const OWN_COLUMNS: &str = "id, slug, key, scenario, title, repeat, planned_turns, known_turns, stamina, failed_turn,
  end_reason, cells, failing, passed_turns, ratio_sum, ratio_turns, passed_without_counts, failed_without_counts, reached_turns, attempts,
  input_tokens, cached_tokens, output_tokens, cost_usd, tool_calls, unrecognised, started_at";

/// The number of [`COLUMNS`].
const COLUMN_COUNT: usize = 28;

/// The columns that [`read_record`] reads after those.
const MORE_COLUMNS: &str =
    "run, reported, exception_type, exception_message, started_at, finished_at, agent_seconds,
  test_seconds, artifacts, extra, given_end_reason, given_tokens, given_cost_usd, attempts_left, identity";

fn read_entry(row: &Row<'_>) -> Result<EpisodeEntry> {
    Ok(EpisodeEntry {
        id: row.get(0)?,
        slug: row.get(1)?,
        key: row.get(2)?,
        scenario: row.get(3)?,
        title: row.get(4)?,
        repeat: row.get(5)?,
        planned_turns: row.get(6)?,
        known_turns: row.get(7)?,
        stamina: row.get(8)?,
        failed_turn: row.get(9)?,
        end_reason: end_reason(row.get_ref(10)?.as_str().map_err(rusqlite::Error::from)?)?,
        cells: row.get(11)?,
        failing: parse(row.get_ref(12)?.as_str().map_err(rusqlite::Error::from)?)?,
        passed_turns: row.get(13)?,
        ratio_sum: row.get(14)?,
        ratio_turns: row.get(15)?,
        passed_without_counts: row.get(16)?,
        failed_without_counts: row.get(17)?,
        reached_turns: row.get(18)?,
        attempts: row.get(19)?,
        tokens: tokens(row, 20)?,
        cost_usd: row.get(23)?,
        tool_calls: row.get(24)?,
        unrecognised: row.get(25)?,
        started_at: row.get(26)?,
        invalid: row.get(27)?,
    })
}

fn read_record(conn: &Connection, row: &Row<'_>) -> Result<EpisodeRecord> {
    let column = COLUMN_COUNT;
    let entry = read_entry(row)?;
    Ok(EpisodeRecord {
        run: row.get(column)?,
        turns: turns::entries(conn, entry.id)?,
        reported: parse(&row.get::<_, String>(column + 1)?)?,
        exception: pair(row, column + 2)?,
        timing: read_timing(row, column + 4)?,
        artifacts: parse_artifacts(row.get::<_, Option<String>>(column + 8)?.as_deref())?,
        extra: without_other_identity(parse_or_default(
            row.get::<_, Option<String>>(column + 9)?.as_deref(),
        )?),
        entry,
    })
}

/// What a source says: an identity that its reader has put there is not.
fn without_other_identity(mut extra: Extra) -> Extra {
    let is_own = |value: &str| value.len() == 19 && value.as_bytes().get(2) == Some(&b'-');
    if extra.get(OTHER_IDENTITY).and_then(serde_json::Value::as_str).is_some_and(is_own) {
        extra.remove(OTHER_IDENTITY);
    }
    extra
}

impl Store {
    /// The episodes of a run that count, by slug, without touching turns and attempts.
    pub fn episodes(&self, run: RunId) -> Result<Vec<EpisodeEntry>> {
        let mut all = self.all_episodes(run)?;
        all.retain(|episode| episode.invalid.is_none());
        Ok(all)
    }

    /// The same with withdrawn episodes. They are shown, but never counted.
    pub fn all_episodes(&self, run: RunId) -> Result<Vec<EpisodeEntry>> {
        self.read(|conn| {
            let sql = format!("SELECT {} FROM episode WHERE run = ?1 ORDER BY slug", *COLUMNS);
            let mut find = conn.prepare_cached(&sql)?;
            find.query_and_then([run], read_entry)?.collect()
        })
    }

    /// The scenarios of the episodes of a run that count, each with how many there are.
    pub fn scenario_counts(&self, run: RunId) -> Result<BTreeMap<String, u32>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&format!(
                "SELECT episode.scenario, count(*) FROM episode WHERE episode.run = ?1 AND {} GROUP BY episode.scenario",
                withdrawn_filter::VALID_EPISODE
            ))?;
            let rows = find.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The episode of this slug with its turns.
    pub fn episode(&self, run: RunId, slug: &str) -> Result<Option<EpisodeRecord>> {
        self.read(|conn| {
            let sql =
                format!("SELECT {}, {MORE_COLUMNS} FROM episode WHERE run = ?1 AND slug = ?2", *COLUMNS);
            let mut find = conn.prepare_cached(&sql)?;
            let mut rows = find.query((run, slug))?;
            rows.next()?.map(|row| read_record(conn, row)).transpose()
        })
    }

    /// An episode as it was written, with every attempt and test.
    pub fn whole_episode(&self, episode: EpisodeId) -> Result<Option<Episode>> {
        self.read(|conn| read_whole(conn, episode))
    }
}

/// An episode with every attempt and test.
pub(crate) fn read_whole(conn: &Connection, episode: EpisodeId) -> Result<Option<Episode>> {
    let sql = format!("SELECT {}, {MORE_COLUMNS} FROM episode WHERE id = ?1", *COLUMNS);
    let mut find = conn.prepare_cached(&sql)?;
    let mut rows = find.query([episode])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let record = read_record(conn, row)?;
    let reason: Option<String> = row.get(COLUMN_COUNT + 10)?;
    let reported_tokens: Option<String> = row.get(COLUMN_COUNT + 11)?;
    let reported_tokens: Option<ReportedTokens> = reported_tokens.as_deref().map(parse).transpose()?;
    Ok(Some(Episode {
        key: record.entry.key,
        identity: row.get(COLUMN_COUNT + 14)?,
        scenario: record.entry.scenario,
        title: record.entry.title,
        repeat: record.entry.repeat,
        planned_turns: record.entry.planned_turns,
        turns: turns::read_turns(conn, episode)?,
        end_reason: reason.as_deref().map(end_reason).transpose()?,
        attempts_left: row.get(COLUMN_COUNT + 13)?,
        unrecognised: record.entry.unrecognised,
        invalid: record.entry.invalid,
        reported: record.reported,
        tokens: reported_tokens.as_ref().map(|reported_tokens| reported_tokens.tokens),
        cached_input: reported_tokens.map(|reported_tokens| reported_tokens.cached_input).unwrap_or_default(),
        cost_usd: row.get(COLUMN_COUNT + 12)?,
        timing: record.timing,
        exception: record.exception,
        artifacts: record.artifacts,
        extra: record.extra,
        session: sessions::figures(conn, episode)?,
    }))
}
