//! `report.json`: who played, and what the source reports of itself.

use model::{Extra, Reported};

use super::exact::SCHEMA_FAMILY;
use super::heuristic::{self, ReportEntries};
use super::json_fields;
use crate::readers::json::Node;
use crate::readers::value::{self, UnusableValues};
use files::{ReadError, Tree};

/// Largest file that is read, in bytes.
const CAP: u64 = 64 << 20;

/// What a report says.
#[derive(Debug, Clone)]
pub(super) struct ReportFile {
    root: Node,
}

impl ReportFile {
    /// Reads a report; `None` if there is none.
    pub(super) fn read(tree: &Tree, path: &str) -> Result<Option<Self>, ReadError> {
        let root = match heuristic::document(tree, path, CAP) {
            Ok(root) => root,
            Err(ReadError::Missing) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !matches!(root, Node::Map(_)) {
            return Err(ReadError::Malformed {
                code: "json.wrong_type",
                message: "The report is no object".to_owned(),
            });
        }
        Ok(Some(Self { root }))
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

    /// What it says of scenarios, in whatever way.
    pub(super) const fn entries(&self) -> ReportEntries<'_> {
        ReportEntries::new(&self.root)
    }

    /// A text of the root.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.root.get(key).and_then(Node::word)
    }

    /// A text of the `run` object in the schema of Stamina Lab.
    pub(super) fn run_text(&self, key: &str) -> Option<&str> {
        self.root.descendant(&["run", key]).and_then(Node::word)
    }

    /// A value of the `run` object.
    pub(super) fn run(&self, key: &str) -> Option<&Node> {
        self.root.descendant(&["run", key])
    }

    /// How many scenarios it counts.
    pub(super) fn tasks(&self) -> Option<u32> {
        self.root.get("num_tasks").and_then(value::count)
    }

    /// The figures of the whole run, and what of them cannot be.
    pub(super) fn reported(&self, unusable: &mut UnusableValues) -> Reported {
        unusable.take("num_tasks", self.root.get("num_tasks"), value::count);
        let shares = ["success_rate", "average_score"].map(|key| {
            let share = unusable.take(key, self.root.get(key), value::share);
            share.map(|share| (format!("staminabench.{key}"), share))
        });
        let figures = shares.into_iter().flatten();
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
            let count = value::count(self.run(key)?)?;
            Some((figure.to_owned(), f64::from(count)))
        })
    }

    /// How fast the endpoint was, as the runner of Stamina Lab measured it, in tokens a second.
    fn speeds(&self) -> impl Iterator<Item = (String, f64)> {
        let places = ["prompt", "answer"].into_iter().flat_map(|part| [(part, "median"), (part, "p10")]);
        places.filter_map(|(part, statistic)| {
            let value =
                value::figure(self.root.descendant(&["run", "tokens_per_second", part, statistic])?)?;
            (value > 0.0).then(|| (format!("stamina_lab.tokens_per_second.{part}.{statistic}"), value))
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
        json_fields::plain(&self.root, KNOWN)
    }
}
