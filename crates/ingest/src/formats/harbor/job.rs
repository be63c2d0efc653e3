//! From a job's own files to runs.
//!
//! One run per job, agent and model; in the layout of EvoCode-Bench one per model folder and agent over all tasks.
//! Harbor's own figures are kept as reported: they are never the score (see the module of the format).

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{Baseline, Benchmark, Extra, Run, Warning};
use serde::Deserialize;
use store::JOB_ID;

use crate::format::Report;
use crate::readers::clock;
use crate::readers::json::Node;
use crate::readers::value::Unusable;
use crate::view::MOST_PLANNED;
use files::{Tree, file_name, join};

use super::agent_settings::AgentSettings;
use super::head::{Head, job_name};
use super::layout::{Job, Kind, holds_trial, is_file, trial_folders};
use super::settings::{self, flatten};
use super::{CONFIG_CAP, RESULT_CAP};

/// Most bytes of the id of a job.
const JOB_ID_BYTES: usize = 200;

/// A job's own files, as far as they can be read.
#[derive(Debug, Default)]
pub(super) struct JobFiles {
    pub(super) name: String,
    pub(super) config: Option<Node>,
    pub(super) result: Option<Node>,
    pub(super) lock: Option<Node>,
}

impl JobFiles {
    /// Reads `config.json`, `result.json` and `lock.json`.
    pub(super) fn read(tree: &Tree, job: &Job, report: &mut Report) -> Self {
        if !job.whole {
            return Self { name: tree.name(), ..Self::default() };
        }
        if !["config.json", "result.json", "lock.json"].iter().any(|f| is_file(tree, &join(&job.path, f))) {
            report.warn(Warning::read_differently(
                &job.path,
                "harbor.no_job_files",
                "There are trials and none of their job's own files. They are read as one job; its settings, version and figures are unknown.",
            ));
            return Self { name: job_name(tree, job, None), ..Self::default() };
        }
        let mut read = |name: &str, cap, consequence: &str| {
            let path = join(&job.path, name);
            // Older versions of Harbor write none: the version is then unknown, and nothing else is lost.
            if name == "lock.json" && !is_file(tree, &path) {
                return None;
            }
            match tree.read_json::<Node>(&path, cap) {
                Ok(node @ Node::Map(_)) => {
                    report.files_read += 1;
                    Some(node)
                }
                Ok(_) => {
                    let what = format!("It is JSON, but no object. {consequence}");
                    report.warn(Warning::skipped(&path, "json.wrong_type", what));
                    None
                }
                Err(error) => {
                    report.unreadable(&path, &error, consequence);
                    None
                }
            }
        };
        let config = read("config.json", CONFIG_CAP, "The job's settings are taken from its trials.");
        let result = read("result.json", RESULT_CAP, "Harbor's own figures of this job are unknown.");
        let lock = read("lock.json", RESULT_CAP, "The version of Harbor is unknown.");
        Self { name: job_name(tree, job, config.as_ref()), config, result, lock }
    }

    /// `config.json` alone, which names the agents.
    pub(super) fn read_config(tree: &Tree, job: &Job) -> Option<Node> {
        job.whole.then(|| tree.read_json(&join(&job.path, "config.json"), CONFIG_CAP).ok()).flatten()
    }

    /// The id that Harbor gave the job, which every copy of it has.
    fn id(&self) -> Option<&str> {
        self.result.as_ref()?.get("id")?.word()
    }

    fn has_ended(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.get("finished_at").is_some())
    }

    fn harbor_version(&self) -> Option<&str> {
        self.lock.as_ref()?.at(&["harbor", "version"])?.word()
    }

    /// The agents that the configuration names.
    fn agents(&self) -> &[Node] {
        self.config.as_ref().and_then(|config| config.get("agents")).map_or(&[][..], Node::list)
    }

    /// How many trials were planned for an agent. The lock lists every one of them. Without one, each agent of the
    /// configuration has the same number: Harbor plays every attempt at every task with each of them. `None` = unknown.
    fn planned(&self, agent: &str, model: Option<&str>, only_run: bool) -> Option<u32> {
        let is_own = |named: &&Node| {
            let text = |key| named.get(key).and_then(Node::word);
            text("name").or_else(|| text("import_path")) == Some(agent) && text("model_name") == model
        };
        let locked = self.lock.as_ref().and_then(|l| l.get("trials")).map_or(&[][..], Node::list);
        let of_run = locked.iter().filter_map(|trial| trial.get("agent")).filter(is_own).count() as u32;
        if of_run > 0 {
            return Some(of_run);
        }
        let total = total(self.result.as_ref()?)?;
        let agents = self.agents();
        if agents.len() < 2 {
            return only_run.then_some(total);
        }
        let all = agents.len() as u32;
        let own = agents.iter().filter(is_own).count() as u32;
        (own > 0 && total.is_multiple_of(all)).then(|| total / all * own)
    }
}

