//! What runs are doing, as their folders tell: of this process, of another one, or of none any more.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, Instant, SystemTime};

use files::deadline::within_limit;
use runner::Finish;
use runner::control::{self, ControlRequest};
use runner::live::{self, Phase, RunState};

use super::play::{Here, run_error};
use crate::Workbench;
use crate::api::{
    ApiError, ControlRun, Forecast, ListRuns, LiveEpisode, LivePhase, LiveRunDetail, LiveRunRow, LiveRuns,
    LiveSpeed, LiveState, Nothing, RunAction, RunBudget, RunFolder, TokenSpeed,
};

/// What the runner keeps beside the results.
const PRIVATE: &str = ".stamina";
/// How often folders of runs are looked at for changes.
const LOOK: Duration = Duration::from_millis(500);
/// How often it is looked which folders there are.
const LOOK_FOR_FOLDERS: Duration = Duration::from_secs(3);
/// Most runs in the list.
const MOST: usize = 200;

/// A results folder, with the source it lies in and its run in the library.
#[derive(Debug, Clone, Default)]
struct Known {
    source: Option<i64>,
    run: Option<String>,
}

impl Workbench {
    /// Runs that are or were played here or by the command line.
    pub fn list_live_runs(&self, _: Nothing) -> Result<LiveRuns, ApiError> {
        let mut runs: Vec<LiveRunRow> = self
            .run_folders()?
            .into_iter()
            .filter_map(|(folder, known)| self.row(&folder, known.run))
            .collect();
        runs.sort_by(|a, b| {
            (rank(a.state), &b.started_at, &a.folder).cmp(&(rank(b.state), &a.started_at, &b.folder))
        });
        runs.truncate(MOST);
        let live = runs.iter().filter(|run| is_live(run.state)).count() as u32;
        Ok(LiveRuns { runs, live })
    }

    /// What a run is doing now.
    pub fn get_live_run(&self, request: RunFolder) -> Result<LiveRunDetail, ApiError> {
        let folder = folder_of(&request.folder)?;
        self.detail(&folder)
    }

    fn detail(&self, folder: &Path) -> Result<LiveRunDetail, ApiError> {
        let here = self.runs.get(folder);
        let known = self.run_folders()?.remove(folder).unwrap_or_default();
        match (live::read(folder), here) {
            (Ok(run), here) => Ok(detail(folder, known.run, run, here.as_ref())),
            (Err(_), Some(here)) => Ok(just_begun(folder, &here)),
            (Err(error), None) => Err(run_error(error)),
        }
    }

    /// Pauses, continues or stops a run, or plays the attempt of an episode again.
    pub fn control_run(&self, request: ControlRun) -> Result<LiveRunDetail, ApiError> {
        let folder = folder_of(&request.folder)?;
        let run = live::read(&folder).map_err(run_error)?;
        send_control_request(&folder, &run, &request.action)?;
        self.changes.add([], []);
        self.detail(&folder)
    }

    /// The folders that hold, or held, a run of Stamina Lab.
    fn run_folders(&self) -> Result<BTreeMap<PathBuf, Known>, ApiError> {
        let mut folders: BTreeMap<PathBuf, Known> = BTreeMap::new();
        let sources: BTreeMap<i64, PathBuf> = self
            .store
            .sources()?
            .into_iter()
            .filter(|source| !source.zip)
            .map(|source| (source.id, PathBuf::from(source.path)))
            .collect();
        let held = |folder: &Path| {
            let record = folder.join(PRIVATE).join("run.json");
            within_limit(folder, move || record.is_file()).unwrap_or(false)
        };
        for (id, path) in &sources {
            if held(path) {
                folders.entry(path.clone()).or_default().source = Some(*id);
            }
        }
        let mut offset = 0;
        loop {
            let page = self.list_runs(ListRuns { offset, limit: 500, ..ListRuns::default() })?;
            offset += page.rows.len() as u32;
            let done = page.rows.is_empty() || offset >= page.total;
            for row in page.rows.into_iter().filter(|row| row.format == "staminabench") {
                let Some(source) = sources.get(&row.source) else { continue };
                let Some(record) = self.store.run(&row.id)? else { continue };
                let folder = if record.entry.place.is_empty() {
                    source.clone()
                } else {
                    source.join(&record.entry.place)
                };
                if held(&folder) {
                    folders.insert(folder, Known { source: Some(row.source), run: Some(row.id) });
                }
            }
            if done {
                break;
            }
        }
        let shakedowns = super::shakedown::folders(&self.runs.shakedowns);
        let shakedowns = shakedowns.into_iter().filter(|folder| held(folder));
        for folder in self.runs.all().into_keys().chain(shakedowns) {
            let named = folder.clone();
            let real = within_limit(&folder, move || named.canonicalize());
            let real = real.flatten().unwrap_or_else(|_| folder.clone());
            if real != folder
                && let Some(known) = folders.remove(&real)
            {
                folders.insert(folder.clone(), known);
            }
            folders.entry(folder).or_default();
        }
        Ok(folders)
    }

