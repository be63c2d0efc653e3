//! Changes of the values of enums.

use serde_json::Value;

use super::parts::written_field;
use super::refusal::{Refusal, refuse};
use super::uses;
use crate::ir::{Comparison, Condition, Effect, Field, Kind, Operand, RecordRestriction, Removed, Schema};

fn values<'a>(schema: &'a mut Schema, entity_key: &str, key: &str) -> Result<&'a mut Vec<String>, Refusal> {
    match &mut written_field(schema, entity_key, key)?.kind {
        Kind::Enum { values } => Ok(values),
        _ => refuse(format!("`{entity_key}.{key}` is no enum")),
    }
}

pub(super) fn add(schema: &mut Schema, entity_key: &str, key: &str, value: &str) -> Result<(), Refusal> {
    let values = values(schema, entity_key, key)?;
    if values.iter().any(|existing| existing == value) {
        return refuse(format!("`{entity_key}.{key}` has the value `{value}` already"));
    }
    values.push(value.to_owned());
    Ok(())
}

pub(super) fn remove(schema: &mut Schema, entity_key: &str, key: &str, value: &str) -> Result<(), Refusal> {
    take(schema, entity_key, key, value)?;
    if let Some(needs) = uses::enum_value_uses(schema, entity_key, key, value).first() {
        return refuse(format!("the value `{value}` of `{entity_key}.{key}` is needed by {needs}"));
    }
    let values = values(schema, entity_key, key)?;
    if values.len() <= 2 {
        return refuse(format!("`{entity_key}.{key}` would have fewer than two values"));
    }
    values.retain(|existing| existing != value);
    push_removed(schema, entity_key, key, value);
    Ok(())
}

fn take(schema: &mut Schema, entity_key: &str, key: &str, value: &str) -> Result<(), Refusal> {
    if values(schema, entity_key, key)?.iter().any(|existing| existing == value) {
        Ok(())
    } else {
        refuse(format!("`{entity_key}.{key}` has no value `{}`", value.escape_debug()))
    }
}

fn push_removed(schema: &mut Schema, entity_key: &str, key: &str, value: &str) {
    let turn = schema.turn;
    if schema
        .entity(entity_key)
        .and_then(|entity| entity.field(key))
        .is_some_and(|field| field.introduced_in != turn)
    {
        schema.removed.push(Removed::EnumValue {
            entity: entity_key.to_owned(),
            field: key.to_owned(),
            value: value.to_owned(),
        });
    }
}

pub(super) fn rename(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    value: &str,
    to: &str,
) -> Result<(), Refusal> {
    take(schema, entity_key, key, value)?;
    let all = values(schema, entity_key, key)?;
    if all.iter().any(|existing| existing == to) {
        return refuse(format!("`{entity_key}.{key}` has the value `{to}` already"));
    }
    for existing in all.iter_mut().filter(|existing| *existing == value) {
        to.clone_into(existing);
    }
    let reword = |given: &mut Value| {
        if given.as_str() == Some(value) {
            *given = Value::from(to);
        }
    };
    // References decide which entity a guard or restriction looks at: they are noted before anything is written.
    let to_home: Vec<(String, String)> = schema
        .references_to(entity_key)
        .map(|(owner, field)| (owner.key.clone(), field.key.clone()))
        .collect();
    let leads_home = |owner: &str, reference: &str| {
        to_home.iter().any(|(entity, field)| entity == owner && field == reference)
    };
    let looks = |home: &str, condition: &Condition| match condition {
        Condition::Field { field, .. } => home == entity_key && field == key,
        Condition::Related { reference, field, .. } => field == key && leads_home(home, reference),
        _ => false,
    };
    for entity in &mut schema.entities {
        if entity.key == entity_key
            && let Some(Field { default: Some(default), .. }) = entity.field_mut(key)
        {
            reword(default);
        }
        for action in &mut entity.actions {
            for guard in &mut action.guards {
                if looks(&entity.key, &guard.condition) {
                    reword_condition(&mut guard.condition, &reword);
                }
            }
            for effect in &mut action.effects {
                match effect {
                    Effect::Set { field, to: Operand::Value(given) }
                        if entity.key == entity_key && field == key =>
                    {
                        reword(given);
                    }
                    Effect::Create { entity: created, values, .. } if created == entity_key => {
                        for given in values.iter_mut().filter(|given| given.field == key) {
                            if let Operand::Value(given) = &mut given.from {
                                reword(given);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    let restricts = |entity: &str, only: &RecordRestriction| {
        only.field == key
            && match &only.through {
                None => entity == entity_key,
                Some(reference) => leads_home(entity, reference),
            }
    };
    for analytic in &mut schema.analytics {
        if let Some(only) = analytic.only.as_mut().filter(|only| restricts(&analytic.entity, only)) {
            reword(&mut only.equals);
        }
    }
    for removed in &mut schema.removed {
        if let Removed::AnalyticRestriction { analytic, only } = removed
            && let Some(analytic) = schema.analytics.iter().find(|candidate| candidate.key == *analytic)
            && restricts(&analytic.entity, only)
        {
            reword(&mut only.equals);
        }
        if let Removed::Guard { entity, condition, .. } = removed
            && looks(entity, condition)
        {
            reword_condition(condition, &reword);
        }
    }
    push_removed(schema, entity_key, key, value);
    Ok(())
}

fn reword_condition(condition: &mut Condition, reword: &impl Fn(&mut Value)) {
    if let Condition::Field { is, .. } | Condition::Related { is, .. } = condition {
        match is {
            Comparison::Equals(value) | Comparison::Not(value) => reword(value),
            Comparison::OneOf(values) => values.iter_mut().for_each(reword),
            _ => {}
        }
    }
}
