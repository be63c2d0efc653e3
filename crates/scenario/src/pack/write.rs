//! Writing a pack: scenarios side by side, turn by turn, and all of it or nothing.

use std::fs::DirEntry;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::layout::{LEFT_BY_PYTHON, MANIFEST, Part, folder, number};
use super::make::{Made, Maker};
use super::manifest::{Generator, Manifest, PACK_VERSION, SampledBy, ScenarioEntry, TurnHash};
use super::schemas::SchemaFiles;
use super::sink::{Folder, Nowhere, Sink, Spool, Spooled, write_zip};
use super::{Pack, PackError, yaml};
use crate::config::Generation;
use crate::sample::{Origin, Sampler};
use crate::suite::SuiteFiles;
use crate::{Seed, code};

/// Where a pack goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A folder.
    Folder(PathBuf),
    /// A zip.
    Zip(PathBuf),
    /// Nowhere: only its hashes are wanted.
    Nowhere,
}

impl Target {
    /// A zip if the name ends so, otherwise a folder.
    pub fn at(path: &Path) -> Self {
        let zip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"));
        if zip { Self::Zip(path.to_owned()) } else { Self::Folder(path.to_owned()) }
    }
}

/// How a pack is written.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Replace a pack of other settings. What is no pack is never replaced.
    pub force: bool,
    /// Scenarios at the same time; by default as many as there are processors.
    pub threads: Option<NonZero<usize>>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Turns that were written.
    pub done: u64,
    /// Turns in all.
    pub total: u64,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The manifest, with the hash and the number of bytes.
    pub manifest: Manifest,
}

/// Generates a pack. Blocks; uses several threads. `progress` is called after every turn, from any of them.
///
/// The pack lies under its name only when it is complete: until then it is built beside it. A pack of the same settings
/// is replaced; anything else is an error ([`PackError::Occupied`]).
pub fn generate(
    generation: &Generation,
    sampler: &dyn Sampler,
    target: &Target,
    options: &Options,
    progress: &(dyn Fn(Progress) + Sync),
    cancel: &AtomicBool,
) -> Result<Generated, PackError> {
    generation.check()?;
    let stage = match target {
        Target::Folder(path) | Target::Zip(path) => {
            let place = Place::new(path, target, generation, options.force)?;
            Some(place.stage()?)
        }
        Target::Nowhere => None,
    };
    let work = Work {
        generation,
        sampler,
        folder: stage.as_ref().map(|stage| stage.folder.as_path()),
        zip: matches!(target, Target::Zip(_)),
        progress,
        cancel,
        failed: AtomicBool::new(false),
        done: AtomicU64::new(0),
    };
    let (entries, spools, bytes) = work.all(options.threads)?;
    let manifest = Manifest {
        format: PACK_VERSION.to_owned(),
        generator: Generator::this(),
        seed: generation.base_seed,
        sampler: SampledBy {
            name: sampler.name().to_owned(),
            model: generation.llm_sampler_model_id.clone(),
        },
        config: generation.clone(),
        sha256: Manifest::hash(PACK_VERSION, &entries),
        bytes,
        scenarios: entries,
    };
    if let Some(stage) = stage {
        let text = manifest.to_json();
        if matches!(target, Target::Zip(_)) {
            let path = stage.folder.join("pack.zip");
            write_zip(&path, (MANIFEST, text.as_bytes()), &spools)
                .map_err(|error| PackError::Write { path: path.clone(), error })?;
            stage.publish(&path, target, generation, options.force)?;
        } else {
            let path = stage.folder.join(MANIFEST);
            std::fs::write(&path, text).map_err(|error| PackError::Write { path: path.clone(), error })?;
            stage.publish(&stage.folder, target, generation, options.force)?;
        }
    }
    Ok(Generated { manifest })
}

/// What the threads share.
struct Work<'a> {
    generation: &'a Generation,
    sampler: &'a dyn Sampler,
    /// Where it is built.
    folder: Option<&'a Path>,
    zip: bool,
    progress: &'a (dyn Fn(Progress) + Sync),
    cancel: &'a AtomicBool,
    /// Another thread met an error.
    failed: AtomicBool,
    done: AtomicU64,
}

/// A scenario that was written.
struct Written {
    entry: ScenarioEntry,
    spool: Option<Spooled>,
    bytes: u64,
}

