//! What a deletion does to other records, and records that stay deleted.
//!
//! What is deleted is always the second record of its entity: only what a case says refers to it, as everything else
//! refers to first records.

use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::failure::Failure;
use super::plan::{EntityFacts, FieldFacts, SuitePlan};
use super::{Aspect, Case, Method, RequestStep};
use crate::ir::{Field, Kind, OnDelete};

fn rule(field: &Field) -> Option<OnDelete> {
    match field.kind {
        Kind::Reference { on_delete, .. } => Some(on_delete),
        _ => None,
    }
}

/// Cases of the delete rule of a reference; none of another field.
pub(super) fn cases<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    cases: &mut Vec<Case>,
) {
    let (Some(target), Some(rule)) = (plan.target_base(part), rule(part.field)) else { return };
    let draft_with = |tail: &str, title: String| {
        let mut draft = Draft::from_field(plan, facts, part, tail, Aspect::DeleteRule, title);
        draft.cite_clauses(&["deletion", target.key]);
        draft
    };
    match rule {
        OnDelete::Cascade => {
            let mut draft = draft_with(
                "cascade",
                format!("Deleting {} deletes the {} that refer to it", target.a, facts.many),
            );
            draft.make(target, 1).make(target, 2);
            draft.make_one(facts, 1, part, target.id(2)).make_one(facts, 2, part, target.id(1));
            draft.delete(target, 2);
            draft.fails(RequestStep::get(facts.record_path(1)), Failure::Missing);
            draft.lists(facts, &[], &[2]);
            if facts.entity.soft_delete {
                with_deleted(&mut draft, facts, &[(1, true), (2, false)]);
            }
            draft.done(cases);
            chains(plan, facts, part, target, cases);
        }
        OnDelete::Restrict => {
            let title = format!("Deleting {} is a conflict as long as {} refers to it", target.a, facts.a);
            let mut draft = draft_with("restrict", title);
            draft.make(target, 1).make(target, 2).make_one(facts, 1, part, target.id(2));
            draft.fails_with(
                RequestStep::new(Method::Delete, target.record_path(2), None, 0),
                Failure::Conflict,
            );
            draft.send(RequestStep::get(target.record_path(2)).equal("/id", target.id(2)));
            draft.expect_still(facts, 1, part, target.id(2));
            draft.delete(facts, 1).delete(target, 2);
            draft.fails(RequestStep::get(target.record_path(2)), Failure::Missing).done(cases);
            refused_deletion(plan, facts, part, target, cases);
        }
        OnDelete::SetNull => {
            let title = format!("Deleting {} makes `{}` of its {} null", target.a, part.json, facts.many);
            let mut draft = draft_with("set_null", title);
            draft.make(target, 1).make(target, 2);
            draft.make_one(facts, 1, part, target.id(2)).make_one(facts, 2, part, target.id(1));
            draft.delete(target, 2);
            draft
                .expect_still(facts, 1, part, Value::Null)
                .expect_still(facts, 2, part, target.id(1))
                .done(cases);
        }
    }
}

/// A deletion that is forbidden takes nothing along.
fn refused_deletion<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    target: &EntityFacts<'a>,
    cases: &mut Vec<Case>,
) {
    let along = plan.links(target.key).find(|(_, link)| self::rule(link.field) == Some(OnDelete::Cascade));
    let Some((other, link)) = along else { return };
    let title =
        // words: ok (packs have this text)
        format!("Deleting {} that {} refers to deletes none of its {}", target.a, facts.a, other.many);
    let mut draft = Draft::from_field(plan, facts, part, "restrict.beside", Aspect::DeleteRule, title);
    draft.cite_clauses(&["deletion", target.key, other.key, &link.clause]);
    draft.make(target, 1).make(target, 2).make_one(facts, 1, part, target.id(2));
    // Nothing refers to this one, whatever the others need.
    let number = draft.next(other.key);
    draft.make_one(other, number, link, target.id(2));
    draft.fails_with(RequestStep::new(Method::Delete, target.record_path(2), None, 0), Failure::Conflict);
    draft.expect_still(other, number, link, target.id(2)).done(cases);
}

