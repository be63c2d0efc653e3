//! Mean stamina against the retry budget, from the attempts of runs that allowed more.

use std::sync::Arc;

use analysis::bootstrap::{Resampling, bootstrap_mean};
use analysis::clusters::InScenario;
use analysis::difference::common_tau;
use analysis::retries::{EpisodeAttempts, TurnAttempts, feedback_gain, readings};
use analysis::survival::{Observation, anyone_at_risk, known_horizon, summarize_over};
use model::CensoringPolicy;
use store::EpisodeTurns;

use crate::Workbench;
use crate::api::{ApiError, Retries, RetriesRequest, RetryPoint, RetrySeries};
use crate::compare::coverage::by_job;
use crate::compare::members::{self, Pool};
use crate::compare::pair_tests::bootstrapped;
use crate::compare::{doubts, settings};
use crate::episodes::task_of;
use crate::published;
use crate::stamina_for_hosts::stamina_of;

/// What such a truncation can and cannot say.
const SAYS: [&str; 3] = [
    "Each point is the same run, read as if no turn had been allowed more attempts. Up to the first turn that needed more, it is what was observed.",
    "What the agent would have done after that turn is not observed, and not needed: stamina ends there.",
    "It is an estimate from one experiment. An agent that knows of fewer attempts may work otherwise. A turn passed at once may owe that to the feedback of an earlier turn's retry.",
];

/// A member with the attempts of its episodes.
struct Curve {
    attempts: Vec<EpisodeAttempts>,
    limit: Option<u32>,
    /// For each budget, the episodes as they would have ended.
    readings: Vec<Vec<Observation>>,
}

impl Workbench {
    /// Mean stamina against the retry budget, remembered until something changes in the library.
    pub(crate) fn retries(&self, request: &RetriesRequest) -> Result<Arc<Retries>, ApiError> {
        let change = self.store.last_change()?;
        self.cache.retries.get(change, request, || self.make_retries(request))
    }

    fn make_retries(&self, request: &RetriesRequest) -> Result<Retries, ApiError> {
        if request.members.is_empty() {
            return Err(ApiError::new("retries.nothing", "There is nothing to look at")
                .hint("Name one run or more, or a group of runs"));
        }
        let policy = self.store.get_policy()?;
        let pools = members::resolve_only(&self.store, &request.members, &request.only)?;
        let mut curves = Vec::new();
        for pool in &pools {
            let plays =
                pool.runs.iter().map(|run| run.episode_turns(&self.store)).collect::<Result<Vec<_>, _>>()?;
            curves.push(Curve::new(pool, &plays, &policy));
        }
        let readings: Vec<(&[Observation], Option<u32>)> = pools
            .iter()
            .zip(&curves)
            .flat_map(|(pool, curve)| curve.readings.iter().map(|r| (r.as_slice(), pool.planned())))
            .filter(|(observations, _)| anyone_at_risk(observations))
            .collect();
        let tau = common_tau(&readings);
        let mut benchmarks: Vec<String> = pools.iter().map(|pool| pool.benchmark().key).collect();
        benchmarks.sort_unstable();
        benchmarks.dedup();
        let mut cautions: Vec<String> = SAYS.map(str::to_owned).to_vec();
        for (limit, sentence) in [
            (None, "the attempt limit is not stated; the most attempts that were made stand in for it."),
            (Some(1), "one attempt a turn, so there is nothing to truncate."),
        ] {
            let with_it = pools.iter().zip(&curves).filter(|(_, curve)| curve.limit == limit);
            let names: Vec<&str> = with_it.map(|(pool, _)| pool.name.as_str()).collect();
            if !names.is_empty() {
                cautions.push(doubts::sentence_about(&names, pools.len(), sentence));
            }
        }
        cautions.extend(doubts::withdrawn_runs(&pools).into_iter().map(|mark| format!("{mark}.")));
        cautions.extend(benchmarks.iter().flat_map(|key| published::statements(key, "retries")));
        Ok(Retries {
            tau: known_horizon(tau),
            series: pools.iter().zip(&curves).map(|(pool, curve)| curve.series(pool, tau)).collect(),
            not_comparable: settings::in_words(&settings::not_comparable(&by_job(&pools)), "member"),
            cautions,
            published: benchmarks.iter().flat_map(|key| published::by_retries(key)).collect(),
        })
    }
}

impl Curve {
    fn new(pool: &Pool, plays: &[Vec<EpisodeTurns>], policy: &CensoringPolicy) -> Self {
        let mut attempts = Vec::new();
        for (run, plays) in pool.runs.iter().zip(plays) {
            for (episode, play) in run.episodes.iter().zip(plays) {
                let due = episode.stamina.saturating_add(1);
                let turns = play.turns.iter().map(|turn| {
                    let ended_by = (turn.number == due).then_some(episode.end_reason);
                    TurnAttempts::from_verdicts(turn.number, turn.attempts.iter().copied(), ended_by, policy)
                });
                let alone = run.record.entry.benchmark.plays_steps_alone();
                let scenario = if alone { task_of(&episode.scenario) } else { episode.scenario.as_str() };
                attempts.push(EpisodeAttempts {
                    scenario: run.identity(scenario),
                    observed: Observation::from_reason(episode.stamina, episode.end_reason, policy),
                    turns: turns.collect(),
                });
            }
        }
        // Beyond the least limit of its runs, a pooled reading would be that of some of them.
        let limits: Option<Vec<u32>> = pool.runs.iter().map(|run| run.record.entry.attempt_limit).collect();
        let limit = limits.and_then(|limits| limits.into_iter().min());
        let readings = readings(&attempts, limit);
        Self { attempts, limit, readings }
    }

    /// The episodes under one budget, each with its scenario.
    fn in_scenarios(&self, reading: &[Observation]) -> Vec<InScenario> {
        let each = self.attempts.iter().zip(reading);
        each.map(|(episode, observation)| InScenario::new(episode.scenario.as_str(), *observation)).collect()
    }

    fn series(&self, pool: &Pool, tau: u32) -> RetrySeries {
        let most_retries = self.readings.len() as u32 - 1;
        let gain = (most_retries > 0)
            .then(|| feedback_gain(&self.attempts, most_retries, tau, Resampling::default()))
            .flatten();
        RetrySeries {
            id: pool.id.clone(),
            name: pool.name.clone(),
            simulated: pool.simulated(),
            style: pool.style,
            attempt_limit: self.limit,
            points: (0..)
                .zip(&self.readings)
                .map(|(retries, reading)| {
                    let trials = self.in_scenarios(reading);
                    let summary = summarize_over(reading, tau);
                    let bootstrap = || bootstrap_mean(&trials, tau, Resampling::default());
                    RetryPoint { retries, stamina: stamina_of(&summary, &trials, bootstrap) }
                })
                .collect(),
            gain: gain.as_ref().map(bootstrapped),
        }
    }
}
