//! An open attempt, as its caller sees it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use model::lock;
use tokio::sync::watch;

use crate::attempt_state::AttemptState;
use crate::fault_attribution::EndpointFault;
use crate::fault_attribution::table::EndedBy;
use crate::in_flight::close_attempt;
use crate::record::{AttemptSummary, Spent, StopReason, WaitingRequest};
use crate::state::GatewayState;

/// An open attempt. Dropping it closes it.
#[derive(Debug)]
pub struct Attempt {
    state: Arc<AttemptState>,
    gateway: Arc<GatewayState>,
    base_urls: Vec<String>,
}

impl Attempt {
    pub(crate) fn new(
        gateway: Arc<GatewayState>,
        state: Arc<AttemptState>,
        addresses: &[SocketAddr],
    ) -> Self {
        let base_urls =
            addresses.iter().map(|address| format!("http://{address}/a/{}", state.token)).collect();
        Self { state, gateway, base_urls }
    }

    /// Base URL for the agent, for the address with this index (the last one if there are fewer). Without a slash at the end
    /// and without `/v1`.
    pub fn base_url(&self, address: usize) -> String {
        self.base_urls.get(address).or(self.base_urls.last()).cloned().unwrap_or_default()
    }

    /// Its path on every address: `/a/<token>`, for containers that reach the gateway under a name of their own.
    pub fn path(&self) -> String {
        format!("/a/{}", self.state.token)
    }

    /// The key that the agent uses.
    pub fn key(&self) -> &str {
        &self.state.secret
    }

    /// What was observed so far. Requests in flight are not in it.
    pub fn summary(&self) -> AttemptSummary {
        self.state.summary(&self.gateway.recorder)
    }

    /// What was spent so far. Cheaper than [`Attempt::summary`].
    pub fn spent(&self) -> Spent {
        self.gateway.recorder.attempt_spent(&lock(&self.state.log).account)
    }

    /// Why it is stopped, if it is. [`Attempt::stopped`] without the wait.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.state.check_stop(&self.gateway.recorder)
    }

    /// Waits until the gateway stops the attempt: because of a budget, or of the endpoint. A budget of time stops it at its
    /// deadline. The other budgets stop it when a request finds nothing left, so that the agent can use its last answer.
    pub async fn stopped(&self) -> StopReason {
        self.state.stopped().await
    }

    /// Observes whether a request waits for the endpoint after a fault.
    pub fn waiting(&self) -> watch::Receiver<Option<WaitingRequest>> {
        self.state.watch_waiting()
    }

    /// Closes it: later requests receive 410, those in flight are interrupted and counted.
    pub fn close(&self) -> AttemptSummary {
        close_attempt(&self.gateway, &self.state);
        self.summary()
    }

    /// Why the end of this closed attempt is attributed to the endpoint. `None` = to the agent. `limit` is the time that the
    /// attempt had. May send a probe.
    pub async fn endpoint_fault(&self, limit: Duration, ended_by: EndedBy) -> Option<EndpointFault> {
        let GatewayState { faults, backend, recorder, .. } = &*self.gateway;
        let facts = lock(&self.state.log).stalls.end_facts(limit, ended_by, faults.is_run_answered());
        faults.attribute_end(backend, recorder, &self.state.key, facts).await
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        close_attempt(&self.gateway, &self.state);
    }
}

#[cfg(test)]
mod tests;
