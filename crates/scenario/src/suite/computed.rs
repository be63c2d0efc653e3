//! Computed fields.

use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::plan::{EntityFacts, FieldFacts, SuitePlan, whole_number};
use super::{Aspect, Case, RequestStep};
use crate::ir::Computed;

/// Cases of a computed field; none of another one.
pub(super) fn cases<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    cases: &mut Vec<Case>,
) {
    match &part.field.computed {
        Some(Computed::CountOf { entity, reference }) => {
            aggregates(plan, facts, part, (entity, reference, None), cases);
        }
        Some(Computed::TotalOf { entity, reference, field }) => {
            aggregates(plan, facts, part, (entity, reference, Some(field)), cases);
        }
        Some(Computed::AtLeast { field, value }) => {
            let Some(operand) = facts.part(field) else { return };
            let step = if matches!(operand.field.kind, crate::ir::Kind::Integer { .. }) { 1.0 } else { 0.25 };
            let edge = value.as_f64().unwrap_or_default();
            let title =
                format!("`{}` of {} says whether `{}` is at least {value}", part.json, facts.a, operand.json);
            let mut draft = Draft::from_field(plan, facts, part, "computed", Aspect::Computed, title);
            draft.cite_clauses(&[&operand.clause]);
            let fits = |number: &f64| super::values::fits(&operand.field.kind, &whole_number(*number));
            let mut first_number: Option<(u32, f64)> = None;
            for (n, number) in (1..).zip([edge, edge - step, edge + step]) {
                if fits(&number) {
                    let body = facts.body_with(n, operand, whole_number(number));
                    let send = draft.create(facts, body).has_one(&part.json, json!(number >= edge));
                    draft.send(send.keep_record(facts.key, n));
                    first_number = first_number.or(Some((n, number)));
                }
            }
            // Again after a change, to the other side.
            if let Some((n, number)) = first_number.filter(|_| operand.mutable()) {
                let others = [edge - 2.0 * step, edge + 2.0 * step].into_iter().filter(fits);
                let other = others.into_iter().find(|other| (*other >= edge) != (number >= edge));
                if let Some(other) = other {
                    let patch =
                        RequestStep::patch_one(facts.record_path(n), &operand.json, whole_number(other));
                    draft.send(patch.has_one(&part.json, json!(other >= edge)));
                }
            }
            draft.done(cases);
        }
        Some(computed) => {
            let (Computed::Joined { first: left, second: right, .. }
            | Computed::Product { left, right }
            | Computed::Sum { left, right }) = computed
            else {
                return;
            };
            let (Some(left), Some(right)) = (facts.part(left), facts.part(right)) else { return };
            let title = format!(
                "`{}` of {} is worked out from `{}` and `{}`, again after a change",
                part.json, facts.a, left.json, right.json
            );
            let mut draft = Draft::from_field(plan, facts, part, "computed", Aspect::Computed, title);
            draft.cite_clauses(&[&left.clause, &right.clause]);
            let mut values = Map::new();
            values.insert(left.json.clone(), left.value(1));
            values.insert(right.json.clone(), right.value(1));
            draft.make_with(facts, 1, values);
            let value = |left_n: u32, right_n: u32| {
                let kept: Vec<Value> = facts
                    .parts
                    .iter()
                    .map(|own| match &own.field.key {
                        key if *key == right.field.key => own.value(right_n),
                        key if *key == left.field.key => own.value(left_n),
                        _ => Value::Null,
                    })
                    .collect();
                facts.computed(computed, &kept)
            };
            draft.send(RequestStep::get(facts.record_path(1)).has_one(&part.json, value(1, 1)));
            if left.mutable() && left.field.key != right.field.key {
                let patch = RequestStep::patch_one(facts.record_path(1), &left.json, left.value(2));
                draft.send(patch.has_one(&part.json, value(2, 1)));
            }
            if right.mutable() {
                let now = if left.mutable() { 2 } else { 1 };
                let patch = RequestStep::patch_one(facts.record_path(1), &right.json, right.value(2));
                draft.send(patch.has_one(&part.json, value(now, 2)));
            }
            draft.done(cases);
        }
        None => {}
    }
}

/// A count or total over the records that refer to one.
fn aggregates<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    (entity, reference, field): (&str, &str, Option<&String>),
    cases: &mut Vec<Case>,
) {
    let Some(child) = plan.entity(entity) else { return };
    let Some(link) = child.part(reference) else { return };
    let summed = field.and_then(|field| child.part(field));
    let operation =
        summed.map_or_else(|| "counts".to_owned(), |summed| format!("adds up `{}` of", summed.json));
    let draft_with = |tail: &str, title: String| {
        let mut draft = Draft::from_field(plan, facts, part, tail, Aspect::Computed, title);
        draft.cite_clauses(&[child.key, &link.clause]);
        if let Some(summed) = summed {
            draft.cite_clauses(&[&summed.clause]);
        }
        draft
    };
    let values = |target: u32, value: Option<Value>| {
        let mut values = Map::new();
        values.insert(link.json.clone(), facts.id(target));
        if let (Some(summed), Some(value)) = (summed, value) {
            values.insert(summed.json.clone(), value);
        }
        values
    };
    let number = |n: u32| summed.map(|summed| summed.value(n));
    // What the first `n` records give.
    let upto = |n: u32| match summed {
        None => json!(n),
        Some(summed) => whole_number((1..=n).filter_map(|n| summed.value(n).as_f64()).sum()),
    };

    let title = format!("`{}` of {} {operation} the {} that refer to it", part.json, facts.a, child.many);
    let mut draft = draft_with("computed", title);
    draft.make(facts, 1).make(facts, 2);
    draft.make_with(child, 1, values(2, number(1)));
    draft.expect_still(facts, 2, part, upto(1));
    draft.make_with(child, 2, values(2, number(2))).make_with(child, 3, values(1, number(3)));
    draft.expect_still(facts, 2, part, upto(2)).done(cases);

    let title = format!("`{}` of {} leaves deleted {} out", part.json, facts.a, child.many);
    let mut draft = draft_with("computed.deleted", title);
    draft.cite_clauses(&["deletion"]);
    draft.make(facts, 1).make(facts, 2);
    draft.make_with(child, 1, values(2, number(1))).make_with(child, 2, values(2, number(2)));
    draft.delete(child, 2);
    draft.expect_still(facts, 2, part, upto(1)).done(cases);

    if let Some(summed) = summed.filter(|summed| summed.field.nullable) {
        let title =
            format!("`{}` of {} leaves {} without `{}` out", part.json, facts.a, child.many, summed.json);
        let mut draft = draft_with("computed.null", title);
        draft.make(facts, 1).make(facts, 2);
        draft.make_with(child, 1, values(2, Some(Value::Null)));
        draft.expect_still(facts, 2, part, json!(0));
        draft.make_with(child, 2, values(2, number(1)));
        draft.expect_still(facts, 2, part, upto(1)).done(cases);
    }
}
