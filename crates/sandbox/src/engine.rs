//! The container engine: which socket answers, and what it is.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bollard::{API_DEFAULT_VERSION, Docker};
use serde::{Deserialize, Serialize};

use crate::SandboxError;
use crate::engine_error::chain;
use crate::network::{self, Networks};
use crate::relay::Relays;
use crate::server_container::RunningServer;

/// How long a socket may take to answer at all when engines are looked for.
const HELLO: Duration = Duration::from_secs(5);
/// How long an engine that has answered may take to describe itself; on a busy machine Podman takes seconds.
const DESCRIPTION: Duration = Duration::from_secs(30);
/// Seconds that the engine has to answer a request. Removing a big container on a busy disk takes its time.
const PATIENCE: u64 = 120;

/// A container engine that answered. Clones are handles to the same.
#[derive(Clone)]
pub struct Engine {
    pub(crate) docker: Docker,
    pub(crate) info: Arc<EngineInfo>,
    pub(crate) networks: Arc<tokio::sync::Mutex<Networks>>,
    pub(crate) relays: Arc<tokio::sync::Mutex<Relays>>,
    pub(crate) served: Arc<Mutex<HashMap<String, RunningServer>>>,
}

/// What an engine says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineInfo {
    /// `Docker` or `Podman`.
    pub kind: String,
    /// Its version.
    pub version: String,
    /// Where it answered.
    pub socket: String,
    /// `amd64`, `arm64`.
    pub arch: String,
    /// Whether it runs without root, so that user ids differ inside and outside.
    pub rootless: bool,
    /// Whether it runs in a machine or a network namespace of its own (Docker Desktop, Colima; this program in a container), so
    /// that its bridges are not here.
    pub elsewhere: bool,
    /// Where it keeps images and what containers write outside of their volumes; `None` = it does not say.
    pub root: Option<PathBuf>,
}

impl EngineInfo {
    /// Why no run can be played with it, though images can be built; `None` = it can.
    ///
    /// Servers are tested on the bridges of the containers. An engine without root, and one in a machine of its own, has these where
    /// this program does not reach them.
    pub fn unfit_reason(&self) -> Option<&'static str> {
        if self.elsewhere {
            Some("it runs in a machine or a container of its own, and this one does not reach its containers")
        } else if self.rootless {
            Some("it runs without root, and this machine does not reach its containers")
        } else {
            None
        }
    }
}

impl Engine {
    /// Takes the first engine that answers and can play runs, else the first that answers. Tried are `DOCKER_HOST` (alone, if
    /// it is set), Docker's sockets, then Podman's.
    pub async fn connect() -> Result<Self, SandboxError> {
        let mut tried = Vec::new();
        let mut unfit_engine = None;
        for socket in sockets(&|name| std::env::var(name).ok()) {
            match Self::from_address(&socket).await {
                Ok(engine) if engine.info.unfit_reason().is_none() => return Ok(engine),
                Ok(engine) => {
                    unfit_engine.get_or_insert(engine);
                }
                Err(reason) => tried.push((socket, reason)),
            }
        }
        unfit_engine.ok_or(SandboxError::NoEngine { tried })
    }

    /// The same, for runs: an engine with which none can be played is an error that says why.
    pub async fn connect_to_play() -> Result<Self, SandboxError> {
        let engine = Self::connect().await?;
        match engine.info.unfit_reason() {
            None => Ok(engine),
            Some(reason) => Err(SandboxError::Unfit { engine: engine.info.kind.clone(), reason }),
        }
    }

    /// The engine at one address, such as `unix:///var/run/docker.sock`. Tests name theirs; nothing else has a choice of address
    /// but `DOCKER_HOST`, which [`Engine::connect`] reads.
    pub async fn connect_to(address: &str) -> Result<Self, SandboxError> {
        Self::from_address(address)
            .await
            .map_err(|reason| SandboxError::NoEngine { tried: vec![(address.to_owned(), reason)] })
    }

