//! The rules of a single field: required, null, type, bounds, pattern, enum values, default.

use serde_json::{Value, json};

use super::draft::{Draft, Failure};
use super::plan::{Facts, Part, Plan};
use super::values;
use super::{Aspect, Case, Send};
use crate::ir::Kind;

/// Cases of what a field takes.
pub(super) fn cases<'a>(plan: &Plan<'a>, facts: &Facts<'a>, part: &Part<'a>, cases: &mut Vec<Case>) {
    presence(plan, facts, part, cases);
    null(plan, facts, part, cases);
    types(plan, facts, part, cases);
    bounds(plan, facts, part, cases);
    words(plan, facts, part, cases);
}

fn presence<'a>(plan: &Plan<'a>, facts: &Facts<'a>, part: &Part<'a>, cases: &mut Vec<Case>) {
    let (a, name) = (&facts.a, &part.json);
    if part.field.required {
        let title = format!("Creating {a} without `{name}` is refused");
        let mut draft = Draft::on(plan, facts, part, "required", Aspect::Refuses, title);
        draft.says(&["bodies.absent"]);
        let send = draft.create(facts, facts.body_without(1, part));
        draft.fails_with(send, Failure::Invalid).done(cases);
    }
}

fn null<'a>(plan: &Plan<'a>, facts: &Facts<'a>, part: &Part<'a>, cases: &mut Vec<Case>) {
    let (a, name) = (&facts.a, &part.json);
    if part.field.nullable {
        let title = format!("`{name}` of {a} may be null");
        let mut draft = Draft::on(plan, facts, part, "null", Aspect::Nullability, title);
        draft.says(&["bodies.null"]);
        let send = draft.create(facts, facts.body_with(1, part, Value::Null)).has_one(name, Value::Null);
        draft.send(send);
        if part.mutable() {
            draft.make_one(facts, 2, part, part.value(2));
            draft.send(Send::patch_one(facts.at(2), name, Value::Null).has_one(name, Value::Null));
        }
        draft.done(cases);
    } else {
        let title = format!("`{name}` of {a} may not be null");
        let mut draft = Draft::on(plan, facts, part, "null", Aspect::Nullability, title);
        draft.says(&["bodies.null"]);
        let send = draft.create(facts, facts.body_with(1, part, Value::Null));
        draft.fails(send, Failure::Invalid);
        if part.mutable() {
            draft.make_one(facts, 1, part, part.value(1));
            draft.fails(Send::patch_one(facts.at(1), name, Value::Null), Failure::Invalid);
            draft.still(facts, 1, part, part.value(1));
        }
        draft.done(cases);
    }
}

/// Sends each value in turn, none of which is valid: the first in a create, the others in an update if that may be.
pub(super) fn refused<'a>(
    draft: &mut Draft<'_, 'a>,
    facts: &Facts<'a>,
    part: &Part<'a>,
    values: impl IntoIterator<Item = Value>,
) {
    for (index, value) in values.into_iter().enumerate() {
        if index == 0 || !part.mutable() {
            let send = draft.create(facts, facts.body_with(1, part, value));
            draft.fails(send, Failure::Invalid);
        } else {
            draft.needs(Some(facts.key), 1);
            draft.fails(Send::patch_one(facts.at(1), &part.json, value), Failure::Invalid);
        }
    }
}

fn types<'a>(plan: &Plan<'a>, facts: &Facts<'a>, part: &Part<'a>, cases: &mut Vec<Case>) {
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
    let title = format!("`{}` of {} takes no value of another type", part.json, facts.a);
    let mut draft = Draft::on(plan, facts, part, "wrong_type", Aspect::Refuses, title);
    draft.says(&[clause]);
    // There is a record with id 1, which a value that is read too kindly would name.
    draft.needs(part.field.target(), 1);
    refused(&mut draft, facts, part, values::wrong_types(&part.field.kind, &part.value(1)));
    draft.done(cases);

    if part.field.kind == Kind::DateTime {
        let title = format!(
            "`{}` of {} takes only a real date and time in the form of date-times",
            part.json, facts.a
        );
        let mut draft = Draft::on(plan, facts, part, "form", Aspect::Refuses, title);
        draft.says(&[clause]);
        refused(&mut draft, facts, part, values::NO_DATE_TIMES.map(|text| json!(text)));
        draft.done(cases);
    }
}

fn bounds<'a>(plan: &Plan<'a>, facts: &Facts<'a>, part: &Part<'a>, cases: &mut Vec<Case>) {
    let bounds = values::bounds(&part.field.kind);
    for bound in &bounds {
        let title =
            format!("Creating or updating {} with a `{}` {} is refused", facts.a, part.json, bound.words);
        let mut draft = Draft::on(plan, facts, part, bound.key, Aspect::Refuses, title);
        refused(&mut draft, facts, part, [bound.beyond.clone(), bound.beyond.clone()]);
        draft.done(cases);
    }
    if !bounds.is_empty() {
        let title = format!("`{}` of {} may be on its bounds", part.json, facts.a);
        let mut draft = Draft::on(plan, facts, part, "bounds", Aspect::Accepts, title);
        for (n, bound) in (1..).zip(&bounds) {
            let body = facts.body_with(n, part, bound.edge.clone());
            let send = draft.create(facts, body).has_one(&part.json, bound.edge.clone());
            draft.send(send);
        }
        draft.done(cases);
    }
}

fn words<'a>(plan: &Plan<'a>, facts: &Facts<'a>, part: &Part<'a>, cases: &mut Vec<Case>) {
    match &part.field.kind {
        Kind::String { pattern: Some(pattern), .. } => {
            let title = format!("`{}` of {} takes only text of its form", part.json, facts.a);
            let mut draft = Draft::on(plan, facts, part, "pattern", Aspect::Refuses, title);
            draft.says(&["types.string"]);
            let sample = pattern.sample(7);
            let bad = [pattern.counterexample().to_owned(), format!("{sample}!"), format!("!{sample}")];
            refused(&mut draft, facts, part, bad.map(Value::from));
            draft.done(cases);
        }
        Kind::Enum { values } => {
            let title = format!("`{}` of {} takes each of its values", part.json, facts.a);
            let mut draft = Draft::on(plan, facts, part, "values", Aspect::Accepts, title);
            draft.says(&["types.enum"]);
            for (n, value) in (1..).zip(values) {
                if n == 1 || !part.mutable() {
                    let send = draft
                        .create(facts, facts.body_with(n, part, json!(value)))
                        .has_one(&part.json, json!(value))
                        .kept(facts.key, n);
                    draft.send(send);
                } else {
                    let send = Send::patch_one(facts.at(1), &part.json, json!(value));
                    draft.send(send.has_one(&part.json, json!(value)));
                }
            }
            draft.done(cases);

            let title = format!("`{}` of {} takes no word but its values", part.json, facts.a);
            let mut draft = Draft::on(plan, facts, part, "unknown_value", Aspect::Refuses, title);
            draft.says(&["types.enum"]);
            let upper = values.first().map(|value| value.to_uppercase()).unwrap_or_default();
            refused(
                &mut draft,
                facts,
                part,
                ["unheard_of".to_owned(), upper, String::new()].map(Value::from),
            );
            draft.done(cases);
        }
        _ => {}
    }
}
