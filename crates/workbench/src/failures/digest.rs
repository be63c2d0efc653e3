//! What is kept of a run's failed attempts: read once, episode by episode, so that only one is in memory, and counted
//! from then on in every way that a page asks for.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use analysis::failures::history::{Flip, PassVisibility, Repair, Standing, history, turn_repairs};
use analysis::failures::{FailureClass, Suites, classify_attempt};
use files::Tree;
use model::{Attempt, EndReason, Episode};
use store::{EpisodeEntry, RunId, RunRecord, Store};

use super::logs::{LogEnds, Trees};
use crate::api::ApiError;

/// Most bytes of what a test or an exception said that are kept.
const MESSAGE: usize = 240;
/// Most flipping tests of an episode that are kept.
const FLIPS: usize = 100;
/// Failed attempts that are kept in memory, over all runs; [`TESTS`] failing tests count as one more.
const KEPT: usize = 200_000;

/// So many failing tests take as much memory as an attempt.
const TESTS: usize = 16;

/// A run that is to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunToRead {
    /// The run.
    pub(crate) run: RunId,
    /// The source that it lies in.
    pub(crate) source: i64,
    /// Whose suites its tests are of.
    pub(crate) suites: Suites,
}

impl RunToRead {
    /// As its record tells.
    pub(crate) fn from_record(record: &RunRecord) -> Self {
        let entry = &record.entry;
        let suites = if entry.benchmark.has_own_suites() { Suites::Own } else { Suites::Foreign };
        Self { run: entry.id, source: entry.source, suites }
    }
}

/// What is kept of a run.
#[derive(Debug, Default)]
pub(crate) struct RunFailures {
    /// By scenario and episode.
    pub(crate) episodes: Vec<EpisodeFailures>,
}

impl RunFailures {
    /// Whether its source names failing tests only, or tests that are not followed over turns, as far as its episodes tell:
    /// a pass is hidden in some, and could be seen in none.
    pub(crate) fn hides_passes(&self) -> bool {
        let has_any = |passes: PassVisibility| self.episodes.iter().any(|episode| episode.passes == passes);
        has_any(PassVisibility::Hidden) && !has_any(PassVisibility::Shown)
    }
}

/// What is kept of an episode.
#[derive(Debug)]
pub(crate) struct EpisodeFailures {
    /// Id of the episode.
    pub(crate) episode: String,
    /// The scenario.
    pub(crate) scenario: String,
    /// Its title.
    pub(crate) title: Option<String>,
    /// Repeat of the scenario in its run, from 1.
    pub(crate) repeat: u32,
    /// Why its observation ended. Whether that is a failure says the policy, which may change after this was read.
    pub(crate) end_reason: EndReason,
    /// Attempts made.
    pub(crate) attempts: Vec<MadeAttempt>,
    /// Ids of the tests that failed, each once.
    pub(crate) ids: Vec<Box<str>>,
    /// Those that failed, in order.
    pub(crate) cases: Vec<Case>,
    /// Turns that failed, and how long until they passed.
    pub(crate) turn_repairs: Vec<Repair>,
    /// Tests that failed, and how long until they passed; without their ids.
    pub(crate) test_repairs: Vec<Repair>,
    /// Whether a pass of a test could be seen.
    pub(crate) passes: PassVisibility,
    /// Tests that went back and forth, the most changes first.
    pub(crate) flips: Vec<Flip>,
    /// Turns that the episode has.
    pub(crate) turns: u32,
    /// Failed attempts of which a log that rules look at could not be read.
    pub(crate) logs_unread: u32,
}

/// An attempt that was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MadeAttempt {
    /// From 1.
    pub(crate) turn: u32,
    /// From 1.
    pub(crate) attempt: u32,
    /// Whether it is the last of its turn.
    pub(crate) is_final: bool,
    /// Whether it is of the first turn not passed, or of one before.
    pub(crate) counts_for_stamina: bool,
    /// Whether its turn is the first one not passed.
    pub(crate) is_of_end: bool,
}

