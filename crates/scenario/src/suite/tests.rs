use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::*;
use crate::Seed;
use crate::client::{CaseStatus, run_in_process};
use crate::ir::{Schema, example};
use crate::reference::World;

pub(super) const SEED: Seed = Seed { base: 0, scenario: 0 };

pub(super) fn failures(schema: &Schema, suite: &Suite) -> Vec<String> {
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
    assert!(suite.cases.len() > 100, "{}", suite.cases.len());
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

pub(super) fn unsaid(schema: &Schema, suite: &Suite) -> Vec<String> {
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

#[test]
fn another_server_fails() {
    let schema = example();
    let suite = suite(SEED, &schema, None);
    let mut other = schema.clone();
    other.conventions.status.invalid = 400;
    let failed = failures(&other, &suite);
    assert!(failed.len() > 60, "{} of {}", failed.len(), suite.cases.len());
    let mut other = schema.clone();
    other.entity_mut("parts").and_then(|parts| parts.field_mut("amount")).expect("it is there").default =
        Some(serde_json::json!(2));
    let failed: Vec<String> = failures(&other, &suite)
        .iter()
        .filter_map(|failure| Some(failure.split_once(':')?.0.to_owned()))
        .collect();
    assert_eq!(failed, ["parts.create.minimal", "parts.replace.full"]);
}

#[test]
fn what_is_not_said_is_found() {
    let schema = example();
    let suite = suite(SEED, &schema, None);
    let mut clauses = crate::text::clauses(&schema);
    clauses.retain(|clause| clause.id != "lists.body");
    let found = unstated(&suite, &clauses);
    assert!(
        found.iter().any(|found| found.case == "parts.list.all" && found.what == "the key total"),
        "{found:?}"
    );
}

#[test]
fn values_that_no_text_gives_are_found() {
    let schema = example();
    let clauses = crate::text::clauses(&schema);
    let mut suite = suite(SEED, &schema, None);
    let case = suite.cases.iter_mut().find(|case| case.id == "parts.create.minimal").expect("it is there");
    for step in &mut case.steps {
        let Step::Send(send) = step else { continue };
        for assertion in &mut send.expect {
            if let Assertion::Has { value, .. } = assertion {
                // The default is 1, and there is nothing about a flag.
                value.insert("amount".to_owned(), serde_json::json!(17));
                value.insert("title".to_owned(), serde_json::json!(true));
            }
        }
    }
    let found: Vec<String> = unstated(&suite, &clauses).into_iter().map(|found| found.what).collect();
    assert_eq!(found, ["the value true", "the number 17"]);
}

#[test]
fn a_suite_is_kept_as_long_as_it_demands_the_same() {
    let schema = example();
    let first = suite(SEED, &schema, None);
    assert!(first.cases.iter().all(|case| case.mark == Mark::New));
    // Read back from a file it compares the same.
    let text = first.to_json().expect("it can be written");
    let read = Suite::from_json(&text).expect("it can be read");
    assert_eq!(read, first);
    let again = suite(SEED, &schema, Some(&read));
    assert!(again.cases.iter().all(|case| case.mark == Mark::Kept));

    let mut changed = schema.clone();
    let mut field =
        changed.entity("parts").and_then(|parts| parts.field("deadline")).expect("it is there").clone();
    (field.key, field.name) = ("bought_at".to_owned(), "bought_at".to_owned());
    changed.entity_mut("parts").expect("it is there").fields.push(field);
    let next = suite(SEED, &changed, Some(&read));
    let ids = |mark: Mark| {
        next.cases.iter().filter(|case| case.mark == mark).map(|case| case.id.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(ids(Mark::New), ["parts.bought_at.null", "parts.bought_at.wrong_type"]);
    assert_eq!(
        ids(Mark::Changed),
        [
            "repair_orders.extend.effect.create_parts",
            "parts.create.minimal",
            "parts.create.full",
            "parts.create.wide",
            "parts.replace.full",
            "parts.update"
        ]
    );
}

#[test]
fn a_case_may_make_more_records_than_a_builder_has_bodies() {
    let mut schema = example();
    // An order is finished only with two parts: with three values of the price those are six, each with a label of its own.
    let parts = schema.entity_mut("parts").expect("it is there");
    let mut label = parts.field("title").expect("it is there").clone();
    (label.key, label.name) = ("label".to_owned(), "label".to_owned());
    label.unique = true;
    parts.fields.push(label);
    let orders = schema.entity_mut("repair_orders").expect("it is there");
    orders.actions.retain(|action| action.key == "finish");
    orders.actions[0].guards.push(crate::ir::Guard {
        key: "has_parts".to_owned(),
        condition: crate::ir::Condition::HasAtLeast {
            entity: "parts".to_owned(),
            reference: "order".to_owned(),
            count: 2,
        },
    });
    let suite = suite(SEED, &schema, None);
    let accepted =
        suite.cases.iter().find(|case| case.id == "repair_orders.finish.param.final_price.accepted");
    let made = |step: &&Step| matches!(step, Step::Make(make) if make.make == "parts");
    assert_eq!(accepted.map(|case| case.steps.iter().filter(made).count()), Some(6));
    let failed = failures(&schema, &suite);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// What is wrong with the suites of some turns of a scenario.
fn walk(scenario: u32, turns: u32, every: u32) -> Vec<String> {
    use crate::sample::{Programmatic, Sampler};

    let seed = Seed { base: 0, scenario };
    let mut schema = Programmatic.first(seed).expect("there is a first schema").made;
    let mut wrong = Vec::new();
    for turn in 1..=turns {
        let before = schema;
        schema = Programmatic.turn(seed, &before, 5).expect("there is a turn").made.after;
        if turn % every != 0 {
            continue;
        }
        let last = suite(seed, &before, None);
        let now = suite(seed, &schema, Some(&last));
        let mut add = |what: &str, found: Vec<String>| {
            wrong.extend(found.into_iter().map(|found| format!("{scenario}.{turn} {what}: {found}")));
        };
        add("not sound", failures(&schema, &now));
        add("not said", unsaid(&schema, &now));
        let mut seen = BTreeSet::new();
        add(
            "twice",
            now.cases.iter().filter(|case| !seen.insert(&case.id)).map(|case| case.id.clone()).collect(),
        );
        let old = failures(&before, &now);
        if old.is_empty() {
            add("vacuous", vec![String::new()]);
        }
        let kept: BTreeSet<&str> =
            now.cases.iter().filter(|case| case.mark == Mark::Kept).map(|case| case.id.as_str()).collect();
        add(
            "kept, but the server before fails it",
            old.into_iter()
                .filter(|failure| failure.split_once(": ").is_some_and(|(id, _)| kept.contains(id)))
                .collect(),
        );
    }
    wrong
}

#[test]
fn suites_of_sampled_turns_are_sound_said_and_not_vacuous() {
    for scenario in 0..6 {
        let wrong = walk(scenario, 60, 10);
        assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    }
}
