//! What holds for all entities: the clauses about the server, errors, bodies, types, lists, deletion, actions.

use super::english::Names;
use super::pieces::{Part, Pieces};
use crate::ir::{Case, ErrorShape, Kind, PaginationStyle, Schema, UnknownFields};

/// Which parts a schema has at all; a part that it has not has no clause.
#[derive(Default)]
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
    fn from_schema(schema: &Schema) -> Self {
        let mut parts = Self::default();
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
        "A string is a JSON string; any other JSON value is *invalid*. Lengths are counted in characters. A regular \
         expression must match the whole string.",
    ),
    (
        "types.integer",
        "An integer is a JSON number without a fraction; `2.5`, a boolean or a string is *invalid*.",
    ),
    (
        "types.number",
        "A number is a JSON number, with or without a fraction; a boolean or a string is *invalid*.",
    ),
    ("types.boolean", "A boolean is `true` or `false`; a number or a string is *invalid*."),
    (
        "types.date_time",
        "A date-time is a string of the form `YYYY-MM-DDTHH:MM:SSZ` (for example `2024-03-01T12:30:00Z`) that stands for \
         an existing date and time; anything else is *invalid*. Responses show it exactly as it was given.",
    ),
    ("types.enum", "An enum is a string that is one of the listed values; anything else is *invalid*."),
    (
        "types.string_list",
        "A list of strings is a JSON array that contains only strings; anything else is *invalid*.",
    ),
    (
        "types.reference",
        "A reference is the `id` (an integer) of an existing record of the entity that it refers to; anything else is \
         *invalid*, and so is the id of a record that does not exist.",
    ),
];

pub(super) fn pieces(schema: &Schema, out: &mut Pieces) {
    let parts = Parts::from_schema(schema);
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
        "All bounds are inclusive, and a value outside its bounds is *invalid*. There are no rules other than the stated \
         ones: a string of any length can be empty or have `500` characters of any kind, and an integer or number without \
         bounds can be negative or large (at least up to `1000000` in absolute value).",
    );
    if parts.unique {
        out.push(
            Part::Types,
            "unique",
            "Unique: a create, replace or update that sets the field to a value that another record of the same entity \
             already has is a *conflict*. Null does not count: any number of records may have null in the field. A record \
             never conflicts with itself.",
        );
    }
    lists(schema, &parts, out);
    behavior(schema, &parts, out);
}

fn server(schema: &Schema, out: &mut Pieces) {
    let conventions = &schema.conventions;
    out.push(
        Part::Server,
        "server.start",
        "The executable file `run.sh` in the project's top folder starts the server. The server accepts HTTP requests on \
         all interfaces (`0.0.0.0`), on the port given by the environment variable `PORT`, and stays in the foreground. \
         It keeps its data in memory and starts without any records. Request and response bodies are JSON \
         (`application/json`).",
    );
    out.push(
        Part::Server,
        "server.reset",
        "`POST /reset` removes all records and makes the ids of every entity start from `1` again. It responds with \
         `204` and no body. This path never has a prefix.",
    );
    if conventions.prefix.is_empty() {
        out.push(Part::Server, "server.routes", "The paths have no prefix.");
    } else {
        out.push(Part::Server, "server.routes", "Every path except `/reset` begins with the prefix `");
        out.add(&conventions.prefix);
        out.add("`; all paths that are written here include it.");
    }
    out.add(
        " Any path, or method of a path, that is not specified is *not found*. Query parameters that are not specified are \
         ignored.",
    );
    match conventions.field_case {
        Case::Camel => out.push(
            Part::Server,
            "server.names",
            "Fields of records, action parameters and query parameters are written in `camelCase`. Keys of other JSON bodies \
             (lists, errors, analytics), enum values and paths keep the form in which they are written here.",
        ),
        Case::Snake | Case::Kebab => out.push(
            Part::Server,
            "server.names",
            "Fields of records, action parameters and query parameters are written in `snake_case`. Keys of other JSON bodies \
             (lists, errors, analytics), enum values and paths keep the form in which they are written here.",
        ),
    }
}

