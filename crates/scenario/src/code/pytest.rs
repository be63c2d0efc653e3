//! The pytest suite of a turn.
//!
//! A step is a call of a few functions that stand at the head of the file (`pytest/helpers.py`), in the same short forms as
//! in the suite as data: records have names, paths and bodies of records are not written out again. A capture or a place
//! in an answer that is not there raises an exception in Python, which fails the test, as it fails the case.
//!
//! A suite is written whole ([`write`]), or as one file after another ([`Files`]): those of later turns import the tests of the
//! turn before, and define what is new or written differently. A test that was taken over makes its records by the RECORDS
//! of the file that runs, as a case that refers to an earlier turn is read with the builders of its own file.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::python::{is_name, line, prose, push_quoted, push_value};
use crate::suite::{Assertion, Case, Method, RecordStep, RequestStep, Shorthand, SimilarBody, Step, Suite};

/// The whole suite in one file.
pub(super) fn write(suite: &Suite) -> String {
    let mut out = String::with_capacity(16 * 1024 + suite.cases.len() * 500);
    head(&mut out, suite);
    push_functions(&mut out, suite, functions(suite).iter().map(Some));
    out
}

/// The test of a case.
#[derive(Debug, Default)]
struct Function {
    name: String,
    text: String,
}

impl Function {
    fn from_case(case: &Case, name: String, short: &Shorthand<'_>) -> Self {
        let mut text = String::with_capacity(500);
        write_case(&mut text, case, &name, short);
        Self { name, text }
    }
}

/// The tests of a suite, in the order of its cases. A name that is there already gets a number.
fn functions(suite: &Suite) -> Vec<Function> {
    let short = Shorthand::new(&suite.builders);
    let mut taken = HashSet::with_capacity(suite.cases.len());
    let function = |case: &Case| {
        let name = super::test_name(&case.id);
        let mut own = name.clone();
        let mut number = 2;
        while !taken.insert(own.clone()) {
            own = format!("{name}_{number}");
            number += 1;
        }
        Function::from_case(case, own, &short)
    };
    suite.cases.iter().map(function).collect()
}

/// Adds the functions that there are, entity by entity.
fn push_functions<'f>(
    out: &mut String,
    suite: &Suite,
    functions: impl Iterator<Item = Option<&'f Function>>,
) {
    let mut section = "";
    for (case, function) in suite.cases.iter().zip(functions) {
        let Some(function) = function else { continue };
        let about = case.id.split('.').next().unwrap_or_default();
        if about != section {
            section = about;
            line!(out, "\n\n# {}\n# {}", "-".repeat(98), prose(about));
        }
        out.push_str(&function.text);
    }
}

/// The files of one suite after another.
#[derive(Debug, Default)]
pub(super) struct Files {
    text: String,
    /// The tests of the last suite, in the order of its cases.
    functions: Vec<Function>,
    /// Their names.
    names: HashSet<String>,
}

impl Files {
    /// The file of the next suite, see [`super::PytestFiles::next`].
    pub(super) fn next(&mut self, suite: &Suite, equals: &[Option<usize>]) -> &str {
        self.text.clear();
        if let Some((own, removed)) = self.take_over(suite, equals) {
            following_head(&mut self.text, suite, &removed);
            let own = self.functions.iter().zip(own).map(|(function, own)| own.then_some(function));
            push_functions(&mut self.text, suite, own);
        } else {
            self.functions = functions(suite);
            self.names = self.functions.iter().map(|function| function.name.clone()).collect();
            head(&mut self.text, suite);
            push_functions(&mut self.text, suite, self.functions.iter().map(Some));
        }
        &self.text
    }

