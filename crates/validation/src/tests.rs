//! What the suites of `scenario` are worth, seen with servers.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use scenario::Seed;
use scenario::change::{ChangeKind, apply, next_turn};
use scenario::ir::{Schema, example};
use scenario::reference::World;
use scenario::sample::{ProgrammaticSampler, Sampler as _, TouchedParts, propose};
use scenario::suite::{Mark, Step, Suite, suite, unstated_demands};

use crate::client::{CaseStatus, run_in_process, verdicts_in_process};

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
    assert!(suite.cases.len() > 100, "{}", suite.cases.len());
    let failed = failures(&schema, &suite);
    assert!(failed.is_empty(), "{} of {}\n{}", failed.len(), suite.cases.len(), failed.join("\n"));
}

#[test]
fn the_suite_of_the_example_passes() {
    let schema = Arc::new(example());
    let suite = suite(SEED, &schema, None);
    assert!(suite.cases.len() > 100);
    let verdicts = verdicts_in_process(&mut World::new(schema), &suite);
    let wrong: Vec<_> = verdicts.not_passed().collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
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
    orders.actions[0].guards.push(scenario::ir::Guard {
        key: "has_parts".to_owned(),
        condition: scenario::ir::Condition::HasAtLeast {
            entity: "parts".to_owned(),
            reference: "order".to_owned(),
            count: 2,
        },
    });
    let suite = suite(SEED, &schema, None);
    let accepted =
        suite.cases.iter().find(|case| case.id == "repair_orders.finish.param.final_price.accepted");
    let makes_part = |step: &&Step| matches!(step, Step::Record(make) if make.make == "parts");
    assert_eq!(accepted.map(|case| case.steps.iter().filter(makes_part).count()), Some(6));
    let failed = failures(&schema, &suite);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn unstated_texts(schema: &Schema, suite: &Suite) -> Vec<String> {
    let clauses = scenario::text::clauses(schema);
    unstated_demands(suite, &clauses)
        .into_iter()
        .map(|found| format!("{}: {}", found.case, found.demand))
        .collect()
}

/// What is wrong with the suites of some turns of a scenario.
fn walk(scenario: u32, turns: u32, every: u32) -> Vec<String> {
    let seed = Seed { base: 0, scenario };
    let mut schema = ProgrammaticSampler.first_schema(seed).expect("there is a first schema").value;
    let mut wrong = Vec::new();
    for turn in 1..=turns {
        let before = schema;
        schema = ProgrammaticSampler.next_turn(seed, &before, 5).expect("there is a turn").value.after;
        if turn % every != 0 {
            continue;
        }
        let last = suite(seed, &before, None);
        let now = suite(seed, &schema, Some(&last));
        let mut add = |label: &str, found: Vec<String>| {
            wrong.extend(found.into_iter().map(|found| format!("{scenario}.{turn} {label}: {found}")));
        };
        add("not sound", failures(&schema, &now));
        add("not said", unstated_texts(&schema, &now));
        let mut seen_ids = BTreeSet::new();
        add(
            "twice",
            now.cases.iter().filter(|case| !seen_ids.insert(&case.id)).map(|case| case.id.clone()).collect(),
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

/// Were it the only one of its turn, the server of the turn before would be found out all the same.
#[test]
fn a_change_of_any_kind_is_noticed_alone() {
    let (mut noticed_kinds, mut unnoticed) = (BTreeSet::new(), Vec::new());
    for number in 0..4 {
        let seed = Seed { base: 0, scenario: number };
        let mut before = ProgrammaticSampler.first_schema(seed).unwrap().value;
        for turn in 1..=26 {
            if turn > 1 {
                before = ProgrammaticSampler.next_turn(seed, &before, 5).unwrap().value.after;
            }
            if ![1, 26].contains(&turn) {
                continue;
            }
            let old = suite(seed, &before, None);
            for kind in ChangeKind::ALL {
                let next = next_turn(&before);
                // A draw may find nothing of this kind to change.
                let drawn = (0..4).find_map(|number| {
                    let mut draw = seed.draw(999 + turn, &format!("{kind:?} {number}"));
                    let change = propose(kind, &mut draw, &next, &TouchedParts::default())?;
                    Some((apply(&next, &change).ok()?, change))
                });
                let Some((after, change)) = drawn else { continue };
                let suite = suite(seed, &after, Some(&old));
                let mut failed = 0;
                run_in_process(&mut World::new(Arc::new(before.clone())), &suite, &mut |_, result| {
                    failed += u32::from(result.status != CaseStatus::Passed);
                    if failed > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                if failed == 0 {
                    unnoticed.push(format!("scenario {number}, turn {turn}: {change:?}"));
                }
                noticed_kinds.insert(kind);
            }
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:#?}");
    let missing: Vec<_> = ChangeKind::ALL.iter().filter(|&kind| !noticed_kinds.contains(kind)).collect();
    assert!(missing.is_empty(), "never tried: {missing:?}");
}
