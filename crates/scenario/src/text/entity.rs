//! What an entity is: its paths, fields, filters, sorts and soft delete.

use super::action;
use super::english::{Names, all_of, capital, code, value, with_article};
use super::pieces::{Part, Pieces};
use super::types::{default, kind};
use crate::ir::{Computed, Entity, Field, Filter, FilterOp, Kind, OnDelete, Schema, words};

pub(super) fn pieces(schema: &Schema, entity: &Entity, index: usize, out: &mut Pieces) {
    let key = &entity.key;
    out.put(Part::Entity(index), key.clone(), description(schema, entity));
    for each in &entity.fields {
        out.put(Part::Field(index), format!("{key}.{}", each.key), field(schema, entity, each));
    }
    for each in &entity.filters {
        if let Some(text) = filter(schema, entity, each) {
            out.put(Part::List(index), format!("{key}.filter.{}.{}", each.field, each.op.key()), text);
        }
    }
    out.put(Part::List(index), format!("{key}.sort"), sorts(schema, entity));
    if entity.soft_delete {
        out.put(Part::List(index), format!("{key}.soft_delete"), soft_delete(schema, entity));
    }
    for each in &entity.actions {
        action::pieces(schema, entity, each, index, out);
    }
}

/// `A repair order is a bicycle that is to be repaired. The collection is at …`
pub(super) fn description(schema: &Schema, entity: &Entity) -> String {
    let path = schema.collection_path(entity);
    format!(
        "{} is {}. The collection is at `{path}`, a single record at `{path}/{{id}}`.",
        capital(&with_article(&words(&entity.name))),
        entity.about.trim().trim_end_matches('.')
    )
}

/// A field with all its rules: `` `hours`: integer from `0` to `80`. Optional, default `1`. Null is not allowed.``
pub(super) fn field(schema: &Schema, entity: &Entity, field: &Field) -> String {
    let names = Names::new(schema);
    let mut out = names.json(&field.name);
    out.push_str(": ");
    if let Some(computed) = &field.computed {
        out.push_str(&format!(
            "{}, read-only. The server computes it for every response: {}.",
            field.kind.word(),
            formula(names, entity, computed)
        ));
        return out;
    }
    out.push_str(&kind(names, &field.kind));
    out.push_str(". ");
    out.push_str(&presence(field));
    if field.unique {
        out.push_str(" Unique.");
    }
    if field.immutable {
        out.push_str(" Immutable.");
    }
    if let Kind::Reference { entity: target, on_delete, nested } = &field.kind {
        let (singular, many, child) = (names.singular(target), words(&entity.plural), words(&entity.name));
        out.push(' ');
        let (a_one, f) = (with_article(&singular), names.json(&field.name));
        out.push_str(&match on_delete {
            OnDelete::Cascade => {
                format!("Deleting {a_one} also deletes the {many} that refer to it through {f}.")
            }
            OnDelete::Restrict => {
                format!("Deleting {a_one} is a *conflict* as long as {many} refer to it through {f}.")
            }
            OnDelete::SetNull => {
                format!("Deleting {a_one} sets {f} to null in the {many} that refer to it through {f}.")
            }
        });
        if *nested {
            let path = names.nested_path(target, &entity.plural);
            out.push_str(&format!(
                " Nested routes: `GET {path}` lists only the {many} that refer to this {singular}, with the same query \
                 parameters as the list of all {many}; `POST {path}` creates {} for this {singular}, by the rules and \
                 with the response of a create, but {f} comes from the path and is ignored in the body. Both are *not found* if this {singular} \
                 does not exist.",
                with_article(&child)
            ));
        }
    }
    out
}

/// Whether a field must be there, what it becomes otherwise, and null.
fn presence(field: &Field) -> String {
    let null = if field.nullable { "Null is allowed." } else { "Null is not allowed." };
    if field.required {
        return format!("Required. {null}");
    }
    format!("Optional, default {}. {null}", default(Some(&field.kind), field.default.as_ref()))
}

/// What a computed field is, as the rest of a sentence.
pub(super) fn formula(names: Names<'_>, entity: &Entity, computed: &Computed) -> String {
    let field_name = |field: &str| names.field(&entity.key, field);
    let singular = words(&entity.name);
    match computed {
        Computed::Joined { first, second, separator } => match separator.as_str() {
            "" => format!("{} directly followed by {}, as one string", field_name(first), field_name(second)),
            " " => {
                format!("{}, one space and {}, joined into one string", field_name(first), field_name(second))
            }
            other => {
                format!("{}, `{other}` and {}, joined into one string", field_name(first), field_name(second))
            }
        },
        Computed::Product { left, right } => format!("{} times {}", field_name(left), field_name(right)),
        Computed::Sum { left, right } => format!("{} plus {}", field_name(left), field_name(right)),
        Computed::AtLeast { field, value: least } => format!(
            "`true` if {} is at least {}, otherwise `false`",
            field_name(field),
            value(names.kind(&entity.key, field), least)
        ),
        Computed::CountOf { entity: other, reference } => format!(
            "the number of {} that refer to the {singular} through {}",
            names.plural(other),
            names.field(other, reference)
        ),
        Computed::TotalOf { entity: other, reference, field } => format!(
            "the sum of {} over the {} that refer to the {singular} through {} (null values are skipped; `0` if there are none)",
            names.field(other, field),
            names.plural(other),
            names.field(other, reference)
        ),
    }
}

/// `` Filter `min_price`: the repair orders whose `price` is at least the value given.``
pub(super) fn filter(schema: &Schema, entity: &Entity, filter: &Filter) -> Option<String> {
    let names = Names::new(schema);
    let param = code(&schema.filter_param(entity, filter)?);
    let field = names.field(&entity.key, &filter.field);
    let many = words(&entity.plural);
    let holds = match filter.op {
        FilterOp::Equals => "equals the given value",
        FilterOp::AtLeast => "is greater than or equal to the given value",
        FilterOp::AtMost => "is less than or equal to the given value",
        FilterOp::Contains => "contains the given text (case-sensitive)",
    };
    Some(format!("Filter {param}: only {many} whose {field} {holds}."))
}

/// What lists can be sorted by, and the default order.
pub(super) fn sorts(schema: &Schema, entity: &Entity) -> String {
    let names = Names::new(schema);
    let many = capital(&words(&entity.plural));
    let fields: Vec<String> = entity.sorts.iter().map(|key| names.field(&entity.key, key)).collect();
    let mut out = match fields.as_slice() {
        [] => format!("{many} cannot be sorted (any `sort` is *invalid*)"),
        fields => format!("{many} can be sorted by {}", all_of(fields)),
    };
    match &entity.default_sort {
        None => out.push_str(". Default order: by `id`, ascending."),
        Some(sort) => out.push_str(&format!(
            ". Default order: by {}, {}.",
            names.field(&entity.key, &sort.field),
            if sort.descending { "descending" } else { "ascending" }
        )),
    }
    out
}

/// That an entity has soft delete.
pub(super) fn soft_delete(schema: &Schema, entity: &Entity) -> String {
    format!(
        "{} have soft delete: they show `deleted`, and their lists accept the query parameter `{}`.",
        capital(&words(&entity.plural)),
        schema.json_name("include_deleted")
    )
}
