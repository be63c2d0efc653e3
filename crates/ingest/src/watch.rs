//! Noticing that a source changed.
//!
//! A watch notifies that something changed, not what: [`import`](crate::import::import) finds that out.
//! So nothing is queued here, however much happens: a flag is set, and the notification follows after a short silence.
//! (`notify-debouncer-full` keeps every event of every path until then, also those that our own reading causes.)
//!
//! There are two ways to notice. The system reports changes ([`Mode::Notified`]); or the source is scanned again every
//! second or so ([`Mode::Rescanned`]): zips, folders of other machines, whose changes the system does not notice, and
//! folders with more subfolders than the system is willing to watch.

mod folders;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind, MetadataKind, ModifyKind};

use self::folders::{Folders, is_of_private, is_private, may_be_a_new_folder, written_once};
use files::{Stamp, Tree, join};

/// How quickly changes are noticed.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// A notification follows when nothing happened for so long …
    silence: Duration,
    /// … or, if it never gets silent, so long after the first change.
    longest_delay: Duration,
    /// How often a folder is scanned: as a whole, or only whether it is still the same one.
    interval: Duration,
    /// How often a zip is scanned. Shorter, because it must be the same twice: it may be in the middle of being
    /// written.
    zip_interval: Duration,
}

const PACE: Pace = Pace {
    silence: Duration::from_millis(250),
    longest_delay: Duration::from_secs(1),
    interval: Duration::from_secs(1),
    zip_interval: Duration::from_millis(500),
};
/// How long [`watch`] waits until everything is watched.
const PATIENCE: Duration = Duration::from_millis(250);
/// Most new folders that are kept by name until they are watched.
const MOST_NEW_PATHS: usize = 10_000;
/// Scanning again may take this share of the time at most (one part in so many).
const SHARE: u32 = 4;
/// How long after an overflow of the system's queue the next one counts; doubled up to the second. A scan can cause
/// overflows itself, and must not lead to scans for ever.
const OVERFLOW_PAUSE: (Duration, Duration) = (Duration::from_secs(4), Duration::from_secs(64));

/// How changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The system reports them.
    Notified,
    /// The source is scanned again every second or so.
    Rescanned,
}

/// How changes should be noticed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hint {
    /// As suits the folder.
    #[default]
    Auto,
    /// By scanning again.
    Rescan,
}

/// A source that is being watched, until this is dropped. A call of `on_change` that has begun then still ends.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<SharedState>,
}

#[derive(Debug, Default)]
struct SharedState {
    state: Mutex<State>,
    wake: Condvar,
    notified: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    stop: bool,
    /// Everything is watched.
    ready: bool,
    /// … but only after [`watch`] had returned.
    is_late: bool,
    /// When the first change since the last notification came in, and the last one.
    pending: Option<(Instant, Instant)>,
    /// The system lost events; when the notification of that is due.
    overflow: Option<Instant>,
    /// The last such notification, and how long until the next.
    last_overflow_notification: Option<(Instant, Duration)>,
    /// The system cannot watch all folders.
    exhausted: bool,
    /// What came and may be folders, which are not watched yet; at most [`MOST_NEW_PATHS`].
    new_paths: Vec<PathBuf>,
    /// More than that came: all folders are gone through again.
    has_too_many_new_paths: bool,
}

impl SharedState {
    fn state(&self) -> MutexGuard<'_, State> {
        model::lock(&self.state)
    }

    fn set_mode(&self, watcher: &WatchThread) {
        self.notified.store(watcher.notifier.is_some(), Ordering::Relaxed);
    }

    fn changed(&self) {
        let now = Instant::now();
        let mut state = self.state();
        state.pending = Some(state.pending.map_or((now, now), |(first, _)| (first, now)));
        self.wake.notify_all();
    }

    fn overflowed(&self) {
        let now = Instant::now();
        let mut state = self.state();
        let pause_ends = state.last_overflow_notification.map_or(now, |(time, pause)| time + pause);
        state.overflow.get_or_insert(pause_ends.max(now));
        self.wake.notify_all();
    }
}

impl State {
    /// When the next notification is due.
    fn next_notification(&self, pace: Pace) -> Option<Instant> {
        let pending = self.pending.map(|(first, last)| (last + pace.silence).min(first + pace.longest_delay));
        [pending, self.overflow].into_iter().flatten().min()
    }

    fn note_new_paths(&mut self, paths: Vec<PathBuf>) {
        if self.new_paths.len() < MOST_NEW_PATHS {
            self.new_paths.extend(paths);
        } else {
            self.has_too_many_new_paths = true;
        }
    }

    /// Notes a notification. Gives whether it is one of events that were lost.
    fn note_notification(&mut self, now: Instant) -> bool {
        self.pending = None;
        let lost = self.overflow.is_some_and(|time| time <= now);
        if self.overflow.is_some_and(|time| time <= now) {
            self.overflow = None;
            let (shortest, longest) = OVERFLOW_PAUSE;
            let pause = match self.last_overflow_notification {
                Some((time, pause)) if now - time < longest * 2 => (pause * 2).min(longest),
                _ => shortest,
            };
            self.last_overflow_notification = Some((now, pause));
        }
        lost
    }
}

