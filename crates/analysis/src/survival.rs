//! How long agents last: Kaplan–Meier over turns, and the median. The mean is in [`crate::mean_stamina`].
//!
//! The convention for ties: an episode that fails at turn T was at risk at turns 1..=T. An episode that is censored after
//! turn t was at risk at turns 1..=t: it counts for the failures of others at t, but not for those at t + 1 (censorings
//! come after events of the same time, as in Kaplan and Meier 1958). An episode that is censored before it passed a turn
//! was never at risk: it counts only in `n` and `censored`.

pub use model::Median;
use model::{CensoringPolicy, EndReason, Ending, Episode};
use serde::{Deserialize, Serialize};

use crate::Z_95;
pub use crate::mean_stamina::{
    RestrictedMean, StaminaSummary, deserialize_horizon, known_horizon, natural_tau, restricted_mean,
    summarize, summarize_over,
};

/// The most turns of a table. A source may plan any number of turns.
pub const MAX_TURNS: u32 = 10_000;

/// One episode for survival analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Observation {
    /// Consecutive turns passed from turn 1 (stamina).
    pub turns: u32,
    /// `Event`: failed at turn `turns + 1`. `Censored`: not observed after turn `turns`.
    pub ending: Ending,
}

impl Observation {
    /// An episode that failed at `turn` (≥ 1).
    pub const fn failed_at(turn: u32) -> Self {
        Self { turns: turn.saturating_sub(1), ending: Ending::Event }
    }

    /// An episode that was censored after passing `turns`.
    pub const fn censored_after(turns: u32) -> Self {
        Self { turns, ending: Ending::Censored }
    }

    /// An episode with this stamina and end reason, under `policy`.
    pub fn from_reason(turns: u32, reason: EndReason, policy: &CensoringPolicy) -> Self {
        Self { turns, ending: policy.ending(reason) }
    }

    /// An episode under `policy`. The first turn not passed decides, see [`Episode::end`].
    pub fn from_episode(episode: &Episode, policy: &CensoringPolicy) -> Self {
        Self::from_reason(episode.stamina(), episode.end().1, policy)
    }

    /// The turn at which it failed; `None` = censored.
    pub fn failed_turn(self) -> Option<u32> {
        (self.ending == Ending::Event).then(|| self.turns.saturating_add(1))
    }

    /// The last turn at which it was at risk (0 = never).
    pub fn last_at_risk(self) -> u32 {
        self.failed_turn().unwrap_or(self.turns)
    }
}

/// One turn of a Kaplan–Meier table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SurvivalPoint {
    /// The turn, from 1.
    pub turn: u32,
    /// Episodes alive and observed when this turn was graded.
    pub at_risk: u32,
    /// Episodes that failed at this turn.
    pub events: u32,
    /// Episodes censored after this turn, which they passed.
    pub censored: u32,
    /// S(t), the share still alive after this turn. Without an episode at risk it repeats the last known value for sums and
    /// steps. Show [`SurvivalPoint::known`] instead.
    pub survival: f64,
    /// Lower end of the 95 % log-log band; `None` without variation (S = 1 or S = 0) or without an episode at risk.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
}

impl SurvivalPoint {
    /// S(t), if it is known: an episode was at risk at this turn, or S had reached 0 before.
    pub fn known(&self) -> Option<f64> {
        (self.at_risk > 0 || self.survival <= 0.0).then_some(self.survival)
    }
}

/// Whether any episode was ever at risk. Otherwise mean, median, survival and score are unknown.
pub fn anyone_at_risk(observations: &[Observation]) -> bool {
    observations.iter().any(|o| o.last_at_risk() > 0)
}

