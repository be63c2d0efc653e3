//! What bounds of memory keep out of the library: entries of the import report that are not listed, and episodes for which there
//! was no room. They are counted with their part and run, so that no number looks whole that is not.

use std::collections::BTreeMap;

use model::{Severity, Warning, WarningCounts};
use rusqlite::{Connection, Row, params};

use crate::migration::Migration;
use crate::values::{int, parse, sql_list};
use crate::{Result, RunId, SourceId, Store, WarningFilter, changes};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 22,
    sql: "
CREATE TABLE not_kept (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  -- NULL = of the survey
  part INTEGER REFERENCES part (id) ON DELETE CASCADE,
  -- NULL = several or none
  run INTEGER REFERENCES run (id) ON DELETE SET NULL,
  episodes INTEGER NOT NULL,
  -- entries of the import report by severity
  notes INTEGER NOT NULL,
  repairs INTEGER NOT NULL,
  warnings INTEGER NOT NULL
) STRICT;
CREATE INDEX not_kept_by_source ON not_kept (source);
CREATE INDEX not_kept_by_part ON not_kept (part);
CREATE INDEX not_kept_by_run ON not_kept (run) WHERE run IS NOT NULL;
-- these readings lost a count
UPDATE part SET stamp = NULL WHERE id IN
  (SELECT part FROM warning WHERE code IN ('warnings.too_many', 'locobench.too_many'));
",
}];

/// What is not kept of a part, or of the survey of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OmittedCounts {
    /// How many episodes, by the key of their run.
    pub episodes: BTreeMap<String, u32>,
    /// Entries of the import report that are not listed. Those of a part by the key of the run that they concern, or of the only
    /// run of the part (`None`); those of the survey by their place.
    pub warnings: BTreeMap<Option<String>, WarningCounts>,
}

/// SQL: how many episodes of a `run` are not kept, at most as many as 32 bits count: each part of a hostile source may say that.
pub(crate) const EPISODES_OF_RUN: &str =
    "(SELECT min(coalesce(sum(episodes), 0), 4294967295) FROM not_kept WHERE not_kept.run = run.id)";

/// SQL: entries that are not listed, by severity, over the rows of `not_kept` for which `condition` holds. [`read_counts`] reads it.
pub(crate) fn unlisted_counts(condition: &str) -> String {
    format!(
        "(SELECT json_array(coalesce(sum(notes), 0), coalesce(sum(repairs), 0), coalesce(sum(warnings), 0))
    FROM not_kept WHERE {condition})"
    )
}

/// Reads [`unlisted_counts`] from this column.
pub(crate) fn read_counts(row: &Row<'_>, column: usize) -> Result<WarningCounts> {
    counts(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}

/// Reads [`unlisted_counts`] from its text.
pub(crate) fn counts(list: &str) -> Result<WarningCounts> {
    let (notes, repairs, warnings) = parse(list)?;
    Ok(WarningCounts { notes, repairs, warnings })
}

/// Replaces what is not kept of a part, or of the survey of a source (`part` is `None`). `run` gives the run of a key.
pub(crate) fn replace(
    conn: &Connection,
    source: SourceId,
    part: Option<i64>,
    not_kept: &OmittedCounts,
    run: impl Fn(Option<&str>) -> Option<RunId>,
) -> Result<()> {
    conn.prepare_cached("DELETE FROM not_kept WHERE source = ?1 AND part IS ?2")?.execute((source, part))?;
    for (key, episodes) in &not_kept.episodes {
        add(conn, source, part, run(Some(key)), *episodes, WarningCounts::default())?;
    }
    for (key, counts) in &not_kept.warnings {
        add(conn, source, part, run(key.as_deref()), 0, *counts)?;
    }
    Ok(())
}

fn add(
    conn: &Connection,
    source: SourceId,
    part: Option<i64>,
    run: Option<RunId>,
    episodes: u32,
    counts: WarningCounts,
) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO not_kept (source, part, run, episodes, notes, repairs, warnings)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        source,
        part,
        run,
        episodes,
        int(counts.notes),
        int(counts.repairs),
        int(counts.warnings)
    ])?;
    Ok(())
}

/// What is not listed of the survey of a source, with the run that each count concerns.
pub(crate) fn survey_counts(
    conn: &Connection,
    source: SourceId,
) -> Result<Vec<(Option<RunId>, WarningCounts)>> {
    let mut find = conn.prepare_cached(
        "SELECT run, json_array(notes, repairs, warnings) FROM not_kept WHERE source = ?1 AND part IS NULL ORDER BY id",
    )?;
    find.query_and_then([source], |row| Ok((row.get(0)?, read_counts(row, 1)?)))?.collect()
}

