//! What cases depend on, so that they are taken over from the turn before where nothing of it changed.
//!
//! Cases are made in blocks: those of a field, of an action, and so on. While a block is made, the [`SuitePlan`](super::plan::SuitePlan)
//! notes which entities were read, and how closely. If all of that is the same in the next schema, so are the cases.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;

use crate::ir::{Action, Condition, Conventions, Effect, Entity, Field, Key, Operand, Schema};

/// How closely an entity was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadDepth {
    /// Its names, fields, default order and soft delete. Filters, orders and actions of another entity are never
    /// read.
    Fields,
    /// The same without the fields that are not required.
    Base,
    /// What its records need to be made: which references are required, which required fields are unique.
    Creation,
    /// Not the entity itself, but the references to it.
    Links,
}

/// A part of the conventions that some blocks look at. Names of paths and fields stand everywhere, so a change of these
/// makes all again.
#[derive(Debug, Clone, Copy)]
pub(super) enum Convention {
    List,
    Pages,
    UnknownFields,
    ErrorShape,
    Created,
    Deleted,
    Invalid,
    InvalidCode,
    MissingCode,
    Conflict,
    ConflictCode,
    Refused,
    RefusedCode,
}

impl Convention {
    fn bit(self) -> u16 {
        1 << self as u16
    }

    /// Those that differ.
    fn changed_parts(now: &Conventions, previous: &Conventions) -> u16 {
        let same = [
            (Self::List, now.list == previous.list),
            (Self::Pages, now.pagination == previous.pagination),
            (Self::UnknownFields, now.unknown_fields == previous.unknown_fields),
            (Self::ErrorShape, now.error == previous.error),
            (Self::Created, now.status.created == previous.status.created),
            (Self::Deleted, now.status.deleted == previous.status.deleted),
            (Self::Invalid, now.status.invalid == previous.status.invalid),
            (Self::InvalidCode, now.codes.invalid == previous.codes.invalid),
            (Self::MissingCode, now.codes.not_found == previous.codes.not_found),
            (Self::Conflict, now.status.conflict == previous.status.conflict),
            (Self::ConflictCode, now.codes.conflict == previous.codes.conflict),
            (Self::Refused, now.status.refused == previous.status.refused),
            (Self::RefusedCode, now.codes.refused == previous.codes.refused),
        ];
        same.into_iter().filter(|(_, same)| !same).fold(0, |bits, (part, _)| bits | part.bit())
    }
}

/// What was read of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
struct EntityDependency {
    entity: Key,
    depth: ReadDepth,
}

/// What was read since it was asked for last.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    entities: RefCell<Vec<EntityDependency>>,
    conventions: Cell<u16>,
}

impl Dependencies {
    pub(super) fn convention(&self, part: Convention) {
        self.conventions.set(self.conventions.get() | part.bit());
    }

    pub(super) fn note(&self, entity: &str, depth: ReadDepth) {
        let mut dependencies = self.entities.borrow_mut();
        let covered = |dependency: &EntityDependency| {
            dependency.entity == entity
                && match dependency.depth {
                    ReadDepth::Fields => depth != ReadDepth::Links,
                    ReadDepth::Base => matches!(depth, ReadDepth::Base | ReadDepth::Creation),
                    own => own == depth,
                }
        };
        if !dependencies.iter().any(covered) {
            dependencies.push(EntityDependency { entity: entity.to_owned(), depth });
        }
    }

    fn take(&self) -> (Vec<EntityDependency>, u16) {
        (self.entities.take(), self.conventions.take())
    }
}

/// What a block of cases is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockTopic {
    /// The conventions: searched again at every turn, on whichever entities suit.
    Conventions,
    /// The standard operations of an entity.
    Records,
    /// A field.
    Field,
    SoftDelete,
    Lists,
    Action,
    Analytic,
    /// What the turn removed.
    Removed,
}

/// A block of cases.
#[derive(Debug)]
struct Block {
    about: BlockTopic,
    /// Key of the entity, if it is about one.
    entity: Key,
    /// Key of the field, action or analytic, if it is about one.
    part: Key,
    dependencies: Vec<EntityDependency>,
    /// Parts of the conventions that were read.
    conventions: u16,
    cases: Range<usize>,
}

