//! One graded step: from its entry in the trial's result and from its folder to an attempt.

use std::collections::HashSet;

use model::{Artifact, ArtifactKind, Attempt, EndReason, Tokens, Verdict, Warning};

use crate::attribution::{Attribution, Cell};
use crate::format_trait::Report;
use crate::readers::atif::TrajectorySummary;
use crate::readers::grader::StepMentions;
use crate::readers::json::{Node, Object};
use crate::readers::value::{self, UnusableValues};
use files::{Entry, Tree, join};

use super::accounting::Agent;
use super::continued;
use super::exception::{Phases, RecordedException};
use super::layout::is_file;
use super::limits::CONTINUATIONS;
use super::resumed::Session;
use super::reward::{Decision, Rewards};
use super::settings::plain;
use super::step_tests;

const TRAJECTORY_CAP: u64 = 1 << 30;
const LOGS_CAP: usize = 200;
const ZERO: Tokens = Tokens { input: Some(0), cached: Some(0), output: Some(0) };

/// An attempt, and what deciding about build failures needs to know of it.
#[derive(Debug)]
pub(super) struct GradedStep {
    pub(super) attempt: Attempt,
    /// Whether its output has CASE lines.
    pub(super) cases: bool,
    /// Whether it was graded as not passed, without any test that is described.
    pub(super) bare: bool,
    /// Whether an exception ended it whose cause is not recognized.
    pub(super) unrecognized: bool,
    /// The first message to the agent.
    pub(super) first_message: Option<FirstMessage>,
    /// What its trajectory says of the agent's session.
    pub(super) session: Session,
    /// Whether a step of its trajectory has more cached than input tokens.
    pub(super) cache_exceeds_input: bool,
    /// What the tool calls of its trajectory name of the verifier's places; `None` = it has none, or not all of it was read.
    pub(super) mentions: Option<StepMentions>,
}

/// The first message to an agent.
#[derive(Debug)]
pub(super) struct FirstMessage {
    /// The transcript in which it stands.
    pub(super) path: String,
    /// Where in it.
    pub(super) pointer: String,
    /// The instruction in it, where the harness has framed it with words of its own.
    pub(super) instruction: Option<String>,
}

/// What the trial around a step says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StepContext<'a> {
    /// The trial's exception, if it ended the step.
    pub(super) exception: Option<&'a RecordedException>,
    /// Whether the step is the first.
    pub(super) first: bool,
    /// Whether there is no result: the trial is running or was killed.
    pub(super) unfinished: bool,
    /// Whether there is a result that cannot be read: the trial has ended.
    pub(super) unreadable: bool,
    /// How its agent counts tokens.
    pub(super) agent: Agent<'a>,
}

