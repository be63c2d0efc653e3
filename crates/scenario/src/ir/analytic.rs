//! Analytics: `GET /analytics/{name}`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Key;

/// A number over the records (not deleted) of an entity, or one per group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Analytic {
    /// Unique in the schema, for ever.
    pub key: Key,
    /// The last part of the path.
    pub name: String,
    /// Key of the entity whose records are counted.
    pub entity: Key,
    /// What is computed.
    pub measure: Measure,
    /// One number per value of this field (enum, boolean, string or reference, not computed); records where it is null
    /// are left out. Groups come in any order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<Key>,
    /// Only some records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<RecordRestriction>,
    /// A reference field of the entity whose name is an optional query parameter: only records that refer to this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Key>,
    /// The turn that brought it.
    #[serde(rename = "since")]
    pub introduced_in: u32,
}

/// What an analytic computes. Fields are integers or numbers, not computed; nulls are left out. Without any value,
/// count and sum are 0 and the others null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Number of records.
    Count,
    /// Sum of a field.
    Sum(Key),
    /// Arithmetic mean of a field.
    Average(Key),
    /// Least value of a field.
    Min(Key),
    /// Greatest value of a field.
    Max(Key),
}

impl Measure {
    /// The field that is measured.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Count => None,
            Self::Sum(field) | Self::Average(field) | Self::Min(field) | Self::Max(field) => Some(field),
        }
    }
}

/// Which records an analytic takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordRestriction {
    /// A reference field of the entity: the condition is on the record that it names (and does not hold if null).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<Key>,
    /// Enum or boolean field, not computed.
    pub field: Key,
    /// What it equals.
    pub equals: Value,
}
