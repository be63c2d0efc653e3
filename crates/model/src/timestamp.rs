//! Times as text and back: RFC 3339 in UTC. This module reads no clock: callers pass the time.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// A time to the second, `2026-06-01T10:00:00Z`; the rest is cut. Times before 1970 count as 1970.
pub fn to_the_second(time: SystemTime) -> String {
    format!("{:.0}", timestamp(time))
}

/// A time to the millisecond, `2026-06-01T10:00:00.123Z`; the rest is cut. Times before 1970 count as 1970.
pub fn to_the_millisecond(time: SystemTime) -> String {
    format!("{:.3}", timestamp(time))
}

/// Seconds since 1970 as a time to the second; `None` outside the years -9999 to 9999 (and in the last day of them, which is
/// 10000 somewhere on Earth).
pub fn from_seconds(seconds: i64) -> Option<String> {
    Some(format!("{:.0}", Timestamp::from_second(seconds).ok()?))
}

/// Milliseconds since 1970 as a time to the millisecond; `None` where [`from_seconds`] has none.
pub fn from_milliseconds(milliseconds: i64) -> Option<String> {
    Some(format!("{:.3}", Timestamp::from_millisecond(milliseconds).ok()?))
}

/// Seconds since 1970 of a time that this program wrote; `None` for another text, also for a time with another offset than
/// `Z`.
pub fn seconds(text: &str) -> Option<f64> {
    let time: Timestamp = text.ends_with('Z').then(|| text.parse().ok())??;
    Some(time.as_duration().as_secs_f64())
}

fn timestamp(time: SystemTime) -> Timestamp {
    let elapsed = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let milliseconds = i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_match_the_calendar() {
        for (seconds, text) in [
            (-1, "1969-12-31T23:59:59.000Z"),
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_795_000_000, "2026-11-18T11:06:40.000Z"),
            (1_795_246_554, "2026-11-21T07:35:54.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"),
        ] {
            let to_the_second_text = text.replace(".000", "");
            assert_eq!(from_milliseconds(seconds * 1000).as_deref(), Some(text));
            assert_eq!(from_seconds(seconds), Some(to_the_second_text.clone()));
            if let Ok(since) = u64::try_from(seconds) {
                let time = UNIX_EPOCH + Duration::from_secs(since);
                assert_eq!(
                    (to_the_second(time), to_the_millisecond(time)),
                    (to_the_second_text, text.to_owned())
                );
            }
        }
        let time = UNIX_EPOCH + Duration::from_micros(951_827_696_999_999);
        assert_eq!(to_the_millisecond(time), "2000-02-29T12:34:56.999Z");
        assert_eq!(to_the_second(time), "2000-02-29T12:34:56Z");
        assert_eq!(to_the_second(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn a_time_that_no_text_can_name_has_none() {
        assert_eq!((from_seconds(i64::MAX), from_milliseconds(i64::MIN)), (None, None));
        assert_eq!(from_seconds(253_402_300_800), None);
    }

    #[test]
    fn times_are_written_and_read() {
        for (unix_seconds, written) in [
            (0.0, "1970-01-01T00:00:00.000Z"),
            (951_827_696.5, "2000-02-29T12:34:56.500Z"),
            (1_780_308_000.0, "2026-06-01T10:00:00.000Z"),
            (4_107_542_399.0, "2100-02-28T23:59:59.000Z"),
        ] {
            assert_eq!(to_the_millisecond(UNIX_EPOCH + Duration::from_secs_f64(unix_seconds)), written);
            assert_eq!(seconds(written), Some(unix_seconds));
        }
        for other in ["2026-06-01T10:00:00+02:00", "2026-02-30T10:00:00Z", "2026-06-01", "yesterday", "Z", ""]
        {
            assert_eq!(seconds(other), None, "{other}");
        }
    }
}
