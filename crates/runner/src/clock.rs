//! Times as text (RFC 3339, UTC, milliseconds), and how long something was played.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(crate) use gateway::clock::now;
pub(crate) use model::timestamp::seconds;

/// Seconds from a time that this program wrote until now; `None` if the text is no time.
pub(crate) fn seconds_since(text: &str) -> Option<f64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    seconds(text).map(|earlier| (now - earlier).max(0.0))
}

/// Wall time in which at least one of several things runs; time in which several run counts once.
#[derive(Debug, Default)]
pub(crate) struct Stopwatch {
    before: Duration,
    working: u32,
    working_since: Option<Instant>,
}

impl Stopwatch {
    /// Continues from earlier seconds.
    pub(crate) fn from_seconds(seconds: f64) -> Self {
        let before = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default();
        Self { before, ..Self::default() }
    }

    /// One more starts.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.working += 1;
        self.working_since.get_or_insert(now);
    }

    /// One of them stops.
    pub(crate) fn stop(&mut self, now: Instant) {
        self.working = self.working.saturating_sub(1);
        if self.working == 0
            && let Some(start) = self.working_since.take()
        {
            self.before = self.before.saturating_add(now - start);
        }
    }

    /// Seconds by now.
    pub(crate) fn seconds(&self, now: Instant) -> f64 {
        let working = self.working_since.map_or(Duration::ZERO, |start| now - start);
        self.before.saturating_add(working).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_while_anything_runs() {
        let begin = Instant::now();
        let time_at = |seconds| begin + Duration::from_secs(seconds);
        let shows_seconds =
            |watch: &Stopwatch, now, seconds: f64| (watch.seconds(now) - seconds).abs() < 1e-9;
        let mut watch = Stopwatch::from_seconds(100.0);
        watch.begin(time_at(0));
        watch.begin(time_at(10));
        watch.stop(time_at(30));
        assert!(shows_seconds(&watch, time_at(40), 140.0));
        watch.stop(time_at(50));
        // What a record says of earlier parts may be as much as there is.
        let mut endless = Stopwatch::from_seconds(18_446_744_073_709_549_568.0);
        endless.begin(time_at(0));
        assert!(endless.seconds(time_at(4000)) > 1e19);
        endless.stop(time_at(4000));
        // All have stopped.
        assert!(shows_seconds(&watch, time_at(500), 150.0));
        watch.begin(time_at(500));
        assert!(shows_seconds(&watch, time_at(501), 151.0));
    }
}
