//! Which words a schema's parts come from, and which are still free.

use crate::check::TAKEN_BY_CASES;
use crate::ir::{Analytic, Entity, Field, Kind, Schema, is_name, words};
use crate::text::english::with_article;
use crate::vocabulary::{EntityWord, FieldWord, ValueDomain, ValueWord, vocabulary};

/// A word for an entity, with those that are made of two.
#[derive(Debug, Clone)]
pub(super) struct Noun {
    pub name: String,
    pub plural: String,
    pub about: String,
    /// Other words: (singular, plural).
    pub others: Vec<(String, String)>,
    /// Singulars of what it typically refers to; `*` is any.
    pub refers: Vec<&'static str>,
    /// Typical fields.
    pub fields: Vec<&'static str>,
    /// Key of the entity that it belongs to, if its name is made of that one's.
    pub parent: Option<String>,
}

impl Noun {
    fn from_word(word: &EntityWord) -> Self {
        Self {
            name: word.name.to_owned(),
            plural: word.plural.to_owned(),
            about: word.about.to_owned(),
            others: word
                .others
                .iter()
                .map(|(singular, plural)| ((*singular).to_owned(), (*plural).to_owned()))
                .collect(),
            refers: word.refers.clone(),
            fields: word.fields.clone(),
            parent: None,
        }
    }

    /// `parcel` and `comment`: a comment on a parcel.
    fn child(stem: &str, parent: Option<&str>, word: &EntityWord) -> Self {
        let join = |part: &str| format!("{stem}_{part}");
        Self {
            name: join(word.name),
            plural: join(word.plural),
            about: word.about.replace("{}", &with_article(&words(stem))),
            others: word.others.iter().map(|(singular, plural)| (join(singular), join(plural))).collect(),
            refers: Vec::new(),
            fields: word.fields.clone(),
            parent: parent.map(str::to_owned),
        }
    }
}

/// Whether a name of an entity or analytic is new.
pub(super) fn is_free(schema: &Schema, name: &str) -> bool {
    is_name(name) && !is_used(schema, name)
}

/// Whether a name of a part of an entity is new.
pub(super) fn is_free_in(schema: &Schema, entity: &Entity, name: &str) -> bool {
    is_name(name)
        && !TAKEN_BY_CASES.contains(&name)
        && !entity.fields.iter().any(|field| field.key == name || field.name == name)
        && !entity.actions.iter().any(|action| action.key == name || action.name == name)
        && !is_used(schema, &format!("{}.{name}", entity.key))
}

/// Whether this is among the names that were used before.
pub(super) fn is_used(schema: &Schema, name: &str) -> bool {
    schema.used.binary_search_by(|used| used.as_str().cmp(name)).is_ok()
}

/// Notes every name and key of a schema as used: for a first schema, however it was made.
pub fn note_names(schema: &mut Schema) {
    let mut used = std::mem::take(&mut schema.used);
    for entity in &schema.entities {
        used.extend([&entity.key, &entity.name, &entity.plural].map(String::clone));
        let fields = entity.fields.iter().flat_map(|field| [&field.key, &field.name]);
        let actions = entity.actions.iter().flat_map(|action| [&action.key, &action.name]);
        used.extend(fields.chain(actions).map(|name| format!("{}.{name}", entity.key)));
        for action in &entity.actions {
            let path = |key: &str| format!("{}.{}.guard.{key}", entity.key, action.key);
            used.extend(action.guards.iter().map(|guard| path(&guard.key)));
        }
    }
    for analytic in &schema.analytics {
        used.extend([&analytic.key, &analytic.name].map(String::clone));
    }
    used.sort();
    used.dedup();
    schema.used = used;
}

/// Words for new entities that the topic and the shared pool still have: (the topic's own, shared).
pub(super) fn new_nouns(schema: &Schema) -> (Vec<Noun>, Vec<Noun>) {
    let words = vocabulary();
    let free = |word: &&EntityWord| is_free(schema, word.name) && is_free(schema, word.plural);
    let own_words = words.topic(&schema.topic).into_iter().flat_map(|topic| &topic.entities);
    (
        own_words.filter(free).map(Noun::from_word).collect(),
        words.shared.iter().filter(free).map(Noun::from_word).collect(),
    )
}

/// Words for entities that belong to one of the schema's.
pub(super) fn child_nouns(schema: &Schema, parent: &Entity) -> Vec<Noun> {
    vocabulary()
        .children
        .iter()
        .filter(|child| !repeats_a_word(&parent.name, &child.word))
        .map(|child| Noun::child(&parent.name, Some(&parent.key), &child.word))
        .filter(|noun| {
            is_free(schema, &noun.name)
                && is_free(schema, &noun.plural)
                && noun.others.iter().all(|(singular, plural)| is_name(singular) && is_name(plural))
        })
        .collect()
}