impl Block {
    fn matches(&self, about: BlockTopic, entity: &str, part: &str) -> bool {
        self.about == about && self.part == part && self.entity == entity
    }
}

/// The blocks of a suite, in the order of its cases.
#[derive(Debug, Default)]
pub(crate) struct Blocks(Vec<Block>);

impl Blocks {
    /// Adds a block, with what was read for it.
    pub(super) fn add(
        &mut self,
        key: (BlockTopic, &str, &str),
        dependencies: &Dependencies,
        cases: Range<usize>,
    ) {
        let (about, entity, part) = key;
        let (dependencies, conventions) = dependencies.take();
        let (entity, part) = (entity.to_owned(), part.to_owned());
        self.0.push(Block { about, entity, part, dependencies, conventions, cases });
    }
}

/// The blocks of the turn before, held against the schema of this turn.
#[derive(Debug)]
pub(super) struct PreviousBlocks<'s> {
    blocks: Vec<Block>,
    /// Where the next block is expected: most stand in the same order.
    next: usize,
    now: &'s Schema,
    previous: &'s Schema,
    /// Names of paths and fields are written as before.
    names: bool,
    /// Parts of the conventions that are others.
    conventions: u16,
    entities: HashMap<&'s str, UnchangedParts>,
}

/// What is the same about an entity.
#[derive(Debug, Clone, Copy)]
struct UnchangedParts {
    fields: bool,
    base: bool,
    creation: bool,
}

impl<'s> PreviousBlocks<'s> {
    pub(super) fn new(blocks: Blocks, previous: &'s Schema, now: &'s Schema) -> Self {
        let entities = now
            .entities
            .iter()
            .filter_map(|entity| {
                Some((entity.key.as_str(), unchanged_parts(entity, previous.entity(&entity.key)?)))
            })
            .collect();
        let (new, old) = (&now.conventions, &previous.conventions);
        let names =
            new.prefix == old.prefix && new.path_case == old.path_case && new.field_case == old.field_case;
        let conventions = Convention::changed_parts(new, old);
        Self { blocks: blocks.0, next: 0, now, previous, names, conventions, entities }
    }

    /// Where the cases of a block stand in the suite before, if they would be the same now.
    pub(super) fn find(&mut self, about: BlockTopic, entity: &str, part: &str) -> Option<Range<usize>> {
        let place = match self.blocks.get(self.next) {
            Some(block) if block.matches(about, entity, part) => self.next,
            _ => self.blocks.iter().position(|block| block.matches(about, entity, part))?,
        };
        self.next = place + 1;
        let block = self.blocks.get(place)?;
        let same = self.names
            && block.conventions & self.conventions == 0
            && self.same_part(block)
            && block.dependencies.iter().all(|dependency| self.is_unchanged(dependency));
        same.then(|| block.cases.clone())
    }

    /// The block as it was made before, once more.
    pub(super) fn keep(&mut self, blocks: &mut Blocks, cases: Range<usize>) {
        if let Some(block) = self.next.checked_sub(1).and_then(|place| self.blocks.get_mut(place)) {
            let (entity, part) = (std::mem::take(&mut block.entity), std::mem::take(&mut block.part));
            let dependencies = std::mem::take(&mut block.dependencies);
            let (about, conventions) = (block.about, block.conventions);
            blocks.0.push(Block { about, entity, part, dependencies, conventions, cases });
        }
    }

