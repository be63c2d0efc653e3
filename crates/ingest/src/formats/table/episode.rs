//! Episodes from their rows.

use std::collections::HashMap;

use model::{Artifact, ArtifactKind, Attempt, EndReason, Episode, Request, Tokens, Turn, Verdict};

use crate::identity;
use crate::readers::text::first_title;

use super::agreement::{episode_tokens, other_values, turn_agrees};
use super::attempt::{read_attempt, text_bytes};
use super::cell::Cell;
use super::columns::Field;
use super::files::{RowPosition, Table};
use super::mapping::ATTEMPT;
use super::row::{Row, odd_span};
use super::row_values::{Place, TITLE_CAP, Taker};
use super::row_warnings::{RowAction, RowWarnings};

/// Highest number of a turn, and of an attempt at one.
const NUMBERS_CAP: u32 = 10_000;
/// Bytes of an episode that are kept: its attempts, each counted as [`ATTEMPT`], and their texts.
const EPISODE_CAP: usize = 64 << 20;
/// What the key of an episode has that began from what another one had left: Harbor's fork has it in the names of such trials.
pub const FORKED: &str = "__mr-";

/// An episode while its rows come.
pub(super) struct EpisodeBuilder {
    pub(super) run: String,
    pub(super) episode: Episode,
    /// Its first row, and those of its attempts by turn and attempt.
    first_row: RowPosition,
    rows: HashMap<(u32, u32), RowPosition>,
    /// Where a turn stands: until all rows were there, turns and attempts stand in the order of their rows.
    places: HashMap<u32, usize>,
    /// The tokens that were taken for the whole episode, as they stand in their row.
    stated_tokens: Tokens,
    /// What counts against [`EPISODE_CAP`].
    bytes: usize,
}

impl EpisodeBuilder {
    /// An episode from its first row.
    pub(super) fn new(
        run: String,
        scenario: String,
        row: &Row<'_>,
        place: &Place<'_>,
        warnings: &mut RowWarnings,
    ) -> Self {
        let mut taker = Taker { row, place, run: &run, warnings };
        let repeat = taker.repeat();
        let forked = match taker.take(Field::FromAnother, |cell, _| cell.flag()) {
            Some(true) => FORKED,
            _ => "",
        };
        let mut episode = Episode::new(format!("{scenario}#{}{forked}", row.repeat()), scenario);
        episode.repeat = repeat;
        Self {
            run,
            episode,
            first_row: place.table.row(row.number()),
            rows: HashMap::new(),
            places: HashMap::new(),
            stated_tokens: Tokens::default(),
            bytes: 0,
        }
    }

    /// Takes what a row says of the whole episode: of each column the first value that is known.
    fn describe_episode(episode: &mut Episode, taker: &mut Taker<'_, '_>) {
        fn first<T>(known: &mut Option<T>, taken: impl FnOnce() -> Option<T>) {
            if known.is_none() {
                *known = taken();
            }
        }
        first(&mut episode.title, || taker.text(Field::ScenarioTitle));
        first(&mut episode.planned_turns, || taker.count(Field::PlannedTurns));
        first(&mut episode.end_reason, || taker.take(Field::EpisodeEnd, |cell, _| cell.end_reason()));
        let mut is_flagged = |field| taker.take(field, |cell, _| cell.flag()).unwrap_or(false);
        episode.attempts_left |= is_flagged(Field::AttemptsLeft);
        episode.unrecognised |= is_flagged(Field::Unrecognized);
        // Others number their episodes: only an id that Stamina Lab made differs from those of all other tables.
        first(&mut episode.identity, || taker.text(Field::EpisodeId).filter(|id| identity::is_own(id)));
        first(&mut episode.invalid, || taker.text(Field::EpisodeInvalid));
        first(&mut episode.tokens, || {
            let tokens =
                taker.tokens(Field::EpisodeTokensIn, Field::EpisodeTokensCached, Field::EpisodeTokensOut);
            if tokens.is_unknown() {
                return None;
            }
            episode.cached_input = taker.cached_input(&tokens);
            Some(tokens.with_cached_included())
        });
        first(&mut episode.cost_usd, || taker.amount(Field::EpisodeCostUsd));
        first(&mut episode.timing.agent_seconds, || taker.seconds(Field::EpisodeAgentSeconds));
        first(&mut episode.timing.test_seconds, || taker.seconds(Field::EpisodeTestSeconds));
        first(&mut episode.timing.started_at, || taker.time(Field::EpisodeStartedAt));
        first(&mut episode.timing.finished_at, || taker.time(Field::EpisodeFinishedAt));
    }

