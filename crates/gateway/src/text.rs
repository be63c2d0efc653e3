//! Text from outside, made fit for messages and records.

use std::time::Duration;

use serde_json::Value;

use crate::secret::Secret;

/// Longest text in a message or record, in characters.
const LONGEST_LINE: usize = 300;

/// A text on one line of at most 300 characters.
pub(crate) fn one_line(text: &str) -> String {
    model::one_line(text, LONGEST_LINE)
}

/// The message and the code of an API's error object, on one line.
pub(crate) fn error_line(error: &Value) -> String {
    one_line(&error_text(error))
}

fn error_text(error: &Value) -> String {
    let message = error.pointer("/message").and_then(Value::as_str);
    let code = ["/code", "/type"].iter().find_map(|pointer| error.pointer(pointer).and_then(Value::as_str));
    match (message, code, error) {
        (Some(message), Some(code), _) if !message.contains(code) => format!("{message} ({code})"),
        (Some(message), ..) => message.to_owned(),
        (None, _, Value::String(text)) => text.clone(),
        (None, _, other) => other.to_string(),
    }
}

/// What the body of an error answer states, on one line.
pub(crate) fn error_message(body: &str) -> String {
    error_message_without(None, body)
}

/// The same without the key, which is removed before the line is cut: the cut could leave a part of it.
pub(crate) fn error_message_without(key: Option<&Secret>, body: &str) -> String {
    let text = match serde_json::from_str::<Value>(body) {
        Ok(json) => error_text(json.get("error").filter(|error| !error.is_null()).unwrap_or(&json)),
        Err(_) if body.trim_start().starts_with('<') => "a web page".to_owned(),
        Err(_) => body.to_owned(),
    };
    match key {
        Some(key) => one_line(&key.scrub(&text)),
        None => one_line(&text),
    }
}

/// A duration in whole seconds, rounded up, for messages.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64().ceil())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_that_lies_across_the_cut_of_an_error_leaves_nothing_of_itself() {
        let key = Secret::new("sk-0123456789abcdef".to_owned());
        for before in LONGEST_LINE - 18..=LONGEST_LINE {
            let message = format!("{}{}", "x".repeat(before), key.reveal());
            for body in [message.clone(), json!({ "error": { "message": message } }).to_string()] {
                let line = error_message_without(Some(&key), &body);
                assert!(!line.contains('s') && line.chars().count() <= LONGEST_LINE + 1, "{line}");
            }
        }
    }
}
