//! Archives that go into a container and come out of it. What comes out was made by somebody else.

use std::io::Read as _;
use std::path::{Component, Path};

use bytes::Bytes;

/// Most files that are taken out of an archive.
const MOST_FILES: usize = 20_000;

/// Files to lay into a container, or the context of an image.
pub struct Packed {
    builder: tar::Builder<Vec<u8>>,
}

impl Default for Packed {
    fn default() -> Self {
        Self { builder: tar::Builder::new(Vec::new()) }
    }
}

impl Packed {
    /// Adds a file; `path` is relative. The same files in the same order give the same bytes.
    pub fn file(&mut self, path: &str, content: &[u8]) -> std::io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(mode(content));
        header.set_cksum();
        self.builder.append_data(&mut header, path, content)
    }

    /// Adds a folder that everybody may write to, or only its owner.
    pub fn folder(&mut self, path: &str, writable: bool) -> std::io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Directory);
        header.set_size(0);
        header.set_mode(if writable { 0o777 } else { 0o755 });
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

/// Zips and most data sets do not say what may be executed, so it is told from the content.
fn mode(content: &[u8]) -> u32 {
    if content.starts_with(b"#!") || content.starts_with(b"\x7fELF") { 0o755 } else { 0o644 }
}

/// A file that was in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLeft {
    /// Relative, with `/`, without `.` and `..`; the name alone where a file was asked for.
    pub path: String,
    /// Its content.
    pub content: Vec<u8>,
}

/// The regular files of an archive, up to where it breaks off. The first part of their paths is the folder that was asked
/// for.
pub(super) fn files(archive: &[u8]) -> Vec<FileLeft> {
    let mut found = Vec::new();
    let mut archive = tar::Archive::new(archive);
    let Ok(entries) = archive.entries() else { return found };
    for entry in entries.take(MOST_FILES) {
        let Ok(mut entry) = entry else { break };
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let Some(path) = entry.path().ok().and_then(|path| plain(&path)) else { continue };
        let mut content = Vec::new();
        if entry.read_to_end(&mut content).is_err() {
            break;
        }
        found.push(FileLeft { path, content });
    }
    found
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
fn plain(path: &Path) -> Option<String> {
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
        let mut packed = Packed::default();
        packed.folder("verifier", true).unwrap();
        assert!(!is_one_folder(&Packed::default().into_bytes()));
        packed.file("verifier/reward.txt", b"1").unwrap();
        packed.file("verifier/deep/test.sh", b"#!/bin/sh\n").unwrap();
        let bytes = packed.into_bytes();
        let found = files(&bytes);
        let paths: Vec<&str> = found.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["reward.txt", "deep/test.sh"]);
        assert!(!is_one_folder(&bytes));
        // It breaks off in the middle of a file.
        assert!(files(&bytes[..600]).is_empty());

        let mut folder = Packed::default();
        folder.folder("tests", false).unwrap();
        assert!(is_one_folder(&folder.into_bytes()));
        assert_eq!(plain(Path::new("../x/y")), None);
        assert_eq!(plain(Path::new("/x/y")), None);
        assert_eq!(plain(Path::new("reward.txt")).as_deref(), Some("reward.txt"));
    }

    #[test]
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
        assert_eq!(files(&builder.into_inner().unwrap()), []);
    }

    #[test]
    fn scripts_may_be_executed() {
        assert_eq!(mode(b"#!/bin/sh"), 0o755);
        assert_eq!(mode(b"\x7fELF\x02"), 0o755);
        assert_eq!(mode(b"text"), 0o644);
    }
}
