//! What runs leave in the engine: found by label, taken away when their run is over, when their process has died, or when
//! a person asks for it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bollard::query_parameters::{
    ListContainersOptions, ListImagesOptions, ListNetworksOptions, ListVolumesOptions, RemoveImageOptions,
    RemoveVolumeOptions,
};
use sha2::Digest as _;

use crate::engine_error::{failed, status};
use crate::firewall;
use crate::owner::{Process, key, plain_name, run_id, run_of_labels};
use crate::{Engine, LABEL, Leftover, Owner, SandboxError};

/// What the names of snapshots of the containers of tasks begin with.
const SNAPSHOTS: &str = "stamina-snapshot:";
/// The label of a snapshot with the path of the file that names it; empty = there is none.
pub(crate) const KEPT_BY: &str = "kept_by";
/// The label of a snapshot with the root of the file system that this file lies on, where it was when the snapshot was made.
pub(crate) const KEPT_ON: &str = "kept_on";
/// Folders from the file that names a snapshot up to the results folder of its run. Its file system is asked about as a whole.
const UP_TO_RESULTS: usize = 4;

/// The name of the snapshot of an episode's container before a step, from 1. `kept_by` is the file that names it: a copy of a
/// results folder has the same run and the same episodes, and snapshots of its own.
pub fn snapshot_name(owner: &Owner, kept_by: &Path, step: u32) -> String {
    let hash = sha2::Sha256::digest(kept_by_label(Some(kept_by)).as_bytes());
    let mut begin = [0; 8];
    begin.copy_from_slice(&hash[..8]);
    format!("{SNAPSHOTS}{}-{}-{:016x}-{step}", run_id(&owner.run), owner.episode, u64::from_be_bytes(begin))
}

/// The name of the same with earlier versions, which a copy of a results folder had as well: its label tells which folder it is of.
fn earlier_snapshot_name(owner: &Owner, step: u32) -> String {
    format!("{SNAPSHOTS}{}-{}-{step}", run_id(&owner.run), owner.episode)
}

impl Engine {
    /// All containers, images, networks and volumes with our labels of a run, containers first: the order in which they can be removed.
    pub async fn leftovers(&self) -> Result<Vec<Leftover>, SandboxError> {
        self.labeled(&key("run")).await
    }

    /// Takes the snapshots of an episode's container away that this file keeps; that there are none is fine. Those of a copy of
    /// its folder stay. Nothing is asked about other runs, so a folder of theirs that does not answer delays nothing.
    pub async fn remove_snapshots(&self, owner: &Owner, kept_by: &Path) -> Result<(), SandboxError> {
        let mut found = self.labeled(&run_label(&owner.run)).await?;
        found.retain(|left| left.kind == "image" && is_kept_by(&left.labels, owner, kept_by));
        self.remove(&found).await
    }

    /// Removes one snapshot by its name; that it is not there is fine.
    ///
    /// Errors: what the engine says, also of an image from which an open container was made.
    pub async fn remove_snapshot(&self, image: &str) -> Result<(), SandboxError> {
        if snapshot(image).is_none() {
            return Ok(());
        }
        // Not by force: Podman would remove the container with it.
        let options = RemoveImageOptions::default();
        match self.docker.remove_image(image, Some(options), None).await {
            Ok(_) => Ok(()),
            Err(error) if status(&error) == Some(404) => Ok(()),
            Err(error) => Err(failed("remove a snapshot")(error)),
        }
    }

