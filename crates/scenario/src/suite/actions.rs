//! Actions: what they do, what they need, and what refuses them.

use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::failure::Failure;
use super::plan::{EntityFacts, FieldFacts, SuitePlan};
use super::state::{self, State};
use super::{Aspect, Case, RequestStep, values};
use crate::ir::{Action, Condition, Effect, Kind, Operand, Param, UnknownFields, words};

/// An action of an entity while its cases are written.
pub(super) struct ActionCases<'p, 'a> {
    pub(super) plan: &'p SuitePlan<'a>,
    pub(super) facts: &'p EntityFacts<'a>,
    pub(super) action: &'a Action,
    /// Id of its clause.
    pub(super) clause: String,
    /// `finish a repair order`.
    pub(super) words: String,
}

/// Cases of an action.
pub(super) fn cases<'a>(
    plan: &SuitePlan<'a>,
    facts: &EntityFacts<'a>,
    action: &'a Action,
    cases: &mut Vec<Case>,
) {
    let acting = ActionCases {
        plan,
        facts,
        action,
        clause: format!("{}.{}", facts.key, action.key),
        words: format!("{} {}", words(&action.name), facts.a),
    };
    let ready = state::ready_state(plan, facts, action, None);
    if let Some(state) = &ready {
        for effect in &action.effects {
            acting.effect(state, effect, cases);
            acting.breaks(state, effect, cases);
        }
        acting.action_done_twice(state, cases);
        acting.params(state, cases);
        acting.order(state, cases);
    }
    for guard in &action.guards {
        acting.guard(guard, ready.as_ref(), cases);
    }
}

impl<'p, 'a> ActionCases<'p, 'a> {
    pub(super) fn draft(&self, tail: &str, aspect: Aspect, title: String) -> Draft<'p, 'a> {
        let mut draft = Draft::new(self.plan, format!("{}.{tail}", self.clause), aspect, title);
        draft.cite_clauses(&["actions", self.facts.key, &self.clause]);
        draft
    }

    /// Sends the action on the `n`th record.
    pub(super) fn request(&self, state: &State, n: u32) -> RequestStep {
        state.request(self.plan, self.facts, self.action, n)
    }

    /// The list of what the action creates: as many records as this.
    fn counts(&self, draft: &mut Draft<'_, 'a>, other: &EntityFacts<'a>, count: usize) {
        draft.cite_clauses(&[other.key, "lists.body", "operations"]);
        draft.send(RequestStep::get(other.path.clone()).equal(self.plan.total(), json!(count)));
    }

    /// Looks whether the `n`th record, and what the action creates, is as before.
    pub(super) fn expect_unchanged(&self, draft: &mut Draft<'_, 'a>, state: &State, n: u32) {
        let mut before = Map::new();
        for effect in &self.action.effects {
            match effect {
                Effect::Set { field, .. } | Effect::Increment { field, .. } => {
                    if let Some(part) = self.facts.part(field) {
                        draft.cite_clauses(&[&part.clause, "operations"]);
                        before.insert(part.json.clone(), state.value_before(self.facts, part, n));
                    }
                }
                Effect::Create { entity, .. } => {
                    if let Some(other) = self.plan.entity(entity) {
                        let count = draft.numbers(entity).len();
                        self.counts(draft, other, count);
                    }
                }
            }
        }
        if !before.is_empty() {
            draft.send(RequestStep::get(self.facts.record_path(n)).has(before));
        }
    }

