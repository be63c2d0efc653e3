//! From what a table is about to its rows: the numbers are those of the pages' own commands. Every table that a page shows
//! is here, so that its export has what was seen.

mod comparison;
mod disagreements;
mod episodes;
mod failures;
pub(super) mod json;
mod library;
mod matrix;
mod pairs;
mod played_runs;
mod scenarios;
mod scores;
mod sources;
mod tasks;
mod tidy;
mod turn;
mod turns;

use figures::table::{Column, Table, Value, known, maybe};
use model::{Median, PassRate};

pub(super) use comparison::REPEATS;
use comparison::{runs, sensitivity, settings, spent, survival};
pub(super) use disagreements::some as some_disagreements;
use failures::{flips, origins, repair_times, repairs, shares};
pub(super) use library::all as library_runs;
use matrix::{gains, retries};
use pairs::{paired, pairs};
pub(super) use scores::published as published_numbers;

use super::scenario_names::ScenarioNames;
use crate::Workbench;
use crate::api::{ApiError, CompareRequest, ComparedMember, Comparison, Estimate, Pairs, Stamina, TableOf};
use crate::compare::members;

/// A table with its data.
pub(super) fn table(workbench: &Workbench, of: &TableOf) -> Result<Table, ApiError> {
    let compared = |of: &CompareRequest| workbench.comparison(of);
    let failed = |of: &crate::api::FailuresRequest| workbench.get_failures(of.clone());
    Ok(match of {
        TableOf::Runs { of } => runs(&*compared(of)?),
        TableOf::Scores { of } => scores::scores(&*compared(of)?),
        TableOf::Spent { of } => spent(&*compared(of)?),
        TableOf::Pairs { of } => pairs(&*compared(of)?),
        TableOf::Sensitivity { of } => sensitivity(&*compared(of)?),
        TableOf::Settings { of } => settings(&*compared(of)?),
        TableOf::Survival { of } => survival(&*compared(of)?),
        TableOf::Paired { of, other } => {
            // Each against the reference, whatever pairs were asked for.
            let request = CompareRequest { pairs: Pairs::Reference, ..of.clone() };
            let names = ScenarioNames::from_pools(&members::resolve(&workbench.store, &of.members)?);
            paired(&*compared(&request)?, *other, &names)?
        }
        TableOf::Episodes { members, sort } => episodes::table(workbench, members, *sort)?,
        TableOf::Turns { members, sort } => episodes::turns(workbench, members, *sort)?,
        TableOf::Tidy { members } => tidy::table(workbench, members)?,
        TableOf::ByTurn { members } => turns::by_turn(workbench, members)?,
        TableOf::Tasks { of } => tasks::tasks(workbench, of)?,
        TableOf::TaskGrid { of } => tasks::grid(workbench, of)?,
        TableOf::PerTask { of } => tasks::per_task(workbench, of)?,
        TableOf::PassAtK { of } => tasks::pass_at_k(workbench, of)?,
        TableOf::Library { of } => library::table(workbench, of)?,
        TableOf::Played { over } => played_runs::runs(workbench, *over)?,
        TableOf::Progress { of } => played_runs::progress(workbench, of)?,
        TableOf::Suite { of } => scenarios::suite(workbench, of)?,
        TableOf::Attempts { of } => turn::attempts(workbench, of)?,
        TableOf::Tests { of } => turn::tests(workbench, of)?,
        TableOf::Joined { left, right } => turn::joined(workbench, left, right)?,
        TableOf::Warnings { of } => sources::warnings(workbench, of)?,
        TableOf::Findings { of } => scenarios::findings(workbench, of)?,
        TableOf::Mutants { of } => scenarios::mutants(workbench, of)?,
        TableOf::Disagreements { of } => disagreements::table(workbench, of)?,
        TableOf::Matrix { of } => matrix::cells(&*workbench.matrix(of)?),
        TableOf::Spread { of } => matrix::spread(&*workbench.matrix(of)?),
        TableOf::Published { of } => matrix::published(&*workbench.matrix(of)?),
        TableOf::Retries { of } => retries(&*workbench.retries(of)?),
        TableOf::Gains { of } => gains(&*workbench.retries(of)?),
        TableOf::Failures { of } => shares(&failed(of)?),
        TableOf::Cases { of } => failures::cases(workbench, of)?,
        TableOf::Origins { of } => origins(&failed(of)?),
        TableOf::Repairs { of } => repairs(&failed(of)?),
        TableOf::RepairTimes { of } => repair_times(&failed(of)?),
        TableOf::Flips { of } => flips(&failed(of)?),
        TableOf::Rules { of } => failures::rules(&workbench.failure_rules(of)?),
    })
}

