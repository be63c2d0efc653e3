//! One field of an object about an attempt, a turn or an episode: known by its name, or kept as it stands.

use model::{EndReason, TestOutcome, TestResult};

use super::facts::RecordFacts;
use super::field_names;
use super::usage::{self, Usage};
use crate::attribution::{Evidence, Stage, label_table};
use crate::formats::staminabench::json_fields::{EXTRA_CAP, kept_value, normal};
use crate::readers::json::Node;
use crate::readers::value;

/// Most tests of one attempt.
const TESTS_CAP: usize = 20_000;

/// Takes all fields of an object; `prefix` names the wrappers it stands in.
pub(super) fn record(facts: &mut RecordFacts, node: &Node, prefix: &str, depth: u8) {
    for (key, value) in node.map() {
        field(facts, key, value, prefix, depth);
    }
}

/// Takes one field, or keeps it as unknown.
pub(super) fn field(facts: &mut RecordFacts, key: &str, value: &Node, prefix: &str, depth: u8) {
    let name = normal(key);
    if *value == Node::Null && field_names::SCORE.contains(&name.as_str()) {
        // Where there is an attempt it should be a number; of a turn that was not played it says so.
        facts.unreadable.get_or_insert_with(|| format!("{prefix}{key}: null"));
    }
    if *value == Node::Null
        || field_names::ATTEMPT.contains(&name.as_str())
        || field_names::TURN.contains(&name.as_str())
    {
        return;
    }
    if take_known_field(facts, &name, value, prefix, key, depth) || facts.extra.len() >= EXTRA_CAP {
        return;
    }
    if is_odd(&name, value) && facts.odd.len() < 16 {
        let shown: String = value.to_value().to_string().chars().take(60).collect();
        let odd = format!("{prefix}{key}: {shown}");
        if is_verdict_key(&name) {
            facts.unreadable.get_or_insert_with(|| odd.clone());
        }
        facts.odd.push(odd);
    }
    if !(value.list().is_empty() && matches!(value, Node::List(_))) {
        facts.extra.insert(format!("{prefix}{key}"), kept_value(value));
    }
}

/// Whether a value that was not taken stands under a name that says what it should be.
fn is_odd(name: &str, value: &Node) -> bool {
    let number = [
        field_names::PASSED,
        field_names::FAILED,
        field_names::TOTAL,
        field_names::SUCCESS,
        field_names::COST,
    ]
    .iter()
    .any(|n| n.contains(&name));
    let bare = field_names::without_unit(name);
    let time = [field_names::STARTED, field_names::FINISHED, field_names::TEST_TIME, field_names::AGENT_TIME]
        .iter()
        .any(|n| n.contains(&name) || n.contains(&bare));
    ((number || time) && matches!(value, Node::Number(_) | Node::Text(..)))
        || field_names::SCORE.contains(&name)
        || (usage::is_token_key(name) && value.map().is_empty())
}

/// Whether a name is of what says by itself whether an attempt passed.
fn is_verdict_key(name: &str) -> bool {
    [field_names::PASSED, field_names::SUCCESS, field_names::SCORE].iter().any(|names| names.contains(&name))
}

fn count(value: &Node) -> Option<u32> {
    let whole = value.count().and_then(|n| u32::try_from(n).ok());
    whole.or_else(|| value.word().and_then(|text| text.parse().ok()))
}

