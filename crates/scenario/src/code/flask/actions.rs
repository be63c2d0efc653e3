//! Actions: parameters, then guards in their order, then effects worked out in full before anything changes.

use serde_json::Value;

use super::routes::record_route;
use super::{App, Column, Output, Unit, fields, plain};
use crate::code::python::{call, line, literal, prose, quoted};
use crate::ir::{
    Action, Comparison, Condition, CreatedValue, Effect, Field, Kind, Operand, Param, UnknownFields,
};

pub(super) fn write(out: &mut Output, app: &App, unit: &Unit) {
    for (action, function) in unit.entity.actions.iter().zip(&unit.actions) {
        let mut rest = quoted(&app.schema.path_name(&action.name)).replacen('"', "/", 1);
        rest.pop();
        record_route(out, unit, "post", &rest, function);
        params(out, app, unit, action);
        for guard in &action.guards {
            write_guard(out, app, unit, &guard.condition);
        }
        effects(out, app, unit, action);
        line!(out.text, "    return {}({})", unit.show, unit.one);
    }
}

fn param_name(app: &App, param: &Param) -> String {
    quoted(&app.schema.json_name(&param.name))
}

fn params(out: &mut Output, app: &App, unit: &Unit, action: &Action) {
    if action.params.is_empty() {
        return;
    }
    line!(out.text, "    body = json_object()");
    let names: Vec<String> = action.params.iter().map(|param| param_name(app, param)).collect();
    if app.schema.conventions.unknown_fields == UnknownFields::Reject {
        out.used.reject_unknown = true;
        let known = if let [name] = names.as_slice() {
            format!("({name},)")
        } else {
            format!("({})", names.join(", "))
        };
        call(&mut out.text, 4, "reject_unknown(", &["body", &known, &unit.read_only], ")");
    }
    out.used.require = true;
    let mut arguments = vec!["body".to_owned()];
    arguments.extend(names.iter().cloned());
    call(&mut out.text, 4, "require(", &arguments, ")");
    for (param, name) in action.params.iter().zip(&names) {
        // A parameter is checked like a field that is never null.
        let field = Field {
            key: param.key.clone(),
            name: param.name.clone(),
            kind: param.kind.clone(),
            required: true,
            nullable: false,
            default: None,
            unique: false,
            immutable: false,
            computed: None,
            introduced_in: 0,
        };
        let pattern = match &param.kind {
            Kind::String { pattern: Some(pattern), .. } => {
                let regex = pattern.regex().trim_start_matches('^').trim_end_matches('$');
                format!("re.compile(r\"{regex}\")")
            }
            _ => String::new(),
        };
        let choices = match &param.kind {
            Kind::Enum { values } => tuple_of(values.iter().map(|value| quoted(value))),
            _ => String::new(),
        };
        let column = Column {
            field: &field,
            shown: prose(&app.schema.json_name(&param.name)),
            json: name.clone(),
            choices,
            pattern,
        };
        line!(out.text, "    value = body[{name}]");
        fields::rules(out, app, &column, &param.kind, 4);
    }
}

fn tuple_of(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if let [item] = items.as_slice() { format!("({item},)") } else { format!("({})", items.join(", ")) }
}

fn refuse(out: &mut Output, test: &str, message: &str) {
    out.used.refused = true;
    line!(out.text, "    if {test}:");
    call(&mut out.text, 8, "raise refused(", &[quoted(message)], ")");
}

fn write_guard(out: &mut Output, app: &App, unit: &Unit, condition: &Condition) {
    match condition {
        Condition::Field { field, is } => {
            let Some(column) = unit.column(field) else { return };
            let given = format!("{}[{}]", unit.one, column.json);
            let (test, message) = negated_test(&given, column, is);
            refuse(out, &test, &format!("{} {message}", column.shown));
        }
        Condition::Related { reference, field, is } => {
            let Some(link) = unit.column(reference) else { return };
            let Some(target) = link.field.target().and_then(|key| app.unit(key)) else { return };
            let Some(column) = target.column(field) else { return };
            line!(out.text, "    {} = {}.find({}[{}])", target.one, target.table, unit.one, link.json);
            let (test, message) = negated_test(&format!("{}[{}]", target.one, column.json), column, is);
            let name = plain(&target.entity.name);
            refuse(
                out,
                &format!("{} is None or {test}", target.one),
                &format!("{} of its {name} {message}", column.shown),
            );
        }
        Condition::HasAtLeast { entity, reference, count } => {
            let Some(finder) = app.finder(&unit.entity.key, entity, reference) else { return };
            let plural = app.unit(entity).map(|owner| plain(&owner.entity.plural)).unwrap_or_default();
            let test = format!("len({finder}({}[\"id\"])) < {count}", unit.one);
            refuse(out, &test, &format!("it must have at least {count} {plural}"));
        }
        Condition::HasNone { entity, reference } => {
            let Some(finder) = app.finder(&unit.entity.key, entity, reference) else { return };
            let plural = app.unit(entity).map(|owner| plain(&owner.entity.plural)).unwrap_or_default();
            refuse(out, &format!("{finder}({}[\"id\"])", unit.one), &format!("it must have no {plural}"));
        }
    }
}

