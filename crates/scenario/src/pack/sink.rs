//! Where the files of a scenario go while a pack is written.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use rawzip::{CompressionMethod, DataDescriptorOutput, ZipArchiveWriter};

/// Takes the files of one scenario in order.
pub(super) trait Sink {
    /// `path` relative to the scenario's folder.
    fn put(&mut self, path: &str, content: &[u8]) -> io::Result<()>;
}

/// Takes them for nothing: to compare hashes.
pub(super) struct Nowhere;

impl Sink for Nowhere {
    fn put(&mut self, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// A scenario's folder on disk.
pub(super) struct Folder {
    root: PathBuf,
    made: Vec<String>,
}

impl Folder {
    pub(super) fn new(root: PathBuf) -> io::Result<Self> {
        std::fs::create_dir(&root)?;
        Ok(Self { root, made: Vec::new() })
    }
}

impl Sink for Folder {
    fn put(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        let folder = files::parent(path);
        if !self.made.iter().any(|made| made == folder) {
            std::fs::create_dir_all(self.root.join(folder))?;
            self.made.push(folder.to_owned());
        }
        std::fs::write(self.root.join(path), content)
    }
}

/// The packed files of a scenario, one behind the other in a file of their own, until all scenarios are there: so that
/// scenarios are packed side by side and still stand in the zip in order.
pub(super) struct Spool {
    file: BufWriter<File>,
    path: PathBuf,
    prefix: String,
    entries: Vec<Packed>,
    deflate: Compress,
    buffer: Vec<u8>,
}

/// A packed file in a spool.
#[derive(Debug)]
struct Packed {
    path: String,
    crc: u32,
    size: u64,
    length: u64,
}

impl Spool {
    /// `prefix` is put before every path in the zip.
    pub(super) fn new(path: PathBuf, prefix: &str) -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::with_capacity(256 << 10, File::create(&path)?),
            path,
            prefix: prefix.to_owned(),
            entries: Vec::new(),
            // Most of the gain at a third of the time that the usual level takes.
            deflate: Compress::new(Compression::new(3), false),
            buffer: Vec::new(),
        })
    }

    /// Nothing more comes.
    pub(super) fn finish(self) -> io::Result<Spooled> {
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Spooled { path: self.path, entries: self.entries })
    }
}

impl Sink for Spool {
    fn put(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        let mut crc = Crc::new();
        crc.update(content);
        pack(&mut self.deflate, content, &mut self.buffer)?;
        self.file.write_all(&self.buffer)?;
        self.entries.push(Packed {
            path: files::join(&self.prefix, path),
            crc: crc.sum(),
            size: content.len() as u64,
            length: self.buffer.len() as u64,
        });
        Ok(())
    }
}

/// Deflates into a buffer.
fn pack(deflate: &mut Compress, content: &[u8], into: &mut Vec<u8>) -> io::Result<()> {
    deflate.reset();
    into.clear();
    // What deflate needs at most: five bytes for each block that is not packed, and its end.
    into.reserve(content.len() + content.len() / 1000 + 256);
    loop {
        let read = deflate.total_in() as usize;
        let status =
            deflate.compress_vec(content.get(read..).unwrap_or_default(), into, FlushCompress::Finish)?;
        if status == Status::StreamEnd {
            return Ok(());
        }
        into.reserve(64 << 10);
    }
}

/// A spool that is complete.
pub(super) struct Spooled {
    path: PathBuf,
    entries: Vec<Packed>,
}

/// Writes a zip of a manifest and spools. No entry has a time.
pub(super) fn write_zip(path: &Path, manifest: (&str, &[u8]), spools: &[Spooled]) -> io::Result<()> {
    let mut zip = ZipArchiveWriter::new(BufWriter::with_capacity(256 << 10, File::create(path)?));
    let mut deflate = Compress::new(Compression::new(3), false);
    let (name, content) = manifest;
    let mut packed = Vec::new();
    let mut crc = Crc::new();
    crc.update(content);
    pack(&mut deflate, content, &mut packed)?;
    put(&mut zip, name, (crc.sum(), content.len() as u64), &mut packed.as_slice(), packed.len() as u64)?;
    for spool in spools {
        let mut file = io::BufReader::with_capacity(256 << 10, File::open(&spool.path)?);
        for entry in &spool.entries {
            put(&mut zip, &entry.path, (entry.crc, entry.size), &mut file, entry.length)?;
        }
    }
    let out = zip.finish().map_err(io::Error::other)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(())
}

/// Takes the next `packed` bytes as an entry.
fn put<W: io::Write>(
    zip: &mut ZipArchiveWriter<W>,
    path: &str,
    (crc, size): (u32, u64),
    from: &mut dyn io::Read,
    packed: u64,
) -> io::Result<()> {
    let (mut entry, _) = zip
        .new_file(path)
        .compression_method(CompressionMethod::DEFLATE)
        .unix_permissions(0o644)
        .start()
        .map_err(io::Error::other)?;
    if io::copy(&mut from.take(packed), &mut entry)? != packed {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a file of the pack was cut short"));
    }
    entry.finish(DataDescriptorOutput::new(crc, size)).map_err(io::Error::other)?;
    Ok(())
}
