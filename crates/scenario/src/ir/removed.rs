//! What the changes of a turn removed, or no longer demand: so that the turn's text says it and its suite tests it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Condition, FilterOp, Key, RecordRestriction};

/// Something that was so before this turn. Names are the old ones, as the schema wrote them then (not cased).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Removed {
    /// The collection of an entity that was removed or renamed: its path answers 404.
    Collection {
        /// Old plural.
        plural: String,
    },
    /// The path prefix before a change of it: old paths answer 404.
    Prefix {
        /// Old prefix.
        prefix: String,
    },
    /// A field that was removed or renamed: no answer shows it, and a body that carries it is treated as one with any
    /// unknown field.
    Field {
        /// Entity.
        entity: Key,
        /// Old name.
        name: String,
    },
    /// An enum value that was removed or renamed: invalid now.
    EnumValue {
        /// Entity.
        entity: Key,
        /// Field.
        field: Key,
        /// Old value.
        value: String,
    },
    /// A nested route that is not there any more: 404.
    Nested {
        /// Entity that the path began with.
        parent: Key,
        /// Old plural of the children.
        plural: String,
    },
    /// An action that was removed or renamed: 404.
    Action {
        /// Entity.
        entity: Key,
        /// Old name.
        name: String,
    },
    /// An analytic that was removed or renamed: 404.
    Analytic {
        /// Old name.
        name: String,
    },
    /// The restriction of an analytic that was dropped: it takes the other records too.
    AnalyticRestriction {
        /// Analytic, still there.
        analytic: Key,
        /// Old restriction.
        only: RecordRestriction,
    },
    /// The query parameter of an analytic that was removed or replaced: it is ignored like any unknown one.
    AnalyticFilter {
        /// Analytic, still there.
        analytic: Key,
        /// The reference whose name it is, still there.
        field: Key,
    },
    /// A filter that was removed: the parameter is ignored like any unknown one.
    Filter {
        /// Entity.
        entity: Key,
        /// Field, still there.
        field: Key,
        /// Operator.
        op: FilterOp,
    },
    /// A sort that was removed: asking for it is invalid.
    Sort {
        /// Entity.
        entity: Key,
        /// Field, still there.
        field: Key,
    },
    /// A constraint that was loosened or dropped: this value was invalid and is accepted now.
    Constraint {
        /// Entity.
        entity: Key,
        /// Field.
        field: Key,
        /// A value that the old rule refused.
        accepted: Value,
    },
    /// A uniqueness that was dropped: two records may have the same value now.
    Unique {
        /// Entity.
        entity: Key,
        /// Field.
        field: Key,
    },
    /// A field that was immutable and can be changed now.
    Immutable {
        /// Entity.
        entity: Key,
        /// Field.
        field: Key,
    },
    /// A guard that was removed: the action is done also where this does not hold.
    Guard {
        /// Entity.
        entity: Key,
        /// Action.
        action: Key,
        /// Old condition.
        condition: Condition,
    },
    /// An effect on a field that was removed: the action leaves the field as it is.
    Effect {
        /// Entity.
        entity: Key,
        /// Action.
        action: Key,
        /// Field.
        field: Key,
    },
    /// An effect that created records of another entity: the action creates none now.
    Created {
        /// Entity.
        entity: Key,
        /// Action.
        action: Key,
        /// The other entity, still there.
        other: Key,
    },
    /// Soft delete that was switched off: `include_deleted` is ignored and no record has `deleted`.
    SoftDelete {
        /// Entity.
        entity: Key,
    },
}
