//! What a verifier left: rewards by key, and what they decide.

use std::collections::BTreeMap;

use model::PASS_REWARD;
use sandbox::ContainerFile;
use serde_json::Value;

/// Largest file with rewards, in bytes.
const LARGEST: usize = 1 << 20;
/// The files that hold rewards, and bytes of each that are taken: more than the largest has.
pub(super) const FILES: [&str; 2] = ["reward.json", "reward.txt"];
pub(super) const TAKEN: u64 = 2 << 20;
/// Where what a verifier left is kept of a step.
pub(super) const KEPT_IN: &str = "verifier";
/// The key that decides where there are several, and that of a plain number.
const REWARD: &str = "reward";

/// The rewards of a step under their names.
pub(super) type Rewards = BTreeMap<String, f64>;

/// Why a verifier gave no rewards, in Harbor's words and in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoReward {
    pub(super) kind: &'static str,
    pub(super) message: String,
}

/// Rewards of what lies in `/logs/verifier`: `reward.json` wins over `reward.txt`.
pub(super) fn read(files: &[ContainerFile]) -> Result<Rewards, NoReward> {
    let find = |name: &str| files.iter().find(|file| file.path == name).map(|file| file.content.as_slice());
    match (find("reward.json"), find("reward.txt")) {
        (Some(json), _) => rewards_from_json(json),
        (None, Some(text)) => rewards_from_text(text),
        (None, None) => Err(NoReward {
            kind: "RewardFileNotFoundError",
            message: "The verifier left neither reward.json nor reward.txt in /logs/verifier".to_owned(),
        }),
    }
}

fn rewards_from_json(content: &[u8]) -> Result<Rewards, NoReward> {
    let bad = |message: &str| {
        Err(NoReward { kind: "VerifierOutputParseError", message: format!("reward.json {message}") })
    };
    if content.is_empty() {
        return Err(empty("reward.json"));
    }
    if content.len() > LARGEST {
        return bad("has more than 1 MiB");
    }
    // Python's reader takes NaN and Infinity, and the rule of finite numbers refuses them: so does this one.
    let Ok(Value::Object(map)) = serde_json::from_slice::<Value>(content) else {
        return bad("is no flat map of finite numbers");
    };
    let mut rewards = Rewards::new();
    for (name, value) in map {
        let number = match value {
            Value::Number(number) => number.as_f64().filter(|number| number.is_finite()),
            // What Python takes for a number.
            Value::Bool(truth) => Some(f64::from(u8::from(truth))),
            _ => None,
        };
        match number {
            Some(number) => rewards.insert(name, number),
            None => return bad("holds a value that is no finite number"),
        };
    }
    Ok(rewards)
}

fn rewards_from_text(content: &[u8]) -> Result<Rewards, NoReward> {
    if content.is_empty() {
        return Err(empty("reward.txt"));
    }
    let text = std::str::from_utf8(content).ok().filter(|text| text.len() <= LARGEST);
    match text.and_then(|text| text.trim().parse::<f64>().ok()).filter(|number| number.is_finite()) {
        Some(number) => Ok(Rewards::from([(REWARD.to_owned(), number)])),
        None => Err(NoReward {
            kind: "VerifierOutputParseError",
            message: "reward.txt holds no finite number".to_owned(),
        }),
    }
}

fn empty(name: &str) -> NoReward {
    NoReward { kind: "RewardFileEmptyError", message: format!("{name} is empty") }
}

/// Rewards under the names that the verifier gave them: a plain number has none, and stands as the one that decides. `kept_files` is
/// what is kept of the step.
pub(super) fn named_rewards(rewards: Rewards, kept_files: &[ContainerFile]) -> Option<Rewards> {
    let map = files::join(KEPT_IN, FILES[0]);
    let has_names = !rewards.is_empty() && kept_files.iter().any(|file| file.path == map);
    has_names.then_some(rewards)
}

/// The reward that decides: the one called `reward`, or the only one; `None` where several others are there.
pub(super) fn decisive(rewards: &Rewards) -> Option<f64> {
    let only = || rewards.values().next().filter(|_| rewards.len() == 1);
    rewards.get(REWARD).or_else(only).copied()
}

/// Whether rewards are a pass: the one that decides is, or all of them are. `None` = an empty map, which says nothing of it.
pub(super) fn passed(rewards: &Rewards) -> Option<bool> {
    let passes = |reward: &f64| *reward >= PASS_REWARD;
    match decisive(rewards) {
        Some(reward) => Some(passes(&reward)),
        None => (!rewards.is_empty()).then(|| rewards.values().all(passes)),
    }
}