/// A failing test of an attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FailingTest {
    /// Its place among the ids of the episode.
    pub(crate) id: u32,
    /// Its class.
    pub(crate) class: FailureClass,
    /// How it stood before.
    pub(crate) standing: Standing,
}

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Case {
    /// From 1.
    pub(crate) turn: u32,
    /// From 1.
    pub(crate) attempt: u32,
    /// Whether it is the last of a turn not passed.
    pub(crate) ends_turn: bool,
    /// Whether it is the last of the first turn not passed. It ended the stamina of its episode if the policy takes that end for
    /// an event.
    pub(crate) is_of_end: bool,
    /// Primary class.
    pub(crate) class: FailureClass,
    /// The rule that gave it.
    pub(crate) rule: &'static str,
    /// Failing tests by class.
    pub(crate) tests: BTreeMap<FailureClass, u32>,
    /// Every failing test that is described.
    pub(crate) failing: Vec<FailingTest>,
    /// Failing tests that are counted and not described.
    pub(crate) not_described: u32,
    /// Failing tests by origin: new, regressed, still failing, unknown.
    pub(crate) origins: [u32; 4],
    /// The test that the primary class rests on.
    pub(crate) test: Option<String>,
    /// The turn in which that test last passed.
    pub(crate) passed_in_turn: Option<u32>,
    /// What it, or the exception, said.
    pub(crate) message: Option<String>,
    /// Tests passed.
    pub(crate) passed: Option<u32>,
    /// Tests run.
    pub(crate) total: Option<u32>,
}

impl EpisodeFailures {
    fn size(&self) -> usize {
        let tests: usize = self.cases.iter().map(|case| case.failing.len()).sum();
        1 + self.cases.len() + (tests + self.ids.len()) / TESTS
    }

    fn new(entry: &EpisodeEntry, episode: &Episode, tree: Option<&Tree>, suites: Suites) -> Self {
        let history = history(episode);
        let standings: HashMap<(u32, u32, usize), Standing> = history
            .attempts
            .iter()
            .flat_map(|a| a.tests.iter().map(|t| ((a.turn, a.attempt, t.test), t.standing)))
            .collect();
        let mut attempts = Vec::new();
        let mut cases = Vec::new();
        let mut logs_unread = 0;
        let mut ids = TestIds::default();
        for turn in &episode.turns {
            let last = turn.attempts.len().saturating_sub(1);
            for (index, attempt) in turn.attempts.iter().enumerate() {
                attempts.push(MadeAttempt {
                    turn: turn.number,
                    attempt: attempt.number,
                    is_final: index == last,
                    counts_for_stamina: turn.number <= entry.stamina.saturating_add(1),
                    is_of_end: entry.failed_turn == Some(turn.number),
                });
                let ends_turn = index == last && !turn.state().is_passed();
                let is_of_end = ends_turn && entry.failed_turn == Some(turn.number);
                let ends = LogEnds::from_attempt(attempt, tree);
                logs_unread += u32::from(ends.unread);
                let ends_what = (ends_turn, is_of_end);
                cases.extend(Case::from_attempt(
                    turn.number,
                    (attempt, &ends, suites),
                    &standings,
                    ends_what,
                    &mut ids,
                ));
            }
        }
        let mut flips = history.flips;
        flips.truncate(FLIPS);
        let without_id = |mut repair: Repair| {
            repair.id = String::new();
            repair
        };
        Self {
            episode: entry.slug.clone(),
            scenario: entry.scenario.clone(),
            title: entry.title.clone(),
            repeat: entry.repeat,
            end_reason: entry.end_reason,
            attempts,
            ids: ids.list,
            cases,
            turn_repairs: turn_repairs(episode),
            test_repairs: history.repairs.into_iter().map(without_id).collect(),
            passes: history.passes,
            flips,
            turns: entry.known_turns,
            logs_unread,
        }
    }
}

