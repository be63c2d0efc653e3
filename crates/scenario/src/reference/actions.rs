//! Actions: guards, then effects on a copy, kept only if all of them hold.

use serde_json::Value;

use super::answer::{Outcome, refused};
use super::plan::{ActionPlan, EffectPlan, GuardPlan, OperandPlan, ServerPlan};
use super::records::{Record, compare, is_same_value};
use super::{Flaw, Request, Response, World};
use crate::ir::Comparison;

/// What an action does, before it is done.
struct Draft {
    record: Record,
    /// New records: entity and values.
    created: Vec<(usize, Vec<Value>)>,
}

impl World {
    pub(super) fn act(
        &mut self,
        plan: &ServerPlan,
        entity: usize,
        id: &str,
        action: &ActionPlan,
        request: &Request,
    ) -> Outcome<Response> {
        let (entity_plan, record) = self.find(plan, entity, id)?;
        let mut params = Vec::with_capacity(action.params.len());
        if !action.params.is_empty() {
            let body = self.object(request)?;
            if let Some(body) = body {
                self.check_known(plan, entity_plan, &action.params, body)?;
            }
            for param in &action.params {
                let given = body.and_then(|body| body.get(&param.name));
                match given {
                    Some(given) if self.has(Flaw::ParamUnchecked) => params.push(given.clone()),
                    Some(given) => {
                        self.fits(param, given)?;
                        params.push(given.clone());
                    }
                    None if self.has(Flaw::ParamUnchecked) => params.push(Value::Null),
                    None => return Err(super::answer::invalid(format!("{} is required", param.name))),
                }
            }
        }
        let refusal = self.refuses(action, record);
        let mut draft = Draft { record: record.clone(), created: Vec::new() };
        let before = record.clone();
        if refusal {
            let done = if self.has(Flaw::GuardAfterEffects) {
                action.effects.len()
            } else {
                usize::from(self.has(Flaw::FailedRequestChanges))
            };
            for effect in action.effects.iter().take(done) {
                let _ = self.effect(plan, entity, effect, &before, &params, &mut draft);
            }
            if done > 0 {
                self.keep(plan, entity, draft);
            }
            return Err(refused(format!("{} {} does not allow this now", entity_plan.name, before.id)));
        }
        for effect in &action.effects {
            if let Err(failure) = self.effect(plan, entity, effect, &before, &params, &mut draft) {
                if self.has(Flaw::FailedEffectKept) {
                    self.keep(plan, entity, draft);
                }
                return Err(failure);
            }
        }
        let record = draft.record.clone();
        self.keep(plan, entity, draft);
        let shown = if self.has(Flaw::ActionAnswersBefore) { &before } else { &record };
        Ok(Response::json(200, self.response_record(plan, entity, shown)))
    }

    fn keep(&mut self, plan: &ServerPlan, entity: usize, draft: Draft) {
        self.put(entity, draft.record);
        for (other, values) in draft.created {
            let id = self.next_id(other);
            self.insert(plan, other, id, values);
        }
    }

    fn refuses(&self, action: &ActionPlan, record: &Record) -> bool {
        if self.has(Flaw::GuardsIgnored) {
            return false;
        }
        let mut guards = action.guards.iter().map(|guard| self.holds(guard, record));
        if self.has(Flaw::AnyGuardSuffices) && !action.guards.is_empty() {
            return !guards.any(|holds| holds);
        }
        if self.has(Flaw::FirstGuardOnly) {
            return guards.next() == Some(false);
        }
        !guards.all(|holds| holds)
    }

    fn holds(&self, guard: &GuardPlan, record: &Record) -> bool {
        match guard {
            GuardPlan::Field { field, is } => compares(is, record.value(*field)),
            GuardPlan::Related { reference, target, field, is } => {
                let related = record
                    .value(*reference)
                    .as_i64()
                    .and_then(|id| self.tables.get(*target)?.live_record(id));
                related.map_or(self.has(Flaw::GuardHoldsWithoutRelated), |related| {
                    compares(is, related.value(*field))
                })
            }
            GuardPlan::HasAtLeast { link, count } => self.referring(*link, record.id).count() >= *count,
            GuardPlan::HasNone(link) => self.referring(*link, record.id).next().is_none(),
        }
    }

