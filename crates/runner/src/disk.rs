//! Files that are there as a whole or not at all.
//!
//! A file is written under a temporary name beside its place, flushed, renamed, and its folder flushed. Temporary names
//! begin with [`TEMPORARY`], so that what a killed process left is known.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::RunError;

/// How names of unfinished files begin.
pub(crate) const TEMPORARY: &str = ".part-";

/// Whether a file has to outlive the machine's power, or only this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Written, flushed, renamed, folder flushed.
    Durably,
    /// Written and renamed.
    WhileTheMachineRuns,
}

/// An error at a path.
pub(crate) fn at(path: &Path, error: impl std::fmt::Display) -> RunError {
    RunError::Files { path: path.to_owned(), why: error.to_string() }
}

/// Makes a folder and those above it.
pub(crate) fn folder(path: &Path) -> Result<(), RunError> {
    std::fs::create_dir_all(path).map_err(|error| at(path, error))
}

/// Replaces a file.
pub(crate) fn write(path: &Path, content: &[u8], keep: Keep) -> Result<(), RunError> {
    write_with(path, keep, |file| file.write_all(content))
}

/// Replaces a file by what `fill` writes.
pub(crate) fn write_with(
    path: &Path,
    keep: Keep,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), RunError> {
    let part = part_of(path);
    let done = (|| {
        let mut file = BufWriter::with_capacity(64 << 10, File::create(&part)?);
        fill(&mut file)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        if keep == Keep::Durably {
            file.sync_data()?;
        }
        crate::faults::point("written");
        std::fs::rename(&part, path)?;
        crate::faults::point("renamed");
        if keep == Keep::Durably {
            sync_folder(path.parent())?;
        }
        Ok::<_, io::Error>(())
    })();
    done.map_err(|error| {
        let _ = std::fs::remove_file(&part);
        at(path, error)
    })
}

/// Replaces a JSON file.
pub(crate) fn write_json<T: serde::Serialize>(path: &Path, value: &T, keep: Keep) -> Result<(), RunError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| at(path, error))?;
    text.push(b'\n');
    write(path, &text, keep)
}

/// Does something short with a disk, in the middle of async code: others go on on another thread meanwhile. What takes long
/// has a thread of its own ([`crate::agent::blocking`]).
pub(crate) fn briefly<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(work)
        }
        // On the only thread of a runtime nothing could go on, and outside of one nothing has to.
        _ => work(),
    }
}

/// Reads a JSON file; nothing if it is not there.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, RunError> {
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| at(path, error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path, error)),
    }
}

/// Flushes a folder, so that a rename in it is kept.
pub(crate) fn sync_folder(path: Option<&Path>) -> io::Result<()> {
    match path {
        Some(path) => File::open(path)?.sync_all(),
        None => Ok(()),
    }
}

fn part_of(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!("{TEMPORARY}{name}"))
}
