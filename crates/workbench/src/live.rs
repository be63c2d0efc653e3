//! What this process knows of the opened sources beyond the store: that one is being read, how far, how it is watched.
//!
//! A source is read by one thread at a time. A change noticed while it is being read makes it read once more.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use ingest::tree::Tree;
use ingest::watch::{self, Hint, Watch};
use store::Source;

use crate::api::{ApiError, SourceStatus, WatchMode};
use crate::{Options, Workbench};

/// How often other processes' writes are looked for.
const POLL: Duration = Duration::from_millis(250);

/// How long a closed source can be restored before what was read of it is deleted.
const UNDO: Duration = Duration::from_mins(10);

/// What is known of one source.
#[derive(Debug, Default)]
struct Entry {
    reading: bool,
    /// A change came while it was being read.
    again: bool,
    progress: Option<(u32, u32)>,
    stop: Arc<AtomicBool>,
    watch: Option<Watch>,
    tree: Option<Arc<Tree>>,
}

/// The sources of this process.
#[derive(Debug)]
pub(crate) struct Live {
    sources: Mutex<HashMap<i64, Entry>>,
    /// Whether this process stays, watches and follows the store.
    stays: bool,
    me: Weak<Workbench>,
    /// Held as long as the app runs, so that `stamina open` can tell.
    _running: Option<File>,
}

impl Live {
    pub(crate) fn new(options: &Options, db: &Path, me: Weak<Workbench>) -> Self {
        let running = options.live.then(|| File::create(running_file(db)).ok()).flatten();
        let running = running.filter(|file| file.try_lock().is_ok());
        Self { sources: Mutex::default(), stays: options.live, me, _running: running }
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<i64, Entry>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Status, progress and watch mode of a source.
    pub(crate) fn state(&self, source: &Source) -> (SourceStatus, Option<(u32, u32)>, WatchMode) {
        let entries = self.entries();
        let entry = entries.get(&source.id);
        let watch = entry.and_then(|e| e.watch.as_ref()).map_or(WatchMode::Off, |w| match w.mode() {
            watch::Mode::Notified => WatchMode::Notified,
            watch::Mode::Rescanned => WatchMode::Rescanned,
        });
        let status = if entry.is_some_and(|e| e.reading) {
            SourceStatus::Reading
        } else if !Path::new(&source.path).exists() {
            SourceStatus::Missing
        } else if source.complete {
            SourceStatus::Ready
        } else {
            SourceStatus::Stopped
        };
        (status, entry.and_then(|e| e.progress), watch)
    }

    /// The opened tree of a source; a zip's index is read once and kept until it changes.
    pub(crate) fn tree(&self, source: i64, path: &str) -> Result<Arc<Tree>, ApiError> {
        if let Some(tree) = self.entries().get(&source).and_then(|e| e.tree.clone()) {
            return Ok(tree);
        }
        let tree = Arc::new(crate::sources::open_tree(Path::new(path))?);
        if self.stays {
            self.entries().entry(source).or_default().tree = Some(Arc::clone(&tree));
        }
        Ok(tree)
    }

    /// Asks the reading of a source to stop.
    pub(crate) fn stop(&self, source: i64) {
        if let Some(entry) = self.entries().get(&source) {
            entry.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Forgets a source: stops reading and watching it.
    pub(crate) fn forget(&self, source: i64) {
        let entry = self.entries().remove(&source);
        if let Some(entry) = entry {
            entry.stop.store(true, Ordering::Relaxed);
        }
    }

    fn knows(&self, source: i64) -> bool {
        self.entries().contains_key(&source)
    }

    /// Reads a source in the background, once more if it is being read already.
    pub(crate) fn read(&self, source: i64) {
        {
            let mut entries = self.entries();
            let entry = entries.entry(source).or_default();
            if entry.reading {
                entry.again = true;
                return;
            }
            entry.reading = true;
            entry.again = false;
            entry.tree = None;
            entry.stop = Arc::new(AtomicBool::new(false));
        }
        let me = self.me.clone();
        let spawned = std::thread::Builder::new().name(format!("read {source}")).spawn(move || {
            if let Some(workbench) = me.upgrade() {
                workbench.read_in_background(source);
            }
        });
        if let Err(error) = spawned {
            tracing::error!(%error, "no thread for reading");
            self.entries().remove(&source);
        }
    }
}

/// The file that a running app keeps locked.
fn running_file(db: &Path) -> PathBuf {
    let mut name = db.file_name().unwrap_or_default().to_owned();
    name.push(".running");
    db.with_file_name(name)
}

/// Whether an app that stays has this library open.
pub fn app_is_running(options: &Options) -> bool {
    let Ok(db) = crate::sources::db_path(options) else { return false };
    let Ok(file) = File::open(running_file(&db)) else { return false };
    matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock))
}

impl Workbench {
    /// Reads and watches every source, and follows what other processes write.
    pub(crate) fn come_alive(&self) -> Result<(), ApiError> {
        self.store.purge_removed(UNDO)?;
        let mut seen = self.store.last_change()?;
        for source in self.store.sources()? {
            self.live.read(source.id);
        }
        let me = self.live.me.clone();
        std::thread::Builder::new()
            .name("follow".to_owned())
            .spawn(move || {
                loop {
                    std::thread::sleep(POLL);
                    let Some(workbench) = me.upgrade() else { return };
                    match workbench.follow(seen) {
                        Ok(last) => seen = last,
                        Err(error) => tracing::warn!(%error, "the change log can not be read"),
                    }
                }
            })
            .map(drop)
            .map_err(|e| ApiError::new("app.thread", format!("No thread can be started: {e}")))
    }

