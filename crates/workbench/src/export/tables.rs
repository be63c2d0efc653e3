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

use figures::table::{Column, Kind, MEASURED_UNITS, Table, Value, known, maybe};
use model::{Median, PassRate, counted};

pub(super) use comparison::REPEATS;
use comparison::{runs, sensitivity, settings, spent, survival};
pub(super) use disagreements::some_disagreements;
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
pub(super) fn table(workbench: &Workbench, selection: &TableOf) -> Result<Table, ApiError> {
    let compared = |request: &CompareRequest| workbench.comparison(request);
    let failed = |request: &crate::api::FailuresRequest| workbench.get_failures(request.clone());
    let mut table = match selection {
        TableOf::Runs { of: request } => runs(&*compared(request)?),
        TableOf::Scores { of: request } => scores::scores(&*compared(request)?),
        TableOf::Spent { of: request } => spent(&*compared(request)?),
        TableOf::Pairs { of: request } => pairs(&*compared(request)?),
        TableOf::Sensitivity { of: request } => sensitivity(&*compared(request)?),
        TableOf::Settings { of: request } => settings(&*compared(request)?),
        TableOf::Survival { of: request } => survival(&*compared(request)?),
        TableOf::Paired { of: request, other } => {
            // Each against the reference, whatever pairs were asked for.
            let paired_request = CompareRequest { pairs: Pairs::Reference, ..request.clone() };
            let names = ScenarioNames::from_pools(&members::resolve(&workbench.store, &request.members)?);
            paired(&*compared(&paired_request)?, *other, &names)?
        }
        TableOf::Episodes { members, sort } => episodes::table(workbench, members, *sort)?,
        TableOf::Turns { members, sort } => episodes::turns(workbench, members, *sort)?,
        TableOf::Tidy { members } => tidy::table(workbench, members)?,
        TableOf::ByTurn { members } => turns::by_turn(workbench, members)?,
        TableOf::Tasks { of: request } => tasks::tasks(workbench, request)?,
        TableOf::TaskGrid { of: request } => tasks::grid(workbench, request)?,
        TableOf::PerTask { of: request } => tasks::per_task(workbench, request)?,
        TableOf::PassAtK { of: request } => tasks::pass_at_k(workbench, request)?,
        TableOf::Library { of: request } => library::table(workbench, request)?,
        TableOf::Played { over: only_ended } => played_runs::runs(workbench, *only_ended)?,
        TableOf::Progress { of: request } => played_runs::progress(workbench, request)?,
        TableOf::Suite { of: request } => scenarios::suite(workbench, request)?,
        TableOf::Attempts { of: request } => turn::attempts(workbench, request)?,
        TableOf::Tests { of: request } => turn::tests(workbench, request)?,
        TableOf::Joined { left, right } => turn::joined(workbench, left, right)?,
        TableOf::Warnings { of: request } => sources::warnings(workbench, request)?,
        TableOf::Findings { of: request } => scenarios::findings(workbench, request)?,
        TableOf::Mutants { of: request } => scenarios::mutants(workbench, request)?,
        TableOf::Disagreements { of: request } => disagreements::table(workbench, request)?,
        TableOf::Matrix { of: request } => matrix::cells(&*workbench.matrix(request)?),
        TableOf::Spread { of: request } => matrix::spread(&*workbench.matrix(request)?),
        TableOf::Published { of: request } => matrix::published(&*workbench.matrix(request)?),
        TableOf::Retries { of: request } => retries(&*workbench.retries(request)?),
        TableOf::Gains { of: request } => gains(&*workbench.retries(request)?),
        TableOf::Failures { of: request } => shares(&failed(request)?),
        TableOf::Cases { of: request } => failures::cases(workbench, request)?,
        TableOf::Origins { of: request } => origins(&failed(request)?),
        TableOf::Repairs { of: request } => repairs(&failed(request)?),
        TableOf::RepairTimes { of: request } => repair_times(&failed(request)?),
        TableOf::Flips { of: request } => flips(&failed(request)?),
        TableOf::Rules { of: request } => failures::rules(&workbench.failure_rules(request)?),
    };
    keep_small_numbers(&mut table);
    Ok(table)
}

/// Rates that have no unit of their own.
const RATES: [&str; 5] =
    ["tokens_per_turn", "steps_per_turn", "steps_survived", "tool_calls_per_turn", "tokens"];
