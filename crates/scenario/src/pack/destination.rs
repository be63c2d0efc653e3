//! The place of a pack: checked before anything is made, built beside, and taken in one step when all of it is there.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::layout::{LEFT_BY_PYTHON, MANIFEST, PACK_VERSION, Part, number};
use super::{Pack, PackError};
use crate::config::Generation;

/// Where a pack goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A folder.
    Folder(PathBuf),
    /// A zip.
    Zip(PathBuf),
    /// Nowhere: only its hashes are wanted.
    Nowhere,
}

impl Target {
    /// A zip if the name ends so, otherwise a folder.
    pub fn from_path(path: &Path) -> Self {
        let zip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"));
        if zip { Self::Zip(path.to_owned()) } else { Self::Folder(path.to_owned()) }
    }
}

/// Where a pack goes, checked before anything is made.
pub(super) struct Destination {
    path: PathBuf,
    parent: PathBuf,
    name: String,
}

impl Destination {
    pub(super) fn new(
        path: &Path,
        target: &Target,
        generation: &Generation,
        force: bool,
    ) -> Result<Self, PackError> {
        let write = |error| PackError::Write { path: path.to_owned(), error };
        // A link is followed: whoever names it chose it.
        let path = if path.exists() { path.canonicalize().map_err(write)? } else { path.to_owned() };
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            return Err(PackError::Occupied { reason: "This is no name for a pack".to_owned(), path });
        };
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        if path.exists() {
            may_replace(&path, target, generation, force)?;
        }
        Ok(Self { path, parent, name })
    }

    pub(super) fn stage(self) -> Result<Stage, PackError> {
        let write = |path: &Path, error| PackError::Write { path: path.to_owned(), error };
        std::fs::create_dir_all(&self.parent).map_err(|e| write(&self.parent, e))?;
        self.clear_away();
        let folder = self.sibling("partial");
        // Never taken over: another generation may be building in it.
        std::fs::create_dir(&folder).map_err(|e| write(&folder, e))?;
        Ok(Stage { folder, place: self })
    }

    /// A name beside it that nobody else has: `.pack.1234.0.partial`.
    fn sibling(&self, ending: &str) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.parent.join(format!(".{}.{}.{number}.{ending}", self.name, std::process::id()))
    }

    /// Removes what processes left that ended while they were building. Only where it is certain that they did.
    fn clear_away(&self) {
        let processes = Path::new("/proc");
        if !processes.join("self").exists() {
            return;
        }
        let Ok(entries) = std::fs::read_dir(&self.parent) else { return };
        let start = format!(".{}.", self.name);
        for entry in entries.flatten() {
            let name = entry.file_name();
            let inner = name.to_str().and_then(|name| name.strip_prefix(&start)?.strip_suffix(".partial"));
            let Some((process, number)) = inner.and_then(|inner| inner.split_once('.')) else { continue };
            let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            if digits(process) && digits(number) && !processes.join(process).exists() {
                // What cannot be removed does no harm.
                drop(std::fs::remove_dir_all(entry.path()));
            }
        }
    }
}

/// Whether what is there may be removed: an empty folder, or a pack that would be generated again.
fn may_replace(path: &Path, target: &Target, generation: &Generation, force: bool) -> Result<(), PackError> {
    let occupied = |reason: &str| PackError::Occupied { path: path.to_owned(), reason: reason.to_owned() };
    let wants_zip = matches!(target, Target::Zip(_));
    if path.is_dir() == wants_zip {
        return Err(occupied(if wants_zip { "A folder lies there" } else { "A file lies there" }));
    }
    if !wants_zip {
        let entries = std::fs::read_dir(path)
            .map_err(|error| PackError::Write { path: path.to_owned(), error })?
            .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| PackError::Write { path: path.to_owned(), error })?;
        if entries.is_empty() {
            return Ok(());
        }
        if !entries.iter().all(|name| name == MANIFEST || number(name).is_some()) {
            return Err(occupied("The folder holds something else than a pack"));
        }
        let foreign =
            foreign_file(path).map_err(|error| PackError::Write { path: path.to_owned(), error })?;
        if let Some(foreign) = foreign {
            return Err(occupied(&format!("{} is no part of a pack and would be lost", foreign.display())));
        }
    }
    match Pack::open_path(path) {
        Ok(_) | Err(PackError::Version(_)) if force => Ok(()),
        Ok(pack) if pack.manifest().format != PACK_VERSION => {
            Err(occupied("A pack of another format lies there"))
        }
        Ok(pack) if pack.manifest().config == *generation => Ok(()),
        Ok(_) => Err(occupied("A pack of other settings lies there")),
        Err(PackError::Version(_)) => Err(occupied("A pack of another format lies there")),
        Err(_) => Err(occupied("What lies there is no pack")),
    }
}

/// Something in the folders of scenarios that no generation has written: it would be gone with the old pack. What Python leaves
/// where tests are run counts as nothing.
fn foreign_file(pack: &Path) -> std::io::Result<Option<PathBuf>> {
    let is_folder = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    for scenario in read_dir(pack)?.filter(|entry| entry.file_name() != MANIFEST) {
        if !is_folder(&scenario) {
            return Ok(Some(scenario.path()));
        }
        for folder in read_dir(&scenario.path())? {
            let name = folder.file_name();
            if !is_folder(&folder) || !Part::ALL.iter().any(|part| name == part.folder()) {
                return Ok(Some(folder.path()));
            }
            let is_own = |file: &DirEntry| {
                let named = file.file_name();
                let Some(file_name) = named.to_str() else { return false };
                if is_folder(file) {
                    return name == Part::Suite.folder() && LEFT_BY_PYTHON.contains(&file_name);
                }
                let path = format!("{}/{file_name}", name.to_string_lossy());
                Part::from_path(&path).is_some()
            };
            if let Some(file) = read_dir(&folder.path())?.find(|file| !is_own(file)) {
                return Ok(Some(file.path()));
            }
        }
    }
    Ok(None)
}

fn read_dir(path: &Path) -> std::io::Result<impl Iterator<Item = DirEntry>> {
    Ok(std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?.into_iter())
}

/// Where a pack is built; gone when it is dropped.
pub(super) struct Stage {
    /// Where it is built.
    pub(super) folder: PathBuf,
    place: Destination,
}

impl Stage {
    /// Puts what was built in its place; what was put there meanwhile is checked again.
    pub(super) fn publish(
        &self,
        built: &Path,
        destination: &Target,
        generation: &Generation,
        force: bool,
    ) -> Result<(), PackError> {
        // Two generations of this process to the same place take turns.
        static PUBLISHING: Mutex<()> = Mutex::new(());
        let _turn = model::lock(&PUBLISHING);
        let target = &self.place.path;
        let write = |error| PackError::Write { path: target.clone(), error };
        if target.exists() {
            may_replace(target, destination, generation, force)?;
        }
        if target.is_dir() {
            let old = self.place.sibling("old");
            std::fs::rename(target, &old).map_err(write)?;
            if let Err(error) = std::fs::rename(built, target) {
                drop(std::fs::rename(&old, target));
                return Err(write(error));
            }
            return std::fs::remove_dir_all(&old).map_err(|error| PackError::Write { path: old, error });
        }
        std::fs::rename(built, target).map_err(write)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A folder that was published is not there any more.
        drop(std::fs::remove_dir_all(&self.folder));
    }
}
