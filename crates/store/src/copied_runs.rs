//! Runs that are copies of another run of their source, for example a job whose folder was copied beside it. They are left
//! out as a whole.
//!
//! A run that has a trial of its own, a better copy of one (by the rules of [`crate::copies`]), or a mark of a user stays.

use std::cmp::Reverse;
use std::collections::HashMap;

use model::Warning;
use rusqlite::Connection;

use crate::copies::{ATTEMPTS, HAS_NO_END, IS_OPEN, IS_SNAPSHOT};
use crate::withdrawn::VALID;
use crate::{Result, RunId, SourceId, runs, warnings};

/// How complete a copy of a trial is: the lesser, the better.
type Gaps = (bool, Reverse<u32>, bool, bool);

/// A run that shares trials with another one of its source.
struct SharingRun {
    id: RunId,
    place: String,
    key: String,
    preferred: i64,
    is_nameless: bool,
    /// All its trials, also those that no other run has.
    trials: u32,
    /// The shared ones, by identity.
    shared: HashMap<String, Gaps>,
}

impl SharingRun {
    /// A run comes after every run that it is a copy of: one of more trials, or of the same ones in a better copy.
    fn order(&self) -> impl Ord + '_ {
        let count = |has: fn(&Gaps) -> bool| self.shared.values().filter(|gaps| has(gaps)).count();
        let attempts: u64 = self.shared.values().map(|gaps| u64::from(gaps.1.0)).sum();
        let gaps = (count(|gaps| gaps.0), Reverse(attempts), count(|gaps| gaps.2), count(|gaps| gaps.3));
        (Reverse(self.trials), gaps, Reverse(self.preferred), self.is_nameless, &self.place, &self.key)
    }

    /// Whether all its trials are in another run, each in a copy that is as good, and that run knows its harness if this one does.
    /// It comes after the other one by [`Self::order`].
    fn is_copy_of(&self, other: &Self) -> bool {
        self.trials as usize == self.shared.len()
            && self.preferred <= other.preferred
            && self.is_nameless >= other.is_nameless
            && self.shared.iter().all(|(trial, gaps)| other.shared.get(trial).is_some_and(|its| its <= gaps))
    }
}

/// Leaves out the runs of a source that are copies of another one, with a warning. Their parts are read again each time, so
/// that a copy counts when the original is deleted.
pub(crate) fn leave_out(conn: &Connection, source: SourceId) -> Result<()> {
    let mut found = sharing_runs(conn, source)?;
    found.sort_by(|a, b| a.order().cmp(&b.order()));
    let mut kept_with: HashMap<&str, Vec<&SharingRun>> = HashMap::new();
    for run in &found {
        let any_trial = run.shared.keys().next().map_or("", String::as_str);
        let candidates = kept_with.get(any_trial).map_or(&[][..], Vec::as_slice);
        if let Some(original) = candidates.iter().find(|other| run.is_copy_of(other)) {
            delete(conn, source, run, original)?;
        } else {
            for trial in run.shared.keys() {
                kept_with.entry(trial).or_default().push(run);
            }
        }
    }
    Ok(())
}

fn delete(conn: &Connection, source: SourceId, run: &SharingRun, original: &SharingRun) -> Result<()> {
    let part: i64 = conn
        .prepare_cached("SELECT min(part) FROM episode WHERE run = ?1")?
        .query_row([run.id], |row| row.get(0))?;
    runs::delete(conn, run.id)?;
    let what = format!(
        "All trials of the run “{}” are trials of “{}”, where they count. The run is left out.",
        run.key, original.key
    );
    let warning = Warning::skipped(run.place.as_str(), "part.duplicate", what);
    warnings::add_to_part(conn, source, part, original.id, &warning)
}

