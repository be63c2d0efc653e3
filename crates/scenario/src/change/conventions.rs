//! Changes of conventions.

use super::{Change, ErrorKind, StatusKind};
use crate::ir::{Removed, Schema};

/// Takes over what a change says; whether it may is for the check.
pub(super) fn change(schema: &mut Schema, change: &Change) {
    let conventions = &mut schema.conventions;
    match change {
        Change::ChangeErrorShape { error } => conventions.error = error.clone(),
        Change::ChangeErrorCode { which, code } => {
            let codes = &mut conventions.codes;
            let old = match which {
                ErrorKind::Invalid => &mut codes.invalid,
                ErrorKind::NotFound => &mut codes.not_found,
                ErrorKind::Conflict => &mut codes.conflict,
                ErrorKind::Refused => &mut codes.refused,
            };
            old.clone_from(code);
        }
        Change::ChangeStatus { which, status } => {
            let all = &mut conventions.status;
            let old = match which {
                StatusKind::Created => &mut all.created,
                StatusKind::Deleted => &mut all.deleted,
                StatusKind::Invalid => &mut all.invalid,
                StatusKind::Conflict => &mut all.conflict,
                StatusKind::Refused => &mut all.refused,
            };
            *old = *status;
        }
        Change::ChangeListShape { list } => conventions.list = list.clone(),
        Change::ChangePagination { pagination } => conventions.pagination = *pagination,
        Change::ChangeFieldCase { case } => conventions.field_case = *case,
        Change::ChangePrefix { prefix } if *prefix != conventions.prefix => {
            let old = std::mem::replace(&mut conventions.prefix, prefix.clone());
            // A second change in a turn leaves a prefix that no one has seen.
            if !schema.removed.iter().any(|removed| matches!(removed, Removed::Prefix { .. })) {
                schema.removed.push(Removed::Prefix { prefix: old });
            }
        }
        Change::ChangeUnknownFields { unknown_fields } => conventions.unknown_fields = *unknown_fields,
        _ => {}
    }
}
