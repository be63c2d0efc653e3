//! JSON Lines: one object per row, with the names of the columns as keys, in their order.

use serde_json::{Map, Value as Json};

use super::{Table, Value};

/// Unknown is `null`, so that every line has every column.
pub(super) fn write(table: &Table) -> String {
    let mut out = String::new();
    for row in &table.rows {
        let cells = table.columns.iter().enumerate().map(|(index, column)| {
            let value = match row.get(index).and_then(Option::as_ref) {
                None => Json::Null,
                Some(Value::Text(text)) => Json::from(text.as_str()),
                Some(Value::Integer(number)) => Json::from(*number),
                // A number that is not finite is unknown, and null in JSON.
                Some(Value::Number(number)) => Json::from(*number),
                Some(Value::Flag(flag)) => Json::from(*flag),
            };
            (column.name.clone(), value)
        });
        out.push_str(&Json::Object(cells.collect::<Map<_, _>>()).to_string());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Table, known};

    #[test]
    fn a_line_is_a_row_with_every_column() {
        let columns =
            vec![Column::text("run", "Run"), Column::number("cost", "Cost", 2), Column::flag("ok", "Ok")];
        let mut table = Table::new("t", "T", columns);
        table.push(vec![known("a \"b\"\nc"), known(0.1), known(true)]);
        table.push(vec![known("d"), known(f64::NAN)]);
        let lines = table.to_json_lines();
        assert_eq!(
            lines,
            "{\"run\":\"a \\\"b\\\"\\nc\",\"cost\":0.1,\"ok\":true}\n{\"run\":\"d\",\"cost\":null,\"ok\":null}\n"
        );
    }
}
