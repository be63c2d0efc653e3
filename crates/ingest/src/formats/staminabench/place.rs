//! What the files of a place say of its run: `config.yaml`, `report.json`, and which scenarios there are.

use std::collections::{HashMap, HashSet};

use model::{Baseline, Benchmark, Episode, Run, Warning};
use store::JOB_ID;

use super::config::{self, Config};
use super::exact;
use super::file_head::{HEAD, head};
use super::folder_names::scenario_number;
use super::heuristic::ScenarioFolder;
use super::report::ReportFile;
use super::scenario_name;
use super::separate_steps;
use crate::format_trait::Report;
use crate::identity;
use crate::readers::json::{Node, cut};
use crate::readers::value::{self, UnusableValues};
use files::{Stamp, Tree, file_name, join};

/// Where the runner keeps its records, and the largest that is read, in bytes.
const RECORDS: &str = ".stamina";
const RECORD_CAP: u64 = 32 << 20;
/// The longest id of a run that is kept.
const RUN_ID_BYTES: usize = 200;
/// Most scenarios of one run.
pub(super) const SCENARIOS: usize = 10_000;
/// Most tags of one run, and the longest, in bytes.
const TAGS: usize = 50;
const TAG: usize = 200;
/// Most scenario folders that are looked into to see whether the place is a run.
pub(super) const SCENARIOS_READ: usize = 5;

/// What the files of a place say about it.
pub(super) struct Place {
    config: Option<Config>,
    /// `report.json`, where it is there and can be read.
    pub(super) report: Option<ReportFile>,
    /// Names of the scenario folders, in the order of their numbers; `""` = the place is a scenario itself.
    pub(super) scenarios: Vec<String>,
    /// Names of their scenarios, in the same order; `""` = nothing names that of the place.
    names: Vec<String>,
    /// Where each folder stands in both.
    indexes: HashMap<String, usize>,
    /// How many there are, if there are more than are read.
    too_many: Option<u32>,
    /// Whether the steps of its tasks were played by themselves: by the settings, or without them by the trajectories.
    pub(super) has_separate_steps: bool,
    /// Of `config.yaml` and `report.json`.
    pub(super) stamp: Stamp,
}

impl Place {
    /// Reads `config.yaml` and `report.json`, and lists the scenarios.
    pub(super) fn open(tree: &Tree, place_folder: &str, report: &mut Report) -> Self {
        let mut place = Self {
            config: None,
            report: None,
            scenarios: Vec::new(),
            names: Vec::new(),
            indexes: HashMap::new(),
            too_many: None,
            has_separate_steps: false,
            stamp: Stamp::new(),
        };
        let mut config_path = join(place_folder, "config.yaml");
        let mut numbered = Vec::new();
        for entry in tree.list(place_folder) {
            if entry.is_folder() {
                if let Some(number) = scenario_number(&entry.name) {
                    numbered.push((number, entry.name));
                }
            } else if matches!(entry.name.as_str(), "config.yaml" | "config.yml" | "report.json") {
                place.stamp = place.stamp.text(&entry.name).number(entry.size).number(entry.stamp);
                if entry.name == "config.yml" {
                    config_path = join(place_folder, "config.yml");
                }
            }
        }
        numbered.sort();
        if numbered.len() > SCENARIOS {
            report.warn(Warning::skipped(
                place_folder,
                "scenarios.too_many",
                format!("There are {} scenario folders. The first {SCENARIOS} are read.", numbered.len()),
            ));
            place.too_many = u32::try_from(numbered.len()).ok();
            numbered.truncate(SCENARIOS);
        }
        place.scenarios = numbered.into_iter().map(|(_, name)| name).collect();
        if place.scenarios.is_empty() && ScenarioFolder::new(tree, place_folder).recognize().is_ok() {
            place.scenarios.push(String::new());
        }
        place.name_scenarios(tree, place_folder, report);
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
        let path = join(place_folder, "report.json");
        match ReportFile::read(tree, &path) {
            Ok(read) => {
                report.files_read += u64::from(read.is_some());
                place.report = read;
            }
            Err(error) => report.unreadable(&path, &error, "What the run reports of itself is not shown."),
        }
        place.has_separate_steps = match &place.config {
            Some(config) => separate_steps::is_run_of_steps(&config.settings),
            None => place.scenarios.iter().take(SCENARIOS_READ).any(|name| {
                let folder = if name.is_empty() { place_folder.to_owned() } else { join(place_folder, name) };
                let path = join(&folder, "trajectory.json");
                exact::is_own(tree, &path)
                    && head(tree, &path, HEAD)
                        .is_some_and(|head| separate_steps::declares_separate_steps(&head))
            }),
        };
        place
    }

