//! What asks the program to end: Ctrl-C, SIGTERM, a terminal that is closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ctrl-C, SIGTERM and a terminal that is closed, from the moment this is made: until then each ends the program at once.
pub(crate) struct StopSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` under nohup, which is there to live on.
    hangup: Option<tokio::signal::unix::Signal>,
}

impl StopSignals {
    /// Inside a runtime.
    pub(crate) fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hangup = (!ignores_hangup()).then(|| signal(SignalKind::hangup())).transpose()?;
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup,
        })
    }

    /// Ends at the next of them.
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

/// Whether this process was started with SIGHUP ignored, as nohup does. Where the system does not tell, it is left alone.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // A mask of signals from 1, and SIGHUP is the first.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

/// Ends at Ctrl-C and at SIGTERM; never, where the system lets nobody listen for them.
pub(crate) async fn stop_signal() {
    match StopSignals::new() {
        Ok(mut signals) => signals.next().await,
        Err(_) => std::future::pending().await,
    }
}

/// A flag that Ctrl-C and SIGTERM set, so that what was begun is taken away; the second ends the program at once.
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
    // Nothing is begun before a signal would be heard: it would leave half of it behind. Ends in an error either way.
    let _ = listens.recv();
    flag
}
