//! The censoring policy of the library.

use std::collections::BTreeSet;

use model::{CensoringPolicy, EndReason};
use rusqlite::Connection;

use crate::migration::Migration;
use crate::values::{end_reason, json, parse};
use crate::withdrawn_filter::{VALID, VALID_EPISODE};
use crate::write::Write;
use crate::{EpisodeId, Result, RunId, Store, changes, episodes, rows};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    sql: "
CREATE TABLE policy (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- JSON of model::CensoringPolicy
  policy TEXT NOT NULL,
  -- number (change_log.seq) of its last change
  version INTEGER NOT NULL
) STRICT;
INSERT INTO policy (id, policy, version) VALUES (1, '{\"overrides\":{}}', 0);
",
}];

/// The policy of a library.
pub(crate) fn get(conn: &Connection) -> Result<CensoringPolicy> {
    let text: String = conn.prepare_cached("SELECT policy FROM policy")?.query_row([], |row| row.get(0))?;
    parse(&text)
}

/// Every episode with an end that a row of a decision table decided, and the rows.
const DECIDED_EPISODES: &str = "
  SELECT turn.episode AS episode, attempt.extra ->> 'decided_by' AS decision
  FROM attempt JOIN turn ON turn.id = attempt.turn WHERE attempt.extra LIKE '%\"decided_by\"%'
  UNION
  SELECT id, extra ->> 'decided_by' FROM episode WHERE extra LIKE '%\"decided_by\"%'";

/// Writes the episodes again whose ends the policy changes.
fn move_rows(write: &mut Write<'_>, policy: &CensoringPolicy) -> Result<()> {
    let found: Vec<(EpisodeId, i64, RunId, String)> = {
        let mut find = write.tx.prepare(&format!(
            "SELECT DISTINCT id, part, run, slug FROM episode WHERE id IN (SELECT episode FROM ({DECIDED_EPISODES}))"
        ))?;
        let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    let mut changed = BTreeSet::new();
    for (id, part, run, slug) in found {
        let Some(mut episode) = episodes::read_whole(&write.tx, id)? else { continue };
        if policy.move_rows(&mut episode) {
            episodes::put(write, part, run, Some((id, slug)), &episode)?;
            changed.insert(run);
        }
    }
    changed.into_iter().try_for_each(|run| rows::touch(&write.tx, run))
}

impl Store {
    /// How many episodes of open sources have an end that a row of a decision table decided, by row.
    pub fn decision_counts(&self) -> Result<Vec<(String, u32)>> {
        self.read(|conn| {
            let mut find = conn.prepare(&format!(
                "SELECT decision, count(DISTINCT episode.id) FROM ({DECIDED_EPISODES}) AS decided
                   JOIN episode ON episode.id = decided.episode JOIN run ON run.id = episode.run
                   JOIN source ON source.id = run.source AND source.closed_at IS NULL
                 GROUP BY decision ORDER BY decision"
            ))?;
            Ok(find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The policy; the default policy until another is set.
    pub fn get_policy(&self) -> Result<CensoringPolicy> {
        self.read(get)
    }

    /// Sets the policy. If it differs, every summary becomes stale. Ends that a row of a decision table decided get the reason
    /// that the policy has for the row.
    pub fn set_policy(&self, policy: &CensoringPolicy) -> Result<()> {
        let text = json(policy)?;
        self.write(|write| {
            let before = get(&write.tx)?;
            if before == *policy {
                return Ok(());
            }
            if before.rows != policy.rows {
                move_rows(write, policy)?;
            }
            let conn = &write.tx;
            let changed = conn.execute("UPDATE policy SET policy = ?1", [&text])?;
            if changed > 0 {
                let seq = changes::log_policy(conn)?;
                conn.execute("UPDATE policy SET version = ?1", [seq])?;
            }
            Ok(())
        })
    }

    /// How many episodes of open sources ended for each reason. Copies of an episode count once, withdrawn runs and episodes
    /// do not count, and reasons without episodes are left out.
    pub fn end_reason_counts(&self) -> Result<Vec<(EndReason, u32)>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                &format!(
                    "SELECT end_reason, count(DISTINCT coalesce(episode.identity, episode.id)) FROM episode JOIN run ON run.id = episode.run
                       JOIN source ON source.id = run.source AND source.closed_at IS NULL
                     WHERE {VALID} AND {VALID_EPISODE} GROUP BY end_reason ORDER BY end_reason"
                ),
            )?;
            find.query_and_then([], |row| Ok((end_reason(&row.get::<_, String>(0)?)?, row.get(1)?)))?
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ending;

    #[test]
    fn the_policy_is_kept_and_logged_only_when_it_changes() {
        let store = Store::in_memory().unwrap();
        assert_eq!(store.get_policy().unwrap(), CensoringPolicy::default());
        store.set_policy(&CensoringPolicy::default()).unwrap();
        assert_eq!(store.last_change().unwrap(), 0);

        let mut policy = CensoringPolicy::default();
        policy.overrides.insert(EndReason::Endpoint, Ending::Event);
        store.set_policy(&policy).unwrap();
        assert_eq!(store.get_policy().unwrap(), policy);
        let changes = store.changes_since(0).unwrap();
        assert!(changes.policy && changes.sources.is_empty());
    }
}
