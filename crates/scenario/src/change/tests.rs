//! Every kind of change on the example, once as it should go and once refused; then long random sequences.

mod examples;
pub(crate) mod plausible;

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) use self::examples::good;
use self::examples::{bad, title};
use super::{Change, ChangeKind, PARTS, apply, next_turn};
use crate::check::check;
use crate::draw::Draw;
use crate::ir::{Removed, Schema, example};

pub(crate) fn change(json: &Value) -> Change {
    serde_json::from_value(json.clone()).unwrap_or_else(|e| panic!("{json}: {e}"))
}

/// The words of all kinds that can be read.
fn kinds() -> BTreeSet<String> {
    PARTS.iter().flat_map(|(words, _)| *words).map(|&word| word.to_owned()).collect()
}

/// The example at its second turn, with a reference that nothing needs.
pub(crate) fn second_turn() -> Schema {
    let picker = change(
        &json!({"change": "add_reference", "entity": "parts", "field": {"key": "picker", "name": "picker_id",
        "type": "reference", "entity": "customers", "on_delete": "restrict", "nested": true, "required": false,
        "nullable": true, "since": 1}}),
    );
    next_turn(&apply(&example(), &picker).unwrap())
}

fn applied(schema: &Schema, json: &Value) -> Schema {
    apply(schema, &change(json)).unwrap_or_else(|refusal| panic!("{json}: {refusal}"))
}

#[test]
fn an_unreadable_change_says_what_is_wrong_with_it() {
    for (json, reason) in [
        (json!({"entity": "parts"}), "missing field `change`"),
        (json!({"change": "add_field", "entity": "parts"}), "missing field `field`"),
        (json!({"change": "nest", "entity": "parts", "field": 3}), "invalid type: integer `3`"),
        (json!({"change": "fly"}), "unknown variant `fly`, expected one of `add_entity`, `remove_entity`"),
    ] {
        let error = serde_json::from_value::<Change>(json).unwrap_err().to_string();
        assert!(error.starts_with(reason), "{error}");
    }
}

#[test]
fn every_kind_of_change_can_be_drawn() {
    assert_eq!(BTreeSet::from(ChangeKind::ALL.map(|kind| kind.word().to_owned())), kinds());
}