fn take_known_field(
    facts: &mut RecordFacts,
    name: &str,
    value: &Node,
    prefix: &str,
    key: &str,
    depth: u8,
) -> bool {
    let is_named = |names: &[&str]| names.contains(&name);
    let list = value.list();
    if is_named(field_names::TESTS)
        && (list.iter().any(|t| !t.map().is_empty())
            || (!value.map().is_empty() && !field_names::WRAPPERS.contains(&name)))
    {
        let named = if list.is_empty() { tests_by_name(value) } else { tests(list) };
        if !named.is_empty() {
            facts.tests = named;
            return true;
        }
    }
    if is_named(field_names::PASSED) {
        match value {
            Node::Bool(passed) => facts.success = facts.success.or(Some(*passed)),
            Node::List(list) => {
                facts.passed = u32::try_from(list.len()).ok();
                facts
                    .tests
                    .extend(list.iter().filter_map(|t| test_entry(t, TestOutcome::Passed)).take(TESTS_CAP));
            }
            Node::Text(text, _) if text.contains('/') => {
                let (passed, total) = text.split_once('/').unwrap_or((text, ""));
                let (Ok(passed), Ok(total)) = (passed.trim().parse(), total.trim().parse()) else {
                    return false;
                };
                (facts.passed, facts.total) = (Some(passed), Some(total));
            }
            _ => match count(value) {
                Some(n) => facts.passed = facts.passed.or(Some(n)),
                None => return false,
            },
        }
        return true;
    }
    if is_named(field_names::FAILED) {
        match value {
            Node::Bool(failed) => facts.success = facts.success.or(Some(!failed)),
            Node::List(list) => {
                facts.failed = u32::try_from(list.len()).ok();
                facts
                    .tests
                    .extend(list.iter().filter_map(|t| test_entry(t, TestOutcome::Failed)).take(TESTS_CAP));
            }
            _ => match count(value) {
                Some(n) => facts.failed = facts.failed.or(Some(n)),
                None => return false,
            },
        }
        return true;
    }
    if is_named(field_names::ERRORED)
        && let Some(n) = count(value)
    {
        facts.errored = facts.errored.or(Some(n));
        return true;
    }
    if is_named(field_names::TOTAL)
        && let Some(n) = count(value)
    {
        facts.total = facts.total.or(Some(n));
        return true;
    }
    if is_named(field_names::SUCCESS) {
        let success = match value {
            Node::Bool(b) => Some(*b),
            Node::Text(text, _) => field_names::status(text),
            _ => value.count().filter(|n| *n <= 1).map(|n| n == 1),
        };
        facts.success = facts.success.or(success);
        return success.is_some();
    }
    if is_named(field_names::SCORE)
        && let Some(n) = value::reward(value)
    {
        facts.score = facts.score.or(Some(n));
        return true;
    }
    if is_named(field_names::COST)
        && let Some(n) = value::dollars(value)
    {
        facts.usage.cost_usd = facts.usage.cost_usd.or(Some(n));
        return true;
    }
    if usage::is_token_key(name) {
        let usage = usage::usage(&Node::Map(vec![(key.to_owned(), value.clone())]));
        facts.usage.complete(usage);
        return usage != Usage::default();
    }
    if is_named(field_names::USAGE) && !value.map().is_empty() {
        let usage = usage::usage(value);
        facts.usage.complete(usage);
        for (inner, number) in usage::odd_tokens(value) {
            facts.odd.push(format!("{prefix}{key}.{inner}: {number}"));
            facts.extra.insert(format!("{prefix}{key}.{inner}"), number);
        }
        return usage != Usage::default();
    }
    if is_named(field_names::TOOL_CALLS)
        && let Some(n) = count(value)
    {
        facts.tool_calls = facts.tool_calls.or(Some(n));
        return true;
    }
    if is_time(facts, name, value) {
        return true;
    }
    if is_named(field_names::END)
        && let Some(text) = value.word()
    {
        facts.end_reason = end_from_words(text).or(facts.end_reason);
        if let Some(raised) = raised_by_name(text) {
            set_exception(facts, raised);
        }
        return model::EndReason::parse(text).is_some();
    }
    if is_named(field_names::EXCEPTION)
        && let Some(exception) = exception(name, value)
    {
        set_exception(facts, exception);
        return true;
    }
    if is_named(field_names::STATUS)
        && let Some(text) = value.word()
    {
        let success = field_names::status(text);
        facts.success = facts.success.or(success);
        facts.end_reason = facts.end_reason.or_else(|| end_from_words(text));
        if let Some(raised) = raised_by_state(text) {
            set_exception(facts, raised);
        }
        return success.is_some();
    }
    if is_named(field_names::WRAPPERS) && depth < 3 && !value.map().is_empty() {
        record(facts, value, &format!("{prefix}{key}."), depth + 1);
        return true;
    }
    false
}

