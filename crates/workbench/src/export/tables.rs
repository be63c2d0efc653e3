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
use model::{Median, PassRate, counted};

pub(super) use comparison::{repeats_note, stands_in_settings};
use comparison::{runs, sensitivity, settings, spent, survival};
pub(super) use disagreements::some_disagreements;
use failures::{flips, origins, repair_times, repairs, shares};
pub(super) use library::all as library_runs;
use matrix::{gains, retries};
use pairs::{paired, pairs};
pub(super) use scores::published as published_numbers;

use super::scenario_names::ScenarioNames;
use crate::Workbench;
use crate::api::{
    ApiError, CompareRequest, ComparedMember, Comparison, Estimate, Pairs, Stamina, TableSubject,
};
use crate::compare::members;
use crate::rounds::PAPER;

/// A table with its data.
pub(super) fn table(workbench: &Workbench, selection: &TableSubject) -> Result<Table, ApiError> {
    let compared = |request: &CompareRequest| workbench.comparison(request);
    let failed = |request: &crate::api::FailuresRequest| workbench.get_failures(request.clone());
    let mut table = match selection {
        TableSubject::Runs { request } => runs(&*compared(request)?),
        TableSubject::Scores { request } => scores::scores(&*compared(request)?),
        TableSubject::Spent { request } => spent(&*compared(request)?),
        TableSubject::Pairs { request } => pairs(&*compared(request)?),
        TableSubject::Sensitivity { request } => sensitivity(&*compared(request)?),
        TableSubject::Settings { request } => settings(&*compared(request)?),
        TableSubject::Survival { request } => survival(&*compared(request)?),
        TableSubject::Paired { request, other } => {
            // Each against the reference, whatever pairs were asked for.
            let paired_request = CompareRequest { pairs: Pairs::Reference, ..request.clone() };
            let pools = members::resolve(&workbench.store, &request.members)?;
            paired(&*compared(&paired_request)?, *other, &ScenarioNames::from_pools(&pools), &pools)?
        }
        TableSubject::Episodes { members, sort } => episodes::table(workbench, members, *sort)?,
        TableSubject::Turns { members, sort } => episodes::turns(workbench, members, *sort)?,
        TableSubject::Tidy { members } => tidy::table(workbench, members)?,
        TableSubject::ByTurn { members } => turns::by_turn(workbench, members)?,
        TableSubject::Tasks { request } => tasks::tasks(workbench, request)?,
        TableSubject::TaskGrid { request } => tasks::grid(workbench, request)?,
        TableSubject::PerTask { request } => tasks::per_task(workbench, request)?,
        TableSubject::PassAtK { request } => tasks::pass_at_k(workbench, request)?,
        TableSubject::Library { request } => library::table(workbench, request)?,
        TableSubject::Played { only_ended } => played_runs::runs(workbench, *only_ended)?,
        TableSubject::Progress { run } => played_runs::progress(workbench, run)?,
        TableSubject::Suite { request } => scenarios::suite(workbench, request)?,
        TableSubject::Attempts { turn } => turn::attempts(workbench, turn)?,
        TableSubject::Tests { attempt } => turn::tests(workbench, attempt)?,
        TableSubject::Joined { left, right } => turn::joined(workbench, left, right)?,
        TableSubject::Warnings { selection } => sources::warnings(workbench, selection)?,
        TableSubject::Findings { job } => scenarios::findings(workbench, job)?,
        TableSubject::Mutants { job } => scenarios::mutants(workbench, job)?,
        TableSubject::Disagreements { request } => disagreements::table(workbench, request)?,
        TableSubject::Matrix { request } => matrix::cells(&*workbench.matrix(request)?),
        TableSubject::Spread { request } => matrix::spread(&*workbench.matrix(request)?),
        TableSubject::Published { request } => matrix::published(&*workbench.matrix(request)?),
        TableSubject::Retries { request } => retries(&*workbench.retries(request)?),
        TableSubject::Gains { request } => gains(&*workbench.retries(request)?),
        TableSubject::Failures { request } => shares(&failed(request)?),
        TableSubject::Cases { request } => failures::cases(workbench, request)?,
        TableSubject::Origins { request } => origins(&failed(request)?),
        TableSubject::Repairs { request } => repairs(&failed(request)?),
        TableSubject::RepairTimes { request } => repair_times(&failed(request)?),
        TableSubject::Flips { request } => flips(&failed(request)?),
        TableSubject::Rules { request } => failures::rules(&workbench.failure_rules(request)?),
    };
    table.keep_small_numbers();
    Ok(table)
}

/// `the first 12 turns`, for a sentence.
fn first_turns(tau: Option<u32>) -> String {
    tau.map_or_else(
        || "an unknown number of turns".to_owned(),
        |tau| format!("the first {}", counted(tau.into(), "turn")),
    )
}

/// The same of members, all of which may play one turn: then the mean is a pass rate, whose interval stands elsewhere.
fn mean_columns(is_single_turn: bool) -> Vec<Column> {
    let mut columns = stamina_columns();
    if is_single_turn {
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

/// The cautions without what must be known of published numbers, which stand in a table of their own.
pub(super) fn cautions_without_published(cautions: &[String]) -> impl Iterator<Item = String> {
    cautions.iter().filter(|caution| *caution != PAPER).cloned()
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
        maybe(stamina.tau),
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
    let count = |field: fn(&PassRate) -> u32| maybe(pass_rate.map(field));
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
fn scenario_columns(is_single_turn: bool) -> [Column; 2] {
    let [id, name] =
        if is_single_turn { ["Id of the task", "Task"] } else { ["Id of the scenario", "Scenario"] };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_horizon_of_nobody_is_unknown() {
        assert_eq!(
            [first_turns(None), first_turns(Some(1))],
            ["an unknown number of turns", "the first 1 turn"]
        );
    }
}
