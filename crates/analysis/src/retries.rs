//! Stamina as a function of the retry budget, from the attempts of one run.
//!
//! **What a truncation says.** An episode under budget R passes a turn only if one of its first R + 1 attempts passed.
//! The first turn that needed more is where it would have failed. Up to that turn this is what was observed: the same
//! agent, the same requests, the same code.
//!
//! **What it cannot say.** What the agent would have done *after* that turn, with code that fails, is not observed.
//! Stamina does not need it, because it ends at the first turn not passed. But an agent that knows of its budget may
//! work otherwise; feedback of later attempts at one turn shapes the code that all later turns start from, so that a
//! turn passed at the first attempt may owe that to a retry three turns before (under R = 0 the episode has ended by
//! then); and R = 0 from truncation is "one attempt, where more were promised", not a run without feedback. It is an
//! estimate from one experiment, not a second experiment.

use model::{CensoringPolicy, EndReason, Ending, Episode, Turn, Verdict};
use serde::{Deserialize, Serialize};

use crate::bootstrap::{Bootstrapped, Resampling, bootstrap_ratio};
use crate::clusters::InScenario;
use crate::survival::Observation;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptEnd {
    /// It passed.
    Passed,
    /// It did not, and that counts against the agent.
    Event,
    /// It did not, for a reason outside the agent.
    Censored,
}

impl AttemptEnd {
    /// From its verdict and end reason. What is not passed and has no reason counts against the agent, unless it is
    /// unfinished.
    pub fn from_verdict(verdict: Verdict, reason: Option<EndReason>, policy: &CensoringPolicy) -> Self {
        let reason = match (verdict, reason) {
            (Verdict::Passed, _) => return Self::Passed,
            (Verdict::Unfinished | Verdict::NotTested, None) => EndReason::Unfinished,
            (Verdict::Failed | Verdict::Error, None) => EndReason::TestsFailed,
            (_, Some(reason)) => reason,
        };
        match policy.ending(reason) {
            Ending::Event => Self::Event,
            Ending::Censored => Self::Censored,
        }
    }
}

/// The attempts at one turn, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnAttempts {
    /// The turn, from 1.
    pub turn: u32,
    /// How each ended.
    pub attempts: Vec<AttemptEnd>,
}

impl TurnAttempts {
    /// The attempts that a turn records.
    pub fn of_turn(turn: &Turn, policy: &CensoringPolicy) -> Self {
        let attempts =
            turn.attempts.iter().map(|a| AttemptEnd::from_verdict(a.verdict, a.end_reason, policy)).collect();
        Self { turn: turn.number, attempts }
    }
}

/// An episode with all of its attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeAttempts {
    /// The scenario.
    pub scenario: String,
    /// How it ended with the retries that it had.
    pub observed: Observation,
    /// Its turns, in order; those after the first failure are not looked at.
    pub turns: Vec<TurnAttempts>,
}

impl EpisodeAttempts {
    /// The attempts that an episode records.
    pub fn from_episode(episode: &Episode, policy: &CensoringPolicy) -> Self {
        Self {
            scenario: episode.scenario.clone(),
            observed: Observation::from_episode(episode, policy),
            turns: episode.turns.iter().map(|t| TurnAttempts::of_turn(t, policy)).collect(),
        }
    }

    /// The episode as it would have ended with `retries` retries, see the head of this module.
    ///
    /// The first turn of which none of the first `retries` + 1 attempts passed, although a later one did, is an event
    /// at that turn; it is censored before that turn where the last attempt within the budget was stopped from outside
    /// the agent, and where a turn's attempts are not recorded.
    pub fn truncated(&self, retries: u32) -> Observation {
        let budget = retries as usize + 1;
        let due = self.observed.turns.saturating_add(1);
        let mut turns = self.turns.iter().filter(|t| t.turn <= due);
        for turn in 1..=self.observed.turns {
            let Some(row) = turns.by_ref().find(|t| t.turn == turn) else {
                return Observation::censored_after(turn - 1);
            };
            let within = &row.attempts[..row.attempts.len().min(budget)];
            if within.contains(&AttemptEnd::Passed) {
                continue;
            }
            return ended(turn, within.last().copied().unwrap_or(AttemptEnd::Censored));
        }
        // The turn that it did not pass: with fewer attempts it may have ended for another reason.
        match turns.find(|t| t.turn == due) {
            Some(row) if row.attempts.len() > budget => match row.attempts[budget - 1] {
                AttemptEnd::Passed => self.observed,
                end => ended(due, end),
            },
            _ => self.observed,
        }
    }
}

fn ended(turn: u32, end: AttemptEnd) -> Observation {
    match end {
        AttemptEnd::Censored => Observation::censored_after(turn - 1),
        AttemptEnd::Passed | AttemptEnd::Event => Observation::failed_at(turn),
    }
}

/// The most budgets that are read; a source may state any attempt limit.
pub const MAX_BUDGETS: u32 = 64;

/// The episodes as they would have ended, for each budget R = 0..`attempt_limit` − 1.
///
/// Where the limit is unknown it is the most attempts that any turn took.
pub fn readings(episodes: &[EpisodeAttempts], attempt_limit: Option<u32>) -> Vec<Vec<Observation>> {
    let most = episodes.iter().flat_map(|e| &e.turns).map(|t| t.attempts.len()).max().unwrap_or(0);
    let budgets = attempt_limit.unwrap_or(most as u32).clamp(1, MAX_BUDGETS);
    (0..budgets).map(|retries| episodes.iter().map(|e| e.truncated(retries)).collect()).collect()
}

/// The feedback gain: mean stamina over `tau` turns with `retries` retries, divided by the mean without any.
///
/// The bootstrap draws scenarios, each with both readings of its episodes. `None` = not defined: the mean without
/// retries is 0, or nothing is known.
pub fn feedback_gain(
    episodes: &[EpisodeAttempts],
    retries: u32,
    tau: u32,
    resampling: Resampling,
) -> Option<Bootstrapped> {
    let reading = |r| -> Vec<InScenario> {
        episodes.iter().map(|e| InScenario::new(e.scenario.as_str(), e.truncated(r))).collect()
    };
    bootstrap_ratio(&reading(retries), &reading(0), tau, resampling)
}
