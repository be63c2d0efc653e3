//! Changes with nothing to say: the same turn took them back, or brought what they change, whose clauses say it all.

use crate::change::Change;
use crate::ir::Schema;

use super::facts::subject;

/// Whether there is nothing to say about a change.
pub(super) fn is_void(before: &Schema, after: &Schema, change: &Change) -> bool {
    if let Some(entity) = subject(change) {
        let (was, is) = (before.entity(entity).is_some(), after.entity(entity).is_some());
        let there = match change {
            Change::AddEntity { .. } => is,
            Change::RemoveEntity { .. } => was,
            _ => was && is,
        };
        if !there {
            return true;
        }
    }
    let field = |entity: &str, field: &str| {
        let has = |schema: &Schema| schema.entity(entity).is_some_and(|entity| entity.field(field).is_some());
        (has(before), has(after))
    };
    let action = |entity: &str, action: &str| {
        let has =
            |schema: &Schema| schema.entity(entity).is_some_and(|entity| entity.action(action).is_some());
        (has(before), has(after))
    };
    let guard = |entity: &str, action: &str, guard: &str| {
        let has = |schema: &Schema| {
            let action = schema.entity(entity).and_then(|entity| entity.action(action));
            action.is_some_and(|action| action.guards.iter().any(|each| each.key == guard))
        };
        (has(before), has(after))
    };
    let analytic = |key: &str| (before.analytic(key).is_some(), after.analytic(key).is_some());
    let (was, is) = match change {
        Change::AddField { entity, field: new }
        | Change::AddReference { entity, field: new }
        | Change::AddComputed { entity, field: new } => return !field(entity, &new.key).1,
        Change::RemoveField { entity, field: old } | Change::RemoveReference { entity, field: old } => {
            return !field(entity, old).0;
        }
        Change::AddAction { entity, action: new } => return !action(entity, &new.key).1,
        Change::RemoveAction { entity, action: old } => return !action(entity, old).0,
        Change::AddGuard { entity, action: key, guard: new } => {
            return !action(entity, key).0 || !guard(entity, key, &new.key).1;
        }
        Change::RemoveGuard { entity, action: key, guard: old } => return !guard(entity, key, old).0,
        Change::AddAnalytic { analytic: new } => return !analytic(&new.key).1,
        Change::RemoveAnalytic { analytic: old } => return !analytic(old).0,
        Change::ChangeGuard { entity, action, guard: key, .. } => guard(entity, action, key),
        Change::RenameAction { entity, action: key, .. }
        | Change::AddEffect { entity, action: key, .. }
        | Change::RemoveEffect { entity, action: key, .. }
        | Change::ChangeEffect { entity, action: key, .. } => action(entity, key),
        Change::RenameAnalytic { analytic: key, .. }
        | Change::ChangeMeasure { analytic: key, .. }
        | Change::ChangeGrouping { analytic: key, .. }
        | Change::ChangeRestriction { analytic: key, .. }
        | Change::ChangeAnalyticFilter { analytic: key, .. } => analytic(key),
        Change::AddFilter { entity, filter } => {
            let has = after.entity(entity).is_some_and(|entity| entity.filters.contains(filter));
            return !has;
        }
        Change::RemoveFilter { entity, filter } => {
            let had = before.entity(entity).is_some_and(|entity| entity.filters.contains(filter));
            return !had;
        }
        Change::AddSort { entity, field } => {
            return !after.entity(entity).is_some_and(|entity| entity.sorts.contains(field));
        }
        Change::RemoveSort { entity, field } => {
            return !before.entity(entity).is_some_and(|entity| entity.sorts.contains(field));
        }
        Change::RenameField { entity, field: key, .. }
        | Change::RetypeField { entity, field: key, .. }
        | Change::AddEnumValue { entity, field: key, .. }
        | Change::RemoveEnumValue { entity, field: key, .. }
        | Change::RenameEnumValue { entity, field: key, .. }
        | Change::ChangeDeleteRule { entity, field: key, .. }
        | Change::Nest { entity, field: key }
        | Change::Unnest { entity, field: key }
        | Change::Tighten { entity, field: key, .. }
        | Change::Loosen { entity, field: key, .. }
        | Change::Require { entity, field: key }
        | Change::MakeOptional { entity, field: key, .. }
        | Change::AllowNull { entity, field: key }
        | Change::ForbidNull { entity, field: key, .. }
        | Change::ChangeDefault { entity, field: key, .. }
        | Change::MakeUnique { entity, field: key }
        | Change::DropUnique { entity, field: key }
        | Change::MakeImmutable { entity, field: key }
        | Change::MakeMutable { entity, field: key }
        | Change::ChangeComputed { entity, field: key, .. } => field(entity, key),
        _ => return false,
    };
    !(was && is)
}
