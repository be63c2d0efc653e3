//! Names that a schema uses: each is claimed once.

use super::refusal::{Refusal, refuse};
use crate::ir::Schema;

/// Claims a name or key of the whole schema (entities and analytics) for something new.
pub(super) fn claim(schema: &mut Schema, name: &str) -> Result<(), Refusal> {
    let is_taken = schema
        .entities
        .iter()
        .flat_map(|entity| [&entity.key, &entity.name, &entity.plural])
        .chain(schema.analytics.iter().flat_map(|analytic| [&analytic.key, &analytic.name]))
        .any(|taken| taken == name);
    if is_taken {
        return refuse(format!("the name `{name}` is taken"));
    }
    note(schema, name.to_owned())
}

/// Claims a name or key in an entity for something new: `path` is made of keys, `existing` the names in use.
pub(super) fn claim_in<'a>(
    used: &mut Vec<String>,
    path: &str,
    name: &str,
    mut existing: impl Iterator<Item = &'a String>,
) -> Result<(), Refusal> {
    if existing.any(|taken| taken == name) {
        return refuse(format!("the name `{path}.{name}` is taken"));
    }
    if insert(used, format!("{path}.{name}")) {
        Ok(())
    } else {
        refuse(format!("the name `{path}.{name}` was used before"))
    }
}

fn note(schema: &mut Schema, name: String) -> Result<(), Refusal> {
    let reason = format!("the name `{name}` was used before");
    if insert(&mut schema.used, name) { Ok(()) } else { refuse(reason) }
}

/// Notes a name that is used. Whether it is new.
pub(super) fn insert(used: &mut Vec<String>, name: String) -> bool {
    match used.binary_search(&name) {
        Ok(_) => false,
        Err(index) => {
            used.insert(index, name);
            true
        }
    }
}

/// Claims the name of a field or action in an entity, by the names that its fields and actions have.
pub(super) fn claim_part(schema: &mut Schema, entity_key: &str, name: &str) -> Result<(), Refusal> {
    let Schema { entities, used, .. } = schema;
    let Some(entity) = entities.iter().find(|entity| entity.key == entity_key) else {
        return refuse(format!("there is no entity `{}`", entity_key.escape_debug()));
    };
    let fields = entity.fields.iter().flat_map(|field| [&field.key, &field.name]);
    let actions = entity.actions.iter().flat_map(|action| [&action.key, &action.name]);
    claim_in(used, entity_key, name, fields.chain(actions))
}
