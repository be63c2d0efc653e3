//! What guards of an action say together: whether all of them can hold, and whether one of them matters.
//!
//! Guards that look at the same thing (a field, a field of a related record, a number of referring records) are judged
//! on the values where a comparison can change its mind; guards that look at different things are taken to be
//! independent.

use serde_json::{Value, json};

use super::values::fits;
use crate::ir::{Action, Comparison, Condition, Entity, Field, Kind, Schema};

/// What a guard can see: no related record, or a value (a count as a number).
type GuardInput = Option<Value>;

/// Whether some record can pass all guards.
pub(crate) fn can_hold(schema: &Schema, entity: &Entity, action: &Action) -> bool {
    action.guards.iter().all(|guard| {
        let same: Vec<&Condition> = guards_of_same_value(action, &guard.condition).collect();
        guard_inputs(schema, entity, &same).is_none_or(|all| {
            all.iter().any(|input| same.iter().all(|condition| holds(condition, input.as_ref())))
        })
    })
}

/// Whether an action allows other records if `other_condition` (or nothing) stands in the place of one of its guards.
pub fn matters(
    schema: &Schema,
    entity: &Entity,
    action: &Action,
    guard: usize,
    other_condition: Option<&Condition>,
) -> bool {
    let Some(old) = action.guards.get(guard).map(|guard| &guard.condition) else { return false };
    let others: Vec<&Condition> = guards_of_same_value(action, old).filter(|other| *other != old).collect();
    let mut all = others.clone();
    all.push(old);
    all.extend(other_condition);
    let Some(inputs) = guard_inputs(schema, entity, &all) else { return true };
    inputs.iter().any(|input| {
        let input = input.as_ref();
        others.iter().all(|other| holds(other, input))
            && holds(old, input)
                != other_condition.is_none_or(|other_condition| holds(other_condition, input))
    })
}

/// The values that a field of the record can have where all guards hold; nothing if they cannot be counted.
pub fn allowed_values(schema: &Schema, entity: &Entity, action: &Action, field: &str) -> Option<Vec<Value>> {
    let entity_field = entity.field(field)?;
    if !matches!(entity_field.kind, Kind::Enum { .. } | Kind::Boolean) {
        return None;
    }
    let guards: Vec<&Condition> = action
        .guards
        .iter()
        .map(|guard| &guard.condition)
        .filter(|condition| matches!(condition, Condition::Field { field: key, .. } if key == field))
        .collect();
    if guards.is_empty() {
        return None;
    }
    let inputs = guard_inputs(schema, entity, &guards)?;
    Some(
        inputs
            .into_iter()
            .flatten()
            .filter(|value| guards.iter().all(|condition| holds(condition, Some(value))))
            .collect(),
    )
}

/// The guards that look at the same thing as a condition, itself included.
fn guards_of_same_value<'a>(
    action: &'a Action,
    condition: &'a Condition,
) -> impl Iterator<Item = &'a Condition> {
    action.guards.iter().map(|guard| &guard.condition).filter(move |other| match (condition, other) {
        (Condition::Field { field, .. }, Condition::Field { field: other, .. }) => field == other,
        (
            Condition::Related { reference, field, .. },
            Condition::Related { reference: other_reference, field: other_field, .. },
        ) => reference == other_reference && field == other_field,
        (
            Condition::HasAtLeast { entity, reference, .. } | Condition::HasNone { entity, reference },
            Condition::HasAtLeast { entity: other_entity, reference: other_reference, .. }
            | Condition::HasNone { entity: other_entity, reference: other_reference },
        ) => entity == other_entity && reference == other_reference,
        _ => false,
    })
}

/// Everything that conditions on one thing can tell apart; nothing if the schema does not have the thing.
fn guard_inputs(schema: &Schema, entity: &Entity, conditions: &[&Condition]) -> Option<Vec<GuardInput>> {
    match conditions.first()? {
        Condition::HasAtLeast { .. } | Condition::HasNone { .. } => {
            Some((0..=5).map(|count| Some(json!(count))).collect())
        }
        Condition::Field { field, .. } => {
            Some(values(entity.field(field)?, conditions).into_iter().map(Some).collect())
        }
        Condition::Related { reference, field, .. } => {
            let reference = entity.field(reference)?;
            let compared = schema.entity(reference.target()?)?.field(field)?;
            let mut all: Vec<GuardInput> = values(compared, conditions).into_iter().map(Some).collect();
            if reference.nullable {
                all.push(None);
            }
            Some(all)
        }
    }
}

/// Values of a field on both sides of all that is compared with.
fn values(field: &Field, conditions: &[&Condition]) -> Vec<Value> {
    let mut all: Vec<Value> = match &field.kind {
        Kind::Enum { values } => values.iter().map(|value| json!(value)).collect(),
        Kind::Boolean => vec![json!(false), json!(true)],
        Kind::Integer { .. } => {
            let near = compared(conditions).filter_map(Value::as_i64);
            near.flat_map(|value| [value.saturating_sub(1), value, value.saturating_add(1)])
                .map(|value| json!(value))
                .filter(|value| fits(&field.kind, value))
                .collect()
        }
        Kind::Number { .. } => {
            let near = compared(conditions).filter_map(Value::as_f64);
            near.flat_map(|value| [value - 0.25, value, value + 0.25])
                .map(|value| json!(value))
                .filter(|value| fits(&field.kind, value))
                .collect()
        }
        // Some other text, which no one writes down.
        _ => compared(conditions).cloned().chain([json!("\u{1}")]).collect(),
    };
    if field.nullable {
        all.push(Value::Null);
    }
    all
}

fn compared<'a>(conditions: &'a [&'a Condition]) -> impl Iterator<Item = &'a Value> {
    conditions
        .iter()
        .filter_map(|condition| match condition {
            Condition::Field { is: comparison, .. } | Condition::Related { is: comparison, .. } => {
                Some(comparison)
            }
            _ => None,
        })
        .flat_map(|comparison| match comparison {
            Comparison::Equals(value)
            | Comparison::Not(value)
            | Comparison::AtLeast(value)
            | Comparison::AtMost(value) => std::slice::from_ref(value),
            Comparison::OneOf(values) => values,
            Comparison::IsSet | Comparison::IsNotSet => &[],
        })
}

fn holds(condition: &Condition, input: Option<&Value>) -> bool {
    let Some(value) = input else { return false };
    match condition {
        Condition::HasAtLeast { count, .. } => {
            value.as_u64().is_some_and(|records| records >= u64::from(*count))
        }
        Condition::HasNone { .. } => value == 0,
        Condition::Field { is, .. } | Condition::Related { is, .. } => {
            let number = |value: &Value| value.as_f64().unwrap_or(0.0);
            match is {
                Comparison::IsSet => !value.is_null(),
                Comparison::IsNotSet => value.is_null(),
                Comparison::Not(other) => value != other,
                _ if value.is_null() => false,
                Comparison::Equals(other) => value == other,
                Comparison::OneOf(others) => others.contains(value),
                Comparison::AtLeast(least) => number(value) >= number(least),
                Comparison::AtMost(most) => number(value) <= number(most),
            }
        }
    }
}
