//! `stamina import-report`: what was not taken as it stood, of a source.

use std::cmp::Reverse;
use std::process::ExitCode;

use model::{Severity, Treatment, Warning, counted, plain_line};
use serde_json::json;
use workbench::Workbench;
use workbench::api::{ApiError, ImportReportRequest};

use super::sources::find_source;
use crate::print::{print, print_json};

/// What was done, in words that name no severity.
fn treatment_in_words(treatment: Treatment) -> &'static str {
    match treatment {
        Treatment::Repaired => "corrected or completed",
        Treatment::Skipped => "left out",
        Treatment::ReadDifferently => "read differently",
    }
}

/// An entry of an import report, on one line whatever a name in it holds. One without a path is of the source as a whole.
pub(super) fn entry_line(kind: &str, warning: &Warning) -> String {
    let place = if warning.path.is_empty() { "the whole source" } else { warning.path.as_str() };
    plain_line(&format!("{kind}: {place}: {} [{}]", warning.message, warning.code))
}

/// Puts warnings before repairs and these before notes, which may be many. Entries of one severity keep their order.
fn sort_by_severity(entries: &mut [Warning]) {
    entries.sort_by_cached_key(|entry| Reverse(Severity::from_code(&entry.code)));
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
    sort_by_severity(&mut report.warnings);
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

#[cfg(test)]
mod tests {
    use model::{Treatment, Warning};

    use super::{entry_line, sort_by_severity, treatment_in_words};

    fn warning(path: &str) -> Warning {
        Warning {
            path: path.to_owned(),
            code: "depth.exceeded".to_owned(),
            message: "77 folders are deeper.".to_owned(),
            treatment: Treatment::Skipped,
            run: None,
        }
    }

    /// Warnings stood behind 705 notes, whose codes come first in the alphabet.
    #[test]
    fn the_gravest_entries_come_first_in_their_order() {
        let mut entries = ["harbor.no_job_files", "json.truncated", "link.skipped", "reader.failed"]
            .map(|code| Warning { code: code.to_owned(), ..warning("") });
        sort_by_severity(&mut entries);
        let codes = entries.each_ref().map(|entry| entry.code.as_str());
        assert_eq!(codes, ["json.truncated", "reader.failed", "harbor.no_job_files", "link.skipped"]);
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
