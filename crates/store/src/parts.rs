//! Parts: the units of reading, and the only write of results.
//!
//! A part owns its episodes and its warnings. Writing a part again replaces exactly these.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use model::{Episode, Warning};
use rusqlite::{Connection, OptionalExtension};

use crate::migration::Migration;
use crate::values::int;
use crate::write::Write;
use crate::{
    EpisodeId, OmittedCounts, Result, RunId, SourceId, Store, changes, episodes, import_report,
    omitted_counts, policy, rows, turns,
};

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sql: "
CREATE TABLE part (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  place TEXT NOT NULL,
  key TEXT NOT NULL,
  -- the 64 bits of the stamp; NULL = must be read again, whatever its files say
  stamp INTEGER,
  files_read INTEGER NOT NULL,
  UNIQUE (source, place, key)
) STRICT;
",
    },
    Migration {
        version: 14,
        sql: "
-- ends of StaminaBench's, tasks of Harbor and copies of tb's trials are read otherwise than before: all sources are read again
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 15,
        sql: "
-- which row of a decision table decided about an end, and whether totals include cached tokens, is kept from here on
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 17,
        sql: "
-- trials of tb and of StaminaBench have one identity while they run and after, and a reason that names only a type is what was
-- raised: all sources are read again
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 18,
        sql: "
-- trials of tb are known by the ids of their results, which a resume of their run keeps, and scenarios that lie alone by how
-- they began: all sources are read again
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 21,
        sql: "
-- times and rewards of tables that cannot be are said from here on: tables are read again
UPDATE part SET stamp = NULL WHERE id IN
  (SELECT episode.part FROM episode JOIN run ON run.id = episode.run WHERE run.format = 'table');
",
    },
    Migration {
        version: 22,
        sql: "
-- 1 = episodes of it are left out as copies; the stamp is what was read, so that it need not be read again to leave them out
ALTER TABLE part ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;
",
    },
    Migration {
        version: 24,
        sql: "
-- one rounded duration tells no copies from here on, and tokens of a part are not those of the whole: all is read again
UPDATE part SET stamp = NULL;
",
    },
    Migration {
        version: 25,
        sql: "
-- in tables NA is no name and no reason of a withdrawal, 1.00 is a flag, and a verdict goes before an end reason that contradicts
-- it: tables are read again
UPDATE part SET stamp = NULL WHERE id IN
  (SELECT episode.part FROM episode JOIN run ON run.id = episode.run WHERE run.format = 'table');
",
    },
];

/// The result of reading one part.
#[derive(Debug, Clone, Copy)]
pub struct ParsedPart<'a> {
    /// The folder of the source in which the format starts (`""` = its root).
    pub place: &'a str,
    /// The key of the part inside its place.
    pub key: &'a str,
    /// A stamp that changes when the files of the part change.
    pub stamp: u64,
    /// Episodes, each with the key of its run (written before with [`Store::put_runs`]).
    pub episodes: &'a [(String, Episode)],
    /// The warnings.
    pub warnings: &'a [Warning],
    /// How many files were parsed.
    pub files_read: u64,
}

/// Updates the rows of runs whose episodes changed: version, sums, change log.
fn touch_runs(conn: &Connection, touched: &HashSet<RunId>) -> Result<()> {
    let mut touched: Vec<RunId> = touched.iter().copied().collect();
    touched.sort_unstable();
    touched.into_iter().try_for_each(|run| rows::touch(conn, run))
}

/// Deletes a part with its episodes and warnings. Adds the runs of the episodes to `touched`.
fn delete(conn: &Connection, part: i64, touched: &mut HashSet<RunId>) -> Result<()> {
    let mut find = conn.prepare_cached("SELECT DISTINCT run FROM episode WHERE part = ?1")?;
    for run in find.query_map([part], |row| row.get(0))? {
        touched.insert(run?);
    }
    conn.prepare_cached("DELETE FROM part WHERE id = ?1")?.execute([part])?;
    Ok(())
}

/// The row of a part, without a stamp: the part is not read yet.
fn begin(conn: &Connection, source: SourceId, part: &ParsedPart<'_>) -> Result<i64> {
    Ok(conn
        .prepare_cached(
            "INSERT INTO part (source, place, key, files_read) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (source, place, key)
               DO UPDATE SET stamp = NULL, left_out = 0, files_read = excluded.files_read
             RETURNING id",
        )?
        .query_row((source, part.place, part.key, int(part.files_read)), |row| row.get(0))?)
}