#[test]
fn every_kind_of_change_does_what_it_says_or_is_refused() {
    let before = second_turn();
    let (mut done, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for json in good() {
        let after = applied(&before, &json);
        assert_eq!(change(&json).kind().word(), json["change"]);
        assert_eq!(check(&after), [], "{json}");
        assert_ne!(after, before, "{json}");
        done.insert(json["change"].as_str().unwrap().to_owned());
    }
    for (json, reason) in bad() {
        let refusal = apply(&before, &change(&json)).expect_err(&json.to_string());
        assert!(refusal.reason.contains(reason), "{json}: {refusal}");
        refused.insert(json["change"].as_str().unwrap().to_owned());
    }
    assert!(kinds().len() >= 50);
    assert_eq!(done, kinds());
    assert_eq!(refused, kinds());
}

#[test]
fn what_a_change_takes_away_is_listed() {
    let removed = |json: Value| serde_json::to_value(applied(&second_turn(), &json).removed).unwrap();
    let e = "repair_orders";
    assert_eq!(
        removed(
            json!({"change": "rename_entity", "entity": "parts", "name": "item_part", "plural": "item_parts"})
        ),
        json!([
            {"what": "collection", "plural": "parts"},
            {"what": "nested", "parent": "repair_orders", "plural": "parts"},
            {"what": "nested", "parent": "customers", "plural": "parts"},
        ])
    );
    assert_eq!(
        removed(
            json!({"change": "loosen", "entity": e, "field": "hours", "kind": {"type": "integer", "min": -5}})
        ),
        json!([
            {"what": "constraint", "entity": e, "field": "hours", "accepted": -1},
            {"what": "constraint", "entity": e, "field": "hours", "accepted": 81},
        ])
    );
    assert_eq!(
        removed(
            json!({"change": "loosen", "entity": "customers", "field": "email", "kind": {"type": "string"}})
        ),
        json!([{"what": "constraint", "entity": "customers", "field": "email", "accepted": "user at example"}])
    );
    assert_eq!(
        removed(json!({"change": "remove_effect", "entity": e, "action": "extend", "index": 1})),
        json!([{"what": "created", "entity": e, "action": "extend", "other": "parts"}])
    );
    assert_eq!(
        removed(json!({"change": "retype_field", "entity": "mechanics", "field": "badge",
            "kind": {"type": "boolean"}, "default": null})),
        json!([
            {"what": "unique", "entity": "mechanics", "field": "badge"},
            {"what": "sort", "entity": "mechanics", "field": "badge"},
        ])
    );
}

#[test]
fn an_entity_takes_along_what_needs_it() {
    let after = applied(&second_turn(), &json!({"change": "remove_entity", "entity": "mechanics"}));
    let orders = after.entity("repair_orders").unwrap();
    assert!(orders.field("mechanic").is_none());
    assert_eq!(orders.action("finish").unwrap().guards.len(), 1);
    assert!(after.analytic("average_hours").is_none());
    assert!(after.analytic("revenue").is_some());
    let removed = serde_json::to_value(&after.removed).unwrap();
    assert_eq!(
        removed,
        json!([
            {"what": "analytic", "name": "average_hours"},
            {"what": "collection", "plural": "mechanics"},
            {"what": "field", "entity": "repair_orders", "name": "mechanic_id"},
        ])
    );
    // The only condition of an action may go, its only effect may not.
    let mut schema = second_turn();
    let extend = schema.entity_mut("repair_orders").unwrap().action_mut("extend").unwrap();
    extend.effects.remove(0);
    let refusal =
        apply(&schema, &change(&json!({"change": "remove_entity", "entity": "parts"}))).unwrap_err();
    assert!(refusal.reason.contains("repair_orders.extend"), "{refusal}");
}

#[test]
fn a_value_is_renamed_everywhere() {
    let mut schema = second_turn();
    schema = applied(
        &schema,
        &json!({"change": "remove_guard", "entity": "repair_orders", "action": "finish", "guard": "in_work"}),
    );
    for (value, new_value) in [("in_work", "started"), ("open", "waiting"), ("done", "finished")] {
        schema = applied(
            &schema,
            &json!({"change": "rename_enum_value", "entity": "repair_orders", "field": "status", "value": value, "to": new_value}),
        );
    }
    let removed = std::mem::take(&mut schema.removed);
    let text =
        serde_json::to_string(&schema.entities).unwrap() + &serde_json::to_string(&schema.analytics).unwrap();
    for old in ["\"in_work\"", "\"open\"", "\"done\""] {
        // The key of a guard was removed with it.
        assert!(!text.contains(old), "{old}: {text}");
    }
    assert!(removed.iter().any(|removed| {
        matches!(removed, Removed::Guard { condition, .. } if serde_json::to_string(condition).unwrap().contains("started"))
    }));
}

#[test]
fn no_name_comes_back_with_another_meaning() {
    let schema = applied(
        &second_turn(),
        &json!({"change": "rename_field", "entity": "repair_orders", "field": "note", "name": "remark"}),
    );
    let back = json!({"change": "rename_field", "entity": "repair_orders", "field": "note", "name": "note"});
    assert!(apply(&schema, &change(&back)).is_err(), "not in the turn that took it away");
    let later = next_turn(&schema);
    assert!(apply(&later, &change(&back)).is_ok(), "its own first name");
    let other = json!({"change": "add_field", "entity": "repair_orders", "field": title("note")});
    assert!(apply(&later, &change(&other)).unwrap_err().reason.contains("note"));
    let without_revenue =
        next_turn(&applied(&later, &json!({"change": "remove_analytic", "analytic": "revenue"})));
    let mut entity = good()[0].clone();
    entity["entity"]["name"] = json!("revenue");
    assert!(apply(&without_revenue, &change(&entity)).unwrap_err().reason.contains("used before"));
}

#[test]
fn what_a_turn_takes_away_stays_away_for_that_turn() {
    let e = "repair_orders";
    let pairs = [
        (
            json!({"change": "remove_filter", "entity": e, "filter": {"field": "price", "op": "at_least"}}),
            json!({"change": "add_filter", "entity": e, "filter": {"field": "price", "op": "at_least"}}),
        ),
        (
            json!({"change": "remove_sort", "entity": e, "field": "hours"}),
            json!({"change": "add_sort", "entity": e, "field": "hours"}),
        ),
        (
            json!({"change": "unnest", "entity": "parts", "field": "order"}),
            json!({"change": "nest", "entity": "parts", "field": "order"}),
        ),
        (
            json!({"change": "drop_unique", "entity": "customers", "field": "email"}),
            json!({"change": "make_unique", "entity": "customers", "field": "email"}),
        ),
        (
            json!({"change": "loosen", "entity": e, "field": "hours", "kind": {"type": "integer", "min": 0, "max": 90}}),
            json!({"change": "tighten", "entity": e, "field": "hours", "kind": {"type": "integer", "min": 0, "max": 70}}),
        ),
        (
            json!({"change": "allow_null", "entity": "customers", "field": "level"}),
            json!({"change": "forbid_null", "entity": "customers", "field": "level", "default": null}),
        ),
        (
            json!({"change": "remove_enum_value", "entity": "customers", "field": "level", "value": "silver"}),
            json!({"change": "add_enum_value", "entity": "customers", "field": "level", "value": "silver"}),
        ),
        (
            json!({"change": "set_soft_delete", "entity": "customers", "keep": false}),
            json!({"change": "set_soft_delete", "entity": "customers", "keep": true}),
        ),
        (
            json!({"change": "change_prefix", "prefix": ""}),
            json!({"change": "change_prefix", "prefix": "/api"}),
        ),
    ];
    for (away, back) in pairs {
        let schema = applied(&second_turn(), &away);
        assert_eq!(schema.removed.len(), 1, "{away}");
        let refusal = apply(&schema, &change(&back)).expect_err(&back.to_string());
        assert!(refusal.reason.contains("the same turn"), "{back}: {refusal}");
        applied(&next_turn(&schema), &back);
    }
}

#[test]
fn an_entry_of_what_is_gone_goes_with_what_it_is_about() {
    let schema = applied(
        &second_turn(),
        &json!({"change": "remove_guard", "entity": "customers", "action": "promote", "guard": "not_gold"}),
    );
    assert_eq!(schema.removed.len(), 1);
    let schema =
        applied(&schema, &json!({"change": "remove_action", "entity": "customers", "action": "promote"}));
    assert_eq!(
        serde_json::to_value(&schema.removed).unwrap(),
        json!([{"what": "action", "entity": "customers", "name": "promote"}])
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 5, failure_persistence: None, ..ProptestConfig::default() })]

    /// Sixty changes, a few to a turn, from whatever a schema has.
    #[test]
    fn no_sequence_of_changes_makes_a_schema_invalid(seed in any::<u64>()) {
        let mut draw = Draw::new(seed, 0, 0, "plausible");
        let mut schema = second_turn();
        let mut done = 0;
        for step in 0..60 {
            if step % 4 == 0 {
                schema = next_turn(&schema);
            }
            let change = plausible::change(&mut draw, &schema);
            let text = serde_saphyr::to_string(&change).expect("a change can be written");
            let again: Change = serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            prop_assert_eq!(&again, &change, "{}", text);
            let json = serde_json::to_string(&change).expect("a change can be written");
            prop_assert_eq!(&serde_json::from_str::<Change>(&json).expect("and read"), &change);
            let first = apply(&schema, &change);
            prop_assert_eq!(&first, &apply(&schema, &again));
            if let Ok(after) = first {
                prop_assert_eq!(check(&after), vec![], "{}", json);
                done += 1;
                schema = after;
            }
        }
        prop_assert!(done > 5, "only {} changes fitted", done);
    }
}

#[test]
fn random_sequences_reach_every_kind() {
    let mut done = BTreeSet::new();
    for seed in 0..60 {
        let mut draw = Draw::new(seed, 0, 0, "plausible");
        let mut schema = second_turn();
        for _ in 0..60 {
            schema = next_turn(&schema);
            let change = plausible::change(&mut draw, &schema);
            if let Ok(after) = apply(&schema, &change) {
                let word = serde_json::to_value(&change).unwrap()["change"].as_str().unwrap().to_owned();
                done.insert(word);
                schema = after;
            }
        }
    }
    let missing: Vec<_> = kinds().difference(&done).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
}
