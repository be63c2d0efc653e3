//! The words that schemas are made of: domain topics with their entities, fields, values and verbs, and other words for
//! each, so that nothing is ever renamed to noise.
//!
//! The words stand in text files beside this module, one thing a line: `topics/*.txt` (a domain: its own field words and
//! its entities), `shared.txt` (entities that fit in any topic), `children.txt` (entities that belong to another one:
//! `parcel` and `comment` give `parcel_comment`, so that a scenario never runs out) and `fields.txt` (field words for all
//! topics; its head explains the form). They are part of the program and parsed once.
//!
//! A word is a name as [`crate::ir::is_name`] demands. Its *others* are what it can be renamed to; no word means two
//! things within a topic.

mod parse;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::ir::Pattern;

/// A domain that an API can be about.
#[derive(Debug)]
pub struct Topic {
    /// Its identity: `parcel_logistics`.
    pub key: &'static str,
    /// As a title: `Parcel logistics`.
    pub title: &'static str,
    /// Field words that only make sense here.
    pub fields: Vec<FieldWord>,
    /// The most typical first.
    pub entities: Vec<EntityWord>,
}

/// A thing that records stand for.
#[derive(Debug, Clone)]
pub struct EntityWord {
    /// Singular.
    pub name: &'static str,
    /// Plural.
    pub plural: &'static str,
    /// What a record stands for, as the rest of a sentence.
    pub about: &'static str,
    /// Other words: (singular, plural).
    pub others: Vec<(&'static str, &'static str)>,
    /// Singulars of the entities that it typically refers to; `*` is any.
    pub refers: Vec<&'static str>,
    /// Typical fields, by their words, the most typical first.
    pub fields: Vec<&'static str>,
}

/// A property that records have.
#[derive(Debug)]
pub struct FieldWord {
    /// The word.
    pub name: &'static str,
    /// What it holds, plausibly.
    pub holds: Holds,
    /// Fits any entity; otherwise only where an entity names it.
    pub general: bool,
    /// Other words.
    pub others: Vec<&'static str>,
    /// Actions that set a text or number to a parameter, count an integer up, or set a boolean.
    pub verbs: Vec<&'static str>,
    /// Actions that clear a boolean.
    pub undoing: Vec<&'static str>,
}

/// What a field plausibly holds.
#[derive(Debug)]
pub enum Holds {
    /// Text of a length; `None` if nothing is said about it.
    Text(Option<(u32, u32)>),
    /// Text of a form.
    Form(Pattern),
    /// An integer of a range.
    Integer(i64, i64),
    /// A number of a range.
    Number(f64, f64),
    /// Yes or no; its usual default.
    Boolean(bool),
    /// A date and time.
    Time,
    /// One of some words; those after `usual` are spare.
    Enum {
        /// All words.
        values: Vec<ValueWord>,
        /// So many of them are there from the beginning.
        usual: usize,
    },
    /// Texts, so many.
    List(u32, u32),
}

/// A word of an enum.
#[derive(Debug)]
pub struct ValueWord {
    /// The word.
    pub name: &'static str,
    /// Another one.
    pub others: Vec<&'static str>,
    /// Actions that set it.
    pub verbs: Vec<&'static str>,
}

/// An entity that belongs to another one.
#[derive(Debug)]
pub struct ChildWord {
    /// What is joined to the name of the other entity; `about` has `{}` in its place.
    pub word: EntityWord,
}

/// All words.
#[derive(Debug)]
pub struct Vocabulary {
    /// In the order of their keys.
    pub topics: Vec<Topic>,
    /// Entities that fit in any topic.
    pub shared: Vec<EntityWord>,
    /// Entities that belong to another one.
    pub children: Vec<ChildWord>,
    /// Field words for all topics.
    pub fields: Vec<FieldWord>,
    /// Where the field words stand: by topic (none for all topics), then by word.
    places: BTreeMap<(&'static str, &'static str), usize>,
}

impl Vocabulary {
    /// The topic with this key.
    pub fn topic(&self, key: &str) -> Option<&Topic> {
        self.topics.iter().find(|topic| topic.key == key)
    }

    /// A field word: the topic's own, or one for all topics. The topic may be unknown.
    pub fn field(&self, topic: &str, name: &str) -> Option<&FieldWord> {
        let own = self.topic(topic).zip(self.places.get(&(topic, name)));
        match own {
            Some((topic, at)) => topic.fields.get(*at),
            None => self.fields.get(*self.places.get(&("", name))?),
        }
    }
}

/// The words, parsed once.
pub fn vocabulary() -> &'static Vocabulary {
    static WORDS: OnceLock<Vocabulary> = OnceLock::new();
    WORDS.get_or_init(parse::vocabulary)
}

/// The topics that an API can be about.
pub fn topics() -> &'static [Topic] {
    &vocabulary().topics
}
