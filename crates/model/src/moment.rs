//! Times as text. This module reads no clock: callers pass the time.

/// Seconds since 1970 as RFC 3339 in UTC, with milliseconds if given: `2026-06-01T10:00:00.123Z`.
///
/// Days to dates: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`; years begin in March,
/// so that the leap day is the last.
pub fn rfc3339(seconds: i64, millis: Option<u32>) -> String {
    let (days, of_day) = (seconds.div_euclid(86_400) + 719_468, seconds.rem_euclid(86_400));
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let fraction = millis.map(|millis| format!(".{millis:03}")).unwrap_or_default();
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}{fraction}Z",
        of_day / 3600,
        of_day % 3600 / 60,
        of_day % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_match_the_calendar() {
        for (seconds, text) in [
            (-1, "1969-12-31T23:59:59.000Z"),
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"),
        ] {
            assert_eq!(rfc3339(seconds, Some(0)), text);
            assert_eq!(rfc3339(seconds, None), text.replace(".000", ""));
        }
    }
}
