//! A zip, read in place. Its list of contents is checked and indexed once; entries are unpacked as they are read and
//! compared with what the list states.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;
use std::sync::Arc;

use flate2::Crc;
use rawzip::{
    CompressionMethod, CreatorSystem, FileReader, RangeReader, ReaderAt, ZipArchive,
    ZipArchiveEntryWayfinder, ZipFileHeaderRecord,
};

use super::error::{Damage, not_a_file_error};
use super::path::{MAX_DEPTH, clean, depth, file_name, parent};
use super::tree_warnings::TreeWarnings;
use super::{Entry, EntryKind, ReadError, Stamp};

/// Limits of what is taken from a zip.
#[derive(Debug, Clone, Copy)]
pub struct ZipLimits {
    /// Most entries.
    pub entries: u64,
    /// Most bytes of memory that the list of contents may take here; names of many folders take the most.
    pub index: usize,
    /// Most bytes that all entries together may have unpacked.
    pub total: u64,
    /// How many times larger than packed an entry may be …
    pub ratio: u64,
    /// … if it has more bytes than this unpacked.
    pub ratio_from: u64,
}

impl Default for ZipLimits {
    fn default() -> Self {
        // Deflate packs zeros 1030 times; the logs of a run about 10 to 50 times, very dull ones 200 times.
        Self { entries: 2_000_000, index: 200 << 20, total: 64 << 30, ratio: 400, ratio_from: 16 << 20 }
    }
}

#[derive(Debug)]
pub(super) struct Zip {
    archive: Arc<ZipArchive<FileReader>>,
    /// The entries of each folder, sorted by name.
    folders: HashMap<Box<str>, Vec<(Box<str>, Item)>>,
}

#[derive(Debug, Clone, Copy)]
enum Item {
    Folder,
    File(FileItem),
}

#[derive(Debug, Clone, Copy)]
struct FileItem {
    way: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    crc: u32,
}

impl Zip {
    pub(super) fn open(file: File, limits: ZipLimits, warnings: &TreeWarnings) -> Result<Self, ReadError> {
        let mut buffer = vec![0_u8; rawzip::MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let archive = ZipArchive::from_file(file, &mut buffer)
            .map_err(|_| ReadError::malformed("source.not_zip", "not a zip, or truncated"))?;
        // The list is gone through twice rather than kept: it may be longer than what is taken from it.
        let mut ranges = Vec::new();
        let mut list_begins = u64::MAX;
        for_each_header(&archive, &mut buffer, limits, warnings, |number, header| {
            list_begins = list_begins.min(header.central_directory_offset());
            if !header.is_dir() {
                ranges.push((range(header), number));
            }
            ControlFlow::Continue(())
        });
        let sharing = overlapping_entries(ranges);
        let mut index = Index::new(limits);
        for_each_header(&archive, &mut buffer, limits, warnings, |number, header| {
            let place = if sharing.binary_search(&number).is_ok() {
                EntryPlace::Shared
            } else if header.is_dir() || range(header).1 <= list_begins {
                EntryPlace::Own
            } else {
                EntryPlace::None
            };
            index.take(header, place, warnings)
        });
        Ok(Self { archive: Arc::new(archive), folders: index.finish() })
    }

    pub(super) fn list(&self, folder: &str) -> Vec<Entry> {
        self.folders
            .get(folder)
            .map(|items| items.iter().map(|(name, item)| item.entry(name)).collect())
            .unwrap_or_default()
    }

    pub(super) fn entry(&self, path: &str) -> Option<Entry> {
        if path.is_empty() {
            return Some(Item::Folder.entry(""));
        }
        self.item(path).map(|item| item.entry(file_name(path)))
    }

    fn item(&self, path: &str) -> Option<&Item> {
        let items = self.folders.get(parent(path))?;
        let found = items.binary_search_by(|(name, _)| (**name).cmp(file_name(path))).ok()?;
        Some(&items[found].1)
    }

    /// The unpacked file and its stated size.
    pub(super) fn open_file(&self, path: &str) -> Result<(Box<dyn Read + Send>, u64), ReadError> {
        let Some(item) = self.item(path) else { return Err(ReadError::Missing) };
        let Item::File(file) = *item else { return Err(not_a_file_error()) };
        let entry =
            self.archive.get_entry(file.way).map_err(|error| ReadError::Damaged(format!("{error}")))?;
        let (begin, end) = entry.compressed_data_range();
        let packed = RangeReader::new(SharedFile(Arc::clone(&self.archive)), begin..end);
        let size = file.way.uncompressed_size_hint();
        let checked: Box<dyn Read + Send> = if file.method == CompressionMethod::DEFLATE {
            let packed = BufReader::with_capacity(16 << 10, packed);
            Box::new(CheckedEntry::new(flate2::bufread::DeflateDecoder::new(packed), size, file.crc))
        } else {
            Box::new(CheckedEntry::new(packed, size, file.crc))
        };
        Ok((checked, size))
    }
}

impl Item {
    fn entry(&self, name: &str) -> Entry {
        let name = name.to_owned();
        match self {
            Self::Folder => Entry { name, kind: EntryKind::Folder, size: 0, stamp: 0 },
            Self::File(file) => {
                let size = file.way.uncompressed_size_hint();
                let stamp = Stamp::new().number(size).number(u64::from(file.crc)).finish();
                Entry { name, kind: EntryKind::File, size, stamp }
            }
        }
    }
}

const REGULAR_FILE: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// The file type bits that the entry states; 0 = none, as many tools leave them. (`rawzip`'s own reading of the mode
/// takes that for a regular file, also where the name says folder.)
fn unix_file_type(header: &ZipFileHeaderRecord<'_>) -> u32 {
    match header.version_made_by().creator_system() {
        CreatorSystem::UNIX | CreatorSystem::MACOS => (header.external_attributes() >> 16) & 0o170_000,
        _ => 0,
    }
}

/// The folders of a zip while its list of contents is gone through.
struct Index {
    limits: ZipLimits,
    folders: HashMap<Box<str>, Vec<(Box<str>, Item)>>,
    /// Hashes of the paths of all files taken. Two paths with one hash among millions are less likely than a
    /// broken disk; the second would be left out as a duplicate.
    files: HashSet<u64>,
    hasher: RandomState,
    /// Bytes of all files taken, unpacked.
    total: u64,
    /// Bytes of memory that `folders` and `files` take, about.
    memory: usize,
}

/// Where the bytes of an entry lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryPlace {
    /// In a place of their own.
    Own,
    /// Where those of another entry lie.
    Shared,
    /// Nowhere: there is no room for a local header and as many bytes before the list of contents.
    None,
}

