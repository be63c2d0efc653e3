//! An attempt from its row.

use model::{Artifact, ArtifactKind, Attempt, Counting, EndReason, Ending, STATED_FAILING, Verdict, counted};

use crate::readers::value::UnusableValues;

use super::cell::Cell;
use super::columns::Field;
use super::mapping::{FILES, OTHERS_CAP, VALUE};
use super::row::odd_span;
use super::row_values::{TEXT_CAP, Taker};
use super::row_warnings::RowAction;

/// An attempt from its row.
pub(super) fn read_attempt(number: u32, taker: &mut Taker<'_, '_>) -> Attempt {
    let end_reason = taker.take(Field::EndReason, |cell, _| cell.end_reason());
    let passed = taker.take(Field::Passed, |cell, _| cell.flag());
    let stated = taker.take(Field::Verdict, |cell, _| cell.verdict());
    let says_a_verdict =
        [Field::Passed, Field::Verdict].into_iter().any(|field| !taker.row.cell(field).is_unknown());
    // What it says is no verdict: the verdict is unknown, and the attempt is not one that is still running.
    let unreadable = says_a_verdict && passed.is_none() && stated.is_none() && end_reason.is_none();
    let end_reason = if unreadable { Some(EndReason::VerifierError) } else { end_reason };
    let verdict = verdict(passed, stated, end_reason);
    if let (Some(passed), Some(stated)) = (passed, stated)
        && passed != (stated == Verdict::Passed)
    {
        let message = format!(
            "says passed {passed} and verdict {}. It counts as {}.",
            stated.as_str(),
            verdict.as_str()
        );
        taker.warn("table.contradiction", RowAction::Differently, &message);
    }
    let mut attempt = Attempt::new(number, verdict);
    attempt.end_reason = end_reason.filter(|reason| can_end(*reason, verdict));
    if let Some(reason) = end_reason
        && attempt.end_reason.is_none()
    {
        let message = format!(
            "says end_reason {} of an attempt that counts as {}. The reason is unknown.",
            reason.as_str(),
            verdict.as_str()
        );
        taker.warn("table.contradiction", RowAction::Differently, &message);
    }
    (attempt.passed, attempt.total) = (taker.count(Field::TestsPassed), taker.count(Field::TestsTotal));
    let failed = taker.count(Field::TestsFailed);
    let mut unusable = UnusableValues::default();
    unusable.take_from_attempt(&mut attempt);
    if let Some(warning) = unusable.warning("") {
        let message = warning.message.replacen("It has", "has", 1);
        taker.warn("value.not_usable", RowAction::Differently, &message);
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
            let message = format!(
                "says {} with {passed} of {} passed. {consequence}.",
                verdict.as_str(),
                counted(total.into(), "test")
            );
            taker.warn("table.contradiction", RowAction::Differently, &message);
        }
    }
    if let Some(failed) = failed {
        take_failed(failed, &mut attempt, taker);
    }
    let counting = taker.take(Field::Counting, |cell, _| cell.text().and_then(|word| Counting::parse(&word)));
    attempt.counting = counting.unwrap_or_default();
    attempt.reward = taker.take(Field::Reward, Cell::number);
    if let Some(reward) = attempt.reward.filter(|reward| !(0.0..=1.0).contains(reward)) {
        let message =
            format!("says reward {reward}, which is not in 0 to 1. The verdict does not depend on it.");
        taker.warn("reward.range", RowAction::Differently, &message);
    }
    let tokens = taker.tokens(Field::TokensIn, Field::TokensCached, Field::TokensOut);
    attempt.cached_input = taker.cached_input(&tokens);
    attempt.tokens = tokens.with_cached_included();
    attempt.cost_usd = taker.amount(Field::CostUsd);
    attempt.tool_calls = taker.count(Field::ToolCalls);
    attempt.steps = taker.count(Field::Steps);
    attempt.timing.agent_seconds = taker.seconds(Field::AgentSeconds);
    attempt.timing.test_seconds = taker.seconds(Field::TestSeconds);
    attempt.timing.started_at = taker.time(Field::StartedAt);
    attempt.timing.finished_at = taker.time(Field::FinishedAt);
    let span = odd_span(
        (Field::StartedAt, attempt.timing.started_at.as_deref()),
        (Field::FinishedAt, attempt.timing.finished_at.as_deref()),
    );
    if let Some(message) = span {
        taker.warn("value.not_usable", RowAction::Differently, &message);
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
            None => taker.warn(
                "file.missing",
                RowAction::Skipped,
                &format!(
                    "names the log “{}”, which is not beside the table, or the table was opened alone.",
                    Cell::Text(&text).shown()
                ),
            ),
        }
    }
    for (index, name) in taker.place.others.iter().take(OTHERS_CAP) {
        let value = match taker.row.other_cell(*index) {
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

/// Keeps how many tests failed, where it is another number than those that did not pass: some neither passed nor failed.
fn take_failed(failed: u32, attempt: &mut Attempt, taker: &mut Taker<'_, '_>) {
    let (Some(passed), Some(total)) = (attempt.passed, attempt.total) else { return };
    let not_passed = total.saturating_sub(passed);
    if failed > not_passed {
        let message = format!(
            "says that {} failed, and {passed} of {total} passed. {not_passed} {} as failed.",
            counted(failed.into(), "test"),
            if not_passed == 1 { "counts" } else { "count" }
        );
        taker.warn("table.contradiction", RowAction::Differently, &message);
    } else if failed < not_passed {
        attempt.extra.insert(STATED_FAILING.to_owned(), failed.into());
    }
}

/// Whether an attempt with this verdict can end so. Only one that passed ends an episode of which all is passed.
fn can_end(reason: EndReason, verdict: Verdict) -> bool {
    match reason {
        EndReason::PassedAll => verdict == Verdict::Passed,
        EndReason::TestsFailed => verdict != Verdict::Passed,
        _ => true,
    }
}

/// The verdict: by `passed`, unless `verdict` says more of what did not pass.
fn verdict(passed: Option<bool>, stated: Option<Verdict>, end_reason: Option<EndReason>) -> Verdict {
    let without_tests = |reason: EndReason| {
        matches!(reason, EndReason::NoVerdict | EndReason::VerifierError | EndReason::VerifierTimeout)
    };
    match (passed, stated, end_reason) {
        (Some(true), ..) | (None, None, Some(EndReason::PassedAll)) => Verdict::Passed,
        (Some(false), Some(Verdict::Passed), _) | (None, None, Some(EndReason::TestsFailed)) => {
            Verdict::Failed
        }
        (_, Some(stated), _) => stated,
        (Some(false), None, Some(reason)) if without_tests(reason) => Verdict::Error,
        (Some(false), None, _) => Verdict::Failed,
        (None, None, Some(reason)) if reason.default_ending() == Ending::Event => Verdict::Error,
        (None, None, _) => Verdict::Unfinished,
    }
}

/// Bytes of what an attempt keeps of the columns of others, of its error, and of the files that it names.
pub(super) fn text_bytes(attempt: &Attempt) -> usize {
    let extra =
        attempt.extra.iter().map(|(name, value)| name.len() + VALUE + value.as_str().map_or(0, str::len));
    let error = attempt.exception.as_ref().map_or(0, |(kind, message)| kind.len() + message.len());
    let list = if attempt.artifacts.is_empty() { 0 } else { FILES };
    let files = attempt.artifacts.iter().map(|artifact| artifact.path.len());
    extra.sum::<usize>() + error + list + files.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: An opened folder or zip
    fn names_of_logs_that_each_row_repeats_count_among_what_an_episode_keeps() {
        let mut attempt = Attempt::new(1, Verdict::Passed);
        assert_eq!(text_bytes(&attempt), 0);
        let path = "x".repeat(1_000);
        attempt.artifacts.push(Artifact::new(ArtifactKind::AgentLog, path));
        let held = attempt.artifacts.capacity() * size_of::<Artifact>() + 1_000;
        assert!(text_bytes(&attempt) >= held, "{} of {held}", text_bytes(&attempt));
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
            (None, None, Some(EndReason::PassedAll), Passed),
            (None, None, Some(EndReason::TestsFailed), Failed),
            (None, None, Some(EndReason::Budget), Unfinished),
            (None, None, None, Unfinished),
        ] {
            assert_eq!(verdict(passed, stated, reason), expected, "{passed:?} {stated:?} {reason:?}");
        }
    }
}
