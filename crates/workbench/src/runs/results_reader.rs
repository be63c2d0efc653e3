//! The results of a run, read into the library while the run plays, by a process that does not stay and so watches no source.
//! The events of the run tell when there is something to read. The app reads what it watches in the same way
//! ([`Workbench::adopt`], `read_source`).
//!
//! Where the run lies in a source with others, the whole source is read at the beginning and at the end. In between only the folder
//! of the run is, as long as that changes nothing of the others: they may be many.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ingest::import::PlaceImport;
use model::lock;
use store::{RunFilter, Source};

use crate::Workbench;
use crate::api::ApiError;

/// The least time between two readings.
const PAUSE: Duration = Duration::from_secs(3);
/// How many times as long as the reading the pause after it is at least: the run needs the processor.
const PAUSE_FACTOR: u32 = 4;
/// Episodes whose text is made searchable at once.
const INDEXED_AT_ONCE: u32 = 200;

/// Reads the results folder of a run into the library, on a thread of its own, whenever the run tells that something changed.
#[derive(Debug)]
pub struct ResultsReader {
    state: Arc<ReaderState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the thread and its owner share.
#[derive(Debug)]
struct ReaderState {
    workbench: Arc<Workbench>,
    folder: PathBuf,
    /// The source that shows the run; `None` = none was read to its end yet.
    source: Mutex<Option<ResultsSource>>,
    signals: Mutex<Signals>,
    wake: Condvar,
    /// Ends a reading early.
    stop: AtomicBool,
    /// Whether this reader itself ended the reading of the source around the folder before its end.
    was_interrupted: AtomicBool,
}

/// The source that shows a run.
#[derive(Debug, Clone)]
struct ResultsSource {
    id: i64,
    /// The folder of the run in it, where it is a folder around that; `None` = it is the folder of the run itself.
    place: Option<String>,
}

impl ResultsSource {
    /// Whether it is a folder around that of the run.
    const fn is_around(&self) -> bool {
        self.place.is_some()
    }
}

/// What the owner tells the thread.
#[derive(Debug, Default)]
struct Signals {
    has_changed: bool,
    is_over: bool,
}

impl ResultsReader {
    /// Of a run in this folder. Nothing is read before the first [`ResultsReader::note_change`].
    pub fn new(workbench: Arc<Workbench>, folder: &Path) -> Self {
        let state = Arc::new(ReaderState {
            workbench,
            folder: folder.to_owned(),
            source: Mutex::default(),
            signals: Mutex::default(),
            wake: Condvar::new(),
            stop: AtomicBool::new(false),
            was_interrupted: AtomicBool::new(false),
        });
        let reading = Arc::clone(&state);
        let spawned =
            std::thread::Builder::new().name("results".to_owned()).spawn(move || reading.read_until_over());
        if let Err(error) = &spawned {
            tracing::warn!(%error, "the run is shown in the library when it is over");
        }
        Self { state, thread: Mutex::new(spawned.ok()) }
    }

    /// Notes that there is something new to read. Does not wait.
    pub fn note_change(&self) {
        self.state.note_change();
    }

    /// Reads the results a last time, and makes them searchable. Blocks. A reading that is under way ends after the parts in hand;
    /// a survey of the source under way is waited for.
    pub fn finish(&self) -> Result<(), ApiError> {
        let state = &self.state;
        state.end_readings();
        let thread = lock(&self.thread).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::warn!("the thread that read the results failed");
        }
        state.stop.store(false, Ordering::Relaxed);
        let may_be_around = state.known_source().is_none_or(|source| source.is_around());
        // An error, for example that this source was closed: the folder is opened by itself.
        let is_read = may_be_around && state.read_whole_source().is_ok();
        if is_read && state.known_source().is_some_and(|source| source.is_around()) {
            while state.workbench.store.index_text(INDEXED_AT_ONCE)? {}
            return Ok(());
        }
        state.workbench.ingest(&state.folder, &|_, _| {}).map(drop)
    }
}

/// A run that failed before it began is not shown, and the thread is not joined: nobody waits for a reading under way.
impl Drop for ResultsReader {
    fn drop(&mut self) {
        self.state.end_readings();
    }
}

