//! Times as text (RFC 3339, UTC, milliseconds).

use std::time::{SystemTime, UNIX_EPOCH};

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

/// Seconds from a time of ours until now; nothing where it is no time.
pub(crate) fn since(text: &str) -> Option<f64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    seconds(text).map(|then| (now - then).max(0.0))
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
    use std::time::Duration;

    use gateway::clock::rfc3339 as text;

    use super::*;

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
