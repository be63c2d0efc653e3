//! Changes that were not done, or not everywhere.

use scenario::change::{Change, apply, next_turn};
use scenario::ir::{Entity, Schema};

use super::{Mutation, Operator, Site, Sites};

pub(super) fn find<'a>(before: &'a Schema, changes: &'a [Change], schema: &'a Schema, sites: &mut Sites<'a>) {
    for (index, change) in changes.iter().enumerate() {
        sites.0.push(Site {
            operator: Operator::ChangeLeftOut,
            location: format!("changes.{index}.{}", change.kind().word()),
            mutation: Mutation::ChangeLeftOut { before, changes, index },
        });
    }
    for (index, entity) in schema.entities.iter().enumerate() {
        if let Some(old) = before.entity(&entity.key) {
            names(old, index, entity, sites);
        }
    }
    for (index, analytic) in schema.analytics.iter().enumerate() {
        if let Some(old) = before.analytic(&analytic.key).filter(|old| old.name != analytic.name) {
            sites.edit(Operator::StaleNameKept, format!("analytics.{}", analytic.key), move |schema| {
                if let Some(analytic) = schema.analytics.get_mut(index) {
                    analytic.name.clone_from(&old.name);
                }
            });
        }
    }
}

fn names<'a>(old: &'a Entity, index: usize, entity: &'a Entity, sites: &mut Sites<'a>) {
    if old.plural != entity.plural {
        sites.edit(Operator::StaleNameKept, entity.key.clone(), move |schema| {
            if let Some(entity) = schema.entities.get_mut(index) {
                entity.plural.clone_from(&old.plural);
            }
        });
    }
    for field in &entity.fields {
        if let Some(old) = old.field(&field.key).filter(|old| old.name != field.name) {
            sites.edit(Operator::StaleNameKept, format!("{}.{}", entity.key, field.key), move |schema| {
                if let Some(field) =
                    schema.entities.get_mut(index).and_then(|entity| entity.field_mut(&old.key))
                {
                    field.name.clone_from(&old.name);
                }
            });
        }
    }
    for action in &entity.actions {
        if let Some(old) = old.action(&action.key).filter(|old| old.name != action.name) {
            sites.edit(Operator::StaleNameKept, format!("{}.{}", entity.key, action.key), move |schema| {
                if let Some(action) =
                    schema.entities.get_mut(index).and_then(|entity| entity.action_mut(&old.key))
                {
                    action.name.clone_from(&old.name);
                }
            });
        }
    }
}

/// The schema with all changes but one; nothing if the others do not fit without it, or nothing comes of it.
pub(super) fn without_change(
    before: &Schema,
    changes: &[Change],
    left_out: usize,
    after: &Schema,
) -> Option<Schema> {
    let mut schema = next_turn(before);
    for (_, change) in changes.iter().enumerate().filter(|(index, _)| *index != left_out) {
        schema = apply(&schema, change).ok()?;
    }
    let same = schema.conventions == after.conventions
        && schema.entities == after.entities
        && schema.analytics == after.analytics;
    (!same).then_some(schema)
}
