//! No test demands what no text says: looked up, case by case, in the clauses that it names.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Assertion, Builder, Method, RequestStep, Step, Suite};
use crate::text::Clause;

/// What a case demands and no clause that it names says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnstatedDemand {
    /// The case.
    pub case: String,
    /// What is not stated: a word, or a clause that does not exist.
    pub demand: String,
}

/// Everything that cases demand by letter and their clauses do not say: clauses that do not exist, segments of paths,
/// names of parameters and JSON keys, statuses, and values in answers that the case did not send itself: texts, `true` and
/// `false`, and numbers. A number may also count records, or be the sum, difference, product or average of what was sent or
/// is stated, as computed fields, effects and analytics have it.
///
/// What an answer must be is looked up in the named clauses only. What is sent may also stand in the clauses of the
/// fields, filters and actions of an entity that is named: a body needs required fields that a case is not about.
pub fn unstated_demands(suite: &Suite, clauses: &[Clause]) -> Vec<UnstatedDemand> {
    let mut words: HashMap<&str, Words> = HashMap::new();
    let mut numbers: HashMap<&str, Vec<f64>> = HashMap::new();
    let mut words_by_entity: HashMap<&str, Words> = HashMap::new();
    for clause in clauses {
        words.insert(&clause.id, self::words(&clause.text).collect());
        numbers.insert(&clause.id, self::numbers(&clause.text).collect());
        if let Some((entity, _)) = clause.id.split_once('.') {
            words_by_entity.entry(entity).or_default().extend(self::words(&clause.text));
        }
    }
    let builders: HashMap<&str, &Builder> =
        suite.builders.iter().map(|builder| (builder.entity.as_str(), builder)).collect();
    let mut found = Vec::new();
    for case in &suite.cases {
        let mut look = CaseCheck::default();
        for id in &case.clauses {
            match words.get(id.as_str()) {
                Some(words) => {
                    look.texts.push(words);
                    look.numbers.extend(numbers.get(id.as_str()).into_iter().flatten());
                }
                None => look.missing.push(format!("the clause {id}")),
            }
            look.set_up.extend(words_by_entity.get(id.as_str()));
        }
        for step in &case.steps {
            match step {
                Step::Record(make) => {
                    look.sent.extend(make.with.values());
                    let builder = builders.get(make.make.as_str());
                    look.sent.extend(
                        builder.and_then(|builder| builder.bodies.get(make.nth.saturating_sub(1) as usize)),
                    );
                    let stated = words_by_entity.get(make.make.as_str());
                    for key in make.with.keys() {
                        if !stated.is_some_and(|stated| stated.contains(key.as_str())) {
                            look.missing.push(format!("the field {key}"));
                        }
                    }
                    look.created += 1;
                }
                Step::Request(send) => look.send(send),
            }
        }
        found.extend(look.missing.into_iter().map(|demand| UnstatedDemand { case: case.id.clone(), demand }));
    }
    found
}

type Words<'a> = HashSet<&'a str>;

/// The words of a text, names with `_` and `-` in one piece.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).filter(|word| !word.is_empty())
}

/// The numbers in a text.
fn numbers(text: &str) -> impl Iterator<Item = f64> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .filter_map(|part| part.trim_end_matches('.').parse().ok())
}