fn errors(schema: &Schema, out: &mut Pieces) {
    let conventions = &schema.conventions;
    let (codes, status) = (&conventions.codes, &conventions.status);
    out.push(
        Part::Errors,
        "errors.body",
        "Every response with a status code of `400` or more has a JSON body like `",
    );
    match &conventions.error {
        ErrorShape::Flat { code, message } => {
            out.add(&format!(
                "{{\"{code}\": \"{}\", \"{message}\": \"There is no such record\"}}`: `{code}` holds the error code, and \
                 `{message}` holds any text that is not empty.",
                codes.not_found
            ));
        }
        ErrorShape::Nested { key, code, message } => {
            out.add(&format!(
                "{{\"{key}\": {{\"{code}\": \"{}\", \"{message}\": \"There is no such record\"}}}}`: `{key}` holds an \
                 object in which `{code}` holds the error code, and `{message}` holds any text that is not empty.",
                codes.not_found
            ));
        }
    }
    out.push(
        Part::Errors,
        "errors.status",
        &format!(
            "There are four kinds of errors. *Invalid*: a request body or query parameter breaks a rule; status code `{}`, \
             error code `{}`. *Not found*: the record, parent record or route does not exist; status code `404`, error code \
             `{}`. *Conflict*: a unique value is already taken, or a reference forbids a deletion; status code `{}`, error \
             code `{}`. *Refused*: a condition of an action does not hold, or an effect would break a rule; status code \
             `{}`, error code `{}`.",
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
        "If a request has several faults, the first kind in this order decides the response: *not found* (the record or \
         parent record in the path does not exist), *invalid*, *conflict*, *refused*. A request that fails changes \
         nothing.",
    );
}

fn records(schema: &Schema, parts: &Parts, out: &mut Pieces) {
    out.push(
        Part::Records,
        "records.id",
        "Every record has an `id`: an integer that the server assigns, counting up from `1` for each entity. An id is \
         never used again until a reset. If `{id}` in a path is not an integer, or is not the id of a record of that \
         entity, the response is *not found*.",
    );
    out.push(
        Part::Records,
        "records.shown",
        "A response with a record shows `id` and all fields of the entity, including computed ones; a field without a \
         value is null. If the entity has soft delete (this is stated with the entity), it also shows `deleted`. It shows \
         nothing else.",
    );
    out.push(
        Part::Bodies,
        "bodies.object",
        "The body of a create, replace, update or action must be a JSON object; any other body, or none, is *invalid*.",
    );
    if parts.actions {
        out.add(" An action without parameters ignores its body, whatever it is.");
    }
    out.push(
        Part::Bodies,
        "bodies.ignored",
        "In request bodies, `id`, `deleted` and computed fields are always ignored, whatever their value.",
    );
    out.push(
        Part::Bodies,
        "bodies.unknown",
        if parts.actions {
            "Apart from `id`, `deleted` and computed fields, an unknown key in a request body (in an action, one that is not \
             among its parameters; elsewhere, one that is not a field of the entity) "
        } else {
            "Apart from `id`, `deleted` and computed fields, an unknown key in a request body (one that is not a field of the \
             entity) "
        },
    );
    out.add(match schema.conventions.unknown_fields {
        UnknownFields::Ignore => "is ignored.",
        UnknownFields::Reject => "makes the request *invalid*.",
    });
    out.push(
        Part::Bodies,
        "bodies.absent",
        "A create (`POST`) without a required field is *invalid*. An optional field that is omitted gets its default.",
    );
    out.push(
        Part::Bodies,
        "bodies.replace",
        "A replace (`PUT`) sets the whole record anew, by the rules of a create: required fields must be given, and an \
         optional field that is omitted gets its default. The `id` stays the same.",
    );
    out.push(
        Part::Bodies,
        "bodies.update",
        "An update (`PATCH`) changes only the fields that are given. The body `{}` is valid and changes nothing.",
    );
    if parts.immutable {
        out.push(
            Part::Bodies,
            "bodies.immutable",
            "Immutable: only a create sets the field. In a replace or update, a value that differs from the present one is \
             *invalid*; the present value is accepted. A replace that omits the field keeps its value, even if the field \
             is required.",
        );
    }
    out.push(
        Part::Bodies,
        "bodies.null",
        "Null is *invalid* for every field that does not allow it, and for every parameter of an action. A required field \
         that allows null must be given, but its value may be null.",
    );
}

fn lists(schema: &Schema, parts: &Parts, out: &mut Pieces) {
    let names = Names::new(schema);
    let conventions = &schema.conventions;
    let list = &conventions.list;
    let (created, deleted) = (conventions.status.created, conventions.status.deleted);
    let removal = match deleted {
        204 => "responds with `204` and no body",
        _ => "responds with `200` and the record that was deleted",
    };
    out.push(
        Part::Operations,
        "operations",
        &format!(
            "Every entity has these routes, where `{{path}}` stands for the path of its collection. Create: `POST {{path}}` \
             responds with `{created}` and the new record. List: `GET {{path}}` responds with `200` and a list. Read: \
             `GET {{path}}/{{id}}` responds with `200` and the record. Replace: `PUT {{path}}/{{id}}`, and update: \
             `PATCH {{path}}/{{id}}`, respond with `200` and the record as it is afterwards. Delete: \
             `DELETE {{path}}/{{id}}` {removal}."
        ),
    );
    out.push(
        Part::Lists,
        "lists.body",
        &format!(
            "The body of a list is `{{\"{}\": […], \"{}\": 12}}`: `{}` holds the records of the page, and `{}` is the number \
             of all matching records, over all pages.",
            list.items, list.total, list.items, list.total
        ),
    );
    if parts.filters {
        out.push(
            Part::Lists,
            "lists.filters",
            "Filters are query parameters of lists. A record is listed if it matches all filters that are given; null never \
             matches. A value that is not of the field's type is *invalid*: text for a number or a reference, anything but \
             `true` and `false` for a boolean, a value that the enum does not have, or text that is not a date-time. For a \
             reference, the id of a record that does not exist is no error: nothing matches it. Bounds, lengths and regular \
             expressions of a field do not apply to the values of its filters.",
        );
    }
    out.push(
        Part::Lists,
        "lists.sort",
        "The query parameter `sort` orders a list by a field: its name for ascending order, its name with `-` in front for \
         descending order. Only the fields that the entity can be sorted by are accepted; anything else is *invalid*. \
         Records with equal values are ordered by `id`, always ascending. Without `sort`, the default order of the entity \
         applies. Strings are compared by code point, so upper case comes before lower case.",
    );
    let pages = conventions.pagination;
    let (page, size) = pages.style.params();
    let (page, size) = (names.json(page), names.json(size));
    let (first, beyond) = match pages.style {
        PaginationStyle::Page => {
            ("the number of the page, at least `1`; default `1`", "A page after the last one has no records.")
        }
        PaginationStyle::Offset => (
            "the number of records to skip, at least `0`; default `0`",
            "If all matching records are skipped, the page has no records.",
        ),
    };
    out.push(
        Part::Lists,
        "lists.pages",
        &format!(
            "Lists are paginated with the query parameters {page} ({first}) and {size} (the number of records per page, from \
             `1` to `{}`; default `{}`). A value outside these bounds, or one that is not an integer, is *invalid*. \
             {beyond}",
            pages.max_size, pages.default_size
        ),
    );
}

fn behavior(schema: &Schema, parts: &Parts, out: &mut Pieces) {
    let names = Names::new(schema);
    if parts.references {
        out.push(
            Part::Deletion,
            "deletion",
            "When a record is deleted, each reference field that refers to it states what happens: the deletion is a \
             *conflict*, or the referring records are deleted too (and the records that refer to those are treated in the \
             same way), or the reference becomes null. If anywhere in this chain a record that would not be \
             deleted itself has a reference that makes the deletion a *conflict*, the whole deletion is a *conflict* and \
             nothing changes.",
        );
    }
    if parts.soft_delete {
        let param = names.schema.json_name("include_deleted");
        out.push(
            Part::Deletion,
            "soft_delete",
            &format!(
                "Soft delete (only for entities that state it): a deleted record is kept and marked. `deleted` is `false` \
                 before and `true` after the deletion, also in the response of the deletion if that has a body. Every \
                 route with the id of a deleted record is *not found*. Deleted records are left out of lists, analytics, \
                 computed counts and sums, and conditions of actions that count records. They do not count for unique \
                 fields, and a reference to a deleted record is *invalid*. When a record that a deleted one refers to is \
                 deleted, too, the deleted one neither forbids that nor changes. \
                 In a list, `{param}=true` includes deleted records; any other value leaves them out. A record that is \
                 deleted along with another one is marked if its own entity has soft delete, and removed otherwise."
            ),
        );
    }
    if parts.actions {
        out.push(
            Part::Actions,
            "actions",
            "An action is a `POST` on one record. It responds with `200` and the record as it is afterwards. Its parameters \
             are keys of the request body, and all of them are required. A value that breaks the rules that are stated with \
             a parameter is *invalid*; these rules are the parameter's own and do not change with those of a field. \
             Conditions and effects are about this one record, unless they name others. If a condition does not hold, the \
             action is *refused*. For a field that is null, “is null” holds, and so does “is not” with a value; no other \
             condition does. The effects happen in the stated order. If an effect would break a rule of a field (bounds, \
             length, regular expression, null), the action is *refused* and nothing changes.",
        );
    }
    if !schema.analytics.is_empty() {
        out.push(
            Part::Analytics,
            "analytics",
            "Analytics respond with `200`. The body of a single value is `{\"value\": …}`. The body of a grouped analytic is \
             `{\"groups\": [{\"key\": …, \"value\": …}]}`, with one entry for every value that the field has in the records \
             that are included, in any order; `key` is that value as it is in the field (enum value, boolean, string or id), and records where the \
             field is null are left out. Null values are skipped in sums, averages, smallest and largest values. If there \
             is nothing to compute from, a number of records or a sum is `0`, and an average, smallest or largest value is \
             null. Averages are not rounded. A query parameter that an analytic states is optional and takes an id: a value \
             that is not an integer is *invalid*, and the id of a record that does not exist matches nothing.",
        );
    }
}
