//! The head of the file: imports, errors, storage and the shared functions that the rest calls.

use super::storage::{DELETION, TABLE, TABLE_WITH_SOFT_DELETE};
use super::{App, SharedFunctions};
use crate::code::python::{line, prose, push_quoted, quoted};
use crate::ir::{ErrorShape, PaginationStyle};

/// Writes the head, with room for the rest.
pub(super) fn write(app: &App, used: &SharedFunctions, rest: usize) -> String {
    let mut out = String::with_capacity(rest + 16 * 1024);
    imports(&mut out, app, used);
    errors(&mut out, app, used);
    storage(&mut out, app);
    if app.units.iter().any(|unit| !unit.incoming.is_empty()) {
        out.push_str(DELETION);
    }
    bodies(&mut out, used);
    queries(&mut out, app, used);
    numbers(&mut out, used);
    tables(&mut out, app);
    out
}

fn imports(out: &mut String, app: &App, used: &SharedFunctions) {
    let title = prose(&app.schema.title);
    line!(out, "\"\"\"{title}: a REST API over records in memory.");
    out.push_str("\nThe server listens on the port in the environment variable PORT.\n\"\"\"\n\nimport os\nimport re\n");
    if used.is_date_time {
        out.push_str("from datetime import datetime\n");
    }
    out.push_str("\nfrom flask import Flask, request\n\n");
    out.push_str("app = Flask(__name__, static_folder=None)\napp.json.sort_keys = False\n");
    out.push_str("# A path or method that is not named below is not found: nothing is redirected or answered for us.\n");
    out.push_str("app.url_map.merge_slashes = False\napp.config[\"PROVIDE_AUTOMATIC_OPTIONS\"] = False\n\n");
    let pages = app.schema.conventions.pagination;
    line!(out, "DEFAULT_PAGE_SIZE = {}\nMAX_PAGE_SIZE = {}\n", pages.default_size, pages.max_size);
    out.push_str("INTEGER = re.compile(r\"-?[0-9]+\")\n");
    if used.query_number {
        out.push_str("NUMBER = re.compile(r\"-?[0-9]+(\\.[0-9]+)?\")\n");
    }
    if used.is_date_time {
        out.push_str(
            "DATE_TIME = re.compile(r\"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z\")\n",
        );
    }
}

fn errors(out: &mut String, app: &App, used: &SharedFunctions) {
    out.push_str(
        r#"

class ApiError(Exception):
    """An answer other than success, with its status, code and message."""

    def __init__(self, status, code, message):
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
"#,
    );
    let (codes, status) = (&app.schema.conventions.codes, app.schema.conventions.status);
    let mut kind = |function: &str, text: &str, status: u16, code: &str| {
        line!(out, "\n\ndef {function}(message):\n    \"\"\"{text}\"\"\"");
        line!(out, "    return ApiError({status}, {}, message)", quoted(code));
    };
    kind("invalid", "A body or query breaks a rule.", status.invalid, &codes.invalid);
    kind("not_found", "There is no such record or route.", 404, &codes.not_found);
    if used.conflict || used.is_taken || app.units.iter().any(|unit| !unit.incoming.is_empty()) {
        let text = "A unique value is taken, or a deletion is restricted.";
        kind("conflict", text, status.conflict, &codes.conflict);
    }
    if used.refused || used.refused_if_invalid {
        let text = "An action cannot be carried out as things are.";
        kind("refused", text, status.refused, &codes.refused);
    }
    out.push_str(
        "\n\n@app.errorhandler(ApiError)\ndef answer_error(error):\n    \"\"\"The body that every error has.\"\"\"\n    body = ",
    );
    let (key, code, message) = match &app.schema.conventions.error {
        ErrorShape::Flat { code, message } => (None, code, message),
        ErrorShape::Nested { key, code, message } => (Some(key), code, message),
    };
    if let Some(key) = key {
        out.push('{');
        push_quoted(out, key);
        out.push_str(": ");
    }
    line!(
        out,
        "{{{}: error.code, {}: error.message}}{}",
        quoted(code),
        quoted(message),
        if key.is_some() { "}" } else { "" }
    );
    out.push_str(
        r#"    return body, error.status


@app.errorhandler(404)
@app.errorhandler(405)
def answer_unknown_route(_error):
    """A path or method that the API does not have."""
    return answer_error(not_found(f"there is no {request.method} {request.path}"))
"#,
    );
    if used.refused_if_invalid {
        out.push_str(
            r#"

def refused_if_invalid(check, values):
    """What a check returns; effects that would break the rule of a field are refused, not invalid."""
    try:
        return check(values)
    except ApiError as error:
        raise refused(error.message) from error
"#,
        );
    }
}