impl FailingTest {
    /// Its place among new, regressed, still failing, unknown.
    pub(crate) const fn origin(&self) -> usize {
        match self.standing {
            Standing::New => 0,
            Standing::Regression { .. } => 1,
            Standing::StillFailing { .. } => 2,
            Standing::Unknown => 3,
        }
    }
}

/// Ids of tests, each kept once: a test that fails at a hundred attempts has one.
#[derive(Default)]
struct TestIds {
    list: Vec<Box<str>>,
    places: HashMap<Box<str>, u32>,
}

impl TestIds {
    fn place(&mut self, id: &str) -> u32 {
        if let Some(place) = self.places.get(id) {
            return *place;
        }
        let place = self.list.len() as u32;
        self.list.push(id.into());
        self.places.insert(id.into(), place);
        place
    }
}

impl Case {
    fn from_attempt(
        turn: u32,
        (attempt, ends, suites): (&Attempt, &LogEnds, Suites),
        standings: &HashMap<(u32, u32, usize), Standing>,
        (ends_turn, is_of_end): (bool, bool),
        ids: &mut TestIds,
    ) -> Option<Self> {
        let classified = classify_attempt(attempt, &ends.context(suites))?;
        let standing = |test: usize| standings.get(&(turn, attempt.number, test)).copied();
        let failing: Vec<FailingTest> = classified
            .tests
            .iter()
            .filter_map(|test| {
                let id = ids.place(&attempt.tests.get(test.test)?.id);
                let standing = standing(test.test).unwrap_or(Standing::Unknown);
                Some(FailingTest { id, class: test.class, standing })
            })
            .collect();
        let mut origins = [0; 4];
        for test in &failing {
            origins[test.origin()] += 1;
        }
        let telling = classified.tests.iter().find(|test| test.class == classified.primary);
        let decisive = telling.and_then(|test| Some((test.test, attempt.tests.get(test.test)?)));
        let sentence = decisive
            .and_then(|(_, test)| test.message.as_deref().or(test.actual.as_deref()).map(beginning))
            .or_else(|| {
                attempt.exception.as_ref().map(|(kind, message)| beginning(&format!("{kind}: {message}")))
            });
        Some(Self {
            turn,
            attempt: attempt.number,
            ends_turn,
            is_of_end,
            class: classified.primary,
            rule: classified.rule,
            tests: classified.counts,
            failing,
            not_described: classified.not_described,
            origins,
            test: decisive.map(|(_, test)| test.id.clone()),
            passed_in_turn: decisive.and_then(|(index, _)| match standing(index)? {
                Standing::Regression { passed_in_turn } => Some(passed_in_turn),
                _ => None,
            }),
            message: sentence.filter(|text| !text.is_empty()),
            passed: attempt.passed,
            total: attempt.total,
        })
    }
}

/// The beginning of a text, cut between characters, with a mark that it was cut.
fn beginning(text: &str) -> String {
    let text = text.trim();
    let cut = text.floor_char_boundary(MESSAGE);
    if cut < text.len() { format!("{}…", &text[..cut]) } else { text.to_owned() }
}

/// A run as of a change, and what was kept of it.
type KeptRun = (RunId, i64, Arc<RunFailures>);

/// The runs that were read lately.
#[derive(Debug, Default)]
pub(crate) struct Digests {
    /// The latest stand at the end.
    runs: Mutex<Vec<KeptRun>>,
    /// Held while runs are read: a page asks several questions at once, and one reading answers them all.
    reading: Mutex<()>,
}

