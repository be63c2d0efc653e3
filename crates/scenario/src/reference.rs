//! The reference server: interprets a schema. [`World`] is the whole behavior as a pure state machine, without sockets
//! and clocks; [`serve`] puts it behind axum.
//!
//! A request goes through: route (`handle`), then the checks in the order of `docs/scenarios.md` (record in the path, body
//! or query, unique values, guards and effects), then the change of the tables. Nothing is changed before the last check,
//! so that a request that fails needs no undoing. [`plan`] compiles the schema once; entities and fields are positions
//! from then on.

mod actions;
mod analytics;
mod answer;
mod body;
mod deletion;
mod flaws;
mod listing;
mod operations;
mod plan;
mod records;
mod response_records;
mod server;
mod text_formats;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use self::answer::{Outcome, not_found};
pub use self::flaws::Flaw;
use self::plan::ServerPlan;
use self::records::{Table, integer};
pub use self::server::{Serving, serve, serve_on_stdin};
use crate::ir::Schema;
use crate::suite::Method;

/// A request as the reference sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Path without the query, percent-decoded.
    pub path: String,
    /// Query parameters in order, decoded.
    pub query: Vec<(String, String)>,
    /// Body; `Err` if there was one that is no JSON.
    pub body: Option<Result<Value, ()>>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Status.
    pub status: u16,
    /// JSON body; none with 204.
    pub body: Option<Value>,
}

/// The data and behavior of a server.
#[derive(Debug, Clone)]
pub struct World {
    schema: Arc<Schema>,
    plan: Arc<ServerPlan>,
    flaws: u128,
    tables: Vec<Table>,
}

impl World {
    /// A server of this schema, without records.
    pub fn new(schema: Arc<Schema>) -> Self {
        Self::flawed(schema, BTreeSet::new())
    }

    /// A server with flaws.
    pub fn flawed(schema: Arc<Schema>, flaws: BTreeSet<Flaw>) -> Self {
        let plan = Arc::new(ServerPlan::new(&schema));
        let tables = vec![Table::default(); plan.entities.len()];
        Self { schema, plan, flaws: flaws.into_iter().fold(0, |bits, flaw| bits | flaw.bit()), tables }
    }

    /// What it interprets.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaws & flaw.bit() != 0
    }

    /// Answers a request.
    pub fn handle(&mut self, request: &Request) -> Response {
        let plan = Arc::clone(&self.plan);
        self.route(&plan, request).unwrap_or_else(|failure| self.error(&plan, failure))
    }

    /// The answer to a method that no route has.
    fn unknown_route(&self) -> Response {
        self.error(&self.plan, not_found("There is no such route"))
    }

    /// Removes all records, as the reset route does.
    pub fn reset(&mut self) {
        if self.has(Flaw::ResetKeepsRecords) {
            return;
        }
        let keeps_ids = self.has(Flaw::ResetKeepsIds);
        for table in &mut self.tables {
            table.records.clear();
            if !keeps_ids {
                table.last_id = 0;
            }
        }
    }

    fn route(&mut self, plan: &ServerPlan, request: &Request) -> Outcome<Response> {
        if request.path == "/reset" && request.method == Method::Post {
            self.reset();
            return Ok(Response::empty());
        }
        let unknown = || not_found("There is no such route");
        let mut parts = request
            .path
            .strip_prefix(plan.conventions.prefix.as_str())
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or("")
            .split('/');
        let (first, id, last) = (parts.next().unwrap_or(""), parts.next(), parts.next());
        if parts.next().is_none() {
            if let ("analytics", Some(name), None, Method::Get) = (first, id, last, request.method)
                && let Some(analytic) = plan.analytics.get(name)
            {
                return self.analytic(analytic, request);
            }
            if let Some(&entity) = plan.collections.get(first) {
                match (id, last, request.method) {
                    (None, None, Method::Get) => return self.list(plan, entity, request, None),
                    (None, None, Method::Post) => return self.create(plan, entity, request, None),
                    (Some(id), None, Method::Get) => return self.read(plan, entity, id),
                    (Some(id), None, Method::Put) => return self.change(plan, entity, id, request, true),
                    (Some(id), None, Method::Patch) => return self.change(plan, entity, id, request, false),
                    (Some(id), None, Method::Delete) => return self.delete(plan, entity, id),
                    (Some(id), Some(last), Method::Get | Method::Post) => {
                        let entity_plan = plan.entities.get(entity).ok_or_else(unknown)?;
                        if let Some(action) = entity_plan.actions.get(last)
                            && request.method == Method::Post
                        {
                            return self.act(plan, entity, id, action, request);
                        }
                        if let Some(link) = entity_plan.nested.get(last) {
                            let parent = match self.find(plan, entity, id) {
                                Ok((_, record)) => record.id,
                                Err(_) if self.has(Flaw::NestedParentUnchecked) => integer(id).unwrap_or(0),
                                Err(failure) => return Err(failure),
                            };
                            let parent = Some((link.field, parent));
                            return if request.method == Method::Get {
                                self.list(plan, link.entity, request, parent)
                            } else {
                                self.create(plan, link.entity, request, parent)
                            };
                        }
                    }
                    _ => {}
                }
            }
        }
        if self.has(Flaw::UnknownRouteOk) {
            return Ok(Response::json(200, Value::Object(serde_json::Map::new())));
        }
        Err(unknown())
    }
}

#[cfg(test)]
mod tests;
