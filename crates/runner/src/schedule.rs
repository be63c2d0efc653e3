//! A run from its begin, or from where it was left, to its end: episodes side by side, wishes, budgets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gateway::Spent;
use model::EndReason;
use sandbox::{Boxes, Process};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, blocking};
use crate::clock::Stopwatch;
use crate::control::Wish;
use crate::disk::{self, Keep};
use crate::engine::{self, Before};
use crate::episode::{self, EpisodeEnd};
use crate::play::{Accounts, Ending, Link, Play, lock};
use crate::scenarios::Scenarios;
use crate::secrets::{Scrub, forwarded};
use crate::settings::{self, EndpointSettings, RunSettings, SettingsError};
use crate::state::{Events, HarnessNamed, Journal, Lock, Place, Planned, RunFile};
use crate::{Event, Finish, OnEvent, RunError, bill, clock, control, faults, reopen};

/// How often wishes are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// After how many looks it is written down what the run has spent so far.
const TELL: u32 = 4;
/// What a resume may change.
const CHANGEABLE: [&str; 6] =
    ["limits.", "endpoint.", "docker.env_vars", "batch_size", "keep_snapshots", "tags"];

/// Begins a run.
pub(crate) async fn begin(mut settings: RunSettings, on_event: OnEvent) -> Result<Finish, RunError> {
    absolute(&mut settings)?;
    let (ready, harness) = blocking(move || {
        let harness = harness(&settings, settings.harness_file.as_deref())?;
        let (scenarios, planned) = Scenarios::plan(&mut settings)?;
        let place = Place::new(&settings.output_dir);
        if is_taken(&place.results) {
            return Err(RunError::Taken { path: place.results });
        }
        disk::folder(&place.own().join("episodes"))?;
        let lock = Lock::take(&place)?;
        // Another begin may have been quicker.
        if is_taken(&place.results) {
            return Err(RunError::Taken { path: place.results });
        }
        control::write(&place.results, &Wish::default())?;
        disk::write(&place.results.join("config.yaml"), settings.to_yaml().as_bytes(), Keep::Durably)?;
        let named = HarnessNamed {
            name: harness.name().to_owned(),
            title: harness.title().to_owned(),
            version: harness.version().to_owned(),
            image: settings.image.clone().unwrap_or_else(|| harness.image().to_owned()),
        };
        let sha256 = scenarios.sha256();
        let mut run = RunFile::new(settings, named, planned, sha256);
        run.made_by = scenarios.made_by();
        if let Some(file) = &run.settings.harness_file {
            let text = std::fs::read(file).map_err(|error| disk::at(file, error))?;
            disk::write(&place.own().join("harness.toml"), &text, Keep::Durably)?;
        }
        run.write(&place)?;
        Ok((Ready { place, run, scenarios, lock }, harness))
    })
    .await?;
    faults::point("run begun");
    play(ready, harness, on_event, false).await
}

