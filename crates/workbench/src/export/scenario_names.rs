//! Readable names of scenarios, the same in a figure and in the tables beside it.

use std::collections::HashMap;

use store::episode_name;

use crate::compare::members::{Pool, PooledRun};

/// A set of scenarios and the name that one has in it.
type Key = (u32, String);

/// The readable names of scenarios that some members played.
pub(super) struct ScenarioNames(HashMap<Key, String>);

impl ScenarioNames {
    /// Made of the titles of scenarios, which only one of several runs may have. A scenario that would be called as another of
    /// its set has none.
    pub(super) fn from_pools(pools: &[Pool]) -> Self {
        let mut titles: HashMap<Key, Option<String>> = HashMap::new();
        for run in pools.iter().flat_map(|pool| &pool.runs) {
            for episode in &run.episodes {
                let (set, scenario) = run.scenario(episode);
                let title = titles.entry((set, scenario.into_owned())).or_default();
                if title.is_none() {
                    title.clone_from(&episode.title);
                }
            }
        }
        let mut names: HashMap<Key, String> = titles
            .into_iter()
            .map(|((set, scenario), title)| {
                let name = episode_name(scenario.clone(), title);
                ((set, scenario), name)
            })
            .collect();
        let mut times: HashMap<Key, u32> = HashMap::new();
        for ((set, _), name) in &names {
            *times.entry((*set, name.clone())).or_default() += 1;
        }
        names.retain(|(set, _), name| times.get(&(*set, name.clone())) == Some(&1));
        Self(names)
    }

    /// The name of a scenario that a run played, or else what the run calls it.
    pub(super) fn name<'a>(&'a self, run: &PooledRun, scenario: &'a str) -> &'a str {
        let key = (run.set, run.scenario_name(scenario).into_owned());
        self.0.get(&key).map_or(scenario, String::as_str)
    }

    /// The names of scenarios whatever their set. Where two sets call one name differently, it has none.
    pub(super) fn in_all_sets(&self) -> HashMap<&str, &str> {
        let mut found: HashMap<&str, Option<&str>> = HashMap::new();
        for ((_, scenario), name) in &self.0 {
            found
                .entry(scenario.as_str())
                .and_modify(|known| *known = known.filter(|known| *known == name.as_str()))
                .or_insert(Some(name.as_str()));
        }
        found.into_iter().filter_map(|(scenario, name)| Some((scenario, name?))).collect()
    }
}
