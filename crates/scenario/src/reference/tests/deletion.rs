//! Deletion and soft delete.

use super::*;
use crate::ir::{Kind, OnDelete};

/// Changes the rule of a reference of the example.
fn rule(schema: &mut Schema, entity: usize, field: &str, rule: OnDelete) {
    for candidate in &mut schema.entities[entity].fields {
        if let (true, Kind::Reference { on_delete, .. }) = (candidate.key == field, &mut candidate.kind) {
            *on_delete = rule;
        }
    }
}

#[test]
fn a_restricted_record_stays() {
    let mut api = Api::new();
    let customer = api.customer(json!({}));
    let order = api.order(customer, json!({}));
    is_error(&api.delete("/api/customers/1"), "conflict");
    assert_eq!(api.read("/api/customers/1")["deleted"], false);
    assert_eq!(api.delete(&format!("/api/repair-orders/{order}")).status, 204);
    assert_eq!(api.delete("/api/customers/1").status, 204);
}

#[test]
fn references_with_set_null_lose_their_record() {
    let mut api = Api::new();
    let customer = api.customer(json!({}));
    let (first, second) = (api.mechanic(json!({})), api.mechanic(json!({})));
    let order = api.order(customer, json!({"mechanic_id": first}));
    let other = api.order(customer, json!({"mechanic_id": second}));
    assert_eq!(api.delete(&format!("/api/mechanics/{first}")).status, 204);
    is_error(&api.get("/api/mechanics/1"), "not_found");
    assert_eq!(api.read(&format!("/api/repair-orders/{order}"))["mechanic_id"], json!(null));
    assert_eq!(api.read(&format!("/api/repair-orders/{other}"))["mechanic_id"], second);
}

#[test]
fn a_cascade_goes_all_the_way_down() {
    let mut api = Api::from_schema(changed(|schema| rule(schema, 2, "customer", OnDelete::Cascade)));
    let (customer, other) = (api.customer(json!({})), api.customer(json!({})));
    let (order, kept) = (api.order(customer, json!({})), api.order(other, json!({})));
    api.part(order, json!({}));
    api.part(order, json!({}));
    api.part(kept, json!({}));
    assert_eq!(api.delete("/api/customers/1").status, 204);
    assert_eq!(api.column("/api/repair-orders", "id"), json!([kept]));
    assert_eq!(api.column("/api/parts", "id"), json!([3]));
    is_error(&api.get("/api/parts/1"), "not_found");
}

#[test]
fn a_restriction_further_down_keeps_everything() {
    let mut api = Api::from_schema(changed(|schema| {
        rule(schema, 2, "customer", OnDelete::Cascade);
        rule(schema, 3, "order", OnDelete::Restrict);
    }));
    let customer = api.customer(json!({}));
    let (bare, order) = (api.order(customer, json!({})), api.order(customer, json!({})));
    let part = api.part(order, json!({}));
    is_error(&api.delete("/api/customers/1"), "conflict");
    assert_eq!(api.column("/api/repair-orders", "id"), json!([bare, order]));
    assert_eq!(api.read("/api/customers/1")["repair_count"], 2);
    assert_eq!(api.delete(&format!("/api/parts/{part}")).status, 204);
    assert_eq!(api.delete("/api/customers/1").status, 204);
    assert_eq!(api.column("/api/repair-orders", "id"), json!([]));
}

#[test]
fn a_record_that_goes_along_restricts_nothing() {
    // Parts refer to orders (cascade) and to customers (restrict): deleting the customer takes both away.
    let mut api = Api::from_schema(changed(|schema| {
        rule(schema, 2, "customer", OnDelete::Cascade);
        let mut payer = schema.entities[2].fields[0].clone();
        (payer.key, payer.name, payer.required, payer.nullable) =
            ("payer".into(), "payer_id".into(), false, true);
        payer.kind =
            Kind::Reference { entity: "customers".into(), on_delete: OnDelete::Restrict, nested: false };
        schema.entities[3].fields.push(payer);
    }));
    let (customer, other) = (api.customer(json!({})), api.customer(json!({})));
    let order = api.order(customer, json!({}));
    api.part(order, json!({"payer_id": customer}));
    let kept = api.order(other, json!({}));
    let blocking = api.part(kept, json!({"payer_id": customer}));
    is_error(&api.delete("/api/customers/1"), "conflict");
    api.delete(&format!("/api/parts/{blocking}"));
    assert_eq!(api.delete("/api/customers/1").status, 204);
    assert_eq!(api.column("/api/parts", "id"), json!([]));
}