/// Most decimals of seconds and of tokens per second: what is less is printed as less than the last of them.
const MOST_DECIMALS: u8 = 3;
/// Most decimals of the other rates, which are printed as 0 below that.
const MOST_DECIMALS_OF_RATES: u8 = 4;

/// Gives columns of seconds and rates the decimals that their least number needs: what was measured is not printed as 0. Dollars
/// have theirs number by number.
pub(super) fn keep_small_numbers(table: &mut Table) {
    for (index, column) in table.columns.iter_mut().enumerate() {
        let most = if column.unit.as_deref().is_some_and(|unit| MEASURED_UNITS.contains(&unit)) {
            MOST_DECIMALS
        } else if column.kind == Kind::Number && RATES.contains(&column.name.as_str()) {
            MOST_DECIMALS_OF_RATES
        } else {
            continue;
        };
        let numbers = table.rows.iter().filter_map(|row| match row.get(index) {
            Some(Some(Value::Number(number))) if *number > 0.0 && number.is_finite() => Some(*number),
            _ => None,
        });
        if let Some(least) = numbers.reduce(f64::min) {
            let is_seen = |decimals: &u8| least > 0.5 * 0.1_f64.powi(i32::from(*decimals));
            column.decimals = (column.decimals..most).find(is_seen).unwrap_or(most.max(column.decimals));
        }
    }
}

/// `the first 12 turns`, for a sentence.
fn first_turns(tau: u32) -> String {
    match tau {
        // Nobody was at risk.
        0 => "an unknown number of turns".to_owned(),
        tau => format!("the first {}", counted(tau.into(), "turn")),
    }
}

/// The horizon of means. Where nobody was at risk there is none.
fn tau_of(tau: u32) -> Option<Value> {
    maybe(Some(tau).filter(|tau| *tau > 0))
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
        tau_of(stamina.tau),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn of 0.04 seconds was printed as 0.
    #[test]
    fn what_was_measured_is_not_printed_as_nothing() {
        let columns = vec![
            Column::number("seconds", "Time", 0).unit("s"),
            Column::number("tokens_per_turn", "Tokens per turn", 0),
            Column::number("difference", "Difference", 2),
            Column::number("other_seconds", "Time", 0).unit("s"),
        ];
        let mut table = Table::new("t", "T", columns);
        table.push(vec![known(0.04), known(0.3), known(0.001), known(12.4)]);
        table.push(vec![known(75.0), None, known(0.5), known(0.0)]);
        keep_small_numbers(&mut table);
        let decimals: Vec<u8> = table.columns.iter().map(|column| column.decimals).collect();
        assert_eq!(decimals, [2, 1, 2, 0]);
        let printed = table.to_markdown();
        assert!(printed.contains("| 0.04 | 0.3 | 0.00 | 12 |"), "{printed}");
        assert!(printed.contains("| 75.00 | unknown | 0.50 | 0 |"), "{printed}");
    }

    /// One time of a tenth of a microsecond gave all of them nine decimals.
    #[test]
    fn one_very_small_number_does_not_lengthen_all_others() {
        let columns = vec![
            Column::number("seconds", "Time", 1).unit("s"),
            Column::number("tokens_per_turn", "Tokens per turn", 0),
            Column::number("precise_seconds", "Time", 6).unit("s"),
        ];
        let mut table = Table::new("t", "T", columns);
        table.push(vec![known(1e-7), known(1e-7), known(1.5)]);
        table.push(vec![known(75.0), known(12.0), known(2.0)]);
        keep_small_numbers(&mut table);
        let decimals: Vec<u8> = table.columns.iter().map(|column| column.decimals).collect();
        assert_eq!(decimals, [3, 4, 6]);
        let printed = table.to_markdown();
        assert!(printed.contains("| &lt; 0.001 | 0.0000 | 1.500000 |"), "{printed}");
        assert!(printed.contains("| 75.000 | 12.0000 | 2.000000 |"), "{printed}");
    }

    #[test]
    fn a_horizon_of_nobody_is_unknown() {
        assert_eq!([tau_of(0), tau_of(4)], [None, known(4_u32)]);
        assert_eq!([first_turns(0), first_turns(1)], ["an unknown number of turns", "the first 1 turn"]);
    }
}
