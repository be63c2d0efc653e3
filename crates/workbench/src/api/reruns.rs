//! Which trials of a run to run again.

use model::EndReason;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use ts_rs::TS;

/// Asks which trials of a run to run again. If all three are false it asks for all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RerunRequest {
    /// Id of the run.
    pub run: String,
    /// Those that are censored: something outside the agent ended them.
    pub censored: bool,
    /// Those without a verdict that can be read.
    pub unreadable: bool,
    /// Those that were planned and are not there.
    pub missing: bool,
}

/// Why a trial is to be run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RerunReason {
    /// Something outside the agent ended it.
    Censored,
    /// It has no verdict that can be read.
    Unreadable,
    /// It was planned and is not there.
    Missing,
}

impl RerunReason {
    /// The word in JSON and on the screen.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A trial to be run again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RerunTrial {
    /// The task or scenario, as its runner names it.
    pub task: String,
    /// The trial; `None` = it is missing.
    pub trial: Option<String>,
    /// Its episode in the library.
    pub episode: Option<String>,
    /// Why.
    pub why: RerunReason,
    /// How it ended.
    pub end_reason: Option<EndReason>,
}

/// The flags or settings with which the runner of a run runs some tasks, each equally often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RerunCommand {
    /// How often each.
    pub repeats: u32,
    /// The tasks.
    pub tasks: Vec<String>,
    /// Flags for its command line; `None` = it has none that say it.
    pub flags: Option<String>,
    /// Keys of its configuration; `None` = it has none, or the run does not say where its tasks are from.
    pub yaml: Option<String>,
}

/// Which trials of a run to run again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RerunList {
    /// Id of the run.
    pub run: String,
    /// The command of the runner that made it: `harbor run`, `tb run`, `stamina run`; `None` = it is not known.
    pub runner: Option<String>,
    /// The trials, by task.
    pub trials: Vec<RerunTrial>,
    /// Trials that were planned and are not there, and that nothing names.
    pub unnamed: u32,
    /// The commands for the runner; one for each number of repeats.
    pub commands: Vec<RerunCommand>,
    /// All of it as text.
    pub text: String,
}
