//! Output folders of `StaminaBench`, and Stamina Lab's own, which have the same layout.
//!
//! ```text
//! output_dir/config.yaml, report.json
//! output_dir/scenario_N/trajectory.json
//! output_dir/scenario_N/{agent_code, ground_truth, test_suites, schemas, server_logs, test_results, agent_logs, changes}/
//! ```
//!
//! The original's README names these and nothing inside them; its code and data were not available and were not read.
//! So there are two ways to read a scenario. A `trajectory.json` whose `schema_version` is [`SCHEMA`] is read exactly
//! ([`exact`]), as `docs/formats.md` defines it and the runner writes it. Anything else is read for what it plainly says
//! ([`foreign`], [`words`]) and assembled with what the names of files say ([`names`], [`files`], [`merge`]). Either
//! way the raw pytest logs are read and have the last word ([`logs`]).
//!
//! A part is a scenario folder. Turns and attempts count from 1 in the model, whatever the source does.

mod alone;
mod config;
mod exact;
mod facts;
mod fields;
mod files;
mod foreign;
mod lean;
mod logs;
mod merge;
mod names;
mod own;
mod report;
mod steps;
mod task;
mod usage;
mod warnings;
mod words;

use std::collections::HashMap;

use model::{Artifact, ArtifactKind, Baseline, Benchmark, Episode, Run, Transcript, Warning};

pub use own::SCHEMA;

use crate::format::{Format, Part, PartReader, Planned, Reading, Report, Sniff, Survey};
use crate::identity;
use crate::readers::json::{Node, cut};
use ::files::{ReadError, Stamp, Tree, file_name, join, parent};
use config::Config;
use lean::Lean;
use report::ReportFile;
use warnings::PartWarnings;

/// Largest trajectory that is read, in bytes.
const TRAJECTORY_CAP: u64 = 4 << 30;
/// Where the runner keeps its records, and the largest that is read, in bytes.
const RECORDS: &str = ".stamina";
const RECORD_CAP: u64 = 32 << 20;
/// Most scenarios of one run.
const SCENARIOS: usize = 10_000;
/// Most tags of one run, and the longest, in bytes.
const TAGS: usize = 50;
const TAG: usize = 200;
/// Most scenario folders that are looked into to see whether the place is a run.
const LOOKED_AT: usize = 5;
/// Beginning of a trajectory in which its head is looked for, in bytes.
const HEAD: u64 = 64 << 10;

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct StaminaBench;

/// What the files of a place say about it.
struct Place {
    config: Option<Config>,
    report: Option<ReportFile>,
    /// Names of the scenario folders, in the order of their numbers; `""` = the place is a scenario itself.
    scenarios: Vec<String>,
    /// How many there are, if there are more than are read.
    too_many: Option<u32>,
    /// Whether the steps of its tasks were played by themselves: by the settings, or without them by the trajectories.
    of_steps: bool,
    stamp: Stamp,
}

impl Place {
    /// Reads `config.yaml` and `report.json`, and lists the scenarios.
    fn open(tree: &Tree, at: &str, report: &mut Report) -> Self {
        let mut place = Self {
            config: None,
            report: None,
            scenarios: Vec::new(),
            too_many: None,
            of_steps: false,
            stamp: Stamp::new(),
        };
        let mut config_path = join(at, "config.yaml");
        let mut numbered = Vec::new();
        for entry in tree.list(at) {
            if entry.is_folder() {
                if let Some(number) = names::scenario_number(&entry.name) {
                    numbered.push((number, entry.name));
                }
            } else if matches!(entry.name.as_str(), "config.yaml" | "config.yml" | "report.json") {
                place.stamp = place.stamp.text(&entry.name).number(entry.size).number(entry.stamp);
                if entry.name == "config.yml" {
                    config_path = join(at, "config.yml");
                }
            }
        }
        numbered.sort();
        if numbered.len() > SCENARIOS {
            report.warn(Warning::skipped(
                at,
                "scenarios.too_many",
                format!("There are {} scenario folders. The first {SCENARIOS} are read.", numbered.len()),
            ));
            place.too_many = u32::try_from(numbered.len()).ok();
            numbered.truncate(SCENARIOS);
        }
        place.scenarios = numbered.into_iter().map(|(_, name)| name).collect();
        if place.scenarios.is_empty() && is_scenario(tree, at).is_ok() {
            place.scenarios.push(String::new());
        }
        match Config::read(tree, &config_path) {
            Ok(config) => {
                report.files_read += u64::from(config.is_some());
                place.config = config;
            }
            Err(error) => report.unreadable(
                &config_path,
                &error,
                "Settings, planned turns and the model are not known from it.",
            ),
        }
        let path = join(at, "report.json");
        match ReportFile::read(tree, &path) {
            Ok(read) => {
                report.files_read += u64::from(read.is_some());
                place.report = read;
            }
            Err(error) => report.unreadable(&path, &error, "What the run reports of itself is not shown."),
        }
        place.of_steps = match &place.config {
            Some(config) => alone::is_run_of_steps(&config.settings),
            None => place.scenarios.iter().take(LOOKED_AT).any(|name| {
                let folder = if name.is_empty() { at.to_owned() } else { join(at, name) };
                let path = join(&folder, "trajectory.json");
                is_own(tree, &path) && head(tree, &path, HEAD).is_some_and(|head| alone::says_so(&head))
            }),
        };
        place
    }

