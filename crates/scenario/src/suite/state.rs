//! Records in a state in which an action can be done, or in which exactly one of its guards does not hold.

use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::plan::{EntityFacts, FieldFacts, SuitePlan, compare, id_of, whole_number};
use super::{RequestStep, values};
use crate::ir::{Action, Comparison, Condition, Effect, Kind, Operand, Param};

/// Most records of an entity that are made in one state: every unique field has room for so many values.
pub(super) const MOST_RECORDS: u32 = 10;

/// What must be there for an action, and what its body carries.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// Values of the record: (position of the field, value).
    own: Vec<(usize, Value)>,
    /// Unique fields of which every record has its own value, as the guards take them: (position, how many they take).
    loose: Vec<(usize, u32)>,
    /// Values of records that it refers to: (position of the reference, position of the field, value).
    related: Vec<(usize, usize, Value)>,
    /// Records that refer to it: (entity, reference, how many).
    children: Vec<(String, String, u32)>,
    /// Values of the parameters, in order.
    params: Vec<Value>,
}

/// Whether a comparison holds.
pub(super) fn holds(comparison: &Comparison, value: &Value) -> bool {
    match comparison {
        Comparison::IsSet => !value.is_null(),
        Comparison::IsNotSet => value.is_null(),
        Comparison::Not(other) => value.is_null() || !are_equal(value, other),
        _ if value.is_null() => false,
        Comparison::Equals(other) => are_equal(value, other),
        Comparison::OneOf(values) => values.iter().any(|other| are_equal(value, other)),
        Comparison::AtLeast(other) => compare(value, other).is_ge(),
        Comparison::AtMost(other) => compare(value, other).is_le(),
    }
}

fn are_equal(left: &Value, right: &Value) -> bool {
    left == right || (left.is_number() && right.is_number() && compare(left, right).is_eq())
}

/// Values worth trying for a kind, those on a border first.
fn candidates(kind: &Kind, part: Option<&FieldFacts<'_>>, comparisons: &[&Comparison]) -> Vec<Value> {
    let mut all = Vec::new();
    for comparison in comparisons {
        match comparison {
            Comparison::Equals(value) | Comparison::Not(value) => all.push(value.clone()),
            Comparison::OneOf(values) => all.extend(values.iter().cloned()),
            Comparison::AtLeast(value) | Comparison::AtMost(value) => {
                let step = if matches!(kind, Kind::Integer { .. }) { 1.0 } else { 0.25 };
                let number = value.as_f64().unwrap_or_default();
                all.extend([number, number - step, number + step].map(whole_number));
            }
            Comparison::IsSet | Comparison::IsNotSet => {}
        }
    }
    if let Some(part) = part {
        if !part.field.required {
            all.push(part.value_if_absent());
        }
        all.extend((1..=5).map(|n| part.value(n)));
        if part.field.nullable {
            all.push(Value::Null);
        }
    }
    match kind {
        Kind::Integer { .. } => all.extend([7, 3, 12, 2, 1, 0, -1].map(Value::from)),
        Kind::Number { .. } => all.extend([7.25, 2.5, 12.0, 1.0, 0.0].map(whole_number)),
        Kind::Enum { values } => all.extend(values.iter().map(|value| json!(value))),
        Kind::Boolean => all.extend([json!(true), json!(false)]),
        _ => {}
    }
    all.extend(values::bounds(kind).into_iter().map(|bound| bound.edge));
    all.extend((1..=5).map(|n| values::valid(kind, 0, n)));
    let nullable = part.is_some_and(|part| part.field.nullable);
    all.retain(|value| if value.is_null() { nullable } else { values::fits(kind, value) });
    all
}

/// Whether a value can be kept by a field.
pub(super) fn can_be(part: &FieldFacts<'_>, value: &Value) -> bool {
    if value.is_null() { part.field.nullable } else { values::fits(&part.field.kind, value) }
}

