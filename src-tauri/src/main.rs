//! Stamina Lab as a desktop app: a window, its dialogs, drag and drop, its end, and one command, `rpc`, that carries every
//! command of the workbench. What a user can do is decided there, not here.

// Without this, Windows opens a console behind the window.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod arguments;
mod quit;
mod rendering;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use serde_json::Value;
use tauri::{State, WebviewWindowBuilder};
use workbench::api::ApiError;
use workbench::{Options, Workbench};

use arguments::Arguments;

/// Runs a command of the workbench for the UI.
#[tauri::command]
async fn rpc(workbench: State<'_, Arc<Workbench>>, name: String, payload: Value) -> Result<Value, ApiError> {
    workbench::dispatch(&workbench, &name, payload).await
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("STAMINA_LOG")
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,aws_config=error")),
        )
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .init();
    if let Some(code) = rendering::restart_if_needed(arguments.safe_rendering) {
        return code;
    }
    match show(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&error);
            ExitCode::FAILURE
        }
    }
}

/// Opens the library and shows it in a window until that is closed.
fn show(arguments: &Arguments) -> Result<(), ApiError> {
    let context = tauri::generate_context!();
    let resources = tauri::utils::platform::resource_dir(context.package_info(), &tauri::Env::default()).ok();
    // The library opens before the window: an error is shown in a dialog, not in a window without content.
    let options = Options {
        db: arguments.db.clone(),
        live: true,
        app: true,
        sample: workbench::sample::find(resources),
    };
    let workbench = Workbench::open(options)?;
    workbench::runs::sweep_leftovers();
    workbench::runs::remove_old_smoke_tests();
    let to_open = arguments.for_the_ui();
    tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .invoke_handler(tauri::generate_handler![rpc, quit::quit, quit::close])
        .manage(workbench)
        .setup(move |app| {
            let window =
                app.config().app.windows.first().ok_or("the window is not described in tauri.conf.json")?;
            WebviewWindowBuilder::from_config(app, window)?.initialization_script(to_open).build()?;
            Ok(())
        })
        .on_window_event(quit::before_the_window_closes)
        .build(context)
        .map_err(|error| ApiError::new("desktop.failed", format!("The window cannot be shown: {error}")))?
        .run(quit::before_the_app_ends);
    Ok(())
}

/// Says why there is no window: on standard error, and to those who did not start the app from a terminal in a dialog.
fn tell(error: &ApiError) {
    let lines = [Some(&error.message), error.path.as_ref(), error.hint.as_ref()];
    let text = lines.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n");
    tracing::error!("{text}");
    if !std::io::stderr().is_terminal() {
        rfd::MessageDialog::new()
            .set_title("Stamina Lab")
            .set_description(&text)
            .set_level(rfd::MessageLevel::Error)
            .show();
    }
}
