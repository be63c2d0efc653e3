//! JSON from outside, read with a budget of values. Values beyond the budget are skipped.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// How many more values may be kept.
pub(super) struct Budget {
    free_values: Cell<usize>,
    spent: Cell<bool>,
}

impl Budget {
    pub(super) fn new(values: usize) -> Self {
        Self { free_values: Cell::new(values), spent: Cell::new(false) }
    }

    /// Whether a value was skipped.
    pub(super) fn is_spent(&self) -> bool {
        self.spent.get()
    }
}

/// Reads a value within the budget.
pub(super) struct Bounded<'a>(pub(super) &'a Budget);

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let Some(left) = self.0.free_values.get().checked_sub(1) else {
            self.0.spent.set(true);
            return deserializer.deserialize_ignored_any(IgnoredAny).map(|_| Value::Null);
        };
        self.0.free_values.set(left);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(element) = list.next_element_seed(Bounded(self.0))? {
            if !self.0.is_spent() {
                all.push(element);
            }
        }
        Ok(Value::Array(all))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(Bounded(self.0))?;
            if !self.0.is_spent() {
                all.insert(key, value);
            }
        }
        Ok(Value::Object(all))
    }
}
