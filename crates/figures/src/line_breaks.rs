//! Complete texts in several lines.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::font::text_width;

/// Whether a line may end after this letter of a word.
const fn ends_part(c: char) -> bool {
    matches!(c, '-' | '_' | '/' | '‐' | '–' | '|' | ':' | ';' | ',')
}

/// Whether a text may break at both sides of a letter, as in scripts without spaces.
pub(crate) const fn stands_alone(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{A4CF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FF60}' | '\u{20000}'..='\u{3FFFD}')
}

/// The parts between which a text may break: words with the space after them, and the parts of long words.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut line_start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((offset, c)) = letters.next() {
        let end = offset + c.len_utf8();
        let Some((_, next)) = letters.peek().copied() else { break };
        // A sign between numbers, as in −1:20, does not break them.
        let joins = ends_part(c) && !next.is_ascii_digit();
        let alone = stands_alone(c) || stands_alone(next);
        if next != ' ' && (c == ' ' || alone || (joins && offset > line_start)) {
            parts.push(&text[line_start..end]);
            line_start = end;
        }
    }
    parts.push(&text[line_start..]);
    parts
}

/// Width of the widest part.
pub(crate) fn widest_part(text: &str, size: f64) -> f64 {
    parts(text).into_iter().map(|part| text_width(part.trim_end(), size)).fold(0.0, f64::max)
}

/// Breaks a text into lines of at most `width`, at natural breaks, and inside a word only if the word is wider than a line. A
/// single letter that is wider has its own line.
pub(crate) fn broken(text: &str, width: f64, size: f64) -> Vec<String> {
    // A sum of measured widths may have a rounding error.
    let width = width + 0.01;
    if text_width(text, size) <= width {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut used = 0.0;
    for part in parts(text) {
        let end = text_width(part.trim_end(), size);
        if used + end > width && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            used = 0.0;
        }
        if end > width {
            for letter in part.graphemes(true) {
                let wide = text_width(letter, size);
                if used + wide > width && !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                    used = 0.0;
                }
                line.push_str(letter);
                used += wide;
            }
        } else {
            line.push_str(part);
            used += text_width(part, size);
        }
    }
    lines.push(line);
    for line in &mut lines {
        line.truncate(line.trim_end().len());
    }
    lines.retain(|line| !line.is_empty());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_end_where_a_reader_would_end_them() {
        let broken_at = |text: &str, width: f64| broken(text, width, 10.0);
        assert_eq!(broken_at("short", 100.0), ["short"]);
        assert_eq!(broken_at("Cost per survived turn (US$)", 60.0), ["Cost per", "survived turn", "(US$)"]);
        assert_eq!(broken_at("claude-opus-4.8-with-tools", 60.0), ["claude-", "opus-4.8-", "with-tools"]);
        assert_eq!(broken_at("−1.00 to −0.25", 40.0), ["−1.00 to", "−0.25"]);
        assert_eq!(broken_at("通义千问三点五", 31.0), ["通义千", "问三点", "五"]);
        let lines = broken_at("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bb", 30.0);
        assert_eq!(lines.concat(), "a".repeat(30) + "bb", "{lines:?}");
        assert!(widest_part("Cost per survived turn", 10.0) < 50.0);
        assert_eq!(broken_at("", 10.0), [""]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_too_wide(text in "([a-z]{1,12}|[א-ת]{1,5}|[一-十]|[-_/:., 0-9]){0,40}", width in 8.0..200.0f64) {
            let lines = broken(&text, width, 7.0);
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(solid(&lines.concat()), solid(&text));
            prop_assert!(lines.iter().all(|line| text_width(line, 7.0) <= width + 0.02), "{:?}", lines);
        }
    }
}
