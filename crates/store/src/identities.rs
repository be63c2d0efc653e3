//! Identities of incomplete copies, which only another source can tell: a result without the files that name its run, a trial
//! that was copied before it had a result, a later grading of a trial (Harbor), which names it by the id of its result, and an
//! episode that was not measured closely, of a run that is a copy of another one.
//!
//! A reader sees one source. It gives the identity from this source (`own_identity`), and beside it ([`OTHER_IDENTITY`]) the
//! identity that an incomplete copy or a later grading has. This module combines both over all sources after parts are written.
//! It computes `identity` from scratch each time, because the other source may have changed or been closed.

mod same_runs;
mod undecided;
mod unmeasured;

use std::collections::{BTreeSet, HashMap};

use rusqlite::Connection;

use self::same_runs::SameRuns;
use crate::{EpisodeId, Result, RunId, Store, rows};

/// A field of an episode: the identity of its incomplete copies. Only readers of Stamina Lab write it, and only
/// [`Store::settle_identities`] reads it.
pub const OTHER_IDENTITY: &str = "other_identity";

/// A field of an episode of Harbor: the trial whose recorded work it grades again.
pub const SOURCE_TRIAL: &str = "source_trial";

/// How the identity of a trial by the id of its result begins, which all its later gradings have.
pub const REGRADED: &str = "re-";

/// SQL: whether the reader of a `run` writes [`OTHER_IDENTITY`]. In other formats, it is a field of the source. Every trial of
/// Harbor has it, so it is looked for only if there is a later grading.
const WITH_OTHER_IDENTITY: &str = "(run.format IN ('terminal-bench', 'staminabench')
  OR run.format = 'harbor' AND EXISTS (SELECT 1 FROM episode WHERE own_identity >= 're-' AND own_identity < 're.'))";

/// The most gradings of gradings that are followed. Results that name each other in a circle have no first one.
const MOST_GRADINGS: usize = 20;

/// SQL: whether the result of an `episode` exists but cannot be read.
pub(crate) const IS_UNREADABLE: &str = "coalesce(episode.extra ->> '$.\"result.json\"', episode.extra ->> '$.\"results.json\"', '') = 'unreadable'";

/// Episodes whose identity differs from that of their reader, by number: the run and the identity.
type NewIdentities = HashMap<EpisodeId, (RunId, String)>;

impl Store {
    /// Sets the identity of every episode: that of the complete copy for incomplete copies, else that of the reader. Call it
    /// after parts are written.
    pub fn settle_identities(&self) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            let mut settled = identities_from_others(conn)?;
            let resumed = resumed_run_identities(conn, &settled)?;
            settled.extend(resumed);
            for (episode, known) in unmeasured::copied_run_identities(conn)? {
                settled.entry(episode).or_insert(known);
            }
            let mut changed = BTreeSet::new();
            // The complete copy was deleted or has changed.
            for (episode, run) in settled_identities(conn)? {
                if !settled.contains_key(&episode) {
                    conn.prepare_cached("UPDATE episode SET identity = own_identity WHERE id = ?1")?
                        .execute([episode])?;
                    changed.insert(run);
                }
            }
            for (episode, (run, identity)) in settled {
                let rows = conn
                    .prepare_cached("UPDATE episode SET identity = ?2 WHERE id = ?1 AND identity IS NOT ?2")?
                    .execute((episode, identity))?;
                if rows > 0 {
                    changed.insert(run);
                }
            }
            changed.into_iter().try_for_each(|run| rows::touch(conn, run))
        })
    }
}

