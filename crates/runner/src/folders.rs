//! The folders of an episode: what its containers work on, what it was before an attempt, and the copy that is served.
//!
//! Nothing here needs an engine. A snapshot appears under its name when it is complete, with the attempt that it was made
//! for inside it ([`Label`]).

use std::ffi::CString;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use files::confined_path;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, mkdirat, openat, readlinkat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use sandbox::Volumes;
use sandbox::snapshot::open_folder;

use crate::copy::{self, Bounds};
use crate::disk::{self, Durability};
use crate::state::Label;
use crate::{RunError, kill_points};

/// Files and folders that a comparison looks at; beyond them a workspace counts as changed.
const COMPARED: u32 = 200_000;

/// The folders.
#[derive(Debug, Clone)]
pub(crate) struct Folders {
    state: PathBuf,
}

impl Folders {
    /// Those in an episode's part of `.stamina/state`, whether they are there or not.
    pub(crate) fn new(state: PathBuf) -> Self {
        Self { state }
    }

    /// Makes the live ones, if they are not there.
    pub(crate) fn make(&self) -> Result<(), RunError> {
        let live = self.live();
        // A restore that was killed between taking away and putting back.
        if !confined_path::exists(&self.path_of("live"))
            && confined_path::exists(&self.path_of("live.part/complete"))
        {
            self.put_back()?;
        }
        disk::folder(&live.workspace)?;
        disk::folder(&live.home)
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.state.join(name)
    }

    fn volumes(&self, name: &str) -> Volumes {
        Volumes { workspace: self.path_of(name).join("workspace"), home: self.path_of(name).join("home") }
    }

    /// What agent containers work on.
    pub(crate) fn live(&self) -> Volumes {
        self.volumes("live")
    }

    /// The agent's HOME, to be read; also one that it locked.
    pub(crate) fn home(&self) -> Result<files::Tree, RunError> {
        let home = self.live().home;
        let wrong =
            |reason: String| disk::error_at(&home, format!("the agent's HOME cannot be read: {reason}"));
        copy::open_unlocked(&home).map_err(|error| wrong(error.to_string()))?;
        files::Tree::open(&home).map_err(|error| wrong(error.to_string()))
    }

    /// As it was before the attempt of the label.
    pub(crate) fn volumes_before(&self) -> Volumes {
        self.volumes("before")
    }

    /// Which attempt the snapshot was made for.
    pub(crate) fn label(&self) -> Option<Label> {
        disk::read_json(&self.path_of("before/label.json"), disk::LARGEST_STATUS).ok().flatten()
    }

    /// Keeps the live folders as they are before an attempt.
    pub(crate) fn keep(&self, label: Label) -> Result<(), RunError> {
        let (part, old, before) =
            (self.path_of("before.part"), self.path_of("before.old"), self.path_of("before"));
        let wrong = |error: io::Error| disk::error_at(&before, error);
        copy::remove(&part).map_err(wrong)?;
        copy::remove(&old).map_err(wrong)?;
        kill_points::point("snapshot begun");
        make_or_remove(&part, || {
            copy_both(&self.live(), &self.volumes("before.part")).map_err(wrong)?;
            disk::write_json(&part.join("label.json"), &label, Durability::Buffered)
        })?;
        if confined_path::exists(&before) {
            confined_path::rename(&before, &old).map_err(wrong)?;
        }
        kill_points::point("snapshot about to count");
        confined_path::rename(&part, &before).map_err(wrong)?;
        kill_points::point("snapshot counts");
        copy::remove(&old).map_err(wrong)
    }

    /// Makes the live folders what they were before the attempt of the label; the snapshot stays.
    pub(crate) fn restore(&self) -> Result<(), RunError> {
        let part = self.path_of("live.part");
        let wrong = |error: io::Error| disk::error_at(&part, error);
        copy::remove(&part).map_err(wrong)?;
        make_or_remove(&part, || {
            copy_both(&self.volumes_before(), &self.volumes("live.part")).map_err(wrong)?;
            disk::create(&part.join("complete")).map(drop).map_err(wrong)
        })?;
        kill_points::point("restored aside");
        copy::remove(&self.path_of("live")).map_err(wrong)?;
        kill_points::point("live taken away");
        self.put_back()?;
        kill_points::point("restored");
        Ok(())
    }