/// How many trials a job's result says were planned.
fn total(result: &Node) -> Option<u32> {
    u32::try_from(result.get("n_total_trials")?.count()?).ok()
}

/// The trials of a run that no lock names: every task of the job for every attempt, where that gives as many trials as were
/// planned for all agents. Each trial is named by its task. `None` = tasks are missing of which no trial was begun.
pub(super) fn planned_by_tasks(
    tree: &Tree,
    at: &str,
    kind: Kind,
    job: &Job,
    is_own: impl Fn(&Head) -> bool,
) -> Option<Vec<String>> {
    let config = JobFiles::read_config(tree, job)?;
    let result: Node = tree.read_json(&join(&job.path, "result.json"), RESULT_CAP).ok()?;
    let attempts = config.get("n_attempts").and_then(Node::count)?;
    let agents = config.get("agents").map_or(&[][..], Node::list);
    let own = agents.iter().map(Head::of_agent).filter(is_own).count() as u64;
    let tasks: BTreeSet<(String, Option<String>)> = trial_folders(tree, at, kind, job)
        .iter()
        .filter(|trial| holds_trial(&tree.list(trial)))
        .map(|trial| {
            let head = Head::read(tree, trial, Some(&config));
            let origin = head.task_origin().map(str::to_owned);
            (head.task, origin)
        })
        .collect();
    let all = (tasks.len() as u64).checked_mul(attempts)?.checked_mul(agents.len() as u64)?;
    let is_whole = own > 0 && all <= MOST_PLANNED && all == u64::from(total(&result)?);
    let times = usize::try_from(attempts.checked_mul(own)?).ok()?;
    is_whole.then(|| tasks.into_iter().flat_map(|(task, _)| std::iter::repeat_n(task, times)).collect())
}

/// The version of Harbor that a job's lock names, without holding what else is in it.
pub(super) fn harbor_version(tree: &Tree, job: &Job) -> Option<String> {
    #[derive(Deserialize)]
    struct Lock {
        harbor: Option<Harbor>,
    }
    #[derive(Deserialize)]
    struct Harbor {
        version: Option<String>,
    }
    let lock: Lock = tree.read_json(&join(&job.path, "lock.json"), RESULT_CAP).ok()?;
    lock.harbor?.version
}

/// The id that a job's result names.
pub(super) fn id(tree: &Tree, job: &Job) -> Option<String> {
    #[derive(Deserialize)]
    struct JobResult {
        id: Option<String>,
    }
    let result: JobResult = tree.read_json(&join(&job.path, "result.json"), RESULT_CAP).ok()?;
    result.id.filter(|id| !id.is_empty())
}

/// Jobs of a run without copies of one: of several the first that has ended, else the first.
fn once_each(of_run: &BTreeSet<usize>, jobs: &[JobFiles]) -> Vec<usize> {
    let mut at: HashMap<&str, usize> = HashMap::new();
    let mut counted: Vec<usize> = Vec::with_capacity(of_run.len());
    for index in of_run {
        let Some((job, id)) = jobs.get(*index).and_then(|job| Some((job, job.id()?))) else {
            counted.push(*index);
            continue;
        };
        match at.get(id).and_then(|at| counted.get_mut(*at)) {
            None => {
                at.insert(id, counted.len());
                counted.push(*index);
            }
            Some(other) if job.has_ended() && !jobs.get(*other).is_some_and(JobFiles::has_ended) => {
                *other = *index;
            }
            Some(_) => {}
        }
    }
    counted
}

/// The trials that a job's lock lists.
pub(super) fn locked(tree: &Tree, job: &Job) -> Vec<Head> {
    let lock = tree.read_json::<Node>(&join(&job.path, "lock.json"), RESULT_CAP).ok();
    let trials = lock.as_ref().and_then(|lock| lock.get("trials")).map_or(&[][..], Node::list);
    trials.iter().map(Head::of_config).filter(|head| !head.task.is_empty()).collect()
}

