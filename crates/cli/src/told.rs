//! How far something long is, said now and then.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::print::note;

/// How often something long says how far it is.
const PROGRESS: Duration = Duration::from_secs(1);

/// Says how far something is, now and then, on standard error.
pub(crate) struct Told(Mutex<Instant>);

impl Told {
    /// From now.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Instant::now()))
    }

    /// Says it, if nothing was said for a while.
    pub(crate) fn tell(&self, text: impl Fn() -> String) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= PROGRESS {
            *last = Instant::now();
            note(&text());
        }
    }
}

/// Seconds to the millisecond.
pub(crate) fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
