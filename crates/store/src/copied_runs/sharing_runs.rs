//! The runs of a source that share trials, and which of them may be a copy of which.

use std::array::from_fn;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use rusqlite::Connection;

use crate::copy_quality::{GRADING, QUALITY_TERM_COUNT, QUALITY_TERMS};
use crate::withdrawn_filter::VALID;
use crate::{Result, RunId, SourceId};

/// At most so many runs are compared with one. One that is not found to be a copy stays, and its trials count once all the same.
const MOST_COMPARED: usize = 1000;

/// A condition on `run`: a user has given it a tag or a note. Tags that its source gave it are those of its copies, too.
const IS_MARKED: &str = "(EXISTS (SELECT 1 FROM note WHERE note.run = run.slug) OR EXISTS (SELECT 1 FROM tag
  WHERE tag.run = run.slug AND NOT EXISTS
    (SELECT 1 FROM source_tag WHERE source_tag.run = tag.run AND source_tag.tag = tag.tag)))";

/// What a copy of a trial lacks, in the terms of [`QUALITY_TERMS`]: the lesser, the better.
type QualityTerms = [i64; QUALITY_TERM_COUNT];

/// A run that shares trials with another one of its source.
pub(super) struct SharingRun {
    pub(super) id: RunId,
    pub(super) place: String,
    pub(super) key: String,
    preferred: i64,
    /// Whether its harness and its model are unknown.
    unknown: (bool, bool),
    /// Whether a user has given it a tag or a note.
    is_marked: bool,
    /// Number of its slug: the lesser, the longer the library knows it.
    slug: i64,
    /// All its trials, also those that no other run has.
    trials: u32,
    /// The shared ones, by identity and grading.
    pub(super) shared: HashMap<String, QualityTerms>,
}

impl SharingRun {
    /// A run comes after every run that it is a copy of: one of more trials, or of the same ones in a better copy.
    pub(super) fn order(&self) -> impl Ord + use<> {
        let quality_terms: QualityTerms =
            from_fn(|term| self.shared.values().map(|quality_terms| quality_terms[term]).sum());
        (
            Reverse(self.trials),
            quality_terms,
            Reverse(self.preferred),
            self.unknown,
            Reverse(self.is_marked),
            self.slug,
        )
    }

    /// Whether it may be a copy of some run: it has no trial of its own, and no user has marked it.
    fn may_be_copy(&self) -> bool {
        self.trials as usize == self.shared.len() && !self.is_marked
    }

    /// Whether all its trials are in another run, each in a copy that is as good, that run knows harness and model if this one
    /// does, and no user has marked this one. It comes after the other one by [`Self::order`].
    pub(super) fn is_copy_of(&self, other: &Self) -> bool {
        self.may_be_copy()
            && self.preferred <= other.preferred
            && self.unknown.0 >= other.unknown.0
            && self.unknown.1 >= other.unknown.1
            && self.shared.iter().all(|(trial, quality_terms)| {
                other.shared.get(trial).is_some_and(|other_gaps| other_gaps <= quality_terms)
            })
    }
}

/// The runs that one may be a copy of: those with its rarest trial, because they have all its trials. A trial that very many runs
/// have says little, and comparing all of them with each other would take time that grows with the square of their number. So
/// at most [`MOST_COMPARED`] are, the ones that come first, and none with a run that cannot be a copy.
pub(super) fn candidates<'a, 'b>(
    run: &SharingRun,
    kept_with: &'b HashMap<&str, Vec<&'a SharingRun>>,
) -> &'b [&'a SharingRun] {
    if !run.may_be_copy() {
        return &[];
    }
    let with_trial = |trial: &String| kept_with.get(trial.as_str()).map_or(&[][..], Vec::as_slice);
    let all = run.shared.keys().map(with_trial).min_by_key(|runs| runs.len()).unwrap_or_default();
    &all[..all.len().min(MOST_COMPARED)]
}

/// SQL: the trials of the runs of a source `?1` that another one of them has, too.
static SHARING_RUNS: LazyLock<String> = LazyLock::new(|| {
    let quality_terms = QUALITY_TERMS.join(", ");
    format!(
        "SELECT run.id, run.place, run.key, run_slug.preferred, run.harness IS NULL, size.episodes, episode.identity || {GRADING},
           run.model IS NULL, run.slug, {IS_MARKED}, {quality_terms}
         FROM run JOIN run_slug ON run_slug.id = run.slug JOIN episode ON episode.run = run.id
           JOIN (SELECT own.run AS run, count(*) AS episodes FROM episode AS own JOIN run AS its ON its.id = own.run
             WHERE its.source = ?1 GROUP BY own.run) AS size ON size.run = run.id
         WHERE run.source = ?1 AND episode.identity IN
             (SELECT own.identity FROM episode AS own JOIN run AS its ON its.id = own.run
              WHERE its.source = ?1 AND own.identity IS NOT NULL GROUP BY own.identity HAVING count(*) > 1)
           AND {VALID} AND NOT EXISTS (SELECT 1 FROM withdrawn_episode AS mark WHERE mark.run = run.slug)
         ORDER BY run.id"
    )
});

