//! How long to wait before a request is retried.

use std::time::{Duration, SystemTime};

use axum::http::HeaderMap;
use axum::http::header::RETRY_AFTER;

use crate::fault_attribution::table::NextTry;
use crate::hash::split_mix;
use crate::settings::Retry;

/// The longest wait that an endpoint may ask for.
const LONGEST_REQUESTED_WAIT: Duration = Duration::from_mins(10);

/// Whether another try is possible after try number `tries` (from 1), where the endpoint asks for this wait.
pub(crate) fn next_try(retry: &Retry, tries: u32, requested: Option<Duration>) -> NextTry {
    if requested.is_some_and(|wait| wait > LONGEST_REQUESTED_WAIT) {
        NextTry::WaitTooLong
    } else if tries >= retry.tries {
        NextTry::NoneLeft
    } else {
        NextTry::Allowed
    }
}

/// The wait after try number `tries` (from 1). It doubles each time up to the longest; half of it is generated from `seed`. A
/// longer wait that the endpoint asks for replaces it.
pub(crate) fn wait(retry: &Retry, tries: u32, seed: u64, requested: Option<Duration>) -> Duration {
    let doubled = retry
        .first_wait
        .saturating_mul(1_u32.checked_shl(tries.saturating_sub(1)).unwrap_or(u32::MAX))
        .min(retry.longest_wait);
    let jitter = (split_mix(seed ^ (u64::from(tries) << 32)) >> 11) as f64 / (1_u64 << 53) as f64;
    let wait = doubled.mul_f64(0.5 + 0.5 * jitter);
    requested.map_or(wait, |requested| requested.max(wait))
}

/// `Retry-After` in both of its forms (RFC 9110, 10.2.3), and `retry-after-ms`, which some endpoints add.
pub(crate) fn requested_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
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
            for tries in 1..40 {
                let waited = wait(&retry, tries, seed, None).as_secs_f64();
                assert!(waited >= doubled / 2.0 && waited <= doubled, "{waited} of {doubled}");
                doubled = f64::min(doubled * 2.0, 60.0);
            }
        }
        assert_eq!(wait(&retry, 3, 7, None), wait(&retry, 3, 7, None));
        assert_ne!(wait(&retry, 3, 7, None), wait(&retry, 3, 8, None));
    }

    #[test]
    fn a_longer_wait_that_the_endpoint_asks_for_applies() {
        let retry = Retry::default();
        assert_eq!(wait(&retry, 1, 1, Some(Duration::from_secs(90))), Duration::from_secs(90));
        assert!(wait(&retry, 6, 1, Some(Duration::from_secs(1))) > Duration::from_secs(20));
    }

    #[test]
    fn tries_and_waits_are_bounded() {
        let retry = Retry::default();
        assert_eq!(next_try(&retry, 1, Some(Duration::from_mins(10))), NextTry::Allowed);
        assert_eq!(next_try(&retry, 1, Some(Duration::from_hours(1))), NextTry::WaitTooLong);
        assert_eq!(next_try(&retry, 5, None), NextTry::Allowed);
        assert_eq!(next_try(&retry, 6, None), NextTry::NoneLeft);
        assert_eq!(next_try(&retry, 6, Some(Duration::from_hours(1))), NextTry::WaitTooLong);
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_246_554);
        let read = |name, value| requested_wait(&headers(name, value), now);
        assert_eq!(read("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(read("retry-after", "Sat, 21 Nov 2026 07:36:24 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(read("retry-after", "Sat, 21 Nov 2020 07:36:24 GMT"), Some(Duration::ZERO));
        assert_eq!(read("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
        assert_eq!(read("retry-after", "soon"), None);
        assert_eq!(read("retry-after", "-3"), None);
        assert_eq!(read("retry-after", "1e300"), None);
    }
}