impl Work<'_> {
    fn all(
        &self,
        threads: Option<NonZero<usize>>,
    ) -> Result<(Vec<ScenarioEntry>, Vec<Spooled>, u64), PackError> {
        let scenarios = self.generation.n_scenarios as usize;
        let threads = threads
            .or_else(|| std::thread::available_parallelism().ok())
            .map_or(1, NonZero::get)
            .min(scenarios);
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Result<Written, PackError>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        if index >= scenarios || self.failed.load(Ordering::Relaxed) {
                            return;
                        }
                        let written = self.scenario(index as u32);
                        if written.is_err() {
                            self.failed.store(true, Ordering::Relaxed);
                        }
                        done.lock().unwrap_or_else(PoisonError::into_inner).push((index, written));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Threads that stopped because of another's error say no more than that they were stopped.
        done.sort_by_key(|(index, written)| (matches!(written, Err(PackError::Cancelled)), *index));
        let (mut entries, mut spools, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (_, written) in done {
            let written = written?;
            entries.push(written.entry);
            spools.extend(written.spool);
            bytes += written.bytes;
        }
        Ok((entries, spools, bytes))
    }

    fn scenario(&self, scenario: u32) -> Result<Written, PackError> {
        let name = folder(scenario);
        let path = self.folder.map(|stage| stage.join(&name)).unwrap_or_default();
        let failed = |error| PackError::Write { path: path.clone(), error };
        if self.folder.is_none() {
            let (entry, bytes) = self.turns(scenario, &mut Nowhere, &path)?;
            return Ok(Written { entry, spool: None, bytes });
        }
        if self.zip {
            let mut spool = Spool::new(path.clone(), &name).map_err(failed)?;
            let (entry, bytes) = self.turns(scenario, &mut spool, &path)?;
            return Ok(Written { entry, spool: Some(spool.finish().map_err(failed)?), bytes });
        }
        let mut sink = Folder::new(path.clone()).map_err(failed)?;
        let (entry, bytes) = self.turns(scenario, &mut sink, &path)?;
        Ok(Written { entry, spool: None, bytes })
    }

    fn turns(
        &self,
        scenario: u32,
        sink: &mut dyn Sink,
        at: &Path,
    ) -> Result<(ScenarioEntry, u64), PackError> {
        let seed = Seed { base: self.generation.base_seed, scenario };
        let mut maker =
            Maker::of(self.generation.benchmark, self.sampler, seed, self.generation.num_changes_per_turn);
        let total = u64::from(self.generation.n_scenarios) * u64::from(self.generation.n_turns);
        let mut out = TurnWriter {
            scenario,
            sink,
            at,
            schemas: SchemaFiles::default(),
            suites: SuiteFiles::default(),
            tests: code::PytestFiles::default(),
            bytes: 0,
        };
        let mut turn_sha256 = Vec::with_capacity(self.generation.n_turns as usize);
        let (mut title, mut topic, mut origin) = (String::new(), String::new(), Origin::default());
        let (mut sampled, mut fallback) = (Vec::new(), Vec::new());
        for turn in 1..=self.generation.n_turns {
            if self.cancel.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed) {
                return Err(PackError::Cancelled);
            }
            let made = maker.make_next()?;
            if turn == 1 {
                (title, topic) = (made.schema.title.clone(), made.schema.topic.clone());
                origin = Origin::of_first(&made.answers);
            }
            if self.generation.use_llm_sampler {
                sampled.push(made.parts_from(Origin::Model));
                fallback.push(made.parts_from(Origin::Replaced));
            }
            turn_sha256.push(out.turn(made)?);
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(Progress { done, total });
        }
        let name = folder(scenario);
        let sha256 = ScenarioEntry::hash(PACK_VERSION, &name, &turn_sha256);
        let turns = self.generation.n_turns;
        let entry = ScenarioEntry {
            folder: name,
            title,
            topic,
            origin,
            turns,
            sampled,
            fallback,
            sha256,
            turn_sha256,
        };
        Ok((entry, out.bytes))
    }
}

/// Writes the files of turns and hashes them on the way.
struct TurnWriter<'a> {
    scenario: u32,
    sink: &'a mut dyn Sink,
    at: &'a Path,
    schemas: SchemaFiles,
    suites: SuiteFiles,
    tests: code::PytestFiles,
    bytes: u64,
}

