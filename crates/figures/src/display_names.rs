//! Names for display. They may contain any text, and must fit into a width.

use std::collections::BTreeSet;

use model::is_display_control;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::font::text_width;
use crate::spec::SeriesLabel;

mod cut;
mod readable;

use self::cut::{cut_apart, cut_at_words};
pub(crate) use self::readable::{
    are_readable, are_whole, is_nonsense, number_before, readable_width, readable_width_of,
};

/// The mark at the cut of a name.
const ELLIPSIS: &str = "…";
/// Longer names are cut before they are measured.
const MOST_CHARACTERS: usize = 400;
/// The suffix of the name of a simulated run.
const SIMULATED: &str = " (simulated)";
/// The short suffix, if the long one leaves no room for the name. Captions have the long one.
const SIMULATED_SHORT: &str = " (sim.)";
/// The least width of a name beside a suffix, in heights of letters.
const LEAST_NAME: f64 = 4.0;

/// A name in one line: white space becomes a space. Display controls are removed.
pub(crate) fn clean(name: &str) -> String {
    let mut out = String::with_capacity(name.len().min(4 * MOST_CHARACTERS));
    for c in name.chars() {
        if c.is_whitespace() || matches!(c, '\u{2028}' | '\u{2029}') {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if !(is_display_control(c) || matches!(c, '\u{FFFE}' | '\u{FFFF}')) {
            out.push(c);
        }
    }
    out.truncate(out.trim_end().len());
    if out.is_empty() { "(no name)".to_owned() } else { out }
}

/// A text that is at most `width` wide at `size`. A longer text loses its middle, between grapheme clusters. If not even an
/// ellipsis fits, it is empty.
pub(crate) fn fit(text: &str, width: f64, size: f64) -> String {
    let is_short = text.len() <= 4 * MOST_CHARACTERS;
    // A sum of measured widths may have a rounding error.
    let width = width + 0.01;
    if is_short && text_width(text, size) <= width {
        return text.to_owned();
    }
    let graphemes: Vec<&str> = text.graphemes(true).take(20 * MOST_CHARACTERS).collect();
    let cut = |count: usize| {
        // The end distinguishes versions, the start families. The start gets the odd character.
        let (head, tail) = (count.div_ceil(2), count / 2);
        let head = graphemes[..head].concat();
        let tail = graphemes[graphemes.len() - tail..].concat();
        format!("{}{ELLIPSIS}{}", head.trim_end(), tail.trim_start())
    };
    let (mut fits, mut too_many) = (0, graphemes.len().min(MOST_CHARACTERS));
    if text_width(ELLIPSIS, size) > width {
        return String::new();
    }
    while too_many - fits > 1 {
        let middle = usize::midpoint(fits, too_many);
        if text_width(&cut(middle), size) <= width { fits = middle } else { too_many = middle }
    }
    cut(fits)
}

/// A cleaned name for a width.
#[derive(Clone)]
struct CleanedName {
    name: String,
    simulated: bool,
    /// Whether the suffix of simulated runs is short, because a name beside it is cut.
    has_short_badge: bool,
}

impl CleanedName {
    fn from_label(label: &SeriesLabel) -> Self {
        Self { name: clean(&label.name), simulated: label.simulated, has_short_badge: false }
    }

    /// The suffix of a simulated run for this width. It is never cut before the name, and is short if the long one leaves too
    /// little of the name.
    fn badge(&self, width: f64, size: f64) -> &'static str {
        if !self.simulated {
            return "";
        }
        if self.has_short_badge {
            return SIMULATED_SHORT;
        }
        let room = width - text_width(SIMULATED, size);
        if room >= (LEAST_NAME * size).min(text_width(&self.name, size)) {
            SIMULATED
        } else {
            SIMULATED_SHORT
        }
    }

    /// The name, cut in its middle, with its suffix.
    fn shown(&self, width: f64, size: f64) -> String {
        let room = width - text_width(self.badge(width, size), size);
        self.with_badge(fit(&self.name, room, size), width, size)
    }

    /// What is left of the name, with the suffix for this width, or the suffix alone if nothing is left.
    fn with_badge(&self, cut: String, width: f64, size: f64) -> String {
        let badge = self.badge(width, size);
        if cut.is_empty() { fit(badge.trim_start(), width, size) } else { cut + badge }
    }
}

/// The names of the runs of one figure, each for this width, with the suffix of simulated runs. Different names stay
/// different: of a name that is cut, what tells it from the others is left. If that does not fit, it gets its number, and a
/// figure on paper is refused.
pub(crate) fn shown_all(labels: &[&SeriesLabel], width: f64, size: f64) -> Vec<String> {
    shown_each(labels, &vec![width; labels.len()], size)
}

