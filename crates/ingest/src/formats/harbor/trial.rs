//! One trial folder: what was run there, step by step, and how it ended.

use std::collections::HashSet;

use model::{Artifact, ArtifactKind, Attempt, EndReason, Episode, Request, Turn, Verdict, Warning};

use crate::format::Report;
use crate::identity;
use crate::readers::attribution::{Attribution, Cell};
use crate::readers::clock;
use crate::readers::json::Node;
use crate::readers::kept_tests::KeptTests;
use crate::readers::text::first_title;
use crate::readers::value::{self, Unusable};
use files::{Entry, Tree, file_name, join};

use super::accounting::Agent;
use super::exception::{Phases, Raised};
use super::head::Head;
use super::layout::{folders, is_file, is_folder};
use super::resumed;
use super::reward::Rewards;
use super::settings::plain;
use super::step::{self, Around};
use super::steps::Plan;
use super::task::{TITLE_CAP, Task, natural};
use super::{CONFIG_CAP, RESULT_CAP};

const LOG_CAP: u64 = 4 << 20;

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
    result: Option<Node>,
    /// What copies of the trial have in common, made while it ran or later: its name in its job, else the id of its result;
    /// `None` = no file says it.
    pub(super) identity: Option<String>,
    /// Whether `result.json` is there but cannot be read: the trial has ended.
    damaged: bool,
    /// Steps that `trial.log` says were started, and how many there were to be.
    log: StepLog,
    entries: Vec<Entry>,
}

/// The lines `Starting step 2/4: round-2` of `trial.log`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StepLog {
    started: Vec<String>,
    declared: Option<usize>,
}

impl StepLog {
    fn parse(text: &str) -> Self {
        let mut log = Self::default();
        for line in text.lines() {
            let Some(rest) = line.split_once("Starting step ").map(|(_, rest)| rest) else { continue };
            let Some((position, name)) = rest.split_once(": ") else { continue };
            let Some((index, total)) = position.split_once('/') else { continue };
            let (Ok(index), Ok(total)) = (index.parse::<usize>(), total.parse::<usize>()) else { continue };
            if index == log.started.len() + 1 && index <= total && total <= 10_000 {
                log.started.push(name.trim().to_owned());
                log.declared = Some(total);
            }
        }
        log
    }
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
        let has = |name: &str| entries.iter().any(|e| e.name == name && !e.is_folder());
        let file = join(path, "result.json");
        let mut damaged = false;
        let mut result = None;
        if has("result.json") {
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
        let mut in_job = None;
        if has("config.json") {
            match tree.read_json::<Node>(&join(path, "config.json"), CONFIG_CAP) {
                Ok(config @ Node::Map(_)) => {
                    report.files_read += 1;
                    in_job = name_in_job(&config);
                }
                Ok(_) => report.warn(Warning::skipped(
                    join(path, "config.json"),
                    "json.wrong_type",
                    "It is JSON, but no object. Agent, model and task are told from the other files.",
                )),
                Err(error) => report.unreadable(
                    &join(path, "config.json"),
                    &error,
                    "Agent, model and task are told from the other files.",
                ),
            }
        }
        let head = Head::read(tree, path, job_config);
        let log = tree.read_range(&join(path, "trial.log"), 0, LOG_CAP).map_or_else(
            |_| StepLog::default(),
            |(bytes, _)| StepLog::parse(&String::from_utf8_lossy(&bytes)),
        );
        let in_job = in_job.or_else(|| name_in_job(result.as_ref()?.get("config")?));
        let identity = in_job.or_else(|| result.as_ref().and_then(own_id));
        Self { path: path.to_owned(), job, head, run: String::new(), result, identity, damaged, log, entries }
    }

    /// How many values its result is, as [`Node::values`] counts them.
    pub(super) fn values(&self) -> u64 {
        self.result.as_ref().map_or(0, Node::values)
    }

    /// Leaves out a result beside which too many others are in memory.
    pub(super) fn without_result(&mut self, report: &mut Report) {
        (self.result, self.damaged) = (None, true);
        let what = format!(
            "The results of the trials of this task are too large to be in memory together. {FROM_FOLDERS}"
        );
        report.warn(Warning::skipped(join(&self.path, "result.json"), "file.too_large", what));
    }

