//! Changes of filters and sorts.

use super::parts::entity;
use super::refusal::{Refusal, refuse};
use crate::ir::{Filter, Removed, Schema};

/// Whether a field came in this turn, so that nothing of it was there before.
pub(super) fn is_new(schema: &Schema, entity_key: &str, key: &str) -> bool {
    schema
        .entity(entity_key)
        .and_then(|entity| entity.field(key))
        .is_some_and(|field| field.introduced_in == schema.turn)
}

pub(super) fn add_filter(schema: &mut Schema, entity_key: &str, filter: &Filter) -> Result<(), Refusal> {
    let entity = entity(schema, entity_key)?;
    if entity.filters.contains(filter) {
        return refuse(format!("`{entity_key}` has this filter already"));
    }
    entity.filters.push(filter.clone());
    Ok(())
}

pub(super) fn remove_filter(schema: &mut Schema, entity_key: &str, filter: &Filter) -> Result<(), Refusal> {
    let entity = entity(schema, entity_key)?;
    if !entity.filters.contains(filter) {
        return refuse(format!("`{entity_key}` has no such filter"));
    }
    entity.filters.retain(|one| one != filter);
    if !is_new(schema, entity_key, &filter.field) {
        schema.removed.push(Removed::Filter {
            entity: entity_key.to_owned(),
            field: filter.field.clone(),
            op: filter.op,
        });
    }
    Ok(())
}

pub(super) fn add_sort(schema: &mut Schema, entity_key: &str, field: &str) -> Result<(), Refusal> {
    let entity = entity(schema, entity_key)?;
    if entity.sorts.iter().any(|sort| sort == field) {
        return refuse(format!("lists of `{entity_key}` can be sorted by `{field}` already"));
    }
    entity.sorts.push(field.to_owned());
    Ok(())
}

pub(super) fn remove_sort(schema: &mut Schema, entity_key: &str, field: &str) -> Result<(), Refusal> {
    let entity = entity(schema, entity_key)?;
    if !entity.sorts.iter().any(|sort| sort == field) {
        return refuse(format!("lists of `{entity_key}` cannot be sorted by `{}`", field.escape_debug()));
    }
    if entity.default_sort.as_ref().is_some_and(|sort| sort.field == field) {
        return refuse(format!("`{field}` is the default order of lists of `{entity_key}`"));
    }
    entity.sorts.retain(|sort| sort != field);
    if !is_new(schema, entity_key, field) {
        schema.removed.push(Removed::Sort { entity: entity_key.to_owned(), field: field.to_owned() });
    }
    Ok(())
}