    /// Finds the names of the scenarios, and leaves out folders that are copies of another one.
    fn name_scenarios(&mut self, tree: &Tree, folder: &str, report: &mut Report) {
        let names = scenario_name::all(tree, folder, &self.scenarios);
        let copied = scenario_name::copied(tree, folder, &self.scenarios, &names);
        for (copy, counted) in &copied {
            let counted = join(folder, &self.scenarios[*counted]);
            let message = format!("It is a copy of {counted}, which counts. This one is left out.");
            report.warn(Warning::skipped(join(folder, &self.scenarios[*copy]), "part.duplicate", message));
        }
        let left_out: HashSet<usize> = copied.into_iter().map(|(copy, _)| copy).collect();
        let all = std::mem::take(&mut self.scenarios).into_iter().zip(names).enumerate();
        let kept = all.filter(|(index, _)| !left_out.contains(index)).map(|(_, scenario)| scenario);
        (self.scenarios, self.names) = kept.unzip();
        self.indexes = self.scenarios.iter().cloned().zip(0..).collect();
    }

    /// The name of the scenario in a folder; `None` = it is that of the place, and nothing names it.
    pub(super) fn scenario_name(&self, folder: &str) -> Option<&str> {
        self.names.get(*self.indexes.get(folder)?).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The place of each scenario among those of other names, by its folder.
    pub(super) fn positions(&self) -> HashMap<String, usize> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut positions = HashMap::with_capacity(self.scenarios.len());
        for (folder, name) in self.scenarios.iter().zip(&self.names) {
            let next = numbers.len();
            positions.insert(folder.clone(), *numbers.entry(name.as_str()).or_insert(next));
        }
        positions
    }

    /// The names of the scenarios by their numbers.
    pub(super) fn by_number(&self) -> HashMap<u32, &str> {
        let mut found: HashMap<u32, &str> = HashMap::new();
        for name in self.scenario_names() {
            if let Some(number) = scenario_number(name) {
                found.entry(number).or_insert(name);
            }
        }
        found
    }

    /// The names of the scenarios, of one without a number in its name that of its folder.
    fn scenario_names(&self) -> impl Iterator<Item = &str> {
        let scenarios = self.scenarios.iter().zip(&self.names);
        scenarios.map(|(folder, name)| {
            let called = if scenario_number(name).is_some() { name } else { folder };
            called.as_str()
        })
    }

    /// The run that they say.
    pub(super) fn run(&self, folder: &str, warnings: &mut Report) -> Run {
        let config = self.config.clone().unwrap_or_default();
        let report = self.report.as_ref();
        let mut unusable = UnusableValues::default();
        let reported = |key: &str| report.and_then(|r| r.run_text(key)).map(str::to_owned);
        let benchmark =
            config.benchmark().or_else(|| report.and_then(|r| r.text("benchmark")).map(str::to_lowercase));
        let data_set = reported("data_set");
        let has_separate_steps = self.has_separate_steps;
        let benchmark = benchmark_from_word(benchmark.as_deref(), data_set.as_deref(), has_separate_steps);
        let mut run = Run::unknown(run_key(folder), benchmark);
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
        run.baseline = run.harness.as_deref().and_then(Baseline::from_harness_name);
        run.simulated = report
            .and_then(|r| r.run("simulated"))
            .and_then(Node::truth)
            .unwrap_or(run.harness.as_deref() == Some("mock"));
        run.planned_episodes = config.scenarios().or_else(|| report.and_then(ReportFile::tasks));
        if has_separate_steps {
            // Its episodes are steps, and only their trajectories say how many there are.
            run.planned_episodes = None;
        } else {
            // Whatever was planned, these are there.
            run.planned_episodes = run.planned_episodes.max(self.too_many);
        }
        let limit = report.and_then(|r| r.run("attempt_limit"));
        let limit = unusable.take("attempt_limit", limit, value::count);
        run.attempt_limit = limit.or_else(|| config.attempt_limit());
        unusable.take("planned turns", report.and_then(|r| r.entries().planned()), value::count);
        let mut unusable_config = UnusableValues::default();
        config.odd_counts().for_each(|(key, value)| unusable_config.add(key, value));
        unusable_config.warn(&join(folder, "config.yaml"), warnings);
        run.tags = report.and_then(|r| r.run("tags")).map_or_else(Vec::new, tags);
        let mut time = |key: &str| unusable.time(key, report.and_then(|r| r.run(key)));
        (run.started_at, run.finished_at) = (time("started_at"), time("finished_at"));
        unusable.span("started_at to finished_at", run.started_at.as_deref(), run.finished_at.as_deref());
        if let Some(report) = report {
            run.reported = report.reported(&mut unusable);
            run.extra = report.extra();
            if let Some(stated) = run.extra.remove(JOB_ID) {
                run.extra.insert(format!("report.{JOB_ID}"), stated);
            }
            if let Some(id) = self.run_id().filter(|id| id.len() <= RUN_ID_BYTES) {
                run.extra.insert(JOB_ID.to_owned(), id.into());
            }
            if let Some(tasks) = report.tasks().filter(|_| has_separate_steps) {
                run.extra.insert("planned_tasks".to_owned(), tasks.into());
            }
        }
        unusable.warn(&join(folder, "report.json"), warnings);
        run.settings = config.settings;
        // Which pack was played stands beside the settings, not among them: what decides about the scenarios is one list.
        let is_hash = |text: &String| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if let Some(hash) = reported("pack_sha256").filter(is_hash) {
            run.settings.insert("pack_sha256".to_owned(), hash.to_lowercase().into());
        }
        run
    }

