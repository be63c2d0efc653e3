//! Logs that real pytests wrote (`tests/fixtures/pytest/make.sh`), read back.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its fixtures has failed")]

use std::fmt::Write as _;
use std::path::PathBuf;

use ingest::readers::pytest::{Counts, PytestLog, last_line, parse};
use model::{TestOutcome, TestResult};
use proptest::prelude::*;

fn text(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/pytest/logs").join(name);
    let bytes = std::fs::read(path.with_extension("txt")).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn log(name: &str) -> PytestLog {
    parse(&text(name))
}

fn failing(log: &PytestLog) -> Vec<&str> {
    log.failing().map(|t| t.id.as_str()).collect()
}

fn find<'a>(log: &'a PytestLog, id: &str) -> &'a TestResult {
    log.tests.iter().find(|t| t.id == id).unwrap_or_else(|| panic!("no {id} in {:#?}", log.tests))
}

/// What the suite `shop` gives, however it is printed.
const SHOP_FAILING: [&str; 11] = [
    "tests/test_orders.py::TestOrders::test_cancel_shipped",
    "tests/test_orders.py::test_body",
    "tests/test_orders.py::test_names[a - b]",
    "tests/test_refunds.py::test_deep",
    "tests/test_refunds.py::test_pool",
    "tests/test_refunds.py::test_raises",
    "tests/test_refunds.py::test_refund[-1-422]",
    "tests/test_refunds.py::test_same_name",
    "tests/test_refunds.py::test_server_is_up",
    "tests/test_reports.py::test_same_name",
    "tests/test_reports.py::test_text",
];

#[test]
fn every_way_of_printing_gives_the_same_numbers_and_failing_tests() {
    for name in [
        "plain",
        "quiet",
        "quiet2",
        "verbose",
        "verbose2",
        "colour", // words: ok: the name of a fixture.
        "colour_plain",
        "short_traceback",
        "line_traceback",
        "native_traceback",
        "no_traceback",
        "wide",
        "xdist",
        "xdist_plain",
        "xdist_colour",
        "wide_columns",
        "ci",
        "old_plain",
        "old_quiet",
        "old_verbose",
        "old_verbose2",
        "old_xdist",
    ] {
        let log = log(name);
        assert_eq!(log.passed_of_total(), Some((14, 25)), "{name}: {:?}", log.counts);
        let c = log.counts;
        assert_eq!(
            (c.passed, c.failed, c.errors, c.skipped, c.xfailed, c.xpassed),
            (13, 9, 2, 1, 1, 1),
            "{name}"
        );
        let mut ids = failing(&log);
        ids.sort_unstable();
        assert_eq!(ids, SHOP_FAILING, "{name}");
        assert_eq!(log.all_passed(), Some(false), "{name}");
        assert_eq!(log.has_summary, name != "quiet2", "{name}");
        for test in log.failing() {
            assert!(test.message.is_some(), "{name}: {} has no message", test.id);
        }
    }
}

#[test]
fn verbose_logs_name_the_tests_that_passed() {
    for name in [
        "verbose",
        "verbose2",
        "colour", // words: ok: the name of a fixture.
        "xdist",
        "xdist_colour",
        "wide",
        "wide_columns",
        "no_summary",
        "old_verbose",
        "old_xdist",
    ] {
        let log = log(name);
        assert_eq!(log.tests.len(), 26, "{name}");
        assert_eq!(log.collected, Some(26), "{name}");
        for id in [
            "tests/test_orders.py::test_names[with space]",
            "tests/test_orders.py::test_names[br[ack]ets]",
            "tests/test_orders.py::test_names[x::y]",
            "tests/test_orders.py::test_names[]",
        ] {
            assert_eq!(find(&log, id).outcome, TestOutcome::Passed, "{name}");
        }
        assert_eq!(find(&log, "tests/test_refunds.py::test_known").outcome, TestOutcome::Skipped, "{name}");
        assert_eq!(
            find(&log, "tests/test_refunds.py::test_pool").outcome,
            TestOutcome::Error,
            "{name}: torn down with an error"
        );
    }
}

