//! Filters, orders and pages of lists.

use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::failure::Failure;
use super::plan::{EntityFacts, FieldFacts, SuitePlan, compare};
use super::records::cite_order;
use super::{Aspect, Case, RequestStep, values};
use crate::ir::{Filter, FilterOp, Kind, Sort};

/// Cases of an entity's list.
pub(super) fn cases<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let title = format!("The list of {} refuses values and orders that it does not know", facts.many);
    let mut invalid = Draft::from_facts(plan, facts, "list.invalid", Aspect::Refuses, title);
    for (index, filter) in facts.entity.filters.iter().enumerate() {
        let (Some(part), Some(param)) =
            (facts.part(&filter.field), plan.schema.filter_param(facts.entity, filter))
        else {
            continue;
        };
        one_filter(plan, facts, part, (filter, &param, index == 0), cases);
        add_unreadable_value(&mut invalid, facts, part, (filter, &param));
    }
    two_filters(plan, facts, cases);
    sorts(plan, facts, cases);
    add_unknown_orders(&mut invalid, facts);
    invalid.done(cases);
    pages(plan, facts, cases);
}

/// Values of a filtered field, for up to four records, and the value that is asked for.
pub(super) fn filtered(part: &FieldFacts<'_>, op: FilterOp) -> (Vec<Value>, Value) {
    match (&part.field.kind, op) {
        (Kind::String { min_length, max_length, pattern: None }, FilterOp::Contains)
            if min_length.is_none_or(|min| min <= 8) && max_length.is_none_or(|max| max >= 8) =>
        {
            (
                vec![json!("a needle"), json!("A Needle"), json!("a noodle"), json!("needle b")],
                json!("needle"),
            )
        }
        (Kind::String { .. }, FilterOp::Contains) => {
            let values: Vec<Value> = (1..=3).map(|n| part.value(n)).collect();
            // The end of a text tells texts of one form apart.
            let text = part.value(2);
            let text = text.as_str().unwrap_or_default();
            let needle: String = text.chars().skip(text.chars().count().saturating_sub(5)).collect();
            (values, json!(needle))
        }
        (Kind::Reference { entity, .. }, _) => {
            let id = |n| super::plan::id_of(entity, n);
            if part.field.unique { (vec![id(1), id(2)], id(2)) } else { (vec![id(1), id(2), id(2)], id(2)) }
        }
        (_, FilterOp::Equals) => {
            let (wanted, other) = (part.value(2), part.value(1));
            if part.field.unique {
                (vec![other, wanted.clone(), part.value(3)], wanted)
            } else {
                (vec![other, wanted.clone(), wanted.clone()], wanted)
            }
        }
        _ => {
            let mut all: Vec<Value> = (1..=3).map(|n| part.value(n)).collect();
            let mut sorted = all.clone();
            sorted.sort_by(compare);
            // The middle one is asked for: one below, itself, one above.
            let wanted = sorted.swap_remove(1);
            all.dedup();
            (all, wanted)
        }
    }
}

fn holds(op: FilterOp, value: &Value, wanted: &Value) -> bool {
    !value.is_null()
        && match op {
            FilterOp::Equals => value == wanted,
            FilterOp::AtLeast => compare(value, wanted).is_ge(),
            FilterOp::AtMost => compare(value, wanted).is_le(),
            FilterOp::Contains => value
                .as_str()
                .is_some_and(|value| wanted.as_str().is_some_and(|wanted| value.contains(wanted))),
        }
}

/// Makes records with these values of a field, and a last one with null if it may be; returns what each has.
pub(super) fn make_all<'a>(
    draft: &mut Draft<'_, 'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    mut values: Vec<Value>,
) -> Vec<Vec<Value>> {
    if part.field.nullable && values.len() < 4 {
        values.push(Value::Null);
    }
    (1..)
        .zip(values)
        .map(|(n, value)| {
            let kept = facts
                .parts
                .iter()
                .map(|part_facts| match part_facts.field.key == part.field.key {
                    true => value.clone(),
                    false if part_facts.field.required => part_facts.value(n),
                    false => part_facts.value_if_absent(),
                })
                .collect();
            draft.make_one(facts, n, part, value);
            kept
        })
        .collect()
}

/// The numbers of the records that hold, in the order of the list.
pub(super) fn matching_numbers(
    facts: &EntityFacts<'_>,
    records: &[Vec<Value>],
    holds: impl Fn(&[Value]) -> bool,
) -> Vec<u32> {
    facts
        .sorted_numbers(facts.entity.default_sort.as_ref(), records)
        .into_iter()
        .filter(|&n| records.get(n as usize - 1).is_some_and(|record| holds(record)))
        .collect()
}

