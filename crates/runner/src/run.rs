//! Runs a new or resumed run to its end: connections, episodes ([`scheduler`]), and how it ended.

use std::sync::{Arc, Mutex};

use model::{EndReason, lock};
use sandbox::Containers;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::agent::harness_choice::HarnessChoice;
use crate::blocking::blocking;
use crate::clock::Stopwatch;
use crate::connections::{self, EarlierSpending};
use crate::control::ControlRequest;
use crate::outage::outage_state::Outage;
use crate::run_context::{Ending, RunConnections, RunContext};
use crate::scenarios::Scenarios;
use crate::secrets::{SecretFilter, forwarded};
use crate::state::{Events, Lock, RunFile, RunPaths};
use crate::{
    Event, Finish, OnEvent, RunError, clock, disk, earlier_spending, kill_points, origin, scheduler,
};

/// A run whose folder exists and is locked.
pub(crate) struct PreparedRun {
    pub(crate) paths: RunPaths,
    pub(crate) run: RunFile,
    pub(crate) scenarios: Scenarios,
    pub(crate) lock: Lock,
}

/// Runs all episodes until each is over or the run ends.
pub(crate) async fn run_to_end(
    ready: PreparedRun,
    harness: HarnessChoice,
    on_event: OnEvent,
    resumed: bool,
) -> Result<Finish, RunError> {
    let PreparedRun { paths, run, scenarios, lock: held } = ready;
    crate::copy::allow_open_files();
    let settings = run.settings.clone();
    let events = Events::open(&paths, on_event)?;
    // From memory: somebody else may be able to write to the folder.
    let record = origin::begun_record(&paths, &run, harness.text())?;
    events.tell(&Event::Started {
        at: clock::now(),
        output_dir: paths.results.to_string_lossy().into_owned(),
        agent: run.harness.name.clone(),
        model: settings.model.clone(),
        simulated: settings.has_simulated_model(),
        episodes: run.episodes.len() as u32,
        turns: run.turns(),
        resumed,
        record: Some(Box::new(record)),
    });
    let (accounts, run) = {
        let paths = paths.clone();
        blocking(move || Ok((earlier_spending::earlier_accounts(&paths, &run), run))).await?
    };
    let spent = accounts.run;
    let engine_run = disk::block_briefly(|| sandbox::run_of_folder(&run.id, &paths.results));
    let linked = async {
        let containers = connections::swept(&settings, &paths).await?;
        if !settings.asks_model() {
            return Ok::<_, RunError>((RunConnections { containers, gateway: None }, None));
        }
        let opened = async {
            let apis = harness.apis();
            let gateway = connections::open(
                &settings,
                &apis,
                &paths,
                &engine_run,
                EarlierSpending::Spent(&accounts),
                &containers,
            )
            .await?;
            let stacks = match &containers {
                // A task says by itself what it is about, and is tested in its own container.
                Containers::Engine(_) if settings.tasks.is_some() => None,
                Containers::Engine(engine) => Some(engine.stacks(&run.harness.image).await?),
                Containers::Local(_) => None,
            };
            Ok::<_, RunError>((gateway, stacks))
        };
        match opened.await {
            Ok((gateway, stacks)) => Ok((RunConnections { containers, gateway }, stacks)),
            Err(error) => {
                // Nothing else removes the networks that were created.
                connections::clear(&containers, &engine_run, &paths).await;
                Err(error)
            }
        }
    };
    let (connections, stacks) = match linked.await {
        Ok(linked) => linked,
        Err(error) => {
            // Nothing ran. The record says why, and the run can be resumed.
            let finish = Finish::Failed { message: error.to_string() };
            let mut run = run;
            run.seconds = run.seconds_now();
            run.finish = Some(finish.clone());
            let written = run.write(&paths);
            events.tell(&Event::Finished {
                at: clock::now(),
                how: finish,
                episodes: 0,
                average_score: None,
                spent,
                endpoint: run.endpoint,
            });
            return Err(written.err().unwrap_or(error));
        }
    };
    let (request_sender, control_requests) = watch::channel(ControlRequest::default());
    let forwarded = forwarded(&settings);
    let context = Arc::new(RunContext {
        scrub: Arc::new(SecretFilter::new(&forwarded, &settings)),
        forwarded,
        image: run.harness.image.clone(),
        id: run.id.clone(),
        engine_run,
        paths,
        settings,
        harness,
        stacks,
        scenarios,
        events,
        control_requests,
        stop: CancellationToken::new(),
        connections: tokio::sync::RwLock::new(Arc::new(connections)),
        reconnecting: tokio::sync::Mutex::new(()),
        run: Mutex::new(run),
        scores: Mutex::default(),
        ending: Mutex::new(None),
        outage: Outage::default(),
        direct: Mutex::new(accounts),
        watch: Arc::new(Mutex::new(Stopwatch::from_seconds(spent.seconds))),
    });
    let watching = tokio::spawn(scheduler::watch_control_requests(context.clone(), request_sender));
    let reporting = context.clone();
    if let Err(error) = blocking(move || reporting.write_report()).await {
        context.end(Ending::Broken(error.to_string()));
    }
    let episode_count = scheduler::episodes(&context).await;
    watching.abort();
    let finish = finish(&context, episode_count).await;
    // All files of this part are closed before another process may continue the run.
    drop(context);
    drop(held);
    finish
}

