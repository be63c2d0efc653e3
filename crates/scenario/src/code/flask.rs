//! The Flask server of a schema.
//!
//! First the entities and analytics are written, noting which shared functions they call; then the head of the file
//! with exactly those; the two are joined at the end. Every identifier of the file is given out by
//! [`Identifiers`], local variables too, so that no name of a schema can hide another one.

mod actions;
mod analytics;
mod fields;
mod head;
mod lists;
mod routes;
mod storage;

use std::collections::HashMap;

use super::python::{Identifiers, line, prose, quoted};
use crate::ir::{Analytic, Entity, Field, Kind, OnDelete, Schema, words};

/// Names with a fixed meaning in the file: imports, shared functions and the local variables of written code.
const FIXED_NAMES: &[&str] = &[
    "app",
    "os",
    "re",
    "datetime",
    "Flask",
    "request",
    "Table",
    "Deletion",
    "ApiError",
    "answer_error",
    "answer_unknown_route",
    "invalid",
    "not_found",
    "conflict",
    "refused",
    "refused_if_invalid",
    "json_object",
    "reject_unknown",
    "require",
    "is_integer",
    "is_number",
    "is_date_time",
    "is_taken",
    "is_changed",
    "query_integer",
    "query_number",
    "query_boolean",
    "query_date_time",
    "sort_records",
    "page_of",
    "listed",
    "total",
    "average",
    "grouped",
    "reset",
    "DEFAULT_PAGE_SIZE",
    "MAX_PAGE_SIZE",
    "INTEGER",
    "NUMBER",
    "DATE_TIME",
    "body",
    "value",
    "values",
    "rows",
    "row",
    "own",
    "own_id",
    "changes",
    "wanted",
    "deletion",
    "created",
    "error",
    "message",
    "name",
    "names",
    "record",
    "records",
    "table",
    "text",
    "groups",
    "members",
    "key",
];

/// A schema with everything named.
struct App<'a> {
    schema: &'a Schema,
    units: Vec<Unit<'a>>,
    analytics: Vec<(&'a Analytic, String)>,
    by_key: HashMap<&'a str, usize>,
}

/// An entity with the names that its code has.
struct Unit<'a> {
    entity: &'a Entity,
    columns: Vec<Column<'a>>,
    /// References to this entity.
    incoming: Vec<IncomingReference>,
    /// Of its collection, quoted without the closing quote: `"/api/orders`.
    route: String,
    /// `orders`: the table.
    table: String,
    /// `order`: a local variable with one record.
    one: String,
    /// `order_id`: the id in a path.
    id: String,
    /// `an order`, for messages.
    words: String,
    fields: String,
    read_only: String,
    validate: String,
    check_unchanged: String,
    check_unique: String,
    new: String,
    show: String,
    find: String,
    answer_list: String,
    plan: String,
    list: String,
    create: String,
    get: String,
    replace: String,
    update: String,
    delete: String,
    actions: Vec<String>,
}

/// A field with the names that its code has.
struct Column<'a> {
    field: &'a Field,
    /// Its name in JSON, quoted: also the key in stored records.
    json: String,
    /// Its name in JSON, for messages within double quotes.
    shown: String,
    /// Constant with the values of an enum.
    choices: String,
    /// Constant with the pattern of a string.
    pattern: String,
}

/// A reference to an entity.
struct IncomingReference {
    /// Which entity has it.
    unit: usize,
    /// Which field it is.
    column: usize,
    /// `orders_by_customer_id`.
    finder: String,
    /// Functions of the nested routes.
    nested: Option<(String, String)>,
    on_delete: OnDelete,
}

impl<'a> App<'a> {
    fn unit(&self, key: &str) -> Option<&Unit<'a>> {
        self.units.get(*self.by_key.get(key)?)
    }

    /// The function that finds the records of an entity that refer to another one by a field.
    fn finder(&self, target: &str, entity: &str, reference: &str) -> Option<&str> {
        let unit = *self.by_key.get(entity)?;
        let incoming = self.unit(target)?.incoming.iter().find(|incoming| {
            incoming.unit == unit
                && self.units[unit].columns.get(incoming.column).is_some_and(|c| c.field.key == reference)
        });
        incoming.map(|incoming| incoming.finder.as_str())
    }

    fn soft_delete(&self) -> bool {
        self.units.iter().any(|unit| unit.entity.soft_delete)
    }
}

impl<'a> Unit<'a> {
    fn column(&self, key: &str) -> Option<&Column<'a>> {
        self.columns.iter().find(|column| column.field.key == key)
    }

    fn written(&self) -> impl Iterator<Item = &Column<'a>> {
        self.columns.iter().filter(|column| column.field.is_writable())
    }

    fn has_unique(&self) -> bool {
        self.written().any(|column| column.field.unique)
    }

    fn has_immutable(&self) -> bool {
        self.written().any(|column| column.field.immutable)
    }
}

/// Which shared functions the entities and analytics call.
#[derive(Default)]
struct SharedFunctions {
    reject_unknown: bool,
    require: bool,
    is_integer: bool,
    is_number: bool,
    is_date_time: bool,
    is_taken: bool,
    is_changed: bool,
    query_number: bool,
    query_boolean: bool,
    query_date_time: bool,
    refused: bool,
    refused_if_invalid: bool,
    conflict: bool,
    total: bool,
    average: bool,
    grouped: bool,
}

/// Code as it is written, and what it calls.
#[derive(Default)]
struct Output {
    text: String,
    used: SharedFunctions,
}

