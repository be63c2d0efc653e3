//! What the cases of a schema have in common: names as the API writes them, bodies, and what a record shows.
//!
//! Bodies carry the required fields only. What a case is about it gives itself, so that a new field leaves the cases
//! that have nothing to do with it as they were.

use serde_json::{Map, Value, json};

use super::dependencies::{Convention, Dependencies, ReadDepth};
use super::failure::Failure;
use super::values;
use crate::Seed;
use crate::ir::{Computed, Entity, Field, Kind, Pagination, Schema, Sort, UnknownFields, words};

/// How many bodies a builder has.
pub(super) const BODIES: u32 = 4;

/// Names and bodies of a schema.
#[derive(Debug)]
pub(super) struct SuitePlan<'a> {
    pub(super) schema: &'a Schema,
    pub(super) entities: Vec<EntityFacts<'a>>,
    items: String,
    total: String,
    code: String,
    page: (String, String),
    /// The parameter that takes deleted records in.
    pub(super) include_deleted: String,
    /// What is read of other entities.
    pub(super) dependencies: Dependencies,
}

/// An entity.
#[derive(Debug)]
pub(super) struct EntityFacts<'a> {
    pub(super) entity: &'a Entity,
    /// Its key.
    pub(super) key: &'a str,
    /// Of its collection.
    pub(super) path: String,
    /// `a repair order`.
    pub(super) a: String,
    /// `repair orders`.
    pub(super) many: String,
    pub(super) parts: Vec<FieldFacts<'a>>,
}

/// A field.
#[derive(Debug)]
pub(super) struct FieldFacts<'a> {
    pub(super) field: &'a Field,
    /// Its name in JSON.
    pub(super) json: String,
    /// Id of its clause, and begin of the ids of its cases.
    pub(super) clause: String,
    /// Where its values start.
    start: u32,
}

/// What a body says about the fields of an entity, in their order; nothing for those that it leaves out.
pub(super) type BodyValues = Vec<Option<Value>>;

impl<'a> SuitePlan<'a> {
    pub(super) fn new(seed: Seed, schema: &'a Schema) -> Self {
        let (page_param, size) = schema.conventions.pagination.style.params();
        let entities = schema
            .entities
            .iter()
            .map(|entity| {
                let parts = entity
                    .fields
                    .iter()
                    .map(|field| {
                        let clause = format!("{}.{}", entity.key, field.key);
                        let start = seed.draw(0, &clause).number_below(1000) as u32;
                        FieldFacts { field, json: schema.json_name(&field.name), clause, start }
                    })
                    .collect();
                let singular = words(&entity.name);
                let article = if singular.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                EntityFacts {
                    entity,
                    key: &entity.key,
                    path: schema.collection_path(entity),
                    a: format!("{article} {singular}"),
                    many: words(&entity.plural),
                    parts,
                }
            })
            .collect();
        Self {
            schema,
            entities,
            items: format!("/{}", schema.conventions.list.items),
            total: format!("/{}", schema.conventions.list.total),
            code: schema.conventions.error.code_pointer(),
            page: (schema.json_name(page_param), schema.json_name(size)),
            include_deleted: schema.json_name("include_deleted"),
            dependencies: Dependencies::default(),
        }
    }

    /// JSON pointer to the list of records.
    pub(super) fn items(&self) -> &str {
        self.dependencies.convention(Convention::List);
        &self.items
    }

    /// JSON pointer to their number.
    pub(super) fn total(&self) -> &str {
        self.dependencies.convention(Convention::List);
        &self.total
    }

    /// The parameters of pages: which, how many.
    pub(super) fn page(&self) -> &(String, String) {
        self.dependencies.convention(Convention::Pages);
        &self.page
    }

