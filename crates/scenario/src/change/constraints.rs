//! Changes of the rules of fields: bounds, null, defaults, uniqueness.

use serde_json::{Value, json};

use super::parts::written;
use super::refusal::{Refusal, refuse};
use crate::ir::{Field, Kind, Removed, Schema};

/// How one bound moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    None,
    Stricter,
    Looser,
}

/// A least or greatest value, before and after.
fn moved<T: PartialOrd>(before: Option<T>, after: Option<T>, is_least: bool) -> Move {
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
                (moved(*min_length, *new_min, true), min_length.map(|min| text(min.saturating_sub(1)))),
                (
                    moved(*max_length, *new_max, false),
                    max_length.map(|max| text(max.saturating_add(1).min(500))),
                ),
                (form, pattern.map(|pattern| json!(pattern.counterexample()))),
            ]
        }
        (Kind::Integer { min, max }, Kind::Integer { min: new_min, max: new_max }) => vec![
            (moved(*min, *new_min, true), min.map(|min| json!(min.saturating_sub(1)))),
            (moved(*max, *new_max, false), max.map(|max| json!(max.saturating_add(1)))),
        ],
        (Kind::Number { min, max }, Kind::Number { min: new_min, max: new_max }) => vec![
            (moved(*min, *new_min, true), min.map(|min| json!(min - 0.25))),
            (moved(*max, *new_max, false), max.map(|max| json!(max + 0.25))),
        ],
        (
            Kind::StringList { min_items, max_items },
            Kind::StringList { min_items: new_min, max_items: new_max },
        ) => {
            let list = |length: u32| {
                Value::from((1..=length.min(500)).map(|n| format!("item {n}")).collect::<Vec<_>>())
            };
            vec![
                (moved(*min_items, *new_min, true), min_items.map(|min| list(min.saturating_sub(1)))),
                (moved(*max_items, *new_max, false), max_items.map(|max| list(max.saturating_add(1)))),
            ]
        }
        _ => return None,
    })
}

pub(super) fn tighten(schema: &mut Schema, entity_key: &str, key: &str, kind: &Kind) -> Result<(), Refusal> {
    let field = written(schema, entity_key, key)?;
    let Some(moves) = moves(&field.kind, kind) else {
        return refuse(format!("`{entity_key}.{key}` cannot be narrowed to this"));
    };
    if moves.iter().any(|(by, _)| *by == Move::Looser) {
        return refuse("a rule would be looser");
    }
    if !moves.iter().any(|(by, _)| *by == Move::Stricter) {
        return refuse("no rule would be stricter");
    }
    field.kind = kind.clone();
    Ok(())
}

pub(super) fn loosen(schema: &mut Schema, entity_key: &str, key: &str, kind: &Kind) -> Result<(), Refusal> {
    let turn = schema.turn;
    let field = written(schema, entity_key, key)?;
    let Some(moves) = moves(&field.kind, kind) else {
        return refuse(format!("`{entity_key}.{key}` cannot be widened to this"));
    };
    if moves.iter().any(|(by, _)| *by == Move::Stricter) {
        return refuse("a rule would be stricter");
    }
    if !moves.iter().any(|(by, _)| *by == Move::Looser) {
        return refuse("no rule would be looser");
    }
    field.kind = kind.clone();
    if field.introduced_in != turn {
        let accepted = moves.into_iter().filter(|(by, _)| *by == Move::Looser).filter_map(|(_, value)| value);
        schema.removed.extend(accepted.map(|accepted| Removed::Constraint {
            entity: entity_key.to_owned(),
            field: key.to_owned(),
            accepted,
        }));
    }
    Ok(())
}

pub(super) fn require(schema: &mut Schema, entity_key: &str, key: &str) -> Result<(), Refusal> {
    let field = written(schema, entity_key, key)?;
    if field.required {
        return refuse(format!("`{entity_key}.{key}` is required already"));
    }
    field.required = true;
    field.default = None;
    Ok(())
}

pub(super) fn make_optional(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    default: Option<&Value>,
) -> Result<(), Refusal> {
    let field = written(schema, entity_key, key)?;
    if !field.required {
        return refuse(format!("`{entity_key}.{key}` is not required"));
    }
    field.required = false;
    field.default = default.cloned();
    Ok(())
}

pub(super) fn allow_null(schema: &mut Schema, entity_key: &str, key: &str) -> Result<(), Refusal> {
    let turn = schema.turn;
    let field = written(schema, entity_key, key)?;
    if field.nullable {
        return refuse(format!("`{entity_key}.{key}` can be null already"));
    }
    field.nullable = true;
    if field.introduced_in != turn {
        schema.removed.push(Removed::Constraint {
            entity: entity_key.to_owned(),
            field: key.to_owned(),
            accepted: Value::Null,
        });
    }
    Ok(())
}

pub(super) fn forbid_null(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    default: Option<&Value>,
) -> Result<(), Refusal> {
    let field = written(schema, entity_key, key)?;
    if !field.nullable {
        return refuse(format!("`{entity_key}.{key}` cannot be null"));
    }
    field.nullable = false;
    if default.is_some() {
        field.default = default.cloned();
    }
    Ok(())
}

pub(super) fn change_default(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    default: Option<&Value>,
) -> Result<(), Refusal> {
    let field = written(schema, entity_key, key)?;
    if field.required {
        return refuse(format!("`{entity_key}.{key}` is required"));
    }
    field.default = default.cloned();
    Ok(())
}

pub(super) fn set_unique(schema: &mut Schema, entity_key: &str, key: &str, on: bool) -> Result<(), Refusal> {
    let turn = schema.turn;
    let field = written(schema, entity_key, key)?;
    if field.unique == on {
        return refuse(format!("`{entity_key}.{key}` is {}unique", if on { "already " } else { "not " }));
    }
    field.unique = on;
    if !on && was_there(field, turn) {
        schema.removed.push(Removed::Unique { entity: entity_key.to_owned(), field: key.to_owned() });
    }
    Ok(())
}

pub(super) fn set_immutable(
    schema: &mut Schema,
    entity_key: &str,
    key: &str,
    on: bool,
) -> Result<(), Refusal> {
    let turn = schema.turn;
    let field = written(schema, entity_key, key)?;
    if field.immutable == on {
        return refuse(format!("`{entity_key}.{key}` is {}immutable", if on { "already " } else { "not " }));
    }
    field.immutable = on;
    if !on && was_there(field, turn) {
        schema.removed.push(Removed::Immutable { entity: entity_key.to_owned(), field: key.to_owned() });
    }
    Ok(())
}

fn was_there(field: &Field, turn: u32) -> bool {
    field.introduced_in != turn
}
