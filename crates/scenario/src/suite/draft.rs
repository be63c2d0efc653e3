//! A case while it is written: steps, what they need before them, and the clauses that state what they demand.

use serde_json::{Map, Value};

use super::failure::Failure;
use super::plan::{BODIES, EntityFacts, FieldFacts, SuitePlan};
use super::{Aspect, Assertion, Case, Mark, Method, RecordStep, RequestStep, Step};

/// A case that is being written.
#[derive(Debug)]
pub(super) struct Draft<'p, 'a> {
    pub(super) plan: &'p SuitePlan<'a>,
    case: Case,
    records: Vec<(&'p str, u32)>,
}

impl<'p, 'a> Draft<'p, 'a> {
    /// A case with an id.
    pub(super) fn new(plan: &'p SuitePlan<'a>, id: String, aspect: Aspect, title: String) -> Self {
        let case = Case {
            id,
            title,
            aspect,
            mark: Mark::New,
            clauses: Vec::with_capacity(6),
            steps: Vec::with_capacity(4),
        };
        Self { plan, case, records: Vec::new() }
    }

    /// A case of an entity.
    pub(super) fn from_facts(
        plan: &'p SuitePlan<'a>,
        facts: &EntityFacts<'a>,
        tail: &str,
        aspect: Aspect,
        title: String,
    ) -> Self {
        let mut draft = Self::new(plan, format!("{}.{tail}", facts.key), aspect, title);
        draft.case.clauses.push("operations".to_owned());
        draft.case.clauses.push(facts.key.to_owned());
        draft
    }

    /// A case of a field.
    pub(super) fn from_field(
        plan: &'p SuitePlan<'a>,
        facts: &EntityFacts<'a>,
        part: &FieldFacts<'a>,
        tail: &str,
        aspect: Aspect,
        title: String,
    ) -> Self {
        let mut draft = Self::new(plan, format!("{}.{tail}", part.clause), aspect, title);
        draft.case.clauses.push("operations".to_owned());
        draft.case.clauses.push(facts.key.to_owned());
        draft.case.clauses.push(part.clause.clone());
        draft
    }

    /// Names clauses that state what the case demands.
    pub(super) fn cite_clauses(&mut self, clauses: &[&str]) -> &mut Self {
        for &clause in clauses {
            if !self.case.clauses.iter().any(|known| known == clause) {
                self.case.clauses.push(clause.to_owned());
            }
        }
        self
    }

    /// Names the clauses of all fields of an entity.
    pub(super) fn cite_all(&mut self, facts: &EntityFacts<'a>) -> &mut Self {
        for part in &facts.parts {
            self.cite_clauses(&[&part.clause]);
        }
        if facts.entity.soft_delete {
            let clause = format!("{}.soft_delete", facts.key);
            self.cite_clauses(&["soft_delete", &clause]);
        }
        self.cite_clauses(&["records.shown"])
    }

    /// Makes the `n`th record of an entity, and before it what it needs.
    pub(super) fn make(&mut self, facts: &EntityFacts<'a>, n: u32) -> &mut Self {
        self.make_with(facts, n, Map::new())
    }

    /// Makes the `n`th record with one other value.
    pub(super) fn make_one(
        &mut self,
        facts: &EntityFacts<'a>,
        n: u32,
        part: &FieldFacts<'a>,
        value: Value,
    ) -> &mut Self {
        let mut values = Map::with_capacity(1);
        values.insert(part.json.clone(), value);
        self.make_with(facts, n, values)
    }

    /// Makes the `n`th record with other values. Past the bodies of the builder those are used again, with values of
    /// their own where they are unique.
    pub(super) fn make_with(
        &mut self,
        facts: &EntityFacts<'a>,
        n: u32,
        mut values: Map<String, Value>,
    ) -> &mut Self {
        if n > BODIES {
            for part in facts.parts.iter().filter(|part| part.field.required && part.field.unique) {
                values.entry(part.json.clone()).or_insert_with(|| part.value(n));
            }
        }
        for part in &facts.parts {
            if part.field.required && !values.contains_key(&part.json) {
                self.needs(part.field.target(), 1);
            }
        }
        self.needs_all(&values);
        if let Some(entity_count) = self.plan.made_entity(facts.key) {
            self.records.push((entity_count.key, n));
        }
        self.case.steps.push(Step::Record(RecordStep {
            make: facts.key.to_owned(),
            nth: 1 + (n - 1) % BODIES,
            keep: format!("{}_{n}", facts.key),
            with: values,
        }));
        self
    }

