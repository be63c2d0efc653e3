//! New actions, from the verbs of an entity's fields and from what refers to it; their effects.

use serde_json::json;

use super::fields::value;
use super::guards;
use super::names::{is_free_in, joined, value_word, word};
use crate::draw::Draw;
use crate::ir::{Action, CreatedValue, Effect, Entity, Field, Guard, Kind, Operand, Param, Schema, is_name};
use crate::vocabulary::{FieldWord, ValueDomain};

/// What an action may be called, and what it does by that name.
#[derive(Debug, Clone)]
pub(super) struct ActionCandidate {
    pub name: String,
    pub effect: Effect,
    pub param: Option<Param>,
}

/// What comes before the name of an entity whose records an action creates.
const CREATING_VERBS: [&str; 7] = ["add", "open", "log", "request", "issue", "register", "file"];

/// A new action of an entity (which may not be in the schema yet); nothing if no verb is left.
pub(super) fn action(draw: &mut Draw, schema: &Schema, entity: &Entity) -> Option<Action> {
    let mut candidates = field_candidates(draw, schema, entity, None);
    // Creating is rarer than setting.
    if candidates.is_empty() || draw.chance(25) {
        let creating = creating_candidates(draw, schema, entity);
        if !creating.is_empty() {
            candidates = creating;
        }
    }
    let candidate = draw.pick(&candidates)?.clone();
    let mut action = Action {
        key: candidate.name.clone(),
        name: candidate.name,
        params: candidate.param.into_iter().collect(),
        guards: Vec::new(),
        effects: vec![candidate.effect],
        introduced_in: schema.turn,
    };
    if draw.chance(60) {
        action.guards.extend(own_guard(draw, schema, entity, &action));
    }
    if draw.chance(35)
        && let Some(condition) = guards::condition(draw, schema, entity, &action)
    {
        action.guards.extend(guards::named_guard(schema, entity, &action, condition));
    }
    if draw.chance(30)
        && let Some((effect, param)) = effect(draw, schema, entity, &action)
    {
        action.effects.push(effect);
        action.params.extend(param);
    }
    Some(action)
}

/// A guard on the field that the action sets: it is not what it will be.
fn own_guard(draw: &mut Draw, schema: &Schema, entity: &Entity, action: &Action) -> Option<Guard> {
    let Effect::Set { field, to: Operand::Value(value) } = action.effects.first()? else { return None };
    let condition = guards::condition_before(draw, entity.field(field)?, value)?;
    guards::named_guard(schema, entity, action, condition)
}

/// One more effect for an action, with its parameter.
pub(super) fn effect(
    draw: &mut Draw,
    schema: &Schema,
    entity: &Entity,
    action: &Action,
) -> Option<(Effect, Option<Param>)> {
    let mut candidates = field_candidates(draw, schema, entity, Some(action));
    if candidates.is_empty() || draw.chance(25) {
        candidates.extend(creating_candidates(draw, schema, entity));
    }
    candidates.retain(|candidate| {
        let is_new_site = action.effects.iter().all(|known| !same_site(known, &candidate.effect));
        let is_new_param = candidate.param.as_ref().is_none_or(|param| {
            action.params.iter().all(|known| known.key != param.key && known.name != param.name)
        });
        is_new_site && is_new_param && shows(action, &candidate.effect)
    });
    let candidate = draw.pick(&candidates)?.clone();
    Some((candidate.effect, candidate.param))
}

fn same_site(left: &Effect, right: &Effect) -> bool {
    match (site(left), site(right)) {
        ((Some(left), _), (Some(right), _)) | ((_, Some(left)), (_, Some(right))) => left == right,
        _ => false,
    }
}

/// (the field that is written, the entity of which records are created).
fn site(effect: &Effect) -> (Option<&str>, Option<&str>) {
    match effect {
        Effect::Set { field, .. } | Effect::Increment { field, .. } => (Some(field), None),
        Effect::Create { entity, .. } => (None, Some(entity)),
    }
}

