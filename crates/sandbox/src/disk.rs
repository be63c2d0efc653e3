//! The disk limit, which no engine enforces on a bound folder: measured while a container runs.
//!
//! Counted are both folders, the container's own layer, and files that have lost their name but are still open (seen where
//! engine and host are one machine, and the host lets us look). What is left, such as a file that is only mapped, is
//! bounded by [`RESERVE`].

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bollard::query_parameters::InspectContainerOptions;

use crate::snapshot::{Size, size_of};
use crate::{Engine, SandboxError, Volumes};

/// How often, as long as measuring is cheap.
const USUAL_PAUSE: Duration = Duration::from_secs(1);
/// How often once more than half of the limit is used.
const SHORT_PAUSE: Duration = Duration::from_millis(200);
/// The pause is at least this many times as long as measuring takes, so that a big tree costs a tenth of a core.
const PAUSE_FACTOR: u32 = 10;
/// But never longer than this: measuring is slow too on a busy machine, and a disk fills meanwhile.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What a container may still write before the host's own disk is in danger: below this much free space containers are ended.
pub(crate) const RESERVE: u64 = 256 << 20;

/// Why a container has to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FullDisk {
    /// It went over its own limit.
    Limit,
    /// The disk of the host is almost full, whoever filled it.
    Host {
        /// The folder whose disk it is.
        path: String,
        /// Bytes free.
        free: u64,
    },
}

/// Returns when a container uses more than `limit` bytes, or the disk of the host is almost full; otherwise waits forever.
pub(crate) async fn watch(engine: &Engine, name: &str, volumes: &Volumes, limit: u64) -> FullDisk {
    loop {
        let began = Instant::now();
        let (size, free) = measure_folders(volumes.clone()).await;
        if size.too_deep {
            return FullDisk::Limit;
        }
        let used = size.bytes.saturating_add(
            bytes_outside_folders(engine, name, &[volumes.workspace.clone(), volumes.home.clone()], limit)
                .await,
        );
        if let Some(full) = full_disk(used, limit, free, &volumes.workspace) {
            return full;
        }
        let pause = if used > limit / 2 { SHORT_PAUSE } else { USUAL_PAUSE };
        tokio::time::sleep(pause.max((began.elapsed() * PAUSE_FACTOR).min(LONGEST_PAUSE))).await;
    }
}

/// Returns when a container without volumes uses more than `limit` bytes, or the disk of a local engine is almost full;
/// otherwise waits forever.
pub(crate) async fn watch_layer(engine: &Engine, name: &str, limit: u64) -> FullDisk {
    let root = engine.info.root.clone().filter(|root| root.is_dir());
    loop {
        let began = Instant::now();
        let used = bytes_outside_folders(engine, name, &[], limit).await;
        let free = root.as_ref().and_then(free_bytes);
        if let Some(full) = full_disk(used, limit, free, root.as_deref().unwrap_or(Path::new("/"))) {
            return full;
        }
        let pause = if used > limit / 2 { SHORT_PAUSE } else { USUAL_PAUSE };
        tokio::time::sleep(pause.max((began.elapsed() * PAUSE_FACTOR).min(LONGEST_PAUSE))).await;
    }
}

/// Why a container has to end that uses so much on a disk with so much left. Its own limit is checked first, so a container cannot
/// avoid it by filling the host's disk.
fn full_disk(used: u64, limit: u64, free: Option<u64>, folder: &Path) -> Option<FullDisk> {
    if used > limit {
        return Some(FullDisk::Limit);
    }
    let free = free.filter(|free| *free < RESERVE)?;
    Some(FullDisk::Host { path: folder.display().to_string(), free })
}

/// The error of a host whose disk is almost full, as a fault of the machine.
pub(crate) fn no_room_error(path: String, free: u64) -> SandboxError {
    let reason =
        format!("its disk has only {} MB left, so the container was ended; make room and resume", free >> 20);
    SandboxError::NoRoom { path, reason }
}

/// Both volumes together, and what is free where they lie.
async fn measure_folders(volumes: Volumes) -> (Size, Option<u64>) {
    let looked = tokio::task::spawn_blocking(move || {
        let mut sum = Size::default();
        for folder in [&volumes.workspace, &volumes.home] {
            let size = size_of(folder).unwrap_or_default();
            sum.bytes = sum.bytes.saturating_add(size.bytes);
            sum.entries += size.entries;
            sum.too_deep |= size.too_deep;
        }
        (sum, free_bytes(&volumes.workspace))
    });
    looked.await.unwrap_or_default()
}

