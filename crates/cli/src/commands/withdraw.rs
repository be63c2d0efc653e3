//! `stamina withdraw`: runs and trials whose numbers must not count.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use model::{is_missing_value, without_guard};
use serde_json::json;
use workbench::Workbench;
use workbench::api::{ApiError, ListRuns, WithdrawRuns};

use crate::library_runs::{all_runs, find_run};
use crate::print::{note, print, print_json};

/// The largest table of marks that is read.
const LARGEST_TABLE: u64 = 64 << 20;

/// The arguments of `stamina withdraw`.
pub(crate) struct WithdrawOptions {
    pub(crate) runs: Vec<String>,
    pub(crate) trials: Vec<String>,
    pub(crate) reason: Option<String>,
    pub(crate) undo: bool,
    pub(crate) table: Option<PathBuf>,
}

/// A run or an episode, and why it is withdrawn. Without a reason it counts.
struct Mark {
    run: String,
    episode: Option<String>,
    reason: Option<String>,
}

impl Mark {
    fn name(&self) -> String {
        match &self.episode {
            Some(episode) => format!("{episode} of {}", self.run),
            None => self.run.clone(),
        }
    }
}

/// `stamina withdraw`.
pub(crate) fn withdraw(
    workbench: &Workbench,
    options: &WithdrawOptions,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let marks = match &options.table {
        Some(table) => marks_in_library(workbench, read_marks(table)?)?,
        None => marks_of_options(workbench, options)?,
    };
    for mark in &marks {
        workbench.withdraw(WithdrawRuns {
            runs: vec![mark.run.clone()],
            episodes: mark.episode.iter().cloned().collect(),
            reason: mark.reason.clone(),
        })?;
    }
    if as_json {
        let marks: Vec<_> = marks
            .iter()
            .map(|mark| json!({ "id": mark.run, "episode": mark.episode, "invalid": mark.reason }))
            .collect();
        print_json(&json!(marks));
        return Ok(ExitCode::SUCCESS);
    }
    for mark in &marks {
        print(&match &mark.reason {
            Some(reason) => format!("{} is withdrawn: {reason}\n", mark.name()),
            None => format!("{} counts\n", mark.name()),
        });
    }
    if marks.is_empty() {
        print("No run is marked in it.\n");
    }
    Ok(ExitCode::SUCCESS)
}

/// A mark for each named run, or for the named trials of the only one.
fn marks_of_options(workbench: &Workbench, options: &WithdrawOptions) -> Result<Vec<Mark>, ApiError> {
    let runs: Vec<String> =
        options.runs.iter().map(|run| Ok(find_run(workbench, run)?.id)).collect::<Result<_, ApiError>>()?;
    let reason = options.reason.clone().filter(|_| !options.undo);
    if options.trials.is_empty() {
        return Ok(runs.into_iter().map(|run| Mark { run, episode: None, reason: reason.clone() }).collect());
    }
    let [run] = runs.as_slice() else {
        return Err(ApiError::new(
            "withdraw.one_run",
            format!("Trials are withdrawn of one run at a time, and {} are named", runs.len()),
        )
        .hint("Name the run of the trials"));
    };
    let mark = |trial: &String| {
        let episode = Some(workbench.find_episode(run, trial)?);
        Ok(Mark { run: run.clone(), episode, reason: reason.clone() })
    };
    options.trials.iter().map(mark).collect()
}

/// Keeps the marks whose runs and episodes are in this library. A table has whole ids and may come from a larger library,
/// so a run with a similar id is a different run.
fn marks_in_library(workbench: &Workbench, mut marks: Vec<Mark>) -> Result<Vec<Mark>, ApiError> {
    let ids: HashSet<String> =
        all_runs(workbench, &ListRuns::default())?.into_iter().map(|run| run.id).collect();
    marks.retain(|mark| {
        let is_here = ids.contains(&mark.run)
            && mark
                .episode
                .as_ref()
                .is_none_or(|episode| workbench.has_episode(&mark.run, episode).unwrap_or(false));
        if !is_here {
            note(&format!("{} is not in this library; its mark is ignored", mark.name()));
        }
        is_here
    });
    Ok(marks)
}

/// Reads the marks of an exported table of runs or of episodes.
fn read_marks(table: &Path) -> Result<Vec<Mark>, ApiError> {
    let wrong = |problem: String| {
        ApiError::new("withdraw.table", format!("{}: {problem}", table.display())).hint(
            "Export one with `stamina table library --out runs.csv`; it has the columns run_id and invalid",
        )
    };
    // It may be somebody else's: a device has no end.
    let bytes = files::confined_path::read_named_file(table, LARGEST_TABLE)
        .map_err(|error| wrong(error.to_string()))?;
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let headings = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let place = |name: &str| headings.iter().position(|heading| heading == name);
    let column = |name: &str| place(name).ok_or_else(|| wrong(format!("it has no column {name}")));
    let (run, invalid) = (column("run_id")?, column("invalid")?);
    let episode = place("episode");
    // A table may name the same run or episode twice.
    let mut marks: BTreeMap<(String, Option<String>), String> = BTreeMap::new();
    for row in reader.records() {
        let row = row.map_err(|error| wrong(error.to_string()))?;
        let (Some(run), Some(reason)) = (row.get(run), row.get(invalid)) else { continue };
        let episode = match episode.map(|index| row.get(index).unwrap_or_default()) {
            Some("") => continue,
            episode => episode.map(str::to_owned),
        };
        // R and pandas write a word where there is no reason.
        if !run.is_empty() && !reason.trim().is_empty() && !is_missing_value(reason) {
            marks.insert((run.to_owned(), episode), without_guard(reason).to_owned());
        }
    }
    Ok(marks
        .into_iter()
        .map(|((run, episode), reason)| Mark { run, episode, reason: Some(reason) })
        .collect())
}
