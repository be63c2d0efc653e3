//! JSON lines in the standard output of a harness, mixed with other output.
//!
//! Output is hostile: it may be cut in the middle, have lines of megabytes, or JSON that is small as text and large in
//! memory. A line above [`LINE_CAP`] or [`NODE_CAP`] is therefore skipped like any line that is not JSON.

use serde_json::Value;

/// Most bytes of a line.
const LINE_CAP: usize = 4 << 20;
/// Most values of a line, counted by the characters that separate values.
const NODE_CAP: usize = 400_000;

/// A line of output.
#[derive(Debug)]
pub(crate) enum Line<'a> {
    /// A JSON object.
    Json(Value),
    /// Any other line that is not empty.
    Text(std::borrow::Cow<'a, str>),
}

/// The lines, in order, without empty ones.
pub(crate) fn lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = Line<'_>> {
    bytes.split(|b| *b == b'\n').filter_map(|line| {
        let line = line.trim_ascii();
        if line.is_empty() {
            return None;
        }
        Some(object(line).map_or_else(
            || Line::Text(String::from_utf8_lossy(&line[..line.len().min(LINE_CAP)])),
            Line::Json,
        ))
    })
}

/// The JSON objects among the lines, in order.
pub(crate) fn objects(bytes: &[u8]) -> impl DoubleEndedIterator<Item = Value> {
    bytes.split(|b| *b == b'\n').filter_map(|line| object(line.trim_ascii()))
}

/// The lines that are not JSON objects, as one text of at most `cap` bytes from the end.
pub(crate) fn plain_tail(bytes: &[u8], cap: usize) -> String {
    let mut last = Vec::new();
    let mut room = cap;
    for line in bytes.split(|b| *b == b'\n').rev() {
        if room == 0 {
            break;
        }
        let line = line.trim_ascii_end();
        if line.is_empty() || object(line.trim_ascii()).is_some() {
            continue;
        }
        let kept = &line[line.len().saturating_sub(room)..];
        room -= kept.len().min(room);
        last.push(String::from_utf8_lossy(kept).into_owned());
    }
    last.reverse();
    last.join("\n")
}

fn object(line: &[u8]) -> Option<Value> {
    if line.first() != Some(&b'{') || line.len() > LINE_CAP || too_many_values(line) {
        return None;
    }
    let read = |text: &[u8]| serde_json::from_slice::<Value>(text).ok();
    let read = read(line).or_else(|| {
        let text = String::from_utf8_lossy(line);
        // Agents in Python write NaN and halves of surrogate pairs.
        read(text.as_bytes()).or_else(|| read(&files::strict_json(text.as_bytes())?))
    });
    read.filter(Value::is_object)
}

/// Whether JSON may have more values than [`NODE_CAP`]. Each value except the first follows one of these characters.
pub(crate) fn too_many_values(json: &[u8]) -> bool {
    json.len() > NODE_CAP && json.iter().filter(|b| matches!(b, b',' | b':' | b'[' | b'{')).count() > NODE_CAP
}

/// The value at a path of keys.
pub(crate) fn value_at<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(value, |value, key| value.get(key))
}

/// The text at a path of keys.
pub(crate) fn text_at<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a str> {
    value_at(value, keys)?.as_str()
}

/// The count at a path of keys. A number with a fraction or a sign is not a count.
pub(crate) fn count_at(value: &Value, keys: &[&str]) -> Option<u64> {
    let value = value_at(value, keys)?;
    value
        .as_u64()
        .or_else(|| value.as_f64().filter(|f| *f >= 0.0 && f.fract() == 0.0 && *f < 9e15).map(|f| f as u64))
}

/// The status of HTTP at a path of keys: a number, or a text that begins with one of three digits (`401 Incorrect API key`).
pub(crate) fn status_at(value: &Value, keys: &[&str]) -> Option<u64> {
    count_at(value, keys).or_else(|| {
        let digits = text_at(value, keys)?.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<u64>().ok().filter(|status| (100..600).contains(status))
    })
}

/// The text of a message: the text itself, or the texts of its parts (`[{"type": "text", "text": …}]`), one per line.
pub(crate) fn message_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().map(message_text).filter(|t| !t.is_empty()).collect::<Vec<_>>().join("\n")
        }
        Value::Object(part) => {
            let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
            match part.get("text").or_else(|| part.get("content")) {
                Some(inner) => message_text(inner),
                None if kind == "text" => String::new(),
                None => format!("[{}]", crate::text::message(kind)),
            }
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_between_other_lines() {
        let out = b"Agent is working\n{\"a\":1}\n[1]\n{\"cut\": \n\n  {\"b\":\"\xff\"}\r\n";
        let found: Vec<_> = objects(out).map(|v| v.to_string()).collect();
        assert_eq!(found, ["{\"a\":1}", "{\"b\":\"\u{fffd}\"}"]);
        assert_eq!(plain_tail(out, 100), "Agent is working\n[1]\n{\"cut\":");
        assert_eq!(plain_tail(out, 4), "ut\":".to_owned());
        assert_eq!(lines(out).count(), 5);
        let python = b"{\"a\": NaN, \"b\": \"\\ud83d\"}";
        assert_eq!(objects(python).next(), Some(serde_json::json!({"a": null, "b": "\u{fffd}"})));
    }

    #[test]
    fn a_status_is_a_number_or_begins_a_text() {
        for (value, status) in [
            (serde_json::json!(429), Some(429)),
            (serde_json::json!("401 Incorrect API key"), Some(401)),
            (serde_json::json!("503"), Some(503)),
            (serde_json::json!("HTTP 500"), None),
            (serde_json::json!("4096 tokens are too many"), None),
            (serde_json::json!("42 of 100"), None),
            (serde_json::json!(""), None),
            (serde_json::json!(null), None),
        ] {
            assert_eq!(status_at(&serde_json::json!({ "a": value }), &["a"]), status);
        }
    }

    #[test]
    fn json_that_is_large_in_memory_is_not_read() {
        let bomb = format!("{{\"a\":[{}0]}}", "0,".repeat(NODE_CAP));
        assert_eq!(objects(bomb.as_bytes()).count(), 0);
        let text = format!("{{\"a\":\"{}\"}}", "x".repeat(LINE_CAP - 100));
        assert_eq!(objects(text.as_bytes()).count(), 1);
        // What lies too deep costs itself only.
        let deep = format!("{{\"a\":{}{},\"b\":1}}", "[".repeat(5000), "]".repeat(5000));
        let read: Vec<Value> = objects(deep.as_bytes()).collect();
        assert_eq!((read.len(), count_at(&read[0], &["b"])), (1, Some(1)));
    }

    #[test]
    fn the_parts_of_a_message_are_joined() {
        let v = |json| serde_json::from_str::<Value>(json).unwrap();
        assert_eq!(
            message_text(&v(r#"[{"type":"text","text":"a"},{"type":"image_url"},"b"]"#)),
            "a\n[image_url]\nb"
        );
        assert_eq!(message_text(&v("null")), "");
    }
}
