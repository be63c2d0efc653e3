//! The rules of a single field: required, null, type, bounds, pattern, enum values, default.

use serde_json::{Value, json};

use super::draft::Draft;
use super::failure::Failure;
use super::plan::{EntityFacts, FieldFacts, SuitePlan};
use super::values;
use super::{Aspect, Case, RequestStep};
use crate::ir::Kind;

/// Cases of what a field takes.
pub(super) fn cases<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    cases: &mut Vec<Case>,
) {
    add_null_case(plan, facts, part, cases);
    types(plan, facts, part, cases);
    bounds(plan, facts, part, cases);
    words(plan, facts, part, cases);
}

fn add_null_case<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    cases: &mut Vec<Case>,
) {
    let (a, name) = (&facts.a, &part.json);
    let title = match (part.field.nullable, part.field.required) {
        (true, true) => format!("`{name}` of {a} may be null but not left out"),
        (true, false) => format!("`{name}` of {a} may be null"),
        (false, true) => format!("`{name}` of {a} may be neither null nor left out"),
        (false, false) => format!("`{name}` of {a} may not be null"),
    };
    let mut draft = Draft::from_field(plan, facts, part, "null", Aspect::Nullability, title);
    draft.cite_clauses(&["bodies.null"]);
    if part.field.required {
        draft.cite_clauses(&["bodies.absent"]);
        let send = draft.create(facts, facts.body_without(1, part));
        draft.fails_with(send, Failure::Invalid);
    }
    if part.field.nullable {
        let send = draft.create(facts, facts.body_with(1, part, Value::Null)).has_one(name, Value::Null);
        draft.send(send);
        if part.mutable() {
            draft.make_one(facts, 2, part, part.value(2));
            draft.send(
                RequestStep::patch_one(facts.record_path(2), name, Value::Null).has_one(name, Value::Null),
            );
        }
    } else {
        let send = draft.create(facts, facts.body_with(1, part, Value::Null));
        draft.fails(send, Failure::Invalid);
        if part.mutable() {
            draft.make_one(facts, 1, part, part.value(1));
            draft.fails(RequestStep::patch_one(facts.record_path(1), name, Value::Null), Failure::Invalid);
            draft.expect_still(facts, 1, part, part.value(1));
        }
    }
    draft.done(cases);
}

/// Sends each value in turn, none of which is valid: the first in a create, the others in an update if that may be.
pub(super) fn refused<'a>(
    draft: &mut Draft<'_, 'a>,
    facts: &EntityFacts<'a>,
    part: &FieldFacts<'a>,
    values: impl IntoIterator<Item = Value>,
) {
    for (index, value) in values.into_iter().enumerate() {
        if index == 0 || !part.mutable() {
            let send = draft.create(facts, facts.body_with(1, part, value));
            draft.fails(send, Failure::Invalid);
        } else {
            draft.needs(Some(facts.key), 1);
            draft.fails(RequestStep::patch_one(facts.record_path(1), &part.json, value), Failure::Invalid);
        }
    }
}

fn types<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, part: &FieldFacts<'a>, cases: &mut Vec<Case>) {
    let clause = match &part.field.kind {
        Kind::String { .. } => "types.string",
        Kind::Integer { .. } => "types.integer",
        Kind::Number { .. } => "types.number",
        Kind::Boolean => "types.boolean",
        Kind::DateTime => "types.date_time",
        Kind::Enum { .. } => "types.enum",
        Kind::StringList { .. } => "types.string_list",
        Kind::Reference { .. } => "types.reference",
    };
    let form: Vec<Value> = match &part.field.kind {
        Kind::DateTime => values::NO_DATE_TIMES.map(Value::from).into(),
        Kind::String { pattern: Some(pattern), .. } => {
            let sample = pattern.sample(7);
            [pattern.counterexample().to_owned(), format!("{sample}!"), format!("!{sample}")]
                .map(Value::from)
                .into()
        }
        Kind::Enum { values } => {
            let upper = values.first().map(|value| value.to_uppercase()).unwrap_or_default();
            ["unheard_of".to_owned(), upper, String::new()].map(Value::from).into()
        }
        _ => Vec::new(),
    };
    let addition = match &part.field.kind {
        Kind::DateTime => " and no text that is no real date and time in the form of date-times",
        Kind::String { pattern: Some(_), .. } => " and no text of another form",
        Kind::Enum { .. } => " and no word but its values",
        _ => "",
    };
    let title = format!("`{}` of {} takes no value of another type{addition}", part.json, facts.a);
    let mut draft = Draft::from_field(plan, facts, part, "wrong_type", Aspect::Refuses, title);
    draft.cite_clauses(&[clause]);
    // There is a record with id 1, which a value that is read too kindly would name.
    draft.needs(part.field.target(), 1);
    refused(&mut draft, facts, part, values::wrong_types(&part.field.kind, &part.value(1)));
    refused(&mut draft, facts, part, form);
    draft.done(cases);
}

fn bounds<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, part: &FieldFacts<'a>, cases: &mut Vec<Case>) {
    let bounds = values::bounds(&part.field.kind);
    if let Some(first) = bounds.first() {
        let mut words = first.words.clone();
        for bound in &bounds[1..] {
            words.push_str(" or ");
            words.push_str(&bound.words);
        }
        let title = format!("Creating or updating {} with a `{}` {words} is refused", facts.a, part.json);
        let mut draft = Draft::from_field(plan, facts, part, "out_of_bounds", Aspect::Refuses, title);
        for bound in &bounds {
            refused(&mut draft, facts, part, [bound.beyond.clone(), bound.beyond.clone()]);
        }
        draft.done(cases);

        let title = format!("`{}` of {} may be on its bounds", part.json, facts.a);
        let mut draft = Draft::from_field(plan, facts, part, "bounds", Aspect::Accepts, title);
        for (n, bound) in (1..).zip(&bounds) {
            let body = facts.body_with(n, part, bound.edge.clone());
            let send = draft.create(facts, body).has_one(&part.json, bound.edge.clone());
            draft.send(send);
        }
        draft.done(cases);
    }
}

fn words<'a>(plan: &SuitePlan<'a>, facts: &EntityFacts<'a>, part: &FieldFacts<'a>, cases: &mut Vec<Case>) {
    let Kind::Enum { values } = &part.field.kind else { return };
    let title = format!("`{}` of {} takes each of its values", part.json, facts.a);
    let mut draft = Draft::from_field(plan, facts, part, "values", Aspect::Accepts, title);
    draft.cite_clauses(&["types.enum"]);
    for (n, value) in (1..).zip(values) {
        if n == 1 || !part.mutable() {
            let send = draft
                .create(facts, facts.body_with(n, part, json!(value)))
                .has_one(&part.json, json!(value))
                .keep_record(facts.key, n);
            draft.send(send);
        } else {
            let send = RequestStep::patch_one(facts.record_path(1), &part.json, json!(value));
            draft.send(send.has_one(&part.json, json!(value)));
        }
    }
    draft.done(cases);
}
