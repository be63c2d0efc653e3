//! The state of one request in flight: what arrived, and how far it has come. It knows neither its attempt nor the gateway.

use std::sync::{Mutex, MutexGuard};

use model::{Tokens, lock};
use tokio::time::Instant;

use crate::clock;
use crate::record::{Guess, StreamTimes};
use crate::request::RequestKind;
use crate::usage::Meter;

/// A request in flight.
#[derive(Debug)]
pub(crate) struct RequestState {
    /// Position among the requests of its attempt, from 0.
    pub(crate) id: u64,
    pub(crate) kind: RequestKind,
    /// Method and path, for the record.
    pub(crate) route: String,
    /// When it arrived, RFC 3339.
    pub(crate) arrived_at: String,
    pub(crate) started: Instant,
    pub(crate) request_bytes: u64,
    progress: Mutex<Progress>,
}

impl RequestState {
    pub(crate) fn new(id: u64, kind: RequestKind, route: String, request_bytes: usize) -> Self {
        let now = Instant::now();
        Self {
            id,
            kind,
            route,
            arrived_at: clock::now(),
            started: now,
            request_bytes: request_bytes as u64,
            progress: Mutex::new(Progress::new(now)),
        }
    }

    /// How far it has come.
    pub(crate) fn progress(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }

    /// Position among the requests of its attempt, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.id + 1
    }

    /// Input tokens, estimated from its length.
    pub(crate) fn estimated_input(&self) -> u64 {
        self.request_bytes / 4
    }
}

/// How far a request has come.
#[derive(Debug)]
pub(crate) struct Progress {
    /// The model that the agent asked for.
    pub(crate) model: Option<String>,
    /// The status that the agent receives. 0 = unknown yet.
    pub(crate) status: u16,
    /// Statuses of failed tries.
    pub(crate) faults: Vec<u16>,
    pub(crate) tries: u32,
    /// A try is with the endpoint, or was answered.
    pub(crate) accepted: bool,
    pub(crate) meter: Option<Meter>,
    /// The tokens that the simulated model counts.
    pub(crate) simulated_tokens: Option<Tokens>,
    /// The endpoint reported that the context is too long.
    pub(crate) overflow: Option<String>,
    /// When the current try started.
    pub(crate) try_started: Instant,
    /// When the first content of a stream came, in this try.
    pub(crate) first_content: Option<Instant>,
    /// The last sign of the endpoint: the start of the try, or a piece of its answer.
    pub(crate) last_sign: Instant,
    /// When the endpoint last sent something, or the first try started.
    pub(crate) heard_at: Instant,
    /// The endpoint sent something, an error included.
    pub(crate) was_heard: bool,
    /// The error that the agent receives in place of an answer.
    pub(crate) error: Option<String>,
    /// The endpoint was silent to its last try, for as long as the gateway waits.
    pub(crate) ended_in_silence: bool,
    /// Since when time is lost to faults of the endpoint. `None` after an answer.
    pub(crate) lost_since: Option<Instant>,
    /// The last fault of the endpoint, until an answer follows it.
    pub(crate) fault: Option<String>,
    /// What is reserved for it in the accounts.
    pub(crate) reserved: Option<Guess>,
    /// A try is with the endpoint since then, by the clock of the machine.
    pub(crate) working_since: Option<f64>,
    /// Seconds in which the endpoint has worked on it.
    pub(crate) machine_seconds: f64,
    pub(crate) is_finished: bool,
}

impl Progress {
    fn new(now: Instant) -> Self {
        Self {
            model: None,
            status: 0,
            faults: Vec::new(),
            tries: 0,
            accepted: false,
            meter: None,
            simulated_tokens: None,
            overflow: None,
            try_started: now,
            first_content: None,
            last_sign: now,
            heard_at: now,
            was_heard: false,
            error: None,
            ended_in_silence: false,
            lost_since: None,
            fault: None,
            reserved: None,
            working_since: None,
            machine_seconds: 0.0,
            is_finished: false,
        }
    }

    /// A try starts.
    pub(crate) fn start_try(&mut self, tries: u32) {
        let now = Instant::now();
        (self.try_started, self.last_sign) = (now, now);
        if tries == 1 {
            self.heard_at = now;
        }
        self.tries = tries;
        self.accepted = true;
        self.meter = None;
        self.first_content = None;
    }

    /// How long the endpoint has taken for a stream that is whole now, or tells of a plain answer. `None` = unknown, or the answer
    /// is nobody's.
    pub(crate) fn stream_times(&self) -> Option<StreamTimes> {
        if self.simulated_tokens.is_some() {
            return None;
        }
        let Some(first) = self.first_content else { return self.meter.as_ref()?.times() };
        Some(StreamTimes {
            first_seconds: first.saturating_duration_since(self.try_started).as_secs_f64(),
            rest_seconds: self.last_sign.saturating_duration_since(first).as_secs_f64(),
        })
    }

    /// A try failed. Whose fault it is may be unknown yet.
    pub(crate) fn fail_try(&mut self, status: u16) {
        self.faults.push(status);
        self.accepted = false;
        self.meter = None;
    }

    /// The endpoint has sent something.
    pub(crate) fn touch(&mut self) {
        let now = Instant::now();
        (self.last_sign, self.heard_at, self.was_heard) = (now, now, true);
    }

    /// The failed try is attributed to the endpoint.
    pub(crate) fn add_fault(&mut self, message: &str) {
        self.fault = Some(message.to_owned());
        let try_started = self.try_started;
        self.lost_since.get_or_insert(try_started);
    }

    /// The failed tries are not attributed to the endpoint, or not yet.
    pub(crate) fn clear_fault(&mut self) {
        self.fault = None;
        self.lost_since = None;
    }
}
