//! A container that lives for a whole trial of a task: commands are executed in it one after the other, and what they leave
//! (files anywhere, packages, processes in the background) stays for the next one.
//!
//! Other than the containers of an attempt it is made from an image of somebody else, runs as that image's user with the
//! capabilities that Docker gives by default, and has no folder of this machine in it: files go in and out as archives
//! through the engine, never through a program of the container. It still gets no new privileges, and its memory,
//! processes, disk and output are limited.

mod archive;
mod exec;
mod second_container;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bollard::body_full;
use bollard::models::{
    ContainerConfig, ContainerCreateBody, HostConfig, HostConfigLogConfig, ResourcesUlimits,
};
use bollard::query_parameters::{
    CommitContainerOptions, CreateContainerOptions, DownloadFromContainerOptions, UploadToContainerOptions,
};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use self::archive::{ContainerFile, ContainerFiles, PackedFiles};
pub use self::exec::TaskCommand;
pub use self::second_container::Shares;
use crate::container::signed;
use crate::disk::{self, FullDisk};
use crate::engine_error::{failed, status};
use crate::leftovers::{KEPT_BY, KEPT_ON, kept_by_label, kept_on_label};
use crate::owner::{key, labels, unique_name};
use crate::{Engine, ExtraArgs, Limits, NetworkAccess, Owner, SandboxError, network};

/// What keeps the container alive.
const IDLE: [&str; 3] = ["sh", "-c", "sleep infinity"];

/// Where programs lie where an image does not say it.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How long an engine may take to keep a container as an image: it copies what was written in it, on a disk that others use.
const COMMIT: Duration = Duration::from_mins(30);

/// Least limits that engines take; 0 would be none.
const LEAST_NANO_CPUS: i64 = 10_000_000;
const LEAST_MEMORY: u64 = 6 << 20;

/// A container to be opened.
#[derive(Debug, Clone)]
pub struct TaskContainer {
    /// The owner.
    pub owner: Owner,
    /// Image name.
    pub image: String,
    /// Environment of every command.
    pub env: Vec<(String, String)>,
    /// Its limits; `seconds` is not used, each command has its own.
    pub limits: Limits,
    /// What it reaches: the gateway where the run has one and nothing else, or the internet.
    pub reach: NetworkAccess,
    /// The file that names its last snapshot: while it is there, snapshots of this container outlive its process and
    /// its run. `None` = they go with the process that made them.
    pub kept_by: Option<PathBuf>,
}

/// A container that is open. It is removed by [`OpenTask::close`], or shortly after it is dropped.
pub struct OpenTask {
    engine: Engine,
    name: String,
    limits: Limits,
    /// What the image says where commands run.
    workdir: String,
    /// What the image says where programs lie.
    path: String,
    /// The user of the image.
    user: String,
    /// The container by which it reaches the gateway.
    relay: Option<String>,
    /// Set once the container was ended from outside.
    ended: Arc<Mutex<Option<FullDisk>>>,
    watching: tokio::task::JoinHandle<()>,
    closed: bool,
}

impl Engine {
    /// Opens a container for a trial. What an earlier trial of the same episode left is removed first.
    ///
    /// Errors: [`SandboxError::NoImage`], or what the engine says; a container whose own program ends at once is one of
    /// [`SandboxError::Image`], and so is an image with which no task is played ([`Engine::fits_tasks`]).
    pub async fn open_task(&self, task: &TaskContainer) -> Result<OpenTask, SandboxError> {
        self.fits_tasks(&task.image, false).await?;
        self.remove_stale(&task.owner, "task").await?;
        let run = &task.owner.run;
        let mut relay = None;
        let mode = match task.reach {
            NetworkAccess::Gateway => {
                relay = self.relay(&task.owner, &ExtraArgs::default()).await?;
                relay.as_ref().map_or_else(|| "none".to_owned(), |relay| format!("container:{relay}"))
            }
            NetworkAccess::Open => {
                let name = network::open(run);
                self.network(run, &name, false).await?;
                name
            }
        };
        let name = unique_name(run, &task.owner.episode, "task");
        let opened = self.open(&name, task, mode, relay, None).await;
        if opened.is_err() {
            self.remove_container(&name).await?;
        }
        opened
    }

