//! MT@k and Comp of a run: where they apply, and of which rewards.

use std::collections::{BTreeMap, HashMap};

use analysis::rounds::{TaskRewards, comp, mt_at_k};
use model::RoundScores;
use store::{EpisodeEntry, EpisodeId, RunRecord, Store};

use crate::api::ApiError;
use crate::summary::{grades_turns, of_one_turn};

/// Most tries for which MT@k is given.
const MOST_TRIES: usize = 100;

/// The scores of a run whose trials are independent of each other. They do not apply (`None`)
/// - where turns are not graded by themselves, or tasks have one turn (pass@k says it then);
/// - where a turn was tried again: those tries began from what the one before left;
/// - where trials begin from what another trial left (Harbor's fork names them `…__mr-…`);
/// - where the source counts tasks that it does not describe, or a task does not say how many turns it has.
pub(crate) fn scores(
    store: &Store,
    record: &RunRecord,
    episodes: &[EpisodeEntry],
) -> Result<Option<RoundScores>, ApiError> {
    let is_independent =
        |episode: &EpisodeEntry| episode.attempts <= episode.reached_turns && !episode.key.contains("__mr-");
    let applies = grades_turns(record)
        && !episodes.is_empty()
        && !of_one_turn(episodes)
        && record.run.reported.totals_only.is_empty()
        && episodes.iter().all(|episode| is_independent(episode) && episode.planned_turns.is_some());
    if !applies {
        return Ok(None);
    }
    let mut rewards: HashMap<(EpisodeId, u32), f64> = HashMap::new();
    for (episode, turn, reward) in store.final_rewards(record.entry.id)? {
        rewards.insert((episode, turn), reward);
    }
    let mut by_task: BTreeMap<&str, Vec<&EpisodeEntry>> = BTreeMap::new();
    for episode in episodes {
        by_task.entry(episode.scenario.as_str()).or_default().push(episode);
    }
    let tasks: Vec<TaskRewards> = by_task
        .into_values()
        .map(|mut trials| {
            trials.sort_by_key(|trial| trial.repeat);
            let rounds = trials.iter().filter_map(|trial| trial.planned_turns).max().unwrap_or(0);
            let of_trial = |trial: &&EpisodeEntry| {
                (1..=rounds).map(|turn| rewards.get(&(trial.id, turn)).copied()).collect()
            };
            TaskRewards { rounds, attempts: trials.iter().map(of_trial).collect() }
        })
        .collect();
    let most = tasks.iter().map(|task| task.attempts.len()).min().unwrap_or(0).min(MOST_TRIES);
    let mt_at_k: Option<Vec<f64>> = (1..=most).map(|k| mt_at_k(&tasks, k)).collect();
    Ok(mt_at_k.zip(comp(&tasks)).map(|(mt_at_k, comp)| RoundScores { mt_at_k, comp }))
}