    /// Takes a row of it.
    pub(super) fn add(&mut self, row: &Row<'_>, place: &Place<'_>, warnings: &mut RowWarnings) {
        let mut taker = Taker { row, place, run: &self.run, warnings };
        self.episode_agrees(&mut taker);
        Self::describe_episode(&mut self.episode, &mut taker);
        if self.stated_tokens.is_unknown() && self.episode.tokens.is_some() {
            self.stated_tokens = episode_tokens(row);
        }
        if row.cell(Field::Turn).is_unknown() {
            if !row.cell(Field::Attempt).is_unknown() || !row.cell(Field::Passed).is_unknown() {
                taker.warn(
                    "table.no_number",
                    RowAction::Skipped,
                    "has an attempt and no turn. It is left out.",
                );
            }
            return;
        }
        let Some(turn) = taker.count(Field::Turn) else { return };
        let attempt = taker.count(Field::Attempt);
        if turn > NUMBERS_CAP || attempt.is_some_and(|n| n > NUMBERS_CAP) {
            return taker.warn(
                "turns.out_of_range",
                RowAction::Skipped,
                "has a turn or an attempt beyond 10,000. It is left out.",
            );
        }
        if self.bytes > EPISODE_CAP {
            return taker.warn(
                "table.too_many_attempts",
                RowAction::Skipped,
                "is beyond 64 MB of one episode, about 90,000 attempts without texts. It is left out.",
            );
        }
        let Some(number) = attempt else {
            if !row.cell(Field::Passed).is_unknown() {
                taker.warn("table.no_number", RowAction::Skipped, "has no attempt. It is left out.");
                return;
            }
            let turn = turn_entry(&mut self.episode.turns, &mut self.places, turn);
            self.bytes += describe(turn, &mut taker);
            return;
        };
        if let Some(first) = self.rows.insert((turn, number), place.table.row(row.number())) {
            self.rows.insert((turn, number), first);
            let message = format!(
                "is attempt {number} at turn {turn} of scenario “{}”, as is {}. The first counts; a column repeat would tell them apart.",
                Cell::Text(&self.episode.scenario).shown(),
                place.table.name_of(first)
            );
            return taker.warn("table.duplicate", RowAction::Skipped, &message);
        }
        let new_attempt = read_attempt(number, &mut taker);
        let turn = turn_entry(&mut self.episode.turns, &mut self.places, turn);
        self.bytes += ATTEMPT + text_bytes(&new_attempt) + describe(turn, &mut taker);
        turn.attempts.push(new_attempt);
    }

    /// The columns about the episode must be the same in every row.
    fn episode_agrees(&self, taker: &mut Taker<'_, '_>) {
        let table = taker.place.table;
        let start = || table.name_of(self.first_row);
        let planned = taker.row.cell(Field::PlannedTurns).count(taker.row.decimal_comma());
        if let (Some(known), Some(new)) = (self.episode.planned_turns, planned)
            && u64::from(known) != new
        {
            let message = format!(
                "says planned_turns {new} of an episode that begins in {} and had {known}. The first is taken.",
                start()
            );
            taker.warn("table.contradiction", RowAction::Differently, &message);
        }
        let end = taker.row.cell(Field::EpisodeEnd).end_reason();
        if let (Some(known), Some(new)) = (self.episode.end_reason, end)
            && known != new
        {
            let message = format!(
                "says episode_end_reason {} of an episode that begins in {} and had {}. The first is taken.",
                new.as_str(),
                start(),
                known.as_str()
            );
            taker.warn("table.contradiction", RowAction::Differently, &message);
        }
        for (field, known) in other_values(&self.episode, self.stated_tokens, taker.row) {
            let message = format!(
                "says {} “{}” of an episode that begins in {} and had “{known}”. The first is taken.",
                field.name(),
                taker.row.cell(field).shown(),
                start()
            );
            taker.warn("table.contradiction", RowAction::Differently, &message);
        }
    }

