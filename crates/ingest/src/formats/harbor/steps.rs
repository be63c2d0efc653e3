//! How many steps a task declares, which a job folder does not say. See the [format](super) for where it is looked for.
//!
//! Where nothing says it, the most steps that any trial began stand in: a lower bound, which is reported. A trial that died
//! before its first step is of one step as soon as another trial of the task is; alone it does not even bound the
//! number, and nothing is planned. One whose result cannot be read is of one step where all trials
//! of its job are for which it is known.

use model::{Episode, Warning};

use crate::format_trait::Report;
use crate::readers::json::Node;
use files::{Tree, join};

use super::layout::{Job, folders, holds_trial, is_folder};
use super::step_plan::StepPlan;
use super::task::{self, Task};
use super::trial::{Trial, is_begun};

/// Trials of a job that are asked whether they have steps, beside one whose result cannot be read.
const TRIALS: usize = 32;
/// Most bytes of the result of such a trial: a survey asks them, and must be quick.
const SMALL_RESULT_CAP: u64 = 1 << 20;

/// What is known of the number and names of a task's steps.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The most complete list of names.
    names: Vec<String>,
    /// How many steps there are; `None` = nothing says it.
    count: Option<usize>,
    /// Where the number is from, if not from the task.
    note: Option<String>,
    /// Whether any trial began a step.
    begun: bool,
}

impl Steps {
    /// Reads what the task and its trials say; their jobs are asked where a result cannot be read.
    pub(super) fn read(tree: &Tree, task: Option<&Task>, trials: &[Trial], jobs: &[Job]) -> Self {
        if let Some(task) = task.filter(|t| t.known) {
            let count = Some(task.steps.len().max(1));
            return Self { names: task.steps.clone(), count, note: None, begun: true };
        }
        let multi = trials.iter().any(|t| t.is_multi_step(tree));
        let begun = trials.iter().any(|t| t.has_begun(tree));
        if !multi {
            let has_single_step_job =
                |trial: &Trial| jobs.get(trial.job).is_some_and(|job| has_single_steps(tree, job));
            let is_single = begun || trials.iter().any(|trial| trial.damaged && has_single_step_job(trial));
            return Self { count: is_single.then_some(1), begun, ..Self::default() };
        }
        let names = trials.iter().map(|t| t.seen_steps(tree)).max_by_key(Vec::len).unwrap_or_default();
        let logged = trials.iter().filter_map(Trial::logged_steps).max();
        let complete = trials.iter().filter_map(Trial::complete_steps).max();
        let (count, note) = match (logged, complete) {
            (Some(n), _) => (Some(n), Some(format!("{n}, by trial.log"))),
            (None, Some(n)) => (Some(n), Some(format!("{n}, by a trial that ran to its end"))),
            (None, None) => (None, None),
        };
        Self { begun: begun || !names.is_empty(), names, count, note }
    }

    /// The names of a trial's steps and how many were planned for it.
    pub(super) fn trial_plan(&self, task: Option<&Task>, trial: &Trial, report: &mut Report) -> StepPlan {
        let mut names = self.names.clone();
        let mut count = self.count;
        // What it ran itself, where the task was changed between trials or since.
        let own = trial.logged_steps().or_else(|| trial.complete_steps());
        if let Some(ran) = own.filter(|ran| count != Some(*ran)) {
            if let Some(task) = task.filter(|t| t.known) {
                report.warn(task::differs(&trial.path, task.steps.len(), ran));
            }
            names = trial.started();
            count = Some(ran);
        }
        let started = trial.started();
        if started.iter().zip(&names).any(|(a, b)| a != b) || started.len() > names.len() {
            names.clone_from(&started);
        }
        StepPlan { names, count: count.map(|n| n.max(started.len()) as u32) }
    }

    /// Says in the episodes of a task where the number of steps is from, and that it is unknown.
    pub(super) fn note_in_episodes<'a>(
        &self,
        path: &str,
        episodes: impl Iterator<Item = &'a mut Episode>,
        report: &mut Report,
    ) {
        let episodes: Vec<&mut Episode> = episodes.collect();
        let mut note = self.note.clone();
        let mut at_least = None;
        if self.count.is_none() {
            let most_turns = episodes.iter().map(|e| e.known_turns()).max().unwrap_or(0).max(1);
            // That a task has at least one step is no plan: it would pass for a task of one.
            at_least = Some(most_turns).filter(|most_turns| self.begun && *most_turns > 1);
            note = Some(format!("unknown, at least {most_turns}"));
            let scenario = episodes.first().map_or("", |e| e.scenario.as_str());
            report.warn(Warning::read_differently(
                path,
                "harbor.declared_steps_unknown",
                format!(
                    "The folder of task {scenario} is not here, and no trial says how many steps it declares: at least {most_turns}. Scores over all its steps are upper bounds."
                ),
            ));
        }
        let count = self.count.map(|n| n as u32);
        for episode in episodes {
            // Of a trial with another number its own log or steps say it.
            let is_own = count.is_none() || episode.planned_turns == count;
            if let Some(note) = note.as_ref().filter(|_| is_own) {
                episode.extra.insert("declared_steps".to_owned(), note.as_str().into());
            }
            if let Some(at_least) = at_least {
                episode.planned_turns = Some(at_least);
                mark_open_end(episode);
            }
        }
    }
}

/// Whether all trials of a job for which it is known are of one step, and there is one. It is looked for once.
pub(super) fn has_single_steps(tree: &Tree, job: &Job) -> bool {
    *job.single_steps.get_or_init(|| {
        // What is wrong with the files of another trial is reported where that is read.
        let tree = tree.fork();
        let trials = folders(&tree, &job.path).map(|trial| join(&job.path, &trial.name));
        let mut answered = trials
            .filter(|trial| holds_trial(&tree.list(trial)))
            .take(TRIALS)
            .filter_map(|trial| is_single_step(&tree, &trial))
            .peekable();
        job.whole && answered.peek().is_some() && answered.all(|is_single| is_single)
    })
}

/// Whether a trial is of one step; `None` = unknown.
fn is_single_step(tree: &Tree, trial: &str) -> Option<bool> {
    if is_folder(tree, &join(trial, "steps")) {
        return Some(false);
    }
    let result = tree.read_json::<Node>(&join(trial, "result.json"), SMALL_RESULT_CAP).ok()?;
    let has_steps = matches!(result.get("step_results"), Some(Node::List(_)));
    (has_steps || is_begun(&result)).then_some(!has_steps)
}

/// A trial that did not end, of a task of unknown length: passing all that is known is not passing everything.
fn mark_open_end(episode: &mut Episode) {
    let stopped = episode.end_reason.is_some();
    if stopped && episode.stamina() >= episode.planned_turns.unwrap_or(0) {
        episode.planned_turns = None;
    }
}

#[cfg(test)]
mod tests {
    use model::{EndReason, Verdict};

    use super::*;

    #[test]
    fn an_open_end_is_not_a_pass_of_everything() {
        let mut episode = Episode::new("a", "b");
        episode.planned_turns = Some(2);
        episode.end_reason = Some(EndReason::Unfinished);
        for number in 1..=2 {
            let mut turn = model::Turn::new(number);
            turn.attempts.push(model::Attempt::new(1, Verdict::Passed));
            episode.turns.push(turn);
        }
        assert_eq!(episode.end(), (None, EndReason::PassedAll));
        mark_open_end(&mut episode);
        assert_eq!(episode.end(), (Some(3), EndReason::Unfinished));
    }
}
