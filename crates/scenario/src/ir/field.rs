//! Fields of entities.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Key;

/// A field. `id` (integer, from 1, given by the server) and `deleted` (boolean, with soft delete only) are not listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Unique in the entity, for ever.
    pub key: Key,
    /// Unique in the entity.
    pub name: String,
    /// Type and the constraints that belong to it.
    #[serde(flatten)]
    pub kind: Kind,
    /// Must be in the body of a create or replace. A required field has no default.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
    /// `null` is a value of it. A field that is not required has a default or is nullable (then absent = null).
    #[serde(default, skip_serializing_if = "is_false")]
    pub nullable: bool,
    /// Taken when a create or replace does not carry the field. Never null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// No two records (that are not deleted) have the same value; nulls do not count. Strings and integers only, with
    /// room for at least ten values and without a default.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unique: bool,
    /// Set at creation only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub immutable: bool,
    /// Read-only, computed by the server at every read. Such a field has no other rule, and nothing filters, sorts,
    /// guards, measures or computes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<Computed>,
    /// The turn that brought it.
    #[serde(rename = "since")]
    pub introduced_in: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_false(value: &bool) -> bool {
    !value
}

impl Field {
    /// The entity that a reference field points to.
    pub fn target(&self) -> Option<&str> {
        match &self.kind {
            Kind::Reference { entity, .. } => Some(entity),
            _ => None,
        }
    }

    /// Whether a client writes it.
    pub fn is_writable(&self) -> bool {
        self.computed.is_none()
    }

    /// Whether every record has a value other than null.
    pub fn is_always_set(&self) -> bool {
        !self.nullable
    }

    /// Whether it holds integers or numbers.
    pub fn is_numeric(&self) -> bool {
        matches!(self.kind, Kind::Integer { .. } | Kind::Number { .. })
    }
}

/// The type of a field with its constraints. All bounds are inclusive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Kind {
    /// Text; lengths in characters. A field with a pattern has no length bounds.
    String {
        /// At least this many characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_length: Option<u32>,
        /// At most this many characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_length: Option<u32>,
        /// The whole text has this form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<Pattern>,
    },
    /// A JSON number without a fraction; not a boolean.
    Integer {
        /// At least.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<i64>,
        /// At most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<i64>,
    },
    /// A JSON number; not a boolean.
    Number {
        /// At least; a multiple of 0.25.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// At most; a multiple of 0.25.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    /// `true` or `false`.
    Boolean,
    /// A time in UTC, written `2024-03-01T12:30:00Z`, exactly so.
    DateTime,
    /// One of some words.
    Enum {
        /// At least two; names.
        values: Vec<String>,
    },
    /// A list of texts.
    StringList {
        /// At least this many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_items: Option<u32>,
        /// At most this many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_items: Option<u32>,
    },
    /// The id of a record of another entity.
    Reference {
        /// Key of the entity.
        entity: Key,
        /// What happens to this record when that one is deleted.
        on_delete: OnDelete,
        /// Whether `/{theirs}/{id}/{ours}` lists and creates as well. At most one nested reference between two entities.
        #[serde(default, skip_serializing_if = "is_false")]
        nested: bool,
    },
}

impl Kind {
    /// The word in texts: `string`, `integer`, `number`, `boolean`, `date-time`, `enum`, `list of strings`, `reference`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::String { .. } => "string",
            Self::Integer { .. } => "integer",
            Self::Number { .. } => "number",
            Self::Boolean => "boolean",
            Self::DateTime => "date-time",
            Self::Enum { .. } => "enum",
            Self::StringList { .. } => "list of strings",
            Self::Reference { .. } => "reference",
        }
    }
}

/// What happens to a record when the one that it refers to is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnDelete {
    /// It is deleted too (by the rules of its own entity).
    Cascade,
    /// The deletion is refused as a conflict.
    Restrict,
    /// The reference becomes null; the field is nullable.
    SetNull,
}

/// The forms of text. A closed list, so that every language can check them the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// `ABC-1234`.
    Code,
    /// `spring-sale-2`.
    Slug,
    /// `ann@example.org`.
    Email,
    /// `+4912345678`.
    Phone,
    /// `#1a2b3c`.
    #[serde(rename = "colour")]
    Color,
    /// `12345`.
    PostalCode,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Code, Self::Slug, Self::Email, Self::Phone, Self::Color, Self::PostalCode];

    /// As a regular expression in the syntax that all engines share; it matches the whole text.
    pub fn regex(self) -> &'static str {
        match self {
            Self::Code => "^[A-Z]{3}-[0-9]{4}$",
            Self::Slug => "^[a-z0-9]+(-[a-z0-9]+)*$",
            Self::Email => "^[a-z0-9.]+@[a-z0-9]+\\.[a-z]{2,6}$",
            Self::Phone => "^\\+[0-9]{7,12}$",
            Self::Color => "^#[0-9a-f]{6}$",
            Self::PostalCode => "^[0-9]{5}$",
        }
    }

    /// The `n`th text of this form, `n` from 1 to 999; all are different.
    pub fn sample(self, n: u32) -> String {
        match self {
            Self::Code => format!("ABC-{n:04}"),
            Self::Slug => format!("item-{n}"),
            Self::Email => format!("user{n}@example.org"),
            Self::Phone => format!("+49300{n:04}"),
            Self::Color => format!("#00{n:04}"),
            Self::PostalCode => format!("{:05}", 10_000 + n),
        }
    }

    /// A text that is not of this form.
    pub fn counterexample(self) -> &'static str {
        match self {
            Self::Code => "abc-1234",
            Self::Slug => "Not a slug",
            Self::Email => "user at example",
            Self::Phone => "030-1234",
            Self::Color => "1a2b3c",
            Self::PostalCode => "1234",
        }
    }
}

/// How a read-only field is computed. Operands are fields that are always set and not computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case", deny_unknown_fields)]
pub enum Computed {
    /// Two string or enum fields joined by a separator; kind string.
    Joined {
        /// Field.
        first: Key,
        /// Field.
        second: Key,
        /// Between them.
        separator: String,
    },
    /// Product of two numeric fields; kind integer if both are, else number.
    Product {
        /// Field.
        left: Key,
        /// Field.
        right: Key,
    },
    /// Sum of two numeric fields; kind integer if both are, else number.
    Sum {
        /// Field.
        left: Key,
        /// Field.
        right: Key,
    },
    /// Whether a numeric field is at least a value; kind boolean.
    AtLeast {
        /// Field.
        field: Key,
        /// Value.
        value: Value,
    },
    /// How many records (not deleted) of another entity refer to this one; kind integer.
    CountOf {
        /// The other entity.
        entity: Key,
        /// Its reference field.
        reference: Key,
    },
    /// The sum of a numeric field over those records, nulls left out; 0 without any; kind as the field.
    TotalOf {
        /// The other entity.
        entity: Key,
        /// Its reference field.
        reference: Key,
        /// Its numeric field.
        field: Key,
    },
}
