//! Withdrawn runs and episodes, which a user has marked as invalid, with a reason. They stay in the library with their mark.
//!
//! A withdrawn run is left out wherever runs are pooled. A withdrawn episode is left out of every number, also of those of
//! its run. The mark belongs to the slugs of run and episode, so it survives reading again, closing and purging. A trial that was run
//! again in the place of a withdrawn one has its slug and not its mark: its name and its identity are others. So it is with a run
//! without a trial of the withdrawn one.

use std::collections::HashSet;

use model::one_line;
use rusqlite::Connection;

use crate::migration::Migration;
use crate::withdrawn_filter::{is_mark, is_mark_of};
use crate::{EpisodeId, Result, RunId, SourceId, Store, changes, rows, slugs};

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 11,
        sql: "
CREATE TABLE withdrawn (
  run INTEGER PRIMARY KEY REFERENCES run_slug (id) ON DELETE CASCADE,
  reason TEXT NOT NULL
) STRICT;
",
    },
    Migration {
        version: 14,
        sql: "
CREATE TABLE withdrawn_episode (
  run INTEGER NOT NULL REFERENCES run_slug (id) ON DELETE CASCADE,
  -- slug of the episode
  episode TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (run, episode)
) STRICT, WITHOUT ROWID;
",
    },
    Migration {
        version: 22,
        sql: "
-- key and identity of the episode when it was marked; NULL = unknown
ALTER TABLE withdrawn_episode ADD COLUMN key TEXT;
ALTER TABLE withdrawn_episode ADD COLUMN identity TEXT;
UPDATE withdrawn_episode SET (key, identity) = (SELECT own.key, own.identity FROM episode AS own
  JOIN run ON run.id = own.run WHERE run.slug = withdrawn_episode.run AND own.slug = withdrawn_episode.episode);
",
    },
    Migration {
        version: 23,
        sql: "
CREATE TABLE withdrawn_trial (
  -- a withdrawn run
  run INTEGER NOT NULL REFERENCES run_slug (id) ON DELETE CASCADE,
  -- identity and key of a trial that it has or had
  identity TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (run, identity)
) STRICT, WITHOUT ROWID;
CREATE INDEX withdrawn_trial_by_key ON withdrawn_trial (run, key);
INSERT OR IGNORE INTO withdrawn_trial (run, identity, key) SELECT run.slug, episode.identity, episode.key FROM withdrawn
  JOIN run ON run.slug = withdrawn.run JOIN episode ON episode.run = run.id WHERE episode.identity IS NOT NULL;
",
    },
];

/// SQL: whether a mark may have come from its run (`gone`, its slug) to a source (`here`): it is of the same source, or of one that
/// was closed before this one was opened. A copy in a source that stood beside it counts there.
macro_rules! may_move {
    () => {
        "(gone.path = here.path OR EXISTS (SELECT 1 FROM source AS closed
        WHERE closed.path = gone.path AND closed.closed_at <= here.opened_at))"
    };
}

