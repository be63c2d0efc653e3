//! The same trial in several runs counts once: where runs are taken together, copies are left out and named.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::runs_in_words;
use store::{EpisodeCopy, EpisodeId, EpisodeTurns, RunId, Store};

use super::counted_scores;
use super::coverage::is_one_job;
use super::pool::{Pool, PooledRun};
use crate::api::ApiError;
use crate::episodes::episode_noun;

impl PooledRun {
    /// Whether all of its episodes count in another run, or nowhere.
    pub(crate) fn is_copy(&self) -> bool {
        self.episodes.is_empty() && !self.copied.ids.is_empty()
    }

    /// Whether any of its episodes counts in another run, or nowhere.
    pub(super) fn has_copies(&self) -> bool {
        !self.copied.ids.is_empty()
    }

    /// What was tried in each of its episodes, in their order.
    pub(crate) fn episode_turns(&self, store: &Store) -> Result<Vec<EpisodeTurns>, ApiError> {
        let mut plays = store.episode_turns(self.record.entry.id)?;
        plays.retain(|play| !self.copied.ids.contains(&play.episode));
        Ok(plays)
    }
}

/// The runs of these members that may be copies of each other, a sentence for each group of them: nothing that was measured decides it.
fn undecided(store: &Store, pools: &[Pool]) -> Result<Vec<String>, ApiError> {
    undecided_in(store, pools, 1)
}

/// The same of groups of runs that several members have: of its own runs each member says it itself.
pub(super) fn undecided_between(store: &Store, pools: &[Pool]) -> Result<Vec<String>, ApiError> {
    undecided_in(store, pools, 2)
}

/// The same of groups whose runs are in this many members at least.
fn undecided_in(store: &Store, pools: &[Pool], fewest_members: usize) -> Result<Vec<String>, ApiError> {
    let mut members_of: HashMap<RunId, BTreeSet<usize>> = HashMap::new();
    for (member, pool) in pools.iter().enumerate() {
        for run in &pool.runs {
            members_of.entry(run.record.entry.id).or_default().insert(member);
        }
    }
    if members_of.len() < 2 {
        return Ok(Vec::new());
    }
    let groups = store.undecided_copies()?;
    let named = groups.iter().filter_map(|runs| {
        let members: BTreeSet<usize> =
            runs.iter().filter_map(|(run, _)| members_of.get(run)).flatten().copied().collect();
        let names: Vec<&str> = runs
            .iter()
            .filter(|(run, _)| members_of.contains_key(run))
            .map(|(_, slug)| slug.as_str())
            .collect();
        (names.len() > 1 && members.len() >= fewest_members).then(|| {
            format!(
                "{} may be copies of each other: they are equal, and too little was measured to tell; each counts.",
                runs_in_words(&names)
            )
        })
    });
    Ok(named.collect())
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
    let copies: HashMap<EpisodeId, EpisodeCopy> =
        store.copies_among(&runs)?.into_iter().map(|copy| (copy.episode, copy)).collect();
    for run in pools.iter_mut().flat_map(|pool| &mut pool.runs) {
        let (copied, withdrawn) = (&mut run.copied, &mut run.withdrawn);
        run.episodes.retain(|episode| {
            let Some(copy) = copies.get(&episode.id) else { return true };
            copied.ids.insert(episode.id);
            copied.slugs.insert(episode.slug.clone());
            copied.scenarios.insert(episode.scenario.clone());
            let counted_in = slugs.get(&copy.counted_run).cloned().unwrap_or_default();
            if let Some(trial) = &copy.withdrawn {
                withdrawn.insert(trial.clone());
                *copied.withdrawn_in.entry(counted_in).or_default() += 1;
            } else {
                copied.counted.insert(copy.counted, counted_in);
            }
            false
        });
    }
    Ok(())
}

/// The same where members stand beside each other, one run each: one whose every trial counts in another one is no further
/// member. Returns where the trials that are left out count, a sentence for each two runs, and which runs may be copies.
pub(crate) fn count_once_each(store: &Store, pools: &mut Vec<Pool>) -> Result<Vec<String>, ApiError> {
    count_once(store, pools)?;
    let runs = pools.iter().flat_map(|pool| &pool.runs);
    let mut copied: Vec<String> = runs.flat_map(copied_in_words).collect();
    copied.extend(undecided(store, pools)?);
    let copies: Vec<Pool> = pools.extract_if(.., |pool| pool.runs.iter().all(PooledRun::is_copy)).collect();
    for copy in copies.iter().flat_map(|pool| &pool.runs) {
        hand_on_withdrawn(copy, pools.iter_mut().flat_map(|pool| &mut pool.runs));
    }
    Ok(copied)
}

/// Where the episodes of a run that are left out count.
fn copied_in_words(run: &PooledRun) -> Vec<String> {
    let entry = &run.record.entry;
    let rate = entry.summary.as_ref().and_then(|summary| summary.pass_rate.as_ref());
    run.copied.in_words(&entry.slug, episode_noun(rate.is_some()))
}

/// Gives these members the scores of what counts of them, after [`count_once_each`]: they read much, and not everybody shows them.
pub(crate) fn count_scores(store: &Store, pools: &mut [Pool]) -> Result<(), ApiError> {
    counted_scores::fill(store, pools.iter_mut().flat_map(|pool| &mut pool.runs))
}

/// The same for the runs of one member. A run whose every trial counts in another one is no further run.
pub(crate) fn count_once_in(store: &Store, pool: &mut Pool) -> Result<(), ApiError> {
    count_once(store, std::slice::from_mut(pool))?;
    pool.copied = pool.runs.iter().flat_map(copied_in_words).collect();
    pool.copied.extend(undecided(store, std::slice::from_ref(pool))?);
    let copies: Vec<PooledRun> = pool.runs.extract_if(.., |run| run.is_copy()).collect();
    for copy in &copies {
        hand_on_withdrawn(copy, pool.runs.iter_mut());
    }
    counted_scores::fill(store, pool.runs.iter_mut())
}

/// Counts the withdrawn trials of a run that is left out with another one of its job: there they are not missing either.
fn hand_on_withdrawn<'a>(copy: &PooledRun, mut runs: impl Iterator<Item = &'a mut PooledRun>) {
    if copy.withdrawn.is_empty() {
        return;
    }
    let has_its_trials = |run: &&'a mut PooledRun| {
        let entry = &run.record.entry;
        is_one_job(entry, &copy.record.entry) || copy.copied.counted.values().any(|slug| *slug == entry.slug)
    };
    if let Some(run) = runs.find(has_its_trials) {
        run.withdrawn.extend(copy.withdrawn.iter().cloned());
    }
}

/// Which runs of some members have episodes in common.
pub(crate) struct RunsInCommon(HashSet<(RunId, RunId)>);

impl RunsInCommon {
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
            |run: RunId| a.runs.iter().map(id).any(|own| own == run || self.0.contains(&(own, run)));
        b.runs.iter().filter(|run| is_in_a(id(run))).count() as u32
    }

    /// Every two that have runs or episodes in common: their places, how many runs.
    pub(crate) fn overlaps(&self, pools: &[Pool]) -> Vec<(u32, u32, u32)> {
        let pairs = (0..pools.len()).flat_map(|a| (a + 1..pools.len()).map(move |b| (a, b)));
        let counted = pairs.map(|(a, b)| (a as u32, b as u32, self.in_both(&pools[a], &pools[b])));
        counted.filter(|(_, _, runs)| *runs > 0).collect()
    }
}