/// The sum of two integers.
fn integer_sum(left: &Value, right: &Value) -> Value {
    whole_number(left.as_f64().unwrap_or_default() + right.as_f64().unwrap_or_default())
}

/// A state in which the action can be done; with the key of a guard, one in which only that guard does not hold.
/// Nothing if there is no such state.
pub(super) fn ready_state<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    action: &Action,
    broken: Option<&str>,
) -> Option<State> {
    let mut state = State::default();
    let wanted = |key: &str| Some(key) != broken;

    for condition in action.guards.iter().map(|guard| (wanted(&guard.key), &guard.condition)) {
        let (
            hold,
            Condition::HasAtLeast { entity, reference, .. } | Condition::HasNone { entity, reference },
        ) = condition
        else {
            continue;
        };
        let count = match condition.1 {
            Condition::HasAtLeast { count, .. } if hold => *count,
            Condition::HasAtLeast { count, .. } => count.saturating_sub(1),
            _ => u32::from(!hold),
        };
        match state.children.iter_mut().find(|child| child.0 == *entity && child.1 == *reference) {
            // The border of a condition that is broken on purpose counts, else the greater one.
            Some(child) if hold => child.2 = child.2.max(count),
            Some(child) => child.2 = count,
            None => state.children.push((entity.clone(), reference.clone(), count)),
        }
    }
    for guard in &action.guards {
        let count = |entity: &str, reference: &str| {
            state
                .children
                .iter()
                .find(|child| child.0 == entity && child.1 == reference)
                .map_or(0, |child| child.2)
        };
        let holds = match &guard.condition {
            Condition::HasAtLeast { entity, reference, count: least } => count(entity, reference) >= *least,
            Condition::HasNone { entity, reference } => count(entity, reference) == 0,
            _ => continue,
        };
        if holds != wanted(&guard.key) {
            return None;
        }
    }

    // Records that a reference names: one by one, all conditions on the same field together.
    for guard in &action.guards {
        let Condition::Related { reference, field, .. } = &guard.condition else { continue };
        let index = facts.parts.iter().position(|part| part.field.key == *reference)?;
        let target = plan.target(facts.parts.get(index)?)?;
        let part_index = target.parts.iter().position(|part| part.field.key == *field)?;
        if state.related.iter().any(|known| known.0 == index && known.1 == part_index) {
            continue;
        }
        let part = target.parts.get(part_index)?;
        let conditions: Vec<(bool, &Comparison)> = action
            .guards
            .iter()
            .filter_map(|other| match &other.condition {
                Condition::Related { reference: other_reference, field: other_field, is: comparison }
                    if other_reference == reference && other_field == field =>
                {
                    Some((wanted(&other.key), comparison))
                }
                _ => None,
            })
            .collect();
        let comparisons: Vec<&Comparison> = conditions.iter().map(|condition| condition.1).collect();
        let value = candidates(&part.field.kind, Some(part), &comparisons)
            .into_iter()
            .filter(|value| broken.is_none() || !value.is_null() || comparisons.contains(&&Comparison::IsSet))
            .find(|value| conditions.iter().all(|(hold, comparison)| holds(comparison, value) == *hold))?;
        state.related.push((index, part_index, value));
    }

    state.params = action.params.iter().map(|_| Value::Null).collect();
    for (index, param) in action.params.iter().enumerate() {
        state.params[index] = param_values(plan, facts, action, param).into_iter().next()?;
    }

    for (index, part) in facts.parts.iter().enumerate().filter(|(_, part)| part.field.is_writable()) {
        let conditions: Vec<(bool, &Comparison)> = action
            .guards
            .iter()
            .filter_map(|guard| match &guard.condition {
                Condition::Field { field, is: comparison } if *field == part.field.key => {
                    Some((wanted(&guard.key), comparison))
                }
                _ => None,
            })
            .collect();
        let touched = action.effects.iter().any(|effect| match effect {
            Effect::Set { field, .. } | Effect::Increment { field, .. } => *field == part.field.key,
            Effect::Create { values, .. } => {
                values.iter().any(|value| value.from == Operand::Own(part.field.key.clone()))
            }
        });
        if conditions.is_empty() && !touched || part.refers() {
            continue;
        }
        let comparisons: Vec<&Comparison> = conditions.iter().map(|condition| condition.1).collect();
        let all: Vec<Value> = candidates(&part.field.kind, Some(part), &comparisons)
            .into_iter()
            .filter(|value| conditions.iter().all(|(hold, comparison)| holds(comparison, value) == *hold))
            .filter(|value| keeps_rules(plan, action, &state, part, value))
            .collect();
        // Nulls have cases of their own; and what an effect sets should be seen to change.
        let visible = |value: &&Value| {
            action.effects.iter().all(|effect| match effect {
                Effect::Set { field, to: operand_value } if *field == part.field.key => {
                    operand(action, &state, operand_value).is_none_or(|operand_value| operand_value != *value)
                }
                _ => true,
            })
        };
        let value = all
            .iter()
            .filter(|value| !value.is_null())
            .find(visible)
            .or_else(|| all.iter().find(visible))
            .or_else(|| all.first())?;
        state.own.push((index, value.clone()));
        let keeps = |n| {
            let value = part.value(n);
            conditions.iter().all(|(hold, comparison)| holds(comparison, &value) == *hold)
                && keeps_rules(plan, action, &state, part, &value)
                && state.own.last().is_none_or(|(_, first)| *first != value)
        };
        if part.field.unique {
            let more = (2..=MOST_RECORDS).take_while(|&n| keeps(n)).count() as u32;
            state.loose.push((index, 1 + more));
        }
    }
    Some(state)
}