    async fn open(
        &self,
        name: &str,
        task: &TaskContainer,
        mode: String,
        relay: Option<String>,
        processes: Option<String>,
    ) -> Result<OpenTask, SandboxError> {
        let mut labels = labels(&task.owner.run, Some(&task.owner.episode), "task");
        // An image that a snapshot was made of may name another file.
        labels.insert(key(KEPT_BY), kept_by_label(task.kept_by.as_deref()));
        let kept_by = task.kept_by.clone();
        let kept_on = tokio::task::spawn_blocking(move || kept_on_label(kept_by.as_deref()));
        labels.insert(key(KEPT_ON), kept_on.await.unwrap_or_default());
        let body = ContainerCreateBody {
            image: Some(task.image.clone()),
            cmd: Some(IDLE.map(str::to_owned).to_vec()),
            env: Some(task.env.iter().map(|(name, value)| format!("{name}={value}")).collect()),
            labels: Some(labels),
            tty: Some(false),
            open_stdin: Some(false),
            host_config: Some(host_config(&task.limits, mode, processes)),
            ..Default::default()
        };
        let options = CreateContainerOptions { name: Some(name.to_owned()), ..Default::default() };
        self.docker.create_container(Some(options), body).await.map_err(|error| {
            let message = error.to_string().to_lowercase();
            if status(&error) == Some(404) && (message.contains("image") || message.contains("manifest")) {
                SandboxError::NoImage { image: task.image.clone() }
            } else {
                failed("make a container for a task")(error)
            }
        })?;
        self.docker.start_container(name, None).await.map_err(failed("start a container for a task"))?;
        let found = self.inspect(name).await?;
        let is_running = found
            .as_ref()
            .and_then(|found| found.state.as_ref())
            .and_then(|state| state.running)
            .unwrap_or(false);
        if !is_running {
            return Err(SandboxError::Image {
                image: task.image.clone(),
                reason: "its container ends at once instead of waiting for commands".to_owned(),
            });
        }
        let config: ContainerConfig = found.and_then(|found| found.config).unwrap_or_default();
        let workdir =
            config.working_dir.filter(|folder| !folder.is_empty()).unwrap_or_else(|| "/".to_owned());
        let path = config.env.iter().flatten().find_map(|line| line.strip_prefix("PATH="));
        let path = path.filter(|path| !path.is_empty()).unwrap_or(PATH).to_owned();
        let ended = Arc::new(Mutex::new(None));
        Ok(OpenTask {
            engine: self.clone(),
            name: name.to_owned(),
            limits: task.limits,
            workdir,
            path,
            user: config.user.unwrap_or_default(),
            relay,
            watching: self.watch_disk(name, task.limits.disk, ended.clone()),
            ended,
            closed: false,
        })
    }

    /// Ends the container once it, or the disk of the host, is full.
    fn watch_disk(
        &self,
        name: &str,
        limit: u64,
        ended: Arc<Mutex<Option<FullDisk>>>,
    ) -> tokio::task::JoinHandle<()> {
        let (engine, name) = (self.clone(), name.to_owned());
        tokio::spawn(async move {
            let full = disk::watch_layer(&engine, &name, limit).await;
            *model::lock(&ended) = Some(full);
            if let Err(error) = engine.stop(&name, Duration::ZERO).await {
                tracing::warn!(%error, name, "a container over its disk limit could not be stopped");
            }
        })
    }
}

impl OpenTask {
    /// The folder in which the image says that commands run; `/` where it says none.
    pub fn workdir(&self) -> &str {
        &self.workdir
    }

    /// The folders in which the image says that programs lie, as `PATH` has them.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Keeps its files as they are now as an image of this name; it stands still meanwhile. Processes are not part of it. The id
    /// of the image.
    pub async fn snapshot(&self, image: &str) -> Result<String, SandboxError> {
        let (repo, tag) = image.rsplit_once(':').unwrap_or((image, "latest"));
        let options = CommitContainerOptions {
            container: Some(self.name.clone()),
            repo: Some(repo.to_owned()),
            tag: Some(tag.to_owned()),
            pause: true,
            ..Default::default()
        };
        let docker = self.engine.docker.clone().with_timeout(COMMIT);
        let kept = docker.commit_container(options, ContainerConfig::default()).await;
        kept.map_err(failed("keep a container as an image"))?;
        // As it is asked for later: what a commit answers differs between engines.
        let found = self.engine.docker.inspect_image(image).await.map_err(failed("look at a snapshot"))?;
        found.id.filter(|id| !id.is_empty()).ok_or_else(|| SandboxError::Image {
            image: image.to_owned(),
            reason: "the engine gives it no id".to_owned(),
        })
    }

