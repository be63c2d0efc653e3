//! How an agent's container reaches the gateway and nothing else, whoever this program runs as: it has no network at all, only the
//! loopback of a *relay*, a small container of the project beside it, in whose network it is put. The relay listens there on one port and
//! passes on what comes to the gateway's socket, a file in a folder that only it sees. So there is no way to the host, to
//! other containers or to the internet that would have to be closed.
//!
//! A relay is made with the first container of an episode and goes with the episode ([`crate::Containers::release`]). The agent sees none of
//! its processes and files. Attempts follow each other in the same network: sockets of a container that is gone are not kept
//! waiting (`TIME_WAIT`), so that a port which one attempt has used is free in the next.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig, Mount, MountType};
use futures_util::StreamExt;

use crate::container::Output;
use crate::images::BASE;
use crate::owner::{labels, unique_name};
use crate::volumes::container_user;
use crate::{Engine, ExtraArgs, Owner, SandboxError};

/// Where containers with a relay see the gateway. No server that an agent writes is likely to want this port.
pub(crate) const GATEWAY_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 47_110);
/// Connections of one container at once.
const CONNECTIONS: u32 = 128;
/// Bytes of memory: Python, and what these connections have in flight.
const MEMORY: i64 = 128 << 20;
/// How long a relay may take until it listens, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// What it runs.
const SCRIPT: &str = include_str!("relay.py");

/// Relays of this process.
#[derive(Default)]
pub(crate) struct Relays {
    /// The socket of each run's gateway.
    sockets: HashMap<String, PathBuf>,
    /// The name of the relay container of each episode.
    container_names: HashMap<Owner, String>,
}

impl Engine {
    /// Makes the folder in which the gateway of a run is to have its socket, and says what that is: another one each time. A
    /// gateway that takes another's place must not take the attempts from it that are still in flight to it.
    pub(crate) async fn gateway_socket(&self, run: &str, folder: &Path) -> Result<PathBuf, SandboxError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let wrong = |error: std::io::Error| SandboxError::from_io_error(folder.display(), &error);
        let folder = std::path::absolute(folder).map_err(wrong)?;
        files::confined_path::create_folders(&folder).map_err(wrong)?;
        // Relays run as another user where this program is root.
        files::confined_path::set_folder_mode(&folder, 0o755).map_err(wrong)?;
        let socket = folder.join(format!("gateway-{}.sock", COUNT.fetch_add(1, Ordering::Relaxed)));
        self.relays.lock().await.sockets.insert(run.to_owned(), socket.clone());
        Ok(socket)
    }

    /// The relay of an episode, made unless it is there and runs; `None` where the run has no gateway.
    pub(crate) async fn relay(
        &self,
        owner: &Owner,
        extra: &ExtraArgs,
    ) -> Result<Option<String>, SandboxError> {
        let (relay_container, socket) = {
            let relays = self.relays.lock().await;
            (relays.container_names.get(owner).cloned(), relays.sockets.get(&owner.run).cloned())
        };
        let Some(socket) = socket else { return Ok(None) };
        if let Some(name) = relay_container
            && self.state(&name).await?.is_some_and(|state| state.running)
        {
            return Ok(Some(name));
        }
        self.remove_stale(owner, "relay").await?;
        let name = unique_name(&owner.run, &owner.episode, "relay");
        // Known before it is made, so that it can be taken away if that fails half-way.
        self.relays.lock().await.container_names.insert(owner.clone(), name.clone());
        let mut output = self.start_container(&name, body(owner, &socket, extra)).await?;
        let answer = tokio::time::timeout(PATIENCE, ready(&mut output)).await;
        match answer.unwrap_or_else(|_| Err("it said nothing".to_owned())) {
            Ok(()) => Ok(Some(name)),
            Err(reason) => {
                self.remove_container(&name).await?;
                Err(SandboxError::Engine { doing: "start the way to the gateway", reason, is_gone: false })
            }
        }
    }

    /// Takes the relay of an episode away.
    pub(crate) async fn release(&self, owner: &Owner) -> Result<(), SandboxError> {
        self.relays.lock().await.container_names.remove(owner);
        // By its labels: it may have been made before the way to the engine was made anew.
        self.remove_stale(owner, "relay").await
    }

    /// Forgets the relays of a run, whose containers are gone.
    pub(crate) async fn forget_relays(&self, run: &str) {
        let mut relays = self.relays.lock().await;
        relays.sockets.remove(run);
        relays.container_names.retain(|owner, _| owner.run != run);
    }
}

fn body(owner: &Owner, socket: &Path, extra: &ExtraArgs) -> ContainerCreateBody {
    let (folder, name) = (socket.parent().unwrap_or(socket), socket.file_name().unwrap_or_default());
    // Names belong to the network, so containers beside it have these, too. Without a bridge an engine does not name the container itself.
    // words: ok, the name of a host that agents see
    let hosts = std::iter::once("box:127.0.0.1".to_owned()).chain(extra.hosts.iter().cloned()).collect();
    let command = [
        SCRIPT,
        &GATEWAY_ADDRESS.port().to_string(),
        &format!("/gateway/{}", name.display()),
        &CONNECTIONS.to_string(),
    ];
    ContainerCreateBody {
        image: Some(BASE.image.to_owned()),
        entrypoint: Some(["/usr/bin/python3", "-I", "-S", "-c"].map(ToOwned::to_owned).to_vec()),
        cmd: Some(command.map(ToOwned::to_owned).to_vec()),
        user: Some(format!("{}:{}", container_user().0, container_user().1)),
        working_dir: Some("/".to_owned()),
        // words: ok, the name of a host that agents see
        hostname: Some("box".to_owned()),
        labels: Some(labels(&owner.run, Some(&owner.episode), "relay")),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        host_config: Some(HostConfig {
            network_mode: Some("none".to_owned()),
            extra_hosts: Some(hosts),
            sysctls: Some(HashMap::from([("net.ipv4.tcp_max_tw_buckets".to_owned(), "0".to_owned())])),
            mounts: Some(vec![Mount {
                typ: Some(MountType::BIND),
                source: Some(folder.display().to_string()),
                target: Some("/gateway".to_owned()),
                read_only: Some(true),
                ..Default::default()
            }]),
            readonly_rootfs: Some(true),
            memory: Some(MEMORY),
            memory_swap: Some(MEMORY),
            pids_limit: Some(16),
            cap_drop: Some(vec!["ALL".to_owned()]),
            // A socket of this program is no file that SELinux would let a container use; nothing but our own code runs here.
            security_opt: Some(vec!["no-new-privileges".to_owned(), "label=disable".to_owned()]),
            log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Waits until a relay says that it listens; else what it says.
async fn ready(output: &mut Output) -> Result<(), String> {
    let mut answer = String::new();
    while let Some(Ok(piece)) = output.next().await {
        answer.push_str(&String::from_utf8_lossy(piece.as_ref()));
        if answer.ends_with("ready\n") {
            return Ok(());
        }
    }
    Err(format!("it ended: {}", answer.trim()))
}
