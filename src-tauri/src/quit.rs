//! The end of the app: while it plays a run, closing its window asks first, in the window.

use std::sync::Arc;

use tauri::{AppHandle, Emitter, Manager, RunEvent, Window, WindowEvent};
use workbench::Workbench;

/// The event that asks; with it goes what is in flight.
const QUIT_QUESTION: &str = "quit-asked";

/// Asks in the window whether the runs of this process are to be stopped. False where it plays none: then it may end.
fn asks_to_quit(app: &AppHandle) -> bool {
    // Without a window nobody could answer.
    if app.webview_windows().is_empty() {
        return false;
    }
    let Some(in_flight) = app.state::<Arc<Workbench>>().in_flight() else { return false };
    match app.emit(QUIT_QUESTION, in_flight) {
        Ok(()) => true,
        Err(error) => {
            // Nobody can answer: the runs end as by a kill, which they survive.
            tracing::warn!(%error, "the window cannot be asked");
            false
        }
    }
}

/// A window that is closed.
pub(crate) fn before_the_window_closes(window: &Window, event: &WindowEvent) {
    if let WindowEvent::CloseRequested { api, .. } = event
        && asks_to_quit(window.app_handle())
    {
        api.prevent_close();
    }
}

/// The menu of the system, or its end.
pub(crate) fn before_the_app_ends(app: &AppHandle, event: RunEvent) {
    match event {
        RunEvent::ExitRequested { code: None, api, .. } if asks_to_quit(app) => api.prevent_exit(),
        RunEvent::Exit => app.state::<Arc<Workbench>>().note_orderly_end(),
        _ => {}
    }
}

/// Closes the window as its button does: what is in flight is asked about first.
#[tauri::command]
#[expect(clippy::needless_pass_by_value, reason = "a command owns its arguments")]
pub(crate) fn close(window: tauri::WebviewWindow) {
    if let Err(error) = window.close() {
        tracing::warn!(%error, "the window could not be closed");
    }
}

/// The answer: ends the app, once its runs have stopped or at once.
#[tauri::command]
pub(crate) async fn quit(app: AppHandle, at_once: bool) {
    if !at_once {
        let workbench = Arc::clone(&app.state::<Arc<Workbench>>());
        let stopped = tauri::async_runtime::spawn_blocking(move || workbench.stop_own_runs()).await;
        if let Err(error) = stopped {
            tracing::warn!(%error, "the runs could not be stopped");
        }
    }
    app.exit(0);
}