/// Watches a folder or zip and calls `on_change` from a thread of its own when it changed, after a short silence.
///
/// Begin to watch *before* reading the source, so that no change falls between. Setting up a folder of many thousand
/// folders takes seconds; this returns after a quarter of a second all the same, and then `on_change` is called once
/// when everything is watched, for what changed meanwhile. That the source goes away is a change, and so is its coming,
/// also if it is not there yet. Errors: the system has no thread for it.
pub fn watch(path: &Path, hint: Hint, on_change: impl Fn() + Send + 'static) -> std::io::Result<Watch> {
    watch_at(path, hint, PACE, on_change)
}

fn watch_at(
    path: &Path,
    hint: Hint,
    pace: Pace,
    on_change: impl Fn() + Send + 'static,
) -> std::io::Result<Watch> {
    let path = path.canonicalize().or_else(|_| std::path::absolute(path))?;
    let shared = Arc::new(SharedState::default());
    let thread = std::thread::Builder::new().name("watch".to_owned());
    let supervised = Arc::clone(&shared);
    thread.spawn(move || {
        let watcher = WatchThread::new(&path, hint, &supervised);
        supervised.set_mode(&watcher);
        let mut state = supervised.state();
        state.ready = true;
        if state.is_late {
            let now = Instant::now();
            state.pending.get_or_insert((now, now));
        }
        supervised.wake.notify_all();
        drop(state);
        supervise(&path, watcher, pace, &supervised, &on_change);
    })?;
    let state = shared.state();
    let mut state = shared
        .wake
        .wait_timeout_while(state, PATIENCE, |s| !s.ready)
        .unwrap_or_else(PoisonError::into_inner)
        .0;
    state.is_late = !state.ready;
    drop(state);
    Ok(Watch { shared })
}

impl Watch {
    /// How changes are noticed now. A folder that outgrows the system's limits changes from the one to the other; one
    /// that is still being set up counts as rescanned.
    pub fn mode(&self) -> Mode {
        if self.shared.notified.load(Ordering::Relaxed) { Mode::Notified } else { Mode::Rescanned }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.state().stop = true;
        self.shared.wake.notify_all();
    }
}

/// What the watching thread knows.
struct WatchThread {
    /// `None` when changes are noticed by rescanning.
    notifier: Option<Folders>,
    hint: Hint,
    /// What the last scan found; `None` = nothing there.
    stamp: Option<u64>,
    /// How long that scan took.
    scan_duration: Duration,
    /// Whether a zip had changed at the last scan, and must stay the same until the next.
    unsettled: bool,
}

impl WatchThread {
    fn new(path: &Path, hint: Hint, shared: &Arc<SharedState>) -> Self {
        if hint == Hint::Auto && path.is_dir() && !is_remote(path) {
            match notifier(path, shared) {
                Ok(notifier) => {
                    let stamp = identity(path);
                    return Self {
                        notifier: Some(notifier),
                        hint,
                        stamp,
                        scan_duration: Duration::ZERO,
                        unsettled: false,
                    };
                }
                Err(error) => tracing::info!(%error, "folder is watched by rescanning"),
            }
        }
        let start = Instant::now();
        let stamp = contents_stamp(path, shared);
        Self { notifier: None, hint, stamp, scan_duration: start.elapsed(), unsettled: false }
    }

    /// How long until the next scan.
    fn next(&self, path: &Path, pace: Pace) -> Duration {
        match self.notifier {
            Some(_) => pace.interval,
            None if path.is_dir() => pace.interval.max(self.scan_duration * SHARE),
            None => pace.zip_interval,
        }
    }
}

fn supervise(
    path: &Path,
    mut watcher: WatchThread,
    pace: Pace,
    shared: &Arc<SharedState>,
    on_change: &dyn Fn(),
) {
    let mut next_scan = Instant::now() + watcher.next(path, pace);
    loop {
        let mut state = shared.state();
        let mut lost = false;
        let is_due = loop {
            if state.stop {
                return;
            }
            let now = Instant::now();
            let next_notification = state.next_notification(pace);
            if !state.new_paths.is_empty() {
                break false;
            }
            if next_notification.is_some_and(|time| time <= now) {
                lost = state.note_notification(now);
                break true;
            }
            if next_scan <= now || state.exhausted {
                break false;
            }
            let wake_time = next_notification.map_or(next_scan, |time| time.min(next_scan));
            state =
                shared.wake.wait_timeout(state, wake_time - now).unwrap_or_else(PoisonError::into_inner).0;
        };
        let mut exhausted = std::mem::take(&mut state.exhausted);
        let mut new_paths = std::mem::take(&mut state.new_paths);
        lost |= std::mem::take(&mut state.has_too_many_new_paths);
        drop(state);
        if lost {
            // Folders may have come unheard.
            new_paths.push(path.to_path_buf());
        }
        if let Some(folders) = watcher.notifier.as_mut().filter(|_| !new_paths.is_empty()) {
            exhausted |= folders.add(&new_paths).is_err();
            // Something may have come into them before they were watched.
            shared.changed();
        }
        if is_due {
            on_change();
            if !exhausted {
                continue;
            }
        }
        if exhausted {
            watcher = WatchThread::new(path, Hint::Rescan, shared);
            // What the system has not reported since its limit was reached.
            shared.changed();
        } else if rescan(path, &mut watcher, shared) {
            shared.changed();
        }
        shared.set_mode(&watcher);
        next_scan = Instant::now() + watcher.next(path, pace);
    }
}

