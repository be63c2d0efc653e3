//! Withdrawn runs and episodes, which a user has marked as invalid, with a reason. They stay in the library with their mark.
//!
//! A withdrawn run is left out wherever runs are pooled. A withdrawn episode is left out of every number, also of those of
//! its run. The mark belongs to the slugs of run and episode, so it survives reading again, closing and purging. A trial that was run
//! again in the place of a withdrawn one has its slug and not its mark: its name and its identity are others.

use rusqlite::Connection;

use crate::schema::Migration;
use crate::{EpisodeId, Result, RunId, Store, changes, runs, slugs};

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
];

/// SQL: whether `mark` (a row of `withdrawn_episode` of the same run) is that of an `episode`.
macro_rules! is_mark {
    () => {
        "mark.episode = episode.slug AND (mark.key IS NULL OR mark.key = episode.key
    OR mark.identity IS NULL OR episode.identity IS NULL OR mark.identity = episode.identity)"
    };
}

/// A condition on `run`: it is not withdrawn.
pub(crate) const VALID: &str = "NOT EXISTS (SELECT 1 FROM withdrawn WHERE withdrawn.run = run.slug)";

/// Why an `episode` is withdrawn; NULL = it counts.
pub(crate) const EPISODE_REASON: &str = concat!(
    "(SELECT reason FROM withdrawn_episode AS mark
  WHERE mark.run = (SELECT own.slug FROM run AS own WHERE own.id = episode.run) AND ",
    is_mark!(),
    ")"
);

/// A condition on `episode`: it is not withdrawn.
pub(crate) const VALID_EPISODE: &str = concat!(
    "NOT EXISTS (SELECT 1 FROM withdrawn_episode AS mark
  WHERE mark.run = (SELECT own.slug FROM run AS own WHERE own.id = episode.run) AND ",
    is_mark!(),
    ")"
);

/// How many episodes of a `run` are withdrawn.
pub(crate) const EPISODES_OF_RUN: &str = concat!(
    "(SELECT count(*) FROM withdrawn_episode AS mark JOIN episode ON episode.run = run.id AND ",
    is_mark!(),
    " WHERE mark.run = run.slug)"
);

/// Whether any episode of a run has a mark.
pub(crate) fn has_episodes(conn: &Connection, run: RunId) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM withdrawn_episode JOIN run ON run.slug = withdrawn_episode.run WHERE run.id = ?1)",
        )?
        .query_row([run], |row| row.get(0))?)
}

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
            let here: Vec<RunId> =
                find.query_map([slug], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            here.into_iter().try_for_each(|run| runs::touch_and_sum(conn, run))
        })
    }
}

/// Marks a run (by the id of its slug), or removes the mark.
pub(crate) fn mark(conn: &Connection, run: i64, reason: Option<&str>) -> Result<()> {
    match reason {
        Some(reason) => conn
            .prepare_cached("INSERT OR REPLACE INTO withdrawn (run, reason) VALUES (?1, ?2)")?
            .execute((run, reason))?,
        None => conn.prepare_cached("DELETE FROM withdrawn WHERE run = ?1")?.execute([run])?,
    };
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
            .execute((run, episode, reason))?,
        None => conn
            .prepare_cached("DELETE FROM withdrawn_episode WHERE run = ?1 AND episode = ?2")?
            .execute((run, episode))?,
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use model::{Benchmark, Episode, Run};

    use crate::{PartRead, RunFilter, SourceId, Store};

    /// Writes the only trial of a run, under this name and with this identity.
    fn put(store: &Store, source: SourceId, key: &str, identity: Option<&str>) {
        let mut episode = Episode::new(key, "task");
        episode.identity = identity.map(str::to_owned);
        let episodes = [("r".to_owned(), episode)];
        let part =
            PartRead { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
    }

    #[test]
    fn a_trial_that_was_run_again_in_the_place_of_a_withdrawn_one_counts() {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/a", "a", false).unwrap();
        let benchmark = Benchmark { key: "b".into(), name: "B".into() };
        store.put_runs(source, "", "harbor", &[Run::unknown("r", benchmark)]).unwrap();
        put(&store, source, "task__1", Some("one"));
        let run = || store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
        let slug = store.all_episodes(run().id).unwrap().remove(0).slug;
        store.withdraw_episodes(&run().slug, std::slice::from_ref(&slug), Some("wrong image")).unwrap();
        // By slug of the trial: whether it counts, with what the run says of it.
        let counts = || {
            let all = store.all_episodes(run().id).unwrap();
            assert_eq!((all.len(), all[0].slug.as_str()), (1, slug.as_str()));
            let withdrawn = store.withdrawn_trials(run().id).unwrap().len() as u32;
            assert_eq!((run().withdrawn_episodes, all[0].invalid.is_some()), (withdrawn, withdrawn > 0));
            assert_eq!(store.episodes(run().id).unwrap().len() as u32, 1 - withdrawn);
            withdrawn == 0
        };
        assert!(!counts());
        put(&store, source, "renamed", Some("one"));
        assert!(!counts(), "its folder was renamed");
        put(&store, source, "task__1", Some("another way to tell it"));
        assert!(!counts(), "it is described in another way");
        put(&store, source, "task__2", None);
        assert!(!counts(), "nothing tells that it is another one");
        put(&store, source, "task__2", Some("two"));
        assert!(counts());
        // The mark of the new one replaces that of the old one.
        store.withdraw_episodes(&run().slug, std::slice::from_ref(&slug), Some("again")).unwrap();
        assert!(!counts());
        store.withdraw_episodes(&run().slug, std::slice::from_ref(&slug), None).unwrap();
        assert!(counts());
    }
}
