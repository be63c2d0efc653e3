//! Turns and attempts as they are written.

use model::{Attempt, EndReason, Episode, Request, Turn};
use rusqlite::types::ToSqlOutput;

use super::{Detail, letter};
use crate::insert::{Destination, MOST_ROWS, RowValues, insert, or_null, text};
use crate::limits::{MESSAGE_BYTES, REQUEST_BYTES, cut};
use crate::values::{artifacts_json, extra_json, int, json};
use crate::write::Write;
use crate::{EpisodeId, Result, grader};

const TURNS: Destination<11> = Destination {
    table: "turn",
    columns: [
        "episode",
        "number",
        "title",
        "state",
        "passed",
        "total",
        "attempts",
        "request",
        "request_file",
        "artifacts",
        "extra",
    ],
};

const ATTEMPTS: Destination<28> = Destination {
    table: "attempt",
    columns: [
        "turn",
        "number",
        "verdict",
        "end_reason",
        "passed",
        "total",
        "reward",
        "input_tokens",
        "cached_tokens",
        "output_tokens",
        "cost_usd",
        "tool_calls",
        "started_at",
        "finished_at",
        "agent_seconds",
        "test_seconds",
        "exception_type",
        "exception_message",
        "artifacts",
        "extra",
        "suite",
        "outcomes",
        "details",
        "failing",
        "counting",
        "steps",
        "cached_input",
        "grader_places",
    ],
};

/// Writes the turns of episodes with their attempts. What the attempts of about as many turns as a statement takes say of their
/// tests is in memory twice meanwhile.
pub(crate) fn put(write: &mut Write<'_>, episodes: &[(EpisodeId, &Episode)]) -> Result<()> {
    let mut turns =
        episodes.iter().flat_map(|(id, episode)| episode.turns.iter().map(move |turn| (*id, turn)));
    let mut attempts = Vec::new();
    loop {
        let together: Vec<(EpisodeId, &Turn)> = turns.by_ref().take(MOST_ROWS).collect();
        if together.is_empty() {
            break;
        }
        let rows = together
            .iter()
            .map(|(episode, turn)| turn_row(write, *episode, turn))
            .collect::<Result<Vec<_>>>()?;
        let ids = insert(&write.tx, &TURNS, &rows)?;
        for ((_, turn), id) in together.iter().zip(ids) {
            for attempt in &turn.attempts {
                attempts.push(attempt_row(write, id, attempt)?);
            }
        }
        // Whole statements only: the others wait for those of the next turns.
        let whole = attempts.len() - attempts.len() % MOST_ROWS;
        insert(&write.tx, &ATTEMPTS, &attempts[..whole])?;
        attempts.drain(..whole);
    }
    insert(&write.tx, &ATTEMPTS, &attempts)?;
    Ok(())
}

fn turn_row<'a>(write: &mut Write<'_>, episode: EpisodeId, turn: &'a Turn) -> Result<RowValues<'a, 11>> {
    let (request, request_file) = match &turn.request {
        None => (None, None),
        Some(Request::Text(text)) => {
            let row = write.interned.request(&write.tx, &cut(text, REQUEST_BYTES))?;
            (Some(row), None)
        }
        Some(Request::File(artifact)) => (None, artifacts_json(std::slice::from_ref(artifact))?),
    };
    let last = turn.attempts.last();
    Ok([
        episode.into(),
        turn.number.into(),
        or_null(turn.title.as_deref()),
        turn.state().letter().to_string().into(),
        or_null(last.and_then(|attempt| attempt.passed)),
        or_null(last.and_then(|attempt| attempt.total)),
        int(turn.attempts.len() as u64).into(),
        or_null(request),
        or_null(request_file),
        or_null(artifacts_json(&turn.artifacts)?),
        or_null(extra_json(&turn.extra)?),
    ])
}

fn attempt_row<'a>(write: &mut Write<'_>, turn: i64, attempt: &'a Attempt) -> Result<RowValues<'a, 28>> {
    let (suite, outcomes, details) = attempt_tests(write, attempt)?;
    let exception = attempt.exception.as_ref().map(|(kind, message)| (kind, message));
    let (exception_type, exception_message) = exception.unzip();
    let message = |message: &'a String| -> ToSqlOutput<'a> { text(cut(message, MESSAGE_BYTES)) };
    Ok([
        turn.into(),
        attempt.number.into(),
        attempt.verdict.as_str().into(),
        or_null(attempt.end_reason.map(EndReason::as_str)),
        or_null(attempt.passed),
        or_null(attempt.total),
        or_null(attempt.reward),
        or_null(attempt.tokens.input.map(int)),
        or_null(attempt.tokens.cached.map(int)),
        or_null(attempt.tokens.output.map(int)),
        or_null(attempt.cost_usd),
        or_null(attempt.tool_calls),
        or_null(attempt.timing.started_at.as_deref()),
        or_null(attempt.timing.finished_at.as_deref()),
        or_null(attempt.timing.agent_seconds),
        or_null(attempt.timing.test_seconds),
        or_null(exception_type.map(message)),
        or_null(exception_message.map(message)),
        or_null(artifacts_json(&attempt.artifacts)?),
        or_null(extra_json(&attempt.extra)?),
        or_null(suite),
        or_null(outcomes),
        or_null(details),
        attempt.described_failing().into(),
        attempt.counting.as_str().into(),
        or_null(attempt.steps),
        attempt.cached_input.as_str().into(),
        or_null(attempt.grader_places.as_ref().map(grader::words)),
    ])
}

/// The tests of an attempt as they are kept: the row of their ids, a letter for each, and JSON of what else is known of some.
type KeptTests = (Option<i64>, Option<Vec<u8>>, Option<String>);

fn attempt_tests(write: &mut Write<'_>, attempt: &Attempt) -> Result<KeptTests> {
    let tests = &attempt.tests;
    if tests.is_empty() {
        return Ok((None, None, None));
    }
    let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
    let suite = write.interned.suite(&write.tx, &ids)?;
    let outcomes = tests.iter().map(|test| letter(test.outcome)).collect();
    let known: Vec<Detail<'_>> =
        tests.iter().enumerate().filter_map(|(index, test)| Detail::from_test(index, test)).collect();
    let details = if known.is_empty() { None } else { Some(json(&known)?) };
    Ok((Some(suite), Some(outcomes), details))
}