/// Kaplan–Meier table for turns 1..=`horizon` (at most [`MAX_TURNS`]).
///
/// S(t) = Π_{i ≤ t} (1 − dᵢ/nᵢ) (Kaplan and Meier 1958, JASA 53:457). The band is Greenwood's variance on the
/// log(−log S) scale (Kalbfleisch and Prentice 2002, §1.4; `conf.type = "log-log"` in R): with
/// σ² = Σ dᵢ/(nᵢ(nᵢ − dᵢ)) its ends are S^exp(±z σ / ln S), which never leave 0 to 1. It assumes independent episodes; see
/// [`kaplan_meier_by_scenario`](crate::band::kaplan_meier_by_scenario).
pub fn kaplan_meier(observations: &[Observation], horizon: u32) -> Vec<SurvivalPoint> {
    let horizon = horizon.min(MAX_TURNS);
    let counts = Counts::from_observations(observations, horizon);
    let mut survival = 1.0;
    let mut greenwood = 0.0;
    (1..=horizon)
        .map(|turn| {
            let Count { at_risk, events, censored } = counts.count_at(turn);
            if events > 0 {
                let (n, d) = (f64::from(at_risk), f64::from(events));
                // Not 1 − d/n: with these fractions the last factor is exact, so that S reaches 0.
                survival *= (n - d) / n;
                greenwood += d / (n * (n - d));
            }
            let (ci_low, ci_high) =
                if at_risk == 0 { (None, None) } else { log_log_band(survival, greenwood, Z_95) };
            SurvivalPoint { turn, at_risk, events, censored, survival, ci_low, ci_high }
        })
        .collect()
}

/// The ends of a 95 % band around `survival`, on the log(−log S) scale: `variance` is that of ln S, `quantile` half the width
/// in standard errors.
pub(crate) fn log_log_band(survival: f64, variance: f64, quantile: f64) -> (Option<f64>, Option<f64>) {
    if survival <= 0.0 || survival >= 1.0 || variance <= 0.0 {
        return (None, None);
    }
    let shift = (quantile * variance.sqrt() / survival.ln().abs()).exp();
    (Some(survival.powf(shift)), Some(survival.powf(1.0 / shift)))
}

/// The last turn up to which the curve of a table is known: the last turn with an episode at risk, or the last turn of the
/// table once S has reached 0. 0 = nowhere.
pub fn known_until(points: &[SurvivalPoint]) -> u32 {
    match points.last() {
        Some(last) if last.survival <= 0.0 => last.turn,
        _ => points.iter().rev().find(|p| p.known().is_some()).map_or(0, |p| p.turn),
    }
}

/// The first turn t with S(t) ≤ 0.5: half of the episodes have failed by then. It is not reached if S stays above 0.5
/// in this table, and unknown without an episode at risk.
///
/// This is the median turn *of failure*, as lifelines defines a median survival time; see [`median_stamina`]. R's `survfit`
/// is equal, except if S is exactly 0.5 for several turns: it then returns the middle of these.
pub fn median(points: &[SurvivalPoint]) -> Median {
    // Products of fractions may differ from 0.5 by a rounding error. R's survfit has the same tolerance.
    let half = points.iter().find(|p| p.survival <= 0.5 + 1e-12).map(|p| p.turn);
    Median::new(half, points.iter().any(|p| p.at_risk > 0))
}

/// Median stamina, in turns passed: one less than the median turn of failure. Without censoring this is the (lower)
/// median of the episodes' stamina.
pub fn median_stamina(points: &[SurvivalPoint]) -> Median {
    median(points).map(|turn| turn - 1)
}

/// Counts of one turn.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    at_risk: u32,
    events: u32,
    censored: u32,
}

/// Counts of each turn up to a horizon, in one pass over the episodes.
struct Counts(Vec<Count>);

impl Counts {
    fn from_observations(observations: &[Observation], horizon: u32) -> Self {
        let mut counts = vec![Count::default(); horizon as usize];
        for observation in observations {
            let slot = |turn: u32| (turn >= 1 && turn <= horizon).then(|| turn as usize - 1);
            match observation.failed_turn() {
                Some(turn) => slot(turn).map(|i| counts[i].events += 1),
                None => slot(observation.turns).map(|i| counts[i].censored += 1),
            };
            // Counted at the last turn at risk, then summed from the end.
            if let Some(last) = slot(observation.last_at_risk().min(horizon)) {
                counts[last].at_risk += 1;
            }
        }
        let mut later = 0;
        for count in counts.iter_mut().rev() {
            later += count.at_risk;
            count.at_risk = later;
        }
        Self(counts)
    }

    fn count_at(&self, turn: u32) -> Count {
        self.0[turn as usize - 1]
    }
}