/// Goes on with a run.
pub(crate) async fn go_on(
    folder: PathBuf,
    change: Vec<String>,
    on_event: OnEvent,
) -> Result<Finish, RunError> {
    let (ready, harness) = blocking(move || {
        let folder = std::path::absolute(&folder).map_err(|error| disk::at(&folder, error))?;
        let place = Place::new(&folder);
        RunFile::read(&place)?;
        let lock = Lock::take(&place)?;
        // As the part before has left it: that may have ended only now.
        let mut run = RunFile::read(&place)?;
        run.settings = changed(&run.settings, &folder, &change)?;
        can_be_kept(&run.settings)?;
        // One from a file is kept with the run, so that a resume has the one that it began with.
        let kept = place.own().join("harness.toml");
        let harness = harness(&run.settings, run.settings.harness_file.as_ref().map(|_| kept.as_path()))?;
        let mut again = run.settings.clone();
        let (scenarios, _) = Scenarios::plan(&mut again)?;
        if scenarios.sha256() != run.pack_sha256 {
            let why = "the pack at scenarios_dir is another one than the run began with".to_owned();
            return Err(RunError::NotResumable { path: folder, why });
        }
        if let (Some(then), Some(now)) = (&run.made_by, scenarios.made_by())
            && *then != now
        {
            let why = format!(
                "its scenarios are made while it is played, by {then}; this program is {now}, and may make others of the same \
                 seed"
            );
            return Err(RunError::NotResumable { path: folder, why });
        }
        // The wishes of before are fulfilled; those to retry are counted.
        control::change(&folder, |wish| (wish.pause, wish.stop) = (false, false))?;
        run.seconds = seconds_so_far(&place, &run);
        if run.finish.is_none() && run.settings.endpoint == EndpointSettings::Direct {
            // Only its harness knew what an attempt that was killed has spent.
            let cut = run.episodes.iter().filter(|planned| reopen::is_cut_off(&place, planned)).count();
            let unknown = Spent { unmetered: cut as u64, ..Spent::default() };
            run.spent = bill::plus(run.spent, unknown);
        }
        run.finish = None;
        run.owner = Process::this();
        run.part_started_at = clock::now();
        if !change.is_empty() {
            disk::write(
                &place.results.join("config.yaml"),
                run.settings.to_yaml().as_bytes(),
                Keep::Durably,
            )?;
        }
        run.write(&place)?;
        Ok((Ready { place, run, scenarios, lock }, harness))
    })
    .await?;
    faults::point("run taken up");
    play(ready, harness, on_event, true).await
}

struct Ready {
    place: Place,
    run: RunFile,
    scenarios: Scenarios,
    lock: Lock,
}

/// Paths that hold wherever it is gone on from.
fn absolute(settings: &mut RunSettings) -> Result<(), RunError> {
    let whole = |path: &Path| std::path::absolute(path).map_err(|error| disk::at(path, error));
    settings.output_dir = whole(&settings.output_dir)?;
    settings.scenarios_dir = settings.scenarios_dir.as_deref().map(whole).transpose()?;
    settings.harness_file = settings.harness_file.as_deref().map(whole).transpose()?;
    Ok(())
}

/// Whether a folder holds results already. What was left by a begin that was killed is none.
fn is_taken(folder: &Path) -> bool {
    if Place::new(folder).run_file().exists() || folder.join("report.json").exists() {
        return true;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("scenario_"))
}

/// The harness that plays: of a file, or the one of the settings' name. One that can not be called with these settings is
/// refused before anything is played.
pub(crate) fn harness(settings: &RunSettings, file: Option<&Path>) -> Result<Agent, RunError> {
    let harness = match file {
        Some(file) => Agent::Own(Arc::new(harness::load(file)?)),
        None => Agent::BuiltIn(harness::find(&settings.agent)?),
    };
    crate::agent::trial(&*harness, settings)?;
    Ok(harness)
}

/// The settings with what a resume may change.
fn changed(old: &RunSettings, folder: &Path, change: &[String]) -> Result<RunSettings, RunError> {
    for pair in change {
        let key = pair.split('=').next().unwrap_or_default().trim();
        if !CHANGEABLE.iter().any(|may| key.starts_with(may)) {
            let why = "it can not be changed in a run that was begun; limits, budgets, the endpoint and batch_size can";
            return Err(SettingsError::of(key, why).into());
        }
    }
    let mut old = old.clone();
    folder.clone_into(&mut old.output_dir);
    if change.is_empty() {
        return Ok(old);
    }
    let file = scenario::config::ConfigFile { name: "config.yaml".to_owned(), text: old.to_yaml() };
    let mut new = settings::resolve(&[file], change)?;
    new.shakedown = old.shakedown;
    if std::mem::discriminant(&new.endpoint) != std::mem::discriminant(&old.endpoint) {
        let why = "a run keeps its way to the model: its attempts would not be comparable";
        return Err(SettingsError::of("endpoint.mode", why).into());
    }
    Ok(new)
}

