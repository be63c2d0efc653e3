//! Words for changes of soft delete and of what holds for all routes.

use super::Wording;
use crate::change::ConventionChange;

/// The words for a change of what holds for all routes.
pub(super) fn for_convention(change: &ConventionChange) -> &'static Wording {
    match change {
        ConventionChange::ChangeErrorShape { .. } => &CHANGE_ERROR_SHAPE,
        ConventionChange::ChangeErrorCode { .. } => &CHANGE_ERROR_CODE,
        ConventionChange::ChangeStatus { .. } => &CHANGE_STATUS,
        ConventionChange::ChangeListShape { .. } => &CHANGE_LIST_SHAPE,
        ConventionChange::ChangePagination { .. } => &CHANGE_PAGINATION,
        ConventionChange::ChangeFieldCase { .. } => &CHANGE_FIELD_CASE,
        ConventionChange::ChangePrefix { .. } => &CHANGE_PREFIX,
        ConventionChange::ChangeUnknownFields { .. } => &CHANGE_UNKNOWN_FIELDS,
    }
}

const ALIGNED_REASONS: &[&str] = &[
    "All our APIs are to work alike.",
    "The gateway in front of the API expects this.",
    "It follows the new guidelines of the platform team.",
    "The client library that we want to use needs it.",
    "The old way was the most frequent complaint of the people who use the API.",
    "The review board asked for it.",
    "We are preparing to open the API to partners.",
];

const RECORDS_KEPT: &[&str] = &[
    "We lost records that were needed later.",
    "The auditors want to see what was there.",
    "A deletion by mistake must not be the end of it.",
    "Reports about last year need them.",
    "Support wants to be able to look things up.",
];

const RECORDS_REMOVED: &[&str] = &[
    "What is deleted should be gone.",
    "The law requires it.",
    "Nobody ever looked at the old ones.",
    "Soft delete made everything more complicated than necessary.",
    "The archive is kept elsewhere now.",
];

pub(super) const SOFT_DELETE_ON: Wording = Wording {
    summary: "Turns on soft delete for {many}: deleted records are kept and marked.",
    requests: &[
        "Use soft delete for {many}: a deleted record is kept and marked.",
        "Switch on soft delete for {many}.",
        "{^many} must not vanish when they are deleted; they get soft delete.",
        "Could you keep deleted {many} and mark them (soft delete)?",
        "From now on, {many} have soft delete.",
    ],
    reasons: RECORDS_KEPT,
};

pub(super) const SOFT_DELETE_OFF: Wording = Wording {
    summary: "Turns off soft delete for {many}: deleted records are removed.",
    requests: &[
        "Switch off soft delete for {many}.",
        "We want to do without soft delete for {many}.",
        "Stop using soft delete for {many}; a deletion removes the record for good.",
        "Could you remove soft delete from {many}? A deleted record is then really gone.",
        "No more soft delete for {many}: deleted ones are removed.",
    ],
    reasons: RECORDS_REMOVED,
};

const CHANGE_ERROR_SHAPE: Wording = Wording {
    summary: "Changes the body of errors to {shape}.",
    requests: &[
        "Change the error body on all routes to {shape}.{why} {clause}",
        "The error body looks different from now on: {shape}.{why} {clause}",
        "Errors need another body: {shape}.{why} {clause}",
        "Could you change the error body of all routes? It should be {shape}.{why} {clause}",
        "New error body: {shape}.{why} {clause}",
    ],
    reasons: ALIGNED_REASONS,
};

const CHANGE_ERROR_CODE: Wording = Wording {
    summary: "Changes the error code for *{which}* from `{old}` to `{new}`.",
    requests: &[
        "Change the error code for *{which}* from `{old}` to `{new}`.",
        "The error code of *{which}* errors is `{new}` from now on, instead of `{old}`.",
        "For *{which}* errors, the error code `{new}` replaces `{old}`.",
        "Could you change the error code for *{which}* to `{new}`?{why} Today it is `{old}`.",
        "Error code for *{which}*: `{old}` → `{new}`.",
    ],
    reasons: ALIGNED_REASONS,
};

