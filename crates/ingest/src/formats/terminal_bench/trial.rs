//! One trial: an episode of one turn with one attempt.

use std::collections::BTreeSet;

use files::{Tree, join};
use model::{
    Artifact, ArtifactKind, Attempt, Counting, EndReason, Episode, Request, TestOutcome, TestResult, Tokens,
    Turn, Verdict, Warning,
};

use crate::attribution::terminal_bench_table::{self, Stage, cause};
use crate::format_trait::Report;
use crate::formats::harbor::settings::plain;
use crate::identity;
use crate::readers::case_lines::TEST_CAP;
use crate::readers::json::Node;
use crate::readers::text::first_title;
use crate::readers::value::{self, UnusableValues};

use super::files_of_run::RESULTS;
use super::layout::Trial;

/// Longest title of a request.
const TITLE_CAP: usize = 120;
/// Longest request that is kept.
const REQUEST_CAP: usize = 8 * 1024;
/// Most logs of a trial.
const LOGS_CAP: usize = 200;

/// The fields of a trial that are understood.
const KNOWN: [&str; 16] = [
    "id",
    "trial_name",
    "task_id",
    "instruction",
    "is_resolved",
    "failure_mode",
    "parser_results",
    "recording_path",
    "total_input_tokens",
    "total_output_tokens",
    "trial_started_at",
    "trial_ended_at",
    "agent_started_at",
    "agent_ended_at",
    "test_started_at",
    "test_ended_at",
];

/// What the trials of a run have in common.
#[derive(Debug)]
pub(super) struct RunFacts {
    /// The id that it has until it is resumed, which is there before it ends.
    pub(super) uuid: Option<String>,
    /// Its log.
    pub(super) log: Option<String>,
}

/// Reads a trial.
pub(super) fn episode(
    tree: &Tree,
    trial: &Trial,
    result: Option<&Node>,
    run: &RunFacts,
    report: &mut Report,
) -> Episode {
    let mut episode = Episode::new(&trial.name, &trial.task);
    let in_run = identity_in_run(trial, result, run);
    episode.identity = identity_of_result(result).or_else(|| in_run.clone());
    episode.planned_turns = Some(1);
    episode.extra.insert("trial".to_owned(), trial.name.as_str().into());
    if let Some(log) = &run.log {
        episode.artifacts.push(Artifact::new(ArtifactKind::Log, log.as_str()));
    }
    let place = trial.place();
    let mut turn = Turn::new(1);
    let mut attempt = Attempt::new(1, Verdict::Error);
    attempt.artifacts = artifacts(tree, trial);
    attempt.steps = calls(tree, trial);
    let Some(result) = result else {
        if trial.has_ended() {
            attempt.end_reason = Some(EndReason::VerifierError);
            attempt.extra.insert("verdict".to_owned(), "unreadable".into());
            episode.extra.insert(RESULTS.to_owned(), "unreadable".into());
        } else {
            attempt.verdict = Verdict::Unfinished;
            attempt.end_reason = Some(EndReason::Unfinished);
            report.warn(Warning::read_differently(
                &place,
                "tb.trial_unfinished",
                "The trial has no result: it is running, or was killed.",
            ));
        }
        turn.attempts.push(attempt);
        episode.turns.push(turn);
        return episode;
    };

    let mut unusable = UnusableValues::default();
    times(result, &mut episode, &mut attempt, &mut unusable);
    usage(result, &mut attempt, &mut unusable);
    tests(result, &mut attempt, &mut unusable);
    unusable.take_from_timing(&mut episode.timing);
    episode.unrecognised = verdict(tree, trial, result, &mut attempt, &mut unusable);
    if attempt.verdict == Verdict::Passed && attempt.tests.iter().any(TestResult::is_failing) {
        report.warn(Warning::read_differently(
            &place,
            "tb.verdict_differs",
            "It is resolved, and not all of its tests passed. It counts as passed.",
        ));
    }
    unusable.take_from_attempt(&mut attempt);
    unusable.warn(&place, report);
    if let Some(instruction) = result.get("instruction").and_then(Node::text) {
        turn.title = first_title(instruction, TITLE_CAP);
        turn.request = match trial.own_file() {
            Some(file) if instruction.len() > REQUEST_CAP => Some(Request::File(Artifact {
                kind: ArtifactKind::Request,
                path: file,
                pointer: Some("/instruction".to_owned()),
            })),
            _ => Some(Request::Text(instruction.to_owned())),
        };
    }
    for (key, value) in result.map() {
        if !KNOWN.contains(&key.as_str()) && *value != Node::Null {
            episode.extra.insert(key.clone(), plain(key, value));
        }
    }
    episode.extra.remove(store::OTHER_IDENTITY);
    // By this a copy that was made while the trial ran, which has no result yet, is known to be the same.
    if let Some(in_run) = in_run.filter(|in_run| episode.identity.as_ref() != Some(in_run)) {
        episode.extra.insert(store::OTHER_IDENTITY.to_owned(), in_run.into());
    }
    turn.attempts.push(attempt);
    episode.turns.push(turn);
    episode
}

