//! Archives that go into a container and come out of it. What comes out was made by somebody else.

use std::io::Read as _;
use std::path::{Component, Path};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;

/// Most files that are taken out of an archive.
const MOST_FILES: usize = 20_000;

/// Files to lay into a container, or the context of an image.
pub struct PackedFiles {
    builder: tar::Builder<Vec<u8>>,
    /// When everything in it was changed, in seconds since 1970.
    changed: u64,
}

/// All files changed at the same moment of 2001: the same files give the same bytes whenever they are packed, and archives that
/// know no time before 1980 take them.
impl Default for PackedFiles {
    fn default() -> Self {
        Self { builder: tar::Builder::new(Vec::new()), changed: 1_000_000_000 }
    }
}

impl PackedFiles {
    /// Files that change now, as those that somebody lays into a folder.
    pub fn changed_now() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let packed = Self::default();
        Self { changed: now.map_or(packed.changed, |now| now.as_secs()), ..packed }
    }

    /// Adds a file; `path` is relative.
    pub fn file(&mut self, path: &str, content: &[u8]) -> std::io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(mode(content));
        header.set_mtime(self.changed);
        header.set_cksum();
        self.builder.append_data(&mut header, path, content)
    }

    /// Adds a folder that everybody may write to, or only its owner.
    pub fn folder(&mut self, path: &str, writable: bool) -> std::io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Directory);
        header.set_size(0);
        header.set_mode(if writable { 0o777 } else { 0o755 });
        header.set_mtime(self.changed);
        header.set_cksum();
        self.builder.append_data(&mut header, path, std::io::empty())
    }

    /// What was added so far.
    pub fn bytes(&self) -> &[u8] {
        self.builder.get_ref()
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        // Writing to memory does not fail.
        self.builder.into_inner().unwrap_or_default().into()
    }
}

/// Zips and most data sets do not say what may be executed, so the content decides.
fn mode(content: &[u8]) -> u32 {
    if content.starts_with(b"#!") || content.starts_with(b"\x7fELF") { 0o755 } else { 0o644 }
}

/// A file that was in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerFile {
    /// Relative, with `/`, without `.` and `..`; the name alone where a file was asked for.
    pub path: String,
    /// Its content.
    pub content: Vec<u8>,
}

/// What was taken out of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerFiles {
    /// Those that came whole.
    pub files: Vec<ContainerFile>,
    /// Bytes that they came in, with their names.
    pub bytes: u64,
    /// Whether all that is there came.
    pub is_whole: bool,
}

/// The regular files of an archive, up to where it breaks off. The first part of their paths is the folder that was asked
/// for.
pub(super) fn files(archive: &[u8]) -> ContainerFiles {
    let mut found = ContainerFiles { files: Vec::new(), bytes: archive.len() as u64, is_whole: false };
    let mut archive = tar::Archive::new(archive);
    let Ok(entries) = archive.entries() else { return found };
    for (count, entry) in entries.enumerate() {
        let Ok(mut entry) = entry else { return found };
        if count >= MOST_FILES {
            return found;
        }
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let Some(path) = entry.path().ok().and_then(|path| inner_path(&path)) else { continue };
        let mut content = Vec::new();
        // The end of the archive looks like the end of the file.
        if entry.read_to_end(&mut content).is_err() || content.len() as u64 != entry.size() {
            return found;
        }
        found.files.push(ContainerFile { path, content });
    }
    found.is_whole = true;
    found
}

/// The content of the file that is all of an archive, up to where it breaks off; nothing for a folder, a link or a device.
pub(super) fn file(archive: &[u8]) -> Option<Vec<u8>> {
    let mut archive = tar::Archive::new(archive);
    let mut entry = archive.entries().ok()?.next()?.ok()?;
    if !entry.header().entry_type().is_file() {
        return None;
    }
    let mut content = Vec::new();
    entry.read_to_end(&mut content).ok()?;
    Some(content)
}

/// Whether an archive is that of a folder without anything in it.
pub(super) fn is_one_folder(archive: &[u8]) -> bool {
    let mut archive = tar::Archive::new(archive);
    let Ok(entries) = archive.entries() else { return false };
    let mut count = 0;
    for entry in entries {
        match entry {
            Ok(entry) if count == 0 && entry.header().entry_type().is_dir() => count += 1,
            _ => return false,
        }
    }
    count == 1
}

