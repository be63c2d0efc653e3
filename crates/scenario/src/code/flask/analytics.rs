//! Analytics: numbers over the records of one entity.

use super::{App, Output, Unit, gap, lists};
use crate::code::python::{choose, line, quoted};
use crate::ir::{Analytic, Measure, RecordRestriction};

pub(super) fn write(out: &mut Output, app: &App, analytic: &Analytic, function: &str) {
    gap(&mut out.text);
    line!(out.text, "@app.get({})\ndef {function}():", quoted(&app.schema.analytic_path(analytic)));
    let Some(unit) = app.unit(&analytic.entity) else {
        line!(out.text, "    return {{\"value\": None}}");
        return;
    };
    line!(out.text, "    rows = {}.live()", unit.table);
    if let Some(parameter) = analytic.by.as_ref().and_then(|key| unit.column(key)) {
        line!(out.text, "    if {} in request.args:\n        wanted = query_integer({0})", parameter.json);
        choose(&mut out.text, 8, "rows = ", "rows", &[&format!("row[{}] == wanted", parameter.json)]);
    }
    if let Some(only) = &analytic.only {
        restrict(out, app, unit, only);
    }
    let measured =
        analytic.measure.field().and_then(|key| unit.column(key)).map(|column| column.json.as_str());
    match analytic.group_by.as_ref().and_then(|key| unit.column(key)) {
        Some(group) => {
            out.used.grouped = true;
            line!(out.text, "    groups = []");
            line!(out.text, "    for key, members in grouped(rows, {}).items():", group.json);
            let value = measure(out, 8, "members", &analytic.measure, measured);
            line!(out.text, "        groups.append({{\"key\": key, \"value\": {value}}})");
            line!(out.text, "    return {{\"groups\": groups}}");
        }
        None => {
            let value = measure(out, 4, "rows", &analytic.measure, measured);
            line!(out.text, "    return {{\"value\": {value}}}");
        }
    }
}

fn restrict(out: &mut Output, app: &App, unit: &Unit, only: &RecordRestriction) {
    let Some(through) = &only.through else {
        if let Some(column) = unit.column(&only.field) {
            let test = lists::equals(&format!("row[{}]", column.json), &only.equals);
            choose(&mut out.text, 4, "rows = ", "rows", &[&test]);
        }
        return;
    };
    let Some(link) = unit.column(through) else { return };
    let Some(target) = link.field.target().and_then(|key| app.unit(key)) else { return };
    let Some(column) = target.column(&only.field) else { return };
    let test = lists::equals(&format!("record[{}]", column.json), &only.equals);
    line!(out.text, "    wanted = {{record[\"id\"] for record in {}.live() if {test}}}", target.table);
    choose(&mut out.text, 4, "rows = ", "rows", &[&format!("row[{}] in wanted", link.json)]);
}

/// Writes what a measure needs and returns the expression of its value.
fn measure(out: &mut Output, spaces: usize, rows: &str, measure: &Measure, field: Option<&str>) -> String {
    let Some(field) = field else { return format!("len({rows})") };
    if matches!(measure, Measure::Sum(_)) {
        out.used.total = true;
        return format!("total({rows}, {field})");
    }
    crate::code::python::indent(&mut out.text, spaces);
    line!(out.text, "values = [row[{field}] for row in {rows} if row[{field}] is not None]");
    match measure {
        Measure::Average(_) => {
            out.used.average = true;
            "average(values)".to_owned()
        }
        Measure::Min(_) => "min(values, default=None)".to_owned(),
        _ => "max(values, default=None)".to_owned(),
    }
}