    /// Only sockets of this machine: containers work on folders of this machine.
    async fn from_address(address: &str) -> Result<Self, String> {
        let Some(path) = address.strip_prefix("unix://") else {
            return Err(
                "only unix:// sockets are understood: containers work on folders of this machine".to_owned()
            );
        };
        // The client's own message for a missing socket does not say that it is missing.
        match std::fs::metadata(path) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err("not there".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        }
        let docker =
            Docker::connect_with_unix(path, PATIENCE, API_DEFAULT_VERSION).map_err(|error| chain(&error))?;
        tokio::time::timeout(HELLO, docker.ping())
            .await
            .map_err(|_| format!("no answer in {} s", HELLO.as_secs()))?
            .map_err(|error| chain(&error))?;
        let describe = async {
            let docker = docker.negotiate_version().await?;
            let version = docker.version().await?;
            let info = docker.info().await?;
            let bridges = network::bridges(&docker).await;
            Ok::<_, bollard::errors::Error>((docker, version, info, bridges))
        };
        let (docker, version, system, bridges) = tokio::time::timeout(DESCRIPTION, describe)
            .await
            .map_err(|_| format!("no description of itself in {} s", DESCRIPTION.as_secs()))?
            .map_err(|error| chain(&error))?;
        let podman =
            version.components.iter().flatten().any(|part| part.name.to_lowercase().contains("podman"));
        let rootless = system.security_options.iter().flatten().any(|option| option.contains("rootless"));
        let info = EngineInfo {
            kind: if podman { "Podman" } else { "Docker" }.to_owned(),
            version: version.version.unwrap_or_default(),
            socket: address.to_owned(),
            arch: version.arch.unwrap_or_default(),
            rootless,
            root: system.docker_root_dir.filter(|path| !path.is_empty()).map(PathBuf::from),
            elsewhere: system.operating_system.is_some_and(|name| name.contains("Docker Desktop"))
                || (!podman && bridges.is_some_and(|(local, total)| total > 0 && local == 0)),
        };
        Ok(Self {
            docker,
            info: Arc::new(info),
            networks: Arc::default(),
            relays: Arc::default(),
            served: Arc::default(),
        })
    }

    /// What it is.
    pub fn info(&self) -> &EngineInfo {
        &self.info
    }

    pub(crate) fn podman(&self) -> bool {
        self.info.kind == "Podman"
    }
}

/// Addresses to try, in this order.
fn sockets(env: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    if let Some(host) = set("DOCKER_HOST") {
        return vec![host];
    }
    let mut paths = vec![PathBuf::from("/var/run/docker.sock")];
    let runtime = set("XDG_RUNTIME_DIR").map(PathBuf::from);
    if let Some(runtime) = &runtime {
        paths.push(runtime.join("docker.sock"));
    }
    if let Some(home) = set("HOME") {
        paths.push(PathBuf::from(home).join(".docker/run/docker.sock"));
    }
    if let Some(host) = set("CONTAINER_HOST").and_then(|host| host.strip_prefix("unix://").map(PathBuf::from))
    {
        paths.push(host);
    }
    if let Some(runtime) = &runtime {
        paths.push(runtime.join("podman/podman.sock"));
    }
    paths.push(PathBuf::from("/run/podman/podman.sock"));
    paths.into_iter().map(|path| format!("unix://{}", path.display())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn an_engine_whose_containers_are_not_reached_is_known_beforehand() {
        let system = EngineInfo {
            kind: "Docker".to_owned(),
            version: "28".to_owned(),
            socket: "unix:///var/run/docker.sock".to_owned(),
            arch: "amd64".to_owned(),
            rootless: false,
            elsewhere: false,
            root: None,
        };
        assert_eq!(system.unfit_reason(), None);
        let rootless = EngineInfo { rootless: true, ..system.clone() };
        let elsewhere = EngineInfo { elsewhere: true, ..system };
        assert!(rootless.unfit_reason().unwrap().contains("without root"));
        assert!(elsewhere.unfit_reason().unwrap().contains("of its own"));
        let error =
            SandboxError::Unfit { engine: rootless.kind.clone(), reason: rootless.unfit_reason().unwrap() };
        assert!(error.to_string().starts_with("Docker cannot play runs: it runs without root"), "{error}");
        // Nothing is proposed that cannot work.
        for error in [error, SandboxError::NoEngine { tried: vec![("a".into(), "Permission denied".into())] }]
        {
            assert!(!error.hint().unwrap().contains("--user"), "{error}");
        }
    }

    #[test]
    fn sockets_are_tried_in_order() {
        assert_eq!(
            sockets(&env(&[("XDG_RUNTIME_DIR", "/run/user/7"), ("HOME", "/home/a")])),
            [
                "unix:///var/run/docker.sock",
                "unix:///run/user/7/docker.sock",
                "unix:///home/a/.docker/run/docker.sock",
                "unix:///run/user/7/podman/podman.sock",
                "unix:///run/podman/podman.sock",
            ]
        );
        assert_eq!(sockets(&env(&[("DOCKER_HOST", "unix:///x")])), ["unix:///x"]);
    }

    #[tokio::test]
    async fn what_does_not_answer_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let silent = dir.path().join("s.sock");
        let Err(missing) = Engine::from_address(&format!("unix://{}", silent.display())).await else {
            panic!("nothing is there");
        };
        assert_eq!(missing, "not there");
        drop(std::os::unix::net::UnixListener::bind(&silent).unwrap());
        let Err(refused) = Engine::from_address(&format!("unix://{}", silent.display())).await else {
            panic!("nobody listens");
        };
        assert!(refused.to_lowercase().contains("refused"), "{refused}");
        let error = SandboxError::NoEngine {
            tried: vec![("unix:///a".to_owned(), missing), ("unix:///b".to_owned(), refused)],
        };
        assert!(error.to_string().contains("unix:///a (not there)"));
        assert!(error.hint().unwrap().contains("DOCKER_HOST"));
    }
}