    fn effect(&self, state: &State, effect: &Effect, cases: &mut Vec<Case>) {
        let facts = self.facts;
        match effect {
            Effect::Set { field, .. } | Effect::Increment { field, .. } => {
                let Some(part) = facts.part(field) else { return };
                let Some(after) = state.value_after(facts, self.action, part, 1) else { return };
                let tail = format!("effect.{field}");
                let verb = if matches!(effect, Effect::Set { .. }) { "sets" } else { "changes" };
                let title = format!("To {} {verb} its `{}`", self.words, part.json);
                let mut draft = self.draft(&tail, Aspect::Effect, title);
                let clause = format!("{}.{tail}", self.clause);
                draft.cite_clauses(&[&clause, &part.clause, "operations"]);
                state.make(&mut draft, facts, 1);
                draft.send(self.request(state, 1).has_one(&part.json, after.clone()));
                draft.expect_still(facts, 1, part, after);
                // What comes from a parameter differs with it.
                if state.repeatable(self.plan, facts, None)
                    && let Some((state, after)) = self.other_param(state, effect, part)
                {
                    state.make(&mut draft, facts, 2);
                    draft.send(self.request(&state, 2).has_one(&part.json, after));
                }
                draft.done(cases);
            }
            Effect::Create { entity, reference, values } => {
                let Some(other) = self.plan.entity(entity) else { return };
                let Some(link) = other.part(reference) else { return };
                let tail = format!("effect.create_{entity}");
                let title = format!("To {} creates {} that refers to it", self.words, other.a);
                let mut draft = self.draft(&tail, Aspect::Effect, title);
                let clause = format!("{}.{tail}", self.clause);
                draft.cite_clauses(&[&clause, other.key, &link.clause, "lists.body", "operations"]);
                state.make(&mut draft, facts, 1);
                draft.send(self.request(state, 1));
                let mut created = Map::new();
                created.insert(link.json.clone(), facts.id(1));
                for part in
                    other.parts.iter().filter(|part| part.field.is_writable() && part.json != link.json)
                {
                    let given = values.iter().find(|value| value.field == part.field.key);
                    let value = match given {
                        Some(value) => state.operand(facts, self.action, &value.from, 1),
                        None => Some(part.value_if_absent()),
                    };
                    if let Some(value) = value {
                        draft.cite_clauses(&[&part.clause]);
                        created.insert(part.json.clone(), value);
                    }
                }
                let mut rows = vec![created];
                rows.extend(draft.numbers(entity).into_iter().map(|n| {
                    let mut row = Map::with_capacity(1);
                    row.insert("id".to_owned(), other.id(n));
                    row
                }));
                let total = json!(rows.len());
                let send = RequestStep::get(other.path.clone())
                    .rows(self.plan.items(), rows)
                    .equal(self.plan.total(), total);
                draft.send(send).done(cases);
            }
        }
    }

    /// The same state with another value of the parameter that an effect on a field takes, and what the field is then.
    fn other_param(&self, state: &State, effect: &Effect, part: &FieldFacts<'a>) -> Option<(State, Value)> {
        let (Effect::Set { to: Operand::Param(key), .. } | Effect::Increment { by: Operand::Param(key), .. }) =
            effect
        else {
            return None;
        };
        let index = self.action.params.iter().position(|param| param.key == *key)?;
        let param = self.action.params.get(index)?;
        let now = state.value_after(self.facts, self.action, part, 2)?;
        state::param_values(self.plan, self.facts, self.action, param)
            .into_iter()
            .filter(|value| self.own_effects_hold(state, key, value))
            .map(|value| state.with_param(index, value))
            .find_map(|state| {
                let after = state.value_after(self.facts, self.action, part, 2)?;
                (after != now).then_some((state, after))
            })
    }

