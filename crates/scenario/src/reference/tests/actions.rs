//! Actions: parameters, guards, effects.

use super::*;
use crate::ir::{Comparison, Condition, Effect, Guard, Operand};

/// An order with a mechanic, in work.
fn in_work() -> Api {
    let mut api = Api::new();
    let customer = api.customer(json!({}));
    let mechanic = api.mechanic(json!({}));
    api.order(customer, json!({"status": "in_work", "mechanic_id": mechanic, "hours": 5}));
    api
}

const FINISH: &str = "/api/repair-orders/1/finish";
const EXTEND: &str = "/api/repair-orders/1/extend";

#[test]
fn effects_are_done_and_the_record_is_answered() {
    let mut api = in_work();
    let after = ok(api.post(FINISH, json!({"final_price": 99.5})));
    assert_eq!((&after["status"], &after["price"]), (&json!("done"), &json!(99.5)));
    assert_eq!(api.read("/api/repair-orders/1"), after);
}

#[test]
fn parameters_are_required_and_checked() {
    let mut api = in_work();
    let before = api.read("/api/repair-orders/1");
    for body in [
        json!({}),
        json!({"final_price": null}),
        json!({"final_price": "9"}),
        json!({"final_price": -1}),
        json!({"final_price": true}),
        json!({"final_price": 1, "other": 1}),
        json!([]),
    ] {
        is_error(&api.post(FINISH, body), "invalid");
    }
    is_error(&api.send(Method::Post, FINISH, None), "invalid");
    is_error(&api.post(EXTEND, json!({"extra_hours": 1.5})), "invalid");
    is_error(&api.post(EXTEND, json!({"extra_hours": 101})), "invalid");
    assert_eq!(api.read("/api/repair-orders/1"), before);
    // The record is looked for before the body is checked, the body before the guards.
    is_error(&api.post("/api/repair-orders/9/finish", json!({})), "not_found");
    ok(api.post(FINISH, json!({"final_price": 1})));
    is_error(&api.post(FINISH, json!({})), "invalid");
    is_error(&api.post(FINISH, json!({"final_price": 1})), "refused");
}

#[test]
fn the_body_of_an_action_without_parameters_is_not_looked_at() {
    let mut api = Api::new();
    for body in [None, Some(json!([1])), Some(json!({"unknown": 1}))] {
        let customer = api.customer(json!({}));
        api.order(customer, json!({}));
        let after = ok(api.send(Method::Post, &format!("/api/customers/{customer}/promote"), body));
        assert_eq!(after["level"], "gold");
    }
    let customer = api.customer(json!({}));
    api.order(customer, json!({}));
    let path = format!("/api/customers/{customer}/promote");
    let garbage = Request { method: Method::Post, path, query: vec![], body: Some(Err(())) };
    assert_eq!(api.world.handle(&garbage).status, 200);
}

#[test]
fn every_guard_must_hold() {
    let mut api = in_work();
    api.patch("/api/repair-orders/1", json!({"status": "open"}));
    is_error(&api.post(FINISH, json!({"final_price": 1})), "refused");
    api.patch("/api/repair-orders/1", json!({"status": "in_work"}));
    api.patch("/api/mechanics/1", json!({"active": false}));
    is_error(&api.post(FINISH, json!({"final_price": 1})), "refused");
    // Without the record that the reference names, the guard does not hold.
    api.patch("/api/repair-orders/1", json!({"mechanic_id": null}));
    is_error(&api.post(FINISH, json!({"final_price": 1})), "refused");
    let order = api.read("/api/repair-orders/1");
    assert_eq!((&order["status"], &order["price"]), (&json!("in_work"), &json!(null)));
}

#[test]
fn guards_count_records_that_refer_to_this_one() {
    let mut api = Api::new();
    let (customer, other) = (api.customer(json!({})), api.customer(json!({})));
    api.order(other, json!({}));
    is_error(&api.post("/api/customers/1/promote", json!({})), "refused");
    let order = api.order(customer, json!({}));
    assert_eq!(ok(api.post("/api/customers/1/promote", json!({})))["level"], "gold");
    is_error(&api.post("/api/customers/1/promote", json!({})), "refused");
    let path = format!("/api/repair-orders/{order}/extend");
    api.part(1, json!({}));
    ok(api.post(&path, json!({"extra_hours": 2})));
    // The part that this created stands against the next one.
    is_error(&api.post(&path, json!({"extra_hours": 2})), "refused");
    assert_eq!(api.read(&format!("/api/repair-orders/{order}"))["hours"], 3);
}

