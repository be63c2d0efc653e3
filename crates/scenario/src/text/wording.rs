//! The words for each kind of change: one sentence for summaries, at least five phrasings for requests, plausible reasons.
//!
//! Templates hold slots in braces, which [`super::slots`] fills: `{many}`. `{^many}` is the slot with a capital letter.
//! `{clause}` is the clause of the specification that the change writes; where a phrasing does not hold it, the clause
//! follows as a list item. `{why}` is the place of the reason, with a space before it; without it the reason comes last.
//!
//! Rules of phrasings, to which the tests hold them by reading them: each names the operation and its object by their
//! terms (add, rename; field, filter, condition) and the entity; together with its clauses it names every fact of the change;
//! nothing in it can be taken for another kind of change. Reasons name no part of the API and demand nothing.
//!
//! A reason stands behind what is new: at the end, or before the sentence that says what was. Behind that sentence, “that is
//! how it is done” would speak of what was. A reason says “this”, “the old one” or “the new one” where “it” could be either.

mod behavior;
mod conventions;
mod records;
mod rules;

use crate::change::{ActionChange, Change, ConventionChange, EntityChange, FieldChange};

/// The words for a kind of change.
pub(super) struct Wording {
    pub(super) summary: &'static str,
    pub(super) requests: &'static [&'static str],
    pub(super) reasons: &'static [&'static str],
}

/// How far a rename reaches, and what it leaves alone: names that only look alike (the reference `order_id`, the analytic
/// `number-of-orders`) are names of their own. Stated with every rename that could be read as a search and replace.
pub(super) fn reach(change: &Change) -> Option<&'static str> {
    match change {
        Change::Entity(EntityChange::RenameEntity { .. }) => Some(records::REACH_OF_ENTITY),
        Change::Field(FieldChange::RenameField { .. }) => Some(records::REACH_OF_FIELD),
        Change::Field(FieldChange::RenameEnumValue { .. }) => Some(records::REACH_OF_ENUM_VALUE),
        Change::Action(ActionChange::RenameAction { .. }) => Some(behavior::REACH_OF_ACTION),
        Change::Convention(ConventionChange::ChangeFieldCase { .. }) => {
            Some(conventions::REACH_OF_FIELD_CASE)
        }
        _ => None,
    }
}

/// The words for a change.
pub(super) fn for_change(change: &Change) -> &'static Wording {
    match change {
        Change::Entity(change) => records::for_entity(change),
        Change::Field(change) => records::for_field(change),
        Change::Constraint(change) => rules::for_constraint(change),
        Change::Action(change) => behavior::for_action(change),
        Change::Analytic(change) => behavior::for_analytic(change),
        Change::List(change) => rules::for_list(change),
        Change::Convention(change) => conventions::for_convention(change),
    }
}
