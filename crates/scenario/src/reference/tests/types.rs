//! Types: what each takes and refuses.

use super::*;

/// Whether a repair order is made with this value in a field, and shown as it was given.
fn takes(api: &mut Api, field: &str, value: &Value) -> bool {
    let customer = api.customer(json!({}));
    let answer = api.post(
        &format!("/api/customers/{customer}/repair-orders"),
        merged(json!({"due_at": "2024-03-01T12:30:00Z"}), json!({field: value})),
    );
    if answer.status != 201 {
        is_error(&answer, "invalid");
        return false;
    }
    assert_eq!(&ok(answer)[field], value);
    true
}

#[track_caller]
fn check(field: &str, good: &[Value], bad: &[Value]) {
    let mut api = Api::new();
    for value in good {
        assert!(takes(&mut api, field, value), "{field} takes {value}");
    }
    for value in bad {
        assert!(!takes(&mut api, field, value), "{field} refuses {value}");
    }
}

#[test]
fn integers() {
    check(
        "hours",
        &[json!(0), json!(1), json!(80)],
        &[json!(-1), json!(81), json!("5"), json!(true), json!(2.5), json!(null), json!([]), json!({})],
    );
}

#[test]
fn an_integer_without_bounds_takes_large_and_negative_ones() {
    let schema = changed(|schema| {
        schema.entities[2].fields[4].kind = crate::ir::Kind::Integer { min: None, max: None };
    });
    let mut api = Api::from_schema(schema);
    for value in [-1_000_000, 1_000_000, 0] {
        assert!(takes(&mut api, "hours", &json!(value)));
    }
}

#[test]
fn numbers() {
    check(
        "price",
        &[json!(0), json!(0.25), json!(999_999.75), json!(null)],
        &[json!(-0.25), json!("1.5"), json!(false), json!([1])],
    );
}

#[test]
fn strings_and_their_lengths_in_characters() {
    check(
        "note",
        &[
            json!(""),
            json!("x".repeat(200)),
            json!("é".repeat(200)),
            json!("🚲".repeat(200)),
            json!(null),
            json!(" "),
        ],
        &[json!("x".repeat(201)), json!("é".repeat(201)), json!(1), json!(true), json!(["x"])],
    );
    let mut api = Api::new();
    for (name, fine) in
        [("é", false), ("ab", true), ("", false), (&"x".repeat(60), true), (&"x".repeat(61), false)]
    {
        let answer =
            api.post("/api/customers", json!({"full_name": name, "email": format!("a{}@b.org", name.len())}));
        assert_eq!(answer.status == 201, fine, "{name}");
    }
}

#[test]
fn a_string_without_rules_takes_any_text() {
    let mut api = Api::new();
    for text in ["", "  x ", "\u{0} \n \"", &"y".repeat(500)] {
        let id = api.mechanic(json!({"first_name": text}));
        assert_eq!(api.read(&format!("/api/mechanics/{id}"))["first_name"], text);
    }
}

#[test]
fn patterns_match_the_whole_text() {
    let mut api = Api::new();
    for (phone, fine) in
        [("+4912345678", true), ("+49", false), ("x+4912345678", false), ("+4912345678\n", false)]
    {
        let answer =
            api.post("/api/customers", json!({"full_name": "Ann", "email": "a@b.org", "phone": phone}));
        assert_eq!(answer.status == 201, fine, "{phone}");
        api.post("/reset", json!({}));
    }
}

#[test]
fn booleans() {
    let mut api = Api::new();
    for (value, fine) in [
        (json!(true), true),
        (json!(false), true),
        (json!("true"), false),
        (json!(1), false),
        (json!(null), false),
    ] {
        let body = json!({"full_name": "Ann", "email": "a@b.org", "newsletter": value});
        assert_eq!(api.post("/api/customers", body).status == 201, fine, "{value}");
        api.post("/reset", json!({}));
    }
}

#[test]
fn date_times_are_real_and_shown_as_given() {
    check(
        "due_at",
        &[json!("2024-02-29T23:59:59Z"), json!("1999-01-01T00:00:00Z")],
        &[
            json!("2023-02-29T00:00:00Z"),
            json!("2024-03-01"),
            json!("2024-03-01T12:30:00"),
            json!("2024-03-01T12:30:00+01:00"),
            json!("2024-03-01T25:00:00Z"),
            json!("soon"),
            json!(1_709_296_200),
            json!(null),
        ],
    );
}

#[test]
fn enums() {
    check(
        "status",
        &[json!("open"), json!("in_work"), json!("done")],
        &[json!("Open"), json!(""), json!("closed"), json!(0), json!(null)],
    );
}

#[test]
fn lists_of_strings() {
    let mut api = Api::new();
    for (skills, fine) in [
        (json!(["a"]), true),
        (json!(["a", "b", "c", "d"]), true),
        (json!(["", "é"]), true),
        (json!([]), false),
        (json!(["a", "b", "c", "d", "e"]), false),
        (json!([1]), false),
        (json!(["a", null]), false),
        (json!("a"), false),
        (json!(null), false),
        (json!({"0": "a"}), false),
    ] {
        let body = json!({"first_name": "A", "last_name": "B", "badge": 1, "skills": skills});
        assert_eq!(api.post("/api/mechanics", body).status == 201, fine, "{skills}");
        api.post("/reset", json!({}));
    }
}

#[test]
fn references_name_a_record_that_is_there() {
    let mut api = Api::new();
    let customer = api.customer(json!({}));
    let removed = api.customer(json!({}));
    assert_eq!(api.delete(&format!("/api/customers/{removed}")).status, 204);
    let due = "2024-03-01T12:30:00Z";
    for bad in
        [json!(removed), json!(99), json!(0), json!(-1), json!("1"), json!(true), json!(null), json!(1.5)]
    {
        is_error(&api.post("/api/repair-orders", json!({"customer_id": bad, "due_at": due})), "invalid");
    }
    let order = api.order(customer, json!({"mechanic_id": null}));
    is_error(&api.patch(&format!("/api/repair-orders/{order}"), json!({"mechanic_id": 1})), "invalid");
    let mechanic = api.mechanic(json!({}));
    let after = ok(api.patch(&format!("/api/repair-orders/{order}"), json!({"mechanic_id": mechanic})));
    assert_eq!(after["mechanic_id"], mechanic);
}
