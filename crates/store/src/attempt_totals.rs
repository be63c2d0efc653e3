//! Totals of the attempts of a run, by the number of the attempt, computed in SQL without reading their tests.

use model::{EndReason, Ending, PASS_REWARD};
use rusqlite::params;

use crate::values::json;
use crate::withdrawn_filter::VALID_EPISODE;
use crate::{EpisodeId, Result, RunId, Store};

/// All attempts of a run with one number.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptTotals {
    /// From 1.
    pub number: u32,
    /// How many attempts there are.
    pub attempts: u32,
    /// How many passed.
    pub passed: u32,
    /// How many failed.
    pub failed: u32,
    /// How many have no verdict of tests.
    pub errors: u32,
    /// How many were stopped from outside before a verdict, or are still running.
    pub unfinished: u32,
    /// Mean seconds that the agent took, over the attempts for which it is known, and the number of these attempts.
    pub agent_seconds: (Option<f64>, u32),
    /// The same for the seconds of the tests.
    pub test_seconds: (Option<f64>, u32),
    /// The same for tokens, input and output.
    pub tokens: (Option<f64>, u32),
    /// The same for US dollars.
    pub cost_usd: (Option<f64>, u32),
}

/// Counts about the rewards of a run, if the source grades by reward.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RewardTotals {
    /// Rewards that are neither 0 nor a pass with at most 1.
    pub partial: u32,
    /// Declared turns of episodes with several turns.
    pub turns: u32,
    /// How many of these turns have a reward.
    pub rewarded: u32,
}

