//! Rewards of a step: which of them decides, and the warning about one that cannot be a reward.

use model::{PASS_REWARD, Warning};

use crate::format_trait::Report;
use crate::readers::json::Node;
use crate::readers::value;
use files::{Tree, join};

use super::layout::is_file;

const REWARD_CAP: u64 = 1 << 20;
const NO_VERDICT: &str = "The step has no verdict.";

/// The rewards of a step under their names, in the order of the file. `None` is one that is no finite number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rewards(Vec<(String, Option<f64>)>);

/// What rewards come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Decision {
    /// The decisive reward.
    Reward(f64),
    /// There are several and none is decisive: whether all of them are passes.
    All(bool),
    /// A reward that decides is no number.
    Unreadable,
}

impl Decision {
    /// Whether the step passed; `None` without a verdict.
    pub(super) fn passed(self) -> Option<bool> {
        match self {
            Self::Reward(reward) => Some(reward >= PASS_REWARD),
            Self::All(passed) => Some(passed),
            Self::Unreadable => None,
        }
    }
}

impl Rewards {
    /// Those of a result; `None` where there are none.
    pub(super) fn from_result(node: &Node) -> Option<Self> {
        let rewards = node.map().iter().map(|(name, reward)| (name.clone(), value::reward(reward))).collect();
        Some(Self(rewards)).filter(|rewards| !rewards.0.is_empty())
    }

    /// Those of a step's entry in the result; `None` where it has none. What is no map of rewards cannot be read.
    pub(super) fn from_step(step: &Node) -> Option<Self> {
        let result = step.get("verifier_result")?;
        let rewards = match result {
            Node::Map(_) => result.get("rewards")?,
            other => other,
        };
        let is_map = matches!((result, rewards), (Node::Map(_), Node::Map(_)));
        if is_map { Self::from_result(rewards) } else { Some(Self::unreadable()) }
    }

    /// Those that the verifier left in files; `None` where it left none. `reward.json` wins over `reward.txt`, as in
    /// Harbor.
    pub(super) fn from_files(tree: &Tree, folder: &str, report: &mut Report) -> Option<Self> {
        let verifier = join(folder, "verifier");
        let json = join(&verifier, "reward.json");
        if is_file(tree, &json) {
            return match tree.read_json::<Node>(&json, REWARD_CAP) {
                Ok(node) => Some(Self::from_result(&node).unwrap_or_else(Self::unreadable)),
                Err(error) => {
                    report.unreadable(&json, &error, NO_VERDICT);
                    Some(Self::unreadable())
                }
            };
        }
        let path = join(&verifier, "reward.txt");
        if !is_file(tree, &path) {
            return None;
        }
        match tree.read_text(&path, REWARD_CAP) {
            Ok((text, _)) => {
                let reward = text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
                Some(Self(vec![("reward".to_owned(), reward)]))
            }
            Err(error) => {
                report.unreadable(&path, &error, NO_VERDICT);
                Some(Self::unreadable())
            }
        }
    }

    fn unreadable() -> Self {
        Self(vec![("reward".to_owned(), None)])
    }

    /// `reward` decides, or the only one there is; of others all must be passes. One that is no number is not left
    /// out before that.
    pub(super) fn decide(&self) -> Decision {
        let decisive = match &self.0[..] {
            [(_, only)] => Some(only),
            all => all.iter().find(|(name, _)| name == "reward").map(|(_, reward)| reward),
        };
        match decisive {
            Some(Some(reward)) => Decision::Reward(*reward),
            Some(None) => Decision::Unreadable,
            None => self
                .0
                .iter()
                .map(|(_, reward)| reward.map(|r| r >= PASS_REWARD))
                .collect::<Option<Vec<bool>>>()
                .map_or(Decision::Unreadable, |all| Decision::All(all.into_iter().all(|passed| passed))),
        }
    }

    /// Whether each of them is a pass: a task may ask for a least one of any of them.
    pub(super) fn all_pass(&self) -> bool {
        self.0.iter().all(|(_, reward)| reward.is_some_and(|reward| reward >= PASS_REWARD))
    }

    /// Says what of the rewards of the step in `folder` is not plain.
    pub(super) fn warn(&self, folder: &str, report: &mut Report) {
        match self.decide() {
            Decision::Unreadable => report.warn(Warning::skipped(
                folder,
                "harbor.reward_unreadable",
                format!("The reward that decides is no number. {NO_VERDICT}"),
            )),
            Decision::All(_) => report.warn(Warning::read_differently(
                folder,
                "harbor.reward_unclear",
                "There are several rewards and none is named `reward`: the step counts as passed if all are at least 0.999.",
            )),
            Decision::Reward(reward) if !(0.0..=1.0).contains(&reward) => {
                report.warn(value::reward_range(folder, "", reward));
            }
            Decision::Reward(_) => {}
        }
    }

    /// All of them, where there is more to show than the decisive one.
    pub(super) fn shown(&self) -> Option<serde_json::Value> {
        let all = || self.0.iter().map(|(name, reward)| (name.clone(), (*reward).into())).collect();
        (self.0.len() > 1).then(|| serde_json::Value::Object(all()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reward_that_is_no_number_is_no_verdict() {
        for (json, want) in [
            (r#"{"reward": 1}"#, Decision::Reward(1.0)),
            (r#"{"accuracy": 0.5}"#, Decision::Reward(0.5)),
            (r#"{"format": 0, "reward": 1}"#, Decision::Reward(1.0)),
            (r#"{"format": null, "reward": 1}"#, Decision::Reward(1.0)),
            (r#"{"a": 1, "b": 1}"#, Decision::All(true)),
            (r#"{"a": 1, "b": 0.5}"#, Decision::All(false)),
            (r#"{"reward": null, "format": 1}"#, Decision::Unreadable),
            (r#"{"reward": "n/a", "format": 1}"#, Decision::Unreadable),
            (r#"{"accuracy": null, "format": 1}"#, Decision::Unreadable),
            (r#"{"accuracy": null}"#, Decision::Unreadable),
            (r#"{"reward": "NaN"}"#, Decision::Unreadable),
            (r#"{"reward": "1.0"}"#, Decision::Unreadable),
            (r#"{"reward": true}"#, Decision::Reward(1.0)),
        ] {
            let node: Node = serde_json::from_str(json).unwrap();
            assert_eq!(Rewards::from_result(&node).unwrap().decide(), want, "{json}");
        }
        for (json, want) in [
            (r#"{"verifier_result": {"rewards": {"reward": 1}}}"#, Some(Decision::Reward(1.0))),
            (r#"{"verifier_result": {"rewards": [1.0]}}"#, Some(Decision::Unreadable)),
            (r#"{"verifier_result": {"rewards": 1.0}}"#, Some(Decision::Unreadable)),
            (r#"{"verifier_result": {"rewards": "1.0"}}"#, Some(Decision::Unreadable)),
            (r#"{"verifier_result": 1.0}"#, Some(Decision::Unreadable)),
            (r#"{"verifier_result": {"rewards": {}}}"#, None),
            (r#"{"verifier_result": {"rewards": null}}"#, None),
            (r#"{"verifier_result": null}"#, None),
            (r"{}", None),
        ] {
            let node: Node = serde_json::from_str(json).unwrap();
            assert_eq!(Rewards::from_step(&node).map(|rewards| rewards.decide()), want, "{json}");
        }
        assert_eq!(Rewards::from_result(&Node::Map(Vec::new())), None);
        assert_eq!(Rewards::from_result(&Node::Null), None);
    }
}
