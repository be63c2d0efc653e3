//! Rules that look at more than one value: unique and immutable fields.

use serde_json::Value;

use super::draft::{Draft, object};
use super::failure::Failure;
use super::plan::{EntityFacts, FieldFacts, SuitePlan};
use super::{Aspect, Case, RequestStep};

/// Cases of unique and immutable fields.
pub(super) fn cases<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    cases: &mut Vec<Case>,
) {
    if part.field.unique {
        add_unique_cases(plan, facts, part, cases);
    }
    if part.field.immutable {
        immutable(plan, facts, part, cases);
    }
}

fn add_unique_cases<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    cases: &mut Vec<Case>,
) {
    let (a, name, many) = (&facts.a, &part.json, &facts.many);
    let (first, second) = (part.value(1), part.value(2));
    if first == second {
        return;
    }
    let title = format!("Giving {a} the `{name}` of another one is a conflict and changes nothing");
    let mut draft = Draft::from_field(plan, facts, part, "unique", Aspect::Unique, title);
    draft.cite_clauses(&["unique"]);
    draft.make_one(facts, 1, part, first.clone());
    let send = draft.create(facts, facts.body_with(2, part, first.clone()));
    draft.fails_with(send, Failure::Conflict);
    draft.lists(facts, &[], &[1]);
    if part.mutable() {
        draft.make_one(facts, 2, part, second.clone());
        draft
            .fails_with(RequestStep::patch_one(facts.record_path(2), name, first.clone()), Failure::Conflict);
        // Any other unique or immutable field keeps the value that the record has.
        draft.fails(
            RequestStep::put(facts.record_path(2), facts.body_with(2, part, first.clone())),
            Failure::Conflict,
        );
        draft.expect_still(facts, 2, part, second.clone());
    }
    draft.done(cases);

    let title = format!(
        "{} keep their own `{name}` when they are replaced or updated, and free it when deleted",
        capital(many)
    );
    let mut draft = Draft::from_field(plan, facts, part, "unique.own", Aspect::Unique, title);
    draft.cite_clauses(&["unique"]);
    draft.make_one(facts, 1, part, first.clone());
    draft
        .send(RequestStep::patch_one(facts.record_path(1), name, first.clone()).has_one(name, first.clone()));
    draft.send(RequestStep::put(facts.record_path(1), facts.body_with(1, part, first.clone())));
    draft.delete(facts, 1);
    let send = draft.create(facts, facts.body_with(2, part, first.clone())).has_one(name, first);
    draft.send(send).done(cases);

    if part.field.nullable {
        let title = format!("Any number of {many} may have no `{name}`");
        let mut draft = Draft::from_field(plan, facts, part, "unique.null", Aspect::Unique, title);
        draft.cite_clauses(&["unique"]);
        draft.make_one(facts, 1, part, Value::Null);
        let send = draft.create(facts, facts.body_with(2, part, Value::Null)).has_one(name, Value::Null);
        draft.send(send).done(cases);
    }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn immutable<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    cases: &mut Vec<Case>,
) {
    let (a, name) = (&facts.a, &part.json);
    // Not what a record has that was given none.
    let (first, other) = match part.field.target() {
        Some(target) => (part.value(1), Some(super::plan::id_of(target, 2))),
        None => {
            let first = part.other_value(&[&part.value_if_absent()]).unwrap_or_else(|| part.value(1));
            let other = part.other_value(&[&first]);
            (first, other)
        }
    };
    if let Some(other) = other {
        let title = format!("`{name}` of {a} cannot be changed");
        let mut draft = Draft::from_field(plan, facts, part, "immutable", Aspect::Immutable, title);
        draft.cite_clauses(&["bodies.immutable"]);
        draft.make_one(facts, 1, part, first.clone());
        draft.fails_with(RequestStep::patch_one(facts.record_path(1), name, other.clone()), Failure::Invalid);
        draft
            .fails(RequestStep::put(facts.record_path(1), facts.body_with(1, part, other)), Failure::Invalid);
        draft.expect_still(facts, 1, part, first.clone()).done(cases);
    }

    let title = format!("A replace or update of {a} may carry the `{name}` that it has, or leave it out");
    let mut draft = Draft::from_field(plan, facts, part, "immutable.same", Aspect::Immutable, title);
    draft.cite_clauses(&["bodies.immutable", "bodies.replace"]);
    draft.make_one(facts, 1, part, first.clone());
    draft.send(
        RequestStep::patch(facts.record_path(1), object(name, first.clone())).has_one(name, first.clone()),
    );
    let same = facts.body_with(1, part, first.clone());
    draft.send(RequestStep::put(facts.record_path(1), same).has_one(name, first.clone()));
    draft
        .send(RequestStep::put(facts.record_path(1), facts.body_without(1, part)).has_one(name, first))
        .done(cases);
}
