//! Harbor: jobs of multi-step and single-step trials, alone, in a jobs folder, or in the layout of EvoCode-Bench.
//!
//! ```text
//! <job>/                      a place: one run per agent and model
//!   config.json result.json lock.json job.log
//!   <task, cut to 32 letters>__<7 letters>/        a trial: one episode
//!     config.json result.json lock.json trial.log exception.txt
//!     steps/<step>/{agent,verifier,artifacts}/     a step: one turn with one attempt
//!     {agent,verifier,artifacts}/                  the same of a single-step trial; else left behind by a step in flight
//! <tasks>/<task>/harbor_jobs/<model>/<job>/…       a place: one run per model folder and agent
//! ```
//!
//! **Harbor's own reward is never the score.** Its mean leaves out steps that errored or were never reached, so an
//! aborted chain can score 1.0. Turns are built from each step's own reward (passed from 0.999 on) and from the
//! *declared* number of steps; Harbor's figures are kept as reported ones, `harbor.…`.
//!
//! The declared number of steps is not in a job folder. It is taken from, in this order,
//! 1. `task.toml` of the task, if its folder lies in the opened tree ([`task`]), unless the trial was run with another;
//! 2. `Starting step 2/4` in the `trial.log` of a trial of the task;
//! 3. a trial of the task that ran to its end;
//! 4. the most steps that any trial of the task began, by its result, log or folders; then
//!    `episode.extra.declared_steps` says `unknown, at least N`, and scores over all declared steps are upper bounds.
//!    If no trial began anything, the number is not even planned ([`steps`]).
//!
//! A step's states: passed; failed (graded, with tests); build failed (graded 0 without a single CASE line, by tests
//! that print CASE lines, see [`case_lines`]; verdict `error`); error (an exception and no grade); failed with an exception (the agent ran
//! out of time and was graded); not reached; in flight (`unfinished`: canceled, killed or running). The end reason of
//! an exception is derived from its type and by when it came ([`exception`], `readers::attribution`).

mod accounting;
mod agent_settings;
mod case_lines;
mod continued;
mod exception;
mod grouping;
mod head;
mod job;
mod layout;
mod resumed;
mod reward;
pub(super) mod settings;
mod step;
mod steps;
mod task;
mod trial;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::OnceLock;

use model::{
    Artifact, ArtifactKind, Counting, EndReason, Extra, Step, StepKind, TaskTotals, Transcript, Verdict,
    Warning,
};

use crate::format::{Format, Part, PartReader, Planned, Reading, Report, Sniff, Survey};
use crate::identity;
use crate::readers::atif;
use crate::readers::json::{NODE_CAP, Node};
use crate::readers::kept_tests::KeptTests;
use files::{Entry, ReadError, Stamp, Tree, file_name, join};

use self::accounting::Agent;
use self::agent_settings::AgentSettings;
use self::grouping::{Scenario, by_task};
use self::head::Head;
use self::job::{JobFiles, RunParts};
use self::layout::{Job, Kind};
pub(in crate::formats) use self::step::take_cases;
use self::steps::Steps;
use self::task::Task;
use self::trial::{Played, Trial};

/// Most bytes of a configuration.
const CONFIG_CAP: u64 = 16 << 20;
/// Most bytes of a result or lock; bulk in it is skipped while parsing.
const RESULT_CAP: u64 = 512 << 20;
/// Most continuations of a trajectory that are followed.
const CONTINUATIONS: usize = 100;

/// Harbor's results.
#[derive(Debug, Clone, Copy)]
pub struct Harbor;

impl Format for Harbor {
    fn id(&self) -> &'static str {
        "harbor"
    }

    fn name(&self) -> &'static str {
        "Harbor job"
    }

    fn looked_for(&self) -> &'static str {
        "a job folder with config.json, result.json and trial folders, a trial folder, or tasks with harbor_jobs/"
    }

    fn sniff(&self, tree: &Tree, at: &str) -> Sniff {
        match layout::kind(tree, at) {
            Ok(_) => Sniff::Recognized,
            Err((found, closeness)) => Sniff::Not { found, closeness },
        }
    }

    fn survey(&self, tree: &Tree, at: &str, report: &mut Report) -> Survey {
        let Ok(kind) = layout::kind(tree, at) else { return Survey::default() };
        survey(tree, at, kind, report)
    }

    fn reader(&self, tree: &Tree, at: &str) -> Box<dyn PartReader> {
        Box::new(TaskReader::new(tree, at))
    }

    fn planned(&self, tree: &Tree, at: &str, run: &str) -> Option<Vec<Planned>> {
        planned(tree, at, layout::kind(tree, at).ok()?, run)
    }

    fn transcript(&self, tree: &Tree, artifact: &Artifact) -> Result<Transcript, ReadError> {
        let (documents, is_cut) = continued::documents(tree, &artifact.path, NODE_CAP)?;
        let mut transcript = atif::transcript(&documents);
        if is_cut {
            let text =
                "Not shown, because the transcript is too large: the files that continue it".to_owned();
            transcript.steps.push(Step { text, ..Step::new(StepKind::System) });
        }
        Ok(transcript)
    }
}