#[test]
fn messages_go_to_their_tests_and_comparisons_are_taken_apart() {
    for name in [
        "plain",
        "verbose",
        "xdist",
        "colour", // words: ok: the name of a fixture.
        "wide",
        "old_plain",
        "old_xdist",
        "short_traceback",
        "ci",
    ] {
        let log = log(name);
        let cancel = find(&log, "tests/test_orders.py::TestOrders::test_cancel_shipped");
        assert_eq!(
            (cancel.expected.as_deref(), cancel.actual.as_deref()),
            (Some("409"), Some("201")),
            "{name}"
        );
        let refund = find(&log, "tests/test_refunds.py::test_refund[-1-422]");
        assert_eq!(
            (refund.expected.as_deref(), refund.actual.as_deref()),
            (Some("422"), Some("500")),
            "{name}"
        );
        let message = refund.message.as_deref().unwrap();
        assert!(
            message.starts_with("AssertionError: POST /refunds amount=-1: expected 422, got 500: amount\n"),
            "{name}: {message}"
        );
        assert!(message.contains("must not be negative"), "{name}");
        let body = find(&log, "tests/test_orders.py::test_body");
        assert_eq!(body.expected.as_deref(), Some("{'state': 'cancelled'}"), "{name}");
        // Two tests of the same name in two files.
        let lists = find(&log, "tests/test_refunds.py::test_same_name").message.as_deref().unwrap();
        assert!(lists.contains("[1, 2, 3] == [1, 2, 4]"), "{name}: {lists}");
        let words = find(&log, "tests/test_reports.py::test_same_name").message.as_deref().unwrap();
        assert!(words.contains("'total' in {'count': 3}"), "{name}: {words}");
        assert_eq!(
            find(&log, "tests/test_refunds.py::test_deep").message.as_deref(),
            Some("KeyError: 'b'"),
            "{name}"
        );
        let server_test = find(&log, "tests/test_refunds.py::test_server_is_up");
        assert_eq!(
            (server_test.outcome, server_test.message.as_deref()),
            (TestOutcome::Error, Some("ConnectionRefusedError: [Errno 111] Connection refused")),
            "{name}"
        );
    }
    let native = log("native_traceback");
    let cancel = find(&native, "tests/test_orders.py::TestOrders::test_cancel_shipped");
    assert!(cancel.message.as_deref().unwrap().contains("assert 201 == 409"), "{cancel:?}");
}

#[test]
fn what_stops_pytest_is_not_a_pass() {
    let broken = log("collection_error");
    assert_eq!(broken.passed_of_total(), Some((0, 2)));
    assert_eq!(broken.collection_errors, 2);
    assert_eq!(broken.stopped.as_deref(), Some("Interrupted: 2 errors during collection"));
    assert_eq!(failing(&broken), ["test_broken.py", "test_syntax.py"]);
    assert!(
        find(&broken, "test_broken.py")
            .message
            .as_deref()
            .unwrap()
            .starts_with("ModuleNotFoundError: No module named")
    );
    assert!(
        find(&broken, "test_syntax.py").message.as_deref().unwrap().ends_with("SyntaxError: invalid syntax")
    );
    for name in ["collection_error_quiet", "old_collection_error"] {
        assert_eq!((log(name).passed_of_total(), log(name).collection_errors), (Some((0, 2)), 2), "{name}");
    }
    for name in ["collection_error_go_on", "collection_error_xdist"] {
        assert_eq!((log(name).passed_of_total(), log(name).collection_errors), (Some((1, 3)), 2), "{name}");
    }

    let internal = log("internal_error");
    assert_eq!(internal.counts.passed, 2);
    assert_eq!(internal.internal_error.as_deref(), Some("ValueError: a plugin broke"));
    assert_eq!(internal.all_passed(), Some(false));
    assert_eq!(last_line(&text("internal_error")), None, "the numbers alone would read as a pass");

    let stopped = log("maxfail");
    assert_eq!(stopped.stopped.as_deref(), Some("stopping after 1 failures"));
    assert_eq!(stopped.passed_of_total(), Some((1, 2)));

    for name in ["no_tests", "no_tests_quiet", "wrong_path"] {
        assert_eq!(
            (log(name).passed_of_total(), log(name).all_passed()),
            (Some((0, 0)), Some(false)),
            "{name}"
        );
    }
    let collected = log("collect_only");
    assert_eq!((collected.counts.collected_only, collected.passed_of_total()), (26, Some((0, 0))));
    assert!(!log("wrong_option").is_pytest);
}

