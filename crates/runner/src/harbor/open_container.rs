//! The container of a trial: its image, built or named, with the harness in it, and what every task finds there.

use gateway::simulated_model;
use model::EndReason;
use sandbox::{Containers, Engine, PackedFiles, SandboxError, TaskCommand, TaskContainer};
use sha2::Digest as _;

use super::archives;
use super::task::variables;
use super::trial::Trial;
use crate::kill_points;
use crate::live::Phase;
use crate::record::{Exception, exception};
use crate::state::SessionState;

/// Seconds of the check that a container works.
const HELLO: u64 = 60;
/// Folders that every task finds.
const LOGS: [&str; 4] = ["logs", "logs/agent", "logs/verifier", "logs/artifacts"];

impl Trial<'_> {
    /// Builds the image and says what containers of the trial are opened from. Why there is none, if there is not.
    pub(super) async fn prepare(&mut self) -> Result<Option<(EndReason, Exception)>, SandboxError> {
        let connections = self.context.connections().await;
        let Containers::Engine(engine) = &connections.containers else {
            return Err(SandboxError::NoEngine { tried: Vec::new() });
        };
        let image = match &self.file.image {
            Some(image) if engine.images(&[image]).await?.iter().any(|state| state.there) => image.clone(),
            Some(image) => {
                let message = format!(
                    "the image {image} that task.toml names (environment.docker_image) is not there: docker pull {image}"
                );
                return Ok(Some((EndReason::Environment, exception("NoImage", &message))));
            }
            None => match self.build(engine).await? {
                Ok(image) => image,
                Err(message) => return Ok(Some((EndReason::Environment, exception("TaskFiles", &message)))),
            },
        };
        let env = match variables(&self.file.env, &self.context.forwarded) {
            Ok(env) => env,
            Err(message) => {
                return Ok(Some((EndReason::Environment, exception("MissingVariable", &message))));
            }
        };
        let mut limits = self.context.settings.limits;
        limits.cpus = self.file.cpus.map_or(limits.cpus, |cpus| cpus.min(limits.cpus));
        limits.memory =
            self.file.memory_mb.map_or(limits.memory, |mb| mb.saturating_mul(1 << 20).min(limits.memory));
        let reach =
            if self.file.is_public { self.context.settings.reach } else { sandbox::NetworkAccess::Gateway };
        let image = match self.player {
            Some(_) => image,
            None => {
                self.status.phase(Phase::Preparing, "its image gets the harness");
                let harness = self.context.harness.image();
                // One at a time: what all of them share is made by the first.
                let building = self.tasks.building(harness);
                let _held = building.lock().await;
                engine.task_with_harness(&image, harness, &limits, &self.context.stop).await?
            }
        };
        let kept_by = self.context.settings.keeps_snapshots().then(|| self.record_path());
        self.container_settings =
            Some(TaskContainer { owner: self.owner.clone(), image, env, limits, reach, kept_by });
        Ok(None)
    }

    /// Builds the image, opens the container, and waits until it is ready. Why it never is, if it is not.
    pub(super) async fn open(&mut self) -> Result<Option<(EndReason, Exception)>, SandboxError> {
        if let Some(ended) = self.prepare().await? {
            return Ok(Some(ended));
        }
        self.status.phase(Phase::Preparing, "its container starts");
        let connections = self.context.connections().await;
        let (Containers::Engine(engine), Some(container_settings)) =
            (&connections.containers, self.container_settings.clone())
        else {
            return Err(SandboxError::NoEngine { tried: Vec::new() });
        };
        let image = container_settings.image.clone();
        let container = engine.open_task(&container_settings).await?;
        (self.is_as_kept, self.own_processes) = (true, None);
        let mut logs = PackedFiles::changed_now();
        for folder in LOGS {
            // Writing to memory does not fail.
            let _ = logs.folder(folder, true);
        }
        if self.player.is_none() {
            // Whoever its agent is, the harness writes there when it is tried.
            let _ = logs.folder(harness::HOME.trim_start_matches('/'), true);
        }
        if self.player.is_none() && self.context.settings.is_simulated() {
            // Where the simulated model writes the solution, whoever its agent is in the container.
            let _ = logs.folder(simulated_model::SOLUTION_FOLDER.trim_start_matches('/'), true);
        }
        container.put("/", logs).await?;
        let hello = TaskCommand { script: "true".to_owned(), seconds: HELLO, ..TaskCommand::default() };
        let answer = container.run(&hello, &self.context.stop).await?;
        self.workdir = self.file.workdir.clone().unwrap_or_else(|| container.workdir().to_owned());
        self.container = Some(container);
        if answer.exit.code != Some(0) && !answer.exit.stopped {
            let message = format!("bash cannot be started in {image}, and tasks are played with it");
            return Ok(Some((EndReason::Environment, exception("EnvironmentError", &message))));
        }
        if self.player.is_none()
            && let Some(not_started) = self.starts(self.container()?, &image).await?
        {
            return Ok(Some(not_started));
        }
        self.ready().await
    }

    /// Opens a new container in place of the one in which the first attempt at the first step was played: nothing of that attempt is
    /// in it. Why it never is ready, if it is not.
    pub(super) async fn open_again(&mut self) -> Result<Option<(EndReason, Exception)>, SandboxError> {
        if let Some(container) = self.container.take() {
            container.close().await?;
        }
        kill_points::point("container about to be opened again");
        // What that attempt spent is asked for again before the call.
        self.known = SessionState::default();
        (self.was_played, self.was_verified) = (false, false);
        Box::pin(self.open()).await
    }

    /// Builds the image of the task, unless one of the same files is there. The inner error is one of the task's files.
    async fn build(&self, engine: &Engine) -> Result<Result<String, String>, SandboxError> {
        self.status.phase(Phase::Preparing, "its image is built");
        let (tasks, folder) = (self.tasks.clone(), files::join(&self.task.folder, "environment"));
        let packed = tokio::task::spawn_blocking(move || {
            let mut packed = PackedFiles::default();
            archives::folder(&tasks.tree, &folder, "", &mut packed)?;
            let hash = crate::origin::hex(&sha2::Sha256::digest(packed.bytes()));
            Ok::<_, String>((packed, hash))
        });
        let packed = packed.await.map_err(|panicked| panicked.to_string()).and_then(|packed| packed);
        let (packed, hash) = match packed {
            Ok(packed) => packed,
            Err(message) => return Ok(Err(message)),
        };
        let image = format!("stamina-task:{hash}");
        let building = self.tasks.building(&image);
        let _held = building.lock().await;
        if engine.images(&[&image]).await?.iter().any(|state| state.there) {
            return Ok(Ok(image));
        }
        let limits = &self.context.settings.limits;
        engine.build_task(&image, packed, limits, self.file.build_seconds, &self.context.stop).await?;
        Ok(Ok(image))
    }
}
