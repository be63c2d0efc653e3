//! What was recognized, skipped and repaired when a source was read.

use std::cmp::Reverse;

use figures::table::{Column, Table, known};
use model::{Severity, counted};

use super::played_runs::word;
use crate::Workbench;
use crate::api::{ApiError, ImportReportRequest, WarningSelection};

/// Most warnings that are asked for at once.
const PAGE: u32 = 5_000;

/// The warnings of a source, one a row.
pub(super) fn warnings(workbench: &Workbench, selection: &WarningSelection) -> Result<Table, ApiError> {
    let columns = vec![
        Column::text("path", "Where"),
        Column::text("code", "Code"),
        Column::text("severity", "Severity"),
        Column::text("treatment", "What was done"),
        Column::text("message", "What it is"),
    ];
    let WarningSelection { source, treatment, run } = selection.clone();
    let mut request = ImportReportRequest { source, treatment, code: None, run, offset: 0, limit: PAGE };
    let mut report = workbench.import_report(request.clone())?;
    let mut table = Table::new("warnings", &format!("Import warnings of {}", report.source.name), columns);
    let (matching, all) = (report.matching, report.source.warnings);
    let mut warnings = Vec::new();
    loop {
        let is_last = report.warnings.is_empty();
        warnings.append(&mut report.warnings);
        if is_last || warnings.len() as u64 >= matching {
            break;
        }
        request.offset = warnings.len() as u32;
        report = workbench.import_report(request.clone())?;
    }
    // Warnings first. Notes may be many.
    warnings.sort_by_cached_key(|warning| Reverse(Severity::from_code(&warning.code)));
    for warning in &warnings {
        table.push(vec![
            known(warning.path.as_str()),
            known(warning.code.as_str()),
            known(Severity::from_code(&warning.code).as_str()),
            known(word(warning.treatment)),
            known(warning.message.as_str()),
        ]);
    }
    table.notes.push(format!(
        "{matching} of {}; read were {}, {}, {}, {} in {}.",
        counted(all, "warning"),
        counted(report.runs.into(), "run"),
        counted(report.episodes.into(), "episode"),
        counted(report.turns, "turn"),
        counted(report.attempts, "attempt"),
        counted(report.files_read, "file")
    ));
    Ok(table)
}
