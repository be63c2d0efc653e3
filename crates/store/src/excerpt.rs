//! The words around what a search found.

use std::ops::Range;

/// How many letters are shown before and after the first found word.
const EXCERPT_MARGIN: usize = 80;

/// How many letters from the first found word on are shown at most. Much punctuation may stand within a phrase.
const LONGEST_PLACE: usize = 4 * EXCERPT_MARGIN;

/// How many places of one word are looked at.
const PLACES: usize = 200;

/// A found word in a text: its letters from `begin` to before `end`.
#[derive(Debug, Clone, Copy)]
struct Place {
    word: usize,
    begin: usize,
    end: usize,
}

/// The text around the place with the most of the words, in one line; the first of several. It is cut between words, and not
/// in a found one. Words are in lower case.
pub fn excerpt_around(text: &str, words: &[String]) -> String {
    let letters: Vec<char> = text.chars().collect();
    let folded: Vec<char> = letters.iter().map(|c| c.to_lowercase().next().unwrap_or(*c)).collect();
    let mut places: Vec<Place> =
        words.iter().enumerate().flat_map(|(index, word)| places_of(&folded, index, word)).collect();
    places.sort_by_key(|place| place.begin);
    let (first, last) = densest(&places);
    excerpt(&letters, first, last)
}

/// The text around a found place (a range of bytes), in one line.
pub(crate) fn excerpt_of(text: &str, place: Range<usize>) -> String {
    let letters: Vec<char> = text.chars().collect();
    let first = text[..place.start].chars().count();
    let last = first + text[place].chars().count();
    excerpt(&letters, first, last)
}

/// The text around the letters from `first` to before `last`.
fn excerpt(letters: &[char], first: usize, last: usize) -> String {
    let last = last.min(first + LONGEST_PLACE);
    let begin = first.saturating_sub(EXCERPT_MARGIN);
    let end = (begin + 2 * EXCERPT_MARGIN).max(last).min(letters.len());
    let (begin, end) = (after_a_gap(letters, begin, first), before_a_gap(letters, last, end));
    let piece: String = letters[begin..end].iter().collect();
    let line = piece.split_whitespace().collect::<Vec<_>>().join(" ");
    let before = if begin > 0 { "… " } else { "" };
    let after = if end < letters.len() { " …" } else { "" };
    format!("{before}{line}{after}")
}

/// Where a word stands: whole, or else at the beginning of others, or else within them.
fn places_of(folded: &[char], index: usize, word: &str) -> Vec<Place> {
    let word: Vec<char> = word.chars().collect();
    let found: Vec<Place> = folded
        .windows(word.len().max(1))
        .enumerate()
        .filter(|(_, window)| *window == word.as_slice())
        .map(|(begin, _)| Place { word: index, begin, end: begin + word.len() })
        .collect();
    let is_begun = |place: &Place| place.begin == 0 || !folded[place.begin - 1].is_alphanumeric();
    let is_whole =
        |place: &Place| is_begun(place) && folded.get(place.end).is_none_or(|next| !next.is_alphanumeric());
    let mut chosen: Vec<Place> = found.iter().copied().filter(is_whole).collect();
    if chosen.is_empty() {
        chosen = found.iter().copied().filter(is_begun).collect();
    }
    if chosen.is_empty() {
        chosen = found;
    }
    chosen.truncate(PLACES);
    chosen
}

/// Where the most words stand within a margin: the beginning of the first of them and the end of the last.
fn densest(places: &[Place]) -> (usize, usize) {
    let mut best = (0, 0);
    let mut most = 0;
    for (index, first) in places.iter().enumerate() {
        let (mut words, mut last) = (vec![first.word], first.end);
        let margin = first.begin + EXCERPT_MARGIN;
        for place in places[index + 1..].iter().take_while(|place| place.begin < margin) {
            if place.end <= margin && !words.contains(&place.word) {
                words.push(place.word);
                last = last.max(place.end);
            }
        }
        if words.len() > most {
            (best, most) = ((first.begin, last), words.len());
        }
    }
    best
}

/// A beginning that is not within a word, unless all is one until the found word.
fn after_a_gap(letters: &[char], begin: usize, found: usize) -> usize {
    if begin == 0 || letters[begin - 1].is_whitespace() {
        return begin;
    }
    let gap = letters[begin..found].iter().position(|c| c.is_whitespace());
    gap.map_or(begin, |gap| begin + gap + 1)
}

/// An end that is not within a word, unless all is one from the found words on.
fn before_a_gap(letters: &[char], found: usize, end: usize) -> usize {
    if letters.get(end).is_none_or(|c| c.is_whitespace()) {
        return end;
    }
    let gap = letters[found..end].iter().rposition(|c| c.is_whitespace());
    gap.map_or(end, |gap| found + gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, words: &[&str]) -> String {
        excerpt_around(text, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn an_excerpt_is_cut_between_words() {
        let long = format!("{}needle {}", "alphabet ".repeat(30), "soup of letters ".repeat(30));
        let excerpt = shown(&long, &["needle"]);
        let words: Vec<&str> = excerpt.split(' ').collect();
        assert_eq!((words.first(), words.last()), (Some(&"…"), Some(&"…")), "{excerpt}");
        let is_whole = |word: &&str| ["…", "alphabet", "needle", "soup", "of", "letters"].contains(word);
        assert!(words.iter().all(is_whole), "{excerpt}");
        assert!(excerpt.contains(" needle "), "{excerpt}");
    }

    /// `search unknown subcommand` showed a place with neither word whole.
    #[test]
    fn whole_words_that_stand_together_are_shown_before_parts_of_others() {
        let filler = "nothing of note here ".repeat(20);
        let text =
            format!("subcommands unknowns {filler}unknown {filler}error: Unknown subcommand 'x' {filler}");
        let excerpt = shown(&text, &["unknown", "subcommand"]);
        assert!(excerpt.contains("error: Unknown subcommand 'x'"), "{excerpt}");
    }

    #[test]
    fn an_excerpt_is_bounded_although_much_stands_between_the_words_of_a_phrase() {
        let text = format!("{} begin{}end {}", "ß ".repeat(100), "…".repeat(20_000), "ß ".repeat(100));
        let place = text.find("begin").expect("it begins")..text.find("end").expect("it ends") + 3;
        let excerpt = excerpt_of(&text, place);
        assert!(excerpt.contains("begin…") && excerpt.ends_with(" …"), "{excerpt}");
        assert!(excerpt.chars().count() <= EXCERPT_MARGIN + LONGEST_PLACE + 4, "{excerpt}");
        let long = "y".repeat(60_000);
        assert!(shown(&long, &[&long]).chars().count() <= LONGEST_PLACE + 4);
    }

    #[test]
    fn what_is_short_or_one_word_is_kept() {
        assert_eq!(shown("a b\n  c", &["b"]), "a b c");
        assert_eq!(shown("nothing is found", &["else"]), "nothing is found");
        assert_eq!(shown("", &["b"]), "");
        let path = "/x".repeat(200);
        assert_eq!(shown(&path, &["x"]).chars().count(), 162);
        let word = "y".repeat(300);
        assert_eq!(shown(&word, &[&word]), word);
    }
}
