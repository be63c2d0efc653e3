//! Rules of fields: kinds with their bounds, what an absent field becomes, references, computed fields.

use super::values::{GREATEST_NUMBER, divides_from_below, fits, is_exact};
use super::{Faults, MOST_PARTS, first_duplicate};
use crate::ir::{Computed, Entity, Field, Kind, OnDelete, Schema, is_name};

pub(super) fn check(schema: &Schema, entity: &Entity, field: &Field, faults: &mut Faults) {
    let location = || format!("{}.{}", entity.key, field.key);
    for (label, name) in [("key", &field.key), ("name", &field.name)] {
        if !is_name(name) {
            faults.add(location(), format!("the {label} `{}` is no name", name.escape_debug()));
        }
    }
    if field.introduced_in == 0 || field.introduced_in > schema.turn {
        faults.add(location(), "it came in a turn that has not been");
    }
    if let Some(computed) = &field.computed {
        if field.required || field.nullable || field.default.is_some() || field.unique || field.immutable {
            faults.add(location(), "a computed field has no other rule");
        }
        if let Some(problem) = computed_fault(schema, entity, field, computed) {
            faults.add(location(), problem);
        }
        return;
    }
    if let Some(problem) = kind_fault(&field.kind) {
        faults.add(location(), problem);
    }
    match &field.default {
        Some(_) if field.required => faults.add(location(), "a required field has no default"),
        Some(_) if field.unique => faults.add(location(), "a unique field has no default"),
        Some(default) if !fits(&field.kind, default) => {
            faults.add(location(), "the default does not obey the field's own rules");
        }
        None if !field.required && !field.nullable => {
            faults.add(location(), "a field that is not required has a default or is nullable");
        }
        _ => {}
    }
    if field.unique && !can_be_unique(&field.kind) {
        faults.add(location(), "only strings and integers with room for ten values can be unique");
    }
    if let Kind::Reference { entity: target, on_delete, .. } = &field.kind {
        if schema.entity(target).is_none() {
            faults.add(location(), format!("it refers to `{target}`, which does not exist"));
        }
        if *on_delete == OnDelete::SetNull && !field.nullable {
            faults.add(location(), "a reference that a deletion makes null is nullable");
        }
    }
}

/// Whether values of a kind can be distinguished well enough to be unique.
pub fn can_be_unique(kind: &Kind) -> bool {
    match kind {
        Kind::String { max_length, .. } => max_length.is_none_or(|max| max >= 3),
        Kind::Integer { min, max } => {
            max.unwrap_or(GREATEST_NUMBER).saturating_sub(min.unwrap_or(-GREATEST_NUMBER)) >= 9
        }
        _ => false,
    }
}

/// What is wrong with the bounds of a kind.
pub(super) fn kind_fault(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::String { min_length, max_length, pattern } => {
            if pattern.is_some() && (min_length.is_some() || max_length.is_some()) {
                return Some("a string with a pattern has no bounds of length");
            }
            lengths_fault(*min_length, *max_length)
        }
        Kind::StringList { min_items, max_items } => lengths_fault(*min_items, *max_items),
        Kind::Integer { min, max } => {
            if [min, max]
                .into_iter()
                .flatten()
                .any(|bound| !(-GREATEST_NUMBER..=GREATEST_NUMBER).contains(bound))
            {
                return Some("a bound is too large");
            }
            matches!((min, max), (Some(min), Some(max)) if min > max)
                .then_some("the least value is greater than the greatest")
        }
        Kind::Number { min, max } => {
            if [min, max].into_iter().flatten().any(|bound| !is_exact(*bound)) {
                return Some("a bound is no multiple of 0.25, or too large");
            }
            matches!((min, max), (Some(min), Some(max)) if min > max)
                .then_some("the least value is greater than the greatest")
        }
        Kind::Enum { values } => {
            if values.len() < 2 {
                Some("an enum has at least two values")
            } else if values.len() > MOST_PARTS {
                Some("the enum has too many values")
            } else if !values.iter().all(|value| is_name(value)) {
                Some("a value of an enum is a name")
            } else {
                first_duplicate(values.iter().map(String::as_str))
                    .map(|_| "a value of the enum is there twice")
            }
        }
        Kind::Boolean | Kind::DateTime | Kind::Reference { .. } => None,
    }
}

