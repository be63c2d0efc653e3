//! How much the result rests on what is counted as censored.

use model::{CensoringPolicy, EndReason, Ending};
use serde::{Deserialize, Serialize};

use crate::difference::common_tau;
use crate::survival::{Observation, RestrictedMean, StaminaSummary, natural_tau, summarize_over};

/// An episode's stamina and why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ended {
    /// Consecutive turns passed.
    pub turns: u32,
    /// Why it ended there.
    pub reason: EndReason,
    /// Whether that is the agent's only because the cause of an exception is not recognised.
    pub unrecognised: bool,
}

/// The same episodes read in three other ways, over the τ of the reading under the policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// As if every episode that was stopped from outside had failed at its next turn: the least that is thinkable.
    pub censored_failed: StaminaSummary,
    /// Without the episodes that were stopped from outside.
    pub censored_dropped: StaminaSummary,
    /// As if no end whose cause is not recognised had been the agent's: those episodes censored.
    pub unrecognised_censored: StaminaSummary,
}

/// Reads `episodes` with censored → failed, with censored → dropped, and with not recognised → censored, over `tau`
/// turns: that of the mean beside which these stand.
///
/// An episode that passed every planned turn stays censored in all: it was not stopped. A reading whose curve is not
/// known to τ (see [`common_tau`]) has no mean: one over fewer turns would stand beside one over more. With τ within
/// what the policy's own reading knows this is so only of *dropped*, where those that remain planned fewer turns, and of *not recognised*.
pub fn sensitivity(episodes: &[Ended], policy: &CensoringPolicy, tau: u32) -> Sensitivity {
    let stopped_from_outside =
        |e: &Ended| e.reason != EndReason::PassedAll && policy.ending(e.reason) == Ending::Censored;
    let plain = |e: &Ended| Observation::from_reason(e.turns, e.reason, policy);
    let failed: Vec<Observation> = episodes
        .iter()
        .map(|e| {
            let observation = plain(e);
            let ending = if stopped_from_outside(e) { Ending::Event } else { observation.ending };
            Observation { ending, ..observation }
        })
        .collect();
    let dropped: Vec<Observation> = episodes.iter().filter(|e| !stopped_from_outside(e)).map(plain).collect();
    let unrecognised: Vec<Observation> = episodes
        .iter()
        .map(|e| if e.unrecognised { Observation { ending: Ending::Censored, ..plain(e) } } else { plain(e) })
        .collect();
    // Where nobody was at risk there is no τ. As failures all were, and theirs is known by itself.
    let nobody = tau == 0 && !episodes.iter().map(plain).any(|one| one.last_at_risk() > 0);
    let over = |reading: &[Observation]| {
        let tau = if nobody { natural_tau(reading, None) } else { tau };
        let summary = summarize_over(reading, tau);
        if common_tau(&[(reading, Some(tau))]) >= tau {
            return summary;
        }
        let mean = RestrictedMean { mean: None, ci_low: None, ci_high: None, ..summary.restricted_mean };
        StaminaSummary { restricted_mean: RestrictedMean { standard_error: None, ..mean }, ..summary }
    };
    Sensitivity {
        censored_failed: over(&failed),
        censored_dropped: over(&dropped),
        unrecognised_censored: over(&unrecognised),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nobody_was_at_risk_all_fail_at_once() {
        let stopped = Ended { turns: 0, reason: EndReason::Endpoint, unrecognised: false };
        let readings = sensitivity(&[stopped; 3], &CensoringPolicy::default(), 0);
        let failed = readings.censored_failed;
        assert_eq!(
            (failed.restricted_mean.mean, failed.restricted_mean.tau, failed.events),
            (Some(0.0), 1, 3)
        );
        assert_eq!(readings.censored_dropped.restricted_mean.mean, None);
    }
}
