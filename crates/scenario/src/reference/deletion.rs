//! Deletion: what goes with a record, what forbids it, what loses its reference.

use std::collections::BTreeSet;

use serde_json::Value;

use super::answer::{Outcome, conflict};
use super::plan::ServerPlan;
use super::records::Table;
use super::{Flaw, Response, World};
use crate::ir::OnDelete;

/// A record: its entity and id.
type RecordKey = (usize, i64);

impl World {
    pub(super) fn delete(&mut self, plan: &ServerPlan, entity: usize, id: &str) -> Outcome<Response> {
        let (entity_plan, record) = self.find(plan, entity, id)?;
        let (name, id) = (&entity_plan.name, record.id);
        let going = self.deleted_records(plan, (entity, id));
        let restricted = self.restricted(plan, (entity, id), &going);
        if restricted {
            if self.has(Flaw::RestrictAfterCascade) {
                let rest: BTreeSet<RecordKey> =
                    going.iter().copied().filter(|place| *place != (entity, id)).collect();
                self.remove(plan, &rest);
            }
            return Err(conflict(format!("Other records refer to {name} {id}")));
        }
        let before = self.tables.get(entity).and_then(|table| table.live_record(id)).cloned();
        self.set_null(plan, &going);
        self.remove(plan, &going);
        if plan.conventions.status.deleted == 204 {
            return Ok(Response::empty());
        }
        let record = self.tables.get(entity).and_then(|table| table.records.get(&id)).cloned().or(before);
        let body = record.map_or(Value::Null, |record| self.response_record(plan, entity, &record));
        Ok(Response::json(plan.conventions.status.deleted, body))
    }

    /// The records that a deletion removes: the first one, and what cascades from it.
    fn deleted_records(&self, plan: &ServerPlan, first: RecordKey) -> BTreeSet<RecordKey> {
        let mut going = BTreeSet::from([first]);
        let mut next = vec![first];
        while let Some(place) = next.pop() {
            if self.has(Flaw::CascadeIgnored) || (self.has(Flaw::CascadeOneLevelOnly) && place != first) {
                continue;
            }
            for (referrer, rule) in self.referring_to(plan, place) {
                if rule == OnDelete::Cascade && going.insert(referrer) {
                    next.push(referrer);
                }
            }
        }
        going
    }

    /// Whether a record that would stay forbids the deletion.
    fn restricted(&self, plan: &ServerPlan, first: RecordKey, going: &BTreeSet<RecordKey>) -> bool {
        if self.has(Flaw::RestrictIgnored) {
            return false;
        }
        let forbids = |&place: &RecordKey| {
            let live = self
                .referring_to(plan, place)
                .any(|(referrer, rule)| rule == OnDelete::Restrict && !going.contains(&referrer));
            live || (self.has(Flaw::RestrictIgnoresSoftDelete) && self.deleted_restricts(plan, place))
        };
        if self.has(Flaw::RestrictOfFirstOnly) {
            return forbids(&first);
        }
        going.iter().any(forbids)
    }

    /// Whether a record that is deleted already refers to this one with restrict.
    fn deleted_restricts(&self, plan: &ServerPlan, (entity, id): RecordKey) -> bool {
        plan.entities.get(entity).is_some_and(|entity_plan| {
            entity_plan.referrers.iter().filter(|(_, rule)| *rule == OnDelete::Restrict).any(|(link, _)| {
                self.tables.get(link.entity).is_some_and(|table| {
                    table.records.values().any(|record| record.deleted && record.refers(link.field, id))
                })
            })
        })
    }

    /// The records, not deleted, that refer to one, each with its rule.
    fn referring_to<'a>(
        &'a self,
        plan: &'a ServerPlan,
        (entity, id): RecordKey,
    ) -> impl Iterator<Item = (RecordKey, OnDelete)> + 'a {
        plan.entities.get(entity).into_iter().flat_map(|entity_plan| &entity_plan.referrers).flat_map(
            move |(link, rule)| {
                self.tables
                    .get(link.entity)
                    .into_iter()
                    .flat_map(Table::live_records)
                    .filter(move |record| record.refers(link.field, id))
                    .map(move |record| ((link.entity, record.id), *rule))
            },
        )
    }

    /// Clears the references of records, not deleted, to those that go.
    fn set_null(&mut self, plan: &ServerPlan, going: &BTreeSet<RecordKey>) {
        if self.has(Flaw::SetNullIgnored) {
            return;
        }
        for &(entity, id) in going {
            let Some(entity_plan) = plan.entities.get(entity) else { continue };
            for (link, rule) in &entity_plan.referrers {
                let Some(table) = self.tables.get_mut(link.entity) else { continue };
                if *rule != OnDelete::SetNull {
                    continue;
                }
                for record in table.records.values_mut() {
                    if !record.deleted && record.refers(link.field, id) {
                        record.set(link.field, Value::Null);
                    }
                }
            }
        }
    }

    /// Removes records, or marks them where their entity has soft delete.
    fn remove(&mut self, plan: &ServerPlan, going: &BTreeSet<RecordKey>) {
        for &(entity, id) in going {
            let soft = plan.entities.get(entity).is_some_and(|entity_plan| entity_plan.soft_delete);
            let Some(table) = self.tables.get_mut(entity) else { continue };
            if soft {
                if let Some(record) = table.records.get_mut(&id) {
                    record.deleted = true;
                }
            } else {
                table.records.remove(&id);
            }
        }
    }
}
