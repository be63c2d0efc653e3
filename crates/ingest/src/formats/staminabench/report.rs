//! `report.json`: who played, and what the source reports of itself.

use model::{Extra, Reported};

use super::facts::kept;
use super::fields;
use super::lean::Lean;
use super::names;
use super::own::SCHEMA_FAMILY;
use super::words::{self, normal};
use crate::readers::json::Node;
use files::{ReadError, Tree};

/// Largest file that is read, in bytes.
const CAP: u64 = 64 << 20;

/// What a report says.
#[derive(Debug, Clone)]
pub(super) struct ReportFile {
    root: Node,
}

/// What a report says of one scenario.
#[derive(Debug, Default)]
pub(super) struct OfScenario {
    /// Figures under the source's names.
    pub(super) figures: Vec<(String, f64)>,
    /// The rest.
    pub(super) extra: Extra,
}

impl ReportFile {
    /// Reads a report; `None` if there is none.
    pub(super) fn read(tree: &Tree, path: &str) -> Result<Option<Self>, ReadError> {
        let mut lean = Lean::default();
        match tree.read_json_into(path, CAP, &mut lean) {
            Ok(()) => {}
            Err(ReadError::Missing) => return Ok(None),
            Err(error) => return Err(error),
        }
        if !matches!(lean.root, Node::Map(_)) {
            return Err(ReadError::Malformed {
                code: "json.wrong_type",
                what: "The report is no object".to_owned(),
            });
        }
        Ok(Some(Self { root: lean.root }))
    }

    /// Whether it has the fields that the README shows.
    pub(super) fn is_report(&self) -> bool {
        ["agent", "benchmark", "success_rate", "average_score", "num_tasks"]
            .iter()
            .filter(|k| self.root.get(k).is_some())
            .count()
            >= 3
    }

    /// Whether it is in Stamina Lab's own schema.
    pub(super) fn is_own(&self) -> bool {
        self.root.get("schema_version").and_then(Node::text).is_some_and(|v| v.starts_with(SCHEMA_FAMILY))
    }

    /// A text of the root.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.root.get(key).and_then(Node::word)
    }

    /// A text of the `run` object in the schema of Stamina Lab.
    pub(super) fn run_text(&self, key: &str) -> Option<&str> {
        self.root.at(&["run", key]).and_then(Node::word)
    }

    /// A value of the `run` object.
    pub(super) fn run(&self, key: &str) -> Option<&Node> {
        self.root.at(&["run", key])
    }

    /// How many scenarios it counts.
    pub(super) fn tasks(&self) -> Option<u32> {
        self.root.get("num_tasks").and_then(Node::count).and_then(|n| u32::try_from(n).ok())
    }

    /// Turns a scenario, where the report says so.
    pub(super) fn turns(&self) -> Option<u32> {
        words::PLANNED
            .iter()
            .find_map(|key| self.root.get(key).or_else(|| self.root.at(&["run", key])))
            .and_then(Node::count)
            .and_then(|n| u32::try_from(n).ok())
    }

    /// The figures of the whole run.
    pub(super) fn reported(&self) -> Reported {
        let figures = ["success_rate", "average_score"]
            .into_iter()
            .filter_map(|key| Some((format!("staminabench.{key}"), self.root.get(key)?.number()?)));
        let figures = figures.chain(self.speeds()).chain(self.endpoint_attempts());
        Reported { figures: figures.collect(), ..Reported::default() }
    }

    /// Attempts that the model's endpoint cost, as the runner of Stamina Lab counted them. What it did not count is absent.
    fn endpoint_attempts(&self) -> impl Iterator<Item = (String, f64)> {
        let counts = [
            ("attempts_retried_for_endpoint", "stamina_lab.attempts_retried_for_endpoint"),
            ("attempts_lost_to_endpoint", "stamina_lab.attempts_lost_to_endpoint"),
        ];
        counts.into_iter().filter_map(|(key, figure)| {
            let count = u32::try_from(self.run(key)?.count()?).ok()?;
            Some((figure.to_owned(), f64::from(count)))
        })
    }

    /// How fast the endpoint was, as the runner of Stamina Lab measured it, in tokens a second.
    fn speeds(&self) -> impl Iterator<Item = (String, f64)> {
        let places = ["prompt", "answer"].into_iter().flat_map(|part| [(part, "median"), (part, "p10")]);
        places.filter_map(|(part, of)| {
            let value = self.root.at(&["run", "tokens_per_second", part, of])?.number()?;
            (value > 0.0).then(|| (format!("stamina_lab.tokens_per_second.{part}.{of}"), value))
        })
    }

    /// The fields that are not known.
    pub(super) fn extra(&self) -> Extra {
        const KNOWN: &[&str] = &[
            "schema_version",
            "agent",
            "benchmark",
            "success_rate",
            "average_score",
            "num_tasks",
            "results",
            "trajectory_summaries",
            "run",
        ];
        fields::plain(&self.root, KNOWN)
    }

    /// The entries of scenarios that have no folder, by list and name.
    pub(super) fn without_folder(&self, folders: &[String]) -> Vec<(String, serde_json::Value)> {
        let has_folder = |name: &str| {
            let number = names::scenario_number(name).or_else(|| name.parse().ok());
            folders.iter().any(|f| f == name || (number.is_some() && names::scenario_number(f) == number))
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
                        kept(entry),
                    ));
                }
            }
            for (name, entry) in list.map().iter().filter(|(name, _)| !has_folder(name)) {
                missing.push((format!("{list_name}.{name}"), kept(entry)));
            }
        }
        missing
    }

    /// What it says of a scenario: the entries that name it, or that stand at its place.
    pub(super) fn of_scenario(&self, name: &str, position: Option<usize>, scenarios: usize) -> OfScenario {
        let mut found = OfScenario::default();
        for list_name in ["results", "trajectory_summaries"] {
            let Some(entry) =
                self.root.get(list_name).and_then(|list| entry_of(list, name, position, scenarios))
            else {
                continue;
            };
            for (key, value) in entry.map() {
                let figure = words::SCORE.contains(&normal(key).as_str()) || normal(key) == "success_rate";
                if let Some(number) = value.number().filter(|_| figure && !matches!(value, Node::Text(..))) {
                    let key = format!("staminabench.{key}");
                    if !found.figures.iter().any(|(k, _)| *k == key) {
                        found.figures.push((key, number));
                    }
                } else if *value != Node::Null && found.extra.len() < 64 {
                    found.extra.insert(format!("report.{list_name}.{key}"), kept(value));
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
fn entry_of<'a>(list: &'a Node, name: &str, position: Option<usize>, scenarios: usize) -> Option<&'a Node> {
    let number = names::scenario_number(name);
    let is_it = |value: &Node| match value {
        Node::Text(text, _) => text == name || (number.is_some() && names::scenario_number(text) == number),
        value => number.is_some() && value.count() == number.map(u64::from),
    };
    let named = list
        .list()
        .iter()
        .find(|e| e.map().iter().any(|(k, v)| NAMES.contains(&normal(k).as_str()) && is_it(v)));
    let keyed = || {
        list.map()
            .iter()
            .find(|(k, _)| k == name || (number.is_some() && names::scenario_number(k) == number))
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