    /// Makes the tests of the next suite from those of the last. Says of each whether it is its own, and which names of the
    /// last suite are gone. None if the suite has to be written whole, because it is the first or two tests would have one
    /// name; what the tests are then is open.
    fn take_over(&mut self, suite: &Suite, equals: &[Option<usize>]) -> Option<(Vec<bool>, Vec<String>)> {
        if self.functions.is_empty() {
            return None;
        }
        let mut before = std::mem::take(&mut self.functions);
        let short = Shorthand::new(&suite.builders);
        let mut own = Vec::with_capacity(suite.cases.len());
        for (index, case) in suite.cases.iter().enumerate() {
            let equal = equals.get(index).copied().flatten().and_then(|place| before.get_mut(place));
            own.push(equal.is_none());
            self.functions.push(match equal {
                Some(function) => std::mem::take(function),
                None => Function::from_case(case, super::test_name(&case.id), &short),
            });
        }
        // Those that no case is equal to: gone, or written again.
        before.retain(|function| !function.name.is_empty());
        for function in &before {
            self.names.remove(&function.name);
        }
        let left: HashMap<&str, &str> =
            before.iter().map(|function| (function.name.as_str(), function.text.as_str())).collect();
        for (function, own) in self.functions.iter().zip(&mut own).filter(|(_, own)| **own) {
            if !self.names.insert(function.name.clone()) {
                return None;
            }
            // It may be written as before though records are made otherwise.
            *own = left.get(function.name.as_str()) != Some(&function.text.as_str());
        }
        let removed = before.into_iter().map(|function| function.name);
        Some((own, removed.filter(|name| !self.names.contains(name)).collect()))
    }
}

const HELPERS: &str = include_str!("pytest/helpers.py");

fn head(out: &mut String, suite: &Suite) {
    line!(out, "\"\"\"Tests of turn {} of scenario {}, for pytest and requests.", suite.turn, suite.scenario);
    out.push_str(
        r#"
    BASE_URL=http://127.0.0.1:8000 pytest this_file.py

The id of a case is the name of its test without `test_`, with every `__` read as `.`:
`test_orders__create__minimal` is the case `orders.create.minimal`. No part of an id has two `_` in a row.

Records have names: `make("orders_2")` makes one of `orders` with the second body in RECORDS, and keeps the answer.
`the("orders_2.id")` is a value of that answer, `like("orders_2", status="open")` the same body with another value,
and as a path `orders_2` stands for that of the record, `orders` for that of the collection.
"""

"#,
    );
    out.push_str(HELPERS);
    out.push('\n');
    push_records(out, suite);
}

/// The head of a file that takes over what the turn before tests. The turns are imported from the first on, so that no
/// import has a long row of imports within it, which Python would refuse.
fn following_head(out: &mut String, suite: &Suite, removed: &[String]) {
    let (turn, before) = (suite.turn, suite.turn - 1);
    line!(out, "\"\"\"Tests of turn {turn} of scenario {}, for pytest and requests.", suite.scenario);
    let _ = write!(
        out,
        r#"
    BASE_URL=http://127.0.0.1:8000 pytest turn_{turn}.py

They are those of turn {before}, without what is not tested any more, and with what is new or written differently. How
they are written is said in turn_1.py; the files of earlier turns must lie beside this one.
"""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# So that a test that fails says with which values.
pytest.register_assert_rewrite("turn_1")
from turn_1 import in_order

in_order({turn}, __file__)
from turn_{before} import *
"#,
    );
    push_records(out, suite);
    if !removed.is_empty() {
        out.push_str("\n# Not tested any more.\n");
    }
    for name in removed {
        line!(out, "del {name}");
    }
}

fn push_records(out: &mut String, suite: &Suite) {
    out.push_str("\nRESET = (\"");
    out.push_str(suite.reset.method.as_str());
    out.push_str("\", ");
    push_quoted(out, &suite.reset.path);
    line!(
        out,
        ")\n\n# By entity: the path of the collection, the status of a create, and bodies.\nRECORDS = {{"
    );
    for builder in &suite.builders {
        out.push_str("    ");
        push_quoted(out, &builder.entity);
        out.push_str(": (");
        push_quoted(out, &builder.path);
        line!(out, ", {}, [", builder.status);
        for body in &builder.bodies {
            out.push_str("        ");
            push_json(out, body);
            out.push_str(",\n");
        }
        line!(out, "    ]),");
    }
    line!(out, "}}");
}