#[test]
fn crashes_and_timeouts() {
    let worker = log("crash_xdist");
    assert_eq!(worker.passed_of_total(), Some((4, 5)));
    let crashed = find(&worker, "test_crash.py::test_kills_its_worker");
    assert_eq!(
        crashed.message.as_deref(),
        Some("worker 'gw1' crashed while running 'test_crash.py::test_kills_its_worker'")
    );

    let lost = log("crash");
    assert!(lost.truncated && !lost.has_summary);
    assert_eq!(lost.running.as_deref(), Some("test_crash.py::test_kills_its_worker"));
    assert_eq!((lost.counts.passed, lost.passed_of_total(), lost.all_passed()), (4, None, None));

    for name in ["timeout_signal", "old_timeout_signal"] {
        let signal = log(name);
        assert_eq!((signal.passed_of_total(), signal.timed_out), (Some((2, 3)), true), "{name}");
        assert!(
            find(&signal, "test_hang.py::test_hangs").message.as_deref().unwrap().contains("Timeout >1.0s")
                || find(&signal, "test_hang.py::test_hangs")
                    .message
                    .as_deref()
                    .unwrap()
                    .contains("Timeout (>1.0s)"),
            "{name}"
        );
    }
    let thread = log("timeout_thread");
    assert!(thread.truncated && thread.timed_out);
    assert_eq!((thread.running.as_deref(), thread.counts.passed), (Some("test_hang.py::test_hangs"), 1));
}

#[test]
fn reruns_deselection_and_strict_expectations() {
    // The older one fails, and so reruns, the test with subtests as well.
    for (name, reruns) in [("rerun", 8), ("old_rerun", 10)] {
        let log = log(name);
        assert_eq!(log.counts.reruns, reruns, "{name}");
        assert_eq!(find(&log, "test_flaky.py::test_flaky").outcome, TestOutcome::Passed, "{name}");
        assert_eq!(find(&log, "test_flaky.py::test_never_good").outcome, TestOutcome::Failed, "{name}");
    }
    assert_eq!(log("rerun_plain").counts.reruns, 8);
    let deselected = log("deselected");
    assert_eq!(
        (deselected.counts.deselected, deselected.collected, deselected.passed_of_total()),
        (16, Some(10), Some((4, 9)))
    );
    let strict = log("strict_xfail");
    assert_eq!(strict.passed_of_total(), Some((0, 1)));
    assert_eq!(
        find(&strict, "tests/test_refunds.py::test_known_and_good").message.as_deref(),
        Some("[XPASS(strict)] was wrong once")
    );
    assert_eq!(failing(&log("warnings_error")), ["tests/test_orders.py::test_noise"]);
    assert_eq!(log("one_file").passed_of_total(), Some((1, 3)));
}

#[test]
fn what_a_test_prints_is_not_taken_for_pytest() {
    for name in ["printing", "printing_s"] {
        let log = log(name);
        assert_eq!(log.passed_of_total(), Some((1, 4)), "{name}");
        assert!(!log.tests.iter().any(|t| t.id.contains("not_there")), "{name}: {:?}", log.tests);
        let ids = failing(&log);
        assert_eq!(
            ids,
            [
                "test_printing.py::test_prints_a_summary",
                "test_printing.py::TestOld::test_equal",
                "test_printing.py::TestOld::test_sub (i=1)"
            ],
            "{name}"
        );
        assert_eq!(
            find(&log, "test_printing.py::TestOld::test_sub (i=1)").message.as_deref(),
            Some("AssertionError: 1 == 1"),
            "{name}"
        );
    }
}

