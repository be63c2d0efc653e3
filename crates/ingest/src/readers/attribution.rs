//! Whose failure an exception was: from what a runner recorded of it to an end reason.
//!
//! The evidence is weighed in this order, and the first that decides is taken:
//! 1. the exception's *full name*, from the traceback ([`traceback`]); without one, its short name;
//! 2. the *stage* at which it came, by time; whoever reads a format finds it out ([`Stage`]);
//! 3. type, stage and the *beginning of the message* together select a row of the [`table`];
//! 4. the row's rule may ask for the *HTTP status* at the place where the type's package writes it ([`message`]), or for
//!    the code that made the call ([`frames`]);
//! 5. what the table does not know is the agent's, marked as not recognised.
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
    pub(crate) recognised: bool,
}

impl Evidence<'_> {
    /// Whose failure it was. `None` after the tests: a failed tear-down says nothing about what was played.
    pub(crate) fn attribution(&self) -> Option<Attribution> {
        (self.stage != Stage::TearDown).then(|| decide::decide(self))
    }
}
