//! What crosses the edge: requests and responses of the commands, and the one error type.
//!
//! These types are for hosts (desktop, HTTP, CLI) and the UI; inside the house the types of `model` are used.
//! `cargo test -p workbench` writes their TypeScript to `ui/src/host/bindings/`.

mod comparisons;
mod disagreements;
mod exports;
mod failures;
mod launch;
mod matrix;
mod runs;
mod scenarios;

use model::{
    ArtifactKind, Baseline, Benchmark, CensoringPolicy, EndReason, Ending, Extra, TestResult, Timing, Tokens,
    Treatment, TurnState, Verdict, Warning,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use self::comparisons::*;
pub use self::disagreements::*;
pub use self::exports::*;
pub use self::failures::*;
pub use self::launch::*;
pub use self::matrix::*;
pub use self::runs::*;
pub use self::scenarios::*;

/// What a caller is told when a command fails. The UI decides by `code`, never by `message`.
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
    pub not_recognised: Option<Box<NotRecognised>>,
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
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

/// Why a folder or zip was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NotRecognised {
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
    /// The closest match in a sentence, and the folder (relative) that it is about.
    pub closest: Option<(String, String)>,
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

// ---------------------------------------------------------------------------------------------- sources

/// The state of the whole app.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct AppState {
    /// Version of Stamina Lab.
    pub version: String,
    /// Opened sources, by name.
    pub sources: Vec<SourceInfo>,
    /// Sources that were open before, newest first.
    pub recent: Vec<RecentSource>,
    /// Runs in all sources.
    pub runs: u32,
    /// Import warnings in all sources.
    pub warnings: u64,
    /// Runs with at least one warning.
    pub runs_with_warnings: u32,
    /// Runs that are neither baseline nor simulated.
    pub real_runs: u32,
    /// Tags in use and how many runs carry them.
    pub tags: Vec<(String, u32)>,
    /// Saved views, by name.
    pub views: Vec<SavedView>,
    /// `default` or `custom`.
    pub policy: String,
    /// Number of the last change; for [`WaitForChanges`].
    pub change: u64,
    /// Where the bundled sample lies, if this build carries one.
    pub sample: Option<String>,
}

/// What the app shows, kept under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SavedView {
    /// As it was given.
    pub name: String,
    /// Route and query of the app: `compare?members=…`.
    pub address: String,
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
    /// Absolute path.
    pub path: String,
    /// Whether it is a zip.
    pub zip: bool,
    /// What it was recognised as: `Harbor job`; several are joined with `, `.
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
    /// Warnings of its import.
    pub warnings: u64,
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

/// Opens a folder or zip. Answers as soon as it is recognised; reading goes on in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OpenSource {
    /// Absolute path.
    pub path: String,
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

/// What was recognised, skipped and repaired, and why.
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

/// Warnings of one code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct WarningGroup {
    /// The code.
    pub code: String,
    /// What was done.
    pub treatment: Treatment,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub example: Warning,
}

// ---------------------------------------------------------------------------------------------- runs

/// Columns by which runs are sorted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RunSort {
    /// Mean stamina.
    #[default]
    Stamina,
    /// Model name.
    Model,
    /// Harness name.
    Harness,
    /// Benchmark name.
    Benchmark,
    /// Source name.
    Source,
    /// Number of episodes.
    Episodes,
    /// Planned turns.
    Turns,
    /// Score.
    Score,
    /// Input plus output tokens.
    Tokens,
    /// Cost.
    Cost,
    /// Start.
    Date,
}

/// By what runs are grouped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RunGrouping {
    /// By benchmark.
    #[default]
    Benchmark,
    /// By harness.
    Harness,
    /// By model.
    Model,
    /// By source.
    Source,
    /// Not grouped: one group.
    None,
}

