//! One trial folder as it was found: what its files say of the trial as a whole.

use std::collections::HashSet;

use model::Warning;

use crate::format_trait::Report;
use crate::identity;
use crate::readers::clock;
use crate::readers::json::Node;
use files::{Entry, Tree, join};

use super::head::{self, Head};
use super::layout::{folders, is_folder};
use super::limits::{CONFIG_CAP, RESULT_CAP};
use super::no_verifier;
use super::reward::Rewards;
use super::step_log::StepLog;
use super::task::natural;

const LOG_CAP: u64 = 4 << 20;
/// What Harbor makes in the folder of a step when that begins. A folder without any of it is of something else.
const STEP_PARTS: [&str; 3] = ["agent", "verifier", "artifacts"];

/// A trial folder as it was found.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) path: String,
    /// Index of its job.
    pub(super) job: usize,
    pub(super) head: Head,
    /// [`model::Run::key`] of its run.
    pub(super) run: String,
    /// `result.json`, written once at the end; `None` = running, killed, or [`Self::damaged`].
    pub(super) result: Option<Node>,
    /// What copies of the trial have in common, made while it ran or later: its name in its job, else the id of its result;
    /// `None` = no file says it. Of a grading of another trial it is that by which [`Self::graded_source`] is known.
    pub(super) identity: Option<String>,
    /// Whether it has no id: its identity, if any, is made of its name.
    pub(super) known_by_name: bool,
    /// Id of the trial whose recorded work was graded again; `None` = the agent worked here.
    pub(super) graded_source: Option<String>,
    /// Whether `result.json` is there but cannot be read: the trial has ended.
    pub(super) damaged: bool,
    /// Whether its verifier was switched off.
    pub(super) verifier_off: bool,
    /// Steps that `trial.log` says were started, and how many there were to be.
    pub(super) log: StepLog,
    /// What lies in the folder.
    pub(super) entries: Vec<Entry>,
}

impl Trial {
    /// Reads what the folder says of the trial as a whole.
    pub(super) fn load(
        tree: &Tree,
        path: &str,
        entries: Vec<Entry>,
        job: usize,
        job_config: Option<&Node>,
        report: &mut Report,
    ) -> Self {
        let has_file = |name: &str| entries.iter().any(|e| e.name == name && !e.is_folder());
        let file = join(path, "result.json");
        let mut damaged = false;
        let mut result = None;
        if has_file("result.json") {
            match tree.read_json::<Node>(&file, RESULT_CAP) {
                Ok(node @ Node::Map(_)) => result = Some(node),
                Ok(_) => {
                    damaged = true;
                    report.warn(Warning::skipped(&file, "json.wrong_type", FROM_FOLDERS));
                }
                Err(error) => {
                    damaged = true;
                    report.unreadable(&file, &error, FROM_FOLDERS);
                }
            }
            report.files_read += u64::from(!damaged);
        } else {
            report.warn(Warning::read_differently(
                path,
                "harbor.trial_unfinished",
                "There is no result.json: the trial is running, or was killed. Its finished steps are shown as far as they go.",
            ));
        }
        let (mut in_job, mut verifier_off, mut graded_source) = (None, false, None);
        if has_file("config.json") {
            let consequence = "Agent, model and task are told from the other files.";
            let config = report.read_object(tree, &join(path, "config.json"), CONFIG_CAP, consequence);
            if let Some(config) = config {
                in_job = name_in_job(&config);
                verifier_off = no_verifier::is_off(&config);
                graded_source = head::graded_source(tree, path, &config);
            }
        }
        let head = Head::read(tree, path, job_config);
        let log = tree.read_range(&join(path, "trial.log"), 0, LOG_CAP).map_or_else(
            |_| StepLog::default(),
            |(bytes, _)| StepLog::parse(&String::from_utf8_lossy(&bytes)),
        );
        let in_result = result.as_ref().and_then(|result| result.get("config"));
        let in_job = in_job.or_else(|| name_in_job(in_result?));
        let verifier_off = verifier_off || in_result.is_some_and(no_verifier::is_off);
        if verifier_off {
            report.warn(no_verifier::warning(path));
        }
        let graded_source = graded_source.or_else(|| head::graded_source(tree, path, in_result?));
        let identity = match &graded_source {
            Some(source) => Some(identity::from_result_id(source)),
            None => in_job.or_else(|| result.as_ref().and_then(own_id)),
        };
        Self {
            path: path.to_owned(),
            job,
            head,
            run: String::new(),
            result,
            identity,
            known_by_name: false,
            graded_source,
            damaged,
            verifier_off,
            log,
            entries,
        }
    }

    /// How many values its result is, as [`Node::values`] counts them.
    pub(super) fn values(&self) -> u64 {
        self.result.as_ref().map_or(0, Node::values)
    }

    /// Leaves out a result beside which too many others are in memory.
    pub(super) fn drop_result(&mut self, report: &mut Report) {
        (self.result, self.damaged) = (None, true);
        let message = format!(
            "The results of the trials of this task are too large to be in memory together. {FROM_FOLDERS}"
        );
        report.warn(Warning::skipped(join(&self.path, "result.json"), "file.too_large", message));
    }

