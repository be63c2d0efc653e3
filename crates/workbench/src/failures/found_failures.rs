//! Whose failures are asked for, what of them is in scope, and by what they are grouped.

use std::sync::Arc;

use model::{CensoringPolicy, Ending, counted};
use store::{RunEntry, RunFilter};

use super::digest::{Case, EpisodeFailures, MadeAttempt, RunFailures, RunToRead};
use crate::Workbench;
use crate::api::{ApiError, FailureGrouping, FailureScope, FailuresRequest, Member};
use crate::benchmarks;
use crate::compare::members::{self, Pool};
use crate::compare::{copies, doubts};
use crate::episodes::{episode_noun, task_of};
use crate::sessions::no_stamina;

/// Stands for an unknown harness among the keys of groups.
const UNKNOWN: &str = "?";

/// The failures of some members.
pub(super) struct FoundFailures {
    pub(super) pools: Vec<Pool>,
    /// For each member, its runs.
    pub(super) runs: Vec<Vec<Arc<RunFailures>>>,
    /// Which ends of episodes are failures.
    pub(super) policy: CensoringPolicy,
    /// Where trials count that are left out because they are in several runs, in words.
    pub(super) copied: Vec<String>,
    /// What is left out because a user has withdrawn it, in words.
    pub(super) withdrawn: Vec<String>,
    /// Where no member was named: the benchmark, and all that there are.
    pub(super) benchmark: Option<(String, String)>,
    pub(super) benchmarks: Vec<(String, String, u32)>,
}

/// Whose failures are asked for; where nobody was named, of which benchmark, and which there are.
pub(super) struct RequestedMembers {
    pub(super) members: Vec<Member>,
    pub(super) benchmark: Option<(String, String)>,
    pub(super) benchmarks: Vec<(String, String, u32)>,
    /// Its runs that a user has withdrawn, in words.
    pub(super) withdrawn: Vec<String>,
}

/// An episode with where it stands.
#[derive(Clone, Copy)]
pub(super) struct PlacedEpisode<'a> {
    /// Its member's place.
    pub(super) member: usize,
    pub(super) pool: &'a Pool,
    pub(super) run: usize,
    pub(super) episode: &'a EpisodeFailures,
    /// Whether the policy takes its end for an event.
    pub(super) is_event: bool,
}

/// A failed attempt with where it stands.
pub(super) struct Place<'a> {
    pub(super) placed_episode: PlacedEpisode<'a>,
    pub(super) case: &'a Case,
}

impl FoundFailures {
    pub(super) fn episodes(&self) -> impl Iterator<Item = PlacedEpisode<'_>> {
        let policy = &self.policy;
        self.pools.iter().zip(&self.runs).enumerate().flat_map(move |(member, (pool, runs))| {
            runs.iter().enumerate().flat_map(move |(run, failures)| {
                let counted =
                    failures.episodes.iter().filter(move |e| !pool.runs[run].copied.contains(&e.episode));
                counted.map(move |episode| {
                    let is_event = policy.ending(episode.end_reason) == Ending::Event;
                    PlacedEpisode { member, pool, run, episode, is_event }
                })
            })
        })
    }

    /// The failed attempts in scope, by member, run, scenario, turn and attempt.
    pub(super) fn cases(&self, scope: FailureScope) -> impl Iterator<Item = Place<'_>> {
        self.episodes().flat_map(move |placed_episode| {
            placed_episode.cases(scope).map(move |case| Place { placed_episode, case })
        })
    }
}