    /// The same for a further attempt, which the snapshot is one of from here on.
    pub(crate) fn restore_for(&self, label: Label) -> Result<(), RunError> {
        disk::write_json(&self.path_of("before/label.json"), &label, Durability::Buffered)?;
        kill_points::point("snapshot is of the next attempt");
        self.restore()
    }

    fn put_back(&self) -> Result<(), RunError> {
        let (part, live) = (self.path_of("live.part"), self.path_of("live"));
        let wrong = |error: io::Error| disk::error_at(&live, error);
        confined_path::rename(&part, &live).map_err(wrong)?;
        confined_path::remove_file(&live.join("complete")).map_err(wrong)
    }

    /// A fresh copy of the live folders, for a server container.
    pub(crate) fn serve(&self) -> Result<Volumes, RunError> {
        let served = self.path_of("served");
        let wrong = |error: io::Error| disk::error_at(&served, error);
        copy::remove(&served).map_err(wrong)?;
        let volumes = self.volumes("served");
        make_or_remove(&served, || copy_both(&self.live(), &volumes).map_err(wrong))?;
        Ok(volumes)
    }

    /// Takes the copy away.
    pub(crate) fn served(&self) -> Result<(), RunError> {
        let served = self.path_of("served");
        copy::remove(&served).map_err(|error| disk::error_at(&served, error))
    }

    /// Whether a file of the workspace differs from before the attempt: names, kinds, sizes and times.
    pub(crate) fn changed(&self) -> bool {
        let opened = |path: &Path| confined_path::open_folder(path).ok();
        let (Some(before), Some(live)) =
            (opened(&self.volumes_before().workspace), opened(&self.live().workspace))
        else {
            return true;
        };
        let mut left = COMPARED;
        !are_same_folders(before.as_fd(), live.as_fd(), &mut left, 0)
    }

    /// Takes away what an episode that is over needs no more: all of them, unless it can be continued.
    pub(crate) fn close(&self, played_on: bool) -> Result<(), RunError> {
        let scratch = ["served", "before.part", "before.old", "live.part"];
        let kept: &[&str] = if played_on { &[] } else { &["before", "live"] };
        for name in scratch.iter().chain(kept) {
            let path = self.path_of(name);
            copy::remove(&path).map_err(|error| disk::error_at(&path, error))?;
            kill_points::point("folder taken away");
        }
        Ok(())
    }
}

/// Makes a copy, or leaves nothing of it: on a full disk its part would take the room in which it is written down how the run
/// ended.
fn make_or_remove(copy: &Path, make: impl FnOnce() -> Result<(), RunError>) -> Result<(), RunError> {
    make().inspect_err(|_| {
        if let Err(error) = copy::remove(copy) {
            tracing::warn!("{}: what was copied of it cannot be removed: {error}", copy.display());
        }
    })
}

fn copy_both(source: &Volumes, target: &Volumes) -> io::Result<()> {
    copy::copy(&source.workspace, &target.workspace, Bounds::ALL)?;
    copy::copy(&source.home, &target.home, Bounds::ALL)?;
    Ok(())
}