#[test]
fn a_log_cut_off_anywhere_never_claims_a_pass() {
    for name in ["verbose", "plain", "quiet", "xdist"] {
        let whole = text(name);
        let end = whole.trim_end().rfind('\n').unwrap();
        for index in (0..end).step_by(37).filter(|index| whole.is_char_boundary(*index)) {
            let log = parse(&whole[..index]);
            assert_ne!(log.all_passed(), Some(true), "{name} cut at {index}");
            assert!(
                log.counts.passed <= 13 && log.counts.failed <= 9,
                "{name} cut at {index}: {:?}",
                log.counts
            );
        }
    }
    let index = text("plain").find("=== FAILURES").unwrap();
    let log = parse(&text("plain")[..index]);
    assert_eq!(log.passed_of_total(), Some((14, 25)), "the progress went to 100 %");
}

#[test]
fn windows_line_ends_and_bytes_that_are_no_text() {
    let unix = log("verbose");
    assert_eq!(parse(&text("verbose").replace('\n', "\r\n")), unix);
    let mut bytes = text("verbose").into_bytes();
    let index = text("verbose").find("POST /orders/2").unwrap();
    bytes[index] = 0xff;
    assert_eq!(parse(&String::from_utf8_lossy(&bytes)).passed_of_total(), Some((14, 25)));
    assert!(!parse("\u{feff}").is_pytest);
    assert!(!parse("").is_pytest);
}

#[test]
fn the_last_line_alone_agrees_with_the_whole_log() {
    for entry in
        std::fs::read_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/pytest/logs"))
            .unwrap()
    {
        let path = entry.unwrap().path();
        let whole = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let log = parse(&whole);
        let tail = &whole[whole.floor_char_boundary(whole.len().saturating_sub(512))..];
        match last_line(tail) {
            Some(counts) => assert_eq!(counts, log.counts, "{}", path.display()),
            None => assert!(
                !log.has_summary || log.stopped.is_some() || log.internal_error.is_some(),
                "{}",
                path.display()
            ),
        }
    }
}

/// A log as pytest would write it for the given outcomes.
fn written(outcomes: &[u8], verbose: bool, width: usize) -> (String, Counts) {
    let mut counts = Counts { seconds: Some(0.12), ..Counts::default() };
    let rule = |title: &str, fill: &str| {
        let n = width.saturating_sub(title.len() + 2) / 2;
        let mut line = format!("{0} {title} {0}", fill.repeat(n.max(1)));
        if line.len() < width {
            line.push_str(fill);
        }
        line
    };
    let mut out = format!("{}\ncollected {} items\n\n", rule("test session starts", "="), outcomes.len());
    let (mut failures, mut summary) = (String::new(), String::new());
    if !verbose {
        out.push_str("tests/test_x.py ");
    }
    for (n, outcome) in outcomes.iter().enumerate() {
        let id = format!("tests/test_x.py::test_{n}[a {n} - b]");
        let (letter, word, count) = match outcome {
            0 => ('.', "PASSED", &mut counts.passed),
            1 => ('F', "FAILED", &mut counts.failed),
            2 => ('E', "ERROR", &mut counts.errors),
            _ => ('s', "SKIPPED (why not)", &mut counts.skipped),
        };
        *count += 1;
        if verbose {
            let _ = writeln!(out, "{id} {word} [{:3}%]", (n + 1) * 100 / outcomes.len());
        } else {
            out.push(letter);
        }
        if *outcome == 1 {
            let _ = writeln!(
                failures,
                "{}\nE       assert {n} == -1\n\ntests/test_x.py:{n}: AssertionError",
                rule(&format!("test_{n}[a {n} - b]"), "_")
            );
        }
        if *outcome == 1 || *outcome == 2 {
            let _ = writeln!(
                summary,
                "{} {id} - assert {n} == -1",
                if *outcome == 1 { "FAILED" } else { "ERROR" }
            );
        }
    }
    let mut parts = Vec::new();
    for (n, word) in [
        (counts.failed, "failed"),
        (counts.passed, "passed"),
        (counts.skipped, "skipped"),
        (counts.errors, "errors"),
    ] {
        if n > 0 {
            parts.push(format!("{n} {word}"));
        }
    }
    if parts.is_empty() {
        parts.push("no tests ran".into());
    }
    let _ = write!(
        out,
        "\n{}\n{failures}{}\n{summary}{}\n",
        rule("FAILURES", "="),
        rule("short test summary info", "="),
        rule(&format!("{} in 0.12s", parts.join(", ")), "=")
    );
    (out, counts)
}