/// The runs of a source all of whose trials were in a withdrawn run that is gone: that run, the reason, the slug of the run. It is
/// gone where no opened source has a run of its slug with one of its trials.
const MOVED_RUNS: &str = concat!(
    "WITH with_its_trials AS MATERIALIZED (
    SELECT DISTINCT lost.run AS lost, lost.reason AS reason, run.id AS run, run.slug AS slug
    FROM withdrawn AS lost CROSS JOIN withdrawn_trial AS trial ON trial.run = lost.run
      CROSS JOIN episode ON episode.identity = trial.identity CROSS JOIN run ON run.id = episode.run
      JOIN run_slug AS gone ON gone.id = lost.run JOIN source AS here ON here.id = run.source
    WHERE run.source = ?1 AND run.slug <> lost.run
      AND NOT EXISTS (SELECT 1 FROM run AS its JOIN source ON source.id = its.source AND source.closed_at IS NULL
        WHERE its.slug = lost.run
          AND (EXISTS (SELECT 1 FROM episode AS there JOIN withdrawn_trial AS known
              ON known.run = lost.run AND known.identity = there.identity WHERE there.run = its.id)
            OR EXISTS (SELECT 1 FROM episode AS there WHERE there.run = its.id)
              AND NOT EXISTS (SELECT 1 FROM episode AS there WHERE there.run = its.id AND there.identity IS NOT NULL)))
      AND NOT EXISTS (SELECT 1 FROM withdrawn WHERE ",
    is_mark_of!("run"),
    ") AND ",
    may_move!(),
    ")
  SELECT lost, reason, slug FROM with_its_trials WHERE NOT EXISTS
    (SELECT 1 FROM episode WHERE episode.run = with_its_trials.run AND NOT EXISTS
      (SELECT 1 FROM withdrawn_trial AS trial WHERE trial.run = lost AND trial.identity = episode.identity))
  ORDER BY lost, with_its_trials.run"
);

/// The trials of a source that are withdrawn in a run that is gone, or no longer has them: that run, the slug of the trial there,
/// the reason, their run, its slug, their slug.
const MOVED_TRIALS: &str = concat!(
    "SELECT lost.run, lost.episode, lost.reason, run.id, run.slug, episode.slug FROM withdrawn_episode AS lost
    JOIN episode ON episode.identity = lost.identity JOIN run ON run.id = episode.run
    JOIN run_slug AS gone ON gone.id = lost.run JOIN source AS here ON here.id = run.source
  WHERE run.source = ?1 AND run.slug <> lost.run
  AND NOT EXISTS (SELECT 1 FROM run AS its JOIN source ON source.id = its.source AND source.closed_at IS NULL
    WHERE its.slug = lost.run
      AND EXISTS (SELECT 1 FROM episode AS there WHERE there.run = its.id AND there.identity = lost.identity))
  AND NOT EXISTS (SELECT 1 FROM withdrawn_episode AS own WHERE own.run = run.slug AND own.episode = episode.slug)
  AND ",
    may_move!(),
    " ORDER BY lost.run, lost.episode, run.id"
);

impl Store {
    /// The withdrawn episodes of a run, each with a name that only its copies in other runs have, too.
    pub fn withdrawn_trials(&self, run: RunId) -> Result<Vec<(EpisodeId, String)>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(concat!(
                "SELECT episode.id, coalesce(episode.identity, 'episode ' || episode.id) FROM run
                   JOIN withdrawn_episode AS mark ON mark.run = run.slug JOIN episode ON episode.run = run.id AND ",
                is_mark!(),
                " WHERE run.id = ?1 ORDER BY episode.id"
            ))?;
            let rows = find.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Takes along the marks of runs and trials that are no longer where they were, because a folder was renamed or moved. The mark
    /// of a run goes to the runs of this source all of whose trials it had, that of a trial to the first run that has it; none goes
    /// to a source that was open beside its own. Call it when the source is read, and its copies are left out.
    pub fn settle_withdrawn(&self, source: SourceId) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            // What a resume has added to a withdrawn run is part of it. A run that shares no trial with it is another one.
            conn.prepare_cached(
                "INSERT OR IGNORE INTO withdrawn_trial (run, identity, key) SELECT run.slug, episode.identity, episode.key
                 FROM withdrawn JOIN run ON run.slug = withdrawn.run AND run.source = ?1 JOIN episode ON episode.run = run.id
                 WHERE episode.identity IS NOT NULL
                   AND (NOT EXISTS (SELECT 1 FROM withdrawn_trial AS known WHERE known.run = run.slug)
                     OR EXISTS (SELECT 1 FROM episode AS told JOIN withdrawn_trial AS known
                       ON known.run = run.slug AND known.identity = told.identity WHERE told.run = run.id))",
            )?
            .execute([source])?;
            let runs: Vec<(i64, String, i64)> = conn
                .prepare_cached(MOVED_RUNS)?
                .query_map([source], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect::<rusqlite::Result<_>>()?;
            // First every old mark: two runs may have changed their names with each other.
            for (lost, ..) in &runs {
                mark(conn, *lost, None)?;
                changes::log_run(conn, source, *lost)?;
            }
            for (_, reason, run) in &runs {
                mark(conn, *run, Some(reason))?;
                changes::log_run(conn, source, *run)?;
            }
            let trials: Vec<(i64, String, String, RunId, i64, String)> = conn
                .prepare_cached(MOVED_TRIALS)?
                .query_map([source], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
                })?
                .collect::<rusqlite::Result<_>>()?;
            let mut moved = HashSet::new();
            for (lost, lost_episode, reason, run, slug, episode) in trials {
                if moved.insert((lost, lost_episode.clone())) {
                    mark_episode(conn, slug, &episode, Some(&reason))?;
                    mark_episode(conn, lost, &lost_episode, None)?;
                    rows::touch_and_sum(conn, run)?;
                }
            }
            Ok(())
        })
    }

    /// Marks runs as invalid for this reason, or removes the mark (`None`). Unknown slugs are ignored.
    pub fn withdraw(&self, runs: &[String], reason: Option<&str>) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            for slug in runs {
                let Some((run, source)) = slugs::find(conn, slug)? else { continue };
                mark(conn, run, reason)?;
                if let Some(source) = source {
                    changes::log_run(conn, source, run)?;
                }
            }
            Ok(())
        })
    }

    /// Marks episodes of a run, by their slugs, as invalid for this reason, or removes the mark (`None`). The sums of the run
    /// are computed again, and its summary is stale. The slug of an unknown run is ignored.
    pub fn withdraw_episodes(&self, run: &str, episodes: &[String], reason: Option<&str>) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            let Some((slug, _)) = slugs::find(conn, run)? else { return Ok(()) };
            for episode in episodes {
                mark_episode(conn, slug, episode, reason)?;
            }
            let mut find = conn.prepare_cached("SELECT id FROM run WHERE slug = ?1")?;
            let runs: Vec<RunId> =
                find.query_map([slug], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            runs.into_iter().try_for_each(|run| rows::touch_and_sum(conn, run))
        })
    }
}

