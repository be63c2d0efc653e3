//! The accounts of attempts, episodes and the run, and whether a budget allows more.

use std::collections::{BTreeMap, HashMap};

use tokio::time::Instant;

use crate::cost::RequestCost;
use crate::endpoint_time::EndpointClock;
use crate::record::{Guess, Scope, Spent, StopReason};
use crate::settings::{Budget, Budgets, Price};

/// Seconds of a request in flight, where none has finished yet by which it could be guessed.
const FIRST_SECONDS: f64 = 60.0;

/// Time in which an endpoint has worked on requests that have not finished, so that it is not in what was spent.
#[derive(Debug, Clone, Copy, Default)]
struct Running {
    /// Tries that are with the endpoint.
    tries: u32,
    /// The sum of their begins, by the clock of the machine.
    entered: f64,
    /// Seconds of earlier tries of requests that have not finished.
    seconds: f64,
}

impl Running {
    fn enter(&mut self, entered: f64) {
        self.tries += 1;
        self.entered += entered;
    }

    fn leave(&mut self, entered: f64, seconds: f64) {
        self.tries = self.tries.saturating_sub(1);
        // Sums of fractions do not return to zero by themselves.
        self.entered = if self.tries == 0 { 0.0 } else { self.entered - entered };
        self.seconds += seconds;
    }

    /// A request has finished: its time is spent now.
    fn request_finished(&mut self, seconds: f64) {
        self.seconds = (self.seconds - seconds).max(0.0);
    }

    /// Seconds, by the clock of the machine.
    fn seconds(&self, share: f64) -> f64 {
        self.seconds + (f64::from(self.tries) * share - self.entered).max(0.0)
    }
}

/// The account of an attempt, an episode or the run.
#[derive(Debug, Default)]
pub(crate) struct Account {
    spent: Spent,
    /// The cost of some request is unknown.
    unknown: bool,
    /// The most that requests in flight may cost.
    reserved: Guess,
    in_flight: u32,
    running: Running,
    /// When it was opened, for an open attempt.
    opened: Option<Instant>,
}

impl Account {
    /// The account of an attempt that starts now.
    pub(crate) fn opened_at(now: Instant) -> Self {
        Self { opened: Some(now), ..Self::default() }
    }

    /// Continues from what an earlier part has spent.
    fn resumed(spent: Spent) -> Self {
        let unknown = spent.cost_usd.is_none() && (spent.requests > 0 || spent.unmetered > 0);
        let known_usd = spent.known_usd.max(spent.cost_usd.unwrap_or(0.0));
        Self { spent: Spent { known_usd, ..spent }, unknown, ..Self::default() }
    }

    /// Stops the clock of an attempt.
    pub(crate) fn close(&mut self, now: Instant) {
        if let Some(opened) = self.opened.take() {
            self.spent.seconds += (now - opened).as_secs_f64();
        }
    }

    /// What was spent by now.
    pub(crate) fn spent(&self, now: Instant, price: Option<&Price>) -> Spent {
        let known = !self.unknown && (price.is_some() || self.spent.cost_usd.is_some());
        let open_seconds = self.opened.map_or(0.0, |opened| (now - opened).as_secs_f64());
        Spent {
            cost_usd: known.then_some(self.spent.known_usd),
            seconds: self.spent.seconds + open_seconds,
            ..self.spent
        }
    }

    fn add(&mut self, cost: &RequestCost, price: Option<&Price>) {
        let usd = cost.usd(price);
        self.running.request_finished(cost.machine_seconds);
        self.spent.requests = self.spent.requests.saturating_add(u64::from(cost.answered));
        self.spent.tokens = self.spent.tokens.plus(cost.tally.tokens);
        self.spent.known_usd += usd.unwrap_or(0.0);
        self.unknown |= cost.accepted && usd.is_none();
        if cost.is_unmetered() {
            self.spent.unmetered = self.spent.unmetered.saturating_add(1);
            self.spent.guess = self.spent.guess.plus(cost.guess(price));
        }
    }

    /// US dollars of what a machine has worked on requests that have not finished.
    fn running_usd(&self, share: f64, price: Option<&Price>) -> f64 {
        price.and_then(|price| price.per_hour).map_or(0.0, |usd| self.running.seconds(share) / 3600.0 * usd)
    }

