//! Words for changes of entities, fields and references.

use super::Wording;

const WANTED: &[&str] = &[
    "The people who work with it every day have asked for this.",
    "It came up in the last three support calls.",
    "At the moment they keep track of it in a spreadsheet.",
    "The next release of the app depends on it.",
    "A partner sends us this already and we throw it away.",
    "The auditors want to see it.",
    "It has been on our list for a while.",
    "Sales promised it to a customer.",
];

const UNUSED: &[&str] = &[
    "Nobody uses it.",
    "The logs show no request for it in months.",
    "It was an experiment and it is over.",
    "It only confuses new people.",
    "Another system takes care of it now.",
    "It costs more to maintain than it is worth.",
    "The legal department asked us to drop it.",
];

const NAMES: &[&str] = &[
    "The old name was misleading.",
    "That is what everybody here says anyway.",
    "It should match the words on our forms.",
    "The glossary was agreed on last week.",
    "New colleagues stumbled over the old word every time.",
    "Only the name changes, not what it means.",
];

const SHAPES: &[&str] = &[
    "The present form does not fit what people enter.",
    "Two clients worked around it already.",
    "It was a first guess and has turned out wrong.",
    "The import of the old data needs it like this.",
    "We learnt this the hard way last month.",
    "It makes the form on the website much simpler.",
];

pub(super) const ADD_ENTITY: Wording = Wording {
    summary: "Adds the entity {one} ({many}) under `{path}`.",
    requests: &[
        "Add a new entity: {many}.",
        "We want to keep {many} as well, with the same routes as every other entity.",
        "New entity “{one}”, collection `{path}`.",
        "Could you add {many} to the API, with the usual routes?",
        "So far the system knows nothing about {many}. Please introduce them, with all routes that every entity has.",
        "{^many}: to be built from scratch, like the other entities.",
        "It is time that the API handles {many} too.",
    ],
    reasons: WANTED,
};

pub(super) const REMOVE_ENTITY: Wording = Wording {
    summary: "Removes the entity {one} ({many}).",
    requests: &[
        "Remove {many} from the API, with everything that needs them.",
        "We no longer want {many}; please take the whole entity out.",
        "Drop the entity “{one}”.",
        "Can we get rid of {many}? Their routes can go, and so can all that depends on them.",
        "{^many} have had their day: delete the entity and whatever refers to it.",
        "Clean-up: no {many} any more.",
    ],
    reasons: UNUSED,
};

pub(super) const RENAME_ENTITY: Wording = Wording {
    summary: "Renames {old_many} to {many}: `{old_path}` becomes `{path}`.",
    requests: &[
        "{^old_many} are called {many} from now on (one of them: {one}), so `{old_path}` becomes `{path}`.",
        "Rename the entity “{old_one}” to “{one}”: `{old_path}` moves to `{path}`.",
        "Please call each of them “{one}” instead of “{old_one}”. The collection is `{path}` then, not `{old_path}`.",
        "Could `{old_path}` become `{path}`? What we call {old_many} today will be {many}.",
        "New name for {old_many}: {many}. The collection is `{path}` instead of `{old_path}`.",
        "`{old_path}` → `{path}`. {^old_many} are {many} now, everything else about them stays.",
    ],
    reasons: NAMES,
};

/// What the rename of an entity reaches.
pub(super) const REACH_OF_ENTITY: &str = "That goes for all paths of the collection (`{path}`, `{path_of_one}` and those \
                                          below it) and for the nested routes with these records. It does not change \
                                          names of fields and analytics.";

pub(super) const ADD_FIELD: Wording = Wording {
    summary: "Adds the field {f} ({kind}) to {many}.",
    requests: &[
        "{^many} get a new field {f}.",
        "Add {f} to {many}.",
        "We need one more piece of information about {a_one}: {f}.",
        "Could {many} carry a field {f}?",
        "When people look at {a_one}, they miss one thing, {f}. Please add it to the record.",
        "New field on {many}: {f} ({type}).",
        "{^a_one} should also have {f}.",
    ],
    reasons: WANTED,
};