fn one_filter<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    (filter, param, first): (&Filter, &str, bool),
    cases: &mut Vec<Case>,
) {
    let op = filter.op;
    let tail = format!("filter.{}.{}", filter.field, op.key());
    let clause = format!("{}.{tail}", facts.key);
    let (values, wanted) = filtered(part, op);
    let title = format!("The list of {} can be filtered by `{param}`", facts.many);
    let mut draft = Draft::from_facts(plan, facts, &tail, Aspect::Filter, title);
    draft.cite_clauses(&["lists.filters", &clause, &part.clause]);
    cite_order(&mut draft, facts);
    let records = make_all(&mut draft, facts, part, values);
    let numbers = matching_numbers(facts, &records, |record| {
        holds(op, facts.value_of(record, &part.field.key), &wanted)
    });
    // A filter with a page: the total counts all that match.
    if first && let Some(first_number) = numbers.get(..1) {
        draft.cite_clauses(&["lists.pages"]);
        let send =
            RequestStep::get(facts.path.clone()).query(param, &wanted).query(&plan.page().1, &json!(1));
        draft.lists_as(facts, send, first_number, numbers.len());
    }
    draft.lists(facts, &[(param, wanted)], &numbers);
    if part.field.kind == Kind::Boolean {
        let other = part.value(1);
        let numbers = matching_numbers(facts, &records, |record| {
            holds(op, facts.value_of(record, &part.field.key), &other)
        });
        draft.lists(facts, &[(param, other)], &numbers);
    }
    if part.refers() {
        draft.lists(facts, &[(param, json!(999))], &[]);
    }
    draft.done(cases);
}

/// A value that cannot be read as the type of a filtered field.
fn add_unreadable_value<'a>(
    draft: &mut Draft<'_, 'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    (filter, param): (&Filter, &str),
) {
    let bad = match part.field.kind {
        Kind::Integer { .. } | Kind::Number { .. } => "many",
        Kind::Boolean => "maybe",
        Kind::Enum { .. } => "unheard_of",
        Kind::DateTime => "soon",
        Kind::Reference { .. } => "first",
        _ => return,
    };
    draft.cite_clauses(&[
        "lists.filters",
        &format!("{}.filter.{}.{}", facts.key, filter.field, filter.op.key()),
    ]);
    draft.fails_with(RequestStep::get(facts.path.clone()).query(param, &json!(bad)), Failure::Invalid);
}

/// Two filters together.
fn two_filters<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let known: Vec<(&Filter, &FieldFacts<'_>, String)> = facts
        .entity
        .filters
        .iter()
        .filter_map(|filter| {
            Some((filter, facts.part(&filter.field)?, plan.schema.filter_param(facts.entity, filter)?))
        })
        .collect();
    let Some((filter, part, param)) = known.first() else { return };
    let cite_filter = |draft: &mut Draft<'_, 'a>, filter: &Filter, part: &FieldFacts<'a>| {
        let clause = format!("{}.filter.{}.{}", facts.key, filter.field, filter.op.key());
        draft.cite_clauses(&["lists.filters", &clause, &part.clause]);
    };
    if let Some((second, other, other_param)) = known.iter().find(|(other, ..)| other.field != filter.field) {
        let title = format!("Of two filters of the list of {} both must hold", facts.many);
        let mut draft = Draft::from_facts(plan, facts, "filter.together", Aspect::Filter, title);
        cite_filter(&mut draft, filter, part);
        cite_filter(&mut draft, second, other);
        cite_order(&mut draft, facts);
        // A value of each that holds and one that does not, in three combinations.
        let pick = |filter: &Filter, part: &FieldFacts<'_>| {
            let (values, wanted) = filtered(part, filter.op);
            let yes = values.iter().find(|value| holds(filter.op, value, &wanted)).cloned();
            let no = values.iter().find(|value| !holds(filter.op, value, &wanted)).cloned();
            Some((yes?, no?, wanted))
        };
        if !part.field.unique
            && !other.field.unique
            && let (Some((yes, no, wanted)), Some((other_yes, other_no, other_wanted))) =
                (pick(filter, part), pick(second, other))
        {
            let mut records = Vec::new();
            for (n, first, two) in [(1, &yes, &other_no), (2, &yes, &other_yes), (3, &no, &other_yes)] {
                let mut row_values = Map::with_capacity(2);
                row_values.insert(part.json.clone(), first.clone());
                row_values.insert(other.json.clone(), two.clone());
                draft.make_with(facts, n, row_values);
                records.push(n);
            }
            draft.lists(facts, &[(param, wanted), (other_param, other_wanted)], &[2]).done(cases);
        }
    }
}

