//! An opened folder or zip, read the same way and never left.
//!
//! Paths are relative to the root, with `/`; `""` is the root. Links, devices, names that are not UTF-8 and whatever a
//! zip has no business to hold are not entries: they are left out and said in [`Tree::warnings`], each once. A tree is
//! shared by threads (`&Tree`); reading holds no lock.

pub mod confined_path;
pub mod deadline;
mod error;
mod folder;
mod json;
mod path;
mod short_texts;
mod single_file;
mod stamp;
mod tolerant;
mod tree_warnings;
mod zip;
mod zip_writer;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use model::Warning;

pub use self::error::ReadError;
pub use self::json::{JsonSink, json_error, most_values, strict_json, without_cut_number};
pub use self::path::{MAX_DEPTH, file_name, join, parent};
pub use self::short_texts::{ShortTexts, TEXT_LIMIT};
pub use self::stamp::Stamp;
pub use self::tolerant::BEYOND_64_BITS;
pub use self::tree_warnings::CollectedWarnings;
pub use self::zip::ZipLimits;
pub use self::zip_writer::{PackedEntry, Packer, ZipWriter};

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
    /// Changes when the content changes: mixed from size and modification time (folder), or size and CRC (zip); 0 for
    /// folders.
    pub stamp: u64,
}

impl Entry {
    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.kind == EntryKind::Folder
    }
}

/// What a user said of the columns of tables: by what tells one header from another, the name of each column by its
/// meaning. Who reads tables knows what these words are.
pub type ColumnNames = BTreeMap<String, BTreeMap<String, String>>;

/// A secret of whoever reads a tree, for hashes by which work is divided: who made the tree cannot choose names for them.
pub type HashKey = [u8; 16];

/// An opened folder or zip.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    inner: Arc<Inner>,
    warnings: Arc<tree_warnings::TreeWarnings>,
    column_names: Arc<ColumnNames>,
    hash_key: OnceLock<HashKey>,
    /// A folder that was listed before, with what was in it.
    listed: Option<Arc<(String, Vec<Entry>)>>,
}

#[derive(Debug)]
enum Inner {
    Folder(folder::Folder),
    Zip(zip::Zip),
    Single(single_file::SingleFile),
    Table(single_file::SingleFile, Arc<Inner>),
}

/// What can be read at any place.
#[derive(Debug)]
pub enum RandomAccess {
    /// A file of a folder.
    File(File),
    /// An entry of a zip, unpacked.
    Bytes(Vec<u8>),
}

/// What [`Inner::open`] gives: a zip entry can only be read on, a file can be read anywhere.
enum OpenedEntry {
    File(File),
    Stream(Box<dyn Read + Send>),
}

impl Inner {
    /// The entry at a clean path.
    fn entry(&self, path: &str) -> Option<Entry> {
        match self {
            Self::Folder(inner) => inner.entry(path),
            Self::Zip(inner) => inner.entry(path),
            Self::Single(inner) => inner.entry(path),
            Self::Table(table, beside) => table.entry(path).or_else(|| beside.entry(path)),
        }
    }

    /// Opens the file at a clean path.
    fn open_file(&self, path: &str) -> Result<(OpenedEntry, u64), ReadError> {
        match self {
            Self::Folder(inner) => inner.open_file(path).map(|(file, size)| (OpenedEntry::File(file), size)),
            Self::Zip(inner) => inner.open_file(path).map(|(file, size)| (OpenedEntry::Stream(file), size)),
            Self::Single(inner) => inner.open_file(path).map(|(file, size)| (OpenedEntry::File(file), size)),
            Self::Table(table, beside) => match table.entry(path) {
                Some(entry) if !entry.is_folder() => {
                    table.open_file(path).map(|(file, size)| (OpenedEntry::File(file), size))
                }
                _ => beside.open_file(path),
            },
        }
    }
}