    fn run(&self, at: &str) -> Run {
        let config = self.config.clone().unwrap_or_default();
        let report = self.report.as_ref();
        let reported = |key: &str| report.and_then(|r| r.run_text(key)).map(str::to_owned);
        let benchmark =
            config.benchmark().or_else(|| report.and_then(|r| r.text("benchmark")).map(str::to_lowercase));
        let data_set = reported("data_set");
        let of_steps = self.of_steps;
        let benchmark = benchmark_of(benchmark.as_deref(), data_set.as_deref(), of_steps);
        let mut run = Run::unknown(run_key(at), benchmark);
        run.harness = reported("harness")
            .or_else(|| config.agent())
            .or_else(|| report.and_then(|r| r.text("agent")).map(str::to_lowercase));
        run.harness_version = reported("harness_version");
        run.runner = reported("runner").map(|name| (name, reported("runner_version")));
        let model = reported("model").or_else(|| config.model().map(str::to_owned));
        if let Some(model) = model {
            let (provider, model) = config::split_provider(&model);
            run.model = Some(model);
            run.provider = reported("provider").or(provider);
        }
        run.baseline = run.harness.as_deref().and_then(Baseline::of_harness);
        run.simulated = report
            .and_then(|r| r.run("simulated"))
            .and_then(Node::truth)
            .unwrap_or(run.harness.as_deref() == Some("mock"));
        run.planned_episodes = config.scenarios().or_else(|| report.and_then(ReportFile::tasks));
        if of_steps {
            // Its episodes are steps, and only their trajectories say how many there are.
            run.planned_episodes = None;
        } else {
            // Whatever was planned, these are there.
            run.planned_episodes = run.planned_episodes.max(self.too_many);
        }
        run.attempt_limit = report
            .and_then(|r| r.run("attempt_limit"))
            .and_then(Node::count)
            .and_then(|n| u32::try_from(n).ok())
            .or_else(|| config.attempt_limit());
        run.tags = report.and_then(|r| r.run("tags")).map_or_else(Vec::new, tags);
        run.started_at = reported("started_at");
        run.finished_at = reported("finished_at");
        if let Some(report) = report {
            run.reported = report.reported();
            run.extra = report.extra();
            if let Some(tasks) = report.tasks().filter(|_| of_steps) {
                run.extra.insert("planned_tasks".to_owned(), tasks.into());
            }
        }
        run.settings = config.settings;
        // Which pack was played stands beside the settings, not among them: what decides about the scenarios is one list.
        let is_hash = |text: &String| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if let Some(hash) = reported("pack_sha256").filter(is_hash) {
            run.settings.insert("pack_sha256".to_owned(), hash.to_lowercase().into());
        }
        run
    }

