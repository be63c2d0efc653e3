//! Texts of agents, cut to a size or to one line, and times as text.
//!
//! This module does not interpret texts. Steps keep control characters as data; code that shows them escapes them.

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
pub(crate) fn append(to: &mut String, cut_bytes: &mut u64, more: &str) {
    let room = if *cut_bytes > 0 { 0 } else { TEXT_CAP.saturating_sub(to.len()) };
    let (kept, left_out) = cut(more, room);
    to.push_str(kept);
    *cut_bytes += left_out;
}

/// The text in one line of at most `cap` characters. White space becomes one blank. Other control characters, and those that
/// change the direction of writing, are escaped (`\u{1b}`).
fn line(text: &str, cap: usize) -> String {
    let mut out = String::new();
    let (mut length, mut blank) = (0, false);
    for c in text.chars() {
        if c.is_whitespace() {
            blank = !out.is_empty();
            continue;
        }
        if length >= cap {
            out.push('…');
            return out;
        }
        if std::mem::take(&mut blank) {
            out.push(' ');
            length += 1;
        }
        let turns = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        if c.is_control() || turns {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
        length += 1;
    }
    out
}

/// An error message in one line.
pub(crate) fn message(text: &str) -> String {
    line(&without_colors(text), MESSAGE_CAP)
}

/// The text without terminal colors and cursor moves (`ESC [ … letter`).
pub(crate) fn without_colors(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        match after.find(|c: char| ('@'..='~').contains(&c)) {
            Some(end) => rest = &after[end + 1..],
            None => return out,
        }
    }
    out.push_str(rest);
    out
}

/// One line about a call: the command, the file, or else the first text among the arguments.
pub(crate) fn summary(arguments: &Value) -> String {
    const TELLING: [&str; 14] = [
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
    let one_line = |value: &Value| match value {
        Value::String(text) => (!text.trim().is_empty()).then(|| text.clone()),
        // `["bash", "-lc", "ls"]`
        Value::Array(words) => {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            (!words.is_empty()).then(|| words.join(" "))
        }
        _ => None,
    };
    let text = match arguments {
        Value::Object(map) => TELLING
            .iter()
            .find_map(|key| map.get(*key).and_then(one_line))
            .or_else(|| map.values().find_map(|v| v.as_str()).map(str::to_owned)),
        other => one_line(other),
    };
    line(&text.unwrap_or_default(), SUMMARY_CAP)
}

/// The last `lines` lines that are not empty.
pub(crate) fn last_lines(text: &str, lines: usize) -> String {
    let mut last: Vec<_> = text.lines().rev().filter(|l| !l.trim().is_empty()).take(lines).collect();
    last.reverse();
    last.join("\n")
}

/// Milliseconds since 1970 as RFC 3339 in UTC; `None` outside the years 1970 to 9999.
pub(crate) fn time_of_millis(millis: i64) -> Option<String> {
    let (seconds, rest) = (millis.div_euclid(1000), millis.rem_euclid(1000));
    let (mut days, clock) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    if !(0..2_932_897).contains(&days) {
        return None;
    }
    let leap = |y: i64| (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    let mut year = 1970 + days / 366;
    let before = |y: i64| 365 * (y - 1970) + (y - 1) / 4 - (y - 1) / 100 + (y - 1) / 400 - 477;
    while before(year + 1) <= days {
        year += 1;
    }
    days -= before(year);
    let lengths = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    let (month, day) = (month + 1, days + 1);
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{rest:03}Z"))
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
        assert_eq!(time_of_millis(253_402_300_799_999).as_deref(), Some("9999-12-31T23:59:59.999Z"));
        assert_eq!(time_of_millis(253_402_300_800_000), None);
        assert_eq!(time_of_millis(-1), None);
        assert_eq!(time_of_millis(i64::MAX), None);
    }

    #[test]
    fn a_message_is_one_harmless_line() {
        assert_eq!(message("a\n\t b\u{1b}[31m red\u{1b}[0m\u{7}\u{202e}x"), "a b red\\u{7}\\u{202e}x");
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
