//! Episodes: one row holds all that a grid, a curve and a score need, so that they never read turns or attempts.

mod read;

use model::{CachedInput, EndReason, Episode, Tokens, Turn, Verdict};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

pub(crate) use self::read::read_whole;
pub use self::read::{EpisodeEntry, EpisodeRecord};
use crate::limits::{GRID_TURNS, IDENTITY_BYTES, MESSAGE_BYTES, cut};
use crate::migration::Migration;
use crate::values::{artifacts_json, extra_json, folded_text, int, json};
use crate::write::Write;
use crate::{EpisodeId, Result, RunId, UsedTotals, episode_turns, sessions, slugs, texts, turns, withdrawn};

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sql: "
CREATE TABLE episode (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  part INTEGER NOT NULL REFERENCES part (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  slug TEXT NOT NULL,
  scenario TEXT NOT NULL,
  title TEXT,
  repeat INTEGER NOT NULL,
  planned_turns INTEGER,
  known_turns INTEGER NOT NULL,
  stamina INTEGER NOT NULL,
  failed_turn INTEGER,
  end_reason TEXT NOT NULL,
  -- one letter a turn, and JSON [failing tests or null, ...] of the same length
  cells TEXT NOT NULL,
  failing TEXT NOT NULL,
  passed_turns INTEGER NOT NULL,
  ratio_sum REAL NOT NULL,
  ratio_turns INTEGER NOT NULL,
  passed_without_counts INTEGER NOT NULL,
  failed_without_counts INTEGER NOT NULL,
  reached_turns INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  -- of the episode, else summed over its attempts
  input_tokens INTEGER,
  cached_tokens INTEGER,
  output_tokens INTEGER,
  cost_usd REAL,
  tool_calls INTEGER,
  -- as the source gives them for the whole episode
  given_end_reason TEXT,
  given_tokens TEXT,
  given_cost_usd REAL,
  started_at TEXT,
  finished_at TEXT,
  agent_seconds REAL,
  test_seconds REAL,
  exception_type TEXT,
  exception_message TEXT,
  reported TEXT NOT NULL,
  artifacts TEXT,
  extra TEXT,
  -- names in lower case, to look words up in
  folded TEXT NOT NULL,
  -- whether the full-text search knows its failing tests
  indexed INTEGER NOT NULL DEFAULT 0,
  UNIQUE (part, run, key),
  UNIQUE (run, slug)
) STRICT;
CREATE INDEX episode_totals ON episode
  (run, end_reason, planned_turns, input_tokens, cached_tokens, output_tokens, cost_usd);
CREATE INDEX episode_to_index ON episode (id) WHERE indexed = 0;
",
    },
    Migration {
        version: 5,
        sql: "
-- A sum of which a part is unknown is unknown.
UPDATE episode SET cost_usd = NULL WHERE cost_usd IS NOT NULL AND given_cost_usd IS NULL AND EXISTS (
  SELECT 1 FROM turn JOIN attempt ON attempt.turn = turn.id WHERE turn.episode = episode.id
    AND attempt.cost_usd IS NULL AND NOT coalesce(attempt.input_tokens = 0 AND attempt.output_tokens = 0, 0));
",
    },
    Migration {
        version: 6,
        sql: "
-- What asked no model cost nothing, also where no attempt says a cost.
UPDATE episode SET cost_usd = play.cost FROM play
  WHERE play.episode = episode.id AND episode.cost_usd IS NULL AND episode.reached_turns > 0
    AND play.cost_turns = episode.reached_turns;
",
    },
    Migration {
        version: 7,
        sql: "
-- whether attempts were left where something outside ended an episode; only the sources say it, so all are read again
ALTER TABLE episode ADD COLUMN attempts_left INTEGER NOT NULL DEFAULT 0;
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 9,
        sql: "
-- whether an exception ended it whose cause is not recognized; ends of exceptions are told otherwise than before, so all
-- sources are read again
ALTER TABLE episode ADD COLUMN unrecognised INTEGER NOT NULL DEFAULT 0;
CREATE INDEX episode_unrecognised ON episode (run) WHERE unrecognised = 1;
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 10,
        sql: "
-- the same for copies of an episode, in whatever source; only the sources say it, so all are read again
ALTER TABLE episode ADD COLUMN identity TEXT;
CREATE INDEX episode_identity ON episode (identity) WHERE identity IS NOT NULL;
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 15,
        sql: "
-- whether the full-text search knows its transcripts and logs: 0 = not yet, 1 = yes, 2 = just now, 3 = they cannot be read
ALTER TABLE episode ADD COLUMN texts INTEGER NOT NULL DEFAULT 0;
CREATE INDEX episode_texts ON episode (texts) WHERE texts <> 1;
",
    },
    Migration {
        version: 16,
        sql: "
-- a trial of Harbor is known by its name in its job, numbers of a foreign table are no identity, and tokens that nobody counted
-- are unknown; only the sources say it, so all are read again
UPDATE part SET stamp = NULL;
-- what a source says of the tokens of whole episodes is looked for in the whole library
CREATE INDEX episode_given ON episode (run) WHERE given_tokens IS NOT NULL;
-- texts may be 4, too: in part, because they are too many. What indexing them took: bytes, and more for each word
ALTER TABLE episode ADD COLUMN text_cost INTEGER NOT NULL DEFAULT 0;
",
    },
    Migration {
        version: 20,
        sql: "
-- the identity that the reader gave it; `identity` is what it is known by, which other places of the library may tell. Layouts
-- of before kept the latter alone, so the formats in which the two may differ are read again
ALTER TABLE episode ADD COLUMN own_identity TEXT;
UPDATE episode SET own_identity = identity WHERE identity IS NOT NULL;
CREATE INDEX episode_own_identity ON episode (own_identity) WHERE own_identity IS NOT NULL;
CREATE INDEX episode_settled ON episode (run) WHERE identity IS NOT own_identity;
UPDATE part SET stamp = NULL WHERE id IN (SELECT episode.part FROM episode JOIN run ON run.id = episode.run
  WHERE run.format IN ('terminal-bench', 'staminabench'));
",
    },
];

