//! Words for changes of entities, fields and references.

use super::{Wording, conventions};
use crate::change::{EntityChange, FieldChange};

/// The words for a change of an entity.
pub(super) fn for_entity(change: &EntityChange) -> &'static Wording {
    match change {
        EntityChange::AddEntity { .. } => &ADD_ENTITY,
        EntityChange::RemoveEntity { .. } => &REMOVE_ENTITY,
        EntityChange::RenameEntity { .. } => &RENAME_ENTITY,
        EntityChange::SetSoftDelete { on: true, .. } => &conventions::SOFT_DELETE_ON,
        EntityChange::SetSoftDelete { on: false, .. } => &conventions::SOFT_DELETE_OFF,
    }
}

/// The words for a change of a field.
pub(super) fn for_field(change: &FieldChange) -> &'static Wording {
    match change {
        FieldChange::AddField { .. } => &ADD_FIELD,
        FieldChange::RemoveField { .. } => &REMOVE_FIELD,
        FieldChange::RenameField { .. } => &RENAME_FIELD,
        FieldChange::RetypeField { .. } => &RETYPE_FIELD,
        FieldChange::AddEnumValue { .. } => &ADD_ENUM_VALUE,
        FieldChange::RemoveEnumValue { .. } => &REMOVE_ENUM_VALUE,
        FieldChange::RenameEnumValue { .. } => &RENAME_ENUM_VALUE,
        FieldChange::AddReference { .. } => &ADD_REFERENCE,
        FieldChange::RemoveReference { .. } => &REMOVE_REFERENCE,
        FieldChange::ChangeDeleteRule { .. } => &CHANGE_DELETE_RULE,
        FieldChange::Nest { .. } => &NEST,
        FieldChange::Unnest { .. } => &UNNEST,
        FieldChange::AddComputed { .. } => &ADD_COMPUTED,
        FieldChange::ChangeComputed { .. } => &CHANGE_COMPUTED,
    }
}

const WANTED_REASONS: &[&str] = &[
    "The people who use the API every day have asked for this.",
    "It came up in the last three support calls.",
    "At the moment, people use a spreadsheet for this.",
    "The next release of the app depends on it.",
    "Two customers asked for this in the same week.",
    "The auditors asked for this.",
    "It has been on our list for a while.",
    "Sales promised it to a customer.",
];

const UNUSED_REASONS: &[&str] = &[
    "Nobody uses this.",
    "The logs show no use of this in months.",
    "This was an experiment, and the experiment is over.",
    "This only confuses new people.",
    "Nothing depends on this any more.",
    "This costs more to maintain than it is worth.",
    "The legal department asked us to do this.",
];

const NAMES: &[&str] = &[
    "The old name was misleading.",
    "The new name is what everybody here says anyway.",
    "The new name is the one on our forms.",
    "The glossary was agreed on last week.",
    "New colleagues stumbled over the old word every time.",
    "Only the name changes, not what it means.",
];

const SHAPES: &[&str] = &[
    "The present form does not fit what people enter.",
    "Two clients already work around it.",
    "The old one was a first guess, and it turned out to be wrong.",
    "The import of the old data needs it like this.",
    "We learned this the hard way last month.",
    "It makes the form on the website much simpler.",
];

const ADD_ENTITY: Wording = Wording {
    summary: "Adds the entity {one} ({many}) at `{path}`.",
    requests: &[
        "Please add a new entity, {many}, at `{path}`, with the standard routes of every entity.{why} It is defined as \
         follows.",
        "We also want to manage {many}.{why} Add them as a new entity at `{path}`, with the same standard routes as every \
         other entity.",
        "New entity “{one}” (plural “{many}”), collection `{path}`, standard routes included.{why}",
        "Could you add {many} to the API as a new entity?{why} The collection is `{path}`, and all standard routes apply.",
        "So far, the API has no {many}. Introduce them as a new entity at `{path}`, with all standard routes.{why}",
        "Please add {many} as a new entity of their own at `{path}`, with the standard routes.{why}",
    ],
    reasons: WANTED_REASONS,
};

const REMOVE_ENTITY: Wording = Wording {
    summary: "Removes the entity {one} ({many}).",
    requests: &[
        "Please remove the entity {one} ({many}) with all its routes.",
        "We no longer need {many}. Delete the entity and all of its routes.",
        "Drop the entity “{one}”: {many} and all their routes are removed.",
        "Could you take the entity {one} ({many}) out of the API, with all its routes?",
        "{^many} are discontinued: remove the entity with all its routes.",
        "The API should no longer have {many}; remove the entity and its routes.",
    ],
    reasons: UNUSED_REASONS,
};

