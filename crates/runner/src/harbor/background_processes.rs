//! Processes that still run in the container of a task when its agent has ended.
//!
//! With Harbor they go on, and one that waits for the verdict can rewrite it while the verifier runs. The settings can have them
//! ended instead (`harbor.background=end`), with every other process of the container: no program of the container is asked,
//! the engine ends it and starts it anew with its files as they are.

use std::time::Duration;

use model::EndReason;
use sandbox::{Containers, OpenTask, SandboxError, TaskCommand};

use super::in_container::{PREPARE_SECONDS, StepFailure, container_failure_reason};
use super::trial::{Trial, not_open_error};
use crate::live::Phase;
use crate::settings::TaskBackground;

/// How long a restarted container may take to end on its own.
const SETTLE_TIME: Duration = Duration::from_millis(500);

impl Trial<'_> {
    /// Ends whatever still runs in the container, where the settings ask for it: what an agent has left in the background
    /// cannot write what the verifier is about to. What the image starts begins anew, and is waited for.
    pub(super) async fn end_processes(&mut self) -> Result<(), StepFailure> {
        let background = self.context.settings.tasks.as_ref().map(|tasks| tasks.background);
        if background != Some(TaskBackground::End) || self.stop.is_cancelled() {
            return Ok(());
        }
        self.status.phase(Phase::Testing, "processes of the agent are ended");
        let container = self.container.as_mut().ok_or_else(not_open_error)?;
        let restarted = match container.restart().await {
            Ok(()) => self.runs(self.container()?).await,
            Err(error) => Err(error),
        };
        let reason = match restarted {
            Ok(true) => None,
            Ok(false) => Some("it ends at once".to_owned()),
            Err(SandboxError::Engine { is_gone: false, reason, .. }) if !self.stop.is_cancelled() => {
                Some(reason)
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(reason) = reason {
            let message = format!("the container cannot be started anew before the verifier: {reason}");
            let broken = self.attributed(EndReason::KilledItself, "ContainerLost", message);
            return Err(Box::pin(broken).await?);
        }
        let file = self.file;
        let Some(health) = &file.health else { return Ok(()) };
        match self.healthy(health, None).await {
            Err(StepFailure::Ended(reason, kind, message)) if !self.stop.is_cancelled() => {
                let message = format!("{message}, after the container was started anew");
                Err(Box::pin(self.attributed(reason, kind, message)).await?)
            }
            ended => ended,
        }
    }

    /// Whether a container works that was just started. One that its disk limit has ended says so when the next command runs.
    async fn runs(&self, container: &OpenTask) -> Result<bool, SandboxError> {
        let hello = TaskCommand {
            script: "true".to_owned(),
            user: Some("root".to_owned()),
            folder: Some("/".to_owned()),
            seconds: PREPARE_SECONDS,
            ..TaskCommand::default()
        };
        let end = container.run(&hello, &self.stop).await?;
        if end.exit.stopped || end.exit.disk_full {
            return Ok(true);
        }
        tokio::time::sleep(SETTLE_TIME).await;
        Ok(end.exit.code == Some(0) && container.is_running().await?)
    }

    /// What ends a step whose container does not work when it is started anew. An agent can bring that about (`of_player`), and so
    /// can an image or an engine: where a container in which nobody has worked, or the way to the gateway, fails as well, it is not
    /// the agent's doing.
    async fn attributed(
        &mut self,
        player_reason: EndReason,
        kind: &'static str,
        message: String,
    ) -> Result<StepFailure, SandboxError> {
        let has_running_relay = self.container()?.has_running_relay().await?;
        Ok(if has_running_relay && self.untouched_restarts().await? {
            StepFailure::Ended(container_failure_reason(self.was_played, player_reason), kind, message)
        } else {
            StepFailure::Ended(EndReason::Environment, "EnvironmentError", message)
        })
    }

    /// Whether a container of the task in which nobody has worked can be started anew. It takes the place of the trial's, which
    /// is of no use any more.
    async fn untouched_restarts(&mut self) -> Result<bool, SandboxError> {
        if let Some(container) = self.container.take() {
            container.close().await?;
        }
        let connections = self.context.connections().await;
        let (Containers::Engine(engine), Some(container_settings)) =
            (&connections.containers, &self.container_settings)
        else {
            return Err(SandboxError::NoEngine { tried: Vec::new() });
        };
        match engine.open_task(container_settings).await {
            Ok(container) => self.container = Some(container),
            Err(error) => return false_unless_gone(error),
        }
        self.restarts().await
    }

    /// Whether the container works when it is started anew, and is ready before and after that.
    pub(super) async fn restarts(&mut self) -> Result<bool, SandboxError> {
        // What its image starts is to have begun, as it has in the container of a trial: what is ended before that begins twice.
        match self.runs(self.container()?).await {
            Ok(true) if self.is_ready().await? => {}
            Ok(_) => return Ok(false),
            Err(error) => return false_unless_gone(error),
        }
        let container = self.container.as_mut().ok_or_else(not_open_error)?;
        let restarted = match container.restart().await {
            Ok(()) => self.runs(self.container()?).await,
            Err(error) => Err(error),
        };
        match restarted {
            Ok(true) => self.is_ready().await,
            Ok(false) => Ok(false),
            Err(error) => false_unless_gone(error),
        }
    }

    /// Whether the environment's health check succeeds.
    async fn is_ready(&self) -> Result<bool, SandboxError> {
        let Some(health) = &self.file.health else { return Ok(true) };
        match self.healthy(health, None).await {
            Ok(()) => Ok(true),
            Err(StepFailure::Ended(..)) => Ok(false),
            Err(StepFailure::Engine(error)) => false_unless_gone(error),
        }
    }
}

/// False for an error of the engine, unless it is gone: that says nothing of a container.
pub(super) fn false_unless_gone(error: SandboxError) -> Result<bool, SandboxError> {
    match error {
        SandboxError::Engine { is_gone: true, .. } => Err(error),
        error => {
            tracing::warn!(%error, "a container of a task in which nobody has worked cannot be started anew");
            Ok(false)
        }
    }
}
