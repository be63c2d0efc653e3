//! Exact sentences of the example: what changes here changes what agents read.

use serde_json::json;

use crate::change::tests::{change, second_turn};
use crate::change::{Change, FieldChange, apply};
use crate::ir::{Case, Removed, Schema, example};
use crate::text::{Clause, clauses, specification, summary};

fn clause(schema: &Schema, id: &str) -> String {
    clauses(schema)
        .into_iter()
        .find(|clause| clause.id == id)
        .map_or_else(|| panic!("no clause {id}"), |clause| clause.text)
}

#[test]
fn clauses_say_what_the_schema_says() {
    let schema = example();
    for (id, text) in [
        (
            "repair_orders",
            "A repair order is a bicycle that is to be repaired. The collection is at `/api/repair-orders`, a single \
             record at `/api/repair-orders/{id}`.",
        ),
        (
            "repair_orders.hours",
            "`hours`: integer from `0` to `80`. Optional, default `1`. Null is not allowed.",
        ),
        (
            "repair_orders.status",
            "`status`: enum with the values `open`, `in_work` and `done`. Optional, default `open`. Null is not allowed.",
        ),
        (
            "repair_orders.note",
            "`note`: string of at most `200` characters. Optional, default null. Null is allowed.",
        ),
        (
            "mechanics.badge",
            "`badge`: integer from `1` to `9999`. Required. Null is not allowed. Unique. Immutable.",
        ),
        (
            "repair_orders.mechanic",
            "`mechanic_id`: reference to a mechanic. Optional, default null. Null is allowed. Deleting a mechanic sets \
             `mechanic_id` to null in the repair orders that refer to it through `mechanic_id`.",
        ),
        (
            "repair_orders.filter.price.at_least",
            "Filter `min_price`: only repair orders whose `price` is greater than or equal to the given value.",
        ),
        (
            "customers.sort",
            "Customers can be sorted by `full_name` and `credit`. Default order: by `full_name`, ascending.",
        ),
        (
            "repair_orders.finish",
            "`POST /api/repair-orders/{id}/finish` takes the parameter `final_price` (number of at least `0`).",
        ),
        (
            "repair_orders.finish.guard.active_mechanic",
            "`finish` requires that `mechanic_id` is not null and `active` of the referenced mechanic is `true`; otherwise \
             it is *refused*.",
        ),
        (
            "repair_orders.extend.effect.create_parts",
            "`extend` creates a part with `order_id` = the repair order's `id`, `title` = `\"consumables\"`, `amount` = \
             the value of the parameter `extra_hours` and `deadline` = the value that `due_at` of the repair order had \
             before the action; all its other fields get their defaults, or null if they have none.",
        ),
        (
            "analytics.average_hours",
            "`GET /api/analytics/average-hours` returns the average of `hours` over the repair orders that refer through \
             `mechanic_id` to a mechanic whose `active` is `true`, grouped by `customer_id`. It has no query parameters.",
        ),
    ] {
        assert_eq!(clause(&schema, id), text);
    }
    assert!(
        clause(&schema, "lists.pages")
            .contains("`page_size` (the number of records per page, from `1` to `100`; default `20`)")
    );
    assert!(clause(&schema, "analytics").contains("Averages are not rounded."));
    assert!(clause(&schema, "errors.body").contains("`{\"error\": {\"code\": \"not_found\", \"message\": "));
}

#[test]
fn parts_that_a_schema_has_not_have_no_clause() {
    let mut schema = example();
    schema.entities.truncate(2);
    schema.analytics.clear();
    for entity in &mut schema.entities {
        entity.soft_delete = false;
        entity.actions.clear();
        entity.filters.clear();
        entity.fields.retain(|field| field.computed.is_none() && !field.unique);
    }
    let ids: Vec<String> = clauses(&schema).into_iter().map(|clause| clause.id).collect();
    for id in [
        "soft_delete",
        "customers.soft_delete",
        "actions",
        "analytics",
        "deletion",
        "types.reference",
        "types.date_time",
        "lists.filters",
        "unique",
        "bodies.immutable",
    ] {
        assert!(!ids.iter().any(|known| known == id), "{id}");
        assert!(clauses(&example()).iter().any(|clause| clause.id == id), "{id}");
    }
}

#[test]
fn the_document_holds_every_clause_and_ids_are_unique() {
    let (_, schema) = renamed_everything();
    for schema in [example(), schema] {
        let (document, clauses) = (specification(&schema), clauses(&schema));
        let mut ids: Vec<&str> = clauses.iter().map(|clause| clause.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), clauses.len());
        for Clause { text, .. } in &clauses {
            assert!(document.contains(text.as_str()), "{text}");
        }
    }
}

