//! What needs a part of a schema: actions, computed fields and analytics that would break without it.
//!
//! Filters and sorts are not listed: they go with their field.

use std::fmt;

use serde_json::Value;

use crate::ir::{Analytic, Comparison, Computed, Condition, Effect, Entity, Field, Guard, Operand, Schema};

/// Something that needs a part of the schema.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Use<'a> {
    /// A computed field.
    Computed(&'a Entity, &'a Field),
    /// A guard of an action (keys of entity, action, guard).
    Guard(&'a str, &'a str, &'a str),
    /// An effect of an action (keys of entity and action, position).
    Effect(&'a str, &'a str, usize),
    /// An analytic.
    Analytic(&'a Analytic),
    /// The default of the field itself.
    Default,
    /// The default order of the entity's lists.
    DefaultSort,
}

impl fmt::Display for Use<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Computed(entity, field) => write!(f, "the computed field `{}.{}`", entity.key, field.key),
            Self::Guard(entity, action, guard) => {
                write!(f, "the guard `{guard}` of the action `{entity}.{action}`")
            }
            Self::Effect(entity, action, _) => write!(f, "an effect of the action `{entity}.{action}`"),
            Self::Analytic(analytic) => write!(f, "the analytic `{}`", analytic.key),
            Self::Default => f.write_str("its default"),
            Self::DefaultSort => f.write_str("the default order of its lists"),
        }
    }
}

/// Everything that needs a field, reference fields included.
pub fn field_uses<'a>(schema: &'a Schema, entity: &str, field: &str) -> Vec<Use<'a>> {
    let mut uses = Vec::new();
    for other in &schema.entities {
        for computed in &other.fields {
            if computed
                .computed
                .as_ref()
                .is_some_and(|computation| computes_with(other, computation, entity, field))
            {
                uses.push(Use::Computed(other, computed));
            }
        }
        for action in &other.actions {
            for guard in &action.guards {
                if condition_needs(other, guard, entity, field) {
                    uses.push(Use::Guard(&other.key, &action.key, &guard.key));
                }
            }
            for (index, effect) in action.effects.iter().enumerate() {
                if effect_needs(other, effect, entity, field) {
                    uses.push(Use::Effect(&other.key, &action.key, index));
                }
            }
        }
        if other.key == entity && other.default_sort.as_ref().is_some_and(|sort| sort.field == field) {
            uses.push(Use::DefaultSort);
        }
    }
    uses.extend(
        schema
            .analytics
            .iter()
            .filter(|analytic| analytic_needs(schema, analytic, entity, field))
            .map(Use::Analytic),
    );
    uses
}

/// Whether anything needs a field.
pub fn is_field_used(schema: &Schema, entity: &str, field: &str) -> bool {
    !field_uses(schema, entity, field).is_empty()
}

/// Everything that needs a value of an enum: its default, guards, effects and analytics.
pub fn enum_value_uses<'a>(schema: &'a Schema, entity: &str, field: &str, value: &str) -> Vec<Use<'a>> {
    let is_value = |given: &Value| given.as_str() == Some(value);
    let mut uses = Vec::new();
    let home = schema.entity(entity);
    if home.and_then(|home| home.field(field)).and_then(|field| field.default.as_ref()).is_some_and(is_value)
    {
        uses.push(Use::Default);
    }
    for needed in field_uses(schema, entity, field) {
        let needs = match needed {
            // What is copied from a field must fit where it goes, whichever value it is: the check sees to that.
            Use::Computed(..) | Use::Default | Use::DefaultSort => false,
            Use::Guard(entity, action, guard) => schema
                .entity(entity)
                .and_then(|entity| entity.action(action))
                .and_then(|action| action.guards.iter().find(|candidate| candidate.key == guard))
                .is_some_and(|guard| match &guard.condition {
                    Condition::Field { is: comparison, .. } | Condition::Related { is: comparison, .. } => {
                        match comparison {
                            Comparison::Equals(value) | Comparison::Not(value) => is_value(value),
                            Comparison::OneOf(values) => values.iter().any(is_value),
                            _ => false,
                        }
                    }
                    _ => false,
                }),
            Use::Effect(owner, action, index) => schema
                .entity(owner)
                .and_then(|owner| owner.action(action))
                .and_then(|action| action.effects.get(index))
                .is_some_and(|effect| match effect {
                    Effect::Set { to: Operand::Value(value), .. } => is_value(value),
                    Effect::Create { entity: created, values, .. } if created == entity => {
                        values.iter().any(|assigned| {
                            assigned.field == field
                                && matches!(&assigned.from, Operand::Value(value) if is_value(value))
                        })
                    }
                    _ => false,
                }),
            Use::Analytic(analytic) => analytic.only.as_ref().is_some_and(|only| {
                only.field == field
                    && only_entity(schema, analytic).is_some_and(|restricted| restricted.key == entity)
                    && is_value(&only.equals)
            }),
        };
        if needs {
            uses.push(needed);
        }
    }
    uses
}

