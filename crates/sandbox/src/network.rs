//! The networks of a run. Two kinds, each a bridge of its own on which containers do not reach each other:
//!
//! - `servers`: internal (no way out, no name service that leads out), for server containers; from the host tests reach them.
//! - `open`: with a way out, for agents where the settings ask for it; the host's address on it is where the gateway listens.
//!
//! Other agents are on no bridge: `crate::relay`.
//!
//! From a container on a bridge the host itself is reached, by any of its addresses (the bridge routes to them). Rules of the
//! firewall (`crate::firewall`) keep server containers from it. Known limit: where they cannot be made, a server container can see
//! services of the host that listen on all addresses.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::path::Path;

use bollard::Docker;
use bollard::models::NetworkCreateRequest;
use bollard::query_parameters::ListNetworksOptions;

use crate::engine_error::{failed, status};
use crate::firewall;
use crate::owner::{Process, key, labels, plain_name};
use crate::{Engine, GatewayPlace, NetworkAccess, SandboxError, relay};

/// Networks that this process has made or found, by name.
#[derive(Default)]
pub(crate) struct Networks {
    known: HashSet<String>,
    /// Those that were known once. Where one of them is gone, somebody has removed it under the run: the one that is made
    /// in its place has another bridge, without our rules, and may have another address for the gateway.
    used: HashSet<String>,
    /// Runs of which one was.
    lost: HashSet<String>,
}

impl Networks {
    /// Forgets a run's networks; whoever needs one looks for it again.
    pub(crate) fn forget(&mut self, run: &str) {
        let prefix = prefix(run);
        self.known.retain(|name| !name.starts_with(&prefix));
    }

    /// Lets go of a run whose networks are removed by us: they may be made anew from the start.
    pub(crate) fn drop_run(&mut self, run: &str) {
        self.forget(run);
        let prefix = prefix(run);
        self.used.retain(|name| !name.starts_with(&prefix));
        self.lost.remove(run);
    }
}

fn prefix(run: &str) -> String {
    format!("stamina-{}-", plain_name(run))
}

pub(crate) fn open(run: &str) -> String {
    format!("stamina-{}-open", plain_name(run))
}

pub(crate) fn servers(run: &str) -> String {
    format!("stamina-{}-servers", plain_name(run))
}

impl Engine {
    pub(crate) async fn prepare(
        &self,
        run: &str,
        reach: NetworkAccess,
        folder: &Path,
    ) -> Result<GatewayPlace, SandboxError> {
        self.network(run, &servers(run), true).await?;
        if reach == NetworkAccess::Gateway {
            let socket = self.gateway_socket(run, folder).await?;
            return Ok(GatewayPlace::Socket { path: socket, container_address: relay::GATEWAY_ADDRESS });
        }
        let name = open(run);
        self.network(run, &name, false).await?;
        let network =
            self.docker.inspect_network(&name, None).await.map_err(failed("look at the run's network"))?;
        let host = network
            .ipam
            .and_then(|ipam| ipam.config)
            .into_iter()
            .flatten()
            .filter_map(|config| {
                let gateway = config.gateway.filter(|gateway| !gateway.is_empty());
                gateway.or_else(|| config.subnet.as_deref().and_then(first_address))
            })
            .filter_map(|address| address.split('/').next()?.parse::<IpAddr>().ok())
            .find(IpAddr::is_ipv4)
            .ok_or_else(|| SandboxError::Engine {
                doing: "tell the host's address on the run's network",
                reason: format!("network {name} has no IPv4 gateway"),
                is_gone: false,
            })?;
        Ok(GatewayPlace::Address(host))
    }

    /// Whether [`crate::Containers::guard`] works with this engine: its bridges are seen here, and rules are taken.
    pub async fn is_guarded(&self) -> bool {
        !self.podman()
            && bridges(&self.docker).await.is_some_and(|(local, total)| total > 0 && local == total)
            && tokio::task::spawn_blocking(firewall::is_proven).await.unwrap_or(false)
    }

    /// See [`crate::Containers::guard`].
    pub(crate) async fn guard(&self, run: &str) -> Result<bool, String> {
        if self.podman() || !self.info.socket.starts_with("unix://") {
            return Ok(false);
        }
        let found =
            self.docker.inspect_network(&servers(run), None).await.map_err(|error| error.to_string())?;
        // Else the engine runs in a machine of its own.
        let Some(bridge) = bridge(found.options, found.id).filter(|bridge| is_here(bridge)) else {
            return Ok(false);
        };
        let run = run.to_owned();
        let guard_task = tokio::task::spawn_blocking(move || {
            firewall::is_possible().then(|| firewall::guard(&run, &bridge)).transpose()
        });
        Ok(guard_task.await.map_err(|error| error.to_string())??.is_some())
    }

