//! The ways to be wrong.

/// The enum, with a name and a sentence for each.
macro_rules! operators {
    ($($variant:ident $name:literal $about:literal,)*) => {
        /// A way to be wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "`about` says what each is")]
        pub enum Operator {
            $($variant,)*
        }

        impl Operator {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// One word: `guard_dropped`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What such a server does, as a sentence.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => $about,)*
                }
            }
        }
    };
}

operators! {
    ChangeLeftOut "change_left_out" "One change of the turn is not done.",
    StaleNameKept "stale_name_kept" "Something that was renamed keeps its old name.",
    CollectionMissing "collection_missing" "The routes of an entity are not there.",
    NestedMissing "nested_missing" "A nested route is not there.",
    FieldMissing "field_missing" "A field is not there.",
    ActionMissing "action_missing" "An action is not there.",
    AnalyticMissing "analytic_missing" "An analytic is not there.",
    BoundOffByOne "bound_off_by_one" "A bound of a value, length or number of items is one step off.",
    BoundDropped "bound_dropped" "A bound of a value, length or number of items is not looked at.",
    BoundsExclusive "bounds_exclusive" "Bounds exclude their own value.",
    PatternDropped "pattern_dropped" "The form of a text is not looked at.",
    ConstraintInvented "constraint_invented" "A field has a rule that no text states.",
    EnumAsString "enum_as_string" "An enum takes any text.",
    EnumValueMissing "enum_value_missing" "A value of an enum is not known.",
    TypeConfused "type_confused" "A field has another type.",
    TypeUnchecked "type_unchecked" "Values of another type are taken.",
    TextChanged "text_changed" "Texts are trimmed, measured in bytes or refused when empty.",
    WrongDefault "wrong_default" "A default has another value.",
    DefaultDropped "default_dropped" "A field that is not given becomes null instead of its default.",
    RequiredDropped "required_dropped" "A required field need not be given.",
    RequiredAdded "required_added" "A field that need not be given is required.",
    NullRefused "null_refused" "Null is refused where it is a value.",
    NullAccepted "null_accepted" "Null is taken where it is no value.",
    NullConfused "null_confused" "Null counts as not given, or is not shown.",
    UniqueDropped "unique_dropped" "Two records may have the same value.",
    UniqueConfused "unique_confused" "Uniqueness looks at the wrong records or requests.",
    ImmutableDropped "immutable_dropped" "A field that is set once can be changed.",
    // words: ok (the text of a mutant)
    ImmutableInvented "immutable_invented" "A field can not be changed.",
    ImmutableConfused "immutable_confused" "Fields that are set once are treated wrongly in some requests.",
    ReferenceUnchecked "reference_unchecked" "A reference may name a record that is not there.",
    ComputedWrong "computed_wrong" "A computed field is computed in another way.",
    ComputedFrozen "computed_frozen" "Computed fields are worked out once only.",
    WrongDeleteRule "wrong_delete_rule" "A deletion does something else to the records that refer.",
    CascadeMissing "cascade_missing" "Records that should go with another one stay, or some of them.",
    RestrictMissing "restrict_missing" "A deletion is done although a record forbids it, or half done.",
    SetNullMissing "set_null_missing" "References to a deleted record stay.",
    SoftDeleteDropped "soft_delete_dropped" "Deleted records are removed instead of kept.",
    SoftDeleteInvented "soft_delete_invented" "Deleted records are kept instead of removed.",
    SoftDeletedSeen "soft_deleted_seen" "Deleted records are listed, read, counted, or not shown when asked for.",
    FilterMissing "filter_missing" "A filter is not there.",
    FilterIgnored "filter_ignored" "Filters have no effect, or take any value.",
    FilterWrong "filter_wrong" "Filters compare wrongly.",
    SortMissing "sort_missing" "A sort is not there.",
    SortIgnored "sort_ignored" "Orders that are asked for have no effect, or any is taken.",
    SortWrong "sort_wrong" "Lists are ordered the wrong way.",
    DefaultSortWrong "default_sort_wrong" "The order of lists without a wish is another one.",
    PageOffByOne "page_off_by_one" "Pages begin one off.",
    PageIgnored "page_ignored" "Pages or their sizes have no effect, or any is taken.",
    WrongPageSize "wrong_page_size" "The default or greatest size of a page is another one.",
    WrongPagination "wrong_pagination" "Pages are asked for in another way.",
    TotalCountsPage "total_counts_page" "The total is that of the page.",
    NestedUnfiltered "nested_unfiltered" "Nested routes do not look at their parent.",
    GuardDropped "guard_dropped" "A condition of an action is not looked at.",
    GuardInverted "guard_inverted" "A condition of an action is turned round.",
    GuardOffByOne "guard_off_by_one" "A bound in a condition of an action is one step off.",
    GuardsConfused "guards_confused" "Conditions of actions are not all looked at, or too late.",
    EffectDropped "effect_dropped" "An effect of an action is not done.",
    EffectWrongValue "effect_wrong_value" "An effect of an action sets another value.",
    IncrementOffByOne "increment_off_by_one" "An action adds one too much.",
    CreateEffectDropped "create_effect_dropped" "An action creates no record.",
    CreateEffectWrong "create_effect_wrong" "A record that an action creates has another value.",
    EffectUnchecked "effect_unchecked" "Effects may break the rules of fields, or are kept when they do.",
    ActionAnswerWrong "action_answer_wrong" "An action answers with the record as it was.",
    ParamUnchecked "param_unchecked" "The parameters of actions are not looked at.",
    AggregateWrong "aggregate_wrong" "An analytic computes something else.",
    EmptyAggregateWrong "empty_aggregate_wrong" "An analytic over nothing, or over nulls, is wrong.",
    GroupDropped "group_dropped" "An analytic is not grouped.",
    GroupWrong "group_wrong" "An analytic is grouped by something else.",
    RestrictionDropped "restriction_dropped" "An analytic takes all records.",
    RestrictionWrong "restriction_wrong" "An analytic takes other records.",
    AnalyticFilterIgnored "analytic_filter_ignored" "The query parameter of an analytic has no effect, or takes anything.",
    WrongStatus "wrong_status" "Answers have another status.",
    WrongErrorCode "wrong_error_code" "Errors have another code.",
    WrongErrorShape "wrong_error_shape" "Errors have another body.",
    WrongListShape "wrong_list_shape" "Lists have other keys.",
    WrongFieldCase "wrong_field_case" "Names in bodies and queries are written in another case.",
    WrongPathCase "wrong_path_case" "Paths are written in another case.",
    WrongPrefix "wrong_prefix" "Paths have another prefix.",
    UnknownFieldsFlipped "unknown_fields_flipped" "Unknown fields are refused instead of ignored, or ignored instead of refused.",
    UnknownRouteOk "unknown_route_ok" "Paths that are not there answer 200.",
    ResetIncomplete "reset_incomplete" "A reset leaves records or goes on counting ids.",
    IdWrong "id_wrong" "Ids are used again, shared by entities or taken from the body.",
    BodyUnchecked "body_unchecked" "A body that is missing or no object is taken.",
    ReadOnlyRefused "read_only_refused" "Fields that should be ignored make a body invalid.",
    // words: ok (the text of a mutant)
    ChecksInWrongOrder "checks_in_wrong_order" "Of two faults of a request the wrong one is told.",
    PatchResetsAbsent "patch_resets_absent" "An update changes fields that are not given.",
    ReplaceWrong "replace_wrong" "A replace keeps what is not given, or creates what is not there.",
    WriteNotKept "write_not_kept" "A replace or update answers as if it were done, and is not.",
}
