//! What fills the slots of the wordings: the names, types and values that a change is about.

mod behavior;
mod conventions;

use super::english::{Names, article, capital, with_article};
use super::entity;
use super::types;
use crate::change::{Change, ConstraintChange, EntityChange, FieldChange, ListChange};
use crate::ir::{Entity, Field, Kind, OnDelete, Schema, words};

/// Names of slots and what fills them.
pub(super) type Slots = Vec<(&'static str, String)>;

/// Fills the slots of a template. `{^name}` begins with a capital letter. A slot that nothing fills stays empty.
pub(super) fn fill(template: &str, slots: &Slots) -> String {
    let mut out = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            rest = after;
            continue;
        };
        let (name, raised) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
        let filled = slots.iter().find(|(slot, _)| *slot == name).map_or("", |(_, text)| text);
        if raised {
            out.push_str(&capital(filled));
        } else {
            out.push_str(filled);
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The slots of a change that leads from one schema to another. `renamed` is the schema before with the turn's renames: what is
/// replaced or removed is written in the names that stand now. For a summary, which knows only the schema before, all three are
/// the same; what is new comes from the change itself.
pub(super) fn slots(before: &Schema, renamed: &Schema, after: &Schema, change: &Change) -> Slots {
    let (before, renamed, after) = (Names::new(before), Names::new(renamed), Names::new(after));
    SlotFiller { before, renamed, after, slots: Slots::new() }.fill_slots(change)
}

struct SlotFiller<'a> {
    /// The schema before, for old names in renames.
    before: Names<'a>,
    renamed: Names<'a>,
    after: Names<'a>,
    slots: Slots,
}

impl<'a> SlotFiller<'a> {
    fn put(&mut self, slot: &'static str, text: impl Into<String>) {
        self.slots.push((slot, text.into()));
    }

    /// The names of the schema that has the entity: after the changes if it is still there.
    fn names(&self, entity: &str) -> Names<'a> {
        if self.after.schema.entity(entity).is_some() { self.after } else { self.renamed }
    }

    /// The entity as it is afterwards, or was.
    fn entity(&self, entity: &str) -> Option<&'a Entity> {
        self.after.schema.entity(entity).or_else(|| self.renamed.schema.entity(entity))
    }

    /// A field in backquotes, as it is called afterwards, or was.
    fn named(&self, entity: &str, field: &str) -> String {
        if self.after.find(entity, field).is_some() {
            self.after.field(entity, field)
        } else {
            // The other names of the message are today's, and so is the case of one that is no more.
            let name = self.renamed.find(entity, field).map_or(field, |field| field.name.as_str());
            self.after.json(name)
        }
    }

    fn put_entity_words(&mut self, names: Names<'a>, entity: &str) {
        let singular = names.singular(entity);
        self.put("a_one", with_article(&singular));
        self.put("one", singular);
        self.put("many", names.plural(entity));
    }

    fn target(&mut self, target: &str) {
        let names = self.names(target);
        let singular = names.singular(target);
        self.put("a_target", with_article(&singular));
        self.put("target", singular);
        self.put("target_many", names.plural(target));
    }

    /// The entity that a reference points to, now or before.
    fn target_of(&self, entity: &str, field: &str) -> &'a str {
        self.after
            .find(entity, field)
            .and_then(Field::target)
            .or_else(|| self.before.find(entity, field).and_then(Field::target))
            .unwrap_or_default()
    }

    fn fill_slots(mut self, change: &Change) -> Slots {
        if let Some(key) = change.entity()
            && !matches!(
                change,
                Change::Entity(EntityChange::AddEntity { .. } | EntityChange::RenameEntity { .. })
            )
        {
            self.put_entity_words(self.names(key), key);
        }
        match change {
            Change::Entity(change) => self.entities(change),
            Change::Field(change) => self.fields(change),
            Change::Constraint(change) => self.constraints(change),
            Change::Action(change) => self.actions(change),
            Change::Analytic(change) => self.analytics(change),
            Change::List(change) => self.lists(change),
            Change::Convention(change) => self.conventions(change),
        }
        self.slots
    }

    fn entities(&mut self, change: &EntityChange) {
        match change {
            EntityChange::AddEntity { entity } => {
                let entity =
                    self.after.schema.entity(&entity.key).map_or_else(|| entity.clone(), Clone::clone);
                let singular = words(&entity.name);
                self.put("path", self.after.schema.collection_path(&entity));
                self.put("a_one", with_article(&singular));
                self.put("one", singular);
                self.put("many", words(&entity.plural));
            }
            EntityChange::RenameEntity { entity, name, plural } => {
                // The names that stand now, if another change of the turn gave others.
                let now = self.after.schema.entity(entity);
                let old = self.before.schema.entity(entity);
                let renamed = now.is_some_and(|now| old.is_none_or(|old| now.plural != old.plural));
                let (singular, many) = match now {
                    Some(now) if renamed => (now.name.clone(), now.plural.clone()),
                    _ => (name.clone(), plural.clone()),
                };
                let schema = self.after.schema;
                let path = format!("{}/{}", schema.conventions.prefix, schema.path_name(&many));
                self.put("path_of_one", format!("{path}/{{id}}"));
                self.put("path", path);
                self.put("one", words(&singular));
                self.put("many", words(&many));
                self.put("old_one", self.before.singular(entity));
                self.put("old_many", self.before.plural(entity));
                let path = old.map(|old| self.before.schema.collection_path(old)).unwrap_or_default();
                self.put("old_path", path);
            }
            EntityChange::RemoveEntity { .. } | EntityChange::SetSoftDelete { .. } => {}
        }
    }

    fn fields(&mut self, change: &FieldChange) {
        match change {
            FieldChange::AddField { entity, field }
            | FieldChange::AddReference { entity, field }
            | FieldChange::AddComputed { entity, field } => {
                let field = self.after.find(entity, &field.key).cloned().unwrap_or_else(|| field.clone());
                self.put("f", self.after.json(&field.name));
                self.put("type", field.kind.word());
                self.put("kind", types::kind(self.after, &field.kind));
                if let Some(target) = field.target() {
                    self.target(target);
                }
                if let (Some(computed), Some(owner)) = (&field.computed, self.entity(entity)) {
                    self.put("formula", entity::formula(self.after, owner, computed));
                }
            }
            FieldChange::RenameField { entity, field, name } => {
                let old = self.before.find(entity, field).map_or(field, |field| &field.name);
                let now = self.after.find(entity, field).filter(|now| now.name != *old);
                let new = now.map_or(name, |now| &now.name);
                self.put("old", self.before.json(old));
                self.put("new", self.after.json(new));
            }
            FieldChange::RetypeField { entity, field, kind, .. } => {
                self.put("f", self.named(entity, field));
                let old = self.before.kind(entity, field).map_or("", Kind::word);
                self.put("old_type", format!("{} {old}", article(old)));
                self.put("old_word", old);
                self.put("type", kind.word());
                self.put("a_type", format!("{} {}", article(kind.word()), kind.word()));
                self.put("kind", types::kind(self.after, kind));
            }
            FieldChange::AddEnumValue { entity, field, value }
            | FieldChange::RemoveEnumValue { entity, field, value } => {
                self.put("f", self.named(entity, field));
                self.put("value", value);
            }
            FieldChange::RenameEnumValue { entity, field, value, to } => {
                self.put("f", self.named(entity, field));
                self.put("value", value);
                self.put("to", to);
            }
            FieldChange::ChangeDeleteRule { entity, field, on_delete } => {
                let f = self.named(entity, field);
                let target = self.target_of(entity, field);
                self.target(target);
                let (one, many) =
                    (with_article(&self.names(target).singular(target)), self.names(entity).plural(entity));
                self.put(
                    "rule",
                    match on_delete {
                        OnDelete::Cascade => {
                            format!("deleting {one} also deletes the {many} that refer to it through {f}")
                        }
                        OnDelete::Restrict => format!(
                            "deleting {one} is a *conflict* as long as {many} refer to it through {f}"
                        ),
                        OnDelete::SetNull => {
                            format!(
                                "deleting {one} sets {f} to null in the {many} that refer to it through {f}"
                            )
                        }
                    },
                );
                self.put("f", f);
            }
            FieldChange::Nest { entity, field } | FieldChange::Unnest { entity, field } => {
                self.put("f", self.named(entity, field));
                let target = self.target_of(entity, field);
                self.target(target);
                let names =
                    if matches!(change, FieldChange::Nest { .. }) { self.after } else { self.renamed };
                let plural = names.schema.entity(entity).map_or(entity.as_str(), |entity| &entity.plural);
                self.put("path", names.nested_path(target, plural));
            }
            FieldChange::ChangeComputed { entity, field, computed } => {
                self.put("f", self.named(entity, field));
                if let Some(owner) = self.entity(entity) {
                    self.put("formula", entity::formula(self.after, owner, computed));
                }
            }
            FieldChange::RemoveReference { entity, field } => {
                self.put("f", self.named(entity, field));
                self.target(self.target_of(entity, field));
            }
            FieldChange::RemoveField { entity, field } => self.put("f", self.named(entity, field)),
        }
    }

    fn constraints(&mut self, change: &ConstraintChange) {
        let (entity, field) = change.keys();
        self.put("f", self.named(entity, field));
        match change {
            ConstraintChange::Tighten { kind, .. } | ConstraintChange::Loosen { kind, .. } => {
                let old = self.before.kind(entity, field).map(|old| types::kind(self.before, old));
                self.put("old_kind", old.unwrap_or_default());
                self.put("kind", types::kind(self.after, kind));
            }
            ConstraintChange::ChangeDefault { default, .. }
            | ConstraintChange::MakeOptional { default, .. } => {
                let kind = self.after.kind(entity, field).or_else(|| self.before.kind(entity, field));
                let old = self.renamed.find(entity, field);
                self.put("to", types::default(kind, default.as_ref()));
                self.put(
                    "from",
                    types::default(old.map(|old| &old.kind), old.and_then(|old| old.default.as_ref())),
                );
            }
            ConstraintChange::ForbidNull { default, .. } => {
                let kind = self.after.kind(entity, field).or_else(|| self.before.kind(entity, field));
                if default.is_some() {
                    self.put(
                        "with_default",
                        format!(", with the default {}", types::default(kind, default.as_ref())),
                    );
                    self.put(
                        "now_gets",
                        format!(" If it is omitted, it now gets {}.", types::default(kind, default.as_ref())),
                    );
                }
            }
            ConstraintChange::Require { .. }
            | ConstraintChange::AllowNull { .. }
            | ConstraintChange::MakeUnique { .. }
            | ConstraintChange::DropUnique { .. }
            | ConstraintChange::MakeImmutable { .. }
            | ConstraintChange::MakeMutable { .. } => {}
        }
    }

    fn lists(&mut self, change: &ListChange) {
        match change {
            ListChange::AddFilter { entity, filter } | ListChange::RemoveFilter { entity, filter } => {
                let field = self
                    .after
                    .find(entity, &filter.field)
                    .or_else(|| self.renamed.find(entity, &filter.field));
                let name = field.map_or(&filter.field, |field| &field.name);
                self.put("param", self.after.schema.json_name(&filter.op.param(name)));
            }
            ListChange::ChangeDefaultSort { entity, sort } => {
                let order = match sort {
                    None => "`id`, ascending".to_owned(),
                    Some(sort) => format!(
                        "{}, {}",
                        self.named(entity, &sort.field),
                        if sort.descending { "descending" } else { "ascending" }
                    ),
                };
                self.put("order", order);
            }
            ListChange::AddSort { entity, field } | ListChange::RemoveSort { entity, field } => {
                self.put("f", self.named(entity, field));
            }
        }
    }
}
