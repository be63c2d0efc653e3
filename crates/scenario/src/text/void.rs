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
        Change::AddGuard { entity, action: of, guard: new } => {
            return !action(entity, of).0 || !guard(entity, of, &new.key).1;
        }
        Change::RemoveGuard { entity, action: of, guard: old } => return !guard(entity, of, old).0,
        Change::AddAnalytic { analytic: new } => return !analytic(&new.key).1,
        Change::RemoveAnalytic { analytic: old } => return !analytic(old).0,
        Change::ChangeGuard { entity, action, guard: of, .. } => guard(entity, action, of),
        Change::RenameAction { entity, action: of, .. }
        | Change::AddEffect { entity, action: of, .. }
        | Change::RemoveEffect { entity, action: of, .. }
        | Change::ChangeEffect { entity, action: of, .. } => action(entity, of),
        Change::RenameAnalytic { analytic: of, .. }
        | Change::ChangeMeasure { analytic: of, .. }
        | Change::ChangeGrouping { analytic: of, .. }
        | Change::ChangeRestriction { analytic: of, .. }
        | Change::ChangeAnalyticFilter { analytic: of, .. } => analytic(of),
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
        Change::RenameField { entity, field: of, .. }
        | Change::RetypeField { entity, field: of, .. }
        | Change::AddEnumValue { entity, field: of, .. }
        | Change::RemoveEnumValue { entity, field: of, .. }
        | Change::RenameEnumValue { entity, field: of, .. }
        | Change::ChangeDeleteRule { entity, field: of, .. }
        | Change::Nest { entity, field: of }
        | Change::Unnest { entity, field: of }
        | Change::Tighten { entity, field: of, .. }
        | Change::Loosen { entity, field: of, .. }
        | Change::Require { entity, field: of }
        | Change::MakeOptional { entity, field: of, .. }
        | Change::AllowNull { entity, field: of }
        | Change::ForbidNull { entity, field: of, .. }
        | Change::ChangeDefault { entity, field: of, .. }
        | Change::MakeUnique { entity, field: of }
        | Change::DropUnique { entity, field: of }
        | Change::MakeImmutable { entity, field: of }
        | Change::MakeMutable { entity, field: of }
        | Change::ChangeComputed { entity, field: of, .. } => field(entity, of),
        _ => return false,
    };
    !(was && is)
}
