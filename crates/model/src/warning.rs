//! Problems that a reader found in a source.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use ts_rs::TS;

use crate::warning_codes::{Severity, WarningCounts};

/// What the reader did about a problem.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    TS,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Treatment {
    /// The value was corrected, or completed from another place.
    Repaired,
    /// The file or part was skipped.
    Skipped,
    /// It was read under another name or meaning than the file gives.
    ReadDifferently,
}

impl Treatment {
    /// The stable word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
    /// The inverse of [`Treatment::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

/// One line of the import report: what happened, where, and what the reader did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct Warning {
    /// The file or folder, relative to the source, with `/`.
    pub path: String,
    /// A stable code such as `json.truncated`. `docs/formats.md` documents it.
    pub code: String,
    /// A sentence for people: what is wrong and what the reader did.
    pub message: String,
    /// What the reader did.
    pub treatment: Treatment,
    /// Key of the run that it concerns, if a part has episodes of several runs. Only the store reads it, and keeps the run
    /// beside the warning.
    #[serde(skip)]
    pub run: Option<String>,
}

impl Warning {
    /// Sets the run that it concerns.
    #[must_use]
    pub fn with_run(mut self, key: impl Into<String>) -> Self {
        self.run = Some(key.into());
        self
    }

    /// The entry that stands for so many others, which are not listed. It is as severe as the worst of them. `None` = there are
    /// none.
    pub fn not_listed(counts: WarningCounts) -> Option<Self> {
        let code = match counts.worst()? {
            Severity::Note => "notes.too_many",
            Severity::Repair => "repairs.too_many",
            Severity::Warning => "warnings.too_many",
        };
        let message = format!("There are more entries than are listed. Not listed: {counts}.");
        Some(Self::skipped("", code, message))
    }

    /// A warning about a corrected value.
    pub fn repaired(path: impl Into<String>, code: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            code: code.into(),
            message: message.into(),
            treatment: Treatment::Repaired,
            run: None,
        }
    }
    /// A warning about a skipped file or part.
    pub fn skipped(path: impl Into<String>, code: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            code: code.into(),
            message: message.into(),
            treatment: Treatment::Skipped,
            run: None,
        }
    }
    /// A warning about a value that was read under another meaning.
    pub fn read_differently(path: impl Into<String>, code: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            code: code.into(),
            message: message.into(),
            treatment: Treatment::ReadDifferently,
            run: None,
        }
    }
}
