//! Entries of import reports: warnings, stored with their part, counted and paged.

use model::{Severity, Treatment, Warning, WarningCounts};
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::limits::{MESSAGE_BYTES, cut};
use crate::migration::Migration;
use crate::values::{count_or_zero, int, no_word, parse, sql_list};
use crate::{OmittedCounts, Result, RunId, SourceId, Store, changes, omitted_counts, rows};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    sql: "
CREATE TABLE warning (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  -- NULL = of the survey
  part INTEGER REFERENCES part (id) ON DELETE CASCADE,
  -- the run that it concerns; NULL = several or none
  run INTEGER REFERENCES run (id) ON DELETE SET NULL,
  path TEXT NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  treatment TEXT NOT NULL
) STRICT;
CREATE INDEX warning_by_source ON warning (source, code, path);
CREATE INDEX warning_by_part ON warning (part);
CREATE INDEX warning_by_run ON warning (run) WHERE run IS NOT NULL;
",
}];

/// Which warnings of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WarningFilter {
    /// Only warnings with this treatment.
    pub treatment: Option<Treatment>,
    /// Only warnings with this code.
    pub code: Option<String>,
    /// Only warnings that concern the run of this slug.
    pub run: Option<String>,
}

/// A page of warnings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WarningPage {
    /// By code, then by path. The last one may stand for others that are not listed.
    pub warnings: Vec<Warning>,
    /// How many match.
    pub matching: u64,
}

/// Warnings of one code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct WarningGroup {
    /// The code.
    pub code: String,
    /// What it means for the numbers.
    pub severity: Severity,
    /// What was done.
    pub treatment: Treatment,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub example: Warning,
}

/// SQL: rows of `warning` by severity, as a list of three numbers for [`read_counts`].
pub(crate) fn by_severity() -> String {
    format!(
        "json_array(count(*) FILTER (WHERE warning.code IN {}), count(*) FILTER (WHERE warning.code IN {}), count(*))",
        sql_list(Severity::Note.codes()),
        sql_list(Severity::Repair.codes())
    )
}

/// SQL: whether a row of `warning` may make a number wrong. An unknown code may.
pub(crate) fn is_severe() -> String {
    format!(
        "warning.code NOT IN {} AND warning.code NOT IN {}",
        sql_list(Severity::Note.codes()),
        sql_list(Severity::Repair.codes())
    )
}

/// The result of [`by_severity`] in this column.
pub(crate) fn read_counts(row: &Row<'_>, column: usize) -> Result<WarningCounts> {
    counts(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}

/// The same, from its text.
pub(crate) fn counts(list: &str) -> Result<WarningCounts> {
    let (notes, repairs, all): (u64, u64, u64) = parse(list)?;
    Ok(WarningCounts { notes, repairs, warnings: all.saturating_sub(notes + repairs) })
}

/// Replaces the warnings of a part. `run` returns the run that a warning concerns.
pub(crate) fn replace_of_part<'a>(
    conn: &Connection,
    source: SourceId,
    part: i64,
    run: impl Fn(&Warning) -> Option<RunId>,
    warnings: impl Iterator<Item = &'a Warning>,
) -> Result<()> {
    conn.prepare_cached("DELETE FROM warning WHERE part = ?1")?.execute([part])?;
    for warning in warnings {
        add(conn, source, Some(part), run(warning), &stored(warning))?;
    }
    Ok(())
}

/// Adds a warning to a part.
pub(crate) fn add_to_part(
    conn: &Connection,
    source: SourceId,
    part: i64,
    run: RunId,
    warning: &Warning,
) -> Result<()> {
    add(conn, source, Some(part), Some(run), &stored(warning))
}

/// A warning with texts cut to the cap, as it is stored.
fn stored(warning: &Warning) -> Warning {
    let cut = |text: &str| cut(text, MESSAGE_BYTES).into_owned();
    Warning {
        path: cut(&warning.path),
        code: cut(&warning.code),
        message: cut(&warning.message),
        treatment: warning.treatment,
        run: None,
    }
}

