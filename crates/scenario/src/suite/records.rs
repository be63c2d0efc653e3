//! The standard operations of an entity.

use serde_json::{Map, Value, json};

use super::draft::{Draft, object};
use super::failure::Failure;
use super::plan::{BodyValues, EntityFacts, FieldFacts, SuitePlan};
use super::values;
use super::{Aspect, Case, Method, RequestStep};
use crate::ir::UnknownFields;

/// Cases of creating, reading, replacing, updating and deleting records of an entity.
pub(super) fn cases<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    create(plan, facts, cases);
    read(plan, facts, cases);
    replace(plan, facts, cases);
    update(plan, facts, cases);
    delete(plan, facts, cases);
    bodies(plan, facts, cases);
}

fn create<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let a = &facts.a;
    let title = format!("Creating {a} with its required fields only gives the others their default or null");
    let mut draft = Draft::from_facts(plan, facts, "create.minimal", Aspect::Default, title);
    let given = facts.required_values(1);
    draft.cite_all(facts).cite_clauses(&["bodies.absent", "records.id"]);
    let send =
        draft.create(facts, facts.body(1).into()).identified("/id").has(plan.shown_record(facts, &given));
    draft.send(send).done(cases);

    let title = format!("Creating {a} with all fields keeps and shows them as they were given");
    let mut draft = Draft::from_facts(plan, facts, "create.full", Aspect::Record, title);
    let given = facts.writable_values(1);
    draft.cite_all(facts);
    let send = draft.create(facts, facts.body_of(&given).into()).keep_record(facts.key, 1);
    draft.send(send);
    draft
        .send(RequestStep::get(facts.record_path(1)).equal("", whole_record_of(plan, facts, &given, 1)))
        .done(cases);

    let mut low = facts.required_values(1);
    let mut high = facts.required_values(2);
    let mut any = false;
    let title = format!("Creating {a} takes every value that no rule forbids");
    let mut draft = Draft::from_facts(plan, facts, "create.wide", Aspect::Accepts, title);
    draft.cite_clauses(&["types.free"]);
    for (index, part) in facts.parts.iter().enumerate().filter(|(_, part)| part.field.is_writable()) {
        let free = values::unstated_bounds(&part.field.kind);
        for (value, given) in [(free.0, &mut low), (free.1, &mut high)] {
            if let Some(value) = value {
                given[index] = Some(value);
                any = true;
                draft.cite_clauses(&[&part.clause]);
            }
        }
    }
    if any {
        for given in [low, high] {
            let body = facts.body_of(&given);
            let send = draft.create(facts, body.clone().into()).has(boundary_values(facts, &body));
            draft.send(send);
        }
        draft.done(cases);
    }
}

/// The values of a body at a bound that no clause states: what the case is about.
fn boundary_values(facts: &EntityFacts<'_>, body: &Map<String, Value>) -> Map<String, Value> {
    facts
        .parts
        .iter()
        .filter(|part| {
            let (low, high) = values::unstated_bounds(&part.field.kind);
            body.get(&part.json)
                .is_some_and(|value| Some(value) == low.as_ref() || Some(value) == high.as_ref())
        })
        .filter_map(|part| Some((part.json.clone(), body.get(&part.json)?.clone())))
        .collect()
}

/// The whole record.
fn whole_record_of<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, given: &BodyValues, n: u32) -> Value {
    let mut shown = plan.shown_record(facts, given);
    shown.insert("id".to_owned(), facts.id(n));
    Value::Object(shown)
}

