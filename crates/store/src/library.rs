//! The library: runs of all open sources, filtered, sorted, grouped and paged in SQL.

use std::collections::HashMap;

use model::WarningCounts;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::runs::{self, read_entry};
use crate::shown_warnings::has_warning;
use crate::values::{json, range, words};
use crate::withdrawn_filter::VALID;
use crate::{Result, RunEntry, SourceId, Store, import_report, omitted_counts, summaries};

/// Columns by which runs are sorted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RunSort {
    /// Mean stamina.
    #[default]
    Stamina,
    /// Model name.
    Model,
    /// Harness name.
    Harness,
    /// Benchmark name.
    Benchmark,
    /// Source name.
    Source,
    /// Number of episodes.
    Episodes,
    /// Planned turns.
    Turns,
    /// Score.
    Score,
    /// Input plus output tokens.
    Tokens,
    /// Cost.
    Cost,
    /// Start.
    Date,
}

/// By what runs are grouped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RunGrouping {
    /// By benchmark.
    #[default]
    Benchmark,
    /// By harness.
    Harness,
    /// By model.
    Model,
    /// By source.
    Source,
    /// Not grouped: one group.
    None,
}

/// Asks for the runs of all opened sources. Empty lists and `None` do not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(rename = "ListRuns")]
pub struct RunFilter {
    /// Words that all occur in id, model, harness, benchmark, source, tags or note.
    pub text: String,
    /// Only these sources.
    pub sources: Vec<SourceId>,
    /// Only these benchmarks (keys).
    pub benchmarks: Vec<String>,
    /// Only these harnesses (`""` = unknown).
    pub harnesses: Vec<String>,
    /// Only these models (`""` = unknown).
    pub models: Vec<String>,
    /// Only runs with all of these tags.
    pub tags: Vec<String>,
    /// Leaves out baselines and simulated runs.
    pub real_only: bool,
    /// Leaves out withdrawn runs. No host asks for that.
    #[serde(skip)]
    pub valid_only: bool,
    /// Only runs that are shown with a warning: of the import, or about a number that is less sure than it looks.
    pub with_warnings: bool,
    /// At least so many episodes.
    pub min_episodes: Option<u32>,
    /// The column.
    pub sort: RunSort,
    /// From low to high.
    pub ascending: bool,
    /// By what to group.
    pub group: RunGrouping,
    /// First row to give.
    pub offset: u32,
    // That 0 means 500 is so for hosts; [`Store::list_runs`] returns all rows.
    /// Most rows to give; 0 = 500.
    pub limit: u32,
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunList {
    /// The runs, in the order of groups, then sorted. Each has the index of its group.
    pub rows: Vec<(u32, RunEntry)>,
    /// Every group with a matching run, by title, unknown last.
    pub groups: Vec<GroupEntry>,
    /// How many runs match.
    pub total: u32,
    /// Possible values of the filters.
    pub facets: Facets,
}

/// A group of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupEntry {
    /// The common value; `None` = unknown, or not grouped.
    pub title: Option<String>,
    /// Runs in it.
    pub runs: u32,
    /// Fewest and most planned turns of an episode; `None` = unknown.
    pub planned_turns: Option<(u32, u32)>,
    /// Least and greatest τ of its runs; `None` = nobody was at risk in any of them.
    pub tau: Option<(u32, u32)>,
    /// For each τ of its runs, from the least: the greatest mean stamina, or the greatest upper end of the intervals.
    pub most_stamina: Vec<(u32, f64)>,
    /// Of harness, turns, score, tokens, cost and date those that are known of at least one of its runs.
    pub known: Vec<RunSort>,
}

/// Values to filter by: (value, label, runs).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Facets {
    /// Benchmarks.
    pub benchmarks: Vec<(String, String, u32)>,
    /// Harnesses; value `""` = unknown.
    pub harnesses: Vec<(String, String, u32)>,
    /// Models; value `""` = unknown.
    pub models: Vec<(String, String, u32)>,
    /// Harnesses with models among the runs that match, `""` = unknown: (harness, model, runs).
    pub cells: Vec<(String, String, u32)>,
    /// Tags of the runs that match: (tag, runs).
    pub tags: Vec<(String, u32)>,
}

/// The library, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LibraryCounts {
    /// Runs in open sources.
    pub runs: u32,
    /// Entries of the import reports of open sources.
    pub warnings: u64,
    /// The same by severity.
    pub severities: WarningCounts,
    /// Runs that are shown with a warning: of the import, or about a number that is less sure than it looks.
    pub runs_with_warnings: u32,
    /// Runs that are neither baseline nor simulated.
    pub real_runs: u32,
    /// Tags in use and how many runs of open sources carry them, by name.
    pub tags: Vec<(String, u32)>,
}

