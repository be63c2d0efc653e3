//! Errors of runs, settings and containers as hosts get them.

use runner::RunError;
use runner::settings::SettingsError;

use crate::api::{ApiError, FieldError};

/// What is wrong with a form, as one error.
pub(super) fn invalid_form(errors: &[FieldError]) -> ApiError {
    let text: Vec<String> = errors
        .iter()
        .map(|e| if e.field.is_empty() { e.message.clone() } else { format!("{}: {}", e.field, e.message) })
        .collect();
    ApiError::new("settings.value", text.join("; ")).hint("`check_settings` says what each field takes")
}

/// An error of a run, for the edge.
pub fn run_error(error: RunError) -> ApiError {
    let message = error.to_string();
    match error {
        RunError::Settings(error) => settings_error(error),
        RunError::Harness(_) => ApiError::new("run.harness", message).hint("`stamina harnesses` lists them"),
        RunError::Sandbox(error) => sandbox_error(&error),
        RunError::Gateway(_) => ApiError::new("run.gateway", message),
        RunError::Pack(error) => error.into(),
        RunError::Files { path, .. } => {
            ApiError::new("run.files", message).with_path(path.display().to_string())
        }
        RunError::Changed { path } => ApiError::new("run.changed", message)
            .with_path(path.display().to_string())
            .hint("Look at it again"),
        RunError::FolderTaken { path } => ApiError::new("run.taken", "The folder already contains a run")
            .with_path(path.display().to_string())
            .hint("Resume it, or choose another folder"),
        RunError::Running { path, pid } => {
            ApiError::new("run.running", format!("The run is being played by process {pid}"))
                .with_path(path.display().to_string())
                .hint("Stop it first")
        }
        RunError::NotResumable { path, reason } => {
            ApiError::new("run.not_resumable", format!("There is no run here that can be resumed: {reason}"))
                .with_path(path.display().to_string())
                .hint("Name the results folder of a run of Stamina Lab")
        }
    }
}

/// An error of containers, for the edge.
pub(crate) fn sandbox_error(error: &sandbox::SandboxError) -> ApiError {
    use sandbox::SandboxError as E;
    let code = match error {
        E::NoEngine { .. } => "engine.none",
        E::Unfit { .. } => "engine.unfit",
        E::NoImage { .. } => "engine.no_image",
        E::Image { .. } => "image.failed",
        E::Engine { .. } => "engine.refused",
        E::NoRoom { .. } | E::Files { .. } => "run.files",
    };
    let mut api_error = ApiError::new(code, error.to_string());
    api_error.hint = error.hint();
    api_error
}

/// An error of settings, for the edge.
pub(super) fn settings_error(error: SettingsError) -> ApiError {
    ApiError::new(error.code(), error.to_string()).hint("docs/cli.md lists the keys")
}