    /// Whether it has no result that can be read: a copy of it that has one stands for it.
    pub(super) const fn is_snapshot(&self) -> bool {
        self.result.is_none()
    }

    /// When it began, for the order of attempts; those that never said so come last.
    pub(super) fn order(&self) -> (bool, i64, &str) {
        let micros = self.text("started_at").and_then(clock::micros);
        (micros.is_none(), micros.unwrap_or(0), &self.path)
    }

    /// The task's name as the result says it; the configuration may only have the task's path.
    pub(super) fn task_name(&self) -> Option<&str> {
        self.text("task_name")
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.result.as_ref()?.get(key)?.word()
    }

    fn step_results(&self) -> Option<&[Node]> {
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

    /// The names of its step folders that nothing else names, `round-2` before `round-10`.
    fn step_folders(&self, tree: &Tree) -> Vec<String> {
        let mut names: Vec<String> = folders(tree, &join(&self.path, "steps")).map(|e| e.name).collect();
        names.sort_by_key(|n| natural(n));
        names
    }

    /// Whether it is certainly of more than one step.
    pub(super) fn is_multi_step(&self) -> bool {
        self.step_results().is_some()
            || !self.log.started.is_empty()
            || self.entries.iter().any(|e| e.name == "steps" && e.is_folder())
    }

    /// The number of steps that the runner said there are.
    pub(super) const fn logged_steps(&self) -> Option<usize> {
        self.log.declared
    }

    /// The number of steps, if the trial ran to its end: Harbor stops early only after a step without verdict or below
    /// its least reward, so a last step that passed was the last one declared.
    pub(super) fn complete_steps(&self) -> Option<usize> {
        let result = self.result.as_ref()?;
        let steps = self.step_results()?;
        let rewards = Rewards::of_result(steps.last()?.at(&["verifier_result", "rewards"])?)?;
        let passed = rewards.decide().passed()?;
        (passed && result.get("exception_info").is_none()).then_some(steps.len())
    }

    /// Reads the steps into an episode, as far as `plan` knows them.
    pub(super) fn episode(
        &self,
        tree: &Tree,
        scenario: &str,
        task: Option<&Task>,
        plan: &Plan,
        (agent, kept): (Agent, &mut KeptTests),
        report: &mut Report,
    ) -> Played {
        let mut episode = Episode::new(file_name(&self.path), scenario);
        episode.identity.clone_from(&self.identity);
        episode.title = task.and_then(|t| t.title.clone());
        episode.planned_turns = plan.count;
        self.facts(tree, task, &mut episode);
        let mut unusable = Unusable::default();
        unusable.settle_times(&mut episode.timing);
        unusable.warn(&join(&self.path, "result.json"), report);
        let raised = Raised::read(self.result.as_ref());
        let (mut bare_turns, mut unrecognized_turns) = (Vec::new(), Vec::new());
        let mut cases = false;
        let (mut sessions, mut proofs) = (Vec::new(), Vec::new());
        let mut named_before = None;
        let mut has_more_tests = false;

        let single = plan.names.is_empty() && !self.is_multi_step();
        let steps = if single { self.single_step(tree) } else { self.steps(tree, plan) };
        let last_begun = steps.iter().rposition(|s| s.begun.is_some());
        let cause = raised.as_ref().and_then(|r| ended(r, &steps, last_begun, plan));
        let mut reason = cause.map(|cause| cause.reason);
        if self.result.is_none() {
            reason = Some(if self.damaged { EndReason::VerifierError } else { EndReason::Unfinished });
        }
        for (index, declared) in steps.iter().enumerate() {
            let number = index as u32 + 1;
            let mut turn = Turn::new(number);
            if let Some((request, title)) = task.and_then(|t| t.request(tree, index + 1)) {
                turn.request = Some(Request::File(request));
                turn.title = title;
            }
            if let Some(task) = task {
                turn.artifacts = task.artifacts(tree, index + 1);
            }
            if let Some(name) = &declared.name {
                turn.title = turn.title.or_else(|| Some(name.clone()));
                turn.extra.insert("step".to_owned(), name.as_str().into());
            }
            if let Some(begun) = &declared.begun {
                let around = Around {
                    // A trial's exception ended the step that was running.
                    exception: raised.as_ref().filter(|_| Some(index) == last_begun),
                    first: index == 0,
                    unfinished: self.result.is_none() && !self.damaged,
                    unreadable: self.damaged,
                    agent,
                };
                let mut graded = step::read(tree, &begun.folder, begun.node.as_ref(), around, report);
                has_more_tests |= kept.keep(&mut graded.attempt);
                if let Some(pointer) = begun.traceback.clone() {
                    graded.attempt.artifacts.push(Artifact {
                        kind: ArtifactKind::Log,
                        path: join(&self.path, "result.json"),
                        pointer: Some(pointer),
                    });
                }
                if turn.request.is_none()
                    && let Some(message) = graded.first_message
                {
                    if let Some(instruction) = message.instruction {
                        turn.title = first_title(&instruction, TITLE_CAP).or(turn.title);
                        turn.request = Some(Request::Text(instruction));
                    } else {
                        turn.request = Some(Request::File(Artifact {
                            kind: ArtifactKind::Request,
                            path: message.path,
                            pointer: Some(message.pointer),
                        }));
                    }
                }
                cases |= graded.cases;
                if graded.bare {
                    bare_turns.push(number);
                }
                if graded.unrecognized {
                    unrecognized_turns.push(number);
                }
                graded.attempt.grader_places =
                    graded.named.as_ref().map(|named| named.new_places(named_before.as_ref()));
                named_before = graded.named.or(named_before);
                sessions.push(graded.session);
                // Before differences are taken: what proves it is what stands in the file.
                proofs.push(graded.cache_exceeds_input || graded.attempt.tokens.cache_exceeds_input());
                turn.attempts.push(graded.attempt);
            }
            episode.turns.push(turn);
        }
        if has_more_tests {
            report.warn(Warning::skipped(
                &self.path,
                "tests.too_many",
                "There are more tests in the trials of this task than are kept in memory. Of further ones some are only counted.",
            ));
        }
        let mut attempts: Vec<&mut Attempt> =
            episode.turns.iter_mut().flat_map(|turn| &mut turn.attempts).collect();
        if self.head.resumes {
            resumed::settle(agent.name(), &self.path, &mut attempts, &sessions, report);
        }
        for (attempt, cache_exceeds_input) in attempts.into_iter().zip(proofs) {
            agent.settle(attempt, cache_exceeds_input);
        }
        agent.warn(&self.path, &episode, report);
        let sum = |of: fn(&model::Timing) -> Option<f64>| {
            let seconds: Vec<f64> =
                episode.turns.iter().flat_map(|t| &t.attempts).filter_map(|a| of(&a.timing)).collect();
            (!seconds.is_empty()).then(|| seconds.iter().sum())
        };
        (episode.timing.agent_seconds, episode.timing.test_seconds) =
            (sum(|t| t.agent_seconds), sum(|t| t.test_seconds));
        episode.exception = raised.as_ref().map(Raised::recorded);
        // A step gets one attempt: the failure of the last one stands, whatever became of the trial after it.
        let failed = episode.turns.last().and_then(|t| t.attempts.last()).is_some_and(|last| {
            matches!(last.verdict, Verdict::Failed | Verdict::Error) && last.end_reason.is_some()
        });
        let passed_all = plan.count.is_some_and(|count| episode.stamina() >= count);
        let is_told = |reason: &EndReason| {
            !(failed && *reason == EndReason::Unfinished) && !(self.damaged && (failed || passed_all))
        };
        episode.end_reason = reason.filter(is_told);
        if let Some(cause) = cause.filter(|cause| episode.end_reason == Some(cause.reason)) {
            let row = cause.cell.map(Cell::name);
            model::note_decision(&mut episode.extra, row, cause.reason, cause.recognized);
        }
        // The first turn not passed decides; if it was never tried, what ended the trial.
        episode.unrecognised = episode.end().0.is_some_and(|turn| {
            let tried = episode.turn(turn).is_some_and(|t| !t.attempts.is_empty());
            unrecognized_turns.contains(&turn) || !tried && cause.is_some_and(|cause| !cause.recognized)
        });
        Played { episode, bare_turns, cases }
    }

    /// The names of all steps that anything of the trial shows to have begun: its result or log, and folders.
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
            |r| {
                ["agent_execution", "verifier", "verifier_result", "agent_result"]
                    .iter()
                    .any(|k| r.get(k).is_some())
            },
        )
    }

    fn single_step(&self, tree: &Tree) -> Vec<Declared> {
        let begun = self.has_begun(tree).then(|| Begun {
            folder: self.path.clone(),
            node: self.result.clone(),
            // The traceback is in exception.txt.
            traceback: None,
        });
        vec![Declared { name: None, begun }]
    }

    fn steps(&self, tree: &Tree, plan: &Plan) -> Vec<Declared> {
        let names = &plan.names;
        let results = self.step_results();
        let mut order = self.started();
        if results.is_none() {
            let on_disk = self.step_folders(tree);
            // Declared steps in their order, then whatever else has a folder.
            let known: Vec<String> =
                names.iter().filter(|n| on_disk.contains(n) && !order.contains(n)).cloned().collect();
            order.extend(known);
            let others: Vec<String> = on_disk.into_iter().filter(|n| !order.contains(n)).collect();
            order.extend(others);
        }
        // A set-up failure has no step results: nothing began, whatever the folders say.
        let failed_before = self.result.is_some() && results.is_none();
        let mut steps = Vec::new();
        for (index, name) in order.iter().enumerate() {
            let mut folder = join(&join(&self.path, "steps"), name);
            if !is_folder(tree, &folder) || is_empty(tree, &folder) && index + 1 == order.len() {
                // A step in flight still has its files in the trial's own folders.
                folder.clone_from(&self.path);
            }
            let node = results.and_then(|r| r.get(index)).cloned();
            let traceback = node
                .as_ref()
                .and_then(|n| n.at(&["exception_info", "exception_traceback"]))
                .map(|_| format!("/step_results/{index}/exception_info/exception_traceback"));
            let begun = (!failed_before).then_some(Begun { folder, node, traceback });
            steps.push(Declared { name: Some(name.clone()), begun });
        }
        if self.result.is_none() && self.log.started.is_empty() {
            self.add_step_in_flight(tree, plan, &mut steps);
        }
        for name in names.iter().skip(steps.len()) {
            steps.push(Declared { name: Some(name.clone()), begun: None });
        }
        steps
    }

    /// A killed trial whose finished steps are known: what lies in its own `agent/` folder is of the next one.
    fn add_step_in_flight(&self, tree: &Tree, plan: &Plan, steps: &mut Vec<Declared>) {
        let left = ["agent", "verifier"].iter().any(|d| !tree.list(&join(&self.path, d)).is_empty());
        let last_is_graded = steps.last().and_then(|s| s.begun.as_ref()).is_none_or(|b| {
            let verifier = join(&b.folder, "verifier");
            ["reward.txt", "reward.json"].iter().any(|f| is_file(tree, &join(&verifier, f)))
        });
        if left && last_is_graded && plan.count.is_none_or(|n| steps.len() < n as usize) {
            steps.push(Declared {
                name: plan.names.get(steps.len()).cloned(),
                begun: Some(Begun { folder: self.path.clone(), node: None, traceback: None }),
            });
        }
    }

    fn facts(&self, tree: &Tree, task: Option<&Task>, episode: &mut Episode) {
        if let Some(task) = task {
            episode.extra.extend(task.about.clone());
        }
        episode.extra.insert("trial".to_owned(), file_name(&self.path).into());
        episode.timing.started_at = self.text("started_at").map(str::to_owned);
        episode.timing.finished_at = self.text("finished_at").map(str::to_owned);
        for name in ["exception.txt", "trial.log"] {
            if self.entries.iter().any(|e| e.name == name && !e.is_folder() && e.size > 0) {
                episode.artifacts.push(Artifact::new(ArtifactKind::Log, join(&self.path, name)));
            }
        }
        if self.is_multi_step() {
            // Left behind after a failed set-up: no step's files, but not to be lost.
            if self.started().is_empty() {
                episode.artifacts.extend(step::artifacts(tree, &self.path));
            }
        }
        if self.damaged {
            episode.extra.insert("result.json".to_owned(), "unreadable".into());
        }
        let Some(result) = &self.result else { return };
        for (key, value) in result.at(&["verifier_result", "rewards"]).map_or(&[][..], Node::map) {
            if let Some(value) = value::reward(value) {
                episode.reported.push((format!("harbor.{key}"), value));
            }
        }
        if let Some(checksum) = self.text("task_checksum") {
            episode.extra.insert("task_checksum".to_owned(), checksum.into());
        }
        for (key, value) in result.map() {
            if !KNOWN.contains(&key.as_str()) && *value != Node::Null {
                episode.extra.insert(key.clone(), plain(key, value));
            }
        }
    }
}

