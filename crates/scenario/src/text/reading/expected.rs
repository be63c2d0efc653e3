//! What a reader must find: a change in the form of [`super::reader`], from the schemas.

use serde_json::{Map, Value, json};

use crate::change::{Change, ErrorKind, StatusKind};
use crate::ir::{
    Action, Analytic, Case, Comparison, Computed, Condition, Effect, Entity, ErrorShape, Field, Filter,
    FilterOp, Kind, Measure, OnDelete, Only, Operand, Schema, UnknownFields, words,
};

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { value.to_string() }
}

/// A value as it stands in backquotes.
fn literal(kind: Option<&Kind>, value: &Value) -> String {
    match (kind, value) {
        (_, Value::Null) => "null".to_owned(),
        (Some(Kind::Enum { .. } | Kind::DateTime), Value::String(text)) => text.clone(),
        (_, Value::Number(given)) => given.as_f64().map_or_else(|| given.to_string(), number),
        (_, other) => other.to_string(),
    }
}

/// The names of a schema.
struct Of<'a>(&'a Schema);

impl<'a> Of<'a> {
    fn entity(&self, key: &str) -> &'a Entity {
        self.0.entity(key).unwrap_or_else(|| panic!("no entity {key}"))
    }

    fn many(&self, key: &str) -> String {
        words(&self.entity(key).plural)
    }

    fn one(&self, key: &str) -> String {
        words(&self.entity(key).name)
    }

    fn field_of(&self, entity: &str, key: &str) -> &'a Field {
        self.entity(entity).field(key).unwrap_or_else(|| panic!("no field {entity}.{key}"))
    }

    fn name(&self, entity: &str, key: &str) -> String {
        self.0.json_name(&self.field_of(entity, key).name)
    }

    fn action_of(&self, entity: &str, key: &str) -> &'a Action {
        self.entity(entity).action(key).unwrap_or_else(|| panic!("no action {entity}.{key}"))
    }

    fn verb(&self, entity: &str, key: &str) -> String {
        self.0.path_name(&self.action_of(entity, key).name)
    }

    fn kind(&self, kind: &Kind) -> Value {
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
            Kind::Reference { entity, .. } => out["to"] = json!(self.one(entity)),
        }
        out
    }

    fn rule(&self, entity: &str, field: &str, target: &str, on_delete: OnDelete) -> Value {
        let through = json!([self.many(entity), self.name(entity, field)]);
        let key = match on_delete {
            OnDelete::Cascade => "cascade",
            OnDelete::Restrict => "conflict",
            OnDelete::SetNull => "null",
        };
        json!({"of": self.one(target), key: through})
    }

    fn path(&self, entity: &str, field: &str) -> String {
        let (owner, target) = (self.entity(entity), self.field_of(entity, field).target().unwrap());
        format!("{}/{{id}}/{}", self.0.collection_path(self.entity(target)), self.0.path_name(&owner.plural))
    }

    fn field(&self, entity: &str, key: &str) -> Value {
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
        for (key, is) in [("unique", field.unique), ("immutable", field.immutable)] {
            if is {
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

    fn computed(&self, entity: &str, computed: &Computed) -> Value {
        let own = |key: &str| self.name(entity, key);
        match computed {
            Computed::Joined { first, second, separator } => {
                json!({"joined": [own(first), separator, own(second)]})
            }
            Computed::Product { left, right } => json!({"product": [own(left), own(right)]}),
            Computed::Sum { left, right } => json!({"sum": [own(left), own(right)]}),
            Computed::AtLeast { field, value } => {
                json!({"at_least": [own(field), literal(Some(&self.field_of(entity, field).kind), value)]})
            }
            Computed::CountOf { entity: other, reference } => {
                json!({"count": [self.many(other), self.name(other, reference)]})
            }
            Computed::TotalOf { entity: other, reference, field } => {
                json!({"total": [self.name(other, field), self.many(other), self.name(other, reference)]})
            }
        }
    }

    fn condition(&self, entity: &str, condition: &Condition) -> Value {
        match condition {
            Condition::Field { field, is } => {
                let kind = &self.field_of(entity, field).kind;
                json!({"field": self.name(entity, field), "is": comparison(kind, is)})
            }
            Condition::Related { reference, field, is } => {
                let by = self.field_of(entity, reference);
                let target = by.target().unwrap();
                let mut out = json!({
                    "field": self.name(target, field),
                    "one": self.one(target),
                    "through": self.name(entity, reference),
                    "is": comparison(&self.field_of(target, field).kind, is),
                });
                if by.nullable {
                    out["set"] = json!(true);
                }
                out
            }
            Condition::HasAtLeast { entity: other, reference, count } => {
                let name = if *count == 1 { self.one(other) } else { self.many(other) };
                json!({"has_at_least": count.to_string(), "entity": name, "through": self.name(other, reference)})
            }
            Condition::HasNone { entity: other, reference } => {
                json!({"has_none": self.one(other), "through": self.name(other, reference)})
            }
        }
    }

    fn effect(&self, entity: &str, action: &Action, effect: &Effect) -> Value {
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
            Effect::Increment { field, by } => {
                let (word, by) = match by {
                    Operand::Value(by) if by.as_i64().unwrap() < 0 => {
                        ("decrease", json!((-by.as_i64().unwrap()).to_string()))
                    }
                    by => ("increase", operand(None, by)),
                };
                json!({"do": word, "field": self.name(entity, field), "by": by})
            }
            Effect::Create { entity: other, reference, values } => {
                let mut all = Map::new();
                all.insert(self.name(other, reference), json!("its id"));
                for value in values {
                    let kind = &self.field_of(other, &value.field).kind;
                    all.insert(self.name(other, &value.field), operand(Some(kind), &value.from));
                }
                json!({"do": "create", "one": self.one(other), "values": all})
            }
        }
    }

    /// Route and parameters of an action.
    fn route(&self, entity: &str, action: &Action) -> Value {
        let path = self.0.collection_path(self.entity(entity));
        let path = format!("{path}/{{id}}/{}", self.0.path_name(&action.name));
        let params: Vec<Value> = action
            .params
            .iter()
            .map(|param| json!({"name": self.0.json_name(&param.name), "kind": self.kind(&param.kind)}))
            .collect();
        json!({"path": path, "params": params})
    }

    fn action(&self, entity: &str, action: &Action) -> Value {
        let mut out = self.route(entity, action);
        let guards = action.guards.iter().map(|guard| self.condition(entity, &guard.condition));
        let effects = action.effects.iter().map(|effect| self.effect(entity, action, effect));
        (out["conditions"], out["effects"]) = (guards.collect(), effects.collect());
        out
    }

    fn only(&self, entity: &str, only: &Only) -> Value {
        let owner =
            only.through.as_ref().map_or(entity, |through| self.field_of(entity, through).target().unwrap());
        let equals = literal(Some(&self.field_of(owner, &only.field).kind), &only.equals);
        let mut out = json!({"field": self.name(owner, &only.field), "equals": equals});
        if let Some(through) = &only.through {
            out["through"] = json!(self.name(entity, through));
        }
        out
    }

    fn analytic(&self, key: &str) -> Value {
        let analytic: &Analytic = self.0.analytic(key).unwrap();
        let entity = &analytic.entity;
        let measured = |word: &str, field: &str| json!([word, self.name(entity, field)]);
        let mut out = json!({
            "path": self.0.analytic_path(analytic),
            "entity": self.many(entity),
            "measure": match &analytic.measure {
                Measure::Count => json!(["number"]),
                Measure::Sum(field) => measured("sum", field),
                Measure::Average(field) => measured("average", field),
                Measure::Min(field) => measured("smallest", field),
                Measure::Max(field) => measured("largest", field),
            },
        });
        if let Some(only) = &analytic.only {
            out["only"] = self.only(entity, only);
        }
        for (key, field) in [("grouped_by", &analytic.group_by), ("by", &analytic.by)] {
            if let Some(field) = field {
                out[key] = json!(self.name(entity, field));
            }
        }
        out
    }

    fn param(&self, entity: &str, filter: &Filter) -> String {
        self.0.filter_param(self.entity(entity), filter).unwrap()
    }

    fn filter(&self, entity: &str, filter: &Filter) -> Value {
        let holds = match filter.op {
            FilterOp::Equals => "equals",
            FilterOp::AtLeast => "at_least",
            FilterOp::AtMost => "at_most",
            FilterOp::Contains => "contains",
        };
        json!({
            "param": self.param(entity, filter),
            "entity": self.many(entity),
            "field": self.name(entity, &filter.field),
            "holds": holds,
        })
    }

    fn order(&self, entity: &str) -> Value {
        self.entity(entity).default_sort.as_ref().map_or_else(
            || json!(["id", "ascending"]),
            |sort| {
                let direction = if sort.descending { "descending" } else { "ascending" };
                json!([self.name(entity, &sort.field), direction])
            },
        )
    }

    fn lists(&self, entity: &str) -> Value {
        let sorts: Vec<String> = self.entity(entity).sorts.iter().map(|key| self.name(entity, key)).collect();
        json!({"sorts": sorts, "order": self.order(entity)})
    }
}

fn comparison(kind: &Kind, is: &Comparison) -> Value {
    let value = |value: &Value| literal(Some(kind), value);
    match is {
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

/// What a reader of the request must find.
pub(super) fn expected(before: &Schema, change: &Change, after: &Schema) -> Value {
    let (old, new) = (Of(before), Of(after));
    match change {
        Change::AddEntity { entity } => {
            let key = &entity.key;
            let mut out = json!({
                "change": "add_entity",
                "entity": new.many(key),
                "one": new.one(key),
                "about": entity.about,
                "path": after.collection_path(new.entity(key)),
                "fields": entity.fields.iter().map(|field| new.field(key, &field.key)).collect::<Value>(),
                "filters": entity.filters.iter().map(|filter| new.filter(key, filter)).collect::<Value>(),
                "lists": new.lists(key),
                "actions": entity.actions.iter().map(|action| new.action(key, action)).collect::<Value>(),
            });
            if entity.soft_delete {
                out["soft_delete"] = json!(true);
            }
            out
        }
        Change::RemoveEntity { entity } => json!({"change": "remove_entity", "entity": old.many(entity)}),
        Change::RenameEntity { entity, .. } => json!({
            "change": "rename_entity",
            "entity": old.many(entity),
            "one": new.one(entity),
            "many": new.many(entity),
            "old": before.collection_path(old.entity(entity)),
            "new": after.collection_path(new.entity(entity)),
        }),
        Change::AddField { entity, field } => in_field(&new, "add_field", entity, &field.key),
        Change::AddReference { entity, field } => in_field(&new, "add_reference", entity, &field.key),
        Change::AddComputed { entity, field } => in_field(&new, "add_computed", entity, &field.key),
        Change::ChangeComputed { entity, field, .. } => in_field(&new, "change_computed", entity, field),
        Change::RemoveField { entity, field } => {
            json!({"change": "remove_field", "entity": old.many(entity), "field": old.name(entity, field)})
        }
        Change::RemoveReference { entity, field } => {
            json!({"change": "remove_reference", "entity": old.many(entity), "field": old.name(entity, field)})
        }
        Change::RenameField { entity, field, .. } => json!({
            "change": "rename_field",
            "entity": old.many(entity),
            "old": old.name(entity, field),
            "new": new.name(entity, field),
        }),
        Change::RetypeField { entity, field, .. } => {
            let mut out = in_field(&new, "retype_field", entity, field);
            out["old"] = json!(old.field_of(entity, field).kind.word());
            out
        }
        Change::AddEnumValue { entity, field, value } => {
            let mut out = in_field(&new, "add_enum_value", entity, field);
            out["value"] = json!(value);
            out
        }
        Change::RemoveEnumValue { entity, field, value } => {
            let mut out = in_field(&new, "remove_enum_value", entity, field);
            out["value"] = json!(value);
            out
        }
        Change::RenameEnumValue { entity, field, value, to } => json!({
            "change": "rename_enum_value",
            "entity": new.many(entity),
            "field": new.name(entity, field),
            "old": value,
            "new": to,
        }),
        Change::ChangeDeleteRule { entity, field, on_delete } => {
            let target = new.field_of(entity, field).target().unwrap();
            json!({
                "change": "change_delete_rule",
                "field": new.field(entity, field),
                "rule": new.rule(entity, field, target, *on_delete),
            })
        }
        Change::Nest { entity, field } => {
            json!({"change": "nest", "field": new.field(entity, field), "path": new.path(entity, field)})
        }
        Change::Unnest { entity, field } => {
            json!({"change": "unnest", "field": new.field(entity, field), "path": old.path(entity, field)})
        }
        Change::AddAction { entity, action } => json!({
            "change": "add_action",
            "entity": new.many(entity),
            "verb": new.verb(entity, &action.key),
            "action": new.action(entity, new.action_of(entity, &action.key)),
        }),
        Change::RemoveAction { entity, action } => {
            json!({"change": "remove_action", "entity": old.many(entity), "verb": old.verb(entity, action)})
        }
        Change::RenameAction { entity, action, .. } => json!({
            "change": "rename_action",
            "entity": old.many(entity),
            "old": old.verb(entity, action),
            "new": new.verb(entity, action),
            "path": new.route(entity, new.action_of(entity, action))["path"],
        }),
        Change::AddGuard { entity, action, guard } => json!({
            "change": "add_guard",
            "entity": new.many(entity),
            "verb": new.verb(entity, action),
            "condition": new.condition(entity, &guard.condition),
        }),
        Change::RemoveGuard { entity, action, guard } => json!({
            "change": "remove_guard",
            "entity": new.many(entity),
            "verb": new.verb(entity, action),
            "condition": old.condition(entity, guard_of(&old, entity, action, guard)),
        }),
        Change::ChangeGuard { entity, action, guard, condition } => json!({
            "change": "change_guard",
            "entity": new.many(entity),
            "verb": new.verb(entity, action),
            "condition": new.condition(entity, condition),
            "old": old.condition(entity, guard_of(&old, entity, action, guard)),
        }),
        Change::AddEffect { entity, action, effect, param } => {
            let there = new.action_of(entity, action);
            let mut out = json!({
                "change": "add_effect",
                "entity": new.many(entity),
                "verb": new.verb(entity, action),
                "effect": new.effect(entity, there, effect),
            });
            if param.is_some() {
                out["action"] = new.route(entity, there);
            }
            out
        }
        Change::RemoveEffect { entity, action, index } => {
            let effect = match &old.action_of(entity, action).effects[*index] {
                Effect::Set { field, .. } | Effect::Increment { field, .. } => {
                    format!("changes `{}`", old.name(entity, field))
                }
                Effect::Create { entity: other, .. } => {
                    format!("creates {}", crate::text::words::with_article(&old.one(other)))
                }
            };
            let verb = new.verb(entity, action);
            json!({"change": "remove_effect", "entity": new.many(entity), "verb": verb, "effect": effect})
        }
        Change::ChangeEffect { entity, action, index, .. } => {
            let (was, is) = (old.action_of(entity, action), new.action_of(entity, action));
            let mut out = json!({
                "change": "change_effect",
                "entity": new.many(entity),
                "verb": new.verb(entity, action),
                "effect": new.effect(entity, is, &is.effects[*index]),
                "old": old.effect(entity, was, &was.effects[*index]),
            });
            if was.params != is.params {
                out["action"] = new.route(entity, is);
            }
            out
        }
        Change::AddAnalytic { analytic } => {
            json!({"change": "add_analytic", "analytic": new.analytic(&analytic.key)})
        }
        Change::RemoveAnalytic { analytic } => {
            let path = before.analytic_path(before.analytic(analytic).unwrap());
            json!({"change": "remove_analytic", "path": path})
        }
        Change::RenameAnalytic { analytic, .. } => json!({
            "change": "rename_analytic",
            "old": before.analytic_path(before.analytic(analytic).unwrap()),
            "new": after.analytic_path(after.analytic(analytic).unwrap()),
        }),
        Change::ChangeMeasure { analytic, .. } => {
            json!({"change": "change_measure", "analytic": new.analytic(analytic)})
        }
        Change::ChangeGrouping { analytic, group_by } => {
            let entity = &after.analytic(analytic).unwrap().entity;
            let grouped = group_by.as_ref().map_or(json!(false), |field| json!(new.name(entity, field)));
            json!({"change": "change_grouping", "analytic": new.analytic(analytic), "grouped": grouped})
        }
        Change::ChangeRestriction { analytic, .. } => {
            json!({"change": "change_restriction", "analytic": new.analytic(analytic)})
        }
        Change::ChangeAnalyticFilter { analytic, by } => {
            let is = after.analytic(analytic).unwrap();
            let name = |field: &Option<String>| field.as_ref().map(|field| new.name(&is.entity, field));
            let mut out = json!({"analytic": new.analytic(analytic)});
            if by.is_some() {
                (out["change"], out["parameter"]) = (json!("set_analytic_filter"), json!(name(by)));
            } else {
                let was = name(&before.analytic(analytic).unwrap().by);
                (out["change"], out["old"]) = (json!("drop_analytic_filter"), json!(was));
            }
            out
        }
        Change::AddFilter { entity, filter } => {
            json!({"change": "add_filter", "entity": new.many(entity), "filter": new.filter(entity, filter)})
        }
        Change::RemoveFilter { entity, filter } => {
            json!({"change": "remove_filter", "entity": old.many(entity), "param": old.param(entity, filter)})
        }
        Change::AddSort { entity, field } => sort(&new, "add_sort", entity, field),
        Change::RemoveSort { entity, field } => sort(&new, "remove_sort", entity, field),
        Change::ChangeDefaultSort { entity, .. } => json!({
            "change": "change_default_sort",
            "entity": new.many(entity),
            "lists": new.lists(entity),
            "order": new.order(entity),
        }),
        Change::Tighten { entity, field, .. } => with_old_kind(&old, &new, "tighten", entity, field),
        Change::Loosen { entity, field, .. } => with_old_kind(&old, &new, "loosen", entity, field),
        Change::Require { entity, field } => in_field(&new, "require", entity, field),
        Change::MakeOptional { entity, field, .. } => in_field(&new, "make_optional", entity, field),
        Change::AllowNull { entity, field } => in_field(&new, "allow_null", entity, field),
        Change::ForbidNull { entity, field, .. } => in_field(&new, "forbid_null", entity, field),
        Change::ChangeDefault { entity, field, .. } => {
            let mut out = in_field(&new, "change_default", entity, field);
            out["old"] = old.field(entity, field)["default"].clone();
            out
        }
        Change::MakeUnique { entity, field } => in_field(&new, "make_unique", entity, field),
        Change::DropUnique { entity, field } => in_field(&new, "drop_unique", entity, field),
        Change::MakeImmutable { entity, field } => in_field(&new, "make_immutable", entity, field),
        Change::MakeMutable { entity, field } => in_field(&new, "make_mutable", entity, field),
        Change::SetSoftDelete { entity, on } => {
            let kind = if *on { "soft_delete_on" } else { "soft_delete_off" };
            json!({"change": kind, "entity": new.many(entity)})
        }
        Change::ChangeErrorShape { error } => {
            let keys = match error {
                ErrorShape::Flat { code, message } => json!([null, code, message]),
                ErrorShape::Nested { key, code, message } => json!([key, code, message]),
            };
            json!({"change": "change_error_shape", "keys": keys})
        }
        Change::ChangeErrorCode { which, code } => {
            let codes = &before.conventions.codes;
            let (of, old) = match which {
                ErrorKind::Invalid => ("invalid", &codes.invalid),
                ErrorKind::NotFound => ("not found", &codes.not_found),
                ErrorKind::Conflict => ("conflict", &codes.conflict),
                ErrorKind::Refused => ("refused", &codes.refused),
            };
            json!({"change": "change_error_code", "of": of, "old": old, "new": code})
        }
        Change::ChangeStatus { which, status } => {
            let statuses = before.conventions.status;
            let (of, old) = match which {
                StatusKind::Created => ("successful create", statuses.created),
                StatusKind::Deleted => ("successful deletion", statuses.deleted),
                StatusKind::Invalid => ("invalid", statuses.invalid),
                StatusKind::Conflict => ("conflict", statuses.conflict),
                StatusKind::Refused => ("refused", statuses.refused),
            };
            json!({"change": "change_status", "of": of, "old": old.to_string(), "new": status.to_string()})
        }
        Change::ChangeListShape { list } => {
            json!({"change": "change_list_shape", "keys": [list.items, list.total]})
        }
        Change::ChangePagination { pagination } => {
            let (which, size) = pagination.style.params();
            let pages = json!([
                after.json_name(which),
                after.json_name(size),
                pagination.max_size.to_string(),
                pagination.default_size.to_string(),
            ]);
            json!({"change": "change_pagination", "pages": pages})
        }
        Change::ChangeFieldCase { case } => {
            let case = if *case == Case::Camel { "camelCase" } else { "snake_case" };
            json!({"change": "change_field_case", "case": case})
        }
        Change::ChangePrefix { prefix } => {
            json!({"change": "change_prefix", "old": before.conventions.prefix, "new": prefix})
        }
        Change::ChangeUnknownFields { unknown_fields } => {
            json!({"change": "change_unknown_fields", "rejected": *unknown_fields == UnknownFields::Reject})
        }
    }
}

fn in_field(new: &Of<'_>, kind: &str, entity: &str, field: &str) -> Value {
    json!({"change": kind, "entity": new.many(entity), "field": new.field(entity, field)})
}

fn with_old_kind(old: &Of<'_>, new: &Of<'_>, kind: &str, entity: &str, field: &str) -> Value {
    let mut out = in_field(new, kind, entity, field);
    out["old"] = old.kind(&old.field_of(entity, field).kind);
    out
}

fn sort(new: &Of<'_>, kind: &str, entity: &str, field: &str) -> Value {
    json!({
        "change": kind,
        "entity": new.many(entity),
        "field": new.name(entity, field),
        "lists": new.lists(entity),
    })
}

fn guard_of<'a>(old: &Of<'a>, entity: &str, action: &str, guard: &str) -> &'a Condition {
    let guards = &old.action_of(entity, action).guards;
    &guards.iter().find(|one| one.key == guard).unwrap().condition
}
