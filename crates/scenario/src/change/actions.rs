//! Changes of actions: guards, effects, and parameters with them.

use serde::{Deserialize, Serialize};
use strum::{EnumDiscriminants, IntoStaticStr, VariantNames};

use super::claims::{claim_in, claim_part, insert};
use super::parts::entity;
use super::refusal::{Refusal, refuse};
use crate::check::uses_param;
use crate::ir::{Action, Comparison, Condition, Effect, Guard, Key, Operand, Param, Removed, Schema};

/// A change of an action: its conditions, effects, and the parameters with them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, EnumDiscriminants)]
#[serde(tag = "change", rename_all = "snake_case")]
#[strum_discriminants(name(ActionKind), derive(PartialOrd, Ord, IntoStaticStr, VariantNames))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "A kind of [`ActionChange`].")]
#[expect(missing_docs, reason = "fields are the keys of what is changed and its new value")]
pub enum ActionChange {
    /// A new action.
    AddAction { entity: Key, action: Action },
    /// An action goes.
    RemoveAction { entity: Key, action: Key },
    /// A new verb for an action.
    RenameAction { entity: Key, action: Key, name: String },
    /// One more condition of an action.
    AddGuard { entity: Key, action: Key, guard: Guard },
    /// One condition less.
    RemoveGuard { entity: Key, action: Key, guard: Key },
    /// Another condition in the place of one.
    ChangeGuard { entity: Key, action: Key, guard: Key, condition: Condition },
    /// One more effect (its parameter, if it needs a new one, comes with it).
    AddEffect {
        entity: Key,
        action: Key,
        effect: Effect,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        param: Option<Param>,
    },
    /// One effect less; refused if it is the last. A parameter that nothing uses then goes too.
    RemoveEffect { entity: Key, action: Key, index: usize },
    /// Another value or amount for an effect that sets or increments.
    ChangeEffect { entity: Key, action: Key, index: usize, operand: Operand },
}

impl ActionChange {
    /// The keys of the entity and of the action.
    pub fn keys(&self) -> (&str, &str) {
        match self {
            Self::AddAction { entity, action } => (entity, &action.key),
            Self::RemoveAction { entity, action }
            | Self::RenameAction { entity, action, .. }
            | Self::AddGuard { entity, action, .. }
            | Self::RemoveGuard { entity, action, .. }
            | Self::ChangeGuard { entity, action, .. }
            | Self::AddEffect { entity, action, .. }
            | Self::RemoveEffect { entity, action, .. }
            | Self::ChangeEffect { entity, action, .. } => (entity, action),
        }
    }

    pub(super) fn perform(&self, schema: &mut Schema) -> Result<(), Refusal> {
        let (entity, key) = self.keys();
        match self {
            Self::AddAction { action, .. } => add(schema, entity, action),
            Self::RemoveAction { .. } => remove(schema, entity, key),
            Self::RenameAction { name, .. } => rename(schema, entity, key, name),
            Self::AddGuard { guard, .. } => add_guard(schema, entity, key, guard),
            Self::RemoveGuard { guard, .. } => remove_guard(schema, entity, key, guard),
            Self::ChangeGuard { guard, condition, .. } => change_guard(schema, entity, key, guard, condition),
            Self::AddEffect { effect, param, .. } => add_effect(schema, entity, key, effect, param.as_ref()),
            Self::RemoveEffect { index, .. } => remove_effect(schema, entity, key, *index),
            Self::ChangeEffect { index, operand, .. } => change_effect(schema, entity, key, *index, operand),
        }
    }
}

fn add(schema: &mut Schema, entity_key: &str, action: &Action) -> Result<(), Refusal> {
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

fn remove(schema: &mut Schema, entity_key: &str, key: &str) -> Result<(), Refusal> {
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

fn rename(schema: &mut Schema, entity_key: &str, key: &str, name: &str) -> Result<(), Refusal> {
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

fn add_guard(schema: &mut Schema, entity_key: &str, key: &str, guard: &Guard) -> Result<(), Refusal> {
    let existing = action(schema, entity_key, key)?;
    if existing.guards.iter().any(|other| other.key == guard.key) {
        return refuse(format!("the action `{entity_key}.{key}` has a guard `{}`", guard.key));
    }
    if existing.guards.iter().any(|other| other.condition == guard.condition) {
        return refuse(format!("the action `{entity_key}.{key}` has this condition already"));
    }
    claim_in(&mut schema.used, &format!("{entity_key}.{key}.guard"), &guard.key, std::iter::empty())?;
    action(schema, entity_key, key)?.guards.push(guard.clone());
    Ok(())
}

fn remove_guard(schema: &mut Schema, entity_key: &str, key: &str, guard: &str) -> Result<(), Refusal> {
    let turn = schema.turn;
    let action = action(schema, entity_key, key)?;
    let is_new = action.introduced_in == turn;
    let Some(position) = action.guards.iter().position(|candidate| candidate.key == guard) else {
        return refuse(format!("the action `{entity_key}.{key}` has no guard `{}`", guard.escape_debug()));
    };
    let removed = action.guards.remove(position);
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
fn are_same_conditions(left: &Condition, right: &Condition) -> bool {
    let sorted = |condition: &Condition| {
        let mut condition = condition.clone();
        if let Condition::Field { is: Comparison::OneOf(values), .. }
        | Condition::Related { is: Comparison::OneOf(values), .. } = &mut condition
        {
            values.sort_by_key(ToString::to_string);
        }
        condition
    };
    sorted(left) == sorted(right)
}

fn change_guard(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    guard: &str,
    condition: &Condition,
) -> Result<(), Refusal> {
    match action(schema, entity_key, key)?.guards.iter_mut().find(|candidate| candidate.key == guard) {
        Some(guard) if are_same_conditions(&guard.condition, condition) => {
            refuse(format!("the guard `{}` is this already", guard.key))
        }
        Some(guard) => {
            guard.condition = condition.clone();
            Ok(())
        }
        None => refuse(format!("the action `{entity_key}.{key}` has no guard `{}`", guard.escape_debug())),
    }
}

fn add_effect(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    effect: &Effect,
    param: Option<&Param>,
) -> Result<(), Refusal> {
    let action = action(schema, entity_key, key)?;
    if let Some(param) = param {
        if action.params.iter().any(|existing| existing.key == param.key || existing.name == param.name) {
            return refuse(format!("the action `{entity_key}.{key}` has a parameter `{}`", param.name));
        }
        action.params.push(param.clone());
    }
    action.effects.push(effect.clone());
    Ok(())
}

fn remove_effect(schema: &mut Schema, entity_key: &str, key: &str, index: usize) -> Result<(), Refusal> {
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

fn change_effect(
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
