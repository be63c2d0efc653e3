//! Changes of the second turn of the example: each kind as it goes well, and as it is refused.

use serde_json::{Value, json};

pub(super) fn title(field: &str) -> Value {
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
pub(super) fn bad() -> Vec<(Value, &'static str)> {
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
