//! The state of an episode when it begins or continues: from its trajectory, its journal and its snapshot.

use std::sync::Arc;

use model::{EndReason, Verdict, lock};

use crate::blocking::blocking;
use crate::folders::Folders;
use crate::live::{Phase, is_resumable};
use crate::record::report::EpisodeScore;
use crate::record::{End, EpisodeFolder, Trajectory};
use crate::run_context::RunContext;
use crate::state::{Journal, Label, PlannedEpisode, RunPaths, SessionState};
use crate::status::Status;
use crate::{Event, RunError, clock};

/// The recorded state of an episode.
pub(crate) struct RecordedEpisode {
    pub(crate) folders: Folders,
    pub(crate) results: EpisodeFolder,
    pub(crate) trajectory: Trajectory,
    pub(crate) known: SessionState,
    pub(crate) status: Arc<Status>,
}

impl RecordedEpisode {
    /// Whether its trajectory has an end. A resume may still continue it.
    pub(crate) fn is_over(&self) -> bool {
        self.trajectory.end.finished_at.is_some()
    }
}

/// Reads the recorded state of an episode without changing it; `None` if it is over and cannot be continued. Blocks.
pub(crate) fn read_recorded_episode(
    context: &RunContext,
    planned: &PlannedEpisode,
) -> Result<Option<RecordedEpisode>, RunError> {
    let results = EpisodeFolder::new(context.paths.episode(&planned.name), context.scrub.clone())?;
    let state = context.paths.state(&planned.name);
    let folders = Folders::new(state.clone());
    let trajectory = match Trajectory::read(results.path())? {
        Some(trajectory) => trajectory,
        None => Trajectory::new(results.path(), &planned.name, planned.turns, context.settings.attempt_limit),
    };
    let known = Journal::read(&state)?.valid_state(trajectory.last());
    let status = Status::open(
        context.paths.episode_file(&planned.name),
        &planned.name,
        known.seconds,
        context.scrub.clone(),
        context.watch.clone(),
    );
    let opened = RecordedEpisode { folders, results, trajectory, known, status: Arc::new(status) };
    let is_reopened = opened.trajectory.end.end_reason.is_some_and(is_resumable);
    if opened.is_over() && !is_reopened {
        keep_score(context, planned, &opened.trajectory);
        show_finished(&opened.status, planned, &opened.trajectory);
        // The run may have been killed between the end of the episode and this.
        close(&opened.folders, false);
        return Ok(None);
    }
    Ok(Some(opened))
}

/// Marks the request to continue an episode that is over as fulfilled, also one that was not passed on yet. Blocks.
pub(crate) fn fulfill(context: &RunContext, planned: &PlannedEpisode, status: &Status) {
    let control_requests = crate::control::read(&context.paths.results).unwrap_or_default();
    let requested = control_requests.retry.get(&planned.name).copied();
    if let Some(requested) = requested.filter(|requested| *requested > status.retries()) {
        status.set_retries(requested);
    }
}

/// Opens an episode to continue it; `None` if it is over. Blocks.
pub(crate) fn open(
    context: &RunContext,
    planned: &PlannedEpisode,
) -> Result<Option<RecordedEpisode>, RunError> {
    let Some(mut opened) = read_recorded_episode(context, planned)? else { return Ok(None) };
    let was_over = opened.is_over();
    opened.folders.make()?;
    // An attempt that the run's budget cut off has not ended its episode.
    let last = opened.trajectory.current.as_ref().and_then(|current| current.attempts.last());
    if last.is_some_and(|last| last.verdict == Verdict::Unfinished) {
        take_last_back(&mut opened, &context.paths.state(&planned.name))?;
    }
    if was_over {
        fulfill(context, planned, &opened.status);
    }
    opened.trajectory.end = End::default();
    keep_score(context, planned, &opened.trajectory);
    Ok(Some(opened))
}

/// Removes what an episode that is over no longer needs. What cannot be removed does not disturb; the next resume tries again.
/// Blocks.
pub(crate) fn close(folders: &Folders, is_resumable: bool) {
    if let Err(error) = folders.close(is_resumable) {
        tracing::warn!("the folders of an episode that is over could not be removed: {error}");
    }
}

/// Whether an attempt had begun that the trajectory does not name, because its process was killed. Blocks.
pub(crate) fn is_cut_off(paths: &RunPaths, planned: &PlannedEpisode) -> bool {
    let label = Folders::new(paths.state(&planned.name)).label();
    let last = Trajectory::read(&paths.episode(&planned.name)).ok().flatten().and_then(|t| t.last());
    // An attempt that was given up before its snapshot is later than the existing snapshot.
    label.is_some_and(|Label { turn, attempt }| last.is_none_or(|last| last < (turn, attempt)))
}

