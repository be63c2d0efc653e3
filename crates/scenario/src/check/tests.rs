use serde_json::json;

use super::check;
use crate::ir::{Schema, example};

/// The example with one place changed, by JSON pointer; `null` takes the place out.
fn changed_at(pointer: &str, value: serde_json::Value) -> Schema {
    let mut json = serde_json::to_value(example()).unwrap();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match json.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}")) {
        serde_json::Value::Object(object) if value.is_null() => drop(object.remove(key)),
        serde_json::Value::Object(object) => drop(object.insert(key.to_owned(), value)),
        serde_json::Value::Array(items) => match key {
            "-" => items.push(value),
            _ => items[key.parse::<usize>().unwrap()] = value,
        },
        _ => panic!("{pointer}"),
    }
    serde_json::from_value(json).unwrap_or_else(|e| panic!("{pointer}: {e}"))
}

#[test]
fn the_example_is_valid() {
    assert_eq!(check(&example()), []);
}

#[test]
fn every_broken_rule_is_found() {
    let filter = |field: &str, op: &str| json!({"field": field, "op": op});
    let guard = |comparison: serde_json::Value| json!({"key": "new_guard", "when": "field", "field": "status", "is": comparison});
    let broken = [
        ("/version", json!("stamina-schema/0"), "version"),
        ("/title", json!(""), "title"),
        ("/turn", json!(0), "turn"),
        ("/conventions/prefix", json!("api"), "conventions.prefix"),
        ("/conventions/prefix", json!("/Api"), "conventions.prefix"),
        ("/conventions/path_case", json!("camel"), "conventions.path_case"),
        ("/conventions/field_case", json!("kebab"), "conventions.field_case"),
        ("/conventions/error/code", json!("message"), "conventions.error"),
        ("/conventions/codes/refused", json!("conflict"), "conventions.codes"),
        ("/conventions/status/created", json!(202), "conventions.status.created"),
        ("/conventions/status/invalid", json!(409), "conventions.status.invalid"),
        ("/conventions/list/items", json!("rows"), "conventions.list.items"),
        ("/conventions/pagination/default_size", json!(4), "conventions.pagination"),
        ("/conventions/pagination/max_size", json!(19), "conventions.pagination"),
        ("/entities/0/key", json!("mechanics"), "mechanics"),
        ("/entities/1/name", json!("customers"), "customers"),
        ("/entities/1/plural", json!("Mechanics"), "mechanics"),
        ("/entities/1/since", json!(2), "mechanics"),
        ("/entities/1/about", json!("two\nlines"), "mechanics"),
        ("/entities/1/fields/0/key", json!("last_name"), "mechanics"),
        ("/entities/1/fields/0/name", json!("last_name"), "mechanics"),
        ("/entities/1/fields/0/name", json!("min_name"), "mechanics.first_name"),
        ("/entities/3/fields/1/key", json!("filter"), "parts.filter"),
        ("/entities/2/fields/9/key", json!("finish"), "repair_orders"),
        ("/entities/0/fields/0/min_length", json!(61), "customers.full_name"),
        ("/entities/0/fields/0/max_length", json!(201), "customers.full_name"),
        ("/entities/0/fields/1/max_length", json!(20), "customers.email"),
        ("/entities/0/fields/3/default", json!("iron"), "customers.level"),
        ("/entities/0/fields/3/values", json!(["bronze"]), "customers.level"),
        ("/entities/0/fields/4/min", json!(0.1), "customers.credit"),
        ("/entities/0/fields/4/required", json!(true), "customers.credit"),
        ("/entities/0/fields/4/default", json!(null), "customers.credit"),
        ("/entities/0/fields/4/unique", json!(true), "customers.credit"),
        ("/entities/0/fields/4/nullable", json!(true), "customers.sort.credit"),
        ("/entities/0/fields/6/nullable", json!(true), "customers.repair_count"),
        ("/entities/0/fields/6/type", json!("number"), "customers.repair_count"),
        ("/entities/0/fields/7/computed/field", json!("hours"), "customers.spent"),
        ("/entities/0/fields/7/computed/reference", json!("mechanic"), "customers.spent"),
        ("/entities/1/fields/2/max", json!(5), "mechanics.badge"),
        ("/entities/2/fields/1/nullable", json!(false), "repair_orders.mechanic"),
        ("/entities/2/fields/1/entity", json!("nothing"), "repair_orders.mechanic"),
        ("/entities/2/fields/1/entity", json!("parts"), "entities"),
        ("/entities/2/fields/1/entity", json!("repair_orders"), "entities"),
        ("/entities/2/fields/6/computed/left", json!("price"), "repair_orders.labour"),
        ("/entities/2/fields/7/computed/value", json!(0), "repair_orders.is_large"),
        ("/entities/2/filters/-", filter("status", "equals"), "repair_orders.filter.status.equals"),
        ("/entities/2/filters/-", filter("status", "contains"), "repair_orders.filter.status.contains"),
        ("/entities/2/filters/-", filter("labour", "at_most"), "repair_orders.filter.labour.at_most"),
        ("/entities/1/filters/-", filter("skills", "equals"), "mechanics.filter.skills.equals"),
        ("/entities/2/sorts/-", json!("price"), "repair_orders.sort.price"),
        ("/entities/2/sorts/-", json!("due_at"), "repair_orders.sort.due_at"),
        ("/entities/0/default_sort/field", json!("email"), "customers.sort.email"),
        ("/entities/0/actions/0/name", json!("repair_orders"), "customers.promote"),
        ("/entities/0/actions/0/effects", json!([]), "customers.promote"),
        ("/entities/0/actions/0/guards/0/count", json!(4), "customers.promote.guard.has_orders"),
        ("/entities/0/actions/0/guards/1/key", json!("has_orders"), "customers.promote"),
        ("/entities/0/actions/0/guards/1/is", json!({"not": "iron"}), "customers.promote.guard.not_gold"),
        ("/entities/0/actions/0/effects/0/to", json!({"value": null}), "customers.promote.effect.level"),
        ("/entities/0/actions/0/effects/0/field", json!("email"), "customers.promote.effect.email"),
        ("/entities/2/actions/0/params/0/type", json!("date_time"), "repair_orders.finish.final_price"),
        ("/entities/2/actions/0/params/0/type", json!("boolean"), "repair_orders.finish.effect.price"),
        ("/entities/2/actions/0/effects/1/to", json!({"value": 2.0}), "repair_orders.finish.final_price"),
        ("/entities/2/actions/0/effects/1/field", json!("status"), "repair_orders.finish.effect.status"),
        (
            "/entities/2/actions/0/guards/-",
            guard(json!({"one_of": ["open", "in_work", "done"]})),
            "repair_orders.finish.guard.new_guard",
        ),
        ("/entities/2/actions/0/guards/-", guard(json!("is_set")), "repair_orders.finish.guard.new_guard"),
        (
            "/entities/2/actions/0/guards/-",
            guard(json!({"equals": "in_work"})),
            "repair_orders.finish.guard.in_work",
        ),
        ("/entities/2/actions/1/effects/0/by", json!({"value": 0}), "repair_orders.extend.effect.hours"),
        (
            "/entities/2/actions/1/effects/1/values/0/field",
            json!("amount"),
            "repair_orders.extend.effect.create_parts",
        ),
        (
            "/entities/2/actions/1/effects/1/values/2/from",
            json!({"own": "note"}),
            "repair_orders.extend.effect.create_parts",
        ),
        ("/entities/3/fields/2/unique", json!(true), "parts.amount"),
        ("/analytics/0/measure", json!({"sum": "labour"}), "analytics.revenue"),
        ("/analytics/0/only/equals", json!("closed"), "analytics.revenue"),
        ("/analytics/0/by", json!("status"), "analytics.revenue"),
        ("/analytics/1/group_by", json!("price"), "analytics.orders_by_status"),
        ("/analytics/1/key", json!("revenue"), "analytics.revenue"),
        ("/analytics/2/only/through", json!("customer"), "analytics.average_hours"),
        ("/used", json!(["b", "a"]), "used"),
        ("/gone", json!([{"what": "collection", "plural": "parts"}]), "gone.0"),
        ("/gone", json!([{"what": "prefix", "prefix": "/api"}]), "gone.0"),
        ("/gone", json!([{"what": "field", "entity": "nothing", "name": "x"}]), "gone.0"),
        ("/gone", json!([{"what": "field", "entity": "parts", "name": "title"}]), "gone.0"),
        ("/gone", json!([{"what": "sort", "entity": "parts", "field": "x"}]), "gone.0"),
        (
            "/gone",
            json!([{"what": "constraint", "entity": "parts", "field": "amount", "accepted": 0}]),
            "gone.0",
        ),
    ];
    for (pointer, value, location) in broken {
        let faults = check(&changed_at(pointer, value.clone()));
        assert!(faults.iter().any(|fault| fault.location == location), "{pointer} = {value}: {faults:#?}");
    }
}