/// Asks for the runs of all opened sources. Empty lists and `None` do not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct ListRuns {
    /// Words that all occur in id, model, harness, benchmark, source, tags or note.
    pub text: String,
    /// Only these sources.
    pub sources: Vec<i64>,
    /// Only these benchmarks (keys).
    pub benchmarks: Vec<String>,
    /// Only these harnesses (`""` = unknown).
    pub harnesses: Vec<String>,
    /// Only these models (`""` = unknown).
    pub models: Vec<String>,
    /// Only runs with all of these tags.
    pub tags: Vec<String>,
    /// `false` leaves out baselines and simulated runs.
    pub real_only: bool,
    /// Only runs with import warnings.
    pub with_warnings: bool,
    /// At least so many episodes.
    pub min_episodes: Option<u32>,
    /// The column.
    pub sort: RunSort,
    /// From low to high.
    pub ascending: bool,
    /// By what to group.
    pub group: RunGrouping,
    /// First row to give.
    pub offset: u32,
    /// Most rows to give; 0 = 500.
    pub limit: u32,
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunPage {
    /// In group order, then sorted.
    pub rows: Vec<RunRow>,
    /// Every group that matches, in order; rows name theirs by index.
    pub groups: Vec<RunGroup>,
    /// How many runs match.
    pub total: u32,
    /// What the filters could be set to: (value, label, runs).
    pub facets: Facets,
}

/// Values to filter by: (value, label, runs).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Facets {
    /// Benchmarks.
    pub benchmarks: Vec<(String, String, u32)>,
    /// Harnesses; value `""` = unknown.
    pub harnesses: Vec<(String, String, u32)>,
    /// Models; value `""` = unknown.
    pub models: Vec<(String, String, u32)>,
}

/// A group of runs that share one scale of stamina.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunGroup {
    /// What they share.
    pub title: String,
    /// Runs in it.
    pub runs: u32,
    /// Fewest and most planned turns of an episode; `None` = unknown.
    pub planned_turns: Option<(u32, u32)>,
    /// Least and greatest τ of its runs.
    pub tau: Option<(u32, u32)>,
    /// The whiskers' scale runs from 0 to this many turns.
    pub scale: u32,
}

/// Restricted mean stamina, see `docs/metrics.md`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct Stamina {
    /// Mean over turns 1..=τ of the survival function, summed; `None` without episodes.
    pub mean: Option<f64>,
    /// Lower end of the 95 % interval; `None` = no variation.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// The horizon in turns.
    pub tau: u32,
    /// Episodes.
    pub n: u32,
    /// Episodes that ended in an event.
    pub events: u32,
    /// Episodes that were censored.
    pub censored: u32,
    /// Median stamina, in turns passed: one less than the first turn at which survival is at most one half; `None` =
    /// not reached.
    pub median: Option<u32>,
}

/// How many episodes ended for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EndCount {
    /// The reason.
    pub reason: EndReason,
    /// How the policy counts it.
    pub ending: Ending,
    /// Episodes.
    pub count: u32,
}

