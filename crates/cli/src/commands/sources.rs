//! Commands about sources: read them, open them in the app, print import reports, close them.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode};
use std::time::{Duration, Instant};

use model::{Severity, Treatment, Warning, WarningCounts, counted, plain_line};
use serde_json::json;
use workbench::api::{ApiError, ImportReportRequest, MapColumns, Nothing, SourceInfo, SourceRef};
use workbench::{CopiedRun, Options, Workbench};

use crate::print::{note, print, print_json};
use crate::{json, text_table};

/// How often a long import reports its progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

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
                    sources.push(json::ingested(&read));
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

/// What was done, in words that name no severity.
fn treatment_in_words(treatment: Treatment) -> &'static str {
    match treatment {
        Treatment::Repaired => "corrected or completed",
        Treatment::Skipped => "left out",
        Treatment::ReadDifferently => "read differently",
    }
}

/// An entry of an import report, on one line whatever a name in it holds. One without a path is of the source as a whole.
fn entry_line(kind: &str, warning: &Warning) -> String {
    let place = if warning.path.is_empty() { "the whole source" } else { warning.path.as_str() };
    plain_line(&format!("{kind}: {place}: {} [{}]", warning.message, warning.code))
}

/// That runs of a source have trials of other runs, for example because a folder and a zip of it are both open.
fn copies_line(copies: &[CopiedRun], runs: u32) -> Option<String> {
    let (named, more) = copies.split_at(copies.len().min(MOST_COPIES_NAMED));
    let mut names: Vec<String> = named
        .iter()
        .filter_map(|copied| {
            let (other, trials) = copied.also_in.first()?;
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

/// `stamina open`.
pub(crate) fn open_app(paths: &[PathBuf], db: Option<&Path>, as_json: bool) -> Result<ExitCode, ApiError> {
    let mut absolute = Vec::new();
    for path in paths {
        absolute.push(path.canonicalize().map_err(|e| {
            ApiError::new("source.missing", format!("The folder or zip cannot be opened: {e}"))
                .at(path.display().to_string())
        })?);
    }
    let options = Options { db: db.map(Path::to_owned), live: false, ..Options::default() };
    if workbench::app_is_running(&options) {
        // The running app notices new sources of its library.
        let workbench = Workbench::open(options)?;
        for path in &absolute {
            workbench.register(path)?;
        }
        finish_open("handed to the running app", as_json);
        return Ok(ExitCode::SUCCESS);
    }
    let program = find_app()?;
    let mut process = Process::new(&program);
    if let Some(db) = db {
        process.arg("--db").arg(db);
    }
    process.args(&absolute).stdin(std::process::Stdio::null()).spawn().map_err(|e| {
        ApiError::new("open.failed", format!("The desktop app cannot be started: {e}"))
            .at(program.display().to_string())
    })?;
    finish_open("started the app", as_json);
    Ok(ExitCode::SUCCESS)
}

fn finish_open(what: &str, as_json: bool) {
    if as_json {
        print_json(&json!({ "opened": what }));
    } else {
        note(what);
    }
}

/// Finds the desktop app beside this program or on the `PATH`.
fn find_app() -> Result<PathBuf, ApiError> {
    let beside = std::env::current_exe().ok().and_then(|p| p.parent().map(|f| f.join("stamina-lab")));
    let on_path = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect::<Vec<_>>())
        .unwrap_or_default();
    beside
        .into_iter()
        .chain(on_path.into_iter().map(|folder| folder.join("stamina-lab")))
        .find(|program| program.is_file())
        .ok_or_else(|| {
            ApiError::new("open.no_app", "The desktop app `stamina-lab` was not found beside this program or on the PATH")
                .hint("`npm start` in the checkout builds and starts it; `stamina serve` shows the app in a browser")
        })
}

/// `stamina sources`.
pub(crate) fn sources(workbench: &Workbench, as_json: bool) -> Result<ExitCode, ApiError> {
    let state = workbench.app_state(Nothing {})?;
    if as_json {
        print_json(&json!(state.sources));
        return Ok(ExitCode::SUCCESS);
    }
    let lines: Vec<Vec<String>> = state
        .sources
        .iter()
        .map(|s| {
            vec![
                s.id.to_string(),
                s.label.clone(),
                s.format.clone(),
                s.runs.to_string(),
                s.warnings.to_string(),
                s.path.clone(),
            ]
        })
        .collect();
    print(&text_table::table(
        &["number", "name", "format", "runs", "warnings", "path"],
        &[true, false, false, true, true, false],
        &lines,
    ));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn find_source(workbench: &Workbench, wanted: &str) -> Result<SourceInfo, ApiError> {
    let absolute = Path::new(wanted).canonicalize().ok();
    let sources = workbench.app_state(Nothing {})?.sources;
    let mut found = sources.into_iter().filter(|s| {
        s.name == wanted
            || s.label == wanted
            || s.id.to_string() == wanted
            || absolute.as_deref().is_some_and(|p| Path::new(&s.path) == p)
    });
    match (found.next(), found.next()) {
        (Some(source), None) => Ok(source),
        (Some(_), Some(_)) => {
            Err(ApiError::new("source.ambiguous", format!("\"{wanted}\" names more than one source"))
                .hint("Name it by its number; `stamina sources` lists them"))
        }
        _ => {
            Err(ApiError::new("source.not_found", format!("There is no source \"{wanted}\" in the library"))
                .hint("`stamina sources` lists them"))
        }
    }
}

/// `stamina import-report`.
pub(crate) fn import_report(
    workbench: &Workbench,
    source: &str,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let source = find_source(workbench, source)?;
    let mut request = ImportReportRequest {
        source: source.id,
        treatment: None,
        code: None,
        run: None,
        offset: 0,
        limit: 1000,
    };
    let mut report = workbench.import_report(request.clone())?;
    while (report.warnings.len() as u64) < report.matching {
        request.offset = report.warnings.len() as u32;
        let more = workbench.import_report(request.clone())?.warnings;
        if more.is_empty() {
            break;
        }
        report.warnings.extend(more);
    }
    if as_json {
        print_json(&json!(report));
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{}: {}, {}, {}, {} and {} not reached, {}, {} read, {}\n",
        source.path,
        source.format,
        counted(report.runs.into(), "run"),
        counted(report.episodes.into(), "episode"),
        counted(report.turns, "turn"),
        report.not_reached,
        counted(report.attempts, "attempt"),
        counted(report.files_read, "file"),
        report.source.severities
    );
    for warning in &report.warnings {
        let severity = Severity::from_code(&warning.code).as_str();
        let kind = format!("{severity}, {}", treatment_in_words(warning.treatment));
        text.push_str(&entry_line(&kind, warning));
        text.push('\n');
    }
    print(&text);
    Ok(ExitCode::SUCCESS)
}

/// `stamina close`.
pub(crate) fn close(workbench: &Workbench, source: &str, as_json: bool) -> Result<ExitCode, ApiError> {
    let source = find_source(workbench, source)?;
    workbench.close_for_good(SourceRef { source: source.id })?;
    if as_json {
        print_json(&json!({ "closed": source.path }));
    } else {
        note(&format!("{} is not in the library any more; the files are untouched", source.path));
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use model::{Treatment, Warning};

    use workbench::CopiedRun;

    use super::{copies_line, entry_line, treatment_in_words};

    fn warning(path: &str) -> Warning {
        Warning {
            path: path.to_owned(),
            code: "depth.exceeded".to_owned(),
            message: "77 folders are deeper.".to_owned(),
            treatment: Treatment::Skipped,
            run: None,
        }
    }

    #[test]
    fn an_entry_without_a_path_is_of_the_whole_source() {
        assert_eq!(
            entry_line("warning", &warning("")),
            "warning: the whole source: 77 folders are deeper. [depth.exceeded]"
        );
        assert_eq!(entry_line("note", &warning("a/b")), "note: a/b: 77 folders are deeper. [depth.exceeded]");
    }

    #[test]
    // docs/security.md: Pages, terminals and files that others open
    fn no_name_in_an_entry_begins_a_line_of_its_own() {
        let mut hostile = warning("a\nwarning: b");
        hostile.message =
            "The folder of task x\n/results: Harbor job, no warnings\u{1b}[2J is not here.".to_owned();
        assert_eq!(
            entry_line("note", &hostile),
            "note: a\u{fffd}warning: b: The folder of task x\u{fffd}/results: Harbor job, no warnings\u{fffd}[2J is not here. \
             [depth.exceeded]"
        );
    }

    #[test]
    fn runs_that_are_open_twice_are_named_up_to_three() {
        assert_eq!(copies_line(&[], 5), None);
        let copies: Vec<CopiedRun> = (1..=5)
            .map(|n| CopiedRun { run: format!("b.{n}"), also_in: vec![(format!("a.{n}"), n)] })
            .collect();
        let line = copies_line(&copies, 6).expect("a line");
        assert!(line.starts_with("5 of 6 runs: trials that other runs"), "{line}");
        assert!(
            line.contains("b.1 (1 trial in a.1), b.2 (2 trials in a.2), b.3 (3 trials in a.3), and 2 more;")
        );
    }

    #[test]
    fn what_was_done_is_no_severity() {
        for treatment in [Treatment::Repaired, Treatment::Skipped, Treatment::ReadDifferently] {
            let words = treatment_in_words(treatment);
            assert!(
                ["warning", "repair", "note"].iter().all(|severity| !words.contains(severity)),
                "{words}"
            );
        }
    }
}