/// The key of the part that a trial is read in: the name of its task. Trials of one task are read together, because they
/// tell each other's number of steps and repeats; what their folders are called says nothing of that. `head` is asked
/// only where the place does not say the task.
fn part_key(kind: Kind, job: &Job, head: impl FnOnce() -> Head) -> String {
    match (kind, &job.task) {
        (Kind::Tasks | Kind::Task, Some(task)) => {
            Some(file_name(task)).filter(|n| !n.is_empty()).unwrap_or("task").to_owned()
        }
        (Kind::Trial, _) => "trial".to_owned(),
        _ => head().task,
    }
}

fn survey(tree: &Tree, at: &str, kind: Kind, report: &mut Report) -> Survey {
    let jobs = layout::jobs(tree, at, kind);
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
        let prints_cases = job.whole && case_lines::printed(tree, job);
        let mut of_job = BTreeSet::new();
        let mut run_for = |head: &Head, settings: Extra, of_job: &mut BTreeSet<usize>| {
            let key = head.run_key(kind, job, &own.name);
            let run = *run_of_key.entry(key.clone()).or_insert_with(|| {
                runs.push(RunParts {
                    key,
                    head: head.clone(),
                    jobs: BTreeSet::new(),
                    sources: BTreeSet::new(),
                    trials: Vec::new(),
                    agent_settings: AgentSettings::default(),
                });
                runs.len() - 1
            });
            of_job.insert(run);
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
        for trial in layout::trial_folders(tree, at, kind, job) {
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
            let run = run_for(&head, settings, &mut of_job);
            let key = part_key(kind, job, || head.clone());
            let stamp = stamps.remove(&key).unwrap_or_default().number(config).number(prints_cases.into());
            stamps.insert(key.clone(), stamp_of_trial(tree, &trial, &entries, stamp));
            // One for each place in which its task may lie.
            let of_part = heads.entry(key).or_default();
            if !of_part.iter().any(|known| known.task_path == head.task_path) {
                of_part.push(head);
            }
            trials_of_run.push((run, trial));
        }
        if kind != Kind::Trial {
            job::check(job, &own, names.len(), report);
        }
        // A job that has not begun a trial yet is shown by the agents that it names.
        if trials_of_run.is_empty() {
            for head in job_heads(own.config.as_ref()) {
                run_for(&head, Extra::new(), &mut of_job);
            }
        }
        for (run, trial) in trials_of_run {
            runs[run].trials.push(trial);
        }
        runs_of_job.push(of_job);
        files.push(own);
    }
    let alone: Vec<bool> = runs_of_job.iter().map(|runs| runs.len() <= 1).collect();
    let mut out = Survey::default();
    for parts in &runs {
        let mut run = job::run(tree, kind, at, &files, &alone, parts, report);
        if kind == Kind::Tasks {
            not_run(tree, at, &jobs, parts, &mut run, report);
        }
        out.runs.push(run);
    }
    for (key, mut stamp) in stamps {
        let job =
            jobs.iter().find(|j| j.task.as_deref().is_some_and(|t| file_name(t) == key)).or(jobs.first());
        let of_part = heads.get(&key).map_or(&[][..], Vec::as_slice);
        let folders: BTreeSet<String> =
            of_part.iter().filter_map(|head| task::find(tree, job?, head)).collect();
        for folder in folders {
            stamp = task::stamp(tree, &folder, stamp);
        }
        out.parts.push(Part { key, stamp: stamp.finish() });
    }
    out
}