/// Bytes that this user can still write where a folder lies.
fn free_bytes(folder: &PathBuf) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// What the container wrote outside its folders and `/tmp`, and what has no name any more.
async fn bytes_outside_folders(engine: &Engine, name: &str, folders: &[PathBuf], limit: u64) -> u64 {
    let options = InspectContainerOptions { size: true };
    let Ok(found) = engine.docker.inspect_container(name, Some(options)).await else {
        return 0;
    };
    let layer = found.size_rw.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
    let first_pid = found.state.and_then(|state| state.pid).filter(|pid| *pid > 0);
    let unnamed = match first_pid {
        Some(first_pid) => {
            let folders = folders.to_vec();
            tokio::task::spawn_blocking(move || unnamed_bytes(first_pid, &folders, limit)).await.unwrap_or(0)
        }
        None => 0,
    };
    layer.saturating_add(unnamed)
}

/// Bytes of open files without a name, on the disks of the folders or of the container's own layer; counting ends once they
/// are more than `stop_at`. `first_pid` is the container's first process as the host sees it.
fn unnamed_bytes(first_pid: i64, folders: &[PathBuf], stop_at: u64) -> u64 {
    let device = |path: &Path| std::fs::metadata(path).ok().map(|found| found.dev());
    let layer = PathBuf::from(format!("/proc/{first_pid}/root"));
    let disks: Vec<u64> = folders.iter().chain([&layer]).filter_map(|folder| device(folder)).collect();
    let mut inodes = HashSet::new();
    let mut bytes = 0_u64;
    for process in processes(first_pid) {
        let Ok(open) = std::fs::read_dir(format!("/proc/{process}/fd")) else {
            continue;
        };
        for file in open.flatten() {
            let Ok(found) = std::fs::metadata(file.path()) else {
                continue;
            };
            if found.is_file()
                && found.nlink() == 0
                && disks.contains(&found.dev())
                && inodes.insert((found.dev(), found.ino()))
            {
                bytes = bytes.saturating_add(found.blocks().saturating_mul(512));
                if bytes > stop_at {
                    return bytes;
                }
            }
        }
    }
    bytes
}

/// Processes of the control group that a process is in: those of its container. None where groups are not to be seen.
fn processes(first_pid: i64) -> Vec<u64> {
    let Ok(groups) = std::fs::read_to_string(format!("/proc/{first_pid}/cgroup")) else {
        return Vec::new();
    };
    // `0::/path` is version 2; `7:pids:/path` is version 1, where each kind of limit has a tree of its own.
    let list = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, kinds, path) = (parts.next()?, parts.next()?, parts.next()?);
        let tree = match kinds {
            "" => "/sys/fs/cgroup".to_owned(),
            kinds if kinds.split(',').any(|kind| kind == "pids") => "/sys/fs/cgroup/pids".to_owned(),
            _ => return None,
        };
        std::fs::read_to_string(format!("{tree}{path}/cgroup.procs")).ok()
    });
    list.unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_container_over_its_own_limit_is_not_excused_by_a_full_host() {
        let state = |used, free| full_disk(used, 100, free, Path::new("/w"));
        let host = |free| Some(FullDisk::Host { path: "/w".to_owned(), free });
        assert_eq!(state(101, Some(0)), Some(FullDisk::Limit));
        assert_eq!(state(101, Some(RESERVE)), Some(FullDisk::Limit));
        assert_eq!(state(100, Some(RESERVE - 1)), host(RESERVE - 1));
        assert_eq!(state(100, Some(RESERVE)), None);
        assert_eq!(state(100, None), None, "nobody knows what is free");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_open_file_without_a_name_counts() {
        let process = i64::from(std::process::id());
        if !processes(process).contains(&u64::from(std::process::id())) {
            // Control groups are not to be seen here, so there is nothing to count.
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let folders = [dir.path().to_owned()];
        let mut file = std::fs::File::create(dir.path().join("f")).unwrap();
        file.write_all(&vec![1; 3 << 20]).unwrap();
        file.sync_all().unwrap();
        let before = unnamed_bytes(process, &folders, u64::MAX);
        std::fs::remove_file(dir.path().join("f")).unwrap();
        assert!(unnamed_bytes(process, &folders, u64::MAX) >= before + (3 << 20));
        drop(file);
    }
}
