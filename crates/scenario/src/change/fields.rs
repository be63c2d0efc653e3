//! Changes of fields: plain, references and computed.

use std::mem::discriminant;

use serde_json::Value;

use super::claims::{claim_part, insert};
use super::parts::{entity, field, written};
use super::refusal::{Refusal, refuse};
use super::uses;
use crate::check::{can_be_unique, can_filter, can_sort};
use crate::ir::{Computed, Field, Kind, OnDelete, Removed, Schema};

/// What a new field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Plain,
    Reference,
    Computed,
}

pub(super) fn add(schema: &mut Schema, entity_key: &str, new: &Field, sort: Sort) -> Result<(), Refusal> {
    let is = match (&new.computed, &new.kind) {
        (Some(_), _) => Sort::Computed,
        (None, Kind::Reference { .. }) => Sort::Reference,
        _ => Sort::Plain,
    };
    if is != sort {
        return refuse(match sort {
            Sort::Plain => "a field that is added is no reference and not computed",
            Sort::Reference => "a reference that is added is a reference field",
            Sort::Computed => "a computed field says how it is computed",
        });
    }
    claim_part(schema, entity_key, &new.key)?;
    if new.name != new.key {
        claim_part(schema, entity_key, &new.name)?;
    }
    let introduced_in = schema.turn;
    entity(schema, entity_key)?.fields.push(Field { introduced_in, ..new.clone() });
    Ok(())
}

pub(super) fn remove(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    reference: bool,
) -> Result<(), Refusal> {
    let turn = schema.turn;
    if field(schema, entity_key, key)?.target().is_some() != reference {
        return refuse(if reference {
            format!("`{entity_key}.{key}` is no reference")
        } else {
            format!("`{entity_key}.{key}` is a reference")
        });
    }
    refuse_if_used(schema, entity_key, key)?;
    let home = entity(schema, entity_key)?;
    let plural = home.plural.clone();
    home.filters.retain(|filter| filter.field != key);
    home.sorts.retain(|sort| sort != key);
    let Some(at) = home.fields.iter().position(|field| field.key == key) else { return Ok(()) };
    let field = home.fields.remove(at);
    for name in [&field.key, &field.name] {
        insert(&mut schema.used, format!("{entity_key}.{name}"));
    }
    if field.introduced_in != turn {
        schema.removed.push(Removed::Field { entity: entity_key.to_owned(), name: field.name });
        if let Kind::Reference { entity, nested: true, .. } = field.kind {
            schema.removed.push(Removed::Nested { parent: entity, plural });
        }
    }
    Ok(())
}

/// Refuses if an action, analytic, computed field or default order needs a field.
fn refuse_if_used(schema: &Schema, entity_key: &str, key: &str) -> Result<(), Refusal> {
    match uses::of_field(schema, entity_key, key).first() {
        Some(needs) => refuse(format!("`{entity_key}.{key}` is needed by {needs}")),
        None => Ok(()),
    }
}

pub(super) fn rename(schema: &mut Schema, entity_key: &str, key: &str, name: &str) -> Result<(), Refusal> {
    let turn = schema.turn;
    let renamed = field(schema, entity_key, key)?;
    let (old, is_new) = (renamed.name.clone(), renamed.introduced_in == turn);
    if old == name {
        return refuse(format!("`{entity_key}.{key}` has this name already"));
    }
    // Its first name is its own.
    if name != key {
        claim_part(schema, entity_key, name)?;
    }
    insert(&mut schema.used, format!("{entity_key}.{key}"));
    insert(&mut schema.used, format!("{entity_key}.{old}"));
    name.clone_into(&mut field(schema, entity_key, key)?.name);
    if !is_new {
        schema.removed.push(Removed::Field { entity: entity_key.to_owned(), name: old });
    }
    Ok(())
}

pub(super) fn retype(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    kind: &Kind,
    default: Option<&Value>,
) -> Result<(), Refusal> {
    let turn = schema.turn;
    let old = written(schema, entity_key, key)?;
    if discriminant(&old.kind) == discriminant(kind) {
        return refuse(format!("`{entity_key}.{key}` is of this type already"));
    }
    if old.target().is_some() || matches!(kind, Kind::Reference { .. }) {
        return refuse("a reference is not retyped");
    }
    let is_new = old.introduced_in == turn;
    if let Some(needs) =
        uses::of_field(schema, entity_key, key).into_iter().find(|needs| *needs != uses::Use::DefaultSort)
    {
        return refuse(format!("`{entity_key}.{key}` is needed by {needs}"));
    }
    let mut removed = Vec::new();
    let home = entity(schema, entity_key)?;
    let Some(field) = home.field_mut(key) else { return Ok(()) };
    field.kind = kind.clone();
    field.default = default.cloned();
    if field.unique && !can_be_unique(kind) {
        field.unique = false;
        removed.push(Removed::Unique { entity: entity_key.to_owned(), field: key.to_owned() });
    }
    let field = field.clone();
    home.filters.retain(|filter| {
        let stays = filter.field != key || can_filter(&field, filter.op);
        if !stays {
            removed.push(Removed::Filter {
                entity: entity_key.to_owned(),
                field: key.to_owned(),
                op: filter.op,
            });
        }
        stays
    });
    if !can_sort(&field) && home.sorts.iter().any(|sort| sort == key) {
        if home.default_sort.as_ref().is_some_and(|sort| sort.field == key) {
            return refuse(format!("`{entity_key}.{key}` is needed by {}", uses::Use::DefaultSort));
        }
        home.sorts.retain(|sort| sort != key);
        removed.push(Removed::Sort { entity: entity_key.to_owned(), field: key.to_owned() });
    }
    // What was loosened before was a rule of the old type.
    schema.removed.retain(
        |removed| !matches!(removed, Removed::Constraint { entity, field, accepted } if entity == entity_key && field == key && !accepted.is_null()),
    );
    if !is_new {
        schema.removed.extend(removed);
    }
    Ok(())
}

pub(super) fn change_computed(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    computed: &Computed,
) -> Result<(), Refusal> {
    let field = field(schema, entity_key, key)?;
    if field.computed.is_none() {
        return refuse(format!("`{entity_key}.{key}` is not computed"));
    }
    field.computed = Some(computed.clone());
    Ok(())
}

pub(super) fn change_delete_rule(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    rule: OnDelete,
) -> Result<(), Refusal> {
    match &mut field(schema, entity_key, key)?.kind {
        Kind::Reference { on_delete, .. } => {
            *on_delete = rule;
            Ok(())
        }
        _ => refuse(format!("`{entity_key}.{key}` is no reference")),
    }
}

pub(super) fn nest(schema: &mut Schema, entity_key: &str, key: &str, on: bool) -> Result<(), Refusal> {
    let turn = schema.turn;
    let plural = entity(schema, entity_key)?.plural.clone();
    let field = field(schema, entity_key, key)?;
    let is_new = field.introduced_in == turn;
    match &mut field.kind {
        Kind::Reference { nested, .. } if *nested == on => {
            refuse(format!("`{entity_key}.{key}` has {} nested route", if on { "a" } else { "no" }))
        }
        Kind::Reference { entity, nested, .. } => {
            *nested = on;
            if !on && !is_new {
                let parent = entity.clone();
                schema.removed.push(Removed::Nested { parent, plural });
            }
            Ok(())
        }
        _ => refuse(format!("`{entity_key}.{key}` is no reference")),
    }
}
