use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use scenario::Seed;
use scenario::change::{Change, apply, next_turn};
use scenario::ir::{Schema, example};
use scenario::reference::World;
use scenario::suite::{Suite, suite};
use serde_json::json;

use super::{Mutant, Operator, sites};
use crate::client::{CaseStatus, run_in_process};

/// All mutants of a schema.
fn mutants(before: Option<(&Schema, &[Change])>, schema: &Arc<Schema>) -> Vec<Mutant> {
    sites(before, schema).iter().filter_map(|site| site.make(schema)).collect()
}

#[test]
fn every_operator_has_a_name_and_a_sentence_of_its_own() {
    assert!(Operator::ALL.len() >= 25);
    let names: BTreeSet<_> = Operator::ALL.iter().map(|operator| operator.name()).collect();
    let about: BTreeSet<_> = Operator::ALL.iter().map(|operator| operator.description()).collect();
    assert_eq!(names.len(), Operator::ALL.len());
    assert_eq!(about.len(), Operator::ALL.len());
    assert!(names.iter().all(|name| scenario::ir::is_name(name)));
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
    assert_eq!(scenario::check::check(&schema), []);
    let dropped: Vec<_> = sites(None, &schema)
        .into_iter()
        .filter(|site| {
            site.operator == Operator::GuardDropped && site.location.starts_with("repair_orders.finish")
        })
        .map(|site| site.location)
        .collect();
    assert_eq!(dropped, ["repair_orders.finish.guard.in_work", "repair_orders.finish.guard.active_mechanic"]);
    // Without soft delete nothing is wrong about deleted records.
    schema.entity_mut("customers").unwrap().soft_delete = false;
    assert!(sites(None, &schema).iter().all(|site| site.operator != Operator::SoftDeletedSeen));
    // The least and the greatest value of a group with one record are the same.
    let swaps = |unique: bool| {
        let mut schema = example();
        schema.entity_mut("repair_orders").unwrap().field_mut("note").unwrap().unique = unique;
        let longest = schema.analytics.iter_mut().find(|analytic| analytic.key == "longest_repair").unwrap();
        longest.group_by = Some("note".to_owned());
        let found = sites(None, &schema);
        let count_at = |place: &str| found.iter().filter(|site| site.location == place).count();
        (count_at("analytics.longest_repair"), count_at("min_max_swapped"))
    };
    let (plain, unique) = (swaps(false), swaps(true));
    assert_eq!((unique.0, unique.1), (plain.0 - 1, 0));
    assert_eq!(plain.1, 1);
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
    let faults = scenario::check::check(&schema);
    assert!(faults.iter().any(|fault| fault.message.contains("never all hold")), "{faults:?}");
}

/// Mutants of one schema: how many there are, and those that no case notices.
#[derive(Default)]
struct Hunt {
    unsound: BTreeSet<String>,
    mutants: u32,
    survivors: Vec<(Operator, String)>,
}

fn hunt(seed: Seed, before: Option<(&Schema, &[Change])>, schema: &Arc<Schema>) -> Hunt {
    let mut suite = suite(seed, schema, None);
    let mut hunt = Hunt::default();
    // A case that the reference fails would notice everything.
    let mut unsound = BTreeSet::new();
    run_in_process(&mut World::new(Arc::clone(schema)), &suite, &mut |case, result| {
        if result.status != CaseStatus::Passed {
            unsound.insert(case.id.clone());
        }
        ControlFlow::Continue(())
    });
    suite.cases.retain(|case| !unsound.contains(&case.id));
    hunt.unsound = unsound;
    for mutant in mutants(before, schema) {
        hunt.mutants += 1;
        if passes(&mut World::flawed(mutant.schema, mutant.flaws), &suite) {
            hunt.survivors.push((mutant.operator, mutant.site));
        }
    }
    hunt
}