/// Whether an action's effects on a field with this value, or with it, break no rule.
fn keeps_rules(
    plan: &SuitePlan<'_>,
    action: &Action,
    state: &State,
    part: &FieldFacts<'_>,
    value: &Value,
) -> bool {
    action.effects.iter().all(|effect| match effect {
        Effect::Increment { field, by: amount } if *field == part.field.key => operand(action, state, amount)
            .is_some_and(|amount| values::fits(&part.field.kind, &integer_sum(value, amount))),
        Effect::Set { .. } | Effect::Increment { .. } => true,
        Effect::Create { entity, values, .. } => values
            .iter()
            .filter(|created| created.from == Operand::Own(part.field.key.clone()))
            .all(|created| {
                plan.entity(entity)
                    .and_then(|other| other.part(&created.field))
                    .is_some_and(|field| can_be(field, value))
            }),
    })
}

/// What an operand stands for; nothing for a field of the record.
fn operand<'v>(action: &Action, state: &'v State, operand: &'v Operand) -> Option<&'v Value> {
    match operand {
        Operand::Value(value) => Some(value),
        Operand::Param(key) => {
            action.params.iter().position(|param| param.key == *key).and_then(|index| state.params.get(index))
        }
        Operand::Own(_) => None,
    }
}

/// Values of a parameter with which no effect breaks a rule.
pub(super) fn param_values<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    action: &Action,
    param: &Param,
) -> Vec<Value> {
    let mut all = candidates(&param.kind, None, &[]);
    all.retain(|value| {
        action.effects.iter().all(|effect| match effect {
            Effect::Set { field, to: Operand::Param(key) } if *key == param.key => {
                facts.part(field).is_some_and(|part| can_be(part, value))
            }
            Effect::Increment { field, by: Operand::Param(key) } if *key == param.key => {
                facts.part(field).is_some_and(|part| {
                    candidates(&part.field.kind, Some(part), &[])
                        .iter()
                        .any(|before| values::fits(&part.field.kind, &integer_sum(before, value)))
                })
            }
            Effect::Create { entity, values, .. } => values
                .iter()
                .filter(|created| created.from == Operand::Param(param.key.clone()))
                .all(|created| {
                    plan.entity(entity)
                        .and_then(|other| other.part(&created.field))
                        .is_some_and(|field| can_be(field, value))
                }),
            _ => true,
        })
    });
    all
}

