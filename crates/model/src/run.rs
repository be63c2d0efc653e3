//! A run: one harness with one model and its settings.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use ts_rs::TS;

use crate::Extra;

/// The benchmark that a run belongs to. It decides which scores are defined for the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct Benchmark {
    /// Stable word for grouping, such as `staminabench`, `evocode-bench`, `harbor:tasks`.
    pub key: String,
    /// The label that people read, such as `EvoCode-Bench, published`.
    pub name: String,
}

/// Key of LoCoBench-Agent and of its published results.
pub const LOCOBENCH_AGENT: &str = "locobench-agent";

/// Key of StaminaBench; those of its variants have a word after a colon.
const STAMINA_BENCH: &str = "staminabench";

impl Benchmark {
    /// LoCoBench-Agent.
    pub fn locobench_agent() -> Self {
        Self { key: LOCOBENCH_AGENT.to_owned(), name: "LoCoBench-Agent".to_owned() }
    }

    /// Prefix of the keys of benchmarks with tasks of Harbor.
    pub const TASKS: &str = "harbor:";
    /// The same for runs in which each step of a task starts from the reference solutions of the steps before it. Such
    /// steps form no chain, so these runs are not comparable with runs of whole tasks.
    pub const STEPS: &str = "harbor-sr:";

    /// Whether its tasks are tasks of Harbor, in chains or step by step.
    pub fn is_of_tasks(&self) -> bool {
        self.key.starts_with(Self::TASKS) || self.plays_steps_alone()
    }

    /// Whether each step of a task starts from the reference solutions of the steps before it.
    pub fn plays_steps_alone(&self) -> bool {
        self.key.starts_with(Self::STEPS)
    }

    /// Whether its tests are of the suites of this project, whose ids name the kind of their case. An id of another benchmark
    /// is a title, whatever its form.
    pub fn has_own_suites(&self) -> bool {
        self.key == STAMINA_BENCH
            || self.key.strip_prefix(STAMINA_BENCH).is_some_and(|rest| rest.starts_with(':'))
    }

    /// Whether its turns end in verdicts of tests, so that stamina is defined. Runs of other benchmarks never enter survival,
    /// matrix, tests or pooled means. Only this function decides it; SQL uses [`UNTESTED_BENCHMARKS`].
    pub fn has_verdicts(&self) -> bool {
        !UNTESTED_BENCHMARKS.contains(&self.key.as_str())
    }
}

/// Keys of the benchmarks that have no tests.
pub const UNTESTED_BENCHMARKS: [&str; 1] = [LOCOBENCH_AGENT];

/// Agents without a model, which bound the possible scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Baseline {
    /// Applies the reference solution.
    Oracle,
    /// Does nothing.
    Nop,
}

impl Baseline {
    /// The baseline with the name of this harness, if any.
    pub fn from_harness_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The stable word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Figures that the source reports, kept beside those that Stamina Lab computes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Reported {
    /// The name of a figure in the source, such as `harbor.mean_reward`, and its value.
    pub figures: Vec<(String, f64)>,
    /// Tasks that the source counts but does not describe.
    pub totals_only: Vec<TaskTotals>,
}

/// A task that the source counts and does not describe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct TaskTotals {
    /// The task.
    pub scenario: String,
    /// Declared turns.
    pub turns: Option<u32>,
    /// Turns passed; `None` = the source left it blank (nothing ran, or the result is unknown).
    pub passed_turns: Option<f64>,
    /// Mean share of test cases passed, 0 to 1, if the source reports it.
    pub case_ratio: Option<f64>,
}

/// What is known about a run before any episode is read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Run {
    /// Identity inside its source. It stays the same when the source is read again. Episodes refer to it.
    pub key: String,
    /// The benchmark.
    pub benchmark: Benchmark,
    /// The agent harness (`terminus-2`, `mini_swe`); `None` = unknown.
    pub harness: Option<String>,
    /// The version of the harness.
    pub harness_version: Option<String>,
    /// The tool that ran the evaluation and its version, such as (`Harbor`, `0.24.0`).
    pub runner: Option<(String, Option<String>)>,
    /// The model as the source names it, without the provider prefix if the source records that separately.
    pub model: Option<String>,
    /// The model's provider (`openai`, `bedrock`).
    pub provider: Option<String>,
    /// Whether the harness is `oracle` or `nop`.
    pub baseline: Option<Baseline>,
    /// Whether a simulated model replaced a real one.
    pub simulated: bool,
    /// How many episodes were planned.
    pub planned_episodes: Option<u32>,
    /// The most attempts that a turn may take.
    pub attempt_limit: Option<u32>,
    /// When the run started, RFC 3339; without an offset if the source gives none.
    pub started_at: Option<String>,
    /// When it ended.
    pub finished_at: Option<String>,
    /// Tags that the person who started the run gave it.
    pub tags: Vec<String>,
    /// Why its source marks it as invalid. The library marks it as withdrawn when it first reads it.
    #[serde(default)]
    pub invalid: Option<String>,
    /// Figures that the source reports.
    pub reported: Reported,
    /// Settings under the names of the source, flattened to dotted keys, for comparison and display.
    pub settings: Extra,
    /// Fields that Stamina Lab does not know. They are kept and shown.
    pub extra: Extra,
}

impl Run {
    /// A run with only a key and a benchmark.
    pub fn unknown(key: impl Into<String>, benchmark: Benchmark) -> Self {
        Self { key: key.into(), benchmark, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_benchmarks_of_this_project_have_its_suites() {
        let has_own_suites =
            |key: &str| Benchmark { key: key.to_owned(), name: String::new() }.has_own_suites();
        for key in ["staminabench", "staminabench:single-turn"] {
            assert!(has_own_suites(key), "{key}");
        }
        for key in ["harbor:staminabench", "harbor-sr:tasks", "evocode-bench", "staminabench-2", "table", ""]
        {
            assert!(!has_own_suites(key), "{key}");
        }
    }
}
