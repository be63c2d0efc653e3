//! Episodes of a run as statistics read them: what of an episode survival analysis and scores see. Statistics of runs are not here.

use analysis::clusters::InScenario;
use analysis::score::{self, EpisodeParts};
use analysis::sensitivity::EpisodeEnd;
use analysis::survival::{Observation, anyone_at_risk};
use ingest::formats::table;
use model::{CensoringPolicy, EndReason, Ending};
use serde_json::Value;
use store::{EpisodeEntry, RunRecord, Store};

use crate::api::ApiError;
use crate::compare::sets::scenario_name;

/// Reads a run or says that there is none.
pub(crate) fn run_record(store: &Store, slug: &str) -> Result<RunRecord, ApiError> {
    store.run(slug)?.ok_or_else(|| {
        ApiError::new("run.not_found", format!("There is no run \"{slug}\" in the library"))
            .hint("Its source may have been closed, or read again without it")
    })
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
pub(crate) const fn episode_end(episode: &EpisodeEntry) -> EpisodeEnd {
    EpisodeEnd { turns: episode.stamina, reason: episode.end_reason, unrecognized: episode.unrecognised }
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

/// What an episode is called: of runs of one turn it is a trial.
pub(crate) const fn episode_noun(is_single_turn: bool) -> &'static str {
    if is_single_turn { "trial" } else { "episode" }
}

/// Whether all episodes play one turn: none plans or reaches more, and those of which no plan is known did not begin.
pub(crate) fn is_single_turn<'a>(episodes: impl IntoIterator<Item = &'a EpisodeEntry>) -> bool {
    let mut any = false;
    let mut all = episodes.into_iter().map(|e| match e.planned_turns {
        Some(planned) => {
            any = true;
            planned == 1 && e.known_turns <= 1
        }
        None => e.reached_turns == 0 && e.known_turns <= 1,
    });
    all.all(|condition| condition) && any
}

/// Whether nothing says how many turns episodes play, because all of them were stopped before they were at risk, or none counts.
pub(crate) fn has_unknown_turns<'a>(episodes: impl IntoIterator<Item = &'a EpisodeEntry>) -> bool {
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
    each.map(|(episode, observation)| in_scenario(plays_alone, &episode.scenario, name, *observation))
        .collect()
}

/// One of them; `identity` makes the text that is the same exactly for the same scenario.
pub(crate) fn in_scenario(
    plays_alone: bool,
    scenario: &str,
    identity: impl Fn(&str) -> String,
    observation: Observation,
) -> InScenario {
    if plays_alone {
        InScenario::in_part(identity(task_of(scenario)), scenario, observation)
    } else {
        InScenario::new(identity(scenario), observation)
    }
}

/// Whether an episode was censored, and not because it passed everything.
pub(crate) fn stopped_from_outside(episode: &EpisodeEntry, policy: &CensoringPolicy) -> bool {
    episode.end_reason != EndReason::PassedAll && policy.ending(episode.end_reason) == Ending::Censored
}

/// Share of episodes that were stopped from outside before `tau`, 0 to 1; `None` = there are none, or nobody was at risk.
pub(crate) fn early_censored<'a>(
    episodes: impl Iterator<Item = &'a EpisodeEntry>,
    tau: Option<u32>,
    policy: &CensoringPolicy,
) -> Option<f64> {
    let tau = tau?;
    let (mut n, mut early) = (0_u32, 0_u32);
    for episode in episodes {
        n += 1;
        early += u32::from(episode.stamina < tau && stopped_from_outside(episode, policy));
    }
    (n > 0).then(|| f64::from(early) / f64::from(n))
}

/// The task of a round that was played by itself: it is an episode called `TASK/STEP`.
pub(crate) fn task_of(scenario: &str) -> &str {
    scenario.rsplit_once('/').map_or(scenario, |(task, _)| task)
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