    fn row(&self, folder: &Path, run: Option<String>) -> Option<LiveRunRow> {
        let here = self.runs.get(folder);
        let stamp = stamp(folder);
        if let Some((seen, row)) = self.runs.over.lock().unwrap_or_else(PoisonError::into_inner).get(folder)
            && *seen == stamp
            && here.as_ref().is_none_or(|here| !here.playing)
        {
            return Some(LiveRunRow { run, ..row.clone() });
        }
        // Its end is being told just now.
        let is_playing = here.as_ref().is_some_and(|here| here.playing);
        let row = match (live::read(folder), here) {
            (Ok(read), here) => row(folder, run, &read, here.as_ref()),
            (Err(_), Some(here)) => just_begun(folder, &here).row,
            (Err(error), None) => {
                // The import has warned of it; this is asked with every change.
                tracing::debug!(%error, "a run is not listed: its record cannot be read");
                return None;
            }
        };
        // What a living process plays changes without a trace in the folder: it may die.
        if !is_live(row.state) && !is_playing {
            let mut over = self.runs.over.lock().unwrap_or_else(PoisonError::into_inner);
            over.insert(folder.to_path_buf(), (stamp, row.clone()));
        }
        Some(row)
    }

    /// Tells who waits for changes what happens in the folders of runs, until the workbench is gone.
    pub(crate) fn follow_runs(&self) -> Result<(), ApiError> {
        let me = self.live.workbench();
        std::thread::Builder::new()
            .name("follow runs".to_owned())
            .spawn(move || {
                let mut folders: BTreeMap<PathBuf, (Known, u64)> = BTreeMap::new();
                let mut looked: Option<(Instant, u64)> = None;
                loop {
                    std::thread::sleep(LOOK);
                    let Some(workbench) = me.upgrade() else { return };
                    let change = workbench.changes.last();
                    let due =
                        looked.is_none_or(|(at, seen)| at.elapsed() >= LOOK_FOR_FOLDERS && seen != change);
                    if due && let Ok(known) = workbench.run_folders() {
                        looked = Some((Instant::now(), change));
                        folders = known
                            .into_iter()
                            .map(|(folder, known)| {
                                let seen =
                                    folders.get(&folder).map_or_else(|| stamp(&folder), |(_, seen)| *seen);
                                (folder, (known, seen))
                            })
                            .collect();
                    }
                    let mut sources = BTreeSet::new();
                    let mut runs = BTreeSet::new();
                    let mut changed = false;
                    for (folder, (known, seen)) in &mut folders {
                        let now = stamp(folder);
                        if now != *seen {
                            *seen = now;
                            changed = true;
                            sources.extend(known.source);
                            runs.extend(known.run.clone());
                        }
                    }
                    if changed {
                        workbench.changes.add(sources, runs);
                    }
                }
            })
            .map(drop)
            .map_err(|e| ApiError::new("app.thread", format!("No thread can be started: {e}")))
    }
}

/// What a run is doing, by its folder alone: as the app shows one that it did not begin.
pub fn look(folder: &Path) -> Result<LiveRunDetail, ApiError> {
    live::read(folder).map(|run| detail(folder, None, run, None)).map_err(run_error)
}

