//! Types of fields and parameters, with their bounds and defaults.

use serde_json::Value;

use super::english::{Names, all_of, code, counted, plain_number, value, with_article};
use crate::ir::Kind;

/// What a field is if it is not given: its default in backquotes, or the word null.
pub(super) fn default(kind: Option<&Kind>, default: Option<&Value>) -> String {
    default.map_or_else(|| "null".to_owned(), |default| value(kind, default))
}

/// A type with its bounds: `` string of `2` to `60` characters``.
pub(super) fn kind(names: Names<'_>, kind: &Kind) -> String {
    match kind {
        Kind::String { pattern: Some(pattern), .. } => format!(
            "string matching the regular expression `{}`, for example `{}`",
            pattern.regex(),
            pattern.sample(1)
        ),
        Kind::String { min_length, max_length, .. } => {
            size("string", "of", *min_length, *max_length, ("character", "characters"), "of any length")
        }
        Kind::Integer { min, max } => {
            bounds("integer", min.map(|n| n.to_string()), max.map(|n| n.to_string()))
        }
        Kind::Number { min, max } => bounds("number", min.map(plain_number), max.map(plain_number)),
        Kind::Boolean => "boolean".to_owned(),
        Kind::DateTime => "date-time".to_owned(),
        Kind::Enum { values } => {
            let values: Vec<String> = values.iter().map(|value| code(value)).collect();
            format!("enum with the values {}", all_of(&values))
        }
        Kind::StringList { min_items, max_items } => size(
            "list of strings",
            "with",
            *min_items,
            *max_items,
            ("item", "items"),
            "with any number of items",
        ),
        Kind::Reference { entity, .. } => format!("reference to {}", with_article(&names.singular(entity))),
    }
}

/// A type with bounds of its length: `` string of `2` to `60` characters``.
fn size(
    word: &str,
    joined: &str,
    min: Option<u32>,
    max: Option<u32>,
    (one, many): (&str, &str),
    any: &str,
) -> String {
    match (min, max) {
        (None, None) => format!("{word} {any}"),
        (Some(min), None) => format!("{word} {joined} at least {}", counted(min, one, many)),
        (None, Some(max)) => format!("{word} {joined} at most {}", counted(max, one, many)),
        (Some(min), Some(max)) if min == max => {
            format!("{word} {joined} exactly {}", counted(min, one, many))
        }
        (Some(min), Some(max)) => format!("{word} {joined} `{min}` to {}", counted(max, one, many)),
    }
}

fn bounds(word: &str, min: Option<String>, max: Option<String>) -> String {
    match (min, max) {
        (None, None) => format!("{word} without bounds"),
        (Some(min), None) => format!("{word} of at least `{min}`"),
        (None, Some(max)) => format!("{word} of at most `{max}`"),
        (Some(min), Some(max)) => format!("{word} from `{min}` to `{max}`"),
    }
}
