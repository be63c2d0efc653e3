//! One scenario played in one run: its turns, their attempts, what the tests said.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{CachedInput, EndReason, Ending, GraderPlace, SessionFigures, TurnState, Verdict};

/// Fields in the source's own names, kept in order. Values are JSON.
pub type Extra = serde_json::Map<String, serde_json::Value>;

/// Tokens of model calls. `input` includes `cached`. Unknown = `None`.
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
    /// Whether nothing is known.
    pub const fn is_unknown(&self) -> bool {
        self.input.is_none() && self.cached.is_none() && self.output.is_none()
    }

    /// Adds what is known; a sum with an unknown part is the sum of the known parts.
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

/// When something happened and how long its parts took, in seconds. Unknown = `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Timing {
    /// RFC 3339; without an offset where the source gives none.
    pub started_at: Option<String>,
    /// RFC 3339.
    pub finished_at: Option<String>,
    /// Seconds in which the agent worked.
    pub agent_seconds: Option<f64>,
    /// Seconds in which the tests ran.
    pub test_seconds: Option<f64>,
}

/// What one test said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It raised outside its body (set-up, collection).
    Error,
    /// It was skipped, or expected to fail.
    Skipped,
}

/// One test of one attempt. Passed tests carry only their id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TestResult {
    /// The id as the suite names it (`tests/test_orders.py::test_cancel`, `c003`).
    pub id: String,
    /// What it said.
    pub outcome: TestOutcome,
    /// The requirement or group it belongs to, where the source says so.
    pub group: Option<String>,
    /// Its kind in the source's words (`core`, `boundary`).
    pub kind: Option<String>,
    /// What it is about, in one line.
    pub intent: Option<String>,
    /// What was expected.
    pub expected: Option<String>,
    /// What came.
    pub actual: Option<String>,
    /// The message, possibly many lines.
    pub message: Option<String>,
}

impl TestResult {
    /// A test of which only its id and outcome are known.
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

    /// Whether a reader should look at it.
    pub const fn is_failing(&self) -> bool {
        matches!(self.outcome, TestOutcome::Failed | TestOutcome::Error)
    }
}

/// What lies in an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    /// Steps of the agent, in a form that [`crate::Transcript`] is read from.
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

/// Something that stays where it is in the source and is read when looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Artifact {
    /// What lies there.
    pub kind: ArtifactKind,
    /// File or folder, relative to the source, with `/`.
    pub path: String,
    /// JSON pointer (RFC 6901) of the part that is meant, where the file holds more than one.
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
    /// Short enough, or only there inside a larger file: kept in the store.
    Text(String),
    /// Read from the source when looked at.
    File(Artifact),
}

/// How an attempt's `passed` of `total` enters the scores that are made of shares. They are shown either way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// As the share that passed.
    #[default]
    Share,
    /// As 0: they were counted out of an output that lacks the tests' own sum, which is what the benchmark asks for.
    Zero,
    /// Not at all: they are not of the kind of tests that the benchmark counts.
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

/// One try at a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// What the tests said.
    pub verdict: Verdict,
    /// Why it ended; `None` for a plain pass.
    pub end_reason: Option<EndReason>,
    /// Tests passed.
    pub passed: Option<u32>,
    /// Tests run.
    pub total: Option<u32>,
    /// How those two enter scores.
    pub counting: Counting,
    /// The grade, where the source grades (`reward`).
    pub reward: Option<f64>,
    /// Tests by id, as far as the source describes them. `passed`/`total` win over their count.
    pub tests: Vec<TestResult>,
    /// Tokens of this attempt.
    pub tokens: Tokens,
    /// How its cached tokens came to be part of its input.
    #[serde(default)]
    pub cached_input: CachedInput,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Tool calls of the agent; `None` = no transcript.
    pub tool_calls: Option<u32>,
    /// Steps of the agent: calls of its model, each with the tool calls that it asked for; `None` = nothing tells.
    pub steps: Option<u32>,
    /// When and how long.
    pub timing: Timing,
    /// An exception that the runner recorded: type and message.
    pub exception: Option<(String, String)>,
    /// Places of its task's verifier that the agent's tool calls name; `None` = it is no attempt at a task, or no transcript
    /// tells.
    #[serde(default)]
    pub grader_places: Option<BTreeSet<GraderPlace>>,
    /// Where its logs, code and transcript lie.
    pub artifacts: Vec<Artifact>,
    /// Unknown fields, kept.
    pub extra: Extra,
}

