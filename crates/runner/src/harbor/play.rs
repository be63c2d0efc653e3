//! Plays a trial from its first step to its last.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::EndReason;
use sandbox::Owner;

use super::attempts::AfterStep;
use super::end::StepsEnd;
use super::player;
use super::resume_trial::Start;
use super::snapshot::forget_snapshots;
use super::task::Tasks;
use super::trial::Trial;
use crate::agent_end::budget_spent;
use crate::blocking::blocking;
use crate::dropped_attempt::Repeats;
use crate::episode::EpisodeEnd;
use crate::live::is_resumable;
use crate::may_begin::{self, CannotStart};
use crate::run_context::RunContext;
use crate::state::{PlannedEpisode, SessionState};
use crate::{RunError, outage, reopen};

/// Plays a trial. One that was cut off continues from the last snapshot of its container, or is retried from its first step.
pub(crate) async fn play(
    context: Arc<RunContext>,
    planned: PlannedEpisode,
    tasks: Arc<Tasks>,
) -> Result<EpisodeEnd, RunError> {
    let opened = {
        let (context, planned) = (context.clone(), planned.clone());
        blocking(move || {
            let opened = reopen::read_recorded_episode(&context, &planned)?;
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
        return Ok(EpisodeEnd::Finished);
    };
    let shared = tasks.clone();
    let not_resumable =
        |reason: String| RunError::NotResumable { path: context.paths.results.clone(), reason };
    let task =
        shared.task(&planned).ok_or_else(|| not_resumable(format!("{} is not there", planned.name)))?;
    let file = task.file().map_err(not_resumable)?;
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
        container_settings: None,
        number: 1,
        attempt: 1,
        calls: 0,
        known: SessionState::default(),
        feedback: None,
        workdir: "/".to_owned(),
        was_played: false,
        own_processes: None,
        references_failed: BTreeMap::new(),
        was_verified: false,
        is_as_kept: false,
        is_resumed: false,
        repeats: Repeats::default(),
        is_retry: false,
        retry_origin: None,
        stop: context.stop.child_token(),
    };
    trial.name_trajectory();
    // What is recorded of it goes only where it is played.
    if player.is_none() && !outage::wait_for_endpoint(&context, &trial.status).await {
        return trial.stay(StepsEnd::Unfinished).await;
    }
    if let Some(ended) = trial.wait_while_paused().await {
        return trial.stay(ended).await;
    }
    let ended = match Box::pin(trial.take_up()).await {
        Ok(Ok(start)) => {
            let title = trial.trajectory.head.title.clone().unwrap_or_else(|| task.name.clone());
            let cells =
                trial.trajectory.summaries().iter().take(start.steps_before).map(|turn| turn.state).collect();
            trial.status.set(|shown| (shown.title, shown.cells) = (Some(title), cells));
            trial.play_steps(start).await
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
        StepsEnd::Finished(reason, exception) => {
            let end = trial.end_trial(reason, exception).await?;
            // Once its end is written: a trial without either would be retried from its first step.
            if !is_resumable(reason) {
                forget_snapshots(&context, &trial.owner).await;
            }
            Ok(end)
        }
        StepsEnd::Unfinished => trial.leave(),
    }
}

impl Trial<'_> {
    /// Plays the steps that are left.
    async fn play_steps(&mut self, start: Start) -> Result<StepsEnd, RunError> {
        let Start { steps_before, mut attempt, mut before } = start;
        if before.is_none() {
            let opened = self.open().await;
            if let Some(ended) = self.unless_prepared(opened) {
                return Ok(ended);
            }
        }
        let (file, turns) = (self.file, self.planned.turns as usize);
        for (step, number) in file.steps.iter().zip(1_u32..).take(turns).skip(steps_before) {
            if let Some(ended) = self.wait_while_paused().await {
                return Ok(ended);
            }
            match Box::pin(self.play_step_attempts(step, number, attempt, before.take())).await? {
                AfterStep::Next(next) => (before, attempt) = (next, 1),
                AfterStep::Ended(ended) => return Ok(ended),
            }
        }
        Ok(self.chain_ended())
    }

    /// Waits while the run is paused; says how the trial ends where it may not go on.
    pub(super) async fn wait_while_paused(&mut self) -> Option<StepsEnd> {
        let blocked = if may_begin::wait_out_a_pause(self.context, &self.status).await {
            may_begin::check_budgets(self.context, &self.status, &self.planned.name).await.err()?
        } else {
            CannotStart::RunEnds
        };
        match blocked {
            CannotStart::RunEnds => Some(StepsEnd::Unfinished),
            CannotStart::Budget(over) => {
                self.context.tell_spent(Some(over.clone())).await;
                Some(StepsEnd::Finished(EndReason::Budget, budget_spent(&over).exception))
            }
        }
    }
}