impl Digests {
    /// What is kept of each run; those that are not there, or have changed, are read, on several threads.
    ///
    /// `open` gives the tree of a source.
    pub(crate) fn read(
        &self,
        store: &Store,
        runs: &[RunToRead],
        open: impl Fn(i64) -> Option<Arc<Tree>>,
    ) -> Result<Vec<Arc<RunFailures>>, ApiError> {
        let versions =
            runs.iter().map(|wanted| store.run_version(wanted.run)).collect::<Result<Vec<_>, _>>()?;
        let wanted: Vec<(RunId, i64)> = runs.iter().map(|wanted| wanted.run).zip(versions).collect();
        if let Some(all) = self.known(&wanted).into_iter().collect() {
            return Ok(all);
        }
        let _reading = model::lock(&self.reading);
        // Whoever read before us may have read the same runs.
        let known = self.known(&wanted);
        let missing: Vec<RunToRead> =
            runs.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(run, _)| *run).collect();
        let mut trees = Trees::new();
        for RunToRead { source, .. } in &missing {
            trees.entry(*source).or_insert_with(|| open(*source));
        }
        let mut read = read(store, &missing, &trees)?.into_iter();
        let all: Vec<Arc<RunFailures>> =
            known.into_iter().filter_map(|known| known.or_else(|| read.next().map(Arc::new))).collect();
        self.keep(&wanted, &all);
        Ok(all)
    }

    fn known(&self, wanted: &[(RunId, i64)]) -> Vec<Option<Arc<RunFailures>>> {
        let kept_runs = model::lock(&self.runs);
        let find = |(run, version): &(RunId, i64)| {
            kept_runs
                .iter()
                .find(|(r, v, _)| (r, v) == (run, version))
                .map(|(_, _, failures)| Arc::clone(failures))
        };
        wanted.iter().map(find).collect()
    }

    fn keep(&self, runs: &[(RunId, i64)], all: &[Arc<RunFailures>]) {
        let size =
            |(_, _, failures): &KeptRun| failures.episodes.iter().map(EpisodeFailures::size).sum::<usize>();
        let mut kept_runs = model::lock(&self.runs);
        kept_runs.retain(|(run, _, _)| runs.iter().all(|(r, _)| r != run));
        kept_runs.extend(
            runs.iter().zip(all).map(|((run, version), failures)| (*run, *version, Arc::clone(failures))),
        );
        let mut kept_size: usize = kept_runs.iter().map(size).sum();
        // The oldest go first; what was just asked for stays.
        while kept_size > KEPT && kept_runs.len() > runs.len() {
            kept_size -= size(&kept_runs.remove(0));
        }
    }
}

/// Reads runs, each episode on the next free thread.
fn read(store: &Store, runs: &[RunToRead], trees: &Trees) -> Result<Vec<RunFailures>, ApiError> {
    let mut episodes: Vec<(usize, EpisodeEntry)> = Vec::new();
    for (i, wanted) in runs.iter().enumerate() {
        let mut run_episodes = store.episodes(wanted.run)?;
        run_episodes.sort_by(|a, b| (&a.scenario, a.repeat, &a.slug).cmp(&(&b.scenario, b.repeat, &b.slug)));
        episodes.extend(run_episodes.into_iter().map(|episode| (i, episode)));
    }
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, EpisodeFailures)>, ApiError> {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some((run, entry)) = episodes.get(place) else { return Ok(done) };
            let tree = trees.get(&runs[*run].source).and_then(Option::as_deref);
            // An episode that was replaced while we read is left to the next asking.
            if let Some(episode) = store.whole_episode(entry.id)? {
                done.push((place, EpisodeFailures::new(entry, &episode, tree, runs[*run].suites)));
            }
        }
    };
    let threads =
        thread::available_parallelism().map_or(1, std::num::NonZero::get).min(episodes.len()).max(1);
    let mut parts = Vec::new();
    if threads == 1 {
        parts = work()?;
    } else {
        let results: Vec<_> = thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            handles.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        for result in results {
            parts.extend(result.map_err(|_| ApiError::new("failures.failed", "Classifying failed inside"))??);
        }
    }
    parts.sort_by_key(|(place, _)| *place);
    let mut read: Vec<RunFailures> = runs.iter().map(|_| RunFailures::default()).collect();
    for (place, failures) in parts {
        read[episodes[place].0].episodes.push(failures);
    }
    Ok(read)
}
