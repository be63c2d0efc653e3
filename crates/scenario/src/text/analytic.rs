//! Analytics.

use super::words::{Names, value};
use crate::ir::{Analytic, Measure, Only, Schema};

/// Path, measure, grouping, restriction and parameter.
pub(super) fn text(schema: &Schema, analytic: &Analytic) -> String {
    let names = Names::new(schema);
    let entity = &analytic.entity;
    let many = names.many(entity);
    let mut out = format!("`GET {}`: ", schema.analytic_path(analytic));
    out.push_str(&measure(names, entity, &analytic.measure));
    if let Some(only) = &analytic.only {
        out.push_str(&restriction(names, entity, only));
    }
    match &analytic.group_by {
        Some(field) => out.push_str(&format!(", grouped by {}.", names.field(entity, field))),
        None => out.push_str(", not grouped."),
    }
    match &analytic.by {
        Some(field) => {
            out.push_str(&format!(
                " Query parameter: {}, for only the {many} that refer to this id by it.",
                names.field(entity, field)
            ));
        }
        None => out.push_str(" It has no query parameter."),
    }
    out
}

/// `` the sum of `price` over the repair orders``.
pub(super) fn measure(names: Names<'_>, entity: &str, measure: &Measure) -> String {
    let many = names.many(entity);
    let measured = |key: &str| names.field(entity, key);
    match measure {
        Measure::Count => format!("the number of {many}"),
        Measure::Sum(field) => format!("the sum of {} over the {many}", measured(field)),
        Measure::Average(field) => format!("the average of {} over the {many}", measured(field)),
        Measure::Min(field) => format!("the least {} of the {many}", measured(field)),
        Measure::Max(field) => format!("the greatest {} of the {many}", measured(field)),
    }
}

/// `` whose `status` is `done` ``, with a space before.
pub(super) fn restriction(names: Names<'_>, entity: &str, only: &Only) -> String {
    let (owner, mut out) = match &only.through {
        None => (entity, format!(" whose {} is ", names.field(entity, &only.field))),
        Some(through) => {
            let target = names.find(entity, through).and_then(|field| field.target()).unwrap_or_default();
            let out = format!(
                " whose {} (named by {}) has {} equal to ",
                names.one(target),
                names.field(entity, through),
                names.field(target, &only.field)
            );
            (target, out)
        }
    };
    out.push_str(&value(names.kind(owner, &only.field), &only.equals));
    out
}
