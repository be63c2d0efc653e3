//! Whose fault an error is: the agent's or the endpoint's.
//!
//! The decisions are pure functions in [`table`]. The facts come from [`error_codes`] (what an error means), [`stall_tracker`]
//! (where the time of an attempt went) and [`probe`] (whether the endpoint answers the gateway itself). This file brings them
//! together for the end of an attempt; `forward.rs` does so for a failed try, `in_flight.rs` for a finished request.

pub(crate) mod error_codes;
mod probe;
pub(crate) mod stall_tracker;
pub(crate) mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use self::probe::Probe;
use self::stall_tracker::EndFacts;
use self::table::{Answers, Api, Decision, ProbeAnswer};
use crate::record::AttemptKey;
use crate::recorder::Recorder;
use crate::request::RequestKind;
use crate::route::Route;
use crate::small_request::LEAST_TOKENS;
use crate::upstream::Backend;

/// An endpoint that has just answered a probe counts as answering for this long.
const FRESH_PROBE_TIME: Duration = Duration::from_mins(1);
/// How long a probe after a failed try may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// Some endpoints want the longest answer to be paid in advance (402), so this probe asks for an answer of usual length.
const USUAL_TOKENS: u32 = 8192;

/// Attributes faults, with probes where the facts do not decide.
#[derive(Debug)]
pub(crate) struct FaultAttribution {
    routes: Vec<Route>,
    /// When the endpoint last answered a probe.
    answered: Arc<Mutex<Option<Instant>>>,
    /// Whether a request of an agent was answered completely, in whatever API and any part of the run.
    run_is_answered: AtomicBool,
}

/// The end of an attempt that is attributed to its endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointFault {
    /// One line.
    pub reason: String,
    /// How far it excuses the agent.
    pub treatment: FaultTreatment,
}

/// How far a fault of the endpoint excuses an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultTreatment {
    /// It is censored: the endpoint caused it, and no agent can.
    Censored,
    /// An agent could cause it at will. So the attempt is retried a limited number of times, and then its end is the agent's.
    RetriedThenAgent,
    /// No request of the run was ever answered completely, so no agent has acted yet, and nothing is known of one.
    RunUnanswered {
        /// Whether the attempt sent a request to a model. If not, its harness may be what is broken.
        was_asked: bool,
    },
}

impl FaultAttribution {
    /// `routes` are the APIs that the harness speaks. Empty = all. `run_is_answered`: a request of an agent was answered in an
    /// earlier part of the run.
    pub(crate) fn new(routes: Vec<Route>, run_is_answered: bool) -> Self {
        Self { routes, answered: Arc::default(), run_is_answered: AtomicBool::new(run_is_answered) }
    }

    /// Whether a request of an agent was answered completely, in any part of the run.
    pub(crate) fn is_run_answered(&self) -> bool {
        self.run_is_answered.load(Ordering::Relaxed)
    }

    /// A request of an agent was answered completely.
    pub(crate) fn set_run_answered(&self) {
        self.run_is_answered.store(true, Ordering::Relaxed);
    }

    /// Which API a request uses, for the decision table.
    pub(crate) fn api(&self, kind: RequestKind) -> Api {
        match kind {
            RequestKind::Free => Api::Free,
            RequestKind::Model(route) if self.routes.is_empty() || self.routes.contains(&route) => {
                Api::Harness
            }
            RequestKind::Model(_) | RequestKind::Paid => Api::Other,
        }
    }

    /// Whether a fault of such a request counts for its attempt.
    pub(crate) fn concerns(&self, kind: RequestKind) -> bool {
        self.api(kind) == Api::Harness
    }

    /// Probes the endpoint after a failed try with this `status`. A recent answer suffices. After a second refusal it has to be
    /// newer than `refused_at`, the first one: a key may have expired since.
    pub(crate) async fn probe_after_failure(
        &self,
        backend: &Backend,
        recorder: &Recorder,
        key: &AttemptKey,
        route: Option<Route>,
        status: u16,
        refused_at: Option<Instant>,
    ) -> ProbeAnswer {
        let (Backend::Http(endpoint), Some(route)) = (backend, route) else {
            // The simulated model is no endpoint, and other paths have no probe.
            return ProbeAnswer::Answered;
        };
        let mut answered = self.answered.lock().await;
        let is_fresh = |answered_at: Instant| {
            refused_at
                .map_or_else(|| answered_at.elapsed() < FRESH_PROBE_TIME, |refused| answered_at >= refused)
        };
        if answered.is_some_and(is_fresh) {
            return ProbeAnswer::Answered;
        }
        let most_tokens = if status == 402 { USUAL_TOKENS } else { LEAST_TOKENS };
        let answer = Probe::new(recorder, key, endpoint, route).send(most_tokens, PATIENCE).await;
        *answered = (answer == ProbeAnswer::Answered).then(Instant::now);
        answer
    }

    /// Why the end of an attempt is attributed to the endpoint. `None` = to the agent. The simulated model is no endpoint: where
    /// it stalls, it plays an agent that never finishes.
    pub(crate) async fn attribute_end(
        &self,
        backend: &Backend,
        recorder: &Recorder,
        key: &AttemptKey,
        facts: EndFacts,
    ) -> Option<EndpointFault> {
        let Backend::Http(endpoint) = backend else { return None };
        let mut probe = ProbeAnswer::NotSent;
        loop {
            match table::after_end(facts.ended_by, facts.answers, facts.lost, facts.last, probe) {
                Decision::Probe => {
                    let planned = facts.probe?;
                    // Where an endpoint falls silent, many attempts end at once. They do not wait for each other's probes.
                    probe = Probe::new(recorder, key, endpoint, planned.route)
                        .send(LEAST_TOKENS, planned.patience)
                        .await;
                    if probe == ProbeAnswer::Answered {
                        *self.answered.lock().await = Some(Instant::now());
                    }
                }
                Decision::EndAsEndpoint => {
                    let treatment = match facts.answers {
                        Answers::NoneInRun => FaultTreatment::RunUnanswered { was_asked: facts.was_asked },
                        Answers::NoneInAttempt | Answers::Some => FaultTreatment::Censored,
                    };
                    return Some(EndpointFault { reason: facts.reason, treatment });
                }
                Decision::RetryAttempt => {
                    return Some(EndpointFault {
                        reason: facts.reason,
                        treatment: FaultTreatment::RetriedThenAgent,
                    });
                }
                Decision::EndAsAgent | Decision::PassOn(_) | Decision::Retry(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_apis_of_the_harness_concern_the_endpoint() {
        let attribution = FaultAttribution::new(vec![Route::Messages], false);
        assert_eq!(attribution.api(RequestKind::Model(Route::Messages)), Api::Harness);
        for (kind, api) in [
            (RequestKind::Model(Route::ChatCompletions), Api::Other),
            (RequestKind::Model(Route::Responses), Api::Other),
            (RequestKind::Paid, Api::Other),
            (RequestKind::Free, Api::Free),
        ] {
            assert_eq!(attribution.api(kind), api);
            assert!(!attribution.concerns(kind));
        }
        let all = FaultAttribution::new(Vec::new(), false);
        assert!(all.concerns(RequestKind::Model(Route::Responses)));
        let two = FaultAttribution::new(vec![Route::Messages, Route::Responses], false);
        assert!(two.concerns(RequestKind::Model(Route::Messages)));
        assert!(two.concerns(RequestKind::Model(Route::Responses)));
        assert!(!two.concerns(RequestKind::Model(Route::ChatCompletions)));
    }
}
