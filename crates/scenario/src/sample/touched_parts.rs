//! What a turn has changed already, so that no part is changed twice in contradictory ways.
//!
//! Parts are named by paths of keys: `orders` (the entity itself), `orders.title` (a field), `orders.cancel` (an action
//! with its guards and effects), `analytics.revenue`, `conventions.prefix`. What a change did is read off the two
//! schemas, so consequences elsewhere (references that go with an entity, conditions that get another word) count too.

use std::collections::BTreeSet;

use crate::change::{ActionChange, Change, FieldChange};
use crate::ir::{Condition, Effect, Entity, Schema};

/// The parts that the changes of a turn have touched so far.
#[derive(Debug, Clone, Default)]
pub struct TouchedParts {
    parts: BTreeSet<String>,
}

impl TouchedParts {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether something that holds for all routes was touched.
    pub fn is_swept(&self) -> bool {
        self.parts
            .range("conventions.".to_owned()..)
            .next()
            .is_some_and(|part| part.starts_with("conventions."))
    }

    /// Whether a part, or all of what it is in, was touched.
    pub(super) fn has(&self, part: &str) -> bool {
        self.parts.contains(part) || part.split_once('.').is_some_and(|(home, _)| self.parts.contains(home))
    }

    /// Whether a field or action of an entity was touched, or the entity.
    pub(super) fn has_in(&self, entity: &str, part: &str) -> bool {
        self.parts.contains(entity) || self.parts.contains(&format!("{entity}.{part}"))
    }