impl TurnWriter<'_> {
    /// Writes a turn and gives its hash.
    fn turn(&mut self, made: &Made) -> Result<String, PackError> {
        let turn = made.turn;
        let faulty = |scenario, error: serde_json::Error| PackError::Faulty {
            scenario,
            turn,
            what: format!("It cannot be written down: {error}"),
        };
        let mut hash = TurnHash::new();
        for part in Part::ALL {
            let path = part.path(turn);
            match part {
                Part::Schema => {
                    let text = self.schemas.next(&made.schema).map_err(|e| faulty(self.scenario, e))?;
                    self.file(&mut hash, &path, text.as_bytes())?;
                }
                Part::Changes => {
                    if let Some(changes) = &made.changes {
                        let text = yaml::to_string(changes).map_err(|e| faulty(self.scenario, e))?;
                        self.file(&mut hash, &path, text.as_bytes())?;
                    }
                }
                Part::Request => self.file(&mut hash, &path, made.request.as_bytes())?,
                Part::Specification => self.file(&mut hash, &path, made.specification.as_bytes())?,
                Part::Suite => {
                    let mut suites = std::mem::take(&mut self.suites);
                    let text =
                        suites.next(&made.suite, &made.equals).map_err(|e| faulty(self.scenario, e))?;
                    self.file(&mut hash, &path, text)?;
                    self.suites = suites;
                }
                Part::Pytest => {
                    let mut tests = std::mem::take(&mut self.tests);
                    self.file(&mut hash, &path, tests.next(&made.suite, &made.equals).as_bytes())?;
                    self.tests = tests;
                }
                Part::Flask => self.file(&mut hash, &path, code::flask(&made.schema).as_bytes())?,
                Part::Answers => {
                    if !made.answers.is_empty() {
                        let mut text =
                            serde_json::to_vec_pretty(&made.answers).map_err(|e| faulty(self.scenario, e))?;
                        text.push(b'\n');
                        self.file(&mut hash, &path, &text)?;
                    }
                }
            }
        }
        Ok(hash.finish())
    }

    fn file(&mut self, hash: &mut TurnHash, path: &str, content: &[u8]) -> Result<(), PackError> {
        hash.add(path, content);
        self.bytes += content.len() as u64;
        self.sink.put(path, content).map_err(|error| PackError::Write { path: self.at.join(path), error })
    }
}

/// Where a pack shall lie, looked at before anything is made.
struct Place {
    path: PathBuf,
    parent: PathBuf,
    name: String,
}

impl Place {
    fn new(path: &Path, target: &Target, generation: &Generation, force: bool) -> Result<Self, PackError> {
        let write = |error| PackError::Write { path: path.to_owned(), error };
        // A link is followed: whoever names it chose it.
        let path = if path.exists() { path.canonicalize().map_err(write)? } else { path.to_owned() };
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            return Err(PackError::Occupied { why: "This is no name for a pack".to_owned(), path });
        };
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        if path.exists() {
            may_replace(&path, target, generation, force)?;
        }
        Ok(Self { path, parent, name })
    }

    fn stage(self) -> Result<Stage, PackError> {
        let write = |path: &Path, error| PackError::Write { path: path.to_owned(), error };
        std::fs::create_dir_all(&self.parent).map_err(|e| write(&self.parent, e))?;
        self.clear_away();
        let folder = self.beside("partial");
        // Never taken over: another generation may be building in it.
        std::fs::create_dir(&folder).map_err(|e| write(&folder, e))?;
        Ok(Stage { folder, place: self })
    }

    /// A name beside it that nobody else has: `.pack.1234.0.partial`.
    fn beside(&self, ending: &str) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.parent.join(format!(".{}.{}.{number}.{ending}", self.name, std::process::id()))
    }

    /// Removes what processes left that ended while they were building. Only where it can be told that they did.
    fn clear_away(&self) {
        let processes = Path::new("/proc");
        if !processes.join("self").exists() {
            return;
        }
        let Ok(entries) = std::fs::read_dir(&self.parent) else { return };
        let start = format!(".{}.", self.name);
        for entry in entries.flatten() {
            let name = entry.file_name();
            let inner = name.to_str().and_then(|name| name.strip_prefix(&start)?.strip_suffix(".partial"));
            let Some((process, number)) = inner.and_then(|inner| inner.split_once('.')) else { continue };
            let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            if digits(process) && digits(number) && !processes.join(process).exists() {
                // What cannot be removed does no harm.
                drop(std::fs::remove_dir_all(entry.path()));
            }
        }
    }
}

