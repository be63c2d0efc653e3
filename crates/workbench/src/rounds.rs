//! Scores of turns that are graded by themselves: dataset score, case score, perfect tasks, and MT@k, SR, Gap and Comp of
//! EvoCode-Bench's paper. Every page, table and report has them from [`scores`] and [`turn_scores`].

use std::collections::{BTreeMap, HashMap};

use analysis::rounds::{TaskRewards, TaskTries, comp, comp_round_by_round, gap, mt_at_k, mt_round_by_round};
use analysis::survival::anyone_at_risk;
use ingest::formats::table::{FORKED, FORMAT as TABLE, RESTORE_BEFORE_TRY};
use ingest::readers::clock;
use model::{EndReason, Ending, RoundScores, Run, TaskTotals, counted};
use serde_json::Value;
use store::{EpisodeEntry, EpisodeId, RunEntry, RunId, RunRecord, Store, Summary};

use crate::api::{ApiError, TurnScores};
use crate::episodes::{grades_turns, is_single_turn, observations};

mod gap;
mod single;

pub(crate) use gap::Gaps;

/// Most tries for which MT@k is given.
const MOST_TRIES: usize = 100;

/// The k of the paper's MT@k, of which Gap is made.
const PAPER_K: usize = 4;

/// Why SR and Gap of a run are unknown.
const NO_SR: &str = "SR and Gap are unknown: they need a run whose rounds are played by themselves, after the reference solutions of the rounds before (harbor.protocol=sr).";

/// Why there are no scores over rounds of a run in which every episode was censored before it passed a turn.
const NOBODY_AT_RISK: &str = "MT@k and Comp are unknown: every episode was stopped from outside before it passed a turn, so that nobody was at risk.";

/// What a reader must know of the paper's table beside one's own numbers.
pub(crate) const PAPER: &str = "The paper of EvoCode-Bench evaluates round by round. Each round is tried up to four times from one snapshot, without feedback. The first round that no try passes ends the task. Its MT@4 is for reference; MT@k over independent attempts at whole tasks is another number.";

/// Why runs of both protocols have no MT@k together.
const MIXED: &str =
    "MT@k and Comp are refused: some of the runs tried each round from one snapshot, and others whole tasks.";

/// The setting that says how many tries a round may have.
const TRIES: &str = "harbor.attempt_limit";

/// The scores of a run over its rounds. `None` = they do not apply: turns are not graded by themselves, or tasks have one turn
/// (pass@k says it then). Runs that restored a snapshot before each try have them round by round, others over their independent
/// trials. MT@k and Comp are refused, with the reason in [`RoundScores::missing`],
/// - where a turn was tried again: a further try begins from what the one before left;
/// - where trials begin from what another trial left (Harbor's fork names them `…__mr-…`);
/// - where a task does not say how many turns it has.
///
/// Round by round they are unknown where trials were cut off from outside before their tries decided them. Over independent
/// trials they are unknown where nobody was ever at risk.
///
/// A task that the source only counts enters with its totals: MT@1 needs no more, Comp does unless all or none passed.
pub(crate) fn scores(
    store: &Store,
    record: &RunRecord,
    episodes: &[EpisodeEntry],
) -> Result<Option<RoundScores>, ApiError> {
    scores_of_parts(store, record, &[record.entry.id], episodes)
}