/// One row of the library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunRow {
    /// Stable; used in links and on the command line.
    pub id: String,
    /// Number of its source.
    pub source: i64,
    /// Name of its source.
    pub source_name: String,
    /// Format of its source: `harbor`, `evocode`, `staminabench`.
    pub format: String,
    /// The benchmark.
    pub benchmark: Benchmark,
    /// Index of its group on this page.
    pub group: u32,
    /// The harness.
    pub harness: Option<String>,
    /// Its version.
    pub harness_version: Option<String>,
    /// The tool that ran the evaluation, with its version.
    pub runner: Option<(String, Option<String>)>,
    /// The model.
    pub model: Option<String>,
    /// Its provider.
    pub provider: Option<String>,
    /// `oracle` or `nop`.
    pub baseline: Option<Baseline>,
    /// Whether a scripted model stood in for a real one.
    pub simulated: bool,
    /// Episodes read.
    pub episodes: u32,
    /// Episodes planned.
    pub planned_episodes: Option<u32>,
    /// Fewest and most planned turns; `None` = unknown.
    pub planned_turns: Option<(u32, u32)>,
    /// Most attempts a turn may take.
    pub attempt_limit: Option<u32>,
    /// Restricted mean stamina.
    pub stamina: Stamina,
    /// The benchmark's own score, recomputed, 0 to 100.
    pub score: Option<f64>,
    /// EvoCode's dataset score, 0 to 100.
    pub dataset_score: Option<f64>,
    /// EvoCode's case score, 0 to 100.
    pub case_score: Option<f64>,
    /// Episodes (tasks) in which every turn passed.
    pub perfect: u32,
    /// Figures that the source reports about itself.
    pub reported: Vec<(String, f64)>,
    /// End reasons, most frequent first.
    pub end_reasons: Vec<EndCount>,
    /// Tokens; unknown parts are `None`.
    pub tokens: Tokens,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Episodes for which cost is known; fewer than `episodes` means that the sum is partial.
    pub cost_known: u32,
    /// Start.
    pub started_at: Option<String>,
    /// Import warnings that concern this run.
    pub warnings: u32,
    /// What is missing, in words: `25 of 26 tasks`.
    pub partial: Option<String>,
    /// Tags of the user.
    pub tags: Vec<String>,
    /// Note of the user.
    pub note: String,
}

/// Names a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RunRef {
    /// Id of the run.
    pub run: String,
}

/// A run with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunDetail {
    /// What the library shows of it.
    pub row: RunRow,
    /// The path of its source.
    pub source_path: String,
    /// Why each of the censored is censored, and each event an event.
    pub policy: String,
    /// Settings in the source's own names.
    #[ts(type = "Record<string, unknown>")]
    pub settings: Extra,
    /// Unknown fields.
    #[ts(type = "Record<string, unknown>")]
    pub extra: Extra,
    /// Episodes that the source counts but does not describe: name, planned turns, passed turns.
    pub totals_only: Vec<(String, Option<u32>, Option<f64>)>,
    /// Statements about the run that a reader must know, such as that declared steps are unknown.
    pub caveats: Vec<String>,
}

/// Sets tags and note of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Annotate {
    /// Ids of the runs.
    pub runs: Vec<String>,
    /// Tags to add.
    pub add_tags: Vec<String>,
    /// Tags to take away.
    pub remove_tags: Vec<String>,
    /// The note; `None` = leave as it is.
    pub note: Option<String>,
}

// ---------------------------------------------------------------------------------------------- run page

/// One turn of a survival table (Kaplan–Meier).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct SurvivalRow {
    /// The turn, from 1.
    pub turn: u32,
    /// Episodes alive and observed just before this turn is graded.
    pub at_risk: u32,
    /// Episodes that failed at this turn.
    pub events: u32,
    /// Episodes censored after this turn (they passed it).
    pub censored: u32,
    /// S(t), the share still alive after this turn.
    pub survival: f64,
    /// Lower end of the 95 % log-log band; `None` = no variation.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
}

/// A survival table, turn by turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SurvivalTable {
    /// From turn 1 to the last turn of the axis.
    pub rows: Vec<SurvivalRow>,
}

/// Order of the grid's rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GridSort {
    /// Stamina, longest first; ties: score, then name.
    #[default]
    Stamina,
    /// Scenario name.
    Scenario,
    /// Score, highest first.
    Score,
}

/// Asks for rows of the episode × turn grid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RunGridRequest {
    /// Id of the run.
    pub run: String,
    /// Order.
    #[serde(default)]
    pub sort: GridSort,
    /// First row to give.
    #[serde(default)]
    pub offset: u32,
    /// Most rows to give; 0 = all.
    #[serde(default)]
    pub limit: u32,
}

/// The episode × turn grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunGrid {
    /// Number of turn columns: the most planned or seen.
    pub turns: u32,
    /// Episodes in the run.
    pub total: u32,
    /// The asked rows.
    pub rows: Vec<GridRow>,
}

