//! The attempts at the turns of an episode in one row: all verdicts, tests passed and run at the last attempt, and
//! what the turns used, if known. The table is `play`.
//!
//! A comparison of runs reads all turns of hundreds of episodes at once. This table has one short row per episode, so the
//! comparison does not read turns and attempts with their messages.

use crate::migration::Migration;
use crate::values::{end_reason, json, no_word};
use crate::withdrawn_filter::VALID_EPISODE;
use crate::{EpisodeId, Result, RunId, Store, StoreError};
use model::{Attempt, EndReason, Episode, Tokens, Turn, TurnState, Verdict};
use rusqlite::{Connection, params};

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
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
    },
    Migration {
        version: 5,
        sql: /* words: ok (a released step is never edited) */ "
-- Over the turns of which every attempt says it: the sum, and how many turns these are. Where the source gives it for the
-- whole episode: that, and every turn that was reached.
ALTER TABLE play ADD COLUMN cost REAL NOT NULL DEFAULT 0;
ALTER TABLE play ADD COLUMN cost_turns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE play ADD COLUMN tokens REAL NOT NULL DEFAULT 0;
ALTER TABLE play ADD COLUMN tokens_turns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE play ADD COLUMN steps REAL NOT NULL DEFAULT 0;
ALTER TABLE play ADD COLUMN steps_turns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE play ADD COLUMN seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE play ADD COLUMN seconds_turns INTEGER NOT NULL DEFAULT 0;
CREATE TEMP TABLE used AS SELECT turn.episode AS episode, count(*) AS made,
    total(cost_usd) AS cost, count(iif(input_tokens = 0 AND output_tokens = 0, coalesce(cost_usd, 0), cost_usd)) AS cost_known,
    total(CAST(input_tokens AS REAL) + output_tokens) AS tokens, count(input_tokens + output_tokens) AS tokens_known,
    total(tool_calls) AS steps, count(tool_calls) AS steps_known,
    total(agent_seconds) AS seconds, count(agent_seconds) AS seconds_known
  FROM turn JOIN attempt ON attempt.turn = turn.id GROUP BY turn.id;
CREATE INDEX temp.used_by_episode ON used (episode);
UPDATE play SET
  (cost, cost_turns) = (SELECT total(cost), count(*) FROM used WHERE used.episode = play.episode AND cost_known = made),
  (tokens, tokens_turns) = (SELECT total(tokens), count(*) FROM used WHERE used.episode = play.episode AND tokens_known = made),
  (steps, steps_turns) = (SELECT total(steps), count(*) FROM used WHERE used.episode = play.episode AND steps_known = made),
  (seconds, seconds_turns) =
    (SELECT total(seconds), count(*) FROM used WHERE used.episode = play.episode AND seconds_known = made);
DROP TABLE used;
UPDATE play SET cost = episode.given_cost_usd, cost_turns = episode.reached_turns
  FROM episode WHERE episode.id = play.episode AND episode.given_cost_usd IS NOT NULL;
UPDATE play SET tokens = CAST(episode.input_tokens AS REAL) + episode.output_tokens, tokens_turns = episode.reached_turns
  FROM episode WHERE episode.id = play.episode AND episode.given_tokens IS NOT NULL
    AND episode.input_tokens IS NOT NULL AND episode.output_tokens IS NOT NULL;
UPDATE play SET seconds = episode.agent_seconds, seconds_turns = episode.reached_turns
  FROM episode WHERE episode.id = play.episode AND episode.agent_seconds IS NOT NULL;
",
    },
    Migration {
        version: 6,
        sql: "
-- What was called steps were tool calls. Steps are known when a source is read again.
ALTER TABLE play RENAME COLUMN steps TO tool_calls;
ALTER TABLE play RENAME COLUMN steps_turns TO tool_calls_turns;
ALTER TABLE play ADD COLUMN steps REAL NOT NULL DEFAULT 0;
ALTER TABLE play ADD COLUMN steps_turns INTEGER NOT NULL DEFAULT 0;
-- those of the turns before the first that was not passed; NULL = some of them are not known
ALTER TABLE play ADD COLUMN steps_survived INTEGER;
",
    },
    Migration {
        version: 8,
        sql: "
-- None of an episode that survived no turn, and whose source says nothing of steps, were not known but counted as 0.
UPDATE play SET steps_survived = NULL WHERE steps_turns = 0;
",
    },
];

