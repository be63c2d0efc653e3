//! Sources: the state of the app, what is open, what an import took and left.

use model::{Treatment, Warning, WarningCounts};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use store::{SavedView, WarningGroup};

/// The state of the whole app.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct AppState {
    /// Version of Stamina Lab.
    pub version: String,
    /// Where the library lies; `None` = in memory.
    pub library: Option<String>,
    /// Opened sources, by name.
    pub sources: Vec<SourceInfo>,
    /// Sources that were open before, newest first.
    pub recent: Vec<RecentSource>,
    /// Runs in all sources.
    pub runs: u32,
    /// Entries of the import reports of all sources.
    pub warnings: u64,
    /// The same by severity.
    pub severities: WarningCounts,
    /// Runs that are shown with a warning: of the import, or about a number that is less sure than it looks.
    pub runs_with_warnings: u32,
    /// Runs that are neither baseline nor simulated.
    pub real_runs: u32,
    /// Tags in use and how many runs carry them.
    pub tags: Vec<(String, u32)>,
    /// Saved views, by name.
    pub views: Vec<SavedView>,
    /// `default` or `custom`.
    pub policy: String,
    /// Number of the last change; for [`super::WaitForChanges`].
    pub change: u64,
    /// Where the bundled sample lies, if this build carries one.
    pub sample: Option<String>,
}

/// Names a saved view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ViewRef {
    /// Its name.
    pub name: String,
}

/// How a source is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SourceStatus {
    /// Read to the end.
    Ready,
    /// Being read now.
    Reading,
    /// The folder or zip is not there any more; what was read stays.
    Missing,
    /// Reading stopped with an error, or was stopped.
    Stopped,
    /// A process ended while it read it, so it is not read again unasked; what was read before stays.
    SetAside,
}

/// How changes in a source are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WatchMode {
    /// The system tells of changes.
    Notified,
    /// Looked at again every second or so (network-like folder, too many folders to watch, zip).
    Rescanned,
    /// Not watched.
    Off,
}

/// An opened folder or zip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SourceInfo {
    /// Number in the store.
    pub id: i64,
    /// Name of the folder or zip.
    pub name: String,
    /// The name, with the part of the path that differs before it where several sources have the name.
    pub label: String,
    /// Absolute path.
    pub path: String,
    /// Whether it is a zip.
    pub zip: bool,
    /// What it was recognized as: `Harbor job`; several are joined with `, `.
    pub format: String,
    /// How it is doing.
    pub status: SourceStatus,
    /// How changes are noticed.
    pub watch: WatchMode,
    /// While reading: parts read and parts to read.
    pub progress: Option<(u32, u32)>,
    /// Why it stopped.
    pub message: Option<String>,
    /// Runs in it.
    pub runs: u32,
    /// Entries of its import report.
    pub warnings: u64,
    /// The same by severity.
    pub severities: WarningCounts,
    /// RFC 3339, UTC.
    pub opened_at: String,
}

/// A source that was open before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RecentSource {
    /// Name of the folder or zip.
    pub name: String,
    /// Absolute path.
    pub path: String,
    /// Whether it is a zip.
    pub zip: bool,
    /// RFC 3339, UTC.
    pub closed_at: String,
    /// Whether something still lies there.
    pub exists: bool,
}

/// Opens a folder or zip. Answers as soon as it is recognized; reading goes on in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OpenSource {
    /// Absolute path.
    pub path: String,
}

/// Says which column of a table is which. It is remembered for every table with the same header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MapColumns {
    /// Absolute path of the table, or of the folder or zip with it.
    pub path: String,
    /// Names of the columns in the file by their names in a tidy table. None at all forgets what was said.
    pub columns: std::collections::BTreeMap<String, String>,
}

/// Names a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SourceRef {
    /// Number in the store.
    pub source: i64,
}

/// Asks for the import report of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportReportRequest {
    /// The source.
    pub source: i64,
    /// Only warnings treated so.
    pub treatment: Option<Treatment>,
    /// Only warnings of this code.
    pub code: Option<String>,
    /// Only warnings that concern this run.
    pub run: Option<String>,
    /// First warning to give.
    pub offset: u32,
    /// Most warnings to give.
    pub limit: u32,
}

/// What was recognized, skipped and repaired, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportReport {
    /// The source.
    pub source: SourceInfo,
    /// Runs read.
    pub runs: u32,
    /// Episodes read.
    pub episodes: u32,
    /// Turns with at least one attempt.
    pub turns: u64,
    /// Planned turns without an attempt.
    pub not_reached: u64,
    /// Attempts read.
    pub attempts: u64,
    /// Files parsed.
    pub files_read: u64,
    /// Warnings by treatment, regardless of the filter.
    pub by_treatment: Vec<(Treatment, u64)>,
    /// Warnings by code: code, treatment, count, an example.
    pub by_code: Vec<WarningGroup>,
    /// The asked page of warnings, grouped by code, then by path.
    pub warnings: Vec<Warning>,
    /// How many warnings match the filter.
    pub matching: u64,
}