fn is_time(facts: &mut RecordFacts, name: &str, value: &Node) -> bool {
    let timing = &mut facts.timing;
    let slot = if field_names::STARTED.contains(&name) {
        &mut timing.started_at
    } else if field_names::FINISHED.contains(&name) {
        &mut timing.finished_at
    } else if name == "timestamp" {
        &mut timing.started_at
    } else {
        let bare = field_names::without_unit(name);
        let (slot, seconds) =
            if field_names::TEST_TIME.contains(&name) || field_names::TEST_TIME.contains(&bare) {
                (&mut timing.test_seconds, field_names::seconds(name, value))
            } else if field_names::AGENT_TIME.contains(&name) || field_names::AGENT_TIME.contains(&bare) {
                (&mut timing.agent_seconds, field_names::seconds(name, value))
            } else {
                return false;
            };
        *slot = slot.or(seconds);
        return seconds.is_some();
    };
    let time = usage::time(value);
    let found = time.is_some();
    if slot.is_none() {
        *slot = time;
    }
    found
}

fn exception(name: &str, value: &Node) -> Option<(String, String)> {
    if let Some(text) = value.word() {
        return Some((type_in_front(text).unwrap_or(name).to_owned(), text.to_owned()));
    }
    let first_field = |names: &[&str]| {
        value
            .map()
            .iter()
            .find(|(k, _)| names.contains(&normal(k).as_str()))
            .and_then(|(_, v)| v.word())
            .map(str::to_owned)
    };
    let kind = first_field(&["type", "exception_type", "name", "class"]);
    let message = first_field(&["message", "exception_message", "detail", "text", "msg"]);
    (kind.is_some() || message.is_some())
        .then(|| (kind.unwrap_or_else(|| name.to_owned()), message.unwrap_or_default()))
}

/// Takes over what was raised, and what ended by it. One field may have the type and another one the message.
fn set_exception(facts: &mut RecordFacts, new: (String, String)) {
    let has_no_type = |kind: &str| field_names::EXCEPTION.contains(&kind);
    let raised = match facts.exception.take() {
        Some((kind, message)) if message.is_empty() => {
            (if has_no_type(&new.0) { kind } else { new.0 }, new.1)
        }
        Some((kind, message)) if has_no_type(&kind) && !has_no_type(&new.0) => (new.0, message),
        Some(first) => first,
        None => new,
    };
    facts.end_reason = facts.end_reason.or_else(|| exception_end(&raised));
    facts.exception = Some(raised);
}

/// The reason that a field for ends or states gives: a whole label, an exception in one line or its type alone, or a text that
/// begins with how the agent failed.
fn end_from_words(text: &str) -> Option<EndReason> {
    label_table::label(text).or_else(|| match type_in_front(text) {
        Some(kind) => exception_end(&(kind.to_owned(), text.to_owned())),
        None => label_table::agent_failure(text)
            .or_else(|| raised_by_name(text).and_then(|raised| exception_end(&raised))),
    })
}

/// What was raised, of a text that begins with the type of an exception or is one: the name of an error, or one that the
/// table knows.
pub(super) fn raised_by_name(text: &str) -> Option<(String, String)> {
    let (name, message) = type_in_front(text).map_or((text.trim(), ""), |kind| (kind, text));
    let last = name.rsplit('.').next().unwrap_or(name);
    let is_name = name.len() < 80
        && last.starts_with(|first: char| first.is_ascii_uppercase())
        && last.contains(|later: char| later.is_ascii_lowercase())
        && name.chars().all(|each| each.is_ascii_alphanumeric() || matches!(each, '_' | '.'))
        && field_names::status(name).is_none()
        && label_table::label(name).is_none();
    let raised = (name.to_owned(), message.to_owned());
    // `NoError` and `CompletedWithoutError` say that there was none; `NoSuchElementException` is one.
    let is_error = ["Error", "Exception", "Interrupt"]
        .iter()
        .find_map(|end| last.strip_suffix(end))
        .is_some_and(|rest| !rest.ends_with("No") && !rest.contains("Without"));
    (is_name && (is_error || exception_end(&raised).is_some())).then_some(raised)
}

