//! The prompts: the task, the rules of the action space, and the question.

use std::fmt::Write as _;

use scenario::change::Change;
use scenario::ir::{RESERVED, Schema, words};
use serde_json::Value;

use crate::answer::Design;
use crate::change_meanings::change_meaning;
use crate::schema_text::schema_text;

/// The task and the rules, the same for every question.
pub(crate) fn system() -> String {
    format!(
        "You design the HTTP API of a business system that grows from turn to turn. You are asked for one thing at a \
         time. Answer with exactly one JSON object and nothing else: no explanation, no comments.\n\n{RULES}\
         Reserved names: {}.\n",
        RESERVED.join(", ")
    )
}

const RULES: &str = r#"Make names and details that people of this domain would use; be concrete ("delivered_at", not "date2"), and vary.

Names and keys: 1 to 40 characters, lower-case ASCII words joined by single underscores (order_item); each word begins with a letter; not beginning with min_ or max_, not ending in _contains; no reserved name; never one that the API uses or used for something else.
Everything is addressed by its key. For what is new, leave `key` and `since` out: they are filled in.
Texts are plain: letters, digits, simple punctuation; no quotes, no braces; at most 120 characters.
Numbers are multiples of 0.25 and below 1000000 in size.

Field: {"name", "type", …, "required"?, "nullable"?, "default"?, "unique"?, "immutable"?}
- A field that is not required has a default, or is nullable. A required field has no default. A default is never null.
- unique: only string and integer.
Types, with their own keys in the same object:
- {"type": "string", "min_length"?, "max_length"?} or {"type": "string", "pattern": "code" | "slug" | "email" | "phone" | "colour" | "postal_code"} (a pattern has no lengths)
- {"type": "integer", "min"?, "max"?}, {"type": "number", "min"?, "max"?}
- {"type": "boolean"}, {"type": "date_time"} (written 2024-03-01T12:30:00Z)
- {"type": "enum", "values": [two to eight names]}
- {"type": "string_list", "min_items"?, "max_items"?}
- {"type": "reference", "entity": key, "on_delete": "cascade" | "restrict" | "set_null" (nullable only), "nested"?: true}
Computed field: {"name", "type", "computed": …}, nothing else. computed: {"from": "joined", "first", "second", "separator"} (type string), {"from": "product" | "sum", "left", "right"}, {"from": "at_least", "field", "value"} (boolean), {"from": "count_of", "entity", "reference"} (integer), {"from": "total_of", "entity", "reference", "field"}. Operands are never null and not computed.
Entity: {"name": singular, "plural", "about": what one record stands for, as the rest of a sentence, "fields": [Field], "soft_delete"?, "filters"?: [Filter], "sorts"?: [field keys], "default_sort"?: {"field", "descending"?}, "actions"?: [Action]}
Filter: {"field", "op": "equals" | "at_least" | "at_most" | "contains"}
Action: {"name": verb, "params"?: [{"name", "type", …}], "guards"?: [Guard], "effects": [Effect]} (params: string, integer, number or boolean)
Guard: {"key": a name, "when": "field", "field", "is": Comparison} or {"key", "when": "related", "reference", "field", "is"} or {"key", "when": "has_at_least", "entity", "reference", "count": 1 to 3} or {"key", "when": "has_none", "entity", "reference"}
Comparison: {"equals": v} | {"not": v} | {"one_of": [enum values, not all]} | {"at_least": n} | {"at_most": n} | "is_set" | "is_not_set" (the last two for nullable fields)
Effect: {"do": "set", "field", "to": Operand} | {"do": "increment", "field": integer, never null, "by": Operand} | {"do": "create", "entity", "reference", "values": [{"field", "from": Operand}]}. Never on unique, immutable, computed or reference fields. No two on the same field. A create lists every required field of the other entity but the reference.
Operand: {"value": v} | {"param": key} | {"own": field key} (own only in create)
Analytic: {"name", "entity", "measure": "count" | {"sum": field} | {"average": field} | {"min": field} | {"max": field}, "group_by"?: enum, boolean, string or reference field, "only"?: {"through"?: reference, "field": enum or boolean, "equals": v}, "by"?: reference field}
"#;

