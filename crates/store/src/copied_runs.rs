//! Runs that are copies of another run of their source, for example a job whose folder was copied beside it. They are left
//! out as a whole.
//!
//! A run that has a trial of its own, a better copy of one (by the rules of [`crate::copies`]), another grading of one, or a mark
//! of a user (withdrawn, tags, a note) stays. Of runs that are alike in all that, the one that the library knew first stays.
//!
//! What is left out is not read again before its place or that of its original changes: [`CopiesLeftOut`] says what it is.

use std::collections::{HashMap, HashSet};

use model::Warning;
use rusqlite::Connection;

use crate::migration::Migration;
use crate::withdrawn_filter::VALID;
use crate::{Result, SourceId, Store, import_report, rows};

mod sharing_runs;

use sharing_runs::{SharingRun, candidates, sharing_runs};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 22,
    sql: "
CREATE TABLE left_out_run (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  place TEXT NOT NULL,
  key TEXT NOT NULL,
  -- the run of the source that it is a copy of
  original_place TEXT NOT NULL,
  original_key TEXT NOT NULL,
  PRIMARY KEY (source, place, key)
) STRICT, WITHOUT ROWID;
",
}];

/// A run that is left out of its source as a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutRun {
    /// Its place.
    pub place: String,
    /// Its key.
    pub key: String,
    /// Place of the run that it is a copy of.
    pub original_place: String,
    /// Key of that run.
    pub original_key: String,
    /// Whether that run is there, and nothing of it is withdrawn. A run with a mark leaves out no other one.
    pub has_original: bool,
}

/// What is left out of a source as copies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopiesLeftOut {
    /// The runs, by place and key.
    pub runs: Vec<LeftOutRun>,
    /// The stamps of the parts that have these runs, or copies inside one run, by place and key of the part.
    pub parts: HashMap<(String, String), u64>,
}

/// Leaves out the runs of a source that are copies of another one, with a warning.
pub(crate) fn leave_out(conn: &Connection, source: SourceId) -> Result<()> {
    let mut found = sharing_runs(conn, source)?;
    found.sort_by_key(SharingRun::order);
    let mut kept_with: HashMap<&str, Vec<&SharingRun>> = HashMap::new();
    for run in &found {
        if let Some(original) = candidates(run, &kept_with).iter().find(|other| run.is_copy_of(other)) {
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
    if depends_on_others(conn, run, original)? {
        rows::delete(conn, run.id)?;
    } else {
        conn.prepare_cached(
            "UPDATE part SET left_out = 1 WHERE id IN (SELECT part FROM episode WHERE run = ?1)",
        )?
        .execute([run.id])?;
        rows::remove(conn, run.id)?;
        conn.prepare_cached(
            "INSERT OR REPLACE INTO left_out_run (source, place, key, original_place, original_key)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((source, &run.place, &run.key, &original.place, &original.key))?;
    }
    let message = format!(
        "All trials of the run “{}” are trials of “{}”, where they count. The run is left out.",
        run.key, original.key
    );
    let warning = Warning::skipped(run.place.as_str(), "part.duplicate", message);
    import_report::add_to_part(conn, source, part, original.id, &warning)
}

/// Whether another source says that two runs have the same trials: it gave the copy an identity that the original does not have
/// by itself. When that source is closed, the copy may be none, so it is read again each time.
fn depends_on_others(conn: &Connection, run: &SharingRun, original: &SharingRun) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM episode AS copy WHERE copy.run = ?1 AND copy.identity IS NOT copy.own_identity
               AND NOT EXISTS (SELECT 1 FROM episode AS own WHERE own.identity = copy.identity AND own.run = ?2
                 AND own.own_identity = own.identity))
             OR EXISTS (SELECT 1 FROM episode WHERE run = ?2 AND identity IS NOT own_identity)",
        )?
        .query_row((run.id, original.id), |row| row.get(0))?)
}

