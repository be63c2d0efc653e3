//! Which runs and parts a place has, known from names and small files.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use model::{Extra, TaskTotals, Warning};

use crate::format_trait::{Part, PlannedScenario, Report, Survey};
use crate::readers::json::Node;
use files::{Entry, Stamp, Tree, file_name, join, parent};

use super::agent_settings::AgentSettings;
use super::case_lines;
use super::gradings;
use super::head::{self, Head};
use super::job::{self, RunParts};
use super::job_files::{self, JobFiles};
use super::layout::{self, Job, Kind};
use super::steps;
use super::task::{self, Task};

/// The key of the part that a trial is read in: the name of its task. Trials of one task are read together, because each
/// shows the others' number of steps and repeats; the names of their folders do not. `head` is called only where the
/// place does not say the task.
pub(super) fn part_key(kind: Kind, job: &Job, head: impl FnOnce() -> Head) -> String {
    match (kind, &job.task) {
        (Kind::Tasks | Kind::Task, Some(task)) => {
            Some(file_name(task)).filter(|n| !n.is_empty()).unwrap_or("task").to_owned()
        }
        (Kind::Trial, _) => "trial".to_owned(),
        _ => head().task,
    }
}

/// Which runs a place has, and which parts.
pub(super) fn survey(tree: &Tree, place_folder: &str, kind: Kind, report: &mut Report) -> Survey {
    let jobs = layout::jobs(tree, place_folder, kind);
    let mut files = Vec::with_capacity(jobs.len());
    let mut runs: Vec<RunParts> = Vec::new();
    let mut run_of_key: HashMap<String, usize> = HashMap::new();
    let mut runs_of_job: Vec<BTreeSet<usize>> = Vec::with_capacity(jobs.len());
    let mut stamps: BTreeMap<String, Stamp> = BTreeMap::new();
    let mut heads: HashMap<String, Vec<Head>> = HashMap::new();

    for (index, job) in jobs.iter().enumerate() {
        let own = JobFiles::read(tree, job, report);
        // A trial whose own files do not say it takes its agent from the job's configuration.
        let config = tree.entry(&join(&job.path, "config.json")).map_or(0, |e| e.stamp);
        let prints_cases = job.whole && case_lines::has_case_lines(tree, job);
        // Where jobs lie below their task, its part has all of their trials.
        let has_single_steps = kind == Kind::Job && steps::has_single_steps(tree, job);
        let mut job_runs = BTreeSet::new();
        let mut run_for = |head: &Head, settings: Extra, job_runs: &mut BTreeSet<usize>| {
            let key = head.run_key(kind, job, &own.name);
            let run = *run_of_key.entry(key.clone()).or_insert_with(|| {
                runs.push(RunParts {
                    key,
                    head: head.clone(),
                    jobs: BTreeSet::new(),
                    sources: BTreeSet::new(),
                    trials: Vec::new(),
                    regraded: Vec::new(),
                    agent_settings: AgentSettings::default(),
                });
                runs.len() - 1
            });
            job_runs.insert(run);
            runs[run].jobs.insert(index);
            runs[run].agent_settings.add(settings);
            if let Some(source) = &head.source {
                runs[run].sources.insert(source.clone());
            }
            run
        };
        let mut trials_of_run = Vec::new();
        // A copy of a trial is none that was planned.
        let mut names: HashSet<String> = HashSet::new();
        for trial in layout::trial_folders(tree, place_folder, kind, job) {
            let entries = tree.list(&trial);
            if !layout::holds_trial(&entries) {
                report.warn(Warning::skipped(
                    trial,
                    "harbor.not_a_trial",
                    "The folder has neither config.json nor result.json: it is no trial, or one that failed before it began.",
                ));
                continue;
            }
            let (head, settings) = Head::read_with_settings(tree, &trial, own.config.as_ref());
            names.insert(head.trial.clone().unwrap_or_else(|| trial.clone()));
            let run = run_for(&head, settings, &mut job_runs);
            let is_regraded = head.regraded;
            let key = part_key(kind, job, || head.clone());
            let stamp = stamps
                .remove(&key)
                .unwrap_or_default()
                .number(config)
                .number(prints_cases.into())
                .number(has_single_steps.into());
            stamps.insert(key.clone(), stamp_of_trial(tree, &trial, &entries, stamp));
            // One for each place in which its task may lie.
            let part_heads = heads.entry(key).or_default();
            if !part_heads.iter().any(|known| known.task_path == head.task_path) {
                part_heads.push(head);
            }
            trials_of_run.push((run, trial, is_regraded));
        }
        if kind != Kind::Trial {
            job::check(job, &own, names.len(), report);
        }
        // A job that has not begun a trial yet is shown by the agents that it names.
        if trials_of_run.is_empty() {
            for head in job_heads(own.config.as_ref()) {
                run_for(&head, Extra::new(), &mut job_runs);
            }
        }
        for (run, trial, is_regraded) in trials_of_run {
            if is_regraded {
                runs[run].regraded.push(trial.clone());
            }
            runs[run].trials.push(trial);
        }
        runs_of_job.push(job_runs);
        files.push(own);
    }
    share_sources(&mut runs);
    let is_only_run: Vec<bool> = runs_of_job.iter().map(|runs| runs.len() <= 1).collect();
    let mut out = Survey::default();
    for parts in &runs {
        let mut run = job::run(tree, kind, place_folder, &files, &is_only_run, parts, report);
        if kind == Kind::Tasks {
            let others = count_tasks_without_job(tree, place_folder, &jobs, parts);
            run.planned_episodes = run.planned_episodes.map(|planned| planned.saturating_add(others));
            note_missing_tasks(tree, place_folder, &jobs, parts, &mut run, report);
        }
        out.runs.push(run);
    }
    for (key, mut stamp) in stamps {
        let job =
            jobs.iter().find(|j| j.task.as_deref().is_some_and(|t| file_name(t) == key)).or(jobs.first());
        let part_heads = heads.get(&key).map_or(&[][..], Vec::as_slice);
        let folders: BTreeSet<String> =
            part_heads.iter().filter_map(|head| task::find(tree, job?, head)).collect();
        for folder in folders {
            stamp = task::stamp(tree, &folder, stamp);
        }
        out.parts.push(Part { key, stamp: stamp.finish() });
    }
    out
}