impl RunSort {
    /// The compared expression. Texts are compared without regard to case.
    const fn expression(self) -> &'static str {
        match self {
            // Means over other numbers of turns have no common scale but the share of these turns.
            Self::Stamina => "(run_summary.mean / coalesce(nullif(run_summary.tau, 0), 1))",
            Self::Model => "run.model COLLATE NOCASE",
            Self::Harness => "run.harness COLLATE NOCASE",
            Self::Benchmark => "run.benchmark_name COLLATE NOCASE",
            Self::Source => "source.name COLLATE NOCASE",
            Self::Episodes => "run_totals.episodes",
            Self::Turns => "run_totals.planned_max",
            Self::Score => "run_summary.score",
            // A sum with an unknown part is the sum of the known parts.
            Self::Tokens => {
                "iif(run_totals.input_tokens IS NULL AND run_totals.output_tokens IS NULL, NULL,
                   coalesce(run_totals.input_tokens, 0) + coalesce(run_totals.output_tokens, 0))"
            }
            Self::Cost => "run_totals.cost_usd",
            Self::Date => "run.started_at",
        }
    }
}

impl RunGrouping {
    /// The common value of a group, as text, and its label (NULL = unknown, or not grouped).
    const fn expressions(self) -> (&'static str, &'static str) {
        match self {
            Self::Benchmark => ("run.benchmark", "run.benchmark_name"),
            Self::Harness => ("coalesce(run.harness, '')", "nullif(run.harness, '')"),
            Self::Model => ("coalesce(run.model, '')", "nullif(run.model, '')"),
            Self::Source => ("CAST(run.source AS TEXT)", "source.name"),
            Self::None => ("''", "NULL"),
        }
    }
}

/// Columns with filters and facets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Benchmark,
    Harness,
    Model,
}

impl Column {
    const fn expressions(self) -> (&'static str, &'static str) {
        match self {
            Self::Benchmark => ("run.benchmark", "run.benchmark_name"),
            Self::Harness => ("coalesce(run.harness, '')", "coalesce(run.harness, '')"),
            Self::Model => ("coalesce(run.model, '')", "coalesce(run.model, '')"),
        }
    }
}

/// Conditions with the values that they bind.
#[derive(Debug, Default)]
struct Condition {
    sql: String,
    values: Vec<Value>,
}

impl Condition {
    /// The conditions of a filter, without those on the column `except`. Where it asks for runs with warnings, `copies` is the JSON
    /// list of those that may be copies.
    fn from_filter(filter: &RunFilter, except: Option<Column>, copies: &str) -> Self {
        let mut condition = Self { sql: "1".to_owned(), values: Vec::new() };
        for word in words(&filter.text) {
            condition.and(
                "instr(run_slug.slug || char(10) || run.folded || coalesce(note.folded, '') || char(10)
                   || coalesce((SELECT group_concat(folded, char(10)) FROM tag WHERE tag.run = run.slug), ''), ?) > 0",
                [word.into()],
            );
        }
        condition.add_one_of("run.source", filter.sources.iter().map(|id| (*id).into()));
        for (column, wanted) in [
            (Column::Benchmark, &filter.benchmarks),
            (Column::Harness, &filter.harnesses),
            (Column::Model, &filter.models),
        ] {
            if except != Some(column) {
                condition.add_one_of(column.expressions().0, wanted.iter().map(|value| value.clone().into()));
            }
        }
        for tag in &filter.tags {
            condition.and(
                "EXISTS (SELECT 1 FROM tag WHERE tag.run = run.slug AND tag.tag = ?)",
                [tag.clone().into()],
            );
        }
        if filter.real_only {
            condition.and(REAL_RUNS, []);
        }
        if filter.valid_only {
            condition.and(VALID, []);
        }
        if filter.with_warnings {
            condition.and(&has_warning(), [copies.to_owned().into()]);
        }
        if let Some(least) = filter.min_episodes {
            condition.and("run_totals.episodes >= ?", [least.into()]);
        }
        condition
    }

    fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
        self.values.extend(values);
    }

    /// Without values, there is no condition.
    fn add_one_of(&mut self, expression: &str, values: impl ExactSizeIterator<Item = Value>) {
        if values.len() > 0 {
            let marks = vec!["?"; values.len()].join(", ");
            self.and(&format!("{expression} IN ({marks})"), values);
        }
    }
}

/// SQL: what runs have in common whose stamina is sorted together, the most turns first.
const SORTED_TOGETHER: &str =
    "run.benchmark_name COLLATE NOCASE, run.benchmark, coalesce(run_totals.planned_max, 0) DESC, ";

/// Runs that are neither baseline nor simulated.
const REAL_RUNS: &str = "run.baseline IS NULL AND NOT run.simulated";

