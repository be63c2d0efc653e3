//! One command to its end: made, watched, ended by whatever limit strikes first, removed.

use std::collections::HashMap;
use std::pin::pin;
use std::time::{Duration, Instant};

use bollard::container::LogOutput;
use bollard::query_parameters::EventsOptions;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::container::{GRACE, Network, Output, Plan};
use crate::disk::{self, FullDisk};
use crate::output::KeptOutput;
use crate::owner::unique_name;
use crate::snapshot::give_to;
use crate::volumes::container_user;
use crate::{
    AgentContainer, ContainerEnd, ContainerExit, Engine, NetworkAccess, SandboxError, Volumes, network,
};

/// After the wall limit and its grace: what the container has left to end by itself before it is ended from outside.
const BACKSTOP: u64 = GRACE + 5;
/// Between SIGTERM and SIGKILL when the caller stops a container: enough for a harness to write its last file.
const STOP_GRACE: Duration = Duration::from_secs(3);
/// How long output, and news of why it was killed, may lag behind the end of a container.
const LAG: Duration = Duration::from_secs(5);
pub(crate) const EVENT_LAG: Duration = Duration::from_millis(300);

impl Engine {
    pub(crate) async fn agent(
        &self,
        agent: &AgentContainer,
        stop: CancellationToken,
        live: Option<mpsc::Sender<Bytes>>,
    ) -> Result<ContainerEnd, SandboxError> {
        // The container is looked after by a task of its own: when this future is dropped in the middle, the token is
        // canceled and the task still ends and removes the container.
        let token = stop.child_token();
        let guard = token.clone().drop_guard();
        let (engine, agent) = (self.clone(), agent.clone());
        let done = tokio::spawn(async move { engine.agent_to_end(&agent, &token, live).await }).await;
        drop(guard);
        done.unwrap_or_else(|panic| {
            Err(SandboxError::Engine {
                doing: "look after a container",
                reason: panic.to_string(),
                is_gone: false,
            })
        })
    }

    async fn agent_to_end(
        &self,
        agent: &AgentContainer,
        stop: &CancellationToken,
        live: Option<mpsc::Sender<Bytes>>,
    ) -> Result<ContainerEnd, SandboxError> {
        let run = &agent.owner.run;
        // First: some engines do not remove a relay that has a container beside it.
        self.remove_stale(&agent.owner, "agent").await?;
        let network = match agent.reach {
            NetworkAccess::Open => {
                let name = network::open(run);
                self.network(run, &name, false).await?;
                Network::Open(name)
            }
            NetworkAccess::Gateway => match self.relay(&agent.owner, &agent.extra).await? {
                Some(relay) => Network::OfContainer(relay),
                None => Network::None,
            },
        };
        give_volumes(&agent.volumes).await?;
        let name = unique_name(run, &agent.owner.episode, "agent");
        let plan = Plan {
            owner: &agent.owner,
            kind: "agent",
            name: &name,
            image: &agent.image,
            argv: &agent.argv,
            env: &agent.env,
            volumes: &agent.volumes,
            limits: &agent.limits,
            network: network.clone(),
            extra: &agent.extra,
        };
        // Its wall limit may begin while the engine still starts it; what it worked is counted from when it was started.
        let started_at = Instant::now();
        let ended = match self.start(&plan).await {
            Ok(output) => self.attend(&plan, output, started_at, stop, live).await,
            Err(error) => {
                // A network that somebody removed is made again next time.
                self.networks.lock().await.forget(run);
                Err(error)
            }
        };
        let ended = match (ended, &network) {
            (Ok(end), Network::OfContainer(relay)) => self.end_with_relay(relay, end).await,
            (ended, _) => ended,
        };
        // Also where starting it failed: it may have been made. An engine that is gone cannot remove it now; the next
        // container of the episode or the next start does.
        match (ended, self.remove_container(&name).await) {
            (Ok(_), Err(error)) => Err(error),
            (ended, _) => ended,
        }
    }

