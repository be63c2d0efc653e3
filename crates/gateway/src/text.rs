//! Text from outside, made fit for messages and records.

use std::time::Duration;

use serde_json::Value;

/// Longest text in a message or record, in characters.
const LONGEST_LINE: usize = 300;

/// A text on one line of at most 300 characters, with control characters escaped.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for (count, character) in text.trim().chars().enumerate() {
        if count == LONGEST_LINE {
            line.push('…');
            break;
        }
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// The message and the code of an API's error object, on one line.
pub(crate) fn error_line(error: &Value) -> String {
    let message = error.pointer("/message").and_then(Value::as_str);
    let code = ["/code", "/type"].iter().find_map(|at| error.pointer(at).and_then(Value::as_str));
    match (message, code, error) {
        (Some(message), Some(code), _) if !message.contains(code) => one_line(&format!("{message} ({code})")),
        (Some(message), ..) => one_line(message),
        (None, _, Value::String(text)) => one_line(text),
        (None, _, other) => one_line(&other.to_string()),
    }
}

/// What the body of an error answer states, on one line.
pub(crate) fn error_message(body: &str) -> String {
    match serde_json::from_str::<Value>(body) {
        Ok(json) => match json.get("error").filter(|error| !error.is_null()) {
            Some(error) => error_line(error),
            None => error_line(&json),
        },
        Err(_) if body.trim_start().starts_with('<') => "a web page".to_owned(),
        Err(_) => one_line(body),
    }
}

/// A duration in whole seconds, rounded up, for messages.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64().ceil())
}
