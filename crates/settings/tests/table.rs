//! The table of settings says something, and nothing twice.

use std::collections::BTreeSet;

use settings::{DefaultValue, Key, KeyName, ValueKind, all, fields, keys, protocols};

#[test]
fn every_key_is_declared_once() {
    let mut known = BTreeSet::new();
    for key in keys() {
        assert!(known.insert(key.dotted()), "{} is declared twice", key.dotted());
    }
    assert!(known.len() > 60, "only {} keys", known.len());
}

#[test]
fn every_field_stands_in_the_form_once_and_its_further_keys_come_with_it() {
    let mut names = BTreeSet::new();
    for setting in fields() {
        assert!(names.insert(setting.field), "{} stands in the form twice", setting.field);
    }
    for part in all().filter(|setting| setting.is_part) {
        assert!(names.contains(part.field), "{:?} is part of no field", part.key);
    }
}

#[test]
fn every_setting_has_a_label_and_a_sentence() {
    for setting in all() {
        let name = setting.field;
        assert!(!setting.label.is_empty(), "{name}");
        assert!(
            setting.help.ends_with('.') && (setting.more.is_empty() || setting.more.ends_with('.')),
            "{name}"
        );
        for choice in setting.choices {
            assert!(!choice.label.is_empty(), "{name}: {}", choice.value);
            assert!(choice.help.is_empty() || choice.help.ends_with('.'), "{name}: {}", choice.value);
        }
    }
}

#[test]
fn every_default_is_a_value_that_its_key_takes() {
    for key in keys() {
        if let DefaultValue::Value(value) = key.setting.default {
            let pair = format!("{}={value}", key.dotted());
            assert!(settings::resolve(&[], std::slice::from_ref(&pair)).is_ok(), "{pair}");
        }
    }
}

#[test]
fn what_the_form_offers_is_what_a_key_takes() {
    for setting in all().filter(|setting| !setting.choices.is_empty()) {
        let offered: BTreeSet<String> =
            setting.choices.iter().map(|choice| choice.value.to_ascii_uppercase()).collect();
        let taken: BTreeSet<String> = match setting.takes {
            ValueKind::Word(words) => words.iter().map(|word| word.to_ascii_uppercase()).collect(),
            ValueKind::Truth => BTreeSet::from(["FALSE".to_owned(), "TRUE".to_owned()]),
            _ => BTreeSet::new(),
        };
        match (setting.field, setting.key) {
            // Another key has the answer: which benchmark, which of two names of the key, whether there is feedback.
            (_, KeyName::OfForm(..)) | ("source", _) => {}
            ("feedback", _) => assert!(offered.is_superset(&taken)),
            // Without a protocol its key is not given.
            ("protocol", _) => assert_eq!(offered.difference(&taken).collect::<Vec<_>>(), ["OWN"]),
            (name, _) => assert_eq!(offered, taken, "{name}"),
        }
    }
}

#[test]
fn every_protocol_has_its_word_and_sets_what_the_keys_take() {
    let kind_of_key = |name: &str| keys().iter().find(|key| key.dotted() == name).map(Key::takes);
    let words: Vec<&str> = protocols::ALL.iter().map(|protocol| protocol.word).collect();
    assert!(matches!(kind_of_key("harbor.protocol"), Some(ValueKind::Word(taken)) if taken == words));
    for protocol in protocols::ALL {
        let timeouts = kind_of_key("harbor.timeout");
        assert!(matches!(timeouts, Some(ValueKind::Word(taken)) if taken.contains(&protocol.timeout)));
        assert!((1..=1000).contains(&protocol.attempts), "{}", protocol.word);
    }
}