/// One episode in the grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct GridRow {
    /// Id of the episode inside its run, used in links.
    pub episode: String,
    /// Scenario.
    pub scenario: String,
    /// A nicer name, where the source has one.
    pub title: Option<String>,
    /// 1, or the how-manieth time this run plays the scenario.
    pub repeat: u32,
    /// Planned turns.
    pub planned_turns: Option<u32>,
    /// One letter a turn, from turn 1: `p` passed, `r` passed after retries, `f` failed, `e` error, `n` not reached,
    /// `c` censored here.
    pub cells: String,
    /// Failing tests a turn (final attempt); `None` = unknown or none.
    pub failing: Vec<Option<u32>>,
    /// Turns passed before the first not passed.
    pub stamina: u32,
    /// Whether the policy counts the end as censored; then stamina reads `≥`.
    pub censored: bool,
    /// First turn not passed.
    pub failed_turn: Option<u32>,
    /// Why it ended.
    pub end_reason: EndReason,
    /// Score of the episode, 0 to 100.
    pub score: Option<f64>,
}

/// The charts of the run page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// Kaplan–Meier curve with band, at-risk row below.
    Survival,
    /// First failures (events) and censorings by turn.
    FirstFailures,
}

/// Which set of tokens colours a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FigureTheme {
    /// On white.
    #[default]
    Light,
    /// On the dark surface.
    Dark,
}

/// Asks for a figure drawn onto a given turn axis, so that it meets the grid to the pixel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunFigureRequest {
    /// Id of the run.
    pub run: String,
    /// Which figure.
    pub kind: FigureKind,
    /// Colours.
    pub theme: FigureTheme,
    /// Width of the drawing in px.
    pub width: f64,
    /// Height of the drawing in px.
    pub height: f64,
    /// Left edge of turn 1's column in px; turn t is drawn at its column's centre.
    pub plot_left: f64,
    /// Width of a turn's column in px.
    pub px_per_turn: f64,
    /// Number of turn columns.
    pub turns: u32,
}

/// A drawn figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FigureDrawing {
    /// The SVG, drawn by the `figures` crate from numbers and escaped names only.
    pub svg: String,
    /// Width in px.
    pub width: f64,
    /// Height in px.
    pub height: f64,
    /// Where things are, for hover.
    pub hits: Vec<FigureHit>,
    /// The figure in words.
    pub summary: String,
}

/// One place of a figure that stands for data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FigureHit {
    /// The turn.
    pub turn: u32,
    /// Left edge in px.
    pub x0: f64,
    /// Right edge in px.
    pub x1: f64,
    /// y of the data in px.
    pub y: f64,
    /// What stands there, in words, one line each.
    pub lines: Vec<String>,
}

// ---------------------------------------------------------------------------------------------- episode, turn

/// Names an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EpisodeRef {
    /// Id of the run.
    pub run: String,
    /// Id of the episode inside its run.
    pub episode: String,
}

/// One turn in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TurnRow {
    /// From 1.
    pub number: u32,
    /// A short name.
    pub title: Option<String>,
    /// State of its cell.
    pub state: TurnState,
    /// Tests passed at the final attempt.
    pub passed: Option<u32>,
    /// Tests run at the final attempt.
    pub total: Option<u32>,
    /// Attempts made.
    pub attempts: u32,
}

/// An episode with its turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct EpisodeDetail {
    /// Its row in the grid.
    pub row: GridRow,
    /// Its place among the run's episodes in grid order by stamina, from 1, and how many there are.
    pub position: (u32, u32),
    /// The episodes before and after it in that order.
    pub neighbours: (Option<String>, Option<String>),
    /// Every turn, planned ones that were not reached included.
    pub turns: Vec<TurnRow>,
    /// Failing tests of the first turn not passed, at most five.
    pub first_failing: Vec<TestResult>,
    /// What the source reports of the episode.
    pub reported: Vec<(String, f64)>,
    /// Exception of the whole episode: type and message.
    pub exception: Option<(String, String)>,
    /// Tokens.
    pub tokens: Tokens,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// When.
    pub timing: Timing,
    /// Logs of the whole episode.
    pub logs: Vec<LogInfo>,
    /// Unknown fields.
    #[ts(type = "Record<string, unknown>")]
    pub extra: Extra,
}

