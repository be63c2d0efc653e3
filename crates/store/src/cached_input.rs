//! One meaning of input tokens for all runs of one harness, version, model and format.
//!
//! An attempt with more cached than input tokens proves that the harness counts them separately. They are then added at
//! every attempt of these runs, so that a job in two sources has the same counts as in one. A run without a known harness
//! is decided alone. The store decides when all parts are written, and again after a change or when a source is closed.

use std::collections::BTreeSet;

use model::CachedInput;
use rusqlite::{Connection, params};

use crate::{EpisodeId, Result, RunId, Store, rows};

/// The largest plausible count of tokens. Sums of larger counts could exceed the range of a column.
const MOST_TOKENS: i64 = 1 << 60;

/// The runs of open sources with an attempt that has this word. The word is a literal so that SQLite uses its partial index.
fn runs_with(conn: &Connection, basis: CachedInput) -> Result<BTreeSet<RunId>> {
    let mut find = conn.prepare_cached(&format!(
        "SELECT DISTINCT run.id FROM attempt
           JOIN turn ON turn.id = attempt.turn
           JOIN episode ON episode.id = turn.episode
           JOIN run ON run.id = episode.run
           JOIN source ON source.id = run.source AND source.closed_at IS NULL
         WHERE attempt.cached_input = '{basis}'
         UNION
         SELECT run.id FROM episode JOIN run ON run.id = episode.run
           JOIN source ON source.id = run.source AND source.closed_at IS NULL
         WHERE given_tokens IS NOT NULL AND given_tokens ->> 'cached_input' = '{basis}'",
        basis = basis.as_str()
    ))?;
    Ok(find.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

/// These runs, and all runs of the same harness, version, model and format in open sources.
fn with_related_runs(conn: &Connection, runs: &BTreeSet<RunId>) -> Result<BTreeSet<RunId>> {
    let mut find = conn.prepare_cached(
        "SELECT other.id FROM run JOIN run AS other ON other.format = run.format AND other.harness = run.harness
             AND other.harness_version IS run.harness_version AND other.model IS run.model
           JOIN source ON source.id = other.source AND source.closed_at IS NULL
         WHERE run.id = ?1",
    )?;
    let mut all = runs.clone();
    for run in runs {
        let like = find.query_map([run], |row| row.get(0))?;
        all.extend(like.collect::<rusqlite::Result<Vec<RunId>>>()?);
    }
    Ok(all)
}

/// Changes the attempts of a run from `from` to `to`. Returns the episodes of the changed attempts.
fn change(
    conn: &Connection,
    run: RunId,
    previous: CachedInput,
    next: CachedInput,
) -> Result<BTreeSet<EpisodeId>> {
    let sign = if next == CachedInput::AddedByRun { 1 } else { -1 };
    let mut find = conn.prepare_cached(
        "SELECT attempt.id, episode.id FROM episode
           JOIN turn ON turn.episode = episode.id
           JOIN attempt ON attempt.turn = turn.id
         WHERE episode.run = ?1 AND attempt.cached_input = ?2
           AND attempt.input_tokens BETWEEN 0 AND ?3 AND attempt.cached_tokens BETWEEN 1 AND ?3",
    )?;
    let found: Vec<(i64, EpisodeId)> = find
        .query_map(params![run, previous.as_str(), MOST_TOKENS], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut changed = BTreeSet::new();
    for (attempt, episode) in found {
        conn.prepare_cached(
            "UPDATE attempt SET cached_input = ?2, input_tokens = input_tokens + ?3 * cached_tokens WHERE id = ?1",
        )?
        .execute((attempt, next.as_str(), sign))?;
        changed.insert(episode);
    }
    change_given(conn, run, previous, next, sign)?.into_iter().for_each(|episode| {
        changed.insert(episode);
    });
    Ok(changed)
}

/// The same, for tokens that the source gives for whole episodes.
fn change_given(
    conn: &Connection,
    run: RunId,
    from: CachedInput,
    to: CachedInput,
    sign: i64,
) -> Result<Vec<EpisodeId>> {
    let mut find = conn.prepare_cached(
        "SELECT id FROM episode
         WHERE run = ?1 AND given_tokens ->> 'cached_input' = ?2
           AND given_tokens ->> 'input' BETWEEN 0 AND ?3 AND given_tokens ->> 'cached' BETWEEN 1 AND ?3",
    )?;
    let found: Vec<EpisodeId> = find
        .query_map(params![run, from.as_str(), MOST_TOKENS], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for episode in &found {
        conn.prepare_cached(
            "UPDATE episode SET given_tokens = json_set(given_tokens, '$.cached_input', ?2,
               '$.input', given_tokens ->> 'input' + ?3 * (given_tokens ->> 'cached')) WHERE id = ?1",
        )?
        .execute((episode, to.as_str(), sign))?;
        conn.prepare_cached("UPDATE episode SET input_tokens = given_tokens ->> 'input' WHERE id = ?1")?
            .execute([episode])?;
    }
    Ok(found)
}

/// Computes the sums of an episode again: its input, unless its source gives that for the whole episode, and input and output
/// of the turns of which both are known.
fn sum(conn: &Connection, episode: EpisodeId) -> Result<()> {
    conn.prepare_cached(
        "UPDATE episode SET input_tokens = (SELECT CAST(total(attempt.input_tokens) AS INTEGER)
             FROM turn JOIN attempt ON attempt.turn = turn.id WHERE turn.episode = episode.id)
         WHERE id = ?1 AND given_tokens ->> 'input' IS NULL",
    )?
    .execute([episode])?;
    // Where every turn that was reached is known, the sum is that of the episode, which its source may give.
    let whole = conn
        .prepare_cached(
            "UPDATE play SET tokens = CAST(episode.input_tokens AS REAL) + episode.output_tokens FROM episode
             WHERE play.episode = ?1 AND episode.id = ?1 AND play.tokens_turns = episode.reached_turns
               AND episode.input_tokens IS NOT NULL AND episode.output_tokens IS NOT NULL",
        )?
        .execute([episode])?;
    if whole > 0 {
        return Ok(());
    }
    conn.prepare_cached(
        "UPDATE play SET tokens = (SELECT total(of_turn) FROM (
             SELECT total(CAST(attempt.input_tokens AS REAL) + attempt.output_tokens) AS of_turn
             FROM turn JOIN attempt ON attempt.turn = turn.id WHERE turn.episode = play.episode
             GROUP BY turn.id HAVING count(CAST(attempt.input_tokens AS REAL) + attempt.output_tokens) = count(*)))
         WHERE play.episode = ?1",
    )?
    .execute([episode])?;
    Ok(())
}

/// Sets the meaning of input tokens of every attempt of open sources, from what all their attempts prove.
pub(crate) fn settle(conn: &Connection) -> Result<()> {
    let proven = with_related_runs(conn, &runs_with(conn, CachedInput::Added)?)?;
    let changed_before = runs_with(conn, CachedInput::AddedByRun)?;
    for run in changed_before.union(&proven) {
        let (assumed, by_run) = (CachedInput::Assumed, CachedInput::AddedByRun);
        let changed = if proven.contains(run) {
            change(conn, *run, assumed, by_run)?
        } else {
            change(conn, *run, by_run, assumed)?
        };
        if !changed.is_empty() {
            changed.into_iter().try_for_each(|episode| sum(conn, episode))?;
            rows::touch_and_sum(conn, *run)?;
        }
    }
    Ok(())
}

impl Store {
    /// Sets one meaning of input tokens for all runs of one harness, version, model and format. Call it after the last part of
    /// a source is written.
    pub fn settle_cached_input(&self) -> Result<()> {
        self.write(|write| settle(&write.tx))
    }
}
