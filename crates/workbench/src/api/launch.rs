//! A run before it begins: the form and its settings.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use gateway::oracle::Stack as FormStack;
pub use runner::settings::{
    TaskBackground as FormTaskBackground, TaskSession as FormTaskSession, TaskSnapshots as FormTaskSnapshots,
    TaskTimeout as FormTaskTimeout,
};
pub use sandbox::Reach as FormNetwork;
pub use settings::Need as FieldNeed;

use super::ModelPrice;

/// How the agent gets at its model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EndpointMode {
    /// Through the gateway to an endpoint.
    Gateway,
    /// As in the original: variables go into the container, tokens come from the harness.
    Direct,
    /// Through the gateway to the simulated model; the run is simulated.
    #[default]
    Oracle,
}

/// Where the key of the endpoint is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyPlace {
    /// The endpoint wants none.
    #[default]
    None,
    /// An environment variable; `key_name` is its name.
    Env,
    /// An entry of the OS keychain; `key_name` is its name.
    Keychain,
}

/// What the agent learns of failures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FormFeedback {
    /// Nothing but that the turn is not passed yet.
    None,
    /// How many tests failed.
    Minimal,
    /// Which tests failed.
    Medium,
    /// Which, what was expected and what came.
    #[default]
    Detailed,
}

/// What episodes are made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FormSource {
    /// Scenarios of REST servers: a pack, or generated ones.
    #[default]
    Scenarios,
    /// Tasks of Harbor with several steps (`benchmark=HARBOR`).
    Tasks,
}

/// The protocol by which tasks are played; all but the first set what belongs to them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FormProtocol {
    /// What the fields of the form say.
    #[default]
    Own,
    /// EvoCode-Bench at present: one attempt at each step, the whole chain.
    Evocode,
    /// MT@k of the EvoCode paper: up to k attempts at a step from the same snapshot; the first step without a pass ends the chain.
    MtAtK,
    /// SR of the EvoCode paper: each step by itself, after the reference solutions of the steps before it.
    Sr,
    /// As scenarios are played: several attempts at each step, with feedback.
    Ours,
}

