//! Lines of text under a plot: unknown numbers, and sources of published numbers.

use std::collections::HashSet;

use crate::font::text_width;
use crate::line_breaks::broken;
use crate::marks::{Anchor, Canvas};
use crate::sheet::{PAD, Sheet};

/// Most lines of a list of names in a note. The figure has room for more, but a reader has not.
const MOST_LINES: usize = 6;

/// Texts, each once, in the order in which they are met: equal sources share one note.
pub(crate) fn each_once(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen_texts = HashSet::new();
    texts.into_iter().filter(|text| seen_texts.insert(text.clone())).collect()
}

/// Breaks a text between words into lines of at most `width`. It is whole, in as many lines as it needs.
pub(crate) fn wrap(text: &str, width: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if text_width(&longer, size) <= width {
            line = longer;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        // A word that is longer than a line continues in the next one. A cut could make two names equal.
        let mut pieces = broken(word, width, size);
        line = pieces.pop().unwrap_or_default();
        lines.append(&mut pieces);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// `Cost unknown: A, B`, or, if so many names take more lines than a note of names should have, those that fit whole:
/// `Cost unknown (42): A, B and 40 more`.
pub(crate) fn names_in_lines(head: &str, names: &[String], width: f64, size: f64) -> String {
    let whole = format!("{head}: {}", names.join(", "));
    let fits = |text: &str| wrap(text, width, size).len() <= MOST_LINES;
    // One name is not replaced by its number.
    if names.len() < 2 || fits(&whole) {
        return whole;
    }
    let all = names.len();
    let first =
        |shown: usize| format!("{head} ({all}): {} and {} more", names[..shown].join(", "), all - shown);
    let counts: Vec<usize> = (1..all).collect();
    first(counts.partition_point(|shown| fits(&first(*shown))).max(1))
}

/// Height of this number of lines of notes with the space above them.
pub(crate) fn height(lines: usize, size: f64) -> f64 {
    if lines == 0 { 0.0 } else { 0.6 * size + lines as f64 * line_height(size) }
}

fn line_height(size: f64) -> f64 {
    1.3 * size
}

/// Writes lines from `top` downwards.
pub(crate) fn draw(sheet: &Sheet, canvas: &Canvas<'_>, lines: &[String], top: f64) {
    if lines.is_empty() {
        return;
    }
    canvas.part("notes");
    let size = sheet.sizes.tick_font;
    for (i, line) in lines.iter().enumerate() {
        let base = top + 0.6 * size + (i as f64 + 0.8) * line_height(size);
        canvas.text(line, (PAD, base), Anchor::Start, size, sheet.tokens.muted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_there_once_in_the_order_of_the_first() {
        let texts = ["b", "a", "b", "", "a", ""].map(str::to_owned);
        assert_eq!(each_once(texts), ["b", "a", ""]);
    }

    #[test]
    fn notes_break_between_words_and_are_whole() {
        let lines = wrap("Cost unknown: GPT-5.5, a-model-whose-name-is-longer-than-the-line, x", 100.0, 11.0);
        assert!(lines.iter().all(|l| text_width(l, 11.0) <= 100.0), "{lines:?}");
        assert!(lines.len() > 3 && !lines.concat().contains('…'), "{lines:?}");
        assert!(lines.concat().contains("a-model-whose-name-is-longer-than-the-line,"), "{lines:?}");
        assert!(wrap("", 100.0, 11.0).is_empty());
        // A note ended with "…" after six lines, and the sources behind it stood nowhere.
        let numbers: Vec<String> = (0..500).map(|number| number.to_string()).collect();
        let whole = wrap(&numbers.join(" "), 100.0, 11.0);
        assert!(whole.len() > MOST_LINES && whole.join(" ") == numbers.join(" "), "{whole:?}");
    }

    /// Of 42 runs of unknown cost the note named as many as fit six lines, and the last one was cut.
    #[test]
    fn a_long_list_of_names_says_how_many_it_does_not_name() {
        let names: Vec<String> = (0..42).map(|i| format!("model-{i:02} · mini-swe-agent")).collect();
        let few = names_in_lines("Cost unknown", &names[..2], 200.0, 8.0);
        assert_eq!(few, "Cost unknown: model-00 · mini-swe-agent, model-01 · mini-swe-agent");
        let many = names_in_lines("Cost unknown", &names, 200.0, 8.0);
        assert!(many.starts_with("Cost unknown (42): model-00 · mini-swe-agent, model-01"), "{many}");
        let (named, more) = many.rsplit_once(" and ").unwrap();
        let shown = named.matches("mini-swe-agent").count();
        assert_eq!(more, format!("{} more", 42 - shown));
        assert!(shown > 5 && named.ends_with(&names[shown - 1]), "{many}");
        assert_eq!(wrap(&many, 200.0, 8.0).len(), MOST_LINES);
        // A name is whole, also where it takes more lines.
        let long = ["x".repeat(400), "y".repeat(400)];
        assert_eq!(names_in_lines("Unknown", &long[..1], 100.0, 8.0), format!("Unknown: {}", long[0]));
        let many = names_in_lines("Unknown", &long, 100.0, 8.0);
        assert_eq!(many, format!("Unknown (2): {} and 1 more", long[0]));
    }
}