fn write_case(out: &mut String, case: &Case, function: &str, short: &Shorthand<'_>) {
    line!(out, "\n\ndef {function}():\n    \"\"\"{}\"\"\"", prose(&case.title));
    // Records that are made one after the other are made by one call, which ends with the first that has changes.
    let mut making = false;
    for step in &case.steps {
        let plain = match step {
            Step::Record(make) if short.is_plain(make) => Some(make),
            Step::Record(_) | Step::Request(_) => None,
        };
        if making && plain.is_none() {
            out.push_str(")\n");
            making = false;
        }
        match (step, plain) {
            (_, Some(make)) => {
                out.push_str(if making { ", " } else { "    make(" });
                push_quoted(out, &make.keep);
                making = make.with.is_empty();
                if !making {
                    push_named(out, ", ", make.with.iter().map(|(key, value)| (key.as_str(), value)));
                    out.push_str(")\n");
                }
            }
            (Step::Record(make), None) => write_make(out, make),
            (Step::Request(send), None) => write_send(out, send, short),
        }
    }
    if making {
        out.push_str(")\n");
    }
    if case.steps.is_empty() {
        line!(out, "    pass");
    }
}

/// Makes a record whose name does not say with which body.
fn write_make(out: &mut String, make: &RecordStep) {
    let mut entry = "records[".to_owned();
    push_quoted(&mut entry, &make.make);
    out.push_str("    post(");
    let _ = write!(out, "{entry}][0], {{**{entry}][2][{}], **", i64::from(make.nth) - 1);
    push_object(out, &make.with);
    let _ = write!(out, "}}, {entry}][1], keep=");
    push_quoted(out, &make.keep);
    out.push_str(")\n");
}

fn write_send(out: &mut String, send: &RequestStep, short: &Shorthand<'_>) {
    let function = match send.method {
        Method::Get => "get",
        Method::Delete => "delete",
        Method::Post => "post",
        Method::Put => "put",
        Method::Patch => "patch",
    };
    let takes_body = !matches!(send.method, Method::Get | Method::Delete);
    // A body where nobody expects one: only by the function below the others.
    let whole = !takes_body && send.body.is_some();
    if whole {
        let _ = write!(out, "    send(\"{}\", ", send.method.as_str());
    } else {
        let _ = write!(out, "    {function}(");
    }
    match short.path(&send.path) {
        Some(path) => {
            let _ = write!(out, "\"{}", path.name);
            let rest = out.len();
            push_quoted(out, path.rest);
            out.remove(rest);
        }
        None => push_quoted(out, &send.path),
    }
    if takes_body || whole {
        out.push_str(", ");
        match (short.similar_body(send), &send.body) {
            (Some(like), _) => push_like(out, &like),
            (None, Some(body)) => push_json(out, body),
            (None, None) => out.push_str("NOTHING"),
        }
    }
    let _ = write!(out, ", {}", send.status);
    out.push_str(if whole { ", [" } else { "" });
    for (index, assertion) in send.expect.iter().enumerate() {
        out.push_str(if whole && index == 0 { "" } else { ", " });
        push_assertion(out, assertion);
    }
    out.push_str(if whole { "], " } else { "" });
    if !send.query.is_empty() || whole {
        out.push_str(if whole { "[" } else { ", query=[" });
        for (index, (name, value)) in send.query.iter().enumerate() {
            out.push_str(if index > 0 { ", (" } else { "(" });
            push_quoted(out, name);
            out.push_str(", ");
            push_quoted(out, value);
            out.push(')');
        }
        out.push(']');
    }
    match &send.keep {
        Some(keep) => {
            out.push_str(if whole { ", " } else { ", keep=" });
            push_quoted(out, keep);
        }
        None => out.push_str(if whole { ", None" } else { "" }),
    }
    out.push_str(")\n");
}

