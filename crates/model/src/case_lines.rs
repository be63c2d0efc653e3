//! CASE lines: what the tests of EvoCode-style tasks print.
//!
//! ```text
//! CASE_RESULT case_id=… origin_step=… requirement_ref=… case_type=… status=success|fail intent="…" scenario="…"
//!             input="…" expected="…" actual="…" failure_reason="…"          (one line, keys in this order)
//! CASE_SUMMARY total_cases=<n> success_count=<n> fail_count=<n>
//! ```
//!
//! Values are not escaped: a text may hold double quotes, even something that looks like the end of a value. The parser
//! therefore splits a line at the *keys*, in their order, and never at quotes. It accepts missing keys, a missing summary,
//! CRLF and color codes. It joins a value that holds a line break, if the last key follows.

use std::collections::HashMap;

use crate::{TestOutcome, TestResult, strip_ansi};

/// The keys of a CASE_RESULT line in their order, and whether their values are quoted.
const KEYS: [(&str, bool); 11] = [
    ("case_id", false),
    ("origin_step", false),
    ("requirement_ref", false),
    ("case_type", false),
    ("status", false),
    ("intent", true),
    ("scenario", true),
    ("input", true),
    ("expected", true),
    ("actual", true),
    ("failure_reason", true),
];
/// How many cases are kept by name. Further cases are only counted.
pub const TEST_CAP: usize = 100_000;
/// The keys of a CASE_SUMMARY line.
const SUMMARY: [&str; 3] = ["total_cases", "success_count", "fail_count"];
/// Letters that are kept of a CASE_SUMMARY line that cannot be.
const ODD_CHARS: usize = 120;
/// How many lines one CASE_RESULT may take.
const BROKEN_LINES: usize = 20;

/// The three numbers of a CASE_SUMMARY line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Cases in all.
    pub total: u32,
    /// Cases that succeeded.
    pub passed: u32,
    /// Cases that failed.
    pub failed: u32,
}

/// The CASE lines of one output.
#[derive(Debug, Default)]
pub struct CaseLog {
    /// One per CASE_RESULT line, in their order, up to [`TEST_CAP`]. A repeated id gets a number (`c001#2`).
    pub tests: Vec<TestResult>,
    /// CASE_RESULT lines.
    pub total: u32,
    /// CASE_RESULT lines with a status of success.
    pub passed: u32,
    /// CASE_RESULT lines of failed cases.
    pub failing: u32,
    /// The first CASE_SUMMARY with all three numbers.
    pub summary: Option<Summary>,
    /// The first CASE_SUMMARY that names all three and says of one what is no count.
    pub odd_summary: Option<String>,
}

impl CaseLog {
    /// Whether the output has no CASE line.
    pub const fn is_empty(&self) -> bool {
        self.tests.is_empty() && self.summary.is_none() && self.odd_summary.is_none()
    }

    fn take(&mut self, mut test: TestResult, times_by_id: &mut HashMap<String, u32>) {
        self.total += 1;
        self.passed += u32::from(test.outcome == TestOutcome::Passed);
        self.failing += u32::from(test.is_failing());
        if self.tests.len() >= TEST_CAP {
            return;
        }
        let times = times_by_id.entry(test.id.clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            test.id = format!("{}#{times}", test.id);
        }
        self.tests.push(test);
    }
}

/// Reads the CASE lines in the output of a test script. A byte order mark before the first one is skipped.
pub fn parse(output: &str) -> CaseLog {
    let output = output.strip_prefix('\u{feff}').unwrap_or(output);
    let mut log = CaseLog::default();
    let mut times_by_id: HashMap<String, u32> = HashMap::new();
    let mut lines = output.lines();
    while let Some(line) = lines.next() {
        let line = strip_ansi(line);
        if let Some(rest) = after_word(&line, "CASE_RESULT") {
            let mut record = rest.to_owned();
            if !record.contains(" failure_reason=")
                && let Some(more) = continuation_lines(lines.clone())
            {
                for line in lines.by_ref().take(more) {
                    record.push('\n');
                    record.push_str(&strip_ansi(line));
                }
            }
            if let Some(test) = case(&record) {
                log.take(test, &mut times_by_id);
            }
        } else if log.summary.is_none()
            && let Some(rest) = after_word(&line, "CASE_SUMMARY")
        {
            log.summary = summary(rest);
            if log.summary.is_none() && SUMMARY.iter().all(|key| summary_value(rest, key).is_some()) {
                log.odd_summary.get_or_insert_with(|| rest.trim().chars().take(ODD_CHARS).collect());
            }
        }
    }
    log
}

/// How many of the lines continue a CASE_RESULT that has a line break in a value.
fn continuation_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Option<usize> {
    for (index, line) in lines.take(BROKEN_LINES).enumerate() {
        if line.contains("CASE_RESULT") || line.contains("CASE_SUMMARY") {
            return None;
        }
        if line.contains("failure_reason=\"") {
            return Some(index + 1);
        }
    }
    None
}

