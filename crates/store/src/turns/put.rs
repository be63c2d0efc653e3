//! Turns and attempts as they are written.

use model::{Attempt, EndReason, Request, Turn};

use super::{Detail, described, letter};
use crate::insert::{Destination, insert};
use crate::limits::{MESSAGE_BYTES, REQUEST_BYTES, cut};
use crate::values::{artifacts_json, extra_json, int, json};
use crate::write::Write;
use crate::{EpisodeId, Result, grader};

/// Turns that are written together, with their attempts. What an attempt says of its tests is in memory twice meanwhile.
const TOGETHER: usize = 16;

const TURNS: Destination = Destination {
    table: "turn",
    columns: "episode, number, title, state, passed, total, attempts, request, request_file, artifacts, extra",
};

const ATTEMPTS: Destination = Destination {
    table: "attempt",
    columns: "turn, number, verdict, end_reason, passed, total, reward, input_tokens, cached_tokens, output_tokens, cost_usd,
      tool_calls, started_at, finished_at, agent_seconds, test_seconds, exception_type, exception_message, artifacts, extra, suite,
      outcomes, details, failing, counting, steps, cached_input, grader_places",
};

/// A turn, and its request as it is kept.
struct KeptTurn<'a> {
    turn: &'a Turn,
    request: Option<i64>,
    request_file: Option<String>,
}

/// An attempt at a turn, and its tests as they are kept.
struct KeptAttempt<'a> {
    turn: i64,
    attempt: &'a Attempt,
    suite: Option<i64>,
    outcomes: Option<Vec<u8>>,
    details: Option<String>,
}

/// Writes the turns of an episode with their attempts.
pub(crate) fn put(write: &mut Write<'_>, episode: EpisodeId, turns: &[Turn]) -> Result<()> {
    for turns in turns.chunks(TOGETHER) {
        let rows = turns.iter().map(|turn| turn_row(write, turn)).collect::<Result<Vec<_>>>()?;
        let ids = insert(&write.tx, &TURNS, &rows, |row, values| {
            let KeptTurn { turn, request, request_file } = row;
            let last = turn.attempts.last();
            let mut state = [0; 4];
            values.add(rusqlite::params![
                episode,
                turn.number,
                turn.title,
                &*turn.state().letter().encode_utf8(&mut state),
                last.and_then(|attempt| attempt.passed),
                last.and_then(|attempt| attempt.total),
                int(turn.attempts.len() as u64),
                request,
                request_file,
                artifacts_json(&turn.artifacts)?,
                extra_json(&turn.extra)?,
            ])
        })?;
        let mut attempts = Vec::new();
        for (turn, id) in turns.iter().zip(ids) {
            for attempt in &turn.attempts {
                attempts.push(attempt_row(write, id, attempt)?);
            }
        }
        put_attempts(write, &attempts)?;
    }
    Ok(())
}

fn turn_row<'a>(write: &mut Write<'_>, turn: &'a Turn) -> Result<KeptTurn<'a>> {
    let (request, request_file) = match &turn.request {
        None => (None, None),
        Some(Request::Text(text)) => {
            let row = write.interned.request(&write.tx, &cut(text, REQUEST_BYTES))?;
            (Some(row), None)
        }
        Some(Request::File(artifact)) => (None, artifacts_json(std::slice::from_ref(artifact))?),
    };
    Ok(KeptTurn { turn, request, request_file })
}

fn attempt_row<'a>(write: &mut Write<'_>, turn: i64, attempt: &'a Attempt) -> Result<KeptAttempt<'a>> {
    let tests = &attempt.tests;
    let mut row = KeptAttempt { turn, attempt, suite: None, outcomes: None, details: None };
    if !tests.is_empty() {
        let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
        row.suite = Some(write.interned.suite(&write.tx, &ids)?);
        row.outcomes = Some(tests.iter().map(|test| letter(test.outcome)).collect());
        let known: Vec<Detail<'_>> =
            tests.iter().enumerate().filter_map(|(at, test)| Detail::from_test(at, test)).collect();
        if !known.is_empty() {
            row.details = Some(json(&known)?);
        }
    }
    Ok(row)
}

fn put_attempts(write: &Write<'_>, rows: &[KeptAttempt<'_>]) -> Result<()> {
    insert(&write.tx, &ATTEMPTS, rows, |row, values| {
        let KeptAttempt { turn, attempt, suite, outcomes, details } = row;
        let exception = attempt.exception.as_ref();
        values.add(rusqlite::params![
            turn,
            attempt.number,
            attempt.verdict.as_str(),
            attempt.end_reason.map(EndReason::as_str),
            attempt.passed,
            attempt.total,
            attempt.reward,
            attempt.tokens.input.map(int),
            attempt.tokens.cached.map(int),
            attempt.tokens.output.map(int),
            attempt.cost_usd,
            attempt.tool_calls,
            attempt.timing.started_at,
            attempt.timing.finished_at,
            attempt.timing.agent_seconds,
            attempt.timing.test_seconds,
            exception.map(|(kind, _)| cut(kind, MESSAGE_BYTES)),
            exception.map(|(_, message)| cut(message, MESSAGE_BYTES)),
            artifacts_json(&attempt.artifacts)?,
            extra_json(&attempt.extra)?,
            suite,
            outcomes,
            details,
            described(attempt),
            attempt.counting.as_str(),
            attempt.steps,
            attempt.cached_input.as_str(),
            attempt.grader_places.as_ref().map(grader::words),
        ])
    })?;
    Ok(())
}
