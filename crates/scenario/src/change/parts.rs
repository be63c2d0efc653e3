//! The parts of a schema that a change names, found or refused.

use super::refusal::{Refusal, refuse};
use crate::ir::{Entity, Field, Schema};

/// The entity with a key, or a refusal.
pub(super) fn entity<'a>(schema: &'a mut Schema, key: &str) -> Result<&'a mut Entity, Refusal> {
    match schema.entity_mut(key) {
        Some(entity) => Ok(entity),
        None => refuse(format!("there is no entity `{}`", key.escape_debug())),
    }
}

/// The field with a key, or a refusal.
pub(super) fn field<'a>(
    schema: &'a mut Schema,
    entity_key: &str,
    key: &str,
) -> Result<&'a mut Field, Refusal> {
    match entity(schema, entity_key)?.field_mut(key) {
        Some(field) => Ok(field),
        None => refuse(format!("there is no field `{entity_key}.{}`", key.escape_debug())),
    }
}

/// The field with a key, if a client writes it.
pub(super) fn written_field<'a>(
    schema: &'a mut Schema,
    entity_key: &str,
    key: &str,
) -> Result<&'a mut Field, Refusal> {
    let field = field(schema, entity_key, key)?;
    if field.is_writable() { Ok(field) } else { refuse(format!("`{entity_key}.{key}` is computed")) }
}