/// What follows a word at the start of the line or after a blank (some runners put a time before each line).
fn after_word<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let index = line.find(word)?;
    let before = line[..index].chars().next_back();
    let rest = &line[index + word.len()..];
    (before.is_none_or(|c| c.is_whitespace() || matches!(c, '|' | ']' | ':'))
        && rest.starts_with([' ', '\t']))
    .then_some(rest)
}

/// The value of a key in a summary.
fn summary_value<'a>(rest: &'a str, key: &str) -> Option<&'a str> {
    rest.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

fn summary(rest: &str) -> Option<Summary> {
    let [total, passed, failed] =
        SUMMARY.map(|key| summary_value(rest, key).and_then(|text| text.parse().ok()));
    Some(Summary { total: total?, passed: passed?, failed: failed? })
}

fn case(record: &str) -> Option<TestResult> {
    // Where each key begins and where its value begins.
    let mut found: Vec<(usize, usize, usize)> = Vec::with_capacity(KEYS.len());
    let mut search_start = 0;
    for (index, (key, quoted)) in KEYS.iter().enumerate() {
        let exact = if *quoted { format!(" {key}=\"") } else { format!(" {key}=") };
        let loose = format!(" {key}=");
        if let Some((start, mark)) =
            [exact, loose].iter().find_map(|m| Some((record[search_start..].find(m)?, m.len())))
        {
            found.push((index, search_start + start, search_start + start + mark));
            search_start += start + mark;
        }
    }
    let value = |key: &str| {
        let position = found.iter().position(|(index, _, _)| KEYS[*index].0 == key)?;
        let (index, _, begin) = found[position];
        let end = found.get(position + 1).map_or(record.len(), |(_, end, _)| *end);
        let value = record[begin..end].trim();
        Some(if KEYS[index].1 { value.strip_suffix('"').unwrap_or(value) } else { value }.trim())
    };
    // An empty text is a value only for `expected` and `actual`: nothing was expected, or nothing came.
    let possibly_empty = value;
    let value = |key: &str| possibly_empty(key).filter(|v| !v.is_empty());
    let status = value("status")?;
    let id = value("case_id").or_else(|| value("intent"))?;
    let outcome = match status.to_ascii_lowercase().as_str() {
        "success" | "pass" | "passed" | "ok" => TestOutcome::Passed,
        "skip" | "skipped" => TestOutcome::Skipped,
        "error" => TestOutcome::Error,
        _ => TestOutcome::Failed,
    };
    let mut test = TestResult::new(id, outcome);
    // Numbers of cases are given anew in each turn. Over turns a case is known by what describes it, so passed ones keep that, too.
    test.group = value("requirement_ref").map(str::to_owned);
    test.intent = value("intent").map(str::to_owned);
    test.scenario = value("scenario").map(str::to_owned);
    if test.is_failing() {
        test.kind = value("case_type").map(str::to_owned);
        test.expected = possibly_empty("expected").map(str::to_owned);
        test.actual = possibly_empty("actual").map(str::to_owned);
        test.message = message(value("failure_reason"), value("scenario"), value("input"));
    }
    Some(test)
}

