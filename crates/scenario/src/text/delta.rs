//! What the text of a turn must say: the clauses that are new or changed, and the names that follow from renames.
//!
//! A rename is one rule that reaches far ("`a` is called `b`, wherever it appears"). So that a request does not repeat
//! half the specification after one, clauses are compared with those of the old schema *after the turn's renames*: what
//! still differs then is stated in full; what differs only by names is stated by the rename, and by a list of the literals
//! that it changes elsewhere.

use std::collections::HashMap;

use super::action;
use super::document;
use super::english::Names;
use super::pieces::{Part, Piece};
use super::removed;
use crate::change::{
    ActionChange, AnalyticChange, Change, ConventionChange, EntityChange, FieldChange, apply, next_turn,
};
use crate::ir::{Removed, Schema};

/// The clauses of a schema against those of the one before.
pub(super) struct Delta {
    /// The clauses after the changes, in the order of the document. Those of fields that were removed also say which filters
    /// and sorts went with them.
    pub(super) pieces: Vec<Piece>,
    /// Which of them have to be stated in full. Those of what was removed are always among them.
    pub(super) changed: Vec<bool>,
    /// Position by id.
    pub(super) index_by_id: HashMap<String, usize>,
    /// Literals of the clauses that differ by names only, in order, each once; without what the renames themselves, the
    /// prefix and the case of fields say already.
    pub(super) renamed: Vec<RenamedLiteral>,
    /// Old clauses, with today's names, of conditions, effects, filters and fields that are there no more although what
    /// they belonged to still is, if nothing in [`Schema::removed`] says so: what fell with something else.
    pub(super) dropped: Vec<Piece>,
    /// The schema before, with the turn's renames. None where the turn has none.
    pub(super) renamed_schema: Option<Schema>,
}

/// A path or name that follows from a rename elsewhere.
pub(super) struct RenamedLiteral {
    /// The key of the entity whose clause holds it. None for a path, which names its entity, and in clauses of no entity.
    pub(super) entity: Option<String>,
    /// Whether it is a query parameter of the entity's list.
    pub(super) is_parameter: bool,
    pub(super) old: String,
    pub(super) new: String,
}

impl RenamedLiteral {
    fn new(piece: &Piece, old: &str, new: &str) -> Self {
        let names_its_entity = new.starts_with('/');
        let entity = match piece.part {
            Part::Entity(_) | Part::Field(_) | Part::List(_) | Part::Rule(_) | Part::Action(_)
                if !names_its_entity =>
            {
                piece.clause.id.split('.').next().map(str::to_owned)
            }
            _ => None,
        };
        let is_parameter = matches!(piece.part, Part::List(_)) && piece.clause.id.contains(".filter.");
        Self { entity, is_parameter, old: old.to_owned(), new: new.to_owned() }
    }
}

/// The name before and the one after, as a rename states them; nothing of renames that state paths.
fn stated_names(before: &Schema, after: &Schema, change: &Change) -> Option<(String, String)> {
    match change {
        Change::Field(FieldChange::RenameField { entity, field, .. }) => {
            let old = &before.entity(entity)?.field(field)?.name;
            let new = &after.entity(entity)?.field(field)?.name;
            Some((before.json_name(old), after.json_name(new)))
        }
        Change::Field(FieldChange::RenameEnumValue { value, to, .. }) => Some((value.clone(), to.clone())),
        Change::Action(ActionChange::RenameAction { entity, action, .. }) => {
            let old = &before.entity(entity)?.action(action)?.name;
            let new = &after.entity(entity)?.action(action)?.name;
            Some((before.path_name(old), after.path_name(new)))
        }
        _ => None,
    }
}

/// Whether a change only gives another name, everywhere.
pub(super) fn is_rename(change: &Change) -> bool {
    use ConventionChange::{ChangeFieldCase, ChangePrefix};
    use FieldChange::{RenameEnumValue, RenameField};
    matches!(
        change,
        Change::Entity(EntityChange::RenameEntity { .. })
            | Change::Field(RenameField { .. } | RenameEnumValue { .. })
            | Change::Action(ActionChange::RenameAction { .. })
            | Change::Analytic(AnalyticChange::RenameAnalytic { .. })
            | Change::Convention(ChangePrefix { .. } | ChangeFieldCase { .. })
    )
}

