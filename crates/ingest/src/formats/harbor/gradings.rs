//! Gradings of one trial (`harbor job regrade`) in one run: in the layout of EvoCode-Bench the jobs of a model are one run. There the
//! last grading that came to a verdict counts. Of gradings in several runs the store says which one counts.

use std::collections::{HashMap, HashSet};

use files::{Tree, join};
use model::{EndReason, Warning};
use serde::Deserialize;

use super::head;
use super::limits::{CONFIG_CAP, RESULT_CAP};
use super::trial::Trial;
use super::trial_episode::TrialEpisode;
use crate::format_trait::Report;
use crate::identity;
use crate::readers::clock;
use crate::readers::json::{Node, Object};

/// The most gradings of gradings that are followed. Results that name each other in a circle have no first one.
const MOST_GRADINGS: usize = 20;

/// Leaves out all gradings of a trial in one run but the one that counts, with a warning, and gives that one the identity of the
/// trial that was played, also where it graded another grading.
pub(super) fn keep_last(episodes: &mut Vec<(&Trial, TrialEpisode)>, report: &mut Report) {
    if episodes.iter().all(|(trial, _)| trial.graded_source.is_none()) {
        return;
    }
    let sources: HashMap<String, String> = episodes
        .iter()
        .filter_map(|(trial, _)| Some((trial.text("id")?.to_owned(), trial.graded_source.clone()?)))
        .collect();
    // Which of them counts, by its index.
    let mut counted: HashMap<(String, String), usize> = HashMap::new();
    let mut gradings: Vec<Option<(String, String)>> = Vec::with_capacity(episodes.len());
    for (index, (trial, _)) in episodes.iter().enumerate() {
        let grading = first(trial, &sources).map(|first| (trial.run.clone(), first));
        if let Some(grading) = &grading {
            let known = counted.entry(grading.clone()).or_insert(index);
            if rank(&episodes[index]) < rank(&episodes[*known]) {
                *known = index;
            }
        }
        gradings.push(grading);
    }
    let paths: HashMap<usize, String> =
        counted.values().map(|index| (*index, episodes[*index].0.path.clone())).collect();
    let mut gradings = gradings.into_iter().enumerate();
    episodes.retain_mut(|(trial, own)| {
        let Some((index, Some(grading))) = gradings.next() else { return true };
        let Some(other) = counted.get(&grading).filter(|counted| **counted != index) else {
            if trial.graded_source.is_some() {
                own.episode.identity = Some(identity::from_result_id(&grading.1));
            }
            return true;
        };
        let place = paths.get(other).map_or("another one", String::as_str);
        let message =
            format!("It is another grading of the trial of {place}, which counts. This one is left out.");
        report.warn(Warning::skipped(trial.path.clone(), "part.duplicate", message));
        false
    });
}

/// The id of the trial that was played; `None` = the trial has no result that says its own.
fn first(trial: &Trial, sources: &HashMap<String, String>) -> Option<String> {
    let mut first = trial.graded_source.as_deref().or_else(|| trial.text("id"))?;
    for _ in 0..MOST_GRADINGS {
        let Some(before) = sources.get(first) else { break };
        first = before;
    }
    Some(first.to_owned())
}

/// Which grading of a trial counts, as the store says it for several runs: one that no resume can continue, then the last one
/// with a verdict. The lesser, the better.
fn rank((trial, trial_episode): &(&Trial, TrialEpisode)) -> (bool, i64) {
    let reason = trial_episode.episode.end().1;
    let is_open = trial.damaged
        || matches!(
            reason,
            EndReason::Unfinished
                | EndReason::Endpoint
                | EndReason::Environment
                | EndReason::Budget
                | EndReason::Cancelled
        );
    let has_verdict = !matches!(reason, EndReason::VerifierError | EndReason::NoVerdict);
    let ended = trial.text("finished_at").and_then(clock::micros).unwrap_or(0);
    (is_open, if trial.graded_source.is_some() && has_verdict { -1 - ended } else { 0 })
}

/// Those of the `regraded` trials of a run that grade another one of its `trials`, or one that another of them graded, too: they
/// are no further trials that were planned.
pub(super) fn extra_gradings<'a>(tree: &Tree, trials: &[String], regraded: &'a [String]) -> Vec<&'a str> {
    if regraded.is_empty() {
        return Vec::new();
    }
    let ids: HashMap<&str, String> =
        trials.iter().filter_map(|trial| Some((trial.as_str(), id(tree, trial)?))).collect();
    let known: HashSet<&String> = ids.values().collect();
    let mut seen_ids = HashSet::new();
    let mut graded = HashSet::new();
    let is_further = |trial: &&'a str| {
        // A copy of its folder was not planned either.
        if ids.get(*trial).is_some_and(|id| !seen_ids.insert(id.clone())) {
            return false;
        }
        let config = tree.read_json::<Node>(&join(trial, "config.json"), CONFIG_CAP).ok();
        let source = config.and_then(|config| head::graded_source(tree, trial, &config));
        source.is_some_and(|source| known.contains(&source) || !graded.insert(source))
    };
    regraded.iter().map(String::as_str).filter(is_further).collect()
}

/// The id in the result of a trial.
fn id(tree: &Tree, trial: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct TrialResult {
        id: Option<String>,
    }
    let result: Object<TrialResult> = tree.read_json(&join(trial, "result.json"), RESULT_CAP).ok()?;
    result.0.id
}