/// A sum over the turns of an episode for which the number is known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct KnownSum {
    /// The sum.
    pub sum: f64,
    /// How many turns it includes.
    pub turns: u32,
}

/// What an episode used, if known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UsedTotals {
    /// US dollars. An attempt without a model request costs nothing.
    pub cost: KnownSum,
    /// Input and output tokens.
    pub tokens: KnownSum,
    /// Tool calls.
    pub tool_calls: KnownSum,
    /// Steps of the agent: calls of its model.
    pub steps: KnownSum,
    /// Steps of the turns before the first one that was not passed; `None` = the steps of some attempt are unknown, or the
    /// source records none for this episode.
    pub steps_survived: Option<u32>,
    /// Seconds that the agent took.
    pub seconds: KnownSum,
}

impl KnownSum {
    /// Adds a turn, if the number is known for each of its attempts.
    fn add(&mut self, turn: &Turn, number: impl Fn(&Attempt) -> Option<f64>) {
        let known: Option<Vec<f64>> =
            turn.attempts.iter().map(|a| number(a).filter(|n| n.is_finite())).collect();
        if let Some(known) = known.filter(|known| !known.is_empty()) {
            self.sum += known.iter().sum::<f64>();
            self.turns += 1;
        }
    }

    /// Replaces the sum by that of the source for the whole episode, which includes every reached turn.
    fn replace(&mut self, sum: Option<f64>, turns: u32) {
        if let Some(sum) = sum.filter(|n| n.is_finite()) {
            *self = Self { sum, turns };
        }
    }
}

impl UsedTotals {
    pub(crate) fn from_episode(episode: &Episode) -> Self {
        let tokens = |tokens: Tokens| Some(tokens.input? as f64 + tokens.output? as f64);
        let mut used = Self::default();
        let mut reached = 0;
        for turn in &episode.turns {
            reached += u32::from(!turn.attempts.is_empty());
            used.cost.add(turn, |attempt| {
                let asked_no_model = (attempt.tokens.input, attempt.tokens.output) == (Some(0), Some(0));
                attempt.cost_usd.or(asked_no_model.then_some(0.0))
            });
            used.tokens.add(turn, |attempt| tokens(attempt.tokens));
            used.tool_calls.add(turn, |attempt| attempt.tool_calls.map(f64::from));
            used.steps.add(turn, |attempt| attempt.steps.map(f64::from));
            used.seconds.add(turn, |attempt| attempt.timing.agent_seconds);
        }
        // An episode without a passed turn has 0 such steps, which is known only if its steps are known.
        used.steps_survived = steps_survived(episode).filter(|_| used.steps.turns > 0);
        used.cost.replace(episode.cost_usd, reached);
        used.tokens.replace(whole_tokens(episode), reached);
        used.seconds.replace(episode.timing.agent_seconds, reached);
        used
    }

    /// The cost of the whole episode. It is known only if the cost of every turn is.
    pub(crate) fn whole_cost(&self, reached: u32) -> Option<f64> {
        (reached > 0 && self.cost.turns == reached).then_some(self.cost.sum)
    }
}

/// Input and output tokens of the whole episode: of each the source gives the count, or it is known at every attempt. `None`
/// where the source gives neither, or where one is unknown.
fn whole_tokens(episode: &Episode) -> Option<f64> {
    let given = episode.tokens?;
    let attempts = || episode.turns.iter().flat_map(|turn| &turn.attempts);
    let attempt_sum = |count: fn(Tokens) -> Option<u64>| {
        let sum = attempts().try_fold(0_u64, |sum, attempt| Some(sum.saturating_add(count(attempt.tokens)?)));
        sum.filter(|_| attempts().next().is_some())
    };
    let (input, output) = (given.input, given.output);
    if input.is_none() && output.is_none() {
        return None;
    }
    let input = input.or_else(|| attempt_sum(|tokens| tokens.input))?;
    let output = output.or_else(|| attempt_sum(|tokens| tokens.output))?;
    Some(input as f64 + output as f64)
}

/// The steps of the agent at the turns that count for stamina, over all their attempts.
fn steps_survived(episode: &Episode) -> Option<u32> {
    let survived = episode.stamina();
    let turns = episode.turns.iter().filter(|turn| turn.number <= survived);
    turns.flat_map(|turn| &turn.attempts).try_fold(0_u32, |sum, a| Some(sum.saturating_add(a.steps?)))
}

