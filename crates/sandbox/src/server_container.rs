//! A server that is tested: started fresh on copies of the volumes, reached by its own address on an internal network,
//! its log kept within a cap.
//!
//! Engines give the address of a container that has ended to the next one at once. So each server has a port of its own: what is
//! still asked of one that has ended does not come to that of another episode.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::agent_container::{ContainerEvent, EVENT_LAG, give_volumes};
use crate::container::{Network, Plan, State};
use crate::disk::FullDisk;
use crate::output::KeptOutput;
use crate::owner::unique_name;
use crate::{
    ContainerExit, Engine, ExtraArgs, Limits, SandboxError, ServerAddress, ServerContainer, ServerEnd, disk,
    network,
};

/// What servers in containers listen on, each on the next: below the ports that kernels give to clients.
const PORTS: std::ops::Range<u16> = 8_000..32_000;

/// A port that none of many servers before has had.
fn next_port() -> u16 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let turn = COUNT.fetch_add(1, Ordering::Relaxed) % u32::from(PORTS.end - PORTS.start);
    PORTS.start + u16::try_from(turn).unwrap_or_default()
}

/// A server container that this process looks after.
pub(crate) struct RunningServer {
    log: Arc<Mutex<KeptOutput>>,
    reader: JoinHandle<()>,
    watchman: JoinHandle<()>,
    news: watch::Receiver<ServerNews>,
    listener: JoinHandle<()>,
    /// Set once a full disk has ended it: its own limit, or the host's.
    full: Arc<OnceLock<FullDisk>>,
    began: Instant,
    limits: Limits,
}

/// What is heard of a server while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerNews {
    Nothing,
    /// Somebody has sent it a signal.
    Signal,
    /// The engine says no more: it has gone, or whatever stands before it has cut the line.
    Silence,
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.reader.abort();
        self.watchman.abort();
        self.listener.abort();
    }
}

impl Engine {
    pub(crate) async fn serve(&self, server: &ServerContainer) -> Result<ServerAddress, SandboxError> {
        let run = &server.owner.run;
        let network = network::servers(run);
        self.network(run, &network, true).await?;
        // One that could not be removed holds volumes whose folders are not there any more.
        self.remove_stale(&server.owner, "server").await?;
        give_volumes(&server.volumes).await?;
        let name = unique_name(run, &server.owner.episode, "server");
        // On a task of its own, for the same reason as an agent's container. If nobody takes what it brings (this future was
        // dropped), the guard that comes with it removes the container.
        let (engine, server) = (self.clone(), server.clone());
        let started = tokio::spawn(async move {
            let guard = UnclaimedServer { engine: engine.clone(), name: Some(name.clone()) };
            match engine.start_server(&server, &name, &network).await {
                Ok(address) => Ok((address, guard)),
                Err(error) => {
                    model::lock(&engine.served).remove(&name);
                    // It may be the network that is gone: it is looked for next time.
                    engine.networks.lock().await.forget(&server.owner.run);
                    // Here and now, and not when there is time: it may have been made, and the program may end next.
                    if engine.remove_container(&name).await.is_ok() {
                        guard.claim();
                    }
                    Err(error)
                }
            }
        });
        let started = started.await.unwrap_or_else(|panic| {
            Err(SandboxError::Engine {
                doing: "start a server container",
                reason: panic.to_string(),
                is_gone: false,
            })
        });
        let (address, guard) = started?;
        guard.claim();
        Ok(address)
    }

    async fn start_server(
        &self,
        server: &ServerContainer,
        name: &str,
        network: &str,
    ) -> Result<ServerAddress, SandboxError> {
        let argv = ["sh", "/workspace/run.sh"].map(ToOwned::to_owned);
        let port = next_port();
        let env = [("PORT".to_owned(), port.to_string())];
        let plan = Plan {
            owner: &server.owner,
            kind: "server",
            name,
            image: &server.image,
            argv: &argv,
            env: &env,
            volumes: &server.volumes,
            limits: &server.limits,
            network: Network::Inside(network.to_owned()),
            extra: &ExtraArgs::default(),
        };
        let (news_sender, news) = watch::channel(ServerNews::Nothing);
        // Before it is started, so that nothing is missed.
        let listener = tokio::spawn(listen(self.clone(), name.to_owned(), news_sender));
        let mut output = self.start(&plan).await.inspect_err(|_| listener.abort())?;
        let log = Arc::new(Mutex::new(KeptOutput::new(server.limits.output)));
        let kept = Arc::clone(&log);
        let reader = tokio::spawn(async move {
            while let Some(Ok(piece)) = output.next().await {
                model::lock(&kept).push(piece.as_ref());
            }
        });
        let full = Arc::new(OnceLock::new());
        let watchman =
            tokio::spawn(watch_disk(self.clone(), name.to_owned(), server.clone(), Arc::clone(&full)));
        let (began, limits) = (Instant::now(), server.limits);
        let served = RunningServer { log, reader, watchman, news, listener, full, began, limits };
        model::lock(&self.served).insert(name.to_owned(), served);
        let found = self.inspect(name).await?;
        let runs = found.as_ref().and_then(|found| found.state.as_ref()?.running).unwrap_or(false);
        let address: Option<IpAddr> = found
            .and_then(|found| found.network_settings?.networks?.remove(network)?.ip_address?.parse().ok());
        if runs && address.is_none() {
            return Err(SandboxError::Engine {
                doing: "tell the address of a server container",
                reason: format!("it has none on {network}"),
                is_gone: false,
            });
        }
        Ok(ServerAddress {
            address: address.map(|address| SocketAddr::new(address, port)),
            id: name.to_owned(),
        })
    }

