//! Episodes from their rows.

use std::collections::HashMap;

use files::{Tree, join};
use model::{
    Artifact, ArtifactKind, Attempt, CachedInput, Counting, EndReason, Ending, Episode, Request, Tokens,
    Turn, Verdict,
};

use crate::identity;
use crate::readers::clock;
use crate::readers::text::first_title;
use crate::readers::value::Unusable;

use super::cell::Cell;
use super::columns::Field;
use super::mapping::{ATTEMPT, FILES, OTHERS_CAP, VALUE};
use super::scan::Row;
use super::warnings::{Done, RowWarnings};

/// Highest number of a turn, and of an attempt at one.
const NUMBERS_CAP: u32 = 10_000;
/// Bytes of an episode that are kept: its attempts, each counted as [`ATTEMPT`], and their texts.
const EPISODE_CAP: usize = 64 << 20;
/// Letters of a text that is kept.
const TEXT_CAP: usize = 8 * 1024;
/// Longest title that is made of a request.
const TITLE_CAP: usize = 120;

/// An episode while its rows come.
pub(super) struct Building {
    pub(super) run: String,
    pub(super) episode: Episode,
    /// Its first row, and those of its attempts by turn and attempt.
    first_row: u64,
    rows: HashMap<(u32, u32), u64>,
    /// Where a turn stands: until all rows were there, turns and attempts stand in the order of their rows.
    places: HashMap<u32, usize>,
    /// What counts against [`EPISODE_CAP`].
    bytes: usize,
}

/// Where rows come from.
pub(super) struct Place<'a> {
    pub(super) tree: &'a Tree,
    /// The folder of the table.
    pub(super) folder: &'a str,
    pub(super) path: &'a str,
    /// Columns that the tidy table does not define.
    pub(super) others: &'a [(usize, String)],
}

/// Takes values out of a row, and says which cannot be.
struct Taker<'a, 'b> {
    row: &'a Row<'b>,
    place: &'a Place<'a>,
    run: &'a str,
    warnings: &'a mut RowWarnings,
}

impl<'b> Taker<'_, 'b> {
    fn take<T>(&mut self, field: Field, rule: impl FnOnce(Cell<'b>, bool) -> Option<T>) -> Option<T> {
        let cell = self.row.cell(field);
        if cell.is_unknown() {
            return None;
        }
        let taken = rule(cell, self.row.decimal_comma());
        if taken.is_none() {
            let code = if field.column().kind == super::columns::Kind::EndReason {
                "table.end_reason"
            } else {
                "value.not_usable"
            };
            let what = format!(
                "says {} “{}”, which is no {}. It is unknown.",
                field.name(),
                cell.shown(),
                field.column().kind.words()
            );
            self.say(code, Done::Differently, &what);
        }
        taken
    }

    fn say(&mut self, code: &'static str, done: Done, what: &str) {
        self.warnings.of_run(self.run, self.place.path, self.row.number(), code, done, what);
    }

    fn count(&mut self, field: Field) -> Option<u32> {
        self.take(field, |cell, comma| cell.count(comma).and_then(|n| u32::try_from(n).ok()))
    }

    fn tokens(&mut self, input: Field, cached: Field, output: Field) -> Tokens {
        let mut count_of = |field| self.take(field, Cell::tokens);
        Tokens { input: count_of(input), cached: count_of(cached), output: count_of(output) }
    }

    /// What the counts say of cached tokens. Where they exceed the input, that is said.
    fn cached_input(&mut self, tokens: &Tokens) -> CachedInput {
        let basis = CachedInput::from_counts(tokens);
        if let (CachedInput::Added, Some(input), Some(cached)) = (basis, tokens.input, tokens.cached) {
            let what = format!(
                "says {input} input and {cached} cached tokens: the input is counted without the cached ones. They are added, at every attempt of the run."
            );
            self.say("tokens.cache_added", Done::Repaired, &what);
        }
        basis
    }

    fn amount(&mut self, field: Field) -> Option<f64> {
        self.take(field, Cell::amount)
    }

    fn time(&mut self, field: Field) -> Option<String> {
        self.take(field, |cell, _| cell.time())
    }

    fn text(&self, field: Field) -> Option<String> {
        self.row.cell(field).text().map(|text| text.chars().take(TEXT_CAP).collect())
    }

    /// A file beside the table, if it is there.
    fn file(&self, text: &str) -> Option<String> {
        let is_path = text.len() <= 1_000 && !text.contains(['\n', '\r']);
        let path = is_path.then(|| join(self.place.folder, text))?;
        self.place.tree.entry(&path).filter(|entry| !entry.is_folder()).map(|_| path)
    }
}