    /// The name of the snapshot of an episode's container before a step, if the image of this id is there and is kept by this file.
    /// One of an earlier version has another name.
    pub async fn kept_snapshot(
        &self,
        owner: &Owner,
        kept_by: &Path,
        step: u32,
        id: &str,
    ) -> Result<Option<String>, SandboxError> {
        for name in [snapshot_name(owner, kept_by, step), earlier_snapshot_name(owner, step)] {
            let found = match self.docker.inspect_image(&name).await {
                Ok(found) => found,
                Err(error) if status(&error) == Some(404) => continue,
                Err(error) => return Err(failed("look at a snapshot")(error)),
            };
            let labels = found.config.and_then(|config| config.labels).unwrap_or_default();
            let labels: BTreeMap<String, String> = labels.into_iter().collect();
            if found.id.as_deref() == Some(id) && is_kept_by(&labels, owner, kept_by) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    async fn labeled(&self, label: &str) -> Result<Vec<Leftover>, SandboxError> {
        let filters = Some(HashMap::from([("label".to_owned(), vec![label.to_owned()])]));
        let mut found = Vec::new();
        let containers = self
            .docker
            .list_containers(Some(ListContainersOptions {
                all: true,
                filters: filters.clone(),
                ..Default::default()
            }))
            .await
            .map_err(failed("list containers"))?;
        for container in containers {
            let name = container.names.unwrap_or_default().into_iter().next();
            let name = name.map(|name| name.trim_start_matches('/').to_owned());
            found.extend(leftover("container", name, container.id, container.labels));
        }
        found.retain(|container| is_ours(&container.kind, &container.name));
        // Snapshots of the containers of tasks.
        let images = self
            .docker
            .list_images(Some(ListImagesOptions { filters: filters.clone(), ..Default::default() }))
            .await
            .map_err(failed("list images"))?;
        for image in images {
            // A snapshot of the same name has taken that of an earlier one, which has none then.
            let is_nameless =
                image.repo_tags.iter().chain(&image.repo_digests).all(|name| name.starts_with("<none>"));
            let name = image.repo_tags.into_iter().find(|name| is_ours("image", name));
            if name.is_some() || is_nameless {
                found.extend(leftover("image", name, Some(image.id), Some(image.labels)));
            }
        }
        let networks = self
            .docker
            .list_networks(Some(ListNetworksOptions { filters: filters.clone() }))
            .await
            .map_err(failed("list networks"))?;
        for network in networks {
            found.extend(leftover("network", network.name, network.id, network.labels));
        }
        let volumes = self
            .docker
            .list_volumes(Some(ListVolumesOptions { filters }))
            .await
            .map_err(failed("list volumes"))?;
        for volume in volumes.volumes.unwrap_or_default() {
            found.extend(leftover("volume", Some(volume.name), None, Some(volume.labels)));
        }
        marked(found).await
    }

    /// Takes these away, whether in use or not: whom they belong to is the caller's question. What is gone already is
    /// fine. Tries them all; the first error is returned. Volumes are only names for folders, which stay.
    pub async fn remove(&self, leftovers: &[Leftover]) -> Result<(), SandboxError> {
        let mut first = None;
        // Of containers those first that others do not lean on: some engines keep a relay while a container is beside it.
        let is_relay =
            |leftover: &Leftover| leftover.labels.get(&key("kind")).is_some_and(|kind| kind == "relay");
        for (kind, relays) in [
            ("container", false),
            ("container", true),
            ("image", false),
            ("network", false),
            ("volume", false),
        ] {
            let is_of_kind = |leftover: &&Leftover| leftover.kind == kind && is_relay(leftover) == relays;
            let mut leftovers_of_kind: Vec<&Leftover> = leftovers.iter().filter(is_of_kind).collect();
            // An engine keeps an image that another one stands on: the snapshot of a step stands on that of the step before.
            leftovers_of_kind.sort_by_key(|leftover| Reverse(step_of(leftover)));
            // One whose name a later snapshot has taken tells no step, so what stays because of it is tried again once it is gone.
            let mut failure = None;
            while !leftovers_of_kind.is_empty() {
                let (before, mut stay) = (leftovers_of_kind.len(), Vec::new());
                failure = None;
                for leftover in leftovers_of_kind {
                    if let Err(error) = self.remove_leftover(leftover).await {
                        failure.get_or_insert(error);
                        stay.push(leftover);
                    }
                }
                leftovers_of_kind = if stay.len() < before { stay } else { Vec::new() };
            }
            first = first.or(failure);
        }
        first.map_or(Ok(()), Err)
    }

    async fn remove_leftover(&self, leftover: &Leftover) -> Result<(), SandboxError> {
        let id = if leftover.id.is_empty() { &leftover.name } else { &leftover.id };
        let removed = match leftover.kind.as_str() {
            "container" => return self.remove_container(id).await,
            "image" => {
                let options = RemoveImageOptions { force: true, ..Default::default() };
                self.docker.remove_image(id, Some(options), None).await.map(drop)
            }
            "network" => {
                self.networks.lock().await.drop_run(&run_in_folder(leftover));
                self.docker.remove_network(id).await
            }
            _ => {
                let options = RemoveVolumeOptions::default();
                self.docker.remove_volume(id, Some(options)).await
            }
        };
        match removed {
            Ok(()) => Ok(()),
            Err(error) if status(&error) == Some(404) => Ok(()),
            Err(error) => Err(failed("remove a leftover")(error)),
        }
    }

    /// Takes away what dead processes have left, and says what that was. Nothing of a living one is touched, and no snapshot that
    /// a resume continues from.
    pub async fn sweep(&self) -> Result<Vec<Leftover>, SandboxError> {
        let mut left = self.leftovers().await?;
        left.retain(|leftover| !leftover.in_use && !leftover.is_kept);
        // A network or volume made by a dead process may be used by a living one that has resumed the run.
        let busy: Vec<String> = self
            .leftovers()
            .await?
            .into_iter()
            .filter(|leftover| leftover.in_use)
            .map(|leftover| run_in_folder(&leftover))
            .collect();
        left.retain(|leftover| leftover.kind == "container" || !busy.contains(&run_in_folder(leftover)));
        let removed = self.remove(&left).await;
        // Whatever could not be removed: rules go where no container is left that they keep from this machine.
        let containers = self.leftovers().await?.into_iter().filter(|leftover| leftover.kind == "container");
        let guarded: HashSet<String> =
            containers.map(|leftover| plain_name(&run_in_folder(&leftover))).collect();
        quietly(move || firewall::sweep(&guarded)).await;
        removed.map(|()| left)
    }

    pub(crate) async fn clear(&self, run: &str) -> Result<(), SandboxError> {
        let id_label = run_label(run);
        let mut left = self.labeled(&id_label).await?;
        left.retain(|leftover| run_in_folder(leftover) == run);
        // The id stands in a file of the results folder: another run that is alive may have the same.
        let label = Process::current().label().to_owned();
        left.retain(|leftover| {
            let is_ours = leftover.labels.get(&key("owner")).is_some_and(|owner| *owner == label);
            !leftover.is_kept && (!leftover.in_use || is_ours)
        });
        let removed = self.remove(&left).await;
        self.forget_relays(run).await;
        let still = self.labeled(&id_label).await?;
        if !still.iter().any(|leftover| leftover.kind == "container" && run_in_folder(leftover) == run) {
            let run = run.to_owned();
            quietly(move || firewall::unguard(&run)).await;
        }
        removed
    }
}

/// The label of everything of a run, in whichever folder it is played: its id, also with earlier versions.
fn run_label(run: &str) -> String {
    format!("{}={}", key("run"), run_id(run))
}

/// Whether a container or an image with our labels was made by this program: the recipe of a task may set labels, which its image and every
/// container of it then have, but not names.
fn is_ours(kind: &str, name: &str) -> bool {
    match kind {
        "container" => name.starts_with("stamina-"),
        _ => snapshot(name).is_some(),
    }
}

/// What follows [`SNAPSHOTS`] in the name of an image; Podman names its host before it.
fn snapshot(name: &str) -> Option<&str> {
    name.strip_prefix("localhost/").unwrap_or(name).strip_prefix(SNAPSHOTS)
}

/// What the label of a snapshot says of the file that names it.
pub(crate) fn kept_by_label(file: Option<&Path>) -> String {
    file.map(|file| file.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What the label of a snapshot says of the file system on which the file lies that names it; empty = that cannot be told.
pub(crate) fn kept_on_label(file: Option<&Path>) -> String {
    kept_by_label(file.and_then(mount_root).as_deref())
}

/// Whether labels are those of a snapshot of an episode's container that a file keeps.
fn is_kept_by(labels: &BTreeMap<String, String>, owner: &Owner, kept_by: &Path) -> bool {
    let has_label = |name: &str, value: &str| labels.get(&key(name)).is_some_and(|label| label == value);
    // Whatever the number of its device is by now: the path of the file tells the folder.
    has_label("run", run_id(&owner.run))
        && has_label("episode", &owner.episode)
        && has_label(KEPT_BY, &kept_by_label(Some(kept_by)))
}

/// Says of each snapshot whether the file that names it is there.
async fn marked(mut found: Vec<Leftover>) -> Result<Vec<Leftover>, SandboxError> {
    let marked = tokio::task::spawn_blocking(move || {
        for left in &mut found {
            left.is_kept = is_kept(&left.kind, &left.name, &left.labels);
        }
        found
    });
    marked.await.map_err(|panicked| SandboxError::Engine {
        doing: "look for the folders of snapshots",
        reason: panicked.to_string(),
        is_gone: false,
    })
}

/// Whether an image is a snapshot whose file is there. Nothing of the file is read. Blocks.
fn is_kept(kind: &str, name: &str, labels: &BTreeMap<String, String>) -> bool {
    let label_value = |name: &str| {
        let path = labels.get(&key(name)).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    if kind != "image" || snapshot(name).is_none() {
        return false;
    }
    let Some(file) = label_value(KEPT_BY) else { return false };
    let root = label_value(KEPT_ON);
    let place = file.ancestors().nth(UP_TO_RESULTS).unwrap_or(&file).to_owned();
    // What does not answer is not gone.
    files::deadline::within_limit(&place, move || !is_gone(&file, root.as_deref())).unwrap_or(true)
}

/// Whether a file is certainly not there any more: not where this user may not look for it, and not while its file system is not
/// mounted.
fn is_gone(file: &Path, root: Option<&Path>) -> bool {
    use std::io::ErrorKind as K;
    match std::fs::metadata(file) {
        Ok(found) => !found.is_file(),
        Err(error) if matches!(error.kind(), K::NotFound | K::NotADirectory) => {
            root.is_none_or(is_mount_root)
        }
        Err(_) => false,
    }
}

/// The root of the file system on which a file lies, or will lie. Blocks.
fn mount_root(file: &Path) -> Option<PathBuf> {
    let device_of = |path: &Path| Some(std::fs::metadata(path).ok()?.dev());
    let (folder, device) = file.ancestors().find_map(|path| Some((path, device_of(path)?)))?;
    folder.ancestors().take_while(|ancestor| device_of(ancestor) == Some(device)).last().map(Path::to_owned)
}

/// Whether a file system is mounted at a path.
fn is_mount_root(path: &Path) -> bool {
    let device_of = |path: &Path| Some(std::fs::metadata(path).ok()?.dev());
    match path.parent() {
        None => true,
        Some(parent) => device_of(path).is_some_and(|device| device_of(parent) != Some(device)),
    }
}

/// The run of a leftover in its folder, as [`crate::run_of_folder`] names it.
fn run_in_folder(leftover: &Leftover) -> String {
    run_of_labels(|name| leftover.labels.get(name))
}

/// The step before which a snapshot was made, from its name; 0 of what is none.
fn step_of(leftover: &Leftover) -> u32 {
    let tag = snapshot(&leftover.name).filter(|_| leftover.kind == "image");
    tag.and_then(|tag| tag.rsplit('-').next()?.parse().ok()).unwrap_or(0)
}

/// Something that blocks and says by itself what went wrong.
async fn quietly(work: impl FnOnce() + Send + 'static) {
    if let Err(panicked) = tokio::task::spawn_blocking(work).await {
        tracing::warn!("rules of the firewall could not be looked at: {panicked}");
    }
}

/// What a listing names; nothing where it has neither a name nor an id.
fn leftover(
    kind: &str,
    name: Option<String>,
    id: Option<String>,
    labels: Option<HashMap<String, String>>,
) -> Option<Leftover> {
    let name = name.or_else(|| id.clone())?;
    let labels: BTreeMap<String, String> =
        labels.unwrap_or_default().into_iter().filter(|(name, _)| name.starts_with(LABEL)).collect();
    Some(Leftover {
        // Its folder is looked for later, without holding anybody up.
        is_kept: false,
        kind: kind.to_owned(),
        name,
        id: id.unwrap_or_default(),
        run: labels.get(&key("run")).cloned().unwrap_or_default(),
        in_use: labels.get(&key("owner")).is_none_or(|owner| Process::from_label(owner).lives()),
        labels,
    })
}

#[cfg(test)]
mod tests;