impl State {
    /// The same with another value of a field of the record.
    pub(super) fn with_value(&self, index: usize, value: Value) -> Self {
        let mut state = self.clone();
        state.own.retain(|own| own.0 != index);
        state.loose.retain(|loose| loose.0 != index);
        state.own.push((index, value));
        state
    }

    /// How many records can be made so, [`MOST_RECORDS`] at most; the field at a position is given again for each.
    pub(super) fn room(&self, plan: &SuitePlan<'_>, facts: &EntityFacts<'_>, exempt: Option<usize>) -> u32 {
        // Each record refers to one of its own, all of them with the same values.
        let related = self.related.iter().all(|(i, part_index, value)| {
            let target = facts.parts.get(*i).and_then(|part| plan.target(part));
            let part = target.and_then(|target| target.parts.get(*part_index));
            value.is_null() || part.is_none_or(|part| !part.field.unique)
        });
        if !related {
            return 1;
        }
        let unique = |i: usize| facts.parts.get(i).is_some_and(|part| part.field.unique);
        let own = self.own.iter().filter(|(i, value)| !value.is_null() && Some(*i) != exempt && unique(*i));
        own.map(|(i, _)| self.loose.iter().find(|loose| loose.0 == *i).map_or(1, |loose| loose.1))
            .min()
            .unwrap_or(MOST_RECORDS)
    }

    /// Whether more than one record can be made so; the field at a position is given again for each.
    pub(super) fn repeatable(
        &self,
        plan: &SuitePlan<'_>,
        facts: &EntityFacts<'_>,
        exempt: Option<usize>,
    ) -> bool {
        self.room(plan, facts, exempt) > 1
    }

    /// The value of its own that the `n`th record has of a field, whose value is this in the first one.
    fn field_value_of(&self, index: usize, part: &FieldFacts<'_>, value: &Value, n: u32) -> Value {
        let loose = n > 1 && !value.is_null() && self.loose.iter().any(|loose| loose.0 == index);
        if loose { part.value(n) } else { value.clone() }
    }

    /// The same with another value of a field of a record that it refers to.
    pub(super) fn with_related(&self, index: usize, part_index: usize, value: Value) -> Self {
        let mut state = self.clone();
        state.related.retain(|related| (related.0, related.1) != (index, part_index));
        state.related.push((index, part_index, value));
        state
    }

    /// The same with another value of a parameter.
    pub(super) fn with_param(&self, index: usize, value: Value) -> Self {
        let mut state = self.clone();
        if let Some(param) = state.params.get_mut(index) {
            *param = value;
        }
        state
    }

