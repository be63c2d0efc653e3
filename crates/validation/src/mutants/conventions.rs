//! Conventions that are not kept.

use scenario::ir::{Case, Conventions, ErrorCodes, ErrorShape, PaginationStyle, Schema, UnknownFields};

use super::facts::Facts;
use super::{Operator, Sites};

pub(super) fn find<'a>(schema: &'a Schema, sites: &mut Sites<'a>) {
    let conventions = &schema.conventions;
    let facts = Facts::from_schema(schema);
    statuses(conventions, &facts, sites);
    let mut code = |name: &str, is_documented: bool, select: fn(&mut ErrorCodes) -> &mut String| {
        if is_documented {
            sites.edit(Operator::WrongErrorCode, format!("conventions.codes.{name}"), move |schema| {
                let code = select(&mut schema.conventions.codes);
                *code = if code == "error" { "failure".to_owned() } else { "error".to_owned() };
            });
        }
    };
    code("invalid", true, |codes| &mut codes.invalid);
    code("not_found", true, |codes| &mut codes.not_found);
    code("conflict", facts.conflicts, |codes| &mut codes.conflict);
    code("refused", facts.refusals, |codes| &mut codes.refused);
    sites.edit(Operator::WrongErrorShape, "conventions.error", |schema| {
        let error = &mut schema.conventions.error;
        *error = match error.clone() {
            ErrorShape::Flat { code, message } => {
                ErrorShape::Nested { key: "error".to_owned(), code, message }
            }
            ErrorShape::Nested { code, message, .. } => ErrorShape::Flat { code, message },
        };
    });
    sites.edit(Operator::WrongErrorShape, "conventions.error.message", |schema| {
        match &mut schema.conventions.error {
            ErrorShape::Flat { message, .. } | ErrorShape::Nested { message, .. } => {
                message.push_str("_text");
            }
        }
    });
    sites.edit(Operator::WrongListShape, "conventions.list.items", |schema| {
        let items = &mut schema.conventions.list.items;
        *items = if items == "items" { "data".to_owned() } else { "items".to_owned() };
    });
    sites.edit(Operator::WrongListShape, "conventions.list.total", |schema| {
        let total = &mut schema.conventions.list.total;
        *total = if total == "total" { "count".to_owned() } else { "total".to_owned() };
    });
    pages(conventions, sites);
    sites.edit(Operator::WrongFieldCase, "conventions.field_case", |schema| {
        let case = &mut schema.conventions.field_case;
        *case = if *case == Case::Camel { Case::Snake } else { Case::Camel };
    });
    let in_paths = schema.entities.iter().flat_map(|entity| {
        std::iter::once(&entity.plural).chain(entity.actions.iter().map(|action| &action.name))
    });
    if in_paths.chain(schema.analytics.iter().map(|analytic| &analytic.name)).any(|name| name.contains('_')) {
        sites.edit(Operator::WrongPathCase, "conventions.path_case", |schema| {
            let case = &mut schema.conventions.path_case;
            *case = if *case == Case::Snake { Case::Kebab } else { Case::Snake };
        });
    }
    sites.edit(Operator::WrongPrefix, "conventions.prefix", |schema| {
        let prefix = &mut schema.conventions.prefix;
        *prefix = if prefix.is_empty() { "/api".to_owned() } else { String::new() };
    });
    sites.edit(Operator::UnknownFieldsFlipped, "conventions.unknown_fields", |schema| {
        let unknown = &mut schema.conventions.unknown_fields;
        *unknown = match unknown {
            UnknownFields::Ignore => UnknownFields::Reject,
            UnknownFields::Reject => UnknownFields::Ignore,
        };
    });
}

fn statuses(conventions: &Conventions, facts: &Facts, sites: &mut Sites<'_>) {
    let now = conventions.status;
    let mut status = |name: &str, is_documented: bool, now: u16, all: &[u16], set: fn(&mut Schema, u16)| {
        for &other in all.iter().filter(|other| is_documented && **other != now) {
            sites.edit(Operator::WrongStatus, format!("conventions.status.{name}"), move |schema| {
                set(schema, other);
            });
        }
    };
    status("created", true, now.created, &[201, 200], |schema, code| {
        schema.conventions.status.created = code;
    });
    status("deleted", true, now.deleted, &[204, 200], |schema, code| {
        schema.conventions.status.deleted = code;
    });
    status("invalid", true, now.invalid, &[400, 422], |schema, code| {
        schema.conventions.status.invalid = code;
    });
    status("conflict", facts.conflicts, now.conflict, &[409, 400], |schema, code| {
        schema.conventions.status.conflict = code;
    });
    status("refused", facts.refusals, now.refused, &[409, 403, 422], |schema, code| {
        schema.conventions.status.refused = code;
    });
}

fn pages(conventions: &Conventions, sites: &mut Sites<'_>) {
    let now = conventions.pagination;
    for default in [now.default_size - 1, now.default_size + 1] {
        // A page is never larger than the greatest that can be asked for.
        sites.edit(Operator::WrongPageSize, "conventions.pagination.default_size", move |schema| {
            schema.conventions.pagination.default_size = default;
        });
    }
    for max in [now.max_size - 1, now.max_size + 1] {
        sites.edit(Operator::WrongPageSize, "conventions.pagination.max_size", move |schema| {
            schema.conventions.pagination.max_size = max;
        });
    }
    sites.edit(Operator::WrongPagination, "conventions.pagination.style", |schema| {
        let style = &mut schema.conventions.pagination.style;
        *style = match style {
            PaginationStyle::Page => PaginationStyle::Offset,
            PaginationStyle::Offset => PaginationStyle::Page,
        };
    });
}
