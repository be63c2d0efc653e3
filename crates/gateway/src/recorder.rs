//! Records requests: in the accounts of the run, and in its log. One place, so that the two cannot disagree.

use std::sync::{Arc, Mutex};

use model::lock;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::Instant;

use crate::accounts::{Account, Accounts};
use crate::cost::RequestCost;
use crate::log::{RequestFault, RequestLog, RequestStart};
use crate::record::{Guess, Record, Spent, StopReason};

/// The accounts and the log of a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Shared with a successor: a gateway that replaces another continues its accounts.
    accounts: Arc<Mutex<Accounts>>,
    request_finished: Arc<Notify>,
    /// `None` = no log, or closed.
    log: Mutex<Option<RequestLog>>,
}

impl Recorder {
    pub(crate) fn new(accounts: Accounts, log: Option<RequestLog>) -> Self {
        Self {
            accounts: Arc::new(Mutex::new(accounts)),
            request_finished: Arc::default(),
            log: Mutex::new(log),
        }
    }

    /// A recorder with a log of its own that continues these accounts.
    pub(crate) fn successor(&self, log: Option<RequestLog>) -> Self {
        Self {
            accounts: Arc::clone(&self.accounts),
            request_finished: Arc::clone(&self.request_finished),
            log: Mutex::new(log),
        }
    }

    /// As [`Accounts::reserve`].
    pub(crate) fn reserve(&self, attempt: &mut Account, episode: &str, most: Guess, force: bool) -> bool {
        lock(&self.accounts).reserve(attempt, episode, most, force)
    }

    /// As [`Accounts::work_begins`].
    pub(crate) fn work_begins(&self, attempt: Option<&mut Account>, episode: &str) -> f64 {
        lock(&self.accounts).work_begins(attempt, episode, Instant::now())
    }

    /// As [`Accounts::work_ends`].
    pub(crate) fn work_ends(&self, attempt: Option<&mut Account>, episode: &str, entered: f64) -> f64 {
        lock(&self.accounts).work_ends(attempt, episode, entered, Instant::now())
    }

    /// As [`Accounts::guess`].
    pub(crate) fn guess(&self, cost: &RequestCost) -> Guess {
        lock(&self.accounts).guess(cost)
    }

    /// Logs that a request is about to be sent, so that it counts as spent if this program is killed before it finishes.
    pub(crate) fn request_begun(&self, begun: &RequestStart) {
        if let Some(log) = lock(&self.log).as_ref() {
            log.append(begun);
        }
    }

    /// Logs a failed try when it fails, so that observers see it before the request finishes.
    pub(crate) fn request_faulted(&self, faulted: &RequestFault) {
        if let Some(log) = lock(&self.log).as_ref() {
            log.append(faulted);
        }
    }

    /// Records a finished request: fills in what it cost, adds it to the accounts and appends it to the log. `attempt` is
    /// `None` for a probe. `reserved` is what was reserved for it.
    pub(crate) fn request_finished(
        &self,
        mut attempt: Option<&mut Account>,
        reserved: Option<Guess>,
        cost: &RequestCost,
        mut record: Record,
    ) -> Record {
        {
            let mut accounts = lock(&self.accounts);
            let episode = &record.key.episode;
            if let (Some(attempt), Some(reserved)) = (attempt.as_deref_mut(), reserved) {
                accounts.release(attempt, episode, reserved);
            }
            accounts.add(attempt, episode, cost);
            record.cost_usd = cost.usd(accounts.price());
            record.guess = cost.guess(accounts.price());
        }
        record.tokens = cost.tally.tokens;
        record.unmetered = cost.is_unmetered();
        if let Some(log) = lock(&self.log).as_ref() {
            log.append(&record);
        }
        record
    }

    /// Wakes requests that wait for a reservation. Called after [`Recorder::request_finished`], without locks.
    pub(crate) fn wake_waiting(&self) {
        self.request_finished.notify_waiters();
    }

    /// Resolves when a request finishes.
    pub(crate) fn next_finished(&self) -> Notified<'_> {
        self.request_finished.notified()
    }

    /// As [`Accounts::spent_budget`].
    pub(crate) fn spent_budget(&self, attempt: Option<&Account>, episode: &str) -> Option<StopReason> {
        lock(&self.accounts).spent_budget(attempt, episode, Instant::now())
    }

    /// What an attempt has spent.
    pub(crate) fn attempt_spent(&self, attempt: &Account) -> Spent {
        attempt.spent(Instant::now(), lock(&self.accounts).price())
    }

    /// What an episode has spent.
    pub(crate) fn episode_spent(&self, episode: &str) -> Spent {
        lock(&self.accounts).episode_spent(episode, Instant::now())
    }

    /// What the run has spent.
    pub(crate) fn run_spent(&self) -> Spent {
        lock(&self.accounts).run_spent(Instant::now())
    }

    /// Closes the log after its last line is written.
    pub(crate) fn close_log(&self) {
        let log = lock(&self.log).take();
        drop(log);
    }
}
