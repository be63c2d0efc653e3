//! An episode out of a trajectory in Stamina Lab's own schema.
//!
//! Everything is in the trajectory but the messages of failing tests; those, and the check of the numbers, come from
//! the test logs. Of a log of a passing attempt only the last line is read.

use std::collections::{BTreeSet, HashMap};

use model::{
    Artifact, ArtifactKind, Attempt, CachedInput, EndReason, Episode, GraderPlace, Request, TestOutcome,
    TestResult, Timing, Turn, Verdict, Warning,
};

use super::harbor_step;
use super::schema;
use crate::formats::staminabench::part_warnings::PartWarnings;
use crate::formats::staminabench::test_logs::{self, Claim, Log};
use crate::readers::grader::{OwnTranscript, StepMentions};
use crate::readers::json::Object;
use crate::readers::text::plain_title;
use crate::readers::value::UnusableValues;
use files::{ReadError, Tree, file_name, join, parent};

/// Where the steps of a transcript stand in its file.
const STEPS: &str = "/steps";
/// Largest transcript that is searched, in bytes: the runner writes some 16 MiB at most.
const TRANSCRIPT_CAP: u64 = 64 << 20;
/// Requests up to this size are kept in the store, in bytes.
const REQUEST_CAP: usize = 8 << 10;

/// Turns a trajectory into an episode.
pub(super) fn episode(
    tree: &Tree,
    folder: &str,
    mut episode: Episode,
    recorded: schema::Trajectory,
    warnings: &mut PartWarnings<'_>,
) -> Episode {
    episode.end_reason =
        read_end(folder, recorded.end_reason.as_deref(), warnings).filter(|r| *r != EndReason::PassedAll);
    episode.title = recorded.title.map(|t| t.0);
    let is_task = recorded.task.is_some();
    if let Some(task) = recorded.task.filter(|task| !task.is_empty()) {
        episode.scenario = task.0;
    }
    episode.planned_turns = recorded.planned_turns.or(episode.planned_turns);
    episode.timing = Timing {
        started_at: recorded.started_at.map(|t| t.0),
        finished_at: recorded.finished_at.map(|t| t.0),
        ..Timing::default()
    };
    episode.exception = recorded.exception.map(schema::Exception::pair);
    episode.extra.extend(recorded.extra);
    note_resumes(folder, &episode, warnings);
    if recorded.is_cut {
        warnings.warn(Warning::read_differently(
            join(folder, "trajectory.json"),
            "trajectory.too_large",
            "There is more in this trajectory than is kept in memory. What came first is read.",
        ));
    }
    let mut unusable = UnusableValues::default();
    unusable.take_from_timing(&mut episode.timing);
    if let Some(warning) = unusable.warning(&join(folder, "trajectory.json")) {
        warnings.warn(warning);
    }
    let mut reader = Reader {
        tree,
        folder,
        is_task,
        mentions_before: None,
        mentions: None,
        sizes: HashMap::new(),
        warnings,
    };
    for (index, turn) in recorded.turns.into_iter().enumerate() {
        let turn = reader.turn(index, turn);
        let last_turn = episode.turns.last().map_or(0, |t| t.number);
        if turn.number <= last_turn {
            reader.warnings.warn(Warning::skipped(
                join(folder, "trajectory.json"),
                "turns.out_of_order",
                format!("Turn {} comes after turn {last_turn}. It is left out.", turn.number),
            ));
        } else {
            episode.turns.push(turn);
        }
    }
    let is_open_ended = may_continue(&episode, recorded.attempt_limit);
    episode.attempts_left = is_open_ended;
    if episode.timing.finished_at.is_none() && is_open_ended {
        episode.end_reason = episode.end_reason.or(Some(EndReason::Unfinished));
    }
    episode.unrecognised = test_logs::is_unrecognized(&episode);
    episode
}

/// Notes that a trial of a task was resumed, and what its container lost by it.
fn note_resumes(folder: &str, episode: &Episode, warnings: &mut PartWarnings<'_>) {
    let Some(resumes) = episode.extra.get("resumes").and_then(|list| list.as_array()) else { return };
    let restart_count = resumes.iter().filter(|resume| resume["from"] == "first_step").count();
    let continued = resumes.len() - restart_count;
    if resumes.is_empty() {
        return;
    }
    warnings.warn(Warning::read_differently(
        join(folder, "trajectory.json"),
        "episode.resumed",
        format!(
            "A resume continued this trial {} from the last snapshot of its container, and began it \
             {} anew with its first step. It continued without the processes that earlier steps had left in the \
             background. `resumes` says when and why.",
            model::counted(continued as u64, "time"),
            model::counted(restart_count as u64, "time")
        ),
    ));
}

