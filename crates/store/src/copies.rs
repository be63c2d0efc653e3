//! Copies of an episode: the same trial in two sources, or twice in one, is one observation. It counts once wherever runs
//! are pooled. Only this module decides which copy counts; `copy_quality` has the terms of rules 3 to 7. The rules, in their order:
//!
//! 1. the copy in the run that a user preferred last;
//! 2. a copy with a known harness;
//! 3. a copy that no resume can continue;
//! 4. the copy with more attempts;
//! 5. a copy with a readable result;
//! 6. a copy that says when it ended: a result is written after the verdict;
//! 7. the last grading of a trial that was graded again (Harbor), if it came to a verdict;
//! 8. the copy in the run with more episodes, so that the trials of a job count in one place;
//! 9. the copy in the source that was opened first.
//!
//! A run that is a copy as a whole is left out of its source: [`crate::copied_runs`].

use std::collections::BTreeSet;
use std::sync::LazyLock;

use model::Warning;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::copy_quality::{EARLIER_GRADING, QUALITY_TERMS};
use crate::migration::Migration;
use crate::withdrawn_filter::{VALID, VALID_EPISODE, reason_of};
use crate::{EpisodeId, Result, RunId, SourceId, Store, changes, copied_runs, episodes, import_report, rows};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 10,
    sql: "
-- the greatest number is that of the run that was preferred last among runs with copies of the same episodes; 0 = never
ALTER TABLE run_slug ADD COLUMN preferred INTEGER NOT NULL DEFAULT 0;
",
}];

/// An episode that does not count, because a copy of it counts or is withdrawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeCopy {
    /// Its run.
    pub run: RunId,
    /// The episode.
    pub episode: EpisodeId,
    /// The run of the copy that counts, or is withdrawn.
    pub counted_run: RunId,
    /// The copy that counts, or is withdrawn.
    pub counted: EpisodeId,
    /// Its name in [`Store::withdrawn_trials`], if a copy of it is withdrawn: then none of them counts.
    pub withdrawn: Option<String>,
}

/// Trials that a run has in common with another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(rename = "RunCopies")]
pub struct SharedEpisodes {
    /// Id of the other run.
    pub run: String,
    /// Name of its source.
    pub source: String,
    /// Episodes that both have.
    pub episodes: u32,
    /// How many of them count in the other run; the others do in this one.
    pub counted_there: u32,
    /// Why a user has withdrawn the other run; `None` = it is not.
    #[serde(skip)]
    pub withdrawn: Option<String>,
}

/// SQL: which copy of an `episode` counts, with its `run`, `run_slug` and the `size` of its run: all rules in their order. Each
/// is an integer, and the lesser, the better. The copies of no two runs are equal in all of them.
static RANK: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let of_run = ["-run_slug.preferred", "run.harness IS NULL"];
    let quality_terms = QUALITY_TERMS.iter().map(String::as_str);
    let others = [EARLIER_GRADING, "-size.episodes", "run.source", "run.id"];
    of_run.into_iter().chain(quality_terms).chain(others).collect()
});

/// SQL: a table of the number of episodes of each run.
const SIZES: &str = "(SELECT run, count(*) AS episodes FROM episode GROUP BY run)";

/// SQL: the same of the run `?1` and of those that have episodes of it, not of the whole library.
const SIZES_OF_COPIES: &str = "(SELECT run, count(*) AS episodes FROM episode WHERE run IN
    (SELECT its.run FROM episode AS own JOIN episode AS its ON its.identity = own.identity WHERE own.run = ?1) GROUP BY run)";

/// Every group of copies, with the copy that counts first. If one copy is withdrawn, none counts.
static RANKED_COPIES: LazyLock<String> = LazyLock::new(|| {
    let rank = RANK.join(", ");
    format!(
        "SELECT episode.identity, episode.run, episode.id, NOT ({VALID_EPISODE}) AS is_withdrawn FROM episode
    JOIN run ON run.id = episode.run JOIN run_slug ON run_slug.id = run.slug
    JOIN source ON source.id = run.source AND source.closed_at IS NULL JOIN {SIZES} AS size ON size.run = run.id
  WHERE episode.identity IN
    (SELECT identity FROM episode WHERE identity IS NOT NULL GROUP BY identity HAVING count(*) > 1)
  ORDER BY episode.identity, is_withdrawn DESC, {rank}, episode.key, episode.id"
    )
});

