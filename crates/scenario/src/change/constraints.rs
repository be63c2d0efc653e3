//! Changes of the rules of fields: bounds, null, defaults, uniqueness.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::{EnumDiscriminants, IntoStaticStr, VariantNames};

use super::parts::written_field;
use super::refusal::{Refusal, refuse};
use crate::ir::{Key, Kind, Removed, Schema};

/// A change of a rule of a field: bounds, null, default, uniqueness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, EnumDiscriminants)]
#[serde(tag = "change", rename_all = "snake_case")]
#[strum_discriminants(name(ConstraintKind), derive(PartialOrd, Ord, IntoStaticStr, VariantNames))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "A kind of [`ConstraintChange`].")]
#[expect(missing_docs, reason = "fields are the keys of what is changed and its new value")]
pub enum ConstraintChange {
    /// Narrower bounds, lengths or numbers of items, or a pattern: same type, `kind` as it is afterwards. Refused if
    /// nothing becomes stricter, or anything looser, or the default breaks it.
    Tighten { entity: Key, field: Key, kind: Kind },
    /// Wider or no bounds, lengths, items, pattern: same type. Refused if nothing becomes looser, or anything stricter.
    Loosen { entity: Key, field: Key, kind: Kind },
    /// The field must be given; its default goes.
    Require { entity: Key, field: Key },
    /// The field need not be given; without a default it must be nullable.
    MakeOptional { entity: Key, field: Key, default: Option<Value> },
    /// Null becomes a value.
    AllowNull { entity: Key, field: Key },
    /// Null is a value no more; the field is required or has a default then (`default` sets one).
    ForbidNull { entity: Key, field: Key, default: Option<Value> },
    /// Another default for a field that is not required; `None` = null if absent (then it is nullable).
    ChangeDefault { entity: Key, field: Key, default: Option<Value> },
    /// No two records may have the same value.
    MakeUnique { entity: Key, field: Key },
    /// They may.
    DropUnique { entity: Key, field: Key },
    /// Set at creation only.
    MakeImmutable { entity: Key, field: Key },
    /// Can be changed.
    MakeMutable { entity: Key, field: Key },
}

impl ConstraintChange {
    /// The keys of the entity and of the field.
    pub fn keys(&self) -> (&str, &str) {
        match self {
            Self::Tighten { entity, field, .. }
            | Self::Loosen { entity, field, .. }
            | Self::Require { entity, field }
            | Self::MakeOptional { entity, field, .. }
            | Self::AllowNull { entity, field }
            | Self::ForbidNull { entity, field, .. }
            | Self::ChangeDefault { entity, field, .. }
            | Self::MakeUnique { entity, field }
            | Self::DropUnique { entity, field }
            | Self::MakeImmutable { entity, field }
            | Self::MakeMutable { entity, field } => (entity, field),
        }
    }

    pub(super) fn perform(&self, schema: &mut Schema) -> Result<(), Refusal> {
        let (entity, key) = self.keys();
        let turn = schema.turn;
        let field = written_field(schema, entity, key)?;
        let is_new = field.introduced_in == turn;
        let refused = |reason: &str| refuse(format!("`{entity}.{key}` {reason}"));
        let accepts = |accepted: Value| Removed::Constraint {
            entity: entity.to_owned(),
            field: key.to_owned(),
            accepted,
        };
        let mut removed = Vec::new();
        match self {
            Self::Tighten { kind, .. } => {
                let Some(moves) = moves(&field.kind, kind) else {
                    return refused("cannot be narrowed to this");
                };
                if moves.iter().any(|(direction, _)| *direction == Move::Looser) {
                    return refuse("a rule would be looser");
                }
                if !moves.iter().any(|(direction, _)| *direction == Move::Stricter) {
                    return refuse("no rule would be stricter");
                }
                field.kind = kind.clone();
            }
            Self::Loosen { kind, .. } => {
                let Some(moves) = moves(&field.kind, kind) else {
                    return refused("cannot be widened to this");
                };
                if moves.iter().any(|(direction, _)| *direction == Move::Stricter) {
                    return refuse("a rule would be stricter");
                }
                if !moves.iter().any(|(direction, _)| *direction == Move::Looser) {
                    return refuse("no rule would be looser");
                }
                field.kind = kind.clone();
                let looser = moves.into_iter().filter(|(direction, _)| *direction == Move::Looser);
                removed.extend(looser.filter_map(|(_, value)| value).map(accepts));
            }
            Self::Require { .. } if field.required => return refused("is required already"),
            Self::Require { .. } => {
                field.required = true;
                field.default = None;
            }
            Self::MakeOptional { .. } if !field.required => return refused("is not required"),
            Self::MakeOptional { default, .. } => {
                field.required = false;
                field.default.clone_from(default);
            }
            Self::AllowNull { .. } if field.nullable => return refused("can be null already"),
            Self::AllowNull { .. } => {
                field.nullable = true;
                removed.push(accepts(Value::Null));
            }
            Self::ForbidNull { .. } if !field.nullable => return refused("cannot be null"),
            Self::ForbidNull { default, .. } => {
                field.nullable = false;
                if default.is_some() {
                    field.default.clone_from(default);
                }
            }
            Self::ChangeDefault { .. } if field.required => return refused("is required"),
            Self::ChangeDefault { default, .. } => field.default.clone_from(default),
            Self::MakeUnique { .. } if field.unique => return refused("is already unique"),
            Self::MakeUnique { .. } => field.unique = true,
            Self::DropUnique { .. } if !field.unique => return refused("is not unique"),
            Self::DropUnique { entity, field: key } => {
                field.unique = false;
                removed.push(Removed::Unique { entity: entity.clone(), field: key.clone() });
            }
            Self::MakeImmutable { .. } if field.immutable => return refused("is already immutable"),
            Self::MakeImmutable { .. } => field.immutable = true,
            Self::MakeMutable { .. } if !field.immutable => return refused("is not immutable"),
            Self::MakeMutable { entity, field: key } => {
                field.immutable = false;
                removed.push(Removed::Immutable { entity: entity.clone(), field: key.clone() });
            }
        }
        if !is_new {
            schema.removed.extend(removed);
        }
        Ok(())
    }
}

