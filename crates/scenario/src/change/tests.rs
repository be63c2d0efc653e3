//! Every kind of change on the example, once as it should go and once refused; then long random sequences.

pub(crate) mod plausible;

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Change, ChangeKind, apply, next_turn};
use crate::check::check;
use crate::draw::Draw;
use crate::ir::{Removed, Schema, example};

pub(crate) fn change(json: &Value) -> Change {
    serde_json::from_value(json.clone()).unwrap_or_else(|e| panic!("{json}: {e}"))
}

/// The words of all kinds.
fn kinds() -> BTreeSet<String> {
    ChangeKind::ALL.map(|kind| kind.word().to_owned()).into()
}

fn title(field: &str) -> Value {
    json!({"key": field, "name": field, "type": "string", "nullable": true, "since": 9})
}

/// Changes of the example's second turn that go well.
pub(crate) fn good() -> Vec<Value> {
    let e = "repair_orders";
    vec![
        json!({"change": "add_entity", "entity": {"key": "shops", "name": "shop", "plural": "shops", "about": "a place",
            "since": 9, "fields": [title("city"), {"key": "owner", "name": "owner_id", "type": "reference",
            "entity": "mechanics", "on_delete": "cascade", "nested": true, "required": true, "since": 9}]}}),
        json!({"change": "remove_entity", "entity": "mechanics"}),
        json!({"change": "rename_entity", "entity": "parts", "name": "spare_part", "plural": "spare_parts"}),
        json!({"change": "add_field", "entity": "parts", "field": title("colour")}),
        json!({"change": "remove_field", "entity": e, "field": "note"}),
        json!({"change": "rename_field", "entity": e, "field": "note", "name": "remark"}),
        json!({"change": "retype_field", "entity": "customers", "field": "newsletter",
            "kind": {"type": "enum", "values": ["weekly", "never"]}, "default": "never"}),
        json!({"change": "add_enum_value", "entity": e, "field": "status", "value": "waiting"}),
        json!({"change": "remove_enum_value", "entity": "customers", "field": "level", "value": "silver"}),
        json!({"change": "rename_enum_value", "entity": e, "field": "status", "value": "in_work", "to": "started"}),
        json!({"change": "add_reference", "entity": "parts", "field": {"key": "fitter", "name": "fitter_id",
            "type": "reference", "entity": "mechanics", "on_delete": "set_null", "nullable": true, "since": 9}}),
        json!({"change": "remove_reference", "entity": "parts", "field": "picker"}),
        json!({"change": "change_delete_rule", "entity": e, "field": "customer", "on_delete": "cascade"}),
        json!({"change": "nest", "entity": e, "field": "mechanic"}),
        json!({"change": "unnest", "entity": "parts", "field": "order"}),
        json!({"change": "add_action", "entity": "parts", "action": {"key": "fit", "name": "fit", "since": 9,
            "effects": [{"do": "set", "field": "amount", "to": {"value": 3}}]}}),
        json!({"change": "remove_action", "entity": "customers", "action": "promote"}),
        json!({"change": "rename_action", "entity": "customers", "action": "promote", "name": "upgrade"}),
        json!({"change": "add_guard", "entity": "customers", "action": "promote", "guard":
            {"key": "has_phone", "when": "field", "field": "phone", "is": "is_set"}}),
        json!({"change": "remove_guard", "entity": "customers", "action": "promote", "guard": "has_orders"}),
        json!({"change": "change_guard", "entity": "customers", "action": "promote", "guard": "has_orders",
            "condition": {"when": "has_at_least", "entity": e, "reference": "customer", "count": 2}}),
        json!({"change": "add_effect", "entity": "customers", "action": "promote",
            "effect": {"do": "set", "field": "credit", "to": {"param": "new_credit"}},
            "param": {"key": "new_credit", "name": "new_credit", "type": "number"}}),
        json!({"change": "remove_effect", "entity": e, "action": "finish", "index": 1}),
        json!({"change": "change_effect", "entity": e, "action": "extend", "index": 0, "operand": {"value": 5}}),
        json!({"change": "add_analytic", "analytic": {"key": "stock", "name": "stock", "entity": "parts",
            "measure": {"sum": "amount"}, "since": 9}}),
        json!({"change": "remove_analytic", "analytic": "revenue"}),
        json!({"change": "rename_analytic", "analytic": "revenue", "name": "income"}),
        json!({"change": "change_measure", "analytic": "revenue", "measure": {"average": "price"}}),
        json!({"change": "change_grouping", "analytic": "revenue", "group_by": "mechanic"}),
        json!({"change": "change_restriction", "analytic": "revenue", "only": null}),
        json!({"change": "change_analytic_filter", "analytic": "revenue", "by": "mechanic"}),
        json!({"change": "add_filter", "entity": "parts", "filter": {"field": "title", "op": "contains"}}),
        json!({"change": "remove_filter", "entity": e, "filter": {"field": "price", "op": "at_least"}}),
        json!({"change": "add_sort", "entity": "parts", "field": "amount"}),
        json!({"change": "remove_sort", "entity": e, "field": "hours"}),
        json!({"change": "change_default_sort", "entity": e, "sort": {"field": "hours", "descending": true}}),
        json!({"change": "tighten", "entity": e, "field": "hours", "kind": {"type": "integer", "min": 1, "max": 60}}),
        json!({"change": "loosen", "entity": e, "field": "hours", "kind": {"type": "integer", "min": -5}}),
        json!({"change": "require", "entity": "customers", "field": "level"}),
        json!({"change": "make_optional", "entity": "parts", "field": "title", "default": "a part"}),
        json!({"change": "allow_null", "entity": "customers", "field": "email"}),
        json!({"change": "forbid_null", "entity": e, "field": "price", "default": 10.5}),
        json!({"change": "change_default", "entity": e, "field": "note", "default": "none"}),
        json!({"change": "make_unique", "entity": "mechanics", "field": "last_name"}),
        json!({"change": "drop_unique", "entity": "customers", "field": "email"}),
        json!({"change": "make_immutable", "entity": "customers", "field": "email"}),
        json!({"change": "make_mutable", "entity": "mechanics", "field": "badge"}),
        json!({"change": "add_computed", "entity": "parts", "field": {"key": "is_bulk", "name": "is_bulk", "type": "boolean",
            "computed": {"from": "at_least", "field": "amount", "value": 10}, "since": 9}}),
        json!({"change": "change_computed", "entity": e, "field": "labour",
            "computed": {"from": "sum", "left": "hours", "right": "rate"}}),
        json!({"change": "set_soft_delete", "entity": "customers", "keep": false}),
        json!({"change": "change_error_shape", "error": {"shape": "flat", "code": "code", "message": "detail"}}),
        json!({"change": "change_error_code", "which": "refused", "code": "forbidden"}),
        json!({"change": "change_status", "which": "refused", "status": 403}),
        json!({"change": "change_list_shape", "list": {"items": "data", "total": "count"}}),
        json!({"change": "change_pagination", "pagination": {"style": "offset", "default_size": 20, "max_size": 100}}),
        json!({"change": "change_field_case", "case": "camel"}),
        json!({"change": "change_prefix", "prefix": "/api/v2"}),
        json!({"change": "change_unknown_fields", "unknown_fields": "ignore"}),
    ]
}

