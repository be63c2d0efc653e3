//! Rules of actions: parameters, guards and effects.

use std::mem::discriminant;

use serde_json::Value;

use super::fields::{kind_fault, refers};
use super::values::{divides_from_above, divides_from_below, fits};
use super::{Faults, MOST_PARTS, first_duplicate};
use crate::ir::{
    Action, Comparison, Condition, Effect, Entity, Field, Kind, Operand, Param, Schema, is_name,
};

pub(super) fn check(schema: &Schema, entity: &Entity, action: &Action, faults: &mut Faults) {
    let location = || format!("{}.{}", entity.key, action.key);
    for (label, name) in [("key", &action.key), ("name", &action.name)] {
        if !is_name(name) {
            faults.add(location(), format!("the {label} `{}` is no name", name.escape_debug()));
        }
    }
    if action.introduced_in == 0 || action.introduced_in > schema.turn {
        faults.add(location(), "it came in a turn that has not been");
    }
    if [action.params.len(), action.guards.len(), action.effects.len()].into_iter().any(|n| n > MOST_PARTS) {
        faults.add(location(), "it has too many parameters, guards or effects");
        return;
    }
    if action.effects.is_empty() {
        faults.add(location(), "it has no effect");
    }
    params(action, &location, faults);
    if let Some(key) = first_duplicate(action.guards.iter().map(|guard| guard.key.as_str())) {
        faults.add(location(), format!("two guards have the key `{key}`"));
    }
    for (index, guard) in action.guards.iter().enumerate() {
        let location = || format!("{}.guard.{}", location(), guard.key);
        if !is_name(&guard.key) {
            faults.add(location(), "the key is no name");
        }
        if let Some(problem) = condition_fault(schema, entity, &guard.condition) {
            faults.add(location(), problem);
        }
        if action.guards.iter().skip(index + 1).any(|other| other.condition == guard.condition) {
            faults.add(location(), "the condition is there twice");
        }
    }
    if !action.guards.is_empty() && !super::guards::can_hold(schema, entity, action) {
        faults.add(location(), "its conditions can never all hold");
    }
    for (index, effect) in action.effects.iter().enumerate() {
        let location = || match effect {
            Effect::Set { field, .. } | Effect::Increment { field, .. } => {
                format!("{}.effect.{field}", location())
            }
            Effect::Create { entity, .. } => format!("{}.effect.create_{entity}", location()),
        };
        if let Some(problem) = effect_fault(schema, entity, action, effect) {
            faults.add(location(), problem);
        }
        if action.effects.iter().skip(index + 1).any(|other| same_site(effect, other)) {
            faults.add(location(), "two effects do this");
        }
    }
}

/// Whether two effects write the same field, or create records of the same entity.
fn same_site(left: &Effect, right: &Effect) -> bool {
    match (left, right) {
        (
            Effect::Set { field, .. } | Effect::Increment { field, .. },
            Effect::Set { field: other, .. } | Effect::Increment { field: other, .. },
        ) => field == other,
        (Effect::Create { entity, .. }, Effect::Create { entity: other, .. }) => entity == other,
        (Effect::Create { entity, .. }, Effect::Set { field, .. } | Effect::Increment { field, .. })
        | (Effect::Set { field, .. } | Effect::Increment { field, .. }, Effect::Create { entity, .. }) => {
            field.strip_prefix("create_") == Some(entity.as_str())
        }
    }
}

fn params(action: &Action, location: &dyn Fn() -> String, faults: &mut Faults) {
    if let Some(key) = first_duplicate(action.params.iter().map(|param| param.key.as_str())) {
        faults.add(location(), format!("two parameters have the key `{key}`"));
    }
    if let Some(name) = first_duplicate(action.params.iter().map(|param| param.name.as_str())) {
        faults.add(location(), format!("two parameters have the name `{name}`"));
    }
    for param in &action.params {
        let location = || format!("{}.{}", location(), param.key);
        if !is_name(&param.key) || !is_name(&param.name) {
            faults.add(location(), "the key or name is no name");
        }
        if !matches!(
            param.kind,
            Kind::String { .. } | Kind::Integer { .. } | Kind::Number { .. } | Kind::Boolean
        ) {
            faults.add(location(), "a parameter is a string, integer, number or boolean");
        } else if let Some(problem) = kind_fault(&param.kind) {
            faults.add(location(), problem);
        }
        if !uses_param(action, &param.key) {
            faults.add(location(), "nothing uses the parameter");
        }
    }
}

