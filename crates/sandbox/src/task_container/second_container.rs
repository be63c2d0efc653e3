//! What else runs in the container of a trial, and a second container of its files without any of that.

use std::collections::BTreeSet;

use bollard::models::ContainerTopResponse;

use super::{OpenTask, TaskContainer};
use crate::SandboxError;
use crate::engine_error::failed;
use crate::owner::unique_name;

/// The column of a process's id in what an engine lists.
const ID: &str = "PID";

/// A capability that a second container has beyond those of the first, where it shares its list of processes. The kernel lets nobody
/// trace a process that may do more, or enter its files by `/proc/PID/root`, who cannot do the same. With this one a process may take
/// leases on files of its own container.
pub(super) const SECOND_CAPABILITY: &str = "LEASE";

/// What a second container shares with that of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// Its network, and its list of processes: those of the trial are seen in it. Only for commands of root, whose processes the
    /// processes of the trial then cannot enter.
    NetworkAndProcesses,
    /// Its network: what listens there is found at the same addresses.
    Network,
    /// Nothing. It has a loopback of its own.
    Nothing,
}

impl OpenTask {
    /// The ids of the processes in the container, as the engine sees it: no program of the container is asked. `None` = the engine
    /// cannot tell.
    pub async fn processes(&self) -> Result<Option<BTreeSet<String>>, SandboxError> {
        let error = match self.engine.docker.top_processes(&self.name, None).await {
            Ok(found) => return Ok(ids(found)),
            Err(error) => failed("list the processes of a container")(error),
        };
        match error {
            // It asks a program of its machine, which may not be there. Or the container has ended, which the next command says.
            SandboxError::Engine { is_gone: false, .. } => {
                tracing::warn!(%error, name = self.name, "the engine does not list the processes of a container");
                Ok(None)
            }
            error => Err(error),
        }
    }

    /// Whether a command of this user, or of the image's where none is given, is one of root.
    pub fn is_root(&self, user: Option<&str>) -> bool {
        names_root(user.unwrap_or(&self.user))
    }

    /// Opens a second container from an image of the files of this one. Processes of this one do not reach its files. `task` is what
    /// this one was opened from.
    ///
    /// Errors: what the engine says; [`SandboxError::Image`] where its own program ends at once.
    pub async fn open_second(
        &self,
        task: &TaskContainer,
        image: &str,
        shares: Shares,
    ) -> Result<Self, SandboxError> {
        let network = match shares {
            Shares::Nothing => "none".to_owned(),
            Shares::NetworkAndProcesses | Shares::Network => {
                format!("container:{}", self.relay.as_deref().unwrap_or(&self.name))
            }
        };
        let processes = (shares == Shares::NetworkAndProcesses).then(|| format!("container:{}", self.name));
        // What was made from it belongs to no later resume.
        let task = TaskContainer { image: image.to_owned(), kept_by: None, ..task.clone() };
        let name = unique_name(&task.owner.run, &task.owner.episode, "verifier");
        let opened = self.engine.open(&name, &task, network, None, processes).await;
        if opened.is_err() {
            self.engine.remove_container(&name).await?;
        }
        opened
    }
}

/// Whether a user, with a group or without, is root. An image that names none has root.
fn names_root(user: &str) -> bool {
    matches!(user.split(':').next(), None | Some("" | "root" | "0"))
}

/// The ids in a list of processes; `None` = it has no such column.
fn ids(found: ContainerTopResponse) -> Option<BTreeSet<String>> {
    let titles = found.titles?;
    let column = titles.iter().position(|title| title == ID)?;
    found.processes.unwrap_or_default().into_iter().map(|row| row.get(column).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_told_by_its_name_and_its_number() {
        for user in ["", "root", "0", "root:root", "0:1000"] {
            assert!(names_root(user), "{user:?}");
        }
        for user in ["1000", "00", "agent", "rooty", "agent:root"] {
            assert!(!names_root(user), "{user:?}");
        }
    }

    #[test]
    fn processes_are_told_by_their_ids_and_a_list_without_ids_tells_nothing() {
        let row = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
        let listed = |titles: &[&str], rows: &[&[&str]]| {
            ids(ContainerTopResponse {
                titles: Some(row(titles)),
                processes: Some(rows.iter().map(|cells| row(cells)).collect()),
            })
        };
        let docker_columns = ["UID", "PID", "PPID", "C", "STIME", "TTY", "TIME", "CMD"];
        let init = ["root", "4711", "4690", "0", "12:00", "?", "00:00:00", "/sbin/docker-init"];
        let idle = ["root", "4735", "4711", "0", "12:00", "?", "00:00:00", "sleep infinity"];
        let wanted = BTreeSet::from(["4711".to_owned(), "4735".to_owned()]);
        assert_eq!(listed(&docker_columns, &[&init, &idle]), Some(wanted));
        assert_eq!(listed(&docker_columns, &[]), Some(BTreeSet::new()));
        assert_eq!(listed(&["USER", "COMMAND"], &[&["root", "sleep"]]), None);
        assert_eq!(listed(&docker_columns, &[&["root"]]), None, "a row that ends before its id");
        assert_eq!(ids(ContainerTopResponse::default()), None);
    }
}
