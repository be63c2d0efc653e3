//! What an entity's fields are: constants, validation, the values of a new record, and how a record is shown.

use super::{App, Column, Output, Unit, gap, plain};
use crate::code::python::{call, float, indent, joined, line, literal, quoted, tuple};
use crate::ir::{Computed, Kind, UnknownFields};

pub(super) fn write(out: &mut Output, app: &App, unit: &Unit) {
    constants(out, app, unit);
    validate(out, app, unit);
    check_unchanged(out, unit);
    check_unique(out, unit);
    new(out, unit);
    find(out, unit);
    finders(out, app, unit);
    show(out, app, unit);
}

fn constants(out: &mut Output, app: &App, unit: &Unit) {
    out.text.push('\n');
    let names: Vec<String> = unit.written().map(|column| column.json.clone()).collect();
    tuple(&mut out.text, &unit.fields, &names);
    if app.schema.conventions.unknown_fields == UnknownFields::Reject {
        let mut names = vec![quoted("id"), quoted("deleted")];
        names.extend(unit.columns.iter().filter(|c| !c.field.is_writable()).map(|c| c.json.clone()));
        tuple(&mut out.text, &unit.read_only, &names);
    }
    for column in unit.written() {
        match &column.field.kind {
            Kind::Enum { values } => {
                let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
                tuple(&mut out.text, &column.choices, &values);
            }
            Kind::String { pattern: Some(pattern), .. } => {
                let regex = pattern.regex().trim_start_matches('^').trim_end_matches('$');
                line!(out.text, "{} = re.compile(r\"{regex}\")", column.pattern);
            }
            _ => {}
        }
    }
}

fn validate(out: &mut Output, app: &App, unit: &Unit) {
    gap(&mut out.text);
    line!(out.text, "def {}(body):", unit.validate);
    line!(
        out.text,
        "    \"\"\"Checks every field that a body carries; what must be there is not looked at.\"\"\""
    );
    if app.schema.conventions.unknown_fields == UnknownFields::Reject {
        out.used.reject_unknown = true;
        call(&mut out.text, 4, "reject_unknown(", &["body", &unit.fields, &unit.read_only], ")");
    }
    for column in unit.written() {
        let json = &column.json;
        if column.field.nullable {
            line!(out.text, "    if body.get({json}) is not None:");
        } else {
            line!(out.text, "    if {json} in body:");
        }
        line!(out.text, "        value = body[{json}]");
        rules(out, app, column, &column.field.kind, 8);
    }
}

/// Checks `value`, behind so many spaces, by the rules of a type.
pub(super) fn rules(out: &mut Output, app: &App, column: &Column, kind: &Kind, spaces: usize) {
    let shown = &column.shown;
    match kind {
        Kind::String { min_length, max_length, pattern } => {
            fails(out, spaces, "not isinstance(value, str)", &format!("{shown} must be a string"));
            if pattern.is_some() && !column.pattern.is_empty() {
                let test = format!("not {}.fullmatch(value)", column.pattern);
                fails(out, spaces, &test, &format!("{shown} does not have the right form"));
            }
            bounds(out, spaces, "len(value)", *min_length, *max_length, &format!("the length of {shown}"));
        }
        Kind::Integer { min, max } => {
            out.used.is_integer = true;
            fails(out, spaces, "not is_integer(value)", &format!("{shown} must be an integer"));
            bounds(out, spaces, "value", *min, *max, shown);
        }
        Kind::Number { min, max } => {
            out.used.is_number = true;
            fails(out, spaces, "not is_number(value)", &format!("{shown} must be a number"));
            bounds(out, spaces, "value", min.map(float), max.map(float), shown);
        }
        Kind::Boolean => {
            fails(out, spaces, "not isinstance(value, bool)", &format!("{shown} must be true or false"));
        }
        Kind::DateTime => {
            out.used.is_date_time = true;
            fails(out, spaces, "not is_date_time(value)", &format!("{shown} must be a date-time"));
        }
        Kind::Enum { .. } => {
            let test = format!("value not in {}", column.choices);
            fails(out, spaces, &test, &format!("{shown} is not one of its values"));
        }
        Kind::StringList { min_items, max_items } => {
            let test = "not isinstance(value, list) or not all(isinstance(item, str) for item in value)";
            fails(out, spaces, test, &format!("{shown} must be a list of strings"));
            bounds(
                out,
                spaces,
                "len(value)",
                *min_items,
                *max_items,
                &format!("the number of items of {shown}"),
            );
        }
        Kind::Reference { entity, .. } => {
            out.used.is_integer = true;
            match app.unit(entity) {
                Some(target) => {
                    let test = format!("not is_integer(value) or {}.find(value) is None", target.table);
                    fails(out, spaces, &test, &format!("{shown} must be the id of {}", target.words));
                }
                None => fails(out, spaces, "not is_integer(value)", &format!("{shown} must be an id")),
            }
        }
    }
}

