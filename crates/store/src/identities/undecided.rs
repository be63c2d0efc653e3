//! Runs that may be copies of each other where nothing that was measured decides it: they have their name, harness, model and
//! benchmark in common, all that is known of their episodes is equal, and the rules of [`super::unmeasured`] do not take them for
//! copies, because there are too few attempts or all episodes came out alike. Each of them counts. Whoever shows their numbers
//! says it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::unmeasured::{MANY_ATTEMPTS, OUTCOME, unmeasured_episodes};
use crate::withdrawn_filter::VALID;
use crate::{Result, RunId, Store};

/// SQL: the runs without any identity that have fewer than `?1` attempts, or whose episodes all came out alike, and of which there is
/// another one of that name; only those that are called as the run `?2`, where that is given. Each episode is read once. Withdrawn
/// runs, those whose every episode is withdrawn, and those of closed sources are left out.
static CANDIDATES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT id, slug, names FROM (
    SELECT run.id AS id, run_slug.slug AS slug, json_array(run.format, run.key, run.benchmark, run.harness, run.model) AS names,
      count(*) OVER (PARTITION BY run.format, run.key, run.benchmark, run.harness, run.model) AS namesakes
    FROM run JOIN run_totals ON run_totals.run = run.id AND run_totals.episodes > 0
      JOIN run_slug ON run_slug.id = run.slug JOIN source ON source.id = run.source AND source.closed_at IS NULL
    WHERE (?2 IS NULL OR run.key = (SELECT key FROM run AS asked WHERE asked.id = ?2)) AND {VALID}) AS named
WHERE namesakes > 1
  AND NOT EXISTS (SELECT 1 FROM episode WHERE run = named.id AND own_identity IS NOT NULL)
  AND (SELECT sum(attempts) > 0 AND (sum(attempts) < ?1 OR min(outcome) = max(outcome))
    FROM (SELECT attempts, {OUTCOME} AS outcome FROM episode WHERE run = named.id))
ORDER BY slug"
    )
});

/// What two runs have in common that may be copies: their names, and all that is known of their episodes.
type RunContents = (String, Vec<String>);

/// The number and the slug of each run of some groups.
type RunGroups = Vec<Vec<(RunId, String)>>;

impl Store {
    /// Groups of runs that may be copies of each other, which nothing decides: the number and the slug of each. The groups
    /// are in the order of their first slugs. They are looked for once per change of the library.
    pub fn undecided_copies(&self) -> Result<Arc<RunGroups>> {
        self.answer(&self.latest_undecided_copies, || self.find_undecided_copies(None))
    }

    /// Those of the name of one run.
    pub fn undecided_copies_of(&self, run: RunId) -> Result<RunGroups> {
        self.find_undecided_copies(Some(run))
    }

