//! Records as answers show them, computed fields worked out.

use serde_json::{Map, Value};

use super::plan::{ComputedPlan, Link, ServerPlan};
use super::records::{Record, compare, number, sum};
use super::{Flaw, World};

impl World {
    /// A record as an answer shows it: `id`, all fields, `deleted` with soft delete.
    pub(super) fn response_record(&self, plan: &ServerPlan, entity: usize, record: &Record) -> Value {
        let Some(entity) = plan.entities.get(entity) else { return Value::Null };
        let mut body = Map::with_capacity(entity.fields.len() + 2);
        body.insert("id".to_owned(), Value::from(record.id));
        for (index, field) in entity.fields.iter().enumerate() {
            let value = match &field.computed {
                Some(_) if self.has(Flaw::ComputedFrozen) => record.value(index).clone(),
                Some(computed) => self.computed(computed, record),
                None => record.value(index).clone(),
            };
            if value.is_null() && self.has(Flaw::NullNotShown) {
                continue;
            }
            body.insert(field.name.clone(), value);
        }
        if entity.soft_delete && !self.has(Flaw::DeletedFieldMissing) {
            body.insert("deleted".to_owned(), Value::Bool(record.deleted));
        }
        Value::Object(body)
    }

    pub(super) fn computed(&self, computed: &ComputedPlan, record: &Record) -> Value {
        match computed {
            ComputedPlan::Joined { first, second, separator } => {
                let (first, second) = (text(record.value(*first)), text(record.value(*second)));
                let mut joined = String::with_capacity(first.len() + separator.len() + second.len());
                joined.push_str(first);
                joined.push_str(separator);
                joined.push_str(second);
                Value::String(joined)
            }
            ComputedPlan::Product { left, right } => product(record.value(*left), record.value(*right)),
            ComputedPlan::Sum { left, right } => sum([record.value(*left), record.value(*right)].into_iter()),
            ComputedPlan::AtLeast { field, value } => {
                let order = compare(record.value(*field), value);
                Value::Bool(if self.has(Flaw::ComputedExclusive) { order.is_gt() } else { order.is_ge() })
            }
            ComputedPlan::CountOf(link) => Value::from(self.referring(*link, record.id).count()),
            ComputedPlan::TotalOf { link, field } => {
                sum(self.referring(*link, record.id).map(|other| other.value(*field)))
            }
        }
    }

    /// The records, not deleted, that refer to an id.
    pub(super) fn referring(&self, link: Link, id: i64) -> impl Iterator<Item = &Record> {
        let counts_deleted = self.has(Flaw::SoftDeletedCounted);
        self.tables
            .get(link.entity)
            .into_iter()
            .flat_map(|table| table.records.values())
            .filter(move |record| (counts_deleted || !record.deleted) && record.refers(link.field, id))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn product(left: &Value, right: &Value) -> Value {
    if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64())
        && let Some(product) = left.checked_mul(right)
    {
        return Value::from(product);
    }
    number(left.as_f64().unwrap_or(0.0) * right.as_f64().unwrap_or(0.0))
}
