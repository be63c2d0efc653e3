//! The words for each kind of change: one sentence for summaries, at least five phrasings for requests, plausible reasons.
//!
//! Templates hold slots in braces, which [`super::facts`] fills: `{many}`. `{^many}` is the slot with a capital letter.
//! `{clause}` is the clause of the specification that the change writes; where a phrasing does not hold it, the clause
//! follows as a list item. `{why}` is the place of the reason, with a space before it; without it the reason comes last.
//!
//! Rules of phrasings, to which the tests hold them by reading them: each names the operation and its object by their
//! terms (add, rename; field, filter, condition) and the entity; together with its clauses it names every fact of the change;
//! nothing in it can be taken for another kind of change. Reasons name no part of the API and demand nothing.

mod behavior;
mod conventions;
mod records;
mod rules;

use crate::change::Change;

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
        Change::RenameEntity { .. } => Some(records::REACH_OF_ENTITY),
        Change::RenameField { .. } => Some(records::REACH_OF_FIELD),
        Change::RenameEnumValue { .. } => Some(records::REACH_OF_ENUM_VALUE),
        Change::RenameAction { .. } => Some(behavior::REACH_OF_ACTION),
        _ => None,
    }
}

/// The words for a change.
pub(super) fn for_change(change: &Change) -> &'static Wording {
    match change {
        Change::AddEntity { .. } => &records::ADD_ENTITY,
        Change::RemoveEntity { .. } => &records::REMOVE_ENTITY,
        Change::RenameEntity { .. } => &records::RENAME_ENTITY,
        Change::AddField { .. } => &records::ADD_FIELD,
        Change::RemoveField { .. } => &records::REMOVE_FIELD,
        Change::RenameField { .. } => &records::RENAME_FIELD,
        Change::RetypeField { .. } => &records::RETYPE_FIELD,
        Change::AddEnumValue { .. } => &records::ADD_ENUM_VALUE,
        Change::RemoveEnumValue { .. } => &records::REMOVE_ENUM_VALUE,
        Change::RenameEnumValue { .. } => &records::RENAME_ENUM_VALUE,
        Change::AddReference { .. } => &records::ADD_REFERENCE,
        Change::RemoveReference { .. } => &records::REMOVE_REFERENCE,
        Change::ChangeDeleteRule { .. } => &records::CHANGE_DELETE_RULE,
        Change::Nest { .. } => &records::NEST,
        Change::Unnest { .. } => &records::UNNEST,
        Change::AddComputed { .. } => &records::ADD_COMPUTED,
        Change::ChangeComputed { .. } => &records::CHANGE_COMPUTED,
        Change::AddAction { .. } => &behavior::ADD_ACTION,
        Change::RemoveAction { .. } => &behavior::REMOVE_ACTION,
        Change::RenameAction { .. } => &behavior::RENAME_ACTION,
        Change::AddGuard { .. } => &behavior::ADD_GUARD,
        Change::RemoveGuard { .. } => &behavior::REMOVE_GUARD,
        Change::ChangeGuard { .. } => &behavior::CHANGE_GUARD,
        Change::AddEffect { .. } => &behavior::ADD_EFFECT,
        Change::RemoveEffect { .. } => &behavior::REMOVE_EFFECT,
        Change::ChangeEffect { .. } => &behavior::CHANGE_EFFECT,
        Change::AddAnalytic { .. } => &behavior::ADD_ANALYTIC,
        Change::RemoveAnalytic { .. } => &behavior::REMOVE_ANALYTIC,
        Change::RenameAnalytic { .. } => &behavior::RENAME_ANALYTIC,
        Change::ChangeMeasure { .. } => &behavior::CHANGE_MEASURE,
        Change::ChangeGrouping { .. } => &behavior::CHANGE_GROUPING,
        Change::ChangeRestriction { .. } => &behavior::CHANGE_RESTRICTION,
        Change::ChangeAnalyticFilter { by: Some(_), .. } => &behavior::SET_ANALYTIC_FILTER,
        Change::ChangeAnalyticFilter { by: None, .. } => &behavior::DROP_ANALYTIC_FILTER,
        Change::AddFilter { .. } => &rules::ADD_FILTER,
        Change::RemoveFilter { .. } => &rules::REMOVE_FILTER,
        Change::AddSort { .. } => &rules::ADD_SORT,
        Change::RemoveSort { .. } => &rules::REMOVE_SORT,
        Change::ChangeDefaultSort { .. } => &rules::CHANGE_DEFAULT_SORT,
        Change::Tighten { .. } => &rules::TIGHTEN,
        Change::Loosen { .. } => &rules::LOOSEN,
        Change::Require { .. } => &rules::REQUIRE,
        Change::MakeOptional { .. } => &rules::MAKE_OPTIONAL,
        Change::AllowNull { .. } => &rules::ALLOW_NULL,
        Change::ForbidNull { .. } => &rules::FORBID_NULL,
        Change::ChangeDefault { .. } => &rules::CHANGE_DEFAULT,
        Change::MakeUnique { .. } => &rules::MAKE_UNIQUE,
        Change::DropUnique { .. } => &rules::DROP_UNIQUE,
        Change::MakeImmutable { .. } => &rules::MAKE_IMMUTABLE,
        Change::MakeMutable { .. } => &rules::MAKE_MUTABLE,
        Change::SetSoftDelete { on: true, .. } => &conventions::SOFT_DELETE_ON,
        Change::SetSoftDelete { on: false, .. } => &conventions::SOFT_DELETE_OFF,
        Change::ChangeErrorShape { .. } => &conventions::CHANGE_ERROR_SHAPE,
        Change::ChangeErrorCode { .. } => &conventions::CHANGE_ERROR_CODE,
        Change::ChangeStatus { .. } => &conventions::CHANGE_STATUS,
        Change::ChangeListShape { .. } => &conventions::CHANGE_LIST_SHAPE,
        Change::ChangePagination { .. } => &conventions::CHANGE_PAGINATION,
        Change::ChangeFieldCase { .. } => &conventions::CHANGE_FIELD_CASE,
        Change::ChangePrefix { .. } => &conventions::CHANGE_PREFIX,
        Change::ChangeUnknownFields { .. } => &conventions::CHANGE_UNKNOWN_FIELDS,
    }
}
