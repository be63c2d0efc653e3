//! YAML as people read it: what fits on a line stands on one line.
//!
//! A writer of its own because schemas are written by the thousand (it takes a fraction of the time of a general one),
//! and because a field on one line, as in `{key: title, type: string, required: true}`, reads and compares better than
//! one spread over six. It writes a small part of YAML, which every reader takes: plain words, double-quoted text as in
//! JSON, no anchors, no tags.

use std::fmt::Write as _;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use settings::yaml::options;

/// Longest flow form, in bytes.
const LINE: usize = 112;

/// Reads YAML within the budget.
///
/// Errors: what is wrong, with line and column where they are known.
pub(crate) fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_saphyr::from_str_with_options(text, options())
        .map_err(|error| with_place_once(error.without_snippet().to_string()))
}

/// A sentence that ends in the same place twice (the reader puts it behind what a value's own reader reported, which may
/// have it already), with the place once.
fn with_place_once(mut text: String) -> String {
    if let Some(start) = text.rfind(" at line ")
        && text[..start].ends_with(&text[start..])
    {
        text.truncate(start);
    }
    text
}

/// Writes something as YAML.
///
/// Errors: keys of maps that are no texts, numbers that are none.
pub(crate) fn to_string<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let value = serde_json::to_value(value)?;
    let mut out = String::with_capacity(32 << 10);
    match &value {
        Value::Object(map) if !map.is_empty() => entries(&mut out, map, 0, false),
        Value::Array(items) if !items.is_empty() => list(&mut out, items, 0),
        other => {
            flow(&mut out, other);
            out.push('\n');
        }
    }
    Ok(out)
}

/// Writes a map as YAML, with a list in it that was written item by item ([`item`]).
///
/// Errors: as [`to_string`].
pub(crate) fn to_string_with<T: Serialize>(
    value: &T,
    list: &str,
    items: &[&str],
) -> Result<String, serde_json::Error> {
    let value = serde_json::to_value(value)?;
    let length: usize = items.iter().map(|item| item.len()).sum();
    let mut out = String::with_capacity(length + (32 << 10));
    for (key, value) in value.as_object().into_iter().flatten() {
        if key == list && !items.is_empty() {
            text(&mut out, key);
            out.push_str(":\n");
            out.extend(items.iter().copied());
        } else {
            entry(&mut out, key, value, 0, false);
        }
    }
    Ok(out)
}

/// Writes an item of a list in a map that is in nothing else.
///
/// Errors: as [`to_string`].
pub(crate) fn item<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let value = serde_json::to_value(value)?;
    let mut out = String::with_capacity(4 << 10);
    list(&mut out, std::slice::from_ref(&value), 2);
    Ok(out)
}

/// The entries of a map, each on lines of its own. `begun`: the first stands behind a `- ` that is already there.
fn entries(out: &mut String, map: &serde_json::Map<String, Value>, indent: usize, mut begun: bool) {
    for (key, value) in map {
        entry(out, key, value, indent, std::mem::take(&mut begun));
    }
}

fn entry(out: &mut String, key: &str, value: &Value, indent: usize, begun: bool) {
    if !begun {
        pad(out, indent);
    }
    text(out, key);
    out.push(':');
    match value {
        Value::Object(inner) if !inner.is_empty() => {
            if !fits(out, value) {
                out.push('\n');
                entries(out, inner, indent + 2, false);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            if items.iter().all(is_scalar) && fits(out, value) {
                return;
            }
            out.push('\n');
            list(out, items, indent + 2);
        }
        other => {
            out.push(' ');
            flow(out, other);
            out.push('\n');
        }
    }
}

fn list(out: &mut String, items: &[Value], indent: usize) {
    for item in items {
        pad(out, indent);
        out.push('-');
        match item {
            Value::Object(inner) if !inner.is_empty() => {
                if !fits(out, item) {
                    out.push(' ');
                    entries(out, inner, indent + 2, true);
                }
            }
            Value::Array(inner) if !inner.is_empty() => {
                if !fits(out, item) {
                    out.push('\n');
                    list(out, inner, indent + 2);
                }
            }
            other => {
                out.push(' ');
                flow(out, other);
                out.push('\n');
            }
        }
    }
}

/// Writes it in flow form behind what stands there, with the end of the line, if it is short enough.
fn fits(out: &mut String, value: &Value) -> bool {
    let begin = out.len();
    out.push(' ');
    if flow_within(out, value, begin + 1 + LINE) && out.len() <= begin + 1 + LINE {
        out.push('\n');
        return true;
    }
    out.truncate(begin);
    false
}

fn flow(out: &mut String, value: &Value) {
    flow_within(out, value, usize::MAX);
}

/// False as soon as the text is longer than `most`.
fn flow_within(out: &mut String, value: &Value, most: usize) -> bool {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => drop(write!(out, "{number}")),
        Value::String(word) => text(out, word),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                if !flow_within(out, item, most) {
                    return false;
                }
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                text(out, key);
                out.push_str(": ");
                if !flow_within(out, value, most) {
                    return false;
                }
            }
            out.push('}');
        }
    }
    out.len() <= most
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Object(_) | Value::Array(_))
}

