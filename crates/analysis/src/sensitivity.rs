//! How much the result rests on what is counted as censored.

use std::collections::BTreeMap;

use model::{CensoringPolicy, EndReason, Ending};
use serde::{Deserialize, Serialize};

use crate::difference::common_tau;
use crate::survival::{MAX_TURNS, Observation, StaminaSummary, summarise_over};

/// An episode's stamina and why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ended {
    /// Consecutive turns passed.
    pub turns: u32,
    /// Why it ended there.
    pub reason: EndReason,
}

/// The same episodes read in three ways, over one τ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// Under the policy.
    pub policy: StaminaSummary,
    /// As if every episode that was stopped from outside had failed at its next turn: the least that is thinkable.
    pub censored_failed: StaminaSummary,
    /// Without the episodes that were stopped from outside.
    pub censored_dropped: StaminaSummary,
    /// The horizon of all three.
    pub tau: u32,
    /// Episodes stopped from outside, by reason. Passing every planned turn is not among them.
    pub stopped: BTreeMap<EndReason, u32>,
    /// How many of those were stopped before τ.
    pub stopped_before_tau: u32,
}

impl Sensitivity {
    /// Whether more than a tenth of the episodes were stopped before τ: the reader should be told.
    pub fn is_doubtful(&self) -> bool {
        u64::from(self.stopped_before_tau) * 10 > u64::from(self.policy.n)
    }
}

/// Reads `episodes` under `policy`, with censored → failed, and with censored → dropped.
///
/// An episode that passed every planned turn stays censored in all three: it was not stopped. τ is the greatest horizon
/// to which all three curves are known (see [`common_tau`]; a reading without episodes does not count); `tau` lowers
/// it, to the τ of a comparison.
pub fn sensitivity(
    episodes: &[Ended],
    policy: &CensoringPolicy,
    planned: Option<u32>,
    tau: Option<u32>,
) -> Sensitivity {
    let stopped_from_outside =
        |e: &Ended| e.reason != EndReason::PassedAll && policy.ending(e.reason) == Ending::Censored;
    let plain = |e: &Ended| Observation::of_reason(e.turns, e.reason, policy);
    let under_policy: Vec<Observation> = episodes.iter().map(plain).collect();
    let failed: Vec<Observation> = episodes
        .iter()
        .map(|e| {
            let observation = plain(e);
            let ending = if stopped_from_outside(e) { Ending::Event } else { observation.ending };
            Observation { ending, ..observation }
        })
        .collect();
    let dropped: Vec<Observation> = episodes.iter().filter(|e| !stopped_from_outside(e)).map(plain).collect();
    let readings: Vec<(&[Observation], Option<u32>)> = [&under_policy, &failed, &dropped]
        .into_iter()
        .filter(|r| r.iter().any(|o| o.last_at_risk() > 0))
        .map(|r| (r.as_slice(), planned))
        .collect();
    let tau = common_tau(&readings).min(tau.unwrap_or(MAX_TURNS));
    let mut stopped = BTreeMap::new();
    for episode in episodes.iter().filter(|e| stopped_from_outside(e)) {
        *stopped.entry(episode.reason).or_insert(0) += 1;
    }
    Sensitivity {
        policy: summarise_over(&under_policy, tau),
        censored_failed: summarise_over(&failed, tau),
        censored_dropped: summarise_over(&dropped, tau),
        tau,
        stopped,
        stopped_before_tau: episodes.iter().filter(|e| stopped_from_outside(e) && e.turns < tau).count()
            as u32,
    }
}
