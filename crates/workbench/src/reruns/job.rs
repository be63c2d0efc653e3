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
        let tree = self.live.tree(record.entry.source, &record.source_path).ok()?;
        view::planned(&tree, &record.entry.format, &record.entry.place, &record.run.key)
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