fn read<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let (a, many) = (&facts.a, &facts.many);
    let title = format!("Whatever is asked of {a} that does not exist is answered with 404");
    let mut draft = Draft::from_facts(plan, facts, "missing", Aspect::Route, title);
    draft.cite_clauses(&["records.id"]);
    draft.fails_with(RequestStep::get(facts.missing_record_path()), Failure::Missing);
    draft.fails_with(RequestStep::get(format!("{}/abc", facts.path)), Failure::Missing);
    draft.fails(RequestStep::put(facts.missing_record_path(), facts.body(1).into()), Failure::Missing);
    draft.fails(RequestStep::patch(facts.missing_record_path(), json!({})), Failure::Missing);
    draft.fails(RequestStep::new(Method::Delete, facts.missing_record_path(), None, 404), Failure::Missing);
    for action in &facts.entity.actions {
        let clause = format!("{}.{}", facts.key, action.key);
        draft.cite_clauses(&["actions", "errors.order", &clause]);
        let path = format!("{}/{}", facts.missing_record_path(), plan.schema.path_name(&action.name));
        let body = (!action.params.is_empty()).then(|| json!({}));
        draft.fails(RequestStep::post(path, body), Failure::Missing);
    }
    draft.done(cases);

    let title = format!("The list of {many} shows all of them and how many there are, and each can be read");
    let mut draft = Draft::from_facts(plan, facts, "list.all", Aspect::Route, title);
    let records: Vec<Vec<Value>> = (1..=3).map(|n| facts.record_values(&facts.required_values(n))).collect();
    let order = facts.sorted_numbers(facts.entity.default_sort.as_ref(), &records);
    draft.lists(facts, &[], &[]);
    draft.make(facts, 1).make(facts, 2).make(facts, 3);
    cite_required(&mut draft, facts);
    cite_order(&mut draft, facts);
    draft.cite_clauses(&["lists.body"]);
    let ids = order.iter().map(|&n| facts.id(n)).collect();
    let first = order.first().map_or_else(Map::new, |&n| facts.body(n));
    let mut send =
        RequestStep::get(facts.path.clone()).column(plan.items(), "id", ids).equal(plan.total(), json!(3));
    send.expect.push(super::Assertion::Has { at: format!("{}/0", plan.items()), value: first });
    draft.send(send);
    let mut shown = facts.body(2);
    shown.insert("id".to_owned(), facts.id(2));
    draft.send(RequestStep::get(facts.record_path(2)).has(shown)).done(cases);
}

fn cite_required<'a>(draft: &mut Draft<'_, 'a>, facts: &EntityFacts<'a>) {
    draft.cite_clauses(&["records.shown"]);
    for part in facts.parts.iter().filter(|part| part.field.required) {
        draft.cite_clauses(&[&part.clause]);
    }
}

/// Names the clauses that say in which order a list comes without asking.
pub(super) fn cite_order<'a>(draft: &mut Draft<'_, 'a>, facts: &EntityFacts<'a>) {
    draft.cite_clauses(&["lists.sort"]);
    let clause = format!("{}.sort", facts.key);
    draft.cite_clauses(&[&clause]);
}

fn replace<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let a = &facts.a;
    let title = format!(
        "Replacing {a} gives it all new values, and its default or null to what is not given, and keeps its id"
    );
    let mut draft = Draft::from_facts(plan, facts, "replace.full", Aspect::Record, title);
    draft.make(facts, 1).cite_all(facts).cite_clauses(&["bodies.replace"]);
    let given = changed_record(facts);
    let whole_record = whole_record_of(plan, facts, &given, 1);
    draft
        .send(RequestStep::put(facts.record_path(1), facts.body_of(&given).into()).equal("/id", facts.id(1)));
    draft.send(RequestStep::get(facts.record_path(1)).equal("", whole_record));
    let reset: Map<String, Value> = facts
        .parts
        .iter()
        .filter(|part| part.mutable() && !part.field.required)
        .map(|part| (part.json.clone(), part.value_if_absent()))
        .collect();
    if !reset.is_empty() {
        draft.cite_clauses(&["bodies.absent"]);
        draft.send(RequestStep::put(facts.record_path(1), facts.body(1).into()).has(reset));
    }
    draft.done(cases);

    let required: Vec<&FieldFacts<'_>> =
        facts.parts.iter().filter(|part| part.mutable() && part.field.required).collect();
    if let Some(first) = required.first() {
        let title = format!("Replacing {a} without a required field is refused and changes nothing");
        let mut draft = Draft::from_facts(plan, facts, "replace.missing_required", Aspect::Refuses, title);
        draft.cite_clauses(&["bodies.replace", "bodies.absent"]);
        draft.make(facts, 1);
        for part in required.iter().take(4) {
            draft.cite_clauses(&[&part.clause]);
            // What is given is valid and, where it may be, other than what the record has.
            let mut given = changed_record(facts);
            for (value, other) in given.iter_mut().zip(&facts.parts) {
                if other.field.key == part.field.key || !other.field.required {
                    *value = None;
                }
            }
            draft.fails(
                RequestStep::put(facts.record_path(1), facts.body_of(&given).into()),
                Failure::Invalid,
            );
        }
        let unchanged = required.get(1).unwrap_or(first);
        draft.cite_clauses(&[&unchanged.clause]);
        draft.expect_still(facts, 1, unchanged, unchanged.value(1)).done(cases);
    }
}

