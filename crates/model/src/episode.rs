//! One scenario in one run: its turns, their attempts, and the results of the tests.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{CachedInput, EndReason, Ending, GraderPlace, SessionFigures, TurnState, Verdict};

/// Fields under the names of the source, in their order. Values are JSON.
pub type Extra = serde_json::Map<String, serde_json::Value>;

/// Tokens of model calls. `input` includes `cached`. `None` is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Tokens {
    /// Prompt tokens, cached ones included.
    pub input: Option<u64>,
    /// Prompt tokens that the provider served from its cache.
    pub cached: Option<u64>,
    /// Completion tokens.
    pub output: Option<u64>,
}

impl Tokens {
    /// Whether all three counts are unknown.
    pub const fn is_unknown(&self) -> bool {
        self.input.is_none() && self.cached.is_none() && self.output.is_none()
    }

    /// Adds the known counts. A sum with an unknown part is the sum of the known parts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        fn add(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            match (a, b) {
                (None, None) => None,
                (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
            }
        }
        Self {
            input: add(self.input, other.input),
            cached: add(self.cached, other.cached),
            output: add(self.output, other.output),
        }
    }
}

/// When something happened and how long its parts took, in seconds. `None` is unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Timing {
    /// RFC 3339; without an offset where the source gives none.
    pub started_at: Option<String>,
    /// RFC 3339.
    pub finished_at: Option<String>,
    /// Seconds that the agent took.
    pub agent_seconds: Option<f64>,
    /// Seconds that the tests took.
    pub test_seconds: Option<f64>,
}

/// The outcome of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It raised an error outside its body (set-up, collection).
    Error,
    /// It was skipped, or expected to fail.
    Skipped,
}

/// One test of one attempt. Passed tests have only their id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TestResult {
    /// The id as the suite names it (`tests/test_orders.py::test_cancel`, `c003`).
    pub id: String,
    /// The outcome.
    pub outcome: TestOutcome,
    /// The requirement or group it belongs to, if the source names one.
    pub group: Option<String>,
    /// Its kind in the source's words (`core`, `boundary`).
    pub kind: Option<String>,
    /// What it checks, in one line.
    pub intent: Option<String>,
    /// What was expected.
    pub expected: Option<String>,
    /// What happened instead.
    pub actual: Option<String>,
    /// The message, possibly many lines.
    pub message: Option<String>,
}

impl TestResult {
    /// A test with only an id and an outcome.
    pub fn new(id: impl Into<String>, outcome: TestOutcome) -> Self {
        Self {
            id: id.into(),
            outcome,
            group: None,
            kind: None,
            intent: None,
            expected: None,
            actual: None,
            message: None,
        }
    }

    /// Whether it failed or raised an error.
    pub const fn is_failing(&self) -> bool {
        matches!(self.outcome, TestOutcome::Failed | TestOutcome::Error)
    }
}

/// What an artifact contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    /// Steps of the agent, in a form from which a [`crate::Transcript`] is read.
    Transcript,
    /// Output of the tests.
    TestOutput,
    /// Output of the agent's server.
    ServerLog,
    /// Output of the harness.
    AgentLog,
    /// Other logs: of the runner, an exception's traceback.
    Log,
    /// A folder: the snapshot of the agent's workspace after the attempt.
    Code,
    /// The change request.
    Request,
    /// The reference solution or server of the turn.
    Reference,
    /// The test suite of the turn.
    Suite,
    /// The schema of the turn.
    Schema,
}

/// A file, or a part of one, that stays in the source and is read when somebody opens it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Artifact {
    /// What it contains.
    pub kind: ArtifactKind,
    /// File or folder, relative to the source, with `/`.
    pub path: String,
    /// JSON pointer (RFC 6901) of the part, if the file holds more than one.
    pub pointer: Option<String>,
}

impl Artifact {
    /// A whole file or folder.
    pub fn new(kind: ArtifactKind, path: impl Into<String>) -> Self {
        Self { kind, path: path.into(), pointer: None }
    }
}

