//! A gateway: where it listens, and how attempts are opened.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::accounts::Accounts;
use crate::attempt::Attempt;
use crate::error::GatewayError;
use crate::fault_attribution::FaultAttribution;
use crate::in_flight::close_attempt;
use crate::listener::Listener;
use crate::log::RequestLog;
use crate::record::{AttemptKey, Scope, Spent, StopReason};
use crate::recorder::Recorder;
use crate::settings::{Settings, Upstream};
use crate::state::{AttemptRegistry, GatewayState};
use crate::upstream::Backend;
use crate::{forward, simulated_model, socket};

/// A running gateway. Dropping it closes all attempts and ends it.
#[derive(Debug)]
pub struct Gateway {
    state: Arc<GatewayState>,
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<bool>,
}

impl Gateway {
    /// Listens on these addresses (port 0 takes a free one) and serves until it is dropped.
    pub async fn start(listen: &[SocketAddr], settings: Settings) -> Result<Self, GatewayError> {
        let log = open_log(&settings)?;
        let accounts =
            Accounts::new(settings.budgets, settings.price, settings.spent, settings.episodes.clone());
        Self::start_with(listen, settings, Recorder::new(accounts, log)).await
    }

    /// Starts a gateway that replaces this one and continues its accounts: what requests in flight here cost counts there as
    /// well. What `settings` state as spent is ignored.
    pub async fn successor(&self, listen: &[SocketAddr], settings: Settings) -> Result<Self, GatewayError> {
        let log = open_log(&settings)?;
        let recorder = self.state.recorder.successor(log);
        Self::start_with(listen, settings, recorder).await
    }

    async fn start_with(
        listen: &[SocketAddr],
        settings: Settings,
        recorder: Recorder,
    ) -> Result<Self, GatewayError> {
        let state = Arc::new(GatewayState {
            backend: Backend::new(settings.upstream)?,
            retry: settings.retry,
            faults: FaultAttribution::new(settings.routes, settings.is_run_answered),
            hosted_tools: settings.hosted_tools,
            hidden: settings.hidden,
            recorder,
            attempts: AttemptRegistry::default(),
        });
        let stop = watch::Sender::new(false);
        let mut gateway = Self { state, addresses: Vec::with_capacity(listen.len()), stop };
        let mut listeners = Vec::with_capacity(listen.len());
        for address in listen {
            let failed = |error: io::Error| GatewayError::Listen {
                address: address.to_string(),
                reason: error.to_string(),
            };
            let listener = TcpListener::bind(address).await.map_err(failed)?;
            gateway.addresses.push(listener.local_addr().map_err(failed)?);
            listeners.push(Listener::new(listener));
        }
        for listener in listeners {
            gateway.serve(listener);
        }
        Ok(gateway)
    }

    /// Also listens on a socket in the file system, and replaces a file of this name. A relay passes containers on to it, and
    /// they see it at `container_address`. The relay is trusted to bound their connections.
    pub fn listen_at(&mut self, socket: &Path, container_address: SocketAddr) -> Result<(), GatewayError> {
        let listener = socket::bind(socket).map_err(|error| GatewayError::Listen {
            address: socket.display().to_string(),
            reason: error.to_string(),
        })?;
        self.serve(listener);
        self.addresses.push(container_address);
        Ok(())
    }

    fn serve<L: axum::serve::Listener>(&self, listener: L)
    where
        L::Addr: std::fmt::Debug,
    {
        let state = Arc::clone(&self.state);
        let router = Router::new().fallback(move |request: Request<Body>| {
            let state = Arc::clone(&state);
            async move { forward::serve(state, request).await }
        });
        let mut stop = self.stop.subscribe();
        let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
            // An error means that the gateway is gone, which also stops it.
            let _ = stop.wait_for(|stop| *stop).await;
        });
        tokio::spawn(async move {
            // It never ends with an error: accepting is retried.
            let _ = serving.await;
        });
    }

    /// Where containers see it, in the order of `listen`.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Opens an attempt. `task` is what the simulated model solves; other upstreams ignore it.
    pub fn open(&self, key: AttemptKey, task: Option<simulated_model::Task>) -> Attempt {
        self.open_for(key, task, None)
    }

    /// Opens an attempt that budgets of time limit: `time_left` is what the first of them leaves, and which one that is.
    pub fn open_for(
        &self,
        key: AttemptKey,
        task: Option<simulated_model::Task>,
        time_left: Option<(Duration, Scope)>,
    ) -> Attempt {
        let attempt = self.state.attempts.open(key, task, time_left);
        Attempt::new(Arc::clone(&self.state), attempt, &self.addresses)
    }

    /// What the run has spent, earlier parts included.
    pub fn spent(&self) -> Spent {
        self.state.recorder.run_spent()
    }

    /// What an episode has spent, earlier parts included.
    pub fn episode_spent(&self, episode: &str) -> Spent {
        self.state.recorder.episode_spent(episode)
    }

    /// Whether a request of an agent was answered completely, in any part of the run. `None`: the simulated model always answers.
    pub fn is_run_answered(&self) -> Option<bool> {
        matches!(self.state.backend, Backend::Http(_)).then(|| self.state.faults.is_run_answered())
    }

    /// Which budget of the run or of this episode, in tokens or money, leaves nothing for another attempt.
    pub fn spent_budget(&self, episode: &str) -> Option<StopReason> {
        self.state.recorder.spent_budget(None, episode)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        for attempt in self.state.attempts.open_attempts() {
            close_attempt(&self.state, &attempt);
        }
        self.stop.send_replace(true);
        self.state.recorder.close_log();
    }
}

/// Opens the log, after a check that the budgets can be watched.
fn open_log(settings: &Settings) -> Result<Option<RequestLog>, GatewayError> {
    let budgets = [settings.budgets.attempt, settings.budgets.episode, settings.budgets.run];
    let has_costs = matches!(settings.upstream, Upstream::Http { .. });
    if has_costs && settings.price.is_none() && budgets.iter().any(|budget| budget.usd.is_some()) {
        return Err(GatewayError::Settings {
            setting: "budget in US dollars".to_owned(),
            reason: "the price of the model is unknown, so the gateway cannot watch this budget; set the price, or a budget in \
                  tokens"
                .to_owned(),
        });
    }
    settings.log.as_deref().map(RequestLog::open).transpose()
}
