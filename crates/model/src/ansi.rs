//! Terminal control sequences in texts of other programs.

use std::borrow::Cow;

/// The text without terminal control sequences (CSI, OSC and two-letter escapes) and other control characters.
/// Tabs and line ends stay.
pub fn strip_ansi(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c.is_control() && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                // Parameters and intermediates, then one final letter.
                Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                // Until BEL or ESC \.
                Some(']') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                            break;
                        }
                    }
                }
                // Character sets: one more letter.
                Some('(' | ')' | '*' | '+' | '#' | '%' | ' ') => {
                    chars.next();
                }
                _ => {}
            },
            '\t' | '\n' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_and_titles_are_removed_and_text_stays() {
        assert_eq!(
            strip_ansi("\u{1b}[1;31mred\u{1b}[0m\r \u{1b}]0;title\u{7}x\ty\u{1b}[K\u{1b}(B"),
            "red x\ty"
        );
        assert_eq!(strip_ansi("plain"), "plain");
        assert_eq!(strip_ansi("cut \u{1b}[3"), "cut ");
    }
}
