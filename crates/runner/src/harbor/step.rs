//! One step of a trial: the files for the container, the player, and the verifier.
//!
//! The player cannot see the suite or write its verdict: `/tests` and `/logs/verifier` are emptied before each call of the player
//! and again before the verifier, and the engine confirms it. Programs of the container are not asked. An agent with the rights
//! of root can still replace the programs that a verifier calls, as in every container that both share.

use std::time::{Duration, Instant};

use files::join;
use model::EndReason;
use sandbox::{ContainerEnd, FileLeft, Packed, SandboxError, TaskCommand};

use super::archives;
use super::call::CallLeft;
use super::file::{Health, StepFile};
use super::player::Player;
use super::reward::{self, Rewards};
use super::task::variables;
use super::trial::Trial;
use crate::agent_end::exception;
use crate::live::Phase;
use crate::record::{Exception, one_line};
use crate::settings::{TaskProtocol, TaskSettings, TaskTimeout};

/// Most bytes of an agent's and of a verifier's files that a step copies out of the container.
const LEFT: u64 = 64 << 20;
/// Most sources of artifacts of a step.
const MOST_SOURCES: usize = 64;
/// Seconds of the commands that prepare folders.
pub(super) const ORDER: u64 = 120;
/// Commands before a player and a verifier: both folders must be empty.
const EMPTIED: [&str; 2] = ["/tests", "/logs/verifier"];
/// What an earlier step kept is not kept again.
const ARTIFACTS_EMPTIED: &str =
    "rm -rf /logs/artifacts && mkdir -p /logs/artifacts && chmod 777 /logs/artifacts";
/// How long to wait for the end of a container that refuses a command.
const SETTLED: Duration = Duration::from_millis(500);
/// Longest part of an error output in a message.
const SAID: usize = 500;

/// The results of a step.
#[derive(Default)]
pub(super) struct Played {
    /// What the player printed.
    pub(super) agent: ContainerEnd,
    pub(super) agent_seconds: Option<f64>,
    /// What the verifier printed, both streams in one; `None` = there was none.
    pub(super) tests: Option<Vec<u8>>,
    pub(super) test_seconds: Option<f64>,
    pub(super) rewards: Option<Rewards>,
    /// The first failure, and its end reason.
    pub(super) raised: Option<(EndReason, Exception)>,
    /// Files that are kept of the step, as paths below its folder.
    pub(super) left: Vec<FileLeft>,
    /// Paths of the container that were not copied completely.
    pub(super) left_out: Vec<String>,
    /// Whether no step can follow, whatever the rewards are.
    pub(super) is_over: bool,
    /// The call of a harness; `None` = none was called.
    pub(super) call: Option<CallLeft>,
}

impl Played {
    pub(super) fn raise(&mut self, reason: EndReason, kind: &str, message: &str) {
        self.raised.get_or_insert_with(|| (reason, exception(kind, message)));
    }

    /// The same for what lets nothing follow.
    fn end(mut self, reason: EndReason, kind: &str, message: &str) -> Self {
        self.raise(reason, kind, message);
        self.is_over = true;
        self
    }
}

/// Why a step cannot continue: the container or the engine, or a limit of the container.
pub(super) enum Broken {
    Engine(SandboxError),
    Ended(EndReason, &'static str, String),
}

impl From<SandboxError> for Broken {
    fn from(error: SandboxError) -> Self {
        Self::Engine(error)
    }
}

impl Trial<'_> {
    /// Runs one step. Errors are those of the engine.
    pub(super) async fn step(&mut self, step: &StepFile) -> Result<Played, SandboxError> {
        let mut played = Played::default();
        self.is_as_kept = false;
        match self.phases(step, &mut played).await {
            Ok(()) => Ok(played),
            Err(Broken::Engine(error)) => match self.of_player(&error).await? {
                Some(reason) => Ok(played.end(reason, "ContainerError", &error.to_string())),
                None => Err(error),
            },
            Err(Broken::Ended(reason, kind, message)) => Ok(played.end(reason, kind, &message)),
        }
    }

