//! Texts of the example, of every kind of change, and of long random histories.

mod examples;
mod reading;

use std::collections::{BTreeMap, BTreeSet};

use super::delta::{literals, normalized_literal};
use super::*;
use crate::Seed;
use crate::change::tests::{change, good, plausible, second_turn};
use crate::change::{ActionChange, EntityChange, FieldChange, apply, next_turn};
use crate::ir::{FilterOp, example};

/// What a request leaves unstated: literals and sentences of clauses that are new or changed, and what was removed.
pub(crate) fn unstated_texts(
    before: &Schema,
    changes: &[Change],
    after: &Schema,
    request: &str,
) -> Vec<String> {
    let old: BTreeMap<String, String> =
        clauses(before).into_iter().map(|clause| (clause.id, clause.text)).collect();
    let renames =
        changes.iter().any(|change| matches!(change, Change::Entity(EntityChange::RenameEntity { .. })));
    let mut out = Vec::new();
    for Clause { id, text } in clauses(after) {
        let old_text =
            old.get(&id).filter(|_| !id.starts_with("gone.")).map_or("", |old_text| old_text.as_str());
        if old_text == text {
            continue;
        }
        let by_name: BTreeSet<String> =
            literals(old_text).map(|literal| normalized_literal(before, literal)).collect();
        for literal in literals(&text) {
            if !literals(old_text).any(|known| known == literal)
                && !request.contains(&format!("`{literal}`"))
                && !request.contains(&format!("`{}`", literal.rsplit(' ').next().unwrap_or_default()))
                && !by_name.contains(&normalized_literal(after, literal))
            {
                out.push(format!("{id}: `{literal}`"));
            }
        }
        let words = |text: &str| text.split('`').step_by(2).collect::<Vec<_>>().join("`");
        if words(old_text) != words(&text) && !renames && !request.contains(&text) {
            out.push(format!("{id}: {text}"));
        }
    }
    out
}

/// Faults of form that no text may have.
fn clumsy(text: &str) -> Option<String> {
    for (index, line) in text.lines().enumerate() {
        let body = line.trim_start();
        for bad in [
            "  ", " .", " ,", "..", " and.", " and ,", " or.", "{}", "``", " :", "todo", ": .", "? ?",
            "None", "{^",
        ] {
            if body.contains(bad) && !body.contains("`{}`") {
                return Some(format!("{bad:?} in line {}: {line}", index + 1));
            }
        }
        if line.ends_with(' ') || line.matches('`').count() % 2 == 1 {
            return Some(format!("line {}: {line}", index + 1));
        }
    }
    None
}

fn one_turn(before: &Schema, json: &serde_json::Value) -> (Change, Schema) {
    let change = change(json);
    let after = apply(before, &change).unwrap_or_else(|refusal| panic!("{json}: {refusal}"));
    (change, after)
}

#[test]
fn every_kind_of_change_is_said_completely_in_at_least_five_ways() {
    let before = second_turn();
    for json in good() {
        let (change, after) = one_turn(&before, &json);
        let changes = [change];
        let mut texts = BTreeSet::new();
        for base in 0..40 {
            let request = change_request(Seed { base, scenario: 3 }, &before, &changes, &after);
            if base < 10 {
                assert_eq!(unstated_texts(&before, &changes, &after, &request), [""; 0], "{request}");
                assert_eq!(clumsy(&request), None, "{json}\n{request}");
            }
            // Without the frame around it.
            let body: Vec<&str> = request.lines().skip(1).filter(|line| !line.is_empty()).collect();
            texts.insert(body[..body.len() - 1].join("\n"));
        }
        assert!(texts.len() >= 5, "{json}: {}", texts.len());
        let summary = summary(&before, &changes[0]);
        assert_eq!(clumsy(&summary), None, "{json}");
        assert!(summary.ends_with('.') && summary.starts_with(char::is_uppercase), "{summary}");
    }
}

