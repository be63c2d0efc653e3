//! What is done in the container of a trial: files are laid into it, folders emptied, commands run, and its health is checked.

use std::time::{Duration, Instant};

use model::{EndReason, one_line};
use sandbox::{ContainerEnd, PackedFiles, SandboxError, TaskCommand};

use super::archives;
use super::file::Health;
use super::task::variables;
use super::trial::Trial;
use crate::record::{Exception, exception};

/// Seconds of the commands that prepare folders.
pub(super) const PREPARE_SECONDS: u64 = 120;
/// Commands before a player and a verifier: both folders must be empty.
const EMPTIED: [&str; 2] = ["/tests", "/logs/verifier"];
/// Longest part of an error output in a message.
const ERROR_OUTPUT_BYTES: usize = 500;

/// Why a step cannot continue: the container or the engine, or a limit of the container.
pub(super) enum StepFailure {
    Engine(SandboxError),
    Ended(EndReason, &'static str, String),
}

impl From<SandboxError> for StepFailure {
    fn from(error: SandboxError) -> Self {
        Self::Engine(error)
    }
}

impl Trial<'_> {
    /// Empties the folders of the verifier, and confirms it with the engine.
    pub(super) async fn empty(&self) -> Result<(), StepFailure> {
        let script =
            "rm -rf /tests /logs/verifier && mkdir -p /tests /logs/verifier && chmod 777 /logs/verifier";
        self.command_in(Some("/"), script.to_owned(), Some("root"), &[], PREPARE_SECONDS).await?;
        for folder in EMPTIED {
            if !self.container()?.is_empty(folder).await? {
                let message = format!(
                    "{folder} could not be emptied: what an agent left there, or a program that it replaced, would be graded"
                );
                let reason = container_failure_reason(self.was_played, EndReason::AgentError);
                return Err(StepFailure::Ended(reason, "FolderNotEmptied", message));
            }
        }
        Ok(())
    }

    /// Lays a folder of the task into the container, as `target` below `place`. If `target` is empty, lays only what
    /// lies in the folder.
    pub(super) async fn lay(&self, folder: &str, target: &str, place: &str) -> Result<(), StepFailure> {
        let (tasks, folder, target) = (self.tasks.clone(), folder.to_owned(), target.to_owned());
        let packed = tokio::task::spawn_blocking(move || {
            let mut packed = PackedFiles::changed_now();
            let added = if target.is_empty() { Ok(()) } else { packed.folder(&target, false) };
            added.map_err(|error| error.to_string())?;
            archives::folder(&tasks.tree, &folder, &target, &mut packed).map(|()| packed)
        });
        let packed = packed.await.map_err(|panicked| panicked.to_string()).and_then(|packed| packed);
        match packed {
            Ok(packed) => Ok(self.container()?.put(place, packed).await?),
            Err(message) => Err(StepFailure::Ended(EndReason::Environment, "TaskFiles", message)),
        }
    }

    /// Runs a command in the container. One that the disk limit ended, or that lost its container, ends the trial.
    pub(super) async fn command(
        &self,
        script: String,
        user: Option<&str>,
        env: &[(String, String)],
        seconds: u64,
    ) -> Result<ContainerEnd, StepFailure> {
        self.command_in(self.file.workdir.as_deref(), script, user, env, seconds).await
    }

    /// The same in another folder than the task's.
    pub(super) async fn command_in(
        &self,
        folder: Option<&str>,
        script: String,
        user: Option<&str>,
        env: &[(String, String)],
        seconds: u64,
    ) -> Result<ContainerEnd, StepFailure> {
        let folder = folder.map(str::to_owned);
        let (env, user) = (env.to_vec(), user.map(str::to_owned));
        let command = TaskCommand { script, env, user, folder, seconds, ..TaskCommand::default() };
        let end = self.container()?.run(&command, &self.stop).await?;
        if end.exit.disk_full {
            let message = "the disk limit of the container ended it".to_owned();
            return Err(StepFailure::Ended(EndReason::AgentError, "DiskLimit", message));
        }
        if end.exit.code.is_none() && !end.exit.timed_out && !end.exit.stopped {
            let message = "the container of the task ended while a command ran in it".to_owned();
            let reason = container_failure_reason(self.was_played, EndReason::KilledItself);
            return Err(StepFailure::Ended(reason, "ContainerLost", message));
        }
        Ok(end)
    }

    /// Waits until a health check of the task succeeds: a failure counts after its start period.
    pub(super) async fn healthy(&self, health: &Health, user: Option<&str>) -> Result<(), StepFailure> {
        let began = Instant::now();
        let mut failures = 0;
        loop {
            let is_starting = began.elapsed().as_secs_f64() < health.start_period;
            let end = self.command(health.command.clone(), user, &[], whole_seconds(health.timeout)).await?;
            if end.exit.code == Some(0) || end.exit.stopped {
                return Ok(());
            }
            let pause = if is_starting { health.start_interval } else { health.interval };
            failures += u32::from(!is_starting);
            if failures >= health.retries {
                let message = format!(
                    "the health check failed {failures} times: {}",
                    one_line(&health.command, ERROR_OUTPUT_BYTES)
                );
                let reason = container_failure_reason(self.was_played, EndReason::AgentError);
                return Err(StepFailure::Ended(reason, "HealthcheckError", message));
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs_f64(pause)) => {}
                () = self.stop.cancelled() => return Ok(()),
            }
        }
    }

    /// The check of the whole environment, once its container runs.
    pub(super) async fn ready(&self) -> Result<Option<(EndReason, Exception)>, SandboxError> {
        let Some(health) = &self.file.health else { return Ok(None) };
        match self.healthy(health, None).await {
            Ok(()) => Ok(None),
            Err(StepFailure::Engine(error)) => Err(error),
            Err(StepFailure::Ended(reason, kind, message)) => Ok(Some((reason, exception(kind, &message)))),
        }
    }

    pub(super) fn variables(
        &self,
        env: &std::collections::BTreeMap<String, String>,
    ) -> Result<Vec<(String, String)>, StepFailure> {
        variables(env, &self.context.forwarded)
            .map_err(|message| StepFailure::Ended(EndReason::Environment, "MissingVariable", message))
    }
}

/// The end reason of a trial whose container does not work: the environment until a player has worked in it. After that it
/// counts against the player. Otherwise a player could exclude any trial by breaking its container.
pub(super) fn container_failure_reason(was_played: bool, player_reason: EndReason) -> EndReason {
    if was_played { player_reason } else { EndReason::Environment }
}

/// Seconds, rounded up.
pub(super) fn whole_seconds(seconds: f64) -> u64 {
    seconds.ceil().max(1.0) as u64
}

/// The end of an output, in one line.
pub(super) fn end_of_output(output: &[u8]) -> String {
    let tail = output.get(output.len().saturating_sub(ERROR_OUTPUT_BYTES)..).unwrap_or_default();
    one_line(&String::from_utf8_lossy(tail), ERROR_OUTPUT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: Tasks of Harbor
    fn a_player_cannot_have_its_trial_taken_out_of_the_count() {
        let policy = model::CensoringPolicy::default();
        for reason in [EndReason::AgentError, EndReason::KilledItself] {
            assert_eq!(container_failure_reason(true, reason), reason);
            assert_eq!(policy.ending(container_failure_reason(true, reason)), model::Ending::Event);
            assert_eq!(policy.ending(container_failure_reason(false, reason)), model::Ending::Censored);
        }
    }

    #[test]
    fn seconds_are_rounded_up() {
        assert_eq!((whole_seconds(0.2), whole_seconds(5.0), whole_seconds(5.1)), (1, 5, 6));
    }
}
