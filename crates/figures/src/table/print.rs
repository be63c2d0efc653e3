//! Tables for people: rounded numbers, intervals in one column, words for unknown values.

use model::is_display_control;

use super::{Column, Kind, Table, Value};
use crate::number::{in_full, p_number, whole};

/// Units of what is measured. A number of these that rounds to 0 and is not 0 is printed as less than the last decimal.
pub(crate) const MEASURED_UNITS: [&str; 2] = ["s", "tokens/s"];
/// Most decimals of dollars.
const MOST_DECIMALS: usize = 9;

/// A column for people.
pub(crate) struct PrintedColumn {
    /// Heading with unit.
    pub(crate) heading: String,
    /// Whether it is flush right: numbers with the same number of decimals, which are then aligned.
    pub(crate) right: bool,
    /// One text per row.
    pub(crate) texts: Vec<String>,
}

fn value(column: &Column, value: Option<&Value>, missing: &str) -> String {
    match value {
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Integer(number)) => whole(*number),
        Some(Value::Number(number)) if number.is_finite() => match column.kind {
            Kind::P => p_number(Some(*number)),
            _ => match column.top.filter(|top| (0.0..=*top).contains(number)) {
                Some(top) => model::bounded(number.abs(), top, column.decimals),
                None => without_range(column, *number),
            },
        },
        Some(Value::Flag(flag)) => if *flag { "yes" } else { "no" }.to_owned(),
        Some(Value::Number(_)) | None => missing.to_owned(),
    }
}

/// A number that is no score and no share. What was measured is not printed as 0: `< 0.001`.
fn without_range(column: &Column, number: f64) -> String {
    let decimals = decimals(column, number);
    let least = 0.1_f64.powi(i32::from(column.decimals));
    let is_measured = column.unit.as_deref().is_some_and(|unit| MEASURED_UNITS.contains(&unit));
    if is_measured && number > 0.0 && number <= 0.5 * least {
        format!("< {}", in_full(least, decimals))
    } else {
        in_full(number, decimals)
    }
}

/// Decimals of a number. Dollars have as many as their first digit needs: what cents cannot say is not nothing.
fn decimals(column: &Column, number: f64) -> usize {
    let decimals = usize::from(column.decimals);
    let is_small = number != 0.0 && number.abs() < 0.5 * 0.1_f64.powi(i32::from(column.decimals));
    if !is_small || column.unit.as_deref() != Some("US$") {
        return decimals;
    }
    let needed = usize::try_from(-number.abs().log10().floor() as i32).unwrap_or(decimals);
    needed.min(MOST_DECIMALS).max(decimals)
}

/// The columns of a table for people, with at most this number of rows.
pub(crate) fn columns(table: &Table, most: usize) -> Vec<PrintedColumn> {
    let mut printed = Vec::new();
    let mut column_index = 0;
    while let Some(column) = table.columns.get(column_index) {
        if column.for_machines {
            column_index += 1;
            continue;
        }
        let with_next = column.interval && column_index + 1 < table.columns.len();
        let text = |(index, row): (usize, &Vec<Option<Value>>)| {
            let own = table.absent_cells.get(&(index, column_index)).or_else(|| table.absent.get(&index));
            let missing = own.map_or(&*column.missing, |word| word);
            let (first, second) = (
                row.get(column_index).and_then(Option::as_ref),
                row.get(column_index + 1).and_then(Option::as_ref),
            );
            if !with_next {
                let is_part = first.is_some() && table.at_least.contains(&(index, column_index));
                return format!("{}{}", if is_part { "≥ " } else { "" }, value(column, first, missing));
            }
            match (first, second) {
                (None, _) => missing.to_owned(),
                // The upper end of a ratio may be unbounded, and the lower one is known.
                (low, high) => {
                    format!("{} to {}", value(column, low, missing), value(column, high, missing))
                }
            }
        };
        let name = if with_next { column.heading.trim_end_matches(", low") } else { &column.heading };
        let heading = match &column.unit {
            Some(unit) if !with_next => format!("{name} ({unit})"),
            _ => name.to_owned(),
        };
        printed.push(PrintedColumn {
            heading,
            right: !matches!(column.kind, Kind::Text | Kind::Flag),
            texts: table.rows.iter().take(most).enumerate().map(text).collect(),
        });
        column_index += if with_next { 2 } else { 1 };
    }
    printed
}

