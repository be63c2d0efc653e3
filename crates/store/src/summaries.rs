//! Summaries: the figures of a run by which the library is sorted. `workbench` computes the statistics, because they depend
//! on the censoring policy. This module sums episodes, in the transaction that changes them.

use model::{EndReason, Median, PassRate, RoundScores, Stamina, Tokens};
use rusqlite::{Connection, Row, params};

use crate::migration::Migration;
use crate::values::{end_reason, json, parse, range, tokens};
use crate::{Result, RunId, SourceId, Store, changes, withdrawn_filter};

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sql: "
-- Sums over the episodes of a run; every run has a row.
CREATE TABLE run_totals (
  run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  episodes INTEGER NOT NULL,
  planned_min INTEGER,
  planned_max INTEGER,
  -- JSON: [[reason, episodes], ...], most frequent first
  end_reasons TEXT NOT NULL,
  input_tokens INTEGER,
  cached_tokens INTEGER,
  output_tokens INTEGER,
  cost_usd REAL,
  cost_known INTEGER NOT NULL
) STRICT;

-- Statistics of a run under the policy.
CREATE TABLE run_summary (
  run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  mean REAL,
  ci_low REAL,
  ci_high REAL,
  tau INTEGER NOT NULL,
  n INTEGER NOT NULL,
  events INTEGER NOT NULL,
  censored INTEGER NOT NULL,
  median INTEGER,
  score REAL,
  dataset_score REAL,
  case_score REAL,
  perfect INTEGER NOT NULL,
  partial TEXT,
  -- what it was made from, and by which version of the program; anything else makes it stale
  run_version INTEGER NOT NULL,
  policy_version INTEGER NOT NULL,
  made_by TEXT NOT NULL
) STRICT;
",
    },
    Migration {
        version: 5,
        sql: "
UPDATE run_totals SET (cost_usd, cost_known) =
  (SELECT sum(cost_usd), count(cost_usd) FROM episode WHERE episode.run = run_totals.run);
",
    },
    Migration {
        version: 6,
        sql: "
UPDATE run_totals SET (cost_usd, cost_known) =
  (SELECT sum(cost_usd), count(cost_usd) FROM episode WHERE episode.run = run_totals.run);
",
    },
    Migration {
        version: 9,
        sql: "
-- episodes that an exception ended whose cause is not recognized
ALTER TABLE run_totals ADD COLUMN unrecognised INTEGER NOT NULL DEFAULT 0;
",
    },
    Migration {
        version: 12,
        sql: "
-- JSON: pass rate with its interval, pass@k, pass^k of a run of one turn; NULL = it has more
ALTER TABLE run_summary ADD COLUMN pass_rate TEXT;
",
    },
    Migration {
        version: 13,
        sql: "
-- episodes that say anything of stamina: at risk in turn 1. Counts of sessions that go on are read otherwise than before, so
-- all sources are read again
ALTER TABLE run_summary ADD COLUMN scored INTEGER NOT NULL DEFAULT 0;
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 14,
        sql: "
-- whether the interval of the mean is by a bootstrap of scenarios, since some have several episodes
ALTER TABLE run_summary ADD COLUMN clustered INTEGER NOT NULL DEFAULT 0;
-- JSON: model::RoundScores; NULL = they do not apply
ALTER TABLE run_summary ADD COLUMN rounds TEXT;
",
    },
    Migration {
        version: 16,
        sql: "
-- episodes of which both are known
ALTER TABLE run_totals ADD COLUMN tokens_known INTEGER NOT NULL DEFAULT 0;
UPDATE run_totals SET tokens_known = (SELECT count(iif(input_tokens IS NULL, NULL, output_tokens)) FROM episode
  WHERE episode.run = run_totals.run);
",
    },
    Migration {
        version: 21,
        sql: "
-- JSON: what makes the numbers less sure than they look, in a few words each
ALTER TABLE run_summary ADD COLUMN doubts TEXT NOT NULL DEFAULT '[]';
",
    },
];

/// The version of the formulas: the version of the program and a number, which rises if a formula changes between versions.
const MADE_BY: &str = concat!(env!("CARGO_PKG_VERSION"), "+16");

/// The columns that [`read_totals`] and [`read_summary`] read.
pub(crate) const COLUMNS: &str = "run_totals.episodes, run_totals.planned_min, run_totals.planned_max,
  run_totals.end_reasons, run_totals.input_tokens, run_totals.cached_tokens, run_totals.output_tokens,
  run_totals.cost_usd, run_totals.cost_known, run_totals.unrecognised, run_totals.tokens_known,
  run_summary.run, run_summary.mean, run_summary.ci_low, run_summary.ci_high, run_summary.tau, run_summary.n,
  run_summary.events, run_summary.censored, run_summary.median, run_summary.score, run_summary.dataset_score,
  run_summary.case_score, run_summary.perfect, run_summary.partial, run_summary.pass_rate, run_summary.scored,
  run_summary.clustered, run_summary.rounds, run_summary.doubts";