    /// Tokens and US dollars that budgets count, of requests that have finished.
    fn counted(&self) -> Guess {
        Guess {
            tokens: self.spent.reported_tokens().saturating_add(self.spent.guess.tokens),
            usd: self.spent.known_usd + self.spent.guess.usd,
        }
    }

    /// Whether requests in flight may spend what is left.
    fn is_reserved(&self, budget: &Budget) -> bool {
        self.in_flight > 0 && reached_limit(budget, self.counted().plus(self.reserved)).is_some()
    }

    fn reserve(&mut self, most: Guess) {
        self.in_flight += 1;
        self.reserved = self.reserved.plus(most);
    }

    fn release(&mut self, most: Guess) {
        self.in_flight = self.in_flight.saturating_sub(1);
        // Sums of fractions do not return to zero by themselves.
        self.reserved = if self.in_flight == 0 { Guess::default() } else { self.reserved.minus(most) };
    }
}

fn reached_limit(budget: &Budget, counted: Guess) -> Option<&'static str> {
    if budget.tokens.is_some_and(|most| counted.tokens >= most) {
        return Some("tokens");
    }
    if budget.usd.is_some_and(|most| counted.usd >= most) {
        return Some("usd");
    }
    None
}

/// All accounts of a run. The account of an attempt belongs to its attempt and is passed in.
#[derive(Debug)]
pub(crate) struct Accounts {
    run: Account,
    episodes: HashMap<String, Account>,
    budgets: Budgets,
    price: Option<Price>,
    endpoint_clock: EndpointClock,
}

impl Accounts {
    /// Continues from what earlier parts have spent.
    pub(crate) fn new(
        budgets: Budgets,
        price: Option<Price>,
        run: Spent,
        episodes: BTreeMap<String, Spent>,
    ) -> Self {
        let episodes = episodes.into_iter().map(|(name, spent)| (name, Account::resumed(spent))).collect();
        Self {
            run: Account::resumed(run),
            episodes,
            budgets,
            price,
            endpoint_clock: EndpointClock::default(),
        }
    }

    /// The price that costs are computed by.
    pub(crate) fn price(&self) -> Option<&Price> {
        self.price.as_ref()
    }

    /// A try goes to the endpoint. Returns what [`Accounts::work_ends`] needs. `attempt` is `None` for a probe.
    pub(crate) fn work_begins(&mut self, attempt: Option<&mut Account>, episode: &str, now: Instant) -> f64 {
        let entered = self.endpoint_clock.enter(now);
        for account in [attempt, Some(&mut self.run)].into_iter().flatten() {
            account.running.enter(entered);
        }
        self.episode(episode).running.enter(entered);
        entered
    }

    /// The endpoint works on a try no longer. Returns its seconds, shared with other requests at the same time.
    pub(crate) fn work_ends(
        &mut self,
        attempt: Option<&mut Account>,
        episode: &str,
        entered: f64,
        now: Instant,
    ) -> f64 {
        let seconds = self.endpoint_clock.leave(entered, now);
        for account in [attempt, Some(&mut self.run)].into_iter().flatten() {
            account.running.leave(entered, seconds);
        }
        self.episode(episode).running.leave(entered, seconds);
        seconds
    }

    /// What budgets count for a request in flight, and for one that never finishes as this program is killed. By the hour it is
    /// guessed to cost what one has cost on average.
    pub(crate) fn guess(&self, cost: &RequestCost) -> Guess {
        let guess = cost.guess(self.price.as_ref());
        let Some(per_hour) = self.price.as_ref().and_then(|price| price.per_hour) else { return guess };
        let spent = &self.run.spent;
        let usd = match spent.requests {
            0 => FIRST_SECONDS / 3600.0 * per_hour,
            requests => spent.known_usd / requests as f64,
        };
        Guess { usd, ..guess }
    }

    fn episode(&mut self, name: &str) -> &mut Account {
        if !self.episodes.contains_key(name) {
            self.episodes.insert(name.to_owned(), Account::default());
        }
        self.episodes.entry(name.to_owned()).or_default()
    }