/// Counts over the turns of an episode, made when it is written.
#[derive(Debug, Default)]
struct EpisodeCounts {
    cells: String,
    failing: Vec<Option<u32>>,
    passed_turns: u32,
    ratio_sum: f64,
    ratio_turns: u32,
    passed_without_counts: u32,
    failed_without_counts: u32,
    reached_turns: u32,
    attempts: u32,
    tokens: Tokens,
    cost_usd: Option<f64>,
    tool_calls: Option<u32>,
}

/// Tokens that the source gives for a whole episode (`given_tokens`).
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ReportedTokens {
    #[serde(flatten)]
    tokens: Tokens,
    /// Why the input includes the cached ones. Older libraries do not record it.
    #[serde(default)]
    cached_input: CachedInput,
}

impl EpisodeCounts {
    fn new(episode: &Episode, used: &UsedTotals) -> Self {
        let columns = episode.known_turns().min(GRID_TURNS) as usize;
        let mut cells = vec![model::TurnState::NotReached.letter(); columns];
        let mut counts = Self { failing: vec![None; columns], ..Self::default() };
        for turn in &episode.turns {
            let state = turn.state();
            let column = (turn.number as usize).wrapping_sub(1);
            if let (Some(cell), Some(failing)) = (cells.get_mut(column), counts.failing.get_mut(column)) {
                *cell = state.letter();
                *failing = turns::failing_count(turn);
            }
            counts.passed_turns += u32::from(state.is_passed());
            counts.add(turn);
        }
        counts.cells = cells.into_iter().collect();
        // A count that the source gives for the whole episode wins. Of those that it does not give the attempts tell.
        let (reported, attempt_tokens) = (episode.tokens.unwrap_or_default(), counts.tokens);
        counts.tokens = Tokens {
            input: reported.input.or(attempt_tokens.input),
            cached: reported.cached.or(attempt_tokens.cached),
            output: reported.output.or(attempt_tokens.output),
        };
        counts.cost_usd = used.whole_cost(counts.reached_turns).or(episode.cost_usd);
        counts
    }

    fn add(&mut self, turn: &Turn) {
        self.attempts = self.attempts.saturating_add(u32::try_from(turn.attempts.len()).unwrap_or(u32::MAX));
        for attempt in &turn.attempts {
            self.tokens = self.tokens.plus(attempt.tokens);
            if let Some(calls) = attempt.tool_calls {
                let sum = self.tool_calls.get_or_insert(0);
                *sum = sum.saturating_add(calls);
            }
        }
        let Some(last) = turn.attempts.last() else { return };
        self.reached_turns += 1;
        let passed = last.verdict == Verdict::Passed;
        match last.share() {
            Some(share) => {
                self.ratio_sum += share;
                self.ratio_turns += 1;
                self.passed_without_counts += u32::from(passed && last.total == Some(0));
            }
            None if passed => self.passed_without_counts += 1,
            None if last.verdict == Verdict::Failed => self.failed_without_counts += 1,
            None => {}
        }
    }
}

