//! Changes of whole entities.

use serde::{Deserialize, Serialize};
use strum::{EnumDiscriminants, IntoStaticStr, VariantNames};

use super::claims::{claim, insert};
use super::parts::entity;
use super::refusal::{Refusal, refuse};
use super::uses::{analytic_needs, computes_with, condition_needs, effect_needs};
use crate::check::uses_param;
use crate::ir::{Computed, Condition, Effect, Entity, Key, Kind, Operand, Removed, Schema};

/// A change of a whole entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, EnumDiscriminants)]
#[serde(tag = "change", rename_all = "snake_case")]
#[strum_discriminants(name(EntityKind), derive(PartialOrd, Ord, IntoStaticStr, VariantNames))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "A kind of [`EntityChange`].")]
#[expect(missing_docs, reason = "fields are the keys of what is changed and its new value")]
pub enum EntityChange {
    /// A new entity.
    AddEntity { entity: Entity },
    /// An entity goes, with the reference fields, actions' effects and guards, computed fields and analytics that need
    /// it; refused if that would leave an entity or action without anything to do.
    RemoveEntity { entity: Key },
    /// New singular and plural; the paths follow.
    RenameEntity { entity: Key, name: String, plural: String },
    /// Deleted records are kept and marked, or are removed again.
    SetSoftDelete {
        entity: Key,
        /// `on` is a truth value in many readers of YAML.
        #[serde(rename = "keep")]
        on: bool,
    },
}

impl EntityChange {
    /// The key of the entity.
    pub fn entity(&self) -> &str {
        match self {
            Self::AddEntity { entity } => &entity.key,
            Self::RemoveEntity { entity }
            | Self::RenameEntity { entity, .. }
            | Self::SetSoftDelete { entity, .. } => entity,
        }
    }

    pub(super) fn perform(&self, schema: &mut Schema) -> Result<(), Refusal> {
        match self {
            Self::AddEntity { entity } => add(schema, entity),
            Self::RemoveEntity { entity } => remove(schema, entity),
            Self::RenameEntity { entity, name, plural } => rename(schema, entity, name, plural),
            Self::SetSoftDelete { entity, on } => set_soft_delete(schema, entity, *on),
        }
    }
}

fn add(schema: &mut Schema, entity: &Entity) -> Result<(), Refusal> {
    let mut entity = entity.clone();
    claim(schema, &entity.key)?;
    for name in [&entity.name, &entity.plural] {
        if *name != entity.key && !(name == &entity.plural && entity.name == entity.plural) {
            claim(schema, name)?;
        }
    }
    entity.introduced_in = schema.turn;
    for field in &mut entity.fields {
        field.introduced_in = schema.turn;
        insert(&mut schema.used, format!("{}.{}", entity.key, field.key));
        insert(&mut schema.used, format!("{}.{}", entity.key, field.name));
    }
    for action in &mut entity.actions {
        action.introduced_in = schema.turn;
        insert(&mut schema.used, format!("{}.{}", entity.key, action.key));
        insert(&mut schema.used, format!("{}.{}", entity.key, action.name));
    }
    schema.entities.push(entity);
    Ok(())
}

fn rename(schema: &mut Schema, key: &str, name: &str, plural: &str) -> Result<(), Refusal> {
    let turn = schema.turn;
    let old = entity(schema, key)?;
    if old.plural == plural {
        return refuse("the plural must change: it is what paths show");
    }
    let (old_name, old_plural, is_new) = (old.name.clone(), old.plural.clone(), old.introduced_in == turn);
    let parents: Vec<String> = nested_under(old).map(str::to_owned).collect();
    // Its first names are its own.
    if plural != key {
        claim(schema, plural)?;
    }
    if name != old_name && name != plural && name != key {
        claim(schema, name)?;
    }
    for used in [key, &old_name, &old_plural] {
        insert(&mut schema.used, used.to_owned());
    }
    let old = entity(schema, key)?;
    name.clone_into(&mut old.name);
    plural.clone_into(&mut old.plural);
    if !is_new {
        schema.removed.push(Removed::Collection { plural: old_plural.clone() });
        schema
            .removed
            .extend(parents.into_iter().map(|parent| Removed::Nested { parent, plural: old_plural.clone() }));
    }
    Ok(())
}

/// The parents of an entity's nested routes.
fn nested_under(entity: &Entity) -> impl Iterator<Item = &str> {
    entity.fields.iter().filter_map(|field| match &field.kind {
        Kind::Reference { entity, nested: true, .. } => Some(entity.as_str()),
        _ => None,
    })
}

fn set_soft_delete(schema: &mut Schema, key: &str, soft_delete: bool) -> Result<(), Refusal> {
    let turn = schema.turn;
    let entity = entity(schema, key)?;
    if entity.soft_delete == soft_delete {
        return refuse(format!(
            "soft delete of `{key}` is {} already",
            if soft_delete { "on" } else { "off" }
        ));
    }
    entity.soft_delete = soft_delete;
    if !soft_delete && entity.introduced_in != turn {
        schema.removed.push(Removed::SoftDelete { entity: key.to_owned() });
    }
    Ok(())
}

