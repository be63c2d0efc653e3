//! What all attempts of a gateway share, and which attempts are open.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::lock;

use crate::attempt_state::AttemptState;
use crate::fault_attribution::FaultAttribution;
use crate::record::{AttemptKey, Scope};
use crate::recorder::Recorder;
use crate::secret::Secret;
use crate::settings::Retry;
use crate::simulated_model::Task;
use crate::upstream::Backend;

/// Closed attempts that are remembered, to tell them from addresses that never existed.
const MOST_REMEMBERED: usize = 4096;

/// What all attempts share.
#[derive(Debug)]
pub(crate) struct GatewayState {
    pub(crate) backend: Backend,
    pub(crate) retry: Retry,
    pub(crate) faults: FaultAttribution,
    /// Whether tools pass that the endpoint runs.
    pub(crate) hosted_tools: bool,
    /// Removed from texts that come from outside.
    pub(crate) hidden: Vec<Secret>,
    pub(crate) recorder: Recorder,
    pub(crate) attempts: AttemptRegistry,
}

impl GatewayState {
    /// A text from outside, without the endpoint's key and other secrets.
    pub(crate) fn scrub(&self, text: &str) -> String {
        self.hidden.iter().fold(self.backend.scrub(text), |text, hidden| hidden.scrub(&text))
    }

    /// How long the endpoint may be silent. The simulated model may be silent forever: where it stalls, it plays an agent that
    /// never finishes, and the limit of the attempt ends it.
    pub(crate) fn longest_silence(&self) -> Duration {
        match self.backend {
            Backend::Http(_) => self.retry.silence,
            Backend::Simulated(_) => Duration::MAX,
        }
    }
}

/// The open attempts by token, and the tokens of closed ones.
#[derive(Debug, Default)]
pub(crate) struct AttemptRegistry(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    open: HashMap<String, Arc<AttemptState>>,
    closed: HashSet<String>,
    /// The closed ones, oldest first.
    closing_order: VecDeque<String>,
}

/// What a token stands for.
pub(crate) enum Lookup {
    /// An open attempt.
    Open(Arc<AttemptState>),
    /// An attempt that has ended.
    Closed,
    /// Nothing.
    Unknown,
}

impl AttemptRegistry {
    /// Opens an attempt with a new address and key.
    pub(crate) fn open(
        &self,
        key: AttemptKey,
        task: Option<Task>,
        time_left: Option<(Duration, Scope)>,
    ) -> Arc<AttemptState> {
        let attempt = Arc::new(AttemptState::new(random_token(), random_token(), key, task, time_left));
        lock(&self.0).open.insert(attempt.token.clone(), Arc::clone(&attempt));
        attempt
    }

    pub(crate) fn find(&self, token: &str) -> Lookup {
        let entries = lock(&self.0);
        match entries.open.get(token) {
            Some(attempt) => Lookup::Open(Arc::clone(attempt)),
            None if entries.closed.contains(token) => Lookup::Closed,
            None => Lookup::Unknown,
        }
    }

    /// Forgets an attempt, except that it existed. Repeatable.
    pub(crate) fn remove(&self, token: &str) {
        let mut entries = lock(&self.0);
        if entries.open.remove(token).is_none() {
            return;
        }
        entries.closed.insert(token.to_owned());
        entries.closing_order.push_back(token.to_owned());
        if entries.closing_order.len() > MOST_REMEMBERED
            && let Some(oldest) = entries.closing_order.pop_front()
        {
            entries.closed.remove(&oldest);
        }
    }

    /// All open attempts.
    pub(crate) fn open_attempts(&self) -> Vec<Arc<AttemptState>> {
        lock(&self.0).open.values().cloned().collect()
    }

    /// How many are open, and how many closed ones are remembered.
    #[cfg(test)]
    pub(crate) fn sizes(&self) -> (usize, usize) {
        let entries = lock(&self.0);
        assert_eq!(entries.closed.len(), entries.closing_order.len());
        (entries.open.len(), entries.closing_order.len())
    }

    /// The most closed attempts that are remembered.
    #[cfg(test)]
    pub(crate) const MOST_REMEMBERED: usize = MOST_REMEMBERED;
}

/// 128 random bits as hexadecimal digits.
fn random_token() -> String {
    let mut bytes = [0_u8; 16];
    // It fails only where the operating system has no randomness, and then nothing secret is possible at all.
    getrandom::fill(&mut bytes).expect("the operating system provides random numbers");
    bytes.iter().fold(String::with_capacity(32), |mut text, byte| {
        text.push_str(&format!("{byte:02x}"));
        text
    })
}
