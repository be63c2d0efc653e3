//! The runs that the rows of tables name, each from its first row.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use files::Stamp;
use model::{Baseline, Benchmark, Run, TaskTotals};
use serde_json::Value;

use super::cell::Cell;
use super::columns::{COLUMNS, Field, Kind, RowSubject};
use super::files::{RowPosition, TablePosition};
use super::row::{Row, odd_span};
use super::row_warnings::{RowAction, RowWarnings};

/// The word of the format.
pub const FORMAT: &str = "table";
/// Most scenarios of which turns are compared. Of more it is not reported that their turns differ.
const SCENARIOS_CAP: usize = 1_000_000;
/// Most runs of a folder.
pub(super) const RUNS_CAP: usize = 20_000;
/// Most tasks that the runs of a folder only count.
const COUNTED_CAP: usize = 50_000;

/// What is known of the runs.
#[derive(Default)]
pub(super) struct Runs {
    /// In the order of their first rows.
    pub(super) found: Vec<Run>,
    index_by_key: HashMap<String, usize>,
    /// The first values of each, in the same order.
    first_values: Vec<FirstValues>,
    /// Of each scenario (benchmark and name): its turns, and the row that states them.
    planned: HashMap<u64, (u64, RowPosition)>,
    /// The tasks that runs only count, each with the place of its run.
    counted: HashSet<(usize, String)>,
    /// Whether there are more than are read.
    pub(super) too_many: bool,
}

impl Runs {
    /// Takes the first row of some of an episode, or one that names another harness or model than the row before.
    pub(super) fn add_row(&mut self, row: &Row<'_>, table: TablePosition<'_>, warnings: &mut RowWarnings) {
        let mut leave_out = |message: &str| {
            warnings.add_for_row(table.path(), row.number(), "table.no_name", RowAction::Skipped, message);
        };
        let Some(key) = row.name(Field::Run) else {
            return match row.nested_name(Field::Run, "The row is left out.") {
                Some(problem) => leave_out(&format!("says run {problem}")),
                None => leave_out("names no run. It is left out."),
            };
        };
        // A row without a scenario describes its run. This one has a scenario that cannot be identified.
        if let Some(problem) = row.nested_name(Field::Scenario, "The row is left out.") {
            return leave_out(&format!("says scenario {problem}"));
        }
        let index = match self.index_by_key.get(&key) {
            Some(index) => *index,
            None if self.found.len() >= RUNS_CAP => {
                self.too_many = true;
                return;
            }
            None => {
                self.index_by_key.insert(key.clone(), self.found.len());
                self.found.push(new_run(&key, row));
                self.first_values.push(FirstValues::default());
                self.found.len() - 1
            }
        };
        describe((&mut self.found[index], &mut self.first_values[index]), (&key, row, table), warnings);
        self.add_planned(row, &key, table, warnings);
        self.add_counted(row, index, table.path(), warnings);
    }

    /// Takes the task that a row says its run only counts.
    fn add_counted(&mut self, row: &Row<'_>, index: usize, path: &str, warnings: &mut RowWarnings) {
        let Some(task) = row.text(Field::CountedTask) else { return };
        let run = &mut self.found[index];
        let name = Cell::Text(&task).shown();
        let mut warn = |code, action, message: &str| {
            warnings.add_for_run(&run.key, path, row.number(), code, action, message);
        };
        if row.name(Field::Scenario).is_some() {
            let message =
                format!("names a scenario and the counted_task “{name}”. It is a row of the scenario.");
            return warn("table.contradiction", RowAction::Differently, &message);
        }
        if self.counted.len() >= COUNTED_CAP {
            let message = format!(
                "names a counted_task beyond {COUNTED_CAP} that the runs of a folder only count. It is left out."
            );
            return warn("table.too_many_runs", RowAction::Skipped, &message);
        }
        if !self.counted.insert((index, task.clone())) {
            let message =
                format!("is the counted_task “{name}” of its run, as is an earlier row. The first counts.");
            return warn("table.duplicate", RowAction::Skipped, &message);
        }
        let comma = row.decimal_comma();
        let turns = row.cell(Field::CountedTurns).count(comma).and_then(|n| u32::try_from(n).ok());
        let passed_turns = (row.cell(Field::CountedPassed).amount(comma))
            .filter(|passed| turns.is_none_or(|turns| *passed <= f64::from(turns)));
        let case_ratio = row.cell(Field::CountedCases).amount(comma).filter(|share| *share <= 1.0);
        for (field, is_usable) in [
            (Field::CountedTurns, turns.is_some()),
            (Field::CountedPassed, passed_turns.is_some()),
            (Field::CountedCases, case_ratio.is_some()),
        ] {
            let cell = row.cell(field);
            if !is_usable && !cell.is_unknown() {
                let message =
                    format!("says {} “{}”, which cannot be. It is unknown.", field.name(), cell.shown());
                warn("value.not_usable", RowAction::Differently, &message);
            }
        }
        run.reported.totals_only.push(TaskTotals { scenario: task, turns, passed_turns, case_ratio });
    }

