//! What agent containers and server containers have in common: limits, rights, folders, and how one is made and taken away.

use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;

use bollard::container::LogOutput;
use bollard::models::{
    ContainerCreateBody, ContainerInspectResponse, HostConfig, HostConfigLogConfig, Mount, MountType,
    MountVolumeOptions, ResourcesUlimits,
};
use bollard::query_parameters::{
    AttachContainerOptions, CreateContainerOptions, InspectContainerOptions, ListContainersOptions,
    RemoveContainerOptions, StopContainerOptions, WaitContainerOptions,
};
use futures_util::{Stream, StreamExt};

use crate::engine_error::{failed, status};
use crate::owner::{key, labels, run_id, run_of_labels};
use crate::volumes::container_user;
use crate::{Engine, ExtraArgs, Limits, NetworkAccess, Owner, SandboxError, Volumes};

/// Seconds between SIGTERM and SIGKILL at the wall limit.
pub(crate) const GRACE: u64 = 15;

/// Runs `$1…` for at most `$0` seconds. The limit lies inside the container so that it holds without us; images without
/// `timeout` are ended from outside.
pub(crate) const WALL: &str =
    "n=$0; if command -v timeout >/dev/null 2>&1; then exec timeout -k 15 \"$n\" \"$@\"; fi; exec \"$@\"";

/// A container to be made.
pub(crate) struct Plan<'a> {
    pub(crate) owner: &'a Owner,
    pub(crate) kind: &'static str,
    pub(crate) name: &'a str,
    pub(crate) image: &'a str,
    pub(crate) argv: &'a [String],
    pub(crate) env: &'a [(String, String)],
    pub(crate) volumes: &'a Volumes,
    pub(crate) limits: &'a Limits,
    pub(crate) network: Network,
    pub(crate) extra: &'a ExtraArgs,
}

/// What a container is connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Network {
    /// Nothing.
    None,
    /// The loopback of another container, whose name and hosts it has then.
    OfContainer(String),
    /// A bridge, by its name, without a way out.
    Inside(String),
    /// The same with one.
    Open(String),
}

impl Network {
    /// As engines name it.
    fn mode(&self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::OfContainer(name) => format!("container:{name}"),
            Self::Inside(name) | Self::Open(name) => name.clone(),
        }
    }
}

/// Output of a container as it comes.
pub(crate) type Output = Pin<Box<dyn Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>>;

impl Engine {
    /// Makes a container, attaches to its output and starts it.
    pub(crate) async fn start(&self, plan: &Plan<'_>) -> Result<Output, SandboxError> {
        let workspace = self.volume(plan.owner, &plan.volumes.workspace).await?;
        let home = self.volume(plan.owner, &plan.volumes.home).await?;
        let body = ContainerCreateBody {
            image: Some(plan.image.to_owned()),
            entrypoint: Some(["/bin/sh", "-c", WALL].map(ToOwned::to_owned).to_vec()),
            cmd: Some(
                std::iter::once(plan.limits.seconds.to_string()).chain(plan.argv.iter().cloned()).collect(),
            ),
            env: Some(environment(plan)),
            // Whatever the settings ask for: both folders belong to this user, and no container works as root.
            user: Some(format!("{}:{}", container_user().0, container_user().1)),
            working_dir: Some("/workspace".to_owned()),
            // words: ok, the name of a host that agents see
            hostname: (!matches!(plan.network, Network::OfContainer(_))).then(|| "box".to_owned()),
            labels: Some(labels(&plan.owner.run, Some(&plan.owner.episode), plan.kind)),
            tty: Some(false),
            open_stdin: Some(false),
            attach_stdin: Some(false),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            host_config: Some(self.host_config(plan, &workspace, &home)),
            ..Default::default()
        };
        self.start_container(plan.name, body).await
    }

    /// Makes a container, attaches to its output and starts it.
    pub(crate) async fn start_container(
        &self,
        name: &str,
        body: ContainerCreateBody,
    ) -> Result<Output, SandboxError> {
        let image = body.image.clone().unwrap_or_default();
        let options = CreateContainerOptions { name: Some(name.to_owned()), ..Default::default() };
        let created = self.docker.create_container(Some(options), body).await;
        created.map_err(|error| {
            let message = error.to_string().to_lowercase();
            if status(&error) == Some(404) && (message.contains("image") || message.contains("manifest")) {
                SandboxError::NoImage { image }
            } else {
                failed("make a container")(error)
            }
        })?;
        let attached = self
            .docker
            .attach_container(
                name,
                Some(AttachContainerOptions {
                    stdout: true,
                    stderr: true,
                    stream: true,
                    ..Default::default()
                }),
            )
            .await
            .map_err(failed("attach to a container"))?;
        self.docker.start_container(name, None).await.map_err(failed("start a container"))?;
        Ok(attached.output)
    }

