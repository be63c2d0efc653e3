//! Which settings make runs not comparable: one [`table`], read from top to bottom; the first rule that names a setting
//! decides.
//!
//! A setting that *is* the harness or the model is what one compares, and no difference.

mod table;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) use self::table::RULES;
use super::keys::Key;

/// What another value of a setting does to a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It is what is compared, or another line says it: it is left out.
    Ignored,
    /// It belongs to the harness: left out where harnesses differ, else its effect cannot be ruled out.
    OfHarness,
    /// It belongs to the model or its endpoint: left out where models differ, else its effect cannot be ruled out.
    OfModel,
    /// It is what a simulated model can do: left out where it follows from the model's name, else not comparable.
    OfSimulatedModel,
    /// Stamina under different values must not be compared.
    NotComparable,
    /// It may matter.
    CannotBeRuledOut,
    /// It does not matter.
    Harmless,
}

/// Whether episodes continue after a failed turn. It has no effect on stamina, and one on all that counts the turns after it.
const AFTER_FAILURE: &str = "fail_stop";

/// Labels of the settings that this program declares and rules name, by key.
static DECLARED: LazyLock<BTreeMap<&str, String>> = LazyLock::new(|| {
    let is_declared = |rule: &&Rule| rule.label == Label::Declared;
    let keys = RULES.iter().filter(is_declared).flat_map(|rule| rule.keys);
    keys.filter_map(|key| Some((*key, ::settings::declaration(key)?.label_with_unit()))).collect()
});

/// What a setting is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    /// As its source calls it.
    OfSource,
    /// This, whatever its name in the source.
    Is(&'static str),
    /// As the crate `settings` declares it.
    Declared,
}

/// A rule.
#[derive(Debug)]
pub(crate) struct Rule {
    /// What the setting is called.
    label: Label,
    /// Names that it has, see [`Key::matches_pattern`].
    pub(crate) keys: &'static [&'static str],
    /// What it does.
    pub(crate) effect: Effect,
    /// Of a number: whom more of it favors, `longer time favors`.
    pub(crate) favors: Option<&'static str>,
    /// What a difference means, in words.
    pub(crate) note: &'static str,
    /// Whether our own runner means "no limit" where it does not write it.
    pub(crate) unlimited: bool,
}

impl Rule {
    /// What the setting is called; `None` = as its source calls it.
    pub(crate) fn label(&self) -> Option<&'static str> {
        match self.label {
            Label::OfSource => None,
            Label::Is(label) => Some(label),
            Label::Declared => self.keys.first().and_then(|key| DECLARED.get(key)).map(String::as_str),
        }
    }
}

/// Whether this is the label of the setting that says whether episodes continue after a failed turn.
pub(crate) fn is_after_failure(label: &str) -> bool {
    DECLARED.get(AFTER_FAILURE).is_some_and(|declared| declared == label)
}

/// A rule of settings with a label of its own; `""` = each as its source calls it.
const fn rule(
    label: &'static str,
    keys: &'static [&'static str],
    effect: Effect,
    note: &'static str,
) -> Rule {
    let label = if label.is_empty() { Label::OfSource } else { Label::Is(label) };
    Rule { label, keys, effect, favors: None, note, unlimited: false }
}

/// A rule of one setting of this program.
const fn declared(key: &'static [&'static str; 1], effect: Effect, note: &'static str) -> Rule {
    Rule { label: Label::Declared, ..rule("", key, effect, note) }
}

/// Lists of which the order means nothing: Python writes its sets in any order.
pub(crate) const SETS: [&str; 11] = [
    "include_exceptions",
    "exclude_exceptions",
    "task_names",
    "exclude_task_names",
    "datasets.*",
    "*tools",
    "skills",
    "tags",
    "*hosts",
    "*domains",
    "scenarios",
];

/// What applies where no rule does.
static OTHER: Rule = rule("", &[], Effect::CannotBeRuledOut, "the effect of this setting is not known");

/// The rule for a setting.
pub(crate) fn rule_of(key: &Key) -> &'static Rule {
    static OF_HARNESS: Rule =
        rule("", &[], Effect::OfHarness, "the effect of this setting of the harness is not known");
    let found = RULES.iter().find(|rule| rule.keys.iter().any(|pattern| key.matches_pattern(pattern)));
    match found {
        Some(rule) => rule,
        None if key.is_of_harness => &OF_HARNESS,
        None => &OTHER,
    }
}