    /// An effect that would break a rule.
    fn breaks(&self, state: &State, effect: &Effect, cases: &mut Vec<Case>) {
        let facts = self.facts;
        let refused = |name: &str, clauses: &[&str], state: &State, cases: &mut Vec<Case>| {
            let title = format!("To {} is refused if {name} would break its rules", self.words);
            let tail = match effect {
                Effect::Set { field, .. } | Effect::Increment { field, .. } => {
                    format!("effect.{field}.refused")
                }
                Effect::Create { entity, .. } => format!("effect.create_{entity}.refused"),
            };
            let mut draft = self.draft(&tail, Aspect::Effect, title);
            draft.cite_clauses(clauses);
            state.make(&mut draft, facts, 1);
            draft.fails_with(self.request(state, 1), Failure::Refused);
            self.expect_unchanged(&mut draft, state, 1);
            draft.done(cases);
        };
        // A value of the parameter that the parameter takes and the field does not.
        let too_much = |key: &str, ok: &dyn Fn(&Value) -> bool| {
            let index = self.action.params.iter().position(|param| param.key == *key)?;
            let kind = &self.action.params.get(index)?.kind;
            let (low, high) = values::unstated_bounds(kind);
            let mut tried: Vec<Value> = values::bounds(kind).into_iter().map(|bound| bound.edge).collect();
            tried.extend((1..=5).map(|n| values::valid(kind, 0, n)));
            tried.extend(low.into_iter().chain(high));
            tried.extend([json!("x"), json!("Not a form"), json!(100), json!(1000), json!(100_000)]);
            let value = tried.into_iter().find(|value| values::fits(kind, value) && !ok(value))?;
            Some(state.with_param(index, value))
        };
        match effect {
            Effect::Set { field, to: Operand::Param(key) } => {
                let Some(part) = facts.part(field) else { return };
                if let Some(state) = too_much(key, &|value| state::can_be(part, value)) {
                    refused(&format!("`{}`", part.json), &[&part.clause], &state, cases);
                }
            }
            Effect::Increment { field, by: increment } => {
                let Some(index) = facts.parts.iter().position(|part| part.field.key == *field) else {
                    return;
                };
                let Some(part) = facts.parts.get(index) else { return };
                let allowed = |value: &Value| {
                    values::fits(&part.field.kind, value)
                        && self.action.guards.iter().all(|guard| match &guard.condition {
                            Condition::Field { field: own, is } if own == field => state::holds(is, value),
                            _ => true,
                        })
                };
                let Some(amount) =
                    state.operand(facts, self.action, increment, 1).and_then(|increment| increment.as_i64())
                else {
                    return;
                };
                // From the bound on, so that a bound that is off by one is seen.
                let edge = values::bounds(&part.field.kind)
                    .into_iter()
                    .find(|bound| bound.key == if amount > 0 { "too_large" } else { "too_small" });
                let Some(edge) = edge.and_then(|bound| bound.edge.as_i64()) else { return };
                let before = edge - amount + amount.signum();
                let clause = format!("{}.effect.{field}", self.clause);
                let words = format!("`{}`", part.json);
                if allowed(&json!(before)) {
                    refused(&words, &[&part.clause, &clause], &state.with_value(index, json!(before)), cases);
                } else if allowed(&json!(edge)) {
                    refused(&words, &[&part.clause, &clause], &state.with_value(index, json!(edge)), cases);
                } else if let Operand::Param(key) = increment
                    && let Some(before) = state.value_before(facts, part, 1).as_i64()
                    && let Some(state) = too_much(key, &|value| {
                        value.as_i64().is_none_or(|increment| {
                            values::fits(&part.field.kind, &json!(before + increment))
                        })
                    })
                {
                    refused(&words, &[&part.clause, &clause], &state, cases);
                }
            }
            Effect::Create { entity, values: created, .. } => {
                let Some(other) = self.plan.entity(entity) else { return };
                for value in created {
                    let Some(part) = other.part(&value.field) else { continue };
                    if let Operand::Own(key) = &value.from
                        && let Some(index) = facts.parts.iter().position(|other| other.field.key == *key)
                        && let Some(too_much) = self.own_value(index, &|value| state::can_be(part, value))
                    {
                        let clause = format!("{}.effect.create_{entity}", self.clause);
                        let words = format!("`{}` of {}", part.json, other.a);
                        refused(&words, &[&part.clause, &clause], &state.with_value(index, too_much), cases);
                        return;
                    }
                    if let Operand::Param(key) = &value.from
                        && let Some(state) = too_much(key, &|value| {
                            state::can_be(part, value) || !self.own_effects_hold(state, key, value)
                        })
                    {
                        let clause = format!("{}.effect.create_{entity}", self.clause);
                        let words = format!("`{}` of {}", part.json, other.a);
                        refused(&words, &[&part.clause, &clause], &state, cases);
                        return;
                    }
                }
            }
            Effect::Set { .. } => {}
        }
    }

    /// A value that a field and the guards on it take, and something else does not.
    fn own_value(&self, index: usize, ok: &dyn Fn(&Value) -> bool) -> Option<Value> {
        let part = self.facts.parts.get(index).filter(|part| !part.refers())?;
        let (low, high) = values::unstated_bounds(&part.field.kind);
        let touched = |effect: &Effect| matches!(effect, Effect::Set { field, .. } | Effect::Increment { field, .. } if *field == part.field.key);
        if self.action.effects.iter().any(touched) {
            return None;
        }
        state::values_to_try(part, &[]).into_iter().chain(low).chain(high).find(|value| {
            !value.is_null()
                && !ok(value)
                && self.action.guards.iter().all(|guard| match &guard.condition {
                    Condition::Field { field, is } if *field == part.field.key => state::holds(is, value),
                    _ => true,
                })
        })
    }