/// The message of a failed case: the reason, then the scenario and the input.
pub fn message(reason: Option<&str>, scenario: Option<&str>, input: Option<&str>) -> Option<String> {
    let lines: Vec<String> = [("", reason), ("scenario: ", scenario), ("input: ", input)]
        .into_iter()
        .filter_map(|(label, text)| Some(format!("{label}{}", text.filter(|t| !t.is_empty())?)))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINE: &str = r#"CASE_RESULT case_id=c004 origin_step=round-2 requirement_ref=done-exit case_type=core status=fail intent="done "really" works" scenario="note 1 exists" input="done "1" expected="x"" expected="0" actual="say "1"" failure_reason="expected "0""#;

    #[test]
    fn a_line_with_quotes_in_values_is_split_at_the_keys() {
        let log = parse(LINE);
        let test = &log.tests[0];
        assert_eq!((test.id.as_str(), test.outcome), ("c004", TestOutcome::Failed));
        assert_eq!(test.group.as_deref(), Some("done-exit"));
        assert_eq!(test.intent.as_deref(), Some("done \"really\" works"));
        assert_eq!(test.actual.as_deref(), Some("say \"1\""));
        assert_eq!(test.message.as_deref().unwrap().lines().next(), Some("expected \"0"));
    }

    /// Passed cases lost what describes them, so that no case was ever seen to regress.
    #[test]
    fn a_passed_case_keeps_what_describes_it() {
        let log = parse(&LINE.replace("status=fail", "status=success"));
        let test = &log.tests[0];
        assert_eq!(
            (test.group.as_deref(), test.intent.as_deref()),
            (Some("done-exit"), Some("done \"really\" works"))
        );
        assert_eq!(test.scenario.as_deref(), Some("note 1 exists"));
        assert_eq!((&test.kind, &test.expected, &test.actual, &test.message), (&None, &None, &None, &None));
    }

    #[test]
    fn color_crlf_prefixes_and_a_missing_summary_are_accepted() {
        let text = format!(
            "\u{1b}[31m{LINE}\u{1b}[0m\r\n12:00:01 CASE_RESULT case_id=a status=success\r\nCASE_RESULT case_id=a status=fail intent=\"no more keys\r\nCASE_SUMMARY total_cases=3 success_count=1\r\n"
        );
        let log = parse(&text);
        assert_eq!(log.tests.iter().map(|t| t.id.as_str()).collect::<Vec<_>>(), ["c004", "a", "a#2"]);
        assert_eq!(log.tests[2].intent.as_deref(), Some("no more keys"));
        assert_eq!((log.passed, log.failing, log.total, log.summary), (1, 2, 3, None));
    }

    #[test]
    fn the_first_complete_summary_counts() {
        let log = parse(
            "x\nCASE_SUMMARY total_cases=5 success_count=4 fail_count=1\nCASE_SUMMARY total_cases=9 success_count=9 fail_count=0\n",
        );
        assert_eq!(log.summary, Some(Summary { total: 5, passed: 4, failed: 1 }));
        assert!(parse("NOT_A_CASE_RESULT case_id=1 status=fail\nCASE_RESULTS=3").is_empty());
    }

    #[test]
    fn a_byte_order_mark_hides_no_case() {
        let log = parse(
            "\u{feff}CASE_RESULT case_id=a status=fail failure_reason=\"no\"\r\nCASE_RESULT case_id=b status=success\r\n",
        );
        assert_eq!((log.total, log.failing), (2, 1));
        assert_eq!(log.tests[0].id, "a");
    }

    #[test]
    fn a_summary_that_cannot_be_is_kept_as_it_stands() {
        let odd = "total_cases=-3 success_count=-9 fail_count=0";
        let log = parse(&format!("CASE_SUMMARY {odd}\n"));
        assert_eq!((log.summary, log.odd_summary.as_deref(), log.is_empty()), (None, Some(odd), false));
        let log = parse("CASE_SUMMARY total_cases=4294967296 success_count=1 fail_count=1");
        assert!(log.summary.is_none() && log.odd_summary.is_some());
        // One that breaks off says nothing that cannot be, and a whole one counts behind it.
        assert_eq!(parse("CASE_SUMMARY total_cases=3 success_count=1").odd_summary, None);
        let log =
            parse(&format!("CASE_SUMMARY {odd}\nCASE_SUMMARY total_cases=1 success_count=1 fail_count=0"));
        assert_eq!(log.summary, Some(Summary { total: 1, passed: 1, failed: 0 }));
    }

    #[test]
    fn the_lines_of_a_value_with_a_line_break_are_joined() {
        let log = parse(
            "CASE_RESULT case_id=a requirement_ref=r case_type=core status=fail intent=\"i\" actual=\"one\ntwo\" failure_reason=\"why\"\nCASE_SUMMARY total_cases=1 success_count=0 fail_count=1",
        );
        assert_eq!(log.tests[0].actual.as_deref(), Some("one\ntwo"));
        assert!(log.tests[0].message.as_deref().unwrap().starts_with("why"));
        assert!(log.summary.is_some());
    }

    proptest! {
        #[test]
        fn a_written_case_is_read_back(texts in prop::collection::vec("[ -~]{0,30}", 6)) {
            let clean: Vec<&str> = texts.iter().map(|t| t.trim()).collect();
            prop_assume!(!clean.iter().any(|t| t.contains("=\"") || t.ends_with('"')));
            let line = format!("CASE_RESULT case_id=c1 origin_step=s requirement_ref=r case_type=core status=fail intent=\"{}\" scenario=\"{}\" input=\"{}\" expected=\"{}\" actual=\"{}\" failure_reason=\"{}\"", clean[0], clean[1], clean[2], clean[3], clean[4], clean[5]);
            let log = parse(&line);
            let some = |t: &str| Some(t.to_owned()).filter(|t| !t.is_empty());
            prop_assert_eq!(log.tests.len(), 1);
            prop_assert_eq!(log.tests[0].intent.clone(), some(clean[0]));
            prop_assert_eq!(log.tests[0].expected.as_deref(), Some(clean[3]));
            prop_assert_eq!(log.tests[0].actual.as_deref(), Some(clean[4]));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "(CASE_RESULT|CASE_SUMMARY|case_id=|status=| intent=\"|fail|\n|\r|.|\u{1b}\\[3){0,60}") {
            parse(&text);
        }
    }
}
