//! Whose failure an exception was: walks the table in order and applies the rule of the first row that fits.
//!
//! The evidence is weighed in this order, and the first that decides is taken:
//! 1. the exception's *full name*, from the traceback ([`traceback`]); without one, or where the traceback has no module for a type
//!    that is none of Python's own, its short name;
//! 2. the *stage* at which it came, by time; the reader of the format determines it ([`Stage`]);
//! 3. type, stage and the *beginning of the message* together select a row of the [table](super::exception_table);
//! 4. the row's rule may ask for the *HTTP status* at the place where the type's package writes it ([`message`]), or for
//!    the code that made the call ([`frames`]);
//! 5. what the table does not know is the agent's, marked as not recognized.
//!
//! Messages are never searched for words: they quote commands, paths, output and prompts, and *docker*, *rate limit* or
//! *connection refused* may be what the task is about.

use model::EndReason;

use super::evidence::{Attribution, Cell, Column, Evidence, Stage};
use super::exception_packages::{BUILTIN_TYPES, HTTP, PYTHON};
use super::exception_row::{Row, Rule};
use super::exception_table::ROWS;
use super::frames::{self, Callee};
use super::message::{self, Refusal};
use super::traceback;

/// How deep a wrapper may wrap.
const WRAPPERS: u8 = 3;

/// An exception whose name and stage are known.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    name: &'a str,
    /// Its module, `builtins` for Python's own; `None` = nothing says it.
    module: Option<&'a str>,
    message: &'a str,
    traceback: &'a str,
    stage: Stage,
    agent_seconds: Option<f64>,
    wrappers: u8,
}

impl Evidence<'_> {
    /// Whose failure it was. `None` after the tests: a failed tear-down says nothing about what was played.
    pub(crate) fn attribution(&self) -> Option<Attribution> {
        (self.stage != Stage::TearDown).then(|| decide(self))
    }
}

/// What follows from the evidence, whatever the stage.
fn decide(evidence: &Evidence) -> Attribution {
    Case::from_evidence(evidence).decide()
}

/// Module, if there is one, and type of a name.
fn named(full: &str) -> (Option<&str>, &str) {
    full.rsplit_once('.').map_or((None, full), |(module, name)| (Some(module), name))
}

const fn recognized(reason: EndReason) -> Attribution {
    Attribution { reason, recognized: true, cell: None }
}

const UNCLEAR: Attribution = Attribution { reason: EndReason::AgentError, recognized: false, cell: None };

impl<'a> Case<'a> {
    fn from_evidence(evidence: &Evidence<'a>) -> Self {
        let full = if evidence.kind.contains('.') {
            Some(evidence.kind)
        } else {
            traceback::full_name(evidence.traceback, evidence.kind)
        };
        let (module, name) = named(full.unwrap_or(evidence.kind));
        // A bare name in the traceback is Python's own only if Python has a type of that name.
        let is_builtin = full.is_some() && BUILTIN_TYPES.contains(&name);
        Self {
            name,
            module: module.or(is_builtin.then_some("builtins")),
            message: evidence.message,
            traceback: evidence.traceback,
            stage: evidence.stage,
            agent_seconds: evidence.agent_seconds,
            wrappers: 0,
        }
    }

    fn decide(&self) -> Attribution {
        let index = ROWS.iter().position(|row| self.matches_row(row)).unwrap_or(ROWS.len());
        let column = match self.stage {
            Stage::Setup | Stage::LaterSetup | Stage::Between => Column::Setup,
            Stage::Agent | Stage::AgentOrTests => Column::Agent,
            Stage::Verifier | Stage::TearDown => Column::Tests,
        };
        let decided = ROWS.get(index).map_or_else(
            || self.unknown(),
            |row| {
                self.apply(match column {
                    Column::Setup => &row.setup,
                    Column::Agent
                        if self.stage == Stage::AgentOrTests
                            && row.begins.is_empty()
                            && self.any_program_raises(row) =>
                    {
                        &Rule::Unclear
                    }
                    Column::Agent => &row.agent,
                    Column::Tests => &row.verifier,
                })
            },
        );
        // What stands for another exception was decided by the row of that one.
        Attribution { cell: decided.cell.or(Some(Cell { row: index, column })), ..decided }
    }

