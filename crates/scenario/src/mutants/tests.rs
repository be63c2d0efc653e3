use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use super::{Operator, mutants, sites};
use crate::change::{Change, apply, next_turn};
use crate::ir::example;

#[test]
fn every_operator_has_a_name_and_a_sentence_of_its_own() {
    assert!(Operator::ALL.len() >= 25);
    let names: BTreeSet<_> = Operator::ALL.iter().map(|operator| operator.name()).collect();
    let about: BTreeSet<_> = Operator::ALL.iter().map(|operator| operator.about()).collect();
    assert_eq!(names.len(), Operator::ALL.len());
    assert_eq!(about.len(), Operator::ALL.len());
    assert!(names.iter().all(|name| crate::ir::is_name(name)));
}

#[test]
fn the_example_has_a_place_for_almost_every_operator() {
    let before = example();
    let change: Change = serde_json::from_value(
        json!({"change": "rename_field", "entity": "parts", "field": "amount", "name": "quantity"}),
    )
    .unwrap();
    let after = Arc::new(apply(&next_turn(&before), &change).unwrap());
    let changes = [change];
    let found = sites(Some((&before, &changes)), &after);
    let used: BTreeSet<_> = found.iter().map(|site| site.operator).collect();
    let unused: Vec<_> = Operator::ALL.iter().filter(|operator| !used.contains(operator)).collect();
    assert!(unused.is_empty(), "{unused:?}");
    let all = mutants(Some((&before, &changes)), &after);
    assert_eq!(all.len(), found.len(), "each place gives a mutant");
    for mutant in &all {
        assert!(
            !mutant.flaws.is_empty() || mutant.schema != after,
            "{} {}",
            mutant.operator.name(),
            mutant.site
        );
    }
    let again: Vec<_> =
        sites(Some((&before, &changes)), &after).iter().map(|site| format!("{site:?}")).collect();
    assert_eq!(again, found.iter().map(|site| format!("{site:?}")).collect::<Vec<_>>());
}

#[test]
fn what_no_request_can_tell_is_no_mutant() {
    let mut schema = example();
    let orders = schema.entity_mut("repair_orders").unwrap();
    let finish = orders.action_mut("finish").unwrap();
    // The guard `in_work` says this already.
    finish.guards.push(serde_json::from_value(
        json!({"key": "open_or_in_work", "when": "field", "field": "status", "is": {"one_of": ["open", "in_work"]}}),
    ).unwrap());
    assert_eq!(crate::check::check(&schema), []);
    let dropped: Vec<_> = sites(None, &schema)
        .into_iter()
        .filter(|site| site.operator == Operator::GuardDropped && site.at.starts_with("repair_orders.finish"))
        .map(|site| site.at)
        .collect();
    assert_eq!(dropped, ["repair_orders.finish.guard.in_work", "repair_orders.finish.guard.active_mechanic"]);
    // Without soft delete nothing is wrong about deleted records.
    schema.entity_mut("customers").unwrap().soft_delete = false;
    assert!(sites(None, &schema).iter().all(|site| site.operator != Operator::SoftDeletedSeen));
}

#[test]
fn conditions_that_exclude_each_other_are_a_fault() {
    let mut schema = example();
    let promote = schema.entity_mut("customers").unwrap().action_mut("promote").unwrap();
    promote.guards.push(
        serde_json::from_value(
            json!({"key": "no_orders", "when": "has_none", "entity": "repair_orders", "reference": "customer"}),
        )
        .unwrap(),
    );
    let faults = crate::check::check(&schema);
    assert!(faults.iter().any(|fault| fault.what.contains("never all hold")), "{faults:?}");
}