#[test]
fn long_random_histories_are_said_completely() {
    for scenario in 0..2 {
        let seed = Seed { base: 11, scenario };
        let mut schema = example();
        for turn in 2..30 {
            let mut draw = seed.draw(turn, "history");
            let before = schema.clone();
            let (mut after, mut changes) = (next_turn(&before), Vec::new());
            for _ in 0..60 {
                let change = plausible::change(&mut draw, &after);
                if let Ok(next) = apply(&after, &change) {
                    after = next;
                    changes.push(change);
                }
                if changes.len() == 5 {
                    break;
                }
            }
            let request = change_request(seed, &before, &changes, &after);
            assert_eq!(
                unstated_texts(&before, &changes, &after, &request),
                [""; 0],
                "{changes:#?}\n{request}"
            );
            assert_eq!(unnamed_parameters(&before, &after, &request), [""; 0], "{changes:#?}\n{request}");
            assert_eq!(clumsy(&request), None, "{changes:#?}\n{request}");
            assert_eq!(request, change_request(seed, &before, &changes, &after));
            schema = after;
        }
    }
}

#[test]
fn sampled_requests_say_every_change() {
    use crate::sample::{ProgrammaticSampler, Sampler as _};
    for scenario in 0..2 {
        let seed = Seed { base: 0, scenario };
        let mut before = ProgrammaticSampler.first_schema(seed).unwrap().value;
        let first = first_request(seed, &before, Benchmark::Iterative);
        assert_eq!(clumsy(&first), None);
        // The benchmark of one turn is asked for the same, but not informed of messages that never come.
        let only = first_request(seed, &before, Benchmark::SingleTurn);
        assert_eq!(clumsy(&only), None);
        let later: Vec<&str> = first.lines().filter(|line| !only.contains(line)).collect();
        assert_eq!(later.len(), 1, "{later:?}");
        assert_eq!(only, first.replacen(&format!("{}\n\n", later[0]), "", 1));
        assert!(
            !only.contains("ater message")
                && !only.contains("hange requests")
                && !only.contains("More requests")
        );
        for _ in 2..=16 {
            let changes = ProgrammaticSampler.next_turn(seed, &before, 5).unwrap().value;
            let request = change_request(seed, &before, &changes.changes, &changes.after);
            assert_eq!(
                unstated_texts(&before, &changes.changes, &changes.after, &request),
                [""; 0],
                "{request}"
            );
            assert_eq!(unnamed_parameters(&before, &changes.after, &request), [""; 0], "{request}");
            assert_eq!(clumsy(&request), None, "{request}");
            before = changes.after;
        }
        assert_eq!(clumsy(&specification(&before)), None);
    }
}

#[test]
fn filters_and_sorts_that_fall_with_a_field_are_said() {
    use crate::sample::{ProgrammaticSampler, Sampler as _};
    let (mut with_filter, mut with_sort) = (0, 0);
    for scenario in 0..4 {
        let seed = Seed { base: 5, scenario };
        let first = ProgrammaticSampler.first_schema(seed).unwrap().value;
        let before = next_turn(&first);
        for entity in &first.entities {
            for field in &entity.fields {
                let kind = if field.target().is_some() { "remove_reference" } else { "remove_field" };
                let json = serde_json::json!({"change": kind, "entity": entity.key, "field": field.key});
                let change = change(&json);
                let Ok(after) = apply(&before, &change) else { continue };
                let request = change_request(seed, &first, &[change], &after);
                for filter in entity.filters.iter().filter(|filter| filter.field == field.key) {
                    with_filter += 1;
                    let param = after.json_name(&filter.op.param(&field.name));
                    assert!(request.contains(&format!("`{param}`")), "{param}: {request}");
                    assert!(request.contains(" ignored"), "{param}: {request}");
                }
                if entity.sorts.contains(&field.key) {
                    with_sort += 1;
                    let name = after.json_name(&field.name);
                    let sentence = format!("`sort={name}` and `sort=-{name}` are *invalid*");
                    assert!(request.contains(&sentence), "{sentence}: {request}");
                }
                assert_eq!(clumsy(&request), None, "{request}");
            }
        }
    }
    assert!(with_filter > 5 && with_sort > 5, "{with_filter} {with_sort}");
}