/// The same of episodes of several runs that are parts of one job. `record` is one of them.
pub(crate) fn scores_of_parts(
    store: &Store,
    record: &RunRecord,
    runs: &[RunId],
    episodes: &[EpisodeEntry],
) -> Result<Option<RoundScores>, ApiError> {
    if record.entry.benchmark.plays_steps_alone() && !episodes.is_empty() {
        return Ok(Some(single::scores(store, record, runs, episodes)?));
    }
    if !grades_turns(record) || episodes.is_empty() || is_single_turn(episodes) {
        return Ok(None);
    }
    let mut by_task: BTreeMap<&str, Vec<&EpisodeEntry>> = BTreeMap::new();
    for episode in episodes {
        by_task.entry(episode.scenario.as_str()).or_default().push(episode);
    }
    let totals: Vec<&TaskTotals> = (record.run.reported.totals_only.iter())
        .filter(|totals| !by_task.contains_key(totals.scenario.as_str()))
        .collect();
    let round_by_round = record.run.settings.get(RESTORE_BEFORE_TRY) == Some(&Value::Bool(true));
    if let Some(reason) = refusal(episodes, &totals, round_by_round, record.entry.format == TABLE) {
        let missing = vec![format!("MT@k and Comp are refused: {reason}."), NO_SR.to_owned()];
        return Ok(Some(RoundScores { missing, round_by_round, ..RoundScores::default() }));
    }
    if round_by_round {
        return Ok(Some(scores_from_tries(&tries(store, runs, by_task)?, allowed_tries(&record.run))));
    }
    // As the other scores: of what nobody was at risk in they are unknown, not 0.
    if totals.is_empty() && !anyone_at_risk(&observations(episodes, &store.get_policy()?)) {
        let missing = vec![NOBODY_AT_RISK.to_owned(), NO_SR.to_owned()];
        return Ok(Some(RoundScores { missing, ..RoundScores::default() }));
    }
    let mut rewards: HashMap<(EpisodeId, u32), f64> = HashMap::new();
    for run in runs {
        for (episode, turn, reward) in store.final_rewards(*run)? {
            rewards.insert((episode, turn), reward);
        }
    }
    let tasks: Vec<TaskRewards> = by_task
        .into_values()
        .map(|mut trials| {
            sort_by_start(&mut trials);
            let rounds = trials.iter().filter_map(|trial| trial.planned_turns).max().unwrap_or(0);
            // A reward that is not in 0 to 1 was reported, and cannot make a round more than passed.
            let reward = |trial: &EpisodeEntry, turn: u32| {
                rewards.get(&(trial.id, turn)).map(|reward| reward.clamp(0.0, 1.0))
            };
            let trial_rewards =
                |trial: &&EpisodeEntry| (1..=rounds).map(|turn| reward(trial, turn)).collect();
            TaskRewards { rounds, attempts: trials.iter().map(trial_rewards).collect() }
        })
        .collect();
    Ok(Some(scores_from_tasks(tasks, &totals)))
}

/// Brings the trials of a task into the order in which they began. Repeats count within a run, so those of parts of one job do not
/// follow each other: they decide where trials began together, or where some trial does not say when it began.
fn sort_by_start(trials: &mut [&EpisodeEntry]) {
    fn start(trial: &EpisodeEntry) -> Option<i64> {
        trial.started_at.as_deref().and_then(clock::micros)
    }
    let is_known = trials.iter().all(|trial| start(trial).is_some());
    trials.sort_by_key(|trial| (if is_known { start(trial) } else { None }, trial.repeat));
}

/// How many tries a round might have; `None` = unknown. A tidy table has no settings, and the limit of the run says it there.
fn allowed_tries(run: &Run) -> Option<u64> {
    let limit = || run.attempt_limit.map(u64::from);
    run.settings.get(TRIES).and_then(Value::as_u64).or_else(limit)
}

/// The tries at the rounds of every trial, by task.
fn tries(
    store: &Store,
    runs: &[RunId],
    by_task: BTreeMap<&str, Vec<&EpisodeEntry>>,
) -> Result<Vec<Vec<TaskTries>>, ApiError> {
    let mut passes: HashMap<EpisodeId, BTreeMap<u32, Vec<bool>>> = HashMap::new();
    for run in runs {
        for (episode, turn, passed) in store.passes(*run)? {
            passes.entry(episode).or_default().entry(turn).or_default().push(passed);
        }
    }
    let mut tries_of = |trial: &EpisodeEntry| {
        let mut trial_rewards = passes.remove(&trial.id).unwrap_or_default();
        let rounds = trial.planned_turns.unwrap_or(0);
        // A round that was not begun was not cleared.
        let begun = trial_rewards.keys().next_back().copied().unwrap_or(0).min(rounds);
        TaskTries {
            rounds,
            tries: (1..=begun).map(|turn| trial_rewards.remove(&turn).unwrap_or_default()).collect(),
            is_cut_off: trial.end_reason != EndReason::PassedAll
                && trial.end_reason.default_ending() == Ending::Censored,
        }
    };
    Ok(by_task.into_values().map(|trials| trials.into_iter().map(&mut tries_of).collect()).collect())
}