/// Whether two folders have the same names, kinds, sizes, times and links in them, `left` entries at most. Every step goes through
/// the handles of the folders above it, and no link is followed; what cannot be looked at is not the same.
fn are_same_folders(first: BorrowedFd<'_>, second: BorrowedFd<'_>, left: &mut u32, depth: u32) -> bool {
    let (Some(first_entries), Some(second_entries)) = (entries(first), entries(second)) else { return false };
    // What a copy leaves out is no difference.
    let is_copied =
        |stat: &Stat| matches!(kind(stat), FileType::Directory | FileType::RegularFile | FileType::Symlink);
    let second_entries: Vec<_> = second_entries.into_iter().filter(|(_, stat)| is_copied(stat)).collect();
    if first_entries.len() != second_entries.len() || depth > 100 {
        return false;
    }
    first_entries.into_iter().zip(second_entries).all(|((name, stat), (other_name, other_stat))| {
        *left = left.saturating_sub(1);
        if *left == 0 || name != other_name || kind(&stat) != kind(&other_stat) {
            return false;
        }
        if kind(&stat) == FileType::Directory {
            let _turn = copy::dive(depth);
            let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let folder = |parent: BorrowedFd<'_>| openat(parent, name.as_c_str(), flags, Mode::empty()).ok();
            let (Some(first), Some(second)) = (folder(first), folder(second)) else { return false };
            return are_same_folders(first.as_fd(), second.as_fd(), left, depth + 1);
        }
        if stat.st_size != other_stat.st_size {
            return false;
        }
        if kind(&stat) == FileType::Symlink {
            let link = |parent: BorrowedFd<'_>| readlinkat(parent, name.as_c_str(), Vec::new()).ok();
            return link(first) == link(second);
        }
        (stat.st_mtime, stat.st_mtime_nsec) == (other_stat.st_mtime, other_stat.st_mtime_nsec)
    })
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// What lies in an open folder, by name; `None` where it cannot be read, or is more than is compared.
fn entries(folder: BorrowedFd<'_>) -> Option<Vec<(CString, Stat)>> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(folder).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if entries.len() >= COMPARED as usize {
            return None;
        }
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        entries.push((name.to_owned(), stat));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Some(entries)
}

/// Writes a file beneath a folder that an agent owns: links on the way are taken away, not followed.
pub(crate) fn write_beneath(folder: &Path, path: &str, text: &str) -> Result<(), RunError> {
    let whole = folder.join(path);
    let wrong = |reason: String| RunError::Files { path: whole.clone(), reason };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let Some((name, folders)) = parts.split_last() else { return Err(wrong("it has no name".to_owned())) };
    if parts.iter().any(|part| matches!(*part, "." | "..")) {
        return Err(wrong("it leads out of the folder".to_owned()));
    }
    let written = (|| {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut folder_fd = copy::open_unlocked(folder)?;
        let user = sandbox::container_user();
        for part in folders {
            folder_fd = sub_folder(&folder_fd, part, flags, user)?;
        }
        let part = format!("{}{name}", disk::TEMPORARY);
        // An agent may know the name, and have made anything of it.
        if !matches!(unlinkat(&folder_fd, part.as_str(), AtFlags::empty()), Ok(()) | Err(Errno::NOENT)) {
            copy::remove(&whole.with_file_name(&part))?;
        }
        let create = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut file =
            std::fs::File::from(openat(&folder_fd, part.as_str(), create, Mode::from_raw_mode(0o600))?);
        file.write_all(text.as_bytes())?;
        give(file.as_fd(), user);
        match renameat(&folder_fd, part.as_str(), &folder_fd, *name) {
            // A folder in its place.
            Err(Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST) => {
                copy::remove(&whole)?;
                renameat(&folder_fd, part.as_str(), &folder_fd, *name)?;
            }
            other => other?,
        }
        Ok::<_, io::Error>(())
    })();
    written.map_err(|error| wrong(error.to_string()))
}

