//! One turn: its attempts, the tests of one of them, and those of two attempts joined.

use std::collections::{BTreeMap, BTreeSet};

use figures::table::{Column, Table, Value, known, maybe};
use model::{TestOutcome, TestResult, Verdict};

use super::played_runs::word;
use crate::Workbench;
use crate::api::{
    ApiError, AttemptChoice, AttemptDetail, FailureOrigin, TestHistory, TurnDetail, TurnRef, marked,
};
use crate::compare::members::joined_names;

/// Whose turn it is: `GLM-5 · OpenCode, scenario_3, turn 4`.
fn turn_name(turn: &TurnDetail) -> String {
    let names: Vec<&str> =
        [&turn.run.model, &turn.run.harness].into_iter().flatten().map(String::as_str).collect();
    let name = if names.is_empty() { turn.run.id.clone() } else { joined_names(names) };
    let row = &turn.episode.row;
    // Scenarios may share a title, and repeats of a scenario share both.
    let scenario = match row.title.as_deref() {
        Some(title) if title != row.scenario => format!("{} · {title}", row.scenario),
        _ => row.scenario.clone(),
    };
    let repeat = if row.repeat == 1 { String::new() } else { format!(", repeat {}", row.repeat) };
    format!("{}, {scenario}{repeat}, turn {}", marked(&name, turn.run.simulated), turn.number)
}

/// The attempt that is asked for; without a number the last.
fn chosen(
    workbench: &Workbench,
    attempt_ref: &AttemptChoice,
) -> Result<(TurnDetail, Option<AttemptDetail>), ApiError> {
    let AttemptChoice { run, episode, turn, attempt } = attempt_ref.clone();
    let mut detail = workbench.get_turn(TurnRef { run, episode, turn })?;
    let found = match attempt {
        None => detail.attempts.pop(),
        Some(number) => {
            let index = detail.attempts.iter().position(|a| a.number == number).ok_or_else(|| {
                ApiError::new("attempt.not_found", format!("The turn has no attempt {number}"))
                    .hint(format!("It has {}", detail.attempts.len()))
            })?;
            Some(detail.attempts.swap_remove(index))
        }
    };
    Ok((detail, found))
}

/// The attempts at a turn, one a row.
pub(super) fn attempts(workbench: &Workbench, turn_ref: &TurnRef) -> Result<Table, ApiError> {
    let turn = workbench.get_turn(turn_ref.clone())?;
    let columns = vec![
        Column::integer("attempt", "Attempt"),
        Column::text("verdict", "Verdict"),
        Column::text("end_reason", "Why it ended").missing("n/a"),
        Column::integer("passed", "Tests passed"),
        Column::integer("total", "Tests run"),
        Column::integer("failing_not_described", "Failing, not described"),
        Column::integer("regressed", "Regressed"),
        Column::number("reward", "Reward", 3).missing("n/a").for_machines(),
        Column::integer("input_tokens", "Tokens in"),
        Column::integer("cached_tokens", "Cached").for_machines(),
        Column::integer("output_tokens", "Tokens out"),
        Column::number("cost_usd", "Cost", 2).unit("US$"),
        Column::integer("tool_calls", "Tool calls"),
        Column::number("agent_seconds", "Agent time", 0).unit("s"),
        Column::number("test_seconds", "Test time", 0).unit("s"),
        Column::text("started_at", "Started").for_machines(),
        Column::text("finished_at", "Finished").for_machines(),
        Column::text("exception", "Exception").missing("none").for_machines(),
        Column::flag("simulated", "Simulated").for_machines(),
    ];
    let mut table = Table::new("attempts-of-turn", &format!("Attempts: {}", turn_name(&turn)), columns);
    for attempt in &turn.attempts {
        let AttemptDetail { tokens, timing, .. } = attempt;
        let exception = attempt.exception.as_ref().map(|(kind, message)| format!("{kind}: {message}"));
        // Nothing tells how many tests failed.
        let is_untold =
            attempt.verdict != Verdict::Passed && attempt.total.is_none() && attempt.histories.is_empty();
        table.push(vec![
            known(attempt.number),
            known(word(attempt.verdict)),
            maybe(attempt.end_reason.map(model::EndReason::label)),
            maybe(attempt.passed),
            maybe(attempt.total),
            maybe((!is_untold).then_some(attempt.failing_not_described)),
            maybe(if is_untold {
                None
            } else {
                regressed(&attempt.histories, attempt.failing_not_described)
            }),
            maybe(attempt.reward),
            maybe(tokens.input),
            maybe(tokens.cached),
            maybe(tokens.output),
            maybe(attempt.cost_usd),
            maybe(attempt.tool_calls),
            maybe(timing.agent_seconds),
            maybe(timing.test_seconds),
            maybe(timing.started_at.as_deref()),
            maybe(timing.finished_at.as_deref()),
            maybe(exception),
            known(turn.run.simulated),
        ]);
    }
    table.notes.push("A test regressed that fails and passed in an earlier turn or attempt.".to_owned());
    Ok(table)
}

