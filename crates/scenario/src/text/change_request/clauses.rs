//! Which clauses belong to a change: those that it writes, and those of what went with it.

use crate::change::{
    ActionChange, AnalyticChange, Change, ConstraintChange, ConventionChange, EntityChange, FieldChange,
    ListChange,
};
use crate::ir::{Effect, Removed, Schema};
use crate::text::delta::Delta;
use crate::text::pieces::Part;

/// The clauses that a change writes, most telling first.
pub(super) fn clauses_of(after: &Schema, delta: &Delta, change: &Change) -> Vec<usize> {
    match change {
        Change::Entity(change) => entity_clauses(after, delta, change),
        Change::Field(change) => with_ids(delta, &field_clauses(change)),
        Change::Constraint(change) => with_ids(delta, &constraint_clauses(change)),
        Change::Action(change) => action_clauses(delta, change),
        Change::Analytic(change) => with_ids(delta, &analytic_clauses(change)),
        Change::List(change) => with_ids(delta, &list_clauses(change)),
        Change::Convention(change) => with_ids(delta, convention_clauses(change)),
    }
}

fn with_ids(delta: &Delta, ids: &[impl AsRef<str>]) -> Vec<usize> {
    ids.iter().filter_map(|id| delta.index_by_id.get(id.as_ref())).copied().collect()
}

fn entity_clauses(after: &Schema, delta: &Delta, change: &EntityChange) -> Vec<usize> {
    match change {
        EntityChange::AddEntity { entity } => {
            let index = after.entities.iter().position(|each| each.key == entity.key);
            (0..delta.pieces.len())
                .filter(|&piece_index| match delta.pieces[piece_index].part {
                    Part::Entity(position)
                    | Part::Field(position)
                    | Part::List(position)
                    | Part::Action(position)
                    | Part::Rule(position) => Some(position) == index,
                    _ => false,
                })
                .collect()
        }
        EntityChange::SetSoftDelete { entity, on: true } => {
            with_ids(delta, &[format!("{entity}.soft_delete").as_str(), "soft_delete"])
        }
        EntityChange::RemoveEntity { .. }
        | EntityChange::RenameEntity { .. }
        | EntityChange::SetSoftDelete { on: false, .. } => Vec::new(),
    }
}

fn field_clauses(change: &FieldChange) -> Vec<String> {
    let (entity, field) = change.keys();
    let field_id = format!("{entity}.{field}");
    match change {
        FieldChange::RetypeField { .. } => {
            let filters = ["equals", "at_least", "at_most", "contains"]
                .map(|op| format!("{entity}.filter.{field}.{op}"));
            [field_id].into_iter().chain(filters).collect()
        }
        FieldChange::RemoveField { .. }
        | FieldChange::RenameField { .. }
        | FieldChange::RenameEnumValue { .. }
        | FieldChange::RemoveReference { .. } => Vec::new(),
        _ => vec![field_id],
    }
}

fn constraint_clauses(change: &ConstraintChange) -> Vec<String> {
    use ConstraintChange::{DropUnique, MakeImmutable, MakeMutable, MakeUnique};
    let (entity, field) = change.keys();
    let field_id = format!("{entity}.{field}");
    match change {
        MakeUnique { .. } | DropUnique { .. } => vec![field_id, "unique".to_owned()],
        MakeImmutable { .. } | MakeMutable { .. } => vec![field_id, "bodies.immutable".to_owned()],
        _ => vec![field_id],
    }
}

