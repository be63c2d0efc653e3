//! Figures of a session whose benchmark has no tests: those that its program reports, and those computed from the actions
//! of the agent. They are not verdicts.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The nine metrics of LoCoBench-Agent under its names, in the order of [`SessionFigures`]: five of comprehension, four of
/// efficiency.
pub const LOCOBENCH_METRICS: [&str; 9] = [
    "execution_success_rate",
    "multi_session_memory_retention",
    "cross_file_consistency",
    "dependency_traversal",
    "solution_usability",
    "runtime_efficiency",
    "memory_efficiency",
    "information_coverage",
    "long_range_dependency_resolution",
];

/// How many of [`LOCOBENCH_METRICS`] make up comprehension; the others make up efficiency.
pub const COMPREHENSION_METRICS: usize = 5;

/// Figures that the program of a session reports. `None` is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ImportedFigures {
    /// The nine, in the order of [`LOCOBENCH_METRICS`], 0 to 1.
    pub metrics: [Option<f64>; 9],
    /// Mean of the first five, as the program wrote it.
    pub comprehension: Option<f64>,
    /// Mean of the other four, as the program wrote it.
    pub efficiency: Option<f64>,
    /// Both, weighted, as the program wrote it.
    pub overall: Option<f64>,
}

/// Figures computed from the calls of the session and their results. `None` is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CorrectedFigures {
    /// Calls whose response reports success, and calls with a response; `None` = no call has a response.
    pub tool_success: Option<(u32, u32)>,
    /// Different functions of tools that were called; `None` = the calls are not recorded.
    pub distinct_functions: Option<u32>,
    /// Paths of successful calls that write a file, in the order of the first call; `None` = the path of a call is unknown.
    pub files_written: Option<Vec<String>>,
    /// Written files that were successfully read before their first successful write, and all written files; `None` = no file
    /// was written, or a response is missing.
    pub read_before_write: Option<(u32, u32)>,
}

/// A session of a benchmark without tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionFigures {
    /// The end as the program names it (`completed`, `timeout`, `failed`). It is not a verdict.
    pub status: Option<String>,
    /// Task category, from the name of the scenario.
    pub category: Option<String>,
    /// Difficulty of the scenario, from its name.
    pub difficulty: Option<String>,
    /// Programming language, from the name of the scenario.
    pub language: Option<String>,
    /// Phases that the program reports as completed.
    pub completed_phases: Option<u32>,
    /// Planned phases.
    pub planned_phases: Option<u32>,
    /// Turns as the program counts them, including those without an answer of the model.
    pub turns: Option<u32>,
    /// Most turns that the scenario allows, at which the program stops; `None` = it is not recorded.
    pub max_turns: Option<u32>,
    /// Answers of the model; `None` = the conversation is not recorded.
    pub answered: Option<u32>,
    /// Calls of tools; `None` = they are not recorded.
    pub tool_calls: Option<u32>,
    /// Messages with which the program intervened; `None` = there is no transcript.
    pub interventions: Option<u32>,
    /// Entries of its error log.
    pub errors: Option<u32>,
    /// The figures that the program reports.
    pub imported: ImportedFigures,
    /// The nine metrics by the rules of the program; `None` = calls, conversation or files are not recorded.
    pub compat: Option<[f64; 9]>,
    /// The figures computed from the calls and their results.
    pub corrected: CorrectedFigures,
}

impl SessionFigures {
    /// Whether it has no turn and no answer. A turn or an answer shows that it started. `None` = neither is recorded, or only
    /// that there is none of one of them.
    pub fn never_started(&self) -> Option<bool> {
        match (self.turns, self.answered) {
            (Some(1..), _) | (_, Some(1..)) => Some(false),
            (Some(0), Some(0)) => Some(true),
            _ => None,
        }
    }
}

/// Comprehension (mean of five), efficiency (mean of four), overall and balance of nine metrics.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct LcbaPair {
    /// Mean of the first five metrics.
    pub comprehension: f64,
    /// Mean of the other four.
    pub efficiency: f64,
}

impl LcbaPair {
    /// From nine metrics in the order of [`LOCOBENCH_METRICS`].
    pub fn from_metrics(metrics: &[f64; 9]) -> Self {
        let (first, rest) = metrics.split_at(COMPREHENSION_METRICS);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        Self { comprehension: mean(first), efficiency: mean(rest) }
    }

    /// 0.6 of comprehension and 0.4 of efficiency.
    pub fn overall(self) -> f64 {
        0.6 * self.comprehension + 0.4 * self.efficiency
    }

    /// The harmonic mean of both (paper, §5.9); `None` = both are 0.
    pub fn balance(self) -> Option<f64> {
        let sum = self.comprehension + self.efficiency;
        (sum > 0.0).then(|| 2.0 * self.comprehension * self.efficiency / sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_without_any_action_scores_more_than_every_published_model() {
        let nothing = LcbaPair::from_metrics(&[0.5, 1.0, 1.0, 0.7, 0.7, 0.65, 0.65, 0.65, 0.65]);
        let close = |a: f64, b: f64| (a - b).abs() < 5e-4;
        assert!(close(nothing.comprehension, 0.78) && close(nothing.efficiency, 0.65));
        assert!(close(nothing.overall(), 0.728) && nothing.balance().is_some_and(|b| close(b, 0.709)));
    }

    #[test]
    fn a_turn_or_an_answer_shows_that_a_session_started() {
        let started =
            |turns, answered| SessionFigures { turns, answered, ..SessionFigures::default() }.never_started();
        assert_eq!(
            [started(Some(14), None), started(None, Some(2)), started(Some(6), Some(0))],
            [Some(false); 3]
        );
        assert_eq!(started(Some(0), Some(0)), Some(true));
        assert_eq!([started(Some(0), None), started(None, Some(0)), started(None, None)], [None; 3]);
    }

    #[test]
    fn the_balance_matches_the_paper() {
        let balance =
            |comprehension, efficiency| LcbaPair { comprehension, efficiency }.balance().unwrap_or(-1.0);
        assert!((balance(0.8, 0.4) - 0.533).abs() < 5e-4);
        assert_eq!(LcbaPair { comprehension: 0.0, efficiency: 0.0 }.balance(), None);
    }
}