/// Changes that are refused, with a part of the reason.
fn bad() -> Vec<(Value, &'static str)> {
    let e = "repair_orders";
    let finish = |change: &str, rest: Value| {
        let mut all = json!({"change": change, "entity": e, "action": "finish"});
        all.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        all
    };
    let mut taken = good()[0]["entity"].clone();
    taken["plural"] = json!("parts");
    vec![
        (json!({"change": "add_entity", "entity": taken}), "`parts` is taken"),
        (json!({"change": "remove_entity", "entity": "shops"}), "no entity `shops`"),
        (
            json!({"change": "rename_entity", "entity": "parts", "name": "item", "plural": "parts"}),
            "plural must",
        ),
        (json!({"change": "rename_entity", "entity": "parts", "name": "x", "plural": "mechanics"}), "taken"),
        (json!({"change": "add_field", "entity": "parts", "field": title("title")}), "taken"),
        (json!({"change": "add_field", "entity": "parts", "field": title("min_weight")}), "no name"),
        (json!({"change": "remove_field", "entity": e, "field": "price"}), "is needed by"),
        (json!({"change": "remove_field", "entity": e, "field": "customer"}), "is a reference"),
        (json!({"change": "rename_field", "entity": e, "field": "note", "name": "price"}), "taken"),
        (
            json!({"change": "retype_field", "entity": e, "field": "hours", "kind": {"type": "number"}, "default": 1}),
            "is needed by",
        ),
        (json!({"change": "add_enum_value", "entity": e, "field": "status", "value": "done"}), "already"),
        (
            json!({"change": "remove_enum_value", "entity": e, "field": "status", "value": "open"}),
            "its default",
        ),
        (
            json!({"change": "remove_enum_value", "entity": e, "field": "status", "value": "done"}),
            "is needed by",
        ),
        (
            json!({"change": "rename_enum_value", "entity": e, "field": "status", "value": "done", "to": "open"}),
            "already",
        ),
        (
            json!({"change": "add_reference", "entity": "customers", "field": {"key": "part", "name": "part_id",
            "type": "reference", "entity": "parts", "on_delete": "cascade", "required": true, "since": 9}}),
            "cycle",
        ),
        (json!({"change": "remove_reference", "entity": e, "field": "mechanic"}), "is needed by"),
        (
            json!({"change": "change_delete_rule", "entity": e, "field": "customer", "on_delete": "set_null"}),
            "nullable",
        ),
        (json!({"change": "nest", "entity": "parts", "field": "order"}), "has a nested route"),
        (json!({"change": "unnest", "entity": e, "field": "mechanic"}), "has no nested route"),
        (
            json!({"change": "add_action", "entity": e, "action": {"key": "parts", "name": "parts", "since": 9,
            "effects": [{"do": "set", "field": "note", "to": {"value": null}}]}}),
            "nested route",
        ),
        (json!({"change": "remove_action", "entity": e, "action": "promote"}), "no action"),
        (json!({"change": "rename_action", "entity": e, "action": "finish", "name": "extend"}), "taken"),
        (
            finish(
                "add_guard",
                json!({"guard": {"key": "again", "when": "field", "field": "status", "is": {"equals": "in_work"}}}),
            ),
            "already",
        ),
        (finish("remove_guard", json!({"guard": "nothing"})), "no guard"),
        (
            finish(
                "change_guard",
                json!({"guard": "in_work", "condition": {"when": "field", "field": "labour", "is": {"at_least": 3}}}),
            ),
            "cannot be compared",
        ),
        (
            finish(
                "add_effect",
                json!({"effect": {"do": "set", "field": "status", "to": {"value": "open"}}}),
            ),
            "two effects",
        ),
        (
            json!({"change": "remove_effect", "entity": "customers", "action": "promote", "index": 0}),
            "no effect",
        ),
        (finish("change_effect", json!({"index": 0, "operand": {"value": "closed"}})), "this value"),
        (
            json!({"change": "add_analytic", "analytic": {"key": "parts", "name": "sum_of_parts", "entity": "parts",
            "measure": "count", "since": 9}}),
            "taken",
        ),
        (json!({"change": "remove_analytic", "analytic": "stock"}), "no analytic"),
        (json!({"change": "rename_analytic", "analytic": "revenue", "name": "longest_repair"}), "taken"),
        (json!({"change": "change_measure", "analytic": "revenue", "measure": {"sum": "note"}}), "no number"),
        (json!({"change": "change_grouping", "analytic": "revenue", "group_by": null}), "changes nothing"),
        (
            json!({"change": "change_restriction", "analytic": "revenue", "only": {"field": "note", "equals": "x"}}),
            "restriction",
        ),
        (json!({"change": "change_analytic_filter", "analytic": "revenue", "by": "status"}), "no reference"),
        (
            json!({"change": "add_filter", "entity": e, "filter": {"field": "note", "op": "at_least"}}),
            "filtered so",
        ),
        (
            json!({"change": "remove_filter", "entity": e, "filter": {"field": "note", "op": "contains"}}),
            "no such filter",
        ),
        (json!({"change": "add_sort", "entity": e, "field": "price"}), "never null"),
        (json!({"change": "remove_sort", "entity": "customers", "field": "full_name"}), "default order"),
        (
            json!({"change": "change_default_sort", "entity": e, "sort": {"field": "rate"}}),
            "not one of the sorts",
        ),
        (
            json!({"change": "tighten", "entity": e, "field": "hours", "kind": {"type": "integer", "min": 1}}),
            "looser",
        ),
        (
            json!({"change": "tighten", "entity": e, "field": "hours", "kind": {"type": "integer", "min": 2, "max": 80}}),
            "default",
        ),
        (
            json!({"change": "loosen", "entity": e, "field": "hours", "kind": {"type": "integer", "min": 1}}),
            "stricter",
        ),
        (
            json!({"change": "loosen", "entity": e, "field": "status", "kind": {"type": "enum", "values": ["a", "b"]}}),
            "cannot be widened",
        ),
        (json!({"change": "require", "entity": "parts", "field": "title"}), "required already"),
        (json!({"change": "require", "entity": "parts", "field": "no_such"}), "no field"),
        (
            json!({"change": "make_optional", "entity": "parts", "field": "title", "default": null}),
            "nullable",
        ),
        (json!({"change": "allow_null", "entity": e, "field": "hours"}), "hours"),
        (json!({"change": "forbid_null", "entity": e, "field": "mechanic", "default": null}), "default"),
        (json!({"change": "change_default", "entity": e, "field": "hours", "default": 100}), "own rules"),
        (json!({"change": "make_unique", "entity": "parts", "field": "amount"}), "unique"),
        (json!({"change": "drop_unique", "entity": "parts", "field": "title"}), "not unique"),
        (json!({"change": "make_immutable", "entity": e, "field": "status"}), "immutable"),
        (json!({"change": "make_mutable", "entity": e, "field": "status"}), "not immutable"),
        (
            json!({"change": "add_computed", "entity": "parts", "field": title("colour")}),
            "how it is computed",
        ),
        (
            json!({"change": "change_computed", "entity": e, "field": "labour",
            "computed": {"from": "sum", "left": "hours", "right": "hours"}}),
            "integer if both",
        ),
        (json!({"change": "set_soft_delete", "entity": "customers", "keep": true}), "already"),
        (
            json!({"change": "change_error_shape", "error": {"shape": "flat", "code": "a/b", "message": "detail"}}),
            "keys",
        ),
        (json!({"change": "change_error_code", "which": "refused", "code": "conflict"}), "different"),
        (json!({"change": "change_status", "which": "created", "status": 204}), "one of"),
        (json!({"change": "change_list_shape", "list": {"items": "rows", "total": "count"}}), "key is"),
        (
            json!({"change": "change_pagination", "pagination": {"style": "page", "default_size": 20, "max_size": 10}}),
            "greatest size",
        ),
        (json!({"change": "change_field_case", "case": "snake"}), "changes nothing"),
        (json!({"change": "change_prefix", "prefix": "v2"}), "prefix"),
        (json!({"change": "change_unknown_fields", "unknown_fields": "reject"}), "changes nothing"),
    ]
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
    for (value, to) in [("in_work", "started"), ("open", "waiting"), ("done", "finished")] {
        schema = applied(
            &schema,
            &json!({"change": "rename_enum_value", "entity": "repair_orders", "field": "status", "value": value, "to": to}),
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
