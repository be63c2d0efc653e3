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
            let (was, is) = (field(before, change.keys()), field(after, change.keys()));
            match change {
                FieldChange::AddField { .. }
                | FieldChange::AddReference { .. }
                | FieldChange::AddComputed { .. } => is.is_none(),
                FieldChange::RemoveField { .. } | FieldChange::RemoveReference { .. } => was.is_none(),
                _ => was.is_none() || is.is_none(),
            }
        }
        Change::Constraint(change) => {
            field(before, change.keys()).is_none() || field(after, change.keys()).is_none()
        }
        Change::Action(change) => {
            let (was, is) = (action(before, change.keys()), action(after, change.keys()));
            let has_guard = |action: Option<&Action>, key: &str| {
                action.is_some_and(|action| action.guards.iter().any(|guard| guard.key == key))
            };
            match change {
                ActionChange::AddAction { .. } => is.is_none(),
                ActionChange::RemoveAction { .. } => was.is_none(),
                ActionChange::AddGuard { guard, .. } => was.is_none() || !has_guard(is, &guard.key),
                ActionChange::RemoveGuard { guard, .. } => !has_guard(was, guard),
                ActionChange::ChangeGuard { guard, .. } => !has_guard(was, guard) || !has_guard(is, guard),
                _ => was.is_none() || is.is_none(),
            }
        }
        Change::Analytic(change) => {
            let (was, is) = (before.analytic(change.analytic()), after.analytic(change.analytic()));
            match change {
                AnalyticChange::AddAnalytic { .. } => is.is_none(),
                AnalyticChange::RemoveAnalytic { .. } => was.is_none(),
                _ => was.is_none() || is.is_none(),
            }
        }
        Change::List(change) => {
            let (was, is) = (before.entity(change.entity()), after.entity(change.entity()));
            match change {
                ListChange::AddFilter { filter, .. } => is.is_none_or(|is| !is.filters.contains(filter)),
                ListChange::RemoveFilter { filter, .. } => {
                    was.is_none_or(|was| !was.filters.contains(filter))
                }
                ListChange::AddSort { field, .. } => is.is_none_or(|is| !is.sorts.contains(field)),
                ListChange::RemoveSort { field, .. } => was.is_none_or(|was| !was.sorts.contains(field)),
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
