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
//! 4. the most steps that any trial of the task began, by its result, else by its log or folders; then
//!    `episode.extra.declared_steps` says `unknown, at least N`, and scores over all declared steps are upper bounds.
//!    If no trial began anything, the number is not even planned ([`steps`]).
//!
//! A step's states: passed; failed (graded, with tests); build failed (graded 0 without a single CASE line, by tests
//! that print CASE lines, see [`case_lines`]; verdict `error`); error (an exception and no grade); failed with an exception (the agent ran
//! out of time and was graded); not reached; in flight (`unfinished`: canceled, killed or running). The end reason of
//! an exception is derived from its type and by when it came ([`exception`], [`crate::attribution`]).

mod accounting;
mod agent_settings;
mod agent_version;
mod case_lines;
mod continued;
mod copied;
mod exception;
mod gradings;
mod grouping;
mod head;
mod job;
mod job_files;
mod layout;
mod limits;
mod no_verifier;
mod resumed;
mod reward;
pub(super) mod settings;
mod step;
mod step_log;
mod step_plan;
mod step_tests;
mod steps;
mod survey;
mod task;
mod trial;
mod trial_episode;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::OnceLock;

use model::{Artifact, ArtifactKind, Counting, EndReason, Step, StepKind, Transcript, Verdict};

use crate::format_trait::{Format, Part, PartReader, PlannedScenario, Reading, Report, Sniff, Survey};
use crate::identity;
use crate::readers::atif;
use crate::readers::json::NODE_CAP;
use crate::readers::kept_tests::KeptTests;
use files::{ReadError, Tree, file_name, join};

