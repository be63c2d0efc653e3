//! Runs of `tb`, the first runner of Terminal-Bench (Harbor is the second).
//!
//! ```text
//! <run id>/                     a place: one run
//!   results.json                {results: [trial], accuracy, n_resolved, n_unresolved, pass_at_k}, rewritten after each trial
//!   run_metadata.json tb.lock   what was run, by whom; run.log
//!   <task>/<task>.<attempt>-of-<attempts>.<run id>/     a trial: one episode of one turn with one attempt
//!     results.json              the trial's entry of the run's results.json, written when it ends
//!     panes/{pre-agent,post-agent,post-test}.txt  sessions/  agent-logs/  commands.txt
//! ```
//!
//! A trial is read from its own file, else from its entry in the run's. One that failed in `tb` itself has an entry only; one
//! that has neither is running, or was killed. `is_resolved` decides; `failure_mode` says why it is not `true`
//! ([`crate::attribution`]).

mod files_of_run;
mod layout;
mod run;
mod trial;

use std::collections::BTreeMap;

use files::{ReadError, Stamp, Tree, join};
use model::{Artifact, Transcript, Warning};

use crate::format_trait::{Format, Part, PartReader, PlannedScenario, Reading, Report, Sniff, Survey};
use crate::identity;
use crate::readers::outline::Outline;

use self::files_of_run::{LOCK, METADATA, RESULTS};
use self::layout::Trial;
use self::run::RunFiles;

/// Most values of the results of a task's trials together; each test is one, and takes some 200 bytes.
const VALUES: u64 = 400_000;
/// The warning about a result beyond them.
const TOO_LARGE: &str = "The results of the trials of this task are too large to be in memory together. The verdict of this one is not read.";
/// Bytes that decide the form of a file.
const HEAD: u64 = 64 << 10;

/// Runs of `tb`.
#[derive(Debug, Clone, Copy)]
pub struct TerminalBench;

impl Format for TerminalBench {
    fn id(&self) -> &'static str {
        "terminal-bench"
    }

    fn name(&self) -> &'static str {
        "Terminal-Bench run (tb)"
    }

    fn looked_for(&self) -> &'static str {
        "results.json with trials that are resolved or not, run_metadata.json or tb.lock"
    }

    fn sniff(&self, tree: &Tree, folder: &str) -> Sniff {
        let entries = tree.list(folder);
        let present: Vec<&str> = [RESULTS, METADATA, LOCK]
            .into_iter()
            .filter(|name| entries.iter().any(|e| e.name == *name && !e.is_folder()))
            .collect();
        if present.iter().any(|name| is_of_a_run(tree, folder, name)) {
            return Sniff::Recognized;
        }
        match present.as_slice() {
            [] => Sniff::Not { found: "none".to_owned(), closeness: 0 },
            names => Sniff::Not { found: format!("{} of another form", names.join(", ")), closeness: 8 },
        }
    }

    fn survey(&self, tree: &Tree, folder: &str, report: &mut Report) -> Survey {
        let files = RunFiles::read(tree, folder, report);
        let mut parts: BTreeMap<String, Stamp> = BTreeMap::new();
        for (task, trials) in layout::trials(tree, folder, &files) {
            let run_stamp = Stamp::new().text(files.uuid().unwrap_or_default());
            let stamp = trials.iter().fold(run_stamp, |stamp, trial| trial.stamp(tree, stamp));
            parts.insert(task, stamp);
        }
        let parts = parts.into_iter().map(|(key, stamp)| Part { key, stamp: stamp.finish() }).collect();
        Survey { runs: vec![files.run(tree, folder, report)], parts }
    }

    fn reader(&self, tree: &Tree, folder: &str) -> Box<dyn PartReader> {
        // The survey has warned of what is wrong here.
        let files = RunFiles::read(tree, folder, &mut Report::default());
        let log = join(folder, "run.log");
        Box::new(TaskReader {
            run: files.key(tree, folder),
            run_facts: trial::RunFacts {
                uuid: files.uuid().map(str::to_owned),
                log: tree.entry(&log).filter(|entry| !entry.is_folder()).map(|_| log),
            },
            trials: layout::trials(tree, folder, &files),
        })
    }

    fn planned(&self, tree: &Tree, folder: &str, _: &str) -> Option<Vec<PlannedScenario>> {
        let files = RunFiles::read(tree, folder, &mut Report::default());
        let (tasks, episodes) = (files.task_ids(), files.attempts()?);
        let planned = tasks.iter().map(|task| PlannedScenario { scenario: (*task).to_owned(), episodes });
        Some(planned.collect()).filter(|planned: &Vec<_>| !planned.is_empty())
    }

    fn transcript(&self, _: &Tree, _: &Artifact) -> Result<Transcript, ReadError> {
        Err(ReadError::Malformed {
            code: "transcript.none",
            message: "tb keeps no transcripts of one form; the agent's own logs are listed with its logs"
                .to_owned(),
        })
    }
}

