//! Bodies of creates, replaces and updates; records as they are shown.

use super::*;
use crate::ir::UnknownFields;

#[test]
fn a_create_shows_every_field_and_its_defaults() {
    let mut api = Api::new();
    let answer = api.post("/api/customers", json!({"full_name": "Ann", "email": "ann@example.org"}));
    assert_eq!(answer.status, 201);
    let expected = json!({
        "id": 1, "full_name": "Ann", "email": "ann@example.org", "phone": null, "level": "bronze", "credit": 0.0,
        "newsletter": false, "repair_count": 0, "spent": 0, "deleted": false
    });
    assert_eq!(ok(answer), expected);
    assert_eq!(api.read("/api/customers/1"), expected);
    // Without soft delete nothing shows `deleted`.
    let mechanic = api.mechanic(json!({}));
    assert!(api.read(&format!("/api/mechanics/{mechanic}")).get("deleted").is_none());
}

#[test]
fn ids_count_from_one_per_entity_and_are_not_used_again() {
    let mut api = Api::new();
    assert_eq!((api.mechanic(json!({})), api.mechanic(json!({})), api.customer(json!({}))), (1, 2, 1));
    assert_eq!(api.delete("/api/mechanics/2").status, 204);
    assert_eq!(api.mechanic(json!({"badge": 7})), 3);
    // A create that fails uses up no id.
    is_error(&api.post("/api/mechanics", json!({})), "invalid");
    assert_eq!(api.mechanic(json!({"badge": 8})), 4);
    assert_eq!(api.post("/reset", json!({})).status, 204);
    assert_eq!(api.mechanic(json!({})), 1);
    assert_eq!(api.column("/api/customers", "id"), json!([]));
}

#[test]
fn what_is_no_object_is_invalid() {
    let mut api = Api::new();
    api.customer(json!({}));
    for (method, path) in [
        (Method::Post, "/api/customers"),
        (Method::Put, "/api/customers/1"),
        (Method::Patch, "/api/customers/1"),
    ] {
        for body in [json!([]), json!("x"), json!(1), json!(null), json!(true)] {
            is_error(&api.send(method, path, Some(body)), "invalid");
        }
        is_error(&api.send(method, path, None), "invalid");
        let garbage = Request { method, path: path.to_owned(), query: vec![], body: Some(Err(())) };
        is_error(&api.world.handle(&garbage), "invalid");
    }
}

#[test]
fn read_only_keys_are_ignored_and_unknown_ones_by_convention() {
    for unknown_fields in [UnknownFields::Reject, UnknownFields::Ignore] {
        let mut api = Api::from_schema(changed(|schema| schema.conventions.unknown_fields = unknown_fields));
        let id = api.customer(json!({"id": 99, "deleted": true, "spent": 7, "repair_count": "x"}));
        let shown = api.read("/api/customers/1");
        assert_eq!((id, &shown["spent"], &shown["deleted"]), (1, &json!(0), &json!(false)));
        api.mechanic(json!({"id": "x", "deleted": 1, "display_name": null}));
        let path = "/api/customers/1";
        for answer in [
            api.patch(path, json!({"nickname": "A"})),
            api.put(path, json!({"full_name": "Ann", "email": "a@b.org", "nickname": null})),
            api.post("/api/customers", json!({"full_name": "Ann", "email": "z@b.org", "nickname": 1})),
        ] {
            match unknown_fields {
                UnknownFields::Reject => is_error(&answer, "invalid"),
                UnknownFields::Ignore => assert!(ok(answer).get("nickname").is_none()),
            }
        }
    }
}

#[test]
fn required_fields_must_be_there_also_in_a_replace() {
    let mut api = Api::new();
    let full = json!({"first_name": "A", "last_name": "B", "badge": 5, "skills": ["x"]});
    api.mechanic(json!({"badge": 5}));
    for key in ["first_name", "last_name", "skills", "badge"] {
        let mut body = full.clone();
        body.as_object_mut().expect("an object").remove(key);
        is_error(&api.post("/api/mechanics", body.clone()), "invalid");
        // An immutable field that is not there keeps its value.
        let replaced = api.put("/api/mechanics/1", body);
        if key == "badge" {
            assert_eq!(ok(replaced)["badge"], 5);
        } else {
            is_error(&replaced, "invalid");
        }
    }
}

#[test]
fn a_required_nullable_field_must_be_there_and_may_be_null() {
    let mut api = Api::from_schema(changed(|schema| schema.entities[2].fields[9].required = true));
    let customer = api.customer(json!({}));
    let body = json!({"customer_id": customer, "due_at": "2024-03-01T12:30:00Z"});
    is_error(&api.post("/api/repair-orders", body.clone()), "invalid");
    assert_eq!(ok(api.post("/api/repair-orders", merged(body, json!({"note": null}))))["note"], json!(null));
}

