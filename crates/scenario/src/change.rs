//! The action space: every kind of change that a turn can bring, as typed data.
//!
//! A [`Change`] is applied by [`apply`], a pure function from schema to schema that keeps the schema valid
//! ([`crate::check::check`]) or refuses with a reason. It never changes a schema half. Changes carry everything that is
//! needed to apply them again (a pack replays without its sampler). Entities, fields, actions, guards, analytics are
//! addressed by their keys; what is new is carried whole, with its keys.

mod actions;
mod analytics;
mod apply;
mod claims;
mod constraints;
mod conventions;
mod entities;
mod enums;
mod fields;
mod lists;
mod parts;
mod refusal;
pub mod uses;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::apply::Following;
pub use self::apply::{apply, next_turn};
pub use self::refusal::Refusal;
use crate::ir::{
    Action, Analytic, Case, Computed, Condition, Effect, Entity, ErrorShape, Field, Filter, Guard, Key, Kind,
    ListShape, Measure, OnDelete, Only, Operand, Pagination, Param, Sort, UnknownFields,
};

/// One change of a schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields are the keys of what is changed and its new value")]
pub enum Change {
    /// A new entity.
    AddEntity { entity: Entity },
    /// An entity goes, with the reference fields, actions' effects and guards, computed fields and analytics that need
    /// it; refused if that would leave an entity or action without anything to do.
    RemoveEntity { entity: Key },
    /// New singular and plural; the paths follow.
    RenameEntity { entity: Key, name: String, plural: String },
    /// A new field, not a reference.
    AddField { entity: Key, field: Field },
    /// A field goes (not a reference), with its filters and sorts; refused if an action, analytic or computed field
    /// needs it.
    RemoveField { entity: Key, field: Key },
    /// A new name for a field (references too).
    RenameField { entity: Key, field: Key, name: String },
    /// Another type for a field; its default, uniqueness and the filters and sorts that no longer fit are dropped or
    /// replaced as `default` says. Refused if an action, analytic or computed field needs the old type.
    RetypeField { entity: Key, field: Key, kind: Kind, default: Option<Value> },
    /// One more value of an enum.
    AddEnumValue { entity: Key, field: Key, value: String },
    /// One value less; refused if a default, guard, effect or analytic needs it, or fewer than two would stay.
    RemoveEnumValue { entity: Key, field: Key, value: String },
    /// A value gets another word, everywhere.
    RenameEnumValue { entity: Key, field: Key, value: String, to: String },
    /// A new reference field.
    AddReference { entity: Key, field: Field },
    /// A reference field goes; refused as `RemoveField`.
    RemoveReference { entity: Key, field: Key },
    /// Another rule for deletion of what is referred to.
    ChangeDeleteRule { entity: Key, field: Key, on_delete: OnDelete },
    /// A nested route for a reference.
    Nest { entity: Key, field: Key },
    /// No nested route any more.
    Unnest { entity: Key, field: Key },
    /// A new action.
    AddAction { entity: Key, action: Action },
    /// An action goes.
    RemoveAction { entity: Key, action: Key },
    /// A new verb for an action.
    RenameAction { entity: Key, action: Key, name: String },
    /// One more condition of an action.
    AddGuard { entity: Key, action: Key, guard: Guard },
    /// One condition less.
    RemoveGuard { entity: Key, action: Key, guard: Key },
    /// Another condition in the place of one.
    ChangeGuard { entity: Key, action: Key, guard: Key, condition: Condition },
    /// One more effect (its parameter, if it needs a new one, comes with it).
    AddEffect {
        entity: Key,
        action: Key,
        effect: Effect,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        param: Option<Param>,
    },
    /// One effect less; refused if it is the last. A parameter that nothing uses then goes too.
    RemoveEffect { entity: Key, action: Key, index: usize },
    /// Another value or amount for an effect that sets or increments.
    ChangeEffect { entity: Key, action: Key, index: usize, operand: Operand },
    /// A new analytic.
    AddAnalytic { analytic: Analytic },
    /// An analytic goes.
    RemoveAnalytic { analytic: Key },
    /// A new name for an analytic.
    RenameAnalytic { analytic: Key, name: String },
    /// It measures something else.
    ChangeMeasure { analytic: Key, measure: Measure },
    /// It is grouped by something else, or no more.
    ChangeGrouping { analytic: Key, group_by: Option<Key> },
    /// It takes other records.
    ChangeRestriction { analytic: Key, only: Option<Only> },
    /// It gets, changes or loses its query parameter.
    ChangeAnalyticFilter { analytic: Key, by: Option<Key> },
    /// A new filter of a list.
    AddFilter { entity: Key, filter: Filter },
    /// A filter goes.
    RemoveFilter { entity: Key, filter: Filter },
    /// A field that lists can be sorted by.
    AddSort { entity: Key, field: Key },
    /// One less; refused if it is the default.
    RemoveSort { entity: Key, field: Key },
    /// Another order of lists if nothing is asked for.
    ChangeDefaultSort { entity: Key, sort: Option<Sort> },
    /// Narrower bounds, lengths or numbers of items, or a pattern: same type, `kind` as it is afterwards. Refused if
    /// nothing becomes stricter, or anything looser, or the default breaks it.
    Tighten { entity: Key, field: Key, kind: Kind },
    /// Wider or no bounds, lengths, items, pattern: same type. Refused if nothing becomes looser, or anything stricter.
    Loosen { entity: Key, field: Key, kind: Kind },
    /// The field must be given; its default goes.
    Require { entity: Key, field: Key },
    /// The field need not be given; without a default it must be nullable.
    MakeOptional { entity: Key, field: Key, default: Option<Value> },
    /// Null becomes a value.
    AllowNull { entity: Key, field: Key },
    /// Null is a value no more; the field is required or has a default then (`default` sets one).
    ForbidNull { entity: Key, field: Key, default: Option<Value> },
    /// Another default for a field that is not required; `None` = null if absent (then it is nullable).
    ChangeDefault { entity: Key, field: Key, default: Option<Value> },
    /// No two records may have the same value.
    MakeUnique { entity: Key, field: Key },
    /// They may.
    DropUnique { entity: Key, field: Key },
    /// Set at creation only.
    MakeImmutable { entity: Key, field: Key },
    /// Can be changed.
    MakeMutable { entity: Key, field: Key },
    /// A read-only field; `field.computed` says how.
    AddComputed { entity: Key, field: Field },
    /// Another computation for a read-only field of the same kind.
    ChangeComputed { entity: Key, field: Key, computed: Computed },
    /// Deleted records are kept and marked, or are removed again.
    SetSoftDelete {
        entity: Key,
        /// `on` is a truth value in many readers of YAML.
        #[serde(rename = "keep")]
        on: bool,
    },
    /// Another error body.
    ChangeErrorShape { error: ErrorShape },
    /// Another code in error bodies.
    ChangeErrorCode { which: ErrorKind, code: String },
    /// Another status.
    ChangeStatus { which: StatusKind, status: u16 },
    /// Other keys of lists.
    ChangeListShape { list: ListShape },
    /// Another way to ask for pages, or other sizes.
    ChangePagination { pagination: Pagination },
    /// Another way to write names in JSON and queries.
    ChangeFieldCase { case: Case },
    /// Another prefix of all paths.
    ChangePrefix { prefix: String },
    /// Other treatment of unknown fields.
    ChangeUnknownFields { unknown_fields: UnknownFields },
}

/// Which error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields of ErrorCodes")]
pub enum ErrorKind {
    Invalid,
    NotFound,
    Conflict,
    Refused,
}

/// Which status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields of Statuses")]
pub enum StatusKind {
    Created,
    Deleted,
    Invalid,
    Conflict,
    Refused,
}

#[cfg(test)]
pub(crate) mod tests;