/// Whether the source is another than at the last scan.
fn rescan(path: &Path, watcher: &mut WatchThread, shared: &Arc<SharedState>) -> bool {
    let start = Instant::now();
    let stamp = if watcher.notifier.is_some() { identity(path) } else { contents_stamp(path, shared) };
    watcher.scan_duration = start.elapsed();
    if watcher.stamp.is_none() && stamp.is_some() || watcher.notifier.is_some() && stamp != watcher.stamp {
        // It came, went, or another one is in its place, which the old watches do not see.
        *watcher = WatchThread::new(path, watcher.hint, shared);
        return true;
    }
    let differs = stamp != watcher.stamp;
    watcher.stamp = stamp;
    if watcher.notifier.is_some() || stamp.is_none() || path.is_dir() {
        return differs;
    }
    // A zip counts as changed when it stays the same for a scan after it changed.
    let is_settled = watcher.unsettled && !differs;
    watcher.unsettled = differs;
    is_settled
}

fn notifier(path: &Path, shared: &Arc<SharedState>) -> notify::Result<Folders> {
    let shared = Arc::clone(shared);
    let root = path.to_path_buf();
    Folders::watch(path, move |event: notify::Result<notify::Event>| match event {
        Ok(event) if event.need_rescan() => shared.overflowed(),
        Ok(event) if is_of_private(&root, &event) => {}
        Ok(event) if is_change(event.kind) => {
            if may_be_a_new_folder(event.kind) {
                shared.state().note_new_paths(event.paths);
            }
            shared.changed();
        }
        Ok(_) => {}
        Err(error) => {
            if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) {
                shared.state().exhausted = true;
            }
            shared.changed();
        }
    })
}

/// Reading a source must not look like a change of it.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(MetadataKind::AccessTime)) => false,
        _ => true,
    }
}

/// What identifies the folder or file at a path.
fn identity(path: &Path) -> Option<u64> {
    let meta = path.metadata().ok()?;
    Some(Stamp::new().number(meta.dev()).number(meta.ino()).finish())
}

/// A hash over all names, sizes and times of a folder, or over size and time of a zip; `None` = not there.
fn contents_stamp(path: &Path, shared: &SharedState) -> Option<u64> {
    let meta = path.metadata().ok()?;
    if meta.is_file() {
        let times =
            Stamp::new().number(meta.mtime().cast_unsigned()).number(meta.mtime_nsec().cast_unsigned());
        return Some(times.number(meta.size()).number(meta.ino()).finish());
    }
    let tree = Tree::open(path).ok()?;
    let mut stamp = Stamp::new().number(meta.ino());
    let mut folders: Vec<String> = vec![String::new()];
    while let Some(folder) = folders.pop() {
        if shared.state().stop {
            return None;
        }
        for entry in tree.list(&folder).into_iter().filter(|entry| !is_private(&entry.name)) {
            stamp = stamp.text(&entry.name).number(entry.stamp);
            if entry.is_folder() && !written_once(&folder) {
                folders.push(join(&folder, &entry.name));
            }
        }
    }
    Some(stamp.finish())
}

/// Whether a folder lies on a file system that others write to without this machine hearing of it.
fn is_remote(path: &Path) -> bool {
    /// File system numbers of statfs(2) that are of that kind.
    const REMOTE: &[u64] = &[
        0x6969,      // NFS
        0x517b,      // SMB
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB2
        0x0102_1997, // 9P (also WSL and virtual machines)
        0x6573_5546, // FUSE (sshfs, rclone, s3fs, virtiofs)
        0x00c3_6400, // Ceph
        0x5346_414f, // AFS
        0x7375_7245, // Coda
        0x786f_4256, // VirtualBox shared folders
        0xbacb_acbc, // VMware shared folders
        0x0bd0_0bd0, // Lustre
    ];
    #[cfg(target_os = "linux")]
    {
        #[allow(clippy::unnecessary_cast, reason = "its width differs between platforms")]
        rustix::fs::statfs(path).is_ok_and(|stat| REMOTE.contains(&(stat.f_type as u64 & 0xffff_ffff)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (path, REMOTE);
        false
    }
}

#[cfg(test)]
mod tests;