    /// The episode, when all its rows were there, and what does not fit in it.
    pub(super) fn finish(mut self, tables: &[Table], warnings: &mut RowWarnings) -> (String, Episode) {
        let scenario = Cell::Text(&self.episode.scenario).shown();
        let subject = format!("Scenario “{scenario}” of run “{}”", Cell::Text(&self.run).shown());
        let first_row = self.first_row;
        let run = self.run.clone();
        self.episode.turns.sort_by_key(|turn| turn.number);
        for turn in &mut self.episode.turns {
            turn.attempts.sort_by_key(|attempt| attempt.number);
        }
        let mut warn = |row: RowPosition, code: &'static str, action: RowAction, message: String| {
            warnings.add_for_run(&run, row.path(tables), row.number(), code, action, &message);
        };
        if self.episode.turns.first().is_some_and(|turn| turn.number == 0) {
            warn(
                first_row,
                "turns.from_zero",
                RowAction::Repaired,
                format!("begins an episode whose turns count from 0. {subject} is shown from 1."),
            );
            self.episode.turns.iter_mut().for_each(|turn| turn.number += 1);
            self.rows =
                self.rows.into_iter().map(|((turn, attempt), row)| ((turn + 1, attempt), row)).collect();
        }
        let from_zero = |turn: &Turn| turn.attempts.first().is_some_and(|attempt| attempt.number == 0);
        if self.episode.turns.iter().any(from_zero) {
            warn(
                first_row,
                "turns.from_zero",
                RowAction::Repaired,
                format!("begins an episode whose attempts count from 0. {subject} is shown from 1."),
            );
            self.episode
                .turns
                .iter_mut()
                .flat_map(|turn| &mut turn.attempts)
                .for_each(|attempt| attempt.number += 1);
            self.rows =
                self.rows.into_iter().map(|((turn, attempt), row)| ((turn, attempt + 1), row)).collect();
        }
        let row_of = |turn: &Turn, attempt: Option<&Attempt>| {
            attempt.and_then(|a| self.rows.get(&(turn.number, a.number))).copied().unwrap_or(first_row)
        };
        let last = self.episode.turns.iter().rev().find_map(|turn| Some((turn, turn.attempts.last()?)));
        if let Some((turn, attempt)) = last.filter(|(_, attempt)| attempt.verdict != Verdict::Passed)
            && self.episode.end_reason == Some(EndReason::PassedAll)
        {
            warn(
                row_of(turn, Some(attempt)),
                "table.contradiction",
                RowAction::Differently,
                format!(
                    "counts as {} and is the last attempt, and episode_end_reason says passed_all. {subject} ends as it says.",
                    attempt.verdict.as_str()
                ),
            );
        }
        let (mut expected, mut not_passed) = (1, None);
        for turn in &self.episode.turns {
            let row = row_of(turn, turn.attempts.first());
            if turn.number != expected {
                warn(
                    row,
                    "table.gap",
                    RowAction::Differently,
                    format!(
                        "is turn {}, and there is no turn {expected}. {subject} ends before it.",
                        turn.number
                    ),
                );
            }
            expected = turn.number + 1;
            if let Some((before, outcome)) = not_passed.take().filter(|_| !turn.attempts.is_empty()) {
                warn(
                    row,
                    "table.goes_on",
                    RowAction::Differently,
                    format!(
                        "is turn {}, after turn {before}{outcome}. {subject} has its stamina from the turns before.",
                        turn.number
                    ),
                );
            }
            let outcome = turn.attempts.last().and_then(not_passed_in_words);
            not_passed = outcome.map(|outcome| (turn.number, outcome));
            let mut wanted = 1;
            let mut passed = None;
            for attempt in &turn.attempts {
                let row = row_of(turn, Some(attempt));
                if attempt.number != wanted {
                    warn(
                        row,
                        "table.gap",
                        RowAction::Differently,
                        format!(
                            "is attempt {} at turn {}, and there is no attempt {wanted}. {subject} has those that are there.",
                            attempt.number, turn.number
                        ),
                    );
                }
                wanted = attempt.number + 1;
                if let Some(before) = passed {
                    warn(
                        row,
                        "table.contradiction",
                        RowAction::Differently,
                        format!(
                            "is attempt {} at turn {}, after attempt {before} passed. The last attempt decides.",
                            attempt.number, turn.number
                        ),
                    );
                }
                passed = (attempt.verdict == Verdict::Passed).then_some(attempt.number);
            }
            if let Some(planned) = self.episode.planned_turns.filter(|planned| turn.number > *planned) {
                warn(
                    row,
                    "table.contradiction",
                    RowAction::Differently,
                    format!(
                        "is turn {}, and planned_turns says {planned}. {subject} has the turn.",
                        turn.number
                    ),
                );
            }
        }
        let span = odd_span(
            (Field::EpisodeStartedAt, self.episode.timing.started_at.as_deref()),
            (Field::EpisodeFinishedAt, self.episode.timing.finished_at.as_deref()),
        );
        if let Some(message) = span {
            warn(
                first_row,
                "value.not_usable",
                RowAction::Differently,
                format!("begins an episode that {message}"),
            );
        }
        (self.run, self.episode)
    }
}

/// How a sentence about a turn continues whose last attempt this is; `None` = it passed.
fn not_passed_in_words(last: &Attempt) -> Option<&'static str> {
    let is_unknown = last.verdict == Verdict::Unfinished || last.end_reason == Some(EndReason::VerifierError);
    match last.verdict {
        Verdict::Passed => None,
        _ if is_unknown => Some(", of which it is unknown whether it passed"),
        _ => Some(" was not passed"),
    }
}

/// The turn of this number; a new one stands behind the others.
fn turn_entry<'a>(turns: &'a mut Vec<Turn>, places: &mut HashMap<u32, usize>, number: u32) -> &'a mut Turn {
    let index = *places.entry(number).or_insert(turns.len());
    if index == turns.len() {
        turns.push(Turn::new(number));
    }
    &mut turns[index]
}

/// What the first row of a turn says of it. The result is how many bytes of texts came to it.
fn describe(turn: &mut Turn, taker: &mut Taker<'_, '_>) -> usize {
    turn_agrees(turn, taker);
    let mut texts = 0;
    if turn.title.is_none() {
        turn.title = taker.text(Field::Title);
        texts += turn.title.as_ref().map_or(0, String::len);
    }
    if turn.request.is_none()
        && let Some(text) = taker.text(Field::Request)
    {
        texts += text.len();
        turn.request = Some(match taker.file(&text) {
            Some(path) => Request::File(Artifact::new(ArtifactKind::Request, path)),
            None => Request::Text(text),
        });
        if let Some(Request::Text(text)) = &turn.request
            && turn.title.is_none()
        {
            turn.title = first_title(text, TITLE_CAP);
        }
    }
    texts
}