/// The entity whose field an analytic's restriction looks at.
pub fn only_entity<'a>(schema: &'a Schema, analytic: &Analytic) -> Option<&'a Entity> {
    let entity = schema.entity(&analytic.entity)?;
    match &analytic.only.as_ref()?.through {
        None => Some(entity),
        Some(reference) => schema.entity(entity.field(reference)?.target()?),
    }
}

/// Whether a field of `home` is computed with `entity.field`.
pub(crate) fn computes_with(home: &Entity, computed: &Computed, entity: &str, field: &str) -> bool {
    match computed {
        Computed::Joined { first: left, second: right, .. }
        | Computed::Product { left, right }
        | Computed::Sum { left, right } => home.key == entity && (left == field || right == field),
        Computed::AtLeast { field: operand, .. } => home.key == entity && operand == field,
        Computed::CountOf { entity: from, reference } => from == entity && reference == field,
        Computed::TotalOf { entity: from, reference, field: summed } => {
            from == entity && (reference == field || summed == field)
        }
    }
}

/// Whether a guard of an action of `home` looks at `entity.field`.
pub(crate) fn condition_needs(home: &Entity, guard: &Guard, entity: &str, field: &str) -> bool {
    match &guard.condition {
        Condition::Field { field: compared, .. } => home.key == entity && compared == field,
        Condition::Related { reference, field: compared, .. } => {
            (home.key == entity && reference == field)
                || (compared == field && home.field(reference).and_then(Field::target) == Some(entity))
        }
        Condition::HasAtLeast { entity: from, reference, .. }
        | Condition::HasNone { entity: from, reference } => from == entity && reference == field,
    }
}

/// Whether an effect of an action of `home` reads or writes `entity.field`.
pub(crate) fn effect_needs(home: &Entity, effect: &Effect, entity: &str, field: &str) -> bool {
    match effect {
        Effect::Set { field: changed, .. } | Effect::Increment { field: changed, .. } => {
            home.key == entity && changed == field
        }
        Effect::Create { entity: created, reference, values } => {
            values.iter().any(|value| {
                (created == entity && value.field == field)
                    || (home.key == entity && matches!(&value.from, Operand::Own(key) if key == field))
            }) || (created == entity && reference == field)
        }
    }
}

/// Whether an analytic looks at `entity.field`.
pub(crate) fn analytic_needs(schema: &Schema, analytic: &Analytic, entity: &str, field: &str) -> bool {
    let is_field = |key: &Option<String>| key.as_deref() == Some(field);
    let own = analytic.entity == entity
        && (analytic.measure.field() == Some(field)
            || is_field(&analytic.group_by)
            || is_field(&analytic.by)
            || analytic.only.as_ref().is_some_and(|only| is_field(&only.through)));
    own || analytic.only.as_ref().is_some_and(|only| {
        only.field == field
            && only_entity(schema, analytic).is_some_and(|restricted| restricted.key == entity)
    })
}
