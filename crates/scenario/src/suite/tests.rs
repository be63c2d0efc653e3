use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::*;
use crate::Seed;
use crate::client::{CaseStatus, run_in_process};
use crate::ir::{Schema, example};
use crate::reference::World;

const SEED: Seed = Seed { base: 0, scenario: 0 };

fn failures(schema: &Schema, suite: &Suite) -> Vec<String> {
    let mut world = World::new(Arc::new(schema.clone()));
    let mut failed = Vec::new();
    run_in_process(&mut world, suite, &mut |case, result| {
        if result.status != CaseStatus::Passed {
            failed.push(format!("{}: {}", case.id, result.message.as_deref().unwrap_or_default()));
        }
        ControlFlow::Continue(())
    });
    failed
}

#[test]
fn the_reference_passes_every_case_of_the_example() {
    let schema = example();
    let suite = suite(SEED, &schema, None);
    assert!(suite.cases.len() > 150, "{}", suite.cases.len());
    let failed = failures(&schema, &suite);
    assert!(failed.is_empty(), "{} of {}\n{}", failed.len(), suite.cases.len(), failed.join("\n"));
}

#[test]
fn ids_are_unique() {
    let suite = suite(SEED, &example(), None);
    let mut seen = BTreeSet::new();
    for case in &suite.cases {
        assert!(seen.insert(&case.id), "{}", case.id);
    }
}

fn unsaid(schema: &Schema, suite: &Suite) -> Vec<String> {
    let clauses = crate::text::clauses(schema);
    unstated(suite, &clauses).into_iter().map(|found| format!("{}: {}", found.case, found.what)).collect()
}

#[test]
fn no_case_of_the_example_demands_what_no_text_says() {
    let schema = example();
    let suite = suite(SEED, &schema, None);
    let found = unsaid(&schema, &suite);
    assert!(found.is_empty(), "{}\n{}", found.len(), found.join("\n"));
}
