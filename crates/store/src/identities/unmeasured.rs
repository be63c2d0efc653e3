//! Episodes without an identity in runs that are copies of each other. Alone, one that was not measured closely may come out as any
//! other one: it has no identity. It is the same as one of another run if all that is known of it is equal and both runs are copies:
//!
//! - they have one harness, model and benchmark, and another trial in common; or
//! - they have these and their name in common, nothing of them was measured closely, there are [`MANY_ATTEMPTS`] attempts, not all
//!   episodes came out alike (scenarios of different lengths are no difference), and all that is known of all of them is equal.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use rusqlite::Connection;

use super::same_runs::SameRuns;
use crate::{EpisodeId, Result, RunId};

/// So many attempts of a run do not come out alike a second time.
pub(super) const MANY_ATTEMPTS: u32 = 10;

/// SQL: the trials that several episodes have, in runs that have an episode without an identity, and what such runs have in common.
/// Each run is asked once whether it has one: it may have very many trials.
const SHARED_IDENTITIES: &str = "
WITH shared AS MATERIALIZED (
  SELECT own_identity, run FROM episode
  WHERE own_identity IN (SELECT own_identity FROM episode WHERE own_identity IS NOT NULL
      GROUP BY own_identity HAVING count(*) > 1)),
incomplete AS MATERIALIZED (
  SELECT run FROM (SELECT DISTINCT run FROM shared) AS one
  WHERE EXISTS (SELECT 1 FROM episode WHERE episode.run = one.run AND own_identity IS NULL))
SELECT shared.own_identity, run.id, json_array(run.format, run.benchmark, run.harness, run.model)
FROM shared JOIN run ON run.id = shared.run WHERE shared.run IN (SELECT run FROM incomplete)
ORDER BY 1, 2";

/// SQL: the runs of `?1` attempts or more without any identity, of which there is another one of that name.
const NAMESAKES: &str = "
SELECT id, names FROM (
    SELECT id, json_array(format, key, benchmark, harness, model) AS names,
      count(*) OVER (PARTITION BY format, key, benchmark, harness, model) AS namesakes
    FROM run) AS named
WHERE namesakes > 1
  AND NOT EXISTS (SELECT 1 FROM episode WHERE episode.run = named.id AND own_identity IS NOT NULL)
  AND (SELECT sum(attempts) FROM episode WHERE episode.run = named.id) >= ?1
ORDER BY id";

/// SQL: what an `episode` came to, whatever the length of its scenario. Where every turn came to the same, an agent that passes
/// everything or nothing gives as many turns and attempts as there are; only the attempts of a turn are its own, and how many turns
/// it passed where it did not reach the others.
pub(super) const OUTCOME: &str =
    "CASE WHEN trim(replace(cells, 'n', ''), substr(replace(cells, 'n', ''), 1, 1)) = ''
  THEN json_array(end_reason, substr(replace(cells, 'n', ''), 1, 1), attempts * 1.0 / length(replace(cells, 'n', '')),
    CASE WHEN instr(cells, 'n') > 0 THEN nullif(passed_turns, 0) END)
  ELSE json_array(end_reason, rtrim(cells, 'n'), replace(failing, ',null', ''), attempts, passed_turns, ratio_sum) END";

/// SQL: the episodes of a run without an identity, all that is known of them, and what they came to.
static UNMEASURED_EPISODES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT id, json_array(scenario, end_reason, cells, failing, attempts, passed_turns, ratio_sum, planned_turns, input_tokens,
    cached_tokens, output_tokens, cost_usd, tool_calls, started_at, finished_at, agent_seconds, test_seconds, exception_message),
  {OUTCOME}
FROM episode WHERE run = ?1 AND own_identity IS NULL ORDER BY id"
    )
});

/// Runs that are copies of each other, and what tells them from others.
type Copies = (String, Vec<RunId>);

/// The identities of such episodes, each with its run.
pub(super) fn copied_run_identities(conn: &Connection) -> Result<HashMap<EpisodeId, (RunId, String)>> {
    let mut settled = HashMap::new();
    for (name, runs) in copies_sharing_trials(conn)?.into_iter().chain(equal_copies(conn)?) {
        let mut known: HashMap<(String, u32), Vec<(EpisodeId, RunId)>> = HashMap::new();
        for run in runs {
            // Two of one run are two, however alike they are.
            let mut counts_by_content: HashMap<String, u32> = HashMap::new();
            for UnmeasuredEpisode { episode, facts, .. } in unmeasured_episodes(conn, run)? {
                let number = counts_by_content.entry(facts.clone()).or_default();
                *number += 1;
                known.entry((facts, *number)).or_default().push((episode, run));
            }
        }
        for ((facts, number), episodes) in known.into_iter().filter(|(_, episodes)| episodes.len() > 1) {
            let identity = identity(&[&name, &facts, &number.to_string()]);
            settled.extend(episodes.into_iter().map(|(episode, run)| (episode, (run, identity.clone()))));
        }
    }
    Ok(settled)
}

/// An episode without an identity.
pub(super) struct UnmeasuredEpisode {
    episode: EpisodeId,
    /// All that is known of it.
    pub(super) facts: String,
    /// What it came to.
    outcome: String,
}

