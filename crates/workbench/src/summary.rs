//! From a run's episodes to its statistics, which the store keeps so that the library can be sorted in SQL.

use std::collections::BTreeSet;

use analysis::bootstrap::{Resampling, bootstrap_mean};
use analysis::clusters::InScenario;
use analysis::pass_rate::pass_rate;
use analysis::score::{self, EpisodeParts};
use analysis::sensitivity::Ended;
use analysis::survival::{self, Observation, StaminaSummary, anyone_at_risk};
use ingest::formats::table;
use model::{CensoringPolicy, Ending, counted};
use serde_json::Value;
use store::{EpisodeEntry, RunRecord, Store, Summary};

use crate::Workbench;
use crate::api::{ApiError, Stamina};
use crate::compare::doubts::{Number, Part};
use crate::compare::sets::scenario_name;
use crate::compare::{early_censored, stamina_of};
use crate::processes_left::doubts_about_processes;
use crate::rounds;

impl Workbench {
    /// Computes the summaries that are missing or older than the episodes or the policy.
    pub(crate) fn refresh_summaries(&self) -> Result<(), ApiError> {
        let stale = self.store.stale_runs()?;
        // In a library that can only be looked at they stay as they are.
        if stale.is_empty() || self.store.is_read_only() {
            return Ok(());
        }
        let policy = self.store.get_policy()?;
        for of in &stale {
            let Some(record) = self.store.run(&of.slug)? else { continue };
            let episodes = self.store.episodes(of.run)?;
            let rounds = rounds::scores(&self.store, &record, &episodes)?;
            let withdrawn = withdrawn_scenarios(&self.store, &record)?;
            let mut summary = Summary { rounds, ..summarize(&record, &episodes, &withdrawn, &policy) };
            summary.doubts.extend(doubts_about_processes(&self.store, &record)?);
            self.store.put_summary(of, &summary)?;
        }
        Ok(())
    }
}

/// The episodes of a run as survival analysis sees them.
pub(crate) fn observations(episodes: &[EpisodeEntry], policy: &CensoringPolicy) -> Vec<Observation> {
    episodes.iter().map(|e| observation(e, policy)).collect()
}

fn observation(episode: &EpisodeEntry, policy: &CensoringPolicy) -> Observation {
    Observation { turns: episode.stamina, ending: ending(episode, policy) }
}

/// Whether the policy counts the end of this episode as an event.
pub(crate) fn ending(episode: &EpisodeEntry, policy: &CensoringPolicy) -> Ending {
    policy.ending(episode.end_reason)
}

/// Stamina and end of an episode, for other readings of them.
pub(crate) const fn ended(episode: &EpisodeEntry) -> Ended {
    Ended { turns: episode.stamina, reason: episode.end_reason, unrecognized: episode.unrecognised }
}

/// The most turns that an episode of the run plans, or is seen to have.
pub(crate) fn turn_axis(episodes: &[EpisodeEntry]) -> u32 {
    episodes.iter().map(|e| e.known_turns).max().unwrap_or(0)
}

/// The most turns that an episode of the run plans; `None` as soon as one plan is unknown, because then nobody can say
/// how far the curve was meant to go.
pub(crate) fn planned_turns(episodes: &[EpisodeEntry]) -> Option<u32> {
    episodes
        .iter()
        .map(|e| e.planned_turns.map(|planned| planned.max(e.known_turns)))
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .max()
}

/// Whether all episodes play one turn: none plans or reaches more, and those of which no plan is known did not begin.
pub(crate) fn of_one_turn<'a>(episodes: impl IntoIterator<Item = &'a EpisodeEntry>) -> bool {
    let mut any = false;
    let mut all = episodes.into_iter().map(|e| match e.planned_turns {
        Some(planned) => {
            any = true;
            planned == 1 && e.known_turns <= 1
        }
        None => e.reached_turns == 0 && e.known_turns <= 1,
    });
    all.all(|one| one) && any
}

/// Whether nothing says how many turns episodes play, because all of them were stopped before they were at risk, or none counts.
pub(crate) fn of_unknown_turns<'a>(episodes: impl IntoIterator<Item = &'a EpisodeEntry>) -> bool {
    episodes.into_iter().all(|e| {
        let stopped = e.stamina == 0 && e.end_reason.default_ending() == Ending::Censored;
        e.planned_turns.is_none() && e.known_turns <= 1 && (e.reached_turns == 0 || stopped)
    })
}

