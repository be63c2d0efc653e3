//! An opened folder or zip, read the same way and never left.

use std::io::Read;
use std::path::{Path, PathBuf};

use model::Warning;

/// What an entry is. Links, devices and whatever else lies there are not entries: they are warned of and left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
}

/// A name in a folder of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Last part of the path, as text; names that are not UTF-8 are left out with a warning.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Size in bytes; 0 for folders.
    pub size: u64,
    /// Changes when the content changes: mixed from size and modification time (folder), or size and CRC (zip).
    pub stamp: u64,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Nothing of that name.
    #[error("There is no such file")]
    Missing,
    /// Larger than the reader takes.
    #[error("The file has {size} bytes; at most {cap} are read")]
    TooLarge {
        /// Bytes it has.
        size: u64,
        /// Bytes that are taken.
        cap: u64,
    },
    /// The path leaves the tree or is no path.
    #[error("The path leads out of the source")]
    Outside,
    /// The zip entry is damaged.
    #[error("The zip entry is damaged: {0}")]
    Damaged(String),
    /// Not what the reader expects: JSON, text, …
    #[error("{what}")]
    Malformed {
        /// Warning code, such as `json.truncated`.
        code: &'static str,
        /// What is wrong and where.
        what: String,
    },
    /// The system says no.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl ReadError {
    /// The warning code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing => "file.missing",
            Self::TooLarge { .. } => "file.too_large",
            Self::Outside => "path.outside",
            Self::Damaged(_) => "zip.damaged",
            Self::Malformed { code, .. } => code,
            Self::Io(_) => "file.unreadable",
        }
    }
}

/// An opened folder or zip.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Opens a folder or a zip.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Ok(Self { root: path.canonicalize()? })
    }

    /// Whether it is a zip.
    pub fn is_zip(&self) -> bool {
        false
    }

    /// What was wrong with the tree itself so far: links, odd names, bombs.
    pub fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    /// The entries of a folder, by name. A folder that is not there has none.
    pub fn list(&self, folder: &str) -> Vec<Entry> {
        let mut entries = Vec::new();
        let Ok(read) = std::fs::read_dir(self.root.join(folder)) else { return entries };
        for entry in read.flatten() {
            let Ok(meta) = std::fs::symlink_metadata(entry.path()) else { continue };
            let kind = if meta.is_dir() {
                EntryKind::Folder
            } else if meta.is_file() {
                EntryKind::File
            } else {
                continue;
            };
            let Ok(name) = entry.file_name().into_string() else { continue };
            entries.push(Entry { name, kind, size: meta.len(), stamp: meta.len() });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries
    }

    /// The entry at a path, if it is there.
    pub fn entry(&self, path: &str) -> Option<Entry> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.list(folder).into_iter().find(|e| e.name == name)
    }

    /// Opens a file for reading from its begin. Reading more than the entry's stated size is an error.
    pub fn open_file(&self, path: &str) -> Result<Box<dyn Read + Send>, ReadError> {
        Ok(Box::new(std::fs::File::open(self.root.join(path))?))
    }

    /// The bytes of a file of at most `cap` bytes.
    pub fn read(&self, path: &str, cap: u64) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        self.open_file(path)?.take(cap + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > cap {
            return Err(ReadError::TooLarge { size: bytes.len() as u64, cap });
        }
        Ok(bytes)
    }

    /// A piece of a file: at most `limit` bytes from `offset`, and the file's size.
    pub fn read_range(&self, path: &str, offset: u64, limit: u64) -> Result<(Vec<u8>, u64), ReadError> {
        let all = self.read(path, u64::MAX - 1)?;
        let total = all.len() as u64;
        Ok((all.into_iter().skip(offset as usize).take(limit as usize).collect(), total))
    }

    /// The text of a file of at most `cap` bytes; what is not UTF-8 is replaced by U+FFFD, and said.
    pub fn read_text(&self, path: &str, cap: u64) -> Result<(String, bool), ReadError> {
        let bytes = self.read(path, cap)?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok((text, false)),
            Err(error) => Ok((String::from_utf8_lossy(error.as_bytes()).into_owned(), true)),
        }
    }

    /// Parses a JSON file of at most `cap` bytes as it streams in, so that only `T` is held in memory.
    /// A byte order mark is skipped. Errors say line and column, and tell truncated from wrong.
    pub fn read_json<T: serde::de::DeserializeOwned>(&self, path: &str, cap: u64) -> Result<T, ReadError> {
        let bytes = self.read(path, cap)?;
        serde_json::from_slice(&bytes)
            .map_err(|e| ReadError::Malformed { code: "json.malformed", what: e.to_string() })
    }
}