/// The same, with one width for each name.
pub(crate) fn shown_each(labels: &[&SeriesLabel], widths: &[f64], size: f64) -> Vec<String> {
    distinct_names(&cleaned(labels), widths, size, Purpose::Display)
}

/// The names of runs, cleaned.
fn cleaned(labels: &[&SeriesLabel]) -> Vec<CleanedName> {
    labels.iter().map(|label| CleanedName::from_label(label)).collect()
}

/// Other names than those of runs, cleaned.
fn cleaned_texts<T: AsRef<str>>(names: &[T]) -> Vec<CleanedName> {
    let named =
        |name: &T| CleanedName { name: clean(name.as_ref()), simulated: false, has_short_badge: false };
    names.iter().map(named).collect()
}

/// The same, for other names than those of runs: scenarios, models, classes.
pub(crate) fn fit_all<T: AsRef<str>>(names: &[T], width: f64, size: f64) -> Vec<String> {
    distinct_names(&cleaned_texts(names), &vec![width; names.len()], size, Purpose::Display)
}

/// The same for names that say something by their words, such as those of tasks: a name that is cut loses whole words where what
/// is left can be read.
pub(crate) fn fit_all_at_words<T: AsRef<str>>(names: &[T], width: f64, size: f64) -> Vec<String> {
    let named = cleaned_texts(names);
    let (short, widths) = (without_shared_text(&named), vec![width; named.len()]);
    uncut_in(&named, &short, &widths, size).unwrap_or_else(|| {
        let texts = cut_readably(&short, &widths, size, Purpose::Display);
        cut_at_words(&short, texts, width, size)
    })
}

/// The separator of the parts of a name: `model · harness`.
const PARTS: &str = " · ";

/// Where a part of a name may be divided.
const BREAKS: [char; 4] = ['-', '_', '/', ' '];

/// Whether the rest of a name can stand for it: a number, or one or two letters, cannot.
fn is_name(rest: &str) -> bool {
    let mut letters = rest.strip_prefix('(').unwrap_or(rest).chars();
    let Some(first) = letters.next().filter(|first| first.is_alphabetic()) else { return false };
    !first.is_ascii() || letters.nth(1).is_some()
}

/// How many bytes all of these parts begin and end with and can lose: up to a hyphen or a similar character, and what is left is
/// a name.
fn common_ends(parts: &[&str]) -> (usize, usize) {
    let Some(first) = parts.first() else { return (0, 0) };
    // Each place is compared up to the end, so names without a bound would take the square of their length.
    if parts.iter().any(|part| part.len() > 4 * MOST_CHARACTERS) {
        return (0, 0);
    }
    let head = first
        .char_indices()
        .filter(|(_, c)| BREAKS.contains(c))
        .map(|(offset, c)| offset + c.len_utf8())
        .take_while(|end| parts.iter().all(|part| part.get(..*end) == first.get(..*end)))
        .filter(|end| parts.iter().all(|part| part.get(*end..).is_some_and(is_name)))
        .last()
        .unwrap_or(0);
    // Where the last `length` bytes of a part begin.
    let end_of = |part: &str, length: usize| part.len().checked_sub(length);
    let tail = first
        .char_indices()
        .rev()
        .filter(|(_, c)| BREAKS.contains(c))
        .map(|(cut, _)| first.len() - cut)
        .take_while(|length| {
            let shared_end = first.get(first.len() - length..);
            parts.iter().all(|part| end_of(part, *length).is_some_and(|cut| part.get(cut..) == shared_end))
        })
        .filter(|length| {
            let rest = |part: &str| end_of(part, *length).and_then(|cut| part.get(head..cut).map(is_name));
            parts.iter().all(|part| rest(part) == Some(true))
        })
        .last()
        .unwrap_or(0);
    (head, tail)
}

/// What stands in the brackets of a text that is nothing else: `m10` of `(m10)`.
fn in_brackets(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?.trim();
    (!inner.is_empty() && !inner.contains(['(', ')'])).then_some(inner)
}

/// The names without their common text in each part, at its start and at its end: `oracle-weak · codex` beside
/// `oracle-strong · codex` is `weak`. `None` = there is nothing to remove.
fn without_shared(names: &[&str]) -> Option<Vec<String>> {
    shortened(names).map(|shortened| shortened.names)
}

/// Names without their common text.
struct Shortened {
    names: Vec<String>,
    /// The common text, in its order.
    left_out: Vec<String>,
}

