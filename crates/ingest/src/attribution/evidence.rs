//! What is known of an exception, and what follows from it: the types of the exceptions' table.

use model::EndReason;

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
    /// Index of the row; one past the last is that of everything that the table does not name, two past it the rule beside
    /// the table ([`Cell::unjudged`]).
    pub(super) row: usize,
    pub(super) column: Column,
}

/// The stages that the table distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// Before the agent began, and between its work and the tests.
    Setup,
    /// While the agent worked.
    Agent,
    /// While the tests ran.
    Tests,
}

impl Column {
    /// In the order of the table.
    pub(super) const ALL: [Self; 3] = [Self::Setup, Self::Agent, Self::Tests];

    /// As the name of a row has it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "set-up",
            Self::Agent => "agent",
            Self::Tests => "tests",
        }
    }
}
