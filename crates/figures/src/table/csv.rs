//! RFC 4180.

use std::fmt::Write as _;

use super::{Table, Value};

/// A field, in quotes if needed, with an apostrophe before a text that a spreadsheet would evaluate, because names in results
/// are hostile.
fn field(text: &str) -> String {
    let text = model::with_guard(text);
    if text.contains(['"', ',', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}

/// A number that is parsed as the same number.
pub(super) fn exact(number: f64) -> String {
    if number == 0.0 { "0".to_owned() } else { format!("{number:?}").trim_end_matches(".0").to_owned() }
}

pub(super) fn write(table: &Table) -> String {
    let mut out = String::new();
    let line = |fields: Vec<String>| fields.join(",");
    let _ = write!(out, "{}\r\n", line(table.columns.iter().map(|c| field(&c.name)).collect()));
    for row in &table.rows {
        let fields = row.iter().map(|value| match value {
            Some(Value::Text(text)) => field(text),
            Some(Value::Integer(number)) => number.to_string(),
            Some(Value::Number(number)) if number.is_finite() => exact(*number),
            Some(Value::Number(_)) | None => String::new(),
            Some(Value::Flag(flag)) => flag.to_string(),
        });
        let fields: Vec<String> = fields.collect();
        // A line with one empty field would be an empty line.
        let text = if fields.len() == 1 && fields[0].is_empty() { "\"\"".to_owned() } else { line(fields) };
        let _ = write!(out, "{text}\r\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Column, known};
    use super::*;

    #[test]
    // docs/security.md: Pages, terminals and files that others open
    fn a_text_that_a_spreadsheet_would_calculate_begins_with_an_apostrophe() {
        for begin in ["=", "+", "-", "@", "\t", "\r", "'="] {
            let text = format!("{begin}cmd|' /C calc'!A0");
            let mut table = Table::new("t", "T", vec![Column::text(&text, "Name")]);
            table.push(vec![known(text.as_str())]);
            let cell = if text.contains('\r') { format!("\"'{text}\"") } else { format!("'{text}") };
            assert_eq!(table.to_csv(), format!("{cell}\r\n{cell}\r\n"), "{begin:?}");
        }
        // What is shown as it is: numbers, a sign alone, and signs inside.
        for text in ["-2.5", "+1e3", "-", "=", "a=1", " =1"] {
            assert_eq!(field(text).trim_matches('"'), text);
        }
    }

    #[test]
    fn fields_are_quoted_where_they_must_be_and_numbers_are_whole() {
        let mut table = Table::new("t", "T", vec![Column::text("name", "Name"), Column::number("x", "X", 1)]);
        table.push(vec![known("a,\"b\"\nc"), known(0.1 + 0.2)]);
        table.push(vec![known("=1+1"), known(1e300)]);
        table.push(vec![None, known(f64::NAN)]);
        table.push(vec![known("生"), known(-3.0)]);
        table.push(vec![known("@SUM(A1)"), known(1.0)]);
        table.push(vec![known("-2.5"), known(1.0)]);
        table.push(vec![known("-"), known(1.0)]);
        assert_eq!(
            table.to_csv(),
            "name,x\r\n\"a,\"\"b\"\"\nc\",0.30000000000000004\r\n'=1+1,1e300\r\n,\r\n生,-3\r\n'@SUM(A1),1\r\n-2.5,1\r\n-,1\r\n"
        );
    }
}
