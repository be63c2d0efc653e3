//! Zips that are written. Their bytes follow from names, contents and the level alone: no entry has a time.
//!
//! An entry is packed by a [`Packer`] and put by a [`ZipWriter`], possibly much later: the entries of a large zip are packed by
//! several threads and still stand in it in order. `rawzip`, which reads zips here, lays such entries behind each other; the
//! `zip` crate does so only for entries of another zip, and it would give packs of earlier versions other bytes.

use std::io::{self, Read, Write};

use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use rawzip::{CompressionMethod, DataDescriptorOutput, ZipArchiveWriter};

/// What a zip states of a packed entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedEntry {
    /// The CRC-32 of the content.
    pub crc: u32,
    /// Bytes of the content.
    pub size: u64,
    /// Bytes that it is packed into.
    pub length: u64,
}

/// Packs contents one after the other, in the same memory.
#[derive(Debug)]
pub struct Packer {
    deflate: Compress,
    buffer: Vec<u8>,
}

impl Packer {
    /// At a level from 0 (fast) to 9 (small).
    pub fn new(level: u32) -> Self {
        Self { deflate: Compress::new(Compression::new(level), false), buffer: Vec::new() }
    }

    /// Packs a content; the bytes are valid until the next one.
    pub fn pack(&mut self, content: &[u8]) -> io::Result<(PackedEntry, &[u8])> {
        let mut crc = Crc::new();
        crc.update(content);
        self.deflate.reset();
        self.buffer.clear();
        // What deflate needs at most: five bytes for each block that is not packed, and its end.
        self.buffer.reserve(content.len() + content.len() / 1000 + 256);
        loop {
            let rest = content.get(self.deflate.total_in() as usize..).unwrap_or_default();
            let status = self.deflate.compress_vec(rest, &mut self.buffer, FlushCompress::Finish)?;
            if status == Status::StreamEnd {
                break;
            }
            self.buffer.reserve(64 << 10);
        }
        let entry =
            PackedEntry { crc: crc.sum(), size: content.len() as u64, length: self.buffer.len() as u64 };
        Ok((entry, &self.buffer))
    }
}

/// Writes a zip, entry by entry.
#[derive(Debug)]
pub struct ZipWriter<W: Write> {
    zip: ZipArchiveWriter<W>,
}

impl<W: Write> ZipWriter<W> {
    /// An empty zip.
    pub fn new(out: W) -> Self {
        Self { zip: ZipArchiveWriter::new(out) }
    }

    /// Takes the next `entry.length` bytes as a packed entry.
    pub fn put(&mut self, path: &str, entry: &PackedEntry, content: &mut dyn Read) -> io::Result<()> {
        let (mut out, _) = self
            .zip
            .new_file(path)
            .compression_method(CompressionMethod::DEFLATE)
            .unix_permissions(0o644)
            .start()
            .map_err(io::Error::other)?;
        if io::copy(&mut content.take(entry.length), &mut out)? != entry.length {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("{path} was cut short")));
        }
        out.finish(DataDescriptorOutput::new(entry.crc, entry.size)).map_err(io::Error::other)?;
        Ok(())
    }

    /// Packs a content and puts it.
    pub fn pack(&mut self, path: &str, content: &[u8], packer: &mut Packer) -> io::Result<()> {
        let (entry, mut packed) = packer.pack(content)?;
        self.put(path, &entry, &mut packed)
    }

    /// Writes the list of contents. Gives back what it was written to.
    pub fn finish(self) -> io::Result<W> {
        self.zip.finish().map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tree;

    #[test]
    fn a_zip_is_read_back_and_its_bytes_are_the_same_again() {
        let noise: Vec<u8> = (0..200_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let contents: [(&str, &[u8]); 3] =
            [("a.txt", b"text text text"), ("b/empty", b""), ("b/noise", &noise)];
        let zip_with_level = |level| {
            let mut packer = Packer::new(level);
            let mut zip = ZipWriter::new(Vec::new());
            for (path, content) in contents {
                zip.pack(path, content, &mut packer).unwrap();
            }
            zip.finish().unwrap()
        };
        for level in [0, 3, 6, 9] {
            let bytes = zip_with_level(level);
            assert_eq!(bytes, zip_with_level(level));
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("made.zip");
            std::fs::write(&path, &bytes).unwrap();
            let tree = Tree::open(&path).unwrap();
            for (path, content) in contents {
                assert_eq!(tree.read(path, 1 << 20).unwrap(), content, "{path} at level {level}");
            }
        }
    }

    #[test]
    fn an_entry_that_is_shorter_than_stated_is_an_error() {
        let mut zip = ZipWriter::new(Vec::new());
        let entry = PackedEntry { crc: 0, size: 9, length: 9 };
        let error = zip.put("a", &entry, &mut &b"four"[..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
