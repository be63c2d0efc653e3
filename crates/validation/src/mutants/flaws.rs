//! Flaws of the reference server: which operator each belongs to, and where it can be seen.

use scenario::ir::Schema;
use scenario::reference::Flaw;

use super::facts::Facts;
use super::{Mutation, Operator, Site, Sites};

pub(super) fn find(schema: &Schema, sites: &mut Sites<'_>) {
    let facts = Facts::from_schema(schema);
    for &flaw in Flaw::ALL {
        let (operator, is_noticeable) = place(flaw, &facts);
        if is_noticeable {
            sites.0.push(Site { operator, location: name(flaw), mutation: Mutation::Flaw(flaw) });
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