    fn host_config(&self, plan: &Plan<'_>, workspace: &str, home: &str) -> HostConfig {
        let limits = plan.limits;
        let inside = matches!(plan.network, Network::Inside(_));
        let on_bridge = inside || matches!(plan.network, Network::Open(_));
        let volume = |source: &str, target: &str| Mount {
            typ: Some(MountType::VOLUME),
            source: Some(source.to_owned()),
            target: Some(target.to_owned()),
            // Else the engine fills an empty folder from the image and takes over the image's owner.
            volume_options: Some(MountVolumeOptions { no_copy: Some(true), ..Default::default() }),
            ..Default::default()
        };
        let ulimit = |name: &str, value: u64| ResourcesUlimits {
            name: Some(name.to_owned()),
            soft: Some(signed(value)),
            hard: Some(signed(value)),
        };
        HostConfig {
            init: Some(true),
            nano_cpus: Some((limits.cpus * 1e9) as i64),
            memory: Some(signed(limits.memory)),
            // Memory and swap together: the same number means no swap.
            memory_swap: Some(signed(limits.memory)),
            pids_limit: Some(i64::from(limits.pids)),
            ulimits: Some(vec![
                ulimit("nofile", limits.files),
                ulimit("fsize", limits.disk),
                ulimit("core", 0),
            ]),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            // Nothing is written on the host: output goes to us alone.
            log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
            // Memory, so it counts within the memory limit; half of it, so that a full /tmp is an error, not a kill.
            tmpfs: Some(HashMap::from([(
                "/tmp".to_owned(),
                format!("rw,nosuid,nodev,exec,mode=1777,size={}", limits.memory / 2),
            )])),
            shm_size: Some(64 << 20),
            mounts: Some(vec![volume(workspace, "/workspace"), volume(home, "/agent")]),
            binds: Some(plan.extra.binds.clone()).filter(|binds| !binds.is_empty()),
            extra_hosts: on_bridge.then(|| plan.extra.hosts.clone()).filter(|hosts| !hosts.is_empty()),
            // Engines forward names to the host's resolver also from networks without a way out (CVE-2024-29018), and a
            // name can carry data. An address that leads nowhere (RFC 5737) ends that.
            dns: inside.then(|| vec!["192.0.2.1".to_owned()]),
            dns_options: inside.then(|| vec!["timeout:1".to_owned(), "attempts:1".to_owned()]),
            network_mode: Some(plan.network.mode()),
            userns_mode: (self.podman() && self.info.rootless).then(|| "keep-id".to_owned()),
            ..Default::default()
        }
    }

    /// Waits until a container has ended: its exit code, or `None` where it was removed by someone else.
    pub(crate) async fn ended(&self, name: &str) -> Result<Option<i64>, SandboxError> {
        loop {
            let options = WaitContainerOptions { condition: "not-running".to_owned() };
            let mut wait = std::pin::pin!(self.docker.wait_container(name, Some(options)));
            match wait.next().await {
                Some(Ok(done)) => return Ok(Some(done.status_code)),
                Some(Err(bollard::errors::Error::DockerContainerWaitError { code, .. })) => {
                    return Ok(Some(code));
                }
                // Engines that send no headers before the end look like this after the client's patience.
                Some(Err(bollard::errors::Error::RequestTimeoutError)) => {}
                Some(Err(error)) if status(&error) == Some(404) => return Ok(None),
                Some(Err(error)) => return Err(failed("wait for a container")(error)),
                None => {
                    return Err(SandboxError::Engine {
                        doing: "wait for a container",
                        reason: "the connection ended".to_owned(),
                        is_gone: true,
                    });
                }
            }
        }
    }

    /// SIGTERM, and SIGKILL after `grace`. That the container has ended already is fine.
    pub(crate) async fn stop(&self, name: &str, grace: Duration) -> Result<(), SandboxError> {
        let options = StopContainerOptions {
            t: Some(i32::try_from(grace.as_secs()).unwrap_or(i32::MAX)),
            ..Default::default()
        };
        match self.docker.stop_container(name, Some(options)).await {
            Ok(()) => Ok(()),
            Err(error) if matches!(status(&error), Some(304 | 404 | 409)) => Ok(()),
            Err(error) => Err(failed("stop a container")(error)),
        }
    }

