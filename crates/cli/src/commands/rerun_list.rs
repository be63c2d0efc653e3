//! `stamina rerun-list`.

use std::process::ExitCode;

use workbench::Workbench;
use workbench::api::{ApiError, RerunRequest};

use crate::json;
use crate::library_runs::find_run;
use crate::print::{print, print_json};

/// `stamina rerun-list`.
pub(crate) fn rerun_list(
    workbench: &Workbench,
    request: &RerunRequest,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let run = find_run(workbench, &request.run)?.id;
    let list = workbench.list_reruns(RerunRequest { run, ..request.clone() })?;
    if as_json {
        print_json(&json::reruns(&list));
    } else {
        print(&list.text);
    }
    Ok(ExitCode::SUCCESS)
}
