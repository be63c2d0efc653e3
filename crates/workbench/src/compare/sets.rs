//! Which scenario names mean the same scenario.
//!
//! Inside a benchmark the same name is the same scenario, except where scenarios are drawn from a seed: StaminaBench
//! names them `scenario_0`, `scenario_1`, … whatever the seed, so runs of different seeds share names and nothing else.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use store::RunRecord;

/// What decides which scenarios are drawn, by the last part of the setting's name.
const DRAWN_BY: [&str; 3] = ["base_seed", "num_changes_per_turn", "use_llm_sampler"];
/// Which model samples, where one does.
const SAMPLER: &str = "llm_sampler_model_id";

/// Stands between the number of a set and the name of a scenario.
const MARK: char = '\u{1f}';

/// Numbers of the sets of scenarios among some runs.
pub(crate) struct ScenarioSets {
    /// By benchmark: what they are drawn by.
    sets: BTreeMap<(String, Option<String>), u32>,
}

impl ScenarioSets {
    /// The sets that these runs play.
    pub(crate) fn of<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> Self {
        let mut known: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
        for run in runs {
            let drawn = known.entry(run.entry.benchmark.key.clone()).or_default();
            let by = drawn_by(run);
            if !drawn.contains(&by) {
                drawn.push(by);
            }
        }
        let mut sets = BTreeMap::new();
        let mut next = 0;
        for (benchmark, mut drawn) in known {
            // A run that does not say is taken to play what the first that says so plays.
            drawn.sort_by_key(Option::is_none);
            let first = next;
            for by in drawn {
                let set = if by.is_none() { first } else { next };
                next = next.max(set + 1);
                sets.insert((benchmark.clone(), by), set);
            }
        }
        Self { sets }
    }

    /// The set of a run.
    pub(crate) fn set(&self, run: &RunRecord) -> u32 {
        self.sets.get(&(run.entry.benchmark.key.clone(), drawn_by(run))).copied().unwrap_or(0)
    }

    /// A text that is the same exactly for the same scenario.
    pub(crate) fn identity(set: u32, scenario: &str) -> String {
        format!("{set}{MARK}{}", plain(scenario))
    }

    /// The name in such a text.
    pub(crate) fn name_of(identity: &str) -> &str {
        identity.split_once(MARK).map_or(identity, |(_, name)| name)
    }
}

/// The name of a scenario, however its folder was called: `scenario-3` and `Scenario_03` are `scenario_3`.
pub(crate) fn plain(scenario: &str) -> Cow<'_, str> {
    let number = scenario
        .get(..8)
        .filter(|word| word.eq_ignore_ascii_case("scenario"))
        .map(|_| scenario[8..].trim_start_matches(['-', '_', ' ']))
        .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|digits| digits.parse::<u32>().ok());
    number.map_or(Cow::Borrowed(scenario), |number| Cow::Owned(format!("scenario_{number}")))
}

/// What the scenarios of a run are drawn by, in words; `None` = not drawn, or not said, or taken from a folder.
pub(crate) fn drawn_by(run: &RunRecord) -> Option<String> {
    if run.entry.format != "staminabench" {
        return None;
    }
    let find = |name: &str| {
        run.run.settings.iter().find(|(key, _)| key.rsplit('.').next() == Some(name)).map(|(_, value)| value)
    };
    if find("scenarios_dir").is_some_and(|dir| !dir.is_null()) {
        return None;
    }
    find("base_seed").filter(|seed| !seed.is_null())?;
    let by_model = find("use_llm_sampler") == Some(&Value::Bool(true));
    let parts: Vec<String> = DRAWN_BY
        .iter()
        .chain(by_model.then_some(&SAMPLER))
        .map(|name| find(name).unwrap_or(&Value::Null).to_string())
        .collect();
    Some(parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_the_same_however_its_folder_is_called() {
        for name in ["scenario_3", "scenario-3", "Scenario 03", "scenario3"] {
            assert_eq!(plain(name), "scenario_3", "{name}");
        }
        for name in ["scenario_", "scenario_x", "scenarios_3", "théâtre_3", "scenario_99999999999"] {
            assert_eq!(plain(name), name);
        }
        assert_eq!(ScenarioSets::name_of(&ScenarioSets::identity(2, "scenario-3")), "scenario_3");
    }
}