/// The question for the first schema. `drawn` shows its form and its size.
pub(crate) fn first(drawn: &Schema) -> String {
    let entities = drawn.entities.len();
    let shown = Design {
        title: drawn.title.clone(),
        entities: drawn.entities.iter().take(2).cloned().collect(),
        analytics: drawn.analytics.iter().take(1).cloned().collect(),
    };
    format!(
        "Design the first version of a system. Topic: {}.\n\
         Answer with {{\"title\": a short title, \"entities\": [Entity], \"analytics\": [Analytic]}}: exactly {entities} \
         entities, at most {} fields in all, at most {} actions in all, exactly {} analytics. An entity comes after those \
         that it refers to. Most entities refer to another, and at least one has an action with a guard on an enum field \
         of its own.\n\n\
         An example of the form (it lacks the other entities; make your own, not these):\n{}",
        words(&drawn.topic),
        most_fields(drawn),
        most_actions(drawn),
        drawn.analytics.len(),
        example(&serde_json::to_value(&shown).unwrap_or_default()),
    )
}

/// Most fields of a first schema.
pub(crate) fn most_fields(drawn: &Schema) -> usize {
    let drawn: usize = drawn.entities.iter().map(|entity| entity.fields.len()).sum();
    drawn + drawn / 4
}

/// Most actions of a first schema.
pub(crate) fn most_actions(drawn: &Schema) -> usize {
    drawn.entities.iter().map(|entity| entity.actions.len()).sum::<usize>() + 1
}

/// The question for a change of the kind of `drawn`. `done` are the changes of this turn so far.
pub(crate) fn change(schema: &Schema, kind: &str, drawn: &Change, done: &[Change]) -> String {
    let mut out = format!("Topic: {}. System: {}.\n\nThe API now:\n", words(&schema.topic), schema.title);
    out.push_str(&schema_text(schema));
    if !done.is_empty() {
        out.push_str("\nAlready changed in this turn (leave that alone):\n");
        for change in done {
            let _ = writeln!(out, "{}", serde_json::to_string(change).unwrap_or_default());
        }
    }
    let _ = write!(
        out,
        "\nAsked for: one change of the kind `{kind}`. {}\n\
         An example that would be accepted (make your own, in this form, that suits the domain better; it may be about \
         another part of the API):\n{}",
        change_meaning(kind),
        example(&serde_json::to_value(drawn).unwrap_or_default())
    );
    out
}

/// The task for an endpoint with support of a form, the same for every question.
pub(crate) fn shaped_system() -> String {
    format!(
        "You design the HTTP API of a business system that grows from turn to turn. You are asked for one thing at a \
         time, by choices and open names. Answer with exactly one JSON object in the form that is shown, and nothing \
         else.\n\
         Make names that people of this domain would use; be concrete, and vary: \"delivered_at\", not \"date2\". Names are \
         lower-case ASCII words joined by single underscores, do not begin with min_ or max_, do not end in _contains, and \
         are never one that the API uses or used for something else. Reserved names: {}.\n",
        RESERVED.join(", ")
    )
}

/// The question for the names of the first schema, whose structure is generated.
pub(crate) fn shaped_first(drawn: &Schema) -> String {
    format!(
        "Name the parts of the first version of a system. Topic: {}.\nIts structure, with placeholder names:\n{}\
         Give each part a name of your own that suits it. `title` is a short title of the system; `singular` and `plural` \
         are what one record and many of an entity are called; `about` is what one record stands for, as the rest of a \
         sentence. No name comes twice.\nThe form, with the placeholders:\n{}",
        words(&drawn.topic),
        schema_text(drawn),
        crate::offered_choices::example(1, drawn)
    )
}

