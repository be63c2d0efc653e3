//! What a schema has that can be wrong: where a flaw of the reference server would be seen.

use scenario::check::guards::matters;
use scenario::ir::{
    Action, Analytic, Comparison, Computed, Condition, Effect, Entity, ErrorShape, Field, FilterOp, Kind,
    Measure, OnDelete, Operand, Schema,
};
use serde_json::Value;

use super::analytics::groups_of_one;

/// What a schema has: each is something that a flaw is about.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Some request can be answered as a conflict.
    pub(super) conflicts: bool,
    /// Some action can be refused.
    pub(super) refusals: bool,
    pub(super) nested_error: bool,
    pub(super) several_entities: bool,
    // Rules of fields.
    pub(super) required: bool,
    pub(super) default: bool,
    pub(super) nullable: bool,
    pub(super) not_nullable: bool,
    pub(super) optional: bool,
    pub(super) optional_mutable: bool,
    pub(super) mutable: bool,
    pub(super) immutable: bool,
    pub(super) unique: bool,
    pub(super) unique_mutable: bool,
    pub(super) unique_nullable: bool,
    pub(super) unique_soft: bool,
    pub(super) bounds: bool,
    // Types, of fields and parameters.
    pub(super) string: bool,
    pub(super) free_text: bool,
    pub(super) text_may_be_empty: bool,
    pub(super) text_length: bool,
    pub(super) integer: bool,
    pub(super) number: bool,
    pub(super) boolean: bool,
    pub(super) enumeration: bool,
    pub(super) date_time: bool,
    pub(super) list: bool,
    pub(super) computed: bool,
    pub(super) computed_at_least: bool,
    // References.
    pub(super) reference: bool,
    pub(super) reference_to_soft: bool,
    pub(super) nested: bool,
    pub(super) cascade: bool,
    pub(super) cascade_of_cascade: bool,
    pub(super) restrict: bool,
    pub(super) restrict_of_cascade: bool,
    pub(super) restrict_beside_cascade: bool,
    pub(super) restrict_by_soft: bool,
    pub(super) set_null: bool,
    pub(super) soft_delete: bool,
    pub(super) soft_counted: bool,
    // Lists.
    pub(super) filter: bool,
    pub(super) filter_with_type: bool,
    pub(super) filter_bound: bool,
    pub(super) filter_equal: bool,
    pub(super) filters_together: bool,
    pub(super) filter_nullable: bool,
    pub(super) filter_contains: bool,
    pub(super) sort: bool,
    pub(super) sort_ties: bool,
    pub(super) default_sort: bool,
    // Actions.
    pub(super) param: bool,
    pub(super) guard: bool,
    pub(super) later_guard: bool,
    pub(super) several_guards: bool,
    pub(super) related_guard_nullable: bool,
    pub(super) refusal_would_show: bool,
    pub(super) refusal_of_first_would_show: bool,
    pub(super) effect_can_break: bool,
    pub(super) effect_before_breaking: bool,
    pub(super) create_effect: bool,
    pub(super) own_after_effect: bool,
    pub(super) field_effect: bool,
    // Analytics.
    pub(super) average: bool,
    pub(super) average_nullable: bool,
    pub(super) empty_sum: bool,
    pub(super) empty_average: bool,
    pub(super) min_max: bool,
    pub(super) group: bool,
    pub(super) group_nullable: bool,
    pub(super) analytic_by: bool,
    pub(super) only: bool,
}

impl Facts {
    pub(super) fn from_schema(schema: &Schema) -> Self {
        let mut has = Self {
            nested_error: matches!(schema.conventions.error, ErrorShape::Nested { .. }),
            several_entities: schema.entities.len() > 1,
            ..Self::default()
        };
        for entity in &schema.entities {
            has.soft_delete |= entity.soft_delete;
            for field in &entity.fields {
                has.field(schema, entity, field);
            }
            has.lists(entity);
            for action in &entity.actions {
                has.action(schema, entity, action);
            }
        }
        for analytic in &schema.analytics {
            has.analytic(schema, analytic);
        }
        has.deletion(schema);
        has.conflicts = has.unique || has.restrict;
        has.refusals = has.guard || has.effect_can_break;
        has
    }