    /// A scenario has as many turns in every run.
    fn add_planned(
        &mut self,
        row: &Row<'_>,
        run: &str,
        table: TablePosition<'_>,
        warnings: &mut RowWarnings,
    ) {
        let Some(turns) = row.cell(Field::PlannedTurns).count(row.decimal_comma()) else { return };
        let name = |field| row.cell(field).text().unwrap_or_default();
        let scenario = Stamp::new()
            .text(&name(Field::Benchmark))
            .text(&name(Field::ScenarioSet))
            .text(&name(Field::Scenario));
        let scenario = scenario.finish();
        if self.planned.len() >= SCENARIOS_CAP && !self.planned.contains_key(&scenario) {
            return;
        }
        let (known, first) = *self.planned.entry(scenario).or_insert((turns, table.row(row.number())));
        if known != turns {
            let message = format!(
                "says planned_turns {turns} of scenario “{}”, of which {} says {known}. Each episode has its own.",
                Cell::Text(&name(Field::Scenario)).shown(),
                table.name_of(first)
            );
            warnings.add_for_run(
                run,
                table.path(),
                row.number(),
                "table.contradiction",
                RowAction::Differently,
                &message,
            );
        }
    }
}

/// Of each column about runs, by its place, the first value that is known.
type FirstValues = BTreeMap<usize, FirstValue>;

/// A value that a row says of a run.
struct FirstValue {
    row: RowPosition,
    /// Hashes of its text, and of the value that the text says.
    text: u64,
    value: u64,
}

/// A run of which a name is known, and whether its table counts tests.
fn new_run(key: &str, row: &Row<'_>) -> Run {
    let benchmark = Benchmark { key: FORMAT.to_owned(), name: "Tidy table".to_owned() };
    let mut run = Run::unknown(key, benchmark);
    // A table that counts no tests has no shares to score by.
    if !row.counts_tests() {
        run.settings.insert(SCORING.to_owned(), "turns".into());
    }
    run
}

/// Takes what a row says of its run: of each column the first value that is known. Another value is reported.
fn describe(
    (run, first_values): (&mut Run, &mut FirstValues),
    (key, row, table): (&str, &Row<'_>, TablePosition<'_>),
    warnings: &mut RowWarnings,
) {
    let mut warn = |code, message: &str| {
        warnings.add_for_run(key, table.path(), row.number(), code, RowAction::Differently, message);
    };
    let times = (run.started_at.is_some(), run.finished_at.is_some());
    for (index, column) in COLUMNS.iter().enumerate().filter(|(_, column)| column.subject == RowSubject::Run)
    {
        let cell = row.cell(column.field);
        let has_value = if column.kind == Kind::Text { cell.text().is_some() } else { !cell.is_unknown() };
        // What belongs to another column is taken once that is known.
        let is_pending = match column.field {
            Field::Run => true,
            Field::BenchmarkName => !first_values.contains_key(&(Field::Benchmark as usize)),
            Field::RunnerVersion => run.runner.is_none(),
            _ => false,
        };
        if !has_value || is_pending {
            continue;
        }
        // A reason is words, whatever they stand in.
        if column.kind == Kind::Text
            && column.field != Field::Invalid
            && let Some(problem) = row.nested_name(column.field, "It is unknown.")
        {
            warn("value.not_usable", &format!("says {} {problem}", column.name));
            continue;
        }
        let text = Stamp::new().text(&cell.text().unwrap_or_default()).finish();
        let first = first_values.get(&index);
        if first.is_some_and(|first| first.text == text) {
            continue;
        }
        let value = Stamp::new().text(&value_text(cell, column.kind, row.decimal_comma())).finish();
        if let Some(first) = first {
            if first.value != value {
                let (name, shown, before) = (column.name, cell.shown(), table.name_of(first.row));
                let message = format!(
                    "says {name} “{shown}” of a run of which {before} says another. The first is taken."
                );
                warn("table.contradiction", &message);
            }
            continue;
        }
        first_values.insert(index, FirstValue { row: table.row(row.number()), text, value });
        if !take(run, column.field, row) {
            let (name, shown, kind) = (column.name, cell.shown(), column.kind.words());
            warn("value.not_usable", &format!("says {name} “{shown}”, which is no {kind}. It is unknown."));
        }
    }
    if times != (run.started_at.is_some(), run.finished_at.is_some())
        && let Some(message) = odd_span(
            (Field::RunStartedAt, run.started_at.as_deref()),
            (Field::RunFinishedAt, run.finished_at.as_deref()),
        )
    {
        warn("value.not_usable", &message);
    }
}

