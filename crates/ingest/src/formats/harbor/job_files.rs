//! A job's own files: its configuration, its result and its lock.

use std::collections::{BTreeSet, HashMap};

use model::Warning;
use serde::Deserialize;

use crate::format_trait::{MOST_PLANNED, Report};
use crate::readers::json::Node;
use crate::readers::value;
use files::{Tree, join};

use super::head::{Head, folder_name, job_name};
use super::layout::{Job, Kind, holds_trial, is_file, trial_folders};
use super::limits::{CONFIG_CAP, RESULT_CAP};

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
            return Self { name: tree.folder_name(), ..Self::default() };
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
            report.read_object(tree, &path, cap, consequence)
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
    pub(super) fn id(&self) -> Option<&str> {
        self.result.as_ref()?.get("id")?.word()
    }

    /// Whether its result says when it ended.
    pub(super) fn has_ended(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.get("finished_at").is_some())
    }

    /// The version of Harbor that its lock names.
    pub(super) fn harbor_version(&self) -> Option<&str> {
        self.lock.as_ref()?.descendant(&["harbor", "version"])?.word()
    }

    /// The agents that the configuration names.
    fn agents(&self) -> &[Node] {
        self.config.as_ref().and_then(|config| config.get("agents")).map_or(&[][..], Node::list)
    }

    /// How many trials were planned for an agent. The lock lists every one of them. Without one, each agent of the
    /// configuration has the same number: Harbor plays every attempt at every task with each of them. `None` = unknown.
    pub(super) fn planned(&self, agent: &str, model: Option<&str>, only_run: bool) -> Option<u32> {
        let is_own = |named: &&Node| {
            let text = |key| named.get(key).and_then(Node::word);
            text("name").or_else(|| text("import_path")) == Some(agent) && text("model_name") == model
        };
        let locked = self.lock.as_ref().and_then(|l| l.get("trials")).map_or(&[][..], Node::list);
        let locked_count = locked.iter().filter_map(|trial| trial.get("agent")).filter(is_own).count() as u32;
        if locked_count > 0 {
            return Some(locked_count);
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
    value::count(result.get("n_total_trials")?)
}

/// The trials of a run that no lock names: every task of the job for every attempt, where that gives as many trials as were
/// planned for all agents. Each trial is named by its task. `None` = tasks are missing that nothing names.
pub(super) fn planned_by_tasks(
    tree: &Tree,
    folder: &str,
    kind: Kind,
    job: &Job,
    is_own: impl Fn(&Head) -> bool,
) -> Option<Vec<String>> {
    let config = JobFiles::read_config(tree, job)?;
    let result: Node = tree.read_json(&join(&job.path, "result.json"), RESULT_CAP).ok()?;
    // Harbor writes what is not its default, which is one.
    let attempts = config.get("n_attempts").map_or(Some(1), value::count).map(u64::from)?;
    let agents = config.get("agents").map_or(&[][..], Node::list);
    let own = agents.iter().map(Head::from_agent).filter(is_own).count() as u64;
    let begun: BTreeSet<(String, Option<String>)> = trial_folders(tree, folder, kind, job)
        .iter()
        .filter(|trial| holds_trial(&tree.list(trial)))
        .map(|trial| {
            let head = Head::read(tree, trial, Some(&config));
            let origin = head.task_origin().map(str::to_owned);
            (head.task, origin)
        })
        .collect();
    let planned = u64::from(total(&result)?);
    let is_whole = |tasks: &BTreeSet<(String, Option<String>)>| {
        let all = (tasks.len() as u64)
            .checked_mul(attempts)
            .and_then(|trials| trials.checked_mul(agents.len() as u64));
        own > 0 && planned <= MOST_PLANNED && all == Some(planned)
    };
    let tasks = if is_whole(&begun) {
        begun
    } else {
        let short: BTreeSet<&str> = begun.iter().map(|(task, _)| folder_name(task)).collect();
        let unnamed_tasks =
            named_tasks(&config).into_iter().filter(|task| !short.contains(folder_name(task)));
        let unnamed_tasks: Vec<_> = unnamed_tasks.map(|task| (task, None)).collect();
        Some(begun.into_iter().chain(unnamed_tasks).collect()).filter(is_whole)?
    };
    let times = usize::try_from(attempts.checked_mul(own)?).ok()?;
    Some(tasks.into_iter().flat_map(|(task, _)| std::iter::repeat_n(task, times)).collect())
}

/// The tasks that a job's configuration names one by one, and not by a pattern.
fn named_tasks(config: &Node) -> BTreeSet<String> {
    fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
        node.get(key).map_or(&[][..], Node::list)
    }
    let set_names = items(config, "datasets").iter().flat_map(|set| items(set, "task_names"));
    let named = set_names.filter_map(Node::word).filter(|name| !name.contains(['*', '?', '[']));
    let task_names = items(config, "tasks").iter().map(|task| Head::from_task(task).task);
    named.map(str::to_owned).chain(task_names.filter(|task| !task.is_empty())).collect()
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
pub(super) fn without_copies(run_jobs: &BTreeSet<usize>, jobs: &[JobFiles]) -> Vec<usize> {
    let mut place_by_id: HashMap<&str, usize> = HashMap::new();
    let mut counted: Vec<usize> = Vec::with_capacity(run_jobs.len());
    for index in run_jobs {
        let Some((job, id)) = jobs.get(*index).and_then(|job| Some((job, job.id()?))) else {
            counted.push(*index);
            continue;
        };
        match place_by_id.get(id).and_then(|place| counted.get_mut(*place)) {
            None => {
                place_by_id.insert(id, counted.len());
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
    trials.iter().map(Head::from_config).filter(|head| !head.task.is_empty()).collect()
}
