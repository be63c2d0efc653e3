//! From a tree to the store.
//!
//! 1. *Survey*: every place says which runs and parts it has, from names, sizes and small files. Runs are written, and
//!    whatever the store still has and the tree has not is dropped. Copies that were left out before stay so where nothing
//!    changed.
//! 2. *Read*: the parts whose stamp is another than the store's are read by two threads and written by the calling one.
//!    Between them nothing waits, so that at most three parts are in memory, however many there are: each may be large.
//!
//! Nothing that lies in the tree stops an import: a reader that fails on a part gives a warning and the next part is
//! read. Only the store can (its disk is full, another program holds it).

mod left_out;
mod one_place;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use model::{CachedInput, Episode, Run, Tokens, Warning};
use store::limits::GRID_TURNS;
use store::{ParsedPart, SourceCounts, SourceId, Store, StoreError};

use crate::discover::{Discovery, FoundFormat, NotRecognized, Place, discover_among};
use crate::format_trait::{Format, Part, PartReader, Report, Survey};
use crate::identity;
use crate::readers::clock;
use crate::unread::UnreadResults;
use files::{CollectedWarnings, Stamp, Tree, join};

pub use self::one_place::{PlaceImport, import_place};

/// Threads that survey places and read parts.
const READERS: usize = 2;
/// Parts that were read and wait to be written, beside the one that each reader holds. Each may take 100 MB.
const WAITING: usize = 0;

/// Most warnings of the parts of a source that are listed. The list has all of them in memory.
const MOST_WARNINGS: u32 = 100_000;

/// What is said of a source of which not all was read.
const STOPPED: &str = "Reading was stopped before its end.";

/// The code of the warning about cached tokens that were added to the input.
const CACHE_ADDED: &str = "tokens.cache_added";

/// Why an import did not finish.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Nothing of what Stamina Lab reads. What the store has of the source stays as it is.
    #[error(transparent)]
    NotRecognized(#[from] NotRecognized),
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportResult {
    /// Stable words of the formats found, without repetition.
    pub formats: Vec<&'static str>,
    /// Their names, joined with `, `.
    pub format_names: String,
    /// Where the places of each begin.
    pub found: Vec<FoundFormat>,
    /// What other programs wrote beside them.
    pub not_read: Vec<UnreadResults>,
    /// Parts read and written now.
    pub parts_read: u32,
    /// Parts that were not looked into because their stamp is the one in the store.
    pub parts_unchanged: u32,
    /// Whether the stop flag ended it early; what was read until then stays.
    pub stopped: bool,
    /// What the store has of the source now.
    pub counts: SourceCounts,
}

/// Reads what changed in a tree since the last time into the store. Blocks; call it from a thread that may.
///
/// `progress` is called with the parts written and the parts to read in this import, from the calling thread. Setting
/// `stop` ends it after the parts in hand.
pub fn import(
    tree: &Tree,
    store: &Store,
    source: SourceId,
    progress: &dyn Fn(u32, u32),
    stop: &AtomicBool,
) -> Result<ImportResult, ImportError> {
    import_among(tree, store, source, crate::formats::all(), progress, stop)
}

/// Like [`import`], with some formats only.
pub fn import_among(
    tree: &Tree,
    store: &Store,
    source: SourceId,
    formats: &[&'static dyn Format],
    progress: &dyn Fn(u32, u32),
    stop: &AtomicBool,
) -> Result<ImportResult, ImportError> {
    tree.set_hash_key(store.hash_key()?);
    let found = discover_among(tree, formats)?;
    Ok(import_found(tree, store, source, found, progress, stop)?)
}

/// Like [`import`], of places that were found in this tree before.
pub fn import_found(
    tree: &Tree,
    store: &Store,
    source: SourceId,
    found: Discovery,
    progress: &dyn Fn(u32, u32),
    stop: &AtomicBool,
) -> Result<ImportResult, StoreError> {
    tree.set_hash_key(store.hash_key()?);
    let mut imported =
        ImportResult { found: found.by_format(), not_read: found.not_read, ..ImportResult::default() };
    imported.formats = imported.found.iter().map(|format| format.id).collect();
    imported.format_names = imported.found.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    store.set_source_format(source, &imported.format_names)?;

    let mut known = store.part_stamps(source)?;
    let mut report = Report { warnings: found.warnings, ..Report::default() };
    let (jobs, runs) = survey(tree, store, source, &found.places, &mut known, &mut report)?;
    let met = tree.collected_warnings();
    let (warnings, further) = met.without(&CollectedWarnings::default());
    report.warn_all(warnings);
    report.count(further);
    store.put_survey(source, &report.warnings, &report.not_kept, report.files_read)?;

    let (unchanged, to_read): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.is_known(&known));
    imported.parts_unchanged = count(unchanged.len());
    imported.parts_read = read_all(tree, store, source, &to_read, &met, progress, stop)?;
    runs.iter().try_for_each(|(place, runs)| put_runs(store, source, place, runs))?;
    settle(store, source)?;
    imported.stopped = (imported.parts_read as usize) < to_read.len();
    store.set_source_read(source, imported.stopped.then_some(STOPPED))?;
    imported.counts = store.source_counts(source)?;
    Ok(imported)
}

/// Brings in line what depends on several parts, once all of them are written.
fn settle(store: &Store, source: SourceId) -> Result<(), StoreError> {
    store.settle_identities()?;
    store.leave_out_copies(source)?;
    store.settle_withdrawn(source)?;
    store.limit_warnings(source, MOST_WARNINGS)?;
    store.settle_cached_input()?;
    store.sum_runs(source)
}

/// A part to be read.
struct Job<'a> {
    place: &'a Place,
    part: Part,
    /// [`stored_stamp`]: what an older version read is read again.
    stamp: u64,
}

