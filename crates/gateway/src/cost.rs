//! What one request cost.

use model::Tokens;

use crate::record::Guess;
use crate::settings::Price;
use crate::usage::Tally;

/// What one request came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RequestCost {
    /// The endpoint answered it (2xx).
    pub(crate) answered: bool,
    /// The endpoint accepted it, so it may have cost something.
    pub(crate) accepted: bool,
    /// It was sent at least once: a machine has worked on it, whatever came of that.
    pub(crate) was_sent: bool,
    /// The usage that the endpoint reported.
    pub(crate) tally: Tally,
    /// What budgets count where the endpoint reported nothing.
    pub(crate) fallback: Tokens,
    /// Seconds in which the endpoint worked on it, shared with other requests of the run at the same time.
    pub(crate) machine_seconds: f64,
}

impl RequestCost {
    /// A request that the endpoint may have accepted, with estimated tokens.
    pub(crate) fn estimated(input: u64, output: u64) -> Self {
        let fallback = Tokens { input: Some(input), cached: None, output: Some(output) };
        Self { accepted: true, was_sent: true, fallback, ..Self::default() }
    }

    /// US dollars. `None` = unknown, or it cost nothing: by tokens it was not accepted, by the hour it was not sent. An hour of a
    /// machine costs the same for a request that failed.
    pub(crate) fn usd(&self, price: Option<&Price>) -> Option<f64> {
        match price?.per_hour {
            Some(per_hour) => self.was_sent.then_some(self.machine_seconds / 3600.0 * per_hour),
            None => price?.cost_of_tokens(&self.tally.tokens, self.tally.written).filter(|_| self.accepted),
        }
    }

    /// Whether the endpoint accepted it without reporting its usage.
    pub(crate) fn is_unmetered(&self) -> bool {
        self.accepted && !self.tally.is_complete()
    }

    /// What budgets count beside the reported usage.
    pub(crate) fn guess(&self, price: Option<&Price>) -> Guess {
        if !self.is_unmetered() {
            return Guess::default();
        }
        let reported = self.tally.tokens;
        let filled = Tokens {
            input: reported.input.or(self.fallback.input),
            cached: reported.cached,
            output: reported.output.or(self.fallback.output),
        };
        let sum = |tokens: Tokens| tokens.input.unwrap_or(0) + tokens.output.unwrap_or(0);
        let usd = price.and_then(|price| price.cost_of_tokens(&filled, self.tally.written));
        Guess {
            tokens: sum(filled).saturating_sub(sum(reported)),
            // Time is known without usage: of a request in flight, [`crate::accounts`] counts it.
            usd: usd.unwrap_or(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_follow_the_price() {
        let tokens = |input, cached, output| Tokens { input, cached, output };
        let price = Price { input: 3.0, cached: Some(0.3), output: 15.0, ..Price::default() };
        let cost = |price: Option<&Price>, tokens, written| {
            let tally = Tally { tokens, written };
            RequestCost { tally, ..RequestCost::estimated(1, 1) }.usd(price)
        };
        let million = Some(1_000_000);
        assert_eq!(cost(Some(&price), tokens(million, None, million), None), Some(18.0));
        assert_eq!(cost(Some(&price), tokens(million, million, Some(0)), None), Some(0.3));
        assert_eq!(cost(Some(&price), tokens(million, None, Some(0)), million), Some(3.0));
        let writing = Price { cache_write: Some(3.75), ..price };
        assert_eq!(cost(Some(&writing), tokens(million, None, Some(0)), million), Some(3.75));
        assert_eq!(cost(Some(&price), tokens(Some(10), million, Some(0)), million), Some(3e-6));
        assert_eq!(cost(Some(&price), tokens(None, None, million), None), None);
        assert_eq!(cost(Some(&price), tokens(million, None, None), None), None);
        assert_eq!(cost(None, tokens(million, None, million), None), None);
    }

    #[test]
    fn an_hour_of_a_machine_costs_the_same_whatever_the_usage() {
        let price = Price::per_machine_hour(1.8);
        let known = Tally {
            tokens: Tokens { input: Some(5_000), cached: None, output: Some(300) },
            ..Tally::default()
        };
        for tally in [known, Tally::default()] {
            let cost = RequestCost { tally, machine_seconds: 90.0, ..RequestCost::estimated(4, 4) };
            let usd = cost.usd(Some(&price)).unwrap();
            assert!((usd - 0.045).abs() < 1e-12, "{usd}");
            assert_eq!(cost.guess(Some(&price)).usd.to_bits(), 0.0_f64.to_bits());
        }
        // One whose last try failed was worked on as well.
        let failed = RequestCost { was_sent: true, machine_seconds: 180.0, ..RequestCost::default() };
        let usd = failed.usd(Some(&price)).unwrap();
        assert!((usd - 0.09).abs() < 1e-12, "{usd}");
        assert_eq!(failed.usd(Some(&Price { input: 1.0, output: 1.0, ..Price::default() })), None);
        assert_eq!(RequestCost::default().usd(Some(&price)), None, "one that was not sent");
    }
}