/// Memory of an item of a folder besides its name: the entry, room that its list keeps free, a place for the name, a hash.
const ITEM: usize = 2 * size_of::<(Box<str>, Item)>() + 32;
/// Memory of a folder besides its path: an entry of the table with room that it keeps free, a place for the path.
const FOLDER_ITEM: usize = 2 * size_of::<(Box<str>, Vec<(Box<str>, Item)>)>() + 32;

impl Index {
    fn new(limits: ZipLimits) -> Self {
        let folders = HashMap::from([("".into(), Vec::new())]);
        Self { limits, folders, files: HashSet::new(), hasher: RandomState::new(), total: 0, memory: 0 }
    }

    /// Takes an entry into its folder, and the folder into its own, up to the root. The first of a name stays. Breaks off
    /// where the list would take too much memory, which is noted.
    fn take(
        &mut self,
        header: &ZipFileHeaderRecord<'_>,
        place: EntryPlace,
        warnings: &TreeWarnings,
    ) -> ControlFlow<()> {
        if self.memory > self.limits.index {
            let message = format!(
                "The zip's list of contents takes more than {} bytes of memory. The other entries are left out",
                self.limits.index
            );
            warnings.skipped("", "zip.too_many", &message);
            return ControlFlow::Break(());
        }
        self.put(header, place, warnings);
        ControlFlow::Continue(())
    }

    fn put(&mut self, header: &ZipFileHeaderRecord<'_>, place: EntryPlace, warnings: &TreeWarnings) {
        let Some(path) = checked_path(header, warnings).filter(|path| !path.is_empty()) else { return };
        let item = match self.check(header, place) {
            Ok(item) => item,
            Err((code, reason)) => {
                warnings.skipped(&path, code, &format!("{reason}. It is left out"));
                return;
            }
        };
        let duplicate = match item {
            Item::Folder if self.make_folder(&path) => return,
            Item::Folder => {
                "The zip has this name as a file and as a folder. The file, which comes first, is read"
            }
            Item::File(_) if !self.make_folder(parent(&path)) => {
                "The zip has a file where this entry needs a folder. The entry is left out"
            }
            Item::File(_)
                if self.folders.contains_key(&*path) || !self.files.insert(self.hasher.hash_one(&path)) =>
            {
                "The zip has this name more than once. The first is read, the others are left out"
            }
            Item::File(file) => {
                self.total = self.total.saturating_add(file.way.uncompressed_size_hint());
                self.memory += ITEM + file_name(&path).len();
                if let Some(folder) = self.folders.get_mut(parent(&path)) {
                    folder.push((file_name(&path).into(), item));
                }
                return;
            }
        };
        warnings.skipped(&path, "zip.duplicate", duplicate);
    }

