//! The share of trials that pass, for runs whose tasks take one turn.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::bounded::bounded;

/// How the interval of a [`PassRate`] is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RateInterval {
    /// Wilson's: every task has one trial.
    Wilson,
    /// Wilson's with the effective number of independent trials, because trials of one task depend on each other.
    Clustered,
}

impl RateInterval {
    /// The label that people read.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Wilson => "Wilson",
            Self::Clustered => "clustered by task",
        }
    }
}

/// The pass rate of a run, or of pooled runs, whose tasks take one turn. Shares go from 0 to 1.
///
/// A trial is *scored* if its agent passed or failed the turn. A trial that was stopped from outside before that is not
/// scored and enters no share (`docs/metrics.md`, "Runs of one turn").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct PassRate {
    /// Trials that passed / scored trials; `None` = no trial is scored.
    pub value: Option<f64>,
    /// Lower end of the 95 % interval; `None` = it is not defined.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// How the interval is computed; `None` = there is none.
    pub interval: Option<RateInterval>,
    /// Tasks with a scored trial.
    pub tasks: u32,
    /// Scored trials.
    pub trials: u32,
    /// Scored trials that passed.
    pub passed: u32,
    /// Trials that are not scored.
    pub unscored: u32,
    /// pass@k for k = 1, 2, … up to the fewest scored trials of a task (at most 100): the probability that at least one of k
    /// trials of a task passes, a mean over tasks.
    pub pass_at_k: Vec<f64>,
    /// pass^k for the same k: the probability that all of k trials of a task pass.
    pub pass_hat_k: Vec<f64>,
    /// The 95 % interval of each pass@k, clustered by task; `None` = not defined, because there is one task.
    #[serde(default)]
    pub pass_at_k_ci: Vec<Option<(f64, f64)>>,
    /// The same for each pass^k.
    #[serde(default)]
    pub pass_hat_k_ci: Vec<Option<(f64, f64)>>,
}

impl PassRate {
    /// Whether some task has more than one scored trial.
    pub const fn repeats(&self) -> bool {
        self.trials > self.tasks
    }

    /// In percent with its interval: `45.0 % (95 % CI 30.1 to 61.0 %)`; `unknown` without a value.
    pub fn in_words(&self) -> String {
        let Some(value) = self.value else { return "unknown".to_owned() };
        let interval = match (self.ci_low, self.ci_high) {
            (Some(low), Some(high)) => format!("95 % CI {:.1} to {:.1} %", 100.0 * low, 100.0 * high),
            _ => "95 % CI n/a".to_owned(),
        };
        format!("{} % ({interval})", bounded(100.0 * value, 100.0, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_shown_in_percent_with_its_interval() {
        let rate =
            PassRate { value: Some(0.45), ci_low: Some(0.301), ci_high: Some(0.61), ..PassRate::default() };
        assert_eq!(rate.in_words(), "45.0 % (95 % CI 30.1 to 61.0 %)");
        assert_eq!(PassRate { ci_low: None, ..rate }.in_words(), "45.0 % (95 % CI n/a)");
        assert_eq!(PassRate::default().in_words(), "unknown");
        let almost = PassRate { value: Some(0.9998), ..PassRate::default() };
        assert_eq!(almost.in_words(), "> 99.9 % (95 % CI n/a)");
    }
}
