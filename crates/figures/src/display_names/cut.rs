//! Names that are cut, of which what tells each from the others is left.

use std::collections::BTreeMap;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use super::{BREAKS, CleanedName, ELLIPSIS, MOST_CHARACTERS, Purpose, fit, is_name};
use crate::font::text_width;

/// Most words of a name that are tried one by one.
const MOST_WORDS: usize = 64;
/// Most names among which the words that tell one from the others are looked for. Of more, those with equal texts get numbers.
const MOST_OTHERS: usize = 60;

/// The names, each cut for its width, with their suffixes. A name loses its middle. Where the rest could be that of another name
/// that is cut, it loses what it shares with the others instead.
pub(super) fn cut_apart(named: &[CleanedName], widths: &[f64], size: f64, purpose: Purpose) -> Vec<String> {
    let names: Vec<&str> = named.iter().map(|label| label.name.as_str()).collect();
    let rooms: Vec<f64> = named
        .iter()
        .zip(widths)
        .map(|(label, width)| width - text_width(label.badge(*width, size), size))
        .collect();
    let mut cuts: Vec<String> = names.iter().zip(&rooms).map(|(name, room)| fit(name, *room, size)).collect();
    for (i, own_at) in shared_starts(&names).into_iter().enumerate().filter(|(_, own_at)| *own_at > 0) {
        // A cut in what it does not share may leave less of it than another cut does.
        if cuts[i].contains(&names[i][own_at..]) {
            continue;
        }
        let cut = cut_between_words(names[i], own_at, rooms[i], size);
        if let Some(cut) = cut.filter(|cut| named[i].is_readable_as(cut)) {
            cuts[i] = cut;
        }
    }
    // A name that is whole stands for itself, so no other can be taken for it.
    let mut cut_names: Vec<&str> =
        names.iter().zip(&cuts).filter(|(name, cut)| **name != cut.as_str()).map(|(name, _)| *name).collect();
    cut_names.sort_unstable();
    cut_names.dedup();
    let mut is_numbered = vec![false; named.len()];
    for (i, label) in named.iter().enumerate() {
        let is_whole = cuts[i] == names[i];
        if is_whole || cuts[i].is_empty() || !may_be_another(&cuts[i], names[i], &cut_names) {
            continue;
        }
        let others: Vec<&str> = cut_names.iter().copied().filter(|other| *other != names[i]).collect();
        match distinct_cut(label, &others, rooms[i], size) {
            Some(cut) => cuts[i] = cut,
            // Of so many names, only equal texts get numbers, below.
            None if others.len() > MOST_OTHERS => continue,
            None => is_numbered[i] = true,
        }
        if purpose == Purpose::Check {
            let text = if is_numbered[i] { format!("{}: {}", i + 1, cuts[i]) } else { cuts[i].clone() };
            if !label.is_readable_as(&text) {
                break;
            }
        }
    }
    let mut texts: Vec<String> = named
        .iter()
        .zip(cuts)
        .zip(widths)
        .map(|((label, cut), width)| label.with_badge(cut, *width, size))
        .collect();
    // Texts that are still equal, as of a name that ends like a suffix, get their number in front, too.
    let mut first_places: BTreeMap<String, usize> = BTreeMap::new();
    for i in 0..texts.len() {
        let first = *first_places.entry(texts[i].clone()).or_insert(i);
        let is_taken = first != i && named[first].name != named[i].name && !texts[i].is_empty();
        if is_numbered[i] || is_taken {
            let number = format!("{}: ", i + 1);
            texts[i] = format!("{number}{}", named[i].shown(widths[i] - text_width(&number, size), size));
        }
    }
    texts
}

/// These texts of names in one width, cut between words instead where what is left can be read and stays different. The names
/// have no suffix.
pub(super) fn cut_at_words(
    named: &[CleanedName],
    mut texts: Vec<String>,
    width: f64,
    size: f64,
) -> Vec<String> {
    let is_cut = |i: &usize| texts[*i] != named[*i].name && !named[*i].name.contains(ELLIPSIS);
    let cut: Vec<usize> = (0..named.len()).filter(is_cut).collect();
    if cut.len() > MOST_OTHERS {
        return texts;
    }
    for i in &cut {
        let label = &named[*i];
        let others: Vec<&str> = cut
            .iter()
            .map(|other| named[*other].name.as_str())
            .filter(|other| *other != label.name)
            .collect();
        let word_cut = cut_to_words(&label.name, &others, width, size);
        if let Some(word_cut) = word_cut.filter(|word_cut| label.is_readable_as(word_cut)) {
            texts[*i] = word_cut;
        }
    }
    texts
}