fn shortened(names: &[&str]) -> Option<Shortened> {
    let parts: Vec<Vec<&str>> = names.iter().map(|name| name.split(PARTS).collect()).collect();
    let count = parts.first().filter(|_| names.len() > 1)?.len();
    // Names of other forms have no parts that belong together.
    let parts = if parts.iter().all(|parts| parts.len() == count) {
        parts
    } else {
        names.iter().map(|name| vec![*name]).collect()
    };
    let mut short: Vec<Vec<&str>> = vec![Vec::new(); names.len()];
    let mut left_out: Vec<&str> = Vec::new();
    for position in 0..parts[0].len() {
        let column: Vec<&str> = parts.iter().map(|parts| parts[position]).collect();
        if column.iter().all(|part| *part == column[0]) {
            left_out.push(column[0]);
            continue;
        }
        let (head, tail) = common_ends(&column);
        left_out.extend([&column[0][..head], &column[0][column[0].len() - tail..]]);
        let own: Vec<&str> = column
            .into_iter()
            .map(|part| part[head..part.len() - tail].trim_end_matches([' ', ',']))
            .collect();
        let inner: Option<Vec<&str>> = own.iter().copied().map(in_brackets).collect();
        for (short, own) in short.iter_mut().zip(inner.unwrap_or(own)) {
            short.push(own);
        }
    }
    let short: Vec<String> = short.into_iter().map(|parts| parts.join(PARTS)).collect();
    let different = |names: &mut dyn Iterator<Item = &str>| names.collect::<BTreeSet<_>>().len();
    let is_whole = different(&mut short.iter().map(String::as_str)) == different(&mut names.iter().copied());
    let is_shorter = short.iter().zip(names).any(|(a, b)| a != b);
    (is_whole && is_shorter && short.iter().all(|name| !name.is_empty())).then(|| Shortened {
        names: short,
        left_out: left_out
            .into_iter()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
            .collect(),
    })
}

/// What a drawing leaves out of the names of its runs: the text that all of them share, if one of them is drawn without it.
/// `texts` has the texts of each part of the drawing, one after another.
pub(crate) fn left_out_text(labels: &[&SeriesLabel], texts: impl FnOnce() -> Vec<String>) -> Vec<String> {
    let names: Vec<String> = labels.iter().map(|label| clean(&label.name)).collect();
    let Some(short) = shortened(&names.iter().map(String::as_str).collect::<Vec<_>>()) else {
        return Vec::new();
    };
    // A name in several lines may be broken at any space or hyphen.
    let without_spaces = |text: &str| -> String { text.split_whitespace().collect() };
    let texts: Vec<String> = texts().iter().map(|text| without_spaces(text)).collect();
    let is_drawn = |name: &str| {
        let name = without_spaces(name);
        texts.iter().any(|text| text.contains(&name))
    };
    let is_drawn_short = short.names.iter().zip(&names).any(|(own, name)| is_drawn(own) && !is_drawn(name));
    if is_drawn_short { short.left_out } else { Vec::new() }
}

/// The short names of the members of a view: what tells each from the others. Charts, chips and tables have the same ones. Names
/// that share nothing, and a single name, stay as they are; different names stay different.
pub fn short_names(names: &[String]) -> Vec<String> {
    let whole: Vec<&str> = names.iter().map(String::as_str).collect();
    without_shared(&whole).unwrap_or_else(|| names.to_vec())
}

/// What names are cut for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// They are shown.
    Display,
    /// Only whether all of them can be read is asked, so after one that cannot, the others are cut without care.
    Check,
}

/// The names in the most complete form that fits all widths. Otherwise they are cut.
fn distinct_names(named: &[CleanedName], widths: &[f64], size: f64, purpose: Purpose) -> Vec<String> {
    let short = without_shared_text(named);
    uncut_in(named, &short, widths, size).unwrap_or_else(|| cut_readably(&short, widths, size, purpose))
}

/// The names without their common text, if they have any, and with the short suffix of several runs: a cut name needs the room
/// more than the suffix does.
fn without_shared_text(named: &[CleanedName]) -> Vec<CleanedName> {
    let names: Vec<&str> = named.iter().map(|label| label.name.as_str()).collect();
    let short =
        without_shared(&names).unwrap_or_else(|| named.iter().map(|label| label.name.clone()).collect());
    let has_short_badge = named.len() > 1;
    short
        .into_iter()
        .zip(named)
        .map(|(name, label)| CleanedName { name, has_short_badge, ..label.clone() })
        .collect()
}

