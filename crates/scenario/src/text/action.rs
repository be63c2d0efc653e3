//! Actions: their routes and parameters, conditions and effects.

use super::english::{Names, all_of, one_of, value, with_article};
use super::pieces::{Part, Pieces};
use super::types;
use crate::ir::{Action, Comparison, Condition, Effect, Entity, Kind, Operand, Schema, words};

pub(super) fn pieces(schema: &Schema, entity: &Entity, action: &Action, index: usize, out: &mut Pieces) {
    let names = Names::new(schema);
    let id = format!("{}.{}", entity.key, action.key);
    out.put(Part::Action(index), id.clone(), route(names, entity, action));
    let verb = names.verb(&entity.key, &action.key);
    for guard in &action.guards {
        let holds = condition(names, entity, &guard.condition);
        let text = format!("{verb} requires that {holds}; otherwise it is *refused*.");
        out.put(Part::Rule(index), format!("{id}.guard.{}", guard.key), text);
    }
    for effect in &action.effects {
        let id = match effect {
            Effect::Set { field, .. } | Effect::Increment { field, .. } => format!("{id}.effect.{field}"),
            Effect::Create { entity: other, .. } => format!("{id}.effect.create_{other}"),
        };
        let text = format!("{verb} {}.", self::effect(names, entity, action, effect));
        out.put(Part::Rule(index), id, text);
    }
}

/// Route and parameters.
fn route(names: Names<'_>, entity: &Entity, action: &Action) -> String {
    let params: Vec<String> = action
        .params
        .iter()
        .map(|param| format!("{} ({})", names.json(&param.name), types::kind(names, &param.kind)))
        .collect();
    let parameters = match params.as_slice() {
        [] => "no parameters".to_owned(),
        [one] => format!("the parameter {one}"),
        many => format!("the parameters {}", all_of(many)),
    };
    format!("`POST {}` takes {parameters}.", names.action_path(entity, action))
}

/// What must hold, as the rest of a sentence: `` `status` is `open` or `in_work` ``.
pub(super) fn condition(names: Names<'_>, entity: &Entity, condition: &Condition) -> String {
    match condition {
        Condition::Field { field, is: test } => {
            format!(
                "{} {}",
                names.field(&entity.key, field),
                comparison(names.kind(&entity.key, field), test)
            )
        }
        Condition::Related { reference, field, is: test } => {
            let reference_field = names.find(&entity.key, reference);
            let target =
                reference_field.and_then(|reference_field| reference_field.target()).unwrap_or_default();
            let (link, field_name) = (names.field(&entity.key, reference), names.field(target, field));
            let (singular, test) = (names.singular(target), comparison(names.kind(target, field), test));
            if reference_field.is_some_and(|reference_field| reference_field.nullable) {
                format!("{link} is not null and {field_name} of the referenced {singular} {test}")
            } else {
                format!("{field_name} of the referenced {singular} ({link}) {test}")
            }
        }
        Condition::HasAtLeast { entity: other, reference, count } => {
            let (noun, verb) =
                if *count == 1 { (names.singular(other), "refers") } else { (names.plural(other), "refer") };
            format!(
                "at least `{count}` {noun} {verb} to the {} through {}",
                words(&entity.name),
                names.field(other, reference)
            )
        }
        Condition::HasNone { entity: other, reference } => format!(
            "no {} refers to the {} through {}",
            names.singular(other),
            words(&entity.name),
            names.field(other, reference)
        ),
    }
}

fn comparison(kind: Option<&Kind>, condition: &Comparison) -> String {
    match condition {
        Comparison::Equals(target) => format!("is {}", value(kind, target)),
        Comparison::Not(target) => format!("is not {}", value(kind, target)),
        Comparison::OneOf(values) => {
            let values: Vec<String> = values.iter().map(|target| value(kind, target)).collect();
            format!("is {}", one_of(&values))
        }
        Comparison::AtLeast(target) => format!("is at least {}", value(kind, target)),
        Comparison::AtMost(target) => format!("is at most {}", value(kind, target)),
        Comparison::IsSet => "is not null".to_owned(),
        Comparison::IsNotSet => "is null".to_owned(),
    }
}

/// What an effect does, as the rest of a sentence: `` sets `status` to `done` ``.
pub(super) fn effect(names: Names<'_>, entity: &Entity, action: &Action, effect: &Effect) -> String {
    match effect {
        Effect::Set { field, to } => format!(
            "sets {} to {}",
            names.field(&entity.key, field),
            operand(names, entity, action, names.kind(&entity.key, field), to)
        ),
        Effect::Increment { field, by: amount } => {
            let name = names.field(&entity.key, field);
            match amount {
                Operand::Value(amount) if amount.as_i64().is_some_and(|amount| amount < 0) => {
                    format!("decreases {name} by `{}`", amount.as_i64().map_or(0, i64::unsigned_abs))
                }
                amount => format!("increases {name} by {}", operand(names, entity, action, None, amount)),
            }
        }
        Effect::Create { entity: other, reference, values } => {
            let singular = words(&entity.name);
            let mut parts = Vec::with_capacity(values.len() + 1);
            parts.push(format!("{} = the {singular}'s `id`", names.field(other, reference)));
            for created in values {
                let kind = names.kind(other, &created.field);
                parts.push(format!(
                    "{} = {}",
                    names.field(other, &created.field),
                    operand(names, entity, action, kind, &created.from)
                ));
            }
            let mut out = format!("creates {} with {}", with_article(&names.singular(other)), all_of(&parts));
            out.push_str("; all its other fields get their defaults, or null if they have none");
            out
        }
    }
}

fn operand(
    names: Names<'_>,
    entity: &Entity,
    action: &Action,
    kind: Option<&Kind>,
    from: &Operand,
) -> String {
    match from {
        Operand::Value(to) => value(kind, to),
        Operand::Param(key) => {
            let name = action.params.iter().find(|param| param.key == *key).map_or(key, |param| &param.name);
            format!("the value of the parameter {}", names.json(name))
        }
        Operand::Own(key) => {
            format!(
                "the value that {} of the {} had before the action",
                names.field(&entity.key, key),
                words(&entity.name)
            )
        }
    }
}
