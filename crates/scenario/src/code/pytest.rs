//! The pytest suite of a turn.
//!
//! Steps become calls and asserts, captures become local variables, builders become functions. A capture or a place in
//! an answer that is not there raises an exception in Python, which fails the test, as it fails the case.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use serde_json::Value;

use super::python::{Identifiers, WIDTH, call, line, prose, push_quoted, push_value, quoted};
use crate::suite::{Assertion, Builder, Case, Make, Send, Step, Suite};

/// Names with a fixed meaning in the file.
const FIXED: &[&str] = &[
    "json",
    "os",
    "pytest",
    "requests",
    "BASE_URL",
    "HEADERS",
    "NOTHING",
    "session",
    "fresh_data",
    "send",
    "same",
    "has",
    "absent",
    "is_text",
    "is_id",
    "column",
    "rows",
    "answer",
    "bodies",
    "nth",
    "changes",
];

/// The identifiers of a suite.
struct Names<'a> {
    taken: Identifiers,
    /// By name of a capture.
    captures: HashMap<&'a str, String>,
    /// By key of an entity: the function, and the captures that its bodies take values from.
    builders: HashMap<&'a str, (String, Vec<&'a str>)>,
}

impl<'a> Names<'a> {
    fn capture(&mut self, name: &'a str) -> &str {
        self.captures.entry(name).or_insert_with(|| self.taken.take(name))
    }
}

pub(super) fn write(suite: &Suite) -> String {
    let mut file = File::default();
    file.fill(suite, Functions::Given, |_, _| None);
    file.text
}

/// How the functions of cases get their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Functions {
    /// From all names of the file, so that each is given once.
    Given,
    /// Each has that of its case; whether that is right is seen at the end ([`File::plain`]).
    Own,
}

/// A file, and what another one can take from it.
#[derive(Debug, Default)]
struct File {
    text: String,
    /// Where the functions of the cases stand, and the hashes of their names.
    cases: Vec<(Range<usize>, u64)>,
    /// By entity: the function of its builder, and the captures that it takes.
    builders: Vec<(String, String, Vec<String>)>,
    /// Every capture and every function of a case has its own name as its identifier, and would have it in any other order
    /// of cases too.
    plain: bool,
}

impl File {
    /// Writes a suite. `known` gives the function of a case where it is there already, and the hash of its name.
    fn fill<'k>(
        &mut self,
        suite: &Suite,
        functions: Functions,
        mut known: impl FnMut(&Names, usize) -> Option<(&'k str, u64)>,
    ) {
        self.text.clear();
        self.text.reserve(16 * 1024 + suite.cases.len() * 850);
        self.cases.clear();
        self.cases.reserve(suite.cases.len());
        let out = &mut self.text;
        head(out, suite);
        let mut names =
            Names { taken: Identifiers::new(FIXED), captures: HashMap::new(), builders: HashMap::new() };
        if functions == Functions::Given {
            names.taken.reserve(suite.cases.len() + 128);
        }
        for builder in &suite.builders {
            let function = names.taken.take(&format!("make_{}", builder.entity));
            let mut roots = Vec::new();
            for body in &builder.bodies {
                collect_roots(body, &mut roots);
            }
            names.builders.insert(&builder.entity, (function, roots));
        }
        for builder in &suite.builders {
            write_builder(out, &mut names, builder);
        }
        let mut section = "";
        for (index, case) in suite.cases.iter().enumerate() {
            let about = case.id.split('.').next().unwrap_or_default();
            if about != section {
                section = about;
                line!(out, "\n\n# {}\n# {}", "-".repeat(98), prose(about));
            }
            let begin = out.len();
            let hash = if let Some((text, hash)) = known(&names, index) {
                out.push_str(text);
                hash
            } else {
                let own = super::test_name(&case.id);
                let mut hash = DefaultHasher::new();
                own.hash(&mut hash);
                let function = match functions {
                    Functions::Own => own,
                    Functions::Given => names.taken.take_whole(&own),
                };
                write_case(out, &mut names, case, &function);
                hash.finish()
            };
            self.cases.push((begin..out.len(), hash));
        }
        self.builders.clear();
        for builder in &suite.builders {
            if let Some((function, roots)) = names.builders.get(builder.entity.as_str()) {
                let roots = roots.iter().map(|&root| root.to_owned()).collect();
                self.builders.push((builder.entity.clone(), function.clone(), roots));
            }
        }
        self.plain = names.captures.iter().all(|(name, identifier)| {
            name == identifier && !name.starts_with("make_") && !name.starts_with("test_")
        }) && self.has_each_name_once();
    }

