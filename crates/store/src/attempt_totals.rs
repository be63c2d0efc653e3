//! What attempts of a run took, by their number: counted and summed where they lie, without reading their tests.

use rusqlite::params;

use crate::{Result, RunId, Store};

/// All attempts of a run that have one number.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptTotals {
    /// From 1.
    pub number: u32,
    /// How many were made.
    pub made: u32,
    /// Of them, passed.
    pub passed: u32,
    /// Failed.
    pub failed: u32,
    /// Without a test verdict.
    pub errors: u32,
    /// Mean seconds in which the agent worked, over those of which it is known; and of how many it is.
    pub agent_seconds: (Option<f64>, u32),
    /// The same of the tests.
    pub test_seconds: (Option<f64>, u32),
    /// The same of tokens, input and output.
    pub tokens: (Option<f64>, u32),
    /// The same of US dollars.
    pub cost_usd: (Option<f64>, u32),
}

impl Store {
    /// What the attempts of a run took, by their number.
    pub fn attempt_totals(&self, run: RunId) -> Result<Vec<AttemptTotals>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT attempt.number, count(*),
                   sum(verdict = 'passed'), sum(verdict = 'failed'), sum(verdict = 'error'),
                   avg(attempt.agent_seconds), count(attempt.agent_seconds),
                   avg(attempt.test_seconds), count(attempt.test_seconds),
                   avg(attempt.input_tokens + attempt.output_tokens), count(attempt.input_tokens + attempt.output_tokens),
                   avg(attempt.cost_usd), count(attempt.cost_usd)
                 FROM episode JOIN turn ON turn.episode = episode.id JOIN attempt ON attempt.turn = turn.id
                 WHERE episode.run = ?1 GROUP BY attempt.number ORDER BY attempt.number",
            )?;
            let rows = find.query_map(params![run], |row| {
                Ok(AttemptTotals {
                    number: row.get(0)?,
                    made: row.get(1)?,
                    passed: row.get(2)?,
                    failed: row.get(3)?,
                    errors: row.get(4)?,
                    agent_seconds: (row.get(5)?, row.get(6)?),
                    test_seconds: (row.get(7)?, row.get(8)?),
                    tokens: (row.get(9)?, row.get(10)?),
                    cost_usd: (row.get(11)?, row.get(12)?),
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// How often attempts of a run ended for each reason, by the reason's word, the most frequent first.
    pub fn attempt_end_reasons(&self, run: RunId) -> Result<Vec<(String, u32)>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT attempt.end_reason, count(*)
                 FROM episode JOIN turn ON turn.episode = episode.id JOIN attempt ON attempt.turn = turn.id
                 WHERE episode.run = ?1 AND attempt.end_reason IS NOT NULL
                 GROUP BY attempt.end_reason ORDER BY count(*) DESC, attempt.end_reason",
            )?;
            let rows = find.query_map(params![run], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}