    /// Whether anything in an entity was touched.
    pub(super) fn has_any_in(&self, entity: &str) -> bool {
        // `order` and `order.title` come before `order_items`.
        self.parts.range(entity.to_owned()..).next().is_some_and(|part| {
            part.strip_prefix(entity).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// Notes what a change did. False, and nothing noted, if it touched something that was touched before.
    pub fn note(&mut self, before: &Schema, change: &Change, after: &Schema) -> bool {
        let parts = differences(before, after);
        let clash = parts.iter().any(|part| match part.split_once('.') {
            Some(_) => self.has(part),
            None => self.has_any_in(part),
        });
        if clash {
            return false;
        }
        self.parts.extend(parts);
        self.parts.extend(mentioned_parts(before, change));
        true
    }
}

/// The parts in which two schemas differ.
fn differences(before: &Schema, after: &Schema) -> Vec<String> {
    let mut parts = Vec::new();
    for entity in &before.entities {
        match after.entity(&entity.key) {
            None => parts.push(entity.key.clone()),
            Some(now) if now != entity => entity_differences(entity, now, &mut parts),
            Some(_) => {}
        }
    }
    parts.extend(
        after
            .entities
            .iter()
            .filter(|entity| before.entity(&entity.key).is_none())
            .map(|entity| entity.key.clone()),
    );
    for analytic in &before.analytics {
        if after.analytic(&analytic.key) != Some(analytic) {
            parts.push(format!("analytics.{}", analytic.key));
        }
    }
    for analytic in after.analytics.iter().filter(|analytic| before.analytic(&analytic.key).is_none()) {
        parts.push(format!("analytics.{}", analytic.key));
    }
    let (old, new) = (&before.conventions, &after.conventions);
    for (part, same) in [
        ("prefix", old.prefix == new.prefix),
        ("path_case", old.path_case == new.path_case),
        ("field_case", old.field_case == new.field_case),
        ("error", old.error == new.error),
        ("codes", old.codes == new.codes),
        ("status", old.status == new.status),
        ("list", old.list == new.list),
        ("pagination", old.pagination == new.pagination),
        ("unknown_fields", old.unknown_fields == new.unknown_fields),
    ] {
        if !same {
            parts.push(format!("conventions.{part}"));
        }
    }
    parts
}

fn entity_differences(before: &Entity, after: &Entity, parts: &mut Vec<String>) {
    let key = &before.key;
    if before.name != after.name || before.plural != after.plural {
        parts.push(key.clone());
        return;
    }
    let mut part = |name: &str| {
        let path = format!("{key}.{name}");
        if !parts.contains(&path) {
            parts.push(path);
        }
    };
    for field in &before.fields {
        if after.field(&field.key) != Some(field) {
            part(&field.key);
        }
    }
    for field in after.fields.iter().filter(|field| before.field(&field.key).is_none()) {
        part(&field.key);
    }
    for action in &before.actions {
        if after.action(&action.key) != Some(action) {
            part(&action.key);
        }
    }
    for action in after.actions.iter().filter(|action| before.action(&action.key).is_none()) {
        part(&action.key);
    }
    if before.soft_delete != after.soft_delete {
        part("soft_delete");
    }
    // Filters and sorts are rules of their fields.
    for (entity, other) in [(before, after), (after, before)] {
        for filter in entity.filters.iter().filter(|filter| !other.filters.contains(filter)) {
            part(&filter.field);
        }
        for sort in entity.sorts.iter().filter(|sort| !other.sorts.contains(sort)) {
            part(sort);
        }
        if entity.default_sort != other.default_sort {
            part("default_sort");
            if let Some(sort) = &entity.default_sort {
                part(&sort.field);
            }
        }
    }
}

/// Parts that are not changed, but that what was removed or is new says something about: they stay as they are in this turn.
fn mentioned_parts(before: &Schema, change: &Change) -> Vec<String> {
    let mut parts = Vec::new();
    match change {
        Change::Action(change) => in_action(before, change, &mut parts),
        Change::Field(FieldChange::Unnest { entity, field } | FieldChange::Nest { entity, field }) => {
            let target =
                before.entity(entity).and_then(|entity| entity.field(field)).and_then(|field| field.target());
            parts.extend(target.map(|target| format!("{target}.{entity}")));
        }
        _ => {}
    }
    parts
}

fn in_action(before: &Schema, change: &ActionChange, parts: &mut Vec<String>) {
    let (entity, key) = change.keys();
    let old = before.entity(entity).and_then(|entity| entity.action(key));
    match change {
        ActionChange::RemoveGuard { guard, .. } | ActionChange::ChangeGuard { guard, .. } => {
            let guards = old.map(|action| &action.guards);
            for guard in guards.into_iter().flatten().filter(|candidate| candidate.key == *guard) {
                in_condition(before, entity, &guard.condition, parts);
            }
        }
        ActionChange::AddGuard { guard, .. } => in_condition(before, entity, &guard.condition, parts),
        ActionChange::RemoveEffect { index, .. } | ActionChange::ChangeEffect { index, .. } => {
            if let Some(effect) = old.and_then(|action| action.effects.get(*index)) {
                in_effect(entity, effect, parts);
            }
        }
        ActionChange::AddEffect { effect, .. } => in_effect(entity, effect, parts),
        ActionChange::AddAction { action, .. } => {
            for guard in &action.guards {
                in_condition(before, entity, &guard.condition, parts);
            }
            for effect in &action.effects {
                in_effect(entity, effect, parts);
            }
        }
        ActionChange::RemoveAction { .. } | ActionChange::RenameAction { .. } => {}
    }
}

fn in_condition(schema: &Schema, home: &str, condition: &Condition, parts: &mut Vec<String>) {
    match condition {
        Condition::Field { field, .. } => parts.push(format!("{home}.{field}")),
        Condition::Related { reference, field, .. } => {
            parts.push(format!("{home}.{reference}"));
            let target =
                schema.entity(home).and_then(|home| home.field(reference)).and_then(|field| field.target());
            parts.extend(target.map(|target| format!("{target}.{field}")));
        }
        Condition::HasAtLeast { entity, reference, .. } | Condition::HasNone { entity, reference } => {
            parts.push(format!("{entity}.{reference}"));
        }
    }
}

fn in_effect(home: &str, effect: &Effect, parts: &mut Vec<String>) {
    match effect {
        Effect::Set { field, .. } | Effect::Increment { field, .. } => parts.push(format!("{home}.{field}")),
        Effect::Create { entity, reference, values } => {
            parts.push(format!("{entity}.{reference}"));
            parts.extend(values.iter().map(|value| format!("{entity}.{}", value.field)));
        }
    }
}
