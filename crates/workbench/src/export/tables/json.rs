//! A table as JSON, for scripts.

use figures::table::{Kind, Table, Value};
use serde_json::{Map, Value as Json, json};

/// `{ name, title, columns: [{ name, heading, unit, kind }], rows: [{ NAME: value }], notes }`; unknown is `null`.
pub(in crate::export) fn to_json(table: &Table) -> Json {
    let columns: Vec<Json> = table
        .columns
        .iter()
        .map(|column| {
            json!({
                "name": column.name,
                "heading": column.heading,
                "unit": column.unit,
                "kind": match column.kind {
                    Kind::Text => "text",
                    Kind::Integer => "integer",
                    Kind::Number => "number",
                    Kind::P => "p",
                    Kind::Flag => "flag",
                },
            })
        })
        .collect();
    let rows: Vec<Json> = table
        .rows
        .iter()
        .map(|row| {
            let cells = table.columns.iter().zip(row);
            Json::Object(
                cells
                    .map(|(column, cell)| (column.name.clone(), value(cell.as_ref())))
                    .collect::<Map<_, _>>(),
            )
        })
        .collect();
    json!({ "name": table.name, "title": table.title, "columns": columns, "rows": rows, "notes": table.notes })
}

fn value(cell: Option<&Value>) -> Json {
    match cell {
        None => Json::Null,
        Some(Value::Text(text)) => json!(text),
        Some(Value::Integer(number)) => json!(number),
        // What is not finite is unknown, and so JSON writes it.
        Some(Value::Number(number)) => json!(number),
        Some(Value::Flag(flag)) => json!(flag),
    }
}
