//! Runs: what is known about them before any episode is read.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use model::{Baseline, Benchmark, Reported, Run, WarningCounts};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::migration::Migration;
use crate::values::{extra_json, folded_text, json, parse, parse_or_default};
use crate::{
    Result, RunId, SourceId, Store, Summary, Totals, annotations, changes, import_report, omitted_counts,
    rows, slugs, summaries, withdrawn, withdrawn_filter,
};

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sql: "
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  place TEXT NOT NULL,
  key TEXT NOT NULL,
  slug INTEGER NOT NULL UNIQUE REFERENCES run_slug (id),
  format TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  benchmark_name TEXT NOT NULL,
  harness TEXT,
  harness_version TEXT,
  runner TEXT,
  runner_version TEXT,
  model TEXT,
  provider TEXT,
  baseline TEXT,
  simulated INTEGER NOT NULL,
  planned_episodes INTEGER,
  attempt_limit INTEGER,
  started_at TEXT,
  finished_at TEXT,
  -- JSON: [[name, value], ...]
  reported TEXT NOT NULL,
  -- JSON: [[name, planned turns, passed turns], ...]
  totals_only TEXT NOT NULL,
  -- JSON objects; NULL = empty
  settings TEXT,
  extra TEXT,
  -- names in lower case, to look words up in
  folded TEXT NOT NULL,
  -- number (change_log.seq) of the last change of the run or its episodes
  version INTEGER NOT NULL DEFAULT 0,
  UNIQUE (source, place, key)
) STRICT;
",
    },
    Migration {
        version: 8,
        sql: "
-- changes of its episodes that its sums do not have yet
ALTER TABLE run ADD COLUMN unsummed INTEGER NOT NULL DEFAULT 0;
",
    },
];

/// A field of a run: the id of its job (of Harbor's, of a run of `tb`, of a run of Stamina Lab), which all parts and copies of the job
/// have. The readers of these formats write it.
pub const JOB_ID: &str = "job_id";

/// A run as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEntry {
    /// Number in the store.
    pub id: RunId,
    /// Stable name in links and on the command line.
    pub slug: String,
    /// Its source.
    pub source: SourceId,
    /// Name of its source.
    pub source_name: String,
    /// The folder of the source in which its format starts.
    pub place: String,
    /// Its format: `harbor`, `evocode`, `staminabench`.
    pub format: String,
    /// Identity inside its place.
    pub key: String,
    /// The id of its job ([`JOB_ID`]), where the source has one and the run is of no other.
    pub job: Option<String>,
    /// The benchmark.
    pub benchmark: Benchmark,
    /// The harness.
    pub harness: Option<String>,
    /// Its version.
    pub harness_version: Option<String>,
    /// The tool that ran the evaluation, with its version.
    pub runner: Option<(String, Option<String>)>,
    /// The model.
    pub model: Option<String>,
    /// Its provider.
    pub provider: Option<String>,
    /// `oracle` or `nop`.
    pub baseline: Option<Baseline>,
    /// Whether a simulated model replaced a real one.
    pub simulated: bool,
    /// Episodes planned. Of LoCoBench-Agent a session of each planned scenario, and those that repeat one.
    pub planned_episodes: Option<u32>,
    /// Most attempts a turn may take.
    pub attempt_limit: Option<u32>,
    /// Start, as the source writes it.
    pub started_at: Option<String>,
    /// End, as the source writes it.
    pub finished_at: Option<String>,
    /// Figures that the source reports.
    pub reported: Vec<(String, f64)>,
    /// Entries of the import report that concern it.
    pub warnings: u32,
    /// The same by severity.
    pub severities: WarningCounts,
    /// Tags of the user, by name.
    pub tags: Vec<String>,
    /// Note of the user.
    pub note: String,
    /// Why a user has withdrawn it; `None` = it counts.
    pub invalid: Option<String>,
    /// Episodes that a user has withdrawn. No number of the run includes them.
    pub withdrawn_episodes: u32,
    /// Episodes that were read and for which there was no room ([`crate::OmittedCounts`]). They are planned ones.
    pub episodes_not_kept: u32,
    /// Sums over its episodes, as of the last summary.
    pub totals: Totals,
    /// Statistics; `None` until [`Store::put_summary`] is called for it. They may be older than the last write.
    pub summary: Option<Summary>,
}

