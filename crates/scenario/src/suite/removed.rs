//! What the turn removed: old names answer as unknown ones do, old rules do not hold any more. These cases live for
//! the turn that took it away.

use serde_json::{Value, json};

use super::draft::Draft;
use super::failure::Failure;
use super::plan::{EntityFacts, FieldFacts, SuitePlan};
use super::{Aspect, Case, Method, RequestStep, analytics, lists, state};
use crate::ir::{
    Action, Comparison, Condition, Effect, Filter, FilterOp, Guard, Removed, UnknownFields, words,
};

/// Cases of everything that was removed.
pub(super) fn cases(plan: &SuitePlan<'_>, cases: &mut Vec<Case>) {
    let begin = cases.len();
    for (index, removed) in plan.schema.removed.iter().enumerate() {
        let (id, title) = named(plan, removed);
        let same = |case: &Case| {
            case.id == id || case.id.strip_prefix(&id).is_some_and(|rest| rest.starts_with('#'))
        };
        let count = cases[begin..].iter().filter(|case| same(case)).count();
        let id = if count == 0 { id } else { format!("{id}#{}", count + 1) };
        let mut draft = Draft::new(plan, id, Aspect::Removed, title);
        draft.cite_clauses(&[&format!("gone.{index}")]);
        if steps(plan, removed, &mut draft).is_some() {
            draft.done(cases);
        }
    }
}

/// The id of the case, and its title.
fn named(plan: &SuitePlan<'_>, removed: &Removed) -> (String, String) {
    let entity_with_article =
        |entity: &str| plan.entity(entity).map_or_else(String::new, |facts| facts.a.clone());
    let name = |entity: &str, field: &str| {
        plan.entity(entity)
            .and_then(|facts| facts.part(field))
            .map_or_else(String::new, |part| part.json.clone())
    };
    let verb = |entity: &str, action: &str| {
        let action = plan.entity(entity).and_then(|facts| facts.entity.action(action));
        format!(
            "To {} {}",
            action.map_or_else(String::new, |action| words(&action.name)),
            entity_with_article(entity)
        )
    };
    match removed {
        Removed::Collection { plural } => {
            (format!("gone.collection.{plural}"), format!("The collection `{plural}` is gone"))
        }
        Removed::Prefix { prefix } => {
            ("gone.prefix".to_owned(), format!("Paths do not begin with `{prefix}` any more"))
        }
        Removed::Field { entity, name } => (
            format!("gone.{entity}.field.{name}"),
            format!("`{}` of {} is gone", plan.schema.json_name(name), entity_with_article(entity)),
        ),
        Removed::EnumValue { entity, field, value } => (
            format!("gone.{entity}.value.{field}.{value}"),
            format!(
                "`{value}` is no value of `{}` of {} any more",
                name(entity, field),
                entity_with_article(entity)
            ),
        ),
        Removed::Nested { parent, plural } => (
            format!("gone.{parent}.nested.{plural}"),
            format!("The nested route `{plural}` of {} is gone", entity_with_article(parent)),
        ),
        Removed::Action { entity, name } => (
            format!("gone.{entity}.action.{name}"),
            format!("The action `{name}` of {} is gone", entity_with_article(entity)),
        ),
        Removed::Analytic { name } => {
            (format!("gone.analytic.{name}"), format!("The analytic `{name}` is gone"))
        }
        Removed::AnalyticRestriction { analytic: key, only } => {
            let called = plan.schema.analytic(key).map_or("", |analytic| &analytic.name);
            (
                format!("gone.analytics.{key}.only.{}", only.field),
                format!("The analytic {} takes records that it left out", words(called)),
            )
        }
        Removed::AnalyticFilter { analytic: key, field } => {
            let analytic = plan.schema.analytic(key);
            let (called, entity_key) =
                analytic.map_or(("", ""), |analytic| (&analytic.name, &analytic.entity));
            (
                format!("gone.analytics.{key}.by.{field}"),
                format!("The analytic {} takes no `{}` any more", words(called), name(entity_key, field)),
            )
        }
        Removed::Filter { entity, field, op } => (
            format!("gone.{entity}.filter.{field}.{}", op.key()),
            format!(
                "A filter by `{}` of {} is ignored now",
                name(entity, field),
                entity_with_article(entity)
            ),
        ),
        Removed::Sort { entity, field } => (
            format!("gone.{entity}.sort.{field}"),
            format!("Sorting by `{}` of {} is invalid now", name(entity, field), entity_with_article(entity)),
        ),
        Removed::Constraint { entity, field, .. } => (
            format!("gone.{entity}.constraint.{field}"),
            format!("`{}` of {} takes what it refused", name(entity, field), entity_with_article(entity)),
        ),
        Removed::Unique { entity, field } => (
            format!("gone.{entity}.unique.{field}"),
            format!(
                "`{}` of {} need not be unique any more",
                name(entity, field),
                entity_with_article(entity)
            ),
        ),
        Removed::Immutable { entity, field } => (
            format!("gone.{entity}.immutable.{field}"),
            format!("`{}` of {} can be changed now", name(entity, field), entity_with_article(entity)),
        ),
        Removed::Guard { entity, action, .. } => (
            format!("gone.{entity}.guard.{action}"),
            format!("{} goes without a guard that it had", verb(entity, action)),
        ),
        Removed::Effect { entity, action, field } => (
            format!("gone.{entity}.effect.{action}.{field}"),
            format!("{} leaves `{}` as it is", verb(entity, action), name(entity, field)),
        ),
        Removed::Created { entity, action, other } => (
            format!("gone.{entity}.created.{action}.{other}"),
            format!("{} does not create {} any more", verb(entity, action), entity_with_article(other)),
        ),
        Removed::SoftDelete { entity } => (
            format!("gone.{entity}.soft_delete"),
            format!("{} that is deleted is not kept any more", entity_with_article(entity)),
        ),
    }
}

