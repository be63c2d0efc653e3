//! Bodies: from JSON to the values of a record, or the first rule that they break.

use serde_json::{Map, Value};

use super::answer::{Outcome, conflict, invalid};
use super::plan::{EntityPlan, FieldPlan, ServerPlan};
use super::records::{Record, is_same_value};
use super::{Flaw, Request, World, text_formats};
use crate::ir::{Kind, UnknownFields};

/// What is done with a body.
#[derive(Clone, Copy)]
pub(super) enum Purpose<'a> {
    Create,
    /// Of the record as it is now.
    Replace(&'a Record),
    /// Of the record as it is now.
    Update(&'a Record),
}

impl<'a> Purpose<'a> {
    fn present_record(self) -> Option<&'a Record> {
        match self {
            Self::Create => None,
            Self::Replace(record) | Self::Update(record) => Some(record),
        }
    }
}

impl World {
    /// The body as a JSON object.
    pub(super) fn object<'a>(&self, request: &'a Request) -> Outcome<Option<&'a Map<String, Value>>> {
        match &request.body {
            Some(Ok(Value::Object(body))) => Ok(Some(body)),
            None if self.has(Flaw::MissingBodyAccepted) => Ok(None),
            Some(Ok(_) | Err(())) if self.has(Flaw::AnyBodyAccepted) => Ok(None),
            None => Err(invalid("A JSON object is needed as body")),
            Some(Ok(_)) => Err(invalid("The body must be a JSON object")),
            Some(Err(())) => Err(invalid("The body is not JSON")),
        }
    }

    /// The values of a record after a body was taken in. `fixed` is a reference that the path gives.
    pub(super) fn values(
        &self,
        plan: &ServerPlan,
        entity: &EntityPlan,
        body: Option<&Map<String, Value>>,
        purpose: Purpose<'_>,
        fixed: Option<(usize, i64)>,
    ) -> Outcome<Vec<Value>> {
        if let Some(body) = body {
            self.check_known(plan, entity, &entity.fields, body)?;
        }
        let mut values = Vec::with_capacity(entity.fields.len());
        for (index, field) in entity.fields.iter().enumerate() {
            let given = body.and_then(|body| body.get(&field.name));
            values.push(self.field_value(field, index, given, purpose, fixed)?);
        }
        Ok(values)
    }

    /// The value of one field after a body was taken in.
    fn field_value(
        &self,
        field: &FieldPlan,
        index: usize,
        given: Option<&Value>,
        purpose: Purpose<'_>,
        fixed: Option<(usize, i64)>,
    ) -> Outcome<Value> {
        let present = purpose.present_record().map_or(&Value::Null, |record| record.value(index));
        if field.read_only {
            return Ok(present.clone());
        }
        if let Some((reference, id)) = fixed
            && reference == index
        {
            match given {
                Some(given) if self.has(Flaw::NestedTakesBody) => return Ok(given.clone()),
                _ => return Ok(Value::from(id)),
            }
        }
        let given = given.filter(|given| !(given.is_null() && self.has(Flaw::NullIsAbsent)));
        let Some(given) = given else {
            let fresh = || match &field.default {
                Some(default) if !self.has(Flaw::DefaultIgnored) => default.clone(),
                _ => Value::Null,
            };
            return match purpose {
                Purpose::Update(_) if self.has(Flaw::PatchResetsAbsent) && !field.required => Ok(fresh()),
                Purpose::Update(_) => Ok(present.clone()),
                Purpose::Replace(_) if field.immutable && !self.has(Flaw::ReplaceResetsImmutable) => {
                    Ok(present.clone())
                }
                Purpose::Replace(_) if self.has(Flaw::ReplaceKeepsAbsent) => Ok(present.clone()),
                _ if field.required && !self.has(Flaw::RequiredIgnored) => {
                    Err(invalid(format!("{} is required", field.name)))
                }
                _ => Ok(fresh()),
            };
        };
        self.fits(field, given)?;
        if field.immutable {
            let (applies, differs) = match purpose {
                Purpose::Create => (false, false),
                Purpose::Replace(_) => {
                    (!self.has(Flaw::ImmutableIgnoredOnReplace), !is_same_value(given, present))
                }
                Purpose::Update(_) => {
                    (!self.has(Flaw::ImmutableIgnoredOnUpdate), !is_same_value(given, present))
                }
            };
            if differs && self.has(Flaw::ImmutableKeptSilently) {
                return Ok(present.clone());
            }
            if applies && (differs || self.has(Flaw::ImmutableRefusesSame)) {
                return Err(invalid(format!("{} cannot be changed", field.name)));
            }
        }
        if self.has(Flaw::TextTrimmed)
            && let Value::String(text) = given
        {
            return Ok(Value::String(text.trim().to_owned()));
        }
        Ok(given.clone())
    }

    /// Refuses keys that are neither fields nor ignored, if the convention says so. `id`, `deleted` and computed fields
    /// are always ignored.
    pub(super) fn check_known(
        &self,
        plan: &ServerPlan,
        entity: &EntityPlan,
        fields: &[FieldPlan],
        body: &Map<String, Value>,
    ) -> Outcome<()> {
        if plan.conventions.unknown_fields == UnknownFields::Ignore && !self.has(Flaw::ReadOnlyRefused) {
            return Ok(());
        }
        for key in body.keys() {
            let read_only = matches!(key.as_str(), "id" | "deleted")
                || entity
                    .by_name
                    .get(key)
                    .and_then(|&index| entity.fields.get(index))
                    .is_some_and(|field| field.read_only);
            if read_only {
                if self.has(Flaw::ReadOnlyRefused) {
                    return Err(invalid(format!("{key} cannot be written")));
                }
            } else if plan.conventions.unknown_fields == UnknownFields::Reject
                && !fields.iter().any(|field| field.name == *key)
            {
                return Err(invalid(format!("{key} is not known")));
            }
        }
        Ok(())
    }

    /// Whether a field can have a value: null rule, type, bounds.
    pub(super) fn fits(&self, field: &FieldPlan, value: &Value) -> Outcome<()> {
        if value.is_null() {
            return if field.nullable || self.has(Flaw::NullAccepted) {
                Ok(())
            } else {
                Err(invalid(format!("{} must not be null", field.name)))
            };
        }
        match self.breaks(field, value) {
            None => Ok(()),
            Some(problem) => Err(invalid(format!("{} {problem}", field.name))),
        }
    }

    /// What a value (not null) breaks of a field's type.
    fn breaks(&self, field: &FieldPlan, value: &Value) -> Option<String> {
        match &field.kind {
            Kind::String { min_length, max_length, pattern } => {
                let Value::String(text) = value else {
                    let lax = self.has(Flaw::NumberForString) && value.is_number();
                    return (!lax).then(|| "must be a string".to_owned());
                };
                if let Some(pattern) = pattern {
                    return (!text_formats::matches(*pattern, text))
                        .then(|| format!("must match {}", pattern.regex()));
                }
                if min_length.is_none() && max_length.is_none() && !self.has(Flaw::EmptyTextRefused) {
                    return None;
                }
                let length = if self.has(Flaw::LengthInBytes) { text.len() } else { text.chars().count() };
                if self.has(Flaw::EmptyTextRefused) && length == 0 {
                    return Some("must not be empty".to_owned());
                }
                is_outside(length, *min_length, *max_length, self.has(Flaw::BoundsExclusive))
                    .then(|| "is too short or too long".to_owned())
            }
            Kind::Integer { min, max } => {
                let Some(number) = self.integer_value(value) else {
                    return Some("must be an integer".to_owned());
                };
                let exclusive = i64::from(self.has(Flaw::BoundsExclusive));
                let outside = min.is_some_and(|min| number < min.saturating_add(exclusive))
                    || max.is_some_and(|max| number > max.saturating_sub(exclusive));
                outside.then(|| "is out of bounds".to_owned())
            }
            Kind::Number { min, max } => {
                let Some(number) = self.decimal(value) else {
                    return Some("must be a number".to_owned());
                };
                let exclusive = self.has(Flaw::BoundsExclusive);
                let outside = min.is_some_and(|min| number < min || (exclusive && number <= min))
                    || max.is_some_and(|max| number > max || (exclusive && number >= max));
                outside.then(|| "is out of bounds".to_owned())
            }
            Kind::Boolean => {
                let lax = self.has(Flaw::StringForBoolean)
                    && (value == "true" || value == "false" || value == 0 || value == 1);
                (!value.is_boolean() && !lax).then(|| "must be true or false".to_owned())
            }
            Kind::DateTime => {
                let fine = value
                    .as_str()
                    .is_some_and(|text| self.has(Flaw::AnyTextForDateTime) || self.is_date_time(text));
                (!fine).then(|| "must be a date and time like 2024-03-01T12:30:00Z".to_owned())
            }
            Kind::Enum { values } => {
                let fine = value.as_str().is_some_and(|text| {
                    self.has(Flaw::AnyTextForEnum)
                        || values.iter().any(|word| {
                            word == text
                                || (self.has(Flaw::EnumIgnoresCase) && word.eq_ignore_ascii_case(text))
                        })
                });
                (!fine).then(|| format!("must be one of {}", values.join(", ")))
            }
            Kind::StringList { min_items, max_items } => {
                let Value::Array(items) = value else {
                    return Some("must be a list of strings".to_owned());
                };
                if !self.has(Flaw::ListItemsUnchecked) && !items.iter().all(Value::is_string) {
                    return Some("must be a list of strings".to_owned());
                }
                is_outside(items.len(), *min_items, *max_items, self.has(Flaw::BoundsExclusive))
                    .then(|| "has too few or too many items".to_owned())
            }
            Kind::Reference { .. } => {
                let exists = value.as_i64().is_some_and(|id| {
                    self.has(Flaw::ReferenceNotChecked)
                        || field.target.and_then(|target| self.tables.get(target)).is_some_and(|table| {
                            table.live_record(id).is_some()
                                || (self.has(Flaw::ReferenceToDeleted) && table.records.contains_key(&id))
                        })
                });
                (!exists).then(|| "must be the id of a record that exists".to_owned())
            }
        }
    }

    pub(super) fn is_date_time(&self, text: &str) -> bool {
        text_formats::is_date_time(text)
            || (self.has(Flaw::DateNotReal) && text_formats::looks_like_date_time(text))
    }

    fn integer_value(&self, value: &Value) -> Option<i64> {
        match value {
            Value::Number(number) => number
                .as_i64()
                .or_else(|| self.has(Flaw::FractionForInteger).then(|| number.as_f64())?.map(|n| n as i64)),
            Value::String(text) if self.has(Flaw::StringForInteger) => text.parse().ok(),
            Value::Bool(value) if self.has(Flaw::BooleanForInteger) => Some(i64::from(*value)),
            _ => None,
        }
    }

    fn decimal(&self, value: &Value) -> Option<f64> {
        match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) if self.has(Flaw::StringForInteger) => text.parse().ok(),
            Value::Bool(value) if self.has(Flaw::BooleanForInteger) => Some(f64::from(u8::from(*value))),
            _ => None,
        }
    }

    /// Refuses a value that another record has, where values are unique.
    pub(super) fn check_unique(
        &self,
        entity: usize,
        plan: &EntityPlan,
        values: &[Value],
        own: Option<i64>,
    ) -> Outcome<()> {
        let ignored = if own.is_some() { Flaw::UniqueIgnoredOnUpdate } else { Flaw::UniqueIgnoredOnCreate };
        if self.has(ignored) {
            return Ok(());
        }
        let Some(table) = self.tables.get(entity) else { return Ok(()) };
        for (index, (field, value)) in plan.fields.iter().zip(values).enumerate() {
            if !field.unique || (value.is_null() && !self.has(Flaw::UniqueCountsNull)) {
                continue;
            }
            let taken = table.records.values().any(|other| {
                (Some(other.id) != own || self.has(Flaw::UniqueCountsItself))
                    && (!other.deleted || self.has(Flaw::UniqueCountsDeleted))
                    && is_same_value(other.value(index), value)
            });
            if taken {
                return Err(conflict(format!("{} is already taken", field.name)));
            }
        }
        Ok(())
    }
}

fn is_outside(count: usize, min: Option<u32>, max: Option<u32>, exclusive: bool) -> bool {
    min.is_some_and(|min| count < min as usize || (exclusive && count <= min as usize))
        || max.is_some_and(|max| count > max as usize || (exclusive && count >= max as usize))
}