pub(super) const REMOVE_FIELD: Wording = Wording {
    summary: "Removes the field {f} from {many}.",
    requests: &[
        "Remove {f} from {many}.",
        "{^many} lose their field {f}.",
        "We can do without {f} in {many}; please take it out, with its filters and sorts if it has any.",
        "Is anybody attached to {f} of {many}? We are not. Delete it.",
        "The field {f} of {many} goes.",
        "{^a_one} does not need {f} any more.",
        "Clean-up on {many}: no {f} any more.",
    ],
    reasons: UNUSED,
};

pub(super) const RENAME_FIELD: Wording = Wording {
    summary: "Renames the field {old} of {many} to {new}.",
    requests: &[
        "In {many}, {old} is now called {new}.",
        "Rename {old} to {new} in {many}: in bodies, answers and query parameters.",
        "{^many}: {old} → {new}.",
        "Could the field {old} of {many} please be named {new}? Filters and sorts that use the name follow it.",
        "Please write {new} where {many} have {old} today, in requests and answers alike.",
        "{^a_one} should show {new} instead of {old}. It is the same field under another name.",
    ],
    reasons: NAMES,
};

/// What the rename of a field reaches.
pub(super) const REACH_OF_FIELD: &str =
    "It does not change names of analytics, of other fields and of parameters of actions.";

pub(super) const RETYPE_FIELD: Wording = Wording {
    summary: "Changes the type of {f} of {many} from {old_word} to this: {kind}.",
    requests: &[
        "{f} of {many} is no longer {old_type} but {a_type}.",
        "Change the type of {f} in {many} from {old_word} to {type}.",
        "We want {f} in {many} to be {a_type}. Until now it was {old_type}.",
        "Could {f} of {a_one} become {a_type} instead of {old_type}?",
        "The type of {f} ({many}) turned out to be the wrong choice: make it {a_type}.",
        "{^many}, {f}: {old_word} → {type}.",
    ],
    reasons: SHAPES,
};

pub(super) const ADD_ENUM_VALUE: Wording = Wording {
    summary: "Adds the value `{value}` to {f} of {many}.",
    requests: &[
        "{f} of {many} can also be `{value}`.",
        "Allow one more value for {f} of {many}: `{value}`.",
        "Add `{value}` to the words that {f} of {a_one} can have.",
        "Could {f} of {many} take `{value}` as well?",
        "There are {many} that none of the present words describes. For those, {f} gets the value `{value}`.",
        "{^many}, {f}: new value `{value}`.",
    ],
    reasons: WANTED,
};

pub(super) const REMOVE_ENUM_VALUE: Wording = Wording {
    summary: "Removes the value `{value}` from {f} of {many}.",
    requests: &[
        "{f} of {many} can not be `{value}` any more.",
        "Take `{value}` out of the values of {f} in {many}.",
        "We have stopped using `{value}` for {f} of {many}; remove it.",
        "Could `{value}` disappear from {f} of {a_one}?",
        "{^many}, {f}: the value `{value}` is dropped.",
        "Nothing should be able to have `{value}` as {f} in {many} from now on.",
    ],
    reasons: UNUSED,
};

pub(super) const RENAME_ENUM_VALUE: Wording = Wording {
    summary: "Renames the value `{value}` of {f} of {many} to `{to}`.",
    requests: &[
        "The value `{value}` of {f} in {many} is `{to}` from now on.",
        "In {f} of {many}, write `{to}` instead of `{value}`, in requests and answers.",
        "Rename `{value}` to `{to}` in {f} of {many}; defaults, conditions and effects that use the word follow.",
        "Could {f} of {a_one} say `{to}` where it says `{value}` today?",
        "{^many}, {f}: `{value}` → `{to}`.",
        "The word `{value}` for {f} of {many} is out, `{to}` takes its place with the same meaning.",
    ],
    reasons: NAMES,
};

/// What the rename of an enum value reaches.
pub(super) const REACH_OF_ENUM_VALUE: &str = "It does not change values of other fields, nor names of fields, actions and \
                                              analytics.";