/// Whether what comes next may still be a turn passed: an attempt that is left at a turn not passed yet, or a turn
/// after those of an episode without a plan.
fn may_continue(episode: &Episode, attempt_limit: Option<u32>) -> bool {
    let Some(open) = episode.turn(episode.stamina() + 1) else { return episode.planned_turns.is_none() };
    let is_last = episode.turns.last().is_some_and(|last| last.number == open.number);
    let tried = open.attempts.last().map_or(0, |last| last.number);
    is_last && attempt_limit.is_some_and(|limit| tried < limit)
}

fn read_end(folder: &str, word: Option<&str>, warnings: &mut PartWarnings<'_>) -> Option<EndReason> {
    let word = word?;
    let reason = EndReason::parse(word);
    if reason.is_none() {
        warnings.warn(Warning::read_differently(
            join(folder, "trajectory.json"),
            "end_reason.unknown",
            format!(
                "“{word}” is no end reason that this version knows. The reason is derived from the verdicts."
            ),
        ));
    }
    reason
}

struct Reader<'a, 'b> {
    tree: &'a Tree,
    folder: &'a str,
    /// Whether it is a task of Harbor, whose rewards decide and whose tests print cases.
    is_task: bool,
    /// What the last transcript of the turn before names of the verifier's places, of a task.
    mentions_before: Option<StepMentions>,
    /// The same of the attempt that was read last.
    mentions: Option<StepMentions>,
    /// Sizes of the files in the folders of logs, each listed once.
    sizes: HashMap<String, HashMap<String, u64>>,
    warnings: &'a mut PartWarnings<'b>,
}

impl Reader<'_, '_> {
    /// A path that the trajectory names, from the tree's root; `None` if it leads out of the scenario.
    fn path(&mut self, relative_path: &str) -> Option<String> {
        let is_inside = !relative_path.is_empty()
            && !relative_path.starts_with('/')
            && !relative_path.contains('\0')
            && relative_path.split('/').all(|part| part != "..");
        if !is_inside {
            let shown: String = relative_path.chars().take(200).collect();
            self.warnings.warn(Warning::skipped(
                join(self.folder, "trajectory.json"),
                "path.outside",
                format!("It names the file “{shown}”, which leads out of the scenario. It is not looked at."),
            ));
        }
        is_inside.then(|| join(self.folder, relative_path))
    }

    fn artifact(&mut self, kind: ArtifactKind, relative_path: Option<&str>, artifacts: &mut Vec<Artifact>) {
        if let Some(path) = relative_path.and_then(|relative_path| self.path(relative_path)) {
            artifacts.push(Artifact::new(kind, path));
        }
    }

    fn size(&mut self, path: &str) -> Option<u64> {
        let folder = parent(path);
        if !self.sizes.contains_key(folder) {
            let file_sizes = self
                .tree
                .list(folder)
                .into_iter()
                .filter(|e| !e.is_folder())
                .map(|e| (e.name, e.size))
                .collect();
            self.sizes.insert(folder.to_owned(), file_sizes);
        }
        self.sizes.get(folder)?.get(file_name(path)).copied()
    }

    fn turn(&mut self, index: usize, recorded: schema::Turn) -> Turn {
        let mut turn = Turn::new(recorded.number);
        turn.title = recorded.title.map(|t| plain_title(&t.0));
        let files = recorded.files.unwrap_or_default();
        turn.extra = recorded.extra;
        turn.request = match recorded.request {
            Some(text) if text.len() <= REQUEST_CAP || files.request.is_none() => Some(Request::Text(text.0)),
            _ => files
                .request
                .as_deref()
                .and_then(|relative_path| self.path(relative_path))
                .map(|path| Request::File(Artifact::new(ArtifactKind::Request, path))),
        };
        self.artifact(ArtifactKind::Reference, files.reference.as_deref(), &mut turn.artifacts);
        self.artifact(ArtifactKind::Suite, files.suite.as_deref(), &mut turn.artifacts);
        self.artifact(ArtifactKind::Schema, files.schema.as_deref(), &mut turn.artifacts);
        for (attempt_index, attempt) in recorded.attempts.into_iter().enumerate() {
            let pointer = format!("/turns/{index}/attempts/{attempt_index}/steps");
            let attempt = self.attempt(recorded.number, attempt, &recorded.tests.0, pointer);
            if turn.attempts.last().is_none_or(|before| before.number < attempt.number) {
                turn.attempts.push(attempt);
            } else {
                self.warnings.warn(Warning::skipped(
                    join(self.folder, "trajectory.json"),
                    "turns.out_of_order",
                    format!(
                        "Attempt {} of turn {} comes twice. The second is left out.",
                        attempt.number, recorded.number
                    ),
                ));
            }
        }
        self.mentions_before = self.mentions.take().or(self.mentions_before.take());
        turn
    }