/// What belongs to one run, collected over the trials of a place.
#[derive(Debug)]
pub(super) struct RunParts {
    pub(super) key: String,
    pub(super) head: Head,
    /// Indices of its jobs.
    pub(super) jobs: BTreeSet<usize>,
    /// Data sets that its tasks were taken from.
    pub(super) sources: BTreeSet<String>,
    /// Its trial folders.
    pub(super) trials: Vec<String>,
    /// The settings of its agent in each trial.
    pub(super) agent_settings: AgentSettings,
}

/// Builds a run. `alone[job]` says whether a job has no other run.
pub(super) fn run(
    tree: &Tree,
    kind: Kind,
    at: &str,
    jobs: &[JobFiles],
    alone: &[bool],
    parts: &RunParts,
    report: &mut Report,
) -> Run {
    let mut run = Run::unknown(&parts.key, benchmark(tree, kind, at, &parts.sources));
    let (provider, model) = parts.head.provider_and_model();
    run.harness.clone_from(&parts.head.agent);
    run.provider = provider.map(str::to_owned);
    run.model = model.map(str::to_owned);
    run.attempt_limit = Some(1);
    run.baseline = run.harness.as_deref().and_then(Baseline::of_harness);

    // The first result that can be read knows the agent's version and every setting, defaults included.
    let first = parts.trials.iter().take(8).find_map(|trial| {
        let result = tree.read_json::<Node>(&join(trial, "result.json"), RESULT_CAP).ok()?;
        report.files_read += 1;
        result.get("agent_info").is_some().then_some(result)
    });
    if let Some(info) = first.as_ref().and_then(|r| r.get("agent_info")) {
        let text = |keys: &[&str]| info.at(keys).and_then(Node::word).map(str::to_owned);
        run.harness = text(&["name"]).or(run.harness);
        run.harness_version = text(&["version"]).filter(|v| v != "unknown");
        run.model = text(&["model_info", "name"]).or(run.model);
        run.provider = text(&["model_info", "provider"]).or(run.provider);
        run.baseline = run.baseline.or_else(|| run.harness.as_deref().and_then(Baseline::of_harness));
    }

    let counted = once_each(&parts.jobs, jobs);
    let own: Vec<&JobFiles> = counted.iter().filter_map(|i| jobs.get(*i)).collect();
    let versions: BTreeSet<&str> = own.iter().filter_map(|j| j.harbor_version()).collect();
    let version = (!versions.is_empty()).then(|| versions.into_iter().collect::<Vec<_>>().join(", "));
    run.runner = Some(("Harbor".to_owned(), version));

    for config in own.iter().filter_map(|j| j.config.as_ref()).take(1) {
        settings::of_job(config, &mut run.settings);
    }
    if let Some(config) = first.as_ref().and_then(|r| r.get("config")) {
        settings::of_trial(config, &mut run.settings);
    } else if let Some(agent) = own.iter().find_map(|j| agent_config(j.config.as_ref()?, &parts.head)) {
        flatten("agent", agent, &mut run.settings);
    }

    let differing = parts.agent_settings.settle(&mut run.settings);
    if let Some(first) = differing.first() {
        let more = match differing.len() {
            1 => String::new(),
            n => format!(" and of {}", model::counted(n as u64 - 1, "other setting")),
        };
        let what = format!(
            "The trials of {} have several values of {first}{more}. They are one run, as in Harbor's own figures, and its settings show all values.",
            parts.key
        );
        report.warn(Warning::read_differently(at, "harbor.settings_differ", what));
    }

    let mut planned = Some(0);
    for index in &counted {
        let alone = alone.get(*index).copied().unwrap_or(true);
        let agent = parts.head.agent.as_deref().unwrap_or_default();
        let of_job = jobs.get(*index).and_then(|j| j.planned(agent, parts.head.model.as_deref(), alone));
        planned = planned.zip(of_job).map(|(a, b): (u32, u32)| a.saturating_add(b));
    }
    run.planned_episodes = planned.filter(|n| *n > 0);
    times(&own, &mut run);
    if let [only] = own.as_slice()
        && let Some(id) = only.id().filter(|id| id.len() <= JOB_ID_BYTES)
    {
        run.extra.insert(JOB_ID.to_owned(), id.into());
    }
    reported(own.into_iter().zip(counted), parts, alone, &mut run);
    run
}