/// What a trial's own exception says of its end: of the last step that began, or of the next one.
fn ended(raised: &Raised, steps: &[Declared], last_begun: Option<usize>, plan: &Plan) -> Option<Attribution> {
    let node = last_begun.and_then(|index| steps[index].begun.as_ref()).and_then(|begun| begun.node.as_ref());
    let phases = Phases { node, first: last_begun.is_none_or(|index| index == 0) };
    if raised.after_tests(phases) {
        // With no step left it is the tear-down.
        let planned = steps.len().max(plan.count.unwrap_or(0) as usize);
        return last_begun.filter(|index| index + 1 < planned).and_then(|_| raised.before_next_step());
    }
    raised.ended(phases)
}

/// The id that Harbor gives a trial, with when it began: an id made by hand may be used again.
fn own_id(result: &Node) -> Option<String> {
    let id = result.get("id")?.word()?;
    let began = result.get("started_at").and_then(Node::word).unwrap_or_default();
    Some(identity::of_id(&["harbor", id, began]))
}

/// The name of a trial in its job, which is there before it ends.
fn name_in_job(config: &Node) -> Option<String> {
    let text = |key| config.get(key).and_then(Node::word);
    Some(identity::of_id(&["harbor", text("job_id")?, text("trial_name")?]))
}

