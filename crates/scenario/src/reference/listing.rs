//! Lists: filters, order, pages.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::answer::{Outcome, invalid, not_found};
use super::plan::{EntityPlan, FieldPlan, ServerPlan};
use super::records::{Record, compare, integer};
use super::{Flaw, Request, Response, World};
use crate::ir::{FilterOp, Kind, PaginationStyle};

/// What a filter compares with.
enum FilterValue<'a> {
    Text(&'a str),
    Number(f64),
    Boolean(bool),
}

/// A filter that a query asks for.
struct QueryFilter<'a> {
    field: usize,
    op: FilterOp,
    wanted: FilterValue<'a>,
}

/// The part of a list that a query asks for.
struct Page {
    skip: usize,
    size: usize,
}

/// The first parameter of this name.
pub(super) fn param<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

impl World {
    /// A list, or a nested list with the reference and id of its parent.
    pub(super) fn list(
        &self,
        plan: &ServerPlan,
        entity: usize,
        request: &Request,
        parent: Option<(usize, i64)>,
    ) -> Outcome<Response> {
        let (Some(entity_plan), Some(table)) = (plan.entities.get(entity), self.tables.get(entity)) else {
            return Err(not_found("There is no such route"));
        };
        let filters = self.filters(entity_plan, request)?;
        let order = self.order(plan, entity_plan, request)?;
        let page = self.page(plan, request)?;
        let with_deleted = entity_plan.soft_delete
            && (self.has(Flaw::SoftDeletedListed)
                || (!self.has(Flaw::IncludeDeletedIgnored)
                    && param(request, &plan.params.include_deleted) == Some("true")));
        let parent = parent.filter(|_| !self.has(Flaw::NestedUnfiltered));
        let mut records: Vec<&Record> = table
            .records
            .values()
            .filter(|record| with_deleted || !record.deleted)
            .filter(|record| parent.is_none_or(|(reference, id)| record.refers(reference, id)))
            .filter(|record| {
                let mut each = filters.iter().map(|filter| self.matches(filter, record));
                if self.has(Flaw::FilterAny) && !filters.is_empty() {
                    each.any(|holds| holds)
                } else {
                    each.all(|holds| holds)
                }
            })
            .collect();
        if let Some((field, descending)) = order {
            // The sort is stable and records come by id, so that equal values stay by id.
            records.sort_by(|left, right| {
                let order = compare(left.value(field), right.value(field));
                if descending == self.has(Flaw::SortReversed) { order } else { order.reverse() }
            });
            if self.has(Flaw::SortTiesReversed) {
                records.sort_by(|left, right| {
                    let order = compare(left.value(field), right.value(field));
                    let order = if descending { order.reverse() } else { order };
                    order.then(right.id.cmp(&left.id))
                });
            }
        }
        let matching = records.len();
        let items: Vec<Value> = records
            .into_iter()
            .skip(page.skip)
            .take(page.size)
            .map(|record| self.response_record(plan, entity, record))
            .collect();
        let total = if self.has(Flaw::TotalCountsPage) { items.len() } else { matching };
        let shape = &plan.conventions.list;
        let mut body = Map::with_capacity(2);
        body.insert(shape.items.clone(), Value::Array(items));
        body.insert(shape.total.clone(), Value::from(total));
        Ok(Response::json(200, Value::Object(body)))
    }

