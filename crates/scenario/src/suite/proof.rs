//! No test demands what no text says: looked up, case by case, in the clauses that it names.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Assertion, Case, Send, Step, Suite};
use crate::text::Clause;

/// What a case demands and no clause that it names says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unstated {
    /// The case.
    pub case: String,
    /// What is not said: a word, or a clause that does not exist.
    pub what: String,
}

/// Everything that cases demand by letter and their clauses do not say: clauses that do not exist, segments of paths,
/// names of parameters and JSON keys, statuses, and texts in answers that the case did not send itself.
///
/// What an answer must be is looked up in the named clauses only. What is sent may also stand in the clauses of the
/// fields, filters and actions of an entity that is named: a body needs required fields that a case is not about.
pub fn unstated(suite: &Suite, clauses: &[Clause]) -> Vec<Unstated> {
    let words: HashMap<&str, HashSet<&str>> =
        clauses.iter().map(|clause| (clause.id.as_str(), words(&clause.text).collect())).collect();
    let mut of_entity: HashMap<&str, Vec<&str>> = HashMap::new();
    for clause in clauses {
        if let Some((entity, _)) = clause.id.split_once('.') {
            of_entity.entry(entity).or_default().push(&clause.id);
        }
    }
    let mut found = Vec::new();
    for case in &suite.cases {
        let mut look = Look {
            case,
            said: HashSet::new(),
            set_up: HashSet::new(),
            sent: Vec::new(),
            missing: Vec::new(),
        };
        for id in &case.says {
            match words.get(id.as_str()) {
                Some(words) => look.said.extend(words),
                None => look.missing.push(format!("the clause {id}")),
            }
            if let Some(clauses) = of_entity.get(id.as_str()) {
                look.set_up.extend(clauses.iter().filter_map(|id| words.get(id)).flatten());
            }
        }
        for step in &case.steps {
            match step {
                Step::Make(make) => {
                    look.sent.extend(make.with.values());
                    let builder = suite.builders.iter().find(|builder| builder.entity == make.make);
                    look.sent.extend(
                        builder.and_then(|builder| builder.bodies.get(make.nth.saturating_sub(1) as usize)),
                    );
                    let clauses = of_entity.get(make.make.as_str()).into_iter().flatten();
                    let stated: HashSet<&str> =
                        clauses.filter_map(|id| words.get(id)).flatten().copied().collect();
                    for key in make.with.keys() {
                        if !stated.contains(key.as_str()) {
                            look.missing.push(format!("the field {key}"));
                        }
                    }
                }
                Step::Send(send) => look.send(send),
            }
        }
        found.extend(look.missing.into_iter().map(|what| Unstated { case: case.id.clone(), what }));
    }
    found
}

/// The words of a text, names with `_` and `-` in one piece.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).filter(|word| !word.is_empty())
}

/// A case that is looked through.
struct Look<'a> {
    case: &'a Case,
    /// Words of the clauses that it names.
    said: HashSet<&'a str>,
    /// Words of the clauses of entities that it names.
    set_up: HashSet<&'a str>,
    /// What it sent.
    sent: Vec<&'a Value>,
    missing: Vec<String>,
}

/// Names that are meant to be unknown.
const UNKNOWN: [&str; 4] = ["unheard_of", "unheardOf", "nowhere", "abc"];

impl<'a> Look<'a> {
    fn may_send(&mut self, what: &str, word: &str) {
        if !self.said.contains(word) && !self.set_up.contains(word) && !UNKNOWN.contains(&word) {
            self.missing.push(format!("{what} {word}"));
        }
    }

    fn must_say(&mut self, what: &str, word: &str) {
        if !self.said.contains(word) && !UNKNOWN.contains(&word) {
            self.missing.push(format!("{what} {word}"));
        }
    }

    fn send(&mut self, send: &'a Send) {
        for segment in send.path.split('/').filter(|segment| !segment.is_empty() && !segment.starts_with('{'))
        {
            if segment.parse::<u64>().is_err() {
                self.may_send("the path segment", segment);
            }
        }
        for (name, _) in &send.query {
            self.may_send("the parameter", name);
        }
        if let Some(Value::Object(body)) = &send.body {
            for key in body.keys() {
                self.may_send("the field", key);
            }
        }
        self.sent.extend(&send.body);
        self.must_say("the status", &send.status.to_string());
        for assertion in &send.expect {
            let (at, values): (&str, Vec<&Value>) = match assertion {
                Assertion::Equal { at, value } => (at, vec![value]),
                Assertion::Has { at, value } => {
                    for key in value.keys() {
                        self.must_say("the key", key);
                    }
                    (at, value.values().collect())
                }
                Assertion::Column { at, key, values } => {
                    self.must_say("the key", key);
                    (at, values.iter().collect())
                }
                Assertion::Rows { at, rows } => {
                    for key in rows.iter().flat_map(serde_json::Map::keys) {
                        self.must_say("the key", key);
                    }
                    (at, rows.iter().flat_map(serde_json::Map::values).collect())
                }
                Assertion::Text { at } | Assertion::Id { at } => (at, Vec::new()),
                Assertion::Absent { .. } => continue,
            };
            for segment in at.split('/').filter(|segment| !segment.is_empty()) {
                if segment.parse::<u64>().is_err() {
                    self.must_say("the key", segment);
                }
            }
            for value in values {
                self.shown(value);
            }
        }
    }

    /// A value in an answer: keys and texts in it.
    fn shown(&mut self, value: &'a Value) {
        match value {
            Value::String(text) => {
                let sent = self.sent.iter().any(|sent| begins(sent, text));
                if !sent && !words(text).all(|word| self.said.contains(word)) {
                    self.missing.push(format!("the text {text:?} ({:?})", self.case.aspect));
                }
            }
            Value::Object(map) if map.contains_key("$") => {}
            Value::Object(map) => {
                for (key, value) in map {
                    self.must_say("the key", key);
                    self.shown(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.shown(item)),
            _ => {}
        }
    }
}

/// Whether a text is, or begins with, one that was sent: joined fields are made of such.
fn begins(sent: &Value, text: &str) -> bool {
    match sent {
        Value::String(own) => !own.is_empty() && text.starts_with(own.as_str()) || own == text,
        Value::Array(items) => items.iter().any(|item| begins(item, text)),
        Value::Object(map) => map.values().any(|item| begins(item, text)),
        _ => false,
    }
}