/// Whether what lies there may go: an empty folder, or a pack that would be generated again.
fn may_replace(path: &Path, target: &Target, generation: &Generation, force: bool) -> Result<(), PackError> {
    let occupied = |why: &str| PackError::Occupied { path: path.to_owned(), why: why.to_owned() };
    let wants_zip = matches!(target, Target::Zip(_));
    if path.is_dir() == wants_zip {
        return Err(occupied(if wants_zip { "A folder lies there" } else { "A file lies there" }));
    }
    if !wants_zip {
        let entries = std::fs::read_dir(path)
            .map_err(|error| PackError::Write { path: path.to_owned(), error })?
            .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| PackError::Write { path: path.to_owned(), error })?;
        if entries.is_empty() {
            return Ok(());
        }
        if !entries.iter().all(|name| name == MANIFEST || number(name).is_some()) {
            return Err(occupied("The folder holds something else than a pack"));
        }
        let foreign = foreign(path).map_err(|error| PackError::Write { path: path.to_owned(), error })?;
        if let Some(foreign) = foreign {
            return Err(occupied(&format!("{} is no part of a pack and would be lost", foreign.display())));
        }
    }
    match Pack::open_path(path) {
        Ok(_) | Err(PackError::Version(_)) if force => Ok(()),
        Ok(pack) if pack.manifest().format != PACK_VERSION => {
            Err(occupied("A pack of another format lies there"))
        }
        Ok(pack) if pack.manifest().config == *generation => Ok(()),
        Ok(_) => Err(occupied("A pack of other settings lies there")),
        Err(PackError::Version(_)) => Err(occupied("A pack of another format lies there")),
        Err(_) => Err(occupied("What lies there is no pack")),
    }
}

/// Something in the folders of scenarios that no generation has written: it would be gone with the old pack. What Python leaves
/// where tests are run counts as nothing.
fn foreign(pack: &Path) -> std::io::Result<Option<PathBuf>> {
    let is_folder = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    for scenario in read_dir(pack)?.filter(|entry| entry.file_name() != MANIFEST) {
        if !is_folder(&scenario) {
            return Ok(Some(scenario.path()));
        }
        for folder in read_dir(&scenario.path())? {
            let name = folder.file_name();
            if !is_folder(&folder) || !Part::ALL.iter().any(|part| name == part.folder()) {
                return Ok(Some(folder.path()));
            }
            let own = |file: &DirEntry| {
                let named = file.file_name();
                let Some(file_name) = named.to_str() else { return false };
                if is_folder(file) {
                    return name == Part::Suite.folder() && LEFT_BY_PYTHON.contains(&file_name);
                }
                let path = format!("{}/{file_name}", name.to_string_lossy());
                Part::of(&path).is_some()
            };
            if let Some(file) = read_dir(&folder.path())?.find(|file| !own(file)) {
                return Ok(Some(file.path()));
            }
        }
    }
    Ok(None)
}

fn read_dir(path: &Path) -> std::io::Result<impl Iterator<Item = DirEntry>> {
    Ok(std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?.into_iter())
}

/// Where a pack is built; gone when it is dropped.
struct Stage {
    folder: PathBuf,
    place: Place,
}

impl Stage {
    /// Puts what was built in its place; what came to lie there meanwhile is looked at again.
    fn publish(
        &self,
        built: &Path,
        to: &Target,
        generation: &Generation,
        force: bool,
    ) -> Result<(), PackError> {
        // Two generations of this process to the same place take turns.
        static PUBLISHING: Mutex<()> = Mutex::new(());
        let _turn = PUBLISHING.lock().unwrap_or_else(PoisonError::into_inner);
        let target = &self.place.path;
        let write = |error| PackError::Write { path: target.clone(), error };
        if target.exists() {
            may_replace(target, to, generation, force)?;
        }
        if target.is_dir() {
            let old = self.place.beside("old");
            std::fs::rename(target, &old).map_err(write)?;
            if let Err(error) = std::fs::rename(built, target) {
                drop(std::fs::rename(&old, target));
                return Err(write(error));
            }
            return std::fs::remove_dir_all(&old).map_err(|error| PackError::Write { path: old, error });
        }
        std::fs::rename(built, target).map_err(write)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A folder that was published is not there any more.
        drop(std::fs::remove_dir_all(&self.folder));
    }
}
