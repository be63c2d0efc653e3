//! Words for changes of actions and analytics.

use super::Wording;
use crate::change::{ActionChange, AnalyticChange};

/// The words for a change of an action.
pub(super) fn for_action(change: &ActionChange) -> &'static Wording {
    match change {
        ActionChange::AddAction { .. } => &ADD_ACTION,
        ActionChange::RemoveAction { .. } => &REMOVE_ACTION,
        ActionChange::RenameAction { .. } => &RENAME_ACTION,
        ActionChange::AddGuard { .. } => &ADD_GUARD,
        ActionChange::RemoveGuard { .. } => &REMOVE_GUARD,
        ActionChange::ChangeGuard { .. } => &CHANGE_GUARD,
        ActionChange::AddEffect { .. } => &ADD_EFFECT,
        ActionChange::RemoveEffect { .. } => &REMOVE_EFFECT,
        ActionChange::ChangeEffect { .. } => &CHANGE_EFFECT,
    }
}

/// The words for a change of an analytic.
pub(super) fn for_analytic(change: &AnalyticChange) -> &'static Wording {
    match change {
        AnalyticChange::AddAnalytic { .. } => &ADD_ANALYTIC,
        AnalyticChange::RemoveAnalytic { .. } => &REMOVE_ANALYTIC,
        AnalyticChange::RenameAnalytic { .. } => &RENAME_ANALYTIC,
        AnalyticChange::ChangeMeasure { .. } => &CHANGE_MEASURE,
        AnalyticChange::ChangeGrouping { .. } => &CHANGE_GROUPING,
        AnalyticChange::ChangeRestriction { .. } => &CHANGE_RESTRICTION,
        AnalyticChange::ChangeAnalyticFilter { by: Some(_), .. } => &SET_ANALYTIC_FILTER,
        AnalyticChange::ChangeAnalyticFilter { by: None, .. } => &DROP_ANALYTIC_FILTER,
    }
}

/// Reasons for what is new.
const NEW_STEPS: &[&str] = &[
    "That is how the work is really done.",
    "The team leads agreed on it yesterday.",
    "We had two incidents because it was missing.",
    "It follows the new handbook.",
    "So far, people have had to take care of this themselves.",
    "The process changed at the beginning of the month.",
    "It was discussed with everybody concerned.",
];

/// Reasons for what differs from before.
const CHANGED_STEPS: &[&str] = &[
    "That is how the work is really done.",
    "The team leads agreed on it yesterday.",
    "We had two incidents because of the old behavior.",
    "It follows the new handbook.",
    "So far, people have worked around the old rule by hand.",
    "The process changed at the beginning of the month.",
    "It was discussed with everybody concerned.",
];

const DROPPED_REASONS: &[&str] = &[
    "It was in the way more than it helped.",
    "This is not how we work any more.",
    "Nobody could remember why it was there.",
    "This is done elsewhere now.",
    "It caused more questions than it answered.",
];

/// Reasons for a figure or a parameter that is new.
const NEW_FIGURES: &[&str] = &[
    "Management wants to look at this every Monday.",
    "The new dashboard is built on it.",
    "So far, somebody has counted this in a spreadsheet.",
    "It is needed for the quarterly report.",
    "The finance team asked for exactly this.",
];

/// Reasons for a figure that is computed in another way.
const CHANGED_FIGURES: &[&str] = &[
    "Management looks at this every Monday.",
    "The new dashboard is built on it.",
    "The old figure could be read in two ways.",
    "It is needed for the quarterly report.",
    "The finance team asked for exactly this.",
    "The numbers in the last presentation did not add up.",
];

const ADD_ACTION: Wording = Wording {
    summary: "Adds the action {verb} to {many}, at `POST {path}`.",
    requests: &[
        "Add the action {verb} to {many}.",
        "{^many} get a new action, {verb}.",
        "Clients should be able to call a new action, {verb}, on {a_one}.",
        "Could you add an action {verb} to {many}?",
        "New action for {many}: {verb}, at `POST {path}`.",
        "For {many}, add the action {verb}, so that one call is enough.",
    ],
    reasons: NEW_STEPS,
};

const REMOVE_ACTION: Wording = Wording {
    summary: "Removes the action {verb} from {many}.",
    requests: &[
        "Remove the action {verb} from {many}.",
        "{^many} should no longer have the action {verb}.",
        "We no longer need the action {verb} of {many}; please remove it.",
        "Could you drop the action {verb} from {many}?",
        "The action {verb} of {many} is discontinued.",
        "{^many}: remove the action {verb}.",
    ],
    reasons: DROPPED_REASONS,
};