/// A run with everything that is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// The entry of lists.
    pub entry: RunEntry,
    /// Path of its source.
    pub source_path: String,
    /// The run as it was written: settings, reported figures, unknown fields.
    pub run: Run,
}

/// SQL: the id of a run's job, as [`RunEntry::job`] has it.
static JOB: LazyLock<String> = LazyLock::new(|| {
    format!(
        "iif(run.format IN ('harbor', 'terminal-bench', 'staminabench'), CAST(run.extra ->> '$.{JOB_ID}' AS TEXT), NULL)"
    )
});

/// SQL: the planned episodes of a run. LoCoBench-Agent plans scenarios: a session that repeats one takes no place of another.
const PLANNED_EPISODES: &str = "min(4294967295, run.planned_episodes + iif(run.format = 'locobench',
  (SELECT count(*) - count(DISTINCT episode.scenario) FROM episode WHERE episode.run = run.id), 0))";

/// The columns that [`read_entry`] reads, from the tables of [`RUN_TABLES`].
pub(crate) static COLUMNS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "run.id, run_slug.slug, run.source, source.name, run.place, run.format, run.key,
  run.benchmark, run.benchmark_name, run.harness, run.harness_version, run.runner, run.runner_version,
  run.model, run.provider, run.baseline, run.simulated, {PLANNED_EPISODES}, run.attempt_limit,
  run.started_at, run.finished_at, run.reported,
  (SELECT json_group_array(tag) FROM (SELECT tag FROM tag WHERE tag.run = run.slug ORDER BY tag)),
  coalesce(note.note, ''), (SELECT {} FROM warning WHERE warning.run = run.id),
  {}, {},
  {}, {}, {}",
        import_report::by_severity(),
        withdrawn_filter::reason_of!("run"),
        withdrawn_filter::EPISODES_OF_RUN,
        *JOB,
        omitted_counts::EPISODES_OF_RUN,
        omitted_counts::unlisted_counts("not_kept.run = run.id")
    )
});

/// The number of [`COLUMNS`]. [`summaries::COLUMNS`] follow them.
const COLUMN_COUNT: usize = 30;

/// What holds for a run with tests. Stamina is not defined for others.
pub(crate) fn has_tests() -> String {
    format!("run.benchmark NOT IN ('{}')", model::UNTESTED_BENCHMARKS.join("', '"))
}

/// Runs of open sources.
pub(crate) const RUN_TABLES: &str = "run
  JOIN source ON source.id = run.source AND source.closed_at IS NULL
  JOIN run_slug ON run_slug.id = run.slug
  JOIN run_totals ON run_totals.run = run.id
  LEFT JOIN run_summary ON run_summary.run = run.id
  LEFT JOIN note ON note.run = run.slug";

fn baseline(word: &str) -> Option<Baseline> {
    [Baseline::Oracle, Baseline::Nop].into_iter().find(|baseline| baseline.as_str() == word)
}

/// A row of [`COLUMNS`] and [`summaries::COLUMNS`].
pub(crate) fn read_entry(row: &Row<'_>) -> Result<RunEntry> {
    let version: Option<String> = row.get(12)?;
    let mut severities = import_report::read_counts(row, 24)?;
    severities += omitted_counts::read_counts(row, 29)?;
    let totals = summaries::read_totals(row, COLUMN_COUNT)?;
    let (withdrawn_episodes, episodes_not_kept): (u32, u32) = (row.get(26)?, row.get(28)?);
    // Whatever was planned, what is not kept was to be read.
    let to_be_read = totals.episodes.saturating_add(withdrawn_episodes).saturating_add(episodes_not_kept);
    let planned: Option<u32> = row.get(17)?;
    let planned_episodes = if episodes_not_kept > 0 { planned.max(Some(to_be_read)) } else { planned };
    Ok(RunEntry {
        id: row.get(0)?,
        slug: row.get(1)?,
        source: row.get(2)?,
        source_name: row.get(3)?,
        place: row.get(4)?,
        format: row.get(5)?,
        key: row.get(6)?,
        benchmark: Benchmark { key: row.get(7)?, name: row.get(8)? },
        harness: row.get(9)?,
        harness_version: row.get(10)?,
        runner: row.get::<_, Option<String>>(11)?.map(|name| (name, version)),
        model: row.get(13)?,
        provider: row.get(14)?,
        baseline: row.get::<_, Option<String>>(15)?.as_deref().and_then(baseline),
        simulated: row.get(16)?,
        planned_episodes,
        attempt_limit: row.get(18)?,
        started_at: row.get(19)?,
        finished_at: row.get(20)?,
        reported: parse(row.get_ref(21)?.as_str().map_err(rusqlite::Error::from)?)?,
        warnings: u32::try_from(severities.total()).unwrap_or(u32::MAX),
        severities,
        tags: parse(&row.get::<_, String>(22)?)?,
        note: row.get(23)?,
        invalid: row.get(25)?,
        withdrawn_episodes,
        episodes_not_kept,
        job: row.get(27)?,
        totals,
        summary: summaries::read_summary(row, COLUMN_COUNT)?,
    })
}

