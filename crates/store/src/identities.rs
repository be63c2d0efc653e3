//! Identities that one place of a library learns from another: a result that lies without the files that say which run it is
//! of, and a trial that was copied before it had a result.
//!
//! A reader sees one source, so it gives what that source says: an identity, and beside it ([`OTHER_IDENTITY`]) the one that
//! a copy has of which less is there. Here the two are assembled, over all sources, once parts were put.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::Connection;

use crate::{EpisodeId, Result, RunId, Store, runs};

/// A field of an episode: the identity that its copies have of which less is there. Only readers of ours write it, and only for
/// [`Store::settle_identities`].
pub const OTHER_IDENTITY: &str = "other_identity";

/// Formats whose readers write [`OTHER_IDENTITY`]; of others it is a field of somebody's.
const WITH_OTHER_IDENTITY: &str = "'terminal-bench', 'staminabench'";

/// Whether the result of an `episode` is there and cannot be read.
pub(crate) const IS_UNREADABLE: &str = "coalesce(episode.extra ->> '$.\"result.json\"', episode.extra ->> '$.\"results.json\"', '') = 'unreadable'";

/// An episode, the run that it is in, and the identity that it is to have.
type Settled = (EpisodeId, RunId, String);

impl Store {
    /// Gives episodes of which only a part is there the identity of those that are known to be the same. Call it after parts
    /// were put.
    pub fn settle_identities(&self) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            let mut changed = BTreeSet::new();
            for find in [by_other_identity, of_resumed_runs] {
                for (episode, run, identity) in find(conn)? {
                    conn.prepare_cached("UPDATE episode SET identity = ?2 WHERE id = ?1")?
                        .execute((episode, identity))?;
                    changed.insert(run);
                }
            }
            changed.into_iter().try_for_each(|run| runs::touch(conn, run))
        })
    }
}

/// Those that have the other identity of one that says more.
fn by_other_identity(conn: &Connection) -> Result<Vec<Settled>> {
    let mut find = conn.prepare_cached(&format!(
        "SELECT part.id, part.run, min(known.identity) FROM run JOIN episode AS known ON known.run = run.id
           JOIN episode AS part ON part.identity = known.extra ->> '$.{OTHER_IDENTITY}'
         WHERE run.format IN ({WITH_OTHER_IDENTITY}) AND known.identity IS NOT NULL
           AND known.identity <> part.identity
         GROUP BY part.id"
    ))?;
    Ok(find
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?)
}

/// A trial of `tb`, as far as it matters here.
struct Trial {
    episode: EpisodeId,
    run: RunId,
    /// Its task, and its name in its run.
    name: (String, String),
    identity: Option<String>,
    has_result: bool,
}

/// Trials of `tb` without a result that have one in a copy of their run. A resume gives the run another id and keeps the
/// results that are there: runs that have one of them in common are the same.
fn of_resumed_runs(conn: &Connection) -> Result<Vec<Settled>> {
    let mut find = conn.prepare_cached(&format!(
        "SELECT episode.id, episode.run, episode.scenario, episode.key, episode.identity,
           NOT (episode.end_reason = 'unfinished' OR {IS_UNREADABLE})
         FROM run JOIN episode ON episode.run = run.id WHERE run.format = 'terminal-bench' ORDER BY episode.id"
    ))?;
    let trials: Vec<Trial> = find
        .query_map([], |row| {
            let name = (row.get(2)?, row.get(3)?);
            let (episode, run) = (row.get(0)?, row.get(1)?);
            Ok(Trial { episode, run, name, identity: row.get(4)?, has_result: row.get(5)? })
        })?
        .collect::<rusqlite::Result<_>>()?;
    if trials.iter().all(|trial| trial.has_result) {
        return Ok(Vec::new());
    }
    let mut same = SameRuns::default();
    let mut first: HashMap<&str, RunId> = HashMap::new();
    for trial in trials.iter().filter(|trial| trial.has_result) {
        let Some(identity) = trial.identity.as_deref() else { continue };
        same.join(*first.entry(identity).or_insert(trial.run), trial.run);
    }
    // By run and name: the least, so that it does not matter which source was opened first.
    let mut results: HashMap<(RunId, &(String, String)), &str> = HashMap::new();
    for trial in trials.iter().filter(|trial| trial.has_result) {
        let Some(identity) = trial.identity.as_deref() else { continue };
        let result = results.entry((same.root(trial.run), &trial.name)).or_insert(identity);
        *result = identity.min(*result);
    }
    let without = trials.iter().filter(|trial| !trial.has_result);
    let settled = without.filter_map(|trial| {
        let identity = *results.get(&(same.root(trial.run), &trial.name))?;
        (trial.identity.as_deref() != Some(identity)).then(|| (trial.episode, trial.run, identity.to_owned()))
    });
    Ok(settled.collect())
}

/// Which runs are the same, by the least of them.
#[derive(Default)]
struct SameRuns {
    /// A smaller one that is the same run, or the run itself.
    parents: BTreeMap<RunId, RunId>,
}

impl SameRuns {
    fn root(&mut self, run: RunId) -> RunId {
        let mut root = run;
        while let Some(parent) = self.parents.get(&root).copied().filter(|parent| *parent != root) {
            root = parent;
        }
        // The next look goes straight there.
        let mut at = run;
        while let Some(parent) = self.parents.insert(at, root).filter(|parent| *parent != root) {
            at = parent;
        }
        root
    }

    fn join(&mut self, a: RunId, b: RunId) {
        let (a, b) = (self.root(a), self.root(b));
        let root = a.min(b);
        for run in [a, b] {
            self.parents.insert(run, root);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_same_over_others() {
        let mut same = SameRuns::default();
        for (a, b) in [(5, 4), (2, 3), (4, 3), (7, 7)] {
            same.join(a, b);
        }
        assert_eq!([2, 3, 4, 5].map(|run| same.root(run)), [2; 4]);
        assert_eq!([7, 9].map(|run| same.root(run)), [7, 9]);
    }
}