const RENAME_ACTION: Wording = Wording {
    summary: "Renames the action {old} of {many} to {new}: `POST {path}`.",
    requests: &[
        "Rename the action {old} of {many} to {new}. Its route is then `POST {path}`.",
        "The action {old} of {many} is called {new} from now on: `POST {path}`.",
        "For {many}, the action name {new} replaces {old}. The route is `POST {path}`, and what it does stays the same.",
        "Could you rename the action {old} of {many} to {new}? It does the same as before, at `POST {path}`.",
        "{^many}: rename the action {old} → {new} (`POST {path}`).",
    ],
    reasons: &[
        "The new one is the word on the button.",
        "Both words were in use; now we have settled on one.",
        "What it does stays the same.",
        "The old verb was easily misunderstood.",
        "The manual uses the new word.",
    ],
};

/// What the rename of an action reaches.
pub(super) const REACH_OF_ACTION: &str =
    "Names of fields, enum values, analytics and other actions stay as they are.";

const ADD_GUARD: Wording = Wording {
    summary: "Adds a condition to the action {verb} of {many}: {cond}.",
    requests: &[
        "Add a condition to the action {verb} of {many}.{why} {clause}",
        "The action {verb} of {many} gets another condition.{why} {clause}",
        "Clients call {verb} on {many} where it makes no sense, so please add a condition.{why} {clause}",
        "Could you add a condition to the action {verb} of {many}?{why} {clause}",
        "New condition for the action {verb} of {many}: {clause}",
        "One more condition applies to {verb} of {many} from now on: {clause}",
    ],
    reasons: NEW_STEPS,
};

const REMOVE_GUARD: Wording = Wording {
    summary: "Removes a condition of the action {verb} of {many}: {cond}.",
    requests: &[
        "Remove one condition from the action {verb} of {many}.",
        "The action {verb} of {many} becomes less strict: one condition is dropped.",
        "One condition of the action {verb} of {many} is no longer needed; please remove it.",
        "Could you drop one of the conditions of {verb} of {many}?",
        "{^many}, action {verb}: remove a condition.",
    ],
    reasons: DROPPED_REASONS,
};

const CHANGE_GUARD: Wording = Wording {
    summary: "Replaces a condition of the action {verb} of {many}: not “{old_cond}” any more, but “{cond}”.",
    requests: &[
        "Replace a condition of the action {verb} of {many}. Until now it was: {old_cond}. From now on: {clause}",
        "In the action {verb} of {many}, the condition “{old_cond}” is replaced. The new one: {clause}",
        "For the action {verb} of {many}, the condition that {old_cond} was not right. It is replaced by this one: \
         {clause}",
        "Could you change a condition of the action {verb} of {many}? Today it checks that {old_cond}. It should check \
         this instead: {clause}",
        "{^many}, action {verb}, condition changed. Old: {old_cond}. New: {clause}",
    ],
    reasons: CHANGED_STEPS,
};

const ADD_EFFECT: Wording = Wording {
    summary: "Adds an effect to the action {verb} of {many}: it {effect}.",
    requests: &[
        "Add an effect to the action {verb} of {many}, after its other effects.{why} {clause}",
        "The action {verb} of {many} gets one more effect, which happens last.{why} {clause}",
        "When {verb} is called on {a_one}, one more effect happens at the end: {clause}",
        "Could you add another effect to the action {verb} of {many}, as its last step?{why} {clause}",
        "New last effect of the action {verb} of {many}: {clause}",
    ],
    reasons: NEW_STEPS,
};

const REMOVE_EFFECT: Wording = Wording {
    summary: "Removes an effect of the action {verb} of {many}: it no longer {effect}.",
    requests: &[
        "Remove one effect from the action {verb} of {many}.",
        "The action {verb} of {many} loses one of its effects.",
        "One effect of the action {verb} of {many} is no longer wanted; please remove it.",
        "Could you drop one of the effects of {verb} of {many}?",
        "{^many}, action {verb}: remove an effect.",
    ],
    reasons: DROPPED_REASONS,
};

const CHANGE_EFFECT: Wording = Wording {
    summary: "Changes an effect of the action {verb} of {many}: from now on it {effect}, instead of this: it {old_effect}.",
    requests: &[
        "Change an effect of the action {verb} of {many}: today, it {old_effect}. From now on: {clause}",
        "An effect of the action {verb} of {many} is replaced. Old: it {old_effect}. New: {clause}",
        "An effect of {verb} of {many} is wrong: it {old_effect}. Change it as follows: {clause}",
        "Could you correct an effect of the action {verb} of {many}? Today it {old_effect}. Instead, {clause}",
        "{^many}, action {verb}, effect changed. Old: it {old_effect}. New: {clause}",
    ],
    reasons: CHANGED_STEPS,
};

const ADD_ANALYTIC: Wording = Wording {
    summary: "Adds the analytic `{path}`: {about}.",
    requests: &[
        "Add an analytic about {many}.{why} {clause}",
        "We need one more figure about {many}, as a new analytic.{why} {clause}",
        "Could you add an analytic about {many}?{why} {clause}",
        "New analytic about {many}: {clause}",
        "Please add an analytic that works this out, so that nobody has to do it by hand: {clause}",
        "The API should answer one more question about {many}; add this analytic: {clause}",
    ],
    reasons: NEW_FIGURES,
};

