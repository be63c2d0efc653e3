//! A median of times that may be censored.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use ts_rs::TS;

/// The median of times that may be censored. Fewer than half reached it: [`Median::NotReached`]. Nobody was observed:
/// [`Median::Unknown`].
///
/// In JSON: a number, `"not_reached"`, `null`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, TS)]
#[serde(from = "MedianInJson")]
#[ts(type = "number | \"not_reached\" | null")]
pub enum Median {
    /// The first time by which half have reached it.
    Reached(u32),
    /// Somebody was observed, and fewer than half reached it.
    NotReached,
    /// Nobody was observed.
    #[default]
    Unknown,
}

impl Median {
    /// From the first time by which half have reached it, and whether anybody was observed.
    pub const fn new(time: Option<u32>, observed: bool) -> Self {
        match time {
            Some(time) => Self::Reached(time),
            None if observed => Self::NotReached,
            None => Self::Unknown,
        }
    }

    /// The time, if it is reached.
    pub const fn time(self) -> Option<u32> {
        match self {
            Self::Reached(time) => Some(time),
            Self::NotReached | Self::Unknown => None,
        }
    }

    /// Whether it is reached; `None` = unknown.
    pub const fn is_reached(self) -> Option<bool> {
        match self {
            Self::Reached(_) => Some(true),
            Self::NotReached => Some(false),
            Self::Unknown => None,
        }
    }

    /// The same median with a changed time.
    #[must_use]
    pub fn map(self, change: impl FnOnce(u32) -> u32) -> Self {
        match self {
            Self::Reached(time) => Self::Reached(change(time)),
            other => other,
        }
    }

    /// In words, with the time as `word` formats it: `3 turns`, `not reached`, `unknown`.
    pub fn in_words(self, word: impl FnOnce(u32) -> String) -> String {
        match self {
            Self::Reached(time) => word(time),
            Self::NotReached => "not reached".to_owned(),
            Self::Unknown => "unknown".to_owned(),
        }
    }
}

impl fmt::Display for Median {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(|time| time.to_string()))
    }
}

impl Serialize for Median {
    /// Unknown is a none and not a unit: figures store their numbers in TOML, which omits a none.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Reached(time) => serializer.serialize_u32(*time),
            Self::NotReached => serializer.serialize_str("not_reached"),
            Self::Unknown => serializer.serialize_none(),
        }
    }
}

/// [`Median`] in JSON.
#[derive(Deserialize)]
#[serde(untagged)]
enum MedianInJson {
    Time(u32),
    Word(NotReached),
    Unknown(()),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum NotReached {
    NotReached,
}

impl From<MedianInJson> for Median {
    fn from(written: MedianInJson) -> Self {
        match written {
            MedianInJson::Time(time) => Self::Reached(time),
            MedianInJson::Word(NotReached::NotReached) => Self::NotReached,
            MedianInJson::Unknown(()) => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_reached_differs_from_unknown() {
        for (median, json, words) in [
            (Median::new(Some(0), true), "0", "0"),
            (Median::new(None, true), "\"not_reached\"", "not reached"),
            (Median::new(None, false), "null", "unknown"),
        ] {
            assert_eq!(serde_json::to_string(&median).unwrap(), json);
            assert_eq!(serde_json::from_str::<Median>(json).unwrap(), median);
            assert_eq!(median.to_string(), words);
        }
    }
}
