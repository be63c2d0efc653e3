//! Words for changes of actions and analytics.

use super::Wording;

const PROCESS: &[&str] = &[
    "That is how the work is really done.",
    "The team leads agreed on it yesterday.",
    "We had two incidents because of this.",
    "It follows the new handbook.",
    "People did it by hand so far.",
    "The process was changed at the beginning of the month.",
    "It was discussed with everybody concerned.",
];

const DROPPED: &[&str] = &[
    "It was in the way more than it helped.",
    "The process does not have this step any more.",
    "Nobody could remember why it was there.",
    "It is done elsewhere now.",
    "It caused more questions than it answered.",
];

const FIGURES: &[&str] = &[
    "Management looks at this every Monday.",
    "The dashboard is to be rebuilt on it.",
    "The old figure was read in two ways.",
    "It is needed for the quarterly report.",
    "Controlling asked for exactly this.",
    "The numbers in the last presentation did not add up.",
];

pub(super) const ADD_ACTION: Wording = Wording {
    summary: "Adds the action {verb} to {many} at `POST {path}`.",
    requests: &[
        "{^many} get a new action {verb}.",
        "Add an action {verb} for {many}.",
        "It should be possible to call {verb} on {a_one}.",
        "Could you build an action {verb} for {many}?",
        "New action on {many}: {verb}, at `POST {path}`.",
        "Until now clients patch several fields to do this; from now on there is {verb} for {many}.",
    ],
    reasons: PROCESS,
};

pub(super) const REMOVE_ACTION: Wording = Wording {
    summary: "Removes the action {verb} from {many}.",
    requests: &[
        "Remove the action {verb} from {many}.",
        "{^many} have no action {verb} any more.",
        "We do not need {verb} for {many}; take it out.",
        "Could {verb} of {many} be dropped?",
        "The action {verb} on {a_one} goes away, the other ones stay.",
        "{^many}: no {verb} from now on.",
    ],
    reasons: DROPPED,
};

pub(super) const RENAME_ACTION: Wording = Wording {
    summary: "Renames the action {old} of {many} to {new}: `POST {path}`.",
    requests: &[
        "The action {old} of {many} is called {new} from now on: `POST {path}`.",
        "Rename {old} to {new} for {many}; the route is `POST {path}` then.",
        "{^many}: action {old} → {new} (`POST {path}`).",
        "Could we call {old} of {many} {new} instead? It does the same, at `POST {path}`.",
        "{^old} was a poor word. On {many} the action is {new}, so its route is `POST {path}`.",
    ],
    reasons: &[
        "It is the word on the button.",
        "Both words were in use, now we have settled on one.",
        "What it does stays the same.",
        "The old verb was easily misunderstood.",
        "The manual says it like this.",
    ],
};

/// What the rename of an action reaches.
pub(super) const REACH_OF_ACTION: &str = "It does not change names of fields, enum values and analytics.";

pub(super) const ADD_GUARD: Wording = Wording {
    summary: "Adds a condition to {verb} of {many}: {cond}.",
    requests: &[
        "The action {verb} of {many} gets another condition. {clause}",
        "{^many} should not be open to {verb} in every situation: {clause}",
        "Add a check to {verb} of {many}: {clause}",
        "Could {verb} of {many} be stricter? {clause}",
        "People called {verb} on {many} where it made no sense, so there is one more condition: {clause}",
        "New condition for {many}: {clause}",
    ],
    reasons: PROCESS,
};

pub(super) const REMOVE_GUARD: Wording = Wording {
    summary: "Removes a condition of {verb} of {many}: {cond}.",
    requests: &[
        "Drop a condition of the action {verb} of {many}.",
        "{^many}: {verb} is less strict from now on.",
        "Remove a check from {verb} of {many}.",
        "Could {verb} of {many} also be possible in cases that it refuses today?",
        "One condition of {verb} ({many}) has become unnecessary.",
    ],
    reasons: DROPPED,
};

pub(super) const CHANGE_GUARD: Wording = Wording {
    summary: "Changes a condition of {verb} of {many}: instead of “{old_cond}” now “{cond}”.",
    requests: &[
        "One condition of {verb} of {many} changes. Until now: {old_cond}. From now on: {clause}",
        "For {verb} of {many}, replace the condition that {old_cond}. New: {clause}",
        "The rule “{old_cond}” for {verb} of {many} was not right. Instead: {clause}",
        "Could {verb} of {many} look at something else than whether {old_cond}? {clause}",
        "{^many}, condition of {verb}: no longer “{old_cond}”, but this: {clause}",
    ],
    reasons: PROCESS,
};

pub(super) const ADD_EFFECT: Wording = Wording {
    summary: "Adds an effect to {verb} of {many}: it {effect}.",
    requests: &[
        "The action {verb} of {many} does one more thing, after what it does already. {clause}",
        "Extend {verb} of {many} (as its last effect): {clause}",
        "When {verb} is called on {a_one}, something else has to happen too, at the end: {clause}",
        "Could {verb} of {many} take this over as its last step? {clause}",
        "New last effect for {many}: {clause}",
    ],
    reasons: PROCESS,
};