/// Writes what is wanted of a run.
pub fn send_control_request(folder: &Path, run: &live::LiveRun, action: &RunAction) -> Result<(), ApiError> {
    if !matches!(run.state, RunState::Running | RunState::Paused | RunState::Stopping) {
        return Err(ApiError::new("run.not_live", "Nobody plays this run now")
            .at(folder.display().to_string())
            .hint("Resume it"));
    }
    if let RunAction::Retry { episode } = action {
        let Some(found) = run.episodes.iter().find(|e| e.name == *episode) else {
            return Err(ApiError::new("run.no_episode", format!("The run has no episode {episode}"))
                .at(folder.display().to_string()));
        };
        if matches!(found.phase, Phase::Over | Phase::Queued) && !goes_on(found.phase, found.end_reason) {
            return Err(ApiError::new(
                    "run.episode_not_live",
                    format!("No attempt of {episode} is running"),
                )
                .at(folder.display().to_string())
                .hint("An episode that its agent ended is a result, and stays; one that the endpoint ended can be retried"));
        }
        if run.lacks_snapshots && found.phase != Phase::Over {
            let message = format!(
                "The running attempt of {episode} cannot be retried: the container of a task is kept only with restore_before_try=true"
            );
            return Err(ApiError::new("run.no_snapshot", message)
                .at(folder.display().to_string())
                .hint("Stop the run and resume it: the task is then played from its first step"));
        }
    }
    let change = |request: &mut ControlRequest| match action {
        RunAction::Pause => request.pause = true,
        RunAction::Continue => request.pause = false,
        RunAction::Stop => request.stop = true,
        RunAction::Retry { episode } => *request.retry.entry(episode.clone()).or_default() += 1,
    };
    control::change(folder, change).map_err(run_error)
}

/// Whether an episode is over and can be continued: what ended it was not its agent.
fn goes_on(phase: Phase, end_reason: Option<model::EndReason>) -> bool {
    phase == Phase::Over && end_reason.is_some_and(live::is_resumable)
}

/// A folder as a request names it.
pub(super) fn folder_of(text: &str) -> Result<PathBuf, ApiError> {
    let folder = PathBuf::from(text.trim());
    if folder.is_absolute() {
        Ok(folder)
    } else {
        Err(ApiError::new("run.relative", "The folder must be an absolute path").at(text))
    }
}

/// Changes with everything that is written while a run is played, but for the agents' own files; 0 where the file system does
/// not answer.
fn stamp(folder: &Path) -> u64 {
    let asked = folder.to_owned();
    within_limit(folder, move || stamp_of(&asked)).unwrap_or(0)
}

fn stamp_of(folder: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    for place in [PRIVATE, ".stamina/episodes"] {
        let Ok(entries) = folder.join(place).read_dir() else { continue };
        let mut files: Vec<_> = entries
            .flatten()
            .filter_map(|entry| Some((entry.file_name(), entry.metadata().ok()?)))
            .filter(|(_, meta)| meta.is_file())
            .map(|(name, meta)| (name, meta.len(), meta.mtime(), meta.mtime_nsec()))
            .collect();
        files.sort();
        files.hash(&mut hasher);
    }
    hasher.finish()
}

fn is_live(state: LiveState) -> bool {
    matches!(state, LiveState::Starting | LiveState::Running | LiveState::Paused | LiveState::Stopping)
}

fn rank(state: LiveState) -> u8 {
    match state {
        _ if is_live(state) => 0,
        LiveState::Lost => 1,
        LiveState::Finished => 3,
        _ => 2,
    }
}

