//! `stamina withdraw`: runs whose numbers must not count.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use workbench::Workbench;
use workbench::api::{ApiError, ListRuns, Withdraw};

use crate::library_commands::{all_runs, find_run};
use crate::print::{note, print, print_json};

/// Runs and why they are withdrawn; without a reason they count.
type Marks = Vec<(Vec<String>, Option<String>)>;

/// What the command line says.
pub(crate) struct Asked {
    pub(crate) runs: Vec<String>,
    pub(crate) reason: Option<String>,
    pub(crate) undo: bool,
    pub(crate) from: Option<PathBuf>,
}

/// `stamina withdraw`.
pub(crate) fn withdraw(workbench: &Workbench, asked: &Asked, as_json: bool) -> Result<ExitCode, ApiError> {
    let marks = match &asked.from {
        Some(table) => here(workbench, marks(table)?)?,
        None => {
            let runs = asked.runs.iter().map(|run| Ok(find_run(workbench, run)?.id));
            let runs = runs.collect::<Result<_, ApiError>>()?;
            vec![(runs, asked.reason.clone().filter(|_| !asked.undo))]
        }
    };
    let mut done = Vec::new();
    for (runs, reason) in marks {
        workbench.withdraw(Withdraw { runs: runs.clone(), reason: reason.clone() })?;
        done.extend(runs.into_iter().map(|run| (run, reason.clone())));
    }
    if as_json {
        let runs: Vec<_> = done.iter().map(|(run, reason)| json!({ "id": run, "invalid": reason })).collect();
        print_json(&json!(runs));
        return Ok(ExitCode::SUCCESS);
    }
    for (run, reason) in &done {
        print(&match reason {
            Some(reason) => format!("{run} is withdrawn: {reason}\n"),
            None => format!("{run} counts\n"),
        });
    }
    if done.is_empty() {
        print("No run is marked in it.\n");
    }
    Ok(ExitCode::SUCCESS)
}

/// Those of the marks whose runs are here. A table has whole ids, and may be of a larger library: a run whose id only looks
/// like one of them is another run.
fn here(workbench: &Workbench, mut marks: Marks) -> Result<Marks, ApiError> {
    let ids: HashSet<String> =
        all_runs(workbench, &ListRuns::default())?.into_iter().map(|run| run.id).collect();
    for (runs, _) in &mut marks {
        runs.retain(|run| {
            let is_here = ids.contains(run);
            if !is_here {
                note(&format!("{run} is not in this library; its mark is left out"));
            }
            is_here
        });
    }
    Ok(marks)
}

/// The withdrawn runs of an exported table, by their reasons.
fn marks(table: &Path) -> Result<Marks, ApiError> {
    let wrong = |why: String| {
        ApiError::new("withdraw.table", format!("{}: {why}", table.display())).hint(
            "Export one with `stamina table library --out runs.csv`; it has the columns run_id and invalid",
        )
    };
    let mut reader = csv::Reader::from_path(table).map_err(|error| wrong(error.to_string()))?;
    let headings = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let column = |name: &str| {
        headings
            .iter()
            .position(|heading| heading == name)
            .ok_or_else(|| wrong(format!("it has no column {name}")))
    };
    let (run, invalid) = (column("run_id")?, column("invalid")?);
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in reader.records() {
        let row = row.map_err(|error| wrong(error.to_string()))?;
        let (Some(run), Some(reason)) = (row.get(run), row.get(invalid)) else { continue };
        if !run.is_empty() && !reason.trim().is_empty() {
            by_reason.entry(reason.to_owned()).or_default().push(run.to_owned());
        }
    }
    Ok(by_reason.into_iter().map(|(reason, runs)| (runs, Some(reason))).collect())
}
