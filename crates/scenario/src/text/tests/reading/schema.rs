//! Parts of a schema in the form of [`super::clauses`].

use serde_json::{Map, Value, json};

use crate::ir::{
    Action, Analytic, Comparison, Computed, Condition, Effect, Entity, Field, Filter, FilterOp, Kind,
    Measure, OnDelete, Operand, RecordRestriction, Schema, words,
};

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { value.to_string() }
}

/// A value as it is in backquotes.
fn literal(kind: Option<&Kind>, value: &Value) -> String {
    match (kind, value) {
        (_, Value::Null) => "null".to_owned(),
        (Some(Kind::Enum { .. } | Kind::DateTime), Value::String(text)) => text.clone(),
        (_, Value::Number(given)) => given.as_f64().map_or_else(|| given.to_string(), number),
        (_, other) => other.to_string(),
    }
}

/// The names of a schema.
pub(super) struct SchemaNames<'a>(pub(super) &'a Schema);

impl<'a> SchemaNames<'a> {
    pub(super) fn entity(&self, key: &str) -> &'a Entity {
        self.0.entity(key).unwrap_or_else(|| panic!("no entity {key}"))
    }

    pub(super) fn plural(&self, key: &str) -> String {
        words(&self.entity(key).plural)
    }

    pub(super) fn singular(&self, key: &str) -> String {
        words(&self.entity(key).name)
    }

    pub(super) fn field_of(&self, entity: &str, key: &str) -> &'a Field {
        self.entity(entity).field(key).unwrap_or_else(|| panic!("no field {entity}.{key}"))
    }

    pub(super) fn name(&self, entity: &str, key: &str) -> String {
        self.0.json_name(&self.field_of(entity, key).name)
    }

    pub(super) fn action_of(&self, entity: &str, key: &str) -> &'a Action {
        self.entity(entity).action(key).unwrap_or_else(|| panic!("no action {entity}.{key}"))
    }

    pub(super) fn verb(&self, entity: &str, key: &str) -> String {
        self.0.path_name(&self.action_of(entity, key).name)
    }

    pub(super) fn kind(&self, kind: &Kind) -> Value {
        let mut out = json!({"type": kind.word()});
        let mut bounds = |min: Option<String>, max: Option<String>| {
            for (key, bound) in [("min", min), ("max", max)] {
                if let Some(bound) = bound {
                    out[key] = json!(bound);
                }
            }
        };
        match kind {
            Kind::String { pattern: Some(pattern), .. } => out["pattern"] = json!(pattern.regex()),
            Kind::String { min_length: min, max_length: max, .. }
            | Kind::StringList { min_items: min, max_items: max } => {
                bounds(min.map(|n| n.to_string()), max.map(|n| n.to_string()));
            }
            Kind::Integer { min, max } => bounds(min.map(|n| n.to_string()), max.map(|n| n.to_string())),
            Kind::Number { min, max } => bounds(min.map(number), max.map(number)),
            Kind::Boolean | Kind::DateTime => {}
            Kind::Enum { values } => out["values"] = json!(values),
            Kind::Reference { entity, .. } => out["to"] = json!(self.singular(entity)),
        }
        out
    }

    pub(super) fn rule(&self, entity: &str, field: &str, target: &str, on_delete: OnDelete) -> Value {
        let through = json!([self.plural(entity), self.name(entity, field)]);
        let key = match on_delete {
            OnDelete::Cascade => "cascade",
            OnDelete::Restrict => "conflict",
            OnDelete::SetNull => "null",
        };
        json!({"of": self.singular(target), key: through})
    }

    pub(super) fn path(&self, entity: &str, field: &str) -> String {
        let (owner, target) = (self.entity(entity), self.field_of(entity, field).target().unwrap());
        format!("{}/{{id}}/{}", self.0.collection_path(self.entity(target)), self.0.path_name(&owner.plural))
    }

    pub(super) fn field(&self, entity: &str, key: &str) -> Value {
        let field = self.field_of(entity, key);
        let mut out = json!({"name": self.0.json_name(&field.name)});
        if let Some(computed) = &field.computed {
            (out["type"], out["computed"]) = (json!(field.kind.word()), self.computed(entity, computed));
            return out;
        }
        (out["kind"], out["nullable"]) = (self.kind(&field.kind), json!(field.nullable));
        if field.required {
            out["required"] = json!(true);
        } else {
            let default = field.default.as_ref().map(|default| literal(Some(&field.kind), default));
            out["default"] = json!(default.unwrap_or_else(|| "null".to_owned()));
        }
        for (key, flag) in [("unique", field.unique), ("immutable", field.immutable)] {
            if flag {
                out[key] = json!(true);
            }
        }
        if let Kind::Reference { entity: target, on_delete, nested } = &field.kind {
            out["delete_rule"] = self.rule(entity, key, target, *on_delete);
            if *nested {
                out["nested"] = json!(self.path(entity, key));
            }
        }
        out
    }

    pub(super) fn computed(&self, entity: &str, computed: &Computed) -> Value {
        let field_name = |key: &str| self.name(entity, key);
        match computed {
            Computed::Joined { first, second, separator } => {
                json!({"joined": [field_name(first), separator, field_name(second)]})
            }
            Computed::Product { left, right } => json!({"product": [field_name(left), field_name(right)]}),
            Computed::Sum { left, right } => json!({"sum": [field_name(left), field_name(right)]}),
            Computed::AtLeast { field, value } => {
                json!({"at_least": [field_name(field), literal(Some(&self.field_of(entity, field).kind), value)]})
            }
            Computed::CountOf { entity: other, reference } => {
                json!({"count": [self.plural(other), self.name(other, reference)]})
            }
            Computed::TotalOf { entity: other, reference, field } => {
                json!({"total": [self.name(other, field), self.plural(other), self.name(other, reference)]})
            }
        }
    }

    pub(super) fn condition(&self, entity: &str, condition: &Condition) -> Value {
        match condition {
            Condition::Field { field, is } => {
                let kind = &self.field_of(entity, field).kind;
                json!({"field": self.name(entity, field), "is": comparison(kind, is)})
            }
            Condition::Related { reference, field, is } => {
                let owner = self.field_of(entity, reference);
                let target = owner.target().unwrap();
                let mut out = json!({
                    "field": self.name(target, field),
                    "one": self.singular(target),
                    "through": self.name(entity, reference),
                    "is": comparison(&self.field_of(target, field).kind, is),
                });
                if owner.nullable {
                    out["set"] = json!(true);
                }
                out
            }
            Condition::HasAtLeast { entity: other, reference, count } => {
                let name = if *count == 1 { self.singular(other) } else { self.plural(other) };
                json!({"has_at_least": count.to_string(), "entity": name, "through": self.name(other, reference)})
            }
            Condition::HasNone { entity: other, reference } => {
                json!({"has_none": self.singular(other), "through": self.name(other, reference)})
            }
        }
    }

    pub(super) fn effect(&self, entity: &str, action: &Action, effect: &Effect) -> Value {
        let operand = |kind: Option<&Kind>, operand: &Operand| match operand {
            Operand::Value(value) => json!(literal(kind, value)),
            Operand::Param(key) => {
                let param = action.params.iter().find(|param| param.key == *key).unwrap();
                json!({"parameter": self.0.json_name(&param.name)})
            }
            Operand::Own(key) => json!({"before": self.name(entity, key)}),
        };
        match effect {
            Effect::Set { field, to } => {
                let kind = &self.field_of(entity, field).kind;
                json!({"do": "set", "field": self.name(entity, field), "by": operand(Some(kind), to)})
            }
            Effect::Increment { field, by: operand_text } => {
                let (word, operand_text) = match operand_text {
                    Operand::Value(operand_text) if operand_text.as_i64().unwrap() < 0 => {
                        ("decrease", json!((-operand_text.as_i64().unwrap()).to_string()))
                    }
                    operand_text => ("increase", operand(None, operand_text)),
                };
                json!({"do": word, "field": self.name(entity, field), "by": operand_text})
            }
            Effect::Create { entity: other, reference, values } => {
                let mut all = Map::new();
                all.insert(self.name(other, reference), json!("its id"));
                for value in values {
                    let kind = &self.field_of(other, &value.field).kind;
                    all.insert(self.name(other, &value.field), operand(Some(kind), &value.from));
                }
                json!({"do": "create", "one": self.singular(other), "values": all})
            }
        }
    }

    /// Route and parameters of an action.
    pub(super) fn route(&self, entity: &str, action: &Action) -> Value {
        let path = self.0.collection_path(self.entity(entity));
        let path = format!("{path}/{{id}}/{}", self.0.path_name(&action.name));
        let params: Vec<Value> = action
            .params
            .iter()
            .map(|param| json!({"name": self.0.json_name(&param.name), "kind": self.kind(&param.kind)}))
            .collect();
        json!({"path": path, "params": params})
    }

    pub(super) fn action(&self, entity: &str, action: &Action) -> Value {
        let mut out = self.route(entity, action);
        let guards = action.guards.iter().map(|guard| self.condition(entity, &guard.condition));
        let effects = action.effects.iter().map(|effect| self.effect(entity, action, effect));
        (out["conditions"], out["effects"]) = (guards.collect(), effects.collect());
        out
    }

    pub(super) fn restriction(&self, entity: &str, only: &RecordRestriction) -> Value {
        let owner =
            only.through.as_ref().map_or(entity, |through| self.field_of(entity, through).target().unwrap());
        let equals = literal(Some(&self.field_of(owner, &only.field).kind), &only.equals);
        let mut out = json!({"field": self.name(owner, &only.field), "equals": equals});
        if let Some(through) = &only.through {
            out["through"] = json!(self.name(entity, through));
        }
        out
    }

    pub(super) fn analytic(&self, key: &str) -> Value {
        let analytic: &Analytic = self.0.analytic(key).unwrap();
        let entity = &analytic.entity;
        let measured = |word: &str, field: &str| json!([word, self.name(entity, field)]);
        let mut out = json!({
            "path": self.0.analytic_path(analytic),
            "entity": self.plural(entity),
            "measure": match &analytic.measure {
                Measure::Count => json!(["number"]),
                Measure::Sum(field) => measured("sum", field),
                Measure::Average(field) => measured("average", field),
                Measure::Min(field) => measured("smallest", field),
                Measure::Max(field) => measured("largest", field),
            },
        });
        if let Some(only) = &analytic.only {
            out["only"] = self.restriction(entity, only);
        }
        for (key, field) in [("grouped_by", &analytic.group_by), ("by", &analytic.by)] {
            if let Some(field) = field {
                out[key] = json!(self.name(entity, field));
            }
        }
        out
    }

    pub(super) fn param(&self, entity: &str, filter: &Filter) -> String {
        self.0.filter_param(self.entity(entity), filter).unwrap()
    }

    pub(super) fn filter(&self, entity: &str, filter: &Filter) -> Value {
        let holds = match filter.op {
            FilterOp::Equals => "equals",
            FilterOp::AtLeast => "at_least",
            FilterOp::AtMost => "at_most",
            FilterOp::Contains => "contains",
        };
        json!({
            "param": self.param(entity, filter),
            "entity": self.plural(entity),
            "field": self.name(entity, &filter.field),
            "holds": holds,
        })
    }

    pub(super) fn order(&self, entity: &str) -> Value {
        self.entity(entity).default_sort.as_ref().map_or_else(
            || json!(["id", "ascending"]),
            |sort| {
                let direction = if sort.descending { "descending" } else { "ascending" };
                json!([self.name(entity, &sort.field), direction])
            },
        )
    }

    pub(super) fn lists(&self, entity: &str) -> Value {
        let sorts: Vec<String> = self.entity(entity).sorts.iter().map(|key| self.name(entity, key)).collect();
        json!({"sorts": sorts, "order": self.order(entity)})
    }
}

fn comparison(kind: &Kind, condition: &Comparison) -> Value {
    let value = |value: &Value| literal(Some(kind), value);
    match condition {
        Comparison::Equals(to) => json!(["one_of", value(to)]),
        Comparison::Not(to) => json!(["not", value(to)]),
        Comparison::OneOf(all) => {
            json!(std::iter::once("one_of".to_owned()).chain(all.iter().map(value)).collect::<Vec<_>>())
        }
        Comparison::AtLeast(to) => json!(["at_least", value(to)]),
        Comparison::AtMost(to) => json!(["at_most", value(to)]),
        Comparison::IsSet => json!(["set"]),
        Comparison::IsNotSet => json!(["null"]),
    }
}
