//! What of a word is in the index, and the query that finds it.

use std::collections::HashSet;
use std::hash::BuildHasher;

/// Letters of a word that are indexed.
const LETTERS: usize = 12;

/// Letters of a word with digits that are indexed at least; hashes and numbers are many, and few of them are looked for.
const LETTERS_WITH_DIGITS: usize = 4;

/// The beginning of a word that is indexed. That of the beginning of a word is the beginning of that of the word.
fn indexed_part(word: &str) -> &str {
    let digit = word.chars().take(LETTERS).position(|c| c.is_ascii_digit());
    let letters = digit.map_or(LETTERS, |at| (at + 2).clamp(LETTERS_WITH_DIGITS, LETTERS));
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
        // More letters than are indexed change nothing.
        word.extend(piece.chars().take(2 * LETTERS).flat_map(char::to_lowercase));
        let part = indexed_part(&word);
        if !words.contains(part) {
            words.insert(part.to_owned());
        }
    }
}

/// A query that finds texts with words that begin with each of the words; `None` = there is nothing to look for.
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
    fn long_words_and_numbers_are_indexed_by_their_beginning() {
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
        /// Whatever a word begins with finds it.
        #[test]
        fn the_indexed_part_of_a_beginning_begins_that_of_the_word(word in "[a-zß0-9]{1,30}", cut in 1usize..30) {
            let beginning: String = word.chars().take(cut).collect();
            prop_assert!(indexed_part(&word).starts_with(indexed_part(&beginning)));
        }
    }
}