impl Building {
    /// An episode from its first row.
    pub(super) fn new(
        run: String,
        scenario: String,
        row: &Row<'_>,
        place: &Place<'_>,
        warnings: &mut RowWarnings,
    ) -> Self {
        let mut taker = Taker { row, place, run: &run, warnings };
        let repeat = taker.count(Field::Repeat).unwrap_or(1);
        let mut episode = Episode::new(format!("{scenario}#{}", row.repeat()), scenario);
        episode.repeat = repeat;
        Self { run, episode, first_row: row.number(), rows: HashMap::new(), places: HashMap::new(), bytes: 0 }
    }

    /// Takes what a row says of the whole episode: of each column the first value that is known.
    fn describe_episode(episode: &mut Episode, taker: &mut Taker<'_, '_>) {
        fn first<T>(known: &mut Option<T>, taken: impl FnOnce() -> Option<T>) {
            if known.is_none() {
                *known = taken();
            }
        }
        first(&mut episode.title, || taker.text(Field::ScenarioTitle));
        first(&mut episode.planned_turns, || taker.count(Field::PlannedTurns).filter(|n| *n > 0));
        first(&mut episode.end_reason, || taker.take(Field::EpisodeEnd, |cell, _| cell.end_reason()));
        let mut is_said = |field| taker.take(field, |cell, _| cell.flag()).unwrap_or(false);
        episode.attempts_left |= is_said(Field::AttemptsLeft);
        episode.unrecognised |= is_said(Field::Unrecognized);
        // Others number their episodes: only an id that we made tells one from those of all other tables.
        first(&mut episode.identity, || taker.text(Field::EpisodeId).filter(|id| identity::is_own(id)));
        first(&mut episode.invalid, || taker.text(Field::EpisodeInvalid));
        first(&mut episode.tokens, || {
            let of_columns =
                taker.tokens(Field::EpisodeTokensIn, Field::EpisodeTokensCached, Field::EpisodeTokensOut);
            if of_columns.is_unknown() {
                return None;
            }
            episode.cached_input = taker.cached_input(&of_columns);
            Some(of_columns.with_cached_included())
        });
        first(&mut episode.cost_usd, || taker.amount(Field::EpisodeCostUsd));
        first(&mut episode.timing.agent_seconds, || taker.amount(Field::EpisodeAgentSeconds));
        first(&mut episode.timing.test_seconds, || taker.amount(Field::EpisodeTestSeconds));
        first(&mut episode.timing.started_at, || taker.time(Field::EpisodeStartedAt));
        first(&mut episode.timing.finished_at, || taker.time(Field::EpisodeFinishedAt));
    }

    /// Takes a row of it.
    pub(super) fn add(&mut self, row: &Row<'_>, place: &Place<'_>, warnings: &mut RowWarnings) {
        let mut taker = Taker { row, place, run: &self.run, warnings };
        self.episode_agrees(&mut taker);
        Self::describe_episode(&mut self.episode, &mut taker);
        if row.cell(Field::Turn).is_unknown() {
            if !row.cell(Field::Attempt).is_unknown() || !row.cell(Field::Passed).is_unknown() {
                taker.say("table.no_number", Done::Skipped, "has an attempt and no turn. It is left out.");
            }
            return;
        }
        let Some(turn) = taker.count(Field::Turn) else { return };
        let attempt = taker.count(Field::Attempt);
        if turn > NUMBERS_CAP || attempt.is_some_and(|n| n > NUMBERS_CAP) {
            return taker.say(
                "turns.out_of_range",
                Done::Skipped,
                "has a turn or an attempt beyond 10,000. It is left out.",
            );
        }
        if self.bytes > EPISODE_CAP {
            return taker.say(
                "table.too_many_attempts",
                Done::Skipped,
                "is beyond 64 MB of one episode, about 90,000 attempts without texts. It is left out.",
            );
        }
        let Some(number) = attempt else {
            if !row.cell(Field::Passed).is_unknown() {
                taker.say("table.no_number", Done::Skipped, "has no attempt. It is left out.");
                return;
            }
            let turn = turn_of(&mut self.episode.turns, &mut self.places, turn);
            self.bytes += describe(turn, &mut taker);
            return;
        };
        if let Some(first) = self.rows.insert((turn, number), row.number()) {
            self.rows.insert((turn, number), first);
            let what = format!(
                "is attempt {number} at turn {turn} of scenario “{}”, as is row {first}. The first counts; a column repeat would tell them apart.",
                Cell::Text(&self.episode.scenario).shown()
            );
            return taker.say("table.duplicate", Done::Skipped, &what);
        }
        let made = attempt_of(number, &mut taker);
        let turn = turn_of(&mut self.episode.turns, &mut self.places, turn);
        self.bytes += ATTEMPT + texts_of(&made) + describe(turn, &mut taker);
        turn.attempts.push(made);
    }