    /// What the tool calls of an attempt's transcript name of the places of its task's verifier. `None` = there is no
    /// transcript, or it cannot be read.
    fn grader_places(&mut self, attempt: &Attempt) -> Option<BTreeSet<GraderPlace>> {
        let is_own_file = |artifact: &&Artifact| {
            artifact.kind == ArtifactKind::Transcript && artifact.pointer.as_deref() == Some(STEPS)
        };
        let path = &attempt.artifacts.iter().find(is_own_file)?.path;
        match self.tree.read_json::<Object<OwnTranscript>>(path, TRANSCRIPT_CAP) {
            Ok(Object(transcript)) => {
                self.warnings.read_file();
                let places = transcript.steps.new_places(self.mentions_before.as_ref());
                self.mentions = Some(transcript.steps);
                Some(places)
            }
            // It is shown as missing where it is opened.
            Err(ReadError::Missing) => None,
            Err(error) => {
                self.warnings.warn(Warning::skipped(
                    path,
                    error.code(),
                    format!("{error}. Which places of the verifier its tool calls name is unknown."),
                ));
                None
            }
        }
    }

    fn attempt(
        &mut self,
        turn: u32,
        recorded: schema::Attempt,
        suite: &[schema::Name],
        pointer: String,
    ) -> Attempt {
        let mut attempt = Attempt::new(recorded.number, Verdict::Error);
        attempt.end_reason = read_end(self.folder, recorded.end_reason.as_deref(), self.warnings);
        let tokens = recorded.tokens.unwrap_or_default();
        attempt.tokens = tokens.with_cached_included();
        attempt.cached_input = CachedInput::from_counts(&tokens);
        attempt.cost_usd = recorded.cost_usd;
        attempt.tool_calls = recorded.tool_calls;
        // Every call of the model goes through the gateway, and is a step.
        attempt.steps = recorded.model_requests;
        attempt.exception = recorded.exception.map(schema::Exception::pair);
        attempt.timing = Timing {
            started_at: recorded.started_at.map(|t| t.0),
            finished_at: recorded.finished_at.map(|t| t.0),
            agent_seconds: recorded.agent_seconds,
            test_seconds: recorded.test_seconds,
        };
        attempt.extra = recorded.extra;
        if let Some(schema::StepCount(steps)) = recorded.steps {
            attempt.extra.insert("agent_steps".to_owned(), steps.into());
        }
        if attempt.extra.get("session_restarted") == Some(&true.into()) {
            self.warnings.warn(Warning::read_differently(
                join(self.folder, "trajectory.json"),
                "session.restarted",
                format!(
                    "The agent's session could not be continued. Turn {turn}, attempt {} began a new one, which was told the \
                     request again and knows nothing of what came before. Whether the episode counts as one session is for \
                     you to say.",
                    recorded.number
                ),
            ));
        }
        let files = recorded.files.unwrap_or_default();
        self.files(&mut attempt, &files, recorded.steps.is_some().then_some(pointer));
        attempt.tests = self.tests(
            turn,
            recorded.number,
            suite,
            recorded.outcomes.as_deref().unwrap_or(""),
            recorded.failures.0,
        );

        (attempt.passed, attempt.total) = (recorded.passed, recorded.total);
        let mut unusable = UnusableValues::default();
        unusable.take_from_attempt(&mut attempt);
        if let Some(mut warning) = unusable.warning(&join(self.folder, "trajectory.json")) {
            warning.message = format!("Turn {turn}, attempt {}: {}", recorded.number, warning.message);
            self.warnings.warn(warning);
        }
        let (passed, total) = (attempt.passed.take(), attempt.total.take());
        let claim = Claim { passed, total, success: recorded.success };
        attempt.verdict = self.verdict(&recorded.verdict, claim);
        let described = attempt.tests.iter().filter(|t| t.is_failing()).all(|t| t.message.is_some());
        let brief = !attempt.tests.is_empty() && (attempt.verdict == Verdict::Passed || described);
        let path = files
            .test_output
            .as_deref()
            .and_then(|relative_path| self.path(relative_path))
            .unwrap_or_default();
        if self.is_task {
            (attempt.passed, attempt.total) = (claim.passed, claim.total);
            harbor_step::add_reward_and_cases(self.tree, &path, &mut attempt, self.warnings);
            attempt.grader_places = self.grader_places(&attempt);
            return attempt;
        }
        let log = if let Some(size) = self.size(&path) {
            test_logs::read(self.tree, &path, size, claim, brief, self.warnings)
        } else {
            if !path.is_empty() {
                self.warnings.warn(Warning::skipped(
                    &path,
                    "file.missing",
                    "The trajectory names this test log, and it is not there. The numbers of the trajectory are taken unchecked.",
                ));
            }
            Log::Nothing
        };
        let log = match log {
            Log::Whole(log) => Some(*log),
            Log::Agrees | Log::Nothing => None,
        };
        test_logs::set_verdict(&mut attempt, claim, &path, log, self.warnings);
        test_logs::set_end_reason(&mut attempt);
        attempt
    }

