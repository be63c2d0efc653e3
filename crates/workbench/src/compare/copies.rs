//! The same trial in several runs counts once: where runs are taken together, copies are left out and named.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use store::{EpisodeId, EpisodeTurns, RunId, Store};

use super::members::{Pool, PooledRun};
use crate::api::ApiError;

/// Episodes of a run that are counted in another one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Copied {
    ids: HashSet<EpisodeId>,
    slugs: HashSet<String>,
    /// The scenarios that they play.
    scenarios: BTreeSet<String>,
    /// Slugs of the runs in which they count, and how many do so in each.
    counted_in: BTreeMap<String, u32>,
}

impl Copied {
    /// How many of them count in none of these runs.
    pub(crate) fn count_outside(&self, runs: &[&str]) -> u32 {
        self.counted_in.iter().filter(|(run, _)| !runs.contains(&run.as_str())).map(|(_, n)| n).sum()
    }

    /// Whether the episode of this slug is counted elsewhere.
    pub(crate) fn contains(&self, slug: &str) -> bool {
        self.slugs.contains(slug)
    }

    /// The names of the scenarios that they play.
    pub(crate) fn scenarios(&self) -> impl Iterator<Item = &str> {
        self.scenarios.iter().map(String::as_str)
    }

    /// Where they are counted, a sentence for each run.
    pub(crate) fn in_words(&self, run: &str) -> impl Iterator<Item = String> {
        self.counted_in.iter().map(move |(counted, n)| match n {
            1 => format!("1 episode of {run} is the same trial as in {counted}, and counts there."),
            n => format!("{n} episodes of {run} are the same trials as in {counted}, and count there."),
        })
    }
}

impl PooledRun {
    /// Whether all of its episodes count in another run.
    pub(crate) fn is_copy(&self) -> bool {
        self.episodes.is_empty() && !self.copied.ids.is_empty()
    }

    /// What was tried in each of its episodes, in their order.
    pub(crate) fn episode_turns(&self, store: &Store) -> Result<Vec<EpisodeTurns>, ApiError> {
        let mut plays = store.episode_turns(self.record.entry.id)?;
        plays.retain(|play| !self.copied.ids.contains(&play.episode));
        Ok(plays)
    }
}

/// Leaves out of these members every episode that another one of them stands for.
pub(crate) fn count_once(store: &Store, pools: &mut [Pool]) -> Result<(), ApiError> {
    let slugs: HashMap<RunId, String> = (pools.iter().flat_map(|pool| &pool.runs))
        .map(|run| (run.record.entry.id, run.record.entry.slug.clone()))
        .collect();
    if slugs.len() < 2 {
        return Ok(());
    }
    let runs: Vec<RunId> = slugs.keys().copied().collect();
    let copies: HashMap<EpisodeId, RunId> =
        store.copies_among(&runs)?.into_iter().map(|copy| (copy.episode, copy.counted_run)).collect();
    for run in pools.iter_mut().flat_map(|pool| &mut pool.runs) {
        let copied = &mut run.copied;
        run.episodes.retain(|episode| {
            let Some(counted) = copies.get(&episode.id) else { return true };
            copied.ids.insert(episode.id);
            copied.slugs.insert(episode.slug.clone());
            copied.scenarios.insert(episode.scenario.clone());
            if let Some(counted) = slugs.get(counted) {
                *copied.counted_in.entry(counted.clone()).or_default() += 1;
            }
            false
        });
    }
    Ok(())
}

/// The same where members stand beside each other, one run each: one whose every trial counts in another one is no further
/// member. Returns where the trials that are left out count, a sentence for each two runs.
pub(crate) fn count_once_each(store: &Store, pools: &mut Vec<Pool>) -> Result<Vec<String>, ApiError> {
    count_once(store, pools)?;
    let runs = pools.iter().flat_map(|pool| &pool.runs);
    let copied = runs.flat_map(|run| run.copied.in_words(&run.record.entry.slug)).collect();
    pools.retain(|pool| pool.runs.iter().any(|run| !run.is_copy()));
    Ok(copied)
}

/// The same for the runs of one member. A run whose every trial counts in another one is no further run.
pub(crate) fn count_once_in(store: &Store, pool: &mut Pool) -> Result<(), ApiError> {
    count_once(store, std::slice::from_mut(pool))?;
    pool.copied = (pool.runs.iter())
        .flat_map(|run| run.copied.in_words(&run.record.entry.slug).collect::<Vec<_>>())
        .collect();
    pool.runs.retain(|run| !run.is_copy());
    Ok(())
}

/// Which runs of some members have episodes in common.
pub(crate) struct Common(HashSet<(RunId, RunId)>);

impl Common {
    pub(crate) fn read(store: &Store, pools: &[Pool]) -> Result<Self, ApiError> {
        let runs: Vec<RunId> =
            pools.iter().flat_map(|pool| &pool.runs).map(|run| run.record.entry.id).collect();
        let mut groups: HashMap<EpisodeId, BTreeSet<RunId>> = HashMap::new();
        for copy in store.copies_among(&runs)? {
            groups.entry(copy.counted).or_default().extend([copy.run, copy.counted_run]);
        }
        let pairs =
            groups.values().flat_map(|group| group.iter().flat_map(|a| group.iter().map(|b| (*a, *b))));
        Ok(Self(pairs.collect()))
    }

    /// How many runs of `b` are in `a`, or have episodes of one of its runs.
    pub(crate) fn in_both(&self, a: &Pool, b: &Pool) -> u32 {
        let id = |run: &PooledRun| run.record.entry.id;
        let is_in_a =
            |its: RunId| a.runs.iter().map(id).any(|own| own == its || self.0.contains(&(own, its)));
        b.runs.iter().filter(|run| is_in_a(id(run))).count() as u32
    }

    /// Every two that have runs or episodes in common: their places, how many runs.
    pub(crate) fn overlaps(&self, pools: &[Pool]) -> Vec<(u32, u32, u32)> {
        let pairs = (0..pools.len()).flat_map(|a| (a + 1..pools.len()).map(move |b| (a, b)));
        let counted = pairs.map(|(a, b)| (a as u32, b as u32, self.in_both(&pools[a], &pools[b])));
        counted.filter(|(_, _, runs)| *runs > 0).collect()
    }
}
