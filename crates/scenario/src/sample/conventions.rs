//! What may hold for all routes.

use crate::draw::Draw;
use crate::ir::{
    Case, Conventions, ErrorCodes, ErrorShape, ListShape, Pagination, PaginationStyle, Statuses,
    UnknownFields,
};

const PREFIXES: [&str; 8] = ["", "/api", "/api/v1", "/v1", "/rest", "/service", "/api/v2", "/v2"];
const INVALID_CODES: [&str; 5] =
    ["validation_error", "invalid", "invalid_input", "bad_request", "unprocessable"];
const NOT_FOUND: [&str; 4] = ["not_found", "missing", "unknown_resource", "no_such_record"];
const CONFLICT: [&str; 4] = ["conflict", "already_exists", "in_conflict", "clash"];
const REFUSED_CODES: [&str; 5] =
    ["not_allowed", "refused", "rule_violated", "action_refused", "precondition_failed"];
const SIZES: [u32; 5] = [5, 8, 10, 12, 15];
const MAX_SIZES: [u32; 4] = [50, 100, 150, 200];

fn pick_one<T: Clone + PartialEq>(draw: &mut Draw, all: &[T], current: Option<&T>) -> Option<T> {
    let others: Vec<&T> = all.iter().filter(|choice| Some(*choice) != current).collect();
    draw.pick(&others).map(|choice| (*choice).clone())
}

fn word(draw: &mut Draw, all: &[&str], current: Option<&str>) -> String {
    pick_one(draw, all, current.as_ref()).unwrap_or_default().to_owned()
}

/// The conventions of a first schema.
pub(super) fn first(draw: &mut Draw) -> Conventions {
    let pick = |draw: &mut Draw, all: [u16; 2]| all[usize::from(draw.chance(40))];
    Conventions {
        prefix: word(draw, &PREFIXES[..6], None),
        path_case: if draw.chance(70) { Case::Kebab } else { Case::Snake },
        field_case: if draw.chance(65) { Case::Snake } else { Case::Camel },
        error: error(draw),
        codes: ErrorCodes {
            invalid: word(draw, &INVALID_CODES, None),
            not_found: word(draw, &NOT_FOUND, None),
            conflict: word(draw, &CONFLICT, None),
            refused: word(draw, &REFUSED_CODES, None),
        },
        status: Statuses {
            created: if draw.chance(85) { 201 } else { 200 },
            deleted: pick(draw, [204, 200]),
            invalid: pick(draw, [422, 400]),
            conflict: if draw.chance(85) { 409 } else { 400 },
            refused: [409, 403, 422][draw.number_below(3)],
        },
        list: list(draw),
        pagination: pagination(draw),
        unknown_fields: if draw.chance(50) { UnknownFields::Ignore } else { UnknownFields::Reject },
    }
}

pub(super) fn error(draw: &mut Draw) -> ErrorShape {
    let code = word(draw, &["code", "type", "kind", "reason"], None);
    let message = word(draw, &["message", "detail", "text", "description"], None);
    if draw.chance(50) {
        ErrorShape::Flat { code, message }
    } else {
        ErrorShape::Nested { key: word(draw, &["error", "problem", "failure"], None), code, message }
    }
}

pub(super) fn list(draw: &mut Draw) -> ListShape {
    ListShape {
        items: word(draw, &["items", "data", "results", "records"], None),
        total: word(draw, &["total", "count", "total_count"], None),
    }
}

pub(super) fn pagination(draw: &mut Draw) -> Pagination {
    Pagination {
        style: if draw.chance(50) { PaginationStyle::Page } else { PaginationStyle::Offset },
        default_size: pick_one(draw, &SIZES, None).unwrap_or(10),
        max_size: pick_one(draw, &MAX_SIZES, None).unwrap_or(100),
    }
}

pub(super) fn prefix(draw: &mut Draw, current: &str) -> String {
    word(draw, &PREFIXES, Some(current))
}

/// Another code of a kind: invalid, not found, conflict, refused.
pub(super) fn code(draw: &mut Draw, index: usize, current: &str) -> String {
    let all: [&[&str]; 4] = [&INVALID_CODES, &NOT_FOUND, &CONFLICT, &REFUSED_CODES];
    word(draw, all.get(index).copied().unwrap_or(&INVALID_CODES), Some(current))
}

/// Another status of a kind: created, deleted, invalid, conflict, refused.
pub(super) fn status(draw: &mut Draw, index: usize, current: u16) -> u16 {
    let all: [&[u16]; 5] = [&[201, 200], &[204, 200], &[400, 422], &[409, 400], &[409, 403, 422]];
    pick_one(draw, all.get(index).copied().unwrap_or(&[200, 201]), Some(&current)).unwrap_or(current)
}
