//! Parses the answer of a model: one bounded JSON object, completed if there is only one possible value.
//!
//! Unknown keys are refused, not dropped: a model that writes `"max": 10` instead of `max_length` meant something. Values
//! without a choice (`since`, a key that equals the name) are filled in.

use scenario::change::Change;
use scenario::ir::{Analytic, Entity};
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// How many possible starts of an object are tried: a bound for texts of braces.
const MOST_STARTS: usize = 200;

/// Most characters of a text inside an answer.
const MOST_CHARS: usize = 120;

/// Most parts of a list inside an answer.
const MOST_PARTS: usize = 12;

/// The answer for turn 1. The conventions are generated from the seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Design {
    /// The purpose of the system, as a title.
    pub(crate) title: String,
    /// All entities.
    pub(crate) entities: Vec<Entity>,
    /// All analytics.
    #[serde(default)]
    pub(crate) analytics: Vec<Analytic>,
}

/// The change in the text, if it is of this kind. `turn` is the turn of the change.
pub(crate) fn change(text: &str, kind: &str, turn: u32) -> Result<Change, String> {
    let mut object = object(text, "change")?;
    let given_kind = object.get("change").and_then(Value::as_str).unwrap_or_default();
    if given_kind != kind {
        return Err(format!("`change` must be `{kind}`"));
    }
    if let Some(entity) = object.get_mut("entity").and_then(Value::as_object_mut) {
        complete_entity(entity, turn);
    }
    for part in ["field", "action", "analytic"] {
        if let Some(part) = object.get_mut(part).and_then(Value::as_object_mut) {
            complete_name(part, "name", turn);
            complete_action(part);
        }
    }
    read(object)
}

/// The design of a first schema.
pub(crate) fn design(text: &str) -> Result<Design, String> {
    let mut object = object(text, "entities")?;
    for entity in parts(&mut object, "entities") {
        complete_entity(entity, 1);
    }
    for analytic in parts(&mut object, "analytics") {
        complete_name(analytic, "name", 1);
    }
    read(object)
}

/// The first JSON object in the text with the key. Models often add prose or a fence around it.
fn object(text: &str, key: &str) -> Result<Map<String, Value>, String> {
    let mut first_error = None;
    for (begin, _) in text.match_indices('{').take(MOST_STARTS) {
        match serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Map<String, Value>>().next() {
            Some(Ok(object)) if object.contains_key(key) => return Ok(object),
            Some(Err(error)) if first_error.is_none() => first_error = Some(error),
            _ => {}
        }
    }
    Err(match first_error {
        Some(error) => format!("the answer is not one JSON object: {error}"),
        None => format!("the answer is not one JSON object with the key `{key}`"),
    })
}

/// The choice and the texts of an answer in a form (see [`crate::offered_choices`]); `None` if it is not in a form.
pub(crate) fn structured(text: &str) -> Option<Map<String, Value>> {
    object(text, "choice").ok()
}

/// Checks that a text of an answer is short and plain. `place` is its place, for the message.
pub(crate) fn is_bounded_text(text: &str, place: &str) -> Result<(), String> {
    check_bounds(&Value::String(text.to_owned()), place)
}

fn parts<'a>(
    object: &'a mut Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

fn complete_entity(entity: &mut Map<String, Value>, turn: u32) {
    complete_name(entity, "plural", turn);
    for field in parts(entity, "fields") {
        complete_name(field, "name", turn);
    }
    for action in parts(entity, "actions") {
        complete_name(action, "name", turn);
        complete_action(action);
    }
}

fn complete_action(action: &mut Map<String, Value>) {
    for param in parts(action, "params") {
        key_from(param, "name");
    }
}

fn complete_name(part: &mut Map<String, Value>, name: &str, turn: u32) {
    key_from(part, name);
    part.insert("since".to_owned(), turn.into());
}

/// The key of a new part is its first name.
fn key_from(part: &mut Map<String, Value>, name: &str) {
    if !part.contains_key("key")
        && let Some(name) = part.get(name).cloned()
    {
        part.insert("key".to_owned(), name);
    }
}

fn read<T: DeserializeOwned + Serialize>(object: Map<String, Value>) -> Result<T, String> {
    let answer = Value::Object(object);
    check_bounds(&answer, "")?;
    let written: T =
        serde_json::from_value(answer.clone()).map_err(|e| format!("it has the wrong shape: {e}"))?;
    let known = serde_json::to_value(&written).map_err(|e| format!("it has the wrong shape: {e}"))?;
    check_known_keys(&answer, &known, "")?;
    Ok(written)
}

