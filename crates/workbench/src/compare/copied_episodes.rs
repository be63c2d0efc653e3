//! Episodes of a run that count in another run.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use store::EpisodeId;

/// Episodes of a run that are counted in another one, or nowhere because a copy is withdrawn.
#[derive(Debug, Clone, Default)]
pub(crate) struct CopiedEpisodes {
    pub(super) ids: HashSet<EpisodeId>,
    pub(super) slugs: HashSet<String>,
    /// The scenarios that they play.
    pub(super) scenarios: BTreeSet<String>,
    /// The episodes that count in their place, each with the slug of its run.
    pub(super) counted: BTreeMap<EpisodeId, String>,
    /// How many are withdrawn, by the slug of the run in which they are; `""` = a run that is not among the others.
    pub(super) withdrawn_in: BTreeMap<String, u32>,
}

impl CopiedEpisodes {
    /// The episodes that count in their place.
    pub(crate) fn counted(&self) -> impl Iterator<Item = EpisodeId> {
        self.counted.keys().copied()
    }

    /// Adds those of another run.
    pub(crate) fn extend(&mut self, other: &Self) {
        self.ids.extend(&other.ids);
        self.slugs.extend(other.slugs.iter().cloned());
        self.scenarios.extend(other.scenarios.iter().cloned());
        self.counted.extend(other.counted.iter().map(|(id, run)| (*id, run.clone())));
        for (run, n) in &other.withdrawn_in {
            *self.withdrawn_in.entry(run.clone()).or_default() += n;
        }
    }

    /// Whether the episode of this slug is counted elsewhere, or nowhere.
    pub(crate) fn contains(&self, slug: &str) -> bool {
        self.slugs.contains(slug)
    }

    /// The names of the scenarios that they play.
    pub(crate) fn scenarios(&self) -> impl Iterator<Item = &str> {
        self.scenarios.iter().map(String::as_str)
    }

    /// Where they are counted, or why they are not, a sentence for each run. `noun`: what an episode of this one is called.
    pub(crate) fn in_words(&self, run: &str, noun: &str) -> Vec<String> {
        let mut counted_in: BTreeMap<&str, u32> = BTreeMap::new();
        for counted in self.counted.values() {
            *counted_in.entry(counted).or_default() += 1;
        }
        let counted = counted_in.into_iter().map(|(counted, n)| match n {
            1 => format!("1 {noun} of {run} is the same trial as in {counted}, and counts there."),
            n => format!("{n} {noun}s of {run} are the same trials as in {counted}, and count there."),
        });
        let withdrawn = self.withdrawn_in.iter().map(|(other, n)| {
            let other = if other.is_empty() { "another run" } else { other };
            match n {
                1 => format!("1 {noun} of {run} is the same trial as in {other}, where it is withdrawn, and does not count."),
                n => format!("{n} {noun}s of {run} are the same trials as in {other}, where they are withdrawn, and do not count."),
            }
        });
        counted.chain(withdrawn).collect()
    }
}
