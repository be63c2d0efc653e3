//! What an attempt cost: by the gateway where there is one, else by what the harness tells.

use gateway::Spent;
use model::Tokens;

use crate::agent::Called;
use crate::play::{Play, lock};

/// What an attempt cost.
pub(crate) struct Bill {
    pub(crate) tokens: Tokens,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) spent: Spent,
}

/// By the gateway where there is one, else by the harness.
pub(crate) fn bill(play: &Play, called: Option<&Called>) -> Bill {
    let Some(called) = called else {
        return Bill { tokens: Tokens::default(), cost_usd: None, spent: Spent::default() };
    };
    if let Some(seen) = &called.seen {
        return Bill { tokens: seen.spent.tokens, cost_usd: seen.spent.cost_usd, spent: seen.spent };
    }
    let tokens = called.outcome.usage;
    let by_price = || {
        let price = crate::engine::price(&play.settings)?;
        let (input, output) = (tokens.input?, tokens.output?);
        let cached = tokens.cached.unwrap_or(0).min(input);
        let of_input =
            (input - cached) as f64 * price.input + cached as f64 * price.cached.unwrap_or(price.input);
        Some((of_input + output as f64 * price.output) / 1e6)
    };
    // What a harness tells is from a table of its own.
    let cost_usd = by_price().or(called.outcome.cost_usd);
    let spent = Spent {
        tokens,
        cost_usd,
        known_usd: cost_usd.unwrap_or(0.0),
        unmetered: u64::from(tokens.is_unknown()),
        seconds: called.end.seconds,
        ..Spent::default()
    };
    {
        let mut all = lock(&play.direct_spent);
        *all = plus(*all, spent);
    }
    Bill { tokens, cost_usd, spent }
}

/// The sum of two; a cost with an unknown part is unknown.
pub(crate) fn plus(one: Spent, other: Spent) -> Spent {
    let nothing = |spent: &Spent| spent.requests == 0 && spent.unmetered == 0 && spent.tokens.is_unknown();
    let cost_usd = match (one.cost_usd, other.cost_usd) {
        (Some(a), Some(b)) => Some(a + b),
        (Some(a), None) if nothing(&other) => Some(a),
        (None, Some(b)) if nothing(&one) => Some(b),
        _ => None,
    };
    Spent {
        requests: one.requests + other.requests,
        tokens: one.tokens.plus(other.tokens),
        cost_usd,
        known_usd: one.known_usd + other.known_usd,
        unmetered: one.unmetered + other.unmetered,
        seconds: one.seconds + other.seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_with_an_unknown_cost_is_unknown() {
        let known = Spent { requests: 1, cost_usd: Some(1.0), known_usd: 1.0, ..Spent::default() };
        let unknown = Spent { requests: 1, ..Spent::default() };
        assert_eq!(plus(known, known).cost_usd, Some(2.0));
        assert_eq!(plus(known, unknown).cost_usd, None);
        assert_eq!(plus(Spent::default(), known).cost_usd, Some(1.0));
    }
}
