//! Rules of entities: names, references among them, filters and sorts.

use super::{Faults, MOST_FIELDS, MOST_PARTS, actions, fields, first_duplicate, is_line};
use crate::ir::{Entity, Field, FilterOp, Kind, Schema, is_name};

/// Keys of entities would be read as parts of the contract in ids of clauses and cases.
const TAKEN_BY_CLAUSES: [&str; 13] = [
    "server",
    "records",
    "bodies",
    "types",
    "unique",
    "operations",
    "lists",
    "deletion",
    "soft_delete",
    "actions",
    "errors",
    "conventions",
    "gone",
];

/// The same for keys of fields and actions.
pub(crate) const TAKEN_BY_CASES: [&str; 11] = [
    "create",
    "read",
    "list",
    "replace",
    "update",
    "delete",
    "filter",
    "sort",
    "nested",
    "page",
    "soft_delete",
];

pub(super) fn check(schema: &Schema, faults: &mut Faults) {
    let entities = &schema.entities;
    if entities.is_empty() {
        faults.add("entities", "there is no entity");
    }
    if let Some(key) = first_duplicate(entities.iter().map(|entity| entity.key.as_str())) {
        faults.add(key, "two entities have this key");
        return;
    }
    for (index, entity) in entities.iter().enumerate() {
        for other in entities.iter().skip(index + 1) {
            if [&entity.name, &entity.plural]
                .iter()
                .any(|name| **name == other.name || **name == other.plural)
            {
                faults.add(&entity.key, format!("shares a name with the entity `{}`", other.key));
            }
        }
    }
    for entity in entities {
        check_entity(schema, entity, faults);
    }
    if has_cycle(schema) {
        faults.add("entities", "the references among the entities form a cycle");
    }
}

fn check_entity(schema: &Schema, entity: &Entity, faults: &mut Faults) {
    let key = &entity.key;
    for (label, name) in [("key", key), ("name", &entity.name), ("plural", &entity.plural)] {
        if !is_name(name) {
            faults.add(key, format!("the {label} `{}` is no name", name.escape_debug()));
        }
    }
    if TAKEN_BY_CLAUSES.contains(&key.as_str()) {
        faults.add(key, "this key has a meaning of its own");
    }
    if !is_line(&entity.about) {
        faults.add(key, "what it stands for is one line of text");
    }
    if entity.introduced_in == 0 || entity.introduced_in > schema.turn {
        faults.add(key, "it came in a turn that has not been");
    }
    if entity.fields.len() > MOST_FIELDS {
        faults.add(key, format!("it has more than {MOST_FIELDS} fields"));
        return;
    }
    if entity.actions.len() > MOST_PARTS {
        faults.add(key, format!("it has more than {MOST_PARTS} actions"));
        return;
    }
    if !entity.fields.iter().any(Field::is_writable) {
        faults.add(key, "it has no field that can be written");
    }
    let keys =
        entity.fields.iter().map(|field| &field.key).chain(entity.actions.iter().map(|action| &action.key));
    if let Some(duplicate) = first_duplicate(keys.clone().map(String::as_str)) {
        faults.add(key, format!("two fields or actions have the key `{duplicate}`"));
    }
    for taken in keys.filter(|key| TAKEN_BY_CASES.contains(&key.as_str())) {
        faults.add(format!("{key}.{taken}"), "this key has a meaning of its own");
    }
    if let Some(duplicate) = first_duplicate(entity.fields.iter().map(|field| field.name.as_str())) {
        faults.add(key, format!("two fields have the name `{duplicate}`"));
    }
    if let Some(duplicate) = first_duplicate(entity.actions.iter().map(|action| action.name.as_str())) {
        faults.add(key, format!("two actions have the name `{duplicate}`"));
    }
    for field in &entity.fields {
        fields::check(schema, entity, field, faults);
    }
    nested(schema, entity, faults);
    lists(entity, faults);
    for action in &entity.actions {
        actions::check(schema, entity, action, faults);
    }
}

