//! What a written suite need not repeat, because its builders say it: paths of records, and bodies that differ little from
//! those that records are made with. Steps in memory have neither: paths and bodies stand there in full.
//!
//! A record has a name: `orders_2` is made by the second body of the builder `orders`; past the last body they begin again.
//! In a path, which otherwise begins with `/`, `orders` stands for the path of the collection and `orders_2` for that of
//! the record. A builder whose key could be the name of a record (`orders_1`) is not used for this.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{Builder, Case, Method, RecordStep, RequestStep, Step};

/// The builders of a suite, by what they say.
#[derive(Debug)]
pub(crate) struct Shorthand<'a> {
    by_key: HashMap<&'a str, &'a Builder>,
    by_path: HashMap<&'a str, &'a Builder>,
}

/// A path in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShortPath<'a> {
    /// `orders` or `orders_2`.
    pub(crate) name: &'a str,
    /// What follows, with its `/`.
    pub(crate) rest: &'a str,
}

/// A body that is like one that a record is made with.
#[derive(Debug, PartialEq)]
pub(crate) struct SimilarBody<'a> {
    /// The key of the builder.
    pub(crate) entity: &'a str,
    /// Which body, from 1.
    pub(crate) nth: usize,
    /// What is other or more, in the order of the body.
    pub(crate) with: Vec<(&'a str, &'a Value)>,
    /// What is not there, in the order of the builder.
    pub(crate) without: Vec<&'a str>,
}

impl<'a> Shorthand<'a> {
    pub(crate) fn new(builders: &'a [Builder]) -> Self {
        let mut by_key = HashMap::with_capacity(builders.len());
        let mut by_path = HashMap::with_capacity(builders.len());
        for builder in builders.iter().filter(|builder| has_plain_key(builder)) {
            // What two claim belongs to the first.
            if !by_key.contains_key(builder.entity.as_str()) {
                by_key.insert(builder.entity.as_str(), builder);
                by_path.entry(builder.path.as_str()).or_insert(builder);
            }
        }
        Self { by_key, by_path }
    }

    /// The builder of an entity.
    pub(crate) fn builder(&self, entity: &str) -> Option<&'a Builder> {
        self.by_key.get(entity).copied()
    }

    /// The builder of a record with this name, and the number of the record.
    pub(crate) fn record(&self, name: &str) -> Option<(&'a Builder, usize)> {
        let (entity, number) = split_record(name)?;
        Some((self.builder(entity)?, number))
    }

    /// The path in short, if it is that of a collection or begins with that of a record.
    pub(crate) fn path(&self, path: &'a str) -> Option<ShortPath<'a>> {
        let (base, record) = split_path(path);
        let builder = self.by_path.get(base)?;
        let Some((name, rest)) = record else { return Some(ShortPath { name: &builder.entity, rest: "" }) };
        let (entity, _) = split_record(name)?;
        (entity == builder.entity).then_some(ShortPath { name, rest })
    }

    /// Whether a record is made as its name says: the short form of the step.
    pub(crate) fn is_plain(&self, make: &RecordStep) -> bool {
        split_record(&make.keep).is_some_and(|(entity, number)| {
            let bodies = self.builder(entity).map_or(0, |builder| builder.bodies.len());
            entity == make.make && bodies > 0 && make.nth as usize == 1 + (number - 1) % bodies
        })
    }

    /// The body of a create or replace by what is other than in the nearest body of the builder, if most is the same.
    pub(crate) fn similar_body(&self, send: &'a RequestStep) -> Option<SimilarBody<'a>> {
        let body = send.body.as_ref()?.as_object()?;
        let (base, record) = split_path(&send.path);
        match (send.method, record) {
            (Method::Post, None) | (Method::Put, Some((_, ""))) => {}
            _ => return None,
        }
        let builder = self.by_path.get(base)?;
        let mut best: Option<(usize, usize, &'a Map<String, Value>)> = None;
        for (index, other) in builder.bodies.iter().enumerate() {
            let Some(other) = other.as_object() else { continue };
            let same = other.iter().filter(|(key, value)| body.get(*key) == Some(*value)).count();
            let missing = other.keys().filter(|key| !body.contains_key(*key)).count();
            let cost = body.len() - same + missing;
            if same > missing && best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, index, other));
            }
        }
        let (_, index, other) = best?;
        let differences = body.iter().filter(|(key, value)| other.get(*key) != Some(*value));
        let without = other.keys().filter(|key| !body.contains_key(*key));
        Some(SimilarBody {
            entity: &builder.entity,
            nth: index + 1,
            with: differences.map(|(key, value)| (key.as_str(), value)).collect(),
            without: without.map(String::as_str).collect(),
        })
    }
}

