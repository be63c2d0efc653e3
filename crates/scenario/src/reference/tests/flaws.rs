//! Every flaw can be seen from outside: one long conversation with servers of a few schemas, flawed and not.

use super::Method::{Delete, Get, Patch, Post, Put};
use super::*;
use crate::ir::{ErrorShape, Kind, Measure, OnDelete, Operand};

/// The example, and variants that have what it lacks.
fn schemas() -> Vec<Schema> {
    let on_delete = |schema: &mut Schema, entity: usize, field: usize, rule: OnDelete| {
        if let Kind::Reference { on_delete, .. } = &mut schema.entities[entity].fields[field].kind {
            *on_delete = rule;
        }
    };
    let soft = changed(|schema| {
        schema.entities[2].soft_delete = true;
        schema.entities[0].fields[2].unique = true;
        schema.conventions.error = ErrorShape::Flat { code: "code".into(), message: "message".into() };
        on_delete(schema, 2, 1, OnDelete::Cascade);
        schema.analytics[1].group_by = Some("mechanic".into());
        schema.analytics[2].group_by = None;
        schema.analytics[2].only = None;
        schema.analytics[2].measure = Measure::Average("price".into());
        if let crate::ir::Effect::Create { values, .. } = &mut schema.entities[2].actions[1].effects[1] {
            values[1].from = Operand::Own("hours".into());
        }
        schema.entities[2].actions[0].effects.reverse();
    });
    let strict = changed(|schema| {
        on_delete(schema, 2, 1, OnDelete::Cascade);
        on_delete(schema, 3, 0, OnDelete::Restrict);
        schema.entities[2].actions[1].effects.reverse();
        schema.entities[2].actions[0].guards.remove(1);
    });
    vec![example(), soft, strict]
}

