//! Stamina as a function of the retry budget, from the attempts of one run.
//!
//! **What a truncation shows.** An episode under budget R passes a turn only if one of its first R + 1 attempts passed. It
//! would have failed at the first turn that needed more. Up to that turn all is observed: the same agent, the same requests,
//! the same code.
//!
//! **What it cannot show.** The work of the agent *after* that turn, with failing code, is not observed. Stamina does not
//! need it, because it ends at the first turn not passed. There are three limitations:
//!
//! - An agent that knows its budget may work differently.
//! - Feedback on later attempts at one turn changes the code of all later turns. A pass at the first attempt may therefore
//!   depend on an earlier retry. Under R = 0 the episode has ended by then.
//! - R = 0 from a truncation is "one attempt, although more were allowed", not a run without feedback.
//!
//! It is an estimate from one experiment, not a second experiment.

use model::{CensoringPolicy, EndReason, Ending, Episode, Turn, Verdict};
use serde::{Deserialize, Serialize};

use crate::bootstrap::{BootstrapEstimate, Resampling, bootstrap_ratio};
use crate::clusters::InScenario;
use crate::survival::Observation;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptEnd {
    /// It passed.
    Passed,
    /// It did not pass, which counts against the agent.
    Event,
    /// It did not pass, for a reason outside the agent.
    Censored,
}

impl AttemptEnd {
    /// From its verdict and end reason. An attempt without a pass and without a reason counts against the agent, unless it is
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
    /// Attempts at a turn, each with its verdict and end reason. `ended_by` = why the episode ended, if it ended at this turn.
    /// It explains a last attempt that has no verdict of tests and no reason.
    pub fn from_verdicts(
        turn: u32,
        verdicts: impl IntoIterator<Item = (Verdict, Option<EndReason>)>,
        ended_by: Option<EndReason>,
        policy: &CensoringPolicy,
    ) -> Self {
        let mut verdicts: Vec<(Verdict, Option<EndReason>)> = verdicts.into_iter().collect();
        if let Some((Verdict::Error | Verdict::Unfinished | Verdict::NotTested, reason)) = verdicts.last_mut()
        {
            *reason = reason.or(ended_by);
        }
        let ends =
            verdicts.into_iter().map(|(verdict, reason)| AttemptEnd::from_verdict(verdict, reason, policy));
        Self { turn, attempts: ends.collect() }
    }

    /// The recorded attempts of a turn.
    fn from_turn(turn: &Turn, ended_by: Option<EndReason>, policy: &CensoringPolicy) -> Self {
        let verdicts = turn.attempts.iter().map(|a| (a.verdict, a.end_reason));
        Self::from_verdicts(turn.number, verdicts, ended_by, policy)
    }
}

/// An episode with all of its attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeAttempts {
    /// The scenario.
    pub scenario: String,
    /// How it ended with its actual retries.
    pub observed: Observation,
    /// Its turns, in order. Turns after the first failure are ignored.
    pub turns: Vec<TurnAttempts>,
}

impl EpisodeAttempts {
    /// The recorded attempts of an episode.
    pub fn from_episode(episode: &Episode, policy: &CensoringPolicy) -> Self {
        let (end, reason) = episode.end();
        let ended_by = |turn: &Turn| end.is_some_and(|end| turn.number == end).then_some(reason);
        Self {
            scenario: episode.scenario.clone(),
            observed: Observation::from_episode(episode, policy),
            turns: episode.turns.iter().map(|t| TurnAttempts::from_turn(t, ended_by(t), policy)).collect(),
        }
    }

    /// The episode as it would have ended with `retries` retries. See the start of this module.
    ///
    /// The first turn without a pass in its first `retries` + 1 attempts, although a later attempt passed, is an event at
    /// that turn. So is the turn at which something outside ended the episode while attempts were left, if its first
    /// `retries` + 1 attempts failed. The episode is censored before that turn if the last attempt within the budget was
    /// stopped from outside the agent, or if the attempts of a turn are not recorded.
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
        // The turn that it did not pass. With fewer attempts it may have ended for another reason, and with these attempts alone
        // it failed a turn that was not decided because more were allowed.
        let last = turns.find(|t| t.turn == due).and_then(|row| {
            let is_used_up = row.attempts.len() > budget || self.observed.ending == Ending::Censored;
            row.attempts.get(budget - 1).filter(|_| is_used_up)
        });
        match last {
            None | Some(AttemptEnd::Passed) => self.observed,
            Some(end) => ended(due, *end),
        }
    }
}

fn ended(turn: u32, end: AttemptEnd) -> Observation {
    match end {
        AttemptEnd::Censored => Observation::censored_after(turn - 1),
        AttemptEnd::Passed | AttemptEnd::Event => Observation::failed_at(turn),
    }
}

/// The most budgets, because a source may state any attempt limit.
pub const MAX_BUDGETS: u32 = 64;

/// The episodes as they would have ended, for each budget R = 0..`attempt_limit` − 1.
///
/// If the limit is unknown, it is the most attempts of any turn.
pub fn readings(episodes: &[EpisodeAttempts], attempt_limit: Option<u32>) -> Vec<Vec<Observation>> {
    let most = episodes.iter().flat_map(|e| &e.turns).map(|t| t.attempts.len()).max().unwrap_or(0);
    let budgets = attempt_limit.unwrap_or(most as u32).clamp(1, MAX_BUDGETS);
    (0..budgets).map(|retries| episodes.iter().map(|e| e.truncated(retries)).collect()).collect()
}

/// The feedback gain: mean stamina over `tau` turns with `retries` retries, divided by the mean without any.
///
/// The bootstrap samples scenarios, each with both readings of its episodes. `None` = not defined: the mean without retries is
/// 0 or unknown.
pub fn feedback_gain(
    episodes: &[EpisodeAttempts],
    retries: u32,
    tau: u32,
    resampling: Resampling,
) -> Option<BootstrapEstimate> {
    let reading = |r| -> Vec<InScenario> {
        episodes.iter().map(|e| InScenario::new(e.scenario.as_str(), e.truncated(r))).collect()
    };
    bootstrap_ratio(&reading(retries), &reading(0), tau, resampling)
}