/// Whether there is no result that can be read: a copy of the trial that has one stands for it.
pub(super) fn is_snapshot(episode: &Episode) -> bool {
    episode.extra.contains_key(RESULTS)
        || episode.turns.iter().flat_map(|turn| &turn.attempts).any(|a| a.verdict == Verdict::Unfinished)
}

/// The run and the name of the trial in it, which are there before it ends. A resume gives the run another id.
fn identity_in_run(trial: &Trial, result: Option<&Node>, run: &RunFacts) -> Option<String> {
    let uuid = run.uuid.as_ref()?;
    // A copied folder has another name than the trial.
    let name = result.and_then(|result| result.get("trial_name")).and_then(Node::word);
    Some(identity::from_id(&["tb-run", uuid, &trial.task, name.unwrap_or(&trial.name)]))
}

/// The id of a result, with when its trial began: every copy of it has them, also one in the results of a resumed run.
fn identity_of_result(result: Option<&Node>) -> Option<String> {
    let text = |key: &str| result?.get(key).and_then(Node::word);
    let began = identity::utc_text(text("trial_started_at").unwrap_or_default());
    text("id").map(|id| identity::from_id(&["tb", id, &began]))
}

/// The name of the trial in its own result, with when it began: no two trials of a run have both, whatever their folders are
/// called now. By this copies within a run are recognized where they have no id.
pub(super) fn name_in_result(result: Option<&Node>) -> Option<String> {
    let text = |key: &str| result?.get(key).and_then(Node::word);
    let began = identity::utc_text(text("trial_started_at").unwrap_or_default());
    text("trial_name").map(|name| format!("{name} {began}"))
}

/// Decides by `is_resolved`. Says whether the cause of a failure is not recognized.
fn verdict(
    tree: &Tree,
    trial: &Trial,
    result: &Node,
    attempt: &mut Attempt,
    unusable: &mut UnusableValues,
) -> bool {
    let word = result.get("failure_mode").and_then(Node::word);
    let stated = result.get("is_resolved");
    let resolved = unusable.take("is_resolved", stated, Node::truth);
    let failure = word.filter(|word| !matches!(*word, "unset" | "none"));
    if let Some(word) = failure {
        attempt.extra.insert("failure_mode".to_owned(), word.into());
    }
    if resolved.is_none() && stated.is_some() && failure.is_none() {
        // Something else than yes or no, and nothing says why.
        attempt.end_reason = Some(EndReason::VerifierError);
        attempt.extra.insert("verdict".to_owned(), "unreadable".into());
        return false;
    }
    if resolved == Some(true) {
        attempt.verdict = Verdict::Passed;
        return false;
    }
    attempt.verdict = if resolved.is_some() { Verdict::Failed } else { Verdict::Error };
    let pane = |name: &str| {
        let folder = trial.folder.as_ref();
        folder.is_some_and(|folder| tree.entry(&join(folder, &format!("panes/{name}"))).is_some())
    };
    let began = result.get("agent_started_at").is_some() || pane("pre-agent.txt") || attempt.steps.is_some();
    let stage = if began { Stage::Begun } else { Stage::NeverBegun };
    let cause = cause(word, resolved.is_some(), stage);
    attempt.end_reason = Some(cause.reason);
    let row = terminal_bench_table::row(word, stage);
    model::note_decision(&mut attempt.extra, row, cause.reason, cause.recognized);
    !cause.recognized
}

