//! From schema to suite.

use super::Suite;
use crate::ir::Schema;

/// The suite of a schema. `before` is the suite of the turn before (none at turn 1), for the marks.
pub fn suite(_seed: crate::Seed, _schema: &Schema, _before: Option<&Suite>) -> Suite {
    todo!("owned by: suite")
}