/// Columns that may be unknown, each with what is not NULL where it is known of a run.
const MAY_BE_UNKNOWN: [(RunSort, &str); 6] = [
    (RunSort::Harness, "nullif(run.harness, '')"),
    (RunSort::Turns, "run_totals.planned_max"),
    (RunSort::Score, "run_summary.score"),
    (RunSort::Tokens, "coalesce(run_totals.input_tokens, run_totals.output_tokens)"),
    // That a simulated run costs nothing is known.
    (RunSort::Cost, "iif(run.simulated, 1, run_totals.cost_usd)"),
    (RunSort::Date, "run.started_at"),
];

/// [`GroupEntry::most_stamina`] by the key of the group.
fn most_by_tau(
    conn: &Connection,
    filter: &RunFilter,
    condition: &Condition,
) -> Result<HashMap<String, Vec<(u32, f64)>>> {
    let sql = format!(
        "SELECT {}, run_summary.tau, max(coalesce(run_summary.ci_high, run_summary.mean)) FROM {}
         WHERE {} AND {} AND run_summary.tau > 0 AND run_summary.mean IS NOT NULL GROUP BY 1, 2 ORDER BY 2",
        filter.group.expressions().0,
        runs::RUN_TABLES,
        condition.sql,
        runs::has_tests()
    );
    let mut find = conn.prepare_cached(&sql)?;
    let mut rows = find.query(params_from_iter(&condition.values))?;
    let mut most: HashMap<String, Vec<(u32, f64)>> = HashMap::new();
    while let Some(row) = rows.next()? {
        most.entry(row.get(0)?).or_default().push((row.get(1)?, row.get(2)?));
    }
    Ok(most)
}

