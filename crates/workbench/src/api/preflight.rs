//! Whether a run can begin: its checks, and what it will take.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{EndpointAbilities, FormSettings};

/// Asks whether a run can begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PreflightRequest {
    /// Of the run.
    pub settings: FormSettings,
    /// Whether the endpoint is asked something cheap (it costs a few tokens).
    pub call: bool,
    /// With `call`: whether it is asked anew for all that it can do, whatever was found out before.
    #[serde(default)]
    pub anew: bool,
}

/// Whether a run can begin, and what it will take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Preflight {
    /// In the order in which they are shown.
    pub checks: Vec<Check>,
    /// What the endpoint can do; `None` = none is asked through the gateway.
    pub endpoint: Option<EndpointAbilities>,
    /// `None` = the settings are wrong.
    pub estimate: Option<RunEstimate>,
    /// Whether nothing fails.
    pub can_start: bool,
    /// When, RFC 3339.
    #[serde(rename = "at")]
    pub checked_at: String,
    /// Seconds that it took.
    pub seconds: f64,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// Good.
    Ok,
    /// Worth a look; the run can begin.
    Warn,
    /// The run cannot begin.
    Fail,
    /// Could not be found out.
    Unknown,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Check {
    /// `settings`, `engine`, `image`, `pack`, `endpoint`, `model`, `abilities`, `price`, `folder`, `disk`, `network`, `leftovers`, `machine`, `task_images`.
    pub id: String,
    /// What a person reads: `Endpoint and key`.
    pub title: String,
    /// How it came out.
    pub state: CheckState,
    /// In a few words: `Docker 26.1.5`, `1 call, 0.8 s`.
    pub value: String,
    /// What it means and what to do, unless all is well.
    pub sentence: Option<String>,
    /// What a click can do about it.
    pub fix: Option<Fix>,
}

/// What a click can do about a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Fix {
    /// On the button: `Change to 3`, `Build image`.
    pub label: String,
    /// What it does.
    pub action: FixAction,
}

/// What a fix does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum FixAction {
    /// Sets a number in the form.
    SetNumber {
        /// Name in [`FormSettings`].
        field: String,
        /// To what.
        value: f64,
    },
    /// Sets a text in the form.
    SetText {
        /// Name in [`FormSettings`].
        field: String,
        /// To what.
        value: String,
    },
    /// Builds an image (`build_images`).
    BuildImage {
        /// Which.
        name: String,
    },
    /// Asks for a key (`store_key`).
    StoreKey {
        /// Its name.
        name: String,
    },
    /// Resumes the run in the folder.
    Resume {
        /// Which.
        folder: String,
    },
    /// Removes leftovers (`clean_leftovers`).
    Clean,
}

/// What a run of tasks will take in the container engine, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EngineDisk {
    /// Images that are built for its tasks, where none of them is there yet: each as large as the median of those of other tasks in
    /// the engine. `None` = unknown, because the engine has none.
    pub images: Option<u64>,
    /// Containers that run at once, with the snapshots before their steps, at most: none grows beyond `limits.disk_gib`.
    pub containers_at_most: u64,
    /// Snapshots among them.
    pub snapshots: u64,
}

/// What a run will take. Ranges run from the 10th to the 90th percentile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunEstimate {
    /// Episodes.
    pub episodes: u32,
    /// Turns of all episodes.
    pub turns: u64,
    /// Attempts at most.
    pub attempts_at_most: u64,
    /// Wall seconds; `None` = unknown.
    pub seconds: Option<(f64, f64)>,
    /// Input tokens.
    pub tokens_in: Option<(f64, f64)>,
    /// Share of them that is cached, 0 to 1.
    pub cached: Option<f64>,
    /// Output tokens.
    pub tokens_out: Option<(f64, f64)>,
    /// US dollars.
    pub cost_usd: Option<(f64, f64)>,
    /// Bytes that the results folder will take.
    pub bytes: Option<u64>,
    /// What it will take in the container engine beside that; `None` = no tasks are played.
    pub engine: Option<EngineDisk>,
    /// Budgets that may be hit: `may hit $60`.
    pub budgets: Vec<String>,
    /// What it rests on: `From 3 earlier runs of opencode, …`.
    pub basis: String,
}
