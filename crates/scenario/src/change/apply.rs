//! Applying changes.
//!
//! A change is done on a copy, by the submodule of what it changes; then everything that holds for all changes is seen
//! to: names that were used, what was removed, and that the schema is valid. So no change can leave a schema half changed,
//! and no submodule has to know all rules of a schema.

use super::Change;
use super::refusal::{Refusal, refuse};
use crate::check::check;
use crate::check::removed::{EntryStanding, standing};
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
        return refuse(format!("{}: {}", fault.location, fault.message));
    }
    for (index, entry) in removed.into_iter().enumerate() {
        match standing(&after, &entry) {
            EntryStanding::Current if !after.removed.contains(&entry) => after.removed.push(entry),
            EntryStanding::Restored if index < earlier => {
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
pub(crate) struct FollowingSchema {
    schema: Schema,
}

impl FollowingSchema {
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
        Change::Entity(change) => change.perform(schema),
        Change::Field(change) => change.perform(schema),
        Change::Constraint(change) => change.perform(schema),
        Change::Action(change) => change.perform(schema),
        Change::Analytic(change) => change.perform(schema),
        Change::List(change) => change.perform(schema),
        Change::Convention(change) => {
            change.perform(schema);
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