/// A record's entity and a field of it.
fn find<'p, 'a>(
    plan: &'p SuitePlan<'a>,
    entity: &str,
    field: &str,
) -> Option<(&'p EntityFacts<'a>, &'p FieldFacts<'a>)> {
    let facts = plan.entity(entity)?;
    Some((facts, facts.part(field)?))
}

/// Writes the steps; nothing if what it is about is not there.
fn steps<'p, 'a>(plan: &'p SuitePlan<'a>, removed: &'a Removed, draft: &mut Draft<'p, 'a>) -> Option<()> {
    let prefix = &plan.schema.conventions.prefix;
    match removed {
        Removed::Collection { plural } => {
            let path = format!("{prefix}/{}", plan.schema.path_name(plural));
            draft.fails(RequestStep::get(path.clone()), Failure::Missing);
            draft.fails(RequestStep::get(format!("{path}/1")), Failure::Missing);
            draft.fails(RequestStep::new(Method::Post, path, Some(json!({})), 404), Failure::Missing);
        }
        Removed::Prefix { prefix: old } => {
            let facts = plan.simplest_entity()?;
            draft.cite_clauses(&[facts.key]);
            let rest = facts.path.strip_prefix(prefix.as_str())?;
            draft.fails(RequestStep::get(format!("{old}{rest}")), Failure::Missing);
        }
        Removed::Field { entity, name } => {
            let facts = plan.entity(entity)?;
            let name = plan.schema.json_name(name);
            draft.cite_clauses(&["operations", facts.key, "bodies.unknown", "records.shown"]);
            let pointer = format!("/{name}");
            draft.make(facts, 1).send(RequestStep::get(facts.record_path(1)).absent(&pointer));
            let patch = RequestStep::patch_one(facts.record_path(1), &name, json!("1"));
            let mut body = facts.body(2);
            body.insert(name, json!("1"));
            let post = draft.create(facts, body.into());
            match plan.unknown_fields() {
                UnknownFields::Ignore => {
                    draft.send(post.absent(&pointer)).send(patch.absent(&pointer));
                }
                UnknownFields::Reject => {
                    draft.fails(post, Failure::Invalid).fails(patch, Failure::Invalid);
                }
            }
        }
        Removed::EnumValue { entity, field, value } => {
            let (facts, part) = find(plan, entity, field)?;
            draft.cite_clauses(&["operations", facts.key, &part.clause]);
            super::fields::refused(draft, facts, part, [json!(value), json!(value)]);
        }
        Removed::Nested { parent, plural } => {
            let facts = plan.entity(parent)?;
            draft.cite_clauses(&[facts.key]);
            let path = format!("{}/{}", facts.record_path(1), plan.schema.path_name(plural));
            draft.make(facts, 1);
            draft.fails(RequestStep::get(path.clone()), Failure::Missing);
            draft.fails(RequestStep::new(Method::Post, path, Some(json!({})), 404), Failure::Missing);
        }
        Removed::Action { entity, name } => {
            let facts = plan.entity(entity)?;
            draft.cite_clauses(&[facts.key]);
            let path = format!("{}/{}", facts.record_path(1), plan.schema.path_name(name));
            draft.make(facts, 1);
            draft.fails(RequestStep::new(Method::Post, path, Some(json!({})), 404), Failure::Missing);
        }
        Removed::Analytic { name } => {
            let path = format!("{prefix}/analytics/{}", plan.schema.path_name(name));
            draft.fails(RequestStep::get(path), Failure::Missing);
        }
        Removed::AnalyticRestriction { analytic, only } => {
            analytics::without_restriction(plan, plan.schema.analytic(analytic)?, only, draft)?;
        }
        Removed::AnalyticFilter { analytic, field } => {
            analytics::without_parameter(plan, plan.schema.analytic(analytic)?, field, draft)?;
        }
        Removed::Filter { entity, field, op } => filter(plan, entity, field, *op, draft)?,
        Removed::Sort { entity, field } => {
            let (facts, part) = find(plan, entity, field)?;
            draft.cite_clauses(&["operations", facts.key, "lists.sort"]);
            for sort in [part.json.clone(), format!("-{}", part.json)] {
                draft.fails(
                    RequestStep::get(facts.path.clone()).query("sort", &json!(sort)),
                    Failure::Invalid,
                );
            }
        }
        Removed::Constraint { entity, field, accepted } => {
            let (facts, part) = find(plan, entity, field)?;
            draft.cite_clauses(&["operations", facts.key, &part.clause]);
            let body = facts.body_with(1, part, accepted.clone());
            let send = draft.create(facts, body).has_one(&part.json, accepted.clone());
            draft.send(send);
            if part.mutable() {
                draft.make_one(facts, 2, part, part.value(2));
                let patch = RequestStep::patch_one(facts.record_path(2), &part.json, accepted.clone());
                if part.field.unique && !accepted.is_null() {
                    return Some(());
                }
                draft.send(patch.has_one(&part.json, accepted.clone()));
            }
        }
        Removed::Unique { entity, field } => {
            let (facts, part) = find(plan, entity, field)?;
            draft.cite_clauses(&["operations", facts.key, &part.clause]);
            draft.make_one(facts, 1, part, part.value(1));
            let body = facts.body_with(2, part, part.value(1));
            let send = draft.create(facts, body).has_one(&part.json, part.value(1));
            draft.send(send);
        }
        Removed::Immutable { entity, field } => {
            let (facts, part) = find(plan, entity, field)?;
            let other = match part.field.target() {
                Some(target) => super::plan::id_of(target, 2),
                None => part.other_value(&[&part.value(1)])?,
            };
            draft.cite_clauses(&["operations", facts.key, &part.clause, "bodies.update"]);
            draft.make_one(facts, 1, part, part.value(1));
            let patch = RequestStep::patch_one(facts.record_path(1), &part.json, other.clone());
            draft.send(patch.has_one(&part.json, other));
        }
        Removed::Guard { entity, action, condition } => guard(plan, entity, action, condition, draft)?,
        Removed::Effect { entity, action, field } => effect(plan, entity, action, field, draft)?,
        Removed::Created { entity, action, other } => {
            let facts = plan.entity(entity)?;
            let other = plan.entity(other)?;
            let action = facts.entity.action(action)?;
            let state = state::ready_state(plan, facts, action, None)?;
            draft.cite_clauses(&["actions", facts.key, &format!("{entity}.{}", action.key)]);
            draft.cite_clauses(&[other.key, "operations", "lists.body"]);
            state.make(draft, facts, 1);
            draft.send(state.request(plan, facts, action, 1));
            let count = draft.numbers(other.key).len();
            draft.send(RequestStep::get(other.path.clone()).equal(plan.total(), json!(count)));
        }
        Removed::SoftDelete { entity } => {
            let facts = plan.entity(entity)?;
            let deleted = format!("/{}", plan.schema.json_name("deleted"));
            draft.cite_clauses(&["operations", facts.key, "records.shown"]);
            draft.make(facts, 1).make(facts, 2).delete(facts, 1);
            draft.send(RequestStep::get(facts.record_path(2)).absent(&deleted));
            draft.lists(facts, &[(&plan.include_deleted, json!(true))], &[2]);
        }
    }
    Some(())
}

