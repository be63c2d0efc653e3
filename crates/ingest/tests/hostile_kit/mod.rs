//! Zips written byte by byte, so that every field can lie, and the same files as a folder.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "a part of each test that uses a part of it"
)]

use std::fs;
use std::io::Write;
use std::path::Path;

use files::Tree;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// An entry of a zip, with everything that can be stated of it.
#[derive(Clone)]
pub struct ZipEntry {
    pub name: Vec<u8>,
    /// As it lies in the zip.
    pub packed: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    pub crc: u32,
    pub size: u32,
    /// Unix mode with file type; 0 = not stated.
    pub mode: u32,
    /// Says in the list of contents that it begins where this earlier entry begins.
    pub begins_at_entry: Option<usize>,
}

impl ZipEntry {
    pub fn stored(name: impl AsRef<[u8]>, data: impl AsRef<[u8]>) -> Self {
        let data = data.as_ref();
        Self {
            name: name.as_ref().to_vec(),
            packed: data.to_vec(),
            method: 0,
            flags: 1 << 11,
            crc: crc(data),
            size: u32::try_from(data.len()).unwrap(),
            mode: 0,
            begins_at_entry: None,
        }
    }

    pub fn deflated(name: impl AsRef<[u8]>, data: impl AsRef<[u8]>) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(data.as_ref()).unwrap();
        Self { packed: encoder.finish().unwrap(), method: 8, ..Self::stored(name, data) }
    }

    pub fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

pub fn crc(data: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(data);
    crc.sum()
}

/// The bytes of a zip.
pub fn zip(entries: &[ZipEntry]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut list = Vec::new();
    let mut starts = Vec::new();
    for entry in entries {
        let packed = u32::try_from(entry.packed.len()).unwrap();
        let fields = |out: &mut Vec<u8>| {
            out.extend(20_u16.to_le_bytes());
            out.extend(entry.flags.to_le_bytes());
            out.extend(entry.method.to_le_bytes());
            out.extend([0; 4]);
            out.extend(entry.crc.to_le_bytes());
            out.extend(packed.to_le_bytes());
            out.extend(entry.size.to_le_bytes());
            out.extend(u16::try_from(entry.name.len()).unwrap().to_le_bytes());
            out.extend([0; 2]);
        };
        let mut start = u32::try_from(out.len()).unwrap();
        if let Some(other) = entry.begins_at_entry {
            start = starts[other];
        } else {
            out.extend(b"PK\x03\x04");
            fields(&mut out);
            out.extend(&entry.name);
            out.extend(&entry.packed);
        }
        starts.push(start);
        list.extend(b"PK\x01\x02");
        list.extend(0x0314_u16.to_le_bytes());
        fields(&mut list);
        list.extend([0; 6]);
        list.extend((entry.mode << 16).to_le_bytes());
        list.extend(start.to_le_bytes());
        list.extend(&entry.name);
    }
    let start = u32::try_from(out.len()).unwrap();
    let count = u16::try_from(entries.len()).unwrap();
    out.extend(&list);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend(u32::try_from(list.len()).unwrap().to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0; 2]);
    out
}

/// Opens bytes as a zip.
pub fn open_zip(bytes: &[u8]) -> (tempfile::TempDir, Result<Tree, files::ReadError>) {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("results.zip");
    fs::write(&path, bytes).unwrap();
    let tree = Tree::open(&path);
    (temp, tree)
}

/// Files of a folder below `root`, by path.
pub fn files_of(root: &Path) -> Vec<(String, Vec<u8>)> {
    let name = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();
    let mut files: Vec<_> =
        test_folders::contents(root).into_iter().map(|(path, bytes)| (name(path), bytes)).collect();
    files.sort();
    files
}

pub fn write_folder(root: &Path, files: &[(String, Vec<u8>)]) {
    for (path, bytes) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

pub fn zip_of(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    zip(&files.iter().map(|(path, bytes)| ZipEntry::deflated(path, bytes)).collect::<Vec<_>>())
}

/// The codes of a tree's warnings, by path.
pub fn warned(tree: &Tree) -> Vec<(String, String)> {
    tree.warnings().into_iter().map(|w| (w.path, w.code)).collect()
}

/// Every path below a folder of a tree, and each file read to its end in small pieces.
pub fn walk(tree: &Tree) -> Vec<String> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in tree.list(&folder) {
            let path = files::join(&folder, &entry.name);
            if entry.is_folder() {
                folders.push(path.clone());
            } else {
                let _ = tree.read(&path, 1 << 20);
                let _ = tree.read_range(&path, 3, 10);
                let _ = tree.read_json::<serde_json::Value>(&path, 1 << 20);
                let _ = ingest::view::text_page(tree, &path, -20, 64);
            }
            paths.push(path);
        }
    }
    paths.sort();
    paths
}