    fn field(&mut self, schema: &Schema, entity: &Entity, field: &Field) {
        if let Some(computed) = &field.computed {
            self.computed = true;
            match computed {
                Computed::AtLeast { .. } => self.computed_at_least = true,
                Computed::CountOf { entity, .. } | Computed::TotalOf { entity, .. } => {
                    self.soft_counted |= schema.entity(entity).is_some_and(|entity| entity.soft_delete);
                }
                _ => {}
            }
            return;
        }
        self.kind(&field.kind);
        self.required |= field.required;
        self.default |= field.default.is_some();
        self.nullable |= field.nullable;
        self.not_nullable |= !field.nullable;
        self.optional |= !field.required;
        self.optional_mutable |= !field.required && !field.immutable;
        self.mutable |= !field.immutable;
        self.immutable |= field.immutable;
        if field.unique {
            self.unique = true;
            self.unique_mutable |= !field.immutable;
            self.unique_nullable |= field.nullable;
            self.unique_soft |= entity.soft_delete;
        }
        if let Kind::Reference { entity: target, nested, .. } = &field.kind {
            self.reference = true;
            self.nested |= *nested;
            self.reference_to_soft |= schema.entity(target).is_some_and(|target| target.soft_delete);
        }
    }

    /// The type of a field or parameter.
    fn kind(&mut self, kind: &Kind) {
        match kind {
            Kind::String { min_length, max_length, pattern } => {
                self.string = true;
                self.free_text |= pattern.is_none();
                self.text_may_be_empty |= pattern.is_none() && min_length.is_none();
                // A text of no characters has no bytes either.
                self.text_length |= min_length.is_some_and(|min| min > 1) || max_length.is_some();
                self.bounds |= min_length.is_some() || max_length.is_some();
            }
            Kind::Integer { min, max } => {
                self.integer = true;
                self.bounds |= min.is_some() || max.is_some();
            }
            Kind::Number { min, max } => {
                self.number = true;
                self.bounds |= min.is_some() || max.is_some();
            }
            Kind::Boolean => self.boolean = true,
            Kind::DateTime => self.date_time = true,
            Kind::Enum { .. } => self.enumeration = true,
            Kind::StringList { min_items, max_items } => {
                self.list = true;
                self.bounds |= min_items.is_some() || max_items.is_some();
            }
            Kind::Reference { .. } => {}
        }
    }

    fn lists(&mut self, entity: &Entity) {
        self.filter |= !entity.filters.is_empty();
        self.filters_together |= entity.filters.len() > 1;
        for filter in &entity.filters {
            let Some(field) = entity.field(&filter.field) else { continue };
            self.filter_nullable |= field.nullable;
            match filter.op {
                FilterOp::Equals => self.filter_equal = true,
                FilterOp::AtLeast | FilterOp::AtMost => self.filter_bound = true,
                FilterOp::Contains => self.filter_contains = true,
            }
            self.filter_with_type |= matches!(
                field.kind,
                Kind::Integer { .. }
                    | Kind::Number { .. }
                    | Kind::Boolean
                    | Kind::DateTime
                    | Kind::Enum { .. }
            );
        }
        self.sort |= !entity.sorts.is_empty();
        self.sort_ties |= entity.sorts.iter().filter_map(|key| entity.field(key)).any(|field| !field.unique);
        self.default_sort |= entity.default_sort.is_some();
    }

    fn deletion(&mut self, schema: &Schema) {
        // (the entity that refers, the one that it refers to, what happens)
        let mut rules: Vec<(&Entity, &str, OnDelete)> = Vec::new();
        for entity in &schema.entities {
            for field in &entity.fields {
                if let Kind::Reference { entity: target, on_delete, .. } = &field.kind {
                    rules.push((entity, target, *on_delete));
                }
            }
        }
        for (child, parent, rule) in &rules {
            match rule {
                OnDelete::SetNull => self.set_null = true,
                OnDelete::Restrict => {
                    self.restrict = true;
                    self.restrict_by_soft |= child.soft_delete;
                    self.restrict_beside_cascade |=
                        rules.iter().any(|(_, other, rule)| other == parent && *rule == OnDelete::Cascade);
                }
                OnDelete::Cascade => {
                    self.cascade = true;
                    for (_, target, rule) in &rules {
                        if *target == child.key {
                            self.cascade_of_cascade |= *rule == OnDelete::Cascade;
                            self.restrict_of_cascade |= *rule == OnDelete::Restrict;
                        }
                    }
                }
            }
        }
        self.restrict_beside_cascade |= self.restrict_of_cascade;
    }