    /// Makes a network unless it is there already. One at a time: two episodes that start at once need the same one. Where
    /// one that was in use is gone, the way to the run's containers has to be made anew, with its rules and the gateway's
    /// address: an engine that is gone, for the caller.
    pub(crate) async fn network(&self, run: &str, name: &str, internal: bool) -> Result<(), SandboxError> {
        let mut networks = self.networks.lock().await;
        if networks.lost.contains(run) {
            return Err(lost_network_error(name));
        }
        if networks.known.contains(name) {
            return Ok(());
        }
        match self.docker.inspect_network(name, None).await {
            Ok(found) => {
                // One that a dead process made would be swept away by the next program that starts: it is made anew, as
                // ours. That fails while a container is on it, and then it is as it was.
                let owner = found.labels.and_then(|mut labels| labels.remove(&key("owner")));
                let id = found.id.unwrap_or_else(|| name.to_owned());
                if owner.is_some_and(|owner| !Process::from_label(&owner).lives())
                    && self.docker.remove_network(&id).await.is_ok()
                {
                    self.make(run, name, internal).await?;
                }
            }
            Err(error) if status(&error) == Some(404) && networks.used.contains(name) => {
                networks.lost.insert(run.to_owned());
                return Err(lost_network_error(name));
            }
            Err(error) if status(&error) == Some(404) => self.make(run, name, internal).await?,
            Err(error) => return Err(failed("look for the run's network")(error)),
        }
        networks.known.insert(name.to_owned());
        networks.used.insert(name.to_owned());
        Ok(())
    }

    async fn make(&self, run: &str, name: &str, internal: bool) -> Result<(), SandboxError> {
        let mut options = HashMap::new();
        if self.podman() {
            options.insert("isolate".to_owned(), "true".to_owned());
        } else {
            options.insert("com.docker.network.bridge.enable_icc".to_owned(), "false".to_owned());
        }
        let request = NetworkCreateRequest {
            name: name.to_owned(),
            driver: Some("bridge".to_owned()),
            internal: Some(internal),
            attachable: Some(false),
            options: Some(options),
            labels: Some(labels(run, None, "network")),
            ..Default::default()
        };
        match self.docker.create_network(request).await {
            Ok(_) => Ok(()),
            // Another process that resumes the same run was quicker.
            Err(error) if status(&error) == Some(409) => Ok(()),
            Err(error) => {
                let out_of_addresses = error.to_string().contains("non-overlapping IPv4");
                let error = failed("make the run's network")(error);
                Err(match error {
                    SandboxError::Engine { doing, reason, is_gone } if out_of_addresses => {
                        SandboxError::Engine {
                            doing,
                            is_gone,
                            reason: format!(
                                "{reason}; all of the engine's address pools are taken: remove networks that nobody uses \
                             (stamina clean, docker network prune)"
                            ),
                        }
                    }
                    error => error,
                })
            }
        }
    }
}

/// How many of an engine's bridges are where this program runs, and how many it has; `None` = it does not say. Those of one in a
/// machine or a network namespace of its own are not.
pub(crate) async fn bridges(docker: &Docker) -> Option<(usize, usize)> {
    let filters = Some(HashMap::from([("driver".to_owned(), vec!["bridge".to_owned()])]));
    let found = docker.list_networks(Some(ListNetworksOptions { filters })).await.ok()?;
    let all: Vec<String> =
        found.into_iter().filter_map(|network| bridge(network.options, network.id)).collect();
    Some((all.iter().filter(|bridge| is_here(bridge)).count(), all.len()))
}

fn lost_network_error(name: &str) -> SandboxError {
    SandboxError::Engine {
        doing: "find the run's network",
        reason: format!("somebody removed {name} while the run was using it"),
        is_gone: true,
    }
}

/// The bridge of a network, as this machine would name it.
fn bridge(options: Option<HashMap<String, String>>, id: Option<String>) -> Option<String> {
    let named = options.and_then(|mut all| all.remove("com.docker.network.bridge.name"));
    named.filter(|name| !name.is_empty()).or_else(|| Some(format!("br-{}", id?.get(..12)?)))
}

fn is_here(bridge: &str) -> bool {
    !bridge.contains('/') && std::path::Path::new("/sys/class/net").join(bridge).exists()
}

/// The first address of `10.89.0.0/24`, which bridges give to the host.
fn first_address(subnet: &str) -> Option<String> {
    let (address, _) = subnet.split_once('/')?;
    let address: std::net::Ipv4Addr = address.parse().ok()?;
    Some(std::net::Ipv4Addr::from_bits(address.to_bits().checked_add(1)?).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_run_and_kind() {
        assert_eq!(servers("0f3a5c77"), "stamina-0f3a5c77-servers");
        assert_eq!(open("0f3a5c77"), "stamina-0f3a5c77-open");
        assert_eq!(first_address("10.89.0.0/24").as_deref(), Some("10.89.0.1"));
    }

    #[test]
    fn a_run_is_forgotten_and_no_other() {
        let mut networks = Networks::default();
        networks.known.insert(servers("aaaa"));
        networks.known.insert(servers("aaaabbbb"));
        networks.forget("aaaa");
        assert_eq!(networks.known.len(), 1);
    }

    #[test]
    fn a_bridge_is_named_as_the_engine_names_it() {
        let named = HashMap::from([("com.docker.network.bridge.name".to_owned(), "docker0".to_owned())]);
        let id = Some("0123456789abcdef".to_owned());
        assert_eq!(bridge(Some(named), id.clone()).as_deref(), Some("docker0"));
        assert_eq!(bridge(None, id).as_deref(), Some("br-0123456789ab"));
        assert_eq!(bridge(None, None), None);
        assert!(is_here("lo") && !is_here("br-there-is-none") && !is_here("../../tmp"));
    }
}