    /// Whether the exception is one of Python's own or of a general client of HTTP: the agent's server and the tests of it
    /// raise those, too.
    fn any_program_raises(&self, row: &Row) -> bool {
        let is_general = |module: &str| PYTHON.iter().chain(HTTP).any(|package| is_below(module, package));
        self.module.map_or_else(|| row.packages.iter().any(|package| is_general(package)), is_general)
    }

    fn matches_row(&self, row: &Row) -> bool {
        let matches_package = match self.module {
            _ if row.packages.is_empty() => true,
            Some(module) => row.packages.iter().any(|package| is_below(module, package)),
            // Without its module a type is recognized by its name alone.
            None => !row.types.is_empty(),
        };
        matches_package
            && (row.types.is_empty() || row.types.iter().any(|pattern| is_like(self.name, pattern)))
            && (row.begins.is_empty() || row.begins.iter().any(|b| message::begins(self.message, b)))
    }

    fn apply(&self, rule: &Rule) -> Attribution {
        match rule {
            Rule::Is(reason) => recognized(*reason),
            Rule::Unclear => UNCLEAR,
            Rule::FirstStep(reason) => {
                if self.stage == Stage::LaterSetup {
                    UNCLEAR
                } else {
                    recognized(*reason)
                }
            }
            Rule::Status(otherwise) => self.status_attribution().unwrap_or_else(|| self.apply(otherwise)),
            Rule::Refused => self.refusal_attribution(),
            Rule::Caller(otherwise) => match self.caller() {
                Some(Callee::Engine) => recognized(EndReason::Environment),
                _ => self.apply(otherwise),
            },
            Rule::Client(otherwise) => match self.caller() {
                Some(Callee::Endpoint) => recognized(EndReason::Endpoint),
                _ => self.apply(otherwise),
            },
            Rule::TimeLimit(reason) => self.time_limit(*reason),
            Rule::Keys => self.keys(),
            Rule::Wrapper(otherwise) => self.wrapped_attribution().unwrap_or_else(|| self.apply(otherwise)),
        }
    }

    /// What the table does not name.
    fn unknown(&self) -> Attribution {
        match self.stage {
            Stage::Setup | Stage::LaterSetup | Stage::Between => recognized(EndReason::Environment),
            Stage::Verifier | Stage::TearDown => recognized(EndReason::VerifierError),
            Stage::AgentOrTests => UNCLEAR,
            Stage::Agent => self.status_attribution().unwrap_or_else(|| {
                match self.first_block().and_then(|block| frames::innermost(&block.files)) {
                    Some(Callee::Engine) => recognized(EndReason::Environment),
                    Some(Callee::Endpoint) => recognized(EndReason::Endpoint),
                    None => UNCLEAR,
                }
            }),
        }
    }