    /// Keeps what the report says of scenarios that have no folder.
    fn keep_missing(&self, at: &str, run: &mut Run, report: &mut Report) {
        let missing = self.report.as_ref().map(|r| r.without_folder(&self.scenarios)).unwrap_or_default();
        if missing.is_empty() {
            return;
        }
        report.warn(Warning::read_differently(
            join(at, "report.json"),
            "report.scenario_missing",
            format!(
                "It has entries of {} scenarios that have no folder. They are kept as extra fields of the run, and are no episodes.",
                missing.len()
            ),
        ));
        for (name, entry) in missing.into_iter().take(64) {
            run.extra.insert(format!("report.{name}"), entry);
        }
        if let Some(turns) = self.planned_turns().filter(|_| self.scenarios.is_empty()) {
            run.extra.insert("planned_turns".to_owned(), turns.into());
        }
    }

    fn planned_turns(&self) -> Option<u32> {
        self.config
            .as_ref()
            .and_then(Config::turns)
            .or_else(|| self.report.as_ref().and_then(ReportFile::turns))
    }

    /// The id that our own runner gave the run.
    fn run_id(&self) -> Option<&str> {
        let report = self.report.as_ref().filter(|report| report.is_own())?;
        report.run_text("run_id").filter(|id| !id.is_empty())
    }

    fn is_own(&self) -> bool {
        self.report.as_ref().is_some_and(ReportFile::is_own)
    }
}

/// A record of the runner, of which nothing is taken here.
#[derive(serde::Deserialize)]
struct RecordHead {
    #[serde(rename = "version")]
    _version: Option<serde::de::IgnoredAny>,
}

/// Warns of the runner's own record, which a resume needs, where it cannot be read. Listing its folder tells of links and
/// of what is no file.
fn look_at_record(tree: &Tree, at: &str, report: &mut Report) {
    let folder = join(at, RECORDS);
    if !tree.list(&folder).iter().any(|entry| entry.name == "run.json") {
        return;
    }
    let path = join(&folder, "run.json");
    if let Err(error) = tree.read_json::<RecordHead>(&path, RECORD_CAP) {
        report.unreadable(&path, &error, "The run can be looked at and cannot be resumed.");
    }
}

fn run_key(at: &str) -> String {
    if at.is_empty() { "run".to_owned() } else { file_name(at).to_owned() }
}

fn benchmark_of(word: Option<&str>, data_set: Option<&str>, of_steps: bool) -> Benchmark {
    // As a job of Harbor's that played the same folder of tasks.
    let name = data_set.filter(|name| !name.is_empty()).unwrap_or("adhoc");
    if of_steps {
        return alone::benchmark(name);
    }
    if word == Some("harbor") {
        return Benchmark { key: format!("{}{name}", Benchmark::TASKS), name: format!("Harbor, {name}") };
    }
    let (key, name) = match word {
        Some("restful_server_gen") => ("staminabench:single-turn", "StaminaBench, single turn"),
        _ => ("staminabench", "StaminaBench"),
    };
    Benchmark { key: key.to_owned(), name: name.to_owned() }
}

/// Whether a folder is a scenario that was played; if not, what there is of one.
fn is_scenario(tree: &Tree, at: &str) -> Result<(), (String, u8)> {
    let mut trajectory = false;
    let (mut results, mut pack) = (Vec::new(), Vec::new());
    for entry in tree.list(at) {
        if !entry.is_folder() {
            trajectory |= entry.name.eq_ignore_ascii_case("trajectory.json");
        } else if let Some(kind) = names::folder_kind(&entry.name) {
            if names::is_result(kind) { results.push((entry.name, kind)) } else { pack.push(entry.name) }
        }
    }
    if trajectory && !(results.is_empty() && pack.is_empty()) {
        return Ok(());
    }
    if trajectory {
        // Other harnesses call their transcripts so, too.
        return if looks_like_ours(tree, &join(at, "trajectory.json")) {
            Ok(())
        } else {
            Err(("trajectory.json without turns".to_owned(), 20))
        };
    }
    let placed = |(name, kind): &(String, ArtifactKind)| {
        // `code` or `snapshots` alone are names that anything may have.
        let folder = join(at, name);
        let strict =
            matches!(kind, ArtifactKind::TestOutput | ArtifactKind::ServerLog | ArtifactKind::AgentLog)
                || name == "agent_code";
        strict
            && tree.list(&folder).iter().any(|e| {
                let p = names::placed(&e.name);
                p.turn.is_some() || p.step.is_some()
            })
    };
    if results.iter().any(placed) {
        return Ok(());
    }
    if let Some((name, _)) = results.first() {
        return Err((format!("{name}/ but nothing in it names a turn"), 30));
    }
    if pack.len() >= 2 {
        return Err((format!("a scenario without results ({})", pack.join(", ")), 50));
    }
    Err(("none".to_owned(), 0))
}