fn fails(out: &mut Output, spaces: usize, test: &str, message: &str) {
    indent(&mut out.text, spaces);
    line!(out.text, "if {test}:");
    call(&mut out.text, spaces + 4, "raise invalid(", &[quoted(message)], ")");
}

fn bounds<T: std::fmt::Display>(
    out: &mut Output,
    spaces: usize,
    value: &str,
    min: Option<T>,
    max: Option<T>,
    shown: &str,
) {
    let (test, message) = match (min, max) {
        (Some(min), Some(max)) => {
            (format!("not {min} <= {value} <= {max}"), format!("{shown} must be from {min} to {max}"))
        }
        (Some(min), None) => (format!("{value} < {min}"), format!("{shown} must be at least {min}")),
        (None, Some(max)) => (format!("{value} > {max}"), format!("{shown} must be at most {max}")),
        (None, None) => return,
    };
    fails(out, spaces, &test, &message);
}

fn check_unchanged(out: &mut Output, unit: &Unit) {
    if !unit.has_immutable() {
        return;
    }
    gap(&mut out.text);
    out.used.is_changed = true;
    line!(out.text, "def {}({}, body):", unit.check_unchanged, unit.one);
    line!(out.text, "    \"\"\"Fields that are set at creation only must keep their values.\"\"\"");
    for column in unit.written().filter(|column| column.field.immutable) {
        let json = &column.json;
        line!(out.text, "    if is_changed({}, body, {json}):", unit.one);
        call(
            &mut out.text,
            8,
            "raise invalid(",
            &[quoted(&format!("{} cannot be changed", column.shown))],
            ")",
        );
    }
}

fn check_unique(out: &mut Output, unit: &Unit) {
    if !unit.has_unique() {
        return;
    }
    out.used.is_taken = true;
    gap(&mut out.text);
    line!(out.text, "def {}(values, own=None):", unit.check_unique);
    line!(out.text, "    \"\"\"No other record may have the same value of a unique field.\"\"\"");
    for column in unit.written().filter(|column| column.field.unique) {
        let json = &column.json;
        let parts = [unit.table.clone(), json.clone(), format!("values.get({json})"), "own".to_owned()];
        call(&mut out.text, 4, "if is_taken(", &parts, "):");
        call(&mut out.text, 8, "raise conflict(", &[quoted(&format!("{} is taken", column.shown))], ")");
    }
}

fn new(out: &mut Output, unit: &Unit) {
    gap(&mut out.text);
    line!(out.text, "def {}(body):", unit.new);
    line!(
        out.text,
        "    \"\"\"The values of {}, with defaults for what the body leaves out.\"\"\"",
        unit.words
    );
    line!(out.text, "    {}(body)", unit.validate);
    let mut required = vec!["body".to_owned()];
    required.extend(unit.written().filter(|column| column.field.required).map(|column| column.json.clone()));
    if required.len() > 1 {
        out.used.require = true;
        call(&mut out.text, 4, "require(", &required, ")");
    }
    line!(out.text, "    return {{");
    for column in unit.written() {
        let json = &column.json;
        match &column.field.default {
            _ if column.field.required => line!(out.text, "        {json}: body[{json}],"),
            Some(default) if !default.is_null() => {
                call(
                    &mut out.text,
                    8,
                    &format!("{json}: body.get("),
                    &[json.clone(), literal(default)],
                    "),",
                );
            }
            _ => line!(out.text, "        {json}: body.get({json}),"),
        }
    }
    line!(out.text, "    }}");
}

