//! The tests of a graded step: CASE lines, a CTRF report, or the output of pytest.

use model::{Attempt, Counting, STATED_FAILING, TestResult, Warning};

use crate::format_trait::Report;
use crate::readers::json::Node;
use crate::readers::value::UnusableValues;
use crate::readers::{case_lines, ctrf, pytest};
use files::{Tree, join};

use super::layout::is_file;

const OUTPUT_CAP: u64 = 32 << 20;
const OUTPUT_TAIL: u64 = 1 << 20;

/// Where the tests of a step were read from.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestSources {
    /// Whether there were CASE lines. Other tests are shown and are no cases of the case score.
    pub(super) cases: bool,
    /// Whether CASE lines or a CTRF report count the tests, if only by numbers that cannot be.
    pub(super) counted: bool,
}

/// Tests from CASE lines, else a CTRF report, else pytest's output.
pub(super) fn read(
    tree: &Tree,
    folder: &str,
    attempt: &mut Attempt,
    unusable: &mut UnusableValues,
    report: &mut Report,
) -> TestSources {
    let verifier = join(folder, "verifier");
    let stdout = join(&verifier, "test-stdout.txt");
    let output = if is_file(tree, &stdout) { output(tree, &stdout, report) } else { None };
    let log = output.as_deref().map(case_lines::parse).unwrap_or_default();
    if !log.is_empty() {
        take_cases(log, &stdout, attempt, &mut |warning| report.warn(warning));
        return TestSources { cases: true, counted: true };
    }
    attempt.counting = Counting::Outside;
    let path = join(&verifier, "ctrf.json");
    if is_file(tree, &path) {
        match tree.read_json::<Node>(&path, OUTPUT_CAP) {
            Ok(node) => {
                report.files_read += 1;
                if let Some(found) = ctrf::parse(&node, unusable) {
                    (attempt.passed, attempt.total) = (found.passed, found.total);
                    if let Some(warning) = too_many_tests(&path, found.listed, found.tests.len()) {
                        report.warn(warning);
                    }
                    attempt.tests = numbered(found.tests);
                    return TestSources { cases: false, counted: true };
                }
            }
            Err(error) => {
                report.unreadable(&path, &error, "The tests are told from their output, if it names them.");
            }
        }
    }
    if let Some(output) = output {
        let log = pytest::parse(&output);
        take_pytest(log, attempt);
    }
    TestSources { cases: false, counted: false }
}

/// Takes over the cases of an output.
pub(in crate::formats) fn take_cases(
    log: case_lines::CaseLog,
    path: &str,
    attempt: &mut Attempt,
    warn: &mut dyn FnMut(Warning),
) {
    let mut odd = UnusableValues::default();
    match log.summary {
        Some(summary) if summary.passed > summary.total => {
            let numbers = format!("{} of {}", summary.passed, summary.total);
            odd.add("CASE_SUMMARY tests passed of total", &numbers.as_str().into());
            attempt.extra.insert("case_summary".to_owned(), numbers.into());
            (attempt.passed, attempt.total) = (None, None);
        }
        Some(summary) => {
            (attempt.passed, attempt.total) = (Some(summary.passed), Some(summary.total));
            if summary.passed.saturating_add(summary.failed) != summary.total {
                attempt.extra.insert(STATED_FAILING.to_owned(), summary.failed.into());
                warn(Warning::read_differently(
                    path,
                    "cases.sum_mismatch",
                    format!(
                        "CASE_SUMMARY counts {} passed and {} failed of {}. The numbers are kept as they stand.",
                        summary.passed, summary.failed, summary.total
                    ),
                ));
            }
            let described = log.failing;
            if summary.failed > described {
                warn(Warning::repaired(
                    path,
                    "cases.not_described",
                    format!(
                        "CASE_SUMMARY counts {}, of which {described} {} described. The summary's counts are used.",
                        model::counted(summary.failed.into(), "failed case"),
                        if described == 1 { "is" } else { "are" }
                    ),
                ));
            }
        }
        None if log.total == 0 => {
            let numbers = log.odd_summary.unwrap_or_default();
            odd.add("CASE_SUMMARY", &numbers.as_str().into());
            attempt.extra.insert("case_summary".to_owned(), numbers.into());
            (attempt.passed, attempt.total) = (None, None);
        }
        None => {
            if let Some(numbers) = &log.odd_summary {
                odd.add("CASE_SUMMARY", &numbers.as_str().into());
            }
            // Shown, but the published case score counts a step without summary as 0.
            (attempt.passed, attempt.total) = (Some(log.passed), Some(log.total));
            attempt.counting = Counting::Zero;
            attempt.extra.insert("case_summary".to_owned(), false.into());
            warn(Warning::repaired(
                path,
                "cases.no_summary",
                "There is no whole CASE_SUMMARY: the CASE_RESULT lines are counted. The case score counts this step as 0.",
            ));
        }
    }
    if let Some(warning) = odd.warning(path) {
        warn(warning);
    }
    if let Some(warning) = too_many_tests(path, log.total, log.tests.len()) {
        warn(warning);
    }
    attempt.tests = log.tests;
}

/// Says that not all tests are kept by name.
fn too_many_tests(path: &str, total: u32, named_count: usize) -> Option<Warning> {
    (total as usize > named_count).then(|| {
        let message =
            format!("It names {total} tests. All are counted, the first {named_count} are kept by name.");
        Warning::read_differently(path, "tests.too_many", message)
    })
}

/// Tests of the same name are numbered, so that each has an id of its own.
fn numbered(mut tests: Vec<TestResult>) -> Vec<TestResult> {
    let mut times_by_id = std::collections::HashMap::<String, u32>::new();
    for test in &mut tests {
        let times = times_by_id.entry(test.id.clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            test.id = format!("{}#{times}", test.id);
        }
    }
    tests
}

/// The output of the tests; of a very large one the begin and the end.
fn output(tree: &Tree, path: &str, report: &mut Report) -> Option<String> {
    let read = tree.read_range(path, 0, OUTPUT_CAP).and_then(|(mut bytes, total)| {
        if total > OUTPUT_CAP {
            let offset = total.saturating_sub(OUTPUT_TAIL).max(OUTPUT_CAP);
            bytes.push(b'\n');
            bytes.extend(tree.read_range(path, offset, OUTPUT_TAIL)?.0);
            report.warn(Warning::read_differently(
                path,
                "file.cut",
                format!("The output has {total} bytes: its first 32 MiB and its last 1 MiB were read."),
            ));
        }
        Ok(bytes)
    });
    match read {
        Ok(bytes) => {
            report.files_read += 1;
            Some(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => {
                    let message = "It is not UTF-8 everywhere: what is not is read as “�”.";
                    report.warn(Warning::repaired(path, "file.not_utf8", message));
                    String::from_utf8_lossy(error.as_bytes()).into_owned()
                }
            })
        }
        Err(error) => {
            report.unreadable(path, &error, "The step's tests are unknown; its reward decides.");
            None
        }
    }
}

fn take_pytest(log: pytest::PytestLog, attempt: &mut Attempt) {
    if !log.is_pytest {
        return;
    }
    if let Some((passed, total)) = log.passed_of_total() {
        (attempt.passed, attempt.total) = (Some(passed), Some(total));
    }
    attempt.tests = numbered(log.tests);
}