fn storage(out: &mut String, app: &App) {
    out.push_str(if app.soft_delete() { TABLE_WITH_SOFT_DELETE } else { TABLE });
}

fn bodies(out: &mut String, used: &SharedFunctions) {
    out.push_str(
        r#"

def json_object():
    """The body of the request, which must be a JSON object."""
    body = request.get_json(force=True, silent=True)
    if not isinstance(body, dict):
        raise invalid("the body must be a JSON object")
    return body
"#,
    );
    if used.reject_unknown {
        out.push_str(
            r#"

def reject_unknown(body, known, read_only):
    """Makes a body with names that do not exist invalid; read-only ones are ignored."""
    for name in body:
        if name not in known and name not in read_only:
            raise invalid(f"there is no field {name!r}")
"#,
        );
    }
    if used.require {
        out.push_str(
            r#"

def require(body, *names):
    """Makes a body without one of these names invalid."""
    for name in names:
        if name not in body:
            raise invalid(f"{name} is required")
"#,
        );
    }
    if used.is_integer {
        out.push_str(
            r#"

def is_integer(value):
    """Whether a JSON value is an integer; in Python booleans are integers, in JSON they are not."""
    return isinstance(value, int) and not isinstance(value, bool)
"#,
        );
    }
    if used.is_number {
        out.push_str(
            r#"

def is_number(value):
    """Whether a JSON value is a number; booleans are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
"#,
        );
    }
    if used.is_date_time {
        out.push_str(
            r#"

def is_date_time(value):
    """Whether a JSON value is a time in UTC such as 2024-03-01T12:30:00Z, of a day and an hour that exist."""
    match = DATE_TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return False
    try:
        datetime(*(int(number) for number in match.groups()))
    except ValueError:
        return False
    return True
"#,
        );
    }
    if used.is_changed {
        out.push_str(
            r#"

def is_changed(record, body, name):
    """Whether a body gives a field another value than the record has."""
    return name in body and body[name] != record[name]
"#,
        );
    }
    if used.is_taken {
        out.push_str(
            r#"

def is_taken(table, name, value, own):
    """Whether a record other than this one has the value; nulls do not count."""
    if value is None:
        return False
    return any(record[name] == value for record in table.live() if record is not own)
"#,
        );
    }
}

fn queries(out: &mut String, app: &App, used: &SharedFunctions) {
    out.push_str(
        r#"

def query_integer(name):
    """A query parameter that must be an integer."""
    text = request.args[name]
    if not INTEGER.fullmatch(text):
        raise invalid(f"{name} must be an integer")
    return int(text)
"#,
    );
    if used.query_number {
        out.push_str(
            r#"

def query_number(name):
    """A query parameter that must be a number."""
    text = request.args[name]
    if not NUMBER.fullmatch(text):
        raise invalid(f"{name} must be a number")
    return float(text)
"#,
        );
    }
    if used.query_boolean {
        out.push_str(
            r#"

def query_boolean(name):
    """A query parameter that must be true or false."""
    text = request.args[name]
    if text not in ("true", "false"):
        raise invalid(f"{name} must be true or false")
    return text == "true"
"#,
        );
    }
    if used.query_date_time {
        out.push_str(
            r#"

def query_date_time(name):
    """A query parameter that must be a date-time; as text, they are in the order of time."""
    text = request.args[name]
    if not is_date_time(text):
        raise invalid(f"{name} must be a date-time")
    return text
"#,
        );
    }
    if app.units.is_empty() {
        return;
    }
    if app.soft_delete() {
        line!(
            out,
            r#"

def listed(table):
    """The records that a list takes: with the query parameter for it, deleted ones too."""
    if request.args.get({}) == "true":
        return list(table.records.values())
    return table.live()"#,
            quoted(&app.schema.json_name("include_deleted"))
        );
    }
    // Only broken schemas sort by a field that may be null; nulls come first there.
    let nulls = app.units.iter().any(|unit| {
        unit.entity.sorts.iter().filter_map(|key| unit.entity.field(key)).any(|field| field.nullable)
    });
    line!(
        out,
        r#"

def sort_records(records, fields, default=None):
    """Records in the order that `sort` asks for; equal values stay in the order of their ids."""
    wanted = request.args.get("sort", default)
    if wanted is None:
        return records
    field = wanted.removeprefix("-")
    if field not in fields:
        raise invalid("sort must be a field that lists can be sorted by, or the same after a minus sign")
    return sorted(records, key=lambda record: {}, reverse=wanted.startswith("-"))"#,
        if nulls { "(record[field] is not None, record[field])" } else { "record[field]" }
    );
    let style = app.schema.conventions.pagination.style;
    let (page_param, size) = style.params();
    let (page_param, size) = (quoted(&app.schema.json_name(page_param)), quoted(&app.schema.json_name(size)));
    let list = &app.schema.conventions.list;
    let start = match style {
        PaginationStyle::Page => 1,
        PaginationStyle::Offset => 0,
    };
    let page_name = match style {
        PaginationStyle::Page => "page",
        PaginationStyle::Offset => "first",
    };
    line!(
        out,
        r#"

def page_of(records, show):
    """The page of a list that the query asks for."""
    {page_name} = query_integer({page_param}) if {page_param} in request.args else {start}
    size = query_integer({size}) if {size} in request.args else DEFAULT_PAGE_SIZE
    if {page_name} < {start} or not 1 <= size <= MAX_PAGE_SIZE:
        raise invalid("there is no such page")"#
    );
    if matches!(style, PaginationStyle::Page) {
        line!(out, "    first = (page - 1) * size");
    }
    line!(out, "    return {{");
    line!(out, "        {}: [show(record) for record in records[first:first + size]],", quoted(&list.items));
    line!(out, "        {}: len(records),\n    }}", quoted(&list.total));
}

fn numbers(out: &mut String, used: &SharedFunctions) {
    if used.total {
        out.push_str(
            r#"

def total(records, name):
    """The sum of a field, nulls left out."""
    return sum(record[name] for record in records if record[name] is not None)
"#,
        );
    }
    if used.average {
        out.push_str(
            r#"

def average(values):
    """The arithmetic mean; None without any value."""
    return sum(values) / len(values) if values else None
"#,
        );
    }
    if used.grouped {
        out.push_str(
            r#"

def grouped(records, name):
    """Lists of records by the value of a field; records without a value are left out."""
    groups = {}
    for record in records:
        if record[name] is not None:
            groups.setdefault(record[name], []).append(record)
    return groups
"#,
        );
    }
}

fn tables(out: &mut String, app: &App) {
    out.push_str("\n\n# Storage: one table per entity\n");
    for unit in &app.units {
        let argument = if unit.entity.soft_delete { "soft_delete=True" } else { "" };
        line!(out, "{} = Table({argument})", unit.table);
    }
    out.push_str(
        "\n\n@app.post(\"/reset\")\ndef reset():\n    \"\"\"Removes all records and starts every id again from 1.\"\"\"\n",
    );
    for unit in &app.units {
        line!(out, "    {}.clear()", unit.table);
    }
    out.push_str("    return \"\", 204\n");
}