/// Values that can be distinguished by order: three, and the first again if that may be.
fn sortable(part: &FieldFacts<'_>) -> Vec<Value> {
    let mut values: Vec<Value> = (1..=3).map(|n| part.value(n)).collect();
    if let Kind::String { .. } = part.field.kind {
        // By code point capitals come before small letters.
        let mixed = [json!("banana"), json!("Cherry"), json!("apple")];
        if mixed.iter().all(|value| values::fits(&part.field.kind, value)) {
            values = mixed.to_vec();
        }
    }
    if !part.field.unique
        && let Some(first) = values.first().cloned()
    {
        values.push(first);
    }
    values
}

fn sorts<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let clause = format!("{}.sort", facts.key);
    // Without a default order a list comes by id, whatever it could be sorted by.
    let default = facts.entity.default_sort.as_ref();
    let shown = default.map(|sort| &sort.field).or(facts.entity.sorts.first());
    let unasked = |draft: &mut Draft<'_, 'a>, records: &[Vec<Value>]| {
        let order = facts.sorted_numbers(default, records);
        draft.lists(facts, &[], &order);
    };
    for key in &facts.entity.sorts {
        let Some(part) = facts.part(key) else { continue };
        let title = format!("The list of {} can be sorted by `{}`, both ways", facts.many, part.json);
        let mut draft = Draft::from_facts(plan, facts, &format!("sort.{key}"), Aspect::Sort, title);
        draft.cite_clauses(&["lists.sort", &clause, &part.clause]);
        let records = make_all(&mut draft, facts, part, sortable(part));
        for (descending, sign) in [(false, ""), (true, "-")] {
            let order = facts.sorted_numbers(Some(&Sort { field: key.clone(), descending }), &records);
            draft.lists(facts, &[("sort", json!(format!("{sign}{}", part.json)))], &order);
        }
        if shown == Some(key) {
            unasked(&mut draft, &records);
        }
        draft.done(cases);
    }
    if let Some(part) = shown.filter(|key| !facts.entity.sorts.contains(key)).and_then(|key| facts.part(key))
    {
        let title = format!("Without asking, the list of {} is sorted by `{}`", facts.many, part.json);
        let mut draft = Draft::from_facts(plan, facts, "sort.default", Aspect::Sort, title);
        draft.cite_clauses(&["lists.sort", &clause, &part.clause]);
        let records = make_all(&mut draft, facts, part, sortable(part));
        unasked(&mut draft, &records);
        draft.done(cases);
    }
}

/// Orders that the list does not know.
fn add_unknown_orders<'a>(draft: &mut Draft<'_, 'a>, facts: &EntityFacts<'a>) {
    draft.cite_clauses(&["lists.sort", &format!("{}.sort", facts.key)]);
    let unsorted = facts
        .parts
        .iter()
        .find(|part| part.field.is_writable() && !facts.entity.sorts.contains(&part.field.key));
    draft.fails_with(
        RequestStep::get(facts.path.clone()).query("sort", &json!("unheard_of")),
        Failure::Invalid,
    );
    if let Some(part) = unsorted {
        draft.fails(RequestStep::get(facts.path.clone()).query("sort", &json!(part.json)), Failure::Invalid);
    }
}

fn pages<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let title = format!("The list of {} comes in pages", facts.many);
    let mut draft = Draft::from_facts(plan, facts, "pages", Aspect::Page, title);
    draft.cite_clauses(&["lists.pages"]);
    cite_order(&mut draft, facts);
    draft.make(facts, 1).make(facts, 2).make(facts, 3);
    let records: Vec<Vec<Value>> = (1..=3).map(|n| facts.record_values(&facts.required_values(n))).collect();
    let order = facts.sorted_numbers(facts.entity.default_sort.as_ref(), &records);
    let (page_param, size) = plan.page();
    let second = match plan.pagination().style {
        crate::ir::PaginationStyle::Page => 2,
        crate::ir::PaginationStyle::Offset => 1,
    };
    let page = |position: u32, length: u32| {
        RequestStep::get(facts.path.clone()).query(page_param, &json!(position)).query(size, &json!(length))
    };
    // With `page` the second page begins after two records, with `offset` the second record is the first one shown.
    let start = if second == 2 { 2 } else { 1 };
    let end = order.len().min(start + 2);
    draft.lists_as(facts, page(second - 1, 2), &order[..2], 3);
    draft.lists_as(facts, page(second, 2), &order[start..end], 3);
    draft.lists_as(facts, page(9, 2), &[], 3).done(cases);
}
