//! `stamina report`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use workbench::api::{ApiError, ExportFormat, ExportRequest, ExportSubject};
use workbench::{Watch, Workbench};

use super::exports::{absolute, written};
use super::selection::compared;
use crate::print::{note, print_json};
use crate::progress_throttle::ProgressThrottle;
use crate::signals::cancel_on_signal;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Ids of runs, or parts of ids that name one alone; or harness:NAME, model:NAME, tag:NAME, cell:HARNESS×MODEL
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// The folder to write to, created if it is missing; with --zip, the file
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Write one zip
    #[arg(long)]
    zip: bool,
    /// Venue of its figures
    #[arg(long, value_name = "VENUE", default_value = "icml")]
    preset: String,
    /// The run that others are compared with; the first by default
    #[arg(long, value_name = "RUN")]
    reference: Option<String>,
    /// Horizon of mean stamina in turns; by default as far as every curve is known
    #[arg(long, value_name = "TURNS")]
    tau: Option<u32>,
}

/// `stamina report`.
pub(crate) fn report(workbench: &Workbench, args: &ReportArgs, as_json: bool) -> Result<ExitCode, ApiError> {
    let comparison = compared(workbench, &args.runs, args.reference.as_deref(), args.tau)?;
    let (cancel, throttle) = (cancel_on_signal(), ProgressThrottle::new());
    let progress = |done: usize, total: usize| {
        throttle.report(|| format!("hashed {done} of {}", model::counted(total as u64, "input file")));
    };
    let watch = Watch { progress: &progress, cancel: &cancel };
    if args.zip {
        let bundle = ExportSubject::Bundle { request: comparison, preset: args.preset.clone() };
        let request =
            ExportRequest { subject: bundle, format: ExportFormat::Zip, path: Some(absolute(&args.out)?) };
        return Ok(written(&workbench.export_watched(&request, &watch)?, as_json));
    }
    let to = absolute(&args.out)?;
    let folder = workbench.export_report(&comparison, &args.preset, Path::new(&to), &watch)?;
    for warning in &folder.warnings {
        note(&format!("warning: {warning}"));
    }
    if as_json {
        print_json(&json!({ "path": folder.path, "files": folder.files, "warnings": folder.warnings }));
    } else {
        let files = model::counted(folder.files.len() as u64, "file");
        note(&format!("{}: {files}; open report.html or report.md", folder.path));
    }
    Ok(ExitCode::SUCCESS)
}
