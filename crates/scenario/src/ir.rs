//! The schema: what the API of one turn is, as typed data.
//!
//! A [`Schema`] is the only source of truth of a turn. The specification, the change request, the test suite, the
//! reference server and the servers and suites written out as code are all made from it; the meaning of every part is
//! defined once, in `docs/scenarios.md`.
//!
//! **Keys and names.** Everything that can be renamed has a `key`, which never changes and is never used again in the
//! same scenario, and a `name`, which is what the API shows now. References inside the schema, ids of test cases and
//! clauses use keys; texts, paths and JSON use names. Names are lower-case words joined by `_`; how they are written in
//! paths and JSON is a convention ([`Conventions::path_case`], [`Conventions::field_case`]).
//!
//! **Numbers** are multiples of 0.25 below 1,000,000, so that sums are exact in any order and any language.

mod action;
mod analytic;
mod conventions;
mod entity;
mod example;
mod field;
mod names;
mod removed;
mod schema_file;

use serde::{Deserialize, Serialize};

pub use self::action::{Action, Comparison, Condition, CreatedValue, Effect, Guard, Operand, Param};
pub use self::analytic::{Analytic, Measure, RecordRestriction};
pub use self::conventions::{
    Case, Conventions, ErrorCodes, ErrorShape, ListShape, Pagination, PaginationStyle, Statuses,
    UnknownFields,
};
pub use self::entity::{Entity, Filter, FilterOp, Sort};
pub use self::example::example;
pub use self::field::{Computed, Field, Kind, OnDelete, Pattern};
pub use self::names::{RESERVED, camel, is_name, kebab, words};
pub use self::removed::Removed;
pub use self::schema_file::{SCHEMA_CAP, SchemaFileError};

/// The version of this format; the first line of every `schemas/turn_N.yaml`.
pub const SCHEMA_VERSION: &str = "stamina-schema/1";

/// A key: the identity of a part of the schema over all turns. Written like a name.
pub type Key = String;

/// The API of one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// [`SCHEMA_VERSION`].
    pub version: String,
    /// What the system is for, as a title: `Parcel logistics`.
    pub title: String,
    /// Key of the domain topic that the vocabulary is taken from.
    pub topic: String,
    /// Counted from 1.
    pub turn: u32,
    /// What holds for all routes.
    pub conventions: Conventions,
    /// In the order in which they came; the references among them form no cycle.
    pub entities: Vec<Entity>,
    /// In the order in which they came.
    pub analytics: Vec<Analytic>,
    /// What the changes of *this* turn removed or no longer demand. Empty at turn 1; the next turn begins empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "gone")]
    pub removed: Vec<Removed>,
    /// Every name and key that was ever used for an entity or analytic (plural and singular), and
    /// `entity_key.name` for what is in one: none comes back with another meaning. Sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<String>,
}

impl Schema {
    /// The entity with this key.
    pub fn entity(&self, key: &str) -> Option<&Entity> {
        self.entities.iter().find(|entity| entity.key == key)
    }

    /// The entity with this key, to be changed.
    pub fn entity_mut(&mut self, key: &str) -> Option<&mut Entity> {
        self.entities.iter_mut().find(|entity| entity.key == key)
    }

    /// The analytic with this key.
    pub fn analytic(&self, key: &str) -> Option<&Analytic> {
        self.analytics.iter().find(|analytic| analytic.key == key)
    }

    /// The references to an entity: (the entity that has the reference field, the field), in order.
    pub fn references_to<'a>(&'a self, entity: &'a str) -> impl Iterator<Item = (&'a Entity, &'a Field)> {
        self.entities.iter().flat_map(move |owner| {
            owner
                .fields
                .iter()
                .filter(move |field| field.target() == Some(entity))
                .map(move |field| (owner, field))
        })
    }

    /// A name as it is written in JSON bodies and query parameters.
    pub fn json_name(&self, name: &str) -> String {
        match self.conventions.field_case {
            Case::Snake | Case::Kebab => name.to_owned(),
            Case::Camel => camel(name),
        }
    }

    /// A name as it is written in paths.
    pub fn path_name(&self, name: &str) -> String {
        match self.conventions.path_case {
            Case::Kebab => kebab(name),
            Case::Snake => name.to_owned(),
            Case::Camel => camel(name),
        }
    }

    /// The path of an entity's collection: `/api/order-items`.
    pub fn collection_path(&self, entity: &Entity) -> String {
        format!("{}/{}", self.conventions.prefix, self.path_name(&entity.plural))
    }

    /// The path of an analytic: `/api/analytics/revenue-by-status`.
    pub fn analytic_path(&self, analytic: &Analytic) -> String {
        format!("{}/analytics/{}", self.conventions.prefix, self.path_name(&analytic.name))
    }

    /// The query parameter of a filter: `status`, `min_total`, `max_total`, `title_contains`, in the case of fields.
    /// Nothing if the field does not exist.
    pub fn filter_param(&self, entity: &Entity, filter: &Filter) -> Option<String> {
        let name = &entity.field(&filter.field)?.name;
        Some(self.json_name(&filter.op.param(name)))
    }
}