/// Whether a server passes every case.
fn passes(world: &mut World, suite: &Suite) -> bool {
    let mut all = true;
    run_in_process(world, suite, &mut |_, result| {
        all &= result.status == CaseStatus::Passed;
        if all { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    all
}

#[test]
fn the_suite_of_the_example_notices_its_mutants() {
    let hunt = hunt(Seed { base: 0, scenario: 0 }, None, &Arc::new(example()));
    assert!(hunt.unsound.is_empty(), "{:?}", hunt.unsound);
    let noticed = hunt.mutants as usize - hunt.survivors.len();
    assert!(noticed * 100 >= hunt.mutants as usize * 99, "{:?}", hunt.survivors);
}

#[test]
fn what_is_hard_to_see_is_noticed() {
    let mut schema = example();
    let analytic = |value| serde_json::from_value::<scenario::ir::Analytic>(value).unwrap();
    // A least value that a restriction decides, a group without a value, an average over nulls only.
    schema.analytics = vec![
        analytic(
            json!({"key": "cheapest", "name": "cheapest", "entity": "repair_orders", "measure": {"min": "price"},
            "only": {"field": "status", "equals": "done"}, "since": 1}),
        ),
        analytic(
            json!({"key": "by_mechanic", "name": "by_mechanic", "entity": "repair_orders", "measure": "count",
            "group_by": "mechanic", "by": "mechanic", "since": 1}),
        ),
        analytic(
            json!({"key": "prices", "name": "prices", "entity": "repair_orders", "measure": {"average": "price"},
            "group_by": "mechanic", "only": {"field": "status", "equals": "open"}, "since": 1}),
        ),
    ];
    // A computed field that depends on nothing but `hours`, and no other one.
    for entity in &mut schema.entities {
        entity.fields.retain(|field| field.computed.is_none() || field.key == "is_large");
    }
    // Deleting a customer is forbidden by orders, and takes letters along.
    let customers = schema.entity_mut("customers").unwrap();
    customers.fields.iter_mut().find(|field| field.key == "newsletter").unwrap().immutable = true;
    let mut letters = schema.entity("parts").unwrap().clone();
    (letters.key, letters.name, letters.plural) = ("letters".into(), "letter".into(), "letters".into());
    let link = &mut letters.fields[0];
    (link.key, link.name) = ("customer".into(), "customer_id".into());
    link.kind = serde_json::from_value(
        json!({"type": "reference", "entity": "customers", "on_delete": "cascade", "nested": true}),
    )
    .unwrap();
    schema.entities.push(letters);
    assert_eq!(scenario::check::check(&schema), []);
    let hunt = hunt(Seed { base: 0, scenario: 0 }, None, &Arc::new(schema));
    assert!(hunt.unsound.is_empty(), "{:?}", hunt.unsound);
    assert!(hunt.survivors.is_empty(), "{:?}", hunt.survivors);
}

#[test]
fn nulls_are_noticed_where_the_group_decides_what_is_taken() {
    let mut schema = example();
    schema.analytics = vec![
        serde_json::from_value(
            json!({"key": "prices", "name": "prices", "entity": "repair_orders", "measure": {"average": "price"},
                "group_by": "mechanic", "only": {"through": "mechanic", "field": "active", "equals": true}, "since": 1}),
        )
        .unwrap(),
    ];
    assert_eq!(scenario::check::check(&schema), []);
    let hunt = hunt(Seed { base: 0, scenario: 0 }, None, &Arc::new(schema));
    assert!(hunt.unsound.is_empty(), "{:?}", hunt.unsound);
    assert!(hunt.survivors.is_empty(), "{:?}", hunt.survivors);
}

#[test]
fn what_a_guard_or_restriction_excludes_is_no_mutant() {
    let flaws = |schema: &Schema, operator: Operator| -> Vec<String> {
        let all = sites(None, schema).into_iter().filter(|site| site.operator == operator);
        all.map(|site| site.location).filter(|location| !location.contains('.')).collect()
    };
    let mut schema = example();
    let orders = schema.entity_mut("repair_orders").unwrap();
    orders.actions.retain(|action| action.key == "extend");
    let extend = &mut orders.actions[0];
    extend.effects.truncate(1);
    assert_eq!(flaws(&schema, Operator::EffectUnchecked), ["effect_unchecked", "effect_breaks_as_invalid"]);
    // From 50 hours on at most, 30 more are never more than 80.
    let extend = &mut schema.entity_mut("repair_orders").unwrap().actions[0];
    extend.params[0].kind = scenario::ir::Kind::Integer { min: Some(1), max: Some(30) };
    extend.guards.push(
        serde_json::from_value(
            json!({"key": "not_long", "when": "field", "field": "hours", "is": {"at_most": 50}}),
        )
        .unwrap(),
    );
    assert_eq!(scenario::check::check(&schema), []);
    assert!(flaws(&schema, Operator::EffectUnchecked).is_empty());

    schema.analytics = vec![
        serde_json::from_value(
            json!({"key": "prices", "name": "prices", "entity": "repair_orders", "measure": {"average": "price"},
                "group_by": "status", "since": 1}),
        )
        .unwrap(),
    ];
    assert_eq!(
        flaws(&schema, Operator::EmptyAggregateWrong),
        ["null_counts_in_average", "empty_average_is_zero"]
    );
    schema.analytics[0].only = serde_json::from_value(json!({"field": "price", "equals": 40.0})).unwrap();
    assert!(flaws(&schema, Operator::EmptyAggregateWrong).is_empty());
}
