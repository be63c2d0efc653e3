//! Rules of fields that are dropped, shifted or invented.

use scenario::check::values::fits;
use scenario::ir::{Computed, Entity, Field, Kind, OnDelete, Pattern, Schema};
use serde_json::{Value, json};

use super::{Operator, Sites};

type FieldPosition = (usize, usize);

pub(super) fn find<'a>(place: FieldPosition, entity: &'a Entity, field: &'a Field, sites: &mut Sites<'a>) {
    let location = format!("{}.{}", entity.key, field.key);
    sites.edit(
        Operator::FieldMissing,
        location.clone(),
        edit(place, |field| field.name.push_str("_missing")),
    );
    if let Some(computed) = &field.computed {
        self::computed(place, entity, computed, &location, sites);
        return;
    }
    for (operator, kind) in kinds(&field.kind) {
        // A default that the field does not know is no server that anyone would write.
        if let (Kind::Enum { values }, Some(default)) = (&kind, &field.default)
            && !values.iter().any(|value| default == value)
        {
            continue;
        }
        let location = format!("{location} {}", describe_kind(&kind));
        sites.edit(operator, location, edit(place, move |field| field.kind = kind.clone()));
    }
    if let Some(default) = &field.default {
        if let Some(other) = other_value(&field.kind, default) {
            sites.edit(
                Operator::WrongDefault,
                location.clone(),
                edit(place, move |field| field.default = Some(other.clone())),
            );
        }
        sites.edit(Operator::DefaultDropped, location.clone(), edit(place, |field| field.default = None));
    }
    if field.required {
        sites.edit(Operator::RequiredDropped, location.clone(), edit(place, |field| field.required = false));
    } else {
        let require = |field: &mut Field| {
            field.required = true;
            field.default = None;
        };
        sites.edit(Operator::RequiredAdded, location.clone(), edit(place, require));
    }
    let operator = if field.nullable { Operator::NullRefused } else { Operator::NullAccepted };
    sites.edit(operator, location.clone(), edit(place, |field| field.nullable ^= true));
    if field.unique {
        sites.edit(Operator::UniqueDropped, location.clone(), edit(place, |field| field.unique = false));
    }
    let operator = if field.immutable { Operator::ImmutableDropped } else { Operator::ImmutableInvented };
    sites.edit(operator, location.clone(), edit(place, |field| field.immutable ^= true));
    if let Kind::Reference { on_delete, nested, .. } = field.kind {
        for rule in [OnDelete::Cascade, OnDelete::Restrict, OnDelete::SetNull] {
            if rule != on_delete {
                sites.edit(
                    Operator::WrongDeleteRule,
                    format!("{location} {rule:?}"),
                    edit(place, move |field| {
                        if let Kind::Reference { on_delete, .. } = &mut field.kind {
                            *on_delete = rule;
                        }
                    }),
                );
            }
        }
        if nested {
            sites.edit(
                Operator::NestedMissing,
                location,
                edit(place, |field| {
                    if let Kind::Reference { nested, .. } = &mut field.kind {
                        *nested = false;
                    }
                }),
            );
        }
    }
}

/// An edit of the field at a position.
fn edit<'a>(
    (entity, field): FieldPosition,
    edit: impl Fn(&mut Field) + Send + Sync + 'a,
) -> impl Fn(&mut Schema) + Send + Sync + 'a {
    move |schema| {
        if let Some(field) = schema.entities.get_mut(entity).and_then(|entity| entity.fields.get_mut(field)) {
            edit(field);
        }
    }
}