/// The episodes that a run (`?1`) shares with others, as pairs in the order of [`RANKED_COPIES`]. A withdrawn run counts after all
/// others.
static SHARED_EPISODES: LazyLock<String> = LazyLock::new(|| {
    let terms: Vec<String> = RANK.iter().enumerate().map(|(i, term)| format!("{term} AS rank_{i}")).collect();
    let terms = terms.join(", ");
    let order = |copy: &str| {
        let ranks: Vec<String> = (0..RANK.len()).map(|i| format!("{copy}.rank_{i}")).collect();
        format!("({copy}.is_withdrawn, {})", ranks.join(", "))
    };
    let (other_order, own_order) = (order("its"), order("mine"));
    format!(
        "WITH copy AS (
    SELECT episode.identity, episode.run, NOT ({VALID}) AS is_withdrawn, {terms}
    FROM episode JOIN run ON run.id = episode.run JOIN run_slug ON run_slug.id = run.slug
      JOIN {SIZES_OF_COPIES} AS size ON size.run = run.id
    WHERE episode.identity IN (SELECT own.identity FROM episode AS own WHERE own.run = ?1 AND own.identity IS NOT NULL)
      AND {VALID_EPISODE})
  SELECT other_slug.slug, source.name, count(DISTINCT mine.identity),
    count(DISTINCT iif({other_order} < {own_order}, mine.identity, NULL)),
    {}
  FROM copy AS mine JOIN copy AS its ON its.identity = mine.identity AND its.run <> mine.run
    JOIN run AS other ON other.id = its.run JOIN run_slug AS other_slug ON other_slug.id = other.slug
    JOIN source ON source.id = other.source AND source.closed_at IS NULL
  WHERE mine.run = ?1 GROUP BY other.id ORDER BY 3 DESC, 1",
        reason_of!("other")
    )
});

/// The episodes of a source that another of its parts gives to the same run, each with that part: the first by its place,
/// preferably one that is withdrawn (whoever copies its folder does not take the mark away), then the one that lacks least. The
/// query reads each episode once, for any number of copies.
static COPIES_OF_SOURCE: LazyLock<String> = LazyLock::new(|| {
    let quality_terms = QUALITY_TERMS.join(", ");
    format!(
        "SELECT id, run, part, path, first, depends_on_others FROM (
    SELECT episode.id AS id, episode.run AS run, part.id AS part, trim(part.place || '/' || part.key, '/') AS path,
      max(episode.identity IS NOT episode.own_identity) OVER same AS depends_on_others,
      rank() OVER same AS number, first_value(trim(part.place || '/' || part.key, '/')) OVER same AS first
    FROM run JOIN episode ON episode.run = run.id JOIN part ON part.id = episode.part
    WHERE run.source = ?1 AND episode.identity IN
      (SELECT identity FROM episode WHERE identity IS NOT NULL GROUP BY identity HAVING count(*) > 1)
    WINDOW same AS (PARTITION BY episode.run, episode.identity
      ORDER BY {VALID_EPISODE}, {quality_terms}, part.place, part.key))
  WHERE number > 1"
    )
});

/// The copies among the episodes of `wanted` runs, in the order of [`RANKED_COPIES`].
fn copies_among(conn: &Connection, wanted: impl Fn(RunId) -> bool) -> Result<Vec<EpisodeCopy>> {
    let mut find = conn.prepare_cached(&RANKED_COPIES)?;
    let mut rows = find.query([])?;
    let mut counted: Option<(String, RunId, EpisodeId, bool)> = None;
    let mut copies = Vec::new();
    while let Some(row) = rows.next()? {
        let (identity, run, episode): (String, RunId, EpisodeId) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let is_withdrawn: bool = row.get(3)?;
        if is_withdrawn {
            // A withdrawn episode never counts, and precedes its copies for any set of runs.
            counted = Some((identity, run, episode, true));
            continue;
        }
        if !wanted(run) {
            continue;
        }
        match &counted {
            Some((counted_identity, counted_run, counted, is_withdrawn)) if *counted_identity == identity => {
                let withdrawn = is_withdrawn.then_some(identity);
                copies.push(EpisodeCopy {
                    run,
                    episode,
                    counted_run: *counted_run,
                    counted: *counted,
                    withdrawn,
                });
            }
            _ => counted = Some((identity, run, episode, false)),
        }
    }
    Ok(copies)
}

impl Store {
    /// The episodes of these runs that do not count when the runs are pooled, because a copy in one of them counts, or a copy in
    /// any run is withdrawn.
    pub fn copies_among(&self, runs: &[RunId]) -> Result<Vec<EpisodeCopy>> {
        let wanted: std::collections::HashSet<RunId> = runs.iter().copied().collect();
        self.read(|conn| copies_among(conn, |run| wanted.contains(&run)))
    }