/// Names a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TurnRef {
    /// Id of the run.
    pub run: String,
    /// Id of the episode inside its run.
    pub episode: String,
    /// From 1.
    pub turn: u32,
}

/// A log, request or other file that can be read with `read_text`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LogInfo {
    /// What it is.
    pub kind: ArtifactKind,
    /// Its name for a tab.
    pub label: String,
    /// Path relative to the source; with `#` and a JSON pointer where a part of a file is meant.
    pub path: String,
    /// Size; `None` = not there any more, or a part of a file.
    pub bytes: Option<u64>,
}

/// One attempt with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct AttemptDetail {
    /// From 1.
    pub number: u32,
    /// What the tests said.
    pub verdict: Verdict,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// Tests passed.
    pub passed: Option<u32>,
    /// Tests run.
    pub total: Option<u32>,
    /// The grade, where the source grades.
    pub reward: Option<f64>,
    /// Failing tests that the source describes.
    pub failing: Vec<TestResult>,
    /// Failing tests that the source counts and does not describe.
    pub failing_not_described: u32,
    /// Ids of tests that passed, as far as known.
    pub passed_tests: Vec<String>,
    /// Ids of failing tests that passed at the turn before (regressions).
    pub regressed: Vec<String>,
    /// Tokens.
    pub tokens: Tokens,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Tool calls.
    pub tool_calls: Option<u32>,
    /// When and how long.
    pub timing: Timing,
    /// Exception of the attempt: type and message.
    pub exception: Option<(String, String)>,
    /// Logs.
    pub logs: Vec<LogInfo>,
    /// Whether the source has a transcript.
    pub has_transcript: bool,
    /// Whether the source has a snapshot of the code.
    pub has_code: bool,
    /// Unknown fields.
    #[ts(type = "Record<string, unknown>")]
    pub extra: Extra,
}

/// A turn with its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TurnDetail {
    /// The run.
    pub run: RunRow,
    /// The episode with all its turns.
    pub episode: EpisodeDetail,
    /// From 1.
    pub number: u32,
    /// A short name.
    pub title: Option<String>,
    /// State of its cell.
    pub state: TurnState,
    /// The request (Markdown); `None` = the source has none.
    pub request: Option<TextPage>,
    /// In order; empty = not reached.
    pub attempts: Vec<AttemptDetail>,
    /// Files of the turn itself: reference, suite, schema.
    pub files: Vec<LogInfo>,
}

/// A piece of a text. Control characters other than line feed and tab are escaped; ANSI colour codes are kept only
/// where `ansi` says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TextPage {
    /// The text, always valid Unicode.
    pub text: String,
    /// Byte at which it begins.
    pub offset: u64,
    /// Byte at which to go on; `None` = that was all.
    pub next_offset: Option<u64>,
    /// Bytes in all.
    pub total: u64,
}

/// Asks for a piece of a file of the source that some `LogInfo` or artifact names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReadText {
    /// Id of the run.
    pub run: String,
    /// Id of the episode.
    pub episode: String,
    /// Turn; `None` for logs of the episode.
    pub turn: Option<u32>,
    /// Attempt; `None` for files of the turn.
    pub attempt: Option<u32>,
    /// The `path` of the `LogInfo`.
    pub path: String,
    /// Byte to begin at; negative counts from the end.
    pub offset: i64,
    /// Most bytes to give; 0 = 256 KiB; at most 2 MiB.
    pub limit: u32,
}

/// Names an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AttemptRef {
    /// Id of the run.
    pub run: String,
    /// Id of the episode.
    pub episode: String,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
}