/// The question for one of several changes of a kind, and its names. `done` are the changes of this turn so far.
pub(crate) fn shaped_change(schema: &Schema, kind: &str, choices: &[Change], done: &[Change]) -> String {
    let mut out = format!("Topic: {}. System: {}.\n\nThe API now:\n", words(&schema.topic), schema.title);
    outline(&mut out, schema);
    if !done.is_empty() {
        out.push_str("\nAlready changed in this turn (leave that alone):\n");
        for change in done {
            let _ = writeln!(out, "{}", example(&serde_json::to_value(change).unwrap_or_default()));
        }
    }
    let _ = writeln!(
        out,
        "\nAsked for: one change of the kind `{kind}`. {}\nThe choices, with placeholder names:",
        change_meaning(kind)
    );
    for (number, choice) in (1..).zip(choices) {
        let _ = writeln!(out, "{number}: {}", example(&serde_json::to_value(choice).unwrap_or_default()));
    }
    out.push_str(
        "Answer with the number of the choice that suits the domain best, and a name of your own for each of its open \
         places.\nThe form of each choice, with the placeholders:\n",
    );
    for (number, choice) in (1..).zip(choices) {
        let _ = writeln!(out, "{}", crate::offered_choices::example(number, choice));
    }
    out
}

/// The names of an API, one line per entity.
fn outline(out: &mut String, schema: &Schema) {
    for entity in &schema.entities {
        let fields: Vec<&str> = entity.fields.iter().map(|field| field.name.as_str()).collect();
        let _ = write!(out, "{} (one: {}): {}", entity.plural, entity.name, fields.join(", "));
        let actions: Vec<&str> = entity.actions.iter().map(|action| action.name.as_str()).collect();
        let _ = if actions.is_empty() {
            writeln!(out)
        } else {
            writeln!(out, "; actions: {}", actions.join(", "))
        };
    }
    if !schema.analytics.is_empty() {
        let analytics: Vec<&str> = schema.analytics.iter().map(|analytic| analytic.name.as_str()).collect();
        let _ = writeln!(out, "analytics: {}", analytics.join(", "));
    }
}

/// JSON without values that are filled in.
fn example(value: &Value) -> String {
    let mut value = value.clone();
    without_since(&mut value);
    value.to_string()
}

fn without_since(value: &mut Value) {
    match value {
        Value::Object(parts) => {
            parts.shift_remove("since");
            // A key that equals the name, as for all new parts, is omitted too.
            let name = parts.get("plural").or_else(|| parts.get("name")).cloned();
            if name.is_some() && parts.get("key") == name.as_ref() {
                parts.shift_remove("key");
            }
            parts.iter_mut().for_each(|(_, part)| without_since(part));
        }
        Value::Array(parts) => parts.iter_mut().for_each(without_since),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(value: &Value, names: &mut Vec<String>) {
        match value {
            Value::Object(parts) => {
                for (key, part) in parts {
                    names.push(key.clone());
                    keys(part, names);
                }
            }
            Value::Array(parts) => parts.iter().for_each(|part| keys(part, names)),
            _ => {}
        }
    }

    #[test]
    fn the_rules_name_every_key_of_a_schema() {
        let schema = scenario::ir::example();
        let mut all = Vec::new();
        keys(&serde_json::to_value(&schema.entities).expect("JSON"), &mut all);
        keys(&serde_json::to_value(&schema.analytics).expect("JSON"), &mut all);
        for key in all {
            let named = RULES.contains(&format!("\"{key}\"")) || ["since", "key"].contains(&key.as_str());
            assert!(named, "`{key}` is not in the rules");
        }
    }

    #[test]
    fn an_example_omits_values_that_are_filled_in() {
        let field =
            serde_json::json!({"change": "add_field", "field": {"key": "note", "name": "note", "since": 3}});
        assert_eq!(example(&field), r#"{"change":"add_field","field":{"name":"note"}}"#);
        let renamed = serde_json::json!({"key": "note", "name": "remark"});
        assert_eq!(example(&renamed), r#"{"key":"note","name":"remark"}"#);
    }
}