/// A full record that differs from the first one where it may.
fn changed_record(facts: &EntityFacts<'_>) -> BodyValues {
    facts
        .parts
        .iter()
        .map(|part| match part.field.is_writable() {
            true if part.mutable() && !part.field.required => {
                Some(part.other_value(&[&part.value_if_absent()]).unwrap_or_else(|| part.value(2)))
            }
            true if part.mutable() => Some(part.value(2)),
            // Set at creation: as the first record has it, which was made with its required fields only.
            true if part.field.required => Some(part.value(1)),
            true => Some(part.value_if_absent()),
            false => None,
        })
        .collect()
}

fn update<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let a = &facts.a;
    let mutable: Vec<(usize, &FieldFacts<'_>)> =
        facts.parts.iter().enumerate().filter(|(_, part)| part.mutable()).collect();
    let changeable = mutable.iter().find(|(_, part)| !part.refers());
    if !mutable.is_empty() {
        let title = format!("Updating one field of {a} keeps the others, and updating all changes them all");
        let mut draft = Draft::from_facts(plan, facts, "update", Aspect::Record, title);
        draft.cite_all(facts).cite_clauses(&["bodies.update"]);
        let mut given = facts.writable_values(1);
        let more_values = facts
            .parts
            .iter()
            .zip(&given)
            .filter(|(part, _)| !part.field.required)
            .filter_map(|(part, value)| Some((part.json.clone(), value.clone()?)));
        draft.make_with(facts, 1, more_values.collect());
        draft.send(RequestStep::patch(facts.record_path(1), json!({})));
        if let Some(&(index, part)) = changeable
            && let Some(other) = part.other_value(&[&part.value(1)])
        {
            given[index] = Some(other.clone());
            draft.send(
                RequestStep::patch_one(facts.record_path(1), &part.json, other)
                    .equal("", whole_record_of(plan, facts, &given, 1)),
            );
        }
        let mut values = Map::new();
        for (index, part) in &mutable {
            let other = match (part.field.target(), given.get(*index)) {
                (Some(target), _) => Some(super::plan::id_of(target, 2)),
                (None, Some(Some(now))) => part.other_value(&[&part.value(1), now]),
                _ => None,
            };
            if let Some(other) = other {
                values.insert(part.json.clone(), other);
            }
        }
        if !values.is_empty() {
            draft.send(RequestStep::patch(facts.record_path(1), values.clone().into()));
            draft.send(RequestStep::get(facts.record_path(1)).has(values));
        }
        draft.done(cases);
    }

    if mutable.is_empty() {
        let title = format!("An empty update of {a} changes nothing");
        let mut draft = Draft::from_facts(plan, facts, "update.empty", Aspect::Accepts, title);
        draft.cite_clauses(&["bodies.update"]);
        cite_required(&mut draft, facts);
        draft.make(facts, 1);
        draft.send(RequestStep::patch(facts.record_path(1), json!({})).has(facts.body(1))).done(cases);
    }

    if let Some((&(_, bad), &(_, good))) =
        changeable.and_then(|bad| Some((bad, mutable.iter().find(|good| good.0 != bad.0)?)))
    {
        let title = format!("An update of {a} with one invalid field is refused and changes nothing at all");
        let mut draft = Draft::from_facts(plan, facts, "update.invalid", Aspect::Refuses, title);
        draft.cite_clauses(&["errors.order", &bad.clause, &good.clause]);
        draft.make(facts, 1);
        let now =
            |part: &FieldFacts<'_>| if part.field.required { part.value(1) } else { part.value_if_absent() };
        let wrong =
            values::wrong_types(&bad.field.kind, &bad.value(1)).into_iter().next().unwrap_or(Value::Null);
        if let Some(other) = good.other_value(&[&now(good)]) {
            for order in [[(good, &other), (bad, &wrong)], [(bad, &wrong), (good, &other)]] {
                let body: Map<String, Value> =
                    order.iter().map(|(part, value)| (part.json.clone(), (*value).clone())).collect();
                draft.fails(RequestStep::patch(facts.record_path(1), body.into()), Failure::Invalid);
            }
            draft.expect_still(facts, 1, good, now(good)).done(cases);
        }
    }
}

