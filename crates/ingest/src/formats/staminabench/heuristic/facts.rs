//! What a source says about attempts and turns, before it is known how it counts them and whether the logs agree.

use model::{Artifact, EndReason, Extra, TestOutcome, TestResult, Timing};

use super::usage::Usage;

/// What is recorded of one attempt, or of a turn or an episode as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordFacts {
    /// Tests passed.
    pub(super) passed: Option<u32>,
    /// Tests run.
    pub(super) total: Option<u32>,
    /// Tests failed.
    pub(super) failed: Option<u32>,
    /// Tests that raised.
    pub(super) errored: Option<u32>,
    /// Whether it passed.
    pub(super) success: Option<bool>,
    /// A grade.
    pub(super) score: Option<f64>,
    /// Why it ended.
    pub(super) end_reason: Option<EndReason>,
    /// What was raised: type and message.
    pub(super) exception: Option<(String, String)>,
    /// Tests one by one.
    pub(super) tests: Vec<TestResult>,
    /// Tokens and cost.
    pub(super) usage: Usage,
    /// Tool calls.
    pub(super) tool_calls: Option<u32>,
    /// Entries of its transcript.
    pub(super) steps: Option<u32>,
    /// Those of them that are the agent's.
    pub(super) agent_steps: Option<u32>,
    /// Times.
    pub(super) timing: Timing,
    /// Where its transcript and logs lie.
    pub(super) artifacts: Vec<Artifact>,
    /// What is not known by name.
    pub(super) extra: Extra,
    /// Values of known names that cannot be what the name says: name and value. They are in `extra`, too.
    pub(super) odd: Vec<String>,
    /// A value that holds the verdict and cannot be read: name and value.
    pub(super) unreadable: Option<String>,
}

impl RecordFacts {
    /// Whether there is anything that only an attempt has.
    pub(super) fn is_played(&self) -> bool {
        self.has_verdict()
            || !self.odd.is_empty()
            || !self.tests.is_empty()
            || self.total.is_some()
            || self.steps.is_some()
            || self.tool_calls.is_some()
            || self.exception.is_some()
            || self.end_reason.is_some()
            || self.usage != Usage::default()
            || self.timing != Timing::default()
    }

    /// Tests passed and run, completed from the counts of those that did not pass.
    pub(super) fn numbers(&self) -> (Option<u32>, Option<u32>) {
        let not_passed = match (self.failed, self.errored) {
            (None, None) => None,
            (f, e) => Some(f.unwrap_or(0).saturating_add(e.unwrap_or(0))),
        };
        match (self.passed, self.total, not_passed) {
            (Some(p), None, Some(n)) => (Some(p), Some(p.saturating_add(n))),
            (None, Some(t), Some(n)) => (t.checked_sub(n), Some(t)),
            (None, None, None) if !self.tests.is_empty() => {
                let count =
                    |o: &[TestOutcome]| self.tests.iter().filter(|t| o.contains(&t.outcome)).count() as u32;
                let passed = count(&[TestOutcome::Passed]);
                let failing = count(&[TestOutcome::Failed, TestOutcome::Error]);
                // A list of failing tests only does not say how many passed.
                if passed > 0 { (Some(passed), Some(passed + failing)) } else { (None, None) }
            }
            (p, t, _) => (p, t),
        }
    }

    /// Whether anything is recorded about the verdict.
    pub(super) fn has_verdict(&self) -> bool {
        self.success.is_some() || self.passed.is_some() || self.failed.is_some() || self.score.is_some()
    }

    /// Fills in from others what is not known here.
    pub(super) fn complete(&mut self, other: Self) {
        if !self.has_verdict() {
            self.passed = other.passed;
            self.total = self.total.or(other.total);
            self.failed = other.failed;
            self.errored = self.errored.or(other.errored);
            self.success = other.success;
            self.score = other.score;
        }
        self.end_reason = self.end_reason.or(other.end_reason);
        self.exception = self.exception.take().or(other.exception);
        if self.tests.is_empty() {
            self.tests = other.tests;
        }
        self.usage.complete(other.usage);
        self.tool_calls = self.tool_calls.or(other.tool_calls);
        self.steps = self.steps.or(other.steps);
        self.agent_steps = self.agent_steps.or(other.agent_steps);
        let (timing, other_timing) = (&mut self.timing, other.timing);
        timing.started_at = timing.started_at.take().or(other_timing.started_at);
        timing.finished_at = timing.finished_at.take().or(other_timing.finished_at);
        timing.agent_seconds = timing.agent_seconds.or(other_timing.agent_seconds);
        timing.test_seconds = timing.test_seconds.or(other_timing.test_seconds);
        self.artifacts.extend(other.artifacts);
        self.odd.extend(other.odd);
        self.unreadable = self.unreadable.take().or(other.unreadable);
        for (key, value) in other.extra {
            self.extra.entry(key).or_insert(value);
        }
    }

    /// Adds what belongs to the same attempt: the sums grow, the rest is completed.
    pub(super) fn join(&mut self, other: Self) {
        let mut usage = self.usage;
        usage.add(other.usage);
        let sum = |a: Option<u32>, b: Option<u32>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        let calls = sum(self.tool_calls, other.tool_calls);
        let agent_steps = sum(self.agent_steps, other.agent_steps);
        let finished = other.timing.finished_at.clone();
        let is_later_verdict = other.has_verdict();
        if is_later_verdict {
            // Of several records of one attempt the last one with a verdict counts.
            (self.passed, self.total, self.failed, self.errored) = (None, None, None, None);
            (self.success, self.score) = (None, None);
        }
        self.complete(other);
        self.usage = usage;
        self.tool_calls = calls;
        self.agent_steps = agent_steps;
        self.timing.finished_at = finished.or(self.timing.finished_at.take());
    }
}

/// How a source numbers something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// It states the number; whether it counts from 0 or 1 is not known yet.
    Stated(u32),
    /// By its position in a list, from 1.
    Position(u32),
}

impl Number {
    /// The number that is stated, else the position of an index.
    pub(super) fn new(stated: Option<u32>, index: usize) -> Self {
        let position = u32::try_from(index).unwrap_or(u32::MAX - 1).saturating_add(1);
        stated.map_or(Self::Position(position), Self::Stated)
    }
}

/// What is recorded of a turn.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnFacts {
    /// A short name.
    pub(super) title: Option<String>,
    /// What was asked.
    pub(super) request: Option<String>,
    /// Its attempts.
    pub(super) attempts: Vec<(Number, RecordFacts)>,
    /// What is recorded of the turn as a whole; several records of a turn are its attempts.
    pub(super) records: Vec<RecordFacts>,
    /// How many attempts there were.
    pub(super) attempt_count: Option<u32>,
}

/// What a trajectory says.
#[derive(Debug, Default)]
pub(super) struct TrajectoryFacts {
    /// Turns in the order of the file; a number may come more than once.
    pub(super) turns: Vec<(Number, TurnFacts)>,
    /// The episode as a whole.
    pub(super) whole: RecordFacts,
    /// How many turns were to be.
    pub(super) planned: Option<u32>,
    /// A name for people.
    pub(super) title: Option<String>,
    /// Whether it says more than is kept.
    pub(super) is_cut: bool,
}
