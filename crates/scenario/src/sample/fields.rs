//! New fields, from words: plain ones, references and computed ones.

use serde_json::{Value, json};

use super::names::{depth, is_free_in, noun, word};
use crate::draw::Draw;
use crate::ir::{Computed, Effect, Entity, Field, Kind, OnDelete, Schema};
use crate::vocabulary::{FieldWord, ValueDomain, vocabulary};

/// The longest chain of required references: a test makes all of its records.
const LONGEST_CHAIN: usize = 3;

/// What comes before the name of a second reference to the same entity.
const SECOND_PREFIXES: [&str; 5] = ["previous", "preferred", "backup", "responsible", "original"];

/// A field with no rule at all.
pub(super) fn field_without_rules(key: &str, kind: Kind, introduced_in: u32) -> Field {
    Field {
        key: key.to_owned(),
        name: key.to_owned(),
        kind,
        required: false,
        nullable: false,
        default: None,
        unique: false,
        immutable: false,
        computed: None,
        introduced_in,
    }
}

/// A new field that a word stands for. `optional`: it is not required.
pub(super) fn plain(draw: &mut Draw, word: &FieldWord, introduced_in: u32, optional: bool) -> Field {
    let kind = kind(draw, &word.domain);
    let mut field = field_without_rules(word.name, kind, introduced_in);
    let usual = default(draw, word, &field.kind);
    let (required, defaulted) = match word.domain {
        ValueDomain::Text(_) => (45, 15),
        ValueDomain::Pattern(_) => (50, 0),
        ValueDomain::Integer(..) | ValueDomain::Number(..) => (30, 45),
        ValueDomain::Boolean(_) => (12, 75),
        ValueDomain::Time => (45, 0),
        ValueDomain::Enum { .. } => (25, 65),
        ValueDomain::List(..) => (25, 35),
    };
    let roll = draw.number_below(100);
    match usual {
        _ if roll < required && !optional => field.required = true,
        Some(usual) if roll < required + defaulted => field.default = Some(usual),
        _ => field.nullable = true,
    }
    if field.required {
        field.nullable = draw.chance(10);
        field.immutable = draw.chance(10);
    }
    if field.default.is_none() {
        field.unique = match word.domain {
            ValueDomain::Pattern(_) => draw.chance(40),
            ValueDomain::Integer(low, high) => high - low >= 998 && word.verbs.is_empty() && draw.chance(25),
            _ => false,
        };
    }
    field
}

/// A kind that a word stands for, with some of its bounds.
fn kind(draw: &mut Draw, domain: &ValueDomain) -> Kind {
    match domain {
        ValueDomain::Text(None) => {
            Kind::String { min_length: None, max_length: draw.chance(30).then_some(200), pattern: None }
        }
        ValueDomain::Text(Some((low, high))) => Kind::String {
            min_length: (*low > 0 && draw.chance(60)).then_some(*low),
            max_length: draw.chance(75).then_some(*high),
            pattern: None,
        },
        ValueDomain::Pattern(pattern) => {
            Kind::String { min_length: None, max_length: None, pattern: Some(*pattern) }
        }
        ValueDomain::Integer(low, high) => {
            Kind::Integer { min: draw.chance(85).then_some(*low), max: draw.chance(60).then_some(*high) }
        }
        ValueDomain::Number(low, high) => {
            Kind::Number { min: draw.chance(85).then_some(*low), max: draw.chance(60).then_some(*high) }
        }
        ValueDomain::Boolean(_) => Kind::Boolean,
        ValueDomain::Time => Kind::DateTime,
        ValueDomain::Enum { values, usual } => {
            Kind::Enum { values: values.iter().take(*usual).map(|value| value.name.to_owned()).collect() }
        }
        ValueDomain::List(low, high) => Kind::StringList {
            min_items: (*low > 0).then_some(*low),
            max_items: draw.chance(65).then_some(*high),
        },
    }
}

/// A plausible default; nothing if there is none.
fn default(draw: &mut Draw, word: &FieldWord, kind: &Kind) -> Option<Value> {
    match (&word.domain, kind) {
        (ValueDomain::Boolean(usual), _) => Some(json!(*usual)),
        (ValueDomain::Enum { .. }, Kind::Enum { values }) => values.first().map(|value| json!(value)),
        (
            ValueDomain::Text(_) | ValueDomain::Integer(..) | ValueDomain::Number(..) | ValueDomain::List(..),
            _,
        ) => value(draw, kind),
        _ => None,
    }
}