/// What of the builders is other than in the suite before: cases that say something by it are written otherwise.
#[derive(Debug, Default)]
pub(super) struct ChangedBuilders<'a> {
    paths: Vec<&'a str>,
    makes: Vec<&'a str>,
    all: bool,
}

impl<'a> ChangedBuilders<'a> {
    pub(super) fn new(now: &'a [Builder], before: &'a [Builder]) -> Self {
        let mut touched = Self { all: has_doubles(now) || has_doubles(before), ..Self::default() };
        let by_entity: HashMap<&str, &Builder> =
            before.iter().map(|builder| (builder.entity.as_str(), builder)).collect();
        let keys: HashSet<&str> = now.iter().map(|builder| builder.entity.as_str()).collect();
        for builder in now {
            let previous = by_entity.get(builder.entity.as_str()).copied();
            let as_many = previous.is_some_and(|previous| previous.bodies.len() == builder.bodies.len());
            let same = previous.filter(|previous| as_many && previous.path == builder.path).is_some_and(
                |previous| {
                    previous
                        .bodies
                        .iter()
                        .zip(&builder.bodies)
                        .all(|(previous, now)| same_in_order(previous, now))
                },
            );
            if !same {
                touched
                    .paths
                    .extend([Some(builder), previous].into_iter().flatten().map(|used| used.path.as_str()));
            }
            if !as_many {
                touched.makes.push(&builder.entity);
            }
        }
        for removed in before.iter().filter(|previous| !keys.contains(previous.entity.as_str())) {
            touched.paths.push(&removed.path);
            touched.makes.push(&removed.entity);
        }
        touched.paths.sort_unstable();
        touched.paths.dedup();
        touched
    }

    /// Whether a case may be written otherwise although it is the same.
    pub(super) fn has(&self, case: &Case) -> bool {
        self.all
            || case.steps.iter().any(|step| match step {
                Step::Record(make) => self.makes.contains(&make.make.as_str()),
                Step::Request(send) => self.paths.iter().any(|path| send.path.starts_with(path)),
            })
    }
}

/// Two builders of one entity or of one path.
fn has_doubles(builders: &[Builder]) -> bool {
    let mut keys = HashSet::with_capacity(builders.len());
    let mut paths = HashSet::with_capacity(builders.len());
    !builders.iter().all(|builder| keys.insert(&builder.entity) && paths.insert(&builder.path))
}

fn same_in_order(previous: &Value, now: &Value) -> bool {
    match (previous, now) {
        (Value::Object(previous), Value::Object(now)) => previous.iter().eq(now),
        _ => previous == now,
    }
}

fn has_plain_key(builder: &Builder) -> bool {
    let key = &builder.entity;
    !key.is_empty()
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && split_record(key).is_none()
}

/// The path of a collection before that of a record (`/orders/{orders_2.id}/cancel`), and the record's name and what
/// follows. Of any other path all, and nothing.
fn split_path(path: &str) -> (&str, Option<(&str, &str)>) {
    let Some((base, after)) = path.split_once("/{") else { return (path, None) };
    let record = after
        .split_once(".id}")
        .filter(|(name, rest)| !name.contains(['{', '}', '.']) && (rest.is_empty() || rest.starts_with('/')));
    if record.is_some() { (base, record) } else { (path, None) }
}

/// The key of the entity and the number (from 1, without leading zeros) in the name of a record.
fn split_record(name: &str) -> Option<(&str, usize)> {
    let (entity, number) = name.rsplit_once('_')?;
    let plain = !entity.is_empty()
        && !number.starts_with('0')
        && number.len() < 10
        && number.bytes().all(|b| b.is_ascii_digit());
    if plain { Some((entity, number.parse().ok()?)) } else { None }
}
