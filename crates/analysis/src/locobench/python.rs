//! The functions on strings of Python that the metrics need.

use super::word::RANGES;

/// Whether a character belongs to a word (`\w`): letters, digits and the underscore.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    let code = u32::from(c);
    let after = RANGES.partition_point(|(first, _)| *first <= code);
    after.checked_sub(1).is_some_and(|range| code <= RANGES[range].1)
}

/// Whether a character is white space (`str.isspace`, `\s`): Unicode's, and the four separators U+001C to U+001F.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `str.strip()`.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.split()`: the pieces between white space.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// `str.count`: how often a text occurs, without overlaps.
pub(super) fn count(text: &str, pattern: &str) -> usize {
    text.matches(pattern).count()
}

/// The text without white space (`\s*`) at its start.
fn after_space(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// Splits a word (`\w+`) from the start of a text; `None` = there is none.
fn split_word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// The rest after `def` and white space at the start of a text.
fn after_def(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("def")?;
    let name = after_space(rest);
    (name.len() < rest.len()).then_some(name)
}

/// How often `def\s+\w+` matches.
pub(super) fn functions(text: &str) -> usize {
    let (mut found, mut rest) = (0, text);
    while let Some(index) = rest.find("def") {
        rest = &rest[index..];
        match after_def(rest).and_then(split_word) {
            Some((_, behind)) => {
                found += 1;
                rest = behind;
            }
            None => rest = &rest["def".len()..],
        }
    }
    found
}

/// The names that `def\s+(\w+)\s*\(` finds.
pub(super) fn defined_names(text: &str) -> Vec<&str> {
    let (mut names, mut rest) = (Vec::new(), text);
    while let Some(index) = rest.find("def") {
        rest = &rest[index..];
        let named = after_def(rest).and_then(split_word);
        match named.and_then(|(name, behind)| Some((name, after_space(behind).strip_prefix('(')?))) {
            Some((name, behind)) => {
                names.push(name);
                rest = behind;
            }
            None => rest = &rest["def".len()..],
        }
    }
    names
}

/// The names that `(\w+)\s*\(` finds.
pub(super) fn called_names(text: &str) -> Vec<&str> {
    let (mut names, mut rest) = (Vec::new(), text);
    while let Some(index) = rest.find(is_word) {
        let Some((name, behind)) = split_word(&rest[index..]) else { break };
        match after_space(behind).strip_prefix('(') {
            Some(inside) => {
                names.push(name);
                rest = inside;
            }
            None => rest = behind,
        }
    }
    names
}

/// Whether a stripped line matches `^(import|from)\s+[\w.]+`.
pub(super) fn is_valid_import(line: &str) -> bool {
    ["import", "from"].iter().filter_map(|keyword| line.strip_prefix(keyword)).any(|rest| {
        let module = after_space(rest);
        module.len() < rest.len() && module.starts_with(|c| is_word(c) || c == '.')
    })
}

/// The maximal runs of word characters. A match of a pattern between two `\b` whose characters all belong to words is one.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|run| !run.is_empty())
}

/// How often `\b[a-z]+_[a-z_]+\b` and `\b[a-z][a-zA-Z]+[A-Z][a-zA-Z]*\b` match.
pub(super) fn naming_styles(text: &str) -> (usize, usize) {
    let (mut snake, mut camel) = (0, 0);
    for run in runs(text).map(str::as_bytes) {
        if !run[0].is_ascii_lowercase() {
            continue;
        }
        if run.iter().all(|b| b.is_ascii_lowercase() || *b == b'_') {
            snake +=
                usize::from(run.iter().position(|b| *b == b'_').is_some_and(|index| index + 1 < run.len()));
        } else if run.iter().all(u8::is_ascii_alphabetic) {
            camel += usize::from(run.iter().skip(2).any(u8::is_ascii_uppercase));
        }
    }
    (snake, camel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_match_python() {
        assert!(is_word('ß') && is_word('漢') && is_word('²') && is_word('Ⅷ') && is_word('_'));
        // A vowel sign, a combining accent and a circled letter are alphabetic for Rust, but not part of a word for Python.
        assert!(!is_word('\u{93e}') && !is_word('\u{301}') && !is_word('Ⓐ') && !is_word('-'));
        assert!(is_space('\u{1f}') && is_space('\u{2003}') && !is_space('\u{200b}'));
        assert_eq!(words(" a\u{2003}b\u{1f}c\n").collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn patterns_match_like_in_python() {
        assert_eq!(functions("undef a\ndef  b(\ndefine\ndef\u{1f}c def def d def"), 4);
        assert_eq!(defined_names("def f (x):\n def g:\ndef h\u{2003}("), ["f", "h"]);
        assert_eq!(called_names("if (a.b(c)) d [e](f) 漢(g"), ["if", "b", "漢"]);
        assert!(is_valid_import("import os") && is_valid_import("from .a import b"));
        assert!(!is_valid_import("import { a } from 'x'") && !is_valid_import("important"));
        assert_eq!(naming_styles("a_b a_ a__ _a_b a_b2 aB abC aBc é_a ab_c\u{301}"), (3, 1));
    }
}
