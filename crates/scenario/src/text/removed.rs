//! What a turn removed or no longer demands. Old names are written in today's case and paths.

use serde_json::Value;

use super::action;
use super::english::{Names, all_of, capital, code, value, with_article};
use crate::ir::{Removed, Schema, UnknownFields};

/// What is so no longer, and what happens instead.
pub(super) fn text(schema: &Schema, removed: &Removed) -> String {
    let names = Names::new(schema);
    let prefix = &schema.conventions.prefix;
    // A path with a prefix that is new in the turn was never there.
    let had_this_prefix = !schema.removed.iter().any(|removed| matches!(removed, Removed::Prefix { .. }));
    let (is_gone, are_gone) = if had_this_prefix {
        ("no longer exists", "no longer exist")
    } else {
        ("does not exist", "do not exist")
    };
    match removed {
        Removed::Collection { plural } => {
            let path = format!("{prefix}/{}", schema.path_name(plural));
            format!("The collection `{path}` {is_gone}: it and all paths below it are *not found*.")
        }
        Removed::Prefix { prefix: old } => {
            let example = schema.entities.first().map_or("", |entity| &entity.plural);
            let example = format!("{old}/{}", schema.path_name(example));
            if old.is_empty() {
                format!(
                    "The old paths without a prefix, such as `{example}`, are *not found* (except `/reset`)."
                )
            } else {
                format!("The old paths with the prefix `{old}`, such as `{example}`, are *not found*.")
            }
        }
        Removed::Field { entity, name } => format!(
            "{} have no field {} any more: responses do not show it, and in a request body it is an unknown key ({}).",
            capital(&names.plural(entity)),
            names.json(name),
            match schema.conventions.unknown_fields {
                UnknownFields::Ignore => "ignored",
                UnknownFields::Reject => "*invalid*",
            }
        ),
        Removed::EnumValue { entity, field, value } => format!(
            "As {} of {}, `{value}` is now *invalid*.",
            names.field(entity, field),
            with_article(&names.singular(entity))
        ),
        Removed::Nested { parent, plural } => {
            format!(
                "The nested routes `{}` {are_gone}: they are *not found*.",
                names.nested_path(parent, plural)
            )
        }
        Removed::Action { entity, name } => {
            let path = schema.entity(entity).map(|entity| schema.collection_path(entity)).unwrap_or_default();
            format!("`POST {path}/{{id}}/{}` {is_gone}: it is *not found*.", schema.path_name(name))
        }
        Removed::Analytic { name } => {
            format!("`GET {prefix}/analytics/{}` {is_gone}: it is *not found*.", schema.path_name(name))
        }
        Removed::AnalyticRestriction { analytic, only } => {
            let Some(analytic) = schema.analytic(analytic) else { return String::new() };
            let many = names.plural(&analytic.entity);
            format!(
                "`GET {}` is no longer limited to the {many}{}: it includes all {many}.",
                schema.analytic_path(analytic),
                super::analytic::restriction(names, &analytic.entity, only)
            )
        }
        Removed::AnalyticFilter { analytic, field } => {
            let analytic = schema.analytic(analytic);
            let path = analytic.map(|analytic| schema.analytic_path(analytic)).unwrap_or_default();
            let name = analytic.and_then(|analytic| names.find(&analytic.entity, field));
            let name = name.map_or(field, |field| &field.name);
            format!("`GET {path}` now ignores the query parameter {}.", names.json(name))
        }
        Removed::Filter { entity, field, op } => {
            let name = names.find(entity, field).map_or(field, |field| &field.name);
            format!(
                "The list of {} now ignores the query parameter {}.",
                names.plural(entity),
                names.json(&op.param(name))
            )
        }
        Removed::Sort { entity, field } => {
            let name = names.find(entity, field).map_or(field, |field| &field.name);
            let name = schema.json_name(name);
            format!(
                "{} can no longer be sorted by `{name}`: `sort={name}` and `sort=-{name}` are *invalid*.",
                capital(&names.plural(entity))
            )
        }
        Removed::Constraint { entity, field, accepted } => format!(
            "{} of {} now accepts {}, which was *invalid* until now.",
            names.field(entity, field),
            with_article(&names.singular(entity)),
            sample(names, entity, field, accepted)
        ),
        Removed::Unique { entity, field } => format!(
            "Two {} with the same {} are no longer a *conflict*.",
            names.plural(entity),
            names.field(entity, field)
        ),
        Removed::Immutable { entity, field } => format!(
            "A replace or update can now change {} of {}.",
            names.field(entity, field),
            with_article(&names.singular(entity))
        ),
        Removed::Guard { entity, action, condition } => {
            let holds = schema
                .entity(entity)
                .map(|entity| action::condition(names, entity, condition))
                .unwrap_or_default();
            format!(
                "{} of {} no longer has the condition that {holds}, and is no longer *refused* because of it.",
                names.verb(entity, action),
                names.plural(entity)
            )
        }
        Removed::Effect { entity, action, field } => format!(
            "{} of {} no longer changes {}.",
            names.verb(entity, action),
            names.plural(entity),
            names.field(entity, field)
        ),
        Removed::Created { entity, action, other } => format!(
            "{} of {} no longer creates {}.",
            names.verb(entity, action),
            names.plural(entity),
            with_article(&names.singular(other))
        ),
        Removed::SoftDelete { entity } => format!(
            "{many} no longer have soft delete: a deleted record is removed, records do not show `deleted`, and the list \
             ignores the query parameter `{}`.",
            schema.json_name("include_deleted"),
            many = capital(&names.plural(entity))
        ),
    }
}

/// What the list loses with a field that was removed: its filters and its sort, by the names that they have today. Nothing
/// if it had none, or was only renamed.
pub(super) fn lists_without(before: &Schema, after: &Schema, removed: &Removed) -> Option<String> {
    let Removed::Field { entity, name } = removed else { return None };
    let entity_before = before.entity(entity)?;
    let field = entity_before.fields.iter().find(|field| field.name == *name)?;
    if after.entity(entity)?.field(&field.key).is_some() {
        return None;
    }
    let params: Vec<String> = entity_before
        .filters
        .iter()
        .filter(|filter| filter.field == field.key)
        .map(|filter| code(&after.json_name(&filter.op.param(name))))
        .collect();
    let ignored = match params.as_slice() {
        [] => None,
        [one] => Some(format!("the query parameter {one} is ignored")),
        many => Some(format!("the query parameters {} are ignored", all_of(many))),
    };
    let name = after.json_name(name);
    let sort = entity_before
        .sorts
        .contains(&field.key)
        .then(|| format!("`sort={name}` and `sort=-{name}` are *invalid*"));
    let lost = [ignored, sort].into_iter().flatten().collect::<Vec<_>>();
    (!lost.is_empty()).then(|| format!("In their list, {}.", lost.join(", and ")))
}

/// A value, or what kind of value if it is long.
fn sample(names: Names<'_>, entity: &str, field: &str, accepted: &Value) -> String {
    match accepted {
        // What stands for any text of that length. A text that a regular expression refused is written out.
        Value::String(text) if text.chars().count() > 8 && text.chars().all(|letter| letter == 'x') => {
            format!("a string of `{}` characters", text.chars().count())
        }
        Value::String(text) if text.is_empty() => "the empty string".to_owned(),
        Value::Array(items) => match items.len() {
            0 => "an empty list".to_owned(),
            1 => "a list of one string".to_owned(),
            n => format!("a list of `{n}` strings"),
        },
        Value::Null => "null".to_owned(),
        other if other.is_object() => code(&other.to_string()),
        other => value(names.kind(entity, field), other),
    }
}
