//! Words for changes of filters, sorts and the rules of fields.

use super::Wording;

const SEARCH: &[&str] = &[
    "The lists have grown long.",
    "The front end loads everything just to find a few.",
    "It is what people look for first.",
    "The new overview page needs it.",
    "A client asked whether it could be done.",
];

const UNSEARCHED: &[&str] = &[
    "It was slow and nobody used it.",
    "The overview page does not offer it any more.",
    "We want to keep the lists simple.",
    "It gave people wrong ideas about the data.",
    "The last client that used it was switched off.",
];

const STRICT: &[&str] = &[
    "We found a lot of nonsense in the data.",
    "It has cost us money more than once.",
    "A partner rejects what does not follow this.",
    "Somebody entered rubbish and it went unnoticed for weeks.",
    "It has been a written rule all along, the API just did not know it.",
    "Better data from the start is cheaper than cleaning up.",
];

const LAX: &[&str] = &[
    "Reality is more varied than we thought.",
    "Serious entries were turned away.",
    "Support had to enter such cases by hand.",
    "The rule was stricter than anything that we need.",
    "It kept an important customer from working with us.",
    "There are honest exceptions.",
];

pub(super) const ADD_FILTER: Wording = Wording {
    summary: "Adds the filter `{param}` to the list of {many}.",
    requests: &[
        "The list of {many} gets a filter. {clause}",
        "Add a filter to the list of {many}. {clause}",
        "It should be possible to narrow the list of {many} down. {clause}",
        "Could lists of {many} be filtered by `{param}`? {clause}",
        "New query parameter on {many}: `{param}`. {clause}",
        "Finding {many} takes too many clicks, a filter would help. {clause}",
    ],
    reasons: SEARCH,
};

pub(super) const REMOVE_FILTER: Wording = Wording {
    summary: "Removes the filter `{param}` from the list of {many}.",
    requests: &[
        "Remove the filter `{param}` from the list of {many}.",
        "The list of {many} loses its filter `{param}`.",
        "Filtering {many} by `{param}` is not wanted any more.",
        "Could the filter `{param}` of {many} go?",
        "{^many}: no filter `{param}` from now on, the field stays.",
    ],
    reasons: UNSEARCHED,
};

pub(super) const ADD_SORT: Wording = Wording {
    summary: "Lets {many} be sorted by {f}.",
    requests: &[
        "{^many} can be sorted by {f} too.",
        "Allow {f} as a sort for {many}.",
        "Let people sort the list of {many} by {f}, in both directions.",
        "Could `sort` on {many} take {f} as well?",
        "The order of {many} matters to some: add sorting by {f}.",
        "New sort on {many}: {f}.",
    ],
    reasons: SEARCH,
};

pub(super) const REMOVE_SORT: Wording = Wording {
    summary: "Lets {many} no longer be sorted by {f}.",
    requests: &[
        "Sorting {many} by {f} is not possible any more.",
        "Take {f} out of the sorts of {many}.",
        "The list of {many} need not be sortable by {f}.",
        "Could we stop offering {f} as a sort for {many}?",
        "{^many}: `sort` does not take {f} from now on.",
    ],
    reasons: UNSEARCHED,
};

pub(super) const CHANGE_DEFAULT_SORT: Wording = Wording {
    summary: "Orders {many} by {order} if nothing is asked for.",
    requests: &[
        "Without `sort`, {many} come by {order} from now on.",
        "Change the default order of {many}: by {order}.",
        "When nobody asks for an order, list {many} by {order}.",
        "Could the list of {many} come by {order} on its own?",
        "New default order for {many}: {order}.",
        "People expect the list of {many} by {order}, so make that the default.",
    ],
    reasons: SEARCH,
};

pub(super) const TIGHTEN: Wording = Wording {
    summary: "Makes {f} of {many} stricter: {kind} (until now {old_kind}).",
    requests: &[
        "{f} of {many} becomes stricter.",
        "Tighten the rule for {f} in {many}: {kind}.",
        "Not everything that {f} of {many} takes today is welcome. From now on: {kind}.",
        "Could {f} of {a_one} be checked more strictly?",
        "{^many}, {f}: {old_kind} was too lax.",
        "Please narrow down what {f} of {many} takes.",
    ],
    reasons: STRICT,
};

pub(super) const LOOSEN: Wording = Wording {
    summary: "Makes {f} of {many} less strict: {kind} (until now {old_kind}).",
    requests: &[
        "{f} of {many} becomes less strict.",
        "Relax the rule for {f} in {many}: {kind}.",
        "{f} of {many} should take more than it does today.",
        "Could {f} of {a_one} be checked less strictly?",
        "{^many}, {f}: {old_kind} was too narrow.",
        "Please widen what {f} of {many} takes.",
    ],
    reasons: LAX,
};