/// So many bytes from the beginning of a file as text; `None` = it cannot be read.
fn head(tree: &Tree, path: &str, bytes: u64) -> Option<String> {
    let (bytes, _) = tree.read_range(path, 0, bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether the start of a trajectory says that it is of turns, and not of another harness.
fn looks_like_ours(tree: &Tree, path: &str) -> bool {
    let Some(head) = head(tree, path, HEAD) else { return false };
    if head.contains("\"schema_version\"") {
        return head.contains(&format!("\"{}", own::SCHEMA_FAMILY));
    }
    words::TURNS
        .iter()
        .chain(words::TURN)
        .chain(words::ATTEMPTS)
        .any(|key| head.contains(&format!("\"{key}\"")))
}

/// Whether a trajectory is in our own schema, told from its first bytes: `schema_version` is its first key.
fn is_own(tree: &Tree, path: &str) -> bool {
    let Some(head) = head(tree, path, 256) else { return false };
    head.find("\"schema_version\"").is_some_and(|at| head[at..].contains(&format!("\"{SCHEMA}\"")))
}

/// Stamp of a scenario in our own schema: the trajectory, and every test log.
fn own_stamp(tree: &Tree, folder: &str) -> Stamp {
    let mut stamp = Stamp::new().text(SCHEMA);
    let logs = join(folder, "test_results");
    let entries = tree.entry(&join(folder, "trajectory.json")).into_iter().chain(tree.list(&logs));
    for entry in entries {
        stamp = stamp.text(&entry.name).number(entry.size).number(entry.stamp);
    }
    stamp
}

impl StaminaBench {
    /// The episode of a scenario, and how many attempts a turn of it may have, where its trajectory says so.
    fn read_scenario(
        tree: &Tree,
        at: &str,
        key: &str,
        episode: Episode,
        warnings: &mut PartWarnings<'_>,
    ) -> (Episode, Option<u32>) {
        let folder = if key.is_empty() { at.to_owned() } else { join(at, key) };
        let path = join(&folder, "trajectory.json");
        if is_own(tree, &path) {
            let mut reported = own::Trajectory::default();
            warnings.read_file();
            match tree.read_json_into(&path, TRAJECTORY_CAP, &mut reported) {
                Ok(()) => {
                    let limit = reported.attempt_limit;
                    return (exact::episode(tree, &folder, episode, reported, warnings), limit);
                }
                Err(error) if error.code() == "json.wrong_type" => warnings.warn(Warning::read_differently(
                    &path,
                    "schema.mismatch",
                    format!("{error}. It says that it is of {SCHEMA} and is not: it is read for what it plainly says."),
                )),
                Err(error) => warnings.warn(Warning::skipped(
                    &path,
                    error.code(),
                    format!("{error}. The turns before that place are read, later ones from the other files."),
                )),
            }
        }
        let listing = files::list(tree, &folder);
        let mut reported = facts::TrajectoryFacts::default();
        if let Some((path, _)) = &listing.trajectory {
            let mut lean = Lean::default();
            warnings.read_file();
            let done = tree.read_json_into(path, TRAJECTORY_CAP, &mut lean);
            if let Err(error) = done
                && !is_own(tree, path)
            {
                warnings.warn(Warning::skipped(
                    path,
                    error.code(),
                    format!("{error}. What came before that place is read, the rest from the other files."),
                ));
            }
            reported = foreign::trajectory(lean, path);
            if reported.is_cut {
                warnings.warn(Warning::read_differently(
                    path,
                    "trajectory.too_large",
                    "There is more in this trajectory than is kept in memory. What came first is read.",
                ));
            }
        }
        (merge::episode(tree, &folder, episode, reported, listing, warnings), None)
    }
}

/// Words for the library that a report gives its run.
fn tags(node: &Node) -> Vec<String> {
    node.list().iter().filter_map(Node::word).take(TAGS).map(|word| cut(word, TAG).0.to_owned()).collect()
}

impl Format for StaminaBench {
    fn id(&self) -> &'static str {
        "staminabench"
    }

    fn name(&self) -> &'static str {
        "StaminaBench output"
    }

    fn looked_for(&self) -> &'static str {
        "scenario_N/ with trajectory.json or test_results/"
    }

    fn sniff(&self, tree: &Tree, at: &str) -> Sniff {
        let entries = tree.list(at);
        let has_file =
            |names: &[&str]| entries.iter().any(|e| !e.is_folder() && names.contains(&e.name.as_str()));
        let scenarios: Vec<&str> = entries
            .iter()
            .filter(|e| e.is_folder() && names::scenario_number(&e.name).is_some())
            .map(|e| e.name.as_str())
            .collect();
        if scenarios.is_empty() {
            let (mut found, mut closeness) = match is_scenario(tree, at) {
                Ok(()) => return Sniff::Recognized,
                Err(not) => not,
            };
            // Our own runner has just begun here.
            if has_file(&["config.yaml"]) && tree.entry(&join(at, ".stamina/run.json")).is_some() {
                return Sniff::Recognized;
            }
            if has_file(&["report.json"]) {
                let report = ReportFile::read(tree, &join(at, "report.json"));
                if matches!(report, Ok(Some(report)) if report.is_report()) {
                    return Sniff::Recognized;
                }
                if closeness < 20 {
                    (found, closeness) = ("report.json but no scenario_N/".to_owned(), 20);
                }
            }
            return Sniff::Not { found, closeness };
        }
        let mut best = (format!("{} scenario folders with nothing in them", scenarios.len()), 40);
        for name in scenarios.iter().take(LOOKED_AT) {
            match is_scenario(tree, &join(at, name)) {
                // The name of the folder makes up for a trajectory that says little.
                Ok(()) | Err((_, 20)) => return Sniff::Recognized,
                Err((found, closeness)) if closeness > best.1 => best = (found, closeness),
                Err(_) => {}
            }
        }
        // A run that has just begun has its configuration and empty folders.
        if has_file(&["config.yaml", "report.json"]) && best.1 <= 50 {
            return Sniff::Recognized;
        }
        Sniff::Not { found: best.0, closeness: best.1.max(60) }
    }

    fn written_once(&self, folder: &str) -> bool {
        names::folder_kind(file_name(folder)) == Some(ArtifactKind::Code)
            && names::scenario_number(file_name(parent(folder))).is_some()
    }

    fn survey(&self, tree: &Tree, at: &str, report: &mut Report) -> Survey {
        let place = Place::open(tree, at, report);
        let own_run = place.is_own();
        let parts = place
            .scenarios
            .iter()
            .map(|name| {
                let folder = if name.is_empty() { at.to_owned() } else { join(at, name) };
                let stamp = if own_run || is_own(tree, &join(&folder, "trajectory.json")) {
                    // All else stands in the trajectory itself.
                    let planned = place.planned_turns().map_or(0, |turns| u64::from(turns) + 1);
                    let stamp = own_stamp(tree, &folder).number(planned);
                    // Settings that come later may say that its steps are no chain.
                    if place.of_steps { stamp.text("sr").finish() } else { stamp.finish() }
                } else {
                    files::list(tree, &folder).stamp.number(place.stamp.finish()).finish()
                };
                Part { key: name.clone(), stamp }
            })
            .collect();
        let mut run = place.run(at);
        place.keep_missing(at, &mut run, report);
        look_at_record(tree, at, report);
        Survey { runs: vec![run], parts }
    }

    fn reader(&self, tree: &Tree, at: &str) -> Box<dyn PartReader> {
        // What is wrong with these files was said by the survey.
        let place = Place::open(tree, at, &mut Report::default());
        let positions = place.scenarios.iter().cloned().zip(0..).collect();
        Box::new(ScenarioReader { at: at.to_owned(), place, positions })
    }

    fn planned(&self, tree: &Tree, at: &str, _: &str) -> Option<Vec<Planned>> {
        let config = Config::read(tree, &join(at, "config.yaml")).ok()??;
        if alone::is_run_of_steps(&config.settings) {
            // Its episodes are steps, and its numbers tasks.
            return None;
        }
        let numbers = config.scenario_numbers(SCENARIOS)?;
        // A folder may be called `scenario-3`.
        let mut there: HashMap<u32, String> = HashMap::new();
        for entry in tree.list(at).into_iter().filter(::files::Entry::is_folder) {
            if let Some(number) = names::scenario_number(&entry.name) {
                there.entry(number).or_insert(entry.name);
            }
        }
        // Results of others may count from 1.
        let last = u32::try_from(numbers.len()).ok()?;
        let from_one =
            !there.contains_key(&0) && there.contains_key(&last) && numbers.iter().copied().eq(0..last);
        let named = numbers.into_iter().map(|number| {
            let number = number.saturating_add(u32::from(from_one));
            there.get(&number).cloned().unwrap_or_else(|| format!("scenario_{number}"))
        });
        Some(Planned::count(named))
    }

    fn transcript(&self, tree: &Tree, artifact: &Artifact) -> Result<Transcript, ReadError> {
        steps::read(tree, &artifact.path, artifact.pointer.as_deref().unwrap_or(""))
    }
}

