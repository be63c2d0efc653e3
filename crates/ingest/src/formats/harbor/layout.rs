//! Which folders are jobs, trials and tasks.

use std::sync::OnceLock;

use crate::readers::json::Node;
use files::{Entry, EntryKind, Tree, file_name, join, parent};

use super::limits::{CONFIG_CAP, RESULT_CAP};

/// What a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A job folder: trials below it.
    Job,
    /// A folder of tasks, each with `harbor_jobs/<model>/<job>/<trial>`.
    Tasks,
    /// One such task.
    Task,
    /// One trial, opened alone.
    Trial,
}

/// A job folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    /// Relative to the tree.
    pub(super) path: String,
    /// In the layout of EvoCode-Bench: the folder named after the model.
    pub(super) bucket: Option<String>,
    /// In the layout of EvoCode-Bench: the task's folder.
    pub(super) task: Option<String>,
    /// Whether its own files are there to be read; not for a trial that was opened alone.
    pub(super) whole: bool,
    /// Whether its trials are of one step, once that was looked for (`has_single_steps`).
    pub(super) single_steps: OnceLock<bool>,
}

/// Says what a place is, or in words what was found of it and how close that is (0 to 100).
pub(super) fn kind(tree: &Tree, folder: &str) -> Result<Kind, (String, u8)> {
    let entries = tree.list(folder);
    if has_folder(&entries, "harbor_jobs") && !jobs_of_task(tree, folder).is_empty() {
        return Ok(Kind::Task);
    }
    let has_files = has_file(&entries, "config.json") || has_file(&entries, "result.json");
    if has_files && is_trial(tree, folder, &entries) {
        return Ok(Kind::Trial);
    }
    if is_job(tree, folder, &entries) {
        return Ok(Kind::Job);
    }
    let task_with_jobs = |e: &Entry| is_folder(tree, &join(&join(folder, &e.name), "harbor_jobs"));
    let folders = || entries.iter().filter(|e| e.is_folder());
    if folders().any(|e| task_with_jobs(e) && !jobs_of_task(tree, &join(folder, &e.name)).is_empty()) {
        return Ok(Kind::Tasks);
    }
    let found = ["config.json", "result.json", "lock.json", "task.toml", "harbor_jobs", "steps"];
    let found: Vec<&str> = found.into_iter().filter(|n| entries.iter().any(|e| e.name == *n)).collect();
    if found.is_empty() {
        return Err(("none".to_owned(), 0));
    }
    let closeness = match found.as_slice() {
        [_, _, ..] => 50,
        ["harbor_jobs" | "steps"] => 40,
        ["result.json" | "lock.json"] => 20,
        _ => 10,
    };
    Err((format!("{}, and no trials", found.join(", ")), closeness))
}

/// The jobs of a place.
pub(super) fn jobs(tree: &Tree, folder: &str, kind: Kind) -> Vec<Job> {
    let plain = |path: &str, whole| Job {
        path: path.to_owned(),
        bucket: None,
        task: None,
        whole,
        single_steps: OnceLock::new(),
    };
    match kind {
        Kind::Job => vec![plain(folder, true)],
        Kind::Trial => vec![plain(parent(folder), false)],
        Kind::Task => jobs_of_task(tree, folder),
        Kind::Tasks => tasks(tree, folder).iter().flat_map(|task| jobs_of_task(tree, task)).collect(),
    }
}

/// The task folders of a [`Kind::Tasks`] place: those with a `task.toml` or with jobs.
pub(super) fn tasks(tree: &Tree, folder: &str) -> Vec<String> {
    folders(tree, folder)
        .map(|e| join(folder, &e.name))
        .filter(|task| is_file(tree, &join(task, "task.toml")) || is_folder(tree, &join(task, "harbor_jobs")))
        .collect()
}

/// `harbor_jobs/<model>/<job>` of a task.
pub(super) fn jobs_of_task(tree: &Tree, task: &str) -> Vec<Job> {
    let root = join(task, "harbor_jobs");
    let mut jobs = Vec::new();
    for bucket in folders(tree, &root) {
        let bucket_path = join(&root, &bucket.name);
        for job in folders(tree, &bucket_path) {
            let path = join(&bucket_path, &job.name);
            if is_job(tree, &path, &tree.list(&path)) {
                jobs.push(Job {
                    path,
                    bucket: Some(bucket.name.clone()),
                    task: Some(task.to_owned()),
                    whole: true,
                    single_steps: OnceLock::new(),
                });
            }
        }
    }
    jobs
}