/// The settings of a run as the form has them: every key of a configuration file, flat.
///
/// Numbers are `None` where nothing is given, which means the default (for budgets: no limit). They are numbers of
/// any kind, so that what was typed arrives here and is answered with a sentence; [`SettingsCheck`] says what is wrong
/// with each. Texts are empty where nothing is given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct FormSettings {
    /// The harness's word in lower case.
    pub agent: String,
    /// A harness of one's own: path of a TOML file.
    pub harness_file: String,
    /// The model's name at the endpoint.
    pub model: String,
    /// Instead of the harness's own image.
    pub image: String,
    /// How the agent gets at its model.
    pub endpoint_mode: EndpointMode,
    /// Of the endpoint, without `/v1`.
    pub base_url: String,
    /// Where its key is.
    pub key_place: KeyPlace,
    /// Name of the variable or keychain entry.
    pub key_name: String,
    /// Tokens that the model's context holds.
    pub context_window: Option<f64>,
    /// US dollars for a million input tokens; none = from the price table, else unknown.
    pub price_input: Option<f64>,
    /// Of cached input.
    pub price_cached: Option<f64>,
    /// Of input that is written to the endpoint's cache; none = as input.
    pub price_cache_write: Option<f64>,
    /// Of output.
    pub price_output: Option<f64>,
    /// US dollars for an hour in which the endpoint works for the run, in place of prices of tokens.
    pub price_per_hour: Option<f64>,

    /// What episodes are made of.
    pub source: FormSource,
    /// Folder or zip of the tasks.
    pub tasks: String,
    /// The protocol by which tasks are played.
    pub protocol: FormProtocol,
    /// Whether each attempt at a turn begins from the same snapshot.
    pub restore_before_try: bool,
    /// What becomes of a step of a task whose agent ran out of time.
    pub task_timeout: FormTaskTimeout,
    /// What becomes of processes that still run in the container of a task when its agent has ended.
    pub task_background: FormTaskBackground,
    /// Which snapshots of the container of a task are kept for a resume.
    pub task_snapshots: FormTaskSnapshots,
    /// Whether the harness's session goes on from step to step of a task.
    pub task_session: FormTaskSession,
    /// Many turns (`RESTFUL_SERVER_GEN_ITERATIVE`), or one (`RESTFUL_SERVER_GEN`).
    pub iterative: bool,
    /// A pack: folder or zip; empty = generated by the settings below.
    pub scenarios_dir: String,
    /// Scenarios (episodes).
    pub n_scenarios: Option<f64>,
    /// Turns of each.
    pub n_turns: Option<f64>,
    /// From a turn to the next, where scenarios are generated.
    pub num_changes_per_turn: Option<f64>,
    /// A text, because it may have more digits than a number here holds.
    pub base_seed: String,
    /// Scenarios to play, from 0: `1,5,10`; empty = all.
    pub execute_episodes: String,
    /// Whether a model fills in names and details of generated scenarios.
    pub use_llm_sampler: bool,
    /// Which.
    pub llm_sampler_model_id: String,
    /// Of its endpoint, with `/v1`; empty = Amazon Bedrock.
    pub sampler_base_url: String,
    /// Name of the environment variable with its key.
    pub sampler_key_variable: String,
    /// Of Amazon Bedrock.
    pub sampler_region: String,
    /// In place of Amazon's address.
    pub sampler_endpoint_url: String,
    /// Seconds of one call of it.
    pub sampler_seconds: Option<f64>,
    /// Calls of it at once.
    pub sampler_calls: Option<f64>,

    /// Most attempts a turn.
    pub attempt_limit: Option<f64>,
    /// What the agent learns of failures.
    pub feedback: FormFeedback,
    /// Stop an episode at its first failed turn.
    pub fail_stop: bool,
    /// Episodes at once.
    pub batch_size: Option<f64>,
    /// 2 × 2.
    pub quick_debug: bool,
    /// Containers, or plain processes (mock agent with the simulated model only).
    pub use_docker: bool,

    /// Wall minutes of an attempt in its container, at which the agent is ended: its failure.
    pub attempt_minutes: Option<f64>,
    /// CPU cores of a container.
    pub cpus: Option<f64>,
    /// GiB of memory of a container.
    pub memory_gib: Option<f64>,
    /// GiB of disk of a container.
    pub disk_gib: Option<f64>,
    /// Processes of a container.
    pub pids: Option<f64>,
    /// What containers reach.
    pub network: FormNetwork,
    /// Budget of an attempt: tokens.
    pub attempt_tokens: Option<f64>,
    /// Budget of an attempt: US dollars.
    pub attempt_usd: Option<f64>,
    /// Budget of an attempt: wall minutes.
    pub attempt_wall_minutes: Option<f64>,
    /// Budget of an episode: tokens.
    pub episode_tokens: Option<f64>,
    /// Budget of an episode: US dollars.
    pub episode_usd: Option<f64>,
    /// Budget of an episode: wall minutes.
    pub episode_minutes: Option<f64>,
    /// Budget of the run: tokens.
    pub run_tokens: Option<f64>,
    /// Budget of the run: US dollars.
    pub run_usd: Option<f64>,
    /// Budget of the run: wall minutes.
    pub run_minutes: Option<f64>,

    /// Results folder.
    pub output_dir: String,
    /// Words for the library.
    pub tags: Vec<String>,
    /// Code snapshots kept an episode; none = all.
    pub keep_snapshots: Option<f64>,

    /// Names of variables forwarded into the container, or `NAME=value`.
    pub env_vars: Vec<String>,
    /// `-u`, `-e`, `-v`, `--add-host` of `docker run`.
    pub extra_docker_args: String,

    /// Of the simulated model: where its choices come from.
    pub oracle_seed: String,
    /// Share of turns whose first attempt carries defects, 0 to 1.
    pub oracle_defect_rate: Option<f64>,
    /// Defects in such a turn: 1 to this.
    pub oracle_most_defects: Option<f64>,
    /// Chance that feedback repairs each defect, 0 to 1.
    pub oracle_repair: Option<f64>,
    /// Whether defects that were not repaired stay in later turns.
    pub oracle_carries_over: bool,
    /// What its servers are written in.
    pub oracle_stack: FormStack,
    /// Share of attempts in which it never answers.
    pub oracle_stall: Option<f64>,
    /// … says that the context is exceeded.
    pub oracle_overflow: Option<f64>,
    /// … sends malformed tool calls.
    pub oracle_malformed: Option<f64>,
    /// … kills the harness.
    pub oracle_kill: Option<f64>,
    /// … says it is done without doing anything.
    pub oracle_give_up: Option<f64>,

    /// Keys of other programs that a loaded configuration had, as `key=value` with JSON values: they do nothing here and
    /// are kept.
    pub other: Vec<String>,
}