/// Whether an effect can be seen: no guard demands what it sets.
fn shows(action: &Action, effect: &Effect) -> bool {
    match effect {
        Effect::Set { field, to: Operand::Value(value) } => {
            action.guards.iter().all(|guard| !guards::demands(&guard.condition, field, value))
        }
        _ => true,
    }
}

/// Whether an action may write a field.
fn can_set(field: &Field) -> bool {
    !field.unique && !field.immutable && field.is_writable() && field.target().is_none()
}

/// What an entity's fields suggest. For an action that is there already, names do not matter.
fn field_candidates(
    draw: &mut Draw,
    schema: &Schema,
    entity: &Entity,
    further: Option<&Action>,
) -> Vec<ActionCandidate> {
    let mut candidates = Vec::new();
    for field in entity.fields.iter().filter(|field| can_set(field)) {
        let Some(word) = word(schema, field) else {
            // Not of the vocabulary: names are made of the field's own.
            candidates.extend(plain_candidates(draw, field));
            continue;
        };
        for (name, effect, param) in word_ideas(draw, word, field) {
            candidates.push(ActionCandidate { name, effect, param });
        }
    }
    candidates.retain(|candidate| further.is_some() || is_free_in(schema, entity, &candidate.name));
    candidates
}

fn set(field: &Field, value: serde_json::Value) -> Effect {
    Effect::Set { field: field.key.clone(), to: Operand::Value(value) }
}

fn word_ideas(
    draw: &mut Draw,
    word: &'static FieldWord,
    field: &Field,
) -> Vec<(String, Effect, Option<Param>)> {
    let mut out = Vec::new();
    match (&word.domain, &field.kind) {
        (ValueDomain::Enum { .. }, Kind::Enum { values }) => {
            for value in values {
                let verbs = value_word(word, value).map(|value| value.verbs.as_slice()).unwrap_or_default();
                out.extend(verbs.iter().map(|verb| ((*verb).to_owned(), set(field, json!(value)), None)));
            }
        }
        (ValueDomain::Boolean(_), Kind::Boolean) => {
            let doing = word.verbs.iter().map(|verb| (verb, true));
            for (verb, value) in doing.chain(word.undoing.iter().map(|verb| (verb, false))) {
                out.push(((*verb).to_owned(), set(field, json!(value)), None));
            }
        }
        (_, Kind::Integer { .. }) if !field.nullable => {
            for verb in &word.verbs {
                let (amount_operand, param) = amount(draw, field);
                out.push((
                    (*verb).to_owned(),
                    Effect::Increment { field: field.key.clone(), by: amount_operand },
                    param,
                ));
            }
        }
        (_, Kind::Number { .. } | Kind::String { .. }) => {
            for verb in &word.verbs {
                let param = new_value(field);
                let effect = Effect::Set { field: field.key.clone(), to: Operand::Param(param.key.clone()) };
                out.push(((*verb).to_owned(), effect, Some(param)));
            }
        }
        _ => {}
    }
    out
}

/// What an action on a field that no word is known for may be called.
fn plain_candidates(draw: &mut Draw, field: &Field) -> Vec<ActionCandidate> {
    let candidate = |name: String, effect, param| ActionCandidate { name, effect, param };
    match &field.kind {
        Kind::Enum { values } => values
            .iter()
            .map(|value| candidate(format!("mark_{value}"), set(field, json!(value)), None))
            .collect(),
        Kind::Boolean => vec![
            candidate(format!("confirm_{}", field.key), set(field, json!(true)), None),
            candidate(format!("clear_{}", field.key), set(field, json!(false)), None),
        ],
        Kind::Integer { .. } if !field.nullable => {
            let (amount_operand, param) = amount(draw, field);
            vec![candidate(
                format!("increase_{}", field.key),
                Effect::Increment { field: field.key.clone(), by: amount_operand },
                param,
            )]
        }
        Kind::Number { .. } => {
            let param = new_value(field);
            let effect = Effect::Set { field: field.key.clone(), to: Operand::Param(param.key.clone()) };
            vec![candidate(format!("adjust_{}", field.key), effect, Some(param))]
        }
        _ => Vec::new(),
    }
}

