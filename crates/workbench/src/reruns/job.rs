//! What was planned for a run and what is there of it, where its job lies in several sources: what one of them lacks, another may
//! have or name.

use std::collections::{BTreeMap, HashSet};

use ingest::format_trait::PlannedScenario;
use ingest::view;
use model::runs_in_words;
use serde_json::Value;
use store::{EpisodeEntry, EpisodeId, RunEntry, RunId, RunRecord};

use super::{Runner, last_part};
use crate::Workbench;
use crate::api::ApiError;
use crate::compare::coverage::is_one_job;

/// More planned trials are counted and not named: each is a line of a list, and a folder may state any number.
const MOST_NAMED: u64 = 100_000;

impl Workbench {
    /// The other runs of a run's job.
    pub(super) fn others_of_job(&self, record: &RunRecord) -> Result<Vec<RunEntry>, ApiError> {
        let Some(job) = &record.entry.job else { return Ok(Vec::new()) };
        let mut runs = self.store.runs_of_job(job)?;
        runs.retain(|run| run.id != record.entry.id && is_one_job(run, &record.entry));
        Ok(runs)
    }

    /// The episodes of a run and those of the other runs of its job. Each trial is there once.
    pub(super) fn present_of_job(
        &self,
        run: RunId,
        own: &[EpisodeEntry],
        others: &[RunEntry],
    ) -> Result<Vec<EpisodeEntry>, ApiError> {
        let mut runs = vec![run];
        runs.extend(others.iter().map(|other| other.id));
        let mut episodes = own.to_vec();
        for other in &runs[1..] {
            episodes.extend(self.store.all_episodes(*other)?);
        }
        let copies = self.store.copies_among(&runs)?.into_iter();
        let mut copies: HashSet<EpisodeId> =
            copies.filter(|copy| runs.contains(&copy.counted_run)).map(|copy| copy.episode).collect();
        // A trial that is withdrawn in two parts of the job is one.
        let mut withdrawn = HashSet::new();
        for run in &runs {
            let trials = self.store.withdrawn_trials(*run)?;
            copies.extend(
                trials.into_iter().filter(|(_, trial)| !withdrawn.insert(trial.clone())).map(|(id, _)| id),
            );
        }
        episodes.retain(|episode| !copies.contains(&episode.id));
        Ok(episodes)
    }

    /// What the source of a run says was planned, else what that of another run of its job says, else what their trials show
    /// together. `present` are the episodes of all of them.
    pub(super) fn planned(
        &self,
        record: &RunRecord,
        others: &[RunEntry],
        present: &[EpisodeEntry],
    ) -> Result<Option<Vec<PlannedScenario>>, ApiError> {
        if let Some(planned) = self.planned_in_source(record) {
            return Ok(Some(planned));
        }
        for other in others {
            if let Some(other) = self.store.run(&other.slug)?
                && let Some(planned) = self.planned_in_source(&other)
            {
                return Ok(Some(planned));
            }
        }
        let is_in_parts = !others.is_empty() && Runner::from_record(record) == Runner::Harbor;
        Ok(if is_in_parts { planned_by_tasks(record, present) } else { None })
    }

    /// What the source says was planned; nothing where it is not there any more.
    fn planned_in_source(&self, record: &RunRecord) -> Option<Vec<PlannedScenario>> {
        let tree = self.opened_sources.tree(record.entry.source, &record.source_path).ok()?;
        view::planned(&tree, &record.entry.format, &record.entry.place, &record.run.key)
    }
}

/// How many trials of a run's job are there, kept or not.
pub(super) struct PresentTrials {
    /// So many at least.
    pub(super) least: u32,
    /// So many more may be there: what one run does not keep may be a trial that another one keeps.
    uncertain: u32,
    /// The runs that do not keep these.
    runs: Vec<String>,
}

impl PresentTrials {
    /// `own` and `present` are the numbers of trials that are kept of the run, and of all runs of its job.
    pub(super) fn count(run: &RunEntry, others: &[RunEntry], own: usize, present: usize) -> Self {
        let [own, present] = [own, present].map(|kept| u32::try_from(kept).unwrap_or(u32::MAX));
        // None of them is a trial that the run itself keeps.
        let least = present.max(own.saturating_add(run.episodes_not_kept));
        let add = |sum: u32, run: &RunEntry| sum.saturating_add(run.episodes_not_kept);
        let most = others.iter().fold(add(present, run), add);
        let is_own_uncertain = present > own;
        let runs = Some(run).filter(|_| is_own_uncertain).into_iter().chain(others);
        let runs = runs.filter(|run| run.episodes_not_kept > 0).map(|run| run.slug.clone()).collect();
        Self { least, uncertain: most.saturating_sub(least), runs }
    }

    /// Where trials that are said to be missing may be after all; `None` = nowhere.
    pub(super) fn doubt_about(&self, missing: u32) -> Option<String> {
        let number = self.uncertain.min(missing);
        let verb = if self.runs.len() == 1 { "does" } else { "do" };
        let runs = runs_in_words(&self.runs);
        (number > 0).then(|| format!("up to {number} of these may be in {runs}, which {verb} not keep them"))
    }
}

