//! What was tried at each turn of an episode, in one row: verdicts of all attempts, and tests passed and run at the last.
//!
//! Comparing runs asks for all turns of hundreds of episodes at once. Here that is one short row an episode, and turns
//! and attempts (with their messages) are not touched.

use crate::schema::Migration;
use crate::values::{end_reason, json, no_word};
use crate::{EpisodeId, Result, RunId, Store, StoreError};
use model::{EndReason, Episode, TurnState, Verdict};
use rusqlite::{Connection, params};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    version: 3,
    sql: "
CREATE TABLE play (
  episode INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
  -- JSON: [[turn, passed, total, [attempt, ...]], ...]; an attempt is the first letter of its verdict (p f e u), and
  -- after a slash its end reason, if it has one
  turns TEXT NOT NULL,
  -- of the episode, else summed over its attempts
  agent_seconds REAL
) STRICT;
INSERT INTO play (episode, turns, agent_seconds)
  SELECT episode.id,
    (SELECT json_group_array(json_array(number, passed, total, json(attempts))) FROM (
      SELECT turn.number, turn.passed, turn.total,
        (SELECT json_group_array(substr(verdict, 1, 1) || coalesce('/' || end_reason, '')) FROM
          (SELECT verdict, end_reason FROM attempt WHERE attempt.turn = turn.id ORDER BY attempt.id)) AS attempts
      FROM turn WHERE turn.episode = episode.id ORDER BY turn.number, turn.id)),
    coalesce(episode.agent_seconds, (SELECT sum(attempt.agent_seconds) FROM turn JOIN attempt ON attempt.turn = turn.id
      WHERE turn.episode = episode.id))
  FROM episode;
",
}];

/// What was tried at each turn of an episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Play {
    /// The episode.
    pub episode: EpisodeId,
    /// Seconds in which the agent worked: of the episode, else summed over the attempts of which they are known.
    pub agent_seconds: Option<f64>,
    /// The turns that the source describes, in order.
    pub turns: Vec<PlayedTurn>,
}

/// What was tried at a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedTurn {
    /// From 1.
    pub number: u32,
    /// Tests passed at the final attempt.
    pub passed: Option<u32>,
    /// Tests run at the final attempt.
    pub total: Option<u32>,
    /// Every attempt: its verdict, and why it ended.
    pub attempts: Vec<(Verdict, Option<EndReason>)>,
}

impl PlayedTurn {
    /// The state of its cell, see [`model::Turn::state`].
    pub fn state(&self) -> TurnState {
        match self.attempts.last() {
            None => TurnState::NotReached,
            Some((Verdict::Passed, _)) if self.attempts.len() > 1 => TurnState::PassedAfterRetries,
            Some((Verdict::Passed, _)) => TurnState::Passed,
            Some((Verdict::Failed, _)) => TurnState::Failed,
            Some((Verdict::Error, _)) => TurnState::Error,
            Some((Verdict::Unfinished, _)) => TurnState::Censored,
        }
    }
}

/// A turn as the column has it. No word in it needs an escape.
type Row<T> = (u32, Option<u32>, Option<u32>, Vec<T>);

const VERDICTS: [Verdict; 4] = [Verdict::Passed, Verdict::Failed, Verdict::Error, Verdict::Unfinished];

fn letter(verdict: Verdict) -> &'static str {
    &verdict.as_str()[..1]
}

fn attempt(text: &str) -> Result<(Verdict, Option<EndReason>)> {
    let (word, reason) = text.split_once('/').map_or((text, None), |(word, reason)| (word, Some(reason)));
    let verdict =
        VERDICTS.into_iter().find(|v| letter(*v) == word).ok_or_else(|| no_word("verdict", word))?;
    Ok((verdict, reason.map(end_reason).transpose()?))
}

/// Writes what was tried in an episode.
pub(crate) fn put(conn: &Connection, id: EpisodeId, episode: &Episode) -> Result<()> {
    let rows: Vec<Row<String>> = episode
        .turns
        .iter()
        .map(|turn| {
            let last = turn.attempts.last();
            let attempts = turn.attempts.iter().map(|attempt| match attempt.end_reason {
                None => letter(attempt.verdict).to_owned(),
                Some(reason) => format!("{}/{}", letter(attempt.verdict), reason.as_str()),
            });
            (turn.number, last.and_then(|a| a.passed), last.and_then(|a| a.total), attempts.collect())
        })
        .collect();
    let known = episode.turns.iter().flat_map(|t| &t.attempts).filter_map(|a| a.timing.agent_seconds);
    let seconds =
        episode.timing.agent_seconds.or_else(|| known.fold(None, |sum, s| Some(sum.unwrap_or(0.0) + s)));
    conn.prepare_cached("INSERT INTO play (episode, turns, agent_seconds) VALUES (?1, ?2, ?3)")?
        .execute(params![id, json(&rows)?, seconds])?;
    Ok(())
}

impl Store {
    /// What was tried in each episode of a run, in the order of [`Store::episodes`].
    pub fn plays(&self, run: RunId) -> Result<Vec<Play>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(
                "SELECT play.episode, play.turns, play.agent_seconds FROM episode
                 JOIN play ON play.episode = episode.id WHERE episode.run = ?1 ORDER BY episode.slug",
            )?;
            find.query_and_then([run], |row| {
                let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
                let rows: Vec<Row<&str>> =
                    serde_json::from_str(text).map_err(|e| StoreError::Damaged(e.to_string()))?;
                let turns = rows.into_iter().map(|(number, passed, total, attempts)| {
                    let attempts = attempts.into_iter().map(attempt).collect::<Result<_>>()?;
                    Ok(PlayedTurn { number, passed, total, attempts })
                });
                Ok(Play {
                    episode: row.get(0)?,
                    agent_seconds: row.get(2)?,
                    turns: turns.collect::<Result<_>>()?,
                })
            })?
            .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_and_reason_round_trips_and_the_migration_uses_the_same_letters() {
        for verdict in VERDICTS {
            assert_eq!(attempt(letter(verdict)).unwrap(), (verdict, None));
            for reason in EndReason::ALL {
                let text = format!("{}/{}", letter(verdict), reason.as_str());
                assert_eq!(attempt(&text).unwrap(), (verdict, Some(*reason)));
            }
        }
        assert!(attempt("x").is_err() && attempt("f/unheard_of").is_err());
    }
}
