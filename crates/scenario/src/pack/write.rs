//! Writing a pack: scenarios side by side, turn by turn, and all of it or nothing.

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::destination::{Destination, Target};
use super::layout::{MANIFEST, PACK_VERSION, Part, folder};
use super::manifest::{Generator, Manifest, SampledBy, ScenarioEntry, TurnHash};
use super::schemas::SchemaFiles;
use super::sink::{CompleteSpool, Folder, NullSink, Sink, Spool, write_zip};
use super::turn_maker::{MadeTurn, TurnMaker};
use super::{PackError, yaml};
use crate::config::Generation;
use crate::sample::{Origin, Sampler};
use crate::suite::SuiteFiles;
use crate::{Seed, code};

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

impl Progress {
    /// `3 of 40 turns`.
    pub fn in_words(&self) -> String {
        format!("{} of {}", self.done, model::counted(self.total, "turn"))
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedPack {
    /// The manifest, with the hash and the number of bytes.
    pub manifest: Manifest,
}

/// Generates a pack. Blocks; uses several threads. `progress` is called after every turn, from any of them.
///
/// The pack is under its name only when it is complete: until then it is built beside it. A pack of the same settings
/// is replaced; anything else is an error ([`PackError::Occupied`]).
pub fn generate(
    generation: &Generation,
    sampler: &dyn Sampler,
    target: &Target,
    options: &Options,
    progress: &(dyn Fn(Progress) + Sync),
    cancel: &AtomicBool,
) -> Result<GeneratedPack, PackError> {
    generation.check()?;
    let stage = match target {
        Target::Folder(path) | Target::Zip(path) => {
            let place = Destination::new(path, target, generation, options.force)?;
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
        generator: Generator::current(),
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
    Ok(GeneratedPack { manifest })
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
struct WrittenScenario {
    entry: ScenarioEntry,
    spool: Option<CompleteSpool>,
    bytes: u64,
}

impl Work<'_> {
    fn all(
        &self,
        threads: Option<NonZero<usize>>,
    ) -> Result<(Vec<ScenarioEntry>, Vec<CompleteSpool>, u64), PackError> {
        let scenarios = self.generation.n_scenarios as usize;
        let threads = threads
            .or_else(|| std::thread::available_parallelism().ok())
            .map_or(1, NonZero::get)
            .min(scenarios);
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Result<WrittenScenario, PackError>)>> = Mutex::new(Vec::new());
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
                        model::lock(&done).push((index, written));
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

    fn scenario(&self, scenario: u32) -> Result<WrittenScenario, PackError> {
        let name = folder(scenario);
        let path = self.folder.map(|stage| stage.join(&name)).unwrap_or_default();
        let failed = |error| PackError::Write { path: path.clone(), error };
        if self.folder.is_none() {
            let (entry, bytes) = self.turns(scenario, &mut NullSink, &path)?;
            return Ok(WrittenScenario { entry, spool: None, bytes });
        }
        if self.zip {
            let mut spool = Spool::new(path.clone(), &name).map_err(failed)?;
            let (entry, bytes) = self.turns(scenario, &mut spool, &path)?;
            return Ok(WrittenScenario { entry, spool: Some(spool.finish().map_err(failed)?), bytes });
        }
        let mut sink = Folder::new(path.clone()).map_err(failed)?;
        let (entry, bytes) = self.turns(scenario, &mut sink, &path)?;
        Ok(WrittenScenario { entry, spool: None, bytes })
    }

    fn turns(
        &self,
        scenario: u32,
        sink: &mut dyn Sink,
        path: &Path,
    ) -> Result<(ScenarioEntry, u64), PackError> {
        let seed = Seed { base: self.generation.base_seed, scenario };
        let mut maker = TurnMaker::with_benchmark(
            self.generation.benchmark,
            self.sampler,
            seed,
            self.generation.num_changes_per_turn,
        );
        let total = u64::from(self.generation.n_scenarios) * u64::from(self.generation.n_turns);
        let mut out = TurnWriter {
            scenario,
            sink,
            folder: path,
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
            let made_turn = maker.make_next()?;
            if turn == 1 {
                (title, topic) = (made_turn.schema.title.clone(), made_turn.schema.topic.clone());
                origin = Origin::from_answers(&made_turn.answers);
            }
            if self.generation.use_llm_sampler {
                sampled.push(made_turn.parts_from(Origin::Model));
                fallback.push(made_turn.parts_from(Origin::Replaced));
            }
            turn_sha256.push(out.turn(made_turn)?);
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
    folder: &'a Path,
    schemas: SchemaFiles,
    suites: SuiteFiles,
    tests: code::PytestFiles,
    bytes: u64,
}

impl TurnWriter<'_> {
    /// Writes a turn and gives its hash.
    fn turn(&mut self, made_turn: &MadeTurn) -> Result<String, PackError> {
        let turn = made_turn.turn;
        let faulty = |scenario, error: serde_json::Error| PackError::Faulty {
            scenario,
            turn,
            problem: format!("It cannot be written down: {error}"),
        };
        let mut hash = TurnHash::new();
        for &part in Part::ALL {
            let path = part.path(turn);
            match part {
                Part::Schema => {
                    let text = self.schemas.next(&made_turn.schema).map_err(|e| faulty(self.scenario, e))?;
                    self.file(&mut hash, &path, text.as_bytes())?;
                }
                Part::Changes => {
                    if let Some(changes) = &made_turn.changes {
                        let text = yaml::to_string(changes).map_err(|e| faulty(self.scenario, e))?;
                        self.file(&mut hash, &path, text.as_bytes())?;
                    }
                }
                Part::Request => self.file(&mut hash, &path, made_turn.request.as_bytes())?,
                Part::Specification => self.file(&mut hash, &path, made_turn.specification.as_bytes())?,
                Part::Suite => {
                    let mut suites = std::mem::take(&mut self.suites);
                    let text = suites
                        .next(&made_turn.suite, &made_turn.equals)
                        .map_err(|e| faulty(self.scenario, e))?;
                    self.file(&mut hash, &path, text)?;
                    self.suites = suites;
                }
                Part::Pytest => {
                    let mut tests = std::mem::take(&mut self.tests);
                    self.file(&mut hash, &path, tests.next(&made_turn.suite, &made_turn.equals).as_bytes())?;
                    self.tests = tests;
                }
                Part::Flask => self.file(&mut hash, &path, code::flask(&made_turn.schema).as_bytes())?,
                Part::Answers => {
                    if !made_turn.answers.is_empty() {
                        let mut text = serde_json::to_vec_pretty(&made_turn.answers)
                            .map_err(|e| faulty(self.scenario, e))?;
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
        self.sink.put(path, content).map_err(|error| PackError::Write { path: self.folder.join(path), error })
    }
}
