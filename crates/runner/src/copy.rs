//! Copies of folders that an agent wrote: nothing in them is followed, run or trusted.
//!
//! Everything is opened beneath an open folder without following links. Links are copied as links; devices, pipes and
//! sockets are left out; holes of files stay holes; owner (for the root of a host), mode without set-user-id, and time
//! are kept. A folder or file that its owner locked (mode 000, 644) is unlocked, since it is the same owner. What lies deeper than
//! [`DEEPEST_LEVEL`] folders is left out and counted.

#[cfg(test)]
mod tests;

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use files::confined_path;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RawMode, SeekFrom, Timestamps, fchmod, ftruncate, futimens,
    ioctl_ficlone, mkdirat, openat, readlinkat, seek, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use sandbox::snapshot::{open_file, open_folder};

/// Folders in folders: as deep as containers may make them. Each takes two open files while it is copied.
const DEEPEST_LEVEL: u32 = sandbox::snapshot::DEPTH as u32;

/// How many of the files and folders that are left out are named.
pub(crate) const MOST_NAMED: usize = 20;

/// So deep that nobody but a mischievous agent builds it. From here on a copy or a removal waits until no other one is as
/// deep: each folder on the way takes open files, and those of many episodes at once would be more than a process may have.
const DEEP_LEVEL: u32 = 32;

/// Held by whoever is deep.
static DIVING: Mutex<()> = Mutex::new(());

/// Waits for its turn where it gets deep; nothing elsewhere. Held until it is out of there again.
pub(crate) fn dive(depth: u32) -> Option<MutexGuard<'static, ()>> {
    // What a panicking holder left is nothing but the lock.
    (depth == DEEP_LEVEL).then(|| model::lock(&DIVING))
}

/// Lets this process have as many open files as the system allows it: copies of deep trees of several episodes at once need
/// more than the usual 1024. Where that cannot be had it continues what it has.
pub(crate) fn allow_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "the limit of open files stays as it is");
        }
    }
}

/// What a copy is bounded by and leaves out.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<'a> {
    /// Most bytes of content.
    pub(crate) bytes: u64,
    /// Most files and folders.
    pub(crate) entries: u64,
    /// Largest file.
    pub(crate) file: u64,
    /// Names of folders that are left out, wherever they are, and not counted.
    pub(crate) without: &'a [&'a str],
    /// Whether links are copied.
    pub(crate) links: bool,
}

impl Bounds<'_> {
    /// Everything.
    pub(crate) const ALL: Self =
        Self { bytes: u64::MAX, entries: u64::MAX, file: u64::MAX, without: &[], links: true };
}

/// What was copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CopyReport {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
    /// Files and folders that were left out because of the bounds or of what they are; a folder with what is in it is one.
    pub(crate) left_out: u64,
    /// Their paths in the folder, at most [`MOST_NAMED`], with a slash after a folder.
    pub(crate) named: Vec<Vec<u8>>,
}

impl CopyReport {
    /// Counts something that is left out, and names it while there are few.
    pub(crate) fn leave_out(&mut self, path: impl FnOnce() -> Vec<u8>) {
        self.left_out += 1;
        if self.named.len() < MOST_NAMED {
            self.named.push(path());
        }
    }
}

/// Copies what lies in a folder into another one, which is made.
pub(crate) fn copy(source_folder: &Path, target_folder: &Path, bounds: Bounds<'_>) -> io::Result<CopyReport> {
    confined_path::create_folders(target_folder)?;
    let source = open_unlocked(source_folder)?;
    let target = confined_path::open_folder(target_folder)?;
    let is_root = rustix::process::geteuid().is_root();
    let mut work = Work { bounds, copied: CopyReport::default(), folder: Vec::new(), is_root };
    work.folder(source.as_fd(), target.as_fd(), 0)?;
    let stat = rustix::fs::fstat(&source)?;
    work.dress(target.as_fd(), &stat);
    Ok(work.copied)
}

/// Opens a folder, also one that was locked (mode 000, 500): containers run as the user who owns it. A link in its place is
/// refused, and the mode of what it leads to stays: a locked folder is unlocked through a handle of itself.
pub(crate) fn open_unlocked(path: &Path) -> io::Result<OwnedFd> {
    let folder = match confined_path::open_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(error) };
            let parent = confined_path::open_folder(parent)?;
            open_folder(parent.as_fd(), &std::ffi::CString::new(name.as_bytes())?)?
        }
        other => other?,
    };
    unlock(&folder)?;
    Ok(folder)
}

