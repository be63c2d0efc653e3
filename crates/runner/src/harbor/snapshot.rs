//! Attempts at a step that are independent of each other: each begins from the same snapshot of the container.

use model::EndReason;
use sandbox::{Containers, SandboxError, TaskContainer};

use super::trial::Trial;
use crate::live::Phase;
use crate::record::Exception;
use crate::state::Known;

/// What a trial was before a step.
pub(super) struct Before {
    /// The snapshot of its container.
    image: String,
    known: Known,
    was_played: bool,
    was_verified: bool,
}

impl Trial<'_> {
    /// Keeps the container as it is before a step, where each attempt begins from there.
    pub(super) async fn keep(&self, number: u32) -> Result<Option<Before>, SandboxError> {
        if !self.play.settings.restore_before_try {
            return Ok(None);
        }
        self.status.phase(Phase::Preparing, "its container is kept");
        let image = format!("stamina-snapshot:{}-{}-{number}", self.owner.run, self.owner.episode);
        self.container()?.snapshot(&image).await?;
        let (known, was_played, was_verified) = (self.known.clone(), self.was_played, self.was_verified);
        Ok(Some(Before { image, known, was_played, was_verified }))
    }

    /// Opens a container that is what it was before the step, as is what the harness knows of its session, and waits until it is
    /// ready: what its image starts begins anew in it. Why it never is, if it is not.
    pub(super) async fn restore(
        &mut self,
        before: &Before,
    ) -> Result<Option<(EndReason, Exception)>, SandboxError> {
        self.status.phase(Phase::Preparing, "its container is restored");
        if let Some(container) = self.container.take() {
            container.close().await?;
        }
        let link = self.play.link().await;
        let (Containers::Engine(engine), Some(what)) = (&link.containers, &self.what) else {
            return Err(SandboxError::NoEngine { tried: Vec::new() });
        };
        let what = TaskContainer { image: before.image.clone(), ..what.clone() };
        self.container = Some(engine.open_task(&what).await?);
        self.known = before.known.clone();
        (self.was_played, self.was_verified) = (before.was_played, before.was_verified);
        self.ready().await
    }

    /// Takes away what the trial has in the engine beside its container.
    pub(super) async fn forget(&self) {
        let link = self.play.link().await;
        if let Err(error) = link.containers.release(&self.owner).await {
            tracing::warn!(%error, "the way of a task to the gateway could not be removed");
        }
        if let Containers::Engine(engine) = &link.containers
            && self.play.settings.restore_before_try
            && let Err(error) = engine.remove_snapshots(&self.owner).await
        {
            tracing::warn!(%error, "the snapshots of a task could not be removed");
        }
    }
}