impl Job<'_> {
    fn is_known(&self, known: &HashMap<(String, String), u64>) -> bool {
        known.get(&(self.place.folder.clone(), self.part.key.clone())) == Some(&self.stamp)
    }
}

/// What a reader made of a part, before it is stored.
struct PartReading {
    job: usize,
    episodes: Vec<(String, Episode)>,
    report: Report,
}

/// The runs of each place.
type PlaceRuns<'a> = Vec<(&'a Place, Vec<Run>)>;

/// Writes the runs of a place. A run began with its first episode, if that was earlier than what it says of itself. Which
/// episodes it has is known when they are written: so it is written before them, with those of the last time, and after.
fn put_runs(store: &Store, source: SourceId, place: &Place, runs: &[Run]) -> Result<(), StoreError> {
    let times = store.episode_times(source, &place.folder)?;
    let begun = |run: &Run| {
        let mut run = run.clone();
        if let Some(episodes) = times.get(&run.key) {
            let parts: Vec<_> =
                episodes.iter().map(|(start, end)| (start.as_deref(), end.as_deref())).collect();
            let own = (run.started_at.as_deref(), run.finished_at.as_deref());
            run.started_at = clock::earliest_begin(own, &parts).map(str::to_owned);
        }
        run
    };
    let runs: Vec<Run> = runs.iter().map(begun).collect();
    store.put_runs(source, &place.folder, place.format.id(), &runs)
}

/// The stamp of a part in the store: [`Part::stamp`] and the version of the program.
fn stored_stamp(part: &Part) -> u64 {
    Stamp::new().text(env!("CARGO_PKG_VERSION")).number(part.stamp).finish()
}

/// Surveys all places, brings the store's runs and parts in line with them, and lists what there is to read. Parts that stay left
/// out as copies become known ones.
fn survey<'a>(
    tree: &Tree,
    store: &Store,
    source: SourceId,
    places: &'a [Place],
    known: &mut HashMap<(String, String), u64>,
    report: &mut Report,
) -> Result<(Vec<Job<'a>>, PlaceRuns<'a>), StoreError> {
    let (mut jobs, mut runs) = (Vec::new(), PlaceRuns::new());
    let mut keep: Vec<(String, String)> = Vec::new();
    store.drop_places(source, &places.iter().map(|place| place.folder.clone()).collect::<Vec<_>>())?;
    let mut surveys: Vec<(&Place, Option<Survey>)> = Vec::with_capacity(places.len());
    for (place, surveyed) in places.iter().zip(survey_all(tree, places)) {
        let Some((survey, survey_report)) = surveyed else {
            report.warn(failed(place.format, &place.folder, "What was read of it before stays"));
            surveys.push((place, None));
            continue;
        };
        report.add_survey(survey_report, &place.folder);
        surveys.push((place, Some(without_repetition(survey, &place.folder, report))));
    }
    let left_out = store.left_out(source)?;
    let by_place = surveys.iter().map(|(place, survey)| (place.folder.as_str(), survey.as_ref())).collect();
    let stays_out = left_out::copies_to_skip(&left_out, known, &by_place, stored_stamp);
    store.keep_left_out(source, &stays_out.runs, &stays_out.parts)?;
    let unsurveyed: HashSet<&str> = surveys
        .iter()
        .filter(|(_, survey)| survey.is_none())
        .map(|(place, _)| place.folder.as_str())
        .collect();
    for (place, survey) in surveys {
        let Some(mut survey) = survey else { continue };
        survey.runs.retain(|run| !stays_out.runs.contains(&(place.folder.clone(), run.key.clone())));
        put_runs(store, source, place, &survey.runs)?;
        runs.push((place, survey.runs));
        for part in survey.parts {
            keep.push((place.folder.clone(), part.key.clone()));
            let stamp = stored_stamp(&part);
            jobs.push(Job { place, part, stamp });
        }
    }
    store.drop_parts(source, &keep, &unsurveyed)?;
    known.extend(stays_out.parts);
    Ok((jobs, runs))
}