/// The number of [`COLUMNS`].
pub(crate) const COLUMN_COUNT: usize = 30;

/// Statistics of a run under the current policy.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Restricted mean stamina.
    pub stamina: Stamina,
    /// The score of the benchmark, 0 to 100.
    pub score: Option<f64>,
    /// EvoCode's dataset score, 0 to 100.
    pub dataset_score: Option<f64>,
    /// EvoCode's case score, 0 to 100.
    pub case_score: Option<f64>,
    /// Episodes in which every turn passed.
    pub perfect: u32,
    /// What is missing, in words: `25 of 26 tasks`.
    pub partial: Option<String>,
    /// Pass rate of a run whose tasks take one turn; `None` = they take more.
    pub pass_rate: Option<PassRate>,
    /// Episodes that were at risk in turn 1. The others were stopped from outside before.
    pub scored: u32,
    /// MT@k, SR, Gap and Comp, or why they are not defined; `None` = they do not apply.
    pub rounds: Option<RoundScores>,
    /// What makes mean stamina, pass rate or score less sure than it looks, in a few words each: `35 of 89 episodes`.
    pub doubts: Vec<String>,
}

/// Sums over the episodes of a run. They do not depend on the policy.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// Episodes read.
    pub episodes: u32,
    /// Fewest and most planned turns of an episode; `None` = unknown for all.
    pub planned_turns: Option<(u32, u32)>,
    /// End reasons, most frequent first.
    pub end_reasons: Vec<(EndReason, u32)>,
    /// Tokens: the sum of the known ones. A sum of 0 is unknown where those of an episode are.
    pub tokens: Tokens,
    /// Cost in US dollars: the sum of the known ones, unknown in the same way.
    pub cost_usd: Option<f64>,
    /// Episodes with a known cost.
    pub cost_known: u32,
    /// Episodes that an exception with an unrecognized cause ended.
    pub unrecognised: u32,
    /// Episodes of which every turn has known input and output tokens, or the source gives those of the whole.
    pub tokens_known: u32,
}

/// A run whose summary is missing, or older than its episodes or the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleRun {
    /// The run.
    pub run: RunId,
    /// Its slug.
    pub slug: String,
    /// Its source.
    pub source: SourceId,
    /// Its version when the list was made, so that a summary of older episodes stays stale.
    pub(crate) run_version: i64,
    /// The version of the policy when the list was made.
    pub(crate) policy_version: i64,
}

pub(crate) fn read_totals(row: &Row<'_>, column: usize) -> Result<Totals> {
    let reasons: Vec<(String, u32)> = parse(&row.get::<_, String>(column + 3)?)?;
    let (episodes, cost_known, tokens_known): (u32, u32, u32) =
        (row.get(column)?, row.get(column + 8)?, row.get(column + 10)?);
    // Episodes that asked no model used nothing: that says nothing of the others.
    let mut tokens = tokens(row, column + 4)?;
    if tokens_known < episodes {
        tokens.input = tokens.input.filter(|sum| *sum > 0);
        tokens.output = tokens.output.filter(|sum| *sum > 0);
        tokens.cached = tokens.cached.filter(|_| tokens.input.is_some());
    }
    let cost_usd: Option<f64> = row.get(column + 7)?;
    Ok(Totals {
        episodes,
        planned_turns: range(row, column + 1)?,
        end_reasons: reasons
            .into_iter()
            .map(|(word, count)| Ok((end_reason(&word)?, count)))
            .collect::<Result<_>>()?,
        tokens,
        // Each is finite; a sum need not be.
        cost_usd: cost_usd.filter(|cost| cost.is_finite() && (*cost > 0.0 || cost_known == episodes)),
        cost_known,
        unrecognised: row.get(column + 9)?,
        tokens_known,
    })
}

/// What the column `tau` has where nobody was at risk.
const NO_TAU: u32 = 0;

fn known_tau(stored: u32) -> Option<u32> {
    (stored != NO_TAU).then_some(stored)
}

pub(crate) fn read_summary(row: &Row<'_>, column: usize) -> Result<Option<Summary>> {
    let column = column + 11;
    if row.get::<_, Option<RunId>>(column)?.is_none() {
        return Ok(None);
    }
    Ok(Some(Summary {
        stamina: Stamina {
            mean: row.get(column + 1)?,
            ci_low: row.get(column + 2)?,
            ci_high: row.get(column + 3)?,
            clustered: row.get(column + 16)?,
            tau: known_tau(row.get(column + 4)?),
            n: row.get(column + 5)?,
            events: row.get(column + 6)?,
            censored: row.get(column + 7)?,
            // The column is NULL in both cases. Without a mean, nobody was at risk.
            median: Median::new(row.get(column + 8)?, row.get::<_, Option<f64>>(column + 1)?.is_some()),
        },
        score: row.get(column + 9)?,
        dataset_score: row.get(column + 10)?,
        case_score: row.get(column + 11)?,
        perfect: row.get(column + 12)?,
        partial: row.get(column + 13)?,
        pass_rate: row.get::<_, Option<String>>(column + 14)?.map(|text| parse(&text)).transpose()?,
        scored: row.get(column + 15)?,
        rounds: row.get::<_, Option<String>>(column + 17)?.map(|text| parse(&text)).transpose()?,
        doubts: parse(&row.get::<_, String>(column + 18)?)?,
    }))
}

