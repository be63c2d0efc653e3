//! Whether a schema is valid: every rule that [`crate::ir`] and `docs/scenarios.md` state about schemas.
//!
//! Each submodule holds the rules of one part of a schema and adds a [`Fault`] for each rule that is broken; words are
//! made only then, because a check runs after every change that is tried. What is in a part that has a fault may be
//! left unchecked.

mod actions;
mod analytics;
mod conventions;
mod entities;
mod fields;
pub mod guards;
pub(crate) mod removed;
pub mod values;

pub(crate) use self::actions::{condition_fault, uses_param};
pub(crate) use self::entities::TAKEN_BY_CASES;
pub use self::entities::{can_filter, can_sort};
pub use self::fields::can_be_unique;
use crate::ir::{SCHEMA_VERSION, Schema};

/// The most entities of a schema.
pub const MOST_ENTITIES: usize = 60;
/// The most fields of an entity.
pub const MOST_FIELDS: usize = 40;
/// The most of anything else: actions of an entity, guards, effects and parameters of an action, values of an enum.
pub const MOST_PARTS: usize = 40;
/// The most analytics of a schema.
pub const MOST_ANALYTICS: usize = 200;

/// A rule that a schema breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where: `orders.total`, `conventions.pagination`, `analytics.revenue`.
    pub location: String,
    /// What is wrong, in words.
    pub message: String,
}

/// The faults found so far.
#[derive(Default)]
struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, location: impl Into<String>, message: impl Into<String>) {
        self.0.push(Fault { location: location.into(), message: message.into() });
    }
}

/// All rules that the schema breaks; none if it is valid. Never panics, whatever the schema says.
pub fn check(schema: &Schema) -> Vec<Fault> {
    let mut faults = Faults::default();
    if schema.version != SCHEMA_VERSION {
        faults.add("version", format!("the version is `{SCHEMA_VERSION}`"));
    }
    if !is_line(&schema.title) {
        faults.add("title", "the title is one line of text");
    }
    if schema.topic.is_empty() || schema.topic.len() > 60 {
        faults.add("topic", "the topic is the key of a topic");
    }
    if schema.turn == 0 {
        faults.add("turn", "turns are counted from 1");
    }
    conventions::check(&schema.conventions, &mut faults);
    if schema.entities.len() > MOST_ENTITIES {
        faults.add("entities", format!("there are more than {MOST_ENTITIES} entities"));
        return faults.0;
    }
    if schema.analytics.len() > MOST_ANALYTICS {
        faults.add("analytics", format!("there are more than {MOST_ANALYTICS} analytics"));
        return faults.0;
    }
    entities::check(schema, &mut faults);
    analytics::check(schema, &mut faults);
    if !schema.used.is_sorted_by(|name, next| name < next) {
        faults.add("used", "the names that were used are not in order, or one is there twice");
    }
    // What was removed can only be judged against a schema that is sound.
    if faults.0.is_empty() {
        removed::check(schema, &mut faults);
    }
    faults.0
}

/// Text for people: one line, not empty, not long.
fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= 200 && !text.chars().any(char::is_control)
}

/// The first text that comes twice.
fn first_duplicate<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let mut rest = texts;
    while let Some(text) = rest.next() {
        if rest.clone().any(|other| other == text) {
            return Some(text);
        }
    }
    None
}

#[cfg(test)]
mod tests;