/// The same of a state, which is any word: a name alone is an exception only where the table knows it.
pub(super) fn raised_by_state(text: &str) -> Option<(String, String)> {
    raised_by_name(text).filter(|raised| !raised.1.is_empty() || exception_end(raised).is_some())
}

/// The type of an exception that a text begins with: `TimeoutError: …`.
fn type_in_front(text: &str) -> Option<&str> {
    text.split_once(": ").map(|(kind, _)| kind).filter(|kind| kind.len() < 80 && !kind.contains(' '))
}

/// Why an exception ended an attempt: by the table alone. A text of no type is one for the reason.
fn exception_end((kind, message): &(String, String)) -> Option<EndReason> {
    let own_message =
        message.strip_prefix(kind.as_str()).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message);
    let evidence = Evidence {
        kind,
        message: own_message,
        traceback: "",
        stage: Stage::AgentOrTests,
        agent_seconds: None,
    };
    let by_table = evidence.attribution().filter(|found| found.recognized).map(|found| found.reason);
    let has_no_type = field_names::EXCEPTION.contains(&kind.as_str());
    by_table.or_else(|| label_table::agent_failure(message).filter(|_| has_no_type))
}

/// A test of a list of names or objects.
fn test_entry(node: &Node, outcome: TestOutcome) -> Option<TestResult> {
    match node.word() {
        Some(id) => Some(TestResult::new(id, outcome)),
        None => test(node, Some(outcome)),
    }
}

/// The tests of a list of objects.
pub(super) fn tests(list: &[Node]) -> Vec<TestResult> {
    list.iter().filter_map(|t| test(t, None)).take(TESTS_CAP).collect()
}

fn tests_by_name(node: &Node) -> Vec<TestResult> {
    let named_test = |(id, value): &(String, Node)| {
        let outcome = outcome(value)?;
        Some(TestResult::new(id.clone(), outcome))
    };
    // A map of counts is no map of tests.
    if node.map().iter().all(|(_, v)| matches!(v, Node::Number(_))) {
        return Vec::new();
    }
    node.map()
        .iter()
        .filter_map(|entry| {
            named_test(entry)
                .or_else(|| test(&entry.1, None).map(|t| TestResult { id: entry.0.clone(), ..t }))
        })
        .take(TESTS_CAP)
        .collect()
}

fn outcome(value: &Node) -> Option<TestOutcome> {
    match value {
        Node::Bool(true) => Some(TestOutcome::Passed),
        Node::Bool(false) => Some(TestOutcome::Failed),
        Node::Text(text, _) => Some(match text.trim().to_lowercase().as_str() {
            "passed" | "pass" | "ok" | "success" | "xpass" | "xpassed" => TestOutcome::Passed,
            "failed" | "fail" | "failure" => TestOutcome::Failed,
            "error" | "errored" => TestOutcome::Error,
            "skipped" | "skip" | "xfail" | "xfailed" => TestOutcome::Skipped,
            _ => return None,
        }),
        _ => None,
    }
}

fn test(node: &Node, known: Option<TestOutcome>) -> Option<TestResult> {
    let find = |names: &[&str]| {
        names.iter().find_map(|name| node.map().iter().find(|(k, _)| normal(k) == *name).map(|(_, v)| v))
    };
    let text = |names: &[&str]| {
        find(names).map(|v| v.text().map_or_else(|| v.to_value().to_string(), str::to_owned))
    };
    let id = find(&["nodeid", "node_id", "test_id", "id", "name", "test_name", "test"])?.word()?;
    let outcome = known.or_else(|| {
        find(&["outcome", "status", "result", "verdict", "passed", "success"]).and_then(outcome)
    })?;
    let mut result = TestResult::new(id, outcome);
    if result.is_failing() {
        result.message =
            text(&["message", "error", "longrepr", "failure_message", "traceback", "details", "reason"])
                .or_else(|| {
                    find(&["call", "setup"])
                        .and_then(|c| c.get("longrepr"))
                        .and_then(Node::text)
                        .map(str::to_owned)
                });
        result.expected = text(&["expected"]);
        result.actual = text(&["actual", "got", "received"]);
    }
    Some(result)
}