    /// What the entry is, or the code and the reason why it is not taken.
    fn check(
        &self,
        header: &ZipFileHeaderRecord<'_>,
        place: EntryPlace,
    ) -> Result<Item, (&'static str, String)> {
        let refuse = |code, reason: &str| Err((code, reason.to_owned()));
        let file_type = unix_file_type(header);
        match file_type {
            0 | REGULAR_FILE | FOLDER => {}
            LINK => return refuse("link.skipped", "The zip entry is a link. Links are not followed"),
            _ => return refuse("file.special", "The zip entry is a device, pipe or socket"),
        }
        if header.is_dir() || file_type == FOLDER {
            return Ok(Item::Folder);
        }
        if header.flags().is_encrypted() {
            return refuse("zip.encrypted", "The zip entry is encrypted");
        }
        let method = header.compression_method();
        if method != CompressionMethod::STORE && method != CompressionMethod::DEFLATE {
            let reason = format!("The zip entry is packed with {method}; stored and deflated ones are read");
            return Err(("zip.method", reason));
        }
        match place {
            EntryPlace::Own => {}
            EntryPlace::Shared => {
                return refuse("zip.bomb", "The zip entry shares its bytes with another entry");
            }
            EntryPlace::None => {
                return refuse(
                    "zip.damaged",
                    "The zip has no place for the bytes that it states of this entry",
                );
            }
        }
        let (size, limits) = (header.uncompressed_size_hint(), self.limits);
        let ratio = size / header.compressed_size_hint().max(1);
        if size > limits.ratio_from && ratio > limits.ratio {
            let reason = format!(
                "The zip entry unpacks to {size} bytes, {ratio} times its packed size; up to {} times is read",
                limits.ratio
            );
            return Err(("zip.bomb", reason));
        }
        if self.total.saturating_add(size) > limits.total {
            let reason = format!(
                "With this entry of {size} bytes the zip would unpack to more than {} bytes",
                limits.total
            );
            return Err(("zip.too_large", reason));
        }
        Ok(Item::File(FileItem { way: header.wayfinder(), method, crc: header.crc32() }))
    }

    /// Whether there is a folder of this path now.
    fn make_folder(&mut self, path: &str) -> bool {
        if self.folders.contains_key(path) {
            return true;
        }
        if self.files.contains(&self.hasher.hash_one(path)) || !self.make_folder(parent(path)) {
            return false;
        }
        let Some(above) = self.folders.get_mut(parent(path)) else { return false };
        above.push((file_name(path).into(), Item::Folder));
        self.memory += ITEM + FOLDER_ITEM + file_name(path).len() + path.len();
        self.folders.insert(path.into(), Vec::new());
        true
    }

    fn finish(mut self) -> HashMap<Box<str>, Vec<(Box<str>, Item)>> {
        for items in self.folders.values_mut() {
            items.sort_by(|a, b| a.0.cmp(&b.0));
            items.shrink_to_fit();
        }
        self.folders
    }
}

