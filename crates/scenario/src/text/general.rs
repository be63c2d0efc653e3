//! What holds for all entities: the clauses about the server, errors, bodies, types, lists, deletion, actions.

use super::document::{Part, Pieces};
use super::words::Names;
use crate::ir::{Case, ErrorShape, Kind, PaginationStyle, Schema, UnknownFields};

/// Which parts a schema has at all; a part that it has not has no clause.
struct Parts {
    kinds: [bool; 8],
    unique: bool,
    immutable: bool,
    references: bool,
    soft_delete: bool,
    filters: bool,
    actions: bool,
}

impl Parts {
    fn of(schema: &Schema) -> Self {
        let mut parts = Self {
            kinds: [false; 8],
            unique: false,
            immutable: false,
            references: false,
            soft_delete: false,
            filters: false,
            actions: false,
        };
        for entity in &schema.entities {
            parts.soft_delete |= entity.soft_delete;
            parts.filters |= !entity.filters.is_empty();
            parts.actions |= !entity.actions.is_empty();
            for field in &entity.fields {
                parts.kinds[position(&field.kind)] = true;
                parts.unique |= field.unique;
                parts.immutable |= field.immutable;
                parts.references |= field.target().is_some();
            }
            for param in entity.actions.iter().flat_map(|action| &action.params) {
                parts.kinds[position(&param.kind)] = true;
            }
        }
        parts
    }
}

fn position(kind: &Kind) -> usize {
    match kind {
        Kind::String { .. } => 0,
        Kind::Integer { .. } => 1,
        Kind::Number { .. } => 2,
        Kind::Boolean => 3,
        Kind::DateTime => 4,
        Kind::Enum { .. } => 5,
        Kind::StringList { .. } => 6,
        Kind::Reference { .. } => 7,
    }
}

/// The id and text of the clause of each type, in the order of [`position`].
const TYPES: [(&str, &str); 8] = [
    (
        "types.string",
        "A string is a JSON string, nothing else. Lengths are counted in characters. A regular expression must match \
         the whole text.",
    ),
    (
        "types.integer",
        "An integer is a JSON number without a fraction; a boolean or a string is *invalid*, and so is `2.5`.",
    ),
    (
        "types.number",
        "A number is a JSON number, with or without a fraction; a boolean or a string is *invalid*.",
    ),
    ("types.boolean", "A boolean is `true` or `false`; numbers and strings are *invalid*."),
    (
        "types.date_time",
        "A date-time is a string of the form `YYYY-MM-DDTHH:MM:SSZ` (for example `2024-03-01T12:30:00Z`) that names a \
         real date and time; anything else is *invalid*. It is shown as it was given.",
    ),
    ("types.enum", "An enum is one of the words that are listed, as a string; anything else is *invalid*."),
    ("types.string_list", "A list of strings is a JSON array that has only strings in it."),
    (
        "types.reference",
        "A reference is the `id`, an integer, of a record of the entity that it refers to; anything else, and the id of \
         a record that does not exist, is *invalid*.",
    ),
];

pub(super) fn pieces(schema: &Schema, out: &mut Pieces) {
    let parts = Parts::of(schema);
    server(schema, out);
    errors(schema, out);
    records(schema, &parts, out);
    for (index, (id, text)) in TYPES.iter().enumerate() {
        if parts.kinds[index] {
            out.push(Part::Types, id, text);
        }
    }
    out.push(
        Part::Types,
        "types.free",
        "All bounds are inclusive, and a value outside of them is *invalid*. A rule that is not stated does not exist: a \
         string without bounds takes the empty string as well as `500` characters of any kind, and an integer or number \
         without bounds takes negative and large ones (up to `1000000` in size).",
    );
    if parts.unique {
        out.push(
            Part::Types,
            "unique",
            "Unique: a create, replace or update that gives the field a value which another record of the entity has is \
             a *conflict*. Any number of records may have null there, and a record is never in conflict with itself.",
        );
    }
    lists(schema, &parts, out);
    behaviour(schema, &parts, out);
}

fn server(schema: &Schema, out: &mut Pieces) {
    let conventions = &schema.conventions;
    out.push(
        Part::Server,
        "server.start",
        "The server is started by an executable file `run.sh` in the project's top folder. It serves HTTP on the port \
         that the environment variable `PORT` names, on all interfaces (`0.0.0.0`), and stays in the foreground. Data \
         is kept in memory; every start begins without any. Bodies of requests and answers are JSON \
         (`application/json`).",
    );
    out.push(
        Part::Server,
        "server.reset",
        "`POST /reset` removes all records and starts the ids of every entity from `1` again. It answers `204`. \
         This path never has a prefix.",
    );
    if conventions.prefix.is_empty() {
        out.push(Part::Server, "server.routes", "The paths have no common prefix.");
    } else {
        out.push(Part::Server, "server.routes", "Every path but `/reset` begins with `");
        out.add(&conventions.prefix);
        out.add("`; all paths are written out with it here.");
    }
    out.add(
        " A path or method that is not named here is *not found*. Query parameters that are not named here are ignored.",
    );
    match conventions.field_case {
        Case::Camel => out.push(
            Part::Server,
            "server.names",
            "Fields in JSON bodies, parameters of actions and query parameters are written in `camelCase`.",
        ),
        Case::Snake | Case::Kebab => out.push(
            Part::Server,
            "server.names",
            "Fields in JSON bodies, parameters of actions and query parameters are written in `snake_case`.",
        ),
    }
}

