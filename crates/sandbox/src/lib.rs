//! Containers of Docker or Podman for code that nobody trusts, or plain processes where only the code of this project runs.
//!
//! An [`Engine`] is the container engine that answered. An episode has two folders on the host, its workspace and the
//! agent's HOME ([`Volumes`]); an *agent container* runs one command on them under limits, a *server container* runs `run.sh` on a
//! copy of them and lets tests reach one port. All containers, networks and volumes carry [`LABEL`]s, so that what a
//! crashed program left behind is found and taken away.
//!
//! Nothing here knows about models, suites or turns.
//!
//! **Files**: [`agent_container`] and [`server_container`] say what a container is and how it ends, [`container`] what both have in common,
//! [`network`], `firewall`, [`relay`] and [`volumes`] what they hang on, [`disk`] and [`output`] what no engine limits by itself, [`local`] the
//! same without an engine, [`snapshot`] hostile folders, [`owner`] and [`leftovers`] whose is what, [`images`]
//! where containers come from. [`task_container`] is the container of a trial of somebody else's task, which has neither volumes nor
//! a relay.

mod agent_container;
mod container;
mod disk;
mod engine;
mod engine_error;
mod firewall;
pub mod images;
mod leftovers;
mod local;
mod network;
mod output;
mod owner;
mod relay;
mod server_container;
pub mod snapshot;
mod task_container;
mod volumes;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use engine::{Engine, EngineInfo};
pub use images::{
    BuildNews, BuildSettings, Check, ImageState, RECIPES, Recipe, Stacks, Trial, WantedImage, default_ca,
    recipe,
};
pub use leftovers::snapshot_name;
pub use local::Local;
pub use owner::{Process, run_of_folder};
pub use task_container::{
    ContainerFile, ContainerFiles, OpenTask, PackedFiles, Shares, TaskCommand, TaskContainer,
};
pub use volumes::container_user;

/// Prefix of every label: `org.stamina-lab.run`, `org.stamina-lab.folder` (a copy of a results folder has the same run),
/// `org.stamina-lab.episode`, `org.stamina-lab.owner` (pid and start time of the process that made it, so that another living run's
/// containers are left alone).
pub const LABEL: &str = "org.stamina-lab";

/// Whose container it is; becomes labels and part of names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The run in its folder, as [`run_of_folder`] names it.
    pub run: String,
    /// `scenario_3`.
    pub episode: String,
}

/// The two folders of an episode on the host. They become labeled volumes that are bound to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volumes {
    /// `/workspace`.
    pub workspace: PathBuf,
    /// HOME, `/agent`.
    pub home: PathBuf,
}

/// What a container may use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// CPU cores; may be a fraction.
    pub cpus: f64,
    /// Bytes of memory; swap is off.
    pub memory: u64,
    /// Processes and threads.
    pub pids: u32,
    /// Bytes in both volumes and the container's own layer together. Looked at every second; one file never gets larger.
    pub disk: u64,
    /// Open files of one process.
    pub files: u64,
    /// Wall seconds: SIGTERM inside the container, SIGKILL 15 s later.
    pub seconds: u64,
    /// Bytes of standard output and of standard error that are kept (head and tail); the rest is read and dropped.
    pub output: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            cpus: 2.0,
            memory: 4 * GIB,
            pids: 512,
            disk: 4 * GIB,
            files: 4096,
            seconds: 1200,
            output: 8 << 20,
        }
    }
}

/// What containers reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "FormNetwork")]
pub enum NetworkAccess {
    /// The gateway, by a relay; no internet, no other container, nothing of this machine.
    #[default]
    Gateway,
    /// The internet as well.
    Open,
}

/// A command to run as an agent container.
#[derive(Debug, Clone)]
pub struct AgentContainer {
    /// The owner.
    pub owner: Owner,
    /// Image name.
    pub image: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Environment beside HOME.
    pub env: Vec<(String, String)>,
    /// Its folders.
    pub volumes: Volumes,
    /// Its limits.
    pub limits: Limits,
    /// What it reaches.
    pub reach: NetworkAccess,
    /// Extra arguments of the configuration (`docker.extra_docker_args`), as far as they are understood: see [`ExtraArgs`].
    pub extra: ExtraArgs,
}

