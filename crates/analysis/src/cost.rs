//! Cost of stamina: dollars per survived turn, and the Pareto front.

use serde::{Deserialize, Serialize};

use crate::ROUNDING;

/// Cost per survived turn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostPerTurn {
    /// US dollars.
    Known(f64),
    /// The cost of so many episodes is unknown, and so is the sum.
    Unknown {
        /// Episodes without a cost.
        without_cost: u32,
    },
    /// No turn was survived.
    NoTurnSurvived,
    /// There are no episodes.
    NoEpisodes,
}

impl CostPerTurn {
    /// US dollars, if known and finite.
    pub const fn value(self) -> Option<f64> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }

    /// The text in place of a number.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::Known(_) => None,
            Self::Unknown { .. } => Some("unknown"),
            Self::NoTurnSurvived => Some("no turn survived"),
            Self::NoEpisodes => Some("no episodes"),
        }
    }
}

/// Σ cost ÷ Σ stamina over episodes, each with its cost in US dollars and its stamina.
///
/// The cost is that of whole episodes. If an episode continued after its first failure, these turns are in the cost, but not
/// in the stamina. An episode that is censored early has few turns and a small cost. The number is known only if the cost of
/// every episode is.
pub fn cost_per_turn(episodes: &[(Option<f64>, u32)]) -> CostPerTurn {
    if episodes.is_empty() {
        return CostPerTurn::NoEpisodes;
    }
    let known: Vec<f64> = episodes.iter().filter_map(|(cost, _)| cost.filter(|c| c.is_finite())).collect();
    let turns: f64 = episodes.iter().map(|(_, stamina)| f64::from(*stamina)).sum();
    if known.len() < episodes.len() {
        CostPerTurn::Unknown { without_cost: (episodes.len() - known.len()) as u32 }
    } else if turns > 0.0 {
        CostPerTurn::Known(known.iter().sum::<f64>() / turns)
    } else {
        CostPerTurn::NoTurnSurvived
    }
}

/// Which (cost, stamina) are on the Pareto front: no other point has at least their stamina for at most their cost and is
/// better in one of the two. Equal points are both on it, also if they differ by rounding. A point that is not finite is not.
pub fn pareto(points: &[(f64, f64)]) -> Vec<bool> {
    let finite = |p: &(f64, f64)| p.0.is_finite() && p.1.is_finite();
    let is_above = |a: f64, b: f64| a - b > ROUNDING * a.abs().max(b.abs());
    let beats = |q: &(f64, f64), p: &(f64, f64)| {
        let is_worse = is_above(q.0, p.0) || is_above(p.1, q.1);
        !is_worse && (is_above(p.0, q.0) || is_above(q.1, p.1))
    };
    points.iter().map(|p| finite(p) && !points.iter().any(|q| finite(q) && beats(q, p))).collect()
}
