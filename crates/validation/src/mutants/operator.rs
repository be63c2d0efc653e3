//! The ways to be wrong.

use strum::{IntoStaticStr, VariantArray};

/// The enum, with a sentence for each.
macro_rules! operators {
    ($($variant:ident $about:literal,)*) => {
        /// A way to be wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
        #[strum(serialize_all = "snake_case")]
        #[expect(missing_docs, reason = "`about` says what each is")]
        pub enum Operator {
            $($variant,)*
        }

        impl Operator {
            /// All of them.
            pub const ALL: &[Self] = Self::VARIANTS;

            /// One word: `guard_dropped`.
            pub fn name(self) -> &'static str {
                self.into()
            }

            /// What such a server does, as a sentence.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => $about,)*
                }
            }
        }
    };
}

operators! {
    ChangeLeftOut "One change of the turn is not done.",
    StaleNameKept "Something that was renamed keeps its old name.",
    CollectionMissing "The routes of an entity are not there.",
    NestedMissing "A nested route is not there.",
    FieldMissing "A field is not there.",
    ActionMissing "An action is not there.",
    AnalyticMissing "An analytic is not there.",
    BoundOffByOne "A bound of a value, length or number of items is one step off.",
    BoundDropped "A bound of a value, length or number of items is not looked at.",
    BoundsExclusive "Bounds exclude their own value.",
    PatternDropped "The form of a text is not looked at.",
    ConstraintInvented "A field has a rule that no text states.",
    EnumAsString "An enum takes any text.",
    EnumValueMissing "A value of an enum is not known.",
    TypeConfused "A field has another type.",
    TypeUnchecked "Values of another type are taken.",
    TextChanged "Texts are trimmed, measured in bytes or refused when empty.",
    WrongDefault "A default has another value.",
    DefaultDropped "A field that is not given becomes null instead of its default.",
    RequiredDropped "A required field need not be given.",
    RequiredAdded "A field that need not be given is required.",
    NullRefused "Null is refused where it is a value.",
    NullAccepted "Null is taken where it is no value.",
    NullConfused "Null counts as not given, or is not shown.",
    UniqueDropped "Two records may have the same value.",
    UniqueConfused "Uniqueness looks at the wrong records or requests.",
    ImmutableDropped "A field that is set once can be changed.",
    ImmutableInvented "A field cannot be changed.",
    ImmutableConfused "Fields that are set once are treated wrongly in some requests.",
    ReferenceUnchecked "A reference may name a record that is not there.",
    ComputedWrong "A computed field is computed in another way.",
    ComputedFrozen "Computed fields are worked out once only.",
    WrongDeleteRule "A deletion does something else to the records that refer.",
    CascadeMissing "Records that should go with another one stay, or some of them.",
    RestrictMissing "A deletion is done although a record forbids it, or half done.",
    SetNullMissing "References to a deleted record stay.",
    SoftDeleteDropped "Deleted records are removed instead of kept.",
    SoftDeleteInvented "Deleted records are kept instead of removed.",
    SoftDeletedSeen "Deleted records are listed, read, counted, or not shown when asked for.",
    FilterMissing "A filter is not there.",
    FilterIgnored "Filters have no effect, or take any value.",
    FilterWrong "Filters compare wrongly.",
    SortMissing "A sort is not there.",
    SortIgnored "Orders that are asked for have no effect, or any is taken.",
    SortWrong "Lists are ordered the wrong way.",
    DefaultSortWrong "The order of lists without a wish is another one.",
    PageOffByOne "Pages begin one off.",
    PageIgnored "Pages or their sizes have no effect, or any is taken.",
    WrongPageSize "The default or greatest size of a page is another one.",
    WrongPagination "Pages are asked for in another way.",
    TotalCountsPage "The total is that of the page.",
    NestedUnfiltered "Nested routes do not look at their parent.",
    GuardDropped "A condition of an action is not looked at.",
    GuardInverted "A condition of an action is turned round.",
    GuardOffByOne "A bound in a condition of an action is one step off.",
    GuardsConfused "Conditions of actions are not all looked at, or too late.",
    EffectDropped "An effect of an action is not done.",
    EffectWrongValue "An effect of an action sets another value.",
    IncrementOffByOne "An action adds one too much.",
    CreateEffectDropped "An action creates no record.",
    CreateEffectWrong "A record that an action creates has another value.",
    EffectUnchecked "Effects may break the rules of fields, or are kept when they do.",
    ActionAnswerWrong "An action answers with the record as it was.",
    ParamUnchecked "The parameters of actions are not looked at.",
    AggregateWrong "An analytic computes something else.",
    EmptyAggregateWrong "An analytic over nothing, or over nulls, is wrong.",
    GroupDropped "An analytic is not grouped.",
    GroupWrong "An analytic is grouped by something else.",
    RestrictionDropped "An analytic takes all records.",
    RestrictionWrong "An analytic takes other records.",
    AnalyticFilterIgnored "The query parameter of an analytic has no effect, or takes anything.",
    WrongStatus "Answers have another status.",
    WrongErrorCode "Errors have another code.",
    WrongErrorShape "Errors have another body.",
    WrongListShape "Lists have other keys.",
    WrongFieldCase "Names in bodies and queries are written in another case.",
    WrongPathCase "Paths are written in another case.",
    WrongPrefix "Paths have another prefix.",
    UnknownFieldsFlipped "Unknown fields are refused instead of ignored, or ignored instead of refused.",
    UnknownRouteOk "Paths that are not there answer 200.",
    ResetIncomplete "A reset leaves records or goes on counting ids.",
    IdWrong "Ids are used again, shared by entities or taken from the body.",
    BodyUnchecked "A body that is missing or no object is taken.",
    ReadOnlyRefused "Fields that should be ignored make a body invalid.",
    // words: ok (the text of a mutant)
    ChecksInWrongOrder "Of two faults of a request the wrong one is told.",
    PatchResetsAbsent "An update changes fields that are not given.",
    ReplaceWrong "A replace keeps what is not given, or creates what is not there.",
    WriteNotKept "A replace or update answers as if it were done, and is not.",
}
