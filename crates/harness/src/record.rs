//! Collects steps while a transcript is read: messages of the model, tool calls, and results joined to their calls.

use std::collections::HashMap;

use model::{Step, StepKind, Tokens, ToolCall};
use serde_json::Value;

use crate::text::{TEXT_CAP, append, cut, summary};
use crate::usage::is_nothing;

/// How many steps of one call are kept. Later steps are only read to decide the end.
const STEP_CAP: usize = 5_000;
/// How many results of one call are joined. This bounds the work for a transcript of many calls.
const CALL_CAP: usize = 50_000;

/// What an agent did, up to the current line.
#[derive(Debug, Default)]
pub(crate) struct Record {
    steps: Vec<Step>,
    /// The positions of calls without a result, by id.
    open: HashMap<String, (usize, usize)>,
    /// All calls, kept or not.
    calls: usize,
    /// Calls that only report the end of the work.
    endings: usize,
    /// Calls after the last one that the harness parsed and answered.
    malformed: usize,
    /// Whether the harness could not parse the last call.
    bad: bool,
    /// The last message of the agent.
    last_text: String,
    /// Whether the last event is a call without a result.
    pending: bool,
    /// The tokens of all answers, kept or not.
    spent: Tokens,
    /// Whether the limit on kept steps is reached.
    full: bool,
}

impl Record {
    /// Starts a message of the model.
    pub(crate) fn agent(&mut self, time: Option<String>) {
        self.push(StepKind::Agent, time);
    }

    fn push(&mut self, kind: StepKind, time: Option<String>) {
        self.full = self.steps.len() >= STEP_CAP;
        if self.full {
            return;
        }
        self.steps.push(Step { index: self.steps.len() as u32 + 1, at: time, ..Step::new(kind) });
    }

    /// The current message. Starts one if there is none.
    fn current(&mut self) -> Option<&mut Step> {
        if !self.full && self.steps.last().is_none_or(|s| s.kind != StepKind::Agent) {
            self.agent(None);
        }
        if self.full { None } else { self.steps.last_mut() }
    }

    /// Adds text of the agent.
    pub(crate) fn add_text(&mut self, text: &str) {
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

    /// Adds a message of the harness.
    pub(crate) fn add_system_message(&mut self, text: &str) {
        self.push(StepKind::System, None);
        if let Some(step) = self.steps.last_mut().filter(|s| s.kind == StepKind::System && s.text.is_empty())
        {
            append(&mut step.text, &mut step.text_cut, text);
        }
    }

    /// Adds reasoning of the agent.
    pub(crate) fn add_reasoning(&mut self, text: &str) {
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

    /// Adds a tool call. Arguments as text are parsed as JSON. If they are not JSON, the call is malformed.
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
                    // Some tools have no arguments.
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
            let index = self.steps.len() - 1;
            self.open.insert(id, (index, place));
        }
    }

    /// Marks the last call as one that only reports the end of the work.
    pub(crate) fn ending(&mut self) {
        self.endings += 1;
    }

    /// Marks the last call as one that the harness could not parse, for any recorded arguments. Call it before the result of
    /// the call.
    pub(crate) fn malformed(&mut self) {
        if !std::mem::replace(&mut self.bad, true) {
            self.malformed += 1;
        }
    }

    /// Counts a malformed call without any other record.
    pub(crate) fn add_malformed_call(&mut self) {
        self.calls += 1;
        self.malformed += 1;
    }

    /// Adds the result of a tool. A result without a call becomes a step of its own.
    pub(crate) fn result(&mut self, id: Option<&str>, text: &str, is_error: Option<bool>) {
        self.pending = false;
        if !self.bad {
            self.malformed = 0;
        }
        let claimed = id.and_then(|id| self.open.remove(cut(id, 200).0));
        if let Some(call) =
            claimed.and_then(|(index, place)| self.steps.get_mut(index)?.tool_calls.get_mut(place))
        {
            let result = call.result.get_or_insert_default();
            append(result, &mut call.result_cut, text);
            call.is_error = is_error.or(call.is_error);
            return;
        }
        // Results of calls that were not kept are not kept either.
        if !self.full {
            self.push(StepKind::Tool, None);
            if let Some(step) =
                self.steps.last_mut().filter(|s| s.kind == StepKind::Tool && s.text.is_empty())
            {
                append(&mut step.text, &mut step.text_cut, text);
            }
        }
    }

    /// Sets how long the last call took, in seconds.
    pub(crate) fn seconds(&mut self, seconds: Option<f64>) {
        let call = self.steps.iter_mut().rev().find_map(|s| s.tool_calls.last_mut());
        if let (Some(call), Some(seconds)) = (call, seconds.filter(|s| s.is_finite() && *s >= 0.0)) {
            call.seconds = Some(seconds);
        }
    }

    /// Sets tokens and cost of the current message.
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

    /// Whether the current message has no tokens yet.
    pub(crate) fn is_without_tokens(&self) -> bool {
        self.steps.last().is_some_and(|s| s.kind == StepKind::Agent && s.tokens.is_none())
    }

    /// The number of calls, without those that only report the end of the work.
    pub(crate) fn working_calls(&self) -> usize {
        self.calls.saturating_sub(self.endings)
    }

    /// The number of malformed calls in a row at the end.
    pub(crate) fn malformed_calls(&self) -> usize {
        self.malformed
    }

    /// The last message of the agent.
    pub(crate) fn last_text(&self) -> &str {
        &self.last_text
    }

    /// Whether a tool was running when the transcript ended.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending
    }

    /// The sum of the tokens of all messages.
    pub(crate) fn tokens(&self) -> Tokens {
        self.spent
    }

    /// Whether the model answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.steps.iter().any(|step| step.kind == StepKind::Agent)
    }

    /// Whether nothing was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The steps. What an answer took that told only zeros is unknown.
    pub(crate) fn into_steps(mut self) -> Vec<Step> {
        for step in &mut self.steps {
            step.tokens = step.tokens.filter(|tokens| !is_nothing(*tokens));
        }
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_joined_to_their_calls() {
        let mut record = Record::default();
        record.agent(None);
        record.add_text("two calls");
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