fn agent_config<'a>(config: &'a Node, head: &Head) -> Option<&'a Node> {
    config.get("agents")?.list().iter().find(|a| {
        let text = |key| a.get(key).and_then(Node::word);
        text("name").or_else(|| text("import_path")) == head.agent.as_deref()
            && text("model_name") == head.model.as_deref()
    })
}

fn benchmark(tree: &Tree, kind: Kind, at: &str, sources: &BTreeSet<String>) -> Benchmark {
    let name = match kind {
        // One job per task: the folder that holds the tasks names the set better than any of them.
        Kind::Tasks | Kind::Task if sources.len() != 1 => {
            Some(file_name(at).to_owned()).filter(|n| !n.is_empty()).unwrap_or_else(|| tree.name())
        }
        _ if sources.is_empty() => "adhoc".to_owned(),
        _ => sources.iter().map(String::as_str).collect::<Vec<_>>().join("+"),
    };
    Benchmark { key: format!("harbor:{name}"), name: format!("Harbor, {name}") }
}

/// The earliest begin and, if every job has ended, the latest end.
fn times(jobs: &[&JobFiles], run: &mut Run) {
    let time = |job: &JobFiles, key| {
        let time = job.result.as_ref()?.get(key)?.word()?;
        Some((clock::micros(time)?, time.to_owned()))
    };
    let begin = jobs.iter().filter_map(|job| time(job, "started_at")).min();
    let ends: Option<Vec<(i64, String)>> = jobs.iter().map(|job| time(job, "finished_at")).collect();
    (run.started_at, run.finished_at) =
        (begin.map(|(_, begin)| begin), ends.and_then(|ends| Some(ends.into_iter().max()?.1)));
}

/// Harbor's own figures, of jobs with their numbers. Over several jobs, counts are sums and means are means of the jobs' means.
fn reported<'a>(
    jobs: impl Iterator<Item = (&'a JobFiles, usize)>,
    parts: &RunParts,
    alone: &[bool],
    run: &mut Run,
) {
    let mut sums = Sums::default();
    let mut means = Sums::default();
    let trials: HashSet<&str> = parts.trials.iter().map(|trial| file_name(trial)).collect();
    for (job, index) in jobs {
        let Some(stats) = job.result.as_ref().and_then(|r| r.get("stats")) else { continue };
        let evals = stats.get("evals").map_or(&[][..], Node::map);
        let own: Vec<&(String, Node)> =
            evals.iter().filter(|(_, e)| evals.len() == 1 || is_of(e, &trials)).collect();
        for (key, eval) in &own {
            let suffix = if own.len() > 1 { format!("@{key}") } else { String::new() };
            for count in ["n_trials", "n_errors"] {
                if let Some(n) = eval.get(count).and_then(Node::number) {
                    sums.add(format!("harbor.{count}{suffix}"), n);
                }
            }
            for (name, value) in metrics(eval) {
                means.add(format!("harbor.{name}{suffix}"), value);
            }
        }
        if alone.get(index).copied().unwrap_or(true) {
            for count in [
                "n_retries",
                "n_cancelled_trials",
                "n_input_tokens",
                "n_cache_tokens",
                "n_output_tokens",
                "cost_usd",
            ] {
                if let Some(n) = stats.get(count).and_then(Node::number).filter(|n| *n > 0.0) {
                    sums.add(format!("harbor.{count}"), n);
                }
            }
            // Before 0.6 the counts stood here.
            for count in ["n_trials", "n_errors"] {
                if own.is_empty()
                    && let Some(n) = stats.get(count).and_then(Node::number)
                {
                    sums.add(format!("harbor.{count}"), n);
                }
            }
        }
        if let Some(result) = &job.result {
            unknown_fields(result, &mut run.extra);
        }
    }
    let means = means.named.into_iter().map(|(name, sum, n)| (name, sum / f64::from(n)));
    run.reported.figures = means.chain(sums.named.into_iter().map(|(name, sum, _)| (name, sum))).collect();
}

/// Sums by name, in the order of the names' first values.
#[derive(Default)]
struct Sums {
    /// Name, sum, number of values.
    named: Vec<(String, f64, u32)>,
    places: HashMap<String, usize>,
}