/// The earlier episodes of a part, by run and key.
fn known_episodes(conn: &Connection, part: i64) -> Result<HashMap<(RunId, String), (EpisodeId, String)>> {
    let mut find = conn.prepare_cached("SELECT run, key, id, slug FROM episode WHERE part = ?1")?;
    let rows = find.query_map([part], |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?))))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The run of this key in the place of a part.
fn run_of_key(
    conn: &Connection,
    source: SourceId,
    part: &ParsedPart<'_>,
    key: &str,
) -> Result<Option<RunId>> {
    Ok(conn
        .prepare_cached("SELECT id FROM run WHERE source = ?1 AND place = ?2 AND key = ?3")?
        .query_row((source, part.place, key), |row| row.get(0))
        .optional()?)
}

fn put(write: &mut Write<'_>, source: SourceId, part: &ParsedPart<'_>, beyond: &OmittedCounts) -> Result<()> {
    // Reports a missing source. The foreign key would only report a failed constraint.
    rows::address(&write.tx, source)?;
    let id = begin(&write.tx, source, part)?;
    let mut known = known_episodes(&write.tx, id)?;
    let mut touched: HashSet<RunId> = known.keys().map(|(run, _)| *run).collect();

    let mut own_warnings = Vec::new();
    let mut run_ids: HashMap<&str, Option<RunId>> = HashMap::new();
    let mut readings: Vec<(RunId, &Episode)> = Vec::with_capacity(part.episodes.len());
    let mut positions: HashMap<(RunId, &str), usize> = HashMap::new();
    let mut whole = true;
    for (run_key, episode) in part.episodes {
        let run = match run_ids.get(run_key.as_str()) {
            Some(run) => *run,
            None => {
                let run = run_of_key(&write.tx, source, part, run_key)?;
                run_ids.insert(run_key, run);
                run
            }
        };
        let Some(run) = run else {
            whole = false;
            own_warnings.push(Warning::skipped(
                part.place,
                "episode.run_unknown",
                format!(
                    "Episode “{}” belongs to run “{run_key}”, which is not among the runs of this folder. It was left out.",
                    episode.key
                ),
            ));
            continue;
        };
        match positions.entry((run, &episode.key)) {
            Entry::Occupied(entry) => {
                readings[*entry.get()] = (run, episode);
                own_warnings.push(Warning::skipped(
                    part.place,
                    "episode.duplicate",
                    format!(
                        "Episode “{}” occurs more than once in one run. The last one was kept.",
                        episode.key
                    ),
                ));
            }
            Entry::Vacant(entry) => {
                entry.insert(readings.len());
                readings.push((run, episode));
            }
        }
    }

    // Missing episodes are deleted first, so that their slugs are free.
    for ((_, _), (episode, _)) in
        known.extract_if(|(run, key), _| !positions.contains_key(&(*run, key.as_str())))
    {
        episodes::delete(&write.tx, episode)?;
    }
    let policy = policy::get(&write.tx)?;
    let mut written = Vec::with_capacity(readings.len());
    for (run, episode) in readings {
        touched.insert(run);
        let before = known.remove(&(run, episode.key.clone()));
        if policy.rows.is_empty() {
            written.push((episodes::put_without_turns(write, id, run, before, episode)?, episode));
        } else {
            let mut moved = episode.clone();
            policy.move_rows(&mut moved);
            episodes::put(write, id, run, before, &moved)?;
        }
    }
    // Those of all episodes together: a statement takes more rows than most episodes have.
    turns::put(write, &written)?;

    let conn = &write.tx;
    // A warning concerns the run that it names, else the only run of the part.
    let only = match touched.iter().copied().collect::<Vec<_>>()[..] {
        [run] => Some(run),
        _ => rows::only_one_of_place(conn, source, part.place)?,
    };
    for key in beyond.episodes.keys().chain(beyond.warnings.keys().flatten()) {
        if let Entry::Vacant(entry) = run_ids.entry(key) {
            entry.insert(run_of_key(conn, source, part, key)?);
        }
    }
    let run = |key: Option<&str>| match key {
        Some(key) => run_ids.get(key).copied().flatten(),
        None => only,
    };
    let own_warnings = part.warnings.iter().chain(&own_warnings);
    import_report::replace_of_part(conn, source, id, |warning| run(warning.run.as_deref()), own_warnings)?;
    omitted_counts::replace(conn, source, Some(id), beyond, run)?;
    touch_runs(conn, &touched)?;
    changes::log_source(conn, source)?;
    if whole {
        conn.prepare_cached("UPDATE part SET stamp = ?2 WHERE id = ?1")?
            .execute((id, part.stamp.cast_signed()))?;
    }
    Ok(())
}

