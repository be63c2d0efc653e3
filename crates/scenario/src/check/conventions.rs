//! Rules of conventions: the values that a schema may choose.

use super::Faults;
use crate::ir::{Case, Conventions, ErrorShape};

pub(super) fn check(conventions: &Conventions, faults: &mut Faults) {
    let prefix = &conventions.prefix;
    let good_prefix = prefix.is_empty()
        || (prefix.len() <= 40
            && prefix.strip_prefix('/').is_some_and(|rest| {
                rest.split('/').all(|part| {
                    !part.is_empty()
                        && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
                })
            }));
    if !good_prefix {
        faults.add("conventions.prefix", "a prefix is empty or made of `/` and lower-case words");
    }
    if conventions.path_case == Case::Camel {
        faults.add("conventions.path_case", "paths are written in kebab or snake case");
    }
    if conventions.field_case == Case::Kebab {
        faults.add("conventions.field_case", "fields are written in snake or camel case");
    }
    let good_shape = match &conventions.error {
        ErrorShape::Flat { code, message } => is_key(code) && is_key(message) && code != message,
        ErrorShape::Nested { key, code, message } => {
            is_key(key) && is_key(code) && is_key(message) && code != message
        }
    };
    if !good_shape {
        faults.add("conventions.error", "the keys of an error body are words, and different");
    }
    let codes = &conventions.codes;
    let all = [&codes.invalid, &codes.not_found, &codes.conflict, &codes.refused];
    if !all.iter().all(|code| is_code(code)) {
        faults.add("conventions.codes", "a code is a word");
    }
    if super::first_duplicate(all.iter().map(|code| code.as_str())).is_some() {
        faults.add("conventions.codes", "the codes of errors are different");
    }
    let status = conventions.status;
    for (location, status, allowed) in [
        ("conventions.status.created", status.created, &[201, 200][..]),
        ("conventions.status.deleted", status.deleted, &[204, 200]),
        ("conventions.status.invalid", status.invalid, &[400, 422]),
        ("conventions.status.conflict", status.conflict, &[409, 400]),
        ("conventions.status.refused", status.refused, &[409, 403, 422]),
    ] {
        if !allowed.contains(&status) {
            faults.add(location, format!("the status is one of {allowed:?}, not {status}"));
        }
    }
    if !["items", "data", "results", "records"].contains(&conventions.list.items.as_str()) {
        faults.add("conventions.list.items", "the key is `items`, `data`, `results` or `records`");
    }
    if !["total", "count", "total_count"].contains(&conventions.list.total.as_str()) {
        faults.add("conventions.list.total", "the key is `total`, `count` or `total_count`");
    }
    let pages = conventions.pagination;
    if !(5..=100).contains(&pages.default_size) {
        faults.add("conventions.pagination", "the default size is 5 to 100");
    }
    if !(pages.default_size..=200).contains(&pages.max_size) {
        faults.add("conventions.pagination", "the greatest size is the default size to 200");
    }
}

/// A key of JSON that pointers and captures can name without escapes.
fn is_key(key: &str) -> bool {
    key.len() <= 40
        && key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn is_code(code: &str) -> bool {
    (1..=60).contains(&code.len())
        && code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