/// The trials that were planned for a run, by task: those that the locks of its jobs list, else every task of its job for every
/// attempt; in the layout of EvoCode-Bench also one of each task that the run has no job of.
fn planned(tree: &Tree, at: &str, kind: Kind, run: &str) -> Option<Vec<Planned>> {
    let mut names = Vec::new();
    let mut played: BTreeSet<String> = BTreeSet::new();
    let mut ids: HashSet<String> = HashSet::new();
    for job in layout::jobs(tree, at, kind).iter().filter(|job| job.whole) {
        let config = JobFiles::read_config(tree, job);
        let name = head::job_name(tree, job, config.as_ref());
        let is_own = |head: &Head| head.run_key(kind, job, &name) == run;
        let locked = job::locked(tree, job).into_iter().filter(is_own).map(|head| head.task);
        let mut of_run: Vec<String> = locked.collect();
        if of_run.is_empty() && kind == Kind::Job {
            of_run = job::planned_by_tasks(tree, at, kind, job, is_own).unwrap_or_default();
        }
        if !of_run.is_empty() {
            played.extend(job.task.clone());
            // What a copy of a job lists is planned once.
            if job::id(tree, job).is_some_and(|id| !ids.insert(id)) {
                continue;
            }
        }
        names.extend(of_run);
    }
    if names.is_empty() {
        return None;
    }
    if kind == Kind::Tasks {
        let missing = layout::tasks(tree, at).into_iter().filter(|task| !played.contains(task));
        names.extend(missing.map(|task| file_name(&task).to_owned()));
    }
    Some(Planned::count(names))
}

/// The agents that a job's configuration names.
fn job_heads(config: Option<&Node>) -> Vec<Head> {
    let agents = config.and_then(|c| c.get("agents")).map_or(&[][..], Node::list);
    agents.iter().map(Head::of_agent).filter(|h| h.agent.is_some()).collect()
}

