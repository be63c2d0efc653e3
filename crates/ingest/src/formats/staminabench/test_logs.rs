//! The raw pytest log of an attempt, and what it decides.
//!
//! The log is what the verifier wrote; every other number is somebody's summary of it. Where the two differ the log
//! wins and the difference is reported. A log that breaks off has no numbers and decides nothing but what failed before.

use std::collections::HashMap;

use model::{Attempt, CAUSE, EndReason, Episode, NOT_RECOGNIZED, TestOutcome, TestResult, Verdict, Warning};

use super::part_warnings::PartWarnings;
use crate::readers::pytest::{self, PytestLog};
use files::{ReadError, Tree};

/// Logs up to this size are read whole in any case; of larger ones the end is read first.
const SMALL: u64 = 16 << 10;
/// The end of a log that holds its last line.
const TAIL: u64 = 4 << 10;
/// Most bytes of a log that are parsed; of larger ones the head and the end.
const CAP: u64 = 16 << 20;
/// Tests that are compared before an index is made.
const AHEAD: usize = 200;
/// What is taken of the end of a log beyond [`CAP`].
const FAR_TAIL: u64 = 1 << 20;

/// What is recorded elsewhere about an attempt.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Claim {
    /// Tests passed.
    pub(super) passed: Option<u32>,
    /// Tests run.
    pub(super) total: Option<u32>,
    /// Whether it passed.
    pub(super) success: Option<bool>,
}

impl Claim {
    /// Whether the attempt passed by the claim. `None`: unknown.
    pub(super) fn passes(&self) -> Option<bool> {
        match (self.passed, self.total) {
            (Some(p), Some(t)) if t > 0 => Some(p >= t),
            _ => self.success,
        }
    }
}

/// What reading a log gave.
pub(super) enum Log {
    /// The numbers at its end agree with the claim: everything passed. The rest was not read.
    Agrees,
    /// The log.
    Whole(Box<PytestLog>),
    /// Nothing that can be used.
    Nothing,
}

/// Reads a log as far as it is needed. `brief` = a pass need not be read for the names of its tests.
pub(super) fn read(
    tree: &Tree,
    path: &str,
    size: u64,
    claim: Claim,
    brief: bool,
    warnings: &mut PartWarnings<'_>,
) -> Log {
    if brief && claim.passes() == Some(true) && size > SMALL {
        match tree.read_range(path, size - TAIL, TAIL) {
            Ok((bytes, _)) => {
                warnings.read_file();
                if agrees(&String::from_utf8_lossy(&bytes), claim) {
                    return Log::Agrees;
                }
            }
            Err(error) => return unreadable(path, &error, warnings),
        }
    }
    let text = match read_whole(tree, path, size, warnings) {
        Ok(text) => text,
        Err(error) => return unreadable(path, &error, warnings),
    };
    warnings.read_file();
    if text.trim().is_empty() {
        warnings.warn(Warning::skipped(
            path,
            "file.empty",
            "The test log is empty. It says nothing about this attempt.",
        ));
        return Log::Nothing;
    }
    if brief
        && claim.passes() == Some(true)
        && agrees(&text[text.floor_char_boundary(text.len().saturating_sub(TAIL as usize))..], claim)
    {
        return Log::Agrees;
    }
    let log = pytest::parse(&text);
    if !log.is_pytest {
        warnings.warn(Warning::skipped(
            path,
            "pytest.not_recognised",
            "Nothing in this file is output of pytest. It is shown as it stands, and decides nothing.",
        ));
        return Log::Nothing;
    }
    if log.truncated {
        warnings.warn(Warning::read_differently(
            path,
            "pytest.truncated",
            "The log ends before pytest's last line. Only what failed until there is taken from it.",
        ));
    }
    if log.breaks_off && !log.truncated {
        warnings.warn(Warning::read_differently(
            path,
            "pytest.truncated",
            "The log breaks off after its progress was complete. The numbers are those of the progress; what failed may have no message.",
        ));
    }
    if log.sessions > 1 {
        warnings.warn(Warning::read_differently(
            path,
            "pytest.sessions",
            format!("The log holds {} sessions of pytest. The last one is read.", log.sessions),
        ));
    }
    Log::Whole(Box::new(log))
}

fn unreadable(path: &str, error: &ReadError, warnings: &mut PartWarnings<'_>) -> Log {
    // A log that is named and not there is reported where it is named.
    if !matches!(error, ReadError::Missing) {
        warnings.warn(Warning::skipped(path, error.code(), format!("{error}. The test log is left out.")));
    }
    Log::Nothing
}

