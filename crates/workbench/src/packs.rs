//! Scenario packs: finding them among the sources, validating and generating them.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use ingest::discover::discover;
use scenario::config::{Benchmark, Generation};
use scenario::pack::{Options, Pack, PackError, Target, generate};
use scenario::sample::ProgrammaticSampler;
use store::Source;
use validation::validate;

use crate::Workbench;
use crate::api::{
    ApiError, GeneratePack, Generated, GenerationEstimate, GenerationSettings, Job, JobKind, JobList, JobRef,
    JobState, Nothing, OpenSource, PackInfo, PackList, ScenarioInfo, ValidatePack, Validation,
};
use crate::jobs::Outcome;

/// The format of `ingest` that recognizes packs.
const FORMAT: &str = "pack";
/// Most failures and most survivors in a report.
const MOST_LISTED: usize = 100;
/// Mutants of each operator at each turn, at most: more find little and take long.
const MOST_MUTANTS: u32 = 20;
/// Files of a turn: schema, request, changes, specification, suite twice, reference.
const FILES_OF_A_TURN: u64 = 7;

impl From<PackError> for ApiError {
    fn from(error: PackError) -> Self {
        ApiError::new(error.code(), error.to_string())
    }
}

impl Workbench {
    fn pack_source(&self, source: i64) -> Result<Source, ApiError> {
        self.store.sources()?.into_iter().find(|s| s.id == source).ok_or_else(|| {
            ApiError::new("source.not_found", format!("There is no source {source}"))
                .hint("It may have been closed")
        })
    }

    /// The pack at a folder of a source.
    pub(crate) fn pack(&self, source: i64, path: &str) -> Result<Pack, ApiError> {
        let source = self.pack_source(source)?;
        let tree = self.opened_sources.tree(source.id, &source.path)?;
        Pack::open_at(tree.fork(), path).map_err(|error| ApiError::from(error).with_path(source.path))
    }

    /// The scenario packs among the opened sources.
    pub fn list_packs(&self, _: Nothing) -> Result<PackList, ApiError> {
        let name = ingest::formats::all()
            .iter()
            .find(|format| format.id() == FORMAT)
            .map_or("", |format| format.name());
        let mut packs = Vec::new();
        for source in self
            .store
            .sources()?
            .into_iter()
            .filter(|source| source.format.split(", ").any(|format| format == name))
        {
            let places = match self.opened_sources.tree(source.id, &source.path) {
                Ok(tree) => discover(&tree).map(|found| found.places).unwrap_or_default(),
                Err(_) => Vec::new(),
            };
            let mut found: Vec<String> = places
                .into_iter()
                .filter(|place| place.format.id() == FORMAT)
                .map(|place| place.folder)
                .collect();
            if found.is_empty() {
                // It was a pack when it was read; opening it says what is wrong now.
                found.push(String::new());
            }
            packs.extend(found.into_iter().map(|path| self.pack_info(&source, path)));
        }
        Ok(PackList { packs })
    }

    fn pack_info(&self, source: &Source, pack_path: String) -> PackInfo {
        let name =
            if pack_path.is_empty() { source.name.clone() } else { files::file_name(&pack_path).to_owned() };
        let mut info = PackInfo {
            source: source.id,
            folder: pack_path,
            name,
            path: source.path.clone(),
            ..PackInfo::default()
        };
        match self.pack(source.id, &info.folder) {
            Ok(pack) => {
                let manifest = pack.manifest();
                info.format.clone_from(&manifest.format);
                info.generator.clone_from(&manifest.generator.version);
                info.sampler.clone_from(&manifest.sampler.name);
                info.model.clone_from(&manifest.sampler.model);
                manifest.config.benchmark.as_str().clone_into(&mut info.benchmark);
                info.seed = manifest.seed;
                info.changes_per_turn = manifest.config.num_changes_per_turn;
                info.sha256.clone_from(&manifest.sha256);
                info.scenarios = (0..)
                    .zip(pack.scenarios())
                    .map(|(scenario, entry)| ScenarioInfo {
                        scenario,
                        title: entry.title.clone(),
                        turns: entry.turns,
                        sampled: sum(&entry.sampled),
                        fallback: sum(&entry.fallback),
                    })
                    .collect();
            }
            Err(error) => info.problem = Some(error.message),
        }
        info
    }

