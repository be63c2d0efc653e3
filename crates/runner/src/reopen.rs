//! Where an episode stands when it is begun, or taken up again: by its trajectory, its journal and its snapshot.

use std::sync::Arc;

use model::{EndReason, Verdict};

use crate::agent::blocking;
use crate::folders::Folders;
use crate::live::{Phase, is_resumable};
use crate::record::report::Scored;
use crate::record::{End, EpisodeFolder, Trajectory};
use crate::run_context::{RunContext, lock};
use crate::state::{Journal, Label, Planned, RunPaths, SessionState};
use crate::status::Status;
use crate::{Event, RunError, clock};

/// What is there.
pub(crate) struct Opened {
    pub(crate) folders: Folders,
    pub(crate) results: EpisodeFolder,
    pub(crate) trajectory: Trajectory,
    pub(crate) known: SessionState,
    pub(crate) status: Arc<Status>,
}

impl Opened {
    /// Whether its trajectory has an end. Something may continue it all the same.
    pub(crate) fn is_over(&self) -> bool {
        self.trajectory.end.finished_at.is_some()
    }
}

/// Looks at what is recorded of an episode and changes none of it. Nothing if it is over and cannot be continued. Blocks.
pub(crate) fn look(context: &RunContext, planned: &Planned) -> Result<Option<Opened>, RunError> {
    let results = EpisodeFolder::new(context.paths.episode(&planned.name), context.scrub.clone())?;
    let state = context.paths.state(&planned.name);
    let folders = Folders::of(state.clone());
    let trajectory = match Trajectory::read(results.path())? {
        Some(trajectory) => trajectory,
        None => Trajectory::new(results.path(), &planned.name, planned.turns, context.settings.attempt_limit),
    };
    let known = Journal::read(&state)?.known(trajectory.last());
    let status = Status::open(
        context.paths.episode_file(&planned.name),
        &planned.name,
        known.seconds,
        context.scrub.clone(),
        context.watch.clone(),
    );
    let opened = Opened { folders, results, trajectory, known, status: Arc::new(status) };
    let is_reopened = opened.trajectory.end.end_reason.is_some_and(is_resumable);
    if opened.is_over() && !is_reopened {
        keep_score(context, planned, &opened.trajectory);
        show_over(&opened.status, planned, &opened.trajectory);
        // Where it was killed between its end and this.
        close(&opened.folders, false);
        return Ok(None);
    }
    Ok(Some(opened))
}

/// A wish to continue an episode that is over is fulfilled; the file may have one that was not passed on yet. Blocks.
pub(crate) fn fulfill(context: &RunContext, planned: &Planned, status: &Status) {
    let control_requests = crate::control::read(&context.paths.results).unwrap_or_default();
    let requested = control_requests.retry.get(&planned.name).copied();
    if let Some(requested) = requested.filter(|requested| *requested > status.retries()) {
        status.set_retries(requested);
    }
}

/// Takes up an episode where it stands. Nothing if it is over. Blocks.
pub(crate) fn open(context: &RunContext, planned: &Planned) -> Result<Option<Opened>, RunError> {
    let Some(mut opened) = look(context, planned)? else { return Ok(None) };
    let was_over = opened.is_over();
    opened.folders.make()?;
    // One that the run's budget cut off has not ended its episode.
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

/// Takes away what an episode that is over needs no more. What cannot be taken away is in nobody's way, and tried again by the
/// next resume. Blocks.
pub(crate) fn close(folders: &Folders, played_on: bool) {
    if let Err(error) = folders.close(played_on) {
        tracing::warn!("the folders of an episode that is over could not be removed: {error}");
    }
}

/// Whether an attempt of an episode had begun that the trajectory does not name: where its process was killed. Blocks.
pub(crate) fn is_cut_off(paths: &RunPaths, planned: &Planned) -> bool {
    let label = Folders::of(paths.state(&planned.name)).label();
    let last = Trajectory::read(&paths.episode(&planned.name)).ok().flatten().and_then(|t| t.last());
    // One that was given up before it had a snapshot is behind the snapshot that is there.
    label.is_some_and(|Label { turn, attempt }| last.is_none_or(|last| last < (turn, attempt)))
}

/// Whether the last attempt did not pass because a budget of the episode cut it off. It was tested, and so is a result as long
/// as that budget is spent; where there is room again it is no failure of the agent's, and not one of the attempts it has.
pub(crate) fn is_cut_off_by_budget(trajectory: &Trajectory) -> bool {
    let last = trajectory.current.as_ref().and_then(|current| current.attempts.last());
    last.is_some_and(|last| {
        last.verdict != Verdict::Passed
            && last.verdict != Verdict::Unfinished
            && last.end_reason == Some(EndReason::Budget)
    })
}

/// Takes an attempt back that something outside ended: it is retried from its snapshot. Blocks.
pub(crate) fn take_last_back(opened: &mut Opened, state: &std::path::Path) -> Result<(), RunError> {
    let Some((turn, attempt)) = opened.trajectory.last() else { return Ok(()) };
    let label = opened.folders.label();
    let Some(current) = opened.trajectory.current.as_mut() else { return Ok(()) };
    // One that was given up before its agent was called: where there is no snapshot of it, the next play makes one.
    let is_unplayed = current
        .attempts
        .last()
        .is_some_and(|last| last.verdict == Verdict::Unfinished && last.agent_seconds.is_none());
    if is_unplayed || label == Some(Label { turn, attempt }) {
        current.attempts.pop();
        let journal = Journal::read(state)?;
        // What it has spent stays spent, in time and money.
        let spent = (opened.known.spent, opened.known.seconds);
        opened.known = journal.before;
        (opened.known.spent, opened.known.seconds) = spent;
        // From here on the trajectory says again what the journal's first half holds for.
        Journal { before: opened.known.clone(), after: None }.write(state)?;
        opened.trajectory.end = End::default();
        opened.trajectory.write()?;
    }
    Ok(())
}

/// An episode is over: its report, its folders (`played_on`: a resume may continue it) and the events say so.
pub(crate) async fn end(
    context: &RunContext,
    planned: &Planned,
    folders: &Folders,
    trajectory: &Trajectory,
    (reason, played_on): (EndReason, bool),
) -> Result<(), RunError> {
    keep_score(context, planned, trajectory);
    let folders = folders.clone();
    blocking(move || {
        close(&folders, played_on);
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

/// The report follows the trajectory.
pub(crate) fn keep_score(context: &RunContext, planned: &Planned, trajectory: &Trajectory) {
    let scored = Scored {
        name: planned.name.clone(),
        planned_turns: planned.turns,
        turns: trajectory.summaries(),
        end_reason: trajectory.end.end_reason,
    };
    lock(&context.scores).insert(planned.scenario, scored);
}

/// The status of an episode that stays over says so.
pub(crate) fn show_over(status: &Status, planned: &Planned, trajectory: &Trajectory) {
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
    fn an_attempt_that_was_killed_is_one_that_no_trajectory_names() {
        let room = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(room.path());
        let planned = Planned { name: "scenario_0".to_owned(), scenario: 0, turns: 2 };
        assert!(!is_cut_off(&paths, &planned), "nothing has begun");
        let folders = Folders::of(paths.state(&planned.name));
        folders.make().unwrap();
        folders.keep(Label { turn: 1, attempt: 1 }).unwrap();
        assert!(is_cut_off(&paths, &planned));
        // Recorded by then, in the words of a trajectory.
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