fn action_clauses(delta: &Delta, change: &ActionChange) -> Vec<usize> {
    let (entity, key) = change.keys();
    let action = format!("{entity}.{key}");
    match change {
        ActionChange::AddAction { .. } => {
            let parts = [format!("{action}.guard."), format!("{action}.effect.")];
            let mut out = with_ids(delta, &[action]);
            out.extend((0..delta.pieces.len()).filter(|&piece_index| {
                let piece = &delta.pieces[piece_index];
                matches!(piece.part, Part::Rule(_))
                    && parts.iter().any(|part| piece.clause.id.starts_with(part))
            }));
            out
        }
        ActionChange::AddGuard { guard, .. } => with_ids(delta, &[format!("{action}.guard.{}", guard.key)]),
        ActionChange::ChangeGuard { guard, .. } => with_ids(delta, &[format!("{action}.guard.{guard}")]),
        ActionChange::AddEffect { effect, .. } => with_ids(delta, &[effect_id(&action, effect), action]),
        ActionChange::ChangeEffect { .. } => {
            // Effects have no keys: those of this action that read differently now.
            let effects = format!("{action}.effect.");
            let reads_differently = |&piece_index: &usize| {
                delta.changed[piece_index] && delta.pieces[piece_index].clause.id.starts_with(&effects)
            };
            let mut out: Vec<usize> = (0..delta.pieces.len()).filter(reads_differently).collect();
            out.extend(with_ids(delta, &[action]));
            out
        }
        ActionChange::RemoveEffect { .. } => with_ids(delta, &[action]),
        ActionChange::RemoveAction { .. }
        | ActionChange::RenameAction { .. }
        | ActionChange::RemoveGuard { .. } => Vec::new(),
    }
}

fn effect_id(action: &str, effect: &Effect) -> String {
    match effect {
        Effect::Set { field, .. } | Effect::Increment { field, .. } => format!("{action}.effect.{field}"),
        Effect::Create { entity: other, .. } => format!("{action}.effect.create_{other}"),
    }
}

fn analytic_clauses(change: &AnalyticChange) -> Vec<String> {
    match change {
        AnalyticChange::RemoveAnalytic { .. } | AnalyticChange::RenameAnalytic { .. } => Vec::new(),
        _ => vec![format!("analytics.{}", change.analytic())],
    }
}

fn list_clauses(change: &ListChange) -> Vec<String> {
    match change {
        ListChange::AddFilter { entity, filter } => {
            vec![format!("{entity}.filter.{}.{}", filter.field, filter.op.key())]
        }
        ListChange::RemoveFilter { .. } => Vec::new(),
        ListChange::AddSort { entity, .. }
        | ListChange::RemoveSort { entity, .. }
        | ListChange::ChangeDefaultSort { entity, .. } => vec![format!("{entity}.sort")],
    }
}

fn convention_clauses(change: &ConventionChange) -> &'static [&'static str] {
    match change {
        ConventionChange::ChangeErrorShape { .. } => &["errors.body"],
        ConventionChange::ChangeErrorCode { .. } => &["errors.status", "errors.body"],
        ConventionChange::ChangeStatus { .. } => &["errors.status", "operations"],
        ConventionChange::ChangeListShape { .. } => &["lists.body"],
        ConventionChange::ChangePagination { .. } => &["lists.pages"],
        ConventionChange::ChangeFieldCase { .. } => &["server.names"],
        ConventionChange::ChangePrefix { .. } => &["server.routes"],
        ConventionChange::ChangeUnknownFields { .. } => &["bodies.unknown"],
    }
}

/// The clauses of what went by a change.
pub(super) fn removed_with(before: &Schema, after: &Schema, delta: &Delta, change: &Change) -> Vec<usize> {
    (0..after.removed.len())
        .filter(|&index| {
            after.removed.get(index).is_some_and(|removed| is_removed_by(before, change, removed))
        })
        .filter_map(|index| delta.index_by_id.get(&format!("gone.{index}")).copied())
        .collect()
}