/// A value as equal values have it, however they are written.
fn value_text(cell: Cell<'_>, kind: Kind, comma: bool) -> String {
    let plain = match kind {
        Kind::Flag => cell.flag().map(|flag| flag.to_string()),
        Kind::Ordinal | Kind::Count => cell.count(comma).map(|count| count.to_string()),
        _ => None,
    };
    plain.or_else(|| cell.text().map(Cow::into_owned)).unwrap_or_default()
}

/// Takes the value of a column about a run, which is known. `false` = it cannot be.
fn take(run: &mut Run, field: Field, row: &Row<'_>) -> bool {
    let text = || row.text(field);
    let cell = row.cell(field);
    let least = u32::from(field.column().kind == Kind::Ordinal);
    let count =
        || cell.count(row.decimal_comma()).and_then(|n| u32::try_from(n).ok()).filter(|n| *n >= least);
    let mut setting = |name: &str, value: Option<Value>| {
        let is_usable = value.is_some();
        if let Some(value) = value {
            run.settings.insert(name.to_owned(), value);
        }
        is_usable
    };
    match field {
        Field::ScenarioSet => return setting(SCENARIO_SET, text().map(Value::from)),
        Field::Scoring => return setting(SCORING, text().map(Value::from)),
        Field::RestoreBeforeTry => return setting(RESTORE_BEFORE_TRY, cell.flag().map(Value::from)),
        Field::Harness => {
            run.harness = text();
            run.baseline = run.harness.as_deref().and_then(Baseline::from_harness_name);
        }
        Field::Model => run.model = text(),
        Field::Provider => run.provider = text(),
        Field::HarnessVersion => run.harness_version = text(),
        Field::Invalid => run.invalid = text(),
        Field::Runner => run.runner = text().map(|name| (name, None)),
        Field::RunnerVersion => {
            if let Some((_, version)) = &mut run.runner {
                *version = text();
            }
        }
        Field::Benchmark => {
            if let Some(key) = text() {
                run.benchmark = Benchmark { name: key.clone(), key };
            }
        }
        Field::BenchmarkName => run.benchmark.name = text().unwrap_or_default(),
        Field::Simulated => match cell.flag() {
            Some(flag) => run.simulated = flag,
            None => return false,
        },
        Field::PlannedEpisodes => {
            run.planned_episodes = count();
            return run.planned_episodes.is_some();
        }
        Field::AttemptLimit => {
            run.attempt_limit = count();
            return run.attempt_limit.is_some();
        }
        Field::PlannedTasks => match count() {
            Some(tasks) => drop(run.extra.insert(PLANNED_TASKS.to_owned(), tasks.into())),
            None => return false,
        },
        Field::RunStartedAt => {
            run.started_at = cell.time();
            return run.started_at.is_some();
        }
        Field::RunFinishedAt => {
            run.finished_at = cell.time();
            return run.finished_at.is_some();
        }
        _ => {}
    }
    true
}

/// Tasks that were to be played, among the further fields of a run of which each turn of a task is an episode.
pub const PLANNED_TASKS: &str = "planned_tasks";
/// The setting that has every attempt at a turn begin from one snapshot.
pub const RESTORE_BEFORE_TRY: &str = "restore_before_try";
/// Settings of a run that a table gives.
pub const SCENARIO_SET: &str = "scenario_set";
/// The same: `turns` where a turn scores as a whole.
pub const SCORING: &str = "scoring";
