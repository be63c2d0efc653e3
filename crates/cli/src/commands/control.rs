//! `stamina pause`, `stop` and `retry`: control requests to a run of any process.

use std::path::Path;
use std::process::ExitCode;

use runner::live;
use serde_json::json;
use workbench::api::{ApiError, RunAction};
use workbench::runs;

use super::preflight::absolute;
use crate::print::{note, print_json};

/// `stamina pause`, `stamina stop`, `stamina retry`: sends a control request to a run of another process.
pub(crate) fn send_request(folder: &Path, action: &RunAction, as_json: bool) -> Result<ExitCode, ApiError> {
    let folder = absolute(folder)?;
    let run = live::read(&folder).map_err(runs::run_error)?;
    runs::send_control_request(&folder, &run, action)?;
    let answer = match action {
        RunAction::Pause => "pausing: running attempts end, no new ones begin",
        RunAction::Continue => "the run continues",
        RunAction::Stop => "stopping: what was finished is kept",
        RunAction::Retry { .. } => "the attempt is retried",
    };
    if as_json {
        print_json(&json!({ "folder": folder, "wish": answer }));
    } else {
        note(answer);
    }
    Ok(ExitCode::SUCCESS)
}
