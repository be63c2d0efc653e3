//! What readers see: rounded numbers, intervals in one column, words for what is not known.

use super::{Column, Kind, Table, Value};

/// A column as readers see it.
pub(super) struct Printed {
    /// Heading with unit.
    pub(super) heading: String,
    /// Whether it is set flush right.
    pub(super) right: bool,
    /// One text a row.
    pub(super) texts: Vec<String>,
}

/// A number with this many decimals and a true minus sign; what rounds to zero has no sign.
pub(super) fn rounded(number: f64, decimals: u8) -> String {
    let text = format!("{number:.*}", usize::from(decimals));
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        Some(digits) => format!("−{digits}"),
        None => text,
    }
}

/// A whole number with thousands apart: `84,000`.
fn apart(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "−" } else { "" });
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

fn value(column: &Column, value: Option<&Value>) -> String {
    match value {
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Integer(number)) => apart(*number),
        Some(Value::Number(number)) if number.is_finite() => match column.kind {
            Kind::P if *number < 0.001 => "< 0.001".to_owned(),
            _ => rounded(*number, column.decimals),
        },
        Some(Value::Flag(flag)) => if *flag { "yes" } else { "no" }.to_owned(),
        Some(Value::Number(_)) | None => column.missing.to_owned(),
    }
}

/// The columns of a table as readers see them.
pub(super) fn columns(table: &Table) -> Vec<Printed> {
    let mut printed = Vec::new();
    let mut at = 0;
    while let Some(column) = table.columns.get(at) {
        let with_next = column.interval && at + 1 < table.columns.len();
        let text = |row: &Vec<Option<Value>>| {
            let (first, second) =
                (row.get(at).and_then(Option::as_ref), row.get(at + 1).and_then(Option::as_ref));
            if !with_next {
                return value(column, first);
            }
            match (first, second) {
                (None, _) | (_, None) => column.missing.to_owned(),
                (low, high) => format!("{} to {}", value(column, low), value(column, high)),
            }
        };
        let name = if with_next { "95 % CI" } else { &column.heading };
        let heading = match &column.unit {
            Some(unit) if !with_next => format!("{name} ({unit})"),
            _ => name.to_owned(),
        };
        printed.push(Printed {
            heading,
            right: !matches!(column.kind, Kind::Text | Kind::Flag),
            texts: table.rows.iter().map(text).collect(),
        });
        at += if with_next { 2 } else { 1 };
    }
    printed
}

/// Text without line breaks and control characters.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{known, maybe};
    use super::*;

    #[test]
    fn intervals_are_one_column_and_unknown_is_a_word() {
        let [low, high] = Column::interval("", 2);
        let mut table = Table::new(
            "t",
            "T",
            vec![Column::number("mean", "Mean", 2).unit("turns"), low, high, Column::p("p", "p")],
        );
        table.push(vec![known(-0.004), known(1.0), known(2.005), known(0.0002)]);
        table.push(vec![maybe(None::<f64>), None, known(2.0), None]);
        table.push(vec![known(-1.5), known(-2.0), known(-1.0), known(0.04)]);
        let printed = columns(&table);
        let headings: Vec<&str> = printed.iter().map(|c| c.heading.as_str()).collect();
        assert_eq!(headings, ["Mean (turns)", "95 % CI", "p"]);
        assert_eq!(printed[0].texts, ["0.00", "unknown", "−1.50"]);
        assert_eq!(printed[1].texts, ["1.00 to 2.00", "n/a", "−2.00 to −1.00"]);
        assert_eq!(printed[2].texts, ["< 0.001", "n/a", "0.040"]);
        assert_eq!([0, 999, 1000, -1_234_567].map(apart), ["0", "999", "1,000", "−1,234,567"]);
    }
}