    /// Makes the `n`th record in this state. Records that it refers to by a guarded reference are made from the second
    /// on, so that no other record refers to them.
    pub(super) fn make<'a>(&self, draft: &mut Draft<'_, 'a>, facts: &EntityFacts<'a>, n: u32) {
        let plan = draft.plan;
        let mut given_values = Map::new();
        for (index, value) in &self.own {
            if let Some(part) = facts.parts.get(*index) {
                given_values.insert(part.json.clone(), self.field_value_of(*index, part, value, n));
            }
        }
        for (index, part) in facts.parts.iter().enumerate() {
            if self.related.iter().all(|related| related.0 != index) {
                continue;
            }
            let Some(target) = plan.target(part) else { continue };
            let mut values = Map::new();
            for (_, part_index, value) in self.related.iter().filter(|related| related.0 == index) {
                if let Some(part) = target.parts.get(*part_index) {
                    values.insert(part.json.clone(), value.clone());
                }
            }
            if !values.is_empty() {
                let number = draft.next(target.key).max(2);
                draft.make_with(target, number, values);
                given_values.entry(part.json.clone()).or_insert_with(|| id_of(target.key, number));
            }
        }
        draft.make_with(facts, n, given_values);
        for (entity, reference, count) in &self.children {
            let Some(child) = plan.entity(entity) else { continue };
            let Some(part) = child.part(reference) else { continue };
            for _ in 0..*count {
                let number = draft.next(child.key);
                draft.make_one(child, number, part, facts.id(n));
            }
        }
    }

    /// The value that a field of the `n`th record has before the action.
    pub(super) fn value_before<'a>(&self, facts: &EntityFacts<'a>, part: &FieldFacts<'a>, n: u32) -> Value {
        let own = self.own.iter().find(|(i, _)| facts.parts.get(*i).is_some_and(|own| own.json == part.json));
        match own {
            Some((index, value)) => self.field_value_of(*index, part, value, n),
            None if self.related_number(facts, part, n).is_some() => self
                .related_number(facts, part, n)
                .zip(part.field.target())
                .map_or(Value::Null, |(number, target)| id_of(target, number)),
            None if part.field.required => part.value_in_record(n),
            None => part.value_if_absent(),
        }
    }

    /// The number of the record that the `n`th record refers to by a guarded reference, as [`Self::make`] makes them.
    fn related_number(&self, facts: &EntityFacts<'_>, part: &FieldFacts<'_>, n: u32) -> Option<u32> {
        let mut same: Vec<usize> = self.related.iter().map(|related| related.0).collect();
        same.sort_unstable();
        same.dedup();
        same.retain(|index| {
            facts.parts.get(*index).is_some_and(|other| other.field.target() == part.field.target())
        });
        let own = |index: &usize| facts.parts.get(*index).is_some_and(|other| other.json == part.json);
        let place = same.iter().position(own)?;
        Some(2 + (n - 1) * same.len() as u32 + place as u32)
    }

    /// The value that an effect's operand stands for.
    pub(super) fn operand(
        &self,
        facts: &EntityFacts<'_>,
        action: &Action,
        from: &Operand,
        n: u32,
    ) -> Option<Value> {
        match from {
            Operand::Own(key) => facts.part(key).map(|part| self.value_before(facts, part, n)),
            other => operand(action, self, other).cloned(),
        }
    }

    /// The value that an effect on a field leaves.
    pub(super) fn value_after<'a>(
        &self,
        facts: &EntityFacts<'a>,
        action: &Action,
        part: &FieldFacts<'a>,
        n: u32,
    ) -> Option<Value> {
        action.effects.iter().find_map(|effect| match effect {
            Effect::Set { field, to } if *field == part.field.key => self.operand(facts, action, to, n),
            Effect::Increment { field, by } if *field == part.field.key => {
                Some(integer_sum(&self.value_before(facts, part, n), &self.operand(facts, action, by, n)?))
            }
            _ => None,
        })
    }

    /// The request of the action on the `n`th record.
    pub(super) fn request<'a>(
        &self,
        plan: &SuitePlan<'a>,
        facts: &EntityFacts<'a>,
        action: &Action,
        n: u32,
    ) -> RequestStep {
        let path = format!("{}/{}", facts.record_path(n), plan.schema.path_name(&action.name));
        RequestStep::post(path, self.body(plan, action))
    }

    /// The body of the action; none without parameters.
    pub(super) fn body(&self, plan: &SuitePlan<'_>, action: &Action) -> Option<Value> {
        if action.params.is_empty() {
            return None;
        }
        let body = action
            .params
            .iter()
            .zip(&self.params)
            .map(|(param, value)| (plan.schema.json_name(&param.name), value.clone()));
        Some(Value::Object(body.collect()))
    }
}

/// Different values worth trying for a field, those on a border of the comparisons first.
pub(super) fn values_to_try(part: &FieldFacts<'_>, comparisons: &[&Comparison]) -> Vec<Value> {
    let mut tried: Vec<Value> = Vec::new();
    for value in candidates(&part.field.kind, Some(part), comparisons) {
        if !tried.contains(&value) {
            tried.push(value);
        }
    }
    tried
}
