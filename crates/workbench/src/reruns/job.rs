//! What was planned for a run and what is there of it, where its job lies in several sources: what one of them lacks, another may
//! have or name.

use std::collections::{BTreeMap, HashSet};

use ingest::format_trait::PlannedScenario;
use ingest::view;
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

/// How many episodes of a run's job are there and not kept, in whichever of its runs.
pub(super) fn not_kept(run: &RunEntry, others: &[RunEntry]) -> u32 {
    others.iter().fold(run.episodes_not_kept, |sum, other| sum.saturating_add(other.episodes_not_kept))
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
    use model::{Benchmark, Episode, Run};
    use store::{JOB_ID, OmittedCounts, ParsedPart};

    use super::*;
    use crate::Options;
    use crate::api::RerunRequest;

    /// Of four trials two are in one source, one in the other, which keeps no room for the last. "1 trial more planned and not
    /// there" stood over the first source.
    #[test]
    fn what_another_source_of_the_job_has_and_does_not_keep_is_not_missing() {
        let folder = tempfile::tempdir().unwrap();
        let db = Some(folder.path().join("library.sqlite"));
        let workbench = Workbench::open(Options { db, ..Options::default() }).unwrap();
        let benchmark = Benchmark { key: "harbor:b".into(), name: "B".into() };
        for (name, tasks, left_out) in [("one", &["a", "b"][..], 0), ("other", &["c"][..], 1)] {
            let path = folder.path().join(name);
            let source = workbench.store.put_source(path.to_str().unwrap(), name, false).unwrap();
            let mut run = Run { planned_episodes: Some(4), ..Run::unknown("job/agent", benchmark.clone()) };
            run.extra.insert(JOB_ID.to_owned(), "the-job".into());
            workbench.store.put_runs(source, "", "harbor", &[run]).unwrap();
            let episodes: Vec<(String, Episode)> =
                tasks.iter().map(|task| ("job/agent".to_owned(), Episode::new(*task, *task))).collect();
            let part = ParsedPart {
                place: "",
                key: "p",
                stamp: 1,
                episodes: &episodes,
                warnings: &[],
                files_read: 1,
            };
            let mut not_kept = OmittedCounts::default();
            if left_out > 0 {
                not_kept.episodes.insert("job/agent".to_owned(), left_out);
            }
            workbench.store.put_part_with(source, &part, &not_kept).unwrap();
        }
        for run in workbench.store.runs_of_job("the-job").unwrap() {
            let request = RerunRequest { run: run.slug.clone(), ..RerunRequest::default() };
            assert_eq!(workbench.list_reruns(request).unwrap().unnamed, 0, "{}", run.slug);
        }
    }
}