/// How many failing tests regressed; `None` = tests failed, and of none is known how it stood before.
fn regressed(histories: &[TestHistory], not_described: u32) -> Option<u64> {
    let are_all_unknown = histories.iter().all(|test| test.history == FailureOrigin::Unknown);
    if are_all_unknown && (!histories.is_empty() || not_described > 0) {
        return None;
    }
    let is_regressed = |test: &&TestHistory| test.history == FailureOrigin::Regressed;
    Some(histories.iter().filter(is_regressed).count() as u64)
}

/// What is known of the tests of an attempt, one a row: those that failed first.
pub(super) fn tests(workbench: &Workbench, attempt_ref: &AttemptChoice) -> Result<Table, ApiError> {
    let (turn, attempt) = chosen(workbench, attempt_ref)?;
    let columns = vec![
        Column::text("test", "Test"),
        Column::text("outcome", "Came to"),
        Column::text("history", "History").missing("unknown"),
        Column::text("group", "Requirement").missing("not said"),
        Column::text("kind", "Kind").missing("not said").for_machines(),
        Column::text("intent", "About").missing("not said").for_machines(),
        Column::text("expected", "Expected").missing("not said"),
        Column::text("actual", "Actual").missing("not said"),
        Column::text("message", "What it said").missing("nothing").for_machines(),
    ];
    let number =
        attempt.as_ref().map_or_else(|| "not reached".to_owned(), |a| format!("attempt {}", a.number));
    let mut table = Table::new("tests", &format!("Tests: {}, {number}", turn_name(&turn)), columns);
    let Some(attempt) = attempt else { return Ok(table) };
    for (test, stood) in attempt.failing.iter().zip(&attempt.histories) {
        table.push(vec![
            known(test.id.as_str()),
            known(word(test.outcome)),
            maybe((stood.history != FailureOrigin::Unknown).then(|| word(stood.history))),
            maybe(test.group.as_deref()),
            maybe(test.kind.as_deref()),
            maybe(test.intent.as_deref()),
            maybe(test.expected.as_deref()),
            maybe(test.actual.as_deref()),
            maybe(test.message.as_deref()),
        ]);
    }
    for id in &attempt.passed_tests {
        table.push_absent(vec![known(id.as_str()), known("passed")], "n/a");
    }
    for id in &attempt.skipped_tests {
        table.push_absent(vec![known(id.as_str()), known("skipped")], "n/a");
    }
    let named = attempt.passed_tests.len();
    table.notes.push(counted(attempt.passed, attempt.total, named, attempt.failing_not_described));
    Ok(table)
}

/// How many tests an attempt passed and ran, and how many of them the table cannot name.
fn counted(passed: Option<u32>, total: Option<u32>, named: usize, not_described: u32) -> String {
    let failing = format!("{not_described} that failed are only counted");
    let Some(passed) = passed else {
        return format!("How many tests passed is unknown; {failing}.");
    };
    let tests_passed = total.map_or_else(
        || format!("{} passed, and how many ran is unknown", model::counted(passed.into(), "test")),
        |total| format!("{passed} of {} passed", model::counted(total.into(), "test")),
    );
    let silent = u64::from(passed).saturating_sub(named as u64);
    format!("{tests_passed}; {failing}, and {silent} that passed are not named by the source.")
}