/// Query parameters that a request gives no new name, by entity. One with the new name of its field is stated with that.
fn unnamed_parameters(before: &Schema, after: &Schema, request: &str) -> Vec<String> {
    let mut out = Vec::new();
    for entity in &after.entities {
        let Some(entity_before) = before.entity(&entity.key) else { continue };
        for filter in &entity.filters {
            let Some((old, new)) = entity_before.field(&filter.field).zip(entity.field(&filter.field)) else {
                continue;
            };
            let parameter = |schema: &Schema, name: &str| schema.json_name(&filter.op.param(name));
            let pair = (parameter(before, &old.name), parameter(after, &new.name));
            let same = normalized_literal(before, &pair.0) == normalized_literal(after, &pair.1);
            if same || filter.op == FilterOp::Equals || !entity_before.filters.contains(filter) {
                continue;
            }
            let id = format!("{}.filter.{}.{}", entity.key, filter.field, filter.op.key());
            let clause = clauses(after).into_iter().find(|clause| clause.id == id).map(|clause| clause.text);
            let listed = format!(
                "- Query parameter of {}: `{}` → `{}`",
                crate::ir::words(&entity.plural),
                pair.0,
                pair.1
            );
            if !request.contains(&listed) && !clause.is_some_and(|clause| request.contains(&clause)) {
                out.push(listed);
            }
        }
    }
    out
}

#[test]
fn a_parameter_that_follows_from_a_rename_is_named_with_its_entity() {
    let mut before = second_turn();
    let price =
        serde_json::json!({"key": "price", "name": "price", "type": "number", "nullable": true, "since": 9});
    for json in [
        serde_json::json!({"change": "add_field", "entity": "parts", "field": price}),
        serde_json::json!({"change": "add_filter", "entity": "parts", "filter": {"field": "price", "op": "at_least"}}),
    ] {
        before = one_turn(&before, &json).1;
    }
    let before = next_turn(&before);
    let rename = |entity: &str, name: &str| serde_json::json!({"change": "rename_field", "entity": entity, "field": "price", "name": name});
    let request_of = |renames: &[serde_json::Value]| {
        let (mut after, mut changes) = (before.clone(), Vec::new());
        for json in renames {
            let (change, next) = one_turn(&after, json);
            changes.push(change);
            after = next;
        }
        let request = change_request(Seed { base: 1, scenario: 0 }, &before, &changes, &after);
        assert_eq!(unnamed_parameters(&before, &after, &request), [""; 0], "{request}");
        assert_eq!(clumsy(&request), None, "{request}");
        request
    };
    let one = request_of(&[rename("repair_orders", "fee")]);
    assert!(one.contains("- Query parameter of repair orders: `min_price` → `min_fee`"), "{one}");
    assert!(!one.contains("of parts: `min_price`"), "{one}");
    // Both get the same new name, or different ones.
    let both = request_of(&[rename("repair_orders", "fee"), rename("parts", "fee")]);
    assert!(both.contains("- Query parameter of repair orders: `min_price` → `min_fee`"), "{both}");
    assert!(both.contains("- Query parameter of parts: `min_price` → `min_fee`"), "{both}");
    let different = request_of(&[rename("repair_orders", "fee"), rename("parts", "cost")]);
    assert!(different.contains("- Query parameter of parts: `min_price` → `min_cost`"), "{different}");
}

#[test]
fn a_rename_says_how_far_it_reaches() {
    let sweeping =
        ["all paths with it", "old word", "old name follows", "everywhere", "wherever", "Everything that"];
    let before = second_turn();
    let mut kinds = BTreeSet::new();
    for json in good() {
        let (change, after) = one_turn(&before, &json);
        let limits = match &change {
            Change::Entity(EntityChange::RenameEntity { .. }) => {
                "Names of fields, enum values, actions and analytics stay as they are"
            }
            Change::Field(FieldChange::RenameField { .. }) => {
                "Names of actions, of analytics, of other fields and of action parameters stay as they are"
            }
            Change::Field(FieldChange::RenameEnumValue { .. }) => {
                "Values of other fields and names of fields, actions and analytics stay as they are"
            }
            Change::Action(ActionChange::RenameAction { .. }) => {
                "Names of fields, enum values, analytics and other actions stay as they are"
            }
            _ => continue,
        };
        kinds.insert(limits);
        let changes = [change];
        for base in 0..60 {
            let request = change_request(Seed { base, scenario: 1 }, &before, &changes, &after);
            assert_eq!(request.matches(limits).count(), 1, "{request}");
            // The reason may speak of the old word; it demands nothing.
            let request = request.replace("New colleagues stumbled over the old word every time.", "");
            for phrase in sweeping {
                assert!(!request.contains(phrase), "{phrase}: {request}");
            }
            if let Change::Entity(EntityChange::RenameEntity { entity, .. }) = &changes[0] {
                let path = after.collection_path(after.entity(entity).unwrap());
                assert!(
                    request.contains(&format!("(`{path}`, `{path}/{{id}}` and the paths below it)")),
                    "{request}"
                );
            }
        }
    }
    assert_eq!(kinds.len(), 4, "{kinds:?}");
}

