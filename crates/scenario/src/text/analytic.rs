//! Analytics.

use super::words::{Names, value};
use crate::ir::{Analytic, Measure, Schema};

/// Path, measure, grouping, restriction and parameter.
pub(super) fn text(schema: &Schema, analytic: &Analytic) -> String {
    let names = Names::new(schema);
    let entity = &analytic.entity;
    let many = names.many(entity);
    let measured = |key: &str| names.field(entity, key);
    let mut out = format!("`GET {}`: ", schema.analytic_path(analytic));
    out.push_str(&match &analytic.measure {
        Measure::Count => format!("the number of {many}"),
        Measure::Sum(field) => format!("the sum of {} over the {many}", measured(field)),
        Measure::Average(field) => format!("the average of {} over the {many}", measured(field)),
        Measure::Min(field) => format!("the least {} of the {many}", measured(field)),
        Measure::Max(field) => format!("the greatest {} of the {many}", measured(field)),
    });
    if let Some(only) = &analytic.only {
        let (owner, holds) = match &only.through {
            None => (entity.as_str(), format!(" whose {} is ", measured(&only.field))),
            Some(through) => {
                let target = names.find(entity, through).and_then(|field| field.target()).unwrap_or_default();
                let holds = format!(
                    " for which the {} that {} names has as {} ",
                    names.one(target),
                    measured(through),
                    names.field(target, &only.field)
                );
                (target, holds)
            }
        };
        out.push_str(&holds);
        out.push_str(&value(names.kind(owner, &only.field), &only.equals));
    }
    match &analytic.group_by {
        Some(field) => out.push_str(&format!(", grouped by {}.", measured(field))),
        None => out.push_str(", not grouped."),
    }
    match &analytic.by {
        Some(field) => {
            out.push_str(&format!(
                " Query parameter: {}, for only the {many} that refer to this id by it.",
                measured(field)
            ));
        }
        None => out.push_str(" It has no query parameter."),
    }
    out
}
