//! The cells of the exceptions' table, named and in words, so that a policy can list and move them.

use super::decision::Decision;
use super::evidence::{Cell, Column};
use super::exception_row::{Row, Rule};
use super::exception_table::ROWS;

/// What the table does not name.
const ANY_OTHER: &str = "any other";

/// Every cell of the table.
pub(crate) fn decisions() -> Vec<Decision> {
    let named = ROWS.iter().map(|row| (row.in_words(), [&row.setup, &row.agent, &row.verifier]));
    let named = named.map(|(what, rules)| (what, rules.map(Rule::in_words)));
    let other =
        ["environment", "by status and caller, else agent error, cause not recognized", "verifier error"];
    let all = named.chain(std::iter::once((ANY_OTHER.to_owned(), other.map(str::to_owned))));
    let cells = all.enumerate().flat_map(|(row, (exceptions, rules))| {
        Column::ALL.into_iter().zip(rules).map(move |(column, rule)| Decision {
            row: Cell { row, column }.name(),
            exceptions: exceptions.clone(),
            stage: column.as_str(),
            rule,
        })
    });
    cells.collect()
}

impl Cell {
    /// What a policy calls it: `NonZeroAgentExitCodeError, agent`.
    pub(crate) fn name(self) -> String {
        let row = ROWS.get(self.row).map_or_else(|| ANY_OTHER.to_owned(), Row::name);
        format!("{row}, {}", self.column.as_str())
    }
}
