//! Faults that mutants have.

use strum::VariantArray;

/// Faults of behavior that a mutant can have and a schema cannot express. The reference has none. A flaw holds for
/// the whole API.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    VariantArray,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    // Routes and errors.
    /// A path that the specification does not name answers 200 with an empty object.
    UnknownRouteOk,
    /// Errors have no message.
    ErrorWithoutMessage,
    /// Errors have no code.
    ErrorWithoutCode,
    /// A nested error body comes flat.
    ErrorFlattened,
    /// A reset removes nothing.
    ResetKeepsRecords,
    /// A reset removes the records and goes on counting ids.
    ResetKeepsIds,
    /// The id of a deleted record is given again.
    IdReused,
    /// Ids are counted over all entities together.
    IdShared,
    // Bodies.
    /// No body counts as an empty object.
    MissingBodyAccepted,
    /// A body that is no JSON object counts as an empty one.
    AnyBodyAccepted,
    /// `id`, `deleted` and computed fields in a body make it invalid.
    ReadOnlyRefused,
    /// A create takes the id that the body carries.
    IdFromBody,
    /// A required field need not be there.
    RequiredIgnored,
    /// A field that is not there becomes null whatever its default.
    DefaultIgnored,
    /// Null is taken for every field.
    NullAccepted,
    /// A null in a body counts as if the field were not there.
    NullIsAbsent,
    /// Fields without a value are left out of answers.
    NullNotShown,
    /// An update gives fields that are not there their default.
    PatchResetsAbsent,
    /// A replace leaves fields that are not there as they are.
    ReplaceKeepsAbsent,
    /// A replace treats an immutable field that is not there as any other.
    ReplaceResetsImmutable,
    /// A replace of a record that does not exist creates one.
    ReplaceCreates,
    /// A replace answers with the new record and keeps the old.
    ReplaceNotKept,
    /// An update answers with the new record and keeps the old.
    UpdateNotKept,
    /// A replace changes immutable fields.
    ImmutableIgnoredOnReplace,
    /// An update changes immutable fields.
    ImmutableIgnoredOnUpdate,
    /// An immutable field in a replace or update is refused even with its present value.
    ImmutableRefusesSame,
    /// A different value for an immutable field is dropped without an error.
    ImmutableKeptSilently,
    /// Spaces around texts are lost.
    TextTrimmed,
    /// A create looks for conflicts before it looks at the rest of the body.
    ConflictBeforeValidation,
    /// A replace or update looks at the body before it looks for the record.
    ValidationBeforeMissing,
    // Types.
    /// A number in quotes is taken for an integer or number.
    StringForInteger,
    /// A boolean is taken for an integer or number.
    BooleanForInteger,
    /// A number with a fraction is taken for an integer.
    FractionForInteger,
    /// A number is taken for a string.
    NumberForString,
    /// `"true"`, `"false"`, 0 and 1 are taken for booleans.
    StringForBoolean,
    /// Any text is taken for an enum.
    AnyTextForEnum,
    /// Enum values in capitals are taken.
    EnumIgnoresCase,
    /// Any text is taken for a date-time.
    AnyTextForDateTime,
    /// Dates that do not exist are taken.
    DateNotReal,
    /// A list of strings may hold anything.
    ListItemsUnchecked,
    /// Lengths are counted in bytes.
    LengthInBytes,
    /// An empty text is refused where no rule says so.
    EmptyTextRefused,
    /// All bounds are exclusive.
    BoundsExclusive,
    /// A reference may name a record that does not exist.
    ReferenceNotChecked,
    /// A reference may name a deleted record.
    ReferenceToDeleted,
    // Unique values.
    /// A create takes a value that another record has.
    UniqueIgnoredOnCreate,
    /// A replace or update takes a value that another record has.
    UniqueIgnoredOnUpdate,
    /// A record conflicts with its own value.
    UniqueCountsItself,
    /// Two nulls conflict.
    UniqueCountsNull,
    /// The values of deleted records stay taken.
    UniqueCountsDeleted,
    // Computed fields.
    /// Computed fields are worked out when a record is created, never again.
    ComputedFrozen,
    /// `at_least` means more than.
    ComputedExclusive,
    // Lists.
    /// A filter's parameter is accepted and ignored.
    FilterIgnored,
    /// At least and at most exclude the bound.
    FilterExclusive,
    /// At least and at most are confused.
    FilterSwapped,
    /// A filter for equal values finds the others.
    FilterInverted,
    /// One filter of several is enough.
    FilterAny,
    /// A null matches every filter.
    FilterMatchesNull,
    /// Contains does not look at case.
    FilterIgnoresCase,
    /// Contains looks at the beginning only.
    ContainsAtStart,
    /// A filter's value that cannot be read is ignored.
    FilterUnchecked,
    /// The order that is asked for is ignored.
    SortIgnored,
    /// Every order is turned round.
    SortReversed,
    /// Descending orders are ascending.
    DescendingIgnored,
    /// An order that does not exist is ignored.
    SortUnchecked,
    /// Equal values come by id descending.
    SortTiesReversed,
    /// Without a wish, lists come by id.
    DefaultSortIgnored,
    /// Pages are counted from 0, offsets from 1.
    PageOffByOne,
    /// Every page is the first.
    PageIgnored,
    /// Every page has the default size.
    PageSizeIgnored,
    /// A page size that is too large is made smaller without an error.
    PageSizeClamped,
    /// Nothing is invalid about pages and their sizes.
    PageUnchecked,
    /// `total` counts the records of the page.
    TotalCountsPage,
    /// A nested list holds the records of all parents.
    NestedUnfiltered,
    /// A nested route does not look for its parent.
    NestedParentUnchecked,
    /// A nested create takes the reference from the body.
    NestedTakesBody,
    // Deletion.
    /// Nothing is deleted along.
    CascadeIgnored,
    /// What refers to records that are deleted along stays.
    CascadeOneLevelOnly,
    /// Nothing forbids a deletion.
    RestrictIgnored,
    /// Only what refers to the record itself forbids its deletion, not what refers to records that go along.
    RestrictOfFirstOnly,
    /// A deletion that is forbidden deletes along all the same.
    RestrictAfterCascade,
    /// Deleted records forbid a deletion too.
    RestrictIgnoresSoftDelete,
    /// References to a deleted record stay.
    SetNullIgnored,
    /// Lists always hold deleted records.
    SoftDeletedListed,
    /// A deleted record can be read.
    SoftDeletedReadable,
    /// Deleted records count in analytics, counts, totals and guards.
    SoftDeletedCounted,
    /// `include_deleted` has no effect.
    IncludeDeletedIgnored,
    /// Records do not show `deleted`.
    DeletedFieldMissing,
    // Actions.
    /// The parameters of actions are not checked.
    ParamUnchecked,
    /// No guard is checked.
    GuardsIgnored,
    /// Only the first guard is checked.
    FirstGuardOnly,
    /// One guard of several is enough.
    AnyGuardSuffices,
    /// A guard on a related record holds if there is none.
    GuardHoldsWithoutRelated,
    /// An action that a guard refuses is done all the same.
    GuardAfterEffects,
    /// An action that a guard refuses does its first effect.
    FailedRequestChanges,
    /// Effects before the one that breaks a rule stay.
    FailedEffectKept,
    /// Effects may break the rules of fields.
    EffectUnchecked,
    /// An effect that breaks a rule is answered as invalid.
    EffectBreaksAsInvalid,
    /// Actions create no records.
    CreateEffectIgnored,
    /// A created record takes values as they are after the effects before it.
    OwnAfterEffects,
    /// An action answers with the record as it was.
    ActionAnswersBefore,
    // Analytics.
    /// Nulls count as 0 in averages.
    NullCountsInAverage,
    /// Averages lose their fraction.
    AverageRoundedDown,
    /// A sum of nothing is null.
    EmptySumIsNull,
    /// An average of nothing is 0.
    EmptyAverageIsZero,
    /// Least and greatest are confused.
    MinMaxSwapped,
    /// Null is a group.
    GroupWithNull,
    /// Groups are not made.
    GroupsMissing,
    /// The query parameter of an analytic is ignored.
    AnalyticByIgnored,
    /// A query parameter of an analytic that is no id is ignored.
    AnalyticByUnchecked,
    /// Analytics take all records.
    AnalyticOnlyIgnored,
}

impl Flaw {
    /// All of them.
    pub const ALL: &[Self] = Self::VARIANTS;
}

// A world keeps its flaws as bits.
const _: () = assert!(Flaw::ALL.len() <= 128);

impl Flaw {
    pub(super) const fn bit(self) -> u128 {
        1 << (self as u32)
    }
}