    /// Does one effect on the draft; it fails if a rule of a field would break.
    fn effect(
        &self,
        plan: &ServerPlan,
        entity: usize,
        effect: &EffectPlan,
        before: &Record,
        params: &[Value],
        draft: &mut Draft,
    ) -> Outcome<()> {
        let operand_record = if self.has(Flaw::OwnAfterEffects) { &draft.record } else { before };
        let operand = |operand: &OperandPlan| match operand {
            OperandPlan::Value(value) => value.clone(),
            OperandPlan::Param(index) => params.get(*index).cloned().unwrap_or(Value::Null),
            OperandPlan::Own(index) => operand_record.value(*index).clone(),
        };
        match effect {
            EffectPlan::Set { field, to } => {
                let value = operand(to);
                self.allowed(plan, entity, *field, &value)?;
                draft.record.set(*field, value);
            }
            EffectPlan::Increment { field, by } => {
                let amount = operand(by).as_i64();
                let sum = draft
                    .record
                    .value(*field)
                    .as_i64()
                    .zip(amount)
                    .and_then(|(now, amount)| now.checked_add(amount))
                    .ok_or_else(|| refused("There is no number to add to"))?;
                let sum = Value::from(sum);
                self.allowed(plan, entity, *field, &sum)?;
                draft.record.set(*field, sum);
            }
            EffectPlan::Create { link, values } => {
                let Some(other) = plan.entities.get(link.entity) else { return Ok(()) };
                let mut records: Vec<Value> = other
                    .fields
                    .iter()
                    .map(|field| match &field.default {
                        Some(default) if !self.has(Flaw::DefaultIgnored) => default.clone(),
                        _ => Value::Null,
                    })
                    .collect();
                for (field, given_operand) in values {
                    if let Some(slot) = records.get_mut(*field) {
                        *slot = operand(given_operand);
                    }
                }
                if let Some(slot) = records.get_mut(link.field) {
                    *slot = Value::from(before.id);
                }
                for (index, value) in records.iter().enumerate() {
                    let read_only = other.fields.get(index).is_some_and(|field| field.read_only);
                    if index != link.field && !read_only {
                        self.allowed(plan, link.entity, index, value)?;
                    }
                }
                let free = self.check_unique(link.entity, other, &records, None);
                free.map_err(|failure| refused(failure.message))?;
                if !self.has(Flaw::CreateEffectIgnored) {
                    draft.created.push((link.entity, records));
                }
            }
        }
        Ok(())
    }

    /// Whether a field can be given a value by an effect.
    fn allowed(&self, plan: &ServerPlan, entity: usize, field: usize, value: &Value) -> Outcome<()> {
        let Some(field) = plan.entities.get(entity).and_then(|entity_plan| entity_plan.fields.get(field))
        else {
            return Ok(());
        };
        if self.has(Flaw::EffectUnchecked) {
            return Ok(());
        }
        self.fits(field, value).map_err(|failure| {
            if self.has(Flaw::EffectBreaksAsInvalid) { failure } else { refused(failure.message) }
        })
    }
}

/// Whether a value compares as asked. With null only `IsNotSet` and `Not` hold.
fn compares(comparison: &Comparison, value: &Value) -> bool {
    match comparison {
        Comparison::IsSet => !value.is_null(),
        Comparison::IsNotSet => value.is_null(),
        Comparison::Not(other) => !is_same_value(value, other),
        _ if value.is_null() => false,
        Comparison::Equals(other) => is_same_value(value, other),
        Comparison::OneOf(others) => others.iter().any(|other| is_same_value(value, other)),
        Comparison::AtLeast(least) => compare(value, least).is_ge(),
        Comparison::AtMost(most) => compare(value, most).is_le(),
    }
}
