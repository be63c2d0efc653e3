//! A spec as TOML, and its place in files.

use std::fmt::Write as _;

use model::is_display_control;
use toml::Value;
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use crate::SOFTWARE;
use crate::spec::{FigureSpec, UNKNOWN_VERSION};
use crate::table::parquet_spec;

/// The line before a spec in another file.
const BEGIN: &str = "# Stamina Lab figure spec: begin";
/// The line after it.
const END: &str = "# Stamina Lab figure spec: end";
/// The most bytes of a file with a spec. Pictures and tables have their own data beside it.
const LARGEST: usize = 64 << 20;
/// The most bytes of a spec. That of survival curves of 1,000 runs over 100 turns, or 100 runs over 1,000, has up to 15 MB.
const LARGEST_SPEC: usize = 16 << 20;
/// The most that a spec may take in memory while it is read, in bytes: those curves take up to 415 MiB.
const ROOM: usize = 420 << 20;
/// What the parser takes for a token and the event that is made from it, in bytes.
const TOKEN: usize = 48;
/// What the parser takes for a value of a table with its key and its part of the index, and for a value of a list.
const ENTRY: usize = 170;
const PLACE: usize = 100;

/// A spec could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(String);

/// A spec as TOML. Numbers have the shortest form that is parsed as the same number.
pub fn spec_to_toml(spec: &FigureSpec) -> Result<String, SpecError> {
    let value =
        toml::Value::try_from(spec).map_err(|e| SpecError(format!("a spec that TOML cannot hold: {e}")))?;
    let body = document(&value);
    Ok(format!(
        "# A figure of {SOFTWARE}, with its data. `stamina figure THIS.toml --out figure.pdf` makes it again.\n{body}"
    ))
}

/// A document with one table per part, and everything below in single lines: a run of a hundred turns has a hundred lines and
/// not a thousand. No string has a line break.
fn document(value: &Value) -> String {
    let mut out = String::new();
    let Value::Table(parts) = value else { return out };
    for (key, value) in parts.iter().filter(|(_, v)| !v.is_table()) {
        let _ = writeln!(out, "{} = {}", quoted_key(key), inline(value));
    }
    for (key, value) in parts {
        let Value::Table(part) = value else { continue };
        let _ = write!(out, "\n[{}]\n", quoted_key(key));
        for (key, value) in part {
            let _ = writeln!(out, "{} = {}", quoted_key(key), inline(value));
        }
    }
    out
}