fn name_of(folder: &Path) -> String {
    folder
        .file_name()
        .map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// A run whose folder tells nothing yet, or that could not begin.
fn just_begun(folder: &Path, here: &Here) -> LiveRunDetail {
    let seconds = here.begun.elapsed().map_or(0.0, |d| d.as_secs_f64());
    LiveRunDetail {
        row: LiveRunRow {
            folder: folder.display().to_string(),
            name: name_of(folder),
            run: None,
            agent: here.agent.clone(),
            model: here.model.clone(),
            simulated: here.simulated,
            endpoint_retried: Some(0),
            endpoint_lost: Some(0),
            shakedown: here.shakedown,
            verdict: None,
            state: if here.playing { LiveState::Starting } else { LiveState::Failed },
            message: here.error.clone(),
            started_at: rfc3339(here.begun),
            seconds,
            episodes: (0, 0),
            turns: (0, 0),
            tokens: model::Tokens::default(),
            cost_usd: None,
            last_event_at: None,
        },
        turns: 0,
        attempt_limit: 0,
        requests: 0,
        unmetered: 0,
        budget: RunBudget::default(),
        episode_budget: RunBudget::default(),
        attempt_budget: RunBudget::default(),
        forecast: None,
        episodes: Vec::new(),
        usual_gap: None,
        faults: Vec::new(),
        tokens_per_second: LiveSpeed::default(),
    }
}

fn row(folder: &Path, run: Option<String>, read: &live::LiveRun, here: Option<&Here>) -> LiveRunRow {
    let (state, mut message) = match &read.state {
        RunState::Running => (LiveState::Running, None),
        RunState::Paused => (LiveState::Paused, None),
        RunState::Stopping => (LiveState::Stopping, None),
        RunState::Lost => (LiveState::Lost, None),
        RunState::Ended { finish } => match finish {
            Finish::Finished => (LiveState::Finished, None),
            Finish::Stopped => (LiveState::Stopped, None),
            Finish::Budget => (LiveState::Budget, None),
            Finish::Failed { message } => (LiveState::Failed, Some(message.clone())),
        },
    };
    if message.is_none() && !is_live(state) {
        message = here.and_then(|here| here.error.clone());
    }
    let planned = read.episodes.iter().map(|episode| episode.turns).sum();
    LiveRunRow {
        folder: folder.display().to_string(),
        name: name_of(folder),
        run,
        agent: read.agent.clone(),
        model: read.model.clone(),
        simulated: read.simulated,
        endpoint_retried: read.endpoint.map(|attempts| attempts.retried),
        endpoint_lost: read.endpoint.map(|attempts| attempts.lost),
        shakedown: read.shakedown,
        verdict: super::shakedown::verdict(folder, read),
        state,
        message,
        started_at: read.started_at.clone(),
        seconds: read.seconds,
        episodes: (
            read.episodes.iter().filter(|e| e.phase == Phase::Over).count() as u32,
            read.episodes.len() as u32,
        ),
        turns: (read.episodes.iter().map(|e| e.cells.len() as u32).sum(), planned),
        tokens: read.spent.tokens,
        cost_usd: read.spent.cost_usd,
        last_event_at: read.episodes.iter().filter_map(|e| e.last_event_at.clone()).max(),
    }
}

fn detail(folder: &Path, run: Option<String>, read: live::LiveRun, here: Option<&Here>) -> LiveRunDetail {
    let row = row(folder, run, &read, here);
    let forecast = is_live(row.state).then(|| forecast(&read)).flatten();
    let limits = |budget: gateway::Budget| RunBudget {
        tokens: budget.tokens,
        usd: budget.usd,
        seconds: budget.seconds.map(|seconds| seconds as f64),
    };
    LiveRunDetail {
        row,
        turns: read.turns,
        attempt_limit: read.attempt_limit,
        requests: read.spent.requests,
        unmetered: read.spent.unmetered,
        budget: limits(read.budgets.run),
        episode_budget: limits(read.budgets.episode),
        attempt_budget: limits(read.budgets.attempt),
        forecast,
        usual_gap: read.usual_gap,
        faults: read.faults.iter().map(|(status, n)| (u32::from(*status), *n)).collect(),
        tokens_per_second: LiveSpeed {
            prompt: read.tokens_per_second.prompt.map(speed),
            answer: read.tokens_per_second.answer.map(speed),
        },
        episodes: read.episodes.into_iter().map(episode).collect(),
    }
}

fn speed(of: gateway::Speed) -> TokenSpeed {
    TokenSpeed { median: of.median, p10: of.p10 }
}

fn episode(read: live::LiveEpisode) -> LiveEpisode {
    let passed = |state: &&model::TurnState| {
        matches!(state, model::TurnState::Passed | model::TurnState::PassedAfterRetries)
    };
    LiveEpisode {
        goes_on: goes_on(read.phase, read.end_reason),
        stamina: read.cells.iter().take_while(passed).count() as u32,
        name: read.name,
        title: read.title,
        phase: match read.phase {
            Phase::Queued => LivePhase::Queued,
            Phase::Preparing => LivePhase::Preparing,
            Phase::Agent => LivePhase::Agent,
            Phase::Waiting => LivePhase::Waiting,
            Phase::Testing => LivePhase::Testing,
            Phase::Paused => LivePhase::Paused,
            Phase::Over => LivePhase::Over,
        },
        turns: read.turns,
        turn: read.turn,
        attempt: read.attempt,
        cells: read.cells,
        end_reason: read.end_reason,
        seconds: read.seconds,
        tokens: read.spent.tokens,
        cost_usd: read.spent.cost_usd,
        last_event_at: read.last_event_at,
        now: read.now,
        eta_seconds: read.eta_seconds,
        stuck: read.stuck,
    }
}

/// Turns that must be decided before a forecast is made.
const ENOUGH_TURNS: usize = 4;

/// From the pace of each episode so far: the 10th to the 90th percentile of what a turn of it took. Turns that are left are
/// those that were planned; an episode that ends before is done sooner.
fn forecast(read: &live::LiveRun) -> Option<Forecast> {
    let decided: usize = read.episodes.iter().map(|e| e.cells.len()).sum();
    if decided < ENOUGH_TURNS {
        return None;
    }
    let left: f64 = read
        .episodes
        .iter()
        .filter(|e| e.phase != Phase::Over)
        .map(|e| f64::from(e.turns) - e.cells.len() as f64)
        .sum();
    let at_once =
        read.episodes.iter().filter(|e| !matches!(e.phase, Phase::Over | Phase::Queued)).count().max(1);
    let per_turn = |of: &dyn Fn(&live::LiveEpisode) -> Option<f64>| {
        let mut rates: Vec<f64> = read
            .episodes
            .iter()
            .filter(|e| !e.cells.is_empty())
            .filter_map(|e| Some(of(e)? / e.cells.len() as f64))
            .collect();
        rates.sort_by(f64::total_cmp);
        super::estimate::spread(&rates)
    };
    let seconds = per_turn(&|e| Some(e.seconds))?;
    let scale = |(low, high): (f64, f64), by: f64| (low * by, high * by);
    let both = |t: &model::Tokens| Some((t.input? + t.output?) as f64);
    let at_end = |so_far: Option<f64>, rate: Option<(f64, f64)>| {
        let (so_far, (low, high)) = (so_far?, scale(rate?, left));
        Some((so_far + low, so_far + high))
    };
    Some(Forecast {
        seconds_left: scale(seconds, left / at_once as f64),
        cost_usd: at_end(read.spent.cost_usd, per_turn(&|e| e.spent.cost_usd)),
        tokens: at_end(both(&read.spent.tokens), per_turn(&|e| both(&e.spent.tokens))),
    })
}

/// A moment as RFC 3339 in UTC.
pub(super) fn rfc3339(at: SystemTime) -> String {
    let seconds = at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    model::rfc3339(seconds.cast_signed(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_attempt_of_a_task_without_snapshots_cannot_be_retried() {
        let room = tempfile::tempdir().unwrap();
        std::fs::create_dir(room.path().join(".stamina")).unwrap();
        let spent = serde_json::json!({ "requests": 0, "tokens": {}, "cost_usd": null, "unmetered": 0, "seconds": 1.0 });
        let mut run: live::LiveRun = serde_json::from_value(serde_json::json!({
            "id": "0f3a5c77", "agent": "oracle", "model": null, "simulated": false, "shakedown": false,
            "state": { "state": "running" }, "started_at": "2026-11-18T10:00:00Z", "seconds": 1.0, "turns": 3,
            "attempt_limit": 1, "lacks_snapshots": true, "spent": spent, "budgets": {}, "price": null,
            "episodes": [{
                "name": "scenario_0", "title": null, "phase": "agent", "turns": 3, "turn": 2, "attempt": 1, "cells": [],
                "end_reason": null, "seconds": 1.0, "spent": spent, "last_event_at": null, "now": null,
                "eta_seconds": null, "stuck": null
            }],
            "usual_gap": null, "faults": [], "endpoint": null
        }))
        .unwrap();
        let retry = RunAction::Retry { episode: "scenario_0".to_owned() };
        let refused = send_control_request(room.path(), &run, &retry).unwrap_err();
        assert_eq!(refused.code, "run.no_snapshot");
        assert!(refused.message.contains("restore_before_try=true"), "{}", refused.message);
        assert!(control::read(room.path()).unwrap().retry.is_empty(), "nothing is wished");
        let requested = |run: &live::LiveRun| {
            send_control_request(room.path(), run, &retry).unwrap();
            control::read(room.path()).unwrap().retry["scenario_0"]
        };
        // An episode that the endpoint ended is continued; one with snapshots is retried from the last of them.
        (run.episodes[0].phase, run.episodes[0].end_reason) = (Phase::Over, Some(model::EndReason::Endpoint));
        assert_eq!(requested(&run), 1);
        (run.episodes[0].phase, run.episodes[0].end_reason) = (Phase::Agent, None);
        run.lacks_snapshots = false;
        assert_eq!(requested(&run), 2);
    }

    #[test]
    fn moments_are_written_in_utc() {
        let at = |seconds| rfc3339(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_795_000_000), "2026-11-18T11:06:40Z");
    }
}
