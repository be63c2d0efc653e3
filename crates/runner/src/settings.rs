//! The settings of a run: the README's keys, and ours beside them.
//!
//! Every key is declared in the crate `settings` ([`::settings::all`]) and listed in `docs/cli.md`; here is what keys mean together.
//! Keys in the sections of agents and of Docker that are not declared are kept as they were given.
//!
//! Where nothing says how the model is reached, `endpoint.base_url` means `gateway`, and without it the simulated model
//! (`oracle`) plays. A model that is named without an endpoint is an error: `direct`, which is what the original does, hands
//! credentials of this machine to the container and is never a default. Without `use_docker` every agent but the mock runs in
//! a container.

mod arguments;
mod check;
mod endpoint;
mod keys;
mod recorded_settings;
mod resolve;
mod secrets;
mod tasks;
#[cfg(test)]
mod tests;
mod variables;
mod write;

use std::collections::BTreeMap;
use std::path::PathBuf;

use ::settings::protocols::{self, Protocol};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use gateway::keys::KeySource;

pub use self::arguments::split_arguments;
pub(crate) use self::check::check;
pub(crate) use self::recorded_settings::check_record;
pub use self::resolve::{read, resolve};
pub(crate) use self::secrets::is_secret_name;

/// Whether and how failures are told to the agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Feedback {
    /// Nothing but that the turn is not passed yet (`enable_feedback=false`).
    None,
    /// How many tests failed.
    Minimal,
    /// Which tests failed.
    Medium,
    /// Which, what was expected and what came.
    #[default]
    Detailed,
}

impl From<Feedback> for gateway::simulated_model::Feedback {
    fn from(kind: Feedback) -> Self {
        match kind {
            Feedback::None => Self::None,
            Feedback::Minimal => Self::Minimal,
            Feedback::Medium => Self::Medium,
            Feedback::Detailed => Self::Detailed,
        }
    }
}

/// How the agent gets at its model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum EndpointSettings {
    /// Through the gateway to an endpoint.
    Gateway {
        /// Without `/v1`.
        base_url: String,
        /// Where its key is.
        key: KeySource,
    },
    /// As in the original: the AWS credential chain and named variables go into the container, tokens come from the harness.
    Direct,
    /// Through the gateway to the simulated model.
    #[default]
    Oracle,
}

/// What becomes of a step of a task whose agent ran out of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "FormTaskTimeout")]
pub enum TaskTimeout {
    /// Its verifier runs, and the trial goes on, as Harbor does.
    #[default]
    Graded,
    /// It is not graded, and the trial ends.
    Stop,
}

/// What becomes of processes that still run in the container of a task when its agent has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "FormTaskBackground")]
pub enum TaskBackground {
    /// They go on while the verifier runs and in later steps, as with Harbor. Where an agent has left some, the verifier runs a second
    /// time where they cannot write its verdict, and that verdict counts.
    #[default]
    Check,
    /// They go on, and what they write counts.
    Keep,
    /// All of them are ended before the verifier: the container is started anew with its files as they are.
    End,
}

/// What a step of a task is to the session of its harness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "FormTaskSession")]
pub enum TaskSession {
    /// The session of the steps before goes on.
    #[default]
    Continue,
    /// Each step begins a new one, which knows the files and nothing else of the steps before.
    Fresh,
}

/// Which snapshots of the container of a trial are kept for a resume.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "FormTaskSnapshots")]
pub enum TaskSnapshots {
    /// None: a resume plays the trial from its first step.
    #[default]
    None,
    /// One before each step, of which the last one stays: a resume continues with that step.
    EachStep,
}

/// What earlier versions did with processes that an agent has left.
const fn keeps_processes() -> TaskBackground {
    TaskBackground::Keep
}

/// Whether no snapshot is kept. The record of such a run has no word for that, as those of earlier versions.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn keeps_none(snapshots: &TaskSnapshots) -> bool {
    *snapshots == TaskSnapshots::None
}

