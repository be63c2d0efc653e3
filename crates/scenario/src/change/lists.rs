//! Changes of filters and sorts.

use serde::{Deserialize, Serialize};
use strum::{EnumDiscriminants, IntoStaticStr, VariantNames};

use super::parts::entity;
use super::refusal::{Refusal, refuse};
use crate::ir::{Filter, Key, Removed, Schema, Sort};

/// A change of what a list can be filtered and sorted by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, EnumDiscriminants)]
#[serde(tag = "change", rename_all = "snake_case")]
#[strum_discriminants(name(ListKind), derive(PartialOrd, Ord, IntoStaticStr, VariantNames))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "A kind of [`ListChange`].")]
#[expect(missing_docs, reason = "fields are the keys of what is changed and its new value")]
pub enum ListChange {
    /// A new filter of a list.
    AddFilter { entity: Key, filter: Filter },
    /// A filter goes.
    RemoveFilter { entity: Key, filter: Filter },
    /// A field that lists can be sorted by.
    AddSort { entity: Key, field: Key },
    /// One less; refused if it is the default.
    RemoveSort { entity: Key, field: Key },
    /// Another order of lists if nothing is asked for.
    ChangeDefaultSort { entity: Key, sort: Option<Sort> },
}

impl ListChange {
    /// The key of the entity.
    pub fn entity(&self) -> &str {
        match self {
            Self::AddFilter { entity, .. }
            | Self::RemoveFilter { entity, .. }
            | Self::AddSort { entity, .. }
            | Self::RemoveSort { entity, .. }
            | Self::ChangeDefaultSort { entity, .. } => entity,
        }
    }

    pub(super) fn perform(&self, schema: &mut Schema) -> Result<(), Refusal> {
        let key = self.entity();
        let home = entity(schema, key)?;
        match self {
            Self::AddFilter { filter, .. } => {
                if home.filters.contains(filter) {
                    return refuse(format!("`{key}` has this filter already"));
                }
                home.filters.push(filter.clone());
            }
            Self::RemoveFilter { entity, filter } => {
                if !home.filters.contains(filter) {
                    return refuse(format!("`{key}` has no such filter"));
                }
                home.filters.retain(|existing| existing != filter);
                if !is_new(schema, key, &filter.field) {
                    let (entity, field) = (entity.clone(), filter.field.clone());
                    schema.removed.push(Removed::Filter { entity, field, op: filter.op });
                }
            }
            Self::AddSort { field, .. } => {
                if home.sorts.contains(field) {
                    return refuse(format!("lists of `{key}` can be sorted by `{field}` already"));
                }
                home.sorts.push(field.clone());
            }
            Self::RemoveSort { entity, field } => {
                if !home.sorts.contains(field) {
                    return refuse(format!(
                        "lists of `{key}` cannot be sorted by `{}`",
                        field.escape_debug()
                    ));
                }
                if home.default_sort.as_ref().is_some_and(|sort| sort.field == *field) {
                    return refuse(format!("`{field}` is the default order of lists of `{key}`"));
                }
                home.sorts.retain(|sort| sort != field);
                if !is_new(schema, key, field) {
                    schema.removed.push(Removed::Sort { entity: entity.clone(), field: field.clone() });
                }
            }
            Self::ChangeDefaultSort { sort, .. } => home.default_sort.clone_from(sort),
        }
        Ok(())
    }
}

/// Whether a field came in this turn, so that nothing of it was there before.
pub(super) fn is_new(schema: &Schema, entity_key: &str, key: &str) -> bool {
    schema
        .entity(entity_key)
        .and_then(|entity| entity.field(key))
        .is_some_and(|field| field.introduced_in == schema.turn)
}