    /// Validates a pack in the background.
    pub fn validate_pack(&self, request: ValidatePack) -> Result<JobRef, ApiError> {
        if request.mutants > MOST_MUTANTS {
            return Err(ApiError::new(
                "pack.mutants",
                format!(
                    "Mutants of each operator a turn must be an integer from 0 to {MOST_MUTANTS}, not {}",
                    request.mutants
                ),
            ));
        }
        let source = self.pack_source(request.source)?;
        let pack = self.pack(request.source, &request.folder)?;
        let mut options = validate::Options::all(&pack.manifest().config);
        options.mutants = request.mutants;
        if !request.scenarios.is_empty() {
            let scenario_count = pack.scenarios().len();
            if let Some(missing) =
                request.scenarios.iter().find(|&&scenario| scenario as usize >= scenario_count)
            {
                return Err(ApiError::new(
                    "pack.no_such",
                    format!("There is no scenario {missing}: the pack has {scenario_count}, counted from 0"),
                ));
            }
            options.scenarios.clone_from(&request.scenarios);
        }
        let job = self.jobs.start(
            JobKind::Validation,
            format!("Validate {}", source.name),
            Some(source.id),
            Some(request.folder.clone()),
            move |job| {
                let progress = |p: scenario::pack::Progress| job.progress(number(p.done), number(p.total));
                let report = validate::validate(&pack, &options, &progress, job.stop_flag())?;
                Ok(Outcome::Validated(validation(report)))
            },
        );
        Ok(JobRef { job })
    }

    /// Generates a pack in the background.
    pub fn generate_pack(&self, request: GeneratePack) -> Result<JobRef, ApiError> {
        let generation = generation(&request.settings);
        generation.check().map_err(|error| ApiError::new(error.code(), error.to_string()))?;
        let path = request.out.trim().to_owned();
        if !Path::new(&path).is_absolute() {
            return Err(ApiError::new("pack.relative", "The place must be an absolute path")
                .with_path(path)
                .hint("Begin with / (or a drive letter)"));
        }
        if self
            .jobs
            .list()
            .iter()
            .any(|job| job.state == JobState::Running && job.place.as_deref() == Some(path.as_str()))
        {
            return Err(ApiError::new("pack.busy", "A pack is being generated there right now")
                .with_path(path)
                .hint("Wait for it or stop it"));
        }
        let weak_workbench = self.opened_sources.workbench();
        let title = format!("Generate {}", files::file_name(&path));
        let job = self.jobs.start(JobKind::Generation, title, None, Some(path.clone()), move |job| {
            let begun = Instant::now();
            let progress = |p: scenario::pack::Progress| job.progress(number(p.done), number(p.total));
            let target = Target::from_path(Path::new(&path));
            let pack = generate(
                &generation,
                &ProgrammaticSampler,
                &target,
                &Options::default(),
                &progress,
                job.stop_flag(),
            )
            .map_err(|error| ApiError::from(error).with_path(path.clone()))?;
            let seconds = begun.elapsed().as_secs_f64();
            if let Some(workbench) = weak_workbench.upgrade()
                && let Err(error) = workbench.open_source(OpenSource { path: path.clone() })
            {
                tracing::warn!(%error, "the new pack was not opened");
            }
            Ok(Outcome::Generated(Generated {
                path,
                scenarios: generation.n_scenarios,
                turns: generation.n_turns,
                bytes: pack.manifest.bytes,
                seconds,
                sha256: pack.manifest.sha256,
            }))
        });
        Ok(JobRef { job })
    }

    /// What a generation will take.
    pub fn estimate_generation(&self, settings: GenerationSettings) -> Result<GenerationEstimate, ApiError> {
        let problems = problems(&settings);
        if !problems.is_empty() {
            return Ok(GenerationEstimate {
                files: 0,
                bytes: 0,
                seconds: None,
                basis: String::new(),
                problems,
            });
        }
        let config = generation(&settings);
        let (scenarios, turns) = (u64::from(config.n_scenarios), u64::from(config.n_turns));
        let bytes = scenarios * estimated_bytes(config.n_turns, config.num_changes_per_turn);
        let threads = std::thread::available_parallelism()
            .map_or(1, std::num::NonZero::get)
            .min(config.n_scenarios as usize);
        Ok(GenerationEstimate {
            // The manifest is one more; the first turn of a scenario has no changes.
            files: scenarios * (turns * FILES_OF_A_TURN - 1) + 1,
            bytes,
            seconds: pace().map(|pace| bytes as f64 * pace / threads as f64),
            basis: format!(
                "From the pace of a few turns made just now, on {}; sizes grow with the turns",
                model::counted(threads as u64, "thread")
            ),
            problems,
        })
    }

    /// The jobs of this process.
    pub fn list_jobs(&self, _: Nothing) -> Result<JobList, ApiError> {
        Ok(JobList { jobs: self.jobs.list() })
    }

    /// How a job is doing.
    pub fn get_job(&self, request: JobRef) -> Result<Job, ApiError> {
        self.jobs.get(request.job)
    }

    /// Stops a job.
    pub fn stop_job(&self, request: JobRef) -> Result<Job, ApiError> {
        self.jobs.stop(request.job)
    }
}

/// What a manifest says by turn, in all; `None` where it says nothing.
fn sum(by_turn: &[u32]) -> Option<u32> {
    (!by_turn.is_empty()).then(|| by_turn.iter().fold(0, |sum: u32, parts| sum.saturating_add(*parts)))
}