impl Attempt {
    /// An attempt of which only its number and verdict are known.
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
    /// The share of its tests that passed, 0 to 1, as scores count it. 0 where it is known that no test ran; `None` =
    /// the source counts no tests here, or none that scores are about.
    pub fn share(&self) -> Option<f64> {
        match (self.counting, self.passed, self.total) {
            (Counting::Outside, ..) => None,
            (Counting::Zero, ..) | (_, _, Some(0)) => Some(0.0),
            // No turn counts more than whole, whatever the source says.
            (_, Some(passed), Some(total)) => Some(f64::from(passed.min(total)) / f64::from(total)),
            (_, None, _) | (_, _, None) => None,
        }
    }

    /// Failing tests that the source counts and does not describe.
    pub fn failing_not_described(&self) -> u32 {
        let counted = match (self.verdict, self.passed, self.total) {
            (Verdict::Passed, ..) | (_, None, _) | (_, _, None) => 0,
            (_, Some(passed), Some(total)) => total.saturating_sub(passed),
        };
        let described = self.tests.iter().filter(|t| t.outcome != TestOutcome::Passed).count();
        counted.saturating_sub(u32::try_from(described).unwrap_or(u32::MAX))
    }
}

/// One change request and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Turn {
    /// From 1.
    pub number: u32,
    /// A short name: the step's name, the first line of the request.
    pub title: Option<String>,
    /// What was asked.
    pub request: Option<Request>,
    /// In order; empty = not reached.
    pub attempts: Vec<Attempt>,
    /// Artifacts that belong to the turn and to no attempt (reference, suite, schema).
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

    /// The state of this turn's cell. The final attempt decides (README of StaminaBench, "Scoring").
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

/// One scenario played in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Episode {
    /// Identity inside its run; stable over re-reading.
    pub key: String,
    /// What a copy of it has in common with it, wherever it lies: an id of the source's own, or a hash of its contents;
    /// `None` = nothing tells it from others. Equal ones are the same observation, and count once.
    #[serde(default)]
    pub identity: Option<String>,
    /// The scenario (task) it plays: the same name over runs means the same scenario.
    pub scenario: String,
    /// What a person reads, where the source has a nicer name.
    pub title: Option<String>,
    /// Repeat of the scenario in this run, from 1.
    pub repeat: u32,
    /// How many turns were planned; `None` = the source does not say.
    pub planned_turns: Option<u32>,
    /// In order of `number`, gaps allowed; turns past the last are not reached.
    pub turns: Vec<Turn>,
    /// Why the observation ended: the reason of the first turn not passed, or why there is none.
    /// `None` lets [`Episode::end`] decide from the turns.
    pub end_reason: Option<EndReason>,
    /// Whether its last turn had attempts left when the episode ended: where something outside ended it, that turn is not
    /// decided. False where the source does not say.
    #[serde(default)]
    pub attempts_left: bool,
    /// Whether it is the agent's end only because nothing proves that it was anybody else's: an exception ended it whose
    /// cause is not recognised.
    #[serde(default)]
    pub unrecognised: bool,
    /// Why the source has it as withdrawn; `None` = it counts.
    #[serde(default)]
    pub invalid: Option<String>,
    /// What the source reports of the whole episode, such as (`harbor.reward`, 0.75).
    pub reported: Vec<(String, f64)>,
    /// Tokens where only the episode's sum is known.
    pub tokens: Option<Tokens>,
    /// How the cached ones of these came to be part of the input.
    #[serde(default)]
    pub cached_input: CachedInput,
    /// Cost where only the episode's sum is known.
    pub cost_usd: Option<f64>,
    /// When.
    pub timing: Timing,
    /// An exception of the whole episode: type and message.
    pub exception: Option<(String, String)>,
    /// Logs that belong to no turn.
    pub artifacts: Vec<Artifact>,
    /// Fields that describe the scenario (difficulty, category) or are unknown, kept.
    pub extra: Extra,
    /// Figures of a session of a benchmark without tests.
    #[serde(default)]
    pub session: Option<SessionFigures>,
}

