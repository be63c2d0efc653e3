//! What the cases of a schema have in common: names as the API writes them, bodies, and what a record shows.
//!
//! Bodies carry the required fields only. What a case is about it gives itself, so that a new field leaves the cases
//! that have nothing to do with it as they were.

use serde_json::{Map, Value, json};

use super::generate::BODIES;
use super::values;
use crate::Seed;
use crate::ir::{Computed, Entity, Field, Kind, Schema, Sort, words};

/// Names and bodies of a schema.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) schema: &'a Schema,
    pub(super) entities: Vec<Facts<'a>>,
    /// JSON pointer to the list of records.
    pub(super) items: String,
    /// JSON pointer to their number.
    pub(super) total: String,
    /// JSON pointer to the code of an error.
    pub(super) code: String,
    /// The parameters of pages: which, how many.
    pub(super) page: (String, String),
    /// The parameter that takes deleted records in.
    pub(super) include_deleted: String,
}

/// An entity.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub(super) entity: &'a Entity,
    /// Its key.
    pub(super) key: &'a str,
    /// Of its collection.
    pub(super) path: String,
    /// `a repair order`.
    pub(super) a: String,
    /// `repair orders`.
    pub(super) many: String,
    pub(super) parts: Vec<Part<'a>>,
}

/// A field.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) field: &'a Field,
    /// Its name in JSON.
    pub(super) json: String,
    /// Id of its clause, and begin of the ids of its cases.
    pub(super) clause: String,
    /// Where its values start.
    start: u32,
}

/// What a body says about the fields of an entity, in their order; nothing for those that it leaves out.
pub(super) type Given = Vec<Option<Value>>;