/// The change request of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub enum Request {
    /// Short, or a part of a larger file: kept in the store.
    Text(String),
    /// Read from the source when somebody opens it.
    File(Artifact),
}

/// How `passed` of `total` enters the scores that are computed from shares. Both are shown in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// As the share that passed.
    #[default]
    Share,
    /// As 0: the output lacks the sum of the tests that the benchmark requires, so a reader counted them.
    Zero,
    /// Not at all: the benchmark does not count tests of this kind.
    Outside,
}

impl Counting {
    /// The word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Share => "share",
            Self::Zero => "zero",
            Self::Outside => "outside",
        }
    }

    /// The inverse of [`Counting::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Share, Self::Zero, Self::Outside].into_iter().find(|c| c.as_str() == word)
    }
}

/// One call of an agent for one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// The verdict of the tests.
    pub verdict: Verdict,
    /// Why it ended; `None` if it passed.
    pub end_reason: Option<EndReason>,
    /// Tests passed.
    pub passed: Option<u32>,
    /// Tests run.
    pub total: Option<u32>,
    /// How these two counts enter scores.
    pub counting: Counting,
    /// The grade, if the source grades (`reward`).
    pub reward: Option<f64>,
    /// The tests that the source describes. `passed` and `total` take precedence over their number.
    pub tests: Vec<TestResult>,
    /// Tokens of this attempt.
    pub tokens: Tokens,
    /// Why its input includes the cached tokens.
    #[serde(default)]
    pub cached_input: CachedInput,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Tool calls of the agent; `None` = no transcript.
    pub tool_calls: Option<u32>,
    /// Steps of the agent: calls of its model, each with the tool calls that it requested; `None` = unknown.
    pub steps: Option<u32>,
    /// When and how long.
    pub timing: Timing,
    /// An exception that the runner recorded: type and message.
    pub exception: Option<(String, String)>,
    /// Places of the verifier that the agent's tool calls name; `None` = it is not an attempt at a task, or there is no
    /// transcript.
    #[serde(default)]
    pub grader_places: Option<BTreeSet<GraderPlace>>,
    /// Its logs, code and transcript.
    pub artifacts: Vec<Artifact>,
    /// Unknown fields, kept.
    pub extra: Extra,
}

impl Attempt {
    /// An attempt with only a number and a verdict.
    pub fn new(number: u32, verdict: Verdict) -> Self {
        Self {
            number,
            verdict,
            end_reason: None,
            passed: None,
            total: None,
            counting: Counting::Share,
            reward: None,
            tests: Vec::new(),
            tokens: Tokens::default(),
            cached_input: CachedInput::Included,
            cost_usd: None,
            tool_calls: None,
            steps: None,
            timing: Timing::default(),
            exception: None,
            grader_places: None,
            artifacts: Vec::new(),
            extra: Extra::new(),
        }
    }
}

impl Attempt {
    /// The share of its tests that passed, 0 to 1, as scores count it. It is 0 if it is known that no test ran, and `None`
    /// if the source counts no tests here, or none that enter scores.
    pub fn share(&self) -> Option<f64> {
        match (self.counting, self.passed, self.total) {
            (Counting::Outside, ..) => None,
            (Counting::Zero, ..) | (_, _, Some(0)) => Some(0.0),
            // No turn counts more than 1, whatever the source reports.
            (_, Some(passed), Some(total)) => Some(f64::from(passed.min(total)) / f64::from(total)),
            (_, None, _) | (_, _, None) => None,
        }
    }

    /// Failing tests that the source counts but does not describe.
    pub fn failing_not_described(&self) -> u32 {
        let counted = match (self.verdict, self.passed, self.total) {
            (Verdict::Passed, ..) | (_, None, _) | (_, _, None) => 0,
            (_, Some(passed), Some(total)) => total.saturating_sub(passed),
        };
        let described = self.tests.iter().filter(|t| t.outcome != TestOutcome::Passed).count();
        counted.saturating_sub(u32::try_from(described).unwrap_or(u32::MAX))
    }
}