    pub(crate) async fn runs(&self, server: &ServerAddress) -> Result<bool, SandboxError> {
        Ok(self.state(&server.id).await?.is_some_and(|state| state.running))
    }

    pub(crate) async fn end(&self, server: ServerAddress) -> Result<ServerEnd, SandboxError> {
        let served = model::lock(&self.served).remove(&server.id);
        let state = self.state(&server.id).await;
        let is_lost = match (&state, &served) {
            (Ok(Some(state)), Some(served)) => was_lost(state, served).await,
            _ => false,
        };
        let removed = self.remove_container(&server.id).await;
        let exited = match state? {
            Some(state) if state.running => None,
            Some(_) if is_lost => Some(ContainerExit::default()),
            Some(state) => {
                let full = served.as_ref().is_some_and(|served| served.full.get().is_some());
                let late = served
                    .as_ref()
                    .is_some_and(|served| served.began.elapsed().as_secs() >= served.limits.seconds);
                Some(ContainerExit {
                    code: state.code,
                    out_of_memory: state.out_of_memory,
                    disk_full: full,
                    timed_out: late && !full && matches!(state.code, Some(124 | 137)),
                    ..ContainerExit::default()
                })
            }
            None => Some(ContainerExit::default()),
        };
        removed?;
        if let Some(FullDisk::Host { path, free }) = served.as_ref().and_then(|served| served.full.get()) {
            // Not its own: nobody can say whether it would have passed.
            return Err(disk::no_room_error(path.clone(), *free));
        }
        let log = match served {
            Some(mut served) => {
                // The output ends with the container; a moment for its last lines.
                let _ = tokio::time::timeout(Duration::from_secs(2), &mut served.reader).await;
                let mut log = model::lock(&served.log);
                std::mem::replace(&mut *log, KeptOutput::new(0)).into_bytes()
            }
            None => Vec::new(),
        };
        Ok(ServerEnd { exited, log })
    }
}

/// Whether somebody else has ended a server: a person, or an engine that goes away.
async fn was_lost(state: &State, served: &RunningServer) -> bool {
    if state.running || state.out_of_memory || served.full.get().is_some() {
        return false;
    }
    // Told to end, it may choose any code. With an engine it goes without being asked, and of one that dockerd lost there is none.
    let by_signal = matches!(state.code, None | Some(137 | 143 | 255));
    let lost =
        |heard: &ServerNews| *heard == ServerNews::Signal || (by_signal && *heard == ServerNews::Silence);
    // News of it may come a moment after the end.
    let mut news = served.news.clone();
    tokio::time::timeout(EVENT_LAG, news.wait_for(lost)).await.is_ok_and(|event| event.is_ok())
}

/// Listens to what the engine tells of a server.
async fn listen(engine: Engine, name: String, news_sender: watch::Sender<ServerNews>) {
    let mut news = std::pin::pin!(engine.container_events(&name));
    let mut heard = ServerNews::Silence;
    while let Some(event) = news.next().await {
        if matches!(event, ContainerEvent::Killed) {
            heard = ServerNews::Signal;
            break;
        }
    }
    let _ = news_sender.send(heard);
    // So that whoever asks later still hears it.
    std::future::pending::<()>().await;
}

/// A server may fill the disk just as an agent may.
async fn watch_disk(engine: Engine, name: String, server: ServerContainer, full: Arc<OnceLock<FullDisk>>) {
    let full_disk = disk::watch(&engine, &name, &server.volumes, server.limits.disk).await;
    tracing::warn!(why = ?full_disk, name, "a server container has used up its disk");
    let _ = full.set(full_disk);
    if let Err(error) = engine.stop(&name, Duration::ZERO).await {
        tracing::warn!(%error, name, "it could not be stopped");
    }
}

/// A server that nobody holds yet: removed unless it is claimed.
struct UnclaimedServer {
    engine: Engine,
    name: Option<String>,
}

impl UnclaimedServer {
    fn claim(mut self) {
        self.name = None;
    }
}

impl Drop for UnclaimedServer {
    fn drop(&mut self) {
        let (Some(name), Ok(runtime)) = (self.name.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let engine = self.engine.clone();
        runtime.spawn(async move {
            model::lock(&engine.served).remove(&name);
            if let Err(error) = engine.remove_container(&name).await {
                tracing::warn!(%error, name, "a server container was left behind");
            }
        });
    }
}
