//! Requests of every kind, made at random: none panics, every answer is a proper one, and one that fails changes nothing.

use proptest::prelude::*;

use super::*;

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..100).prop_map(Value::from),
        prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(1_000_000)].prop_map(Value::from),
        Just(json!(u64::MAX)),
        prop_oneof![Just(0.25), Just(1e308), Just(-1e308), Just(3.0)].prop_map(Value::from),
        prop_oneof![
            Just("gold"),
            Just("open"),
            Just("in_work"),
            Just("a@b.org"),
            Just("b@b.org"),
            Just("+4912345678"),
            Just("2024-03-01T12:30:00Z"),
            Just("Ann"),
            Just(""),
            Just("é🚲\u{0}"),
            Just("1"),
            Just("true"),
        ]
        .prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::btree_map("[a-z]{1,3}", inner, 0..3)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

const KEYS: [&str; 26] = [
    "id",
    "deleted",
    "full_name",
    "email",
    "phone",
    "level",
    "credit",
    "newsletter",
    "spent",
    "first_name",
    "last_name",
    "badge",
    "skills",
    "active",
    "customer_id",
    "mechanic_id",
    "status",
    "price",
    "hours",
    "rate",
    "due_at",
    "note",
    "order_id",
    "title",
    "extra_hours",
    "final_price",
];

/// Bodies: often nearly right, sometimes anything.
fn body() -> impl Strategy<Value = Option<Result<Value, ()>>> {
    let likely = prop_oneof![
        (1_u32..9).prop_map(|n| json!({"full_name": "Ann", "email": format!("c{n}@b.org")})),
        (1_u32..9).prop_map(|n| json!({"first_name": "A", "last_name": "B", "badge": n, "skills": ["x"]})),
        (1_i64..4).prop_map(|id| json!({"customer_id": id, "mechanic_id": id, "due_at": "2024-03-01T12:30:00Z", "status": "in_work"})),
        (1_i64..4).prop_map(|id| json!({"order_id": id, "title": "tube"})),
        (1_i64..90).prop_map(|hours| json!({"extra_hours": hours})),
        Just(json!({"final_price": 5})),
        Just(json!({})),
    ];
    let some = proptest::collection::vec((proptest::sample::select(&KEYS[..]), value()), 0..3);
    prop_oneof![
        6 => (likely, some).prop_map(|(body, more_fields)| {
            let more_fields = more_fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
            Some(Ok(merged(body, Value::Object(more_fields))))
        }),
        1 => value().prop_map(|value| Some(Ok(value))),
        1 => Just(None),
        1 => Just(Some(Err(()))),
    ]
}

fn path() -> impl Strategy<Value = String> {
    let collection =
        proptest::sample::select(&["customers", "mechanics", "repair-orders", "parts", "analytics"][..]);
    let id = prop_oneof![8 => (0_i64..5).prop_map(|id| id.to_string()), 1 => Just("x".to_owned()), 1 => "\\PC{0,4}"];
    let last =
        proptest::sample::select(&["repair-orders", "parts", "promote", "finish", "extend", "nothing"][..]);
    prop_oneof![
        4 => collection.clone().prop_map(|name| format!("/api/{name}")),
        4 => (collection.clone(), id.clone()).prop_map(|(name, id)| format!("/api/{name}/{id}")),
        4 => (collection, id, last).prop_map(|(name, id, last)| format!("/api/{name}/{id}/{last}")),
        1 => proptest::sample::select(
            &["revenue", "orders-by-status", "average-hours", "longest-repair"][..]
        ).prop_map(|name| format!("/api/analytics/{name}")),
        1 => "\\PC{0,12}",
    ]
}

fn request() -> impl Strategy<Value = Request> {
    let method = proptest::sample::select(
        &[Method::Get, Method::Post, Method::Post, Method::Put, Method::Patch, Method::Delete][..],
    );
    let param = prop_oneof![
        proptest::sample::select(
            &[
                "sort",
                "page",
                "page_size",
                "status",
                "customer_id",
                "min_price",
                "max_price",
                "include_deleted",
                "level",
                "full_name_contains",
                "min_due_at",
                "newsletter"
            ][..]
        )
        .prop_map(str::to_owned),
        "\\PC{0,4}",
    ];
    let text = prop_oneof![
        proptest::sample::select(
            &[
                "1",
                "0",
                "-1",
                "true",
                "open",
                "hours",
                "-due_at",
                "9223372036854775807",
                "-9223372036854775808",
                "1e400",
                "2024-03-01T12:30:00Z",
                "-"
            ][..]
        )
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ];
    (method, path(), proptest::collection::vec((param, text), 0..3), body())
        .prop_map(|(method, path, query, body)| Request { method, path, query, body })
}

/// Handles requests one after another and looks at every answer.
fn run(world: &mut World, requests: &[Request], keeps_state: bool) -> Result<(), TestCaseError> {
    for request in requests {
        let before = world.tables.clone();
        let answer = world.handle(request);
        prop_assert!((200..=499).contains(&answer.status), "{request:?}: {answer:?}");
        prop_assert_eq!(answer.body.is_none(), answer.status == 204);
        if keeps_state && answer.status >= 400 {
            prop_assert_eq!(&before, &world.tables, "{:?} failed and changed something", request);
            prop_assert!(answer.body.as_ref().is_some_and(|body| body["error"]["code"].is_string()));
        }
        if keeps_state && request.method == Method::Get {
            prop_assert_eq!(&before, &world.tables, "{:?} changed something", request);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_request_panics_and_a_failed_one_changes_nothing(
        requests in proptest::collection::vec(request(), 1..40)
    ) {
        let mut world = World::new(Arc::new(example()));
        run(&mut world, &requests, true)?;
        // References never point to what is not there.
        for (entity, plan) in world.plan.entities.iter().enumerate() {
            for (index, field) in plan.fields.iter().enumerate() {
                let Some(target) = field.target else { continue };
                for record in world.tables[entity].live_records() {
                    let id = record.value(index).as_i64();
                    prop_assert!(id.is_none_or(|id| world.tables[target].live_record(id).is_some()));
                }
            }
        }
    }

    #[test]
    fn no_request_panics_whatever_the_flaws(
        requests in proptest::collection::vec(request(), 1..30),
        flaws in proptest::collection::btree_set(proptest::sample::select(Flaw::ALL), 1..4),
    ) {
        let mut world = World::flawed(Arc::new(example()), flaws);
        run(&mut world, &requests, false)?;
    }
}
