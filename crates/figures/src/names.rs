//! Names as they are set: anything may stand in them, and they have to fit.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::font::text_width;
use crate::spec::SeriesLabel;

/// What stands where a name was cut.
const ELLIPSIS: &str = "…";
/// Longer names are cut before they are measured.
const MOST_CHARACTERS: usize = 400;
/// What follows the name of a simulated run.
const SIMULATED: &str = " (simulated)";

/// A name in one line: white space becomes a space; control characters and those that change the direction of what
/// follows are left out.
pub(crate) fn clean(name: &str) -> String {
    let mut out = String::with_capacity(name.len().min(4 * MOST_CHARACTERS));
    for c in name.chars() {
        if c.is_whitespace() || matches!(c, '\u{2028}' | '\u{2029}') {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if !(c.is_control() || turns_text(c) || matches!(c, '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')) {
            out.push(c);
        }
    }
    out.truncate(out.trim_end().len());
    if out.is_empty() { "(no name)".to_owned() } else { out }
}

/// Marks, embeddings, overrides and isolates of the bidirectional algorithm.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// A text that is at most `width` wide at `size`: what is too long loses its middle, between whole characters as
/// readers see them. Where not even an ellipsis fits, nothing is left.
pub(crate) fn fit(text: &str, width: f64, size: f64) -> String {
    let is_short = text.len() <= 4 * MOST_CHARACTERS;
    // Widths that were measured and added up come back a rounding error short.
    let width = width + 0.01;
    if is_short && text_width(text, size) <= width {
        return text.to_owned();
    }
    let seen: Vec<&str> = text.graphemes(true).take(20 * MOST_CHARACTERS).collect();
    let cut = |kept: usize| {
        // The end tells versions apart, the beginning families: the beginning gets the odd one.
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let head = seen[..head].concat();
        let tail = seen[seen.len() - tail..].concat();
        format!("{}{ELLIPSIS}{}", head.trim_end(), tail.trim_start())
    };
    let (mut fits, mut too_many) = (0, seen.len().min(MOST_CHARACTERS));
    if text_width(ELLIPSIS, size) > width {
        return String::new();
    }
    while too_many - fits > 1 {
        let middle = usize::midpoint(fits, too_many);
        if text_width(&cut(middle), size) <= width { fits = middle } else { too_many = middle }
    }
    cut(fits)
}

/// A run's name where there is so much room, with the word that says that it was simulated: that word is never cut
/// before the name is.
pub(crate) fn shown(label: &SeriesLabel, width: f64, size: f64) -> String {
    let name = clean(&label.name);
    if !label.simulated {
        return fit(&name, width, size);
    }
    let badge = text_width(SIMULATED, size);
    let name = fit(&name, width - badge, size);
    if name.is_empty() { fit(SIMULATED.trim_start(), width, size) } else { format!("{name}{SIMULATED}") }
}

/// How wide a run's name would be without being cut.
pub(crate) fn natural_width(label: &SeriesLabel, size: f64) -> f64 {
    let name = clean(&label.name);
    let head: String = name.chars().take(MOST_CHARACTERS).collect();
    text_width(&head, size) + if label.simulated { text_width(SIMULATED, size) } else { 0.0 }
}

/// A run's name in a sentence.
pub(crate) fn said(label: &SeriesLabel) -> String {
    let name = clean(&label.name);
    let name = if name.chars().count() > MOST_CHARACTERS {
        fit(&name, f64::from(MOST_CHARACTERS as u32) / 2.0, 1.0)
    } else {
        name
    };
    if label.simulated { format!("{name}{SIMULATED}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_line_in_one_direction() {
        assert_eq!(clean(" a\n\tb\u{0}\u{1b}[31m\u{202e}c \u{2067}"), "a b[31mc");
        assert_eq!(clean("\u{200f}\u{7}"), "(no name)");
        assert_eq!(clean("נועם · 模型"), "נועם · 模型");
    }

    #[test]
    fn long_names_lose_their_middle() {
        let name = "qwen3.5-122b-a10b-instruct-2026-06-01-with-a-very-long-suffix-fp8";
        let cut = fit(name, 100.0, 11.0);
        assert!(text_width(&cut, 11.0) <= 100.0 && text_width(&cut, 11.0) > 85.0, "{cut}");
        assert!(cut.starts_with("qwen3") && cut.ends_with("-fp8") && cut.contains('…'), "{cut}");
        assert_eq!(fit("short", 100.0, 11.0), "short");
        assert_eq!(fit("short", 5.0, 11.0), "");
        let family = "👩‍👩‍👧".repeat(30);
        let cut = fit(&family, 120.0, 11.0);
        assert!(cut.replace('…', "").graphemes(true).all(|g| g == "👩‍👩‍👧"), "{cut}");
        let endless = "x".repeat(3_000_000);
        assert!(text_width(&fit(&endless, 50.0, 11.0), 11.0) <= 50.0);
    }

    #[test]
    fn what_was_simulated_says_so() {
        let label = SeriesLabel { simulated: true, ..SeriesLabel::new("a-rather-long-name-of-a-model", 0) };
        assert_eq!(shown(&label, 1e9, 8.0), "a-rather-long-name-of-a-model (simulated)");
        let cut = shown(&label, 80.0, 8.0);
        assert!(cut.ends_with(" (simulated)") && cut.contains('…') && text_width(&cut, 8.0) <= 80.0, "{cut}");
        assert!((natural_width(&label, 8.0) - text_width(&shown(&label, 1e9, 8.0), 8.0)).abs() < 1e-9);
    }
}