/// All answers of a server to the same requests.
fn conversation(schema: Schema, flaw: Option<Flaw>) -> Vec<Response> {
    let mut api = match flaw {
        Some(flaw) => Api::flawed(schema, flaw),
        None => Api::from_schema(schema),
    };
    let due = "2024-03-01T12:30:00Z";
    let mut answers = Vec::new();
    let mut say = |method: Method, target: &str, body: Option<Value>| {
        answers.push(api.send(method, target, body));
    };
    // Twice the same, so that what a reset leaves behind is seen.
    for _ in 0..2 {
        say(Post, "/reset", None);
        // Customers: bodies, types, unique values.
        for body in [
            json!({"full_name": " Ann ", "email": "a@b.org", "level": "gold", "credit": 0}),
            json!({"full_name": "Bea", "email": "b@b.org", "phone": "+4912345678", "id": 40, "credit": 1.5}),
            json!({"full_name": "cara", "email": "c@b.org", "credit": 1.5, "newsletter": true}),
            json!({"full_name": "Dora", "email": "a@b.org"}),
            json!({"full_name": "Dora", "email": "a@b.org", "credit": -1}),
            json!({"full_name": "Dora", "email": "d@b.org", "credit": "1"}),
            json!({"full_name": "Dora", "email": "e@b.org", "credit": true}),
            json!({"full_name": "Dora", "email": "f@b.org", "newsletter": "true"}),
            json!({"full_name": "Dora", "email": "g@b.org", "level": "tin"}),
            json!({"full_name": "Dora", "email": "h@b.org", "level": "GOLD"}),
            json!({"full_name": "Dora", "email": "i@b.org", "level": null}),
            json!({"full_name": 12, "email": "j@b.org"}),
            json!({"full_name": "é", "email": "k@b.org"}),
            json!({"email": "l@b.org"}),
            json!([]),
        ] {
            say(Post, "/api/customers", Some(body));
        }
        say(
            Post,
            "/api/mechanics",
            Some(json!({"first_name": "", "last_name": "B", "badge": 5, "skills": ["x"]})),
        );
        say(
            Post,
            "/api/mechanics",
            Some(json!({"first_name": "C", "last_name": "D", "badge": 6, "skills": ["x"], "active": false})),
        );
        say(
            Post,
            "/api/mechanics",
            Some(json!({"first_name": "C", "last_name": "D", "badge": 7, "skills": [1]})),
        );
        say(
            Post,
            "/api/mechanics",
            Some(json!({"first_name": "C", "last_name": "D", "badge": 1.5, "skills": ["x"]})),
        );
        for body in [
            json!({"customer_id": 1, "due_at": due, "mechanic_id": 1, "status": "in_work", "price": 10, "hours": 10}),
            json!({"customer_id": 1, "due_at": "2024-02-01T00:00:00Z", "hours": 10, "status": "done", "price": 5.5}),
            json!({"customer_id": 2, "due_at": "2024-01-01T00:00:00Z", "mechanic_id": 2, "hours": 3, "status": "in_work"}),
            json!({"customer_id": 2, "due_at": due, "mechanic_id": 1, "price": 20}),
            json!({"customer_id": 9, "due_at": due}),
            json!({"customer_id": 1, "due_at": "2024-02-30T00:00:00Z"}),
            json!({"customer_id": 1, "due_at": "soon"}),
            json!({"customer_id": 1, "due_at": due, "hours": 80}),
        ] {
            say(Post, "/api/repair-orders", Some(body));
        }
        say(Post, "/api/customers/2/repair-orders", Some(json!({"customer_id": 1, "due_at": due})));
        say(Post, "/api/customers/77/repair-orders", Some(json!({"due_at": due})));
        // Lists.
        for query in [
            "status=open",
            "min_price=10&max_price=10",
            "min_price=10",
            "customer_id=1&status=done",
            "min_price=cheap",
            "sort=hours",
            "sort=-hours",
            "sort=status",
            "page=1&page_size=2",
            "page=2&page_size=2",
            "page_size=101",
            "page=0",
            "page=x",
        ] {
            say(Get, &format!("/api/repair-orders?{query}"), None);
        }
        for query in ["", "full_name_contains=A", "full_name_contains=nn", "sort=-credit", "level=gold"] {
            say(Get, &format!("/api/customers?{query}"), None);
        }
        say(Get, "/api/customers/2/repair-orders", None);
        say(Get, "/api/customers/77/repair-orders", None);
        // Replaces and updates.
        say(Patch, "/api/customers/1", None);
        say(Patch, "/api/customers/1", Some(json!({"email": "a@b.org"})));
        say(Patch, "/api/customers/1", Some(json!({"email": "b@b.org"})));
        say(Patch, "/api/customers/1", Some(json!({"credit": 2, "level": null})));
        say(Patch, "/api/customers/1", Some(json!({"newsletter": true})));
        say(Put, "/api/customers/1", Some(json!({"full_name": "Zoe", "email": "a@b.org"})));
        say(Put, "/api/customers/88", Some(json!({"full_name": "Ann", "email": "z@b.org"})));
        say(Put, "/api/customers/88", Some(json!({})));
        let mechanic =
            |badge: Value| json!({"first_name": "N", "last_name": "M", "badge": badge, "skills": ["x"]});
        say(Put, "/api/mechanics/1", Some(json!({"first_name": "N", "last_name": "M", "skills": ["x"]})));
        say(Put, "/api/mechanics/1", Some(mechanic(json!(5))));
        say(Put, "/api/mechanics/1", Some(mechanic(json!(55))));
        say(Patch, "/api/mechanics/1", Some(json!({"badge": 56})));
        say(Patch, "/api/repair-orders/2", Some(json!({"hours": 11, "mechanic_id": 9})));
        say(Patch, "/api/repair-orders/2", Some(json!({"hours": 11})));
        say(Get, "/api/repair-orders/2", None);
        say(Get, "/api/customers/1", None);
        // Analytics.
        for query in [
            "revenue",
            "revenue?customer_id=1",
            "revenue?customer_id=9",
            "revenue?customer_id=x",
            "orders-by-status",
            "average-hours",
            "longest-repair",
            "nothing",
        ] {
            say(Get, &format!("/api/analytics/{query}"), None);
        }
        // Actions.
        say(Post, "/api/repair-orders/1/finish", Some(json!({"final_price": -1})));
        say(Post, "/api/repair-orders/2/finish", Some(json!({"final_price": 3})));
        say(Get, "/api/repair-orders/2", None);
        say(Post, "/api/repair-orders/3/finish", Some(json!({"final_price": 3})));
        say(Patch, "/api/repair-orders/3", Some(json!({"mechanic_id": null})));
        say(Post, "/api/repair-orders/3/finish", Some(json!({"final_price": 3})));
        say(Get, "/api/repair-orders/3", None);
        say(Post, "/api/repair-orders/1/extend", Some(json!({"extra_hours": 75})));
        say(Get, "/api/repair-orders/1", None);
        say(Get, "/api/parts", None);
        say(Post, "/api/repair-orders/1/extend", Some(json!({"extra_hours": 5})));
        say(Get, "/api/parts", None);
        say(Post, "/api/repair-orders/1/finish", Some(json!({"final_price": 3})));
        say(Post, "/api/customers/3/promote", None);
        say(Post, "/api/customers/2/promote", None);
        say(Post, "/api/customers/2/promote", None);
        // Deletion.
        say(Delete, "/api/mechanics/2", None);
        say(
            Post,
            "/api/mechanics",
            Some(json!({"first_name": "C", "last_name": "D", "badge": 8, "skills": ["x"]})),
        );
        say(
            Post,
            "/api/repair-orders",
            Some(json!({"customer_id": 3, "due_at": due, "mechanic_id": 1, "price": 1})),
        );
        say(Delete, "/api/customers/3", None);
        say(Delete, "/api/mechanics/1", None);
        for list in ["repair-orders", "parts", "mechanics", "customers"] {
            say(Get, &format!("/api/{list}"), None);
        }
        say(Delete, "/api/repair-orders/6", None);
        say(Delete, "/api/customers/3", None);
        say(Get, "/api/customers/3", None);
        say(Get, "/api/customers", None);
        say(Get, "/api/customers?include_deleted=true", None);
        say(Post, "/api/repair-orders", Some(json!({"customer_id": 3, "due_at": due})));
        say(Post, "/api/customers", Some(json!({"full_name": "New", "email": "c@b.org"})));
        for query in ["revenue", "orders-by-status", "average-hours", "longest-repair"] {
            say(Get, &format!("/api/analytics/{query}"), None);
        }
    }
    // Without any record.
    say(Post, "/reset", None);
    for query in ["revenue", "orders-by-status", "average-hours", "longest-repair"] {
        say(Get, &format!("/api/analytics/{query}"), None);
    }
    answers
}

#[test]
fn every_flaw_is_seen_from_outside() {
    let honest: Vec<Vec<Response>> = schemas().into_iter().map(|schema| conversation(schema, None)).collect();
    let unseen: Vec<Flaw> = Flaw::ALL
        .iter()
        .copied()
        .filter(|&flaw| {
            schemas()
                .into_iter()
                .zip(&honest)
                .all(|(schema, honest)| conversation(schema, Some(flaw)) == *honest)
        })
        .collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}