/// MT@k and Comp round by round: means within a task, then over tasks. `allowed` = tries that a round might have. What trials
/// that were cut off leave open is unknown, and how many there are is said.
fn scores_from_tries(tasks: &[Vec<TaskTries>], allowed: Option<u64>) -> RoundScores {
    let mean = |value_of: &dyn Fn(&[TaskTries]) -> Option<f64>| {
        let known: Option<Vec<f64>> = tasks.iter().map(|trials| value_of(trials)).collect();
        known.filter(|known| !known.is_empty()).map(|known| known.iter().sum::<f64>() / known.len() as f64)
    };
    let attempt_count =
        tasks.iter().flatten().flat_map(|trial| &trial.tries).map(Vec::len).max().unwrap_or(0);
    let allowed = allowed.map(|allowed| usize::try_from(allowed).unwrap_or(usize::MAX));
    let most_tries = allowed.unwrap_or(attempt_count.max(1)).min(MOST_TRIES);
    let mt_at_k: Vec<f64> =
        (1..=most_tries).map_while(|k| mean(&|trials| mt_round_by_round(trials, k))).collect();
    let allowed = allowed.unwrap_or(usize::MAX);
    let comp = mean(&|trials| comp_round_by_round(trials, allowed));
    let gap = gap(None, mt_at_k.get(PAPER_K - 1).copied());
    let trials = || tasks.iter().flatten();
    let open = trials().filter(|trial| !trial.is_decided(most_tries) || !trial.is_decided(allowed)).count();
    let mut missing = Vec::new();
    if open > 0 && (mt_at_k.len() < most_tries || comp.is_none()) {
        missing.push(cut_off(open, trials().count(), (mt_at_k.len(), most_tries), comp.is_none()));
    }
    missing.push(NO_SR.to_owned());
    RoundScores { mt_at_k, round_by_round: true, gap, comp, missing, ..RoundScores::default() }
}

/// What is unknown because trials were cut off. `known` = the largest k of which MT@k is known, and the largest that is asked.
fn cut_off(open: usize, trials: usize, known: (usize, usize), no_comp: bool) -> String {
    let mt = match known {
        (0, _) => Some("MT@k".to_owned()),
        (known, largest_asked) if known < largest_asked => Some(format!("MT@k for k > {known}")),
        _ => None,
    };
    let comp = no_comp.then(|| "Comp".to_owned());
    let verb = if mt.is_some() && no_comp { "are" } else { "is" };
    let metrics = mt.into_iter().chain(comp).collect::<Vec<_>>().join(" and ");
    let ending =
        if open == 1 { "was cut off from outside, or is" } else { "were cut off from outside, or are" };
    format!("{metrics} {verb} unknown: {open} of {} {ending} not over.", counted(trials as u64, "trial"))
}

/// Why the attempts of a run are not what MT@k is made of, without a full stop; `None` = they are. Whoever wrote a tidy table
/// reads which column would say it.
fn refusal(
    episodes: &[EpisodeEntry],
    totals: &[&TaskTotals],
    round_by_round: bool,
    is_table: bool,
) -> Option<String> {
    let all = counted(episodes.len() as u64, "episode");
    let way_out = |sentence: &str| if is_table { format!("; {sentence}") } else { String::new() };
    let count = |is_so: fn(&EpisodeEntry) -> bool| episodes.iter().filter(|episode| is_so(episode)).count();
    let children = count(|episode| episode.key.contains(FORKED));
    if children > 0 {
        return Some(format!(
            "{children} of {all} began from what another trial had left (round by round), so attempts are not independent"
        ));
    }
    let retried = count(|episode| episode.attempts > episode.reached_turns);
    if retried > 0 && !round_by_round {
        return Some(format!(
            "turns were tried again in {retried} of {all}, and a further try begins from what the one before left, so attempts are not independent{}",
            way_out("where each try began from one snapshot, give the column restore_before_try")
        ));
    }
    let undeclared = count(|episode| episode.planned_turns.is_none());
    if undeclared > 0 {
        let way_out = way_out("give the column planned_turns");
        return Some(format!("the number of rounds is unknown for {undeclared} of {all}{way_out}"));
    }
    let unknown = totals.iter().filter(|task| task.turns.is_none() && passed_turns(task) > 0.0).count();
    (unknown > 0).then(|| {
        format!(
            "the number of rounds is unknown for {} of which only totals are known",
            counted(unknown as u64, "task")
        )
    })
}

fn passed_turns(task: &TaskTotals) -> f64 {
    task.passed_turns.unwrap_or(0.0)
}