    /// Lays files into a folder, which has to be there. A folder that a name leads through is entered inside the container
    /// only.
    pub async fn put(&self, folder: &str, files: PackedFiles) -> Result<(), SandboxError> {
        let options = UploadToContainerOptions { path: folder.to_owned(), ..Default::default() };
        let sent =
            self.engine.docker.upload_to_container(&self.name, Some(options), body_full(files.into_bytes()));
        sent.await.map_err(failed("lay files into a container"))
    }

    /// The regular files at a path, whatever made them: names relative to it, with their contents. `None` = the path is not
    /// there. Links and what is no file are left out, and so is what does not come whole within `cap` bytes.
    pub async fn files(&self, path: &str, cap: u64) -> Result<Option<ContainerFiles>, SandboxError> {
        Ok(self.archive(path, cap).await?.map(|bytes| archive::files(&bytes)))
    }

    /// The content of a regular file. `None` = it is not there, or is no regular file; a link is none. Of one that is larger
    /// than `cap` the first part, which is a little shorter.
    pub async fn file(&self, path: &str, cap: u64) -> Result<Option<Vec<u8>>, SandboxError> {
        Ok(self.archive(path, cap).await?.and_then(|bytes| archive::file(&bytes)))
    }

    /// The archive of what is at a path, or the first part of it, of about `cap` bytes.
    async fn archive(&self, path: &str, cap: u64) -> Result<Option<Vec<u8>>, SandboxError> {
        let options = DownloadFromContainerOptions { path: path.to_owned() };
        let mut stream =
            std::pin::pin!(self.engine.docker.download_from_container(&self.name, Some(options)));
        let mut bytes: Vec<u8> = Vec::new();
        while let Some(piece) = stream.next().await {
            let piece: Bytes = match piece {
                Ok(piece) => piece,
                Err(error) if status(&error) == Some(404) => return Ok(None),
                Err(error) => return Err(failed("read files of a container")(error)),
            };
            bytes.extend_from_slice(&piece);
            if bytes.len() as u64 > cap {
                break;
            }
        }
        Ok(Some(bytes))
    }

    /// Whether a folder is there and holds nothing at all, as the engine sees it.
    pub async fn is_empty(&self, folder: &str) -> Result<bool, SandboxError> {
        let options = DownloadFromContainerOptions { path: folder.to_owned() };
        let mut stream =
            std::pin::pin!(self.engine.docker.download_from_container(&self.name, Some(options)));
        let mut bytes: Vec<u8> = Vec::new();
        while let Some(piece) = stream.next().await {
            match piece {
                Ok(piece) => bytes.extend_from_slice(&piece),
                Err(error) if status(&error) == Some(404) => return Ok(false),
                Err(error) => return Err(failed("read files of a container")(error)),
            }
            if bytes.len() > 64 << 10 {
                return Ok(false);
            }
        }
        Ok(archive::is_one_folder(&bytes))
    }

    /// Whether it still runs, as the engine sees it.
    pub async fn is_running(&self) -> Result<bool, SandboxError> {
        let found = self.engine.inspect(&self.name).await?;
        Ok(found.and_then(|found| found.state).and_then(|state| state.running).unwrap_or(false))
    }

    /// Whether the container by which it reaches the gateway runs; true where it needs none.
    pub async fn has_running_relay(&self) -> Result<bool, SandboxError> {
        let Some(relay) = &self.relay else { return Ok(true) };
        let found = self.engine.inspect(relay).await?;
        Ok(found.and_then(|found| found.state).and_then(|state| state.running).unwrap_or(false))
    }

