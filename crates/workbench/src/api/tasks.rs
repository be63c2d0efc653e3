//! The tasks of runs of one turn: what each member did with each, and what that took. Defined in `docs/metrics.md`, "Runs of
//! one turn".

use model::PassRate;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::comparisons::marked;
use super::{Member, SeriesStyle};

/// Which tasks are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TaskMode {
    /// Every task.
    #[default]
    All,
    /// Tasks that one member alone solves.
    OnlyOne,
    /// Tasks that some member solves and another is known not to.
    Different,
    /// Tasks that no member solves.
    Nobody,
}

/// Asks for the tasks of members that play one turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct TasksRequest {
    /// The members: the columns.
    pub members: Vec<Member>,
    /// Of groups only these runs (their ids), also baselines and simulated ones; empty = all that such a group has.
    pub only: Vec<String>,
    /// Which tasks.
    pub mode: TaskMode,
    /// Words that all occur in the name of the task.
    pub text: String,
}

/// Tasks and what members did with them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TaskGrid {
    /// The members, in the order asked for.
    pub columns: Vec<TaskColumn>,
    /// The tasks that were asked for, by name.
    pub rows: Vec<TaskRow>,
    /// How many tasks there are of each mode, whatever was asked for.
    pub counts: TaskCounts,
    /// Whether each row is one round of a task, which some member played by itself: there are more of them than tasks.
    pub of_rounds: bool,
}

impl TaskGrid {
    /// What a row is.
    pub(crate) const fn noun(&self) -> &'static str {
        if self.of_rounds { "round" } else { "task" }
    }
}

/// How many tasks there are of each [`TaskMode`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TaskCounts {
    /// Every task.
    pub all: u32,
    /// That one member alone solves.
    pub only_one: u32,
    /// That some member solves and another does not.
    pub different: u32,
    /// That no member solves.
    pub nobody: u32,
}

/// A member and its tasks as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TaskColumn {
    /// Stable text of the member, as in a comparison.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The same where there is little room for it.
    pub short_name: String,
    /// Whether a simulated model stood in for a real one in any of its runs.
    pub simulated: bool,
    /// How it is drawn.
    #[serde(rename = "swatch")]
    pub style: SeriesStyle,
    /// Its pass rate.
    pub pass_rate: PassRate,
    /// Tasks that it solves: some trial passed.
    pub solved: u32,
    /// Tasks that it alone solves.
    pub only: u32,
    /// Seconds of agent time per task.
    pub seconds: KnownMean,
    /// Input and output tokens per task.
    pub tokens: KnownMean,
    /// US dollars per task.
    pub cost_usd: KnownMean,
}

impl TaskColumn {
    /// Its name as tables and texts have it.
    pub fn marked(&self) -> String {
        marked(&self.name, self.simulated)
    }
}

/// A mean over those of which a number is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct KnownMean {
    /// The mean; `None` = unknown for all.
    pub mean: Option<f64>,
    /// Over how many: trials of a task, or tasks.
    pub known: u32,
    /// Of how many.
    pub total: u32,
}

impl KnownMean {
    /// Of values of which some are unknown. That those that are known are 0 says nothing of the others: they asked no model.
    pub fn from_values(values: impl Iterator<Item = Option<f64>>) -> Self {
        let (sum, known, total) = values.fold((0.0, 0, 0), |(sum, known, total), value| match value {
            Some(value) => (sum + value, known + 1, total + 1),
            None => (sum, known, total + 1),
        });
        let says_something = known > 0 && (sum > 0.0 || known == total);
        Self { mean: says_something.then(|| sum / f64::from(known)), known, total }
    }
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TaskRow {
    /// Its name.
    pub task: String,
    /// A nicer name, where the source has one.
    pub title: Option<String>,
    /// The member that alone solves it, by its place; `None` = nobody, several, or one might of which no trial is scored.
    pub only: Option<u32>,
    /// One a member; `None` = it did not play the task.
    pub cells: Vec<Option<TaskCell>>,
}

/// What a member did with a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TaskCell {
    /// Id of the run of the trial to look at: the first that did not pass, else the first.
    pub run: String,
    /// Id of that trial.
    pub episode: String,
    /// Scored trials.
    pub trials: u32,
    /// Those of them that passed.
    pub passed: u32,
    /// Trials that are not scored.
    pub unscored: u32,
    /// Seconds of agent time per trial, whether scored or not.
    pub seconds: KnownMean,
    /// Input and output tokens per trial.
    pub tokens: KnownMean,
    /// US dollars per trial.
    pub cost_usd: KnownMean,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_0_over_a_part_is_unknown() {
        let mean = |values: &[Option<f64>]| KnownMean::from_values(values.iter().copied()).mean;
        assert_eq!(mean(&[Some(0.0), None]), None);
        assert_eq!(mean(&[Some(0.0), Some(0.0)]), Some(0.0));
        assert_eq!(mean(&[Some(0.0), Some(3.0), None]), Some(1.5));
        assert_eq!(mean(&[]), None);
    }
}