    /// Whether what a block is about is the same, beyond what is noted of its entity.
    fn same_part(&self, block: &Block) -> bool {
        if block.about == BlockTopic::Analytic {
            return self.now.analytic(&block.part) == self.previous.analytic(&block.part);
        }
        let (Some(now), Some(previous)) =
            (self.now.entity(&block.entity), self.previous.entity(&block.entity))
        else {
            return false;
        };
        let key = &block.part;
        match block.about {
            BlockTopic::Conventions | BlockTopic::Removed | BlockTopic::Analytic => false,
            BlockTopic::Records => called(now).eq(called(previous)),
            BlockTopic::Field => now.field(key) == previous.field(key),
            BlockTopic::SoftDelete => true,
            BlockTopic::Lists => {
                now.filters == previous.filters
                    && now.sorts == previous.sorts
                    && listed_fields(now).eq(listed_fields(previous))
                    && unsorted_field(now) == unsorted_field(previous)
            }
            BlockTopic::Action => {
                let same = |action: &Action| {
                    Some(action) == previous.action(key)
                        && mentioned_fields(action).all(|field| now.field(field) == previous.field(field))
                };
                now.action(key).is_some_and(same)
            }
        }
    }

    fn is_unchanged(&self, dependency: &EntityDependency) -> bool {
        let same = self.entities.get(dependency.entity.as_str());
        match dependency.depth {
            ReadDepth::Fields => same.is_some_and(|same| same.fields),
            ReadDepth::Base => same.is_some_and(|same| same.base),
            ReadDepth::Creation => same.is_some_and(|same| same.creation),
            ReadDepth::Links => {
                let links = |schema: &'s Schema| {
                    schema.references_to(&dependency.entity).map(|(entity, field)| (&entity.key, field))
                };
                links(self.now).eq(links(self.previous))
            }
        }
    }
}

fn unchanged_parts(now: &Entity, previous: &Entity) -> UnchangedParts {
    fn required(entity: &Entity) -> impl Iterator<Item = &Field> {
        entity.fields.iter().filter(|field| field.required)
    }
    fn creation_facts(field: &Field) -> (&str, Option<&str>, Option<&Field>) {
        (&field.name, field.target(), field.unique.then_some(field))
    }
    fn order(entity: &Entity) -> Option<&Field> {
        entity.default_sort.as_ref().and_then(|sort| entity.field(&sort.field))
    }
    let base = now.name == previous.name
        && now.plural == previous.plural
        && now.soft_delete == previous.soft_delete
        && now.default_sort == previous.default_sort
        && order(now) == order(previous)
        && required(now).eq(required(previous));
    UnchangedParts {
        fields: base && now.fields == previous.fields,
        base,
        creation: base || required(now).map(creation_facts).eq(required(previous).map(creation_facts)),
    }
}

/// What the routes of actions look like.
fn called(entity: &Entity) -> impl Iterator<Item = (&Key, &Key, bool)> {
    entity.actions.iter().map(|action| (&action.key, &action.name, action.params.is_empty()))
}

/// The fields that a list is filtered and sorted by.
fn listed_fields(entity: &Entity) -> impl Iterator<Item = Option<&Field>> {
    let filtered = entity.filters.iter().map(|filter| &filter.field);
    filtered.chain(&entity.sorts).map(|key| entity.field(key))
}

/// A field that a list cannot be sorted by.
fn unsorted_field(entity: &Entity) -> Option<&Key> {
    let field = entity.fields.iter().find(|field| field.is_writable() && !entity.sorts.contains(&field.key));
    field.map(|field| &field.name)
}

/// The fields of its own entity that an action mentions.
fn mentioned_fields(action: &Action) -> impl Iterator<Item = &Key> {
    fn own_field(operand: &Operand) -> Option<&Key> {
        if let Operand::Own(field) = operand { Some(field) } else { None }
    }
    let guards = action.guards.iter().filter_map(|guard| match &guard.condition {
        Condition::Field { field, .. } => Some(field),
        Condition::Related { reference, .. } => Some(reference),
        Condition::HasAtLeast { .. } | Condition::HasNone { .. } => None,
    });
    let effects = action.effects.iter().flat_map(|effect| {
        let (field, operand, values) = match effect {
            Effect::Set { field, to } => (Some(field), own_field(to), None),
            Effect::Increment { field, by } => (Some(field), own_field(by), None),
            Effect::Create { values, .. } => (None, None, Some(values)),
        };
        let created = values.into_iter().flatten().filter_map(|value| own_field(&value.from));
        field.into_iter().chain(operand).chain(created)
    });
    guards.chain(effects)
}
