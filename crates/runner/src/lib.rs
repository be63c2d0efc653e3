//! The evaluation loop: for each scenario and turn give the request, let the agent work, snapshot, start its server, run
//! the suite, record; on failure feed back and try again.
//!
//! **Settings** ([`settings`]) are the keys of StaminaBench's README and more, from YAML, `key=value` lists or the form.
//! **The results folder** is the one that `docs/formats.md` defines; the app reads it with the ordinary importer. In it lies
//! `.stamina/`, which only the runner needs.
//! **Nothing reads the runner's memory**: a live view reads files ([`live`]), and pausing, stopping and retrying are
//! requests in a file ([`control`]), so runs of the command line and of the app are the same case.
//! **The journal** makes every completed attempt durable. A kill at any time loses at most the attempt in flight, and
//! [`resume`] restores the snapshot before it and continues the same session of the agent.

mod agent;
mod agent_end;
mod attempt;
mod attempt_cost;
mod attempt_verdict;
mod begin;
mod blocking;
mod clock;
mod connections;
pub mod control;
mod copy;
mod disk;
mod dropped_attempt;
mod earlier_spending;
mod episode;
mod folders;
mod harbor;
mod kill_points;
pub mod live;
mod may_begin;
pub mod origin;
mod outage;
mod prompt;
mod record;
mod reopen;
mod resume;
mod retry_attempt;
mod run;
mod run_context;
mod scenarios;
mod scheduler;
mod secrets;
mod server;
pub mod settings;
mod spending;
mod state;
mod status;

pub use harbor::{Recipe, TaskImage, TaskPreview, task_images, tasks};
pub use secrets::AWS_CHAIN;

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What happens in a run: one JSON object a line with `event` as its tag, on standard output of `stamina run --json` and in
/// `.stamina/events.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run begins, or continues after a resume.
    Started {
        /// RFC 3339.
        at: String,
        /// Results folder.
        output_dir: String,
        /// Harness.
        agent: String,
        /// Model.
        model: Option<String>,
        /// Whether the simulated model answers.
        simulated: bool,
        /// Episodes planned.
        episodes: u32,
        /// Turns planned of each.
        turns: u32,
        /// Whether it continues an earlier part.
        resumed: bool,
        /// The record as it was written, by which a library recognizes the run. It is in no file and on no output.
        #[serde(skip)]
        record: Option<Box<origin::Record>>,
    },
    /// A turn begins.
    Turn {
        /// RFC 3339.
        at: String,
        /// `scenario_3`.
        episode: String,
        /// From 1.
        turn: u32,
        /// How many turns the episode has.
        #[serde(rename = "of")]
        turn_count: u32,
    },
    /// An attempt ended and is recorded.
    Attempt {
        /// RFC 3339.
        at: String,
        /// `scenario_3`.
        episode: String,
        /// From 1.
        turn: u32,
        /// From 1.
        attempt: u32,
        /// `passed`, `failed`, `error`, `unfinished`.
        verdict: model::Verdict,
        /// Tests passed; `None` = no verdict.
        passed: Option<u32>,
        /// Tests run.
        total: Option<u32>,
        /// Why it ended, unless passed.
        end_reason: Option<model::EndReason>,
        /// Of this attempt.
        tokens: model::Tokens,
        /// Of this attempt.
        cost_usd: Option<f64>,
        /// Wall seconds of the agent; `None` = unknown.
        agent_seconds: Option<f64>,
        /// Wall seconds of the tests.
        test_seconds: Option<f64>,
        /// Wall seconds of everything else: the runner's own cost.
        own_seconds: f64,
    },
    /// An episode is over.
    Episode {
        /// RFC 3339.
        at: String,
        /// `scenario_3`.
        episode: String,
        /// Consecutive turns passed.
        stamina: u32,
        /// Turns played.
        turns: u32,
        /// Why it ended.
        end_reason: model::EndReason,
    },
    /// Something was spent: after each attempt, and when a budget is reached.
    Budget {
        /// RFC 3339.
        at: String,
        /// Of the run so far.
        spent: gateway::Spent,
        /// The budget of the run.
        budget: gateway::Budget,
        /// Set when one is reached.
        over: Option<gateway::StopReason>,
    },
    /// The run is over, or has stopped.
    Finished {
        /// RFC 3339.
        at: String,
        /// Why.
        how: Finish,
        /// Episodes that are over.
        episodes: u32,
        /// Mean of (passed / total) as the README defines; `None` = nothing was scored.
        average_score: Option<f64>,
        /// Of the run.
        spent: gateway::Spent,
        /// Attempts that the endpoint cost. `None` = unknown: an older version began the run, or wrote the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        endpoint: Option<EndpointAttempts>,
    },
}

/// Attempts of a run that the model's endpoint cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointAttempts {
    /// How often an attempt was dropped because of the endpoint and retried.
    pub retried: u32,
    /// Attempts that were given up and recorded as `endpoint`; they are not attributed to the agent.
    pub lost: u32,
}

