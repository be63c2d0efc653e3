//! What holds for all routes: reset, unknown routes, error bodies, order of checks, sizes of pages.

use serde_json::{Value, json};

use super::draft::Draft;
use super::failure::Failure;
use super::plan::{EntityFacts, SuitePlan};
use super::{Aspect, Case, Method, RequestStep, values};
use crate::ir::PaginationStyle;

/// Cases of the conventions, on the entity whose records need the least.
pub(super) fn cases(plan: &SuitePlan<'_>, cases: &mut Vec<Case>) {
    let Some(facts) = plan.simplest_entity() else { return };
    reset(plan, facts, cases);
    ids(plan, facts, cases);
    routes(plan, facts, cases);
    errors(plan, facts, cases);
    order(plan, facts, cases);
    pages(plan, facts, cases);
}

fn reset<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let title = "A reset removes all records and starts ids again from 1".to_owned();
    let mut draft = Draft::new(plan, "conventions.reset".to_owned(), Aspect::Convention, title);
    draft.cite_clauses(&["server.reset", "records.id", "operations", facts.key]);
    draft.make(facts, 1).make(facts, 2);
    draft.send(RequestStep::new(Method::Post, "/reset".to_owned(), None, 204));
    draft.lists(facts, &[], &[]);
    // What the record refers to is gone too, and made again.
    let mut after = Draft::new(plan, String::new(), Aspect::Convention, String::new());
    let send = after.create(facts, facts.body(1).into()).equal("/id", json!(1));
    after.send(send);
    draft.append(after).done(cases);
}

/// Ids are counted per entity.
fn ids<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let Some(other) =
        plan.entities.iter().filter(|other| other.key != facts.key).min_by_key(|other| other.effort())
    else {
        return;
    };
    let title = format!("The first of the {} has the id 1 whatever else there is", other.many);
    let mut draft = Draft::new(plan, "conventions.ids".to_owned(), Aspect::Convention, title);
    draft.cite_clauses(&["records.id", "operations", facts.key, other.key]);
    draft.make(facts, 1).make(facts, 2);
    let send = draft.create(other, other.body(1).into()).equal("/id", json!(1));
    draft.send(send).done(cases);
}

fn routes<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let title = "A path that the specification does not name is answered with 404".to_owned();
    let mut draft = Draft::new(plan, "conventions.unknown_route".to_owned(), Aspect::Convention, title);
    draft.cite_clauses(&["server.routes"]);
    let prefix = &plan.schema.conventions.prefix;
    for path in [format!("{prefix}/nowhere"), format!("{prefix}/nowhere/1"), "/nowhere".to_owned()] {
        draft.fails_with(RequestStep::get(path), Failure::Missing);
    }
    draft.fails(
        RequestStep::new(Method::Post, format!("{prefix}/nowhere"), Some(json!({})), 404),
        Failure::Missing,
    );
    draft.done(cases);

    if !prefix.is_empty() {
        let title = format!("Without the prefix `{prefix}` nothing but the reset route is there");
        let mut draft = Draft::new(plan, "conventions.prefix".to_owned(), Aspect::Convention, title);
        draft.cite_clauses(&["server.routes", facts.key]);
        let bare = facts.path.strip_prefix(prefix.as_str()).unwrap_or(&facts.path);
        draft.fails(RequestStep::get(bare.to_owned()), Failure::Missing).done(cases);
    }

    let title = "Query parameters that the specification does not name are ignored".to_owned();
    let mut draft = Draft::new(plan, "conventions.unknown_parameter".to_owned(), Aspect::Convention, title);
    draft.cite_clauses(&["server.routes", "operations", facts.key]);
    draft.make(facts, 1).lists(facts, &[("unheard_of", json!("1"))], &[1]).done(cases);
}

/// The whole error body, once for each kind of error that the schema has.
fn errors<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let message = plan.schema.conventions.error.message_pointer();
    let draft_with = |tail: &str, words: &str| {
        let title = format!("The error body for {words} carries its code and a message");
        let mut draft = Draft::new(plan, format!("conventions.error.{tail}"), Aspect::Convention, title);
        draft.cite_clauses(&["errors.body", "errors.status", "operations"]);
        draft
    };
    let mut draft = draft_with("invalid", "an invalid body");
    draft.cite_clauses(&[facts.key, "bodies.object"]);
    let send = RequestStep::new(Method::Post, facts.path.clone(), Some(json!([])), 0).text(&message);
    draft.fails_with(send, Failure::Invalid).done(cases);

    let mut draft = draft_with("not_found", "a record that does not exist");
    draft.cite_clauses(&[facts.key, "records.id"]);
    draft
        .fails_with(RequestStep::get(facts.missing_record_path()).text(&message), Failure::Missing)
        .done(cases);

    let unique = plan.entities.iter().find_map(|facts| {
        facts
            .parts
            .iter()
            .find(|part| part.field.unique && part.value(1) != part.value(2))
            .map(|part| (facts, part))
    });
    if let Some((facts, part)) = unique {
        let mut draft = draft_with("conflict", "a value that is taken");
        draft.cite_clauses(&[facts.key, &part.clause, "unique"]);
        draft.make_one(facts, 1, part, part.value(1));
        let send = draft.create(facts, facts.body_with(2, part, part.value(1))).text(&message);
        draft.fails_with(send, Failure::Conflict).done(cases);
    }

    let guarded = plan
        .entities
        .iter()
        .flat_map(|facts| facts.entity.actions.iter().map(move |action| (facts, action)))
        .find_map(|(facts, action)| {
            let guard = action.guards.first()?;
            Some((facts, action, guard, super::state::ready_state(plan, facts, action, Some(&guard.key))?))
        });
    if let Some((facts, action, guard, state)) = guarded {
        let mut draft = draft_with("refused", "an action that is refused");
        let clause = format!("{}.{}", facts.key, action.key);
        draft.cite_clauses(&[facts.key, &clause, &format!("{clause}.guard.{}", guard.key)]);
        state.make(&mut draft, facts, 1);
        let send = state.request(plan, facts, action, 1).text(&message);
        draft.fails_with(send, Failure::Refused).done(cases);
    }
}

