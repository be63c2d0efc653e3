//! Counts of tests that cannot be: neither a verdict nor 0 of 0.

use model::{EndReason, Verdict};
use serde_json::json;

use crate::values_that_cannot_be::{Read, trial};

const STDOUT: &str = "verifier/test-stdout.txt";
const CTRF: &str = "verifier/ctrf.json";

#[test]
fn counts_that_cannot_be_are_unknown_and_no_failed_build() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job");
    let empty_object = json!({});
    let ctrf = |summary: &str| format!(r#"{{"results": {{"summary": {summary}, "tests": []}}}}"#);
    let lines = |counts: &str| format!("CASE_SUMMARY {counts}\n");
    for (name, file, text) in [
        ("more", STDOUT, lines("total_cases=3 success_count=9 fail_count=0")),
        ("negative", STDOUT, lines("total_cases=-3 success_count=-9 fail_count=0")),
        ("tests-negative", CTRF, ctrf(r#"{"tests": -1, "passed": -2, "failed": 0}"#)),
        ("tests-text", CTRF, ctrf(r#"{"tests": "3", "passed": "2", "failed": "1"}"#)),
        ("tests-more", CTRF, ctrf(r#"{"tests": 3, "passed": 9, "failed": 0}"#)),
        ("none", STDOUT, "make: *** [all] Error 2\n".to_owned()),
        ("zero", STDOUT, lines("total_cases=0 success_count=0 fail_count=0")),
        ("sum", STDOUT, lines("total_cases=3 success_count=1 fail_count=0")),
        ("cases", STDOUT, lines("total_cases=3 success_count=1 fail_count=2")),
    ] {
        trial(&job, name, &empty_object, &[(file, text)]);
    }
    let read = Read::from_folder(folder.path());
    for name in ["more", "negative", "tests-negative", "tests-text", "tests-more"] {
        let attempt = read.attempt(name);
        assert_eq!((attempt.passed, attempt.total, attempt.share()), (None, None, None), "{name}");
        assert_eq!(
            (attempt.verdict, attempt.end_reason),
            (Verdict::Failed, Some(EndReason::TestsFailed)),
            "{name}"
        );
        assert_eq!(read.codes(&format!("/{name}__")), ["value.not_usable"], "{name}");
    }
    for name in ["none", "zero"] {
        let attempt = read.attempt(name);
        assert_eq!((attempt.passed, attempt.total), (Some(0), Some(0)), "{name}");
        assert_eq!(attempt.end_reason, Some(EndReason::BuildFailed), "{name}");
    }
    assert_eq!((read.attempt("sum").passed, read.attempt("sum").total), (Some(1), Some(3)));
    assert_eq!(read.codes("/sum__"), ["cases.sum_mismatch"]);
}

#[test]
fn numbers_of_evocode_that_cannot_be_have_no_sum() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tasks")).unwrap();
    let index = r#"{"models": ["M"], "tasks": [{"task": "t", "n_rounds": 1, "score": {"M": 0.0}}]}"#;
    let task = r#"{"task": "t", "meta": {}, "n_rounds": 1, "rounds": [], "models": {"M": {
        "1": {"pass": 9, "total": 3, "fail": 0, "reward": 0}}}}"#;
    std::fs::write(folder.path().join("index.json"), index).unwrap();
    std::fs::write(folder.path().join("tasks/t.json"), task).unwrap();
    let read = Read::from_folder(folder.path());
    assert_eq!((read.attempt("t").passed, read.attempt("t").total), (None, None));
    assert_eq!(read.codes("tasks/t.json"), ["value.not_usable"]);
}
