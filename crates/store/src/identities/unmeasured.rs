//! Episodes without an identity in runs that are copies of each other. Alone, one that was not measured closely may come out as any
//! other one: it has no identity. Where two runs of one harness, model and benchmark have another trial in common, both are copies, and
//! such an episode is the same if all that is known of it is equal.

use std::collections::{BTreeMap, HashMap};

use rusqlite::Connection;

use super::same_runs::SameRuns;
use crate::{EpisodeId, Result, RunId};

/// SQL: the trials that several runs have, in runs that have an episode without an identity, and what such runs have in common.
const SHARED: &str = "
SELECT episode.own_identity, run.id, json_array(run.format, run.benchmark, run.harness, run.model)
FROM episode JOIN run ON run.id = episode.run
WHERE episode.own_identity IN (SELECT own_identity FROM episode WHERE own_identity IS NOT NULL
    GROUP BY own_identity HAVING count(*) > 1)
  AND EXISTS (SELECT 1 FROM episode AS other WHERE other.run = run.id AND other.own_identity IS NULL)
ORDER BY 1, 2";

/// SQL: the episodes of a run without an identity, and all that is known of them.
const UNMEASURED: &str = "
SELECT id, json_array(scenario, end_reason, cells, failing, attempts, passed_turns, ratio_sum, planned_turns, input_tokens,
    cached_tokens, output_tokens, cost_usd, tool_calls, started_at, finished_at, agent_seconds, test_seconds, exception_message)
FROM episode WHERE run = ?1 AND own_identity IS NULL ORDER BY id";

/// The identities of such episodes, each with its run.
pub(super) fn of_copied_runs(conn: &Connection) -> Result<HashMap<EpisodeId, (RunId, String)>> {
    let mut same = SameRuns::default();
    // By trial and what runs have in common, the first run.
    let mut first: HashMap<(String, String), RunId> = HashMap::new();
    // The least trial of each run.
    let mut trials: BTreeMap<RunId, String> = BTreeMap::new();
    let mut find = conn.prepare_cached(SHARED)?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let (trial, run): (String, RunId) = (row.get(0)?, row.get(1)?);
        same.join(*first.entry((trial.clone(), row.get(2)?)).or_insert(run), run);
        trials.entry(run).or_insert(trial);
    }
    let mut copies: BTreeMap<RunId, Vec<RunId>> = BTreeMap::new();
    for run in trials.keys() {
        copies.entry(same.root(*run)).or_default().push(*run);
    }
    let mut settled = HashMap::new();
    let mut find = conn.prepare_cached(UNMEASURED)?;
    for runs in copies.values().filter(|runs| runs.len() > 1) {
        let least = runs.iter().filter_map(|run| trials.get(run)).min().map_or("", String::as_str);
        let mut known: HashMap<(String, u32), Vec<(EpisodeId, RunId)>> = HashMap::new();
        for run in runs {
            // Two of one run are two, however alike they are.
            let mut alike: HashMap<String, u32> = HashMap::new();
            let mut rows = find.query([run])?;
            while let Some(row) = rows.next()? {
                let facts: String = row.get(1)?;
                let number = alike.entry(facts.clone()).or_default();
                *number += 1;
                known.entry((facts, *number)).or_default().push((row.get(0)?, *run));
            }
        }
        for ((facts, number), episodes) in known.into_iter().filter(|(_, episodes)| episodes.len() > 1) {
            let identity = identity(&[least, &facts, &number.to_string()]);
            settled.extend(episodes.into_iter().map(|(episode, run)| (episode, (run, identity.clone()))));
        }
    }
    Ok(settled)
}

/// An identity in the form of those by contents, the same on every machine (FNV-1a).
fn identity(parts: &[&str]) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("of-{:016x}", parts.join("\n").bytes().fold(0xcbf2_9ce4_8422_2325, step))
}
