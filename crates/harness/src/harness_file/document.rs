//! Files below HOME with one JSON document, which tells how a call ended or what it used.
//!
//! Such a file outlives its call. The session therefore stores the state of the file. A file that a call has not written
//! tells nothing about this call.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::HOME_CAP;
use super::bounded::{Bounded, Budget};
use crate::{CommandEnd, Session};

/// Most values of a document.
const NODE_CAP: usize = 400_000;

/// Why a document cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentError {
    /// It is missing, belongs to another call, or is not a JSON object.
    Nothing,
    /// It is too large.
    TooLarge,
}

/// Whether a file differs from its state at the last call. Stores its present state under `name`.
pub(super) fn is_new(session: &mut Session, name: &str, ended: &CommandEnd<'_>, path: &str) -> bool {
    let key = format!("stamp:{name}");
    let Some(entry) = ended.home.entry(path).filter(|entry| !entry.is_folder()) else {
        session.memory.remove(&key);
        return false;
    };
    let now = format!("{:016x}", files::Stamp::new().text(path).number(entry.stamp).finish());
    session.memory.insert(key, now.clone()) != Some(now)
}

/// The values of some keys at the top of a document. The other values take no memory.
pub(super) fn read(ended: &CommandEnd<'_>, path: &str, wanted: &[&str]) -> Result<Value, DocumentError> {
    let bytes = ended.home.read(path, HOME_CAP).map_err(|error| match error {
        files::ReadError::TooLarge { .. } => DocumentError::TooLarge,
        _ => DocumentError::Nothing,
    })?;
    match parts(&bytes, wanted) {
        Err(DocumentError::Nothing) => {
            files::strict_json(&bytes).map_or(Err(DocumentError::Nothing), |json| parts(&json, wanted))
        }
        read => read,
    }
}

fn parts(json: &[u8], wanted: &[&str]) -> Result<Value, DocumentError> {
    let budget = Budget::new(NODE_CAP);
    let mut document = serde_json::Deserializer::from_slice(json);
    let read = Parts { wanted, budget: &budget }.deserialize(&mut document);
    let read = read.and_then(|parts| document.end().map(|()| parts)).map_err(|_| DocumentError::Nothing)?;
    if budget.is_spent() { Err(DocumentError::TooLarge) } else { Ok(Value::Object(read)) }
}

struct Parts<'a> {
    wanted: &'a [&'a str],
    budget: &'a Budget,
}

impl<'de> DeserializeSeed<'de> for Parts<'_> {
    type Value = Map<String, Value>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Parts<'_> {
    type Value = Map<String, Value>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Map::new();
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if self.wanted.contains(&key.as_ref()) {
                found.insert(key.into_owned(), map.next_value_seed(Bounded(self.budget))?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wanted_keys_count() {
        let many = format!("[{}0]", "0,".repeat(NODE_CAP));
        let document = format!(r#"{{"log":{many},"state":{{"is":"done"}},"n":1}}"#);
        assert_eq!(
            parts(document.as_bytes(), &["state"]),
            Ok(serde_json::json!({ "state": { "is": "done" } }))
        );
        assert_eq!(parts(document.as_bytes(), &["state", "log"]), Err(DocumentError::TooLarge));
        for no_object in ["", "[1]", "{\"a\":1", "{} {}"] {
            assert_eq!(parts(no_object.as_bytes(), &["a"]), Err(DocumentError::Nothing), "{no_object}");
        }
    }
}
