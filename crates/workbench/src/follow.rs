//! A process that stays: it reads and watches its sources, and follows what other processes write to the library.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use ingest::watch::{self, Hint};
use sandbox::Process;
use store::Source;

use crate::Workbench;
use crate::api::ApiError;
use crate::opened_sources::ReadPermit;

/// How often other processes' writes are looked for.
const POLL: Duration = Duration::from_millis(250);

/// How long a closed source can be restored before what was read of it is deleted.
const UNDO: Duration = Duration::from_mins(10);

/// Episodes whose text is made searchable at once; one call is one write to the library.
const INDEXED_AT_ONCE: u32 = 10;

/// The app looks again at what it has read before only when its first page is drawn: so long after the page's data was
/// given …
const DRAWN: Duration = Duration::from_millis(500);

/// … or so long after the start, if nobody asks for that page. Looking again takes both cores of a small machine for a
/// second, and a window needs them to open.
const DRAWN_AT_LATEST: Duration = Duration::from_secs(2);

/// The rest between two episodes whose transcripts and logs are made searchable.
const BETWEEN_EPISODES: Duration = Duration::from_millis(20);

/// How far following is.
#[derive(Debug, Clone, Copy)]
struct FollowState {
    /// The last change of the store that was passed on.
    change: u64,
    /// Whether texts were left to be made searchable.
    indexing: bool,
}

impl Workbench {
    /// Reads and watches every source, and follows what other processes write.
    pub(crate) fn start_background_work(&self) -> Result<(), ApiError> {
        self.store.purge_removed(UNDO)?;
        self.remove_imported(UNDO)?;
        let mut followed = FollowState { change: self.store.last_change()?, indexing: true };
        self.set_aside_fatal_sources()?;
        for source in self.store.sources()? {
            let waits = self.opened_sources.is_app && source.complete;
            if !source.set_aside && !waits {
                self.opened_sources.read(source.id);
            }
        }
        let (begin, mut all_known) = (Instant::now(), !self.opened_sources.is_app);
        let weak_workbench = self.opened_sources.workbench();
        std::thread::Builder::new()
            .name("follow".to_owned())
            .spawn(move || {
                loop {
                    std::thread::sleep(POLL);
                    let Some(workbench) = weak_workbench.upgrade() else { return };
                    if !all_known
                        && (begin.elapsed() >= DRAWN_AT_LATEST
                            || workbench.opened_sources.first_page_is_older_than(DRAWN))
                    {
                        all_known = workbench.read_unknown().is_ok();
                    }
                    match workbench.follow(followed) {
                        Ok(now) => followed = now,
                        Err(error) => tracing::warn!(%error, "the change log cannot be read"),
                    }
                }
            })
            .map(drop)
            .and_then(|()| self.index_in_background())
            .map_err(|e| ApiError::new("app.thread", format!("No thread can be started: {e}")))
    }

    /// Makes transcripts and logs searchable, an episode at a time, while no source is being read.
    fn index_in_background(&self) -> std::io::Result<()> {
        let weak_workbench = self.opened_sources.workbench();
        std::thread::Builder::new()
            .name("index".to_owned())
            .spawn(move || {
                let mut pause = DRAWN_AT_LATEST;
                let mut is_retried = false;
                loop {
                    std::thread::sleep(pause);
                    let Some(workbench) = weak_workbench.upgrade() else { return };
                    pause = POLL;
                    if workbench.opened_sources.is_reading() {
                        continue;
                    }
                    is_retried = is_retried || workbench.store.retry_texts().is_ok();
                    match workbench.index_episode_texts() {
                        // More is left: it is read at once, but the processor is not taken whole.
                        Ok(Some(_)) => pause = BETWEEN_EPISODES,
                        // What another process was indexing when it ended is left, too.
                        Ok(None) => drop(workbench.settle_texts()),
                        Err(error) => {
                            tracing::warn!(%error, "transcripts and logs cannot be indexed");
                            pause = UNDO;
                        }
                    }
                }
            })
            .map(drop)
    }

    /// Sets aside each source over whose reading a process has ended, whatever ended it: reading it again at every start could
    /// end every start.
    fn set_aside_fatal_sources(&self) -> Result<(), ApiError> {
        for (source, reader) in self.store.readings()? {
            if !Process::from_label(&reader).lives() {
                tracing::warn!(source, "a process ended while it read this source; it is set aside");
                self.store.set_aside(source)?;
            }
        }
        self.settle_texts()
    }

