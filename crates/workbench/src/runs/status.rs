//! What runs are doing, as their folders tell: of this process, of another one, or of none any more.

mod live_rows;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use files::deadline::within_limit;
use runner::control::{self, ControlRequest};
use runner::live::{self, Phase, RunState};
use rustix::fs::{AtFlags, Dir, FileType, statat};

use self::live_rows::{detail, is_live, just_begun, rank, row, unreadable};
use super::errors::run_error;
use super::folder::absolute_folder;
use crate::Workbench;
use crate::api::{
    ApiError, ControlRun, ListRuns, LiveRunDetail, LiveRunRow, LiveRuns, Nothing, RunAction, RunFolder,
};

/// What the runner keeps beside the results.
const PRIVATE: &str = ".stamina";
/// How often folders of runs are looked at for changes.
const LOOK: Duration = Duration::from_millis(500);
/// How often it is looked which folders there are.
const LOOK_FOR_FOLDERS: Duration = Duration::from_secs(3);
/// Most runs in the list.
const MOST: usize = 200;
/// Most names of a place of a run whose changes are noticed: a thousand episodes have three each.
const MOST_STAMPED: usize = 5_000;

/// A results folder, with the source it lies in and its run in the library.
#[derive(Debug, Clone, Default)]
struct KnownFolder {
    source: Option<i64>,
    run: Option<String>,
}

impl Workbench {
    /// Runs that are or were played here or by the command line.
    pub fn list_live_runs(&self, _: Nothing) -> Result<LiveRuns, ApiError> {
        let mut runs: Vec<LiveRunRow> =
            self.run_folders()?.into_iter().map(|(folder, known)| self.row(&folder, known.run)).collect();
        runs.sort_by(|a, b| {
            (rank(a.state), &b.started_at, &a.folder).cmp(&(rank(b.state), &a.started_at, &b.folder))
        });
        runs.truncate(MOST);
        let live = runs.iter().filter(|run| is_live(run.state)).count() as u32;
        Ok(LiveRuns { runs, live })
    }

    /// What a run is doing now.
    pub fn get_live_run(&self, request: RunFolder) -> Result<LiveRunDetail, ApiError> {
        let folder = absolute_folder(&request.folder)?;
        self.detail(&folder)
    }

    fn detail(&self, folder: &Path) -> Result<LiveRunDetail, ApiError> {
        let own_run = self.runs.get(folder);
        let known = self.run_folders()?.remove(folder).unwrap_or_default();
        match (live::read(folder), own_run) {
            (Ok(run), own_run) => Ok(detail(folder, known.run, run, own_run.as_ref())),
            (Err(_), Some(own_run)) => Ok(just_begun(folder, &own_run)),
            (Err(error), None) => Err(run_error(error)),
        }
    }

    /// Pauses, continues or stops a run, or plays the attempt of an episode again.
    pub fn control_run(&self, request: ControlRun) -> Result<LiveRunDetail, ApiError> {
        let folder = absolute_folder(&request.folder)?;
        let run = live::read(&folder).map_err(run_error)?;
        send_control_request(&folder, &run, &request.action)?;
        self.changes.add([], []);
        self.detail(&folder)
    }