impl Episode {
    /// An episode of which only its key and scenario are known.
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

    /// The last turn that is known to exist: planned, or the highest seen.
    pub fn known_turns(&self) -> u32 {
        self.planned_turns.unwrap_or(0).max(self.turns.last().map_or(0, |t| t.number))
    }

    /// The first turn not passed and the reason that ended the observation there.
    ///
    /// The first turn not passed decides, even if the agent was allowed to go on: stamina is about the first failure.
    /// The turn is `None` when every known turn was passed. A last turn whose attempts failed so far is not decided
    /// where the episode's own reason is *unfinished*, or where attempts were left and its reason is one from outside.
    pub fn end(&self) -> (Option<u32>, EndReason) {
        let stamina = self.stamina();
        if let Some(turn) = self.turn(stamina + 1)
            && let Some(last) = turn.attempts.last()
        {
            // The agent may go on after a turn that it failed: why the episode ended later says nothing about it.
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
                // Nothing judges a turn without tests: why the episode ended is all there is.
                (Verdict::NotTested, _) => self.end_reason.unwrap_or(EndReason::NoVerdict),
                (Verdict::Error, _) => last.end_reason.or(of_episode).unwrap_or(EndReason::NoVerdict),
                (Verdict::Unfinished, _) => last.end_reason.or(of_episode).unwrap_or(EndReason::Unfinished),
            };
            return (Some(stamina + 1), reason);
        }
        match self.planned_turns {
            Some(planned) if stamina >= planned => (None, EndReason::PassedAll),
            // A later turn that is known of was not passed: what came of the one before it is unknown.
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
    fn a_turn_with_attempts_left_is_not_failed_by_who_stops_the_episode() {
        let mut e = episode(Some(3), &[&[Passed], &[Failed]]);
        e.end_reason = Some(EndReason::Cancelled);
        assert_eq!(e.end(), (Some(2), EndReason::TestsFailed), "it may have been the last attempt");
        e.attempts_left = true;
        assert_eq!(e.end(), (Some(2), EndReason::Cancelled));
        e.end_reason = Some(EndReason::Budget);
        assert_eq!(e.end(), (Some(2), EndReason::Budget));
        e.end_reason = Some(EndReason::GaveUp);
        assert_eq!(e.end(), (Some(2), EndReason::TestsFailed), "the agent's own end");
    }

    #[test]
    fn a_share_is_told_from_an_unknown_one() {
        let of =
            |counting, passed, total| Attempt { passed, total, counting, ..Attempt::new(1, Failed) }.share();
        assert_eq!(of(Counting::Share, Some(3), Some(4)), Some(0.75));
        assert_eq!(of(Counting::Share, Some(9), Some(4)), Some(1.0));
        assert_eq!(of(Counting::Share, Some(0), Some(0)), Some(0.0));
        assert_eq!(of(Counting::Share, None, Some(4)), None);
        assert_eq!(of(Counting::Share, Some(3), None), None);
        assert_eq!(of(Counting::Zero, Some(3), Some(4)), Some(0.0));
        assert_eq!(of(Counting::Outside, Some(3), Some(4)), None);
    }

    #[test]
    fn a_gap_in_the_turns_is_not_a_pass() {
        let mut e = episode(Some(3), &[&[Passed], &[Passed], &[Passed]]);
        e.turns.remove(1);
        assert_eq!(e.stamina(), 1);
        assert_eq!(e.end(), (Some(2), EndReason::Unfinished));
    }

    #[test]
    fn the_end_is_told_from_the_turns() {
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