    /// Reserves the most that a request may cost. False where requests in flight may spend what is left of a budget: the
    /// request then waits for them. With `force`, and where none is in flight, it always succeeds.
    pub(crate) fn reserve(&mut self, attempt: &mut Account, episode: &str, most: Guess, force: bool) -> bool {
        let budgets = self.budgets;
        let waits = attempt.is_reserved(&budgets.attempt)
            || self.episode(episode).is_reserved(&budgets.episode)
            || self.run.is_reserved(&budgets.run);
        if waits && !force {
            return false;
        }
        attempt.reserve(most);
        self.run.reserve(most);
        self.episode(episode).reserve(most);
        true
    }

    /// Returns what was reserved.
    pub(crate) fn release(&mut self, attempt: &mut Account, episode: &str, most: Guess) {
        attempt.release(most);
        self.run.release(most);
        self.episode(episode).release(most);
    }

    /// Adds a finished request. `attempt` is `None` for a probe, which the agent did not send.
    pub(crate) fn add(&mut self, attempt: Option<&mut Account>, episode: &str, cost: &RequestCost) {
        let price = self.price;
        for account in [attempt, Some(&mut self.run)].into_iter().flatten() {
            account.add(cost, price.as_ref());
        }
        self.episode(episode).add(cost, price.as_ref());
    }

    /// Which budget is spent. The widest comes first, because it decides what else stops. `attempt` is `None` where no
    /// attempt is open. By the hour of a machine, requests in flight count as long as they have run.
    pub(crate) fn spent_budget(
        &self,
        attempt: Option<&Account>,
        episode: &str,
        now: Instant,
    ) -> Option<StopReason> {
        let share = self.endpoint_clock.share_at(now);
        let reached = |account: Option<&Account>, budget: &Budget, scope: Scope| {
            let account = account?;
            let usd = account.running_usd(share, self.price.as_ref());
            let limit = reached_limit(budget, account.counted().plus(Guess { tokens: 0, usd }))?;
            Some(StopReason::Budget { scope, limit: limit.to_owned() })
        };
        // An episode without an account has spent nothing. Its budget may still be 0.
        let empty = Account::default();
        reached(Some(&self.run), &self.budgets.run, Scope::Run)
            .or_else(|| {
                let account = self.episodes.get(episode).unwrap_or(&empty);
                reached(Some(account), &self.budgets.episode, Scope::Episode)
            })
            .or_else(|| reached(attempt, &self.budgets.attempt, Scope::Attempt))
    }

    /// What the run has spent.
    pub(crate) fn run_spent(&self, now: Instant) -> Spent {
        self.run.spent(now, self.price.as_ref())
    }