/// Texts go into specifications and programs, so they must not have control characters, quotes or syntax of any language.
fn check_bounds(value: &Value, pointer: &str) -> Result<(), String> {
    match value {
        Value::String(text) => {
            if text.chars().count() > MOST_CHARS {
                return Err(format!("{} is longer than {MOST_CHARS} characters", place(pointer)));
            }
            if let Some(odd) = text.chars().find(|c| !is_plain(*c)) {
                return Err(format!(
                    "{} has the character {odd:?}: letters, digits and plain punctuation only",
                    place(pointer)
                ));
            }
            Ok(())
        }
        Value::Array(parts) => {
            if parts.len() > MOST_PARTS {
                return Err(format!("{} has {} parts; at most {MOST_PARTS}", place(pointer), parts.len()));
            }
            parts
                .iter()
                .enumerate()
                .try_for_each(|(index, part)| check_bounds(part, &format!("{pointer}/{index}")))
        }
        Value::Object(parts) => {
            parts.iter().try_for_each(|(key, part)| check_bounds(part, &format!("{pointer}/{key}")))
        }
        _ => Ok(()),
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || " -_.,:;/#@+()%&!?*=|'".contains(c)
}

/// Checks that every given key is known. A missing key may mean `null`, `false` or nothing.
fn check_known_keys(answer: &Value, known: &Value, pointer: &str) -> Result<(), String> {
    match (answer, known) {
        (Value::Object(answer), Value::Object(known)) => {
            for (key, value) in answer {
                let pointer = format!("{pointer}/{key}");
                match known.get(key) {
                    Some(known) => check_known_keys(value, known, &pointer)?,
                    None if is_nothing(value) => {}
                    None => return Err(format!("{} is nothing that belongs there", place(&pointer))),
                }
            }
            Ok(())
        }
        (Value::Array(answer), Value::Array(known)) => {
            answer.iter().zip(known).enumerate().try_for_each(|(index, (answer, known))| {
                check_known_keys(answer, known, &format!("{pointer}/{index}"))
            })
        }
        _ => Ok(()),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(parts) => parts.is_empty(),
        _ => false,
    }
}

/// A place in an answer for messages: `` `entity/fields/2/max` ``. Its names are shortened, because the model chose them.
fn place(pointer: &str) -> String {
    let pointer = model::one_line(pointer.trim_start_matches('/'), 80);
    if pointer.is_empty() { "the answer".to_owned() } else { format!("`{pointer}`") }
}

#[cfg(test)]
mod tests {
    use scenario::change::FieldChange;

    use super::*;

    const FIELD: &str =
        r#"{"change":"add_field","entity":"orders","field":{"name":"note","type":"string","nullable":true}}"#;

    #[test]
    fn an_object_is_found_in_prose_and_clear_values_are_filled_in() {
        for text in [
            FIELD.to_owned(),
            format!("Here you are:\n```json\n{FIELD}\n```\nAnything else?"),
            format!("<think>maybe {{a}} or {{\"b\":1}}</think>{FIELD}"),
        ] {
            let Ok(Change::Field(FieldChange::AddField { entity, field })) = change(&text, "add_field", 7)
            else {
                panic!("{text}");
            };
            assert_eq!((entity.as_str(), field.key.as_str(), field.introduced_in), ("orders", "note", 7));
        }
    }

    #[test]
    fn other_answers_than_a_change_of_the_kind_are_refused_with_a_reason() {
        for (text, expected) in [
            ("", "not one JSON object"),
            ("I cannot do that.", "not one JSON object"),
            ("{\"change\":\"add_field\"", "EOF"),
            ("[1,2]", "not one JSON object"),
            (r#"{"change":"remove_field","entity":"orders","field":"note"}"#, "must be `add_field`"),
            (r#"{"change":"add_field","entity":"orders"}"#, "missing field"),
            (
                r#"{"change":"add_field","entity":"orders","field":{"name":"a","type":"string","max":3,"nullable":true}}"#,
                "`field/max` is nothing",
            ),
            (
                r#"{"change":"add_field","entity":"orders","field":{"name":"a","type":"string","default":"\"); import os"}}"#,
                "character",
            ),
            (
                r#"{"change":"add_field","entity":"orders","field":{"name":"a\u0000","type":"string"}}"#,
                "character",
            ),
        ] {
            let refused = change(text, "add_field", 2).expect_err(text);
            assert!(refused.contains(expected), "{text}: {refused}");
        }
        let long = FIELD.replace("note", &"n".repeat(121));
        assert!(change(&long, "add_field", 2).expect_err("long").contains("longer"));
    }

    #[test]
    fn a_text_of_braces_is_refused_quickly() {
        let braces = "{".repeat(60_000);
        assert!(change(&braces, "add_field", 2).is_err());
        let nested = "{\"a\":".repeat(10_000);
        assert!(change(&nested, "add_field", 2).is_err());
    }
}