/// Reads a step. `folder` holds `agent/`, `verifier/` and `artifacts/`; `node` is its entry in the result, if any.
pub(super) fn read(
    tree: &Tree,
    folder: &str,
    node: Option<&Node>,
    context: StepContext,
    report: &mut Report,
) -> GradedStep {
    let mut attempt = Attempt::new(1, Verdict::Error);
    let raised = RecordedException::read(node);
    let phases = Phases { node, first: context.first };
    let by_result = node.and_then(Rewards::from_step);
    // Without an entry in the result the verifier's own file is the only witness.
    let rewards =
        by_result.or_else(|| if node.is_none() { Rewards::from_files(tree, folder, report) } else { None });
    if let Some(rewards) = &rewards {
        rewards.warn(folder, report);
        attempt.extra.extend(rewards.shown().map(|all| ("rewards".to_owned(), all)));
    }
    let decision = rewards.map(|rewards| rewards.decide());

    let mut unusable = UnusableValues::default();
    times(node, &mut attempt, &mut unusable);
    usage(node, &mut attempt, &mut unusable);
    let test_sources = step_tests::read(tree, folder, &mut attempt, &mut unusable, report);
    let trajectory_facts = trajectory(tree, folder, &mut attempt, &mut unusable, report);
    context.agent.drop_uncounted(&mut attempt);
    attempt.artifacts = artifacts(tree, folder, &trajectory_facts.continuations);
    unusable.take_from_attempt(&mut attempt);
    unusable.warn(folder, report);

    let (mut bare, mut unrecognized) = (false, false);
    if let Some(passed) = decision.and_then(Decision::passed) {
        if let Some(Decision::Reward(reward)) = decision {
            attempt.reward = Some(reward);
        }
        attempt.verdict = if passed { Verdict::Passed } else { Verdict::Failed };
        if !passed {
            // An agent that ran out of time was still graded: the exception says why it failed.
            let cause = raised.as_ref().and_then(|r| r.explains_failed(phases));
            attempt.end_reason = Some(EndReason::TestsFailed);
            unrecognized = set_end(&mut attempt, cause);
            // Counts that are there and cannot be are unknown, and not none.
            let nothing_ran = attempt.total.map_or(!test_sources.counted, |total| total == 0);
            bare = cause.is_none() && attempt.tests.is_empty() && nothing_ran;
        }
    } else if let Some(raised) = raised.as_ref().or(context.exception) {
        attempt.end_reason = Some(EndReason::NoVerdict);
        unrecognized = set_end(&mut attempt, raised.ended(phases));
        if attempt.end_reason == Some(EndReason::Cancelled) {
            attempt.verdict = Verdict::Unfinished;
        }
    } else if context.unreadable || (decision.is_some() && !context.unfinished) {
        // The verifier came to an end, and what it left cannot be read.
        attempt.end_reason = Some(EndReason::VerifierError);
        attempt.extra.insert("verdict".to_owned(), "unreadable".into());
    } else if context.unfinished {
        attempt.verdict = Verdict::Unfinished;
        attempt.end_reason = Some(EndReason::Unfinished);
    } else {
        attempt.end_reason = Some(EndReason::NoVerdict);
    }
    // The exception that ended the trial is recorded at a step only if it kept that step from being graded.
    let trial_exception =
        context.exception.filter(|_| attempt.reward.is_none() && attempt.verdict != Verdict::Passed);
    attempt.exception = raised.as_ref().or(trial_exception).map(RecordedException::recorded);
    let TrajectoryFacts { first_message, session, cache_exceeds_input, mentions, .. } = trajectory_facts;
    let cases = test_sources.cases;
    GradedStep { attempt, cases, bare, unrecognized, first_message, session, cache_exceeds_input, mentions }
}

/// Takes over why the attempt ended, where an exception says it, and says whether its cause is not recognized.
fn set_end(attempt: &mut Attempt, cause: Option<Attribution>) -> bool {
    let Some(cause) = cause else { return false };
    attempt.end_reason = Some(cause.reason);
    let row = cause.cell.map(Cell::name);
    model::note_decision(&mut attempt.extra, row, cause.reason, cause.recognized);
    !cause.recognized
}

fn times(node: Option<&Node>, attempt: &mut Attempt, unusable: &mut UnusableValues) {
    let mut phase = |part: &str| {
        let mut time = |key: &str| {
            let value = node.and_then(|n| n.descendant(&[part, key]));
            unusable.time(&format!("{part}.{key}"), value)
        };
        let (start, end) = (time("started_at"), time("finished_at"));
        let seconds = unusable.span(part, start.as_deref(), end.as_deref());
        (start, end, seconds)
    };
    let (agent, tests) = (phase("agent_execution"), phase("verifier"));
    (attempt.timing.agent_seconds, attempt.timing.test_seconds) = (agent.2, tests.2);
    (attempt.timing.started_at, attempt.timing.finished_at) = (agent.0.or(tests.0), tests.1.or(agent.1));
}

