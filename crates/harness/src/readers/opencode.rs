//! `opencode-jsonl`: the output of `opencode run --format json`. It has `step_start`, `text`, `reasoning`, `tool_use` (a call
//! with its result), `step_finish` (tokens and cost of one answer) and `error`.

use model::Tokens;
use serde_json::Value;

use crate::lines::{count_at, message_text, objects, text_at, value_at};
use crate::record::Record;
use crate::text;

/// The result of reading.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// The steps.
    pub(crate) record: Record,
    /// `sessionID`.
    pub(crate) session: Option<String>,
    /// Why the last answer ended: `stop`, `tool-calls`, `length`.
    pub(crate) finish: Option<String>,
    /// The last error: name, message, status.
    pub(crate) error: Option<(String, String, Option<u64>)>,
    /// Sum of the costs. A cost of 0 means an unknown price and does not count.
    pub(crate) cost_usd: Option<f64>,
}

/// Reads standard output.
pub(crate) fn read(stdout: &[u8]) -> Events {
    let mut events = Events::default();
    for line in objects(stdout) {
        let record = &mut events.record;
        if let Some(session) = text_at(&line, &["sessionID"]) {
            events.session = Some(session.to_owned());
        }
        let part = line.get("part").unwrap_or(&Value::Null);
        match text_at(&line, &["type"]) {
            Some("step_start") => {
                record.agent(line.get("timestamp").and_then(Value::as_i64).and_then(text::time_of_millis));
            }
            Some("text") => record.add_text(text_at(part, &["text"]).unwrap_or_default()),
            Some("reasoning") => record.add_reasoning(text_at(part, &["text"]).unwrap_or_default()),
            Some("tool_use") => call(record, part),
            Some("step_finish") => {
                events.finish = text_at(part, &["reason"]).map(str::to_owned);
                let cost = value_at(part, &["cost"]).and_then(Value::as_f64).filter(|c| *c > 0.0);
                if let Some(cost) = cost {
                    *events.cost_usd.get_or_insert(0.0) += cost;
                }
                record.spent(tokens(part), cost);
            }
            Some("error") => {
                let error = line.get("error").unwrap_or(&Value::Null);
                events.error = Some((
                    text_at(error, &["name"]).unwrap_or("error").to_owned(),
                    text_at(error, &["data", "message"]).map_or_else(|| message_text(error), str::to_owned),
                    count_at(error, &["data", "statusCode"]),
                ));
            }
            _ => {}
        }
    }
    events
}

fn call(record: &mut Record, part: &Value) {
    let id = text_at(part, &["callID"]);
    let state = part.get("state").unwrap_or(&Value::Null);
    let name = text_at(part, &["tool"]).unwrap_or_default();
    record.call(id, name, state.get("input").unwrap_or(&Value::Null));
    // The tool that replaces a malformed call.
    if name == "invalid" {
        record.malformed();
    }
    let failed = text_at(state, &["status"]) == Some("error");
    let result =
        if failed { state.get("error").or_else(|| state.get("output")) } else { state.get("output") };
    if let Some(result) = result {
        let exit = value_at(state, &["metadata", "exit"]).and_then(Value::as_i64);
        record.result(id, &message_text(result), Some(failed || exit.is_some_and(|code| code != 0)));
    }
    let time = |key| value_at(state, &["time", key]).and_then(Value::as_f64);
    record.seconds(time("end").zip(time("start")).map(|(end, start)| (end - start) / 1000.0));
}

/// Tokens of one answer: `input` does not include cached tokens, and `output` does not include reasoning.
fn tokens(part: &Value) -> Tokens {
    let count = |keys: &[&str]| count_at(part, keys);
    let sum = |base: Option<u64>, more: &[Option<u64>]| {
        base.map(|n| more.iter().flatten().fold(n, |sum, n| sum.saturating_add(*n)))
    };
    let (read, written) = (count(&["tokens", "cache", "read"]), count(&["tokens", "cache", "write"]));
    Tokens {
        input: sum(count(&["tokens", "input"]), &[read, written]),
        cached: read,
        output: sum(count(&["tokens", "output"]), &[count(&["tokens", "reasoning"])]),
    }
}
