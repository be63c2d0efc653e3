//! Which clauses belong to a change: those that it writes, and those of what went with it.

use crate::change::Change;
use crate::ir::{Effect, Removed, Schema};
use crate::text::delta::Delta;
use crate::text::pieces::Part;

/// The clauses that a change writes, most telling first.
pub(super) fn clauses_of(after: &Schema, delta: &Delta, change: &Change) -> Vec<usize> {
    let mut out = Vec::new();
    let mut add = |id: &str| out.extend(delta.at.get(id));
    match change {
        Change::AddEntity { entity } => {
            let Some(index) = after.entities.iter().position(|each| each.key == entity.key) else {
                return out;
            };
            out.extend((0..delta.pieces.len()).filter(|&at| match delta.pieces[at].part {
                Part::Entity(position)
                | Part::Field(position)
                | Part::List(position)
                | Part::Action(position)
                | Part::Rule(position) => position == index,
                _ => false,
            }));
        }
        Change::AddField { entity, field }
        | Change::AddReference { entity, field }
        | Change::AddComputed { entity, field } => add(&format!("{entity}.{}", field.key)),
        Change::RetypeField { entity, field, .. } => {
            add(&format!("{entity}.{field}"));
            for op in ["equals", "at_least", "at_most", "contains"] {
                add(&format!("{entity}.filter.{field}.{op}"));
            }
        }
        Change::AddEnumValue { entity, field, .. }
        | Change::RemoveEnumValue { entity, field, .. }
        | Change::ChangeDeleteRule { entity, field, .. }
        | Change::Nest { entity, field }
        | Change::Unnest { entity, field }
        | Change::Tighten { entity, field, .. }
        | Change::Loosen { entity, field, .. }
        | Change::Require { entity, field }
        | Change::MakeOptional { entity, field, .. }
        | Change::AllowNull { entity, field }
        | Change::ForbidNull { entity, field, .. }
        | Change::ChangeDefault { entity, field, .. }
        | Change::ChangeComputed { entity, field, .. } => add(&format!("{entity}.{field}")),
        Change::MakeUnique { entity, field } | Change::DropUnique { entity, field } => {
            add(&format!("{entity}.{field}"));
            add("unique");
        }
        Change::MakeImmutable { entity, field } | Change::MakeMutable { entity, field } => {
            add(&format!("{entity}.{field}"));
            add("bodies.immutable");
        }
        Change::AddAction { entity, action } => {
            let id = format!("{entity}.{}", action.key);
            add(&id);
            let parts = [format!("{id}.guard."), format!("{id}.effect.")];
            out.extend((0..delta.pieces.len()).filter(|&at| {
                let piece = &delta.pieces[at];
                matches!(piece.part, Part::Rule(_))
                    && parts.iter().any(|part| piece.clause.id.starts_with(part))
            }));
        }
        Change::AddGuard { entity, action, guard } => add(&format!("{entity}.{action}.guard.{}", guard.key)),
        Change::ChangeGuard { entity, action, guard, .. } => add(&format!("{entity}.{action}.guard.{guard}")),
        Change::AddEffect { entity, action, effect, .. } => {
            add(&effect_id(entity, action, effect));
            add(&format!("{entity}.{action}"));
        }
        Change::ChangeEffect { entity, action, .. } => {
            // Effects have no keys: those of this action that read differently now.
            let id = format!("{entity}.{action}.effect.");
            out.extend(
                (0..delta.pieces.len())
                    .filter(|&at| delta.changed[at] && delta.pieces[at].clause.id.starts_with(&id)),
            );
            out.extend(delta.at.get(&format!("{entity}.{action}")));
        }
        Change::RemoveEffect { entity, action, .. } => add(&format!("{entity}.{action}")),
        Change::AddAnalytic { analytic } => add(&format!("analytics.{}", analytic.key)),
        Change::ChangeMeasure { analytic, .. }
        | Change::ChangeGrouping { analytic, .. }
        | Change::ChangeRestriction { analytic, .. }
        | Change::ChangeAnalyticFilter { analytic, .. } => add(&format!("analytics.{analytic}")),
        Change::AddFilter { entity, filter } => {
            add(&format!("{entity}.filter.{}.{}", filter.field, filter.op.key()));
        }
        Change::AddSort { entity, .. }
        | Change::RemoveSort { entity, .. }
        | Change::ChangeDefaultSort { entity, .. } => add(&format!("{entity}.sort")),
        Change::SetSoftDelete { entity, on: true } => {
            add(&format!("{entity}.soft_delete"));
            add("soft_delete");
        }
        Change::ChangeErrorShape { .. } => add("errors.body"),
        Change::ChangeErrorCode { .. } => {
            add("errors.status");
            add("errors.body");
        }
        Change::ChangeStatus { .. } => {
            add("errors.status");
            add("operations");
        }
        Change::ChangeListShape { .. } => add("lists.body"),
        Change::ChangePagination { .. } => add("lists.pages"),
        Change::ChangeFieldCase { .. } => add("server.names"),
        Change::ChangePrefix { .. } => add("server.routes"),
        Change::ChangeUnknownFields { .. } => add("bodies.unknown"),
        Change::RemoveEntity { .. }
        | Change::RenameEntity { .. }
        | Change::RemoveField { .. }
        | Change::RenameField { .. }
        | Change::RenameEnumValue { .. }
        | Change::RemoveReference { .. }
        | Change::RemoveAction { .. }
        | Change::RenameAction { .. }
        | Change::RemoveGuard { .. }
        | Change::RemoveAnalytic { .. }
        | Change::RenameAnalytic { .. }
        | Change::RemoveFilter { .. }
        | Change::SetSoftDelete { on: false, .. } => {}
    }
    out
}