fn is_removed_by(before: &Schema, change: &Change, removed: &Removed) -> bool {
    use ActionChange::{ChangeGuard, RemoveAction, RemoveEffect, RemoveGuard, RenameAction};
    use AnalyticChange::{ChangeAnalyticFilter, ChangeRestriction, RemoveAnalytic, RenameAnalytic};
    use ConstraintChange::{AllowNull, DropUnique, Loosen, MakeMutable, MakeOptional};
    use ConventionChange::ChangePrefix;
    use EntityChange::{RemoveEntity, RenameEntity, SetSoftDelete};
    use FieldChange::{
        RemoveEnumValue, RemoveField, RemoveReference, RenameEnumValue, RenameField, RetypeField, Unnest,
    };
    use ListChange::{RemoveFilter, RemoveSort};
    let named = |entity: &str, field: &str, name: &str| {
        before.entity(entity).and_then(|entity| entity.field(field)).is_some_and(|field| field.name == name)
    };
    match (change, removed) {
        (
            Change::Entity(RemoveEntity { entity } | RenameEntity { entity, .. }),
            Removed::Collection { plural } | Removed::Nested { plural, .. },
        ) => before.entity(entity).is_some_and(|entity| entity.plural == *plural),
        (
            Change::Field(
                RemoveField { entity, field }
                | RemoveReference { entity, field }
                | RenameField { entity, field, .. },
            ),
            Removed::Field { entity: owner, name },
        ) => entity == owner && named(entity, field, name),
        (
            Change::Field(RemoveReference { entity, field } | Unnest { entity, field }),
            Removed::Nested { parent, plural },
        ) => before.entity(entity).is_some_and(|owner| {
            owner.plural == *plural && owner.field(field).and_then(|field| field.target()) == Some(parent)
        }),
        (
            Change::Field(
                RemoveEnumValue { entity, field, value } | RenameEnumValue { entity, field, value, .. },
            ),
            Removed::EnumValue { entity: owner, field: in_field, value: old },
        ) => entity == owner && field == in_field && value == old,
        (
            Change::Action(RemoveAction { entity, action } | RenameAction { entity, action, .. }),
            Removed::Action { entity: owner, name },
        ) => {
            entity == owner
                && before
                    .entity(entity)
                    .and_then(|entity| entity.action(action))
                    .is_some_and(|action| action.name == *name)
        }
        (
            Change::Analytic(RemoveAnalytic { analytic } | RenameAnalytic { analytic, .. }),
            Removed::Analytic { name },
        ) => before.analytic(analytic).is_some_and(|analytic| analytic.name == *name),
        (
            Change::Analytic(ChangeAnalyticFilter { analytic, .. }),
            Removed::AnalyticFilter { analytic: owner, .. },
        )
        | (
            Change::Analytic(ChangeRestriction { analytic, .. }),
            Removed::AnalyticRestriction { analytic: owner, .. },
        ) => analytic == owner,
        (Change::List(RemoveFilter { entity, filter }), Removed::Filter { entity: owner, field, op }) => {
            entity == owner && filter.field == *field && filter.op == *op
        }
        (
            Change::Field(RetypeField { entity, field, .. }),
            Removed::Filter { entity: owner, field: owner_field, .. }
            | Removed::Sort { entity: owner, field: owner_field }
            | Removed::Constraint { entity: owner, field: owner_field, .. }
            | Removed::Unique { entity: owner, field: owner_field }
            | Removed::EnumValue { entity: owner, field: owner_field, .. },
        )
        | (Change::List(RemoveSort { entity, field }), Removed::Sort { entity: owner, field: owner_field })
        | (
            Change::Constraint(DropUnique { entity, field }),
            Removed::Unique { entity: owner, field: owner_field },
        )
        | (
            Change::Constraint(MakeMutable { entity, field }),
            Removed::Immutable { entity: owner, field: owner_field },
        )
        | (
            Change::Constraint(
                Loosen { entity, field, .. }
                | MakeOptional { entity, field, .. }
                | AllowNull { entity, field },
            ),
            Removed::Constraint { entity: owner, field: owner_field, .. },
        ) => entity == owner && field == owner_field,
        (
            Change::Action(RemoveGuard { entity, action, .. } | ChangeGuard { entity, action, .. }),
            Removed::Guard { entity: owner, action: owner_action, .. },
        )
        | (
            Change::Action(RemoveEffect { entity, action, .. }),
            Removed::Effect { entity: owner, action: owner_action, .. }
            | Removed::Created { entity: owner, action: owner_action, .. },
        ) => entity == owner && action == owner_action,
        (Change::Entity(SetSoftDelete { entity, .. }), Removed::SoftDelete { entity: owner }) => {
            entity == owner
        }
        (Change::Convention(ChangePrefix { .. }), Removed::Prefix { .. }) => true,
        _ => false,
    }
}