fn delete<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let a = &facts.a;
    let mut draft = Draft::from_facts(
        plan,
        facts,
        "delete",
        Aspect::Route,
        format!("Deleting {a} takes it away, and only it"),
    );
    draft.make(facts, 1).make(facts, 2);
    let status = plan.deleted();
    let mut send = RequestStep::new(Method::Delete, facts.record_path(2), None, status);
    if status == 200 {
        send = send.equal("/id", facts.id(2));
        if facts.entity.soft_delete {
            let clause = format!("{}.soft_delete", facts.key);
            draft.cite_clauses(&["soft_delete", &clause]);
            send = send.equal("/deleted", json!(true));
        }
    }
    draft.send(send);
    draft.fails(RequestStep::get(facts.record_path(2)), Failure::Missing);
    draft.fails(RequestStep::new(Method::Delete, facts.record_path(2), None, 404), Failure::Missing);
    draft.lists(facts, &[], &[1]);
    // Its id is not used again, even though it was the last one.
    draft.cite_clauses(&["records.id"]);
    draft.make(facts, 3);
    draft.fails(RequestStep::get(facts.record_path(2)), Failure::Missing).done(cases);
}

fn bodies<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let a = &facts.a;
    let title = format!("A body for {a} that is no JSON object, or not there, is refused");
    let mut draft = Draft::from_facts(plan, facts, "body.no_object", Aspect::Refuses, title);
    draft.cite_clauses(&["bodies.object"]);
    draft.make(facts, 1);
    for body in [Some(json!([])), Some(json!("text")), None] {
        draft.fails_with(RequestStep::new(Method::Post, facts.path.clone(), body, 0), Failure::Invalid);
    }
    draft.fails(RequestStep::put(facts.record_path(1), json!([])), Failure::Invalid);
    draft.fails(RequestStep::patch(facts.record_path(1), json!([])), Failure::Invalid);
    draft.fails(RequestStep::new(Method::Patch, facts.record_path(1), None, 0), Failure::Invalid);
    draft.lists(facts, &[], &[1]).done(cases);

    let others = match plan.unknown_fields() {
        UnknownFields::Ignore => "are ignored, and so are fields that it does not have",
        UnknownFields::Reject => "are ignored, and fields that it does not have refused",
    };
    let title = format!("`id`, `deleted` and computed fields in a body for {a} {others}");
    let mut draft = Draft::from_facts(plan, facts, "body.ignored", Aspect::Convention, title);
    draft.cite_clauses(&["bodies.ignored"]);
    let mut extra = Map::new();
    extra.insert("id".to_owned(), json!(77));
    extra.insert("deleted".to_owned(), json!(true));
    let shown = plan.shown_record(facts, &facts.required_values(1));
    let mut computed = Map::new();
    for part in facts.parts.iter().filter(|part| !part.field.is_writable()) {
        let value = shown.get(&part.json).cloned().unwrap_or_default();
        if let Some(other) = part.other_value(&[&value]) {
            extra.insert(part.json.clone(), other);
            computed.insert(part.json.clone(), value);
            draft.cite_clauses(&[&part.clause]);
            for operand in part.field.computed.iter().flat_map(|computed| facts.operands(computed)) {
                draft.cite_clauses(&[&operand.clause]);
            }
        }
    }
    let mut body = facts.body(1);
    body.extend(extra.clone());
    let send = draft.create(facts, body.into()).has(computed.clone()).keep_record(facts.key, 1);
    draft.send(send);
    draft.fails(RequestStep::get(format!("{}/77", facts.path)), Failure::Missing);
    computed.insert("id".to_owned(), facts.id(1));
    draft.send(RequestStep::patch(facts.record_path(1), extra.into()).has(computed));

    let unknown = plan.schema.json_name("unheard_of");
    match plan.unknown_fields() {
        UnknownFields::Ignore => {
            let mut body = facts.body(2);
            body.insert(unknown.clone(), json!(1));
            let pointer = format!("/{unknown}");
            let send = draft.create(facts, body.into()).absent(&pointer);
            draft.send(send);
            draft.send(RequestStep::patch(facts.record_path(1), object(&unknown, json!(1))).absent(&pointer));
        }
        UnknownFields::Reject => {
            let mut body = facts.body(2);
            body.insert(unknown.clone(), json!(1));
            let send = draft.create(facts, body.into());
            draft.fails_with(send, Failure::Invalid);
            draft.fails(
                RequestStep::patch(facts.record_path(1), object(&unknown, json!(1))),
                Failure::Invalid,
            );
        }
    }
    draft.cite_clauses(&["bodies.unknown"]).done(cases);
}
