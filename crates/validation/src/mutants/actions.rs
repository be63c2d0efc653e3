//! Guards and effects that are dropped, turned round or shifted.

use scenario::check::guards::{allowed_values, matters};
use scenario::ir::{Action, Comparison, Condition, Effect, Entity, Field, Kind, Operand, Schema};
use serde_json::{Value, json};

use super::entities::edit as edit_entity;
use super::fields::{describe_kind, kinds, odd_value, other_value};
use super::{Operator, Sites};

type ActionPosition = (usize, usize);

pub(super) fn find<'a>(
    schema: &'a Schema,
    place: ActionPosition,
    entity: &'a Entity,
    action: &'a Action,
    sites: &mut Sites<'a>,
) {
    let location = format!("{}.{}", entity.key, action.key);
    sites.edit(
        Operator::ActionMissing,
        location.clone(),
        edit(place, |action| action.name.push_str("_missing")),
    );
    for (index, param) in action.params.iter().enumerate() {
        for (operator, kind) in kinds(&param.kind) {
            sites.edit(
                operator,
                format!("{location}.param.{} {}", param.key, describe_kind(&kind)),
                edit(place, move |action| {
                    if let Some(param) = action.params.get_mut(index) {
                        param.kind = kind.clone();
                    }
                }),
            );
        }
    }
    for (index, guard) in action.guards.iter().enumerate() {
        let location = format!("{location}.guard.{}", guard.key);
        if matters(schema, entity, action, index, None) {
            sites.edit(
                Operator::GuardDropped,
                location.clone(),
                edit(place, move |action| drop(action.guards.remove(index))),
            );
        }
        let field = compared_field(schema, entity, &guard.condition);
        let mut add_mutant = |operator, condition: Condition| {
            if matters(schema, entity, action, index, Some(&condition)) {
                sites.edit(
                    operator,
                    location.clone(),
                    edit(place, move |action| {
                        if let Some(guard) = action.guards.get_mut(index) {
                            guard.condition = condition.clone();
                        }
                    }),
                );
            }
        };
        if let Some(inverted) = inverted(&guard.condition, field) {
            add_mutant(Operator::GuardInverted, inverted);
        }
        for shifted in shifted(&guard.condition, field) {
            add_mutant(Operator::GuardOffByOne, shifted);
        }
    }
    for (index, effect) in action.effects.iter().enumerate() {
        self::effect(schema, place, entity, action, index, effect, &location, sites);
    }
}

/// An edit of the action at a position.
fn edit<'a>(
    (entity, action): ActionPosition,
    edit: impl Fn(&mut Action) + Send + Sync + 'a,
) -> impl Fn(&mut Schema) + Send + Sync + 'a {
    edit_entity(entity, move |entity| {
        if let Some(action) = entity.actions.get_mut(action) {
            edit(action);
        }
    })
}

fn compared_field<'a>(schema: &'a Schema, entity: &'a Entity, condition: &Condition) -> Option<&'a Field> {
    match condition {
        Condition::Field { field, .. } => entity.field(field),
        Condition::Related { reference, field, .. } => {
            schema.entity(entity.field(reference)?.target()?)?.field(field)
        }
        _ => None,
    }
}

/// The condition turned round.
fn inverted(condition: &Condition, field: Option<&Field>) -> Option<Condition> {
    let turn = |comparison: &Comparison| {
        let field = field?;
        Some(match comparison {
            Comparison::Equals(value) => Comparison::Not(value.clone()),
            Comparison::Not(value) => Comparison::Equals(value.clone()),
            Comparison::OneOf(values) => match &field.kind {
                Kind::Enum { values: all } => Comparison::OneOf(
                    all.iter().map(|value| json!(value)).filter(|v| !values.contains(v)).collect(),
                ),
                _ => return None,
            },
            Comparison::AtLeast(value) => Comparison::AtMost(step(field, value, -1)?),
            Comparison::AtMost(value) => Comparison::AtLeast(step(field, value, 1)?),
            Comparison::IsSet => Comparison::IsNotSet,
            Comparison::IsNotSet => Comparison::IsSet,
        })
    };
    Some(match condition {
        Condition::Field { field, is: comparison } => {
            Condition::Field { field: field.clone(), is: turn(comparison)? }
        }
        Condition::Related { reference, field, is: comparison } => {
            Condition::Related { reference: reference.clone(), field: field.clone(), is: turn(comparison)? }
        }
        Condition::HasAtLeast { entity, reference, .. } => {
            Condition::HasNone { entity: entity.clone(), reference: reference.clone() }
        }
        Condition::HasNone { entity, reference } => {
            Condition::HasAtLeast { entity: entity.clone(), reference: reference.clone(), count: 1 }
        }
    })
}