/// Writes the whole file.
pub(super) fn write(schema: &Schema) -> String {
    let app = name_everything(schema);
    let mut out = Output {
        text: String::with_capacity(16 * 1024 + schema.entities.len() * 10 * 1024),
        used: SharedFunctions::default(),
    };
    for unit in &app.units {
        heading(&mut out.text, &plain(&unit.entity.plural), &prose(&unit.entity.about));
        fields::write(&mut out, &app, unit);
        lists::write(&mut out, &app, unit);
        routes::write(&mut out, &app, unit);
        actions::write(&mut out, &app, unit);
    }
    if !app.analytics.is_empty() {
        heading(&mut out.text, "analytics", "numbers over the records that are not deleted");
        for (analytic, function) in &app.analytics {
            analytics::write(&mut out, &app, analytic, function);
        }
    }
    let mut text = head::write(&app, &out.used, out.text.len());
    text.push_str(&out.text);
    text.push_str(
        "\n\nif __name__ == \"__main__\":\n    \
         app.run(host=\"0.0.0.0\", port=int(os.environ[\"PORT\"]), threaded=False)\n",
    );
    text
}

fn heading(out: &mut String, title: &str, about: &str) {
    let rule = "-".repeat(98);
    line!(out, "\n\n# {rule}\n# {}: {about}\n# {rule}", super::python::capitalized(title));
}

/// Begins a top-level definition.
fn gap(out: &mut String) {
    out.push_str("\n\n");
}

/// A name as words of a comment or message.
fn plain(name: &str) -> String {
    prose(&words(name))
}

fn with_article(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

/// The last words of a name that together stay short: for local variables, which stand in every line.
fn short(name: &str) -> &str {
    let mut rest = name;
    while rest.len() > 20 {
        match rest.split_once('_') {
            Some((_, after)) => rest = after,
            None => break,
        }
    }
    rest
}

fn name_everything(schema: &Schema) -> App<'_> {
    let mut taken = Identifiers::new(FIXED_NAMES);
    let by_key =
        schema.entities.iter().enumerate().map(|(index, entity)| (entity.key.as_str(), index)).collect();
    // Tables first: they carry the plainest names, and stay when something else of the same name comes.
    let tables: Vec<String> = schema.entities.iter().map(|entity| taken.take(&entity.plural)).collect();
    let units = schema
        .entities
        .iter()
        .zip(tables)
        .map(|(entity, table)| name_entity(schema, entity, table, &mut taken));
    let units: Vec<Unit> = units.collect();
    let mut app = App { schema, units, analytics: Vec::new(), by_key };
    name_references(&mut app, &mut taken);
    app.analytics = schema
        .analytics
        .iter()
        .map(|analytic| (analytic, taken.take(&format!("analytic_{}", analytic.name))))
        .collect();
    app
}

fn name_entity<'a>(
    schema: &'a Schema,
    entity: &'a Entity,
    table: String,
    taken: &mut Identifiers,
) -> Unit<'a> {
    let (name, plural) = (&entity.name, &entity.plural);
    let constant = name.to_ascii_uppercase();
    let mut take = |wanted: String| taken.take(&wanted);
    let singular = take(short(name).to_owned());
    let columns = entity
        .fields
        .iter()
        .map(|field| {
            let json = schema.json_name(&field.name);
            let field_constant = field.name.to_ascii_uppercase();
            Column {
                field,
                shown: prose(&json),
                json: quoted(&json),
                choices: match &field.kind {
                    Kind::Enum { .. } if field.is_writable() => {
                        take(format!("{constant}_{field_constant}_VALUES"))
                    }
                    _ => String::new(),
                },
                pattern: match &field.kind {
                    Kind::String { pattern: Some(_), .. } if field.is_writable() => {
                        take(format!("{constant}_{field_constant}_PATTERN"))
                    }
                    _ => String::new(),
                },
            }
        })
        .collect();
    let mut route = quoted(&schema.collection_path(entity));
    route.pop();
    Unit {
        entity,
        columns,
        incoming: Vec::new(),
        route,
        id: take(format!("{singular}_id")),
        words: with_article(&plain(name)),
        fields: take(format!("{constant}_FIELDS")),
        read_only: take(format!("{constant}_READ_ONLY")),
        validate: take(format!("validate_{name}")),
        check_unchanged: take(format!("check_{name}_unchanged")),
        check_unique: take(format!("check_{name}_unique")),
        new: take(format!("new_{name}")),
        show: take(format!("show_{name}")),
        find: take(format!("find_{name}")),
        answer_list: take(format!("answer_{plural}")),
        plan: take(format!("plan_{name}_deletion")),
        list: take(format!("list_{plural}")),
        create: take(format!("create_{name}")),
        get: take(format!("get_{name}")),
        replace: take(format!("replace_{name}")),
        update: take(format!("update_{name}")),
        delete: take(format!("delete_{name}")),
        actions: entity.actions.iter().map(|action| take(format!("{}_{name}", action.name))).collect(),
        table,
        one: singular,
    }
}

fn name_references(app: &mut App, taken: &mut Identifiers) {
    for unit in 0..app.units.len() {
        let entity = app.units[unit].entity;
        for (column, field) in entity.fields.iter().enumerate() {
            let Kind::Reference { entity: target, on_delete, nested } = &field.kind else { continue };
            let Some(&target) = app.by_key.get(target.as_str()) else { continue };
            if !field.is_writable() {
                continue;
            }
            let parent = &app.units[target].entity.name;
            let incoming = IncomingReference {
                unit,
                column,
                finder: taken.take(&format!("{}_by_{}", entity.plural, field.name)),
                nested: nested.then(|| {
                    (
                        taken.take(&format!("list_{}_of_{parent}", entity.plural)),
                        taken.take(&format!("create_{}_of_{parent}", entity.name)),
                    )
                }),
                on_delete: *on_delete,
            };
            app.units[target].incoming.push(incoming);
        }
    }
}
