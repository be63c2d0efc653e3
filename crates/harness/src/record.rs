//! Steps as a transcript is read: answers of the model, calls of tools, and results joined to their calls.

use std::collections::HashMap;

use model::{Step, StepKind, Tokens, ToolCall};
use serde_json::Value;

use crate::text::{TEXT_CAP, append, cut, summary};

/// Steps of one call that are kept; more are read for what they say about the end, and left out.
const STEP_CAP: usize = 5_000;
/// Results of one call that are joined, which bounds the work on a transcript of nothing but calls.
const CALL_CAP: usize = 50_000;

/// What an agent did, as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct Record {
    steps: Vec<Step>,
    /// Where the calls without a result stand, by id.
    open: HashMap<String, (usize, usize)>,
    /// Calls so far, kept or not.
    calls: usize,
    /// Calls that only say that the work is over.
    endings: usize,
    /// Calls since the last one that could be read and was answered.
    malformed: usize,
    /// Whether the last call could not be read.
    bad: bool,
    /// What the agent said last.
    last_text: String,
    /// Whether the last thing that happened is a call that has no result.
    pending: bool,
    /// What all answers spent, kept or not.
    spent: Tokens,
    /// No more steps are kept.
    full: bool,
}

impl Record {
    /// An answer of the model begins.
    pub(crate) fn agent(&mut self, at: Option<String>) {
        self.push(StepKind::Agent, at);
    }

    fn push(&mut self, kind: StepKind, at: Option<String>) {
        self.full = self.steps.len() >= STEP_CAP;
        if self.full {
            return;
        }
        self.steps.push(Step { index: self.steps.len() as u32 + 1, at, ..Step::new(kind) });
    }

    /// The answer that is being read. One is begun where there is none.
    fn current(&mut self) -> Option<&mut Step> {
        if !self.full && self.steps.last().is_none_or(|s| s.kind != StepKind::Agent) {
            self.agent(None);
        }
        if self.full { None } else { self.steps.last_mut() }
    }