/// One change request with its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Turn {
    /// From 1.
    pub number: u32,
    /// A short name: the step's name, the first line of the request.
    pub title: Option<String>,
    /// The change request.
    pub request: Option<Request>,
    /// In order; empty = not reached.
    pub attempts: Vec<Attempt>,
    /// Artifacts of the turn that belong to no attempt (reference, suite, schema).
    pub artifacts: Vec<Artifact>,
    /// Unknown fields, kept.
    pub extra: Extra,
}

impl Turn {
    /// A turn without attempts.
    pub fn new(number: u32) -> Self {
        Self {
            number,
            title: None,
            request: None,
            attempts: Vec::new(),
            artifacts: Vec::new(),
            extra: Extra::new(),
        }
    }

    /// The state of this turn in the grid. The final attempt decides it (README of StaminaBench, "Scoring").
    pub fn state(&self) -> TurnState {
        let Some(last) = self.attempts.last() else { return TurnState::NotReached };
        match last.verdict {
            Verdict::Passed if self.attempts.len() > 1 => TurnState::PassedAfterRetries,
            Verdict::Passed => TurnState::Passed,
            Verdict::Failed => TurnState::Failed,
            Verdict::Error => TurnState::Error,
            Verdict::Unfinished => TurnState::Censored,
            Verdict::NotTested => TurnState::NotTested,
        }
    }
}

/// One scenario in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Episode {
    /// Identity inside its run. It stays the same when the source is read again.
    pub key: String,
    /// What all copies of it share: an id from the source, or a hash of its contents; `None` = it cannot be told from
    /// others. Episodes with equal values are the same observation and count once.
    #[serde(default)]
    pub identity: Option<String>,
    /// The scenario (task). The same name in several runs means the same scenario.
    pub scenario: String,
    /// A name for people, if the source has one.
    pub title: Option<String>,
    /// Repeat of the scenario in this run, from 1.
    pub repeat: u32,
    /// How many turns were planned; `None` = the source does not record it.
    pub planned_turns: Option<u32>,
    /// In the order of `number`, possibly with gaps. Turns after the last one were not reached.
    pub turns: Vec<Turn>,
    /// Why the observation ended: the reason of the first turn that was not passed, or why every turn was passed.
    /// With `None`, [`Episode::end`] decides it from the turns.
    pub end_reason: Option<EndReason>,
    /// Whether its last turn had attempts left when the episode ended. If something outside ended it, that turn is not
    /// decided. False if the source does not record it.
    #[serde(default)]
    pub attempts_left: bool,
    /// Whether an exception with an unrecognized cause ended it. Such an end is attributed to the agent, because nothing
    /// proves another cause.
    #[serde(default)]
    pub unrecognised: bool,
    /// Why the source marks it as withdrawn; `None` = it counts.
    #[serde(default)]
    pub invalid: Option<String>,
    /// Figures that the source reports for the whole episode, such as (`harbor.reward`, 0.75).
    pub reported: Vec<(String, f64)>,
    /// Tokens, if only the sum of the episode is known.
    pub tokens: Option<Tokens>,
    /// Why the input of these includes the cached ones.
    #[serde(default)]
    pub cached_input: CachedInput,
    /// Cost, if only the sum of the episode is known.
    pub cost_usd: Option<f64>,
    /// When.
    pub timing: Timing,
    /// An exception of the whole episode: type and message.
    pub exception: Option<(String, String)>,
    /// Logs that belong to no turn.
    pub artifacts: Vec<Artifact>,
    /// Fields that describe the scenario (difficulty, category) or are unknown, kept.
    pub extra: Extra,
    /// Figures of a session, if the benchmark has no tests.
    #[serde(default)]
    pub session: Option<SessionFigures>,
}

