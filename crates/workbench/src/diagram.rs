//! A schema as the Scenarios page draws it: entities with their fields and actions, in short, against the turn before.

mod schema_sentences;

use scenario::ir::{Action, Entity, Field, FilterOp, Kind, OnDelete, Schema, words};

use self::schema_sentences::{action_text, analytic_text, computed_text, plain};
use crate::api::{DiagramEntity, DiagramField, DiagramPart, PartState};

/// The entities of a schema.
pub(crate) fn entities(schema: &Schema, before: Option<&Schema>) -> Vec<DiagramEntity> {
    schema
        .entities
        .iter()
        .map(|entity| {
            let old = before.and_then(|schema| schema.entity(&entity.key));
            DiagramEntity {
                key: entity.key.clone(),
                name: words(&entity.name),
                plural: words(&entity.plural),
                about: entity.about.clone(),
                path: schema.collection_path(entity),
                soft_delete: entity.soft_delete,
                // words: ok: a JSON key.
                since: entity.introduced_in,
                state: state(before, old, |old| old == entity),
                fields: entity
                    .fields
                    .iter()
                    .map(|field| {
                        let old = old.and_then(|entity| entity.field(&field.key));
                        draw_field(schema, entity, field, state(before, old, |old| old == field))
                    })
                    .collect(),
                actions: entity
                    .actions
                    .iter()
                    .map(|action| {
                        let old = old.and_then(|entity| entity.action(&action.key));
                        draw_action(schema, entity, action, state(before, old, |old| old == action))
                    })
                    .collect(),
                lists: lists(schema, entity, before, old),
                removed_fields: before
                    .zip(old)
                    .into_iter()
                    .flat_map(|(before, old)| old.fields.iter().map(move |field| (before, old, field)))
                    .filter(|(_, _, field)| entity.field(&field.key).is_none())
                    .map(|(before, old, field)| draw_field(before, old, field, PartState::Removed))
                    .collect(),
                removed_actions: before
                    .zip(old)
                    .into_iter()
                    .flat_map(|(before, old)| old.actions.iter().map(move |action| (before, old, action)))
                    .filter(|(_, _, action)| entity.action(&action.key).is_none())
                    .map(|(before, old, action)| draw_action(before, old, action, PartState::Removed))
                    .collect(),
            }
        })
        .collect()
}

fn draw_action(schema: &Schema, entity: &Entity, action: &Action, state: PartState) -> DiagramPart {
    DiagramPart {
        key: action.key.clone(),
        name: words(&action.name),
        text: action_text(schema, entity, action),
        state,
    }
}

/// A part of a list and what it is without the conventions: they are marked by themselves.
fn list_parts(schema: &Schema, entity: &Entity) -> Vec<(DiagramPart, String)> {
    let name = |key: &str| entity.field(key).map_or_else(|| key.to_owned(), |field| field.name.clone());
    let part = |key: String, name: String, text: String, plain: String| {
        (DiagramPart { key, name, text, state: PartState::Same }, plain)
    };
    let filters = entity.filters.iter().map(|filter| {
        let field = name(&filter.field);
        let plain = filter.op.param(&field);
        let compares = match filter.op {
            FilterOp::Equals => "=",
            FilterOp::AtLeast => "≥",
            FilterOp::AtMost => "≤",
            FilterOp::Contains => "contains",
        };
        part(
            format!("filter {} {}", filter.field, filter.op.key()),
            schema.json_name(&plain),
            format!("filters: {} {compares} the parameter", schema.json_name(&field)),
            plain,
        )
    });
    let sorts = entity.sorts.iter().map(|key| {
        let field = name(key);
        part(format!("sort {key}"), schema.json_name(&field), "can be sorted by".to_owned(), field)
    });
    let (sort_field, descending) = entity
        .default_sort
        .as_ref()
        .map_or_else(|| ("id".to_owned(), false), |sort| (name(&sort.field), sort.descending));
    let way = if descending { "descending" } else { "ascending" };
    let order = part(
        "default_sort".to_owned(),
        schema.json_name(&sort_field),
        format!("{way}, the order if none is asked for"),
        format!("{sort_field} {way}"),
    );
    filters.chain(sorts).chain([order]).collect()
}