fn add(
    conn: &Connection,
    source: SourceId,
    part: Option<i64>,
    run: Option<RunId>,
    warning: &Warning,
) -> Result<()> {
    let Warning { path, code, message, treatment, run: _ } = warning;
    conn.prepare_cached(
        "INSERT INTO warning (source, part, run, path, code, message, treatment)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute((source, part, run, path, code, message, treatment.as_str()))?;
    Ok(())
}

/// The warnings of the survey of a source with their runs, in the order in which they were written.
fn survey_warnings(conn: &Connection, source: SourceId) -> Result<Vec<(Option<RunId>, Warning)>> {
    let mut find = conn.prepare_cached(
        "SELECT run, path, code, message, treatment FROM warning WHERE source = ?1 AND part IS NULL ORDER BY id",
    )?;
    find.query_and_then([source], |row| Ok((row.get(0)?, read(row, 1)?)))?.collect()
}

/// Whether a path is in a folder of the source, or is this folder.
fn lies_in(path: &str, place: &str) -> bool {
    place.is_empty() || path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn treatment(word: &str) -> Result<Treatment> {
    Treatment::parse(word).ok_or_else(|| no_word("treatment", word))
}

/// Path, code, message and treatment, from this column.
fn read(row: &Row<'_>, column: usize) -> Result<Warning> {
    Ok(Warning {
        path: row.get(column)?,
        code: row.get(column + 1)?,
        message: row.get(column + 2)?,
        treatment: treatment(&row.get::<_, String>(column + 3)?)?,
        run: None,
    })
}

impl Store {
    /// Replaces the warnings of the survey of a source, and the number of files that it parsed. Call it after
    /// [`Store::put_runs`], because a warning inside a place with one run counts for this run.
    pub fn put_survey(
        &self,
        source: SourceId,
        warnings: &[Warning],
        not_kept: &OmittedCounts,
        files_read: u64,
    ) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            rows::address(conn, source)?;
            let mut find = conn.prepare_cached("SELECT DISTINCT place FROM run WHERE source = ?1")?;
            let mut places: Vec<String> =
                find.query_map([source], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            // The innermost place of a path comes first.
            places.sort_by_key(|place| std::cmp::Reverse(place.len()));
            let places: Vec<(String, Option<RunId>)> = places
                .into_iter()
                .map(|place| Ok((rows::only_one_of_place(conn, source, &place)?, place)))
                .map(|found: Result<_>| found.map(|(run, place)| (place, run)))
                .collect::<Result<_>>()?;
            let run_of =
                |path: &str| places.iter().find(|(place, _)| lies_in(path, place)).and_then(|(_, run)| *run);
            let warnings: Vec<(Option<RunId>, Warning)> =
                warnings.iter().map(|warning| (run_of(&warning.path), stored(warning))).collect();
            let unlisted: Vec<(Option<RunId>, WarningCounts)> = (not_kept.warnings.iter())
                .map(|(place, counts)| (place.as_deref().and_then(run_of), *counts))
                .collect();
            let files_changed = conn
                .prepare_cached(
                    "UPDATE source SET survey_files_read = ?2 WHERE id = ?1 AND survey_files_read <> ?2",
                )?
                .execute((source, int(files_read)))?;
            if files_changed == 0
                && survey_warnings(conn, source)? == warnings
                && omitted_counts::survey_counts(conn, source)? == unlisted
            {
                return Ok(());
            }
            conn.prepare_cached("DELETE FROM warning WHERE source = ?1 AND part IS NULL")?
                .execute([source])?;
            for (run, warning) in &warnings {
                add(conn, source, None, *run, warning)?;
            }
            omitted_counts::replace(conn, source, None, not_kept, |place| place.and_then(run_of))?;
            changes::log_source(conn, source)?;
            Ok(())
        })
    }

    /// A page of the warnings of a source.
    pub fn warnings(
        &self,
        source: SourceId,
        filter: &WarningFilter,
        offset: u32,
        limit: u32,
    ) -> Result<WarningPage> {
        let matching = "FROM warning WHERE source = ?1
            AND (?2 IS NULL OR treatment = ?2)
            AND (?3 IS NULL OR code = ?3)
            AND (?4 IS NULL OR run IN (SELECT run.id FROM run JOIN run_slug ON run_slug.id = run.slug
                                       WHERE run_slug.slug = ?4))";
        let values = (source, filter.treatment.map(Treatment::as_str), &filter.code, &filter.run);
        self.read(|conn| {
            let sql = format!("SELECT count(*) {matching}");
            let count = conn.prepare_cached(&sql)?.query_row(values, |row| count_or_zero(row, 0))?;
            let sql = format!(
                "SELECT path, code, message, treatment {matching} ORDER BY code, path, id LIMIT ?5 OFFSET ?6"
            );
            let mut find = conn.prepare_cached(&sql)?;
            let (source, treatment, code, run) = values;
            let rows =
                find.query_and_then((source, treatment, code, run, limit, offset), |row| read(row, 0))?;
            let mut page = WarningPage { warnings: rows.collect::<Result<_>>()?, matching: count };
            if let Some((entry, _)) = omitted_counts::entry(conn, source, filter)? {
                let is_last = u64::from(offset) + page.warnings.len() as u64 == count;
                if is_last && page.warnings.len() < limit as usize {
                    page.warnings.push(entry);
                }
                page.matching += 1;
            }
            Ok(page)
        })
    }

    /// Warnings of a source by treatment; treatments without warnings are left out.
    pub fn warnings_by_treatment(&self, source: SourceId) -> Result<Vec<(Treatment, u64)>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT treatment, count(*) FROM warning WHERE source = ?1 GROUP BY treatment ORDER BY treatment",
            )?;
            let mut counts: Vec<(Treatment, u64)> = find
                .query_and_then([source], |row| Ok((treatment(&row.get::<_, String>(0)?)?, count_or_zero(row, 1)?)))?
                .collect::<Result<_>>()?;
            if let Some((entry, _)) = omitted_counts::entry(conn, source, &WarningFilter::default())? {
                match counts.iter_mut().find(|(treatment, _)| *treatment == entry.treatment) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((entry.treatment, 1)),
                }
            }
            Ok(counts)
        })
    }

    /// Warnings of a source by code, most frequent first.
    pub fn warnings_by_code(&self, source: SourceId) -> Result<Vec<WarningGroup>> {
        self.read(|conn| {
            // SQLite takes the other columns from the row with the least path.
            let mut find = conn.prepare_cached(
                "SELECT count(*), min(path), code, message, treatment FROM warning WHERE source = ?1
                 GROUP BY code, treatment ORDER BY count(*) DESC, code, treatment",
            )?;
            let codes = find.query_and_then([source], |row| {
                let example = read(row, 1)?;
                Ok(WarningGroup {
                    code: example.code.clone(),
                    severity: Severity::from_code(&example.code),
                    treatment: example.treatment,
                    count: count_or_zero(row, 0)?,
                    example,
                })
            })?;
            let mut codes: Vec<WarningGroup> = codes.collect::<Result<_>>()?;
            if let Some((example, counts)) = omitted_counts::entry(conn, source, &WarningFilter::default())? {
                let (code, treatment) = (example.code.clone(), example.treatment);
                let severity = Severity::from_code(&code);
                codes.push(WarningGroup { code, severity, treatment, count: counts.total(), example });
            }
            Ok(codes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_contains_its_own_files_and_not_those_of_similar_names() {
        assert!(lies_in("jobs/a/x.json", "jobs/a") && lies_in("jobs/a", "jobs/a") && lies_in("x", ""));
        assert!(!lies_in("jobs/ab/x.json", "jobs/a"));
    }

    #[test]
    fn warnings_are_paged_counted_and_replaced() {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/a", "a", false).unwrap();
        let warnings: Vec<Warning> = (0..5)
            .map(|n| Warning::skipped(format!("f{n}"), "json.truncated", "The file ends in the middle."))
            .chain([Warning::repaired("b", "count.wrong", "Counted again.")])
            .collect();
        store.put_survey(source, &warnings, &OmittedCounts::default(), 7).unwrap();

        let all = WarningFilter::default();
        let page = store.warnings(source, &all, 1, 2).unwrap();
        assert_eq!(page.matching, 6);
        assert_eq!(page.warnings, warnings[..2], "by code, then by path, after the first");
        let filter = WarningFilter { treatment: Some(Treatment::Repaired), ..all.clone() };
        assert_eq!(store.warnings(source, &filter, 0, 10).unwrap().warnings, warnings[5..]);
        let filter = WarningFilter { code: Some("nothing".into()), ..all.clone() };
        assert_eq!(store.warnings(source, &filter, 0, 10).unwrap(), WarningPage::default());

        assert_eq!(
            store.warnings_by_treatment(source).unwrap(),
            [(Treatment::Repaired, 1), (Treatment::Skipped, 5)]
        );
        let counts = WarningCounts { notes: 0, repairs: 0, warnings: 6 };
        assert_eq!(store.source(source).unwrap().unwrap().severities, counts);
        let codes = store.warnings_by_code(source).unwrap();
        assert_eq!((codes[0].count, &codes[0].example), (5, &warnings[0]));
        assert_eq!(store.source_counts(source).unwrap().files_read, 7);

        store.put_survey(source, &warnings[..1], &OmittedCounts::default(), 1).unwrap();
        assert_eq!(store.warnings(source, &all, 0, 10).unwrap().warnings, warnings[..1]);
    }
}