/// What of `docker run`'s arguments a configuration may give: `-u`, `-e`, `-v`, `--add-host`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraArgs {
    /// `uid:gid`. Not obeyed: containers run as [`container_user`], whose their folders are ([`ExtraArgs::ignored_arguments`]).
    pub user: Option<String>,
    /// `NAME=value`; HOME and what the caller sets stay as they are.
    pub env: Vec<(String, String)>,
    /// `host:container[:ro]`.
    pub binds: Vec<String>,
    /// `name:address`.
    pub hosts: Vec<String>,
}

impl ExtraArgs {
    /// What of it is not obeyed, for a person; in the words of `docker run`.
    pub fn ignored_arguments(&self) -> Vec<String> {
        let (uid, gid) = container_user();
        let user =
            self.user.iter().filter(|user| **user != format!("{uid}:{gid}") && **user != uid.to_string());
        let home = self.env.iter().filter(|(name, value)| name == "HOME" && value != "/agent");
        user.map(|user| format!("-u {user}"))
            .chain(home.map(|(_, value)| format!("-e HOME={value}")))
            .collect()
    }
}

/// A server to run as a server container: `sh /workspace/run.sh` with `PORT` set.
#[derive(Debug, Clone)]
pub struct ServerContainer {
    /// The owner.
    pub owner: Owner,
    /// Image name.
    pub image: String,
    /// Copies that this container may change.
    pub volumes: Volumes,
    /// Its limits.
    pub limits: Limits,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ContainerExit {
    /// Exit code; `None` = the container was lost (the engine died, somebody removed it).
    pub code: Option<i64>,
    /// The wall limit ended it.
    pub timed_out: bool,
    /// The memory limit ended it, or a process in it.
    pub out_of_memory: bool,
    /// The disk limit ended it.
    pub disk_full: bool,
    /// The caller stopped it.
    pub stopped: bool,
}

/// What an agent container left.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContainerEnd {
    /// How it ended.
    pub exit: ContainerExit,
    /// Kept standard output; where something was dropped stands a line that says how many bytes.
    pub stdout: Vec<u8>,
    /// Likewise.
    pub stderr: Vec<u8>,
    /// Bytes written to both in all.
    pub output_bytes: u64,
    /// Wall seconds.
    pub seconds: f64,
}

/// A running server container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// Where tests reach it; `None` = it has ended already.
    pub address: Option<SocketAddr>,
    /// Id of the container or process, to end it.
    pub id: String,
}

/// How a server container ended, asked after the tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerEnd {
    /// Set if it ended before it was told to.
    pub exited: Option<ContainerExit>,
    /// Standard output and error, interleaved, capped like an agent's.
    pub log: Vec<u8>,
}

/// What can go wrong with containers. Each is a fault of the machine or the settings, never of an agent.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Nothing answered.
    #[error("no container engine answers; tried {}", .tried.iter().map(|(socket, reason)| format!("{socket} ({reason})")).collect::<Vec<_>>().join(", "))]
    NoEngine {
        /// Sockets and what each said.
        tried: Vec<(String, String)>,
    },
    /// An engine answered with which no run can be played.
    #[error("{engine} cannot play runs: {reason}")]
    Unfit {
        /// `Docker` or `Podman`.
        engine: String,
        /// What stands in the way.
        reason: &'static str,
    },
    /// The image is not there.
    #[error("there is no image {image}")]
    NoImage {
        /// Its name.
        image: String,
    },
    /// An image could not be built.
    #[error("image {image}: {reason}")]
    Image {
        /// Its name.
        image: String,
        /// What the engine said, with the last lines of output.
        reason: String,
    },
    /// The engine refused or went away.
    #[error("the container engine could not {doing}: {reason}")]
    Engine {
        /// What was being done.
        doing: &'static str,
        /// What it said.
        reason: String,
        /// Whether the engine is gone, so that waiting for it may help.
        is_gone: bool,
    },
    /// The disk of the host is full, or what this user may write on it: no container can do without.
    #[error("{path}: {reason}")]
    NoRoom {
        /// What lies there.
        path: String,
        /// How full it is.
        reason: String,
    },
    /// A file of the host.
    #[error("{path}: {reason}")]
    Files {
        /// Which.
        path: String,
        /// What is wrong.
        reason: String,
    },
}

impl SandboxError {
    /// What the host says of a file or a program of its own.
    pub(crate) fn from_io_error(path: impl std::fmt::Display, error: &std::io::Error) -> Self {
        use std::io::ErrorKind as K;
        let (path, reason) = (path.to_string(), error.to_string());
        match error.kind() {
            K::StorageFull | K::QuotaExceeded => Self::NoRoom { path, reason },
            _ => Self::Files { path, reason },
        }
    }
}