/// Lets the owner of a folder read and write it.
pub(crate) fn unlock(folder: &OwnedFd) -> io::Result<()> {
    let mode = Mode::from_raw_mode(rustix::fs::fstat(folder)?.st_mode as RawMode);
    if !mode.contains(Mode::RWXU) {
        rustix::fs::fchmod(folder, mode | Mode::RWXU)?;
    }
    Ok(())
}

struct Work<'a> {
    bounds: Bounds<'a>,
    copied: CopyReport,
    /// The path of the folder that is copied now, with a slash at its end; empty at the top.
    folder: Vec<u8>,
    is_root: bool,
}

impl Work<'_> {
    fn folder(&mut self, source: BorrowedFd<'_>, target: BorrowedFd<'_>, depth: u32) -> io::Result<()> {
        for entry in Dir::read_from(source)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let stat = match statat(source, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            };
            let kind = FileType::from_raw_mode(stat.st_mode as RawMode);
            let is_named = |excluded: &&str| excluded.as_bytes() == name.to_bytes();
            if kind == FileType::Directory && self.bounds.without.iter().any(is_named) {
                continue;
            }
            let taken = match kind {
                _ if self.copied.entries >= self.bounds.entries => false,
                FileType::Directory => self.sub_folder(source, target, name, &stat, depth)?,
                FileType::RegularFile => self.file(source, target, name, &stat)?,
                FileType::Symlink if self.bounds.links => {
                    let link = readlinkat(source, name, Vec::new())?;
                    symlinkat(&link, target, name)?;
                    if self.is_root {
                        let _ = rustix::fs::chownat(
                            target,
                            name,
                            Some(rustix::fs::Uid::from_raw(stat.st_uid)),
                            Some(rustix::fs::Gid::from_raw(stat.st_gid)),
                            AtFlags::SYMLINK_NOFOLLOW,
                        );
                    }
                    true
                }
                _ => false,
            };
            if taken {
                self.copied.entries += 1;
            } else {
                let end: &[u8] = if kind == FileType::Directory { b"/" } else { b"" };
                self.copied.leave_out(|| [self.folder.as_slice(), name.to_bytes(), end].concat());
            }
        }
        Ok(())
    }

    fn sub_folder(
        &mut self,
        source_parent: BorrowedFd<'_>,
        target_parent: BorrowedFd<'_>,
        name: &CStr,
        stat: &rustix::fs::Stat,
        depth: u32,
    ) -> io::Result<bool> {
        if depth >= DEEPEST_LEVEL {
            return Ok(false);
        }
        let _turn = dive(depth);
        let source = open_folder(source_parent, name)?;
        mkdirat(target_parent, name, Mode::RWXU)?;
        let target = open_folder(target_parent, name)?;
        let length = self.folder.len();
        self.folder.extend_from_slice(name.to_bytes());
        self.folder.push(b'/');
        self.folder(source.as_fd(), target.as_fd(), depth + 1)?;
        self.folder.truncate(length);
        self.dress(target.as_fd(), stat);
        Ok(true)
    }

    fn file(
        &mut self,
        source_parent: BorrowedFd<'_>,
        target_parent: BorrowedFd<'_>,
        name: &CStr,
        stat: &rustix::fs::Stat,
    ) -> io::Result<bool> {
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        // Holes take no room: what is held against the bound is what lies on the disk.
        let weight = size.min(u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512));
        if size > self.bounds.file || self.copied.bytes.saturating_add(weight) > self.bounds.bytes {
            return Ok(false);
        }
        let source = open_file(source_parent, name)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let target = openat(target_parent, name, flags, Mode::RUSR | Mode::WUSR)?;
        if ioctl_ficlone(&target, &source).is_err() {
            content(&source, &target, size)?;
        }
        self.copied.bytes += weight;
        self.dress(target.as_fd(), stat);
        Ok(true)
    }

    /// Owner, mode and time. Only the root of a host can give a file away; for others it is theirs already.
    fn dress(&self, target: BorrowedFd<'_>, stat: &rustix::fs::Stat) {
        if self.is_root {
            let _ = rustix::fs::fchown(
                target,
                Some(rustix::fs::Uid::from_raw(stat.st_uid)),
                Some(rustix::fs::Gid::from_raw(stat.st_gid)),
            );
        }
        let _ = fchmod(target, Mode::from_raw_mode((stat.st_mode & 0o777) as RawMode));
        let time = |seconds: i64, nanoseconds: u64| rustix::fs::Timespec {
            tv_sec: seconds,
            tv_nsec: i64::try_from(nanoseconds).unwrap_or(0),
        };
        let times = Timestamps {
            last_access: time(stat.st_atime, stat.st_atime_nsec),
            last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
        };
        let _ = futimens(target, &times);
    }
}

