//! The records of a server, and values as it compares them.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Number, Value};

/// A record. Slots of computed fields are null.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    pub(super) id: i64,
    pub(super) deleted: bool,
    /// One value per field of the entity, in its order.
    pub(super) values: Vec<Value>,
}

impl Record {
    pub(super) fn value(&self, field: usize) -> &Value {
        self.values.get(field).unwrap_or(&Value::Null)
    }

    pub(super) fn set(&mut self, field: usize, value: Value) {
        if let Some(slot) = self.values.get_mut(field) {
            *slot = value;
        }
    }

    /// Whether its reference names this id.
    pub(super) fn refers(&self, reference: usize, id: i64) -> bool {
        self.value(reference).as_i64() == Some(id)
    }
}

/// The records of one entity. A case holds a handful, so that looking at all of them is faster than keeping indexes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Table {
    pub(super) records: BTreeMap<i64, Record>,
    pub(super) last_id: i64,
}

impl Table {
    /// A record that is not deleted.
    pub(super) fn live_record(&self, id: i64) -> Option<&Record> {
        self.records.get(&id).filter(|record| !record.deleted)
    }

    /// All that are not deleted, by id.
    pub(super) fn live_records(&self) -> impl Iterator<Item = &Record> {
        self.records.values().filter(|record| !record.deleted)
    }
}

/// Equality of values: numbers by value, not by how they are written.
pub(super) fn is_same_value(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right) == Ordering::Equal,
        _ => left == right,
    }
}

/// Order of values of the same kind; null first.
pub(super) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) {
        return left.cmp(&right);
    }
    let as_float = |number: &Number| number.as_f64().unwrap_or(0.0);
    as_float(left).partial_cmp(&as_float(right)).unwrap_or(Ordering::Equal)
}

/// Sum of numbers: an integer as long as all of them are.
pub(super) fn sum<'a>(values: impl Iterator<Item = &'a Value>) -> Value {
    let mut whole: Option<i64> = Some(0);
    let mut total = 0.0;
    for value in values {
        let Value::Number(number) = value else { continue };
        whole = whole.and_then(|sum| sum.checked_add(number.as_i64()?));
        total += number.as_f64().unwrap_or(0.0);
    }
    whole.map_or_else(|| number(total), Value::from)
}

/// A number, or null if it is none that JSON has.
pub(super) fn number(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// An integer written in decimal digits, as in a path or query.
pub(super) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}