/// A protocol by which tasks are played, by name: it sets what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskProtocol {
    /// EvoCode-Bench at present: one attempt at each step, the whole chain whatever fails, a step out of time is graded.
    Evocode,
    /// MT@k of the EvoCode paper: round by round, up to k attempts (4 unless said) from the same snapshot without feedback; the
    /// first round of which none passes ends the chain, and one out of time is not graded.
    MtAtK,
    /// SR of the EvoCode paper: each step by itself, in a new session, after the reference solutions of the steps before it; up to
    /// k attempts (1 unless said) from the same snapshot without feedback.
    Sr,
    /// As scenarios are played: up to k attempts at each step (10 unless said), each told the end of the verifier's output and
    /// going on with what the last one left; the whole chain whatever fails, and a step out of time is graded.
    Ours,
}

impl TaskProtocol {
    /// Its word in the settings.
    pub const fn as_str(self) -> &'static str {
        self.sets().word
    }

    /// What it sets.
    const fn sets(self) -> Protocol {
        match self {
            Self::Evocode => protocols::EVOCODE,
            Self::MtAtK => protocols::MT_AT_K,
            Self::Sr => protocols::SR,
            Self::Ours => protocols::FEEDBACK,
        }
    }
}

/// Tasks of Harbor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSettings {
    /// The folder or zip.
    pub folder: PathBuf,
    /// What becomes of a step whose agent ran out of time.
    pub timeout: TaskTimeout,
    /// What becomes of processes that an agent has left. The record of a run of earlier versions has no word for that.
    #[serde(default = "keeps_processes")]
    pub background: TaskBackground,
    /// Whether the harness's session goes on from step to step.
    #[serde(default)]
    pub session: TaskSession,
    /// Which snapshots are kept for a resume.
    #[serde(default, skip_serializing_if = "keeps_none")]
    pub snapshots: TaskSnapshots,
    /// The protocol that was named, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<TaskProtocol>,
}

/// Everything that decides about a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// The harness's word in lower case.
    pub agent: String,
    /// A harness of one's own.
    pub harness_file: Option<PathBuf>,
    /// The model's name at the endpoint.
    pub model: Option<String>,
    /// Scenarios that are generated where `scenarios_dir` gives none; `n_scenarios`, `n_turns` bound those that are given.
    pub generation: ::settings::Generation,
    /// A pack: folder or zip.
    pub scenarios_dir: Option<PathBuf>,
    /// Results folder.
    pub output_dir: PathBuf,
    /// Containers, or plain processes (mock agent with the simulated model only).
    pub use_docker: bool,
    /// Episodes at once.
    pub batch_size: u32,
    /// 2 × 2.
    pub quick_debug: bool,
    /// Most attempts a turn.
    pub attempt_limit: u32,
    /// Whether each attempt at a turn begins from the same snapshot, instead of what the one before has left.
    #[serde(default)]
    pub restore_before_try: bool,
    /// What the agent learns of failures.
    pub feedback: Feedback,
    /// Stop an episode at its first failed turn.
    pub fail_stop: bool,
    /// Scenarios to play, from 0; empty = all.
    pub execute_episodes: Vec<u32>,
    /// Instead of the harness's own.
    pub image: Option<String>,
    /// Names of variables forwarded into the container (values are taken from the environment at start, never stored), or
    /// `NAME=value`.
    pub env_vars: Vec<String>,
    /// See [`sandbox::ExtraArgs`].
    pub extra: sandbox::ExtraArgs,
    /// How the agent gets at its model.
    pub endpoint: EndpointSettings,
    /// Tokens that the model's context holds.
    pub context_window: u64,
    /// `None` = unknown cost, unless the price table knows the model.
    pub price: Option<gateway::Price>,
    /// What containers may use.
    pub limits: sandbox::Limits,
    /// What containers reach.
    pub reach: sandbox::NetworkAccess,
    /// What may be spent.
    pub budgets: gateway::Budgets,
    /// The simulated model.
    pub oracle: gateway::simulated_model::Ability,
    /// Words for the library.
    pub tags: Vec<String>,
    /// Whether it only tries whether its harness works here. No key says so: the app does, and the run's record keeps it.
    #[serde(default, rename = "shakedown")]
    pub is_smoke_test: bool,
    /// Code snapshots kept an episode; `None` = all.
    pub keep_snapshots: Option<u32>,
    /// Tasks of Harbor that are played in place of scenarios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TaskSettings>,
    /// Other keys of the sections of agents, Docker and the sampler, dotted, as they were given: they do nothing here and
    /// stand in `config.yaml` again. Values of keys that are named like secrets are left out.
    #[serde(default, rename = "kept")]
    pub other_values: BTreeMap<String, serde_json::Value>,
}

