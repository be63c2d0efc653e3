//! What agents and people read: the specification of a turn, and the request that brings it about.
//!
//! A specification is a list of [`Clause`]s with stable ids made of keys; a test case names the clauses that state what
//! it demands. The first request is the whole specification; a later one states the changes only, but completely: what
//! is new in a clause stands in it word for word (names, numbers, statuses in backquotes). Every phrasing of a kind of change
//! (`text/wording.rs`) states the same facts, and the tests read them back from the text alone.
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
//! `gone.0`, `gone.1`, … by position in [`Schema::removed`]. Parts that do not exist in a schema have no clause.

mod action;
mod analytic;
mod change_request;
mod delta;
mod document;
pub(crate) mod english;
mod entity;
mod frame;
mod general;
mod pieces;
mod removed;
mod slots;
mod superseded_changes;
mod types;
mod wording;

use self::delta::Delta;
use self::pieces::Piece;
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

/// The clauses of a schema, in the order of the document. What was removed comes last.
pub fn clauses(schema: &Schema) -> Vec<Clause> {
    document::pieces(schema).0.into_iter().map(|piece| piece.clause).collect()
}

/// The full current specification as a Markdown document.
pub fn specification(schema: &Schema) -> String {
    specification_with(schema, &document::pieces(schema).0)
}

fn specification_with(schema: &Schema, pieces: &[Piece]) -> String {
    let mut out = format!("# {}: API specification\n\n{NOTATION}\n\n", schema.title);
    document::write_pieces(schema, pieces, 2, &mut out);
    out
}

/// How the document is to be read.
const NOTATION: &str = "Names, paths, values and numbers that must match exactly are written in backquotes. The words \
                        *invalid*, *not found*, *conflict* and *refused* stand for the four kinds of errors; the section \
                        “Errors” states their status codes and error codes.";

/// The first request: the task, how the server is started, the full specification, and that later messages follow if the
/// benchmark has any. How many is not stated, so that the request does not depend on it.
pub fn first_request(seed: crate::Seed, schema: &Schema, benchmark: Benchmark) -> String {
    frame::first_request(seed, schema, benchmark)
}

/// The request of a later turn: its changes, phrased from seeded templates, with every detail that the suite checks.
pub fn change_request(seed: crate::Seed, before: &Schema, changes: &[Change], after: &Schema) -> String {
    let (raw, pieces) = (document::pieces(before).0, document::pieces(after).0);
    change_request::change_request(
        seed,
        before,
        changes,
        after,
        &Delta::new(before, raw, changes, after, pieces),
    )
}

/// The texts of the turns of a scenario, one after the other: the clauses of a schema are written once, for both texts of
/// its turn and the request of the next.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// The clauses of the schema before.
    pieces: Vec<Piece>,
}

impl Texts {
    /// The request of turn 1 and the specification.
    pub(crate) fn first(
        &mut self,
        seed: crate::Seed,
        schema: &Schema,
        benchmark: Benchmark,
    ) -> (String, String) {
        self.pieces = document::pieces(schema).0;
        (first_request(seed, schema, benchmark), specification_with(schema, &self.pieces))
    }

    /// The request of a later turn and the specification. `before` is the schema of the call before.
    pub(crate) fn next(
        &mut self,
        seed: crate::Seed,
        before: &Schema,
        changes: &[Change],
        after: &Schema,
    ) -> (String, String) {
        let pieces = document::pieces(after).0;
        let specification = specification_with(after, &pieces);
        let raw = std::mem::take(&mut self.pieces);
        let delta = Delta::new(before, raw, changes, after, pieces);
        let request = change_request::change_request(seed, before, changes, after, &delta);
        // The clauses of what was removed say more now; in the next turn they are not compared.
        self.pieces = delta.pieces;
        (request, specification)
    }
}

/// One sentence for a change, plain and the same always: for `changes/turn_N.yaml`, the app, and logs.
pub fn summary(before: &Schema, change: &Change) -> String {
    let slots = slots::slots(before, before, before, change);
    slots::fill(wording::for_change(change).summary, &slots)
}

#[cfg(test)]
mod tests;