    /// Whether the effects on the record itself break no rule with a value of a parameter.
    fn own_effects_hold(&self, state: &State, key: &str, value: &Value) -> bool {
        let Some(index) = self.action.params.iter().position(|param| param.key == key) else { return false };
        let state = state.with_param(index, value.clone());
        self.action.effects.iter().all(|effect| match effect {
            Effect::Set { field, .. } | Effect::Increment { field, .. } => {
                self.facts.part(field).is_some_and(|part| {
                    state
                        .value_after(self.facts, self.action, part, 1)
                        .is_some_and(|after| state::can_be(part, &after))
                })
            }
            Effect::Create { .. } => true,
        })
    }

    /// Doing it twice: increments add up.
    fn action_done_twice(&self, state: &State, cases: &mut Vec<Case>) {
        let incremented = self.action.effects.iter().find_map(|effect| match effect {
            Effect::Increment { field, .. } => self.facts.part(field).map(|part| (field, part)),
            _ => None,
        });
        let Some((field, part)) = incremented else { return };
        // A value from which both times keep the guards and bounds.
        let Some(index) = self.facts.parts.iter().position(|part| part.field.key == *field) else { return };
        let creates = |entity: &str| {
            self.action
                .effects
                .iter()
                .any(|effect| matches!(effect, Effect::Create { entity: other, .. } if other == entity))
        };
        let free = self.action.guards.iter().all(|guard| match &guard.condition {
            Condition::Field { field, is } => self.facts.part(field).is_some_and(|own| {
                own.json == part.json
                    || state
                        .value_after(self.facts, self.action, own, 1)
                        .is_none_or(|after| state::holds(is, &after))
            }),
            Condition::HasNone { entity, .. } => !creates(entity),
            _ => true,
        });
        let fine = |value: &Value| {
            values::fits(&part.field.kind, value)
                && self.action.guards.iter().all(|guard| match &guard.condition {
                    Condition::Field { field: own, is } if own == field => state::holds(is, value),
                    _ => true,
                })
        };
        if !free {
            return;
        }
        for before in state::values_to_try(part, &[]) {
            let state = state.with_value(index, before.clone());
            let Some(once) = state.value_after(self.facts, self.action, part, 1) else { continue };
            let Some(twice) =
                state.with_value(index, once.clone()).value_after(self.facts, self.action, part, 1)
            else {
                continue;
            };
            let in_bounds = values::fits(&part.field.kind, &twice);
            if !before.is_null() && fine(&before) && fine(&once) && in_bounds {
                let tail = format!("effect.{field}.again");
                let title = format!("To {} twice changes `{}` twice", self.words, part.json);
                let mut draft = self.draft(&tail, Aspect::Effect, title);
                let clause = format!("{}.effect.{field}", self.clause);
                draft.cite_clauses(&[&clause, &part.clause]);
                state.make(&mut draft, self.facts, 1);
                draft.send(self.request(&state, 1).has_one(&part.json, once));
                draft.send(self.request(&state, 1).has_one(&part.json, twice)).done(cases);
                return;
            }
        }
    }

    fn params(&self, state: &State, cases: &mut Vec<Case>) {
        let Some(Value::Object(body)) = state.body(self.plan, self.action) else { return };
        let path = format!("{}/{}", self.facts.record_path(1), self.plan.schema.path_name(&self.action.name));
        for (index, param) in self.action.params.iter().enumerate() {
            let name = self.plan.schema.json_name(&param.name);
            let title = format!("To {} needs a valid `{name}`", self.words);
            let mut draft = self.draft(&format!("param.{}", param.key), Aspect::Refuses, title);
            state.make(&mut draft, self.facts, 1);
            let mut without = body.clone();
            without.shift_remove(&name);
            draft.fails_with(RequestStep::post(path.clone(), Some(without.into())), Failure::Invalid);
            let mut bad = vec![Value::Null];
            bad.extend(values::wrong_types(&param.kind, &values::valid(&param.kind, 0, 1)));
            // The code tells a parameter that is not valid from an effect that would break a rule.
            for value in bad {
                draft.fails_with(self.request(&state.with_param(index, value), 1), Failure::Invalid);
            }
            for bound in values::bounds(&param.kind) {
                draft.fails_with(self.request(&state.with_param(index, bound.beyond), 1), Failure::Invalid);
            }
            if let Kind::String { pattern: Some(pattern), .. } = &param.kind {
                let value = json!(pattern.counterexample());
                draft.fails_with(self.request(&state.with_param(index, value), 1), Failure::Invalid);
            }
            if index == 0 {
                draft.cite_clauses(&["bodies.object"]);
                draft.fails(RequestStep::post(path.clone(), Some(json!([]))), Failure::Invalid);
                draft.fails(RequestStep::post(path.clone(), None), Failure::Invalid);
            }
            self.expect_unchanged(&mut draft, state, 1);
            draft.done(cases);
            self.accepted(state, (index, param), &name, cases);
        }
        let unknown = self.plan.schema.json_name("unheard_of");
        let title =
            format!("Parameters that are not named, to {}, are treated as unknown fields are", self.words);
        let mut draft = self.draft("param.unknown", Aspect::Convention, title);
        draft.cite_clauses(&["bodies.unknown"]);
        state.make(&mut draft, self.facts, 1);
        let mut more = body;
        more.insert(unknown, json!(1));
        let send = RequestStep::post(path, Some(more.into()));
        match self.plan.unknown_fields() {
            UnknownFields::Ignore => draft.send(send),
            UnknownFields::Reject => draft.fails(send, Failure::Invalid),
        };
        draft.done(cases);
    }