/// The parameter of a filter that was removed is ignored: all records are listed.
fn filter<'p, 'a>(
    plan: &'p SuitePlan<'a>,
    entity: &str,
    field: &str,
    op: FilterOp,
    draft: &mut Draft<'p, 'a>,
) -> Option<()> {
    let (facts, part) = find(plan, entity, field)?;
    let old = Filter { field: field.to_owned(), op };
    let param = plan.schema.filter_param(facts.entity, &old)?;
    draft.cite_clauses(&["operations", facts.key, &part.clause, "server.routes"]);
    super::records::cite_order(draft, facts);
    let (values, wanted) = lists::filtered(part, op);
    let records = lists::make_all(draft, facts, part, values);
    let all = lists::matching_numbers(facts, &records, |_| true);
    draft.lists(facts, &[(&param, wanted)], &all);
    Some(())
}

/// An action is done where a guard that it had would not hold.
fn guard<'p, 'a>(
    plan: &'p SuitePlan<'a>,
    entity: &str,
    action: &str,
    condition: &Condition,
    draft: &mut Draft<'p, 'a>,
) -> Option<()> {
    let facts = plan.entity(entity)?;
    let action = facts.entity.action(action)?;
    let clause = format!("{entity}.{}", action.key);
    let old = Guard { key: "gone".to_owned(), condition: condition.clone() };
    let mut with_old = action.clone();
    with_old.guards.push(old);
    let state = state::ready_state(plan, facts, &with_old, Some("gone"))?;
    draft.cite_clauses(&["actions", facts.key, &clause]);
    state.make(draft, facts, 1);
    let mut request = state.request(plan, facts, action, 1);
    for effect in &action.effects {
        if let Effect::Set { field, .. } | Effect::Increment { field, .. } = effect
            && let Some(part) = facts.part(field)
            && let Some(after) = state.value_after(facts, action, part, 1)
        {
            draft.cite_clauses(&[&part.clause, &format!("{clause}.effect.{field}")]);
            request = request.has_one(&part.json, after);
        }
    }
    draft.send(request);
    Some(())
}

