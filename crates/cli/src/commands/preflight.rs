//! `stamina preflight`: the settings that a command line names, and the checks before a run begins.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use runner::settings::RunSettings;
use serde_json::json;
use settings::ConfigFile;
use workbench::api::{ApiError, Check, CheckState, Preflight, RunEstimate};
use workbench::runs::{self, EndpointCall, bytes, duration, short};
use workbench::{Options, Workbench};

use crate::args::RunArgs;
use crate::pack_files::read_config;
use crate::print::{note, print, print_json};
use crate::text_table;

/// The settings that the arguments name, with absolute paths, because a resume may have another working directory.
pub(crate) fn settings(args: &RunArgs) -> Result<RunSettings, ApiError> {
    let files: Vec<ConfigFile> =
        args.configs.iter().map(|path| read_config(path)).collect::<Result<_, _>>()?;
    if files.is_empty() && args.values.is_empty() {
        return Err(ApiError::new("run.no_settings", "The arguments name nothing to run").hint(
            "Name a file with --configs, or keys with --values: stamina run --values agent=MOCK output_dir=results/smoke \
             quick_debug=true",
        ));
    }
    let mut settings = runner::settings::resolve(&files, &args.values).map_err(|error| {
        ApiError::new(error.code(), error.to_string()).hint("docs/cli.md lists the keys of a run")
    })?;
    settings.output_dir = absolute(&settings.output_dir)?;
    settings.scenarios_dir = settings.scenarios_dir.as_deref().map(absolute).transpose()?;
    settings.harness_file = settings.harness_file.as_deref().map(absolute).transpose()?;
    if let Some(tasks) = &mut settings.tasks {
        tasks.folder = absolute(&tasks.folder)?;
    }
    runs::priced(&mut settings)?;
    Ok(settings)
}

pub(crate) fn absolute(path: &Path) -> Result<PathBuf, ApiError> {
    std::path::absolute(path).map_err(|e| {
        ApiError::new("run.folder", format!("The path cannot be used: {e}"))
            .with_path(path.display().to_string())
    })
}

/// Opens the library, which estimates from earlier runs and shows this one. A run does not need it.
pub(crate) fn library(db: Option<&Path>) -> Option<Arc<Workbench>> {
    match Workbench::open(Options { db: db.map(Path::to_owned), ..Options::default() }) {
        Ok(workbench) => Some(workbench),
        Err(error) => {
            note(&format!(
                "warning: the library cannot be opened, so the run is not shown in it: {}",
                error.message
            ));
            None
        }
    }
}

/// A temporary library, removed with its folder.
fn temporary_library() -> Result<(tempfile::TempDir, Arc<Workbench>), ApiError> {
    let folder = tempfile::tempdir()
        .map_err(|e| ApiError::new("run.no_folder", format!("No temporary folder can be made: {e}")))?;
    let db = Some(folder.path().join("library.sqlite"));
    Ok((folder, Workbench::open(Options { db, ..Options::default() })?))
}

/// Runs the checks of preflight, with or without a library.
pub(crate) fn run_preflight(
    library: Option<&Arc<Workbench>>,
    settings: &RunSettings,
    call: EndpointCall,
) -> Result<Preflight, ApiError> {
    match library {
        Some(library) => library.run_preflight(settings, call),
        None => {
            let (_folder, library) = temporary_library()?;
            library.run_preflight(settings, call)
        }
    }
}

/// `stamina preflight`.
pub(crate) fn preflight(
    args: &RunArgs,
    db: Option<&Path>,
    call: EndpointCall,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let settings = settings(args)?;
    let found = run_preflight(library(db).as_ref(), &settings, call)?;
    if as_json {
        print_json(&json!(found));
    } else {
        print(&table_of(&found.checks));
        if let Some(estimate) = &found.estimate {
            print(&format!("\n{}", estimated(estimate, &settings)));
        } else {
            print("\nThere is no estimate: the scenarios of the run are unknown.\n");
        }
    }
    Ok(ExitCode::from(u8::from(!found.can_start)))
}

/// An error if a check fails.
pub(crate) fn must_start(found: &Preflight) -> Result<(), ApiError> {
    match found.checks.iter().find(|check| check.state == CheckState::Fail) {
        None => Ok(()),
        Some(check) => Err(ApiError::new(
            "run.preflight",
            format!("{}: {}; the run did not begin", check.title, check.value),
        )
        .hint("`stamina preflight` with the same arguments prints all checks")),
    }
}

fn word(state: CheckState) -> &'static str {
    match state {
        CheckState::Ok => "ok",
        CheckState::Warn => "warning",
        CheckState::Fail => "fails",
        CheckState::Unknown => "unknown",
    }
}

fn table_of(checks: &[Check]) -> String {
    let rows: Vec<Vec<String>> = checks
        .iter()
        .map(|c| {
            vec![
                word(c.state).to_owned(),
                c.title.clone(),
                c.value.clone(),
                c.sentence.clone().unwrap_or_default(),
            ]
        })
        .collect();
    text_table::table(&["state", "check", "value", "what it means"], &[false; 4], &rows)
}

fn range(bounds: Option<(f64, f64)>, show: impl Fn(f64) -> String) -> String {
    match bounds {
        None => "unknown".to_owned(),
        Some((low, high)) if show(low) == show(high) => show(low),
        Some((low, high)) => format!("{}–{}", show(low), show(high)),
    }
}

/// Why a run costs nothing; `None` = it may cost something.
fn no_cost(settings: &RunSettings) -> Option<&'static str> {
    match (settings.asks_model(), settings.is_simulated()) {
        (false, _) => Some("none: no model is asked"),
        (true, true) => Some("none: simulated"),
        (true, false) => None,
    }
}

/// The estimate of a run, as lines of text.
pub(crate) fn estimated(e: &RunEstimate, settings: &RunSettings) -> String {
    let usd = || range(e.cost_usd, model::dollars);
    let rows = [
        ("turns", format!("{} (at most {})", e.turns, model::counted(e.attempts_at_most, "attempt"))),
        ("time", range(e.seconds, duration)),
        (
            "tokens in",
            format!(
                "{}{}",
                range(e.tokens_in, short),
                e.cached.map_or_else(String::new, |share| format!(" ({:.0} % cached)", share * 100.0))
            ),
        ),
        ("tokens out", range(e.tokens_out, short)),
        ("cost", no_cost(settings).map_or_else(usd, str::to_owned)),
        ("disk", e.bytes.map_or_else(|| "unknown".to_owned(), bytes)),
    ];
    let in_engine = e.engine.iter().flat_map(|engine| {
        let images =
            engine.images.map_or_else(|| "unknown".to_owned(), |images| format!("about {}", bytes(images)));
        let snapshots = model::counted(engine.snapshots, "snapshot");
        let containers = format!("at most {} ({snapshots})", bytes(engine.containers_at_most));
        [("images", images), ("containers", containers)]
    });
    let mut text = String::new();
    for (name, value) in rows.into_iter().chain(in_engine) {
        text.push_str(&format!("{name:<11} {value}\n"));
    }
    for budget in &e.budgets {
        text.push_str(&format!("{:<11} {budget}\n", "budget"));
    }
    text.push_str(&format!("{}\n", e.basis));
    text
}