/// How one bound moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    None,
    Stricter,
    Looser,
}

/// A least or greatest value, before and after.
fn bound_move<T: PartialOrd>(before: Option<T>, after: Option<T>, is_least: bool) -> Move {
    let grew = match (before, after) {
        (None, Some(_)) => return Move::Stricter,
        (Some(_), None) => return Move::Looser,
        (Some(before), Some(after)) if after > before => true,
        (Some(before), Some(after)) if after < before => false,
        _ => return Move::None,
    };
    if grew == is_least { Move::Stricter } else { Move::Looser }
}

/// How the rules of a kind moved, each with a value that the old rule refuses and that is just beyond it. Nothing if
/// the types differ, or a type has no rules.
fn moves(before: &Kind, after: &Kind) -> Option<Vec<(Move, Option<Value>)>> {
    Some(match (before, after) {
        (
            Kind::String { min_length, max_length, pattern },
            Kind::String { min_length: new_min, max_length: new_max, pattern: new_pattern },
        ) => {
            let text = |length: u32| json!("x".repeat(length as usize));
            let form = match (pattern, new_pattern) {
                (None, Some(_)) => Move::Stricter,
                (Some(_), None) => Move::Looser,
                (Some(old), Some(new)) if old != new => return None,
                _ => Move::None,
            };
            vec![
                (bound_move(*min_length, *new_min, true), min_length.map(|min| text(min.saturating_sub(1)))),
                (
                    bound_move(*max_length, *new_max, false),
                    max_length.map(|max| text(max.saturating_add(1).min(500))),
                ),
                (form, pattern.map(|pattern| json!(pattern.counterexample()))),
            ]
        }
        (Kind::Integer { min, max }, Kind::Integer { min: new_min, max: new_max }) => vec![
            (bound_move(*min, *new_min, true), min.map(|min| json!(min.saturating_sub(1)))),
            (bound_move(*max, *new_max, false), max.map(|max| json!(max.saturating_add(1)))),
        ],
        (Kind::Number { min, max }, Kind::Number { min: new_min, max: new_max }) => vec![
            (bound_move(*min, *new_min, true), min.map(|min| json!(min - 0.25))),
            (bound_move(*max, *new_max, false), max.map(|max| json!(max + 0.25))),
        ],
        (
            Kind::StringList { min_items, max_items },
            Kind::StringList { min_items: new_min, max_items: new_max },
        ) => {
            let list = |length: u32| {
                Value::from((1..=length.min(500)).map(|n| format!("item {n}")).collect::<Vec<_>>())
            };
            vec![
                (bound_move(*min_items, *new_min, true), min_items.map(|min| list(min.saturating_sub(1)))),
                (bound_move(*max_items, *new_max, false), max_items.map(|max| list(max.saturating_add(1)))),
            ]
        }
        _ => return None,
    })
}
