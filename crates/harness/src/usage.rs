//! Counts of a harness over a whole session, and the part of one call.

use model::Tokens;

use crate::Session;

const KEYS: [&str; 3] = ["input", "cached", "output"];
const COST: &str = "cost";

/// The cumulative counts of a session, stored in its memory.
pub(crate) struct Meter<'a> {
    session: &'a mut Session,
}

impl<'a> Meter<'a> {
    /// The counts of this session.
    pub(crate) fn new(session: &'a mut Session) -> Self {
        Self { session }
    }

    fn stored_count<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.session.memory.get(key)?.parse().ok()
    }

    /// The tokens of this call, if the session has used `total` so far. Stores `total`.
    ///
    /// An unknown count stays unknown and does not replace a stored count. A count that fell belongs to this call alone,
    /// because the session was restarted.
    pub(crate) fn tokens(&mut self, total: Tokens) -> Tokens {
        let mut parts = [total.input, total.cached, total.output];
        for (key, part) in KEYS.iter().zip(&mut parts) {
            let Some(now) = *part else { continue };
            *part = Some(growth(now, self.stored_count(key).unwrap_or(0)));
            self.session.memory.insert((*key).to_owned(), now.to_string());
        }
        let [input, cached, output] = parts;
        Tokens { input, cached, output }
    }

    /// The cost of this call in US dollars, in the same way.
    pub(crate) fn cost(&mut self, total: Option<f64>) -> Option<f64> {
        let now = total?;
        let before = self.stored_count(COST).unwrap_or(0.0);
        self.session.memory.insert(COST.to_owned(), now.to_string());
        Some(if now >= before { now - before } else { now })
    }
}

/// Tokens and cost of a call, without what nobody told it.
///
/// All zeros are unknown where the model answered, and so is what they cost: programs write them where its answers told no
/// usage. A cost of 0 is that of a model whose price the program does not know.
pub(crate) fn known_usage(
    (tokens, cost_usd): (Tokens, Option<f64>),
    is_answered: bool,
) -> (Tokens, Option<f64>) {
    if is_answered && !tokens.is_unknown() && is_nothing(tokens) {
        return (Tokens::default(), None);
    }
    (tokens, cost_usd.filter(|usd| *usd > 0.0))
}

/// Whether no count is above 0.
pub(crate) fn is_nothing(tokens: Tokens) -> bool {
    [tokens.input, tokens.cached, tokens.output].iter().all(|n| n.unwrap_or(0) == 0)
}

fn growth(now: u64, before: u64) -> u64 {
    now.checked_sub(before).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usage_of_a_call_is_the_difference() {
        let mut session = Session::default();
        let tokens = |input, output| Tokens { input, cached: None, output };
        let mut meter = Meter::new(&mut session);
        assert_eq!(meter.tokens(tokens(Some(10), Some(3))), tokens(Some(10), Some(3)));
        assert_eq!(meter.tokens(Tokens::default()), Tokens::default());
        assert_eq!(meter.tokens(tokens(Some(25), None)), tokens(Some(15), None));
        assert_eq!(meter.tokens(tokens(Some(5), Some(4))), tokens(Some(5), Some(1)));
        assert_eq!(meter.cost(Some(0.5)), Some(0.5));
        assert_eq!(meter.cost(None), None);
        assert_eq!(meter.cost(Some(0.75)), Some(0.25));
        assert_eq!(session.memory["input"], "5");
    }
}
