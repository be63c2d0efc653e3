//! Entities: what records of one kind have and can do.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::{Action, Field, Key, field::is_false};

/// An entity with its five standard operations (create, read, list, replace, partial update, delete).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entity {
    /// Identity over all turns; its first plural.
    pub key: Key,
    /// Singular: `order_item`.
    pub name: String,
    /// Plural: `order_items`; what paths show.
    pub plural: String,
    /// What a record stands for, as the rest of a sentence: `a parcel on its way to a customer`.
    pub about: String,
    /// In the order in which they came.
    pub fields: Vec<Field>,
    /// Deleted records are kept and marked instead of removed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub soft_delete: bool,
    /// What lists can be filtered by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<Filter>,
    /// Keys of the fields that lists can be sorted by: string, integer, number or date-time, always set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sorts: Vec<Key>,
    /// Order of lists if nothing is asked for; without it, by id ascending. Its field is one of `sorts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_sort: Option<Sort>,
    /// In the order in which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
    /// The turn that brought it.
    #[serde(rename = "since")]
    pub introduced_in: u32,
}

impl Entity {
    /// The field with this key.
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// The field with this key, to be changed.
    pub fn field_mut(&mut self, key: &str) -> Option<&mut Field> {
        self.fields.iter_mut().find(|field| field.key == key)
    }

    /// The action with this key.
    pub fn action(&self, key: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.key == key)
    }

    /// The action with this key, to be changed.
    pub fn action_mut(&mut self, key: &str) -> Option<&mut Action> {
        self.actions.iter_mut().find(|action| action.key == key)
    }
}

/// A filter of a list; at most one per field and operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Field, not computed, not a list of strings.
    pub field: Key,
    /// What is compared.
    pub op: FilterOp,
}

/// How a filter compares. A null never matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum FilterOp {
    /// Equal; every kind. Parameter: the field's name.
    Equals,
    /// At least, inclusive; integer, number, date-time. Parameter: `min_` + name.
    AtLeast,
    /// At most, inclusive; integer, number, date-time. Parameter: `max_` + name.
    AtMost,
    /// Contains the text, case-sensitive; string. Parameter: name + `_contains`.
    Contains,
}

impl FilterOp {
    /// The parameter's name before casing.
    pub fn param(self, field: &str) -> String {
        match self {
            Self::Equals => field.to_owned(),
            Self::AtLeast => format!("min_{field}"),
            Self::AtMost => format!("max_{field}"),
            Self::Contains => format!("{field}_contains"),
        }
    }

    /// The last part of the ids of its clause and cases.
    pub fn key(self) -> &'static str {
        self.into()
    }
}

/// An order. Equal values are ordered by id ascending, also when descending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sort {
    /// Field.
    pub field: Key,
    /// Greatest first.
    #[serde(default, skip_serializing_if = "is_false")]
    pub descending: bool,
}