/// Gives the runs of a place of which no trial says a data set those that the others say: they play the same tasks, and would
/// be of another benchmark.
fn share_sources(runs: &mut [RunParts]) {
    let place_sources: BTreeSet<String> = runs.iter().flat_map(|run| run.sources.iter().cloned()).collect();
    for run in runs.iter_mut().filter(|run| run.sources.is_empty()) {
        run.sources.clone_from(&place_sources);
    }
}

/// The trials that were planned for a run, by task: those that the locks of its jobs list, else every task of its job for every
/// attempt; in the layout of EvoCode-Bench also one of each task that the run has no job of.
pub(super) fn planned(tree: &Tree, folder: &str, kind: Kind, run: &str) -> Option<Vec<PlannedScenario>> {
    let mut names = Vec::new();
    let mut played: BTreeSet<String> = BTreeSet::new();
    let mut ids: HashSet<String> = HashSet::new();
    let mut has_regraded = false;
    for job in layout::jobs(tree, folder, kind).iter().filter(|job| job.whole) {
        let config = JobFiles::read_config(tree, job);
        let name = head::job_name(tree, job, config.as_ref());
        let is_own = |head: &Head| head.run_key(kind, job, &name) == run;
        let locked: Vec<Head> = job_files::locked(tree, job).into_iter().filter(is_own).collect();
        has_regraded |= locked.iter().any(|head| head.regraded);
        let mut planned_tasks: Vec<String> = locked.into_iter().map(|head| head.task).collect();
        if planned_tasks.is_empty() && kind == Kind::Job {
            planned_tasks = job_files::planned_by_tasks(tree, folder, kind, job, is_own).unwrap_or_default();
        }
        if !planned_tasks.is_empty() {
            played.extend(job.task.clone());
            // What a copy of a job lists is planned once.
            if job_files::id(tree, job).is_some_and(|id| !ids.insert(id)) {
                continue;
            }
        }
        names.extend(planned_tasks);
    }
    if names.is_empty() {
        return None;
    }
    if has_regraded && kind != Kind::Job {
        for task in regraded_tasks(tree, folder, kind, run) {
            if let Some(planned) = names.iter().position(|name| *name == task) {
                names.swap_remove(planned);
            }
        }
    }
    if kind == Kind::Tasks {
        let missing = layout::tasks(tree, folder).into_iter().filter(|task| !played.contains(task));
        names.extend(missing.map(|task| file_name(&task).to_owned()));
    }
    Some(PlannedScenario::count(names))
}