    fn first_block(&self) -> Option<traceback::FirstBlock<'a>> {
        traceback::first_block(self.traceback)
    }

    fn caller(&self) -> Option<Callee> {
        self.first_block().and_then(|block| frames::innermost_caller(&block.files))
    }

    fn status_attribution(&self) -> Option<Attribution> {
        match message::aws_code(self.message) {
            Some("ValidationException") => return Some(self.refusal_attribution()),
            Some(code) if !code.starts_with(|c: char| c.is_ascii_digit()) => {
                return Some(recognized(EndReason::Endpoint));
            }
            _ => {}
        }
        match message::status(self.message)? {
            401..=404 | 408 | 409 | 429 | 500.. => Some(recognized(EndReason::Endpoint)),
            // Too large a request is the agent's.
            413 => Some(recognized(EndReason::AgentError)),
            400 | 422 => Some(self.refusal_attribution()),
            _ => None,
        }
    }

    fn refusal_attribution(&self) -> Attribution {
        match message::refusal(self.message) {
            Some(Refusal::TooLong) => recognized(EndReason::ContextOverflow),
            Some(Refusal::Billing) => recognized(EndReason::Endpoint),
            Some(Refusal::Content) => recognized(EndReason::GaveUp),
            None => UNCLEAR,
        }
    }

    /// A runner turns every time-out within a phase into the phase's own. The true one cancels what was running, and
    /// comes when the time is over.
    fn time_limit(&self, reason: EndReason) -> Attribution {
        let limit = self
            .message
            .split_once(" timed out after ")
            .and_then(|(_, rest)| rest.split(' ').next()?.parse::<f64>().ok());
        let is_early = self.stage == Stage::Agent
            && limit.zip(self.agent_seconds).is_some_and(|(limit, worked)| worked < 0.98 * limit - 2.0);
        // Another time-out, and nothing says whose.
        let unclear = Attribution { reason, recognized: !is_early, cell: None };
        let Some(first) = self.first_block() else { return unclear };
        let is_canceled = traceback::names(self.traceback, "CancelledError");
        if first.kind.ends_with(self.name) || is_canceled && !is_early {
            return unclear;
        }
        if !matches!(traceback::last(first.kind), "CancelledError" | "TimeoutError") {
            return self.inner_attribution(first.kind, first.message).unwrap_or(unclear);
        }
        match frames::innermost_caller(&first.files) {
            Some(Callee::Engine) => recognized(EndReason::Environment),
            _ if self.stage != Stage::Agent => recognized(reason),
            Some(Callee::Endpoint) => recognized(EndReason::Endpoint),
            None if frames::calls_http(&first.files) => recognized(EndReason::Endpoint),
            None => Attribution { reason, recognized: false, cell: None },
        }
    }

    /// Keys for a terminal in the container: it may be gone with it, or ended by the agent.
    fn keys(&self) -> Attribution {
        let is_removed = self.message.split_once("stderr='").is_some_and(|(_, stderr)| {
            ["Error response from daemon", "service \"main\" is not running"]
                .iter()
                .any(|start| stderr.starts_with(start))
        });
        if is_removed { recognized(EndReason::Environment) } else { UNCLEAR }
    }

    /// What a wrapper wraps: the exception it names, the first of a group, else the one that was raised first.
    fn wrapped_attribution(&self) -> Option<Attribution> {
        let tenacity_future = self.message.strip_prefix("RetryError[<Future ");
        if let Some((_, rest)) = tenacity_future.and_then(|rest| rest.split_once(" state=finished raised ")) {
            return self.inner_attribution(rest.split('>').next()?, "");
        }
        if let Some((kind, message)) = traceback::first_of_group(self.traceback) {
            return self.inner_attribution(kind, message);
        }
        let first = self.first_block()?;
        self.inner_attribution(first.kind, first.message)
    }

    /// The decision about an exception within this one.
    fn inner_attribution(&self, kind: &str, message: &str) -> Option<Attribution> {
        if self.wrappers == WRAPPERS || traceback::last(kind) == self.name {
            return None;
        }
        let inner =
            Evidence { kind, message, traceback: self.traceback, stage: self.stage, agent_seconds: None };
        Some(Case { wrappers: self.wrappers + 1, ..Case::from_evidence(&inner) }.decide())
    }
}

/// Whether a module is a package or lies in it.
fn is_below(module: &str, package: &str) -> bool {
    module.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a name is `pattern`, in which one `*` stands for anything.
fn is_like(name: &str, pattern: &str) -> bool {
    pattern.split_once('*').map_or(name == pattern, |(head, tail)| {
        name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
    })
}

#[cfg(test)]
mod tests;
