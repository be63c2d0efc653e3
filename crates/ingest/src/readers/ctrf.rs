//! CTRF reports (`ctrf.json`, Common Test Report Format): `{results: {summary: {tests, passed, failed, skipped,
//! pending, other}, tests: [{name, status, message?, trace?, suite?, type?}]}}`.
//!
//! Skipped and pending tests did not run: they are not in `total`.

use model::{TestOutcome, TestResult};

use super::case_lines::TEST_CAP;
use super::json::Node;
use super::value::{self, UnusableValues};

/// What a report says.
#[derive(Debug)]
pub(crate) struct CtrfReport {
    /// Tests by name, up to [`TEST_CAP`].
    pub(crate) tests: Vec<TestResult>,
    /// Tests that the list has.
    pub(crate) listed: u32,
    /// Tests passed, by the summary where it says them, else by the list. `None` where that names no test.
    pub(crate) passed: Option<u32>,
    /// Tests run, likewise.
    pub(crate) total: Option<u32>,
}

/// Reads a report; `None` if it is none.
pub(crate) fn parse(root: &Node, unusable: &mut UnusableValues) -> Option<CtrfReport> {
    let results = root.get("results")?;
    let mut tests: Vec<TestResult> = Vec::new();
    let (mut listed, mut ran, mut passed) = (0, 0, 0);
    for test in results.get("tests").map_or(&[][..], Node::list).iter().filter_map(test) {
        listed += 1;
        ran += u32::from(test.outcome != TestOutcome::Skipped);
        passed += u32::from(test.outcome == TestOutcome::Passed);
        if tests.len() < TEST_CAP {
            tests.push(test);
        }
    }
    let summary = results.get("summary");
    if tests.is_empty() && summary.is_none() {
        return None;
    }
    let mut number = |key: &str| {
        let stated = summary.and_then(|summary| summary.get(key));
        unusable.take(&format!("ctrf.json summary.{key}"), stated, value::count)
    };
    let not_run = number("skipped").unwrap_or(0).saturating_add(number("pending").unwrap_or(0));
    let if_listed = |count: u32| (listed > 0).then_some(count);
    Some(CtrfReport {
        passed: number("passed").or_else(|| if_listed(passed)),
        total: number("tests").map(|all| all.saturating_sub(not_run)).or_else(|| if_listed(ran)),
        tests,
        listed,
    })
}

fn test(node: &Node) -> Option<TestResult> {
    let text = |key: &str| node.get(key).and_then(Node::word).map(str::to_owned);
    let outcome = match node.get("status")?.text()? {
        "passed" => TestOutcome::Passed,
        "failed" => TestOutcome::Failed,
        "skipped" | "pending" => TestOutcome::Skipped,
        _ => TestOutcome::Error,
    };
    let mut test = TestResult::new(text("name")?, outcome);
    if test.is_failing() {
        test.group = text("suite");
        test.kind = text("type");
        test.message = match (text("message"), text("trace")) {
            (Some(message), Some(trace)) if !trace.contains(&message) => Some(format!("{message}\n{trace}")),
            (message, trace) => trace.or(message),
        };
    }
    Some(test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_and_skipped_tests_did_not_run() {
        let node: Node = serde_json::from_str(
            r#"{"results": {"tool": {"name": "pytest"}, "summary": {"tests": 4, "passed": 1, "failed": 2, "skipped": 1, "pending": 0, "other": 0},
               "tests": [{"name": "a::b", "status": "passed"}, {"name": "a::c", "status": "failed", "trace": "boom\nE assert", "message": "boom"},
                         {"name": "a::d", "status": "skipped"}, {"name": "a::e", "status": "other"}, {"status": "passed"}, 3]}}"#,
        )
        .unwrap();
        let report = parse(&node, &mut UnusableValues::default()).unwrap();
        assert_eq!((report.passed, report.total, report.tests.len()), (Some(1), Some(3), 4));
        assert_eq!(report.tests[1].message.as_deref(), Some("boom\nE assert"));
        assert_eq!(report.tests[3].outcome, TestOutcome::Error);
        let no_results = serde_json::from_str("{\"results\": 3}").unwrap();
        assert!(parse(&no_results, &mut UnusableValues::default()).is_none());
    }

    #[test]
    fn counts_that_cannot_be_are_unknown_or_those_of_the_list() {
        let read = |summary: &str, tests: &str| {
            let json = format!(r#"{{"results": {{"summary": {summary}, "tests": {tests}}}}}"#);
            let mut unusable = UnusableValues::default();
            let report = parse(&serde_json::from_str(&json).unwrap(), &mut unusable).unwrap();
            let message = unusable.warning("f").map(|warning| warning.message).unwrap_or_default();
            (report.passed, report.total, message.matches("ctrf.json summary.").count())
        };
        let list = r#"[{"name": "a", "status": "passed"}, {"name": "b", "status": "failed"}]"#;
        assert_eq!(read(r#"{"tests": "3", "passed": "2", "failed": 1}"#, "[]"), (None, None, 2));
        assert_eq!(read(r#"{"tests": "3", "passed": "2", "failed": 1}"#, list), (Some(1), Some(2), 2));
        assert_eq!(read(r#"{"tests": -1, "passed": 0.5}"#, "[]"), (None, None, 2));
        assert_eq!(read(r#"{"tests": 3}"#, "[]"), (None, Some(3), 0));
    }
}
