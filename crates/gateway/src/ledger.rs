//! What was spent, of an attempt, an episode and the run, and whether a budget allows more.

use std::collections::{BTreeMap, HashMap};

use model::Tokens;
use tokio::time::Instant;

use crate::usage::Tally;
use crate::{Budget, Budgets, Guess, Over, Price, Scope, Spent};

/// What one request came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entry {
    /// It was answered (2xx).
    pub(crate) answered: bool,
    /// The endpoint took it, so it may have cost something.
    pub(crate) taken: bool,
    /// What it told.
    pub(crate) tally: Tally,
    /// By the price.
    pub(crate) cost_usd: Option<f64>,
    /// Where it told nothing: what budgets go by.
    pub(crate) guess: Tokens,
}

impl Entry {
    /// What budgets count beside what it told; nothing where it told all, or was not taken.
    pub(crate) fn guessed(&self, price: Option<&Price>) -> Guess {
        if !self.taken || self.tally.is_whole() {
            return Guess::default();
        }
        let told = self.tally.tokens;
        let whole = Tally {
            tokens: Tokens {
                input: told.input.or(self.guess.input),
                cached: told.cached,
                output: told.output.or(self.guess.output),
            },
            written: self.tally.written,
        };
        let sum = |tokens: Tokens| tokens.input.unwrap_or(0) + tokens.output.unwrap_or(0);
        Guess { tokens: sum(whole.tokens).saturating_sub(sum(told)), usd: cost(price, &whole).unwrap_or(0.0) }
    }
}

/// The cost of an answer; `None` = unknown.
pub(crate) fn cost(price: Option<&Price>, tally: &Tally) -> Option<f64> {
    let price = price?;
    let (input, output) = (tally.tokens.input?, tally.tokens.output?);
    let cached = tally.tokens.cached.unwrap_or(0).min(input);
    let written = tally.written.unwrap_or(0).min(input - cached);
    let plain = input - cached - written;
    Some(
        (plain as f64 * price.input
            + cached as f64 * price.cached.unwrap_or(price.input)
            + written as f64 * price.cache_write.unwrap_or(price.input)
            + output as f64 * price.output)
            / 1e6,
    )
}

/// The account of an attempt, an episode or the run.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    spent: Spent,
    /// Some request's cost is not known.
    unknown: bool,
    /// What requests on their way may come to, and how many those are.
    held: Guess,
    on_their_way: u32,
    /// Since when it is open, if it is an attempt's.
    since: Option<Instant>,
}

impl Ledger {
    /// Goes on from what an earlier part has spent.
    pub(crate) fn after(spent: Spent) -> Self {
        let unknown = spent.cost_usd.is_none() && (spent.requests > 0 || spent.unmetered > 0);
        let known_usd = spent.known_usd.max(spent.cost_usd.unwrap_or(0.0));
        Self { spent: Spent { known_usd, ..spent }, unknown, ..Self::default() }
    }

    fn add(&mut self, entry: &Entry, price: Option<&Price>) {
        self.spent.requests += u64::from(entry.answered);
        self.spent.tokens = self.spent.tokens.plus(entry.tally.tokens);
        self.spent.known_usd += entry.cost_usd.unwrap_or(0.0);
        if entry.taken {
            self.unknown |= entry.cost_usd.is_none();
            if !entry.tally.is_whole() {
                self.spent.unmetered += 1;
                self.spent.guess = self.spent.guess.plus(entry.guessed(price));
            }
        }
    }

    /// An attempt begins.
    pub(crate) fn open(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// An attempt ends.
    pub(crate) fn close(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            self.spent.seconds += (now - since).as_secs_f64();
        }
    }

    fn seconds(&self, now: Instant) -> f64 {
        self.spent.seconds + self.since.map_or(0.0, |since| (now - since).as_secs_f64())
    }

    /// As it is shown.
    pub(crate) fn spent(&self, now: Instant, price: Option<&Price>) -> Spent {
        let known = !self.unknown && (price.is_some() || self.spent.cost_usd.is_some());
        Spent { cost_usd: known.then_some(self.spent.known_usd), seconds: self.seconds(now), ..self.spent }
    }

    /// Tokens and US dollars that budgets count.
    fn used(&self) -> Guess {
        let tokens = self.spent.tokens;
        Guess {
            tokens: tokens.input.unwrap_or(0) + tokens.output.unwrap_or(0) + self.spent.guess.tokens,
            usd: self.spent.known_usd + self.spent.guess.usd,
        }
    }