/// The condition with a bound that is one step off.
fn shifted(condition: &Condition, field: Option<&Field>) -> Vec<Condition> {
    let shift = |comparison: &Comparison, difference| {
        Some(match comparison {
            Comparison::AtLeast(value) => Comparison::AtLeast(step(field?, value, difference)?),
            Comparison::AtMost(value) => Comparison::AtMost(step(field?, value, difference)?),
            _ => return None,
        })
    };
    let effect_step = |difference: i64| {
        Some(match condition {
            Condition::Field { field, is: comparison } => {
                Condition::Field { field: field.clone(), is: shift(comparison, difference)? }
            }
            Condition::Related { reference, field, is: comparison } => Condition::Related {
                reference: reference.clone(),
                field: field.clone(),
                is: shift(comparison, difference)?,
            },
            Condition::HasAtLeast { entity, reference, count } => Condition::HasAtLeast {
                entity: entity.clone(),
                reference: reference.clone(),
                count: u32::try_from(i64::from(*count) + difference).ok()?,
            },
            Condition::HasNone { .. } => return None,
        })
    };
    [-1, 1].into_iter().filter_map(effect_step).collect()
}

/// A number some steps on.
fn step(field: &Field, value: &Value, steps: i64) -> Option<Value> {
    match field.kind {
        Kind::Integer { .. } => Some(json!(value.as_i64()?.saturating_add(steps))),
        Kind::Number { .. } => Some(json!(value.as_f64()? + 0.25 * steps as f64)),
        _ => None,
    }
}

#[expect(clippy::too_many_arguments, reason = "where it is and what it belongs to")]
fn effect<'a>(
    schema: &'a Schema,
    place: ActionPosition,
    entity: &'a Entity,
    action: &'a Action,
    index: usize,
    effect: &'a Effect,
    location: &str,
    sites: &mut Sites<'a>,
) {
    let drop_it = edit(place, move |action| drop(action.effects.remove(index)));
    let effect_with = move |operand: Operand| {
        edit(place, move |action| match action.effects.get_mut(index) {
            Some(Effect::Set { to, .. }) => *to = operand.clone(),
            Some(Effect::Increment { by: difference, .. }) => *difference = operand.clone(),
            _ => {}
        })
    };
    match effect {
        Effect::Set { field: key, to } => {
            let Some(field) = entity.field(key) else { return };
            let location = format!("{location}.effect.{key}");
            // What the guards demand already cannot be seen to be set.
            let is_set = matches!(to, Operand::Value(value)
                if allowed_values(schema, entity, action, key).is_some_and(|all| all.iter().all(|allowed| allowed == value)));
            if !is_set {
                sites.edit(Operator::EffectDropped, location.clone(), drop_it);
            }
            let other = match to {
                Operand::Value(value) => other_value(&field.kind, value),
                _ => odd_value(&field.kind),
            };
            if let Some(other) = other {
                sites.edit(Operator::EffectWrongValue, location, effect_with(Operand::Value(other)));
            }
        }
        Effect::Increment { field, by: difference } => {
            let location = format!("{location}.effect.{field}");
            sites.edit(Operator::EffectDropped, location.clone(), drop_it);
            let wrong = match difference {
                Operand::Value(value) => value.as_i64().map_or(1, |difference| difference.saturating_add(1)),
                // Any amount that is not the one that was given; tests give small ones.
                _ => 123_457,
            };
            sites.edit(Operator::IncrementOffByOne, location, effect_with(Operand::Value(json!(wrong))));
        }
        Effect::Create { entity: other, values, .. } => {
            let location = format!("{location}.effect.create_{other}");
            sites.edit(Operator::CreateEffectDropped, location.clone(), drop_it);
            let Some(other) = schema.entity(other) else { return };
            for (nth, value) in values.iter().enumerate() {
                let Some(field) = other.field(&value.field) else { continue };
                let wrong = match &value.from {
                    Operand::Value(value) => other_value(&field.kind, value),
                    _ => odd_value(&field.kind),
                };
                let Some(wrong) = wrong else { continue };
                sites.edit(
                    Operator::CreateEffectWrong,
                    format!("{location} {}", value.field),
                    edit(place, move |action| {
                        if let Some(Effect::Create { values, .. }) = action.effects.get_mut(index)
                            && let Some(value) = values.get_mut(nth)
                        {
                            value.from = Operand::Value(wrong.clone());
                        }
                    }),
                );
            }
        }
    }
}
