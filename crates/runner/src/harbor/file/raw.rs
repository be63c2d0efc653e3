//! The keys of a `task.toml`, as they are written in it. A key without a field here is unknown (`other`).

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Raw {
    // These name the task and say nothing about how it is played.
    #[serde(rename = "schema_version")]
    _schema_version: Option<Value>,
    #[serde(rename = "version")]
    _version: Option<Value>,
    #[serde(rename = "source")]
    _source: Option<Value>,
    #[serde(rename = "task")]
    _task: Option<Value>,
    pub(super) metadata: Table,
    pub(super) multi_step_reward_strategy: Option<String>,
    pub(super) agent: RawPhase,
    pub(super) verifier: RawPhase,
    pub(super) environment: RawEnvironment,
    pub(super) solution: RawSolution,
    pub(super) steps: Option<Vec<RawStep>>,
    pub(super) artifacts: Vec<RawArtifact>,
    #[serde(flatten)]
    pub(super) other: Table,
}

#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub(super) struct RawPhase {
    pub(super) timeout_sec: Option<f64>,
    pub(super) user: Option<NameOrNumber>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) network_mode: Option<String>,
    pub(super) allowed_hosts: Option<Vec<String>>,
    pub(super) environment_mode: Option<String>,
    pub(super) environment: Option<Value>,
    pub(super) collect: Vec<Value>,
    #[serde(flatten)]
    pub(super) other: Table,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct RawEnvironment {
    pub(super) docker_image: Option<String>,
    pub(super) build_timeout_sec: Option<f64>,
    pub(super) os: Option<String>,
    pub(super) cpus: Option<f64>,
    pub(super) memory_mb: Option<f64>,
    pub(super) memory: Option<NameOrNumber>,
    pub(super) storage_mb: Option<f64>,
    pub(super) storage: Option<NameOrNumber>,
    pub(super) gpus: Option<f64>,
    pub(super) gpu_types: Option<Vec<String>>,
    pub(super) tpu: Option<Value>,
    pub(super) mcp_servers: Vec<Value>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) skills_dir: Option<String>,
    pub(super) healthcheck: Option<RawHealth>,
    pub(super) workdir: Option<String>,
    pub(super) allow_internet: Option<bool>,
    pub(super) network_mode: Option<String>,
    pub(super) allowed_hosts: Option<Vec<String>>,
    #[serde(flatten)]
    pub(super) other: Table,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct RawSolution {
    pub(super) env: BTreeMap<String, String>,
    #[serde(flatten)]
    pub(super) other: Table,
}

#[derive(Deserialize)]
pub(super) struct RawStep {
    pub(super) name: String,
    #[serde(default)]
    pub(super) agent: RawPhase,
    #[serde(default)]
    pub(super) verifier: RawPhase,
    pub(super) min_reward: Option<RawReward>,
    pub(super) healthcheck: Option<RawHealth>,
    #[serde(default)]
    pub(super) artifacts: Vec<RawArtifact>,
    #[serde(flatten)]
    pub(super) other: Table,
}

#[derive(Deserialize, Clone)]
pub(super) struct RawHealth {
    pub(super) command: String,
    pub(super) interval_sec: Option<f64>,
    pub(super) timeout_sec: Option<f64>,
    pub(super) start_period_sec: Option<f64>,
    pub(super) start_interval_sec: Option<f64>,
    pub(super) retries: Option<u32>,
    #[serde(flatten)]
    pub(super) other: Table,
}

#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub(super) enum NameOrNumber {
    Number(i64),
    Name(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RawReward {
    Number(f64),
    Keyed(BTreeMap<String, f64>),
}

#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub(super) enum RawArtifact {
    Path(String),
    Entry {
        source: String,
        destination: Option<String>,
        #[serde(default)]
        exclude: Vec<String>,
        service: Option<String>,
    },
}

impl From<NameOrNumber> for String {
    fn from(value: NameOrNumber) -> Self {
        match value {
            NameOrNumber::Number(number) => number.to_string(),
            NameOrNumber::Name(name) => name,
        }
    }
}
