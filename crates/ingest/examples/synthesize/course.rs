//! How an episode goes: which attempts there are, and what fails in them.
//!
//! Each turn has a risk that the run cannot pass it, by the strength of model and harness and a little more with every
//! turn. After the first failure the service is broken somewhere, and turns fail more often.

use crate::chance::Chance;
use crate::scenario::Scenario;

/// Most attempts of a turn.
pub(crate) const ATTEMPT_LIMIT: usize = 3;

/// How strong model and harness are together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strength {
    /// The risk at the first turn that it is not passed at all.
    pub(crate) hazard: f64,
    /// The probability that the first attempt does not pass although a later one does.
    pub(crate) retry: f64,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All tests passed.
    Passed,
    /// These tests failed, by their places in the suite.
    Failed(Vec<usize>),
    /// The server did not start: every test raised.
    Down,
    /// The agent did not finish, and these tests failed.
    TimedOut(Vec<usize>),
    /// There is no verdict: an end reason, the type of an exception and what it says.
    Error(&'static str, &'static str, &'static str),
}

/// A played turn: its attempts.
pub(crate) type AttemptOutcomes = Vec<Outcome>;

/// An episode.
#[derive(Debug)]
pub(crate) struct Course {
    /// The turns, from the first.
    pub(crate) turns: Vec<AttemptOutcomes>,
    /// The reason why it ended early.
    pub(crate) end: Option<&'static str>,
}

const ERRORS: [(&str, &str, &str); 4] = [
    ("endpoint", "ThrottlingException", "Too many requests, please wait before trying again."),
    ("context_overflow", "ContextWindowExceededError", "Input is too long: 204811 tokens > 200000 maximum."),
    ("agent_error", "NonZeroExit", "The agent's command line ended with 137."),
    ("budget", "BudgetExceeded", "The run reached its limit of 400 US dollars."),
];

impl Course {
    /// Plays a scenario.
    pub(crate) fn play(chance: &mut Chance, strength: Strength, scenario: &Scenario) -> Self {
        let mut course = Self { turns: Vec::with_capacity(scenario.turns.len()), end: None };
        // One in twenty ends before its time, for a reason outside or inside the agent.
        let breaks_off = chance.happens(1.0 / 20.0).then(|| chance.between(2, scenario.turns.len().max(2)));
        let mut broken = false;
        for (index, turn) in scenario.turns.iter().enumerate() {
            let number = index + 1;
            let tests = turn.tests.len();
            if breaks_off == Some(number) {
                let error = chance.pick(&ERRORS);
                course.turns.push(vec![Outcome::Error(error.0, error.1, error.2)]);
                course.end = Some(error.0);
                break;
            }
            let hazard =
                if broken { 0.18 } else { (strength.hazard * (1.0 + number as f64 / 80.0)).min(0.6) };
            let mut attempts = Vec::new();
            if chance.happens(hazard) {
                let mut failing = failing(chance, tests);
                let limit = if broken { 2 } else { ATTEMPT_LIMIT };
                for _ in 0..limit {
                    attempts.push(failed(chance, failing.clone()));
                    if failing.len() > 1 {
                        failing.truncate(failing.len().div_ceil(2));
                    }
                }
                broken = true;
            } else {
                if chance.happens(strength.retry) {
                    let failing = failing(chance, tests);
                    attempts.push(failed(chance, failing));
                    if chance.happens(0.2) {
                        attempts.push(Outcome::Failed(vec![chance.between(0, tests - 1)]));
                    }
                }
                attempts.push(Outcome::Passed);
            }
            course.turns.push(attempts);
        }
        course
    }

    /// Turns passed before the first that was not.
    pub(crate) fn stamina(&self) -> usize {
        self.turns.iter().take_while(|attempts| attempts.last() == Some(&Outcome::Passed)).count()
    }

    /// All attempts.
    pub(crate) fn attempts(&self) -> usize {
        self.turns.iter().map(Vec::len).sum()
    }
}

fn failed(chance: &mut Chance, failing: Vec<usize>) -> Outcome {
    match chance.share() {
        share if share < 0.03 => Outcome::Down,
        share if share < 0.08 => Outcome::TimedOut(failing),
        _ => Outcome::Failed(failing),
    }
}

/// Some tests of a suite; the later ones, which are of newer features, more often.
fn failing(chance: &mut Chance, tests: usize) -> Vec<usize> {
    let count = 1 + (chance.share().powi(3) * 9.0) as usize;
    let mut failing: Vec<usize> =
        (0..count).map(|_| tests - 1 - (chance.share().powi(2) * tests as f64) as usize).collect();
    failing.sort_unstable();
    failing.dedup();
    failing
}
