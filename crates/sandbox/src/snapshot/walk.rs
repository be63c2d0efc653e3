//! Walking a folder that somebody else may be changing.
//!
//! Every step goes through the open parent folder and never follows a link (`openat` with `O_NOFOLLOW`), so that a
//! folder swapped for a link while we walk leads to an error, not out of the tree. Depth is bounded by [`DEPTH`], which
//! bounds open files and the stack as well.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Folders inside folders that are followed; deeper than any honest tree.
pub const DEPTH: usize = 256;

/// Opens a folder and nothing else.
pub(crate) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK);

/// Opens a file for reading and no link. A pipe that took its place would wait for a writer.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// Opens the top of a tree; the path to it is trusted, the tree is not.
pub(crate) fn open_top(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, FOLDER, Mode::empty())?)
}

/// Opens a folder inside an open one.
pub(crate) fn open_in(parent: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(parent, name, FOLDER, Mode::empty())
}

/// Opens a folder also where its owner, who is this user, may not read it or look into it (mode 311, 644): what lies there
/// counts all the same. It can be read from then on.
pub fn open_folder(parent: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    const RIGHTS: Mode = Mode::RUSR.union(Mode::XUSR);
    let folder = open_locked(parent, name, FOLDER, RIGHTS)?;
    // Reading was enough to open it, not to find anything in it.
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&folder)?.st_mode);
    if !mode.contains(RIGHTS) {
        rustix::fs::fchmod(&folder, mode | RIGHTS)?;
    }
    Ok(folder)
}

/// Opens a file for reading, also where its owner, who is this user, may not read it. It can be read from then on.
pub fn open_file(parent: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    open_locked(parent, name, FILE, Mode::RUSR)
}

/// Opens an entry, with these rights of its owner where it cannot be opened without.
fn open_locked(
    parent: BorrowedFd<'_>,
    name: &CStr,
    flags: OFlags,
    rights: Mode,
) -> rustix::io::Result<OwnedFd> {
    match rustix::fs::openat(parent, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => unlock_and_open(parent, name, flags, rights),
        other => other,
    }
}

/// The mode is changed through a handle of the entry itself: by its name it could be a link by now.
#[cfg(target_os = "linux")]
fn unlock_and_open(
    parent: BorrowedFd<'_>,
    name: &CStr,
    flags: OFlags,
    rights: Mode,
) -> rustix::io::Result<OwnedFd> {
    use std::os::fd::AsRawFd as _;
    let handle = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(parent, name, handle, Mode::empty())?;
    let stat = rustix::fs::fstat(&handle)?;
    if kind(&stat) == FileType::Symlink {
        return Err(Errno::LOOP);
    }
    let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
    rustix::fs::chmod(&path, Mode::from_raw_mode(stat.st_mode) | rights)?;
    rustix::fs::open(&path, flags.difference(OFlags::NOFOLLOW), Mode::empty())
}

#[cfg(not(target_os = "linux"))]
fn unlock_and_open(
    parent: BorrowedFd<'_>,
    name: &CStr,
    flags: OFlags,
    rights: Mode,
) -> rustix::io::Result<OwnedFd> {
    let mode = Mode::from_raw_mode(look(parent, name)?.st_mode) | rights;
    rustix::fs::chmodat(parent, name, mode, AtFlags::SYMLINK_NOFOLLOW)?;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// The entry itself, not what a link points to.
pub(crate) fn look(parent: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<Stat> {
    rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
}

pub(crate) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Entries of an open folder without `.` and `..`, read as they are asked for: a folder may hold millions.
pub(crate) fn entries(
    folder: BorrowedFd<'_>,
) -> io::Result<impl Iterator<Item = io::Result<rustix::fs::DirEntry>>> {
    // A handle of its own, so that its position is its own.
    let dir = Dir::read_from(folder)?;
    Ok(dir.filter_map(|entry| match entry {
        Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => None,
        Ok(entry) => Some(Ok(entry)),
        Err(error) => Some(Err(error.into())),
    }))
}

/// What a folder takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Bytes on the disk; an entry counts at least [`ENTRY`], since it takes an inode.
    pub bytes: u64,
    /// Files, folders, links and whatever else.
    pub entries: u64,
    /// Whether something lies deeper than [`DEPTH`], and was not counted.
    pub too_deep: bool,
}

/// What an entry counts at least.
pub const ENTRY: u64 = 1024;

/// How much a folder takes on the disk. Folders that are locked to this user, whose they are, are opened. Blocks: run it on
/// a thread for that. What vanishes while we look does not count.
pub fn size_of(folder: &Path) -> io::Result<Size> {
    let mut size = Size::default();
    let top = match open_top(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let parent = open_top(folder.parent().unwrap_or(Path::new("/")))?;
            let name = folder.file_name().map(std::os::unix::ffi::OsStrExt::as_bytes).unwrap_or_default();
            let name = std::ffi::CString::new(name).map_err(io::Error::other)?;
            open_folder(parent.as_fd(), &name)?
        }
        other => other?,
    };
    measure(top.as_fd(), 0, &mut size);
    Ok(size)
}

fn measure(folder: BorrowedFd<'_>, depth: usize, size: &mut Size) {
    let Ok(entries) = entries(folder) else { return };
    for entry in entries {
        // A folder that cannot be read on (removed under us) ends its own part of the walk only.
        let Ok(entry) = entry else { return };
        let Ok(stat) = look(folder, entry.file_name()) else {
            continue;
        };
        size.entries += 1;
        let blocks = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
        size.bytes = size.bytes.saturating_add(blocks.max(ENTRY));
        if kind(&stat) == FileType::Directory {
            if depth + 1 >= DEPTH {
                size.too_deep = true;
            } else if let Ok(inner) = open_folder(folder, entry.file_name()) {
                measure(inner.as_fd(), depth + 1, size);
            }
        }
    }
}

