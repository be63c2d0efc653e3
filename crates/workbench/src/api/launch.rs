//! A run before it begins: the form and its settings.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use gateway::simulated_model::Stack as FormStack;
pub use runner::settings::{
    TaskBackground as FormTaskBackground, TaskSession as FormTaskSession, TaskSnapshots as FormTaskSnapshots,
    TaskTimeout as FormTaskTimeout,
};
pub use sandbox::NetworkAccess as FormNetwork;
pub use settings::Need as FieldNeed;

use super::{FormSettings, ModelPrice};

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
    pub origin: String,
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