/// Why a run without a complete answer of the model is not finished.
const NEVER_ANSWERED: &str = "no request of the run was ever answered completely, so it says nothing of its agent. Check the \
    endpoint's address, key, model and API, and the size of its context, then resume";

/// Why a run has no result although its episodes are over: no agent ended one.
fn outside_reason(context: &RunContext) -> Option<String> {
    let planned = lock(&context.run).episodes.clone();
    let reasons: Vec<EndReason> =
        planned.iter().filter_map(|planned| scheduler::end_reason(context, planned)).collect();
    let count_of = |reason| reasons.iter().filter(|found| **found == reason).count();
    let (endpoint, environment) = (count_of(EndReason::Endpoint), count_of(EndReason::Environment));
    if planned.is_empty() || endpoint + environment < planned.len() {
        return None;
    }
    let subject = match (endpoint, environment) {
        (_, 0) => "the model's endpoint",
        (0, _) => "the containers or the scenarios",
        _ => "the model's endpoint, the containers or the scenarios",
    };
    Some(format!("no episode was ended by its agent: {subject} failed in all {}", planned.len()))
}

/// Writes down how the run ended.
async fn finish(context: &Arc<RunContext>, episode_count: u32) -> Result<Finish, RunError> {
    let spent = context.spent().await;
    let ending = lock(&context.ending).clone();
    let all = episode_count as usize == lock(&context.run).episodes.len();
    let never_answered =
        if context.is_never_answered().await { Some(NEVER_ANSWERED.to_owned()) } else { None };
    let finish = match ending {
        _ if all => match outside_reason(context).or(never_answered) {
            Some(message) => Finish::Failed { message },
            None => Finish::Finished,
        },
        Some(Ending::Stopped) | None => Finish::Stopped,
        Some(Ending::Budget(stop_reason)) => {
            let budget = context.settings.budgets.run;
            context.events.tell(&Event::Budget { at: clock::now(), spent, budget, over: Some(stop_reason) });
            Finish::Budget
        }
        Some(Ending::Broken(message)) => Finish::Failed { message },
    };
    let connections: Arc<RunConnections> = context.connections().await;
    connections::clear(&connections.containers, &context.engine_run, &context.paths).await;
    kill_points::point("about to finish");
    let (done, recorded) = (context.clone(), finish.clone());
    let written = blocking(move || {
        {
            let mut run = lock(&done.run);
            run.seconds = run.seconds_now();
            run.spent = spent;
            run.finish = Some(recorded);
        }
        let reported = done.write_report();
        kill_points::point("last report");
        let run = lock(&done.run).clone();
        // Even if there was no room for the report: the record says that the run has ended.
        run.write(&done.paths)?;
        reported
    })
    .await;
    kill_points::point("finished");
    // The event says that the run is over, even if that could not be written down.
    let reported = match &written {
        Ok(()) => finish.clone(),
        Err(error) => Finish::Failed { message: error.to_string() },
    };
    context.events.tell(&Event::Finished {
        at: clock::now(),
        how: reported,
        episodes: episode_count,
        average_score: context.average_score(),
        spent,
        endpoint: lock(&context.run).endpoint,
    });
    written.map(|()| finish)
}
