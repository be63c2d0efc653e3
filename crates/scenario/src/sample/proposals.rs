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
use super::touched_parts::TouchedParts;
use crate::change::{Change, ChangeKind, ConventionChange, ConventionKind, ErrorKind, StatusKind};
use crate::draw::Draw;
use crate::ir::{Case, Entity, Field, Schema, UnknownFields};

/// What a proposal is made for.
#[derive(Clone, Copy)]
struct Scene<'a> {
    schema: &'a Schema,
    touched: &'a TouchedParts,
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
pub fn propose(kind: ChangeKind, draw: &mut Draw, schema: &Schema, touched: &TouchedParts) -> Option<Change> {
    let scene = Scene { schema, touched };
    match kind {
        ChangeKind::Entity(kind) => entities::propose(kind, draw, scene).map(Change::Entity),
        ChangeKind::Field(kind) => fields::propose(kind, draw, scene).map(Change::Field),
        ChangeKind::Constraint(kind) => constraints::propose(kind, draw, scene).map(Change::Constraint),
        ChangeKind::Action(kind) => actions::propose(kind, draw, scene).map(Change::Action),
        ChangeKind::Analytic(kind) => analytics::propose(kind, draw, scene).map(Change::Analytic),
        ChangeKind::List(kind) => lists::propose(kind, draw, scene).map(Change::List),
        ChangeKind::Convention(kind) => convention(kind, draw, schema).map(Change::Convention),
    }
}

fn convention(kind: ConventionKind, draw: &mut Draw, schema: &Schema) -> Option<ConventionChange> {
    let now = &schema.conventions;
    // What no request can bring about is not worth a change: nobody would notice it.
    let conflict = schema
        .entities
        .iter()
        .any(|entity| entity.fields.iter().any(|field| field.unique && field.is_writable()));
    let refused =
        schema.entities.iter().any(|entity| entity.actions.iter().any(|action| !action.guards.is_empty()));
    Some(match kind {
        ConventionKind::ChangeErrorShape => {
            ConventionChange::ChangeErrorShape { error: conventions::error(draw) }
        }
        ConventionKind::ChangeErrorCode => {
            let all = [
                (ErrorKind::Invalid, &now.codes.invalid),
                (ErrorKind::NotFound, &now.codes.not_found),
                (ErrorKind::Conflict, &now.codes.conflict),
                (ErrorKind::Refused, &now.codes.refused),
            ];
            let index = draw.number_below(all.len());
            let (error_kind, old) = *all.get(index)?;
            if (error_kind == ErrorKind::Conflict && !conflict)
                || (error_kind == ErrorKind::Refused && !refused)
            {
                return None;
            }
            ConventionChange::ChangeErrorCode { which: error_kind, code: conventions::code(draw, index, old) }
        }
        ConventionKind::ChangeStatus => {
            let all = [
                (StatusKind::Created, now.status.created),
                (StatusKind::Deleted, now.status.deleted),
                (StatusKind::Invalid, now.status.invalid),
                (StatusKind::Conflict, now.status.conflict),
                (StatusKind::Refused, now.status.refused),
            ];
            let index = draw.number_below(all.len());
            let (status_kind, old) = *all.get(index)?;
            if (status_kind == StatusKind::Conflict && !conflict)
                || (status_kind == StatusKind::Refused && !refused)
            {
                return None;
            }
            ConventionChange::ChangeStatus {
                which: status_kind,
                status: conventions::status(draw, index, old),
            }
        }
        ConventionKind::ChangeListShape => {
            ConventionChange::ChangeListShape { list: conventions::list(draw) }
        }
        ConventionKind::ChangePagination => {
            ConventionChange::ChangePagination { pagination: conventions::pagination(draw) }
        }
        ConventionKind::ChangeFieldCase => ConventionChange::ChangeFieldCase {
            case: if now.field_case == Case::Camel { Case::Snake } else { Case::Camel },
        },
        ConventionKind::ChangePrefix => {
            ConventionChange::ChangePrefix { prefix: conventions::prefix(draw, &now.prefix) }
        }
        ConventionKind::ChangeUnknownFields => ConventionChange::ChangeUnknownFields {
            unknown_fields: match now.unknown_fields {
                UnknownFields::Ignore => UnknownFields::Reject,
                UnknownFields::Reject => UnknownFields::Ignore,
            },
        },
    })
}
