//! Which scenario names mean the same scenario.
//!
//! Inside a benchmark the same name is the same scenario, except where scenarios are generated from a seed: StaminaBench
//! names them `scenario_0`, `scenario_1`, … whatever the seed, so runs of different seeds share names and nothing else.
//! The hash of a pack identifies its content, or else what generated it: a folder's name says nothing, and it may be written
//! in several ways. Everywhere else a name means what it says.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use ingest::formats::table;
use model::Benchmark;
use serde_json::Value;
use store::RunRecord;

/// What decides which scenarios are drawn, by the last part of the setting's name.
const DRAWN_BY: [&str; 3] = ["base_seed", "num_changes_per_turn", "use_llm_sampler"];
/// Which model samples, where one does.
const SAMPLER: &str = "llm_sampler_model_id";

/// The benchmark whose scenarios are folders with numbers; its variants have a word behind a colon.
const STAMINA_BENCH: &str = "staminabench";

/// Stands between the number of a set and the name of a scenario.
const MARK: char = '\u{1f}';

/// The setting under which the hash of the pack that was played is kept.
pub(crate) const PACK: &str = "pack_sha256";

/// What a run says of its scenarios: the hash of their pack, and what they were drawn by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct StatedSet {
    benchmark: String,
    pack: Option<String>,
    drawn: Option<String>,
}

impl StatedSet {
    fn from_run(run: &RunRecord) -> Self {
        let setting = |key: &str| run.run.settings.get(key).and_then(Value::as_str).map(str::to_owned);
        let table_set = || setting(table::SCENARIO_SET).filter(|_| run.entry.format == table::FORMAT);
        let pack = setting(PACK).or_else(table_set);
        Self { benchmark: run.entry.benchmark.key.clone(), pack, drawn: drawn_by(run) }
    }
}

/// Numbers of the sets of scenarios among some runs.
pub(crate) struct ScenarioSets {
    sets: BTreeMap<StatedSet, u32>,
}

impl ScenarioSets {
    /// The sets that these runs play.
    pub(crate) fn from_runs<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> Self {
        let stated: BTreeSet<StatedSet> = runs.map(StatedSet::from_run).collect();
        let mut sets: BTreeMap<StatedSet, u32> = BTreeMap::new();
        let mut next = 0;
        // Who says most goes first: a run that says less is taken to play what the others play, if that is one set.
        let with_pack = stated.iter().filter(|set| set.pack.is_some());
        let drawn = stated.iter().filter(|set| set.pack.is_none() && set.drawn.is_some());
        let silent = stated.iter().filter(|set| set.pack.is_none() && set.drawn.is_none());
        for own in with_pack.chain(drawn).chain(silent) {
            let may_be = |other: &StatedSet| {
                let (a, b) = (own, other);
                a.benchmark == b.benchmark
                    && match (&a.pack, &b.pack) {
                        (Some(a), Some(b)) => a == b,
                        _ => a.drawn.is_none() || b.drawn.is_none() || a.drawn == b.drawn,
                    }
            };
            let found: BTreeSet<u32> =
                sets.iter().filter(|(other, _)| may_be(other)).map(|(_, set)| *set).collect();
            let set = match (found.first(), found.len()) {
                (Some(set), 1) => *set,
                _ => {
                    next += 1;
                    next - 1
                }
            };
            sets.insert(own.clone(), set);
        }
        Self { sets }
    }

    /// The set of a run.
    pub(crate) fn set(&self, run: &RunRecord) -> u32 {
        self.sets.get(&StatedSet::from_run(run)).copied().unwrap_or(0)
    }

    /// A text that is the same exactly for the same scenario. `scenario` is its [`scenario_name`].
    pub(crate) fn identity(set: u32, scenario: &str) -> String {
        format!("{set}{MARK}{scenario}")
    }

    /// The name in such a text.
    pub(crate) fn name_of(identity: &str) -> &str {
        identity.split_once(MARK).map_or(identity, |(_, name)| name)
    }
}

/// The name of a scenario in its benchmark: within a run and among runs, equal names mean the same scenario.
pub(crate) fn scenario_name<'a>(benchmark: &Benchmark, scenario: &'a str) -> Cow<'a, str> {
    let has_folders = benchmark.key.split(':').next() == Some(STAMINA_BENCH);
    if has_folders { plain(scenario) } else { Cow::Borrowed(scenario) }
}

/// The name of a scenario of StaminaBench, however its folder was called: `scenario-3` and `Scenario_03` are `scenario_3`.
fn plain(scenario: &str) -> Cow<'_, str> {
    let number = scenario
        .get(..8)
        .filter(|word| word.eq_ignore_ascii_case("scenario"))
        .map(|_| scenario[8..].trim_start_matches(['-', '_', ' ']))
        .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|digits| digits.parse::<u32>().ok());
    number.map_or(Cow::Borrowed(scenario), |number| Cow::Owned(format!("scenario_{number}")))
}

/// What the scenarios of a run are drawn by, in words, also where they were drawn before and taken from a folder; `None` =
/// not drawn, or not said.
fn drawn_by(run: &RunRecord) -> Option<String> {
    if run.entry.format != "staminabench" {
        return None;
    }
    let find = |name: &str| {
        run.run.settings.iter().find(|(key, _)| key.rsplit('.').next() == Some(name)).map(|(_, value)| value)
    };
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
        assert_eq!(ScenarioSets::name_of(&ScenarioSets::identity(2, "scenario_3")), "scenario_3");
        let benchmark = |key: &str| Benchmark { key: key.to_owned(), name: String::new() };
        for key in ["staminabench", "staminabench:single-turn"] {
            assert_eq!(scenario_name(&benchmark(key), "scenario-03"), "scenario_3", "{key}");
        }
        for key in ["table", "harbor:ds", "staminabench-2"] {
            assert_eq!(scenario_name(&benchmark(key), "scenario-03"), "scenario-03", "{key}");
        }
    }
}