/// The same kind with one rule wrong, or another kind. For fields and parameters.
pub(super) fn kinds(kind: &Kind) -> Vec<(Operator, Kind)> {
    let mut all = Vec::new();
    match *kind {
        Kind::String { min_length, max_length, pattern } => {
            let mut add_mutant = |operator, min_length, max_length, pattern| {
                all.push((operator, Kind::String { min_length, max_length, pattern }));
            };
            if let Some(pattern) = pattern {
                add_mutant(Operator::PatternDropped, None, None, None);
                // Another form that takes nothing of this one.
                let other = if pattern == Pattern::PostalCode { Pattern::Color } else { Pattern::PostalCode };
                add_mutant(Operator::TypeConfused, None, None, Some(other));
            } else {
                lengths(min_length, max_length, &mut |operator, min, max| {
                    add_mutant(operator, min, max, None);
                });
                if min_length.is_none() {
                    add_mutant(Operator::ConstraintInvented, Some(1), max_length, None);
                }
                if max_length.is_none() {
                    add_mutant(Operator::ConstraintInvented, min_length, Some(255), None);
                }
            }
        }
        Kind::StringList { min_items, max_items } => {
            let mut add_mutant = |operator, min_items, max_items| {
                all.push((operator, Kind::StringList { min_items, max_items }));
            };
            lengths(min_items, max_items, &mut add_mutant);
            if min_items.is_none() {
                add_mutant(Operator::ConstraintInvented, Some(1), max_items);
            }
            all.push((Operator::TypeConfused, free_string()));
        }
        Kind::Integer { min, max } => {
            let mut add_mutant = |operator, min, max| all.push((operator, Kind::Integer { min, max }));
            if let Some(bound) = min {
                add_mutant(Operator::BoundOffByOne, Some(bound - 1), max);
                add_mutant(Operator::BoundOffByOne, Some(bound + 1), max);
                add_mutant(Operator::BoundDropped, None, max);
            } else if max.is_none_or(|max| max >= 0) {
                add_mutant(Operator::ConstraintInvented, Some(0), max);
            }
            if let Some(bound) = max {
                add_mutant(Operator::BoundOffByOne, min, Some(bound - 1));
                add_mutant(Operator::BoundOffByOne, min, Some(bound + 1));
                add_mutant(Operator::BoundDropped, min, None);
            } else if min.is_none_or(|min| min <= 10_000) {
                add_mutant(Operator::ConstraintInvented, min, Some(10_000));
            }
            let whole = |bound: Option<i64>| bound.map(|bound| bound as f64);
            all.push((Operator::TypeConfused, Kind::Number { min: whole(min), max: whole(max) }));
        }
        Kind::Number { min, max } => {
            let mut add_mutant = |operator, min, max| all.push((operator, Kind::Number { min, max }));
            if let Some(bound) = min {
                add_mutant(Operator::BoundOffByOne, Some(bound - 0.25), max);
                add_mutant(Operator::BoundOffByOne, Some(bound + 0.25), max);
                add_mutant(Operator::BoundDropped, None, max);
            } else if max.is_none_or(|max| max >= 0.0) {
                add_mutant(Operator::ConstraintInvented, Some(0.0), max);
            }
            if let Some(bound) = max {
                add_mutant(Operator::BoundOffByOne, min, Some(bound - 0.25));
                add_mutant(Operator::BoundOffByOne, min, Some(bound + 0.25));
                add_mutant(Operator::BoundDropped, min, None);
            } else if min.is_none_or(|min| min <= 10_000.0) {
                add_mutant(Operator::ConstraintInvented, min, Some(10_000.0));
            }
            let whole = |bound: Option<f64>| bound.map(|bound| bound as i64);
            all.push((Operator::TypeConfused, Kind::Integer { min: whole(min), max: whole(max) }));
        }
        Kind::Boolean | Kind::DateTime => all.push((Operator::TypeConfused, free_string())),
        Kind::Enum { ref values } => {
            all.push((Operator::EnumAsString, free_string()));
            for (index, _) in values.iter().enumerate() {
                let mut values = values.clone();
                values.remove(index);
                all.push((Operator::EnumValueMissing, Kind::Enum { values }));
            }
        }
        Kind::Reference { .. } => all.push((Operator::TypeConfused, Kind::Integer { min: None, max: None })),
    }
    all
}

/// A kind in few words, to tell the mutants of a place apart: `integer min 0 max 5`.
pub(super) fn describe_kind(kind: &Kind) -> String {
    let mut words = kind.word().replace(' ', "_");
    let mut bound = |name: &str, bound: Option<String>| {
        if let Some(bound) = bound {
            words.push_str(&format!(" {name} {bound}"));
        }
    };
    match kind {
        Kind::String { min_length: min, max_length: max, .. }
        | Kind::StringList { min_items: min, max_items: max } => {
            bound("min", min.map(|min| min.to_string()));
            bound("max", max.map(|max| max.to_string()));
        }
        Kind::Integer { min, max } => {
            bound("min", min.map(|min| min.to_string()));
            bound("max", max.map(|max| max.to_string()));
        }
        Kind::Number { min, max } => {
            bound("min", min.map(|min| min.to_string()));
            bound("max", max.map(|max| max.to_string()));
        }
        _ => {}
    }
    if let Kind::String { pattern: Some(pattern), .. } = kind {
        words.push_str(" like ");
        words.push_str(pattern.regex());
    }
    words
}

fn free_string() -> Kind {
    Kind::String { min_length: None, max_length: None, pattern: None }
}

fn lengths(
    min: Option<u32>,
    max: Option<u32>,
    add_mutant: &mut dyn FnMut(Operator, Option<u32>, Option<u32>),
) {
    if let Some(bound) = min {
        add_mutant(Operator::BoundOffByOne, Some(bound.saturating_sub(1)), max);
        add_mutant(Operator::BoundOffByOne, Some(bound + 1), max);
        add_mutant(Operator::BoundDropped, None, max);
    }
    if let Some(bound) = max {
        add_mutant(Operator::BoundOffByOne, min, Some(bound.saturating_sub(1)));
        add_mutant(Operator::BoundOffByOne, min, Some(bound + 1));
        add_mutant(Operator::BoundDropped, min, None);
    }
}

