//! Analytics.

use super::english::{Names, value, with_article};
use crate::ir::{Analytic, Measure, RecordRestriction, Schema};

/// Path, measure, grouping, restriction and parameter.
pub(super) fn text(schema: &Schema, analytic: &Analytic) -> String {
    let names = Names::new(schema);
    let entity = &analytic.entity;
    let mut out =
        format!("`GET {}` returns {}.", schema.analytic_path(analytic), description(names, analytic));
    match &analytic.by {
        Some(field) => {
            let name = names.field(entity, field);
            out.push_str(&format!(
                " The optional query parameter {name} limits it to the {} whose {name} is the given id.",
                names.plural(entity)
            ));
        }
        None => out.push_str(" It has no query parameters."),
    }
    out
}

/// Measure, restriction and grouping.
pub(super) fn description(names: Names<'_>, analytic: &Analytic) -> String {
    let entity = &analytic.entity;
    let mut out = measure(names, entity, &analytic.measure);
    if let Some(only) = &analytic.only {
        out.push_str(&restriction(names, entity, only));
    }
    match &analytic.group_by {
        Some(field) => out.push_str(&format!(", grouped by {}", names.field(entity, field))),
        None => out.push_str(", as a single value"),
    }
    out
}

/// `` the sum of `price` over the repair orders``.
pub(super) fn measure(names: Names<'_>, entity: &str, measure: &Measure) -> String {
    let many = names.plural(entity);
    let measured = |key: &str| names.field(entity, key);
    match measure {
        Measure::Count => format!("the number of {many}"),
        Measure::Sum(field) => format!("the sum of {} over the {many}", measured(field)),
        Measure::Average(field) => format!("the average of {} over the {many}", measured(field)),
        Measure::Min(field) => format!("the smallest {} of the {many}", measured(field)),
        Measure::Max(field) => format!("the largest {} of the {many}", measured(field)),
    }
}

/// `` whose `status` is `done` ``, with a space before.
pub(super) fn restriction(names: Names<'_>, entity: &str, only: &RecordRestriction) -> String {
    let (owner, mut out) = match &only.through {
        None => (entity, format!(" whose {} is ", names.field(entity, &only.field))),
        Some(through) => {
            let target = names.find(entity, through).and_then(|field| field.target()).unwrap_or_default();
            let out = format!(
                " that refer through {} to {} whose {} is ",
                names.field(entity, through),
                with_article(&names.singular(target)),
                names.field(target, &only.field)
            );
            (target, out)
        }
    };
    out.push_str(&value(names.kind(owner, &only.field), &only.equals));
    out
}