/// What is checked first when a request breaks two rules.
fn order<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let title = "A record that does not exist is answered with 404 whatever the body says".to_owned();
    let mut draft = Draft::new(plan, "conventions.order.missing".to_owned(), Aspect::Convention, title);
    draft.cite_clauses(&["errors.order", "operations", facts.key]);
    draft.fails_with(RequestStep::put(facts.missing_record_path(), json!([])), Failure::Missing);
    draft.fails(RequestStep::patch(facts.missing_record_path(), json!([])), Failure::Missing).done(cases);

    let both = plan.entities.iter().find_map(|facts| {
        let taken = facts.parts.iter().find(|part| part.field.unique && part.value(1) != part.value(2))?;
        let wrong = facts
            .parts
            .iter()
            .find(|part| part.field.is_writable() && part.field.key != taken.field.key && !part.refers())?;
        Some((facts, taken, wrong))
    });
    if let Some((facts, taken, wrong)) = both {
        let title = "An invalid body is invalid even if it carries a value that is taken".to_owned();
        let mut draft = Draft::new(plan, "conventions.order.invalid".to_owned(), Aspect::Convention, title);
        draft.cite_clauses(&["errors.order", "operations", facts.key, &taken.clause, &wrong.clause]);
        draft.make_one(facts, 1, taken, taken.value(1));
        let mut body = facts.body(2);
        body.insert(taken.json.clone(), taken.value(1));
        let bad =
            values::wrong_types(&wrong.field.kind, &wrong.value(1)).into_iter().next().unwrap_or(Value::Null);
        body.insert(wrong.json.clone(), bad);
        let send = draft.create(facts, body.into());
        draft.fails_with(send, Failure::Invalid).done(cases);
    }
}

fn pages<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, cases: &mut Vec<Case>) {
    let pagination = plan.pagination();
    let (page_param, size) = plan.page();
    let draft_with = |tail: &str, aspect, title: String| {
        let mut draft = Draft::new(plan, format!("conventions.pages.{tail}"), aspect, title);
        draft.cite_clauses(&["lists.pages", "operations", facts.key]);
        draft
    };
    let ask = |name: &str, value: Value| RequestStep::get(facts.path.clone()).query(name, &value);

    let title = format!("`{size}` may be as much as the largest size and no more");
    let mut draft = draft_with("largest", Aspect::Page, title);
    draft.send(ask(size, json!(pagination.max_size)));
    draft.fails_with(ask(size, json!(pagination.max_size + 1)), Failure::Invalid).done(cases);

    let title = format!("`{page_param}` and `{size}` take no value that is too small or no integer");
    let mut draft = draft_with("invalid", Aspect::Refuses, title);
    let first = match pagination.style {
        PaginationStyle::Page => 1,
        PaginationStyle::Offset => 0,
    };
    draft.fails_with(ask(size, json!(0)), Failure::Invalid);
    draft.fails(ask(size, json!("many")), Failure::Invalid);
    draft.fails(ask(page_param, json!(first - 1)), Failure::Invalid);
    draft.fails(ask(page_param, json!("first")), Failure::Invalid).done(cases);

    // As many records as it takes to see that a page is full, if values for so many can be had.
    let count = pagination.default_size + 1;
    let unique = facts.parts.iter().filter(|part| part.field.unique && part.field.required);
    let distinct = unique.clone().all(|part| {
        let mut all: Vec<Value> = (1..=count).map(|n| part.value(n)).collect();
        all.sort_by(super::plan::compare);
        all.windows(2).all(|pair| pair[0] != pair[1])
            && all.iter().all(|value| values::fits(&part.field.kind, value))
    });
    if pagination.default_size <= 25 && distinct {
        let title = format!("A page has {} records if nothing is asked for", pagination.default_size);
        let mut draft = draft_with("default", Aspect::Page, title);
        super::records::cite_order(&mut draft, facts);
        let mut records = Vec::new();
        for n in 1..=count {
            draft.make(facts, n);
            let given =
                facts.parts.iter().map(|part| part.field.required.then(|| part.value_in_record(n))).collect();
            records.push(facts.record_values(&given));
        }
        let order = facts.sorted_numbers(facts.entity.default_sort.as_ref(), &records);
        let send = RequestStep::get(facts.path.clone());
        if let Some(page) = order.get(..pagination.default_size as usize) {
            draft.lists_as(facts, send, page, count as usize).done(cases);
        }
    }
}