#[test]
fn no_reason_for_something_new_speaks_of_an_old_one() {
    for json in good() {
        let kind = json["change"].as_str().unwrap_or_default();
        let adds = kind.starts_with("add_") || kind == "nest" || kind == "change_analytic_filter";
        for reason in wording::for_change(&change(&json)).reasons {
            assert!(!adds || !reason.contains("old "), "{kind}: {reason}");
        }
    }
}

#[test]
fn a_text_that_is_accepted_now_is_counted_and_not_spelled_out() {
    let before = second_turn();
    let note = serde_json::json!({"change": "add_field", "entity": "parts", "field": {"key": "remark", "name": "remark",
        "type": "string", "max_length": 30, "nullable": true, "since": 9}});
    let before = next_turn(&one_turn(&before, &note).1);
    let looser = serde_json::json!({"change": "loosen", "entity": "parts", "field": "remark",
        "kind": {"type": "string", "max_length": 60}});
    let (change, after) = one_turn(&before, &looser);
    let request = change_request(Seed { base: 1, scenario: 0 }, &before, &[change], &after);
    assert!(request.contains("now accepts a string of `31` characters"), "{request}");
}

/// It was counted, as if a text of that length had been refused.
#[test]
fn a_text_that_a_regular_expression_refused_is_written_out() {
    let before = second_turn();
    let code = serde_json::json!({"change": "add_field", "entity": "parts", "field": {"key": "mail", "name": "mail",
        "type": "string", "pattern": "email", "nullable": true, "since": 9}});
    let before = next_turn(&one_turn(&before, &code).1);
    let looser = serde_json::json!({"change": "loosen", "entity": "parts", "field": "mail", "kind": {"type": "string"}});
    let (change, after) = one_turn(&before, &looser);
    let request = change_request(Seed { base: 1, scenario: 0 }, &before, &[change], &after);
    assert!(request.contains("now accepts `\"user at example\"`"), "{request}");
}

#[test]
fn what_is_replaced_or_removed_has_the_names_of_today() {
    let before = second_turn();
    let (mut after, mut changes) = (before.clone(), Vec::new());
    for json in [
        serde_json::json!({"change": "change_guard", "entity": "customers", "action": "promote", "guard": "has_orders",
            "condition": {"when": "has_at_least", "entity": "repair_orders", "reference": "customer", "count": 2}}),
        serde_json::json!({"change": "remove_analytic", "analytic": "revenue"}),
        serde_json::json!({"change": "rename_field", "entity": "repair_orders", "field": "customer", "name": "rider_id"}),
        serde_json::json!({"change": "change_prefix", "prefix": "/v2"}),
    ] {
        let (change, next) = one_turn(&after, &json);
        changes.push(change);
        after = next;
    }
    for base in 0..20 {
        let request = change_request(Seed { base, scenario: 0 }, &before, &changes, &after);
        assert!(!request.contains("`/api/analytics/revenue`"), "{request}");
        assert!(!request.contains("through `customer_id`"), "{request}");
        assert!(request.contains("through `rider_id`"), "{request}");
    }
}

#[test]
fn what_falls_with_something_else_is_said() {
    let before = second_turn();
    let (change, after) =
        one_turn(&before, &serde_json::json!({"change": "remove_entity", "entity": "mechanics"}));
    let request = change_request(Seed { base: 1, scenario: 0 }, &before, &[change], &after);
    let condition = "Repair orders: `finish` requires that `mechanic_id` is not null and `active` of the referenced mechanic is `true`";
    assert!(request.contains(condition), "{request}");
    assert!(request.contains("`GET /api/analytics/average-hours` no longer exists"), "{request}");
}
