//! `stamina resume`: continues a run in this process, in the foreground.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use workbench::api::{ApiError, RunTrust, TrustRun};
use workbench::runs;

use super::preflight::{absolute, library};
use super::run::run_to_end;
use crate::args::{Keep, TrustArgs};
use crate::print::{note, print_json};

/// Exit code of a resume without `--trust` of a run that was not begun here.
const UNTRUSTED: u8 = 5;

/// `stamina resume`.
pub(crate) fn resume(
    folder: &Path,
    values: &[String],
    trust: &TrustArgs,
    db: Option<&Path>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let folder = absolute(folder)?;
    let Some(library) = library(db) else {
        return Err(ApiError::new(
            "run.no_library",
            "Without the library it is unknown whether this run was begun here",
        )
        .with_path(folder.display().to_string())
        .hint("Name the library with --db"));
    };
    let seen = library.trust_of(&folder)?;
    // With --json only events go to standard output, so what is trusted goes to standard error.
    if !seen.trusted && (!as_json || trust.trust) {
        note(&trust_in_words(&seen));
    }
    if !seen.trusted && !trust.trust {
        if as_json {
            print_json(&trust_as_json(&seen));
        } else {
            note("The run was not resumed. To resume it nevertheless: stamina resume … --trust");
        }
        return Ok(ExitCode::from(UNTRUSTED));
    }
    let kept = |part: Keep| trust.keep.contains(&part);
    let trusted = TrustRun {
        digest: seen.digest,
        keep_endpoint: kept(Keep::Endpoint),
        keep_key: kept(Keep::Key),
        keep_variables: kept(Keep::Variables),
    };
    let (changes, looked_at) = library.admitted(&folder, values.to_vec(), Some(&trusted))?;
    let (run_folder, changes) = (folder.clone(), runs::priced_changes(&folder, changes)?);
    let resume = async |on_event| runner::resume(run_folder, changes, looked_at, on_event).await;
    run_to_end(&folder, Some(library), as_json, resume)
}

/// What a resume of a run that was not begun here would do: the lines of its page.
fn trust_in_words(run: &RunTrust) -> String {
    let mut lines = vec![
        "This run was not begun by this library on this machine. Its folder decides what a resume does:"
            .to_owned(),
    ];
    for row in &run.rows {
        lines.push(format!("  {:<15} {}", row.name, row.value));
        if let (Some(keep), Some(instead)) = (row.keep, &row.instead) {
            lines.push(format!("  {:<15} {instead}, unless --keep {} is given", "", keep.as_str()));
        }
    }
    lines.join("\n")
}

fn trust_as_json(run: &RunTrust) -> serde_json::Value {
    json!({
        "trusted": run.trusted, "mode": run.mode, "endpoint": run.endpoint, "key": run.key, "model": run.model,
        "budget": run.budget, "harness": run.harness,
        "harness_file": run.harness_file, "image": run.image, "binds": run.binds, "arguments": run.arguments,
        "variables": run.variables, "variables_set": run.variables_set, "network": run.network, "host_processes": run.host_processes,
        "limits": run.limits, "scenarios": run.scenarios, "plays": run.plays, "task_images": run.task_images, "task_images_more": run.task_images_more,
        "tasks_unreadable": run.tasks_unreadable, "writes": run.writes, "rows": run.rows,
    })
}
