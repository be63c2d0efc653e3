//! The pool of a run's episodes: as many at once as the settings say, and the wishes that come meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::EndReason;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::agent::blocking;
use crate::control::{self, ControlRequest};
use crate::episode::{self, EpisodeEnd};
use crate::harbor;
use crate::run_context::{Ending, RunContext, lock};
use crate::scenarios::Scenarios;
use crate::state::Planned;

/// How often wishes are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// After how many looks it is written down what the run has spent so far.
const TELL: u32 = 4;

/// Plays the episodes, as many at once as the settings say, and those anew that were ended from outside and are wished for.
/// How many are over.
pub(crate) async fn episodes(context: &Arc<RunContext>) -> u32 {
    let planned = lock(&context.run).episodes.clone();
    let places = Arc::new(Semaphore::new(context.settings.batch_size as usize));
    let mut tasks = JoinSet::new();
    for episode in planned {
        tasks.spawn(in_its_place(context.clone(), places.clone(), episode));
    }
    let mut control_requests = context.control_requests.clone();
    // Those that are over, with the number of the last wish for each that was fulfilled.
    let mut over: BTreeMap<String, (Planned, u32)> = BTreeMap::new();
    loop {
        let mut all_played = false;
        let requested = tokio::select! {
            ended = tasks.join_next() => match ended {
                // A wish may have been written since they were looked at last.
                None => {
                    all_played = true;
                    let folder = context.paths.results.clone();
                    let read = blocking(move || control::read(&folder)).await;
                    read.unwrap_or_else(|_| control_requests.borrow().clone()).retry
                }
                Some(Ok((planned, EpisodeEnd::Over))) => {
                    let fulfilled = fulfilled(context, &planned).await;
                    over.insert(planned.name.clone(), (planned, fulfilled));
                    control_requests.borrow().retry.clone()
                }
                Some(Ok((_, EpisodeEnd::Unfinished))) => continue,
                Some(Err(panicked)) => {
                    context.end(Ending::Broken(format!(
                        "an episode ended with a fault of this program: {panicked}"
                    )));
                    continue;
                }
            },
            Ok(()) = control_requests.changed() => control_requests.borrow_and_update().retry.clone(),
        };
        let again: Vec<String> = over
            .iter()
            .filter(|(name, (planned, fulfilled))| {
                requested.get(*name).is_some_and(|number| number > fulfilled)
                    && end_reason(context, planned).is_some_and(crate::live::is_resumable)
            })
            .map(|(name, _)| name.clone())
            .collect();
        let stopped = context.stop.is_cancelled();
        for name in again.into_iter().filter(|_| !stopped) {
            if let Some((planned, _)) = over.remove(&name) {
                tasks.spawn(in_its_place(context.clone(), places.clone(), planned));
            }
        }
        if all_played && tasks.is_empty() {
            return over.len() as u32;
        }
    }
}

/// Number of the last wish to play an episode again that was fulfilled, as the episode has written it down. One that came
/// while it ended is none of them.
async fn fulfilled(context: &Arc<RunContext>, planned: &Planned) -> u32 {
    let path = context.paths.episode_file(&planned.name);
    let read = tokio::task::spawn_blocking(move || crate::status::fulfilled(&path));
    read.await.unwrap_or(0)
}

/// Why an episode that is over ended.
pub(crate) fn end_reason(context: &RunContext, planned: &Planned) -> Option<EndReason> {
    lock(&context.scores).get(&planned.scenario)?.end_reason
}

/// Plays an episode once there is room for it.
async fn in_its_place(
    context: Arc<RunContext>,
    places: Arc<Semaphore>,
    planned: Planned,
) -> (Planned, EpisodeEnd) {
    let Ok(_place) = places.acquire_owned().await else { return (planned, EpisodeEnd::Unfinished) };
    if context.stop.is_cancelled() {
        return (planned, EpisodeEnd::Unfinished);
    }
    let played = match &context.scenarios {
        // In a place of its own: it is the largest thing that a run waits for.
        Scenarios::Tasks(tasks) => {
            Box::pin(harbor::play(context.clone(), planned.clone(), tasks.clone())).await
        }
        Scenarios::Pack(_) | Scenarios::Made(_) => episode::play(context.clone(), planned.clone()).await,
    };
    let end = match played {
        Ok(end) => end,
        Err(error) => {
            context.end(Ending::Broken(format!("{}: {error}", planned.name)));
            EpisodeEnd::Unfinished
        }
    };
    if end == EpisodeEnd::Over {
        if let Some(reason) = end_reason(&context, &planned) {
            context.outage.ended(reason, &context.settings.endpoint);
        }
        let reporting = context.clone();
        if let Err(error) = blocking(move || reporting.write_report()).await {
            context.end(Ending::Broken(error.to_string()));
        }
    }
    (planned, end)
}

/// Passes wishes on as they are written, and writes down what is spent meanwhile.
pub(crate) async fn watch_control_requests(context: Arc<RunContext>, send: watch::Sender<ControlRequest>) {
    let mut looks = 0_u32;
    loop {
        let folder = context.paths.results.clone();
        match blocking(move || control::read(&folder)).await {
            Ok(control_request) => {
                if control_request.stop {
                    context.end(Ending::Stopped);
                }
                send.send_if_modified(|known| {
                    let changed = *known != control_request;
                    known.clone_from(&control_request);
                    changed
                });
            }
            // What was wished last holds: nobody has taken it back.
            Err(error) => tracing::warn!("wishes cannot be read: {error}"),
        }
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(TELL) {
            context.keep_spent().await;
        }
        tokio::time::sleep(LOOK).await;
    }
}