#[test]
fn cascades_mark_where_there_is_soft_delete() {
    let mut api = Api::from_schema(changed(|schema| {
        rule(schema, 2, "customer", OnDelete::Cascade);
        schema.entities[2].soft_delete = true;
    }));
    let customer = api.customer(json!({}));
    let order = api.order(customer, json!({}));
    api.part(order, json!({}));
    assert_eq!(api.delete("/api/customers/1").status, 204);
    assert_eq!(api.column("/api/repair-orders?include_deleted=true", "deleted"), json!([true]));
    assert_eq!(api.column("/api/parts?include_deleted=true", "id"), json!([]));
}

#[test]
fn a_deleted_record_is_seen_in_lists_that_ask_for_it_and_nowhere_else() {
    let mut api = Api::new();
    let customer = api.customer(json!({"full_name": "Ann", "email": "a@b.org"}));
    api.customer(json!({"full_name": "Bea"}));
    assert_eq!(api.delete("/api/customers/1").status, 204);
    let path = format!("/api/customers/{customer}");
    is_error(&api.get(&path), "not_found");
    is_error(&api.put(&path, json!({})), "not_found");
    is_error(&api.patch(&path, json!({})), "not_found");
    is_error(&api.delete(&path), "not_found");
    is_error(&api.post(&format!("{path}/promote"), json!({})), "not_found");
    is_error(&api.get(&format!("{path}/repair-orders")), "not_found");
    assert_eq!(api.column("/api/customers", "id"), json!([2]));
    assert_eq!(api.column("/api/customers?include_deleted=true", "deleted"), json!([true, false]));
    assert_eq!(ok(api.get("/api/customers?include_deleted=true&full_name_contains=Ann"))["total"], 1);
    for value in ["false", "1", "True", ""] {
        assert_eq!(
            api.column(&format!("/api/customers?include_deleted={value}"), "id"),
            json!([2]),
            "{value}"
        );
    }
    // Where records are removed, the parameter is like any other unknown one.
    assert_eq!(ok(api.get("/api/parts?include_deleted=true"))["total"], 0);
}

#[test]
fn deleted_records_do_not_count() {
    let mut api = Api::from_schema(changed(|schema| schema.entities[2].soft_delete = true));
    let customer = api.customer(json!({}));
    let order = api.order(customer, json!({"price": 10, "status": "done"}));
    api.order(customer, json!({"price": 5, "status": "done"}));
    assert_eq!(ok(api.get("/api/analytics/revenue"))["value"].as_f64(), Some(15.0));
    assert_eq!(api.delete(&format!("/api/repair-orders/{order}")).status, 204);
    assert_eq!(ok(api.get("/api/analytics/revenue"))["value"].as_f64(), Some(5.0));
    let shown = api.read("/api/customers/1");
    assert_eq!((&shown["repair_count"], shown["spent"].as_f64()), (&json!(1), Some(5.0)));
    // A deleted record restricts nothing.
    assert_eq!(api.delete("/api/repair-orders/2").status, 204);
    is_error(&api.post("/api/customers/1/promote", json!({})), "refused");
    assert_eq!(api.delete("/api/customers/1").status, 204);
}

#[test]
fn a_delete_can_answer_with_the_record() {
    let mut api = Api::from_schema(changed(|schema| schema.conventions.status.deleted = 200));
    api.customer(json!({"full_name": "Ann"}));
    api.mechanic(json!({"first_name": "Max"}));
    let customer = ok(api.delete("/api/customers/1"));
    assert_eq!((&customer["full_name"], &customer["deleted"]), (&json!("Ann"), &json!(true)));
    assert_eq!(ok(api.delete("/api/mechanics/1"))["first_name"], "Max");
    is_error(&api.delete("/api/mechanics/1"), "not_found");
}
