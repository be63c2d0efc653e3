//! Lists: filters, order, pages.

use super::*;
use crate::ir::{Case, PaginationStyle};

/// Three customers with orders of different price, status and time.
fn shop() -> Api {
    let mut api = Api::new();
    for (name, level, credit, newsletter) in [
        ("Cara", "gold", 5.0, true),
        ("anna", "bronze", 5.0, false),
        ("Änne", "gold", 1.25, true),
        ("Bea", "silver", 0.0, false),
    ] {
        api.customer(json!({"full_name": name, "level": level, "credit": credit, "newsletter": newsletter}));
    }
    for (customer, price, status, due, hours) in [
        (1, json!(10), "open", "2024-01-01T00:00:00Z", 3),
        (1, json!(10.5), "done", "2024-03-01T00:00:00Z", 1),
        (2, json!(null), "open", "2024-02-01T00:00:00Z", 3),
        (3, json!(20), "in_work", "2024-02-01T00:00:00Z", 2),
    ] {
        api.order(customer, json!({"price": price, "status": status, "due_at": due, "hours": hours}));
    }
    api
}

#[test]
fn filters_hold_all_and_null_never_matches() {
    let mut api = shop();
    for (query, ids) in [
        ("", json!([1, 2, 3, 4])),
        ("?status=open", json!([1, 3])),
        ("?customer_id=1", json!([1, 2])),
        ("?customer_id=1&status=open", json!([1])),
        ("?customer_id=99", json!([])),
        ("?min_price=10", json!([1, 2, 4])),
        ("?min_price=10.25", json!([2, 4])),
        ("?max_price=10", json!([1])),
        ("?min_price=10.5&max_price=20", json!([2, 4])),
        ("?max_price=1000000", json!([1, 2, 4])),
        ("?min_due_at=2024-02-01T00:00:00Z", json!([2, 3, 4])),
        ("?nothing=1&rate=9&max_hours=0", json!([1, 2, 3, 4])),
    ] {
        assert_eq!(api.column(&format!("/api/repair-orders{query}"), "id"), ids, "{query}");
    }
    for (query, ids) in [
        ("?newsletter=true", json!([1, 3])),
        ("?newsletter=false", json!([4, 2])),
        ("?full_name_contains=nn", json!([2, 3])),
        ("?full_name_contains=A", json!([])),
        ("?full_name_contains=a", json!([4, 1, 2])),
        ("?level=gold", json!([1, 3])),
    ] {
        assert_eq!(api.column(&format!("/api/customers{query}"), "id"), ids, "{query}");
    }
}

#[test]
fn filters_that_cannot_be_read_are_invalid() {
    let mut api = shop();
    for query in [
        "status=closed",
        "status=",
        "customer_id=x",
        "customer_id=1.5",
        "min_price=cheap",
        "min_price=",
        "max_price=nan",
        "min_due_at=2024-02-30T00:00:00Z",
        "min_due_at=2024",
    ] {
        is_error(&api.get(&format!("/api/repair-orders?{query}")), "invalid");
    }
    for query in ["newsletter=1", "newsletter=True", "newsletter=", "level=tin"] {
        is_error(&api.get(&format!("/api/customers?{query}")), "invalid");
    }
}

#[test]
fn lists_are_ordered_as_asked_for_with_ties_by_id() {
    let mut api = shop();
    for (query, ids) in [
        ("?sort=hours", json!([2, 4, 1, 3])),
        ("?sort=-hours", json!([1, 3, 4, 2])),
        ("?sort=due_at", json!([1, 3, 4, 2])),
        ("?sort=-due_at", json!([2, 3, 4, 1])),
        ("?sort=-hours&status=open", json!([1, 3])),
    ] {
        assert_eq!(api.column(&format!("/api/repair-orders{query}"), "id"), ids, "{query}");
    }
    // Without a wish: by the default order; strings by code point (capitals, small letters, letters with marks).
    assert_eq!(api.column("/api/customers", "full_name"), json!(["Bea", "Cara", "anna", "Änne"]));
    assert_eq!(api.column("/api/customers?sort=-full_name", "id"), json!([3, 2, 1, 4]));
    assert_eq!(api.column("/api/customers?sort=-credit", "id"), json!([1, 2, 3, 4]));
    for query in
        ["sort=status", "sort=id", "sort=", "sort=-", "sort=--hours", "sort=Hours", "sort=hours,due_at"]
    {
        is_error(&api.get(&format!("/api/repair-orders?{query}")), "invalid");
    }
}

