//! What all episodes of a running run share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gateway::{Gateway, Scope, Spent, StopReason};
use model::lock;
use sandbox::{Containers, Stacks};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::agent::harness_choice::HarnessChoice;
use crate::blocking::blocking;
use crate::clock::Stopwatch;
use crate::control::ControlRequest;
use crate::disk::{self, Durability};
use crate::outage::outage_state::Outage;
use crate::record::AttemptRecord;
use crate::record::report::{self, EpisodeScore};
use crate::scenarios::Scenarios;
use crate::secrets::SecretFilter;
use crate::settings::RunSettings;
use crate::state::{Events, RunFile, RunPaths};
use crate::status::Status;
use crate::{Event, RunError, clock, spending};

/// Most seconds of run time that a kill may lose.
const TIME_KEPT: f64 = 5.0;

/// The container engine and the gateway of a run. Opened again after an outage of the engine.
pub(crate) struct RunConnections {
    pub(crate) containers: Containers,
    /// `None` in direct mode.
    pub(crate) gateway: Option<Gateway>,
}

/// A run in progress.
pub(crate) struct RunContext {
    pub(crate) paths: RunPaths,
    pub(crate) settings: RunSettings,
    /// Id of the run.
    pub(crate) id: String,
    /// What the run has in the engine carries this: a copy of its folder has the same id.
    pub(crate) engine_run: String,
    pub(crate) harness: HarnessChoice,
    /// The image that containers run.
    pub(crate) image: String,
    /// The server stacks of the image; `None` = no container.
    pub(crate) stacks: Option<Stacks>,
    pub(crate) scenarios: Scenarios,
    pub(crate) events: Events,
    pub(crate) control_requests: watch::Receiver<ControlRequest>,
    /// Canceled when the run ends.
    pub(crate) stop: CancellationToken,
    /// The forwarded variables as they were when the run began.
    pub(crate) forwarded: Vec<(String, String)>,
    /// Removes their values from everything that is written.
    pub(crate) scrub: Arc<SecretFilter>,
    /// Locked for writing only for a moment.
    pub(crate) connections: tokio::sync::RwLock<Arc<RunConnections>>,
    /// Held while the connections are opened again.
    pub(crate) reconnecting: tokio::sync::Mutex<()>,
    pub(crate) run: Mutex<RunFile>,
    pub(crate) scores: Mutex<BTreeMap<u32, EpisodeScore>>,
    /// Why the run ends before its episodes do.
    pub(crate) ending: Mutex<Option<Ending>>,
    /// Whether the next episode waits for the endpoint.
    pub(crate) outage: Outage,
    /// The spending in direct mode, which no gateway counts.
    pub(crate) direct: Mutex<Accounts>,
    /// The wall time of the run in all its parts, which its budget limits.
    pub(crate) watch: Arc<Mutex<Stopwatch>>,
}

/// The spending of the run and of each episode.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    pub(crate) run: Spent,
    pub(crate) episodes: BTreeMap<String, Spent>,
    /// Whether a gateway has seen a complete answer to a request of an agent.
    pub(crate) is_answered: bool,
}

/// Why a run ends before its episodes do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ending {
    /// A control request.
    Stopped,
    /// A budget of the run.
    Budget(StopReason),
    /// Something outside is broken.
    Broken(String),
}

impl RunContext {
    /// Ends the run; the first reason counts.
    pub(crate) fn end(&self, cause: Ending) {
        {
            let mut ending = lock(&self.ending);
            if ending.is_none() {
                *ending = Some(cause);
            }
        }
        self.stop.cancel();
    }

    /// The end reason of unfinished episodes, if the run has ended.
    pub(crate) fn end_reason(&self) -> Option<model::EndReason> {
        lock(&self.ending).as_ref().map(|ending| match ending {
            Ending::Stopped => model::EndReason::Cancelled,
            Ending::Budget(_) => model::EndReason::Budget,
            Ending::Broken(_) => model::EndReason::Environment,
        })
    }

    /// The budget of the run that has ended it.
    pub(crate) fn spent_budget(&self) -> Option<StopReason> {
        match &*lock(&self.ending) {
            Some(Ending::Budget(over)) => Some(over.clone()),
            _ => None,
        }
    }

    pub(crate) async fn connections(&self) -> Arc<RunConnections> {
        self.connections.read().await.clone()
    }

    /// The spending of the run.
    pub(crate) async fn spent(&self) -> Spent {
        let spent = match &self.connections().await.gateway {
            Some(gateway) => gateway.spent(),
            None => lock(&self.direct).run,
        };
        Spent { seconds: self.seconds(), ..spent }
    }

    /// The spending of an episode, dropped attempts included.
    pub(crate) async fn spent_of(&self, status: &Status, episode: &str) -> Spent {
        let spent = match &self.connections().await.gateway {
            Some(gateway) => gateway.episode_spent(episode),
            None => lock(&self.direct).episodes.get(episode).copied().unwrap_or_default(),
        };
        Spent { seconds: status.seconds(), ..spent }
    }

    /// Adds what a call has spent in direct mode to the accounts of the run and the episode.
    pub(crate) fn add_spent(&self, episode: &str, spent: Spent) {
        let mut all = lock(&self.direct);
        all.run = spending::sum(all.run, spent);
        let episode_spending = all.episodes.entry(episode.to_owned()).or_default();
        *episode_spending = spending::sum(*episode_spending, spent);
    }

    /// Counts a call of unknown cost: in direct mode, one that was dropped before its harness reported.
    pub(crate) fn add_unknown(&self, episode: &str, seconds: f64) {
        self.add_spent(episode, Spent { unmetered: 1, seconds, ..Spent::default() });
    }