    fn action(&mut self, schema: &Schema, entity: &Entity, action: &Action) {
        for param in &action.params {
            self.param = true;
            self.kind(&param.kind);
        }
        self.guard |= !action.guards.is_empty();
        let weighs = |index| matters(schema, entity, action, index, None);
        self.later_guard |= (1..action.guards.len()).any(weighs);
        self.several_guards |= action.guards.len() > 1 && (0..action.guards.len()).any(weighs);
        for guard in &action.guards {
            match &guard.condition {
                Condition::Related { reference, .. } => {
                    self.related_guard_nullable |=
                        entity.field(reference).is_some_and(|field| field.nullable);
                }
                Condition::HasAtLeast { entity, .. } | Condition::HasNone { entity, .. } => {
                    self.soft_counted |= schema.entity(entity).is_some_and(|entity| entity.soft_delete);
                }
                Condition::Field { .. } => {}
            }
            let shows = |effect: &Effect| !is_silent(entity, &guard.condition, effect);
            self.refusal_would_show |= action.effects.iter().any(shows);
            self.refusal_of_first_would_show |= action.effects.first().is_some_and(shows);
        }
        for (index, effect) in action.effects.iter().enumerate() {
            let earlier = || action.effects.iter().take(index);
            if can_break(schema, entity, action, effect) {
                self.effect_can_break = true;
                self.effect_before_breaking |= index > 0;
            }
            match effect {
                Effect::Set { .. } | Effect::Increment { .. } => self.field_effect = true,
                Effect::Create { values, .. } => {
                    self.create_effect = true;
                    self.own_after_effect |= values.iter().any(|value| match &value.from {
                        Operand::Own(own) => earlier().any(|effect| match effect {
                            Effect::Set { field, .. } | Effect::Increment { field, .. } => field == own,
                            Effect::Create { .. } => false,
                        }),
                        _ => false,
                    });
                }
            }
        }
    }

    fn analytic(&mut self, schema: &Schema, analytic: &Analytic) {
        let Some(entity) = schema.entity(&analytic.entity) else { return };
        self.soft_counted |= entity.soft_delete;
        // Where only those with a certain value are taken, none of them has null there.
        let fixed = |key: &str| {
            analytic.only.as_ref().is_some_and(|only| only.through.is_none() && only.field == key)
        };
        let nullable = |key: &str| entity.field(key).is_some_and(|field| field.nullable) && !fixed(key);
        self.group |= analytic.group_by.is_some();
        // A record without a group is not seen where only those with a certain one are taken.
        let group = analytic.group_by.as_deref();
        let only_grouped = analytic
            .only
            .as_ref()
            .is_some_and(|only| group == Some(only.through.as_deref().unwrap_or(only.field.as_str())));
        self.group_nullable |= group.is_some_and(nullable) && !only_grouped;
        self.analytic_by |= analytic.by.is_some();
        self.only |= analytic.only.is_some();
        // A group has at least one record; its values may all be null.
        let can_be_empty = analytic.group_by.is_none() || analytic.measure.field().is_some_and(nullable);
        match &analytic.measure {
            Measure::Count => {}
            Measure::Sum(_) => self.empty_sum |= can_be_empty,
            Measure::Average(field) => {
                self.average = true;
                self.average_nullable |= nullable(field);
                self.empty_average |= can_be_empty;
            }
            Measure::Min(_) | Measure::Max(_) => self.min_max |= !groups_of_one(entity, analytic),
        }
    }
}

/// Whether a record that a condition keeps from an action has already what an effect would set.
fn is_silent(entity: &Entity, condition: &Condition, effect: &Effect) -> bool {
    let (Condition::Field { field, is }, Effect::Set { field: set, to: Operand::Value(to) }) =
        (condition, effect)
    else {
        return false;
    };
    if field != set {
        return false;
    }
    match is {
        Comparison::Not(value) => value == to,
        Comparison::IsSet => to.is_null(),
        Comparison::OneOf(values) => match entity.field(field).map(|field| (&field.kind, field.nullable)) {
            Some((Kind::Enum { values: all }, false)) => {
                values.len() + 1 == all.len() && !values.contains(to)
            }
            _ => false,
        },
        Comparison::Equals(value) => match entity.field(field) {
            Some(field) if field.nullable => false,
            Some(Field { kind: Kind::Boolean, .. }) => value != to,
            Some(Field { kind: Kind::Enum { values }, .. }) => values.len() == 2 && value != to,
            _ => false,
        },
        _ => false,
    }
}

