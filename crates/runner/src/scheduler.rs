//! Schedules the episodes of a run: `batch_size` at once, and those that control requests ask to continue.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::{EndReason, lock};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::blocking::blocking;
use crate::control::{self, ControlRequest};
use crate::episode::{self, EpisodeEnd};
use crate::harbor;
use crate::run_context::{Ending, RunContext};
use crate::scenarios::Scenarios;
use crate::state::PlannedEpisode;

/// How often control requests are read.
const READ_INTERVAL: Duration = Duration::from_millis(500);
/// After how many reads the spending of the run is written down.
const READS_PER_WRITE: u32 = 4;

/// Runs the episodes, `batch_size` at once. Continues those that something outside ended, if a control request asks for it.
/// Returns how many are over.
pub(crate) async fn episodes(context: &Arc<RunContext>) -> u32 {
    let planned = lock(&context.run).episodes.clone();
    let slots = Arc::new(Semaphore::new(context.settings.batch_size as usize));
    let mut tasks = JoinSet::new();
    for episode in planned {
        tasks.spawn(run_episode(context.clone(), slots.clone(), episode));
    }
    let mut control_requests = context.control_requests.clone();
    // Episodes that are over, each with the number of its last retry request that was fulfilled.
    let mut finished: BTreeMap<String, (PlannedEpisode, u32)> = BTreeMap::new();
    loop {
        let mut all_played = false;
        let requested = tokio::select! {
            ended = tasks.join_next() => match ended {
                // A request may have been written since the last read.
                None => {
                    all_played = true;
                    let folder = context.paths.results.clone();
                    let read = blocking(move || control::read(&folder)).await;
                    read.unwrap_or_else(|_| control_requests.borrow().clone()).retry
                }
                Some(Ok((planned, EpisodeEnd::Finished))) => {
                    let fulfilled = fulfilled(context, &planned).await;
                    finished.insert(planned.name.clone(), (planned, fulfilled));
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
        let again: Vec<String> = finished
            .iter()
            .filter(|(name, (planned, fulfilled))| {
                requested.get(*name).is_some_and(|number| number > fulfilled)
                    && end_reason(context, planned).is_some_and(crate::live::is_resumable)
            })
            .map(|(name, _)| name.clone())
            .collect();
        let stopped = context.stop.is_cancelled();
        for name in again.into_iter().filter(|_| !stopped) {
            if let Some((planned, _)) = finished.remove(&name) {
                tasks.spawn(run_episode(context.clone(), slots.clone(), planned));
            }
        }
        if all_played && tasks.is_empty() {
            return finished.len() as u32;
        }
    }
}

/// The number of the last retry request that was fulfilled, as the episode has written it down. A request that came while it
/// ended is not fulfilled.
async fn fulfilled(context: &Arc<RunContext>, planned: &PlannedEpisode) -> u32 {
    let path = context.paths.episode_file(&planned.name);
    let read = tokio::task::spawn_blocking(move || crate::status::fulfilled(&path));
    read.await.unwrap_or(0)
}

/// Why an episode that is over ended.
pub(crate) fn end_reason(context: &RunContext, planned: &PlannedEpisode) -> Option<EndReason> {
    lock(&context.scores).get(&planned.scenario)?.end_reason
}

/// Waits for a free slot and runs an episode.
async fn run_episode(
    context: Arc<RunContext>,
    slots: Arc<Semaphore>,
    planned: PlannedEpisode,
) -> (PlannedEpisode, EpisodeEnd) {
    let Ok(_slot) = slots.acquire_owned().await else { return (planned, EpisodeEnd::Unfinished) };
    if context.stop.is_cancelled() {
        return (planned, EpisodeEnd::Unfinished);
    }
    let played = match &context.scenarios {
        // Boxed, because it is the largest future of a run.
        Scenarios::Tasks(tasks) => {
            Box::pin(harbor::play(context.clone(), planned.clone(), tasks.clone())).await
        }
        Scenarios::Pack(_) | Scenarios::Generated(_) => episode::play(context.clone(), planned.clone()).await,
    };
    let end = match played {
        Ok(end) => end,
        Err(error) => {
            context.end(Ending::Broken(format!("{}: {error}", planned.name)));
            EpisodeEnd::Unfinished
        }
    };
    if end == EpisodeEnd::Finished {
        if let Some(reason) = end_reason(&context, &planned) {
            context.outage.count_episode_end(reason, &context.settings.endpoint);
        }
        let reporting = context.clone();
        if let Err(error) = blocking(move || reporting.write_report()).await {
            context.end(Ending::Broken(error.to_string()));
        }
    }
    (planned, end)
}

/// Reads control requests and passes them on; also writes down the spending. Never returns.
pub(crate) async fn watch_control_requests(context: Arc<RunContext>, send: watch::Sender<ControlRequest>) {
    let mut reads = 0_u32;
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
            // The last request stays valid.
            Err(error) => tracing::warn!("control requests cannot be read: {error}"),
        }
        reads = reads.wrapping_add(1);
        if reads.is_multiple_of(READS_PER_WRITE) {
            context.keep_spent().await;
        }
        tokio::time::sleep(READ_INTERVAL).await;
    }
}
