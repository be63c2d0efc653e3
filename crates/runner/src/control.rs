//! Control requests to a run: a small file that the runner reads twice a second, `.stamina/control.json`.

use std::path::Path;
use std::time::Duration;

use files::confined_path;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::RunError;
use crate::disk::{self, Durability};
use crate::state::RunPaths;

/// Most bytes that are read; the file has a number for each episode.
const LARGEST: u64 = 1 << 20;

/// How often a paused run checks whether it continues.
pub(crate) const PAUSE_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// What a user asks of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlRequest {
    /// No new attempt begins while this is set; those in flight end.
    pub pause: bool,
    /// Attempts in flight are dropped (they are retried after a resume), the run ends.
    pub stop: bool,
    /// Episodes whose attempt in flight ends and is retried from its snapshot, or that something outside ended and that are
    /// continued ([`crate::live::is_resumable`]). Each has a number that grows with every
    /// request.
    pub retry: std::collections::BTreeMap<String, u32>,
}

/// Reads the request; empty if the file does not exist or is not valid. After an error the request is unknown.
pub fn read(folder: &Path) -> Result<ControlRequest, RunError> {
    Ok(parsed(folder)?.unwrap_or_default())
}

/// Reads the request; empty if the file does not exist. After an error, also of a file that is not valid, it is unknown.
pub(crate) fn read_valid(folder: &Path) -> Result<ControlRequest, RunError> {
    parsed(folder)?.map_err(|error| disk::error_at(&path(folder), error))
}

/// The request, or why the file holds none.
fn parsed(folder: &Path) -> Result<serde_json::Result<ControlRequest>, RunError> {
    let path = path(folder);
    match confined_path::read_file(&path, LARGEST) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Ok(ControlRequest::default())),
        Err(error) => Err(disk::error_at(&path, error)),
    }
}

/// Changes the request. Other changes at the same time, in this process or another, wait, so none is lost. Blocks.
pub fn change(folder: &Path, change: impl FnOnce(&mut ControlRequest)) -> Result<(), RunError> {
    let path = RunPaths::new(folder).stamina_folder().join("control.lock");
    let wrong = |error: std::io::Error| disk::error_at(&path, error);
    let lock = confined_path::open_file(&path, OFlags::WRONLY | OFlags::CREATE).map_err(wrong)?;
    lock.lock().map_err(wrong)?;
    let mut control_request = read(folder)?;
    change(&mut control_request);
    // The lock is released when the file is closed, after the write.
    write(folder, &control_request)
}

/// Writes the request atomically.
pub fn write(folder: &Path, control_request: &ControlRequest) -> Result<(), RunError> {
    disk::write_json(&path(folder), control_request, Durability::Buffered)
}

fn path(folder: &Path) -> std::path::PathBuf {
    RunPaths::new(folder).stamina_folder().join("control.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let room = tempfile::tempdir().unwrap();
        let read = |folder| read(folder).unwrap();
        assert_eq!(read(room.path()), ControlRequest::default());
        std::fs::create_dir(room.path().join(".stamina")).unwrap();
        let control_request =
            ControlRequest { pause: true, stop: false, retry: [("scenario_1".to_owned(), 2)].into() };
        write(room.path(), &control_request).unwrap();
        assert_eq!(read(room.path()), control_request);
        std::fs::write(path(room.path()), "{").unwrap();
        assert_eq!(read(room.path()), ControlRequest::default());
    }

    #[test]
    fn a_request_that_cannot_be_read_is_not_replaced() {
        let room = tempfile::tempdir().unwrap();
        // A folder can be opened but not read.
        std::fs::create_dir_all(path(room.path())).unwrap();
        assert!(read(room.path()).is_err());
        assert!(change(room.path(), |control_request| control_request.stop = true).is_err());
        assert!(path(room.path()).is_dir());
    }

    #[test]
    fn requests_at_the_same_time_are_all_kept() {
        let room = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(room.path().join(".stamina")).unwrap();
        std::thread::scope(|threads| {
            for thread in 0..4 {
                let folder = room.path();
                threads.spawn(move || {
                    for _ in 0..25 {
                        let count_up = |control_request: &mut ControlRequest| {
                            let name = format!("scenario_{}", thread % 2);
                            *control_request.retry.entry(name).or_default() += 1;
                        };
                        change(folder, count_up).unwrap();
                    }
                });
            }
        });
        assert_eq!(
            read(room.path()).unwrap().retry,
            [("scenario_0".to_owned(), 50), ("scenario_1".to_owned(), 50)].into()
        );
    }
}
