//! Scores of runs that are taken together are over the episodes that count: what counts in another run, or is withdrawn there, is
//! in no score twice, and parts of one job have one score.

use std::collections::HashMap;

use model::CensoringPolicy;
use store::{EpisodeEntry, RunId, Store};

use super::coverage::is_one_job;
use super::pool::PooledRun;
use crate::api::ApiError;
use crate::episodes::scores;
use crate::rounds;
use crate::undeclared_turns::{doubt_about_turns, is_about_scores};

/// Gives these runs the scores of what counts of them. Those of a job that lies in several of them stand with the first one.
pub(super) fn fill<'a>(store: &Store, runs: impl Iterator<Item = &'a mut PooledRun>) -> Result<(), ApiError> {
    let mut jobs: Vec<Vec<&'a mut PooledRun>> = Vec::new();
    // By the id of a job, where in `jobs` its agents are.
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for run in runs.filter(|run| !run.is_copy()) {
        let Some(job) = run.record.entry.job.clone() else {
            jobs.push(vec![run]);
            continue;
        };
        let places = places.entry(job).or_default();
        let is_of = |index: &usize| {
            jobs[*index].first().is_some_and(|first| is_one_job(&first.record.entry, &run.record.entry))
        };
        let place = places.iter().copied().find(is_of);
        match place {
            Some(index) => jobs[index].push(run),
            None => {
                places.push(jobs.len());
                jobs.push(vec![run]);
            }
        }
    }
    jobs.retain(|job| job.len() > 1 || job.iter().any(|run| run.has_copies()));
    if jobs.is_empty() {
        return Ok(());
    }
    let policy = store.get_policy()?;
    let mut gaps = rounds::Gaps::new(store);
    for mut job in jobs {
        let ids: Vec<RunId> = job.iter().map(|run| run.record.entry.id).collect();
        let episodes: Vec<EpisodeEntry> = job.iter().flat_map(|run| run.episodes.iter().cloned()).collect();
        let Some((first, others)) = job.split_first_mut() else { continue };
        fill_one(store, &policy, first, &ids, &episodes)?;
        gaps.fill(&mut first.record.entry)?;
        for other in others {
            other.is_scored_elsewhere = true;
        }
    }
    Ok(())
}

/// Gives a run the scores of these episodes, which are of several runs.
fn fill_one(
    store: &Store,
    policy: &CensoringPolicy,
    run: &mut PooledRun,
    ids: &[RunId],
    episodes: &[EpisodeEntry],
) -> Result<(), ApiError> {
    let scores = scores(&run.record, episodes, policy);
    let rounds = rounds::scores_of_parts(store, &run.record, ids, episodes)?;
    if let Some(summary) = &mut run.record.entry.summary {
        summary.score = scores.score;
        summary.dataset_score = scores.dataset;
        summary.case_score = scores.case;
        summary.perfect = scores.perfect;
        summary.rounds = rounds;
        summary.doubts.retain(|doubt| !is_about_scores(doubt));
        let about_turns = doubt_about_turns(store, ids, &run.record.entry.format, summary)?;
        summary.doubts.extend(about_turns);
    }
    Ok(())
}