#[test]
fn pages_are_counted_from_one() {
    let mut api = Api::new();
    for _ in 0..25 {
        api.mechanic(json!({}));
    }
    let total = |api: &mut Api, query: &str| {
        let body = ok(api.get(&format!("/api/mechanics{query}")));
        (body["items"].as_array().expect("items").len(), body["total"].as_i64().expect("a total"))
    };
    assert_eq!(total(&mut api, ""), (20, 25));
    assert_eq!(total(&mut api, "?page=2"), (5, 25));
    assert_eq!(total(&mut api, "?page=3"), (0, 25));
    assert_eq!(total(&mut api, "?page=9223372036854775807&page_size=100"), (0, 25));
    assert_eq!(total(&mut api, "?page_size=100"), (25, 25));
    assert_eq!(total(&mut api, "?offset=5&limit=1"), (20, 25));
    assert_eq!(api.column("/api/mechanics?page=3&page_size=4", "id"), json!([9, 10, 11, 12]));
    for query in
        ["page=0", "page=-1", "page=x", "page=1.5", "page=", "page_size=0", "page_size=101", "page_size=all"]
    {
        is_error(&api.get(&format!("/api/mechanics?{query}")), "invalid");
    }
}

#[test]
fn offsets_are_counted_from_zero() {
    let mut api = Api::from_schema(changed(|schema| {
        schema.conventions.pagination.style = PaginationStyle::Offset;
        schema.conventions.pagination.default_size = 5;
        schema.conventions.pagination.max_size = 6;
    }));
    for _ in 0..7 {
        api.mechanic(json!({}));
    }
    for (query, ids) in [
        ("", json!([1, 2, 3, 4, 5])),
        ("?offset=0&limit=2", json!([1, 2])),
        ("?offset=2&limit=2", json!([3, 4])),
        ("?offset=6&limit=6", json!([7])),
        ("?offset=7", json!([])),
        ("?page=2&page_size=0", json!([1, 2, 3, 4, 5])),
    ] {
        assert_eq!(api.column(&format!("/api/mechanics{query}"), "id"), ids, "{query}");
    }
    for query in ["offset=-1", "limit=0", "limit=7", "limit=x", "offset=x"] {
        is_error(&api.get(&format!("/api/mechanics?{query}")), "invalid");
    }
}

#[test]
fn a_nested_list_has_the_children_of_its_parent_only() {
    let mut api = shop();
    assert_eq!(api.column("/api/customers/1/repair-orders", "id"), json!([1, 2]));
    assert_eq!(api.column("/api/customers/1/repair-orders?status=done", "id"), json!([2]));
    assert_eq!(api.column("/api/customers/1/repair-orders?sort=-due_at&page_size=1", "id"), json!([2]));
    assert_eq!(ok(api.get("/api/customers/4/repair-orders")), json!({"items": [], "total": 0}));
    for path in ["/api/customers/9/repair-orders", "/api/customers/x/repair-orders?sort=nothing"] {
        is_error(&api.get(path), "not_found");
    }
    is_error(&api.get("/api/customers/1/repair-orders?status=x"), "invalid");
    // A reference without a nested route has none.
    api.mechanic(json!({}));
    is_error(&api.get("/api/mechanics/1/repair-orders"), "not_found");
}

#[test]
fn names_are_written_in_the_case_of_the_conventions() {
    let mut api = Api::from_schema(changed(|schema| {
        schema.conventions.field_case = Case::Camel;
        schema.conventions.path_case = Case::Snake;
        schema.conventions.prefix = String::new();
        schema.conventions.list = crate::ir::ListShape { items: "data".into(), total: "total_count".into() };
    }));
    ok(api.post("/customers", json!({"fullName": "Ann", "email": "a@b.org"})));
    let due = "2024-01-01T00:00:00Z";
    let order = ok(api.post("/repair_orders", json!({"customerId": 1, "dueAt": due, "price": 5})));
    assert_eq!((&order["dueAt"], &order["isLarge"]), (&json!(due), &json!(false)));
    is_error(&api.post("/customers", json!({"full_name": "Ann", "email": "b@b.org"})), "invalid");
    for query in
        ["minPrice=5&sort=-dueAt&pageSize=1", "customerId=1", "minDueAt=2024-01-01T00:00:00Z", "min_price=9"]
    {
        let body = ok(api.get(&format!("/repair_orders?{query}")));
        assert_eq!(
            (body["data"].as_array().map(Vec::len), &body["total_count"]),
            (Some(1), &json!(1)),
            "{query}"
        );
    }
    is_error(&api.get("/repair_orders?sort=due_at"), "invalid");
    is_error(&api.get("/repair-orders"), "not_found");
    assert_eq!(api.delete("/repair_orders/1").status, 204);
    assert_eq!(api.delete("/customers/1").status, 204);
    assert_eq!(ok(api.get("/customers?includeDeleted=true"))["total_count"], 1);
    assert_eq!(ok(api.get("/customers?include_deleted=true"))["total_count"], 0);
}
