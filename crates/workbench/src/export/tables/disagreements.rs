//! Turns on which members disagree, one row for each run that played the turn: names of runs are values and no heads, so
//! that a file of values says whose a row is.

use std::collections::HashMap;

use figures::table::{Column, Table, known, maybe};
use model::TurnState;

use super::{ScenarioNames, scenario_columns};
use crate::Workbench;
use crate::api::{ApiError, DisagreementMode, DisagreementRequest};
use crate::compare::members::{self, Pool, PooledRun};

/// Every turn of the request's mode, whatever it says of pages.
pub(super) fn table(workbench: &Workbench, request: &DisagreementRequest) -> Result<Table, ApiError> {
    some_disagreements(workbench, request, u32::MAX)
}

/// At most so many of these turns, in the order of the request; the table says how many there are.
pub(in crate::export) fn some_disagreements(
    workbench: &Workbench,
    request: &DisagreementRequest,
    most: u32,
) -> Result<Table, ApiError> {
    let page =
        workbench.list_disagreements(DisagreementRequest { offset: 0, limit: most, ..request.clone() })?;
    let pools = members::resolve(&workbench.store, &request.members)?;
    let names: Vec<String> = pools.iter().map(Pool::marked).collect();
    let one_turn = members::all_of_one_turn(&pools);
    let [scenario, episode, turns] =
        if one_turn { ["task", "trial", "tasks"] } else { ["scenario", "episode", "turns"] };
    // Each task is turn 1, and nothing failed before it.
    let turn_column = |column: Column| if one_turn { column.for_machines() } else { column };
    let [scenario_id, scenario_name] = scenario_columns(one_turn);
    let columns = vec![
        scenario_id,
        scenario_name,
        turn_column(Column::integer("turn", "Turn")),
        Column::text("run", "Run"),
        Column::text("state", "Came to"),
        Column::integer("passed", "Tests passed"),
        Column::integer("total", "Tests run"),
        turn_column(Column::flag("after_failure", "After a failure")),
        Column::integer("episodes", if one_turn { "Trials" } else { "Episodes" }).for_machines(),
        Column::integer("episodes_passed", "Of them passed it").for_machines(),
        Column::text("run_id", "Id of the run").for_machines(),
        Column::text("episode", if one_turn { "Trial" } else { "Episode" }).for_machines(),
        Column::share("spread", "Spread"),
    ];
    let mut table = Table::new("disagreements", &title(request.mode, one_turn), columns);
    let readable = ScenarioNames::from_pools(&pools);
    let runs: HashMap<&str, &PooledRun> =
        pools.iter().flat_map(|pool| &pool.runs).map(|run| (run.record.entry.slug.as_str(), run)).collect();
    for row in &page.rows {
        let run = row.cells.iter().flatten().find_map(|cell| runs.get(cell.run.as_str()));
        let title = run.map_or(row.scenario.as_str(), |run| readable.name(run, &row.scenario));
        for (name, cell) in names.iter().zip(&row.cells) {
            let Some(cell) = cell else { continue };
            table.push(vec![
                known(row.scenario.as_str()),
                known(title),
                known(row.turn),
                known(name.as_str()),
                known(word(cell.state)),
                maybe(cell.passed),
                maybe(cell.total),
                known(cell.after_failure),
                known(cell.episodes.0),
                known(cell.episodes.1),
                known(cell.run.as_str()),
                known(cell.episode.as_str()),
                maybe(row.spread),
            ]);
        }
    }
    if (page.rows.len() as u32) < page.total {
        table.notes.push(format!("The first {} of {} {turns}.", page.rows.len(), page.total));
    }
    if let Some(reference) = names.get(request.reference as usize) {
        table.notes.push(format!("The reference is {reference}."));
    }
    if !request.text.trim().is_empty() {
        table.notes.push(format!("Only {scenario}s with the words \"{}\".", request.text.trim()));
    }
    table.notes.push(format!(
        "Runs that did not play a {scenario} have no row. Spread is the highest less the lowest share of passed tests of a {}. Where a run played a {scenario} several times, the {episode} that did worst stands here.{}",
        if one_turn { scenario } else { "turn" },
        if one_turn { "" } else { " After a failure: an earlier turn of the episode was failed already." }
    ));
    Ok(table)
}

fn title(mode: DisagreementMode, is_single_turn: bool) -> String {
    let turns = if is_single_turn { "Tasks" } else { "Turns" };
    let condition = match mode {
        DisagreementMode::All => "any run reached",
        DisagreementMode::Different => "one run passes and another fails",
        DisagreementMode::Failures => "some run fails",
        DisagreementMode::Errors => "ended without a verdict for some run",
    };
    format!("{turns} that {condition}")
}

const fn word(state: TurnState) -> &'static str {
    match state {
        TurnState::Passed => "passed",
        TurnState::PassedAfterRetries => "passed after retries",
        TurnState::Failed => "failed",
        TurnState::Error => "error",
        TurnState::Censored => "censored",
        TurnState::NotReached => "not reached",
        TurnState::NotTested => "not tested",
    }
}
