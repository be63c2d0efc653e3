//! The cells of the exceptions' table, named and in words, so that a policy can list and move them.

use model::EndReason;

use super::decision::Decision;
use super::evidence::{Cell, Column};
use super::exception_row::{Row, Rule};
use super::exception_table::ROWS;

/// What the table does not name.
const ANY_OTHER: &str = "any other";

/// What stands beside the table: an exception of the agent that it does not recognize, and tests that ran all the same.
const UNJUDGED: &str = "unclear and tested";

/// Every cell of the table, and the rule beside it.
pub(crate) fn decisions() -> Vec<Decision> {
    let named = ROWS.iter().map(|row| (row.describe(), [&row.setup, &row.agent, &row.verifier]));
    let named = named.map(|(exceptions, rules)| (exceptions, rules.map(Rule::describe)));
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
    let unjudged = Decision {
        row: Cell::unjudged().name(),
        exceptions: "all that are not recognized, where the tests ran afterwards and left no verdict"
            .to_owned(),
        stage: Column::Agent.as_str(),
        rule: EndReason::VerifierError.label().to_owned(),
    };
    cells.chain(std::iter::once(unjudged)).collect()
}

impl Cell {
    /// That of an exception of the agent that no cell recognizes, where the tests ran afterwards and left no verdict: whatever
    /// it was, the tests do not need the agent to end well.
    pub(crate) fn unjudged() -> Self {
        Self { row: ROWS.len() + 1, column: Column::Agent }
    }

    /// What a policy calls it: `NonZeroAgentExitCodeError, agent`.
    pub(crate) fn name(self) -> String {
        let other = if self == Self::unjudged() { UNJUDGED } else { ANY_OTHER };
        let row = ROWS.get(self.row).map_or_else(|| other.to_owned(), Row::name);
        format!("{row}, {}", self.column.as_str())
    }
}
