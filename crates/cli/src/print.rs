//! Writes to standard output and standard error, and asks a question there.

use std::borrow::Cow;
use std::io::{BufRead as _, IsTerminal as _, Write};

use model::is_display_control;
pub(crate) use model::without_controls;
use serde_json::Value;
use workbench::api::ApiError;

/// Writes text for people to standard output, without control characters: strangers wrote the text in results.
pub(crate) fn print(text: &str) {
    print_data(&without_controls(text));
}

/// Writes text to standard output as it is; on a terminal without control characters. A closed pipe (`| head`) ends the
/// program with exit code 0; any other error, such as a full disk, with 1.
pub(crate) fn print_data(text: &str) {
    let mut out = std::io::stdout().lock();
    let text = if out.is_terminal() { without_controls(text) } else { Cow::Borrowed(text) };
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        crate::report(&ApiError::new("output.failed", format!("The output cannot be written: {error}")));
        std::process::exit(1);
    }
}

/// JSON with its control characters escaped, as JSON allows: a serializer escapes only some of them.
pub(crate) fn escaped_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_display_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_display_control(c) {
            escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Writes indented JSON, with its control characters escaped.
pub(crate) fn print_json(value: &Value) {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    print_data(&format!("{}\n", escaped_json(&text)));
}

/// Writes a line for people to standard error, without control characters.
pub(crate) fn note(text: &str) {
    drop(writeln!(std::io::stderr(), "{}", without_controls(text)));
}

/// Asks a question at the terminal; no answer counts as no.
pub(crate) fn confirmed(question: &str) -> bool {
    drop(write!(std::io::stderr(), "{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok_and(|_| answer.trim().eq_ignore_ascii_case("y"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: Pages, terminals and files that others open
    fn nothing_that_a_terminal_would_obey_is_shown() {
        let hostile = "a\u{1b}]0;title\u{7}b\u{9b}2Jc\0d\u{202e}e\u{2067}f\rg";
        assert_eq!(
            without_controls(hostile),
            "a\u{fffd}]0;title\u{fffd}b\u{fffd}2Jc\u{fffd}d\u{fffd}e\u{fffd}f\u{fffd}g"
        );
        assert!(matches!(without_controls("Grüße, 世界\n\ttext"), Cow::Borrowed(_)));
    }

    #[test]
    // docs/security.md: Pages, terminals and files that others open
    fn json_says_the_same_without_anything_that_a_terminal_would_obey() {
        let value = serde_json::json!({ "model": "a\u{1b}]0;x\u{7}b\u{9b}2J\u{7f}\u{202e}c\nd" });
        let text = serde_json::to_string(&value).expect("JSON");
        assert!(text.contains('\u{9b}') && text.contains('\u{202e}'), "a serializer leaves them");
        let escaped = escaped_json(&text);
        assert!(!escaped.contains(is_display_control), "{escaped:?}");
        assert_eq!(serde_json::from_str::<Value>(&escaped).expect("JSON"), value);
        assert!(matches!(escaped_json("{\"a\": \"ü\"}"), Cow::Borrowed(_)));
    }
}
