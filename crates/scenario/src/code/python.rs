//! Python as text: identifiers, literals, and statements that break where lines would get too long.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::Value;

/// Longest line that is written if it can be broken.
pub(super) const WIDTH: usize = 110;

/// Longest identifier that is made; longer names are cut (and kept apart by a number).
const LONGEST_NAME: usize = 60;

/// Writes a line; without arguments an empty one.
macro_rules! line {
    ($out:expr) => { $out.push('\n') };
    ($out:expr, $($form:tt)*) => {{
        use std::fmt::Write as _;
        // Writing to a string cannot fail.
        let _ = writeln!($out, $($form)*);
    }};
}
pub(super) use line;

/// What no name may be.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// What generated names must not hide: words with a meaning in some places, and the built-in functions that generated code
/// may use.
const PYTHON_NAMES: &[&str] = &[
    "match",
    "case",
    "type",
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "vars",
    "zip",
    "Exception",
    "ValueError",
];

/// Whether a key can be the name of an argument.
pub(super) fn is_name(key: &str) -> bool {
    let mut letters = key.bytes();
    letters.next().is_some_and(|b| b.is_ascii_alphabetic())
        && letters.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !KEYWORDS.contains(&key)
}

/// The identifiers of a file, each given once.
#[derive(Debug)]
pub(super) struct Identifiers(HashSet<String>);

impl Identifiers {
    /// A file in which these names have a meaning already.
    pub(super) fn new(reserved: &[&str]) -> Self {
        Self(KEYWORDS.iter().chain(PYTHON_NAMES).chain(reserved).map(|&name| name.to_owned()).collect())
    }

    /// An identifier as near to `wanted` as possible that nothing else in the file has.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        let mut name = if wanted.len() <= LONGEST_NAME
            && wanted.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        {
            wanted.to_owned()
        } else {
            wanted
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                .take(LONGEST_NAME)
                .collect()
        };
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert(0, 'x');
        }
        if !self.0.contains(&name) {
            self.0.insert(name.clone());
            return name;
        }
        // `class` becomes `class_`, as is the custom; whatever else is taken gets a number.
        if KEYWORDS.contains(&name.as_str()) || PYTHON_NAMES.contains(&name.as_str()) {
            name.push('_');
        }
        if self.0.contains(&name) {
            let mut number = 2;
            while self.0.contains(&format!("{name}_{number}")) {
                number += 1;
            }
            let _ = write!(name, "_{number}");
        }
        self.0.insert(name.clone());
        name
    }
}

/// Adds a string literal in double quotes.
pub(super) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    // Nearly all texts have nothing to escape.
    if text.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\') {
        out.push_str(text);
        out.push('"');
        return;
    }
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Controls, and what changes the direction of the text around it in an editor.
            _ if c.is_control()
                || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}') =>
            {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// A string literal in double quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

/// Adds a value of JSON as a Python expression.
pub(super) fn push_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Value::String(text) => push_quoted(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                push_value(out, item);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            out.push('{');
            for (index, (key, item)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                push_quoted(out, key);
                out.push_str(": ");
                push_value(out, item);
            }
            out.push('}');
        }
    }
}

/// A value of JSON as a Python expression.
pub(super) fn literal(value: &Value) -> String {
    let mut out = String::new();
    push_value(&mut out, value);
    out
}

/// A floating-point number as a Python expression.
pub(super) fn float(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { format!("float(\"{value}\")") }
}

/// Text that stands in a comment or docstring: one line that cannot end it.
pub(super) fn prose(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '"' | '\\')).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// With a capital first letter.
pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Writes spaces.
pub(super) fn indent(out: &mut String, spaces: usize) {
    for _ in 0..spaces {
        out.push(' ');
    }
}

/// `head` + parts, separated by commas, + `tail`: on one line, or one part per line.
pub(super) fn call<S: AsRef<str>>(out: &mut String, spaces: usize, head: &str, parts: &[S], tail: &str) {
    let length: usize = parts.iter().map(|part| part.as_ref().len() + 2).sum();
    indent(out, spaces);
    out.push_str(head);
    if spaces + head.len() + length.saturating_sub(2) + tail.len() <= WIDTH {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            out.push_str(part.as_ref());
        }
    } else {
        out.push('\n');
        for part in parts {
            indent(out, spaces + 4);
            out.push_str(part.as_ref());
            out.push_str(",\n");
        }
        indent(out, spaces);
    }
    out.push_str(tail);
    out.push('\n');
}

/// A constant tuple of strings: on one line, or one string per line.
pub(super) fn tuple(out: &mut String, name: &str, items: &[String]) {
    match items {
        [one] => line!(out, "{name} = ({one},)"),
        _ => call(out, 0, &format!("{name} = ("), items, ")"),
    }
}

/// `target = [row for row in source if conditions]`, the conditions joined by `and`.
pub(super) fn choose(out: &mut String, spaces: usize, head: &str, source: &str, conditions: &[&str]) {
    let all = conditions.join(" and ");
    indent(out, spaces);
    if spaces + head.len() + "[row for row in  if ]".len() + source.len() + all.len() <= WIDTH {
        line!(out, "{head}[row for row in {source} if {all}]");
        return;
    }
    line!(out, "{head}[");
    indent(out, spaces + 4);
    line!(out, "row");
    indent(out, spaces + 4);
    line!(out, "for row in {source}");
    for (index, condition) in conditions.iter().enumerate() {
        indent(out, spaces + 4);
        line!(out, "{} {condition}", if index == 0 { "if" } else { "and" });
    }
    indent(out, spaces);
    line!(out, "]");
}

/// `head` + parts joined by an operator + `tail`: on one line, or in parentheses with one part per line.
pub(super) fn joined(
    out: &mut String,
    spaces: usize,
    head: &str,
    parts: &[String],
    operator: &str,
    tail: &str,
) {
    let length: usize = parts.iter().map(|part| part.len() + operator.len() + 2).sum();
    indent(out, spaces);
    if spaces + head.len() + length + tail.len() <= WIDTH {
        line!(out, "{head}{}{tail}", parts.join(&format!(" {operator} ")));
        return;
    }
    line!(out, "{head}(");
    for (index, part) in parts.iter().enumerate() {
        indent(out, spaces + 4);
        if index > 0 {
            out.push_str(operator);
            out.push(' ');
        }
        line!(out, "{part}");
    }
    indent(out, spaces);
    line!(out, "){tail}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_valid_and_given_once() {
        let mut names = Identifiers::new(&["app"]);
        let taken: Vec<String> =
            ["class", "order", "order", "app", "2nd", "a-b", "list", "list"].map(|n| names.take(n)).into();
        assert_eq!(taken, ["class_", "order", "order_2", "app_2", "x2nd", "a_b", "list_", "list__2"]);
    }

    #[test]
    fn texts_cannot_leave_their_quotes() {
        assert_eq!(quoted("a\"b\\c\nd\u{7}é"), r#""a\"b\\c\nd\u0007é""#);
        assert_eq!(prose("a\"\"\"b\\\nc"), "ab c");
    }

    #[test]
    fn long_statements_are_broken() {
        let mut out = String::new();
        call(&mut out, 4, "require(", &["body".to_owned(), "x".repeat(100)], ")");
        assert_eq!(out, format!("    require(\n        body,\n        {},\n    )\n", "x".repeat(100)));
    }
}