/// How much an integer is increased by: a step, or a parameter.
pub(super) fn amount(draw: &mut Draw, field: &Field) -> (Operand, Option<Param>) {
    if draw.chance(60) {
        return (Operand::Value(json!(step(draw, field))), None);
    }
    let name = format!("extra_{}", field.key);
    let kind = Kind::Integer { min: Some(1), max: Some(if room(field) < 50 { 5 } else { 50 }) };
    (Operand::Param(name.clone()), Some(Param { key: name.clone(), name, kind }))
}

fn room(field: &Field) -> i64 {
    match field.kind {
        Kind::Integer { min, max } => max.unwrap_or(1_000_000) - min.unwrap_or(0),
        _ => 0,
    }
}

/// A plausible step for a counter.
pub(super) fn step(draw: &mut Draw, field: &Field) -> i64 {
    let steps: &[i64] = if room(field) < 50 { &[1, 2] } else { &[1, 1, 2, 5, 10] };
    draw.pick(steps).copied().unwrap_or(1)
}

/// A parameter that carries a field's new value.
fn new_value(field: &Field) -> Param {
    let name = format!("new_{}", field.key);
    Param { key: name.clone(), name, kind: field.kind.clone() }
}

/// Actions that create a record of an entity that refers to this one.
fn creating_candidates(draw: &mut Draw, schema: &Schema, entity: &Entity) -> Vec<ActionCandidate> {
    let mut candidates = Vec::new();
    for (other, reference) in schema.references_to(&entity.key) {
        let Some((values, param)) = created_values(draw, entity, other, reference) else { continue };
        let effect = Effect::Create { entity: other.key.clone(), reference: reference.key.clone(), values };
        let free: Vec<String> = CREATING_VERBS
            .iter()
            .map(|verb| format!("{verb}_{}", other.name))
            .filter(|name| is_free_in(schema, entity, name))
            .collect();
        if let Some(name) = draw.pick(&free) {
            candidates.push(ActionCandidate { name: name.clone(), effect, param });
        }
    }
    candidates
}

/// Values for the fields of a created record: all required ones, and perhaps one more.
fn created_values(
    draw: &mut Draw,
    entity: &Entity,
    other: &Entity,
    reference: &Field,
) -> Option<(Vec<CreatedValue>, Option<Param>)> {
    let mut values = Vec::new();
    let mut param = None;
    let mut further = usize::from(draw.chance(50));
    for field in &other.fields {
        if field.key == reference.key || !field.is_writable() {
            continue;
        }
        if field.required {
            if field.unique {
                return None;
            }
        } else if field.unique || field.target().is_some() || further == 0 || !draw.chance(40) {
            continue;
        } else {
            further -= 1;
        }
        let candidates: Vec<&Field> = entity
            .fields
            .iter()
            .filter(|candidate| {
                candidate.is_writable()
                    && candidate.is_always_set()
                    && is_subset(&candidate.kind, &field.kind)
            })
            .collect();
        let source = if !candidates.is_empty() && (field.target().is_some() || draw.chance(35)) {
            Operand::Own(draw.pick(&candidates)?.key.clone())
        } else if param.is_none() && is_param(&field.kind) && draw.chance(35) {
            let name = format!("new_{}", field.key);
            param = Some(Param { key: name.clone(), name: name.clone(), kind: field.kind.clone() });
            Operand::Param(name)
        } else {
            Operand::Value(value(draw, &field.kind)?)
        };
        values.push(CreatedValue { field: field.key.clone(), from: source });
    }
    Some((values, param))
}

fn is_param(kind: &Kind) -> bool {
    matches!(kind, Kind::String { .. } | Kind::Integer { .. } | Kind::Number { .. } | Kind::Boolean)
}