/// The numbers in a value that was sent.
fn numbers_in(value: &Value, numbers: &mut Vec<f64>) {
    match value {
        Value::Number(number) => numbers.extend(number.as_f64()),
        Value::Array(items) => items.iter().for_each(|item| numbers_in(item, numbers)),
        Value::Object(map) => map.values().for_each(|item| numbers_in(item, numbers)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Whether a value that was sent holds a boolean.
fn holds_boolean(sent: &Value, flag: bool) -> bool {
    match sent {
        Value::Bool(value) => *value == flag,
        Value::Array(items) => items.iter().any(|item| holds_boolean(item, flag)),
        Value::Object(map) => map.values().any(|item| holds_boolean(item, flag)),
        Value::Null | Value::Number(_) | Value::String(_) => false,
    }
}

/// A case that is looked through.
#[derive(Default)]
struct CaseCheck<'a> {
    /// Words of the clauses that it names.
    texts: Vec<&'a Words<'a>>,
    /// Words of the clauses of entities that it names.
    set_up: Vec<&'a Words<'a>>,
    /// Numbers in the clauses that it names.
    numbers: Vec<f64>,
    /// What it sent.
    sent: Vec<&'a Value>,
    /// How many records it made, or tried to.
    created: u32,
    missing: Vec<String>,
}

/// Names that are meant to be unknown.
const UNKNOWN_NAMES: [&str; 4] = ["unheard_of", "unheardOf", "nowhere", "abc"];

impl<'a> CaseCheck<'a> {
    fn is_stated(&self, word: &str) -> bool {
        self.texts.iter().any(|words| words.contains(word)) || UNKNOWN_NAMES.contains(&word)
    }

    fn may_send(&mut self, label: &str, word: &str) {
        if !self.is_stated(word) && !self.set_up.iter().any(|words| words.contains(word)) {
            self.missing.push(format!("{label} {word}"));
        }
    }

    fn require_word(&mut self, label: &str, word: &str) {
        if !self.is_stated(word) {
            self.missing.push(format!("{label} {word}"));
        }
    }

    fn send(&mut self, send: &'a RequestStep) {
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
        self.created += u32::from(send.method == Method::Post);
        self.require_word("the status", &send.status.to_string());
        for assertion in &send.expect {
            let (pointer, values): (&str, Vec<&Value>) = match assertion {
                Assertion::Equal { at, value } => (at, vec![value]),
                Assertion::Has { at, value } => {
                    for key in value.keys() {
                        self.require_word("the key", key);
                    }
                    (at, value.values().collect())
                }
                Assertion::Column { at, key, values } => {
                    self.require_word("the key", key);
                    (at, values.iter().collect())
                }
                Assertion::Rows { at, rows } => {
                    for key in rows.iter().flat_map(serde_json::Map::keys) {
                        self.require_word("the key", key);
                    }
                    (at, rows.iter().flat_map(serde_json::Map::values).collect())
                }
                Assertion::Text { at } | Assertion::Id { at } | Assertion::Absent { at } => (at, Vec::new()),
            };
            for segment in pointer.split('/').filter(|segment| !segment.is_empty()) {
                if segment.parse::<u64>().is_err() {
                    self.require_word("the key", segment);
                }
            }
            for value in values {
                self.check_shown(value);
            }
        }
    }

    /// A value in an answer: keys and texts in it.
    fn check_shown(&mut self, value: &'a Value) {
        match value {
            Value::String(text) => {
                // Whole or, where it is joined, in parts.
                let sent = self.sent.iter().any(|sent| has_text(sent, text, &|value, text| value == text))
                    || words(text).all(|word| {
                        self.is_stated(word)
                            || self
                                .sent
                                .iter()
                                .any(|sent| has_text(sent, word, &|value, word| value.contains(word)))
                    });
                if !sent {
                    self.missing.push(format!("the text {text:?}"));
                }
            }
            Value::Object(map) if map.contains_key("$") => {}
            Value::Object(map) => {
                for (key, value) in map {
                    self.require_word("the key", key);
                    self.check_shown(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.check_shown(item)),
            Value::Bool(flag) => {
                if !self.is_stated(if *flag { "true" } else { "false" })
                    && !self.sent.iter().any(|sent| holds_boolean(sent, *flag))
                {
                    self.missing.push(format!("the value {flag}"));
                }
            }
            Value::Number(number) => {
                if !number.as_f64().is_some_and(|number| self.explains_number(number)) {
                    self.missing.push(format!("the number {number}"));
                }
            }
            Value::Null => {}
        }
    }

    /// Whether a number in an answer was sent or is stated, counts records, or comes from those in one step.
    fn explains_number(&self, wanted: f64) -> bool {
        let same = |number: f64| (number - wanted).abs() <= 1e-6;
        if (0..=self.created).any(|count| same(f64::from(count)))
            || self.numbers.iter().any(|&number| same(number))
        {
            return true;
        }
        let mut sent = Vec::new();
        self.sent.iter().for_each(|value| numbers_in(value, &mut sent));
        sent.sort_by(f64::total_cmp);
        sent.dedup();
        let mut all = sent.clone();
        all.extend(&self.numbers);
        // An action may be done twice.
        let pair = |&first: &f64| {
            all.iter().any(|&other| {
                [first, first + other, first - other, first * other, first + 2.0 * other, first - 2.0 * other]
                    .into_iter()
                    .any(same)
            })
        };
        // Records count more than once where they have the same value.
        let three = |&first: &f64| {
            sent.iter().any(|&two| {
                same(f64::midpoint(first, two))
                    || sent
                        .iter()
                        .any(|&three| same(first + two + three) || same((first + two + three) / 3.0))
            })
        };
        all.iter().any(pair) || sent.iter().any(three)
    }
}

/// Whether a text in a value stands in this relation to another one.
fn has_text(sent: &Value, text: &str, relation: &dyn Fn(&str, &str) -> bool) -> bool {
    match sent {
        Value::String(value) => relation(value, text),
        Value::Array(items) => items.iter().any(|item| has_text(item, text, relation)),
        Value::Object(map) => map.values().any(|item| has_text(item, text, relation)),
        _ => false,
    }
}
