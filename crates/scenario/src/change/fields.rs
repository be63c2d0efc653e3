//! Changes of fields: plain, references and computed.

use std::mem::discriminant;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{EnumDiscriminants, IntoStaticStr, VariantNames};

use super::claims::{claim_part, insert};
use super::enums;
use super::parts::{entity, field, written_field};
use super::refusal::{Refusal, refuse};
use super::uses;
use crate::check::{can_be_unique, can_filter, can_sort};
use crate::ir::{Computed, Field, Key, Kind, OnDelete, Removed, Schema};

/// A change of a field: plain, reference or computed, and of the values of an enum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, EnumDiscriminants)]
#[serde(tag = "change", rename_all = "snake_case")]
#[strum_discriminants(name(FieldKind), derive(PartialOrd, Ord, IntoStaticStr, VariantNames))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "A kind of [`FieldChange`].")]
#[expect(missing_docs, reason = "fields are the keys of what is changed and its new value")]
pub enum FieldChange {
    /// A new field, not a reference.
    AddField { entity: Key, field: Field },
    /// A field goes (not a reference), with its filters and sorts; refused if an action, analytic or computed field
    /// needs it.
    RemoveField { entity: Key, field: Key },
    /// A new name for a field (references too).
    RenameField { entity: Key, field: Key, name: String },
    /// Another type for a field; its default, uniqueness and the filters and sorts that no longer fit are dropped or
    /// replaced as `default` says. Refused if an action, analytic or computed field needs the old type.
    RetypeField { entity: Key, field: Key, kind: Kind, default: Option<Value> },
    /// One more value of an enum.
    AddEnumValue { entity: Key, field: Key, value: String },
    /// One value less; refused if a default, guard, effect or analytic needs it, or fewer than two would stay.
    RemoveEnumValue { entity: Key, field: Key, value: String },
    /// A value gets another word, everywhere.
    RenameEnumValue { entity: Key, field: Key, value: String, to: String },
    /// A new reference field.
    AddReference { entity: Key, field: Field },
    /// A reference field goes; refused as `RemoveField`.
    RemoveReference { entity: Key, field: Key },
    /// Another rule for deletion of what is referred to.
    ChangeDeleteRule { entity: Key, field: Key, on_delete: OnDelete },
    /// A nested route for a reference.
    Nest { entity: Key, field: Key },
    /// No nested route any more.
    Unnest { entity: Key, field: Key },
    /// A read-only field; `field.computed` says how.
    AddComputed { entity: Key, field: Field },
    /// Another computation for a read-only field of the same kind.
    ChangeComputed { entity: Key, field: Key, computed: Computed },
}

impl FieldChange {
    /// The keys of the entity and of the field.
    pub fn keys(&self) -> (&str, &str) {
        match self {
            Self::AddField { entity, field }
            | Self::AddReference { entity, field }
            | Self::AddComputed { entity, field } => (entity, &field.key),
            Self::RemoveField { entity, field }
            | Self::RenameField { entity, field, .. }
            | Self::RetypeField { entity, field, .. }
            | Self::AddEnumValue { entity, field, .. }
            | Self::RemoveEnumValue { entity, field, .. }
            | Self::RenameEnumValue { entity, field, .. }
            | Self::RemoveReference { entity, field }
            | Self::ChangeDeleteRule { entity, field, .. }
            | Self::Nest { entity, field }
            | Self::Unnest { entity, field }
            | Self::ChangeComputed { entity, field, .. } => (entity, field),
        }
    }

