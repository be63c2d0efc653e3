//! How much the result depends on what counts as censored.

use model::{CensoringPolicy, EndReason, Ending};
use serde::{Deserialize, Serialize};

use crate::difference::common_tau;
use crate::survival::{Observation, RestrictedMean, StaminaSummary, natural_tau, summarize_over};

/// The stamina of an episode, and why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EpisodeEnd {
    /// Consecutive turns passed.
    pub turns: u32,
    /// Why it ended there.
    pub reason: EndReason,
    /// Whether an exception with an unrecognized cause ended it, which is attributed to the agent.
    pub unrecognized: bool,
}

/// The same episodes under three other assumptions, over the τ of the policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// As if every episode that was stopped from outside had failed at its next turn: the lower bound.
    pub censored_failed: StaminaSummary,
    /// Without the episodes that were stopped from outside.
    pub censored_dropped: StaminaSummary,
    /// As if no end with an unrecognized cause were the agent's: these episodes are censored.
    pub unrecognized_censored: StaminaSummary,
}

/// The means of `episodes` with censored → failed, with censored → dropped, and with not recognized → censored, over `tau`
/// turns, the τ of the mean under the policy.
///
/// An episode that passed every planned turn stays censored, because it was not stopped. A mean is unknown if its curve is not
/// known to τ (see [`common_tau`]), because means over different horizons are not comparable. If the curve under the policy is
/// known to τ, this happens only with *dropped*, when the other episodes planned fewer turns, and with *not recognized*.
pub fn sensitivity(episodes: &[EpisodeEnd], policy: &CensoringPolicy, tau: u32) -> Sensitivity {
    let stopped_from_outside =
        |e: &EpisodeEnd| e.reason != EndReason::PassedAll && policy.ending(e.reason) == Ending::Censored;
    let plain = |e: &EpisodeEnd| Observation::from_reason(e.turns, e.reason, policy);
    let failed: Vec<Observation> = episodes
        .iter()
        .map(|e| {
            let observation = plain(e);
            let ending = if stopped_from_outside(e) { Ending::Event } else { observation.ending };
            Observation { ending, ..observation }
        })
        .collect();
    let dropped: Vec<Observation> = episodes.iter().filter(|e| !stopped_from_outside(e)).map(plain).collect();
    let unrecognized: Vec<Observation> = episodes
        .iter()
        .map(|e| if e.unrecognized { Observation { ending: Ending::Censored, ..plain(e) } } else { plain(e) })
        .collect();
    // Without an episode at risk there is no τ. Counted as failures all are at risk, and have a τ of their own.
    let nobody = tau == 0 && !episodes.iter().map(plain).any(|episode| episode.last_at_risk() > 0);
    let summarize_reading = |reading: &[Observation]| {
        let tau = if nobody { natural_tau(reading, None) } else { tau };
        let summary = summarize_over(reading, tau);
        if common_tau(&[(reading, Some(tau))]) >= tau {
            return summary;
        }
        let mean = RestrictedMean { mean: None, ci_low: None, ci_high: None, ..summary.restricted_mean };
        StaminaSummary { restricted_mean: RestrictedMean { standard_error: None, ..mean }, ..summary }
    };
    Sensitivity {
        censored_failed: summarize_reading(&failed),
        censored_dropped: summarize_reading(&dropped),
        unrecognized_censored: summarize_reading(&unrecognized),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_episode_at_risk_all_fail_at_once() {
        let stopped = EpisodeEnd { turns: 0, reason: EndReason::Endpoint, unrecognized: false };
        let readings = sensitivity(&[stopped; 3], &CensoringPolicy::default(), 0);
        let failed = readings.censored_failed;
        assert_eq!(
            (failed.restricted_mean.mean, failed.restricted_mean.tau, failed.events),
            (Some(0.0), Some(1), 3)
        );
        assert_eq!(readings.censored_dropped.restricted_mean.mean, None);
    }
}