/// What the scores are made of.
pub(crate) fn parts(episode: &EpisodeEntry) -> EpisodeParts {
    EpisodeParts {
        scenario: episode.scenario.clone(),
        declared_turns: episode.planned_turns,
        seen_turns: episode.known_turns,
        passed_turns: episode.passed_turns,
        ratio_sum: episode.ratio_sum,
        counted_turns: episode.ratio_turns,
        passed_without_counts: episode.passed_without_counts,
        failed_without_counts: episode.failed_without_counts,
    }
}

/// The score of one episode, by the rule of its benchmark, 0 to 100; `None` where it was never at risk: what was stopped
/// from outside before it passed a turn was not graded.
pub(crate) fn episode_score(by_turn: bool, episode: &EpisodeEntry, policy: &CensoringPolicy) -> Option<f64> {
    if !anyone_at_risk(&[observation(episode, policy)]) {
        return None;
    }
    let parts = parts(episode);
    if by_turn { parts.dataset_score() } else { parts.stamina_bench_score() }
}

/// Whether the benchmark scores a turn as passed or not (EvoCode, Harbor, Terminal-Bench) rather than by its share of
/// passed tests. A table says it itself.
pub(crate) fn grades_turns(record: &RunRecord) -> bool {
    match record.entry.format.as_str() {
        "harbor" | "evocode" | "terminal-bench" => true,
        table::FORMAT => record.run.settings.get(table::SCORING).and_then(Value::as_str) == Some("turns"),
        // Tasks of Harbor that were played here lie in our own layout.
        _ => record.run.benchmark.is_of_tasks(),
    }
}

/// The episodes of a run with their scenarios, and with the tasks of those that are rounds by themselves: rounds of a task are
/// not independent.
pub(crate) fn in_scenarios(
    record: &RunRecord,
    episodes: &[EpisodeEntry],
    observations: &[Observation],
) -> Vec<InScenario> {
    let plays_alone = record.entry.benchmark.plays_steps_alone();
    let each = episodes.iter().zip(observations);
    let name = |scenario: &str| scenario_name(&record.entry.benchmark, scenario).into_owned();
    each.map(|(episode, seen)| in_scenario(plays_alone, &episode.scenario, name, *seen)).collect()
}

/// One of them; `identity` makes the text that is the same exactly for the same scenario.
pub(crate) fn in_scenario(
    plays_alone: bool,
    scenario: &str,
    identity: impl Fn(&str) -> String,
    seen: Observation,
) -> InScenario {
    if plays_alone {
        InScenario::in_part(identity(rounds::task_of(scenario)), scenario, seen)
    } else {
        InScenario::new(identity(scenario), seen)
    }
}

/// Mean stamina of a run with the interval that fits its episodes.
fn mean_of(stamina: &StaminaSummary, trials: &[InScenario]) -> Stamina {
    let tau = stamina.restricted_mean.tau;
    stamina_of(stamina, trials, || bootstrap_mean(trials, tau, Resampling::default()))
}

/// What a figure of a run says of its mean, with that interval.
pub(crate) fn stamina_summary(
    record: &RunRecord,
    episodes: &[EpisodeEntry],
    policy: &CensoringPolicy,
) -> StaminaSummary {
    let observations = observations(episodes, policy);
    let mut stamina = survival::summarize(&observations, planned_turns(episodes));
    let mean = mean_of(&stamina, &in_scenarios(record, episodes, &observations));
    (stamina.restricted_mean.ci_low, stamina.restricted_mean.ci_high) = (mean.ci_low, mean.ci_high);
    stamina
}

/// Scores over episodes, 0 to 100; `None` = unknown, or the benchmark has no such score.
#[derive(Default)]
pub(crate) struct Scores {
    /// By the rule of the benchmark.
    pub(crate) score: Option<f64>,
    /// The dataset score.
    pub(crate) dataset: Option<f64>,
    /// The case score.
    pub(crate) case: Option<f64>,
    /// Perfect tasks.
    pub(crate) perfect: u32,
}

/// The scores of these episodes of a run. Rounds by themselves are no chains and enter none of them.
pub(crate) fn scores(record: &RunRecord, episodes: &[EpisodeEntry], policy: &CensoringPolicy) -> Scores {
    if record.entry.benchmark.plays_steps_alone() {
        return Scores::default();
    }
    let observations = observations(episodes, policy);
    let totals = &record.run.reported.totals_only;
    let parts: Vec<EpisodeParts> = episodes
        .iter()
        .map(|episode| EpisodeParts {
            scenario: scenario_name(&record.entry.benchmark, &episode.scenario).into_owned(),
            ..parts(episode)
        })
        .collect();
    // A score of what nobody was at risk in is unknown, not 0.
    let scored =
        |percent: Option<f64>| percent.filter(|_| anyone_at_risk(&observations) || !totals.is_empty());
    let by_turn = grades_turns(record);
    let dataset = if by_turn { scored(score::dataset_score(&parts, totals).percent) } else { None };
    Scores {
        score: if by_turn { dataset } else { scored(score::stamina_bench_score(&parts).percent) },
        dataset,
        case: if by_turn { scored(score::case_score(&parts, totals).percent) } else { None },
        perfect: score::perfect_tasks(&parts, totals),
    }
}

