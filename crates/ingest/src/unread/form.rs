//! What a single file is that no format and no kind takes, by its form: the keys of its JSON, or that it is empty, text
//! or bytes.

use std::borrow::Cow;
use std::path::Path;

use files::{ReadError, Tree, strict_json};
use model::{one_line, shell_word};
use serde::de::IgnoredAny;

use super::table::OPEN_WHAT_IS_READ;
use super::{HEAD, UnreadResults};
use crate::formats::table;
use crate::readers::outline::Outline;

/// Keys of an object that are named.
const NAMED: usize = 8;
/// Characters of a key that are shown.
const KEY: usize = 40;

/// Says what a file is that nothing else recognizes. `given_path`: how it was named when it was
/// opened, for a command that reads it.
///
/// Errors: it cannot be read.
pub fn by_form(tree: &Tree, path: &str, given_path: &Path) -> Result<UnreadResults, ReadError> {
    let (bytes, size) = tree.read_range(path, 0, HEAD)?;
    let outline = Outline::from_beginning(&bytes);
    let instead = match &outline {
        Some(outline) if is_list_of_rows(outline) => Cow::Owned(one_object_a_line(given_path)),
        _ => Cow::Borrowed(OPEN_WHAT_IS_READ),
    };
    let found = |kind, name: String, not_read: String| UnreadResults {
        kind,
        name,
        not_read,
        path: path.to_owned(),
        count: 1,
        instead,
    };
    // Of a table with a header it is known which columns it lacks; of any other one nothing is known.
    if let Some(error) = table::unreadable_table(tree, path) {
        let reason = if size == 0 { "the file is empty".to_owned() } else { error.to_string() };
        return Ok(found("table", format!("a table that cannot be read: {reason}"), String::new()));
    }
    let is_whole = bytes.len() as u64 == size;
    let (kind, name) = if size == 0 {
        ("empty", "an empty file".to_owned())
    } else {
        match &outline {
            Some(outline) if is_json_name(path) || begins_with_json(&bytes, is_whole) => {
                describe_json(outline, &bytes, is_whole)
            }
            _ if is_text(&bytes) => ("text", "a text file".to_owned()),
            _ => ("unknown", "a file of an unknown kind".to_owned()),
        }
    };
    Ok(found(kind, name, "of no format that is read".to_owned()))
}

/// Whether a document is one list of what looks like rows of a tidy table.
fn is_list_of_rows(outline: &Outline) -> bool {
    let Outline::List(Some(first)) = outline else { return false };
    let Outline::Object(columns) = &**first else { return false };
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    table::are_likely_columns(&names)
}

/// What makes a table of a file that is one list of rows.
fn one_object_a_line(path: &Path) -> String {
    let mut lines = path.with_extension("jsonl");
    if lines.as_os_str().eq_ignore_ascii_case(path) {
        let stem = path.file_stem().unwrap_or_default().display();
        lines = path.with_file_name(format!("{stem}-rows.jsonl"));
    }
    format!(
        "Write one object a line and open that file: jq -c '.[]' {} > {}",
        shell_word(&path.display().to_string()),
        shell_word(&lines.display().to_string())
    )
}

/// Whether a file is meant as JSON, by its name.
fn is_json_name(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    [".json", ".jsonl", ".ndjson"].iter().any(|end| path.ends_with(*end))
}

/// Whether a text begins with a JSON value, and not with a word in brackets as a line of a log or of Markdown may.
/// `is_whole`: these are all of its bytes; else the value may break off.
fn begins_with_json(bytes: &[u8], is_whole: bool) -> bool {
    let is_json = |text: &[u8]| {
        let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
        match (values.next(), values.next()) {
            (Some(Err(error)), _) | (Some(Ok(_)), Some(Err(error))) => error.is_eof() && !is_whole,
            (Some(Ok(_)), _) => true,
            (None, _) => false,
        }
    };
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // What Python writes and strict JSON does not have.
    is_json(text) || strict_json(text).is_some_and(|strict| is_json(&strict))
}

/// Whether the bytes with which a file begins are UTF-8, which may break off.
fn is_text(bytes: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    is_utf8 && !bytes.contains(&0)
}

/// How many JSON values a text has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    One,
    Several,
    /// The first one, or what follows it, is no whole JSON value.
    Broken,
}

impl Values {
    fn from_text(text: &[u8]) -> Self {
        let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
        match (values.next(), values.next()) {
            (Some(Ok(_)), None) => Self::One,
            (Some(Ok(_)), Some(Ok(_))) => Self::Several,
            _ => Self::Broken,
        }
    }
}

/// Names a file that begins as JSON. `is_whole`: these are all of its bytes.
fn describe_json(outline: &Outline, bytes: &[u8], is_whole: bool) -> (&'static str, String) {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let values = match Values::from_text(text) {
        // What Python writes and strict JSON does not have.
        Values::Broken => strict_json(text).map_or(Values::Broken, |strict| Values::from_text(&strict)),
        values => values,
    };
    let is_cut = values == Values::Broken && !is_whole;
    let contents = contents(outline, is_cut);
    match values {
        Values::Several => ("json_lines", format!("a file of JSON lines that begins with {contents}")),
        Values::Broken if is_whole && is_empty(outline) => ("json", "a broken JSON file".to_owned()),
        Values::Broken if is_whole => ("json", format!("a broken JSON file with {contents}")),
        Values::One | Values::Broken => ("json", format!("a JSON file with {contents}")),
    }
}

fn is_empty(outline: &Outline) -> bool {
    match outline {
        Outline::Object(names) => names.is_empty(),
        Outline::List(first) => first.is_none(),
        _ => true,
    }
}

/// What a JSON document holds: an object with its keys, or a list by its first entry. `is_cut`: only its beginning was read.
fn contents(outline: &Outline, is_cut: bool) -> String {
    match outline {
        Outline::List(Some(first)) if !matches!(**first, Outline::List(_)) => {
            format!("a list whose first entry is {}", contents(first, is_cut))
        }
        Outline::List(Some(_)) => "a list of lists".to_owned(),
        Outline::List(None) => "an empty list".to_owned(),
        Outline::Object(names) if names.is_empty() => "an empty object".to_owned(),
        Outline::Object(names) => {
            let keys: Vec<String> = names.iter().take(NAMED).map(|(key, _)| one_line(key, KEY)).collect();
            let verb = if names.len() == 1 { "key is" } else { "keys are" };
            let others_text = if names.len() > NAMED { " and others" } else { "" };
            let first = if is_cut { "first " } else { "" };
            format!("an object whose {first}{verb} {}{others_text}", keys.join(", "))
        }
        Outline::Nothing => "null".to_owned(),
        Outline::Truth => "true or false".to_owned(),
        Outline::Number => "a number".to_owned(),
        Outline::Text(_) => "a text".to_owned(),
    }
}