/// Gives a tree to a user, entry by entry and only where it is not theirs yet; links themselves, never what they point
/// to. Needs root. Blocks.
pub fn give_to(folder: &Path, uid: u32, gid: u32) -> io::Result<()> {
    let top = open_top(folder)?;
    let stat = rustix::fs::fstat(&top)?;
    if (stat.st_uid, stat.st_gid) != (uid, gid) {
        rustix::fs::fchown(&top, Some(rustix::fs::Uid::from_raw(uid)), Some(rustix::fs::Gid::from_raw(gid)))?;
    }
    give(top.as_fd(), 0, uid, gid)
}

fn give(folder: BorrowedFd<'_>, depth: usize, uid: u32, gid: u32) -> io::Result<()> {
    for entry in entries(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let stat = match look(folder, name) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(error.into()),
        };
        if (stat.st_uid, stat.st_gid) != (uid, gid) {
            rustix::fs::chownat(
                folder,
                name,
                Some(rustix::fs::Uid::from_raw(uid)),
                Some(rustix::fs::Gid::from_raw(gid)),
                AtFlags::SYMLINK_NOFOLLOW,
            )?;
        }
        if kind(&stat) == FileType::Directory && depth + 1 < DEPTH {
            give(open_in(folder, name)?.as_fd(), depth + 1, uid, gid)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// A tree beside a folder that must not be touched.
    fn tree_and_outside() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let (tree, outside) = (dir.path().join("tree"), dir.path().join("outside"));
        fs::create_dir(&tree).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), vec![1; 1 << 20]).unwrap();
        (dir, tree, outside)
    }

    #[test]
    fn sizes_are_what_is_on_the_disk_and_links_are_not_followed() {
        let (_dir, tree, outside) = tree_and_outside();
        assert_eq!(size_of(&tree).unwrap(), Size::default());
        fs::write(tree.join("a"), vec![1; 100_000]).unwrap();
        fs::create_dir(tree.join("b")).unwrap();
        symlink(&outside, tree.join("b/link")).unwrap();
        symlink("/", tree.join("root")).unwrap();
        let hole = fs::File::create(tree.join("hole")).unwrap();
        hole.set_len(1 << 40).unwrap();
        let size = size_of(&tree).unwrap();
        assert_eq!(size.entries, 5);
        assert!((100_000..200_000).contains(&size.bytes), "{size:?}");
        assert!(!size.too_deep);
        assert!(size_of(&tree.join("root")).is_err(), "a link is no folder");
    }

    /// For root nothing is locked, so this process begins itself anew as somebody else.
    #[test]
    fn what_is_locked_counts_all_the_same() {
        use std::os::unix::process::CommandExt as _;
        const NAME: &str = "snapshot::walk::tests::what_is_locked_counts_all_the_same";
        if rustix::process::getuid().is_root() {
            let mut again = std::process::Command::new(std::env::current_exe().unwrap());
            match again.args(["--exact", NAME]).uid(1000).gid(1000).output() {
                Ok(ran) => assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout)),
                // Where the build lies in a folder of root's.
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
            }
            return;
        }
        let (_dir, tree, _) = tree_and_outside();
        let mode = |path: &std::path::Path, mode| {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        };
        for locked in [0o311, 0o644, 0o000] {
            let inner = tree.join(format!("locked{locked:o}"));
            fs::create_dir(&inner).unwrap();
            fs::write(inner.join("large"), vec![1; 1 << 20]).unwrap();
            mode(&inner, locked);
        }
        mode(&tree, 0o311);
        let size = size_of(&tree).unwrap();
        assert!(size.entries == 6 && size.bytes >= 3 << 20, "{size:?}");
    }

    #[test]
    fn what_lies_too_deep_is_told() {
        let (_dir, tree, _) = tree_and_outside();
        let mut open_folder = open_top(&tree).unwrap();
        for _ in 0..DEPTH + 10 {
            rustix::fs::mkdirat(&open_folder, c"d", Mode::RWXU).unwrap();
            open_folder = open_in(open_folder.as_fd(), c"d").unwrap();
        }
        let size = size_of(&tree).unwrap();
        assert!(size.too_deep && size.entries <= DEPTH as u64, "{size:?}");
    }

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn a_link_swapped_in_during_the_walk_leads_nowhere() {
        if !rustix::process::getuid().is_root() {
            // Only root gives files away.
            return;
        }
        let (_dir, tree, outside) = tree_and_outside();
        let inner = tree.join("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("file"), "x").unwrap();
        symlink(&outside, tree.join("link")).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // The folder and the link trade places, over and over.
                    let _ = rustix::fs::renameat_with(
                        rustix::fs::CWD,
                        &inner,
                        rustix::fs::CWD,
                        tree.join("link"),
                        rustix::fs::RenameFlags::EXCHANGE,
                    );
                }
            });
            for _ in 0..2_000 {
                // May fail: a folder was a link a moment later. It may not reach what lies outside.
                let _ = give_to(&tree, 1000, 1000);
                assert!(size_of(&tree).unwrap().bytes < 1 << 20);
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::metadata(&outside).unwrap().uid(), 0);
        assert_eq!(fs::metadata(outside.join("secret")).unwrap().uid(), 0);
        give_to(&tree, 1000, 1000).unwrap();
        assert_eq!(fs::symlink_metadata(tree.join("link")).unwrap().uid(), 1000);
    }
}
