//! Applying changes.
//!
//! A change is done on a copy, by the submodule of what it changes; then everything that holds for all changes is seen
//! to: names that were used, what was removed, and that the schema is valid. So no change can leave a schema half changed,
//! and no submodule has to know all rules of a schema.

use super::Change;
use super::refusal::{Refusal, refuse};
use super::{actions, analytics, constraints, conventions, entities, enums, fields, lists, parts};
use crate::check::check;
use crate::check::removed::{Standing, standing};
use crate::ir::{Removed, Schema};

/// The schema as it begins a turn: the turn counted on, [`Schema::removed`] empty.
pub fn next_turn(schema: &Schema) -> Schema {
    Schema { turn: schema.turn + 1, removed: Vec::new(), ..schema.clone() }
}

/// The schema after one change. What the change removes is added to [`Schema::removed`]; what is new gets the turn of
/// the schema as the one that introduced it.
///
/// Errors: [`Refusal`] if the change does not fit, changes nothing, would bring back what this turn removed, uses a
/// name again, or would leave the schema invalid.
pub fn apply(schema: &Schema, change: &Change) -> Result<Schema, Refusal> {
    let mut after = schema.clone();
    let earlier = after.removed.len();
    perform(&mut after, change)?;
    if after.conventions == schema.conventions
        && after.analytics == schema.analytics
        && after.entities == schema.entities
    {
        return refuse("the change changes nothing");
    }
    // A sound schema first: what was removed is judged against it.
    let removed = std::mem::take(&mut after.removed);
    if let Some(fault) = check(&after).into_iter().next() {
        return refuse(format!("{}: {}", fault.at, fault.what));
    }
    for (index, entry) in removed.into_iter().enumerate() {
        match standing(&after, &entry) {
            Standing::Holds if !after.removed.contains(&entry) => after.removed.push(entry),
            Standing::Back if index < earlier => {
                return refuse(format!(
                    "it would bring back what the same turn takes away: {}",
                    describe(&entry)
                ));
            }
            _ => {}
        }
    }
    Ok(after)
}

/// The schema of a turn while its changes are done again, one after the other, on one schema: quicker than [`apply`],
/// which looks after each of them whether the schema is valid.
#[derive(Debug)]
pub(crate) struct Following {
    schema: Schema,
}

impl Following {
    /// Nothing is done yet.
    pub(crate) fn new(before: &Schema) -> Self {
        Self { schema: next_turn(before) }
    }

    /// As far as it is.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Does a change.
    ///
    /// Errors: it does not fit.
    pub(crate) fn apply(&mut self, change: &Change) -> Result<(), Refusal> {
        perform(&mut self.schema, change)
    }

    /// Whether this schema is valid, and that of the turn. What was removed is taken as it says.
    pub(crate) fn leads_to(mut self, after: &Schema) -> bool {
        self.schema.removed.clone_from(&after.removed);
        self.schema == *after && check(after).is_empty()
    }
}