fn sub_folder(parent: &OwnedFd, name: &str, flags: OFlags, user: (u32, u32)) -> io::Result<OwnedFd> {
    let entry = CString::new(name)?;
    match open_folder(parent.as_fd(), &entry) {
        Ok(folder) => {
            copy::unlock(&folder)?;
            return Ok(folder);
        }
        Err(Errno::NOENT) => {}
        // A link or a file in its place.
        Err(Errno::LOOP | Errno::NOTDIR) => unlinkat(parent, name, AtFlags::empty())?,
        Err(error) => return Err(error.into()),
    }
    match mkdirat(parent, name, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let folder = openat(parent, name, flags, Mode::empty())?;
    give(folder.as_fd(), user);
    Ok(folder)
}

/// To the user of containers, which only the root of a host has to (and can).
fn give(descriptor: BorrowedFd<'_>, (uid, gid): (u32, u32)) {
    if rustix::process::geteuid().is_root() {
        let (uid, gid) = (rustix::fs::Uid::from_raw(uid), rustix::fs::Gid::from_raw(gid));
        let _ = rustix::fs::fchown(descriptor, Some(uid), Some(gid));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn live_goes_back_to_what_it_was() {
        let room = tempfile::tempdir().unwrap();
        let folders = Folders::new(room.path().join("scenario_0"));
        folders.make().unwrap();
        let live = folders.live();
        fs::write(live.workspace.join("server.py"), "1").unwrap();
        fs::write(live.home.join("session"), "a").unwrap();
        assert_eq!(folders.label(), None);
        let label = Label { turn: 2, attempt: 1 };
        folders.keep(label).unwrap();
        assert_eq!(folders.label(), Some(label));
        assert!(!folders.changed());
        fs::write(live.workspace.join("server.py"), "2").unwrap();
        fs::write(live.home.join("session"), "b").unwrap();
        assert!(folders.changed());
        folders.restore().unwrap();
        assert!(!folders.changed());
        assert_eq!(fs::read_to_string(live.home.join("session")).unwrap(), "a");
        fs::create_dir(live.workspace.join("new")).unwrap();
        assert!(folders.changed());
        let served = folders.serve().unwrap();
        fs::remove_file(served.workspace.join("server.py")).unwrap();
        assert!(live.workspace.join("server.py").exists());
        folders.served().unwrap();
        folders.close(true).unwrap();
        assert!(live.workspace.join("server.py").exists() && folders.label() == Some(label));
        folders.close(false).unwrap();
        assert_eq!(fs::read_dir(room.path().join("scenario_0")).unwrap().count(), 0);
        folders.close(false).unwrap();
    }

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn a_workspace_that_is_a_link_counts_as_changed_whatever_it_leads_to() {
        let room = tempfile::tempdir().unwrap();
        let folders = Folders::new(room.path().join("s"));
        folders.make().unwrap();
        let workspace = folders.live().workspace;
        fs::create_dir_all(workspace.join("a/b")).unwrap();
        fs::write(workspace.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink("b/file", workspace.join("a/link")).unwrap();
        folders.keep(Label { turn: 1, attempt: 1 }).unwrap();
        assert!(!folders.changed());
        fs::remove_file(workspace.join("a/link")).unwrap();
        std::os::unix::fs::symlink("b/fily", workspace.join("a/link")).unwrap();
        assert!(folders.changed(), "a link leads elsewhere");
        folders.restore().unwrap();
        assert!(!folders.changed());
        // The same files at the end of a link.
        fs::rename(&workspace, room.path().join("outside")).unwrap();
        std::os::unix::fs::symlink(room.path().join("outside"), &workspace).unwrap();
        assert!(folders.changed());
    }

    /// For root nothing is locked, so this process begins itself anew as somebody else.
    #[test]
    fn what_an_agent_locked_is_kept_served_restored_and_removed() {
        use std::os::unix::process::CommandExt as _;
        const NAME: &str = "folders::tests::what_an_agent_locked_is_kept_served_restored_and_removed";
        if rustix::process::getuid().is_root() {
            let mut again = std::process::Command::new(std::env::current_exe().unwrap());
            match again.args(["--exact", NAME]).uid(1000).gid(1000).output() {
                Ok(ran) => assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout)),
                // Where the build lies in a folder of root's.
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
            }
            return;
        }
        let room = tempfile::tempdir().unwrap();
        let folders = Folders::new(room.path().join("scenario_0"));
        folders.make().unwrap();
        let (live, label) = (folders.live(), Label { turn: 1, attempt: 1 });
        let lock = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let lock_all = || {
            for mode in [0o000, 0o311, 0o444, 0o500, 0o600, 0o644] {
                let folder = live.workspace.join(format!("{mode:o}"));
                fs::create_dir_all(folder.join("inner")).unwrap();
                fs::write(folder.join("inner/file"), "x").unwrap();
                lock(&folder.join("inner/file"), 0o000);
                lock(&folder.join("inner"), mode);
                lock(&folder, mode);
            }
            lock(&live.workspace, 0o644);
            lock(&live.home, 0o000);
        };
        lock_all();
        folders.keep(label).unwrap();
        assert_eq!(folders.home().unwrap().list("").len(), 0);
        let served = folders.serve().unwrap();
        assert!(fs::symlink_metadata(served.workspace.join("644")).unwrap().is_dir());
        lock(&live.home, 0o644);
        folders.home().unwrap();
        folders.restore().unwrap();
        lock(&live.home, 0o000);
        write_beneath(&live.home, "a/b", "x").unwrap();
        lock(&live.home.join("a"), 0o644);
        write_beneath(&live.home, "a/b", "y").unwrap();
        lock(&live.workspace, 0o600);
        folders.restore().unwrap();
        folders.close(false).unwrap();
        assert_eq!(fs::read_dir(room.path().join("scenario_0")).unwrap().count(), 0);
    }

    #[test]
    fn a_copy_that_cannot_be_made_leaves_no_part() {
        let room = tempfile::tempdir().unwrap();
        let folders = Folders::new(room.path().join("s"));
        folders.make().unwrap();
        fs::write(folders.live().workspace.join("large"), "x").unwrap();
        folders.keep(Label { turn: 1, attempt: 1 }).unwrap();
        for part in ["live", "before"] {
            // The workspace can be copied, and then no more.
            fs::remove_dir(folders.path_of(part).join("home")).unwrap();
        }
        folders.keep(Label { turn: 1, attempt: 2 }).unwrap_err();
        folders.serve().unwrap_err();
        folders.restore().unwrap_err();
        let left = fs::read_dir(room.path().join("s")).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["before", "live"]);
    }

    #[test]
    fn a_restore_that_was_killed_half_way_is_finished() {
        let room = tempfile::tempdir().unwrap();
        let folders = Folders::new(room.path().join("s"));
        folders.make().unwrap();
        fs::write(folders.live().workspace.join("a"), "1").unwrap();
        folders.keep(Label { turn: 1, attempt: 1 }).unwrap();
        copy_both(&folders.volumes_before(), &folders.volumes("live.part")).unwrap();
        fs::write(folders.path_of("live.part/complete"), "").unwrap();
        copy::remove(&folders.path_of("live")).unwrap();
        let again = Folders::new(room.path().join("s"));
        again.make().unwrap();
        assert_eq!(fs::read_to_string(again.live().workspace.join("a")).unwrap(), "1");
        assert!(!again.path_of("live/complete").exists());
    }

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn links_of_an_agent_lead_nowhere() {
        let room = tempfile::tempdir().unwrap();
        let (home, outside) = (room.path().join("home"), room.path().join("outside"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("target"), "untouched").unwrap();
        std::os::unix::fs::symlink(&outside, home.join(".config")).unwrap();
        std::os::unix::fs::symlink(outside.join("target"), home.join("file")).unwrap();
        fs::create_dir_all(home.join("dir/in")).unwrap();
        write_beneath(&home, ".config/a/b.json", "{}").unwrap();
        write_beneath(&home, "file", "mine").unwrap();
        write_beneath(&home, "dir", "a file now").unwrap();
        assert_eq!(fs::read_to_string(home.join(".config/a/b.json")).unwrap(), "{}");
        assert_eq!(fs::read_to_string(home.join("file")).unwrap(), "mine");
        assert_eq!(fs::read_to_string(home.join("dir")).unwrap(), "a file now");
        assert_eq!(fs::read_to_string(outside.join("target")).unwrap(), "untouched");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        // What an agent makes of the name that is written first, and of the folder itself.
        fs::create_dir_all(home.join(format!("{}file/deep", disk::TEMPORARY))).unwrap();
        write_beneath(&home, "file", "mine again").unwrap();
        assert_eq!(fs::read_to_string(home.join("file")).unwrap(), "mine again");
        for mode in [0o000, 0o500] {
            fs::set_permissions(&home, fs::Permissions::from_mode(mode)).unwrap();
            write_beneath(&home, "file", "locked").unwrap();
            let now = fs::metadata(&home).unwrap().permissions().mode() & 0o700;
            assert_eq!(now, 0o700, "as root reads anything, the mode says whether another user could");
        }
        assert!(write_beneath(&home, "../x", "").is_err());
    }
}
