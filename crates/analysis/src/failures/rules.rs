//! The rules, as tables from top to bottom: the first applicable rule decides.
//!
//! [`ATTEMPT_RULES`] use the end of an attempt: its end reason, its exception and, if they were read, the ends of its logs.
//! [`TEST_RULES`] use one failing test. A rule has a constant id, its class, and a sentence about when it applies. Each rule
//! has an example and a counter-example in `rules/tests.rs`.

mod attempt_rules;
mod test_rules;
#[cfg(test)]
mod tests;

use serde::Serialize;

use super::FailureClass;

pub use attempt_rules::ATTEMPT_RULES;
pub use test_rules::TEST_RULES;

/// A rule over evidence of one kind.
#[derive(Debug)]
pub struct Rule<E: 'static> {
    /// Its id, which is shown beside its decision.
    pub id: &'static str,
    /// Its class.
    pub class: FailureClass,
    /// When it applies, as a sentence.
    pub about: &'static str,
    /// Whether it applies.
    pub applies: fn(&E) -> bool,
}

/// The first applicable rule of a table.
pub(super) fn first<E>(rules: &'static [Rule<E>], evidence: &E) -> Option<&'static Rule<E>> {
    rules.iter().find(|rule| (rule.applies)(evidence))
}

/// The input of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSubject {
    /// The end of an attempt.
    Attempt,
    /// One failing test.
    Test,
}

/// A rule in words, for pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RuleText {
    /// Its id.
    pub id: &'static str,
    /// Its class.
    pub class: FailureClass,
    /// Its input.
    pub looks_at: RuleSubject,
    /// When it applies, as a sentence.
    pub about: &'static str,
}

/// Every rule in words, in their order.
pub fn rules() -> impl Iterator<Item = RuleText> {
    fn text<E>(rule: &Rule<E>, looks_at: RuleSubject) -> RuleText {
        RuleText { id: rule.id, class: rule.class, looks_at, about: rule.about }
    }
    let attempts = ATTEMPT_RULES.iter().map(|rule| text(rule, RuleSubject::Attempt));
    attempts.chain(TEST_RULES.iter().map(|rule| text(rule, RuleSubject::Test)))
}

/// The sentence of a rule.
pub fn rule_text(id: &str) -> Option<RuleText> {
    rules().find(|rule| rule.id == id)
}
