//! What an attempt cost: by the gateway or, in direct mode, by what the harness reports.

use gateway::{Budgets, Price, Scope, Spent, StopReason};
use model::{Tokens, lock};

use crate::agent::AgentCall;
use crate::run_context::RunContext;

/// What an attempt cost.
pub(crate) struct Bill {
    pub(crate) tokens: Tokens,
    pub(crate) cost_usd: Option<f64>,
}

/// The cost of a call, by the gateway or, in direct mode, by the harness. Call it once per call: what the harness reports is
/// added to the accounts of the run and the episode here.
pub(crate) fn bill(context: &RunContext, episode: &str, called: &AgentCall) -> Bill {
    if let Some(seen) = &called.seen {
        return Bill { tokens: seen.spent.tokens, cost_usd: seen.spent.cost_usd };
    }
    let reported = (called.outcome.usage, called.outcome.cost_usd);
    let spent = direct(reported, context.settings.price, called.end.seconds);
    add(context, episode, spent);
    Bill { tokens: spent.tokens, cost_usd: spent.cost_usd }
}

/// Counts a call of unknown cost: in direct mode, one that was dropped before its harness reported.
pub(crate) fn unknown(context: &RunContext, episode: &str, seconds: f64) {
    add(context, episode, Spent { unmetered: 1, seconds, ..Spent::default() });
}

fn add(context: &RunContext, episode: &str, spent: Spent) {
    let mut all = lock(&context.direct);
    all.run = plus(all.run, spent);
    let of_episode = all.episodes.entry(episode.to_owned()).or_default();
    *of_episode = plus(*of_episode, spent);
}

/// The spending of a call in direct mode, by the tokens and the cost that its harness reports. A price of the settings
/// overrides that cost, which comes from the harness's own table.
fn direct((tokens, reported): (Tokens, Option<f64>), price: Option<Price>, seconds: f64) -> Spent {
    // Without the gateway the time in which an endpoint works is unknown, and so is what was written to its cache.
    let cost_usd = price.and_then(|price| price.of_tokens(&tokens, None)).or(reported);
    Spent {
        tokens,
        cost_usd,
        known_usd: cost_usd.unwrap_or(0.0),
        unmetered: u64::from(tokens.is_unknown()),
        seconds,
        ..Spent::default()
    }
}

/// The spent budget of tokens or money, by what harnesses reported. The widest scope first, because it decides what else
/// stops. Unreported usage counts as nothing, as preflight says.
pub(crate) fn over(budgets: &Budgets, run: &Spent, episode: &Spent) -> Option<StopReason> {
    [(Scope::Run, budgets.run, run), (Scope::Episode, budgets.episode, episode)].into_iter().find_map(
        |(scope, budget, spent)| {
            let limit = if budget.tokens.is_some_and(|limit| spent.reported_tokens() >= limit) {
                "tokens"
            } else if budget.usd.is_some_and(|limit| spent.known_usd >= limit) {
                "usd"
            } else {
                return None;
            };
            Some(StopReason::Budget { scope, limit: limit.to_owned() })
        },
    )
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
        requests: one.requests.saturating_add(other.requests),
        tokens: one.tokens.plus(other.tokens),
        cost_usd,
        known_usd: one.known_usd + other.known_usd,
        unmetered: one.unmetered.saturating_add(other.unmetered),
        guess: one.guess.plus(other.guess),
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

    #[test]
    fn without_a_gateway_budgets_hold_between_attempts() {
        let spent = |input, usd| Spent {
            tokens: Tokens { input: Some(input), cached: None, output: Some(10) },
            known_usd: usd,
            ..Spent::default()
        };
        let budget = |tokens, usd| gateway::Budget { tokens, usd, seconds: None };
        let budgets = Budgets {
            run: budget(Some(1000), Some(2.0)),
            episode: budget(Some(100), Some(1.0)),
            ..Budgets::default()
        };
        let spent_budget = |run, episode| over(&budgets, &run, &episode);
        let budget_spent_of =
            |scope, limit: &str| Some(StopReason::Budget { scope, limit: limit.to_owned() });
        assert_eq!(spent_budget(spent(900, 1.9), spent(80, 0.9)), None);
        assert_eq!(spent_budget(spent(900, 1.9), spent(90, 0.9)), budget_spent_of(Scope::Episode, "tokens"));
        assert_eq!(spent_budget(spent(900, 1.9), spent(80, 1.0)), budget_spent_of(Scope::Episode, "usd"));
        assert_eq!(spent_budget(spent(990, 1.9), spent(90, 1.0)), budget_spent_of(Scope::Run, "tokens"));
        assert_eq!(spent_budget(spent(900, 2.5), spent(80, 0.0)), budget_spent_of(Scope::Run, "usd"));
        assert_eq!(
            spent_budget(Spent::default(), Spent::default()),
            None,
            "unreported usage spends no budget"
        );
    }

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
