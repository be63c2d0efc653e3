use std::collections::HashSet;

use serde_json::json;

use super::{flask, pytest, test_name};
use crate::Seed;
use crate::ir::{Schema, example};
use crate::suite::{Assertion, Method, RecordStep, RequestStep, Step, Suite, suite};

fn suite_of_example() -> Suite {
    suite(Seed { base: 0, scenario: 0 }, &example(), None)
}

/// Names of 40 characters everywhere, as long as they may be.
fn with_long_names() -> Schema {
    let mut schema = example();
    let long =
        |name: &str| format!("{}_{name}", "long".repeat(10))[..40 - name.len() - 1].to_owned() + "_" + name;
    for entity in &mut schema.entities {
        entity.name = long(&entity.name);
        entity.plural = long(&entity.plural);
        for field in &mut entity.fields {
            field.name = long(&field.name);
        }
        for action in &mut entity.actions {
            action.name = long(&action.name);
            for param in &mut action.params {
                param.name = long(&param.name);
            }
        }
    }
    schema
}

#[test]
fn lines_of_a_server_stay_short() {
    // Names as long as they may be make a few lines longer; breaking those too would not be easier to read.
    for (schema, limit) in [(example(), 110), (with_long_names(), 160)] {
        let code = flask(&schema);
        for line in code.lines() {
            assert!(line.len() <= limit, "{line}");
            assert_eq!(line.trim_end(), line, "space at the end of a line");
            assert!(!line.contains('\t'));
        }
        assert!(code.ends_with('\n') && !code.ends_with("\n\n"));
    }
}

#[test]
fn a_server_has_nothing_that_it_does_not_call() {
    let mut schema = example();
    for entities in (0..=schema.entities.len()).rev() {
        schema.entities.truncate(entities);
        schema
            .analytics
            .retain(|analytic| schema.entities.iter().any(|entity| entity.key == analytic.entity));
        let code = flask(&schema);
        let defined = code.lines().filter_map(|line| line.strip_prefix("def ")?.split('(').next());
        for name in defined {
            let is_route = code.contains(&format!("\")\ndef {name}("));
            let is_handler = name.starts_with("answer_unknown");
            // Three shared functions belong to every server, also to one without entities.
            let always = entities == 0 && ["invalid", "json_object", "query_integer"].contains(&name);
            assert!(
                is_route || is_handler || always || code.matches(name).count() > 1,
                "{name} is never used"
            );
        }
    }
}

#[test]
fn every_case_is_a_test_whose_name_says_its_id() {
    let suite = suite_of_example();
    let code = pytest(&suite);
    let names: Vec<&str> =
        code.lines().filter_map(|line| line.strip_prefix("def test_")?.strip_suffix("():")).collect();
    let ids: Vec<String> = names.iter().map(|name| name.replace("__", ".")).collect();
    assert_eq!(ids, suite.cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>());
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    assert_eq!(test_name("orders.create.minimal"), "test_orders__create__minimal");
}

#[test]
fn steps_are_written_out() {
    let mut suite = suite_of_example();
    suite.cases.truncate(1);
    suite.cases[0].steps = vec![
        Step::Request(RequestStep {
            method: Method::Get,
            path: "/a{b".to_owned(),
            query: vec![("x".to_owned(), "\"{first.id}\"".to_owned())],
            body: None,
            status: 200,
            expect: vec![
                Assertion::Equal { at: "/items/0/a~1b".to_owned(), value: json!({"$": "first.list.1.name"}) },
                Assertion::Absent { at: "/note".to_owned() },
                Assertion::Text { at: String::new() },
            ],
            keep: Some("class".to_owned()),
        }),
        Step::Request(RequestStep {
            method: Method::Post,
            path: "/b/{class.id}".to_owned(),
            query: Vec::new(),
            body: Some(json!(null)),
            status: 201,
            expect: Vec::new(),
            keep: None,
        }),
    ];
    let code = pytest(&suite);
    let test = &code[code.find("def test_").expect("a test")..];
    let body: Vec<&str> = test.lines().skip(2).map(str::trim).collect();
    assert_eq!(
        body,
        [
            r#"get("/a{b", 200, equal("/items/0/a~1b", the("first.list.1.name")), absent("/note"), a_text(""), query=[("x", "\"{first.id}\"")], keep="class")"#,
            r#"post("/b/{class.id}", None, 201)"#,
        ]
    );
}