    /// The agent says something.
    pub(crate) fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        cut(text, 2000).0.clone_into(&mut self.last_text);
        self.pending = false;
        if let Some(step) = self.current() {
            if !step.text.is_empty() {
                append(&mut step.text, &mut step.text_cut, "\n");
            }
            append(&mut step.text, &mut step.text_cut, text);
        }
    }

    /// The harness says something.
    pub(crate) fn note(&mut self, text: &str) {
        self.push(StepKind::System, None);
        if let Some(step) = self.steps.last_mut().filter(|s| s.kind == StepKind::System && s.text.is_empty())
        {
            append(&mut step.text, &mut step.text_cut, text);
        }
    }

    /// The agent thinks.
    pub(crate) fn think(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if let Some(step) = self.current() {
            let reasoning = step.reasoning.get_or_insert_default();
            if !reasoning.is_empty() {
                append(reasoning, &mut 0, "\n");
            }
            append(reasoning, &mut 0, text);
        }
    }

    /// The agent calls a tool. Arguments that are a text are read as JSON; where they are none, the call is malformed.
    pub(crate) fn call(&mut self, id: Option<&str>, name: &str, arguments: &Value) {
        let parsed;
        self.bad = false;
        let arguments = match arguments {
            Value::String(text) => match serde_json::from_str::<Value>(text) {
                Ok(value @ Value::Object(_)) if !crate::lines::too_many_values(text.as_bytes()) => {
                    parsed = value;
                    &parsed
                }
                other => {
                    // Some tools take nothing.
                    if !matches!(other, Ok(Value::Object(_))) && !text.trim().is_empty() {
                        self.malformed();
                    }
                    arguments
                }
            },
            _ => arguments,
        };
        self.calls += 1;
        self.pending = true;
        let written = match arguments {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        let call = ToolCall {
            name: if name.is_empty() { "unnamed tool".to_owned() } else { cut(name, 200).0.to_owned() },
            summary: summary(arguments),
            arguments: cut(&written, TEXT_CAP).0.to_owned(),
            result: None,
            result_cut: 0,
            is_error: None,
            seconds: None,
        };
        let open = id.filter(|_| self.calls <= CALL_CAP).map(|id| cut(id, 200).0.to_owned());
        let Some(step) = self.current() else { return };
        step.tool_calls.push(call);
        let place = step.tool_calls.len() - 1;
        if let Some(id) = open {
            let at = self.steps.len() - 1;
            self.open.insert(id, (at, place));
        }
    }

    /// Marks the last call as one that only says that the work is over.
    pub(crate) fn ending(&mut self) {
        self.endings += 1;
    }

    /// Marks the last call as one that the harness could not read, whatever it wrote down for its arguments. Said before
    /// the call's result.
    pub(crate) fn malformed(&mut self) {
        if !std::mem::replace(&mut self.bad, true) {
            self.malformed += 1;
        }
    }

    /// A call that could not be read, and of which there is nothing else to tell.
    pub(crate) fn unseen(&mut self) {
        self.calls += 1;
        self.malformed += 1;
    }

    /// A tool answers. What no call claims is a step of its own.
    pub(crate) fn result(&mut self, id: Option<&str>, text: &str, is_error: Option<bool>) {
        self.pending = false;
        if !self.bad {
            self.malformed = 0;
        }
        let claimed = id.and_then(|id| self.open.remove(cut(id, 200).0));
        if let Some(call) = claimed.and_then(|(at, place)| self.steps.get_mut(at)?.tool_calls.get_mut(place))
        {
            let result = call.result.get_or_insert_default();
            append(result, &mut call.result_cut, text);
            call.is_error = is_error.or(call.is_error);
            return;
        }
        // The results of calls that were left out are left out as well.
        if !self.full {
            self.push(StepKind::Tool, None);
            if let Some(step) =
                self.steps.last_mut().filter(|s| s.kind == StepKind::Tool && s.text.is_empty())
            {
                append(&mut step.text, &mut step.text_cut, text);
            }
        }
    }

    /// How long the last call took.
    pub(crate) fn seconds(&mut self, seconds: Option<f64>) {
        let call = self.steps.iter_mut().rev().find_map(|s| s.tool_calls.last_mut());
        if let (Some(call), Some(seconds)) = (call, seconds.filter(|s| s.is_finite() && *s >= 0.0)) {
            call.seconds = Some(seconds);
        }
    }

    /// Tokens and cost of the answer that is being read.
    pub(crate) fn spent(&mut self, tokens: Tokens, cost_usd: Option<f64>) {
        let tokens = tokens.with_cached_included();
        self.spent = self.spent.plus(tokens);
        if let Some(step) = self.current() {
            if !tokens.is_unknown() {
                step.tokens = Some(step.tokens.unwrap_or_default().plus(tokens));
            }
            step.cost_usd = cost_usd.filter(|c| c.is_finite() && *c >= 0.0).or(step.cost_usd);
        }
    }

    /// Whether an answer is being read that has no tokens yet.
    pub(crate) fn unpaid(&self) -> bool {
        self.steps.last().is_some_and(|s| s.kind == StepKind::Agent && s.tokens.is_none())
    }

    /// Calls that did something, or tried to: those that only say that the work is over do not count.
    pub(crate) fn working_calls(&self) -> usize {
        self.calls.saturating_sub(self.endings)
    }

    /// Calls in a row, up to the last, that could not be read.
    pub(crate) fn malformed_calls(&self) -> usize {
        self.malformed
    }

    /// What the agent said last.
    pub(crate) fn last_text(&self) -> &str {
        &self.last_text
    }

    /// Whether a tool was running when the transcript ended.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending
    }

    /// Sum of what the answers spent.
    pub(crate) fn tokens(&self) -> Tokens {
        self.spent
    }

    /// Whether nothing was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The steps.
    pub(crate) fn into_steps(self) -> Vec<Step> {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_go_to_their_calls() {
        let mut record = Record::default();
        record.agent(None);
        record.say("two calls");
        record.call(Some("a"), "bash", &Value::String(r#"{"command":"ls"}"#.into()));
        record.call(Some("b"), "bash", &Value::String("{oops".into()));
        assert!(record.is_pending());
        assert_eq!(record.malformed_calls(), 1);
        record.result(Some("b"), "no JSON", Some(true));
        record.result(Some("a"), "file\u{1b}[0m", None);
        record.result(Some("c"), "whose?", None);
        let steps = record.into_steps();
        assert_eq!(steps.len(), 2);
        let calls = &steps[0].tool_calls;
        assert_eq!((calls[0].summary.as_str(), calls[0].result.as_deref()), ("ls", Some("file\u{1b}[0m")));
        assert_eq!((calls[1].arguments.as_str(), calls[1].is_error), ("{oops", Some(true)));
        assert_eq!((steps[1].kind, steps[1].text.as_str(), steps[1].index), (StepKind::Tool, "whose?", 2));
    }

    #[test]
    fn steps_are_bounded_and_still_counted() {
        let mut record = Record::default();
        for n in 0..STEP_CAP + 10 {
            record.agent(None);
            record.call(Some(&n.to_string()), "t", &Value::Null);
            record.result(Some(&n.to_string()), "r", None);
        }
        assert_eq!(record.working_calls(), STEP_CAP + 10);
        assert!(!record.is_pending());
        assert_eq!(record.into_steps().len(), STEP_CAP);
    }
}
