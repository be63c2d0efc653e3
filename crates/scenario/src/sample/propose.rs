//! A complete change of a given kind, made up for a schema.
//!
//! Each submodule knows the kinds of one part of a schema. What it proposes is plausible and nearly always fits; whether
//! it does is for [`crate::change::apply`] to say.

mod actions;
mod analytics;
mod constraints;
mod entities;
mod fields;
mod lists;

use super::conventions;
use super::kind::ChangeKind;
use super::touched::Touched;
use crate::change::{Change, ErrorKind, StatusKind};
use crate::draw::Draw;
use crate::ir::{Case, Entity, Field, Schema, UnknownFields};

/// What a proposal is made for.
#[derive(Clone, Copy)]
struct Scene<'a> {
    schema: &'a Schema,
    touched: &'a Touched,
}

impl<'a> Scene<'a> {
    /// Entities that did not change as a whole in this turn.
    fn entities(self) -> Vec<&'a Entity> {
        self.schema.entities.iter().filter(|entity| !self.touched.has(&entity.key)).collect()
    }

    /// One of the entities, in which something passes: they are tried in random order.
    fn search<T>(
        self,
        draw: &mut Draw,
        mut find: impl FnMut(&mut Draw, &'a Entity) -> Option<T>,
    ) -> Option<T> {
        let mut entities = self.entities();
        draw.shuffle(&mut entities);
        entities.into_iter().find_map(|entity| find(draw, entity))
    }

    /// One of the fields that pass and were not touched in this turn, with its entity; entities are equally likely.
    fn field(
        self,
        draw: &mut Draw,
        passes: impl Fn(&Entity, &Field) -> bool,
    ) -> Option<(&'a Entity, &'a Field)> {
        self.search(draw, |draw, entity| {
            let fields: Vec<&Field> = entity
                .fields
                .iter()
                .filter(|field| passes(entity, field) && !self.touched.has_in(&entity.key, &field.key))
                .collect();
            draw.pick(&fields).map(|field| (entity, *field))
        })
    }
}

/// A change of a kind for a schema, of parts that this turn has not touched; nothing if there is none (or none was
/// found at once).
pub fn propose(kind: ChangeKind, draw: &mut Draw, schema: &Schema, touched: &Touched) -> Option<Change> {
    let scene = Scene { schema, touched };
    match kind {
        ChangeKind::AddEntity
        | ChangeKind::RemoveEntity
        | ChangeKind::RenameEntity
        | ChangeKind::SetSoftDelete => entities::propose(kind, draw, scene),
        ChangeKind::AddField
        | ChangeKind::RemoveField
        | ChangeKind::RenameField
        | ChangeKind::RetypeField
        | ChangeKind::AddEnumValue
        | ChangeKind::RemoveEnumValue
        | ChangeKind::RenameEnumValue
        | ChangeKind::AddReference
        | ChangeKind::RemoveReference
        | ChangeKind::ChangeDeleteRule
        | ChangeKind::Nest
        | ChangeKind::Unnest
        | ChangeKind::AddComputed
        | ChangeKind::ChangeComputed => fields::propose(kind, draw, scene),
        ChangeKind::AddAction
        | ChangeKind::RemoveAction
        | ChangeKind::RenameAction
        | ChangeKind::AddGuard
        | ChangeKind::RemoveGuard
        | ChangeKind::ChangeGuard
        | ChangeKind::AddEffect
        | ChangeKind::RemoveEffect
        | ChangeKind::ChangeEffect => actions::propose(kind, draw, scene),
        ChangeKind::AddAnalytic
        | ChangeKind::RemoveAnalytic
        | ChangeKind::RenameAnalytic
        | ChangeKind::ChangeMeasure
        | ChangeKind::ChangeGrouping
        | ChangeKind::ChangeRestriction
        | ChangeKind::ChangeAnalyticFilter => analytics::propose(kind, draw, scene),
        ChangeKind::AddFilter
        | ChangeKind::RemoveFilter
        | ChangeKind::AddSort
        | ChangeKind::RemoveSort
        | ChangeKind::ChangeDefaultSort => lists::propose(kind, draw, scene),
        ChangeKind::Tighten
        | ChangeKind::Loosen
        | ChangeKind::Require
        | ChangeKind::MakeOptional
        | ChangeKind::AllowNull
        | ChangeKind::ForbidNull
        | ChangeKind::ChangeDefault
        | ChangeKind::MakeUnique
        | ChangeKind::DropUnique
        | ChangeKind::MakeImmutable
        | ChangeKind::MakeMutable => constraints::propose(kind, draw, scene),
        ChangeKind::ChangeErrorShape
        | ChangeKind::ChangeErrorCode
        | ChangeKind::ChangeStatus
        | ChangeKind::ChangeListShape
        | ChangeKind::ChangePagination
        | ChangeKind::ChangeFieldCase
        | ChangeKind::ChangePrefix
        | ChangeKind::ChangeUnknownFields => convention(kind, draw, schema),
    }
}

fn convention(kind: ChangeKind, draw: &mut Draw, schema: &Schema) -> Option<Change> {
    let now = &schema.conventions;
    // What no request can bring about is not worth a change: nobody would notice it.
    let conflict = schema
        .entities
        .iter()
        .any(|entity| entity.fields.iter().any(|field| field.unique && field.is_writable()));
    let refused =
        schema.entities.iter().any(|entity| entity.actions.iter().any(|action| !action.guards.is_empty()));
    Some(match kind {
        ChangeKind::ChangeErrorShape => Change::ChangeErrorShape { error: conventions::error(draw) },
        ChangeKind::ChangeErrorCode => {
            let all = [
                (ErrorKind::Invalid, &now.codes.invalid),
                (ErrorKind::NotFound, &now.codes.not_found),
                (ErrorKind::Conflict, &now.codes.conflict),
                (ErrorKind::Refused, &now.codes.refused),
            ];
            let at = draw.below(all.len());
            let (which, old) = *all.get(at)?;
            if (which == ErrorKind::Conflict && !conflict) || (which == ErrorKind::Refused && !refused) {
                return None;
            }
            Change::ChangeErrorCode { which, code: conventions::code(draw, at, old) }
        }
        ChangeKind::ChangeStatus => {
            let all = [
                (StatusKind::Created, now.status.created),
                (StatusKind::Deleted, now.status.deleted),
                (StatusKind::Invalid, now.status.invalid),
                (StatusKind::Conflict, now.status.conflict),
                (StatusKind::Refused, now.status.refused),
            ];
            let at = draw.below(all.len());
            let (which, old) = *all.get(at)?;
            if (which == StatusKind::Conflict && !conflict) || (which == StatusKind::Refused && !refused) {
                return None;
            }
            Change::ChangeStatus { which, status: conventions::status(draw, at, old) }
        }
        ChangeKind::ChangeListShape => Change::ChangeListShape { list: conventions::list(draw) },
        ChangeKind::ChangePagination => {
            Change::ChangePagination { pagination: conventions::pagination(draw) }
        }
        ChangeKind::ChangeFieldCase => Change::ChangeFieldCase {
            case: if now.field_case == Case::Camel { Case::Snake } else { Case::Camel },
        },
        ChangeKind::ChangePrefix => Change::ChangePrefix { prefix: conventions::prefix(draw, &now.prefix) },
        _ => Change::ChangeUnknownFields {
            unknown_fields: match now.unknown_fields {
                UnknownFields::Ignore => UnknownFields::Reject,
                UnknownFields::Reject => UnknownFields::Ignore,
            },
        },
    })
}
