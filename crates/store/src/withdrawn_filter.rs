//! SQL: which runs and episodes a user has withdrawn, for the queries of every table. `withdrawn` writes the marks.

use rusqlite::Connection;

use crate::{Result, RunId};

/// SQL: whether `mark` (a row of `withdrawn_episode` of the same run) is that of an `episode`.
macro_rules! is_mark {
    () => {
        "mark.episode = episode.slug AND (mark.key IS NULL OR mark.key = episode.key
    OR mark.identity IS NULL OR episode.identity IS NULL OR mark.identity = episode.identity)"
    };
}

/// SQL: whether `withdrawn` (a row) is the mark of this run (an alias of `run`). It is not where the run shares no trial with the
/// withdrawn ones: it is a new run under that name. What has no identity tells nothing.
macro_rules! is_mark_of {
    ($run:literal) => {
        concat!(
            "withdrawn.run = ",
            $run,
            ".slug AND (NOT EXISTS (SELECT 1 FROM withdrawn_trial AS known WHERE known.run = ",
            $run,
            ".slug)
    OR NOT EXISTS (SELECT 1 FROM episode AS own_episode WHERE own_episode.run = ",
            $run,
            ".id AND own_episode.identity IS NOT NULL)
    OR EXISTS (SELECT 1 FROM episode AS own_episode JOIN withdrawn_trial AS known
      ON known.run = ",
            $run,
            ".slug AND known.identity = own_episode.identity WHERE own_episode.run = ",
            $run,
            ".id)
    OR EXISTS (SELECT 1 FROM episode AS own_episode JOIN withdrawn_trial AS known
      ON known.run = ",
            $run,
            ".slug AND known.key = own_episode.key WHERE own_episode.run = ",
            $run,
            ".id))"
        )
    };
}

/// Why this run (an alias of `run`) is withdrawn; NULL = it counts.
macro_rules! reason_of {
    ($run:literal) => {
        concat!("(SELECT reason FROM withdrawn WHERE ", crate::withdrawn_filter::is_mark_of!($run), ")")
    };
}
pub(crate) use {is_mark, is_mark_of, reason_of};

/// A condition on `run`: it is not withdrawn.
pub(crate) const VALID: &str = concat!("NOT EXISTS (SELECT 1 FROM withdrawn WHERE ", is_mark_of!("run"), ")");

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
pub(crate) fn has_withdrawn_episodes(conn: &Connection, run: RunId) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM withdrawn_episode JOIN run ON run.slug = withdrawn_episode.run WHERE run.id = ?1)",
        )?
        .query_row([run], |row| row.get(0))?)
}
