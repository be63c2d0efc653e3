//! What an attempt cost: by the gateway or, in direct mode, by what the harness reports.

use gateway::{Price, Spent};
use model::Tokens;

use crate::agent::AgentCall;
use crate::run_context::RunContext;

/// What an attempt cost.
pub(crate) struct AttemptCost {
    pub(crate) tokens: Tokens,
    pub(crate) cost_usd: Option<f64>,
}

/// The cost of a call, by the gateway or, in direct mode, by the harness. Call it once per call: what the harness reports is
/// added to the accounts of the run and the episode here.
pub(crate) fn attempt_cost(context: &RunContext, episode: &str, called: &AgentCall) -> AttemptCost {
    if let Some(recorded) = &called.summary {
        return AttemptCost { tokens: recorded.spent.tokens, cost_usd: recorded.spent.cost_usd };
    }
    let reported = (called.outcome.usage, called.outcome.cost_usd);
    let spent = direct(reported, context.settings.price, called.end.seconds);
    context.add_spent(episode, spent);
    AttemptCost { tokens: spent.tokens, cost_usd: spent.cost_usd }
}

/// The spending of a call in direct mode, by the tokens and the cost that its harness reports. A price of the settings
/// overrides that cost, which comes from the harness's own table.
fn direct((tokens, reported): (Tokens, Option<f64>), price: Option<Price>, seconds: f64) -> Spent {
    // Without the gateway the time in which an endpoint works is unknown, and so is what was written to its cache.
    let cost_usd = price.and_then(|price| price.cost_of_tokens(&tokens, None)).or(reported);
    Spent {
        tokens,
        cost_usd,
        known_usd: cost_usd.unwrap_or(0.0),
        unmetered: u64::from(tokens.is_unknown()),
        seconds,
        ..Spent::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_gateway_the_harness_reports_and_a_price_of_the_settings_overrides_its_cost() {
        let price = Price { input: 2.0, cached: Some(0.5), output: 10.0, ..Price::default() };
        let all = Tokens { input: Some(1_000_000), cached: Some(400_000), output: Some(100_000) };
        let some = Tokens { input: Some(1_000_000), ..Tokens::default() };
        let none = Tokens::default();
        for (tokens, reported, price, cost, unmetered) in [
            (all, None, Some(price), Some(2.4), 0),
            (all, Some(9.0), Some(price), Some(2.4), 0),
            (all, Some(9.0), None, Some(9.0), 0),
            (all, None, None, None, 0),
            (all, None, Some(Price { cached: None, ..price }), Some(3.0), 0),
            (some, Some(9.0), Some(price), Some(9.0), 0),
            (some, None, Some(price), None, 0),
            (none, None, Some(price), None, 1),
        ] {
            let spent = direct((tokens, reported), price, 3.0);
            assert_eq!(spent.cost_usd, cost, "{tokens:?} {reported:?} {price:?}");
            assert_eq!((spent.known_usd, spent.unmetered), (cost.unwrap_or(0.0), unmetered));
            assert_eq!((spent.tokens, spent.seconds), (tokens, 3.0));
        }
    }
}
