//! What stamina costs: dollars per survived turn, use per turn, and who is not beaten on both.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Cost per survived turn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostPerTurn {
    /// US dollars.
    Known(f64),
    /// The cost of this many episodes is not known, so the sum is not.
    Unknown {
        /// Episodes without a cost.
        without_cost: u32,
    },
    /// Not a single turn was survived: no sum of money bought one.
    NoTurnSurvived,
    /// There are no episodes.
    NoEpisodes,
}

impl CostPerTurn {
    /// US dollars, where known and finite.
    pub const fn value(self) -> Option<f64> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }

    /// What stands in place of a number.
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
/// Stamina is what was observed, so both sums are over the same time; an episode censored early brings few turns and
/// little cost. Known only where every episode's cost is.
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

/// What one turn of one episode took, all its attempts together. Unknown = `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnUse {
    /// The turn, from 1.
    pub turn: u32,
    /// Attempts made; a turn with none was not reached and does not count.
    pub attempts: u32,
    /// Input tokens, cached ones included.
    pub input_tokens: Option<u64>,
    /// Cached input tokens.
    pub cached_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Seconds in which the agent worked.
    pub agent_seconds: Option<f64>,
    /// Seconds in which the tests ran.
    pub test_seconds: Option<f64>,
    /// Tool calls.
    pub tool_calls: Option<u32>,
}

/// A sum over the episodes of which a number is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    /// The sum; `None` = known of none.
    pub total: Option<f64>,
    /// Episodes of which it is known.
    pub known: u32,
}

impl Sum {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value.filter(|v| v.is_finite()) {
            *self.total.get_or_insert(0.0) += value;
            self.known += 1;
        }
    }

    /// Per episode of which it is known.
    pub fn mean(self) -> Option<f64> {
        self.total.map(|total| total / f64::from(self.known))
    }
}

/// What a turn took, over all episodes that reached it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnSums {
    /// The turn.
    pub turn: u32,
    /// Episodes that reached it.
    pub episodes: u32,
    /// Attempts.
    pub attempts: u32,
    /// Input tokens, cached ones included.
    pub input_tokens: Sum,
    /// Cached input tokens.
    pub cached_tokens: Sum,
    /// Output tokens.
    pub output_tokens: Sum,
    /// US dollars.
    pub cost_usd: Sum,
    /// Seconds in which the agent worked.
    pub agent_seconds: Sum,
    /// Seconds in which the tests ran.
    pub test_seconds: Sum,
    /// Tool calls ("steps").
    pub tool_calls: Sum,
}

/// Sums up what turns took, by turn. Later turns are reached by fewer episodes, and by better ones: a mean that falls
/// with the turn may be the survivors' and not the turn's.
pub fn per_turn(uses: &[TurnUse]) -> Vec<TurnSums> {
    let mut turns: BTreeMap<u32, TurnSums> = BTreeMap::new();
    for used in uses.iter().filter(|u| u.attempts > 0) {
        let sums =
            turns.entry(used.turn).or_insert_with(|| TurnSums { turn: used.turn, ..TurnSums::default() });
        sums.episodes += 1;
        sums.attempts = sums.attempts.saturating_add(used.attempts);
        sums.input_tokens.add(used.input_tokens.map(|n| n as f64));
        sums.cached_tokens.add(used.cached_tokens.map(|n| n as f64));
        sums.output_tokens.add(used.output_tokens.map(|n| n as f64));
        sums.cost_usd.add(used.cost_usd);
        sums.agent_seconds.add(used.agent_seconds);
        sums.test_seconds.add(used.test_seconds);
        sums.tool_calls.add(used.tool_calls.map(f64::from));
    }
    turns.into_values().collect()
}

/// Which (cost, stamina) are on the Pareto front: no other has at least their stamina for at most their cost and is
/// better in one of the two. Equal points are both on it. What is not finite is not.
pub fn pareto(points: &[(f64, f64)]) -> Vec<bool> {
    let finite = |p: &(f64, f64)| p.0.is_finite() && p.1.is_finite();
    points
        .iter()
        .map(|p| {
            finite(p)
                && !points.iter().any(|q| finite(q) && q.0 <= p.0 && q.1 >= p.1 && (q.0 < p.0 || q.1 > p.1))
        })
        .collect()
}