impl Episode {
    /// An episode with only a key and a scenario.
    pub fn new(key: impl Into<String>, scenario: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            identity: None,
            scenario: scenario.into(),
            title: None,
            repeat: 1,
            planned_turns: None,
            turns: Vec::new(),
            end_reason: None,
            attempts_left: false,
            unrecognised: false,
            invalid: None,
            reported: Vec::new(),
            tokens: None,
            cached_input: CachedInput::Included,
            cost_usd: None,
            timing: Timing::default(),
            exception: None,
            artifacts: Vec::new(),
            extra: Extra::new(),
            session: None,
        }
    }

    /// The turn of this number.
    pub fn turn(&self, number: u32) -> Option<&Turn> {
        self.turns.binary_search_by_key(&number, |t| t.number).ok().map(|i| &self.turns[i])
    }

    /// Stamina: consecutive turns passed from turn 1.
    pub fn stamina(&self) -> u32 {
        let mut passed = 0;
        for turn in &self.turns {
            if turn.number != passed + 1 || !turn.state().is_passed() {
                break;
            }
            passed += 1;
        }
        passed
    }

    /// The last turn that is known to exist: the planned number, or the highest recorded one.
    pub fn known_turns(&self) -> u32 {
        self.planned_turns.unwrap_or(0).max(self.turns.last().map_or(0, |t| t.number))
    }

    /// The first turn not passed and the reason that ended the observation there. The turn is `None` if every known turn
    /// was passed.
    ///
    /// The first turn not passed decides, even if the agent was allowed to continue: stamina measures the first failure.
    /// A last turn whose attempts failed so far is not decided in two cases: the reason of the episode is *unfinished*,
    /// or attempts were left and the reason comes from outside.
    pub fn end(&self) -> (Option<u32>, EndReason) {
        let stamina = self.stamina();
        if let Some(turn) = self.turn(stamina + 1)
            && let Some(last) = turn.attempts.last()
        {
            // The agent may continue after a failed turn, so the later end of the episode does not explain that failure.
            let of_episode =
                self.end_reason.filter(|_| self.turns.last().is_some_and(|t| t.number == turn.number));
            let from_outside = of_episode.filter(|reason| {
                *reason == EndReason::Unfinished
                    || self.attempts_left && reason.default_ending() == Ending::Censored
            });
            let reason = match (last.verdict, from_outside) {
                // Attempts are left: the next one may pass.
                (Verdict::Failed | Verdict::Error, Some(reason)) => reason,
                (_, Some(EndReason::Unfinished)) => EndReason::Unfinished,
                (Verdict::Passed | Verdict::Failed, _) => last.end_reason.unwrap_or(EndReason::TestsFailed),
                // A turn without tests has no verdict. The reason of the episode is the only evidence.
                (Verdict::NotTested, _) => self.end_reason.unwrap_or(EndReason::NoVerdict),
                (Verdict::Error, _) => last.end_reason.or(of_episode).unwrap_or(EndReason::NoVerdict),
                (Verdict::Unfinished, _) => last.end_reason.or(of_episode).unwrap_or(EndReason::Unfinished),
            };
            return (Some(stamina + 1), reason);
        }
        match self.planned_turns {
            Some(planned) if stamina >= planned => (None, EndReason::PassedAll),
            // A later known turn was not passed. The outcome of the turn before it is unknown.
            None if stamina > 0
                && self.end_reason.is_none()
                && self.turns.iter().all(|turn| turn.number <= stamina) =>
            {
                (None, EndReason::PassedAll)
            }
            _ => (Some(stamina + 1), self.end_reason.unwrap_or(EndReason::Unfinished)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn turn(number: u32, verdicts: &[Verdict]) -> Turn {
        let mut t = Turn::new(number);
        t.attempts = verdicts.iter().zip(1..).map(|(v, n)| Attempt::new(n, *v)).collect();
        t
    }

    fn episode(planned: Option<u32>, turns: &[&[Verdict]]) -> Episode {
        let mut e = Episode::new("e", "s");
        e.planned_turns = planned;
        e.turns = turns.iter().zip(1..).map(|(v, n)| turn(n, v)).collect();
        e
    }

    use Verdict::{Error, Failed, Passed, Unfinished};

    #[test]
    fn stamina_counts_passes_before_the_first_turn_not_passed() {
        let e = episode(Some(4), &[&[Passed], &[Failed, Passed], &[Failed, Failed], &[Passed]]);
        assert_eq!(e.stamina(), 2);
        assert_eq!(e.end(), (Some(3), EndReason::TestsFailed));
        assert_eq!(e.turns[1].state(), TurnState::PassedAfterRetries);
    }

    #[test]
    fn a_failed_turn_stays_failed_whatever_ended_the_episode_later() {
        let mut e = episode(Some(3), &[&[Failed], &[Passed]]);
        e.end_reason = Some(EndReason::Budget);
        assert_eq!(e.end(), (Some(1), EndReason::TestsFailed));
        let mut cut = episode(Some(3), &[&[Passed], &[Unfinished]]);
        cut.end_reason = Some(EndReason::Budget);
        assert_eq!(cut.end(), (Some(2), EndReason::Budget));
    }

    #[test]
    fn stopping_an_episode_does_not_fail_a_turn_with_attempts_left() {
        let mut e = episode(Some(3), &[&[Passed], &[Failed]]);
        e.end_reason = Some(EndReason::Cancelled);
        assert_eq!(e.end(), (Some(2), EndReason::TestsFailed), "it may have been the last attempt");
        e.attempts_left = true;
        assert_eq!(e.end(), (Some(2), EndReason::Cancelled));
        e.end_reason = Some(EndReason::Budget);
        assert_eq!(e.end(), (Some(2), EndReason::Budget));
        e.end_reason = Some(EndReason::GaveUp);
        assert_eq!(e.end(), (Some(2), EndReason::TestsFailed), "an end of the agent");
    }

    #[test]
    fn a_share_differs_from_an_unknown_one() {
        let share =
            |counting, passed, total| Attempt { passed, total, counting, ..Attempt::new(1, Failed) }.share();
        assert_eq!(share(Counting::Share, Some(3), Some(4)), Some(0.75));
        assert_eq!(share(Counting::Share, Some(9), Some(4)), Some(1.0));
        assert_eq!(share(Counting::Share, Some(0), Some(0)), Some(0.0));
        assert_eq!(share(Counting::Share, None, Some(4)), None);
        assert_eq!(share(Counting::Share, Some(3), None), None);
        assert_eq!(share(Counting::Zero, Some(3), Some(4)), Some(0.0));
        assert_eq!(share(Counting::Outside, Some(3), Some(4)), None);
    }

    #[test]
    fn a_gap_in_the_turns_is_not_a_pass() {
        let mut e = episode(Some(3), &[&[Passed], &[Passed], &[Passed]]);
        e.turns.remove(1);
        assert_eq!(e.stamina(), 1);
        assert_eq!(e.end(), (Some(2), EndReason::Unfinished));
    }

    #[test]
    fn the_end_is_decided_from_the_turns() {
        assert_eq!(episode(Some(2), &[&[Passed], &[Passed]]).end(), (None, EndReason::PassedAll));
        assert_eq!(episode(Some(3), &[&[Passed]]).end(), (Some(2), EndReason::Unfinished));
        assert_eq!(episode(Some(3), &[&[Passed], &[Error]]).end(), (Some(2), EndReason::NoVerdict));
        assert_eq!(episode(Some(3), &[&[Unfinished]]).end(), (Some(1), EndReason::Unfinished));
        assert_eq!(episode(None, &[]).end(), (Some(1), EndReason::Unfinished));
    }

    proptest! {
        #[test]
        fn stamina_never_exceeds_what_is_known(codes in prop::collection::vec(0u8..4, 0..30), planned in prop::option::of(0u32..40)) {
            let verdicts: Vec<Vec<Verdict>> = codes.iter().map(|c| vec![[Passed, Failed, Error, Unfinished][*c as usize]]).collect();
            let refs: Vec<&[Verdict]> = verdicts.iter().map(Vec::as_slice).collect();
            let e = episode(planned, &refs);
            prop_assert!(e.stamina() <= e.known_turns());
            if let (Some(turn), _) = e.end() { prop_assert_eq!(turn, e.stamina() + 1); }
        }
    }
}
