//! Timestamps of records.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, RFC 3339 in UTC with milliseconds.
pub fn now() -> String {
    rfc3339(SystemTime::now())
}

/// A point in time, RFC 3339 in UTC with milliseconds. Times before 1970 count as 1970.
pub fn rfc3339(time: SystemTime) -> String {
    let elapsed = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    model::rfc3339(elapsed.as_secs().cast_signed(), Some(elapsed.subsec_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_follow_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_795_246_554, "2026-11-21T07:35:54.000Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
