//! Changes of filters and sorts.

use super::apply::{Refusal, entity, refuse};
use crate::ir::{Filter, Gone, Schema};

/// Whether a field came in this turn, so that nothing of it was there before.
pub(super) fn is_new(schema: &Schema, of: &str, key: &str) -> bool {
    schema.entity(of).and_then(|entity| entity.field(key)).is_some_and(|field| field.since == schema.turn)
}

pub(super) fn add_filter(schema: &mut Schema, of: &str, filter: &Filter) -> Result<(), Refusal> {
    let entity = entity(schema, of)?;
    if entity.filters.contains(filter) {
        return refuse(format!("`{of}` has this filter already"));
    }
    entity.filters.push(filter.clone());
    Ok(())
}

pub(super) fn remove_filter(schema: &mut Schema, of: &str, filter: &Filter) -> Result<(), Refusal> {
    let entity = entity(schema, of)?;
    if !entity.filters.contains(filter) {
        return refuse(format!("`{of}` has no such filter"));
    }
    entity.filters.retain(|one| one != filter);
    if !is_new(schema, of, &filter.field) {
        schema.gone.push(Gone::Filter { entity: of.to_owned(), field: filter.field.clone(), op: filter.op });
    }
    Ok(())
}

pub(super) fn add_sort(schema: &mut Schema, of: &str, field: &str) -> Result<(), Refusal> {
    let entity = entity(schema, of)?;
    if entity.sorts.iter().any(|sort| sort == field) {
        return refuse(format!("lists of `{of}` can be sorted by `{field}` already"));
    }
    entity.sorts.push(field.to_owned());
    Ok(())
}

pub(super) fn remove_sort(schema: &mut Schema, of: &str, field: &str) -> Result<(), Refusal> {
    let entity = entity(schema, of)?;
    if !entity.sorts.iter().any(|sort| sort == field) {
        return refuse(format!("lists of `{of}` cannot be sorted by `{}`", field.escape_debug()));
    }
    if entity.default_sort.as_ref().is_some_and(|sort| sort.field == field) {
        return refuse(format!("`{field}` is the default order of lists of `{of}`"));
    }
    entity.sorts.retain(|sort| sort != field);
    if !is_new(schema, of, field) {
        schema.gone.push(Gone::Sort { entity: of.to_owned(), field: field.to_owned() });
    }
    Ok(())
}
