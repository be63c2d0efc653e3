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

use crate::engine::{failed, status};
use crate::firewall;
use crate::owner::{Process, key, plain};
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
    format!("{SNAPSHOTS}{}-{}-{:016x}-{step}", owner.run, owner.episode, u64::from_be_bytes(begin))
}

impl Engine {
    /// All containers, images, networks and volumes with our labels of a run, containers first: the order in which they can be removed.
    pub async fn leftovers(&self) -> Result<Vec<Leftover>, SandboxError> {
        self.labeled(&key("run")).await
    }

    /// Takes the snapshots of an episode's container away that this file keeps; that there are none is fine. Those of a copy of
    /// its folder stay.
    pub async fn remove_snapshots(&self, owner: &Owner, kept_by: &Path) -> Result<(), SandboxError> {
        let mut found = self.labeled(&format!("{}={}", key("run"), owner.run)).await?;
        found.retain(|left| left.kind == "image" && is_kept_by(&left.labels, owner, kept_by));
        self.remove(&found).await
    }

    /// The id of a snapshot of an episode's container that is kept by this file. `None` = it is not there, or it is of another
    /// episode or of another folder.
    pub async fn kept_snapshot(
        &self,
        image: &str,
        owner: &Owner,
        kept_by: &Path,
    ) -> Result<Option<String>, SandboxError> {
        if snapshot(image).is_none() {
            return Ok(None);
        }
        let found = match self.docker.inspect_image(image).await {
            Ok(found) => found,
            Err(error) if status(&error) == Some(404) => return Ok(None),
            Err(error) => return Err(failed("look at a snapshot")(error)),
        };
        let labels = found.config.and_then(|config| config.labels).unwrap_or_default();
        let labels: BTreeMap<String, String> = labels.into_iter().collect();
        Ok(found.id.filter(|_| is_kept_by(&labels, owner, kept_by)))
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
            let of_kind = |leftover: &&Leftover| leftover.kind == kind && is_relay(leftover) == relays;
            let mut of_kind: Vec<&Leftover> = leftovers.iter().filter(of_kind).collect();
            // An engine keeps an image that another one stands on: the snapshot of a step stands on that of the step before.
            of_kind.sort_by_key(|leftover| Reverse(step_of(leftover)));
            // One whose name a later snapshot has taken tells no step, so what stays because of it is tried again once it is gone.
            let mut failure = None;
            while !of_kind.is_empty() {
                let (before, mut stay) = (of_kind.len(), Vec::new());
                failure = None;
                for leftover in of_kind {
                    if let Err(error) = self.remove_one(leftover).await {
                        failure.get_or_insert(error);
                        stay.push(leftover);
                    }
                }
                of_kind = if stay.len() < before { stay } else { Vec::new() };
            }
            first = first.or(failure);
        }
        first.map_or(Ok(()), Err)
    }

    async fn remove_one(&self, leftover: &Leftover) -> Result<(), SandboxError> {
        let id = if leftover.id.is_empty() { &leftover.name } else { &leftover.id };
        let removed = match leftover.kind.as_str() {
            "container" => return self.remove_container(id).await,
            "image" => {
                let options = RemoveImageOptions { force: true, ..Default::default() };
                self.docker.remove_image(id, Some(options), None).await.map(drop)
            }
            "network" => {
                self.networks.lock().await.drop_run(&leftover.run);
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
            .map(|leftover| leftover.run)
            .collect();
        left.retain(|leftover| leftover.kind == "container" || !busy.contains(&leftover.run));
        let removed = self.remove(&left).await;
        // Whatever could not be removed: rules go where no container is left that they keep from this machine.
        let containers = self.leftovers().await?.into_iter().filter(|leftover| leftover.kind == "container");
        let guarded: HashSet<String> = containers.map(|leftover| plain(&leftover.run)).collect();
        quietly(move || firewall::sweep(&guarded)).await;
        removed.map(|()| left)
    }

    pub(crate) async fn clear(&self, run: &str) -> Result<(), SandboxError> {
        let mut left = self.labeled(&format!("{}={run}", key("run"))).await?;
        // The id stands in a file of the results folder: another run that is alive may have the same.
        let ours = Process::this().label().to_owned();
        left.retain(|leftover| {
            let is_ours = leftover.labels.get(&key("owner")).is_some_and(|owner| *owner == ours);
            !leftover.is_kept && (!leftover.in_use || is_ours)
        });
        let removed = self.remove(&left).await;
        self.forget_relays(run).await;
        let still = self.labeled(&format!("{}={run}", key("run"))).await?;
        if !still.iter().any(|leftover| leftover.kind == "container") {
            let run = run.to_owned();
            quietly(move || firewall::unguard(&run)).await;
        }
        removed
    }
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
    let says = |name: &str, value: &str| labels.get(&key(name)).is_some_and(|label| label == value);
    says("run", &owner.run) && says("episode", &owner.episode) && says(KEPT_BY, &kept_by_label(Some(kept_by)))
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
        why: panicked.to_string(),
        is_gone: false,
    })
}