/// A setting that cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The README's keys.
    #[error(transparent)]
    Config(#[from] ::settings::ConfigError),
    /// A setting of the runner.
    #[error("{key}: {reason}{place}")]
    Value {
        /// Dotted.
        key: String,
        /// What is wrong, and what it takes.
        reason: String,
        /// ` (in FILE)`, or nothing.
        place: String,
    },
}

impl SettingsError {
    /// Stable word for the edge.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config(error) => error.code(),
            Self::Value { .. } => "settings.value",
        }
    }

    pub(crate) fn new(key: &str, reason: impl Into<String>) -> Self {
        Self::Value { key: key.to_owned(), reason: reason.into(), place: String::new() }
    }
}

impl TaskSettings {
    /// Whether each step is played by itself, after the reference solutions of the steps before it.
    pub fn plays_alone(&self) -> bool {
        self.protocol == Some(TaskProtocol::Sr)
    }

    /// Whether a further attempt at a step gets feedback on the one before.
    pub fn gives_feedback(&self) -> bool {
        self.protocol == Some(TaskProtocol::Ours)
    }

    /// The name of the folder or zip of tasks, by which Harbor calls a set of them.
    pub(crate) fn data_set(&self) -> String {
        let Some(name) = self.folder.file_name().map(|name| name.to_string_lossy()) else {
            return "tasks".to_owned();
        };
        if self.folder.is_dir() { name.into_owned() } else { model::zipped_name(&name).to_owned() }
    }
}

impl RunSettings {
    /// As `config.yaml`: the README's names, and only what can be read back by [`resolve`]. No key, no secret.
    pub fn to_yaml(&self) -> String {
        write::to_yaml(self)
    }

    /// What [`to_yaml`](Self::to_yaml) writes, as values.
    pub fn to_config(&self) -> serde_json::Value {
        write::to_config(self)
    }

    /// Whether the container of a trial is kept before each step: for its attempts, or for a resume only.
    pub fn keeps_snapshots(&self) -> bool {
        let is_for_resume = |tasks: &TaskSettings| tasks.snapshots == TaskSnapshots::EachStep;
        self.tasks.as_ref().is_some_and(|tasks| self.restore_before_try || is_for_resume(tasks))
    }

    /// The section of the agent in a configuration: its word in lower case.
    pub fn agent_section(&self) -> &str {
        &self.agent
    }

    /// `docker.extra_docker_args` as one line.
    pub fn extra_arguments(&self) -> String {
        arguments::line(&self.extra)
    }

    /// Whether the simulated model plays.
    pub fn has_simulated_model(&self) -> bool {
        self.is_simulated() && self.asks_model()
    }

    /// Whether a model is asked at all. Players of tasks ask none.
    pub fn asks_model(&self) -> bool {
        !crate::harbor::player::is_player(&self.agent)
    }

    /// Whether no model is asked that costs anything.
    pub fn is_simulated(&self) -> bool {
        self.endpoint == EndpointSettings::Oracle
    }
}
