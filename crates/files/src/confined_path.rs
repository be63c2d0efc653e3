//! One handle of a folder; everything is opened beneath it, and the kernel itself refuses to pass a link or to leave it,
//! whatever is swapped in between our looking and our opening.
//!
//! [`Folder`](super::folder::Folder) reads an opened source through it. What writes below a folder that somebody else may
//! have prepared (the records of a run) goes through the functions of this module: they take absolute paths whose folder
//! was resolved once ([`resolved`]), and refuse a link anywhere in them, a device, a pipe and a socket.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};

/// A folder's handle.
#[derive(Debug)]
pub(super) struct FolderHandle {
    root: OwnedFd,
    openat2: bool,
}

impl FolderHandle {
    /// The path itself may be a link: whoever opens it chose it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let root = fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY, Mode::empty())?;
        // Old container runtimes forbid openat2; then every part of a path is opened on its own.
        let openat2 =
            open_by_kernel(&root, Path::new("."), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).is_ok();
        Ok(Self { root, openat2 })
    }

    #[cfg(test)]
    pub(super) fn without_openat2(mut self) -> Self {
        self.openat2 = false;
        self
    }

    /// Device and inode of the folder.
    pub(super) fn identity(&self) -> io::Result<(u64, u64)> {
        let stat = fs::fstat(&self.root)?;
        Ok((stat.st_dev, stat.st_ino))
    }

    /// Opens what lies at a path of plain parts (no `..`); `""` is the folder itself.
    pub(super) fn open_at(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        if self.openat2 {
            return Ok(open_by_kernel(&self.root, path, flags, mode)?);
        }
        let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let last = path.file_name().unwrap_or(path.as_os_str());
        let mut folder: Option<OwnedFd> = None;
        for part in path.parent().into_iter().flat_map(Path::components) {
            let parent = folder.as_ref().unwrap_or(&self.root).as_fd();
            folder = Some(fs::openat(parent, part.as_os_str(), step, Mode::empty())?);
        }
        Ok(fs::openat(folder.as_ref().unwrap_or(&self.root), last, flags, mode)?)
    }
}

#[cfg(target_os = "linux")]
fn open_by_kernel(root: &OwnedFd, path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::io::retry_on_intr(|| fs::openat2(root, path, flags, mode, resolve))
}

#[cfg(not(target_os = "linux"))]
fn open_by_kernel(_: &OwnedFd, _: &Path, _: OFlags, _: Mode) -> rustix::io::Result<OwnedFd> {
    Err(rustix::io::Errno::NOSYS)
}

/// The path as it is without links, as far as it is there: what a caller chose may be reached through links, what lies
/// below it may not.
pub fn resolved(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut ancestor = whole.as_path();
    let mut rest = Vec::new();
    loop {
        if let Ok(real) = ancestor.canonicalize() {
            return rest.iter().rev().fold(real, |path, name| path.join(name));
        }
        match (ancestor.parent(), ancestor.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name.to_owned());
                ancestor = parent;
            }
            _ => return whole,
        }
    }
}

/// Opens what lies at an absolute path that passes no link.
///
/// Errors: `ELOOP` where a part of it is a link; [`io::ErrorKind::InvalidInput`] where it is not absolute or climbs.
fn open(path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    static MACHINE: OnceLock<Result<FolderHandle, i32>> = OnceLock::new();
    let machine = MACHINE
        .get_or_init(|| {
            FolderHandle::open(Path::new("/")).map_err(|error| error.raw_os_error().unwrap_or_default())
        })
        .as_ref()
        .map_err(|code| io::Error::from_raw_os_error(*code))?;
    let below = path.strip_prefix("/").map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    if below.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    machine.open_at(below, flags, mode).map_err(|error| {
        if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            io::Error::new(
                error.kind(),
                "a part of this path is a link, and links are not followed below a results folder",
            )
        } else {
            error
        }
    })
}