    fn has_each_name_once(&self) -> bool {
        let mut hashes: Vec<u64> = self.cases.iter().map(|(_, hash)| *hash).collect();
        hashes.sort_unstable();
        hashes.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// The entities whose builders are called otherwise now.
    fn others<'a>(&self, names: &Names<'a>) -> Vec<&'a str> {
        let same = |entity: &str, function: &str, roots: &[&str]| {
            self.builders
                .iter()
                .find(|(other, ..)| other == entity)
                .is_some_and(|(_, other, others)| other == function && others.iter().eq(roots.iter()))
        };
        let others =
            names.builders.iter().filter(|(entity, (function, roots))| !same(entity, function, roots));
        others.map(|(entity, _)| *entity).collect()
    }
}

/// The files of one suite after another.
#[derive(Debug, Default)]
pub(super) struct Files {
    now: File,
    before: File,
}

impl Files {
    /// The file of the next suite, see [`super::PytestFiles::next`].
    ///
    /// The function of an equal case is the same as before if its own name is, those of the builders that it uses and what
    /// they take, and the names of its captures. Names depend on all the others in the file, in their order, unless each is
    /// plain: then they are the same in any file whose names are plain.
    pub(super) fn next(&mut self, suite: &Suite, equals: &[Option<usize>]) -> &str {
        std::mem::swap(&mut self.now, &mut self.before);
        let Self { now, before } = self;
        let mut others: Option<Vec<&str>> = None;
        now.fill(suite, Functions::Own, |names, index| {
            let place = (*equals.get(index)?).filter(|_| before.plain)?;
            let others = others.get_or_insert_with(|| {
                let others = before.others(names);
                let entities = suite.builders.iter().map(|builder| builder.entity.as_str());
                entities.filter(|entity| others.contains(entity)).collect()
            });
            let uses = |step: &Step| match step {
                Step::Make(make) => others.contains(&make.make.as_str()),
                Step::Send(_) => false,
            };
            if !others.is_empty() && suite.cases.get(index)?.steps.iter().any(uses) {
                return None;
            }
            let (place, hash) = before.cases.get(place)?;
            Some((before.text.get(place.clone())?, *hash))
        });
        if !now.plain {
            now.fill(suite, Functions::Given, |_, _| None);
        }
        &self.now.text
    }
}

/// What the function of a case begins with, before its name.
const DEF: &str = "\n\ndef ";

