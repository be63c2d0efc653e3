//! Changes of conventions.

use serde::{Deserialize, Serialize};
use strum::{EnumDiscriminants, IntoStaticStr, VariantNames};

use crate::ir::{Case, ErrorShape, ListShape, Pagination, Removed, Schema, UnknownFields};

/// A change of what holds for all routes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, EnumDiscriminants)]
#[serde(tag = "change", rename_all = "snake_case")]
#[strum_discriminants(name(ConventionKind), derive(PartialOrd, Ord, IntoStaticStr, VariantNames))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "A kind of [`ConventionChange`].")]
#[expect(missing_docs, reason = "fields are what is changed and its new value")]
pub enum ConventionChange {
    /// Another error body.
    ChangeErrorShape { error: ErrorShape },
    /// Another code in error bodies.
    ChangeErrorCode { which: ErrorKind, code: String },
    /// Another status.
    ChangeStatus { which: StatusKind, status: u16 },
    /// Other keys of lists.
    ChangeListShape { list: ListShape },
    /// Another way to ask for pages, or other sizes.
    ChangePagination { pagination: Pagination },
    /// Another way to write names in JSON and queries.
    ChangeFieldCase { case: Case },
    /// Another prefix of all paths.
    ChangePrefix { prefix: String },
    /// Other treatment of unknown fields.
    ChangeUnknownFields { unknown_fields: UnknownFields },
}

/// Which error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields of ErrorCodes")]
pub enum ErrorKind {
    Invalid,
    NotFound,
    Conflict,
    Refused,
}

/// Which status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields of Statuses")]
pub enum StatusKind {
    Created,
    Deleted,
    Invalid,
    Conflict,
    Refused,
}

impl ConventionChange {
    /// Takes over what a change says; whether it may is for the check.
    pub(super) fn perform(&self, schema: &mut Schema) {
        let conventions = &mut schema.conventions;
        match self {
            Self::ChangeErrorShape { error } => conventions.error = error.clone(),
            Self::ChangeErrorCode { which: kind, code } => {
                let codes = &mut conventions.codes;
                let old = match kind {
                    ErrorKind::Invalid => &mut codes.invalid,
                    ErrorKind::NotFound => &mut codes.not_found,
                    ErrorKind::Conflict => &mut codes.conflict,
                    ErrorKind::Refused => &mut codes.refused,
                };
                old.clone_from(code);
            }
            Self::ChangeStatus { which: kind, status } => {
                let all = &mut conventions.status;
                let old = match kind {
                    StatusKind::Created => &mut all.created,
                    StatusKind::Deleted => &mut all.deleted,
                    StatusKind::Invalid => &mut all.invalid,
                    StatusKind::Conflict => &mut all.conflict,
                    StatusKind::Refused => &mut all.refused,
                };
                *old = *status;
            }
            Self::ChangeListShape { list } => conventions.list = list.clone(),
            Self::ChangePagination { pagination } => conventions.pagination = *pagination,
            Self::ChangeFieldCase { case } => conventions.field_case = *case,
            Self::ChangePrefix { prefix } if *prefix == conventions.prefix => {}
            Self::ChangePrefix { prefix } => {
                let old = std::mem::replace(&mut conventions.prefix, prefix.clone());
                // A second change in a turn leaves a prefix that no one has seen.
                if !schema.removed.iter().any(|removed| matches!(removed, Removed::Prefix { .. })) {
                    schema.removed.push(Removed::Prefix { prefix: old });
                }
            }
            Self::ChangeUnknownFields { unknown_fields } => conventions.unknown_fields = *unknown_fields,
        }
    }
}
