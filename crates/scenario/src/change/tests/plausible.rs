//! Random changes that mostly fit: the parts come from the schema, the new values from small lists.

use serde_json::{Value, json};

use crate::change::Change;
use crate::draw::Draw;
use crate::ir::{Action, Entity, Field, Kind, Schema};

pub(crate) fn change(draw: &mut Draw, schema: &Schema) -> Change {
    let kinds: Vec<String> = super::kinds().into_iter().collect();
    loop {
        let kind = draw.pick(&kinds).unwrap().clone();
        if let Some(mut json) = plausible(draw, schema, &kind) {
            json["change"] = json!(kind);
            return super::change(&json);
        }
    }
}

fn pick_one<T: Copy>(draw: &mut Draw, items: &[T]) -> T {
    items[draw.number_below(items.len())]
}

fn name(draw: &mut Draw) -> String {
    format!(
        "{}_{}",
        pick_one(draw, &["red", "old", "main", "extra"]),
        // words: ok (the name of an entity)
        pick_one(draw, &["mark", "grade", "box", "lane"])
    )
}

fn field<'a>(draw: &mut Draw, entity: &'a Entity, fits: impl Fn(&Field) -> bool) -> Option<&'a Field> {
    let fields: Vec<&Field> = entity.fields.iter().filter(|field| fits(field)).collect();
    draw.pick(&fields).copied()
}

fn kind(draw: &mut Draw) -> (Value, Value) {
    match draw.number_below(6) {
        0 => (json!({"type": "string", "max_length": 30 + draw.number_below(9)}), json!("text")),
        1 => (json!({"type": "integer", "min": draw.number_below(5)}), json!(7)),
        2 => (json!({"type": "number", "max": 50.25}), json!(1.5)),
        3 => (json!({"type": "boolean"}), json!(true)),
        4 => (json!({"type": "enum", "values": ["low", "high", "top"]}), json!("low")),
        _ => (json!({"type": "date_time"}), json!("2024-03-01T12:30:00Z")),
    }
}

fn new_field(draw: &mut Draw) -> Value {
    let (mut field, default) = kind(draw);
    match draw.number_below(3) {
        0 => field["required"] = json!(true),
        1 => field["nullable"] = json!(true),
        _ => field["default"] = default,
    }
    named(field, &name(draw))
}

fn named(mut value: Value, name: &str) -> Value {
    value["key"] = json!(name);
    value["name"] = json!(name);
    value["since"] = json!(1);
    value
}

fn reference(draw: &mut Draw, schema: &Schema) -> Option<Value> {
    let target = draw.pick(&schema.entities)?;
    let rule = pick_one(draw, &["cascade", "restrict", "set_null"]);
    let reference = json!({"type": "reference", "entity": target.key, "on_delete": rule, "nullable": true,
        "nested": draw.chance(50)});
    Some(named(reference, &format!("{}_ref", name(draw))))
}

/// Another kind of the same type, a step wider or narrower.
fn moved(draw: &mut Draw, kind: &Kind, wider: bool) -> Option<Value> {
    let amount = draw.number_between(1, 3);
    let step = |bound: i64, least: bool| if wider == least { bound - amount } else { bound + amount };
    let mut json = serde_json::to_value(kind).ok()?;
    let object = json.as_object_mut()?;
    for (key, least) in [
        ("min", true),
        ("max", false),
        ("min_length", true),
        ("max_length", false),
        ("min_items", true),
        ("max_items", false),
    ] {
        if let Some(bound) = object.get(key) {
            let new = match bound.as_i64() {
                Some(bound) => json!(step(bound, least)),
                None => json!(step(bound.as_f64()? as i64, least) as f64),
            };
            if wider && draw.chance(30) {
                object.remove(key);
            } else if !new.as_i64().is_some_and(|new| new < 1 && key.contains('_')) {
                object.insert(key.to_owned(), new);
            }
        }
    }
    Some(json)
}

fn operand(draw: &mut Draw, field: &Field) -> Value {
    match &field.kind {
        Kind::Enum { values } => json!({"value": draw.pick(values)}),
        Kind::Boolean => json!({"value": draw.chance(50)}),
        Kind::Integer { .. } => json!({"value": draw.number_between(1, 9)}),
        Kind::Number { .. } => json!({"value": draw.number_between(1, 9) as f64}),
        Kind::DateTime => json!({"value": "2024-03-01T12:30:00Z"}),
        _ if field.nullable => json!({"value": null}),
        _ => json!({"value": "some text"}),
    }
}

