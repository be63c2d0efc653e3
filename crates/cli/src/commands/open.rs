//! `stamina open`: opens folders and zips in the desktop app.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode};

use serde_json::json;
use workbench::api::ApiError;
use workbench::{Options, Workbench};

use crate::print::{note, print_json};

/// `stamina open`.
pub(crate) fn open_app(paths: &[PathBuf], db: Option<&Path>, as_json: bool) -> Result<ExitCode, ApiError> {
    let mut absolute = Vec::new();
    for path in paths {
        absolute.push(path.canonicalize().map_err(|e| {
            ApiError::new("source.missing", format!("The folder or zip cannot be opened: {e}"))
                .with_path(path.display().to_string())
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
            .with_path(program.display().to_string())
    })?;
    finish_open("started the app", as_json);
    Ok(ExitCode::SUCCESS)
}

fn finish_open(message: &str, as_json: bool) {
    if as_json {
        print_json(&json!({ "opened": message }));
    } else {
        note(message);
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