    fn find_undecided_copies(&self, run: Option<RunId>) -> Result<RunGroups> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&CANDIDATES)?;
            let rows =
                find.query_map((MANY_ATTEMPTS, run), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let candidates: Vec<(RunId, String, String)> = rows.collect::<rusqlite::Result<_>>()?;
            let mut groups: RunGroups = Vec::new();
            let mut group_by_contents: HashMap<RunContents, usize> = HashMap::new();
            for (run, slug, names) in candidates {
                let mut facts: Vec<String> =
                    unmeasured_episodes(conn, run)?.into_iter().map(|episode| episode.facts).collect();
                facts.sort_unstable();
                let group = *group_by_contents.entry((names, facts)).or_insert(groups.len());
                match groups.get_mut(group) {
                    Some(runs) => runs.push((run, slug)),
                    None => groups.push(vec![(run, slug)]),
                }
            }
            groups.retain(|runs| runs.len() > 1);
            Ok(groups)
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{Attempt, Benchmark, EndReason, Episode, Run, Turn, Verdict};
    use rusqlite::StatementStatus;

    use super::*;
    use crate::ParsedPart;

    /// A turn in which all of these attempts came to the same.
    fn turn(number: u32, attempts: u32, verdict: Verdict) -> Turn {
        let mut turn = Turn::new(number);
        turn.attempts = (1..=attempts).map(|attempt| Attempt::new(attempt, verdict)).collect();
        turn
    }

    /// A source with one run of this name: of each episode its attempts, all of them failed, and whether it has an identity.
    fn put(store: &Store, source: &str, name: &str, episodes: &[(u32, bool)]) {
        let episodes = (1..).zip(episodes).map(|(number, (attempts, is_measured)): (u32, _)| {
            let mut episode = Episode::new(format!("{number}"), format!("s{number}"));
            episode.identity = is_measured.then(|| format!("of-{source}-{number}"));
            episode.turns.push(turn(1, *attempts, Verdict::Failed));
            episode
        });
        put_episodes(store, source, name, episodes);
    }

    /// A source with one run of this name.
    fn put_episodes(store: &Store, source: &str, name: &str, episodes: impl Iterator<Item = Episode>) {
        let id = store.put_source(&format!("/data/{source}"), source, false).unwrap();
        let run = Run::unknown(name, Benchmark { key: "b".into(), name: "B".into() });
        store.put_runs(id, "", "table", &[run]).unwrap();
        let episodes: Vec<(String, Episode)> = episodes.map(|episode| (name.to_owned(), episode)).collect();
        let part =
            ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(id, &part).unwrap();
        store.settle_identities().unwrap();
    }

    /// The groups by the slugs of their runs.
    fn groups(store: &Store) -> Vec<Vec<String>> {
        let groups = store.undecided_copies().unwrap();
        groups.iter().map(|runs| runs.iter().map(|(_, slug)| slug.clone()).collect()).collect()
    }

    #[test]
    fn runs_of_few_attempts_that_are_equal_as_a_whole_may_be_copies() {
        let store = Store::in_memory().unwrap();
        let few = [(1, false), (2, false)];
        put(&store, "a", "r", &few);
        put(&store, "b", "other", &few);
        put(&store, "c", "r", &[(1, false), (1, false)]);
        put(&store, "d", "r", &[(1, false), (2, true)]);
        put(&store, "e", "many", &[(5, false), (6, false)]);
        put(&store, "f", "many", &[(5, false), (6, false)]);
        put(&store, "g", "nothing", &[(0, false)]);
        put(&store, "h", "nothing", &[(0, false)]);
        assert!(groups(&store).is_empty(), "{:?}", groups(&store));
        put(&store, "i", "r", &few);
        assert_eq!(groups(&store), [["a.r", "i.r"]]);
        let run = |slug: &str| store.run(slug).unwrap().unwrap().entry.id;
        let all = store.undecided_copies().unwrap();
        assert!(Arc::ptr_eq(&all, &store.undecided_copies().unwrap()), "nothing changed");
        assert_eq!(store.undecided_copies_of(run("a.r")).unwrap(), *all);
        assert!(store.undecided_copies_of(run("e.many")).unwrap().is_empty());
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

    #[test]
    fn runs_of_many_attempts_whose_episodes_all_came_out_alike_may_be_copies() {
        let store = Store::in_memory().unwrap();
        let equal_episodes = [(5, false); 3];
        put(&store, "a", "alike", &equal_episodes);
        put(&store, "b", "alike", &[(5, false), (5, false), (5, true)]);
        put(&store, "c", "alike", &[(5, false), (5, false)]);
        assert!(groups(&store).is_empty(), "{:?}", groups(&store));
        put(&store, "d", "alike", &equal_episodes);
        // Few attempts in many episodes.
        let waiting: Vec<(u32, bool)> = (0..20).map(|number| (u32::from(number < 3), false)).collect();
        put(&store, "e", "waiting", &waiting);
        put(&store, "f", "waiting", &waiting);
        assert_eq!(groups(&store), [["a.alike", "d.alike"], ["e.waiting", "f.waiting"]]);
        let run = store.run("d.alike").unwrap().unwrap().entry.id;
        assert_eq!(store.undecided_copies_of(run).unwrap().len(), 1);
    }

    /// An agent that passes everything or nothing does so a second time, however long the scenarios are.
    #[test]
    fn runs_in_which_all_passed_or_failed_may_be_copies_whatever_the_lengths_of_their_scenarios() {
        let store = Store::in_memory().unwrap();
        // Of each turn its attempts. The third passes one turn and fails the next, in scenarios with one turn more each.
        let put_lengths = |name: &str, verdicts: [Verdict; 2], attempts: fn(u32) -> u32| {
            for source in ["one", "other"] {
                let episodes = (3..7).map(|turns| {
                    let mut episode = Episode::new(format!("{turns}"), format!("s{turns}"));
                    episode.planned_turns = Some(turns);
                    let played = if verdicts[0] == verdicts[1] { turns } else { 2 };
                    let verdict = |number| verdicts[usize::from(number > 1)];
                    episode.turns =
                        (1..=played).map(|number| turn(number, attempts(turns), verdict(number))).collect();
                    episode
                });
                put_episodes(&store, &format!("{name}-{source}"), name, episodes);
            }
        };
        put_lengths("failed", [Verdict::Failed; 2], |_| 2);
        put_lengths("mixed", [Verdict::Passed, Verdict::Failed], |_| 2);
        put_lengths("passed", [Verdict::Passed; 2], |_| 1);
        // How many attempts a turn took is no length.
        put_lengths("retried", [Verdict::Failed; 2], |turns| turns);
        let pair = |name: &str| ["one", "other"].map(|source| format!("{name}-{source}.{name}"));
        assert_eq!(groups(&store), [pair("failed"), pair("mixed"), pair("passed")]);
        let run = |slug: &String| store.run(slug).unwrap().unwrap().entry.id;
        let copies = |name: &str| store.copies_among(&pair(name).each_ref().map(run)).unwrap().len();
        assert_eq!(["failed", "mixed", "passed", "retried"].map(copies), [0, 0, 0, 4]);
    }

    /// How far an agent came before it was stopped is its own.
    #[test]
    fn runs_that_were_stopped_after_different_numbers_of_passed_turns_are_copies() {
        let store = Store::in_memory().unwrap();
        for source in ["a", "b"] {
            let episodes = (2..6).map(|passed| {
                let mut episode = Episode::new(format!("{passed}"), format!("s{passed}"));
                episode.planned_turns = Some(8);
                episode.end_reason = Some(EndReason::Budget);
                episode.turns = (1..=passed).map(|number| turn(number, 1, Verdict::Passed)).collect();
                episode
            });
            put_episodes(&store, source, "stopped", episodes);
        }
        assert!(groups(&store).is_empty(), "{:?}", groups(&store));
        let runs = ["a.stopped", "b.stopped"].map(|slug| store.run(slug).unwrap().unwrap().entry.id);
        assert_eq!(store.copies_among(&runs).unwrap().len(), 4);
    }

    /// The steps of finding the candidates among these runs, each of which is in two sources, and their number.
    fn work(runs: usize, episodes: usize) -> (i32, usize) {
        let store = Store::in_memory().unwrap();
        for run in 0..runs {
            for source in ["a", "b"] {
                put(&store, &format!("{source}{run}"), &format!("r{run}"), &vec![(1, false); episodes]);
            }
        }
        store
            .read(|conn| {
                let mut find = conn.prepare(&CANDIDATES)?;
                let found = find.query_map((MANY_ATTEMPTS, None::<RunId>), |_| Ok(()))?.count();
                Ok((find.get_status(StatementStatus::VmStep), found))
            })
            .unwrap()
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn finding_runs_that_may_be_copies_takes_time_that_is_linear_in_their_episodes() {
        // Runs of many episodes, and many runs.
        for (few, many) in [((1, 50), (1, 400)), ((5, 10), (40, 10))] {
            let [(few_steps, _), (steps, found)] = [few, many].map(|(runs, episodes)| work(runs, episodes));
            assert_eq!(found, 2 * many.0);
            assert!(steps < 12 * few_steps, "{few_steps} steps, then {steps} for 8 times as many");
        }
    }
}
