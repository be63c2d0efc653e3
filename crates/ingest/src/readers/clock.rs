//! Points in time as result files write them: `2026-11-21T07:30:59.927965Z`, with an offset, or without any.
//!
//! Only differences and order are computed. A time without an offset is taken as UTC for the order; two such times of
//! the same clock still differ by what they should, and one with and one without an offset have no difference.
//!
//! Files write more forms than RFC 3339 knows (24:00, fractions of any length), so the text is taken apart here; the calendar
//! is jiff's.

use jiff::civil::Date;

/// Microseconds since 1970-01-01T00:00:00 UTC; `None` if it is not a date and time.
pub fn micros(text: &str) -> Option<i64> {
    let text = text.trim();
    let (date, rest) = (text.get(..10)?, text.get(11..)?);
    if !matches!(text.as_bytes()[10], b'T' | b't' | b' ') {
        return None;
    }
    let mut ymd = date.split('-').map(number);
    let (year, month, day) = (ymd.next()??, ymd.next()??, ymd.next()??);
    let zone = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(zone);
    let (hms, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = hms.split(':').map(number);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    let is_of_day = hour < 24 && minute < 60 && second <= 60 || (hour, minute, second) == (24, 0, 0);
    if !is_of_day {
        return None;
    }
    let date = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let offset = match zone.split_at_checked(1) {
        Some((sign @ ("+" | "-"), hhmm)) => {
            let hhmm = hhmm.replace(':', "");
            let (hours, minutes) = (number(hhmm.get(..2)?)?, hhmm.get(2..4).map_or(Some(0), number)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let minutes = hours * 60 + minutes;
            if sign == "+" { minutes } else { -minutes }
        }
        _ => 0,
    };
    let midnight = date.duration_since(Date::constant(1970, 1, 1)).as_secs();
    let seconds = midnight + hour * 3600 + (minute - offset) * 60 + second;
    Some(seconds * 1_000_000 + number(&digits)?)
}

/// Seconds from one time to another; `None` if that is before it, or if only one of them has an offset.
pub fn seconds_between(start: &str, end: &str) -> Option<f64> {
    if has_offset(start) != has_offset(end) {
        return None;
    }
    let span = micros(end)?.checked_sub(micros(start)?)?;
    (span >= 0).then_some(span as f64 / 1e6)
}

/// When something began whose parts have times, too: at its own begin, or at that of a part where that was earlier, as in a
/// job that was resumed. Each is a begin and an end; what is no time does not count.
///
/// The own times may be of a clock whose offset is not recorded while those of the parts have one, as in Harbor's jobs. Then the
/// offset is derived from the own end, which follows that of the last part at once, or a part counts that was earlier
/// wherever on earth the clock stood.
pub fn earliest_begin<'a>(
    own: (Option<&'a str>, Option<&'a str>),
    parts: &[(Option<&'a str>, Option<&'a str>)],
) -> Option<&'a str> {
    let first = |with_offset: bool| {
        let starts =
            parts.iter().filter_map(|(start, _)| *start).filter(|start| has_offset(start) == with_offset);
        starts.filter_map(|start| Some((micros(start)?, start))).min()
    };
    let Some((start, own_begin)) = own.0.and_then(|start| Some((micros(start)?, start))) else {
        return first(true).or_else(|| first(false)).map(|(_, start)| start);
    };
    let earlier = if has_offset(own_begin) {
        first(true).filter(|(part, _)| *part < start)
    } else {
        let limit = start - own.1.and_then(|end| offset(end, parts)).unwrap_or(14 * 3600 * 1_000_000);
        first(false)
            .filter(|(part, _)| *part < start)
            .or_else(|| first(true).filter(|(part, _)| *part < limit))
    };
    Some(earlier.map_or(own_begin, |(_, part)| part))
}