/// Text in one line: a blank for each control character and line break, and no other display control.
pub(super) fn without_controls(text: &str) -> String {
    let shown = text.chars().filter_map(|c| match c {
        c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => Some(' '),
        c => Some(c).filter(|c| !is_display_control(*c)),
    });
    shown.collect::<String>().trim().to_owned()
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
        table.push(vec![known(9.0), known(2.333), None, None]);
        let printed = columns(&table, usize::MAX);
        let headings: Vec<&str> = printed.iter().map(|c| c.heading.as_str()).collect();
        assert_eq!(headings, ["Mean (turns)", "95 % CI", "p"]);
        assert_eq!(printed[0].texts, ["0.00", "unknown", "−1.50", "9.00"]);
        assert_eq!(printed[1].texts, ["1.00 to 2.00", "n/a", "−2.00 to −1.00", "2.33 to n/a"]);
        assert_eq!(printed[2].texts, ["< 0.001", "n/a", "0.040", "n/a"]);
    }

    #[test]
    fn a_score_or_share_that_misses_an_end_does_not_read_as_that_end() {
        let columns_of = vec![Column::score("score", "Score"), Column::share("rate", "Pass rate")];
        let mut table = Table::new("t", "T", columns_of);
        for share in [2_999.0 / 3_000.0, 1.0, 0.0001, 0.0, -0.5, 0.75] {
            table.push(vec![known(100.0 * share), known(share)]);
        }
        let printed = columns(&table, usize::MAX);
        assert_eq!(printed[0].texts, ["> 99.9", "100.0", "< 0.1", "0.0", "−50.0", "75.0"]);
        assert_eq!(printed[1].texts, ["> 0.999", "1.000", "< 0.001", "0.000", "−0.500", "0.750"]);
        assert!(printed.iter().all(|column| column.right));
    }

    #[test]
    fn no_text_turns_the_direction_of_a_document() {
        let text = "a\u{202e}b\u{200b}c\u{2066}\u{feff}d\n\u{1b}e\u{2028}f";
        let mut table = Table::new("t", text, vec![Column::text("c", text)]);
        table.push(vec![known(text)]);
        table.notes.push(text.to_owned());
        // LaTeX has the title in both forms of its caption.
        for (written, times) in [(table.to_html(), 4), (table.to_markdown(), 4), (table.to_latex(), 5)] {
            assert!(!written.contains(is_display_control), "{written:?}");
            assert_eq!(written.matches("abcd").count(), times, "{written}");
        }
    }

    #[test]
    fn small_amounts_of_money_have_the_decimals_that_they_need() {
        let columns_of =
            vec![Column::number("cost", "Cost", 2).unit("US$"), Column::number("mean", "Mean", 2)];
        let mut table = Table::new("t", "T", columns_of);
        for number in [0.002_991, 12.345, 0.0, 0.006, 1e-12] {
            table.push(vec![known(number), known(number)]);
        }
        let printed = columns(&table, usize::MAX);
        assert_eq!(printed[0].texts, ["0.003", "12.35", "0.00", "0.01", "0.000000000"]);
        assert_eq!(printed[1].texts, ["0.00", "12.35", "0.00", "0.01", "0.00"]);
    }

    #[test]
    fn what_was_measured_is_not_printed_as_nothing() {
        let columns_of =
            vec![Column::number("seconds", "Time", 3).unit("s"), Column::number("mean", "Mean", 3)];
        let mut table = Table::new("t", "T", columns_of);
        for number in [1e-7, 0.0006, 0.0, 1234.5] {
            table.push(vec![known(number), known(number)]);
        }
        let printed = columns(&table, usize::MAX);
        assert_eq!(printed[0].texts, ["< 0.001", "0.001", "0.000", "1,234.500"]);
        assert_eq!(printed[1].texts, ["0.000", "0.001", "0.000", "1,234.500"]);
    }

    #[test]
    fn a_row_says_why_it_lacks_something_and_others_say_what_their_columns_say() {
        let [low, high] = Column::interval("", 2);
        let columns_of =
            vec![Column::integer("n", "n"), low, high, Column::integer("m", "M").missing("not reached")];
        let mut table = Table::new("t", "T", columns_of);
        table.push(vec![known(3_u32)]);
        table.push_absent(vec![], "no run");
        table.push(vec![known(1_000_u32)]);
        // A single value says it, too, and the rest of its row keeps the words of its columns.
        table.push(vec![]);
        table.name_absent("m", "no model");
        table.name_absent("no such column", "lost");
        let printed = columns(&table, usize::MAX);
        assert_eq!(printed[0].texts, ["3", "no run", "1,000", "unknown"]);
        assert_eq!(printed[1].texts, ["n/a", "no run", "n/a", "n/a"]);
        assert_eq!(printed[2].texts, ["not reached", "no run", "not reached", "no model"]);
    }
}
