//! How many episodes there are in a figure or table, and how they ended: of runs of one turn, how many trials are scored, passed
//! and failed.

use std::collections::HashSet;

use analysis::pass_rate::{TaskTrials, pass_rate};
use analysis::survival::Observation;
use figures::EpisodeCounts;
use model::{Ending, PassRate};

use super::counted_in_each;
use crate::Workbench;
use crate::api::{ApiError, ComparedMember, Comparison, Member, Stamina};
use crate::compare::copies::{self, RunsInCommon};
use crate::compare::doubts;
use crate::compare::members::{self, Pool};
use crate::episodes::ending;

/// The most members whose episodes a caption counts one by one.
const MOST_COUNTED: usize = 8;

/// How episodes ended: those of a mean stamina, or of a pass rate, whose trials are scored or not.
pub(super) fn counts(name: String, stamina: &Stamina, rate: Option<&PassRate>) -> EpisodeCounts {
    match rate {
        Some(rate) => counts_of_trials(name, rate),
        None => counts_of_episodes(name, stamina.n, stamina.events),
    }
}

fn counts_of_episodes(name: String, n: u32, events: u32) -> EpisodeCounts {
    let censored = Some(n.saturating_sub(events));
    EpisodeCounts { name, n, events: Some(events), censored, ..EpisodeCounts::default() }
}

fn counts_of_trials(name: String, rate: &PassRate) -> EpisodeCounts {
    EpisodeCounts {
        name,
        n: rate.trials,
        passed: Some(rate.passed),
        unscored: Some(rate.unscored),
        tasks: Some(rate.tasks),
        ..EpisodeCounts::default()
    }
}

/// Their sum, where there are several.
pub(super) fn summed(episode_counts: Vec<EpisodeCounts>, noun: &str) -> Vec<EpisodeCounts> {
    if episode_counts.len() < 2 {
        return episode_counts;
    }
    let sum = |count_of: fn(&EpisodeCounts) -> Option<u32>| {
        episode_counts.iter().map(count_of).try_fold(0_u32, |total, count| Some(total.saturating_add(count?)))
    };
    let name = format!("{} {noun}", episode_counts.len());
    let n = sum(|c| Some(c.n)).unwrap_or(0);
    // Tasks of several runs may be the same ones.
    vec![EpisodeCounts {
        name,
        n,
        events: sum(|c| c.events),
        censored: sum(|c| c.censored),
        passed: sum(|c| c.passed),
        unscored: sum(|c| c.unscored),
        tasks: None,
    }]
}

/// How the episodes of these members ended; of members that all play one turn, their trials.
pub(super) fn counted_of<'a>(
    data: &Comparison,
    members: impl IntoIterator<Item = &'a ComparedMember>,
) -> Vec<EpisodeCounts> {
    let rate = |member: &'a ComparedMember| member.pass_rate.as_ref().filter(|_| data.of_one_turn);
    members.into_iter().map(|member| counts(member.marked(), &member.stamina, rate(member))).collect()
}

/// The same of all members.
pub(super) fn counted(data: &Comparison) -> Vec<EpisodeCounts> {
    counted_of(data, &data.members)
}

/// Of trials of one turn, who asks for survival reads where those that passed are counted.
pub(in crate::export) fn passed_are_censored(data: &Comparison) -> Vec<String> {
    let note = "Trials that passed are among the censored";
    data.of_one_turn.then(|| note.to_owned()).into_iter().collect()
}

impl Workbench {
    /// How the episodes of members ended, of many members their sum, and what is to be said of trials that several of them have.
    pub(super) fn episodes_of(
        &self,
        shown: &[Member],
    ) -> Result<(Vec<EpisodeCounts>, Vec<String>), ApiError> {
        let pools = members::resolve(&self.store, shown)?;
        let mut notes = doubts::withdrawn_runs(&pools);
        if pools.len() > MOST_COUNTED {
            let (sum, note) = self.counted_once(pools)?;
            notes.extend(note);
            return Ok((vec![sum], notes));
        }
        let overlaps = RunsInCommon::read(&self.store, &pools)?.overlaps(&pools);
        let name = |index: u32| pools.get(index as usize).map(Pool::marked).unwrap_or_default();
        notes.extend(counted_in_each(&overlaps, name));
        Ok((self.episodes_of_pools(&pools)?, notes))
    }

    /// The marks of those runs of members that a user has withdrawn.
    pub(in crate::export) fn withdrawn_marks(&self, shown: &[Member]) -> Result<Vec<String>, ApiError> {
        Ok(doubts::withdrawn_runs(&members::resolve(&self.store, shown)?))
    }

    /// How the episodes of several members ended, in one sum to which each trial adds once, and what is to be said of those that
    /// several of them have.
    pub(super) fn counted_once(
        &self,
        mut pools: Vec<Pool>,
    ) -> Result<(EpisodeCounts, Option<String>), ApiError> {
        let members = pools.len();
        let all = pools.iter().flat_map(Pool::episodes).count();
        let one_turn = members::all_of_one_turn(&pools);
        copies::count_once(&self.store, &mut pools)?;
        let policy = self.store.get_policy()?;
        let mut seen_ids = HashSet::new();
        let once = pools.iter().flat_map(Pool::episodes).filter(|episode| seen_ids.insert(episode.id));
        let (mut n, mut events, mut trials) = (0_u32, 0_u32, TaskTrials::default());
        for episode in once {
            n += 1;
            events += u32::from(ending(episode, &policy) == Ending::Event);
            trials.add(Observation::from_reason(episode.stamina, episode.end_reason, &policy));
        }
        let name = format!("{members} runs");
        let sum = if one_turn {
            EpisodeCounts {
                name,
                n: trials.trials,
                passed: Some(trials.passed),
                unscored: Some(trials.unscored),
                ..EpisodeCounts::default()
            }
        } else {
            counts_of_episodes(name, n, events)
        };
        let shared = all as u64 - u64::from(n);
        let note = (shared > 0).then(|| {
            format!(
                "Trials that several of them have count once in their sum ({shared} fewer than in the rows)"
            )
        });
        Ok((sum, note))
    }

    /// The same of members that are resolved already, with the episodes of them that count.
    pub(in crate::export) fn episodes_of_pools(
        &self,
        pools: &[Pool],
    ) -> Result<Vec<EpisodeCounts>, ApiError> {
        let policy = self.store.get_policy()?;
        let one_turn = members::all_of_one_turn(pools);
        let episode_counts: Vec<EpisodeCounts> = pools
            .iter()
            .map(|pool| {
                if one_turn {
                    return counts_of_trials(pool.marked(), &pass_rate(&pool.in_scenarios(&policy)));
                }
                let n = pool.episodes().count() as u32;
                let event = |episode: &&store::EpisodeEntry| ending(episode, &policy) == Ending::Event;
                let events = pool.episodes().filter(event).count() as u32;
                counts_of_episodes(pool.marked(), n, events)
            })
            .collect();
        Ok(if episode_counts.len() <= MOST_COUNTED { episode_counts } else { summed(episode_counts, "runs") })
    }
}
