//! What a reader must find: a change in the form of [`super::reader`], from the schemas.

use serde_json::{Value, json};

use super::schema::SchemaNames;
use crate::change::{
    ActionChange, AnalyticChange, Change, ConstraintChange, ConventionChange, EntityChange, ErrorKind,
    FieldChange, ListChange, StatusKind,
};
use crate::ir::{Case, Condition, Effect, ErrorShape, Schema, UnknownFields};

/// What a reader of the request must find.
pub(super) fn expected(before: &Schema, change: &Change, after: &Schema) -> Value {
    let (old, new) = (SchemaNames(before), SchemaNames(after));
    let mut out = match change {
        Change::Entity(change) => entity(before, after, &old, &new, change),
        Change::Field(change) => field(&old, &new, change),
        Change::Constraint(change) => constraint(&old, &new, change),
        Change::Action(change) => action(&old, &new, change),
        Change::Analytic(change) => analytic(before, after, &new, change),
        Change::List(change) => list(&old, &new, change),
        Change::Convention(change) => convention(before, after, change),
    };
    if out.get("change").is_none() {
        out["change"] = json!(change.kind().word());
    }
    out
}

fn entity(
    before: &Schema,
    after: &Schema,
    old: &SchemaNames<'_>,
    new: &SchemaNames<'_>,
    change: &EntityChange,
) -> Value {
    match change {
        EntityChange::AddEntity { entity } => {
            let key = &entity.key;
            let mut out = json!({
                "entity": new.plural(key),
                "one": new.singular(key),
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
        EntityChange::RemoveEntity { entity } => json!({"entity": old.plural(entity)}),
        EntityChange::RenameEntity { entity, .. } => json!({
            "entity": old.plural(entity),
            "one": new.singular(entity),
            "many": new.plural(entity),
            "old": before.collection_path(old.entity(entity)),
            "new": after.collection_path(new.entity(entity)),
        }),
        EntityChange::SetSoftDelete { entity, on } => {
            let kind = if *on { "soft_delete_on" } else { "soft_delete_off" };
            json!({"change": kind, "entity": new.plural(entity)})
        }
    }
}

fn field(old: &SchemaNames<'_>, new: &SchemaNames<'_>, change: &FieldChange) -> Value {
    match change {
        FieldChange::AddField { .. }
        | FieldChange::AddReference { .. }
        | FieldChange::AddComputed { .. }
        | FieldChange::ChangeComputed { .. } => in_field(new, change.keys()),
        FieldChange::RemoveField { entity, field } | FieldChange::RemoveReference { entity, field } => {
            json!({"entity": old.plural(entity), "field": old.name(entity, field)})
        }
        FieldChange::RenameField { entity, field, .. } => json!({
            "entity": old.plural(entity),
            "old": old.name(entity, field),
            "new": new.name(entity, field),
        }),
        FieldChange::RetypeField { entity, field, .. } => {
            let mut out = in_field(new, change.keys());
            out["old"] = json!(old.field_of(entity, field).kind.word());
            out
        }
        FieldChange::AddEnumValue { value, .. } | FieldChange::RemoveEnumValue { value, .. } => {
            let mut out = in_field(new, change.keys());
            out["value"] = json!(value);
            out
        }
        FieldChange::RenameEnumValue { entity, field, value, to } => json!({
            "entity": new.plural(entity),
            "field": new.name(entity, field),
            "old": value,
            "new": to,
        }),
        FieldChange::ChangeDeleteRule { entity, field, on_delete } => {
            let target = new.field_of(entity, field).target().unwrap();
            json!({
                "field": new.field(entity, field),
                "rule": new.rule(entity, field, target, *on_delete),
            })
        }
        FieldChange::Nest { entity, field } => {
            json!({"field": new.field(entity, field), "path": new.path(entity, field)})
        }
        FieldChange::Unnest { entity, field } => {
            json!({"field": new.field(entity, field), "path": old.path(entity, field)})
        }
    }
}

fn constraint(old: &SchemaNames<'_>, new: &SchemaNames<'_>, change: &ConstraintChange) -> Value {
    let (entity, field) = change.keys();
    let mut out = in_field(new, (entity, field));
    match change {
        ConstraintChange::Tighten { .. } | ConstraintChange::Loosen { .. } => {
            out["old"] = old.kind(&old.field_of(entity, field).kind);
        }
        ConstraintChange::ChangeDefault { .. } => {
            out["old"] = old.field(entity, field)["default"].clone();
        }
        _ => {}
    }
    out
}

fn action(old: &SchemaNames<'_>, new: &SchemaNames<'_>, change: &ActionChange) -> Value {
    match change {
        ActionChange::AddAction { entity, action } => json!({
            "entity": new.plural(entity),
            "verb": new.verb(entity, &action.key),
            "action": new.action(entity, new.action_of(entity, &action.key)),
        }),
        ActionChange::RemoveAction { entity, action } => {
            json!({"entity": old.plural(entity), "verb": old.verb(entity, action)})
        }
        ActionChange::RenameAction { entity, action, .. } => json!({
            "entity": old.plural(entity),
            "old": old.verb(entity, action),
            "new": new.verb(entity, action),
            "path": new.route(entity, new.action_of(entity, action))["path"],
        }),
        ActionChange::AddGuard { entity, action, guard } => json!({
            "entity": new.plural(entity),
            "verb": new.verb(entity, action),
            "condition": new.condition(entity, &guard.condition),
        }),
        ActionChange::RemoveGuard { entity, action, guard } => json!({
            "entity": new.plural(entity),
            "verb": new.verb(entity, action),
            "condition": old.condition(entity, guard_of(old, entity, action, guard)),
        }),
        ActionChange::ChangeGuard { entity, action, guard, condition } => json!({
            "entity": new.plural(entity),
            "verb": new.verb(entity, action),
            "condition": new.condition(entity, condition),
            "old": old.condition(entity, guard_of(old, entity, action, guard)),
        }),
        ActionChange::AddEffect { entity, action, effect, param } => {
            let owner = new.action_of(entity, action);
            let mut out = json!({
                "entity": new.plural(entity),
                "verb": new.verb(entity, action),
                "effect": new.effect(entity, owner, effect),
            });
            if param.is_some() {
                out["action"] = new.route(entity, owner);
            }
            out
        }
        ActionChange::RemoveEffect { entity, action, index } => {
            let effect = match &old.action_of(entity, action).effects[*index] {
                Effect::Set { field, .. } | Effect::Increment { field, .. } => {
                    format!("changes `{}`", old.name(entity, field))
                }
                Effect::Create { entity: other, .. } => {
                    format!("creates {}", crate::text::english::with_article(&old.singular(other)))
                }
            };
            let verb = new.verb(entity, action);
            json!({"entity": new.plural(entity), "verb": verb, "effect": effect})
        }
        ActionChange::ChangeEffect { entity, action, index, .. } => {
            let (action_before, action_after) =
                (old.action_of(entity, action), new.action_of(entity, action));
            let mut out = json!({
                "entity": new.plural(entity),
                "verb": new.verb(entity, action),
                "effect": new.effect(entity, action_after, &action_after.effects[*index]),
                "old": old.effect(entity, action_before, &action_before.effects[*index]),
            });
            if action_before.params != action_after.params {
                out["action"] = new.route(entity, action_after);
            }
            out
        }
    }
}

fn analytic(before: &Schema, after: &Schema, new: &SchemaNames<'_>, change: &AnalyticChange) -> Value {
    match change {
        AnalyticChange::AddAnalytic { .. }
        | AnalyticChange::ChangeMeasure { .. }
        | AnalyticChange::ChangeRestriction { .. } => json!({"analytic": new.analytic(change.analytic())}),
        AnalyticChange::RemoveAnalytic { analytic } => {
            let path = before.analytic_path(before.analytic(analytic).unwrap());
            json!({"path": path})
        }
        AnalyticChange::RenameAnalytic { analytic, .. } => json!({
            "old": before.analytic_path(before.analytic(analytic).unwrap()),
            "new": after.analytic_path(after.analytic(analytic).unwrap()),
        }),
        AnalyticChange::ChangeGrouping { analytic, group_by } => {
            let entity = &after.analytic(analytic).unwrap().entity;
            let grouped = group_by.as_ref().map_or(json!(false), |field| json!(new.name(entity, field)));
            json!({"analytic": new.analytic(analytic), "grouped": grouped})
        }
        AnalyticChange::ChangeAnalyticFilter { analytic, by } => {
            let analytic_after = after.analytic(analytic).unwrap();
            let name =
                |field: &Option<String>| field.as_ref().map(|field| new.name(&analytic_after.entity, field));
            let mut out = json!({"analytic": new.analytic(analytic)});
            if by.is_some() {
                (out["change"], out["parameter"]) = (json!("set_analytic_filter"), json!(name(by)));
            } else {
                let old_filter = name(&before.analytic(analytic).unwrap().by);
                (out["change"], out["old"]) = (json!("drop_analytic_filter"), json!(old_filter));
            }
            out
        }
    }
}

fn list(old: &SchemaNames<'_>, new: &SchemaNames<'_>, change: &ListChange) -> Value {
    match change {
        ListChange::AddFilter { entity, filter } => {
            json!({"entity": new.plural(entity), "filter": new.filter(entity, filter)})
        }
        ListChange::RemoveFilter { entity, filter } => {
            json!({"entity": old.plural(entity), "param": old.param(entity, filter)})
        }
        ListChange::AddSort { entity, field } | ListChange::RemoveSort { entity, field } => json!({
            "entity": new.plural(entity),
            "field": new.name(entity, field),
            "lists": new.lists(entity),
        }),
        ListChange::ChangeDefaultSort { entity, .. } => json!({
            "entity": new.plural(entity),
            "lists": new.lists(entity),
            "order": new.order(entity),
        }),
    }
}

fn convention(before: &Schema, after: &Schema, change: &ConventionChange) -> Value {
    match change {
        ConventionChange::ChangeErrorShape { error } => {
            let keys = match error {
                ErrorShape::Flat { code, message } => json!([null, code, message]),
                ErrorShape::Nested { key, code, message } => json!([key, code, message]),
            };
            json!({"keys": keys})
        }
        ConventionChange::ChangeErrorCode { which: kind, code } => {
            let codes = &before.conventions.codes;
            let (kind_name, old) = match kind {
                ErrorKind::Invalid => ("invalid", &codes.invalid),
                ErrorKind::NotFound => ("not found", &codes.not_found),
                ErrorKind::Conflict => ("conflict", &codes.conflict),
                ErrorKind::Refused => ("refused", &codes.refused),
            };
            json!({"of": kind_name, "old": old, "new": code})
        }
        ConventionChange::ChangeStatus { which: kind, status } => {
            let statuses = before.conventions.status;
            let (kind_name, old) = match kind {
                StatusKind::Created => ("successful create", statuses.created),
                StatusKind::Deleted => ("successful deletion", statuses.deleted),
                StatusKind::Invalid => ("invalid", statuses.invalid),
                StatusKind::Conflict => ("conflict", statuses.conflict),
                StatusKind::Refused => ("refused", statuses.refused),
            };
            json!({"of": kind_name, "old": old.to_string(), "new": status.to_string()})
        }
        ConventionChange::ChangeListShape { list } => {
            json!({"keys": [list.items, list.total]})
        }
        ConventionChange::ChangePagination { pagination } => {
            let (page_param, size) = pagination.style.params();
            let pages = json!([
                after.json_name(page_param),
                after.json_name(size),
                pagination.max_size.to_string(),
                pagination.default_size.to_string(),
            ]);
            json!({"pages": pages})
        }
        ConventionChange::ChangeFieldCase { case } => {
            let case = if *case == Case::Camel { "camelCase" } else { "snake_case" };
            json!({"case": case})
        }
        ConventionChange::ChangePrefix { prefix } => {
            json!({"old": before.conventions.prefix, "new": prefix})
        }
        ConventionChange::ChangeUnknownFields { unknown_fields } => {
            let treatment = match unknown_fields {
                UnknownFields::Reject => "invalid",
                UnknownFields::Ignore => "ignored",
            };
            json!({"treatment": treatment})
        }
    }
}

fn in_field(new: &SchemaNames<'_>, (entity, field): (&str, &str)) -> Value {
    json!({"entity": new.plural(entity), "field": new.field(entity, field)})
}

fn guard_of<'a>(old: &SchemaNames<'a>, entity: &str, action: &str, guard: &str) -> &'a Condition {
    let guards = &old.action_of(entity, action).guards;
    &guards.iter().find(|candidate| candidate.key == guard).unwrap().condition
}
