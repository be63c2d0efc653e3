//! The progress of long work, reported at intervals.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::print::note;

/// The least time between two reports.
const INTERVAL: Duration = Duration::from_secs(1);

/// Reports progress on standard error, at most once per interval.
pub(crate) struct ProgressThrottle(Mutex<Instant>);

impl ProgressThrottle {
    /// The first interval begins now.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Instant::now()))
    }

    /// Writes the line if an interval has passed since the last one.
    pub(crate) fn report(&self, line: impl Fn() -> String) {
        let mut last = model::lock(&self.0);
        if last.elapsed() >= INTERVAL {
            *last = Instant::now();
            note(&line());
        }
    }
}
