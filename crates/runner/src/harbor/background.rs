//! Processes that still run in the container of a task when its agent has ended.
//!
//! With Harbor they go on, and one that waits for the verdict can rewrite it while the verifier runs. The settings can have them
//! ended instead (`harbor.background=end`), with every other process of the container: no program of the container is asked,
//! the engine ends it and starts it anew with its files as they are.

use super::step::{Broken, ORDER};
use super::trial::{Trial, not_open};
use crate::live::Phase;
use crate::settings::TaskBackground;

impl Trial<'_> {
    /// Ends whatever still runs in the container, where the settings ask for it: what an agent has left in the background
    /// cannot write what the verifier is about to. What the image starts begins anew, and is waited for.
    pub(super) async fn end_processes(&mut self) -> Result<(), Broken> {
        let background = self.play.settings.tasks.as_ref().map(|tasks| tasks.background);
        if background != Some(TaskBackground::End) || self.play.stop.is_cancelled() {
            return Ok(());
        }
        self.status.phase(Phase::Testing, "processes of the agent are ended");
        self.container.as_mut().ok_or_else(not_open)?.restart().await?;
        // One that does not run says here why.
        self.command_in(Some("/"), "true".to_owned(), Some("root"), &[], ORDER).await?;
        match &self.file.health {
            Some(health) => self.healthy(health, None).await,
            None => Ok(()),
        }
    }
}