/// Every group with its key.
fn groups(conn: &Connection, filter: &RunFilter, condition: &Condition) -> Result<Vec<(String, GroupEntry)>> {
    let (key, title) = filter.group.expressions();
    let tested = runs::has_tests();
    let known = MAY_BE_UNKNOWN.map(|(_, value)| format!("count({value})")).join(", ");
    let sql = format!(
        "SELECT {key} AS group_key, min({title}) AS group_title, count(*), min(iif({tested}, run_totals.planned_min, NULL)),
           max(iif({tested}, run_totals.planned_max, NULL)), min(iif({tested}, nullif(run_summary.tau, 0), NULL)),
           max(iif({tested}, nullif(run_summary.tau, 0), NULL)), {known}
         FROM {} WHERE {} GROUP BY 1 ORDER BY group_title IS NULL, group_title COLLATE NOCASE, group_key",
        runs::RUN_TABLES,
        condition.sql
    );
    let mut most = most_by_tau(conn, filter, condition)?;
    let mut find = conn.prepare_cached(&sql)?;
    let rows = find.query_map(params_from_iter(&condition.values), |row| {
        let key: String = row.get(0)?;
        let mut known = Vec::new();
        for (column, (order, _)) in (7_usize..).zip(MAY_BE_UNKNOWN) {
            if row.get::<_, u32>(column)? > 0 {
                known.push(order);
            }
        }
        let entry = GroupEntry {
            title: row.get(1)?,
            runs: row.get(2)?,
            planned_turns: range(row, 3)?,
            tau: range(row, 5)?,
            most_stamina: most.remove(&key).unwrap_or_default(),
            known,
        };
        Ok((key, entry))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The values of a column with their labels, most frequent first.
fn facet(
    conn: &Connection,
    filter: &RunFilter,
    column: Column,
    copies: &str,
) -> Result<Vec<(String, String, u32)>> {
    let condition = Condition::from_filter(filter, Some(column), copies);
    let (value, label) = column.expressions();
    let sql = format!(
        "SELECT {value} AS value, min({label}) AS label, count(*) FROM {} WHERE {}
         GROUP BY 1 ORDER BY count(*) DESC, label COLLATE NOCASE, value",
        runs::RUN_TABLES,
        condition.sql
    );
    let mut find = conn.prepare_cached(&sql)?;
    let rows = find.query_map(params_from_iter(&condition.values), |row| {
        let label: String = row.get(1)?;
        let label = if label.is_empty() { "unknown".to_owned() } else { label };
        Ok((row.get(0)?, label, row.get(2)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Harnesses with models, and how many runs each has.
fn cells(conn: &Connection, condition: &Condition) -> Result<Vec<(String, String, u32)>> {
    let sql = format!(
        "SELECT coalesce(run.harness, '') AS harness, coalesce(run.model, '') AS model, count(*) FROM {} WHERE {}
         GROUP BY 1, 2 ORDER BY 2 COLLATE NOCASE, 1 COLLATE NOCASE, 2, 1",
        runs::RUN_TABLES,
        condition.sql
    );
    let mut find = conn.prepare_cached(&sql)?;
    let rows = find
        .query_map(params_from_iter(&condition.values), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Tags, and how many runs carry each.
fn tags(conn: &Connection, condition: &Condition) -> Result<Vec<(String, u32)>> {
    let sql = format!(
        "SELECT carried.tag, count(*) FROM {} JOIN tag AS carried ON carried.run = run.slug WHERE {}
         GROUP BY 1 ORDER BY 1 COLLATE NOCASE, 1",
        runs::RUN_TABLES,
        condition.sql
    );
    let mut find = conn.prepare_cached(&sql)?;
    let rows = find.query_map(params_from_iter(&condition.values), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn list(conn: &Connection, filter: &RunFilter, copies: &str) -> Result<RunList> {
    let condition = Condition::from_filter(filter, None, copies);
    let groups = groups(conn, filter, &condition)?;
    let numbers: HashMap<&str, u32> = groups.iter().map(|(key, _)| key.as_str()).zip(0..).collect();

    let (key, title) = filter.group.expressions();
    let order = filter.sort.expression();
    let direction = if filter.ascending { "ASC" } else { "DESC" };
    let within = if filter.sort == RunSort::Stamina { SORTED_TOGETHER } else { "" };
    let limit = if filter.limit == 0 { -1 } else { i64::from(filter.limit) };
    let page: [Value; 2] = [limit.into(), filter.offset.into()];
    // The groups stand in the order of `groups`: by the least title of each.
    let sql = format!(
        "SELECT {}, {}, {key} AS group_key, min({title}) OVER (PARTITION BY {key}) AS group_title FROM {} WHERE {}
         ORDER BY group_title IS NULL, group_title COLLATE NOCASE, group_key, {within}{order} IS NULL, {order} {direction}, run_slug.slug
         LIMIT ? OFFSET ?",
        *runs::COLUMNS,
        summaries::COLUMNS,
        runs::RUN_TABLES,
        condition.sql
    );
    let mut find = conn.prepare_cached(&sql)?;
    let rows = find.query_and_then(params_from_iter(condition.values.iter().chain(&page)), |row| {
        let key: String = row.get("group_key")?;
        Ok((numbers.get(key.as_str()).copied().unwrap_or(0), read_entry(row)?))
    })?;
    Ok(RunList {
        rows: rows.collect::<Result<_>>()?,
        total: groups.iter().map(|(_, group)| group.runs).sum(),
        facets: Facets {
            benchmarks: facet(conn, filter, Column::Benchmark, copies)?,
            harnesses: facet(conn, filter, Column::Harness, copies)?,
            models: facet(conn, filter, Column::Model, copies)?,
            cells: cells(conn, &condition)?,
            tags: tags(conn, &condition)?,
        },
        groups: groups.into_iter().map(|(_, group)| group).collect(),
    })
}

impl Store {
    /// The runs of all open sources that match, sorted, grouped, paged.
    pub fn list_runs(&self, filter: &RunFilter) -> Result<RunList> {
        let copies = if filter.with_warnings { json(&*self.runs_with_copies()?)? } else { String::new() };
        self.read(|conn| list(conn, filter, &copies))
    }

    /// The library, counted.
    pub fn library_counts(&self) -> Result<LibraryCounts> {
        let copies = json(&*self.runs_with_copies()?)?;
        self.read(|conn| {
            let open = "JOIN source ON source.id = run.source AND source.closed_at IS NULL";
            let sql = format!(
                "SELECT count(*), count(*) FILTER (WHERE {REAL_RUNS}),
                   count(*) FILTER (WHERE {}),
                   (SELECT {} FROM warning JOIN source ON source.id = warning.source
                    WHERE source.closed_at IS NULL), {}
                 FROM run {open}",
                has_warning(),
                import_report::by_severity(),
                omitted_counts::unlisted_counts(
                    "EXISTS (SELECT 1 FROM source WHERE source.id = not_kept.source AND source.closed_at IS NULL)"
                )
            );
            let (runs, real_runs, runs_with_warnings, listed, unlisted): (u32, u32, u32, String, String) =
                conn.prepare_cached(&sql)?.query_row([&copies], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })?;
            let mut severities = import_report::counts(&listed)?;
            severities += omitted_counts::counts(&unlisted)?;
            let sql = format!(
                "SELECT tag, count(*) FROM tag JOIN run ON run.slug = tag.run {open}
                 GROUP BY tag ORDER BY tag COLLATE NOCASE, tag"
            );
            let mut find = conn.prepare_cached(&sql)?;
            let tags = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(LibraryCounts {
                runs,
                real_runs,
                runs_with_warnings,
                warnings: severities.total(),
                severities,
                tags: tags.collect::<rusqlite::Result<_>>()?,
            })
        })
    }
}