/// The names in the most complete form that fits all widths without a cut: complete, then with a short suffix, then without
/// their common text, then without a suffix that all of several have: it tells nobody from the others, and captions state it.
fn uncut_in(named: &[CleanedName], short: &[CleanedName], widths: &[f64], size: f64) -> Option<Vec<String>> {
    let fitting = |named: &[CleanedName], badge: &str| -> Option<Vec<String>> {
        let whole =
            |label: &CleanedName| format!("{}{}", label.name, if label.simulated { badge } else { "" });
        let texts: Vec<String> = named.iter().map(whole).collect();
        texts.iter().zip(widths).all(|(text, width)| text_width(text, size) <= width + 0.01).then_some(texts)
    };
    let forms = [
        (named, SIMULATED),
        (named, SIMULATED_SHORT),
        (short, SIMULATED),
        (short, SIMULATED_SHORT),
        (named, ""),
        (short, ""),
    ];
    let without_badge = if share_badge(named) { 2 } else { 0 };
    forms.into_iter().take(4 + without_badge).find_map(|(named, badge)| fitting(named, badge))
}

/// Whether these are several names that all have the suffix of simulated runs.
fn share_badge(named: &[CleanedName]) -> bool {
    named.len() > 1 && named.iter().all(|label| label.simulated)
}

/// The names, cut. A suffix that all of several have goes first. A suffix beside which too little of a name is left is short.
fn cut_readably(named: &[CleanedName], widths: &[f64], size: f64, purpose: Purpose) -> Vec<String> {
    let version = |change: &dyn Fn(CleanedName) -> CleanedName| {
        let named: Vec<CleanedName> = named.iter().cloned().map(change).collect();
        let texts = cut_apart(&named, widths, size, purpose);
        let is_readable = texts.iter().zip(&named).all(|(text, label)| label.is_readable_as(text));
        (texts, is_readable)
    };
    let without_suffix = || version(&|label| CleanedName { simulated: false, ..label });
    if share_badge(named)
        && let (texts, true) = without_suffix()
    {
        return texts;
    }
    let (texts, is_readable) = version(&|label| label);
    if is_readable || !named.iter().all(|label| label.simulated) {
        return texts;
    }
    let (with_short_suffix, is_readable) = version(&|label| CleanedName { has_short_badge: true, ..label });
    if is_readable {
        return with_short_suffix;
    }
    let (bare_texts, is_readable) = without_suffix();
    if is_readable { bare_texts } else { texts }
}

/// The width of the name of a run without a cut.
pub(crate) fn natural_width(label: &SeriesLabel, size: f64) -> f64 {
    let name = clean(&label.name);
    let head: String = name.chars().take(MOST_CHARACTERS).collect();
    text_width(&head, size) + if label.simulated { text_width(SIMULATED, size) } else { 0.0 }
}

/// The names in their shortest form without a cut: without their common text, with the short suffix of simulated runs.
pub(crate) fn shortest_names(labels: &[&SeriesLabel]) -> Vec<String> {
    let named = cleaned(labels);
    let names: Vec<&str> = named.iter().map(|label| label.name.as_str()).collect();
    let short = without_shared(&names);
    let texts = named.iter().enumerate().map(|(i, label)| {
        let name = short.as_ref().map_or(label.name.as_str(), |short| short[i].as_str());
        let head: String = name.chars().take(MOST_CHARACTERS).collect();
        if label.simulated { head + SIMULATED_SHORT } else { head }
    });
    texts.collect()
}

/// The width of the widest of them.
pub(crate) fn least_width(labels: &[&SeriesLabel], size: f64) -> f64 {
    shortest_names(labels).iter().map(|name| text_width(name, size)).fold(0.0, f64::max)
}

/// The usual width of a column of names of runs in a figure of this width: what they need whole up to this share of it. Beyond
/// that they have up to 42 % of it, but only what their shortest form without a cut needs.
pub(crate) fn usual_width(labels: &[&SeriesLabel], size: f64, width: f64, share: f64) -> f64 {
    let natural = labels.iter().map(|label| natural_width(label, size)).fold(0.0, f64::max);
    let least = least_width(labels, size).min(0.42 * width);
    natural.min((share * width).max(least))
}

/// The name of a run in a sentence.
pub(crate) fn full_name(label: &SeriesLabel) -> String {
    let name = clean(&label.name);
    let name = if name.chars().count() > MOST_CHARACTERS {
        fit(&name, f64::from(MOST_CHARACTERS as u32) / 2.0, 1.0)
    } else {
        name
    };
    if label.simulated { format!("{name}{SIMULATED}") } else { name }
}

#[cfg(test)]
mod tests;