fn usage(node: Option<&Node>, attempt: &mut Attempt, unusable: &mut UnusableValues) {
    const KNOWN: [&str; 6] =
        ["n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd", "model_usage", "metadata"];
    const KNOWN_STEP: [&str; 6] =
        ["step_name", "agent_result", "verifier_result", "exception_info", "agent_execution", "verifier"];
    let Some(node) = node else { return };
    for (key, value) in node.map() {
        // A single-step trial has far more fields; they are read there.
        if node.get("step_name").is_some() && !KNOWN_STEP.contains(&key.as_str()) && *value != Node::Null {
            attempt.extra.insert(key.clone(), plain(key, value));
        }
    }
    let Some(result) = node.get("agent_result") else { return };
    let mut count = |key| unusable.take(key, result.get(key), value::tokens);
    attempt.tokens = Tokens {
        input: count("n_input_tokens"),
        cached: count("n_cache_tokens"),
        output: count("n_output_tokens"),
    };
    attempt.cost_usd = unusable.take("cost_usd", result.get("cost_usd"), value::dollars);
    for (key, value) in result.map() {
        if !KNOWN.contains(&key.as_str()) && *value != Node::Null {
            attempt.extra.insert(key.clone(), plain(key, value));
        }
    }
    for (key, value) in result.get("metadata").map_or(&[][..], Node::map) {
        if value.list().len() <= 32 && *value != Node::Null {
            attempt.extra.insert(key.clone(), plain(key, value));
        }
    }
    // One model is the run's; more than one is news.
    if let Some(usage) = result.get("model_usage").filter(|u| u.map().len() > 1) {
        attempt.extra.insert("model_usage".to_owned(), usage.to_value());
    }
}

/// What a trajectory holds beside its counts.
#[derive(Debug, Default)]
struct TrajectoryFacts {
    first_message: Option<FirstMessage>,
    session: Session,
    /// Whether a step has more cached than input tokens.
    cache_exceeds_input: bool,
    /// What its tool calls name of the verifier's places.
    mentions: Option<StepMentions>,
    /// The files that continue it and were read, whatever their names are.
    continuations: HashSet<String>,
}

/// Counts steps and tool calls over a trajectory and its continuations, and fills in tokens where only it knows them.
fn trajectory(
    tree: &Tree,
    folder: &str,
    attempt: &mut Attempt,
    unusable: &mut UnusableValues,
    report: &mut Report,
) -> TrajectoryFacts {
    let mut trajectory_facts = TrajectoryFacts::default();
    let agent = join(folder, "agent");
    let first = join(&agent, "trajectory.json");
    if !is_file(tree, &first) {
        return trajectory_facts;
    }
    let mut path = first.clone();
    let (mut calls, mut steps) = (0, 0);
    let mut last_totals = None;
    let mut step_tokens = Tokens::default();
    let mut read = HashSet::from([path.clone()]);
    for part in 0..CONTINUATIONS {
        let mut facts: TrajectorySummary = match tree.read_json(&path, TRAJECTORY_CAP) {
            Ok(Object(facts)) => facts,
            Err(error) => {
                report.unreadable(&path, &error, "Its steps and tool calls are not counted.");
                // The first part decides whether anything is known.
                if part == 0 {
                    return trajectory_facts;
                }
                read.remove(&path);
                // What is not read may name what the rest does not.
                trajectory_facts.mentions =
                    trajectory_facts.mentions.filter(|mentions| !mentions.is_silent());
                break;
            }
        };
        report.files_read += 1;
        unusable.append(facts.take_unusable());
        calls += facts.tool_calls();
        steps += facts.agent_steps();
        last_totals = facts.totals(unusable).or(last_totals);
        step_tokens = step_tokens.plus(facts.tokens_of_steps());
        trajectory_facts.cache_exceeds_input |= facts.cache_exceeds_input();
        trajectory_facts.session.messages.extend(facts.messages());
        trajectory_facts.session.cost_is_estimated = facts.cost_is_estimated();
        facts.add_mentions(trajectory_facts.mentions.get_or_insert_default());
        if part == 0 {
            trajectory_facts.first_message = facts.first_user_step().map(|i| FirstMessage {
                path: path.clone(),
                pointer: format!("/steps/{i}/message"),
                instruction: facts.instruction().map(str::to_owned),
            });
        }
        match facts.continued_in().map(|name| join(&agent, name)) {
            Some(next) if !is_file(tree, &next) => break,
            Some(next) if read.insert(next.clone()) => path = next,
            Some(_) => {
                let message = "It continues in a file that was read before. Each file is read once.";
                report.warn(Warning::read_differently(&path, "trajectory.circle", message));
                break;
            }
            None => break,
        }
    }
    read.remove(&first);
    trajectory_facts.continuations = read;
    attempt.tool_calls = Some(calls);
    attempt.steps = Some(steps);
    let all_zero = attempt.tokens.plus(ZERO) == ZERO;
    if all_zero && steps > 0 || attempt.tokens.is_unknown() {
        let (tokens, cost) = last_totals.unwrap_or_default();
        let found = if tokens.is_unknown() { step_tokens } else { tokens };
        if !found.is_unknown() {
            attempt.tokens = found;
        }
        attempt.cost_usd = attempt.cost_usd.or(cost);
    }
    trajectory_facts
}

