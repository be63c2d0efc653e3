//! Whether a schema is valid: every rule that [`crate::ir`] and `docs/scenarios.md` state about schemas.

use crate::ir::Schema;

/// A rule that a schema breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where: `orders.total`, `conventions.pagination`, `analytics.revenue`.
    pub at: String,
    /// What is wrong, in words.
    pub what: String,
}

/// All rules that the schema breaks; none if it is valid. Never panics, whatever the schema says.
pub fn check(_schema: &Schema) -> Vec<Fault> {
    todo!("owned by: changes")
}