/// Whether another of the sorted names has all that is left of this one.
fn may_be_another(cut: &str, name: &str, sorted: &[&str]) -> bool {
    let start = cut.split(ELLIPSIS).next().unwrap_or_default();
    let neighbor = sorted.partition_point(|other| *other < start);
    let alike = sorted[neighbor..].iter().take_while(|other| other.starts_with(start));
    alike.filter(|other| **other != name).any(|other| may_stand_for(cut, other))
}

/// Whether a text can be what is left of this name: the name has all its parts, and something in the place of each ellipsis.
fn may_stand_for(cut: &str, name: &str) -> bool {
    let mut parts: Vec<&str> = cut.split(ELLIPSIS).collect();
    let Some(last) = parts.pop() else { return false };
    let Some((first, middle)) = parts.split_first() else { return cut == name };
    let Some(mut rest) = name.strip_prefix(*first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    for part in middle {
        // The ellipsis before it stands for a character at least.
        let mut letters = rest.chars();
        letters.next();
        let Some((_, after)) = letters.as_str().split_once(*part) else { return false };
        rest = after;
    }
    !rest.is_empty()
}

/// A cut that leaves what no other name has: whole words if that can be read, else letters. `None` = it does not fit.
fn distinct_cut(label: &CleanedName, others: &[&str], width: f64, size: f64) -> Option<String> {
    if others.len() > MOST_OTHERS {
        return None;
    }
    let word_cut = cut_to_words(&label.name, others, width, size);
    if word_cut.as_ref().is_some_and(|cut| label.is_readable_as(cut)) {
        return word_cut;
    }
    let letter_cut = cut_to_letters(&label.name, others, width, size);
    if letter_cut.as_ref().is_some_and(|cut| label.is_readable_as(cut)) {
        return letter_cut;
    }
    word_cut.or(letter_cut)
}

/// The words of a name, each with what divides it from the next one. A sign alone stands with the word before it.
fn words_of(name: &str) -> Vec<&str> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for part in name.split_inclusive(BREAKS) {
        let end = start + part.len();
        match ranges.last_mut() {
            Some(before) if !part.contains(char::is_alphanumeric) => before.end = end,
            _ => ranges.push(start..end),
        }
        start = end;
    }
    ranges.into_iter().map(|range| &name[range]).collect()
}

/// The words that are shown, with an ellipsis in the place of those between them.
fn joined(words: &[&str], is_shown: &[bool]) -> String {
    let mut text = String::new();
    let mut is_gap = false;
    for (word, is_shown) in words.iter().zip(is_shown) {
        if *is_shown {
            text.push_str(word);
        } else if !is_gap {
            text.truncate(text.trim_end_matches([' ', '·']).len());
            text.push_str(ELLIPSIS);
        }
        is_gap = !*is_shown;
    }
    text
}

/// The fewest words of a name that no other name has all of, and as many others as fit, first from its start, then from its end.
fn cut_to_words(name: &str, others: &[&str], width: f64, size: f64) -> Option<String> {
    let words = words_of(name);
    if words.len() > MOST_WORDS || name.len() > 4 * MOST_CHARACTERS {
        return None;
    }
    let fits = |is_shown: &[bool]| text_width(&joined(&words, is_shown), size) <= width + 0.01;
    let mut is_shown = vec![false; words.len()];
    let mut alike = others.to_vec();
    while !alike.is_empty() {
        // The word that the fewest others have in its place; of equal ones the first.
        let next = (0..words.len()).filter(|word| !is_shown[*word]).min_by_key(|word| {
            let mut with_word = is_shown.clone();
            with_word[*word] = true;
            let cut = joined(&words, &with_word);
            alike.iter().filter(|other| may_stand_for(&cut, other)).count()
        })?;
        is_shown[next] = true;
        let cut = joined(&words, &is_shown);
        alike.retain(|other| may_stand_for(&cut, other));
        if !fits(&is_shown) {
            return None;
        }
    }
    let from_start: Vec<usize> = (0..words.len()).collect();
    let from_end: Vec<usize> = from_start.iter().rev().copied().collect();
    for order in [from_start, from_end] {
        for word in order {
            if is_shown[word] {
                continue;
            }
            is_shown[word] = true;
            if !fits(&is_shown) {
                is_shown[word] = false;
                break;
            }
        }
    }
    Some(joined(&words, &is_shown))
}

/// The letters of a name that no other name has in their place, and as many others as fit.
fn cut_to_letters(name: &str, others: &[&str], width: f64, size: f64) -> Option<String> {
    let ends: Vec<usize> = name
        .grapheme_indices(true)
        .map(|(index, _)| index)
        .take(20 * MOST_CHARACTERS)
        .chain([name.len()])
        .collect();
    let mut cut = fit(name, width, size);
    let mut alike: Vec<&str> = Vec::new();
    loop {
        // Each cut is another one than those of the names before, so names are added until there are no more.
        let more: Vec<&str> = others.iter().copied().filter(|other| may_stand_for(&cut, other)).collect();
        if more.is_empty() {
            return Some(cut);
        }
        alike.extend(more);
        cut = cut_around_own(name, &ends, &alike, width, size)?;
    }
}