fn read_whole(
    tree: &Tree,
    path: &str,
    size: u64,
    warnings: &mut PartWarnings<'_>,
) -> Result<String, ReadError> {
    let bytes = if size <= CAP {
        tree.read(path, CAP)?
    } else {
        warnings.warn(Warning::read_differently(
            path,
            "file.too_large",
            format!("The test log has {size} bytes. Its first {CAP} and its last {FAR_TAIL} are read."),
        ));
        let (mut bytes, _) = tree.read_range(path, 0, CAP)?;
        bytes.push(b'\n');
        bytes.extend(tree.read_range(path, size - FAR_TAIL, FAR_TAIL)?.0);
        bytes
    };
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            warnings.warn(Warning::repaired(
                path,
                "file.not_utf8",
                "The test log is not UTF-8. What is not is read as U+FFFD.",
            ));
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }
    })
}

fn agrees(tail: &str, claim: Claim) -> bool {
    pytest::last_line(tail).is_some_and(|counts| {
        let (passed, total) = counts.passed_of_total();
        total > 0
            && passed == total
            && claim.passed.is_none_or(|p| p == passed)
            && claim.total.is_none_or(|t| t == total)
    })
}

/// What a log says by itself.
struct Ruling {
    verdict: Verdict,
    reason: Option<EndReason>,
    numbers: Option<(u32, u32)>,
}

fn rule(log: &PytestLog) -> Option<Ruling> {
    let counts = &log.counts;
    let (passed, total) = counts.passed_of_total();
    let failing = counts.failed + counts.errors;
    let ruling = |verdict, reason, numbers| Some(Ruling { verdict, reason, numbers });
    if log.internal_error.is_some() && failing == 0 {
        return ruling(Verdict::Error, Some(EndReason::VerifierError), None);
    }
    if log.truncated {
        return match (failing, log.timed_out) {
            (0, true) => ruling(Verdict::Error, Some(EndReason::VerifierTimeout), None),
            (0, false) => None,
            (_, true) => ruling(Verdict::Failed, Some(EndReason::VerifierTimeout), None),
            (_, false) => ruling(Verdict::Failed, Some(EndReason::TestsFailed), None),
        };
    }
    if total == 0 {
        return ruling(Verdict::Error, Some(EndReason::NoVerdict), None);
    }
    if passed == 0 && counts.failed == 0 && log.collection_errors >= counts.errors {
        // No test ran: the suite itself could not be loaded.
        return ruling(Verdict::Error, Some(EndReason::VerifierError), None);
    }
    match log.all_passed() {
        Some(true) => ruling(Verdict::Passed, None, Some((passed, total))),
        _ if passed == 0 && nothing_answered(log) => {
            ruling(Verdict::Failed, Some(EndReason::ServerFailed), Some((passed, total)))
        }
        _ => ruling(Verdict::Failed, Some(EndReason::TestsFailed), Some((passed, total))),
    }
}

/// Whether every failing test failed because no server answered.
fn nothing_answered(log: &PytestLog) -> bool {
    const REFUSED: [&str; 6] = [
        "Connection refused",
        "ConnectionRefusedError",
        "Max retries exceeded",
        "ConnectError",
        "Server did not start",
        "Server failed to start",
    ];
    let mut failing = log.failing().peekable();
    failing.peek().is_some()
        && failing.all(|t| t.message.as_deref().is_some_and(|m| REFUSED.iter().any(|word| m.contains(word))))
}

/// Whether the episode ended by an exception whose cause is not recognized.
pub(super) fn is_unrecognized(episode: &Episode) -> bool {
    let (Some(turn), EndReason::AgentError) = episode.end() else { return false };
    episode
        .turn(turn)
        .and_then(|turn| turn.attempts.last())
        .is_some_and(|last| last.extra.get(CAUSE).is_some_and(|cause| cause == NOT_RECOGNIZED))
}

/// Gives an attempt that did not pass a reason, where it has none.
pub(super) fn set_end_reason(attempt: &mut Attempt) {
    let has_tests = attempt.passed.is_some() || attempt.total.is_some() || !attempt.tests.is_empty();
    let reason = match attempt.verdict {
        // No test is described: the exception is why it did not pass.
        Verdict::Failed if has_tests || attempt.exception.is_none() => EndReason::TestsFailed,
        Verdict::Failed | Verdict::Error if attempt.exception.is_some() => {
            if attempt.end_reason.is_none() {
                attempt.extra.insert(CAUSE.to_owned(), NOT_RECOGNIZED.into());
            }
            EndReason::AgentError
        }
        Verdict::Failed | Verdict::Error => EndReason::NoVerdict,
        Verdict::Passed | Verdict::Unfinished | Verdict::NotTested => return,
    };
    attempt.end_reason.get_or_insert(reason);
}

