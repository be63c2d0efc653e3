//! Every rule decides an example of its own, and does not apply to a counter-example.

mod over_attempts;
mod over_tests;

use std::collections::{BTreeMap, BTreeSet};

use super::{ATTEMPT_RULES, TEST_RULES, rule_text, rules};

#[test]
fn rules_are_listed_with_ids_of_their_own_and_sentences() {
    let ids: BTreeSet<_> = rules().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), ATTEMPT_RULES.len() + TEST_RULES.len());
    let mut sentences: BTreeMap<&str, &str> = BTreeMap::new();
    for rule in rules() {
        assert!(rule.about.ends_with('.') && rule.about.len() > 15, "{rule:?}");
        assert_eq!(sentences.insert(rule.about, rule.id), None, "{}", rule.about);
        assert_eq!(rule_text(rule.id), Some(rule));
    }
    assert_eq!(rule_text("none"), None);
}