/// Takes out an entity, and everything elsewhere that cannot be without it.
fn remove(schema: &mut Schema, key: &str) -> Result<(), Refusal> {
    entity(schema, key)?;
    if schema.entities.len() == 1 {
        return refuse("the last entity cannot go");
    }
    let turn = schema.turn;
    let references: Vec<(String, String)> = schema
        .references_to(key)
        .map(|(owner, field)| (owner.key.clone(), field.key.clone()))
        .filter(|(owner, _)| owner != key)
        .collect();
    remove_analytics(schema, key, &references);
    strip_actions(schema, key, &references)?;

    let mut removed = Vec::new();
    for other in schema.entities.iter_mut().filter(|other| other.key != key) {
        let names_it = |computed: &Computed| match computed {
            Computed::CountOf { entity, .. } | Computed::TotalOf { entity, .. } => entity == key,
            _ => false,
        };
        let leaves: Vec<String> = other
            .fields
            .iter()
            .filter(|field| {
                field.target() == Some(key)
                    || field.computed.as_ref().is_some_and(|computed| {
                        names_it(computed)
                            || references
                                .iter()
                                .any(|(owner, reference)| computes_with(other, computed, owner, reference))
                    })
            })
            .map(|field| field.key.clone())
            .collect();
        for leaving in leaves {
            if let Some(field) = other.field(&leaving) {
                if field.introduced_in != turn {
                    removed.push(Removed::Field { entity: other.key.clone(), name: field.name.clone() });
                }
                for name in [&field.key, &field.name] {
                    insert(&mut schema.used, format!("{}.{name}", other.key));
                }
            }
            other.fields.retain(|field| field.key != leaving);
            other.filters.retain(|filter| filter.field != leaving);
        }
    }
    if let Some(position) = schema.entities.iter().position(|entity| entity.key == key) {
        let entity = schema.entities.remove(position);
        if entity.introduced_in != turn {
            removed.insert(0, Removed::Collection { plural: entity.plural.clone() });
            for parent in nested_under(&entity) {
                removed.push(Removed::Nested { parent: parent.to_owned(), plural: entity.plural.clone() });
            }
        }
        for used in [entity.key, entity.name, entity.plural] {
            insert(&mut schema.used, used);
        }
    }
    schema.removed.extend(removed);
    Ok(())
}

/// Analytics over an entity that goes, or that look at a reference to it.
fn remove_analytics(schema: &mut Schema, key: &str, references: &[(String, String)]) {
    let leaves: Vec<String> = schema
        .analytics
        .iter()
        .filter(|analytic| {
            analytic.entity == key
                || references.iter().any(|(owner, field)| analytic_needs(schema, analytic, owner, field))
        })
        .map(|analytic| analytic.key.clone())
        .collect();
    for leaving in leaves {
        // It is there: it was found just now.
        let _ = super::analytics::remove(schema, &leaving);
    }
}

/// Guards and effects elsewhere that need an entity that goes.
fn strip_actions(schema: &mut Schema, key: &str, references: &[(String, String)]) -> Result<(), Refusal> {
    for index in 0..schema.entities.len() {
        let Some(other) = schema.entities.get(index).filter(|other| other.key != key) else { continue };
        if other.actions.is_empty() {
            continue;
        }
        let mut actions = other.actions.clone();
        for action in &mut actions {
            action.guards.retain(|guard| {
                let names_it = match &guard.condition {
                    Condition::HasAtLeast { entity, .. } | Condition::HasNone { entity, .. } => entity == key,
                    _ => false,
                };
                !names_it
                    && !references.iter().any(|(owner, field)| condition_needs(other, guard, owner, field))
            });
            for effect in &mut action.effects {
                if let Effect::Create { entity, values, .. } = effect {
                    values.retain(|value| {
                        !references.iter().any(|(owner, field)| {
                            (owner == entity && value.field == *field)
                                || (owner == &other.key
                                    && matches!(&value.from, Operand::Own(key) if key == field))
                        })
                    });
                }
            }
            action.effects.retain(|effect| {
                let names_it = matches!(effect, Effect::Create { entity, .. } if entity == key);
                !names_it
                    && !references.iter().any(|(owner, field)| effect_needs(other, effect, owner, field))
            });
            if action.effects.is_empty() {
                return refuse(format!("the action `{}.{}` would have no effect", other.key, action.key));
            }
            let before = action.clone();
            action.params.retain(|param| uses_param(&before, &param.key));
        }
        if let Some(other) = schema.entities.get_mut(index) {
            other.actions = actions;
        }
    }
    Ok(())
}
