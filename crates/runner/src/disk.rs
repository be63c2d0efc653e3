//! Files that are there as a whole or not at all.
//!
//! A file is written under a temporary name beside its place, flushed, renamed, and its folder flushed. Temporary names
//! begin with [`TEMPORARY`], so that what a killed process left is known.
//!
//! A results folder may come from somebody else. So everything below it is opened through [`files::confined_path`]: no link is
//! followed, only regular files are read, and never more of one than a stated number of bytes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use files::confined_path;
use rustix::fs::OFlags;

use crate::RunError;

/// How names of unfinished files begin.
pub(crate) const TEMPORARY: &str = ".part-";

/// Whether a file has to outlive the machine's power, or only this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Written, flushed, renamed, folder flushed.
    Synced,
    /// Written and renamed.
    Buffered,
}

/// An error at a path.
pub(crate) fn error_at(path: &Path, error: impl std::fmt::Display) -> RunError {
    RunError::Files { path: path.to_owned(), reason: error.to_string() }
}

/// Makes a folder and those above it.
pub(crate) fn folder(path: &Path) -> Result<(), RunError> {
    confined_path::create_folders(path).map_err(|error| error_at(path, error))
}

/// Opens a file to write it anew.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    // A killed process or somebody else may have left a file under this name.
    match confined_path::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    confined_path::open_file(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
}

/// Replaces a file.
pub(crate) fn write(path: &Path, content: &[u8], durability: Durability) -> Result<(), RunError> {
    write_with(path, durability, |file| file.write_all(content))
}

/// Replaces a file by what `fill` writes.
pub(crate) fn write_with(
    path: &Path,
    durability: Durability,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), RunError> {
    let part = part_of(path);
    let done = (|| {
        let mut file = BufWriter::with_capacity(64 << 10, create(&part)?);
        fill(&mut file)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        if durability == Durability::Synced {
            file.sync_data()?;
        }
        crate::kill_points::point("written");
        confined_path::rename(&part, path)?;
        crate::kill_points::point("renamed");
        if durability == Durability::Synced {
            sync_folder(path.parent())?;
        }
        Ok::<_, io::Error>(())
    })();
    done.map_err(|error| {
        let _ = confined_path::remove_file(&part);
        error_at(path, error)
    })
}

/// Replaces a JSON file.
pub(crate) fn write_json<T: serde::Serialize>(
    path: &Path,
    value: &T,
    durability: Durability,
) -> Result<(), RunError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| error_at(path, error))?;
    text.push(b'\n');
    write(path, &text, durability)
}

/// Reads a folder that somebody else may have prepared, or whose file system may be out of reach: an error where there is no
/// answer within [`files::deadline::LIMIT`].
pub(crate) fn read_within_limit<T: Send + 'static>(
    folder: &Path,
    read: impl FnOnce(&Path) -> T + Send + 'static,
) -> Result<T, RunError> {
    let place = folder.to_owned();
    files::deadline::within_limit(folder, move || read(&place)).map_err(|error| error_at(folder, error))
}

/// Does something short with a disk, in the middle of async code: others go on on another thread meanwhile. What takes long
/// has a thread of its own ([`crate::blocking::blocking`]).
pub(crate) fn block_briefly<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(work)
        }
        // On the only thread of a runtime nothing could go on, and outside of one nothing has to.
        _ => work(),
    }
}

/// Most bytes of a JSON file that are read back: the feedback in a journal is the longest that we write.
pub(crate) const LARGEST_JSON: u64 = 32 << 20;
/// The same of the small files that are read of every run that is listed: the record of the run, and what its episodes are doing.
/// What they hold takes up to a hundred times as much memory as it has bytes.
pub(crate) const LARGEST_RECORD: u64 = 2 << 20;
pub(crate) const LARGEST_STATUS: u64 = 256 << 10;

/// Most values of a JSON file that is read back: a run of 1,000 episodes has some thousands.
const MOST_VALUES: usize = 100_000;

/// Reads a JSON file of at most `cap` bytes and 100,000 values; nothing if it is not there.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(
    path: &Path,
    cap: u64,
) -> Result<Option<T>, RunError> {
    match confined_path::read_file(path, cap) {
        Ok(bytes) if files::most_values(&bytes) > MOST_VALUES => {
            Err(error_at(path, format!("it has more than {MOST_VALUES} values, the most that are read")))
        }
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| error_at(path, error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error_at(path, error)),
    }
}

/// Flushes a folder, so that a rename in it is kept.
pub(crate) fn sync_folder(path: Option<&Path>) -> io::Result<()> {
    match path {
        Some(path) => File::from(confined_path::open_folder(path)?).sync_all(),
        None => Ok(()),
    }
}

fn part_of(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!("{TEMPORARY}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn a_record_of_very_many_values_is_not_read() {
        let room = tempfile::tempdir().unwrap();
        let path = confined_path::resolved(room.path()).join("record.json");
        let read = |count: usize| {
            std::fs::write(&path, format!("{{\"a\":[{}0]}}", "0,".repeat(count))).unwrap();
            read_json::<serde_json::Value>(&path, LARGEST_JSON)
                .map(|read| read.is_some())
                .map_err(|error| error.to_string())
        };
        assert_eq!(read(90_000), Ok(true));
        let error = read(100_000).unwrap_err();
        assert!(error.contains("more than 100000 values"), "{error}");
        std::fs::write(&path, format!("{{\"feedback\":\"{}\"}}", "a, [b], {c} \\\" ".repeat(100_000)))
            .unwrap();
        assert!(read_json::<serde_json::Value>(&path, LARGEST_JSON).unwrap().is_some(), "one long text");
    }
}