/// A budget in dollars needs a price. In direct mode the harness may tell what it has cost.
fn can_be_kept(settings: &RunSettings) -> Result<(), SettingsError> {
    let budgets = &settings.budgets;
    let limited = [("attempt", budgets.attempt), ("episode", budgets.episode), ("run", budgets.run)]
        .into_iter()
        .find(|(_, budget)| budget.usd.is_some());
    let Some((of, _)) = limited else { return Ok(()) };
    if settings.price.is_some() || !matches!(settings.endpoint, EndpointSettings::Gateway { .. }) {
        return Ok(());
    }
    let model = settings.model.as_deref().unwrap_or("the model");
    let why = format!(
        "a budget in dollars can not be kept, because the price of {model} is not known; give it (`endpoint.price.input` and \
         `.output`, or in the price table), or limit tokens"
    );
    Err(SettingsError::of(&format!("limits.{of}.usd"), why))
}

/// Wall seconds of earlier parts. One that was killed ran until its last event.
fn seconds_so_far(place: &Place, run: &RunFile) -> f64 {
    if run.finish.is_some() {
        return run.seconds;
    }
    crate::live::read(&place.results).map_or(run.seconds, |live| live.seconds.max(run.seconds))
}

/// What earlier parts have spent, of the run and of each episode: as it was written after every attempt, or as the gateway's
/// log has it where that is more. The log has the requests of an attempt that was killed before it was recorded, too: they
/// have been paid for. Blocks.
fn spent_so_far(place: &Place, run: &RunFile) -> Accounts {
    let counted = gateway::count(&place.gateway_log()).unwrap_or_else(|error| {
        tracing::warn!(
            "the gateway's log can not be read, so what killed attempts have spent is not counted: {error}"
        );
        gateway::Counted::default()
    });
    let mut episodes = BTreeMap::new();
    for planned in &run.episodes {
        let state = place.state(&planned.name);
        let journal = Journal::read(&state).unwrap_or_default();
        let known = journal.after.map_or(journal.before.spent, |after| after.known.spent);
        let logged = counted.episodes.get(&planned.name).copied().unwrap_or_default();
        episodes.insert(planned.name.clone(), larger(known, logged));
    }
    Accounts { run: larger(run.spent, counted.all), episodes }
}

/// The account that knows of more; seconds are only in the written one.
fn larger(written: Spent, logged: Spent) -> Spent {
    let sum = |spent: &Spent| spent.tokens.input.unwrap_or(0) + spent.tokens.output.unwrap_or(0);
    let more = (logged.requests, logged.unmetered, sum(&logged))
        > (written.requests, written.unmetered, sum(&written));
    if more { Spent { seconds: written.seconds, ..logged } } else { written }
}

/// Plays all episodes to their ends.
async fn play(ready: Ready, harness: Agent, on_event: OnEvent, resumed: bool) -> Result<Finish, RunError> {
    let Ready { place, run, scenarios, lock: held } = ready;
    crate::copy::allow_open_files();
    let settings = run.settings.clone();
    let events = Events::open(&place, on_event)?;
    events.tell(&Event::Started {
        at: clock::now(),
        output_dir: place.results.to_string_lossy().into_owned(),
        agent: run.harness.name.clone(),
        model: settings.model.clone(),
        simulated: settings.is_simulated(),
        episodes: run.episodes.len() as u32,
        turns: run.turns(),
        resumed,
    });
    let (accounts, run) = {
        let place = place.clone();
        blocking(move || Ok((spent_so_far(&place, &run), run))).await?
    };
    let spent = accounts.run;
    let linked = async {
        let boxes = engine::swept(&settings, &place).await?;
        let opened = async {
            let apis = harness.apis();
            let gateway =
                engine::open(&settings, &apis, &place, &run.id, Before::Spent(&accounts), &boxes).await?;
            let stacks = match &boxes {
                Boxes::Engine(engine) => Some(engine.stacks(&run.harness.image).await?),
                Boxes::Local(_) => None,
            };
            Ok::<_, RunError>((gateway, stacks))
        };
        match opened.await {
            Ok((gateway, stacks)) => Ok((Link { boxes, gateway }, stacks)),
            Err(error) => {
                // Nobody plays on the networks that were made.
                engine::clear(&boxes, &run.id, &place).await;
                Err(error)
            }
        }
    };
    let (link, stacks) = match linked.await {
        Ok(linked) => linked,
        Err(error) => {
            // Nothing was played: it says why, and can be gone on with.
            let how = Finish::Failed { message: error.to_string() };
            let mut run = run;
            run.seconds = run.seconds_now();
            run.finish = Some(how.clone());
            let written = run.write(&place);
            events.tell(&Event::Finished { at: clock::now(), how, episodes: 0, average_score: None, spent });
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
        direct: Mutex::new(accounts),
        watch: Arc::new(Mutex::new(Stopwatch::after(spent.seconds))),
    });
    let watching = tokio::spawn(watch_wishes(play.clone(), send_wish));
    let reporting = play.clone();
    if let Err(error) = blocking(move || reporting.write_report()).await {
        play.end(Ending::Broken(error.to_string()));
    }
    let over = episodes(&play).await;
    watching.abort();
    let finish = finish(&play, over).await;
    drop(held);
    finish
}