/// The runs of a source with trials that another one of them has, too. Withdrawn runs, and runs with withdrawn trials, are
/// none of them: their marks say something of all copies.
fn sharing_runs(conn: &Connection, source: SourceId) -> Result<Vec<SharingRun>> {
    let (is_open, is_snapshot) = (&*IS_OPEN, &*IS_SNAPSHOT);
    let mut find = conn.prepare_cached(&format!(
        "SELECT run.id, run.place, run.key, run_slug.preferred, run.harness IS NULL, size.episodes, episode.identity,
           {is_open}, {ATTEMPTS}, {is_snapshot}, {HAS_NO_END}
         FROM run JOIN run_slug ON run_slug.id = run.slug JOIN episode ON episode.run = run.id
           JOIN (SELECT own.run AS run, count(*) AS episodes FROM episode AS own JOIN run AS its ON its.id = own.run
             WHERE its.source = ?1 GROUP BY own.run) AS size ON size.run = run.id
         WHERE run.source = ?1 AND episode.identity IN
             (SELECT own.identity FROM episode AS own JOIN run AS its ON its.id = own.run
              WHERE its.source = ?1 AND own.identity IS NOT NULL GROUP BY own.identity HAVING count(*) > 1)
           AND {VALID} AND NOT EXISTS (SELECT 1 FROM withdrawn_episode AS mark WHERE mark.run = run.slug)
         ORDER BY run.id"
    ))?;
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
                is_nameless: row.get(4)?,
                trials: row.get(5)?,
                shared: HashMap::new(),
            });
        }
        let gaps: Gaps = (row.get(7)?, Reverse(row.get(8)?), row.get(9)?, row.get(10)?);
        if let Some(run) = found.last_mut() {
            run.shared.insert(row.get(6)?, gaps);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use model::{Attempt, Benchmark, EndReason, Episode, Run, Turn, Verdict};

    use crate::{PartRead, SourceId, Store, WarningFilter};

    /// Writes a run as a place of its own, with these trials; `false` = the trial was still running.
    fn put(store: &Store, source: SourceId, run: &str, trials: &[(&str, bool)]) {
        store
            .put_runs(
                source,
                run,
                "harbor",
                &[Run::unknown(run, Benchmark { key: "b".into(), name: "B".into() })],
            )
            .unwrap();
        let episodes: Vec<(String, Episode)> = trials
            .iter()
            .map(|(trial, has_ended)| {
                let mut episode = Episode::new(*trial, *trial);
                episode.identity = Some(format!("id-of-{trial}"));
                let mut turn = Turn::new(1);
                let mut attempt =
                    Attempt::new(1, if *has_ended { Verdict::Passed } else { Verdict::Unfinished });
                attempt.end_reason = (!has_ended).then_some(EndReason::Unfinished);
                turn.attempts.push(attempt);
                episode.turns.push(turn);
                (run.to_owned(), episode)
            })
            .collect();
        let part =
            PartRead { place: run, key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
    }

    /// The runs that stay, each with the number of its trials, and the folders that are said to be left out.
    fn left(runs: &[(&str, &[(&str, bool)])], marked: Option<&str>) -> (Vec<(String, usize)>, Vec<String>) {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/a", "a", false).unwrap();
        for (run, trials) in runs {
            put(&store, source, run, trials);
        }
        let entries = || -> Vec<_> {
            let rows = store.list_runs(&crate::RunFilter::default()).unwrap().rows;
            rows.into_iter().map(|(_, run)| run).collect()
        };
        for run in entries().iter().filter(|run| Some(run.key.as_str()) == marked) {
            store.withdraw(std::slice::from_ref(&run.slug), Some("wrong image")).unwrap();
        }
        store.leave_out_copies(source).unwrap();
        let mut stay: Vec<(String, usize)> =
            entries().into_iter().map(|run| (run.key, store.episodes(run.id).unwrap().len())).collect();
        stay.sort();
        let warnings = store.warnings(source, &WarningFilter::default(), 0, 10).unwrap().warnings;
        assert!(warnings.iter().all(|warning| warning.code == "part.duplicate"), "{warnings:?}");
        (stay, warnings.into_iter().map(|warning| warning.path).collect())
    }

    #[test]
    fn a_run_whose_trials_are_all_in_another_run_is_left_out() {
        let run = |name: &str, trials: usize| (name.to_owned(), trials);
        let one = [("x", true), ("y", true)];
        let more = [("x", true), ("y", true), ("z", true)];
        assert_eq!(left(&[("a", &one), ("b", &one)], None), (vec![run("a", 2)], vec!["b".to_owned()]));
        assert_eq!(left(&[("a", &one), ("b", &more)], None), (vec![run("b", 3)], vec!["a".to_owned()]));
        let copied = vec!["a".to_owned(), "c".to_owned()];
        assert_eq!(left(&[("a", &one), ("b", &more), ("c", &more)], None), (vec![run("b", 3)], copied));
        // A copy that was made while the trial ran.
        let early = [("x", true), ("y", false)];
        assert_eq!(left(&[("a", &early), ("b", &one)], None), (vec![run("b", 2)], vec!["a".to_owned()]));
    }

    #[test]
    fn a_run_with_a_trial_of_its_own_a_better_copy_or_a_mark_stays() {
        let run = |name: &str, trials: usize| (name.to_owned(), trials);
        let both = |trials: usize| (vec![run("a", 2), run("b", trials)], Vec::<String>::new());
        let one = [("x", true), ("y", true)];
        assert_eq!(left(&[("a", &one), ("b", &[("y", true), ("z", true)])], None), both(2));
        assert_eq!(left(&[("a", &one), ("b", &[("x", true), ("y", false), ("z", true)])], None), both(3));
        assert_eq!(left(&[("a", &one), ("b", &one)], Some("a")), both(2));
        assert_eq!(left(&[("a", &one), ("b", &[])], None), both(0));
    }
}
