//! What crosses the edge: requests and responses of the commands, and the one error type.
//!
//! These types are for hosts (desktop, HTTP, CLI) and the UI; inside the house the types of `model` are used. A type that hosts get
//! as another crate makes it, such as a row of `store`, is declared there and passed on here. Its documentation is that of the
//! TypeScript.
//! `cargo nextest run --workspace --test bindings` writes their TypeScript to `ui/src/host/bindings/`.

mod abilities;
mod changes;
mod comparisons;
mod disagreements;
mod endpoints;
mod exports;
mod failures;
mod form_settings;
mod grid;
mod importers;
mod jobs;
mod launch;
mod library;
mod machine;
mod matrix;
mod members;
mod policy;
mod preflight;
mod prices;
mod reruns;
mod runs;
mod scenarios;
mod search;
mod sessions;
mod sources;
mod tables;
mod tasks;
mod turns;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use self::abilities::*;
pub use self::changes::*;
pub use self::comparisons::*;
pub use self::disagreements::*;
pub use self::endpoints::*;
pub use self::exports::*;
pub use self::failures::*;
pub use self::form_settings::*;
pub use self::grid::*;
pub use self::importers::*;
pub use self::jobs::*;
pub use self::launch::*;
pub use self::library::*;
pub use self::machine::*;
pub use self::matrix::*;
pub use self::members::*;
pub use self::policy::*;
pub use self::preflight::*;
pub use self::prices::*;
pub use self::reruns::*;
pub use self::runs::*;
pub use self::scenarios::*;
pub use self::search::*;
pub use self::sessions::*;
pub use self::sources::*;
pub use self::tables::*;
pub use self::tasks::*;
pub use self::turns::*;

/// The error of a command. The UI decides by `code`, never by `message`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// Stable, dotted: `source.not_recognised`, `run.not_found`.
    pub code: String,
    /// What happened, for a person.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Where.
    pub path: Option<String>,
    /// With `source.not_recognised`: what was looked for and what was found.
    pub not_recognised: Option<Box<NotRecognized>>,
}

impl ApiError {
    /// An error without hint and place.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), hint: None, path: None, not_recognised: None }
    }
    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    /// Adds where.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

/// Why a folder or zip was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NotRecognized {
    /// The name of the folder or zip.
    pub name: String,
    /// Files looked at.
    pub files: u64,
    /// Folders looked at.
    pub folders: u64,
    /// How many levels deep.
    pub depth: u32,
    /// One row a format.
    pub formats: Vec<FormatLookup>,
    /// What is known and not read: results of other programs, or a part of what is read. What there is most of comes first.
    pub found: Vec<FoundItem>,
    /// The closest match in a sentence, and the folder (relative) that it is about; `None` where something was found.
    pub closest: Option<(String, String)>,
    /// Tables that lack columns of a tidy table.
    pub tables: Vec<TableColumns>,
}

/// A table that lacks columns of a tidy table, or names them otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TableColumns {
    /// The file, relative to what was opened.
    #[serde(rename = "at")]
    pub path: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Required columns that are there.
    pub there: Vec<String>,
    /// Required columns that are not.
    pub missing: Vec<TableGuess>,
    /// The options of `stamina ingest` that say which column is which; a word in capitals stands for what is not guessed.
    pub map: String,
}

/// A column that a table lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TableGuess {
    /// Its name in a tidy table.
    pub column: String,
    /// The column of the file that it may be.
    pub guess: Option<String>,
}

/// Something that was found at a path: what a format reads, or what is known and not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FoundItem {
    /// Stable word: the id of a format (`harbor`), or of a kind (`mini_swe_agent`).
    pub kind: String,
    /// In words: `Harbor job`, `3 trajectories of mini-swe-agent`.
    pub name: String,
    /// The first folder or file, relative; `""` = the opened folder or file itself.
    #[serde(rename = "at")]
    pub path: String,
    /// How many folders or files.
    pub count: u32,
    /// Whether it is read.
    pub read: bool,
    /// What to open instead, where it is not read.
    pub instead: Option<String>,
}

/// What one format looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FormatLookup {
    /// `Harbor job`.
    pub format: String,
    /// `result.json with stats.evals`.
    pub looked_for: String,
    /// `batch_2/result.json but no stats.evals`, or `none`.
    pub found: String,
}

/// No arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Nothing {}
