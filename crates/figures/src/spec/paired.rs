//! Two runs on the same scenarios.

use analysis::survival::deserialize_horizon;
use model::counted;
use serde::{Deserialize, Serialize};

use super::label::SeriesLabel;

/// Two runs, scenario by scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedScenarios {
    /// Whether the values are pass rates in percent, of runs of one turn. They are turns otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_rates: bool,
    /// How many turns count, if an episode of either run passed more of them; `None` = every turn counts.
    #[serde(default, deserialize_with = "deserialize_horizon", skip_serializing_if = "Option::is_none")]
    pub first_turns: Option<u32>,
    /// The first run, usually the reference.
    pub a: SeriesLabel,
    /// The second run.
    pub b: SeriesLabel,
    /// The shared scenarios. They are drawn by b − a, then by name.
    pub pairs: Vec<Pair>,
    /// Mean of b − a over the scenarios, for the text under the figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<PairedMean>,
}

impl PairedScenarios {
    /// The unit of differences.
    pub(crate) const fn unit(&self) -> &'static str {
        if self.of_rates { "percentage points" } else { "turns" }
    }

    /// What both runs played, one and many of them.
    pub(crate) const fn nouns(&self) -> [&'static str; 2] {
        if self.of_rates { ["task", "tasks"] } else { ["scenario", "scenarios"] }
    }

    /// The head over the names of these.
    pub(crate) const fn names_head(&self) -> &'static str {
        if self.of_rates { "Task" } else { "Scenario" }
    }

    /// What is compared.
    pub(crate) const fn measure(&self) -> &'static str {
        if self.of_rates { "Pass rate" } else { "Stamina" }
    }

    /// The turns that count, if later ones were passed that do not.
    pub(crate) fn counted_turns(&self) -> Option<u32> {
        self.first_turns.filter(|_| !self.of_rates)
    }

    /// What is compared, and over which turns if not over all of them: `Stamina (of the first 7 turns)`.
    pub(crate) fn measure_with_turns(&self) -> String {
        let measure = self.measure();
        self.counted_turns().map_or_else(
            || measure.to_owned(),
            |turns| format!("{measure} (of the first {})", counted(turns.into(), "turn")),
        )
    }

    /// The name of the axis of both values.
    pub(crate) fn axis_name(&self) -> String {
        match self.counted_turns() {
            Some(_) => self.measure_with_turns(),
            None if self.of_rates => "Pass rate (%)".to_owned(),
            None => "Stamina (turns passed)".to_owned(),
        }
    }
}

/// One scenario in both runs. Several episodes of one scenario are given as their mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Name of the scenario.
    pub scenario: String,
    /// Stamina of the first run, in turns passed, or its pass rate in percent.
    pub a: f64,
    /// Whether that is a lower bound: an episode was censored.
    #[serde(default)]
    pub a_censored: bool,
    /// The same of the second run.
    pub b: f64,
    /// Whether that is a lower bound.
    #[serde(default)]
    pub b_censored: bool,
}

/// The mean difference of a paired comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedMean {
    /// Mean of b − a, in turns or percentage points.
    pub value: f64,
    /// Lower end of its 95 % interval; `None` = no variation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_high: Option<f64>,
    /// p value of the paired test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
}