    /// What is said of the episode in every row must be the same.
    fn episode_agrees(&self, taker: &mut Taker<'_, '_>) {
        let planned = taker.row.cell(Field::PlannedTurns).count(taker.row.decimal_comma());
        if let (Some(known), Some(new)) = (self.episode.planned_turns, planned)
            && u64::from(known) != new
        {
            let what = format!(
                "says planned_turns {new} of an episode that begins in row {} and had {known}. The first is taken.",
                self.first_row
            );
            taker.say("table.contradiction", Done::Differently, &what);
        }
        let end = taker.row.cell(Field::EpisodeEnd).end_reason();
        if let (Some(known), Some(new)) = (self.episode.end_reason, end)
            && known != new
        {
            let what = format!(
                "says episode_end_reason {} of an episode that begins in row {} and had {}. The first is taken.",
                new.as_str(),
                self.first_row,
                known.as_str()
            );
            taker.say("table.contradiction", Done::Differently, &what);
        }
    }

    /// The episode, when all its rows were there, and what does not fit in it.
    pub(super) fn finish(mut self, path: &str, warnings: &mut RowWarnings) -> (String, Episode) {
        let scenario = Cell::Text(&self.episode.scenario).shown();
        let whose = format!("Scenario “{scenario}” of run “{}”", Cell::Text(&self.run).shown());
        let first_row = self.first_row;
        let run = self.run.clone();
        self.episode.turns.sort_by_key(|turn| turn.number);
        for turn in &mut self.episode.turns {
            turn.attempts.sort_by_key(|attempt| attempt.number);
        }
        let mut say = |row: u64, code: &'static str, done: Done, what: String| {
            warnings.of_run(&run, path, row, code, done, &what);
        };
        if self.episode.turns.first().is_some_and(|turn| turn.number == 0) {
            say(
                first_row,
                "turns.from_zero",
                Done::Repaired,
                format!("begins an episode whose turns count from 0. {whose} is shown from 1."),
            );
            self.episode.turns.iter_mut().for_each(|turn| turn.number += 1);
            self.rows =
                self.rows.into_iter().map(|((turn, attempt), row)| ((turn + 1, attempt), row)).collect();
        }
        let from_zero = |turn: &Turn| turn.attempts.first().is_some_and(|attempt| attempt.number == 0);
        if self.episode.turns.iter().any(from_zero) {
            say(
                first_row,
                "turns.from_zero",
                Done::Repaired,
                format!("begins an episode whose attempts count from 0. {whose} is shown from 1."),
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
        let (mut expected, mut not_passed) = (1, None);
        for turn in &self.episode.turns {
            let row = row_of(turn, turn.attempts.first());
            if turn.number != expected {
                say(
                    row,
                    "table.gap",
                    Done::Differently,
                    format!(
                        "is turn {}, and there is no turn {expected}. {whose} ends before it.",
                        turn.number
                    ),
                );
            }
            expected = turn.number + 1;
            if let Some(before) = not_passed.take().filter(|_| !turn.attempts.is_empty()) {
                say(
                    row,
                    "table.goes_on",
                    Done::Differently,
                    format!(
                        "is turn {}, after turn {before} was not passed. {whose} has its stamina from the turns before.",
                        turn.number
                    ),
                );
            }
            not_passed =
                turn.attempts.last().filter(|last| last.verdict != Verdict::Passed).map(|_| turn.number);
            let mut wanted = 1;
            let mut passed = None;
            for attempt in &turn.attempts {
                let row = row_of(turn, Some(attempt));
                if attempt.number != wanted {
                    say(
                        row,
                        "table.gap",
                        Done::Differently,
                        format!(
                            "is attempt {} at turn {}, and there is no attempt {wanted}. {whose} has those that are there.",
                            attempt.number, turn.number
                        ),
                    );
                }
                wanted = attempt.number + 1;
                if let Some(before) = passed {
                    say(
                        row,
                        "table.contradiction",
                        Done::Differently,
                        format!(
                            "is attempt {} at turn {}, after attempt {before} passed. The last attempt decides.",
                            attempt.number, turn.number
                        ),
                    );
                }
                passed = (attempt.verdict == Verdict::Passed).then_some(attempt.number);
            }
            if let Some(planned) = self.episode.planned_turns.filter(|planned| turn.number > *planned) {
                say(
                    row,
                    "table.contradiction",
                    Done::Differently,
                    format!(
                        "is turn {}, and planned_turns says {planned}. {whose} has the turn.",
                        turn.number
                    ),
                );
            }
        }
        let span = odd_span(
            (Field::EpisodeStartedAt, self.episode.timing.started_at.as_deref()),
            (Field::EpisodeFinishedAt, self.episode.timing.finished_at.as_deref()),
        );
        if let Some(what) = span {
            say(first_row, "value.not_usable", Done::Differently, format!("begins an episode that {what}"));
        }
        (self.run, self.episode)
    }
}

/// What is wrong with a begin and an end of which nobody can say how far they are apart. Both are kept as they are.
pub(super) fn odd_span(begin: (Field, Option<&str>), end: (Field, Option<&str>)) -> Option<String> {
    let ((begin_field, begin), (end_field, end)) = (begin, end);
    let (begin, end) = (begin?, end?);
    clock::seconds_between(begin, end).is_none().then(|| {
        format!(
            "says {} “{}” and {} “{}”: the end is before the begin, or one of them has no zone. The time between is unknown.",
            begin_field.name(),
            Cell::Text(begin).shown(),
            end_field.name(),
            Cell::Text(end).shown()
        )
    })
}

/// The turn of this number; a new one stands behind the others.
fn turn_of<'a>(turns: &'a mut Vec<Turn>, places: &mut HashMap<u32, usize>, number: u32) -> &'a mut Turn {
    let at = *places.entry(number).or_insert(turns.len());
    if at == turns.len() {
        turns.push(Turn::new(number));
    }
    &mut turns[at]
}