impl Store {
    /// What is left out of a source as copies.
    pub fn left_out(&self, source: SourceId) -> Result<CopiesLeftOut> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&format!(
                "SELECT place, key, original_place, original_key, EXISTS (SELECT 1 FROM run
                   WHERE run.source = left_out_run.source AND run.place = original_place AND run.key = original_key
                     AND {VALID} AND NOT EXISTS (SELECT 1 FROM withdrawn_episode AS mark WHERE mark.run = run.slug))
                 FROM left_out_run WHERE source = ?1 ORDER BY place, key"
            ))?;
            let runs = find.query_map([source], |row| {
                Ok(LeftOutRun {
                    place: row.get(0)?,
                    key: row.get(1)?,
                    original_place: row.get(2)?,
                    original_key: row.get(3)?,
                    has_original: row.get(4)?,
                })
            })?;
            let runs = runs.collect::<rusqlite::Result<_>>()?;
            let mut find = conn.prepare_cached(
                "SELECT place, key, stamp FROM part WHERE source = ?1 AND left_out = 1 AND stamp IS NOT NULL",
            )?;
            let parts = find.query_map([source], |row| {
                Ok(((row.get(0)?, row.get(1)?), row.get::<_, i64>(2)?.cast_unsigned()))
            })?;
            Ok(CopiesLeftOut { runs, parts: parts.collect::<rusqlite::Result<_>>()? })
        })
    }

    /// Says which runs and parts of a source stay left out, by place and key. The others are read again, and are left out again if
    /// they are still copies. Call it before their parts are read. An import that ends in between has forgotten their stamps, so
    /// that the next one reads them.
    pub fn keep_left_out(
        &self,
        source: SourceId,
        kept_runs: &HashSet<(String, String)>,
        kept_parts: &HashMap<(String, String), u64>,
    ) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            let mut find = conn.prepare_cached(
                "SELECT id, place, key FROM part WHERE source = ?1 AND left_out = 1 AND stamp IS NOT NULL",
            )?;
            let parts: Vec<(i64, (String, String))> = find
                .query_map([source], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
                .collect::<rusqlite::Result<_>>()?;
            for (id, _) in parts.iter().filter(|(_, part)| !kept_parts.contains_key(part)) {
                conn.prepare_cached("UPDATE part SET stamp = NULL WHERE id = ?1")?.execute([id])?;
            }
            let mut find = conn.prepare_cached("SELECT place, key FROM left_out_run WHERE source = ?1")?;
            let known: Vec<(String, String)> = find
                .query_map([source], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            for (place, key) in known.iter().filter(|run| !kept_runs.contains(*run)) {
                conn.prepare_cached(
                    "DELETE FROM left_out_run WHERE source = ?1 AND place = ?2 AND key = ?3",
                )?
                .execute((source, place, key))?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{Attempt, Benchmark, EndReason, Episode, Run, Turn, Verdict};

    use super::*;
    use crate::{ParsedPart, WarningFilter};

    /// Writes a run as a place of its own, with these trials; `false` = the trial was still running. Harness and model of a run
    /// whose name begins with `named` are known; every source of one gives it a tag.
    fn put(store: &Store, source: SourceId, run: &str, trials: &[(&str, bool)]) {
        let mut record = Run::unknown(run, Benchmark { key: "b".into(), name: "B".into() });
        if run.starts_with("named") {
            (record.harness, record.model) = (Some("agent-a".into()), Some("model-a".into()));
        }
        record.tags = vec!["of-source".into()];
        store.put_runs(source, run, "harbor", &[record]).unwrap();
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
            ParsedPart { place: run, key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
    }

    /// The runs that stay, each with the number of its trials, and the folders that are said to be left out.
    fn kept_and_omitted(
        runs: &[(&str, &[(&str, bool)])],
        marked: Option<&str>,
    ) -> (Vec<(String, usize)>, Vec<String>) {
        kept_and_omitted_with(runs, marked, |store, slug| {
            store.withdraw(&[slug], Some("wrong image")).unwrap();
        })
    }

    /// The same, where `mark` marks one of them.
    fn kept_and_omitted_with(
        runs: &[(&str, &[(&str, bool)])],
        marked: Option<&str>,
        mark: impl Fn(&Store, String),
    ) -> (Vec<(String, usize)>, Vec<String>) {
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
            mark(&store, run.slug.clone());
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
        let runs = [("x", true), ("y", true)];
        let more_trials = [("x", true), ("y", true), ("z", true)];
        assert_eq!(
            kept_and_omitted(&[("a", &runs), ("b", &runs)], None),
            (vec![run("a", 2)], vec!["b".to_owned()])
        );
        assert_eq!(
            kept_and_omitted(&[("a", &runs), ("b", &more_trials)], None),
            (vec![run("b", 3)], vec!["a".to_owned()])
        );
        let copied = vec!["a".to_owned(), "c".to_owned()];
        assert_eq!(
            kept_and_omitted(&[("a", &runs), ("b", &more_trials), ("c", &more_trials)], None),
            (vec![run("b", 3)], copied)
        );
        // A copy that was made while the trial ran.
        let early = [("x", true), ("y", false)];
        assert_eq!(
            kept_and_omitted(&[("a", &early), ("b", &runs)], None),
            (vec![run("b", 2)], vec!["a".to_owned()])
        );
    }

    #[test]
    fn a_run_with_a_trial_of_its_own_a_better_copy_or_a_mark_stays() {
        let run = |name: &str, trials: usize| (name.to_owned(), trials);
        let all_kept = |trials: usize| (vec![run("a", 2), run("b", trials)], Vec::<String>::new());
        let runs = [("x", true), ("y", true)];
        assert_eq!(kept_and_omitted(&[("a", &runs), ("b", &[("y", true), ("z", true)])], None), all_kept(2));
        assert_eq!(
            kept_and_omitted(&[("a", &runs), ("b", &[("x", true), ("y", false), ("z", true)])], None),
            all_kept(3)
        );
        assert_eq!(kept_and_omitted(&[("a", &runs), ("b", &runs)], Some("a")), all_kept(2));
        assert_eq!(kept_and_omitted(&[("a", &runs), ("b", &[])], None), all_kept(0));
    }
    #[test]
    fn a_run_with_known_names_is_no_copy_of_one_without() {
        let run = |name: &str, trials: usize| (name.to_owned(), trials);
        let runs = [("x", true), ("y", true)];
        let more_trials = [("x", true), ("y", true), ("z", true)];
        // The nameless one has a trial more, or a better copy of one.
        let all_kept = (vec![run("a", 3), run("named", 2)], Vec::<String>::new());
        assert_eq!(kept_and_omitted(&[("a", &more_trials), ("named", &runs)], None), all_kept);
        let early = [("x", true), ("y", false)];
        let all_kept = (vec![run("a", 2), run("named", 2)], Vec::<String>::new());
        assert_eq!(kept_and_omitted(&[("a", &runs), ("named", &early)], None), all_kept);
        // Else it is the copy, whichever the library knew first.
        let named = (vec![run("named", 2)], vec!["a".to_owned()]);
        assert_eq!(kept_and_omitted(&[("a", &runs), ("named", &runs)], None), named);
        assert_eq!(kept_and_omitted(&[("named", &runs), ("a", &runs)], None), named);
        let longer = (vec![run("named", 3)], vec!["a".to_owned()]);
        assert_eq!(kept_and_omitted(&[("a", &runs), ("named", &more_trials)], None), longer);
    }

    #[test]
    fn a_tag_or_a_note_is_a_mark_and_the_run_that_was_known_first_stays() {
        let run = |name: &str, trials: usize| (name.to_owned(), trials);
        let runs = [("x", true), ("y", true)];
        let more_trials = [("x", true), ("y", true), ("z", true)];
        let tag =
            |store: &Store, slug: String| store.annotate(&[slug], &["final".into()], &[], None).unwrap();
        let note = |store: &Store, slug: String| store.annotate(&[slug], &[], &[], Some("the one")).unwrap();
        let original = (vec![run("b", 2)], vec!["a".to_owned()]);
        for mark in [&tag as &dyn Fn(&Store, String), &note] {
            assert_eq!(kept_and_omitted_with(&[("a", &runs), ("b", &runs)], Some("b"), mark), original);
            let all_kept = (vec![run("a", 3), run("b", 2)], Vec::<String>::new());
            assert_eq!(
                kept_and_omitted_with(&[("a", &more_trials), ("b", &runs)], Some("b"), mark),
                all_kept
            );
        }
        assert_eq!(kept_and_omitted(&[("b", &runs), ("a", &runs)], None), original, "a was copied later");
        // Every copy has the tags of its source: they are no mark of a user.
        let first = (vec![run("a", 2)], vec!["b".to_owned()]);
        assert_eq!(kept_and_omitted(&[("a", &runs), ("b", &runs)], None), first);
    }

    #[test]
    fn what_is_left_out_is_known_with_its_original_and_its_stamps() {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/a", "a", false).unwrap();
        for run in ["a", "b"] {
            put(&store, source, run, &[("x", true)]);
        }
        store.leave_out_copies(source).unwrap();
        let found = store.left_out(source).unwrap();
        let copy = LeftOutRun {
            place: "b".into(),
            key: "b".into(),
            original_place: "a".into(),
            original_key: "a".into(),
            has_original: true,
        };
        assert_eq!(found.runs, [copy]);
        assert_eq!(found.parts, HashMap::from([(("b".to_owned(), "p".to_owned()), 1)]));
        assert_eq!(store.part_stamps(source).unwrap().len(), 1, "only that of the original counts as read");
        // A mark of the original says something of every copy.
        let slug = store.list_runs(&crate::RunFilter::default()).unwrap().rows[0].1.slug.clone();
        store.withdraw(std::slice::from_ref(&slug), Some("wrong image")).unwrap();
        assert!(!store.left_out(source).unwrap().runs[0].has_original);
        store.withdraw(&[slug], None).unwrap();
        let kept = HashSet::from([("b".to_owned(), "b".to_owned())]);
        store.keep_left_out(source, &kept, &found.parts).unwrap();
        assert_eq!(store.left_out(source).unwrap(), found);
        // The stamp of a part stayed: after an import that was stopped it counted as read, and its run had no trial.
        store.keep_left_out(source, &HashSet::new(), &HashMap::new()).unwrap();
        assert_eq!(store.left_out(source).unwrap(), CopiesLeftOut::default());
        assert_eq!(store.part_stamps(source).unwrap().len(), 1);
        // Read again, it counts as read.
        put(&store, source, "b", &[("y", true)]);
        assert_eq!(store.part_stamps(source).unwrap().len(), 2);
        assert_eq!(store.left_out(source).unwrap(), CopiesLeftOut::default());
    }
}