fn find(out: &mut Output, unit: &Unit) {
    let (singular, id) = (&unit.one, &unit.id);
    gap(&mut out.text);
    line!(out.text, "def {}({id}):", unit.find);
    line!(out.text, "    {singular} = {}.find({id})", unit.table);
    line!(out.text, "    if {singular} is None:");
    let message = format!("f\"there is no {} {{{id}}}\"", plain(&unit.entity.name));
    call(&mut out.text, 8, "raise not_found(", &[message], ")");
    line!(out.text, "    return {singular}");
}

/// One function per reference to this entity: it is needed by deletion, and mostly by more.
fn finders(out: &mut Output, app: &App, unit: &Unit) {
    for incoming in &unit.incoming {
        let owner = &app.units[incoming.unit];
        let Some(column) = owner.columns.get(incoming.column) else { continue };
        gap(&mut out.text);
        line!(out.text, "def {}({}):", incoming.finder, unit.id);
        let plural = plain(&owner.entity.plural);
        line!(out.text, "    \"\"\"The {plural}, not deleted, whose {} this is.\"\"\"", column.shown);
        let condition = format!("row[{}] == {}", column.json, unit.id);
        let source = format!("{}.live()", owner.table);
        crate::code::python::choose(&mut out.text, 4, "return ", &source, &[&condition]);
    }
}

fn show(out: &mut Output, app: &App, unit: &Unit) {
    gap(&mut out.text);
    line!(out.text, "def {}({}):", unit.show, unit.one);
    line!(out.text, "    \"\"\"{} as answers show it.\"\"\"", crate::code::python::capitalized(&unit.words));
    line!(out.text, "    return {{");
    line!(out.text, "        \"id\": {}[\"id\"],", unit.one);
    for column in &unit.columns {
        match &column.field.computed {
            None => line!(out.text, "        {0}: {1}[{0}],", column.json, unit.one),
            Some(computed) => show_computed(out, app, unit, column, computed),
        }
    }
    if unit.entity.soft_delete {
        line!(out.text, "        \"deleted\": {}[\"deleted\"],", unit.one);
    }
    line!(out.text, "    }}");
}

fn show_computed(out: &mut Output, app: &App, unit: &Unit, column: &Column, computed: &Computed) {
    let head = format!("{}: ", column.json);
    // Operands are always set in a valid schema; in a broken one null counts as nothing.
    let operand = |key: &str, nothing: &str| {
        let column = unit.column(key)?;
        let given = format!("{}[{}]", unit.one, column.json);
        Some(if column.field.nullable { format!("({given} or {nothing})") } else { given })
    };
    let found = |entity: &str, reference: &str| {
        let finder = app.finder(&unit.entity.key, entity, reference)?;
        Some(format!("{finder}({}[\"id\"])", unit.one))
    };
    let text = &mut out.text;
    let written = match computed {
        Computed::Joined { first, second, separator } => {
            operand(first, "\"\"").zip(operand(second, "\"\"")).map(|(first, second)| {
                joined(text, 8, &head, &[first, quoted(separator), second], "+", ",");
            })
        }
        Computed::Product { left, right } => operand(left, "0")
            .zip(operand(right, "0"))
            .map(|(left, right)| joined(text, 8, &head, &[left, right], "*", ",")),
        Computed::Sum { left, right } => operand(left, "0")
            .zip(operand(right, "0"))
            .map(|(left, right)| joined(text, 8, &head, &[left, right], "+", ",")),
        Computed::AtLeast { field, value } => unit.column(field).map(|column| {
            let given = format!("{}[{}]", unit.one, column.json);
            let mut parts = vec![format!("{given} >= {}", literal(value))];
            if column.field.nullable {
                parts.insert(0, format!("{given} is not None"));
            }
            joined(text, 8, &head, &parts, "and", ",");
        }),
        Computed::CountOf { entity, reference } => {
            found(entity, reference).map(|records| call(text, 8, &format!("{head}len("), &[records], "),"))
        }
        Computed::TotalOf { entity, reference, field } => {
            let name = app.unit(entity).and_then(|owner| owner.column(field)).map(|c| c.json.clone());
            found(entity, reference).zip(name).map(|(records, name)| {
                out.used.total = true;
                call(text, 8, &format!("{head}total("), &[records, name], "),");
            })
        }
    };
    if written.is_none() {
        line!(out.text, "        {head}None,");
    }
}
