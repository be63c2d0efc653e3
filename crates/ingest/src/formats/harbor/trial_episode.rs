//! The episode of a trial: its steps one by one, and how it ended.

use std::collections::HashSet;

use model::{Artifact, ArtifactKind, Attempt, EndReason, Episode, Request, Turn, Verdict, Warning};

use crate::attribution::{Attribution, Cell};
use crate::format_trait::Report;
use crate::identity;
use crate::readers::json::Node;
use crate::readers::kept_tests::KeptTests;
use crate::readers::text::first_title;
use crate::readers::value::{self, UnusableValues};
use files::{Tree, file_name, join};

use super::accounting::Agent;
use super::exception::{Phases, RecordedException};
use super::layout::{is_file, is_folder};
use super::no_verifier;
use super::resumed::{self, TrialTotals};
use super::settings::plain;
use super::step::{self, StepContext};
use super::step_plan::StepPlan;
use super::task::{TITLE_CAP, Task};
use super::trial::Trial;

/// An episode, and what is decided about it when every trial of the task is read.
#[derive(Debug)]
pub(super) struct TrialEpisode {
    pub(super) episode: Episode,
    /// Turns that were graded as not passed without a single test.
    pub(super) bare_turns: Vec<u32>,
    /// Whether any output has CASE lines.
    pub(super) cases: bool,
}

/// A step that the task declares or the trial ran.
#[derive(Debug)]
struct DeclaredStep {
    name: Option<String>,
    started: Option<StartedStep>,
}

/// Where a step that was started left its files, and its entry in the result.
#[derive(Debug)]
struct StartedStep {
    folder: String,
    node: Option<Node>,
    traceback: Option<String>,
}

/// Whether a step's folder holds no file yet: its folders are made when it starts, and filled when it ends.
fn is_empty(tree: &Tree, folder: &str) -> bool {
    tree.list(folder).iter().all(|e| e.is_folder() && tree.list(&join(folder, &e.name)).is_empty())
}

