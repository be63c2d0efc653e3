//! Create, read, replace and update.

use serde_json::Value;

use super::answer::{Failure, Outcome, not_found};
use super::body::Purpose;
use super::plan::{EntityPlan, ServerPlan};
use super::records::{Record, integer};
use super::{Flaw, Request, Response, World};

impl World {
    /// The entity and the record, not deleted, that a path names.
    pub(super) fn find<'a>(
        &self,
        plan: &'a ServerPlan,
        entity: usize,
        id: &str,
    ) -> Outcome<(&'a EntityPlan, &Record)> {
        let plan = plan.entities.get(entity).ok_or_else(|| not_found("There is no such route"))?;
        integer(id)
            .and_then(|id| self.tables.get(entity)?.live_record(id))
            .map(|record| (plan, record))
            .ok_or_else(|| not_found(format!("There is no {} {id:.40}", plan.name)))
    }

    pub(super) fn create(
        &mut self,
        plan: &ServerPlan,
        entity: usize,
        request: &Request,
        fixed: Option<(usize, i64)>,
    ) -> Outcome<Response> {
        let entity_plan = plan.entities.get(entity).ok_or_else(|| not_found("There is no such route"))?;
        let body = self.object(request)?;
        if self.has(Flaw::ConflictBeforeValidation)
            && let Some(body) = body
        {
            let raw: Vec<Value> = entity_plan
                .fields
                .iter()
                .map(|field| body.get(&field.name).cloned().unwrap_or(Value::Null))
                .collect();
            self.check_unique(entity, entity_plan, &raw, None)?;
        }
        let values = self.values(plan, entity_plan, body, Purpose::Create, fixed)?;
        self.check_unique(entity, entity_plan, &values, None)?;
        let wanted = body
            .filter(|_| self.has(Flaw::IdFromBody))
            .and_then(|body| body.get("id"))
            .and_then(Value::as_i64);
        let id = wanted.unwrap_or_else(|| self.next_id(entity));
        let record = self.insert(plan, entity, id, values);
        Ok(Response::json(plan.conventions.status.created, self.response_record(plan, entity, &record)))
    }

    /// The id of the next record.
    pub(super) fn next_id(&self, entity: usize) -> i64 {
        if self.has(Flaw::IdShared) {
            return self.tables.iter().map(|table| table.last_id).max().unwrap_or(0).saturating_add(1);
        }
        let Some(table) = self.tables.get(entity) else { return 1 };
        if self.has(Flaw::IdReused) {
            return table.records.last_key_value().map_or(0, |(id, _)| *id).saturating_add(1);
        }
        table.last_id.saturating_add(1)
    }

    /// Puts a new record into its table.
    pub(super) fn insert(&mut self, plan: &ServerPlan, entity: usize, id: i64, values: Vec<Value>) -> Record {
        let mut record = Record { id, deleted: false, values };
        if self.has(Flaw::ComputedFrozen) {
            self.freeze(plan, entity, &mut record);
        }
        if let Some(table) = self.tables.get_mut(entity) {
            table.last_id = table.last_id.max(id);
            table.records.insert(id, record.clone());
        }
        record
    }

    /// Works computed fields out once ([`Flaw::ComputedFrozen`]).
    fn freeze(&self, plan: &ServerPlan, entity: usize, record: &mut Record) {
        let Some(entity_plan) = plan.entities.get(entity) else { return };
        for (index, field) in entity_plan.fields.iter().enumerate() {
            if let Some(computed) = &field.computed {
                let value = self.computed(computed, record);
                record.set(index, value);
            }
        }
    }

    pub(super) fn read(&self, plan: &ServerPlan, entity: usize, id: &str) -> Outcome<Response> {
        match self.find(plan, entity, id) {
            Ok((_, record)) => Ok(Response::json(200, self.response_record(plan, entity, record))),
            Err(failure) => {
                let deleted = integer(id).and_then(|id| self.tables.get(entity)?.records.get(&id));
                match deleted {
                    Some(record) if self.has(Flaw::SoftDeletedReadable) => {
                        Ok(Response::json(200, self.response_record(plan, entity, record)))
                    }
                    _ => Err(failure),
                }
            }
        }
    }

    /// A replace (`PUT`) or update (`PATCH`).
    pub(super) fn change(
        &mut self,
        plan: &ServerPlan,
        entity: usize,
        id: &str,
        request: &Request,
        replace: bool,
    ) -> Outcome<Response> {
        let (entity_plan, record) = match self.find(plan, entity, id) {
            Ok(found) => found,
            Err(failure) => return self.instead_of_missing(plan, entity, id, request, failure),
        };
        let body = self.object(request)?;
        let purpose = if replace { Purpose::Replace(record) } else { Purpose::Update(record) };
        let values = self.values(plan, entity_plan, body, purpose, None)?;
        let id = record.id;
        self.check_unique(entity, entity_plan, &values, Some(id))?;
        let after = Record { id, deleted: false, values };
        let shown = self.response_record(plan, entity, &after);
        let not_kept = if replace { Flaw::ReplaceNotKept } else { Flaw::UpdateNotKept };
        if !self.has(not_kept) {
            self.put(entity, after);
        }
        Ok(Response::json(200, shown))
    }

    fn instead_of_missing(
        &mut self,
        plan: &ServerPlan,
        entity: usize,
        id: &str,
        request: &Request,
        failure: Failure,
    ) -> Outcome<Response> {
        if self.has(Flaw::ValidationBeforeMissing)
            && let Some(entity_plan) = plan.entities.get(entity)
        {
            self.values(plan, entity_plan, self.object(request)?, Purpose::Create, None)?;
        }
        let record = self.has(Flaw::ReplaceCreates)
            && request.method == crate::suite::Method::Put
            && integer(id).is_some_and(|id| id > 0);
        if !record {
            return Err(failure);
        }
        self.create(plan, entity, request, None)
    }

    /// Puts a changed record in the place of the old one.
    pub(super) fn put(&mut self, entity: usize, record: Record) {
        if let Some(table) = self.tables.get_mut(entity) {
            table.records.insert(record.id, record);
        }
    }
}