/// Whether an image is a snapshot whose file is there. Nothing of the file is read. Blocks.
fn is_kept(kind: &str, name: &str, labels: &BTreeMap<String, String>) -> bool {
    let of_label = |name: &str| {
        let path = labels.get(&key(name)).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    if kind != "image" || snapshot(name).is_none() {
        return false;
    }
    let Some(file) = of_label(KEPT_BY) else { return false };
    let root = of_label(KEPT_ON);
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
    folder.ancestors().take_while(|above| device_of(above) == Some(device)).last().map(Path::to_owned)
}

/// Whether a file system is mounted at a path.
fn is_mount_root(path: &Path) -> bool {
    let device_of = |path: &Path| Some(std::fs::metadata(path).ok()?.dev());
    match path.parent() {
        None => true,
        Some(above) => device_of(path).is_some_and(|device| device_of(above) != Some(device)),
    }
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
        in_use: labels.get(&key("owner")).is_none_or(|owner| Process::of_label(owner).lives()),
        labels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(name: &str) -> Leftover {
        leftover("image", Some(name.to_owned()), None, None).unwrap()
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn what_a_recipe_labels_as_ours_is_not_ours() {
        assert!(is_ours("image", "stamina-snapshot:0f3a5c77-scenario_0-2"));
        assert!(is_ours("image", "localhost/stamina-snapshot:0f3a5c77-scenario_0-2"));
        assert!(is_ours("container", "stamina-0f3a5c77-scenario_0-task-1"));
        for image in ["stamina-task:0a1b", "docker.io/somebody/image:latest", "stamina/base:1"] {
            assert!(!is_ours("image", image), "{image}");
        }
        assert!(!is_ours("container", "quirky_hopper"));
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn a_snapshot_stays_while_the_file_that_names_it_is_there() {
        let room = tempfile::tempdir().unwrap();
        let file = room.path().join("snapshot.json");
        let is_kept = |kind: &str, name: &str, file: &str| {
            super::is_kept(kind, name, &BTreeMap::from([(key(KEPT_BY), file.to_owned())]))
        };
        let (name, path) = ("stamina-snapshot:0f3a5c77-scenario_0-2", kept_by_label(Some(&file)));
        assert!(!is_kept("image", name, &path), "its file is gone");
        std::fs::write(&file, "{}").unwrap();
        assert!(is_kept("image", name, &path));
        assert!(is_kept("image", "localhost/stamina-snapshot:0f3a5c77-scenario_0-2", &path));
        // A recipe may set labels, but not names; a container is none, and a folder is no file.
        assert!(!is_kept("image", "somebody/image:1", &path) && !is_kept("container", name, &path));
        for other in ["", "snapshot.json", &kept_by_label(Some(room.path()))] {
            assert!(!is_kept("image", name, other), "{other}");
        }
        assert!(!super::is_kept("image", name, &BTreeMap::new()), "one of before");
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn a_snapshot_whose_folder_cannot_be_looked_at_is_not_gone() {
        let room = tempfile::tempdir().unwrap();
        let file = room.path().join("run/.stamina/state/scenario_0/snapshot.json");
        assert!(is_gone(&file, None), "there is no such folder");
        // Neither a folder without rights nor a broken disk says that something is not there. Whoever tests may look everywhere, so
        // that a chain of links stands for both.
        let (a, b) = (room.path().join("a"), room.path().join("b"));
        std::os::unix::fs::symlink(&a, &b).unwrap();
        std::os::unix::fs::symlink(&b, &a).unwrap();
        let unknown = a.join("snapshot.json");
        assert!(!matches!(
            std::fs::metadata(&unknown).unwrap_err().kind(),
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
        ));
        assert!(!is_gone(&unknown, None));
        // A disk that is not mounted any more: its root is an empty folder, or not there.
        assert!(!is_gone(&file, Some(room.path())));
        assert!(!is_gone(&file, Some(&room.path().join("media/disk"))));
        let root = mount_root(&file).unwrap();
        assert!(file.starts_with(&root) && is_mount_root(&root), "{}", root.display());
        assert!(is_gone(&file, Some(&root)), "that one is mounted");
        if cfg!(target_os = "linux") {
            assert_eq!(mount_root(Path::new("/proc/self/none/file")), Some(PathBuf::from("/proc")));
        }
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn a_copy_of_a_folder_has_snapshots_of_its_own() {
        let owner = Owner { run: "0f3a5c77".to_owned(), episode: "scenario_3".to_owned() };
        let [original, copy] = ["/runs/a", "/runs/b"].map(|run| Path::new(run).join("snapshot.json"));
        let name = snapshot_name(&owner, &original, 4);
        assert!(name.starts_with("stamina-snapshot:0f3a5c77-scenario_3-"), "{name}");
        assert_eq!((name.clone(), step_of(&image(&name))), (snapshot_name(&owner, &original, 4), 4));
        assert_ne!(name, snapshot_name(&owner, &copy, 4), "it takes no name away");
        let labels = [("run", "0f3a5c77"), ("episode", "scenario_3"), (KEPT_BY, "/runs/a/snapshot.json")];
        let labels: BTreeMap<String, String> =
            labels.into_iter().map(|(name, value)| (key(name), value.to_owned())).collect();
        assert!(is_kept_by(&labels, &owner, &original));
        assert!(!is_kept_by(&labels, &owner, &copy), "what the original keeps is not the copy's to remove");
        let other = Owner { episode: "scenario_30".to_owned(), ..owner };
        assert!(!is_kept_by(&labels, &other, &original));
    }

    #[test]
    fn snapshots_of_later_steps_stand_on_those_of_earlier_ones() {
        let snapshot = |step: u32| image(&format!("stamina-snapshot:0f3a5c77-scenario_3-{step}"));
        let mut all = [snapshot(2), snapshot(10), image("stamina-snapshot:odd"), snapshot(1)];
        all.sort_by_key(|left| Reverse(step_of(left)));
        let steps: Vec<u32> = all.iter().map(step_of).collect();
        assert_eq!(steps, [10, 2, 1, 0]);
        let container = Leftover { kind: "container".to_owned(), ..snapshot(4) };
        assert_eq!(step_of(&container), 0);
    }
}
