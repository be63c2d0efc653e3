//! Rules of analytics.

use super::values::fits;
use super::{Faults, first_duplicate};
use crate::ir::{Analytic, Entity, Field, Kind, RecordRestriction, Schema, is_name};

pub(super) fn check(schema: &Schema, faults: &mut Faults) {
    if let Some(key) = first_duplicate(schema.analytics.iter().map(|analytic| analytic.key.as_str())) {
        faults.add(format!("analytics.{key}"), "two analytics have this key");
    }
    if let Some(name) = first_duplicate(schema.analytics.iter().map(|analytic| analytic.name.as_str())) {
        faults.add("analytics", format!("two analytics have the name `{name}`"));
    }
    for analytic in &schema.analytics {
        if !is_name(&analytic.key) || !is_name(&analytic.name) {
            faults.add(format!("analytics.{}", analytic.key.escape_debug()), "the key or name is no name");
        }
        if analytic.introduced_in == 0 || analytic.introduced_in > schema.turn {
            faults.add(format!("analytics.{}", analytic.key), "it came in a turn that has not been");
        }
        if let Some(problem) = fault(schema, analytic) {
            faults.add(format!("analytics.{}", analytic.key), problem);
        }
    }
}

fn fault(schema: &Schema, analytic: &Analytic) -> Option<String> {
    let Some(entity) = schema.entity(&analytic.entity) else {
        return Some(format!("there is no entity `{}`", analytic.entity));
    };
    let field = |key: &str| entity.field(key).filter(|field| field.computed.is_none());
    if let Some(key) = analytic.measure.field()
        && !field(key).is_some_and(Field::is_numeric)
    {
        return Some(format!("`{key}` is no number that can be measured"));
    }
    if let Some(key) = &analytic.group_by
        && !field(key).is_some_and(|field| {
            matches!(
                field.kind,
                Kind::Enum { .. } | Kind::Boolean | Kind::String { .. } | Kind::Reference { .. }
            )
        })
    {
        return Some(format!("`{key}` cannot be grouped by"));
    }
    if let Some(key) = &analytic.by
        && field(key).and_then(Field::target).is_none()
    {
        return Some(format!("`{key}` is no reference"));
    }
    let only = analytic.only.as_ref()?;
    if only.through.is_none() && analytic.group_by.as_ref() == Some(&only.field) {
        return Some(format!("it takes one value of `{}` only, and is grouped by it", only.field));
    }
    restriction_fault(schema, entity, only)
}

/// Why a restriction of records of an entity cannot be judged.
pub(super) fn restriction_fault(
    schema: &Schema,
    entity: &Entity,
    only: &RecordRestriction,
) -> Option<String> {
    let restricted = match &only.through {
        None => Some(entity),
        Some(reference) => entity
            .field(reference)
            .filter(|field| field.computed.is_none())
            .and_then(Field::target)
            .and_then(|key| schema.entity(key)),
    };
    let good = restricted.and_then(|restricted| restricted.field(&only.field)).is_some_and(|field| {
        field.computed.is_none()
            && matches!(field.kind, Kind::Enum { .. } | Kind::Boolean)
            && fits(&field.kind, &only.equals)
    });
    (!good).then(|| format!("the restriction on `{}` cannot be judged", only.field))
}