/// Another value of a kind.
pub(super) fn other_value(kind: &Kind, value: &Value) -> Option<Value> {
    let candidates = match kind {
        Kind::Enum { values } => values.iter().map(|value| json!(value)).collect(),
        Kind::Boolean => vec![json!(true), json!(false)],
        Kind::Integer { .. } => match value.as_i64() {
            Some(now) => vec![json!(now.saturating_add(1)), json!(now.saturating_sub(1))],
            None => vec![json!(1), json!(0)],
        },
        Kind::Number { .. } => match value.as_f64() {
            Some(now) => vec![json!(now + 1.0), json!(now - 1.0), json!(now + 0.25), json!(now - 0.25)],
            None => vec![json!(1.0), json!(0.0)],
        },
        Kind::DateTime => vec![json!("2001-01-01T00:00:00Z"), json!("2002-02-02T00:00:00Z")],
        Kind::String { pattern: Some(pattern), .. } => {
            vec![json!(pattern.sample(998)), json!(pattern.sample(997))]
        }
        Kind::String { .. } => {
            let now = value.as_str().unwrap_or("");
            let mut shorter = now.to_owned();
            shorter.pop();
            vec![json!(format!("{now}x")), json!(shorter), json!("wrong")]
        }
        Kind::StringList { .. } => vec![json!(["wrong"]), json!(["wrong", "wrong"]), json!([])],
        Kind::Reference { .. } => return None,
    };
    candidates.into_iter().find(|other| other != value && fits(kind, other))
}

/// A value of a kind that no one would give by chance; for what comes from a request or another field.
pub(super) fn odd_value(kind: &Kind) -> Option<Value> {
    let candidates = match kind {
        Kind::Integer { min, max } => {
            let near = [*max, min.map(|min| min.saturating_add(17)), *min];
            let near = near.into_iter().flatten().map(|value| json!(value));
            [json!(4_711), json!(17)].into_iter().chain(near).collect()
        }
        Kind::Number { min, max } => {
            let near =
                [*max, min.map(|min| min + 17.75), *min].into_iter().flatten().map(|value| json!(value));
            [json!(4_711.75), json!(17.75)].into_iter().chain(near).collect()
        }
        Kind::String { pattern: None, min_length, .. } => {
            vec![json!("wrong"), json!("w"), json!("w".repeat(min_length.unwrap_or(1) as usize))]
        }
        // Nothing is certain to be another value of a few.
        Kind::Enum { .. } | Kind::Boolean => return None,
        _ => return other_value(kind, &Value::Null),
    };
    candidates.into_iter().find(|value| fits(kind, value))
}

fn computed<'a>(
    place: FieldPosition,
    entity: &'a Entity,
    computed: &'a Computed,
    location: &str,
    sites: &mut Sites<'a>,
) {
    let mut wrong = |computed: Computed| {
        sites.edit(
            Operator::ComputedWrong,
            location,
            edit(place, move |field| field.computed = Some(computed.clone())),
        );
    };
    match computed {
        Computed::Joined { first, second, separator } => {
            if first != second {
                wrong(Computed::Joined {
                    first: second.clone(),
                    second: first.clone(),
                    separator: separator.clone(),
                });
            }
            wrong(Computed::Joined {
                first: first.clone(),
                second: second.clone(),
                separator: format!("{separator}_"),
            });
        }
        Computed::Product { left, right } => {
            wrong(Computed::Sum { left: left.clone(), right: right.clone() });
        }
        Computed::Sum { left, right } => {
            wrong(Computed::Product { left: left.clone(), right: right.clone() });
        }
        Computed::AtLeast { field: operand, value } => {
            let step = match entity.field(operand).map(|operand| &operand.kind) {
                Some(Kind::Integer { .. }) => 1.0,
                _ => 0.25,
            };
            let now = value.as_f64().unwrap_or(0.0);
            for value in [now - step, now + step] {
                wrong(Computed::AtLeast { field: operand.clone(), value: json!(value) });
            }
        }
        Computed::CountOf { .. } => {}
        Computed::TotalOf { entity: from, reference, .. } => {
            wrong(Computed::CountOf { entity: from.clone(), reference: reference.clone() });
        }
    }
    // It is an ordinary field, which no one writes.
    sites.edit(
        Operator::ComputedWrong,
        location,
        edit(place, |field| {
            field.computed = None;
            field.nullable = true;
        }),
    );
}
