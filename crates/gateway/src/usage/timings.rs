//! How long llama.cpp took for an answer, as the server tells it.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::record::StreamTimes;

/// Milliseconds by the clock of the server.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Timings {
    /// For the part of the prompt that was not cached.
    prompt_ms: f64,
    /// For the answer.
    predicted_ms: f64,
}

impl Timings {
    /// In seconds.
    pub(super) fn times(self) -> StreamTimes {
        StreamTimes { first_seconds: self.prompt_ms / 1000.0, rest_seconds: self.predicted_ms / 1000.0 }
    }

    fn is_sound(self) -> bool {
        [self.prompt_ms, self.predicted_ms].iter().all(|ms| ms.is_finite() && *ms >= 0.0)
    }
}

/// Timings that are unreadable count as none. The rest of the answer still counts.
pub(super) fn timings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timings>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let timings: Option<Timings> = serde_json::from_value(value).ok();
    Ok(timings.filter(|timings| timings.is_sound()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Answer {
        #[serde(default, deserialize_with = "timings")]
        timings: Option<Timings>,
    }

    fn times(answer: &str) -> Option<StreamTimes> {
        serde_json::from_str::<Answer>(answer).unwrap().timings.map(Timings::times)
    }

    #[test]
    fn timings_are_seconds_and_what_cannot_be_read_is_unknown() {
        let complete = r#"{"timings": {"prompt_n": 34, "prompt_ms": 312.5, "predicted_ms": 298, "new": []}}"#;
        assert_eq!(times(complete), Some(StreamTimes { first_seconds: 0.3125, rest_seconds: 0.298 }));
        for odd in [
            "{}",
            r#"{"timings": null}"#,
            r#"{"timings": [1]}"#,
            r#"{"timings": {"prompt_ms": 1.0}}"#,
            r#"{"timings": {"prompt_ms": "1", "predicted_ms": 2}}"#,
            r#"{"timings": {"prompt_ms": -1, "predicted_ms": 2}}"#,
        ] {
            assert_eq!(times(odd), None, "{odd}");
        }
    }
}