    /// A parameter takes what is on its bounds, and anything where it has none, as long as no effect breaks a rule.
    fn accepted(&self, state: &State, (index, param): (usize, &Param), name: &str, cases: &mut Vec<Case>) {
        let (low, high) = values::unstated_bounds(&param.kind);
        let edges: Vec<Value> = values::bounds(&param.kind).into_iter().map(|bound| bound.edge).collect();
        let mut free: Vec<Value> = low.into_iter().chain(high).collect();
        if matches!(param.kind, Kind::Number { .. }) {
            free.push(json!(7.25));
        }
        free.retain(|value| values::fits(&param.kind, value));
        let possible = |value: &Value| {
            self.creates_with(&param.key, value) && self.own_effects_hold(state, &param.key, value)
        };
        let (edges, mut broken): (Vec<Value>, Vec<Value>) = edges.into_iter().partition(possible);
        let (free, more): (Vec<Value>, Vec<Value>) = free.into_iter().partition(possible);
        broken.extend(more);
        let title = format!("To {} takes every `{name}` that no rule forbids", self.words);
        let mut draft = self.draft(&format!("param.{}.accepted", param.key), Aspect::Accepts, title);
        draft.cite_clauses(&["types.free"]);
        let most = state.room(self.plan, self.facts, None);
        let taken = edges.into_iter().chain(free).take(most as usize);
        for (n, value) in (1..).zip(taken) {
            state.make(&mut draft, self.facts, n);
            draft.send(self.request(&state.with_param(index, value), n));
        }
        draft.done(cases);

        // What the parameter takes and an effect does not is refused, not invalid.
        let title = format!(
            "To {} with a `{name}` that is valid is refused if an effect would break a rule",
            self.words
        );
        let mut draft = self.draft(&format!("param.{}.refused", param.key), Aspect::Effect, title);
        if !broken.is_empty() {
            state.make(&mut draft, self.facts, 1);
        }
        for value in broken {
            draft.fails_with(self.request(&state.with_param(index, value), 1), Failure::Refused);
        }
        draft.done(cases);
    }

    /// Whether what the action creates can have a value of a parameter.
    fn creates_with(&self, key: &str, value: &Value) -> bool {
        self.action.effects.iter().all(|effect| match effect {
            Effect::Create { entity, values, .. } => values
                .iter()
                .filter(|created| matches!(&created.from, Operand::Param(param) if param == key))
                .all(|created| {
                    let other = self.plan.entity(entity);
                    other
                        .and_then(|other| other.part(&created.field))
                        .is_some_and(|part| state::can_be(part, value))
                }),
            _ => true,
        })
    }

    /// A body that is invalid comes before a guard that does not hold.
    fn order(&self, state: &State, cases: &mut Vec<Case>) {
        let Some(Value::Object(_)) = state.body(self.plan, self.action) else { return };
        let broken = self
            .action
            .guards
            .iter()
            .find_map(|guard| state::ready_state(self.plan, self.facts, self.action, Some(&guard.key)));
        let Some(broken) = broken else { return };
        let title = format!("An invalid body to {} is invalid even if a guard does not hold", self.words);
        let mut draft = self.draft("order", Aspect::Refuses, title);
        draft.cite_clauses(&["errors.order"]);
        broken.make(&mut draft, self.facts, 1);
        draft.fails_with(self.request(&broken.with_param(0, Value::Null), 1), Failure::Invalid).done(cases);
    }
}