    fn filters<'a>(&self, entity_plan: &EntityPlan, request: &'a Request) -> Outcome<Vec<QueryFilter<'a>>> {
        let mut found = Vec::new();
        if self.has(Flaw::FilterIgnored) || request.query.is_empty() {
            return Ok(found);
        }
        for filter in &entity_plan.filters {
            let Some(text) = param(request, &filter.param) else { continue };
            let Some(field) = entity_plan.fields.get(filter.field) else { continue };
            match self.filter_value(field, filter.op, text) {
                Some(wanted) => found.push(QueryFilter { field: filter.field, op: filter.op, wanted }),
                None if self.has(Flaw::FilterUnchecked) => {}
                None => return Err(invalid(format!("{} cannot be {text:.40}", filter.param))),
            }
        }
        Ok(found)
    }

    /// What a filter's text stands for; nothing if it cannot be read as the field's type.
    fn filter_value<'a>(&self, field: &FieldPlan, op: FilterOp, text: &'a str) -> Option<FilterValue<'a>> {
        if op == FilterOp::Contains {
            return Some(FilterValue::Text(text));
        }
        match &field.kind {
            Kind::String { .. } | Kind::StringList { .. } => Some(FilterValue::Text(text)),
            Kind::Enum { values } => {
                values.iter().any(|value| value == text).then_some(FilterValue::Text(text))
            }
            Kind::DateTime => self.is_date_time(text).then_some(FilterValue::Text(text)),
            Kind::Integer { .. } | Kind::Reference { .. } => {
                integer(text).map(|id| FilterValue::Number(id as f64))
            }
            Kind::Number { .. } => {
                text.parse().ok().filter(|number: &f64| number.is_finite()).map(FilterValue::Number)
            }
            Kind::Boolean => match text {
                "true" => Some(FilterValue::Boolean(true)),
                "false" => Some(FilterValue::Boolean(false)),
                _ => None,
            },
        }
    }

    fn matches(&self, filter: &QueryFilter<'_>, record: &Record) -> bool {
        let value = record.value(filter.field);
        if value.is_null() {
            return self.has(Flaw::FilterMatchesNull);
        }
        if filter.op == FilterOp::Contains {
            let (Value::String(text), FilterValue::Text(part)) = (value, &filter.wanted) else {
                return false;
            };
            return if self.has(Flaw::FilterIgnoresCase) {
                text.to_lowercase().contains(&part.to_lowercase())
            } else if self.has(Flaw::ContainsAtStart) {
                text.starts_with(part)
            } else {
                text.contains(part)
            };
        }
        let order = match (value, &filter.wanted) {
            (Value::String(text), FilterValue::Text(wanted)) => text.as_str().cmp(wanted),
            (Value::Number(number), FilterValue::Number(wanted)) => {
                match number.as_f64().and_then(|number| number.partial_cmp(wanted)) {
                    Some(order) => order,
                    None => return false,
                }
            }
            (Value::Bool(value), FilterValue::Boolean(wanted)) => value.cmp(wanted),
            _ => return false,
        };
        match filter.op {
            FilterOp::AtLeast if self.has(Flaw::FilterExclusive) => order.is_gt(),
            FilterOp::AtMost if self.has(Flaw::FilterExclusive) => order.is_lt(),
            FilterOp::AtLeast if self.has(Flaw::FilterSwapped) => order.is_le(),
            FilterOp::AtMost if self.has(Flaw::FilterSwapped) => order.is_ge(),
            FilterOp::AtLeast => order.is_ge(),
            FilterOp::AtMost => order.is_le(),
            FilterOp::Equals | FilterOp::Contains => {
                (order == Ordering::Equal) != self.has(Flaw::FilterInverted)
            }
        }
    }

    fn order(
        &self,
        plan: &ServerPlan,
        entity_plan: &EntityPlan,
        request: &Request,
    ) -> Outcome<Option<(usize, bool)>> {
        let default = entity_plan.default_sort.filter(|_| !self.has(Flaw::DefaultSortIgnored));
        let Some(text) = param(request, &plan.params.sort) else { return Ok(default) };
        let (name, descending) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
        match entity_plan.sorts.get(name) {
            _ if self.has(Flaw::SortIgnored) => Ok(default),
            Some(&field) => Ok(Some((field, descending && !self.has(Flaw::DescendingIgnored)))),
            None if self.has(Flaw::SortUnchecked) => Ok(default),
            None => Err(invalid(format!("Lists cannot be sorted by {text:.40}"))),
        }
    }

    fn page(&self, plan: &ServerPlan, request: &Request) -> Outcome<Page> {
        let pagination = &plan.conventions.pagination;
        let first = match pagination.style {
            PaginationStyle::Page => 1,
            PaginationStyle::Offset => 0,
        };
        let read = |name: &str, least: i64, most: i64, absent: i64| {
            let Some(text) = param(request, name) else { return Ok(absent) };
            match integer(text) {
                Some(number) if (least..=most).contains(&number) => Ok(number),
                Some(number) if self.has(Flaw::PageUnchecked) => Ok(number.max(least)),
                Some(number) if self.has(Flaw::PageSizeClamped) && number > most => Ok(most),
                None if self.has(Flaw::PageUnchecked) => Ok(absent),
                _ => Err(invalid(format!("{name} cannot be {text:.40}"))),
            }
        };
        let start = read(&plan.params.start, first, i64::MAX, first)?;
        let size =
            read(&plan.params.size, 1, i64::from(pagination.max_size), i64::from(pagination.default_size))?;
        let size = if self.has(Flaw::PageSizeIgnored) { i64::from(pagination.default_size) } else { size };
        let skip = match pagination.style {
            PaginationStyle::Page => (start - 1).saturating_mul(size),
            PaginationStyle::Offset => start,
        };
        let skip = if self.has(Flaw::PageIgnored) { 0 } else { skip };
        // Pages from 0 where they should be from 1, offsets from 1 where they should be from 0.
        let skip = if self.has(Flaw::PageOffByOne) && param(request, &plan.params.start).is_some() {
            match pagination.style {
                PaginationStyle::Page => skip.saturating_add(size),
                PaginationStyle::Offset => skip.saturating_sub(1),
            }
        } else {
            skip
        };
        let clip = |n: i64| usize::try_from(n).unwrap_or(if n < 0 { 0 } else { usize::MAX });
        Ok(Page { skip: clip(skip), size: clip(size) })
    }
}