impl ReaderState {
    /// Tells the thread that the run is over, and ends a reading early.
    fn end_readings(&self) {
        self.stop.store(true, Ordering::Relaxed);
        lock(&self.signals).is_over = true;
        self.wake.notify_all();
    }

    fn note_change(&self) {
        lock(&self.signals).has_changed = true;
        self.wake.notify_all();
    }

    fn known_source(&self) -> Option<ResultsSource> {
        lock(&self.source).clone()
    }

    fn read_until_over(&self) {
        while self.wait_for_change() {
            let begin = Instant::now();
            if let Err(error) = self.read() {
                tracing::debug!(%error, "the results of the run cannot be read yet");
                match error.code.as_str() {
                    // Nothing can be written into this library.
                    "store.read_only" => return,
                    // The source was closed, which only its user takes back.
                    "source.not_found" => {}
                    // Tried again without an event, too: the first attempt may take an hour.
                    _ => self.note_change(),
                }
            }
            self.pause(PAUSE.max(begin.elapsed() * PAUSE_FACTOR));
        }
    }

    /// Waits until there is something to read, or the run is over. Returns whether it goes on.
    fn wait_for_change(&self) -> bool {
        let is_idle = |signals: &mut Signals| !signals.has_changed && !signals.is_over;
        let waited = self.wake.wait_while(lock(&self.signals), is_idle);
        let mut signals = waited.unwrap_or_else(PoisonError::into_inner);
        signals.has_changed = false;
        !signals.is_over
    }

    /// Waits so long, or until the run is over.
    fn pause(&self, duration: Duration) {
        let goes_on = |signals: &mut Signals| !signals.is_over;
        drop(self.wake.wait_timeout_while(lock(&self.signals), duration, goes_on));
    }

    /// Reads what changed in the run.
    fn read(&self) -> Result<(), ApiError> {
        if let Some(ResultsSource { id, place: Some(place) }) = self.known_source()
            && self.read_place(id, &place)?
        {
            return Ok(());
        }
        self.read_whole_source()
    }

    /// Reads the folder of the run in a source around it. Returns whether that is enough: what it holds may concern other runs.
    fn read_place(&self, source: i64, place: &str) -> Result<bool, ApiError> {
        let read = self.workbench.read_place(source, place, &self.stop)?;
        if read == PlaceImport::NeedsSource {
            return Ok(false);
        }
        self.workbench.refresh_summaries()?;
        Ok(true)
    }

    /// Reads what changed in the source that shows the run.
    fn read_whole_source(&self) -> Result<(), ApiError> {
        if let Some(source) = self.known_source() {
            return self.read_source(source.id).map(drop);
        }
        let found = self.first_reading()?;
        *lock(&self.source) = found;
        Ok(())
    }

    /// Reads a source of the library again. Returns whether it was read to its end.
    fn read_source(&self, source: i64) -> Result<bool, ApiError> {
        let imported = self.workbench.read_source(source, &self.stop, &|_, _| {})?;
        self.workbench.refresh_summaries()?;
        Ok(!imported.stopped)
    }