/// Reads the scenarios of a run.
struct ScenarioReader {
    at: String,
    place: Place,
    /// The scenarios by name.
    positions: HashMap<String, usize>,
}

impl PartReader for ScenarioReader {
    fn read(&self, tree: &Tree, part: &Part, report: &mut Report) -> Vec<Reading> {
        let (at, place) = (self.at.as_str(), &self.place);
        let scenario = if part.key.is_empty() {
            if at.is_empty() { tree.name() } else { file_name(at).to_owned() }
        } else {
            part.key.clone()
        };
        let mut episode = Episode::new(scenario.clone(), scenario.clone());
        let folder = if part.key.is_empty() { at.to_owned() } else { join(at, &part.key) };
        episode.planned_turns = place.planned_turns();
        if let Some(report) =
            place.report.as_ref().filter(|_| !is_own(tree, &join(&folder, "trajectory.json")))
        {
            let position = self.positions.get(&part.key).copied();
            let reported = report.of_scenario(&scenario, position, place.scenarios.len());
            episode.reported = reported.figures;
            episode.extra = reported.extra;
        }
        let mut warnings = PartWarnings::new(report);
        let (episode, limit) = StaminaBench::read_scenario(tree, at, &part.key, episode, &mut warnings);
        warnings.finish(&folder);
        let path = join(&folder, "trajectory.json");
        let reading = |episode: Episode, key: &str| Reading {
            run: run_key(at),
            episode: place.identified(episode, key),
        };
        if !alone::is_of_steps(&episode) {
            return vec![reading(episode, &part.key)];
        }
        if !place.of_steps {
            report.warn(Warning::skipped(
                path,
                "protocol.mismatch",
                "Its steps were played by themselves (protocol sr), and the run is not one of such steps. They are no chain, so the task is left out.",
            ));
            return Vec::new();
        }
        let unplayed = alone::most_unplayed(place.scenarios.len());
        let left_out = alone::left_out(&episode, unplayed);
        if left_out > 0 {
            report.warn(Warning::skipped(
                path,
                "steps.too_many",
                format!(
                    "The task has more steps than are kept of one task. The last {left_out} are left out."
                ),
            ));
            report.not_kept.episodes.insert(run_key(at), left_out);
        }
        let steps = alone::split(episode, limit, unplayed).into_iter().map(|step| {
            let key = step.key.clone();
            reading(step, &key)
        });
        steps.collect()
    }
}

impl Place {
    /// The episode with what tells it from others. `key` names it inside its run.
    fn identified(&self, mut episode: Episode, key: &str) -> Episode {
        // Both are there while it is played: a copy that was made meanwhile is the same episode. A scenario that lies alone
        // does not say of which run it is.
        let of_run = self.run_id().map(|run| identity::of_id(&["staminabench", run, key]));
        let alone = identity::of_beginning(&episode);
        episode.extra.remove(store::OTHER_IDENTITY);
        if let Some(alone) = alone.clone().filter(|_| of_run.is_some()) {
            episode.extra.insert(store::OTHER_IDENTITY.to_owned(), alone.into());
        }
        episode.identity = of_run.or(alone);
        episode
    }
}
