//! Messages about failures: bounded in length, without characters that affect a terminal or a page.

use std::fmt::Write as _;
use std::io;

use scenario::reference::Request;
use serde_json::Value;

/// Longest message, in characters.
const MESSAGE: usize = 600;
/// Longest piece of JSON in a message, in bytes.
const EXCERPT: usize = 200;

/// `Step 3: PATCH /api/orders/1 {"status":"x"}: expected …`.
pub(super) fn failure_message(request: &Request, step: Option<usize>, problem: &str) -> String {
    let mut out = String::with_capacity(160);
    match step {
        Some(step) => {
            let _ = write!(out, "Step {step}: ");
        }
        None => out.push_str("Before the case: "),
    }
    out.push_str(request.method.as_str());
    out.push(' ');
    out.push_str(&request.path);
    for (index, (key, value)) in request.query.iter().enumerate() {
        let _ = write!(out, "{}{key}={value}", if index == 0 { '?' } else { '&' });
    }
    if let Some(Ok(body)) = &request.body {
        out.push(' ');
        out.push_str(&excerpt(body));
    }
    out.push_str(": ");
    out.push_str(problem);
    clean(&out)
}

/// The message about a request without a response.
pub(super) fn no_answer_message(request: &Request, step: Option<usize>, reason: &str) -> String {
    failure_message(request, step, &format!("no answer: {reason}"))
}

/// A writer of the first [`EXCERPT`] bytes. After them it returns an error, which stops the serialization.
struct ExcerptWriter(Vec<u8>);

impl io::Write for ExcerptWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let remaining = EXCERPT - self.0.len();
        if remaining == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = bytes.get(..remaining.min(bytes.len())).unwrap_or(bytes);
        self.0.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The start of a value as JSON. Only the shown part is serialized, for values of any size.
pub(super) fn excerpt(value: &Value) -> String {
    let mut out = ExcerptWriter(Vec::new());
    let whole = serde_json::to_writer(&mut out, value).is_ok();
    let mut text = String::from_utf8_lossy(&out.0).into_owned();
    if !whole {
        // The last character may be incomplete.
        while text.ends_with('\u{fffd}') {
            text.pop();
        }
        text.push('…');
    }
    text
}

/// The start of a text from a server.
pub(super) fn excerpt_text(bytes: &[u8]) -> String {
    let cut = bytes.get(..EXCERPT).unwrap_or(bytes);
    let mut text = String::from_utf8_lossy(cut).into_owned();
    if cut.len() < bytes.len() {
        text.push('…');
    }
    text
}

/// A text with escaped control characters and direction marks, cut to the longest length. Blanks inside of values stay as they
/// are, so this is not `model::one_line`.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(MESSAGE + 8));
    let mut left = MESSAGE;
    for c in text.chars() {
        let escaped = matches!(c, '\n' | '\t') || model::is_display_control(c);
        let width = if escaped { c.escape_default().count() } else { 1 };
        if width > left {
            out.push('…');
            break;
        }
        left -= width;
        if escaped { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::suite::Method;
    use serde_json::json;

    #[test]
    fn messages_are_short_and_clean() {
        let request = Request {
            method: Method::Patch,
            path: "/a\u{1b}[2J".into(),
            query: vec![("q".into(), "\u{202e}x".into())],
            body: Some(Ok(json!({"long": "é".repeat(5000)}))),
        };
        let message = failure_message(&request, Some(2), &"y\n".repeat(5000));
        assert!(message.starts_with("Step 2: PATCH /a\\u{1b}[2J?q=\\u{202e}x {\"long\":\"éé"), "{message}");
        assert!(message.chars().count() <= MESSAGE + 1);
        assert!(!message.chars().any(char::is_control));
        assert!(message.ends_with('…'));
    }

    #[test]
    fn an_excerpt_does_not_write_what_it_does_not_show() {
        let large = Value::Array(vec![json!("text"); 2_000_000]);
        assert_eq!(excerpt(&large).len(), EXCERPT + '…'.len_utf8());
        // A full writer returns an error, which stops the serialization.
        let mut full = ExcerptWriter(vec![b'x'; EXCERPT]);
        assert!(io::Write::write(&mut full, b"y").is_err());
        assert_eq!(excerpt(&json!({"a": [1, "é"]})), "{\"a\":[1,\"é\"]}");
    }
}
