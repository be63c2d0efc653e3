//! The state of one open attempt, whose address is `/a/<token>`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::lock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use crate::accounts::Account;
use crate::fault_attribution::stall_tracker::StallTracker;
use crate::record::{AttemptKey, AttemptSummary, Record, Scope, StopReason, WaitingRequest};
use crate::recorder::Recorder;
use crate::request::RequestKind;
use crate::request_state::RequestState;
use crate::simulated_model::Task;

/// Requests of one attempt that are with the endpoint at once. Further ones wait.
const CONCURRENT_REQUESTS: usize = 16;
/// Bodies of requests of one attempt in memory at once, in KiB.
const BODIES_KIB: usize = 128 << 10;
/// Records of an attempt that are kept in memory.
const MOST_RECORDS: usize = 10_000;

/// An open attempt.
#[derive(Debug)]
pub(crate) struct AttemptState {
    pub(crate) token: String,
    /// The key that the agent uses.
    pub(crate) secret: String,
    pub(crate) key: AttemptKey,
    /// What the simulated model solves.
    pub(crate) task: Option<Task>,
    /// When its first budget of time is spent, and which one that is.
    deadline: Option<(Instant, Scope)>,
    stop_reason: watch::Sender<Option<StopReason>>,
    is_closed: watch::Sender<bool>,
    waiting: watch::Sender<Option<WaitingRequest>>,
    slots: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
    pub(crate) log: Mutex<AttemptLog>,
}

/// What was observed of an attempt.
#[derive(Debug, Default)]
pub(crate) struct AttemptLog {
    pub(crate) account: Account,
    records: Vec<Record>,
    /// What faults of the endpoint took.
    pub(crate) stalls: StallTracker,
    /// The last answer of a model stated that the context is too long, and nothing came after it.
    pub(crate) overflow: Option<Overflow>,
    /// Answers in a row that the endpoint broke off.
    pub(crate) broken_answers: u32,
    in_flight: HashMap<u64, Arc<RequestState>>,
    next_id: u64,
    is_closed: bool,
}

/// An answer which stated that the context is too long.
#[derive(Debug)]
pub(crate) struct Overflow {
    /// When it came.
    pub(crate) received_at: Instant,
    /// One line.
    pub(crate) message: String,
}

impl AttemptLog {
    /// Removes a finished request and keeps its record, up to a limit.
    pub(crate) fn finish_request(&mut self, id: u64, record: Record) {
        self.in_flight.remove(&id);
        if self.records.len() < MOST_RECORDS {
            self.records.push(record);
        }
    }
}

impl AttemptState {
    /// `time_left` is what the first budget of time leaves, and which budget that is.
    pub(crate) fn new(
        token: String,
        secret: String,
        key: AttemptKey,
        task: Option<Task>,
        time_left: Option<(Duration, Scope)>,
    ) -> Self {
        let now = Instant::now();
        Self {
            token,
            secret,
            key,
            task,
            deadline: time_left.and_then(|(left, scope)| Some((now.checked_add(left)?, scope))),
            stop_reason: watch::Sender::new(None),
            is_closed: watch::Sender::new(false),
            waiting: watch::Sender::new(None),
            slots: Arc::new(Semaphore::new(CONCURRENT_REQUESTS)),
            bodies: Arc::new(Semaphore::new(BODIES_KIB)),
            log: Mutex::new(AttemptLog { account: Account::opened_at(now), ..AttemptLog::default() }),
        }
    }

    /// Whether this is the key of the attempt.
    pub(crate) fn is_key(&self, key: &str) -> bool {
        key == self.secret
    }

    /// Waits until it is closed.
    pub(crate) async fn closed(&self) {
        // It fails only without a sender, which is a part of this attempt.
        let _ = self.is_closed.subscribe().wait_for(|closed| *closed).await;
    }

    /// Stops accepting and counting. Returns the requests in flight, which the caller finishes.
    pub(crate) fn close(&self) -> Vec<Arc<RequestState>> {
        let in_flight = {
            let mut log = lock(&self.log);
            if !log.is_closed {
                log.is_closed = true;
                log.stalls.close();
                log.account.close(Instant::now());
            }
            log.in_flight.values().cloned().collect()
        };
        self.is_closed.send_replace(true);
        in_flight
    }

