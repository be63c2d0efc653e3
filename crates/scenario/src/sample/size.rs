//! How large a schema is, and how large it should be at a turn.
//!
//! The size is an estimate of the lines of the Flask server that is written out from the schema ([`crate::code::flask`]):
//! a sum of parts, whose weights were fitted to the servers of 200 schemas (off by 25 lines on average). The schedule is
//! absolute, so that a turn does not depend on how many follow: it leads in a straight line from the size of a first
//! schema to about 6,000 lines at turn 100, where a scenario stays.

use crate::ir::{Entity, Field, Kind, Schema};

/// Lines that the schedule demands at turn 1.
const FIRST_LINES: i64 = 820;
/// Lines that the schedule demands at the last turn that it knows.
const LAST_LINES: i64 = 6150;
/// From here on a scenario stays as large as it is.
const LAST_TURN: i64 = 100;

/// About how many lines the server of a schema has when it is written out.
pub fn size(schema: &Schema) -> i64 {
    let tenths: i64 = schema.entities.iter().map(entity).sum();
    (2900 + tenths + 126 * count(&schema.analytics)) / 10
}

fn count<T>(items: &[T]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}

/// In tenths of lines.
fn entity(entity: &Entity) -> i64 {
    let fields: i64 = entity.fields.iter().map(field).sum();
    let actions: i64 = entity
        .actions
        .iter()
        .map(|action| 127 + 12 * count(&action.guards) + 50 * count(&action.params))
        .sum();
    let soft_delete = if entity.soft_delete { 57 } else { 0 };
    607 + fields + actions + soft_delete + 63 * count(&entity.filters)
}

/// In tenths of lines.
fn field(field: &Field) -> i64 {
    let kind = match (&field.computed, &field.kind) {
        (Some(_), _) => 49,
        (None, Kind::Reference { nested: true, .. }) => 319,
        (None, Kind::Reference { .. }) => 174,
        (None, _) => 106,
    };
    kind + if field.unique { 68 } else { 0 }
}

/// How many lines a schema should have at a turn.
pub fn scheduled_lines(turn: u32) -> i64 {
    let turn = i64::from(turn).clamp(1, LAST_TURN);
    FIRST_LINES + (LAST_LINES - FIRST_LINES) * (turn - 1) / (LAST_TURN - 1)
}

/// How far a schema is behind its schedule, in lines; negative if it is ahead.
pub fn lines_behind(schema: &Schema) -> i64 {
    scheduled_lines(schema.turn) - size(schema)
}