#[test]
fn what_builders_say_is_not_said_again() {
    let mut suite = suite_of_example();
    suite.cases.truncate(1);
    let builder = suite.builders.remove(0);
    let (key, path) = (builder.entity.clone(), builder.path.clone());
    suite.builders = vec![builder];
    suite.builders[0].bodies =
        vec![json!({"a": 1, "b": "x", "c": true}), json!({"a": 2, "b": "y", "c": {"$": "one.id"}})];
    let make = |nth: u32, keep: String, values: serde_json::Value| {
        let values = values.as_object().cloned().unwrap_or_default();
        Step::Record(RecordStep { make: key.clone(), nth, keep, with: values })
    };
    let send = |method, path, body, status| {
        Step::Request(RequestStep {
            method,
            path,
            query: Vec::new(),
            body,
            status,
            expect: Vec::new(),
            keep: None,
        })
    };
    suite.cases[0].steps = vec![
        make(1, format!("{key}_1"), json!({})),
        make(1, format!("{key}_3"), json!({"class": 1})),
        make(2, "other".to_owned(), json!({"a": 3})),
        send(
            Method::Post,
            path.clone(),
            Some(json!({"a": 2, "b": "y", "c": {"$": "one.id"}, "d": null})),
            201,
        ),
        send(Method::Put, format!("{path}/{{{key}_1.id}}"), Some(json!({"a": 1, "b": "x"})), 422),
        send(Method::Post, path.clone(), Some(json!({"e": 1})), 422),
        send(Method::Post, path.clone(), None, 422),
        send(Method::Delete, format!("{path}/{{{key}_1.id}}"), Some(json!([])), 204),
        send(
            Method::Post,
            format!("{path}/{{{key}_1.id}}/do"),
            Some(json!({"a": 1, "b": "x", "c": true})),
            200,
        ),
    ];
    let code = pytest(&suite);
    let test = &code[code.find("def test_").expect("a test")..];
    let body: Vec<String> = test.lines().skip(2).map(|line| line.trim().replace(&key, "key")).collect();
    assert_eq!(
        body,
        [
            r#"make("key_1", "key_3", **{"class": 1})"#,
            r#"post(records["key"][0], {**records["key"][2][1], **{"a": 3}}, records["key"][1], keep="other")"#,
            r#"post("key", like("key_2", d=None), 201)"#,
            r#"put("key_1", like("key_1", c=NOTHING), 422)"#,
            r#"post("key", {"e": 1}, 422)"#,
            r#"post("key", NOTHING, 422)"#,
            r#"send("DELETE", "key_1", [], 204, [], [], None)"#,
            r#"post("key_1/do", {"a": 1, "b": "x", "c": True}, 200)"#,
        ]
    );
    let written =
        String::from_utf8(suite.to_json().expect("it can be written")).expect("text").replace(&key, "key");
    let steps = written.split(r#""steps":"#).nth(1).expect("steps");
    assert_eq!(
        steps.trim_end(),
        concat!(
            r#"["key_1",["key_3",{"class":1}],{"make":"key","nth":2,"as":"other","with":{"a":3}},"#,
            r#"["POST","key",201,{"like":"key_2","with":{"d":null}}],["PUT","key_1",422,{"like":"key_1","without":["c"]}],"#,
            r#"["POST","key",422,{"body":{"e":1}}],["POST","key",422],["DELETE","key_1",204,{"body":[]}],"#,
            r#"["POST","key_1/do",200,{"body":{"a":1,"b":"x","c":true}}]]}"#,
            "\n]}"
        )
    );
    let read = Suite::from_json(&suite.to_json().expect("it can be written")).expect("it can be read");
    assert_eq!(read, suite);
}