/// Surveys the places on several threads: most of the time goes into waiting for the file system, and an import that
/// finds nothing changed is nothing but survey. `None` where the reader failed.
fn survey_all(tree: &Tree, places: &[Place]) -> Vec<Option<(Survey, Report)>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<(Survey, Report)>>> = Mutex::new(places.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..READERS.min(places.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(place) = places.get(index) else { return };
                    let surveyed = catch_unwind(AssertUnwindSafe(|| {
                        let mut report = Report::default();
                        let survey = place.format.survey(tree, &place.folder, &mut report);
                        (survey, report)
                    }));
                    model::lock(&done)[index] = surveyed.ok();
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The survey with the first of each key. A reader makes keys from names in the source, which repeat as they like.
fn without_repetition(mut survey: Survey, folder: &str, report: &mut Report) -> Survey {
    let mut seen_keys = HashSet::new();
    survey.runs.retain(|run| {
        let new = seen_keys.insert(run.key.clone());
        if !new {
            let message = format!("A second run is called “{}”. It is left out.", run.key);
            report.warn(Warning::skipped(folder, "run.duplicate", message));
        }
        new
    });
    seen_keys.clear();
    survey.parts.retain(|part| {
        let new = seen_keys.insert(part.key.clone());
        if !new {
            let message = format!("A second part is called “{}”. It is left out.", part.key);
            report.warn(Warning::skipped(folder, "part.duplicate", message));
        }
        new
    });
    survey
}

fn failed(format: &dyn Format, folder: &str, consequence: &str) -> Warning {
    Warning::skipped(
        folder,
        "reader.failed",
        format!(
            "Stamina Lab's own reader for “{}” failed here, which is a fault in Stamina Lab. {consequence}.",
            format.name()
        ),
    )
}

/// Reads the jobs and writes what comes of them. Gives how many were written.
fn read_all(
    tree: &Tree,
    store: &Store,
    source: SourceId,
    jobs: &[Job<'_>],
    met: &CollectedWarnings,
    progress: &dyn Fn(u32, u32),
    stop: &AtomicBool,
) -> Result<u32, StoreError> {
    let total = count(jobs.len());
    progress(0, total);
    let next = AtomicUsize::new(0);
    let readers = PlaceReaders::default();
    let (mut written, mut warnings) = (0, 0);
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        for _ in 0..READERS.min(jobs.len()) {
            let sender = sender.clone();
            let (next, readers) = (&next, &readers);
            scope.spawn(move || read_jobs(tree, jobs, met, (next, readers), stop, &sender));
        }
        drop(sender);
        // To free a part takes long enough that the writing thread leaves it to another one.
        let (written_sender, written_parts) = sync_channel(0);
        scope.spawn(move || written_parts.into_iter().for_each(drop::<PartReading>));
        // When writing fails, the receiver goes with this closure and the readers find their queue closed.
        for done in receiver {
            let job = &jobs[done.job];
            let read = ParsedPart {
                place: &job.place.folder,
                key: &job.part.key,
                stamp: job.stamp,
                episodes: &done.episodes,
                warnings: &done.report.warnings,
                files_read: done.report.files_read,
            };
            store.put_part_with(source, &read, &done.report.not_kept)?;
            // Not only at the end, so that the library does not grow with all that a hostile source says.
            warnings += done.report.warnings.len();
            if warnings > MOST_WARNINGS as usize {
                store.limit_warnings(source, MOST_WARNINGS)?;
                warnings = 0;
            }
            // It ends after this thread.
            let _ = written_sender.send(done);
            written += 1;
            progress(written, total);
        }
        Ok(written)
    })
}

/// The reader of the place whose parts are being read. The jobs of a place follow each other, so one is enough, and what
/// another place shared is not kept.
#[derive(Default)]
struct PlaceReaders(Mutex<Option<PlaceReader>>);

struct PlaceReader {
    place: Place,
    reader: Arc<dyn PartReader>,
}

impl PlaceReaders {
    fn reader_for(&self, tree: &Tree, place: &Place) -> Arc<dyn PartReader> {
        let mut last = model::lock(&self.0);
        if let Some(kept) = &*last
            && (&kept.place.folder, kept.place.format.id()) == (&place.folder, place.format.id())
        {
            return Arc::clone(&kept.reader);
        }
        let reader: Arc<dyn PartReader> = Arc::from(place.format.reader(tree, &place.folder));
        *last = Some(PlaceReader { place: place.clone(), reader: Arc::clone(&reader) });
        reader
    }
}

fn read_jobs(
    tree: &Tree,
    jobs: &[Job<'_>],
    met: &CollectedWarnings,
    (next, readers): (&AtomicUsize, &PlaceReaders),
    stop: &AtomicBool,
    sender: &SyncSender<PartReading>,
) {
    while !stop.load(Ordering::Relaxed) {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = jobs.get(index) else { return };
        // A tree of its own, so that what this part met is stored with this part and goes with it.
        let tree = tree.fork();
        let read = catch_unwind(AssertUnwindSafe(|| {
            let mut report = Report::default();
            let readings = readers.reader_for(&tree, job.place).read(&tree, &job.part, &mut report);
            (readings, report)
        }));
        let (readings, mut report) = read.unwrap_or_else(|_| {
            let mut report = Report::default();
            let message = format!("The part “{}” is left out", job.part.key);
            report.warn(failed(job.place.format, &job.place.folder, &message));
            (Vec::new(), report)
        });
        let (warnings, further) = tree.collected_warnings().without(met);
        report.warn_all(warnings);
        report.count(further);
        let mut uncounted: Option<(String, u32)> = None;
        let mut is_reported = report.warnings.iter().any(|warning| warning.code == CACHE_ADDED);
        let episodes = readings.into_iter().map(|reading| {
            let mut episode = reading.episode;
            // Every planned turn is a row of a page and a cell of a score, whether it was played or not.
            if let Some(planned) = episode.planned_turns.take_if(|planned| *planned > GRID_TURNS) {
                uncounted.get_or_insert_with(|| (episode.key.clone(), planned));
            }
            for attempt in episode.turns.iter_mut().flat_map(|turn| &mut turn.attempts) {
                attempt.tokens = attempt.tokens.without_part_of_unknown();
            }
            episode.tokens = episode.tokens.map(Tokens::without_part_of_unknown);
            if !is_reported {
                is_reported = warn_added_tokens(job.place, &episode, &mut report);
            }
            if episode.identity.is_none() {
                episode.identity = identity::from_contents(&episode)
                    .or_else(|| identity::from_run_and_contents(&reading.run, &episode));
            }
            (reading.run, episode)
        });
        let mut episodes: Vec<(String, Episode)> = episodes.collect();
        leave_out_copies(&job.place.folder, &mut episodes, &mut report);
        if let Some((key, planned)) = uncounted {
            let message = format!(
                "The episode “{key}” plans {planned} turns, and at most {GRID_TURNS} are taken. How many it plans is unknown, here and \
                 in any other of this part that plans more."
            );
            report.warn(Warning::read_differently(&job.place.folder, "turns.out_of_range", message));
        }
        if sender.send(PartReading { job: index, episodes, report }).is_err() {
            return;
        }
    }
}

/// Leaves out episodes of a run that are the same by their contents as an earlier one of their part. The store finds copies in
/// other parts.
fn leave_out_copies(folder: &str, episodes: &mut Vec<(String, Episode)>, report: &mut Report) {
    let mut identities: HashMap<(String, String), String> = HashMap::new();
    episodes.retain(|(run, episode)| {
        let Some(identity) = episode.identity.as_ref().filter(|identity| identity.starts_with("of-")) else {
            return true;
        };
        match identities.entry((run.clone(), identity.clone())) {
            Entry::Occupied(first) => {
                report.warn(identity::copied(join(folder, &episode.key), first.get()));
                false
            }
            Entry::Vacant(entry) => {
                entry.insert(episode.key.clone());
                true
            }
        }
    });
}

/// Says once of a part that cached tokens were added to the input, where its reader has not; whether this episode is a reason.
fn warn_added_tokens(place: &Place, episode: &Episode, report: &mut Report) -> bool {
    let attempts = episode.turns.iter().flat_map(|turn| &turn.attempts);
    let mut counts = attempts
        .map(|attempt| (attempt.tokens, attempt.cached_input))
        .chain(episode.tokens.map(|tokens| (tokens, episode.cached_input)))
        .filter(|(_, basis)| *basis == CachedInput::Added);
    let Some((Tokens { input: Some(input), cached: Some(cached), .. }, _)) = counts.next() else {
        return false;
    };
    let message = format!(
        "Input {}, cached {cached} in {}: the input is counted without cached tokens. They are added (input {input} here), at every attempt of the run.",
        input.saturating_sub(cached),
        episode.key
    );
    report.warn(Warning::repaired(&place.folder, CACHE_ADDED, message));
    true
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