/// Whether an effect takes a value from a parameter.
pub(crate) fn uses_param(action: &Action, param: &str) -> bool {
    let is_param = |operand: &Operand| matches!(operand, Operand::Param(key) if key == param);
    action.effects.iter().any(|effect| match effect {
        Effect::Set { to, .. } => is_param(to),
        Effect::Increment { by, .. } => is_param(by),
        Effect::Create { values, .. } => values.iter().any(|value| is_param(&value.from)),
    })
}

/// What is wrong with a condition of an entity's action.
pub(crate) fn condition_fault(schema: &Schema, entity: &Entity, condition: &Condition) -> Option<String> {
    match condition {
        Condition::Field { field, is } => comparison_fault(entity, field, is),
        Condition::Related { reference, field, is } => {
            let target = entity.field(reference).and_then(Field::target).and_then(|key| schema.entity(key));
            match target {
                None => Some(format!("`{reference}` is no reference")),
                Some(target) => comparison_fault(target, field, is),
            }
        }
        Condition::HasAtLeast { entity: from, reference, count } => {
            if !(1..=3).contains(count) {
                return Some("the number of records is 1 to 3".to_owned());
            }
            (!refers(schema, from, reference, &entity.key))
                .then(|| format!("`{from}.{reference}` is no reference to this entity"))
        }
        Condition::HasNone { entity: from, reference } => (!refers(schema, from, reference, &entity.key))
            .then(|| format!("`{from}.{reference}` is no reference to this entity")),
    }
}

fn comparison_fault(entity: &Entity, key: &str, comparison: &Comparison) -> Option<String> {
    let Some(field) = entity.field(key) else {
        return Some(format!("there is no field `{}.{key}`", entity.key));
    };
    if field.computed.is_some() || matches!(field.kind, Kind::Reference { .. } | Kind::StringList { .. }) {
        return Some(format!("`{}.{key}` cannot be compared", entity.key));
    }
    let good = match comparison {
        Comparison::Equals(value) | Comparison::Not(value) => {
            matches!(
                field.kind,
                Kind::Enum { .. } | Kind::Boolean | Kind::Integer { .. } | Kind::String { .. }
            ) && fits(&field.kind, value)
        }
        Comparison::OneOf(values) => match &field.kind {
            Kind::Enum { values: all } => {
                !values.is_empty()
                    && values.len() < all.len()
                    && values.iter().all(|value| fits(&field.kind, value))
                    && first_duplicate(values.iter().filter_map(Value::as_str)).is_none()
            }
            _ => false,
        },
        Comparison::AtLeast(value) => field.is_numeric() && divides_from_below(&field.kind, value),
        Comparison::AtMost(value) => field.is_numeric() && divides_from_above(&field.kind, value),
        Comparison::IsSet | Comparison::IsNotSet => field.nullable,
    };
    (!good).then(|| format!("`{}.{key}` is not compared so, or always with the same result", entity.key))
}

