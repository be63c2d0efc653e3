//! How large a schema is, and how large it should be at a turn.
//!
//! The size is an estimate of the lines of the Flask server that is written out from the schema. The schedule is
//! absolute, so that a turn does not depend on how many follow; a scenario begins at about 600 lines and reaches about
//! 6,000 at turn 100, where it stays.

use crate::ir::{Condition, Effect, Entity, Kind, Schema};

/// Lines that the schedule demands at turn 1.
const FIRST: i64 = 700;
/// Lines that the schedule demands at the last turn that it knows.
const LAST: i64 = 6000;
/// From here on a scenario stays as large as it is.
const LAST_TURN: i64 = 100;

/// About how many lines the server of a schema has when it is written out.
pub fn size(schema: &Schema) -> i64 {
    let entities: i64 = schema.entities.iter().map(entity).sum();
    let analytics = schema.analytics.len() as i64 * 20;
    150 + entities + analytics
}

fn entity(entity: &Entity) -> i64 {
    let fields: i64 = entity
        .fields
        .iter()
        .map(|field| match (&field.computed, &field.kind) {
            (Some(_), _) => 4,
            (None, Kind::Reference { nested: true, .. }) => 30,
            (None, _) => 10,
        })
        .sum();
    let actions: i64 = entity
        .actions
        .iter()
        .map(|action| {
            let guards: i64 = action
                .guards
                .iter()
                .map(|guard| if matches!(guard.condition, Condition::Field { .. }) { 3 } else { 5 })
                .sum();
            let effects: i64 = action
                .effects
                .iter()
                .map(|effect| if matches!(effect, Effect::Create { .. }) { 12 } else { 4 })
                .sum();
            14 + guards + effects + action.params.len() as i64 * 6
        })
        .sum();
    110 + fields + actions + entity.filters.len() as i64 * 6 + entity.sorts.len() as i64
}

/// How many lines a schema should have at a turn.
pub fn scheduled(turn: u32) -> i64 {
    let turn = i64::from(turn).clamp(1, LAST_TURN);
    FIRST + (LAST - FIRST) * (turn - 1) / (LAST_TURN - 1)
}

/// How far a schema is behind its schedule, in lines; negative if it is ahead.
pub fn behind(schema: &Schema) -> i64 {
    scheduled(schema.turn) - size(schema)
}