/// Deletes the parts for which `keep` is false.
fn drop_where(conn: &Connection, source: SourceId, keep: impl Fn(&str, &str) -> bool) -> Result<()> {
    let mut find = conn.prepare_cached("SELECT id, place, key FROM part WHERE source = ?1")?;
    let mut dropped: Vec<i64> = Vec::new();
    let mut rows = find.query([source])?;
    while let Some(row) = rows.next()? {
        let (id, place, key): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if !keep(&place, &key) {
            dropped.push(id);
        }
    }
    if dropped.is_empty() {
        return Ok(());
    }
    let mut touched = HashSet::new();
    for part in dropped {
        delete(conn, part, &mut touched)?;
    }
    touch_runs(conn, &touched)?;
    changes::log_source(conn, source)?;
    Ok(())
}

impl Store {
    /// The stamps of all completely read parts of which no episode is left out as a copy ([`Store::left_out`]), by
    /// (place, part key).
    pub fn part_stamps(&self, source: SourceId) -> Result<HashMap<(String, String), u64>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT place, key, stamp FROM part WHERE source = ?1 AND left_out = 0 AND stamp IS NOT NULL",
            )?;
            let rows = find.query_map([source], |row| {
                Ok(((row.get(0)?, row.get(1)?), row.get::<_, i64>(2)?.cast_unsigned()))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Replaces the episodes and warnings of this part, in one transaction. Writing the same reading again changes nothing.
    ///
    /// Episodes keep their slugs. An episode of a run that [`Store::put_runs`] did not write is left out, with the warning
    /// `episode.run_unknown`, and the part counts as not read. Of two episodes with one key in one run, the later one stays,
    /// with the warning `episode.duplicate`.
    ///
    /// An import calls [`Store::put_part_with`]. This is for parts that are kept whole, which those of tests are.
    pub fn put_part(&self, source: SourceId, part: &ParsedPart<'_>) -> Result<()> {
        self.put_part_with(source, part, &OmittedCounts::default())
    }

    /// [`Store::put_part`] of a part of which not everything is kept.
    pub fn put_part_with(
        &self,
        source: SourceId,
        part: &ParsedPart<'_>,
        beyond: &OmittedCounts,
    ) -> Result<()> {
        self.write(|write| put(write, source, part, beyond))
    }

    /// Deletes the parts that are not in `keep` (place, part key), with their episodes and warnings. All parts of `kept_places`
    /// stay, also those that are to be read again.
    pub fn drop_parts(
        &self,
        source: SourceId,
        keep: &[(String, String)],
        kept_places: &HashSet<&str>,
    ) -> Result<()> {
        let keep: HashSet<(&str, &str)> =
            keep.iter().map(|(place, key)| (place.as_str(), key.as_str())).collect();
        let is_kept = |place: &str, key: &str| kept_places.contains(place) || keep.contains(&(place, key));
        self.write(|write| drop_where(&write.tx, source, is_kept))
    }

    /// Deletes the parts of one place whose keys are not in `keep`, with their episodes and warnings.
    pub fn keep_parts_of_place(&self, source: SourceId, folder: &str, keep: &HashSet<&str>) -> Result<()> {
        self.write(|write| drop_where(&write.tx, source, |place, key| place != folder || keep.contains(key)))
    }

    /// Deletes the runs and parts of places that are not in `keep`.
    pub fn drop_places(&self, source: SourceId, keep: &[String]) -> Result<()> {
        let keep: HashSet<&str> = keep.iter().map(String::as_str).collect();
        self.write(|write| {
            let conn = &write.tx;
            drop_where(conn, source, |place, _| keep.contains(place))?;
            let mut find = conn.prepare_cached("SELECT id, place FROM run WHERE source = ?1")?;
            let source_runs: Vec<(RunId, String)> = find
                .query_map([source], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            for (run, _) in source_runs.iter().filter(|(_, place)| !keep.contains(place.as_str())) {
                rows::delete(conn, *run)?;
            }
            Ok(())
        })
    }
}