    /// Removes a container, running or not; that it is gone already is fine.
    pub(crate) async fn remove_container(&self, name: &str) -> Result<(), SandboxError> {
        for _ in 0..50 {
            let options = RemoveContainerOptions {
                force: true,
                // Anonymous volumes of the image, if it declares any.
                v: true,
                ..Default::default()
            };
            match self.docker.remove_container(name, Some(options)).await {
                Ok(()) => return Ok(()),
                Err(error) if status(&error) == Some(404) => return Ok(()),
                // Somebody else removes it just now: wait until they have.
                Err(error) if status(&error) == Some(409) => {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                Err(error) => return Err(failed("remove a container")(error)),
            }
        }
        Err(SandboxError::Engine {
            doing: "remove a container",
            reason: format!("the removal of {name} has been in progress for 5 s"),
            is_gone: false,
        })
    }

    /// See [`crate::Containers::ready`].
    pub(crate) async fn ready(
        &self,
        owner: &Owner,
        reach: NetworkAccess,
        extra: &ExtraArgs,
    ) -> Result<(), SandboxError> {
        // Agents first: some engines do not remove a relay that has a container beside it.
        for kind in ["agent", "server"] {
            self.remove_stale(owner, kind).await?;
        }
        if reach == NetworkAccess::Gateway {
            self.relay(owner, extra).await?;
        }
        Ok(())
    }

    /// Removes containers of the same episode and kind that an engine's death or a crash has left: they would write into
    /// the same folders.
    pub(crate) async fn remove_stale(&self, owner: &Owner, kind: &str) -> Result<(), SandboxError> {
        let wanted = vec![
            format!("{}={}", key("run"), run_id(&owner.run)),
            format!("{}={}", key("episode"), owner.episode),
            format!("{}={kind}", key("kind")),
        ];
        let options = ListContainersOptions {
            all: true,
            filters: Some(HashMap::from([("label".to_owned(), wanted)])),
            ..Default::default()
        };
        let found =
            self.docker.list_containers(Some(options)).await.map_err(failed("look for containers"))?;
        for container in found {
            // A copy of the folder has the same id.
            let labels = container.labels.unwrap_or_default();
            if run_of_labels(|name| labels.get(name)) == owner.run
                && let Some(id) = container.id
            {
                self.remove_container(&id).await?;
            }
        }
        Ok(())
    }

    /// Exit code, whether the memory limit struck, and whether it still runs; `None` = it is not there.
    pub(crate) async fn state(&self, name: &str) -> Result<Option<State>, SandboxError> {
        Ok(self.inspect(name).await?.and_then(|found| found.state).map(|state| State {
            running: state.running.unwrap_or(false),
            code: state.exit_code,
            out_of_memory: state.oom_killed.unwrap_or(false),
        }))
    }

    /// All that the engine says of a container; `None` = it is not there. Between the end of a container and its own clean-up Podman
    /// calls its state `stopped`, which is no word of Docker's API and not understood: then it is asked again.
    pub(crate) async fn inspect(&self, name: &str) -> Result<Option<ContainerInspectResponse>, SandboxError> {
        let mut patience = 100;
        loop {
            match self.docker.inspect_container(name, None::<InspectContainerOptions>).await {
                Ok(found) => return Ok(Some(found)),
                Err(error) if status(&error) == Some(404) => return Ok(None),
                Err(bollard::errors::Error::JsonDataError { message, .. })
                    if message.contains("`stopped`") && patience > 0 =>
                {
                    patience -= 1;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Err(error) => return Err(failed("look at a container")(error)),
            }
        }
    }
}

/// What the engine says of a container.
pub(crate) struct State {
    pub(crate) running: bool,
    pub(crate) code: Option<i64>,
    pub(crate) out_of_memory: bool,
}

/// The configuration's variables, then the caller's, then HOME; later ones win, each name stands once. So no setting leads
/// HOME out of its volume, nor an agent to another endpoint than its attempt's.
fn environment(plan: &Plan<'_>) -> Vec<String> {
    let home = [("HOME".to_owned(), "/agent".to_owned())];
    let mut list: Vec<(&str, &str)> = Vec::new();
    for (name, value) in plan.extra.env.iter().chain(plan.env).chain(&home) {
        list.retain(|(other, _)| other != name);
        list.push((name, value));
    }
    list.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}

pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
