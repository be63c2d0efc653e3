//! What the text of a turn must say: the clauses that are new or changed, and the names that follow from renames.
//!
//! A rename is one rule that reaches far ("`a` is called `b`, wherever it appears"). So that a request does not repeat
//! half the specification after one, clauses are compared with those of the old schema *after the turn's renames*: what
//! still differs then is said in full; what differs only by names is said by the rename, and by a list of the literals
//! that it changes elsewhere.

use std::collections::HashMap;

use super::document::{self, Piece};
use crate::change::{Change, apply, next_turn};
use crate::ir::Schema;

/// The clauses of a schema against those of the one before.
pub(super) struct Delta {
    /// The clauses after the changes, in the order of the document.
    pub(super) pieces: Vec<Piece>,
    /// Which of them have to be said in full. Those of what is gone are always among them.
    pub(super) changed: Vec<bool>,
    /// Position by id.
    pub(super) at: HashMap<String, usize>,
    /// (old literal, new literal) of the clauses that differ by names only, in order, each once; without what the
    /// prefix and the case of fields say already.
    pub(super) renamed: Vec<(String, String)>,
}

/// Whether a change only gives another name, everywhere.
pub(super) fn is_rename(change: &Change) -> bool {
    matches!(
        change,
        Change::RenameEntity { .. }
            | Change::RenameField { .. }
            | Change::RenameEnumValue { .. }
            | Change::RenameAction { .. }
            | Change::RenameAnalytic { .. }
            | Change::ChangePrefix { .. }
            | Change::ChangeFieldCase { .. }
    )
}

impl Delta {
    pub(super) fn new(before: &Schema, changes: &[Change], after: &Schema) -> Self {
        let pieces = document::pieces(after).0;
        let raw = document::pieces(before).0;
        // Without what the turn before took away, which a rename may bring back.
        let mut renamed_schema = changes.iter().any(is_rename).then(|| next_turn(before));
        for change in changes.iter().filter(|change| is_rename(change)) {
            // A rename of what is new in this turn does not fit the schema before, and need not.
            if let Some(Ok(next)) = renamed_schema.as_ref().map(|schema| apply(schema, change)) {
                renamed_schema = Some(next);
            }
        }
        let named = renamed_schema.as_ref().map(|schema| document::pieces(schema).0);
        let raw_text = texts(&raw);
        let named_text = named.as_deref().map_or_else(|| texts(&raw), texts);

        let mut renamed: Vec<(String, String)> = Vec::new();
        let mut changed = Vec::with_capacity(pieces.len());
        let mut at = HashMap::with_capacity(pieces.len());
        for (index, piece) in pieces.iter().enumerate() {
            let (id, text) = (piece.clause.id.as_str(), piece.clause.text.as_str());
            at.insert(id.to_owned(), index);
            let same = named_text.get(id).is_some_and(|old| *old == text) && !id.starts_with("gone.");
            let mut full = !same;
            if same
                && let Some(old) = raw_text.get(id)
                && *old != text
            {
                let (old, new): (Vec<&str>, Vec<&str>) = (literals(old).collect(), literals(text).collect());
                full = old.len() != new.len();
                for (old, new) in old.iter().zip(&new) {
                    if old != new
                        && normal(before, old) != normal(after, new)
                        && !renamed.iter().any(|(_, known)| known == new)
                    {
                        renamed.push(((*old).to_owned(), (*new).to_owned()));
                    }
                }
            }
            changed.push(full);
        }
        Self { pieces, changed, at, renamed }
    }
}

fn texts(pieces: &[Piece]) -> HashMap<&str, &str> {
    pieces.iter().map(|piece| (piece.clause.id.as_str(), piece.clause.text.as_str())).collect()
}

/// What stands in backquotes.
pub(super) fn literals(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// A literal without prefix and case, so that what changed by these alone is equal.
pub(super) fn normal(schema: &Schema, literal: &str) -> String {
    let plain = literal.replacen(&format!("{}/", schema.conventions.prefix), "/", 1);
    let mut out = String::with_capacity(plain.len() + 4);
    for letter in plain.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
            out.push(letter.to_ascii_lowercase());
        } else {
            out.push(letter);
        }
    }
    out
}