/// MT@k and Comp of tasks whose rounds are described, with others of which only totals are known.
fn scores_from_tasks(mut tasks: Vec<TaskRewards>, totals: &[&TaskTotals]) -> RoundScores {
    let described = tasks.iter().filter(|task| task.rounds > 0).count();
    let described_comp = comp(&tasks);
    let most_tries = tasks.iter().map(|task| task.attempts.len()).min().unwrap_or(0).min(MOST_TRIES);
    // Totals say nothing of several attempts.
    let most_tries = if totals.is_empty() { most_tries } else { most_tries.min(1) };
    let (mut complete, mut unclear) = (0_u32, 0_u32);
    for task in totals {
        let (rounds, passed) = (task.turns.unwrap_or(0), passed_turns(task));
        // One attempt with the sum of its rewards: which rounds these are makes no difference to MT@1. A task of which
        // nothing passed counts 0 whatever its length.
        let attempts =
            if passed > 0.0 { vec![vec![Some(passed.min(f64::from(rounds)))]] } else { Vec::new() };
        if passed > 0.0 {
            let all = passed >= f64::from(rounds);
            (complete, unclear) = (complete + u32::from(all), unclear + u32::from(!all));
        }
        tasks.push(TaskRewards { rounds: rounds.max(1), attempts });
    }
    let mt_at_k: Vec<f64> = (1..=most_tries).filter_map(|k| mt_at_k(&tasks, k)).collect();
    let mut missing = Vec::new();
    let comp = if unclear > 0 {
        missing.push(format!(
            "Comp is unknown: of {} only totals are known, which do not say whether the last round passed.",
            counted(unclear.into(), "task")
        ));
        None
    } else if totals.is_empty() {
        described_comp
    } else {
        let done = described_comp.unwrap_or(0.0) * described as f64 + 100.0 * f64::from(complete);
        Some(done / (described + totals.len()) as f64)
    };
    missing.push(NO_SR.to_owned());
    let gap = gap(None, mt_at_k.get(PAPER_K - 1).copied());
    RoundScores { mt_at_k, gap, comp, missing, ..RoundScores::default() }
}

/// Perfect tasks of a run; `None` = unknown: nobody was at risk, and the source gives no totals, or rounds were played by
/// themselves.
pub(crate) fn perfect(summary: &Summary) -> Option<u32> {
    let has_chains = !summary.rounds.as_ref().is_some_and(|rounds| rounds.alone);
    let is_known = summary.stamina.mean.is_some() || summary.dataset_score.is_some();
    (has_chains && is_known).then_some(summary.perfect)
}