/// Whether a name that is made of both would have a word twice, now or after a rename: `exam_photo_photo`.
fn repeats_a_word(stem: &str, word: &EntityWord) -> bool {
    let others = word.others.iter().map(|(singular, _)| *singular);
    std::iter::once(word.name)
        .chain(others)
        .flat_map(|name| name.split('_'))
        .any(|part| stem.split('_').any(|other| other == part))
}

/// Two names as one, in which no word follows itself: `film_rating` and `rating_count` are `film_rating_count`.
pub(super) fn joined(first: &str, second: &str) -> String {
    let last = first.rsplit('_').next().unwrap_or(first);
    match second.strip_prefix(last).filter(|rest| rest.is_empty() || rest.starts_with('_')) {
        Some(rest) => format!("{first}{rest}"),
        None => format!("{first}_{second}"),
    }
}

/// The word that an entity came from; nothing if it is not of the vocabulary.
pub(super) fn noun(schema: &Schema, entity: &Entity) -> Option<Noun> {
    let words = vocabulary();
    let own_words = words.topic(&schema.topic).into_iter().flat_map(|topic| &topic.entities);
    if let Some(word) = own_words.chain(&words.shared).find(|word| word.plural == entity.key) {
        return Some(Noun::from_word(word));
    }
    words.children.iter().find_map(|child| {
        let stem = entity.key.strip_suffix(child.word.plural)?.strip_suffix('_')?;
        Some(Noun::child(stem, None, &child.word))
    })
}

/// The word that a field came from, if the field still holds what the word does.
pub(super) fn word(schema: &Schema, field: &Field) -> Option<&'static FieldWord> {
    if field.computed.is_some() {
        return None;
    }
    let word = vocabulary().field(&schema.topic, &field.key)?;
    let agrees = match (&field.kind, &word.domain) {
        (Kind::String { pattern, .. }, ValueDomain::Pattern(form)) => {
            pattern.is_none_or(|pattern| pattern == *form)
        }
        (Kind::String { pattern: None, .. }, ValueDomain::Text(_))
        | (Kind::Integer { .. }, ValueDomain::Integer(..))
        | (Kind::Number { .. }, ValueDomain::Number(..))
        | (Kind::Boolean, ValueDomain::Boolean(_))
        | (Kind::DateTime, ValueDomain::Time)
        | (Kind::Enum { .. }, ValueDomain::Enum { .. })
        | (Kind::StringList { .. }, ValueDomain::List(..)) => true,
        _ => false,
    };
    agrees.then_some(word)
}

/// The word for a value of an enum.
pub(super) fn value_word(word: &'static FieldWord, value: &str) -> Option<&'static ValueWord> {
    match &word.domain {
        ValueDomain::Enum { values, .. } => {
            values.iter().find(|candidate| candidate.name == value || candidate.others.contains(&value))
        }
        _ => None,
    }
}

/// The entities of a schema that a field of this entity may refer to: none that leads back to it.
pub(super) fn targets<'a>(schema: &'a Schema, owner: &'a str) -> Vec<&'a Entity> {
    let mut leads_back = vec![owner];
    let mut index = 0;
    while let Some(key) = leads_back.get(index).copied() {
        for (entity, _) in schema.references_to(key) {
            if !leads_back.contains(&entity.key.as_str()) {
                leads_back.push(&entity.key);
            }
        }
        index += 1;
    }
    schema.entities.iter().filter(|target| !leads_back.contains(&target.key.as_str())).collect()
}

/// How long the longest chain of required references below an entity is: what a test must make before it.
pub(super) fn depth(schema: &Schema, entity: &Entity, limit: usize) -> usize {
    if limit == 0 {
        return 0;
    }
    entity
        .fields
        .iter()
        .filter(|field| field.required)
        .filter_map(Field::target)
        .filter_map(|target| schema.entity(target))
        .map(|target| 1 + depth(schema, target, limit - 1))
        .max()
        .unwrap_or(0)
}

/// Whether the name of an analytic says nothing about what it measures and groups by, so that both may change.
pub(super) fn is_neutral(analytic: &Analytic) -> bool {
    const TELLING_WORDS: [&str; 17] = [
        "average", "mean", "total", "combined", "sum", "lowest", "least", "highest", "greatest", "count",
        "number", "min", "max", "by", "per", "most", "fewest",
    ];
    !analytic.name.split('_').any(|word| TELLING_WORDS.contains(&word))
}
