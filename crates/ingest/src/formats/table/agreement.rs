//! What rows say of one episode or turn must be the same: which of their values are others than the first.

use model::{Episode, Request, Tokens, Turn};

use crate::identity;
use crate::readers::clock;
use crate::readers::text::first_title;

use super::cell::Cell;
use super::columns::Field;
use super::row::Row;
use super::row_values::{TEXT_CAP, TITLE_CAP, Taker};
use super::row_warnings::RowAction;

/// Amounts that differ by a smaller share are the same: sums of decimals are rounded.
const ROUNDING: f64 = 1e-9;

/// The counts of tokens that a row says of its whole episode, as they stand there.
pub(super) fn episode_tokens(row: &Row<'_>) -> Tokens {
    let count_of = |field| row.cell(field).tokens(row.decimal_comma());
    Tokens {
        input: count_of(Field::EpisodeTokensIn),
        cached: count_of(Field::EpisodeTokensCached),
        output: count_of(Field::EpisodeTokensOut),
    }
}

/// The columns about an episode in which a row says another thing than what is known of it, each with what is known, as it is
/// shown. `tokens` are those that were taken, as they stood in their row. Planned turns and the end are not among them.
pub(super) fn other_values(episode: &Episode, tokens: Tokens, row: &Row<'_>) -> Vec<(Field, String)> {
    let mut other = Vec::new();
    let texts = [
        (Field::ScenarioTitle, &episode.title),
        (Field::EpisodeId, &episode.identity),
        (Field::EpisodeInvalid, &episode.invalid),
    ];
    for (field, known) in texts {
        let (Some(known), Some(new)) = (known, row.cell(field).text()) else { continue };
        // Ids of others are not taken.
        let is_taken = field != Field::EpisodeId || identity::is_own(&new);
        if is_taken && !is_same_text(known, &new) {
            other.push((field, Cell::Text(known).shown()));
        }
    }
    let named = episode_tokens(row);
    let counts = [
        (Field::EpisodeTokensIn, tokens.input, named.input),
        (Field::EpisodeTokensCached, tokens.cached, named.cached),
        (Field::EpisodeTokensOut, tokens.output, named.output),
    ];
    for (field, known, new) in counts {
        if let (Some(known), Some(new)) = (known, new)
            && known != new
        {
            other.push((field, known.to_string()));
        }
    }
    let timing = &episode.timing;
    let amounts = [
        (Field::EpisodeCostUsd, episode.cost_usd),
        (Field::EpisodeAgentSeconds, timing.agent_seconds),
        (Field::EpisodeTestSeconds, timing.test_seconds),
    ];
    for (field, known) in amounts {
        if let (Some(known), Some(new)) = (known, row.cell(field).amount(row.decimal_comma()))
            && (known - new).abs() > ROUNDING * known.max(new)
        {
            other.push((field, known.to_string()));
        }
    }
    let times =
        [(Field::EpisodeStartedAt, &timing.started_at), (Field::EpisodeFinishedAt, &timing.finished_at)];
    for (field, known) in times {
        let (Some(known), Some(new)) = (known, row.cell(field).time()) else { continue };
        // One time is written in many ways.
        if *known != new && clock::micros(known) != clock::micros(&new) {
            other.push((field, Cell::Text(known).shown()));
        }
    }
    other
}

/// Says where a row has another title or request of its turn than an earlier one.
pub(super) fn turn_agrees(turn: &Turn, taker: &mut Taker<'_, '_>) {
    let row = taker.row;
    let other_title = match (&turn.title, row.cell(Field::Title).text()) {
        (Some(known), Some(new)) if !is_same_text(known, &new) && !is_made_of_request(turn) => Some(known),
        _ => None,
    };
    if let Some(known) = other_title {
        warn_of_turn(turn.number, (Field::Title, known.as_str()), taker);
    }
    let other_request = match (&turn.request, row.cell(Field::Request).text()) {
        (Some(Request::Text(known)), Some(new)) if !is_same_text(known, &new) => Some(known),
        (Some(Request::File(known)), Some(new))
            if taker.file(&new).as_deref() != Some(known.path.as_str()) =>
        {
            Some(&known.path)
        }
        _ => None,
    };
    if let Some(known) = other_request {
        warn_of_turn(turn.number, (Field::Request, known.as_str()), taker);
    }
}

fn warn_of_turn(turn: u32, (field, known): (Field, &str), taker: &mut Taker<'_, '_>) {
    let message = format!(
        "says {} “{}” of turn {turn}, of which an earlier row says “{}”. The first is taken.",
        field.name(),
        taker.row.cell(field).shown(),
        Cell::Text(known).shown()
    );
    taker.warn("table.contradiction", RowAction::Differently, &message);
}

/// Whether no row has the title of a turn.
fn is_made_of_request(turn: &Turn) -> bool {
    matches!(&turn.request, Some(Request::Text(text)) if first_title(text, TITLE_CAP) == turn.title)
}

/// Whether a text is the known one, which may be cut.
fn is_same_text(known: &str, new: &str) -> bool {
    known == new || new.chars().take(TEXT_CAP).eq(known.chars())
}