pub(super) const REMOVE_EFFECT: Wording = Wording {
    summary: "Removes an effect of {verb} of {many}: it {effect}.",
    requests: &[
        "The action {verb} of {many} does less from now on.",
        "Take one effect out of {verb} of {many}.",
        "{^verb} of {many} should leave something alone that it changes today.",
        "Could {verb} of {many} do one thing less?",
        "One effect of {verb} ({many}) is not wanted any more.",
    ],
    reasons: DROPPED,
};

pub(super) const CHANGE_EFFECT: Wording = Wording {
    summary: "Changes an effect of {verb} of {many}: it {effect}.",
    requests: &[
        "The action {verb} of {many} works differently now: {clause}",
        "Change an effect of {verb} of {many}. {clause}",
        "{^many}: what {verb} does is to be corrected. {clause}",
        "Could {verb} of {many} do this instead of what it does to that field today? {clause}",
        "An effect of {verb} ({many}) had the wrong value. The right one: {clause}",
    ],
    reasons: PROCESS,
};

pub(super) const ADD_ANALYTIC: Wording = Wording {
    summary: "Adds the analytic `{path}`.",
    requests: &[
        "Add an analytic over {many}. {clause}",
        "There is a new figure to serve: {clause}",
        "We want one more number about {many}. {clause}",
        "Could the API answer this question about {many} too? {clause}",
        "New analytic. {clause}",
        "Somebody counts this by hand every week; the API should do it. {clause}",
    ],
    reasons: FIGURES,
};

pub(super) const REMOVE_ANALYTIC: Wording = Wording {
    summary: "Removes the analytic `{path}`.",
    requests: &[
        "Remove the analytic `{path}`.",
        "`{path}` is not needed any more.",
        "Nobody reads the figure at `{path}`; take it out.",
        "Could `{path}` be switched off?",
        "The analytic at `{path}` goes.",
    ],
    reasons: DROPPED,
};

pub(super) const RENAME_ANALYTIC: Wording = Wording {
    summary: "Renames the analytic `{old_path}` to `{path}`.",
    requests: &[
        "The analytic `{old_path}` moves to `{path}`.",
        "Rename `{old_path}` to `{path}`; it computes the same.",
        "`{old_path}` → `{path}`.",
        "Could the figure at `{old_path}` be served at `{path}` instead?",
        "New path for an analytic: `{path}` in the place of `{old_path}`.",
    ],
    reasons: FIGURES,
};

pub(super) const CHANGE_MEASURE: Wording = Wording {
    summary: "Changes what the analytic `{path}` computes: {measure}.",
    requests: &[
        "The analytic `{path}` computes something else now. {clause}",
        "Change what is measured at `{path}`. {clause}",
        "`{path}` answered the wrong question. What it should be: {clause}",
        "Could `{path}` give us another figure? {clause}",
        "New definition of an analytic: {clause}",
    ],
    reasons: FIGURES,
};

pub(super) const CHANGE_GROUPING: Wording = Wording {
    summary: "Changes the grouping of the analytic `{path}`: {grouping}.",
    requests: &[
        "The grouping of `{path}` changes: {grouping}. {clause}",
        "From now on `{path}` is {grouping}. {clause}",
        "Please serve `{path}` {grouping}. {clause}",
        "Could `{path}` be {grouping}? {clause}",
        "We look at `{path}` from another side now: {grouping}. {clause}",
    ],
    reasons: FIGURES,
};

pub(super) const CHANGE_RESTRICTION: Wording = Wording {
    summary: "Changes which {many} the analytic `{path}` takes: {restriction}.",
    requests: &[
        "The analytic `{path}` takes other {many} into account: {restriction}. {clause}",
        "For `{path}`, change which {many} count. {clause}",
        "`{path}` looked at the wrong {many}. What counts now: {restriction}. {clause}",
        "Could `{path}` be computed over {restriction}? {clause}",
        "Other basis for `{path}`: {restriction}. {clause}",
    ],
    reasons: FIGURES,
};

pub(super) const SET_ANALYTIC_FILTER: Wording = Wording {
    summary: "Gives the analytic `{path}` the query parameter {parameter}.",
    requests: &[
        "The analytic `{path}` takes the query parameter {parameter} from now on. {clause}",
        "Query parameter of `{path}`: {parameter}. {clause}",
        "It should be possible to ask `{path}` for a single {target}, by {parameter}. {clause}",
        "Could `{path}` take {parameter} as its query parameter? {clause}",
        "For `{path}`: the query parameter is {parameter} now. {clause}",
    ],
    reasons: FIGURES,
};

pub(super) const DROP_ANALYTIC_FILTER: Wording = Wording {
    summary: "Takes the query parameter from the analytic `{path}`.",
    requests: &[
        "The analytic `{path}` loses its query parameter {old_parameter}, which is ignored then. {clause}",
        "Take the query parameter {old_parameter} away from `{path}`; it is ignored. {clause}",
        "Nobody asks `{path}` for a single {target}, so {old_parameter} is ignored there from now on. {clause}",
        "Could `{path}` ignore {old_parameter}? {clause}",
        "`{path}`: no query parameter any more, {old_parameter} is ignored. {clause}",
    ],
    reasons: FIGURES,
};