impl Store {
    /// Counts about the rewards of a run.
    pub fn reward_totals(&self, run: RunId) -> Result<RewardTotals> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&format!(
                "WITH of_run AS (SELECT id, max(coalesce(planned_turns, 0), known_turns) AS turns FROM episode WHERE run = ?1 AND {VALID_EPISODE}),
                   rewarded AS (SELECT attempt.turn, of_run.turns, attempt.reward FROM of_run
                     JOIN turn ON turn.episode = of_run.id JOIN attempt ON attempt.turn = turn.id WHERE attempt.reward IS NOT NULL)
                 SELECT (SELECT count(*) FROM rewarded WHERE NOT (reward = 0 OR reward BETWEEN ?2 AND 1)),
                   (SELECT CAST(total(turns) AS INTEGER) FROM of_run WHERE turns > 1),
                   (SELECT count(DISTINCT turn) FROM rewarded WHERE turns > 1)"
            ))?;
            Ok(find.query_row(params![run, PASS_REWARD], |row| {
                Ok(RewardTotals { partial: row.get(0)?, turns: row.get(1)?, rewarded: row.get(2)? })
            })?)
        })
    }

    /// Totals of the attempts of a run, by the number of the attempt, without the episodes in `except`.
    pub fn attempt_totals(&self, run: RunId, except: &[EpisodeId]) -> Result<Vec<AttemptTotals>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&format!(
                "SELECT attempt.number, count(*),
                   sum(verdict = 'passed'), sum(verdict = 'failed'), sum(verdict = 'error'), sum(verdict = 'unfinished'),
                   avg(attempt.agent_seconds), count(attempt.agent_seconds),
                   avg(attempt.test_seconds), count(attempt.test_seconds),
                   avg(attempt.input_tokens + attempt.output_tokens), count(attempt.input_tokens + attempt.output_tokens),
                   avg(attempt.cost_usd), count(attempt.cost_usd)
                 FROM episode JOIN turn ON turn.episode = episode.id JOIN attempt ON attempt.turn = turn.id
                 WHERE episode.run = ?1 AND {VALID_EPISODE} AND episode.id NOT IN (SELECT value FROM json_each(?2))
                 GROUP BY attempt.number ORDER BY attempt.number"
            ))?;
            let rows = find.query_map(params![run, json(&except)?], |row| {
                Ok(AttemptTotals {
                    number: row.get(0)?,
                    attempts: row.get(1)?,
                    passed: row.get(2)?,
                    failed: row.get(3)?,
                    errors: row.get(4)?,
                    unfinished: row.get(5)?,
                    agent_seconds: (row.get(6)?, row.get(7)?),
                    test_seconds: (row.get(8)?, row.get(9)?),
                    tokens: (row.get(10)?, row.get(11)?),
                    cost_usd: (row.get(12)?, row.get(13)?),
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The rewards of the last attempts at the turns of a run: episode, turn, reward. A passed turn without a reward has 1;
    /// other turns without a reward are left out.
    pub fn final_rewards(&self, run: RunId) -> Result<Vec<(EpisodeId, u32, f64)>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&format!(
                "SELECT episode.id, turn.number, ifnull(attempt.reward, 1.0)
                 FROM episode JOIN turn ON turn.episode = episode.id JOIN attempt ON attempt.turn = turn.id
                 WHERE episode.run = ?1 AND {VALID_EPISODE}
                   AND (attempt.reward IS NOT NULL OR attempt.verdict = 'passed')
                   AND attempt.number = (SELECT max(number) FROM attempt AS last WHERE last.turn = turn.id)"
            ))?;
            let rows = find.query_map(params![run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Whether each attempt of a run passed, with its episode and turn, in the order of episode, turn and attempt. An attempt
    /// that something outside ended (a reason that censors) is left out, unless it passed.
    pub fn passes(&self, run: RunId) -> Result<Vec<(EpisodeId, u32, bool)>> {
        let from_outside = |reason: &&EndReason| reason.default_ending() == Ending::Censored;
        let from_outside: Vec<&str> =
            EndReason::ALL.iter().filter(from_outside).map(|reason| reason.as_str()).collect();
        self.read(|conn| {
            let mut find = conn.prepare_cached(&format!(
                "SELECT episode.id, turn.number, attempt.verdict = 'passed'
                 FROM episode JOIN turn ON turn.episode = episode.id JOIN attempt ON attempt.turn = turn.id
                 WHERE episode.run = ?1 AND {VALID_EPISODE}
                   AND (attempt.verdict = 'passed' OR attempt.verdict <> 'unfinished'
                     AND ifnull(attempt.end_reason, '') NOT IN (SELECT value FROM json_each(?2)))
                 ORDER BY episode.id, turn.number, attempt.number"
            ))?;
            let rows = find.query_map(params![run, json(&from_outside)?], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// How many attempts of a run that did not pass ended for each reason, by its word, the most frequent first, without the
    /// episodes in `except`. What says no reason failed its tests, is unfinished, or has no verdict; an episode that ended for a
    /// reason says it of its last attempt, unless that failed its tests.
    pub fn attempt_end_reasons(&self, run: RunId, except: &[EpisodeId]) -> Result<Vec<(String, u32)>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&format!(
                "SELECT coalesce(attempt.end_reason,
                   iif(attempt.verdict <> 'failed' AND episode.given_end_reason <> ?3
                     AND attempt.id = (SELECT max(last.id) FROM attempt AS last WHERE last.turn = turn.id)
                     AND turn.number = (SELECT max(last.number) FROM turn AS last WHERE last.episode = episode.id),
                     episode.given_end_reason, NULL),
                   CASE attempt.verdict WHEN 'failed' THEN ?4 WHEN 'unfinished' THEN ?5 ELSE ?6 END), count(*)
                 FROM episode JOIN turn ON turn.episode = episode.id JOIN attempt ON attempt.turn = turn.id
                 WHERE episode.run = ?1 AND {VALID_EPISODE} AND attempt.verdict <> 'passed'
                   AND episode.id NOT IN (SELECT value FROM json_each(?2))
                 GROUP BY 1 ORDER BY 2 DESC, 1"
            ))?;
            let [passed_all, failed, unfinished, no_verdict] = [
                EndReason::PassedAll,
                EndReason::TestsFailed,
                EndReason::Unfinished,
                EndReason::NoVerdict,
            ]
            .map(EndReason::as_str);
            let rows = find.query_map(
                params![run, json(&except)?, passed_all, failed, unfinished, no_verdict],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}