/// In the layout of EvoCode-Bench every task folder counts, also one that a model was never run on: as 0.
fn not_run(tree: &Tree, at: &str, jobs: &[Job], parts: &RunParts, run: &mut model::Run, report: &mut Report) {
    let ran: BTreeSet<&str> = parts.jobs.iter().filter_map(|i| jobs.get(*i)?.task.as_deref()).collect();
    let mut missing = Vec::new();
    for path in layout::tasks(tree, at) {
        if ran.contains(path.as_str()) {
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
            at,
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
        let of_steps = tree.list(&steps);
        stamp = add(stamp, &steps, &of_steps);
        for step in of_steps.iter().filter(|e| e.is_folder()) {
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

/// Reads the trials of tasks.
struct TaskReader {
    at: String,
    kind: Option<Kind>,
    /// Of the whole place, but not in the layout of EvoCode-Bench: there each task has jobs of its own.
    jobs: Vec<Job>,
    /// Folders of trials, by the key of their part: the number of their job, their path. Told from the trials' own small
    /// files, so only where a part is read at all.
    trials: OnceLock<HashMap<String, Vec<(usize, String)>>>,
}

impl TaskReader {
    fn new(tree: &Tree, at: &str) -> Self {
        let kind = layout::kind(tree, at).ok();
        let jobs = kind
            .filter(|kind| *kind != Kind::Tasks)
            .map(|kind| layout::jobs(tree, at, kind))
            .unwrap_or_default();
        Self { at: at.to_owned(), kind, jobs, trials: OnceLock::new() }
    }
}

/// The folders of jobs that are trials, by the key of their part.
fn trials_by_part(tree: &Tree, at: &str, kind: Kind, jobs: &[Job]) -> HashMap<String, Vec<(usize, String)>> {
    let mut trials: HashMap<String, Vec<(usize, String)>> = HashMap::new();
    for (index, job) in jobs.iter().enumerate() {
        for path in layout::trial_folders(tree, at, kind, job) {
            if layout::holds_trial(&tree.list(&path)) {
                let key = part_key(kind, job, || Head::read(tree, &path, None));
                trials.entry(key).or_default().push((index, path));
            }
        }
    }
    trials
}

impl PartReader for TaskReader {
    fn read(&self, tree: &Tree, part: &Part, report: &mut Report) -> Vec<Reading> {
        let Some(kind) = self.kind else { return Vec::new() };
        if kind == Kind::Tasks {
            let jobs = layout::jobs_of_task(tree, &join(&self.at, &part.key));
            let trials = trials_by_part(tree, &self.at, kind, &jobs);
            read(tree, kind, &jobs, trials.get(&part.key).map_or(&[], Vec::as_slice), report)
        } else {
            let trials = self.trials.get_or_init(|| trials_by_part(tree, &self.at, kind, &self.jobs));
            read(tree, kind, &self.jobs, trials.get(&part.key).map_or(&[], Vec::as_slice), report)
        }
    }
}

/// Reads the trials of a part, `folders` in the order of their jobs.
fn read(
    tree: &Tree,
    kind: Kind,
    jobs: &[Job],
    folders: &[(usize, String)],
    report: &mut Report,
) -> Vec<Reading> {
    let mut trials: Vec<Trial> = Vec::new();
    // Each of them may be as large as a document may.
    let mut left = NODE_CAP;
    for of_job in folders.chunk_by(|a, b| a.0 == b.0) {
        let Some((index, job)) = of_job.first().and_then(|(index, _)| Some((*index, jobs.get(*index)?)))
        else {
            continue;
        };
        let config = JobFiles::read_config(tree, job);
        let name = head::job_name(tree, job, config.as_ref());
        for (_, path) in of_job {
            let mut trial = Trial::load(tree, path, tree.list(path), index, config.as_ref(), report);
            match left.checked_sub(trial.values()) {
                Some(rest) => left = rest,
                None => trial.without_result(report),
            }
            trial.run = trial.head.run_key(kind, job, &name);
            trials.push(trial);
        }
    }
    let tasks = by_task(kind, trials);
    tasks.into_iter().flat_map(|task| read_task(tree, kind, &task.0, jobs, task.1, report)).collect()
}

/// Reads all trials of one task: they tell each other's number of steps, and their order is that of the repeats.
fn read_task(
    tree: &Tree,
    kind: Kind,
    of: &Scenario,
    jobs: &[Job],
    mut trials: Vec<Trial>,
    report: &mut Report,
) -> Vec<Reading> {
    trials.sort_by(|a, b| a.order().cmp(&b.order()));
    let identity = |trial: &Trial| Some((trial.run.clone(), trial.identity.clone()?));
    identity::once_each(&mut trials, identity, Trial::is_snapshot, |trial| trial.path.clone(), report);
    let folder = trials.iter().find_map(|t| task::find(tree, jobs.get(t.job)?, &t.head));
    let task = folder.map(|path| Task::read(tree, &path, report));
    let scenario =
        of.origin.as_ref().map_or_else(|| of.task.clone(), |origin| format!("{origin}/{}", of.task));
    let declared = Steps::read(tree, task.as_ref(), &trials);
    let mut repeats: HashMap<String, u32> = HashMap::new();
    let mut played: Vec<(String, Played)> = Vec::new();
    let mut kept = KeptTests::new();
    // A lock lists every trial of its job: it is read once, and only where an agent's figures depend on the version.
    let mut versions: HashMap<usize, Option<String>> = HashMap::new();
    for trial in &trials {
        let plan = declared.for_trial(task.as_ref(), trial, report);
        let agent = Agent::new(&trial.head, || {
            let read = || job::harbor_version(tree, jobs.get(trial.job)?);
            versions.entry(trial.job).or_insert_with(read).clone()
        });
        let mut result = trial.episode(tree, &scenario, task.as_ref(), &plan, (agent, &mut kept), report);
        let episode = &mut result.episode;
        let repeat = repeats.entry(trial.run.clone()).or_insert(0);
        *repeat += 1;
        episode.repeat = *repeat;
        if let Some(job) = jobs.get(trial.job).filter(|j| j.whole) {
            if matches!(kind, Kind::Tasks | Kind::Task) {
                episode.key = format!("{}/{}/{}", scenario, file_name(&job.path), episode.key);
            }
            let log = join(&job.path, "job.log");
            if layout::is_file(tree, &log) {
                episode.artifacts.push(Artifact::new(ArtifactKind::Log, log));
            }
        }
        played.push((trial.run.clone(), result));
    }
    let path = trials.first().map_or("", |t| t.path.as_str());
    declared.settle(path, played.iter_mut().map(|(_, p)| &mut p.episode), report);
    let of_task = task.as_ref().is_some_and(|t| t.uses_cases) || played.iter().any(|(_, p)| p.cases);
    let mut of_jobs: HashMap<usize, bool> = HashMap::new();
    let mut out = Vec::with_capacity(played.len());
    for (trial, (run, mut played)) in trials.iter().zip(played) {
        let mut of_job = || {
            let job = jobs.get(trial.job).filter(|j| j.whole);
            *of_jobs.entry(trial.job).or_insert_with(|| job.is_some_and(|job| case_lines::printed(tree, job)))
        };
        if !played.bare_turns.is_empty() && (of_task || of_job()) {
            build_failures(&mut played);
        }
        out.push(Reading { run, episode: played.episode });
    }
    out
}

/// The tests print CASE lines and printed none: nothing could be tested.
fn build_failures(played: &mut Played) {
    for turn in &mut played.episode.turns {
        if played.bare_turns.contains(&turn.number)
            && let Some(attempt) = turn.attempts.last_mut()
        {
            attempt.verdict = Verdict::Error;
            attempt.counting = Counting::Share;
            attempt.end_reason = Some(EndReason::BuildFailed);
            // No case ran: that is known, and the case score counts it as 0.
            (attempt.passed, attempt.total) = (Some(0), Some(0));
        }
    }
}
