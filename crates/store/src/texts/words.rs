//! Which part of a word is in the index, and the query that finds it.

use std::collections::HashSet;
use std::hash::BuildHasher;

/// How many letters of a word are indexed.
const LETTERS: usize = 12;

/// How many letters of a word with digits are indexed at least. There are many hashes and numbers, and few searches for them.
const LETTERS_WITH_DIGITS: usize = 4;

/// The indexed start of a word. If a text is the start of a word, its indexed part is the start of that of the word.
fn indexed_part(word: &str) -> &str {
    let digit = word.chars().take(LETTERS).position(|c| c.is_ascii_digit());
    let letters = digit.map_or(LETTERS, |index| (index + 2).clamp(LETTERS_WITH_DIGITS, LETTERS));
    word.char_indices().nth(letters).map_or(word, |(end, _)| &word[..end])
}

/// Adds the indexed words of a text to those of other texts.
pub fn add_words<S: BuildHasher>(text: &str, words: &mut HashSet<String, S>) {
    let mut word = String::new();
    for piece in text.split(|c: char| !c.is_alphanumeric()) {
        if piece.is_empty() {
            continue;
        }
        word.clear();
        // Letters after the indexed ones change nothing.
        word.extend(piece.chars().take(2 * LETTERS).flat_map(char::to_lowercase));
        let part = indexed_part(&word);
        if !words.contains(part) {
            words.insert(part.to_owned());
        }
    }
}

/// A query for texts in which each of the words starts some word; `None` = there are no words.
pub(super) fn query(text: &str) -> Option<String> {
    let mut words = HashSet::new();
    add_words(text, &mut words);
    let mut words: Vec<String> = words.into_iter().map(|word| format!("\"{word}\"*")).collect();
    words.sort_unstable();
    (!words.is_empty()).then(|| words.join(" AND "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> HashSet<String> {
        let mut words = HashSet::new();
        add_words(text, &mut words);
        words
    }

    #[test]
    fn only_the_start_of_long_words_and_numbers_is_indexed() {
        for (word, part) in [
            ("timeout", "timeout"),
            ("responsibilities", "responsibili"),
            ("404", "404"),
            ("1732665600", "1732"),
            ("9f86d081884c7d65", "9f86"),
            ("turn12345", "turn12"),
        ] {
            assert_eq!(indexed_part(word), part, "{word}");
        }
        let found = words("GET /items?limit=10 → 404 Grüße_AN");
        for word in ["get", "items", "limit", "10", "404", "grüße", "an"] {
            assert!(found.contains(word), "{word} in {found:?}");
        }
    }

    proptest! {
        /// Every start of a word finds it.
        #[test]
        fn the_indexed_part_of_a_start_is_a_start_of_the_indexed_word(word in "[a-zß0-9]{1,30}", cut in 1usize..30) {
            let beginning: String = word.chars().take(cut).collect();
            prop_assert!(indexed_part(&word).starts_with(indexed_part(&beginning)));
        }
    }
}