/// A plausible value of a kind; nothing for references.
pub(super) fn value(draw: &mut Draw, kind: &Kind) -> Option<Value> {
    Some(match kind {
        Kind::String { pattern: Some(pattern), .. } => {
            json!(pattern.sample(draw.number_between(1, 99) as u32))
        }
        Kind::String { min_length, max_length, .. } => {
            let fits: Vec<&str> = ["standard", "general", "not stated", "usual", "main", "to be decided"]
                .into_iter()
                .filter(|text| {
                    min_length.is_none_or(|min| text.len() >= min as usize)
                        && max_length.is_none_or(|max| text.len() <= max as usize)
                })
                .collect();
            json!(*draw.pick(&fits)?)
        }
        Kind::Integer { min, max } => {
            let low = min.unwrap_or(0);
            let high = max.unwrap_or(low + 100);
            let step = ((high - low) / 10).max(1);
            json!((low + step * draw.number_between(0, 4)).clamp(low.min(high), high))
        }
        Kind::Number { min, max } => {
            let low = min.unwrap_or(0.0);
            let high = max.unwrap_or(low + 100.0);
            let step = ((high - low) / 10.0).floor().max(0.25);
            json!((low + step * draw.number_below(5) as f64).min(high))
        }
        Kind::Boolean => json!(draw.chance(50)),
        Kind::DateTime => json!(format!("2024-{:02}-01T09:00:00Z", draw.number_between(1, 12))),
        Kind::Enum { values } => json!(draw.pick(values)?),
        Kind::StringList { min_items, max_items } => {
            let least = min_items.unwrap_or(0) as usize;
            let most = max_items.map_or(3, |max| max as usize);
            let words = ["general", "standard", "usual", "common", "basic", "plain"];
            let count = (least + draw.number_below(2)).min(most).min(words.len());
            json!(words[..count.max(least.min(words.len()))])
        }
        Kind::Reference { .. } => return None,
    })
}

/// Words for further fields of an entity, typical ones before those that fit anywhere.
pub(super) fn new_words(draw: &mut Draw, schema: &Schema, entity: &Entity) -> Vec<&'static FieldWord> {
    let words = vocabulary();
    let typical = noun(schema, entity).map(|noun| noun.fields).unwrap_or_default();
    let mut out: Vec<&FieldWord> =
        typical.iter().filter_map(|name| words.field(&schema.topic, name)).collect();
    draw.shuffle(&mut out);
    let mut general: Vec<&FieldWord> =
        words.fields.iter().filter(|word| word.general && !typical.contains(&word.name)).collect();
    draw.shuffle(&mut general);
    out.extend(general);
    out.retain(|word| is_free_in(schema, entity, word.name));
    out
}

/// Whether some action creates records of an entity: a field that is added to it is not required then.
pub(super) fn is_created(schema: &Schema, key: &str) -> bool {
    schema
        .entities
        .iter()
        .flat_map(|entity| &entity.actions)
        .flat_map(|action| &action.effects)
        .any(|effect| matches!(effect, Effect::Create { entity, .. } if entity == key))
}

/// A new reference from one entity to another; nothing if no name is free.
pub(super) fn reference(
    draw: &mut Draw,
    schema: &Schema,
    from: &Entity,
    target: &Entity,
    optional: bool,
) -> Option<Field> {
    let twice = from.fields.iter().any(|field| field.target() == Some(&target.key));
    let mut keys: Vec<String> = Vec::new();
    if !twice {
        keys.push(target.name.clone());
    }
    let mut second = SECOND_PREFIXES;
    draw.shuffle(&mut second);
    keys.extend(second.iter().map(|before| format!("{before}_{}", target.name)));
    let key = keys
        .into_iter()
        .find(|key| is_free_in(schema, from, key) && is_free_in(schema, from, &format!("{key}_id")))?;

    let room = depth(schema, target, LONGEST_CHAIN + 1)
        + longest_chain_above(schema, &from.key, LONGEST_CHAIN + 1)
        < LONGEST_CHAIN;
    let required = draw.chance(50) && room && !optional;
    let on_delete = match draw.number_below(4) {
        0 => OnDelete::Restrict,
        1 => OnDelete::Cascade,
        _ if required => OnDelete::Cascade,
        _ => OnDelete::SetNull,
    };
    let nested = draw.chance(45) && !twice && !target.actions.iter().any(|action| action.name == from.plural);
    let mut field = field_without_rules(
        &key,
        Kind::Reference { entity: target.key.clone(), on_delete, nested },
        schema.turn,
    );
    field.name = format!("{key}_id");
    field.required = required;
    field.nullable = !required;
    Some(field)
}

