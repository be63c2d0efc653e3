//! Analytics.

use super::*;
use crate::ir::Measure;

fn shop() -> Api {
    let mut api = Api::new();
    let (first, second) = (api.customer(json!({})), api.customer(json!({})));
    let active = api.mechanic(json!({}));
    let idle = api.mechanic(json!({"active": false}));
    for (customer, mechanic, status, price, hours) in [
        (first, json!(active), "done", json!(10.5), 2),
        (first, json!(active), "open", json!(100), 5),
        (second, json!(idle), "done", json!(4), 7),
        (second, json!(null), "done", json!(null), 9),
    ] {
        api.order(
            customer,
            json!({"mechanic_id": mechanic, "status": status, "price": price, "hours": hours}),
        );
    }
    api
}

/// Groups as pairs, ordered by key as text.
fn groups(body: &Value) -> Vec<(String, f64)> {
    let mut pairs: Vec<(String, f64)> = body["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| (group["key"].to_string(), group["value"].as_f64().expect("a number")))
        .collect();
    pairs.sort_by(|left, right| left.0.cmp(&right.0));
    pairs
}

#[test]
fn a_sum_with_a_restriction_and_a_parameter() {
    let mut api = shop();
    assert_eq!(ok(api.get("/api/analytics/revenue")), json!({"value": 14.5}));
    for (customer, expected) in [("1", 10.5), ("2", 4.0), ("99", 0.0)] {
        let body = ok(api.get(&format!("/api/analytics/revenue?customer_id={customer}")));
        assert_eq!(body["value"].as_f64(), Some(expected), "{customer}");
    }
    for bad in ["x", "", "1.5", "true"] {
        is_error(&api.get(&format!("/api/analytics/revenue?customer_id={bad}")), "invalid");
    }
    assert_eq!(ok(api.get("/api/analytics/revenue?mechanic_id=x&status=open")), json!({"value": 14.5}));
}

#[test]
fn groups_have_a_row_for_every_value_that_occurs() {
    let mut api = shop();
    let by_status = ok(api.get("/api/analytics/orders-by-status"));
    assert_eq!(groups(&by_status), [("\"done\"".to_owned(), 3.0), ("\"open\"".to_owned(), 1.0)]);
    // Through the mechanic, by customer: only orders of active mechanics.
    let average = ok(api.get("/api/analytics/average-hours"));
    assert_eq!(groups(&average), [("1".to_owned(), 3.5)]);
    let mut by_mechanic =
        Api::from_schema(changed(|schema| schema.analytics[1].group_by = Some("mechanic".into())));
    let customer = by_mechanic.customer(json!({}));
    let mechanic = by_mechanic.mechanic(json!({}));
    by_mechanic.order(customer, json!({"mechanic_id": mechanic}));
    by_mechanic.order(customer, json!({}));
    let body = ok(by_mechanic.get("/api/analytics/orders-by-status"));
    assert_eq!(body, json!({"groups": [{"key": 1, "value": 1}]}));
}

#[test]
fn every_measure_leaves_nulls_out() {
    for (measure, expected) in [
        (Measure::Count, json!(4)),
        (Measure::Sum("price".into()), json!(114.5)),
        (Measure::Average("price".into()), json!(114.5 / 3.0)),
        (Measure::Min("price".into()), json!(4)),
        (Measure::Max("price".into()), json!(100)),
        (Measure::Max("hours".into()), json!(9)),
    ] {
        let schema = changed(|schema| schema.analytics[3].measure = measure.clone());
        let mut api = shop();
        let world = World::new(Arc::new(schema));
        api.world = World { tables: api.world.tables.clone(), ..world };
        assert_eq!(ok(api.get("/api/analytics/longest-repair"))["value"], expected, "{measure:?}");
    }
}

#[test]
fn without_any_value_count_and_sum_are_zero_and_the_others_null() {
    for (measure, expected) in [
        (Measure::Count, json!(0)),
        (Measure::Sum("price".into()), json!(0)),
        (Measure::Average("price".into()), json!(null)),
        (Measure::Min("price".into()), json!(null)),
        (Measure::Max("price".into()), json!(null)),
    ] {
        let mut api = Api::from_schema(changed(|schema| schema.analytics[3].measure = measure.clone()));
        assert_eq!(ok(api.get("/api/analytics/longest-repair")), json!({"value": expected}), "{measure:?}");
        assert_eq!(ok(api.get("/api/analytics/orders-by-status")), json!({"groups": []}));
        let customer = api.customer(json!({}));
        api.order(customer, json!({"price": null}));
        let expected = if measure == Measure::Count { json!(1) } else { expected };
        assert_eq!(ok(api.get("/api/analytics/longest-repair")), json!({"value": expected}), "{measure:?}");
    }
}
