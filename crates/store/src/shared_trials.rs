//! Which runs have trials that other runs have as well, for lists of many runs: how many, and where.

use std::collections::{BTreeSet, HashMap};

use crate::withdrawn_filter::VALID_EPISODE;
use crate::{Result, RunId, Store};

/// The runs that share a trial with any other episode. It reads the index of identities alone, and few episodes beside it.
const COPIED: &str = "SELECT DISTINCT run FROM episode WHERE identity IN
  (SELECT identity FROM episode WHERE identity IS NOT NULL GROUP BY identity HAVING count(*) > 1)";

/// The other runs that have trials of a run (`?1`) as well: slug and how many, the most first.
const OTHER_RUNS: &str = "WITH copy AS (
    SELECT episode.identity, episode.run FROM episode
    WHERE episode.identity IN
      (SELECT own.identity FROM episode AS own WHERE own.run = ?1 AND own.identity IS NOT NULL)
    AND {valid})
  SELECT other_slug.slug, count(DISTINCT mine.identity)
  FROM copy AS mine JOIN copy AS its ON its.identity = mine.identity AND its.run <> mine.run
    JOIN run AS other ON other.id = its.run JOIN run_slug AS other_slug ON other_slug.id = other.slug
    JOIN source ON source.id = other.source AND source.closed_at IS NULL
  WHERE mine.run = ?1 GROUP BY other.id ORDER BY 2 DESC, 1";

impl Store {
    /// The runs among these that have trials of other runs: the slug of each other run and how many trials, the most first.
    /// Withdrawn episodes do not count.
    pub fn runs_sharing_trials(&self, runs: &[RunId]) -> Result<HashMap<RunId, Vec<(String, u32)>>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(COPIED)?;
            let copied: BTreeSet<RunId> =
                find.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            let mut found = HashMap::new();
            if copied.is_empty() {
                return Ok(found);
            }
            let mut find = conn.prepare_cached(&OTHER_RUNS.replace("{valid}", VALID_EPISODE))?;
            for run in runs.iter().filter(|run| copied.contains(*run)) {
                let rows = find.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
                let others: Vec<(String, u32)> = rows.collect::<rusqlite::Result<_>>()?;
                if !others.is_empty() {
                    found.insert(*run, others);
                }
            }
            Ok(found)
        })
    }
}