fn effect_id(entity: &str, action: &str, effect: &Effect) -> String {
    match effect {
        Effect::Set { field, .. } | Effect::Increment { field, .. } => {
            format!("{entity}.{action}.effect.{field}")
        }
        Effect::Create { entity: other, .. } => format!("{entity}.{action}.effect.create_{other}"),
    }
}

/// The clauses of what went by a change.
pub(super) fn removed_with(before: &Schema, after: &Schema, delta: &Delta, change: &Change) -> Vec<usize> {
    (0..after.removed.len())
        .filter(|&index| after.removed.get(index).is_some_and(|removed| goes(before, change, removed)))
        .filter_map(|index| delta.at.get(&format!("gone.{index}")).copied())
        .collect()
}

fn goes(before: &Schema, change: &Change, removed: &Removed) -> bool {
    let named = |entity: &str, field: &str, name: &str| {
        before.entity(entity).and_then(|entity| entity.field(field)).is_some_and(|field| field.name == name)
    };
    match (change, removed) {
        (
            Change::RemoveEntity { entity } | Change::RenameEntity { entity, .. },
            Removed::Collection { plural } | Removed::Nested { plural, .. },
        ) => before.entity(entity).is_some_and(|entity| entity.plural == *plural),
        (
            Change::RemoveField { entity, field }
            | Change::RemoveReference { entity, field }
            | Change::RenameField { entity, field, .. },
            Removed::Field { entity: owner, name },
        ) => entity == owner && named(entity, field, name),
        (
            Change::RemoveReference { entity, field } | Change::Unnest { entity, field },
            Removed::Nested { parent, plural },
        ) => before.entity(entity).is_some_and(|owner| {
            owner.plural == *plural && owner.field(field).and_then(|field| field.target()) == Some(parent)
        }),
        (
            Change::RemoveEnumValue { entity, field, value }
            | Change::RenameEnumValue { entity, field, value, .. },
            Removed::EnumValue { entity: owner, field: in_field, value: old },
        ) => entity == owner && field == in_field && value == old,
        (
            Change::RemoveAction { entity, action } | Change::RenameAction { entity, action, .. },
            Removed::Action { entity: owner, name },
        ) => {
            entity == owner
                && before
                    .entity(entity)
                    .and_then(|entity| entity.action(action))
                    .is_some_and(|action| action.name == *name)
        }
        (
            Change::RemoveAnalytic { analytic } | Change::RenameAnalytic { analytic, .. },
            Removed::Analytic { name },
        ) => before.analytic(analytic).is_some_and(|analytic| analytic.name == *name),
        (Change::ChangeAnalyticFilter { analytic, .. }, Removed::AnalyticFilter { analytic: owner, .. })
        | (
            Change::ChangeRestriction { analytic, .. },
            Removed::AnalyticRestriction { analytic: owner, .. },
        ) => analytic == owner,
        (Change::RemoveFilter { entity, filter }, Removed::Filter { entity: owner, field, op }) => {
            entity == owner && filter.field == *field && filter.op == *op
        }
        (
            Change::RetypeField { entity, field, .. },
            Removed::Filter { entity: owner, field: owner_field, .. }
            | Removed::Sort { entity: owner, field: owner_field }
            | Removed::Constraint { entity: owner, field: owner_field, .. }
            | Removed::Unique { entity: owner, field: owner_field }
            | Removed::EnumValue { entity: owner, field: owner_field, .. },
        )
        | (Change::RemoveSort { entity, field }, Removed::Sort { entity: owner, field: owner_field })
        | (Change::DropUnique { entity, field }, Removed::Unique { entity: owner, field: owner_field })
        | (Change::MakeMutable { entity, field }, Removed::Immutable { entity: owner, field: owner_field })
        | (
            Change::Loosen { entity, field, .. }
            | Change::MakeOptional { entity, field, .. }
            | Change::AllowNull { entity, field },
            Removed::Constraint { entity: owner, field: owner_field, .. },
        ) => entity == owner && field == owner_field,
        (
            Change::RemoveGuard { entity, action, .. } | Change::ChangeGuard { entity, action, .. },
            Removed::Guard { entity: owner, action: owner_action, .. },
        )
        | (
            Change::RemoveEffect { entity, action, .. },
            Removed::Effect { entity: owner, action: owner_action, .. }
            | Removed::Created { entity: owner, action: owner_action, .. },
        ) => entity == owner && action == owner_action,
        (Change::SetSoftDelete { entity, .. }, Removed::SoftDelete { entity: owner }) => entity == owner,
        (Change::ChangePrefix { .. }, Removed::Prefix { .. }) => true,
        _ => false,
    }
}
