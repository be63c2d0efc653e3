//! Plain text as terminals and logs leave it.

use std::borrow::Cow;

/// The text without terminal control sequences (CSI, OSC and two-letter escapes) and other control characters but tab.
pub(crate) fn strip_ansi(text: &str) -> Cow<'_, str> {
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

/// A title without the marks of Markdown that stand for bold and code.
pub(crate) fn plain_title(title: &str) -> String {
    title.replace("**", "").replace('`', "")
}

/// The title of a request: its first line, without those marks.
pub(crate) fn first_title(text: &str, cap: usize) -> Option<String> {
    first_line(&plain_title(text), cap)
}

/// The first line that says something, without heading marks, cut to `cap` characters.
pub(crate) fn first_line(text: &str, cap: usize) -> Option<String> {
    let line = text.lines().map(|l| l.trim().trim_start_matches('#').trim()).find(|l| !l.is_empty())?;
    let line = strip_ansi(line);
    if line.chars().count() <= cap {
        return Some(line.into_owned());
    }
    Some(line.chars().take(cap - 1).chain(['…']).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_titles_go_text_stays() {
        assert_eq!(
            strip_ansi("\u{1b}[1;31mred\u{1b}[0m\r \u{1b}]0;title\u{7}x\ty\u{1b}[K\u{1b}(B"),
            "red x\ty"
        );
        assert_eq!(strip_ansi("plain"), "plain");
        assert_eq!(strip_ansi("cut \u{1b}[3"), "cut ");
    }

    #[test]
    fn the_first_line_of_a_request() {
        assert_eq!(first_line("\n\n## Round 1 - notes\n\nmore", 80).as_deref(), Some("Round 1 - notes"));
        assert_eq!(first_line("abcdef", 4).as_deref(), Some("abc…"));
        assert_eq!(first_line(" \n#\n", 4), None);
        assert_eq!(first_line("sh -c `date` **", 80).as_deref(), Some("sh -c `date` **"));
        assert_eq!(first_title("## **Round 2**: `notes add`\n", 80).as_deref(), Some("Round 2: notes add"));
    }
}