/// Writes an episode of a part. `before` is its earlier row and slug, if the part had the episode before.
pub(crate) fn put(
    write: &mut Write<'_>,
    part: i64,
    run: RunId,
    before: Option<(EpisodeId, String)>,
    episode: &Episode,
) -> Result<()> {
    let id = put_without_turns(write, part, run, before, episode)?;
    turns::put(write, &[(id, episode)])
}

/// The same without its turns, which [`turns::put`] writes: of many episodes faster than of one after the other.
pub(crate) fn put_without_turns(
    write: &mut Write<'_>,
    part: i64,
    run: RunId,
    before: Option<(EpisodeId, String)>,
    episode: &Episode,
) -> Result<EpisodeId> {
    let conn = &write.tx;
    let is_new = before.is_none();
    let (id, slug) = match before {
        Some((id, slug)) => {
            delete(conn, id)?;
            (Some(id), slug)
        }
        None => (None, slugs::episode_slug(conn, run, &episode.scenario, episode.repeat, &episode.key)?),
    };
    let used = UsedTotals::from_episode(episode);
    let counts = EpisodeCounts::new(episode, &used);
    let is_indexed = turns::has_no_failing_tests(&episode.turns);
    let texts = if has_files(episode) { texts::WAITS } else { texts::INDEXED };
    let (failed_turn, reason) = episode.end();
    let exception = episode.exception.as_ref();
    let id = conn
        .prepare_cached(
            "INSERT INTO episode (id, run, part, key, slug, scenario, title, repeat, planned_turns, known_turns,
               stamina, failed_turn, end_reason, cells, failing, passed_turns, ratio_sum, ratio_turns, passed_without_counts,
               failed_without_counts, reached_turns, attempts, input_tokens, cached_tokens, output_tokens, cost_usd, tool_calls,
               given_end_reason, given_tokens, given_cost_usd, started_at, finished_at, agent_seconds, test_seconds,
               exception_type, exception_message, reported, artifacts, extra, folded, attempts_left, unrecognised, identity,
               own_identity, indexed, texts)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
               ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43, ?43, ?44, ?45)",
        )?
        .insert(params![
            id,
            run,
            part,
            episode.key,
            slug,
            episode.scenario,
            episode.title,
            episode.repeat,
            episode.planned_turns,
            episode.known_turns(),
            episode.stamina(),
            failed_turn,
            reason.as_str(),
            counts.cells,
            json(&counts.failing)?,
            counts.passed_turns,
            counts.ratio_sum,
            counts.ratio_turns,
            counts.passed_without_counts,
            counts.failed_without_counts,
            counts.reached_turns,
            counts.attempts,
            counts.tokens.input.map(int),
            counts.tokens.cached.map(int),
            counts.tokens.output.map(int),
            counts.cost_usd,
            counts.tool_calls,
            episode.end_reason.map(EndReason::as_str),
            episode.tokens.map(|tokens| json(&ReportedTokens { tokens, cached_input: episode.cached_input })).transpose()?,
            episode.cost_usd,
            episode.timing.started_at,
            episode.timing.finished_at,
            episode.timing.agent_seconds,
            episode.timing.test_seconds,
            exception.map(|(kind, _)| cut(kind, MESSAGE_BYTES)),
            exception.map(|(_, message)| cut(message, MESSAGE_BYTES)),
            json(&episode.reported)?,
            artifacts_json(&episode.artifacts)?,
            extra_json(&episode.extra)?,
            folded_text([Some(episode.scenario.as_str()), episode.title.as_deref()]),
            episode.attempts_left,
            episode.unrecognised,
            episode.identity.as_deref().filter(|identity| identity.len() <= IDENTITY_BYTES),
            is_indexed,
            texts,
        ])?;
    // Only at the first reading, so that a user can remove the mark.
    if let Some(reason) = episode.invalid.as_deref().filter(|_| is_new) {
        withdrawn::mark_put(conn, run, &slug, reason)?;
    }
    episode_turns::put(&write.tx, id, episode, &used)?;
    sessions::put(&write.tx, id, episode)?;
    Ok(id)
}

/// Whether it has files in which there may be words. Where there are none, nothing is left to index.
fn has_files(episode: &Episode) -> bool {
    let in_turn = |turn: &Turn| {
        !turn.artifacts.is_empty() || turn.attempts.iter().any(|attempt| !attempt.artifacts.is_empty())
    };
    !episode.artifacts.is_empty() || episode.turns.iter().any(in_turn)
}

/// Deletes an episode with its turns.
pub(crate) fn delete(conn: &Connection, episode: EpisodeId) -> Result<()> {
    conn.prepare_cached("DELETE FROM episode WHERE id = ?1")?.execute([episode])?;
    Ok(())
}
