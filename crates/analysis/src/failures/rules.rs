//! The rules, as tables that are read from top to bottom: the first that applies decides.
//!
//! [`ATTEMPT_RULES`] look at the end of an attempt: its end reason, its exception and, where they were read, the ends of
//! its logs. [`TEST_RULES`] look at one failing test. A rule has an id that does not change, the class it gives, and a
//! sentence that says when it applies; each has an example and a counter-example in `rules/tests.rs`.

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
    /// Its id, which stands beside what it decided.
    pub id: &'static str,
    /// What it gives.
    pub class: FailureClass,
    /// When it applies, in a sentence.
    pub about: &'static str,
    /// Whether it applies.
    pub applies: fn(&E) -> bool,
}

/// The first rule of a table that applies.
pub(super) fn first<E>(rules: &'static [Rule<E>], evidence: &E) -> Option<&'static Rule<E>> {
    rules.iter().find(|rule| (rule.applies)(evidence))
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LooksAt {
    /// The end of an attempt.
    Attempt,
    /// One failing test.
    Test,
}

/// A rule in words, for a page that says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RuleText {
    /// Its id.
    pub id: &'static str,
    /// What it gives.
    pub class: FailureClass,
    /// What it looks at.
    pub looks_at: LooksAt,
    /// When it applies, in a sentence.
    pub about: &'static str,
}

/// Every rule in words, in the order in which they are tried.
pub fn rules() -> impl Iterator<Item = RuleText> {
    fn text<E>(rule: &Rule<E>, looks_at: LooksAt) -> RuleText {
        RuleText { id: rule.id, class: rule.class, looks_at, about: rule.about }
    }
    let attempts = ATTEMPT_RULES.iter().map(|rule| text(rule, LooksAt::Attempt));
    attempts.chain(TEST_RULES.iter().map(|rule| text(rule, LooksAt::Test)))
}

/// The sentence of a rule.
pub fn rule_text(id: &str) -> Option<RuleText> {
    rules().find(|rule| rule.id == id)
}