    /// Passes on what was written to the store since `seen`; reads sources that another process opened.
    fn follow(&self, seen: u64) -> Result<u64, ApiError> {
        let changes = self.store.changes_since(seen)?;
        if changes.last == seen {
            // Nothing is being written: a good moment to make a few more texts searchable.
            if self.store.index_text(10)? {
                self.changes.add([], []);
            }
            return Ok(seen);
        }
        let mut touched: std::collections::BTreeSet<i64> = changes.sources.iter().copied().collect();
        let open = self.store.sources()?;
        for source in &open {
            if !self.live.knows(source.id) {
                self.live.read(source.id);
            }
        }
        for source in &changes.sources {
            if !open.iter().any(|s| s.id == *source) {
                self.live.forget(*source);
            }
        }
        if changes.policy {
            touched.extend(open.iter().map(|s| s.id));
        }
        self.changes.add(touched, changes.runs);
        Ok(changes.last)
    }

    fn read_in_background(&self, source: i64) {
        // Watched first, so that no change falls between the reading and the watching.
        self.watch_source(source);
        loop {
            let stop = {
                let entries = self.live.entries();
                let Some(entry) = entries.get(&source) else { return };
                Arc::clone(&entry.stop)
            };
            self.changes.add([source], []);
            let told = Cell::new(Instant::now());
            let outcome = self.read_source(source, &stop, &|done, total| {
                if let Some(entry) = self.live.entries().get_mut(&source) {
                    entry.progress = Some((done, total));
                }
                if told.get().elapsed() >= POLL || done == total {
                    told.set(Instant::now());
                    self.changes.add([source], []);
                }
            });
            if let Err(error) = &outcome {
                tracing::warn!(%error, source, "reading stopped");
                // What stopped it is shown with the source; the store may be the cause, so this may fail, too.
                drop(self.store.set_source_read(source, Some(&error.message)));
            }
            if let Err(error) = self.refresh_summaries() {
                tracing::warn!(%error, "summaries can not be made");
            }
            let mut entries = self.live.entries();
            let Some(entry) = entries.get_mut(&source) else { return };
            entry.progress = None;
            if !entry.again {
                entry.reading = false;
                drop(entries);
                self.changes.add([source], []);
                return;
            }
            entry.again = false;
            entry.tree = None;
        }
    }

    /// Begins to watch a source, if this process stays and does not watch it yet.
    fn watch_source(&self, source: i64) {
        if !self.live.stays || self.live.entries().get(&source).is_none_or(|e| e.watch.is_some()) {
            return;
        }
        let Ok(Some(stored)) = self.store.source(source) else { return };
        let me = self.live.me.clone();
        let watch = watch::watch(Path::new(&stored.path), Hint::Auto, move || {
            if let Some(workbench) = me.upgrade() {
                workbench.live.read(source);
            }
        });
        match watch {
            Ok(watch) => {
                if let Some(entry) = self.live.entries().get_mut(&source) {
                    entry.watch = Some(watch);
                }
            }
            Err(error) => tracing::warn!(%error, source, "the source can not be watched"),
        }
    }
}