/// What the form is built from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct LaunchForm {
    /// Harnesses that there are.
    pub harnesses: Vec<HarnessInfo>,
    /// Packs among the opened sources that can be read.
    pub packs: Vec<PackChoice>,
    /// What a new form begins with; a field that has this value is not marked.
    pub defaults: FormSettings,
    /// What each field takes, in the order of the form.
    pub fields: Vec<FormField>,
    /// What each protocol of tasks sets.
    pub protocols: Vec<ProtocolSets>,
    /// Known prices.
    pub prices: Vec<ModelPrice>,
    /// CPU cores of this machine.
    pub cores: u32,
    /// Bytes of memory of this machine; `None` = unknown.
    pub memory: Option<u64>,
}

/// A harness in the form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HarnessInfo {
    /// Its word in lower case: `mini_swe`.
    pub name: String,
    /// What a person reads: `mini-swe-agent`.
    pub title: String,
    /// The version in its image.
    pub version: String,
    /// The image it runs in by default. Whether that is built, [`ImageList`](crate::api::ImageList) says.
    pub image: String,
    /// `chat_completions`, `responses` or `messages`: what the endpoint has to speak.
    pub api: String,
}

/// A pack in the form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PackChoice {
    /// For `scenarios_dir`.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Scenarios in it.
    pub scenarios: u32,
    /// Most turns of one.
    pub turns: u32,
}

/// What a protocol of tasks sets: names and values as in [`FormSettings`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProtocolSets {
    /// Which.
    pub protocol: FormProtocol,
    /// Attempts at a step, unless others are entered.
    pub attempt_limit: u32,
    /// Whether the first step without a pass ends the trial.
    pub fail_stop: bool,
    /// Whether each attempt at a step begins from the same snapshot.
    pub restore_before_try: bool,
    /// What becomes of a step out of time.
    pub task_timeout: FormTaskTimeout,
}

/// What a field of the form takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FormField {
    /// Its name in [`FormSettings`].
    pub field: String,
    /// Its key in a configuration file; that of a model is `AGENT.model_id` with the agent's word.
    pub key: String,
    /// `agent`, `scenarios`, `loop`, `limits`, `results`, `advanced`.
    pub section: String,
    /// What a person reads: `Attempts per turn`.
    pub label: String,
    /// `min`, `GiB`, `cores`, `$`; empty = none.
    pub unit: String,
    /// What it means, in a sentence.
    pub about: String,
    /// What it takes, in words: `a whole number from 1 to 1000`.
    pub takes: String,
    /// What it means where nothing is entered: `no limit`; empty = its default, or nothing.
    pub empty: String,
    /// What has to be so for it to do anything: all of these.
    pub needs: Vec<FieldNeed>,
    /// What may be chosen, in order: words, or `false` and `true`; empty = it is typed, or chosen from what is there.
    pub choices: Vec<FieldChoice>,
}

/// What may be chosen in a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FieldChoice {
    /// Its word in [`FormSettings`].
    pub value: String,
    /// What a person reads.
    pub label: String,
    /// What it means, in a sentence or two; empty where the label says it.
    pub about: String,
}

/// What is said about settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SettingsCheck {
    /// What is wrong with them.
    pub errors: Vec<FieldError>,
    /// Fields that differ from their defaults.
    pub differ: Vec<String>,
    /// As `config.yaml`; empty while something is wrong.
    pub yaml: String,
    /// The same run from a terminal: `stamina run --configs results/x.yaml`.
    pub command: String,
    /// The same without a file: `stamina run --values …`.
    pub command_values: String,
    /// Where `command` expects the file.
    pub config_path: String,
    /// A folder for the results of this harness that is not there yet.
    pub free_folder: String,
}

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FieldError {
    /// Name in [`FormSettings`]; empty = of the whole.
    pub field: String,
    /// A sentence.
    pub message: String,
}

/// Where settings are loaded from; exactly one is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct LoadSettings {
    /// A configuration as text, ours or of the original.
    pub yaml: Option<String>,
    /// A YAML file.
    pub file: Option<String>,
    /// A run of the library.
    pub run: Option<String>,
    /// A results folder.
    pub folder: Option<String>,
}

/// Settings that were loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct LoadedSettings {
    /// They.
    pub settings: FormSettings,
    /// Where they come from, in words.
    pub from: String,
    /// What could not be taken over.
    pub notes: Vec<String>,
}

/// Writes settings as YAML.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SaveSettings {
    /// They.
    pub settings: FormSettings,
    /// Absolute path of the file.
    pub path: String,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SavedFile {
    /// Where.
    pub path: String,
}

/// Has a model fill in the scenarios of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SampleScenarios {
    /// Of the run.
    pub settings: FormSettings,
}