impl Sums {
    fn add(&mut self, name: String, value: f64) {
        if let Some((_, sum, n)) = self.places.get(&name).and_then(|at| self.named.get_mut(*at)) {
            (*sum, *n) = (*sum + value, *n + 1);
        } else {
            self.places.insert(name.clone(), self.named.len());
            self.named.push((name, value, 1));
        }
    }
}

/// Whether an entry of `stats.evals` counts one of the trials of these names. Its key is not taken apart: names may hold `__`.
fn is_of(eval: &Node, trials: &HashSet<&str>) -> bool {
    let named = |map: &Node| map.list().iter().filter_map(Node::text).any(|name| trials.contains(name));
    let rewards = eval.get("reward_stats").map_or(&[][..], Node::map);
    let exceptions = eval.get("exception_stats").map_or(&[][..], Node::map);
    rewards.iter().flat_map(|(_, values)| values.map()).chain(exceptions).any(|(_, names)| named(names))
}

/// `metrics` and `pass_at_k`. With one reward key the entry is named after the metric (`mean`), with several after the
/// keys; both become `mean.<reward key>`.
fn metrics(eval: &Node) -> Vec<(String, f64)> {
    let mut out = Vec::new();
    let keys: Vec<&str> =
        eval.get("reward_stats").map_or(&[][..], Node::map).iter().map(|(k, _)| k.as_str()).collect();
    for (index, metric) in eval.get("metrics").map_or(&[][..], Node::list).iter().enumerate() {
        for (name, value) in metric.map() {
            let Some(value) = value.number() else { continue };
            let name = match keys.as_slice() {
                [only] if only != name => format!("{name}.{only}"),
                _ if index == 0 => format!("mean.{name}"),
                _ => format!("metric_{}.{name}", index + 1),
            };
            out.push((name, value));
        }
    }
    for (k, value) in eval.get("pass_at_k").map_or(&[][..], Node::map) {
        if let Some(value) = value.number() {
            out.push((format!("pass@{k}"), value));
        }
    }
    out
}

fn unknown_fields(result: &Node, extra: &mut Extra) {
    const KNOWN: [&str; 8] = [
        "id",
        "started_at",
        "updated_at",
        "finished_at",
        "n_total_trials",
        "stats",
        "status",
        "trial_results",
    ];
    const KNOWN_STATS: [&str; 14] = [
        "n_completed_trials",
        "n_errored_trials",
        "n_running_trials",
        "n_pending_trials",
        "n_cancelled_trials",
        "n_retries",
        "evals",
        "n_input_tokens",
        "n_cache_tokens",
        "n_output_tokens",
        "cost_usd",
        "n_trials",
        "n_errors",
        "status",
    ];
    for (prefix, node, known) in
        [("", Some(result), &KNOWN[..]), ("stats.", result.get("stats"), &KNOWN_STATS[..])]
    {
        for (key, value) in node.map_or(&[][..], Node::map) {
            if !known.contains(&key.as_str()) && *value != Node::Null {
                extra.entry(format!("{prefix}{key}")).or_insert_with(|| settings::plain(key, value));
            }
        }
    }
}

/// Warns of what a job planned and did not do.
pub(super) fn check(job: &Job, files: &JobFiles, trials: usize, report: &mut Report) {
    let Some(result) = &files.result else { return };
    let mut unusable = Unusable::default();
    let [begin, end] = ["started_at", "finished_at"].map(|key| unusable.time(key, result.get(key)));
    unusable.span("started_at to finished_at", begin.as_deref(), end.as_deref());
    unusable.warn(&join(&job.path, "result.json"), report);
    let planned = result.get("n_total_trials").and_then(Node::count).unwrap_or(0) as usize;
    if planned > trials {
        report.warn(Warning::skipped(
            join(&job.path, "result.json"),
            "harbor.trials_missing",
            format!(
                "The job planned {planned} trials and {trials} trial folders are there. The others are not shown as episodes."
            ),
        ));
    }
    if result.get("finished_at").is_none() {
        report.warn(Warning::read_differently(
            join(&job.path, "result.json"),
            "harbor.job_unfinished",
            "The job has no end: it is running, or was interrupted or killed. Its trials are read as far as they go.",
        ));
    }
}