/// How a test stands in an attempt, as far as known.
fn standing(attempt: &AttemptDetail) -> impl Fn(&str) -> Option<&'static str> {
    let failing: BTreeMap<&str, &TestResult> = attempt.failing.iter().map(|t| (t.id.as_str(), t)).collect();
    let passed: BTreeSet<&str> = attempt.passed_tests.iter().map(String::as_str).collect();
    let skipped: BTreeSet<&str> = attempt.skipped_tests.iter().map(String::as_str).collect();
    move |id| match failing.get(id) {
        Some(test) if test.outcome == TestOutcome::Error => Some("error"),
        Some(_) => Some("failed"),
        None if passed.contains(id) => Some("passed"),
        None if skipped.contains(id) => Some("skipped"),
        None if attempt.unnamed_passed => Some("passed (not among the failing ones)"),
        None => None,
    }
}

fn fails(standing: &str) -> bool {
    matches!(standing, "failed" | "error")
}

/// Whether a test fails on one side only; `None` = how it stands on a side is unknown.
fn differ(left: Option<&str>, right: Option<&str>) -> Option<bool> {
    Some(fails(left?) != fails(right?))
}

/// The order of joined tests: only left fails, only right, both, one with the other unknown, the rest.
fn place(left: Option<&str>, right: Option<&str>) -> u8 {
    match (left.map(fails), right.map(fails)) {
        (Some(true), Some(false)) => 0,
        (Some(false), Some(true)) => 1,
        (Some(true), Some(true)) => 2,
        (Some(true), None) => 3,
        (None, Some(true)) => 4,
        _ => 5,
    }
}

