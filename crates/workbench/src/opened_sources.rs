//! What this process knows of the opened sources beyond the store: that one is being read, how far, how it is watched.
//!
//! A source is read by one thread at a time. A change noticed while it is being read makes it read once more. Closing
//! and opening it again gives it a new [`SourceState`] with a new generation: a thread of an older one ends without touching
//! it.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use files::Tree;
use ingest::watch::{self, Watch};
use model::lock;
use store::Source;

use crate::api::{ApiError, SourceStatus, WatchMode};
use crate::{Options, Workbench};

/// What is known of one source.
#[derive(Debug, Default)]
struct SourceState {
    generation: u64,
    reading: bool,
    /// A change came while it was being read.
    must_reread: bool,
    progress: Option<(u32, u32)>,
    /// This process read it to the end before.
    was_read: bool,
    stop: Arc<AtomicBool>,
    watch: Option<Watch>,
}

/// The sources of this process.
#[derive(Debug)]
pub(crate) struct OpenedSources {
    sources: Mutex<HashMap<i64, SourceState>>,
    /// Opened trees; a zip's index is read once and kept until the source changes.
    trees: Mutex<HashMap<i64, Arc<Tree>>>,
    /// Grows whenever a kept tree may have become old.
    generation: AtomicU64,
    /// Held while a source is read, by whichever generation.
    reading_locks: Mutex<HashMap<i64, Arc<Mutex<()>>>>,
    /// Whether this process stays, watches and follows the store.
    pub(crate) stays: bool,
    /// Whether it is the desktop app, whose window is still to come.
    pub(crate) is_app: bool,
    /// When the data of the first page was given.
    first_page: OnceLock<Instant>,
    workbench: Weak<Workbench>,
    /// Held as long as the app runs, so that `stamina open` can tell.
    _running: Option<File>,
}

/// Permission to read a source, for one generation of it.
#[derive(Debug)]
pub(crate) struct ReadPermit<'a> {
    opened_sources: &'a OpenedSources,
    pub(crate) source: i64,
    generation: u64,
    /// Its end was noted; from then on the entry may belong to the next reading.
    has_ended: Cell<bool>,
}

impl OpenedSources {
    pub(crate) fn new(options: &Options, db: &Path, workbench: Weak<Workbench>) -> Self {
        let running = options.app.then(|| File::create(running_file(db)).ok()).flatten();
        Self {
            sources: Mutex::default(),
            trees: Mutex::default(),
            generation: AtomicU64::new(0),
            reading_locks: Mutex::default(),
            stays: options.live,
            is_app: options.app,
            first_page: OnceLock::new(),
            workbench,
            _running: running.filter(|file| file.try_lock().is_ok()),
        }
    }

    /// Notes that a page got its data.
    pub(crate) fn note_first_page(&self) {
        self.first_page.get_or_init(Instant::now);
    }

    /// Whether the first page got its data at least so long ago.
    pub(crate) fn first_page_is_older_than(&self, age: Duration) -> bool {
        self.first_page.get().is_some_and(|given| given.elapsed() >= age)
    }

    /// The workbench, from a thread of its own.
    pub(crate) fn workbench(&self) -> Weak<Workbench> {
        self.workbench.clone()
    }

    /// Status, progress and watch mode of a source.
    pub(crate) fn state(&self, source: &Source) -> (SourceStatus, Option<(u32, u32)>, WatchMode) {
        // Asked before the lock is taken: it may take a while.
        let is_there = crate::sources::is_there(Path::new(&source.path));
        let entries = lock(&self.sources);
        let entry = entries.get(&source.id);
        let watch = entry.and_then(|e| e.watch.as_ref()).map_or(WatchMode::Off, |w| match w.mode() {
            watch::Mode::Notified => WatchMode::Notified,
            watch::Mode::Rescanned => WatchMode::Rescanned,
        });
        let status = if entry.is_some_and(|e| e.reading) {
            SourceStatus::Reading
        } else if source.set_aside {
            SourceStatus::SetAside
        } else if !is_there {
            SourceStatus::Missing
        } else if source.complete {
            SourceStatus::Ready
        } else {
            SourceStatus::Stopped
        };
        (status, entry.and_then(|e| e.progress), watch)
    }

    /// The opened tree of a source.
    pub(crate) fn tree(&self, source: i64, path: &str) -> Result<Arc<Tree>, ApiError> {
        if let Some(tree) = lock(&self.trees).get(&source) {
            return Ok(Arc::clone(tree));
        }
        let before = self.generation.load(Ordering::SeqCst);
        let tree = Arc::new(crate::sources::open_tree(Path::new(path))?);
        let mut trees = lock(&self.trees);
        if self.generation.load(Ordering::SeqCst) == before {
            trees.insert(source, Arc::clone(&tree));
        }
        Ok(tree)
    }

