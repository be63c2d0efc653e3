//! Captured values of steps, and their insertion.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The greatest total size of all captured bodies of a case.
const MOST_KEPT_BYTES: usize = 16 << 20;
/// The size of a value or key in addition to its text.
const NODE: usize = 16;

/// The remaining size for insertions. Captures that double each other would otherwise grow without bound: a suite may be
/// hostile, and a server in this process has no limit.
#[derive(Debug)]
pub(super) struct InsertionBudget(usize);

impl InsertionBudget {
    pub(super) fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes_left(&self) -> usize {
        self.0
    }

    fn take(&mut self, bytes: usize) -> Result<(), String> {
        match self.0.checked_sub(bytes) {
            Some(left) => self.0 = left,
            None => return Err("with what earlier answers hold it is too large".to_owned()),
        }
        Ok(())
    }

    /// Subtracts the size of a value. Counting stops at the remaining size.
    fn take_value(&mut self, value: &Value) -> Result<(), String> {
        self.take(NODE)?;
        match value {
            Value::String(text) => self.take(text.len()),
            Value::Array(items) => items.iter().try_for_each(|item| self.take_value(item)),
            Value::Object(map) => map.iter().try_for_each(|(key, value)| {
                self.take(NODE + key.len())?;
                self.take_value(value)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }
}

/// The captures of a case so far: name and body. There are few, so a list is fastest.
#[derive(Debug)]
pub(super) struct Captures<'a> {
    bodies: Vec<(&'a str, Value)>,
    budget: InsertionBudget,
}

impl Default for Captures<'_> {
    fn default() -> Self {
        Self { bodies: Vec::new(), budget: InsertionBudget::new(MOST_KEPT_BYTES) }
    }
}

impl<'a> Captures<'a> {
    pub(super) fn clear(&mut self) {
        self.bodies.clear();
        self.budget = InsertionBudget::new(MOST_KEPT_BYTES);
    }

    /// Captures a body. It replaces an earlier one with this name. Fails if the case captures too much.
    pub(super) fn keep(&mut self, name: &'a str, body: Value) -> Result<(), String> {
        self.budget
            .take_value(&body)
            .map_err(|_| "the answer cannot be kept: those of this case are too large".to_owned())?;
        match self.bodies.iter_mut().find(|(known, _)| *known == name) {
            Some((_, slot)) => *slot = body,
            None => self.bodies.push((name, body)),
        }
        Ok(())
    }

    /// The value at `name.key.0.key`.
    pub(super) fn value_at(&self, path: &str) -> Result<&Value, String> {
        let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
        let body = self.bodies.iter().find(|(known, _)| *known == name).map(|(_, body)| body);
        body.and_then(|body| {
            rest.into_iter().flat_map(|rest| rest.split('.')).try_fold(body, |value, part| match value {
                Value::Object(map) => map.get(part),
                Value::Array(items) => items.get(part.parse::<usize>().ok()?),
                _ => None,
            })
        })
        .ok_or_else(|| format!("an earlier answer has no {path}"))
    }

    /// A text with `{name.path}` replaced.
    pub(super) fn text(&self, template: &str, budget: &mut InsertionBudget) -> Result<String, String> {
        budget.take(NODE + template.len())?;
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            match after.split_once('}').filter(|(path, _)| is_path(path)) {
                Some((path, after)) => {
                    let value = self.value_at(path)?;
                    budget.take_value(value)?;
                    match value {
                        Value::String(text) => out.push_str(text),
                        other => out.push_str(&other.to_string()),
                    }
                    rest = after;
                }
                None => {
                    out.push('{');
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// A value with every `{"$": "name.path"}` replaced.
    pub(super) fn value<'v>(
        &self,
        value: &'v Value,
        budget: &mut InsertionBudget,
    ) -> Result<Cow<'v, Value>, String> {
        if has_capture(value) {
            self.replaced(value, budget).map(Cow::Owned)
        } else {
            Ok(Cow::Borrowed(value))
        }
    }

    /// A new value with every capture replaced.
    pub(super) fn replaced(&self, value: &Value, budget: &mut InsertionBudget) -> Result<Value, String> {
        Ok(match value {
            Value::Object(map) => match capture(map) {
                Some(path) => {
                    let value = self.value_at(path)?;
                    budget.take_value(value)?;
                    value.clone()
                }
                None => Value::Object(self.replaced_map(map, budget)?),
            },
            Value::Array(items) => {
                budget.take(NODE)?;
                Value::Array(items.iter().map(|item| self.replaced(item, budget)).collect::<Result<_, _>>()?)
            }
            other => {
                budget.take_value(other)?;
                other.clone()
            }
        })
    }

    /// The same for an object that is not a reference.
    pub(super) fn replaced_map(
        &self,
        map: &Map<String, Value>,
        budget: &mut InsertionBudget,
    ) -> Result<Map<String, Value>, String> {
        budget.take(NODE)?;
        let mut out = Map::with_capacity(map.len());
        for (key, value) in map {
            budget.take(NODE + key.len())?;
            out.insert(key.clone(), self.replaced(value, budget)?);
        }
        Ok(out)
    }
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
}

/// The path in an object that refers to a captured value.
fn capture(map: &Map<String, Value>) -> Option<&str> {
    if map.len() == 1 { map.get("$").and_then(Value::as_str) } else { None }
}

fn has_capture(value: &Value) -> bool {
    match value {
        Value::Object(map) => capture(map).is_some() || map.values().any(has_capture),
        Value::Array(items) => items.iter().any(has_capture),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn captures() -> Captures<'static> {
        let mut captures = Captures::default();
        let order = json!({"id": 7, "tags": ["a", {"deep": true}], "name": "x y"});
        captures.keep("order", order).expect("the size fits");
        captures
    }

    fn budget() -> InsertionBudget {
        InsertionBudget::new(1000)
    }

    #[test]
    fn captures_are_inserted_into_texts_and_values() {
        let captures = captures();
        assert_eq!(captures.text("/orders/{order.id}/x", &mut budget()).as_deref(), Ok("/orders/7/x"));
        assert_eq!(captures.text("{order.name}{order.tags.1.deep}", &mut budget()).as_deref(), Ok("x ytrue"));
        assert_eq!(captures.text("a {b c} {", &mut budget()).as_deref(), Ok("a {b c} {"));
        let value = json!({"a": [{"$": "order.id"}], "b": {"$": "order.tags.0"}, "c": {"$": 1}});
        assert_eq!(captures.replaced(&value, &mut budget()), Ok(json!({"a": [7], "b": "a", "c": {"$": 1}})));
    }

    #[test]
    fn a_capture_that_is_not_there_is_an_error() {
        let captures = captures();
        for path in ["order.none", "none.id", "order.tags.2", "order.id.x", "order.tags.x"] {
            assert!(captures.text(&format!("{{{path}}}"), &mut budget()).is_err(), "{path}");
            assert!(captures.replaced(&json!({"$": path}), &mut budget()).is_err(), "{path}");
        }
    }

    #[test]
    fn insertions_and_captures_are_bounded() {
        let mut captures = captures();
        captures.keep("long", json!("x".repeat(600))).expect("the size fits");
        let twice = json!([{"$": "long"}, {"$": "long"}]);
        assert!(captures.replaced(&twice, &mut InsertionBudget::new(2000)).is_ok());
        assert!(captures.replaced(&twice, &mut budget()).is_err());
        assert!(captures.value(&twice, &mut budget()).is_err());
        assert!(captures.text("{long.x}", &mut budget()).is_err());
        assert!(captures.text("{long}", &mut budget()).is_ok());
        assert!(captures.text("{long}{long}", &mut budget()).is_err());
        assert!(captures.keep("a", json!("x".repeat(MOST_KEPT_BYTES / 2))).is_ok());
        assert!(
            captures.keep("a", json!("x".repeat(MOST_KEPT_BYTES / 2))).is_err(),
            "what was kept before counts too"
        );
        captures.clear();
        assert!(captures.keep("a", json!("x".repeat(MOST_KEPT_BYTES / 2))).is_ok());
    }
}
