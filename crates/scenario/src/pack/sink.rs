//! Where the files of a scenario go while a pack is written.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use files::{PackedEntry, Packer, ZipWriter};

/// Most of the gain at a third of the time that the usual level takes.
const LEVEL: u32 = 3;

/// Takes the files of one scenario in order.
pub(super) trait Sink {
    /// `path` relative to the scenario's folder.
    fn put(&mut self, path: &str, content: &[u8]) -> io::Result<()>;
}

/// Takes them for nothing: to compare hashes.
pub(super) struct NullSink;

impl Sink for NullSink {
    fn put(&mut self, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// A scenario's folder on disk.
pub(super) struct Folder {
    root: PathBuf,
    folders: Vec<String>,
}

impl Folder {
    pub(super) fn new(root: PathBuf) -> io::Result<Self> {
        std::fs::create_dir(&root)?;
        Ok(Self { root, folders: Vec::new() })
    }
}

impl Sink for Folder {
    fn put(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        let folder = files::parent(path);
        if !self.folders.iter().any(|known_folder| known_folder == folder) {
            std::fs::create_dir_all(self.root.join(folder))?;
            self.folders.push(folder.to_owned());
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
    /// Each with its path in the zip.
    entries: Vec<(String, PackedEntry)>,
    packer: Packer,
}

impl Spool {
    /// `prefix` is put before every path in the zip.
    pub(super) fn new(path: PathBuf, prefix: &str) -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::with_capacity(256 << 10, File::create(&path)?),
            path,
            prefix: prefix.to_owned(),
            entries: Vec::new(),
            packer: Packer::new(LEVEL),
        })
    }

    /// Nothing more comes.
    pub(super) fn finish(self) -> io::Result<CompleteSpool> {
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(CompleteSpool { path: self.path, entries: self.entries })
    }
}

impl Sink for Spool {
    fn put(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        let (entry, packed) = self.packer.pack(content)?;
        self.file.write_all(packed)?;
        self.entries.push((files::join(&self.prefix, path), entry));
        Ok(())
    }
}

/// A spool that is complete.
pub(super) struct CompleteSpool {
    path: PathBuf,
    entries: Vec<(String, PackedEntry)>,
}

/// Writes a zip of a manifest and spools. No entry has a time.
pub(super) fn write_zip(path: &Path, manifest: (&str, &[u8]), spools: &[CompleteSpool]) -> io::Result<()> {
    let mut zip = ZipWriter::new(BufWriter::with_capacity(256 << 10, File::create(path)?));
    zip.pack(manifest.0, manifest.1, &mut Packer::new(LEVEL))?;
    for spool in spools {
        let mut file = io::BufReader::with_capacity(256 << 10, File::open(&spool.path)?);
        for (path, entry) in &spool.entries {
            zip.put(path, entry, &mut file)?;
        }
    }
    zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(())
}