/// A path below the folder that was asked for; nothing for one that leads elsewhere.
fn inner_path(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    match parts.as_slice() {
        [] => None,
        [name] => Some((*name).to_owned()),
        [_, rest @ ..] => Some(rest.join("/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_found_and_what_leads_out_is_not() {
        let mut packed = PackedFiles::default();
        packed.folder("verifier", true).unwrap();
        assert!(!is_one_folder(&PackedFiles::default().into_bytes()));
        packed.file("verifier/reward.txt", b"1").unwrap();
        packed.file("verifier/deep/test.sh", b"#!/bin/sh\n").unwrap();
        let bytes = packed.into_bytes();
        let found = files(&bytes);
        let paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["reward.txt", "deep/test.sh"]);
        assert!(found.is_whole && found.bytes == bytes.len() as u64);
        assert!(!is_one_folder(&bytes));
        // It breaks off in the middle of a file.
        let broken = files(&bytes[..600]);
        assert!(broken.files.is_empty() && !broken.is_whole && broken.bytes == 600);

        let mut folder = PackedFiles::default();
        folder.folder("tests", false).unwrap();
        assert!(is_one_folder(&folder.into_bytes()));
        assert_eq!(inner_path(Path::new("../x/y")), None);
        assert_eq!(inner_path(Path::new("/x/y")), None);
        assert_eq!(inner_path(Path::new("reward.txt")).as_deref(), Some("reward.txt"));
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn links_and_devices_are_no_files() {
        let mut builder = tar::Builder::new(Vec::new());
        for kind in
            [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Char, tar::EntryType::Fifo]
        {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(0);
            header.set_mode(0o777);
            header.set_cksum();
            if matches!(kind, tar::EntryType::Symlink | tar::EntryType::Link) {
                builder.append_link(&mut header, "verifier/reward.txt", "/etc/passwd").unwrap();
            } else {
                builder.append_data(&mut header, "verifier/reward.txt", std::io::empty()).unwrap();
            }
        }
        assert_eq!(files(&builder.into_inner().unwrap()).files, []);
    }

    #[test]
    fn a_file_that_was_cut_is_not_taken_for_a_whole_one() {
        let mut packed = PackedFiles::default();
        packed.file("out/a", b"whole").unwrap();
        packed.file("out/b", &[b'x'; 4096]).unwrap();
        let bytes = packed.into_bytes();
        // Header and content of the first, header and half of the second.
        let cut = files(&bytes[..1024 + 512 + 2048]);
        let paths: Vec<&str> = cut.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!((paths, cut.is_whole), (vec!["a"], false));
    }

    #[test]
    fn a_single_file_is_that_file_and_neither_a_folder_nor_a_link() {
        let mut packed = PackedFiles::default();
        packed.file("reward.txt", b"1\n").unwrap();
        assert_eq!(file(&packed.into_bytes()).as_deref(), Some(b"1\n".as_slice()));
        // A folder of that name, with a file of that name in it.
        let mut folder = PackedFiles::default();
        folder.folder("reward.txt", false).unwrap();
        folder.file("reward.txt/reward.txt", b"1\n").unwrap();
        assert_eq!(file(&folder.into_bytes()), None);
        let mut link = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        link.append_link(&mut header, "reward.txt", "/app/reward.txt").unwrap();
        assert_eq!(file(&link.into_inner().unwrap()), None);
        assert_eq!(file(b""), None);
        // One that breaks off.
        let mut long = PackedFiles::default();
        long.file("reward.txt", &[b'1'; 4096]).unwrap();
        let bytes = long.into_bytes();
        assert_eq!(file(&bytes[..1024]).map(|content| content.len()), Some(512));
    }

    #[test]
    fn files_are_of_a_fixed_time_or_of_now() {
        let times = |mut packed: PackedFiles| -> Vec<u64> {
            packed.folder("a", false).unwrap();
            packed.file("a/b", b"").unwrap();
            let bytes = packed.into_bytes();
            let mut archive = tar::Archive::new(&bytes[..]);
            archive.entries().unwrap().map(|entry| entry.unwrap().header().mtime().unwrap()).collect()
        };
        assert_eq!(times(PackedFiles::default()), [1_000_000_000; 2]);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        assert!(times(PackedFiles::changed_now()).iter().all(|time| *time >= now && *time < now + 600));
    }

    #[test]
    fn scripts_may_be_executed() {
        assert_eq!(mode(b"#!/bin/sh"), 0o755);
        assert_eq!(mode(b"\x7fELF\x02"), 0o755);
        assert_eq!(mode(b"text"), 0o644);
    }
}