    /// Registers a request that arrives. `None` = the attempt is closed.
    pub(crate) fn begin_request(
        &self,
        kind: RequestKind,
        route: String,
        request_bytes: usize,
    ) -> Option<Arc<RequestState>> {
        let mut log = lock(&self.log);
        if log.is_closed {
            return None;
        }
        let request = Arc::new(RequestState::new(log.next_id, kind, route, request_bytes));
        log.next_id += 1;
        log.in_flight.insert(request.id, Arc::clone(&request));
        Some(request)
    }

    /// Waits for one of the places at the endpoint.
    pub(crate) async fn acquire_slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.slots).acquire_owned().await.ok()
    }

    /// Waits for the memory that a body needs.
    pub(crate) async fn acquire_memory(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from(bytes.div_ceil(1024).clamp(1, BODIES_KIB)).ok()?;
        Arc::clone(&self.bodies).acquire_many_owned(kib).await.ok()
    }

    /// Stops the attempt: no further request is answered. The first reason counts.
    pub(crate) fn stop(&self, reason: StopReason) {
        self.stop_reason.send_if_modified(|current| {
            let is_first = current.is_none();
            if is_first {
                *current = Some(reason);
            }
            is_first
        });
    }

    /// Stops it where its time or a budget is spent. Why no further request may be forwarded.
    pub(crate) fn check_stop(&self, recorder: &Recorder) -> Option<StopReason> {
        if let Some(reason) = self.stop_reason.borrow().clone() {
            return Some(reason);
        }
        let late = self.deadline.filter(|(moment, _)| *moment <= Instant::now());
        let reason = match late {
            Some((_, scope)) => time_is_spent(scope),
            None => {
                let log = lock(&self.log);
                recorder.spent_budget(Some(&log.account), &self.key.episode)?
            }
        };
        self.stop(reason);
        self.stop_reason.borrow().clone()
    }

    /// Waits until it is stopped. A budget of time stops it at its deadline; the other budgets stop it when a request finds
    /// nothing left, so that the agent can still use its last answer.
    pub(crate) async fn stopped(&self) -> StopReason {
        let mut stop_reason = self.stop_reason.subscribe();
        let deadline = async {
            if let Some((moment, scope)) = self.deadline {
                tokio::time::sleep_until(moment).await;
                self.stop(time_is_spent(scope));
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            Ok(reason) = stop_reason.wait_for(Option::is_some) => {
                if let Some(reason) = reason.clone() {
                    return reason;
                }
            }
            () = deadline => {}
        }
        std::future::pending().await
    }

    /// Publishes that a request waits for the endpoint after a fault, or no longer does.
    pub(crate) fn set_waiting(&self, request: u64, waiting: Option<WaitingRequest>) {
        // Published under the lock, so that the last change is published last.
        let mut log = lock(&self.log);
        let shown = log.stalls.set_waiting(request, waiting);
        self.waiting.send_if_modified(|current| {
            let changed = *current != shown;
            *current = shown;
            changed
        });
    }

    /// Observes whether a request waits for the endpoint.
    pub(crate) fn watch_waiting(&self) -> watch::Receiver<Option<WaitingRequest>> {
        self.waiting.subscribe()
    }

    /// What was observed by now.
    pub(crate) fn summary(&self, recorder: &Recorder) -> AttemptSummary {
        let log = lock(&self.log);
        let stop_reason = self.stop_reason.borrow().clone();
        let overflow = || {
            let message = log.overflow.as_ref()?.message.clone();
            Some(StopReason::ContextOverflow { message })
        };
        AttemptSummary {
            records: log.records.clone(),
            spent: recorder.attempt_spent(&log.account),
            stop_reason: stop_reason.or_else(overflow),
        }
    }
}

fn time_is_spent(scope: Scope) -> StopReason {
    StopReason::Budget { scope, limit: "seconds".to_owned() }
}
