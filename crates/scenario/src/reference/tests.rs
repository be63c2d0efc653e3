//! The rules of `docs/scenarios.md`, one after another, by hand: no expectation comes from the implementation.

mod actions;
mod analytics;
mod bodies;
mod deletion;
mod errors;
mod flaws;
mod lists;
mod random;
mod types;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Flaw, Request, Response, World};
use crate::ir::{Schema, example};
use crate::suite::Method;

/// A server that is talked to as a client would.
struct Api {
    world: World,
}

impl Api {
    fn new() -> Self {
        Self::from_schema(example())
    }

    fn from_schema(schema: Schema) -> Self {
        Self { world: World::new(Arc::new(schema)) }
    }

    fn flawed(schema: Schema, flaw: Flaw) -> Self {
        Self { world: World::flawed(Arc::new(schema), BTreeSet::from([flaw])) }
    }

    /// A request; what follows `?` in the target are its parameters, not encoded.
    fn send(&mut self, method: Method, target: &str, body: Option<Value>) -> Response {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let response =
            self.world.handle(&Request { method, path: path.to_owned(), query, body: body.map(Ok) });
        assert_eq!(response.body.is_none(), response.status == 204, "{target}: {response:?}");
        response
    }

    fn get(&mut self, target: &str) -> Response {
        self.send(Method::Get, target, None)
    }

    fn post(&mut self, target: &str, body: Value) -> Response {
        self.send(Method::Post, target, Some(body))
    }

    fn put(&mut self, target: &str, body: Value) -> Response {
        self.send(Method::Put, target, Some(body))
    }

    fn patch(&mut self, target: &str, body: Value) -> Response {
        self.send(Method::Patch, target, Some(body))
    }

    fn delete(&mut self, target: &str) -> Response {
        self.send(Method::Delete, target, None)
    }

    /// The record that is there.
    fn read(&mut self, target: &str) -> Value {
        ok(self.get(target))
    }

    /// The values of a key in a list's items.
    fn column(&mut self, target: &str, key: &str) -> Value {
        let body = ok(self.get(target));
        let items = body["items"].as_array().expect("items");
        items.iter().map(|item| item[key].clone()).collect()
    }

    /// A customer with what is given and what is required.
    fn customer(&mut self, more_fields: Value) -> i64 {
        let n = self.world.tables[0].last_id + 1;
        self.make(
            "/api/customers",
            json!({"full_name": "Ann", "email": format!("c{n}@example.org")}),
            more_fields,
        )
    }

    fn mechanic(&mut self, more_fields: Value) -> i64 {
        let n = self.world.tables[1].last_id + 1;
        let body = json!({"first_name": "Max", "last_name": "M", "badge": n, "skills": ["wheels"]});
        self.make("/api/mechanics", body, more_fields)
    }

    fn order(&mut self, customer: i64, more_fields: Value) -> i64 {
        let body = json!({"customer_id": customer, "due_at": "2024-03-01T12:30:00Z"});
        self.make("/api/repair-orders", body, more_fields)
    }

    fn part(&mut self, order: i64, more_fields: Value) -> i64 {
        self.make("/api/parts", json!({"order_id": order, "title": "tube"}), more_fields)
    }

    fn make(&mut self, path: &str, body: Value, more_fields: Value) -> i64 {
        let answer = self.post(path, merged(body, more_fields));
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.body.expect("a record")["id"].as_i64().expect("an id")
    }
}

fn merged(mut body: Value, more_fields: Value) -> Value {
    if let (Value::Object(body), Value::Object(more_fields)) = (&mut body, more_fields) {
        body.extend(more_fields);
    }
    body
}

/// The body of an answer with status 200 or 201.
#[track_caller]
fn ok(response: Response) -> Value {
    assert!(matches!(response.status, 200 | 201), "{response:?}");
    response.body.expect("a body")
}

/// Whether the answer is this error, as the example's conventions have it.
#[track_caller]
fn is_error(response: &Response, kind: &str) {
    let (status, code) = match kind {
        "invalid" => (422, "validation_error"),
        "not_found" => (404, "not_found"),
        "conflict" => (409, "conflict"),
        "refused" => (409, "not_allowed"),
        other => panic!("no such kind: {other}"),
    };
    let body = response.body.as_ref().expect("a body");
    assert_eq!((response.status, &body["error"]["code"]), (status, &json!(code)), "{body}");
    assert!(body["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
    assert_eq!(body.as_object().map(serde_json::Map::len), Some(1));
    assert_eq!(body["error"].as_object().map(serde_json::Map::len), Some(2));
}

/// The example with one thing changed in its YAML.
fn changed(change: impl FnOnce(&mut Schema)) -> Schema {
    let mut schema = example();
    change(&mut schema);
    schema
}