/// The entry of an import report that stands for those that are not listed, and how many these are, where a filter takes it.
pub(crate) fn entry(
    conn: &Connection,
    source: SourceId,
    filter: &WarningFilter,
) -> Result<Option<(Warning, WarningCounts)>> {
    let run_condition = "not_kept.source = ?1 AND (?2 IS NULL OR not_kept.run IN
      (SELECT run.id FROM run JOIN run_slug ON run_slug.id = run.slug WHERE run_slug.slug = ?2))";
    let counts = conn
        .prepare_cached(&format!("SELECT {}", unlisted_counts(run_condition)))?
        .query_and_then((source, &filter.run), |row| read_counts(row, 0))?
        .next()
        .transpose()?
        .unwrap_or_default();
    let taken = |entry: &Warning| {
        filter.treatment.is_none_or(|treatment| treatment == entry.treatment)
            && filter.code.as_ref().is_none_or(|code| *code == entry.code)
    };
    Ok(Warning::not_listed(counts).filter(taken).map(|entry| (entry, counts)))
}

impl Store {
    /// Lists at most so many warnings of the parts of a source: the first ones by part. The others are only counted, with their
    /// part and run. Which ones are listed does not depend on the order in which parts were written.
    pub fn limit_warnings(&self, source: SourceId, limit: u32) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            let listed_now: u32 = conn
                .prepare_cached("SELECT count(*) FROM warning WHERE source = ?1 AND part IS NOT NULL")?
                .query_row([source], |row| row.get(0))?;
            if listed_now <= limit {
                return Ok(());
            }
            let further = "SELECT warning.id FROM warning JOIN part ON part.id = warning.part
               WHERE warning.source = ?1 ORDER BY part.place, part.key, warning.id LIMIT -1 OFFSET ?2";
            let severity = |severity: Severity| format!("warning.code IN {}", sql_list(severity.codes()));
            let (note, repair) = (severity(Severity::Note), severity(Severity::Repair));
            conn.execute(
                &format!(
                    "INSERT INTO not_kept (source, part, run, episodes, notes, repairs, warnings)
                     SELECT source, part, run, 0, count(*) FILTER (WHERE {note}), count(*) FILTER (WHERE {repair}),
                       count(*) FILTER (WHERE NOT ({note}) AND NOT ({repair}))
                     FROM warning WHERE id IN ({further}) GROUP BY part, run"
                ),
                (source, limit),
            )?;
            conn.execute(&format!("DELETE FROM warning WHERE id IN ({further})"), (source, limit))?;
            changes::log_source(conn, source)?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{Benchmark, Episode, Run, Treatment};

    use super::*;
    use crate::{ParsedPart, RunFilter};

    fn warnings(count: u64, code: &str) -> Vec<Warning> {
        (0..count).map(|number| Warning::skipped(format!("f{number}"), code, "It ends.")).collect()
    }

    /// Writes a part of a run of the same name, with these warnings.
    fn put(store: &Store, source: SourceId, key: &str, warnings: &[Warning], not_kept: &OmittedCounts) {
        let episodes = [(key.to_owned(), Episode::new("e", "task"))];
        let part = ParsedPart { place: "", key, stamp: 1, episodes: &episodes, warnings, files_read: 1 };
        store.put_part_with(source, &part, not_kept).unwrap();
    }

    fn library(runs: &[&str]) -> (Store, SourceId) {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/a", "a", false).unwrap();
        let benchmark = Benchmark { key: "b".into(), name: "B".into() };
        let runs: Vec<Run> = runs.iter().map(|run| Run::unknown(*run, benchmark.clone())).collect();
        store.put_runs(source, "", "harbor", &runs).unwrap();
        (store, source)
    }

    fn severities(notes: u64, repairs: u64, warnings: u64) -> WarningCounts {
        WarningCounts { notes, repairs, warnings }
    }

    /// Severities by run, by key.
    fn by_run(store: &Store) -> Vec<(String, WarningCounts, u32)> {
        let rows = store.list_runs(&RunFilter::default()).unwrap().rows;
        let mut runs: Vec<_> =
            rows.into_iter().map(|(_, run)| (run.key, run.severities, run.warnings)).collect();
        runs.sort_by(|a, b| a.0.cmp(&b.0));
        runs
    }