const RENAME_ENTITY: Wording = Wording {
    summary: "Renames the entity {old_many} to {many} (singular {one}): `{old_path}` becomes `{path}`.",
    requests: &[
        "Rename the entity {old_one} to {one} ({old_many} become {many}): `{old_path}` becomes `{path}`.",
        "{^old_many} are called {many} from now on (singular: {one}), so the collection moves from `{old_path}` to \
         `{path}`.",
        "Please call this entity “{one}” instead of “{old_one}”, and “{many}” instead of “{old_many}”. The collection moves \
         from `{old_path}` to `{path}`.",
        "Could you rename {old_many} to {many} (singular: {one})? `{old_path}` becomes `{path}`.",
        "New name for the entity {old_one}: {one}, plural {many}. The collection `{path}` replaces `{old_path}`.",
        "Entity rename: {old_many} → {many} (singular: {old_one} → {one}), `{old_path}` → `{path}`.",
    ],
    reasons: NAMES,
};

/// What the rename of an entity reaches.
pub(super) const REACH_OF_ENTITY: &str = "This applies to all paths of the collection (`{path}`, `{path_of_one}` and the paths below it) and to nested routes \
     for these records. Names of fields, enum values, actions and analytics stay as they are, even if they \
     contain the old name.";

const ADD_FIELD: Wording = Wording {
    summary: "Adds the field {f} to {many}: {kind}.",
    requests: &[
        "Add the field {f} to {many}.",
        "{^many} get a new field, {f}.",
        "We need one more field for {many}: {f}.",
        "Could you add a field {f} to {many}?",
        "People who work with {many} need a field {f}. Please add it.",
        "New field for {many}: {f} ({type}).",
        "{^many} should also have the field {f}; please add it.",
    ],
    reasons: WANTED_REASONS,
};

const REMOVE_FIELD: Wording = Wording {
    summary: "Removes the field {f} from {many}.",
    requests: &[
        "Remove the field {f} from {many}.",
        "The field {f} of {many} is discontinued; remove it.",
        "We no longer need the field {f} of {many}; please remove it.",
        "Could you delete the field {f} from {many}?",
        "{^a_one} should no longer have the field {f}.",
        "{^many}: drop the field {f}.",
    ],
    reasons: UNUSED_REASONS,
};

const RENAME_FIELD: Wording = Wording {
    summary: "Renames the field {old} of {many} to {new}.",
    requests: &[
        "Rename the field {old} of {many} to {new}.",
        "The field {old} of {many} is called {new} from now on.",
        "For {many}, the field name {new} replaces {old}.",
        "Could you rename the field {old} of {many} to {new}? It is the same field under another name.",
        "{^many}: rename the field {old} → {new}.",
        "Please give the field {old} of {many} another name: {new}.",
    ],
    reasons: NAMES,
};

/// What the rename of a field reaches.
pub(super) const REACH_OF_FIELD: &str = "The new name applies to request bodies, responses, query parameters and values of `sort`. Names of actions, of analytics, of other \
     fields and of action parameters stay as they are, even if they contain the old name.";

const RETYPE_FIELD: Wording = Wording {
    summary: "Changes the type of {f} of {many} from {old_word} to {kind}.",
    requests: &[
        "Change the type of {f} of {many} from {old_word} to {type}.",
        "The type of {f} of {many} is no longer {old_word} but {type}.",
        "{f} of {many} needs another type: {a_type} instead of {old_type}.",
        "Could you change the type of {f} of {many}? It is {old_type} today and should become {a_type}.",
        "{^many}, type of {f}: {old_word} → {type}.",
        "{^old_type} was the wrong type for {f} of {many}; please make it {a_type}.",
    ],
    reasons: SHAPES,
};

const ADD_ENUM_VALUE: Wording = Wording {
    summary: "Adds the value `{value}` to {f} of {many}.",
    requests: &[
        "Allow `{value}` as another value of {f} of {many}.",
        "{f} of {many} gets one more enum value: `{value}`.",
        "Add the enum value `{value}` to {f} of {many}.",
        "Could you add `{value}` to the values of {f} of {many}?",
        // words: ok (the text of a request)
        "Some {many} fit none of the present values of {f}. Add the value `{value}` for them.",
        "{^many}, {f}: new enum value `{value}`.",
    ],
    reasons: WANTED_REASONS,
};

const REMOVE_ENUM_VALUE: Wording = Wording {
    summary: "Removes the value `{value}` from {f} of {many}.",
    requests: &[
        "Remove the value `{value}` from {f} of {many}.",
        "{f} of {many} can no longer have the value `{value}`.",
        "We no longer use the value `{value}` for {f} of {many}; please remove it.",
        "Could you drop `{value}` from the values of {f} of {many}?",
        "{^many}, {f}: the enum value `{value}` is dropped.",
        "`{value}` must no longer be accepted as a value of {f} of {many}.",
    ],
    reasons: UNUSED_REASONS,
};

const RENAME_ENUM_VALUE: Wording = Wording {
    summary: "Renames the value `{value}` of {f} of {many} to `{to}`.",
    requests: &[
        "Rename the value `{value}` of {f} of {many} to `{to}`.",
        "The value `{value}` of {f} of {many} is called `{to}` from now on.",
        "For {f} of {many}, the enum value `{to}` replaces `{value}`, with the same meaning.",
        "Could you rename the value `{value}` of {f} of {many} to `{to}`? Its meaning stays the same.",
        "{^many}, {f}: rename the enum value `{value}` → `{to}`.",
        "{f} of {many} should use the value `{to}` instead of `{value}`; only the word changes.",
    ],
    reasons: NAMES,
};

