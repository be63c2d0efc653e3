//! Sums of what was spent, and whether a budget is, by what harnesses report.

use gateway::{Budgets, Scope, Spent, StopReason};

/// The spent budget of tokens or money, by what harnesses reported. The widest scope first, because it decides what else
/// stops. Unreported usage counts as nothing, as preflight says.
pub(crate) fn spent_budget(budgets: &Budgets, run: &Spent, episode: &Spent) -> Option<StopReason> {
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
pub(crate) fn sum(left: Spent, right: Spent) -> Spent {
    let nothing = |spent: &Spent| spent.requests == 0 && spent.unmetered == 0 && spent.tokens.is_unknown();
    let cost_usd = match (left.cost_usd, right.cost_usd) {
        (Some(a), Some(b)) => Some(a + b),
        (Some(a), None) if nothing(&right) => Some(a),
        (None, Some(b)) if nothing(&left) => Some(b),
        _ => None,
    };
    Spent {
        requests: left.requests.saturating_add(right.requests),
        tokens: left.tokens.plus(right.tokens),
        cost_usd,
        known_usd: left.known_usd + right.known_usd,
        unmetered: left.unmetered.saturating_add(right.unmetered),
        guess: left.guess.plus(right.guess),
        seconds: left.seconds + right.seconds,
    }
}

#[cfg(test)]
mod tests {
    use model::Tokens;

    use super::*;

    #[test]
    fn a_sum_with_an_unknown_cost_is_unknown() {
        let known = Spent { requests: 1, cost_usd: Some(1.0), known_usd: 1.0, ..Spent::default() };
        let unknown = Spent { requests: 1, ..Spent::default() };
        assert_eq!(sum(known, known).cost_usd, Some(2.0));
        assert_eq!(sum(known, unknown).cost_usd, None);
        assert_eq!(sum(Spent::default(), known).cost_usd, Some(1.0));
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
        let budget_for = |run, episode| spent_budget(&budgets, &run, &episode);
        let budget_spent_of =
            |scope, limit: &str| Some(StopReason::Budget { scope, limit: limit.to_owned() });
        assert_eq!(budget_for(spent(900, 1.9), spent(80, 0.9)), None);
        assert_eq!(budget_for(spent(900, 1.9), spent(90, 0.9)), budget_spent_of(Scope::Episode, "tokens"));
        assert_eq!(budget_for(spent(900, 1.9), spent(80, 1.0)), budget_spent_of(Scope::Episode, "usd"));
        assert_eq!(budget_for(spent(990, 1.9), spent(90, 1.0)), budget_spent_of(Scope::Run, "tokens"));
        assert_eq!(budget_for(spent(900, 2.5), spent(80, 0.0)), budget_spent_of(Scope::Run, "usd"));
        assert_eq!(budget_for(Spent::default(), Spent::default()), None, "unreported usage spends no budget");
    }
}
