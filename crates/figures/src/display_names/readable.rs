//! Whether a name that was cut still says something.

use unicode_segmentation::UnicodeSegmentation as _;

use super::{
    CleanedName, ELLIPSIS, Purpose, SIMULATED, SIMULATED_SHORT, cleaned, cleaned_texts, distinct_names,
    uncut_in, without_shared_text,
};
use crate::line_breaks::stands_alone;
use crate::spec::SeriesLabel;

/// The least letters and digits of a name that was cut. With fewer, a reader does not know its run: `De…ro`.
const LEAST_LETTERS: usize = 8;

/// How much a grapheme cluster says: nothing if it is punctuation or space, and twice as much as a letter in scripts without an
/// alphabet, and as a picture.
fn letters(cluster: &str) -> usize {
    let Some(first) = cluster.chars().next() else { return 0 };
    if first.is_alphanumeric() && !stands_alone(first) {
        return 1;
    }
    let is_mark = first.is_ascii() || first.is_whitespace() || "…·–—−×→←≤≥".contains(first);
    if is_mark { 0 } else { 2 }
}

/// Whether a text was cut to nonsense: too few letters are left beside the number before it and its suffix (`2: (s….)`), or
/// nothing but the suffix.
pub(crate) fn is_nonsense(text: &str) -> bool {
    if [SIMULATED, SIMULATED_SHORT].iter().any(|badge| badge.trim_start() == text) {
        return true;
    }
    if !text.contains(ELLIPSIS) {
        return false;
    }
    let name = [SIMULATED, SIMULATED_SHORT].iter().find_map(|badge| text.strip_suffix(badge)).unwrap_or(text);
    let name = name
        .split_once(": ")
        .filter(|(number, _)| number.parse::<u32>().is_ok())
        .map_or(name, |(_, name)| name);
    name.graphemes(true).map(letters).sum::<usize>() < LEAST_LETTERS
}

/// The number before a name that was cut: `2` of `2: claude-op…`. What is left of the name does not tell it from another one.
pub(crate) fn number_before(text: &str) -> Option<&str> {
    let (number, _) = text.split_once(": ").filter(|_| text.contains(ELLIPSIS))?;
    number.parse::<u32>().is_ok().then_some(number)
}

impl CleanedName {
    /// Whether a text says which name it is. A name may have an ellipsis or a number of its own.
    pub(super) fn is_readable_as(&self, text: &str) -> bool {
        let has_number =
            number_before(text).is_some_and(|number| !self.name.starts_with(&format!("{number}: ")));
        !text.is_empty() && (self.name.contains(ELLIPSIS) || !(has_number || is_nonsense(text)))
    }
}

fn all_readable(named: &[CleanedName], width: f64, size: f64) -> bool {
    let texts = distinct_names(named, &vec![width; named.len()], size, Purpose::Check);
    named.iter().zip(texts).all(|(label, text)| label.is_readable_as(&text))
}

/// Whether no name of these runs is cut to nonsense at this width.
pub(crate) fn are_readable(labels: &[&SeriesLabel], width: f64, size: f64) -> bool {
    all_readable(&cleaned(labels), width, size)
}

/// Whether no name of these runs is cut at this width. What all of them share may be left out.
pub(crate) fn are_whole(labels: &[&SeriesLabel], width: f64, size: f64) -> bool {
    let named = cleaned(labels);
    uncut_in(&named, &without_shared_text(&named), &vec![width; named.len()], size).is_some()
}

/// Width of a column of names: `usual`, or, if a name would be cut to nonsense, what readable names need, up to `most`.
pub(crate) fn readable_width(labels: &[&SeriesLabel], size: f64, usual: f64, most: f64) -> f64 {
    widened(&cleaned(labels), size, usual, most)
}

/// The same, for other names than those of runs: scenarios, models, classes.
pub(crate) fn readable_width_of<T: AsRef<str>>(names: &[T], size: f64, usual: f64, most: f64) -> f64 {
    widened(&cleaned_texts(names), size, usual, most)
}

fn widened(named: &[CleanedName], size: f64, usual: f64, most: f64) -> f64 {
    // In steps of half a letter.
    let steps = ((most - usual).max(0.0) / (0.5 * size)).ceil() as u32;
    (0..=steps)
        .map(|step| if step == 0 { usual } else { (usual + f64::from(step) * 0.5 * size).min(most) })
        .find(|width| all_readable(named, *width, size))
        .unwrap_or(usual)
}
