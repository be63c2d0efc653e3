//! SR: runs whose rounds were played by themselves, each after the reference solutions of the rounds before it. In the
//! library such a round is an episode of one turn, called `TASK/STEP`.

use std::collections::{BTreeMap, HashMap};

use analysis::rounds::{TaskTries, sr};
use ingest::formats::table::PLANNED_TASKS;
use model::{EndReason, Ending, RoundScores, counted};
use serde_json::Value;
use store::{EpisodeEntry, EpisodeId, RunId, RunRecord, Store};

use super::{MOST_TRIES, allowed_tries};
use crate::api::ApiError;
use crate::episodes::task_of;

/// Why such a run has no scores of chains.
const NO_CHAIN: &str = "MT@k and Comp are of chains of rounds; this run plays each round by itself, after the reference solutions of the rounds before.";

/// SR of a run, or of several that are parts of one job. It is unknown, with the reason, where rounds or whole tasks are missing,
/// or were cut off from outside before their tries decided them.
pub(super) fn scores(
    store: &Store,
    record: &RunRecord,
    runs: &[RunId],
    episodes: &[EpisodeEntry],
) -> Result<RoundScores, ApiError> {
    let mut passes: HashMap<EpisodeId, Vec<bool>> = HashMap::new();
    for run in runs {
        for (episode, _, passed) in store.passes(*run)? {
            passes.entry(episode).or_default().push(passed);
        }
    }
    let mut by_task: BTreeMap<&str, Vec<TaskTries>> = BTreeMap::new();
    for episode in episodes {
        by_task.entry(task_of(&episode.scenario)).or_default().push(TaskTries {
            rounds: 1,
            tries: passes.remove(&episode.id).into_iter().collect(),
            is_cut_off: episode.end_reason != EndReason::PassedAll
                && episode.end_reason.default_ending() == Ending::Censored,
        });
    }
    let tasks: Vec<Vec<TaskTries>> = by_task.into_values().collect();
    let planned = record.run.extra.get(PLANNED_TASKS).and_then(Value::as_u64);
    Ok(scores_from_rounds(&tasks, allowed_tries(&record.run), planned))
}

/// SR@k of rounds by task: the share of rounds that pass within their first k tries, mean within a task, then over tasks.
/// `allowed` = tries that a round might have; `planned` = tasks that were to be played.
fn scores_from_rounds(tasks: &[Vec<TaskTries>], allowed: Option<u64>, planned: Option<u64>) -> RoundScores {
    let rounds = || tasks.iter().flatten();
    let attempt_count = rounds().flat_map(|round| &round.tries).map(Vec::len).max().unwrap_or(0);
    let allowed = allowed.map(|allowed| usize::try_from(allowed).unwrap_or(usize::MAX));
    let most_tries = allowed.unwrap_or(attempt_count).clamp(1, MOST_TRIES);
    let mut missing = vec![NO_CHAIN.to_owned()];
    let lacking = planned.map_or(0, |planned| planned.saturating_sub(tasks.len() as u64));
    let sr_at_k: Vec<f64> = if lacking > 0 {
        let planned = counted(planned.unwrap_or(0), "task");
        let verb = if lacking == 1 { "is" } else { "are" };
        missing.push(format!("SR is unknown: of {planned} {lacking} {verb} not there."));
        Vec::new()
    } else {
        (1..=most_tries).map_while(|k| sr_within(tasks, k)).collect()
    };
    if lacking == 0 && sr_at_k.len() < most_tries {
        let open = rounds().filter(|round| !round.is_decided(most_tries)).count();
        let subject = match sr_at_k.len() {
            0 => "SR is".to_owned(),
            known => format!("SR@k for k > {known} is"),
        };
        let all = counted(rounds().count() as u64, "round");
        missing.push(format!("{subject} unknown: {open} of {all} cut off from outside, or not over."));
    }
    RoundScores { alone: true, sr: sr_at_k.first().copied(), sr_at_k, missing, ..RoundScores::default() }
}

/// SR of the first k tries; `None` = some round is not decided by them, or there is none.
fn sr_within(tasks: &[Vec<TaskTries>], k: usize) -> Option<f64> {
    if !tasks.iter().flatten().all(|round| round.is_decided(k)) {
        return None;
    }
    let passes = |rounds: &Vec<TaskTries>| rounds.iter().map(|round| round.cleared(k) > 0).collect();
    sr(&tasks.iter().map(passes).collect::<Vec<Vec<bool>>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(tries: &[bool], is_cut_off: bool) -> TaskTries {
        let tries = if tries.is_empty() { Vec::new() } else { vec![tries.to_vec()] };
        TaskTries { rounds: 1, tries, is_cut_off }
    }

    /// Of each round its tries: `1` passed, `0` did not.
    fn task(rounds: &[&str]) -> Vec<TaskTries> {
        let tries = |text: &&str| text.chars().map(|letter| letter == '1').collect::<Vec<bool>>();
        rounds.iter().map(|text| round(&tries(text), false)).collect()
    }

    #[test]
    fn sr_is_the_share_of_rounds_that_pass_by_themselves() {
        // N = 3, passes 1, 0, 1.
        let single = scores_from_rounds(&[task(&["1", "0", "1"])], Some(1), Some(1));
        assert!((single.sr.unwrap() - 200.0 / 3.0).abs() < 1e-9 && single.sr_at_k.len() == 1);
        assert_eq!(
            (single.alone, single.round_by_round, single.mt_at_k.len(), single.comp),
            (true, false, 0, None)
        );
        assert_eq!(single.missing, [NO_CHAIN]);
        // Mean within a task, then over tasks; a further try counts for SR@k only.
        let tasks = [task(&["01", "00"]), task(&["1"])];
        let scores = scores_from_rounds(&tasks, Some(2), Some(2));
        assert_eq!((scores.sr, scores.sr_at_k), (Some(50.0), vec![50.0, 75.0]));
    }

    #[test]
    fn sr_is_unknown_where_a_round_or_a_task_is_missing() {
        let mut tasks = [task(&["1", "01"])];
        let absent = scores_from_rounds(&tasks, Some(2), Some(2));
        assert_eq!(
            (absent.sr, absent.missing[1].as_str()),
            (None, "SR is unknown: of 2 tasks 1 is not there.")
        );
        tasks[0].push(round(&[false], true));
        let one_try = scores_from_rounds(&tasks, Some(2), Some(1));
        assert_eq!(one_try.sr_at_k.len(), 1, "its first try was made");
        assert_eq!(
            one_try.missing[1],
            "SR@k for k > 1 is unknown: 1 of 3 rounds cut off from outside, or not over."
        );
        tasks[0].push(round(&[], true));
        let incomplete = scores_from_rounds(&tasks, Some(2), Some(1));
        assert_eq!((incomplete.sr, incomplete.sr_at_k.len()), (None, 0));
        assert!(
            incomplete.missing[1].starts_with("SR is unknown: 2 of 4 rounds"),
            "{:?}",
            incomplete.missing
        );
    }

    #[test]
    fn a_round_is_of_the_task_before_its_last_slash() {
        assert_eq!((task_of("parser/round-1"), task_of("set/parser/round-1")), ("parser", "set/parser"));
        assert_eq!(task_of("parser"), "parser");
    }
}