    /// How pages are counted.
    pub(super) fn pagination(&self) -> &'a Pagination {
        self.dependencies.convention(Convention::Pages);
        &self.schema.conventions.pagination
    }

    pub(super) fn unknown_fields(&self) -> UnknownFields {
        self.dependencies.convention(Convention::UnknownFields);
        self.schema.conventions.unknown_fields
    }

    /// The status of a create.
    pub(super) fn created_status(&self) -> u16 {
        self.dependencies.convention(Convention::Created);
        self.schema.conventions.status.created
    }

    /// The status of a delete.
    pub(super) fn deleted(&self) -> u16 {
        self.dependencies.convention(Convention::Deleted);
        self.schema.conventions.status.deleted
    }

    /// The status of a failure.
    pub(super) fn status(&self, failure: Failure) -> u16 {
        let status = &self.schema.conventions.status;
        let (part, status) = match failure {
            Failure::Missing => return 404,
            Failure::Invalid => (Convention::Invalid, status.invalid),
            Failure::Conflict => (Convention::Conflict, status.conflict),
            Failure::Refused => (Convention::Refused, status.refused),
        };
        self.dependencies.convention(part);
        status
    }

    /// JSON pointer to the code of an error, and the code of a failure.
    pub(super) fn code(&self, failure: Failure) -> (&str, &'a str) {
        let codes = &self.schema.conventions.codes;
        let (part, code) = match failure {
            Failure::Invalid => (Convention::InvalidCode, &codes.invalid),
            Failure::Missing => (Convention::MissingCode, &codes.not_found),
            Failure::Conflict => (Convention::ConflictCode, &codes.conflict),
            Failure::Refused => (Convention::RefusedCode, &codes.refused),
        };
        self.dependencies.convention(Convention::ErrorShape);
        self.dependencies.convention(part);
        (&self.code, code)
    }

    fn read(&self, key: &str, depth: ReadDepth) -> Option<&EntityFacts<'a>> {
        self.dependencies.note(key, depth);
        self.entities.iter().find(|facts| facts.key == key)
    }

    /// An entity by its key. Filters, orders and actions are read of a block's own entity only.
    pub(super) fn entity(&self, key: &str) -> Option<&EntityFacts<'a>> {
        self.read(key, ReadDepth::Fields)
    }

    /// The entity that a reference names.
    pub(super) fn target(&self, part: &FieldFacts<'a>) -> Option<&EntityFacts<'a>> {
        self.entity(part.field.target()?)
    }

    /// The same where only its names, its required fields and soft delete are read.
    pub(super) fn target_base(&self, part: &FieldFacts<'a>) -> Option<&EntityFacts<'a>> {
        self.read(part.field.target()?, ReadDepth::Base)
    }

    /// An entity of which a record is made; nothing else is read.
    pub(super) fn made_entity(&self, key: &str) -> Option<&EntityFacts<'a>> {
        self.read(key, ReadDepth::Creation)
    }

    /// The references to an entity. Of the entities that have them only the base is read, and the reference itself.
    pub(super) fn links(&self, key: &str) -> impl Iterator<Item = (&EntityFacts<'a>, &FieldFacts<'a>)> {
        self.dependencies.note(key, ReadDepth::Links);
        self.entities.iter().flat_map(move |facts| {
            let links = facts.parts.iter().filter(move |part| part.field.target() == Some(key));
            links.map(move |part| {
                self.dependencies.note(facts.key, ReadDepth::Base);
                (facts, part)
            })
        })
    }

    /// The entity whose records need the least to be made.
    pub(super) fn simplest_entity(&self) -> Option<&EntityFacts<'a>> {
        self.entities.iter().min_by_key(|facts| facts.effort())
    }

    /// What an answer shows of a record that was made with these values, but for its id.
    pub(super) fn shown_record(&self, facts: &EntityFacts<'a>, given: &BodyValues) -> Map<String, Value> {
        let kept = facts.record_values(given);
        let mut shown = Map::with_capacity(kept.len() + 2);
        for part in &facts.parts {
            let value = match &part.field.computed {
                Some(computed) => facts.computed(computed, &kept),
                None => facts.value_of(&kept, &part.field.key).clone(),
            };
            shown.insert(part.json.clone(), value);
        }
        if facts.entity.soft_delete {
            shown.insert(self.schema.json_name("deleted"), json!(false));
        }
        shown
    }
}

/// The capture of a record's id.
pub(super) fn id_of(key: &str, n: u32) -> Value {
    json!({ "$": format!("{key}_{n}.id") })
}

impl FieldFacts<'_> {
    /// Whether it can be written after creation.
    pub(super) fn mutable(&self) -> bool {
        self.field.is_writable() && !self.field.immutable
    }

    /// Whether it is a reference.
    pub(super) fn refers(&self) -> bool {
        matches!(self.field.kind, Kind::Reference { .. })
    }

    /// The `n`th value (from 1). Of a reference always the first record.
    pub(super) fn value(&self, n: u32) -> Value {
        match self.field.target() {
            Some(target) => id_of(target, 1),
            None => values::valid(&self.field.kind, self.start, n),
        }
    }

    /// The value of a required field in the `n`th record that a case makes.
    pub(super) fn value_in_record(&self, n: u32) -> Value {
        self.value(if self.field.unique { n } else { 1 + (n - 1) % BODIES })
    }

    /// A valid value that none of these is.
    pub(super) fn other_value(&self, excluded: &[&Value]) -> Option<Value> {
        (1..=8).map(|n| self.value(n)).find(|value| !excluded.contains(&value))
    }

    /// What a record has without the field in the body.
    pub(super) fn value_if_absent(&self) -> Value {
        self.field.default.clone().unwrap_or(Value::Null)
    }
}