/// What is wrong with an effect.
fn effect_fault(schema: &Schema, entity: &Entity, action: &Action, effect: &Effect) -> Option<String> {
    match effect {
        Effect::Set { field: key, to } => {
            let Some(field) = entity.field(key) else {
                return Some(format!("there is no field `{key}`"));
            };
            if field.unique || field.immutable || field.computed.is_some() || field.target().is_some() {
                return Some(
                    "a field that is unique, immutable, computed or a reference is not set".to_owned(),
                );
            }
            match to {
                Operand::Value(value) => value_fault(field, value),
                Operand::Param(param) => param_fault(action, param, field),
                Operand::Own(_) => Some("a field is set to a value or a parameter".to_owned()),
            }
        }
        Effect::Increment { field: key, by: step } => {
            let Some(field) = entity.field(key) else {
                return Some(format!("there is no field `{key}`"));
            };
            let integer = matches!(field.kind, Kind::Integer { .. });
            if !integer || field.unique || field.immutable || field.computed.is_some() || field.nullable {
                return Some(
                    "only an integer that is never null, unique, immutable or computed is increased"
                        .to_owned(),
                );
            }
            match step {
                Operand::Value(value) => {
                    let good = value
                        .as_i64()
                        .is_some_and(|step| step != 0 && step.abs() <= super::values::GREATEST_NUMBER);
                    (!good).then(|| "the amount is an integer other than 0".to_owned())
                }
                Operand::Param(param) => param_fault(action, param, field),
                Operand::Own(_) => Some("the amount is a value or a parameter".to_owned()),
            }
        }
        Effect::Create { entity: other, reference, values } => {
            let Some(other) = schema.entity(other) else {
                return Some(format!("there is no entity `{other}`"));
            };
            if !refers(schema, &other.key, reference, &entity.key) {
                return Some(format!("`{}.{reference}` is no reference to this entity", other.key));
            }
            if values.len() > other.fields.len() {
                return Some("more fields are given than there are".to_owned());
            }
            if let Some(key) = first_duplicate(values.iter().map(|value| value.field.as_str())) {
                return Some(format!("`{key}` is given twice"));
            }
            for value in values {
                if let Some(problem) =
                    created_fault(entity, action, other, reference, &value.field, &value.from)
                {
                    return Some(problem);
                }
            }
            other.fields.iter().find_map(|field| {
                if field.required && field.unique {
                    Some(format!("`{}.{}` is required and unique", other.key, field.key))
                } else if field.required
                    && field.key != *reference
                    && !values.iter().any(|value| value.field == field.key)
                {
                    Some(format!("`{}.{}` is required and not given", other.key, field.key))
                } else {
                    None
                }
            })
        }
    }
}

/// What is wrong with the value of a field of a created record.
fn created_fault(
    entity: &Entity,
    action: &Action,
    other: &Entity,
    reference: &str,
    key: &str,
    from: &Operand,
) -> Option<String> {
    let Some(field) = other.field(key) else {
        return Some(format!("there is no field `{}.{key}`", other.key));
    };
    if field.computed.is_some() || field.unique || key == reference {
        return Some(format!("`{}.{key}` is unique, computed or the reference itself", other.key));
    }
    match from {
        Operand::Value(value) => value_fault(field, value),
        Operand::Param(param) => param_fault(action, param, field),
        Operand::Own(operand_field) => {
            let Some(operand_field) = entity.field(operand_field) else {
                return Some(format!("there is no field `{operand_field}`"));
            };
            let same = match (&operand_field.kind, &field.kind) {
                (Kind::Enum { values }, Kind::Enum { values: all }) => {
                    values.iter().all(|value| all.contains(value))
                }
                (Kind::Reference { entity, .. }, Kind::Reference { entity: other, .. }) => entity == other,
                (operand_field, field) => discriminant(operand_field) == discriminant(field),
            };
            (operand_field.nullable || operand_field.computed.is_some() || !same)
                .then(|| format!("`{}` is not of the same kind, or can be null", operand_field.key))
        }
    }
}

fn value_fault(field: &Field, value: &Value) -> Option<String> {
    let good = if value.is_null() { field.nullable } else { fits(&field.kind, value) };
    (!good).then(|| format!("`{}` cannot have this value", field.key))
}

fn param_fault(action: &Action, key: &str, field: &Field) -> Option<String> {
    let param: Option<&Param> = action.params.iter().find(|param| param.key == key);
    match param {
        None => Some(format!("there is no parameter `{key}`")),
        Some(param) => (discriminant(&param.kind) != discriminant(&field.kind))
            .then(|| format!("the parameter `{key}` is not of the kind of `{}`", field.key)),
    }
}
