//! A run that has begun, or is resumed, to its end: the way to containers and model, its episodes ([`pool`]), and how it ended.

use std::sync::{Arc, Mutex};

use model::EndReason;
use sandbox::Containers;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, blocking};
use crate::clock::Stopwatch;
use crate::control::Wish;
use crate::engine::{self, Before};
use crate::outage::Outage;
use crate::play::{Ending, Link, Play, lock};
use crate::scenarios::Scenarios;
use crate::secrets::{Scrub, forwarded};
use crate::state::{Events, Lock, Place, RunFile};
use crate::{Event, Finish, OnEvent, RunError, accounts, clock, kill_points, origin, pool};

/// A run whose folder is made and held.
pub(crate) struct Ready {
    pub(crate) place: Place,
    pub(crate) run: RunFile,
    pub(crate) scenarios: Scenarios,
    pub(crate) lock: Lock,
}

/// Plays all episodes to their ends.
pub(crate) async fn play(
    ready: Ready,
    harness: Agent,
    on_event: OnEvent,
    resumed: bool,
) -> Result<Finish, RunError> {
    let Ready { place, run, scenarios, lock: held } = ready;
    crate::copy::allow_open_files();
    let settings = run.settings.clone();
    let events = Events::open(&place, on_event)?;
    // Of what this process holds: the folder may be another's to write to.
    let record = origin::of_begun(&place, &run, harness.text())?;
    events.tell(&Event::Started {
        at: clock::now(),
        output_dir: place.results.to_string_lossy().into_owned(),
        agent: run.harness.name.clone(),
        model: settings.model.clone(),
        simulated: settings.has_simulated_model(),
        episodes: run.episodes.len() as u32,
        turns: run.turns(),
        resumed,
        record: Some(Box::new(record)),
    });
    let (accounts, run) = {
        let place = place.clone();
        blocking(move || Ok((accounts::so_far(&place, &run), run))).await?
    };
    let spent = accounts.run;
    let linked = async {
        let containers = engine::swept(&settings, &place).await?;
        if !settings.asks_model() {
            return Ok::<_, RunError>((Link { containers, gateway: None }, None));
        }
        let opened = async {
            let apis = harness.apis();
            let gateway =
                engine::open(&settings, &apis, &place, &run.id, Before::Spent(&accounts), &containers)
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
            Ok((gateway, stacks)) => Ok((Link { containers, gateway }, stacks)),
            Err(error) => {
                // Nobody continues the networks that were made.
                engine::clear(&containers, &run.id, &place).await;
                Err(error)
            }
        }
    };
    let (link, stacks) = match linked.await {
        Ok(linked) => linked,
        Err(error) => {
            // Nothing was played: it says why, and can be resumed.
            let how = Finish::Failed { message: error.to_string() };
            let mut run = run;
            run.seconds = run.seconds_now();
            run.finish = Some(how.clone());
            let written = run.write(&place);
            events.tell(&Event::Finished {
                at: clock::now(),
                how,
                episodes: 0,
                average_score: None,
                spent,
                endpoint: run.endpoint,
            });
            return Err(written.err().unwrap_or(error));
        }
    };
    let (send_wish, wishes) = watch::channel(Wish::default());
    let forwarded = forwarded(&settings);
    let play = Arc::new(Play {
        scrub: Arc::new(Scrub::of(&forwarded, &settings)),
        forwarded,
        image: run.harness.image.clone(),
        id: run.id.clone(),
        place,
        settings,
        harness,
        stacks,
        scenarios,
        events,
        wishes,
        stop: CancellationToken::new(),
        link: tokio::sync::RwLock::new(Arc::new(link)),
        mending: tokio::sync::Mutex::new(()),
        run: Mutex::new(run),
        scores: Mutex::default(),
        ending: Mutex::new(None),
        outage: Outage::default(),
        direct: Mutex::new(accounts),
        watch: Arc::new(Mutex::new(Stopwatch::after(spent.seconds))),
    });
    let watching = tokio::spawn(pool::watch_wishes(play.clone(), send_wish));
    let reporting = play.clone();
    if let Err(error) = blocking(move || reporting.write_report()).await {
        play.end(Ending::Broken(error.to_string()));
    }
    let over = pool::episodes(&play).await;
    watching.abort();
    let finish = finish(&play, over).await;
    // Nothing of this part is open any more when another may go on.
    drop(play);
    drop(held);
    finish
}

/// Why a run in which no model has said a word is not finished.
const NEVER_ANSWERED: &str = "no request of the run was ever answered completely, so it says nothing of its agent. Check the \
    endpoint's address, key, model and API, and the size of its context, then resume";

/// Why a run whose episodes are all over has nothing to show: none of them was ended by its agent.
fn all_from_outside(play: &Play) -> Option<String> {
    let planned = lock(&play.run).episodes.clone();
    let reasons: Vec<EndReason> =
        planned.iter().filter_map(|planned| pool::end_reason(play, planned)).collect();
    let of = |reason| reasons.iter().filter(|found| **found == reason).count();
    let (endpoint, environment) = (of(EndReason::Endpoint), of(EndReason::Environment));
    if planned.is_empty() || endpoint + environment < planned.len() {
        return None;
    }
    let whose = match (endpoint, environment) {
        (_, 0) => "the model's endpoint",
        (0, _) => "the containers or the scenarios",
        _ => "the model's endpoint, the containers or the scenarios",
    };
    Some(format!("no episode was ended by its agent: {whose} failed in all {}", planned.len()))
}

/// Writes down how the run ended.
async fn finish(play: &Arc<Play>, over: u32) -> Result<Finish, RunError> {
    let spent = play.spent().await;
    let ending = lock(&play.ending).clone();
    let all = over as usize == lock(&play.run).episodes.len();
    let never_answered = if play.is_never_answered().await { Some(NEVER_ANSWERED.to_owned()) } else { None };
    let finish = match ending {
        _ if all => match all_from_outside(play).or(never_answered) {
            Some(message) => Finish::Failed { message },
            None => Finish::Finished,
        },
        Some(Ending::Stopped) | None => Finish::Stopped,
        Some(Ending::Budget(over)) => {
            let budget = play.settings.budgets.run;
            play.events.tell(&Event::Budget { at: clock::now(), spent, budget, over: Some(over) });
            Finish::Budget
        }
        Some(Ending::Broken(message)) => Finish::Failed { message },
    };
    let link: Arc<Link> = play.link().await;
    engine::clear(&link.containers, &play.id, &play.place).await;
    kill_points::point("about to finish");
    let (done, how) = (play.clone(), finish.clone());
    let written = blocking(move || {
        {
            let mut run = lock(&done.run);
            run.seconds = run.seconds_now();
            run.spent = spent;
            run.finish = Some(how);
        }
        let reported = done.write_report();
        kill_points::point("last report");
        let run = lock(&done.run).clone();
        // Also where there was no room for the report: it says that nobody plays it any more.
        run.write(&done.place)?;
        reported
    })
    .await;
    kill_points::point("finished");
    // Whoever follows the events learns that it is over, also where that could not be written down.
    let how = match &written {
        Ok(()) => finish.clone(),
        Err(error) => Finish::Failed { message: error.to_string() },
    };
    play.events.tell(&Event::Finished {
        at: clock::now(),
        how,
        episodes: over,
        average_score: play.average_score(),
        spent,
        endpoint: lock(&play.run).endpoint,
    });
    written.map(|()| finish)
}