/// What lists of an entity take, against the turn before; what they no longer take stands last.
fn lists(
    schema: &Schema,
    entity: &Entity,
    before: Option<&Schema>,
    old: Option<&Entity>,
) -> Vec<DiagramPart> {
    let old_parts = before.zip(old).map_or_else(Vec::new, |(before, old)| list_parts(before, old));
    let now = list_parts(schema, entity);
    let removed_parts: Vec<DiagramPart> = old_parts
        .iter()
        .filter(|(part, _)| now.iter().all(|(other, _)| other.key != part.key))
        .map(|(part, _)| DiagramPart { state: PartState::Removed, ..part.clone() })
        .collect();
    now.into_iter()
        .map(|(part, plain)| {
            let old = old_parts.iter().find(|(old, _)| old.key == part.key);
            DiagramPart { state: state(before, old, |(_, old_plain)| *old_plain == plain), ..part }
        })
        .chain(removed_parts)
        .collect()
}

/// The analytics of a schema.
pub(crate) fn analytics(schema: &Schema, before: Option<&Schema>) -> Vec<DiagramPart> {
    schema
        .analytics
        .iter()
        .map(|analytic| {
            let old = before.and_then(|schema| schema.analytic(&analytic.key));
            DiagramPart {
                key: analytic.key.clone(),
                name: schema.analytic_path(analytic),
                text: analytic_text(schema, analytic),
                state: state(before, old, |old| old == analytic),
            }
        })
        .collect()
}

/// The usual name of the case that `two_words` is written in.
fn case_of(two_words: &str) -> &'static str {
    match two_words {
        name if name.contains('_') => "snake_case",
        name if name.contains('-') => "kebab-case",
        _ => "camelCase",
    }
}

/// The conventions of a schema.
pub(crate) fn conventions(schema: &Schema, before: Option<&Schema>) -> Vec<DiagramPart> {
    let entities_of = |schema: &Schema| {
        let all = &schema.conventions;
        let (first, second) = all.pagination.style.params();
        vec![
            (
                "prefix",
                "Paths begin with",
                if all.prefix.is_empty() { "nothing".to_owned() } else { all.prefix.clone() },
            ),
            ("path_case", "Names in paths", case_of(&schema.path_name("two_words")).to_owned()),
            ("field_case", "Names in JSON", case_of(&schema.json_name("two_words")).to_owned()),
            (
                "error",
                "Error body",
                format!("code at {}, message at {}", all.error.code_pointer(), all.error.message_pointer()),
            ),
            (
                "codes",
                "Error codes",
                [&all.codes.invalid, &all.codes.not_found, &all.codes.conflict, &all.codes.refused]
                    .map(String::as_str)
                    .join(", "),
            ),
            (
                "status",
                "Statuses",
                format!(
                    "created {}, deleted {}, invalid {}, conflict {}, refused {}",
                    all.status.created,
                    all.status.deleted,
                    all.status.invalid,
                    all.status.conflict,
                    all.status.refused
                ),
            ),
            ("list", "Lists", format!("{{\"{}\": […], \"{}\": n}}", all.list.items, all.list.total)),
            (
                "pagination",
                "Pages",
                format!(
                    "{} and {}; {} records, at most {}",
                    schema.json_name(first),
                    schema.json_name(second),
                    all.pagination.default_size,
                    all.pagination.max_size
                ),
            ),
            (
                "unknown_fields",
                "Unknown fields",
                match all.unknown_fields {
                    scenario::ir::UnknownFields::Ignore => "are ignored".to_owned(),
                    scenario::ir::UnknownFields::Reject => "make a body invalid".to_owned(),
                },
            ),
        ]
    };
    let old = before.map(entities_of);
    entities_of(schema)
        .into_iter()
        .enumerate()
        .map(|(index, (key, name, text))| {
            let old_text = old.as_ref().and_then(|old| old.get(index)).map(|(_, _, text)| text);
            let state = if old_text.is_none_or(|old_text| *old_text == text) {
                PartState::Same
            } else {
                PartState::Changed
            };
            DiagramPart { key: key.to_owned(), name: name.to_owned(), text, state }
        })
        .collect()
}

