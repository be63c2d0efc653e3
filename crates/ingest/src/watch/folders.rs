//! Which folders the system is asked to watch.
//!
//! On Linux each folder is named to the system by itself. notify could go through the folders on its own, but asks for
//! the state of every file on the way, which takes many seconds at a million files; and it would name every snapshot of
//! the code, of which a run has one an attempt ([`written_once`]). Elsewhere the system watches a whole tree at once.
//!
//! What the runner keeps for itself beside its results is no result ([`is_private`]): it holds copies of whole working
//! folders, and changes many times a second.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use notify::event::{CreateKind, EventKind, ModifyKind, RenameMode};
use notify::{Config, EventHandler, RecommendedWatcher, RecursiveMode, Watcher};

use files::{MAX_DEPTH, join, parent};

/// Whether the system watches what lies below a folder by itself.
const WHOLE_TREES: bool = !cfg!(any(target_os = "linux", target_os = "android"));

/// The folders of a source, watched.
#[derive(Debug)]
pub(super) struct Folders {
    notifier: RecommendedWatcher,
    root: PathBuf,
}

impl Folders {
    /// Watches a folder with all that lies below it.
    ///
    /// Errors: it cannot be watched, or the system does not watch so many folders.
    pub(super) fn watch(root: &Path, handler: impl EventHandler) -> notify::Result<Self> {
        let notifier = RecommendedWatcher::new(handler, Config::default().with_follow_symlinks(false))?;
        let mut folders = Self { notifier, root: root.to_path_buf() };
        if WHOLE_TREES {
            folders.notifier.watch(root, RecursiveMode::Recursive)?;
        } else {
            folders.notifier.watch(root, RecursiveMode::NonRecursive)?;
            folders.watch_children("")?;
        }
        Ok(folders)
    }

    /// Watches folders that came, and whatever else came with them. What is watched already stays so.
    ///
    /// Errors: the system does not watch so many folders.
    pub(super) fn add(&mut self, came: &[PathBuf]) -> notify::Result<()> {
        if WHOLE_TREES {
            return Ok(());
        }
        for path in came {
            let Some(folder) = path.strip_prefix(&self.root).ok().and_then(Path::to_str) else { continue };
            if folder.is_empty() {
                self.watch_children("")?;
            } else if folder.split('/').any(is_private) {
                // Not even looked into.
            } else if !written_once(parent(folder)) && path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
            {
                self.watch_tree(folder)?;
            }
        }
        Ok(())
    }

    fn watch_tree(&mut self, folder: &str) -> notify::Result<()> {
        match self.notifier.watch(&self.root.join(folder), RecursiveMode::NonRecursive) {
            Ok(()) => self.watch_children(folder),
            // It is gone again, or is not ours to look into: then nothing in it can be read either.
            Err(error) if is_out_of_reach(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn watch_children(&mut self, folder: &str) -> notify::Result<()> {
        if written_once(folder) || folder.split('/').count() >= MAX_DEPTH {
            return Ok(());
        }
        let Ok(entries) = self.root.join(folder).read_dir() else { return Ok(()) };
        for entry in entries.flatten() {
            // The kind comes with the name; the system is asked only where the file system does not give it.
            if entry.file_type().is_ok_and(|kind| kind.is_dir())
                && let Some(name) = entry.file_name().to_str()
                && !is_private(name)
            {
                self.watch_tree(&join(folder, name))?;
            }
        }
        Ok(())
    }
}

fn is_out_of_reach(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => {
            matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::NotADirectory
            )
        }
        _ => false,
    }
}

/// Whether an event reports something new that may be a folder.
pub(super) fn may_be_a_new_folder(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Create(CreateKind::Folder | CreateKind::Any)
            | EventKind::Modify(ModifyKind::Name(RenameMode::To))
    )
}

/// Whether a folder is what the runner keeps for itself: snapshots, journals, its live state.
pub(super) fn is_private(name: &str) -> bool {
    name == ".stamina"
}

/// Whether an event reports only what is private.
pub(super) fn is_of_private(root: &Path, event: &notify::Event) -> bool {
    let is_private_path = |path: &PathBuf| {
        let relative_path = path.strip_prefix(root).unwrap_or(path);
        relative_path.components().any(|part| part.as_os_str().to_str().is_some_and(is_private))
    };
    !event.paths.is_empty() && event.paths.iter().all(is_private_path)
}

/// Whether the folders in a folder are left alone, by any format.
pub(super) fn written_once(folder: &str) -> bool {
    crate::formats::all().iter().any(|format| format.written_once(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_of_code_are_left_alone_and_nothing_else() {
        assert!(written_once("sweep/run_1/scenario_3/agent_code"));
        for watched in [
            "",
            "agent_code",
            "jobs/agent_code",
            "scenario_3",
            "scenario_3/test_results",
            "scenario_3/agent_code/turn_1",
        ] {
            assert!(!written_once(watched), "{watched}");
        }
    }
}
