//! What agents and people read: the specification of a turn, and the request that brings it about.
//!
//! A specification is a list of [`Clause`]s with stable ids made of keys; a test case names the clauses that state what
//! it demands. The first request is the whole specification; a later one states the changes only, but completely: what
//! is new in a clause stands in it word for word (names, numbers, statuses in backquotes).
//!
//! **Ids of clauses** (with keys of the schema where `E` an entity, `F` a field, `A` an action, `G` a guard):
//! `server.start`, `server.reset`, `server.routes` (prefix, unknown routes), `server.names` (case), `records.id`, `records.shown`,
//! `bodies.object`, `bodies.ignored`, `bodies.unknown`, `bodies.absent`, `bodies.replace`, `bodies.update`,
//! `bodies.immutable`, `bodies.null`, `types.string` … (`string`, `integer`, `number`, `boolean`, `date_time`, `enum`,
//! `string_list`, `reference`), `types.free` (a rule that is not stated does not exist), `unique`, `operations` (the five
//! standard routes and their statuses), `lists.body`, `lists.filters`, `lists.sort`, `lists.pages`, `deletion`,
//! `soft_delete`, `actions`, `analytics`, `errors.body`, `errors.status`, `errors.order`;
//! `E` (what it is, its paths), `E.F` (a field with all its rules, its delete rule and nested route),
//! `E.filter.F.equals|at_least|at_most|contains`, `E.sort` (sorts and default; always there), `E.soft_delete`, `E.A` (route,
//! parameters), `E.A.guard.G`, `E.A.effect.F` (set, increment) or `E.A.effect.create_E2`; `analytics.KEY`;
//! `gone.0`, `gone.1`, … by position in [`Schema::gone`]. Parts that do not exist in a schema have no clause.

mod action;
mod analytic;
mod delta;
mod document;
mod entity;
mod facts;
mod frame;
mod general;
mod gone;
mod request;
mod void;
mod wording;
mod words;

use crate::change::Change;
use crate::config::Benchmark;
use crate::ir::Schema;

/// A statement of the specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause {
    /// `errors.body`, `orders.title`, `orders.cancel.guard.shipped`, `analytics.revenue`, `gone.3`.
    pub id: String,
    /// Markdown. Everything a server must know by letter (names, paths, numbers, statuses) is in backquotes.
    pub text: String,
}

/// The clauses of a schema, in the order of the document. What is gone comes last.
pub fn clauses(schema: &Schema) -> Vec<Clause> {
    document::pieces(schema).0.into_iter().map(|piece| piece.clause).collect()
}

/// The full current specification as a Markdown document.
pub fn specification(schema: &Schema) -> String {
    let mut out = format!("# {}: API specification\n\n{NOTATION}\n\n", schema.title);
    document::write(schema, 2, &mut out);
    out
}

/// How the document is to be read.
const NOTATION: &str = "What has to be matched by letter stands in backquotes. *Invalid*, *not found*, *conflict* and \
                        *refused* are the kinds of errors; their statuses and codes stand under “Errors”.";

/// The first request: the task, how the server is started, the full specification, and that later messages follow if the
/// benchmark has any. How many is not said, so that the request does not depend on it.
pub fn first_request(seed: crate::Seed, schema: &Schema, benchmark: Benchmark) -> String {
    frame::first_request(seed, schema, benchmark)
}

/// The request of a later turn: its changes, phrased from seeded templates, with every detail that the suite checks.
pub fn change_request(seed: crate::Seed, before: &Schema, changes: &[Change], after: &Schema) -> String {
    request::change_request(seed, before, changes, after)
}

/// One sentence for a change, plain and the same always: for `changes/turn_N.yaml`, the app, and logs.
pub fn summary(before: &Schema, change: &Change) -> String {
    let slots = facts::slots(before, before, change);
    facts::fill(wording::of(change).summary, &slots)
}

#[cfg(test)]
mod examples;
#[cfg(test)]
mod tests;
