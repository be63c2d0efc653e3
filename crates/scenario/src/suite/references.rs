//! References: what they can name, and nested routes.

use serde_json::{Value, json};

use super::draft::Draft;
use super::failure::Failure;
use super::plan::{EntityFacts, FieldFacts, SuitePlan};
use super::records::cite_order;
use super::{Aspect, Case, Method, RequestStep};
use crate::ir::Kind;

/// Cases of a reference field; none of another field.
pub(super) fn cases<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    cases: &mut Vec<Case>,
) {
    let Some(target) = plan.target_base(part) else { return };
    let (a, name) = (&facts.a, &part.json);
    let title = format!("`{name}` of {a} names only {} that exist and were not deleted", target.many);
    let mut draft = Draft::from_field(plan, facts, part, "unknown", Aspect::Refuses, title);
    draft.cite_clauses(&["types.reference", target.key]);
    draft.make(target, 1).make(target, 2).delete(target, 2);
    super::fields::refused(&mut draft, facts, part, [json!(999), json!(0)]);
    let deleted = target.id(2);
    let send = draft.create(facts, facts.body_with(1, part, deleted.clone()));
    draft.fails(send, Failure::Invalid);
    if part.mutable() {
        draft.fails(RequestStep::patch_one(facts.record_path(1), name, deleted), Failure::Invalid);
    }
    draft.done(cases);

    if matches!(part.field.kind, Kind::Reference { nested: true, .. }) {
        nested(plan, facts, part, target, cases);
    }
}

fn nested<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    target: &EntityFacts<'a>,
    cases: &mut Vec<Case>,
) {
    let (many, name) = (&facts.many, &part.json);
    let segment = plan.schema.path_name(&facts.entity.plural);
    let path = |n: u32| format!("{}/{segment}", target.record_path(n));
    let draft = |tail: &str, title: String| {
        let mut draft = Draft::from_field(plan, facts, part, tail, Aspect::Nested, title);
        draft.cite_clauses(&[target.key]);
        draft
    };

    let mut list =
        draft("nested.list", format!("The list of {many} of {} leaves out those of others", target.a));
    list.make(target, 1).make(target, 2);
    for (n, target_number) in [(1, 2), (2, 1), (3, 2)] {
        list.make_one(facts, n, part, target.id(target_number));
    }
    let records: Vec<Vec<Value>> = (1..=3).map(|n| facts.record_values(&facts.required_values(n))).collect();
    let order = facts.sorted_numbers(facts.entity.default_sort.as_ref(), &records);
    let ids_of_second: Vec<u32> = order.into_iter().filter(|&n| n != 2).collect();
    cite_order(&mut list, facts);
    list.cite_clauses(&["lists.pages"]);
    list.lists_as(facts, RequestStep::get(path(2)), &ids_of_second, 2);
    let first_page = RequestStep::get(path(2)).query(&plan.page().1, &json!(1));
    list.lists_as(facts, first_page, &ids_of_second[..1], 2);
    list.cite_clauses(&["records.id"]);
    let nowhere = format!("{}/{segment}", target.missing_record_path());
    list.fails_with(RequestStep::get(nowhere.clone()), Failure::Missing).done(cases);

    let title = format!("{} created under {} refers to it, whatever its body says", facts.a, target.a);
    let mut create = draft("nested.create", title);
    create.make(target, 1).make(target, 2);
    let status = plan.created_status();
    let send = RequestStep::new(Method::Post, path(2), Some(facts.body_without(1, part)), status);
    create.send(send.has_one(name, target.id(2)));
    let body = facts.body_with(2, part, target.id(1));
    create.send(RequestStep::new(Method::Post, path(2), Some(body), status).has_one(name, target.id(2)));
    if let Some(required) = facts.parts.iter().find(|other| other.field.required && other.json != *name) {
        let mut body = facts.body(3);
        body.shift_remove(name);
        body.shift_remove(&required.json);
        create.cite_clauses(&[&required.clause, "bodies.absent"]);
        create.fails(RequestStep::new(Method::Post, path(2), Some(body.into()), 0), Failure::Invalid);
    }
    create.cite_clauses(&["records.id"]);
    create.fails(
        RequestStep::new(Method::Post, nowhere, Some(facts.body_without(1, part)), 0),
        Failure::Missing,
    );
    create.done(cases);
}
