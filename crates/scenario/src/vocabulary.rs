//! The words of schemas: topics with their entities, fields, values and verbs. Each word has alternatives, so that a rename
//! gives a meaningful name.
//!
//! The words are in text files beside this module, one entry a line. The files are part of the program and parsed once:
//!
//! - `topics/*.txt`: a topic, with its field words and entities.
//! - `shared.txt`: entities that fit in any topic.
//! - `children.txt`: entities that belong to another entity. `parcel` and `comment` give `parcel_comment`, so a scenario
//!   always has enough entities.
//! - `fields.txt`: field words for all topics. Its head explains the format.
//!
//! A word is a valid name ([`crate::ir::is_name`]). Its *others* are its possible new names. Within a topic, no word has two
//! meanings.

mod parse;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::ir::Pattern;

/// A topic of an API.
#[derive(Debug)]
pub struct Topic {
    /// Its identity: `parcel_logistics`.
    pub key: &'static str,
    /// As a title: `Parcel logistics`.
    pub title: &'static str,
    /// Field words of this topic only.
    pub fields: Vec<FieldWord>,
    /// The entities, the most typical first.
    pub entities: Vec<EntityWord>,
}

/// A word for an entity.
#[derive(Debug, Clone)]
pub struct EntityWord {
    /// Singular.
    pub name: &'static str,
    /// Plural.
    pub plural: &'static str,
    /// The meaning of a record, as the rest of a sentence.
    pub about: &'static str,
    /// Other words: (singular, plural).
    pub others: Vec<(&'static str, &'static str)>,
    /// Singulars of the entities that it typically refers to. `*` is any entity.
    pub refers: Vec<&'static str>,
    /// Typical fields, by their words, the most typical first.
    pub fields: Vec<&'static str>,
}

/// A word for a field.
#[derive(Debug)]
pub struct FieldWord {
    /// The word.
    pub name: &'static str,
    /// The plausible values.
    pub domain: ValueDomain,
    /// Whether it fits any entity. Otherwise it fits the entities that name it.
    pub general: bool,
    /// Other words.
    pub others: Vec<&'static str>,
    /// Actions that set a text or number to a parameter, increment an integer, or set a boolean.
    pub verbs: Vec<&'static str>,
    /// Actions that clear a boolean.
    pub undoing: Vec<&'static str>,
}

/// The plausible values of a field.
#[derive(Debug)]
pub enum ValueDomain {
    /// Text of a length. `None` if the file does not give the length.
    Text(Option<(u32, u32)>),
    /// Text of a format.
    Pattern(Pattern),
    /// An integer of a range.
    Integer(i64, i64),
    /// A number of a range.
    Number(f64, f64),
    /// A boolean, with its usual default.
    Boolean(bool),
    /// A date and time.
    Time,
    /// A word of an enum. The words after `usual` are for later changes.
    Enum {
        /// All words.
        values: Vec<ValueWord>,
        /// The number of words at the start.
        usual: usize,
    },
    /// A list of texts, with its length.
    List(u32, u32),
}

/// A word of an enum.
#[derive(Debug)]
pub struct ValueWord {
    /// The word.
    pub name: &'static str,
    /// An alternative word.
    pub others: Vec<&'static str>,
    /// Actions that set it.
    pub verbs: Vec<&'static str>,
}

/// An entity that belongs to another one.
#[derive(Debug)]
pub struct ChildWord {
    /// The part that is joined to the name of the other entity. `about` has `{}` in place of that name with its article.
    pub word: EntityWord,
}

/// All words.
#[derive(Debug)]
pub struct Vocabulary {
    /// The topics, in the order of their keys.
    pub topics: Vec<Topic>,
    /// Entities that fit in any topic.
    pub shared: Vec<EntityWord>,
    /// Entities that belong to another one.
    pub children: Vec<ChildWord>,
    /// Field words for all topics.
    pub fields: Vec<FieldWord>,
    /// The position of the field words: by topic (`None` for all topics), then by word.
    places: BTreeMap<(&'static str, &'static str), usize>,
}

impl Vocabulary {
    /// The topic with this key.
    pub fn topic(&self, key: &str) -> Option<&Topic> {
        self.topics.iter().find(|topic| topic.key == key)
    }

    /// A field word of the topic, or one for all topics. The topic may be unknown.
    pub fn field(&self, topic: &str, name: &str) -> Option<&FieldWord> {
        let own = self.topic(topic).zip(self.places.get(&(topic, name)));
        match own {
            Some((topic, index)) => topic.fields.get(*index),
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