/// The folders of a job that may be trials.
pub(super) fn trial_folders(tree: &Tree, folder: &str, kind: Kind, job: &Job) -> Vec<String> {
    if kind == Kind::Trial {
        return vec![folder.to_owned()];
    }
    folders(tree, &job.path).map(|e| join(&job.path, &e.name)).collect()
}

/// Whether a folder of a job is a trial. One that failed before it began has neither of its files.
pub(super) fn holds_trial(entries: &[Entry]) -> bool {
    has_file(entries, "config.json") || has_file(entries, "result.json")
}

/// The task's name in that of a trial's folder, where no file has it: all before the last `__`, which is that name cut to
/// 32 letters, unless somebody renamed the folder.
pub(super) fn stem(trial: &str) -> &str {
    let name = file_name(trial);
    name.rsplit_once("__").map_or(name, |(stem, _)| stem)
}

fn is_trial(tree: &Tree, folder: &str, entries: &[Entry]) -> bool {
    let config = tree.read_json::<Node>(&join(folder, "config.json"), CONFIG_CAP).ok();
    if let Some(config) = &config {
        if config.get("trial_name").is_some() {
            return true;
        }
        let has_trial_key =
            ["agent", "trials_dir", "job_id", "verifier"].iter().any(|k| config.get(k).is_some());
        if matches!(config.get("task"), Some(Node::Map(_))) && has_trial_key {
            return true;
        }
        if config.map().iter().any(|(k, _)| JOB_KEYS.contains(&k.as_str())) {
            return false;
        }
    }
    if has_file(entries, "result.json")
        && let Ok(result) = tree.read_json::<Node>(&join(folder, "result.json"), RESULT_CAP)
    {
        return result.get("trial_name").is_some() || result.get("task_name").is_some();
    }
    // Neither can be read: what lies beside them decides.
    let has_subfolder = |name| has_folder(entries, name);
    has_subfolder("steps") || (has_subfolder("agent") && has_subfolder("verifier"))
}

const JOB_KEYS: [&str; 8] = [
    "job_name",
    "jobs_dir",
    "n_concurrent_trials",
    "n_attempts",
    "datasets",
    "agents",
    "orchestrator",
    "tasks",
];

fn is_job(tree: &Tree, folder: &str, entries: &[Entry]) -> bool {
    let read = |name: &str| {
        has_file(entries, name)
            .then(|| tree.read_json::<Node>(&join(folder, name), RESULT_CAP).ok())
            .flatten()
            .unwrap_or(Node::Null)
    };
    let config = read("config.json");
    if JOB_KEYS.iter().filter(|k| config.get(k).is_some()).count() >= 2 && config.get("trial_name").is_none()
    {
        return true;
    }
    let result = read("result.json");
    if result.get("n_total_trials").is_some() || result.descendant(&["stats", "evals"]).is_some() {
        return true;
    }
    if matches!(read("lock.json").get("trials"), Some(Node::List(_))) {
        return true;
    }
    // A job whose own files are damaged or gone, or a folder of trials that were run one by one.
    entries.iter().filter(|e| e.is_folder() && !e.name.starts_with('.')).any(|e| {
        let child = join(folder, &e.name);
        let files =
            is_file(tree, &join(&child, "config.json")) || is_file(tree, &join(&child, "result.json"));
        files && is_trial(tree, &child, &tree.list(&child))
    })
}

/// Folders in a folder, but hidden ones (`.sources` of a regraded job).
pub(super) fn folders(tree: &Tree, folder: &str) -> impl Iterator<Item = Entry> {
    tree.list(folder).into_iter().filter(|e| e.is_folder() && !e.name.starts_with('.'))
}

pub(super) fn is_file(tree: &Tree, path: &str) -> bool {
    tree.entry(path).is_some_and(|e| e.kind == EntryKind::File)
}

pub(super) fn is_folder(tree: &Tree, path: &str) -> bool {
    tree.entry(path).is_some_and(|e| e.is_folder())
}

fn has_file(entries: &[Entry], name: &str) -> bool {
    entries.iter().any(|e| e.name == name && e.kind == EntryKind::File)
}

fn has_folder(entries: &[Entry], name: &str) -> bool {
    entries.iter().any(|e| e.name == name && e.is_folder())
}