/// How long the longest chain of required references to an entity is.
fn longest_chain_above(schema: &Schema, key: &str, limit: usize) -> usize {
    if limit == 0 {
        return 0;
    }
    schema
        .references_to(key)
        .filter(|(_, field)| field.required)
        .map(|(owner, _)| 1 + longest_chain_above(schema, &owner.key, limit - 1))
        .max()
        .unwrap_or(0)
}

/// Separators of joined texts.
pub(super) const SEPARATORS: [&str; 6] = [" ", ", ", " - ", "/", ": ", " | "];

/// A new computed field; nothing if there is nothing to compute with.
pub(super) fn computed(draw: &mut Draw, schema: &Schema, entity: &Entity) -> Option<Field> {
    let set: Vec<&Field> =
        entity.fields.iter().filter(|field| field.is_writable() && field.is_always_set()).collect();
    let texts: Vec<&Field> = set
        .iter()
        .copied()
        .filter(|field| matches!(field.kind, Kind::String { .. } | Kind::Enum { .. }))
        .collect();
    let numbers: Vec<&Field> = set.iter().copied().filter(|field| field.is_numeric()).collect();
    let mut ways = [0, 1, 2, 3, 4, 5];
    draw.shuffle(&mut ways);
    ways.into_iter().find_map(|way| {
        let (names, kind, computed) = match way {
            0 => joined(draw, &texts)?,
            1 | 2 => arithmetic(draw, &numbers, way == 1)?,
            3 => at_least(draw, &numbers)?,
            4 => count(draw, schema, entity)?,
            _ => total(draw, schema, entity)?,
        };
        let name = names.into_iter().find(|name| is_free_in(schema, entity, name))?;
        Some(Field { computed: Some(computed), ..field_without_rules(&name, kind, schema.turn) })
    })
}

/// Possible names, kind and computation.
type FieldDraft = (Vec<String>, Kind, Computed);

fn pick_two<'a>(draw: &mut Draw, fields: &[&'a Field]) -> Option<(&'a Field, &'a Field)> {
    let mut fields = fields.to_vec();
    draw.shuffle(&mut fields);
    Some((*fields.first()?, *fields.get(1)?))
}

fn joined(draw: &mut Draw, texts: &[&Field]) -> Option<FieldDraft> {
    let (first, second) = pick_two(draw, texts)?;
    let names = ["display_name", "caption_line", "full_label", "short_summary"].map(str::to_owned).to_vec();
    let kind = Kind::String { min_length: None, max_length: None, pattern: None };
    let separator = (*draw.pick(&SEPARATORS)?).to_owned();
    Some((names, kind, Computed::Joined { first: first.key.clone(), second: second.key.clone(), separator }))
}

/// Small enough that a product of two stays exact.
fn is_small(field: &Field) -> bool {
    match field.kind {
        Kind::Integer { max: Some(max), .. } => max <= 1000,
        Kind::Number { max: Some(max), .. } => max <= 1000.0,
        _ => false,
    }
}

/// Whether adding to a field, or multiplying it, gives something that means anything: no ranks, shares or numbers of
/// things.
pub(super) fn is_quantity(field: &Field) -> bool {
    !["rank", "percent", "number", "score", "rating", "position", "rate", "year", "temperature", "level"]
        .iter()
        .any(|word| field.key.split('_').any(|part| part == *word))
}

fn arithmetic(draw: &mut Draw, numbers: &[&Field], product: bool) -> Option<FieldDraft> {
    let numbers: Vec<&Field> =
        numbers.iter().copied().filter(|field| is_quantity(field) && (!product || is_small(field))).collect();
    let (left, right) = pick_two(draw, &numbers)?;
    // In one order always, so that nothing is computed twice.
    let (left, right) = if left.key < right.key { (left, right) } else { (right, left) };
    let integers = [left, right].iter().all(|field| matches!(field.kind, Kind::Integer { .. }));
    let kind =
        if integers { Kind::Integer { min: None, max: None } } else { Kind::Number { min: None, max: None } };
    let (left, right) = (left.key.clone(), right.key.clone());
    Some(if product {
        (vec![format!("{left}_times_{right}")], kind, Computed::Product { left, right })
    } else {
        (vec![format!("{left}_plus_{right}")], kind, Computed::Sum { left, right })
    })
}