/// Plays the episodes, as many at once as the settings say, and those anew that were ended from outside and are wished for.
/// How many are over.
async fn episodes(play: &Arc<Play>) -> u32 {
    let planned = lock(&play.run).episodes.clone();
    let places = Arc::new(Semaphore::new(play.settings.batch_size as usize));
    let mut tasks = JoinSet::new();
    for episode in planned {
        tasks.spawn(in_its_place(play.clone(), places.clone(), episode));
    }
    let mut wishes = play.wishes.clone();
    // Those that are over, with the number of the last wish for each that was fulfilled.
    let mut over: BTreeMap<String, (Planned, u32)> = BTreeMap::new();
    loop {
        let mut all_played = false;
        let wished = tokio::select! {
            ended = tasks.join_next() => match ended {
                // A wish may have been written since they were looked at last.
                None => {
                    all_played = true;
                    let folder = play.place.results.clone();
                    tokio::task::spawn_blocking(move || control::read(&folder)).await.unwrap_or_default().retry
                }
                Some(Ok((planned, EpisodeEnd::Over))) => {
                    let fulfilled = fulfilled(play, &planned).await;
                    over.insert(planned.name.clone(), (planned, fulfilled));
                    wishes.borrow().retry.clone()
                }
                Some(Ok((_, EpisodeEnd::Unfinished))) => continue,
                Some(Err(panicked)) => {
                    play.end(Ending::Broken(format!(
                        "an episode ended with a fault of this program: {panicked}"
                    )));
                    continue;
                }
            },
            Ok(()) = wishes.changed() => wishes.borrow_and_update().retry.clone(),
        };
        let again: Vec<String> = over
            .iter()
            .filter(|(name, (planned, fulfilled))| {
                wished.get(*name).is_some_and(|number| number > fulfilled)
                    && end_reason(play, planned).is_some_and(crate::live::is_played_on)
            })
            .map(|(name, _)| name.clone())
            .collect();
        let stopped = play.stop.is_cancelled();
        for name in again.into_iter().filter(|_| !stopped) {
            if let Some((planned, _)) = over.remove(&name) {
                tasks.spawn(in_its_place(play.clone(), places.clone(), planned));
            }
        }
        if all_played && tasks.is_empty() {
            return over.len() as u32;
        }
    }
}

/// Number of the last wish to play an episode again that was fulfilled, as the episode has written it down. One that came
/// while it ended is none of them.
async fn fulfilled(play: &Arc<Play>, planned: &Planned) -> u32 {
    let path = play.place.episode_file(&planned.name);
    let read = tokio::task::spawn_blocking(move || crate::status::fulfilled(&path));
    read.await.unwrap_or(0)
}

/// Why an episode that is over ended.
fn end_reason(play: &Play, planned: &Planned) -> Option<EndReason> {
    lock(&play.scores).get(&planned.scenario)?.end_reason
}