fn pad(out: &mut String, indent: usize) {
    for _ in 0..indent {
        out.push(' ');
    }
}

/// A text: plain where nobody could read it as anything else, otherwise in double quotes.
fn text(out: &mut String, text: &str) {
    if is_plain(text) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}'
            | '\u{7f}'..='\u{a0}'
            | '\u{ad}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let [first, rest @ ..] = bytes else { return false };
    (first.is_ascii_alphabetic() || matches!(first, b'_' | b'/'))
        && rest.iter().all(|b| b.is_ascii_alphanumeric() || b"_-/. ()'`=;+".contains(b))
        && bytes.last() != Some(&b' ')
        // Some readers take it for the start of a list's entry where a bracket or comma follows.
        && !text.ends_with(" -")
        && !is_special(text)
}

/// Words that some reader takes for a truth, a null or a number.
fn is_special(text: &str) -> bool {
    text.len() <= 8
        && matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n" | "nan" | "inf" | "infinity"
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn short_things_stand_on_a_line() {
        let value = json!({
            "version": "x/1",
            "prefix": "",
            "list": [{"key": "title", "type": "string", "required": true}, {"key": "n", "min": 0.0, "values": ["a", "no"]}],
            "long": {"about": "a".repeat(80), "more": "b".repeat(80), "inner": {"x": 1}},
            "words": ["one", "two"],
            "none": {},
        });
        let expected = format!(
            "version: x/1\nprefix: \"\"\nlist:\n  - {{key: title, type: string, required: true}}\n  \
             - {{key: \"n\", min: 0.0, values: [a, \"no\"]}}\nlong:\n  about: {}\n  more: {}\n  inner: {{x: 1}}\n\
             words: [one, two]\nnone: {{}}\n",
            "a".repeat(80),
            "b".repeat(80)
        );
        assert_eq!(to_string(&value).expect("it is written"), expected);
    }

    #[test]
    fn a_schema_comes_back_equal() {
        let schema = crate::ir::example();
        let text = to_string(&schema).expect("it is written");
        assert_eq!(from_str::<crate::ir::Schema>(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), schema);
        assert!(text.starts_with("version: stamina-schema/1\n"));
    }

    #[test]
    fn an_error_says_its_place_once() {
        let message =
            from_str::<BTreeMap<String, Vec<u32>>>("numbers:\n  - 1\n  - x\n").expect_err("x is no number");
        assert_eq!(message.matches(" at line ").count(), 1, "{message}");
        assert!(message.contains("at line 3, column 5"), "{message}");
        assert_eq!(
            with_place_once("a at line 1, column 2 at line 1, column 3".to_owned()).matches("at").count(),
            2
        );
    }

    #[test]
    fn anchors_and_depth_are_refused() {
        assert!(from_str::<Value>("a: &x [1]\nb: *x\n").is_err());
        assert!(from_str::<Value>(&format!("{}{}", "[".repeat(100), "]".repeat(100))).is_err());
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-1_000_000_i64..1_000_000).prop_map(Value::from),
            (-4_000_000_i64..4_000_000).prop_map(|n| json!(n as f64 / 4.0)),
            "\\PC{0,20}".prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            prop::sample::select(vec![
                "",
                "no",
                "null",
                "Inf",
                "1",
                "1.5",
                "0x10",
                "- a",
                "a: b",
                "a #b",
                " a",
                "a ",
                "~",
                "2024-01-01T00:00:00Z",
                "!x",
                "&a",
                "*a",
                "%",
                "@",
                "`",
                "a\nb",
                "---",
                "...",
                "a,b",
                "y",
                "<<",
                "=",
                "1_000",
                "+1",
                ".5",
                "1e3",
                "\u{feff}x",
                "a\u{85}b",
                "'",
                "\"",
                "\\",
                "\t",
                "\r\n"
            ])
            .prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 60, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec(("[a-z_]{1,12}|\\PC{1,8}", inner), 0..6)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(value in any_value()) {
            let text = to_string(&value).expect("it is written");
            let again: Value = from_str(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
            prop_assert_eq!(again, value, "{}", text);
        }
    }
}
