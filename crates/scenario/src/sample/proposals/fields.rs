//! Fields: plain ones, values of enums, references, computed ones.

use serde_json::{Value, json};

use super::Scene;
use crate::change::{FieldChange, FieldKind, uses};
use crate::draw::Draw;
use crate::ir::{Computed, Entity, Field, Kind, OnDelete, Schema};
use crate::sample::fields;
use crate::sample::names::{noun, targets, value_word, word};
use crate::vocabulary::{ValueDomain, vocabulary};

/// The most fields of an entity.
const MOST_FIELDS: usize = 14;
/// The fewest fields of an entity.
const FEWEST_FIELDS: usize = 5;
/// The most references of an entity.
const MOST_REFERENCES: usize = 4;

pub(super) fn propose(kind: FieldKind, draw: &mut Draw, scene: Scene<'_>) -> Option<FieldChange> {
    let schema = scene.schema;
    let key = |entity: &Entity, field: &Field| (entity.key.clone(), field.key.clone());
    match kind {
        FieldKind::AddField => {
            let entity = entity_with_room(draw, scene)?;
            let word = fields::new_words(draw, schema, entity).into_iter().next()?;
            let optional = fields::is_created(schema, &entity.key);
            let field = fields::plain(draw, word, schema.turn, optional);
            Some(FieldChange::AddField { entity: entity.key.clone(), field })
        }
        FieldKind::RemoveField => {
            let (entity, field) = scene.field(draw, |entity, field| {
                field.target().is_none()
                    && entity.fields.len() > FEWEST_FIELDS
                    && !uses::is_field_used(schema, &entity.key, &field.key)
            })?;
            let (entity, field) = key(entity, field);
            Some(FieldChange::RemoveField { entity, field })
        }
        FieldKind::RenameField => {
            let (home, field) = scene.field(draw, |_, _| true)?;
            let name = fields::other_name(draw, schema, home, field)?;
            let (entity, field) = key(home, field);
            Some(FieldChange::RenameField { entity, field, name })
        }
        FieldKind::RetypeField => retype(draw, scene),
        FieldKind::AddEnumValue | FieldKind::RemoveEnumValue | FieldKind::RenameEnumValue => {
            enum_value(kind, draw, scene)
        }
        FieldKind::AddReference => reference(draw, scene),
        FieldKind::RemoveReference => {
            let (entity, field) = scene.field(draw, |entity, field| {
                field.target().is_some() && !uses::is_field_used(schema, &entity.key, &field.key)
            })?;
            let (entity, field) = key(entity, field);
            Some(FieldChange::RemoveReference { entity, field })
        }
        FieldKind::ChangeDeleteRule => {
            let (entity, field) = scene.field(draw, |_, field| field.target().is_some())?;
            let Kind::Reference { on_delete: old, .. } = field.kind else { return None };
            let others: Vec<OnDelete> = [OnDelete::Cascade, OnDelete::Restrict, OnDelete::SetNull]
                .into_iter()
                .filter(|rule| *rule != old && (*rule != OnDelete::SetNull || field.nullable))
                .collect();
            let on_delete = *draw.pick(&others)?;
            let (entity, field) = key(entity, field);
            Some(FieldChange::ChangeDeleteRule { entity, field, on_delete })
        }
        FieldKind::Nest => {
            let (entity, field) = scene.field(draw, can_nest)?;
            let (entity, field) = key(entity, field);
            Some(FieldChange::Nest { entity, field })
        }
        FieldKind::Unnest => {
            let (entity, field) =
                scene.field(draw, |_, field| matches!(field.kind, Kind::Reference { nested: true, .. }))?;
            let (entity, field) = key(entity, field);
            Some(FieldChange::Unnest { entity, field })
        }
        FieldKind::AddComputed => scene.search(draw, |draw, entity| {
            if entity.fields.len() >= MOST_FIELDS {
                return None;
            }
            let field = fields::computed(draw, schema, entity)?;
            Some(FieldChange::AddComputed { entity: entity.key.clone(), field })
        }),
        FieldKind::ChangeComputed => {
            let (home, field) = scene.field(draw, |_, field| {
                matches!(field.computed, Some(Computed::Joined { .. } | Computed::AtLeast { .. }))
            })?;
            let computed = other_computed(draw, home, field)?;
            let (entity, field) = key(home, field);
            Some(FieldChange::ChangeComputed { entity, field, computed })
        }
    }
}

