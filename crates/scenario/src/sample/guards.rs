//! New conditions of actions.

use serde_json::{Value, json};

use super::fields::threshold;
use super::names::is_used;
use crate::draw::Draw;
use crate::ir::{
    Action, Comparison, Condition, Effect, Entity, Field, Guard, Kind, Operand, Schema, is_name,
};

/// A condition that no guard of the action has yet, on something that no guard looks at; nothing if there is none.
pub(super) fn condition(
    draw: &mut Draw,
    schema: &Schema,
    entity: &Entity,
    action: &Action,
) -> Option<Condition> {
    let free = |subject: &(Option<&str>, &str)| {
        action.guards.iter().all(|guard| subject_of(&guard.condition) != *subject)
    };
    let mut ways = [0, 0, 0, 1, 1, 2, 3];
    draw.shuffle(&mut ways);
    ways.into_iter().find_map(|way| match way {
        0 => {
            let fields: Vec<&Field> = entity
                .fields
                .iter()
                .filter(|field| {
                    is_comparable(field) && free(&(None, &field.key)) && !is_set_by(action, field)
                })
                .collect();
            let field = *draw.pick(&fields)?;
            Some(Condition::Field { field: field.key.clone(), is: comparison(draw, field)? })
        }
        1 => {
            let all: Vec<(&Field, &Field)> = entity
                .fields
                .iter()
                .filter_map(|reference| Some((reference, schema.entity(reference.target()?)?)))
                .flat_map(|(reference, target)| target.fields.iter().map(move |field| (reference, field)))
                .filter(|(reference, field)| {
                    is_comparable(field)
                        && matches!(field.kind, Kind::Enum { .. } | Kind::Boolean | Kind::Integer { .. })
                        && free(&(Some(&reference.key), &field.key))
                })
                .collect();
            let (reference, field) = *draw.pick(&all)?;
            Some(Condition::Related {
                reference: reference.key.clone(),
                field: field.key.clone(),
                is: comparison(draw, field)?,
            })
        }
        way => {
            // An effect that creates records of an entity is no condition on them.
            let all: Vec<(&Entity, &Field)> = schema
                .references_to(&entity.key)
                .filter(|(owner, field)| free(&(Some(&owner.key), &field.key)))
                .collect();
            let (owner, reference) = *draw.pick(&all)?;
            let (entity, reference) = (owner.key.clone(), reference.key.clone());
            Some(if way == 2 {
                Condition::HasAtLeast { entity, reference, count: if draw.chance(75) { 1 } else { 2 } }
            } else {
                Condition::HasNone { entity, reference }
            })
        }
    })
}

/// What a condition looks at: (reference or other entity, field).
fn subject_of(condition: &Condition) -> (Option<&str>, &str) {
    match condition {
        Condition::Field { field, .. } => (None, field),
        Condition::Related { reference, field, .. } => (Some(reference), field),
        Condition::HasAtLeast { entity, reference, .. } | Condition::HasNone { entity, reference } => {
            (Some(entity), reference)
        }
    }
}

fn is_comparable(field: &Field) -> bool {
    field.is_writable()
        && (field.nullable
            || matches!(
                field.kind,
                Kind::Enum { .. } | Kind::Boolean | Kind::Integer { .. } | Kind::Number { .. }
            ))
        && !matches!(field.kind, Kind::Reference { .. } | Kind::StringList { .. })
}

/// Whether an action writes a field to a value: then a guard on it must leave room for a change.
fn is_set_by(action: &Action, field: &Field) -> bool {
    action.effects.iter().any(
        |effect| matches!(effect, Effect::Set { field: set, to: Operand::Value(_) } if *set == field.key),
    )
}

/// A comparison of a field that holds for some of its values and not for others.
pub(super) fn comparison(draw: &mut Draw, field: &Field) -> Option<Comparison> {
    if field.nullable && draw.chance(45) {
        return Some(if draw.chance(75) { Comparison::IsSet } else { Comparison::IsNotSet });
    }
    Some(match &field.kind {
        Kind::Enum { values } => {
            let value = json!(draw.pick(values)?);
            match draw.number_below(4) {
                0 => Comparison::Equals(value),
                1 if values.len() > 2 => {
                    let mut some = values.clone();
                    draw.shuffle(&mut some);
                    some.truncate(2);
                    Comparison::OneOf(some.into_iter().map(Value::from).collect())
                }
                _ => Comparison::Not(value),
            }
        }
        Kind::Boolean => Comparison::Equals(json!(draw.chance(60))),
        Kind::Integer { .. } | Kind::Number { .. } => {
            let value = threshold(draw, &field.kind)?;
            if draw.chance(50) { Comparison::AtLeast(value) } else { Comparison::AtMost(value) }
        }
        _ if field.nullable => Comparison::IsSet,
        _ => return None,
    })
}

/// The condition that a field is not yet what an action sets it to.
pub(super) fn condition_before(draw: &mut Draw, field: &Field, value_after: &Value) -> Option<Condition> {
    let comparison = match &field.kind {
        Kind::Enum { values } => {
            let others: Vec<&String> =
                values.iter().filter(|value| value_after.as_str() != Some(value)).collect();
            match draw.number_below(3) {
                0 => Comparison::Equals(json!(draw.pick(&others)?)),
                1 if others.len() > 2 => {
                    Comparison::OneOf(others.iter().take(2).map(|value| json!(value)).collect())
                }
                _ => Comparison::Not(value_after.clone()),
            }
        }
        Kind::Boolean => Comparison::Equals(json!(!value_after.as_bool()?)),
        _ => return None,
    };
    Some(Condition::Field { field: field.key.clone(), is: comparison })
}

