//! The output of the tests, in the shape that pytest gives its own: what any reader of such logs understands.
//!
//! The suite is run by our client and not by pytest. Its first lines say so.

use std::fmt::Write as _;

use validation::client::{CaseResult, CaseStatus};

/// Width of pytest's lines where there is no terminal.
const WIDTH: usize = 80;
/// Entries in the section of failures.
const MOST_FAILURES: usize = 10_000;

/// The id of a case as pytest names it: `test_suites/turn_3.py::test_orders__create__minimal`.
pub(crate) fn test_id(turn: u32, case: &str) -> String {
    format!("test_suites/turn_{turn}.py::{}", scenario::code::test_name(case))
}

/// One letter for each case, pytest's own. A case that was not answered is an error.
pub(crate) fn letter(status: CaseStatus) -> char {
    match status {
        CaseStatus::Passed => '.',
        CaseStatus::Failed => 'F',
        CaseStatus::Error => 'E',
    }
}

/// Writes the output of a suite that ran.
pub(crate) fn write(turn: u32, cases: &[CaseResult], seconds: f64) -> String {
    let file = format!("test_suites/turn_{turn}.py");
    let mut out = String::with_capacity(4096 + cases.len() * 2);
    rule(&mut out, '=', "test session starts");
    let version = env!("CARGO_PKG_VERSION");
    let _ =
        writeln!(out, "platform http -- Stamina Lab {version}: the cases of {file}, run by its own client");
    let _ = writeln!(out, "collected {} item{}\n", cases.len(), if cases.len() == 1 { "" } else { "s" });
    progress(&mut out, &file, cases);
    let count = |status| cases.iter().filter(|case| case.status == status).count();
    let (failed, errors) = (count(CaseStatus::Failed), count(CaseStatus::Error));
    let passed = cases.len() - failed - errors;
    let shown = |status| cases.iter().filter(move |case| case.status == status).take(MOST_FAILURES);
    if errors > 0 {
        rule(&mut out, '=', "ERRORS");
        for case in shown(CaseStatus::Error) {
            entry(&mut out, &file, case, "ERROR at setup of ", "ConnectionError");
        }
    }
    if failed > 0 {
        rule(&mut out, '=', "FAILURES");
        for case in shown(CaseStatus::Failed) {
            entry(&mut out, &file, case, "", "AssertionError");
        }
    }
    if failed + errors > 0 {
        rule(&mut out, '=', "short test summary info");
        for (word, kind, status) in [
            ("FAILED", "AssertionError", CaseStatus::Failed),
            ("ERROR", "ConnectionError", CaseStatus::Error),
        ] {
            for case in shown(status) {
                let message = case.message.as_deref().unwrap_or("");
                let name = scenario::code::test_name(&case.id);
                let _ = writeln!(out, "{word} {file}::{name} - {kind}: {message}");
            }
        }
    }
    let mut parts = Vec::new();
    for (number, word) in [(failed, "failed"), (passed, "passed")] {
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    }
    if errors > 0 {
        parts.push(format!("{errors} error{}", if errors == 1 { "" } else { "s" }));
    }
    if parts.is_empty() {
        parts.push("no tests ran".to_owned());
    }
    rule(&mut out, '=', &format!("{} in {seconds:.2}s", parts.join(", ")));
    out
}

/// Letters, with the share at the end of each line.
fn progress(out: &mut String, file: &str, cases: &[CaseResult]) {
    let mut done = 0;
    let mut line = format!("{file} ");
    for case in cases {
        line.push(letter(case.status));
        done += 1;
        if line.chars().count() == WIDTH - 8 || done == cases.len() {
            let share = format!("[{:3}%]", done * 100 / cases.len().max(1));
            let _ = writeln!(out, "{line:<pad$} {share}", pad = WIDTH - 7);
            line.clear();
        }
    }
    out.push('\n');
}

fn entry(out: &mut String, file: &str, case: &CaseResult, before: &str, kind: &str) {
    rule(out, '_', &format!("{before}{}", scenario::code::test_name(&case.id)));
    let message = case.message.as_deref().unwrap_or("no message");
    let _ = writeln!(out, "\nE   {kind}: {message}\n\n{file}:1: {kind}");
}

fn rule(out: &mut String, line: char, title: &str) {
    let width = title.chars().count() + 2;
    let left = WIDTH.saturating_sub(width) / 2;
    let right = WIDTH.saturating_sub(width + left);
    for _ in 0..left.max(1) {
        out.push(line);
    }
    let _ = write!(out, " {title} ");
    for _ in 0..right.max(1) {
        out.push(line);
    }
    out.push('\n');
}