/// A log in which every test failed, all of one name.
fn failures_of_one_name(count: u32) -> String {
    let (mut text, mut summary) = (String::new(), String::new());
    for n in 0..count {
        let _ = write!(
            text,
            "____________________________________ test_a ____________________________________\n\nE       assert {n} == -1\n\ntests/test_{n}.py:3: AssertionError\n"
        );
        let _ = writeln!(summary, "FAILED tests/test_{n}.py::test_a - assert {n} == -1");
    }
    format!(
        "============================= test session starts ==============================\ncollected {count} items\n\n=================================== FAILURES ===================================\n{text}=========================== short test summary info ============================\n{summary}{count} failed in 1.00s\n"
    )
}

/// Walking every list for every entry takes 256 times as long for sixteen times as many.
#[test]
fn many_failures_of_one_name_take_no_longer_than_others() {
    let time_parsing = |text: &str| {
        let start = std::time::Instant::now();
        let (log, time_parsing) = (parse(text), start.elapsed());
        assert!((0..).zip(&log.tests).all(|(n, t)| t.actual.as_deref() == Some(format!("{n}").as_str())));
        (log.tests.len(), time_parsing)
    };
    let [few, many] = [1_250, 20_000].map(|count| {
        let text = failures_of_one_name(count);
        (0..3).map(|_| time_parsing(&text)).min().unwrap()
    });
    assert_eq!((few.0, many.0), (1_250, 20_000));
    assert!(many.1 < few.1 * 100, "{few:?}, and of sixteen times as many {many:?}");
}

#[test]
fn a_terminal_narrower_than_the_first_banner_hides_no_numbers() {
    let (text, counts) = written(&[0], false, 20);
    assert_eq!(parse(&text).counts, counts);
}

proptest! {
    #[test]
    fn counts_agree(outcomes in prop::collection::vec(0u8..4, 0..40), verbose: bool, width in 20usize..200) {
        let (text, counts) = written(&outcomes, verbose, width);
        let log = parse(&text);
        prop_assert_eq!(log.counts, counts);
        prop_assert_eq!(log.failing().count() as u32, counts.failed + counts.errors);
        if verbose {
            prop_assert_eq!(log.tests.len(), outcomes.len());
            let named = |o| log.tests.iter().filter(|t| t.outcome == o).count() as u32;
            prop_assert_eq!(named(TestOutcome::Passed), counts.passed);
        }
        for test in log.tests.iter().filter(|t| t.outcome == TestOutcome::Failed) {
            prop_assert_eq!(test.expected.as_deref(), Some("-1"));
        }
    }

    #[test]
    fn nothing_makes_it_panic(pieces in prop::collection::vec(prop_oneof![
        Just("=== FAILURES ===\n".to_owned()), Just("=== short test summary info ===\n".to_owned()),
        Just("___ test_x[ ___\n".to_owned()), Just("E   assert 'a == b\n".to_owned()), Just("t.py::x[".to_owned()), Just(" PASSED (".to_owned()),
        Just("[gw0] [ 1%] ".to_owned()), Just("FAILED ".to_owned()), Just("\u{1b}[3".to_owned()), Just("\u{1b}]x".to_owned()), Just("\r".to_owned()), Just("\n".to_owned()),
        Just("SUBFAILED(é) t.py::".to_owned()), Just("99999999999 passed in 1s\n".to_owned()), Just("4294967295 passed, 4294967295 failed in 1s\n".to_owned()), Just("[100%]\n".to_owned()), "\\PC{0,20}", any::<String>(),
    ], 0..30)) {
        let text = pieces.concat();
        let log = parse(&text);
        let _ = (log.passed_of_total(), log.all_passed(), last_line(&text));
    }
}