    fn verdict(&mut self, word: &str, claim: Claim) -> Verdict {
        Verdict::parse(word).unwrap_or_else(|| {
            self.warnings.warn(Warning::read_differently(
                join(self.folder, "trajectory.json"),
                "verdict.unknown",
                format!("“{word}” is no verdict that this version knows. It is derived from the numbers."),
            ));
            match claim.passes() {
                Some(true) => Verdict::Passed,
                Some(false) => Verdict::Failed,
                None => Verdict::Error,
            }
        })
    }

    fn files(&mut self, attempt: &mut Attempt, files: &schema::AttemptFiles, steps: Option<String>) {
        let artifacts = &mut attempt.artifacts;
        if let Some(pointer) = steps {
            let path = join(self.folder, "trajectory.json");
            artifacts.push(Artifact { kind: ArtifactKind::Transcript, path, pointer: Some(pointer) });
        } else if let Some(path) =
            files.transcript.as_deref().and_then(|relative_path| self.path(relative_path))
        {
            artifacts.push(Artifact {
                kind: ArtifactKind::Transcript,
                path,
                pointer: Some(STEPS.to_owned()),
            });
        }
        self.artifact(ArtifactKind::TestOutput, files.test_output.as_deref(), artifacts);
        self.artifact(ArtifactKind::ServerLog, files.server_log.as_deref(), artifacts);
        for log in &files.agent_logs.0 {
            self.artifact(ArtifactKind::AgentLog, Some(log), artifacts);
        }
        self.artifact(ArtifactKind::Code, files.code.as_deref(), artifacts);
    }

    /// The tests of the suite with their outcomes, one letter each, and what the trajectory says of the failing ones.
    fn tests(
        &mut self,
        turn: u32,
        attempt: u32,
        suite: &[schema::Name],
        outcomes: &str,
        failures: Vec<schema::Failure>,
    ) -> Vec<TestResult> {
        if !outcomes.is_empty() && outcomes.len() != suite.len() {
            self.warnings.warn(Warning::read_differently(
                join(self.folder, "trajectory.json"),
                "tests.mismatch",
                format!(
                    "Turn {turn} attempt {attempt}: {} for {}. Those without the other are left out.",
                    model::counted(outcomes.len() as u64, "outcome"),
                    model::counted(suite.len() as u64, "test")
                ),
            ));
        }
        let mut tests: Vec<TestResult> = suite
            .iter()
            .zip(outcomes.bytes())
            .filter_map(|(id, letter)| {
                let outcome = match letter {
                    b'.' => TestOutcome::Passed,
                    b'F' => TestOutcome::Failed,
                    b'E' => TestOutcome::Error,
                    b's' => TestOutcome::Skipped,
                    _ => return None,
                };
                Some(TestResult::new(&**id, outcome))
            })
            .collect();
        if failures.is_empty() {
            return tests;
        }
        let index: HashMap<String, usize> =
            tests.iter().enumerate().map(|(i, t)| (t.id.clone(), i)).collect();
        for failure in failures {
            let test_index = index.get(&*failure.test).copied().unwrap_or_else(|| {
                tests.push(TestResult::new(&*failure.test, TestOutcome::Failed));
                tests.len() - 1
            });
            let test = &mut tests[test_index];
            test.message = failure.message.map(|t| t.0);
            test.expected = failure.expected.map(|t| t.0);
            test.actual = failure.actual.map(|t| t.0);
        }
        tests
    }
}