fn condition(draw: &mut Draw, schema: &Schema, entity: &Entity) -> Option<Value> {
    let referring: Vec<_> = schema.references_to(&entity.key).collect();
    if let Some((owner, reference)) = draw.pick(&referring).filter(|_| draw.clone().chance(40)) {
        return Some(if draw.chance(50) {
            json!({"when": "has_none", "entity": owner.key, "reference": reference.key})
        } else {
            json!({"when": "has_at_least", "entity": owner.key, "reference": reference.key, "count": draw.number_between(1, 3)})
        });
    }
    let picked = field(draw, entity, |field| field.computed.is_none())?;
    let comparison = match &picked.kind {
        Kind::Enum { values } => json!({"not": draw.pick(values)}),
        Kind::Boolean => json!({"equals": true}),
        Kind::Integer { .. } => json!({"at_least": draw.number_between(2, 9)}),
        Kind::Number { .. } => json!({"at_most": draw.number_between(2, 9) as f64}),
        _ if picked.nullable => json!("is_set"),
        _ => json!({"equals": "some text"}),
    };
    Some(json!({"when": "field", "field": picked.key, "is": comparison}))
}

fn effect(draw: &mut Draw, entity: &Entity) -> Option<Value> {
    let picked = field(draw, entity, |field| field.computed.is_none() && field.target().is_none())?;
    Some(if draw.chance(30) && matches!(picked.kind, Kind::Integer { .. }) {
        json!({"do": "increment", "field": picked.key, "by": {"value": draw.number_between(1, 5)}})
    } else {
        json!({"do": "set", "field": picked.key, "to": operand(draw, picked)})
    })
}

fn analytic(draw: &mut Draw, schema: &Schema, kind: &str) -> Option<Value> {
    let analytic = draw.pick(&schema.analytics)?;
    let entity = schema.entity(&analytic.entity)?;
    let mut json = json!({"analytic": analytic.key});
    let number = field(draw, entity, |field| field.is_numeric() && field.computed.is_none());
    let word = field(draw, entity, |field| matches!(field.kind, Kind::Enum { .. } | Kind::Boolean));
    let reference = field(draw, entity, |field| field.target().is_some());
    match kind {
        "rename_analytic" => json["name"] = json!(name(draw)),
        "change_measure" => json["measure"] = json!({"sum": number?.key}),
        "change_grouping" => {
            json["group_by"] = json!(word.filter(|_| draw.chance(80)).map(|field| &field.key));
        }
        "change_analytic_filter" => {
            json["by"] = json!(reference.filter(|_| draw.chance(80)).map(|field| &field.key));
        }
        "change_restriction" => {
            let word = word?;
            json["only"] = json!({"field": word.key, "equals": operand(draw, word)["value"]});
        }
        _ => {}
    }
    Some(json)
}

fn convention(draw: &mut Draw, kind: &str) -> Option<Value> {
    Some(match kind {
        "change_error_shape" => json!({"error": {"shape": "flat", "code": name(draw), "message": "message"}}),
        "change_error_code" => {
            json!({"which": pick_one(draw, &["invalid", "not_found", "conflict", "refused"]), "code": name(draw)})
        }
        "change_status" => {
            json!({"which": pick_one(draw, &["created", "deleted", "invalid", "conflict", "refused"]),
            "status": pick_one(draw, &[200, 201, 204, 400, 403, 409, 422])})
        }
        "change_list_shape" => {
            json!({"list": {"items": pick_one(draw, &["items", "data"]), "total": "count"}})
        }
        "change_pagination" => json!({"pagination": {"style": pick_one(draw, &["page", "offset"]),
            "default_size": draw.number_between(5, 40), "max_size": draw.number_between(40, 200)}}),
        "change_field_case" => json!({"case": pick_one(draw, &["snake", "camel"])}),
        "change_prefix" => json!({"prefix": format!("/v{}", draw.number_below(9))}),
        "change_unknown_fields" => json!({"unknown_fields": pick_one(draw, &["ignore", "reject"])}),
        _ => return None,
    })
}