const REMOVE_ANALYTIC: Wording = Wording {
    summary: "Removes the analytic `{path}`.",
    requests: &[
        "Remove the analytic `{path}`.",
        "The analytic `{path}` is no longer needed; please remove it.",
        "Nobody reads the analytic at `{path}`. Drop it.",
        "Could you remove the analytic `{path}`?",
        "The analytic at `{path}` is discontinued.",
    ],
    reasons: DROPPED_REASONS,
};

const RENAME_ANALYTIC: Wording = Wording {
    summary: "Renames the analytic `{old_path}` to `{path}`.",
    requests: &[
        "Rename the analytic `{old_path}` to `{path}`.",
        "The analytic `{old_path}` moves to `{path}`; what it computes stays the same.",
        "Change the path of the analytic `{old_path}` to `{path}`.",
        "Could you serve the analytic `{old_path}` under another path, `{path}`? It computes the same.",
        "New path for an analytic: `{path}` replaces `{old_path}`.",
        "Analytic, new path: `{old_path}` → `{path}`.",
    ],
    reasons: &[
        "The old name was misleading.",
        "The new name is what everybody here says anyway.",
        "The new dashboard uses the new name.",
        "Both names were in use among us; now we have settled on one.",
        "The glossary was agreed on last week.",
    ],
};

const CHANGE_MEASURE: Wording = Wording {
    summary: "Changes what the analytic `{path}` computes: {measure}.",
    requests: &[
        "Change what the analytic `{path}` computes.{why} From now on: {clause}",
        "The analytic `{path}` computes another figure from now on: {measure}.{why} {clause}",
        "The analytic `{path}` computes the wrong figure. It should be this one: {clause}",
        "Could you change what the analytic `{path}` computes?{why} From now on: {clause}",
        "Analytic `{path}`, new figure to compute: {measure}.{why} {clause}",
    ],
    reasons: CHANGED_FIGURES,
};

const CHANGE_GROUPING: Wording = Wording {
    summary: "Changes the grouping of the analytic `{path}`: {grouping}.",
    requests: &[
        "Change the grouping of the analytic `{path}`: {grouping}.{why} {clause}",
        "From now on, the result of the analytic `{path}` is {grouping}.{why} {clause}",
        "The analytic `{path}` is not useful in its present form. It should be {grouping}.{why} {clause}",
        "Could you change the grouping of the analytic `{path}`? It should be {grouping}.{why} {clause}",
        "Analytic `{path}`, new grouping: {grouping}.{why} {clause}",
    ],
    reasons: CHANGED_FIGURES,
};

const CHANGE_RESTRICTION: Wording = Wording {
    summary: "Changes which {many} the analytic `{path}` includes: {restriction}.",
    requests: &[
        "Change which {many} the analytic `{path}` includes: {restriction}.{why} {clause}",
        "From now on, the analytic `{path}` includes {restriction}.{why} {clause}",
        "The analytic `{path}` includes the wrong {many}. It should include {restriction}.{why} {clause}",
        "Could you change which {many} the analytic `{path}` includes? They should be {restriction}.{why} {clause}",
        "Analytic `{path}`, records that it includes: {restriction}.{why} {clause}",
    ],
    reasons: CHANGED_FIGURES,
};

const SET_ANALYTIC_FILTER: Wording = Wording {
    summary: "Gives the analytic `{path}` the query parameter {parameter}.",
    requests: &[
        "The analytic `{path}` takes the query parameter {parameter} from now on.{why} {clause}",
        "Give the analytic `{path}` the query parameter {parameter}.{why} {clause}",
        "It should be possible to ask the analytic `{path}` about a single {target}, with the query parameter \
         {parameter}.{why} {clause}",
        "Could you let the analytic `{path}` take the query parameter {parameter}?{why} {clause}",
        "Analytic `{path}`, new query parameter: {parameter}.{why} {clause}",
    ],
    reasons: NEW_FIGURES,
};

const DROP_ANALYTIC_FILTER: Wording = Wording {
    summary: "Removes the query parameter {old_parameter} from the analytic `{path}`.",
    requests: &[
        "Remove the query parameter {old_parameter} from the analytic `{path}`.{why} {clause}",
        "The analytic `{path}` should no longer have the query parameter {old_parameter}.{why} {clause}",
        "Nobody asks the analytic `{path}` about a single {target}; remove its query parameter {old_parameter}.{why} \
         {clause}",
        "Could you drop the query parameter {old_parameter} from the analytic `{path}`?{why} {clause}",
        "Analytic `{path}`: the query parameter {old_parameter} is dropped.{why} {clause}",
    ],
    reasons: &[
        "The new dashboard does without it.",
        "The last client that used it was switched off.",
        "The logs show no use of it in months.",
        "It caused more questions than it answered.",
        "It was slow, and nobody used it.",
    ],
};