    /// What an episode has spent.
    pub(crate) fn episode_spent(&self, episode: &str, now: Instant) -> Spent {
        let empty = Account::default();
        self.episodes.get(episode).unwrap_or(&empty).spent(now, self.price.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use model::Tokens;

    use super::*;

    /// Two requests in flight must not both find the same rest of a budget.
    #[test]
    fn requests_in_flight_are_counted_before_they_finish() {
        let tokens = |tokens| Budget { tokens: Some(tokens), ..Budget::default() };
        let budgets = Budgets { run: tokens(1000), ..Budgets::default() };
        let mut accounts = Accounts::new(budgets, None, Spent::default(), BTreeMap::new());
        let most = Guess { tokens: 600, usd: 0.0 };
        let (mut first, mut two, mut three) = (Account::default(), Account::default(), Account::default());
        assert!(accounts.reserve(&mut first, "scenario_0", most, false));
        assert!(accounts.reserve(&mut two, "scenario_1", most, false));
        assert!(!accounts.reserve(&mut three, "scenario_2", most, false), "1,200 may be spent already");
        assert_eq!(accounts.spent_budget(None, "scenario_2", Instant::now()), None, "and are not");
        accounts.release(&mut first, "scenario_0", most);
        let large = Guess { tokens: 5000, usd: 0.0 };
        assert!(accounts.reserve(&mut three, "scenario_2", large, false), "one may exceed the budget");
        accounts.release(&mut two, "scenario_1", most);
        assert!(!accounts.reserve(&mut first, "scenario_0", most, false));
        assert!(accounts.reserve(&mut first, "scenario_0", most, true), "no request waits forever");
    }

    #[test]
    // docs/security.md: A resume
    fn what_a_record_says_was_spent_before_cannot_lift_a_budget() {
        let budget = Budget { tokens: Some(1000), usd: Some(5.0), seconds: None };
        let reached = |spent: Spent| {
            let budgets = Budgets { run: budget, ..Budgets::default() };
            let accounts = Accounts::new(budgets, None, spent.without_negatives(), BTreeMap::new());
            accounts.spent_budget(None, "scenario_0", Instant::now()).is_some()
        };
        let tokens = Tokens { input: Some(u64::MAX), cached: None, output: Some(2) };
        let most = Spent { tokens, requests: u64::MAX, unmetered: u64::MAX, ..Spent::default() };
        assert!(reached(most), "their sum is no small number");
        assert!(!reached(Spent::default()));
        let guess = Guess { tokens: 0, usd: -1e300 };
        let debts =
            Spent { known_usd: 5.0, cost_usd: Some(-1e300), guess, seconds: -1.0, ..Spent::default() };
        assert!(reached(debts), "a guess below zero makes nothing less");
        let owed = Spent { known_usd: -1e300, ..debts }.without_negatives();
        assert_eq!((owed.known_usd, owed.cost_usd, owed.guess.usd, owed.seconds), (0.0, Some(0.0), 0.0, 0.0));
        let mut account = Account::resumed(most);
        account.add(&RequestCost { answered: true, ..RequestCost::estimated(4, 4) }, None);
        assert_eq!(account.spent.requests, u64::MAX);
    }

    #[test]
    fn an_hour_of_a_machine_is_counted_while_it_works() {
        use std::time::Duration;

        let usd = |usd| Budget { usd: Some(usd), ..Budget::default() };
        // A cent a second.
        let price = Some(Price::per_machine_hour(36.0));
        let budgets = Budgets { episode: usd(0.5), run: usd(0.9), ..Budgets::default() };
        let mut accounts = Accounts::new(budgets, price, Spent::default(), BTreeMap::new());
        let (mut first_account, mut second_account) = (Account::default(), Account::default());
        let begin = Instant::now();
        let moment = |seconds: u64| begin + Duration::from_secs(seconds);
        let spent = |accounts: &Accounts, episode: &str, seconds: u64| match accounts.spent_budget(
            None,
            episode,
            moment(seconds),
        ) {
            Some(StopReason::Budget { scope, .. }) => Some(scope),
            _ => None,
        };
        let estimated = RequestCost::estimated(4, 4);
        assert!((accounts.guess(&estimated).usd - 0.6).abs() < 1e-9, "a minute, where none has finished");
        let first = accounts.work_begins(Some(&mut first_account), "scenario_0", moment(0));
        assert_eq!(spent(&accounts, "scenario_0", 49), None);
        assert_eq!(spent(&accounts, "scenario_0", 51), Some(Scope::Episode));
        // Two share the time from here on.
        let second = accounts.work_begins(Some(&mut second_account), "scenario_1", moment(60));
        assert_eq!(spent(&accounts, "scenario_1", 89), None);
        assert_eq!(spent(&accounts, "scenario_1", 91), Some(Scope::Run), "60 s alone and 30 s of both");
        // Between its tries, and once it has finished, it counts the same.
        let seconds = accounts.work_ends(Some(&mut first_account), "scenario_0", first, moment(80));
        assert!((seconds - 70.0).abs() < 1e-9, "{seconds}");
        assert_eq!(spent(&accounts, "scenario_0", 80), Some(Scope::Episode));
        let cost = RequestCost { answered: true, machine_seconds: seconds, ..estimated };
        accounts.add(Some(&mut first_account), "scenario_0", &cost);
        assert_eq!(spent(&accounts, "scenario_0", 80), Some(Scope::Episode));
        assert_eq!(
            spent(&accounts, "scenario_1", 89),
            None,
            "10 s of both and 9 s alone, of 89 s of the run"
        );
        assert_eq!(spent(&accounts, "scenario_1", 91), Some(Scope::Run));
        assert!((accounts.guess(&estimated).usd - 0.7).abs() < 1e-9, "as much as one has cost");
        let seconds = accounts.work_ends(Some(&mut second_account), "scenario_1", second, moment(90));
        accounts.add(
            Some(&mut second_account),
            "scenario_1",
            &RequestCost { machine_seconds: seconds, ..cost },
        );
        let all = accounts.run_spent(moment(90)).known_usd;
        assert!((all - 0.9).abs() < 1e-9, "{all}");
    }
}