fn state<T>(before: Option<&Schema>, old: Option<&T>, same: impl FnOnce(&T) -> bool) -> PartState {
    match (before, old) {
        (None, _) => PartState::Same,
        (Some(_), None) => PartState::New,
        (Some(_), Some(old)) if same(old) => PartState::Same,
        _ => PartState::Changed,
    }
}

fn draw_field(schema: &Schema, entity: &Entity, field: &Field, state: PartState) -> DiagramField {
    let mut rules = Vec::new();
    if field.required {
        rules.push("required".to_owned());
    }
    if field.nullable {
        rules.push("may be null".to_owned());
    }
    if field.unique {
        rules.push("unique".to_owned());
    }
    if field.immutable {
        rules.push("immutable".to_owned());
    }
    if let Some(default) = &field.default {
        rules.push(format!("default {}", plain(default)));
    }
    if let Some(computed) = &field.computed {
        rules.push(computed_text(schema, entity, computed));
    }
    let range = |low: Option<String>, high: Option<String>, unit: &str| match (low, high) {
        (Some(low), Some(high)) => Some(format!("{low}–{high}{unit}")),
        (Some(low), None) => Some(format!("≥ {low}{unit}")),
        (None, Some(high)) => Some(format!("≤ {high}{unit}")),
        (None, None) => None,
    };
    match &field.kind {
        Kind::String { min_length, max_length, pattern } => {
            rules.extend(range(
                min_length.map(|n| n.to_string()),
                max_length.map(|n| n.to_string()),
                " characters",
            ));
            rules.extend(pattern.map(|pattern| pattern.regex().to_owned()));
        }
        Kind::Integer { min, max } => {
            rules.extend(range(min.map(|n| n.to_string()), max.map(|n| n.to_string()), ""));
        }
        Kind::Number { min, max } => {
            rules.extend(range(min.map(|n| n.to_string()), max.map(|n| n.to_string()), ""));
        }
        Kind::StringList { min_items, max_items } => {
            rules.extend(range(min_items.map(|n| n.to_string()), max_items.map(|n| n.to_string()), " items"));
        }
        Kind::Enum { values } => rules.push(values.join(" · ")),
        Kind::Reference { nested, .. } => {
            if *nested {
                rules.push("nested route".to_owned());
            }
        }
        Kind::Boolean | Kind::DateTime => {}
    }
    DiagramField {
        key: field.key.clone(),
        name: schema.json_name(&field.name),
        kind: field.kind.word().to_owned(),
        rules,
        target: field.target().map(str::to_owned),
        on_delete: match field.kind {
            Kind::Reference { on_delete, .. } => Some(
                match on_delete {
                    OnDelete::Cascade => "cascade",
                    OnDelete::Restrict => "restrict",
                    OnDelete::SetNull => "set null",
                }
                .to_owned(),
            ),
            _ => None,
        },
        state,
    }
}

#[cfg(test)]
mod tests {
    use scenario::ir::example;

    use super::*;

    #[test]
    fn every_entity_and_rule_of_the_example_is_drawn() {
        let drawn = entities(&example(), None);
        let orders = drawn.iter().find(|entity| entity.key == "repair_orders").expect("it is there");
        assert_eq!((orders.path.as_str(), orders.state), ("/api/repair-orders", PartState::Same));
        let rules = |key: &str| {
            orders.fields.iter().find(|field| field.key == key).expect("it is there").rules.join(", ")
        };
        assert_eq!(rules("customer"), "required, nested route");
        assert_eq!(rules("hours"), "default 1, 0–80");
        assert_eq!(rules("labour"), "= hours × rate");
        assert_eq!(rules("note"), "may be null, ≤ 200 characters");
        let finish = orders.actions.iter().find(|action| action.key == "finish").expect("it is there");
        assert_eq!(
            finish.text,
            "status := done; price := final_price; if status = in_work and mechanic_id.active = true"
        );
        let all = analytics(&example(), None);
        assert_eq!(all[0].text, "sum of price of repair orders, where status = done; parameter customer_id");
    }