/// What lies about with our labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    /// `container`, `image`, `network` or `volume`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// What the engine knows it by: another one may have its name by the time that it is removed. Volumes have only names.
    #[serde(default)]
    pub id: String,
    /// Id of the run that made it: 8 hex digits.
    pub run: String,
    /// Whether the process that made it still lives.
    pub in_use: bool,
    /// Whether it is a snapshot from which a resume continues: nothing removes it but a person, or the end of its trial.
    #[serde(default)]
    pub is_kept: bool,
    /// All labels of this program.
    pub labels: BTreeMap<String, String>,
}

/// Where a gateway has to listen, so that containers reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatewayPlace {
    /// At any port of an address of this machine.
    Address(IpAddr),
    /// At a socket of the file system.
    Socket {
        /// Its path; its folder is there.
        path: PathBuf,
        /// The address at which containers reach it.
        container_address: SocketAddr,
    },
}

/// Where containers run.
pub enum Containers {
    /// In a container engine.
    Engine(Engine),
    /// As plain processes of this machine, with no protection at all: only for the mock agent with the simulated model.
    Local(Local),
}

impl Containers {
    /// Makes (or finds again) what a run needs before its first container, and says where its gateway has to listen. `folder` is
    /// for a socket of it: made where needed, and seen by no container but our own.
    pub async fn prepare(
        &self,
        run: &str,
        reach: NetworkAccess,
        folder: &Path,
    ) -> Result<GatewayPlace, SandboxError> {
        match self {
            Self::Engine(engine) => engine.prepare(run, reach, folder).await,
            Self::Local(_) => Ok(GatewayPlace::Address(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST))),
        }
    }

    /// Keeps server containers of a prepared run from services of the host that listen on all addresses. False where this program
    /// may not (it is not root) or cannot (the engine is another machine, or Podman); errors are sentences.
    pub async fn guard(&self, run: &str) -> Result<bool, String> {
        match self {
            Self::Engine(engine) => engine.guard(run).await,
            Self::Local(_) => Ok(false),
        }
    }

    /// Ends what is left of an episode's containers, which would write into its folders, and makes the way of its agents to the
    /// gateway: what takes time before a container can start.
    pub async fn ready(
        &self,
        owner: &Owner,
        reach: NetworkAccess,
        extra: &ExtraArgs,
    ) -> Result<(), SandboxError> {
        match self {
            Self::Engine(engine) => engine.ready(owner, reach, extra).await,
            Self::Local(_) => Ok(()),
        }
    }

    /// Runs a command to its end. `stop` ends it early; what it prints is also sent to `live` as it comes (dropped where
    /// nobody takes it). Dropping the future ends and removes the container as well, shortly after.
    pub async fn agent(
        &self,
        agent: &AgentContainer,
        stop: tokio_util::sync::CancellationToken,
        live: Option<tokio::sync::mpsc::Sender<bytes::Bytes>>,
    ) -> Result<ContainerEnd, SandboxError> {
        match self {
            Self::Engine(engine) => engine.agent(agent, stop, live).await,
            Self::Local(local) => local.agent(agent, stop, live).await,
        }
    }

    /// Takes away what an episode has in the engine between its containers; another container of it makes that anew.
    pub async fn release(&self, owner: &Owner) -> Result<(), SandboxError> {
        match self {
            Self::Engine(engine) => engine.release(owner).await,
            Self::Local(_) => Ok(()),
        }
    }

    /// Starts a server. It may not listen yet when this returns.
    pub async fn serve(&self, server: &ServerContainer) -> Result<ServerAddress, SandboxError> {
        match self {
            Self::Engine(engine) => engine.serve(server).await,
            Self::Local(local) => local.serve(server),
        }
    }

    /// Whether the server's container still runs.
    pub async fn runs(&self, server: &ServerAddress) -> Result<bool, SandboxError> {
        match self {
            Self::Engine(engine) => engine.runs(server).await,
            Self::Local(local) => Ok(local.runs(server)),
        }
    }

    /// Ends a server and removes its container.
    pub async fn end(&self, server: ServerAddress) -> Result<ServerEnd, SandboxError> {
        match self {
            Self::Engine(engine) => engine.end(server).await,
            Self::Local(local) => local.end(server).await,
        }
    }

    /// Takes away all that carries the run's label.
    pub async fn clear(&self, run: &str) -> Result<(), SandboxError> {
        match self {
            Self::Engine(engine) => engine.clear(run).await,
            Self::Local(local) => {
                local.clear();
                Ok(())
            }
        }
    }
}