/// What lies in a step's folder: transcripts, the tests' output, the agent's logs, the collected files. `continuations` were
/// read with the step's trajectory.
pub(super) fn artifacts(tree: &Tree, folder: &str, continuations: &HashSet<String>) -> Vec<Artifact> {
    let mut out = Vec::new();
    let agent = join(folder, "agent");
    let mut logs = Vec::new();
    text_files(tree, &agent, 0, &mut logs);
    // Of a simulated user, where there is one.
    text_files(tree, &join(folder, "user-agent"), 0, &mut logs);
    let is_trajectory = |path: &str| {
        let name = path.strip_prefix(&agent).map_or("", |p| p.trim_start_matches('/'));
        name.starts_with("trajectory") && name.ends_with(".json")
    };
    let (mut transcripts, logs): (Vec<String>, Vec<String>) =
        logs.into_iter().partition(|p| is_trajectory(p));
    // Continuations are shown with the file that they continue.
    transcripts.retain(|path| !continuations.contains(path));
    let shown_elsewhere = continued::continuations(tree, &transcripts);
    transcripts.retain(|path| !shown_elsewhere.contains(path));
    transcripts.sort_by_key(|p| (!p.ends_with("/trajectory.json"), p.clone()));
    out.extend(transcripts.into_iter().map(|p| Artifact::new(ArtifactKind::Transcript, p)));

    let mut outputs = Vec::new();
    text_files(tree, &join(folder, "verifier"), 0, &mut outputs);
    outputs.retain(|p| !p.ends_with("/reward.txt") && !p.ends_with("/reward.json"));
    outputs.sort_by_key(|p| (!p.ends_with("/test-stdout.txt"), p.clone()));
    out.extend(outputs.into_iter().map(|p| Artifact::new(ArtifactKind::TestOutput, p)));

    out.extend(logs.into_iter().map(|p| Artifact::new(ArtifactKind::AgentLog, p)));

    let collected = join(folder, "artifacts");
    if tree.list(&collected).iter().any(|e| e.name != "manifest.json") {
        out.push(Artifact::new(ArtifactKind::Code, collected));
    }
    out
}

/// Files below a folder that may be text, by their names.
fn text_files(tree: &Tree, folder: &str, depth: u8, out: &mut Vec<String>) {
    const BINARY: [&str; 24] = [
        "png", "jpg", "jpeg", "gif", "webp", "pdf", "zip", "gz", "tgz", "tar", "xz", "zst", "bz2", "db",
        "sqlite", "so", "o", "pyc", "bin", "exe", "wav", "mp3", "mp4", "webm",
    ];
    let text = |e: &Entry| {
        let extension = e.name.rsplit_once('.').map(|(_, x)| x.to_ascii_lowercase());
        extension.is_none_or(|x| !BINARY.contains(&x.as_str()))
    };
    for entry in tree.list(folder) {
        if out.len() >= LOGS_CAP {
            return;
        }
        let path = join(folder, &entry.name);
        if entry.is_folder() {
            if depth < 6 {
                text_files(tree, &path, depth + 1, out);
            }
        } else if text(&entry) {
            out.push(path);
        }
    }
}