    /// The end of a container that could reach the gateway to its end. What an agent does without is not its own; but a relay that
    /// needs more memory than all its connections can is one that its agent has filled.
    pub(crate) async fn end_with_relay(
        &self,
        relay: &str,
        mut end: ContainerEnd,
    ) -> Result<ContainerEnd, SandboxError> {
        match self.state(relay).await? {
            Some(state) if state.running => return Ok(end),
            Some(state) if state.out_of_memory => {
                end.exit.out_of_memory = true;
                return Ok(end);
            }
            Some(_) | None => {}
        }
        Err(SandboxError::Engine {
            doing: "keep the way to the gateway open",
            reason: "somebody ended it while the agent was working".to_owned(),
            is_gone: false,
        })
    }

    /// Reads a running container's output and waits for its end, which limits or the caller may bring about.
    async fn attend(
        &self,
        plan: &Plan<'_>,
        mut output: Output,
        started_at: Instant,
        stop: &CancellationToken,
        live: Option<mpsc::Sender<Bytes>>,
    ) -> Result<ContainerEnd, SandboxError> {
        let name = plan.name;
        let began = Instant::now();
        let mut printed = ContainerOutput::new(plan.limits.output, live);
        let mut exit = ContainerExit::default();
        let mut host_full = None;

        let mut ended = pin!(self.ended(name));
        let mut full = pin!(disk::watch(self, name, plan.volumes, plan.limits.disk));
        let mut news = pin!(self.container_events(name).fuse());
        // Somebody else ended the container: a person, or an engine that shuts down in good order.
        let mut lost = false;
        let wall = Duration::from_secs(plan.limits.seconds.saturating_add(BACKSTOP));
        let mut backstop = pin!(tokio::time::sleep(wall.saturating_sub(started_at.elapsed())));
        // Which of these have happened: each acts once.
        let (mut watching, mut reading, mut ticking, mut stoppable) = (true, true, true, true);

        let code = loop {
            tokio::select! {
                piece = output.next(), if reading => match piece {
                    Some(Ok(piece)) => printed.take(piece),
                    // The end of the output is not the end of the container; `ended` tells that, or why it cannot.
                    Some(Err(_)) | None => reading = false,
                },
                code = &mut ended => break code?,
                Some(event) = news.next() => match event {
                    ContainerEvent::MemoryStruck => exit.out_of_memory = true,
                    ContainerEvent::Killed => lost |= host_full.is_none() && !ended_by_us(&exit),
                },
                full_disk = &mut full, if watching => {
                    watching = false;
                    match full_disk {
                        FullDisk::Limit => exit.disk_full = true,
                        FullDisk::Host { path, free } => host_full = Some((path, free)),
                    }
                    self.stop(name, Duration::ZERO).await?;
                }
                () = &mut backstop, if ticking => {
                    ticking = false;
                    exit.timed_out = true;
                    self.stop(name, Duration::ZERO).await?;
                }
                () = stop.cancelled(), if stoppable => {
                    stoppable = false;
                    exit.stopped = true;
                    // In the background: a container that prints while it is asked to stop must not wait for us to read.
                    let (engine, name) = (self.clone(), name.to_owned());
                    tokio::spawn(async move {
                        if let Err(error) = engine.stop(&name, STOP_GRACE).await {
                            tracing::warn!(%error, name, "a container could not be stopped, so it is removed");
                            let _ = engine.remove_container(&name).await;
                        }
                    });
                }
            }
        };
        let (seconds, whole_seconds) = (began.elapsed().as_secs_f64(), started_at.elapsed().as_secs());
        exit.code = code;
        let last = async {
            while let Some(Ok(piece)) = output.next().await {
                printed.take(piece);
            }
        };
        if reading && tokio::time::timeout(LAG, last).await.is_err() {
            tracing::debug!(name, "the container has ended, its output has not");
        }
        match self.state(name).await? {
            Some(state) => exit.out_of_memory |= state.out_of_memory,
            // Podman says 0 of a container that somebody removed.
            None => lost = !exit.stopped,
        }
        // A kill without a known reason: news of it may come a moment after the end.
        let known = lost || exit.out_of_memory || host_full.is_some() || ended_by_us(&exit);
        if matches!(exit.code, Some(137 | 143)) && !known {
            match tokio::time::timeout(EVENT_LAG, news.next()).await {
                Ok(Some(ContainerEvent::MemoryStruck)) => exit.out_of_memory = true,
                Ok(Some(ContainerEvent::Killed)) => lost = true,
                Ok(None) | Err(_) => {}
            }
        }
        if lost {
            exit = ContainerExit::default();
        }
        // `timeout` says 124 where SIGTERM was enough and is killed along (137) where it was not.
        let wall_code = matches!(exit.code, Some(124 | 137));
        if wall_code && !exit.disk_full && !exit.stopped && whole_seconds >= plan.limits.seconds {
            exit.timed_out = true;
        }
        if let Some((path, free)) = host_full {
            return Err(disk::no_room_error(path, free));
        }
        Ok(printed.into_end(exit, seconds))
    }

