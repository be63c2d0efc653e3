//! What a search looks for: words and phrases, and how well a text matches them.

use std::ops::Range;

use crate::excerpt::{excerpt_around, excerpt_of};

/// How well a place matches a search. The best one is the least.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchRank {
    /// The words stand there as a phrase: adjacent and in order.
    #[default]
    Phrase,
    /// Every word stands there.
    Words,
    /// Some words stand there, and the others in the same file or attempt.
    Parts,
}

/// A word of a search, or a phrase in quotation marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTerm {
    /// In lower case, with its punctuation.
    text: String,
    /// Its letters and digits, as the index has them.
    tokens: Vec<String>,
    is_quoted: bool,
}

impl SearchTerm {
    fn new(text: &str, is_quoted: bool) -> Self {
        Self { text: text.to_lowercase(), tokens: tokens_of(text), is_quoted }
    }

    /// The text in lower case.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is a phrase in quotation marks.
    pub const fn is_quoted(&self) -> bool {
        self.is_quoted
    }

    /// Where it stands in a text, whatever punctuation is there. The last letters of a word may be missing, those of a phrase in
    /// quotation marks not.
    pub fn place_in(&self, text: &str) -> Option<Range<usize>> {
        place_of_sequence(text, &self.tokens, !self.is_quoted)
    }

    fn is_in_a_field(&self, fields: &[&str]) -> bool {
        fields.iter().any(|field| self.place_in(field).is_some())
    }

    /// The term as a phrase of FTS5.
    fn fts_phrase(&self) -> String {
        fts_phrase(&self.text, !self.is_quoted)
    }
}

/// What a search looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    terms: Vec<SearchTerm>,
    /// The words of all terms in order.
    tokens: Vec<String>,
    /// Whether the last letters of the last word may be missing.
    is_open: bool,
}