    /// Ends every process in the container at once and starts it anew, with its files as they are: its own program, and what
    /// the image starts before it. One that is over its disk limit stays ended.
    pub async fn restart(&mut self) -> Result<(), SandboxError> {
        // The watch ends a container that is over its limit: not one that is just being started.
        self.watching.abort();
        self.engine.stop(&self.name, Duration::ZERO).await?;
        if self.full_disk().is_none() {
            let started = self.engine.docker.start_container(&self.name, None).await;
            started.map_err(failed("start a container of a task anew"))?;
        }
        self.watching = self.engine.watch_disk(&self.name, self.limits.disk, self.ended.clone());
        Ok(())
    }

    /// Ends and removes the container.
    pub async fn close(mut self) -> Result<(), SandboxError> {
        self.watching.abort();
        self.closed = true;
        self.engine.remove_container(&self.name).await
    }

    /// Why the container was ended from outside, if it was.
    fn full_disk(&self) -> Option<FullDisk> {
        model::lock(&self.ended).clone()
    }

    /// Runs a command to its end; see [`TaskCommand`].
    pub async fn run(
        &self,
        command: &TaskCommand,
        stop: &CancellationToken,
    ) -> Result<crate::ContainerEnd, SandboxError> {
        exec::run(self, command, stop, None).await
    }

    /// The same for an agent: what it prints is also sent to `live` as it comes, and it had its way to the gateway to its end.
    pub async fn run_agent(
        &self,
        command: &TaskCommand,
        stop: &CancellationToken,
        live: mpsc::Sender<Bytes>,
    ) -> Result<crate::ContainerEnd, SandboxError> {
        let end = exec::run(self, command, stop, Some(live)).await?;
        match &self.relay {
            Some(relay) if !end.exit.stopped => self.engine.end_with_relay(relay, end).await,
            _ => Ok(end),
        }
    }
}

impl Drop for OpenTask {
    fn drop(&mut self) {
        self.watching.abort();
        if self.closed {
            return;
        }
        // Where there is no runtime any more, its labels say whose it was.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (engine, name) = (self.engine.clone(), std::mem::take(&mut self.name));
            runtime.spawn(async move {
                if let Err(error) = engine.remove_container(&name).await {
                    tracing::warn!(%error, name, "a container of a task could not be removed");
                }
            });
        }
    }
}

/// `processes` is the container whose list of processes it shares.
fn host_config(limits: &Limits, network: String, processes: Option<String>) -> HostConfig {
    let ulimit = |name: &str, value: u64| ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(signed(value)),
        hard: Some(signed(value)),
    };
    let memory = signed(limits.memory.max(LEAST_MEMORY));
    HostConfig {
        init: Some(true),
        nano_cpus: Some(((limits.cpus * 1e9) as i64).max(LEAST_NANO_CPUS)),
        memory: Some(memory),
        // Memory and swap together: the same number means no swap.
        memory_swap: Some(memory),
        pids_limit: Some(i64::from(limits.pids)),
        ulimits: Some(vec![ulimit("nofile", limits.files), ulimit("fsize", limits.disk), ulimit("core", 0)]),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
        network_mode: Some(network),
        cap_add: processes.is_some().then(|| vec![second_container::SECOND_CAPABILITY.to_owned()]),
        pid_mode: processes,
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: Tasks of Harbor
    fn no_limit_is_sent_as_0_which_engines_take_for_none() {
        for cpus in [0.0, 1e-10, -1.0, f64::NAN] {
            let config =
                host_config(&Limits { cpus, memory: 0, ..Limits::default() }, "none".to_owned(), None);
            assert_eq!(config.nano_cpus, Some(10_000_000), "{cpus}");
            assert_eq!((config.memory, config.memory_swap), (Some(6 << 20), Some(6 << 20)));
        }
        let config = host_config(&Limits::default(), "none".to_owned(), None);
        assert_eq!((&config.cap_add, &config.pid_mode), (&None, &None));
        // Who sees the processes of another container is out of their reach.
        let shared = host_config(&Limits::default(), "none".to_owned(), Some("container:a".to_owned()));
        assert_eq!(shared.cap_add, Some(vec!["LEASE".to_owned()]));
        assert_eq!(shared.pid_mode.as_deref(), Some("container:a"));
        assert_eq!((config.nano_cpus, config.memory), (Some(2_000_000_000), Some(4 << 30)));
    }
}
