//! Text for people: numbers with what they count, and characters that change how a terminal shows a text.

/// A number with a noun whose plural ends in `s`: `1 turn`, `2 turns`.
pub fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Each sentence once, in the order of the first of each, with everything that it is of.
pub fn by_sentence<S: PartialEq, T>(pairs: impl IntoIterator<Item = (S, T)>) -> Vec<(S, Vec<T>)> {
    let mut found: Vec<(S, Vec<T>)> = Vec::new();
    for (sentence, subject) in pairs {
        match found.iter_mut().find(|(one, _)| *one == sentence) {
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

/// Whether a character controls a terminal or the direction of writing. Line breaks and tabs do not count.
pub fn is_display_control(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control() && c != '\n' && c != '\t'
}

/// A text from outside as one line that cannot control the display. Each display control, line break and tab becomes U+FFFD.
pub fn plain_line(text: &str) -> String {
    text.replace(|c| is_display_control(c) || c == '\n' || c == '\t', "\u{fffd}")
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
}
