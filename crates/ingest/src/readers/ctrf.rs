//! CTRF reports (`ctrf.json`, Common Test Report Format): `{results: {summary: {tests, passed, failed, skipped,
//! pending, other}, tests: [{name, status, message?, trace?, suite?, type?}]}}`.
//!
//! Skipped and pending tests did not run: they are not in `total`.

use model::{TestOutcome, TestResult};

use super::case_lines::TEST_CAP;
use super::json::Node;

/// What a report says.
#[derive(Debug)]
pub struct CtrfReport {
    /// Tests by name, up to [`TEST_CAP`].
    pub tests: Vec<TestResult>,
    /// Tests that the list has.
    pub listed: u32,
    /// Tests passed, by the summary where it is there, else by the list.
    pub passed: u32,
    /// Tests run, likewise.
    pub total: u32,
}

/// Reads a report; `None` if it is none.
pub fn parse(root: &Node) -> Option<CtrfReport> {
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
    let number = |key: &str| Some(u32::try_from(summary?.get(key)?.count()?).unwrap_or(u32::MAX));
    let not_run = number("skipped").unwrap_or(0).saturating_add(number("pending").unwrap_or(0));
    Some(CtrfReport {
        passed: number("passed").unwrap_or(passed),
        total: number("tests").map_or(ran, |all| all.saturating_sub(not_run)),
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
        let report = parse(&node).unwrap();
        assert_eq!((report.passed, report.total, report.tests.len()), (1, 3, 4));
        assert_eq!(report.tests[1].message.as_deref(), Some("boom\nE assert"));
        assert_eq!(report.tests[3].outcome, TestOutcome::Error);
        assert!(parse(&serde_json::from_str("{\"results\": 3}").unwrap()).is_none());
    }
}