pub(super) const ADD_REFERENCE: Wording = Wording {
    summary: "Adds the reference {f} from {many} to {target_many}.",
    requests: &[
        "{^many} refer to {target_many} now: add {f}.",
        "Link {many} with {target_many} by a new reference {f}.",
        "We want to know which {target} {a_one} belongs to. Please add the reference {f}.",
        "Could {many} get a reference {f} to {target_many}?",
        "New reference on {many}: {f}, the id of {a_target}.",
        "{^a_one} and {a_target} have something to do with each other, and the API should show it in {f}.",
    ],
    reasons: WANTED,
};

pub(super) const REMOVE_REFERENCE: Wording = Wording {
    summary: "Removes the reference {f} from {many}.",
    requests: &[
        "{^many} do not refer to {target_many} by {f} any more: remove it.",
        "Remove the reference {f} from {many}.",
        "Cut the link {f} between {many} and {target_many}.",
        "Could {many} do without {f}? We do not need to know that {target} any more.",
        "The reference {f} of {many} goes, and its nested routes and filters with it, if there are any.",
        "{^many}: no {f} from now on.",
    ],
    reasons: UNUSED,
};

pub(super) const CHANGE_DELETE_RULE: Wording = Wording {
    summary: "Changes what deleting {a_target} does to the {many} that refer to it by {f}: {rule}.",
    requests: &[
        "When {a_target} is deleted, another rule holds for the {many} that refer to it by {f}: {rule}.",
        "Change the delete rule of {f} in {many}: {rule}.",
        "What happens to {many} when their {target} ({f}) goes? From now on: {rule}.",
        "Deleting {target_many} did the wrong thing to {many} so far. For {f} the rule is now: {rule}.",
        "Could the reference {f} of {many} behave differently when {a_target} is deleted? We want this: {rule}.",
        "{^many}, {f}, on deletion of the {target}: {rule}.",
    ],
    reasons: &[
        "Last week somebody deleted a record and was surprised.",
        "The data protection officer insists on it.",
        "It avoids leftovers that nobody looks after.",
        "That is how the old system did it.",
        "We would like deletions to be predictable.",
    ],
};

pub(super) const NEST: Wording = Wording {
    summary: "Adds the nested routes `{path}` for {many}.",
    requests: &[
        "{^many} can also be reached through their {target}: `{path}` lists and creates.",
        "Add nested routes for {many} at `{path}`.",
        "Give {f} of {many} nested routes, `{path}`.",
        "Could we list and create the {many} of {a_target} directly under `{path}`?",
        "The app shows {target_many} with their {many}, so a route `{path}` would save it a lot of filtering.",
        "New: `GET` and `POST` on `{path}`.",
    ],
    reasons: WANTED,
};

pub(super) const UNNEST: Wording = Wording {
    summary: "Removes the nested routes `{path}` for {many}.",
    requests: &[
        "The nested routes `{path}` go; {many} are reached by their own collection only.",
        "Remove `{path}`. The field {f} itself stays.",
        "We do not want to serve {many} under {target_many} any more.",
        "Could you drop the nested routes `{path}`? The ordinary list is enough.",
        "{^many} lose their nested routes under {target_many}.",
    ],
    reasons: UNUSED,
};

pub(super) const ADD_COMPUTED: Wording = Wording {
    summary: "Adds the computed field {f} to {many}: {formula}.",
    requests: &[
        "{^many} show a new computed field {f}.",
        "Add a read-only field {f} to {many}; the server works it out.",
        "Clients compute this themselves at the moment, each a little differently: let {many} show {f}.",
        "Could {a_one} show {f}, computed by the server?",
        "New computed field on {many}: {f}.",
        "We would like to read {f} from {many} instead of working it out each time.",
    ],
    reasons: WANTED,
};

pub(super) const CHANGE_COMPUTED: Wording = Wording {
    summary: "Computes {f} of {many} another way: {formula}.",
    requests: &[
        "{f} of {many} is computed another way now.",
        "Change the formula of {f} in {many}.",
        "The definition of {f} ({many}) was wrong; here is the right one.",
        "Could {f} of {a_one} be worked out differently?",
        "{^many}: new computation for {f}.",
        "We have agreed on another meaning of {f} in {many}.",
    ],
    reasons: SHAPES,
};