use self::accounting::Agent;
use self::grouping::{Scenario, by_task};
use self::head::Head;
use self::job_files::JobFiles;
use self::layout::{Job, Kind};
pub(in crate::formats) use self::step_tests::take_cases;
use self::steps::Steps;
use self::survey::part_key;
use self::task::Task;
use self::trial::Trial;
use self::trial_episode::TrialEpisode;

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

    fn sniff(&self, tree: &Tree, folder: &str) -> Sniff {
        match layout::kind(tree, folder) {
            Ok(_) => Sniff::Recognized,
            Err((found, closeness)) => Sniff::Not { found, closeness },
        }
    }

    fn survey(&self, tree: &Tree, folder: &str, report: &mut Report) -> Survey {
        let Ok(kind) = layout::kind(tree, folder) else { return Survey::default() };
        survey::survey(tree, folder, kind, report)
    }

    fn reader(&self, tree: &Tree, folder: &str) -> Box<dyn PartReader> {
        Box::new(TaskReader::new(tree, folder))
    }

    fn planned(&self, tree: &Tree, folder: &str, run: &str) -> Option<Vec<PlannedScenario>> {
        survey::planned(tree, folder, layout::kind(tree, folder).ok()?, run)
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

/// Reads the trials of tasks.
struct TaskReader {
    place: String,
    kind: Option<Kind>,
    /// Of the whole place, but not in the layout of EvoCode-Bench: there each task has jobs of its own.
    jobs: Vec<Job>,
    /// Folders of trials, by the key of their part: the number of their job, their path. Known from the trials' own small
    /// files, so only where a part is read at all.
    trials: OnceLock<HashMap<String, Vec<(usize, String)>>>,
}

impl TaskReader {
    fn new(tree: &Tree, folder: &str) -> Self {
        let kind = layout::kind(tree, folder).ok();
        let jobs = kind
            .filter(|kind| *kind != Kind::Tasks)
            .map(|kind| layout::jobs(tree, folder, kind))
            .unwrap_or_default();
        Self { place: folder.to_owned(), kind, jobs, trials: OnceLock::new() }
    }
}

/// The folders of jobs that are trials, by the key of their part.
fn trials_by_part(
    tree: &Tree,
    folder: &str,
    kind: Kind,
    jobs: &[Job],
) -> HashMap<String, Vec<(usize, String)>> {
    let mut trials: HashMap<String, Vec<(usize, String)>> = HashMap::new();
    for (index, job) in jobs.iter().enumerate() {
        for path in layout::trial_folders(tree, folder, kind, job) {
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
            let jobs = layout::jobs_of_task(tree, &join(&self.place, &part.key));
            let trials = trials_by_part(tree, &self.place, kind, &jobs);
            read(tree, kind, &jobs, trials.get(&part.key).map_or(&[], Vec::as_slice), report)
        } else {
            let trials = self.trials.get_or_init(|| trials_by_part(tree, &self.place, kind, &self.jobs));
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
    for job_folders in folders.chunk_by(|a, b| a.0 == b.0) {
        let Some((index, job)) = job_folders.first().and_then(|(index, _)| Some((*index, jobs.get(*index)?)))
        else {
            continue;
        };
        let config = JobFiles::read_config(tree, job);
        let name = head::job_name(tree, job, config.as_ref());
        for (_, path) in job_folders {
            let mut trial = Trial::load(tree, path, tree.list(path), index, config.as_ref(), report);
            match left.checked_sub(trial.values()) {
                Some(rest) => left = rest,
                None => trial.drop_result(report),
            }
            trial.run = trial.head.run_key(kind, job, &name);
            trials.push(trial);
        }
    }
    let tasks = by_task(kind, trials);
    tasks.into_iter().flat_map(|task| read_task(tree, kind, &task.0, jobs, task.1, report)).collect()
}

/// Reads all trials of one task: each shows the others' number of steps, and their order is that of the repeats.
fn read_task(
    tree: &Tree,
    kind: Kind,
    scenario_key: &Scenario,
    jobs: &[Job],
    mut trials: Vec<Trial>,
    report: &mut Report,
) -> Vec<Reading> {
    trials.sort_by(|a, b| a.order().cmp(&b.order()));
    copied::identify(tree, jobs, &mut trials);
    let identity = |trial: &Trial| Some(copied::identity_in_job(trial));
    identity::remove_copies(&mut trials, identity, Trial::is_snapshot, |trial| trial.path.clone(), report);
    let folder = trials.iter().find_map(|t| task::find(tree, jobs.get(t.job)?, &t.head));
    let task = folder.map(|path| Task::read(tree, &path, report));
    let scenario = scenario_key
        .origin
        .as_ref()
        .map_or_else(|| scenario_key.task.clone(), |origin| format!("{origin}/{}", scenario_key.task));
    let declared = Steps::read(tree, task.as_ref(), &trials, jobs);
    let mut trial_episodes: Vec<(&Trial, TrialEpisode)> = Vec::new();
    // Where only names distinguish trials, copies may have another one in their files.
    let mut contents: HashMap<(&str, String), &str> = HashMap::new();
    let mut kept = KeptTests::new();
    // A lock lists every trial of its job: it is read once, and only where an agent's figures depend on the version.
    let mut versions: HashMap<usize, Option<String>> = HashMap::new();
    for trial in &trials {
        let plan = declared.trial_plan(task.as_ref(), trial, report);
        let agent = Agent::new(&trial.head, || {
            let read = || job_files::harbor_version(tree, jobs.get(trial.job)?);
            versions.entry(trial.job).or_insert_with(read).clone()
        });
        let mut result = trial.episode(tree, &scenario, task.as_ref(), &plan, (agent, &mut kept), report);
        let episode = &mut result.episode;
        if let Some(contents_identity) = identity::from_contents(episode).filter(|_| trial.known_by_name) {
            match contents.entry((trial.run.as_str(), contents_identity)) {
                Entry::Occupied(first) => {
                    report.warn(identity::copied(trial.path.clone(), first.get()));
                    continue;
                }
                Entry::Vacant(entry) => {
                    entry.insert(&trial.path);
                }
            }
        }
        if let Some(job) = jobs.get(trial.job).filter(|j| j.whole) {
            if matches!(kind, Kind::Tasks | Kind::Task) {
                episode.key = format!("{}/{}/{}", scenario, file_name(&job.path), episode.key);
            }
            let log = join(&job.path, "job.log");
            if layout::is_file(tree, &log) {
                episode.artifacts.push(Artifact::new(ArtifactKind::Log, log));
            }
        }
        trial_episodes.push((trial, result));
    }
    gradings::keep_last(&mut trial_episodes, report);
    let mut repeats: HashMap<&str, u32> = HashMap::new();
    for (trial, trial_episode) in &mut trial_episodes {
        let repeat = repeats.entry(&trial.run).or_insert(0);
        *repeat += 1;
        trial_episode.episode.repeat = *repeat;
    }
    let path = trials.first().map_or("", |t| t.path.as_str());
    declared.note_in_episodes(path, trial_episodes.iter_mut().map(|(_, p)| &mut p.episode), report);
    let task_has_cases =
        task.as_ref().is_some_and(|t| t.uses_cases) || trial_episodes.iter().any(|(_, p)| p.cases);
    let mut jobs_with_cases: HashMap<usize, bool> = HashMap::new();
    let mut out = Vec::with_capacity(trial_episodes.len());
    for (trial, mut trial_episode) in trial_episodes {
        let mut job_has_cases = || {
            let job = jobs.get(trial.job).filter(|j| j.whole);
            *jobs_with_cases
                .entry(trial.job)
                .or_insert_with(|| job.is_some_and(|job| case_lines::has_case_lines(tree, job)))
        };
        if !trial_episode.bare_turns.is_empty() && (task_has_cases || job_has_cases()) {
            build_failures(&mut trial_episode);
        }
        out.push(Reading { run: trial.run.clone(), episode: trial_episode.episode });
    }
    out
}

/// The tests print CASE lines and printed none: nothing could be tested.
fn build_failures(trial_episode: &mut TrialEpisode) {
    for turn in &mut trial_episode.episode.turns {
        if trial_episode.bare_turns.contains(&turn.number)
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
