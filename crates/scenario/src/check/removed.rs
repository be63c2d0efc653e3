//! Rules of what was removed: each entry must be true of the schema, so that it can be stated and tested.

use serde_json::Value;

use super::values::fits;
use super::{Faults, condition_fault};
use crate::ir::{Effect, Entity, Field, Kind, Removed, Schema};

/// How an entry stands to the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryStanding {
    /// It is true.
    Current,
    /// What it says to be gone is there.
    Restored,
    /// What it is about is there no more.
    Moot,
}

pub(super) fn check(schema: &Schema, faults: &mut Faults) {
    if schema.removed.len() > 2000 {
        faults.add("gone", "there are too many entries");
        return;
    }
    for (index, removed) in schema.removed.iter().enumerate() {
        match standing(schema, removed) {
            EntryStanding::Current => {}
            EntryStanding::Restored => {
                faults.add(format!("gone.{index}"), "what it says to be gone is there");
            }
            EntryStanding::Moot => faults.add(format!("gone.{index}"), "what it is about is there no more"),
        }
    }
}

/// How an entry stands to a schema that is valid otherwise.
pub(crate) fn standing(schema: &Schema, removed: &Removed) -> EntryStanding {
    judge(schema, removed).unwrap_or(EntryStanding::Moot)
}

/// Nothing if a part that the entry is about is missing.
fn judge(schema: &Schema, removed: &Removed) -> Option<EntryStanding> {
    let back =
        match removed {
            Removed::Collection { plural } => schema.entities.iter().any(|entity| entity.plural == *plural),
            Removed::Prefix { prefix } => schema.conventions.prefix == *prefix,
            Removed::Field { entity, name } => {
                schema.entity(entity)?.fields.iter().any(|field| field.name == *name)
            }
            Removed::EnumValue { entity, field, value } => match &schema.entity(entity)?.field(field)?.kind {
                Kind::Enum { values } => values.contains(value),
                _ => return None,
            },
            Removed::Nested { parent, plural: name } | Removed::Action { entity: parent, name } => {
                let parent = schema.entity(parent)?;
                parent.actions.iter().any(|action| action.name == *name)
                    || schema
                        .entities
                        .iter()
                        .find(|child| child.plural == *name)
                        .is_some_and(|child| is_nested(child, &parent.key))
            }
            Removed::Analytic { name } => schema.analytics.iter().any(|analytic| analytic.name == *name),
            Removed::AnalyticRestriction { analytic, only } => {
                let analytic = schema.analytic(analytic)?;
                let entity = schema.entity(&analytic.entity)?;
                if super::analytics::restriction_fault(schema, entity, only).is_some() {
                    return None;
                }
                analytic.only.is_some()
            }
            Removed::AnalyticFilter { analytic, field } => {
                let analytic = schema.analytic(analytic)?;
                schema.entity(&analytic.entity)?.field(field)?.target()?;
                analytic.by.as_ref() == Some(field)
            }
            Removed::Filter { entity, field, op } => {
                let entity = schema.entity(entity)?;
                entity.field(field)?;
                entity.filters.iter().any(|filter| filter.field == *field && filter.op == *op)
            }
            Removed::Sort { entity, field } => {
                let entity = schema.entity(entity)?;
                entity.field(field)?;
                entity.sorts.contains(field)
            }
            Removed::Constraint { entity, field, accepted } => {
                let field = writable_field(schema, entity, field)?;
                if accepted.is_null() { !field.nullable } else { refuses(field, accepted)? }
            }
            Removed::Unique { entity, field } => writable_field(schema, entity, field)?.unique,
            Removed::Immutable { entity, field } => writable_field(schema, entity, field)?.immutable,
            Removed::Guard { entity, action, condition } => {
                let entity = schema.entity(entity)?;
                let action = entity.action(action)?;
                if condition_fault(schema, entity, condition).is_some() {
                    return None;
                }
                action.guards.iter().any(|guard| guard.condition == *condition)
            }
            Removed::Effect { entity, action, field } => {
                let entity = schema.entity(entity)?;
                entity.field(field)?;
                entity.action(action)?.effects.iter().any(|effect| match effect {
                    Effect::Set { field: set, .. } | Effect::Increment { field: set, .. } => set == field,
                    Effect::Create { .. } => false,
                })
            }
            Removed::Created { entity, action, other } => {
                schema.entity(other)?;
                schema.entity(entity)?.action(action)?.effects.iter().any(
                    |effect| matches!(effect, Effect::Create { entity: created, .. } if created == other),
                )
            }
            Removed::SoftDelete { entity } => schema.entity(entity)?.soft_delete,
        };
    Some(if back { EntryStanding::Restored } else { EntryStanding::Current })
}

fn writable_field<'a>(schema: &'a Schema, entity: &str, field: &str) -> Option<&'a Field> {
    schema.entity(entity)?.field(field).filter(|field| field.is_writable())
}

/// Whether a field refuses a value of its own type; nothing if the value is of another type.
fn refuses(field: &Field, value: &Value) -> Option<bool> {
    let free = match &field.kind {
        Kind::String { .. } => Kind::String { min_length: None, max_length: None, pattern: None },
        Kind::Integer { .. } => Kind::Integer { min: None, max: None },
        Kind::Number { .. } => Kind::Number { min: None, max: None },
        Kind::StringList { .. } => Kind::StringList { min_items: None, max_items: None },
        _ => return None,
    };
    fits(&free, value).then(|| !fits(&field.kind, value))
}

/// Whether an entity has a nested route under a parent.
pub(crate) fn is_nested(child: &Entity, parent: &str) -> bool {
    child
        .fields
        .iter()
        .any(|field| matches!(&field.kind, Kind::Reference { entity, nested: true, .. } if entity == parent))
}