/// What the rename of an enum value reaches.
pub(super) const REACH_OF_ENUM_VALUE: &str = "Defaults, conditions, effects and analytics that use this value use the new word, too. Values of other fields and \
     names of fields, actions and analytics stay as they are.";

const ADD_REFERENCE: Wording = Wording {
    summary: "Adds the reference {f} from {many} to {target_many}.",
    requests: &[
        "Add the reference field {f} to {many}; it refers to {a_target}.",
        "{^many} get a reference to {target_many}: add {f}.",
        "Add a reference, {f}, that links {many} to {target_many}.",
        "{^a_one} should be able to refer to {a_target} through {f}. Please add this reference to {many}.",
        "Could you add a reference {f} from {many} to {target_many}?",
        "New reference for {many}: {f}, the `id` of {a_target}.",
    ],
    reasons: WANTED_REASONS,
};

const REMOVE_REFERENCE: Wording = Wording {
    summary: "Removes the reference {f} from {many}.",
    requests: &[
        "Remove the reference {f} from {many}.",
        "{^many} no longer refer to {target_many} through {f}; remove this reference.",
        "Delete the link from {many} to {target_many}: the reference {f} is removed.",
        "Could you drop the reference {f} from {many}? We no longer need this link.",
        "The reference {f} of {many} to {target_many} is discontinued; please remove it.",
        "{^many}: remove the reference {f}.",
    ],
    reasons: UNUSED_REASONS,
};

const CHANGE_DELETE_RULE: Wording = Wording {
    summary: "Changes the delete rule of {f} of {many}: {rule}.",
    requests: &[
        "Change the delete rule of {f} of {many}: {rule}.",
        "The delete rule of the reference {f} of {many} changes: {rule}.",
        "New delete rule for {f} of {many}: {rule}.",
        "Could you change the delete rule of {f} of {many}? From now on, {rule}.",
        "{^many}, {f}, delete rule: {rule}.",
        "Deleting {target_many} has the wrong effect on {many} today. The new delete rule of {f}: {rule}.",
    ],
    reasons: &[
        "Last week somebody deleted a record and was surprised.",
        "The data protection officer insists on it.",
        "It avoids leftovers that nobody looks after.",
        "That is how the old system did it.",
        "We would like deletions to be predictable.",
    ],
};

const NEST: Wording = Wording {
    summary: "Adds the nested routes `{path}` for {many}.",
    requests: &[
        "Add nested routes for {many} at `{path}`.",
        "{^many} should also be reachable through their {target} ({f}): add nested routes at `{path}`.",
        "Give the reference {f} of {many} nested routes: `GET` and `POST` on `{path}`.",
        "Could you add nested routes at `{path}`, to list and create the {many} of one {target}?",
        "The app shows {target_many} with their {many}. New nested routes at `{path}` would save it a lot of filtering; \
         please add them.",
        "New nested routes for {many} under {target_many}: `{path}`.",
    ],
    reasons: WANTED_REASONS,
};

const UNNEST: Wording = Wording {
    summary: "Removes the nested routes `{path}` for {many}; the field {f} stays.",
    requests: &[
        "Remove the nested routes at `{path}`.{why} {^many} keep their own collection and the field {f}.",
        "The nested routes for {many} at `{path}` are discontinued.{why} The field {f} itself stays.",
        "Drop the nested routes `{path}` of {many}.{why} The field {f} stays.",
        "Could you remove the nested routes for {many} at `{path}`?{why} The ordinary list is enough, and the field {f} \
         stays.",
        "We no longer want nested routes for {many} under {target_many}: remove `{path}`.{why} The field {f} stays.",
    ],
    reasons: UNUSED_REASONS,
};

const ADD_COMPUTED: Wording = Wording {
    summary: "Adds the computed field {f} to {many}: {formula}.",
    requests: &[
        "Add the computed field {f} to {many}.",
        "{^many} get a new computed field, {f}, which clients cannot write.",
        "Clients work out {f} of {many} themselves, each a little differently. Please add it as a computed field.",
        "Could you add a computed field {f} to {many}?",
        "New computed field for {many}: {f}.",
        "We would like to read {f} from {many} instead of working it out in every client; add it as a computed field.",
    ],
    reasons: WANTED_REASONS,
};

const CHANGE_COMPUTED: Wording = Wording {
    summary: "Changes the formula of the computed field {f} of {many}: {formula}.",
    requests: &[
        "Change the formula of the computed field {f} of {many}.",
        "The computed field {f} of {many} gets a new formula.",
        "The formula of the computed field {f} of {many} was wrong; here is the right one.",
        "Could you correct the formula of the computed field {f} of {many}?",
        "{^many}, computed field {f}: new formula.",
        "We agreed on another formula for the computed field {f} of {many}.",
    ],
    reasons: &[
        "The old one was a first guess, and it turned out to be wrong.",
        "Two clients already work around it.",
        "The figures on the website did not add up.",
        "We learned this the hard way last month.",
        "The auditors insisted on it.",
    ],
};