    /// Reads the source around the folder, or the folder where there is none or it does not show the run. Gives the source;
    /// `None` = it was stopped before.
    fn first_reading(&self) -> Result<Option<ResultsSource>, ApiError> {
        let workbench = &self.workbench;
        let adopted = workbench.adopt(&self.folder)?;
        let real = self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone());
        let around = workbench.store.source(adopted)?.filter(|source| real != Path::new(&source.path));
        // One that was not read to its end is left to whoever opened it, unless this reader itself ended its reading.
        let may_read = |source: &Source| {
            (source.complete || self.was_interrupted.load(Ordering::Relaxed)) && !source.set_aside
        };
        if let Some(source) = around.filter(may_read) {
            if !self.read_source(source.id)? {
                self.was_interrupted.store(true, Ordering::Relaxed);
                return Ok(None);
            }
            if let Some(place) = self.place_in(&source, &real)? {
                return Ok(Some(ResultsSource { id: source.id, place: Some(place) }));
            }
        }
        let id = workbench.register(&self.folder)?;
        let is_whole = self.read_source(id)?;
        Ok(is_whole.then_some(ResultsSource { id, place: None }))
    }

    /// The place of this folder in a source that has its run; `None` = the source does not show it.
    fn place_in(&self, source: &Source, folder: &Path) -> Result<Option<String>, ApiError> {
        let filter = RunFilter { sources: vec![source.id], ..RunFilter::default() };
        let runs = self.workbench.store.list_runs(&filter)?.rows;
        let mut places = runs.into_iter().map(|(_, run)| run.place);
        Ok(places.find(|place| Path::new(&source.path).join(place) == folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.path().is_dir() {
                copy(&entry.path(), &target);
            } else {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }

    /// Each reading surveyed all other runs of the source, too.
    #[test]
    fn while_the_run_plays_its_own_folder_is_read_and_no_other() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
        let own = fixtures.join("staminabench/own");
        let (around, folder) = (home.join("around"), home.join("around/second"));
        copy(&fixtures.join("harbor/jobs/nop-k1"), &around.join("first"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::copy(own.join("config.yaml"), folder.join("config.yaml")).unwrap();
        copy(&own.join("scenario_0"), &folder.join("scenario_0"));
        let db = Some(home.join("library.sqlite"));
        let workbench = Workbench::open(Options { db, ..Options::default() }).unwrap();
        workbench.ingest(&around, &|_, _| {}).unwrap();
        let runs = || -> Vec<(String, u32)> {
            let rows = workbench.store.list_runs(&RunFilter::default()).unwrap().rows;
            let mut runs: Vec<_> = rows.into_iter().map(|(_, run)| (run.slug, run.totals.episodes)).collect();
            runs.sort();
            runs
        };
        let before = runs();
        let reader = ResultsReader::new(Arc::clone(&workbench), &folder);
        reader.state.read().unwrap();
        assert_eq!(runs(), before);
        copy(&own.join("scenario_1"), &folder.join("scenario_1"));
        std::fs::remove_dir_all(around.join("first")).unwrap();
        reader.state.read().unwrap();
        let with_scenario =
            |(slug, episodes): &(String, u32)| (slug.clone(), episodes + u32::from(slug.contains("second")));
        let after: Vec<(String, u32)> = before.iter().map(with_scenario).collect();
        assert_eq!(runs(), after, "the run has its id and one more episode, and others are not looked at");
        reader.finish().unwrap();
        let left: Vec<(String, u32)> =
            after.into_iter().filter(|(slug, _)| slug.contains("second")).collect();
        assert_eq!((runs(), left.len()), (left.clone(), 1), "at the end the whole source is read");
        assert_eq!(workbench.store.sources().unwrap().len(), 1);
    }

    /// The run was listed twice, and the source that a user had opened stayed stopped.
    #[test]
    fn a_source_whose_reading_the_end_of_the_run_interrupted_is_read_to_its_end() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
        let around = home.join("around");
        copy(&fixtures.join("harbor/jobs"), &around.join("first"));
        let db = Some(home.join("library.sqlite"));
        let workbench = Workbench::open(Options { db, ..Options::default() }).unwrap();
        workbench.ingest(&around, &|_, _| {}).unwrap();
        let folder = around.join("second");
        copy(&fixtures.join("staminabench/own"), &folder);
        let reader = ResultsReader::new(Arc::clone(&workbench), &folder);
        reader.state.stop.store(true, Ordering::Relaxed);
        assert!(reader.state.first_reading().unwrap().is_none());
        let sources = || workbench.store.sources().unwrap();
        assert!(sources().iter().all(|source| !source.complete), "{:?}", sources());
        reader.finish().unwrap();
        assert_eq!(sources().len(), 1, "{:?}", sources());
        assert!(sources()[0].complete, "{:?}", sources());
    }

    #[test]
    fn the_thread_ends_with_its_owner() {
        let home = tempfile::tempdir().unwrap();
        let db = Some(home.path().join("library.sqlite"));
        let workbench = Workbench::open(Options { db, ..Options::default() }).unwrap();
        let reader = ResultsReader::new(workbench, home.path());
        let thread = lock(&reader.thread).take().unwrap();
        drop(reader);
        thread.join().unwrap();
    }
}
