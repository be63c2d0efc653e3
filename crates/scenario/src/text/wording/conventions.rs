//! Words for changes of soft delete and of what holds for all routes.

use super::Wording;

const ALIGNED: &[&str] = &[
    "All our APIs are to work alike.",
    "The gateway in front of it expects this.",
    "It follows the new guidelines of the platform team.",
    "The client library that we want to use needs it.",
    "It was the most frequent complaint of the people who use the API.",
    "The review board asked for it.",
    "We are preparing to open the API to partners.",
];

const RECORDS_KEPT: &[&str] = &[
    "We lost records that were needed later.",
    "The auditors want to see what was there.",
    "Deleting by mistake must not be the end of it.",
    "Reports about last year need them.",
    "Support wants to be able to look things up.",
];

const RECORDS_REMOVED: &[&str] = &[
    "What is deleted should be gone.",
    "The law requires it.",
    "Nobody ever looked at the old ones.",
    "It made everything more complicated than it had to be.",
    "The archive is kept elsewhere now.",
];

pub(super) const SOFT_DELETE_ON: Wording = Wording {
    summary: "Keeps deleted {many} and marks them (soft delete).",
    requests: &[
        "Deleted {many} are kept and marked instead of removed (soft delete).",
        "Switch soft delete on for {many}.",
        "{^many} should not disappear for good when they are deleted: soft delete.",
        "Could deleted {many} be kept, with a mark?",
        "From now on, {many} have soft delete.",
    ],
    reasons: RECORDS_KEPT,
};

pub(super) const SOFT_DELETE_OFF: Wording = Wording {
    summary: "Removes deleted {many} for good (no soft delete).",
    requests: &[
        "Deleted {many} are removed for good again.",
        "Switch soft delete off for {many}.",
        "{^many} need no soft delete: a deletion removes them.",
        "Could a deletion of {a_one} simply remove it?",
        "No soft delete for {many} any more.",
    ],
    reasons: RECORDS_REMOVED,
};

pub(super) const CHANGE_ERROR_SHAPE: Wording = Wording {
    summary: "Changes the body of errors to {shape}.",
    requests: &[
        "The body of errors looks different from now on. {clause}",
        "Change the shape of error answers, on all routes. {clause}",
        "Errors should come in another form: {clause}",
        "Could all errors have this shape? {clause}",
        "New error body. {clause}",
    ],
    reasons: ALIGNED,
};

pub(super) const CHANGE_ERROR_CODE: Wording = Wording {
    summary: "Changes the error code for *{which}* from `{old}` to `{new}`.",
    requests: &[
        "The code for errors of the kind *{which}* is `{new}` instead of `{old}`.",
        "In error bodies, write `{new}` where `{old}` stands today (*{which}*).",
        "Rename the error code `{old}` to `{new}`.",
        "Could *{which}* errors carry the code `{new}`? Today it is `{old}`.",
        "Error code for *{which}*: `{old}` → `{new}`.",
    ],
    reasons: ALIGNED,
};

pub(super) const CHANGE_STATUS: Wording = Wording {
    summary: "Changes the status of {which} from `{old}` to `{new}`.",
    requests: &[
        "The status of {which} is `{new}` instead of `{old}`, everywhere.",
        "Answer {which} with `{new}` from now on, not with `{old}`.",
        "Change a status code: {which} gets `{new}` (was `{old}`).",
        "Could {which} answer with `{new}` rather than `{old}`?",
        "Status of {which}: `{old}` → `{new}`.",
    ],
    reasons: ALIGNED,
};

pub(super) const CHANGE_LIST_SHAPE: Wording = Wording {
    summary: "Changes the keys of lists to `{items}` and `{total}` (until now `{old_items}` and `{old_total}`).",
    requests: &[
        "The bodies of lists have other keys from now on: `{items}` and `{total}`. {clause}",
        "Change the shape of all lists. {clause}",
        "In lists, `{old_items}` and `{old_total}` are replaced. {clause}",
        "Could every list look like this? {clause}",
        "New list body, on all list routes, nested ones too. {clause}",
    ],
    reasons: ALIGNED,
};

pub(super) const CHANGE_PAGINATION: Wording = Wording {
    summary: "Changes the pages of lists: `{page}` and `{size}`, by default `{default}` records, at most `{most}`.",
    requests: &[
        "Lists are paged differently from now on. {clause}",
        "Change the pages of all lists. {clause}",
        "The pages of lists do not suit the clients. Here is what they should be: {clause}",
        "Could lists be paged like this? {clause}",
        "New pagination, on all lists. {clause}",
    ],
    reasons: ALIGNED,
};

pub(super) const CHANGE_FIELD_CASE: Wording = Wording {
    summary: "Writes fields and query parameters in {case} instead of {old_case}: {examples}.",
    requests: &[
        "All fields in JSON, parameters of actions and query parameters are written in {case} instead of {old_case}: \
         {examples}, and so on.",
        "Switch from {old_case} to {case} for every field, parameter of an action and query parameter. For example: \
         {examples}.",
        "We want {case} in bodies and queries. Every name of more than one word changes, such as {examples}.",
        "Could the API use {case} for fields and parameters, everywhere? Today it is {old_case}. Examples: {examples}.",
        "{^old_case} → {case}, for fields, parameters of actions and query parameters (filters, sorts, pages too): \
         {examples}.",
    ],
    reasons: ALIGNED,
};

pub(super) const CHANGE_PREFIX: Wording = Wording {
    summary: "Changes the prefix of all paths from {old} to {new}.",
    requests: &[
        "All paths but `/reset` get another prefix: {new} instead of {old}. `{example}` is the path of {many}, for \
         example.",
        "Move the whole API (without `/reset`) from {old} to {new}, so that {many} are at `{example}`, and so on.",
        "The prefix of every path changes from {old} to {new}; only `/reset` stays where it is. {^many}: `{example}`.",
        "Could everything but `/reset` be served under {new} instead of {old}? `{example}` for {many}, for instance.",
        "Prefix: {old} → {new} (for instance `{example}`). It holds for all routes but `/reset`.",
    ],
    reasons: ALIGNED,
};

pub(super) const CHANGE_UNKNOWN_FIELDS: Wording = Wording {
    summary: "Treats unknown keys in bodies differently: {treatment}.",
    requests: &[
        "Unknown keys in bodies are treated differently: {clause}",
        "Change what happens with unknown keys. {clause}",
        "What if a body has a key that we do not know? From now on: {clause}",
        "Could unknown keys be handled another way? {clause}",
        "New rule for unknown keys, on all routes: {clause}",
    ],
    reasons: ALIGNED,
};
