//! Lines of text under a plot: unknown numbers, and sources of published numbers.

use std::collections::HashSet;

use crate::display_names::fit;
use crate::font::text_width;
use crate::line_breaks::broken;
use crate::marks::{Anchor, Canvas};
use crate::sheet::{PAD, Sheet};

/// Most lines of one note.
const MOST_LINES: usize = 6;

/// Texts, each once, in the order in which they are met: equal sources share one note.
pub(crate) fn each_once(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.into_iter().filter(|text| seen.insert(text.clone())).collect()
}

/// Breaks a text between words into lines of at most `width`. A text with too many lines ends with an ellipsis.
pub(crate) fn wrap(text: &str, width: f64, size: f64) -> Vec<String> {
    wrap_up_to(MOST_LINES, text, width, size)
}

/// The same for a text with numbers or names that stand nowhere else: it is whole, in as many lines as it needs.
pub(crate) fn wrap_whole(text: &str, width: f64, size: f64) -> Vec<String> {
    wrap_up_to(usize::MAX, text, width, size)
}

fn wrap_up_to(most_lines: usize, text: &str, width: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut words = text.split(' ').filter(|w| !w.is_empty());
    while let Some(word) = words.next() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if text_width(&longer, size) <= width {
            line = longer;
            continue;
        }
        if lines.len() + 1 == most_lines {
            let rest =
                words.fold(longer, |all, w| if all.len() > 4_000 { all } else { format!("{all} {w}") });
            line = fit_end(&rest, width, size);
            break;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        // A word that is longer than a line continues in the next one. A cut could make two names equal.
        let mut pieces = broken(word, width, size);
        let last = pieces.pop().unwrap_or_default();
        if lines.len() + pieces.len() < most_lines {
            lines.append(&mut pieces);
            line = last;
        } else {
            line = fit(word, width, size);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Cuts at the end, which is the least important part of a note.
fn fit_end(text: &str, width: f64, size: f64) -> String {
    let mut cut = String::new();
    for word in text.split(' ') {
        let longer = if cut.is_empty() { word.to_owned() } else { format!("{cut} {word}") };
        if text_width(&format!("{longer} …"), size) > width {
            break;
        }
        cut = longer;
    }
    if cut.is_empty() { fit(text, width, size) } else { format!("{cut} …") }
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
    fn notes_break_between_words_and_end() {
        let lines = wrap("Cost unknown: GPT-5.5, a-model-whose-name-is-longer-than-the-line, x", 100.0, 11.0);
        assert!(lines.iter().all(|l| text_width(l, 11.0) <= 100.0), "{lines:?}");
        assert!(lines.len() > 3 && !lines.concat().contains('…'), "{lines:?}");
        assert!(lines.concat().contains("a-model-whose-name-is-longer-than-the-line,"), "{lines:?}");
        let many = wrap(&"word ".repeat(5_000), 100.0, 11.0);
        assert_eq!(many.len(), MOST_LINES);
        assert!(many[MOST_LINES - 1].ends_with(" …") && text_width(&many[MOST_LINES - 1], 11.0) <= 100.0);
        assert!(wrap("", 100.0, 11.0).is_empty());
        let numbers: Vec<String> = (0..500).map(|number| number.to_string()).collect();
        let whole = wrap_whole(&numbers.join(" "), 100.0, 11.0);
        assert!(whole.len() > MOST_LINES && whole.join(" ") == numbers.join(" "), "{whole:?}");
    }
}
