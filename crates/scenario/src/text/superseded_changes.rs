//! Changes with nothing to say: the same turn took them back, or brought what they change, whose clauses say it all.

use crate::change::{ActionChange, AnalyticChange, Change, EntityChange, FieldChange, ListChange};
use crate::ir::{Action, Field, Schema};

/// Whether there is nothing to say about a change.
pub(super) fn is_superseded(before: &Schema, after: &Schema, change: &Change) -> bool {
    match change {
        Change::Entity(EntityChange::AddEntity { entity }) => return after.entity(&entity.key).is_none(),
        Change::Entity(EntityChange::RemoveEntity { entity }) => return before.entity(entity).is_none(),
        _ => {}
    }
    if let Some(entity) = change.entity()
        && (before.entity(entity).is_none() || after.entity(entity).is_none())
    {
        return true;
    }
    match change {
        Change::Entity(_) | Change::Convention(_) => false,
        Change::Field(change) => {
            let (old_part, new_part) = (field(before, change.keys()), field(after, change.keys()));
            match change {
                FieldChange::AddField { .. }
                | FieldChange::AddReference { .. }
                | FieldChange::AddComputed { .. } => new_part.is_none(),
                FieldChange::RemoveField { .. } | FieldChange::RemoveReference { .. } => old_part.is_none(),
                _ => old_part.is_none() || new_part.is_none(),
            }
        }
        Change::Constraint(change) => {
            field(before, change.keys()).is_none() || field(after, change.keys()).is_none()
        }
        Change::Action(change) => {
            let (old_part, new_part) = (action(before, change.keys()), action(after, change.keys()));
            let has_guard = |action: Option<&Action>, key: &str| {
                action.is_some_and(|action| action.guards.iter().any(|guard| guard.key == key))
            };
            match change {
                ActionChange::AddAction { .. } => new_part.is_none(),
                ActionChange::RemoveAction { .. } => old_part.is_none(),
                ActionChange::AddGuard { guard, .. } => {
                    old_part.is_none() || !has_guard(new_part, &guard.key)
                }
                ActionChange::RemoveGuard { guard, .. } => !has_guard(old_part, guard),
                ActionChange::ChangeGuard { guard, .. } => {
                    !has_guard(old_part, guard) || !has_guard(new_part, guard)
                }
                _ => old_part.is_none() || new_part.is_none(),
            }
        }
        Change::Analytic(change) => {
            let (old_part, new_part) =
                (before.analytic(change.analytic()), after.analytic(change.analytic()));
            match change {
                AnalyticChange::AddAnalytic { .. } => new_part.is_none(),
                AnalyticChange::RemoveAnalytic { .. } => old_part.is_none(),
                _ => old_part.is_none() || new_part.is_none(),
            }
        }
        Change::List(change) => {
            let (old_part, new_part) = (before.entity(change.entity()), after.entity(change.entity()));
            match change {
                ListChange::AddFilter { filter, .. } => {
                    new_part.is_none_or(|new_part| !new_part.filters.contains(filter))
                }
                ListChange::RemoveFilter { filter, .. } => {
                    old_part.is_none_or(|old_part| !old_part.filters.contains(filter))
                }
                ListChange::AddSort { field, .. } => {
                    new_part.is_none_or(|new_part| !new_part.sorts.contains(field))
                }
                ListChange::RemoveSort { field, .. } => {
                    old_part.is_none_or(|old_part| !old_part.sorts.contains(field))
                }
                ListChange::ChangeDefaultSort { .. } => false,
            }
        }
    }
}

fn field<'a>(schema: &'a Schema, (entity, key): (&str, &str)) -> Option<&'a Field> {
    schema.entity(entity)?.field(key)
}

fn action<'a>(schema: &'a Schema, (entity, key): (&str, &str)) -> Option<&'a Action> {
    schema.entity(entity)?.action(key)
}