/// Gives an attempt its verdict, out of the claim and the log.
pub(super) fn set_verdict(
    attempt: &mut Attempt,
    claim: Claim,
    path: &str,
    log: Option<PytestLog>,
    warnings: &mut PartWarnings<'_>,
) {
    decide(attempt, claim, path, log, warnings);
    warnings.keep_tests(attempt, path);
}

fn decide(
    attempt: &mut Attempt,
    claim: Claim,
    path: &str,
    log: Option<PytestLog>,
    warnings: &mut PartWarnings<'_>,
) {
    (attempt.passed, attempt.total) = (claim.passed, claim.total);
    let ruling = log.as_ref().and_then(rule);
    let Some(ruling) = ruling else {
        if let Some(log) = log {
            name_failing(&mut attempt.tests, log);
        }
        return;
    };
    let log = log.unwrap_or_default();
    if let Some(difference) = contradiction(claim, &ruling, &log) {
        warnings.warn(Warning::read_differently(path, "verdict.contradiction", difference));
    }
    let previous_verdict = std::mem::replace(&mut attempt.verdict, ruling.verdict);
    match ruling.numbers {
        Some((passed, total)) => (attempt.passed, attempt.total) = (Some(passed), Some(total)),
        None if ruling.verdict == Verdict::Failed && claim.passes() == Some(true) => {
            // It did not pass, so these numbers are wrong, and the right ones are unknown.
            (attempt.passed, attempt.total) = (None, claim.total);
        }
        None => {}
    }
    if ruling.verdict == Verdict::Passed {
        // A pass may have a reason of its own, such as an agent that ran out of time after its work was done.
        if previous_verdict != Verdict::Passed {
            attempt.end_reason = None;
        }
    } else if attempt.end_reason.is_none()
        || ruling.numbers.is_some_and(|_| attempt.end_reason == Some(EndReason::NoVerdict))
    {
        attempt.end_reason = ruling.reason;
    }
    name_failing(&mut attempt.tests, log);
}

fn contradiction(claim: Claim, ruling: &Ruling, log: &PytestLog) -> Option<String> {
    if let Some((passed, total)) = ruling.numbers {
        let c = &log.counts;
        // Some count what was skipped among the tests, or each test once that pytest counts twice.
        let totals =
            [total, total + c.skipped, total + c.skipped + c.xfailed, log.collected.unwrap_or(total)];
        let passes = [passed, c.passed];
        let wrong_total = claim.total.is_some_and(|t| !totals.contains(&t));
        let wrong_passed = claim.passed.is_some_and(|p| !passes.contains(&p));
        if wrong_total || wrong_passed {
            let number_text = |n: Option<u32>| n.map_or_else(|| "?".to_owned(), |n| n.to_string());
            return Some(format!(
                "The test log counts {passed} of {} passed, elsewhere {} of {} are reported. The log is taken.",
                model::counted(total.into(), "test"),
                number_text(claim.passed),
                number_text(claim.total)
            ));
        }
    }
    let passed = ruling.verdict == Verdict::Passed;
    let claimed = claim.success.or(claim.passes())?;
    (claimed != passed).then(|| {
        let word = |passed: bool| if passed { "passed" } else { "not passed" };
        format!(
            "By its test log the attempt {}, elsewhere it is reported as {}. The log is taken.",
            if passed { "passed" } else { "did not pass" },
            word(claimed)
        )
    })
}

/// Brings the tests of a log into the list that is known: outcomes and messages of the log win.
pub(super) fn name_failing(tests: &mut Vec<TestResult>, log: PytestLog) {
    if tests.is_empty() {
        *tests = log.tests;
        return;
    }
    // A log names tests in the order of the suite, so that each is found right after the one before. Only where it does
    // not, an index is made.
    let mut next = 0;
    let mut index: Option<HashMap<String, usize>> = None;
    for found in log.tests {
        let ahead = tests.iter().skip(next).take(AHEAD).position(|t| t.id == found.id).map(|i| next + i);
        let place = ahead.or_else(|| {
            let index = index
                .get_or_insert_with(|| tests.iter().enumerate().map(|(i, t)| (t.id.clone(), i)).collect());
            // A suite may be named by its tests alone, or with the folder that it lay in.
            let bare = || found.id.rsplit_once('/').and_then(|(_, id)| index.get(id));
            index.get(&found.id).or_else(bare).copied()
        });
        match place {
            Some(place) => {
                next = place + 1;
                let known = &mut tests[place];
                known.outcome = found.outcome;
                if found.is_failing() {
                    known.message = known.message.take().or(found.message);
                    known.expected = known.expected.take().or(found.expected);
                    known.actual = known.actual.take().or(found.actual);
                }
            }
            None if found.outcome != TestOutcome::Skipped => tests.push(found),
            None => {}
        }
    }
}