/// Whether the last attempt did not pass because a budget of the episode cut it off. It was tested, so it is a result while
/// that budget is spent. After the budget is raised it counts neither as a failure of the agent nor as an attempt.
pub(crate) fn is_cut_off_by_budget(trajectory: &Trajectory) -> bool {
    let last = trajectory.current.as_ref().and_then(|current| current.attempts.last());
    last.is_some_and(|last| {
        last.verdict != Verdict::Passed
            && last.verdict != Verdict::Unfinished
            && last.end_reason == Some(EndReason::Budget)
    })
}

/// Removes the record of an attempt that something outside ended: it is retried from its snapshot. Blocks.
pub(crate) fn take_last_back(opened: &mut RecordedEpisode, state: &std::path::Path) -> Result<(), RunError> {
    let Some((turn, attempt)) = opened.trajectory.last() else { return Ok(()) };
    let label = opened.folders.label();
    let Some(current) = opened.trajectory.current.as_mut() else { return Ok(()) };
    // It was given up before its agent was called. The retry makes the missing snapshot.
    let is_unplayed = current
        .attempts
        .last()
        .is_some_and(|last| last.verdict == Verdict::Unfinished && last.agent_seconds.is_none());
    if is_unplayed || label == Some(Label { turn, attempt }) {
        current.attempts.pop();
        let journal = Journal::read(state)?;
        // Its spending still counts, in time and money.
        let spent = (opened.known.spent, opened.known.seconds);
        opened.known = journal.before;
        (opened.known.spent, opened.known.seconds) = spent;
        // Now the trajectory matches the first half of the journal again.
        Journal { before: opened.known.clone(), after: None }.write(state)?;
        opened.trajectory.end = End::default();
        opened.trajectory.write()?;
    }
    Ok(())
}

/// Ends an episode in the report, its folders (`is_resumable`: a resume may continue it) and the events.
pub(crate) async fn end(
    context: &RunContext,
    planned: &PlannedEpisode,
    folders: &Folders,
    trajectory: &Trajectory,
    (reason, is_resumable): (EndReason, bool),
) -> Result<(), RunError> {
    keep_score(context, planned, trajectory);
    let folders = folders.clone();
    blocking(move || {
        close(&folders, is_resumable);
        Ok(())
    })
    .await?;
    context.events.tell(&Event::Episode {
        at: clock::now(),
        episode: planned.name.clone(),
        stamina: trajectory.stamina(),
        turns: trajectory.summaries().len() as u32,
        end_reason: reason,
    });
    Ok(())
}

/// Copies the outcome of an episode from its trajectory to the report.
pub(crate) fn keep_score(context: &RunContext, planned: &PlannedEpisode, trajectory: &Trajectory) {
    let scored = EpisodeScore {
        name: planned.name.clone(),
        planned_turns: planned.turns,
        turns: trajectory.summaries(),
        end_reason: trajectory.end.end_reason,
    };
    lock(&context.scores).insert(planned.scenario, scored);
}

/// Shows an episode that stays over in its status.
pub(crate) fn show_finished(status: &Status, planned: &PlannedEpisode, trajectory: &Trajectory) {
    let summaries = trajectory.summaries();
    status.set(|shown| {
        shown.name.clone_from(&planned.name);
        shown.title.clone_from(&trajectory.head.title);
        shown.phase = Phase::Over;
        shown.turn = summaries.len() as u32;
        shown.attempt = summaries.last().map_or(0, |turn| turn.attempts);
        shown.cells = summaries.iter().map(|turn| turn.state).collect();
        shown.end_reason = trajectory.end.end_reason;
        shown.now = None;
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk;

    #[test]
    fn a_killed_attempt_is_not_in_the_trajectory() {
        let room = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(room.path());
        let planned = PlannedEpisode { name: "scenario_0".to_owned(), scenario: 0, turns: 2 };
        assert!(!is_cut_off(&paths, &planned), "nothing has begun");
        let folders = Folders::new(paths.state(&planned.name));
        folders.make().unwrap();
        folders.keep(Label { turn: 1, attempt: 1 }).unwrap();
        assert!(is_cut_off(&paths, &planned));
        // Recorded in a trajectory.
        let named = paths.episode(&planned.name);
        disk::folder(&named).unwrap();
        let mut trajectory = Trajectory::new(&named, "scenario_0", 2, 1);
        let turn: crate::record::TurnRecord = serde_json::from_value(serde_json::json!({
            "turn": 1, "tests": [], "files": { "request": "", "reference": "", "suite": "", "schema": "" },
            "attempts": [{
                "attempt": 1, "verdict": "failed", "success": false, "tokens": {}, "files": { "agent_logs": [] },
                "started_at": "2026-06-01T10:00:00.000Z", "finished_at": "2026-06-01T10:00:01.000Z",
            }],
        }))
        .unwrap();
        trajectory.begin(turn);
        trajectory.write().unwrap();
        assert!(!is_cut_off(&paths, &planned));
    }
}