impl Store {
    /// Computes the sums that are older than their episodes, for the runs of a source. Call it after the last part is written.
    pub fn sum_runs(&self, source: SourceId) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            let mut find =
                conn.prepare_cached("SELECT id, slug FROM run WHERE source = ?1 AND unsummed > 0")?;
            let behind: Vec<(RunId, i64)> = find
                .query_map([source], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            for (run, slug) in behind {
                rows::sum(conn, run)?;
                changes::log_run(conn, source, slug)?;
            }
            Ok(())
        })
    }
}

/// Adds or replaces a run. An unchanged run is not written.
fn put(
    conn: &Connection,
    source: SourceId,
    slug: i64,
    place: &str,
    format: &str,
    name: &str,
    run: &Run,
) -> Result<()> {
    let names = folded_text([
        run.model.as_deref(),
        run.harness.as_deref(),
        Some(&run.benchmark.name),
        Some(&run.benchmark.key),
        Some(name),
    ]);
    let (runner, runner_version) =
        run.runner.as_ref().map_or((None, None), |(name, version)| (Some(name), version.as_ref()));
    let id = conn
        .prepare_cached(
            "INSERT INTO run (source, place, key, slug, format, benchmark, benchmark_name, harness, harness_version,
               runner, runner_version, model, provider, baseline, simulated, planned_episodes, attempt_limit,
               started_at, finished_at, reported, totals_only, settings, extra, folded)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
               ?22, ?23, ?24)
             ON CONFLICT (source, place, key) DO UPDATE SET
               slug = ?4, format = ?5, benchmark = ?6, benchmark_name = ?7, harness = ?8, harness_version = ?9,
               runner = ?10, runner_version = ?11, model = ?12, provider = ?13, baseline = ?14, simulated = ?15,
               planned_episodes = ?16, attempt_limit = ?17, started_at = ?18, finished_at = ?19, reported = ?20,
               totals_only = ?21, settings = ?22, extra = ?23, folded = ?24
             WHERE (slug, format, benchmark, benchmark_name, harness, harness_version, runner, runner_version, model,
               provider, baseline, simulated, planned_episodes, attempt_limit, started_at, finished_at, reported,
               totals_only, settings, extra, folded)
             IS NOT (?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)
             RETURNING id",
        )?
        .query_row(
            params![
                source,
                place,
                run.key,
                slug,
                format,
                run.benchmark.key,
                run.benchmark.name,
                run.harness,
                run.harness_version,
                runner,
                runner_version,
                run.model,
                run.provider,
                run.baseline.map(Baseline::as_str),
                run.simulated,
                run.planned_episodes,
                run.attempt_limit,
                run.started_at,
                run.finished_at,
                json(&run.reported.figures)?,
                json(&run.reported.totals_only)?,
                extra_json(&run.settings)?,
                extra_json(&run.extra)?,
                names,
            ],
            |row| row.get(0),
        )
        .optional()?;
    id.map_or(Ok(()), |id| rows::touch(conn, id))
}

/// By the key of a run: start and end of each of its episodes, as the source writes them.
pub type EpisodeTimes = HashMap<String, Vec<(Option<String>, Option<String>)>>;

