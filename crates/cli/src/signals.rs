//! The signals that end the program: Ctrl-C, SIGTERM, and SIGHUP of a closed terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Handles Ctrl-C, SIGTERM and SIGHUP from its creation on. Before that, each ends the program at once.
pub(crate) struct StopSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` under nohup, which lets the program run on.
    hangup: Option<tokio::signal::unix::Signal>,
}

impl StopSignals {
    /// Needs a tokio runtime.
    pub(crate) fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hangup = (!ignores_hangup()).then(|| signal(SignalKind::hangup())).transpose()?;
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup,
        })
    }

    /// Waits for the next of them.
    pub(crate) async fn next(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! { _ = self.interrupt.recv() => {}, _ = self.terminate.recv() => {}, () = hangup => {} }
    }
}

/// Whether this process was started with SIGHUP ignored, as nohup does. Where that is unknown, it counts as ignored.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The lowest bit of the mask is signal 1, SIGHUP.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

/// Waits for Ctrl-C, SIGTERM or SIGHUP; forever where the system does not let this process handle signals.
pub(crate) async fn stop_signal() {
    match StopSignals::new() {
        Ok(mut signals) => signals.next().await,
        Err(_) => std::future::pending().await,
    }
}

/// A flag that the first signal sets, so that unfinished work is removed. The second signal exits at once.
pub(crate) fn cancel_on_signal() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    let (listening, listens) = std::sync::mpsc::sync_channel::<()>(1);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Ok(mut signals) = StopSignals::new() else { return };
            drop(listening);
            signals.next().await;
            set.store(true, Ordering::Relaxed);
            signals.next().await;
            std::process::exit(130);
        });
    });
    // Nothing begins before signals are handled: a signal would leave half of it behind. The error is the expected end.
    let _ = listens.recv();
    flag
}