fn times(result: &Node, episode: &mut Episode, attempt: &mut Attempt, unusable: &mut UnusableValues) {
    let mut phase = |name: &str| {
        let (start, end) = (format!("{name}_started_at"), format!("{name}_ended_at"));
        let (start, end) = (unusable.time(&start, result.get(&start)), unusable.time(&end, result.get(&end)));
        let seconds = unusable.span(name, start.as_deref(), end.as_deref());
        (start, end, seconds)
    };
    let (trial, agent, tests) = (phase("trial"), phase("agent"), phase("test"));
    let timing = &mut attempt.timing;
    (timing.agent_seconds, timing.test_seconds) = (agent.2, tests.2);
    (episode.timing.agent_seconds, episode.timing.test_seconds) = (agent.2, tests.2);
    (timing.started_at, timing.finished_at) = (agent.0.or(tests.0), tests.1.or(agent.1));
    (episode.timing.started_at, episode.timing.finished_at) = (trial.0, trial.1);
}

/// Agents that `tb` does not count for have 0 in both: that is unknown.
fn usage(result: &Node, attempt: &mut Attempt, unusable: &mut UnusableValues) {
    let mut count = |key| unusable.take(key, result.get(key), value::tokens);
    let (input, output) = (count("total_input_tokens"), count("total_output_tokens"));
    if input.unwrap_or(0) > 0 || output.unwrap_or(0) > 0 {
        // An answer without input tokens: no program counted them.
        attempt.tokens = Tokens { input: input.filter(|tokens| *tokens > 0), cached: None, output };
    }
}

/// Tests are shown and are no cases of a case score: a task is resolved or not.
fn tests(result: &Node, attempt: &mut Attempt, unusable: &mut UnusableValues) {
    attempt.counting = Counting::Outside;
    let Some(all) = result.get("parser_results") else { return };
    let (mut passed, mut total) = (0_u32, 0_u32);
    for (name, status) in all.map() {
        let outcome = match status.text() {
            Some("passed") => TestOutcome::Passed,
            Some("failed") => TestOutcome::Failed,
            Some("skipped") => TestOutcome::Skipped,
            _ => {
                unusable.add(&format!("the outcome of {name}"), &status.to_value());
                TestOutcome::Error
            }
        };
        passed += u32::from(outcome == TestOutcome::Passed);
        total += u32::from(outcome != TestOutcome::Skipped);
        if attempt.tests.len() < TEST_CAP {
            attempt.tests.push(TestResult::new(name.as_str(), outcome));
        }
    }
    (attempt.passed, attempt.total) = (Some(passed), Some(total));
}

/// How often an agent of `tb` called its model: it leaves a folder `agent-logs/episode-N` for each call.
fn calls(tree: &Tree, trial: &Trial) -> Option<u32> {
    let logs = tree.list(&join(trial.folder.as_ref()?, "agent-logs"));
    let numbers: BTreeSet<u32> = logs
        .iter()
        .filter(|entry| entry.is_folder())
        .filter_map(|entry| entry.name.strip_prefix("episode-")?.parse().ok())
        .collect();
    u32::try_from(numbers.len()).ok().filter(|n| *n > 0)
}

fn artifacts(tree: &Tree, trial: &Trial) -> Vec<Artifact> {
    let Some(folder) = &trial.folder else { return Vec::new() };
    let mut out = Vec::new();
    let mut add = |kind, path: String| out.push(Artifact::new(kind, path));
    let files =
        |path: &str| tree.list(path).into_iter().filter(|entry| !entry.is_folder()).collect::<Vec<_>>();
    for (name, kind) in
        [("panes/post-test.txt", ArtifactKind::TestOutput), ("panes/post-agent.txt", ArtifactKind::AgentLog)]
    {
        let path = join(folder, name);
        if tree.entry(&path).is_some_and(|entry| !entry.is_folder()) {
            add(kind, path);
        }
    }
    for name in ["agent-logs", "sessions", ""] {
        let path = join(folder, name);
        for entry in files(&path).iter().filter(|entry| entry.name != RESULTS).take(LOGS_CAP) {
            add(ArtifactKind::AgentLog, join(&path, &entry.name));
        }
    }
    let logs = join(folder, "agent-logs");
    for call in tree.list(&logs).iter().filter(|entry| entry.is_folder()) {
        let path = join(&logs, &call.name);
        for entry in files(&path) {
            add(ArtifactKind::AgentLog, join(&path, &entry.name));
        }
    }
    out.truncate(LOGS_CAP);
    out
}