impl Trial {
    /// Reads the steps into an episode, as far as `plan` knows them.
    pub(super) fn episode(
        &self,
        tree: &Tree,
        scenario: &str,
        task: Option<&Task>,
        plan: &StepPlan,
        (agent, kept): (Agent, &mut KeptTests),
        report: &mut Report,
    ) -> TrialEpisode {
        let mut episode = Episode::new(self.name_of_folder(tree), scenario);
        episode.identity.clone_from(&self.identity);
        episode.title = task.and_then(|t| t.title.clone());
        episode.planned_turns = plan.count;
        self.facts(tree, task, &mut episode);
        self.add_grading_ids(&mut episode);
        let mut unusable = UnusableValues::default();
        unusable.take_from_timing(&mut episode.timing);
        unusable.warn(&join(&self.path, "result.json"), report);
        let raised = RecordedException::read(self.result.as_ref());
        let (mut bare_turns, mut unrecognized_turns) = (Vec::new(), Vec::new());
        let mut cases = false;
        let (mut sessions, mut proofs) = (Vec::new(), Vec::new());
        let mut mentions_before = None;
        let mut has_more_tests = false;

        let single = plan.names.is_empty() && !self.is_multi_step(tree);
        let steps = if single { self.single_step(tree) } else { self.steps(tree, plan) };
        let last_started = steps.iter().rposition(|s| s.started.is_some());
        let cause = raised
            .as_ref()
            .and_then(|r| end_attribution(r, &steps, last_started, plan))
            .filter(|cause| !self.verifier_off || no_verifier::is_from_outside(cause.reason));
        let mut reason = cause.map(|cause| cause.reason);
        if raised.is_none() && self.has_stopped_early(plan.count) {
            reason = Some(EndReason::NoVerdict);
        }
        if self.result.is_none() {
            reason = Some(match (self.damaged, self.verifier_off) {
                (false, _) => EndReason::Unfinished,
                (true, false) => EndReason::VerifierError,
                (true, true) => EndReason::Cancelled,
            });
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
            // What ended a trial whose result cannot be read ended it at the turn after those that passed.
            let is_unread = self.damaged && !self.verifier_off && episode.stamina() as usize == index;
            let unread = is_unread.then(|| self.unread_step(declared.name.as_deref()));
            if let Some(started) = declared.started.as_ref().or(unread.as_ref()) {
                let context = StepContext {
                    // A trial's exception ended the step that was running.
                    exception: raised.as_ref().filter(|_| Some(index) == last_started),
                    first: index == 0,
                    unfinished: self.result.is_none() && !self.damaged,
                    unreadable: self.damaged,
                    agent,
                };
                let mut graded_step =
                    step::read(tree, &started.folder, started.node.as_ref(), context, report);
                if self.verifier_off {
                    no_verifier::mark_stopped(&mut graded_step);
                }
                has_more_tests |= kept.keep(&mut graded_step.attempt);
                if let Some(pointer) = started.traceback.clone() {
                    graded_step.attempt.artifacts.push(Artifact {
                        kind: ArtifactKind::Log,
                        path: join(&self.path, "result.json"),
                        pointer: Some(pointer),
                    });
                }
                if turn.request.is_none()
                    && let Some(message) = graded_step.first_message
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
                cases |= graded_step.cases;
                if graded_step.bare {
                    bare_turns.push(number);
                }
                if graded_step.unrecognized {
                    unrecognized_turns.push(number);
                }
                graded_step.attempt.grader_places = graded_step
                    .mentions
                    .as_ref()
                    .map(|mentions| mentions.new_places(mentions_before.as_ref()));
                mentions_before = graded_step.mentions.or(mentions_before);
                sessions.push(graded_step.session);
                // Before differences are taken: what proves it is what stands in the file.
                proofs.push(
                    graded_step.cache_exceeds_input || graded_step.attempt.tokens.cache_exceeds_input(),
                );
                turn.attempts.push(graded_step.attempt);
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
        let mut whole = TrialTotals::default();
        if self.head.resumes {
            whole = resumed::split_session_counts(agent.name(), &self.path, &mut attempts, &sessions, report);
        }
        let is_proven = proofs.contains(&true);
        for (attempt, cache_exceeds_input) in attempts.into_iter().zip(proofs) {
            agent.normalize_tokens(attempt, cache_exceeds_input);
        }
        episode.cost_usd = whole.cost_usd;
        if let Some(tokens) = whole.tokens {
            // Its input has the meaning that those of its steps have.
            let mut all = Attempt::new(1, Verdict::Passed);
            all.tokens = tokens;
            agent.normalize_tokens(&mut all, is_proven);
            (episode.tokens, episode.cached_input) = (Some(all.tokens), all.cached_input);
        }
        agent.warn(&self.path, &episode, report);
        // Of a part of the steps it is not that of the whole.
        let sum = |seconds_of: fn(&model::Timing) -> Option<f64>| {
            let attempts = episode.turns.iter().flat_map(|turn| &turn.attempts);
            let seconds: Option<Vec<f64>> = attempts.map(|attempt| seconds_of(&attempt.timing)).collect();
            seconds.filter(|seconds| !seconds.is_empty()).map(|seconds| seconds.iter().sum())
        };
        (episode.timing.agent_seconds, episode.timing.test_seconds) =
            (sum(|t| t.agent_seconds), sum(|t| t.test_seconds));
        episode.exception = raised.as_ref().map(RecordedException::recorded);
        // A step gets one attempt: the failure of the last one stands, whatever became of the trial after it.
        let failed = episode.turns.last().and_then(|t| t.attempts.last()).is_some_and(|last| {
            matches!(last.verdict, Verdict::Failed | Verdict::Error) && last.end_reason.is_some()
        });
        let passed_all = plan.count.is_some_and(|count| episode.stamina() >= count);
        let is_kept = |reason: &EndReason| {
            !(failed && *reason == EndReason::Unfinished) && !(self.damaged && (failed || passed_all))
        };
        episode.end_reason = reason.filter(is_kept);
        if let Some(cause) = cause.filter(|cause| episode.end_reason == Some(cause.reason)) {
            let row = cause.cell.map(Cell::name);
            model::note_decision(&mut episode.extra, row, cause.reason, cause.recognized);
        }
        // The first turn not passed decides; if it was never tried, what ended the trial.
        episode.unrecognised = episode.end().0.is_some_and(|turn| {
            let tried = episode.turn(turn).is_some_and(|t| !t.attempts.is_empty());
            unrecognized_turns.contains(&turn) || !tried && cause.is_some_and(|cause| !cause.recognized)
        });
        TrialEpisode { episode, bare_turns, cases }
    }

    /// The name of its folder; where that is the source itself, as the source is called.
    fn name_of_folder(&self, tree: &Tree) -> String {
        let name = Some(file_name(&self.path)).filter(|name| !name.is_empty());
        name.map_or_else(|| tree.folder_name(), str::to_owned)
    }

    /// A step of which nothing is left that can be read.
    fn unread_step(&self, name: Option<&str>) -> StartedStep {
        let folder = name.map_or_else(|| self.path.clone(), |name| join(&join(&self.path, "steps"), name));
        StartedStep { folder, node: None, traceback: None }
    }

    fn single_step(&self, tree: &Tree) -> Vec<DeclaredStep> {
        let started = self.has_begun(tree).then(|| StartedStep {
            folder: self.path.clone(),
            node: self.result.clone(),
            // The traceback is in exception.txt.
            traceback: None,
        });
        vec![DeclaredStep { name: None, started }]
    }

    fn steps(&self, tree: &Tree, plan: &StepPlan) -> Vec<DeclaredStep> {
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
                .and_then(|n| n.descendant(&["exception_info", "exception_traceback"]))
                .map(|_| format!("/step_results/{index}/exception_info/exception_traceback"));
            let started = (!failed_before).then_some(StartedStep { folder, node, traceback });
            steps.push(DeclaredStep { name: Some(name.clone()), started });
        }
        if self.result.is_none() && self.log.started.is_empty() {
            self.add_step_in_flight(tree, plan, &mut steps);
        }
        for name in names.iter().skip(steps.len()) {
            steps.push(DeclaredStep { name: Some(name.clone()), started: None });
        }
        steps
    }

    /// A killed trial whose finished steps are known: what lies in its own `agent/` folder is of the next one.
    fn add_step_in_flight(&self, tree: &Tree, plan: &StepPlan, steps: &mut Vec<DeclaredStep>) {
        let has_files = ["agent", "verifier"].iter().any(|d| !tree.list(&join(&self.path, d)).is_empty());
        let last_is_graded = steps.last().and_then(|s| s.started.as_ref()).is_none_or(|b| {
            let verifier = join(&b.folder, "verifier");
            ["reward.txt", "reward.json"].iter().any(|f| is_file(tree, &join(&verifier, f)))
        });
        if has_files && last_is_graded && plan.count.is_none_or(|n| steps.len() < n as usize) {
            steps.push(DeclaredStep {
                name: plan.names.get(steps.len()).cloned(),
                started: Some(StartedStep { folder: self.path.clone(), node: None, traceback: None }),
            });
        }
    }

    /// What identifies gradings of one trial: the trial that it grades again, and its own result's id, by which others name it.
    fn add_grading_ids(&self, episode: &mut Episode) {
        for name in [store::OTHER_IDENTITY, store::SOURCE_TRIAL] {
            episode.extra.remove(name);
        }
        if let Some(source) = &self.graded_source {
            episode.extra.insert(store::SOURCE_TRIAL.to_owned(), source.as_str().into());
        }
        if let Some(id) = self.text("id") {
            episode.extra.insert(store::OTHER_IDENTITY.to_owned(), identity::from_result_id(id).into());
        }
    }

    fn facts(&self, tree: &Tree, task: Option<&Task>, episode: &mut Episode) {
        if let Some(task) = task {
            episode.extra.extend(task.extra.clone());
        }
        episode.extra.insert("trial".to_owned(), self.name_of_folder(tree).into());
        episode.timing.started_at = self.text("started_at").map(str::to_owned);
        episode.timing.finished_at = self.text("finished_at").map(str::to_owned);
        for name in ["exception.txt", "trial.log"] {
            if self.entries.iter().any(|e| e.name == name && !e.is_folder() && e.size > 0) {
                episode.artifacts.push(Artifact::new(ArtifactKind::Log, join(&self.path, name)));
            }
        }
        if self.is_multi_step(tree) {
            // Left behind after a failed set-up: no step's files, but not to be lost.
            if self.started().is_empty() {
                episode.artifacts.extend(step::artifacts(tree, &self.path, &HashSet::new()));
            }
        }
        if self.damaged {
            episode.extra.insert("result.json".to_owned(), "unreadable".into());
        }
        let Some(result) = &self.result else { return };
        for (key, value) in result.descendant(&["verifier_result", "rewards"]).map_or(&[][..], Node::map) {
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
fn end_attribution(
    raised: &RecordedException,
    steps: &[DeclaredStep],
    last_started: Option<usize>,
    plan: &StepPlan,
) -> Option<Attribution> {
    let node = last_started
        .and_then(|index| steps[index].started.as_ref())
        .and_then(|started| started.node.as_ref());
    let phases = Phases { node, first: last_started.is_none_or(|index| index == 0) };
    if raised.after_tests(phases) {
        // With no step left it is the tear-down.
        let planned = steps.len().max(plan.count.unwrap_or(0) as usize);
        return last_started.filter(|index| index + 1 < planned).and_then(|_| raised.before_next_step());
    }
    raised.ended(phases)
}

/// Fields of a result that are understood.
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