fn plausible(draw: &mut Draw, schema: &Schema, kind: &str) -> Option<Value> {
    if let Some(json) = convention(draw, kind) {
        return Some(json);
    }
    if kind.contains("analytic") && kind != "add_analytic"
        || ["change_measure", "change_grouping", "change_restriction"].contains(&kind)
    {
        return analytic(draw, schema, kind);
    }
    let entity = draw.pick(&schema.entities)?;
    let writable = |field: &Field| field.computed.is_none();
    let action: Option<&Action> = draw.pick(&entity.actions);
    let mut json = json!({"entity": entity.key});
    match kind {
        "add_entity" => {
            let name = name(draw);
            let mut fields: Vec<Value> = (0..3).map(|_| new_field(draw)).collect();
            fields.extend(reference(draw, schema));
            json = json!({"entity": {"key": format!("{name}s"), "name": name, "plural": format!("{name}s"),
                "about": "a thing", "fields": fields, "since": 1}});
        }
        "remove_entity" => {}
        "rename_entity" => {
            let name = name(draw);
            json["plural"] = json!(format!("{name}s"));
            json["name"] = json!(name);
        }
        "set_soft_delete" => json["keep"] = json!(!entity.soft_delete),
        "add_field" => json["field"] = new_field(draw),
        "add_reference" => json["field"] = reference(draw, schema)?,
        "add_computed" => {
            let picked = field(draw, entity, |field| writable(field) && field.is_numeric())?;
            json["field"] = named(
                json!({"type": "boolean", "computed": {"from": "at_least", "field": picked.key, "value": 3}}),
                &name(draw),
            );
        }
        "change_computed" => {
            let computed =
                field(draw, entity, |field| field.kind == Kind::Boolean && field.computed.is_some())?;
            let picked = field(draw, entity, |field| writable(field) && field.is_numeric())?;
            json["field"] = json!(computed.key);
            json["computed"] =
                json!({"from": "at_least", "field": picked.key, "value": draw.number_between(1, 9)});
        }
        "retype_field" => {
            let picked = field(draw, entity, |field| writable(field) && field.target().is_none())?;
            let (kind, default) = self::kind(draw);
            json["field"] = json!(picked.key);
            json["kind"] = kind;
            json["default"] = if picked.required || picked.nullable { Value::Null } else { default };
        }
        "add_enum_value" | "remove_enum_value" | "rename_enum_value" => {
            let picked = field(draw, entity, |field| matches!(field.kind, Kind::Enum { .. }))?;
            let Kind::Enum { values } = &picked.kind else { return None };
            json["field"] = json!(picked.key);
            json["value"] =
                if kind == "add_enum_value" { json!(name(draw)) } else { json!(draw.pick(values)) };
            json["to"] = json!(name(draw));
        }
        "remove_reference" | "change_delete_rule" | "nest" | "unnest" => {
            json["field"] = json!(field(draw, entity, |field| field.target().is_some())?.key);
            json["on_delete"] = json!(pick_one(draw, &["cascade", "restrict", "set_null"]));
        }
        "add_action" => {
            json["action"] =
                named(json!({"effects": [effect(draw, entity)?]}), &format!("do_{}", name(draw)));
        }
        "remove_action" => json["action"] = json!(action?.key),
        "rename_action" => {
            json["action"] = json!(action?.key);
            json["name"] = json!(format!("do_{}", name(draw)));
        }
        "add_guard" => {
            json["action"] = json!(action?.key);
            json["guard"] = condition(draw, schema, entity)?;
            json["guard"]["key"] = json!(name(draw));
        }
        "remove_guard" | "change_guard" => {
            let action = action?;
            json["action"] = json!(action.key);
            json["guard"] = json!(draw.pick(&action.guards)?.key);
            json["condition"] = condition(draw, schema, entity)?;
        }
        "add_effect" => {
            json["action"] = json!(action?.key);
            json["effect"] = effect(draw, entity)?;
        }
        "remove_effect" | "change_effect" => {
            let action = action?;
            let index = draw.number_below(action.effects.len());
            json["action"] = json!(action.key);
            json["index"] = json!(index);
            let effect = serde_json::to_value(&action.effects[index]).ok()?;
            let picked = effect["field"].as_str().and_then(|key| entity.field(key));
            json["operand"] = picked.map_or(json!({"value": 1}), |picked| operand(draw, picked));
        }
        "add_analytic" => {
            let picked = field(draw, entity, |field| writable(field) && field.is_numeric())?;
            json = json!({"analytic": named(json!({"entity": entity.key, "measure": {"max": picked.key}}), &format!("{}_report", name(draw)))});
        }
        "add_filter" => {
            let op = pick_one(draw, &["equals", "at_least", "at_most", "contains"]);
            json["filter"] = json!({"field": field(draw, entity, writable)?.key, "op": op});
        }
        "remove_filter" => json["filter"] = serde_json::to_value(draw.pick(&entity.filters)?).ok()?,
        "add_sort" => json["field"] = json!(field(draw, entity, writable)?.key),
        "remove_sort" => json["field"] = json!(draw.pick(&entity.sorts)?),
        "change_default_sort" => {
            json["sort"] = match draw.pick(&entity.sorts) {
                Some(field) if draw.chance(70) => json!({"field": field, "descending": draw.chance(50)}),
                _ => Value::Null,
            }
        }
        "tighten" | "loosen" => {
            let picked = field(draw, entity, writable)?;
            json["field"] = json!(picked.key);
            json["kind"] = moved(draw, &picked.kind, kind == "loosen")?;
        }
        // The rules of a field.
        _ => {
            let picked = field(draw, entity, |_| true)?;
            json["field"] = json!(picked.key);
            json["name"] = json!(name(draw));
            json["default"] = match kind {
                "make_optional" if picked.nullable => Value::Null,
                "forbid_null" if picked.required => Value::Null,
                _ => operand(draw, picked)["value"].clone(),
            };
        }
    }
    Some(json)
}
