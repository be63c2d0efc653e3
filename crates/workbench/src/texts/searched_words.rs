//! The words and phrases of a search, looked for in the texts of a transcript or log.

use store::{MatchRank, SearchQuery};

/// A place in a file, and how many of the words it holds.
pub(super) struct Place {
    /// The step or line.
    pub(super) number: u32,
    pub(super) text: String,
    pub(super) words: u32,
    /// Whether it holds all of them as a phrase.
    pub(super) has_phrase: bool,
}

/// The words that are looked for.
pub(super) struct SearchedWords(SearchQuery);

impl SearchedWords {
    pub(super) fn new(text: &str) -> Self {
        Self(SearchQuery::new(text))
    }

    /// Which of the words begin in a text, as bits; words after the 64th are not looked for. Punctuation does not count, as in the
    /// index, and what is nothing else is everywhere.
    fn found_in(&self, text: &str) -> u64 {
        let low = text.to_lowercase();
        let terms = self.0.terms().iter().take(64).enumerate();
        terms
            .filter(|(_, term)| {
                let word = term.text();
                if term.is_quoted() || !word.chars().all(char::is_alphanumeric) {
                    return !word.contains(char::is_alphanumeric) || term.place_in(text).is_some();
                }
                low.match_indices(word).any(|(offset, _)| !low[..offset].ends_with(char::is_alphanumeric))
            })
            .fold(0, |bits, (index, _)| bits | (1 << index))
    }

    fn all(&self) -> u64 {
        u64::MAX.checked_shr(64_u32.saturating_sub(self.0.terms().len() as u32)).unwrap_or(0)
    }

    /// The place with the phrase, or else the most words, among texts that together hold every word; the first of several.
    pub(super) fn best<'a>(
        &self,
        texts: impl Iterator<Item = (u32, &'a str)>,
        so_far: &mut (u64, Option<Place>),
    ) {
        for (number, text) in texts {
            let bits = self.found_in(text);
            so_far.0 |= bits;
            let words = bits.count_ones();
            let has_phrase = bits == self.all() && self.0.has_phrase_in(text);
            let best = so_far.1.as_ref().map_or((false, 0), |place| (place.has_phrase, place.words));
            if (has_phrase, words) > best {
                so_far.1 = Some(Place { number, text: text.to_owned(), words, has_phrase });
                if has_phrase {
                    return;
                }
            }
        }
    }

    /// The best place, if every word was found.
    pub(super) fn place(&self, (bits, place): (u64, Option<Place>)) -> Option<Place> {
        place.filter(|_| bits == self.all())
    }

    /// How well a place matches.
    pub(super) fn rank(&self, place: &Place) -> MatchRank {
        if place.has_phrase {
            MatchRank::Phrase
        } else if place.words == self.all().count_ones() {
            MatchRank::Words
        } else {
            MatchRank::Parts
        }
    }

    pub(super) fn snippet(&self, text: &str) -> String {
        self.0.excerpt(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_they_begin_and_the_best_place_is_the_first_with_the_most() {
        let wanted = SearchedWords::new("Route items 404");
        assert_eq!(wanted.all(), 0b111);
        assert_eq!(wanted.found_in("GET /items: 404"), 0b110);
        assert_eq!(wanted.found_in("reroute"), 0, "a word begins where a word begins");
        let punctuated = SearchedWords::new("/items: -- \"404\"");
        assert_eq!(punctuated.found_in("GET items gave 404"), 0b111);
        assert_eq!(punctuated.found_in("GET subitems"), 0b010);
        let lines = ["no route", "items", "GET /items gave 404", "items 404", "route"];
        let mut so_far = (0, None);
        wanted.best((1..).zip(lines), &mut so_far);
        let place = wanted.place(so_far).expect("every word is there");
        assert_eq!((place.number, place.words), (3, 2));
        let mut so_far = (0, None);
        wanted.best((1..).zip(["items 404"]), &mut so_far);
        assert!(wanted.place(so_far).is_none(), "a word is missing");
        let rank_of = |query: &str, lines: &[&str]| {
            let (wanted, mut so_far) = (SearchedWords::new(query), (0, None));
            wanted.best((1..).zip(lines.iter().copied()), &mut so_far);
            wanted.place(so_far).map(|place| (place.number, wanted.rank(&place)))
        };
        let lines = ["such a note, no", "error: no such  note: 7", "no such noted"];
        assert_eq!(rank_of("no such note", &lines), Some((2, MatchRank::Phrase)));
        assert_eq!(rank_of("\"no such note\"", &lines), Some((2, MatchRank::Phrase)));
        assert_eq!(rank_of("\"no such note\"", &[lines[0], lines[2]]), None);
        assert_eq!(rank_of("no such note", &lines[..1]), Some((1, MatchRank::Words)));
        assert_eq!(rank_of("such \"note", &["a note", "such"]), Some((1, MatchRank::Parts)));
    }
}