    /// The number of the next record of an entity.
    pub(super) fn next(&self, key: &str) -> u32 {
        self.records.iter().filter(|record| record.0 == key).map(|record| record.1).max().unwrap_or(0) + 1
    }

    /// The numbers of the records of an entity that were made.
    pub(super) fn numbers(&self, key: &str) -> Vec<u32> {
        self.records.iter().filter(|record| record.0 == key).map(|record| record.1).collect()
    }

    /// Makes a record unless the case has it already.
    pub(super) fn needs(&mut self, key: Option<&str>, n: u32) {
        let Some(facts) = key.and_then(|key| self.plan.made_entity(key)) else { return };
        if !self.records.contains(&(facts.key, n)) {
            self.make(facts, n);
        }
    }

    /// Makes the records that a body refers to.
    fn needs_all(&mut self, body: &Map<String, Value>) {
        for value in body.values() {
            let name = value.as_object().and_then(|value| value.get("$")).and_then(Value::as_str);
            let place = name.and_then(|name| name.strip_suffix(".id")).and_then(|name| name.rsplit_once('_'));
            if let Some((key, n)) = place
                && let Ok(n) = n.parse()
            {
                self.needs(Some(key), n);
            }
        }
    }

    /// Sends a request, after making what its body refers to.
    pub(super) fn send(&mut self, send: RequestStep) -> &mut Self {
        if let Some(Value::Object(body)) = &send.body {
            self.needs_all(body);
        }
        self.case.steps.push(Step::Request(send));
        self
    }

    /// Sends a create.
    pub(super) fn create(&mut self, facts: &EntityFacts<'a>, body: Value) -> RequestStep {
        RequestStep::new(Method::Post, facts.path.clone(), Some(body), self.plan.created_status())
    }

    /// Sends a delete.
    pub(super) fn delete(&mut self, facts: &EntityFacts<'a>, n: u32) -> &mut Self {
        let status = self.plan.deleted();
        self.case.steps.push(Step::Request(RequestStep::new(
            Method::Delete,
            facts.record_path(n),
            None,
            status,
        )));
        self
    }

    /// Sends a request that fails; only its status is checked.
    pub(super) fn fails(&mut self, send: RequestStep, failure: Failure) -> &mut Self {
        let status = self.plan.status(failure);
        self.cite_clauses(&["errors.status"]);
        self.send(RequestStep { status, ..send })
    }

    /// Sends a request that fails; its status and code are checked.
    pub(super) fn fails_with(&mut self, send: RequestStep, failure: Failure) -> &mut Self {
        let (pointer, code) = self.plan.code(failure);
        self.cite_clauses(&["errors.body"]);
        let send = send.equal(pointer, Value::String(code.to_owned()));
        self.fails(send, failure)
    }

    /// Looks at the `n`th record: it has at least this value.
    pub(super) fn expect_still(
        &mut self,
        facts: &EntityFacts<'a>,
        n: u32,
        part: &FieldFacts<'a>,
        value: Value,
    ) -> &mut Self {
        self.send(RequestStep::get(facts.record_path(n)).has_one(&part.json, value))
    }

    /// Looks at a list: these records, in this order, and as many in total.
    pub(super) fn lists(
        &mut self,
        facts: &EntityFacts<'a>,
        query: &[(&str, Value)],
        records: &[u32],
    ) -> &mut Self {
        let mut send = RequestStep::get(facts.path.clone());
        for (name, value) in query {
            send = send.query(name, value);
        }
        self.lists_as(facts, send, records, records.len())
    }

    /// As [`Self::lists`], for any request of a list and another total.
    pub(super) fn lists_as(
        &mut self,
        facts: &EntityFacts<'a>,
        send: RequestStep,
        records: &[u32],
        total: usize,
    ) -> &mut Self {
        self.cite_clauses(&["lists.body"]);
        let ids = records.iter().map(|&n| facts.id(n)).collect();
        let send = send.column(self.plan.items(), "id", ids).equal(self.plan.total(), Value::from(total));
        self.send(send)
    }