/// The scores of a run, or the means over several; `None` = they do not apply to all of them.
pub(crate) fn turn_scores<'a>(runs: impl IntoIterator<Item = &'a RunEntry>) -> Option<TurnScores> {
    let each: Vec<(&Summary, &RoundScores)> = (runs.into_iter())
        .map(|run| run.summary.as_ref().and_then(|summary| Some((summary, summary.rounds.as_ref()?))))
        .collect::<Option<_>>()?;
    if each.is_empty() {
        return None;
    }
    let mean = |value_of: &dyn Fn(&Summary, &RoundScores) -> Option<f64>| {
        let known: Option<Vec<f64>> =
            each.iter().map(|(summary, rounds)| value_of(summary, rounds)).collect();
        known.map(|known| known.iter().sum::<f64>() / known.len() as f64)
    };
    let alone = each.iter().any(|(_, rounds)| rounds.alone);
    // Scores of chains: steps that were played by themselves are none.
    let chain_mean = |value_of: &dyn Fn(&Summary) -> Option<f64>| {
        if alone { None } else { mean(&|summary, _| value_of(summary)) }
    };
    let round_by_round = each.iter().all(|(_, rounds)| rounds.round_by_round);
    let is_mixed = !round_by_round && each.iter().any(|(_, rounds)| rounds.round_by_round);
    let most_tries = each.iter().map(|(_, rounds)| rounds.mt_at_k.len()).min().unwrap_or(0);
    let most_tries = if is_mixed { 0 } else { most_tries };
    let mut missing: Vec<String> = is_mixed.then(|| MIXED.to_owned()).into_iter().collect();
    for sentence in each.iter().flat_map(|(_, rounds)| &rounds.missing) {
        if !missing.contains(sentence) {
            missing.push(sentence.clone());
        }
    }
    let most_alone = each.iter().map(|(_, rounds)| rounds.sr_at_k.len()).min().unwrap_or(0);
    Some(TurnScores {
        runs: each.len() as u32,
        dataset_score: chain_mean(&|summary| summary.dataset_score),
        case_score: chain_mean(&|summary| summary.case_score),
        perfect: chain_mean(&|summary| perfect(summary).map(f64::from)),
        rounds: RoundScores {
            mt_at_k: (0..most_tries)
                .filter_map(|k| mean(&|_, rounds| rounds.mt_at_k.get(k).copied()))
                .collect(),
            round_by_round,
            alone,
            sr: mean(&|_, rounds| rounds.sr),
            sr_at_k: (0..most_alone)
                .filter_map(|k| mean(&|_, rounds| rounds.sr_at_k.get(k).copied()))
                .collect(),
            gap: mean(&|_, rounds| rounds.gap),
            comp: if is_mixed { None } else { mean(&|_, rounds| rounds.comp) },
            missing,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(turns: Option<u32>, passed_turns: Option<f64>) -> TaskTotals {
        TaskTotals { scenario: "t".to_owned(), turns, passed_turns, case_ratio: None }
    }

    fn task(rounds: u32, passed: &[u32]) -> TaskRewards {
        let rewards = (1..=rounds).map(|round| Some(if passed.contains(&round) { 1.0 } else { 0.0 }));
        TaskRewards { rounds, attempts: vec![rewards.collect()] }
    }

    #[test]
    fn a_task_of_known_totals_counts_in_mt_at_1_and_makes_comp_unknown() {
        let tasks = || vec![task(4, &[1, 2, 4]), task(2, &[])];
        let part = totals(Some(5), Some(3.0));
        let rounds_of_part = scores_from_tasks(tasks(), &[&part]);
        assert_eq!(rounds_of_part.mt_at_k, [45.0]);
        assert_eq!((rounds_of_part.comp, rounds_of_part.sr, rounds_of_part.gap), (None, None, None));
        assert!(
            rounds_of_part.missing[0].starts_with("Comp is unknown: of 1 task only totals"),
            "{:?}",
            rounds_of_part.missing
        );
        // All or nothing passed says of the last round what is needed.
        let (all, none) = (totals(Some(5), Some(5.0)), totals(None, None));
        let rounds_of_both = scores_from_tasks(tasks(), &[&all, &none]);
        assert_eq!((rounds_of_both.mt_at_k, rounds_of_both.comp), (vec![43.75], Some(50.0)));
        let twice = TaskRewards { rounds: 1, attempts: vec![vec![Some(0.0)], vec![Some(1.0)]] };
        assert_eq!(scores_from_tasks(vec![twice.clone()], &[]).mt_at_k, [0.0, 100.0]);
        assert_eq!(
            scores_from_tasks(vec![twice], &[&none]).mt_at_k,
            [0.0],
            "nobody knows a second attempt at the other task"
        );
    }

    #[test]
    fn rounds_that_were_tried_from_one_snapshot_have_mt_at_k_round_by_round() {
        let trial = |rounds: u32, tries: &[&[bool]]| TaskTries {
            rounds,
            tries: tries.iter().map(|round| round.to_vec()).collect(),
            is_cut_off: false,
        };
        let tasks = [
            vec![trial(4, &[&[true], &[false, false, true], &[false, false, false]])],
            vec![trial(2, &[&[false, true], &[true]]), trial(2, &[&[false; 3]])],
        ];
        let rounds_of_tries = scores_from_tries(&tasks, Some(3));
        // 1/4, 1/4, 2/4 of the first; of the second the means of 0, 1, 1 and 0, 0, 0.
        assert_eq!(rounds_of_tries.mt_at_k, [12.5, 37.5, 50.0]);
        assert_eq!(
            (rounds_of_tries.round_by_round, rounds_of_tries.comp, rounds_of_tries.sr, rounds_of_tries.gap),
            (true, Some(50.0), None, None)
        );
        assert_eq!(scores_from_tries(&tasks, None).mt_at_k.len(), 3);
        // Each first try passed: further ones would have changed nothing.
        assert_eq!(scores_from_tries(&[vec![trial(1, &[&[true]])]], Some(2)).mt_at_k, [100.0, 100.0]);
    }
}