/// Nested routes: one per pair of entities, and none where an action answers.
fn nested(schema: &Schema, entity: &Entity, faults: &mut Faults) {
    let targets = entity.fields.iter().filter_map(|field| match &field.kind {
        Kind::Reference { entity, nested: true, .. } => Some(entity.as_str()),
        _ => None,
    });
    if let Some(parent) = first_duplicate(targets.clone()) {
        faults.add(&entity.key, format!("two nested routes lead here from `{parent}`"));
    }
    for parent in targets.filter_map(|key| schema.entity(key)) {
        if let Some(action) = parent.actions.iter().find(|action| action.name == entity.plural) {
            faults.add(
                format!("{}.{}", parent.key, action.key),
                format!("its path is that of the nested route of `{}`", entity.key),
            );
        }
    }
}

/// Filters and sorts. Their query parameters cannot meet: the forms of bounds and parts are no names of fields.
fn lists(entity: &Entity, faults: &mut Faults) {
    let key = &entity.key;
    if entity.filters.len() > 4 * MOST_FIELDS || entity.sorts.len() > MOST_FIELDS {
        faults.add(key, "it has more filters or sorts than there can be");
        return;
    }
    for (index, filter) in entity.filters.iter().enumerate() {
        let location = || format!("{key}.filter.{}.{}", filter.field, filter.op.key());
        if entity.filters.iter().skip(index + 1).any(|other| other == filter) {
            faults.add(location(), "the filter is there twice");
        }
        match entity.field(&filter.field) {
            None => faults.add(location(), "there is no such field"),
            Some(field) if !can_filter(field, filter.op) => {
                faults.add(location(), "this field cannot be filtered so");
            }
            Some(_) => {}
        }
    }
    if let Some(field) = first_duplicate(entity.sorts.iter().map(String::as_str)) {
        faults.add(format!("{key}.sort.{field}"), "the sort is there twice");
    }
    for sort in &entity.sorts {
        match entity.field(sort) {
            None => faults.add(format!("{key}.sort.{sort}"), "there is no such field"),
            Some(field) if !can_sort(field) => {
                faults.add(
                    format!("{key}.sort.{sort}"),
                    "sorting needs a string, integer, number or date-time that is never null",
                );
            }
            Some(_) => {}
        }
    }
    if let Some(sort) = &entity.default_sort
        && !entity.sorts.contains(&sort.field)
    {
        faults.add(format!("{key}.sort.{}", sort.field), "the default order is not one of the sorts");
    }
}

/// Whether lists can be filtered by a field so.
pub fn can_filter(field: &Field, op: FilterOp) -> bool {
    field.computed.is_none()
        && match op {
            FilterOp::Equals => !matches!(field.kind, Kind::StringList { .. }),
            FilterOp::AtLeast | FilterOp::AtMost => {
                matches!(field.kind, Kind::Integer { .. } | Kind::Number { .. } | Kind::DateTime)
            }
            FilterOp::Contains => matches!(field.kind, Kind::String { .. }),
        }
}

/// Whether lists can be sorted by a field.
pub fn can_sort(field: &Field) -> bool {
    field.computed.is_none()
        && field.is_always_set()
        && matches!(
            field.kind,
            Kind::String { .. } | Kind::Integer { .. } | Kind::Number { .. } | Kind::DateTime
        )
}

/// Whether an entity refers to itself over any number of references. A bit for each entity: there are at most 60.
fn has_cycle(schema: &Schema) -> bool {
    let edges: Vec<u64> = schema
        .entities
        .iter()
        .map(|entity| {
            entity
                .fields
                .iter()
                .filter_map(Field::target)
                .filter_map(|target| schema.entities.iter().position(|entity| entity.key == target))
                .fold(0, |edges, target| edges | 1 << target)
        })
        .collect();
    let mut done = 0_u64;
    loop {
        let before = done;
        for (index, targets) in edges.iter().enumerate() {
            if targets & !done == 0 {
                done |= 1 << index;
            }
        }
        if done == before {
            return done.count_ones() as usize != edges.len();
        }
    }
}
