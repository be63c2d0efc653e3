//! Flaws of the reference server: which operator each belongs to, and where it can be seen.

use serde_json::Value;

use super::{How, Operator, Site, Sites};
use crate::check::guards::matters;
use crate::ir::{
    Action, Analytic, Comparison, Computed, Condition, Effect, Entity, ErrorShape, Field, FilterOp, Kind,
    Measure, OnDelete, Operand, Schema,
};
use crate::reference::Flaw;

pub(super) fn find(schema: &Schema, sites: &mut Sites<'_>) {
    let facts = Facts::of(schema);
    for &flaw in Flaw::ALL {
        let (operator, seen) = place(flaw, &facts);
        if seen {
            sites.0.push(Site { operator, at: name(flaw), how: How::Flaw(flaw) });
        }
    }
}

/// `FilterIgnored` → `filter_ignored`.
fn name(flaw: Flaw) -> String {
    let mut name = String::new();
    for letter in format!("{flaw:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// The operator of a flaw, and whether a schema has what the flaw is about.
fn place(flaw: Flaw, has: &Facts) -> (Operator, bool) {
    match flaw {
        Flaw::UnknownRouteOk => (Operator::UnknownRouteOk, true),
        Flaw::ErrorWithoutMessage | Flaw::ErrorWithoutCode => (Operator::WrongErrorShape, true),
        Flaw::ErrorFlattened => (Operator::WrongErrorShape, has.nested_error),
        Flaw::ResetKeepsRecords | Flaw::ResetKeepsIds => (Operator::ResetIncomplete, true),
        Flaw::IdReused | Flaw::IdFromBody => (Operator::IdWrong, true),
        Flaw::IdShared => (Operator::IdWrong, has.several_entities),
        Flaw::MissingBodyAccepted | Flaw::AnyBodyAccepted => (Operator::BodyUnchecked, true),
        Flaw::ReadOnlyRefused => (Operator::ReadOnlyRefused, true),
        Flaw::RequiredIgnored => (Operator::RequiredDropped, has.required),
        Flaw::DefaultIgnored => (Operator::DefaultDropped, has.default),
        Flaw::NullAccepted => (Operator::NullAccepted, has.not_nullable),
        Flaw::NullIsAbsent => (Operator::NullConfused, has.nullable || has.optional),
        Flaw::NullNotShown => (Operator::NullConfused, has.nullable),
        Flaw::PatchResetsAbsent => (Operator::PatchResetsAbsent, has.optional),
        Flaw::ReplaceKeepsAbsent => (Operator::ReplaceWrong, has.optional_mutable),
        Flaw::ReplaceCreates => (Operator::ReplaceWrong, true),
        Flaw::ReplaceNotKept | Flaw::UpdateNotKept => (Operator::WriteNotKept, has.mutable),
        Flaw::ReplaceResetsImmutable
        | Flaw::ImmutableIgnoredOnReplace
        | Flaw::ImmutableIgnoredOnUpdate
        | Flaw::ImmutableRefusesSame
        | Flaw::ImmutableKeptSilently => (Operator::ImmutableConfused, has.immutable),
        Flaw::TextTrimmed => (Operator::TextChanged, has.free_text),
        Flaw::EmptyTextRefused => (Operator::TextChanged, has.text_may_be_empty),
        Flaw::LengthInBytes => (Operator::TextChanged, has.text_length),
        Flaw::ConflictBeforeValidation => (Operator::ChecksInWrongOrder, has.unique),
        Flaw::ValidationBeforeMissing => (Operator::ChecksInWrongOrder, true),
        Flaw::StringForInteger | Flaw::BooleanForInteger => {
            (Operator::TypeUnchecked, has.integer || has.number)
        }
        Flaw::FractionForInteger => (Operator::TypeUnchecked, has.integer),
        Flaw::NumberForString => (Operator::TypeUnchecked, has.string),
        Flaw::StringForBoolean => (Operator::TypeUnchecked, has.boolean),
        Flaw::AnyTextForEnum => (Operator::EnumAsString, has.enumeration),
        Flaw::EnumIgnoresCase => (Operator::TypeUnchecked, has.enumeration),
        Flaw::AnyTextForDateTime | Flaw::DateNotReal => (Operator::TypeUnchecked, has.date_time),
        Flaw::ListItemsUnchecked => (Operator::TypeUnchecked, has.list),
        Flaw::BoundsExclusive => (Operator::BoundsExclusive, has.bounds),
        Flaw::ReferenceNotChecked => (Operator::ReferenceUnchecked, has.reference),
        Flaw::ReferenceToDeleted => (Operator::ReferenceUnchecked, has.reference_to_soft),
        Flaw::UniqueIgnoredOnCreate | Flaw::UniqueCountsItself => (Operator::UniqueConfused, has.unique),
        Flaw::UniqueIgnoredOnUpdate => (Operator::UniqueConfused, has.unique_mutable),
        Flaw::UniqueCountsNull => (Operator::UniqueConfused, has.unique_nullable),
        Flaw::UniqueCountsDeleted => (Operator::UniqueConfused, has.unique_soft),
        Flaw::ComputedFrozen => (Operator::ComputedFrozen, has.computed),
        Flaw::ComputedExclusive => (Operator::ComputedWrong, has.computed_at_least),
        Flaw::FilterIgnored => (Operator::FilterIgnored, has.filter),
        Flaw::FilterUnchecked => (Operator::FilterIgnored, has.filter_with_type),
        Flaw::FilterExclusive | Flaw::FilterSwapped => (Operator::FilterWrong, has.filter_bound),
        Flaw::FilterInverted => (Operator::FilterWrong, has.filter_equal),
        Flaw::FilterAny => (Operator::FilterWrong, has.filters_together),
        Flaw::FilterMatchesNull => (Operator::FilterWrong, has.filter_nullable),
        Flaw::FilterIgnoresCase | Flaw::ContainsAtStart => (Operator::FilterWrong, has.filter_contains),
        Flaw::SortIgnored => (Operator::SortIgnored, has.sort),
        Flaw::SortUnchecked => (Operator::SortIgnored, true),
        Flaw::SortReversed | Flaw::DescendingIgnored => (Operator::SortWrong, has.sort),
        Flaw::SortTiesReversed => (Operator::SortWrong, has.sort_ties),
        Flaw::DefaultSortIgnored => (Operator::DefaultSortWrong, has.default_sort),
        Flaw::PageOffByOne => (Operator::PageOffByOne, true),
        Flaw::PageIgnored | Flaw::PageSizeIgnored | Flaw::PageSizeClamped | Flaw::PageUnchecked => {
            (Operator::PageIgnored, true)
        }
        Flaw::TotalCountsPage => (Operator::TotalCountsPage, true),
        Flaw::NestedUnfiltered | Flaw::NestedParentUnchecked | Flaw::NestedTakesBody => {
            (Operator::NestedUnfiltered, has.nested)
        }
        Flaw::CascadeIgnored => (Operator::CascadeMissing, has.cascade),
        Flaw::CascadeOneLevelOnly => (Operator::CascadeMissing, has.cascade_of_cascade),
        Flaw::RestrictIgnored => (Operator::RestrictMissing, has.restrict),
        Flaw::RestrictOfFirstOnly => (Operator::RestrictMissing, has.restrict_of_cascade),
        Flaw::RestrictAfterCascade => (Operator::RestrictMissing, has.restrict_beside_cascade),
        Flaw::RestrictIgnoresSoftDelete => (Operator::RestrictMissing, has.restrict_by_soft),
        Flaw::SetNullIgnored => (Operator::SetNullMissing, has.set_null),
        Flaw::SoftDeletedListed
        | Flaw::SoftDeletedReadable
        | Flaw::IncludeDeletedIgnored
        | Flaw::DeletedFieldMissing => (Operator::SoftDeletedSeen, has.soft_delete),
        Flaw::SoftDeletedCounted => (Operator::SoftDeletedSeen, has.soft_counted),
        Flaw::ParamUnchecked => (Operator::ParamUnchecked, has.param),
        Flaw::GuardsIgnored => (Operator::GuardsConfused, has.guard),
        Flaw::FirstGuardOnly => (Operator::GuardsConfused, has.later_guard),
        Flaw::AnyGuardSuffices => (Operator::GuardsConfused, has.several_guards),
        Flaw::GuardHoldsWithoutRelated => (Operator::GuardsConfused, has.related_guard_nullable),
        Flaw::GuardAfterEffects => (Operator::GuardsConfused, has.refusal_would_show),
        Flaw::FailedRequestChanges => (Operator::GuardsConfused, has.refusal_of_first_would_show),
        Flaw::FailedEffectKept => (Operator::EffectUnchecked, has.effect_before_breaking),
        Flaw::EffectUnchecked | Flaw::EffectBreaksAsInvalid => {
            (Operator::EffectUnchecked, has.effect_can_break)
        }
        Flaw::CreateEffectIgnored => (Operator::CreateEffectDropped, has.create_effect),
        Flaw::OwnAfterEffects => (Operator::CreateEffectWrong, has.own_after_effect),
        Flaw::ActionAnswersBefore => (Operator::ActionAnswerWrong, has.field_effect),
        Flaw::NullCountsInAverage => (Operator::EmptyAggregateWrong, has.average_nullable),
        Flaw::AverageRoundedDown => (Operator::AggregateWrong, has.average),
        Flaw::EmptySumIsNull => (Operator::EmptyAggregateWrong, has.empty_sum),
        Flaw::EmptyAverageIsZero => (Operator::EmptyAggregateWrong, has.empty_average),
        Flaw::MinMaxSwapped => (Operator::AggregateWrong, has.min_max),
        Flaw::GroupWithNull => (Operator::GroupWrong, has.group_nullable),
        Flaw::GroupsMissing => (Operator::GroupDropped, has.group),
        Flaw::AnalyticByIgnored | Flaw::AnalyticByUnchecked => {
            (Operator::AnalyticFilterIgnored, has.analytic_by)
        }
        Flaw::AnalyticOnlyIgnored => (Operator::RestrictionDropped, has.only),
    }
}

/// What a schema has: each is something that a flaw is about.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Some request can be answered as a conflict.
    pub(super) conflicts: bool,
    /// Some action can be refused.
    pub(super) refusals: bool,
    nested_error: bool,
    several_entities: bool,
    // Rules of fields.
    required: bool,
    default: bool,
    nullable: bool,
    not_nullable: bool,
    optional: bool,
    optional_mutable: bool,
    mutable: bool,
    immutable: bool,
    unique: bool,
    unique_mutable: bool,
    unique_nullable: bool,
    unique_soft: bool,
    bounds: bool,
    // Types, of fields and parameters.
    string: bool,
    free_text: bool,
    text_may_be_empty: bool,
    text_length: bool,
    integer: bool,
    number: bool,
    boolean: bool,
    enumeration: bool,
    date_time: bool,
    list: bool,
    computed: bool,
    computed_at_least: bool,
    // References.
    reference: bool,
    reference_to_soft: bool,
    nested: bool,
    cascade: bool,
    cascade_of_cascade: bool,
    restrict: bool,
    restrict_of_cascade: bool,
    restrict_beside_cascade: bool,
    restrict_by_soft: bool,
    set_null: bool,
    soft_delete: bool,
    soft_counted: bool,
    // Lists.
    filter: bool,
    filter_with_type: bool,
    filter_bound: bool,
    filter_equal: bool,
    filters_together: bool,
    filter_nullable: bool,
    filter_contains: bool,
    sort: bool,
    sort_ties: bool,
    default_sort: bool,
    // Actions.
    param: bool,
    guard: bool,
    later_guard: bool,
    several_guards: bool,
    related_guard_nullable: bool,
    refusal_would_show: bool,
    refusal_of_first_would_show: bool,
    effect_can_break: bool,
    effect_before_breaking: bool,
    create_effect: bool,
    own_after_effect: bool,
    field_effect: bool,
    // Analytics.
    average: bool,
    average_nullable: bool,
    empty_sum: bool,
    empty_average: bool,
    min_max: bool,
    group: bool,
    group_nullable: bool,
    analytic_by: bool,
    only: bool,
}

impl Facts {
    pub(super) fn of(schema: &Schema) -> Self {
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
            Measure::Min(_) | Measure::Max(_) => self.min_max = true,
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
        Effect::Set { field, to: Operand::Param(key) } => {
            entity.field(field).zip(param(key)).is_some_and(|(field, given)| is_wider(given, &field.kind))
        }
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
            // What the guards let through lies within these.
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
                    Operand::Param(key) => param(key).is_some_and(|given| is_wider(given, &field.kind)),
                    Operand::Own(key) => {
                        entity.field(key).is_some_and(|own| is_wider(&own.kind, &field.kind))
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
fn is_wider(given: &Kind, taken: &Kind) -> bool {
    fn bounds<T: PartialOrd>(least: Option<T>, most: Option<T>, min: Option<T>, max: Option<T>) -> bool {
        min.is_some_and(|min| least.is_none_or(|least| least < min))
            || max.is_some_and(|max| most.is_none_or(|most| most > max))
    }
    match (given, taken) {
        (
            Kind::String { min_length: least, max_length: most, pattern: given },
            Kind::String { min_length, max_length, pattern },
        ) => (pattern.is_some() && given != pattern) || bounds(*least, *most, *min_length, *max_length),
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