fn push_like(out: &mut String, like: &SimilarBody<'_>) {
    let _ = write!(out, "like(\"{}_{}\"", like.entity, like.nth);
    let all = || like.with.iter().map(|(key, _)| key).chain(&like.without);
    if all().all(|key| is_name(key)) {
        push_named(out, ", ", like.with.iter().copied());
        for key in &like.without {
            let _ = write!(out, ", {key}=NOTHING");
        }
    } else {
        out.push_str(", **{");
        push_entries(out, like.with.iter().copied());
        for (index, key) in like.without.iter().enumerate() {
            out.push_str(if index > 0 || !like.with.is_empty() { ", " } else { "" });
            push_quoted(out, key);
            out.push_str(": NOTHING");
        }
        out.push('}');
    }
    out.push(')');
}

fn push_assertion(out: &mut String, assertion: &Assertion) {
    let (function, place) = match assertion {
        Assertion::Equal { at, .. } => ("equal(", at),
        Assertion::Has { at, .. } => ("has(", at),
        Assertion::Absent { at } => ("absent(", at),
        Assertion::Text { at } => ("a_text(", at),
        Assertion::Id { at } => ("an_id(", at),
        Assertion::Column { at, .. } => ("column(", at),
        Assertion::Rows { at, .. } => ("rows(", at),
    };
    out.push_str(function);
    let at_body = place.is_empty() && matches!(assertion, Assertion::Has { .. });
    if !at_body {
        push_quoted(out, place);
    }
    match assertion {
        Assertion::Equal { value, .. } => {
            out.push_str(", ");
            push_json(out, value);
        }
        Assertion::Has { value, .. } => {
            let before = if at_body { "" } else { ", " };
            push_named(out, before, value.iter().map(|(key, value)| (key.as_str(), value)));
        }
        Assertion::Column { key, values, .. } => {
            out.push_str(", ");
            push_quoted(out, key);
            out.push_str(", ");
            push_list(out, values, push_json);
        }
        Assertion::Rows { rows, .. } => {
            out.push_str(", ");
            push_list(out, rows, push_object);
        }
        Assertion::Absent { .. } | Assertion::Text { .. } | Assertion::Id { .. } => {}
    }
    out.push(')');
}

/// Adds named arguments, with `before` before the first; as a dictionary if a key cannot be a name.
fn push_named<'v>(
    out: &mut String,
    before: &str,
    entries: impl Iterator<Item = (&'v str, &'v Value)> + Clone,
) {
    if entries.clone().all(|(key, _)| is_name(key)) {
        for (index, (key, value)) in entries.enumerate() {
            out.push_str(if index > 0 { ", " } else { before });
            out.push_str(key);
            out.push('=');
            push_json(out, value);
        }
        return;
    }
    out.push_str(before);
    out.push_str("**{");
    push_entries(out, entries);
    out.push('}');
}

fn push_entries<'v>(out: &mut String, entries: impl Iterator<Item = (&'v str, &'v Value)>) {
    for (index, (key, value)) in entries.enumerate() {
        out.push_str(if index > 0 { ", " } else { "" });
        push_quoted(out, key);
        out.push_str(": ");
        push_json(out, value);
    }
}

fn push_object(out: &mut String, entries: &Map<String, Value>) {
    out.push('{');
    push_entries(out, entries.iter().map(|(key, value)| (key.as_str(), value)));
    out.push('}');
}

fn push_list<T>(out: &mut String, items: &[T], push: impl Fn(&mut String, &T)) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index > 0 { ", " } else { "" });
        push(out, item);
    }
    out.push(']');
}

/// Adds a value with its captures.
fn push_json(out: &mut String, value: &Value) {
    match value {
        Value::Array(items) => push_list(out, items, push_json),
        Value::Object(entries) => match entries.get("$").and_then(Value::as_str) {
            Some(path) if entries.len() == 1 => {
                out.push_str("the(");
                push_quoted(out, path);
                out.push(')');
            }
            _ => push_object(out, entries),
        },
        plain => push_value(out, plain),
    }
}