/// Whether a file is what its name says in a run of `tb`.
fn is_of_a_run(tree: &Tree, folder: &str, name: &str) -> bool {
    let Some(outline) = tree
        .read_range(&join(folder, name), 0, HEAD)
        .ok()
        .and_then(|(bytes, _)| Outline::from_beginning(&bytes))
    else {
        return false;
    };
    let text = |way: &[&str]| outline.descendant(way).is_some_and(|value| value.text().is_some());
    let is_present = |way: &[&str]| outline.descendant(way).is_some();
    match name {
        RESULTS => text(&["results", "[]", "task_id"]) && is_present(&["results", "[]", "is_resolved"]),
        METADATA => {
            let dataset = ["dataset_name", "dataset_path", "dataset_size"];
            text(&["run_id"]) && text(&["agent_name"]) && dataset.iter().any(|name| is_present(&[name]))
        }
        _ => is_present(&["dataset", "task_ids"]) && text(&["agent", "name"]) && is_present(&["run_config"]),
    }
}

/// Reads the trials of tasks.
struct TaskReader {
    run: String,
    run_facts: trial::RunFacts,
    trials: BTreeMap<String, Vec<Trial>>,
}

impl PartReader for TaskReader {
    fn read(&self, tree: &Tree, part: &Part, report: &mut Report) -> Vec<Reading> {
        let trials = self.trials.get(&part.key).map_or(&[][..], Vec::as_slice);
        let mut left = VALUES;
        let mut read: Vec<ParsedTrial> = trials
            .iter()
            .map(|trial| {
                let result = trial.result(tree, report).filter(|result| {
                    let rest = left.checked_sub(result.values());
                    left = rest.unwrap_or(left);
                    if rest.is_none() {
                        report.warn(Warning::skipped(trial.place(), "file.too_large", TOO_LARGE));
                    }
                    rest.is_some()
                });
                let episode = trial::episode(tree, trial, result.as_ref(), &self.run_facts, report);
                let identity = episode.identity.clone().or_else(|| trial::name_in_result(result.as_ref()));
                ParsedTrial { order: trial.order(result.as_ref()), place: trial.place(), identity, episode }
            })
            .collect();
        read.sort_by(|a, b| a.order.cmp(&b.order));
        let identity = |read: &ParsedTrial| Some((String::new(), read.identity.clone()?));
        let is_snapshot = |read: &ParsedTrial| trial::is_snapshot(&read.episode);
        identity::remove_copies(&mut read, identity, is_snapshot, |read| read.place.clone(), report);
        let numbered = read.into_iter().zip(1..).map(|(ParsedTrial { mut episode, .. }, repeat)| {
            episode.repeat = repeat;
            Reading { run: self.run.clone(), episode }
        });
        numbered.collect()
    }
}

/// A trial that was read.
struct ParsedTrial {
    order: layout::Order,
    /// Where it is, for warnings.
    place: String,
    /// What its copies within the run have in common.
    identity: Option<String>,
    episode: model::Episode,
}
