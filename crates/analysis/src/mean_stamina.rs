//! Mean stamina: the restricted mean over the first τ turns, with its interval and the numbers that accompany it.

use model::{Ending, Median};
use serde::{Deserialize, Deserializer, Serialize};

use crate::Z_95;
use crate::survival::{MAX_TURNS, Observation, kaplan_meier, median_stamina};

/// The horizon τ of the restricted mean of a run.
///
/// It is `planned` (the most turns planned in any episode) if the curve is known that far: someone was at risk at that
/// turn, or S had reached 0 before. Otherwise, or if `planned` is unknown, it is the last turn with someone at risk. So τ
/// never includes turns without data. 0 = nobody was ever at risk.
pub fn natural_tau(observations: &[Observation], planned: Option<u32>) -> u32 {
    let last = observations.iter().map(|o| o.last_at_risk()).max().unwrap_or(0);
    let tau = match planned {
        None | Some(0) => last,
        // S has reached 0 when everybody who was at risk at the last turn failed there.
        Some(planned) if last > 0 && !observations.contains(&Observation::censored_after(last)) => planned,
        Some(planned) => planned.min(last),
    };
    tau.min(MAX_TURNS)
}

/// A horizon in turns, as readers get it. `None` = it is 0: nobody was at risk, so there is none.
pub const fn known_horizon(tau: u32) -> Option<u32> {
    if tau > 0 { Some(tau) } else { None }
}

/// Reads a horizon. Earlier versions wrote 0 where there is none.
///
/// # Errors
/// It is not a number of turns.
pub fn deserialize_horizon<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u32>, D::Error> {
    Ok(Option::<u32>::deserialize(input)?.and_then(known_horizon))
}

/// Restricted mean stamina: the mean number of the first τ turns that an episode survives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RestrictedMean {
    /// Σ_{t=1..τ} S(t), in turns, from 0 to τ; `None` if nobody was at risk or τ = 0.
    pub mean: Option<f64>,
    /// Lower end of the 95 % interval, ≥ 0; `None` = no variation.
    pub ci_low: Option<f64>,
    /// Upper end, ≤ τ.
    pub ci_high: Option<f64>,
    /// Standard error; `None` = no variation.
    pub standard_error: Option<f64>,
    /// The horizon in turns; `None` = nobody was at risk.
    #[serde(default, deserialize_with = "deserialize_horizon")]
    pub tau: Option<u32>,
}

/// Restricted mean stamina over turns 1..=`tau`, with Greenwood's variance.
///
/// Mean: Σ_{t=1..τ} S(t). Without censoring this is exactly the mean of min(stamina, τ). The restricted mean
/// survival time of textbooks integrates S from 0, so RMST(τ + 1) = 1 + this sum (every episode survives turn 0).
/// Variance: Σᵢ Aᵢ² dᵢ/(nᵢ(nᵢ − dᵢ)) with Aᵢ = Σ_{t=i..τ} S(t) (Klein and Moeschberger 2003, eq. 4.5.2; `se(rmean)` of
/// R's survfit). A turn at which everybody fails adds nothing: Aᵢ = 0 there. The interval mean ± 1.96 standard errors
/// is clipped to [0, τ].
///
/// After the last turn with someone at risk, S stays constant. [`natural_tau`] never goes beyond this turn.
pub fn restricted_mean(observations: &[Observation], tau: u32) -> RestrictedMean {
    let points = kaplan_meier(observations, tau);
    let tau_of_mean = known_horizon(tau);
    let nothing =
        RestrictedMean { mean: None, ci_low: None, ci_high: None, standard_error: None, tau: tau_of_mean };
    if points.first().is_none_or(|p| p.at_risk == 0) {
        return nothing;
    }
    let mut area = 0.0;
    let mut variance = 0.0;
    for point in points.iter().rev() {
        area += point.survival;
        if point.events > 0 && point.events < point.at_risk {
            let (n, d) = (f64::from(point.at_risk), f64::from(point.events));
            variance += area * area * d / (n * (n - d));
        }
    }
    if variance <= 0.0 {
        return RestrictedMean { mean: Some(area), ..nothing };
    }
    let se = variance.sqrt();
    RestrictedMean {
        mean: Some(area),
        ci_low: Some((area - Z_95 * se).max(0.0)),
        ci_high: Some((area + Z_95 * se).min(f64::from(tau))),
        standard_error: Some(se),
        tau: tau_of_mean,
    }
}

/// Mean stamina with the numbers that always accompany it: interval, τ, n, events, censored, median.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StaminaSummary {
    /// Restricted mean stamina.
    pub restricted_mean: RestrictedMean,
    /// Episodes.
    pub n: u32,
    /// Episodes that ended in an event.
    pub events: u32,
    /// Episodes that were censored.
    pub censored: u32,
    /// Median stamina in turns passed over the whole curve, for any τ; see [`median_stamina`].
    #[serde(default)]
    pub median: Median,
}

/// Summarizes a run over its natural τ (see [`natural_tau`]).
pub fn summarize(observations: &[Observation], planned: Option<u32>) -> StaminaSummary {
    summarize_over(observations, natural_tau(observations, planned))
}

/// Summarizes a run over a τ that is given: runs that are compared share one.
///
/// Only the mean depends on τ. The median is read off the whole curve: a curve that falls to 0.5 after τ has reached it.
pub fn summarize_over(observations: &[Observation], tau: u32) -> StaminaSummary {
    let events = observations.iter().filter(|o| o.ending == Ending::Event).count() as u32;
    let n = observations.len() as u32;
    let last = observations.iter().map(|o| o.last_at_risk()).max().unwrap_or(0);
    StaminaSummary {
        restricted_mean: restricted_mean(observations, tau),
        n,
        events,
        censored: n - events,
        median: median_stamina(&kaplan_meier(observations, last)),
    }
}