const CHANGE_STATUS: Wording = Wording {
    summary: "Changes the status code of {which} from `{old}` to `{new}`.",
    requests: &[
        "Change the status code of {which} from `{old}` to `{new}`.",
        "The status code of {which} is `{new}` from now on, instead of `{old}`.",
        "For {which}, the status code `{new}` replaces `{old}`.",
        "Could you change the status code of {which} to `{new}`?{why} Today it is `{old}`.",
        "Status code of {which}: `{old}` → `{new}`.",
    ],
    reasons: ALIGNED_REASONS,
};

const CHANGE_LIST_SHAPE: Wording = Wording {
    summary: "Changes the keys of list bodies: {keys}.",
    requests: &[
        "Change the keys of list bodies: {keys}.{why} {clause}",
        "List bodies have new keys from now on: {keys}.{why} {clause}",
        "The list body changes on all list routes, nested ones too: {keys}.{why} {clause}",
        "Could you change the keys of the list body on all list routes? {^keys}.{why} {clause}",
        "New keys of list bodies: {keys}.{why} {clause}",
    ],
    reasons: ALIGNED_REASONS,
};

const CHANGE_PAGINATION: Wording = Wording {
    summary: "Changes the pagination of lists: `{page}` and `{size}`, by default `{default}` records, at most `{most}`.",
    requests: &[
        "Change the pagination of all lists.{why} From now on: {clause}",
        "The pagination of lists works differently.{why} From now on: {clause}",
        "The present pagination of lists does not suit the clients. The new one: {clause}",
        "Could you change the pagination of all lists?{why} From now on: {clause}",
        "New pagination for all lists: `{page}` and `{size}`.{why} {clause}",
    ],
    reasons: ALIGNED_REASONS,
};

const CHANGE_FIELD_CASE: Wording = Wording {
    summary: "Writes fields and parameters in {case} instead of {old_case}: {examples}.",
    requests: &[
        "Write all fields of records, action parameters and query parameters in {case} instead of {old_case}. For example: \
         {examples}.",
        "Switch from {old_case} to {case} for every field of a record, action parameter and query parameter (filters and pagination \
         included). For example: {examples}.",
        "The naming of fields of records, action parameters and query parameters changes from {old_case} to {case}. Every such name of \
         more than one word changes, such as {examples}.",
        "Could you use {case} for all fields of records, action parameters and query parameters?{why} Today they are in \
         {old_case}. Examples: {examples}.",
        "Naming of fields of records, action parameters and query parameters: {old_case} → {case}. Examples: {examples}.",
    ],
    reasons: ALIGNED_REASONS,
};

/// What the case of fields does not reach.
pub(super) const REACH_OF_FIELD_CASE: &str =
    "Keys of other JSON bodies (lists, errors, analytics), enum values and paths stay as they are.";

const CHANGE_PREFIX: Wording = Wording {
    summary: "Changes the prefix of all paths from {old} to {new}.",
    requests: &[
        "Change the prefix of all paths from {old} to {new}; only `/reset` stays where it is. The collection of {many}, for \
         example, is then `{example}`.",
        "All paths except `/reset` get another prefix: {new} instead of {old}. For example, {many} are at `{example}`.",
        "The path prefix changes from {old} to {new}, except for `/reset`. Example: {many} at `{example}`.",
        "Could you change the prefix of all paths except `/reset`? Today it is {old}, and it should be {new}, for example \
         `{example}` for {many}.",
        "Path prefix: {old} → {new} (for example `{example}`). This applies to all routes except `/reset`.",
    ],
    reasons: ALIGNED_REASONS,
};

const CHANGE_UNKNOWN_FIELDS: Wording = Wording {
    summary: "Changes what happens with unknown keys in request bodies: {treatment}.",
    requests: &[
        "Change what happens with unknown keys in request bodies: {treatment}.{why} {clause}",
        "Unknown keys in request bodies are treated differently from now on: {treatment}.{why} {clause}",
        "What if a request body has unknown keys? From now on, {treatment}.{why} {clause}",
        "Could you change how unknown keys in request bodies are treated? From now on, {treatment}.{why} {clause}",
        "New rule for unknown keys in request bodies: {treatment}.{why} {clause}",
    ],
    reasons: ALIGNED_REASONS,
};