    /// Keeps what the report says of scenarios that have no folder.
    pub(super) fn keep_missing(&self, folder: &str, run: &mut Run, report: &mut Report) {
        let mut seen_names = HashSet::new();
        let known: Vec<String> =
            self.scenario_names().filter(|name| seen_names.insert(*name)).map(str::to_owned).collect();
        let missing = self.report.as_ref().map(|r| r.entries().without_folder(&known)).unwrap_or_default();
        if missing.is_empty() {
            return;
        }
        // Each of its lists may have an entry of the same scenario.
        let scenario_of = |entry: &str| entry.split_once('.').map_or(entry, |(_, name)| name).to_owned();
        let scenarios: HashSet<String> = missing.iter().map(|(entry, _)| scenario_of(entry)).collect();
        report.warn(Warning::read_differently(
            join(folder, "report.json"),
            "report.scenario_missing",
            format!(
                "It has entries of {} without a folder. They are kept as extra fields of the run, and are no episodes.",
                model::counted(scenarios.len() as u64, "scenario")
            ),
        ));
        for (name, entry) in missing.into_iter().take(64) {
            run.extra.insert(format!("report.{name}"), entry);
        }
        if let Some(turns) = self.planned_turns().filter(|_| self.scenarios.is_empty()) {
            run.extra.insert("planned_turns".to_owned(), turns.into());
        }
    }

    /// Turns that a scenario was to have.
    pub(super) fn planned_turns(&self) -> Option<u32> {
        self.config
            .as_ref()
            .and_then(Config::turns)
            .or_else(|| self.report.as_ref().and_then(|report| report.entries().planned_turns()))
    }

    /// The id that our own runner gave the run.
    fn run_id(&self) -> Option<&str> {
        let report = self.report.as_ref().filter(|report| report.is_own())?;
        report.run_text("run_id").filter(|id| !id.is_empty())
    }

    /// Whether our own runner wrote it.
    pub(super) fn is_own(&self) -> bool {
        self.report.as_ref().is_some_and(ReportFile::is_own)
    }

    /// The episode with what identifies it: its scenario, in this folder, and what follows in its key (the number of a
    /// step).
    pub(super) fn identified(&self, mut episode: Episode, folder: &str, step: &str) -> Episode {
        // Both are there while it is played: a copy that was made meanwhile is the same episode. A scenario that lies alone
        // does not say of which run it is.
        let in_run = || {
            let name =
                self.scenario_name(folder).map(scenario_name::name_without_copy_mark).unwrap_or_default();
            format!("{name}{step}")
        };
        let run_identity = self.run_id().map(|run| identity::from_id(&["staminabench", run, &in_run()]));
        let scenario = scenario_name::name_without_copy_mark(&episode.scenario);
        let own_identity = identity::from_beginning(&scenario, &episode);
        episode.extra.remove(store::OTHER_IDENTITY);
        if let Some(own_identity) = own_identity.clone().filter(|_| run_identity.is_some()) {
            episode.extra.insert(store::OTHER_IDENTITY.to_owned(), own_identity.into());
        }
        episode.identity = run_identity
            .or(own_identity)
            .or_else(|| identity::from_scenario_and_contents(&scenario, &episode));
        episode
    }
}

/// A record of the runner, of which nothing is taken here.
#[derive(serde::Deserialize)]
struct RecordHead {
    #[serde(rename = "version")]
    _version: Option<serde::de::IgnoredAny>,
}

/// Warns of the runner's own record, which a resume needs, where it cannot be read. Listing its folder finds links and
/// what is no file.
pub(super) fn check_record(tree: &Tree, place_folder: &str, report: &mut Report) {
    let folder = join(place_folder, RECORDS);
    if !tree.list(&folder).iter().any(|entry| entry.name == "run.json") {
        return;
    }
    let path = join(&folder, "run.json");
    if let Err(error) = tree.read_json::<RecordHead>(&path, RECORD_CAP) {
        report.unreadable(&path, &error, "The run can be looked at and cannot be resumed.");
    }
}

/// Identity of the run of a place: the name of its folder.
pub(super) fn run_key(folder: &str) -> String {
    if folder.is_empty() { "run".to_owned() } else { file_name(folder).to_owned() }
}

fn benchmark_from_word(word: Option<&str>, data_set: Option<&str>, has_separate_steps: bool) -> Benchmark {
    // As a job of Harbor's that played the same folder of tasks.
    let name = data_set.filter(|name| !name.is_empty()).unwrap_or("adhoc");
    if has_separate_steps {
        return separate_steps::benchmark(name);
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

/// Words for the library that a report gives its run.
fn tags(node: &Node) -> Vec<String> {
    node.list().iter().filter_map(Node::word).take(TAGS).map(|word| cut(word, TAG).0.to_owned()).collect()
}