/// The part of a name that these others do not have, with as many of the letters beside it as tell it from all of them, and
/// what fits of the rest. `ends`: where the letters of the name begin and end.
fn cut_around_own(name: &str, ends: &[usize], others: &[&str], width: f64, size: f64) -> Option<String> {
    let own = own_part(name, ends, others);
    let (before, after) = (own.start, ends.len() - 1 - own.end);
    (0..=(before + after).min(MOST_CHARACTERS))
        .map_while(|letters| {
            let left = letters.div_ceil(2).min(before);
            let right = (letters - left).min(after);
            let left = (letters - right).min(before);
            cut_around(name, ends, &(own.start - left..own.end + right), width, size)
        })
        .find(|cut| others.iter().all(|other| !may_stand_for(cut, other)))
}

/// The part of a name without what all of these others begin and end with, in letters.
fn own_part(name: &str, ends: &[usize], others: &[&str]) -> Range<usize> {
    let least = |count: &dyn Fn(&str) -> usize| others.iter().map(|other| count(other)).min().unwrap_or(0);
    let head = least(&|other| name.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count());
    let tail = least(&|other| {
        let most = name.len().min(other.len()).saturating_sub(head);
        name.bytes().rev().zip(other.bytes().rev()).take(most).take_while(|(a, b)| a == b).count()
    });
    let last = ends.len() - 1;
    let start = ends.partition_point(|end| *end <= head).saturating_sub(1);
    let end = ends.partition_point(|end| *end < name.len() - tail).min(last);
    start..end.max(start)
}

/// A name with these letters, as many from its start as fit, then from its end. `None` = the letters do not fit.
fn cut_around(name: &str, ends: &[usize], own: &Range<usize>, width: f64, size: f64) -> Option<String> {
    let last = ends.len() - 1;
    // The first `head` letters, and those from `tail` on.
    let text = |head: usize, tail: usize| {
        let (begin, begin_gap) = if head < own.start {
            (name[..ends[head]].trim_end(), ELLIPSIS)
        } else {
            (&name[..ends[own.start]], "")
        };
        let (end, end_gap) = if tail > own.end {
            (name[ends[tail]..].trim_start(), ELLIPSIS)
        } else {
            (&name[ends[own.end]..], "")
        };
        format!("{begin}{begin_gap}{}{end_gap}{end}", &name[ends[own.start]..ends[own.end]])
    };
    let fits = |text: &str| text_width(text, size) <= width + 0.01;
    let head = (0..=own.start).take_while(|head| fits(&text(*head, last))).last()?;
    let tail = (own.end..=last).rev().take_while(|tail| fits(&text(head, *tail))).last()?;
    Some(text(head, tail))
}

/// How many bytes at its start each name shares with another one, up to the end of a word. What is left is a name.
pub(super) fn shared_starts(names: &[&str]) -> Vec<usize> {
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let shared_start = |name: &str| {
        // Each place of a cut is measured, so a name without a bound would take the square of its length.
        if name.len() > 4 * MOST_CHARACTERS {
            return 0;
        }
        let Ok(place) = sorted.binary_search(&name) else { return 0 };
        // No other name shares more than the next one in the order does.
        let neighbors = [place.checked_sub(1), Some(place + 1)].into_iter().flatten();
        let common = |other: &&str| name.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let shared = neighbors.filter_map(|index| sorted.get(index)).map(common).max().unwrap_or(0);
        name.char_indices()
            .map(|(offset, c)| (offset + c.len_utf8(), c))
            .take_while(|(end, _)| *end <= shared)
            .filter(|(end, c)| ends_word(*c) && is_name(&name[*end..]))
            .last()
            .map_or(0, |(end, _)| end)
    };
    names.iter().map(|name| shared_start(name)).collect()
}

/// Whether a word of a name ends before this character.
fn ends_word(c: char) -> bool {
    BREAKS.contains(&c) || matches!(c, '(' | '.')
}

/// A name whose own part, from this byte, is whole, and of whose start as many words stand as fit; `None` = the own part does
/// not fit.
fn cut_between_words(name: &str, own_at: usize, width: f64, size: f64) -> Option<String> {
    let (start, own) = name.split_at_checked(own_at)?;
    let ends =
        start.char_indices().rev().filter(|(_, c)| ends_word(*c)).map(|(index, c)| index + c.len_utf8());
    ends.chain([0])
        .map(|end| format!("{}{ELLIPSIS}{own}", start[..end].trim_end()))
        .find(|text| text_width(text, size) <= width + 0.01)
}