    fn forget_tree(&self, source: i64) -> u64 {
        let mut trees = lock(&self.trees);
        trees.remove(&source);
        self.generation.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Asks the reading of a source to stop.
    pub(crate) fn stop(&self, source: i64) {
        if let Some(entry) = lock(&self.sources).get(&source) {
            entry.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Forgets a source: stops reading and watching it.
    pub(crate) fn forget(&self, source: i64) {
        self.forget_tree(source);
        let entry = lock(&self.sources).remove(&source);
        if let Some(entry) = entry {
            entry.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Whether this process reads and watches the source.
    pub(crate) fn has_source(&self, source: i64) -> bool {
        lock(&self.sources).contains_key(&source)
    }

    /// Whether any source is being read.
    pub(crate) fn is_reading(&self) -> bool {
        lock(&self.sources).values().any(|entry| entry.reading)
    }

    /// Reads a source in the background, once more if it is being read already.
    pub(crate) fn read(&self, source: i64) {
        let fresh = self.forget_tree(source);
        let generation = {
            let mut entries = lock(&self.sources);
            let entry = entries
                .entry(source)
                .or_insert_with(|| SourceState { generation: fresh, ..SourceState::default() });
            if entry.reading {
                entry.must_reread = true;
                return;
            }
            entry.reading = true;
            entry.must_reread = false;
            entry.stop = Arc::new(AtomicBool::new(false));
            entry.generation
        };
        let weak_workbench = self.workbench();
        let spawned = std::thread::Builder::new().name(format!("read {source}")).spawn(move || {
            if let Some(workbench) = weak_workbench.upgrade() {
                workbench.read_in_background(&ReadPermit::new(&workbench.opened_sources, source, generation));
            }
        });
        if let Err(error) = spawned {
            tracing::error!(%error, "no thread for reading");
            drop(ReadPermit::new(self, source, generation));
        }
    }
}

impl<'a> ReadPermit<'a> {
    fn new(opened_sources: &'a OpenedSources, source: i64, generation: u64) -> Self {
        Self { opened_sources, source, generation, has_ended: Cell::new(false) }
    }

    /// Does something with the entry, unless the source was closed meanwhile.
    fn with_entry<T>(&self, act: impl FnOnce(&mut SourceState) -> T) -> Option<T> {
        lock(&self.opened_sources.sources)
            .get_mut(&self.source)
            .filter(|e| e.generation == self.generation)
            .map(act)
    }

    /// Waits until no older reading of the source is under way.
    pub(crate) fn reading_lock(&self) -> Arc<Mutex<()>> {
        Arc::clone(lock(&self.opened_sources.reading_locks).entry(self.source).or_default())
    }

    /// The flag that asks it to stop; `None` = the source was closed.
    pub(crate) fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        self.with_entry(|entry| Arc::clone(&entry.stop))
    }

    /// Notes how far it is.
    pub(crate) fn progress(&self, done: u32, total: u32) {
        self.with_entry(|entry| entry.progress = Some((done, total)));
    }

    /// Whether this process has read the source to its end before.
    pub(crate) fn was_read(&self) -> bool {
        self.with_entry(|entry| entry.was_read).unwrap_or(true)
    }

    /// Notes that the source was read to its end.
    pub(crate) fn note_read(&self) {
        self.with_entry(|entry| entry.was_read = true);
    }

    /// Whether a change came meanwhile, so that the source must be read again. If not, the reading is over.
    pub(crate) fn end_or_repeat(&self) -> bool {
        let is_repeated = self.with_entry(|entry| {
            entry.progress = None;
            entry.reading = entry.must_reread;
            std::mem::take(&mut entry.must_reread)
        });
        self.has_ended.set(is_repeated != Some(true));
        !self.has_ended.get()
    }

    /// Whether the source is watched, or closed so that it need not be.
    pub(crate) fn is_watched(&self) -> bool {
        self.with_entry(|entry| entry.watch.is_some()).unwrap_or(true)
    }

    /// Keeps the watch as long as the source is open.
    pub(crate) fn keep_watch(&self, watch: Watch) {
        self.with_entry(|entry| entry.watch = Some(watch));
    }
}

impl Drop for ReadPermit<'_> {
    /// After a panic, the source does not seem to be read for ever.
    fn drop(&mut self) {
        if !self.has_ended.get() {
            self.with_entry(|entry| {
                entry.reading = false;
                entry.progress = None;
            });
        }
    }
}

/// The file that a running app keeps locked.
fn running_file(db: &Path) -> PathBuf {
    let mut name = db.file_name().unwrap_or_default().to_owned();
    name.push(".running");
    db.with_file_name(name)
}

/// Whether a desktop app has this library open.
pub fn app_is_running(options: &Options) -> bool {
    let Ok(db) = options.library_file() else { return false };
    let Ok(file) = File::open(running_file(&db)) else { return false };
    matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock))
}
