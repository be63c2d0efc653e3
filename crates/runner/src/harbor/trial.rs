//! A trial: one task from its first step to its last, in one container.

use std::collections::BTreeMap;
use std::sync::Arc;

use files::Tree;
use model::EndReason;
use sandbox::{OpenTask, Owner, SandboxError, TaskContainer};
use tokio_util::sync::CancellationToken;

use super::attempts::AfterStep;
use super::end::Ended;
use super::file::TaskFile;
use super::player::{self, Player};
use super::snapshot::forget_snapshots;
use super::take_up::Start;
use super::task::{Task, Tasks};
use crate::agent::blocking;
use crate::agent_end::budget_spent;
use crate::episode::EpisodeEnd;
use crate::folders::Folders;
use crate::live::is_resumable;
use crate::may_begin::{self, CannotStart};
use crate::record::{EpisodeFolder, Trajectory};
use crate::reopen;
use crate::run_context::RunContext;
use crate::state::{Planned, SessionState};
use crate::status::Status;
use crate::{RunError, outage};

/// A trial that is played.
pub(super) struct Trial<'a> {
    pub(super) context: &'a RunContext,
    pub(super) planned: &'a Planned,
    pub(super) tasks: Arc<Tasks>,
    pub(super) task: &'a Task,
    pub(super) file: &'a TaskFile,
    /// `None` = a harness plays.
    pub(super) player: Option<Player>,
    pub(super) owner: Owner,
    pub(super) results: EpisodeFolder,
    pub(super) trajectory: Trajectory,
    pub(super) folders: Folders,
    pub(super) status: Arc<Status>,
    pub(super) container: Option<OpenTask>,
    /// What its container is opened from.
    pub(super) what: Option<TaskContainer>,
    /// The step that is played, from 1.
    pub(super) number: u32,
    /// The attempt at it, from 1.
    pub(super) attempt: u32,
    /// Attempts so far, this one included, for the names of their logs.
    pub(super) calls: u32,
    /// What is known of the harness's session.
    pub(super) known: SessionState,
    /// The feedback for the next attempt at the step, if the protocol has it.
    pub(super) feedback: Option<String>,
    /// Where commands run.
    pub(super) workdir: String,
    /// Whether a player has worked in the container: what goes wrong in it from then on may be its doing.
    pub(super) was_played: bool,
    /// Reference solutions that were executed for a later step and did not exit with 0, by step, with their codes.
    pub(super) references_failed: BTreeMap<String, i64>,
    /// Whether a verifier has run in the container.
    pub(super) was_verified: bool,
    /// Whether the container is what the snapshot of the step keeps: nothing was executed in it since.
    pub(super) is_as_kept: bool,
    /// Whether the next attempt begins in a container that a resume opened from a snapshot.
    pub(super) is_resumed: bool,
    /// How often the attempt that is played was retried because the endpoint had ended it.
    pub(super) repeats: u32,
    /// Ends the attempt in flight: with the run, or because a control request asks for a retry.
    pub(super) stop: CancellationToken,
}

/// That the container of a trial is asked for before it is opened.
pub(super) fn not_open() -> SandboxError {
    SandboxError::Engine {
        doing: "work in the container of a task",
        why: "it is not open".to_owned(),
        is_gone: false,
    }
}