/// A value in one line, except lists of tables, which have one line each.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) if number.is_nan() => "nan".to_owned(),
        Value::Float(number) => format!("{number:?}"),
        Value::Boolean(flag) => flag.to_string(),
        Value::Datetime(time) => time.to_string(),
        Value::Array(items) => {
            let tables = items.iter().any(Value::is_table);
            let items: Vec<String> = items.iter().map(inline).collect();
            if tables { format!("[\n{},\n]", items.join(",\n")) } else { format!("[{}]", items.join(", ")) }
        }
        // The lists in an inline table have their own lines, as TOML 1.0 allows.
        Value::Table(table) => {
            let pairs: Vec<String> =
                table.iter().map(|(key, value)| format!("{} = {}", quoted_key(key), inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

fn quoted_key(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if bare { key.to_owned() } else { quoted(key) }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Characters that XML does not allow and display controls are escaped, too: the text is in SVG files and in comments.
            c if c.is_control() || is_display_control(c) || matches!(c, '\u{FFFE}' | '\u{FFFF}') => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Reads a spec.
///
/// # Errors
/// The error and its line. A text that is too large for a spec, or has too many values, is not parsed.
pub fn spec_from_toml(text: &str) -> Result<FigureSpec, SpecError> {
    if let Some(reason) = size_refusal(text) {
        return Err(SpecError(reason));
    }
    toml::from_str(text).map_err(|error| {
        // Only the place and not the message of the parser, which quotes values: a link in a foreign folder may lead to any file.
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        // The message about a version contains only a number.
        let problem = match error.message() {
            ours if ours.starts_with(UNKNOWN_VERSION) => ours,
            _ => "it is no TOML, or has a key or a value that a spec does not have",
        };
        SpecError(format!("this is not a figure spec: line {line}: {problem}"))
    })
}

/// Why a text is too large for a spec, in a sentence without a full stop; `None` = it can be read.
pub(super) fn size_refusal(text: &str) -> Option<String> {
    if text.len() > LARGEST_SPEC {
        let (size, most) = (text.len(), LARGEST_SPEC >> 20);
        return Some(format!("a figure spec of {size} bytes is not read, only up to {most} MiB"));
    }
    let most = ROOM >> 20;
    (memory(text) > ROOM)
        .then(|| format!("a figure spec with so many values would take more than {most} MiB"))
}

/// A table or list of TOML while its values are counted.
#[derive(Debug, Clone, Copy)]
struct ValueCount {
    is_table: bool,
    held: usize,
}

impl ValueCount {
    /// The number of values that there is room for: a table has 3, 7, 14, 28 … and a list 4, 8, 16 …
    fn room(self) -> usize {
        match (self.is_table, self.held) {
            (_, 0) => 0,
            (true, 1..=3) => 3,
            (true, held) => 7 * held.div_ceil(7).next_power_of_two(),
            (false, held) => held.next_power_of_two().max(4),
        }
    }

    /// What one more value takes.
    fn add(&mut self) -> usize {
        let before = self.room();
        self.held += 1;
        (self.room() - before) * if self.is_table { ENTRY } else { PLACE }
    }
}

/// The most memory that the parser of TOML takes for a text, by the tokens into which it splits the text before anything else. What is over
/// [`ROOM`] is not counted. Where brackets do not match, every key and bracket counts as a table.
fn memory(text: &str) -> usize {
    const TABLE: usize = 3 * ENTRY;
    // The document, or the table below its last header, and what is open in it.
    let mut document = ValueCount { is_table: true, held: 0 };
    let mut open: Vec<ValueCount> = Vec::new();
    // Whether a key comes, and whether there was a dot since the last sign: a number has one, a key any number.
    let (mut in_key, mut is_dotted) = (true, false);
    let mut taken = 0_usize;
    for token in Source::new(text).lex() {
        taken += TOKEN;
        let inner = open.last_mut().unwrap_or(&mut document);
        match token.kind() {
            TokenKind::Dot => {
                taken += if in_key || is_dotted { TABLE } else { 0 };
                is_dotted = true;
                continue;
            }
            TokenKind::Equals => {
                taken += if inner.is_table { inner.add() } else { TABLE };
                in_key = false;
            }
            TokenKind::Comma => {
                taken += if inner.is_table { 0 } else { inner.add() };
                in_key = inner.is_table;
            }
            TokenKind::Newline => in_key = inner.is_table,
            TokenKind::LeftSquareBracket if in_key && open.is_empty() => {
                taken += TABLE + 4 * PLACE;
                document.held = 0;
            }
            TokenKind::LeftSquareBracket => {
                let mut list = ValueCount { is_table: false, held: 0 };
                taken += list.add();
                open.push(list);
                in_key = false;
            }
            TokenKind::LeftCurlyBracket => {
                open.push(ValueCount { is_table: true, held: 0 });
                in_key = true;
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                open.pop();
                in_key = false;
            }
            _ => continue,
        }
        is_dotted = false;
        if taken > ROOM {
            break;
        }
    }
    taken
}

/// A spec between its two lines. No name can forge these lines, because names have no line breaks in the written TOML and in
/// texts of a drawing.
pub(super) fn marked(toml: &str) -> String {
    format!("\n{BEGIN}\n{}\n{END}\n", toml.trim_end())
}

/// A spec between its two lines, each line a comment of LaTeX.
pub(super) fn as_comments(toml: &str) -> String {
    crate::latex_text::comment(&marked(toml))
}

/// Finds the spec in any file of [`super::export`] (except CSV, which has none), or in a TOML file.
///
/// # Errors
/// There is none, or it has an error.
pub fn spec_in(bytes: &[u8]) -> Result<FigureSpec, SpecError> {
    if bytes.len() > LARGEST {
        return Err(SpecError(format!("this file is larger than {} MB", LARGEST >> 20)));
    }
    if bytes.starts_with(b"PAR1") {
        let spec = parquet_spec(bytes).ok_or_else(no_spec_error)?;
        return spec_from_toml(&spec);
    }
    let Some((text, commented)) = between(bytes) else {
        let text = std::str::from_utf8(bytes).map_err(|_| no_spec_error())?;
        if text.trim_start().starts_with(['<', '%']) || !text.contains("version") {
            return Err(no_spec_error());
        }
        return spec_from_toml(text);
    };
    let text =
        std::str::from_utf8(text).map_err(|_| SpecError("the spec in this file is not UTF-8".to_owned()))?;
    if commented {
        let mut spec = String::with_capacity(text.len());
        for line in text.lines() {
            spec.push_str(line.strip_prefix("% ").unwrap_or(line));
            spec.push('\n');
        }
        return spec_from_toml(&spec);
    }
    if bytes.trim_ascii_start().starts_with(b"<") {
        spec_from_toml(&unescaped(text))
    } else {
        spec_from_toml(text)
    }
}

/// The text between the two lines, and whether its lines are comments of LaTeX.
fn between(bytes: &[u8]) -> Option<(&[u8], bool)> {
    for (before, commented) in [("\n", false), ("\n% ", true)] {
        let find = |line: &str, first_byte: usize| {
            let line = format!("{before}{line}\n");
            let offset = bytes.get(first_byte..)?.windows(line.len()).position(|w| w == line.as_bytes())?;
            Some((offset + first_byte, offset + first_byte + line.len()))
        };
        if let Some((_, first_byte)) = find(BEGIN, 0)
            && let Some((end, _)) = find(END, first_byte - 1)
        {
            return Some((bytes.get(first_byte..end.max(first_byte))?, commented));
        }
    }
    None
}

fn no_spec_error() -> SpecError {
    SpecError("there is no figure spec in this file".to_owned())
}

/// The unescaped text of an XML element.
pub(super) fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Figure, Layout, Matrix, MatrixCell};
    use crate::theme::Theme;

    #[test]
    fn every_token_and_value_counts() {
        // Tokens (the end is one), values of tables for which there is room, and values of lists.
        for (text, tokens, entries, places) in [
            ("", 1, 0, 0),
            ("x=[1,1]", 8, 3, 4),
            ("a . b = 0.5\n", 13, 6, 0),
            ("\n\n\n", 4, 0, 0),
            ("long-name    other-name", 4, 0, 0),
            ("x=\"[{,.=\" # [{,.=", 6, 3, 0),
            ("[[a]]\nb = { c = true }", 20, 3 + 3 + 3 + 3, 4 + 4),
            ("x = [{ a = 1, b = 2, c = 3, d = 4 }]", 37, 3 + 7, 4),
        ] {
            let expected = tokens * TOKEN + entries * ENTRY + places * PLACE;
            assert_eq!(memory(text), expected, "{text:?}");
        }
        // Keys where the brackets do not match.
        for text in ["x = {\na.b.c = 1", "x = [\na.b.c = 1", "x = [{]\na.b.c = 1", "x = ]}\na.b.c = 1"] {
            assert!(memory(text) > 10 * TOKEN + 4 * ENTRY, "{text:?}");
        }
    }

    #[test]
    fn the_largest_matrix_is_read_again() {
        let cell = |index: u32| MatrixCell {
            row: index / 250,
            column: index % 250,
            mean: Some(f64::from(index) / 7.0),
            ci_low: Some(f64::from(index) / 11.0),
            ci_high: Some(f64::from(index) / 3.0),
            n: 20,
            simulated: false,
            doubtful: false,
            published: Vec::new(),
        };
        let matrix = Matrix {
            rows_name: "Harness".to_owned(),
            columns_name: "Model".to_owned(),
            rows: (0..200).map(|n| format!("harness {n}")).collect(),
            columns: (0..250).map(|n| format!("model {n}")).collect(),
            cells: (0..50_000).map(cell).collect(),
            row_means: Vec::new(),
            column_means: Vec::new(),
            measure: "Mean stamina".to_owned(),
            tau: None,
        };
        let spec = FigureSpec::new(Figure::Matrix(matrix), Layout::print(234.0), Theme::Print);
        let text = spec_to_toml(&spec).unwrap();
        assert!(text.len() < LARGEST_SPEC, "{}", text.len());
        assert!(memory(&text) < ROOM, "{}", memory(&text));
    }
}