/// The attempts at the turns of an episode.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeTurns {
    /// The episode.
    pub episode: EpisodeId,
    /// Seconds that the agent took: of the episode, else summed over the attempts for which they are known.
    pub agent_seconds: Option<f64>,
    /// What it used.
    pub used: UsedTotals,
    /// Whether its input tokens are known at every attempt, or the source gives those of the whole episode.
    pub input_is_whole: bool,
    /// The same of its output tokens.
    pub output_is_whole: bool,
    /// The turns that the source describes, in order.
    pub turns: Vec<PlayedTurn>,
}

/// The attempts at one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedTurn {
    /// From 1.
    pub number: u32,
    /// Tests passed at the final attempt.
    pub passed: Option<u32>,
    /// Tests run at the final attempt.
    pub total: Option<u32>,
    /// The verdict of every attempt, and why it ended.
    pub attempts: Vec<(Verdict, Option<EndReason>)>,
}

impl PlayedTurn {
    /// The state of its cell, see [`model::Turn::state`].
    pub fn state(&self) -> TurnState {
        TurnState::from_last(self.attempts.last().map(|(verdict, _)| *verdict), self.attempts.len())
    }
}

/// A turn in the column. No word in it needs an escape.
type Row<T> = (u32, Option<u32>, Option<u32>, Vec<T>);

const VERDICTS: [Verdict; 5] =
    [Verdict::Passed, Verdict::Failed, Verdict::Error, Verdict::Unfinished, Verdict::NotTested];

fn letter(verdict: Verdict) -> &'static str {
    &verdict.as_str()[..1]
}

fn attempt(text: &str) -> Result<(Verdict, Option<EndReason>)> {
    let (word, reason) = text.split_once('/').map_or((text, None), |(word, reason)| (word, Some(reason)));
    let verdict =
        VERDICTS.into_iter().find(|v| letter(*v) == word).ok_or_else(|| no_word("verdict", word))?;
    Ok((verdict, reason.map(end_reason).transpose()?))
}

/// Writes the row of an episode.
pub(crate) fn put(conn: &Connection, id: EpisodeId, episode: &Episode, used: &UsedTotals) -> Result<()> {
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
    let UsedTotals { cost, tokens, tool_calls, steps, steps_survived, seconds: worked } = used;
    conn.prepare_cached(
        "INSERT INTO play (episode, turns, agent_seconds, cost, cost_turns, tokens, tokens_turns, tool_calls,
           tool_calls_turns, steps, steps_turns, seconds, seconds_turns, steps_survived)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?
    .execute(params![
        id,
        json(&rows)?,
        seconds,
        cost.sum,
        cost.turns,
        tokens.sum,
        tokens.turns,
        tool_calls.sum,
        tool_calls.turns,
        steps.sum,
        steps.turns,
        worked.sum,
        worked.turns,
        steps_survived,
    ])?;
    Ok(())
}

/// A condition that holds for episodes of which the tokens of a column are known at every attempt, or given for the whole
/// episode. Attempts are looked at only where not every turn has known input and output.
fn tokens_are_whole(column: &str, key: &str) -> String {
    format!(
        "episode.{column} IS NOT NULL AND (tokens_turns = episode.reached_turns
           OR episode.given_tokens ->> '{key}' IS NOT NULL
           OR NOT EXISTS (SELECT 1 FROM turn JOIN attempt ON attempt.turn = turn.id
             WHERE turn.episode = episode.id AND attempt.{column} IS NULL))"
    )
}