    pub(super) fn perform(&self, schema: &mut Schema) -> Result<(), Refusal> {
        match self {
            Self::AddField { entity, field }
            | Self::AddReference { entity, field }
            | Self::AddComputed { entity, field } => add(schema, entity, field, self.into()),
            Self::RemoveField { entity, field } => remove(schema, entity, field, false),
            Self::RenameField { entity, field, name } => rename(schema, entity, field, name),
            Self::RetypeField { entity, field, kind, default } => {
                retype(schema, entity, field, kind, default.as_ref())
            }
            Self::AddEnumValue { entity, field, value } => enums::add(schema, entity, field, value),
            Self::RemoveEnumValue { entity, field, value } => enums::remove(schema, entity, field, value),
            Self::RenameEnumValue { entity, field, value, to } => {
                enums::rename(schema, entity, field, value, to)
            }
            Self::RemoveReference { entity, field } => remove(schema, entity, field, true),
            Self::ChangeDeleteRule { entity, field: key, on_delete: rule } => {
                match &mut field(schema, entity, key)?.kind {
                    Kind::Reference { on_delete, .. } => *on_delete = *rule,
                    _ => return refuse(format!("`{entity}.{key}` is no reference")),
                }
                Ok(())
            }
            Self::Nest { entity, field } => nest(schema, entity, field, true),
            Self::Unnest { entity, field } => nest(schema, entity, field, false),
            Self::ChangeComputed { entity, field: key, computed: new } => {
                match &mut field(schema, entity, key)?.computed {
                    Some(computed) => computed.clone_from(new),
                    None => return refuse(format!("`{entity}.{key}` is not computed")),
                }
                Ok(())
            }
        }
    }
}

fn add(schema: &mut Schema, entity_key: &str, new: &Field, kind: FieldKind) -> Result<(), Refusal> {
    let fitting = match (&new.computed, &new.kind) {
        (Some(_), _) => FieldKind::AddComputed,
        (None, Kind::Reference { .. }) => FieldKind::AddReference,
        (None, _) => FieldKind::AddField,
    };
    if kind != fitting {
        return refuse(match kind {
            FieldKind::AddComputed => "a computed field says how it is computed",
            FieldKind::AddReference => "a reference that is added is a reference field",
            _ => "a field that is added is no reference and not computed",
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

fn remove(schema: &mut Schema, entity_key: &str, key: &str, reference: bool) -> Result<(), Refusal> {
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
    let Some(index) = home.fields.iter().position(|field| field.key == key) else { return Ok(()) };
    let field = home.fields.remove(index);
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
    match uses::field_uses(schema, entity_key, key).first() {
        Some(needs) => refuse(format!("`{entity_key}.{key}` is needed by {needs}")),
        None => Ok(()),
    }
}

fn rename(schema: &mut Schema, entity_key: &str, key: &str, name: &str) -> Result<(), Refusal> {
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

fn retype(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    kind: &Kind,
    default: Option<&Value>,
) -> Result<(), Refusal> {
    let turn = schema.turn;
    let old = written_field(schema, entity_key, key)?;
    if discriminant(&old.kind) == discriminant(kind) {
        return refuse(format!("`{entity_key}.{key}` is of this type already"));
    }
    if old.target().is_some() || matches!(kind, Kind::Reference { .. }) {
        return refuse("a reference is not retyped");
    }
    let is_new = old.introduced_in == turn;
    if let Some(needs) =
        uses::field_uses(schema, entity_key, key).into_iter().find(|needs| *needs != uses::Use::DefaultSort)
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

fn nest(schema: &mut Schema, entity_key: &str, key: &str, is_nested: bool) -> Result<(), Refusal> {
    let turn = schema.turn;
    let plural = entity(schema, entity_key)?.plural.clone();
    let field = field(schema, entity_key, key)?;
    let is_new = field.introduced_in == turn;
    match &mut field.kind {
        Kind::Reference { nested, .. } if *nested == is_nested => {
            refuse(format!("`{entity_key}.{key}` has {} nested route", if is_nested { "a" } else { "no" }))
        }
        Kind::Reference { entity, nested, .. } => {
            *nested = is_nested;
            if !is_nested && !is_new {
                let parent = entity.clone();
                schema.removed.push(Removed::Nested { parent, plural });
            }
            Ok(())
        }
        _ => refuse(format!("`{entity_key}.{key}` is no reference")),
    }
}