impl<'a> EntityFacts<'a> {
    /// A field by its key.
    pub(super) fn part(&self, key: &str) -> Option<&FieldFacts<'a>> {
        self.parts.iter().find(|part| part.field.key == key)
    }

    fn index(&self, key: &str) -> Option<usize> {
        self.parts.iter().position(|part| part.field.key == key)
    }

    /// How much a record needs to be made.
    pub(super) fn effort(&self) -> u32 {
        self.parts
            .iter()
            .filter(|part| part.field.required)
            .map(|part| if part.refers() { 10 } else { 1 })
            .sum()
    }

    /// The value of a field among those of a record.
    pub(super) fn value_of<'v>(&self, kept: &'v [Value], key: &str) -> &'v Value {
        self.index(key).and_then(|index| kept.get(index)).unwrap_or(&Value::Null)
    }

    /// The `n`th record: required fields only.
    pub(super) fn required_values(&self, n: u32) -> BodyValues {
        self.parts.iter().map(|part| part.field.required.then(|| part.value(n))).collect()
    }

    /// The `n`th record with every field that a client writes.
    pub(super) fn writable_values(&self, n: u32) -> BodyValues {
        self.parts.iter().map(|part| part.field.is_writable().then(|| part.value(n))).collect()
    }

    /// The body with these values.
    pub(super) fn body_of(&self, given: &BodyValues) -> Map<String, Value> {
        self.parts
            .iter()
            .zip(given)
            .filter_map(|(part, value)| Some((part.json.clone(), value.clone()?)))
            .collect()
    }

    /// The body of the `n`th record.
    pub(super) fn body(&self, n: u32) -> Map<String, Value> {
        self.parts
            .iter()
            .filter(|part| part.field.required)
            .map(|part| (part.json.clone(), part.value(n)))
            .collect()
    }

    /// The body of the `n`th record with another value.
    pub(super) fn body_with(&self, n: u32, part: &FieldFacts<'a>, value: Value) -> Value {
        let mut body = self.body(n);
        body.insert(part.json.clone(), value);
        Value::Object(body)
    }

    /// The body of the `n`th record without a field.
    pub(super) fn body_without(&self, n: u32, part: &FieldFacts<'a>) -> Value {
        let mut body = self.body(n);
        body.shift_remove(&part.json);
        Value::Object(body)
    }

    /// What a record has that was made with these values: defaults and nulls filled in.
    pub(super) fn record_values(&self, given: &BodyValues) -> Vec<Value> {
        self.parts
            .iter()
            .zip(given)
            .map(|(part, value)| value.clone().unwrap_or_else(|| part.value_if_absent()))
            .collect()
    }

    /// The path of the `n`th record that a case made.
    pub(super) fn record_path(&self, n: u32) -> String {
        format!("{}/{{{}_{n}.id}}", self.path, self.key)
    }

    /// The path of a record that never was.
    pub(super) fn missing_record_path(&self) -> String {
        format!("{}/999", self.path)
    }

    /// The capture of the `n`th record's id.
    pub(super) fn id(&self, n: u32) -> Value {
        id_of(self.key, n)
    }

    /// What a computed field shows of a record that nothing refers to.
    pub(super) fn computed(&self, computed: &Computed, kept: &[Value]) -> Value {
        let kept_value = |key: &str| self.value_of(kept, key);
        let both = |left: &str, right: &str, operation: fn(f64, f64) -> f64| match (
            kept_value(left).as_f64(),
            kept_value(right).as_f64(),
        ) {
            (Some(left), Some(right)) => whole_number(operation(left, right)),
            _ => Value::Null,
        };
        match computed {
            Computed::Joined { first, second, separator } => json!(format!(
                "{}{separator}{}",
                kept_value(first).as_str().unwrap_or_default(),
                kept_value(second).as_str().unwrap_or_default()
            )),
            Computed::Product { left, right } => both(left, right, |left, right| left * right),
            Computed::Sum { left, right } => both(left, right, |left, right| left + right),
            Computed::AtLeast { field, value } => json!(kept_value(field).as_f64() >= value.as_f64()),
            Computed::CountOf { .. } | Computed::TotalOf { .. } => json!(0),
        }
    }

    /// The fields of the record itself that a computed field is worked out from.
    pub(super) fn operands(&self, computed: &Computed) -> impl Iterator<Item = &FieldFacts<'a>> {
        let (first, second) = match computed {
            Computed::Joined { first, second, .. } => (Some(first), Some(second)),
            Computed::Product { left, right } | Computed::Sum { left, right } => (Some(left), Some(right)),
            Computed::AtLeast { field, .. } => (Some(field), None),
            Computed::CountOf { .. } | Computed::TotalOf { .. } => (None, None),
        };
        first.into_iter().chain(second).filter_map(|key| self.part(key))
    }

    /// Records (by their values, numbered from 1) in an order; ties stay in order of their numbers.
    pub(super) fn sorted_numbers(&self, sort: Option<&Sort>, records: &[Vec<Value>]) -> Vec<u32> {
        let mut order: Vec<usize> = (0..records.len()).collect();
        if let Some(sort) = sort {
            order.sort_by(|&left, &right| {
                let ordering = compare(
                    self.value_of(&records[left], &sort.field),
                    self.value_of(&records[right], &sort.field),
                );
                if sort.descending { ordering.reverse() } else { ordering }
            });
        }
        order.into_iter().map(|index| index as u32 + 1).collect()
    }
}

/// A number without a fraction where it has none.
pub(super) fn whole_number(number: f64) -> Value {
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

/// Numbers by size, texts by code point.
pub(super) fn compare(left: &Value, right: &Value) -> std::cmp::Ordering {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        _ => left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(std::cmp::Ordering::Equal),
    }
}