/// Every task of a Harbor job for every attempt, where that gives as many trials as were planned: then some trial of each task is
/// in one of the parts. `None` = tasks are missing that nothing names.
fn planned_by_tasks(record: &RunRecord, present: &[EpisodeEntry]) -> Option<Vec<PlannedScenario>> {
    // Harbor writes what is not its default, which is one.
    let attempts = record.run.settings.get("n_attempts").map_or(Some(1), Value::as_u64)?;
    // By the last part of the name: a part may know its task by more of it than another one.
    let tasks: BTreeMap<&str, &str> =
        present.iter().map(|episode| (last_part(&episode.scenario), episode.scenario.as_str())).collect();
    let all = (tasks.len() as u64).checked_mul(attempts).filter(|all| *all <= MOST_NAMED)?;
    let episodes = u32::try_from(attempts).ok()?;
    let scenarios = tasks.into_values().map(|task| PlannedScenario { scenario: task.to_owned(), episodes });
    (record.run.planned_episodes.map(u64::from) == Some(all)).then(|| scenarios.collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use model::{Benchmark, Episode, Run};
    use store::{JOB_ID, OmittedCounts, ParsedPart};

    use super::*;
    use crate::Options;
    use crate::api::RerunRequest;

    /// A library of sources of one job of four trials, two of each task: of each source its name, its trials, and how many it does
    /// not keep.
    fn library(folder: &Path, sources: &[(&str, &[&str], u32)]) -> Arc<Workbench> {
        let db = Some(folder.join("library.sqlite"));
        let workbench = Workbench::open(Options { db, ..Options::default() }).unwrap();
        let benchmark = Benchmark { key: "harbor:b".into(), name: "B".into() };
        for (name, trials, left_out) in sources {
            let path = folder.join(name);
            let source = workbench.store.put_source(path.to_str().unwrap(), name, false).unwrap();
            let mut run = Run { planned_episodes: Some(4), ..Run::unknown("job/agent", benchmark.clone()) };
            run.extra.insert(JOB_ID.to_owned(), "the-job".into());
            run.settings.insert("n_attempts".to_owned(), 2.into());
            workbench.store.put_runs(source, "", "harbor", &[run]).unwrap();
            let episode = |trial: &&str| {
                let task = trial.split('_').next().unwrap();
                let identity = Some(format!("id-{trial}"));
                ("job/agent".to_owned(), Episode { identity, ..Episode::new(*trial, task) })
            };
            let episodes: Vec<(String, Episode)> = trials.iter().map(episode).collect();
            let part = ParsedPart {
                place: "",
                key: "p",
                stamp: 1,
                episodes: &episodes,
                warnings: &[],
                files_read: 1,
            };
            let mut not_kept = OmittedCounts::default();
            if *left_out > 0 {
                not_kept.episodes.insert("job/agent".to_owned(), *left_out);
            }
            workbench.store.put_part_with(source, &part, &not_kept).unwrap();
        }
        workbench.store.settle_identities().unwrap();
        workbench
    }

    /// What is missing of each run: the tasks, how many more, and the text. In the order of their ids.
    fn missing(workbench: &Workbench) -> Vec<(Vec<String>, u32, String)> {
        let mut runs: Vec<String> =
            workbench.store.runs_of_job("the-job").unwrap().into_iter().map(|run| run.slug).collect();
        runs.sort();
        let list = |run: String| {
            let request = RerunRequest { run, missing: true, ..RerunRequest::default() };
            let list = workbench.list_reruns(request).unwrap();
            (list.trials.into_iter().map(|trial| trial.task).collect(), list.unnamed, list.text)
        };
        runs.into_iter().map(list).collect()
    }

    /// Of four trials two are in one source, one in the other, which does not keep a further one. It may be the fourth, or
    /// a copy of one of the first two.
    #[test]
    fn what_another_source_of_the_job_does_not_keep_may_be_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let workbench =
            library(folder.path(), &[("one", &["a_1", "b_1"][..], 0), ("other", &["c_1"][..], 1)]);
        for (tasks, unnamed, text) in missing(&workbench) {
            assert_eq!((tasks.len(), unnamed), (0, 1), "{text}");
            let doubt = text.lines().find(|line| line.starts_with("up to 1 of these may be in other"));
            assert!(doubt.is_some_and(|doubt| doubt.ends_with(", which does not keep them")), "{text}");
        }
    }

    /// The second source is a copy of the first and does not keep one of its trials. The trial that is in neither was in no list.
    #[test]
    fn what_a_copy_does_not_keep_hides_no_missing_trial() {
        let folder = tempfile::tempdir().unwrap();
        let kept: &[&str] = &["a_1", "a_2", "b_1"];
        let workbench = library(folder.path(), &[("one", kept, 0), ("other", &kept[..2], 1)]);
        let found = missing(&workbench);
        let [(tasks, unnamed, text), (no_tasks, number, other_text)] = &found[..] else {
            panic!("two runs: {found:?}")
        };
        assert_eq!((tasks.as_slice(), *unnamed), (&["b".to_owned()][..], 0), "{text}");
        assert_eq!((no_tasks.len(), *number), (0, 1), "{other_text}");
        for text in [text, other_text] {
            assert!(text.contains("\nup to 1 of these may be in other"), "{text}");
        }
    }

    /// What the only source of a job does not keep is there, and each is another one than those that it keeps.
    #[test]
    fn what_the_only_source_does_not_keep_is_not_missing() {
        let folder = tempfile::tempdir().unwrap();
        let workbench = library(folder.path(), &[("one", &["a_1", "a_2", "b_1"][..], 1)]);
        let found = missing(&workbench);
        let [(tasks, unnamed, text)] = &found[..] else { panic!("one run: {found:?}") };
        assert_eq!((tasks.len(), *unnamed), (0, 0), "{text}");
        assert!(!text.contains("up to"), "{text}");
    }
}