/// What refers to a record that is deleted by cascade is checked in turn.
fn chains<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    target: &EntityFacts<'a>,
    cases: &mut Vec<Case>,
) {
    let mut rules = Vec::new();
    for (far, link) in plan.links(facts.key) {
        let Some(rule) = rule(link.field) else { continue };
        if rules.contains(&rule) {
            continue;
        }
        rules.push(rule);
        let (tail, title) = match rule {
            OnDelete::Cascade => (
                "cascade.deep",
                format!("Deleting {} deletes what refers to its {} too", target.a, facts.many),
            ),
            OnDelete::Restrict => (
                "cascade.restricted",
                format!(
                    "Deleting {} is a conflict if {} that refers to it cannot be deleted",
                    target.a, facts.a
                ),
            ),
            OnDelete::SetNull => (
                "cascade.set_null",
                format!("Deleting {} makes references to its {} null", target.a, facts.many),
            ),
        };
        let mut draft = Draft::from_field(plan, facts, part, tail, Aspect::DeleteRule, title);
        draft.cite_clauses(&["deletion", target.key, far.key, &link.clause]);
        // The record in the middle is the second one too: the last one may refer to others by the way, all of them
        // first records.
        draft.make(target, 1).make(target, 2).make_one(facts, 2, part, target.id(2));
        draft.make_one(far, 1, link, facts.id(2));
        match rule {
            OnDelete::Cascade => {
                draft.delete(target, 2);
                draft.fails(RequestStep::get(far.record_path(1)), Failure::Missing);
            }
            OnDelete::Restrict => {
                let send = RequestStep::new(Method::Delete, target.record_path(2), None, 0);
                draft.fails(send, Failure::Conflict);
                draft.send(RequestStep::get(target.record_path(2)).equal("/id", target.id(2)));
                draft.expect_still(facts, 2, part, target.id(2));
            }
            OnDelete::SetNull => {
                draft.delete(target, 2);
                draft.expect_still(far, 1, link, Value::Null);
            }
        }
        draft.done(cases);
    }
}

/// Looks at a list with deleted records: which there are, and whether they are deleted.
pub(super) fn with_deleted<'a>(draft: &mut Draft<'_, 'a>, facts: &EntityFacts<'a>, records: &[(u32, bool)]) {
    let clause = format!("{}.soft_delete", facts.key);
    draft.cite_clauses(&["soft_delete", "lists.body", &clause]);
    let plan = draft.plan;
    let rows = records
        .iter()
        .map(|&(n, deleted)| {
            let mut row = Map::with_capacity(2);
            row.insert("id".to_owned(), facts.id(n));
            row.insert("deleted".to_owned(), json!(deleted));
            row
        })
        .collect();
    let send = RequestStep::get(facts.path.clone())
        .query(&plan.include_deleted, &json!(true))
        .rows(plan.items(), rows)
        .equal(plan.total(), json!(records.len()));
    draft.send(send);
}

/// Cases of soft delete; none of an entity without.
pub(super) fn soft_delete<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    if !facts.entity.soft_delete {
        return;
    }
    let clause = format!("{}.soft_delete", facts.key);
    let new_draft = |tail: &str, title: String| {
        let mut draft = Draft::from_facts(plan, facts, tail, Aspect::SoftDelete, title);
        draft.cite_clauses(&["soft_delete", &clause]);
        draft
    };
    let title = format!(
        "{} that was deleted answers 404 and is left out of the list unless it is asked for",
        facts.a
    );
    let mut draft = new_draft("soft_delete", title);
    draft.make(facts, 1).make(facts, 2).delete(facts, 1);
    draft.fails(RequestStep::patch(facts.record_path(1), json!({})), Failure::Missing);
    draft.fails(RequestStep::put(facts.record_path(1), facts.body(1).into()), Failure::Missing);
    draft.lists(facts, &[], &[2]);
    draft.lists(facts, &[(&plan.include_deleted, json!(false))], &[2]);
    with_deleted(&mut draft, facts, &[(1, true), (2, false)]);
    draft.done(cases);

    let nested = plan
        .links(facts.key)
        .find(|(_, part)| matches!(part.field.kind, Kind::Reference { nested: true, .. }));
    if let Some((child, part)) = nested {
        let title = format!("Nested routes of {} that was deleted answer 404", facts.a);
        let mut draft = new_draft("soft_delete.nested", title);
        draft.cite_clauses(&[child.key, &part.clause]);
        let path = format!("{}/{}", facts.record_path(2), plan.schema.path_name(&child.entity.plural));
        draft.make(facts, 1).make(facts, 2).delete(facts, 2);
        draft.fails(RequestStep::get(path.clone()), Failure::Missing);
        let body = child.body_without(1, part);
        draft.fails(RequestStep::new(Method::Post, path, Some(body), 0), Failure::Missing).done(cases);
    }
}
