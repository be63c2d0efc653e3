//! Versions of the agent that are not the same in all trials of a run, for example of a job that was resumed weeks later.

use std::collections::{BTreeSet, HashMap};
use std::sync::{LazyLock, Mutex};

use model::lock;
use serde::Deserialize;

use crate::readers::json::{Node, Object};
use files::{ReadError, Stamp, Tree, join};

use super::agent_settings::VALUES;

/// Most bytes of a result that is read for the version alone.
const CAP: u64 = 8 << 20;
/// Harbor's word for a version that the agent does not say.
const UNKNOWN: &str = "unknown";
/// Most results of which the version is kept. Then all are forgotten.
const MOST_KEPT: usize = 100_000;
/// Most bytes of a version that is kept.
const LONGEST_KEPT: usize = 200;

/// The version of each result that was read, by its place and stamp: a survey opens no result of an unchanged source again.
static KEPT: LazyLock<Mutex<HashMap<u64, Option<String>>>> = LazyLock::new(Mutex::default);

/// The versions of the agent that the trials of a run were played with. A trial without a result says none.
#[derive(Debug, Default)]
pub(super) struct AgentVersions(BTreeSet<String>);

impl AgentVersions {
    /// Those that the results of these trials say. `first` is the `agent_info` of one of them.
    pub(super) fn from_trials(tree: &Tree, trials: &[String], first: Option<&Node>) -> Self {
        let mut versions: BTreeSet<String> =
            trials.iter().filter_map(|trial| version_in_result(tree, &join(trial, "result.json"))).collect();
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

/// The version that a trial's result says, read once.
fn version_in_result(tree: &Tree, path: &str) -> Option<String> {
    let stamp = tree.entry(path)?.stamp;
    let key = Stamp::new().text(&tree.root().to_string_lossy()).text(path).number(stamp).finish();
    let kept = lock(&KEPT).get(&key).cloned();
    if let Some(kept) = kept {
        return kept;
    }
    // What cannot be read now may be read the next time.
    let read = agent_info(tree, path).ok()?.as_ref().and_then(version);
    if read.as_ref().is_none_or(|version| version.len() <= LONGEST_KEPT) {
        let mut kept = lock(&KEPT);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, read.clone());
    }
    read
}

/// What a result says of its agent, without holding what else is in it.
fn agent_info(tree: &Tree, path: &str) -> Result<Option<Node>, ReadError> {
    #[derive(Deserialize)]
    struct TrialResult {
        agent_info: Option<Node>,
    }
    let result: Object<TrialResult> = tree.read_json(path, CAP)?;
    Ok(result.0.agent_info)
}

fn version(agent_info: &Node) -> Option<String> {
    agent_info.get("version").and_then(Node::word).filter(|version| *version != UNKNOWN).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_result_that_has_not_changed_is_not_opened_again() {
        let room = tempfile::tempdir().unwrap();
        let result = room.path().join("trial/result.json");
        fs::create_dir(room.path().join("trial")).unwrap();
        let write = |version: &str, time: SystemTime| {
            fs::write(&result, format!("{{\"agent_info\": {{\"version\": \"{version}\"}}}}")).unwrap();
            File::options().write(true).open(&result).unwrap().set_modified(time).unwrap();
        };
        let shown = || {
            let tree = Tree::open(room.path()).unwrap();
            AgentVersions::from_trials(&tree, &["trial".to_owned()], None).shown()
        };
        let time = SystemTime::now();
        write("1.0", time);
        assert_eq!(shown().as_deref(), Some("1.0"));
        // Its stamp says that nothing has changed.
        write("2.0", time);
        assert_eq!(shown().as_deref(), Some("1.0"));
        write("2.0", time + Duration::from_secs(1));
        assert_eq!(shown().as_deref(), Some("2.0"));
    }
}