/// The tasks of the trials of a run that are further gradings of another one of it.
fn regraded_tasks(tree: &Tree, folder: &str, kind: Kind, run: &str) -> Vec<String> {
    let (mut trials, mut regraded, mut tasks) = (Vec::new(), Vec::new(), HashMap::new());
    for job in layout::jobs(tree, folder, kind) {
        let config = JobFiles::read_config(tree, &job);
        let name = head::job_name(tree, &job, config.as_ref());
        for trial in layout::trial_folders(tree, folder, kind, &job) {
            let head = Head::read(tree, &trial, config.as_ref());
            if head.run_key(kind, &job, &name) != run {
                continue;
            }
            if head.regraded {
                regraded.push(trial.clone());
                tasks.insert(trial.clone(), head.task);
            }
            trials.push(trial);
        }
    }
    let extra_trials = gradings::extra_gradings(tree, &trials, &regraded);
    extra_trials.into_iter().filter_map(|trial| tasks.get(trial).cloned()).collect()
}

/// The agents that a job's configuration names.
fn job_heads(config: Option<&Node>) -> Vec<Head> {
    let agents = config.and_then(|c| c.get("agents")).map_or(&[][..], Node::list);
    agents.iter().map(Head::from_agent).filter(|h| h.agent.is_some()).collect()
}

/// In the layout of EvoCode-Bench the tasks that a run has no job of. An episode of each is planned, as in [`planned`].
fn count_tasks_without_job(tree: &Tree, folder: &str, jobs: &[Job], parts: &RunParts) -> u32 {
    let job_tasks: BTreeSet<&str> =
        parts.jobs.iter().filter_map(|index| jobs.get(*index)?.task.as_deref()).collect();
    layout::tasks(tree, folder).iter().filter(|task| !job_tasks.contains(task.as_str())).count() as u32
}

/// In the layout of EvoCode-Bench every task folder counts, also one that a model was never run on: as 0.
fn note_missing_tasks(
    tree: &Tree,
    folder: &str,
    jobs: &[Job],
    parts: &RunParts,
    run: &mut model::Run,
    report: &mut Report,
) {
    // A job that began no trial has played nothing.
    let task_of: HashMap<&str, &str> =
        jobs.iter().filter_map(|job| Some((job.path.as_str(), job.task.as_deref()?))).collect();
    let played_tasks: BTreeSet<&str> =
        parts.trials.iter().filter_map(|trial| task_of.get(parent(trial)).copied()).collect();
    let mut missing = Vec::new();
    for path in layout::tasks(tree, folder) {
        if played_tasks.contains(path.as_str()) {
            continue;
        }
        let task = Task::read(tree, &path, &mut Report::default());
        missing.push(file_name(&path).to_owned());
        run.reported.totals_only.push(TaskTotals {
            scenario: file_name(&path).to_owned(),
            turns: task.turns(),
            passed_turns: Some(0.0),
            case_ratio: Some(0.0),
        });
    }
    if !missing.is_empty() {
        report.warn(Warning::read_differently(
            folder,
            "harbor.task_not_run",
            format!(
                "{} was not run on {} of the tasks here ({}). As in the published scores each of them counts as 0.",
                run.key,
                missing.len(),
                missing.join(", ")
            ),
        ));
    }
}

/// Adds names, sizes and times of what reading a trial parses. `entries` are those of its folder.
fn stamp_of_trial(tree: &Tree, trial: &str, entries: &[Entry], stamp: Stamp) -> Stamp {
    const GRADED: [&str; 4] = ["agent", "user-agent", "verifier", "artifacts"];
    let add = |mut stamp: Stamp, folder: &str, entries: &[Entry]| {
        stamp = stamp.text(folder);
        for entry in entries {
            stamp = stamp.text(&entry.name).number(entry.stamp);
        }
        stamp
    };
    let mut stamp = add(stamp, trial, entries);
    let mut folders = vec![(trial.to_owned(), entries.to_vec())];
    if entries.iter().any(|e| e.is_folder() && e.name == "steps") {
        let steps = join(trial, "steps");
        let step_entries = tree.list(&steps);
        stamp = add(stamp, &steps, &step_entries);
        for step in step_entries.iter().filter(|e| e.is_folder()) {
            let path = join(&steps, &step.name);
            let entries = tree.list(&path);
            folders.push((path, entries));
        }
    }
    for (folder, entries) in folders {
        for part in entries.iter().filter(|e| e.is_folder() && GRADED.contains(&e.name.as_str())) {
            let path = join(&folder, &part.name);
            stamp = add(stamp, &path, &tree.list(&path));
        }
    }
    stamp
}
