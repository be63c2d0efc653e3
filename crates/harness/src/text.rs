//! Texts of agents, cut to a size or to one line, and times as text.
//!
//! This module does not interpret texts. Steps keep control characters as data; code that shows them escapes them.

use model::{one_line, strip_ansi};
use serde_json::Value;

/// Most bytes of one text of a step, as in imported transcripts.
pub(crate) const TEXT_CAP: usize = 64 * 1024;
/// Most characters of the summary of a call.
const SUMMARY_CAP: usize = 160;
/// Most characters of an error message.
const MESSAGE_CAP: usize = 500;

/// The start of a text, at most `cap` bytes and cut between characters, and how many bytes were cut.
pub(crate) fn cut(text: &str, cap: usize) -> (&str, u64) {
    let kept = &text[..text.floor_char_boundary(cap)];
    (kept, (text.len() - kept.len()) as u64)
}

/// Appends to a text up to [`TEXT_CAP`], and counts the cut bytes.
pub(crate) fn append(target: &mut String, cut_bytes: &mut u64, more: &str) {
    let room = if *cut_bytes > 0 { 0 } else { TEXT_CAP.saturating_sub(target.len()) };
    let (kept, left_out) = cut(more, room);
    target.push_str(kept);
    *cut_bytes += left_out;
}

/// An error message in one line.
pub(crate) fn message(text: &str) -> String {
    one_line(&strip_ansi(text), MESSAGE_CAP)
}

/// One line about a call: the command, the file, or else the first text among the arguments.
pub(crate) fn summary(arguments: &Value) -> String {
    const SUMMARY_KEYS: [&str; 14] = [
        "command",
        "cmd",
        "keystrokes",
        "path",
        "file_path",
        "filePath",
        "filename",
        "pattern",
        "query",
        "url",
        "code",
        "description",
        "message",
        "prompt",
    ];
    let words_of = |value: &Value| match value {
        Value::String(text) => (!text.trim().is_empty()).then(|| text.clone()),
        // `["bash", "-lc", "ls"]`
        Value::Array(words) => {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            (!words.is_empty()).then(|| words.join(" "))
        }
        _ => None,
    };
    let text = match arguments {
        Value::Object(map) => SUMMARY_KEYS
            .iter()
            .find_map(|key| map.get(*key).and_then(words_of))
            .or_else(|| map.values().find_map(|v| v.as_str()).map(str::to_owned)),
        other => words_of(other),
    };
    one_line(&text.unwrap_or_default(), SUMMARY_CAP)
}

/// The last `lines` lines that are not empty.
pub(crate) fn last_lines(text: &str, lines: usize) -> String {
    let mut last: Vec<_> = text.lines().rev().filter(|l| !l.trim().is_empty()).take(lines).collect();
    last.reverse();
    last.join("\n")
}

/// Milliseconds since 1970 as RFC 3339 in UTC; `None` before 1970 and at the end of the year 9999.
pub(crate) fn time_of_millis(millis: i64) -> Option<String> {
    (millis >= 0).then(|| model::timestamp::from_milliseconds(millis))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_become_dates_and_times() {
        assert_eq!(time_of_millis(0).as_deref(), Some("1970-01-01T00:00:00.000Z"));
        assert_eq!(time_of_millis(951_782_399_999).as_deref(), Some("2000-02-28T23:59:59.999Z"));
        assert_eq!(time_of_millis(951_868_800_000).as_deref(), Some("2000-03-01T00:00:00.000Z"));
        assert_eq!(time_of_millis(1_795_245_814_495).as_deref(), Some("2026-11-21T07:23:34.495Z"));
        assert_eq!(time_of_millis(253_402_207_200_000).as_deref(), Some("9999-12-30T22:00:00.000Z"));
        assert_eq!(time_of_millis(253_402_207_201_000), None);
        assert_eq!(time_of_millis(-1), None);
        assert_eq!(time_of_millis(i64::MAX), None);
    }

    #[test]
    fn a_message_is_one_harmless_line() {
        assert_eq!(message("a\n\t b\u{1b}[31m red\u{1b}[0m\u{7}\u{202e}x"), "a b red\\u{202e}x");
        assert_eq!(message(&"é".repeat(600)), format!("{}…", "é".repeat(500)));
        assert_eq!(message(" \n"), "");
        assert_eq!(message("cut \u{1b}[3"), "cut");
    }

    #[test]
    fn a_text_is_cut_between_characters_and_the_cut_is_counted() {
        assert_eq!(cut("aé", 2), ("a", 2));
        let (mut text, mut left_out) = (String::new(), 0);
        append(&mut text, &mut left_out, &"x".repeat(TEXT_CAP - 1));
        append(&mut text, &mut left_out, "éé");
        append(&mut text, &mut left_out, "y");
        assert_eq!((text.len(), left_out), (TEXT_CAP - 1, 5));
    }

    #[test]
    fn a_call_has_a_summary() {
        let summary_of = |json: &str| summary(&serde_json::from_str(json).unwrap());
        assert_eq!(summary_of(r#"{"timeout":3,"command":"ls\n -la"}"#), "ls -la");
        assert_eq!(summary_of(r#"{"cmd":["bash","-lc","ls"]}"#), "bash -lc ls");
        assert_eq!(summary_of(r#"{"other":"text"}"#), "text");
        assert_eq!(summary_of(r#""raw""#), "raw");
        assert_eq!(summary_of("null"), "");
    }
}
