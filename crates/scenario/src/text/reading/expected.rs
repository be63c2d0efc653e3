//! What a reader must find: a change in the form of [`super::reader`], from the schemas.

use serde_json::{Value, json};

use super::schema::Of;
use crate::change::{Change, ErrorKind, StatusKind};
use crate::ir::{Case, Condition, Effect, ErrorShape, Schema, UnknownFields};

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
            let (which_part, old) = match which {
                ErrorKind::Invalid => ("invalid", &codes.invalid),
                ErrorKind::NotFound => ("not found", &codes.not_found),
                ErrorKind::Conflict => ("conflict", &codes.conflict),
                ErrorKind::Refused => ("refused", &codes.refused),
            };
            json!({"change": "change_error_code", "of": which_part, "old": old, "new": code})
        }
        Change::ChangeStatus { which, status } => {
            let statuses = before.conventions.status;
            let (which_part, old) = match which {
                StatusKind::Created => ("successful create", statuses.created),
                StatusKind::Deleted => ("successful deletion", statuses.deleted),
                StatusKind::Invalid => ("invalid", statuses.invalid),
                StatusKind::Conflict => ("conflict", statuses.conflict),
                StatusKind::Refused => ("refused", statuses.refused),
            };
            json!({"change": "change_status", "of": which_part, "old": old.to_string(), "new": status.to_string()})
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
            let treatment = match unknown_fields {
                UnknownFields::Reject => "invalid",
                UnknownFields::Ignore => "ignored",
            };
            json!({"change": "change_unknown_fields", "treatment": treatment})
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
