//! Decimals for columns with small numbers.

use super::print::MEASURED_UNITS;
use super::{Kind, Table, Value};

/// Rates that have no unit of their own.
const RATES: [&str; 5] =
    ["tokens_per_turn", "steps_per_turn", "steps_survived", "tool_calls_per_turn", "tokens"];
/// Most decimals of seconds and of tokens per second: what is less is printed as less than the last of them.
const MOST_DECIMALS: u8 = 3;
/// Most decimals of the other rates, which are printed as 0 below that.
const MOST_DECIMALS_OF_RATES: u8 = 4;

impl Table {
    /// Gives columns of seconds and rates the decimals that their least number needs: what was measured is not printed as 0. Dollars
    /// have theirs number by number.
    pub fn keep_small_numbers(&mut self) {
        for (index, column) in self.columns.iter_mut().enumerate() {
            let most = if column.unit.as_deref().is_some_and(|unit| MEASURED_UNITS.contains(&unit)) {
                MOST_DECIMALS
            } else if column.kind == Kind::Number && RATES.contains(&column.name.as_str()) {
                MOST_DECIMALS_OF_RATES
            } else {
                continue;
            };
            let numbers = self.rows.iter().filter_map(|row| match row.get(index) {
                Some(Some(Value::Number(number))) if *number > 0.0 && number.is_finite() => Some(*number),
                _ => None,
            });
            if let Some(least) = numbers.reduce(f64::min) {
                let is_seen = |decimals: &u8| least > 0.5 * 0.1_f64.powi(i32::from(*decimals));
                column.decimals = (column.decimals..most).find(is_seen).unwrap_or(most.max(column.decimals));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, known};

    /// A turn of 0.04 seconds was printed as 0.
    #[test]
    fn what_was_measured_is_not_printed_as_nothing() {
        let columns = vec![
            Column::number("seconds", "Time", 0).unit("s"),
            Column::number("tokens_per_turn", "Tokens per turn", 0),
            Column::number("difference", "Difference", 2),
            Column::number("other_seconds", "Time", 0).unit("s"),
        ];
        let mut table = Table::new("t", "T", columns);
        table.push(vec![known(0.04), known(0.3), known(0.001), known(12.4)]);
        table.push(vec![known(75.0), None, known(0.5), known(0.0)]);
        table.keep_small_numbers();
        let decimals: Vec<u8> = table.columns.iter().map(|column| column.decimals).collect();
        assert_eq!(decimals, [2, 1, 2, 0]);
        let printed = table.to_markdown();
        assert!(printed.contains("| 0.04 | 0.3 | 0.00 | 12 |"), "{printed}");
        assert!(printed.contains("| 75.00 | unknown | 0.50 | 0 |"), "{printed}");
    }

    /// One time of a tenth of a microsecond gave all of them nine decimals.
    #[test]
    fn one_very_small_number_does_not_lengthen_all_others() {
        let columns = vec![
            Column::number("seconds", "Time", 1).unit("s"),
            Column::number("tokens_per_turn", "Tokens per turn", 0),
            Column::number("precise_seconds", "Time", 6).unit("s"),
        ];
        let mut table = Table::new("t", "T", columns);
        table.push(vec![known(1e-7), known(1e-7), known(1.5)]);
        table.push(vec![known(75.0), known(12.0), known(2.0)]);
        table.keep_small_numbers();
        let decimals: Vec<u8> = table.columns.iter().map(|column| column.decimals).collect();
        assert_eq!(decimals, [3, 4, 6]);
        let printed = table.to_markdown();
        assert!(printed.contains("| &lt; 0.001 | 0.0000 | 1.500000 |"), "{printed}");
        assert!(printed.contains("| 75.000 | 12.0000 | 2.000000 |"), "{printed}");
    }
}
