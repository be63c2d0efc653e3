//! A zip, read in place. Its list of contents is checked and indexed once; entries are unpacked as they are read and
//! compared with what the list states.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use flate2::Crc;
use rawzip::{
    CompressionMethod, CreatorSystem, FileReader, RangeReader, ReaderAt, ZipArchive,
    ZipArchiveEntryWayfinder, ZipFileHeaderRecord,
};

use super::error::{Damage, not_a_file};
use super::notes::Notes;
use super::path::{MAX_DEPTH, clean, depth, file_name, parent};
use super::{Entry, EntryKind, ReadError, Stamp};

/// Limits of what is taken from a zip.
#[derive(Debug, Clone, Copy)]
pub struct ZipLimits {
    /// Most entries. Each takes about 200 bytes of memory.
    pub entries: u64,
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
        Self { entries: 1_000_000, total: 64 << 30, ratio: 400, ratio_from: 16 << 20 }
    }
}

#[derive(Debug)]
pub(super) struct Zip {
    archive: Arc<ZipArchive<FileReader>>,
    folders: HashMap<Box<str>, BTreeMap<Box<str>, Item>>,
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

/// An entry as the list of contents has it, once its name is found good.
struct Listed {
    path: String,
    item: Item,
    begin: u64,
    end: u64,
}

impl Zip {
    pub(super) fn open(file: File, limits: ZipLimits, notes: &Notes) -> Result<Self, ReadError> {
        let mut buffer = vec![0_u8; rawzip::MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let archive = ZipArchive::from_file(file, &mut buffer).map_err(|error| {
            ReadError::malformed("source.not_zip", format!("It is not a zip, or its end is cut off: {error}"))
        })?;
        let mut listed = Vec::new();
        let mut total = 0_u64;
        let mut seen = 0_u64;
        {
            let mut entries = archive.entries(&mut buffer);
            loop {
                let header = match entries.next_entry() {
                    Ok(Some(header)) => header,
                    Ok(None) => break,
                    Err(error) => {
                        notes.skipped(
                            "",
                            "zip.damaged",
                            &format!(
                                "The zip's list of contents breaks off after {seen} entries: {error}. \
                                 What comes after is left out"
                            ),
                        );
                        break;
                    }
                };
                if seen == limits.entries {
                    notes.skipped(
                        "",
                        "zip.too_many",
                        &format!("The zip has more than {seen} entries. The others are left out"),
                    );
                    break;
                }
                seen += 1;
                if let Some(entry) = check(&header, limits, &mut total, notes) {
                    listed.push(entry);
                }
            }
        }
        refuse_overlaps(&mut listed, notes);
        let mut zip = Self { archive: Arc::new(archive), folders: HashMap::new() };
        zip.folders.insert("".into(), BTreeMap::new());
        for entry in listed {
            zip.insert(&entry, notes);
        }
        Ok(zip)
    }

    /// Puts an entry into its folder, and the folder into its own, up to the root. The first of a name stays.
    fn insert(&mut self, entry: &Listed, notes: &Notes) {
        if !self.make_folder(parent(&entry.path)) {
            notes.skipped(
                &entry.path,
                "zip.duplicate",
                "The zip has a file where this entry needs a folder. The entry is left out",
            );
            return;
        }
        if matches!(entry.item, Item::Folder) {
            if !self.make_folder(&entry.path) {
                notes.skipped(
                    &entry.path,
                    "zip.duplicate",
                    "The zip has this name as a file and as a folder. The file, which comes first, is read",
                );
            }
            return;
        }
        let Some(folder) = self.folders.get_mut(parent(&entry.path)) else { return };
        if folder.contains_key(file_name(&entry.path)) {
            notes.skipped(
                &entry.path,
                "zip.duplicate",
                "The zip has this name more than once. The first is read, the others are left out",
            );
            return;
        }
        folder.insert(file_name(&entry.path).into(), entry.item);
    }

    /// Whether there is a folder of this path now.
    fn make_folder(&mut self, path: &str) -> bool {
        if self.folders.contains_key(path) {
            return true;
        }
        if !self.make_folder(parent(path)) {
            return false;
        }
        let Some(above) = self.folders.get_mut(parent(path)) else { return false };
        if above.contains_key(file_name(path)) {
            return false;
        }
        above.insert(file_name(path).into(), Item::Folder);
        self.folders.insert(path.into(), BTreeMap::new());
        true
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
        let name = file_name(path);
        self.folders.get(parent(path))?.get(name).map(|item| item.entry(name))
    }

    /// The unpacked file and its stated size.
    pub(super) fn open_file(&self, path: &str) -> Result<(Box<dyn Read + Send>, u64), ReadError> {
        let item = self.folders.get(parent(path)).and_then(|items| items.get(file_name(path)));
        let Some(item) = item else { return Err(ReadError::Missing) };
        let Item::File(file) = *item else { return Err(not_a_file()) };
        let entry =
            self.archive.get_entry(file.way).map_err(|error| ReadError::Damaged(format!("{error}")))?;
        let (begin, end) = entry.compressed_data_range();
        let packed = RangeReader::new(SharedFile(Arc::clone(&self.archive)), begin..end);
        let size = file.way.uncompressed_size_hint();
        let checked: Box<dyn Read + Send> = if file.method == CompressionMethod::DEFLATE {
            let packed = BufReader::with_capacity(16 << 10, packed);
            Box::new(Checked::new(flate2::bufread::DeflateDecoder::new(packed), size, file.crc))
        } else {
            Box::new(Checked::new(packed, size, file.crc))
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

const REGULAR: u32 = 0o100_000;
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

/// The entry if it may be taken; else a note of why not.
fn check(
    header: &ZipFileHeaderRecord<'_>,
    limits: ZipLimits,
    total: &mut u64,
    notes: &Notes,
) -> Option<Listed> {
    let path = good_name(header, notes)?;
    let refuse = |code: &str, why: String| {
        notes.skipped(&path, code, &why);
        None
    };
    let file_type = unix_file_type(header);
    match file_type {
        0 | REGULAR | FOLDER => {}
        LINK => {
            return refuse("link.skipped", "The zip entry is a link. Links are not followed".to_owned());
        }
        _ => {
            return refuse(
                "file.special",
                "The zip entry is a device, pipe or socket. It is left out".to_owned(),
            );
        }
    }
    if path.is_empty() {
        return None;
    }
    let (size, packed) = (header.uncompressed_size_hint(), header.compressed_size_hint());
    let begin = header.local_header_offset();
    // The least that it takes in the file: local header, name, data.
    let end = begin.saturating_add(30).saturating_add(header.file_path().len() as u64).saturating_add(packed);
    if header.is_dir() || file_type == FOLDER {
        return Some(Listed { path, item: Item::Folder, begin, end: begin });
    }
    if header.flags().is_encrypted() {
        return refuse("zip.encrypted", "The zip entry is encrypted. It is left out".to_owned());
    }
    let method = header.compression_method();
    if method != CompressionMethod::STORE && method != CompressionMethod::DEFLATE {
        return refuse(
            "zip.method",
            format!(
                "The zip entry is packed with {method}; stored and deflated ones are read. It is left out"
            ),
        );
    }
    let ratio = size / packed.max(1);
    if size > limits.ratio_from && ratio > limits.ratio {
        return refuse(
            "zip.bomb",
            format!(
                "The zip entry unpacks to {size} bytes, {ratio} times its packed size. \
                 More than {} times is not read",
                limits.ratio
            ),
        );
    }
    let sum = total.saturating_add(size);
    if sum > limits.total {
        return refuse(
            "zip.too_large",
            format!(
                "With this entry of {size} bytes the zip would unpack to more than {} bytes. It is left out",
                limits.total
            ),
        );
    }
    *total = sum;
    let item = Item::File(FileItem { way: header.wayfinder(), method, crc: header.crc32() });
    Some(Listed { path, item, begin, end })
}

/// The entry's path in its one spelling; a note if it is not a path inside the zip.
fn good_name(header: &ZipFileHeaderRecord<'_>, notes: &Notes) -> Option<String> {
    const MAX_BYTES: usize = 4096;
    let raw = header.file_path();
    let raw: &[u8] = raw.as_ref();
    let shown = || String::from_utf8_lossy(&raw[..raw.len().min(300)]).into_owned();
    let bad = |why: &str| {
        notes.skipped(&shown(), "zip.name", &format!("{why}. The zip entry is left out"));
        None
    };
    let Ok(name) = std::str::from_utf8(raw) else {
        notes.skipped(&shown(), "name.not_utf8", "The name is not UTF-8. It is left out");
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
        notes.skipped(
            &shown(),
            "folder.too_deep",
            &format!("The zip entry lies more than {MAX_DEPTH} levels deep. It is left out"),
        );
        return None;
    }
    Some(path)
}

/// Entries that share packed bytes are how a small zip unpacks to petabytes; no honest zip has them.
fn refuse_overlaps(listed: &mut Vec<Listed>, notes: &Notes) {
    let mut order: Vec<usize> =
        (0..listed.len()).filter(|i| matches!(listed[*i].item, Item::File(_))).collect();
    order.sort_by_key(|i| (listed[*i].begin, *i));
    let mut bad = Vec::new();
    let mut reached = 0;
    for i in order {
        if listed[i].begin < reached {
            notes.skipped(
                &listed[i].path,
                "zip.bomb",
                "The zip entry shares its bytes with another entry. It is left out",
            );
            bad.push(i);
        } else {
            reached = listed[i].end;
        }
    }
    if bad.is_empty() {
        return;
    }
    bad.sort_unstable();
    let mut at = 0;
    listed.retain(|_| {
        at += 1;
        bad.binary_search(&(at - 1)).is_err()
    });
}

/// The zip's file, for any number of readers at once.
struct SharedFile(Arc<ZipArchive<FileReader>>);

impl ReaderAt for SharedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.get_ref().read_at(buffer, offset)
    }
}

/// Passes on what comes out and holds it against what the zip states.
struct Checked<R> {
    inner: R,
    left: u64,
    stated: u64,
    crc: u32,
    sum: Crc,
}

impl<R: Read> Checked<R> {
    fn new(inner: R, stated: u64, crc: u32) -> Self {
        Self { inner, left: stated, stated, crc, sum: Crc::new() }
    }

    fn damage(&self, error: &io::Error) -> io::Error {
        Damage::error(format!("after {} of {} bytes: {error}", self.stated - self.left, self.stated))
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
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
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let got = self.inner.read(&mut buffer[..most]).map_err(|e| self.damage(&e))?;
        if got == 0 {
            return Err(Damage::error(format!(
                "it ends after {} of the stated {} bytes",
                self.stated - self.left,
                self.stated
            )));
        }
        self.sum.update(&buffer[..got]);
        self.left -= got as u64;
        Ok(got)
    }
}