impl SearchQuery {
    /// Reads a query: words, and phrases in quotation marks. A mark that no other one closes is ignored, and so is an empty phrase.
    pub fn new(text: &str) -> Self {
        let pieces: Vec<&str> = text.split('"').collect();
        let mut terms = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            let words = piece.split_whitespace();
            // A mark stands before each piece with an odd index, and after each but the last.
            if index % 2 == 1 && index + 1 < pieces.len() {
                let phrase = SearchTerm::new(&words.collect::<Vec<_>>().join(" "), true);
                terms.extend((!phrase.tokens.is_empty()).then_some(phrase));
            } else {
                terms.extend(words.map(|word| SearchTerm::new(word, false)));
            }
        }
        let tokens = terms.iter().flat_map(|term| term.tokens.iter().cloned()).collect();
        let last = terms.iter().rfind(|term| !term.tokens.is_empty());
        let is_open = last.is_some_and(|term| !term.is_quoted);
        Self { terms, tokens, is_open }
    }

    /// The words and phrases, in order.
    pub fn terms(&self) -> &[SearchTerm] {
        &self.terms
    }

    /// The texts of the terms, in lower case.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.terms.iter().map(|term| term.text.clone()).collect()
    }

    /// The terms that the index can find.
    fn indexed_terms(&self) -> impl Iterator<Item = &SearchTerm> {
        self.terms.iter().filter(|term| !term.tokens.is_empty())
    }

    /// The query of FTS5 for texts with every term; `None` = there are no words.
    pub(crate) fn match_all(&self) -> Option<String> {
        let phrases: Vec<String> = self.indexed_terms().map(SearchTerm::fts_phrase).collect();
        (!phrases.is_empty()).then(|| phrases.join(" AND "))
    }

    /// The query of FTS5 for texts with all terms as one phrase; `None` = there is only one term, which is one.
    pub(crate) fn match_phrase(&self) -> Option<String> {
        let texts: Vec<&str> = self.indexed_terms().map(SearchTerm::text).collect();
        (texts.len() > 1).then(|| fts_phrase(&texts.join(" "), self.is_open))
    }

    /// Whether a text may hold every term without the phrase: there are several.
    fn has_several_terms(&self) -> bool {
        self.indexed_terms().nth(1).is_some()
    }

    /// Where all words stand in a text as one phrase.
    fn place_of_phrase(&self, text: &str) -> Option<Range<usize>> {
        place_of_sequence(text, &self.tokens, self.is_open)
    }

    /// Whether a text has all words as one phrase.
    pub fn has_phrase_in(&self, text: &str) -> bool {
        self.place_of_phrase(text).is_some()
    }

    /// How many of the words and phrases the fields of a text have.
    pub(crate) fn count_in(&self, fields: &[&str]) -> usize {
        self.indexed_terms().filter(|term| term.is_in_a_field(fields)).count()
    }

    /// How well the fields of a text match. A phrase stands within one of them.
    pub(crate) fn rank_in(&self, fields: &[&str]) -> MatchRank {
        if fields.iter().any(|field| self.has_phrase_in(field)) {
            MatchRank::Phrase
        } else if self.has_several_terms() && self.indexed_terms().all(|term| term.is_in_a_field(fields)) {
            MatchRank::Words
        } else {
            MatchRank::Parts
        }
    }

    /// Whether the index may find a text with the words in which they stand otherwise: it ignores accents.
    pub(crate) fn may_be_accented_in(&self, fields: &[&str]) -> bool {
        !self.tokens.iter().all(|token| token.is_ascii()) || !fields.iter().all(|field| field.is_ascii())
    }

    /// The words of a text around the phrase, or else around a phrase in quotation marks, or else around the most of the words.
    pub fn excerpt(&self, text: &str) -> String {
        let words: Vec<String> =
            self.terms.iter().flat_map(|term| term.text.split_whitespace()).map(str::to_owned).collect();
        // One word stands in many places, and one where it is whole, with its punctuation, is shown first.
        if let [word] = words.as_slice()
            && (words == self.tokens || text.to_lowercase().contains(word.as_str()))
        {
            return excerpt_around(text, &words);
        }
        let quoted = || self.terms.iter().filter(|term| term.is_quoted).find_map(|term| term.place_in(text));
        match self.place_of_phrase(text).or_else(quoted) {
            Some(place) => excerpt_of(text, place),
            None => excerpt_around(text, &words),
        }
    }
}

/// Hits of several kinds in one list: the better rank first, and within a rank the kinds in turn. Each kind keeps its order.
pub fn by_rank<T>(kinds: Vec<Vec<(MatchRank, T)>>) -> Vec<T> {
    let mut hits = Vec::new();
    for (kind, ranked) in kinds.into_iter().enumerate() {
        let mut places = [0_usize; 3];
        for (rank, hit) in ranked {
            let place = &mut places[rank as usize];
            hits.push(((rank, *place, kind), hit));
            *place += 1;
        }
    }
    hits.sort_by_key(|(order, _)| *order);
    hits.into_iter().map(|(_, hit)| hit).collect()
}

/// A phrase of FTS5; an open one may end within a word.
fn fts_phrase(text: &str, is_open: bool) -> String {
    let star = if is_open { "*" } else { "" };
    format!("\"{}\"{star}", text.replace('"', "\"\""))
}

/// The ranges of the words of a text.
fn words_in(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut searched = 0;
    std::iter::from_fn(move || {
        let begin = searched + text[searched..].find(char::is_alphanumeric)?;
        let length = text[begin..].find(|c: char| !c.is_alphanumeric());
        searched = length.map_or(text.len(), |length| begin + length);
        Some(begin..searched)
    })
}

fn folded(word: &str) -> impl Iterator<Item = char> {
    word.chars().flat_map(char::to_lowercase)
}

fn tokens_of(text: &str) -> Vec<String> {
    words_in(text).map(|word| folded(&text[word]).collect()).collect()
}