/// An episode, and what is decided about it when every trial of the task is read.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) episode: Episode,
    /// Turns that were graded as not passed without a single test.
    pub(super) bare_turns: Vec<u32>,
    /// Whether any output has CASE lines.
    pub(super) cases: bool,
}

/// A step that the task declares or the trial ran.
#[derive(Debug)]
struct Declared {
    name: Option<String>,
    begun: Option<Begun>,
}

/// Where a step that was started left its files, and its entry in the result.
#[derive(Debug)]
struct Begun {
    folder: String,
    node: Option<Node>,
    traceback: Option<String>,
}

/// Whether a step's folder holds no file yet: its folders are made when it starts, and filled when it ends.
fn is_empty(tree: &Tree, folder: &str) -> bool {
    tree.list(folder).iter().all(|e| e.is_folder() && tree.list(&join(folder, &e.name)).is_empty())
}

const FROM_FOLDERS: &str = "The trial is read from its folders as far as they go. A step of which they hold no reward has no verdict that can be read.";

const KNOWN: [&str; 20] = [
    "id",
    "task_name",
    "trial_name",
    "trial_uri",
    "task_id",
    "source",
    "task_checksum",
    "config",
    "agent_info",
    "agent_result",
    "verifier_result",
    "verifier_environment_mode",
    "exception_info",
    "started_at",
    "finished_at",
    "environment_setup",
    "agent_setup",
    "agent_execution",
    "verifier",
    "step_results",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_says_which_steps_were_started_of_how_many() {
        let log = StepLog::parse(
            "x\nStarting step 1/4: round-1\n2026 DEBUG Starting step 2/4: a: b \nStarting step 4/4: no\nStarting step x/4: no\n",
        );
        assert_eq!(log, StepLog { started: vec!["round-1".into(), "a: b".into()], declared: Some(4) });
    }
}
