//! Slots of changes of actions and analytics.

use super::SlotFiller;
use crate::change::{ActionChange, AnalyticChange};
use crate::ir::Analytic;
use crate::text::english::code;
use crate::text::{action, analytic};

impl SlotFiller<'_> {
    pub(super) fn actions(&mut self, change: &ActionChange) {
        let (key, verb) = change.keys();
        let Some(owner) = self.entity(key) else { return };
        let before_change = self.before.schema.entity(key).and_then(|owner| owner.action(verb));
        let now = self.after.schema.entity(key).and_then(|owner| owner.action(verb));
        let subject = now.or(before_change);
        let names = if now.is_some() { self.after } else { self.before };
        match change {
            ActionChange::AddAction { action, .. } => {
                let action = subject.unwrap_or(action);
                self.put("verb", code(&self.after.schema.path_name(&action.name)));
                self.put("path", self.after.action_path(owner, action));
            }
            ActionChange::RenameAction { name, .. } => {
                let renamed = now
                    .filter(|now| before_change.is_none_or(|before_change| before_change.name != now.name));
                let new = self.after.schema.path_name(renamed.map_or(name, |now| &now.name));
                self.put("old", self.before.verb(key, verb));
                self.put("path", format!("{}/{{id}}/{new}", self.after.schema.collection_path(owner)));
                self.put("new", code(&new));
            }
            _ => self.put("verb", names.verb(key, verb)),
        }
        // What is replaced or removed, in today's names.
        let renamed = self.renamed.schema.entity(key).unwrap_or(owner);
        let renamed_action = renamed.action(verb);
        match change {
            ActionChange::AddGuard { guard, .. } => {
                self.put("cond", action::condition(self.after, owner, &guard.condition));
            }
            ActionChange::RemoveGuard { guard, .. } => {
                let old = renamed_action
                    .and_then(|renamed_action| renamed_action.guards.iter().find(|old| old.key == *guard));
                if let Some(old) = old {
                    self.put("cond", action::condition(self.renamed, renamed, &old.condition));
                }
            }
            ActionChange::ChangeGuard { guard, condition, .. } => {
                let old = renamed_action
                    .and_then(|renamed_action| renamed_action.guards.iter().find(|old| old.key == *guard));
                self.put("cond", action::condition(self.after, owner, condition));
                if let Some(old) = old {
                    self.put("old_cond", action::condition(self.renamed, renamed, &old.condition));
                }
            }
            ActionChange::AddEffect { effect, .. } => {
                if let Some(subject) = subject {
                    self.put("effect", action::effect(self.after, owner, subject, effect));
                }
            }
            ActionChange::RemoveEffect { index, .. } => {
                if let Some((renamed_action, effect)) = renamed_action
                    .and_then(|renamed_action| Some((renamed_action, renamed_action.effects.get(*index)?)))
                {
                    self.put("effect", action::effect(self.renamed, renamed, renamed_action, effect));
                }
            }
            ActionChange::ChangeEffect { index, operand, .. } => {
                if let Some((renamed_action, mut effect)) = renamed_action.and_then(|renamed_action| {
                    Some((renamed_action, renamed_action.effects.get(*index)?.clone()))
                }) {
                    match &mut effect {
                        crate::ir::Effect::Set { to, .. } => *to = operand.clone(),
                        crate::ir::Effect::Increment { by, .. } => *by = operand.clone(),
                        crate::ir::Effect::Create { .. } => {}
                    }
                    self.put("effect", action::effect(self.renamed, renamed, renamed_action, &effect));
                }
                if let Some((renamed_action, effect)) = renamed_action
                    .and_then(|renamed_action| Some((renamed_action, renamed_action.effects.get(*index)?)))
                {
                    self.put("old_effect", action::effect(self.renamed, renamed, renamed_action, effect));
                }
            }
            _ => {}
        }
    }

    pub(super) fn analytics(&mut self, change: &AnalyticChange) {
        let key = change.analytic();
        let before_change = self.before.schema.analytic(key);
        let now = self.after.schema.analytic(key);
        let subject = match change {
            AnalyticChange::AddAnalytic { analytic } => now.cloned().or_else(|| Some(analytic.clone())),
            _ => now.or(before_change).cloned(),
        };
        let Some(subject) = subject else { return };
        let schema =
            if now.is_some() || before_change.is_none() { self.after.schema } else { self.renamed.schema };
        let names = self.names(&subject.entity);
        self.put_entity_words(names, &subject.entity);
        match change {
            AnalyticChange::RenameAnalytic { name, .. } => {
                let old = before_change
                    .map(|before_change| self.before.schema.analytic_path(before_change))
                    .unwrap_or_default();
                let renamed = now
                    .filter(|now| before_change.is_none_or(|before_change| before_change.name != now.name));
                let new = renamed.map_or(name, |now| &now.name);
                let prefix = &self.after.schema.conventions.prefix;
                self.put("old_path", old);
                self.put("path", format!("{prefix}/analytics/{}", self.after.schema.path_name(new)));
            }
            _ => self.put("path", schema.analytic_path(&subject)),
        }
        match change {
            AnalyticChange::AddAnalytic { .. } => self.put("about", analytic::description(names, &subject)),
            AnalyticChange::ChangeMeasure { measure, .. } => {
                let changed = Analytic { measure: measure.clone(), ..subject.clone() };
                self.put("measure", analytic::description(names, &changed));
            }
            AnalyticChange::ChangeGrouping { group_by, .. } => {
                let grouping = group_by.as_ref().map_or_else(
                    || "a single value, not grouped".to_owned(),
                    |field| format!("grouped by {}", self.named(&subject.entity, field)),
                );
                self.put("grouping", grouping);
            }
            AnalyticChange::ChangeRestriction { only, .. } => {
                let many = names.plural(&subject.entity);
                let restriction = only.as_ref().map_or_else(
                    || format!("all {many}"),
                    |only| format!("only the {many}{}", analytic::restriction(names, &subject.entity, only)),
                );
                self.put("restriction", restriction);
            }
            AnalyticChange::ChangeAnalyticFilter { by, .. } => {
                let old = before_change.and_then(|before_change| before_change.by.as_ref());
                if let Some(by) = by {
                    self.put("parameter", self.named(&subject.entity, by));
                }
                if let Some(old) = old {
                    self.put("old_parameter", self.renamed.field(&subject.entity, old));
                }
                if let Some(field) = by.as_ref().or(old) {
                    self.target(self.target_of(&subject.entity, field));
                }
            }
            _ => {}
        }
    }
}
