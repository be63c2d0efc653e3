//! The clauses of a specification, each with its place in the document.

use super::Clause;

/// Where a clause is in the document. Numbers are positions of entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Server,
    Errors,
    Records,
    Bodies,
    Types,
    Operations,
    Lists,
    Deletion,
    Actions,
    Analytics,
    /// What the entity is.
    Entity(usize),
    Field(usize),
    List(usize),
    Action(usize),
    /// A guard or effect of the action before.
    Rule(usize),
    Analytic,
    Removed,
}

/// A clause and where it is.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) part: Part,
    pub(super) clause: Clause,
}

/// The clauses of a schema while they are written.
#[derive(Debug, Default)]
pub(super) struct Pieces(pub(super) Vec<Piece>);

impl Pieces {
    pub(super) fn push(&mut self, part: Part, id: &str, text: &str) {
        self.put(part, id.to_owned(), text.to_owned());
    }

    pub(super) fn put(&mut self, part: Part, id: String, text: String) {
        self.0.push(Piece { part, clause: Clause { id, text } });
    }

    /// Continues the clause that was pushed last.
    pub(super) fn add(&mut self, text: &str) {
        if let Some(last) = self.0.last_mut() {
            last.clause.text.push_str(text);
        }
    }
}