/// An entity for one more field: the fewer it has, the more likely.
fn entity_with_room<'a>(draw: &mut Draw, scene: Scene<'a>) -> Option<&'a Entity> {
    let entities = scene.entities();
    let weights: Vec<u32> =
        entities.iter().map(|entity| MOST_FIELDS.saturating_sub(entity.fields.len()) as u32).collect();
    entities.get(draw.weighted_index(&weights)?).copied()
}

fn can_nest(entity: &Entity, field: &Field) -> bool {
    let Kind::Reference { entity: target, nested: false, .. } = &field.kind else { return false };
    !entity
        .fields
        .iter()
        .any(|other| matches!(&other.kind, Kind::Reference { entity, nested: true, .. } if entity == target))
}

fn reference(draw: &mut Draw, scene: Scene<'_>) -> Option<FieldChange> {
    let schema = scene.schema;
    let entities = scene.entities();
    let weights: Vec<u32> = entities
        .iter()
        .map(|entity| {
            let references = entity.fields.iter().filter(|field| field.target().is_some()).count();
            if references >= MOST_REFERENCES || entity.fields.len() >= MOST_FIELDS {
                0
            } else {
                (MOST_REFERENCES - references) as u32
            }
        })
        .collect();
    let entity = *entities.get(draw.weighted_index(&weights)?)?;
    let possible = targets(schema, &entity.key);
    let noun = noun(schema, entity);
    let typical: Vec<&Entity> = noun
        .iter()
        .flat_map(|noun| &noun.refers)
        .filter_map(|name| crate::sample::entities::entity_from_word(schema, name))
        .filter(|target| {
            possible.iter().any(|candidate| candidate.key == target.key)
                && !entity.fields.iter().any(|field| field.target() == Some(&target.key))
        })
        .collect();
    let target = if typical.is_empty() { *draw.pick(&possible)? } else { *draw.pick(&typical)? };
    let optional = fields::is_created(schema, &entity.key);
    let field = fields::reference(draw, schema, entity, target, optional)?;
    Some(FieldChange::AddReference { entity: entity.key.clone(), field })
}

/// Values for an enum that no word is known for.
const SPARE_VALUES: [&str; 5] = ["other", "unknown", "mixed", "custom", "not_applicable"];

fn enum_value(kind: FieldKind, draw: &mut Draw, scene: Scene<'_>) -> Option<FieldChange> {
    let schema = scene.schema;
    let (home, field) = scene.field(draw, |_, field| matches!(field.kind, Kind::Enum { .. }))?;
    let Kind::Enum { values } = &field.kind else { return None };
    let word = word(schema, field);
    let (entity, key) = (home.key.clone(), field.key.clone());
    match kind {
        FieldKind::AddEnumValue => {
            let mut new: Vec<&str> = match word.map(|word| &word.domain) {
                Some(ValueDomain::Enum { values: all, .. }) => all
                    .iter()
                    .filter(|word| {
                        !values
                            .iter()
                            .any(|value| value == word.name || word.others.contains(&value.as_str()))
                    })
                    .map(|word| word.name)
                    .collect(),
                _ => Vec::new(),
            };
            if new.is_empty() && values.len() < 7 {
                new.extend(SPARE_VALUES.iter().filter(|spare| !values.iter().any(|value| value == *spare)));
            }
            let value = (*draw.pick(&new)?).to_owned();
            Some(FieldChange::AddEnumValue { entity, field: key, value })
        }
        FieldKind::RemoveEnumValue => {
            let free: Vec<&String> = values
                .iter()
                .filter(|value| uses::enum_value_uses(schema, &home.key, &field.key, value).is_empty())
                .collect();
            if values.len() <= 2 {
                return None;
            }
            let value = (*draw.pick(&free)?).clone();
            Some(FieldChange::RemoveEnumValue { entity, field: key, value })
        }
        _ => {
            // Only from the first word to another: nothing is renamed back and forth.
            let word = word?;
            let possible: Vec<(&String, &str)> = values
                .iter()
                .filter_map(|value| Some((value, value_word(word, value)?)))
                .filter(|(value, known)| known.name == value.as_str())
                .flat_map(|(value, known)| known.others.iter().map(move |other| (value, *other)))
                .filter(|(_, other)| !values.iter().any(|value| value == other))
                .collect();
            let (value, replacement) = *draw.pick(&possible)?;
            Some(FieldChange::RenameEnumValue {
                entity,
                field: key,
                value: value.clone(),
                to: replacement.to_owned(),
            })
        }
    }
}

