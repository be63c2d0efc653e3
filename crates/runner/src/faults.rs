//! Places at which a test kills this process, to see that nothing is lost. Nothing of it is in the program that people
//! get: without the feature `faults` a point is no code at all.
//!
//! Every call of [`point`] counts. With `STAMINA_KILL_AT=n` the process kills itself at the `n`-th; with
//! `STAMINA_COUNT_TO=FILE` the number of points so far stands in a file.

#[cfg(not(feature = "faults"))]
pub(crate) fn point(_name: &'static str) {}

#[cfg(feature = "faults")]
pub(crate) fn point(name: &'static str) {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
    let at = |variable: &str| std::env::var(variable).ok();
    if let Some(file) = at("STAMINA_COUNT_TO") {
        let _ = std::fs::write(file, count.to_string());
    }
    if at("STAMINA_KILL_AT").and_then(|n| n.parse().ok()) == Some(count) {
        if let Some(file) = at("STAMINA_KILLED_TO") {
            let _ = std::fs::write(file, name);
        }
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        // The signal may take a moment.
        loop {
            std::thread::park();
        }
    }
}
