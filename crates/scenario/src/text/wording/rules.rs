//! Words for changes of filters, sorts and the rules of fields.

use super::Wording;
use crate::change::{ConstraintChange, ListChange};

/// The words for a change of a list.
pub(super) fn for_list(change: &ListChange) -> &'static Wording {
    match change {
        ListChange::AddFilter { .. } => &ADD_FILTER,
        ListChange::RemoveFilter { .. } => &REMOVE_FILTER,
        ListChange::AddSort { .. } => &ADD_SORT,
        ListChange::RemoveSort { .. } => &REMOVE_SORT,
        ListChange::ChangeDefaultSort { .. } => &CHANGE_DEFAULT_SORT,
    }
}

/// The words for a change of a rule of a field.
pub(super) fn for_constraint(change: &ConstraintChange) -> &'static Wording {
    match change {
        ConstraintChange::Tighten { .. } => &TIGHTEN,
        ConstraintChange::Loosen { .. } => &LOOSEN,
        ConstraintChange::Require { .. } => &REQUIRE,
        ConstraintChange::MakeOptional { .. } => &MAKE_OPTIONAL,
        ConstraintChange::AllowNull { .. } => &ALLOW_NULL,
        ConstraintChange::ForbidNull { .. } => &FORBID_NULL,
        ConstraintChange::ChangeDefault { .. } => &CHANGE_DEFAULT,
        ConstraintChange::MakeUnique { .. } => &MAKE_UNIQUE,
        ConstraintChange::DropUnique { .. } => &DROP_UNIQUE,
        ConstraintChange::MakeImmutable { .. } => &MAKE_IMMUTABLE,
        ConstraintChange::MakeMutable { .. } => &MAKE_MUTABLE,
    }
}

const SEARCH: &[&str] = &[
    "The lists have grown long.",
    "The front end loads everything just to find a few.",
    "It is what people look for first.",
    "The new overview page needs it.",
    "A client asked whether this is possible.",
];

const ORDER_REASONS: &[&str] = &[
    "Users scroll through the whole list to find what they look for.",
    "It is the order that people expect.",
    "The new overview page needs it.",
    "People have copied the list into a spreadsheet to order it.",
];

const UNSEARCHED_REASONS: &[&str] = &[
    "It was slow, and nobody used it.",
    "The overview page does not offer it any more.",
    "We want to keep the lists simple.",
    "It gave people wrong ideas about the data.",
    "The last client that used it was switched off.",
];

const STRICT_REASONS: &[&str] = &[
    "We found a lot of nonsense in the data.",
    "Bad data has cost us money more than once.",
    "A partner rejects data that breaks this rule.",
    "Somebody entered rubbish, and it went unnoticed for weeks.",
    "It was always meant like this; the specification had it wrong.",
    "Clean data from the start is cheaper than cleaning up later.",
];

const LAX_REASONS: &[&str] = &[
    "Reality is more varied than we thought.",
    "Legitimate entries were turned away.",
    "Support had to enter such cases by hand.",
    "The old rule was stricter than anything that we need.",
    "The old rule kept an important customer from working with us.",
    "There were honest exceptions that had to be turned away.",
];

const FREE_REASONS: &[&str] = &[
    "The old rule caused more trouble than it prevented.",
    "Support has had to ask us to change such records.",
    "The old rule kept an important customer from working with us.",
    "There were good reasons for exceptions.",
];

const ADD_FILTER: Wording = Wording {
    summary: "Adds the filter `{param}` to the list of {many}.",
    requests: &[
        "Add the filter `{param}` to the list of {many}.",
        "The list of {many} gets a new filter, `{param}`.",
        "Could you add a filter `{param}` to the list of {many}?",
        "It should be possible to narrow down the list of {many}; please add the filter `{param}`.",
        "New filter for the list of {many}: `{param}`.",
        "Finding {many} takes too long. Add a filter `{param}` to their list.",
    ],
    reasons: SEARCH,
};

const REMOVE_FILTER: Wording = Wording {
    summary: "Removes the filter `{param}` from the list of {many}.",
    requests: &[
        "Remove the filter `{param}` from the list of {many}.",
        "The list of {many} should no longer have the filter `{param}`.",
        "We no longer need the filter `{param}` in the list of {many}; please remove it.",
        "Could you drop the filter `{param}` from the list of {many}?{why} The field itself stays.",
        "{^many}: the filter `{param}` is dropped.{why} The field itself stays.",
    ],
    reasons: UNSEARCHED_REASONS,
};

