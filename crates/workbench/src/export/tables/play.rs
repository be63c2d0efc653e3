//! Runs that are or were played here, and the episodes of one of them.

use figures::table::{Column, Table, known, maybe};
use serde::Serialize;

use crate::Workbench;
use crate::api::{ApiError, LiveState, Nothing, RunFolder, marked};

/// The stable word of a value, with spaces for a reader.
pub(super) fn word(of: impl Serialize) -> String {
    let word = serde_json::to_value(of).ok();
    word.as_ref().and_then(|word| word.as_str()).unwrap_or("unknown").replace('_', " ")
}

/// The runs that were played here; `over` = only those that nobody plays.
pub(super) fn runs(workbench: &Workbench, over: bool) -> Result<Table, ApiError> {
    let columns = vec![
        Column::text("run", "Run"),
        Column::text("folder", "Folder").for_machines(),
        Column::text("run_id", "Id of the run").missing("not read yet").for_machines(),
        Column::text("harness", "Harness"),
        Column::text("model", "Model"),
        Column::flag("shakedown", "Shakedown").for_machines(),
        Column::text("state", "State"),
        Column::text("message", "Why it failed").missing("n/a").for_machines(),
        Column::integer("episodes_over", "Episodes done"),
        Column::integer("episodes", "Of"),
        Column::integer("turns_decided", "Turns decided"),
        Column::integer("turns", "Of"),
        Column::number("seconds", "Elapsed", 0).unit("s"),
        Column::integer("input_tokens", "Tokens in"),
        Column::integer("output_tokens", "Tokens out"),
        Column::number("cost_usd", "Cost", 2).unit("US$"),
        Column::text("started_at", "Started"),
        Column::text("last_event_at", "Last sign of life").for_machines(),
    ];
    let title = if over { "Runs that were played here" } else { "Runs that are or were played here" };
    let mut table = Table::new("played", title, columns);
    let playing = |state| {
        matches!(state, LiveState::Starting | LiveState::Running | LiveState::Paused | LiveState::Stopping)
    };
    for run in workbench.list_live_runs(Nothing {})?.runs {
        if over && playing(run.state) {
            continue;
        }
        table.push(vec![
            known(marked(&run.name, run.simulated)),
            known(run.folder.as_str()),
            maybe(run.run.as_deref()),
            known(run.agent.as_str()),
            maybe(run.model.as_deref()),
            known(run.shakedown),
            known(word(run.state)),
            maybe(run.message.as_deref()),
            known(run.episodes.0),
            known(run.episodes.1),
            known(run.turns.0),
            known(run.turns.1),
            known(run.seconds),
            maybe(run.tokens.input),
            maybe(run.tokens.output),
            maybe(run.cost_usd),
            known(run.started_at.as_str()),
            maybe(run.last_event_at.as_deref()),
        ]);
    }
    Ok(table)
}

/// The episodes of a run as far as they are played.
pub(super) fn progress(workbench: &Workbench, of: &RunFolder) -> Result<Table, ApiError> {
    let columns = vec![
        Column::text("episode", "Episode"),
        Column::text("title", "Title").missing("none").for_machines(),
        Column::text("phase", "State"),
        Column::text("end_reason", "End").missing("not over"),
        Column::integer("turn", "Turn").missing("not begun"),
        Column::integer("turns", "Of"),
        Column::integer("attempt", "Attempt").missing("not begun"),
        Column::integer("stamina", "Stamina").unit("turns"),
        Column::text("outcomes", "Turn by turn").missing("none decided"),
        Column::number("seconds", "Elapsed", 0).unit("s"),
        Column::integer("input_tokens", "Tokens in"),
        Column::integer("output_tokens", "Tokens out"),
        Column::number("cost_usd", "Cost", 2).unit("US$"),
        Column::text("last_event_at", "Last sign of life").for_machines(),
        Column::number("eta_seconds", "Time left", 0).unit("s").for_machines(),
        Column::text("stuck", "Why it may be stuck").missing("n/a").for_machines(),
    ];
    let run = workbench.get_live_run(of.clone())?;
    let title = format!("Episodes of {}", marked(&run.row.name, run.row.simulated));
    let mut table = Table::new("progress", &title, columns);
    for episode in &run.episodes {
        let begun = episode.turn > 0;
        let outcomes: String = episode.cells.iter().map(|state| letter(*state)).collect();
        table.push(vec![
            known(episode.name.as_str()),
            maybe(episode.title.as_deref()),
            known(word(episode.phase)),
            maybe(episode.end_reason.map(model::EndReason::label)),
            maybe(begun.then_some(episode.turn)),
            known(run.turns),
            maybe(begun.then_some(episode.attempt)),
            known(episode.stamina),
            maybe(Some(outcomes).filter(|outcomes| !outcomes.is_empty())),
            known(episode.seconds),
            maybe(episode.tokens.input),
            maybe(episode.tokens.output),
            maybe(episode.cost_usd),
            maybe(episode.last_event_at.as_deref()),
            maybe(episode.eta_seconds),
            maybe(episode.stuck.as_deref()),
        ]);
    }
    table.notes.push(format!(
        "The run is {}. Turn by turn: p passed, r passed after retries, f failed, e error, c censored, . not reached.",
        word(run.row.state)
    ));
    Ok(table)
}

const fn letter(state: model::TurnState) -> char {
    match state {
        model::TurnState::Passed => 'p',
        model::TurnState::PassedAfterRetries => 'r',
        model::TurnState::Failed => 'f',
        model::TurnState::Error => 'e',
        model::TurnState::Censored => 'c',
        model::TurnState::NotReached => '.',
        model::TurnState::NotTested => 't',
    }
}