/// The runs of a source with trials that another one of them has, too. Withdrawn runs, and runs with withdrawn trials, are
/// none of them: their marks say something of all copies.
pub(super) fn sharing_runs(conn: &Connection, source: SourceId) -> Result<Vec<SharingRun>> {
    /// The column of the first gap.
    const FIRST_GAP: usize = 10;
    let mut find = conn.prepare_cached(&SHARING_RUNS)?;
    let mut rows = find.query([source])?;
    let mut found: Vec<SharingRun> = Vec::new();
    while let Some(row) = rows.next()? {
        let id: RunId = row.get(0)?;
        if found.last().is_none_or(|run| run.id != id) {
            found.push(SharingRun {
                id,
                place: row.get(1)?,
                key: row.get(2)?,
                preferred: row.get(3)?,
                unknown: (row.get(4)?, row.get(7)?),
                slug: row.get(8)?,
                is_marked: row.get(9)?,
                trials: row.get(5)?,
                shared: HashMap::new(),
            });
        }
        let mut quality_terms: QualityTerms = [0; QUALITY_TERM_COUNT];
        for (term, gap) in quality_terms.iter_mut().enumerate() {
            *gap = row.get(FIRST_GAP + term)?;
        }
        if let Some(run) = found.last_mut() {
            run.shared.insert(row.get(6)?, quality_terms);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use model::{Benchmark, Episode, Run};
    use rusqlite::StatementStatus;

    use super::*;
    use crate::{ParsedPart, Store};

    /// A run with a trial that all have, and one that it shares with its neighbor.
    fn run(id: RunId) -> SharingRun {
        SharingRun {
            id,
            place: format!("p{id}"),
            key: "r".into(),
            preferred: 0,
            unknown: (true, true),
            is_marked: false,
            slug: id,
            trials: 2,
            shared: HashMap::from([
                ("all".to_owned(), [0; QUALITY_TERM_COUNT]),
                (format!("{}", id / 2), [0; QUALITY_TERM_COUNT]),
            ]),
        }
    }

    fn by_trial(runs: &[SharingRun]) -> HashMap<&str, Vec<&SharingRun>> {
        let mut kept_with: HashMap<&str, Vec<&SharingRun>> = HashMap::new();
        for run in runs {
            for trial in run.shared.keys() {
                kept_with.entry(trial).or_default().push(run);
            }
        }
        kept_with
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn a_trial_that_all_runs_have_is_no_reason_to_compare_all_of_them() {
        let kept: Vec<SharingRun> = (0..1000).map(|id| run(2 * id)).collect();
        let kept_with = by_trial(&kept);
        for id in [1, 777, 1999] {
            let copy = run(id);
            let found: Vec<RunId> = candidates(&copy, &kept_with).iter().map(|run| run.id).collect();
            assert_eq!(found, [id - 1]);
            assert!(copy.is_copy_of(candidates(&copy, &kept_with)[0]));
        }
        assert!(candidates(&run(2000), &kept_with).is_empty(), "nobody has its other trial");
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn runs_that_share_a_trial_are_not_all_compared_with_each_other() {
        // One trial that all have, beside one that no other run has.
        let with_own = |id: RunId| SharingRun {
            shared: HashMap::from([("all".to_owned(), [0; QUALITY_TERM_COUNT])]),
            ..run(id)
        };
        let kept: Vec<SharingRun> = (0..5000).map(with_own).collect();
        let kept_with = by_trial(&kept);
        assert!(kept.iter().all(|run| candidates(run, &kept_with).is_empty()));
        // A run without one is compared with some of them, and one that a user has marked with none.
        let one_trial = SharingRun { trials: 1, ..with_own(5000) };
        assert_eq!(candidates(&one_trial, &kept_with).len(), MOST_COMPARED);
        assert!(candidates(&SharingRun { is_marked: true, ..one_trial }, &kept_with).is_empty());
    }

    /// The steps of finding the shared trials of runs that have one in common and these of their own.
    fn work(runs: usize, own_trials: usize) -> i32 {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/a", "a", false).unwrap();
        let benchmark = || Benchmark { key: "b".into(), name: "B".into() };
        let all: Vec<Run> = (0..runs).map(|run| Run::unknown(format!("r{run}"), benchmark())).collect();
        store.put_runs(source, "", "table", &all).unwrap();
        let episode = |run: usize, trial: usize| {
            let mut episode = Episode::new(format!("e{trial}"), format!("s{trial}"));
            episode.identity = Some(if trial == 0 { "all".to_owned() } else { format!("of-{run}-{trial}") });
            (format!("r{run}"), episode)
        };
        let episodes: Vec<(String, Episode)> =
            (0..runs).flat_map(|run| (0..=own_trials).map(move |trial| episode(run, trial))).collect();
        let part =
            ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
        store
            .read(|conn| {
                let mut find = conn.prepare(&SHARING_RUNS)?;
                let found = find.query_map([source], |_| Ok(()))?.count();
                assert_eq!(found, runs);
                Ok(find.get_status(StatementStatus::VmStep))
            })
            .unwrap()
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn finding_shared_trials_takes_time_that_is_linear_in_their_number() {
        for (few, many) in [((20, 1), (160, 1)), ((2, 20), (2, 160))] {
            let (few_steps, steps) = (work(few.0, few.1), work(many.0, many.1));
            assert!(steps < 12 * few_steps, "{few_steps} steps, then {steps} for 8 times as many");
        }
    }
}