const ADD_SORT: Wording = Wording {
    summary: "Allows sorting {many} by {f}.",
    requests: &[
        "Allow sorting {many} by {f}.",
        "{^many} can also be sorted by {f} from now on.",
        "Let clients sort the list of {many} by {f} too, in both directions.",
        "Could you add {f} to the fields that {many} can be sorted by?",
        "Clients want to sort the list of {many} by {f}; please add it as a sort field.",
        "New sort field for {many}: {f}.",
    ],
    reasons: ORDER_REASONS,
};

const REMOVE_SORT: Wording = Wording {
    summary: "Removes {f} from the fields that {many} can be sorted by.",
    requests: &[
        "Remove {f} from the fields that {many} can be sorted by.",
        "The list of {many} should no longer support sorting by {f}.",
        "Stop offering {f} as a sort field of {many}; remove it.",
        "Could you drop {f} from the sort fields of {many}?",
        "{^many}: sorting by {f} is discontinued.",
    ],
    reasons: UNSEARCHED_REASONS,
};

const CHANGE_DEFAULT_SORT: Wording = Wording {
    summary: "Changes the default order of {many}: by {order}.",
    requests: &[
        "Change the default order of {many}: by {order}.",
        "Without a `sort` parameter, {many} are listed in a new default order: by {order}.",
        "When a request has no `sort` parameter, list {many} by {order}; this is their new default order.",
        "Could you change the default order of {many}? It should be by {order}.",
        "New default order of {many}: by {order}.",
        "People expect the list of {many} to be ordered by {order}; please make that the default order.",
    ],
    reasons: ORDER_REASONS,
};

const TIGHTEN: Wording = Wording {
    summary: "Makes {f} of {many} stricter: {kind} (until now: {old_kind}).",
    requests: &[
        "Tighten the rule for {f} of {many}: {kind} instead of {old_kind}.",
        "{f} of {many} accepts too much today: {old_kind}. Tighten this to: {kind}.",
        "Could you validate {f} of {many} more strictly? Until now: {old_kind}. The new rule is: {kind}.{why}",
        "Stricter validation for {f} of {many}: {kind} (until now: {old_kind}).{why}",
        "{^many}, {f}, stricter rule: {old_kind} → {kind}.",
        "Please narrow down what {f} of {many} accepts. Old rule: {old_kind}. New rule: {kind}.",
    ],
    reasons: STRICT_REASONS,
};

const LOOSEN: Wording = Wording {
    summary: "Makes {f} of {many} less strict: {kind} (until now: {old_kind}).",
    requests: &[
        "Relax the rule for {f} of {many}: {kind} instead of {old_kind}.",
        "{f} of {many} accepts too little today: {old_kind}. Relax this to: {kind}.",
        "Could you validate {f} of {many} less strictly? Until now: {old_kind}. The new rule is: {kind}.{why}",
        "Less strict validation for {f} of {many}: {kind} (until now: {old_kind}).{why}",
        "{^many}, {f}, less strict rule: {old_kind} → {kind}.",
        "Please widen what {f} of {many} accepts. Old rule: {old_kind}. New rule: {kind}.",
    ],
    reasons: LAX_REASONS,
};

const REQUIRE: Wording = Wording {
    summary: "Makes {f} of {many} required.",
    requests: &[
        "Make {f} of {many} required.",
        "{f} is a required field of {many} from now on.",
        "{f} of {many} becomes required: a create without it is *invalid*.",
        "Could you make {f} required for {many}? A create without it is then *invalid*.",
        "{^many}, {f}: required from now on.",
        "Too many {many} come in without {f}. It is required from now on.",
    ],
    reasons: STRICT_REASONS,
};

const MAKE_OPTIONAL: Wording = Wording {
    summary: "Makes {f} of {many} optional, with the default {to}.",
    requests: &[
        "Make {f} of {many} optional, with the default {to}.",
        "{f} of {many} does not have to be given any more; it becomes optional, and its default is {to}.",
        "{f} becomes an optional field of {many}, with the default {to}.",
        "Could you make {f} of {many} optional? If it is omitted, it gets the default {to}.",
        "{^many}, {f}: optional from now on, default {to}.",
        "Not everyone knows {f} when creating {a_one}. It becomes optional, with the default {to}.",
    ],
    reasons: LAX_REASONS,
};

