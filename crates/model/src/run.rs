//! One harness, one model, its settings.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Extra;

/// The benchmark that a run belongs to; it decides which scores are defined for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct Benchmark {
    /// Stable word for grouping, such as `staminabench`, `evocode-bench`, `harbor:tasks`.
    pub key: String,
    /// What a person reads, such as `EvoCode-Bench, published`.
    pub name: String,
}

/// Key of LoCoBench-Agent, and of what is published about it.
pub const LOCOBENCH_AGENT: &str = "locobench-agent";

impl Benchmark {
    /// LoCoBench-Agent.
    pub fn locobench_agent() -> Self {
        Self { key: LOCOBENCH_AGENT.to_owned(), name: "LoCoBench-Agent".to_owned() }
    }

    /// What the keys of benchmarks begin with whose tasks are Harbor's.
    pub const TASKS: &str = "harbor:";
    /// The same where each step of a task was played by itself, after the reference solutions of the steps before it: such
    /// steps are no chain, and their runs are no runs of the tasks.
    pub const STEPS: &str = "harbor-sr:";

    /// Whether it plays tasks of Harbor, in chains or step by step.
    pub fn is_of_tasks(&self) -> bool {
        self.key.starts_with(Self::TASKS) || self.plays_steps_alone()
    }

    /// Whether each step of a task was played by itself.
    pub fn plays_steps_alone(&self) -> bool {
        self.key.starts_with(Self::STEPS)
    }

    /// Whether its turns end in verdicts of tests, so that there is a stamina. Runs of a benchmark without never enter survival,
    /// matrix, tests or pooled means. This is the one place that decides it; SQL asks with [`UNTESTED_BENCHMARKS`].
    pub fn has_verdicts(&self) -> bool {
        !UNTESTED_BENCHMARKS.contains(&self.key.as_str())
    }
}

/// Keys of the benchmarks that have no tests.
pub const UNTESTED_BENCHMARKS: [&str; 1] = [LOCOBENCH_AGENT];

/// Agents that are not models: they bound what a score can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// Plays the reference solution.
    Oracle,
    /// Does nothing.
    Nop,
}

impl Baseline {
    /// The baseline that a harness of this name is, if any.
    pub fn of_harness(name: &str) -> Option<Self> {
        match name {
            "oracle" => Some(Self::Oracle),
            "nop" => Some(Self::Nop),
            _ => None,
        }
    }
    /// The stable word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Oracle => "oracle",
            Self::Nop => "nop",
        }
    }
}

/// Figures that the source reports about itself, kept beside what Stamina Lab computes from the parts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Reported {
    /// The name under which the source reports it, such as `harbor.mean_reward`, and its value.
    pub figures: Vec<(String, f64)>,
    /// Tasks that the source counts but does not describe.
    pub totals_only: Vec<TaskTotals>,
}

/// A task that the source counts and does not describe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct TaskTotals {
    /// The task.
    pub scenario: String,
    /// Turns that it declares.
    pub turns: Option<u32>,
    /// Turns passed; `None` = the source left it blank (nothing was run, or nothing is known).
    pub passed_turns: Option<f64>,
    /// Mean share of test cases passed, 0 to 1, where the source gives it.
    pub case_ratio: Option<f64>,
}

/// What is known of a run before any episode is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Run {
    /// Identity inside its source; stable over re-reading. Episodes name it.
    pub key: String,
    /// The benchmark.
    pub benchmark: Benchmark,
    /// The agent harness (`terminus-2`, `mini_swe`); `None` = unknown.
    pub harness: Option<String>,
    /// The harness's own version.
    pub harness_version: Option<String>,
    /// The tool that ran the evaluation and its version, such as (`Harbor`, `0.24.0`).
    pub runner: Option<(String, Option<String>)>,
    /// The model as the source names it, without provider prefix where the source keeps that apart.
    pub model: Option<String>,
    /// The model's provider (`openai`, `bedrock`).
    pub provider: Option<String>,
    /// Whether the harness is `oracle` or `nop`.
    pub baseline: Option<Baseline>,
    /// Whether a simulated model stood in for a real one.
    pub simulated: bool,
    /// How many episodes were planned.
    pub planned_episodes: Option<u32>,
    /// The most attempts that a turn may take.
    pub attempt_limit: Option<u32>,
    /// When the run began, RFC 3339; without an offset where the source gives none.
    pub started_at: Option<String>,
    /// When it ended.
    pub finished_at: Option<String>,
    /// Words that whoever started the run gave it, for the library.
    pub tags: Vec<String>,
    /// Why its source says that it is invalid: the library marks it as withdrawn when it first reads it.
    #[serde(default)]
    pub invalid: Option<String>,
    /// What the source says of itself.
    pub reported: Reported,
    /// Settings in the source's own names, flattened to dotted keys, for comparison and display.
    pub settings: Extra,
    /// Fields that Stamina Lab does not know, kept and shown.
    pub extra: Extra,
}

impl Run {
    /// A run of which only its key and benchmark are known.
    pub fn unknown(key: impl Into<String>, benchmark: Benchmark) -> Self {
        Self {
            key: key.into(),
            benchmark,
            harness: None,
            harness_version: None,
            runner: None,
            model: None,
            provider: None,
            baseline: None,
            simulated: false,
            planned_episodes: None,
            attempt_limit: None,
            started_at: None,
            finished_at: None,
            tags: Vec::new(),
            invalid: None,
            reported: Reported::default(),
            settings: Extra::new(),
            extra: Extra::new(),
        }
    }
}
