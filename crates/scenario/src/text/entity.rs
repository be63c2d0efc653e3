//! What an entity is: its paths, fields, filters, sorts and soft delete.

use super::action;
use super::document::{Part, Pieces};
use super::words::{Names, all_of, capital, code, counted, one_of, plain_number, value, with_article};
use crate::ir::{Computed, Entity, Field, Filter, FilterOp, Kind, OnDelete, Schema, words};

pub(super) fn pieces(schema: &Schema, entity: &Entity, index: usize, out: &mut Pieces) {
    let key = &entity.key;
    out.put(Part::Entity(index), key.clone(), about(schema, entity));
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

/// `A repair order is a bicycle that is to be repaired. The path of its collection is …`
pub(super) fn about(schema: &Schema, entity: &Entity) -> String {
    let path = schema.collection_path(entity);
    format!(
        "{} is {}. The path of the collection is `{path}`, of a record `{path}/{{id}}`.",
        capital(&with_article(&words(&entity.name))),
        entity.about.trim().trim_end_matches('.')
    )
}

/// A field with all its rules: `` `hours`: integer from `0` to `80`. Optional with default `1`, never null.``
pub(super) fn field(schema: &Schema, entity: &Entity, field: &Field) -> String {
    let names = Names::new(schema);
    let mut out = names.json(&field.name);
    out.push_str(": ");
    if let Some(computed) = &field.computed {
        out.push_str(field.kind.word());
        out.push_str(", computed by the server at every read and never taken from a body. It is ");
        out.push_str(&formula(names, entity, computed));
        out.push('.');
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
        let (one, many, own) = (names.one(target), words(&entity.plural), words(&entity.name));
        out.push(' ');
        out.push_str(&match on_delete {
            OnDelete::Cascade => {
                format!("Deleting the {one} deletes the {many} that refer to it here, too.")
            }
            OnDelete::Restrict => {
                format!(
                    "Deleting {} that {} refers to here is a *conflict*.",
                    with_article(&one),
                    with_article(&own)
                )
            }
            OnDelete::SetNull => {
                format!("Deleting the {one} sets this field to null in the {many} that refer to it.")
            }
        });
        if *nested {
            let path = names.nested_path(target, &entity.plural);
            out.push_str(&format!(
                " Nested routes: `GET {path}` is the list of the {many} of that {one} (with the same query parameters \
                 as the list of all), `POST {path}` creates {} that refers to it (as a create; {} in the body is \
                 ignored). They are *not found* if there is no such {one}.",
                with_article(&own),
                names.json(&field.name)
            ));
        }
    }
    out
}

/// Whether a field must be there, what it becomes otherwise, and null.
fn presence(field: &Field) -> String {
    match (field.required, &field.default, field.nullable) {
        (true, _, false) => "Required, never null.".to_owned(),
        (true, _, true) => "Required, may be null.".to_owned(),
        (false, Some(default), nullable) => format!(
            "Optional with default {}, {} null.",
            value(Some(&field.kind), default),
            if nullable { "may be" } else { "never" }
        ),
        (false, None, _) => "Optional, may be null (null if it is not given).".to_owned(),
    }
}

/// A type with its bounds: `` string of `2` to `60` characters``.
pub(super) fn kind(names: Names<'_>, kind: &Kind) -> String {
    match kind {
        Kind::String { min_length, max_length, pattern } => match pattern {
            Some(pattern) => format!(
                "string that matches the regular expression `{}` (for example `{}`)",
                pattern.regex(),
                pattern.sample(1)
            ),
            None => length("string", *min_length, *max_length, "character", "characters"),
        },
        Kind::Integer { min, max } => {
            bounds("integer", min.map(|n| n.to_string()), max.map(|n| n.to_string()))
        }
        Kind::Number { min, max } => bounds("number", min.map(plain_number), max.map(plain_number)),
        Kind::Boolean => "boolean".to_owned(),
        Kind::DateTime => "date-time".to_owned(),
        Kind::Enum { values } => {
            let values: Vec<String> = values.iter().map(|value| code(value)).collect();
            format!("enum, {}", one_of(&values))
        }
        Kind::StringList { min_items, max_items } => {
            length("list of strings", *min_items, *max_items, "item", "items")
        }
        Kind::Reference { entity, .. } => format!("reference to {}", with_article(&names.one(entity))),
    }
}

fn length(word: &str, min: Option<u32>, max: Option<u32>, one: &str, many: &str) -> String {
    let with = if word == "string" { "of" } else { "with" };
    match (min, max) {
        (None, None) => word.to_owned(),
        (Some(min), None) => format!("{word} {with} at least {}", counted(min, one, many)),
        (None, Some(max)) => format!("{word} {with} at most {}", counted(max, one, many)),
        (Some(min), Some(max)) if min == max => format!("{word} {with} exactly {}", counted(min, one, many)),
        (Some(min), Some(max)) => format!("{word} {with} `{min}` to {}", counted(max, one, many)),
    }
}

fn bounds(word: &str, min: Option<String>, max: Option<String>) -> String {
    match (min, max) {
        (None, None) => word.to_owned(),
        (Some(min), None) => format!("{word}, at least `{min}`"),
        (None, Some(max)) => format!("{word}, at most `{max}`"),
        (Some(min), Some(max)) => format!("{word} from `{min}` to `{max}`"),
    }
}

/// What a computed field is, as the rest of a sentence.
pub(super) fn formula(names: Names<'_>, entity: &Entity, computed: &Computed) -> String {
    let own = |field: &str| names.field(&entity.key, field);
    let one = words(&entity.name);
    match computed {
        Computed::Joined { first, second, separator } => match separator.as_str() {
            "" => format!("{} directly followed by {}", own(first), own(second)),
            " " => format!("{}, one space and {}, joined into one string", own(first), own(second)),
            other => format!("{}, `{other}` and {}, joined into one string", own(first), own(second)),
        },
        Computed::Product { left, right } => format!("{} times {}", own(left), own(right)),
        Computed::Sum { left, right } => format!("{} plus {}", own(left), own(right)),
        Computed::AtLeast { field, value: least } => format!(
            "`true` if {} is at least {}, else `false`",
            own(field),
            value(names.kind(&entity.key, field), least)
        ),
        Computed::CountOf { entity: other, reference } => format!(
            "the number of {} that refer to the {one} by {}",
            names.many(other),
            names.field(other, reference)
        ),
        Computed::TotalOf { entity: other, reference, field } => format!(
            "the sum of {} over the {} that refer to the {one} by {} (null counts as nothing; `0` if there is none)",
            names.field(other, field),
            names.many(other),
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
    Some(match filter.op {
        FilterOp::Equals => format!("Filter {param}: the {many} whose {field} is the value given."),
        FilterOp::AtLeast => {
            format!("Filter {param}: the {many} whose {field} is at least the value given (inclusive).")
        }
        FilterOp::AtMost => {
            format!("Filter {param}: the {many} whose {field} is at most the value given (inclusive).")
        }
        FilterOp::Contains => {
            format!("Filter {param}: the {many} whose {field} contains the text given (case-sensitive).")
        }
    })
}

/// What lists can be sorted by, and the default order.
pub(super) fn sorts(schema: &Schema, entity: &Entity) -> String {
    let names = Names::new(schema);
    let many = capital(&words(&entity.plural));
    let fields: Vec<String> = entity.sorts.iter().map(|key| names.field(&entity.key, key)).collect();
    let mut out = match fields.as_slice() {
        [] => format!("{many} can not be sorted (any `sort` is *invalid*)"),
        fields => format!("{many} can be sorted by {}", all_of(fields)),
    };
    match &entity.default_sort {
        None => out.push_str("; the default order is by `id`, ascending."),
        Some(sort) => out.push_str(&format!(
            "; the default order is by {}, {}.",
            names.field(&entity.key, &sort.field),
            if sort.descending { "descending" } else { "ascending" }
        )),
    }
    out
}

/// That an entity has soft delete.
pub(super) fn soft_delete(schema: &Schema, entity: &Entity) -> String {
    format!(
        "{} have soft delete: they show `deleted`, and lists take `{}`.",
        capital(&words(&entity.plural)),
        schema.json_name("include_deleted")
    )
}