/// Whether every value of one kind is a value of another.
fn is_subset(subset: &Kind, superset: &Kind) -> bool {
    fn bounds<T: PartialOrd>(subset: (Option<T>, Option<T>), superset: (Option<T>, Option<T>)) -> bool {
        let low = superset.0.is_none_or(|least| subset.0.is_some_and(|bound| bound >= least));
        let high = superset.1.is_none_or(|most| subset.1.is_some_and(|bound| bound <= most));
        low && high
    }
    match (subset, superset) {
        (
            Kind::String { min_length, max_length, pattern },
            Kind::String { min_length: least, max_length: most, pattern: form },
        ) => {
            (form.is_none() || pattern == form)
                && (pattern.is_some() && pattern == form
                    || bounds((*min_length, *max_length), (*least, *most)))
        }
        (Kind::Integer { min, max }, Kind::Integer { min: least, max: most }) => {
            bounds((*min, *max), (*least, *most))
        }
        (Kind::Number { min, max }, Kind::Number { min: least, max: most }) => {
            bounds((*min, *max), (*least, *most))
        }
        (Kind::Boolean, Kind::Boolean) | (Kind::DateTime, Kind::DateTime) => true,
        (Kind::Enum { values }, Kind::Enum { values: all }) => values.iter().all(|value| all.contains(value)),
        (
            Kind::StringList { min_items, max_items },
            Kind::StringList { min_items: least, max_items: most },
        ) => bounds((*min_items, *max_items), (*least, *most)),
        (Kind::Reference { entity, .. }, Kind::Reference { entity: other, .. }) => entity == other,
        _ => false,
    }
}

/// Another verb for an action; nothing if none is left.
pub(super) fn other_name(
    draw: &mut Draw,
    schema: &Schema,
    entity: &Entity,
    action: &Action,
) -> Option<String> {
    if action.name != action.key {
        return None;
    }
    let mut names: Vec<String> = match action.effects.first()? {
        Effect::Create { entity: other, .. } => {
            let other = schema.entity(other)?;
            CREATING_VERBS.iter().map(|verb| format!("{verb}_{}", other.name)).collect()
        }
        effect @ (Effect::Set { field, .. } | Effect::Increment { field, .. }) => {
            let field = entity.field(field)?;
            let mut names: Vec<String> = word(schema, field)
                .map(|word| word_ideas(draw, word, field))
                .unwrap_or_default()
                .into_iter()
                .filter(|(_, other, _)| match (effect, other) {
                    (
                        Effect::Set { to: Operand::Value(to), .. },
                        Effect::Set { to: Operand::Value(other), .. },
                    ) => to == other,
                    _ => true,
                })
                .map(|(name, _, _)| name)
                .collect();
            // Longer, but still what it does.
            names.push(joined(&action.key, &entity.name));
            names
        }
    };
    names.retain(|name| is_name(name) && is_free_in(schema, entity, name));
    draw.pick(&names).cloned()
}

/// Another value or amount for an effect that sets or increments.
pub(super) fn other_operand(
    draw: &mut Draw,
    entity: &Entity,
    action: &Action,
    effect: &Effect,
) -> Option<Operand> {
    match effect {
        Effect::Set { field, to: Operand::Value(effect_value) } => {
            let field = entity.field(field)?;
            let Kind::Enum { values } = &field.kind else { return None };
            // A verb that names what it did would lie: only what other values of the same field mean nearly the same.
            if action.effects.first().is_some_and(|first| first == effect) {
                return None;
            }
            let others: Vec<&String> = values
                .iter()
                .filter(|value| effect_value.as_str() != Some(value.as_str()))
                .filter(|value| {
                    action
                        .guards
                        .iter()
                        .all(|guard| !guards::demands(&guard.condition, &field.key, &json!(value)))
                })
                .collect();
            draw.pick(&others).map(|value| Operand::Value(json!(value)))
        }
        Effect::Increment { field, by: Operand::Value(increment) } => {
            let field = entity.field(field)?;
            let step = step(draw, field);
            let step = if increment.as_i64() == Some(step) { step + 1 } else { step };
            Some(Operand::Value(json!(step)))
        }
        Effect::Increment { field, by: Operand::Param(_) } => {
            let field = entity.field(field)?;
            Some(Operand::Value(json!(step(draw, field))))
        }
        _ => None,
    }
}
