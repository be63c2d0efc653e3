//! What an importer could not take as it stood.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What was done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Treatment {
    /// The value was put right or completed from elsewhere.
    Repaired,
    /// The file or part was left out.
    Skipped,
    /// It was read, but under another name or meaning than the file gives.
    ReadDifferently,
}

impl Treatment {
    /// The stable word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::Skipped => "skipped",
            Self::ReadDifferently => "read_differently",
        }
    }
    /// The inverse of [`Treatment::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Repaired, Self::Skipped, Self::ReadDifferently].into_iter().find(|t| t.as_str() == word)
    }
}

/// One line of the import report: what, where, and what was done instead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct Warning {
    /// The file or folder, relative to the source, with `/`.
    pub path: String,
    /// A stable code such as `json.truncated`; documented in `docs/formats.md`.
    pub code: String,
    /// A sentence for a person: what is wrong and what was done instead.
    pub message: String,
    /// What was done.
    pub treatment: Treatment,
    /// Key of the run that it concerns, where a part gives episodes of several; only on the way into the store, which
    /// keeps the run beside the warning.
    #[serde(skip)]
    pub run: Option<String>,
}

impl Warning {
    /// Says which of several runs it concerns.
    #[must_use]
    pub fn of_run(mut self, key: impl Into<String>) -> Self {
        self.run = Some(key.into());
        self
    }

    /// A value that was put right.
    pub fn repaired(path: impl Into<String>, code: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            code: code.into(),
            message: message.into(),
            treatment: Treatment::Repaired,
            run: None,
        }
    }
    /// Something that was left out.
    pub fn skipped(path: impl Into<String>, code: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            code: code.into(),
            message: message.into(),
            treatment: Treatment::Skipped,
            run: None,
        }
    }
    /// Something that was read under another meaning.
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
