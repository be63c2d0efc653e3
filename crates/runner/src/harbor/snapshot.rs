//! Snapshots of the container of a trial before its steps. Attempts at a step that are independent of each other begin from the
//! same one each. The last one is what a resume continues from ([`super::snapshot_record`]), of other trials as well where the
//! settings say so.

use std::path::PathBuf;

use model::EndReason;
use sandbox::{Containers, Owner, SandboxError, TaskContainer};

use super::snapshot_record::{KeptTrial, NextSnapshot, Record, Rules};
use super::trial::Trial;
use crate::blocking::blocking;
use crate::live::Phase;
use crate::record::Exception;
use crate::run_context::RunContext;
use crate::{RunError, kill_points};

/// The state of a trial before a step.
pub(super) struct StateBeforeStep {
    /// The snapshot of its container.
    image: String,
    kept_trial: Box<KeptTrial>,
}

impl Trial<'_> {
    /// The path of the record of its snapshots.
    pub(super) fn record_path(&self) -> PathBuf {
        Record::path(&self.context.paths.state(&self.planned.name))
    }

    /// What the settings say of its steps.
    pub(super) fn rules(&self) -> Rules {
        Rules {
            turns: self.planned.turns,
            attempts: self.context.settings.attempt_limit.max(1),
            fail_stop: self.context.settings.fail_stop,
            plays_alone: self.plays_alone(),
            continues: !self.restores(),
        }
    }

    /// Whether each attempt at a step begins from its snapshot. Else a snapshot is for a resume only.
    pub(super) fn restores(&self) -> bool {
        self.context.settings.restore_before_try
    }

    /// Keeps the container as it is before a step, where the settings say so. `None` also where the engine cannot keep it and the
    /// trial does not need that.
    pub(super) async fn keep(&self, step: u32) -> Result<Option<StateBeforeStep>, SandboxError> {
        if !self.context.settings.keeps_snapshots() {
            return Ok(None);
        }
        self.status.phase(Phase::Preparing, "its container is kept");
        let image = sandbox::snapshot_name(&self.owner, &self.record_path(), step);
        kill_points::point("container about to be kept");
        let image_id = match self.container()?.snapshot(&image).await {
            Ok(image_id) => image_id,
            Err(error) if self.restores() || ends_run(&error) => return Err(error),
            Err(error) => {
                let episode = &self.planned.name;
                tracing::warn!(%error, episode, step, "its container is not kept; a resume may begin with the first step");
                return Ok(None);
            }
        };
        kill_points::point("container kept");
        let kept_trial = Box::new(KeptTrial {
            step,
            image_id,
            known: self.known.clone(),
            was_played: self.was_played,
            was_verified: self.was_verified,
            references_failed: self.references_failed.clone(),
        });
        Ok(Some(StateBeforeStep { image, kept_trial }))
    }

    /// Records the snapshot of the step that is played and, where an attempt has decided it, that of the step that follows.
    pub(super) async fn keep_record(
        &self,
        current: &StateBeforeStep,
        next: Option<(u32, &StateBeforeStep)>,
    ) -> Result<(), RunError> {
        let next =
            next.map(|(attempt, before)| NextSnapshot { attempt, kept_trial: (*before.kept_trial).clone() });
        let (record, path) = (Record { current: (*current.kept_trial).clone(), next }, self.record_path());
        blocking(move || record.write(&path)).await?;
        kill_points::point("snapshot recorded");
        Ok(())
    }

    /// Removes a snapshot that is for a resume only, once a later one is recorded. One that the engine does not remove yet, because
    /// the container was opened from it, goes with the trial.
    pub(super) async fn drop_snapshot(&self, before: &StateBeforeStep) {
        if self.restores() {
            return;
        }
        let connections = self.context.connections().await;
        if let Containers::Engine(engine) = &connections.containers
            && let Err(error) = engine.remove_snapshot(&before.image).await
        {
            tracing::debug!(%error, image = before.image, "an earlier snapshot of a task stays until its trial ends");
        }
    }

    /// Makes the container of the trial what it was before a step after a resume. The outer error is one of the engine; `None` = the
    /// snapshot is not there any more, or is not this folder's.
    pub(super) async fn reopen(
        &mut self,
        kept_trial: Box<KeptTrial>,
    ) -> Result<Option<ReopenedTrial>, SandboxError> {
        let connections = self.context.connections().await;
        let Containers::Engine(engine) = &connections.containers else {
            return Err(SandboxError::NoEngine { tried: Vec::new() });
        };
        let record = self.record_path();
        let found = engine.kept_snapshot(&self.owner, &record, kept_trial.step, &kept_trial.image_id).await?;
        let Some(image) = found else { return Ok(None) };
        if let Some(ended) = self.prepare().await? {
            return Ok(Some(ReopenedTrial::Not(ended)));
        }
        self.references_failed.clone_from(&kept_trial.references_failed);
        let before = StateBeforeStep { image, kept_trial };
        match self.restore(&before).await? {
            None => Ok(Some(ReopenedTrial::Open(before))),
            Some(ended) => Ok(Some(ReopenedTrial::Not(ended))),
        }
    }

    /// Opens a container that is what it was before the step, as is what the harness knows of its session, and waits until it is
    /// ready: what its image starts begins anew in it. Why it never is, if it is not.
    pub(super) async fn restore(
        &mut self,
        before: &StateBeforeStep,
    ) -> Result<Option<(EndReason, Exception)>, SandboxError> {
        self.status.phase(Phase::Preparing, "its container is restored");
        if let Some(container) = self.container.take() {
            container.close().await?;
        }
        let connections = self.context.connections().await;
        let (Containers::Engine(engine), Some(container_settings)) =
            (&connections.containers, &self.container_settings)
        else {
            return Err(SandboxError::NoEngine { tried: Vec::new() });
        };
        let restored_settings = TaskContainer { image: before.image.clone(), ..container_settings.clone() };
        let container = engine.open_task(&restored_settings).await?;
        self.workdir = self.file.workdir.clone().unwrap_or_else(|| container.workdir().to_owned());
        self.container = Some(container);
        self.known = before.kept_trial.known.clone();
        (self.was_played, self.was_verified) = (before.kept_trial.was_played, before.kept_trial.was_verified);
        (self.is_as_kept, self.own_processes) = (true, None);
        kill_points::point("container restored");
        self.ready().await
    }

    /// Takes away what the trial has in the engine beside its container and its snapshots.
    pub(super) async fn release(&self) {
        let connections = self.context.connections().await;
        if let Err(error) = connections.containers.release(&self.owner).await {
            tracing::warn!(%error, "the way of a task to the gateway could not be removed");
        }
    }
}

