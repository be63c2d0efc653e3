//! Whose failure an exception was: from what a runner recorded of it to an end reason.
//!
//! The evidence is weighed in this order, and the first that decides is taken:
//! 1. the exception's *full name*, from the traceback ([`traceback`]); without one, its short name;
//! 2. the *stage* at which it came, by time; whoever reads a format finds it out ([`Stage`]);
//! 3. type, stage and the *beginning of the message* together select a row of the [`table`];
//! 4. the row's rule may ask for the *HTTP status* at the place where the type's package writes it ([`message`]), or for
//!    the code that made the call ([`frames`]);
//! 5. what the table does not know is the agent's, marked as not recognized.
//!
//! Messages are never searched for words: they quote commands, paths, output and prompts, and *docker*, *rate limit* or
//! *connection refused* may be what the task is about. The table is listed in `docs/formats.md`.

mod decide;
mod frames;
mod message;
mod row;
mod table;
mod traceback;

use model::EndReason;

use crate::decisions::Decision;

/// When an exception came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before the agent began: image, container, installation of the agent, set-up of the first step.
    Setup,
    /// In the set-up of a later step: what the agent did before may have broken it.
    LaterSetup,
    /// While the agent worked.
    Agent,
    /// While the agent worked or its server was tested: nothing says which.
    AgentOrTests,
    /// After the agent's work and before the tests: logs, artifacts.
    Between,
    /// While the tests ran.
    Verifier,
    /// After the tests.
    TearDown,
}

/// What is known of an exception.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'a> {
    /// Its type, with or without its module.
    pub(crate) kind: &'a str,
    /// Its message.
    pub(crate) message: &'a str,
    /// Its traceback as Python prints it, with the exceptions that led to it.
    pub(crate) traceback: &'a str,
    /// When it came.
    pub(crate) stage: Stage,
    /// How long the agent worked, in seconds.
    pub(crate) agent_seconds: Option<f64>,
}

/// What an exception says of the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attribution {
    /// Why the observation ended.
    pub(crate) reason: EndReason,
    /// Whether something proves it. Where nothing does, the end is the agent's.
    pub(crate) recognized: bool,
    /// The cell of the table that decided; `None` = another rule.
    pub(crate) cell: Option<Cell>,
}

/// A row of the table at one of its stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Index of the row; one past the last is that of everything that the table does not name.
    row: usize,
    column: Column,
}

/// The stages that the table tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Setup,
    Agent,
    Tests,
}

impl Column {
    const ALL: [Self; 3] = [Self::Setup, Self::Agent, Self::Tests];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "set-up",
            Self::Agent => "agent",
            Self::Tests => "tests",
        }
    }
}

impl Cell {
    /// What a policy calls it: `NonZeroAgentExitCodeError, agent`.
    pub(crate) fn name(self) -> String {
        let row = table::ROWS.get(self.row).map_or_else(|| ANY_OTHER.to_owned(), row::Row::name);
        format!("{row}, {}", self.column.as_str())
    }
}

/// What the table does not name.
const ANY_OTHER: &str = "any other";

/// Every cell of the table.
pub(crate) fn decisions() -> Vec<Decision> {
    let named = table::ROWS.iter().map(|row| (row.in_words(), [&row.setup, &row.agent, &row.verifier]));
    let named = named.map(|(what, rules)| (what, rules.map(row::Rule::in_words)));
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

impl Evidence<'_> {
    /// Whose failure it was. `None` after the tests: a failed tear-down says nothing about what was played.
    pub(crate) fn attribution(&self) -> Option<Attribution> {
        (self.stage != Stage::TearDown).then(|| decide::decide(self))
    }
}