/// Opens a regular file at an absolute path that passes no link. `flags` are those of `open(2)`; a pipe or device is
/// refused without waiting for it, and for writing a file that has another name as well (a hard link): what is written would
/// stand there, too. A new file can be read and written by its owner, and read by others.
pub fn open_file(path: &Path, flags: OFlags) -> io::Result<File> {
    // openat2 refuses a mode where nothing can be made.
    let new = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    let mode = if flags.contains(OFlags::CREATE) { new } else { Mode::empty() };
    // It is made empty once it is known which file it is.
    let opening = flags.difference(OFlags::TRUNC) | OFlags::NONBLOCK | OFlags::NOCTTY;
    let handle = open(path, opening, mode)?;
    let stat = fs::fstat(&handle)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if flags.intersects(OFlags::WRONLY | OFlags::RDWR) && stat.st_nlink > 1 => {
            Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is a hard link: the file has another name, and what is written here would change it there. Copy the folder with its \
                 contents",
            ))
        }
        FileType::RegularFile => {
            let file = File::from(handle);
            if flags.contains(OFlags::TRUNC) {
                file.set_len(0)?;
            }
            Ok(file)
        }
        FileType::Directory => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// The bytes of a regular file of at most `cap` bytes.
pub fn read_file(path: &Path, cap: u64) -> io::Result<Vec<u8>> {
    let file = open_file(path, OFlags::RDONLY)?;
    let mut bytes = Vec::new();
    file.take(cap.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > cap {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {cap} bytes, the most that are read"),
        ));
    }
    Ok(bytes)
}

/// The bytes of a file that a person named, of at most `cap` bytes. Whoever names it chose it, so it may be reached through
/// links; a pipe or a device is refused without waiting for it.
pub fn read_named_file(path: &Path, cap: u64) -> io::Result<Vec<u8>> {
    read_file(&path.canonicalize()?, cap)
}

/// Opens a folder, to list it or to make things in it.
pub fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    open(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
}

/// Makes a folder and those above it, none of them through a link.
pub fn create_folders(path: &Path) -> io::Result<()> {
    match open_folder(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    create_folders(parent)?;
    match fs::mkdirat(open_folder(parent)?, name, Mode::from_raw_mode(0o777)) {
        Ok(()) => Ok(()),
        // Another one was quicker, or it is a link.
        Err(rustix::io::Errno::EXIST) => open_folder(path).map(drop),
        Err(error) => Err(error.into()),
    }
}

/// What lies in a folder, by name, and what each entry is: a link is one.
pub fn list_folder(path: &Path) -> io::Result<Vec<(OsString, FileType)>> {
    let folder = open_folder(path)?;
    let mut found = Vec::new();
    for entry in fs::Dir::read_from(&folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                FileType::from_raw_mode(fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)
            }
            kind => kind,
        };
        found.push((name.to_owned(), kind));
    }
    Ok(found)
}

/// Changes who may do what with a folder, or with a regular file that has no other name, as `chmod(2)` counts it. It needs no right to
/// read it.
pub fn change_mode(path: &Path, change: impl FnOnce(Mode) -> Mode) -> io::Result<()> {
    let (folder, name) = in_folder(path)?;
    let stat = fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::Directory && (kind != FileType::RegularFile || stat.st_nlink > 1) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is neither a folder nor a file with one name",
        ));
    }
    set_entry_mode(&folder, name, kind, change(Mode::from_raw_mode(stat.st_mode)))
}

/// Sets who may do what with a folder, as `chmod(2)` counts it.
pub fn set_folder_mode(path: &Path, mode: u32) -> io::Result<()> {
    Ok(fs::fchmod(open_folder(path)?, Mode::from_raw_mode(mode))?)
}

/// Listens on a socket at an absolute path that passes no link, in the place of a file or a link of this name. `mode` says who
/// may connect, as `chmod(2)` counts it. The socket does not block.
pub fn listen(path: &Path, mode: u32) -> io::Result<UnixListener> {
    let (folder, name) = in_folder(path)?;
    match fs::unlinkat(&folder, name, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    // By the handle of its folder: nothing that is swapped in is passed, and the path is never too long for an address.
    let listener = UnixListener::bind(handle_path(&folder, path).join(name))?;
    listener.set_nonblocking(true)?;
    set_entry_mode(&folder, name, FileType::Socket, Mode::from_raw_mode(mode))?;
    Ok(listener)
}

/// A short path of an open folder.
#[cfg(target_os = "linux")]
fn handle_path(folder: &OwnedFd, _: &Path) -> PathBuf {
    Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string())
}