    #[test]
    fn what_is_not_listed_counts_with_its_run_whatever_was_written_first() {
        for order in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
            let (store, source) = library(&["a", "b", "c"]);
            for key in order {
                let mut own_warnings = warnings(3, "json.truncated");
                own_warnings.extend(warnings(1, "link.skipped"));
                put(&store, source, key, &own_warnings, &OmittedCounts::default());
                store.limit_warnings(source, 6).unwrap();
            }
            let each = |run: &str| (run.to_owned(), severities(1, 0, 3), 4);
            assert_eq!(by_run(&store), [each("a"), each("b"), each("c")], "{order:?}");
            let source_now = store.source(source).unwrap().unwrap();
            assert_eq!((source_now.severities, source_now.warnings), (severities(3, 0, 9), 12), "{order:?}");
            let page = store.warnings(source, &WarningFilter::default(), 0, 100).unwrap();
            assert_eq!((page.matching, page.warnings.len()), (7, 7), "{order:?}");
            let last = &page.warnings[6];
            assert_eq!(last.code, "warnings.too_many", "{order:?}");
            assert!(last.message.contains("4 warnings, 2 notes"), "{}", last.message);
            assert_eq!(page.warnings.iter().filter(|entry| entry.code == "link.skipped").count(), 1);
            // The one of a run stands for what is not listed of it.
            let slug = store.list_runs(&RunFilter::default()).unwrap().rows;
            let slug = slug.into_iter().find(|(_, run)| run.key == "c").unwrap().1.slug;
            let run_c = WarningFilter { run: Some(slug), ..WarningFilter::default() };
            let page = store.warnings(source, &run_c, 0, 100).unwrap();
            assert_eq!(page.warnings.len(), 1, "{order:?}");
            assert!(page.warnings[0].message.contains("3 warnings, 1 note"), "{}", page.warnings[0].message);
            // A run whose warnings are all beyond the list has warnings.
            let filter = RunFilter { with_warnings: true, ..RunFilter::default() };
            assert_eq!(store.list_runs(&filter).unwrap().rows.len(), 3);
            assert_eq!(store.library_counts().unwrap().severities, severities(3, 0, 9));
            // Written again with less to say, it has less.
            put(&store, source, "c", &[], &OmittedCounts::default());
            assert_eq!(by_run(&store)[2], ("c".to_owned(), severities(0, 0, 0), 0), "{order:?}");
        }
    }

    #[test]
    fn a_part_that_says_more_than_is_kept_of_it_counts_the_rest() {
        let (store, source) = library(&["a", "b"]);
        let mut not_kept = OmittedCounts::default();
        not_kept.warnings.insert(None, severities(2, 1, 0));
        not_kept.warnings.insert(Some("b".to_owned()), severities(0, 0, 5));
        not_kept.episodes.insert("a".to_owned(), 7);
        put(&store, source, "a", &warnings(1, "json.truncated"), &not_kept);
        let runs = by_run(&store);
        assert_eq!(runs[0], ("a".to_owned(), severities(2, 1, 1), 4));
        assert_eq!(runs[1].1, severities(0, 0, 5));
        let run = |key: &str| {
            let rows = store.list_runs(&RunFilter::default()).unwrap().rows;
            rows.into_iter().find(|(_, run)| run.key == key).unwrap().1
        };
        // One episode is there and 7 are not, so that 8 were to be read.
        assert_eq!((run("a").episodes_not_kept, run("a").planned_episodes), (7, Some(8)));
        assert_eq!((run("b").episodes_not_kept, run("b").planned_episodes), (0, None));
        let codes = store.warnings_by_code(source).unwrap();
        let entry = codes.iter().find(|code| code.code == "warnings.too_many").unwrap();
        assert_eq!((entry.count, entry.treatment), (8, Treatment::Skipped));
        assert_eq!(codes.iter().map(|code| code.count).sum::<u64>(), 9);
        // Notes alone make a note.
        not_kept.warnings = BTreeMap::from([(None, severities(2, 0, 0))]);
        put(&store, source, "a", &[], &not_kept);
        let page = store.warnings(source, &WarningFilter::default(), 0, 100).unwrap();
        assert_eq!(page.warnings.iter().map(|entry| &entry.code).collect::<Vec<_>>(), ["notes.too_many"]);
        assert_eq!(store.warnings(source, &WarningFilter::default(), 1, 100).unwrap().warnings, []);
    }

    #[test]
    fn very_many_episodes_that_are_not_kept_do_not_hide_the_library() {
        let (store, source) = library(&["a"]);
        let not_kept = OmittedCounts {
            episodes: BTreeMap::from([("a".to_owned(), u32::MAX)]),
            ..OmittedCounts::default()
        };
        for key in ["p", "q"] {
            let part = ParsedPart { place: "", key, stamp: 1, episodes: &[], warnings: &[], files_read: 1 };
            store.put_part_with(source, &part, &not_kept).unwrap();
        }
        let run = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
        assert_eq!((run.episodes_not_kept, run.planned_episodes), (u32::MAX, Some(u32::MAX)));
    }

    #[test]
    fn what_a_survey_omits_counts_with_the_run_of_its_place() {
        let (store, source) = library(&["a"]);
        let not_kept = OmittedCounts {
            warnings: BTreeMap::from([(Some(String::new()), severities(0, 0, 2))]),
            ..OmittedCounts::default()
        };
        for _ in 0..2 {
            store.put_survey(source, &warnings(1, "link.skipped"), &not_kept, 3).unwrap();
            assert_eq!(by_run(&store)[0].1, severities(1, 0, 2));
        }
        let before = store.last_change().unwrap();
        store.put_survey(source, &warnings(1, "link.skipped"), &not_kept, 3).unwrap();
        assert_eq!(store.last_change().unwrap(), before);
        store.put_survey(source, &warnings(1, "link.skipped"), &OmittedCounts::default(), 3).unwrap();
        assert_eq!(by_run(&store)[0].1, severities(1, 0, 0));
    }
}
