//! Analytics that compute something else, or over other records.

use scenario::ir::{Analytic, Entity, Kind, Measure, RecordRestriction, Schema};

use super::{Operator, Sites};

pub(super) fn find<'a>(schema: &'a Schema, index: usize, analytic: &'a Analytic, sites: &mut Sites<'a>) {
    let Some(entity) = schema.entity(&analytic.entity) else { return };
    let mut wrong = |operator, edit: Box<dyn Fn(&mut Analytic) + Send + Sync + 'a>| {
        sites.edit(operator, format!("analytics.{}", analytic.key), move |schema| {
            if let Some(analytic) = schema.analytics.get_mut(index) {
                edit(analytic);
            }
        });
    };
    wrong(Operator::AnalyticMissing, Box::new(|analytic| analytic.name.push_str("_missing")));
    let other = match &analytic.measure {
        // No field is needed to count; any number will do for something else.
        Measure::Count => entity
            .fields
            .iter()
            .find(|field| field.computed.is_none() && field.is_numeric())
            .map(|field| Measure::Sum(field.key.clone())),
        Measure::Sum(field) => Some(Measure::Average(field.clone())),
        Measure::Average(field) => Some(Measure::Sum(field.clone())),
        Measure::Min(field) => Some(Measure::Max(field.clone())),
        Measure::Max(field) => Some(Measure::Min(field.clone())),
    };
    if let Some(other) =
        other.filter(|_| analytic.measure == Measure::Count || !groups_of_one(entity, analytic))
    {
        wrong(Operator::AggregateWrong, Box::new(move |analytic| analytic.measure = other.clone()));
    }
    if let Some(field) = analytic.measure.field() {
        let other = entity
            .fields
            .iter()
            .find(|other| other.key != field && other.computed.is_none() && other.is_numeric());
        if let Some(other) = other {
            let measure = match &analytic.measure {
                Measure::Count => Measure::Count,
                Measure::Sum(_) => Measure::Sum(other.key.clone()),
                Measure::Average(_) => Measure::Average(other.key.clone()),
                Measure::Min(_) => Measure::Min(other.key.clone()),
                Measure::Max(_) => Measure::Max(other.key.clone()),
            };
            wrong(Operator::AggregateWrong, Box::new(move |analytic| analytic.measure = measure.clone()));
        }
    }
    if let Some(group) = &analytic.group_by {
        wrong(Operator::GroupDropped, Box::new(|analytic| analytic.group_by = None));
        let other = entity.fields.iter().find(|field| {
            field.key != *group
                && field.computed.is_none()
                && matches!(field.kind, Kind::Enum { .. } | Kind::Boolean | Kind::Reference { .. })
        });
        if let Some(other) = other {
            wrong(
                Operator::GroupWrong,
                Box::new(move |analytic| analytic.group_by = Some(other.key.clone())),
            );
        }
    }
    if let Some(only) = &analytic.only {
        wrong(Operator::RestrictionDropped, Box::new(|analytic| analytic.only = None));
        if let Some(field) =
            scenario::change::uses::only_entity(schema, analytic).and_then(|entity| entity.field(&only.field))
            && let Some(equals) = super::fields::other_value(&field.kind, &only.equals)
        {
            let other = RecordRestriction { equals, ..only.clone() };
            wrong(Operator::RestrictionWrong, Box::new(move |analytic| analytic.only = Some(other.clone())));
        }
    }
    if analytic.by.is_some() {
        wrong(Operator::AnalyticFilterIgnored, Box::new(|analytic| analytic.by = None));
    }
}

/// Whether no group can have two records: sum, average, least and greatest value are the same then.
pub(super) fn groups_of_one(entity: &Entity, analytic: &Analytic) -> bool {
    analytic.group_by.as_deref().and_then(|key| entity.field(key)).is_some_and(|field| field.unique)
}
