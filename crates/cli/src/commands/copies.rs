//! `stamina copies`.

use std::process::ExitCode;

use workbench::Workbench;
use workbench::api::{ApiError, RunRef};

use crate::library_runs::find_run;
use crate::print::{print, print_json};
use crate::{json, text_table};

/// `stamina copies`.
pub(crate) fn copies(
    workbench: &Workbench,
    run: &str,
    count_here: bool,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let run = RunRef { run: find_run(workbench, run)?.id };
    let detail = if count_here { workbench.prefer_run(run)? } else { workbench.get_run(run)? };
    if as_json {
        print_json(&json::copies(&detail));
        return Ok(ExitCode::SUCCESS);
    }
    if detail.copies.is_empty() {
        print(&format!("No other run has trials of {}.\n", detail.row.id));
        return Ok(ExitCode::SUCCESS);
    }
    let lines: Vec<Vec<String>> = detail
        .copies
        .iter()
        .map(|copies| {
            let own_count = copies.episodes - copies.counted_there.min(copies.episodes);
            let counted = match (own_count, copies.counted_there) {
                (_, 0) => detail.row.id.clone(),
                (0, _) => copies.run.clone(),
                (own_count, other_count) => {
                    format!("{} ({own_count}), {} ({other_count})", detail.row.id, copies.run)
                }
            };
            vec![copies.run.clone(), copies.source.clone(), copies.episodes.to_string(), counted]
        })
        .collect();
    print(&text_table::table(
        &["run", "source", "trials in both", "counted in"],
        &[false, false, true, false],
        &lines,
    ));
    Ok(ExitCode::SUCCESS)
}
