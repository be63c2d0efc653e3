//! One attempt at a turn: its verdict, the results of the tests, what it cost, and its files.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use ts_rs::TS;

use crate::{CachedInput, EndReason, GraderPlace, Verdict};

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

/// One test of one attempt. Of passed tests some sources say what they check.
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
    /// The circumstances in which it checks this, as the source names them (`two notes`).
    pub scenario: Option<String>,
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
            scenario: None,
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

/// How `passed` of `total` enters the scores that are computed from shares. Both are shown in any case.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The inverse of [`Counting::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

/// One call of an agent for one turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
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

/// The name in [`Attempt::extra`] of the number of failing tests that the source states, where it is not what `total` leaves beside
/// `passed`: some tests neither passed nor failed.
pub const STATED_FAILING: &str = "stated_failing";

impl Attempt {
    /// An attempt with only a number and a verdict.
    pub fn new(number: u32, verdict: Verdict) -> Self {
        Self { number, verdict, ..Self::default() }
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

    /// What of its workspace or container its results lack, by name, and how many more there are, as Stamina Lab's runner records
    /// it (`left_out`, `left_out_more`). `None` = its source does not say.
    pub fn left_out(&self) -> Option<(Vec<&str>, u64)> {
        let names = self.extra.get("left_out")?.as_array()?;
        let names = names.iter().map(serde_json::Value::as_str).collect::<Option<_>>()?;
        let more = self.extra.get("left_out_more").map_or(Some(0), serde_json::Value::as_u64)?;
        Some((names, more))
    }

    /// How often something outside its agent ended the attempt, so that it was retried, as Stamina Lab's runner records it
    /// (`repeats`). `None` = its source does not say.
    pub fn repeats(&self) -> Option<u64> {
        match self.extra.get("repeats") {
            Some(stated) => stated.as_u64(),
            // The runner leaves out a 0. Every version that records `left_out` counts retries.
            None => self.left_out().map(|_| 0),
        }
    }

    /// The number of failing tests that the source states, where some tests neither passed nor failed ([`STATED_FAILING`]).
    pub fn stated_failing(&self) -> Option<u32> {
        u32::try_from(self.extra.get(STATED_FAILING)?.as_u64()?).ok()
    }

    /// Failing tests that the source describes.
    pub fn described_failing(&self) -> u32 {
        u32::try_from(self.tests.iter().filter(|test| test.is_failing()).count()).unwrap_or(u32::MAX)
    }

    /// Failing tests by the counts of the source: those that it states, else all that did not pass. `None` = it does not count.
    pub fn counted_failing(&self) -> Option<u32> {
        let not_passed = self.total?.saturating_sub(self.passed?);
        // What is described failed, whatever number is stated, and what passed did not.
        let bounded = |stated: u32| stated.max(self.described_failing()).min(not_passed);
        Some(self.stated_failing().map_or(not_passed, bounded))
    }

    /// Failing tests that the source counts but does not describe.
    pub fn failing_not_described(&self) -> u32 {
        let Some(counted) = self.counted_failing().filter(|_| self.verdict != Verdict::Passed) else {
            return 0;
        };
        // Where only passed tests are counted, skipped ones are among the others.
        let only_passed_counted = self.stated_failing().is_none();
        let is_described = |test: &&TestResult| {
            test.is_failing() || only_passed_counted && test.outcome != TestOutcome::Passed
        };
        let described = self.tests.iter().filter(is_described).count();
        counted.saturating_sub(u32::try_from(described).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_unknown_where_its_source_does_not_say() {
        let named = |extra: serde_json::Value| {
            let extra = extra.as_object().cloned().unwrap_or_default();
            let attempt = Attempt { extra, ..Attempt::new(1, Verdict::Failed) };
            attempt.left_out().map(|(names, more)| (names.join(" "), more))
        };
        assert_eq!(
            named(serde_json::json!({"left_out": ["link", "big/"]})),
            Some(("link big/".to_owned(), 0))
        );
        assert_eq!(
            named(serde_json::json!({"left_out": ["a"], "left_out_more": 7})),
            Some(("a".to_owned(), 7))
        );
        assert_eq!(named(serde_json::json!({"left_out": []})), Some((String::new(), 0)));
        // Another runner may call something else so.
        for other in
            [serde_json::json!({}), serde_json::json!({"left_out": 3}), serde_json::json!({"left_out": [1]})]
        {
            assert_eq!(named(other), None);
        }
    }

    #[test]
    fn an_attempt_says_how_often_it_was_retried() {
        let repeats = |extra: serde_json::Value| {
            let extra = extra.as_object().cloned().unwrap_or_default();
            Attempt { extra, ..Attempt::new(1, Verdict::Failed) }.repeats()
        };
        assert_eq!(repeats(serde_json::json!({"repeats": 2})), Some(2));
        assert_eq!(repeats(serde_json::json!({"repeats": 2, "left_out": []})), Some(2));
        assert_eq!(repeats(serde_json::json!({"left_out": ["link"]})), Some(0), "the runner leaves out a 0");
        for unknown in [
            serde_json::json!({}),
            serde_json::json!({"repeats": "often"}),
            serde_json::json!({"repeats": -1, "left_out": []}),
        ] {
            assert_eq!(repeats(unknown), None);
        }
    }

    /// 41 passed and 2 failed of 44: what neither passed nor failed was counted as failing and not described.
    #[test]
    fn tests_that_neither_passed_nor_failed_are_not_counted_as_failing() {
        use TestOutcome::{Failed, Skipped};
        let with_outcomes = |stated: Option<u32>, outcomes: &[TestOutcome]| {
            let mut attempt = Attempt::new(1, Verdict::Failed);
            (attempt.passed, attempt.total) = (Some(41), Some(44));
            if let Some(failing) = stated {
                attempt.extra.insert(STATED_FAILING.to_owned(), failing.into());
            }
            attempt.tests = outcomes.iter().map(|outcome| TestResult::new("c1", *outcome)).collect();
            attempt
        };
        let not_described = |stated, outcomes: &[_]| with_outcomes(stated, outcomes).failing_not_described();
        assert_eq!(not_described(Some(2), &[Failed, Failed]), 0);
        assert_eq!(not_described(Some(2), &[Failed, Skipped]), 1);
        assert_eq!(not_described(Some(99), &[]), 3, "no more than those that did not pass");
        assert_eq!(not_described(None, &[Failed, Failed]), 1);
        assert_eq!(not_described(None, &[Failed, Skipped]), 1);
        let counted = |stated, outcomes: &[_]| with_outcomes(stated, outcomes).counted_failing();
        assert_eq!(
            [counted(Some(2), &[]), counted(Some(99), &[]), counted(None, &[])],
            [Some(2), Some(3), Some(3)]
        );
        assert_eq!(counted(Some(0), &[Failed, Failed]), Some(2), "two are described");
        assert_eq!(Attempt::new(1, Verdict::Failed).counted_failing(), None);
    }

    #[test]
    fn a_share_differs_from_an_unknown_one() {
        let share = |counting, passed, total| {
            Attempt { passed, total, counting, ..Attempt::new(1, Verdict::Failed) }.share()
        };
        assert_eq!(share(Counting::Share, Some(3), Some(4)), Some(0.75));
        assert_eq!(share(Counting::Share, Some(9), Some(4)), Some(1.0));
        assert_eq!(share(Counting::Share, Some(0), Some(0)), Some(0.0));
        assert_eq!(share(Counting::Share, None, Some(4)), None);
        assert_eq!(share(Counting::Share, Some(3), None), None);
        assert_eq!(share(Counting::Zero, Some(3), Some(4)), Some(0.0));
        assert_eq!(share(Counting::Outside, Some(3), Some(4)), None);
    }
}