#[test]
fn a_replace_resets_what_is_not_there_and_an_update_does_not() {
    let mut api = Api::new();
    let id =
        api.customer(json!({"level": "gold", "credit": 12.5, "phone": "+4912345678", "newsletter": true}));
    let path = format!("/api/customers/{id}");
    let before = api.read(&path);
    assert_eq!(ok(api.patch(&path, json!({}))), before);
    let updated = ok(api.patch(&path, json!({"phone": null, "credit": 1})));
    assert_eq!(updated, merged(before, json!({"phone": null, "credit": 1})));
    assert_eq!(api.read(&path), updated);
    let replaced = ok(api.put(&path, json!({"full_name": "Bea", "email": "bea@example.org"})));
    let expected = merged(
        updated,
        json!({"full_name": "Bea", "email": "bea@example.org", "level": "bronze", "credit": 0.0, "newsletter": false}),
    );
    assert_eq!(replaced, expected);
    assert_eq!(api.read(&path), expected);
}

#[test]
fn an_update_holds_every_rule_and_changes_nothing_if_one_breaks() {
    let mut api = Api::new();
    let id = api.customer(json!({}));
    let path = format!("/api/customers/{id}");
    let before = api.read(&path);
    for bad in [
        json!({"full_name": null}),
        json!({"credit": 5000.25}),
        json!({"level": "tin"}),
        json!({"email": "x"}),
    ] {
        is_error(&api.patch(&path, merged(json!({"newsletter": true}), bad)), "invalid");
    }
    assert_eq!(api.read(&path), before);
}

#[test]
fn immutable_fields_keep_their_value() {
    let mut api = Api::new();
    let id = api.mechanic(json!({"badge": 5}));
    let path = format!("/api/mechanics/{id}");
    is_error(&api.patch(&path, json!({"badge": 6})), "invalid");
    assert_eq!(ok(api.patch(&path, json!({"badge": 5, "active": false})))["active"], false);
    let body = |badge: i64| json!({"first_name": "N", "last_name": "O", "badge": badge, "skills": ["x"]});
    is_error(&api.put(&path, body(6)), "invalid");
    assert_eq!(ok(api.put(&path, body(5)))["first_name"], "N");
}

#[test]
fn unique_values_conflict_except_nulls_the_record_itself_and_deleted_ones() {
    let mut api = Api::from_schema(changed(|schema| schema.entities[0].fields[2].unique = true));
    let first = api.customer(json!({"email": "a@b.org", "phone": null}));
    let second = api.customer(json!({"email": "b@b.org", "phone": null}));
    is_error(&api.post("/api/customers", json!({"full_name": "Ann", "email": "a@b.org"})), "conflict");
    let path = format!("/api/customers/{second}");
    is_error(&api.patch(&path, json!({"email": "a@b.org"})), "conflict");
    is_error(&api.put(&path, json!({"full_name": "Ann", "email": "a@b.org"})), "conflict");
    assert_eq!(api.patch(&path, json!({"email": "b@b.org"})).status, 200);
    assert_eq!(api.put(&path, json!({"full_name": "Bob", "email": "b@b.org"})).status, 200);
    assert_eq!(api.delete(&format!("/api/customers/{first}")).status, 204);
    assert_eq!(ok(api.patch(&path, json!({"email": "a@b.org"})))["email"], "a@b.org");
}

#[test]
fn computed_fields_follow_what_they_are_computed_from() {
    let mut api = Api::new();
    let customer = api.customer(json!({}));
    let order = api.order(customer, json!({"hours": 3, "rate": 12.5, "price": 10}));
    let other = api.order(customer, json!({"hours": 10, "price": null}));
    let path = format!("/api/repair-orders/{order}");
    assert_eq!(api.read(&path)["labour"].as_f64(), Some(37.5));
    assert_eq!(api.read(&path)["is_large"], false);
    assert_eq!(api.read(&format!("/api/repair-orders/{other}"))["is_large"], true);
    assert_eq!(ok(api.patch(&path, json!({"hours": 4})))["labour"].as_f64(), Some(50.0));
    let mut shown = api.read("/api/customers/1");
    assert_eq!((&shown["repair_count"], shown["spent"].as_f64()), (&json!(2), Some(10.0)));
    api.patch(&path, json!({"price": 12.25}));
    api.delete(&format!("/api/repair-orders/{other}"));
    shown = api.read("/api/customers/1");
    assert_eq!((&shown["repair_count"], shown["spent"].as_f64()), (&json!(1), Some(12.25)));
    let mechanic = api.mechanic(json!({"first_name": "Mia", "last_name": "Lo"}));
    assert_eq!(api.read(&format!("/api/mechanics/{mechanic}"))["display_name"], "Mia Lo");
}

#[test]
fn a_nested_create_takes_the_reference_from_the_path() {
    let mut api = Api::new();
    let (first, second) = (api.customer(json!({})), api.customer(json!({})));
    let due = "2024-03-01T12:30:00Z";
    for given in
        [json!({}), json!({"customer_id": second}), json!({"customer_id": "x"}), json!({"customer_id": null})]
    {
        let body = merged(json!({"due_at": due}), given);
        let response = api.post(&format!("/api/customers/{first}/repair-orders"), body);
        assert_eq!((response.status, &ok(response)["customer_id"]), (201, &json!(first)));
    }
    is_error(&api.post("/api/customers/9/repair-orders", json!({"due_at": due})), "not_found");
    // The parent is looked for before the body is checked.
    is_error(&api.post("/api/customers/9/repair-orders", json!({})), "not_found");
    is_error(&api.post("/api/customers/1/repair-orders", json!({})), "invalid");
}