    /// The steps of another case after those of this one.
    pub(super) fn append(&mut self, mut after: Self) -> &mut Self {
        self.case.steps.append(&mut after.case.steps);
        self
    }

    /// The case, unless it does nothing.
    pub(super) fn done(&mut self, cases: &mut Vec<Case>) {
        if self.case.steps.iter().any(|step| matches!(step, Step::Request(_))) {
            let case = Case {
                id: std::mem::take(&mut self.case.id),
                title: std::mem::take(&mut self.case.title),
                aspect: self.case.aspect,
                mark: Mark::New,
                clauses: std::mem::take(&mut self.case.clauses),
                steps: std::mem::take(&mut self.case.steps),
            };
            cases.push(case);
        }
    }
}

impl RequestStep {
    /// A request.
    pub(super) fn new(method: Method, path: String, body: Option<Value>, status: u16) -> Self {
        Self { method, path, query: Vec::new(), body, status, expect: Vec::new(), keep: None }
    }

    /// A `GET` that succeeds.
    pub(super) fn get(path: String) -> Self {
        Self::new(Method::Get, path, None, 200)
    }

    /// A `PATCH` that succeeds.
    pub(super) fn patch(path: String, body: Value) -> Self {
        Self::new(Method::Patch, path, Some(body), 200)
    }

    /// A `PATCH` of one field.
    pub(super) fn patch_one(path: String, name: &str, value: Value) -> Self {
        Self::patch(path, object(name, value))
    }

    /// A `PUT` that succeeds.
    pub(super) fn put(path: String, body: Value) -> Self {
        Self::new(Method::Put, path, Some(body), 200)
    }

    /// A `POST` that succeeds with 200.
    pub(super) fn post(path: String, body: Option<Value>) -> Self {
        Self::new(Method::Post, path, body, 200)
    }

    /// With a query parameter; a capture is written as in paths.
    pub(super) fn query(mut self, name: &str, value: &Value) -> Self {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Object(capture) => {
                format!("{{{}}}", capture.get("$").and_then(Value::as_str).unwrap_or_default())
            }
            other => other.to_string(),
        };
        self.query.push((name.to_owned(), text));
        self
    }

    /// The value at a place equals this.
    pub(super) fn equal(mut self, pointer: &str, value: Value) -> Self {
        self.expect.push(Assertion::Equal { at: pointer.to_owned(), value });
        self
    }

    /// The body has at least these values.
    pub(super) fn has(mut self, value: Map<String, Value>) -> Self {
        self.expect.push(Assertion::Has { at: String::new(), value });
        self
    }

    /// The body has at least this value.
    pub(super) fn has_one(self, name: &str, value: Value) -> Self {
        let mut map = Map::with_capacity(1);
        map.insert(name.to_owned(), value);
        self.has(map)
    }

    /// Nothing is at a place.
    pub(super) fn absent(mut self, pointer: &str) -> Self {
        self.expect.push(Assertion::Absent { at: pointer.to_owned() });
        self
    }

    /// A text is at a place.
    pub(super) fn text(mut self, pointer: &str) -> Self {
        self.expect.push(Assertion::Text { at: pointer.to_owned() });
        self
    }

    /// An id is at a place.
    pub(super) fn identified(mut self, pointer: &str) -> Self {
        self.expect.push(Assertion::Id { at: pointer.to_owned() });
        self
    }

    /// The list at a place has objects with these values.
    pub(super) fn column(mut self, pointer: &str, key: &str, values: Vec<Value>) -> Self {
        self.expect.push(Assertion::Column { at: pointer.to_owned(), key: key.to_owned(), values });
        self
    }

    /// The list at a place has these objects in any order.
    pub(super) fn rows(mut self, pointer: &str, rows: Vec<Map<String, Value>>) -> Self {
        self.expect.push(Assertion::Rows { at: pointer.to_owned(), rows });
        self
    }

    /// Its answer is kept as the `n`th record of an entity.
    pub(super) fn keep_record(mut self, key: &str, n: u32) -> Self {
        self.keep = Some(format!("{key}_{n}"));
        self
    }
}

/// An object with one key.
pub(super) fn object(name: &str, value: Value) -> Value {
    let mut map = Map::with_capacity(1);
    map.insert(name.to_owned(), value);
    Value::Object(map)
}