#[cfg(not(target_os = "linux"))]
fn handle_path(_: &OwnedFd, path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

/// Sets the mode of an entry of a kind, whatever its name leads to by now: another kind in its place is refused.
#[cfg(target_os = "linux")]
fn set_entry_mode(folder: &OwnedFd, name: &OsStr, kind: FileType, mode: Mode) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let entry = fs::openat(folder, name, flags, Mode::empty())?;
    let stat = fs::fstat(&entry)?;
    let is_other = FileType::from_raw_mode(stat.st_mode) != kind;
    if is_other || kind == FileType::RegularFile && stat.st_nlink > 1 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "another kind of file is in its place"));
    }
    // A handle of this kind has no chmod of its own; its path in /proc leads to what it holds.
    let path = Path::new("/proc/self/fd").join(entry.as_raw_fd().to_string());
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode.as_raw_mode()))
}

#[cfg(not(target_os = "linux"))]
fn set_entry_mode(folder: &OwnedFd, name: &OsStr, _: FileType, mode: Mode) -> io::Result<()> {
    Ok(fs::chmodat(folder, name, mode, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Renames an entry. A link at either name is the entry itself, not what it leads to.
pub fn rename(old_path: &Path, new_path: &Path) -> io::Result<()> {
    let ((old_folder, old), (new_folder, new)) = (in_folder(old_path)?, in_folder(new_path)?);
    Ok(fs::renameat(old_folder, old, new_folder, new)?)
}

/// Removes a file or a link.
pub fn remove_file(path: &Path) -> io::Result<()> {
    let (folder, name) = in_folder(path)?;
    Ok(fs::unlinkat(folder, name, AtFlags::empty())?)
}

/// Whether there is an entry at the path, whatever it is; a link is one, what it leads to is not looked at.
pub fn exists(path: &Path) -> bool {
    in_folder(path).is_ok_and(|(folder, name)| fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
}

fn in_folder(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    Ok((open_folder(parent)?, name))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn a_link_anywhere_in_a_path_is_refused() {
        let room = tempfile::tempdir().unwrap();
        let folder = resolved(room.path()).join("run");
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("file"), "theirs").unwrap();
        create_folders(&folder.join("a/b")).unwrap();
        symlink(outside.path(), folder.join("linked")).unwrap();
        symlink(outside.path().join("file"), folder.join("a/file")).unwrap();
        let write = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        for path in ["linked/file", "linked/new", "a/file"] {
            let refused = open_file(&folder.join(path), write).unwrap_err();
            assert!(refused.to_string().contains("link"), "{path}: {refused}");
            assert!(read_file(&folder.join(path), 100).is_err(), "{path}");
        }
        assert!(create_folders(&folder.join("linked/deep")).is_err());
        assert!(create_folders(&folder.join("linked")).is_err());
        assert!(rename(&folder.join("a/b"), &folder.join("linked/b")).is_err());
        assert!(remove_file(&folder.join("linked/file")).is_err());
        assert!(exists(&folder.join("a/file")) && !exists(&folder.join("linked/file")));
        assert!(open_file(&folder.join("../file"), write).is_err());
        assert!(open_file(Path::new("relative"), write).is_err());
        // The link itself is an entry of the folder.
        remove_file(&folder.join("a/file")).unwrap();
        assert_eq!(std::fs::read_to_string(outside.path().join("file")).unwrap(), "theirs");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn a_file_with_another_name_is_read_and_not_written() {
        let room = tempfile::tempdir().unwrap();
        let folder = resolved(room.path());
        let (other_file, own_link) = (folder.join("theirs"), folder.join("ours"));
        std::fs::write(&other_file, "theirs").unwrap();
        std::fs::hard_link(&other_file, &own_link).unwrap();
        let all = [
            OFlags::WRONLY | OFlags::TRUNC,
            OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC,
            OFlags::RDWR | OFlags::APPEND | OFlags::CREATE,
        ];
        for flags in all {
            let refused = open_file(&own_link, flags).unwrap_err();
            assert!(refused.to_string().contains("hard link"), "{refused}");
        }
        assert_eq!(read_file(&own_link, 10).unwrap(), b"theirs");
        std::fs::remove_file(&other_file).unwrap();
        drop(open_file(&own_link, OFlags::WRONLY | OFlags::TRUNC).unwrap());
        assert_eq!(read_file(&own_link, 10).unwrap(), b"");
    }

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn only_regular_files_of_bounded_size_are_read() {
        let room = tempfile::tempdir().unwrap();
        let folder = resolved(room.path());
        let pipe = folder.join("pipe");
        fs::mknodat(fs::CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(read_file(&pipe, 10).is_err());
        assert!(open_file(&pipe, OFlags::RDWR | OFlags::APPEND).is_err());
        assert!(read_file(Path::new("/dev/zero"), 10).is_err());
        let file = folder.join("file");
        open_file(&file, OFlags::WRONLY | OFlags::CREATE).unwrap().write_all(b"0123456789").unwrap();
        assert_eq!(read_file(&file, 10).unwrap().len(), 10);
        assert_eq!(read_file(&file, 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_file(&folder.join("none"), 9).unwrap_err().kind(), io::ErrorKind::NotFound);
        // One that a person names may be reached through a link; what it is counts.
        symlink(&file, folder.join("link")).unwrap();
        symlink("/dev/zero", folder.join("endless")).unwrap();
        assert_eq!(read_named_file(&folder.join("link"), 10).unwrap().len(), 10);
        assert!(read_named_file(&folder.join("endless"), 10).is_err() && read_named_file(&pipe, 10).is_err());
        assert_eq!(read_named_file(&folder.join("none"), 9).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn the_mode_of_what_was_swapped_in_stays_as_it_was() {
        use std::os::unix::fs::PermissionsExt as _;
        use std::os::unix::net::UnixStream;
        let room = tempfile::tempdir().unwrap();
        let (real, outside) = (resolved(room.path()).join("gateway"), resolved(room.path()).join("outside"));
        create_folders(&real).unwrap();
        create_folders(&outside).unwrap();
        let secret = outside.join("secret");
        std::fs::write(&secret, "theirs").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for path in [&outside, &secret] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        set_folder_mode(&real, 0o755).unwrap();
        assert_eq!(mode(&real), 0o755);
        // A link in the place of the socket is replaced, also where the path is longer than an address may be.
        let long = real.join("x".repeat(120));
        create_folders(&long).unwrap();
        let sockets = [&real, &long].map(|folder| {
            let socket = folder.join("a.sock");
            symlink(&secret, &socket).unwrap();
            let listener = listen(&socket, 0o666).unwrap();
            assert_eq!(mode(&socket), 0o666);
            listener
        });
        UnixStream::connect(real.join("a.sock")).unwrap();
        assert!(sockets[0].accept().is_ok());
        // What is swapped in between, and a folder that leads elsewhere, is left alone.
        let folder = open_folder(&real).unwrap();
        symlink(&secret, real.join("link")).unwrap();
        std::fs::hard_link(&secret, real.join("file")).unwrap();
        for name in ["link", "file"] {
            assert!(set_entry_mode(&folder, name.as_ref(), FileType::Socket, Mode::RUSR).is_err(), "{name}");
            assert!(change_mode(&real.join(name), |_| Mode::RUSR).is_err(), "{name}");
        }
        symlink(&outside, real.join("linked")).unwrap();
        assert!(set_folder_mode(&real.join("linked"), 0o755).is_err());
        assert!(change_mode(&real.join("linked"), |_| Mode::RUSR).is_err());
        assert!(change_mode(&real.join("linked/secret"), |_| Mode::RUSR).is_err());
        assert!(list_folder(&real.join("linked")).is_err());
        let kind_of =
            |name: &str| list_folder(&real).unwrap().into_iter().find(|(found, _)| found == name).unwrap().1;
        assert_eq!([kind_of("linked"), kind_of("file")], [FileType::Symlink, FileType::RegularFile]);
        // What is its own is changed, also where nobody may read it.
        let own_file = real.join("own");
        std::fs::write(&own_file, "").unwrap();
        change_mode(&own_file, |_| Mode::empty()).unwrap();
        change_mode(&own_file, |mode| mode | Mode::RUSR | Mode::WUSR).unwrap();
        assert_eq!(mode(&own_file), 0o600);
        assert!(listen(&real.join("linked/a.sock"), 0o666).is_err());
        assert_eq!((mode(&outside), mode(&secret)), (0o700, 0o700));
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_yet_is_resolved_as_far_as_it_is() {
        let room = tempfile::tempdir().unwrap();
        let real = room.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("a")).unwrap();
        symlink(real.join("a"), real.join("link")).unwrap();
        assert_eq!(resolved(&real.join("link/new/run")), real.join("a/new/run"));
        assert_eq!(resolved(&real.join("a")), real.join("a"));
    }
}