fn summarize(
    record: &RunRecord,
    episodes: &[EpisodeEntry],
    withdrawn: &BTreeSet<String>,
    policy: &CensoringPolicy,
) -> Summary {
    let partial = partial(record, episodes, withdrawn);
    // Without tests there is no stamina and no score of turns.
    if !record.entry.benchmark.has_verdicts() {
        let mut doubts: Vec<String> = partial.iter().cloned().collect();
        if record.entry.withdrawn_episodes > 0 {
            let withdrawn = counted(record.entry.withdrawn_episodes.into(), "withdrawn session");
            doubts.push(format!("{withdrawn} left out"));
        }
        return Summary { doubts, partial, ..Summary::default() };
    }
    let observations = observations(episodes, policy);
    let stamina = survival::summarize(&observations, planned_turns(episodes));
    let trials = in_scenarios(record, episodes, &observations);
    let tau = stamina.restricted_mean.tau;
    let mean = mean_of(&stamina, &trials);
    let totals = &record.run.reported.totals_only;
    let scores = scores(record, episodes, policy);
    // Tasks that the source only counts are of no known length.
    let pass_rate = (totals.is_empty() && of_one_turn(episodes)).then(|| pass_rate(&trials));
    let number = Number {
        parts: vec![Part { entry: &record.entry, partial: partial.as_deref(), episodes, pooled: None }],
        stamina: &mean,
        pass_rate: pass_rate.as_ref(),
        early_censored: early_censored(episodes.iter(), tau, policy),
    };
    let doubts = number.doubts(policy);
    Summary {
        stamina: mean,
        score: scores.score,
        dataset_score: scores.dataset,
        case_score: scores.case,
        perfect: scores.perfect,
        partial,
        scored: observations.iter().filter(|one| anyone_at_risk(std::slice::from_ref(one))).count() as u32,
        pass_rate,
        rounds: None,
        doubts,
    }
}

/// The scenarios of the withdrawn episodes of a run of which some tasks are only counted.
fn withdrawn_scenarios(store: &Store, record: &RunRecord) -> Result<BTreeSet<String>, ApiError> {
    if record.entry.withdrawn_episodes == 0 || record.run.reported.totals_only.is_empty() {
        return Ok(BTreeSet::new());
    }
    let all = store.all_episodes(record.entry.id)?.into_iter();
    Ok(all.filter(|episode| episode.invalid.is_some()).map(|episode| episode.scenario).collect())
}

/// What is missing, in words: tasks where some are known by totals only, and episodes where more of these are missing.
fn partial(record: &RunRecord, episodes: &[EpisodeEntry], withdrawn: &BTreeSet<String>) -> Option<String> {
    let read = episodes.len() as u64;
    let tasks: BTreeSet<&str> = episodes.iter().map(|episode| episode.scenario.as_str()).collect();
    let mut known = tasks.clone();
    known.extend(withdrawn.iter().map(String::as_str));
    let described = known.len() as u64;
    known.extend(record.run.reported.totals_only.iter().map(|task| task.scenario.as_str()));
    let known = known.len() as u64;
    let planned_tasks = record.run.extra.get(table::PLANNED_TASKS).and_then(Value::as_u64);
    let all = planned_tasks.unwrap_or(0).max(known);
    let of_tasks = (known > described).then(|| format!("{} of {}", tasks.len(), counted(all, "task")));
    // A source may plan an episode of each task that it does not describe: that is said with the tasks.
    let missing_tasks = if of_tasks.is_some() { all - described } else { 0 };
    // What is withdrawn is not missing.
    let planned = record.run.planned_episodes.unwrap_or(0).saturating_sub(record.entry.withdrawn_episodes);
    let noun = if record.entry.benchmark.has_verdicts() { "episode" } else { "session" };
    let of_episodes = (read.saturating_add(missing_tasks) < u64::from(planned))
        .then(|| format!("{read} of {}", counted(planned.into(), noun)));
    let parts: Vec<String> = of_tasks.into_iter().chain(of_episodes).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Reads a run or says that there is none.
pub(crate) fn run_record(store: &Store, slug: &str) -> Result<RunRecord, ApiError> {
    store.run(slug)?.ok_or_else(|| {
        ApiError::new("run.not_found", format!("There is no run \"{slug}\" in the library"))
            .hint("Its source may have been closed, or read again without it")
    })
}