/// Goes through the list of contents up to the limit, or to where it or the visitor breaks off, which is noted.
fn for_each_header(
    archive: &ZipArchive<FileReader>,
    buffer: &mut [u8],
    limits: ZipLimits,
    warnings: &TreeWarnings,
    mut each: impl FnMut(u64, &ZipFileHeaderRecord<'_>) -> ControlFlow<()>,
) {
    let mut entries = archive.entries(buffer);
    for number in 0.. {
        match entries.next_entry() {
            Ok(Some(_)) if number == limits.entries => {
                let message = format!("The zip has more than {number} entries. The others are left out");
                warnings.skipped("", "zip.too_many", &message);
                return;
            }
            Ok(Some(header)) => {
                if each(number, &header).is_break() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                let message = format!(
                    "The zip's list of contents breaks off after {number} entries: {error}. What comes after is left out"
                );
                warnings.skipped("", "zip.damaged", &message);
                return;
            }
        }
    }
}

/// The least that an entry takes in the file: local header, name, data.
fn range(header: &ZipFileHeaderRecord<'_>) -> (u64, u64) {
    let begin = header.local_header_offset();
    let head = 30 + header.file_path().len() as u64;
    (begin, begin.saturating_add(head).saturating_add(header.compressed_size_hint()))
}

/// The numbers of entries that share bytes with an entry before them, sorted. Sharing is how a small zip unpacks to
/// petabytes; no honest zip does it.
fn overlapping_entries(mut ranges: Vec<((u64, u64), u64)>) -> Vec<u64> {
    ranges.sort_unstable_by_key(|((begin, _), number)| (*begin, *number));
    let mut reached = 0;
    let mut sharing: Vec<u64> = ranges
        .into_iter()
        .filter_map(|((begin, end), number)| {
            if begin < reached {
                return Some(number);
            }
            reached = end;
            None
        })
        .collect();
    sharing.sort_unstable();
    sharing
}

/// The entry's path in its one spelling; a note if it is not a path inside the zip.
fn checked_path(header: &ZipFileHeaderRecord<'_>, warnings: &TreeWarnings) -> Option<String> {
    const MAX_BYTES: usize = 4096;
    let raw = header.file_path();
    let raw: &[u8] = raw.as_ref();
    let shown = || String::from_utf8_lossy(&raw[..raw.len().min(300)]).into_owned();
    let bad = |reason: &str| {
        warnings.skipped(&shown(), "zip.name", &format!("{reason}. The zip entry is left out"));
        None
    };
    let Ok(name) = std::str::from_utf8(raw) else {
        warnings.skipped(&shown(), "name.not_utf8", "The name is not UTF-8. It is left out");
        return None;
    };
    let drive = name.as_bytes().get(1) == Some(&b':') && name.as_bytes()[0].is_ascii_alphabetic();
    if name.starts_with('/') {
        return bad("The name is absolute");
    }
    if drive {
        return bad("The name begins with a drive letter");
    }
    if name.contains('\\') {
        return bad("The name has a backslash");
    }
    if name.len() > MAX_BYTES {
        return bad("The name is longer than 4096 bytes");
    }
    let Ok(path) = clean(name) else {
        return bad("The name leads out of the zip or is none");
    };
    if depth(&path) > MAX_DEPTH + 1 {
        warnings.skipped(
            &shown(),
            "folder.too_deep",
            &format!("The zip entry lies more than {MAX_DEPTH} levels deep. It is left out"),
        );
        return None;
    }
    Some(path)
}

/// The zip's file, for any number of readers at once.
struct SharedFile(Arc<ZipArchive<FileReader>>);

impl ReaderAt for SharedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.get_ref().read_at(buffer, offset)
    }
}

/// Passes on what comes out and holds it against what the zip states.
struct CheckedEntry<R> {
    inner: R,
    remaining_bytes: u64,
    stated: u64,
    crc: u32,
    sum: Crc,
}

impl<R: Read> CheckedEntry<R> {
    fn new(inner: R, stated: u64, crc: u32) -> Self {
        Self { inner, remaining_bytes: stated, stated, crc, sum: Crc::new() }
    }

    fn damage(&self, error: &io::Error) -> io::Error {
        Damage::error(format!(
            "after {} of {} bytes: {error}",
            self.stated - self.remaining_bytes,
            self.stated
        ))
    }
}

impl<R: Read> Read for CheckedEntry<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.remaining_bytes == 0 {
            // One byte more, so that an entry that goes on is found out and the end of the stream is looked at.
            let more = self.inner.read(&mut [0]).map_err(|e| self.damage(&e))?;
            if more > 0 {
                return Err(Damage::error(format!("more comes out than the stated {} bytes", self.stated)));
            }
            if self.sum.sum() != self.crc {
                return Err(Damage::error(format!(
                    "its check sum is {:08x}, and {:08x} is stated",
                    self.sum.sum(),
                    self.crc
                )));
            }
            return Ok(0);
        }
        let most = usize::try_from(self.remaining_bytes).unwrap_or(usize::MAX).min(buffer.len());
        let read_bytes = self.inner.read(&mut buffer[..most]).map_err(|e| self.damage(&e))?;
        if read_bytes == 0 {
            return Err(Damage::error(format!(
                "it ends after {} of the stated {} bytes",
                self.stated - self.remaining_bytes,
                self.stated
            )));
        }
        self.sum.update(&buffer[..read_bytes]);
        self.remaining_bytes -= read_bytes as u64;
        Ok(read_bytes)
    }
}
