//! Guards of actions: refused where one does not hold, done where all just hold.

use serde_json::Value;

use super::actions::ActionCases;
use super::draft::Draft;
use super::failure::Failure;
use super::plan::{EntityFacts, FieldFacts};
use super::state::{self, State};
use super::{Aspect, Case};
use crate::ir::{Comparison, Condition, Effect, Guard, Operand};

impl<'a> ActionCases<'_, 'a> {
    pub(super) fn guard(&self, guard: &Guard, ready: Option<&State>, cases: &mut Vec<Case>) {
        let facts = self.facts;
        let key = &guard.key;
        let clause = format!("{}.guard.{key}", self.clause);
        let draft = |tail: &str, title: String| {
            let mut draft = self.draft(&format!("guard.{key}{tail}"), Aspect::Guard, title);
            draft.cite_clauses(&[&clause]);
            draft
        };
        let refused = |draft: &mut Draft<'_, 'a>, state: &State, n: u32| {
            state.make(draft, facts, n);
            draft.fails_with(self.request(state, n), Failure::Refused);
            self.expect_unchanged(draft, state, n);
        };
        let broken = state::ready_state(self.plan, facts, self.action, Some(key));
        if let Some(state) = &broken {
            let title =
                format!("To {} is refused if {}", self.words, self.negated_condition(&guard.condition));
            let mut draft = draft("", title);
            refused(&mut draft, state, 1);
            draft.done(cases);
        }
        let Some(ready) = ready else { return };
        match &guard.condition {
            Condition::Field { field, is } => {
                let Some(index) = facts.parts.iter().position(|part| part.field.key == *field) else {
                    return;
                };
                let Some(part) = facts.parts.get(index) else { return };
                self.variants(
                    guard,
                    ready,
                    None,
                    part,
                    is,
                    &|state, value| state.with_value(index, value),
                    cases,
                );
            }
            Condition::Related { reference, field, is } => {
                let Some(index) = facts.parts.iter().position(|part| part.field.key == *reference) else {
                    return;
                };
                let Some(link) = facts.parts.get(index) else { return };
                let Some(target) = self.plan.target(link) else { return };
                let Some(part_index) = target.parts.iter().position(|part| part.field.key == *field) else {
                    return;
                };
                let Some(part) = target.parts.get(part_index) else { return };
                self.variants(
                    guard,
                    ready,
                    Some(target),
                    part,
                    is,
                    &|state, value| state.with_related(index, part_index, value),
                    cases,
                );
                if link.field.nullable {
                    let title = format!("To {} is refused without `{}`", self.words, link.json);
                    let mut draft = draft(".unrelated", title);
                    draft.cite_clauses(&[&link.clause]);
                    refused(&mut draft, &ready.with_value(index, Value::Null), 1);
                    draft.done(cases);
                }
            }
            Condition::HasAtLeast { entity, .. } => {
                let Some(child) = self.plan.entity(entity) else { return };
                let title = format!("To {}, deleted {} do not count", self.words, child.many);
                let mut draft = draft(".deleted", title);
                draft.cite_clauses(&[child.key, "operations"]);
                ready.make(&mut draft, facts, 1);
                draft.delete(child, draft.next(child.key) - 1);
                draft.fails_with(self.request(ready, 1), Failure::Refused).done(cases);
            }
            Condition::HasNone { entity, .. } => {
                let Some(child) = self.plan.entity(entity) else { return };
                let Some(broken) = &broken else { return };
                let title = format!("To {}, deleted {} do not count", self.words, child.many);
                let mut draft = draft(".deleted", title);
                draft.cite_clauses(&[child.key, "operations"]);
                broken.make(&mut draft, facts, 1);
                draft.delete(child, 1);
                draft.send(self.request(broken, 1)).done(cases);
            }
        }
    }

    /// Other values with which a guard on a field holds, or does not, than the ones of its main cases.
    #[expect(clippy::too_many_arguments, reason = "a guard on a field of the record or of another one")]
    fn variants(
        &self,
        guard: &Guard,
        ready: &State,
        target: Option<&EntityFacts<'a>>,
        part: &FieldFacts<'a>,
        is: &Comparison,
        changed_state: &dyn Fn(&State, Value) -> State,
        cases: &mut Vec<Case>,
    ) {
        let facts = self.facts;
        let clause = format!("{}.guard.{}", self.clause, guard.key);
        let owner = target.unwrap_or(facts);
        // Only this guard decides: the others hold for the value, and no effect breaks a rule with it.
        let alone = |value: &Value, hold: bool| {
            state::holds(is, value) == hold
                && self.action.guards.iter().filter(|other| other.key != guard.key).all(|other| {
                    match (&guard.condition, &other.condition) {
                        (Condition::Field { field, .. }, Condition::Field { field: other, is })
                            if field == other =>
                        {
                            state::holds(is, value)
                        }
                        (
                            Condition::Related { reference, field, .. },
                            Condition::Related { reference: other_reference, field: other, is },
                        ) if field == other && reference == other_reference => state::holds(is, value),
                        _ => true,
                    }
                })
        };
        let sound = |value: &Value| {
            let state = changed_state(ready, value.clone());
            self.action.effects.iter().all(|effect| match effect {
                Effect::Increment { field, .. } => facts.part(field).is_some_and(|part| {
                    state
                        .value_after(facts, self.action, part, 1)
                        .is_some_and(|after| state::can_be(part, &after))
                }),
                Effect::Create { entity, values, .. } => values.iter().all(|created| match &created.from {
                    Operand::Own(key) => {
                        let other = self.plan.entity(entity).and_then(|other| other.part(&created.field));
                        let own_part = facts.part(key);
                        other.zip(own_part).is_some_and(|(other, own_part)| {
                            own_part.refers() || state::can_be(other, &state.value_before(facts, own_part, 1))
                        })
                    }
                    _ => true,
                }),
                Effect::Set { .. } => true,
            })
        };
        let all: Vec<Value> = state::values_to_try(part, &[is]);
        let draft = |tail: &str, title: String| {
            let mut draft = self.draft(&format!("guard.{}{tail}", guard.key), Aspect::Guard, title);
            draft.cite_clauses(&[&clause, owner.key, &part.clause]);
            draft
        };

        // All values of a guard that takes some; a second one of a guard that takes many.
        let most = match is {
            Comparison::OneOf(values) => values.len(),
            _ => 2,
        };
        let holding: Vec<&Value> = all
            .iter()
            .filter(|value| !value.is_null() && !part.field.unique && alone(value, true) && sound(value))
            .take(most.min(super::plan::BODIES as usize))
            .collect();
        let own = facts.parts.iter().position(|own| target.is_none() && own.field.key == part.field.key);
        let repeatable = ready.repeatable(self.plan, facts, own);
        if repeatable && holding.len() > 1 {
            let title =
                format!("To {} goes with other values that its guard on `{}` takes", self.words, part.json);
            let mut draft = draft(".holds", title);
            for (n, value) in (1..).zip(holding) {
                let state = changed_state(ready, value.clone());
                state.make(&mut draft, facts, n);
                draft.send(self.request(&state, n));
            }
            draft.done(cases);
        }
        let breaking: Vec<&Value> = all
            .iter()
            .filter(|value| !value.is_null() && alone(value, false))
            .skip(1)
            .take(if repeatable { 2 } else { 1 })
            .collect();
        if !breaking.is_empty() {
            let title = format!("To {} is refused with other values of `{}` too", self.words, part.json);
            let mut draft = draft(".others", title);
            for (n, value) in (1..).zip(breaking) {
                let state = changed_state(ready, value.clone());
                state.make(&mut draft, facts, n);
                draft.fails(self.request(&state, n), Failure::Refused);
            }
            draft.done(cases);
        }
        if part.field.nullable {
            let hold = state::holds(is, &Value::Null);
            if alone(&Value::Null, hold)
                && (!hold || sound(&Value::Null))
                && !matches!(is, Comparison::IsSet | Comparison::IsNotSet)
            {
                let word = if hold { "goes" } else { "is refused" };
                let title = format!("To {} {word} if `{}` is null", self.words, part.json);
                let mut draft = draft(".null", title);
                let state = changed_state(ready, Value::Null);
                state.make(&mut draft, facts, 1);
                let request = self.request(&state, 1);
                if hold {
                    draft.send(request);
                } else {
                    draft.fails_with(request, Failure::Refused);
                }
                draft.done(cases);
            }
        }
    }

    /// A condition that does not hold, in words.
    fn negated_condition(&self, condition: &Condition) -> String {
        let name = |facts: Option<&EntityFacts<'a>>, key: &str| {
            facts.and_then(|facts| facts.part(key)).map_or_else(|| key.to_owned(), |part| part.json.clone())
        };
        match condition {
            Condition::Field { field, is } => {
                format!("its `{}` is {}", name(Some(self.facts), field), negated_comparison(is))
            }
            Condition::Related { reference, field, is } => {
                let target = self.facts.part(reference).and_then(|part| self.plan.target(part));
                format!(
                    "the `{}` of its `{}` is {}",
                    name(target, field),
                    name(Some(self.facts), reference),
                    negated_comparison(is)
                )
            }
            Condition::HasAtLeast { entity, count, .. } => {
                format!("fewer than {count} {} refer to it", self.plural(entity))
            }
            Condition::HasNone { entity, .. } => format!("{} refer to it", self.plural(entity)),
        }
    }

    fn plural(&self, entity: &str) -> String {
        self.plan.entity(entity).map_or_else(String::new, |facts| facts.many.clone())
    }
}

fn negated_comparison(comparison: &Comparison) -> String {
    match comparison {
        Comparison::Equals(value) => format!("not `{value}`"),
        Comparison::Not(value) => format!("`{value}`"),
        Comparison::OneOf(values) => {
            format!(
                "none of {}",
                values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
            )
        }
        Comparison::AtLeast(value) => format!("below `{value}`"),
        Comparison::AtMost(value) => format!("above `{value}`"),
        Comparison::IsSet => "null".to_owned(),
        Comparison::IsNotSet => "not null".to_owned(),
    }
}