/// The example with other names for everything, and the words of the old names.
fn renamed_everything() -> (Vec<&'static str>, Schema) {
    let mut schema = second_turn();
    for json in [
        json!({"change": "rename_entity", "entity": "repair_orders", "name": "job", "plural": "jobs"}),
        json!({"change": "rename_entity", "entity": "customers", "name": "rider", "plural": "riders"}),
        json!({"change": "rename_field", "entity": "repair_orders", "field": "price", "name": "fee"}),
        json!({"change": "rename_field", "entity": "repair_orders", "field": "customer", "name": "rider_id"}),
        json!({"change": "rename_field", "entity": "repair_orders", "field": "hours", "name": "duration"}),
        json!({"change": "rename_field", "entity": "customers", "field": "full_name", "name": "label"}),
        json!({"change": "rename_field", "entity": "parts", "field": "picker", "name": "fetcher_id"}),
        json!({"change": "rename_field", "entity": "mechanics", "field": "active", "name": "on_duty"}),
        json!({"change": "rename_action", "entity": "repair_orders", "action": "finish", "name": "wrap_up"}),
        json!({"change": "rename_analytic", "analytic": "revenue", "name": "income"}),
        json!({"change": "rename_enum_value", "entity": "repair_orders", "field": "status", "value": "in_work",
            "to": "started"}),
        json!({"change": "change_field_case", "case": "camel"}),
        json!({"change": "change_prefix", "prefix": ""}),
    ] {
        schema = apply(&schema, &change(&json)).unwrap_or_else(|refusal| panic!("{json}: {refusal}"));
    }
    schema.removed.clear();
    let old = vec![
        "repair order",
        "repair_order",
        "customer",
        "`price`",
        "`hours`",
        "full_name",
        "fullName",
        "picker",
        "`active`",
        "finish",
        "revenue",
        "in_work",
        "/api",
        "due_at",
    ];
    (old, schema)
}

#[test]
fn no_key_is_shown_where_a_name_is_meant() {
    let (old, schema) = renamed_everything();
    assert_eq!(schema.conventions.field_case, Case::Camel);
    let text = specification(&schema);
    for word in old {
        // A parameter keeps its own name, and prose may speak of hours.
        let found = text
            .lines()
            .find(|line| line.replace("extraHours`", "").replace("finalPrice`", "").contains(word));
        assert_eq!(found, None, "{word}");
    }
    for literal in [
        "`POST /jobs/{id}/wrap-up`",
        "`GET /analytics/income`",
        "`minFee`",
        "`riderId`",
        "`onDuty`",
        "`started`",
    ] {
        assert!(text.contains(literal), "{literal}");
    }
}

#[test]
fn a_change_that_takes_the_last_of_something_away_leaves_no_hole() {
    let mut before = second_turn();
    before.removed.push(Removed::Prefix { prefix: String::new() });
    assert!(specification(&before).contains(
        "The old paths without a prefix, such as `/customers`, are *not found* (except `/reset`)."
    ));
    assert!(clause(&before, "gone.0").starts_with("The old paths"));
}

#[test]
fn summaries_are_one_plain_sentence() {
    let before = second_turn();
    for (json, text) in [
        (
            json!({"change": "rename_field", "entity": "repair_orders", "field": "note", "name": "remark"}),
            "Renames the field `note` of repair orders to `remark`.",
        ),
        (
            json!({"change": "rename_entity", "entity": "parts", "name": "spare_part", "plural": "spare_parts"}),
            "Renames the entity parts to spare parts (singular spare part): `/api/parts` becomes `/api/spare-parts`.",
        ),
        (
            json!({"change": "change_status", "which": "refused", "status": 403}),
            "Changes the status code of *refused* actions from `409` to `403`.",
        ),
        (
            json!({"change": "tighten", "entity": "repair_orders", "field": "hours",
                "kind": {"type": "integer", "min": 1, "max": 60}}),
            "Makes `hours` of repair orders stricter: integer from `1` to `60` (until now: integer from `0` to `80`).",
        ),
        (
            json!({"change": "remove_guard", "entity": "customers", "action": "promote", "guard": "has_orders"}),
            "Removes a condition of the action `promote` of customers: at least `1` repair order refers to the customer \
             through `customer_id`.",
        ),
    ] {
        assert_eq!(summary(&before, &change(&json)), text);
    }
    // What does not exist is written as its words, and nothing fails.
    let unknown = FieldChange::RemoveField { entity: "old_things".into(), field: "last_word".into() };
    let unknown = Change::Field(unknown);
    assert_eq!(summary(&before, &unknown), "Removes the field `last_word` from old things.");
}