fn errors(schema: &Schema, out: &mut Pieces) {
    let conventions = &schema.conventions;
    let (codes, status) = (&conventions.codes, &conventions.status);
    out.push(
        Part::Errors,
        "errors.body",
        "Every answer with a status of `400` or more has a JSON body like `",
    );
    match &conventions.error {
        ErrorShape::Flat { code, message } => {
            out.add(&format!(
                "{{\"{code}\": \"{}\", \"{message}\": \"There is no such record\"}}`: `{code}` is the code of the kind of \
                 error, `{message}` any text that is not empty.",
                codes.not_found
            ));
        }
        ErrorShape::Nested { key, code, message } => {
            out.add(&format!(
                "{{\"{key}\": {{\"{code}\": \"{}\", \"{message}\": \"There is no such record\"}}}}`: an object under \
                 `{key}`, in which `{code}` is the code of the kind of error and `{message}` any text that is not empty.",
                codes.not_found
            ));
        }
    }
    out.push(
        Part::Errors,
        "errors.status",
        &format!(
            "The kinds of errors: *invalid* (a body or query breaks a rule) answers `{}` with the code `{}`; *not found* \
             (no such record, parent or route) answers `404` with the code `{}`; *conflict* (a unique value is taken, or \
             a reference forbids a deletion) answers `{}` with the code `{}`; *refused* (a condition of an action does \
             not hold, or its effects would break a rule) answers `{}` with the code `{}`.",
            status.invalid,
            codes.invalid,
            codes.not_found,
            status.conflict,
            codes.conflict,
            status.refused,
            codes.refused
        ),
    );
    out.push(
        Part::Errors,
        "errors.order",
        "If a request has more than one fault, the first of these counts: the record or parent in the path does not \
         exist (*not found*); the body or query breaks a rule (*invalid*); a unique value is taken, or a deletion is \
         forbidden (*conflict*); a condition or effect of an action (*refused*). A request that fails changes nothing.",
    );
}

fn records(schema: &Schema, parts: &Parts, out: &mut Pieces) {
    out.push(
        Part::Records,
        "records.id",
        "Every record has `id`: an integer that the server gives, per entity from `1` upwards, and never again until a \
         reset. An `{id}` in a path that is not the id of a record of that entity, or is no integer, is *not found*.",
    );
    out.push(
        Part::Records,
        "records.shown",
        "An answer with a record shows `id` and every field of the entity, computed ones too, with null where there is no \
         value; if the entity has soft delete (it says so then), also `deleted`. It shows nothing else.",
    );
    out.push(
        Part::Bodies,
        "bodies.object",
        "The body of a create, replace, update or action is a JSON object; any other body, or none, is *invalid*.",
    );
    if parts.actions {
        out.add(" An action without parameters does not look at its body at all.");
    }
    out.push(
        Part::Bodies,
        "bodies.ignored",
        "`id`, `deleted` and computed fields are ignored in every body, whatever they hold.",
    );
    out.push(
        Part::Bodies,
        "bodies.unknown",
        if parts.actions {
            "Any other key that the entity does not have, or in an action that is not one of its parameters, "
        } else {
            "Any other key that the entity does not have "
        },
    );
    out.add(match schema.conventions.unknown_fields {
        UnknownFields::Ignore => "is ignored.",
        UnknownFields::Reject => "makes the body *invalid*.",
    });
    out.push(
        Part::Bodies,
        "bodies.absent",
        "In a create, a required field that is not there makes the body *invalid*. Any other field that is not there \
         gets its default, or null if it has none.",
    );
    out.push(
        Part::Bodies,
        "bodies.replace",
        "A replace (`PUT`) gives the whole record anew, by the rules of a create: required fields must be there, and a \
         field that is not there gets its default, or null if it has none. The `id` stays.",
    );
    out.push(
        Part::Bodies,
        "bodies.update",
        "An update (`PATCH`) changes only the fields that are there. `{}` is valid and changes nothing.",
    );
    if parts.immutable {
        out.push(
            Part::Bodies,
            "bodies.immutable",
            "An immutable field is set by the create only. In a replace or update a value that differs from the present \
             one is *invalid*, the same value is fine. A replace without the field keeps its value, even if the field \
             is required.",
        );
    }
    out.push(
        Part::Bodies,
        "bodies.null",
        "Null is *invalid* for a field that is said to be never null, and for every parameter of an action. A required \
         field that may be null has to be there, but may be null.",
    );
}