const ALLOW_NULL: Wording = Wording {
    summary: "Allows null for {f} of {many}.",
    requests: &[
        "Allow null for {f} of {many}.",
        "{f} of {many} may be null from now on.",
        "{f} of {many} becomes nullable.",
        "Could you accept null for {f} of {many}?",
        "{^many}, {f}: null is allowed from now on.",
        "{f} of {a_one} is not always known. Please allow null for it.",
    ],
    reasons: LAX_REASONS,
};

const FORBID_NULL: Wording = Wording {
    summary: "Forbids null for {f} of {many}{with_default}.",
    requests: &[
        "Forbid null for {f} of {many}.{now_gets}",
        "{f} of {many} must not be null any more.{now_gets}",
        "{f} of {many} is no longer nullable.{now_gets}",
        "Could you reject null for {f} of {many} from now on?{now_gets}",
        "{^many}, {f}: null is no longer allowed.{now_gets}",
        "Null in {f} of {many} breaks our reports. Please forbid it.{now_gets}",
    ],
    reasons: STRICT_REASONS,
};

const CHANGE_DEFAULT: Wording = Wording {
    summary: "Changes the default of {f} of {many} from {from} to {to}.",
    requests: &[
        "Change the default of {f} of {many} from {from} to {to}.",
        "{f} of {many} has the default {to} from now on, instead of {from}.",
        "When {f} of {a_one} is omitted, it gets the default {to} from now on; until now it got {from}.",
        "Could you set the default of {f} of {many} to {to}?{why} Today it is {from}.",
        "{^many}, {f}: default {from} → {to}.",
        "Most people correct {f} of {many} by hand, because the default {from} is wrong. The default should be {to}.",
    ],
    reasons: &[
        "The new one is what people mean when they say nothing.",
        "The old behavior surprised new users.",
        "The new one saves a click in nine cases out of ten.",
        "The rulebook changed this month.",
        "The old one was never decided on purpose.",
    ],
};

const MAKE_UNIQUE: Wording = Wording {
    summary: "Makes {f} of {many} unique.",
    requests: &[
        "Make {f} of {many} unique.",
        "{f} of {many} must be unique from now on.",
        "No two {many} may have the same {f}: the field becomes unique.",
        "Could you enforce that {f} is unique among {many}?",
        "{^many}, {f}: unique from now on.",
        "We had two {many} with the same {f} and mixed them up. Please make the field unique.",
    ],
    reasons: STRICT_REASONS,
};

const DROP_UNIQUE: Wording = Wording {
    summary: "Makes {f} of {many} no longer unique.",
    requests: &[
        "{f} of {many} no longer has to be unique.",
        "Drop the uniqueness of {f} of {many}.",
        "Several {many} may have the same {f} from now on; it is no longer unique.",
        "Could you remove the uniqueness check for {f} of {many}?",
        "{^many}, {f}: no longer unique.",
    ],
    reasons: FREE_REASONS,
};

const MAKE_IMMUTABLE: Wording = Wording {
    summary: "Makes {f} of {many} immutable.",
    requests: &[
        "Make {f} of {many} immutable.",
        "{f} of {many} cannot be changed after creation any more; it becomes immutable.",
        "Once {a_one} is created, its {f} is fixed: the field becomes immutable.",
        "Could you make {f} of {many} immutable?",
        "{^many}, {f}: immutable from now on.",
        "Somebody changed {f} of {many} afterwards, and everything that relied on it was wrong. It becomes immutable.",
    ],
    reasons: STRICT_REASONS,
};

const MAKE_MUTABLE: Wording = Wording {
    summary: "Makes {f} of {many} no longer immutable.",
    requests: &[
        "{f} of {many} is no longer immutable.",
        "{f} of {many} can be changed after creation from now on; it is no longer immutable.",
        "Typing errors happen: {f} of {many} should no longer be immutable.",
        "Could you allow changes to {f} of {many}? It should no longer be immutable.",
        "{^many}, {f}: no longer immutable.",
    ],
    reasons: FREE_REASONS,
};
