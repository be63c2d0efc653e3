//! How long to wait before an endpoint is tried again.

use std::time::{Duration, SystemTime};

use axum::http::HeaderMap;
use axum::http::header::RETRY_AFTER;

use crate::Retry;

/// The longest wait that an endpoint may ask for; one that asks for more is not waited for.
pub(crate) const LONGEST_ASKED: Duration = Duration::from_mins(10);

/// The wait after try number `tried` (from 1): doubled each time up to the longest, half of it drawn from `seed`; what the
/// endpoint asks for wins if it is longer. `None` = it asks for too much.
pub(crate) fn wait(retry: &Retry, tried: u32, seed: u64, asked: Option<Duration>) -> Option<Duration> {
    let doubled = retry
        .first_wait
        .saturating_mul(1_u32.checked_shl(tried.saturating_sub(1)).unwrap_or(u32::MAX))
        .min(retry.longest_wait);
    let share = (mix(seed ^ (u64::from(tried) << 32)) >> 11) as f64 / (1_u64 << 53) as f64;
    let drawn = doubled.mul_f64(0.5 + 0.5 * share);
    match asked {
        Some(asked) if asked > LONGEST_ASKED => None,
        Some(asked) => Some(asked.max(drawn)),
        None => Some(drawn),
    }
}

/// `Retry-After` in both of its forms (RFC 9110, 10.2.3), and `retry-after-ms`, which some endpoints add.
pub(crate) fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let text = text(RETRY_AFTER.as_str())?;
    match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            let date = httpdate::parse_http_date(text).ok()?;
            Some(date.duration_since(now).unwrap_or_default())
        }
    }
}

/// A number from a text, the same on every machine (FNV-1a).
pub(crate) fn seed(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// One step of `SplitMix64` (Steele, Lea, Flood 2014).
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn waits_double_with_jitter_up_to_the_longest() {
        let retry = Retry::default();
        for seed in 0..200 {
            let mut doubled = 2.0;
            for tried in 1..40 {
                let waited = wait(&retry, tried, seed, None).unwrap().as_secs_f64();
                assert!(waited >= doubled / 2.0 && waited <= doubled, "{waited} of {doubled}");
                doubled = f64::min(doubled * 2.0, 60.0);
            }
        }
        assert_eq!(wait(&retry, 3, 7, None), wait(&retry, 3, 7, None));
        assert_ne!(wait(&retry, 3, 7, None), wait(&retry, 3, 8, None));
    }

    #[test]
    fn what_the_endpoint_asks_for_wins_if_it_is_longer() {
        let retry = Retry::default();
        assert_eq!(wait(&retry, 1, 1, Some(Duration::from_secs(90))), Some(Duration::from_secs(90)));
        assert!(wait(&retry, 6, 1, Some(Duration::from_secs(1))).unwrap() > Duration::from_secs(20));
        assert_eq!(wait(&retry, 1, 1, Some(Duration::from_hours(1))), None);
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_246_554);
        let read = |name, value| asked(&headers(name, value), now);
        assert_eq!(read("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(read("retry-after", "Sat, 21 Nov 2026 07:36:24 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(read("retry-after", "Sat, 21 Nov 2020 07:36:24 GMT"), Some(Duration::ZERO));
        assert_eq!(read("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
        assert_eq!(read("retry-after", "soon"), None);
        assert_eq!(read("retry-after", "-3"), None);
        assert_eq!(read("retry-after", "1e300"), None);
    }
}