/// What code is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeRequest {
    /// The attempt whose code is shown.
    pub of: AttemptRef,
    /// Turn and attempt to compare with; `None` = the attempt before, or the last attempt of the turn before.
    pub against: Option<(u32, u32)>,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// Not there before.
    Added,
    /// Not there any more.
    Removed,
    /// Other content.
    Modified,
    /// The same.
    Unchanged,
}

/// One file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FileChange {
    /// Path inside the snapshot.
    pub path: String,
    /// How it changed.
    pub status: FileStatus,
    /// Lines added; `None` = binary or too large to compare.
    pub added: Option<u32>,
    /// Lines removed.
    pub removed: Option<u32>,
    /// Size after (before, if removed).
    pub bytes: u64,
}

/// What changed in the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeChanges {
    /// What it is compared with; `None` = nothing before: everything is new.
    pub against: Option<(u32, u32)>,
    /// Everything it could be compared with, in order.
    pub choices: Vec<(u32, u32)>,
    /// Changed files first, then unchanged ones, each by path.
    pub files: Vec<FileChange>,
    /// Lines added in all files.
    pub added: u32,
    /// Lines removed in all files.
    pub removed: u32,
    /// Whether there are more files than are listed.
    pub cut: bool,
}

/// Asks for both sides of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeFileRequest {
    /// Which code.
    pub code: CodeRequest,
    /// Path inside the snapshot.
    pub path: String,
}

/// Both sides of a file. A side is `None` where the file is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeFile {
    /// Before.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
    /// Why there is no text: binary, or larger than the cap.
    pub not_shown: Option<String>,
}

// ---------------------------------------------------------------------------------------------- search, policy, changes

/// Looks in names, requests and failure messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Search {
    /// Words.
    pub text: String,
    /// Most hits to give; 0 = 20.
    pub limit: u32,
}

/// One hit of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchHit {
    /// What it is: `run`, `episode`, `request`, `failure`.
    pub kind: String,
    /// First line.
    pub title: String,
    /// Second line; for text hits the surrounding words.
    pub detail: String,
    /// Id of the run.
    pub run: String,
    /// Id of the episode.
    pub episode: Option<String>,
    /// The turn.
    pub turn: Option<u32>,
    /// The attempt.
    pub attempt: Option<u32>,
    /// The test.
    pub test: Option<String>,
    /// Whether a scripted model stood in in that run.
    pub simulated: bool,
}

/// Hits of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchHits {
    /// Best first.
    pub hits: Vec<SearchHit>,
    /// Whether the text of every source is searchable yet.
    pub complete: bool,
}

/// The censoring policy with its table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PolicyTable {
    /// `default` or `custom`.
    pub name: String,
    /// The overrides.
    pub policy: CensoringPolicy,
    /// Every reason: reason, label, how it is counted, how the default counts it, episodes that ended so.
    pub rows: Vec<PolicyRow>,
}

/// One line of the policy table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PolicyRow {
    /// The reason.
    pub reason: EndReason,
    /// In words.
    pub label: String,
    /// How it is counted.
    pub ending: Ending,
    /// How the default counts it.
    pub default_ending: Ending,
    /// Whether it can be counted otherwise.
    pub editable: bool,
    /// Episodes in the library that ended so.
    pub episodes: u32,
}

/// Sets the censoring policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetPolicy {
    /// The new policy.
    pub policy: CensoringPolicy,
}

/// Waits until something changes in the store or in a source's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct WaitForChanges {
    /// The last change that the caller knows.
    pub since: u64,
    /// Answer after so many milliseconds at the latest.
    pub timeout_ms: u32,
}

/// What changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Changes {
    /// Number of the last change.
    pub change: u64,
    /// Whether more changed than is remembered: everything must be asked for again.
    pub everything: bool,
    /// Sources whose state or runs changed; empty = nothing.
    pub sources: Vec<i64>,
    /// Ids of runs that changed.
    pub runs: Vec<String>,
}