impl Tree {
    /// Opens a folder or a zip. The path itself may be a link: whoever opens it chose it.
    ///
    /// Errors: [`ReadError::Missing`], `source.not_zip` for a file that is no zip, or what the system says.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::open_with(path, ZipLimits::default())
    }

    /// Opens with other limits for zips.
    pub fn open_with(path: &Path, limits: ZipLimits) -> Result<Self, ReadError> {
        let root = path.canonicalize()?;
        let warnings = Arc::<tree_warnings::TreeWarnings>::default();
        let kind = root.metadata()?.file_type();
        let inner = if kind.is_dir() {
            Inner::Folder(folder::Folder::open(&root)?)
        } else if kind.is_file() {
            Inner::Zip(zip::Zip::open(File::open(&root)?, limits, &warnings)?)
        } else {
            return Err(error::not_a_file_error());
        };
        Ok(Self::from_inner(root, inner, warnings))
    }

    /// A tree whose only entry is one file, whatever it is: to say what a file is that is no zip. Its other names are not
    /// part of the tree.
    ///
    /// Errors: [`ReadError::Missing`], `name.not_utf8`, or what the system says.
    pub fn from_file(path: &Path) -> Result<Self, ReadError> {
        let root = path.canonicalize()?;
        let single = single_file::SingleFile::open(&root)?;
        Ok(Self::from_inner(root, Inner::Single(single), Arc::default()))
    }

    fn from_inner(root: PathBuf, inner: Inner, warnings: Arc<tree_warnings::TreeWarnings>) -> Self {
        Self {
            root,
            inner: Arc::new(inner),
            warnings,
            column_names: Arc::default(),
            hash_key: OnceLock::new(),
            listed: None,
        }
    }

    /// The same tree with one file of another place as all that is listed in it, to read what a program made of it. Paths
    /// that the file names lead into the tree.
    ///
    /// Errors: as [`Tree::from_file`].
    pub fn with_table(self, path: &Path) -> Result<Self, ReadError> {
        let table = single_file::SingleFile::open(&path.canonicalize()?)?;
        Ok(Self { inner: Arc::new(Inner::Table(table, Arc::clone(&self.inner))), listed: None, ..self })
    }

    /// The same tree with warnings of its own, to tell what reading one part met. Cheap.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            root: self.root.clone(),
            inner: Arc::clone(&self.inner),
            warnings: Arc::default(),
            column_names: Arc::clone(&self.column_names),
            hash_key: self.hash_key.clone(),
            listed: None,
        }
    }

    /// The same tree, warnings included, which lists one folder now and gives that list each time it is asked for it: for
    /// whoever asks many readers about one folder. What comes into the folder later is not in the list.
    #[must_use]
    pub fn with_listing(&self, folder: &str) -> Self {
        let listed = path::clean(folder).ok().map(|clean| {
            let entries = self.list(&clean);
            Arc::new((clean, entries))
        });
        Self { warnings: Arc::clone(&self.warnings), listed, ..self.fork() }
    }

    /// Takes the key of hashes, once: another one later changes nothing.
    pub fn set_hash_key(&self, key: HashKey) {
        self.hash_key.get_or_init(|| key);
    }

    /// The key of hashes; zeros where nobody has given one.
    pub fn hash_key(&self) -> HashKey {
        self.hash_key.get().copied().unwrap_or_default()
    }

    /// The same tree, whose tables have columns that a user gave a meaning.
    #[must_use]
    pub fn with_column_names(mut self, names: ColumnNames) -> Self {
        self.column_names = Arc::new(names);
        self
    }

    /// What a user said of the columns of tables.
    pub fn column_names(&self) -> &ColumnNames {
        &self.column_names
    }

    /// Where it lies: absolute, links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The name of the folder or zip.
    pub fn name(&self) -> String {
        self.root.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// The name of the folder, of a zip that of the folder that was zipped: what is named after it has the same name in both.
    pub fn folder_name(&self) -> String {
        let name = self.name();
        if self.is_zip() { model::zipped_name(&name).to_owned() } else { name }
    }

    /// Whether it is a zip.
    pub fn is_zip(&self) -> bool {
        matches!(*self.inner, Inner::Zip(_))
    }

    /// Whether it is one file, alone.
    pub fn is_single(&self) -> bool {
        matches!(*self.inner, Inner::Single(_))
    }

    /// What was wrong with the tree itself so far, as [`Tree::warnings`], to be held against that of another fork.
    pub fn collected_warnings(&self) -> CollectedWarnings {
        self.warnings.collected_warnings()
    }

    /// What was wrong with the tree itself so far: links, odd names, bombs. What lies in folders that nobody listed yet
    /// is not known yet.
    pub fn warnings(&self) -> Vec<Warning> {
        self.warnings.all()
    }

    /// The entries of a folder, by name. A folder that is not there has none.
    pub fn list(&self, folder: &str) -> Vec<Entry> {
        let Ok(folder) = path::clean(folder) else { return Vec::new() };
        if let Some((listed, entries)) = self.listed.as_deref()
            && *listed == folder
        {
            return entries.clone();
        }
        match &*self.inner {
            Inner::Folder(inner) => inner.list(&folder, &self.warnings),
            Inner::Zip(inner) => inner.list(&folder),
            Inner::Single(inner) | Inner::Table(inner, _) => inner.list(&folder),
        }
    }

    /// The entry at a path, if it is there.
    pub fn entry(&self, path: &str) -> Option<Entry> {
        self.inner.entry(&path::clean(path).ok()?)
    }

    fn open_entry(&self, path: &str) -> Result<(OpenedEntry, u64), ReadError> {
        self.inner.open_file(&path::clean(path)?)
    }

    fn open_sized(&self, path: &str) -> Result<(Box<dyn Read + Send>, u64), ReadError> {
        Ok(match self.open_entry(path)? {
            (OpenedEntry::File(file), size) => (Box::new(file), size),
            (OpenedEntry::Stream(stream), size) => (stream, size),
        })
    }

    /// Opens a file for reading from its start. A zip entry of another size or CRC than its zip states gives an error
    /// at its end; `ReadError::from` makes [`ReadError::Damaged`] of it. A file in a folder may grow while it is read.
    pub fn open_file(&self, path: &str) -> Result<Box<dyn Read + Send>, ReadError> {
        Ok(self.open_sized(path)?.0)
    }

    /// Opens a file for reading from `offset` on. In a zip the bytes before it are unpacked and thrown away.
    pub fn open_file_at(&self, path: &str, offset: u64) -> Result<Box<dyn Read + Send>, ReadError> {
        use std::io::{Seek, SeekFrom};
        match self.open_entry(path)?.0 {
            OpenedEntry::File(mut file) => {
                file.seek(SeekFrom::Start(offset))?;
                Ok(Box::new(file))
            }
            OpenedEntry::Stream(mut stream) => {
                io::copy(&mut stream.by_ref().take(offset), &mut io::sink())?;
                Ok(stream)
            }
        }
    }

    /// Opens a file that is read here and there. An entry of a zip is unpacked into memory: one of more than `cap` bytes is
    /// [`ReadError::TooLarge`].
    pub fn open_random_access(&self, path: &str, cap: u64) -> Result<RandomAccess, ReadError> {
        match self.open_entry(path)?.0 {
            OpenedEntry::File(file) => Ok(RandomAccess::File(file)),
            OpenedEntry::Stream(_) => self.read(path, cap).map(RandomAccess::Bytes),
        }
    }

    /// The bytes of a file of at most `cap` bytes.
    pub fn read(&self, path: &str, cap: u64) -> Result<Vec<u8>, ReadError> {
        let (file, size) = self.open_sized(path)?;
        if size > cap {
            return Err(ReadError::TooLarge { size, cap });
        }
        // A stated size is no reason to take memory: what really comes decides.
        let mut bytes = Vec::with_capacity(usize::try_from(size.min(1 << 20)).unwrap_or(0));
        file.take(cap.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > cap {
            return Err(ReadError::TooLarge { size: bytes.len() as u64, cap });
        }
        Ok(bytes)
    }

    /// A piece of a file: at most `limit` bytes from `offset`, and the file's size. In a zip the bytes before `offset`
    /// are unpacked and thrown away.
    pub fn read_range(&self, path: &str, offset: u64, limit: u64) -> Result<(Vec<u8>, u64), ReadError> {
        use std::io::{Seek, SeekFrom};
        let (opened, total) = self.open_entry(path)?;
        let mut bytes = Vec::new();
        if offset >= total {
            return Ok((bytes, total));
        }
        match opened {
            OpenedEntry::File(mut file) => {
                file.seek(SeekFrom::Start(offset))?;
                file.take(limit).read_to_end(&mut bytes)?;
            }
            OpenedEntry::Stream(mut stream) => {
                io::copy(&mut stream.by_ref().take(offset), &mut io::sink())?;
                stream.take(limit).read_to_end(&mut bytes)?;
            }
        }
        Ok((bytes, total))
    }

    /// The text of a file of at most `cap` bytes, without a byte order mark; what is not UTF-8 is replaced by U+FFFD,
    /// and said.
    pub fn read_text(&self, path: &str, cap: u64) -> Result<(String, bool), ReadError> {
        let mut bytes = self.read(path, cap)?;
        if bytes.starts_with(json::BYTE_ORDER_MARK) {
            bytes.drain(..json::BYTE_ORDER_MARK.len());
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok((text, false)),
            Err(error) => Ok((String::from_utf8_lossy(error.as_bytes()).into_owned(), true)),
        }
    }

    /// Parses a JSON file of at most `cap` bytes as it streams in, so that only `T` is held in memory (files up to
    /// 8 MiB are taken whole, which is faster). A byte order mark is skipped; in larger files texts longer than
    /// [`TEXT_LIMIT`] are cut.
    ///
    /// A file that is no strict JSON because of `NaN`, numbers beyond 64 bits, halves of characters, names that stand
    /// twice or values more than 127 levels deep is read all the same, with a warning ([`Tree::warnings`]) of the code `json.not_strict`.
    ///
    /// Errors say line and column: `file.empty`, `file.not_utf8`, `json.truncated` (it breaks off), `json.malformed`
    /// (it is no JSON), `json.wrong_type` (it is JSON of another form), `file.too_large`, `zip.damaged`.
    pub fn read_json<T: serde::de::DeserializeOwned>(&self, path: &str, cap: u64) -> Result<T, ReadError> {
        let (value, findings) = json::read(|| self.open_sized(path), cap)?;
        self.note_findings(path, &findings);
        Ok(value)
    }

    /// Parses a JSON file as [`Tree::read_json`] does, into a sink that keeps what came before an error. Of a file with
    /// more than `cap` bytes it is as if it broke off there. A number with which a file breaks off is not kept.
    pub fn read_json_into(&self, path: &str, cap: u64, sink: &mut impl JsonSink) -> Result<(), ReadError> {
        let findings = json::read_into(|| self.open_sized(path), cap, json::OverLimit::CutOff, sink)?;
        self.note_findings(path, &findings);
        Ok(())
    }

    fn note_findings(&self, path: &str, findings: &tolerant::Findings) {
        if !findings.is_empty() {
            let message =
                format!("It is no strict JSON: {findings}. Everything else in it is read as it stands.");
            self.warnings.add(Warning::repaired(path, "json.not_strict", message));
        }
    }
}

#[cfg(test)]
mod tests;