    /// Leaves out the copies of a source inside one run, with a warning, for example if the folder of a task was copied with
    /// its jobs, and the runs of which all trials are in another run of the source. [`Store::left_out`] says what they are. Call
    /// it after the last part is written.
    pub fn leave_out_copies(&self, source: SourceId) -> Result<()> {
        self.write(|write| {
            let conn = &write.tx;
            let found: Vec<(EpisodeId, RunId, i64, String, String, bool)> = {
                let mut find = conn.prepare_cached(&COPIES_OF_SOURCE)?;
                let read = |row: &rusqlite::Row<'_>| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
                };
                find.query_map([source], read)?.collect::<rusqlite::Result<_>>()?
            };
            let mut runs_of_copies = BTreeSet::new();
            for (episode, run, part, path, first, depends_on_others) in found {
                episodes::delete(conn, episode)?;
                // What another source says is asked for each time: it may be closed.
                let stamp = if depends_on_others { "stamp = NULL" } else { "left_out = 1" };
                conn.prepare_cached(&format!("UPDATE part SET {stamp} WHERE id = ?1"))?.execute([part])?;
                let message =
                    format!("It has the same trial as {first}, where it counts. This one is left out.");
                import_report::add_to_part(
                    conn,
                    source,
                    part,
                    run,
                    &Warning::skipped(path, "part.duplicate", message),
                )?;
                runs_of_copies.insert(run);
            }
            runs_of_copies.into_iter().try_for_each(|run| rows::touch(conn, run))?;
            copied_runs::leave_out(conn, source)
        })
    }

    /// The other runs that share episodes with this one, the most first. Withdrawn episodes do not count.
    pub fn shared_episodes(&self, run: RunId) -> Result<Vec<SharedEpisodes>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&SHARED_EPISODES)?;
            let rows = find.query_map([run], |row| {
                Ok(SharedEpisodes {
                    run: row.get(0)?,
                    source: row.get(1)?,
                    episodes: row.get(2)?,
                    counted_there: row.get(3)?,
                    withdrawn: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Makes the episodes of this run count instead of their copies. Returns whether the run exists.
    pub fn prefer_run(&self, slug: &str) -> Result<bool> {
        self.write(|write| {
            let conn = &write.tx;
            let found: Option<(i64, i64, RunId)> = conn
                .prepare_cached(
                    "SELECT run.source, run_slug.id, run.id FROM run JOIN run_slug ON run_slug.id = run.slug
                     WHERE run_slug.slug = ?1",
                )?
                .query_row([slug], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()?;
            let Some((source, id, run)) = found else { return Ok(false) };
            conn.prepare_cached(
                "UPDATE run_slug SET preferred = (SELECT max(preferred) + 1 FROM run_slug) WHERE id = ?1",
            )?
            .execute([id])?;
            changes::log_run(conn, source, id)?;
            // The other runs show their shared episodes, so they change too.
            let mut find = conn.prepare_cached(
                "SELECT DISTINCT other.source, other.slug FROM episode AS mine
                   JOIN episode AS its ON its.identity = mine.identity AND its.run <> mine.run
                   JOIN run AS other ON other.id = its.run WHERE mine.run = ?1",
            )?;
            let others: Vec<(i64, i64)> = find
                .query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            for (source, slug) in others {
                changes::log_run(conn, source, slug)?;
            }
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{Attempt, Benchmark, EndReason, Ending, Episode, Run, Turn, Verdict};
    use rusqlite::StatementStatus;

    use super::*;
    use crate::ParsedPart;

    /// A source with one trial in `count` parts of one run.
    fn copies(count: usize) -> (Store, SourceId) {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/a", "a", false).unwrap();
        let run = Run::unknown("a", Benchmark { key: "b".into(), name: "B".into() });
        store.put_runs(source, "", "harbor", &[run]).unwrap();
        for number in 0..count {
            let mut episode = Episode::new(format!("e{number:04}"), "task");
            episode.identity = Some("one and the same".to_owned());
            let (key, episodes) = (format!("p{number:04}"), [("a".to_owned(), episode)]);
            let part = ParsedPart {
                place: "",
                key: &key,
                stamp: 1,
                episodes: &episodes,
                warnings: &[],
                files_read: 1,
            };
            store.put_part(source, &part).unwrap();
        }
        (store, source)
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn finding_copies_takes_time_that_is_linear_in_their_number() {
        let work = |count: usize| {
            let (store, source) = copies(count);
            store
                .read(|conn| {
                    let mut find = conn.prepare(&COPIES_OF_SOURCE)?;
                    let found = find.query_map([source], |_| Ok(()))?.count();
                    assert_eq!(found, count - 1);
                    Ok(find.get_status(StatementStatus::VmStep))
                })
                .unwrap()
        };
        let (few, many) = (work(50), work(200));
        assert!(many < 6 * few, "{few} steps for 50 copies, {many} for 200");
    }

    #[test]
    fn the_first_copy_stays_and_the_warnings_of_others_name_it() {
        let (store, source) = copies(3);
        store.leave_out_copies(source).unwrap();
        let run = store.read(|conn| Ok(conn.query_row("SELECT id FROM run", [], |row| row.get(0))?)).unwrap();
        let remaining: Vec<String> =
            store.episodes(run).unwrap().into_iter().map(|episode| episode.key).collect();
        assert_eq!(remaining, ["e0000"]);
        let warnings = store.warnings(source, &crate::WarningFilter::default(), 0, 10).unwrap().warnings;
        let paths: Vec<&str> = warnings.iter().map(|warning| warning.path.as_str()).collect();
        assert_eq!(paths, ["p0001", "p0002"]);
        assert!(warnings.iter().all(|warning| warning.message.contains("as p0000,")), "{warnings:?}");
    }

    #[test]
    fn a_withdrawn_trial_stays_with_its_mark_whatever_its_copies_are_called() {
        let (store, source) = copies(3);
        let run = store.list_runs(&crate::RunFilter::default()).unwrap().rows.remove(0).1;
        let marked = store.all_episodes(run.id).unwrap().into_iter().find(|e| e.key == "e0002").unwrap();
        store.withdraw_episodes(&run.slug, &[marked.slug], Some("wrong image")).unwrap();
        store.leave_out_copies(source).unwrap();
        let remaining: Vec<(String, Option<String>)> =
            store.all_episodes(run.id).unwrap().into_iter().map(|e| (e.key, e.invalid)).collect();
        assert_eq!(remaining, [("e0002".to_owned(), Some("wrong image".to_owned()))]);
        assert!(store.episodes(run.id).unwrap().is_empty());
    }

    /// A source with one trial, which ended for this reason after `attempts` attempts at a turn.
    fn source_of(store: &Store, name: &str, reason: EndReason, attempts: u32) -> SourceId {
        let source = store.put_source(&format!("/data/{name}"), name, false).unwrap();
        let run = Run::unknown(name, Benchmark { key: "b".into(), name: "B".into() });
        store.put_runs(source, "", "harbor", &[run]).unwrap();
        let mut episode = Episode::new("e", "task");
        episode.identity = Some("one and the same".to_owned());
        let mut turn = Turn::new(1);
        turn.attempts = (1..=attempts).map(|number| Attempt::new(number, Verdict::Failed)).collect();
        if let Some(last) = turn.attempts.last_mut() {
            last.end_reason = Some(reason);
            if reason.default_ending() == Ending::Censored {
                last.verdict = Verdict::Unfinished;
            }
        }
        episode.turns.push(turn);
        let episodes = [(name.to_owned(), episode)];
        let part =
            ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
        source
    }

    #[test]
    fn a_copy_that_a_resume_continues_does_not_count() {
        use EndReason::{AgentTimeout, Budget, Cancelled, Endpoint, Environment, TestsFailed, Unfinished};
        // The copy that counts and the copy that does not, each with its attempts.
        for (counts, other) in [
            // A resume removed the attempt and repeated it.
            ((TestsFailed, 3), (Endpoint, 3)),
            // Repeated from the first step.
            ((TestsFailed, 1), (Environment, 3)),
            ((AgentTimeout, 1), (Budget, 3)),
            ((TestsFailed, 1), (Cancelled, 3)),
            ((TestsFailed, 1), (Unfinished, 3)),
            // Of two such copies the one with more attempts, else the one that has ended.
            ((Endpoint, 3), (Cancelled, 2)),
            ((Unfinished, 3), (Endpoint, 2)),
            ((Endpoint, 2), (Unfinished, 2)),
            ((TestsFailed, 3), (TestsFailed, 2)),
        ] {
            for order in [["counts", "other"], ["other", "counts"]] {
                let store = Store::in_memory().unwrap();
                for name in order {
                    let (reason, attempts) = if name == "counts" { counts } else { other };
                    source_of(&store, name, reason, attempts);
                }
                let runs: Vec<(RunId, String)> = store
                    .read(|conn| {
                        let query =
                            "SELECT run.id, source.name FROM run JOIN source ON source.id = run.source";
                        let mut find = conn.prepare(query)?;
                        let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                        Ok(rows.collect::<rusqlite::Result<_>>()?)
                    })
                    .unwrap();
                let ids: Vec<RunId> = runs.iter().map(|(run, _)| *run).collect();
                let copies = store.copies_among(&ids).unwrap();
                assert_eq!(copies.len(), 1);
                let counted = runs.iter().find(|(run, _)| *run == copies[0].counted_run);
                assert_eq!(
                    counted.map(|(_, name)| name.as_str()),
                    Some("counts"),
                    "{counts:?} {other:?} {order:?}"
                );
                // The shared episodes of a run show the same.
                let other_run = runs.iter().find(|(_, name)| name == "other").map(|(run, _)| *run).unwrap();
                assert_eq!(
                    store.shared_episodes(other_run).unwrap()[0].counted_there,
                    1,
                    "{counts:?} {other:?}"
                );
            }
        }
    }
}