impl Delta {
    /// `raw` and `pieces` are the clauses of the schemas before and after.
    pub(super) fn new(
        before: &Schema,
        raw: Vec<Piece>,
        changes: &[Change],
        after: &Schema,
        mut pieces: Vec<Piece>,
    ) -> Self {
        // Without what the turn before removed, which a rename may bring back.
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

        let stated: Vec<(String, String)> =
            changes.iter().filter_map(|change| stated_names(before, after, change)).collect();
        let mut renamed: Vec<RenamedLiteral> = Vec::new();
        let mut changed = Vec::with_capacity(pieces.len());
        let mut index_by_id = HashMap::with_capacity(pieces.len());
        for (index, piece) in pieces.iter().enumerate() {
            let (id, text) = (piece.clause.id.as_str(), piece.clause.text.as_str());
            index_by_id.insert(id.to_owned(), index);
            let same = named_text.get(id).is_some_and(|old| *old == text) && !id.starts_with("gone.");
            let mut full = !same;
            if same
                && let Some(old) = raw_text.get(id)
                && *old != text
            {
                let (old, new): (Vec<&str>, Vec<&str>) = (literals(old).collect(), literals(text).collect());
                full = old.len() != new.len();
                for (old, new) in old.iter().zip(&new) {
                    let (old, new) = (without_method(old), without_method(new));
                    let literal = RenamedLiteral::new(piece, old, new);
                    if old != new
                        && normalized_literal(before, old) != normalized_literal(after, new)
                        && !stated
                            .iter()
                            .any(|(stated_old, stated_new)| stated_old == old && stated_new == new)
                        && !renamed.iter().any(|known| known.new == *new && known.entity == literal.entity)
                    {
                        renamed.push(literal);
                    }
                }
            }
            changed.push(full);
        }
        for (index, removed) in after.removed.iter().enumerate() {
            if let Some(lists) = removed::lists_without(before, after, removed)
                && let Some(piece) =
                    index_by_id.get(&format!("gone.{index}")).and_then(|&place| pieces.get_mut(place))
            {
                piece.clause.text.push(' ');
                piece.clause.text.push_str(&lists);
            }
        }
        let old = renamed_schema.as_ref().unwrap_or(before);
        let dropped = named
            .unwrap_or(raw)
            .into_iter()
            .filter(|piece| !index_by_id.contains_key(&piece.clause.id) && is_taken_back(old, after, piece))
            .collect();
        Self { pieces, changed, index_by_id, renamed, dropped, renamed_schema }
    }
}

fn texts(pieces: &[Piece]) -> HashMap<&str, &str> {
    pieces.iter().map(|piece| (piece.clause.id.as_str(), piece.clause.text.as_str())).collect()
}

/// Whether a clause that is there no more has to be taken back: what it belonged to is still there, and nothing that
/// is listed as removed says it.
fn is_taken_back(old: &Schema, after: &Schema, piece: &Piece) -> bool {
    let (Part::Field(position) | Part::List(position) | Part::Rule(position)) = piece.part else {
        return false;
    };
    let Some(entity) = old.entities.get(position).and_then(|entity| after.entity(&entity.key)) else {
        return false;
    };
    let Some(rest) = piece.clause.id.strip_prefix(&format!("{}.", entity.key)) else { return false };
    let owner_stays = match piece.part {
        Part::Rule(_) => rest.split('.').next().is_some_and(|action| entity.action(action).is_some()),
        Part::List(_) => rest.split('.').nth(1).is_some_and(|field| entity.field(field).is_some()),
        _ => true,
    };
    owner_stays && !after.removed.iter().any(|removed| covers(old, after, removed, piece))
}

/// Whether the clause of something removed says that this clause does not hold.
fn covers(old: &Schema, after: &Schema, removed: &Removed, piece: &Piece) -> bool {
    let (id, text) = (piece.clause.id.as_str(), piece.clause.text.as_str());
    match removed {
        Removed::Guard { entity, action, condition } => {
            id.starts_with(&format!("{entity}.{action}.guard."))
                && after.entity(entity).is_some_and(|entity| {
                    text.contains(&action::condition(Names::new(after), entity, condition))
                })
        }
        Removed::Effect { entity, action, field } => id == format!("{entity}.{action}.effect.{field}"),
        Removed::Created { entity, action, other } => {
            id == format!("{entity}.{action}.effect.create_{other}")
        }
        Removed::Filter { entity, field, op } => id == format!("{entity}.filter.{field}.{}", op.key()),
        Removed::Field { entity, name } => old
            .entity(entity)
            .and_then(|entity| entity.fields.iter().find(|field| field.name == *name))
            .is_some_and(|field| id == format!("{entity}.{}", field.key)),
        _ => false,
    }
}

/// A path without the method before it.
fn without_method(literal: &str) -> &str {
    literal.split_once(' ').map_or(literal, |(method, path)| {
        if matches!(method, "GET" | "POST" | "PUT" | "PATCH" | "DELETE") { path } else { literal }
    })
}

/// What is in backquotes.
pub(super) fn literals(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// A literal without prefix and case, so that what changed by these alone is equal.
pub(super) fn normalized_literal(schema: &Schema, literal: &str) -> String {
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