/// Computes the sums of a run over the episodes that count. If none is withdrawn, it reads only the indexes
/// `episode_totals` and `episode_unrecognised`, and where tokens are known, of how many turns they are.
pub(crate) fn put_totals(conn: &Connection, run: RunId) -> Result<()> {
    let run_condition = if withdrawn_filter::has_withdrawn_episodes(conn, run)? {
        format!("run = ?1 AND {}", withdrawn_filter::VALID_EPISODE)
    } else {
        "run = ?1".to_owned()
    };
    let mut find = conn.prepare_cached(&format!(
        "SELECT end_reason, count(*) FROM episode WHERE {run_condition} GROUP BY end_reason ORDER BY count(*) DESC, end_reason"
    ))?;
    let reasons: Vec<(String, u32)> =
        find.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    // total(), because sum() fails when hostile counts overflow.
    conn.prepare_cached(&format!(
        "INSERT OR REPLACE INTO run_totals
         SELECT ?1, count(*), min(planned_turns), max(planned_turns), ?2,
           iif(count(input_tokens) = 0, NULL, CAST(total(input_tokens) AS INTEGER)),
           iif(count(cached_tokens) = 0, NULL, CAST(total(cached_tokens) AS INTEGER)),
           iif(count(output_tokens) = 0, NULL, CAST(total(output_tokens) AS INTEGER)),
           sum(cost_usd), count(cost_usd),
           (SELECT count(*) FROM episode WHERE {run_condition} AND unrecognised = 1),
           (SELECT count(*) FROM episode JOIN play ON play.episode = episode.id
            WHERE {run_condition} AND input_tokens IS NOT NULL AND output_tokens IS NOT NULL AND tokens_turns = reached_turns)
         FROM episode WHERE {run_condition}"
    ))?
    .execute((run, json(&reasons)?))?;
    Ok(())
}

impl Store {
    /// The runs of open sources with a stale summary, oldest write first.
    pub fn stale_runs(&self) -> Result<Vec<StaleRun>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT run.id, run_slug.slug, run.source, run.version, policy.version
                 FROM run JOIN source ON source.id = run.source AND source.closed_at IS NULL
                   JOIN run_slug ON run_slug.id = run.slug
                   JOIN policy
                   LEFT JOIN run_summary ON run_summary.run = run.id
                 WHERE (run_summary.run_version, run_summary.policy_version, run_summary.made_by)
                   IS NOT (run.version, policy.version, ?1)
                 ORDER BY run.version",
            )?;
            let rows = find.query_map([MADE_BY], |row| {
                Ok(StaleRun {
                    run: row.get(0)?,
                    slug: row.get(1)?,
                    source: row.get(2)?,
                    run_version: row.get(3)?,
                    policy_version: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Stores the summary of a run. If the run or the policy changed after [`Store::stale_runs`] listed it, the run
    /// stays stale. If it was deleted, nothing is stored.
    pub fn put_summary(&self, stale: &StaleRun, summary: &Summary) -> Result<()> {
        let stamina = &summary.stamina;
        self.write(|write| {
            let conn = &write.tx;
            let stored = conn
                .prepare_cached(
                    "INSERT OR REPLACE INTO run_summary
                     SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22
                     FROM run WHERE id = ?1",
                )?
                .execute(params![
                    stale.run,
                    stamina.mean,
                    stamina.ci_low,
                    stamina.ci_high,
                    stamina.tau.unwrap_or(NO_TAU),
                    stamina.n,
                    stamina.events,
                    stamina.censored,
                    stamina.median.time(),
                    summary.score,
                    summary.dataset_score,
                    summary.case_score,
                    summary.perfect,
                    summary.partial,
                    stale.run_version,
                    stale.policy_version,
                    MADE_BY,
                    summary.pass_rate.as_ref().map(json).transpose()?,
                    summary.scored,
                    stamina.clustered,
                    summary.rounds.as_ref().map(json).transpose()?,
                    json(&summary.doubts)?,
                ])?;
            if stored > 0 {
                let slug =
                    conn.query_row("SELECT slug FROM run WHERE id = ?1", [stale.run], |row| row.get(0))?;
                changes::log_run(conn, stale.source, slug)?;
            }
            Ok(())
        })
    }
}