impl Store {
    /// When the episodes of a place started and ended.
    pub fn episode_times(&self, source: SourceId, place: &str) -> Result<EpisodeTimes> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT run.key, episode.started_at, episode.finished_at FROM run
                   JOIN episode ON episode.run = run.id WHERE run.source = ?1 AND run.place = ?2",
            )?;
            let mut rows = find.query((source, place))?;
            let mut times = EpisodeTimes::new();
            while let Some(row) = rows.next()? {
                times.entry(row.get(0)?).or_default().push((row.get(1)?, row.get(2)?));
            }
            Ok(times)
        })
    }

    /// Sets the runs of a place. New runs are added. Known runs (by key) are replaced and keep their episodes. Missing runs
    /// are deleted with their episodes.
    pub fn put_runs(&self, source: SourceId, place: &str, format: &str, runs: &[Run]) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            let address = rows::address(conn, source)?;
            let keys: HashSet<&str> = runs.iter().map(|run| run.key.as_str()).collect();
            let mut find = conn.prepare_cached("SELECT id, key FROM run WHERE source = ?1 AND place = ?2")?;
            let before: Vec<(RunId, String)> = find
                .query_map((source, place), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            for (run, _) in before.iter().filter(|(_, key)| !keys.contains(key.as_str())) {
                rows::delete(conn, *run)?;
            }
            let known: HashSet<&str> = before.iter().map(|(_, key)| key.as_str()).collect();
            for run in runs {
                let slug = slugs::run_slug(conn, &address, place, &run.key)?;
                put(conn, source, slug, place, format, &address.name, run)?;
                // Only at the first reading, so that a user can remove the mark.
                if let Some(reason) = run.invalid.as_deref().filter(|_| !known.contains(run.key.as_str())) {
                    withdrawn::mark(conn, slug, Some(reason))?;
                }
                if annotations::take_over(conn, slug, &run.tags)? {
                    changes::log_run(conn, source, slug)?;
                }
            }
            Ok(())
        })
    }

    /// Number of the last change of a run or its episodes; 0 for a missing run.
    pub fn run_version(&self, run: RunId) -> Result<i64> {
        self.read(|conn| {
            let found = conn
                .prepare_cached("SELECT version FROM run WHERE id = ?1")?
                .query_row([run], |row| row.get(0))
                .optional()?;
            Ok(found.unwrap_or(0))
        })
    }

    /// The runs of open sources that are of the job of this id ([`JOB_ID`]).
    pub fn runs_of_job(&self, job: &str) -> Result<Vec<RunEntry>> {
        self.read(|conn| {
            let (columns, summary) = (&*COLUMNS, summaries::COLUMNS);
            let job_query =
                format!("SELECT {columns}, {summary} FROM {RUN_TABLES} WHERE {} = ?1 ORDER BY run.id", *JOB);
            let mut find = conn.prepare_cached(&job_query)?;
            let runs = find.query_and_then([job], read_entry)?;
            runs.collect()
        })
    }

    /// The run of this slug, in an open source.
    pub fn run(&self, slug: &str) -> Result<Option<RunRecord>> {
        self.read(|conn| {
            let sql = format!(
                "SELECT {}, {}, source.path, run.totals_only, run.settings, run.extra,
                   (SELECT json_group_array(tag) FROM source_tag WHERE source_tag.run = run.slug)
                 FROM {RUN_TABLES} WHERE run_slug.slug = ?1",
                *COLUMNS,
                summaries::COLUMNS
            );
            let mut find = conn.prepare_cached(&sql)?;
            let mut rows = find.query([slug])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let next_column = COLUMN_COUNT + summaries::COLUMN_COUNT;
            let entry = read_entry(row)?;
            let run = Run {
                key: entry.key.clone(),
                benchmark: entry.benchmark.clone(),
                harness: entry.harness.clone(),
                harness_version: entry.harness_version.clone(),
                runner: entry.runner.clone(),
                model: entry.model.clone(),
                provider: entry.provider.clone(),
                baseline: entry.baseline,
                simulated: entry.simulated,
                planned_episodes: entry.planned_episodes,
                attempt_limit: entry.attempt_limit,
                started_at: entry.started_at.clone(),
                finished_at: entry.finished_at.clone(),
                tags: parse(&row.get::<_, String>(next_column + 4)?)?,
                invalid: entry.invalid.clone(),
                reported: Reported {
                    figures: entry.reported.clone(),
                    totals_only: parse(&row.get::<_, String>(next_column + 1)?)?,
                },
                settings: parse_or_default(row.get::<_, Option<String>>(next_column + 2)?.as_deref())?,
                extra: parse_or_default(row.get::<_, Option<String>>(next_column + 3)?.as_deref())?,
            };
            Ok(Some(RunRecord { entry, source_path: row.get(next_column)?, run }))
        })
    }
}