/// The episodes whose identity differs from that of their reader, with their runs.
fn settled_identities(conn: &Connection) -> Result<Vec<(EpisodeId, RunId)>> {
    let mut find = conn
        .prepare_cached("SELECT episode.id, episode.run FROM episode WHERE identity IS NOT own_identity")?;
    Ok(find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
}

/// Episodes that are incomplete copies or later gradings of another one, by its [`OTHER_IDENTITY`].
fn identities_from_others(conn: &Connection) -> Result<NewIdentities> {
    let mut find = conn.prepare_cached(&format!(
        "SELECT part.id, part.run, part.own_identity, min(known.own_identity)
         FROM run JOIN episode AS known ON known.run = run.id
           JOIN episode AS part ON part.own_identity = known.extra ->> '$.{OTHER_IDENTITY}'
         WHERE {WITH_OTHER_IDENTITY} AND known.own_identity IS NOT NULL
           AND known.own_identity <> part.own_identity
         GROUP BY part.id"
    ))?;
    let found: Vec<(EpisodeId, RunId, String, String)> = find
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<rusqlite::Result<_>>()?;
    // A grading may be graded again: the trial that was played has the identity of all.
    let known_as: HashMap<&str, &str> =
        found.iter().map(|(.., own, known)| (own.as_str(), known.as_str())).collect();
    let first = |known: &str| {
        let mut first = known;
        for _ in 0..MOST_GRADINGS {
            let Some(before) = known_as.get(first) else { break };
            first = before;
        }
        first.to_owned()
    };
    Ok(found.iter().map(|(episode, run, _, known)| (*episode, (*run, first(known)))).collect())
}

/// The fields of a trial of `tb` that identify it.
struct Trial {
    episode: EpisodeId,
    run: RunId,
    /// Its task and its name in its run.
    name: (String, String),
    identity: Option<String>,
    has_result: bool,
}

/// Trials of `tb` without a result, which a copy of their run has. A resume gives the run another id and keeps its results,
/// so runs with a common result are the same run. `settled` has the episodes that are decided already.
fn resumed_run_identities(conn: &Connection, settled: &NewIdentities) -> Result<NewIdentities> {
    let mut find = conn.prepare_cached(&format!(
        "SELECT episode.id, episode.run, episode.scenario, episode.key, episode.own_identity,
           NOT (episode.end_reason = 'unfinished' OR {IS_UNREADABLE})
         FROM run JOIN episode ON episode.run = run.id WHERE run.format = 'terminal-bench' ORDER BY episode.id"
    ))?;
    let trials: Vec<Trial> = find
        .query_map([], |row| {
            let name = (row.get(2)?, row.get(3)?);
            let (episode, run): (EpisodeId, RunId) = (row.get(0)?, row.get(1)?);
            let known_by = settled.get(&episode).map(|(_, identity)| identity.clone());
            let identity = known_by.map_or_else(|| row.get(4), |identity| Ok(Some(identity)))?;
            Ok(Trial { episode, run, name, identity, has_result: row.get(5)? })
        })?
        .collect::<rusqlite::Result<_>>()?;
    if trials.iter().all(|trial| trial.has_result) {
        return Ok(NewIdentities::new());
    }
    let mut same = SameRuns::default();
    let mut first: HashMap<&str, RunId> = HashMap::new();
    for trial in trials.iter().filter(|trial| trial.has_result) {
        let Some(identity) = trial.identity.as_deref() else { continue };
        same.join(*first.entry(identity).or_insert(trial.run), trial.run);
    }
    // By run and name, the least one, so that the order in which sources were opened does not matter.
    let mut results: HashMap<(RunId, &(String, String)), &str> = HashMap::new();
    for trial in trials.iter().filter(|trial| trial.has_result) {
        let Some(identity) = trial.identity.as_deref() else { continue };
        let result = results.entry((same.root(trial.run), &trial.name)).or_insert(identity);
        *result = identity.min(*result);
    }
    let without = trials.iter().filter(|trial| !trial.has_result);
    let settled = without.filter_map(|trial| {
        let identity = *results.get(&(same.root(trial.run), &trial.name))?;
        let is_other = trial.identity.as_deref() != Some(identity);
        is_other.then(|| (trial.episode, (trial.run, identity.to_owned())))
    });
    Ok(settled.collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::{Attempt, Benchmark, Episode, Run, Turn, Verdict};

    use super::*;
    use crate::{ParsedPart, SourceId};

    /// A source with a run of this name and harness and these episodes: their scenarios, each with the identity that its reader
    /// gives it. Each has five attempts, of which the last passes in scenario y.
    fn put_run(
        store: &Store,
        source: &str,
        [name, harness]: [&str; 2],
        episodes: &[(&str, Option<&str>)],
    ) -> SourceId {
        let source = store.put_source(&format!("/data/{source}"), source, false).unwrap();
        let mut run = Run::unknown(name, Benchmark { key: "b".into(), name: "B".into() });
        run.harness = Some(harness.to_owned());
        store.put_runs(source, "", "table", &[run]).unwrap();
        let episodes: Vec<(String, Episode)> = (1..)
            .zip(episodes)
            .map(|(number, (scenario, identity)): (u32, _)| {
                let mut episode = Episode::new(format!("{number}"), *scenario);
                episode.identity = identity.map(str::to_owned);
                let mut turn = Turn::new(1);
                let verdict =
                    |number| if number == 5 && *scenario == "y" { Verdict::Passed } else { Verdict::Failed };
                turn.attempts = (1..=5).map(|number| Attempt::new(number, verdict(number))).collect();
                episode.turns.push(turn);
                (name.to_owned(), episode)
            })
            .collect();
        let part =
            ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
        store.settle_identities().unwrap();
        source
    }

    #[test]
    fn what_was_not_measured_is_the_same_in_runs_that_are_copies() {
        let store = Store::in_memory().unwrap();
        let three = [("x", Some("of-x")), ("y", None), ("y", None)];
        put_run(&store, "a", ["a", "h"], &three);
        assert_eq!(copies(&store), 0);
        let copied = put_run(&store, "b", ["b", "h"], &three);
        assert_eq!(copies(&store), 3, "and the two of one run are two");
        // Another harness has no such run, and one that has no trial in common is none.
        put_run(&store, "c", ["a", "other"], &three);
        put_run(&store, "d", ["d", "h"], &[("y", None), ("z", Some("of-z"))]);
        assert_eq!(copies(&store), 4, "the trial that is measured");
        store.remove_source(copied).unwrap();
        store.purge_removed(Duration::ZERO).unwrap();
        store.settle_identities().unwrap();
        assert!(known_by(&store).iter().all(|(_, identity)| identity == "of-x" || identity == "of-z"));
    }

    #[test]
    fn runs_without_measurements_are_copies_if_they_are_equal_as_a_whole() {
        let store = Store::in_memory().unwrap();
        let two = [("x", None), ("y", None)];
        put_run(&store, "a", ["r", "h"], &two);
        put_run(&store, "b", ["other", "h"], &two);
        put_run(&store, "c", ["r", "other"], &two);
        put_run(&store, "d", ["r", "h"], &[("x", None), ("z", None)]);
        assert_eq!(copies(&store), 0, "another name, another harness, another scenario");
        let copied = put_run(&store, "e", ["r", "h"], &two);
        assert_eq!(copies(&store), 2);
        store.remove_source(copied).unwrap();
        store.purge_removed(Duration::ZERO).unwrap();
        store.settle_identities().unwrap();
        assert!(known_by(&store).is_empty());
        // Agents that do nothing come out alike, and so do few attempts.
        for source in ["h", "i"] {
            put_run(&store, source, ["nothing", "h"], &[("x", None), ("z", None)]);
        }
        for source in ["f", "g"] {
            put_run(&store, source, ["small", "h"], &[("x", None)]);
        }
        assert_eq!(copies(&store), 0);
    }

    /// A source with one episode of Stamina Lab, with the identity and the other identity that its reader gives it.
    fn put(store: &Store, name: &str, identity: &str, other: Option<&str>) -> SourceId {
        let source = store.put_source(&format!("/data/{name}"), name, false).unwrap();
        let run = Run::unknown(name, Benchmark { key: "b".into(), name: "B".into() });
        store.put_runs(source, "", "staminabench", &[run]).unwrap();
        let mut episode = Episode::new("scenario_0", "scenario_0");
        episode.identity = Some(identity.to_owned());
        if let Some(other) = other {
            episode.extra.insert(OTHER_IDENTITY.to_owned(), other.into());
        }
        let episodes = [(name.to_owned(), episode)];
        let part =
            ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
        store.settle_identities().unwrap();
        source
    }

    /// The runs by name, each with the identity of its episode.
    fn known_by(store: &Store) -> Vec<(String, String)> {
        store
            .read(|conn| {
                let mut find = conn.prepare(
                    "SELECT run.key, episode.identity FROM episode JOIN run ON run.id = episode.run
                     WHERE episode.identity IS NOT NULL ORDER BY run.key",
                )?;
                let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            })
            .unwrap()
    }

    fn copies(store: &Store) -> usize {
        let runs: Vec<RunId> = store
            .read(|conn| {
                let mut find = conn.prepare("SELECT id FROM run")?;
                let rows = find.query_map([], |row| row.get(0))?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            })
            .unwrap();
        store.copies_among(&runs).unwrap().len()
    }

    #[test]
    fn an_identity_from_a_closed_run_is_removed() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let store = Store::in_memory().unwrap();
        let whole = put(&store, "a", "of-run", Some("begins"));
        put(&store, "b", "begins", None);
        assert_eq!(known_by(&store), [pair("a", "of-run"), pair("b", "of-run")]);
        assert_eq!(copies(&store), 1);
        store.remove_source(whole).unwrap();
        store.purge_removed(Duration::ZERO).unwrap();
        // Another incomplete copy is still recognized.
        put(&store, "c", "begins", None);
        assert_eq!(known_by(&store), [pair("b", "begins"), pair("c", "begins")]);
        assert_eq!(copies(&store), 1);
        // The run is opened again with another identity.
        put(&store, "d", "of-run-2", Some("begins"));
        assert_eq!(known_by(&store), [pair("b", "of-run-2"), pair("c", "of-run-2"), pair("d", "of-run-2")]);
        assert_eq!(copies(&store), 2);
        let before = store.last_change().unwrap();
        store.settle_identities().unwrap();
        assert_eq!(store.last_change().unwrap(), before, "nothing is touched that stays as it is");
    }
}
