//! One step of a trial: the files for the container, the player, and the verifier.
//!
//! The player cannot see the suite or write its verdict: `/tests` and `/logs/verifier` are emptied before each call of the player
//! and again before the verifier, and the engine confirms it. Programs of the container are not asked. An agent with the rights
//! of root can still replace the programs that a verifier calls, as in every container that both share.

use std::time::{Duration, Instant};

use files::join;
use model::{EndReason, shell_word};
use sandbox::{ContainerEnd, ContainerFile, SandboxError};

use super::file::StepFile;
use super::in_container::{
    PREPARE_SECONDS, StepFailure, container_failure_reason, end_of_output, whole_seconds,
};
use super::player::Player;
use super::reward;
use super::step_result::StepResult;
use super::trial::Trial;
use crate::live::Phase;
use crate::settings::{TaskProtocol, TaskSettings, TaskTimeout};

/// Most bytes of an agent's and of a verifier's files that a step copies out of the container.
const LEFT: u64 = 64 << 20;
/// Most sources of artifacts of a step.
const MOST_SOURCES: usize = 64;
/// What an earlier step kept is not kept again.
const ARTIFACTS_EMPTIED: &str =
    "rm -rf /logs/artifacts && mkdir -p /logs/artifacts && chmod 777 /logs/artifacts";
/// How long to wait for the end of a container that refuses a command.
const SETTLED: Duration = Duration::from_millis(500);