/// How far ahead of UTC the clock was that wrote `end`, in microseconds, if that is when the last of the parts ended: a
/// number of quarters of an hour.
fn offset(end: &str, parts: &[(Option<&str>, Option<&str>)]) -> Option<i64> {
    const QUARTER: i64 = 900 * 1_000_000;
    const AT_ONCE: i64 = 120 * 1_000_000;
    let end_times = parts.iter().map(|(_, end)| micros(end.filter(|end| has_offset(end))?));
    let last = end_times.collect::<Option<Vec<i64>>>()?.into_iter().max()?;
    let ahead = micros(end).filter(|_| !has_offset(end))? - last;
    (ahead.rem_euclid(QUARTER) <= AT_ONCE).then(|| ahead.div_euclid(QUARTER) * QUARTER)
}

/// Whether a time says how far its clock is from UTC.
fn has_offset(time: &str) -> bool {
    time.trim().get(11..).is_some_and(|clock| clock.contains(['Z', 'z', '+', '-']))
}

fn number(digits: &str) -> Option<i64> {
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_resumed_began_with_its_first_part() {
        let part = |day: u8, hour: u8| {
            (format!("2026-01-{day:02}T{hour:02}:00:00Z"), format!("2026-01-{day:02}T{hour:02}:30:00Z"))
        };
        let start = |own_times: (Option<&str>, Option<&str>), parts: &[(String, String)]| {
            let parts: Vec<_> = parts.iter().map(|(a, b)| (Some(a.as_str()), Some(b.as_str()))).collect();
            earliest_begin(own_times, &parts).map(str::to_owned)
        };
        let naive = (Some("2026-01-02T18:00:00"), Some("2026-01-02T18:30:07"));
        // The clock was eight hours ahead: 18:00 there is 10:00, when its only part began, or an hour after another.
        assert_eq!(start(naive, &[part(2, 10)]).as_deref(), naive.0);
        assert_eq!(start(naive, &[part(2, 10), part(2, 9)]).as_deref(), Some("2026-01-02T09:00:00Z"));
        // Which clock it was is not known: it ended long after its parts, or has no end.
        let odd = (naive.0, Some("2026-01-02T18:40:00"));
        for own_times in [odd, (naive.0, None)] {
            assert_eq!(start(own_times, &[part(2, 10), part(2, 9)]).as_deref(), naive.0);
            assert_eq!(start(own_times, &[part(2, 10), part(1, 9)]).as_deref(), Some("2026-01-01T09:00:00Z"));
        }
        let zoned = (Some("2026-01-02T10:00:00+01:00"), None);
        assert_eq!(start(zoned, &[part(2, 9)]).as_deref(), zoned.0);
        assert_eq!(start(zoned, &[part(2, 8)]).as_deref(), Some("2026-01-02T08:00:00Z"));
        assert_eq!(start((None, None), &[part(2, 9), part(2, 8)]).as_deref(), Some("2026-01-02T08:00:00Z"));
        assert_eq!(start((Some("2026-02-30T10:00:00"), None), &[]), None);
    }

    #[test]
    fn the_kinds_of_times_that_files_hold() {
        assert_eq!(micros("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(micros("2000-03-01T00:00:00"), Some(951_868_800_000_000));
        assert_eq!(micros("2026-11-21T07:30:59.5+00:00"), micros("2026-11-21T08:30:59.500000+01:00"));
        assert_eq!(seconds_between("2026-11-21T07:00:59.75Z", "2026-11-21T07:01:00Z"), Some(0.25));
        assert_eq!(seconds_between("2026-11-21T07:01:00Z", "2026-11-21T07:00:00Z"), None);
        assert!(micros("2024-02-29T24:00:00Z").is_some());
        assert_eq!(seconds_between("2026-11-21T07:00:00Z", "2026-11-21T07:01:00"), None);
        assert_eq!(seconds_between("2026-11-21T07:00:00", "2026-11-21T07:01:00"), Some(60.0));
        for bad in [
            "",
            "yesterday",
            "2026-11-21",
            "2026-11-21T",
            "2026-13-01T00:00:00Z",
            "2026-11-21T0a:00:00Z",
            "ä026-11-21T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-11-21T24:00:01Z",
            "2026-11-21T00:60:00Z",
            "2026-11-21T00:00:00+24:00",
        ] {
            assert_eq!(micros(bad), None, "{bad}");
        }
    }
}