/// Whether an error of the engine ends the run, whatever the trial still needs.
pub(super) fn ends_run(error: &SandboxError) -> bool {
    matches!(
        error,
        SandboxError::Engine { is_gone: true, .. }
            | SandboxError::NoRoom { .. }
            | SandboxError::NoEngine { .. }
    )
}

/// Removes the snapshots of a trial, where it has any: their record first, so that no resume looks for them.
pub(super) async fn forget_snapshots(context: &RunContext, owner: &Owner) {
    let path = Record::path(&context.paths.state(&owner.episode));
    let (folder, removed) = (path.clone(), path.clone());
    // Without a record the next start of a run removes what is left.
    let is_recorded = blocking(move || Ok(std::fs::symlink_metadata(&folder).is_ok())).await;
    if is_recorded.is_ok_and(|is_recorded| !is_recorded) {
        return;
    }
    kill_points::point("snapshots about to go");
    if let Err(error) = blocking(move || Record::remove(&removed)).await {
        tracing::warn!("the record of the snapshots of a task could not be removed: {error}");
    }
    kill_points::point("record of snapshots gone");
    let connections = context.connections().await;
    if let Containers::Engine(engine) = &connections.containers
        && let Err(error) = engine.remove_snapshots(owner, &path).await
    {
        tracing::warn!(%error, "the snapshots of a task could not be removed");
    }
    kill_points::point("snapshots gone");
}

/// The container that a resume opens.
pub(super) enum ReopenedTrial {
    /// It is as it was before the step.
    Open(StateBeforeStep),
    /// It is not ready.
    Not((EndReason, Exception)),
}