/// Whether a word of a text is the token, or begins with it.
fn is_token(word: &str, token: &str, is_open: bool) -> bool {
    // Most words are. No letter of ASCII becomes several in lower case, so the bytes are compared.
    if word.is_ascii() {
        let begin = word.as_bytes().get(..token.len());
        return (is_open || word.len() == token.len())
            && begin.is_some_and(|begin| begin.eq_ignore_ascii_case(token.as_bytes()));
    }
    let mut letters = folded(word);
    token.chars().all(|letter| letters.next() == Some(letter)) && (is_open || letters.next().is_none())
}

/// Where some words end that a text begins with; with `is_open`, the last letters of the last one may be missing.
fn end_of_sequence(text: &str, tokens: &[String], is_open: bool) -> Option<usize> {
    let (last, others) = tokens.split_last()?;
    let mut words = words_in(text);
    for token in others {
        if !is_token(&text[words.next()?], token, false) {
            return None;
        }
    }
    let end = words.next()?;
    is_token(&text[end.clone()], last, is_open).then_some(end.end)
}

/// Where some words stand in a text one after the other; with `is_open`, the last letters of the last one may be missing.
fn place_of_sequence(text: &str, tokens: &[String], is_open: bool) -> Option<Range<usize>> {
    let sequence_at = |begin: usize| Some(begin..begin + end_of_sequence(&text[begin..], tokens, is_open)?);
    if !text.is_ascii() {
        return words_in(text).find_map(|word| sequence_at(word.start));
    }
    // Most texts are ASCII, and a search reads megabytes of them: only words that begin with the same letter are compared.
    let bytes = text.as_bytes();
    let first = *tokens.first()?.as_bytes().first()?;
    let begins_word = |index: usize| index == 0 || !bytes[index - 1].is_ascii_alphanumeric();
    (0..bytes.len())
        .filter(|&index| bytes[index].eq_ignore_ascii_case(&first) && begins_word(index))
        .find_map(sequence_at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The words of a text are compared one by one, in lower case.
    fn plain_place(text: &str, tokens: &[String], is_open: bool) -> Option<Range<usize>> {
        let words: Vec<Range<usize>> = words_in(text).collect();
        let low = tokens_of(text);
        let begin = low.windows(tokens.len()).position(|window| {
            let (last, others) = window.split_last().expect("a token");
            let (last_token, other_tokens) = tokens.split_last().expect("a token");
            others == other_tokens && if is_open { last.starts_with(last_token) } else { last == last_token }
        })?;
        Some(words[begin].start..words[begin + tokens.len() - 1].end)
    }

    proptest! {
        #[test]
        fn a_sequence_is_found_where_its_words_stand_one_after_the_other(
            text in prop_oneof!["([aAbB]{1,3}[ .\\n-]{0,2}){0,12}", "([aAbBßÄéİ]{1,3}[ .\\n-]{1,2}){0,12}"],
            query in "([aAbBßÄéİ]{1,2} ?){1,3}",
            is_open: bool,
        ) {
            let tokens = tokens_of(&query);
            prop_assert_eq!(place_of_sequence(&text, &tokens, is_open), plain_place(&text, &tokens, is_open));
        }
    }

    fn terms(text: &str) -> Vec<(String, bool)> {
        let query = SearchQuery::new(text);
        query.terms().iter().map(|term| (term.text().to_owned(), term.is_quoted())).collect()
    }

    #[test]
    fn marks_in_pairs_make_a_phrase_and_others_are_ignored() {
        let term = |text: &str, is_quoted: bool| (text.to_owned(), is_quoted);
        assert_eq!(terms("No such"), [term("no", false), term("such", false)]);
        assert_eq!(terms("\"No  such\" note"), [term("no such", true), term("note", false)]);
        assert_eq!(terms("no \"such note"), [term("no", false), term("such", false), term("note", false)]);
        // The first mark and the second make a pair.
        assert_eq!(terms("5\" \"a b\""), [term("5", false), term("a", false), term("b", false)]);
        assert_eq!(terms("\"\" a \"…\""), [term("a", false)]);
    }

    #[test]
    fn queries_of_the_index_have_every_word_or_the_phrase() {
        let all = |text: &str| SearchQuery::new(text).match_all().unwrap_or_default();
        let phrase = |text: &str| SearchQuery::new(text).match_phrase().unwrap_or_default();
        assert_eq!(all("no such"), "\"no\"* AND \"such\"*");
        assert_eq!(phrase("no such"), "\"no such\"*");
        assert_eq!((all("\"no such\""), phrase("\"no such\"")), ("\"no such\"".to_owned(), String::new()));
        assert_eq!(phrase("table \"no such\""), "\"table no such\"");
        assert_eq!(phrase("one"), "");
        for nothing in ["", "\"", "\"\"", "\" \"", "\"…\"", "-- ?"] {
            assert_eq!((all(nothing), phrase(nothing)), (String::new(), String::new()), "{nothing}");
        }
    }

    #[test]
    fn a_phrase_ranks_before_words_and_words_before_a_part_of_them() {
        let rank = |query: &str, text: &str| SearchQuery::new(query).rank_in(&[text]);
        assert_eq!(rank("unknown subcommand", "An unknown unknown\nSubcommands fail"), MatchRank::Phrase);
        assert_eq!(rank("unknown subcommand", "unknowns: subcommand"), MatchRank::Words);
        assert_eq!(rank("unknown subcommand", "Add a new subcommand"), MatchRank::Parts);
        assert_eq!(rank("\"no such note\"", "no such noted"), MatchRank::Parts, "a quoted word is whole");
        assert_eq!(rank("/items: 404", "GET /items 404"), MatchRank::Phrase, "punctuation does not count");
        assert_eq!(rank("it's -- ÜBER", "it's über"), MatchRank::Phrase);
        let rank = |query: &str| SearchQuery::new(query).rank_in(&["no such", "note is missing"]);
        assert_eq!(rank("such note"), MatchRank::Words, "a phrase does not stand in two fields");
        assert_eq!(rank("\"such note\""), MatchRank::Parts);
        assert_eq!(rank("note is"), MatchRank::Phrase);
    }

    #[test]
    fn the_excerpt_shows_the_phrase_and_not_its_words_elsewhere() {
        let filler = "nothing of note here ".repeat(20);
        let text = format!("no note is such {filler} error: no\nsuch note: 7 {filler}");
        for query in ["no such note", "\"no such note\"", "error \"such note\""] {
            let excerpt = SearchQuery::new(query).excerpt(&text);
            assert!(excerpt.contains("error: no such note: 7"), "{query}: {excerpt}");
        }
        assert_eq!(SearchQuery::new("…").excerpt("a b"), "a b");
    }

    /// A search for `/users` showed where the file `users.py` stands.
    #[test]
    fn the_excerpt_shows_one_word_with_its_punctuation() {
        let filler = "nothing of note here ".repeat(20);
        let text = format!("users.py {filler} GET /Users gave 404 {filler}");
        let excerpt = |query: &str| SearchQuery::new(query).excerpt(&text);
        assert!(excerpt("/users").contains("GET /Users gave 404"), "{}", excerpt("/users"));
        assert!(excerpt("users.").starts_with("users.py"), "{}", excerpt("users."));
        // Where it stands nowhere with its punctuation, it is shown without.
        assert!(excerpt("(users)").starts_with("users.py"), "{}", excerpt("(users)"));
    }

    #[test]
    fn better_ranks_come_first_and_kinds_in_turn() {
        use MatchRank::{Parts, Phrase, Words};
        let requests = vec![(Phrase, "r1"), (Phrase, "r2"), (Words, "r3"), (Words, "r4")];
        let tests = vec![(Parts, "t1"), (Phrase, "t2"), (Words, "t3")];
        assert_eq!(by_rank(vec![requests, tests]), ["r1", "t2", "r2", "r3", "t3", "r4", "t1"]);
    }
}