/// An action leaves a field as it is, with up to two values, as one might be the one that was set.
fn effect<'p, 'a>(
    plan: &'p SuitePlan<'a>,
    entity: &str,
    action: &str,
    field: &str,
    draft: &mut Draft<'p, 'a>,
) -> Option<()> {
    let facts = plan.entity(entity)?;
    let action: &Action = facts.entity.action(action)?;
    let index = facts.parts.iter().position(|part| part.field.key == field)?;
    let part = facts.parts.get(index)?;
    let state = state::ready_state(plan, facts, action, None)?;
    let guards: Vec<&Comparison> = action
        .guards
        .iter()
        .filter_map(|guard| match &guard.condition {
            Condition::Field { field: own, is: comparison } if own == field => Some(comparison),
            _ => None,
        })
        .collect();
    let values: Vec<Value> = state::values_to_try(part, &guards)
        .into_iter()
        .filter(|value| !value.is_null() && guards.iter().all(|comparison| state::holds(comparison, value)))
        .take(if part.field.unique || !state.repeatable(plan, facts, Some(index)) { 1 } else { 2 })
        .collect();
    draft.cite_clauses(&["actions", facts.key, &part.clause, &format!("{entity}.{}", action.key)]);
    for (n, value) in (1..).zip(values) {
        let state = state.with_value(index, value.clone());
        state.make(draft, facts, n);
        draft.send(state.request(plan, facts, action, n));
        draft.send(RequestStep::get(facts.record_path(n)).has_one(&part.json, value));
    }
    Some(())
}
