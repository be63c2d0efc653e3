//! From schema to suite.

use super::plan::Plan;
use super::{Builder, Method, Reset, SUITE_VERSION, Suite, marks};
use super::{
    actions, analytics, computed, conventions, deletion, fields, gone, lists, records, references, rules,
};
use crate::Seed;
use crate::ir::Schema;

/// How many bodies a builder has.
pub(super) const BODIES: u32 = 4;

/// The suite of a schema. `before` is the suite of the turn before (none at turn 1), for the marks.
pub fn suite(seed: Seed, schema: &Schema, before: Option<&Suite>) -> Suite {
    suite_after(seed, schema, before).0
}

/// The suite, and for each of its cases where in the suite before the one stands that it is equal to in everything but the
/// mark, if there is one.
pub(crate) fn suite_after(
    seed: Seed,
    schema: &Schema,
    before: Option<&Suite>,
) -> (Suite, Vec<Option<usize>>) {
    let plan = Plan::new(seed, schema);
    let mut cases = Vec::with_capacity(before.map_or(256, |before| before.cases.len() + 64));
    conventions::cases(&plan, &mut cases);
    for facts in &plan.entities {
        records::cases(&plan, facts, &mut cases);
        for part in &facts.parts {
            if part.writable() {
                fields::cases(&plan, facts, part, &mut cases);
                rules::cases(&plan, facts, part, &mut cases);
                references::cases(&plan, facts, part, &mut cases);
                deletion::cases(&plan, facts, part, &mut cases);
            } else {
                computed::cases(&plan, facts, part, &mut cases);
            }
        }
        deletion::soft_delete(&plan, facts, &mut cases);
        lists::cases(&plan, facts, &mut cases);
        for action in &facts.entity.actions {
            actions::cases(&plan, facts, action, &mut cases);
        }
    }
    for analytic in &schema.analytics {
        analytics::cases(&plan, analytic, &mut cases);
    }
    gone::cases(&plan, &mut cases);
    let builders = plan
        .entities
        .iter()
        .map(|facts| Builder {
            entity: facts.key.to_owned(),
            path: facts.path.clone(),
            status: schema.conventions.status.created,
            bodies: (1..=BODIES).map(|n| facts.body(n).into()).collect(),
        })
        .collect();
    let mut suite = Suite {
        version: SUITE_VERSION.to_owned(),
        scenario: seed.scenario,
        turn: schema.turn,
        reset: Reset { method: Method::Post, path: "/reset".to_owned() },
        builders,
        cases,
    };
    let equals = match before {
        Some(before) => marks::mark(&mut suite, before),
        None => vec![None; suite.cases.len()],
    };
    (suite, equals)
}