impl<'a> PlacedEpisode<'a> {
    pub(super) fn cases(self, scope: FailureScope) -> impl Iterator<Item = &'a Case> {
        self.episode.cases.iter().filter(move |case| match scope {
            FailureScope::Attempts => true,
            FailureScope::Turns => case.ends_turn,
            FailureScope::First => case.is_of_end && self.is_event,
        })
    }

    /// The attempts that a scope is about, failed or not. Of first failures these are the last ones of the turns at risk
    /// that have an attempt: a turn in which something outside ended the episode has no outcome.
    pub(super) fn attempts_in_scope(self, scope: FailureScope) -> impl Iterator<Item = &'a MadeAttempt> {
        self.episode.attempts.iter().filter(move |attempt| match scope {
            FailureScope::Attempts => true,
            FailureScope::Turns => attempt.is_final,
            FailureScope::First => {
                attempt.is_final && attempt.counts_for_stamina && (self.is_event || !attempt.is_of_end)
            }
        })
    }

    /// Whether it failed at a turn without an attempt, for example before its agent began.
    pub(super) fn lacks_attempt(self) -> bool {
        self.is_event && self.episode.attempts.iter().all(|attempt| !attempt.is_of_end)
    }

    /// Its scenario, of rounds that are played alone their task: the same text exactly for the same one, in every run.
    pub(super) fn scenario(self) -> String {
        let run = &self.pool.runs[self.run];
        let plays_alone = run.record.entry.benchmark.plays_steps_alone();
        let scenario = &self.episode.scenario;
        run.identity(if plays_alone { task_of(scenario) } else { scenario })
    }

    pub(super) fn harness(self) -> Option<&'a str> {
        self.pool.runs[self.run].record.entry.harness.as_deref()
    }

    pub(super) fn simulated(self) -> bool {
        self.pool.runs[self.run].record.entry.simulated
    }
}

/// By what is grouped. A group is a number, by which groups are sorted.
pub(super) struct Grouping<'a> {
    pub(super) kind: FailureGrouping,
    pub(super) pools: &'a [Pool],
    /// By name, the unknown one last.
    pub(super) harnesses: Vec<Option<&'a str>>,
}

impl<'a> Grouping<'a> {
    pub(super) fn new(found: &'a FoundFailures, kind: FailureGrouping) -> Self {
        let runs = || found.pools.iter().flat_map(|pool| &pool.runs);
        let mut harnesses: Vec<Option<&str>> =
            runs().map(|run| run.record.entry.harness.as_deref()).collect();
        harnesses.sort_unstable_by_key(|harness| (harness.is_none(), *harness));
        harnesses.dedup();
        Self { kind, pools: &found.pools, harnesses }
    }

    pub(super) fn place(&self, played: PlacedEpisode<'_>, turn: u32, attempt: u32) -> u32 {
        match self.kind {
            FailureGrouping::Member => played.member as u32,
            FailureGrouping::Harness => {
                self.harnesses.iter().position(|harness| *harness == played.harness()).unwrap_or(0) as u32
            }
            FailureGrouping::Turn => turn,
            FailureGrouping::Attempt => attempt,
        }
    }

    /// Its key and its words.
    pub(super) fn named(&self, place: u32) -> (String, String) {
        let index = place as usize;
        match self.kind {
            FailureGrouping::Member => self
                .pools
                .get(index)
                .map_or_else(Default::default, |pool| (pool.id.clone(), pool.name.clone())),
            FailureGrouping::Harness => match self.harnesses.get(index).copied().flatten() {
                Some(harness) => (harness.to_owned(), harness.to_owned()),
                None => (UNKNOWN.to_owned(), "unknown harness".to_owned()),
            },
            FailureGrouping::Turn => (place.to_string(), format!("turn {place}")),
            FailureGrouping::Attempt => (place.to_string(), format!("attempt {place}")),
        }
    }
}