/// How a run ended. Exit codes of `stamina run`: 0, 130, 3, 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Finish {
    /// All episodes are over.
    Finished,
    /// A control request or a signal stopped it; it can be resumed.
    Stopped,
    /// A budget of the run is spent; it can be resumed with a larger one.
    Budget,
    /// Something outside the agents is broken (the engine is gone, the disk is full, the endpoint does not come back); it can
    /// be resumed.
    Failed {
        /// One line.
        message: String,
    },
}

impl Finish {
    /// Exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Finished => 0,
            Self::Stopped => 130,
            Self::Budget => 3,
            Self::Failed { .. } => 1,
        }
    }
}

/// Why a run cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A setting.
    #[error(transparent)]
    Settings(#[from] settings::SettingsError),
    /// A harness.
    #[error(transparent)]
    Harness(#[from] harness::HarnessError),
    /// Containers.
    #[error(transparent)]
    Sandbox(#[from] sandbox::SandboxError),
    /// The gateway.
    #[error(transparent)]
    Gateway(#[from] gateway::GatewayError),
    /// The scenarios.
    #[error(transparent)]
    Pack(#[from] scenario::pack::PackError),
    /// A file of the results folder.
    #[error("{path}: {reason}")]
    Files {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The folder holds results already, and they are not to be resumed.
    #[error("{path} already contains a run; resume it, or choose another folder")]
    FolderTaken {
        /// Which.
        path: PathBuf,
    },
    /// Another process is running it.
    #[error("{path} is being run by process {pid}")]
    Running {
        /// Which.
        path: PathBuf,
        /// By whom.
        pid: u32,
    },
    /// It is not the run that the caller has checked, or it is unknown here.
    #[error("{path} is not the run that was looked at: its record has changed since")]
    Changed {
        /// Which.
        path: PathBuf,
    },
    /// There is nothing to resume.
    #[error("{path} holds no run of Stamina Lab that can be resumed: {reason}")]
    NotResumable {
        /// Which.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
}

impl RunError {
    /// What is wrong, without the folder or file that the error names.
    pub fn reason(&self) -> String {
        match self {
            Self::Files { reason, .. } | Self::NotResumable { reason, .. } => reason.clone(),
            other => other.to_string(),
        }
    }
}

/// Takes events as they happen. Called from the run's tasks: must be quick.
pub type OnEvent = Arc<dyn Fn(&Event) + Send + Sync>;

/// Checks that the harness of these settings exists and supports their mode. Otherwise a run does not begin. Blocks.
pub fn callable(settings: &settings::RunSettings) -> Result<(), RunError> {
    let file = settings.harness_file.as_deref().map(files::confined_path::resolved);
    begin::harness(settings, file.as_deref()).map(|_| ())
}

/// Refuses settings that name scenarios beyond those that are generated for the run.
pub fn check_named(settings: &settings::RunSettings) -> Result<(), RunError> {
    scenarios::check_named(settings)
}

/// The scenarios of a run with these settings, counted from 0, each with its number of turns. An error if its pack or tasks
/// do not allow it to begin. Blocks.
pub fn planned(settings: &settings::RunSettings) -> Result<Vec<(u32, u32)>, RunError> {
    let (_, planned) = scenarios::Scenarios::plan(&mut settings.clone())?;
    Ok(planned.into_iter().map(|episode| (episode.scenario, episode.turns)).collect())
}

/// Whether a folder holds results already. The files of a run that was killed while it began are none. Blocks.
pub fn is_taken(folder: &std::path::Path) -> bool {
    begin::is_taken(folder)
}

/// Removes a folder of a run with everything in it, however deep or write-protected. Links are removed, not followed. A
/// missing folder is no error. Blocks.
pub fn remove_folder(path: &std::path::Path) -> std::io::Result<()> {
    copy::remove(path)
}

/// Removes a run's folder as [`remove_folder`] does, unless a process runs it. Blocks.
pub fn remove_run(folder: &std::path::Path) -> Result<(), RunError> {
    let paths = state::RunPaths::new(folder);
    // Held until everything is removed, so that no process begins or resumes the run meanwhile.
    let held = if paths.stamina_folder().is_dir() { Some(state::Lock::take_over(&paths)?) } else { None };
    let removed = remove_folder(folder).map_err(|error| disk::error_at(folder, error));
    drop(held);
    removed
}

/// Starts a run and returns when it ends (or stops; see [`control`]). The caller does the preflight.
pub async fn run(settings: settings::RunSettings, on_event: OnEvent) -> Result<Finish, RunError> {
    begin::begin(settings, on_event).await
}

/// Continues a run that was stopped or killed. `change` may raise budgets and limits (`key=value` lists), and names what a
/// run that was not begun here gets of this machine. `looked_at` is the run that the caller has checked: if the folder holds
/// another one by then, nothing happens ([`RunError::Changed`]).
pub async fn resume(
    folder: PathBuf,
    change: Vec<String>,
    looked_at: origin::Identity,
    on_event: OnEvent,
) -> Result<Finish, RunError> {
    resume::continue_run(folder, change, looked_at, on_event).await
}