fn lists(schema: &Schema, parts: &Parts, out: &mut Pieces) {
    let names = Names::new(schema);
    let conventions = &schema.conventions;
    let list = &conventions.list;
    let (created, deleted) = (conventions.status.created, conventions.status.deleted);
    let removal = match deleted {
        204 => "answers `204` without a body",
        _ => "answers `200` with the record that was deleted",
    };
    out.push(
        Part::Operations,
        "operations",
        &format!(
            "Every entity has a path for its collection, and with it these routes (`{{path}}` stands for that path): \
             `POST {{path}}` creates a record and answers `{created}` with it; `GET {{path}}` lists the records (`200`); \
             `GET {{path}}/{{id}}` answers `200` with the record; `PUT {{path}}/{{id}}` replaces it and \
             `PATCH {{path}}/{{id}}` updates it, both answer `200` with the record afterwards; `DELETE {{path}}/{{id}}` \
             deletes it and {removal}."
        ),
    );
    out.push(
        Part::Lists,
        "lists.body",
        &format!(
            "A list answers with `{{\"{}\": […], \"{}\": 12}}`: `{}` has the records of the page, `{}` is the number of \
             all records that match, over all pages.",
            list.items, list.total, list.items, list.total
        ),
    );
    if parts.filters {
        out.push(
            Part::Lists,
            "lists.filters",
            "Filters are query parameters; a record is listed if it matches all that are given. Null never matches. A \
             value that can not be read as the field's type is *invalid*: a word for a number or an id, anything but \
             `true` and `false` for a boolean, a word that the enum does not have, something that is no date-time. The \
             id of a record that does not exist is no error: nothing matches it.",
        );
    }
    out.push(
        Part::Lists,
        "lists.sort",
        "`sort` with the name of a field that the entity can be sorted by orders a list ascending, with `-` before the \
         name descending; anything else is *invalid*. Records with equal values come by `id`, ascending in both \
         directions. Without `sort`, the entity's default order holds. Strings are compared by code point, upper case \
         before lower case.",
    );
    let pages = conventions.pagination;
    let (which, size) = pages.style.params();
    let (which, size) = (names.json(which), names.json(size));
    let first = match pages.style {
        PaginationStyle::Page => "the number of the page, from `1`; `1` if it is not given",
        PaginationStyle::Offset => "how many records are skipped, from `0`; `0` if it is not given",
    };
    out.push(
        Part::Lists,
        "lists.pages",
        &format!(
            "Lists come in pages. The query parameters are {which} ({first}) and {size} (records on a page, from `1` to \
             `{}`; `{}` if it is not given). A value outside of that, or that is no integer, is *invalid*. A page after \
             the last one is empty.",
            pages.max_size, pages.default_size
        ),
    );
}

fn behaviour(schema: &Schema, parts: &Parts, out: &mut Pieces) {
    let names = Names::new(schema);
    if parts.references {
        out.push(
            Part::Deletion,
            "deletion",
            "A deletion looks at all records that refer to the record, and each reference says what happens then: the \
             deletion is a *conflict*, or the referring records are deleted too (and what refers to those is looked at \
             in the same way), or the reference becomes null. If anywhere in the chain a reference forbids it and its \
             record would not be deleted itself, the whole deletion is a *conflict* and nothing changes.",
        );
    }
    if parts.soft_delete {
        let param = names.schema.json_name("include_deleted");
        out.push(
            Part::Deletion,
            "soft_delete",
            &format!(
                "Soft delete (for the entities that say so): a deleted record is kept and marked, `deleted` is `true` \
                 then (also in the answer of the deletion, if it has a body) and `false` before. It is *not found* by \
                 every route with its id, and left out of lists, analytics, computed numbers and sums, and the \
                 conditions of actions that count records. It does not count for uniqueness or for deletions of what \
                 it refers to, and a reference to it is *invalid*. In a list, `{param}=true` takes deleted records in; \
                 any other value leaves them out. A deletion that reaches a record through a reference marks it in the \
                 same way."
            ),
        );
    }
    if parts.actions {
        out.push(
            Part::Actions,
            "actions",
            "An action is a `POST` on one record and answers `200` with the record afterwards. Its parameters stand in \
             the body; all are required. If one of its conditions does not hold it is *refused*. If a field is null, \
             only “is null” and “is not …” hold for it. The effects happen in the order given. If an effect would \
             break a rule of a field (bounds, length, pattern, null), the action is *refused* and nothing changes.",
        );
    }
    if !schema.analytics.is_empty() {
        out.push(
            Part::Analytics,
            "analytics",
            "Analytics answer `200` with `{\"value\": …}`, or if they are grouped with \
             `{\"groups\": [{\"key\": …, \"value\": …}]}`: one entry for every value that occurs, in any order, with that \
             value (word, boolean, text or id) as `key`; records where it is null are left out. Null is left out of \
             sums, averages, least and greatest values. Without any value, a number of records or a sum is `0`, an \
             average, least or greatest value null. An average is not rounded. Where a query parameter is named it is \
             optional and holds an id: no integer is *invalid*, and the id of a record that does not exist matches \
             nothing.",
        );
    }
}