/// Whether an effect can break a rule of a field.
fn can_break(schema: &Schema, entity: &Entity, action: &Action, effect: &Effect) -> bool {
    let param = |key: &str| action.params.iter().find(|param| param.key == key).map(|param| &param.kind);
    match effect {
        Effect::Set { field, to: Operand::Param(key) } => entity
            .field(field)
            .zip(param(key))
            .is_some_and(|(field, param_kind)| is_wider(param_kind, &field.kind)),
        Effect::Set { .. } => false,
        Effect::Increment { field, by } => {
            let Some(Kind::Integer { min, max }) = entity.field(field).map(|field| &field.kind) else {
                return false;
            };
            let (least, most) = match by {
                Operand::Value(by) => (by.as_i64().unwrap_or_default(), by.as_i64().unwrap_or_default()),
                Operand::Param(key) => match param(key) {
                    Some(Kind::Integer { min, max }) => (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX)),
                    _ => return false,
                },
                Operand::Own(_) => return false,
            };
            // What the guards let through is within these.
            let (low, high) = limits(action, field);
            max.is_some_and(|max| {
                most > 0 && high.map_or(max, |high| high.min(max)).saturating_add(most) > max
            }) || min.is_some_and(|min| {
                least < 0 && low.map_or(min, |low| low.max(min)).saturating_add(least) < min
            })
        }
        Effect::Create { entity: other, values, .. } => {
            let Some(other) = schema.entity(other) else { return false };
            values.iter().any(|value| {
                let Some(field) = other.field(&value.field) else { return false };
                match &value.from {
                    Operand::Value(_) => false,
                    Operand::Param(key) => {
                        param(key).is_some_and(|param_kind| is_wider(param_kind, &field.kind))
                    }
                    Operand::Own(key) => {
                        entity.field(key).is_some_and(|own_field| is_wider(&own_field.kind, &field.kind))
                    }
                }
            })
        }
    }
}

/// The least and the greatest value of an integer with which all guards on it can hold.
fn limits(action: &Action, field: &str) -> (Option<i64>, Option<i64>) {
    let whole = |value: &Value, round: fn(f64) -> f64| value.as_f64().map(|number| round(number) as i64);
    let (mut low, mut high): (Option<i64>, Option<i64>) = (None, None);
    for guard in &action.guards {
        let Condition::Field { field: own, is } = &guard.condition else { continue };
        if own != field {
            continue;
        }
        let (least, most) = match is {
            Comparison::AtLeast(value) => (whole(value, f64::ceil), None),
            Comparison::AtMost(value) => (None, whole(value, f64::floor)),
            Comparison::Equals(value) => (whole(value, f64::ceil), whole(value, f64::floor)),
            _ => (None, None),
        };
        low = low.max(least);
        high = most.map_or(high, |most| Some(high.map_or(most, |high| high.min(most))));
    }
    (low, high)
}

/// Whether a kind has values that another of the same type refuses.
fn is_wider(source: &Kind, target: &Kind) -> bool {
    fn bounds<T: PartialOrd>(least: Option<T>, most: Option<T>, min: Option<T>, max: Option<T>) -> bool {
        min.is_some_and(|min| least.is_none_or(|least| least < min))
            || max.is_some_and(|max| most.is_none_or(|most| most > max))
    }
    match (source, target) {
        (
            Kind::String { min_length: least, max_length: most, pattern: source_pattern },
            Kind::String { min_length, max_length, pattern },
        ) => {
            (pattern.is_some() && source_pattern != pattern)
                || bounds(*least, *most, *min_length, *max_length)
        }
        (Kind::Integer { min: least, max: most }, Kind::Integer { min, max }) => {
            bounds(*least, *most, *min, *max)
        }
        (Kind::Number { min: least, max: most }, Kind::Number { min, max }) => {
            bounds(*least, *most, *min, *max)
        }
        (
            Kind::StringList { min_items: least, max_items: most },
            Kind::StringList { min_items, max_items },
        ) => bounds(*least, *most, *min_items, *max_items),
        _ => false,
    }
}
