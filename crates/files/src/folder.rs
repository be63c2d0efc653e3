//! A folder on disk. Every path is opened beneath the root's handle ([`FolderHandle`]).

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};

use super::confined_path::FolderHandle;
use super::error::not_a_file_error;
use super::path::{MAX_DEPTH, depth, join};
use super::tree_warnings::TreeWarnings;
use super::{Entry, EntryKind, ReadError, Stamp};

/// Most names that are taken from one folder.
const MAX_NAMES: usize = 200_000;

/// Above this depth each folder is compared with the folders that it lies in: mounts can make a loop without a link.
const LOOP_DEPTH: usize = 8;

#[derive(Debug)]
pub(super) struct Folder {
    root: FolderHandle,
    identity: (u64, u64),
}

/// Never changes anything, never waits for a pipe, never becomes a terminal's owner.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

impl Folder {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let root = FolderHandle::open(path)?;
        let identity = root.identity()?;
        Ok(Self { root, identity })
    }

    #[cfg(test)]
    pub(super) fn without_openat2(mut self) -> Self {
        self.root = self.root.without_openat2();
        self
    }

    fn open_at(&self, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        self.root.open_at(Path::new(path), flags, Mode::empty())
    }

    pub(super) fn list(&self, folder: &str, warnings: &TreeWarnings) -> Vec<Entry> {
        match self.read_folder(folder, warnings) {
            Ok(entries) => entries,
            Err(error) => {
                match ReadError::from(error) {
                    ReadError::Missing => {}
                    ReadError::Link => warnings.skipped(folder, "link.skipped", &ReadError::Link.to_string()),
                    error => warnings.skipped(
                        folder,
                        "folder.unreadable",
                        &format!("The folder cannot be listed: {error}. What lies in it is left out"),
                    ),
                }
                Vec::new()
            }
        }
    }

    fn read_folder(&self, folder: &str, warnings: &TreeWarnings) -> io::Result<Vec<Entry>> {
        let handle = self.open_at(folder, READ | OFlags::DIRECTORY)?;
        if self.is_loop(folder, &handle)? {
            warnings.skipped(
                folder,
                "folder.loop",
                "The folder is one of the folders that it lies in. It is not entered",
            );
            return Ok(Vec::new());
        }
        let bottom = depth(folder) >= MAX_DEPTH;
        let mut entries = Vec::new();
        let mut names = fs::Dir::new(handle)?;
        while let Some(name) = names.read() {
            let name = name?;
            let raw = name.file_name();
            if raw == c"." || raw == c".." {
                continue;
            }
            if entries.len() == MAX_NAMES {
                warnings.skipped(
                    folder,
                    "folder.too_many",
                    &format!("The folder has more than {MAX_NAMES} names. The others are left out"),
                );
                break;
            }
            let Ok(text) = raw.to_str() else {
                warnings.skipped(
                    &join(folder, &raw.to_string_lossy()),
                    "name.not_utf8",
                    "The name is not UTF-8. It is left out",
                );
                continue;
            };
            let mut kind = name.file_type();
            let mut stat = None;
            if kind == FileType::Unknown || kind == FileType::RegularFile {
                // A file that is gone since is no entry.
                let Ok(found) = fs::statat(names.fd()?, raw, AtFlags::SYMLINK_NOFOLLOW) else { continue };
                kind = FileType::from_raw_mode(found.st_mode);
                stat = Some(found);
            }
            match kind {
                FileType::Directory if bottom => warnings.skipped(
                    &join(folder, text),
                    "folder.too_deep",
                    &format!("The folder lies more than {MAX_DEPTH} levels deep. It is not entered"),
                ),
                FileType::Directory => {
                    entries.push(Entry { name: text.to_owned(), kind: EntryKind::Folder, size: 0, stamp: 0 });
                }
                FileType::RegularFile => {
                    if let Some(stat) = stat {
                        entries.push(file_entry(text, &stat));
                    }
                }
                FileType::Symlink => {
                    let target = fs::readlinkat(names.fd()?, raw, Vec::new()).ok();
                    let target = target.as_ref().map(|t| t.to_string_lossy());
                    warnings.skipped(
                        &join(folder, text),
                        "link.skipped",
                        &link_message(folder, target.as_deref()),
                    );
                }
                _ => warnings.skipped(
                    &join(folder, text),
                    "file.special",
                    "It is a device, pipe or socket. It is left out",
                ),
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn is_loop(&self, folder: &str, handle: &OwnedFd) -> io::Result<bool> {
        if folder.is_empty() {
            return Ok(false);
        }
        let stat = fs::fstat(handle)?;
        let identity = (stat.st_dev, stat.st_ino);
        if identity == self.identity {
            return Ok(true);
        }
        if depth(folder) < LOOP_DEPTH {
            return Ok(false);
        }
        let mut above = folder;
        while let Some((up, _)) = above.rsplit_once('/') {
            let stat = fs::fstat(self.open_at(up, OFlags::PATH | OFlags::CLOEXEC)?)?;
            if identity == (stat.st_dev, stat.st_ino) {
                return Ok(true);
            }
            above = up;
        }
        Ok(false)
    }

    pub(super) fn entry(&self, path: &str) -> Option<Entry> {
        let stat = fs::fstat(self.open_at(path, OFlags::PATH | OFlags::CLOEXEC).ok()?).ok()?;
        let name = super::path::file_name(path);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                Some(Entry { name: name.to_owned(), kind: EntryKind::Folder, size: 0, stamp: 0 })
            }
            FileType::RegularFile => Some(file_entry(name, &stat)),
            _ => None,
        }
    }

    /// The file and its size now.
    pub(super) fn open_file(&self, path: &str) -> Result<(File, u64), ReadError> {
        let handle = self.open_at(path, READ)?;
        let stat = fs::fstat(&handle).map_err(io::Error::from)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok((File::from(handle), stat.st_size.cast_unsigned())),
            _ => Err(not_a_file_error()),
        }
    }
}

fn file_entry(name: &str, stat: &fs::Stat) -> Entry {
    let size = stat.st_size.cast_unsigned();
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_lossless,
        reason = "their width differs between platforms"
    )]
    let stamp =
        Stamp::new().number(size).number(stat.st_mtime as u64).number(stat.st_mtime_nsec as u64).finish();
    Entry { name: name.to_owned(), kind: EntryKind::File, size, stamp }
}

/// Whether a link leads out follows from its text alone: looking where it ends would mean to follow it.
fn link_message(folder: &str, target: Option<&str>) -> String {
    let Some(target) = target else {
        return "It is a link whose target cannot be read. Links are not followed".to_owned();
    };
    let mut level = depth(folder);
    let mut leads_out = target.starts_with('/');
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if level == 0 => leads_out = true,
            ".." => level -= 1,
            _ => level += 1,
        }
    }
    let target: String = target.chars().take(200).collect();
    if leads_out {
        format!("It is a link to “{target}”, which leads out of the folder. Links are not followed")
    } else {
        format!("It is a link to “{target}”. Links are not followed, even inside the folder")
    }
}