fn head(out: &mut String, suite: &Suite) {
    line!(out, "\"\"\"Tests of turn {} of scenario {}, for pytest and requests.", suite.turn, suite.scenario);
    out.push_str(
        r#"
    BASE_URL=http://127.0.0.1:8000 pytest this_file.py

The id of a case is the name of its test without `test_`, with every `__` read as `.`:
`test_orders__create__minimal` is the case `orders.create.minimal`. No part of an id has two `_` in a row.
"""

import json
import os

import pytest
import requests

BASE_URL = os.environ["BASE_URL"].rstrip("/")
HEADERS = {"Content-Type": "application/json"}
NOTHING = object()

session = requests.Session()
# Neither proxies nor credentials of this machine have anything to do with the server.
session.trust_env = False


@pytest.fixture(autouse=True)
def fresh_data():
    """Every test begins with a server without records."""
"#,
    );
    let reset = format!(
        "answer = session.request(\"{}\", BASE_URL + {}, timeout=10, allow_redirects=False)",
        suite.reset.method.as_str(),
        quoted(&suite.reset.path)
    );
    line!(out, "    {reset}\n    assert answer.status_code < 400");
    out.push_str(HELPERS);
}

const HELPERS: &str = r#"

def send(method, path, body=NOTHING, *, query=None, status):
    """Sends a request, holds the status against the expected one, returns the JSON of the answer or None."""
    answer = session.request(
        method,
        BASE_URL + path,
        params=query,
        data=None if body is NOTHING else json.dumps(body),
        headers=None if body is NOTHING else HEADERS,
        timeout=10,
        allow_redirects=False,
    )
    assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
    try:
        return answer.json()
    except ValueError:
        return None


def same(given, wanted):
    """Equality of JSON: numbers may differ by 1e-6, booleans are no numbers, lists are compared in order."""
    if isinstance(given, bool) or isinstance(wanted, bool):
        return given is wanted
    if isinstance(given, (int, float)) and isinstance(wanted, (int, float)):
        return abs(given - wanted) <= 1e-6
    if isinstance(given, dict) and isinstance(wanted, dict):
        return given.keys() == wanted.keys() and all(same(given[key], wanted[key]) for key in wanted)
    if isinstance(given, list) and isinstance(wanted, list):
        return len(given) == len(wanted) and all(map(same, given, wanted))
    return type(given) is type(wanted) and given == wanted


def has(given, wanted):
    """Whether an object has at least these keys with these values."""
    return isinstance(given, dict) and all(
        key in given and same(given[key], value) for key, value in wanted.items()
    )


def absent(given, *path):
    """Whether nothing is at this path."""
    for step in path:
        if isinstance(given, dict) and step in given:
            given = given[step]
        elif isinstance(given, list) and isinstance(step, int) and step < len(given):
            given = given[step]
        else:
            return True
    return False


def is_text(given):
    """Whether this is a text that is not empty."""
    return isinstance(given, str) and given != ""


def is_id(given):
    """Whether this is an integer of at least 1."""
    return isinstance(given, int) and not isinstance(given, bool) and given >= 1


def column(given, key, values):
    """Whether a list has, in this order, objects with these values under a key."""
    return isinstance(given, list) and len(given) == len(values) and all(
        has(row, {key: value}) for row, value in zip(given, values)
    )


def rows(given, wanted):
    """Whether a list has exactly these objects, in any order; they may have more keys."""
    if not isinstance(given, list) or len(given) != len(wanted):
        return False
    left = list(given)
    for row in wanted:
        match = next((index for index, other in enumerate(left) if has(other, row)), None)
        if match is None:
            return False
        del left[match]
    return True
"#;

/// The name of the capture of `{"$": "orders_1.id"}`, and the rest of the path.
fn capture(value: &Value) -> Option<(&str, &str)> {
    let entries = value.as_object()?;
    let path = if entries.len() == 1 { entries.get("$")?.as_str()? } else { return None };
    Some(path.split_once('.').unwrap_or((path, "")))
}

/// The captures in a value, each once, in order.
fn collect_roots<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
    if let Some((root, _)) = capture(value) {
        if !into.contains(&root) {
            into.push(root);
        }
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_roots(item, into)),
        Value::Object(entries) => entries.values().for_each(|item| collect_roots(item, into)),
        _ => {}
    }
}

/// Adds the place at a dotted path in a captured body.
fn push_path(out: &mut String, rest: &str, quote: char) {
    for part in rest.split('.').filter(|part| !part.is_empty()) {
        out.push('[');
        if part.bytes().all(|b| b.is_ascii_digit()) {
            out.push_str(part.trim_start_matches('0'));
            if part.bytes().all(|b| b == b'0') {
                out.push('0');
            }
        } else if quote == '"' {
            push_quoted(out, part);
        } else {
            // Inside a formatted string; only plain keys come here.
            out.push('\'');
            out.extend(part.chars().filter(|c| c.is_alphanumeric() || *c == '_'));
            out.push('\'');
        }
        out.push(']');
    }
}

/// Adds a value with its captures. `optional`: captures may be missing (`None`), as in builders.
fn push_json<'a>(out: &mut String, names: &mut Names<'a>, value: &'a Value, optional: bool) {
    if let Some((root, rest)) = capture(value) {
        let name = names.capture(root);
        out.push_str(name);
        if optional {
            out.push_str(" and ");
            out.push_str(name);
        }
        push_path(out, rest, '"');
        return;
    }
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                push_json(out, names, item, optional);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            out.push('{');
            for (index, (key, item)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                push_quoted(out, key);
                out.push_str(": ");
                push_json(out, names, item, optional);
            }
            out.push('}');
        }
        plain => push_value(out, plain),
    }
}

fn push_object<'a>(out: &mut String, names: &mut Names<'a>, entries: &'a serde_json::Map<String, Value>) {
    out.push('{');
    for (index, (key, item)) in entries.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        push_quoted(out, key);
        out.push_str(": ");
        push_json(out, names, item, false);
    }
    out.push('}');
}

/// Adds a text with captures (`/orders/{orders_1.id}`): a string, or a formatted one.
fn push_text<'a>(out: &mut String, names: &mut Names<'a>, text: &'a str) {
    let Some(first) = next_capture(text) else {
        push_quoted(out, text);
        return;
    };
    out.push('f');
    let begin = out.len();
    let mut inner = String::with_capacity(text.len() + 16);
    let (mut rest, mut found) = (text, Some(first));
    while let Some((start, end)) = found {
        escape_into(&mut inner, &rest[..start]);
        let path = &rest[start + 1..end];
        let (root, below) = path.split_once('.').unwrap_or((path, ""));
        inner.push('{');
        inner.push_str(names.capture(root));
        push_path(&mut inner, below, '\'');
        inner.push('}');
        rest = &rest[end + 1..];
        found = next_capture(rest);
    }
    escape_into(&mut inner, rest);
    debug_assert_eq!(begin, out.len());
    out.push('"');
    out.push_str(&inner);
    out.push('"');
}

/// Where the next `{…}` with a name in it begins and ends.
fn next_capture(text: &str) -> Option<(usize, usize)> {
    let start = text.find('{')?;
    let end = start + text[start..].find('}')?;
    (end > start + 1).then_some((start, end))
}

fn escape_into(out: &mut String, text: &str) {
    let quoted = quoted(text);
    for c in quoted[1..quoted.len() - 1].chars() {
        out.push(c);
        if matches!(c, '{' | '}') {
            out.push(c);
        }
    }
}

fn write_builder<'a>(out: &mut String, names: &mut Names<'a>, builder: &'a Builder) {
    let Some((function, roots)) = names.builders.get(builder.entity.as_str()).cloned() else { return };
    let mut parameters = vec!["nth".to_owned()];
    for root in roots {
        parameters.push(format!("{}=None", names.capture(root)));
    }
    parameters.push("changes=None".to_owned());
    out.push_str("\n\n");
    call(out, 0, &format!("def {function}("), &parameters, "):");
    line!(out, "    \"\"\"Makes the nth record of {}.\"\"\"", prose(&builder.entity));
    line!(out, "    bodies = [");
    for body in &builder.bodies {
        let Value::Object(entries) = body else { continue };
        line!(out, "        {{");
        for (key, value) in entries {
            out.push_str("            ");
            push_quoted(out, key);
            out.push_str(": ");
            push_json(out, names, value, true);
            out.push_str(",\n");
        }
        line!(out, "        }},");
    }
    line!(out, "    ]");
    line!(out, "    body = {{**bodies[nth - 1], **(changes or {{}})}}");
    line!(out, "    return send(\"POST\", {}, body, status={})", quoted(&builder.path), builder.status);
}

fn write_case<'a>(out: &mut String, names: &mut Names<'a>, case: &'a Case, function: &str) {
    line!(out, "{DEF}{function}():");
    docstring(out, &prose(&case.title));
    let used = used_captures(names, case);
    let mut made: Vec<&str> = Vec::new();
    for step in &case.steps {
        match step {
            Step::Make(make) => {
                write_make(out, names, make, &made, used.contains(&make.keep.as_str()));
                made.push(&make.keep);
            }
            Step::Send(send) => {
                let keep = send.keep.as_deref().filter(|keep| used.contains(keep));
                write_send(out, names, send, keep);
                made.extend(keep);
            }
        }
    }
    if case.steps.is_empty() {
        line!(out, "    pass");
    }
}

/// The captures that a case takes values from: others need no variable.
fn used_captures<'a>(names: &Names<'a>, case: &'a Case) -> Vec<&'a str> {
    let mut used = Vec::new();
    for step in &case.steps {
        match step {
            Step::Make(make) => {
                if let Some((_, roots)) = names.builders.get(make.make.as_str()) {
                    used.extend_from_slice(roots);
                }
                make.with.values().for_each(|value| collect_roots(value, &mut used));
            }
            Step::Send(send) => {
                let texts = std::iter::once(&send.path).chain(send.query.iter().map(|(_, value)| value));
                texts.for_each(|text| collect_text_roots(text, &mut used));
                send.body.iter().for_each(|body| collect_roots(body, &mut used));
                for assertion in &send.expect {
                    match assertion {
                        Assertion::Equal { value, .. } => collect_roots(value, &mut used),
                        Assertion::Has { value, .. } => {
                            value.values().for_each(|value| collect_roots(value, &mut used));
                        }
                        Assertion::Column { values, .. } => {
                            for value in values {
                                collect_roots(value, &mut used);
                            }
                        }
                        Assertion::Rows { rows, .. } => {
                            rows.iter()
                                .flat_map(|row| row.values())
                                .for_each(|value| collect_roots(value, &mut used));
                        }
                        Assertion::Absent { .. } | Assertion::Text { .. } | Assertion::Id { .. } => {}
                    }
                }
            }
        }
    }
    used
}

fn collect_text_roots<'a>(text: &'a str, into: &mut Vec<&'a str>) {
    let mut rest = text;
    while let Some((start, end)) = next_capture(rest) {
        let path = &rest[start + 1..end];
        into.push(path.split_once('.').map_or(path, |(root, _)| root));
        rest = &rest[end + 1..];
    }
}

/// Writes what a test is about, over more than one line if it is long.
fn docstring(out: &mut String, text: &str) {
    out.push_str("    \"\"\"");
    let mut length = 7;
    for word in text.split(' ') {
        if length > 7 && length + word.len() + 4 > WIDTH {
            out.push_str("\n    ");
            length = 4;
        } else if length > 7 {
            out.push(' ');
        }
        out.push_str(word);
        length += word.len() + 1;
    }
    out.push_str("\"\"\"\n");
}

fn write_make<'a>(out: &mut String, names: &mut Names<'a>, make: &'a Make, made: &[&str], keep: bool) {
    let (function, roots) = names.builders.get(make.make.as_str()).cloned().unwrap_or_default();
    let mut arguments = vec![make.nth.to_string()];
    // What was not made yet is left out; nothing is passed after the last that was.
    let passed = roots.iter().rposition(|root| made.contains(root)).map_or(0, |last| last + 1);
    for root in &roots[..passed] {
        arguments.push(if made.contains(root) { names.capture(root).to_owned() } else { "None".to_owned() });
    }
    if !make.with.is_empty() {
        let mut changes = "changes=".to_owned();
        push_object(&mut changes, names, &make.with);
        arguments.push(changes);
    }
    let head =
        if keep { format!("{} = {function}(", names.capture(&make.keep)) } else { format!("{function}(") };
    call(out, 4, &head, &arguments, ")");
}

fn write_send<'a>(out: &mut String, names: &mut Names<'a>, send: &'a Send, keep: Option<&'a str>) {
    let mut path = String::new();
    push_text(&mut path, names, &send.path);
    let mut arguments = vec![format!("\"{}\"", send.method.as_str()), path];
    if let Some(body) = &send.body {
        let mut text = String::new();
        push_json(&mut text, names, body, false);
        arguments.push(text);
    }
    if !send.query.is_empty() {
        let mut text = "query=[".to_owned();
        for (index, (name, value)) in send.query.iter().enumerate() {
            if index > 0 {
                text.push_str(", ");
            }
            text.push('(');
            push_quoted(&mut text, name);
            text.push_str(", ");
            push_text(&mut text, names, value);
            text.push(')');
        }
        text.push(']');
        arguments.push(text);
    }
    arguments.push(format!("status={}", send.status));
    let answer = match keep {
        Some(keep) => names.capture(keep).to_owned(),
        None if send.expect.is_empty() => String::new(),
        None => "answer".to_owned(),
    };
    let head = if answer.is_empty() { "send(".to_owned() } else { format!("{answer} = send(") };
    call(out, 4, &head, &arguments, ")");
    for assertion in &send.expect {
        write_assertion(out, names, &answer, assertion);
    }
}

fn write_assertion<'a>(out: &mut String, names: &mut Names<'a>, answer: &str, assertion: &'a Assertion) {
    let (test, at) = match assertion {
        Assertion::Equal { at, .. } => ("same", at),
        Assertion::Has { at, .. } => ("has", at),
        Assertion::Absent { at } => {
            let mut arguments = vec![answer.to_owned()];
            arguments.extend(steps(at));
            call(out, 4, "assert absent(", &arguments, ")");
            return;
        }
        Assertion::Text { at } => ("is_text", at),
        Assertion::Id { at } => ("is_id", at),
        Assertion::Column { at, .. } => ("column", at),
        Assertion::Rows { at, .. } => ("rows", at),
    };
    let mut place = answer.to_owned();
    for step in steps(at) {
        place.push('[');
        place.push_str(&step);
        place.push(']');
    }
    let mut arguments = vec![place];
    let mut text = String::new();
    match assertion {
        Assertion::Equal { value, .. } => push_json(&mut text, names, value, false),
        Assertion::Has { value, .. } => push_object(&mut text, names, value),
        Assertion::Column { key, values, .. } => {
            arguments.push(quoted(key));
            push_list(&mut text, names, values);
        }
        Assertion::Rows { rows, .. } => {
            text.push('[');
            for (index, row) in rows.iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                push_object(&mut text, names, row);
            }
            text.push(']');
        }
        Assertion::Absent { .. } | Assertion::Text { .. } | Assertion::Id { .. } => {}
    }
    if !text.is_empty() {
        arguments.push(text);
    }
    call(out, 4, &format!("assert {test}("), &arguments, ")");
}

fn push_list<'a>(out: &mut String, names: &mut Names<'a>, values: &'a [Value]) {
    out.push('[');
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        push_json(out, names, value, false);
    }
    out.push(']');
}

/// The steps of a JSON pointer as Python indices.
fn steps(pointer: &str) -> Vec<String> {
    let step = |part: &str| {
        let part = part.replace("~1", "/").replace("~0", "~");
        let is_index = part == "0"
            || (!part.starts_with('0') && part.len() < 10 && part.bytes().all(|b| b.is_ascii_digit()));
        if is_index && !part.is_empty() { part } else { quoted(&part) }
    };
    pointer.split('/').skip(1).map(step).collect()
}