fn retype(draw: &mut Draw, scene: Scene<'_>) -> Option<FieldChange> {
    let schema = scene.schema;
    let (home, field) = scene.field(draw, |home, field| {
        field.is_writable()
            && field.target().is_none()
            && !matches!(field.kind, Kind::DateTime)
            && !uses::is_field_used(schema, &home.key, &field.key)
    })?;
    let kind = other_type(draw, schema, field)?;
    // What it was by default stays so if it can.
    let default = match &field.default {
        None => None,
        Some(old) => Some(carried(draw, old, &kind)?),
    };
    Some(FieldChange::RetypeField { entity: home.key.clone(), field: field.key.clone(), kind, default })
}

fn other_type(draw: &mut Draw, schema: &Schema, field: &Field) -> Option<Kind> {
    Some(match &field.kind {
        Kind::Integer { min, max } => {
            Kind::Number { min: min.map(|min| min as f64), max: max.map(|max| max as f64) }
        }
        Kind::Number { min, max } => {
            Kind::Integer { min: min.map(|min| min.ceil() as i64), max: max.map(|max| max.floor() as i64) }
        }
        Kind::String { pattern: None, .. } => {
            if field.unique {
                return None;
            }
            Kind::StringList { min_items: None, max_items: Some(draw.number_between(3, 8) as u32) }
        }
        Kind::String { .. } => Kind::Integer { min: Some(1), max: None },
        Kind::StringList { .. } => {
            Kind::String { min_length: None, max_length: Some(*draw.pick(&[80, 120, 200])?), pattern: None }
        }
        Kind::Boolean => Kind::Enum { values: ["yes", "no", "partly"].map(str::to_owned).to_vec() },
        Kind::Enum { .. } => {
            // A word that this field once was may be numbers as well: `priority` from 1 to 5.
            let ranked = vocabulary()
                .field(&schema.topic, &field.key)
                .is_some_and(|word| matches!(word.domain, ValueDomain::Enum { .. }) && word.general);
            if ranked && draw.chance(50) {
                Kind::Integer { min: Some(1), max: Some(5) }
            } else {
                Kind::String { min_length: None, max_length: Some(40), pattern: None }
            }
        }
        Kind::DateTime | Kind::Reference { .. } => return None,
    })
}

fn carried(draw: &mut Draw, old: &Value, kind: &Kind) -> Option<Value> {
    let same = match (old, kind) {
        (Value::Number(old), Kind::Number { .. }) => old.as_f64().map(|old| json!(old)),
        (Value::Number(old), Kind::Integer { .. }) => old.as_f64().map(|old| json!(old.floor() as i64)),
        (Value::String(old), Kind::String { .. }) => Some(json!(old)),
        (Value::String(old), Kind::StringList { .. }) => Some(json!([old])),
        (Value::Bool(old), Kind::Enum { .. }) => Some(json!(if *old { "yes" } else { "no" })),
        _ => None,
    };
    same.filter(|value| crate::check::values::fits(kind, value)).or_else(|| fields::value(draw, kind))
}

fn other_computed(draw: &mut Draw, home: &Entity, field: &Field) -> Option<Computed> {
    match field.computed.as_ref()? {
        Computed::Joined { first, second, separator } => {
            let others: Vec<&str> =
                fields::SEPARATORS.into_iter().filter(|candidate| *candidate != separator.as_str()).collect();
            if draw.chance(30) {
                return Some(Computed::Joined {
                    first: second.clone(),
                    second: first.clone(),
                    separator: separator.clone(),
                });
            }
            let separator = (*draw.pick(&others)?).to_owned();
            Some(Computed::Joined { first: first.clone(), second: second.clone(), separator })
        }
        Computed::AtLeast { field: operand, value: old } => {
            let value = fields::threshold(draw, &home.field(operand)?.kind)?;
            (value != *old).then(|| Computed::AtLeast { field: operand.clone(), value })
        }
        _ => None,
    }
}
