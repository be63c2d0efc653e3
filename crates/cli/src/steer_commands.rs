//! `stamina pause`, `stop`, `retry` and `status`: of a run that any process plays, by its results folder.

use std::path::Path;
use std::process::ExitCode;

use runner::live::{self, RunState};
use serde_json::json;
use workbench::api::{ApiError, RunAction};
use workbench::runs::{self, duration};

use crate::preflight_command::absolute;
use crate::print::{note, print, print_json};
use crate::table;

/// `stamina pause`, `stamina stop`, `stamina retry`: of a run of another process.
pub(crate) fn steer(folder: &Path, action: &RunAction, as_json: bool) -> Result<ExitCode, ApiError> {
    let folder = absolute(folder)?;
    let run = live::read(&folder).map_err(runs::run_error)?;
    runs::wish(&folder, &run, action)?;
    let said = match action {
        RunAction::Pause => "pausing: attempts in play end, no new ones begin",
        RunAction::Continue => "it goes on",
        RunAction::Stop => "stopping: what was finished is kept",
        RunAction::Retry { .. } => "the attempt is played again",
    };
    if as_json {
        print_json(&json!({ "folder": folder, "wish": said }));
    } else {
        note(said);
    }
    Ok(ExitCode::SUCCESS)
}

/// `stamina status`: what a run is doing.
pub(crate) fn status(folder: &Path, as_json: bool) -> Result<ExitCode, ApiError> {
    let folder = absolute(folder)?;
    let run = live::read(&folder).map_err(runs::run_error)?;
    if as_json {
        print_json(&json!(run));
        return Ok(ExitCode::SUCCESS);
    }
    let state = match &run.state {
        RunState::Running => "running".to_owned(),
        RunState::Paused => "paused".to_owned(),
        RunState::Stopping => "stopping".to_owned(),
        RunState::Lost => "lost: its process is gone; `stamina resume` goes on with it".to_owned(),
        RunState::Ended { finish } => crate::progress::ended(finish),
    };
    let model = run.model.as_deref().unwrap_or("model unknown");
    let simulated = if run.simulated { ", simulated" } else { "" };
    let cost = run.spent.cost_usd.map_or_else(|| "unknown".to_owned(), |usd| format!("${usd:.2}"));
    print(&format!("{} · {model}{simulated}: {state}\n", run.agent));
    print(&format!("{}, {} requests, cost {cost}\n", duration(run.seconds), run.spent.requests));
    let rows: Vec<Vec<String>> = run.episodes.iter().map(crate::progress::row).collect();
    print(&table::table(
        &["episode", "state", "turns", "turn", "attempt", "now"],
        &[false, false, false, true, true, false],
        &rows,
    ));
    Ok(ExitCode::SUCCESS)
}
