//! Rules of a schema in short: `price := final_price; if status = in_work`.

use scenario::ir::{
    Action, Analytic, Comparison, Computed, Condition, Effect, Entity, Field, Measure, Operand, Schema, words,
};
use serde_json::Value;

/// A value without the quotes of JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The name of a field in JSON, by its key.
fn field_name(schema: &Schema, entity: &str, field: &str) -> String {
    schema
        .entity(entity)
        .and_then(|entity| entity.field(field))
        .map_or_else(|| field.to_owned(), |field| schema.json_name(&field.name))
}

/// The name of the entities of a kind.
fn plural(schema: &Schema, entity: &str) -> String {
    schema.entity(entity).map_or_else(|| words(entity), |entity| words(&entity.plural))
}

/// How a field is computed.
pub(super) fn computed_text(schema: &Schema, entity: &Entity, computed: &Computed) -> String {
    let own = |field: &str| field_name(schema, &entity.key, field);
    match computed {
        Computed::Joined { first, second, separator } => {
            format!("= {} + \"{separator}\" + {}", own(first), own(second))
        }
        Computed::Product { left, right } => format!("= {} × {}", own(left), own(right)),
        Computed::Sum { left, right } => format!("= {} + {}", own(left), own(right)),
        Computed::AtLeast { field, value } => format!("= {} ≥ {}", own(field), plain(value)),
        Computed::CountOf { entity, .. } => format!("= number of {}", plural(schema, entity)),
        Computed::TotalOf { entity, field, .. } => {
            format!("= sum of {} of {}", field_name(schema, entity, field), plural(schema, entity))
        }
    }
}

fn comparison(condition: &Comparison) -> String {
    match condition {
        Comparison::Equals(value) => format!("= {}", plain(value)),
        Comparison::Not(value) => format!("≠ {}", plain(value)),
        Comparison::OneOf(values) => {
            format!("is {}", values.iter().map(plain).collect::<Vec<_>>().join(" or "))
        }
        Comparison::AtLeast(value) => format!("≥ {}", plain(value)),
        Comparison::AtMost(value) => format!("≤ {}", plain(value)),
        Comparison::IsSet => "is set".to_owned(),
        Comparison::IsNotSet => "is not set".to_owned(),
    }
}

/// What an action does, and when it may.
pub(super) fn action_text(schema: &Schema, entity: &Entity, action: &Action) -> String {
    let own = |field: &str| field_name(schema, &entity.key, field);
    let operand = |operand: &Operand| match operand {
        Operand::Value(value) => plain(value),
        Operand::Param(key) => action
            .params
            .iter()
            .find(|param| param.key == *key)
            .map_or_else(|| key.clone(), |param| schema.json_name(&param.name)),
        Operand::Own(field) => own(field),
    };
    let guards: Vec<String> = action
        .guards
        .iter()
        .map(|guard| match &guard.condition {
            Condition::Field { field, is } => format!("{} {}", own(field), comparison(is)),
            Condition::Related { reference, field, is } => {
                let target = entity.field(reference).and_then(Field::target).unwrap_or_default();
                format!("{}.{} {}", own(reference), field_name(schema, target, field), comparison(is))
            }
            Condition::HasAtLeast { entity, count, .. } => {
                format!("at least {count} {}", plural(schema, entity))
            }
            Condition::HasNone { entity, .. } => format!("no {}", plural(schema, entity)),
        })
        .collect();
    let effects: Vec<String> = action
        .effects
        .iter()
        .map(|effect| match effect {
            Effect::Set { field, to } => format!("{} := {}", own(field), operand(to)),
            Effect::Increment { field, by } => format!("{} += {}", own(field), operand(by)),
            Effect::Create { entity, .. } => format!("creates one of {}", plural(schema, entity)),
        })
        .collect();
    let effects = effects.join("; ");
    if guards.is_empty() { effects } else { format!("{effects}; if {}", guards.join(" and ")) }
}

/// What an analytic computes.
pub(super) fn analytic_text(schema: &Schema, analytic: &Analytic) -> String {
    let own = |field: &str| field_name(schema, &analytic.entity, field);
    let measure = match &analytic.measure {
        Measure::Count => "number".to_owned(),
        Measure::Sum(field) => format!("sum of {}", own(field)),
        Measure::Average(field) => format!("average {}", own(field)),
        Measure::Min(field) => format!("least {}", own(field)),
        Measure::Max(field) => format!("greatest {}", own(field)),
    };
    let mut text = format!("{measure} of {}", plural(schema, &analytic.entity));
    if let Some(group) = &analytic.group_by {
        text.push_str(&format!(" by {}", own(group)));
    }
    if let Some(only) = &analytic.only {
        let target = only
            .through
            .as_ref()
            .and_then(|reference| schema.entity(&analytic.entity)?.field(reference)?.target())
            .unwrap_or(&analytic.entity);
        let through =
            only.through.as_ref().map_or_else(String::new, |reference| format!("{}.", own(reference)));
        text.push_str(&format!(
            ", where {through}{} = {}",
            field_name(schema, target, &only.field),
            plain(&only.equals)
        ));
    }
    if let Some(parameter) = &analytic.by {
        text.push_str(&format!("; parameter {}", own(parameter)));
    }
    text
}
