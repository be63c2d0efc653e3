//! Actions: `POST /{entities}/{id}/{action}`, with guards and effects.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Key, Kind};

/// An action on one record. Answers 200 with the record as it is afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// Unique in the entity, for ever.
    pub key: Key,
    /// A verb; the last part of the path.
    pub name: String,
    /// What the body must carry; all required. With none, no body is needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    /// All must hold, else the action is refused and nothing changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<Guard>,
    /// What it does, in order; at least one. No two effects set or increment the same field.
    pub effects: Vec<Effect>,
    /// The turn that brought it.
    #[serde(rename = "since")]
    pub introduced_in: u32,
}

/// A parameter in the body of an action: string, integer, number or boolean; never null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Unique in the action.
    pub key: Key,
    /// Name in the body.
    pub name: String,
    /// Type with its constraints.
    #[serde(flatten)]
    pub kind: Kind,
}

/// A condition of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    /// Unique in the action, for ever.
    pub key: Key,
    /// What must hold.
    #[serde(flatten)]
    pub condition: Condition,
}

/// What must hold for an action. (Not tagged `on`, which is a truth value in many readers of YAML.)
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "when", rename_all = "snake_case")]
pub enum Condition {
    /// A field of the record itself.
    Field {
        /// Field, not computed, no reference, no list of strings.
        field: Key,
        /// The comparison.
        is: Comparison,
    },
    /// A field of the record that a reference names; does not hold if the reference is null.
    Related {
        /// Reference field of this entity.
        reference: Key,
        /// Field of that record, not computed, no reference, no list of strings.
        field: Key,
        /// The comparison.
        is: Comparison,
    },
    /// At least this many records (not deleted) of another entity refer to this one.
    HasAtLeast {
        /// The other entity.
        entity: Key,
        /// Its reference field.
        reference: Key,
        /// 1 to 3.
        count: u32,
    },
    /// No record (not deleted) of another entity refers to this one.
    HasNone {
        /// The other entity.
        entity: Key,
        /// Its reference field.
        reference: Key,
    },
}

/// A comparison of a field's value. With null, only `IsNotSet` and `Not` hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Equal to a value of the field's kind: enum, boolean, integer, string.
    Equals(Value),
    /// Not equal: enum, boolean, integer, string.
    Not(Value),
    /// One of: enum; at least one value and not all.
    OneOf(Vec<Value>),
    /// At least: integer, number.
    AtLeast(Value),
    /// At most: integer, number.
    AtMost(Value),
    /// Not null; the field is nullable.
    IsSet,
    /// Null; the field is nullable.
    IsNotSet,
}

/// What an action does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Effect {
    /// Sets a field: not unique, not immutable, not computed, no reference.
    Set {
        /// Field.
        field: Key,
        /// To what; a value (null only if nullable) or a parameter of the same kind.
        to: Operand,
    },
    /// Adds to an integer field that is always set, not unique, not immutable, not computed.
    Increment {
        /// Field.
        field: Key,
        /// An integer value other than 0, or an integer parameter.
        by: Operand,
    },
    /// Creates a record of another entity that refers to this one; fields that are not listed get their default or
    /// null. Every required field but the reference is listed.
    Create {
        /// The other entity; it has no unique required field.
        entity: Key,
        /// Its reference field, which gets this record's id.
        reference: Key,
        /// Other fields.
        values: Vec<CreatedValue>,
    },
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operand {
    /// Written down.
    Value(Value),
    /// A parameter of the action.
    Param(Key),
    /// A field of the record (always set), as it is before the effects. Only in `Create`, of the same kind.
    Own(Key),
}

/// A field of a created record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreatedValue {
    /// Field of the created record.
    pub field: Key,
    /// Its value.
    pub from: Operand,
}
