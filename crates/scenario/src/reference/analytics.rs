//! Analytics: a number over records, or one per group.

use serde_json::{Map, Value, json};

use super::answer::{Outcome, invalid};
use super::listing::param;
use super::plan::{AnalyticPlan, MeasurePlan, RestrictionPlan};
use super::records::{Record, compare, integer, is_same_value, number, sum};
use super::{Flaw, Request, Response, World};

impl World {
    pub(super) fn analytic(&self, analytic: &AnalyticPlan, request: &Request) -> Outcome<Response> {
        let referenced = match &analytic.reference {
            Some((name, field)) if !self.has(Flaw::AnalyticByIgnored) => match param(request, name) {
                None => None,
                Some(text) => match integer(text) {
                    Some(id) => Some((*field, id)),
                    None if self.has(Flaw::AnalyticByUnchecked) => None,
                    None => return Err(invalid(format!("{name} cannot be {text:.40}"))),
                },
            },
            _ => None,
        };
        let counts_deleted = self.has(Flaw::SoftDeletedCounted);
        let records = self
            .tables
            .get(analytic.entity)
            .into_iter()
            .flat_map(|table| table.records.values())
            .filter(|record| counts_deleted || !record.deleted)
            .filter(|record| referenced.is_none_or(|(field, id)| record.refers(field, id)))
            .filter(|record| {
                self.has(Flaw::AnalyticOnlyIgnored)
                    || analytic.restriction.as_ref().is_none_or(|only| self.is_counted(only, record))
            });
        let body = match analytic.group_by.filter(|_| !self.has(Flaw::GroupsMissing)) {
            None => json!({ "value": self.measure(analytic.measure, &records.collect::<Vec<_>>()) }),
            Some(field) => {
                let mut groups: Vec<(&Value, Vec<&Record>)> = Vec::new();
                for record in records {
                    let key = record.value(field);
                    if key.is_null() && !self.has(Flaw::GroupWithNull) {
                        continue;
                    }
                    match groups.iter_mut().find(|(other, _)| is_same_value(other, key)) {
                        Some((_, group)) => group.push(record),
                        None => groups.push((key, vec![record])),
                    }
                }
                let rows = groups
                    .into_iter()
                    .map(|(key, group)| {
                        let mut row = Map::with_capacity(2);
                        row.insert("key".to_owned(), key.clone());
                        row.insert("value".to_owned(), self.measure(analytic.measure, &group));
                        Value::Object(row)
                    })
                    .collect();
                Value::Object(Map::from_iter([("groups".to_owned(), Value::Array(rows))]))
            }
        };
        Ok(Response::json(200, body))
    }

    fn is_counted(&self, only: &RestrictionPlan, record: &Record) -> bool {
        let value = match only.through {
            None => Some(record.value(only.field)),
            Some((reference, target)) => record
                .value(reference)
                .as_i64()
                .and_then(|id| self.tables.get(target)?.live_record(id))
                .map(|related| related.value(only.field)),
        };
        value.is_some_and(|value| is_same_value(value, &only.equals))
    }

    fn measure(&self, measure: MeasurePlan, records: &[&Record]) -> Value {
        let values =
            |field: usize| records.iter().map(move |record| record.value(field)).filter(|v| !v.is_null());
        match measure {
            MeasurePlan::Count => Value::from(records.len()),
            MeasurePlan::Sum(field) => {
                if values(field).next().is_none() && self.has(Flaw::EmptySumIsNull) {
                    return Value::Null;
                }
                sum(values(field))
            }
            MeasurePlan::Average(field) => {
                let count =
                    if self.has(Flaw::NullCountsInAverage) { records.len() } else { values(field).count() };
                if count == 0 {
                    return if self.has(Flaw::EmptyAverageIsZero) { Value::from(0) } else { Value::Null };
                }
                let total: f64 = values(field).filter_map(Value::as_f64).sum();
                let average = total / count as f64;
                number(if self.has(Flaw::AverageRoundedDown) { average.floor() } else { average })
            }
            MeasurePlan::Min(field) => least(values(field), self.has(Flaw::MinMaxSwapped)),
            MeasurePlan::Max(field) => least(values(field), !self.has(Flaw::MinMaxSwapped)),
        }
    }
}

/// The least value, or the greatest; null without any.
fn least<'a>(values: impl Iterator<Item = &'a Value>, greatest: bool) -> Value {
    let found = if greatest {
        values.max_by(|left, right| compare(left, right))
    } else {
        values.min_by(|left, right| compare(left, right))
    };
    found.cloned().unwrap_or(Value::Null)
}
