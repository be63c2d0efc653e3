//! Runs that may be copies of each other where nothing that was measured decides it: they have their name, harness, model and
//! benchmark in common, all that is known of their episodes is equal, and there are too few attempts for the rules of
//! [`super::unmeasured`]. Each of them counts. Whoever shows their numbers says it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::unmeasured::{MANY_ATTEMPTS, unmeasured};
use crate::valid::VALID;
use crate::{Result, RunId, Store};

/// SQL: the runs of fewer than `?1` attempts and episodes, without any identity, of which there is another one of that name; only those
/// that are called as the run `?2`, where that is given. No more episodes of each are read. Withdrawn runs, those whose every episode is
/// withdrawn, and those of closed sources are left out.
static FEW: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT id, slug, names FROM (
    SELECT run.id AS id, run_slug.slug AS slug, json_array(run.format, run.key, run.benchmark, run.harness, run.model) AS names,
      count(*) OVER (PARTITION BY run.format, run.key, run.benchmark, run.harness, run.model) AS namesakes
    FROM run JOIN run_totals ON run_totals.run = run.id AND run_totals.episodes > 0 AND run_totals.episodes < ?1
      JOIN run_slug ON run_slug.id = run.slug JOIN source ON source.id = run.source AND source.closed_at IS NULL
    WHERE (?2 IS NULL OR run.key = (SELECT key FROM run AS asked WHERE asked.id = ?2)) AND {VALID}) AS named
WHERE namesakes > 1
  AND NOT EXISTS (SELECT 1 FROM episode WHERE run = named.id AND own_identity IS NOT NULL)
  AND (SELECT sum(attempts) > 0 AND sum(attempts) < ?1 AND count(*) < ?1
    FROM (SELECT attempts FROM episode WHERE run = named.id LIMIT ?1))
ORDER BY slug"
    )
});

/// What two runs have in common that may be copies: their names, and the facts of their episodes.
type Alike = (String, Vec<String>);

impl Store {
    /// Groups of runs that may be copies of each other, which nothing decides: the number and the slug of each. With a run, only
    /// groups of its name.
    pub fn undecided_copies(&self, run: Option<RunId>) -> Result<Vec<Vec<(RunId, String)>>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&FEW)?;
            let rows =
                find.query_map((MANY_ATTEMPTS, run), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let few: Vec<(RunId, String, String)> = rows.collect::<rusqlite::Result<_>>()?;
            let mut alike: BTreeMap<Alike, Vec<(RunId, String)>> = BTreeMap::new();
            for (run, slug, names) in few {
                let mut facts: Vec<String> =
                    unmeasured(conn, run)?.into_iter().map(|episode| episode.facts).collect();
                facts.sort_unstable();
                alike.entry((names, facts)).or_default().push((run, slug));
            }
            Ok(alike.into_values().filter(|runs| runs.len() > 1).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{Attempt, Benchmark, Episode, Run, Turn, Verdict};

    use super::*;
    use crate::PartRead;

    /// A source with one run of this name: of each episode its attempts, all of them failed, and whether it has an identity.
    fn put(store: &Store, source: &str, name: &str, episodes: &[(u32, bool)]) {
        let id = store.put_source(&format!("/data/{source}"), source, false).unwrap();
        let run = Run::unknown(name, Benchmark { key: "b".into(), name: "B".into() });
        store.put_runs(id, "", "table", &[run]).unwrap();
        let episodes: Vec<(String, Episode)> = (1..)
            .zip(episodes)
            .map(|(number, (attempts, is_measured)): (u32, _)| {
                let mut episode = Episode::new(format!("{number}"), format!("s{number}"));
                episode.identity = is_measured.then(|| format!("of-{source}-{number}"));
                let mut turn = Turn::new(1);
                turn.attempts =
                    (1..=*attempts).map(|attempt| Attempt::new(attempt, Verdict::Failed)).collect();
                episode.turns.push(turn);
                (name.to_owned(), episode)
            })
            .collect();
        let part =
            PartRead { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(id, &part).unwrap();
        store.settle_identities().unwrap();
    }

    /// The groups by the slugs of their runs.
    fn groups(store: &Store) -> Vec<Vec<String>> {
        let groups = store.undecided_copies(None).unwrap().into_iter();
        groups.map(|runs| runs.into_iter().map(|(_, slug)| slug).collect()).collect()
    }

    #[test]
    fn runs_of_few_attempts_that_are_equal_as_a_whole_may_be_copies() {
        let store = Store::in_memory().unwrap();
        let few = [(1, false), (2, false)];
        put(&store, "a", "r", &few);
        put(&store, "b", "other", &few);
        put(&store, "c", "r", &[(1, false), (1, false)]);
        put(&store, "d", "r", &[(1, false), (2, true)]);
        put(&store, "e", "many", &[(5, false), (5, false)]);
        put(&store, "f", "many", &[(5, false), (5, false)]);
        put(&store, "g", "nothing", &[(0, false)]);
        put(&store, "h", "nothing", &[(0, false)]);
        assert!(groups(&store).is_empty(), "{:?}", groups(&store));
        put(&store, "i", "r", &few);
        assert_eq!(groups(&store), [["a.r", "i.r"]]);
        let run = |slug: &str| store.run(slug).unwrap().unwrap().entry.id;
        assert_eq!(store.undecided_copies(Some(run("a.r"))).unwrap(), store.undecided_copies(None).unwrap());
        assert!(store.undecided_copies(Some(run("e.many"))).unwrap().is_empty());
        // Who decides it says so.
        let copy = ["i.r".to_owned()];
        store.withdraw(&copy, Some("a copy")).unwrap();
        assert!(groups(&store).is_empty());
        store.withdraw(&copy, None).unwrap();
        assert_eq!(groups(&store).len(), 1);
        // A run that has no episode left that counts is no second one.
        let episodes: Vec<String> =
            store.all_episodes(run("i.r")).unwrap().into_iter().map(|episode| episode.slug).collect();
        store.withdraw_episodes(&copy[0], &episodes, Some("copies")).unwrap();
        assert!(groups(&store).is_empty());
    }
}
