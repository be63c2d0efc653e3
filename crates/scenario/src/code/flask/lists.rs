//! The list of an entity: filters, order and pages.

use super::{App, Column, Output, Unit, gap, plain};
use crate::code::python::{call, choose, line, literal, quoted};
use crate::ir::{Filter, FilterOp, Kind, Sort};

pub(super) fn write(out: &mut Output, app: &App, unit: &Unit) {
    gap(&mut out.text);
    line!(out.text, "def {}(rows):", unit.answer_list);
    let plural = plain(&unit.entity.plural);
    line!(
        out.text,
        "    \"\"\"Those of the {plural} that the query asks for, in its order, one page of them.\"\"\""
    );
    for filter in &unit.entity.filters {
        let Some(column) = unit.column(&filter.field) else { continue };
        let Some(parameter) = app.schema.filter_param(unit.entity, filter) else { continue };
        write_filter(out, column, filter, &parameter);
    }
    let sorts: Vec<String> = unit
        .entity
        .sorts
        .iter()
        .filter_map(|key| unit.column(key))
        .map(|column| column.json.clone())
        .collect();
    let fields = match sorts.as_slice() {
        [one] => format!("({one},)"),
        _ => format!("({})", sorts.join(", ")),
    };
    let mut arguments = vec!["rows".to_owned(), fields];
    arguments.extend(unit.entity.default_sort.as_ref().and_then(|sort| default_sort(app, unit, sort)));
    call(&mut out.text, 4, "rows = sort_records(", &arguments, ")");
    line!(out.text, "    return page_of(rows, {})", unit.show);
}

fn default_sort(app: &App, unit: &Unit, sort: &Sort) -> Option<String> {
    let name = app.schema.json_name(&unit.column(&sort.field)?.field.name);
    Some(quoted(&if sort.descending { format!("-{name}") } else { name }))
}

fn write_filter(out: &mut Output, column: &Column, filter: &Filter, parameter: &str) {
    let parameter = &quoted(parameter);
    line!(out.text, "    if {parameter} in request.args:");
    let given = format!("row[{}]", column.json);
    let reader = match &column.field.kind {
        Kind::String { .. } | Kind::Enum { .. } | Kind::StringList { .. } => None,
        Kind::Integer { .. } | Kind::Reference { .. } => Some("query_integer"),
        Kind::Number { .. } => {
            out.used.query_number = true;
            Some("query_number")
        }
        Kind::Boolean => {
            out.used.query_boolean = true;
            Some("query_boolean")
        }
        Kind::DateTime => {
            out.used.query_date_time = true;
            out.used.is_date_time = true;
            Some("query_date_time")
        }
    };
    match reader {
        Some(reader) => line!(out.text, "        wanted = {reader}({parameter})"),
        None => line!(out.text, "        wanted = request.args[{parameter}]"),
    }
    if !column.choices.is_empty() {
        line!(out.text, "        if wanted not in {}:", column.choices);
        let message = format!("{} is not one of its values", column.shown);
        call(&mut out.text, 12, "raise invalid(", &[quoted(&message)], ")");
    }
    let test = match filter.op {
        FilterOp::Equals => format!("{given} == wanted"),
        FilterOp::AtLeast => format!("{given} >= wanted"),
        FilterOp::AtMost => format!("{given} <= wanted"),
        FilterOp::Contains => format!("wanted in {given}"),
    };
    // A null is never equal to what was asked for; other comparisons must not see it.
    if column.field.nullable && filter.op != FilterOp::Equals {
        choose(&mut out.text, 8, "rows = ", "rows", &[&format!("{given} is not None"), &test]);
    } else {
        choose(&mut out.text, 8, "rows = ", "rows", &[&test]);
    }
}

/// A condition that holds for rows where a field is equal to a value of an enum or boolean.
pub(super) fn equals(given: &str, value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Bool(true) => format!("{given} is True"),
        serde_json::Value::Bool(false) => format!("{given} is False"),
        serde_json::Value::Null => format!("{given} is None"),
        other => format!("{given} == {}", literal(other)),
    }
}