/// Plays a trial. One that was cut off continues from the last snapshot of its container, or is retried from its first step.
pub(crate) async fn play(
    context: Arc<RunContext>,
    planned: Planned,
    tasks: Arc<Tasks>,
) -> Result<EpisodeEnd, RunError> {
    let opened = {
        let (context, planned) = (context.clone(), planned.clone());
        blocking(move || {
            let opened = reopen::look(&context, &planned)?;
            if let Some(opened) = &opened {
                opened.folders.make()?;
                if opened.is_over() {
                    reopen::fulfill(&context, &planned, &opened.status);
                }
            }
            Ok(opened)
        })
        .await?
    };
    let owner = Owner { run: context.engine_run.clone(), episode: planned.name.clone() };
    let Some(opened) = opened else {
        // A kill between the end of the trial and this has left them.
        forget_snapshots(&context, &owner).await;
        return Ok(EpisodeEnd::Over);
    };
    let shared = tasks.clone();
    let of_run = |why: String| RunError::NotResumable { path: context.paths.results.clone(), why };
    let task = shared.task(&planned).ok_or_else(|| of_run(format!("{} is not there", planned.name)))?;
    let file = task.file().map_err(of_run)?;
    let player = player::find(&context.settings.agent).copied();
    let mut trial = Trial {
        owner,
        context: &context,
        planned: &planned,
        tasks,
        task,
        file,
        player,
        results: opened.results,
        trajectory: opened.trajectory,
        folders: opened.folders,
        status: opened.status,
        container: None,
        what: None,
        number: 1,
        attempt: 1,
        calls: 0,
        known: SessionState::default(),
        feedback: None,
        workdir: "/".to_owned(),
        was_played: false,
        references_failed: BTreeMap::new(),
        was_verified: false,
        is_as_kept: false,
        is_resumed: false,
        repeats: 0,
        stop: context.stop.child_token(),
    };
    trial.name_trajectory();
    // What is recorded of it goes only where it is played.
    if player.is_none() && !outage::wait_for_endpoint(&context, &trial.status).await {
        return trial.stay(Ended::Unfinished).await;
    }
    if let Some(ended) = trial.held().await {
        return trial.stay(ended).await;
    }
    let ended = match Box::pin(trial.take_up()).await {
        Ok(Ok(start)) => {
            let title = trial.trajectory.head.title.clone().unwrap_or_else(|| task.name.clone());
            let cells =
                trial.trajectory.summaries().iter().take(start.steps_before).map(|turn| turn.state).collect();
            trial.status.set(|shown| (shown.title, shown.cells) = (Some(title), cells));
            trial.whole(start).await
        }
        Ok(Err(ended)) => Ok(ended),
        Err(error) => Err(error),
    };
    if let Some(container) = trial.container.take()
        && let Err(error) = container.close().await
    {
        tracing::warn!(%error, episode = planned.name, "the container of a task could not be removed");
    }
    trial.release().await;
    match ended? {
        Ended::Over(reason, exception) => {
            let end = trial.over(reason, exception).await?;
            // Once its end is written: a trial without either would be retried from its first step.
            if !is_resumable(reason) {
                forget_snapshots(&context, &trial.owner).await;
            }
            Ok(end)
        }
        Ended::Unfinished => trial.leave(),
    }
}

impl Trial<'_> {
    pub(super) fn tree(&self) -> &Tree {
        &self.tasks.tree
    }

    pub(super) fn container(&self) -> Result<&OpenTask, SandboxError> {
        self.container.as_ref().ok_or_else(not_open)
    }

    /// Plays the steps that are left.
    async fn whole(&mut self, start: Start) -> Result<Ended, RunError> {
        let Start { steps_before, mut attempt, mut before } = start;
        if before.is_none() {
            let opened = self.open().await;
            if let Some(ended) = self.unless_prepared(opened) {
                return Ok(ended);
            }
        }
        let (file, turns) = (self.file, self.planned.turns as usize);
        for (step, number) in file.steps.iter().zip(1_u32..).take(turns).skip(steps_before) {
            if let Some(ended) = self.held().await {
                return Ok(ended);
            }
            match Box::pin(self.whole_step(step, number, attempt, before.take())).await? {
                AfterStep::Next(next) => (before, attempt) = (next, 1),
                AfterStep::Ended(ended) => return Ok(ended),
            }
        }
        Ok(self.chain_ended())
    }

    /// Waits while the run is paused; says how the trial ends where it may not go on.
    pub(super) async fn held(&mut self) -> Option<Ended> {
        let blocked = if may_begin::wait_out_a_pause(self.context, &self.status).await {
            may_begin::check_budgets(self.context, &self.status, &self.planned.name).await.err()?
        } else {
            CannotStart::RunEnds
        };
        match blocked {
            CannotStart::RunEnds => Some(Ended::Unfinished),
            CannotStart::Budget(over) => {
                self.context.tell_spent(Some(over.clone())).await;
                Some(Ended::Over(EndReason::Budget, budget_spent(&over).exception))
            }
        }
    }
}