    /// Whether no request of the run was ever answered completely. False in direct mode and with the simulated model.
    pub(crate) async fn is_never_answered(&self) -> bool {
        let connections = self.connections().await;
        connections.gateway.as_ref().and_then(Gateway::is_run_answered) == Some(false)
    }

    /// Counts an attempt that was retried because of the endpoint, or is recorded as lost to it. What an older version did not
    /// count stays unknown.
    pub(crate) fn count_endpoint(&self, is_lost: bool) {
        let mut run = lock(&self.run);
        let Some(counts) = &mut run.endpoint else { return };
        let count = if is_lost { &mut counts.lost } else { &mut counts.retried };
        *count = count.saturating_add(1);
        let written =
            disk::block_briefly(|| disk::write_json(&self.paths.run_file(), &*run, Durability::Buffered));
        if let Err(error) = written {
            tracing::warn!("how many attempts the endpoint cost is written down later: {error}");
        }
    }

    /// Wall seconds of the run: the time in which an episode ran and was not paused.
    pub(crate) fn seconds(&self) -> f64 {
        lock(&self.watch).seconds(Instant::now())
    }

    /// The spent budget that allows no further attempt of an episode. In direct mode this also checks tokens and money, if the
    /// harness reports them.
    pub(crate) async fn spent_budget_of_episode(&self, status: &Status, episode: &str) -> Option<StopReason> {
        let (left, scope) = self.time_left(status.seconds()).unzip();
        let is_late = left.is_some_and(|left| left.is_zero());
        // The attempt's own budget is unspent before it begins.
        let scope = scope.filter(|scope| is_late && *scope != Scope::Attempt);
        let late = scope.map(|scope| StopReason::Budget { scope, limit: "seconds".to_owned() });
        if let Some(over @ StopReason::Budget { scope: Scope::Run, .. }) = late {
            return Some(over);
        }
        let over = match &self.connections().await.gateway {
            Some(gateway) => gateway.spent_budget(episode),
            None => {
                let spent = lock(&self.direct);
                let episode_spending = spent.episodes.get(episode).copied().unwrap_or_default();
                spending::spent_budget(&self.settings.budgets, &spent.run, &episode_spending)
            }
        };
        over.or(late)
    }

    /// The time that budgets leave for an attempt, and the scope of the tightest one.
    pub(crate) fn time_left(&self, episode_seconds: f64) -> Option<(Duration, Scope)> {
        let budgets = &self.settings.budgets;
        let left = |limit: Option<u64>, seconds: f64| Some((limit? as f64 - seconds).max(0.0));
        // The widest scope first: it decides what else stops.
        [
            (left(budgets.run.seconds, self.seconds()), Scope::Run),
            (left(budgets.episode.seconds, episode_seconds), Scope::Episode),
            (left(budgets.attempt.seconds, 0.0), Scope::Attempt),
        ]
        .into_iter()
        .filter_map(|(left, scope)| Some((left?, scope)))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(left, scope)| (Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX), scope))
    }

    /// Reports a recorded attempt as an event.
    pub(crate) fn tell_attempt(&self, episode: &str, turn: u32, record: &AttemptRecord, own_seconds: f64) {
        self.events.tell(&Event::Attempt {
            at: clock::now(),
            episode: episode.to_owned(),
            turn,
            attempt: record.attempt,
            verdict: record.verdict,
            passed: record.passed,
            total: record.total,
            end_reason: record.end_reason,
            tokens: record.tokens,
            cost_usd: record.cost_usd,
            agent_seconds: record.agent_seconds,
            test_seconds: record.test_seconds,
            own_seconds,
        });
    }

    /// After an attempt: writes the spending and reports it as an event.
    pub(crate) async fn tell_spent(&self, over: Option<StopReason>) {
        let spent = self.spent().await;
        let budget = self.settings.budgets.run;
        {
            let mut run = lock(&self.run);
            run.spent = spent;
            // If it is lost, it can be counted again from the gateway's log.
            let written =
                disk::block_briefly(|| disk::write_json(&self.paths.run_file(), &*run, Durability::Buffered));
            if let Err(error) = written {
                tracing::warn!("{error}");
            }
        }
        self.events.tell(&Event::Budget { at: clock::now(), spent, budget, over });
    }

    /// While attempts run: writes the spending when it has changed, and the time every few seconds. A kill loses no more than
    /// that.
    pub(crate) async fn keep_spent(self: &Arc<Self>) {
        let spent = self.spent().await;
        let context = self.clone();
        let written = blocking(move || {
            let mut run = lock(&context.run);
            // The record of a finished run stays as it is.
            let later = spent.seconds - run.spent.seconds >= TIME_KEPT;
            if run.finish.is_some() || (crate::status::is_same_but_for_time(&run.spent, &spent) && !later) {
                return Ok(());
            }
            run.spent = spent;
            disk::write_json(&context.paths.run_file(), &*run, Durability::Buffered)
        });
        if let Err(error) = written.await {
            tracing::debug!("what was spent is written down later: {error}");
        }
    }

    /// Replaces the report.
    pub(crate) fn write_report(&self) -> Result<(), RunError> {
        let run = lock(&self.run).clone();
        let mut scores = lock(&self.scores);
        for planned in &run.episodes {
            scores.entry(planned.scenario).or_insert_with(|| EpisodeScore {
                name: planned.name.clone(),
                planned_turns: planned.turns,
                turns: Vec::new(),
                end_reason: None,
            });
        }
        let list: Vec<&EpisodeScore> = scores.values().collect();
        report::write(&self.paths.results, &run, &list)
    }

    /// Mean of the scores so far.
    pub(crate) fn average_score(&self) -> Option<f64> {
        report::average_score(&lock(&self.scores).values().collect::<Vec<_>>())
    }
}