pub(super) const REQUIRE: Wording = Wording {
    summary: "Makes {f} of {many} required.",
    requests: &[
        "{f} of {many} has to be given from now on.",
        "Make {f} required in {many}.",
        "{^many} without {f} are not to be accepted any more.",
        "Could we insist on {f} when {a_one} is created or replaced?",
        "{^many}, {f}: required.",
        "Too many {many} come in without {f}. It is required now.",
    ],
    reasons: STRICT,
};

pub(super) const MAKE_OPTIONAL: Wording = Wording {
    summary: "Makes {f} of {many} optional, with {default}.",
    requests: &[
        "{f} of {many} need not be given any more.",
        "Make {f} optional in {many}, with {default}.",
        "{^many} may come without {f}; it has {default} then.",
        "Could {f} of {a_one} be left out?",
        "{^many}, {f}: optional, {default}.",
        "Not everyone knows {f} when {a_one} is entered, so it becomes optional.",
    ],
    reasons: LAX,
};

pub(super) const ALLOW_NULL: Wording = Wording {
    summary: "Lets {f} of {many} be null.",
    requests: &[
        "{f} of {many} may be null.",
        "Allow null for {f} in {many}.",
        "Sometimes there is no {f} for {a_one}, and null should say so.",
        "Could {f} of {many} take null?",
        "{^many}, {f}: nullable from now on.",
    ],
    reasons: LAX,
};

pub(super) const FORBID_NULL: Wording = Wording {
    summary: "Lets {f} of {many} no longer be null.",
    requests: &[
        "{f} of {many} must not be null any more.",
        "Forbid null for {f} in {many}.",
        "{^many} always have a value for {f} from now on.",
        "Could {f} of {many} refuse null?",
        "{^many}, {f}: never null from now on.",
        "A null in {f} of {many} breaks the reports. Please refuse it.",
    ],
    reasons: STRICT,
};

pub(super) const CHANGE_DEFAULT: Wording = Wording {
    summary: "Gives {f} of {many} {default} (until now {old_default}).",
    requests: &[
        "{f} of {many} has {default} from now on; until now it had {old_default}.",
        "Change what {f} of {many} becomes when it is not given: {default}.",
        "When somebody creates {a_one} without {f}, the result should be different: {default}.",
        "Could {f} of {many} have {default} instead of {old_default}?",
        "{^many}, {f}: {default}, not {old_default}.",
        "Most people set {f} of {many} by hand because what they get otherwise is wrong. It should have {default}.",
    ],
    reasons: &[
        "It is what people mean when they say nothing.",
        "The old behaviour surprised new users.",
        "It saves a click in nine cases out of ten.",
        "The rule book says so since this month.",
        "It was never decided on purpose.",
    ],
};

pub(super) const MAKE_UNIQUE: Wording = Wording {
    summary: "Makes {f} of {many} unique.",
    requests: &[
        "{f} of {many} has to be unique.",
        "No two {many} may have the same {f}.",
        "Make {f} unique in {many}.",
        "Could the API refuse {a_one} whose {f} is taken already?",
        "We had two {many} with the same {f} and mixed them up. That must not happen again: {f} is unique now.",
        "{^many}, {f}: unique.",
    ],
    reasons: STRICT,
};

pub(super) const DROP_UNIQUE: Wording = Wording {
    summary: "Lets {f} of {many} occur more than once.",
    requests: &[
        "{f} of {many} need not be unique any more.",
        "Two {many} may have the same {f} from now on.",
        "Drop the uniqueness of {f} in {many}.",
        "Could several {many} share one {f}?",
        "{^many}, {f}: no longer unique.",
    ],
    reasons: LAX,
};

pub(super) const MAKE_IMMUTABLE: Wording = Wording {
    summary: "Makes {f} of {many} immutable.",
    requests: &[
        "{f} of {many} can not be changed after creation any more.",
        "Make {f} immutable in {many}.",
        "Once {a_one} exists, its {f} is fixed.",
        "Could {f} of {many} be protected against later changes?",
        "Somebody changed {f} of {many} afterwards, and everything that relied on it was wrong. It is immutable now.",
        "{^many}, {f}: immutable.",
    ],
    reasons: STRICT,
};

pub(super) const MAKE_MUTABLE: Wording = Wording {
    summary: "Lets {f} of {many} be changed.",
    requests: &[
        "{f} of {many} can be changed after creation.",
        "{f} in {many} is not immutable any more.",
        "Typing errors happen: let {f} of {many} be corrected later.",
        "Could replace and update change {f} of {many} too?",
        "{^many}, {f}: can be changed like any other field.",
    ],
    reasons: LAX,
};
