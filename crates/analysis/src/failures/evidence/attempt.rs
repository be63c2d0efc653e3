//! A parsed attempt.

use model::{Attempt, EndReason, TestOutcome, Verdict};

use super::phrases::{MeaningSet, PhraseMeaning, meanings_in};
use super::{ABOUT, MESSAGE, head};
use crate::failures::{Context, is_failed};

/// Most bytes of the end of a log. Some harnesses print their whole prompt after the reason of their end.
pub(super) const LOG: usize = 64 * 1024;
/// Most bytes of the last lines of a log.
const LAST_LINES: usize = 2 * 1024;

/// The end of a text, cut between characters.
fn tail(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

/// The evidence of an attempt other than tests. The exception is in lower case.
#[derive(Debug, Clone, Default)]
pub struct AttemptEvidence {
    /// Why it ended, if the source records it.
    pub end_reason: Option<EndReason>,
    /// Type and message of the exception.
    pub exception: String,
    /// The phrases at the end of the output of the harness.
    agent_meanings: MeaningSet,
    /// The phrases at the end of the output of the server.
    server_meanings: MeaningSet,
    /// Whether the tests ran and at least one did not pass.
    pub tests_ran: bool,
    /// Whether it is known that no test passed.
    pub none_passed: bool,
    /// Tool calls of the agent.
    pub tool_calls: Option<u32>,
}

impl AttemptEvidence {
    /// Parses an attempt.
    pub fn from_attempt(attempt: &Attempt, context: &Context<'_>) -> Self {
        // If tests ran, only the last lines of the output count: a harness that finished had continued after earlier errors,
        // and texts of an agent are not errors.
        let tests_ran = attempt.verdict == Verdict::Failed;
        let meanings = |text: Option<&str>, most: usize| meanings_in(tail(text.unwrap_or_default(), most));
        // No rule uses the output of the harness if the source records why an attempt ended, or that of the server if a test
        // passed.
        let agent = context.agent_log.filter(|_| is_vague(attempt.end_reason));
        let none_passed = none_passed(attempt);
        let exception = attempt.exception.as_ref().map_or_else(String::new, |(kind, message)| {
            format!("{}: {}", head(kind, ABOUT), head(message, MESSAGE)).to_lowercase()
        });
        Self {
            end_reason: attempt.end_reason,
            exception,
            agent_meanings: meanings(agent, if tests_ran { LAST_LINES } else { LOG }),
            server_meanings: meanings(context.server_log.filter(|_| none_passed), LOG),
            tests_ran,
            none_passed,
            tool_calls: attempt.tool_calls,
        }
    }

    /// Whether the source records this reason.
    pub fn ended(&self, reason: EndReason) -> bool {
        self.end_reason == Some(reason)
    }

    /// Whether the exception has one of these texts.
    pub fn raised(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.exception.contains(text))
    }

    /// Whether the exception has this meaning, or the end of the output of the harness, if the source records no exact reason.
    /// If tests ran, only the last lines count.
    pub fn harness_stopped_with(&self, meaning: PhraseMeaning) -> bool {
        self.agent_meanings.has(meaning) || self.raised(meaning.phrases())
    }

    /// Whether no test passed, and the end of the output of the server has this meaning.
    pub fn server_printed(&self, meaning: PhraseMeaning) -> bool {
        self.server_meanings.has(meaning)
    }

    /// Whether the source records only an error, or no verdict.
    pub fn is_vague(&self) -> bool {
        is_vague(self.end_reason)
    }
}

fn is_vague(reason: Option<EndReason>) -> bool {
    use EndReason as R;
    matches!(reason, None | Some(R::AgentError | R::VerifierError | R::NoVerdict | R::TestsFailed))
}

/// How many bytes at the ends of the logs of an attempt rules use; 0 = the log decides nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogsWanted {
    /// Of the output of the harness.
    pub agent: usize,
    /// Of the output of the server.
    pub server: usize,
}

impl LogsWanted {
    /// The logs that rules over an attempt may use: none if it did not fail, or if the source records why.
    pub fn from_attempt(attempt: &Attempt) -> Self {
        if !is_failed(attempt) {
            return Self::default();
        }
        let agent = match attempt.verdict {
            _ if !is_vague(attempt.end_reason) => 0,
            Verdict::Failed => LAST_LINES,
            _ => LOG,
        };
        Self { agent, server: if none_passed(attempt) { LOG } else { 0 } }
    }
}

/// Whether it is known that no test of an attempt passed.
pub(crate) fn none_passed(attempt: &Attempt) -> bool {
    attempt.passed.map_or_else(
        || !attempt.tests.is_empty() && attempt.tests.iter().all(|t| t.outcome != TestOutcome::Passed),
        |passed| passed == 0,
    )
}
