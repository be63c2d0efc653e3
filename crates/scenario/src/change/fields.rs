//! Changes of fields: plain, references and computed.

use std::mem::discriminant;

use serde_json::Value;

use super::apply::{Refusal, entity, field, insert, refuse, written};
use super::entities::claim_part;
use super::uses;
use crate::check::{can_be_unique, can_filter, can_sort};
use crate::ir::{Computed, Field, Gone, Kind, OnDelete, Schema};

/// What a new field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Plain,
    Reference,
    Computed,
}

pub(super) fn add(schema: &mut Schema, of: &str, new: &Field, sort: Sort) -> Result<(), Refusal> {
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
    claim_part(schema, of, &new.key)?;
    if new.name != new.key {
        claim_part(schema, of, &new.name)?;
    }
    let since = schema.turn;
    entity(schema, of)?.fields.push(Field { since, ..new.clone() });
    Ok(())
}

pub(super) fn remove(schema: &mut Schema, of: &str, key: &str, reference: bool) -> Result<(), Refusal> {
    let turn = schema.turn;
    if field(schema, of, key)?.target().is_some() != reference {
        return refuse(if reference {
            format!("`{of}.{key}` is no reference")
        } else {
            format!("`{of}.{key}` is a reference")
        });
    }
    refuse_if_used(schema, of, key)?;
    let home = entity(schema, of)?;
    let plural = home.plural.clone();
    home.filters.retain(|filter| filter.field != key);
    home.sorts.retain(|sort| sort != key);
    let Some(at) = home.fields.iter().position(|field| field.key == key) else { return Ok(()) };
    let field = home.fields.remove(at);
    for name in [&field.key, &field.name] {
        insert(&mut schema.used, format!("{of}.{name}"));
    }
    if field.since != turn {
        schema.gone.push(Gone::Field { entity: of.to_owned(), name: field.name });
        if let Kind::Reference { entity, nested: true, .. } = field.kind {
            schema.gone.push(Gone::Nested { parent: entity, plural });
        }
    }
    Ok(())
}

/// Refuses if an action, analytic, computed field or default order needs a field.
fn refuse_if_used(schema: &Schema, of: &str, key: &str) -> Result<(), Refusal> {
    match uses::of_field(schema, of, key).first() {
        Some(needs) => refuse(format!("`{of}.{key}` is needed by {needs}")),
        None => Ok(()),
    }
}

pub(super) fn rename(schema: &mut Schema, of: &str, key: &str, name: &str) -> Result<(), Refusal> {
    let turn = schema.turn;
    let renamed = field(schema, of, key)?;
    let (old, is_new) = (renamed.name.clone(), renamed.since == turn);
    if old == name {
        return refuse(format!("`{of}.{key}` has this name already"));
    }
    // Its first name is its own.
    if name != key {
        claim_part(schema, of, name)?;
    }
    insert(&mut schema.used, format!("{of}.{key}"));
    insert(&mut schema.used, format!("{of}.{old}"));
    name.clone_into(&mut field(schema, of, key)?.name);
    if !is_new {
        schema.gone.push(Gone::Field { entity: of.to_owned(), name: old });
    }
    Ok(())
}

pub(super) fn retype(
    schema: &mut Schema,
    of: &str,
    key: &str,
    kind: &Kind,
    default: Option<&Value>,
) -> Result<(), Refusal> {
    let turn = schema.turn;
    let old = written(schema, of, key)?;
    if discriminant(&old.kind) == discriminant(kind) {
        return refuse(format!("`{of}.{key}` is of this type already"));
    }
    if old.target().is_some() || matches!(kind, Kind::Reference { .. }) {
        return refuse("a reference is not retyped");
    }
    let is_new = old.since == turn;
    if let Some(needs) =
        uses::of_field(schema, of, key).into_iter().find(|needs| *needs != uses::Use::DefaultSort)
    {
        return refuse(format!("`{of}.{key}` is needed by {needs}"));
    }
    let mut gone = Vec::new();
    let home = entity(schema, of)?;
    let Some(field) = home.field_mut(key) else { return Ok(()) };
    field.kind = kind.clone();
    field.default = default.cloned();
    if field.unique && !can_be_unique(kind) {
        field.unique = false;
        gone.push(Gone::Unique { entity: of.to_owned(), field: key.to_owned() });
    }
    let field = field.clone();
    home.filters.retain(|filter| {
        let stays = filter.field != key || can_filter(&field, filter.op);
        if !stays {
            gone.push(Gone::Filter { entity: of.to_owned(), field: key.to_owned(), op: filter.op });
        }
        stays
    });
    if !can_sort(&field) && home.sorts.iter().any(|sort| sort == key) {
        if home.default_sort.as_ref().is_some_and(|sort| sort.field == key) {
            return refuse(format!("`{of}.{key}` is needed by {}", uses::Use::DefaultSort));
        }
        home.sorts.retain(|sort| sort != key);
        gone.push(Gone::Sort { entity: of.to_owned(), field: key.to_owned() });
    }
    // What was loosened before was a rule of the old type.
    schema.gone.retain(
        |gone| !matches!(gone, Gone::Constraint { entity, field, accepted } if entity == of && field == key && !accepted.is_null()),
    );
    if !is_new {
        schema.gone.extend(gone);
    }
    Ok(())
}

pub(super) fn change_computed(
    schema: &mut Schema,
    of: &str,
    key: &str,
    computed: &Computed,
) -> Result<(), Refusal> {
    let field = field(schema, of, key)?;
    if field.computed.is_none() {
        return refuse(format!("`{of}.{key}` is not computed"));
    }
    field.computed = Some(computed.clone());
    Ok(())
}

pub(super) fn change_delete_rule(
    schema: &mut Schema,
    of: &str,
    key: &str,
    rule: OnDelete,
) -> Result<(), Refusal> {
    match &mut field(schema, of, key)?.kind {
        Kind::Reference { on_delete, .. } => {
            *on_delete = rule;
            Ok(())
        }
        _ => refuse(format!("`{of}.{key}` is no reference")),
    }
}

pub(super) fn nest(schema: &mut Schema, of: &str, key: &str, on: bool) -> Result<(), Refusal> {
    let turn = schema.turn;
    let plural = entity(schema, of)?.plural.clone();
    let field = field(schema, of, key)?;
    let is_new = field.since == turn;
    match &mut field.kind {
        Kind::Reference { nested, .. } if *nested == on => {
            refuse(format!("`{of}.{key}` has {} nested route", if on { "a" } else { "no" }))
        }
        Kind::Reference { entity, nested, .. } => {
            *nested = on;
            if !on && !is_new {
                let parent = entity.clone();
                schema.gone.push(Gone::Nested { parent, plural });
            }
            Ok(())
        }
        _ => refuse(format!("`{of}.{key}` is no reference")),
    }
}