/// The same of members, all of which may play one turn: then the mean is a pass rate, whose interval stands elsewhere.
fn mean_columns(of_one_turn: bool) -> Vec<Column> {
    let mut columns = stamina_columns();
    if of_one_turn {
        for column in &mut columns {
            column.for_machines = !matches!(column.name.as_str(), "n" | "mean_stamina");
            match column.name.as_str() {
                "n" => *column = Column::integer("n", "Trials"),
                "mean_stamina" => *column = Column::share("mean_stamina", "Pass rate"),
                _ => {}
            }
        }
    }
    columns
}

/// n, events, censored, mean stamina with its interval, median.
fn stamina_columns() -> Vec<Column> {
    let [low, high] = Column::interval("", 2);
    vec![
        Column::integer("n", "n"),
        Column::integer("events", "Failed"),
        Column::integer("censored", "Censored"),
        Column::number("mean_stamina", "Mean stamina", 2).unit("turns"),
        low,
        high,
        Column::integer("tau", "τ"),
        Column::integer("median", "Median").missing("not reached"),
    ]
}

/// How the intervals of these means are made, for a sentence.
pub(super) fn interval_of_means<'a>(means: impl IntoIterator<Item = &'a Stamina>) -> &'static str {
    if means.into_iter().any(|mean| mean.clustered) {
        "Greenwood's 95 % interval (by bootstrap of scenarios where these repeat)"
    } else {
        "Greenwood's 95 % interval"
    }
}

/// Adds a row of a run: where nobody was at risk, what is missing is unknown, not "not reached" or "n/a".
fn push_of(table: &mut Table, stamina: &Stamina, row: Vec<Option<Value>>) {
    match stamina.median {
        Median::Unknown => table.push_absent(row, "unknown"),
        Median::Reached(_) | Median::NotReached => table.push(row),
    }
}

fn stamina(stamina: &Stamina) -> Vec<Option<Value>> {
    vec![
        known(stamina.n),
        known(stamina.events),
        known(stamina.censored),
        maybe(stamina.mean),
        maybe(stamina.ci_low),
        maybe(stamina.ci_high),
        known(stamina.tau),
        maybe(stamina.median.time()),
    ]
}

/// Pass rate with its interval, over how many tasks and trials it is, and how many of these passed, failed or are not scored.
fn pass_rate_columns() -> Vec<Column> {
    let [low, high] = Column::interval("pass_rate_", 3);
    vec![
        Column::integer("tasks", "Tasks"),
        Column::integer("trials", "Scored trials"),
        Column::integer("passed", "Passed"),
        Column::integer("failed", "Failed"),
        Column::share("pass_rate", "Pass rate"),
        low,
        high,
        Column::integer("unscored", "Not scored"),
    ]
}

fn pass_rate(pass_rate: Option<&PassRate>) -> Vec<Option<Value>> {
    let count = |of_rate: fn(&PassRate) -> u32| maybe(pass_rate.map(of_rate));
    vec![
        count(|rate| rate.tasks),
        count(|rate| rate.trials),
        count(|rate| rate.passed),
        count(|rate| rate.trials.saturating_sub(rate.passed)),
        maybe(pass_rate.and_then(|rate| rate.value)),
        maybe(pass_rate.and_then(|rate| rate.ci_low)),
        maybe(pass_rate.and_then(|rate| rate.ci_high)),
        count(|rate| rate.unscored),
    ]
}

/// Id and readable name of a scenario, which is a task of runs of one turn. Files of values have both.
fn scenario_columns(of_one_turn: bool) -> [Column; 2] {
    let [id, name] =
        if of_one_turn { ["Id of the task", "Task"] } else { ["Id of the scenario", "Scenario"] };
    [Column::text("scenario", id).for_machines(), Column::text("title", name)]
}

/// The same columns in files of values only, where a page has nothing to say with them.
fn for_machines_if(hidden: bool, columns: Vec<Column>) -> Vec<Column> {
    columns.into_iter().map(|column| if hidden { column.for_machines() } else { column }).collect()
}

/// The name of a member, as tables have it.
fn name(data: &Comparison, index: u32) -> Option<Value> {
    maybe(data.members.get(index as usize).map(ComparedMember::marked))
}

/// The parts of an estimate: its value, the ends of its interval, and p.
fn parts(estimate: Option<Estimate>) -> [Option<f64>; 4] {
    [
        estimate.map(|e| e.value),
        estimate.and_then(|e| e.ci_low),
        estimate.and_then(|e| e.ci_high),
        estimate.and_then(|e| e.p),
    ]
}