impl<'a> Plan<'a> {
    pub(super) fn new(seed: Seed, schema: &'a Schema) -> Self {
        let (which, size) = schema.conventions.pagination.style.params();
        let entities = schema
            .entities
            .iter()
            .map(|entity| {
                let parts = entity
                    .fields
                    .iter()
                    .map(|field| {
                        let clause = format!("{}.{}", entity.key, field.key);
                        let start = seed.draw(0, &clause).below(1000) as u32;
                        Part { field, json: schema.json_name(&field.name), clause, start }
                    })
                    .collect();
                let one = words(&entity.name);
                let article = if one.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                Facts {
                    entity,
                    key: &entity.key,
                    path: schema.collection_path(entity),
                    a: format!("{article} {one}"),
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
            page: (schema.json_name(which), schema.json_name(size)),
            include_deleted: schema.json_name("include_deleted"),
        }
    }

    /// An entity by its key.
    pub(super) fn entity(&self, key: &str) -> Option<&Facts<'a>> {
        self.entities.iter().find(|facts| facts.key == key)
    }

    /// The entity that a reference names.
    pub(super) fn target(&self, part: &Part<'a>) -> Option<&Facts<'a>> {
        self.entity(part.field.target()?)
    }

    /// The entity whose records need the least to be made.
    pub(super) fn simplest(&self) -> Option<&Facts<'a>> {
        self.entities.iter().min_by_key(|facts| facts.effort())
    }

    /// What an answer shows of a record that was made with these values, but for its id.
    pub(super) fn shown(&self, facts: &Facts<'a>, given: &Given) -> Map<String, Value> {
        let kept = facts.kept(given);
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

impl Part<'_> {
    /// Whether a client writes it.
    pub(super) fn writable(&self) -> bool {
        self.field.is_writable()
    }

    /// Whether it can be written after creation.
    pub(super) fn mutable(&self) -> bool {
        self.writable() && !self.field.immutable
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
    pub(super) fn made(&self, n: u32) -> Value {
        self.value(if self.field.unique { n } else { 1 + (n - 1) % BODIES })
    }

    /// A valid value that none of these is.
    pub(super) fn other(&self, than: &[&Value]) -> Option<Value> {
        (1..=8).map(|n| self.value(n)).find(|value| !than.contains(&value))
    }

    /// What a record has without the field in the body.
    pub(super) fn absent(&self) -> Value {
        self.field.default.clone().unwrap_or(Value::Null)
    }
}

impl<'a> Facts<'a> {
    /// A field by its key.
    pub(super) fn part(&self, key: &str) -> Option<&Part<'a>> {
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
    pub(super) fn given(&self, n: u32) -> Given {
        self.parts.iter().map(|part| part.field.required.then(|| part.value(n))).collect()
    }

    /// The `n`th record with every field that a client writes.
    pub(super) fn full(&self, n: u32) -> Given {
        self.parts.iter().map(|part| part.writable().then(|| part.value(n))).collect()
    }

    /// The body with these values.
    pub(super) fn body_of(&self, given: &Given) -> Map<String, Value> {
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
    pub(super) fn body_with(&self, n: u32, part: &Part<'a>, value: Value) -> Value {
        let mut body = self.body(n);
        body.insert(part.json.clone(), value);
        Value::Object(body)
    }

    /// The body of the `n`th record without a field.
    pub(super) fn body_without(&self, n: u32, part: &Part<'a>) -> Value {
        let mut body = self.body(n);
        body.shift_remove(&part.json);
        Value::Object(body)
    }

    /// What a record has that was made with these values: defaults and nulls filled in.
    pub(super) fn kept(&self, given: &Given) -> Vec<Value> {
        self.parts
            .iter()
            .zip(given)
            .map(|(part, value)| value.clone().unwrap_or_else(|| part.absent()))
            .collect()
    }

    /// The path of the `n`th record that a case made.
    pub(super) fn at(&self, n: u32) -> String {
        format!("{}/{{{}_{n}.id}}", self.path, self.key)
    }

    /// The path of a record that never was.
    pub(super) fn nowhere(&self) -> String {
        format!("{}/999", self.path)
    }

    /// The capture of the `n`th record's id.
    pub(super) fn id(&self, n: u32) -> Value {
        id_of(self.key, n)
    }

    /// What a computed field shows of a record that nothing refers to.
    pub(super) fn computed(&self, computed: &Computed, kept: &[Value]) -> Value {
        let of = |key: &str| self.value_of(kept, key);
        let both = |left: &str, right: &str, by: fn(f64, f64) -> f64| match (
            of(left).as_f64(),
            of(right).as_f64(),
        ) {
            (Some(left), Some(right)) => whole(by(left, right)),
            _ => Value::Null,
        };
        match computed {
            Computed::Joined { first, second, separator } => json!(format!(
                "{}{separator}{}",
                of(first).as_str().unwrap_or_default(),
                of(second).as_str().unwrap_or_default()
            )),
            Computed::Product { left, right } => both(left, right, |left, right| left * right),
            Computed::Sum { left, right } => both(left, right, |left, right| left + right),
            Computed::AtLeast { field, value } => json!(of(field).as_f64() >= value.as_f64()),
            Computed::CountOf { .. } | Computed::TotalOf { .. } => json!(0),
        }
    }

    /// The fields of the record itself that a computed field is worked out from.
    pub(super) fn operands(&self, computed: &Computed) -> impl Iterator<Item = &Part<'a>> {
        let (first, second) = match computed {
            Computed::Joined { first, second, .. } => (Some(first), Some(second)),
            Computed::Product { left, right } | Computed::Sum { left, right } => (Some(left), Some(right)),
            Computed::AtLeast { field, .. } => (Some(field), None),
            Computed::CountOf { .. } | Computed::TotalOf { .. } => (None, None),
        };
        first.into_iter().chain(second).filter_map(|key| self.part(key))
    }

    /// Records (by their values, numbered from 1) in an order; ties stay in order of their numbers.
    pub(super) fn sorted(&self, sort: Option<&Sort>, records: &[Vec<Value>]) -> Vec<u32> {
        let mut order: Vec<usize> = (0..records.len()).collect();
        if let Some(sort) = sort {
            order.sort_by(|&left, &right| {
                let by = compare(
                    self.value_of(&records[left], &sort.field),
                    self.value_of(&records[right], &sort.field),
                );
                if sort.descending { by.reverse() } else { by }
            });
        }
        order.into_iter().map(|index| index as u32 + 1).collect()
    }
}

/// A number without a fraction where it has none.
pub(super) fn whole(number: f64) -> Value {
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

/// Numbers by size, texts by code point.
pub(super) fn compare(left: &Value, right: &Value) -> std::cmp::Ordering {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        _ => left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(std::cmp::Ordering::Equal),
    }
}