#[test]
fn what_is_truly_gone_is_no_fault() {
    for removed in [
        json!({"what": "collection", "plural": "bicycles"}),
        json!({"what": "prefix", "prefix": ""}),
        json!({"what": "field", "entity": "parts", "name": "weight"}),
        json!({"what": "sort", "entity": "parts", "field": "title"}),
        json!({"what": "constraint", "entity": "parts", "field": "amount", "accepted": 2000}),
        json!({"what": "constraint", "entity": "parts", "field": "deadline", "accepted": null}),
        json!({"what": "guard", "entity": "customers", "action": "promote",
            "condition": {"when": "field", "field": "newsletter", "is": {"equals": true}}}),
        json!({"what": "created", "entity": "customers", "action": "promote", "other": "repair_orders"}),
    ] {
        let schema = changed_at("/gone", json!([removed]));
        assert_eq!(check(&schema), [], "{removed}");
    }
}

#[test]
fn a_schema_that_is_far_too_large_is_judged_quickly() {
    let mut schema = example();
    let entity = schema.entities[0].clone();
    schema.entities = (0..20_000).map(|_| entity.clone()).collect();
    assert!(!check(&schema).is_empty());
    let mut schema = example();
    let field = schema.entities[0].fields[0].clone();
    schema.entities[0].fields = (0..20_000).map(|_| field.clone()).collect();
    assert!(!check(&schema).is_empty());
}
