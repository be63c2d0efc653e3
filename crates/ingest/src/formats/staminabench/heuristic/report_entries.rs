//! What a `report.json` says of scenarios: the entries of its lists, found by the names or the places of the scenarios.

use model::Extra;

use super::field_names;
use crate::formats::staminabench::folder_names::scenario_number;
use crate::formats::staminabench::json_fields::{kept_value, normal};
use crate::readers::json::Node;
use crate::readers::value::{self, UnusableValues};

/// The entries of a report.
#[derive(Debug, Clone, Copy)]
pub(in crate::formats::staminabench) struct ReportEntries<'a> {
    root: &'a Node,
}

/// What a report says of one scenario.
#[derive(Debug, Default)]
pub(in crate::formats::staminabench) struct ScenarioEntries {
    /// Figures under the source's names.
    pub(in crate::formats::staminabench) figures: Vec<(String, f64)>,
    /// The rest.
    pub(in crate::formats::staminabench) extra: Extra,
    /// Figures that cannot be; they are in the rest, too.
    pub(in crate::formats::staminabench) unusable: UnusableValues,
}

impl<'a> ReportEntries<'a> {
    /// Those of the report with this root.
    pub(in crate::formats::staminabench) const fn new(root: &'a Node) -> Self {
        Self { root }
    }

    /// Turns a scenario, where the report says so.
    pub(in crate::formats::staminabench) fn planned_turns(self) -> Option<u32> {
        self.planned().and_then(value::count)
    }

    /// The same as it stands.
    pub(in crate::formats::staminabench) fn planned(self) -> Option<&'a Node> {
        let mut keys = field_names::PLANNED.iter();
        keys.find_map(|key| self.root.get(key).or_else(|| self.root.descendant(&["run", key])))
    }

    /// The entries of scenarios that have no folder, by list and name.
    pub(in crate::formats::staminabench) fn without_folder(
        self,
        folders: &[String],
    ) -> Vec<(String, serde_json::Value)> {
        let has_folder = |name: &str| {
            let number = scenario_number(name).or_else(|| name.parse().ok());
            folders.iter().any(|f| f == name || (number.is_some() && scenario_number(f) == number))
        };
        let mut missing = Vec::new();
        for list_name in ["results", "trajectory_summaries"] {
            let Some(list) = self.root.get(list_name) else { continue };
            for (index, entry) in list.list().iter().enumerate() {
                let name = entry
                    .map()
                    .iter()
                    .find(|(k, _)| NAMES.contains(&normal(k).as_str()))
                    .map(|(_, v)| v.text().map_or_else(|| v.to_value().to_string(), str::to_owned));
                let missed = match &name {
                    Some(name) => !has_folder(name),
                    // Nameless entries stand at their scenario's place.
                    None => index >= folders.len(),
                };
                if missed && !entry.map().is_empty() {
                    missing.push((
                        format!("{list_name}.{}", name.unwrap_or_else(|| index.to_string())),
                        kept_value(entry),
                    ));
                }
            }
            for (name, entry) in list.map().iter().filter(|(name, _)| !has_folder(name)) {
                missing.push((format!("{list_name}.{name}"), kept_value(entry)));
            }
        }
        missing
    }

    /// What it says of a scenario: the entries that name it, or that stand at its place.
    pub(in crate::formats::staminabench) fn scenario_entries(
        self,
        name: &str,
        position: Option<usize>,
        scenarios: usize,
    ) -> ScenarioEntries {
        let mut found = ScenarioEntries::default();
        for list_name in ["results", "trajectory_summaries"] {
            let Some(entry) =
                self.root.get(list_name).and_then(|list| find_entry(list, name, position, scenarios))
            else {
                continue;
            };
            for (key, value) in entry.map() {
                let figure = if normal(key) == "success_rate" {
                    found.unusable.take(key, Some(value), value::share)
                } else if field_names::SCORE.contains(&normal(key).as_str()) {
                    found.unusable.take(key, Some(value), value::reward)
                } else {
                    None
                };
                if let Some(number) = figure {
                    let key = format!("staminabench.{key}");
                    if !found.figures.iter().any(|(k, _)| *k == key) {
                        found.figures.push((key, number));
                    }
                } else if *value != Node::Null && found.extra.len() < 64 {
                    found.extra.insert(format!("report.{list_name}.{key}"), kept_value(value));
                }
            }
        }
        found
    }
}

/// Names under which an entry says its scenario.
const NAMES: &[&str] = &[
    "scenario",
    "scenario_id",
    "scenario_name",
    "scenario_idx",
    "task",
    "task_id",
    "name",
    "id",
    "episode",
    "episode_id",
    "index",
];

/// The entry of a scenario in a list or map of the report.
fn find_entry<'a>(list: &'a Node, name: &str, position: Option<usize>, scenarios: usize) -> Option<&'a Node> {
    let number = scenario_number(name);
    let names_scenario = |value: &Node| match value {
        Node::Text(text, _) => text == name || (number.is_some() && scenario_number(text) == number),
        value => number.is_some() && value.count() == number.map(u64::from),
    };
    let named = list
        .list()
        .iter()
        .find(|e| e.map().iter().any(|(k, v)| NAMES.contains(&normal(k).as_str()) && names_scenario(v)));
    let keyed = || {
        list.map()
            .iter()
            .find(|(k, _)| k == name || (number.is_some() && scenario_number(k) == number))
            .map(|(_, v)| v)
    };
    // By position only where every scenario has its entry and none says its name.
    let by_place = || {
        let nameless = list.list().len() == scenarios
            && !list.list().iter().any(|e| e.map().iter().any(|(k, _)| NAMES.contains(&normal(k).as_str())));
        position.filter(|_| nameless).and_then(|i| list.list().get(i))
    };
    named.or_else(keyed).or_else(by_place)
}
