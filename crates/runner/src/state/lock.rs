//! The lock of a run: whoever has it runs it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use files::confined_path;
use rustix::fs::OFlags;
use sandbox::Process;

use super::{RunFile, RunPaths};
use crate::{RunError, disk};

/// Most bytes of a lock that are read: it names a process.
const LONGEST_LOCK: u64 = 4 << 10;
/// How long a resume or a removal waits for the lock of a run whose record says that it has ended.
const LETTING_GO: Duration = Duration::from_secs(20);
/// How often a wait checks the lock.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The lock of a run; whoever has it plays it. Let go of when it is dropped, or its process dies.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
    folder: PathBuf,
}

/// Folders of runs that this process has let go of: it lives, and plays them no more.
static LEFT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Whether the process that has played a run last plays it no more, however that came: it is dead, or has let go of it
/// without writing down how it ended.
pub(crate) fn is_left(paths: &RunPaths, run: &RunFile) -> bool {
    let let_go = || {
        let folder = paths.stamina_folder().canonicalize().unwrap_or_else(|_| paths.stamina_folder());
        model::lock(&LEFT).contains(&folder)
    };
    !run.owner.lives() || run.owner == Process::current() && let_go()
}

impl Drop for Lock {
    fn drop(&mut self) {
        model::lock(&LEFT).insert(std::mem::take(&mut self.folder));
    }
}

impl Lock {
    /// Takes the lock, or says who holds it.
    pub(crate) fn take(paths: &RunPaths) -> Result<Self, RunError> {
        Self::take_until(paths, || false)
    }

    /// Takes the lock of a run that is to be resumed or removed. Where its record says how it ended, whoever played it lets go in a moment: the
    /// record comes first, and is what a person sees. So that moment is waited for, at most [`LETTING_GO`]. Blocks.
    pub(crate) fn take_over(paths: &RunPaths) -> Result<Self, RunError> {
        let deadline = Instant::now() + LETTING_GO;
        Self::take_until(paths, || {
            let has_ended = RunFile::read(paths).is_ok_and(|run| run.finish.is_some());
            has_ended && Instant::now() < deadline
        })
    }

    /// Tries again as long as it is worth `waiting`.
    fn take_until(paths: &RunPaths, waiting: impl Fn() -> bool) -> Result<Self, RunError> {
        let path = paths.stamina_folder().join("lock");
        let wrong = |error: std::io::Error| disk::error_at(&path, error);
        let mut file = confined_path::open_file(&path, OFlags::RDWR | OFlags::CREATE).map_err(wrong)?;
        while file.try_lock().is_err() {
            if waiting() {
                std::thread::sleep(POLL_INTERVAL);
                continue;
            }
            let mut text = String::new();
            let _ = (&mut file).take(LONGEST_LOCK).read_to_string(&mut text);
            let owner: Option<Process> = serde_json::from_str(&text).ok();
            return Err(RunError::Running {
                path: paths.results.clone(),
                pid: owner.and_then(|owner| owner.pid()).unwrap_or(0),
            });
        }
        let owner = serde_json::to_string(&Process::current()).unwrap_or_default();
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(owner.as_bytes()))
            .map_err(wrong)?;
        let folder = paths.stamina_folder().canonicalize().map_err(wrong)?;
        model::lock(&LEFT).remove(&folder);
        Ok(Self { _file: file, folder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_for_one() {
        let room = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(room.path());
        disk::folder(&paths.stamina_folder()).unwrap();
        let lock = Lock::take(&paths).unwrap();
        let refused = Lock::take(&paths).unwrap_err();
        assert!(matches!(refused, RunError::Running { pid, .. } if pid == std::process::id()), "{refused}");
        drop(lock);
        Lock::take(&paths).unwrap();
    }
}
