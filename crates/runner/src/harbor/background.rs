//! Processes that still run in the container of a task when its agent has ended.
//!
//! With Harbor they go on, and one that waits for the verdict can rewrite it while the verifier runs. The settings can have them
//! ended instead (`harbor.background=end`), with every other process of the container: no program of the container is asked,
//! the engine ends it and starts it anew with its files as they are.

use std::time::Duration;

use model::EndReason;
use sandbox::{Containers, OpenTask, SandboxError, TaskCommand};

use super::step::{Broken, ORDER, blamed};
use super::trial::{Trial, not_open};
use crate::live::Phase;
use crate::settings::TaskBackground;

/// How long a container that was started anew has to end by itself.
const SETTLED: Duration = Duration::from_millis(500);

impl Trial<'_> {
    /// Ends whatever still runs in the container, where the settings ask for it: what an agent has left in the background
    /// cannot write what the verifier is about to. What the image starts begins anew, and is waited for.
    pub(super) async fn end_processes(&mut self) -> Result<(), Broken> {
        let background = self.play.settings.tasks.as_ref().map(|tasks| tasks.background);
        if background != Some(TaskBackground::End) || self.play.stop.is_cancelled() {
            return Ok(());
        }
        self.status.phase(Phase::Testing, "processes of the agent are ended");
        let container = self.container.as_mut().ok_or_else(not_open)?;
        let restarted = match container.restart().await {
            Ok(()) => self.runs(self.container()?).await,
            Err(error) => Err(error),
        };
        match restarted {
            Ok(true) => {}
            Ok(false) => return Err(Box::pin(self.not_restarted("it ends at once")).await?),
            Err(SandboxError::Engine { is_gone: false, why, .. }) if !self.play.stop.is_cancelled() => {
                return Err(Box::pin(self.not_restarted(&why)).await?);
            }
            Err(error) => return Err(error.into()),
        }
        match &self.file.health {
            Some(health) => self.healthy(health, None).await,
            None => Ok(()),
        }
    }

    /// Whether a container works that was just started. One that its disk limit has ended says so when the next command runs.
    async fn runs(&self, container: &OpenTask) -> Result<bool, SandboxError> {
        let hello = TaskCommand {
            script: "true".to_owned(),
            user: Some("root".to_owned()),
            folder: Some("/".to_owned()),
            seconds: ORDER,
            ..TaskCommand::default()
        };
        let end = container.run(&hello, &self.play.stop).await?;
        if end.exit.stopped || end.exit.disk_full {
            return Ok(true);
        }
        tokio::time::sleep(SETTLED).await;
        Ok(end.exit.code == Some(0) && container.is_running().await?)
    }

    /// Why a container cannot be started anew. An agent can bring that about, and so can an image or an engine: where a container
    /// in which nobody has worked, or its way to the gateway, fails as well, it is not the agent's doing.
    async fn not_restarted(&mut self, why: &str) -> Result<Broken, SandboxError> {
        let has_way = self.container()?.has_way().await?;
        let is_of_player = has_way && self.untouched_restarts().await?;
        let (reason, kind) = if is_of_player {
            (blamed(self.was_played, EndReason::KilledItself), "ContainerLost")
        } else {
            (EndReason::Environment, "EnvironmentError")
        };
        let message = format!("the container cannot be started anew before the verifier: {why}");
        Ok(Broken::Ended(reason, kind, message))
    }

    /// Whether a container of the task in which nobody has worked can be started anew. It takes the place of the trial's, which
    /// is of no use any more.
    async fn untouched_restarts(&mut self) -> Result<bool, SandboxError> {
        if let Some(container) = self.container.take() {
            container.close().await?;
        }
        let link = self.play.link().await;
        let (Containers::Engine(engine), Some(what)) = (&link.containers, &self.what) else {
            return Err(SandboxError::NoEngine { tried: Vec::new() });
        };
        let opened = engine.open_task(what).await;
        let mut container = match opened {
            Ok(container) => container,
            Err(error @ SandboxError::Engine { is_gone: true, .. }) => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "a container of a task cannot be opened to see whether it starts anew");
                return Ok(false);
            }
        };
        let restarts = match container.restart().await {
            Ok(()) => self.runs(&container).await,
            Err(error) => Err(error),
        };
        self.container = Some(container);
        match restarts {
            Err(error @ SandboxError::Engine { is_gone: true, .. }) => Err(error),
            restarts => Ok(restarts.unwrap_or(false)),
        }
    }
}
