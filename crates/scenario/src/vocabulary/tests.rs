//! What holds for the words.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::ir::is_name;

/// Words that a server in Python cannot use as names.
const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not",
    "or", "pass", "raise", "return", "try", "while", "with", "yield", "match", "case", "type",
];

fn field_names(field: &FieldWord) -> Vec<&'static str> {
    std::iter::once(field.name).chain(field.others.iter().copied()).collect()
}

fn all_names(field: &FieldWord) -> Vec<&'static str> {
    let mut names = field_names(field);
    names.extend(field.verbs.iter().chain(&field.undoing));
    if let ValueDomain::Enum { values, .. } = &field.domain {
        for value in values {
            names.push(value.name);
            names.extend(value.others.iter().chain(&value.verbs));
        }
    }
    names
}

#[test]
fn every_line_is_read() {
    let words = vocabulary();
    assert_eq!(words.fields.len(), parse::lines(parse::FIELDS).count());
    assert_eq!(words.shared.len(), parse::lines(parse::SHARED_NOUNS).count());
    assert_eq!(words.children.len(), parse::lines(parse::CHILDREN).count());
    for (topic, (key, text)) in words.topics.iter().zip(parse::TOPICS) {
        assert_eq!(topic.fields.len() + topic.entities.len() + 1, parse::lines(text).count(), "{key}");
        assert_ne!(topic.title, topic.key);
    }
}

#[test]
fn there_is_enough_of_everything() {
    let words = vocabulary();
    assert!(words.topics.len() >= 24);
    assert!(words.shared.len() >= 25);
    assert!(words.fields.len() >= 150, "{}", words.fields.len());
    assert!(words.fields.iter().filter(|field| field.general).count() >= 60);
    for topic in &words.topics {
        assert!(topic.entities.len() >= 14, "{}", topic.key);
        assert!(topic.fields.len() >= 8, "{}", topic.key);
    }
}

#[test]
fn all_words_are_names() {
    let words = vocabulary();
    let entities = words.topics.iter().flat_map(|topic| &topic.entities).chain(&words.shared);
    for entity in entities {
        let others = entity.others.iter().flat_map(|(singular, plural)| [*singular, *plural]);
        for name in [entity.name, entity.plural].into_iter().chain(others) {
            assert!(is_name(name) && !KEYWORDS.contains(&name), "{name}");
            // Room for `_id` and for the names that are made of it.
            assert!(name.len() <= 24, "{name}");
        }
        assert!(!entity.others.is_empty(), "{}", entity.name);
        assert!(entity.fields.len() >= 3, "{}", entity.name);
    }
    for field in words.topics.iter().flat_map(|topic| &topic.fields).chain(&words.fields) {
        for name in all_names(field) {
            assert!(is_name(name) && !KEYWORDS.contains(&name) && name.len() <= 26, "{name}");
        }
        assert!(
            !field.others.is_empty() || matches!(field.domain, ValueDomain::Integer(2, 5 | 6)),
            "{}",
            field.name
        );
        if let ValueDomain::Enum { values, usual } = &field.domain {
            assert!(*usual >= 2 && values.len() > *usual, "{}", field.name);
            let mut seen_names = BTreeSet::new();
            for value in values {
                assert!(!value.others.is_empty(), "{} {}", field.name, value.name);
                for word in std::iter::once(&value.name).chain(&value.others) {
                    assert!(seen_names.insert(*word), "{} has {word} twice", field.name);
                }
            }
        }
    }
}

#[test]
fn no_word_means_two_things() {
    let words = vocabulary();
    for topic in &words.topics {
        let mut meanings: BTreeMap<&str, &str> = BTreeMap::new();
        for entity in topic.entities.iter().chain(&words.shared) {
            let others = entity.others.iter().flat_map(|(singular, plural)| [*singular, *plural]);
            for name in [entity.name, entity.plural].into_iter().chain(others) {
                let before = meanings.insert(name, entity.name);
                assert!(before.is_none(), "{}: {name} of {} and {before:?}", topic.key, entity.name);
            }
        }
        let mut main = BTreeSet::new();
        for field in topic.fields.iter().chain(&words.fields) {
            assert!(main.insert(field.name), "{}: {} twice", topic.key, field.name);
        }
        let mut meanings = main.clone();
        for field in topic.fields.iter().chain(&words.fields) {
            for other in &field.others {
                assert!(meanings.insert(other), "{}: {} ~ {other}", topic.key, field.name);
            }
        }
    }
}

#[test]
fn entities_name_what_exists() {
    let words = vocabulary();
    for topic in &words.topics {
        let names: BTreeSet<&str> =
            topic.entities.iter().chain(&words.shared).map(|entity| entity.name).collect();
        for entity in topic.entities.iter().chain(&words.shared) {
            for target in &entity.refers {
                assert!(
                    *target == "*" || names.contains(target),
                    "{}: {} refers to {target}",
                    topic.key,
                    entity.name
                );
                assert_ne!(*target, entity.name);
            }
            for field in &entity.fields {
                assert!(
                    words.field(topic.key, field).is_some(),
                    "{}: {} has {field}",
                    topic.key,
                    entity.name
                );
            }
        }
    }
    for child in &words.children {
        // The article follows the name.
        let before = child.word.about.split_once("{}").expect("the other entity").0;
        assert!(!before.ends_with("a ") && !before.ends_with("an "), "{}", child.word.about);
        for field in &child.word.fields {
            assert!(words.field("", field).is_some(), "{field}");
        }
    }
}
