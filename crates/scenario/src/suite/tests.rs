use std::collections::BTreeSet;

use super::*;
use crate::Seed;
use crate::ir::{Schema, example};

const SEED: Seed = Seed { base: 0, scenario: 0 };

#[test]
fn ids_are_unique() {
    let suite = suite(SEED, &example(), None);
    let mut seen_ids = BTreeSet::new();
    for case in &suite.cases {
        assert!(seen_ids.insert(&case.id), "{}", case.id);
    }
}

fn unstated_texts(schema: &Schema, suite: &Suite) -> Vec<String> {
    let clauses = crate::text::clauses(schema);
    unstated_demands(suite, &clauses)
        .into_iter()
        .map(|found| format!("{}: {}", found.case, found.demand))
        .collect()
}

#[test]
fn no_case_of_the_example_demands_what_no_text_says() {
    let schema = example();
    let suite = suite(SEED, &schema, None);
    let found = unstated_texts(&schema, &suite);
    assert!(found.is_empty(), "{}\n{}", found.len(), found.join("\n"));
}

#[test]
fn what_is_not_said_is_found() {
    let schema = example();
    let suite = suite(SEED, &schema, None);
    let mut clauses = crate::text::clauses(&schema);
    clauses.retain(|clause| clause.id != "lists.body");
    let found = unstated_demands(&suite, &clauses);
    assert!(
        found.iter().any(|found| found.case == "parts.list.all" && found.demand == "the key total"),
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
        let Step::Request(send) = step else { continue };
        for assertion in &mut send.expect {
            if let Assertion::Has { value, .. } = assertion {
                // The default is 1, and there is nothing about a flag.
                value.insert("amount".to_owned(), serde_json::json!(17));
                value.insert("title".to_owned(), serde_json::json!(true));
            }
        }
    }
    let found: Vec<String> =
        unstated_demands(&suite, &clauses).into_iter().map(|found| found.demand).collect();
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