/// Whether a condition lets an action through only where a field has this value already.
pub(super) fn demands(condition: &Condition, key: &str, value: &Value) -> bool {
    match condition {
        Condition::Field { field, is } if field == key => match is {
            Comparison::Equals(only) => only == value,
            Comparison::OneOf(all) => all.len() == 1 && all.contains(value),
            _ => false,
        },
        _ => false,
    }
}

/// A guard with a key made of its condition; nothing if that key was used before.
pub(super) fn named_guard(
    schema: &Schema,
    entity: &Entity,
    action: &Action,
    condition: Condition,
) -> Option<Guard> {
    let compared = |field: &str, comparison: &Comparison| match comparison {
        Comparison::Equals(Value::String(value)) => vec![value.clone(), format!("{field}_{value}")],
        Comparison::Equals(Value::Bool(true)) => vec![field.to_owned(), format!("is_{field}")],
        Comparison::Equals(Value::Bool(false)) => vec![format!("not_{field}"), format!("without_{field}")],
        Comparison::Not(Value::String(value)) => vec![format!("not_{value}"), format!("{field}_not_{value}")],
        Comparison::Equals(_) => vec![format!("{field}_fixed"), format!("exact_{field}")],
        Comparison::Not(_) => vec![format!("{field}_other"), format!("different_{field}")],
        Comparison::OneOf(_) => vec![format!("{field}_allowed"), format!("fitting_{field}")],
        Comparison::AtLeast(_) => vec![format!("enough_{field}"), format!("{field}_high")],
        Comparison::AtMost(_) => vec![format!("limited_{field}"), format!("{field}_low")],
        Comparison::IsSet => vec![format!("{field}_set"), format!("with_{field}")],
        Comparison::IsNotSet => vec![format!("no_{field}"), format!("{field}_open")],
    };
    let keys = match &condition {
        Condition::Field { field, is: comparison } => compared(field, comparison),
        Condition::Related { reference, field, is: comparison } => {
            compared(field, comparison).into_iter().map(|key| format!("{reference}_{key}")).collect()
        }
        Condition::HasAtLeast { entity, count, .. } => {
            let word = if *count == 1 { "has" } else { "several" };
            vec![format!("{word}_{entity}"), format!("with_{entity}")]
        }
        Condition::HasNone { entity, .. } => vec![format!("no_{entity}"), format!("without_{entity}")],
    };
    let key = keys.into_iter().find(|key| {
        is_name(key)
            && action.guards.iter().all(|guard| guard.key != *key)
            && !is_used(schema, &format!("{}.{}.guard.{key}", entity.key, action.key))
    })?;
    Some(Guard { key, condition })
}

/// Another condition for a guard, on the same thing, so that its key still says what it looks at.
pub(super) fn other_condition(
    draw: &mut Draw,
    schema: &Schema,
    entity: &Entity,
    action: &Action,
    guard: &Guard,
) -> Option<Condition> {
    let changed = |draw: &mut Draw, field: &Field, comparison: &Comparison| {
        let values = match &field.kind {
            Kind::Enum { values } => values.as_slice(),
            _ => &[],
        };
        Some(match comparison {
            Comparison::AtLeast(_) => Comparison::AtLeast(threshold(draw, &field.kind)?),
            Comparison::AtMost(_) => Comparison::AtMost(threshold(draw, &field.kind)?),
            Comparison::OneOf(_) if values.len() > 2 => {
                let mut some = values.to_vec();
                draw.shuffle(&mut some);
                some.truncate(values.len() - 1);
                Comparison::OneOf(some.into_iter().map(Value::from).collect())
            }
            Comparison::Equals(Value::String(value)) if values.len() > 2 => {
                let further = draw.pick(values).filter(|other| *other != value)?;
                Comparison::OneOf(vec![json!(value), json!(further)])
            }
            _ => return None,
        })
    };
    let condition = match &guard.condition {
        Condition::Field { field, is: comparison } => {
            Condition::Field { field: field.clone(), is: changed(draw, entity.field(field)?, comparison)? }
        }
        Condition::Related { reference, field, is: comparison } => {
            let target = schema.entity(entity.field(reference)?.target()?)?;
            Condition::Related {
                reference: reference.clone(),
                field: field.clone(),
                is: changed(draw, target.field(field)?, comparison)?,
            }
        }
        Condition::HasAtLeast { entity, reference, count } => Condition::HasAtLeast {
            entity: entity.clone(),
            reference: reference.clone(),
            count: if *count == 1 { 2 } else { 1 },
        },
        Condition::HasNone { .. } => return None,
    };
    // What the action does must still be seen.
    let is_satisfiable = action.effects.iter().all(|effect| match effect {
        Effect::Set { field, to: Operand::Value(value_after) } => !demands(&condition, field, value_after),
        _ => true,
    });
    (condition != guard.condition && is_satisfiable).then_some(condition)
}