/// The tests of two attempts, joined by their ids: what fails at one side only comes first.
pub(super) fn joined(
    workbench: &Workbench,
    left: &AttemptChoice,
    right: &AttemptChoice,
) -> Result<Table, ApiError> {
    let sides = [chosen(workbench, left)?, chosen(workbench, right)?];
    let columns = vec![
        Column::text("test", "Test"),
        Column::text("left", "Left"),
        Column::text("right", "Right"),
        Column::flag("different", "Fails on one side only"),
        Column::text("left_expected", "Expected, left").missing("not said").for_machines(),
        Column::text("left_actual", "Actual, left").missing("not said"),
        Column::text("right_expected", "Expected, right").missing("not said").for_machines(),
        Column::text("right_actual", "Actual, right").missing("not said"),
        Column::text("left_message", "What it said, left").missing("nothing").for_machines(),
        Column::text("right_message", "What it said, right").missing("nothing").for_machines(),
    ];
    let mut table = Table::new("joined-tests", "Tests of two attempts, joined by their ids", columns);
    for ((turn, attempt), side) in sides.iter().zip(["Left", "Right"]) {
        let number =
            attempt.as_ref().map_or_else(|| "not reached".to_owned(), |a| format!("attempt {}", a.number));
        table.notes.push(format!("{side}: {}, {number}.", turn_name(turn)));
    }
    let attempts: Vec<&AttemptDetail> = sides.iter().filter_map(|(_, attempt)| attempt.as_ref()).collect();
    let ids: BTreeSet<&str> = attempts
        .iter()
        .flat_map(|a| {
            let others = a.passed_tests.iter().chain(&a.skipped_tests);
            a.failing.iter().map(|t| t.id.as_str()).chain(others.map(String::as_str))
        })
        .collect();
    let value_of = |side: usize, id: &str| sides[side].1.as_ref().and_then(|attempt| standing(attempt)(id));
    let result = |side: usize, id: &str| {
        sides[side].1.as_ref().and_then(|attempt| attempt.failing.iter().find(|t| t.id == id)).cloned()
    };
    let mut rows: Vec<(u8, &str)> =
        ids.into_iter().map(|id| (place(value_of(0, id), value_of(1, id)), id)).collect();
    rows.sort_unstable();
    for (_, id) in rows {
        let [left, right] = [result(0, id), result(1, id)];
        let text = |side: &Option<TestResult>, part: fn(&TestResult) -> &Option<String>| -> Option<Value> {
            maybe(side.as_ref().and_then(|test| part(test).as_deref()))
        };
        table.push(vec![
            known(id),
            maybe(value_of(0, id)),
            maybe(value_of(1, id)),
            maybe(differ(value_of(0, id), value_of(1, id))),
            text(&left, |t| &t.expected),
            text(&left, |t| &t.actual),
            text(&right, |t| &t.expected),
            text(&right, |t| &t.actual),
            text(&left, |t| &t.message),
            text(&right, |t| &t.message),
        ]);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use model::{Extra, Timing, Tokens};

    use super::*;

    /// A skipped test was unknown or said to have passed, and had no row where it failed in neither run.
    #[test]
    fn a_skipped_test_neither_passed_nor_failed() {
        let standing_where = |unnamed_passed| {
            let attempt = AttemptDetail {
                number: 1,
                verdict: Verdict::Failed,
                end_reason: None,
                passed: Some(3),
                total: Some(5),
                reward: None,
                failing: [("a", TestOutcome::Failed), ("b", TestOutcome::Error)]
                    .map(|(id, outcome)| TestResult::new(id, outcome))
                    .to_vec(),
                failing_not_described: 0,
                passed_tests: vec!["c".to_owned()],
                skipped_tests: vec!["d".to_owned()],
                unnamed_passed,
                histories: Vec::new(),
                tokens: Tokens::default(),
                cost_usd: None,
                tool_calls: None,
                steps: None,
                timing: Timing::default(),
                exception: None,
                grader_places: None,
                logs: Vec::new(),
                has_transcript: false,
                has_code: false,
                extra: Extra::default(),
            };
            ["a", "b", "c", "d", "e"].map(|id| standing(&attempt)(id))
        };
        let named = [Some("failed"), Some("error"), Some("passed"), Some("skipped")];
        assert_eq!(standing_where(false)[..4], named);
        assert_eq!(standing_where(true)[..4], named);
        assert_eq!(standing_where(false)[4], None);
        assert_eq!(standing_where(true)[4], Some("passed (not among the failing ones)"));
    }

    /// A test that failed on one side and was unknown on the other was said to fail on one side only.
    #[test]
    fn whether_a_test_differs_is_unknown_where_a_side_is() {
        let compared = |left, right| (differ(left, right), place(left, right));
        assert_eq!(compared(Some("failed"), Some("passed")), (Some(true), 0));
        assert_eq!(compared(Some("skipped"), Some("error")), (Some(true), 1));
        assert_eq!(compared(Some("error"), Some("failed")), (Some(false), 2));
        assert_eq!(compared(Some("failed"), None), (None, 3));
        assert_eq!(compared(None, Some("failed")), (None, 4));
        assert_eq!(compared(Some("passed"), Some("skipped")), (Some(false), 5));
        assert_eq!(compared(None, Some("passed")), (None, 5));
    }

    #[test]
    fn how_many_passed_tests_have_no_name_is_unknown_where_their_number_is() {
        let note = |passed, total| counted(passed, total, 0, 2);
        assert_eq!(note(None, None), "How many tests passed is unknown; 2 that failed are only counted.");
        assert_eq!(
            note(Some(3), Some(5)),
            "3 of 5 tests passed; 2 that failed are only counted, and 3 that passed are not named by the source."
        );
        assert!(note(Some(3), None).starts_with("3 tests passed, and how many ran is unknown; "));
        assert!(note(Some(0), Some(1)).starts_with("0 of 1 test passed; "));
    }

    #[test]
    fn how_many_regressed_is_unknown_where_no_history_is_known() {
        use FailureOrigin::{New, Regressed, Unknown};
        let all_so = |history: &[FailureOrigin]| {
            let stood = |history: &FailureOrigin| TestHistory {
                history: *history,
                passed_in_turn: None,
                since_turn: None,
            };
            history.iter().map(stood).collect::<Vec<_>>()
        };
        assert_eq!(regressed(&all_so(&[Unknown, Unknown]), 0), None);
        assert_eq!(regressed(&[], 3), None);
        assert_eq!(regressed(&[], 0), Some(0));
        assert_eq!(regressed(&all_so(&[New, Unknown]), 3), Some(0));
        assert_eq!(regressed(&all_so(&[New, Regressed, Unknown]), 0), Some(1));
    }
}