/// The episodes of a run that have no identity.
pub(super) fn unmeasured_episodes(conn: &Connection, run: RunId) -> Result<Vec<UnmeasuredEpisode>> {
    let mut find = conn.prepare_cached(&UNMEASURED_EPISODES)?;
    let rows = find.query_map([run], |row| {
        Ok(UnmeasuredEpisode { episode: row.get(0)?, facts: row.get(1)?, outcome: row.get(2)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn copies_sharing_trials(conn: &Connection) -> Result<Vec<Copies>> {
    let mut same = SameRuns::default();
    // By trial and what runs have in common, the first run.
    let mut first: HashMap<(String, String), RunId> = HashMap::new();
    // The least trial of each run.
    let mut trials: BTreeMap<RunId, String> = BTreeMap::new();
    let mut find = conn.prepare_cached(SHARED_IDENTITIES)?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let (trial, run): (String, RunId) = (row.get(0)?, row.get(1)?);
        same.join(*first.entry((trial.clone(), row.get(2)?)).or_insert(run), run);
        trials.entry(run).or_insert(trial);
    }
    let mut copies: BTreeMap<RunId, Copies> = BTreeMap::new();
    for (run, trial) in trials {
        let (least, runs) = copies.entry(same.root(run)).or_insert_with(|| (trial.clone(), Vec::new()));
        if trial < *least {
            *least = trial;
        }
        runs.push(run);
    }
    Ok(copies.into_values().filter(|(_, runs)| runs.len() > 1).collect())
}

fn equal_copies(conn: &Connection) -> Result<Vec<Copies>> {
    let mut copies: BTreeMap<(String, Vec<String>), Vec<RunId>> = BTreeMap::new();
    let mut find = conn.prepare_cached(NAMESAKES)?;
    let mut rows = find.query([MANY_ATTEMPTS])?;
    while let Some(row) = rows.next()? {
        let (run, names): (RunId, String) = (row.get(0)?, row.get(1)?);
        let episodes = unmeasured_episodes(conn, run)?;
        // Where all passed, or none, a second run may well come out alike: two runs of an agent that does nothing do.
        if episodes.iter().map(|episode| &episode.outcome).collect::<HashSet<_>>().len() < 2 {
            continue;
        }
        let mut facts: Vec<String> = episodes.into_iter().map(|episode| episode.facts).collect();
        facts.sort_unstable();
        copies.entry((names, facts)).or_default().push(run);
    }
    let several = copies.into_iter().filter(|(_, runs)| runs.len() > 1);
    Ok(several.map(|((names, _), runs)| (names, runs)).collect())
}

/// An identity in the form of those by contents, the same on every machine (FNV-1a).
fn identity(parts: &[&str]) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("of-{:016x}", parts.join("\n").bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
mod tests {
    use model::{Benchmark, Episode, Run};
    use rusqlite::StatementStatus;

    use super::*;
    use crate::{ParsedPart, Store};

    /// Two sources with runs of this many trials that both have. One trial of each run may have no identity.
    fn shared(runs: usize, trials: usize, has_unmeasured: bool) -> Store {
        let store = Store::in_memory().unwrap();
        for source in ["a", "b"] {
            let source = store.put_source(&format!("/data/{source}"), source, false).unwrap();
            let benchmark = || Benchmark { key: "b".into(), name: "B".into() };
            let all: Vec<Run> = (0..runs).map(|run| Run::unknown(format!("r{run}"), benchmark())).collect();
            store.put_runs(source, "", "table", &all).unwrap();
            let episodes: Vec<(String, Episode)> = (0..runs * trials)
                .map(|number| {
                    let (run, trial) = (number / trials, number % trials);
                    let mut episode = Episode::new(format!("e{trial}"), format!("s{trial}"));
                    episode.identity = (trial > 0 || !has_unmeasured).then(|| format!("of-{number}"));
                    (format!("r{run}"), episode)
                })
                .collect();
            let part = ParsedPart {
                place: "",
                key: "p",
                stamp: 1,
                episodes: &episodes,
                warnings: &[],
                files_read: 1,
            };
            store.put_part(source, &part).unwrap();
        }
        store
    }

    /// The steps of finding the trials that runs have in common, and their number.
    fn work(store: &Store) -> (i32, usize) {
        store
            .read(|conn| {
                let mut find = conn.prepare(SHARED_IDENTITIES)?;
                let found = find.query_map([], |_| Ok(()))?.count();
                Ok((find.get_status(StatementStatus::VmStep), found))
            })
            .unwrap()
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn finding_trials_in_common_takes_time_that_is_linear_in_their_number() {
        for has_unmeasured in [false, true] {
            // Runs of many trials, and many runs.
            for (few, many) in [((1, 50), (1, 400)), ((20, 10), (160, 10))] {
                let [(few_steps, _), (steps, found)] =
                    [few, many].map(|(runs, trials)| work(&shared(runs, trials, has_unmeasured)));
                assert_eq!(found, if has_unmeasured { 2 * many.0 * (many.1 - 1) } else { 0 });
                assert!(steps < 12 * few_steps, "{few_steps} steps, then {steps} for 8 times as many");
            }
        }
    }
}
