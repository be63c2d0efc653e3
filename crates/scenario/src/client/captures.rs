//! Values that steps kept, and the places that take them.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// What was kept in a case so far: name and body. A handful, so that a list is fastest.
#[derive(Debug, Default)]
pub(super) struct Captures<'a>(Vec<(&'a str, Value)>);

impl<'a> Captures<'a> {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Keeps a body; a later one of the same name takes its place.
    pub(super) fn keep(&mut self, name: &'a str, body: Value) {
        match self.0.iter_mut().find(|(kept, _)| *kept == name) {
            Some((_, slot)) => *slot = body,
            None => self.0.push((name, body)),
        }
    }

    /// The value at `name.key.0.key`.
    pub(super) fn at(&self, path: &str) -> Result<&Value, String> {
        let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
        let kept = self.0.iter().find(|(kept, _)| *kept == name).map(|(_, body)| body);
        kept.and_then(|body| {
            rest.into_iter().flat_map(|rest| rest.split('.')).try_fold(body, |value, part| match value {
                Value::Object(map) => map.get(part),
                Value::Array(items) => items.get(part.parse::<usize>().ok()?),
                _ => None,
            })
        })
        .ok_or_else(|| format!("an earlier answer has no {path}"))
    }

    /// A text with `{name.path}` replaced.
    pub(super) fn text(&self, template: &str) -> Result<String, String> {
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            match after.split_once('}').filter(|(path, _)| is_path(path)) {
                Some((path, after)) => {
                    match self.at(path)? {
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
    pub(super) fn value<'v>(&self, value: &'v Value) -> Result<Cow<'v, Value>, String> {
        if has_capture(value) { self.replaced(value).map(Cow::Owned) } else { Ok(Cow::Borrowed(value)) }
    }

    /// A value of its own, with every capture replaced.
    pub(super) fn replaced(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::Object(map) => match capture(map) {
                Some(path) => self.at(path)?.clone(),
                None => {
                    let mut out = Map::with_capacity(map.len());
                    for (key, value) in map {
                        out.insert(key.clone(), self.replaced(value)?);
                    }
                    Value::Object(out)
                }
            },
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.replaced(item)).collect::<Result<_, _>>()?)
            }
            other => other.clone(),
        })
    }
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
}

/// The path of an object that stands for a captured value.
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

    fn kept() -> Captures<'static> {
        let mut captures = Captures::default();
        captures.keep("order", json!({"id": 7, "tags": ["a", {"deep": true}], "name": "x y"}));
        captures
    }

    #[test]
    fn captures_are_put_into_texts_and_values() {
        let captures = kept();
        assert_eq!(captures.text("/orders/{order.id}/x").as_deref(), Ok("/orders/7/x"));
        assert_eq!(captures.text("{order.name}{order.tags.1.deep}").as_deref(), Ok("x ytrue"));
        assert_eq!(captures.text("a {b c} {").as_deref(), Ok("a {b c} {"));
        let value = json!({"a": [{"$": "order.id"}], "b": {"$": "order.tags.0"}, "c": {"$": 1}});
        assert_eq!(captures.replaced(&value), Ok(json!({"a": [7], "b": "a", "c": {"$": 1}})));
    }

    #[test]
    fn a_capture_that_is_not_there_is_an_error() {
        let captures = kept();
        for path in ["order.none", "none.id", "order.tags.2", "order.id.x", "order.tags.x"] {
            assert!(captures.text(&format!("{{{path}}}")).is_err(), "{path}");
            assert!(captures.replaced(&json!({"$": path})).is_err(), "{path}");
        }
    }
}