fn lengths_fault(min: Option<u32>, max: Option<u32>) -> Option<&'static str> {
    if [min, max].into_iter().flatten().any(|bound| !(1..=200).contains(&bound)) {
        return Some("a bound of length is 1 to 200");
    }
    matches!((min, max), (Some(min), Some(max)) if min > max)
        .then_some("the least length is over the greatest")
}

/// What is wrong with how a field is computed.
fn computed_fault(schema: &Schema, entity: &Entity, field: &Field, computed: &Computed) -> Option<String> {
    let free = match &field.kind {
        Kind::String { min_length, max_length, pattern } => {
            min_length.is_none() && max_length.is_none() && pattern.is_none()
        }
        Kind::Integer { min, max } => min.is_none() && max.is_none(),
        Kind::Number { min, max } => min.is_none() && max.is_none(),
        Kind::Boolean => true,
        _ => false,
    };
    if !free {
        return Some("a computed field is a string, integer, number or boolean without bounds".to_owned());
    }
    let operand = |key: &str| match entity.field(key) {
        None => Err(format!("there is no field `{key}` to compute with")),
        Some(field) if field.computed.is_some() => Err(format!("`{key}` is computed itself")),
        Some(field) if field.nullable => Err(format!("`{key}` can be null")),
        Some(field) => Ok(field),
    };
    let fault = match computed {
        Computed::Joined { first, second, separator } => {
            let text = |key: &str| {
                let field = operand(key)?;
                match field.kind {
                    Kind::String { .. } | Kind::Enum { .. } => Ok(()),
                    _ => Err(format!("`{key}` is no text")),
                }
            };
            text(first).and_then(|()| text(second)).and_then(|()| {
                if !matches!(field.kind, Kind::String { .. }) {
                    Err("joined texts are a string".to_owned())
                } else if separator.len() > 10 || separator.chars().any(char::is_control) {
                    Err("the separator is a few characters".to_owned())
                } else {
                    Ok(())
                }
            })
        }
        Computed::Product { left, right } | Computed::Sum { left, right } => {
            operand(left).and_then(|left| Ok((left, operand(right)?))).and_then(|(left, right)| {
                let integers = [left, right].iter().all(|field| matches!(field.kind, Kind::Integer { .. }));
                let fits = match field.kind {
                    Kind::Integer { .. } => integers,
                    Kind::Number { .. } => !integers,
                    _ => false,
                };
                if !left.is_numeric() || !right.is_numeric() {
                    Err("products and sums are of numbers".to_owned())
                } else if !fits {
                    Err("it is an integer if both operands are, else a number".to_owned())
                } else {
                    Ok(())
                }
            })
        }
        Computed::AtLeast { field: key, value } => operand(key).and_then(|compared| {
            if !compared.is_numeric() || !divides_from_below(&compared.kind, value) {
                Err(format!("`{key}` is not always or never at least this value of its kind"))
            } else if field.kind != Kind::Boolean {
                Err("a comparison is a boolean".to_owned())
            } else {
                Ok(())
            }
        }),
        Computed::CountOf { entity: owner, reference } => {
            if !refers(schema, owner, reference, &entity.key) {
                Err(format!("`{owner}.{reference}` is no reference to this entity"))
            } else if !matches!(field.kind, Kind::Integer { .. }) {
                Err("a count is an integer".to_owned())
            } else {
                Ok(())
            }
        }
        Computed::TotalOf { entity: owner, reference, field: summed_key } => {
            let summed = schema.entity(owner).and_then(|owner| owner.field(summed_key));
            if !refers(schema, owner, reference, &entity.key) {
                return Some(format!("`{owner}.{reference}` is no reference to this entity"));
            }
            match summed {
                Some(found) if found.computed.is_none() && found.is_numeric() => {
                    if std::mem::discriminant(&found.kind) == std::mem::discriminant(&field.kind) {
                        Ok(())
                    } else {
                        Err("a total has the type of what is summed".to_owned())
                    }
                }
                _ => Err(format!("`{owner}.{summed_key}` is no number")),
            }
        }
    };
    fault.err()
}

/// Whether a field of an entity is a reference to another one.
pub(super) fn refers(schema: &Schema, owner: &str, reference: &str, target: &str) -> bool {
    schema
        .entity(owner)
        .and_then(|owner| owner.field(reference))
        .is_some_and(|field| field.computed.is_none() && field.target() == Some(target))
}
