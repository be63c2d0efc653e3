//! Parses the word files. They are part of the program. An invalid line is skipped, and a test that counts the lines then
//! fails.

use super::{ChildWord, EntityWord, FieldWord, Topic, ValueDomain, ValueWord, Vocabulary};
use crate::ir::Pattern;

macro_rules! topic_files {
    ($($key:literal),* $(,)?) => {
        /// Key and text of every topic.
        pub(super) const TOPICS: &[(&str, &str)] =
            &[$(($key, include_str!(concat!("topics/", $key, ".txt")))),*];
    };
}
topic_files![
    "bakery",
    "brewery",
    "call_centre",
    "camp_site",
    "car_sharing",
    "community_garden",
    "event_catering",
    "farm_shop",
    "film_festival",
    "hospital_ward",
    "language_school",
    "library",
    "museum",
    "music_label",
    "parcel_logistics",
    "pharmacy",
    "property_management",
    "recycling_yard",
    "shipyard",
    "ski_school",
    "space_observatory",
    "sports_club",
    "theatre",
    "veterinary_clinic",
    "wind_farm",
];

/// The file of field words for all topics.
pub(super) const FIELDS: &str = include_str!("fields.txt");
/// The file of entities that fit in any topic.
pub(super) const SHARED_NOUNS: &str = include_str!("shared.txt");
/// The file of entities that belong to another one.
pub(super) const CHILDREN: &str = include_str!("children.txt");

/// Reads all files.
pub(super) fn vocabulary() -> Vocabulary {
    let topics: Vec<Topic> = TOPICS.iter().map(|(key, text)| topic(key, text)).collect();
    let fields: Vec<FieldWord> = lines(FIELDS).filter_map(field).collect();
    let own = topics.iter().flat_map(|topic| {
        topic.fields.iter().enumerate().map(|(index, field)| ((topic.key, field.name), index))
    });
    let places =
        own.chain(fields.iter().enumerate().map(|(index, field)| (("", field.name), index))).collect();
    Vocabulary {
        topics,
        shared: lines(SHARED_NOUNS).filter_map(entity).collect(),
        children: lines(CHILDREN).filter_map(entity).map(|word| ChildWord { word }).collect(),
        fields,
        places,
    }
}

/// The lines without blank lines and comments.
pub(super) fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn topic(key: &'static str, text: &'static str) -> Topic {
    let mut topic = Topic { key, title: key, fields: Vec::new(), entities: Vec::new() };
    for line in lines(text) {
        if line.contains('|') {
            topic.entities.extend(entity(line));
        } else if let Some(title) = line.strip_prefix("topic ") {
            topic.title = title;
        } else {
            topic.fields.extend(field(line));
        }
    }
    topic
}

/// `singular plural | about | other words | refers to | fields`.
fn entity(line: &'static str) -> Option<EntityWord> {
    let mut parts = line.split('|').map(str::trim);
    let (name, plural) = pair(parts.next()?)?;
    let about = parts.next()?;
    let others = parts.next()?.split(';').filter_map(pair).collect();
    let refers = parts.next()?.split_whitespace().collect();
    let fields = parts.next()?.split_whitespace().collect();
    Some(EntityWord { name, plural, about, others, refers, fields })
}

fn pair(text: &'static str) -> Option<(&'static str, &'static str)> {
    text.trim().split_once(' ')
}

/// `kind name range : other words : verbs`.
fn field(line: &'static str) -> Option<FieldWord> {
    let mut parts = line.split(" : ").map(str::trim);
    let mut head = parts.next()?.splitn(3, ' ');
    let (kind, name, range) = (head.next()?, head.next()?, head.next().unwrap_or_default());
    let others = split(parts.next().unwrap_or_default(), ',');
    let verbs = parts.next().unwrap_or_default();
    let (doing, undoing) = verbs.split_once(" / ").unwrap_or((verbs, ""));
    let domain = match kind {
        "string" => text(range)?,
        "integer" => {
            let (low, high) = range.split_once("..")?;
            ValueDomain::Integer(low.parse().ok()?, high.parse().ok()?)
        }
        "number" => {
            let (low, high) = range.split_once("..")?;
            ValueDomain::Number(low.parse().ok()?, high.parse().ok()?)
        }
        "boolean" => ValueDomain::Boolean(range == "yes"),
        "time" => ValueDomain::Time,
        "enum" => values(range),
        "list" => {
            let (low, high) = range.split_once('-')?;
            ValueDomain::List(low.parse().ok()?, high.parse().ok()?)
        }
        _ => return None,
    };
    Some(FieldWord {
        name: name.trim_end_matches('*'),
        general: name.ends_with('*'),
        domain,
        others,
        verbs: split(doing, ','),
        undoing: split(undoing, ','),
    })
}

fn text(range: &str) -> Option<ValueDomain> {
    Some(match range {
        "free" => ValueDomain::Text(None),
        "code" => ValueDomain::Pattern(Pattern::Code),
        "slug" => ValueDomain::Pattern(Pattern::Slug),
        "email" => ValueDomain::Pattern(Pattern::Email),
        "phone" => ValueDomain::Pattern(Pattern::Phone),
        "colour" => ValueDomain::Pattern(Pattern::Color),
        "postal_code" => ValueDomain::Pattern(Pattern::PostalCode),
        range => {
            let (low, high) = range.split_once('-')?;
            ValueDomain::Text(Some((low.parse().ok()?, high.parse().ok()?)))
        }
    })
}

/// `draft~sketch, approved~accepted=approve/sign_off + withdrawn`.
fn values(range: &'static str) -> ValueDomain {
    let (usual, spare) = range.split_once(" + ").unwrap_or((range, ""));
    let mut values: Vec<ValueWord> = split(usual, ',').into_iter().map(value).collect();
    let usual = values.len();
    values.extend(split(spare, ',').into_iter().map(value));
    ValueDomain::Enum { values, usual }
}

fn value(text: &'static str) -> ValueWord {
    let (words, verbs) = text.split_once('=').unwrap_or((text, ""));
    let mut words = words.split('~');
    ValueWord { name: words.next().unwrap_or_default(), others: words.collect(), verbs: split(verbs, '/') }
}

fn split(text: &'static str, separator: char) -> Vec<&'static str> {
    text.split(separator).map(str::trim).filter(|word| !word.is_empty()).collect()
}