#[test]
fn effects_increment_and_create_with_values_as_they_were() {
    let mut api = in_work();
    assert_eq!(ok(api.post(EXTEND, json!({"extra_hours": 7})))["hours"], 12);
    let part = api.read("/api/parts/1");
    let expected = json!({"id": 1, "order_id": 1, "title": "consumables", "amount": 7, "deadline": "2024-03-01T12:30:00Z"});
    assert_eq!(part, expected);
    assert_eq!(ok(api.get("/api/parts"))["total"], 1);
}

#[test]
fn an_effect_that_breaks_a_rule_is_refused_and_nothing_changes() {
    let mut api = in_work();
    is_error(&api.post(EXTEND, json!({"extra_hours": 76})), "refused");
    assert_eq!(api.read("/api/repair-orders/1")["hours"], 5);
    assert_eq!(ok(api.get("/api/parts"))["total"], 0);
    assert_eq!(ok(api.post(EXTEND, json!({"extra_hours": 75})))["hours"], 80);
    assert_eq!(api.read("/api/parts/1")["id"], 1);
}

#[test]
fn own_values_are_those_before_the_effects() {
    let mut api = Api::from_schema(changed(|schema| {
        let extend = &mut schema.entities[2].actions[1];
        if let Effect::Create { values, .. } = &mut extend.effects[1] {
            values[1].from = Operand::Own("hours".into());
        }
    }));
    let customer = api.customer(json!({}));
    api.order(customer, json!({"hours": 5}));
    assert_eq!(ok(api.post(EXTEND, json!({"extra_hours": 7})))["hours"], 12);
    assert_eq!(api.read("/api/parts/1")["amount"], 5);
}

/// Whether `extend` is done on an order with these values if this is its only guard.
fn done(comparison: Comparison, field: &str, fields: &Value) -> bool {
    let mut api = Api::from_schema(changed(|schema| {
        let condition = Condition::Field { field: field.into(), is: comparison };
        schema.entities[2].actions[1].guards = vec![Guard { key: "it".into(), condition }];
    }));
    let customer = api.customer(json!({}));
    api.order(customer, fields.clone());
    let answer = api.post(EXTEND, json!({"extra_hours": 1}));
    if answer.status != 200 {
        is_error(&answer, "refused");
    }
    answer.status == 200
}

#[test]
fn comparisons() {
    use Comparison::{AtLeast, AtMost, Equals, IsNotSet, IsSet, Not, OneOf};
    let status = |word: &str| json!({"status": word});
    assert!(done(Equals(json!("open")), "status", &status("open")));
    assert!(!done(Equals(json!("open")), "status", &status("done")));
    assert!(!done(Not(json!("open")), "status", &status("open")));
    assert!(done(Not(json!("open")), "status", &status("done")));
    assert!(done(OneOf(vec![json!("open"), json!("done")]), "status", &status("done")));
    assert!(!done(OneOf(vec![json!("open"), json!("done")]), "status", &status("in_work")));
    let hours = |n: i64| json!({"hours": n});
    assert!(done(AtLeast(json!(5)), "hours", &hours(5)) && !done(AtLeast(json!(5)), "hours", &hours(4)));
    assert!(done(AtMost(json!(5)), "hours", &hours(5)) && !done(AtMost(json!(5)), "hours", &hours(6)));
    assert!(done(Equals(json!(5)), "hours", &hours(5)) && !done(Not(json!(5)), "hours", &hours(5)));
    let price = |value: Value| json!({ "price": value });
    assert!(done(AtLeast(json!(2)), "price", &price(json!(2.0))));
    for comparison in [Equals(json!(0)), AtLeast(json!(0)), AtMost(json!(0)), IsSet] {
        assert!(!done(comparison, "price", &price(json!(null))));
    }
    assert!(done(Not(json!(0)), "price", &price(json!(null))));
    assert!(done(IsNotSet, "price", &price(json!(null))) && !done(IsNotSet, "price", &price(json!(1))));
    assert!(done(IsSet, "price", &price(json!(0))));
}