    /// The end reason for an error of the engine in the container, if it is attributed to the player. `None` = it is not: no
    /// player has worked in it, the engine or its disk space is gone, or the run is stopped.
    async fn of_player(&self, error: &SandboxError) -> Result<Option<EndReason>, SandboxError> {
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

    async fn phases(&mut self, step: &StepFile, played: &mut Played) -> Result<(), Broken> {
        // Before the first step as well: an image may have a suite in it.
        self.empty().await?;
        if self.was_verified {
            self.command(ARTIFACTS_EMPTIED.to_owned(), Some("root"), &[], ORDER).await?;
        }
        // A further attempt finds the step as the one before left it, unless each begins from the snapshot.
        if self.attempt == 1 || self.context.settings.restore_before_try {
            self.set_up(step).await?;
        }
        self.agent(step, played).await?;
        self.artifacts(step, played).await?;
        let raised = played.raised.as_ref().map(|(reason, _)| *reason);
        if raised.is_some_and(|reason| !is_graded(self.context.settings.tasks.as_ref(), reason)) {
            played.is_over = true;
            return Ok(());
        }
        self.end_processes().await?;
        self.verify(step, played).await
    }

    /// Prepares the container for a step: its files, its script, its health check.
    pub(super) async fn set_up(&mut self, step: &StepFile) -> Result<(), Broken> {
        let user = step.agent_user.as_deref();
        self.lay_workdir(step).await?;
        if self.task.of_step(self.tree(), step, "workdir/setup.sh").is_some() {
            self.status.phase(Phase::Preparing, "setup.sh runs");
            let script = format!("bash {}", quoted(&join(&self.workdir, "setup.sh")));
            let end = self.command(script, user, &[], self.context.settings.limits.seconds).await?;
            if end.exit.code != Some(0) {
                let message = format!("setup.sh {}: {}", ended(&end), end_of_output(&end.stderr));
                let reason = blamed(self.was_played, EndReason::AgentError);
                return Err(Broken::Ended(reason, "SetupError", message));
            }
        }
        match &step.health {
            Some(health) => self.healthy(health, user).await,
            None => Ok(()),
        }
    }

    /// Calls the player.
    async fn agent(&mut self, step: &StepFile, played: &mut Played) -> Result<(), Broken> {
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
        self.command("chmod +x /solution/solve.sh".to_owned(), Some("root"), &[], ORDER).await?;
        let seconds = step.agent_seconds.unwrap_or(self.context.settings.limits.seconds as f64);
        let mut env = vec![("DEBIAN_FRONTEND".to_owned(), "noninteractive".to_owned())];
        env.extend(self.variables(&self.file.solution_env)?);
        let is_first = !self.was_played;
        self.was_played = true;
        let script = "exec 2>&1; /solution/solve.sh".to_owned();
        let end = match self.command(script, user, &env, whole(seconds)).await {
            // A player that could not be started has not worked: its user is not there, for one.
            Err(Broken::Engine(error)) if is_first => {
                self.was_played = !self.container()?.is_running().await?;
                return Err(Broken::Engine(error));
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
    async fn artifacts(&mut self, step: &StepFile, played: &mut Played) -> Result<(), Broken> {
        let container = self.container()?;
        let mut sources = vec![("/logs/artifacts".to_owned(), String::new())];
        sources.extend(step.artifacts.iter().map(|kept| (kept.source.clone(), kept.destination.clone())));
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
                played.left.push(FileLeft { path: join("artifacts", &path), content: file.content });
            }
        }
        Ok(())
    }

    /// Runs the verifier and reads its results.
    async fn verify(&mut self, step: &StepFile, played: &mut Played) -> Result<(), Broken> {
        self.status.phase(Phase::Testing, "the verifier runs");
        let began = Instant::now();
        self.empty().await?;
        self.was_verified = true;
        let suites = [self.task.of_task(self.tree(), "tests"), self.task.of_step(self.tree(), step, "tests")];
        for folder in suites.into_iter().flatten() {
            self.lay(&folder, "tests", "/").await?;
        }
        self.command("chmod +x /tests/test.sh".to_owned(), Some("root"), &[], ORDER).await?;
        let env = self.variables(&step.verifier_env)?;
        let user = step.verifier_user.as_deref();
        let script = "exec 2>&1; /tests/test.sh".to_owned();
        let end = self.command(script, user, &env, whole(step.verifier_seconds)).await?;
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
                files.push(FileLeft { path: name.to_owned(), content });
            }
        }
        match reward::read(&files) {
            Ok(rewards) => played.rewards = Some(rewards),
            Err(none) => played.raise(EndReason::VerifierError, none.kind, &none.why),
        }
        match container.files("/logs/verifier", LEFT).await {
            Ok(Some(rest)) => {
                let is_new = |file: &FileLeft| !reward::FILES.contains(&file.path.as_str());
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
        let kept = files.into_iter().map(|file| FileLeft { path: join("verifier", &file.path), ..file });
        played.left.extend(kept);
        Ok(())
    }

    /// Empties the folders of the verifier, and confirms it with the engine.
    pub(super) async fn empty(&self) -> Result<(), Broken> {
        let script =
            "rm -rf /tests /logs/verifier && mkdir -p /tests /logs/verifier && chmod 777 /logs/verifier";
        self.command_in(Some("/"), script.to_owned(), Some("root"), &[], ORDER).await?;
        for folder in EMPTIED {
            if !self.container()?.is_empty(folder).await? {
                let message = format!(
                    "{folder} could not be emptied: what an agent left there, or a program that it replaced, would be graded"
                );
                let reason = blamed(self.was_played, EndReason::AgentError);
                return Err(Broken::Ended(reason, "FolderNotEmptied", message));
            }
        }
        Ok(())
    }

    /// Copies the step's files into the working folder.
    async fn lay_workdir(&self, step: &StepFile) -> Result<(), Broken> {
        let Some(folder) = self.task.of_step(self.tree(), step, "workdir") else { return Ok(()) };
        // What is there stays as it is: its owner, its mode, or a link.
        let at = quoted(&self.workdir);
        let script = format!("[ -d {at} ] || mkdir -p {at}");
        self.command_in(Some("/"), script, Some("root"), &[], ORDER).await?;
        self.lay(&folder, "", &self.workdir).await
    }

    /// Lays a folder of the task into the container, as `to` below `at`; with an empty `to` only what lies in the folder.
    pub(super) async fn lay(&self, folder: &str, to: &str, at: &str) -> Result<(), Broken> {
        let (tasks, folder, to) = (self.tasks.clone(), folder.to_owned(), to.to_owned());
        let packed = tokio::task::spawn_blocking(move || {
            let mut packed = Packed::changed_now();
            let whole = if to.is_empty() { Ok(()) } else { packed.folder(&to, false) };
            whole.map_err(|error| error.to_string())?;
            archives::folder(&tasks.tree, &folder, &to, &mut packed).map(|()| packed)
        });
        let packed = packed.await.map_err(|panicked| panicked.to_string()).and_then(|packed| packed);
        match packed {
            Ok(packed) => Ok(self.container()?.put(at, packed).await?),
            Err(why) => Err(Broken::Ended(EndReason::Environment, "TaskFiles", why)),
        }
    }

    /// Runs a command in the container. One that the disk limit ended, or that lost its container, ends the trial.
    pub(super) async fn command(
        &self,
        script: String,
        user: Option<&str>,
        env: &[(String, String)],
        seconds: u64,
    ) -> Result<ContainerEnd, Broken> {
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
    ) -> Result<ContainerEnd, Broken> {
        let folder = folder.map(str::to_owned);
        let (env, user) = (env.to_vec(), user.map(str::to_owned));
        let what = TaskCommand { script, env, user, folder, seconds, ..TaskCommand::default() };
        let end = self.container()?.run(&what, &self.stop).await?;
        if end.exit.disk_full {
            let message = "the disk limit of the container ended it".to_owned();
            return Err(Broken::Ended(EndReason::AgentError, "DiskLimit", message));
        }
        if end.exit.code.is_none() && !end.exit.timed_out && !end.exit.stopped {
            let message = "the container of the task ended while a command ran in it".to_owned();
            let reason = blamed(self.was_played, EndReason::KilledItself);
            return Err(Broken::Ended(reason, "ContainerLost", message));
        }
        Ok(end)
    }

    /// Waits until a health check of the task succeeds: a failure counts after its start period.
    pub(super) async fn healthy(&self, health: &Health, user: Option<&str>) -> Result<(), Broken> {
        let began = Instant::now();
        let mut failures = 0;
        loop {
            let is_starting = began.elapsed().as_secs_f64() < health.start_period;
            let end = self.command(health.command.clone(), user, &[], whole(health.timeout)).await?;
            if end.exit.code == Some(0) || end.exit.stopped {
                return Ok(());
            }
            let pause = if is_starting { health.start_interval } else { health.interval };
            failures += u32::from(!is_starting);
            if failures >= health.retries {
                let message =
                    format!("the health check failed {failures} times: {}", one_line(&health.command, SAID));
                let reason = blamed(self.was_played, EndReason::AgentError);
                return Err(Broken::Ended(reason, "HealthcheckError", message));
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
            Err(Broken::Engine(error)) => Err(error),
            Err(Broken::Ended(reason, kind, message)) => Ok(Some((reason, exception(kind, &message)))),
        }
    }

    pub(super) fn variables(
        &self,
        env: &std::collections::BTreeMap<String, String>,
    ) -> Result<Vec<(String, String)>, Broken> {
        variables(env, &self.context.forwarded)
            .map_err(|why| Broken::Ended(EndReason::Environment, "MissingVariable", why))
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

/// The end reason of a trial whose container does not work: the environment until a player has worked in it. After that it
/// counts against the player, who could otherwise have any trial excluded.
pub(super) fn blamed(was_played: bool, of_player: EndReason) -> EndReason {
    if was_played { of_player } else { EndReason::Environment }
}

/// Seconds, rounded up.
pub(super) fn whole(seconds: f64) -> u64 {
    seconds.ceil().max(1.0) as u64
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn ended(end: &ContainerEnd) -> String {
    match end.exit.code {
        _ if end.exit.timed_out => "took too long".to_owned(),
        Some(code) => format!("exited with code {code}"),
        None => "was ended".to_owned(),
    }
}

/// The end of an output, in one line.
pub(super) fn end_of_output(output: &[u8]) -> String {
    let tail = output.get(output.len().saturating_sub(SAID)..).unwrap_or_default();
    one_line(&String::from_utf8_lossy(tail), SAID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: Tasks of Harbor
    fn a_player_cannot_have_its_trial_taken_out_of_the_count() {
        let policy = model::CensoringPolicy::default();
        for reason in [EndReason::AgentError, EndReason::KilledItself] {
            assert_eq!(blamed(true, reason), reason);
            assert_eq!(policy.ending(blamed(true, reason)), model::Ending::Event);
            assert_eq!(policy.ending(blamed(false, reason)), model::Ending::Censored);
        }
    }

    #[test]
    fn a_try_of_mt_at_k_whose_agent_raised_something_is_not_graded() {
        use EndReason as R;
        let task_settings = |protocol, timeout| TaskSettings {
            folder: "/t".into(),
            timeout,
            background: crate::settings::TaskBackground::Keep,
            session: crate::settings::TaskSession::Continue,
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

    #[test]
    fn words_for_a_shell_stay_one_word() {
        assert_eq!(quoted("/a b/setup.sh"), "'/a b/setup.sh'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!((whole(0.2), whole(5.0), whole(5.1)), (1, 5, 6));
    }
}