fn at_least(draw: &mut Draw, numbers: &[&Field]) -> Option<FieldDraft> {
    let field = *draw.pick(numbers)?;
    let value = threshold(draw, &field.kind)?;
    let names = vec![format!("is_high_{}", field.key), format!("has_much_{}", field.key)];
    Some((names, Kind::Boolean, Computed::AtLeast { field: field.key.clone(), value }))
}

/// A value of a numeric kind that some values are below and some above.
pub(super) fn threshold(draw: &mut Draw, kind: &Kind) -> Option<Value> {
    match kind {
        Kind::Integer { min, max } => {
            let low = min.unwrap_or(0);
            let high = max.unwrap_or(low + 100);
            (high - low >= 2).then(|| {
                json!(low + ((high - low) * draw.number_between(2, 6) / 10).clamp(1, high - low - 1))
            })
        }
        Kind::Number { min, max } => {
            let low = min.unwrap_or(0.0);
            let high = max.unwrap_or(low + 100.0);
            (high - low >= 2.0).then(|| {
                json!(low + ((high - low) * draw.number_between(2, 6) as f64 / 10.0).floor().max(1.0))
            })
        }
        _ => None,
    }
}

fn referring<'a>(draw: &mut Draw, schema: &'a Schema, entity: &'a Entity) -> Option<(&'a Entity, &'a Field)> {
    let all: Vec<(&Entity, &Field)> = schema.references_to(&entity.key).collect();
    draw.pick(&all).copied()
}

fn count(draw: &mut Draw, schema: &Schema, entity: &Entity) -> Option<FieldDraft> {
    let (owner, reference) = referring(draw, schema, entity)?;
    let names = vec![format!("{}_count", owner.name), format!("number_of_{}", owner.plural)];
    let computed = Computed::CountOf { entity: owner.key.clone(), reference: reference.key.clone() };
    Some((names, Kind::Integer { min: None, max: None }, computed))
}

fn total(draw: &mut Draw, schema: &Schema, entity: &Entity) -> Option<FieldDraft> {
    let (owner, reference) = referring(draw, schema, entity)?;
    let numbers: Vec<&Field> =
        owner.fields.iter().filter(|field| field.is_writable() && field.is_numeric()).collect();
    let field = *draw.pick(&numbers)?;
    let kind = match field.kind {
        Kind::Integer { .. } => Kind::Integer { min: None, max: None },
        _ => Kind::Number { min: None, max: None },
    };
    let names = vec![format!("total_{}", field.key), format!("{}_{}_sum", owner.name, field.key)];
    let computed = Computed::TotalOf {
        entity: owner.key.clone(),
        reference: reference.key.clone(),
        field: field.key.clone(),
    };
    Some((names, kind, computed))
}

/// Another name for a field; nothing if none is left.
pub(super) fn other_name(draw: &mut Draw, schema: &Schema, entity: &Entity, field: &Field) -> Option<String> {
    let mut names: Vec<String> = match (&field.computed, field.target()) {
        // These are renamed once: their other names are made from the first.
        (Some(_), _) if field.name != field.key => return None,
        (Some(computed), _) => other_computed(schema, field, computed),
        (None, Some(target)) => {
            let first = format!("{}_id", field.key);
            if field.name != first {
                return None;
            }
            let target = schema.entity(target)?;
            let words = noun(schema, target).map(|noun| noun.others).unwrap_or_default();
            let mut names: Vec<String> = words.iter().map(|(word, _)| format!("{word}_id")).collect();
            names.push(format!("assigned_{first}"));
            names.push(format!("linked_{first}"));
            names
        }
        (None, None) => word(schema, field)
            .or_else(|| vocabulary().field(&schema.topic, &field.key))
            .map(|word| word.others.iter().map(|name| (*name).to_owned()).collect())
            .unwrap_or_default(),
    };
    draw.shuffle(&mut names);
    names.into_iter().find(|name| is_free_in(schema, entity, name))
}

fn other_computed(schema: &Schema, field: &Field, computed: &Computed) -> Vec<String> {
    match computed {
        Computed::Joined { .. } => {
            ["display_name", "caption_line", "full_label", "short_summary"].map(str::to_owned).to_vec()
        }
        Computed::CountOf { entity, .. } => schema
            .entity(entity)
            .map(|entity| vec![format!("number_of_{}", entity.plural), format!("{}_count", entity.name)])
            .unwrap_or_default(),
        Computed::AtLeast { field, .. } => vec![format!("has_much_{field}"), format!("is_high_{field}")],
        _ => vec![format!("computed_{}", field.key)],
    }
}