    /// Whether it has no result that can be read: a copy of it that has one stands for it.
    pub(super) const fn is_snapshot(&self) -> bool {
        self.result.is_none()
    }

    /// When it began, for the order of attempts; those without a time come last.
    pub(super) fn order(&self) -> (bool, i64, &str) {
        let micros = self.text("started_at").and_then(clock::micros);
        (micros.is_none(), micros.unwrap_or(0), &self.path)
    }

    /// The task's name as the result says it; the configuration may only have the task's path.
    pub(super) fn task_name(&self) -> Option<&str> {
        self.text("task_name")
    }

    /// A text of the result.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.result.as_ref()?.get(key)?.word()
    }

    /// The entries of its steps in the result; `None` = it has no list of them.
    pub(super) fn step_results(&self) -> Option<&[Node]> {
        match self.result.as_ref()?.get("step_results")? {
            Node::List(list) => Some(list),
            _ => None,
        }
    }

    /// The names of the steps that were started, in order.
    pub(super) fn started(&self) -> Vec<String> {
        if let Some(results) = self.step_results() {
            let name = |(i, r): (usize, &Node)| {
                r.get("step_name")
                    .and_then(Node::word)
                    .map_or_else(|| format!("step {}", i + 1), str::to_owned)
            };
            return results.iter().enumerate().map(name).collect();
        }
        self.log.started.clone()
    }

    /// The names of the folders that Harbor made for its steps, `round-2` before `round-10`, where no result can be read: that
    /// has an entry of every step that began, and folders say nothing beside it.
    pub(super) fn step_folders(&self, tree: &Tree) -> Vec<String> {
        if self.result.is_some() {
            return Vec::new();
        }
        let steps = join(&self.path, "steps");
        let is_of_step = |name: &String| {
            let folder = join(&steps, name);
            STEP_PARTS.iter().any(|part| is_folder(tree, &join(&folder, part)))
        };
        let mut names: Vec<String> = folders(tree, &steps).map(|e| e.name).filter(is_of_step).collect();
        names.sort_by_key(|n| natural(n));
        names
    }

    /// Whether it is certainly of more than one step.
    pub(super) fn is_multi_step(&self, tree: &Tree) -> bool {
        self.step_results().is_some() || !self.log.started.is_empty() || !self.step_folders(tree).is_empty()
    }

    /// The number of steps in the runner's log.
    pub(super) const fn logged_steps(&self) -> Option<usize> {
        self.log.declared
    }

    /// The number of steps, if the trial ran to its end: Harbor stops early only after a step without verdict or below
    /// its least rewards, so a last step whose rewards all pass was the last one declared.
    pub(super) fn complete_steps(&self) -> Option<usize> {
        let passed = self.rewards_of_last()?.all_pass();
        let raised = self.result.as_ref()?.get("exception_info").is_some();
        self.step_results().map(<[Node]>::len).filter(|_| passed && !raised)
    }

    /// Whether it ended with a step that passed, before the last of `planned`: another reward was below the least that the
    /// task asks for.
    pub(super) fn has_stopped_early(&self, planned: Option<u32>) -> bool {
        let passed = self.rewards_of_last().and_then(|rewards| rewards.decide().passed()) == Some(true);
        let steps = self.step_results().map_or(0, <[Node]>::len);
        passed && planned.is_some_and(|planned| steps < planned as usize)
    }

    fn rewards_of_last(&self) -> Option<Rewards> {
        Rewards::from_result(self.step_results()?.last()?.descendant(&["verifier_result", "rewards"])?)
    }

    /// The names of all steps that anything of the trial shows to have begun: its result, else its log and folders.
    pub(super) fn seen_steps(&self, tree: &Tree) -> Vec<String> {
        let mut names = self.started();
        let folders = self.step_folders(tree);
        if folders.len() > names.len() {
            let known: HashSet<String> = names.iter().cloned().collect();
            names.extend(folders.into_iter().filter(|name| !known.contains(name)));
        }
        names
    }

    /// Whether its only step was begun, if it has one only.
    pub(super) fn has_begun(&self, tree: &Tree) -> bool {
        self.result.as_ref().map_or_else(
            // Without a result, what the agent or the tests left says that it began.
            || ["agent", "verifier"].iter().any(|d| !tree.list(&join(&self.path, d)).is_empty()),
            is_begun,
        )
    }
}

/// Whether the result of a trial of one step says that its step was begun.
pub(super) fn is_begun(result: &Node) -> bool {
    ["agent_execution", "verifier", "verifier_result", "agent_result"]
        .iter()
        .any(|key| result.get(key).is_some())
}

/// The id that Harbor gives a trial, with when it began: an id made by hand may be used again.
fn own_id(result: &Node) -> Option<String> {
    let id = result.get("id")?.word()?;
    let began = result.get("started_at").and_then(Node::word).unwrap_or_default();
    Some(identity::from_id(&["harbor", id, &identity::utc_text(began)]))
}

/// The name of a trial in its job, which is there before it ends.
fn name_in_job(config: &Node) -> Option<String> {
    let text = |key| config.get(key).and_then(Node::word);
    Some(identity::from_id(&["harbor", text("job_id")?, text("trial_name")?]))
}

const FROM_FOLDERS: &str = "The trial is read from its folders as far as they go. A step of which they hold no reward has no verdict that can be read.";
