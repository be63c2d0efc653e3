//! Changes of actions: guards, effects, and parameters with them.

use super::claims::{claim_in, claim_part, insert};
use super::parts::entity;
use super::refusal::{Refusal, refuse};
use crate::check::uses_param;
use crate::ir::{Action, Comparison, Condition, Effect, Guard, Operand, Param, Removed, Schema};

pub(super) fn add(schema: &mut Schema, entity_key: &str, action: &Action) -> Result<(), Refusal> {
    claim_part(schema, entity_key, &action.key)?;
    if action.name != action.key {
        claim_part(schema, entity_key, &action.name)?;
    }
    let introduced_in = schema.turn;
    for guard in &action.guards {
        insert(&mut schema.used, guard_path(entity_key, &action.key, &guard.key));
    }
    entity(schema, entity_key)?.actions.push(Action { introduced_in, ..action.clone() });
    Ok(())
}

fn guard_path(entity_key: &str, action: &str, guard: &str) -> String {
    format!("{entity_key}.{action}.guard.{guard}")
}

fn action<'a>(schema: &'a mut Schema, entity_key: &str, key: &str) -> Result<&'a mut Action, Refusal> {
    match entity(schema, entity_key)?.action_mut(key) {
        Some(action) => Ok(action),
        None => refuse(format!("there is no action `{entity_key}.{}`", key.escape_debug())),
    }
}

pub(super) fn remove(schema: &mut Schema, entity_key: &str, key: &str) -> Result<(), Refusal> {
    let turn = schema.turn;
    let removed = action(schema, entity_key, key)?;
    let (name, is_new) = (removed.name.clone(), removed.introduced_in == turn);
    entity(schema, entity_key)?.actions.retain(|action| action.key != key);
    insert(&mut schema.used, format!("{entity_key}.{key}"));
    insert(&mut schema.used, format!("{entity_key}.{name}"));
    if !is_new {
        schema.removed.push(Removed::Action { entity: entity_key.to_owned(), name });
    }
    Ok(())
}

pub(super) fn rename(schema: &mut Schema, entity_key: &str, key: &str, name: &str) -> Result<(), Refusal> {
    let turn = schema.turn;
    let renamed = action(schema, entity_key, key)?;
    let (old, is_new) = (renamed.name.clone(), renamed.introduced_in == turn);
    if old == name {
        return refuse(format!("the action `{entity_key}.{key}` has this name already"));
    }
    // Its first name is its own.
    if name != key {
        claim_part(schema, entity_key, name)?;
    }
    insert(&mut schema.used, format!("{entity_key}.{key}"));
    insert(&mut schema.used, format!("{entity_key}.{old}"));
    name.clone_into(&mut action(schema, entity_key, key)?.name);
    if !is_new {
        schema.removed.push(Removed::Action { entity: entity_key.to_owned(), name: old });
    }
    Ok(())
}

pub(super) fn add_guard(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    guard: &Guard,
) -> Result<(), Refusal> {
    let there = action(schema, entity_key, key)?;
    if there.guards.iter().any(|one| one.key == guard.key) {
        return refuse(format!("the action `{entity_key}.{key}` has a guard `{}`", guard.key));
    }
    if there.guards.iter().any(|one| one.condition == guard.condition) {
        return refuse(format!("the action `{entity_key}.{key}` has this condition already"));
    }
    claim_in(&mut schema.used, &format!("{entity_key}.{key}.guard"), &guard.key, std::iter::empty())?;
    action(schema, entity_key, key)?.guards.push(guard.clone());
    Ok(())
}

pub(super) fn remove_guard(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    guard: &str,
) -> Result<(), Refusal> {
    let turn = schema.turn;
    let action = action(schema, entity_key, key)?;
    let is_new = action.introduced_in == turn;
    let Some(at) = action.guards.iter().position(|one| one.key == guard) else {
        return refuse(format!("the action `{entity_key}.{key}` has no guard `{}`", guard.escape_debug()));
    };
    let removed = action.guards.remove(at);
    insert(&mut schema.used, guard_path(entity_key, key, guard));
    if !is_new {
        schema.removed.push(Removed::Guard {
            entity: entity_key.to_owned(),
            action: key.to_owned(),
            condition: removed.condition,
        });
    }
    Ok(())
}

/// Whether two conditions hold for the same records: the values of a list stand in any order.
fn same(one: &Condition, other: &Condition) -> bool {
    let sorted = |condition: &Condition| {
        let mut condition = condition.clone();
        if let Condition::Field { is: Comparison::OneOf(values), .. }
        | Condition::Related { is: Comparison::OneOf(values), .. } = &mut condition
        {
            values.sort_by_key(ToString::to_string);
        }
        condition
    };
    sorted(one) == sorted(other)
}

pub(super) fn change_guard(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    guard: &str,
    condition: &Condition,
) -> Result<(), Refusal> {
    match action(schema, entity_key, key)?.guards.iter_mut().find(|one| one.key == guard) {
        Some(guard) if same(&guard.condition, condition) => {
            refuse(format!("the guard `{}` is this already", guard.key))
        }
        Some(guard) => {
            guard.condition = condition.clone();
            Ok(())
        }
        None => refuse(format!("the action `{entity_key}.{key}` has no guard `{}`", guard.escape_debug())),
    }
}

pub(super) fn add_effect(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    effect: &Effect,
    param: Option<&Param>,
) -> Result<(), Refusal> {
    let action = action(schema, entity_key, key)?;
    if let Some(param) = param {
        if action.params.iter().any(|one| one.key == param.key || one.name == param.name) {
            return refuse(format!("the action `{entity_key}.{key}` has a parameter `{}`", param.name));
        }
        action.params.push(param.clone());
    }
    action.effects.push(effect.clone());
    Ok(())
}

pub(super) fn remove_effect(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    index: usize,
) -> Result<(), Refusal> {
    let turn = schema.turn;
    let action = action(schema, entity_key, key)?;
    if index >= action.effects.len() {
        return refuse(format!("the action `{entity_key}.{key}` has no effect number {index}"));
    }
    if action.effects.len() == 1 {
        return refuse(format!("the action `{entity_key}.{key}` would have no effect"));
    }
    let is_new = action.introduced_in == turn;
    let effect = action.effects.remove(index);
    drop_unused_params(action);
    if !is_new {
        let (entity, action) = (entity_key.to_owned(), key.to_owned());
        schema.removed.push(match effect {
            Effect::Set { field, .. } | Effect::Increment { field, .. } => {
                Removed::Effect { entity, action, field }
            }
            Effect::Create { entity: other, .. } => Removed::Created { entity, action, other },
        });
    }
    Ok(())
}

pub(super) fn change_effect(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    index: usize,
    operand: &Operand,
) -> Result<(), Refusal> {
    let action = action(schema, entity_key, key)?;
    match action.effects.get_mut(index) {
        Some(Effect::Set { to, .. }) => *to = operand.clone(),
        Some(Effect::Increment { by, .. }) => *by = operand.clone(),
        Some(Effect::Create { .. }) => return refuse("an effect that creates a record is not changed so"),
        None => return refuse(format!("the action `{entity_key}.{key}` has no effect number {index}")),
    }
    drop_unused_params(action);
    Ok(())
}

fn drop_unused_params(action: &mut Action) {
    let Action { params, .. } = action;
    let mut params = std::mem::take(params);
    params.retain(|param| uses_param(action, &param.key));
    action.params = params;
}
