//! `stamina ingest`: reads folders and zips into the library.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use model::{Severity, Warning, WarningCounts, counted};
use serde_json::json;
use workbench::api::{ApiError, MapColumns};
use workbench::{CopiedRun, Workbench};

use super::import_report::entry_line;
use crate::json;
use crate::print::{note, print, print_json};

/// How often a long import reports its progress.
pub(super) const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

/// Entries of an import report that are noted after reading a source.
const MOST_NOTED: usize = 10;

/// Runs with trials of other runs that are named after reading a source.
const MOST_COPIES_NAMED: usize = 3;

/// `stamina ingest`.
pub(crate) fn ingest(
    workbench: &Workbench,
    paths: &[PathBuf],
    (map, with): (&[String], Option<&str>),
    as_json: bool,
) -> ExitCode {
    let mut sources = Vec::new();
    let mut errors = Vec::new();
    let mut failed = false;
    for path in paths {
        let last = Cell::new(Instant::now());
        let progress = |done: u32, total: u32| {
            if last.get().elapsed() >= PROGRESS_INTERVAL {
                last.set(Instant::now());
                note(&format!("{}: read {done} of {total}", path.display()));
            }
        };
        // With an importer, `map` names columns of the table that it writes.
        let read = || match with {
            Some(importer) => workbench.ingest_with(path, importer, &workbench::parse_map(map)?, &progress),
            None => store_mapping(workbench, path, map).and_then(|()| workbench.ingest(path, &progress)),
        };
        match read() {
            Ok(read) => {
                if as_json {
                    sources.push(json::ingest_summary(&read));
                } else {
                    print(&format!(
                        "{}: {}, {}, {}, {}, {}, {}\n",
                        read.path,
                        read.format_name,
                        counted(read.runs.into(), "run"),
                        counted(read.episodes.into(), "episode"),
                        counted(read.turns, "turn"),
                        counted(read.attempts, "attempt"),
                        read.severities
                    ));
                    note_warnings(&read.warnings, &read.name);
                    if let Some(line) = copies_line(&read.copies, read.runs) {
                        note(&line);
                    }
                }
            }
            Err(error) => {
                crate::report(&error);
                failed |= !crate::is_of_the_command_line(&error.code);
                errors.push(json::error(&path.display().to_string(), &error));
            }
        }
    }
    let code = match (errors.is_empty(), failed) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    };
    if as_json {
        print_json(&json!({ "sources": sources, "errors": errors }));
    }
    ExitCode::from(code)
}

/// Notes the entries of an import report that matter most, each with its severity, and how many of each are left.
fn note_warnings(warnings: &[Warning], source: &str) {
    let mut entries: Vec<(Severity, &Warning)> =
        warnings.iter().map(|warning| (Severity::from_code(&warning.code), warning)).collect();
    entries.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
    let (shown, left) = entries.split_at(entries.len().min(MOST_NOTED));
    for (severity, warning) in shown {
        note(&entry_line(severity.as_str(), warning));
    }
    if !left.is_empty() {
        let left = WarningCounts::from_codes(left.iter().map(|(_, warning)| warning.code.as_str()));
        note(&format!("… and {left} more; `stamina import-report {source}` lists them"));
    }
}

/// That runs of a source have trials of other runs, for example because a folder and a zip of it are both open.
fn copies_line(copies: &[CopiedRun], runs: u32) -> Option<String> {
    let (named, more) = copies.split_at(copies.len().min(MOST_COPIES_NAMED));
    let mut names: Vec<String> = named
        .iter()
        .filter_map(|copied| {
            let (other, trials) = copied.other_runs.first()?;
            Some(format!("{} ({} in {other})", copied.run, counted((*trials).into(), "trial")))
        })
        .collect();
    if names.is_empty() {
        return None;
    }
    if !more.is_empty() {
        names.push(format!("and {} more", more.len()));
    }
    Some(format!(
        "{} of {}: trials that other runs of the library have as well. They count once where runs are combined: {}; \
         `stamina copies RUN` says where",
        copies.len(),
        counted(runs.into(), "run"),
        names.join(", ")
    ))
}

/// Stores the meaning of a table's columns that `--map` names.
fn store_mapping(workbench: &Workbench, path: &Path, map: &[String]) -> Result<(), ApiError> {
    if map.is_empty() {
        return Ok(());
    }
    let columns = workbench::parse_map(map)?;
    let path = path.display().to_string();
    workbench.map_columns(MapColumns { path, columns }).map(|_| ())
}

#[cfg(test)]
mod tests {
    use workbench::CopiedRun;

    use super::copies_line;

    #[test]
    fn runs_that_are_open_twice_are_named_up_to_three() {
        assert_eq!(copies_line(&[], 5), None);
        let copies: Vec<CopiedRun> = (1..=5)
            .map(|n| CopiedRun { run: format!("b.{n}"), other_runs: vec![(format!("a.{n}"), n)] })
            .collect();
        let line = copies_line(&copies, 6).expect("a line");
        assert!(line.starts_with("5 of 6 runs: trials that other runs"), "{line}");
        assert!(
            line.contains("b.1 (1 trial in a.1), b.2 (2 trials in a.2), b.3 (3 trials in a.3), and 2 more;")
        );
    }
}