    /// Notes that this process ends in good order: what it was reading is no reason for it.
    pub fn note_orderly_end(&self) {
        let claims =
            self.end_text_claims().and_then(|()| Ok(self.store.end_readings(Process::current().label())?));
        if let Err(error) = claims {
            tracing::warn!(%error, "sources that were being read will be set aside");
        }
    }

    /// Passes on what was written to the store since; reads sources that another process opened.
    fn follow(&self, earlier: FollowState) -> Result<FollowState, ApiError> {
        let changes = self.store.changes_since(earlier.change)?;
        if changes.last == earlier.change {
            // Nothing is being written: a good moment to make a few more texts searchable.
            let indexing = self.store.index_text(INDEXED_AT_ONCE)?;
            if earlier.indexing && !indexing {
                self.changes.add([], []);
            }
            return Ok(FollowState { indexing, ..earlier });
        }
        let mut touched: BTreeSet<i64> = changes.sources.iter().copied().collect();
        let open = self.read_unknown()?;
        for source in &changes.sources {
            if !open.iter().any(|s| s.id == *source) {
                self.opened_sources.forget(*source);
            }
        }
        if changes.policy {
            touched.extend(open.iter().map(|s| s.id));
        }
        self.changes.add(touched, changes.runs);
        Ok(FollowState { change: changes.last, indexing: true })
    }

    /// Begins to read the open sources that this process has not read yet. Gives all open ones.
    fn read_unknown(&self) -> Result<Vec<Source>, ApiError> {
        let open = self.store.sources()?;
        for source in
            open.iter().filter(|source| !source.set_aside && !self.opened_sources.has_source(source.id))
        {
            self.opened_sources.read(source.id);
        }
        Ok(open)
    }

    /// Reads a source until nothing changes meanwhile.
    pub(crate) fn read_in_background(&self, reading: &ReadPermit<'_>) {
        let source = reading.source;
        let reading_lock = reading.reading_lock();
        let _held_lock = model::lock(&reading_lock);
        // Watched first, so that no change falls between the reading and the watching.
        self.watch_source(reading);
        while let Some(stop) = reading.stop_flag() {
            self.changes.add([source], []);
            let last_report = Cell::new(Instant::now());
            // A run that this process plays is read again with every attempt: whoever ends the app then is not to find its own
            // results set aside.
            let is_noted = !reading.was_read() || !self.is_played_within(source);
            if is_noted && let Err(error) = self.store.begin_reading(source, Process::current().label()) {
                tracing::warn!(%error, source, "it is not noted that the source is being read");
            }
            let outcome = self.read_source(source, &stop, &|done, total| {
                reading.progress(done, total);
                if last_report.get().elapsed() >= POLL || done == total {
                    last_report.set(Instant::now());
                    self.changes.add([source], []);
                }
            });
            if is_noted && let Err(error) = self.store.end_reading(source) {
                tracing::warn!(%error, source, "it is not noted that the source is no longer being read");
            }
            if outcome.is_ok() {
                reading.note_read();
            }
            if let Err(error) = &outcome {
                tracing::warn!(%error, source, "reading stopped");
                // What stopped it is shown with the source; the store may be the cause, so this may fail, too.
                drop(self.store.set_source_read(source, Some(&error.message)));
            }
            if let Err(error) = self.refresh_summaries() {
                tracing::warn!(%error, "summaries cannot be made");
            }
            let is_repeated = reading.end_or_repeat();
            self.changes.add([source], []);
            if !is_repeated {
                return;
            }
        }
    }

    /// Whether this process plays a run whose folder lies in a source.
    pub(crate) fn is_played_within(&self, source: i64) -> bool {
        let Ok(Some(source)) = self.store.source(source) else { return false };
        self.runs.is_playing_within(Path::new(&source.path))
    }

    /// Begins to watch a source, if this process stays and does not watch it yet.
    fn watch_source(&self, reading: &ReadPermit<'_>) {
        if !self.opened_sources.stays || reading.is_watched() {
            return;
        }
        let source = reading.source;
        let Ok(Some(stored)) = self.store.source(source) else { return };
        let weak_workbench = self.opened_sources.workbench();
        let watch = watch::watch(Path::new(&stored.path), Hint::Auto, move || {
            if let Some(workbench) = weak_workbench.upgrade() {
                workbench.opened_sources.read(source);
            }
        });
        match watch {
            Ok(watch) => reading.keep_watch(watch),
            Err(error) => tracing::warn!(%error, source, "the source cannot be watched"),
        }
    }
}