/// Copies the parts of a file that hold something.
fn content(source: &OwnedFd, target: &OwnedFd, size: u64) -> io::Result<()> {
    ftruncate(target, size)?;
    let mut offset = 0;
    while offset < size {
        let begin = match seek(source, SeekFrom::Data(offset)) {
            Ok(begin) => begin,
            // The rest is a hole.
            Err(Errno::NXIO) => return Ok(()),
            // A file system without holes.
            Err(Errno::INVAL) => offset,
            Err(error) => return Err(error.into()),
        };
        let end = seek(source, SeekFrom::Hole(begin)).unwrap_or(size).min(size);
        let mut done = begin;
        while done < end {
            let (mut source_offset, mut target_offset) = (done, done);
            let most = usize::try_from(end - done).unwrap_or(usize::MAX).min(64 << 20);
            let count = match rustix::fs::copy_file_range(
                source,
                Some(&mut source_offset),
                target,
                Some(&mut target_offset),
                most,
            ) {
                Ok(count) => count,
                Err(Errno::XDEV | Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP | Errno::PERM) => {
                    copy_by_hand(source, target, done, most.min(1 << 20))?
                }
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            if count == 0 {
                return Ok(());
            }
            done += count as u64;
        }
        offset = end.max(begin + 1);
    }
    Ok(())
}

fn copy_by_hand(source: &OwnedFd, target: &OwnedFd, offset: u64, most: usize) -> io::Result<usize> {
    let mut buffer = vec![0; most];
    let count = rustix::io::pread(source, &mut buffer, offset)?;
    let mut done = 0;
    while done < count {
        done += rustix::io::pwrite(target, &buffer[done..count], offset + done as u64)?;
    }
    Ok(count)
}

/// Removes a folder and all in it, however deep, locked or odd; it is fine if it is not there. Links are removed, not
/// followed.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let Some((parent, name)) = path.parent().zip(path.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let parent = match confined_path::open_folder(parent) {
        Ok(parent) => parent,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let name = std::ffi::CString::new(name.as_bytes())?;
    let mut raised = RaisedEntries { top: parent.as_fd(), names: Vec::new(), count: 0 };
    match remove_beneath(parent.as_fd(), &name, 0, &mut raised) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        done => done?,
    }
    while let Some(name) = raised.names.pop() {
        remove_beneath(parent.as_fd(), &name, 0, &mut raised)?;
    }
    Ok(())
}

/// What lay too deep: it is moved up, beside what is to be removed, and removed there.
struct RaisedEntries<'a> {
    top: BorrowedFd<'a>,
    names: Vec<std::ffi::CString>,
    count: u64,
}

fn remove_beneath(
    parent: BorrowedFd<'_>,
    name: &CStr,
    depth: u32,
    raised: &mut RaisedEntries<'_>,
) -> io::Result<()> {
    match unlink(parent, name, AtFlags::empty()) {
        Ok(()) => return Ok(()),
        // POSIX lets a folder be refused with either.
        Err(Errno::ISDIR | Errno::PERM | Errno::ACCESS) => {}
        Err(error) => return Err(error.into()),
    }
    let _turn = dive(depth);
    let folder = open_folder(parent, name)?;
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let inner = entry.file_name();
        if matches!(inner.to_bytes(), b"." | b"..") {
            continue;
        }
        if depth >= DEEPEST_LEVEL && entry.file_type() == FileType::Directory {
            raised.count += 1;
            let place = std::ffi::CString::new(format!(".raised-{}-{}", std::process::id(), raised.count))?;
            let _ = fchmod(&folder, Mode::RWXU);
            rustix::fs::renameat(&folder, inner, raised.top, &place)?;
            raised.names.push(place);
        } else {
            remove_beneath(folder.as_fd(), inner, depth + 1, raised)?;
        }
    }
    Ok(unlink(parent, name, AtFlags::REMOVEDIR)?)
}

/// Removes a name, and unlocks the folder that it is in where that is locked.
fn unlink(folder: BorrowedFd<'_>, name: &CStr, flags: AtFlags) -> Result<(), Errno> {
    match unlinkat(folder, name, flags) {
        Err(Errno::ACCESS) => {
            fchmod(folder, Mode::RWXU)?;
            unlinkat(folder, name, flags)
        }
        other => other,
    }
}