impl Workbench {
    /// The members whose failures are asked for: every real run of a benchmark if none is named, or every run of it if
    /// there is no real one: what passes or fails in one benchmark says nothing of another.
    fn requested_members(&self, request: &FailuresRequest) -> Result<RequestedMembers, ApiError> {
        if !request.members.is_empty() {
            let members = request.members.clone();
            return Ok(RequestedMembers {
                members,
                benchmark: None,
                benchmarks: Vec::new(),
                withdrawn: Vec::new(),
            });
        }
        let list = |real_only| -> Result<Vec<RunEntry>, ApiError> {
            let list =
                self.store.list_runs(&RunFilter { real_only, valid_only: true, ..RunFilter::default() })?;
            Ok(list.rows.into_iter().map(|(_, run)| run).collect())
        };
        let (real, all) = (list(true)?, list(false)?);
        if let Some(untested) = all.iter().find(|run| !run.benchmark.has_verdicts())
            && (request.benchmark.as_ref() == Some(&untested.benchmark.key)
                || all.iter().all(|run| !run.benchmark.has_verdicts()))
        {
            return Err(no_stamina(untested));
        }
        let benchmarks = benchmarks::counted(&all);
        // One that has real runs goes before one that has none.
        let with_real = benchmarks::counted(&real);
        let first = || with_real.iter().chain(&benchmarks).map(|(key, _, _)| key.clone()).next();
        let key = request.benchmark.clone().or_else(first);
        let benchmark = benchmarks
            .iter()
            .find(|(known, _, _)| Some(known) == key.as_ref())
            .map(|(key, name, _)| (key.clone(), name.clone()));
        let every = self.store.list_runs(&RunFilter::default())?.rows;
        if let (Some(wanted), None) = (&request.benchmark, &benchmark) {
            let are_withdrawn =
                every.iter().any(|(_, run)| run.invalid.is_some() && run.benchmark.key == *wanted);
            return Err(benchmarks::no_runs("failures.no_runs", Some(wanted), are_withdrawn, &benchmarks));
        }
        // Without a benchmark no run counts; those that are withdrawn are named all the same.
        let own = |run: &&RunEntry| key.as_ref().is_none_or(|key| *key == run.benchmark.key);
        let runs = if real.iter().any(|run| own(&run)) { real } else { all };
        let members = runs.iter().filter(own).map(|run| Member::Run { run: run.slug.clone() }).collect();
        let withdrawn = every
            .iter()
            .map(|(_, run)| run)
            .filter(own)
            .filter_map(|run| {
                let mark = doubts::withdrawn(run.invalid.as_deref())?;
                Some(format!("{} is {mark}, and not in these failures.", run.slug))
            })
            .collect();
        Ok(RequestedMembers { members, benchmark, benchmarks, withdrawn })
    }

    /// The members whose failures are asked for.
    pub(super) fn members_with_failures(&self, request: &FailuresRequest) -> Result<Vec<Member>, ApiError> {
        Ok(self.requested_members(request)?.members)
    }

    /// Their failures.
    pub(super) fn failures_of(&self, request: &FailuresRequest) -> Result<FoundFailures, ApiError> {
        let RequestedMembers { members, benchmark, benchmarks, mut withdrawn } =
            self.requested_members(request)?;
        let mut pools = members::resolve(&self.store, &members)?;
        let copied = copies::count_once_each(&self.store, &mut pools)?;
        let records = || pools.iter().flat_map(|p| &p.runs).map(|run| &run.record);
        withdrawn.extend(pools.iter().flat_map(|pool| pool.left_out.iter().cloned()));
        let noun = format!("withdrawn {}", episode_noun(members::all_of_one_turn(&pools)));
        withdrawn.extend(records().filter(|record| record.entry.withdrawn_episodes > 0).map(|record| {
            let episodes = counted(record.entry.withdrawn_episodes.into(), &noun);
            format!("{}: {episodes} left out.", record.entry.slug)
        }));
        withdrawn.extend(doubts::withdrawn_runs(&pools).into_iter().map(|mark| format!("{mark}.")));
        let ids: Vec<_> = records().map(RunToRead::from_record).collect();
        let open = |source| {
            let record = records().find(|record| record.entry.source == source)?;
            self.opened_sources.tree(source, &record.source_path).ok()
        };
        let mut all = self.cache.failures.read(&self.store, &ids, open)?.into_iter();
        let runs = pools.iter().map(|pool| all.by_ref().take(pool.runs.len()).collect()).collect();
        let policy = self.store.get_policy()?;
        Ok(FoundFailures { pools, runs, policy, copied, withdrawn, benchmark, benchmarks })
    }
}
