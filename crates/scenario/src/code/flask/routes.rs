//! The five standard operations of an entity, its nested routes, and what a deletion brings with it.

use super::{App, IncomingReference, Output, Unit, gap, plain};
use crate::code::python::{line, quoted};
use crate::ir::OnDelete;

pub(super) fn write(out: &mut Output, app: &App, unit: &Unit) {
    list(out, unit);
    create(out, app, unit);
    read(out, unit);
    replace(out, unit);
    update(out, unit);
    plan(out, app, unit);
    delete(out, app, unit);
    for incoming in &unit.incoming {
        nested(out, app, unit, incoming);
    }
}

/// Writes the decorator and first line of a route below a record of the entity. `rest` begins with `/` or is empty.
pub(super) fn record_route(out: &mut Output, unit: &Unit, method: &str, rest: &str, function: &str) {
    gap(&mut out.text);
    line!(out.text, "@app.{method}({}/<int:{}>{rest}\")", unit.route, unit.id);
    line!(out.text, "def {function}({}):", unit.id);
    line!(out.text, "    {} = {}({})", unit.one, unit.find, unit.id);
}

fn list(out: &mut Output, unit: &Unit) {
    gap(&mut out.text);
    line!(out.text, "@app.get({}\")\ndef {}():", unit.route, unit.list);
    if unit.entity.soft_delete {
        line!(out.text, "    return {}(listed({}))", unit.answer_list, unit.table);
    } else {
        line!(out.text, "    return {}({}.live())", unit.answer_list, unit.table);
    }
}

fn create(out: &mut Output, app: &App, unit: &Unit) {
    gap(&mut out.text);
    line!(out.text, "@app.post({}\")\ndef {}():", unit.route, unit.create);
    line!(out.text, "    values = {}(json_object())", unit.new);
    add(out, app, unit);
}

/// Keeps `values` as a new record and answers with it.
fn add(out: &mut Output, app: &App, unit: &Unit) {
    if unit.has_unique() {
        line!(out.text, "    {}(values)", unit.check_unique);
    }
    line!(
        out.text,
        "    return {}({}.add(values)), {}",
        unit.show,
        unit.table,
        app.schema.conventions.status.created
    );
}

fn read(out: &mut Output, unit: &Unit) {
    gap(&mut out.text);
    line!(out.text, "@app.get({}/<int:{}>\")", unit.route, unit.id);
    line!(out.text, "def {}({}):", unit.get, unit.id);
    line!(out.text, "    return {}({}({}))", unit.show, unit.find, unit.id);
}

fn replace(out: &mut Output, unit: &Unit) {
    let singular = &unit.one;
    record_route(out, unit, "put", "", &unit.replace);
    line!(out.text, "    body = json_object()");
    if unit.has_immutable() {
        line!(
            out.text,
            "    # Fields that are set at creation only keep their values where the body has none."
        );
        for column in unit.written().filter(|column| column.field.immutable) {
            line!(out.text, "    body.setdefault({0}, {singular}[{0}])", column.json);
        }
    }
    line!(out.text, "    values = {}(body)", unit.new);
    if unit.has_immutable() {
        line!(out.text, "    {}({singular}, body)", unit.check_unchanged);
    }
    if unit.has_unique() {
        line!(out.text, "    {}(values, {singular})", unit.check_unique);
    }
    line!(out.text, "    {singular}.update(values)\n    return {}({singular})", unit.show);
}

fn update(out: &mut Output, unit: &Unit) {
    let singular = &unit.one;
    record_route(out, unit, "patch", "", &unit.update);
    line!(out.text, "    body = json_object()\n    {}(body)", unit.validate);
    if unit.has_immutable() {
        line!(out.text, "    {}({singular}, body)", unit.check_unchanged);
    }
    line!(out.text, "    changes = {{name: body[name] for name in {} if name in body}}", unit.fields);
    if unit.has_unique() {
        line!(out.text, "    {}(changes, {singular})", unit.check_unique);
    }
    line!(out.text, "    {singular}.update(changes)\n    return {}({singular})", unit.show);
}

/// Records that refer to this one are checked before anything is deleted.
fn plan(out: &mut Output, app: &App, unit: &Unit) {
    if unit.incoming.is_empty() {
        return;
    }
    out.used.conflict = true;
    let singular = &unit.one;
    gap(&mut out.text);
    line!(out.text, "def {}({singular}, deletion):", unit.plan);
    line!(
        out.text,
        "    \"\"\"Adds {} to a deletion, with what happens to the records that refer to it.\"\"\"",
        unit.words
    );
    line!(out.text, "    if not deletion.add({}, {singular}):\n        return", unit.table);
    for incoming in &unit.incoming {
        let owner = &app.units[incoming.unit];
        let Some(column) = owner.columns.get(incoming.column) else { continue };
        line!(out.text, "    for row in {}({singular}[\"id\"]):", incoming.finder);
        match incoming.on_delete {
            OnDelete::Restrict => line!(out.text, "        deletion.block(row)"),
            OnDelete::SetNull => line!(out.text, "        deletion.detach(row, {})", column.json),
            OnDelete::Cascade if owner.incoming.is_empty() => {
                line!(out.text, "        deletion.add({}, row)", owner.table);
            }
            OnDelete::Cascade => line!(out.text, "        {}(row, deletion)", owner.plan),
        }
    }
}

fn delete(out: &mut Output, app: &App, unit: &Unit) {
    let singular = &unit.one;
    record_route(out, unit, "delete", "", &unit.delete);
    let shows = app.schema.conventions.status.deleted != 204;
    if unit.incoming.is_empty() {
        line!(out.text, "    {}.remove({singular})", unit.table);
    } else {
        line!(
            out.text,
            "    deletion = Deletion()\n    {}({singular}, deletion)\n    deletion.carry_out()",
            unit.plan
        );
    }
    if shows {
        line!(out.text, "    return {}({singular}), {}", unit.show, app.schema.conventions.status.deleted);
    } else {
        line!(out.text, "    return \"\", 204");
    }
}

fn nested(out: &mut Output, app: &App, unit: &Unit, incoming: &IncomingReference) {
    let owner = &app.units[incoming.unit];
    let (Some((list, create)), Some(column)) = (&incoming.nested, owner.columns.get(incoming.column)) else {
        return;
    };
    let singular = &unit.one;
    let mut rest = quoted(&app.schema.path_name(&owner.entity.plural)).replacen('"', "/", 1);
    rest.pop();
    record_route(out, unit, "get", &rest, list);
    if owner.entity.soft_delete {
        let condition = format!("row[{}] == {singular}[\"id\"]", column.json);
        let source = format!("listed({})", owner.table);
        crate::code::python::choose(&mut out.text, 4, "rows = ", &source, &[&condition]);
        line!(out.text, "    return {}(rows)", owner.answer_list);
    } else {
        line!(out.text, "    return {}({}({singular}[\"id\"]))", owner.answer_list, incoming.finder);
    }
    record_route(out, unit, "post", &rest, create);
    let noun = plain(&owner.entity.name);
    line!(out.text, "    # The path says what the {noun} refers to, whatever the body says.");
    line!(out.text, "    values = {}({{**json_object(), {}: {singular}[\"id\"]}})", owner.new, column.json);
    add(out, app, owner);
}
