//! Routes, error bodies and the order of checks.

use super::*;
use crate::ir::{ErrorCodes, ErrorShape, Statuses};

#[test]
fn what_is_not_named_is_not_found() {
    let mut api = Api::new();
    let customer = api.customer(json!({}));
    api.mechanic(json!({}));
    api.order(customer, json!({}));
    for (method, path) in [
        (Method::Get, "/"),
        (Method::Get, ""),
        (Method::Get, "/api"),
        (Method::Get, "/api/"),
        (Method::Get, "/api/customer"),
        (Method::Get, "/customers"),
        (Method::Get, "/apicustomers"),
        (Method::Get, "/api/customers/"),
        (Method::Get, "/api/customers/0"),
        (Method::Get, "/api/customers/2"),
        (Method::Get, "/api/customers/-1"),
        (Method::Get, "/api/customers/x"),
        (Method::Get, "/api/customers/1.0"),
        (Method::Get, "/api/customers/99999999999999999999"),
        (Method::Get, "/api/customers/1/"),
        (Method::Get, "/api/customers/1/parts"),
        (Method::Get, "/api/customers/1/repair-orders/1"),
        (Method::Get, "/api/customers/1/promote"),
        (Method::Get, "/api/repair_orders"),
        (Method::Get, "/api/analytics"),
        (Method::Get, "/api/analytics/nothing"),
        (Method::Post, "/api/analytics/revenue"),
        (Method::Post, "/api/customers/1"),
        (Method::Post, "/api/mechanics/1/promote"),
        (Method::Put, "/api/customers"),
        (Method::Delete, "/api/customers"),
        (Method::Patch, "/api/customers/1/promote"),
        (Method::Get, "/reset"),
        (Method::Post, "/api/reset"),
    ] {
        is_error(&api.send(method, path, None), "not_found");
    }
    assert_eq!(ok(api.get("/api/customers"))["total"], 1);
}

#[test]
fn errors_have_the_shape_codes_and_statuses_of_the_schema() {
    let mut api = Api::from_schema(changed(|schema| {
        schema.conventions.error = ErrorShape::Flat { code: "type".into(), message: "detail".into() };
        schema.conventions.codes = ErrorCodes {
            invalid: "bad".into(),
            not_found: "missing".into(),
            conflict: "taken".into(),
            refused: "no".into(),
        };
        schema.conventions.status =
            Statuses { created: 200, deleted: 200, invalid: 400, conflict: 400, refused: 403 };
    }));
    let response = api.post("/api/customers", json!({"full_name": "Ann", "email": "a@b.org"}));
    assert_eq!(response.status, 200);
    for (answer, status, code) in [
        (api.get("/api/customers/2"), 404, "missing"),
        (api.post("/api/customers", json!({})), 400, "bad"),
        (api.post("/api/customers", json!({"full_name": "Ann", "email": "a@b.org"})), 400, "taken"),
        (api.post("/api/customers/1/promote", json!({})), 403, "no"),
    ] {
        let body = answer.body.expect("a body");
        assert_eq!((answer.status, &body["type"]), (status, &json!(code)));
        assert!(body["detail"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
        assert_eq!(body.as_object().map(serde_json::Map::len), Some(2));
    }
}

#[test]
fn checks_come_in_their_order() {
    let mut api = Api::new();
    api.customer(json!({"email": "a@b.org"}));
    // Record before body.
    for answer in [api.put("/api/customers/2", json!([])), api.patch("/api/customers/2", json!({"email": 1}))]
    {
        is_error(&answer, "not_found");
    }
    // Body before unique values, wherever the field stands.
    let two_errors = json!({"full_name": "Ann", "email": "a@b.org", "credit": -1});
    is_error(&api.post("/api/customers", two_errors), "invalid");
    is_error(&api.post("/api/customers", json!({"full_name": "Ann", "email": "a@b.org", "x": 1})), "invalid");
    is_error(&api.post("/api/customers", json!({"full_name": "Ann", "email": "a@b.org"})), "conflict");
}