    /// What the engine tells of a container while it runs. Engines that do not tell (Podman knows no `oom`) are asked at the
    /// end instead, by the container's own flag.
    pub(crate) fn container_events(&self, name: &str) -> impl Stream<Item = ContainerEvent> + use<> {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let filters = HashMap::from([
            ("container".to_owned(), words(&[name])),
            ("event".to_owned(), words(&["oom", "kill"])),
        ]);
        let options = EventsOptions { filters: Some(filters), ..Default::default() };
        let events = self.docker.events(Some(options));
        events.filter_map(|event| async move {
            match event.ok()?.action?.as_str() {
                "oom" => Some(ContainerEvent::MemoryStruck),
                "kill" => Some(ContainerEvent::Killed),
                _ => None,
            }
        })
    }
}

/// What the engine tells of a running container.
pub(crate) enum ContainerEvent {
    /// The memory limit has killed something in it, which need not have ended it.
    MemoryStruck,
    /// A signal was sent to it from outside.
    Killed,
}

/// Whether a signal from outside is our own.
fn ended_by_us(exit: &ContainerExit) -> bool {
    exit.stopped || exit.disk_full || exit.timed_out
}

/// Where we are root, the container is not: its folders have to be its own.
pub(crate) async fn give_volumes(volumes: &Volumes) -> Result<(), SandboxError> {
    if !rustix::process::getuid().is_root() {
        return Ok(());
    }
    let (uid, gid) = container_user();
    for folder in [volumes.workspace.clone(), volumes.home.clone()] {
        let path = folder.display().to_string();
        let given = tokio::task::spawn_blocking(move || give_to(&folder, uid, gid)).await;
        return Err(match given {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => SandboxError::from_io_error(path, &error),
            Err(panic) => SandboxError::Files { path, reason: panic.to_string() },
        });
    }
    Ok(())
}

/// Output of a container: kept within its cap, passed on to observers.
pub(crate) struct ContainerOutput {
    stdout: KeptOutput,
    stderr: KeptOutput,
    live: Option<mpsc::Sender<Bytes>>,
}

impl ContainerOutput {
    pub(crate) fn new(cap: u64, live: Option<mpsc::Sender<Bytes>>) -> Self {
        Self { stdout: KeptOutput::new(cap), stderr: KeptOutput::new(cap), live }
    }

    pub(crate) fn take(&mut self, piece: LogOutput) {
        match piece {
            LogOutput::StdErr { message } => self.stderr(message),
            LogOutput::StdOut { message } | LogOutput::Console { message } | LogOutput::StdIn { message } => {
                self.stdout(message);
            }
        }
    }

    pub(crate) fn stdout(&mut self, piece: Bytes) {
        self.stdout.push(&piece);
        self.show(piece);
    }

    pub(crate) fn stderr(&mut self, piece: Bytes) {
        self.stderr.push(&piece);
        self.show(piece);
    }

    /// A slow observer misses some: the container never waits for them.
    fn show(&self, piece: Bytes) {
        if let Some(live) = &self.live {
            let _ = live.try_send(piece);
        }
    }

    pub(crate) fn into_end(self, exit: ContainerExit, seconds: f64) -> ContainerEnd {
        ContainerEnd {
            exit,
            output_bytes: self.stdout.total() + self.stderr.total(),
            stdout: self.stdout.into_bytes(),
            stderr: self.stderr.into_bytes(),
            seconds,
        }
    }
}