/// The first key whose reward is below its least; one that is missing is below any. Without rewards all are missing.
pub(super) fn first_key_below(least: &Rewards, rewards: Option<&Rewards>) -> Option<String> {
    let reward_of =
        |key: &str| rewards.and_then(|rewards| rewards.get(key)).copied().unwrap_or(f64::NEG_INFINITY);
    least.iter().find(|(key, least)| reward_of(key) < **least).map(|(key, _)| key.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewards_of(files: &[(&str, &str)]) -> Result<Rewards, NoReward> {
        let files: Vec<ContainerFile> = files
            .iter()
            .map(|(path, text)| ContainerFile { path: (*path).to_owned(), content: text.as_bytes().to_vec() })
            .collect();
        read(&files)
    }

    #[test]
    fn json_wins_and_only_finite_numbers_are_rewards() {
        for (files, wanted) in [
            (vec![("reward.txt", " 1\n")], Ok(vec![("reward", 1.0)])),
            (vec![("reward.txt", "0.5")], Ok(vec![("reward", 0.5)])),
            (vec![("reward.txt", "1"), ("reward.json", "{\"a\": 0}")], Ok(vec![("a", 0.0)])),
            (
                vec![("reward.json", "{\"reward\": 1, \"case_ratio\": 0.75}")],
                Ok(vec![("case_ratio", 0.75), ("reward", 1.0)]),
            ),
            (vec![("reward.json", "{\"a\": true}")], Ok(vec![("a", 1.0)])),
            (vec![("reward.json", "{}")], Ok(vec![])),
            (vec![], Err("RewardFileNotFoundError")),
            (vec![("deep/reward.txt", "1")], Err("RewardFileNotFoundError")),
            (vec![("reward.txt", "")], Err("RewardFileEmptyError")),
            (vec![("reward.txt", "\n")], Err("VerifierOutputParseError")),
            (vec![("reward.txt", "nan")], Err("VerifierOutputParseError")),
            (vec![("reward.txt", "inf")], Err("VerifierOutputParseError")),
            (vec![("reward.txt", "yes")], Err("VerifierOutputParseError")),
            (vec![("reward.json", "{\"a\": NaN}")], Err("VerifierOutputParseError")),
            (vec![("reward.json", "{\"a\": 1e309}")], Err("VerifierOutputParseError")),
            (vec![("reward.json", "{\"a\": \"1\"}")], Err("VerifierOutputParseError")),
            (vec![("reward.json", "{\"a\": {\"b\": 1}}")], Err("VerifierOutputParseError")),
            (vec![("reward.json", "[1]")], Err("VerifierOutputParseError")),
            // A file that wins is not replaced by the other where it cannot be read.
            (vec![("reward.json", ""), ("reward.txt", "1")], Err("RewardFileEmptyError")),
        ] {
            let found = rewards_of(&files).map_err(|none| none.kind);
            let wanted = wanted.map(|list| {
                list.into_iter().map(|(name, reward)| (name.to_owned(), reward)).collect::<Rewards>()
            });
            assert_eq!(found, wanted, "{files:?}");
        }
    }

    fn rewards(list: &[(&str, f64)]) -> Rewards {
        list.iter().map(|(name, reward)| ((*name).to_owned(), *reward)).collect()
    }

    #[test]
    fn the_reward_called_reward_decides_or_the_only_one_or_all() {
        for (list, pass) in [
            (vec![("reward", 1.0)], Some(true)),
            (vec![("reward", 0.999)], Some(true)),
            (vec![("reward", 0.99)], Some(false)),
            (vec![("a", 1.0)], Some(true)),
            (vec![("reward", 1.0), ("case_ratio", 0.2)], Some(true)),
            (vec![("reward", 0.0), ("case_ratio", 1.0)], Some(false)),
            (vec![("a", 1.0), ("b", 1.0)], Some(true)),
            (vec![("a", 1.0), ("b", 0.5)], Some(false)),
            (vec![], None),
        ] {
            assert_eq!(passed(&rewards(&list)), pass, "{list:?}");
        }
        assert_eq!(decisive(&rewards(&[("a", 1.0), ("b", 1.0)])), None);
    }

    #[test]
    fn a_map_of_one_reward_keeps_its_name_and_a_plain_number_has_none() {
        let files = |name: &str| vec![ContainerFile { path: name.to_owned(), content: Vec::new() }];
        for list in [vec![("segment_pass", 1.0)], vec![("reward", 0.0)], vec![("a", 1.0), ("b", 0.5)]] {
            let rewards = rewards(&list);
            let kept = named_rewards(rewards.clone(), &files("verifier/reward.json"));
            assert_eq!(kept, Some(rewards.clone()), "{list:?}");
            // What an agent left under that name is not what the verifier left.
            for path in ["verifier/reward.txt", "artifacts/reward.json"] {
                assert_eq!(named_rewards(rewards.clone(), &files(path)), None, "{list:?} in {path}");
            }
        }
        assert_eq!(named_rewards(Rewards::new(), &files("verifier/reward.json")), None);
    }

    #[test]
    fn a_reward_that_is_missing_is_below_its_least() {
        let least = rewards(&[("segment_pass", 0.0)]);
        assert_eq!(first_key_below(&least, Some(&rewards(&[("segment_pass", 0.0)]))), None);
        assert_eq!(
            first_key_below(&least, Some(&rewards(&[("reward", 1.0)]))).as_deref(),
            Some("segment_pass")
        );
        assert_eq!(first_key_below(&least, None).as_deref(), Some("segment_pass"));
        assert_eq!(first_key_below(&Rewards::new(), None), None);
    }
}