fn number(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn generation(settings: &GenerationSettings) -> Generation {
    Generation {
        benchmark: if settings.iterative { Benchmark::Iterative } else { Benchmark::SingleTurn },
        n_scenarios: settings.scenarios,
        n_turns: if settings.iterative { settings.turns } else { 1 },
        num_changes_per_turn: if settings.iterative { settings.changes_per_turn } else { 0 },
        base_seed: settings.seed,
        ..Generation::default()
    }
}

/// What is wrong with settings, each by itself.
fn problems(settings: &GenerationSettings) -> Vec<(String, String)> {
    let good = Generation {
        n_scenarios: 1,
        n_turns: 1,
        num_changes_per_turn: 1,
        base_seed: 0,
        ..Generation::default()
    };
    let all = generation(settings);
    let mut found = Vec::new();
    for (name, alone) in [
        ("scenarios", Generation { n_scenarios: all.n_scenarios, ..good.clone() }),
        ("turns", Generation { n_turns: all.n_turns, ..good.clone() }),
        (
            "changes_per_turn",
            Generation {
                num_changes_per_turn: if settings.iterative { all.num_changes_per_turn } else { 1 },
                ..good.clone()
            },
        ),
        ("seed", Generation { base_seed: all.base_seed, ..good.clone() }),
    ] {
        if let Err(scenario::config::ConfigError::Value { wanted, .. }) = alone.check() {
            found.push((name.to_owned(), format!("must be {wanted}")));
        }
    }
    found
}

/// Bytes of one scenario. A turn has what its schema needs, which grows to the size of turn 100 as quickly as its changes
/// allow, and what it says of its changes; the first writes all its cases. Fitted to seed 0 with 1 to 20 changes a turn and 1
/// to 300 turns: at most 16 % too high or too low.
pub(crate) fn estimated_bytes(turns: u32, changes: u32) -> u64 {
    const FIRST: u64 = 144_000;
    const TURN: u64 = 80_000;
    const CHANGE: u64 = 4_300;
    /// Turns over which a schema grows.
    const GROWS: u64 = 99;
    let (turns, changes) = (u64::from(turns), u64::from(changes));
    let growth = (900 + 630 * changes).min(10_300);
    let growing = turns.min(GROWS + 1);
    // What the schemas of all turns grew by, in turns.
    let grown = growing * growing.saturating_sub(1) / 2 + (turns - growing) * GROWS;
    FIRST + turns * (TURN + CHANGE * changes) + grown * growth
}

/// Seconds for a byte on one thread of this machine: the quickest of three times a few turns of a scenario, made and
/// written. The first takes what any beginning takes. None if nothing can be written.
fn pace() -> Option<f64> {
    // Held while it is tried: two at once would slow each other down, and write to the same folder.
    static PACE: Mutex<Option<f64>> = Mutex::new(None);
    let mut known = model::lock(&PACE);
    if known.is_some() {
        return *known;
    }
    let tried = (0..3).filter_map(|_| {
        let begun = Instant::now();
        let config = Generation { n_scenarios: 1, n_turns: 12, base_seed: 0, ..Generation::default() };
        let folder = std::env::temp_dir().join(format!("stamina-pace-{}", std::process::id()));
        let go_on = AtomicBool::new(false);
        let target = Target::Folder(folder.clone());
        let pack = generate(&config, &ProgrammaticSampler, &target, &Options::default(), &|_| {}, &go_on);
        let seconds = begun.elapsed().as_secs_f64();
        // It is small, and lies where the system clears away.
        drop(std::fs::remove_dir_all(&folder));
        pack.ok().filter(|pack| pack.manifest.bytes > 0).map(|pack| seconds / pack.manifest.bytes as f64)
    });
    *known = tried.min_by(f64::total_cmp);
    *known
}

fn validation(report: validate::Report) -> Validation {
    let place = |scenario: u32, turn: u32| format!("scenario {scenario}, turn {turn}");
    Validation {
        scenarios: report.scenarios,
        turns: report.turns,
        good: report.is_good(),
        reference_failures: report.reference_failures,
        failures: report
            .failures
            .into_iter()
            .take(MOST_LISTED)
            .map(|f| (format!("{}, {}", place(f.scenario, f.turn), f.case), f.message))
            .collect(),
        unstated_demands: report.unstated_demands,
        unstated: report
            .unstated
            .into_iter()
            .take(MOST_LISTED)
            .map(|u| (format!("{}, {}", place(u.scenario, u.turn), u.place), u.what))
            .collect(),
        vacuous_turns: report.vacuous.iter().map(|v| place(v.scenario, v.turn)).collect(),
        mutants: number(report.mutants),
        killed: number(report.killed),
        operators: report
            .operators
            .into_iter()
            .map(|(name, counts)| (name, number(counts.mutants), number(counts.killed)))
            .collect(),
        survivors: report
            .survivors
            .into_iter()
            .take(MOST_LISTED)
            .map(|s| {
                (
                    format!("{}, {}", place(s.scenario, s.turn), s.site),
                    format!("{}: {}", s.operator.replace('_', " "), s.reason),
                )
            })
            .collect(),
        damages: number(report.mismatches.len() as u64),
        damaged: report
            .mismatches
            .into_iter()
            .take(MOST_LISTED)
            .map(|m| format!("{}: {}", m.at, m.what))
            .collect(),
    }
}
