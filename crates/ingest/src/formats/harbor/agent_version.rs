//! Versions of the agent that are not the same in all trials of a run, for example of a job that was resumed weeks later.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::readers::json::{Node, Object};
use files::{Tree, join};

use super::agent_settings::VALUES;

/// Most bytes of a result that is read for the version alone.
const CAP: u64 = 8 << 20;
/// Harbor's word for a version that the agent does not say.
const UNKNOWN: &str = "unknown";

/// The versions of the agent that the trials of a run were played with. A trial without a result says none.
#[derive(Debug, Default)]
pub(super) struct AgentVersions(BTreeSet<String>);

impl AgentVersions {
    /// Those that the results of these trials say. `first` is the `agent_info` of one of them.
    pub(super) fn of_trials(tree: &Tree, trials: &[String], first: Option<&Node>) -> Self {
        let mut versions: BTreeSet<String> =
            trials.iter().filter_map(|trial| version(&agent_info(tree, trial)?)).collect();
        versions.extend(first.and_then(version));
        Self(versions)
    }

    /// Whether there are several.
    pub(super) fn differ(&self) -> bool {
        self.0.len() > 1
    }

    /// All of them; `None` = none is known, or there are too many.
    pub(super) fn shown(&self) -> Option<String> {
        let all: Vec<&str> = self.0.iter().map(String::as_str).collect();
        (1..=VALUES).contains(&all.len()).then(|| all.join(", "))
    }
}

/// What a trial's result says of its agent, without holding what else is in it.
fn agent_info(tree: &Tree, trial: &str) -> Option<Node> {
    #[derive(Deserialize)]
    struct TrialResult {
        agent_info: Option<Node>,
    }
    let result: Object<TrialResult> = tree.read_json(&join(trial, "result.json"), CAP).ok()?;
    result.0.agent_info
}

fn version(agent_info: &Node) -> Option<String> {
    agent_info.get("version").and_then(Node::word).filter(|version| *version != UNKNOWN).map(str::to_owned)
}
