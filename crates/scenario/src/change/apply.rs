//! Applying changes.

use thiserror::Error;

use super::Change;
use crate::ir::Schema;

/// Why a change can not be applied to a schema, in words for a person.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct Refusal {
    /// What is in the way: ``orders.total is needed by the analytic `revenue` ``.
    pub reason: String,
}

/// The schema as it begins a turn: the turn counted on, [`Schema::gone`] empty.
pub fn next_turn(schema: &Schema) -> Schema {
    Schema { turn: schema.turn + 1, gone: Vec::new(), ..schema.clone() }
}

/// The schema after one change. What the change takes away is added to [`Schema::gone`].
///
/// Errors: [`Refusal`] if the change does not fit, changes nothing, or would leave the schema invalid.
pub fn apply(_schema: &Schema, _change: &Change) -> Result<Schema, Refusal> {
    todo!("owned by: changes")
}