/// Most characters of a reason. It is one line, because it stands in lines of lists, captions and reports.
const REASON_CHARS: usize = 2_000;

/// Marks a run (by the id of its slug), or removes the mark.
pub(crate) fn mark(conn: &Connection, run: i64, reason: Option<&str>) -> Result<()> {
    conn.prepare_cached("DELETE FROM withdrawn_trial WHERE run = ?1")?.execute([run])?;
    match reason {
        Some(reason) => {
            conn.prepare_cached("INSERT OR REPLACE INTO withdrawn (run, reason) VALUES (?1, ?2)")?
                .execute((run, one_line(reason, REASON_CHARS)))?;
            conn.prepare_cached(
                "INSERT OR IGNORE INTO withdrawn_trial (run, identity, key) SELECT ?1, episode.identity, episode.key FROM run
                   JOIN episode ON episode.run = run.id WHERE run.slug = ?1 AND episode.identity IS NOT NULL",
            )?
            .execute([run])?;
        }
        None => {
            conn.prepare_cached("DELETE FROM withdrawn WHERE run = ?1")?.execute([run])?;
        }
    }
    Ok(())
}

/// Marks an episode that its source marks as withdrawn.
pub(crate) fn mark_put(conn: &Connection, run: RunId, episode: &str, reason: &str) -> Result<()> {
    let slug =
        conn.prepare_cached("SELECT slug FROM run WHERE id = ?1")?.query_row([run], |row| row.get(0))?;
    mark_episode(conn, slug, episode, Some(reason))
}

fn mark_episode(conn: &Connection, run: i64, episode: &str, reason: Option<&str>) -> Result<()> {
    match reason {
        Some(reason) => conn
            .prepare_cached(
                "INSERT OR REPLACE INTO withdrawn_episode (run, episode, reason, key, identity) SELECT ?1, ?2, ?3,
                   (SELECT own.key FROM episode AS own JOIN run ON run.id = own.run WHERE run.slug = ?1 AND own.slug = ?2),
                   (SELECT own.identity FROM episode AS own JOIN run ON run.id = own.run WHERE run.slug = ?1 AND own.slug = ?2)",
            )?
            .execute((run, episode, one_line(reason, REASON_CHARS)))?,
        None => conn
            .prepare_cached("DELETE FROM withdrawn_episode WHERE run = ?1 AND episode = ?2")?
            .execute((run, episode))?,
    };
    Ok(())
}

#[cfg(test)]
mod tests;
