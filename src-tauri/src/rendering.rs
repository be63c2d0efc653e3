//! WebKitGTK shares buffers with the graphics card (DMABUF). With NVIDIA's driver and inside an AppImage this can
//! leave the window blank; there, and when asked to, the app is started once more with that switched off. The
//! variable must be set before GTK starts, and a value that the user has set is never changed.

use std::process::ExitCode;

/// Starts the app again with other settings where they are needed; `Some` when that was done and this process is over.
#[cfg(target_os = "linux")]
pub(crate) fn restart_if_needed(is_requested: bool) -> Option<ExitCode> {
    use std::os::unix::process::CommandExt;

    const SWITCH: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
    if std::env::var_os(SWITCH).is_some() || !(is_requested || is_appimage() || has_nvidia_driver()) {
        return None;
    }
    let program = std::env::current_exe().ok()?;
    let error = std::process::Command::new(program).args(std::env::args_os().skip(1)).env(SWITCH, "1").exec();
    // `exec` only comes back when it failed; the app is then shown as it is.
    tracing::warn!("The app could not be started again with {SWITCH}=1: {error}");
    None
}

/// Other systems do not use WebKitGTK.
#[cfg(not(target_os = "linux"))]
pub(crate) fn restart_if_needed(_is_requested: bool) -> Option<ExitCode> {
    None
}

#[cfg(target_os = "linux")]
fn is_appimage() -> bool {
    std::env::var_os("APPIMAGE").is_some()
}

#[cfg(target_os = "linux")]
fn has_nvidia_driver() -> bool {
    std::path::Path::new("/proc/driver/nvidia/version").exists()
}