    #[test]
    fn what_changed_is_marked() {
        let before = example();
        let mut after = example();
        after.conventions.status.invalid = 400;
        after.conventions.path_case = scenario::ir::Case::Snake;
        let orders = after.entity_mut("repair_orders").expect("it is there");
        orders.field_mut("note").expect("it is there").nullable = false;
        orders.field_mut("hours").expect("it is there").key = "fresh".to_owned();
        let drawn = entities(&after, Some(&before));
        let state = |entity: &str, field: &str| {
            let entity = drawn.iter().find(|e| e.key == entity).expect("it is there");
            (entity.state, entity.fields.iter().find(|f| f.key == field).expect("it is there").state)
        };
        assert_eq!(state("repair_orders", "note"), (PartState::Changed, PartState::Changed));
        assert_eq!(state("repair_orders", "fresh"), (PartState::Changed, PartState::New));
        assert_eq!(state("parts", "title"), (PartState::Same, PartState::Same));
        let changed: Vec<String> = conventions(&after, Some(&before))
            .into_iter()
            .filter(|part| part.state == PartState::Changed)
            .map(|part| part.key)
            .collect();
        assert_eq!(changed, ["path_case", "status"]);
    }

    #[test]
    fn what_lists_take_and_what_was_removed_is_drawn() {
        let before = example();
        let mut after = example();
        let customers = after.entity_mut("customers").expect("it is there");
        customers.filters.retain(|filter| filter.field != "newsletter");
        customers.sorts = vec!["full_name".to_owned(), "email".to_owned()];
        customers.default_sort.as_mut().expect("it has one").descending = true;
        customers.field_mut("level").expect("it is there").name = "rank".to_owned();
        customers.fields.retain(|field| field.key != "phone");
        customers.actions.clear();
        let drawn = entities(&after, Some(&before));
        let entity_of = |key: &str| drawn.iter().find(|e| e.key == key).expect("it is there");
        let customers = entity_of("customers");
        let lists: Vec<(&str, &str, PartState)> =
            customers.lists.iter().map(|p| (p.name.as_str(), p.text.as_str(), p.state)).collect();
        assert_eq!(
            lists,
            [
                ("rank", "filters: rank = the parameter", PartState::Changed),
                ("full_name_contains", "filters: full_name contains the parameter", PartState::Same),
                ("full_name", "can be sorted by", PartState::Same),
                ("email", "can be sorted by", PartState::New),
                ("full_name", "descending, the order if none is asked for", PartState::Changed),
                ("newsletter", "filters: newsletter = the parameter", PartState::Removed),
                ("credit", "can be sorted by", PartState::Removed),
            ]
        );
        let field_text = |f: &DiagramField| (f.name.clone(), f.rules.join(", "), f.state);
        assert_eq!(
            customers.removed_fields.iter().map(field_text).collect::<Vec<_>>(),
            [("phone".to_owned(), rules_of(&before, "customers", "phone"), PartState::Removed)]
        );
        let actions: Vec<_> = customers.removed_actions.iter().map(|a| (a.name.as_str(), a.state)).collect();
        assert_eq!((customers.actions.len(), actions), (0, vec![("promote", PartState::Removed)]));
        let orders = entity_of("repair_orders");
        assert!(orders.removed_fields.is_empty() && orders.removed_actions.is_empty());
        // Without an order of its own a list is ordered by id; nothing is marked at the first turn.
        let order = orders.lists.last().expect("an order");
        assert_eq!((order.name.as_str(), order.state), ("id", PartState::Same));
        let first = entities(&after, None);
        assert!(
            first
                .iter()
                .all(|e| e.removed_fields.is_empty()
                    && e.lists.iter().all(|part| part.state == PartState::Same))
        );
    }

    fn rules_of(schema: &Schema, entity: &str, field: &str) -> String {
        let all = entities(schema, None);
        let entity = all.iter().find(|e| e.key == entity).expect("it is there");
        entity.fields.iter().find(|f| f.key == field).expect("it is there").rules.join(", ")
    }
}