/// Plays an episode once there is room for it.
async fn in_its_place(play: Arc<Play>, places: Arc<Semaphore>, planned: Planned) -> (Planned, EpisodeEnd) {
    let Ok(_place) = places.acquire_owned().await else { return (planned, EpisodeEnd::Unfinished) };
    if play.stop.is_cancelled() {
        return (planned, EpisodeEnd::Unfinished);
    }
    let end = match episode::play(play.clone(), planned.clone()).await {
        Ok(end) => end,
        Err(error) => {
            play.end(Ending::Broken(format!("{}: {error}", planned.name)));
            EpisodeEnd::Unfinished
        }
    };
    if end == EpisodeEnd::Over {
        let reporting = play.clone();
        if let Err(error) = blocking(move || reporting.write_report()).await {
            play.end(Ending::Broken(error.to_string()));
        }
    }
    (planned, end)
}

/// Passes wishes on as they are written, and writes down what is spent meanwhile.
async fn watch_wishes(play: Arc<Play>, send: watch::Sender<Wish>) {
    let mut looks = 0_u32;
    loop {
        let folder = play.place.results.clone();
        let wish = tokio::task::spawn_blocking(move || control::read(&folder)).await.unwrap_or_default();
        if wish.stop {
            play.end(Ending::Stopped);
        }
        send.send_if_modified(|known| {
            let changed = *known != wish;
            known.clone_from(&wish);
            changed
        });
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(TELL) {
            play.keep_spent().await;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Why a run whose episodes are all over has nothing to show: none of them was ended by its agent.
fn all_from_outside(play: &Play) -> Option<String> {
    let planned = lock(&play.run).episodes.clone();
    let reasons: Vec<EndReason> = planned.iter().filter_map(|planned| end_reason(play, planned)).collect();
    let of = |reason| reasons.iter().filter(|found| **found == reason).count();
    let (endpoint, environment) = (of(EndReason::Endpoint), of(EndReason::Environment));
    if planned.is_empty() || endpoint + environment < planned.len() {
        return None;
    }
    let whose = match (endpoint, environment) {
        (_, 0) => "the model's endpoint",
        (0, _) => "the boxes or the scenarios",
        _ => "the model's endpoint, the boxes or the scenarios",
    };
    Some(format!("no episode was ended by its agent: {whose} failed in all {}", planned.len()))
}

/// Writes down how the run ended.
async fn finish(play: &Arc<Play>, over: u32) -> Result<Finish, RunError> {
    let spent = play.spent().await;
    let ending = lock(&play.ending).clone();
    let all = over as usize == lock(&play.run).episodes.len();
    let finish = match ending {
        _ if all => match all_from_outside(play) {
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
    engine::clear(&link.boxes, &play.id, &play.place).await;
    faults::point("about to finish");
    let (done, how) = (play.clone(), finish.clone());
    let written = blocking(move || {
        {
            let mut run = lock(&done.run);
            run.seconds = run.seconds_now();
            run.spent = spent;
            run.finish = Some(how);
        }
        done.write_report()?;
        faults::point("last report");
        let run = lock(&done.run).clone();
        run.write(&done.place)
    })
    .await;
    faults::point("finished");
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
    });
    written.map(|()| finish)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_in_dollars_that_comes_with_a_resume_needs_a_price() {
        let values = [
            "agent=CODEX",
            "codex.model_id=acme/new",
            "endpoint.base_url=http://127.0.0.1:9",
            "output_dir=x",
        ];
        let old = settings::resolve(&[], &values.map(str::to_owned)).unwrap();
        let resumed = |change: &[&str]| {
            let change: Vec<String> = change.iter().map(|&pair| pair.to_owned()).collect();
            let new = changed(&old, Path::new("/x"), &change).unwrap();
            can_be_kept(&new).map_err(|error| error.to_string())
        };
        assert_eq!(resumed(&["limits.run.tokens=5"]), Ok(()));
        let refused = resumed(&["limits.episode.usd=5"]).unwrap_err();
        assert!(
            refused.starts_with("limits.episode.usd: ") && refused.contains("price of acme/new"),
            "{refused}"
        );
        assert_eq!(
            resumed(&["limits.run.usd=5", "endpoint.price.input=1", "endpoint.price.output=2"]),
            Ok(())
        );
    }
}