    /// The folders that hold, or held, a run of Stamina Lab.
    fn run_folders(&self) -> Result<BTreeMap<PathBuf, KnownFolder>, ApiError> {
        let mut folders: BTreeMap<PathBuf, KnownFolder> = BTreeMap::new();
        let sources: BTreeMap<i64, PathBuf> = self
            .store
            .sources()?
            .into_iter()
            .filter(|source| !source.zip)
            .map(|source| (source.id, PathBuf::from(source.path)))
            .collect();
        let held = |folder: &Path| {
            let folder = folder.to_owned();
            within_limit(&folder.clone(), move || is_held(&folder)).unwrap_or(false)
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
                    folders.insert(folder, KnownFolder { source: Some(row.source), run: Some(row.id) });
                }
            }
            if done {
                break;
            }
        }
        let smoke_tests = super::smoke_test::folders(&self.runs.smoke_tests);
        let smoke_tests = smoke_tests.into_iter().filter(|folder| held(folder));
        for folder in self.runs.all().into_keys().chain(smoke_tests) {
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

    fn row(&self, folder: &Path, run: Option<String>) -> LiveRunRow {
        let own_run = self.runs.get(folder);
        let stamp = stamp(folder);
        if let Some((seen, row)) = model::lock(&self.runs.ended).get(folder)
            && *seen == stamp
            && own_run.as_ref().is_none_or(|own_run| !own_run.playing)
        {
            return LiveRunRow { run, ..row.clone() };
        }
        // Its end is being told just now.
        let is_playing = own_run.as_ref().is_some_and(|own_run| own_run.playing);
        let row = match (live::read(folder), own_run) {
            (Ok(read), own_run) => row(folder, run, &read, own_run.as_ref()),
            (Err(_), Some(own_run)) => just_begun(folder, &own_run).row,
            // It may be read the next time: a file system that did not answer leaves no trace in the folder.
            (Err(error), None) => return unreadable(folder, run, &error.reason()),
        };
        // What a living process plays changes without a trace in the folder: it may die.
        if !is_live(row.state) && !is_playing {
            let mut ended = model::lock(&self.runs.ended);
            ended.insert(folder.to_path_buf(), (stamp, row.clone()));
        }
        row
    }

    /// Tells who waits for changes what happens in the folders of runs, until the workbench is gone.
    pub(crate) fn follow_runs(&self) -> Result<(), ApiError> {
        let weak_workbench = self.opened_sources.workbench();
        std::thread::Builder::new()
            .name("follow runs".to_owned())
            .spawn(move || {
                let mut folders: BTreeMap<PathBuf, (KnownFolder, u64)> = BTreeMap::new();
                let mut last_look: Option<(Instant, u64)> = None;
                loop {
                    std::thread::sleep(LOOK);
                    let Some(workbench) = weak_workbench.upgrade() else { return };
                    let change = workbench.changes.last();
                    let due = last_look
                        .is_none_or(|(time, seen)| time.elapsed() >= LOOK_FOR_FOLDERS && seen != change);
                    if due && let Ok(known) = workbench.run_folders() {
                        last_look = Some((Instant::now(), change));
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
pub fn read_run_detail(folder: &Path) -> Result<LiveRunDetail, ApiError> {
    live::read(folder).map(|run| detail(folder, None, run, None)).map_err(run_error)
}

/// Writes what is wanted of a run.
pub fn send_control_request(folder: &Path, run: &live::LiveRun, action: &RunAction) -> Result<(), ApiError> {
    if !matches!(run.state, RunState::Running | RunState::Paused | RunState::Stopping) {
        return Err(ApiError::new("run.not_live", "Nobody plays this run now")
            .with_path(folder.display().to_string())
            .hint("Resume it"));
    }
    if let RunAction::Retry { episode } = action {
        let Some(found) = run.episodes.iter().find(|e| e.name == *episode) else {
            return Err(ApiError::new("run.no_episode", format!("The run has no episode {episode}"))
                .with_path(folder.display().to_string()));
        };
        if matches!(found.phase, Phase::Over | Phase::Queued) && !is_resumable(found.phase, found.end_reason)
        {
            return Err(ApiError::new(
                    "run.episode_not_live",
                    format!("No attempt of {episode} is running"),
                )
                .with_path(folder.display().to_string())
                .hint("An episode that its agent ended is a result, and stays; one that the endpoint ended can be retried"));
        }
        if run.lacks_snapshots && found.phase != Phase::Over {
            let message = format!(
                "The running attempt of {episode} cannot be retried: attempts at a task begin from a snapshot only with restore_before_try=true"
            );
            return Err(ApiError::new("run.no_snapshot", message)
                .with_path(folder.display().to_string())
                .hint("Stop the run and resume it: the task is then played from its first step, or with harbor.snapshots=each_step from the one that is played"));
        }
    }
    let change = |request: &mut ControlRequest| match action {
        RunAction::Pause => request.pause = true,
        RunAction::Continue => request.pause = false,
        RunAction::Stop => request.stop = true,
        RunAction::Retry { episode } => {
            let number = request.retry.entry(episode.clone()).or_default();
            *number = number.saturating_add(1);
        }
    };
    control::change(folder, change).map_err(run_error)
}

/// Whether an episode is over and can be continued: what ended it was not its agent.
fn is_resumable(phase: Phase, end_reason: Option<model::EndReason>) -> bool {
    phase == Phase::Over && end_reason.is_some_and(live::is_resumable)
}

/// Changes with everything that is written while a run is played, but for the agents' own files; 0 where the file system does
/// not answer.
fn stamp(folder: &Path) -> u64 {
    let owned_folder = folder.to_owned();
    within_limit(folder, move || stamp_of(&owned_folder)).unwrap_or(0)
}

/// Whether a folder holds the record of a run, readable or not. No link below it is followed.
fn is_held(folder: &Path) -> bool {
    let private_folder =
        files::confined_path::open_folder(&files::confined_path::resolved(folder).join(PRIVATE));
    private_folder
        .is_ok_and(|private_folder| statat(&private_folder, "run.json", AtFlags::SYMLINK_NOFOLLOW).is_ok())
}

/// No link below the folder is followed, and of each place at most [`MOST_STAMPED`] names are looked at: this is asked twice a second,
/// whoever made the folder.
fn stamp_of(folder: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    let folder = files::confined_path::resolved(folder);
    for place in [PRIVATE, ".stamina/episodes"] {
        let Ok(handle) = files::confined_path::open_folder(&folder.join(place)) else { continue };
        let Ok(entries) = Dir::read_from(&handle) else { continue };
        let mut found: Vec<_> = entries
            .flatten()
            .take(MOST_STAMPED)
            .filter_map(|entry| {
                let stat = statat(&handle, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
                let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
                is_file
                    .then(|| (entry.file_name().to_owned(), stat.st_size, stat.st_mtime, stat.st_mtime_nsec))
            })
            .collect();
        found.sort();
        found.hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn a_record_behind_a_link_is_neither_found_nor_watched() {
        let room = tempfile::tempdir().unwrap();
        let (foreign_folder, outside) = (room.path().join("theirs"), room.path().join("outside"));
        std::fs::create_dir_all(outside.join("episodes")).unwrap();
        std::fs::create_dir(&foreign_folder).unwrap();
        std::fs::write(outside.join("run.json"), "{}").unwrap();
        std::os::unix::fs::symlink(&outside, foreign_folder.join(PRIVATE)).unwrap();
        let before = stamp_of(&foreign_folder);
        assert!(!is_held(&foreign_folder));
        std::fs::write(outside.join("another"), "").unwrap();
        assert_eq!(stamp_of(&foreign_folder), before);
        // One of its own is.
        std::fs::remove_file(foreign_folder.join(PRIVATE)).unwrap();
        std::fs::rename(&outside, foreign_folder.join(PRIVATE)).unwrap();
        assert!(is_held(&foreign_folder));
        let stamp_with_record = stamp_of(&foreign_folder);
        assert_ne!(stamp_with_record, before);
        std::fs::write(foreign_folder.join(".stamina/episodes/scenario_0.json"), "{}").unwrap();
        assert_ne!(stamp_of(&foreign_folder), stamp_with_record);
        // What lies there under names without end is looked at in part.
        for name in 0..MOST_STAMPED + 10 {
            std::fs::hard_link(
                foreign_folder.join(".stamina/run.json"),
                foreign_folder.join(PRIVATE).join(name.to_string()),
            )
            .unwrap();
        }
        assert_eq!(stamp_of(&foreign_folder), stamp_of(&foreign_folder));
    }

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
}
