//! Text for people: numbers with what they count, and characters that change how a terminal shows a text.

use std::borrow::Cow;

/// A number with a noun whose plural ends in `s`: `1 turn`, `2 turns`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Each sentence once, in the order of the first of each, with everything that it is of.
pub fn by_sentence<S: PartialEq, T>(pairs: impl IntoIterator<Item = (S, T)>) -> Vec<(S, Vec<T>)> {
    let mut found: Vec<(S, Vec<T>)> = Vec::new();
    for (sentence, subject) in pairs {
        match found.iter_mut().find(|(known, _)| *known == sentence) {
            Some((_, subjects)) => subjects.push(subject),
            None => found.push((sentence, vec![subject])),
        }
    }
    found
}

/// Names of runs in a sentence: `a, b, c`; of more than three `a and 3 more runs`.
pub fn runs_in_words<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [one, rest @ ..] if rest.len() > 2 => {
            format!("{} and {}", one.as_ref(), counted(rest.len() as u64, "more run"))
        }
        names => names.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", "),
    }
}

/// Whether a character controls a terminal or the direction of writing, or shows nothing where a reader would look for it:
/// separators of lines, marks and spaces without width. Line breaks and tabs do not count, nor do the joiners, which Persian
/// and emoji need.
pub fn is_display_control(c: char) -> bool {
    let is_unseen = matches!(
        c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    is_unseen || c.is_control() && c != '\n' && c != '\t'
}

/// Appends a character, escaped where it is a display control: `\u{1b}`.
pub fn push_escaped(out: &mut String, c: char) {
    if is_display_control(c) {
        out.extend(c.escape_unicode());
    } else {
        out.push(c);
    }
}

/// A text in which display controls are escaped. Line breaks and tabs stay.
pub fn escape_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push_escaped(&mut out, c));
    out
}

/// A text in which display controls are U+FFFD. Line breaks and tabs stay.
pub fn without_controls(text: &str) -> Cow<'_, str> {
    if text.contains(is_display_control) {
        Cow::Owned(text.replace(is_display_control, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A text from outside as one line of at most `most` characters: white space becomes one blank, display controls are escaped,
/// and `…` stands behind a cut.
pub fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let (mut left, mut is_blank) = (most, false);
    for c in text.chars() {
        if c.is_whitespace() {
            is_blank = !out.is_empty();
            continue;
        }
        let character_length = if is_display_control(c) { c.escape_unicode().count() } else { 1 };
        let width = usize::from(is_blank) + character_length;
        if width > left {
            out.push('…');
            break;
        }
        left -= width;
        if std::mem::take(&mut is_blank) {
            out.push(' ');
        }
        push_escaped(&mut out, c);
    }
    out
}

/// A line of a log from outside, of at most `most` characters before they are escaped, which are display controls and line
/// breaks. Tabs and blanks stay, without those at its end.
pub fn log_line(line: &str, most: usize) -> String {
    let line: String = line.trim_end().chars().take(most).collect();
    escape_controls(&line).replace('\n', "\\u{a}")
}

/// A text from outside as one line that cannot control the display. Each display control, line break and tab becomes U+FFFD.
pub fn plain_line(text: &str) -> String {
    without_controls(text).replace(['\n', '\t'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_no_plural() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "turn")), ["0 turns", "1 turn", "2 turns"]);
    }

    #[test]
    // docs/security.md: A resume
    fn a_text_from_outside_cannot_forge_another_line() {
        assert_eq!(
            plain_line("a\n  key  none\tb\u{1b}[2J\u{202e}c"),
            "a\u{fffd}  key  none\u{fffd}b\u{fffd}[2J\u{fffd}c"
        );
        assert_eq!(plain_line("Grüße, 世界"), "Grüße, 世界");
    }

    #[test]
    fn a_line_of_a_log_stays_one_line_with_its_tabs() {
        assert_eq!(log_line("  a\tb\n\u{1b}[2Jc\r\n", 99), "  a\tb\\u{a}\\u{1b}[2Jc");
        assert_eq!(log_line("éé\n", 1), "é");
    }

    #[test]
    fn controls_are_escaped_and_joiners_stay() {
        let text = "a\tb\n\u{1b}[2J\u{202e}\u{feff}\u{200b} 👩\u{200d}💻";
        assert_eq!(escape_controls(text), "a\tb\n\\u{1b}[2J\\u{202e}\\u{feff}\\u{200b} 👩\u{200d}💻");
    }

    #[test]
    fn a_text_becomes_one_line_within_its_bound() {
        assert_eq!(one_line(" a\n\t b\u{1b}[2J \n", 100), "a b\\u{1b}[2J");
        assert_eq!(one_line(&"é".repeat(600), 500), format!("{}…", "é".repeat(500)));
        assert_eq!((one_line("ééé", 3).as_str(), one_line("ééé", 2).as_str()), ("ééé", "éé…"));
        // An escape is whole or not there, and a blank is not the last character.
        assert_eq!(one_line("ab\u{1b}c", 7), "ab…");
        assert_eq!(one_line("ab cd", 3), "ab…");
        assert_eq!(one_line(" \n", 9), "");
    }
}
