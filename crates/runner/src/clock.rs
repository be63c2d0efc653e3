//! Times as text (RFC 3339, UTC, milliseconds), and how long something was played.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(crate) use gateway::clock::now;

/// Seconds since 1970 of a text of [`now`]; nothing for another form. Times with another offset than `Z` are none of
/// ours.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let text = text.strip_suffix('Z')?;
    let (date, time) = text.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut time = time.splitn(3, ':');
    let (hour, minute): (f64, f64) = (time.next()?.parse().ok()?, time.next()?.parse().ok()?);
    let second: f64 = time.next()?.parse().ok()?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(days(year, month, day) as f64 * 86_400.0 + hour * 3600.0 + minute * 60.0 + second)
}

/// Seconds from a time that this program wrote until now; `None` if the text is no time.
pub(crate) fn seconds_since(text: &str) -> Option<f64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    seconds(text).map(|then| (now - then).max(0.0))
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
    pub(crate) fn after(seconds: f64) -> Self {
        let before = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default();
        Self { before, ..Self::default() }
    }

    /// One more starts.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.working += 1;
        self.working_since.get_or_insert(now);
    }

    /// One of them stops.
    pub(crate) fn rest(&mut self, now: Instant) {
        self.working = self.working.saturating_sub(1);
        if self.working == 0
            && let Some(start) = self.working_since.take()
        {
            self.before += now - start;
        }
    }

    /// Seconds by now.
    pub(crate) fn seconds(&self, now: Instant) -> f64 {
        (self.before + self.working_since.map_or(Duration::ZERO, |start| now - start)).as_secs_f64()
    }
}

/// A date as days since 1970. Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use gateway::clock::rfc3339 as text;

    use super::*;

    #[test]
    fn time_counts_while_anything_runs() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let is = |watch: &Stopwatch, now, seconds: f64| (watch.seconds(now) - seconds).abs() < 1e-9;
        let mut watch = Stopwatch::after(100.0);
        watch.begin(at(0));
        watch.begin(at(10));
        watch.rest(at(30));
        assert!(is(&watch, at(40), 140.0));
        watch.rest(at(50));
        // All have stopped.
        assert!(is(&watch, at(500), 150.0));
        watch.begin(at(500));
        assert!(is(&watch, at(501), 151.0));
    }

    #[test]
    fn times_are_written_and_read() {
        for (seconds_since, written) in [
            (0.0, "1970-01-01T00:00:00.000Z"),
            (951_827_696.5, "2000-02-29T12:34:56.500Z"),
            (1_780_308_000.0, "2026-06-01T10:00:00.000Z"),
            (4_107_542_399.0, "2100-02-28T23:59:59.000Z"),
        ] {
            assert_eq!(text(UNIX_EPOCH + Duration::from_secs_f64(seconds_since)), written);
            assert_eq!(seconds(written), Some(seconds_since));
        }
        assert_eq!(seconds("2026-06-01T10:00:00+02:00"), None);
        assert_eq!(seconds("yesterday"), None);
    }
}
