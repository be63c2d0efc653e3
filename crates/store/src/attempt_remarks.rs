//! Attempts that were retried because of something outside their agent, and those whose results lack something of the workspace:
//! what Stamina Lab's runner records of them beside the results.

use model::Attempt;
use rusqlite::Row;

use crate::values::parse_or_default;
use crate::withdrawn_filter::VALID_EPISODE;
use crate::{Result, RunId, Store};

/// Attempts of a run with what [`Attempt::repeats`] and [`Attempt::left_out`] say of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptRemarks {
    /// Attempts that were retried.
    pub retried_count: u32,
    /// The first of these, in the order of episode and turn.
    pub first_retried: Vec<RetriedAttempt>,
    /// Attempts whose results lack something of the workspace or container.
    pub incomplete_count: u32,
    /// The first of these, in the same order.
    pub first_incomplete: Vec<IncompleteAttempt>,
}

/// An attempt that was retried because of something outside its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetriedAttempt {
    /// Id of its episode inside the run.
    pub episode: String,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
    /// How often it was retried, from 1.
    pub repeats: u64,
}

/// An attempt whose results lack something of the workspace or container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteAttempt {
    /// Id of its episode inside the run.
    pub episode: String,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
    /// What they lack, by name.
    pub names: Vec<String>,
    /// How many more there are, which are not named.
    pub more: u64,
}

impl Store {
    /// The attempts of a run that were retried, and those whose results lack something, with the first `limit` of each kind.
    /// Those of withdrawn episodes do not count.
    pub fn attempt_remarks(&self, run: RunId, limit: u32) -> Result<AttemptRemarks> {
        self.read(|conn| {
            // Only attempts that may have one of the fields are parsed. The store writes JSON without spaces. A column of a
            // table may have any name: what it says is none of a runner.
            let attempts = format!(
                "SELECT episode.slug, turn.number, attempt.number, attempt.extra
                 FROM episode JOIN turn ON turn.episode = episode.id JOIN attempt ON attempt.turn = turn.id
                 WHERE episode.run = ?1 AND {VALID_EPISODE}
                   AND (SELECT format FROM run WHERE id = ?1) <> 'table'
                   AND (instr(attempt.extra, '\"repeats\":') > 0 OR instr(attempt.extra, '\"left_out\":[\"') > 0)
                 ORDER BY episode.id, turn.number, attempt.number"
            );
            let mut find = conn.prepare_cached(&attempts)?;
            let mut rows = find.query([run])?;
            let mut found = AttemptRemarks::default();
            while let Some(row) = rows.next()? {
                found.add(row, limit as usize)?;
            }
            Ok(found)
        })
    }
}

impl AttemptRemarks {
    /// Counts an attempt, and keeps it if it is one of the first `limit`. The row has its episode, turn, number and other fields.
    fn add(&mut self, row: &Row<'_>, limit: usize) -> Result<()> {
        let extra = parse_or_default(row.get::<_, Option<String>>(3)?.as_deref())?;
        let (turn, number) = (row.get(1)?, row.get(2)?);
        let attempt = Attempt { number, extra, ..Attempt::default() };
        if let Some(repeats) = attempt.repeats().filter(|repeats| *repeats > 0) {
            self.retried_count += 1;
            if self.first_retried.len() < limit {
                let episode = row.get(0)?;
                self.first_retried.push(RetriedAttempt { episode, turn, attempt: number, repeats });
            }
        }
        if let Some((names, more)) = attempt.left_out().filter(|(names, _)| !names.is_empty()) {
            self.incomplete_count += 1;
            if self.first_incomplete.len() < limit {
                let names = names.into_iter().map(str::to_owned).collect();
                let episode = row.get(0)?;
                self.first_incomplete.push(IncompleteAttempt { episode, turn, attempt: number, names, more });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use model::{Benchmark, Episode, Run, Turn, Verdict};
    use serde_json::{Value, json};

    use super::*;
    use crate::{ParsedPart, RunFilter};

    #[test]
    fn retried_and_incomplete_attempts_are_counted_and_the_first_are_named() {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/a", "a", false).unwrap();
        let benchmark = Benchmark { key: "b".into(), name: "B".into() };
        store.put_runs(source, "", "staminabench", &[Run::unknown("r", benchmark)]).unwrap();
        let fields = [
            (
                "x",
                vec![
                    json!({ "left_out": [] }),
                    json!({ "left_out": ["link", "big/"], "left_out_more": 3, "repeats": 2 }),
                    json!({ "repeats": 1 }),
                ],
            ),
            // What another runner calls so, and a 0.
            (
                "y",
                vec![
                    json!({ "repeats": "often", "left_out": ["a", 1] }),
                    json!({ "repeats": 0, "left_out": ["pipe"] }),
                    json!({}),
                ],
            ),
        ];
        let episodes: Vec<(String, Episode)> = fields
            .into_iter()
            .map(|(name, turns)| {
                let mut episode = Episode::new(name, name);
                for (extra, number) in turns.into_iter().zip(1..) {
                    let mut turn = Turn::new(number);
                    let mut attempt = Attempt::new(1, Verdict::Passed);
                    let Value::Object(extra) = extra else { unreachable!() };
                    attempt.extra = extra;
                    turn.attempts.push(attempt);
                    episode.turns.push(turn);
                }
                ("r".to_owned(), episode)
            })
            .collect();
        let part =
            ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
        // A column of a table.
        let table = store.put_source("/data/t", "t", false).unwrap();
        let benchmark = Benchmark { key: "b".into(), name: "B".into() };
        store.put_runs(table, "", "table", &[Run::unknown("r", benchmark)]).unwrap();
        store.put_part(table, &part).unwrap();
        let runs = store.list_runs(&RunFilter::default()).unwrap().rows;
        let of_table = runs.iter().find(|(_, run)| run.source == table).unwrap();
        assert_eq!(store.attempt_remarks(of_table.1.id, 2).unwrap(), AttemptRemarks::default());
        let run = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
        let retried = |turn, repeats| RetriedAttempt { episode: "x".to_owned(), turn, attempt: 1, repeats };
        let incomplete = |episode: &str, names: &[&str], more| IncompleteAttempt {
            episode: episode.to_owned(),
            turn: 2,
            attempt: 1,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            more,
        };
        let all = AttemptRemarks {
            retried_count: 2,
            first_retried: vec![retried(2, 2), retried(3, 1)],
            incomplete_count: 2,
            first_incomplete: vec![incomplete("x", &["link", "big/"], 3), incomplete("y", &["pipe"], 0)],
        };
        assert_eq!(store.attempt_remarks(run.id, 2).unwrap(), all);
        let one = store.attempt_remarks(run.id, 1).unwrap();
        assert_eq!((one.retried_count, one.first_retried.len(), one.first_incomplete.len()), (2, 1, 1));
        let trial =
            store.all_episodes(run.id).unwrap().into_iter().find(|episode| episode.slug == "x").unwrap().slug;
        store.withdraw_episodes(&run.slug, &[trial], Some("wrong image")).unwrap();
        let left = store.attempt_remarks(run.id, 2).unwrap();
        assert_eq!((left.retried_count, left.incomplete_count), (0, 1));
    }
}