/// Bytes of what an attempt keeps of the columns of others, of its error, and of the files that it names.
fn texts_of(attempt: &Attempt) -> usize {
    let extra =
        attempt.extra.iter().map(|(name, value)| name.len() + VALUE + value.as_str().map_or(0, str::len));
    let error = attempt.exception.as_ref().map_or(0, |(kind, message)| kind.len() + message.len());
    let list = if attempt.artifacts.is_empty() { 0 } else { FILES };
    let files = attempt.artifacts.iter().map(|artifact| artifact.path.len());
    extra.sum::<usize>() + error + list + files.sum::<usize>()
}

/// What the first row of a turn says of it. The result is how many bytes of texts came to it.
fn describe(turn: &mut Turn, taker: &mut Taker<'_, '_>) -> usize {
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

/// An attempt from its row.
fn attempt_of(number: u32, taker: &mut Taker<'_, '_>) -> Attempt {
    let end_reason = taker.take(Field::EndReason, |cell, _| cell.end_reason());
    let passed = taker.take(Field::Passed, |cell, _| cell.flag());
    let stated = taker.take(Field::Verdict, |cell, _| cell.verdict());
    let verdict = verdict(passed, stated, end_reason);
    if let (Some(passed), Some(stated)) = (passed, stated)
        && passed != (stated == Verdict::Passed)
    {
        let what = format!(
            "says passed {passed} and verdict {}. It counts as {}.",
            stated.as_str(),
            verdict.as_str()
        );
        taker.say("table.contradiction", Done::Differently, &what);
    }
    let mut attempt = Attempt::new(number, verdict);
    attempt.end_reason = end_reason;
    (attempt.passed, attempt.total) = (taker.count(Field::TestsPassed), taker.count(Field::TestsTotal));
    let mut unusable = Unusable::default();
    unusable.settle(&mut attempt);
    if let Some(warning) = unusable.warning("") {
        let what = warning.message.replacen("It has", "has", 1);
        taker.say("value.not_usable", Done::Differently, &what);
    }
    if let (Some(passed), Some(total)) = (attempt.passed, attempt.total) {
        let odd = match verdict {
            Verdict::Passed if passed < total => Some("It counts as passed"),
            Verdict::Failed if passed == total && total > 0 && end_reason.is_none() => {
                Some("It counts as failed")
            }
            _ => None,
        };
        if let Some(consequence) = odd {
            let what =
                format!("says {} with {passed} of {total} tests passed. {consequence}.", verdict.as_str());
            taker.say("table.contradiction", Done::Differently, &what);
        }
    }
    let counting = taker.take(Field::Counting, |cell, _| cell.text().and_then(|word| Counting::parse(&word)));
    attempt.counting = counting.unwrap_or_default();
    attempt.reward = taker.take(Field::Reward, Cell::number);
    if let Some(reward) = attempt.reward.filter(|reward| !(0.0..=1.0).contains(reward)) {
        let what =
            format!("says reward {reward}, which is not in 0 to 1. The verdict does not depend on it.");
        taker.say("reward.range", Done::Differently, &what);
    }
    let tokens = taker.tokens(Field::TokensIn, Field::TokensCached, Field::TokensOut);
    attempt.cached_input = taker.cached_input(&tokens);
    attempt.tokens = tokens.with_cached_included();
    attempt.cost_usd = taker.amount(Field::CostUsd);
    attempt.tool_calls = taker.count(Field::ToolCalls);
    attempt.steps = taker.count(Field::Steps);
    attempt.timing.agent_seconds = taker.amount(Field::AgentSeconds);
    attempt.timing.test_seconds = taker.amount(Field::TestSeconds);
    attempt.timing.started_at = taker.time(Field::StartedAt);
    attempt.timing.finished_at = taker.time(Field::FinishedAt);
    let span = odd_span(
        (Field::StartedAt, attempt.timing.started_at.as_deref()),
        (Field::FinishedAt, attempt.timing.finished_at.as_deref()),
    );
    if let Some(what) = span {
        taker.say("value.not_usable", Done::Differently, &what);
    }
    let message = taker.text(Field::Exception);
    if let Some(kind) =
        taker.text(Field::ExceptionType).or_else(|| message.as_ref().map(|_| "error".to_owned()))
    {
        attempt.exception = Some((kind, message.unwrap_or_default()));
    }
    if let Some(text) = taker.text(Field::Log) {
        match taker.file(&text) {
            Some(path) => attempt.artifacts.push(Artifact::new(ArtifactKind::AgentLog, path)),
            None => taker.say(
                "file.missing",
                Done::Skipped,
                &format!(
                    "names the log “{}”, which is not beside the table, or the table was opened alone.",
                    Cell::Text(&text).shown()
                ),
            ),
        }
    }
    for (at, name) in taker.place.others.iter().take(OTHERS_CAP) {
        let value = match taker.row.other(*at) {
            cell if cell.is_unknown() => continue,
            Cell::Integer(number) => number.into(),
            Cell::Number(number) => number.into(),
            Cell::Flag(flag) => flag.into(),
            cell => cell.text().unwrap_or_default().chars().take(TEXT_CAP).collect::<String>().into(),
        };
        attempt.extra.insert(name.clone(), value);
    }
    attempt
}

/// The verdict: by `passed`, unless `verdict` says more of what did not pass.
fn verdict(passed: Option<bool>, stated: Option<Verdict>, end_reason: Option<EndReason>) -> Verdict {
    let without_tests = |reason: EndReason| {
        matches!(reason, EndReason::NoVerdict | EndReason::VerifierError | EndReason::VerifierTimeout)
    };
    match (passed, stated, end_reason) {
        (Some(true), ..) => Verdict::Passed,
        (Some(false), Some(Verdict::Passed), _) => Verdict::Failed,
        (_, Some(stated), _) => stated,
        (Some(false), None, Some(reason)) if without_tests(reason) => Verdict::Error,
        (Some(false), None, _) => Verdict::Failed,
        (None, None, Some(reason)) if reason.default_ending() == Ending::Event => Verdict::Error,
        (None, None, _) => Verdict::Unfinished,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: An opened folder or zip
    fn names_of_logs_that_each_row_repeats_count_among_what_an_episode_keeps() {
        let mut attempt = Attempt::new(1, Verdict::Passed);
        assert_eq!(texts_of(&attempt), 0);
        let path = "x".repeat(1_000);
        attempt.artifacts.push(Artifact::new(ArtifactKind::AgentLog, path));
        let held = attempt.artifacts.capacity() * size_of::<Artifact>() + 1_000;
        assert!(texts_of(&attempt) >= held, "{} of {held}", texts_of(&attempt));
    }

    #[test]
    fn the_verdict_is_what_the_row_says_of_it() {
        use Verdict::{Error, Failed, Passed, Unfinished};
        for (passed, stated, reason, expected) in [
            (Some(true), None, None, Passed),
            (Some(true), Some(Failed), None, Passed),
            (Some(false), None, None, Failed),
            (Some(false), Some(Error), None, Error),
            (Some(false), Some(Passed), None, Failed),
            (Some(false), Some(Unfinished), None, Unfinished),
            (Some(false), None, Some(EndReason::VerifierError), Error),
            (Some(false), None, Some(EndReason::AgentTimeout), Failed),
            (None, Some(Passed), None, Passed),
            (None, None, Some(EndReason::AgentTimeout), Error),
            (None, None, Some(EndReason::Budget), Unfinished),
            (None, None, None, Unfinished),
        ] {
            assert_eq!(verdict(passed, stated, reason), expected, "{passed:?} {stated:?} {reason:?}");
        }
    }
}