/// When a comparison does *not* hold, and what to say then.
fn negated_test(given: &str, column: &Column, comparison: &Comparison) -> (String, String) {
    let shown = |value: &Value| prose(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let unset = if column.field.nullable { format!("{given} is None or ") } else { String::new() };
    match comparison {
        Comparison::Equals(value) => {
            let test = match value {
                Value::Bool(true) => format!("{given} is not True"),
                Value::Bool(false) => format!("{given} is not False"),
                other => format!("{given} != {}", literal(other)),
            };
            (test, format!("must be {}", shown(value)))
        }
        Comparison::Not(value) => {
            (super::lists::equals(given, value), format!("must not be {}", shown(value)))
        }
        Comparison::OneOf(values) => {
            let test = format!("{given} not in {}", tuple_of(values.iter().map(literal)));
            (test, "does not have a value for which this can be done".to_owned())
        }
        Comparison::AtLeast(value) => {
            (format!("{unset}{given} < {}", literal(value)), format!("must be at least {}", shown(value)))
        }
        Comparison::AtMost(value) => {
            (format!("{unset}{given} > {}", literal(value)), format!("must be at most {}", shown(value)))
        }
        Comparison::IsSet => (format!("{given} is None"), "must be set".to_owned()),
        Comparison::IsNotSet => (format!("{given} is not None"), "must not be set".to_owned()),
    }
}

/// An operand as an expression; nothing if it leads nowhere.
fn operand(app: &App, unit: &Unit, action: &Action, operand: &Operand) -> Option<String> {
    Some(match operand {
        Operand::Value(value) => literal(value),
        Operand::Param(key) => {
            let param = action.params.iter().find(|param| param.key == *key)?;
            format!("body[{}]", param_name(app, param))
        }
        Operand::Own(key) => format!("{}[{}]", unit.one, unit.column(key)?.json),
    })
}

fn effects(out: &mut Output, app: &App, unit: &Unit, action: &Action) {
    let mut changes: Vec<(&str, String)> = Vec::new();
    let mut created = Vec::new();
    for effect in &action.effects {
        match effect {
            Effect::Set { field, to } => {
                let Some((column, value)) = unit.column(field).zip(operand(app, unit, action, to)) else {
                    continue;
                };
                changes.push((&column.json, value));
            }
            Effect::Increment { field, by } => {
                let Some((column, amount)) = unit.column(field).zip(operand(app, unit, action, by)) else {
                    continue;
                };
                let before = changes
                    .iter()
                    .find(|(json, _)| *json == column.json)
                    .map_or_else(|| format!("{}[{}]", unit.one, column.json), |(_, value)| value.clone());
                if column.field.nullable {
                    refuse(out, &format!("{before} is None"), &format!("{} must be set", column.shown));
                }
                let value = match amount.strip_prefix('-') {
                    Some(less) => format!("{before} - {less}"),
                    None => format!("{before} + {amount}"),
                };
                changes.push((&column.json, value));
            }
            Effect::Create { entity, reference, values } => {
                let Some(other) = app.unit(entity) else { continue };
                let Some(link) = other.column(reference) else { continue };
                created.push((other, link, values));
            }
        }
    }
    if !changes.is_empty() {
        out.used.refused_if_invalid = true;
        line!(out.text, "    changes = {{");
        for (json, value) in &changes {
            line!(out.text, "        {json}: {value},");
        }
        line!(out.text, "    }}\n    refused_if_invalid({}, changes)", unit.validate);
    }
    let mut names = Vec::new();
    for (index, (other, link, values)) in created.iter().enumerate() {
        let name = if index == 0 { "created".to_owned() } else { format!("created_{}", index + 1) };
        write_created(out, app, unit, action, other, link, values, &name);
        names.push(name);
    }
    if !changes.is_empty() {
        line!(out.text, "    {}.update(changes)", unit.one);
    }
    for ((other, ..), name) in created.iter().zip(&names) {
        line!(out.text, "    {}.add({name})", other.table);
    }
}

#[expect(clippy::too_many_arguments, reason = "one call, each of them needed once")]
fn write_created(
    out: &mut Output,
    app: &App,
    unit: &Unit,
    action: &Action,
    other: &Unit,
    link: &Column,
    values: &[CreatedValue],
    name: &str,
) {
    out.used.refused_if_invalid = true;
    line!(out.text, "    {name} = {{");
    line!(out.text, "        {}: {}[\"id\"],", link.json, unit.one);
    for value in values {
        let Some(column) = other.column(&value.field) else { continue };
        let Some(operand_text) = operand(app, unit, action, &value.from) else { continue };
        line!(out.text, "        {}: {operand_text},", column.json);
    }
    // A valid schema gives a value to every required field; in a broken one the others are null.
    for column in other.written().filter(|column| column.field.required) {
        let key = &column.field.key;
        if *key != link.field.key && !values.iter().any(|value| value.field == *key) {
            let default = column.field.default.as_ref().map_or_else(|| "None".to_owned(), literal);
            line!(out.text, "        {}: {default},", column.json);
        }
    }
    line!(out.text, "    }}");
    line!(out.text, "    {name} = refused_if_invalid({}, {name})", other.new);
    if other.has_unique() {
        line!(out.text, "    refused_if_invalid({}, {name})", other.check_unique);
    }
}