    /// Which limit is reached.
    fn over(&self, budget: &Budget) -> Option<&'static str> {
        reached(budget, self.used())
    }

    /// Whether requests on their way may spend what is left.
    fn is_held(&self, budget: &Budget) -> bool {
        self.on_their_way > 0 && reached(budget, self.used().plus(self.held)).is_some()
    }

    fn hold(&mut self, most: Guess) {
        self.on_their_way += 1;
        self.held = self.held.plus(most);
    }

    fn release(&mut self, most: Guess) {
        self.on_their_way = self.on_their_way.saturating_sub(1);
        // Sums of fractions do not come back to nothing by themselves.
        self.held = if self.on_their_way == 0 { Guess::default() } else { self.held.less(most) };
    }
}

fn reached(budget: &Budget, used: Guess) -> Option<&'static str> {
    if budget.tokens.is_some_and(|most| used.tokens >= most) {
        return Some("tokens");
    }
    if budget.usd.is_some_and(|most| used.usd >= most) {
        return Some("usd");
    }
    None
}

/// All accounts of a run.
#[derive(Debug)]
pub(crate) struct Books {
    run: Ledger,
    episodes: HashMap<String, Ledger>,
    budgets: Budgets,
    price: Option<Price>,
}

impl Books {
    /// Goes on from what earlier parts have spent.
    pub(crate) fn new(
        budgets: Budgets,
        price: Option<Price>,
        run: Spent,
        episodes: BTreeMap<String, Spent>,
    ) -> Self {
        Self {
            run: Ledger::after(run),
            episodes: episodes.into_iter().map(|(name, spent)| (name, Ledger::after(spent))).collect(),
            budgets,
            price,
        }
    }

    fn episode(&mut self, name: &str) -> &mut Ledger {
        if !self.episodes.contains_key(name) {
            self.episodes.insert(name.to_owned(), Ledger::default());
        }
        self.episodes.entry(name.to_owned()).or_default()
    }

    /// The price that costs are counted by.
    pub(crate) fn price(&self) -> Option<&Price> {
        self.price.as_ref()
    }

    /// Holds what a request may come to, unless those on their way may spend what is left of a budget: then it is to wait for
    /// them. Where none is on its way, or with `anyway`, it is held in any case.
    pub(crate) fn hold(&mut self, attempt: &mut Ledger, episode: &str, most: Guess, anyway: bool) -> bool {
        let budgets = self.budgets;
        let waits = attempt.is_held(&budgets.attempt)
            || self.episode(episode).is_held(&budgets.episode)
            || self.run.is_held(&budgets.run);
        if waits && !anyway {
            return false;
        }
        attempt.hold(most);
        self.run.hold(most);
        self.episode(episode).hold(most);
        true
    }

    /// Gives back what was held.
    pub(crate) fn release(&mut self, attempt: &mut Ledger, episode: &str, most: Guess) {
        attempt.release(most);
        self.run.release(most);
        self.episode(episode).release(most);
    }

    /// A request came to its end.
    pub(crate) fn add(&mut self, attempt: &mut Ledger, episode: &str, entry: &Entry) {
        let price = self.price;
        for ledger in [attempt, &mut self.run] {
            ledger.add(entry, price.as_ref());
        }
        self.episode(episode).add(entry, price.as_ref());
    }

    /// A request of ours on behalf of an episode came to its end: none of an attempt's.
    pub(crate) fn add_aside(&mut self, episode: &str, entry: &Entry) {
        let price = self.price;
        self.run.add(entry, price.as_ref());
        self.episode(episode).add(entry, price.as_ref());
    }

    /// Which budget allows nothing more; the widest first, because it decides what else stops. `attempt` = of one in play.
    pub(crate) fn over(&self, attempt: Option<&Ledger>, episode: &str) -> Option<Over> {
        let over = |ledger: Option<&Ledger>, budget: &Budget, scope: Scope| {
            let of = ledger?.over(budget)?;
            Some(Over::Budget { scope, of: of.to_owned() })
        };
        // An episode that has no account yet has spent nothing; its budget may still be 0.
        let nothing = Ledger::default();
        over(Some(&self.run), &self.budgets.run, Scope::Run)
            .or_else(|| {
                let ledger = self.episodes.get(episode).unwrap_or(&nothing);
                over(Some(ledger), &self.budgets.episode, Scope::Episode)
            })
            .or_else(|| over(attempt, &self.budgets.attempt, Scope::Attempt))
    }

    /// Of the run.
    pub(crate) fn spent(&self, now: Instant) -> Spent {
        self.run.spent(now, self.price.as_ref())
    }

    /// Of an episode.
    pub(crate) fn spent_of(&self, episode: &str, now: Instant) -> Spent {
        self.episodes.get(episode).map_or_else(
            || Ledger::default().spent(now, self.price.as_ref()),
            |ledger| ledger.spent(now, self.price.as_ref()),
        )
    }
}