impl Trial<'_> {
    /// Runs one step. Errors are those of the engine.
    pub(super) async fn step(&mut self, step: &StepFile) -> Result<StepResult, SandboxError> {
        let mut played = StepResult::default();
        self.is_as_kept = false;
        match self.phases(step, &mut played).await {
            Ok(()) => Ok(played),
            Err(StepFailure::Engine(error)) => match self.player_end_reason(&error).await? {
                Some(reason) => Ok(played.end(reason, "ContainerError", &error.to_string())),
                None => Err(error),
            },
            Err(StepFailure::Ended(reason, kind, message)) => Ok(played.end(reason, kind, &message)),
        }
    }

    /// The end reason for an error of the engine in the container, if it is attributed to the player. `None` = it is not: no
    /// player has worked in it, the engine or its disk space is gone, or the run is stopped.
    async fn player_end_reason(&self, error: &SandboxError) -> Result<Option<EndReason>, SandboxError> {
        let is_refusal = matches!(error, SandboxError::Engine { is_gone: false, .. });
        if !is_refusal || !self.was_played || self.stop.is_cancelled() {
            return Ok(None);
        }
        let container = self.container()?;
        let mut runs = container.is_running().await?;
        if runs {
            // It may be about to end.
            tokio::time::sleep(SETTLED).await;
            runs = container.is_running().await?;
        }
        Ok(Some(if runs { EndReason::AgentError } else { EndReason::KilledItself }))
    }

    async fn phases(&mut self, step: &StepFile, played: &mut StepResult) -> Result<(), StepFailure> {
        // Before the first step as well: an image may have a suite in it.
        self.empty().await?;
        if self.was_verified {
            self.command(ARTIFACTS_EMPTIED.to_owned(), Some("root"), &[], PREPARE_SECONDS).await?;
        }
        // A further attempt finds the step as the one before left it, unless each begins from the snapshot.
        if self.attempt == 1 || self.context.settings.restore_before_try {
            self.set_up(step).await?;
        }
        self.know_processes().await?;
        self.agent(step, played).await?;
        self.artifacts(step, played).await?;
        let raised = played.raised.as_ref().map(|(reason, _)| *reason);
        if raised.is_some_and(|reason| !is_graded(self.context.settings.tasks.as_ref(), reason)) {
            played.is_over = true;
            return Ok(());
        }
        self.end_processes().await?;
        match self.keep_where_processes_run().await? {
            None => self.verify(step, played).await,
            Some(kept) => Box::pin(self.verify_twice(step, played, kept)).await,
        }
    }

    /// Prepares the container for a step: its files, its script, its health check.
    pub(super) async fn set_up(&mut self, step: &StepFile) -> Result<(), StepFailure> {
        let user = step.agent_user.as_deref();
        self.lay_workdir(step).await?;
        if self.task.step_path(self.tree(), step, "workdir/setup.sh").is_some() {
            self.status.phase(Phase::Preparing, "setup.sh runs");
            let script = format!("bash {}", shell_word(&join(&self.workdir, "setup.sh")));
            let end = self.command(script, user, &[], self.context.settings.limits.seconds).await?;
            if end.exit.code != Some(0) {
                let message = format!("setup.sh {}: {}", describe_exit(&end), end_of_output(&end.stderr));
                let reason = container_failure_reason(self.was_played, EndReason::AgentError);
                return Err(StepFailure::Ended(reason, "SetupError", message));
            }
        }
        match &step.health {
            Some(health) => self.healthy(health, user).await,
            None => Ok(()),
        }
    }

    /// Calls the player.
    async fn agent(&mut self, step: &StepFile, played: &mut StepResult) -> Result<(), StepFailure> {
        match self.player {
            None => return self.harness(step, played).await,
            Some(Player::Nop) => {
                played.agent_seconds = Some(0.0);
                return Ok(());
            }
            Some(Player::Oracle) => {}
        }
        self.status.phase(Phase::Agent, "the player works");
        let began = Instant::now();
        let Some(folder) = self.task.solution(self.tree(), step) else {
            played.agent_seconds = Some(0.0);
            played.raise(EndReason::Environment, "FileNotFoundError", "The step has no solution/solve.sh");
            return Ok(());
        };
        self.lay(&folder, "solution", "/").await?;
        let user = step.agent_user.as_deref();
        self.command("chmod +x /solution/solve.sh".to_owned(), Some("root"), &[], PREPARE_SECONDS).await?;
        let seconds = step.agent_seconds.unwrap_or(self.context.settings.limits.seconds as f64);
        let mut env = vec![("DEBIAN_FRONTEND".to_owned(), "noninteractive".to_owned())];
        env.extend(self.variables(&self.file.solution_env)?);
        let is_first = !self.was_played;
        self.was_played = true;
        let script = "exec 2>&1; /solution/solve.sh".to_owned();
        let end = match self.command(script, user, &env, whole_seconds(seconds)).await {
            // A player that could not be started has not worked: its user is not there, for one.
            Err(StepFailure::Engine(error)) if is_first => {
                self.was_played = !self.container()?.is_running().await?;
                return Err(StepFailure::Engine(error));
            }
            end => end?,
        };
        played.agent_seconds = Some(began.elapsed().as_secs_f64());
        if end.exit.timed_out {
            let message = format!("Agent execution timed out after {seconds} seconds");
            played.raise(EndReason::AgentTimeout, "AgentTimeoutError", &message);
        }
        self.status.on_output(&end.stdout);
        self.status.on_output_end();
        played.agent = end;
        Ok(())
    }

    /// Copies the artifacts that the step names, as the agent left them.
    async fn artifacts(&mut self, step: &StepFile, played: &mut StepResult) -> Result<(), StepFailure> {
        let container = self.container()?;
        let mut sources = vec![("/logs/artifacts".to_owned(), String::new())];
        sources.extend(
            step.artifacts.iter().map(|artifact| (artifact.source.clone(), artifact.destination.clone())),
        );
        let mut room = LEFT;
        for (number, (source, destination)) in sources.into_iter().enumerate() {
            if number >= MOST_SOURCES || room == 0 {
                played.left_out.push(source);
                continue;
            }
            let taken = match container.files(&source, room).await {
                Ok(Some(taken)) => taken,
                Ok(None) => continue,
                // A path that leads through a file, for one.
                Err(error @ SandboxError::Engine { is_gone: false, .. }) => {
                    tracing::debug!(%error, source, "an artifact could not be taken out");
                    played.left_out.push(source);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            room = room.saturating_sub(taken.bytes);
            let name = files::file_name(source.trim_end_matches('/')).to_owned();
            if !taken.is_whole {
                played.left_out.push(source);
            }
            for file in taken.files {
                // A single file has its own name, which its destination replaces.
                let path = if file.path == name && !destination.is_empty() {
                    destination.clone()
                } else {
                    join(&destination, &file.path)
                };
                played
                    .kept_files
                    .push(ContainerFile { path: join("artifacts", &path), content: file.content });
            }
        }
        Ok(())
    }

    /// Runs the verifier and reads its results.
    pub(super) async fn verify(
        &mut self,
        step: &StepFile,
        played: &mut StepResult,
    ) -> Result<(), StepFailure> {
        self.status.phase(Phase::Testing, "the verifier runs");
        let began = Instant::now();
        self.empty().await?;
        self.was_verified = true;
        let suites =
            [self.task.task_path(self.tree(), "tests"), self.task.step_path(self.tree(), step, "tests")];
        for folder in suites.into_iter().flatten() {
            self.lay(&folder, "tests", "/").await?;
        }
        self.command("chmod +x /tests/test.sh".to_owned(), Some("root"), &[], PREPARE_SECONDS).await?;
        let env = self.variables(&step.verifier_env)?;
        let user = step.verifier_user.as_deref();
        let script = "exec 2>&1; /tests/test.sh".to_owned();
        let end = self.command(script, user, &env, whole_seconds(step.verifier_seconds)).await?;
        played.test_seconds = Some(began.elapsed().as_secs_f64());
        played.tests = Some(end.stdout);
        if end.exit.timed_out {
            let message = format!("Verifier execution timed out after {} seconds", step.verifier_seconds);
            played.raise(EndReason::VerifierTimeout, "VerifierTimeoutError", &message);
            return Ok(());
        }
        let container = self.container()?;
        // By their names: what else lies there may be more than is taken out.
        let mut files = Vec::new();
        for name in reward::FILES {
            if let Some(content) = container.file(&join("/logs/verifier", name), reward::TAKEN).await? {
                files.push(ContainerFile { path: name.to_owned(), content });
            }
        }
        match reward::read(&files) {
            Ok(rewards) => played.rewards = Some(rewards),
            Err(none) => played.raise(EndReason::VerifierError, none.kind, &none.message),
        }
        match container.files("/logs/verifier", LEFT).await {
            Ok(Some(rest)) => {
                let is_new = |file: &ContainerFile| !reward::FILES.contains(&file.path.as_str());
                files.extend(rest.files.into_iter().filter(is_new));
                if !rest.is_whole {
                    played.left_out.push("/logs/verifier".to_owned());
                }
            }
            Ok(None) => {}
            // There is a verdict without it.
            Err(error) => {
                tracing::warn!(%error, "what a verifier left could not be taken out");
                played.left_out.push("/logs/verifier".to_owned());
            }
        }
        let kept =
            files.into_iter().map(|file| ContainerFile { path: join(reward::KEPT_IN, &file.path), ..file });
        played.kept_files.extend(kept);
        Ok(())
    }

    /// Copies the step's files into the working folder.
    async fn lay_workdir(&self, step: &StepFile) -> Result<(), StepFailure> {
        let Some(folder) = self.task.step_path(self.tree(), step, "workdir") else { return Ok(()) };
        // What is there stays as it is: its owner, its mode, or a link.
        let workdir = shell_word(&self.workdir);
        let script = format!("[ -d {workdir} ] || mkdir -p {workdir}");
        self.command_in(Some("/"), script, Some("root"), &[], PREPARE_SECONDS).await?;
        self.lay(&folder, "", &self.workdir).await
    }
}

/// Whether a step is verified whose agent ended for a reason. MT@k and SR of the paper take a try for passed only where its agent
/// raised nothing: one that did not end by itself, or ended with an error, is not verified there.
fn is_graded(tasks: Option<&TaskSettings>, reason: EndReason) -> bool {
    let Some(tasks) = tasks else { return true };
    match (tasks.protocol, tasks.timeout) {
        // It ended by itself, or its task has no solution.
        (Some(TaskProtocol::MtAtK | TaskProtocol::Sr), _) => {
            matches!(reason, EndReason::GaveUp | EndReason::NoChange | EndReason::Environment)
        }
        (_, TaskTimeout::Stop) => reason != EndReason::AgentTimeout,
        (_, TaskTimeout::Graded) => true,
    }
}

fn describe_exit(end: &ContainerEnd) -> String {
    match end.exit.code {
        _ if end.exit.timed_out => "took too long".to_owned(),
        Some(code) => format!("exited with code {code}"),
        None => "was ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_of_mt_at_k_whose_agent_raised_something_is_not_graded() {
        use EndReason as R;
        let task_settings = |protocol, timeout| TaskSettings {
            folder: "/t".into(),
            timeout,
            background: crate::settings::TaskBackground::Check,
            session: crate::settings::TaskSession::Continue,
            snapshots: crate::settings::TaskSnapshots::None,
            protocol,
        };
        let alone = task_settings(Some(TaskProtocol::Sr), TaskTimeout::Stop);
        assert!(!is_graded(Some(&alone), R::AgentError) && is_graded(Some(&alone), R::GaveUp));
        let tries = task_settings(Some(TaskProtocol::MtAtK), TaskTimeout::Stop);
        let raised = [R::AgentTimeout, R::AgentError, R::ContextOverflow, R::ToolCallFormat, R::LoopDetected];
        for reason in raised.into_iter().chain([R::AttemptBudget, R::Budget]) {
            assert!(!is_graded(Some(&tries), reason), "{reason:?}");
        }
        for reason in [R::GaveUp, R::NoChange] {
            assert!(is_graded(Some(&tries), reason), "{reason:?}");
        }
        let (stop, graded) =
            (task_settings(None, TaskTimeout::Stop), task_settings(None, TaskTimeout::Graded));
        assert!(!is_graded(Some(&stop), R::AgentTimeout) && is_graded(Some(&stop), R::AgentError));
        assert!(is_graded(Some(&graded), R::AgentTimeout) && is_graded(None, R::AgentTimeout));
    }
}