impl Store {
    /// The attempts at the turns of each episode of a run, in the order of [`Store::episodes`].
    pub fn episode_turns(&self, run: RunId) -> Result<Vec<EpisodeTurns>> {
        self.read(|conn| {
            let mut find = conn.prepare_cached(&format!(
                "SELECT play.episode, play.turns, play.agent_seconds, cost, cost_turns, tokens, tokens_turns,
                   play.tool_calls, tool_calls_turns, steps, steps_turns, seconds, seconds_turns, steps_survived,
                   {}, {} FROM episode
                 JOIN play ON play.episode = episode.id WHERE episode.run = ?1 AND {VALID_EPISODE} ORDER BY episode.slug",
                tokens_are_whole("input_tokens", "input"),
                tokens_are_whole("output_tokens", "output"),
            ))?;
            find.query_and_then([run], |row| {
                let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
                let rows: Vec<Row<&str>> =
                    serde_json::from_str(text).map_err(|e| StoreError::Damaged(e.to_string()))?;
                let turns = rows.into_iter().map(|(number, passed, total, attempts)| {
                    let attempts = attempts.into_iter().map(attempt).collect::<Result<_>>()?;
                    Ok(PlayedTurn { number, passed, total, attempts })
                });
                let known = |column: usize| -> rusqlite::Result<KnownSum> {
                    Ok(KnownSum { sum: row.get(column)?, turns: row.get(column + 1)? })
                };
                Ok(EpisodeTurns {
                    episode: row.get(0)?,
                    agent_seconds: row.get(2)?,
                    used: UsedTotals {
                        cost: known(3)?,
                        tokens: known(5)?,
                        tool_calls: known(7)?,
                        steps: known(9)?,
                        seconds: known(11)?,
                        steps_survived: row.get(13)?,
                    },
                    input_is_whole: row.get(14)?,
                    output_is_whole: row.get(15)?,
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
    fn every_verdict_and_reason_round_trips() {
        for verdict in VERDICTS {
            assert_eq!(attempt(letter(verdict)).unwrap(), (verdict, None));
            for reason in EndReason::ALL {
                let text = format!("{}/{}", letter(verdict), reason.as_str());
                assert_eq!(attempt(&text).unwrap(), (verdict, Some(*reason)));
            }
        }
        assert!(attempt("x").is_err() && attempt("f/unheard_of").is_err());
    }

    /// Turns with one attempt each, of these input and output tokens.
    fn episode(
        episode_tokens: (Option<u64>, Option<u64>),
        attempts: &[(Option<u64>, Option<u64>)],
    ) -> Episode {
        let tokens = |(input, output)| Tokens { input, output, cached: None };
        let mut episode = Episode::new("a", "a");
        episode.tokens = Some(tokens(episode_tokens)).filter(|tokens| !tokens.is_unknown());
        for (number, used) in (1..).zip(attempts) {
            let mut attempt = Attempt::new(1, Verdict::Passed);
            attempt.tokens = tokens(*used);
            let mut turn = Turn::new(number);
            turn.attempts = vec![attempt];
            episode.turns.push(turn);
        }
        episode
    }

    #[test]
    fn a_count_that_the_source_does_not_give_for_the_episode_is_that_of_its_attempts() {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/results", "results", false).unwrap();
        let benchmark = model::Benchmark { key: "b".into(), name: "B".into() };
        store.put_runs(source, "", "table", &[model::Run::unknown("r", benchmark)]).unwrap();
        let put = |stamp: u64, episode: Episode| {
            let episodes = [("r".to_owned(), episode)];
            let part = crate::ParsedPart {
                place: "",
                key: "1",
                stamp,
                episodes: &episodes,
                warnings: &[],
                files_read: 1,
            };
            store.put_part(source, &part).unwrap();
            let run = store.list_runs(&crate::RunFilter::default()).unwrap().rows[0].1.id;
            let entry = store.episodes(run).unwrap().remove(0);
            let played = store.episode_turns(run).unwrap().remove(0);
            let whole = (played.input_is_whole, played.output_is_whole);
            ((entry.tokens.input, entry.tokens.output), played.used.tokens, whole)
        };
        let known = |sum, turns| KnownSum { sum, turns };
        let out = [(None, Some(50)), (None, Some(60))];
        let counts = (Some(1000), Some(110));
        assert_eq!(put(1, episode((Some(1000), None), &out)), (counts, known(1110.0, 2), (true, true)));
        let input = [(Some(400), None), (Some(600), None)];
        assert_eq!(put(2, episode((None, Some(110)), &input)), (counts, known(1110.0, 2), (true, true)));
        // An attempt says nothing: the sum is of a part, and no turn is known in full.
        let part = [(None, Some(50)), (None, None)];
        let lower = (Some(1000), Some(50));
        assert_eq!(put(3, episode((Some(1000), None), &part)), (lower, known(0.0, 0), (true, false)));
        // What the source gives wins.
        assert_eq!(put(4, episode(counts, &[(Some(1), Some(2))])), (counts, known(1110.0, 1), (true, true)));
    }
}