fn perform(schema: &mut Schema, change: &Change) -> Result<(), Refusal> {
    match change {
        Change::AddEntity { entity } => entities::add(schema, entity),
        Change::RemoveEntity { entity } => entities::remove(schema, entity),
        Change::RenameEntity { entity, name, plural } => entities::rename(schema, entity, name, plural),
        Change::SetSoftDelete { entity, on } => entities::set_soft_delete(schema, entity, *on),
        Change::AddField { entity, field } => fields::add(schema, entity, field, fields::Sort::Plain),
        Change::AddReference { entity, field } => fields::add(schema, entity, field, fields::Sort::Reference),
        Change::AddComputed { entity, field } => fields::add(schema, entity, field, fields::Sort::Computed),
        Change::RemoveField { entity, field } => fields::remove(schema, entity, field, false),
        Change::RemoveReference { entity, field } => fields::remove(schema, entity, field, true),
        Change::RenameField { entity, field, name } => fields::rename(schema, entity, field, name),
        Change::RetypeField { entity, field, kind, default } => {
            fields::retype(schema, entity, field, kind, default.as_ref())
        }
        Change::ChangeComputed { entity, field, computed } => {
            fields::change_computed(schema, entity, field, computed)
        }
        Change::ChangeDeleteRule { entity, field, on_delete } => {
            fields::change_delete_rule(schema, entity, field, *on_delete)
        }
        Change::Nest { entity, field } => fields::nest(schema, entity, field, true),
        Change::Unnest { entity, field } => fields::nest(schema, entity, field, false),
        Change::AddEnumValue { entity, field, value } => enums::add(schema, entity, field, value),
        Change::RemoveEnumValue { entity, field, value } => enums::remove(schema, entity, field, value),
        Change::RenameEnumValue { entity, field, value, to } => {
            enums::rename(schema, entity, field, value, to)
        }
        Change::AddAction { entity, action } => actions::add(schema, entity, action),
        Change::RemoveAction { entity, action } => actions::remove(schema, entity, action),
        Change::RenameAction { entity, action, name } => actions::rename(schema, entity, action, name),
        Change::AddGuard { entity, action, guard } => actions::add_guard(schema, entity, action, guard),
        Change::RemoveGuard { entity, action, guard } => actions::remove_guard(schema, entity, action, guard),
        Change::ChangeGuard { entity, action, guard, condition } => {
            actions::change_guard(schema, entity, action, guard, condition)
        }
        Change::AddEffect { entity, action, effect, param } => {
            actions::add_effect(schema, entity, action, effect, param.as_ref())
        }
        Change::RemoveEffect { entity, action, index } => {
            actions::remove_effect(schema, entity, action, *index)
        }
        Change::ChangeEffect { entity, action, index, operand } => {
            actions::change_effect(schema, entity, action, *index, operand)
        }
        Change::AddAnalytic { analytic } => analytics::add(schema, analytic),
        Change::RemoveAnalytic { analytic } => analytics::remove(schema, analytic),
        Change::RenameAnalytic { analytic, name } => analytics::rename(schema, analytic, name),
        Change::ChangeMeasure { analytic, measure } => {
            analytics::change(schema, analytic, |one| one.measure = measure.clone())
        }
        Change::ChangeGrouping { analytic, group_by } => {
            analytics::change(schema, analytic, |one| one.group_by.clone_from(group_by))
        }
        Change::ChangeRestriction { analytic, only } => analytics::restrict(schema, analytic, only.as_ref()),
        Change::ChangeAnalyticFilter { analytic, by } => analytics::filter(schema, analytic, by.as_deref()),
        Change::AddFilter { entity, filter } => lists::add_filter(schema, entity, filter),
        Change::RemoveFilter { entity, filter } => lists::remove_filter(schema, entity, filter),
        Change::AddSort { entity, field } => lists::add_sort(schema, entity, field),
        Change::RemoveSort { entity, field } => lists::remove_sort(schema, entity, field),
        Change::ChangeDefaultSort { entity, sort } => {
            parts::entity(schema, entity)?.default_sort.clone_from(sort);
            Ok(())
        }
        Change::Tighten { entity, field, kind } => constraints::tighten(schema, entity, field, kind),
        Change::Loosen { entity, field, kind } => constraints::loosen(schema, entity, field, kind),
        Change::Require { entity, field } => constraints::require(schema, entity, field),
        Change::MakeOptional { entity, field, default } => {
            constraints::make_optional(schema, entity, field, default.as_ref())
        }
        Change::AllowNull { entity, field } => constraints::allow_null(schema, entity, field),
        Change::ForbidNull { entity, field, default } => {
            constraints::forbid_null(schema, entity, field, default.as_ref())
        }
        Change::ChangeDefault { entity, field, default } => {
            constraints::change_default(schema, entity, field, default.as_ref())
        }
        Change::MakeUnique { entity, field } => constraints::set_unique(schema, entity, field, true),
        Change::DropUnique { entity, field } => constraints::set_unique(schema, entity, field, false),
        Change::MakeImmutable { entity, field } => constraints::set_immutable(schema, entity, field, true),
        Change::MakeMutable { entity, field } => constraints::set_immutable(schema, entity, field, false),
        Change::ChangeErrorShape { .. }
        | Change::ChangeErrorCode { .. }
        | Change::ChangeStatus { .. }
        | Change::ChangeListShape { .. }
        | Change::ChangePagination { .. }
        | Change::ChangeFieldCase { .. }
        | Change::ChangePrefix { .. }
        | Change::ChangeUnknownFields { .. } => {
            conventions::change(schema, change);
            Ok(())
        }
    }
}

/// What an entry of [`Schema::removed`] says, for a refusal.
fn describe(removed: &Removed) -> String {
    match removed {
        Removed::Collection { plural } => format!("the collection `{plural}`"),
        Removed::Prefix { prefix } => format!("the prefix `{prefix}`"),
        Removed::Field { entity, name } => format!("the field `{entity}.{name}`"),
        Removed::EnumValue { entity, field, value } => format!("the value `{value}` of `{entity}.{field}`"),
        Removed::Nested { parent, plural } => format!("the nested route from `{parent}` to `{plural}`"),
        Removed::Action { entity, name } => format!("the action `{entity}.{name}`"),
        Removed::Analytic { name } => format!("the analytic `{name}`"),
        Removed::AnalyticRestriction { analytic, .. } => {
            format!("the restriction of the analytic `{analytic}`")
        }
        Removed::AnalyticFilter { analytic, field } => {
            format!("the query parameter `{field}` of the analytic `{analytic}`")
        }
        Removed::Filter { entity, field, op } => format!("the filter `{entity}.{field}` {}", op.key()),
        Removed::Sort { entity, field } => format!("the sort `{entity}.{field}`"),
        Removed::Constraint { entity, field, .. } => format!("a rule of `{entity}.{field}`"),
        Removed::Unique { entity, field } => format!("the uniqueness of `{entity}.{field}`"),
        Removed::Immutable { entity, field } => format!("that `{entity}.{field}` is set once"),
        Removed::Guard { entity, action, .. } => format!("a condition of `{entity}.{action}`"),
        Removed::Effect { entity, action, field } => {
            format!("the effect of `{entity}.{action}` on `{field}`")
        }
        Removed::Created { entity, action, other } => {
            format!("that `{entity}.{action}` creates records of `{other}`")
        }
        Removed::SoftDelete { entity } => format!("the soft delete of `{entity}`"),
    }
}
